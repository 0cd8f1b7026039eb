/* SPDX-License-Identifier: MIT
 *
 * Numeric tables in CSV files, as spreadsheets and test benches write them: a line with the names
 * of the columns, perhaps a line with their units, then rows of numbers. Columns are separated by
 * ',', ';' or tabs; names and numbers may be "quoted"; decimals have a point or, throughout the
 * file, a comma. All of this is found from the file itself. A name may have its unit in brackets:
 * "F [kN]", "F (kN)". '#' begins a comment line; empty lines are skipped.
 * Empty cells and nan are missing values: NAN. Any other text is an error of the column, for those
 * who use the column. */
#ifndef CST_BASE_CSV_H
#define CST_BASE_CSV_H

#include "base/arena.h"
#include "base/diag.h"
#include "base/text.h"

typedef struct cst_csv_text {
    const char *what; /* NULL: there is none */
    cst_where where;
} cst_csv_text;

typedef struct cst_csv {
    const char *file;
    int ncol, nrow;
    const char **name;  /* (ncol) as written, with the unit */
    const char **unit;  /* (ncol) as written; NULL: none */
    double **column;    /* (ncol) of (nrow) as written, NAN: missing */
    cst_csv_text *text; /* (ncol) the first cell that is neither a number nor missing */
    int *line;          /* (nrow) where a row stands in the file: for messages */
    cst_map index;      /* name, with and without the unit -> column */
} cst_csv;

/* Limits: 256 MiB, 4096 columns. NULL: reported. Names are copied, the text may go. */
cst_csv *cst_csv_parse(cst_arena *a, const char *file_name, const char *text, size_t n,
                       cst_diag *d);
cst_csv *cst_csv_read(cst_arena *a, const char *path, const char *root,
                      cst_diag *d); /* root: as in base/file.h */

int cst_csv_find(const cst_csv *c, const char *name);             /* -1: there is none */
const double *cst_csv_column(const cst_csv *c, const char *name); /* NULL: there is none */
/* 0: the column has text among its numbers or, if it must be whole, a missing one; reported */
int cst_csv_check(const cst_csv *c, int k, int whole, cst_diag *d);

#endif
