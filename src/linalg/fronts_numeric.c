/* SPDX-License-Identifier: MIT
 *
 * Numbers of the fronts. Four neighbouring entries of a row make one operation of a vector unit, or two: this file is
 * compiled for any processor and, as fronts_wide.c, for those with vectors of four. The columns of U and S are padded with
 * zeros to a multiple of four. Sums have the same order everywhere, so results do not depend on the processor. */
#include <math.h>
#include <string.h>

#include "linalg/fronts.h"

#ifndef CST_FRONT_KERNEL
#define CST_FRONT_KERNEL cst_front_kernel_plain
#endif

typedef double quad __attribute__((vector_size(32), aligned(8), may_alias)); /* four doubles anywhere */

typedef double pair __attribute__((vector_size(16), aligned(8), may_alias)); /* two */

#define AT(p) (*(quad *)(p))
#define READ(p) (*(const quad *)(p))
#define ALL(x) ((quad){x, x, x, x})
#define AT2(p) (*(pair *)(p))
#define READ2(p) (*(const pair *)(p))

#define EXCHANGE 0.1 /* a pivot is exchanged when it is smaller than this times the largest of its column */

/* y -= a u over n entries */
static inline void subtract(int n, double a, const double *u, double *y)
{
    int j = 0;
    quad a4 = ALL(a);
    for (; j + 4 <= n; j += 4) AT(y + j) -= a4 * READ(u + j);
    if (n & 2) AT2(y + j) -= (pair){a, a} * READ2(u + j), j += 2;
    if (n & 1) y[j] -= a * u[j];
}

/* y -= sum_k v_k A_k over n entries of the rows A_k, n a multiple of four: eight entries at a time stay in registers */
static inline void subtract_rows(int nrow, int n, const double *A, size_t ld, const double *v, double *y)
{
    int j = 0;
    for (; j + 8 <= n; j += 8) {
        quad p = READ(y + j), q = READ(y + j + 4);
        const double *row = A + j;
        for (int k = 0; k < nrow; k++, row += ld) {
            quad c = ALL(v[k]);
            p -= c * READ(row), q -= c * READ(row + 4);
        }
        AT(y + j) = p, AT(y + j + 4) = q;
    }
    if (j == n) return;
    quad p = READ(y + j);
    const double *row = A + j;
    for (int k = 0; k < nrow; k++, row += ld) p -= ALL(v[k]) * READ(row);
    AT(y + j) = p;
}

/* The pivot of column k, exchanged where that helps; 0: there is none. */
static int choose(const cst_front *f, double *F, int k, int *exchange, double *inverse)
{
    size_t ld = (size_t)f->ld;
    double *pivot = F + (size_t)k * ld, *row = pivot, *other = pivot;
    double here = fabs(pivot[k]), most = here;
    for (int i = k + 1; i < f->w; i++) {
        row += ld;
        if (fabs(row[k]) > most) most = fabs(row[k]), other = row, exchange[k] = i;
    }
    if (here >= EXCHANGE * most || other == pivot) exchange[k] = k;
    else
        for (int j = 0; j < f->ld; j++) {
            double t = pivot[j];
            pivot[j] = other[j], other[j] = t;
        }
    inverse[k] = 1 / pivot[k];
    return most > 0 && isfinite(inverse[k]);
}

/* D = L_D U_D and U := L_D^-1 U row by row; then for each row below L := L U_D^-1 and S := S - L U */
static int eliminate(const cst_front *f, double *F, int *exchange, double *inverse)
{
    int w = f->w, n = f->ld - w;
    size_t ld = (size_t)f->ld;
    for (int k = 0; k < w; k++) {
        const double *pivot = F + (size_t)k * ld;
        double *row = F + (size_t)k * ld;
        if (!choose(f, F, k, exchange, inverse)) return 0;
        for (int i = k + 1; i < w; i++) {
            row += ld;
            if (row[k] == 0) continue;
            row[k] *= inverse[k];
            subtract(f->ld - k - 1, row[k], pivot + k + 1, row + k + 1);
        }
    }
    double *row = F + (size_t)w * ld;
    for (int i = 0; i < f->m; i++, row += ld) {
        const double *pivot = F;
        for (int k = 0; k < w; k++, pivot += ld) {
            double l = row[k] *= inverse[k];
            subtract(w - k - 1, l, pivot + k + 1, row + k + 1);
        }
        subtract_rows(w, n, F + w, ld, row, row + w);
    }
    return 1;
}

/* S of f to the front of its parent */
static void add_to_parent(const cst_fronts *w, const cst_front *f)
{
    const cst_front *p = &w->plan->front[f->parent];
    const double *S = w->F + f->at + (size_t)f->w * (size_t)f->ld + f->w;
    double *F = w->F + p->at;
    for (int r = 0; r < f->nrun; r++)
        for (int i = 0; i < f->run[r].len; i++) {
            const double *from = S + (size_t)(f->run[r].from + i) * (size_t)f->ld;
            double *to = F + (size_t)(f->run[r].to + i) * (size_t)p->ld;
            for (int c = 0; c < f->nrun; c++) {
                const double *x = from + f->run[c].from;
                double *y = to + f->run[c].to;
                int j = 0, len = f->run[c].len;
                for (; j + 4 <= len; j += 4) AT(y + j) += READ(x + j);
                if (len & 2) AT2(y + j) += READ2(x + j), j += 2;
                if (len & 1) y[j] += x[j];
            }
        }
}

static int factor(cst_fronts *w, const double *val)
{
    const cst_front_plan *plan = w->plan;
    memset(w->F, 0, sizeof *w->F * plan->size);
    for (int k = 0; k < plan->nnz; k++) w->F[plan->dest[k]] = val[k];
    for (int i = 0; i < plan->nfront; i++) {
        const cst_front *f = &plan->front[i];
        if (!eliminate(f, w->F + f->at, w->exchange + f->first, w->inverse + f->first)) return 0;
        if (f->parent >= 0) add_to_parent(w, f);
    }
    return 1;
}

/* ---- solutions ---- */

/* L x = b of one front, with the exchanges; rows below two at a time */
static inline void lower(const cst_front *f, const double *F, const int *exchange, double *x)
{
    int w = f->w, i = 0;
    size_t ld = (size_t)f->ld;
    double *xs = x + f->first;
    for (int k = 0; k < w; k++) {
        double t = xs[k];
        xs[k] = xs[exchange[k]], xs[exchange[k]] = t;
    }
    for (int k = 1; k < w; k++) {
        const double *row = F + (size_t)k * ld;
        double t = xs[k];
        for (int j = 0; j < k; j++) t -= row[j] * xs[j];
        xs[k] = t;
    }
    const double *row = F + (size_t)w * ld;
    for (; i + 2 <= f->m; i += 2, row += 2 * ld) {
        const double *next = row + ld;
        double s = x[f->row[i]], t = x[f->row[i + 1]];
        for (int j = 0; j < w; j++) s -= row[j] * xs[j], t -= next[j] * xs[j];
        x[f->row[i]] = s, x[f->row[i + 1]] = t;
    }
    if (i == f->m) return;
    double s = x[f->row[i]];
    for (int j = 0; j < w; j++) s -= row[j] * xs[j];
    x[f->row[i]] = s;
}

/* U x = b of one front; y: scratch */
static inline void upper(const cst_front *f, const double *F, const double *inverse, double *x, double *y)
{
    int w = f->w, n = f->ld - w;
    size_t ld = (size_t)f->ld;
    double *xs = x + f->first;
    for (int k = 0; k < f->m; k++) y[k] = x[f->row[k]];
    for (int k = f->m; k < n; k++) y[k] = 0;
    for (int k = w - 1; k >= 0; k--) {
        const double *row = F + (size_t)k * ld;
        quad sum = ALL(0);
        for (int j = 0; j < n; j += 4) sum += READ(row + w + j) * READ(y + j);
        double t = xs[k] - ((sum[0] + sum[2]) + (sum[1] + sum[3]));
        for (int j = k + 1; j < w; j++) t -= row[j] * xs[j];
        xs[k] = t * inverse[k];
    }
}

static void solve(cst_fronts *w, double *b)
{
    const cst_front_plan *plan = w->plan;
    double *x = w->x;
    for (int k = 0; k < plan->n; k++) x[k] = b[plan->perm[k]];
    for (const cst_front *f = plan->front, *end = f + plan->nfront; f < end; f++) lower(f, w->F + f->at, w->exchange + f->first, x);
    for (const cst_front *f = plan->front + plan->nfront; f-- > plan->front;)
        upper(f, w->F + f->at, w->inverse + f->first, x, w->y);
    for (int k = 0; k < plan->n; k++) b[plan->perm[k]] = x[k];
}

/* U^T y = x of one front; what it asks of later unknowns goes to x */
static inline void upper_transposed(const cst_front *f, const double *F, const double *inverse, double *x, double *y)
{
    int w = f->w, n = f->ld - w;
    double *xs = x + f->first;
    for (int k = 0; k < w; k++) {
        const double *row = F + (size_t)k * (size_t)f->ld;
        double t = xs[k] *= inverse[k];
        for (int j = k + 1; j < w; j++) xs[j] -= row[j] * t;
    }
    for (int k = 0; k < n; k += 4) AT(y + k) = ALL(0);
    subtract_rows(w, n, F + w, (size_t)f->ld, xs, y);
    for (int k = 0; k < f->m; k++) x[f->row[k]] += y[k];
}

/* L^T z = y of one front, and the exchanges undone */
static inline void lower_transposed(const cst_front *f, const double *F, const int *exchange, double *x, double *y)
{
    int w = f->w, m = f->m;
    size_t ld = (size_t)f->ld;
    double *xs = x + f->first;
    const double *row = F + (size_t)w * ld;
    for (int k = 0; k < m; k++) y[k] = x[f->row[k]];
    for (int j = 0; j < w; j += 4) { /* beyond w: computed, and not kept */
        quad sum = ALL(0);
        const double *L = row + j;
        for (int k = 0; k < m; k++, L += ld) sum += ALL(y[k]) * READ(L);
        for (int l = 0; l < 4 && j + l < w; l++) xs[j + l] -= sum[l];
    }
    for (int k = w - 1; k > 0; k--) {
        const double *D = F + (size_t)k * ld;
        double t = xs[k];
        for (int j = 0; j < k; j++) xs[j] -= D[j] * t;
    }
    for (int k = w - 1; k >= 0; k--) {
        double t = xs[k];
        xs[k] = xs[exchange[k]], xs[exchange[k]] = t;
    }
}

static void tsolve(cst_fronts *w, double *b)
{
    const cst_front_plan *plan = w->plan;
    double *x = w->x;
    for (int k = 0; k < plan->n; k++) x[k] = b[plan->perm[k]];
    for (const cst_front *f = plan->front, *end = f + plan->nfront; f < end; f++)
        upper_transposed(f, w->F + f->at, w->inverse + f->first, x, w->y);
    for (const cst_front *f = plan->front + plan->nfront; f-- > plan->front;)
        lower_transposed(f, w->F + f->at, w->exchange + f->first, x, w->y);
    for (int k = 0; k < plan->n; k++) b[plan->perm[k]] = x[k];
}

const cst_front_kernel CST_FRONT_KERNEL = {factor, solve, tsolve};
