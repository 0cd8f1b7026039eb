/* SPDX-License-Identifier: MIT
 *
 * Reading a whole text file. */
#ifndef CST_BASE_FILE_H
#define CST_BASE_FILE_H

#include "base/arena.h"
#include "base/diag.h"

/* The bytes of the file and their number, with a 0 behind them; NULL: reported (no such file, a directory,
 * more than `limit` bytes, ...). A UTF-8 byte order mark at the beginning is left out. */
char *cst_file_read(cst_arena *a, const char *path, size_t limit, size_t *n, cst_diag *d);

/* The first byte that is not valid UTF-8 or is a control character other than tab and ends of lines, as a
 * place and the words for a message ("NUL byte", ...); NULL: the text is fine. */
const char *cst_text_check(const char *text, size_t n, cst_where *w);

#endif
