/* SPDX-License-Identifier: MIT
 *
 * Cubic splines: the second derivatives m of the piecewise cubic that is twice continuous at the
 * grid points,
 *
 *     h_{i-1} m_{i-1} + 2 (h_{i-1} + h_i) m_i + h_i m_{i+1} = 6 (s_i - s_{i-1}),  s_i = (y_{i+1} -
 * y_i)/h_i
 *
 * natural: m_0 = m_{n-1} = 0, rows i = 1 .. n-2. Periodic: m_{n-1} = m_0, rows 0 .. n-2 with
 * indices modulo n-1. The matrix S is symmetric, so reverse is the same solve. The grid is
 * constant: S = L D L^T is factored once. The corners of the periodic matrix are a rank-one term, S
 * = T + u u^T/g with u = (g, 0, .., 0, h), g = -S_00, h the last interval (Sherman and Morrison).
 *
 *     factor = [1/D (N) | L (N) | z (N) | c],   z = T^{-1} u,   S^{-1} r = w - z c (u.w),  w =
 * T^{-1} r, c = 1/(g + u.z) */
#include "number/table.h"
#include "number/graph_private.h"
#include "number/table_eval.h"

#include <assert.h>

static int periodic(const cst_table *t) { return t->outside == CST_TABLE_PERIODIC; }
static int unknowns(const cst_table *t)
{
    int n = periodic(t) ? t->n - 1 : t->n - 2;
    return n > 0 ? n : 0;
}
static int first_row(const cst_table *t) { return periodic(t) ? 0 : 1; }
static double step(const cst_table *t, int i) { return t->x[i + 1] - t->x[i]; }
static int before(const cst_table *t, int i) { return i > 0 ? i - 1 : t->n - 2; }

static void solve_tridiagonal(const cst_table *t, double *r)
{
    int N = unknowns(t);
    const double *Dinv = t->factor, *L = Dinv + N;
    for (int i = 1; i < N; i++) r[i] -= L[i] * r[i - 1];
    for (int i = 0; i < N; i++) r[i] *= Dinv[i];
    for (int i = N - 1; i-- > 0;) r[i] -= L[i + 1] * r[i + 1];
}

static void factorise(cst_arena *a, cst_table *t)
{
    int N = unknowns(t), first = first_row(t);
    double *f = cst_new(a, double, 3 * N + 1), *Dinv = f, *L = f + N, *z = f + 2 * N;
    t->factor = f;
    double g = N ? -2 * (step(t, before(t, first)) + step(t, first)) : 0,
           h = N ? step(t, t->n - 2) : 0;
    for (int i = 0; i < N; i++) {
        int k = first + i;
        double D = 2 * (step(t, before(t, k)) + step(t, k));
        if (periodic(t) && i == 0) D -= g;
        if (periodic(t) && i == N - 1) D -= h * h / g;
        if (i > 0) {
            double e = step(t, k - 1);
            L[i] = e * Dinv[i - 1];
            D -= e * L[i];
        }
        Dinv[i] = 1 / D;
    }
    if (!periodic(t) || N < 2) return;
    z[0] = g;
    z[N - 1] += h;
    solve_tridiagonal(t, z);
    f[3 * N] = 1 / (g + g * z[0] + h * z[N - 1]);
}

static void solve(const cst_table *t, double *r)
{
    int N = unknowns(t);
    solve_tridiagonal(t, r);
    if (!periodic(t)) return;
    double g = -2 * (step(t, t->n - 2) + step(t, 0)), h = step(t, t->n - 2);
    const double *z = t->factor + 2 * N, c = t->factor[3 * N];
    double s = c * (g * r[0] + h * r[N - 1]);
    for (int i = 0; i < N; i++) r[i] -= s * z[i];
}

/* A periodic table of one interval is a straight line in each period. */
static int straight(const cst_table *t)
{
    return unknowns(t) == 0 || (periodic(t) && unknowns(t) == 1);
}

void cst_spline_solve(const cst_table *t, const double *y, double *m)
{
    m[0] = m[t->n - 1] = 0;
    if (straight(t)) return;
    int first = first_row(t), N = unknowns(t);
    for (int i = first; i < first + N; i++) {
        int b = before(t, i);
        m[i] = 6 * ((y[i + 1] - y[i]) / step(t, i) - (y[b + 1] - y[b]) / step(t, b));
    }
    solve(t, m + first);
    if (periodic(t)) m[t->n - 1] = m[0];
}

void cst_spline_reverse(const cst_table *t, double *m_bar, double *y_bar)
{
    if (straight(t)) return;
    int first = first_row(t), N = unknowns(t);
    if (periodic(t)) m_bar[0] += m_bar[t->n - 1];
    solve(t, m_bar + first);
    for (int i = first; i < first + N; i++) {
        int b = before(t, i);
        double r = 6 * m_bar[i];
        y_bar[i + 1] += r / step(t, i);
        y_bar[i] -= r / step(t, i);
        y_bar[b + 1] -= r / step(t, b);
        y_bar[b] += r / step(t, b);
    }
}

const cst_table *cst_table_new(cst_arena *a, cst_graph *g, int n, const double *x, const double *y,
                               cst_id y_id, cst_table_kind kind, cst_table_outside outside)
{
    assert(n > 0 && (y == NULL) == (y_id != CST_NONE));
    cst_table *t = cst_new(a, cst_table, 1);
    *t = (cst_table){
        .n = n, .kind = kind, .outside = outside, .x = x, .y = y, .y_id = y_id, .m_id = CST_NONE};
    t->index = cst_graph_table(g, t);
    if (kind != CST_TABLE_CUBIC) return t;
    factorise(a, t);
    if (y) {
        double *m = cst_new(a, double, n);
        cst_spline_solve(t, y, m);
        t->m = m;
    } else {
        t->m_id = cst_num_spline(g, t->index, n);
    }
    return t;
}

int cst_table_interval(const cst_table *t, double x)
{
    double x0 = t->x[0], x1 = t->x[t->n - 1];
    if (periodic(t)) x -= (x1 - x0) * floor((x - x0) / (x1 - x0));
    return x < x0 ? -1 : x > x1 ? t->n - 1 : table_interval(t, x);
}
