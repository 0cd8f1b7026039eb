/* SPDX-License-Identifier: MIT
 *
 * Reading a whole text file. */
#ifndef CST_BASE_FILE_H
#define CST_BASE_FILE_H

#include "base/arena.h"
#include "base/diag.h"

enum { CST_PATH_SIZE = 4096 + 1 }; /* PATH_MAX and a 0 */

/* Returns the contents of a regular file, followed by a 0, and their length in n. NULL: an error
 * was reported (no such file, a directory, a device, more than `limit` bytes, ...). A UTF-8 byte
 * order mark at the beginning is skipped. root: the real path of a directory; a file whose own real
 * path is not below it is not read, and the message does not say whether it exists. NULL: any file
 */
char *cst_file_read(cst_arena *a, const char *path, const char *root, size_t limit, size_t *n,
                    cst_diag *d);

/* Why a file could not be read; NULL: it could. For messages that name the place where the file is
 * named. */
const char *cst_file_obstacle(const char *path, const char *root);

/* The real path: from the root, without links. 0: there is none */
int cst_file_real(const char *path, char whole[CST_PATH_SIZE]);

/* Looks for the first byte that is not valid UTF-8 or is a control character other than tab and
 * line ends. Returns words for a message ("NUL byte", ...) and sets its position; NULL: the text is
 * fine. */
const char *cst_text_check(const char *text, size_t n, cst_where *w);

#endif
