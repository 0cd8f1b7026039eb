/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>

#include "integrator/newmark.h"
#include "integrator/rule.h"

cst_tangent *cst_tangent_new(cst_arena *a, cst_motion *w)
{
    const cst_model *m = w->s->m;
    cst_tangent *t = cst_new(a, cst_tangent, 1);
    t->w = w;
    t->pass = cst_pass_new(a, w->s);
    struct {
        double **at;
        int size;
    } part[] = {
        {&t->q, m->nq},           {&t->u, m->nu},         {&t->z, m->nz},
        {&t->quad, m->quad.n},    {&t->ud, m->nu},        {&t->lambda, m->nrow},
        {&t->carried, m->nu},     {&t->zd, m->nz},        {&t->qd, m->quad.n},
        {&t->v, m->nq},           {&t->a, m->nq},         {&t->V, m->nq},
        {&t->A, m->nq},           {&t->base, m->nq},      {&t->r, m->nq},
        {&t->excess, m->nq},      {&t->v1, m->nq},        {&t->x, m->nx},
        {&t->xd, m->nx},          {&t->xa, m->nx},        {&t->xa_at, m->nx},
        {&t->rows, m->nrow},      {&t->rows0, m->nrow},   {&t->rows1, m->nrow},
        {&t->xi, m->nu},          {&t->b, w->k->n},       {&t->sol, w->k->n},
        {&t->force, m->nforce},   {&t->react, m->nreact}, {&t->react_own, m->nreact},
        {&t->sys, CST_SYS_COUNT}, {&t->z_new, m->nz},     {&t->quad_old, m->quad.n},
    };
    for (size_t i = 0; i < sizeof part / sizeof *part; i++)
        *part[i].at = cst_new(a, double, part[i].size + 1);
    if (w->rule && w->rule->open_tangent) w->rule->open_tangent(a, t);
    return t;
}

void cst_tangent_clear(cst_tangent *t)
{
    const cst_model *m = t->w->s->m;
    memset(t->q, 0, sizeof *t->q * (size_t)m->nq);
    memset(t->u, 0, sizeof *t->u * (size_t)m->nu);
    memset(t->ud, 0, sizeof *t->ud * (size_t)m->nu);
    memset(t->z, 0, sizeof *t->z * (size_t)m->nz);
    memset(t->zd, 0, sizeof *t->zd * (size_t)m->nz);
    memset(t->quad, 0, sizeof *t->quad * (size_t)m->quad.n);
    memset(t->qd, 0, sizeof *t->qd * (size_t)m->quad.n);
    memset(t->carried, 0, sizeof *t->carried * (size_t)m->nu);
    memset(t->lambda, 0, sizeof *t->lambda * (size_t)m->nrow);
}

/* dv = T(q) du + L(dq, u) */
static void rate_change(const cst_tangent *t, const cst_state *y, double *dv)
{
    const cst_system *s = t->w->s;
    cst_T(s, y->q, t->u, dv);
    cst_L_add(s, t->q, y->u, dv);
}

/* da = L(dq, u') + L(dv, u) + L(v, du), u' held */
static void acceleration_change(const cst_tangent *t, const cst_state *y, const double *v,
                                const double *dv, double *da)
{
    const cst_system *s = t->w->s;
    memset(da, 0, sizeof *da * (size_t)s->m->nq);
    cst_L_add(s, t->q, y->ud, da);
    cst_L_add(s, dv, y->u, da);
    cst_L_add(s, v, t->u, da);
}

/* b = -(T^T dr + L(dq, .)^T r) */
static void tangent_rhs(cst_tangent *t, const double *q, const double *dr, const double *dq,
                        const double *r, double scale)
{
    const cst_system *s = t->w->s;
    memset(t->xi, 0, sizeof *t->xi * (size_t)s->m->nu);
    cst_T_transpose(s, q, dr, t->b);
    for (int i = 0; dq && i < s->m->body.n; i++) {
        const cst_body *b = &s->m->body.at[i];
        b->cls->Ltu(dq + b->q0, r + b->q0, t->xi + b->u0);
    }
    for (int i = 0; i < s->m->nu; i++) t->b[i] = -scale * (t->b[i] + t->xi[i]);
}

static void rows_rhs(cst_tangent *t)
{
    const cst_kkt *k = t->w->k;
    for (int i = 0; i < k->nrow; i++) t->b[k->nu + i] = -t->rows[k->all_of[i]];
}

/* Changes of the energies: only needed when a measure reads them. */
static void system_change(cst_tangent *t, const cst_pass_at *at, const double *dv)
{
    cst_motion *w = t->w;
    cst_system *s = w->s;
    const cst_model *m = s->m;
    memset(t->sys, 0, sizeof *t->sys * CST_SYS_COUNT);
    if (!w->out->needs_system) return;
    double *y = t->excess;
    memset(y, 0, sizeof *y * (size_t)m->nq);
    cst_mass_add(s, NULL, at->v, 1, y);
    for (int i = 0; i < m->nq; i++) t->sys[CST_SYS_KINETIC] += y[i] * dv[i];
    memset(y, 0, sizeof *y * (size_t)m->nq);
    cst_mass_dot(s, t->P, at->v, 0.5, y);
    for (int i = 0; i < m->nq; i++) t->sys[CST_SYS_KINETIC] += y[i] * at->v[i];
    memset(y, 0, sizeof *y * (size_t)m->nq);
    cst_gravity_add(s, -1, y);
    for (int i = 0; i < m->nq; i++) t->sys[CST_SYS_POTENTIAL] += y[i] * t->q[i];
    memset(y, 0, sizeof *y * (size_t)m->nq);
    cst_gravity_dot(s, t->P, 1, y);
    for (int i = 0; i < m->nq; i++) t->sys[CST_SYS_POTENTIAL] += y[i] * at->q[i];
    cst_energies_change(t->pass, at, t->x, t->xd, t->P, &t->sys[CST_SYS_POTENTIAL],
                        &t->sys[CST_SYS_DISSIPATION]);
}

/* r = M da + (dM) a + ... of the pass in t->r: the changes of u' and lambda that keep T^T r = 0 and
 * the rows' second rates */
static void solve_rates(cst_tangent *t, const cst_state *y, const double *a, const double *da)
{
    cst_motion *w = t->w;
    cst_system *s = w->s;
    const cst_model *m = s->m;
    const cst_kkt *k = w->k;
    for (int i = 0; w->eq.b1 != 0 && i < m->nrow; i++) t->rows[i] += w->eq.b1 * t->rows1[i];
    for (int i = 0; w->eq.b0 != 0 && i < m->nrow; i++) t->rows[i] += w->eq.b0 * t->rows0[i];
    memset(t->excess, 0, sizeof *t->excess * (size_t)m->nq);
    cst_slots_transpose(s, s->fx, t->excess);
    cst_mass_add(s, NULL, a, 1, t->excess);
    cst_gravity_add(s, -1, t->excess);
    cst_mass_add(s, NULL, da, 1, t->r);
    cst_mass_dot(s, t->P, a, 1, t->r);
    cst_gravity_dot(s, t->P, 1, t->r);
    tangent_rhs(t, y->q, t->r, t->q, t->excess, 1);
    rows_rhs(t);
    cst_kkt_solve(k, w->project, w->project_val, w->st->eps, t->b, t->sol, w->scratch);
    memcpy(t->ud, t->sol, sizeof *t->ud * (size_t)m->nu);
    memset(t->lambda, 0, sizeof *t->lambda * (size_t)m->nrow);
    cst_kkt_spread(k, t->sol + k->nu, t->lambda);
    if (cst_step_carries(w)) memcpy(t->carried, t->ud, sizeof *t->ud * (size_t)m->nu);
}

cst_status cst_tangent_derive(cst_tangent *t, const cst_state *y, int factor)
{
    cst_motion *w = t->w;
    cst_system *s = w->s;
    const cst_model *m = s->m;
    int given = cst_step_gives(w, y);
    const cst_kkt_coef c = {.mass = 1, .eps = w->st->eps, .soft = w->eq.compliance};
    const double *lambda = m->objectives_read_reactions ? cst_motion_reactions(w, y) : y->lambda;
    const cst_point_of_motion here = {*y->t, y->q, y->u, y->ud, y->z, y->mem, y->quad, lambda};
    cst_output_eval(w->out, s, &here);
    double *v = t->V, *a = t->A, *dv = t->v, *da = t->a;
    cst_T(s, y->q, y->u, v);
    cst_T(s, y->q, y->ud, a);
    cst_L_add(s, v, y->u, a);
    cst_slots_apply(s, a, 0, t->xa_at);
    if (factor && !given) {
        cst_slots_blocks(s, y->q);
        cst_kkt_assemble(w->k, s, y->q, y->z, y->mem, NULL, NULL, NULL, c, 0, 0, w->project_val);
        if (cst_lu_refactor(w->project, w->project_val) >= 0) return CST_NUMERIC;
    }
    rate_change(t, y, dv);
    acceleration_change(t, y, v, dv, da);
    const cst_pass_at at = {.q = y->q,
                            .v = v,
                            .a = a,
                            .xa = t->xa_at,
                            .z = y->z,
                            .mem = y->mem,
                            .lambda = y->lambda,
                            .phases = given && !w->out->needs_react ? 0 : CST_ROW_MOTION,
                            .forces = !given || w->out->needs_force || m->nz};
    memset(t->r, 0, sizeof *t->r * (size_t)m->nq);
    const cst_tangent_in in = {t->q, dv, da, t->z, t->P, t->t};
    const cst_tangent_out out = {.r = given ? NULL : t->r,
                                 .z = t->zd,
                                 .force = t->force,
                                 .react = t->react,
                                 .phi2 = given ? NULL : t->rows,
                                 .phi1 = w->eq.b1 != 0 ? t->rows1 : NULL,
                                 .phi = w->eq.b0 != 0 ? t->rows0 : NULL,
                                 .x = t->x,
                                 .xd = t->xd,
                                 .xa = t->xa};
    cst_tangent_pass(t->pass, &at, &in, &out);
    if (!given) solve_rates(t, y, a, da);

    /* outputs: accelerations and reactions now with their own changes */
    cst_T(s, y->q, t->ud, t->base);
    cst_slots_apply(s, t->base, 0, s->fx);
    for (int i = 0; i < m->nx; i++) t->xa[i] += s->fx[i];
    if (w->out->needs_react) {
        double *own = t->react_own;
        cst_reactions_add(s, y->mem, t->lambda, CST_ROW_MOTION, NULL, own);
        for (int i = 0; i < m->nreact; i++) t->react[i] += own[i];
    }
    system_change(t, &at, dv);
    const cst_output_changes ch = {t->x, t->xd,   t->xa,  t->force, t->react,
                                   t->z, t->quad, t->val, t->sys,   t->t};
    cst_output_forward(w->out, &ch);
    memcpy(t->quad_old, t->quad, sizeof *t->quad * (size_t)m->quad.n);
    for (int pass = 0; m->quad.n && pass <= w->out->nested;
         pass++) { /* again, with the integrals at this state */
        for (int i = 0; i < m->quad.n; i++) t->qd[i] = cst_output_change(w->out, w->out->quad + i);
        for (int i = 0; i < m->quad.n; i++) t->quad[i] = t->quad_old[i] + *y->h * w->end * t->qd[i];
        cst_output_forward(w->out, &ch);
    }
    return CST_OK;
}

static cst_status step_projection(cst_tangent *t, const cst_state *y1, const double *V,
                                  const double *dV, int factor)
{
    cst_motion *w = t->w;
    cst_system *s = w->s;
    const cst_model *m = s->m;
    const cst_kkt *k = w->k;
    const cst_kkt_coef c = {.mass = 1, .eps = w->st->eps, .soft = w->eq.compliance};
    double *v1 = t->v1, *dv1 = t->v;
    cst_T(s, y1->q, y1->u, v1);
    cst_system_rates(s, v1);
    if (factor) {
        cst_slots_blocks(s, y1->q);
        cst_kkt_assemble(k, s, y1->q, y1->z, y1->mem, NULL, NULL, NULL, c, 0, 0, w->project_val);
        if (cst_lu_refactor(w->project, w->project_val) >= 0) return CST_NUMERIC;
    }
    memset(dv1, 0, sizeof *dv1 * (size_t)m->nq);
    cst_L_add(s, t->q, y1->u, dv1);
    const cst_pass_at at = {.q = y1->q,
                            .v = v1,
                            .z = y1->z,
                            .mem = y1->mem,
                            .lambda = y1->eta,
                            .phases = CST_ROW_MOTION};
    const cst_tangent_in in = {.q = t->q, .v = dv1, .P = t->P, .t = t->t};
    const cst_tangent_out out = {.r = t->r, .phi1 = t->rows, .x = t->x, .xd = t->xd};
    memset(t->r, 0, sizeof *t->r * (size_t)m->nq);
    cst_tangent_pass(t->pass, &at, &in, &out);
    memset(t->excess, 0, sizeof *t->excess * (size_t)m->nq);
    cst_slots_transpose(s, s->fx, t->excess);
    for (int i = 0; i < m->nq; i++) t->base[i] = v1[i] - V[i], dv1[i] -= dV[i];
    cst_mass_add(s, NULL, t->base, 1, t->excess);
    cst_mass_add(s, NULL, dv1, 1, t->r);
    cst_mass_dot(s, t->P, t->base, 1, t->r);
    tangent_rhs(t, y1->q, t->r, t->q, t->excess, 1);
    rows_rhs(t);
    cst_kkt_solve(k, w->project, w->project_val, w->st->eps, t->b, t->sol, w->scratch);
    memcpy(t->u, t->sol, sizeof *t->u * (size_t)m->nu);
    return CST_OK;
}

cst_status cst_tangent_impact(cst_tangent *t, const cst_state *y0, const cst_state *y1, int factor)
{
    cst_system *s = t->w->s;
    cst_T(s, y0->q, y0->u, t->V);
    rate_change(t, y0, t->A);
    cst_system_place(s, *y1->t, y1->q);
    return step_projection(t, y1, t->V, t->A, factor);
}

cst_status cst_tangent_step(cst_tangent *t, const cst_state *y0, const cst_state *y1, int factor)
{
    cst_motion *w = t->w;
    cst_system *s = w->s;
    const cst_model *m = s->m;
    const cst_kkt *k = w->k;
    double h = *y1->h, s2 = CST_BETA * h * h, *V = t->V, *A = w->A, *dV = t->A, *dbase = t->base;
    cst_T(s, y0->q, y0->u, w->v0);
    cst_T(s, y0->q, y0->ud, w->a0);
    cst_L_add(s, w->v0, y0->u, w->a0);
    rate_change(t, y0, t->v);
    acceleration_change(t, y0, w->v0, t->v, t->a);
    cst_T(s, y0->q, t->ud, t->r);
    cst_newmark_acceleration(w, y0, y1, A);
    for (int i = 0; i < m->nq; i++) {
        t->a[i] += t->r[i];
        dbase[i] = t->q[i] + h * t->v[i] + h * h * (0.5 - CST_BETA) * t->a[i] +
                   t->h * (w->v0[i] + 2 * h * (0.5 - CST_BETA) * w->a0[i]);
        V[i] = w->v0[i] + h * ((1 - CST_GAMMA) * w->a0[i] + CST_GAMMA * A[i]);
        w->base[i] = t->v[i] + h * (1 - CST_GAMMA) * t->a[i] + /* change of V without A's */
                     t->h * ((1 - CST_GAMMA) * w->a0[i] + CST_GAMMA * A[i]);
        t->v1[i] = -dbase[i] / s2 - 2 * A[i] / h * t->h; /* change of A at fixed q1 */
        dV[i] = w->base[i] + h * CST_GAMMA * t->v1[i];
    }
    for (int i = 0; i < m->nz; i++)
        t->z_new[i] = t->z[i] + h / 2 * t->zd[i] + t->h * (y1->z[i] - y0->z[i]) / h;
    cst_system_place(s, *y1->t, y1->q);
    cst_system_rates(s, V);
    const cst_pass_at at = {.q = y1->q,
                            .v = V,
                            .z = y1->z,
                            .mem = y0->mem,
                            .lambda = y1->newton,
                            .phases = CST_ROW_MOTION,
                            .forces = 1,
                            .hz = h / 2};
    const cst_tangent_in in = {.v = dV, .z = t->z_new, .P = t->P, .t = t->t};
    const cst_tangent_out out = {.r = t->r, .phi = t->rows, .x = t->x, .xd = t->xd};
    memset(t->r, 0, sizeof *t->r * (size_t)m->nq);
    cst_tangent_pass(t->pass, &at, &in, &out);
    memset(w->r, 0, sizeof *w->r * (size_t)m->nq);
    cst_slots_transpose(s, s->fx, w->r);
    cst_mass_add(s, NULL, A, 1, w->r);
    cst_gravity_add(s, -1, w->r);
    cst_mass_add(s, NULL, t->v1, 1, t->r);
    cst_mass_dot(s, t->P, A, 1, t->r);
    cst_gravity_dot(s, t->P, 1, t->r);
    tangent_rhs(t, y1->q, t->r, NULL, NULL, s2);
    rows_rhs(t);
    if (factor) {
        const cst_kkt_coef c = {.mass = 1, .stiff = s2, .damp = CST_GAMMA * h, .eps = w->st->eps};
        cst_slots_blocks(s, y1->q);
        cst_kkt_assemble(k, s, y1->q, y1->z, y0->mem, w->r, y1->newton, NULL, c, 1, h / 2,
                         w->newton_val);
        w->factored_h = 0;
        if (cst_lu_refactor(w->newton, w->newton_val) >= 0) return CST_NUMERIC;
    }
    cst_kkt_solve(k, w->newton, w->newton_val, w->st->eps, t->b, t->sol, w->scratch);
    cst_T(s, y1->q, t->sol, t->q);
    for (int i = 0; i < m->nq; i++)
        dV[i] = w->base[i] + h * CST_GAMMA * ((t->q[i] - dbase[i]) / s2 - 2 * A[i] / h * t->h);
    if (m->nz) {
        const cst_pass_at states = {
            .q = y1->q, .v = V, .z = y1->z, .mem = y0->mem, .forces = 1, .hz = h / 2};
        const cst_tangent_in with_q = {.q = t->q, .v = dV, .z = t->z_new, .P = t->P, .t = t->t};
        const cst_tangent_out z = {.z = t->z, .x = t->x, .xd = t->xd};
        cst_tangent_pass(t->pass, &states, &with_q, &z);
    }
    if (step_projection(t, y1, V, dV, factor) != CST_OK) return CST_NUMERIC;
    for (int i = 0; i < m->quad.n; i++) /* the rate at the end follows in derive */
        t->quad[i] += h / 2 * t->qd[i] + t->h * (y0->qd[i] + y1->qd[i]) / 2;
    return CST_OK;
}
