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

/* J -= u v^T over the slots that g_m touches */
static void subtract_outer(int m, const real u[NX], const real v[NX], real *J)
{
    for (int a = 0; a < ntouched[m]; a++)
        for (int i = 3 * touched[m][a], end = i + 3; i < end; i++)
            for (int b = 0; b < ntouched[m]; b++)
                v3_axpy(-u[i], v + 3 * touched[m][b], J + i * NX + 3 * touched[m][b]);
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
    for (int i = 0; f_x != NULL && i < NX * NX; i++) f_x[i] = 0;
    for (int i = 0; f_xd != NULL && i < NX * NX; i++) f_xd[i] = 0;
    for (int i = 0; f_p != NULL && i < NX * e->np; i++) f_p[i] = 0;
    for (int m = 0; m < NG; m++) {
        real G[NX], Gd[NX], u[NX];
        gradient(m, e->x, G);
        gradient(m, e->xd, Gd);
        real g = value(m, e->x, G), gd = rate(m, e->xd, G);
        for (int n = 0; n < ntouched[m]; n++)
            for (int i = 3 * touched[m][n], end = i + 3; i < end; i++) {
                u[i] = k[m] * G[i] + c[m] * Gd[i];
                Gd[i] = c[m] * G[i]; /* from here on c G, for f_xd */
                if (f_p != NULL) f_p[i * e->np + m] = -g * G[i], f_p[i * e->np + NG + m] = -gd * G[i];
            }
        if (f_x != NULL) subtract_outer(m, G, u, f_x), subtract_hessian(m, k[m] * g + c[m] * gd, f_x);
        if (f_xd != NULL) subtract_outer(m, G, Gd, f_xd);
    }
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
    for (int m = 0; m < NG; m++) {
        real G[NX];
        gradient(m, e->x, G);
        real g = value(m, e->x, G);
        V_p[m] = 0.5 * g * g, V_p[NG + m] = 0;
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
