/* SPDX-License-Identifier: MIT
 *
 * A square sparse matrix with one fixed pattern (CSC) whose entries are added by slot, and its LU
 * factors.
 *
 * Pattern: collect blocks (rows x columns of the unknowns they touch) once, cst_pattern_finish;
 * afterwards each block gets its slots: the index into values of each of its entries, so that the
 * time loop only does v[slot[k]] += a[k]. */
#ifndef CST_LINALG_SPARSE_H
#define CST_LINALG_SPARSE_H

#include "base/arena.h"

typedef struct cst_pattern {
    int n; /* unknowns */
    int nnz;
    int *ptr; /* (n+1) */
    int *row; /* (nnz) sorted within a column */
} cst_pattern;

typedef struct cst_pattern_builder cst_pattern_builder;
cst_pattern_builder *cst_pattern_begin(cst_arena *scratch, int n);
void cst_pattern_block(cst_pattern_builder *b, int nr, const int *row, int nc, const int *col);
const cst_pattern *cst_pattern_finish(cst_pattern_builder *b, cst_arena *a);
/* slot[i*nc + j] of entry (row[i], col[j]); the entry must be in the pattern (assert). */
void cst_pattern_slots(const cst_pattern *p, int nr, const int *row, int nc, const int *col,
                       int *slot);

/* max |x_i|; NaN if any of them is NaN */
double cst_largest(int n, const double *x);

/* y += A x and y += A^T x */
void cst_sparse_mul(const cst_pattern *p, const double *val, const double *x, double *y);
void cst_sparse_tmul(const cst_pattern *p, const double *val, const double *x, double *y);

/* LU: analyse once, then factor (chooses pivots) / refactor (keeps them), solve / tsolve in place,
 * many right-hand sides. `rank` says which unknowns are coordinates (0) and which multipliers (1):
 * several orders are tried at the start (AMD, COLAMD, coordinates first, multipliers after a
 * coordinate they touch, hub last) and the one with the fewest flops at the given values is kept.
 * KLU does the work (scale = 2, btf = 0); twins use dense fronts (fronts.h) instead where that has
 * been asked for and while these serve. */
typedef struct cst_lu cst_lu;
typedef struct cst_lu_info {
    const char *order; /* the one that was kept */
    double flops;      /* of one refactor */
    int lnz, unz;
    double rcond; /* min |u_kk| / max |u_kk| of the last factor or refactor by KLU; INFINITY: a twin
                     had none */
    double growth; /* min over columns of max |a_ik| / max |u_ik|, when last looked at */
    double factor_cost, solve_cost; /* of a refactor and of a solution, in instructions, roughly */
    long factors, refactors, solves;
} cst_lu_info;

/* val: typical values for choosing the order; on return the object holds their factors. If they are
 * singular it has no factors, and cst_lu_factor will name the unknown. order: NULL tries all
 * orders, otherwise the name of one. NULL: out of memory, or no order of that name. The object is
 * released with the arena; p must outlive it. */
cst_lu *cst_lu_new(cst_arena *a, const cst_pattern *p, const double *val, const unsigned char *rank,
                   const char *order);
/* Twins created after this call use dense fronts where these are cheaper. For matrices that are
 * factored many times. */
void cst_lu_plan(cst_arena *a, cst_lu *lu, const double *val);
/* A second set of factors on the same pattern and order. It shares the analysis of lu, which must
 * outlive it, and starts without factors. Twins may be used by different threads. symmetric: all
 * its matrices will be, to rounding. */
cst_lu *cst_lu_twin(cst_arena *a, const cst_lu *lu, int symmetric);
/* -1: done; else the unknown whose pivot is zero, less than 1e-14 of its column, or whose column is
 * not finite. Then there are no factors until the next success. */
int cst_lu_factor(cst_lu *lu, const double *val);
/* Allocates nothing, unless it falls back to factor: when the old pivots have become bad, or are to
 * be forgotten. */
int cst_lu_refactor(cst_lu *lu, const double *val);
/* The next refactorisation ignores everything learned from earlier ones (pivots, fronts), so that
 * equal values give equal factors. */
void cst_lu_forget(cst_lu *lu);
void cst_lu_solve(cst_lu *lu, int nrhs,
                  double *b); /* b (n x nrhs, by columns) becomes the solution */
void cst_lu_tsolve(cst_lu *lu, int nrhs, double *b);
const cst_lu_info *cst_lu_get(const cst_lu *lu);
const char *cst_lu_order_name(int k); /* the orders that exist; NULL at the end */

#endif
