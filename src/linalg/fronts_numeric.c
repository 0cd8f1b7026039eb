/* SPDX-License-Identifier: MIT
 *
 * Numbers of the fronts. Four neighbouring entries of a row make one operation of a vector unit, or
 * two: this file is compiled for any processor and, as fronts_wide.c, for those with vectors of
 * four. Rows of U, L^T and S are padded with zeros to a multiple of four. Sums have the same order
 * everywhere, so results do not depend on the processor. */
#include "linalg/fronts_eliminate.h"
#include "linalg/fronts_solve.h"

#ifndef CST_FRONT_KERNEL
#define CST_FRONT_KERNEL cst_front_kernel_plain
#endif

/* ---- shapes ---- */

typedef int eliminate_front(const cst_front *f, cst_fronts *w);
typedef void pass_front(const cst_front *f, const double *E, double *x, double *scratch);

/* The operations on a front, compiled for each common number of quads in its rows (dq of D, nq of
 * U) and once for any: fronts are small, and loop overhead would be most of the work. Without
 * vectors of four this gains little. */
typedef struct shape {
    eliminate_front *general, *symmetric;
    pass_front *up_general, *down_general, *up, *down_symmetric, *down_transposed;
} shape;

/* rows: as for combine; quads: declares b, y, z of quads_of */
#define ELIMINATE(name, rows, dq, nq)                                                              \
    static int general##name(const cst_front *f, cst_fronts *w)                                    \
    {                                                                                              \
        return eliminate(rows, 0, dq, nq, f, w);                                                   \
    }                                                                                              \
    static int symmetric##name(const cst_front *f, cst_fronts *w)                                  \
    {                                                                                              \
        return eliminate(rows, 1, dq, nq, f, w);                                                   \
    }
#define PASS(name, pass, rows, dq, nq, quads)                                                      \
    static void pass##name(const cst_front *f, const double *E, double *x, double *scratch)        \
    {                                                                                              \
        (void)scratch;                                                                             \
        quads;                                                                                     \
        pass(rows, dq, nq, f, E, x, (quads_of){b, y, z});                                          \
    }
#define FUNCTIONS(name, rows, dq, nq, quads)                                                       \
    ELIMINATE(name, rows, dq, nq)                                                                  \
    PASS(name, up_general, rows, dq, nq, quads)                                                    \
    PASS(name, down_general, rows, dq, nq, quads)                                                  \
    PASS(name, up, rows, dq, nq, quads)                                                            \
    PASS(name, down_symmetric, rows, dq, nq, quads)                                                \
    PASS(name, down_transposed, rows, dq, nq, quads)
#define SHAPE(name)                                                                                \
    {general##name, symmetric##name,      up_general##name,     down_general##name,                \
     up##name,      down_symmetric##name, down_transposed##name},

#ifdef __AVX2__
#define FUNCTIONS_OF(dq, nq)                                                                       \
    FUNCTIONS(_##dq##_##nq, 4 * dq, dq, nq, quad b[dq]; quad y[nq + 1]; quad z[dq])
#define SHAPE_OF(dq, nq) SHAPE(_##dq##_##nq)
#else
#define FUNCTIONS_OF(dq, nq)
#define SHAPE_OF(dq, nq) SHAPE(_any)
#endif
#define ALL_NQ(X, dq)                                                                              \
    X(dq, 0)                                                                                       \
    X(dq, 1)                                                                                       \
    X(dq, 2)                                                                                       \
    X(dq, 3)                                                                                       \
    X(dq, 4)
#define ALL_SHAPES(X) ALL_NQ(X, 1) ALL_NQ(X, 2) ALL_NQ(X, 3)
_Static_assert(CST_SHAPE_D == 3 && CST_SHAPE_N == 4, "as many as here");

ALL_SHAPES(FUNCTIONS_OF)
FUNCTIONS(_any, 0, f->d / 4, f->n / 4, quad *b = (quad *)scratch; quad *y = b + f->d / 4;
          quad *z = y + f->n / 4)

static const shape shapes[CST_NSHAPE] = {ALL_SHAPES(SHAPE_OF) SHAPE(_any)};

/* ---- factors ---- */

/* y = 0, n entries and up to CST_FRONT_SLACK behind them */
static inline void clear(size_t n, double *y)
{
    for (double *end = y + n; y < end; y += 16) AT(y) = AT(y + 4) = AT(y + 8) = AT(y + 12) = ALL(0);
}

/* y += x where the pieces from e on say; n: how many there are of each length. Returns their end.
 */
static inline const cst_front_piece *add_pieces(const cst_front_piece *e, const int *n,
                                                const double *x, double *y)
{
    const cst_front_piece *end = e + n[0];
    for (; e < end; e++) {
        AT(y + e->to) += READ(x + e->from);
        CST_PAIR(y + e->to + 4) += CST_READ_PAIR(x + e->from + 4);
    }
    for (end += n[1]; e < end; e++) {
        CST_PAIR(y + e->to) += CST_READ_PAIR(x + e->from);
        y[e->to + 2] += x[e->from + 2];
    }
    for (end += n[2]; e < end; e++) CST_PAIR(y + e->to) += CST_READ_PAIR(x + e->from);
    for (end += n[3]; e < end; e++) y[e->to] += x[e->from];
    return e;
}

/* S of a child to its parent, which is being put together */
static inline void add_child(const cst_fronts *w, const cst_front *f, double *S)
{
    const int *n = f->npiece[w->symmetric];
    const double *from = w->stack + f->S;
    const cst_front_piece *e = add_pieces(f->piece[w->symmetric], n, from, w->W);
    add_pieces(e, n + CST_NLENGTH, from, S);
}

/* Copies the entries of the matrix from e on into W. far: prefetch later ones, because the order of
 * elimination scatters them */
static inline void fill(int far, const cst_front_fill *e, const cst_front_fill *end,
                        const double *val, double *W)
{
    if (far)
        for (; e < end; e++)
            __builtin_prefetch(val + e[CST_FILL_AHEAD].from), W[e->to] = val[e->from];
    UNROLL
    for (; e < end; e++) W[e->to] = val[e->from];
}

static int factor(cst_fronts *w, const double *val)
{
    const cst_front_plan *plan = w->plan;
    double *W = w->W;
    for (const cst_front *f = plan->front, *end = f + plan->nfront; f < end; f++) {
        double *S = w->stack + f->S;
        clear(w->symmetric ? cst_front_Lt(f) : cst_front_S(f), W);
        clear((size_t)f->m * (size_t)f->n, S);
        fill(plan->far, f->fill, f->fill + (w->symmetric ? f->nupper : f->nfill), val, W);
        for (int i = f->child; i >= 0; i = plan->front[i].next) add_child(w, &plan->front[i], S);
        const shape *of = &shapes[f->shape];
        if (!(w->symmetric ? of->symmetric(f, w) : of->general(f, w))) return 0;
    }
    return 1;
}

/* ---- solutions ---- */

/* Prefetches numbers [from, to) of a front that is needed a little later, if the factors do not fit
 * into a cache. Hardware prefetchers recognise streams, but not one with gaps, nor fronts that are
 * visited from the last to the first. */
enum { AHEAD = 6 };

CST_INLINE void ask(const cst_fronts *w, const cst_front *f, size_t from, size_t to)
{
    const double *F = w->F + f->at[w->symmetric];
    for (size_t k = from; k < to; k += 32) /* four lines; those behind the end are wanted soon */
        __builtin_prefetch(F + k), __builtin_prefetch(F + k + 8), __builtin_prefetch(F + k + 16),
            __builtin_prefetch(F + k + 24);
}

static void solve_general(cst_fronts *w, double *x)
{
    const cst_front *first = w->plan->front, *end = first + w->plan->nfront;
    const ptrdiff_t later = w->plan->far ? AHEAD : w->plan->nfront;
    for (const cst_front *f = first; f < end; f++) {
        if (end - f > later) ask(w, f + later, 0, cst_front_S(f + later));
        shapes[f->shape].up_general(f, w->F + f->at[0], x, w->y);
    }
    for (const cst_front *f = end; f-- > first;) {
        if (f - first >= later) ask(w, f - later, cst_front_U(f - later), cst_front_Lt(f - later));
        shapes[f->shape].down_general(f, w->F + f->at[0], x, w->y);
    }
}

static void solve_symmetric(cst_fronts *w, double *x)
{
    const cst_front *first = w->plan->front, *end = first + w->plan->nfront;
    const ptrdiff_t later = w->plan->far ? AHEAD : w->plan->nfront;
    for (const cst_front *f = first; f < end; f++) {
        if (end - f > later) ask(w, f + later, cst_front_U(f + later), cst_front_Lt(f + later));
        shapes[f->shape].up(f, w->F + f->at[1], x, w->y);
    }
    for (const cst_front *f = end; f-- > first;) {
        if (f - first >= later) ask(w, f - later, 0, cst_front_Lt(f - later));
        shapes[f->shape].down_symmetric(f, w->F + f->at[1], x, w->y);
    }
}

static void solve_transposed(cst_fronts *w, double *x)
{
    const cst_front *first = w->plan->front, *end = first + w->plan->nfront;
    const ptrdiff_t later = w->plan->far ? AHEAD : w->plan->nfront;
    for (const cst_front *f = first; f < end; f++) {
        if (end - f > later) ask(w, f + later, cst_front_U(f + later), cst_front_Lt(f + later));
        shapes[f->shape].up(f, w->F + f->at[0], x, w->y);
    }
    for (const cst_front *f = end; f-- > first;) {
        if (f - first >= later) ask(w, f - later, 0, cst_front_S(f - later));
        shapes[f->shape].down_transposed(f, w->F + f->at[0], x, w->y);
    }
}

static void solve(cst_fronts *w, int transposed, double *b)
{
    const cst_front_plan *plan = w->plan;
    double *x = w->x;
    const int *perm = plan->perm;
    UNROLL
    for (int k = 0; k < plan->n; k++) x[k] = b[perm[k]];
    AT(x + plan->n) = ALL(0); /* read by the padding of a front's rows */
    if (w->symmetric)
        solve_symmetric(w, x);
    else if (transposed)
        solve_transposed(w, x);
    else
        solve_general(w, x);
    UNROLL
    for (int k = 0; k < plan->n; k++) b[perm[k]] = x[k];
}

const cst_front_kernel CST_FRONT_KERNEL = {factor, solve};
