/* SPDX-License-Identifier: MIT
 *
 * Tire on a road with vertical normal n = z, linear with saturation (Zhu et al.; Lopez Varela and Mouzo). Slots: wheel centre
 * c, axis u (unit, fixed in the wheel), triad e1 e2 e3 of the wheel. omega = 1/2 sum e_i x e_i', height above the road
 * h = c_z - z(c_x, c_y, t):
 *
 *     sigma = sqrt(1 - (n.u)^2),   delta = R sigma - h (or R - h)         indentation of the wheel's circle
 *     Fn = k delta - c (v.n - z_t)   in contact, else 0
 *     b = u x n / sigma                                                   heading
 *     kappa = -b.(v - omega x r n) / |b.v|,  r = h (or R),   alpha = -asin(v_y / |v_t|),  v_y = (n x b).v
 *     X = clamp(kappa/kappa_c), Y = clamp(alpha/alpha_c), both divided by sqrt(X^2 + Y^2) where that exceeds 1
 *     F = Fn (n + mu_x X b + mu_y Y n x b)   at P = c + R d + delta n,  d = ((n.u) u - n)/sigma,  or at c - h n
 *
 * |b.v| and |v_t| below the low speed w are replaced by (v^2 + w^2)/(2 w): standstill is regular. The force at P is a force
 * at c and a moment M = (P - c) x F on the triad: f_ei = 1/2 M x e_i. Tape: z, z_t and the contact mode, of c_x, c_y
 * and time. */
#include "element/dual.h"
#include "element/law.h"
#include "linalg/dense.h"

#include <string.h>

enum { C = 0, U = 3, E = 6, NX = 15 };
enum { RADIUS, STIFFNESS, DAMPING, MU_X, MU_Y, KAPPA_C, ALPHA_C, LOW, BELOW, NOMINAL, UPRIGHT, NP }; /* numbers; the last three: options */
enum { IN_H, IN_V, IN_U = IN_V + 3, IN_W = IN_U + 3, IN_ZT = IN_W + 3, IN_P, NIN = IN_P + BELOW };
enum { ROAD, ROAD_T, CONTACT };

/* |x| away from zero, (x^2 + w^2)/(2 w) near it */
static dual speed(int n, dual x, dual w)
{
    x = dual_abs(n, x);
    if (sc_val(x.v) >= sc_val(w.v)) return x;
    return dual_scale(n, 0.5, dual_add(n, dual_div(n, dual_mul(n, x, x), w), w));
}

static dual clamp_one(int n, dual x)
{
    return sc_val(x.v) > 1 ? dual_const(n, 1) : sc_val(x.v) < -1 ? dual_const(n, -1) : x;
}

/* Slips over their critical values, limited to the ellipse. */
static void slips(int n, const dual v[3], const dual w[3], const dual b[3], dual r, const dual *p, dual *X, dual *Y)
{
    const dual normal[3] = {dual_const(n, 0), dual_const(n, 0), dual_const(n, 1)};
    dual wn[3], side[3], slip[3];
    dual_cross(n, w, normal, wn);
    dual_cross(n, normal, b, side);
    for (int i = 0; i < 3; i++) slip[i] = dual_sub(n, v[i], dual_mul(n, r, wn[i]));
    dual along = dual_dot(n, b, v), across = dual_dot(n, side, v);
    dual total = dual_sqrt(n, dual_add(n, dual_mul(n, v[0], v[0]), dual_mul(n, v[1], v[1])));
    dual kappa = dual_scale(n, -1, dual_div(n, dual_dot(n, b, slip), speed(n, along, p[LOW])));
    dual alpha = dual_scale(n, -1, dual_asin(n, dual_div(n, across, speed(n, total, p[LOW]))));
    *X = clamp_one(n, dual_div(n, kappa, p[KAPPA_C]));
    *Y = clamp_one(n, dual_div(n, alpha, p[ALPHA_C]));
    dual size = dual_add(n, dual_mul(n, *X, *X), dual_mul(n, *Y, *Y));
    if (sc_val(size.v) <= 1) return;
    dual root = dual_inv(n, dual_sqrt(n, size));
    *X = dual_mul(n, *X, root), *Y = dual_mul(n, *Y, root);
}

/* F and M with n lanes (0: values only) */
static void core(const cst_local *e, int n, const dual in[NIN], dual F[3], dual M[3])
{
    int below = sc_val(e->p[BELOW]) > 0.5, nominal = sc_val(e->p[NOMINAL]) > 0.5, upright = sc_val(e->p[UPRIGHT]) > 0.5;
    const dual *v = in + IN_V, *u = in + IN_U, *w = in + IN_W, *p = in + IN_P, h = in[IN_H];
    const dual normal[3] = {dual_const(n, 0), dual_const(n, 0), dual_const(n, 1)};
    dual one = dual_const(n, 1), b[3], side[3], arm[3], X, Y;
    dual sigma = dual_sqrt(n, dual_sub(n, one, dual_mul(n, u[2], u[2]))), per = dual_inv(n, sigma);
    dual delta = dual_sub(n, upright ? p[RADIUS] : dual_mul(n, p[RADIUS], sigma), h);
    dual Fn = dual_sub(n, dual_mul(n, p[STIFFNESS], delta), dual_mul(n, p[DAMPING], dual_sub(n, v[2], in[IN_ZT])));
    dual_cross(n, u, normal, b);
    for (int i = 0; i < 3; i++) b[i] = dual_mul(n, b[i], per);
    dual_cross(n, normal, b, side);
    slips(n, v, w, b, nominal ? p[RADIUS] : h, p, &X, &Y);
    dual Fx = dual_mul(n, Fn, dual_mul(n, p[MU_X], X)), Fy = dual_mul(n, Fn, dual_mul(n, p[MU_Y], Y));
    for (int i = 0; i < 3; i++) {
        F[i] = dual_add(n, dual_mul(n, Fx, b[i]), dual_mul(n, Fy, side[i]));
        dual d = dual_mul(n, per, dual_sub(n, dual_mul(n, u[2], u[i]), normal[i]));
        arm[i] = below ? dual_const(n, 0) : dual_mul(n, p[RADIUS], d);
    }
    F[2] = dual_add(n, F[2], Fn);
    arm[2] = below ? dual_scale(n, -1, h) : dual_add(n, arm[2], delta);
    dual_cross(n, arm, F, M);
}

/* Inputs of the core from the element's state; registers of the tape are filled. 0: no contact. */
static int inputs(const cst_local *e, int n, dual in[NIN])
{
    const real *x = e->x, *xd = e->xd;
    real w[3] = {0};
    law_eval(e, NULL);
    if (sc_val(law_out(e, CONTACT)) < 0.5) return 0;
    for (int i = 0; i < 3; i++) {
        real c[3];
        v3_cross(x + E + 3 * i, xd + E + 3 * i, c);
        v3_axpy(0.5, c, w);
    }
    in[IN_H] = dual_input(n, x[C + 2] - law_out(e, ROAD), IN_H);
    in[IN_ZT] = dual_input(n, law_out(e, ROAD_T), IN_ZT);
    for (int i = 0; i < 3; i++) {
        in[IN_V + i] = dual_input(n, xd[C + i], IN_V + i);
        in[IN_U + i] = dual_input(n, x[U + i], IN_U + i);
        in[IN_W + i] = dual_input(n, w[i], IN_W + i);
    }
    for (int i = 0; i < BELOW; i++) in[IN_P + i] = dual_input(n, e->p[i], IN_P + i);
    return 1;
}

static void tire_force(const cst_local *e, real *f, real *zd)
{
    (void)zd;
    dual in[NIN], F[3], M[3];
    for (int i = 0; i < NX; i++) f[i] = 0;
    if (!inputs(e, 0, in)) return;
    core(e, 0, in, F, M);
    const real m[3] = {0.5 * M[0].v, 0.5 * M[1].v, 0.5 * M[2].v};
    for (int i = 0; i < 3; i++) f[C + i] = F[i].v, v3_cross(m, e->x + E + 3 * i, f + E + 3 * i);
}

/* A column of partials: changes dF, dM by one coordinate (or number) into column j of J, with stride */
static void put_column(const cst_local *e, const real dF[3], const real dM[3], int stride, int j, real *J)
{
    const real m[3] = {0.5 * dM[0], 0.5 * dM[1], 0.5 * dM[2]};
    for (int i = 0; i < 3; i++) {
        real c[3];
        J[(C + i) * stride + j] += dF[i];
        v3_cross(m, e->x + E + 3 * i, c);
        for (int k = 0; k < 3; k++) J[(E + 3 * i + k) * stride + j] += c[k];
    }
}

/* dF, dM for changes of lanes: c1 of lane a and c2 of lane b */
static void lanes(const dual F[3], const dual M[3], int a, real c1, int b, real c2, real dF[3], real dM[3])
{
    for (int i = 0; i < 3; i++) {
        dF[i] = c1 * F[i].d[a] + c2 * F[i].d[b];
        dM[i] = c1 * M[i].d[a] + c2 * M[i].d[b];
    }
}

static void columns_x(const cst_local *e, const dual F[3], const dual M[3], const real *z_x, const real *zt_x, real *J)
{
    const real *xd = e->xd;
    real dF[3], dM[3];
    for (int j = 0; j < 3; j++) {
        lanes(F, M, IN_H, j == 2 ? 1 : -z_x[j], IN_ZT, j == 2 ? 0 : zt_x[j], dF, dM);
        put_column(e, dF, dM, NX, C + j, J);
        lanes(F, M, IN_U + j, 1, IN_U, 0, dF, dM);
        put_column(e, dF, dM, NX, U + j, J);
    }
    for (int i = 0; i < 3; i++) /* omega: d/de_j of 1/2 e x e' = 1/2 unit_j x e' ; and M x e_i itself */
        for (int j = 0; j < 3; j++) {
            real unit[3] = {j == 0, j == 1, j == 2}, dw[3], m[3], c[3];
            v3_cross(unit, xd + E + 3 * i, dw);
            for (int k = 0; k < 3; k++) dF[k] = dM[k] = 0;
            for (int l = 0; l < 3; l++)
                for (int k = 0; k < 3; k++) dF[k] += 0.5 * dw[l] * F[k].d[IN_W + l], dM[k] += 0.5 * dw[l] * M[k].d[IN_W + l];
            put_column(e, dF, dM, NX, E + 3 * i + j, J);
            for (int k = 0; k < 3; k++) m[k] = 0.5 * M[k].v;
            v3_cross(m, unit, c);
            for (int k = 0; k < 3; k++) J[(E + 3 * i + k) * NX + E + 3 * i + j] += c[k];
        }
}

static void columns_xd(const cst_local *e, const dual F[3], const dual M[3], real *J)
{
    real dF[3], dM[3];
    for (int j = 0; j < 3; j++) {
        lanes(F, M, IN_V + j, 1, IN_V, 0, dF, dM);
        put_column(e, dF, dM, NX, C + j, J);
    }
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            const real unit[3] = {j == 0, j == 1, j == 2};
            real dw[3];
            v3_cross(e->x + E + 3 * i, unit, dw);
            for (int k = 0; k < 3; k++) dF[k] = dM[k] = 0;
            for (int l = 0; l < 3; l++)
                for (int k = 0; k < 3; k++) dF[k] += 0.5 * dw[l] * F[k].d[IN_W + l], dM[k] += 0.5 * dw[l] * M[k].d[IN_W + l];
            put_column(e, dF, dM, NX, E + 3 * i + j, J);
        }
}

static void tire_partials(const cst_local *e, real *f_x, real *f_xd, real *f_z, real *f_p)
{
    dual in[NIN], F[3], M[3];
    real z_x[NX], zt_x[NX], *out[] = {f_x, f_xd};
    (void)f_z;
    for (int k = 0; k < 2; k++)
        if (out[k]) memset(out[k], 0, sizeof(real) * NX * NX);
    for (int i = 0; f_p && i < NX * e->np; i++) f_p[i] = 0;
    if (!inputs(e, NIN, in)) return;
    core(e, NIN, in, F, M);
    law_gradient(e, ROAD, 1, NULL, z_x, NULL, NULL, NULL);
    law_gradient(e, ROAD_T, 1, NULL, zt_x, NULL, NULL, NULL);
    if (f_x) columns_x(e, F, M, z_x, zt_x, f_x);
    if (f_xd) columns_xd(e, F, M, f_xd);
    if (!f_p) return;
    real dF[3], dM[3];
    for (int j = 0; j < BELOW; j++) {
        lanes(F, M, IN_P + j, 1, IN_P, 0, dF, dM);
        put_column(e, dF, dM, e->np, j, f_p);
    }
    /* numbers of the road: through z and z_t; the gradients are taken one after the other */
    const cst_tape *t = e->tape;
    for (int k = 0; k < 2; k++) {
        real *bar = e->reg + t->nreg;
        law_gradient(e, k == 0 ? ROAD : ROAD_T, 1, NULL, NULL, NULL, NULL, NULL); /* leaves the bars */
        lanes(F, M, k == 0 ? IN_H : IN_ZT, k == 0 ? -1 : 1, IN_H, 0, dF, dM);
        for (int j = 0; j < t->nnumber; j++) {
            real w = bar[t->nchannel + j], cF[3], cM[3];
            for (int i = 0; i < 3; i++) cF[i] = w * dF[i], cM[i] = w * dM[i];
            put_column(e, cF, cM, e->np, e->np - t->nnumber + j, f_p);
        }
    }
}

static int tire_partial_t(const cst_local *e, real *f_t)
{
    dual in[NIN], F[3], M[3];
    real dF[3], dM[3];
    for (int i = 0; i < NX; i++) f_t[i] = 0;
    if (!inputs(e, NIN, in) || !law_time(e)) return 0;
    core(e, NIN, in, F, M);
    lanes(F, M, IN_H, -law_out_t(e, ROAD), IN_ZT, law_out_t(e, ROAD_T), dF, dM);
    put_column(e, dF, dM, 1, 0, f_t);
    return 1;
}

static int tire_energy(const cst_local *e, real *V)
{
    (void)e;
    *V = 0; /* the road moves, and the friction takes energy: it has no potential */
    return 0;
}

const cst_force_class CST_K(cst_force_tire) = {
    .name = "tire",
    .nslot = 5,
    .np = NP,
    .nz = 0,
    .force = tire_force,
    .partials = tire_partials,
    .partial_t = tire_partial_t,
    .energy = tire_energy,
    .ntape = 3,
    .external = 1,
    .slots = "puddd",
};
