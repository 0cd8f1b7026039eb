/* SPDX-License-Identifier: MIT
 *
 * Corrections with a poor neighbour of the matrix: plain ones grow without end, those of
 * linalg/krylov.h find the solution, and stay there. */
#include "expect.h"
#include "linalg/krylov.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N = 12 };

/* z = b - A x, B = 1. Diagonal entries between 0.5 and 6: the plain correction grows up to fivefold
 */
static void correction(const double *A, const double *b, const double *x, double *z)
{
    for (int i = 0; i < N; i++) {
        z[i] = b[i];
        for (int j = 0; j < N; j++) z[i] -= A[i * N + j] * x[j];
    }
}

static void poor_neighbour(void **state)
{
    (void)state;
    expect_random r = {7};
    for (int trial = 0; trial < 200; trial++) {
        cst_arena arena = {0}, *a = &arena;
        cst_krylov k = cst_krylov_new(a, N, N / 2);
        double A[N * N], b[N], exact[N], x[N] = {0}, plain[N] = {0}, z[N], far = 0;
        for (int i = 0; i < N * N; i++)
            A[i] = i % (N + 1) ? expect_uniform(&r, -0.1, 0.1) : expect_uniform(&r, 0.5, 6);
        A[0] = 6;
        for (int i = 0; i < N; i++) exact[i] = expect_uniform(&r, -1, 1), b[i] = 0;
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++) b[i] += A[i * N + j] * exact[j];
        cst_krylov_begin(&k, 1);
        int noise = 0;
        for (int it = 0; it < 2 * N; it++) {
            correction(A, b, x, z);
            noise |= cst_krylov_next(&k, x, z) && it < N / 2;
            correction(A, b, plain, z);
            for (int i = 0; i < N; i++) plain[i] += z[i];
        }
        expect_true(!noise);
        for (int i = 0; i < N; i++)
            expect_near(x[i], exact[i], 1e-12), far = fmax(far, fabs(plain[i] - exact[i]));
        expect_true(far > 1e6);
        cst_arena_free(a);
    }
}

/* What is left of the correction is rounding that no longer depends on x, or hardly: a step along
 * it would be as long as rounding says. */
static void rounding_stays_rounding(void **state)
{
    (void)state;
    for (double depends = 1e-6; depends > 1e-18; depends /= 10) {
        cst_arena a = {0};
        cst_krylov k = cst_krylov_new(&a, N, N / 2);
        double x[N] = {0}, z[N];
        cst_krylov_begin(&k, 1);
        int noise = 0;
        for (int it = 0; it < 2 * N && !noise; it++) {
            for (int i = 0; i < N; i++) z[i] = it ? 1e-20 * (1 - it * depends) : 1e-16;
            noise = cst_krylov_next(&k, x, z);
        }
        if (depends < 1e-7) expect_true(noise);
        for (int i = 0; i < N; i++) expect_true(fabs(x[i] - 1e-16) < 1e-13);
        cst_arena_free(&a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(poor_neighbour),
        cmocka_unit_test(rounding_stays_rounding),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
