/* SPDX-License-Identifier: MIT
 *
 * One self-contained HTML page about one run or several: the viewer (viewer/, bundled into the
 * program at build time) and the files of the runs' directories as data. Opens without a network.
 */
#ifndef CST_REPORT_REPORT_H
#define CST_REPORT_REPORT_H

#include "base/diag.h"

int cst_report_there(void); /* 0: the program was built without the viewer */

/* dir (n): directories of results, as the commands leave them; path: of the page, which is written
 * completely or not at all. */
cst_status cst_report_write(int n, const char *const *dir, const char *path, cst_diag *d);

#endif
