/* SPDX-License-Identifier: MIT
 *
 * A x = b by corrections z(x) = B (b - A x) with a factored neighbour B^-1 of A. Plain corrections
 * x += z converge only while |1 - B A| < 1. Here each correction is a direction p along which z(x +
 * c p) = z(x) - c B A p is made smallest, after those before: generalised conjugate residuals
 * (Eisenstat, Elman, Schultz, SIAM J. Numer. Anal. 20 (1983) 345), preconditioned from the left. B
 * A p is the change of z itself, so that A is applied once per correction, as without it. */
#ifndef CST_LINALG_KRYLOV_H
#define CST_LINALG_KRYLOV_H

#include "base/arena.h"

#define CST_KRYLOV_KEPT 24 /* directions; then it begins anew where it stands */

typedef struct cst_krylov {
    int n, first, kept; /* unknowns; how many are of a first kind: the others have another unit;
                           directions so far */
    double *x, *z;      /* (n) the best point so far, and its correction */
    double *p, *ap;   /* (CST_KRYLOV_KEPT, n) directions; what they take from z: orthonormal in the
                         weights */
    double unit;      /* what an unknown of the second kind is per one of the first */
    double weight[2]; /* of the two kinds */
} cst_krylov;

cst_krylov cst_krylov_new(cst_arena *a, int n, int first);
void cst_krylov_begin(cst_krylov *k, double unit);
/* x: where the correction z was computed. On return x is the point at which it is needed next; z:
 * the correction that led there. 1: z was rounding, nothing is left to correct */
int cst_krylov_next(cst_krylov *k, double *x, double *z);

#endif
