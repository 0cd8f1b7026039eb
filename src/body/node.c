/* SPDX-License-Identifier: MIT
 *
 * Node of a beam: q = (r, r'), its place and the slope dr/dx along the beam; u = q'. The tangent is
 * the identity, L = 0. The slope is no unit vector: its length is the stretch. Inertia between
 * neighbouring nodes is in links (model.h). */
#include "body/body.h"

enum { N = 6, NVEC = 2 };

static void node_T(const real *q, const real *u, real *dq)
{
    (void)q;
    for (int i = 0; i < N; i++) dq[i] = u[i];
}

static void node_Tt(const real *q, const real *r, real *rho)
{
    (void)q;
    for (int i = 0; i < N; i++) rho[i] = r[i];
}

/* L = 0: nothing to add, in any of its transposes */
static void node_L(const real *a, const real *b, real *y) { (void)a, (void)b, (void)y; }

static void node_geo(const real *q, const real *r, real s, real *G)
{
    (void)q, (void)r, (void)s, (void)G;
}

static void node_rows(const real *q, const real *w, real *B)
{
    (void)q;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < N; j++) B[i * N + j] = j % 3 == i ? w[j / 3] : 0;
}

static void node_inertia(const real *q, const real *m, real s, real *G)
{
    (void)q;
    for (int i = 0; i < 3; i++) {
        G[i * N + i] += s * m[0];
        G[i * N + 3 + i] += s * m[1];
        G[(3 + i) * N + i] += s * m[1];
        G[(3 + i) * N + 3 + i] += s * m[2];
    }
}

static void node_move(const real *q, const real *xi, real *q1)
{
    for (int i = 0; i < N; i++) q1[i] = q[i] + xi[i];
}

static const double translation[NVEC] = {1, 0};
static const unsigned char unit[NVEC] = {0, 0};

const cst_body_class CST_K(cst_body_node) = {
    .name = "node",
    .nvec = NVEC,
    .nscalar = 0,
    .nu = N,
    .translation = translation,
    .unit = unit,
    .T = node_T,
    .L = node_L,
    .Tt = node_Tt,
    .Lt = node_L,
    .Ltu = node_L,
    .geo = node_geo,
    .rows = node_rows,
    .inertia = node_inertia,
    .move = node_move,
};
