/* SPDX-License-Identifier: MIT
 *
 * What all tires share. The road is its tangent plane at the place below the wheel centre: z(x, y, t) with its slopes. Slots:
 * wheel centre c, axis u (unit, fixed in the wheel), triad e1 e2 e3 of the wheel. omega = 1/2 sum e_i x e_i', v = c' - z_t e_z
 * the velocity against the road.
 *
 *     n = (-z_x, -z_y, 1)/|.|,   rho = (c_z - z) n_z                          distance of the centre from the plane
 *     sigma = sqrt(1 - (n.u)^2),   delta = R sigma - rho (or R - rho)         indentation of the wheel's circle
 *     Fn = k delta - c v.n   in contact and where it pushes, else 0
 *     b = u x n / sigma,  l = n x b                                           ahead, left
 *     s_x = -b.(v - omega x r n),  r = rho (or R),   kappa = s_x/|b.v|,   alpha = -asin(l.v / |v - (v.n) n|) = -atan(l.v / |b.v|)
 *     with relaxation, states z:  L_x z_1' = s_x - |b.v| z_1,  L_y z_2' = -l.v - |b.v| z_2,  kappa = z_1, alpha = atan z_2
 *     F = Fn n + Fx b + Fy l,  (Fx, Fy, Mz) = law(Fn, kappa, alpha, camber = -asin(n.u))
 *     at P = c + R d + delta n,  d = ((n.u) u - n)/sigma,  or at c - rho n
 *
 * |b.v| and |v_t| below the low speed w are replaced by (v^2 + w^2)/(2 w): standstill is regular. The force at P is a force
 * at c and a moment M = (P - c) x F + Mz n on the triad: f_ei = 1/2 M x e_i. Tape: z, z_x, z_y, z_t and the contact mode, of
 * c_x, c_y and time. */
#include "element/tire.h"

#define DUAL_LANES 21
#include "element/dual.h"
#include "element/law.h"
#include "linalg/dense.h"

#include <string.h>

enum { C = 0, U = 3, E = 6, NX = 15 };
enum { IN_H, IN_ZX, IN_ZY, IN_ZT, IN_V, IN_U = IN_V + 3, IN_W = IN_U + 3, IN_Z = IN_W + 3, IN_P = IN_Z + 2, NIN = IN_P + CST_TIRE_BELOW };
enum { F = 0, M = 3, ZD = 6, NOUT = 8 }; /* results */
enum { MOST_OWN = 64 };                  /* numbers of one law */

typedef struct contact { /* F, M and the states' rates, and what the partials by the law's numbers need */
    dual y[NOUT], b[3], l[3], arm[3], n[3];
    real law_p[CST_TIRE_OUT * MOST_OWN];
} contact;

/* |x| away from zero, (x^2 + w^2)/(2 w) near it */
static dual speed(int n, dual x, dual w)
{
    x = dual_abs(n, x);
    if (sc_val(x.v) >= sc_val(w.v)) return x;
    return dual_scale(n, 0.5, dual_add(n, dual_div(n, dual_mul(n, x, x), w), w));
}

static dual dual_atan2(int n, dual y, dual x)
{
    dual a = dual_const(n, sc_atan2(y.v, x.v));
    real per = 1 / (x.v * x.v + y.v * y.v);
    for (int i = 0; i < n; i++) a.d[i] = per * (x.v * y.d[i] - y.v * x.d[i]);
    return a;
}

/* kappa and alpha from the velocities, or from the states, whose rates go to zd */
static void slips(const cst_local *e, int n, const dual *in, const contact *k, dual r, dual *kappa, dual *alpha, dual *zd)
{
    const dual *v = in + IN_V, *w = in + IN_W, *p = in + IN_P;
    dual wn[3], slip[3];
    dual_cross(n, w, k->n, wn);
    for (int i = 0; i < 3; i++) slip[i] = dual_sub(n, dual_mul(n, r, wn[i]), v[i]);
    dual along = dual_dot(n, k->b, v), across = dual_dot(n, k->l, v), s_x = dual_dot(n, k->b, slip);
    dual ahead = speed(n, along, p[CST_TIRE_LOW]);
    if (e->nz) {
        const dual *z = in + IN_Z;
        zd[0] = dual_div(n, dual_sub(n, s_x, dual_mul(n, ahead, z[0])), p[CST_TIRE_RELAX_X]);
        zd[1] = dual_div(n, dual_sub(n, dual_scale(n, -1, across), dual_mul(n, ahead, z[1])), p[CST_TIRE_RELAX_Y]);
        *kappa = z[0];
        *alpha = dual_chain(n, sc_atan(z[1].v), 1 / (1 + z[1].v * z[1].v), &z[1]);
        return;
    }
    dual total = dual_sqrt(n, dual_add(n, dual_mul(n, along, along), dual_mul(n, across, across)));
    *kappa = dual_div(n, s_x, ahead);
    *alpha = dual_scale(n, -1, sc_val(total.v) >= sc_val(p[CST_TIRE_LOW].v)
                                   ? dual_atan2(n, across, dual_abs(n, along))
                                   : dual_asin(n, dual_div(n, across, speed(n, total, p[CST_TIRE_LOW]))));
}

/* n, b, l, delta, rho */
static void geometry(const cst_local *e, int n, const dual *in, contact *k, dual *delta, dual *rho, dual *lean)
{
    const dual *u = in + IN_U, one = dual_const(n, 1), R = in[IN_P + CST_TIRE_RADIUS];
    int level = sc_val(in[IN_ZX].v) == 0 && sc_val(in[IN_ZY].v) == 0 && n == 0;
    dual size = dual_add(n, one, dual_add(n, dual_mul(n, in[IN_ZX], in[IN_ZX]), dual_mul(n, in[IN_ZY], in[IN_ZY])));
    dual per = level ? one : dual_inv(n, dual_sqrt(n, size));
    k->n[0] = dual_scale(n, -1, dual_mul(n, in[IN_ZX], per));
    k->n[1] = dual_scale(n, -1, dual_mul(n, in[IN_ZY], per));
    k->n[2] = per;
    *rho = dual_mul(n, in[IN_H], per);
    *lean = dual_dot(n, k->n, u);
    dual sigma = dual_sqrt(n, dual_sub(n, one, dual_mul(n, *lean, *lean))), inverse = dual_inv(n, sigma);
    *delta = dual_sub(n, sc_val(e->p[CST_TIRE_UPRIGHT]) > 0.5 ? R : dual_mul(n, R, sigma), *rho);
    dual_cross(n, u, k->n, k->b);
    for (int i = 0; i < 3; i++) k->b[i] = dual_mul(n, k->b[i], inverse);
    dual_cross(n, k->n, k->b, k->l);
    for (int i = 0; i < 3; i++) {
        dual d = dual_mul(n, inverse, dual_sub(n, dual_mul(n, *lean, u[i]), k->n[i]));
        k->arm[i] = sc_val(e->p[CST_TIRE_BELOW]) > 0.5
                        ? dual_scale(n, -1, dual_mul(n, *rho, k->n[i]))
                        : dual_add(n, dual_mul(n, R, d), dual_mul(n, *delta, k->n[i]));
    }
}

/* y with n lanes (0: values only; IN_P: without numbers). np: numbers of the law, 0 when their partials are not wanted */
static void core(cst_tire_law *law, int np, const cst_local *e, int n, const dual in[NIN], contact *k)
{
    dual delta, rho, lean, x[CST_TIRE_IN], f[CST_TIRE_OUT];
    real value[CST_TIRE_IN], out[CST_TIRE_OUT], out_in[CST_TIRE_OUT * CST_TIRE_IN];
    for (int i = 0; i < NOUT; i++) k->y[i] = dual_const(n, 0);
    for (int i = 0; i < CST_TIRE_OUT * np; i++) k->law_p[i] = 0;
    geometry(e, n, in, k, &delta, &rho, &lean);
    slips(e, n, in, k, sc_val(e->p[CST_TIRE_NOMINAL]) > 0.5 ? in[IN_P + CST_TIRE_RADIUS] : rho, &x[CST_TIRE_KAPPA], &x[CST_TIRE_ALPHA],
          k->y + ZD);
    x[CST_TIRE_CAMBER] = dual_scale(n, -1, dual_asin(n, lean));
    x[CST_TIRE_FN] = dual_sub(n, dual_mul(n, in[IN_P + CST_TIRE_STIFFNESS], delta),
                              dual_mul(n, in[IN_P + CST_TIRE_DAMPING], dual_dot(n, in + IN_V, k->n)));
    if (!(sc_val(x[CST_TIRE_FN].v) > 0)) return; /* it pushes only */
    for (int i = 0; i < CST_TIRE_IN; i++) value[i] = x[i].v;
    law(value, e->p + CST_TIRE_OWN, out, n ? out_in : NULL, np ? k->law_p : NULL);
    for (int i = 0; i < CST_TIRE_OUT; i++) {
        f[i].v = out[i];
        for (int j = 0; j < n; j++) {
            f[i].d[j] = 0;
            for (int m = 0; m < CST_TIRE_IN; m++) f[i].d[j] += out_in[i * CST_TIRE_IN + m] * x[m].d[j];
        }
    }
    for (int i = 0; i < 3; i++)
        k->y[F + i] = dual_add(n, dual_mul(n, x[CST_TIRE_FN], k->n[i]),
                               dual_add(n, dual_mul(n, f[CST_TIRE_FX], k->b[i]), dual_mul(n, f[CST_TIRE_FY], k->l[i])));
    dual_cross(n, k->arm, k->y + F, k->y + M);
    for (int i = 0; i < 3; i++) k->y[M + i] = dual_add(n, k->y[M + i], dual_mul(n, f[CST_TIRE_MZ], k->n[i]));
}

/* Inputs of the core from the element's state; registers of the tape are filled. 0: no contact. */
static int inputs(const cst_local *e, int n, dual in[NIN])
{
    const real *x = e->x, *xd = e->xd;
    real w[3] = {0};
    law_eval(e, NULL);
    for (int i = 0; i < 3; i++) {
        real c[3];
        v3_cross(x + E + 3 * i, xd + E + 3 * i, c);
        v3_axpy(0.5, c, w);
    }
    in[IN_H] = dual_input(n, x[C + 2] - law_out(e, CST_ROAD_Z), IN_H);
    in[IN_ZX] = dual_input(n, law_out(e, CST_ROAD_ZX), IN_ZX);
    in[IN_ZY] = dual_input(n, law_out(e, CST_ROAD_ZY), IN_ZY);
    in[IN_ZT] = dual_input(n, law_out(e, CST_ROAD_ZT), IN_ZT);
    for (int i = 0; i < 3; i++) {
        in[IN_V + i] = dual_input(n, xd[C + i], IN_V + i);
        in[IN_U + i] = dual_input(n, x[U + i], IN_U + i);
        in[IN_W + i] = dual_input(n, w[i], IN_W + i);
    }
    in[IN_V + 2] = dual_sub(n, in[IN_V + 2], in[IN_ZT]);
    for (int i = 0; i < 2; i++) in[IN_Z + i] = e->nz ? dual_input(n, e->z[i], IN_Z + i) : dual_const(n, 0);
    for (int i = 0; i < CST_TIRE_BELOW; i++) in[IN_P + i] = n > IN_P ? dual_input(n, e->p[i], IN_P + i) : dual_const(n, e->p[i]);
    return sc_val(law_out(e, CST_ROAD_CONTACT)) > 0.5;
}

/* Off the road the states fade: the law is the same without load. */
static void without_load(int n, dual in[NIN])
{
    in[IN_P + CST_TIRE_STIFFNESS] = in[IN_P + CST_TIRE_DAMPING] = dual_const(n, 0);
}

static void outcome(cst_tire_law *law, int np, const cst_local *e, int n, contact *k, int *touches)
{
    dual in[NIN];
    *touches = inputs(e, n, in);
    if (!*touches && !e->nz) {
        for (int i = 0; i < NOUT; i++) k->y[i] = dual_const(n, 0);
        return;
    }
    if (!*touches) without_load(n, in);
    core(law, np, e, n, in, k);
}

void CST_K(cst_tire_force)(cst_tire_law *law, const cst_local *e, real *f, real *zd)
{
    contact k;
    int touches;
    for (int i = 0; i < NX; i++) f[i] = 0;
    outcome(law, 0, e, 0, &k, &touches);
    for (int i = 0; i < e->nz; i++) zd[i] = k.y[ZD + i].v;
    const real m[3] = {0.5 * k.y[M].v, 0.5 * k.y[M + 1].v, 0.5 * k.y[M + 2].v};
    for (int i = 0; touches && i < 3; i++) f[C + i] = k.y[F + i].v, v3_cross(m, e->x + E + 3 * i, f + E + 3 * i);
}

/* Changes d (NOUT) of the results into column j of J, with stride */
static void put_column(const cst_local *e, const real d[NOUT], int stride, int j, real *J)
{
    const real m[3] = {0.5 * d[M], 0.5 * d[M + 1], 0.5 * d[M + 2]};
    for (int i = 0; i < 3; i++) {
        real c[3];
        J[(C + i) * stride + j] += d[F + i];
        v3_cross(m, e->x + E + 3 * i, c);
        for (int l = 0; l < 3; l++) J[(E + 3 * i + l) * stride + j] += c[l];
    }
    for (int i = 0; i < e->nz; i++) J[(NX + i) * stride + j] += d[ZD + i];
}

/* d += c * lane */
static void add_lane(const contact *k, real c, int lane, real d[NOUT])
{
    for (int i = 0; i < NOUT; i++) d[i] += c * k->y[i].d[lane];
}

/* What a change of the road does: z lowers the height above it */
static void add_road(const contact *k, int out, real change, real d[NOUT])
{
    add_lane(k, out == CST_ROAD_Z ? -change : change, out == CST_ROAD_Z ? IN_H : IN_ZX + out - CST_ROAD_ZX, d);
}

/* omega = 1/2 e x e': change by component j of e_i (other = e_i') or of e_i' (other = e_i, sign -1) */
static void add_spin(const contact *k, const real *other, int j, real sign, real d[NOUT])
{
    const real unit[3] = {j == 0, j == 1, j == 2};
    real dw[3];
    v3_cross(unit, other, dw);
    for (int l = 0; l < 3; l++) add_lane(k, 0.5 * sign * dw[l], IN_W + l, d);
}

static void columns_x(const cst_local *e, const contact *k, real *J)
{
    real slope[NX], d[3][NOUT] = {0};
    for (int o = CST_ROAD_Z; o <= CST_ROAD_ZT; o++) {
        if (e->tape->out[o] >= e->tape->nchannel + e->tape->nnumber) { /* else it is a number: it has no slope */
            law_gradient(e, o, 1, NULL, slope, NULL, NULL, NULL);
            for (int j = 0; j < 2; j++) add_road(k, o, slope[C + j], d[j]);
        }
    }
    add_lane(k, 1, IN_H, d[2]);
    for (int j = 0; j < 3; j++) {
        real du[NOUT] = {0};
        put_column(e, d[j], NX, C + j, J);
        add_lane(k, 1, IN_U + j, du);
        put_column(e, du, NX, U + j, J);
    }
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) { /* omega, and M x e_i itself */
            const real unit[3] = {j == 0, j == 1, j == 2}, m[3] = {0.5 * k->y[M].v, 0.5 * k->y[M + 1].v, 0.5 * k->y[M + 2].v};
            real de[NOUT] = {0}, c[3];
            add_spin(k, e->xd + E + 3 * i, j, 1, de);
            put_column(e, de, NX, E + 3 * i + j, J);
            v3_cross(m, unit, c);
            for (int l = 0; l < 3; l++) J[(E + 3 * i + l) * NX + E + 3 * i + j] += c[l];
        }
}

static void columns_xd(const cst_local *e, const contact *k, real *J)
{
    for (int j = 0; j < 3; j++) {
        real d[NOUT] = {0};
        add_lane(k, 1, IN_V + j, d);
        put_column(e, d, NX, C + j, J);
        for (int i = 0; i < 3; i++) {
            real de[NOUT] = {0};
            add_spin(k, e->x + E + 3 * i, j, -1, de);
            put_column(e, de, NX, E + 3 * i + j, J);
        }
    }
}

static void columns_p(const cst_local *e, const contact *k, int np, real *J)
{
    const cst_tape *t = e->tape;
    for (int j = 0; j < CST_TIRE_BELOW; j++) {
        real d[NOUT] = {0};
        add_lane(k, 1, IN_P + j, d);
        put_column(e, d, e->np, j, J);
    }
    for (int j = 0; j < np; j++) {
        real d[NOUT] = {0}, arm[3];
        const real *g = k->law_p + j;
        for (int i = 0; i < 3; i++) d[F + i] = g[CST_TIRE_FX * np] * k->b[i].v + g[CST_TIRE_FY * np] * k->l[i].v, arm[i] = k->arm[i].v;
        v3_cross(arm, d + F, d + M);
        for (int i = 0; i < 3; i++) d[M + i] += g[CST_TIRE_MZ * np] * k->n[i].v;
        put_column(e, d, e->np, CST_TIRE_OWN + j, J);
    }
    for (int o = CST_ROAD_Z; o <= CST_ROAD_ZT; o++) { /* numbers of the road */
        real *bar = e->reg + t->nreg;
        law_gradient(e, o, 1, NULL, NULL, NULL, NULL, NULL); /* leaves the bars */
        for (int j = 0; j < t->nnumber; j++) {
            real d[NOUT] = {0};
            if (sc_val(bar[t->nchannel + j]) == 0 && bar[t->nchannel + j] == 0) continue;
            add_road(k, o, bar[t->nchannel + j], d);
            put_column(e, d, e->np, law_np(e) + j, J);
        }
    }
}

void CST_K(cst_tire_partials)(cst_tire_law *law, int np, const cst_local *e, real *f_x, real *f_xd, real *f_z, real *f_p)
{
    contact k;
    int touches, rows = NX + e->nz;
    for (int i = 0; f_x && i < rows * NX; i++) f_x[i] = 0;
    for (int i = 0; f_xd && i < rows * NX; i++) f_xd[i] = 0;
    for (int i = 0; f_z && i < rows * e->nz; i++) f_z[i] = 0;
    for (int i = 0; f_p && i < rows * e->np; i++) f_p[i] = 0;
    outcome(law, f_p ? np : 0, e, f_p ? NIN : IN_P, &k, &touches);
    if (!touches && !e->nz) return;
    if (f_x) columns_x(e, &k, f_x);
    if (f_xd) columns_xd(e, &k, f_xd);
    for (int j = 0; f_z && j < e->nz; j++) {
        real d[NOUT] = {0};
        add_lane(&k, 1, IN_Z + j, d);
        put_column(e, d, e->nz, j, f_z);
    }
    if (f_p) columns_p(e, &k, np, f_p);
}

int CST_K(cst_tire_partial_t)(cst_tire_law *law, const cst_local *e, real *f_t)
{
    contact k;
    int touches;
    real d[NOUT] = {0};
    for (int i = 0; i < NX + e->nz; i++) f_t[i] = 0;
    outcome(law, 0, e, IN_P, &k, &touches);
    if (!law_time(e)) return 0;
    for (int o = CST_ROAD_Z; o <= CST_ROAD_ZT; o++) add_road(&k, o, law_out_t(e, o), d);
    put_column(e, d, 1, 0, f_t);
    return 1;
}

int CST_K(cst_tire_energy)(const cst_local *e, real *V)
{
    (void)e;
    *V = 0; /* the road moves, and the friction takes energy: it has no potential */
    return 0;
}
