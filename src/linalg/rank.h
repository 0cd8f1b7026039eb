/* SPDX-License-Identifier: MIT
 *
 * Which rows of a sparse matrix depend on the others: rank-revealing sparse QR of the transpose (SuiteSparseQR). */
#ifndef CST_LINALG_RANK_H
#define CST_LINALG_RANK_H

#include "base/arena.h"

typedef struct cst_rows { /* a sparse matrix by rows */
    int nrow, ncol;
    const int *ptr;    /* (nrow+1) */
    const int *col;
    const double *val;
} cst_rows;

typedef struct cst_rank {
    int rank;
    int ndep;
    int *dep;          /* (ndep) dependent rows; later rows are preferred */
    /* For dependent row dep[k]: row = sum coef * other rows; the independent rows in it, |coef| > 1e-8 */
    int *term_ptr;     /* (ndep+1) */
    int *term_row;
    double *term_coef;
} cst_rank;

/* tol: a row whose distance to the span of the others is below tol times its norm is dependent. Rows are scaled to
 * unit norm first; zero rows are dependent with no terms. 0: out of memory. */
int cst_rank_rows(cst_arena *a, const cst_rows *m, double tol, cst_rank *out);

#endif
