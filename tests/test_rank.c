/* SPDX-License-Identifier: MIT
 *
 * Dependent rows: matrices that are built with known dependencies. */
#include "base/arena.h"
#include "expect.h"
#include "linalg/rank.h"

enum { MAX_ROW = 400, MAX_COL = 300 };

typedef struct sample {
    cst_rows m;
    int ptr[MAX_ROW + 1], col[MAX_ROW * 60];
    double val[MAX_ROW * 60];
    int ndep, dep[MAX_ROW];
} sample;

static sample S;

static sample *sample_begin(int ncol)
{
    S.m = (cst_rows){0, ncol, S.ptr, S.col, S.val};
    S.ndep = 0;
    S.ptr[0] = 0;
    return &S;
}

static void entry(sample *s, int col, double value)
{
    int k = s->ptr[s->m.nrow + 1]++;
    s->col[k] = col;
    s->val[k] = value;
}

static void row_begin(sample *s) { s->ptr[s->m.nrow + 1] = s->ptr[s->m.nrow]; }
static void row_end(sample *s) { s->m.nrow++; }

static void dense_row(sample *s, const double *x)
{
    row_begin(s);
    for (int j = 0; j < s->m.ncol; j++)
        if (x[j] != 0) entry(s, j, x[j]);
    row_end(s);
}

static void add_row(const sample *s, int row, double factor, double *x)
{
    for (int k = s->ptr[row]; k < s->ptr[row + 1]; k++) x[s->col[k]] += factor * s->val[k];
}

static double norm(int n, const double *x)
{
    double sum = 0;
    for (int i = 0; i < n; i++) sum += x[i] * x[i];
    return sqrt(sum);
}

/* The laws: every row is either dependent or counted; a dependent row is the sum it is said to be;
 * its terms are independent rows; no independent row is in dep twice. */
static void check(const sample *s, const cst_rank *k, double tol)
{
    expect_int(k->rank + k->ndep, s->m.nrow);
    for (int d = 0; d < k->ndep; d++) {
        double x[MAX_COL] = {0};
        if (d) expect_true(k->dep[d] > k->dep[d - 1]);
        add_row(s, k->dep[d], 1, x);
        double size = norm(s->m.ncol, x);
        for (int t = k->term_ptr[d]; t < k->term_ptr[d + 1]; t++) {
            for (int e = 0; e < k->ndep; e++) expect_true(k->term_row[t] != k->dep[e]);
            add_row(s, k->term_row[t], -k->term_coef[t], x);
        }
        expect_true(norm(s->m.ncol, x) <= tol * size);
    }
}

static void solve_and_check(cst_arena *a, const sample *s, double tol, double accuracy, cst_rank *k)
{
    expect_int(cst_rank_rows(a, &s->m, tol, k), 1);
    check(s, k, accuracy);
}

static void expect_dependent(const sample *s, const cst_rank *k)
{
    expect_int(k->ndep, s->ndep);
    for (int d = 0; d < k->ndep; d++) expect_int(k->dep[d], s->dep[d]);
}

/* Sparse rows, every third a combination of earlier ones; scales over `decades` */
static void random_sample(expect_random *r, sample *s, int nrow, double decades)
{
    double x[MAX_COL];
    for (int i = 0; i < nrow; i++) {
        memset(x, 0, sizeof x);
        int kind = i > 2 ? expect_below(r, 9) : 8;
        if (kind < 2) { /* a combination of two or three */
            for (int t = 0; t < 2 + kind; t++) {
                int j = expect_below(r, i);
                double y[MAX_COL] = {0};
                add_row(s, j, 1, y);
                double size = norm(s->m.ncol, y), f = expect_uniform(r, 0.5, 2);
                for (int c = 0; size > 0 && c < s->m.ncol; c++) x[c] += f / size * y[c];
            }
        } else if (kind == 2) {
            add_row(s, expect_below(r, i), -3, x); /* a duplicate */
        } else if (kind > 3) {
            for (int t = 0; t < 8; t++) x[expect_below(r, s->m.ncol)] = expect_uniform(r, -1, 1);
            x[i % s->m.ncol] += 3; /* kind 3: a zero row */
        }
        double scale = pow(10, expect_uniform(r, -decades, decades));
        for (int j = 0; j < s->m.ncol; j++) x[j] *= scale;
        if (kind <= 3) s->dep[s->ndep++] = i;
        dense_row(s, x);
    }
}

static void test_random(void **state)
{
    (void)state;
    expect_random r = {11};
    for (int k = 0; k < 60; k++) {
        sample *s = sample_begin(120);
        random_sample(&r, s, 20 + expect_below(&r, 60), k % 3 * 3);
        cst_arena a = {0};
        cst_rank rank;
        solve_and_check(&a, s, 1e-10, 1e-10, &rank);
        expect_dependent(s, &rank); /* the later rows, exactly */
        cst_arena_free(&a);
    }
}

/* Bodies in the plane, drawn in space: each revolute joint of a closed chain of nb bodies with a
 * common axis has five rows on (v, w) of two bodies; a loop of nb revolutes has nb - 3 freedoms, so
 * 3 of the 5 nb rows depend. */
static void revolute_rows(sample *s, int body_a, int body_b, const double *p)
{
    static const double unit[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    for (int i = 0; i < 5; i++) {
        row_begin(s);
        for (int side = 0; side < 2; side++) {
            int body = side ? body_b : body_a;
            double sign = side ? -1 : 1;
            if (body < 0) continue;
            if (i < 3) { /* velocity of the point: v + w x p */
                const double *e = unit[i];
                const double c[3] = {p[1] * e[2] - p[2] * e[1], p[2] * e[0] - p[0] * e[2],
                                     p[0] * e[1] - p[1] * e[0]};
                entry(s, 6 * body + i, sign);
                for (int j = 0; j < 3; j++)
                    if (c[j] != 0) entry(s, 6 * body + 3 + j, sign * c[j]);
            } else {
                entry(s, 6 * body + 3 + (i - 3), sign);
            }
        }
        row_end(s);
    }
}

static void test_planar_loops(void **state)
{
    (void)state;
    expect_random r = {12};
    for (int nb = 3; nb <= 40; nb += 4) {
        sample *s = sample_begin(6 * nb);
        for (int j = 0; j <= nb; j++) {
            double p[3] = {expect_uniform(&r, -1, 1), expect_uniform(&r, -1, 1), 0};
            revolute_rows(s, j - 1, j < nb ? j : -1, p);
        }
        cst_arena a = {0};
        cst_rank rank;
        solve_and_check(&a, s, 1e-9, 1e-10, &rank);
        expect_int(rank.ndep, 3);
        for (int d = 0; d < 3; d++)
            expect_true(rank.dep[d] >= 5 * nb); /* rows of the joint that closes the loop */
        cst_arena_free(&a);
    }
}

/* A row at distance delta from the span of the others is dependent for tol = 4 delta, not for tol =
 * delta / 4. */
static void test_distance(void **state)
{
    (void)state;
    expect_random r = {13};
    for (int decade = -9; decade <= -3; decade++) {
        double delta = pow(10, decade), x[MAX_COL] = {0};
        sample *s = sample_begin(60);
        for (int i = 0; i < 30; i++) {
            double y[MAX_COL] = {0};
            y[2 * i] = 1;
            y[(2 * i + 2) % 60] = expect_uniform(&r, -0.4, 0.4);
            dense_row(s, y);
            add_row(s, i, expect_uniform(&r, -1, 1), x);
        }
        double size = norm(60, x);
        for (int j = 0; j < 60; j++) x[j] /= size;
        x[1] = delta; /* no other row has odd columns */
        dense_row(s, x);
        cst_arena a = {0};
        cst_rank rank;
        solve_and_check(&a, s, 4 * delta, 4 * delta, &rank);
        expect_int(rank.rank, 30);
        solve_and_check(&a, s, delta / 4, 1, &rank);
        expect_int(rank.rank, 31);
        cst_arena_free(&a);
    }
}

/* Kahan's matrix: every row keeps a distance to those before it, yet together they are dependent.
 */
static void test_hidden(void **state)
{
    (void)state;
    enum { N = 60 };
    sample *s = sample_begin(N);
    double c = 0.6, si = 0.8;
    double x[N][N] = {
        {0},
    };
    for (int i = 0; i < N; i++)
        for (int j = i; j < N; j++)
            x[j][i] = pow(si, i) * (i == j ? 1 : -c); /* row j is column j of K */
    for (int j = 0; j < N; j++) dense_row(s, x[j]);
    cst_arena a = {0};
    cst_rank rank;
    solve_and_check(&a, s, 1e-7, 1e-6, &rank);
    expect_int(rank.ndep, 1);
    cst_arena_free(&a);
}

static void test_empty(void **state)
{
    (void)state;
    cst_arena a = {0};
    cst_rank rank;
    sample *s = sample_begin(5);
    solve_and_check(&a, s, 1e-10, 0, &rank);
    expect_int(rank.rank, 0);
    expect_int(rank.ndep, 0);
    double zero[MAX_COL] = {0};
    dense_row(s, zero);
    dense_row(s, zero);
    solve_and_check(&a, s, 1e-10, 0, &rank);
    expect_int(rank.ndep, 2);
    expect_int(rank.term_ptr[2], 0);
    cst_arena_free(&a);
}

/* More rows than columns: the rank is the number of columns. */
static void test_tall(void **state)
{
    (void)state;
    expect_random r = {14};
    sample *s = sample_begin(20);
    for (int i = 0; i < 70; i++) {
        double x[MAX_COL] = {0};
        for (int j = 0; j < 20; j++) x[j] = expect_uniform(&r, -1, 1);
        dense_row(s, x);
        if (i >= 20) s->dep[s->ndep++] = i;
    }
    cst_arena a = {0};
    cst_rank rank;
    solve_and_check(&a, s, 1e-11, 1e-11, &rank);
    expect_dependent(s, &rank);
    cst_arena_free(&a);
}

/* Large and in an order that would fill: rows of a 2D grid, shuffled, with copies of some of them.
 */
static void test_large(void **state)
{
    (void)state;
    enum { G = 90, N = G * G, COPY = 300 };
    expect_random r = {15};
    cst_arena a = {0};
    int nrow = N + COPY, nnz = 0;
    int *ptr = cst_new(&a, int, nrow + 1), *col = cst_new(&a, int, 5 * nrow),
        *order = cst_new(&a, int, N);
    double *val = cst_new(&a, double, 5 * nrow);
    for (int i = 0; i < N; i++) {
        int j = expect_below(&r, i + 1);
        order[i] = order[j];
        order[j] = i;
    }
    for (int row = 0; row < nrow; row++) {
        int cell = row < N ? order[row] : order[7 * (row - N)], x = cell % G, y = cell / G;
        const int near[5] = {cell, x ? cell - 1 : -1, x < G - 1 ? cell + 1 : -1, y ? cell - G : -1,
                             y < G - 1 ? cell + G : -1};
        for (int k = 0; k < 5; k++)
            if (near[k] >= 0) col[nnz] = near[k], val[nnz++] = k ? -1 : 4.5;
        ptr[row + 1] = nnz;
    }
    cst_rank rank;
    expect_int(cst_rank_rows(&a, &(cst_rows){nrow, N, ptr, col, val}, 1e-9, &rank), 1);
    expect_int(rank.rank, N);
    for (int d = 0; d < rank.ndep; d++) {
        expect_int(rank.term_ptr[d + 1] - rank.term_ptr[d], 1);
        expect_near(rank.term_coef[rank.term_ptr[d]], 1, 1e-12);
    }
    cst_arena_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random),   cmocka_unit_test(test_planar_loops),
        cmocka_unit_test(test_distance), cmocka_unit_test(test_hidden),
        cmocka_unit_test(test_empty),    cmocka_unit_test(test_tall),
        cmocka_unit_test(test_large),
    };
    return cmocka_run_group_tests_name("rank", tests, NULL, NULL);
}
