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

/* y -= sum_k v_k A_k over n entries of the rows A_k, n a multiple of four: eight entries at a time stay in registers. ld, step:
 * from A_k and v_k to the next */
static inline void subtract_rows(int nrow, int n, const double *A, size_t ld, const double *v, size_t step, double *y)
{
    int j = 0;
    for (; j + 8 <= n; j += 8) {
        quad p = READ(y + j), q = READ(y + j + 4);
        const double *row = A + j, *c = v;
        for (int k = 0; k < nrow; k++, row += ld, c += step) p -= ALL(*c) * READ(row), q -= ALL(*c) * READ(row + 4);
        AT(y + j) = p, AT(y + j + 4) = q;
    }
    if (j == n) return;
    quad p = READ(y + j);
    const double *row = A + j, *c = v;
    for (int k = 0; k < nrow; k++, row += ld, c += step) p -= ALL(*c) * READ(row);
    AT(y + j) = p;
}

static inline double dot(int n, const double *u, const double *v) /* n a multiple of four */
{
    quad sum = ALL(0);
    for (int j = 0; j < n; j += 4) sum += READ(u + j) * READ(v + j);
    return (sum[0] + sum[2]) + (sum[1] + sum[3]);
}

/* The pivot of column k, exchanged where that helps; 0: there is none. */
static inline int choose(const cst_front *f, double *F, int k, int *exchange, double *inverse)
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

/* D = L_D U_D;  U := L_D^-1 U;  L^T := U_D^-T L^T;  S := S - L U */
static int eliminate(const cst_front *f, double *F, int *exchange, double *inverse)
{
    int w = f->w, n = f->ld - w;
    size_t ld = (size_t)f->ld;
    double *U = F + w, *Lt = F + cst_front_Lt(f), *S = F + cst_front_S(f);
    for (int k = 0; k < w; k++) {
        const double *pivot = F + (size_t)k * ld;
        double *row = F + (size_t)k * ld;
        if (!choose(f, F, k, exchange, inverse)) return 0;
        for (int i = k + 1; i < w; i++) {
            row += ld;
            if (row[k] == 0) continue;
            double l = row[k] *= inverse[k];
            for (int j = k + 1; j < w; j++) row[j] -= l * pivot[j];
        }
    }
    if (!n) return 1;
    for (int k = 0; k < w; k++) {
        double *row = Lt + (size_t)k * (size_t)n;
        quad p = ALL(inverse[k]);
        subtract_rows(k, n, U, ld, F + (size_t)k * ld, 1, U + (size_t)k * ld);
        subtract_rows(k, n, Lt, (size_t)n, F + k, ld, row);
        for (int j = 0; j < n; j += 4) AT(row + j) *= p;
    }
    for (int i = 0; i < f->m; i++) subtract_rows(w, n, U, ld, Lt + i, (size_t)n, S + (size_t)i * (size_t)n);
    return 1;
}

/* S of f to the front of its parent. A run lies in one block there; in L^T its entries are n apart. */
static void add_to_parent(const cst_fronts *w, const cst_front *f)
{
    const cst_front *p = &w->plan->front[f->parent];
    const double *S = w->F + f->at + cst_front_S(f);
    const cst_run_of_rows *end = f->run + f->nrun;
    size_t n = (size_t)(p->ld - p->w);
    for (const cst_run_of_rows *r = f->run; r < end; r++)
        for (int i = 0; i < r->len; i++) {
            int row = r->to + i;
            const double *from = S + (size_t)(r->from + i) * (size_t)(f->ld - f->w);
            double *to = w->F + p->at + cst_front_entry(p, row, p->w) - p->w, *Lt = w->F + p->at + cst_front_Lt(p) + row - p->w;
            for (const cst_run_of_rows *c = f->run; c < end; c++) {
                const double *x = from + c->from;
                double *y = to + c->to;
                int j = 0, len = c->len;
                if (row >= p->w && c->to < p->w) {
                    y = Lt + (size_t)c->to * n;
                    for (; j < len; j++, y += n) *y += x[j];
                    continue;
                }
                for (; j + 4 <= len; j += 4) AT(y + j) += READ(x + j);
                for (; j < len; j++) y[j] += x[j];
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

/* x of later unknowns -= A^T xs, A with w rows */
static inline void push(const cst_front *f, const double *A, size_t ld, const double *xs, double *x, double *y)
{
    int n = f->ld - f->w;
    for (int k = 0; k < n; k += 4) AT(y + k) = ALL(0);
    subtract_rows(f->w, n, A, ld, xs, 1, y);
    for (int k = 0; k < f->m; k++) x[f->row[k]] += y[k];
}

/* y: x of later unknowns */
static inline void pull(const cst_front *f, const double *x, double *y)
{
    int n = f->ld - f->w;
    if (n) AT(y + n - 4) = ALL(0);
    for (int k = 0; k < f->m; k++) y[k] = x[f->row[k]];
}

/* L x = b of one front, with the exchanges */
static inline void lower(const cst_front *f, const double *F, const int *exchange, double *x, double *y)
{
    double *xs = x + f->first;
    for (int k = 0; k < f->w; k++) {
        double t = xs[k];
        xs[k] = xs[exchange[k]], xs[exchange[k]] = t;
    }
    for (int k = 0; k < f->w - 1; k++) { /* by columns: sums that do not wait for each other */
        const double *column = F + (size_t)(k + 1) * (size_t)f->ld + k;
        double t = xs[k];
        for (int i = k + 1; i < f->w; i++, column += f->ld) xs[i] -= *column * t;
    }
    push(f, F + cst_front_Lt(f), (size_t)(f->ld - f->w), xs, x, y);
}

/* U x = b of one front */
static inline void upper(const cst_front *f, const double *F, const double *inverse, double *x, double *y)
{
    int w = f->w, n = f->ld - w;
    double *xs = x + f->first;
    pull(f, x, y);
    for (int k = 0; n && k < w; k++) xs[k] -= dot(n, F + (size_t)k * (size_t)f->ld + w, y);
    for (int k = w - 1; k >= 0; k--) {
        const double *column = F + k;
        double t = xs[k] *= inverse[k];
        for (int i = 0; i < k; i++, column += f->ld) xs[i] -= *column * t;
    }
}

static void solve(cst_fronts *w, double *b)
{
    const cst_front_plan *plan = w->plan;
    double *x = w->x;
    for (int k = 0; k < plan->n; k++) x[k] = b[plan->perm[k]];
    for (const cst_front *f = plan->front, *end = f + plan->nfront; f < end; f++)
        lower(f, w->F + f->at, w->exchange + f->first, x, w->y);
    for (const cst_front *f = plan->front + plan->nfront; f-- > plan->front;)
        upper(f, w->F + f->at, w->inverse + f->first, x, w->y);
    for (int k = 0; k < plan->n; k++) b[plan->perm[k]] = x[k];
}

/* U^T x = b of one front */
static inline void upper_transposed(const cst_front *f, const double *F, const double *inverse, double *x, double *y)
{
    double *xs = x + f->first;
    for (int k = 0; k < f->w; k++) {
        const double *row = F + (size_t)k * (size_t)f->ld;
        double t = xs[k] *= inverse[k];
        for (int j = k + 1; j < f->w; j++) xs[j] -= row[j] * t;
    }
    push(f, F + f->w, (size_t)f->ld, xs, x, y);
}

/* L^T x = b of one front, and the exchanges undone */
static inline void lower_transposed(const cst_front *f, const double *F, const int *exchange, double *x, double *y)
{
    int w = f->w, n = f->ld - w;
    double *xs = x + f->first;
    const double *Lt = F + cst_front_Lt(f);
    pull(f, x, y);
    for (int k = 0; n && k < w; k++) xs[k] -= dot(n, Lt + (size_t)k * (size_t)n, y);
    for (int k = w - 1; k > 0; k--) {
        const double *row = F + (size_t)k * (size_t)f->ld;
        double t = xs[k];
        for (int j = 0; j < k; j++) xs[j] -= row[j] * t;
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
