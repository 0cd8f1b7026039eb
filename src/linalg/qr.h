/* SPDX-License-Identifier: MIT
 *
 * Sparse QR of the transpose of a matrix with dead columns: B = Q R, column k of B is row perm[k]
 * of a cst_rows. Going through the columns in that order, one whose distance to the span of the
 * live columns before it is at most tol is dead (Heath, SIAM J. Sci. Stat. Comput. 3, 1982) and
 * adds no row to R. Q is not kept. */
#ifndef CST_LINALG_QR_H
#define CST_LINALG_QR_H

#include "linalg/rank.h"

/* Columns that are eliminated together in a dense matrix. The fronts form a tree, numbered with
 * children before their parent and the descendants of a front directly before it. */
typedef struct cst_qr_front {
    int npivot, ncol; /* columns: those eliminated here first; ascending */
    int *col;
    int nown, *own; /* rows of B whose first column is eliminated here */
    int nchild;
} cst_qr_front;

typedef struct cst_qr_plan {
    const cst_rows *m;
    const int *perm;
    int n;          /* columns of B */
    double flops;   /* of the Cholesky factor of B^T B: an upper bound for R, and what orders are
                       compared by */
    int *ptr, *col; /* B by rows: columns, ascending */
    int *slot;      /* and where the entry is in m->val */
    int *first;     /* (m->ncol) first column of each row of B; -1: the row is empty */
    int nfront;
    cst_qr_front *front;
    int *bound; /* (n) upper bound for the entries in each column of R, without the diagonal */
    int tallest, widest;
    size_t front_size, stack_size, stack_rows; /* most numbers in a front; in all blocks that wait
                                                  for their parents; such blocks */
} cst_qr_plan;

/* Which columns each front has. NULL: more flops than the limit. m and perm must outlive the plan.
 */
cst_qr_plan *cst_qr_plan_new(cst_arena *a, const cst_rows *m, int n, const int *perm, double limit);

/* Leaves perm as it is where R costs at most 1e8 flops, or if minimum degree (AMD) on B^T B does
 * not save nine tenths of them; otherwise makes it that order. Returns the plan. NULL: out of
 * memory */
cst_qr_plan *cst_qr_order(cst_arena *a, const cst_rows *m, int n, int *perm);

typedef struct cst_qr {
    int n, nlive;
    double *diagonal;  /* (n) 0: the column is dead */
    size_t *ptr, *end; /* (n) entries of column k of R besides the diagonal: ptr[k] .. end[k] */
    int *row;          /* a row of R has the number of the live column that it begins in */
    double *val;
} cst_qr;

/* scale (rows of m): factors of the rows, so that each has norm 1 */
void cst_qr_factor(cst_arena *a, const cst_qr_plan *p, const double *scale, double tol,
                   cst_qr *out);

#endif
