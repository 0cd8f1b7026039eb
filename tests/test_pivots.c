/* SPDX-License-Identifier: MIT
 *
 * Signs of pivots: between two times at which a matrix A + t B is regular their product changes its
 * sign exactly when the determinant does; and two equal parts, whose determinant is a square, are
 * seen all the same. */
#include "expect.h"
#include "linalg/pivots.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void dgetrf_(const int *m, const int *n, double *a, const int *lda, int *pivot, int *info);

enum { MOST = 24 };

static unsigned long long seed = 7;
static double uniform(void)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(seed >> 11) / 4503599627370496.0 - 1;
}

/* LAPACK: is the determinant less than 0? */
static int determinant_negative(const cst_rows *m, const double *val)
{
    double a[MOST * MOST] = {0};
    int pivot[MOST], info, n = m->nrow, negative = 0;
    for (int i = 0; i < n; i++)
        for (int p = m->ptr[i]; p < m->ptr[i + 1]; p++) a[i + n * m->col[p]] = val[p];
    dgetrf_(&n, &n, a, &n, pivot, &info);
    expect_true(info == 0);
    for (int i = 0; i < n; i++) negative ^= (pivot[i] != i + 1) ^ (a[i + n * i] < 0);
    return negative;
}

static int parity(int n, const unsigned char *negative)
{
    int sum = 0;
    for (int i = 0; i < n; i++) sum ^= negative[i];
    return sum;
}

/* n rows with a full diagonal and a third of the rest */
static cst_rows random_rows(int n, int *ptr, int *col)
{
    int nnz = 0;
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++)
            if (i == j || uniform() > 0.3) col[nnz++] = j;
        ptr[i + 1] = nnz;
    }
    return (cst_rows){.nrow = n, .ncol = n, .ptr = ptr, .col = col};
}

/* The same twice, along the diagonal */
static cst_rows twice(const cst_rows *m, int *ptr, int *col)
{
    const int n = m->nrow, half = m->ptr[n];
    for (int i = 0; i < n; i++) ptr[n + i + 1] = half + ptr[i + 1];
    for (int p = 0; p < half; p++) col[half + p] = n + col[p];
    return (cst_rows){.nrow = 2 * n, .ncol = 2 * n, .ptr = ptr, .col = col};
}

static void blend(int n, const double *a, const double *b, double t, double *to)
{
    for (int i = 0; i < n; i++) to[i] = a[i] + t * b[i];
}

static void as_the_determinant(void **state)
{
    (void)state;
    int changes = 0;
    for (int k = 0; k < 200; k++) {
        int ptr[MOST + 1] = {0}, col[MOST * MOST], n = 2 + k % 20;
        double a[MOST * MOST], b[MOST * MOST], val[MOST * MOST];
        unsigned char before[MOST], now[MOST];
        cst_arena arena = {0};
        cst_rows m = random_rows(n, ptr, col);
        for (int i = 0; i < ptr[n]; i++) val[i] = a[i] = uniform(), b[i] = uniform();
        m.val = val;
        cst_pivots *p = cst_pivots_new(&arena, &m);
        expect_true(p != NULL);
        cst_pivots_signs(p, val, before);
        int was = determinant_negative(&m, val);
        for (double t = 0.1; t < 2; t += 0.1) {
            blend(ptr[n], a, b, t, val);
            cst_pivots_signs(p, val, now);
            int is = determinant_negative(&m, val);
            expect_true((parity(n, before) != parity(n, now)) == (was != is));
            changes += was != is;
            memcpy(before, now, (size_t)n), was = is;
        }
        cst_arena_free(&arena);
    }
    expect_true(changes > 100);
}

static void two_at_once(void **state)
{
    (void)state;
    int seen = 0;
    for (int k = 0; k < 100; k++) {
        int ptr[MOST + 1] = {0}, col[MOST * MOST], n = 2 + k % 10;
        double a[MOST * MOST], b[MOST * MOST], val[MOST * MOST];
        unsigned char before[MOST], now[MOST];
        cst_arena arena = {0};
        const cst_rows one = random_rows(n, ptr, col);
        cst_rows m = twice(&one, ptr, col);
        const int half = ptr[n];
        for (int i = 0; i < half; i++)
            val[i] = a[i] = a[half + i] = uniform(), b[i] = b[half + i] = uniform();
        memcpy(val + half, val, sizeof *val * (size_t)half);
        m.val = val;
        const int was = determinant_negative(&one, val);
        cst_pivots *p = cst_pivots_new(&arena, &m);
        expect_true(p != NULL);
        cst_pivots_signs(p, val, before);
        blend(2 * half, a, b, 1, val);
        cst_pivots_signs(p, val, now);
        if (determinant_negative(&one, val) != was)
            seen++, expect_true(memcmp(before, now, (size_t)(2 * n)) != 0);
        cst_arena_free(&arena);
    }
    expect_true(seen > 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(as_the_determinant),
                                       cmocka_unit_test(two_at_once)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
