/* SPDX-License-Identifier: MIT
 *
 * What all tires share. The road is its tangent plane at the place below the wheel centre: z(x, y,
 * t) with its slopes. Slots: wheel centre c, axis u (unit, fixed in the wheel), triad e1 e2 e3 of
 * the wheel. omega = 1/2 sum e_i x e_i', v = c' - z_t e_z the velocity against the road.
 *
 *     n = (-z_x, -z_y, 1)/|.|,   rho = (c_z - z) n_z                          distance of the
 * centre from the plane sigma = sqrt(1 - (n.u)^2),   delta = R sigma - rho (or R - rho) indentation
 * of the wheel's circle Fn = k delta - c v.n   in contact and where it pushes, else 0 b = u x n /
 * sigma,  l = n x b                                           ahead, left s_x = -b.(v - omega x r
 * n),  r = rho (or R),   kappa = s_x/|b.v| v_y = l.(v - omega x rho n) (or l.v),   alpha =
 * -atan(v_y / |b.v|) = -asin(v_y / |v_t|),  v_t = (b.v, v_y) with relaxation, states z:  L_x z_1' =
 * s_x - |b.v| z_1,  L_y z_2' = -v_y - |b.v| z_2,  kappa = z_1, alpha = atan z_2 F = Fn n + Fx b +
 * Fy l,  (Fx, Fy, Mz) = law(Fn, kappa, alpha, camber = -asin(n.u)) at P = c + R d + delta n,  d =
 * ((n.u) u - n)/sigma,  or at c - rho n
 *
 * |b.v| and |v_t| below the low speed w are replaced by (v^2 + w^2)/(2 w): standstill is regular.
 * The force at P is a force at c and a moment M = (P - c) x F + Mz n on the triad: f_ei = 1/2 M x
 * e_i. Tape: z, z_x, z_y, z_t and the contact mode, of c_x, c_y and time. */
#include "element/tire.h"

#include "element/law.h"
#include "linalg/dense.h"

#include <string.h>

enum { C = 0, U = 3, E = 6, NX = 15 };
enum { F = 0, M = 3, ZD = 6, NOUT = 8 }; /* results y */
enum { MOST_OWN = 64 };                  /* numbers of one law */

typedef struct input {
    real h, zx, zy, zt, v[3], u[3], w[3], z[2], p[CST_TIRE_BELOW];
} input; /* h = c_z - z, w = omega */

typedef struct contact { /* the letters of the equations above */
    real y[NOUT], per, n[3], rho, lean, sigma, inverse, delta, cross[3], b[3], l[3], lift[3],
        arm[3]; /* cross = u x n */
    real wn[3], r, along, across, ahead, s_x,
        total; /* wn = omega x n, across = v_y, ahead = |b.v|, total = |v_t| */
    int loaded;
    real x[CST_TIRE_IN], f[CST_TIRE_OUT], f_x[CST_TIRE_OUT * CST_TIRE_IN],
        f_p[CST_TIRE_OUT * MOST_OWN]; /* of the law */
} contact;

static int is_on(const cst_local *e, int option) { return sc_val(e->p[option]) > 0.5; }

/* |x| away from zero, (x^2 + w^2)/(2 w) near it */
static real speed(real x, real w)
{
    return sc_val(sc_abs(x)) >= sc_val(w) ? sc_abs(x) : 0.5 * (x * x / w + w);
}

/* bars of its arguments from that of the speed */
static void speed_reverse(real x, real w, real bar, real *xbar, real *wbar)
{
    if (sc_val(sc_abs(x)) >= sc_val(w)) {
        *xbar += sc_val(x) < 0 ? -bar : bar;
        return;
    }
    *xbar += bar * x / w;
    *wbar += 0.5 * bar * (1 - x * x / (w * w));
}

static void geometry(const cst_local *e, const input *a, contact *k)
{
    real R = a->p[CST_TIRE_RADIUS];
    k->per = 1 / sc_sqrt(1 + a->zx * a->zx + a->zy * a->zy);
    k->n[0] = -a->zx * k->per, k->n[1] = -a->zy * k->per, k->n[2] = k->per;
    k->rho = a->h * k->per;
    k->lean = v3_dot(k->n, a->u);
    k->sigma = sc_sqrt(1 - k->lean * k->lean), k->inverse = 1 / k->sigma;
    k->delta = (is_on(e, CST_TIRE_UPRIGHT) ? R : R * k->sigma) - k->rho;
    v3_cross(a->u, k->n, k->cross);
    for (int i = 0; i < 3; i++) k->b[i] = k->inverse * k->cross[i];
    v3_cross(k->n, k->b, k->l);
    for (int i = 0; i < 3; i++) {
        k->lift[i] = k->lean * a->u[i] - k->n[i];
        k->arm[i] = is_on(e, CST_TIRE_BELOW) ? -k->rho * k->n[i]
                                             : R * k->inverse * k->lift[i] + k->delta * k->n[i];
    }
}

/* kappa and alpha from the velocities, or from the states, whose rates are results */
static void slips(const cst_local *e, const input *a, contact *k)
{
    real low = a->p[CST_TIRE_LOW];
    v3_cross(a->w, k->n, k->wn);
    k->r = is_on(e, CST_TIRE_NOMINAL) ? a->p[CST_TIRE_RADIUS] : k->rho;
    k->along = v3_dot(k->b, a->v), k->across = v3_dot(k->l, a->v);
    if (!is_on(e, CST_TIRE_AT_CENTRE)) k->across -= k->rho * v3_dot(k->l, k->wn);
    k->s_x = k->r * v3_dot(k->b, k->wn) - k->along;
    k->ahead = speed(k->along, low);
    if (e->nz) {
        k->y[ZD] = (k->s_x - k->ahead * a->z[0]) / a->p[CST_TIRE_RELAX_X];
        k->y[ZD + 1] = (-k->across - k->ahead * a->z[1]) / a->p[CST_TIRE_RELAX_Y];
        k->x[CST_TIRE_KAPPA] = a->z[0], k->x[CST_TIRE_ALPHA] = sc_atan(a->z[1]);
        return;
    }
    k->total = sc_sqrt(k->along * k->along + k->across * k->across);
    k->x[CST_TIRE_KAPPA] = k->s_x / k->ahead;
    k->x[CST_TIRE_ALPHA] = sc_val(k->total) >= sc_val(low)
                               ? -sc_atan2(k->across, sc_abs(k->along))
                               : -sc_asin(k->across / speed(k->total, low));
}

/* A load that is zero but for rounding */
static double least_load(const input *a)
{
    return 1e-8 * sc_val(a->p[CST_TIRE_STIFFNESS] * a->p[CST_TIRE_RADIUS]);
}

/* The arguments of the law */
static void arguments(const cst_local *e, const input *a, contact *k)
{
    geometry(e, a, k);
    slips(e, a, k);
    k->x[CST_TIRE_CAMBER] = -sc_asin(k->lean);
    k->x[CST_TIRE_FN] =
        a->p[CST_TIRE_STIFFNESS] * k->delta - a->p[CST_TIRE_DAMPING] * v3_dot(a->v, k->n);
    /* The road only pushes. A load that is zero to rounding counts as pushing: without damping Fn
     * is zero where contact begins and ends, and the residual of a located event must not decide
     * the slope there. Laws divide by the load, so it must not be exactly zero. */
    double Fn = sc_val(k->x[CST_TIRE_FN]);
    k->loaded = Fn > -least_load(a);
    if (Fn == 0) k->x[CST_TIRE_FN] += 1e-100;
}

/* y. partials: what the reverse sweep needs of the law too; np: numbers of the law, 0 when their
 * partials are not wanted */
static void core(cst_tire_law *law, int partials, int np, const cst_local *e, const input *a,
                 contact *k)
{
    for (int i = 0; i < NOUT; i++) k->y[i] = 0;
    for (int i = 0; i < CST_TIRE_OUT * np; i++) k->f_p[i] = 0;
    arguments(e, a, k);
    if (!k->loaded) return;
    law(k->x, e->p + CST_TIRE_OWN, k->f, partials ? k->f_x : NULL, np ? k->f_p : NULL);
    for (int i = 0; i < 3; i++)
        k->y[F + i] =
            k->x[CST_TIRE_FN] * k->n[i] + k->f[CST_TIRE_FX] * k->b[i] + k->f[CST_TIRE_FY] * k->l[i];
    v3_cross(k->arm, k->y + F, k->y + M);
    v3_axpy(k->f[CST_TIRE_MZ], k->n, k->y + M);
}

/* ---- the reverse sweep: from bars of y to bars of the inputs, in the order of core backwards ----
 */

typedef struct bars {
    real rho, lean, delta, b[3], l[3], n[3], along, across, s_x, ahead;
} bars;

/* a x b . c: bars of a and b from that of the product */
static void cross_reverse(const real *a, const real *b, const real *bar, real scale, real *abar,
                          real *bbar)
{
    real c[3];
    v3_cross(b, bar, c);
    v3_axpy(scale, c, abar);
    v3_cross(bar, a, c);
    v3_axpy(scale, c, bbar);
}

static void arm_reverse(const cst_local *e, const input *a, const contact *k, const real *bar,
                        bars *g, real *inverse, input *o)
{
    if (is_on(e, CST_TIRE_BELOW)) {
        g->rho -= v3_dot(k->n, bar);
        v3_axpy(-k->rho, bar, g->n);
        return;
    }
    real R = a->p[CST_TIRE_RADIUS], lifted = v3_dot(k->lift, bar);
    o->p[CST_TIRE_RADIUS] += k->inverse * lifted;
    *inverse += R * lifted;
    g->lean += R * k->inverse * v3_dot(a->u, bar);
    v3_axpy(R * k->inverse * k->lean, bar, o->u);
    v3_axpy(k->delta - R * k->inverse, bar, g->n);
    g->delta += v3_dot(k->n, bar);
}

/* Forces, and the law's arguments: their bars in x */
static void force_reverse(const cst_local *e, const input *a, const contact *k, const real *ybar,
                          bars *g, real *x, real *inverse, input *o)
{
    real force[3], arm[3] = {0}, f[CST_TIRE_OUT];
    for (int i = 0; i < 3; i++) force[i] = ybar[F + i];
    cross_reverse(k->arm, k->y + F, ybar + M, 1, arm, force);
    f[CST_TIRE_FX] = v3_dot(k->b, force), f[CST_TIRE_FY] = v3_dot(k->l, force),
    f[CST_TIRE_MZ] = v3_dot(k->n, ybar + M);
    v3_axpy(k->f[CST_TIRE_MZ], ybar + M, g->n);
    v3_axpy(k->x[CST_TIRE_FN], force, g->n);
    v3_axpy(k->f[CST_TIRE_FX], force, g->b);
    v3_axpy(k->f[CST_TIRE_FY], force, g->l);
    for (int m = 0; m < CST_TIRE_IN; m++)
        for (int i = 0; i < CST_TIRE_OUT; i++) x[m] += k->f_x[i * CST_TIRE_IN + m] * f[i];
    x[CST_TIRE_FN] += v3_dot(k->n, force);
    arm_reverse(e, a, k, arm, g, inverse, o);
    real Fn = x[CST_TIRE_FN], c = a->p[CST_TIRE_DAMPING];
    o->p[CST_TIRE_STIFFNESS] += Fn * k->delta;
    o->p[CST_TIRE_DAMPING] -= Fn * v3_dot(a->v, k->n);
    g->delta += Fn * a->p[CST_TIRE_STIFFNESS];
    v3_axpy(-Fn * c, k->n, o->v);
    v3_axpy(-Fn * c, a->v, g->n);
    g->lean -= x[CST_TIRE_CAMBER] * k->inverse;
}

static void slips_reverse(const cst_local *e, const input *a, const contact *k, const real *ybar,
                          const real *x, bars *g, input *o)
{
    real low = a->p[CST_TIRE_LOW], kappa = x[CST_TIRE_KAPPA], alpha = x[CST_TIRE_ALPHA];
    if (e->nz) {
        real first = ybar[ZD] / a->p[CST_TIRE_RELAX_X],
             second = ybar[ZD + 1] / a->p[CST_TIRE_RELAX_Y];
        g->s_x = first, g->across = -second;
        g->ahead = -(first * a->z[0] + second * a->z[1]);
        o->z[0] = kappa - k->ahead * first,
        o->z[1] = alpha / (1 + a->z[1] * a->z[1]) - k->ahead * second;
        o->p[CST_TIRE_RELAX_X] = -first * k->y[ZD], o->p[CST_TIRE_RELAX_Y] = -second * k->y[ZD + 1];
    } else {
        g->s_x = kappa / k->ahead;
        g->ahead = -g->s_x * k->x[CST_TIRE_KAPPA];
        if (sc_val(k->total) >= sc_val(low)) {
            real per = alpha / (k->total * k->total);
            g->across = -per * sc_abs(k->along);
            g->along = sc_val(k->along) < 0 ? -per * k->across : per * k->across;
        } else { /* total^2 = along^2 + across^2 in the speed */
            real total = speed(k->total, low), sine = k->across / total,
                 c = -alpha / sc_sqrt(1 - sine * sine) / total;
            real squared = -c * sine / low;
            g->across = c + squared * k->across;
            g->along = squared * k->along;
            o->p[CST_TIRE_LOW] -= 0.5 * c * sine * (1 - k->total * k->total / (low * low));
        }
    }
    speed_reverse(k->along, low, g->ahead, &g->along, &o->p[CST_TIRE_LOW]);
    g->along -= g->s_x;
}

/* o: bars of the inputs from those of y */
static void reverse(const cst_local *e, const input *a, const contact *k, const real ybar[NOUT],
                    input *o)
{
    bars g = {0};
    real x[CST_TIRE_IN] = {0}, wn[3], inverse = 0, R = a->p[CST_TIRE_RADIUS];
    memset(o, 0, sizeof *o);
    if (k->loaded) force_reverse(e, a, k, ybar, &g, x, &inverse, o);
    slips_reverse(e, a, k, ybar, x, &g, o);
    real rolled = g.s_x * v3_dot(k->b, k->wn);
    if (is_on(e, CST_TIRE_NOMINAL))
        o->p[CST_TIRE_RADIUS] += rolled;
    else
        g.rho += rolled;
    for (int i = 0; i < 3; i++) {
        wn[i] = g.s_x * k->r * k->b[i];
        g.b[i] += g.s_x * k->r * k->wn[i] + g.along * a->v[i], g.l[i] += g.across * a->v[i];
        o->v[i] += g.along * k->b[i] + g.across * k->l[i];
    }
    if (!is_on(e, CST_TIRE_AT_CENTRE)) {
        g.rho -= g.across * v3_dot(k->l, k->wn);
        v3_axpy(-g.across * k->rho, k->l, wn);
        v3_axpy(-g.across * k->rho, k->wn, g.l);
    }
    cross_reverse(a->w, k->n, wn, 1, o->w, g.n);
    cross_reverse(k->n, k->b, g.l, 1, g.n, g.b);
    inverse += v3_dot(k->cross, g.b);
    cross_reverse(a->u, k->n, g.b, k->inverse, o->u, g.n);
    real sigma = is_on(e, CST_TIRE_UPRIGHT) ? 0 : R * g.delta;
    o->p[CST_TIRE_RADIUS] += is_on(e, CST_TIRE_UPRIGHT) ? g.delta : k->sigma * g.delta;
    g.rho -= g.delta;
    sigma -= inverse * k->inverse * k->inverse;
    g.lean -= sigma * k->lean * k->inverse;
    v3_axpy(g.lean, a->u, g.n);
    v3_axpy(g.lean, k->n, o->u);
    o->h = k->per * g.rho;
    real per = a->h * g.rho - a->zx * g.n[0] - a->zy * g.n[1] + g.n[2],
         cubed = k->per * k->per * k->per * per;
    o->zx = -k->per * g.n[0] - cubed * a->zx;
    o->zy = -k->per * g.n[1] - cubed * a->zy;
    o->zt = -o->v[2];
}

/* Inputs of the core from the element's state; registers of the tape are filled. 0: no contact. Off
 * the road the states fade: the law is the same without load. */
static int inputs(const cst_local *e, input *a)
{
    const real *x = e->x, *xd = e->xd;
    law_eval(e, NULL);
    int touches = sc_val(law_out(e, CST_ROAD_CONTACT)) > 0.5;
    memset(a, 0, sizeof *a);
    for (int i = 0; i < 3; i++) {
        real c[3];
        v3_cross(x + E + 3 * i, xd + E + 3 * i, c);
        v3_axpy(0.5, c, a->w);
        a->v[i] = xd[C + i], a->u[i] = x[U + i];
    }
    a->h = x[C + 2] - law_out(e, CST_ROAD_Z);
    a->zx = law_out(e, CST_ROAD_ZX), a->zy = law_out(e, CST_ROAD_ZY),
    a->zt = law_out(e, CST_ROAD_ZT);
    a->v[2] -= a->zt;
    for (int i = 0; i < e->nz; i++) a->z[i] = e->z[i];
    for (int i = 0; i < CST_TIRE_BELOW; i++) a->p[i] = e->p[i];
    if (!touches) a->p[CST_TIRE_STIFFNESS] = a->p[CST_TIRE_DAMPING] = 0;
    return touches || e->nz;
}

void CST_K(cst_tire_force)(cst_tire_law *law, const cst_local *e, real *f, real *zd)
{
    input a;
    contact k;
    for (int i = 0; i < NX; i++) f[i] = 0;
    if (!inputs(e, &a)) return;
    core(law, 0, 0, e, &a, &k);
    for (int i = 0; i < e->nz; i++) zd[i] = k.y[ZD + i];
    if (!k.loaded) return;
    const real m[3] = {0.5 * k.y[M], 0.5 * k.y[M + 1], 0.5 * k.y[M + 2]};
    for (int i = 0; i < 3; i++) f[C + i] = k.y[F + i], v3_cross(m, e->x + E + 3 * i, f + E + 3 * i);
}

/* 0: off the road; 1: the force would pull; otherwise 2 + the piece of the law */
int CST_K(cst_tire_piece_of)(cst_tire_piece *piece, const cst_local *e)
{
    input a;
    contact k;
    if (!inputs(e, &a) || sc_val(law_out(e, CST_ROAD_CONTACT)) < 0.5) return 0;
    arguments(e, &a, &k);
    if (sc_val(k.x[CST_TIRE_FN]) < -least_load(&a)) return 1;
    if (sc_val(k.x[CST_TIRE_FN]) < least_load(&a))
        k.x[CST_TIRE_FN] = least_load(&a); /* laws need one */
    return 2 + piece(k.x, e->p + CST_TIRE_OWN);
}

/* ---- partials ---- */

/* Rows dy of the changes of y by n variables, as rows of f and the states: M is a moment on the
 * triad */
static void put_rows(const cst_local *e, int n, real dy[][NX], real *J)
{
    for (int i = 0; i < 3; i++) {
        const real *t = e->x + E + 3 * i;
        for (int j = 0; j < n; j++) {
            const real m[3] = {0.5 * dy[M][j], 0.5 * dy[M + 1][j], 0.5 * dy[M + 2][j]};
            J[(C + i) * n + j] = dy[F + i][j];
            J[(E + 3 * i) * n + j] = m[1] * t[2] - m[2] * t[1];
            J[(E + 3 * i + 1) * n + j] = m[2] * t[0] - m[0] * t[2];
            J[(E + 3 * i + 2) * n + j] = m[0] * t[1] - m[1] * t[0];
        }
    }
    for (int i = 0; i < e->nz; i++)
        for (int j = 0; j < n; j++) J[(NX + i) * n + j] = dy[ZD + i][j];
}

/* Change d of y into column j of J, which has `stride` columns */
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

/* What a change of an output of the road does: z lowers the height above it */
static real road_bar(const input *o, int out)
{
    return out == CST_ROAD_Z    ? -o->h
           : out == CST_ROAD_ZX ? o->zx
           : out == CST_ROAD_ZY ? o->zy
                                : o->zt;
}

/* Slopes of the road's outputs along x and y; those that are numbers have none. */
static void road_slopes(const cst_local *e, real slope[CST_ROAD_CONTACT][2])
{
    for (int k = CST_ROAD_Z; k < CST_ROAD_CONTACT; k++) {
        real d_x[NX] = {0};
        if (e->tape->out[k] >= e->tape->nchannel + e->tape->nnumber)
            law_gradient(e, k, 1, NULL, d_x, NULL, NULL, NULL);
        slope[k][0] = d_x[C], slope[k][1] = d_x[C + 1];
    }
}

/* omega = 1/2 sum e_i x e_i' */
static void partials_x(const cst_local *e, const contact *k, const input *o, real *J)
{
    real slope[CST_ROAD_CONTACT][2], dy[NOUT][NX];
    const real m[3] = {0.5 * k->y[M], 0.5 * k->y[M + 1], 0.5 * k->y[M + 2]};
    road_slopes(e, slope);
    for (int r = 0; r < NOUT; r++) {
        dy[r][C] = dy[r][C + 1] = 0;
        for (int l = CST_ROAD_Z; l < CST_ROAD_CONTACT; l++)
            for (int j = 0; j < 2; j++) dy[r][C + j] += road_bar(&o[r], l) * slope[l][j];
        dy[r][C + 2] = o[r].h;
        for (int i = 0; i < 3; i++) {
            dy[r][U + i] = o[r].u[i];
            v3_cross(e->xd + E + 3 * i, o[r].w, dy[r] + E + 3 * i);
            for (int l = 0; l < 3; l++) dy[r][E + 3 * i + l] *= 0.5;
        }
    }
    put_rows(e, NX, dy, J);
    for (int i = E; i < NX; i += 3) { /* M x e_i itself */
        J[i * NX + i + 1] -= m[2], J[i * NX + i + 2] += m[1];
        J[(i + 1) * NX + i] += m[2], J[(i + 1) * NX + i + 2] -= m[0];
        J[(i + 2) * NX + i] -= m[1], J[(i + 2) * NX + i + 1] += m[0];
    }
}

static void partials_xd(const cst_local *e, const input *o, real *J)
{
    real dy[NOUT][NX];
    for (int r = 0; r < NOUT; r++)
        for (int i = 0; i < 3; i++) {
            dy[r][C + i] = o[r].v[i], dy[r][U + i] = 0;
            v3_cross(o[r].w, e->x + E + 3 * i, dy[r] + E + 3 * i);
            for (int l = 0; l < 3; l++) dy[r][E + 3 * i + l] *= 0.5;
        }
    put_rows(e, NX, dy, J);
}

static void partials_p(const cst_local *e, const contact *k, int np, const input *o, real *J)
{
    const cst_tape *t = e->tape;
    real d[NOUT] = {0}, *bar = e->reg + t->nreg;
    for (int j = 0; j < CST_TIRE_BELOW; j++) {
        for (int r = 0; r < NOUT; r++) d[r] = o[r].p[j];
        put_column(e, d, e->np, j, J);
    }
    d[ZD] = d[ZD + 1] = 0;
    for (int j = 0; k->loaded && j < np; j++) {
        const real *g = k->f_p + j;
        for (int i = 0; i < 3; i++)
            d[F + i] = g[CST_TIRE_FX * np] * k->b[i] + g[CST_TIRE_FY * np] * k->l[i];
        v3_cross(k->arm, d + F, d + M);
        v3_axpy(g[CST_TIRE_MZ * np], k->n, d + M);
        put_column(e, d, e->np, CST_TIRE_OWN + j, J);
    }
    for (int l = CST_ROAD_Z; l < CST_ROAD_CONTACT; l++) {    /* numbers of the road */
        law_gradient(e, l, 1, NULL, NULL, NULL, NULL, NULL); /* leaves the bars */
        for (int j = 0; j < t->nnumber; j++) {
            real change = bar[t->nchannel + j];
            if (change == 0) continue;
            for (int r = 0; r < NOUT; r++) d[r] = change * road_bar(&o[r], l);
            put_column(e, d, e->np, law_np(e) + j, J);
        }
    }
}

/* Bars of the inputs for each result */
static void all_bars(const cst_local *e, const input *a, const contact *k, input o[NOUT])
{
    for (int r = 0; r < NOUT; r++) {
        real seed[NOUT] = {0};
        seed[r] = 1;
        if (r < ZD ? k->loaded : r < ZD + e->nz)
            reverse(e, a, k, seed, &o[r]);
        else
            memset(&o[r], 0, sizeof o[r]);
    }
}

void CST_K(cst_tire_partials)(cst_tire_law *law, int np, const cst_local *e, real *f_x, real *f_xd,
                              real *f_z, real *f_p)
{
    input a, o[NOUT];
    contact k;
    int rows = NX + e->nz;
    for (int i = 0; f_x && i < rows * NX; i++) f_x[i] = 0;
    for (int i = 0; f_xd && i < rows * NX; i++) f_xd[i] = 0;
    for (int i = 0; f_z && i < rows * e->nz; i++) f_z[i] = 0;
    for (int i = 0; f_p && i < rows * e->np; i++) f_p[i] = 0;
    if (!inputs(e, &a)) return;
    core(law, 1, f_p ? np : 0, e, &a, &k);
    all_bars(e, &a, &k, o);
    if (f_x) partials_x(e, &k, o, f_x);
    if (f_xd) partials_xd(e, o, f_xd);
    for (int j = 0; f_z && j < e->nz; j++) {
        real d[NOUT];
        for (int r = 0; r < NOUT; r++) d[r] = o[r].z[j];
        put_column(e, d, e->nz, j, f_z);
    }
    if (f_p) partials_p(e, &k, np, o, f_p);
}

/* Bars of the road's outputs, back through its tape: to c and to its numbers */
static void road_reverse(const cst_local *e, const input *o, real *x, real *p)
{
    const cst_tape *t = e->tape;
    real *bar = e->reg + t->nreg;
    for (int i = 0; i < t->nreg; i++) bar[i] = 0;
    for (int l = CST_ROAD_Z; l < CST_ROAD_CONTACT; l++) bar[t->out[l]] += road_bar(o, l);
    CST_K(cst_tape_reverse)(t, e->reg, bar);
    for (int i = 0; i < t->nchannel; i++)
        if (t->channel[i].kind == CST_CH_X && t->channel[i].order == 0)
            x[t->channel[i].index] += bar[i];
    for (int i = 0; i < t->nnumber; i++) p[law_np(e) + i] += bar[t->nchannel + i];
}

/* f_ei = 1/2 M x e_i: w.f changes by 1/2 (e_i x w_ei) with M, by 1/2 (w_ei x M) with e_i */
void CST_K(cst_tire_transposed)(cst_tire_law *law, int np, const cst_local *e, const real *w,
                                real *x, real *xd, real *z, real *p)
{
    input a, o;
    contact k;
    real bar[NOUT] = {0}, force[3], c[3];
    for (int i = 0; i < NX; i++) x[i] = xd[i] = 0;
    for (int i = 0; i < e->nz; i++) z[i] = 0;
    if (!inputs(e, &a)) return;
    core(law, 1, np, e, &a, &k);
    for (int i = 0; i < 3 && k.loaded; i++) {
        bar[F + i] = w[C + i];
        v3_cross(e->x + E + 3 * i, w + E + 3 * i, c);
        v3_axpy(0.5, c, bar + M);
        v3_cross(w + E + 3 * i, k.y + M, c);
        v3_axpy(0.5, c, x + E + 3 * i);
    }
    for (int i = 0; i < e->nz; i++) bar[ZD + i] = w[NX + i];
    reverse(e, &a, &k, bar, &o);
    for (int i = 0; i < 3; i++) {
        x[U + i] = o.u[i], xd[C + i] = o.v[i];
        v3_cross(e->xd + E + 3 * i, o.w, c);
        v3_axpy(0.5, c, x + E + 3 * i);
        v3_cross(o.w, e->x + E + 3 * i, c);
        v3_axpy(0.5, c, xd + E + 3 * i);
    }
    x[C + 2] = o.h;
    road_reverse(e, &o, x, p);
    for (int i = 0; i < e->nz; i++) z[i] = o.z[i];
    for (int i = 0; i < CST_TIRE_BELOW; i++) p[i] += o.p[i];
    if (!k.loaded) return;
    for (int i = 0; i < 3; i++) force[i] = bar[F + i];
    v3_cross(bar + M, k.arm, c);
    v3_axpy(1, c, force);
    const real f[CST_TIRE_OUT] = {v3_dot(k.b, force), v3_dot(k.l, force), v3_dot(k.n, bar + M)};
    for (int j = 0; j < np; j++)
        for (int i = 0; i < CST_TIRE_OUT; i++) p[CST_TIRE_OWN + j] += f[i] * k.f_p[i * np + j];
}

int CST_K(cst_tire_partial_t)(cst_tire_law *law, const cst_local *e, real *f_t)
{
    input a, o[NOUT];
    contact k;
    real d[NOUT] = {0};
    for (int i = 0; i < NX + e->nz; i++) f_t[i] = 0;
    if (!inputs(e, &a) || !law_time(e)) return 0;
    core(law, 1, 0, e, &a, &k);
    all_bars(e, &a, &k, o);
    for (int l = CST_ROAD_Z; l < CST_ROAD_CONTACT; l++)
        for (int r = 0; r < NOUT; r++) d[r] += law_out_t(e, l) * road_bar(&o[r], l);
    put_column(e, d, 1, 0, f_t);
    return 1;
}

int CST_K(cst_tire_energy)(const cst_local *e, real *V)
{
    (void)e;
    *V = 0; /* the road moves, and the friction takes energy: it has no potential */
    return 0;
}
