/* SPDX-License-Identifier: MIT
 *
 * Dense least squares of a few unknowns, by LAPACK. Matrices are row-major. */
#ifndef CST_LINALG_LEAST_H
#define CST_LINALG_LEAST_H

#include "base/arena.h"

/* Q^T [A b] = [R c; 0 rest]: |A x + b|^2 = |R x + c|^2 + rest^2. A (m x n), m >= n; R (n x n,
 * upper), c (n) */
int cst_least_reduce(cst_arena *a, int m, int n, const double *A, const double *b, double *R,
                     double *c);

/* x that minimises |A x + b|, A (m x n) of full rank. Returns 0 if it is not of full rank or LAPACK
 * fails. A and b are overwritten. */
int cst_least_solve(cst_arena *a, int m, int n, double *A, double *b, double *x);

/* A = U diag(s) V^T, s decreasing; V^T (n x n) by rows. 0: it does not converge */
int cst_svd(cst_arena *a, int n, const double *A, double *s, double *Vt);

#endif
