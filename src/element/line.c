/* SPDX-License-Identifier: MIT
 *
 * Force along the line between two points: springs, dampers, actuators, cables.
 *
 *     d = b - a,  s = |d|,  n = d/s,  v = s' = n.d'
 *     F = F0 + k (s - s0) + c v, or F(s, v, t) from a tape        tension positive
 *     f_a = F n,  f_b = -F n
 *
 * At s = 0 there is no direction, and the rounding by which coincident points differ must not be
 * taken for one. The terms that need no direction remain: with u = |d'|, m = d'/u
 *
 *     f_a = F_s d + (F(0, u) - F(0, 0)) m,   a linear spring and damper: k d + c d'
 *
 * If F(0, 0) is not 0, because of a free length or a preload, it has no direction to act in: the
 * spring is left out with F_s = 0 (the mean of its force over all directions is 0, and it has no
 * derivative: singular). Nor has c n n^T d' a derivative for changes across d'; the one used is for
 * changes along d', those of a motion through s = 0. */
#include <float.h>
#include <math.h>

#include "element/law.h"
#include "linalg/dense.h"

#define ROUNDING (16 * DBL_EPSILON) /* of a marker, to its largest coordinate */

enum { K, C, S0, F0, NP };

typedef struct line {
    real d[3], dd[3], n[3], s, s_inv, v; /* n at s = 0: m */
    real F, F_s, F_v;
    int closed; /* s = 0 */
} line;

static void geometry(const cst_local *e, line *l)
{
    v3_sub(e->x + 3, e->x, l->d);
    v3_sub(e->xd + 3, e->xd, l->dd);
    double far = 0;
    for (int i = 0; i < 6; i++) far = fmax(far, fabs(sc_val(e->x[i])));
    l->s = v3_norm(l->d);
    l->closed = !(sc_val(l->s) > ROUNDING * far);
    if (!l->closed) {
        l->s_inv = 1 / l->s;
        for (int i = 0; i < 3; i++) l->n[i] = l->d[i] * l->s_inv;
        l->v = v3_dot(l->n, l->dd);
        return;
    }
    l->s = 0, l->v = v3_norm(l->dd);
    for (int i = 0; i < 3; i++) l->n[i] = sc_val(l->v) > 0 ? l->dd[i] / l->v : 0;
}

static void tension(const cst_local *e, line *l)
{
    if (e->tape == NULL) {
        const real *p = e->p;
        l->F = p[F0] + p[K] * (l->s - p[S0]) + p[C] * l->v;
        return;
    }
    real arg[2] = {l->s, l->v};
    law_eval(e, arg);
    l->F = law_out(e, 0);
}

static void tension_partials(const cst_local *e, line *l, real *F_p)
{
    if (e->tape != NULL) {
        real F_arg[2];
        law_gradient(e, 0, 1, F_arg, NULL, NULL, NULL, F_p);
        l->F_s = F_arg[0], l->F_v = F_arg[1];
        return;
    }
    l->F_s = e->p[K], l->F_v = e->p[C];
    if (F_p != NULL) F_p[K] = l->s - e->p[S0], F_p[C] = l->v, F_p[S0] = -e->p[K], F_p[F0] = 1;
}

/* s = 0: F becomes F(0, u) - F(0, 0), F_p likewise, f = F_s d + F m; at rest the last is F_v d'.
 * F_p, rest (np): NULL, not asked for */
static void closed_force(const cst_local *e, line *l, real *f, real *F_p, real *rest)
{
    line r = *l;
    r.v = 0;
    tension(e, &r), tension_partials(e, &r, rest);
    tension(e, l), tension_partials(e, l, F_p);
    l->F -= r.F;
    if (sc_val(r.F) != 0) l->F_s = 0;
    for (int j = 0; F_p != NULL && j < e->np; j++) F_p[j] -= rest[j];
    for (int i = 0; i < 3; i++)
        f[i] = l->F_s * l->d[i] + (sc_val(l->v) > 0 ? l->F * l->n[i] : l->F_v * l->dd[i]);
}

static void line_force(const cst_local *e, real *f, real *zd)
{
    (void)zd;
    line l;
    geometry(e, &l);
    if (l.closed)
        closed_force(e, &l, f, NULL, NULL);
    else
        tension(e, &l);
    for (int i = 0; i < 3; i++) f[3 + i] = -(f[i] = l.closed ? f[i] : l.F * l.n[i]);
}

/* A (6 x 6) = [-B B; B -B]: partial of (F n, -F n) by (a, b) from B = d(F n)/dd */
static void expand(const real B[3][3], real *A)
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            A[6 * i + j] = A[6 * (i + 3) + j + 3] = -B[i][j];
            A[6 * i + j + 3] = A[6 * (i + 3) + j] = B[i][j];
        }
}

/* (f_a)_d = F_s I,  (f_a)_d' = F_v m m^T + (I - m m^T) (F(0, u) - F(0, 0))/u, at rest F_v I,
 * (f_a)_p = (F_p(0, u) - F_p(0, 0)) m */
static void closed_partials(const cst_local *e, line *l, real *f_x, real *f_xd, real *f_p)
{
    int np = e->np;
    real B[3][3], f[3], *F_p = f_p != NULL ? f_p + 5 * np : NULL,
                        *rest = f_p != NULL ? f_p + 4 * np : NULL;
    closed_force(e, l, f, F_p, rest);
    real across = sc_val(l->v) > 0 ? l->F / l->v : l->F_v;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) B[i][j] = i == j ? l->F_s : 0;
    if (f_x != NULL) expand(B, f_x);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            B[i][j] = (l->F_v - across) * l->n[i] * l->n[j] + (i == j ? across : 0);
    if (f_xd != NULL) expand(B, f_xd);
}

/* n_d = (I - n n^T)/s,  v_d = (d' - v n)/s,  s_d = v_d' = n
 * (F n)_d = n (F_s n + F_v v_d)^T + F n_d,   (F n)_d' = F_v n n^T,   (F n)_p = F_p n */
static void line_partials(const cst_local *e, real *f_x, real *f_xd, real *f_z, real *f_p)
{
    (void)f_z;
    line l;
    geometry(e, &l);
    /* the last row of f_p is the place for F_p until it is spread over the six rows */
    real *F_p = f_p != NULL ? f_p + 5 * e->np : NULL;
    if (l.closed)
        closed_partials(e, &l, f_x, f_xd, f_p);
    else
        tension(e, &l), tension_partials(e, &l, F_p);
    if (f_x != NULL && !l.closed) {
        real B[3][3], F_d[3], Fs = l.F * l.s_inv;
        for (int j = 0; j < 3; j++)
            F_d[j] = (l.F_s - Fs) * l.n[j] + l.F_v * (l.dd[j] - l.v * l.n[j]) * l.s_inv;
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) B[i][j] = l.n[i] * F_d[j] + (i == j ? Fs : 0);
        expand(B, f_x);
    }
    if (f_xd != NULL && !l.closed) {
        real B[3][3];
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) B[i][j] = l.F_v * l.n[i] * l.n[j];
        expand(B, f_xd);
    }
    if (f_p == NULL) return;
    for (int j = 0; j < e->np; j++) {
        real F = F_p[j];
        for (int i = 0; i < 3; i++)
            f_p[i * e->np + j] = F * l.n[i], f_p[(3 + i) * e->np + j] = -F * l.n[i];
    }
}

static int line_partial_t(const cst_local *e, real *f_t)
{
    if (e->tape == NULL) return 0;
    line l;
    real rest = 0;
    geometry(e, &l);
    if (l.closed) {
        line r = l;
        r.v = 0;
        tension(e, &r);
        rest = law_time(e) ? law_out_t(e, 0) : 0;
    }
    tension(e, &l);
    if (!law_time(e)) return 0;
    for (int i = 0; i < 3; i++) f_t[i] = (law_out_t(e, 0) - rest) * l.n[i], f_t[3 + i] = -f_t[i];
    return 1;
}

static int line_singular(const cst_local *e)
{
    line l;
    geometry(e, &l);
    if (!l.closed) return 0;
    l.v = 0;
    tension(e, &l);
    return sc_val(l.F) != 0;
}

static int line_energy(const cst_local *e, real *V)
{
    *V = 0;
    if (e->tape != NULL) return 0;
    line l;
    geometry(e, &l);
    real u = l.s - e->p[S0];
    *V = (e->p[F0] + 0.5 * e->p[K] * u) * u;
    return 1;
}

static void line_energy_p(const cst_local *e, real *V_p)
{
    for (int i = 0; i < e->np; i++) V_p[i] = 0;
    if (e->tape != NULL) return;
    line l;
    geometry(e, &l);
    real u = l.s - e->p[S0];
    V_p[K] = 0.5 * u * u, V_p[F0] = u, V_p[S0] = -(e->p[F0] + e->p[K] * u);
}

const cst_force_class CST_K(cst_force_line) = {
    .name = "line",
    .nslot = 2,
    .np = NP,
    .nz = 0,
    .force = line_force,
    .partials = line_partials,
    .partial_t = line_partial_t,
    .energy = line_energy,
    .energy_p = line_energy_p,
    .slots = "pp",
    .singular = line_singular,
};
