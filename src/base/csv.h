/* SPDX-License-Identifier: MIT
 *
 * Numeric tables in CSV files: one header line with the names of the columns ("quoted" if they contain
 * commas), then numbers separated by commas, the same count in every line. '#' begins a comment line; empty
 * lines are skipped. */
#ifndef CST_BASE_CSV_H
#define CST_BASE_CSV_H

#include "base/arena.h"
#include "base/diag.h"
#include "base/text.h"

typedef struct cst_csv {
    const char *file;
    int ncol, nrow;
    const char **name; /* (ncol) */
    double **column;   /* (ncol) of (nrow) */
    int *line;         /* (nrow) where a row stands in the file: for messages */
    cst_map index;     /* name -> column */
} cst_csv;

/* Limits: 256 MiB, 4096 columns. NULL: reported. Names are copied, the text may go. */
cst_csv *cst_csv_parse(cst_arena *a, const char *file_name, const char *text, size_t n, cst_diag *d);
cst_csv *cst_csv_read(cst_arena *a, const char *path, cst_diag *d);

const double *cst_csv_column(const cst_csv *c, const char *name); /* NULL: there is none */

#endif
