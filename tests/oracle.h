/* SPDX-License-Identifier: MIT
 *
 * The oracle: kernels compiled on complex numbers, and derivatives by a complex step. With h =
 * 1e-40
 *
 *     f(x + i h d) = f(x) + i h f_x d - ...
 *
 * involves no difference of nearly equal numbers and no truncation: Im f / h is the derivative of
 * the code as written, to the last bit. */
#ifndef CST_TESTS_ORACLE_H
#define CST_TESTS_ORACLE_H

#include "body/body.h"
#include "element/element.h"
#include "expect.h"

#include <complex.h>
#undef I /* the name belongs to inertias */

/* The kernel headers once more, on complex numbers: every type and object gets a twin with the
 * suffix _oracle. */
typedef double complex oracle_complex;

#undef CST_BODY_BODY_H
#undef CST_ELEMENT_ELEMENT_H
#undef CST_K
#define CST_K(name) name##_oracle
#define real oracle_complex
#define cst_local cst_local_oracle
#define cst_force_class cst_force_class_oracle
#define cst_constraint_class cst_constraint_class_oracle
#define cst_body_class cst_body_class_oracle
#include "body/body.h"
#include "element/element.h"
#undef real
#undef cst_local
#undef cst_force_class
#undef cst_constraint_class
#undef cst_body_class
#undef CST_K
#define CST_K(name) name

/* out = f(in), analytic in every entry */
typedef void oracle_map(void *ctx, const oracle_complex *in, oracle_complex *out);

enum { ORACLE_MAX = 256 };
#define ORACLE_STEP 1e-40

/* d = f_in(in) direction, and the value when it is wanted */
static inline void oracle_direction(oracle_map *f, void *ctx, int nin, const double *in,
                                    const double *direction, int nout, double *value, double *d)
{
    oracle_complex z[ORACLE_MAX], y[ORACLE_MAX];
    expect_true(nin <= ORACLE_MAX && nout <= ORACLE_MAX);
    for (int i = 0; i < nin; i++) z[i] = in[i] + _Complex_I * (ORACLE_STEP * direction[i]);
    f(ctx, z, y);
    for (int i = 0; i < nout; i++) {
        if (value != NULL) value[i] = creal(y[i]);
        d[i] = cimag(y[i]) / ORACLE_STEP;
    }
}

/* J (nout x nin, row-major) = f_in */
static inline void oracle_jacobian(oracle_map *f, void *ctx, int nin, const double *in, int nout,
                                   double *J)
{
    double direction[ORACLE_MAX] = {0}, d[ORACLE_MAX];
    expect_true(nin <= ORACLE_MAX && nout <= ORACLE_MAX);
    for (int j = 0; j < nin; j++) {
        direction[j] = 1;
        oracle_direction(f, ctx, nin, in, direction, nout, NULL, d);
        direction[j] = 0;
        for (int i = 0; i < nout; i++) J[i * nin + j] = d[i];
    }
}

/* The same by central differences of real parts, to check the oracle itself: good to about h^2 +
 * 1e-16/h. */
static inline void oracle_differences(oracle_map *f, void *ctx, int nin, const double *in, int nout,
                                      double h, double *J)
{
    oracle_complex z[ORACLE_MAX], low[ORACLE_MAX], high[ORACLE_MAX];
    expect_true(nin <= ORACLE_MAX && nout <= ORACLE_MAX);
    for (int i = 0; i < nin; i++) z[i] = in[i];
    for (int j = 0; j < nin; j++) {
        z[j] = in[j] - h, f(ctx, z, low);
        z[j] = in[j] + h, f(ctx, z, high);
        z[j] = in[j];
        for (int i = 0; i < nout; i++) J[i * nin + j] = creal(high[i] - low[i]) / (2 * h);
    }
}

/* A block of rows x columns entries against a block of a larger matrix: relative to the largest
 * entry. */
#define expect_block(rows, columns, actual, lda, expected, ldb, tol, what)                         \
    expect_block_at(rows, columns, actual, lda, expected, ldb, tol, what, __FILE__, __LINE__)
#define expect_vector(n, actual, expected, tol, what)                                              \
    expect_block_at(1, n, actual, n, expected, n, tol, what, __FILE__, __LINE__)

static inline void expect_block_at(int rows, int columns, const double *actual, int lda,
                                   const double *expected, int ldb, double tol, const char *what,
                                   const char *file, int line)
{
    double scale = 1;
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < columns; j++) scale = fmax(scale, fabs(expected[i * ldb + j]));
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < columns; j++) {
            double a = actual[i * lda + j], b = expected[i * ldb + j];
            if (fabs(a - b) <= tol * scale) continue;
            print_error("%s[%d][%d] = %.17g, expected %.17g; block of size %.3g, tolerance %.3g\n",
                        what, i, j, a, b, scale, tol);
            _fail(file, line);
        }
}

static inline void random_vector(expect_random *rng, int n, double low, double high, double *v)
{
    for (int i = 0; i < n; i++) v[i] = expect_uniform(rng, low, high);
}

#endif
