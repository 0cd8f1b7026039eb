/* SPDX-License-Identifier: MIT
 *
 * Tangent of the variational midpoint rule (variational.h): the changes of q1 and lambda by
 * correction with the factors of N (linalg/krylov.h), its residual being exact; then those of u1
 * from the projection. */
#include "integrator/trapezoid.h"
#include "integrator/variational.h"
#include "linalg/krylov.h"

#include <math.h>
#include <string.h>

typedef struct tangent_work {
    double *q0, *v0, *v0_at, *q1, *lambda, *qm, *v, *z_in, *z0, *force, *react, *dreact, *r0, *b,
        *x;
    double *y; /* (n) changes of q1 (tangent) and of h^2 lambda */
    cst_krylov krylov;
} tangent_work;

void cst_variational_open_tangent(cst_arena *a, cst_tangent *t)
{
    const cst_model *m = t->w->s->m;
    tangent_work *o = t->own = cst_new(a, tangent_work, 1);
    struct {
        double **at;
        int size;
    } part[] = {{&o->q0, m->nq},    {&o->v0, m->nq},       {&o->v0_at, m->nq},
                {&o->q1, m->nq},    {&o->lambda, m->nrow}, {&o->qm, m->nq},
                {&o->v, m->nq},     {&o->z_in, m->nz},     {&o->z0, m->nz},
                {&o->force, m->nq}, {&o->react, m->nq},    {&o->dreact, m->nq},
                {&o->r0, m->nq},    {&o->b, t->w->k->n},   {&o->x, t->w->k->n},
                {&o->y, t->w->k->n}};
    for (size_t i = 0; i < sizeof part / sizeof *part; i++)
        *part[i].at = cst_new(a, double, part[i].size + 1);
    o->krylov = cst_krylov_new(a, t->w->k->n, t->w->k->nu);
}

/* Changes of qm, v, zm and of F (ambient, into dF) with that of q1; o->force = F */
static void middle_change(cst_tangent *t, const cst_state *y0, const cst_state *y1, double *dF)
{
    cst_motion *w = t->w;
    cst_system *s = w->s;
    const cst_model *m = s->m;
    cst_variational *c = w->own;
    tangent_work *o = t->own;
    double h = *y1->h, a = c->weight;
    cst_variational_middle(w, y0, h, y1);
    for (int i = 0; i < m->nq; i++) {
        o->qm[i] = (1 - a) * o->q0[i] + a * o->q1[i];
        o->v[i] = (o->q1[i] - o->q0[i] - t->h * c->v[i]) / h;
    }
    for (int i = 0; i < m->nz; i++) o->z_in[i] = o->z0[i] + t->h * (c->zm[i] - y0->z[i]) / h;
    memset(dF, 0, sizeof *dF * (size_t)m->nq);
    const cst_pass_at at = {
        .q = c->qm, .v = c->v, .z = c->zm, .mem = y0->mem, .forces = 1, .hz = h / 2};
    const cst_tangent_in in = {
        .q = o->qm, .v = o->v, .z = o->z_in, .P = t->P, .t = t->t - (1 - a) * t->h};
    const cst_tangent_out out = {.r = dF, .z = t->z, .x = t->x, .xd = t->xd};
    cst_tangent_pass(t->pass, &at, &in, &out);
    memset(o->force, 0, sizeof *o->force * (size_t)m->nq);
    cst_slots_transpose(s, s->fx, o->force);
    cst_gravity_add(s, -1, o->force);
    cst_gravity_dot(s, t->P, 1, dF);
    for (int i = 0; i < m->nq; i++) dF[i] = -dF[i], o->force[i] = -o->force[i];
}

/* b = (T^T dr + L(dq, .)^T r) */
static void pull_change(const cst_system *s, const double *q, const double *dr, const double *dq,
                        const double *r, double *b)
{
    cst_T_transpose(s, q, dr, b);
    for (int i = 0; i < s->m->body.n; i++) {
        const cst_body *body = &s->m->body.at[i];
        body->cls->Ltu(dq + body->q0, r + body->q0, b + body->u0);
    }
}

/* At q0: the change of phi_q^T lambda with lambda held (dreact), its value (react) */
static void start_change(cst_tangent *t, const cst_state *y0, const cst_state *y1)
{
    cst_system *s = t->w->s;
    const cst_model *m = s->m;
    tangent_work *o = t->own;
    cst_T(s, y0->q, y0->u, o->v0_at);
    cst_T(s, y0->q, t->u, o->v0);
    cst_L_add(s, t->q, y0->u, o->v0);
    memcpy(o->q0, t->q, sizeof *t->q * (size_t)m->nq),
        memcpy(o->z0, t->z, sizeof *t->z * (size_t)m->nz);
    cst_system_place(s, *y0->t, y0->q);
    cst_system_rates(s, o->v0_at);
    const cst_pass_at at = {.q = y0->q,
                            .v = o->v0_at,
                            .z = y0->z,
                            .mem = y0->mem,
                            .lambda = y1->newton,
                            .phases = CST_ROW_MOTION};
    const cst_tangent_in in = {.q = o->q0, .v = o->v0, .P = t->P, .t = t->t - t->h};
    const cst_tangent_out out = {.r = o->dreact, .x = t->x, .xd = t->xd};
    memset(o->dreact, 0, sizeof *o->dreact * (size_t)m->nq),
        memset(o->react, 0, sizeof *o->react * (size_t)m->nq);
    cst_tangent_pass(t->pass, &at, &in, &out);
    cst_slots_transpose(s, s->fx, o->react);
}

/* (h dres, -dphi) at the present changes of q1 and lambda, into o->b */
static void residual_change(cst_tangent *t, const cst_state *y0, const cst_state *y1)
{
    cst_motion *w = t->w;
    cst_system *s = w->s;
    const cst_model *m = s->m;
    const cst_kkt *k = w->k;
    cst_variational *c = w->own;
    tangent_work *o = t->own;
    double h = *y1->h, share = 1 - c->weight, *dr = t->r, *d = t->base;
    middle_change(t, y0, y1, dr);
    for (int i = 0; i < m->nq; i++) {
        dr[i] = share * (h * dr[i] + t->h * o->force[i]) - h * o->dreact[i] - t->h * o->react[i];
        o->r0[i] = share * h * o->force[i] - h * o->react[i];
        d[i] = o->v0[i] - o->v[i];
    }
    cst_mass_add(s, NULL, d, 1, dr);
    for (int i = 0; i < m->nq; i++) d[i] = o->v0_at[i] - c->v[i];
    cst_mass_dot(s, t->P, d, 1, dr);
    cst_mass_add(s, NULL, d, 1, o->r0);
    pull_change(s, y0->q, dr, o->q0, o->r0, o->b);
    for (int i = 0; i < k->nrow; i++)
        for (int p = k->pattern->ptr[k->nu + i];
             p < k->pattern->ptr[k->nu + i + 1] && k->pattern->row[p] < k->nu; p++)
            o->b[k->pattern->row[p]] -= h * c->val0[p] * o->lambda[k->all_of[i]];
    for (int i = 0; i < k->nu; i++) o->b[i] *= h;
    cst_system_place(s, *y1->t, y1->q);
    cst_T(s, y1->q, y1->u, t->v1);
    cst_system_rates(s, t->v1);
    const cst_pass_at at = {
        .q = y1->q, .v = t->v1, .z = y1->z, .mem = y0->mem, .phases = CST_ROW_MOTION};
    const cst_tangent_in in = {.q = o->q1, .P = t->P, .t = t->t};
    const cst_tangent_out out = {.phi = t->rows, .x = t->x, .xd = t->xd};
    cst_tangent_pass(t->pass, &at, &in, &out);
    for (int i = 0; i < k->nrow; i++) o->b[k->nu + i] = -t->rows[k->all_of[i]];
}

/* du1: r = M v1 - M v - a h F + phi_q^T eta */
static void end_change(cst_tangent *t, const cst_state *y0, const cst_state *y1)
{
    cst_motion *w = t->w;
    cst_system *s = w->s;
    const cst_model *m = s->m;
    const cst_kkt *k = w->k;
    cst_variational *c = w->own;
    tangent_work *o = t->own;
    double h = *y1->h, a = c->weight, *dF = t->base, *dr = t->r, *dv1 = t->v, *v1 = t->v1;
    middle_change(t, y0, y1, dF);
    for (int i = 0; i < m->nz; i++) t->z[i] = 2 * t->z[i] - o->z0[i];
    cst_system_place(s, *y1->t, y1->q);
    cst_T(s, y1->q, y1->u, v1);
    cst_system_rates(s, v1);
    memset(dv1, 0, sizeof *dv1 * (size_t)m->nq), memset(dr, 0, sizeof *dr * (size_t)m->nq);
    cst_L_add(s, o->q1, y1->u, dv1);
    const cst_pass_at at = {.q = y1->q,
                            .v = v1,
                            .z = y1->z,
                            .mem = y0->mem,
                            .lambda = y1->eta,
                            .phases = CST_ROW_MOTION};
    const cst_tangent_in in = {.q = o->q1, .v = dv1, .P = t->P, .t = t->t};
    const cst_tangent_out out = {.r = dr, .phi1 = t->rows, .x = t->x, .xd = t->xd};
    cst_tangent_pass(t->pass, &at, &in, &out);
    memset(o->r0, 0, sizeof *o->r0 * (size_t)m->nq);
    cst_slots_transpose(s, s->fx, o->r0);
    for (int i = 0; i < m->nq; i++) {
        dr[i] -= a * (h * dF[i] + t->h * o->force[i]);
        o->r0[i] -= a * h * o->force[i];
        dv1[i] -= o->v[i];
        dF[i] = v1[i] - c->v[i];
    }
    cst_mass_add(s, NULL, dv1, 1, dr);
    cst_mass_dot(s, t->P, dF, 1, dr);
    cst_mass_add(s, NULL, dF, 1, o->r0);
    pull_change(s, y1->q, dr, o->q1, o->r0, o->b);
    for (int i = 0; i < k->nu; i++) o->b[i] = -o->b[i];
    for (int i = 0; i < k->nrow; i++) o->b[k->nu + i] = -t->rows[k->all_of[i]];
    cst_kkt_solve(k, w->project, w->project_val, w->st->eps, o->b, o->x, w->scratch);
    memcpy(t->u, o->x, sizeof *t->u * (size_t)m->nu);
}

/* Changes of q1 and lambda, by correction with the factors of N */
static cst_status middle_solve(cst_tangent *t, const cst_state *y0, const cst_state *y1)
{
    cst_motion *w = t->w;
    const cst_kkt *k = w->k;
    tangent_work *o = t->own;
    double h = *y1->h, before = 0, mass = cst_variational_mass(w);
    memset(o->lambda, 0, sizeof *o->lambda * (size_t)w->s->m->nrow),
        memset(o->q1, 0, sizeof *o->q1 * (size_t)w->s->m->nq);
    memset(o->y, 0, sizeof *o->y * (size_t)k->n);
    cst_krylov_begin(&o->krylov, mass);
    for (int it = 0; it < CST_ITERATION_MOST; it++) {
        residual_change(t, y0, y1);
        cst_lu_solve(w->newton, 1, o->b);
        int noise = cst_krylov_next(&o->krylov, o->y, o->b);
        for (int i = 0; i < k->nrow; i++) o->lambda[k->all_of[i]] = o->y[k->nu + i] / (h * h);
        cst_T(w->s, y1->q, o->y, o->q1);
        double u = cst_largest(k->nu, o->y),
               rows = cst_largest(k->nrow, o->y + k->nu); /* h^2 lambda is a mass times a way */
        double worst = cst_iteration_worse(0, cst_largest(k->nu, o->b), fmax(u, rows / mass));
        if (isfinite(rows)) /* else refused later */
            worst = cst_iteration_worse(worst, cst_largest(k->nrow, o->b + k->nu),
                                        fmax(rows, mass * u));
        cst_iteration end = cst_iteration_ends(noise, worst, 1, it, &before);
        if (end != CST_ITERATION_GOES_ON)
            return end == CST_ITERATION_SETTLED ? CST_OK : CST_NUMERIC;
    }
    return CST_NUMERIC;
}

cst_status cst_variational_tangent(cst_tangent *t, const cst_state *y0, const cst_state *y1,
                                   int factor)
{
    cst_motion *w = t->w;
    const cst_model *m = w->s->m;
    tangent_work *o = t->own;
    double h = *y1->h;
    cst_prepared here = {.w = w};
    if (factor && cst_variational_prepare(&here, y0, y1) != CST_OK) return CST_NUMERIC;
    ((cst_variational *)w->own)->factored_h = 0;
    start_change(t, y0, y1);
    if (middle_solve(t, y0, y1) != CST_OK) return CST_NUMERIC;
    end_change(t, y0, y1);
    memcpy(t->q, o->q1, sizeof *t->q * (size_t)m->nq);
    for (int i = 0; i < m->quad.n; i++)
        t->quad[i] += h / 2 * t->qd[i] + t->h * (y0->qd[i] + y1->qd[i]) / 2;
    return CST_OK;
}
