/* SPDX-License-Identifier: MIT
 *
 * LU with dense fronts (Duff and Reid, ACM TOMS 9, 1983) for matrices that are factored many times
 * on one pattern, in an order that is given. Unknowns with nearly the same neighbours are
 * eliminated together: a front is the dense matrix over w pivots and the m later unknowns that they
 * touch,
 *
 *     F = [ D  U ]  w       D := -D^-1 with row exchanges inside,  U := D U,
 *         [ L  S ]  m       S := S + L U   is added to the front of the parent
 *
 * kept by rows as D, then U, then L^T, rows padded with zeros to a multiple of four. A front is
 * assembled in scratch memory, and what the solves read is written out once; S stays on a stack
 * until the parent is eliminated. The inverse of a small D costs little more than its factors and
 * turns solves into products. Their error depends on the condition of D; one step of refinement
 * removes it. A symmetric matrix needs neither L nor the lower half of S.
 *
 * The bodies and joints of a mechanism give w of 6 to 30: inner loops run over contiguous numbers
 * instead of lists of indices. Rows are exchanged inside a front only; lu.c checks the pivots and
 * falls back to KLU where they are not good enough. */
#ifndef CST_LINALG_FRONTS_H
#define CST_LINALG_FRONTS_H

#include "linalg/sparse.h"

/* Maps adjacent entries in a row of S to adjacent entries in the parent's front: in D or U (`to`
 * counts from D), in S, or in L^T, there one entry at a time. Pieces are sorted by kind, that is by
 * length (6, 3, 2 or 1) and by whether they go to S, so that they are added without branches. */
typedef struct cst_front_piece {
    int from, to;
} cst_front_piece;
enum { CST_NLENGTH = 4, CST_NPIECE = 2 * CST_NLENGTH };

typedef struct cst_front_fill {
    int from, to;
} cst_front_fill; /* entry of the matrix -> place in F */
enum {
    CST_FILL_AHEAD = 32
}; /* entries that are asked for before their turn; the list of all fronts is longer by as much */

enum { CST_FRONT_SLACK = 12 }; /* entries behind a block that are cleared with it */
enum { CST_SHAPE_D = 3, CST_SHAPE_N = 4, CST_NSHAPE = CST_SHAPE_D * (CST_SHAPE_N + 1) + 1 };

typedef struct cst_front {
    int first, w, m; /* pivots are unknowns first .. first + w - 1 in the order of elimination */
    int d, n;        /* w and m made multiples of four: entries of a row of D and U, L^T, S */
    int shape; /* selects the kernel functions compiled for d and n; the last one works for any */
    int parent, child, next; /* the front of its first later unknown; its first child; the next
                                child of its parent; -1: none */
    size_t at[2];            /* offset of its factors: in general; for a symmetric matrix */
    size_t S;                /* offset of its S on the stack */
    cst_front_fill *fill;    /* entries of the matrix: those of the upper half, then the others */
    int nupper, nfill;
    const int *row; /* (n) later unknowns, ascending; the padding entries are plan->n, which is no
                       unknown */
    int npiece[2][CST_NPIECE]; /* pieces that go to the parent, by kind: in general; for a symmetric
                                  matrix (upper half) */
    cst_front_piece *piece[2];
} cst_front;

/* Where U, L^T and S begin, and where an entry is, in a front that is put together: rows of D have
 * d entries, the others n */
static inline size_t cst_front_U(const cst_front *f) { return (size_t)f->w * (size_t)f->d; }
static inline size_t cst_front_Lt(const cst_front *f)
{
    return (size_t)f->w * (size_t)(f->d + f->n);
}
static inline size_t cst_front_S(const cst_front *f)
{
    return cst_front_Lt(f) + (size_t)f->w * (size_t)f->n;
}
static inline size_t cst_front_entry(const cst_front *f, int row, int col)
{
    int later = col - f->w;
    if (row < f->w && later < 0) return (size_t)row * (size_t)f->d + (size_t)col;
    if (row < f->w) return cst_front_U(f) + (size_t)row * (size_t)f->n + (size_t)later;
    if (later < 0) return cst_front_Lt(f) + (size_t)col * (size_t)f->n + (size_t)(row - f->w);
    return cst_front_S(f) + (size_t)(row - f->w) * (size_t)f->n + (size_t)later;
}

typedef struct cst_front_plan {
    int n, nfront, nnz;
    int widest;       /* the largest d + n */
    int far;          /* the factors do not fit into a cache */
    cst_front *front; /* children before parents */
    size_t size[2];   /* of the factors of all fronts; of a symmetric matrix */
    size_t largest,
        stack; /* size of the largest front without S; largest total size of all S alive at once */
    int *perm; /* unknown that is k-th in the order of elimination */
    double factor_cost, solve_cost; /* instructions, roughly */
} cst_front_plan;

/* perm: an order of elimination; val: typical values, for which pivots must be found inside the
 * fronts. An unknown that has none in its front (a multiplier of which too few coordinates have
 * been eliminated) is moved to the parent's. NULL: fronts would cost more than most_cost, would be
 * too large, or the matrix is singular. */
const cst_front_plan *cst_front_plan_new(cst_arena *a, const cst_pattern *p, const int *perm,
                                         const double *val, double most_cost);

struct cst_fronts;

typedef struct cst_front_kernel { /* fronts_numeric.c, compiled for any processor and for wide
                                     vectors */
    int (*factor)(struct cst_fronts *f, const double *val);
    void (*solve)(struct cst_fronts *f, int transposed, double *b);
} cst_front_kernel;

extern const cst_front_kernel cst_front_kernel_plain, cst_front_kernel_wide;

typedef struct cst_fronts {
    const cst_front_plan *plan;
    const cst_front_kernel *kernel;
    double *F, *inverse; /* inverse: 1 / pivots, in the order of elimination */
    int symmetric;       /* the matrix is: its upper half is read */
    double *x, *y;       /* scratch: (n + 4), of which the last are zero; (2 widest) */
    double *W, *stack;   /* the front being eliminated, without S; S of fronts whose parent has not
                            been eliminated yet */
    int *exchange; /* scratch (2 widest): a pivot's row and the row that came to its place, one pair
                      after the other */
} cst_fronts;

cst_fronts *cst_fronts_new(cst_arena *a, const cst_front_plan *plan, int symmetric);
int cst_fronts_factor(cst_fronts *f, const double *val); /* 0: a pivot is zero or no number */
void cst_fronts_solve(cst_fronts *f, int transposed, double *b);

#endif
