/* SPDX-License-Identifier: MIT
 *
 * Numbers of the fronts. Four neighbouring entries of a row make one operation of a vector unit, or two: this file is
 * compiled for any processor and, as fronts_wide.c, for those with vectors of four. Rows of U, L^T and S are padded with
 * zeros to a multiple of four. Sums have the same order everywhere, so results do not depend on the processor. */
#include <math.h>
#include <string.h>

#include "linalg/fronts.h"
#include "linalg/pair.h"

#ifndef CST_FRONT_KERNEL
#define CST_FRONT_KERNEL cst_front_kernel_plain
#endif

typedef double quad __attribute__((vector_size(32), aligned(8), may_alias)); /* four doubles anywhere */

#define AT(p) (*(quad *)(p))
#define READ(p) (*(const quad *)(p))
#define ALL(x) ((quad){x, x, x, x})

#define UNROLL _Pragma("GCC unroll 4")

#define EXCHANGE 0.1 /* a pivot is exchanged when it is smaller than this times the largest of its column */

enum { FEW = 4 }; /* quads of a row that stay in registers */

/* y += sum_k v_k A_k over so many quads of the rows A_k, a constant; ld: from A_k to the next. v_k are neighbours, or else ld apart.
 * fresh: y = instead. Two rows at a time make half the steps of the loop, and the same sums. */
CST_INLINE void add_quads(int quads, int fresh, int neighbours, int nrow, const double *A, size_t ld, const double *v, double *y)
{
    quad sum[FEW];
    const double *A1 = A + ld, *v1 = v + (neighbours ? 1 : ld);
    size_t at = 0, end = (size_t)(nrow & ~1) * ld;
    for (int j = 0; j < quads; j++) sum[j] = fresh ? ALL(0) : READ(y + 4 * j);
    for (; at < end; at += 2 * ld) {
        quad c = ALL(neighbours ? *v : v[at]), c1 = ALL(neighbours ? *v1 : v1[at]);
        for (int j = 0; j < quads; j++) sum[j] += c * READ(A + at + 4 * j);
        for (int j = 0; j < quads; j++) sum[j] += c1 * READ(A1 + at + 4 * j);
        if (neighbours) v += 2, v1 += 2;
    }
    if (nrow & 1)
        for (int j = 0; j < quads; j++) sum[j] += ALL(neighbours ? *v : v[at]) * READ(A + at + 4 * j);
    for (int j = 0; j < quads; j++) AT(y + 4 * j) = sum[j];
}

/* The same for many y at a time, each n entries long, a multiple of four: y_i from the i-th of v; next, lv: from y_i and the v of it
 * to the next */
CST_INLINE void add_rows(int fresh, int neighbours, int many, int nrow, int n, const double *A, size_t ld, const double *v, size_t lv,
                     double *y, size_t next)
{
    for (; n > 0; n -= 4 * FEW, A += 4 * FEW, y += 4 * FEW) {
        const double *c = v;
        double *to = y;
        if (n >= 16)
            for (int i = 0; i < many; i++, c += lv, to += next) add_quads(4, fresh, neighbours, nrow, A, ld, c, to);
        else if (n == 8)
            for (int i = 0; i < many; i++, c += lv, to += next) add_quads(2, fresh, neighbours, nrow, A, ld, c, to);
        else if (n == 12)
            for (int i = 0; i < many; i++, c += lv, to += next) add_quads(3, fresh, neighbours, nrow, A, ld, c, to);
        else
            for (int i = 0; i < many; i++, c += lv, to += next) add_quads(1, fresh, neighbours, nrow, A, ld, c, to);
    }
}

/* z_k = A_k . x + B_k . y for nrow rows of d and of n entries, multiples of four; four rows at a time, whose sums are then added up
 * side by side */
CST_INLINE void dots(int nrow, int d, const double *A, const double *x, int n, const double *B,
                                                       const double *y, double *z)
{
    int k = 0;
    for (; k + 4 <= nrow; k += 4, A += 4 * d, B += 4 * n) {
        quad s0 = ALL(0), s1 = s0, s2 = s0, s3 = s0;
        for (int j = 0; j < d; j += 4) {
            quad v = READ(x + j);
            const double *row = A + j;
            s0 += READ(row) * v, s1 += READ(row + d) * v, s2 += READ(row + 2 * d) * v, s3 += READ(row + 3 * d) * v;
        }
        for (int j = 0; j < n; j += 4) {
            quad v = READ(y + j);
            const double *row = B + j;
            s0 += READ(row) * v, s1 += READ(row + n) * v, s2 += READ(row + 2 * n) * v, s3 += READ(row + 3 * n) * v;
        }
        quad ab = __builtin_shufflevector(s0, s1, 0, 4, 2, 6) + __builtin_shufflevector(s0, s1, 1, 5, 3, 7);
        quad cd = __builtin_shufflevector(s2, s3, 0, 4, 2, 6) + __builtin_shufflevector(s2, s3, 1, 5, 3, 7);
        AT(z + k) = __builtin_shufflevector(ab, cd, 0, 1, 4, 5) + __builtin_shufflevector(ab, cd, 2, 3, 6, 7);
    }
    for (; k < nrow; k++, A += d, B += n) {
        quad s = ALL(0);
        for (int j = 0; j < d; j += 4) s += READ(A + j) * READ(x + j);
        for (int j = 0; j < n; j += 4) s += READ(B + j) * READ(y + j);
        z[k] = (s[0] + s[1]) + (s[2] + s[3]);
    }
}

static inline void clear(size_t n, double *y) /* n a multiple of four */
{
    for (size_t j = 0; j < n; j += 4) AT(y + j) = ALL(0);
}

static inline void copy(size_t n, const double *x, double *y) /* n a multiple of four */
{
    for (size_t j = 0; j < n; j += 4) AT(y + j) = READ(x + j);
}

/* ---- factors ---- */

/* The pivot of column k, exchanged where that helps; 0: there is none. */
static inline int choose(int w, int quads, double *D, size_t ld, int k, int *exchange, double *inverse)
{
    double *pivot = D + (size_t)k * ld, *row = pivot, *other = pivot;
    double here = fabs(pivot[k]), most = here;
    for (int i = k + 1; i < w; i++) {
        row += ld;
        if (fabs(row[k]) > most) most = fabs(row[k]), other = row, exchange[k] = i;
    }
    if (here >= EXCHANGE * most || other == pivot) exchange[k] = k;
    else
        for (int j = 0; j < 4 * quads; j += 4) {
            quad t = AT(pivot + j);
            AT(pivot + j) = AT(other + j), AT(other + j) = t;
        }
    inverse[k] = 1 / pivot[k];
    return most > 0 && isfinite(inverse[k]);
}

/* A row without its lane k, and with t there alone. Numbers that are written one by one would have to reach memory before a quad with
 * them could be read again. */
typedef long long lanes __attribute__((vector_size(32), aligned(8)));
#define ONES -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1
static const long long all_but_one[2 * 4 * FEW] = {ONES, -1, 0, ONES};

#define WITHOUT(x, others) ((quad)((lanes)(x) & (others)))
#define LANE(t, others) ((quad)((lanes)ALL(t) & ~(others)))

/* row := row without its lane k, - row[k] own */
CST_INLINE void subtract(int quads, double *row, int k, const quad *own, const lanes *others)
{
    quad l = ALL(row[k]);
    for (int j = 0; j < quads; j++) AT(row + 4 * j) = WITHOUT(READ(row + 4 * j), others[j]) - l * own[j];
}

/* D := -D^-1 by sweeps (Goodnight, The American Statistician 33, 1979):
 *     d_kj / d_kk,   d_ij - d_ik d_kj / d_kk,   d_ik / d_kk,   -1 / d_kk   in row k, elsewhere, in column k, at k, for each k.
 * With rows exchanged, P D, that is -D^-1 P^-1, and P then exchanges columns. Rows of at most FEW quads. */
CST_INLINE int sweep(int w, int quads, double *D, size_t ld, int *exchange, double *inverse)
{
    const double *end = D + (size_t)w * ld;
    for (int k = 0; k < w; k++) {
        double *pivot = D + (size_t)k * ld, *row = D;
        quad own[FEW];
        lanes others[FEW];
        if (!choose(w, quads, D, ld, k, exchange, inverse)) return 0;
        for (int j = 0; j < quads; j++) {
            others[j] = *(const lanes *)(all_but_one + 4 * FEW - k + 4 * j);
            own[j] = AT(pivot + 4 * j) = (WITHOUT(READ(pivot + 4 * j), others[j]) + LANE(-1, others[j])) * ALL(inverse[k]);
        }
        for (; row < pivot; row += ld) subtract(quads, row, k, own, others);
        for (row += ld; row < end; row += ld) subtract(quads, row, k, own, others);
    }
    return 1;
}

/* The same for rows of any length */
static int sweep_long(int w, int quads, double *D, size_t ld, int *exchange, double *inverse)
{
    for (int k = 0; k < w; k++) {
        double *pivot = D + (size_t)k * ld, *row = D;
        if (!choose(w, quads, D, ld, k, exchange, inverse)) return 0;
        for (int j = 0; j < quads; j++) AT(pivot + 4 * j) *= ALL(inverse[k]);
        pivot[k] = -inverse[k];
        for (int i = 0; i < w; i++, row += ld) {
            double l = row[k];
            if (l == 0 || i == k) continue;
            for (int j = 0; j < quads; j++) AT(row + 4 * j) -= ALL(l) * READ(pivot + 4 * j);
            row[k] = l * inverse[k];
        }
    }
    return 1;
}

static int invert(const cst_front *f, double *D, size_t ld, int *exchange, double *inverse)
{
    int w = f->w, quads = f->d / 4;
    int done = quads == 1   ? sweep(w, 1, D, ld, exchange, inverse)
               : quads == 2 ? sweep(w, 2, D, ld, exchange, inverse)
               : quads == 3 ? sweep(w, 3, D, ld, exchange, inverse)
               : quads == 4 ? sweep(w, 4, D, ld, exchange, inverse)
                            : sweep_long(w, quads, D, ld, exchange, inverse);
    for (int k = w - 1; done && k >= 0; k--) {
        int other = exchange[k];
        double *row = D;
        for (int i = 0; other != k && i < w; i++, row += ld) {
            double t = row[k];
            row[k] = row[other], row[other] = t;
        }
    }
    return done;
}

/* D := -D^-1;  U := D U;  S := S + L U.  A symmetric front has L = U^T, and the upper half of S and of D. fresh: S = 0 */
CST_INLINE void update(int fresh, int symmetric, const cst_front *f, const double *Lt, const double *V, double *S)
{
    size_t n = (size_t)f->n;
    if (!symmetric) add_rows(fresh, 0, f->m, f->w, f->n, V, n, Lt, 1, S, n);
    else
        for (int i = 0; i < f->m; i += 4)
            add_rows(fresh, 0, i + 4 < f->m ? 4 : f->m - i, f->w, f->n - i, V + i, n, Lt + i, 1, S + (size_t)i * n + i, n);
}

static int eliminate(cst_fronts *w, const cst_front *f, double *S)
{
    int symmetric = w->symmetric;
    size_t d = (size_t)f->d, n = (size_t)f->n, U = cst_front_U(f), Lt = cst_front_Lt(f);
    double *D = w->W, *E = w->F + f->at[symmetric], *V = E + U;
    const double *old = D + U;
    for (int i = 1; symmetric && i < f->w; i++)
        for (int j = 0; j < i; j++) D[(size_t)i * d + (size_t)j] = D[(size_t)j * d + (size_t)i];
    if (!invert(f, D, d, w->exchange, w->inverse + f->first)) return 0;
    copy(U, D, E);
    add_rows(1, 1, f->w, f->w, f->n, old, n, D, d, V, n);
    if (symmetric) f->child < 0 ? update(1, 1, f, old, V, S) : update(0, 1, f, old, V, S);
    else {
        copy(cst_front_S(f) - Lt, D + Lt, E + Lt);
        f->child < 0 ? update(1, 0, f, D + Lt, V, S) : update(0, 0, f, D + Lt, V, S);
    }
    return 1;
}

/* S of a child to its parent p, which is being put together */
static inline void add_child(const cst_fronts *w, const cst_front *f, const cst_front *p, double *S)
{
    const cst_front_piece *e = f->piece[w->symmetric], *end = e + f->npiece[w->symmetric];
    const double *from = w->stack + f->S;
    size_t n = (size_t)p->n;
    for (; e < end; e++) {
        const double *x = from + e->from;
        double *y = (e->where == CST_TO_S ? S : w->W) + e->to;
        int j = 0, len = e->len;
        if (e->where == CST_TO_LT) {
            for (; j < len; j++, y += n) *y += x[j];
            continue;
        }
        for (; j + 4 <= len; j += 4) AT(y + j) += READ(x + j);
        if (j + 2 <= len) CST_PAIR(y + j) += CST_READ_PAIR(x + j), j += 2;
        if (j < len) y[j] += x[j];
    }
}

/* W = the entries of the matrix from e on. far: later ones are asked for, which the order of elimination scatters */
static inline void fill(int far, const cst_front_fill *e, const cst_front_fill *end, const double *val, double *W)
{
    if (far)
        for (; e < end; e++) __builtin_prefetch(val + e[CST_FILL_AHEAD].from), W[e->to] = val[e->from];
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
        fill(plan->far, f->fill, f->fill + (w->symmetric ? f->nupper : f->nfill), val, W);
        if (f->child >= 0) clear((size_t)f->m * (size_t)f->n, S);
        for (int i = f->child; i >= 0; i = plan->front[i].next) add_child(w, &plan->front[i], f, S);
        if (!eliminate(w, f, S)) return 0;
    }
    return 1;
}

/* ---- solutions: E, V stand for what is kept in D, U: E = -D^-1, V = -D^-1 U ---- */

/* y = x;  y = -x;  y = x - less */
CST_INLINE void put(int n, const double *x, double *y)
{
    int k = 0;
    for (; k + 2 <= n; k += 2) CST_PAIR(y + k) = CST_READ_PAIR(x + k);
    if (k < n) y[k] = x[k];
}
CST_INLINE void put_minus(int n, const double *x, double *y)
{
    int k = 0;
    for (; k + 2 <= n; k += 2) CST_PAIR(y + k) = -CST_READ_PAIR(x + k);
    if (k < n) y[k] = -x[k];
}
CST_INLINE void put_less(int n, const double *x, const double *less, double *y)
{
    int k = 0;
    for (; k + 2 <= n; k += 2) CST_PAIR(y + k) = CST_READ_PAIR(x + k) - CST_READ_PAIR(less + k);
    if (k < n) y[k] = x[k] - less[k];
}

/* x of later unknowns += A^T xs, A with w rows */
CST_INLINE void push(const cst_front *f, const double *A, const double *xs, double *x, double *y)
{
    const int *row = f->row;
    add_rows(1, 1, 1, f->w, f->n, A, (size_t)f->n, xs, 0, y, 0);
    UNROLL
    for (int k = 0; k < f->m; k++) x[row[k]] += y[k];
}

/* y: x of later unknowns */
CST_INLINE void pull(const cst_front *f, const double *x, double *y)
{
    const int *row = f->row;
    if (f->n) AT(y + f->n - 4) = ALL(0);
    UNROLL
    for (int k = 0; k < f->m; k++) y[k] = x[row[k]];
}

/* Asks for numbers [from, to) of a front that comes a little later, when they do not fit into a cache. Processors foresee streams, but not
 * one that leaves parts out, or fronts from the last to the first. */
enum { AHEAD = 6 };

CST_INLINE void ask(const cst_fronts *w, const cst_front *f, size_t from, size_t to)
{
    const double *F = w->F + f->at[w->symmetric];
    for (size_t k = from; k < to; k += 32) /* four lines; those behind the end are wanted soon */
        __builtin_prefetch(F + k), __builtin_prefetch(F + k + 8), __builtin_prefetch(F + k + 16), __builtin_prefetch(F + k + 24);
}

/* [D U; L S] [x; y] = [b; c]:  x := E b,  c += L x  on the way up,  x := V y - x  on the way down */
static void solve_general(cst_fronts *w, double *x, double *y, double *z)
{
    const cst_front *first = w->plan->front, *end = first + w->plan->nfront;
    const ptrdiff_t later = w->plan->far ? AHEAD : w->plan->nfront;
    for (const cst_front *f = first; f < end; f++) {
        const double *E = w->F + f->at[0];
        double *xs = x + f->first;
        if (end - f > later) ask(w, f + later, 0, cst_front_S(f + later));
        dots(f->w, f->d, E, xs, 0, E, xs, z);
        put(f->w, z, xs);
        push(f, E + cst_front_Lt(f), xs, x, y);
    }
    for (const cst_front *f = end; f-- > first;) {
        const double *V = w->F + f->at[0] + cst_front_U(f);
        double *xs = x + f->first;
        if (f - first >= later) ask(w, f - later, cst_front_U(f - later), cst_front_Lt(f - later));
        pull(f, x, y);
        dots(f->w, f->n, V, y, 0, V, y, z);
        put_less(f->w, z, xs, xs);
    }
}

/* The same where L = U^T:  c += V^T b  on the way up,  x := [E V] [-b; y]  on the way down */
static void solve_symmetric(cst_fronts *w, double *x, double *y, double *z)
{
    const cst_front *first = w->plan->front, *end = first + w->plan->nfront;
    const ptrdiff_t later = w->plan->far ? AHEAD : w->plan->nfront;
    for (const cst_front *f = first; f < end; f++) {
        if (end - f > later) ask(w, f + later, cst_front_U(f + later), cst_front_Lt(f + later));
        push(f, w->F + f->at[1] + cst_front_U(f), x + f->first, x, y);
    }
    for (const cst_front *f = end; f-- > first;) {
        const double *E = w->F + f->at[1];
        double *xs = x + f->first;
        if (f - first >= later) ask(w, f - later, 0, cst_front_Lt(f - later));
        AT(y + f->d - 4) = ALL(0);
        put_minus(f->w, xs, y);
        pull(f, x, y + f->d);
        dots(f->w, f->d, E, y, f->n, E + cst_front_U(f), y + f->d, z);
        put(f->w, z, xs);
    }
}

/* [D^T L^T; U^T S^T] [x; y] = [b; c]:  c += V^T b  on the way up,  x := E^T (L^T y - b)  on the way down */
static void solve_transposed(cst_fronts *w, double *x, double *y, double *z)
{
    const cst_front *first = w->plan->front, *end = first + w->plan->nfront;
    const ptrdiff_t later = w->plan->far ? AHEAD : w->plan->nfront;
    for (const cst_front *f = first; f < end; f++) {
        if (end - f > later) ask(w, f + later, cst_front_U(f + later), cst_front_Lt(f + later));
        push(f, w->F + f->at[0] + cst_front_U(f), x + f->first, x, y);
    }
    for (const cst_front *f = end; f-- > first;) {
        const double *E = w->F + f->at[0], *Lt = E + cst_front_Lt(f);
        double *xs = x + f->first;
        if (f - first >= later) ask(w, f - later, 0, cst_front_S(f - later));
        pull(f, x, y);
        dots(f->w, f->n, Lt, y, 0, Lt, y, z);
        put_less(f->w, z, xs, z);
        add_rows(1, 1, 1, f->w, f->d, E, (size_t)f->d, z, 0, y, 0);
        put(f->w, y, xs);
    }
}

static void solve(cst_fronts *w, int transposed, double *b)
{
    const cst_front_plan *plan = w->plan;
    double *x = w->x, *y = w->y, *z = y + plan->widest;
    const int *perm = plan->perm;
    UNROLL
    for (int k = 0; k < plan->n; k++) x[k] = b[perm[k]];
    if (w->symmetric) solve_symmetric(w, x, y, z);
    else if (transposed) solve_transposed(w, x, y, z);
    else solve_general(w, x, y, z);
    UNROLL
    for (int k = 0; k < plan->n; k++) b[perm[k]] = x[k];
}

const cst_front_kernel CST_FRONT_KERNEL = {factor, solve};
