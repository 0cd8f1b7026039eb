/* SPDX-License-Identifier: MIT
 *
 * Tangent and adjoint of the trapezoidal rule. With D = df1/du1, through positions and element
 * states too,
 *
 *     (I - h/2 D) du1 = du0 + h/2 (du0' + d f1 at fixed u1) + ...        (I - h/2 D)^T x = what
 * asks for u1
 *
 * D is applied by the derivatives of what follows from a state; both systems are solved by
 * correction with N (trapezoid.c): (I - h/2 D)^-1 is nearly E^T N^-1 [W; J/kappa], E^T takes the
 * velocities. */
#include "integrator/trapezoid.h"
#include "linalg/krylov.h"

#include <math.h>
#include <string.h>

int cst_iteration_settled(double change, double size, int it, double *before)
{
    double theta = it ? change / *before : 0;
    *before = change;
    if (change <= 1e-16 * size || (it && theta < 1 && theta / (1 - theta) * change <= 1e-16 * size))
        return 1;
    return theta > 0.3 && ((it && change <= 1e-13 * size) ||
                           (it > 8 && change <= 1e-6 * size)); /* no longer contracting */
}

#define NOTHING                                                                                    \
    1e-290 /* near the end of the range of numbers, where 1e-16 of a size is no number */

cst_iteration cst_iteration_ends(int noise, double change, double size, int it, double *before)
{
    double theta = it ? change / *before : 0;
    *before = change;
    if (isnan(change))
        return CST_ITERATION_SETTLED; /* a number without a derivative: that it is none is carried
                                         on */
    if (isinf(change)) return CST_ITERATION_FAILED;
    if (noise || change <= NOTHING) return CST_ITERATION_SETTLED;
    if (change <= 1e-16 * size || (it && theta < 1 && theta / (1 - theta) * change <= 1e-16 * size))
        return CST_ITERATION_SETTLED;
    if (it && theta > 0.3 && change <= 1e-13 * size) return CST_ITERATION_SETTLED;
    return it < CST_ITERATION_MOST - 1 ? CST_ITERATION_GOES_ON : CST_ITERATION_SETTLED;
}

double cst_iteration_worse(double worst, double change, double size)
{
    return !isfinite(change)                   ? change
           : size > NOTHING && isfinite(worst) ? fmax(worst, change / size)
                                               : worst;
}

/* ---- tangent ---- */

typedef struct tangent_work {
    double *q0, *u0, *z0, *ud0, *zd0, *qd0, *quad0, *F, *x, *dxi, *v, *v0, *z_in;
    cst_krylov krylov;
} tangent_work;

void cst_trapezoid_open_tangent(cst_arena *a, cst_tangent *t)
{
    const cst_model *m = t->w->s->m;
    tangent_work *o = t->own = cst_new(a, tangent_work, 1);
    struct {
        double **at;
        int size;
    } part[] = {{&o->q0, m->nq},     {&o->u0, m->nu},      {&o->z0, m->nz},        {&o->ud0, m->nu},
                {&o->zd0, m->nz},    {&o->qd0, m->quad.n}, {&o->quad0, m->quad.n}, {&o->F, m->nu},
                {&o->x, t->w->k->n}, {&o->dxi, m->nu},     {&o->v, m->nq},         {&o->v0, m->nq},
                {&o->z_in, m->nz}};
    for (size_t i = 0; i < sizeof part / sizeof *part; i++)
        *part[i].at = cst_new(a, double, part[i].size + 1);
    o->krylov = cst_krylov_new(a, m->nu, m->nu);
}

/* Changes of positions and element states at y, from those of the velocities in t->u */
static void follow(cst_tangent *t, const cst_state *y0, const cst_state *y, double h)
{
    cst_system *s = t->w->s;
    const cst_model *m = s->m;
    tangent_work *o = t->own;
    double *xi = ((cst_trapezoid *)t->w->own)->xi;
    for (int i = 0; i < m->nu; i++) {
        xi[i] = h / 2 * (y0->u[i] + y->u[i]);
        o->dxi[i] = h / 2 * (o->u0[i] + t->u[i]) + t->h / 2 * (y0->u[i] + y->u[i]);
    }
    if (((cst_trapezoid *)t->w->own)
            ->ambient) { /* dv1 = T du1 + L(dq1, u1), dq1 of the iteration before */
        cst_T(s, y->q, t->u, o->v);
        cst_L_add(s, t->q, y->u, o->v);
        for (int i = 0; i < m->nq; i++) t->q[i] = o->q0[i] + h / 2 * (o->v0[i] + o->v[i]);
    } else {
        cst_move_change(s, y0->q, xi, o->q0, o->dxi, t->q);
    }
    if (!m->nz) return;
    cst_system_place(s, *y->t, y->q);
    cst_T(s, y->q, y->u, t->V);
    cst_system_rates(s, t->V);
    cst_T(s, y->q, t->u, o->v);
    cst_L_add(s, t->q, y->u, o->v);
    const cst_pass_at at = {
        .q = y->q, .v = t->V, .z = y->z, .mem = y->mem, .forces = 1, .hz = h / 2};
    const cst_tangent_in in = {.q = t->q, .v = o->v, .z = o->z_in, .P = t->P, .t = t->t};
    const cst_tangent_out out = {.z = t->z, .x = t->x, .xd = t->xd};
    cst_tangent_pass(t->pass, &at, &in, &out);
}

cst_status cst_trapezoid_tangent(cst_tangent *t, const cst_state *y0, const cst_state *y1,
                                 int factor)
{
    cst_motion *w = t->w;
    const cst_model *m = w->s->m;
    tangent_work *o = t->own;
    double h = *y1->h, none = 0, before = 0;
    cst_state y = *y1;
    y.mem = y0->mem,
    y.h = &none; /* remembered values change after the step; integrals are not asked for here */
    memcpy(o->q0, t->q, sizeof *t->q * (size_t)m->nq),
        memcpy(o->u0, t->u, sizeof *t->u * (size_t)m->nu);
    memcpy(o->ud0, t->ud, sizeof *t->ud * (size_t)m->nu),
        memcpy(o->qd0, t->qd, sizeof *t->qd * (size_t)m->quad.n);
    memcpy(o->quad0, t->quad, sizeof *t->quad * (size_t)m->quad.n);
    cst_T(w->s, y0->q, t->u, o->v0);
    cst_L_add(w->s, t->q, y0->u, o->v0);
    for (int i = 0; i < m->nz; i++)
        o->z_in[i] = t->z[i] + h / 2 * t->zd[i] + t->h * (y1->z[i] - y0->z[i]) / h;
    for (int i = 0; i < m->nu; i++) t->u[i] = o->u0[i] + h * o->ud0[i] + t->h * y0->ud[i];
    if (factor && !cst_trapezoid_matrix(w, h, &y, y.mem)) return CST_NUMERIC;
    ((cst_trapezoid *)w->own)->factored_h = 0;
    cst_krylov_begin(&o->krylov, 1);
    for (int it = 0; it < CST_ITERATION_MOST; it++) {
        double size = 0;
        follow(t, y0, &y, h);
        if (cst_tangent_derive(t, &y, factor && it == 0) != CST_OK) return CST_NUMERIC;
        for (int i = 0; i < m->nu; i++)
            o->F[i] = t->u[i] - o->u0[i] - h / 2 * (o->ud0[i] + t->ud[i]) -
                      t->h / 2 * (y0->ud[i] + y1->ud[i]);
        cst_trapezoid_correct(w, h, o->F, o->x);
        int noise = cst_krylov_next(&o->krylov, t->u, o->x);
        for (int i = 0; i < m->nu; i++) size = fmax(size, fabs(t->u[i]) + h * fabs(t->ud[i]));
        cst_iteration end = cst_iteration_ends(noise, cst_largest(m->nu, o->x), size, it, &before);
        if (end == CST_ITERATION_FAILED) return CST_NUMERIC;
        if (end == CST_ITERATION_SETTLED) break;
    }
    follow(t, y0, &y, h);
    for (int i = 0; i < m->quad.n; i++) /* the rate at the end follows in derive */
        t->quad[i] = o->quad0[i] + h / 2 * o->qd0[i] + t->h * (y0->qd[i] + y1->qd[i]) / 2;
    return CST_OK;
}

/* ---- adjoint ---- */

typedef struct adjoint_work {
    double *q, *u, *z, *quad; /* what asks for state 1 */
    double *x, *y;            /* bars of u1, all told; the map applied to x */
    double *q0, *xi;          /* bars of state 0's positions and of the move */
    double *P, *val, *t;      /* thrown away while x is not final */
    double *b;                /* (2n) */
    double *move;             /* (nu) xi itself */
    cst_krylov *krylov;       /* per right-hand side */
} adjoint_work;

void cst_trapezoid_open_adjoint(cst_arena *a, cst_adjoint *ad)
{
    const cst_model *m = ad->w->s->m;
    adjoint_work *o = ad->own = cst_new(a, adjoint_work, 1);
    struct {
        double **at;
        int size;
    } part[] = {{&o->q, m->nq},      {&o->u, m->nu},
                {&o->z, m->nz},      {&o->quad, m->quad.n},
                {&o->x, m->nu},      {&o->y, m->nu},
                {&o->q0, m->nq},     {&o->xi, m->nu},
                {&o->P, m->bound.n}, {&o->val, cst_graph_values(m->graph)},
                {&o->t, 1}};
    for (size_t i = 0; i < sizeof part / sizeof *part; i++)
        *part[i].at = cst_new(a, double, 1 + (size_t)ad->n * (size_t)part[i].size);
    o->b = cst_new(a, double, 2 * ad->w->k->n + 1);
    o->move = cst_new(a, double, m->nu + 1);
    o->krylov = cst_new(a, cst_krylov, ad->n + 1);
    for (int r = 0; r < ad->n; r++) o->krylov[r] = cst_krylov_new(a, m->nu, m->nu);
}

cst_status cst_trapezoid_prepare(cst_prepared *p, const cst_state *y0, const cst_state *y1)
{
    cst_status ok = cst_adjoint_prepare(p, NULL, y1);
    if (ok != CST_OK || !y0) return ok;
    p->factorizations++;
    return cst_trapezoid_matrix(p->w, *y1->h, y1, y0->mem) ? CST_OK : CST_NUMERIC;
}

#define SECTION(array, size) ((array) + (size_t)r * (size_t)(size))

static void copy(const cst_adjoint *ad, int size, const double *from, double *to)
{
    memcpy(to, from, sizeof *to * (size_t)ad->n * (size_t)size);
}

static void clear(const cst_adjoint *ad, int size, double *x)
{
    memset(x, 0, sizeof *x * (size_t)ad->n * (size_t)size);
}

static void add(int n, const double *x, double *y)
{
    for (int i = 0; i < n; i++) y[i] += x[i];
}

/* y = what asks for u1, with x asking for its equation: bars of positions in ad->q, zeta, xi, q0 on
 * the way */
static cst_status apply(cst_adjoint *ad, const cst_state *y0, const cst_state *at1, double h)
{
    cst_system *s = ad->w->s;
    const cst_model *m = s->m;
    adjoint_work *o = ad->own;
    clear(ad, m->nq, ad->q), clear(ad, m->nu, ad->u), clear(ad, m->nz, ad->z),
        clear(ad, m->quad.n, ad->quad);
    for (int i = 0; i < ad->n * m->nu; i++) ad->ud[i] = h / 2 * o->x[i];
    cst_status ok = cst_adjoint_derive(ad, at1);
    if (ok != CST_OK) return ok;
    for (int r = 0; r < ad->n; r++) {
        add(m->nq, SECTION(o->q, m->nq), SECTION(ad->q, m->nq)),
            add(m->nu, SECTION(o->u, m->nu), SECTION(ad->u, m->nu));
        add(m->nz, SECTION(o->z, m->nz), SECTION(ad->z, m->nz));
    }
    if (m->nz) { /* z1 = z0 + h/2 (z0' + g(q1, v1, z1)) */
        double *v = ad->V;
        cst_T(s, at1->q, at1->u, v);
        cst_system_rates(s, v);
        clear(ad, m->nz, ad->zeta), clear(ad, m->nq, ad->v);
        const cst_pass_at at = {
            .q = at1->q, .v = v, .z = at1->z, .mem = at1->mem, .forces = 1, .hz = h / 2};
        const cst_adjoint_in in = {.nrhs = ad->n, .zbar = ad->z};
        const cst_adjoint_out out = {.x = ad->x,
                                     .xd = ad->xd,
                                     .q = ad->q,
                                     .v = ad->v,
                                     .z = ad->zeta,
                                     .P = ad->P,
                                     .t = ad->timed ? ad->t : NULL};
        cst_adjoint_pass(ad->pass, &at, &in, &out);
        for (int r = 0; r < ad->n; r++)
            cst_rates_bar(s, at1->q, at1->u, SECTION(ad->v, m->nq), SECTION(ad->q, m->nq),
                          SECTION(ad->u, m->nu));
    }
    clear(ad, m->nq, o->q0), clear(ad, m->nu, o->xi);
    for (int r = 0; r < ad->n; r++) {
        cst_move_bar(s, y0->q, o->move, SECTION(ad->q, m->nq), SECTION(o->q0, m->nq),
                     SECTION(o->xi, m->nu));
        for (int i = 0; i < m->nu; i++)
            SECTION(o->y, m->nu)[i] = SECTION(ad->u, m->nu)[i] + h / 2 * SECTION(o->xi, m->nu)[i];
    }
    return CST_OK;
}

void cst_trapezoid_correct_bar(cst_motion *f, double h, const double *rho, double *dx,
                               double *scratch)
{
    const cst_kkt *k = f->k;
    double *b = scratch, *to = b + k->n, kappa = cst_trapezoid_kappa(f, h);
    memset(b, 0, sizeof *b * (size_t)(2 * k->n));
    memcpy(b, rho, sizeof *b * (size_t)k->nu);
    cst_lu_tsolve(f->newton, 1, b);
    for (int i = k->nu; i < k->n; i++) b[i] /= kappa;
    cst_sparse_mul(k->pattern, f->project_val, b, to);
    memcpy(dx, to, sizeof *dx * (size_t)k->nu);
}

/* x += nearly (I - h/2 D)^-T (y - x) for right-hand side r; the worst change against its size so
 * far. noise: cleared where something is left to correct */
static double correct(cst_adjoint *ad, int r, double h, double worst, int *noise)
{
    const cst_kkt *k = ad->w->k;
    adjoint_work *o = ad->own;
    double *x = SECTION(o->x, k->nu), *y = SECTION(o->y, k->nu);
    for (int i = 0; i < k->nu; i++) y[i] -= x[i];
    cst_trapezoid_correct_bar(ad->step->w, h, y, y, o->b);
    if (cst_krylov_next(&o->krylov[r], x, y)) return worst;
    *noise = 0;
    return cst_iteration_worse(worst, cst_largest(k->nu, y), cst_largest(k->nu, x));
}

static cst_status iterate(cst_adjoint *ad, const cst_state *y0, const cst_state *y, double h)
{
    adjoint_work *o = ad->own;
    double *P = ad->P, *val = ad->val, *t = ad->t, before = 0;
    cst_status ok = CST_OK;
    ad->P = o->P, ad->val = o->val, ad->t = o->t;
    clear(ad, ad->w->s->m->nu, o->x);
    for (int r = 0; r < ad->n; r++) cst_krylov_begin(&o->krylov[r], 1);
    cst_iteration end = CST_ITERATION_GOES_ON;
    for (int it = 0; end == CST_ITERATION_GOES_ON && ok == CST_OK; it++) {
        double worst = 0;
        int noise = 1;
        ok = apply(ad, y0, y, h);
        for (int r = 0; r < ad->n; r++) worst = correct(ad, r, h, worst, &noise);
        end = cst_iteration_ends(noise, worst, 1, it, &before);
    }
    if (end == CST_ITERATION_FAILED) ok = CST_NUMERIC;
    ad->P = P, ad->val = val, ad->t = t;
    return ok;
}

cst_status cst_trapezoid_adjoint(cst_adjoint *ad, const cst_state *y0, const cst_state *y1)
{
    const cst_model *m = ad->w->s->m;
    adjoint_work *o = ad->own;
    double h = *y1->h, none = 0;
    cst_state y = *y1;
    y.mem = y0->mem, y.h = &none;
    copy(ad, m->nq, ad->q, o->q), copy(ad, m->nu, ad->u, o->u), copy(ad, m->nz, ad->z, o->z);
    copy(ad, m->quad.n, ad->quad, o->quad);
    for (int i = 0; i < m->nu; i++) o->move[i] = h / 2 * (y0->u[i] + y1->u[i]);
    cst_status ok = iterate(ad, y0, &y, h);
    if (ok == CST_OK) ok = apply(ad, y0, &y, h); /* once more, for the numbers */
    if (ok != CST_OK) return ok;
    copy(ad, m->nq, o->q0, ad->q), copy(ad, m->nz, ad->zeta, ad->z),
        copy(ad, m->quad.n, o->quad, ad->quad);
    for (int r = 0; r < ad->n; r++) {
        const double *x = SECTION(o->x, m->nu), *xi = SECTION(o->xi, m->nu);
        double hbar = 0;
        for (int i = 0; i < m->nu; i++) {
            hbar += x[i] * (y0->ud[i] + y1->ud[i]) / 2 + xi[i] * (y0->u[i] + y1->u[i]) / 2;
            SECTION(ad->u, m->nu)[i] = x[i] + h / 2 * xi[i];
            SECTION(ad->ud, m->nu)[i] = h / 2 * x[i];
        }
        for (int i = 0; i < m->nz; i++) {
            hbar += SECTION(ad->z, m->nz)[i] * (y1->z[i] - y0->z[i]) / h;
            SECTION(ad->zd, m->nz)[i] = h / 2 * SECTION(ad->z, m->nz)[i];
        }
        for (int i = 0; i < m->quad.n; i++) {
            hbar += SECTION(ad->quad, m->quad.n)[i] * (y0->qd[i] + y1->qd[i]) / 2;
            SECTION(ad->qd, m->quad.n)[i] = h / 2 * SECTION(ad->quad, m->quad.n)[i];
        }
        ad->h[r] = hbar;
    }
    return CST_OK;
}
