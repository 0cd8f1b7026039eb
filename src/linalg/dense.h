/* SPDX-License-Identifier: MIT
 *
 * Small dense things: 3-vectors on `real`, and LU with partial pivoting for a handful of unknowns.
 */
#ifndef CST_LINALG_DENSE_H
#define CST_LINALG_DENSE_H

#include "base/scalar.h"

static inline real v3_dot(const real *a, const real *b)
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}
static inline void v3_cross(const real *a, const real *b, real *c)
{
    real x = a[1] * b[2] - a[2] * b[1], y = a[2] * b[0] - a[0] * b[2],
         z = a[0] * b[1] - a[1] * b[0];
    c[0] = x, c[1] = y, c[2] = z;
}
static inline void v3_sub(const real *a, const real *b, real *c)
{
    for (int i = 0; i < 3; i++) c[i] = a[i] - b[i];
}
static inline void v3_axpy(real s, const real *a, real *y) /* y += s a */
{
    for (int i = 0; i < 3; i++) y[i] += s * a[i];
}
static inline real v3_norm(const real *a) { return sc_sqrt(v3_dot(a, a)); }

/* A (n x n row-major) x = b, in place; 0 when singular */
int CST_K(cst_dense_solve)(int n, real *A, real *b);

#endif
