/* SPDX-License-Identifier: MIT
 *
 * Small dense systems and 3-vectors: residuals, identities, and the derivative of a solution by a
 * complex step. */
#include "expect.h"
#include "linalg/dense.h"

#include <complex.h>

int cst_dense_solve_oracle(int n, double complex *A, double complex *b);

enum { N = 12 };

static void test_solution(void **state)
{
    (void)state;
    expect_random r = {1};
    for (int sample = 0; sample < 200; sample++) {
        int n = 1 + expect_below(&r, N);
        double A[N * N], LU[N * N], b[N], x[N];
        for (int k = 0; k < n * n; k++) A[k] = LU[k] = expect_uniform(&r, -1, 1);
        for (int i = 0; i < n; i++) b[i] = x[i] = expect_uniform(&r, -1, 1);
        if (n > 1) A[0] = LU[0] = 0; /* needs an exchange */
        expect_int(cst_dense_solve(n, LU, x), 1);
        for (int i = 0; i < n; i++) {
            double sum = -b[i], size = fabs(b[i]);
            for (int j = 0; j < n; j++)
                sum += A[i * n + j] * x[j], size += fabs(A[i * n + j] * x[j]);
            expect_true(fabs(sum) <= 1e-13 * size);
        }
    }
}

static void test_singular(void **state)
{
    (void)state;
    double zero_column[9] = {1, 0, 2, 3, 0, 4, 5, 0, 7}, twice[4] = {1, 2, 2, 4}, nan[1] = {NAN},
           b[3] = {1, 1, 1};
    expect_int(cst_dense_solve(3, zero_column, b), 0);
    expect_int(cst_dense_solve(2, twice, b), 0);
    expect_int(cst_dense_solve(1, nan, b), 0);
    expect_int(cst_dense_solve(0, NULL, NULL), 1);
}

/* A x = b:  A x' = b' - A' x */
static void test_derivative(void **state)
{
    (void)state;
    expect_random r = {2};
    const double h = 1e-40;
    for (int sample = 0; sample < 50; sample++) {
        int n = 1 + expect_below(&r, N);
        double complex A[N * N], x[N];
        double A0[N * N], Ad[N * N], bd[N], x0[N], rhs[N];
        for (int k = 0; k < n * n; k++) {
            A0[k] = expect_uniform(&r, -1, 1) + 3.0 * (k % (n + 1) == 0),
            Ad[k] = expect_uniform(&r, -1, 1);
            A[k] = A0[k] + _Complex_I * (h * Ad[k]);
        }
        for (int i = 0; i < n; i++) {
            x0[i] = expect_uniform(&r, -1, 1), bd[i] = expect_uniform(&r, -1, 1);
            x[i] = x0[i] + _Complex_I * (h * bd[i]);
        }
        double LU[N * N];
        memcpy(LU, A0, sizeof LU);
        expect_int(cst_dense_solve(n, LU, x0), 1);
        expect_int(cst_dense_solve_oracle(n, A, x), 1);
        for (int i = 0; i < n; i++) {
            rhs[i] = bd[i];
            for (int j = 0; j < n; j++) rhs[i] -= Ad[i * n + j] * x0[j];
        }
        expect_int(cst_dense_solve(n, A0, rhs), 1);
        for (int i = 0; i < n; i++) {
            expect_near(creal(x[i]), x0[i], 1e-14);
            expect_near(cimag(x[i]) / h, rhs[i], 1e-12);
        }
    }
}

/* a.(a x b) = 0, |a x b|^2 + (a.b)^2 = |a|^2 |b|^2, in place too */
static void test_vectors(void **state)
{
    (void)state;
    expect_random r = {3};
    for (int sample = 0; sample < 100; sample++) {
        double a[3], b[3], c[3], d[3];
        for (int i = 0; i < 3; i++)
            a[i] = expect_uniform(&r, -2, 2), b[i] = expect_uniform(&r, -2, 2);
        v3_cross(a, b, c);
        expect_near(v3_dot(a, c), 0, 1e-14);
        expect_near(v3_dot(b, c), 0, 1e-14);
        expect_near(v3_dot(c, c) + v3_dot(a, b) * v3_dot(a, b), v3_dot(a, a) * v3_dot(b, b), 1e-14);
        expect_near(v3_norm(a) * v3_norm(a), v3_dot(a, a), 1e-15);
        v3_sub(a, b, d);
        v3_axpy(1, b, d);
        for (int i = 0; i < 3; i++) expect_near(d[i], a[i], 1e-15);
        memcpy(d, a, sizeof d);
        v3_cross(d, b, d);
        for (int i = 0; i < 3; i++) expect_near(d[i], c[i], 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_solution),
        cmocka_unit_test(test_singular),
        cmocka_unit_test(test_derivative),
        cmocka_unit_test(test_vectors),
    };
    return cmocka_run_group_tests_name("dense", tests, NULL, NULL);
}
