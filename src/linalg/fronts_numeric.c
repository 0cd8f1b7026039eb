/* SPDX-License-Identifier: MIT
 *
 * Numbers of the fronts. Four neighbouring entries of a row make one operation of a vector unit, or two: this file is
 * compiled for any processor and, as fronts_wide.c, for those with vectors of four. Rows of U, L^T and S are padded with
 * zeros to a multiple of four. Sums have the same order everywhere, so results do not depend on the processor. */
#include <math.h>
#include <string.h>

#include "linalg/fronts.h"

#ifndef CST_FRONT_KERNEL
#define CST_FRONT_KERNEL cst_front_kernel_plain
#endif

typedef double quad __attribute__((vector_size(32), aligned(8), may_alias)); /* four doubles anywhere */

#define AT(p) (*(quad *)(p))
#define READ(p) (*(const quad *)(p))
#define ALL(x) ((quad){x, x, x, x})

#define EXCHANGE 0.1 /* a pivot is exchanged when it is smaller than this times the largest of its column */

/* y += sum_k v_k A_k over n entries of the rows A_k, n a multiple of four: eight entries at a time stay in registers. ld, step:
 * from A_k and v_k to the next */
static inline void add_rows(int nrow, int n, const double *A, size_t ld, const double *v, size_t step, double *y)
{
    int j = 0;
    for (; j + 8 <= n; j += 8) {
        quad p = READ(y + j), q = READ(y + j + 4);
        const double *row = A + j, *c = v;
        for (int k = 0; k < nrow; k++, row += ld, c += step) p += ALL(*c) * READ(row), q += ALL(*c) * READ(row + 4);
        AT(y + j) = p, AT(y + j + 4) = q;
    }
    if (j == n) return;
    quad p = READ(y + j);
    const double *row = A + j, *c = v;
    for (int k = 0; k < nrow; k++, row += ld, c += step) p += ALL(*c) * READ(row);
    AT(y + j) = p;
}

/* z_k = A_k . y for nrow rows of n entries, n a multiple of four; four rows at a time, whose sums are then added up side by side */
static inline void dots(int nrow, int n, const double *A, size_t ld, const double *y, double *z)
{
    int k = 0;
    for (; k + 4 <= nrow; k += 4, A += 4 * ld) {
        quad a = ALL(0), b = a, c = a, d = a;
        for (int j = 0; j < n; j += 4) {
            quad v = READ(y + j);
            const double *row = A + j;
            a += READ(row) * v, b += READ(row + ld) * v, c += READ(row + 2 * ld) * v, d += READ(row + 3 * ld) * v;
        }
        quad ab = __builtin_shufflevector(a, b, 0, 4, 2, 6) + __builtin_shufflevector(a, b, 1, 5, 3, 7);
        quad cd = __builtin_shufflevector(c, d, 0, 4, 2, 6) + __builtin_shufflevector(c, d, 1, 5, 3, 7);
        AT(z + k) = __builtin_shufflevector(ab, cd, 0, 1, 4, 5) + __builtin_shufflevector(ab, cd, 2, 3, 6, 7);
    }
    for (; k < nrow; k++, A += ld) {
        quad a = ALL(0);
        for (int j = 0; j < n; j += 4) a += READ(A + j) * READ(y + j);
        z[k] = (a[0] + a[1]) + (a[2] + a[3]);
    }
}

static inline void clear(size_t n, double *y) /* n a multiple of four */
{
    for (size_t j = 0; j < n; j += 4) AT(y + j) = ALL(0);
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

enum { FEW = 4 }; /* quads of a row that stay in registers */

/* A row without its lane k, and with t there alone. Numbers that are written one by one would have to reach memory before a quad with
 * them could be read again. */
typedef long long lanes __attribute__((vector_size(32), aligned(8)));
#define ONES -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1
static const long long all_but_one[2 * 4 * FEW] = {ONES, -1, 0, ONES};

#define WITHOUT(x, others) ((quad)((lanes)(x) & (others)))
#define LANE(t, others) ((quad)((lanes)ALL(t) & ~(others)))

/* D := -D^-1 by sweeps (Goodnight, The American Statistician 33, 1979):
 *     d_kj / d_kk,   d_ij - d_ik d_kj / d_kk,   d_ik / d_kk,   -1 / d_kk   in row k, elsewhere, in column k, at k, for each k.
 * With rows exchanged, P D, that is -D^-1 P^-1, and P then exchanges columns. Rows of at most FEW quads. */
static inline __attribute__((always_inline)) int sweep(int w, int quads, double *D, size_t ld, int *exchange, double *inverse)
{
    for (int k = 0; k < w; k++) {
        double *pivot = D + (size_t)k * ld, *row = D;
        quad own[FEW];
        lanes others[FEW];
        if (!choose(w, quads, D, ld, k, exchange, inverse)) return 0;
        for (int j = 0; j < quads; j++) {
            others[j] = *(const lanes *)(all_but_one + 4 * FEW - k + 4 * j);
            own[j] = AT(pivot + 4 * j) = (WITHOUT(READ(pivot + 4 * j), others[j]) + LANE(-1, others[j])) * ALL(inverse[k]);
        }
        for (int i = 0; i < w; i++, row += ld) {
            double l = row[k];
            if (l == 0 || i == k) continue;
            for (int j = 0; j < quads; j++) AT(row + 4 * j) = WITHOUT(READ(row + 4 * j), others[j]) - ALL(l) * own[j];
        }
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

/* D := -D^-1;  U := D U;  S := S + L U.  A symmetric front has L = U^T, and the upper half of S and of D */
static int eliminate(cst_fronts *w, const cst_front *f)
{
    size_t ld = (size_t)cst_front_ld(f), n = (size_t)f->n;
    double *D = w->F + f->at, *U = D + f->d, *Lt = w->symmetric ? w->B : D + cst_front_Lt(f), *S = D + cst_front_S(f);
    for (int i = 1; w->symmetric && i < f->w; i++)
        for (int j = 0; j < i; j++) D[(size_t)i * ld + (size_t)j] = D[(size_t)j * ld + (size_t)i];
    if (!invert(f, D, ld, w->exchange, w->inverse + f->first)) return 0;
    for (int k = 0; k < f->w; k++) {
        double *to = w->B + (size_t)k * n, *from = U + (size_t)k * ld;
        for (int j = 0; j < f->n; j += 4) AT(to + j) = READ(from + j), AT(from + j) = ALL(0);
    }
    for (int k = 0; k < f->w; k++) add_rows(f->w, f->n, w->B, n, D + (size_t)k * ld, 1, U + (size_t)k * ld);
    for (int i = 0; i < f->m; i++) {
        int j = w->symmetric ? i & ~3 : 0;
        add_rows(f->w, f->n - j, U + j, ld, Lt + i, n, S + (size_t)i * n + j);
    }
    return 1;
}

/* S of f to the front of its parent. A run lies in one block there; in L^T its entries are n apart. */
static void add_to_parent(const cst_fronts *w, const cst_front *f)
{
    const cst_front *p = &w->plan->front[f->parent];
    const double *S = w->F + f->at + cst_front_S(f);
    const cst_run_of_rows *end = f->run + f->nrun;
    size_t n = (size_t)p->n;
    for (const cst_run_of_rows *r = f->run; r < end; r++)
        for (int i = 0; i < r->len; i++) {
            int row = r->to + i;
            const double *from = S + (size_t)(r->from + i) * (size_t)f->n;
            double *early = w->F + p->at + cst_front_entry(p, row, 0), *later = w->F + p->at + cst_front_entry(p, row, p->w) - p->w;
            for (const cst_run_of_rows *c = w->symmetric ? r : f->run; c < end; c++) {
                const double *x = from + c->from;
                int j = w->symmetric && c == r ? i : 0, len = c->len;
                if (row >= p->w && c->to < p->w) {
                    double *y = early + (size_t)c->to * n;
                    for (; j < len; j++, y += n) *y += x[j];
                    continue;
                }
                double *y = (c->to < p->w ? early : later) + c->to;
                for (; j + 4 <= len; j += 4) AT(y + j) += READ(x + j);
                for (; j < len; j++) y[j] += x[j];
            }
        }
}

static int factor(cst_fronts *w, const double *val)
{
    const cst_front_plan *plan = w->plan;
    for (const cst_front *f = plan->front, *end = f + plan->nfront; f < end; f++) {
        double *F = w->F + f->at;
        size_t Lt = cst_front_Lt(f), S = cst_front_S(f), size = S + (size_t)f->m * (size_t)f->n;
        const cst_front_fill *e = f->fill, *last = e + (w->symmetric ? f->nupper : f->nfill);
        clear(w->symmetric ? Lt : size, F);
        if (w->symmetric) clear(size - S, F + S);
        for (; e < last; e++) F[e->to] = val[e->from];
        for (int i = f->child; i >= 0; i = plan->front[i].next) add_to_parent(w, &plan->front[i]);
        if (!eliminate(w, f)) return 0;
    }
    return 1;
}

/* ---- solutions: E, V stand for what is kept in D, U: E = -D^-1, V = -D^-1 U ---- */

/* x of later unknowns += A^T xs, A with w rows */
static inline void push(const cst_front *f, const double *A, size_t ld, const double *xs, double *x, double *y)
{
    clear((size_t)f->n, y);
    add_rows(f->w, f->n, A, ld, xs, 1, y);
    for (int k = 0; k < f->m; k++) x[f->row[k]] += y[k];
}

/* y: x of later unknowns */
static inline void pull(const cst_front *f, const double *x, double *y)
{
    if (f->n) AT(y + f->n - 4) = ALL(0);
    for (int k = 0; k < f->m; k++) y[k] = x[f->row[k]];
}

/* [D U; L S] [x; y] = [b; c]:  x := E b,  c += L x  on the way up,  x := V y - x  on the way down */
static void solve_general(cst_fronts *w, double *x, double *y, double *z)
{
    const cst_front *first = w->plan->front, *end = first + w->plan->nfront;
    for (const cst_front *f = first; f < end; f++) {
        const double *D = w->F + f->at;
        double *xs = x + f->first;
        dots(f->w, f->d, D, (size_t)cst_front_ld(f), xs, z);
        for (int k = 0; k < f->w; k++) xs[k] = z[k];
        push(f, D + cst_front_Lt(f), (size_t)f->n, xs, x, y);
    }
    for (const cst_front *f = end; f-- > first;) {
        double *xs = x + f->first;
        pull(f, x, y);
        dots(f->w, f->n, w->F + f->at + f->d, (size_t)cst_front_ld(f), y, z);
        for (int k = 0; k < f->w; k++) xs[k] = z[k] - xs[k];
    }
}

/* The same where L = U^T:  c += V^T b  on the way up,  x := [E V] [-b; y]  on the way down */
static void solve_symmetric(cst_fronts *w, double *x, double *y, double *z)
{
    const cst_front *first = w->plan->front, *end = first + w->plan->nfront;
    for (const cst_front *f = first; f < end; f++) push(f, w->F + f->at + f->d, (size_t)cst_front_ld(f), x + f->first, x, y);
    for (const cst_front *f = end; f-- > first;) {
        double *xs = x + f->first;
        AT(y + f->d - 4) = ALL(0);
        for (int k = 0; k < f->w; k++) y[k] = -xs[k];
        pull(f, x, y + f->d);
        dots(f->w, cst_front_ld(f), w->F + f->at, (size_t)cst_front_ld(f), y, z);
        for (int k = 0; k < f->w; k++) xs[k] = z[k];
    }
}

/* [D^T L^T; U^T S^T] [x; y] = [b; c]:  c += V^T b  on the way up,  x := E^T (L^T y - b)  on the way down */
static void solve_transposed(cst_fronts *w, double *x, double *y, double *z)
{
    const cst_front *first = w->plan->front, *end = first + w->plan->nfront;
    for (const cst_front *f = first; f < end; f++) push(f, w->F + f->at + f->d, (size_t)cst_front_ld(f), x + f->first, x, y);
    for (const cst_front *f = end; f-- > first;) {
        const double *D = w->F + f->at;
        double *xs = x + f->first;
        pull(f, x, y);
        dots(f->w, f->n, D + cst_front_Lt(f), (size_t)f->n, y, z);
        for (int k = 0; k < f->w; k++) z[k] -= xs[k];
        clear((size_t)f->d, y);
        add_rows(f->w, f->d, D, (size_t)cst_front_ld(f), z, 1, y);
        for (int k = 0; k < f->w; k++) xs[k] = y[k];
    }
}

static void solve(cst_fronts *w, int transposed, double *b)
{
    const cst_front_plan *plan = w->plan;
    double *x = w->x, *y = w->y, *z = y + plan->widest;
    for (int k = 0; k < plan->n; k++) x[k] = b[plan->perm[k]];
    if (w->symmetric) solve_symmetric(w, x, y, z);
    else if (transposed) solve_transposed(w, x, y, z);
    else solve_general(w, x, y, z);
    for (int k = 0; k < plan->n; k++) b[plan->perm[k]] = x[k];
}

const cst_front_kernel CST_FRONT_KERNEL = {factor, solve};
