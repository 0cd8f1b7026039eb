/* SPDX-License-Identifier: MIT
 *
 * Adjoint of the variational midpoint rule (variational.h). With w0 = T(q0) mu, w1 = T(q1) nu,
 *
 *     S = w0 . (M v0 - M v + (1 - a) h F - h phi_q(q0)^T lambda) + k0 . phi(q1)
 *       + w1 . (M v1 - M v - a h F + phi_q(q1)^T eta) + k1 . (phi_x v1 + phi_t)
 *
 * is differentiated with respect to everything; nu, k1 are found from what asks for u1, then mu, k0
 * from what asks for q1. The second system is solved by correction with the factors of N
 * (variational.c, linalg/krylov.h), its residual being exact. */
#include "integrator/trapezoid.h"
#include "integrator/variational.h"
#include "linalg/krylov.h"

#include <math.h>
#include <string.h>

/* y += c J(q0) x (rows), from the J^T block of val0 */
static void start_rows(const cst_motion *w, const double *x, double c, double *y)
{
    const cst_kkt *k = w->k;
    const cst_variational *o = w->own;
    for (int i = 0; i < k->nrow; i++)
        for (int p = k->pattern->ptr[k->nu + i];
             p < k->pattern->ptr[k->nu + i + 1] && k->pattern->row[p] < k->nu; p++)
            y[i] += c * o->val0[p] * x[k->pattern->row[p]];
}

cst_status cst_variational_prepare(cst_prepared *p, const cst_state *y0, const cst_state *y1)
{
    cst_status ok = cst_adjoint_prepare(p, NULL, y1);
    if (ok != CST_OK || !y0) return ok;
    p->factorizations++;
    cst_variational_middle(p->w, y0, *y1->h, y1);
    return cst_variational_matrix(p->w, y0, *y1->h, y1) ? CST_OK : CST_NUMERIC;
}

typedef struct work {
    double *q0, *u0, *q1, *v, *zeta,
        *mid;      /* bars: of both positions, of v, of z0 through zm, of qm */
    double *m, *x; /* (n of the matrix) costates, and what is applied to them */
    double *P, *t, *h, *t0,
        *w0;                /* thrown away while costates are looked for; times before; T(q0) mu */
    double *value, *thrown; /* ambient; bars of q0 that nobody reads */
    cst_krylov *krylov;     /* per right-hand side */
} work;

void cst_variational_open_adjoint(cst_arena *a, cst_adjoint *ad)
{
    const cst_model *m = ad->w->s->m;
    work *o = ad->own = cst_new(a, work, 1);
    struct {
        double **at;
        int size;
    } part[] = {{&o->q0, m->nq},     {&o->u0, m->nu},    {&o->q1, m->nq},      {&o->v, m->nq},
                {&o->zeta, m->nz},   {&o->mid, m->nq},   {&o->m, ad->w->k->n}, {&o->x, ad->w->k->n},
                {&o->P, m->bound.n}, {&o->t, 1},         {&o->h, 1},           {&o->t0, 1},
                {&o->w0, m->nq},     {&o->thrown, m->nq}};
    for (size_t i = 0; i < sizeof part / sizeof *part; i++)
        *part[i].at = cst_new(a, double, 1 + (size_t)ad->n * (size_t)part[i].size);
    o->value = cst_new(a, double, m->nq + 1);
    o->krylov = cst_new(a, cst_krylov, ad->n + 1);
    for (int r = 0; r < ad->n; r++) o->krylov[r] = cst_krylov_new(a, ad->w->k->n, ad->w->k->nu);
}

#define SECTION(array, size) ((array) + (size_t)r * (size_t)(size))

static void clear(const cst_adjoint *ad, int size, double *x)
{
    memset(x, 0, sizeof *x * (size_t)ad->n * (size_t)size);
}

/* S += w . (-f): bars of qm, v, z0; w in ad->wv, its slots made here. zbar: what asks for zm, NULL:
 * nothing */
static void forces_bar(cst_adjoint *ad, const cst_state *y0, const cst_state *y1,
                       const double *zbar)
{
    cst_motion *w = ad->w;
    cst_system *s = w->s;
    const cst_model *m = s->m;
    cst_variational *c = w->own;
    work *o = ad->own;
    cst_variational_middle(w, y0, *y1->h, y1);
    memcpy(o->t0, ad->t, sizeof *ad->t * (size_t)ad->n);
    const cst_pass_at at = {
        .q = c->qm, .v = c->v, .z = c->zm, .mem = y0->mem, .forces = 1, .hz = *y1->h / 2};
    const cst_adjoint_out out = {.x = ad->x,
                                 .xd = ad->xd,
                                 .q = o->mid,
                                 .v = o->v,
                                 .z = o->zeta,
                                 .P = ad->P,
                                 .t = ad->timed ? ad->t : NULL};
    if (zbar && m->nz) {
        const cst_adjoint_in in = {.nrhs = ad->n, .zbar = zbar};
        cst_adjoint_pass(ad->pass, &at, &in, &out);
    }
    for (int r = 0; r < ad->n; r++)
        cst_slots_apply(s, SECTION(ad->wv, m->nq), 0, SECTION(ad->wx, m->nx));
    const cst_adjoint_in in = {.nrhs = ad->n, .w = ad->wv, .wx = ad->wx};
    cst_adjoint_pass(ad->pass, &at, &in, &out);
    for (int r = 0; r < ad->n; r++)
        ad->h[r] -= (1 - c->weight) * (ad->t[r] - o->t0[r]); /* tm = t1 - (1-a) h */
}

/* bars of qm and v, both consumed, to those of q1 and q0 */
static void middle_bar(cst_adjoint *ad, double h)
{
    const cst_model *m = ad->w->s->m;
    work *o = ad->own;
    double a = ((cst_variational *)ad->w->own)->weight;
    for (long i = 0; i < (long)ad->n * m->nq; i++) {
        o->q1[i] += a * o->mid[i] + o->v[i] / h;
        o->q0[i] += (1 - a) * o->mid[i] - o->v[i] / h;
    }
}

/* v . d/dh of (q1 - q0)/h, and clears */
static void length_of_v(cst_adjoint *ad, double h)
{
    const cst_model *m = ad->w->s->m;
    const cst_variational *c = ad->w->own;
    work *o = ad->own;
    for (int r = 0; r < ad->n; r++)
        for (int i = 0; i < m->nq; i++) ad->h[r] -= SECTION(o->v, m->nq)[i] * c->v[i] / h;
    clear(ad, m->nq, o->mid), clear(ad, m->nq, o->v);
}

/* The end's velocities: what asks for u1 becomes bars of q1, qm, v and numbers */
static cst_status end_bar(cst_adjoint *ad, const cst_state *y0, const cst_state *y1)
{
    cst_motion *w = ad->w;
    cst_system *s = w->s;
    const cst_model *m = s->m;
    cst_variational *c = w->own;
    work *o = ad->own;
    double h = *y1->h, share = c->weight * h, *v1 = ad->V, *excess = ad->r;
    double *t = ad->timed ? ad->t : NULL;
    cst_system_place(s, *y1->t, y1->q);
    if (cst_adjoint_solve(ad, CST_OF_PROJECTION, ad->u, NULL) != CST_OK) return CST_NUMERIC;
    cst_adjoint_displace(ad, y1->q, 1);
    cst_T(s, y1->q, y1->u, v1);
    cst_system_rates(s, v1);
    clear(ad, m->nq, ad->a);
    const cst_pass_at at = {.q = y1->q,
                            .v = v1,
                            .z = y1->z,
                            .mem = y0->mem,
                            .lambda = y1->eta,
                            .phases = CST_ROW_MOTION};
    const cst_adjoint_in in = {.nrhs = ad->n, .w = ad->wv, .wx = ad->wx, .k1 = ad->rows};
    const cst_adjoint_out out = {
        .x = ad->x, .xd = ad->xd, .q = o->q1, .v = ad->a, .P = ad->P, .t = t};
    cst_adjoint_pass(ad->pass, &at, &in, &out);
    /* excess = M (v1 - v) - a h F + phi_q^T eta */
    memset(excess, 0, sizeof *excess * (size_t)m->nq);
    cst_slots_transpose(s, s->fx, excess);
    cst_variational_middle(w, y0, h, y1);
    for (int i = 0; i < m->nq; i++) o->value[i] = v1[i] - c->v[i];
    cst_mass_add(s, NULL, o->value, 1, excess);
    memset(ad->base, 0, sizeof *ad->base * (size_t)m->nq);
    cst_gravity_add(s, -1, ad->base);
    memset(s->fx, 0, sizeof *s->fx * (size_t)m->nx);
    cst_forces_add(s, c->zm, y0->mem, s->fx, NULL, NULL);
    cst_slots_transpose(s, s->fx, ad->base); /* -F */
    for (int i = 0; i < m->nq; i++) excess[i] += share * ad->base[i];
    for (int r = 0; r < ad->n; r++) {
        double *wv = SECTION(ad->wv, m->nq), *v1bar = SECTION(ad->a, m->nq),
               *q1 = SECTION(o->q1, m->nq), *P = SECTION(ad->P, m->bound.n);
        cst_mass_add(s, NULL, wv, 1, v1bar);
        cst_mass_add(s, NULL, wv, -1, SECTION(o->v, m->nq));
        cst_mass_bar(s, wv, o->value, 1, P);
        cst_gravity_bar(s, wv, share, P);
        for (int i = 0; i < m->body.n; i++) {
            const cst_body *b = &m->body.at[i];
            b->cls->Lt(SECTION(ad->mu, m->nu) + b->u0, excess + b->q0, q1 + b->q0);
            b->cls->Lt(y1->u + b->u0, v1bar + b->q0, q1 + b->q0);
        }
        for (int i = 0; i < m->nq; i++) {
            ad->h[r] += wv[i] * c->weight * ad->base[i];
            wv[i] *= share;
        }
    }
    return CST_OK;
}

/* x = E'^T m: (T1^T (bars of q1) + J1^T k0, J0 a), with mu = -h a; bars of v, qm and z0 on the way.
 * E = (-h residual, phi) */
static void apply(cst_adjoint *ad, const cst_state *y0, const cst_state *y1)
{
    cst_motion *w = ad->w, *f = ad->step->w;
    cst_system *s = w->s;
    const cst_model *m = s->m;
    const cst_kkt *k = w->k;
    cst_variational *c = w->own;
    work *o = ad->own;
    double h = *y1->h, share = (1 - c->weight) * h;
    clear(ad, m->nrow, ad->rows);
    for (int r = 0; r < ad->n; r++) {
        double *mu = SECTION(ad->mu, m->nu), *a = SECTION(o->m, k->n), *w0 = SECTION(o->w0, m->nq),
               *wv = SECTION(ad->wv, m->nq);
        for (int i = 0; i < k->nu; i++) mu[i] = -h * a[i];
        for (int i = 0; i < k->nrow; i++) SECTION(ad->rows, m->nrow)[k->all_of[i]] = a[k->nu + i];
        cst_T(s, y0->q, mu, w0);
        for (int i = 0; i < m->nq; i++) wv[i] = -share * w0[i];
        cst_mass_add(s, NULL, w0, -1, SECTION(o->v, m->nq));
    }
    forces_bar(ad, y0, y1, NULL);
    middle_bar(ad, h);
    cst_system_place(s, *y1->t, y1->q);
    cst_T(s, y1->q, y1->u, ad->V);
    cst_system_rates(s, ad->V);
    const cst_pass_at at = {
        .q = y1->q, .v = ad->V, .z = y1->z, .mem = y0->mem, .phases = CST_ROW_MOTION};
    const cst_adjoint_in in = {.nrhs = ad->n, .k0 = ad->rows};
    const cst_adjoint_out out = {
        .x = ad->x, .xd = ad->xd, .q = o->q1, .P = ad->P, .t = ad->timed ? ad->t : NULL};
    cst_adjoint_pass(ad->pass, &at, &in, &out);
    for (int r = 0; r < ad->n; r++) {
        double *x = SECTION(o->x, k->n);
        memset(x, 0, sizeof *x * (size_t)k->n);
        cst_T_transpose(s, y1->q, SECTION(o->q1, m->nq), x);
        start_rows(f, SECTION(o->m, k->n), 1, x + k->nu);
    }
}

/* The costates of the step: E'^T m = -(T1^T q1bar, 0), q1bar in ad->q */
static cst_status middle_solve(cst_adjoint *ad, const cst_state *y0, const cst_state *y1)
{
    const cst_kkt *k = ad->w->k;
    const cst_model *m = ad->w->s->m;
    cst_motion *f = ad->step->w;
    work *o = ad->own;
    double *P = ad->P, *t = ad->t, *length = ad->h, *q0 = o->q0, before = 0;
    ad->P = o->P, ad->t = o->t, ad->h = o->h, o->q0 = o->thrown;
    cst_iteration end = CST_ITERATION_GOES_ON;
    clear(ad, k->n, o->m);
    for (int r = 0; r < ad->n; r++) cst_krylov_begin(&o->krylov[r], cst_variational_mass(f));
    for (int it = 0; it < CST_ITERATION_MOST && end == CST_ITERATION_GOES_ON; it++) {
        double worst = 0;
        int noise = 1;
        clear(ad, m->nq, o->q1), clear(ad, m->nq, o->mid), clear(ad, m->nq, o->v);
        apply(ad, y0, y1);
        for (int r = 0; r < ad->n; r++) {
            double *x = SECTION(o->x, k->n), *c = SECTION(o->m, k->n);
            cst_T_transpose(ad->w->s, y1->q, SECTION(ad->q, m->nq), ad->solve);
            for (int i = 0; i < k->n; i++) x[i] = -x[i] - (i < k->nu ? ad->solve[i] : 0);
            cst_lu_tsolve(f->newton, 1, x);
            if (cst_krylov_next(&o->krylov[r], c, x)) continue;
            noise = 0;
            worst = cst_iteration_worse(worst, cst_largest(k->n, x), cst_largest(k->n, c));
        }
        end = cst_iteration_ends(noise, worst, 1, it, &before);
    }
    ad->P = P, ad->t = t, ad->h = length, o->q0 = q0;
    clear(ad, m->nz, o->zeta);
    return end == CST_ITERATION_SETTLED ? CST_OK : CST_NUMERIC;
}

/* What the costates ask of state 0 and of h, beyond apply: r0 = M (v0 - v) + (1-a) h F - h
 * phi_q(q0)^T lambda */
static void start_bar(cst_adjoint *ad, const cst_state *y0, const cst_state *y1)
{
    cst_motion *w = ad->w;
    cst_system *s = w->s;
    const cst_model *m = s->m;
    cst_variational *c = w->own;
    work *o = ad->own;
    double h = *y1->h, share = 1 - c->weight, *v0 = ad->V, *r0 = ad->r, *react = ad->base,
           *before = o->t0;
    memcpy(before, ad->t, sizeof *before * (size_t)ad->n);
    cst_system_place(s, *y0->t, y0->q);
    cst_T(s, y0->q, y0->u, v0);
    cst_system_rates(s, v0);
    for (int r = 0; r < ad->n; r++) {
        for (int i = 0; i < m->nq; i++) SECTION(ad->wv, m->nq)[i] = -h * SECTION(o->w0, m->nq)[i];
        cst_slots_apply(s, SECTION(ad->wv, m->nq), 0, SECTION(ad->wx, m->nx));
    }
    const cst_pass_at at = {.q = y0->q,
                            .v = v0,
                            .z = y0->z,
                            .mem = y0->mem,
                            .lambda = y1->newton,
                            .phases = CST_ROW_MOTION};
    const cst_adjoint_in in = {.nrhs = ad->n, .w = ad->wv, .wx = ad->wx};
    const cst_adjoint_out out = {
        .x = ad->x, .xd = ad->xd, .q = o->q0, .P = ad->P, .t = ad->timed ? ad->t : NULL};
    cst_adjoint_pass(ad->pass, &at, &in, &out);
    memset(react, 0, sizeof *react * (size_t)m->nq);
    cst_slots_transpose(s, s->fx, react);
    cst_variational_middle(w, y0, h, y1);
    cst_variational_momentum(w, y0, h, y0->mem);
    memset(o->value, 0, sizeof *o->value * (size_t)m->nq);
    cst_T(s, y0->q, y0->u, v0);
    for (int i = 0; i < m->nq; i++) ad->A[i] = v0[i] - c->v[i];
    cst_mass_add(s, NULL, ad->A, 1, o->value); /* r0 without forces */
    for (int i = 0; i < m->nq; i++) r0[i] = c->r[i] - h * react[i];
    for (int r = 0; r < ad->n; r++) {
        double *w0 = SECTION(o->w0, m->nq), *P = SECTION(ad->P, m->bound.n),
               *v0bar = SECTION(ad->a, m->nq), hbar = 0;
        double *q0 = SECTION(o->q0, m->nq);
        memset(v0bar, 0, sizeof *v0bar * (size_t)m->nq);
        cst_mass_add(s, NULL, w0, 1, v0bar);
        cst_mass_bar(s, w0, ad->A, 1, P);
        cst_gravity_bar(s, w0, -share * h, P);
        cst_rates_bar(s, y0->q, y0->u, v0bar, q0, SECTION(o->u0, m->nu));
        for (int i = 0; i < m->body.n; i++) {
            const cst_body *b = &m->body.at[i];
            b->cls->Lt(SECTION(ad->mu, m->nu) + b->u0, r0 + b->q0, q0 + b->q0);
        }
        for (int i = 0; i < m->nq; i++) hbar += w0[i] * ((c->r[i] - o->value[i]) / h - react[i]);
        ad->h[r] += hbar - (ad->t[r] - before[r]); /* t0 = t1 - h */
    }
}

cst_status cst_variational_adjoint(cst_adjoint *ad, const cst_state *y0, const cst_state *y1)
{
    const cst_model *m = ad->w->s->m;
    const cst_variational *c = ad->w->own;
    work *o = ad->own;
    double h = *y1->h;
    size_t n = (size_t)ad->n;
    clear(ad, m->nq, o->q0), clear(ad, m->nu, o->u0), clear(ad, m->nq, o->mid),
        clear(ad, m->nq, o->v), clear(ad, m->nz, o->zeta);
    clear(ad, 1, ad->h);
    memcpy(o->q1, ad->q, sizeof *o->q1 * n * (size_t)m->nq);
    if (end_bar(ad, y0, y1) != CST_OK) return CST_NUMERIC;
    for (long i = 0; i < (long)ad->n * m->nz; i++) ad->zd[i] = 2 * ad->z[i]; /* z1 = 2 zm - z0 */
    forces_bar(ad, y0, y1, ad->zd);
    middle_bar(ad, h);
    length_of_v(ad, h);
    memcpy(ad->zeta, o->zeta, sizeof *o->zeta * n * (size_t)m->nz);
    memcpy(ad->q, o->q1, sizeof *o->q1 * n * (size_t)m->nq);
    if (middle_solve(ad, y0, y1) != CST_OK) return CST_NUMERIC;
    clear(ad, m->nq, o->q1), clear(ad, m->nq, o->mid), clear(ad, m->nq, o->v);
    apply(ad, y0, y1);
    length_of_v(ad, h);
    start_bar(ad, y0, y1);
    for (int r = 0; r < ad->n; r++) {
        for (int i = 0; i < m->nz; i++) {
            double zeta = SECTION(ad->zeta, m->nz)[i] + SECTION(o->zeta, m->nz)[i];
            ad->h[r] += zeta * (c->zm[i] - y0->z[i]) / h;
            SECTION(ad->z, m->nz)[i] = zeta - SECTION(ad->z, m->nz)[i];
        }
        for (int i = 0; i < m->quad.n; i++) {
            ad->h[r] += SECTION(ad->quad, m->quad.n)[i] * (y0->qd[i] + y1->qd[i]) / 2;
            SECTION(ad->qd, m->quad.n)[i] = h / 2 * SECTION(ad->quad, m->quad.n)[i];
        }
    }
    memcpy(ad->q, o->q0, sizeof *ad->q * n * (size_t)m->nq),
        memcpy(ad->u, o->u0, sizeof *ad->u * n * (size_t)m->nu);
    clear(ad, m->nu, ad->ud), clear(ad, m->nz, ad->zd);
    return CST_OK;
}
