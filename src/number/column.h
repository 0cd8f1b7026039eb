/* SPDX-License-Identifier: MIT
 *
 * Columns of CSV files as quantities: values in SI units. */
#ifndef CST_NUMBER_COLUMN_H
#define CST_NUMBER_COLUMN_H

#include "base/csv.h"

typedef struct cst_column {
    double *value;    /* (rows) in SI units; NAN: missing */
    double factor;    /* SI value = written value times factor */
    const char *unit; /* of the written values; NULL: none is known, they are taken as SI */
} cst_column;

typedef struct cst_column_wish {
    const char *name;
    const char *unit; /* of the written values; NULL: the unit that the file gives */
    const char *as;   /* a unit of the dimension that is wanted ... */
    const char *by;   /* ... by whom, for messages; NULL: any dimension will do */
    int whole;        /* 1: no value may be missing */
    cst_where where;  /* of what names the column */
} cst_column_wish;

/* 0: reported, with the columns that are there */
int cst_column_read(cst_arena *a, const cst_csv *c, const cst_column_wish *wish, cst_column *to,
                    cst_diag *d);

#endif
