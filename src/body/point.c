/* SPDX-License-Identifier: MIT
 *
 * Point mass: q = r, u = r'. The tangent is the identity, L = 0. */
#include "body/body.h"

enum { N = 3 };

static void point_T(const real *q, const real *u, real *dq)
{
    (void)q;
    for (int i = 0; i < N; i++) dq[i] = u[i];
}

static void point_Tt(const real *q, const real *r, real *rho)
{
    (void)q;
    for (int i = 0; i < N; i++) rho[i] = r[i];
}

/* L = 0: nothing to add, in any of its transposes */
static void point_L(const real *a, const real *b, real *y) { (void)a, (void)b, (void)y; }

static void point_geo(const real *q, const real *r, real s, real *G)
{
    (void)q, (void)r, (void)s, (void)G;
}

static void point_rows(const real *q, const real *w, real *B)
{
    (void)q;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) B[i * N + j] = i == j ? w[0] : 0;
}

static void point_move(const real *q, const real *xi, real *q1)
{
    for (int i = 0; i < N; i++) q1[i] = q[i] + xi[i];
}

static const double translation[] = {1};
static const unsigned char unit[] = {0};

const cst_body_class CST_K(cst_body_point) = {
    .name = "point",
    .nvec = 1,
    .nscalar = 0,
    .nu = N,
    .translation = translation,
    .unit = unit,
    .T = point_T,
    .L = point_L,
    .Tt = point_Tt,
    .Lt = point_L,
    .Ltu = point_L,
    .geo = point_geo,
    .rows = point_rows,
    .move = point_move,
};
