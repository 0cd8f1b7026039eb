/* SPDX-License-Identifier: MIT
 *
 * Rows of numbers to a CSV file while they are computed. Only whole lines reach the file, at least
 * every quarter of a second: whenever and however the program ends, the file is a valid table of
 * what was computed so far. */
#ifndef CST_CLI_SERIES_H
#define CST_CLI_SERIES_H

#include "base/writer.h"

typedef struct cst_series {
    cst_writer *out; /* unbuffered */
    char *text;
    size_t used, cap;
    int ncol;
    long rows;
    double flushed; /* when */
} cst_series;

void cst_series_open(cst_series *s, cst_arena *a, cst_writer *out, int ncol,
                     const char *const *name);
void cst_series_row(cst_series *s, double t,
                    const double *x);             /* ncol - 1 values behind the first column */
int cst_series_close(cst_series *s, cst_diag *d); /* 0: something is missing, reported */

#endif
