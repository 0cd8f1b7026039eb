/* SPDX-License-Identifier: MIT
 *
 * Reading a whole text file. */
#ifndef CST_BASE_FILE_H
#define CST_BASE_FILE_H

#include "base/arena.h"
#include "base/diag.h"

/* Returns the contents of the file, followed by a 0, and their length in n. NULL: an error was reported (no such file, a
 * directory, more than `limit` bytes, ...). A UTF-8 byte order mark at the beginning is skipped. */
char *cst_file_read(cst_arena *a, const char *path, size_t limit, size_t *n, cst_diag *d);

/* Looks for the first byte that is not valid UTF-8 or is a control character other than tab and line ends. Returns words for a
 * message ("NUL byte", ...) and sets its position; NULL: the text is fine. */
const char *cst_text_check(const char *text, size_t n, cst_where *w);

#endif
