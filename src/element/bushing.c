/* SPDX-License-Identifier: MIT
 *
 * Bushing between two triads (a, a1..a3) and (b, b1..b3): six springs and dampers on the deformations
 *
 *     g_m = a_m.(b - a),  m = 1..3
 *     g_4 = 1/2 (a3.b2 - a2.b3) and cyclic: axial vector of the relative rotation, about one axis its sine
 *     F_m = k_m g_m + c_m g_m',   f = -sum_m F_m g_m,x,   V = 1/2 sum_m k_m g_m^2
 *
 * Every g is bilinear in the slots: G(x) = g_x is linear in x, H = g_xx is constant and H x' = G(x'). */
#include "element/element.h"
#include "linalg/dense.h"

#include <stddef.h>

enum { A, B, A1, A2, A3, B1, B2, B3, NX = 24, NG = 6, NP = 12 };

/* g = sum over two pairs of w x_i.x_j */
static const struct pair {
    int i, j;
    double w;
} pairs[NG][2] = {
    {{A, A1, -1}, {B, A1, 1}},       {{A, A2, -1}, {B, A2, 1}},       {{A, A3, -1}, {B, A3, 1}},
    {{A3, B2, 0.5}, {A2, B3, -0.5}}, {{A1, B3, 0.5}, {A3, B1, -0.5}}, {{A2, B1, 0.5}, {A1, B2, -0.5}},
};
/* the slots of each g once: two i, then one or two j */
static const int touched[NG][4] = {
    {A, B, A1}, {A, B, A2}, {A, B, A3}, {A3, A2, B2, B3}, {A1, A3, B3, B1}, {A2, A1, B1, B2},
};
static const int ntouched[NG] = {3, 3, 3, 4, 4, 4};

static void gradient(int m, const real *x, real G[NX]) /* only touched slots are written */
{
    for (int n = 0; n < ntouched[m]; n++)
        for (int k = 0; k < 3; k++) G[3 * touched[m][n] + k] = 0;
    for (const struct pair *c = pairs[m]; c < pairs[m] + 2; c++) {
        v3_axpy(c->w, x + 3 * c->j, G + 3 * c->i);
        v3_axpy(c->w, x + 3 * c->i, G + 3 * c->j);
    }
}

/* g is linear in its j slots: g = sum_j G_j.x_j. For the translations that is (b - a).a_m, which keeps its
 * digits far from the origin, where b.a_m - a.a_m does not. */
static real value(int m, const real *x, const real G[NX])
{
    real g = 0;
    for (int n = 2; n < ntouched[m]; n++) g += v3_dot(G + 3 * touched[m][n], x + 3 * touched[m][n]);
    return g;
}

static real rate(int m, const real *xd, const real G[NX])
{
    real g = 0;
    for (int n = 0; n < ntouched[m]; n++) g += v3_dot(G + 3 * touched[m][n], xd + 3 * touched[m][n]);
    return g;
}

static void bushing_force(const cst_local *e, real *f, real *zd)
{
    (void)zd;
    const real *k = e->p, *c = e->p + NG;
    for (int i = 0; i < NX; i++) f[i] = 0;
    for (int m = 0; m < NG; m++) {
        real G[NX];
        gradient(m, e->x, G);
        real F = k[m] * value(m, e->x, G) + c[m] * rate(m, e->xd, G);
        for (int n = 0; n < ntouched[m]; n++) v3_axpy(-F, G + 3 * touched[m][n], f + 3 * touched[m][n]);
    }
}

/* J = -sum_m G_m v_m^T, row by row: a slot is touched by at most three g (0 pads: G is zero there). Whole
 * rows in one pass took 1.2 us for both matrices, 3 x 3 blocks added one by one 1.7 us. */
static void outer(const real *G, const real *v, real *restrict J)
{
    static const int by_slot[][3] = {
        [A] = {0, 1, 2},  [B] = {0, 1, 2},  [A1] = {0, 4, 5}, [A2] = {1, 3, 5},
        [A3] = {2, 3, 4}, [B1] = {0, 4, 5}, [B2] = {0, 3, 5}, [B3] = {0, 3, 4},
    };
    for (int i = 0; i < NX; i++, J += NX) {
        const int *m = by_slot[i / 3];
        const real *v0 = v + m[0] * NX, *v1 = v + m[1] * NX, *v2 = v + m[2] * NX;
        real g0 = -G[m[0] * NX + i], g1 = -G[m[1] * NX + i], g2 = -G[m[2] * NX + i];
        for (int j = 0; j < NX; j++) J[j] = g0 * v0[j] + g1 * v1[j] + g2 * v2[j];
    }
}

static void subtract_hessian(int m, real F, real *J) /* J -= F H */
{
    for (const struct pair *c = pairs[m]; c < pairs[m] + 2; c++)
        for (int k = 0; k < 3; k++) {
            J[(3 * c->i + k) * NX + 3 * c->j + k] -= F * c->w;
            J[(3 * c->j + k) * NX + 3 * c->i + k] -= F * c->w;
        }
}

/* f_x  = -sum_m (G (k G + c G(x'))^T + F H)
 * f_xd = -sum_m c G G^T,   f_k = -g G,   f_c = -g' G */
static void bushing_partials(const cst_local *e, real *f_x, real *f_xd, real *f_z, real *f_p)
{
    (void)f_z;
    const real *k = e->p, *c = e->p + NG;
    real G[NG * NX] = {0}, Gd[NG * NX] = {0}, u[NG * NX], g[NG], gd[NG];
    for (int m = 0; m < NG; m++) {
        gradient(m, e->x, G + m * NX);
        gradient(m, e->xd, Gd + m * NX);
        g[m] = value(m, e->x, G + m * NX), gd[m] = rate(m, e->xd, G + m * NX);
    }
    if (f_x != NULL) {
        for (int i = 0; i < NG * NX; i++) u[i] = k[i / NX] * G[i] + c[i / NX] * Gd[i];
        outer(G, u, f_x);
        for (int m = 0; m < NG; m++) subtract_hessian(m, k[m] * g[m] + c[m] * gd[m], f_x);
    }
    if (f_xd != NULL) {
        for (int i = 0; i < NG * NX; i++) u[i] = c[i / NX] * G[i];
        outer(G, u, f_xd);
    }
    if (f_p == NULL) return;
    for (int i = 0; i < NX * e->np; i++) f_p[i] = 0;
    for (int m = 0; m < NG; m++)
        for (int i = 0; i < NX; i++)
            f_p[i * e->np + m] = -g[m] * G[m * NX + i], f_p[i * e->np + NG + m] = -gd[m] * G[m * NX + i];
}

static int bushing_energy(const cst_local *e, real *V)
{
    *V = 0;
    for (int m = 0; m < NG; m++) {
        real G[NX];
        gradient(m, e->x, G);
        real g = value(m, e->x, G);
        *V += 0.5 * e->p[m] * g * g;
    }
    return 1;
}

static void bushing_energy_p(const cst_local *e, real *V_p)
{
    for (int i = 0; i < e->np; i++) V_p[i] = 0;
    for (int m = 0; m < NG; m++) {
        real G[NX];
        gradient(m, e->x, G);
        real g = value(m, e->x, G);
        V_p[m] = 0.5 * g * g;
    }
}

const cst_force_class CST_K(cst_force_bushing) = {
    .name = "bushing",
    .nslot = 8,
    .np = NP,
    .nz = 0,
    .force = bushing_force,
    .partials = bushing_partials,
    .energy = bushing_energy,
    .energy_p = bushing_energy_p,
    .slots = "ppdddddd",
};
