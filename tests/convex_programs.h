/* SPDX-License-Identifier: MIT
 *
 * Random convex quadratic programs, and their optima by trying all sets of active rows:
 *
 *     f = x'H x/2 + g'x,   a_k'x >= b_k     (limits and bounds, each side a row)
 *
 * For a set S of at most n rows, [H -A_S'; A_S 0] [x; mu] = [-g; b_S]; with A x >= b and mu >= 0
 * x is optimal. If H is singular x is bounded, and an optimum has a set of which this is not
 * singular. No set: no feasible point. */
#ifndef CST_TESTS_CONVEX_PROGRAMS_H
#define CST_TESTS_CONVEX_PROGRAMS_H

#include "optimum_runs.h"

enum { QP_N = 5, QP_M = 6, QP_ROWS = 2 * (QP_N + QP_M) };

typedef struct program {
    int n, m;
    double H[QP_N][QP_N], g[QP_N], A[QP_M][QP_N], lo[QP_M], hi[QP_M], lower[QP_N], upper[QP_N];
    double start[QP_N];
} program;

static inline program random_program(expect_random *r, int singular, int empty)
{
    program p = {.n = 2 + expect_below(r, QP_N - 1), .m = expect_below(r, QP_M + 1)};
    double B[QP_N][QP_N] = {0}, inside[QP_N];
    const int rank = singular ? p.n - 1 : p.n;
    for (int k = 0; k < rank; k++)
        for (int i = 0; i < p.n; i++) B[k][i] = expect_uniform(r, -1, 1) + (i == k);
    for (int i = 0; i < p.n; i++) {
        for (int j = 0; j < p.n; j++)
            for (int k = 0; k < rank; k++) p.H[i][j] += B[k][i] * B[k][j];
        p.g[i] = expect_uniform(r, -5, 5);
        inside[i] = expect_uniform(r, -1, 1);
        const int bounded = singular || expect_below(r, 2);
        p.lower[i] = bounded ? -1.5 : -INFINITY;
        p.upper[i] = bounded ? 1.5 : INFINITY;
        p.start[i] = expect_uniform(r, -1.5, 1.5);
    }
    for (int j = 0; j < p.m; j++) {
        double at = 0;
        for (int i = 0; i < p.n; i++) {
            p.A[j][i] = expect_uniform(r, -2, 2);
            at += p.A[j][i] * inside[i];
        }
        const int sides = 1 + expect_below(r, 3);
        p.lo[j] = sides & 1 ? at - expect_uniform(r, 0, 1) : -INFINITY;
        p.hi[j] = sides & 2 ? at + expect_uniform(r, 0, 1) : INFINITY;
    }
    if (empty && p.m >= 2) { /* the first two say that the same is above and below */
        memcpy(p.A[1], p.A[0], sizeof p.A[0]);
        p.lo[0] = expect_uniform(r, 0.5, 1);
        p.hi[0] = INFINITY;
        p.lo[1] = -INFINITY;
        p.hi[1] = -p.lo[0];
    }
    return p;
}

/* ---- the optimum ---- */

typedef struct qp_rows {
    int n;
    double a[QP_ROWS][QP_N], b[QP_ROWS];
} qp_rows;

static inline void add_row(qp_rows *to, const double *a, int n, double sign, double b)
{
    if (isinf(b)) return;
    for (int i = 0; i < n; i++) to->a[to->n][i] = sign * a[i];
    to->b[to->n++] = sign * b;
}

static inline qp_rows rows_of(const program *p)
{
    qp_rows rows = {0};
    for (int i = 0; i < p->n; i++) {
        double unit[QP_N] = {0};
        unit[i] = 1;
        add_row(&rows, unit, p->n, 1, p->lower[i]);
        add_row(&rows, unit, p->n, -1, p->upper[i]);
    }
    for (int j = 0; j < p->m; j++) {
        add_row(&rows, p->A[j], p->n, 1, p->lo[j]);
        add_row(&rows, p->A[j], p->n, -1, p->hi[j]);
    }
    return rows;
}

enum { QP_SIZE = 2 * QP_N };

/* Gauss with pivots; 0: singular */
static inline int solve_dense(int n, double A[QP_SIZE][QP_SIZE + 1])
{
    for (int i = 0; i < n; i++) {
        int pivot = i;
        for (int k = i + 1; k < n; k++)
            if (fabs(A[k][i]) > fabs(A[pivot][i])) pivot = k;
        if (fabs(A[pivot][i]) < 1e-9) return 0;
        for (int j = i; j <= n; j++) {
            const double other = A[pivot][j];
            A[pivot][j] = A[i][j];
            A[i][j] = other;
        }
        for (int k = 0; k < n; k++) {
            if (k == i) continue;
            const double factor = A[k][i] / A[i][i];
            for (int j = i; j <= n; j++) A[k][j] -= factor * A[i][j];
        }
    }
    for (int i = 0; i < n; i++) A[i][n] /= A[i][i];
    return 1;
}

static inline double program_value(const program *p, const double *x)
{
    double f = 0;
    for (int i = 0; i < p->n; i++) {
        f += p->g[i] * x[i];
        for (int j = 0; j < p->n; j++) f += x[i] * p->H[i][j] * x[j] / 2;
    }
    return f;
}

static inline int is_optimal_set(const program *p, const qp_rows *rows, const int *set, int count,
                                 double *x)
{
    double K[QP_SIZE][QP_SIZE + 1] = {0};
    const int n = p->n, size = n + count;
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) K[i][j] = p->H[i][j];
        K[i][size] = -p->g[i];
    }
    for (int k = 0; k < count; k++) {
        for (int i = 0; i < n; i++) K[n + k][i] = rows->a[set[k]][i];
        for (int i = 0; i < n; i++) K[i][n + k] = -rows->a[set[k]][i];
        K[n + k][size] = rows->b[set[k]];
    }
    if (!solve_dense(size, K)) return 0;
    for (int k = 0; k < count; k++)
        if (K[n + k][size] < -1e-9) return 0;
    for (int i = 0; i < n; i++) x[i] = K[i][size];
    for (int r = 0; r < rows->n; r++) {
        double at = -rows->b[r];
        for (int i = 0; i < n; i++) at += rows->a[r][i] * x[i];
        if (at < -1e-9) return 0;
    }
    return 1;
}

static inline int try_sets(const program *p, const qp_rows *rows, int *set, int count, int next,
                           double *x)
{
    if (is_optimal_set(p, rows, set, count, x)) return 1;
    if (count == p->n) return 0;
    for (int r = next; r < rows->n; r++) {
        set[count] = r;
        if (try_sets(p, rows, set, count + 1, r + 1, x)) return 1;
    }
    return 0;
}

/* NAN: no feasible point */
static inline double program_optimum(const program *p)
{
    const qp_rows rows = rows_of(p);
    int set[QP_N + 1];
    double x[QP_N];
    return try_sets(p, &rows, set, 0, 0, x) ? program_value(p, x) : NAN;
}

/* ---- by the optimisers ---- */

typedef struct written {
    const program *p;
    const scaling *s;
} written;

static inline cst_status program_eval(void *ctx, const double *x, double *f, double *c, double *df,
                                      double *dc, cst_diag *d)
{
    const written *w = ctx;
    const program *p = w->p;
    double z[QP_N];
    (void)d;
    for (int i = 0; i < p->n; i++) z[i] = x[i] / w->s->x;
    *f = w->s->f * program_value(p, z);
    for (int i = 0; i < p->n; i++) {
        double slope = p->g[i];
        for (int j = 0; j < p->n; j++) slope += p->H[i][j] * z[j];
        df[i] = slope * w->s->f / w->s->x;
    }
    for (int j = 0; j < p->m; j++) {
        c[j] = 0;
        for (int i = 0; i < p->n; i++) {
            c[j] += w->s->c * p->A[j][i] * z[i];
            dc[j * p->n + i] = w->s->c * p->A[j][i] / w->s->x;
        }
    }
    return CST_OK;
}

static inline void run_program(const program *q, const known *k, const scaling *s, tally *sum,
                               int table)
{
    written w = {q, s};
    double lo[QP_M], hi[QP_M];
    for (int j = 0; j < q->m; j++) {
        lo[j] = q->lo[j] * s->c;
        hi[j] = q->hi[j] * s->c;
    }
    const cst_nlp p = {
        .n = q->n, .m = q->m, .c_lower = lo, .c_upper = hi, .eval = program_eval, .ctx = &w};
    run_methods(k, s, &p, sum, table);
}

/* Programs number 0 to count - 1; every fourth has a singular H, every tenth no feasible point */
static inline void run_programs(int count, tally *sum, int table)
{
    expect_random r = {2024};
    for (int t = 0; t < count; t++) {
        const program q = random_program(&r, t % 4 == 3, t % 10 == 6);
        char name[40];
        snprintf(name, sizeof name, "program %d, %d rows", t, q.m);
        known k = {.name = name, .n = q.n, .traits = CONVEX, .best = program_optimum(&q)};
        k.c[0] = q.m ? "rows" : NULL;
        for (int i = 0; i < q.n; i++) {
            k.start[i] = q.start[i];
            k.bound[i] = (known_bound){i + 1, q.lower[i], q.upper[i]};
        }
        run_program(&q, &k, &scalings[t % SCALINGS], sum, table);
    }
}

#endif
