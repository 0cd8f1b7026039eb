/* SPDX-License-Identifier: MIT
 *
 * A^T P = Q R (linalg/qr.h), rows of A scaled to norm 1. A dead column is a dependent row, with
 * that residual. The converse does not hold for a tolerance far above rounding: rows may be
 * dependent together although each keeps a distance to those before it. Therefore the smallest
 * singular value of the live part is looked at, and while it belongs to a dependent row that row is
 * moved to the end and the factorisation repeated. */
#include "linalg/rank.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#include "linalg/qr.h"

typedef struct qr_work {
    const cst_rows *m;
    cst_arena *s, *factors;
    double tol;
    cst_qr R;
    double *scale; /* 1 / norm of each row of A; 0 for zero rows */
    int *perm, n;  /* nonzero rows in the order of the columns of A^T P */
    double *x;     /* (n) */
    double *y;     /* (m->ncol) */
} qr_work;

static qr_work *work_new(cst_arena *s, const cst_rows *m, double tol)
{
    qr_work *w = cst_new(s, qr_work, 1);
    w->m = m, w->s = s, w->tol = tol;
    w->perm = cst_new(s, int, m->nrow + 1);
    w->scale = cst_new(s, double, m->nrow + 1);
    w->x = cst_new(s, double, m->nrow + 1);
    w->y = cst_new(s, double, m->ncol + 1);
    for (int i = 0; i < m->nrow; i++) {
        double most = 0, sum = 0;
        for (int k = m->ptr[i]; k < m->ptr[i + 1]; k++) most = fmax(most, fabs(m->val[k]));
        if (most == 0) continue;
        for (int k = m->ptr[i]; k < m->ptr[i + 1]; k++)
            sum += (m->val[k] / most) * (m->val[k] / most);
        w->scale[i] = 1 / (most * sqrt(sum));
        w->perm[w->n++] = i;
    }
    return w;
}

#define NOISE 2e-15 /* rounding in R, whose columns have norm 1 */

/* R11 x = b in place, for the live columns up to `top`; x is 0 in dead ones. Returns the first
 * column in which x may not be 0. Dependencies are mostly local, whatever the size of the
 * mechanism, so what only rounding has put into x[k] becomes 0: that changes the dependent row by
 * as little. */
static int solve_live(const qr_work *w, int top, int first, double noise, double *x)
{
    const cst_qr *R = &w->R;
    for (int k = top; k >= first; k--) {
        if (x[k] == 0) continue;
        double xk = x[k] /= R->diagonal[k];
        if (fabs(xk) < noise) xk = x[k] = 0;
        for (size_t t = R->ptr[k]; xk != 0 && t < R->end[k]; t++) {
            x[R->row[t]] -= R->val[t] * xk;
            if (R->row[t] < first) first = R->row[t];
        }
    }
    return first;
}

static void tsolve_live(const qr_work *w, double *x)
{
    const cst_qr *R = &w->R;
    for (int k = 0; k < w->n; k++) {
        if (R->diagonal[k] == 0) continue;
        double sum = x[k];
        for (size_t t = R->ptr[k]; t < R->end[k]; t++) sum -= R->val[t] * x[R->row[t]];
        x[k] = sum / R->diagonal[k];
    }
}

static double normalise(int n, double *x)
{
    double most = 0, sum = 0;
    for (int k = 0; k < n; k++) most = fmax(most, fabs(x[k]));
    if (!(most > 0) || isinf(most)) return most;
    for (int k = 0; k < n; k++) sum += (x[k] / most) * (x[k] / most);
    double norm = most * sqrt(sum);
    for (int k = 0; k < n; k++) x[k] /= norm;
    return norm;
}

/* Inverse iteration for the smallest singular value sigma of R11, vector v: |sum v_k row_k| =
 * sigma, so row k is at most sigma / |v_k| away from the others. The last row of that kind, or -1.
 */
static int hidden_dependency(qr_work *w)
{
    int n = w->n;
    double *v = w->x, sigma = INFINITY;
    for (int k = 0; k < n; k++) v[k] = w->R.diagonal[k] == 0 ? 0 : 1 + 0.5 * sin(1.0 + 7.0 * k);
    normalise(n, v);
    for (int it = 0; it < 4 && w->R.nlive > 0; it++) {
        tsolve_live(w, v);
        normalise(n, v);
        solve_live(w, n - 1, 0, 0, v);
        double inverse = normalise(n, v);
        if (!isfinite(inverse)) return -1;
        sigma = 1 / inverse;
    }
    for (int k = n - 1; k >= 0; k--)
        if (sigma <= 0.5 * w->tol * fabs(v[k])) return k;
    return -1;
}

static void move_to_end(qr_work *w, int k)
{
    int row = w->perm[k];
    memmove(w->perm + k, w->perm + k + 1, (w->n - k - 1) * sizeof(int));
    w->perm[w->n - 1] = row;
}

/* y += factor * row */
static void add_row(qr_work *w, int row, double factor)
{
    const cst_rows *m = w->m;
    for (int t = m->ptr[row]; t < m->ptr[row + 1]; t++) w->y[m->col[t]] += factor * m->val[t];
}

/* The sum of squares of y in the columns of a row, which become 0 */
static double take_row(qr_work *w, int row)
{
    const cst_rows *m = w->m;
    double sum = 0;
    for (int t = m->ptr[row]; t < m->ptr[row + 1]; t++) {
        double *y = &w->y[m->col[t]];
        sum += *y * *y;
        *y = 0;
    }
    return sum;
}

/* |row - sum c_k row_k| with unit rows, k = first .. d - 1; the c_k are in w->x. w->y is 0 before
 * and after. */
static double residual(qr_work *w, int first, int d)
{
    add_row(w, w->perm[d], w->scale[w->perm[d]]);
    for (int k = first; k < d; k++)
        if (w->x[k] != 0) add_row(w, w->perm[k], -w->x[k] * w->scale[w->perm[k]]);
    double sum = take_row(w, w->perm[d]);
    for (int k = first; k < d; k++)
        if (w->x[k] != 0) sum += take_row(w, w->perm[k]);
    return sqrt(sum);
}

typedef struct term {
    int row;
    double coef;
} term;
typedef CST_LIST(term) term_list;

/* The row of the dead column d in terms of the live ones: R11 c = R12. The claim is checked on A
 * itself: 0 when it does not hold. w->x is 0 before and after. */
static int express(qr_work *w, int d, term_list *terms)
{
    const cst_qr *R = &w->R;
    int row = w->perm[d], first = d;
    for (size_t t = R->ptr[d]; t < R->end[d]; t++) {
        w->x[R->row[t]] = R->val[t];
        if (R->row[t] < first) first = R->row[t];
    }
    first = solve_live(w, d - 1, first, NOISE, w->x);
    int holds = residual(w, first, d) <= 4 * w->tol;
    for (int k = first; k < d; k++) {
        if (holds && fabs(w->x[k]) > 1e-8)
            *cst_push(w->s, terms) =
                (term){w->perm[k], w->x[k] * w->scale[w->perm[k]] / w->scale[row]};
        w->x[k] = 0;
    }
    return holds;
}

static void fill(cst_arena *a, const qr_work *w, const int *from, const int *start,
                 const term *terms, cst_rank *out)
{
    int nterm = 0;
    for (int row = 0; row < w->m->nrow; row++)
        if (from[row])
            out->ndep++, nterm += from[row] > 0 ? start[from[row]] - start[from[row] - 1] : 0;
    out->rank = w->m->nrow - out->ndep;
    out->dep = cst_new(a, int, out->ndep + 1);
    out->term_ptr = cst_new(a, int, out->ndep + 1);
    out->term_row = cst_new(a, int, nterm + 1);
    out->term_coef = cst_new(a, double, nterm + 1);
    int n = 0, end = 0;
    for (int row = 0; row < w->m->nrow; row++) {
        if (!from[row]) continue;
        for (int t = from[row] > 0 ? start[from[row] - 1] : 0;
             from[row] > 0 && t < start[from[row]]; t++) {
            out->term_row[end] = terms[t].row;
            out->term_coef[end++] = terms[t].coef;
        }
        out->dep[n++] = row;
        out->term_ptr[n] = end;
    }
}

static void factor(qr_work *w, const cst_qr_plan *p)
{
    if (w->factors) cst_arena_free(w->factors);
    w->factors = cst_arena_child(w->s);
    cst_qr_factor(w->factors, p ? p : cst_qr_plan_new(w->factors, w->m, w->n, w->perm, INFINITY),
                  w->scale, w->tol, &w->R);
}

static int find_rank(qr_work *w)
{
    const cst_qr_plan *p = cst_qr_order(w->s, w->m, w->n, w->perm);
    if (!p) return 0;
    factor(w, p);
    for (int most = INT_MAX, k; w->R.nlive < most && (k = hidden_dependency(w)) >= 0;) {
        most = w->R.nlive;
        move_to_end(w, k);
        factor(w, NULL);
    }
    return 1;
}

int cst_rank_rows(cst_arena *a, const cst_rows *m, double tol, cst_rank *out)
{
    cst_arena *s = cst_arena_child(a);
    qr_work *w = work_new(s, m, tol);
    *out = (cst_rank){0};
    int ok = w->n == 0 || find_rank(w);
    if (ok) {
        /* from[row]: 0 independent, -1 zero row, else 1 + its place in start */
        int *from = cst_new(s, int, m->nrow + 1), *start = cst_new(s, int, w->n + 1), dead = 0;
        term_list terms = {0};
        for (int i = 0; i < m->nrow; i++) from[i] = w->scale[i] == 0 ? -1 : 0;
        memset(w->x, 0, sizeof *w->x * (size_t)(w->n + 1));
        for (int k = 0; k < w->n; k++) {
            if (w->R.diagonal[k] != 0) continue;
            if (express(w, k, &terms)) from[w->perm[k]] = dead + 1;
            start[++dead] = terms.n;
        }
        fill(a, w, from, start, terms.at, out);
    }
    cst_arena_free(s);
    return ok;
}
