/* SPDX-License-Identifier: MIT
 *
 * Is a point optimal? Judged without the library: constraints by the sizes of their terms, and
 * multipliers by trying all subsets of the active ones. In numbers z whose sizes are about 1.
 *
 *     df = sum_k mu_k a_k,   mu_k >= 0 at a lower limit, <= 0 at an upper one, free at an equality
 */
#ifndef CST_TESTS_OPTIMALITY_H
#define CST_TESTS_OPTIMALITY_H

#include <math.h>
#include <string.h>

enum { MOST_VARIABLES = 10, MOST_ROWS = 20 };

typedef struct point {
    int n, m;
    const double *z, *lower, *upper;          /* (n) */
    const double *c, *dc, *c_lower, *c_upper; /* (m), (m x n) */
    double f;
    const double *df; /* (n) */
} point;

typedef struct active {
    int n;
    double row[MOST_ROWS][MOST_VARIABLES]; /* gradients by changes of z_i of its own size */
    int sign[MOST_ROWS];                   /* of the multiplier: 1, -1, 0: free */
} active;

static inline double size_of(double z) { return fmax(1, fabs(z)); }

/* 1 + sum |dc/dz_i| size_i */
static inline double row_size(const point *p, int j)
{
    double size = 1;
    for (int i = 0; i < p->n; i++) size += fabs(p->dc[j * p->n + i]) * size_of(p->z[i]);
    return size;
}

/* The largest violation of constraints and bounds, of their sizes */
static inline double violation(const point *p)
{
    double most = 0;
    for (int i = 0; i < p->n; i++) {
        const double beyond = fmax(p->lower[i] - p->z[i], p->z[i] - p->upper[i]);
        most = fmax(most, beyond / size_of(p->z[i]));
    }
    for (int j = 0; j < p->m; j++) {
        const double beyond = fmax(p->c_lower[j] - p->c[j], p->c[j] - p->c_upper[j]);
        most = fmax(most, beyond / row_size(p, j));
    }
    return most;
}

static inline void add_active(active *a, int sign)
{
    if (a->n < MOST_ROWS - 1) a->sign[a->n++] = sign;
}

static inline active find_active(const point *p)
{
    const double near = 1e-5;
    active a = {0};
    for (int i = 0; i < p->n; i++) {
        const int low = p->z[i] - p->lower[i] <= near * size_of(p->z[i]);
        const int high = p->upper[i] - p->z[i] <= near * size_of(p->z[i]);
        if (!low && !high) continue;
        memset(a.row[a.n], 0, sizeof a.row[0]);
        a.row[a.n][i] = size_of(p->z[i]);
        add_active(&a, low && high ? 0 : low ? 1 : -1);
    }
    for (int j = 0; j < p->m; j++) {
        const double size = row_size(p, j);
        const int low = p->c[j] - p->c_lower[j] <= near * size;
        const int high = p->c_upper[j] - p->c[j] <= near * size;
        if (!low && !high) continue;
        for (int i = 0; i < p->n; i++)
            a.row[a.n][i] = p->dc[j * p->n + i] * size_of(p->z[i]) / size;
        add_active(&a, low && high ? 0 : low ? 1 : -1);
    }
    return a;
}

/* The largest component of g less its part along the rows of the subset. INFINITY: they depend on
 * each other, or a multiplier has the wrong sign */
static inline double left_over(const active *a, int n, const double *g, int subset)
{
    double q[MOST_VARIABLES][MOST_VARIABLES], R[MOST_VARIABLES][MOST_VARIABLES], b[MOST_VARIABLES],
        mu[MOST_VARIABLES], most = 0;
    int of[MOST_VARIABLES], count = 0;
    memcpy(b, g, sizeof *g * (size_t)n);
    for (int k = 0; k < a->n; k++) {
        if (!(subset >> k & 1)) continue;
        if (count == n) return INFINITY;
        double before = 0, after = 0;
        for (int i = 0; i < n; i++) q[count][i] = a->row[k][i];
        for (int i = 0; i < n; i++) before += q[count][i] * q[count][i];
        for (int l = 0; l < count; l++) {
            R[l][count] = 0;
            for (int i = 0; i < n; i++) R[l][count] += q[l][i] * q[count][i];
            for (int i = 0; i < n; i++) q[count][i] -= R[l][count] * q[l][i];
        }
        for (int i = 0; i < n; i++) after += q[count][i] * q[count][i];
        if (!(after > 1e-16 * before)) return INFINITY;
        R[count][count] = sqrt(after);
        for (int i = 0; i < n; i++) q[count][i] /= sqrt(after);
        of[count++] = k;
    }
    for (int l = 0; l < count; l++) {
        mu[l] = 0;
        for (int i = 0; i < n; i++) mu[l] += q[l][i] * b[i];
        for (int i = 0; i < n; i++) b[i] -= mu[l] * q[l][i];
    }
    for (int l = count - 1; l >= 0; l--) {
        for (int k = l + 1; k < count; k++) mu[l] -= R[l][k] * mu[k];
        mu[l] /= R[l][l];
        if (mu[l] * a->sign[of[l]] < 0) return INFINITY;
    }
    for (int i = 0; i < n; i++) most = fmax(most, fabs(b[i]));
    return most;
}

/* How far the gradient by changes of z_i of its own size is from a combination of active ones, of
 * its size, that of f, and the curvature: how much the gradient is changed by such changes */
static inline double stationarity(const point *p, double curvature)
{
    const active a = find_active(p);
    double g[MOST_VARIABLES], size = fmax(1, fmax(fabs(p->f), curvature)), least = INFINITY;
    for (int i = 0; i < p->n; i++) {
        g[i] = p->df[i] * size_of(p->z[i]);
        size = fmax(size, fabs(g[i]));
    }
    for (int subset = 0; subset < 1 << a.n; subset++)
        least = fmin(least, left_over(&a, p->n, g, subset));
    return least / size;
}

#endif
