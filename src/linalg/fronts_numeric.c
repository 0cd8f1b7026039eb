/* SPDX-License-Identifier: MIT
 *
 * Numbers of the fronts. Two pivots are eliminated at a time, and two neighbouring entries of a row make one
 * operation of a vector unit; rows begin at even places and have even lengths (the last entry may be padding, zero). */
#include <math.h>
#include <string.h>

#include "linalg/fronts.h"

typedef double pair __attribute__((vector_size(16), aligned(8), may_alias)); /* two doubles anywhere */

#define AT(p) (*(pair *)(p))
#define READ(p) (*(const pair *)(p))

#define EXCHANGE 0.1 /* a pivot is exchanged when it is smaller than this times the largest of its column */

cst_fronts *cst_fronts_new(cst_arena *a, const cst_front_plan *plan)
{
    cst_fronts *f = cst_new(a, cst_fronts, 1);
    f->plan = plan;
    f->F = cst_new(a, double, plan->size + 2);
    f->inverse = cst_new(a, double, plan->n + 1);
    f->exchange = cst_new(a, int, plan->n + 1);
    f->x = cst_new(a, double, plan->n + 2);
    f->y = cst_new(a, double, plan->widest + 2);
    return f;
}

/* y -= a u + b v over n entries, n even */
static inline void subtract_two(int n, double a, const double *u, double b, const double *v, double *y)
{
    pair a2 = {a, a}, b2 = {b, b};
    int j = 0;
    for (; j + 4 <= n; j += 4) {
        AT(y + j) -= a2 * READ(u + j) + b2 * READ(v + j);
        AT(y + j + 2) -= a2 * READ(u + j + 2) + b2 * READ(v + j + 2);
    }
    if (j < n) AT(y + j) -= a2 * READ(u + j) + b2 * READ(v + j);
}

/* y -= a u over n entries, any n */
static inline void subtract(int n, double a, const double *u, double *y)
{
    pair a2 = {a, a};
    int j = 0;
    for (; j + 2 <= n; j += 2) AT(y + j) -= a2 * READ(u + j);
    if (j < n) y[j] -= a * u[j];
}

static inline double dot(int n, const double *u, const double *v)
{
    pair sum = {0, 0};
    int j = 0;
    for (; j + 2 <= n; j += 2) sum += READ(u + j) * READ(v + j);
    double s = sum[0] + sum[1];
    return j < n ? s + u[j] * v[j] : s;
}

static void exchange_rows(int n, double *u, double *v)
{
    for (int j = 0; j < n; j += 2) {
        pair t = AT(u + j);
        AT(u + j) = AT(v + j), AT(v + j) = t;
    }
}

/* The pivot of column k, exchanged where that helps; 0: there is none. */
static int choose(const cst_front *f, double *F, int k, int *exchange, double *inverse)
{
    size_t ld = (size_t)f->ld;
    const double *column = F + (size_t)k * ld + k;
    double here = fabs(*column), most = here;
    int best = k;
    for (int i = k + 1; i < f->w; i++) {
        column += ld;
        if (fabs(*column) > most) most = fabs(*column), best = i;
    }
    if (here >= EXCHANGE * most) best = k;
    exchange[k] = best;
    if (best != k) exchange_rows(f->ld, F + (size_t)k * ld, F + (size_t)best * ld);
    inverse[k] = 1 / F[(size_t)k * ld + (size_t)k];
    return most > 0 && isfinite(inverse[k]);
}

static int eliminate(const cst_front *f, double *F, int *exchange, double *inverse)
{
    int size = f->w + f->m, ld = f->ld, k = 0;
    for (; k + 1 < f->w; k += 2) {
        double *u = F + (size_t)k * (size_t)ld, *v = u + ld;
        if (!choose(f, F, k, exchange, inverse)) return 0;
        double p = inverse[k], next = u[k + 1], *row = v + k;
        for (int i = k + 1; i < size; i++, row += ld)
            if (row[0] != 0) row[0] *= p, row[1] -= row[0] * next;
        if (!choose(f, F, k + 1, exchange, inverse)) return 0;
        subtract(ld - k - 2, v[k], u + k + 2, v + k + 2);
        p = inverse[k + 1], row = v + ld + k;
        for (int i = k + 2; i < size; i++, row += ld) {
            row[1] *= p;
            if (row[0] != 0 || row[1] != 0) subtract_two(ld - k - 2, row[0], u + k + 2, row[1], v + k + 2, row + 2);
        }
    }
    if (k == f->w) return 1;
    double *u = F + (size_t)k * (size_t)ld, *row = u + ld + k;
    if (!choose(f, F, k, exchange, inverse)) return 0;
    for (int i = k + 1; i < size; i++, row += ld)
        if (row[0] != 0) row[0] *= inverse[k], subtract(ld - k - 1, row[0], u + k + 1, row + 1);
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
                for (; j + 2 <= len; j += 2) AT(y + j) += READ(x + j);
                if (j < len) y[j] += x[j];
            }
        }
}

int cst_fronts_factor(cst_fronts *w, const double *val)
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

void cst_fronts_solve(cst_fronts *w, double *b)
{
    const cst_front_plan *plan = w->plan;
    double *x = w->x, *y = w->y;
    for (int k = 0; k < plan->n; k++) x[k] = b[plan->perm[k]];
    for (int i = 0; i < plan->nfront; i++) { /* L x = b, with the exchanges */
        const cst_front *f = &plan->front[i];
        const double *row = w->F + f->at;
        double *xs = x + f->first;
        for (int k = 0; k < f->w; k++) {
            int e = w->exchange[f->first + k];
            if (e == k) continue;
            double t = xs[k];
            xs[k] = xs[e], xs[e] = t;
        }
        for (int k = 1; k < f->w; k++) xs[k] -= dot(k, row += f->ld, xs);
        for (int k = 0; k < f->m; k++) x[f->row[k]] -= dot(f->w, row += f->ld, xs);
    }
    for (int i = plan->nfront - 1; i >= 0; i--) { /* U x = ... */
        const cst_front *f = &plan->front[i];
        int size = f->w + f->m;
        const double *row = w->F + f->at + (size_t)f->w * (size_t)f->ld;
        for (int k = 0; k < f->m; k++) y[f->w + k] = x[f->row[k]];
        for (int k = f->w - 1; k >= 0; k--) {
            row -= f->ld;
            y[k] = (x[f->first + k] - dot(size - k - 1, row + k + 1, y + k + 1)) * w->inverse[f->first + k];
            x[f->first + k] = y[k];
        }
    }
    for (int k = 0; k < plan->n; k++) b[plan->perm[k]] = x[k];
}

/* y -= sum_i v_i A_i over n entries of the rows A_i, n even: four entries at a time stay in registers */
static inline void subtract_rows(int nrow, int n, const double *A, int ld, const double *v, double *y)
{
    int j = 0;
    for (; j + 4 <= n; j += 4) {
        pair p = READ(y + j), q = READ(y + j + 2);
        const double *row = A + j;
        for (int i = 0; i < nrow; i++, row += ld) {
            pair c = {v[i], v[i]};
            p -= c * READ(row), q -= c * READ(row + 2);
        }
        AT(y + j) = p, AT(y + j + 2) = q;
    }
    if (j == n) return;
    pair p = READ(y + j);
    const double *row = A + j;
    for (int i = 0; i < nrow; i++, row += ld) {
        pair c = {v[i], v[i]};
        p -= c * READ(row);
    }
    AT(y + j) = p;
}

/* U^T y = x of one front; what it asks of later unknowns goes to x */
static void upper_transposed(const cst_front *f, const double *F, const double *inverse, double *x, double *y)
{
    int w = f->w, m = f->m;
    double *xs = x + f->first;
    for (int k = 0; k < w; k++) {
        const double *row = F + (size_t)k * (size_t)f->ld;
        double t = xs[k] *= inverse[k];
        for (int j = k + 1; j < w; j++) xs[j] -= row[j] * t;
    }
    if (!m) return;
    for (int k = 0; k <= m; k++) y[k] = 0;
    subtract_rows(w, (m + 1) & ~1, F + w, f->ld, xs, y); /* the padding, or the row behind: not read */
    for (int k = 0; k < m; k++) x[f->row[k]] += y[k];
}

/* L^T z = y of one front, and the exchanges undone */
static void lower_transposed(const cst_front *f, const double *F, const int *exchange, double *x, double *y)
{
    int w = f->w, m = f->m;
    double *xs = x + f->first, beyond = xs[w]; /* one entry beyond an odd w is touched and put back */
    for (int k = 0; k < m; k++) y[k] = x[f->row[k]];
    if (m) subtract_rows(m, (w + 1) & ~1, F + (size_t)w * (size_t)f->ld, f->ld, y, xs);
    xs[w] = beyond;
    for (int k = w - 1; k > 0; k--) {
        const double *row = F + (size_t)k * (size_t)f->ld;
        double t = xs[k];
        for (int j = 0; j < k; j++) xs[j] -= row[j] * t;
    }
    for (int k = w - 1; k >= 0; k--) {
        int e = exchange[k];
        if (e == k) continue;
        double t = xs[k];
        xs[k] = xs[e], xs[e] = t;
    }
}

void cst_fronts_tsolve(cst_fronts *w, double *b)
{
    const cst_front_plan *plan = w->plan;
    double *x = w->x;
    for (int k = 0; k < plan->n; k++) x[k] = b[plan->perm[k]];
    for (int i = 0; i < plan->nfront; i++)
        upper_transposed(&plan->front[i], w->F + plan->front[i].at, w->inverse + plan->front[i].first, x, w->y);
    for (int i = plan->nfront - 1; i >= 0; i--)
        lower_transposed(&plan->front[i], w->F + plan->front[i].at, w->exchange + plan->front[i].first, x, w->y);
    for (int k = 0; k < plan->n; k++) b[plan->perm[k]] = x[k];
}
