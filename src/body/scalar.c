/* SPDX-License-Identifier: MIT
 *
 * Scalar of its own (the angle of a shaft, the travel of a slide): q and u = q' are single numbers,
 * L = 0. It carries no 3-vector, so no marker moves with it. */
#include "body/body.h"

#include <stddef.h>

enum { N = 1 };

static void scalar_T(const real *q, const real *u, real *dq)
{
    (void)q;
    for (int i = 0; i < N; i++) dq[i] = u[i];
}

static void scalar_Tt(const real *q, const real *r, real *rho)
{
    (void)q;
    for (int i = 0; i < N; i++) rho[i] = r[i];
}

/* L = 0: nothing to add, in any of its transposes */
static void scalar_L(const real *a, const real *b, real *y) { (void)a, (void)b, (void)y; }

static void scalar_geo(const real *q, const real *r, real s, real *G)
{
    (void)q, (void)r, (void)s, (void)G;
}

static void scalar_rows(const real *q, const real *w, real *B)
{
    (void)q, (void)w;
    for (int i = 0; i < 3; i++) B[i] = 0;
}

static void scalar_move(const real *q, const real *xi, real *q1)
{
    for (int i = 0; i < N; i++) q1[i] = q[i] + xi[i];
}

const cst_body_class CST_K(cst_body_scalar) = {
    .name = "scalar",
    .nvec = 0,
    .nscalar = 1,
    .nu = N,
    .translation = NULL,
    .unit = NULL,
    .T = scalar_T,
    .L = scalar_L,
    .Tt = scalar_Tt,
    .Lt = scalar_L,
    .Ltu = scalar_L,
    .geo = scalar_geo,
    .rows = scalar_rows,
    .move = scalar_move,
};
