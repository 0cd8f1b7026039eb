/* SPDX-License-Identifier: MIT
 *
 * LU with dense fronts (Duff and Reid, ACM TOMS 9, 1983) for matrices that are factored many times on one
 * pattern, in an order that is given. Unknowns with nearly the same neighbours are eliminated together: a
 * front is the dense matrix over w pivots and the m later unknowns that they touch,
 *
 *     F = [ D  U ]  w       D = L_D U_D with row exchanges inside,  U := L_D^-1 U,  L := L U_D^-1,
 *         [ L  S ]  m       S := S - L U   is added to the front of the parent
 *
 * kept by rows as [D U], then L^T, then S.
 *
 * The bodies and joints of a mechanism give w of 6 to 30: inner loops run over contiguous numbers instead of
 * lists of indices. Pivots are exchanged inside a front only; lu.c judges them and has KLU for the rest. */
#ifndef CST_LINALG_FRONTS_H
#define CST_LINALG_FRONTS_H

#include "linalg/sparse.h"

typedef struct cst_run_of_rows { int from, to, len; } cst_run_of_rows; /* rows of S -> rows of the parent's F */

typedef struct cst_front {
    int first, w, m;    /* pivots are unknowns first .. first + w - 1 in the order of elimination */
    int ld;             /* row stride of D and U: w + n, n: m made a multiple of four */
    int parent;         /* -1: none */
    size_t at;          /* where F begins */
    const int *row;     /* (m) later unknowns, ascending */
    int nrun;
    cst_run_of_rows *run;
} cst_front;

/* Where L^T, S and an entry of F are */
static inline size_t cst_front_Lt(const cst_front *f) { return (size_t)f->w * (size_t)f->ld; }
static inline size_t cst_front_S(const cst_front *f) { return (size_t)f->w * (size_t)(2 * f->ld - f->w); }
static inline size_t cst_front_entry(const cst_front *f, int row, int col)
{
    size_t n = (size_t)(f->ld - f->w);
    if (row < f->w) return (size_t)row * (size_t)f->ld + (size_t)col;
    if (col < f->w) return cst_front_Lt(f) + (size_t)col * n + (size_t)(row - f->w);
    return cst_front_S(f) + (size_t)(row - f->w) * n + (size_t)(col - f->w);
}

typedef struct cst_front_plan {
    int n, nfront, nnz, widest; /* widest: the largest ld */
    cst_front *front;           /* children before parents */
    size_t size;                /* of all fronts */
    int *perm;                  /* unknown that is k-th in the order of elimination */
    size_t *dest;               /* (nnz) place of each entry of the matrix */
    double factor_cost, solve_cost; /* instructions, roughly */
} cst_front_plan;

/* perm: an order of elimination; val: typical values, for which pivots must be found inside the fronts. An unknown that
 * has none in its front (a multiplier of which too few coordinates have been eliminated) is moved to the parent's.
 * NULL: fronts would cost more than most_cost, would be too large, or the matrix is singular. */
const cst_front_plan *cst_front_plan_new(cst_arena *a, const cst_pattern *p, const int *perm, const double *val,
                                         double most_cost);

struct cst_fronts;

typedef struct cst_front_kernel { /* fronts_numeric.c, compiled for any processor and for wide vectors */
    int (*factor)(struct cst_fronts *f, const double *val);
    void (*solve)(struct cst_fronts *f, double *b), (*tsolve)(struct cst_fronts *f, double *b);
} cst_front_kernel;

extern const cst_front_kernel cst_front_kernel_plain, cst_front_kernel_wide;

typedef struct cst_fronts {
    const cst_front_plan *plan;
    const cst_front_kernel *kernel;
    double *F, *inverse; /* inverse: 1 / pivots, in the order of elimination */
    int *exchange;       /* the row that came to the place of each pivot */
    double *x, *y;       /* scratch: (n), (widest) */
} cst_fronts;

cst_fronts *cst_fronts_new(cst_arena *a, const cst_front_plan *plan);
int cst_fronts_factor(cst_fronts *f, const double *val); /* 0: a pivot is zero or no number */
void cst_fronts_solve(cst_fronts *f, double *b);
void cst_fronts_tsolve(cst_fronts *f, double *b);

#endif
