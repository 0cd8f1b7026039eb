/* SPDX-License-Identifier: MIT
 *
 * Bushing between two triads (a, a1..a3) and (b, b1..b3): six springs and dampers on the
 * deformations
 *
 *     g_m = a_m.(b - a),  m = 1..3
 *     g_4 = s w_1,  w_1 = 1/2 (a3.b2 - a2.b3) and cyclic,  s = theta/sin(theta),  cos(theta) = c =
 * 1/2 (sum a_i.b_i - 1) F_m = k_m g_m + c_m g_m',   f = -sum_m F_m g_m,x,   V = 1/2 sum_m k_m g_m^2
 *
 * w is the axial vector of the relative rotation, of length sin(theta): g_4..g_6 is the rotation
 * vector. w and c are bilinear in the slots, W = w_x and C = c_x linear, and W x' = W(x') where the
 * Hessian of w acts on x'. */
#include "element/element.h"
#include "linalg/dense.h"

#include <stddef.h>

enum { A, B, A1, A2, A3, B1, B2, B3, NX = 24, NG = 6, NT = 3, NP = 12 };

/* bilinear part of g: sum over two pairs of weight x_i.x_j */
static const struct pair {
    int i, j;
    double w;
} pairs[NG][2] = {
    {{A, A1, -1}, {B, A1, 1}},       {{A, A2, -1}, {B, A2, 1}},
    {{A, A3, -1}, {B, A3, 1}},       {{A3, B2, 0.5}, {A2, B3, -0.5}},
    {{A1, B3, 0.5}, {A3, B1, -0.5}}, {{A2, B1, 0.5}, {A1, B2, -0.5}},
};

/* s = theta/sin(theta) and its derivatives by c. Near c = 1 by its series in x = 1 - c, s = sum a_k
 * (x/2)^k, a_k = a_(k-1) 2k/(2k+1). Above 165 degrees (c < LAST) by its parabola there: at 180 the
 * rotation vector has two values. */
#define LAST (-0.96)

static void stretch(real c, real s[3])
{
    if (sc_val(c) > 0.5) {
        real x = (1 - c) / 2, a = 1;
        s[0] = s[1] = s[2] = 0;
        for (int k = 0; k < 40; k++) { /* a x^k, its first and second derivative by x; x <= 1/4 */
            s[0] += a;
            s[1] += (k + 1) * a * (2.0 * k + 2) / (2 * k + 3);
            s[2] += (k + 1) * (k + 2) * a * ((2.0 * k + 2) / (2 * k + 3)) *
                    ((2.0 * k + 4) / (2 * k + 5));
            a *= x * (2 * k + 2) / (2 * k + 3);
            if (sc_val(sc_abs(a)) < 1e-20 / ((k + 2) * (k + 2))) break;
        }
        s[1] /= -2, s[2] /= 4;
        return;
    }
    real at = sc_val(c) < LAST ? LAST : c, rest = 1 - at * at, d = c - at;
    s[0] = sc_acos(at) / sc_sqrt(rest);
    s[1] = (s[0] * at - 1) / rest;
    s[2] = (s[0] + 3 * at * s[1]) / rest;
    s[0] += d * (s[1] + d * s[2] / 2), s[1] += d * s[2];
}

typedef struct deformation {
    real g[NG], G[NG * NX]; /* and g_x */
    real w[NG], W[NG * NX]; /* bilinear parts; for translations the same */
    real C[NX], s[3];
} deformation;

static void gradient(int m, const real *x, real G[NX]) /* G is cleared */
{
    for (const struct pair *c = pairs[m]; c < pairs[m] + 2; c++) {
        v3_axpy(c->w, x + 3 * c->j, G + 3 * c->i);
        v3_axpy(c->w, x + 3 * c->i, G + 3 * c->j);
    }
}

static void cosine(const real *x, real C[NX]) /* C is cleared */
{
    for (int i = 0; i < 3; i++) {
        v3_axpy(0.5, x + 3 * (B1 + i), C + 3 * (A1 + i));
        v3_axpy(0.5, x + 3 * (A1 + i), C + 3 * (B1 + i));
    }
}

static real dot(const real *a, const real *b)
{
    real y = 0;
    for (int i = 0; i < NX; i++) y += a[i] * b[i];
    return y;
}

/* w is linear in its j slots. For the translations that is (b - a).a_m, which keeps its digits far
 * from the origin, where b.a_m - a.a_m does not. */
static void deform(const real *x, deformation *o)
{
    *o = (deformation){0};
    cosine(x, o->C);
    real c = -0.5;
    for (int i = 0; i < 3; i++) c += 0.5 * v3_dot(x + 3 * (A1 + i), x + 3 * (B1 + i));
    stretch(c, o->s);
    for (int m = 0; m < NG; m++) {
        real *G = o->G + m * NX, *W = o->W + m * NX;
        gradient(m, x, W);
        o->w[m] = v3_dot(W + 3 * pairs[m][0].j, x + 3 * pairs[m][0].j);
        if (m >= NT) o->w[m] += v3_dot(W + 3 * pairs[m][1].j, x + 3 * pairs[m][1].j);
        o->g[m] = m < NT ? o->w[m] : o->s[0] * o->w[m];
        for (int i = 0; i < NX; i++)
            G[i] = m < NT ? W[i] : o->s[0] * W[i] + o->s[1] * o->w[m] * o->C[i];
    }
}

static void bushing_force(const cst_local *e, real *f, real *zd)
{
    (void)zd;
    const real *k = e->p, *c = e->p + NG;
    deformation o;
    deform(e->x, &o);
    for (int i = 0; i < NX; i++) f[i] = 0;
    for (int m = 0; m < NG; m++) {
        real F = k[m] * o.g[m] + c[m] * dot(o.G + m * NX, e->xd);
        for (int i = 0; i < NX; i++) f[i] -= F * o.G[m * NX + i];
    }
}

/* J = -sum_m G_m v_m^T, row by row: a slot is touched by at most four g (the others' G is zero
 * there) */
static void outer(const real *G, const real *v, real *restrict J)
{
    static const int by_slot[][4] = {
        [A] = {0, 1, 2, 3},  [B] = {0, 1, 2, 3},  [A1] = {0, 3, 4, 5}, [A2] = {1, 3, 4, 5},
        [A3] = {2, 3, 4, 5}, [B1] = {0, 3, 4, 5}, [B2] = {0, 3, 4, 5}, [B3] = {0, 3, 4, 5},
    };
    for (int i = 0; i < NX; i++, J += NX) {
        const int *m = by_slot[i / 3];
        const real *v0 = v + m[0] * NX, *v1 = v + m[1] * NX, *v2 = v + m[2] * NX,
                   *v3 = v + m[3] * NX;
        real g0 = -G[m[0] * NX + i], g1 = -G[m[1] * NX + i], g2 = -G[m[2] * NX + i],
             g3 = -G[m[3] * NX + i];
        for (int j = 0; j < NX; j++) J[j] = g0 * v0[j] + g1 * v1[j] + g2 * v2[j] + g3 * v3[j];
    }
}

static void subtract_pair(int i, int j, real y, real *J)
{
    for (int k = 0; k < 3; k++)
        J[(3 * i + k) * NX + 3 * j + k] -= y, J[(3 * j + k) * NX + 3 * i + k] -= y;
}

/* J -= sum F g_xx,     g_xx = s w_xx + s' (W C^T + C W^T + w c_xx) + s'' w C C^T    for rotations
 */
static void subtract_hessian(const deformation *o, const real F[NG], real *J)
{
    real P[NX] = {0}, a = 0;
    for (int m = 0; m < NG; m++)
        for (const struct pair *c = pairs[m]; c < pairs[m] + 2; c++)
            subtract_pair(c->i, c->j, (m < NT ? 1 : o->s[0]) * F[m] * c->w, J);
    for (int m = NT; m < NG; m++) {
        a += F[m] * o->w[m];
        for (int i = 3 * A1; i < NX; i++) P[i] += F[m] * o->W[m * NX + i];
    }
    for (int i = 0; i < 3; i++) subtract_pair(A1 + i, B1 + i, 0.5 * o->s[1] * a, J);
    for (int i = 3 * A1; i < NX; i++)
        for (int j = 3 * A1; j < NX; j++)
            J[i * NX + j] -=
                o->s[1] * (P[i] * o->C[j] + o->C[i] * P[j]) + o->s[2] * a * o->C[i] * o->C[j];
}

/* v = g_xx x' */
static void turned(const deformation *o, int m, const real *xd, const real *Cd, real *v)
{
    const real *W = o->W + m * NX;
    gradient(m, xd, v);
    if (m < NT) return;
    real w1 = dot(W, xd), c1 = dot(o->C, xd), w = o->w[m];
    for (int i = 0; i < NX; i++)
        v[i] = o->s[0] * v[i] + o->s[1] * (W[i] * c1 + o->C[i] * w1 + w * Cd[i]) +
               o->s[2] * w * c1 * o->C[i];
}

/* f_x  = -sum_m (G (k G + c g_xx x')^T + F g_xx)
 * f_xd = -sum_m c G G^T,   f_k = -g G,   f_c = -g' G */
static void bushing_partials(const cst_local *e, real *f_x, real *f_xd, real *f_z, real *f_p)
{
    (void)f_z;
    const real *k = e->p, *c = e->p + NG;
    real v[NG * NX], gd[NG], F[NG];
    deformation o;
    deform(e->x, &o);
    for (int m = 0; m < NG; m++)
        gd[m] = dot(o.G + m * NX, e->xd), F[m] = k[m] * o.g[m] + c[m] * gd[m];
    if (f_x != NULL) {
        real Cd[NX] = {0}, Gd[NG * NX] = {0};
        cosine(e->xd, Cd);
        for (int m = 0; m < NG; m++) turned(&o, m, e->xd, Cd, Gd + m * NX);
        for (int i = 0; i < NG * NX; i++) v[i] = k[i / NX] * o.G[i] + c[i / NX] * Gd[i];
        outer(o.G, v, f_x);
        subtract_hessian(&o, F, f_x);
    }
    if (f_xd != NULL) {
        for (int i = 0; i < NG * NX; i++) v[i] = c[i / NX] * o.G[i];
        outer(o.G, v, f_xd);
    }
    if (f_p == NULL) return;
    for (int i = 0; i < NX * e->np; i++) f_p[i] = 0;
    for (int m = 0; m < NG; m++)
        for (int i = 0; i < NX; i++)
            f_p[i * e->np + m] = -o.g[m] * o.G[m * NX + i],
                            f_p[i * e->np + NG + m] = -gd[m] * o.G[m * NX + i];
}

static int bushing_energy(const cst_local *e, real *V)
{
    deformation o;
    deform(e->x, &o);
    *V = 0;
    for (int m = 0; m < NG; m++) *V += 0.5 * e->p[m] * o.g[m] * o.g[m];
    return 1;
}

static void bushing_energy_p(const cst_local *e, real *V_p)
{
    deformation o;
    deform(e->x, &o);
    for (int i = 0; i < e->np; i++) V_p[i] = i < NG ? 0.5 * o.g[i] * o.g[i] : 0;
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
