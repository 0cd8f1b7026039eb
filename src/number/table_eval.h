/* SPDX-License-Identifier: MIT
 *
 * Reading a table. The k-th derivative of y at x is a weighted sum of four numbers of its interval:
 *
 *     y^(k)(x) = w0 y_i + w1 y_{i+1} + w2 m_i + w3 m_{i+1}
 *
 * with weights that depend on x alone; with A = (x_{i+1} - x)/h, B = (x - x_i)/h, h = x_{i+1} - x_i
 *
 *     y = A y_i + B y_{i+1} + h^2/6 ((A^3 - A) m_i + (B^3 - B) m_{i+1})
 *
 * Written on `real`, included by the sweeps of graph and tape. */
#ifndef CST_NUMBER_TABLE_EVAL_H
#define CST_NUMBER_TABLE_EVAL_H

#include "number/table.h"

typedef struct table_point {
    int i, j; /* the interval's ends: j = i + 1, or i in a table of one point */
    real w[4];
} table_point;

/* largest i <= n-2 with x_i <= x; 0 if there is none */
static inline int table_interval(const cst_table *t, double x)
{
    int lo = 0, hi = t->n - 1;
    while (hi - lo > 1) {
        int mid = lo + (hi - lo) / 2;
        if (t->x[mid] <= x)
            lo = mid;
        else
            hi = mid;
    }
    return lo;
}

/* How far x is from a kink, as a part of its interval: a linear table has one at each grid point, a
 * clamped one at its ends. */
static inline double table_kink(const cst_table *t, double x)
{
    double x0 = t->x[0], x1 = t->x[t->n - 1], span = x1 - x0;
    if (t->n == 1) return INFINITY;
    if (t->outside == CST_TABLE_PERIODIC) x -= span * floor((x - x0) / span);
    int i = table_interval(t, x);
    double h = t->x[i + 1] - t->x[i];
    if (t->kind == CST_TABLE_LINEAR) return fmin(fabs(x - t->x[i]), fabs(x - t->x[i + 1])) / h;
    return t->outside == CST_TABLE_CLAMP ? fmin(fabs(x - x0), fabs(x - x1)) / h : INFINITY;
}

static inline void table_weights(const cst_table *t, table_point *p, real x, int k)
{
    double h = t->x[p->j] - t->x[p->i];
    real A = (t->x[p->j] - x) / h, B = (x - t->x[p->i]) / h;
    int cubic = t->kind == CST_TABLE_CUBIC;
    for (int c = 0; c < 4; c++) p->w[c] = 0;
    if (k == 0) {
        p->w[0] = A;
        p->w[1] = B;
    } else if (k == 1) {
        p->w[0] = -1 / h;
        p->w[1] = 1 / h;
    }
    if (!cubic) return;
    if (k == 0) {
        p->w[2] = (A * A - 1) * A * (h * h / 6);
        p->w[3] = (B * B - 1) * B * (h * h / 6);
    } else if (k == 1) {
        p->w[2] = (1 - 3 * A * A) * (h / 6);
        p->w[3] = (3 * B * B - 1) * (h / 6);
    } else if (k == 2) {
        p->w[2] = A;
        p->w[3] = B;
    } else if (k == 3) {
        p->w[2] = -1 / h;
        p->w[3] = 1 / h;
    }
}

/* Outside the grid: the end value, plus the end slope times the distance when the table is
 * extended. */
static inline void table_outside(const cst_table *t, table_point *p, real x, int k)
{
    int high = sc_val(x) > t->x[t->n - 1];
    real end = t->x[high ? t->n - 1 : 0], w0[4] = {0};
    int slope = t->outside == CST_TABLE_EXTEND && t->n > 1;
    if (k == 0) w0[high && t->n > 1 ? 1 : 0] = 1;
    for (int c = 0; c < 4; c++) p->w[c] = 0;
    if (slope && k <= 1) table_weights(t, p, end, 1);
    for (int c = 0; c < 4; c++) p->w[c] = w0[c] + (k == 0 ? p->w[c] * (x - end) : p->w[c]);
}

static inline table_point table_find(const cst_table *t, real x, int k)
{
    double x0 = t->x[0], x1 = t->x[t->n - 1];
    int wraps = t->outside == CST_TABLE_PERIODIC && t->n > 1;
    if (wraps) x -= (x1 - x0) * floor((sc_val(x) - x0) / (x1 - x0));
    table_point p = {.i = table_interval(t, sc_val(x))};
    p.j = t->n > 1 ? p.i + 1 : 0;
    if (t->n == 1 || (!wraps && (sc_val(x) < x0 || sc_val(x) > x1)))
        table_outside(t, &p, x, k);
    else
        table_weights(t, &p, x, k);
    return p;
}

/* y and m: the table's data, or where its values stand now; m is not read by linear tables */
static inline real table_read(const cst_table *t, const table_point *p, const real *y,
                              const real *m)
{
    real r =
        t->y ? p->w[0] * t->y[p->i] + p->w[1] * t->y[p->j] : p->w[0] * y[p->i] + p->w[1] * y[p->j];
    if (t->kind == CST_TABLE_CUBIC)
        r += t->y ? p->w[2] * t->m[p->i] + p->w[3] * t->m[p->j]
                  : p->w[2] * m[p->i] + p->w[3] * m[p->j];
    return r;
}

static inline real table_value(const cst_table *t, real x, int k, const real *y, const real *m)
{
    table_point p = table_find(t, x, k);
    return table_read(t, &p, y, m);
}

/* tangent of the k-th derivative: by x, and by the values if they are not data */
static inline real table_forward(const cst_table *t, real x, int k, const real *y, const real *m,
                                 real x_dot, const real *y_dot, const real *m_dot)
{
    real r = table_value(t, x, k + 1, y, m) * x_dot;
    return t->y ? r : r + table_value(t, x, k, y_dot, m_dot);
}

static inline void table_reverse(const cst_table *t, real x, int k, const real *y, const real *m,
                                 real bar, real *x_bar, real *y_bar, real *m_bar)
{
    *x_bar += bar * table_value(t, x, k + 1, y, m);
    if (t->y) return;
    table_point p = table_find(t, x, k);
    y_bar[p.i] += bar * p.w[0];
    y_bar[p.j] += bar * p.w[1];
    if (t->kind == CST_TABLE_CUBIC) {
        m_bar[p.i] += bar * p.w[2];
        m_bar[p.j] += bar * p.w[3];
    }
}

#endif
