/* SPDX-License-Identifier: MIT
 *
 * The bundled viewer as data of the program; empty files when it could not be built. */
    .section .rodata
    .global cst_viewer_js
    .global cst_viewer_css
    .global cst_viewer_size
    .hidden cst_viewer_js
    .hidden cst_viewer_css
    .hidden cst_viewer_size
cst_viewer_js:
    .incbin "viewer.js"
1:  .byte 0
cst_viewer_css:
    .incbin "viewer.css"
2:  .byte 0
    .balign 8
cst_viewer_size: /* of both, in bytes */
    .quad 1b - cst_viewer_js
    .quad 2b - cst_viewer_css
    .section .note.GNU-stack, "", %progbits
