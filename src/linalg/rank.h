/* SPDX-License-Identifier: MIT
 *
 * Which rows of a sparse matrix depend on the others: rank-revealing sparse QR of the transpose
 * (linalg/qr.h). */
#ifndef CST_LINALG_RANK_H
#define CST_LINALG_RANK_H

#include "base/arena.h"

typedef struct cst_rows { /* a sparse matrix by rows */
    int nrow, ncol;
    const int *ptr; /* (nrow+1) */
    const int *col;
    const double *val;
} cst_rows;

typedef struct cst_rank {
    int rank;
    int ndep;
    int *dep; /* (ndep) dependent rows; later rows are preferred */
    /* For dependent row dep[k]: row = sum coef * other rows; the independent rows in it, |coef| >
     * 1e-8 */
    int *term_ptr; /* (ndep+1) */
    int *term_row;
    double *term_coef;
} cst_rank;

/* tol: a row whose distance to the span of the others is below tol times its norm is dependent.
 * Rows are scaled to unit norm first; zero rows are dependent with no terms; coefficients below
 * 1e-8 of unit rows are left out. Every row in dep is within 4 tol of the span of the rows that are
 * kept. The kept rows have been searched for a further dependency (smallest singular value by
 * inverse iteration); that search is good, not a proof. The later rows are preferred strictly,
 * unless the factors in the given order would cost more than 1e8 flops. dep ascends. 0: out of
 * memory. */
int cst_rank_rows(cst_arena *a, const cst_rows *m, double tol, cst_rank *out);

#endif
