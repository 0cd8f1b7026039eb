/* SPDX-License-Identifier: MIT
 *
 * Elastic force of an element of a beam between two nodes (absolute nodal coordinates), without
 * shear and torsion. With xi in [0, 1] along the element of length l, the cubic with the nodes'
 * places r and slopes s = dr/dx has
 *
 *     r_x = c_d d + c_0 s_0 + c_1 s_1,   d = (r_1 - r_0)/l
 *     c_d = 6 xi - 6 xi^2,   c_0 = 1 - 4 xi + 3 xi^2,   c_1 = -2 xi + 3 xi^2
 *
 * so that energies are functions of y = (d, s_0, s_1), which no translation changes:
 *
 *     U = EA l a(y) + EI/l b(y)
 *     a = 1/2 ebar^2,   ebar = 1/2 (integral r_x.r_x dxi - 1)            the mean of Green's strain
 * (class beam) a = 1/2 integral e^2 dxi,   e = 1/2 (r_x.r_x - 1)                  the strain itself
 * (class beam_green) b = 1/2 integral r_xixi.r_xixi dxi / l^2 = 1/2 y.By                curvature
 * |r_xx|
 *
 *     f = -P^T g,   g = dU/dy,   P = dy/dx
 *
 * Along an element the strain is a quartic and the curvature r_xx is linear: the element cannot
 * bend without straining locally, but the mean strain can stay zero. The integral of e^2 has degree
 * 8, for which five Gauss points are exact. */
#include "element/element.h"
#include "linalg/dense.h"

enum { L, EA, EI, NP };
enum { D, S0, S1, NV, NY = 3 * NV, NX = 12 };

typedef struct strain { /* a or b, its gradient and its Hessian */
    real u, y[NY], yy[NY * NY];
} strain;

/* u = 1/2 c y.My, M by blocks of I3 */
static void quadratic(const double M[NV][NV], double c, const real *y, strain *s)
{
    s->u = 0;
    for (int i = 0; i < NY; i++) {
        s->y[i] = 0;
        for (int j = 0; j < NY; j++) s->yy[i * NY + j] = i % 3 == j % 3 ? c * M[i / 3][j / 3] : 0;
        for (int k = 0; k < NV; k++) s->y[i] += c * M[i / 3][k] * y[3 * k + i % 3];
        s->u += 0.5 * y[i] * s->y[i];
    }
}

static void bending(const real *y, strain *s)
{
    static const double B[NV][NV] = {{12, -6, -6}, {-6, 4, 2}, {-6, 2, 4}};
    quadratic(B, 1, y, s);
}

/* ebar = 1/2 y.Ay/30 - 1/2;  a = 1/2 ebar^2,  a_y = ebar ebar_y,  a_yy = ebar_y ebar_y^T + ebar
 * ebar_yy */
static void mean(const real *y, strain *s)
{
    static const double A[NV][NV] = {{36, -3, -3}, {-3, 4, -1}, {-3, -1, 4}};
    quadratic(A, 1.0 / 30, y, s);
    real e = s->u - 0.5;
    for (int i = 0; i < NY; i++)
        for (int j = 0; j < NY; j++) s->yy[i * NY + j] = e * s->yy[i * NY + j] + s->y[i] * s->y[j];
    for (int i = 0; i < NY; i++) s->y[i] *= e;
    s->u = 0.5 * e * e;
}

/* a_y = sum w e c r_x,  a_yy = sum w c c^T (e 1 + r_x r_x^T) */
static void green(const real *y, strain *s)
{
    static const double point[5] = {0.046910077030668004, 0.23076534494715845, 0.5,
                                    0.76923465505284155, 0.953089922969332},
                        weight[5] = {0.11846344252809454, 0.23931433524968324, 0.28444444444444444,
                                     0.23931433524968324, 0.11846344252809454};
    *s = (strain){0};
    for (int k = 0; k < 5; k++) {
        double xi = point[k],
               c[NV] = {6 * xi * (1 - xi), (1 - xi) * (1 - 3 * xi), xi * (3 * xi - 2)};
        real r[3];
        for (int i = 0; i < 3; i++)
            r[i] = c[D] * y[i] + c[S0] * y[3 * S0 + i] + c[S1] * y[3 * S1 + i];
        real e = 0.5 * (v3_dot(r, r) - 1);
        s->u += 0.5 * weight[k] * e * e;
        for (int i = 0; i < NY; i++) {
            s->y[i] += weight[k] * e * c[i / 3] * r[i % 3];
            for (int j = 0; j < NY; j++)
                s->yy[i * NY + j] += weight[k] * c[i / 3] * c[j / 3] *
                                     ((i % 3 == j % 3 ? e : 0) + r[i % 3] * r[j % 3]);
        }
    }
}

typedef void axial(const real *y, strain *s);

static void reduced(const cst_local *e, real *y)
{
    for (int i = 0; i < 3; i++) {
        y[3 * D + i] = (e->x[6 + i] - e->x[i]) / e->p[L];
        y[3 * S0 + i] = e->x[3 + i];
        y[3 * S1 + i] = e->x[9 + i];
    }
}

/* f = -P^T g */
static void pull(const real *g, real l, real *f)
{
    for (int i = 0; i < 3; i++) {
        f[i] = g[3 * D + i] / l, f[6 + i] = -f[i];
        f[3 + i] = -g[3 * S0 + i];
        f[9 + i] = -g[3 * S1 + i];
    }
}

static void force(const cst_local *e, axial *axial_strain, real *f)
{
    real y[NY], g[NY], l = e->p[L];
    strain a, b;
    reduced(e, y);
    axial_strain(y, &a);
    bending(y, &b);
    for (int i = 0; i < NY; i++) g[i] = e->p[EA] * l * a.y[i] + e->p[EI] / l * b.y[i];
    pull(g, l, f);
}

/* f_x = -P^T U_yy P */
static void stiffness(const cst_local *e, const real *H, real *f_x)
{
    static const int from[4] = {D, S0, D, S1};
    real l = e->p[L], P[4] = {-1 / l, 1, 1 / l, 1};
    for (int i = 0; i < NX; i++)
        for (int j = 0; j < NX; j++)
            f_x[i * NX + j] =
                -P[i / 3] * P[j / 3] * H[(3 * from[i / 3] + i % 3) * NY + 3 * from[j / 3] + j % 3];
}

/* f = -P^T g(y(x, l), l, EA, EI):  f_l = -P_l^T g - P^T (g_l + U_yy y_l),  y_l = (-d/l, 0, 0),  P_l
 * = -P/l on d */
static void numbers(const cst_local *e, const strain *a, const strain *b, const real *H,
                    const real *y, real *f_p)
{
    real l = e->p[L], g[3][NY], f[3][NX];
    for (int i = 0; i < NY; i++) {
        g[L][i] = e->p[EA] * a->y[i] - e->p[EI] / (l * l) * b->y[i];
        for (int j = 0; j < 3; j++) g[L][i] -= H[i * NY + j] * y[j] / l;
        if (i < 3) g[L][i] -= (e->p[EA] * a->y[i] + e->p[EI] / (l * l) * b->y[i]);
        g[EA][i] = l * a->y[i];
        g[EI][i] = b->y[i] / l;
    }
    for (int i = 0; i < NX * e->np; i++) f_p[i] = 0;
    for (int k = 0; k < NP; k++) {
        pull(g[k], l, f[k]);
        for (int i = 0; i < NX; i++) f_p[i * e->np + k] = f[k][i];
    }
}

static void partials(const cst_local *e, axial *axial_strain, real *f_x, real *f_xd, real *f_p)
{
    real y[NY], H[NY * NY], l = e->p[L];
    strain a, b;
    reduced(e, y);
    axial_strain(y, &a);
    bending(y, &b);
    for (int i = 0; i < NY * NY; i++) H[i] = e->p[EA] * l * a.yy[i] + e->p[EI] / l * b.yy[i];
    if (f_x != NULL) stiffness(e, H, f_x);
    for (int i = 0; f_xd != NULL && i < NX * NX; i++) f_xd[i] = 0;
    if (f_p != NULL) numbers(e, &a, &b, H, y, f_p);
}

/* U_l = EA a - EI/l^2 b + U_y . y_l */
static void energy(const cst_local *e, axial *axial_strain, real *U, real *U_p)
{
    real y[NY], l = e->p[L];
    strain a, b;
    reduced(e, y);
    axial_strain(y, &a);
    bending(y, &b);
    if (U != NULL) *U = e->p[EA] * l * a.u + e->p[EI] / l * b.u;
    if (U_p == NULL) return;
    for (int i = 0; i < e->np; i++) U_p[i] = 0;
    U_p[L] = e->p[EA] * (a.u - v3_dot(a.y, y)) - e->p[EI] / (l * l) * (b.u + v3_dot(b.y, y));
    U_p[EA] = l * a.u;
    U_p[EI] = b.u / l;
}

#define BEAM_CLASS(kind, strain)                                                                   \
    static void kind##_force(const cst_local *e, real *f, real *zd)                                \
    {                                                                                              \
        (void)zd, force(e, strain, f);                                                             \
    }                                                                                              \
    static void kind##_partials(const cst_local *e, real *f_x, real *f_xd, real *f_z, real *f_p)   \
    {                                                                                              \
        (void)f_z;                                                                                 \
        partials(e, strain, f_x, f_xd, f_p);                                                       \
    }                                                                                              \
    static int kind##_energy(const cst_local *e, real *V)                                          \
    {                                                                                              \
        return energy(e, strain, V, NULL), 1;                                                      \
    }                                                                                              \
    static void kind##_energy_p(const cst_local *e, real *V_p) { energy(e, strain, NULL, V_p); }   \
    const cst_force_class CST_K(cst_force_##kind) = {                                              \
        .name = #kind,                                                                             \
        .nslot = 4,                                                                                \
        .np = NP,                                                                                  \
        .force = kind##_force,                                                                     \
        .partials = kind##_partials,                                                               \
        .energy = kind##_energy,                                                                   \
        .energy_p = kind##_energy_p,                                                               \
        .slots = "pdpd",                                                                           \
    };

BEAM_CLASS(beam, mean)
BEAM_CLASS(beam_green, green)
