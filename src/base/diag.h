/* SPDX-License-Identifier: MIT
 *
 * Messages. The library never prints: it appends lines to a cst_diag that the caller owns
 * (costate.h). */
#ifndef CST_BASE_DIAG_H
#define CST_BASE_DIAG_H

#include "costate.h"

typedef struct cst_where { /* a place in a model file; line and col count from 1, 0: no place */
    const char *file;
    int line, col;
} cst_where;

/* "file:line:col: error: ..." ; cst_error returns its status, so that failing functions end with
 * `return cst_error(...)`. Messages that do not fit the buffer are counted, the last line then says
 * how many were left out. */
cst_status cst_error(cst_diag *d, cst_status status, cst_where w, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
void cst_diag_append(cst_diag *d,
                     const cst_diag *more); /* appends all messages of more, unchanged */
void cst_diag_append_errors(
    cst_diag *d,
    const cst_diag *more); /* only the errors: for a file whose warnings have already been shown */
void cst_warn(cst_diag *d, cst_where w, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* neither errors nor warnings: not counted */
void cst_note(cst_diag *d, cst_where w, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
