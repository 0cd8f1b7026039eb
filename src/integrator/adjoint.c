/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>

#include "integrator/newmark.h"
#include "integrator/rule.h"

cst_adjoint *cst_adjoint_new(cst_arena *a, cst_motion *w, int n)
{
    const cst_model *m = w->s->m;
    cst_adjoint *ad = cst_new(a, cst_adjoint, 1);
    ad->w = w, ad->n = n;
    ad->pass = cst_pass_new(a, w->s);
    struct {
        double **at;
        int size;
    } part[] = {
        {&ad->q, m->nq},
        {&ad->u, m->nu},
        {&ad->z, m->nz},
        {&ad->quad, m->quad.n},
        {&ad->ud, m->nu},
        {&ad->carried, m->nu},
        {&ad->zd, m->nz},
        {&ad->qd, m->quad.n},
        {&ad->P, m->bound.n},
        {&ad->val, cst_graph_values(m->graph)},
        {&ad->lambda, m->nrow},
        {&ad->rows, m->nrow},
        {&ad->rows0, m->nrow},
        {&ad->rows1, m->nrow},
        {&ad->mu, m->nu},
        {&ad->wv, m->nq},
        {&ad->wx, m->nx},
        {&ad->v, m->nq},
        {&ad->a, m->nq},
        {&ad->base, m->nq},
        {&ad->x, m->nx},
        {&ad->xd, m->nx},
        {&ad->xa, m->nx},
        {&ad->force, m->nforce},
        {&ad->react, m->nreact},
        {&ad->zeta, m->nz},
        {&ad->seed, w->out->tape->nout},
        {&ad->quad_own, m->quad.n},
        {&ad->seed_rates, w->out->tape->nout},
    };
    for (size_t i = 0; i < sizeof part / sizeof *part; i++)
        *part[i].at = cst_new(a, double, 1 + (size_t)n * (size_t)part[i].size);
    ad->solve = cst_new(a, double, 4 * w->k->n + 1);
    for (int i = 0; i < CST_COSTATES; i++) {
        double **of[] = {&ad->costate[i].c, &ad->costate[i].last, &ad->costate[i].before};
        for (int j = 0; j < 3; j++) *of[j] = cst_new(a, double, 1 + (size_t)n * (size_t)w->k->n);
    }
    ad->t = cst_new(a, double, n + 1);
    ad->h = cst_new(a, double, n + 1);
    ad->a0 = cst_new(a, double, m->nq + 1);
    ad->V = cst_new(a, double, m->nq + 1);
    ad->A = cst_new(a, double, m->nq + 1);
    ad->acc = cst_new(a, double, m->nx + 1);
    ad->r = cst_new(a, double, m->nq + 1);
    ad->inertia = cst_new(a, double, 2 * m->nq + 1);
    if (w->rule && w->rule->open_adjoint) w->rule->open_adjoint(a, ad);
    return ad;
}

#define CLEAR(array, size) memset(array, 0, sizeof(double) * (size_t)ad->n * (size_t)(size))

void cst_adjoint_clear(cst_adjoint *ad)
{
    const cst_model *m = ad->w->s->m;
    CLEAR(ad->q, m->nq), CLEAR(ad->u, m->nu), CLEAR(ad->z, m->nz), CLEAR(ad->quad, m->quad.n);
    CLEAR(ad->ud, m->nu), CLEAR(ad->zd, m->nz), CLEAR(ad->qd, m->quad.n), CLEAR(ad->P, m->bound.n);
    CLEAR(ad->val, cst_graph_values(m->graph)), CLEAR(ad->seed, ad->w->out->tape->nout);
    cst_adjoint_forget(ad);
    CLEAR(ad->t, 1), CLEAR(ad->h, 1), CLEAR(ad->lambda, m->nrow), CLEAR(ad->carried, m->nu);
}

/* w = c T(q) mu and its slots */
void cst_adjoint_displace(cst_adjoint *ad, const double *q, double c)
{
    cst_system *s = ad->w->s;
    const cst_model *m = s->m;
    for (int r = 0; r < ad->n; r++) {
        double *mu = ad->mu + (size_t)r * (size_t)m->nu, *wv = ad->wv + (size_t)r * (size_t)m->nq;
        for (int i = 0; i < m->nu; i++) mu[i] *= c;
        cst_T(s, q, mu, wv);
        cst_slots_apply(s, wv, 0, ad->wx + (size_t)r * (size_t)m->nx);
    }
}

/* qbar += d(r . L(q, u))/dq body by body */
static void L_transpose(const cst_system *s, const double *u, const double *r, double *qbar)
{
    for (int i = 0; i < s->m->body.n; i++) {
        const cst_body *b = &s->m->body.at[i];
        b->cls->Lt(u + b->u0, r + b->q0, qbar + b->q0);
    }
}

#define SECTION(array, size) ((array) + (size_t)r * (size_t)(size))

cst_prepared *cst_prepared_new(cst_arena *a, cst_motion *w)
{
    cst_prepared *p = cst_new(a, cst_prepared, 1);
    p->w = w;
    p->V = cst_new(a, double, w->s->m->nq + 1);
    p->A = cst_new(a, double, w->s->m->nq + 1);
    p->fx = cst_new(a, double, w->s->m->nx + 1);
    return p;
}

/* Newton's matrix of the step y0 -> y1 with A and V, and the projection's at y1 */
cst_status cst_adjoint_prepare(cst_prepared *p, const cst_state *y0, const cst_state *y1)
{
    cst_motion *w = p->w;
    cst_system *s = w->s;
    const cst_model *m = s->m;
    cst_system_place(s, *y1->t, y1->q);
    cst_slots_blocks(s, y1->q);
    const cst_kkt_coef mass = {.mass = 1, .eps = w->st->eps, .soft = w->eq.compliance};
    cst_kkt_assemble(w->k, s, y1->q, y1->z, y1->mem, NULL, NULL, NULL, mass, 0, 0, w->project_val);
    p->own_projection = !y0 || p->direct > 0, p->factorizations += 1 + (y0 && p->own_projection),
    p->passes = 0;
    if (p->direct > 0) p->direct--;
    if (p->own_projection && cst_lu_refactor(w->project, w->project_val) >= 0) return CST_NUMERIC;
    if (!y0) return CST_OK;
    double h = *y1->h, s2 = CST_BETA * h * h, *V = p->V, *A = p->A;
    cst_T(s, y0->q, y0->u, w->v0);
    cst_T(s, y0->q, y0->ud, w->a0);
    cst_L_add(s, w->v0, y0->u, w->a0);
    cst_newmark_acceleration(w, y0, y1, A);
    for (int i = 0; i < m->nq; i++) {
        V[i] = w->v0[i] + h * ((1 - CST_GAMMA) * w->a0[i] + CST_GAMMA * A[i]);
    }
    cst_system_try_rates(s, V);
    memset(w->r, 0, sizeof *w->r * (size_t)m->nq);
    cst_mass_add(s, NULL, A, 1, w->r);
    cst_gravity_add(s, -1, w->r);
    memset(s->fx, 0, sizeof *s->fx * (size_t)m->nx);
    cst_forces_add(s, y1->z, y0->mem, s->fx, NULL,
                   NULL); /* remembered values change only after the step */
    cst_reactions_add(s, y0->mem, y1->newton, CST_ROW_MOTION, s->fx, NULL);
    memcpy(p->fx, s->fx, sizeof *p->fx * (size_t)m->nx);
    cst_slots_transpose(s, s->fx, w->r);
    const cst_kkt_coef c = {.mass = 1, .stiff = s2, .damp = CST_GAMMA * h, .eps = w->st->eps};
    memcpy(w->newton_val, w->project_val, sizeof *w->newton_val * (size_t)w->k->pattern->nnz);
    cst_kkt_add_stiffness(w->k, s, y1->q, y1->z, y0->mem, w->r, y1->newton, c, 1, h / 2,
                          w->newton_val);
    w->factored_h = 0;
    return cst_lu_refactor(w->newton, w->newton_val) < 0 ? CST_OK : CST_NUMERIC;
}

/* Integrals whose rates read other integrals: quad = own + N^T (qd + end quad), N =
 * d(rates)/d(integrals) is nilpotent */
static void nested_bars(cst_adjoint *ad, double end)
{
    const cst_output *out = ad->w->out;
    int n = ad->w->s->m->quad.n, nout = out->tape->nout;
    memcpy(ad->quad_own, ad->quad, sizeof *ad->quad * (size_t)ad->n * (size_t)n);
    for (int pass = 0; pass < out->nested; pass++) {
        CLEAR(ad->seed_rates, nout);
        for (int r = 0; r < ad->n; r++)
            for (int i = 0; i < n; i++) SECTION(ad->seed_rates, nout)
        [out->quad + i] = SECTION(ad->qd, n)[i] + end * SECTION(ad->quad, n)[i];
        memcpy(ad->quad, ad->quad_own, sizeof *ad->quad * (size_t)ad->n * (size_t)n);
        cst_output_quad_bars(ad->w->out, ad->n, ad->seed_rates, ad->quad);
    }
}

/* rows phi'' + b1 phi' + b0 phi: weights of the lower levels */
static void stabilise(cst_adjoint *ad)
{
    const cst_equations *eq = &ad->w->eq;
    size_t n = (size_t)ad->n * (size_t)ad->w->s->m->nrow;
    for (size_t i = 0; eq->b1 != 0 && i < n; i++) ad->rows1[i] = eq->b1 * ad->rows[i];
    for (size_t i = 0; eq->b0 != 0 && i < n; i++) ad->rows0[i] = eq->b0 * ad->rows[i];
}

/* Integrals: what asks for their values also asks for their rates at both ends of the step. */
static void seed_integrals(cst_adjoint *ad, double end)
{
    const cst_output *out = ad->w->out;
    const int n = ad->w->s->m->quad.n, nout = out->tape->nout;
    cst_output_quad_bars(ad->w->out, ad->n, ad->seed, ad->quad);
    if (out->nested) nested_bars(ad, end);
    for (int r = 0; r < ad->n; r++)
        for (int i = 0; i < n; i++) SECTION(ad->seed, nout)
    [out->quad + i] += SECTION(ad->qd, n)[i] + end * SECTION(ad->quad, n)[i];
}

/* Measures of accelerations ask for u'. The system is placed at q. */
static void seed_accelerations(cst_adjoint *ad, const double *q)
{
    cst_system *s = ad->w->s;
    const cst_model *m = s->m;
    for (int r = 0; r < ad->n; r++) {
        memset(ad->r, 0, sizeof *ad->r * (size_t)m->nq);
        cst_slots_transpose(s, SECTION(ad->xa, m->nx), ad->r);
        cst_T_transpose(s, q, ad->r, ad->solve);
        for (int i = 0; i < m->nu; i++) SECTION(ad->ud, m->nu)[i] += ad->solve[i];
    }
}

cst_status cst_adjoint_derive(cst_adjoint *ad, const cst_state *y)
{
    cst_motion *w = ad->w;
    cst_system *s = w->s;
    const cst_model *m = s->m;
    int given = cst_step_gives(w, y);
    const double *lambda = m->objectives_read_reactions ? cst_motion_reactions(w, y) : y->lambda;
    const cst_point_of_motion here = {*y->t, y->q, y->u, y->ud, y->z, y->mem, y->quad, lambda};

    cst_adjoint_at(ad, *y->h);
    cst_output_eval(w->out, s, &here); /* places the system, with T u */
    double *v = ad->V, *a = ad->A;
    memcpy(v, w->out->ambient, sizeof *v * (size_t)m->nq);
    cst_T(s, y->q, y->ud, a);
    cst_L_add(s, v, y->u, a);
    cst_slots_apply(s, a, 0, ad->acc);

    const cst_pass_at at = {.q = y->q,
                            .v = v,
                            .a = a,
                            .xa = ad->acc,
                            .z = y->z,
                            .mem = y->mem,
                            .lambda = y->lambda,
                            .phases = given && !w->out->needs_react ? 0 : CST_ROW_MOTION,
                            .forces = !given || w->out->needs_force || m->nz};
    CLEAR(ad->x, m->nx), CLEAR(ad->xd, m->nx), CLEAR(ad->xa, m->nx), CLEAR(ad->v, m->nq),
        CLEAR(ad->a, m->nq);
    CLEAR(ad->force, m->nforce), CLEAR(ad->react, m->nreact), CLEAR(ad->lambda, m->nrow),
        CLEAR(ad->zeta, m->nz);
    if (m->quad.n) seed_integrals(ad, *y->h * w->end);
    const cst_output_bars bars = {ad->x, ad->xd, ad->xa, ad->force, ad->react, ad->zeta,
                                  ad->q, ad->v,  ad->P,  ad->val,   ad->t};
    cst_output_reverse(w->out, ad->pass, &at, ad->n, ad->seed, &bars);
    CLEAR(ad->seed, w->out->tape->nout), CLEAR(ad->qd, m->quad.n);

    /* what the measures read directly stays in the bars of the slots for the pass; accelerations
     * give bars of u' */
    double *t = ad->timed ? ad->t : NULL;
    const cst_adjoint_out out = {ad->x, ad->xd, ad->xa, ad->q, ad->v, ad->a, ad->zeta, ad->P, t};
    if (w->out->needs_react) cst_adjoint_react(ad->pass, &at, ad->n, ad->react, ad->lambda);
    if (w->out->needs_xdd) seed_accelerations(ad, y->q);
    if (!given) {
        for (int i = 0; cst_step_carries(w) && i < ad->n * m->nu; i++)
            ad->ud[i] += ad->carried[i], ad->carried[i] = 0;
        if (cst_adjoint_solve(ad, CST_OF_ACCELERATIONS, ad->ud, ad->lambda) != CST_OK)
            return CST_NUMERIC;
        cst_adjoint_displace(ad, y->q, 1);
        stabilise(ad);
    }
    const cst_adjoint_in in = {.nrhs = ad->n,
                               .more = 1,
                               .w = given ? NULL : ad->wv,
                               .wx = given ? NULL : ad->wx,
                               .gz = ad->zd,
                               .k2 = given ? NULL : ad->rows,
                               .k1 = w->eq.b1 != 0 ? ad->rows1 : NULL,
                               .k0 = w->eq.b0 != 0 ? ad->rows0 : NULL,
                               .force = w->out->needs_force ? ad->force : NULL,
                               .react = w->out->needs_react ? ad->react : NULL};
    cst_adjoint_pass(ad->pass, &at, &in, &out);

    /* r = M a - Q_gravity + slots^T (phi_x^T lambda - f); the pass left the last in s->fx */
    memset(ad->r, 0, sizeof *ad->r * (size_t)m->nq);
    if (!given) {
        cst_mass_add(s, NULL, a, 1, ad->r);
        cst_gravity_add(s, -1, ad->r);
        cst_slots_transpose(s, s->fx, ad->r);
    }
    for (int r = 0; r < ad->n; r++) {
        double *P = SECTION(ad->P, m->bound.n), *wv = SECTION(ad->wv, m->nq);
        if (!given) {
            cst_inertia_bar(s, wv, a, ad->inertia, SECTION(ad->a, m->nq), P);
            L_transpose(s, SECTION(ad->mu, m->nu), ad->r, SECTION(ad->q, m->nq));
        }
        cst_accelerations_bar(s, y->q, y->u, y->ud, v, SECTION(ad->a, m->nq), SECTION(ad->v, m->nq),
                              SECTION(ad->q, m->nq), SECTION(ad->u, m->nu), NULL);
        for (int i = 0; i < m->nz; i++) SECTION(ad->z, m->nz)[i] += SECTION(ad->zeta, m->nz)[i];
    }
    CLEAR(ad->zd, m->nz);
    if (!given) CLEAR(ad->ud, m->nu);
    ad->placed = y->q;
    return CST_OK;
}

/* Projection: M (T u1 - V) + phi_q^T eta = 0, J u1 + phi_t = 0. Bars of V come out in ad->v. */
static cst_status projection_adjoint(cst_adjoint *ad, const cst_state *y1, const double *V)
{
    cst_motion *w = ad->w;
    cst_system *s = w->s;
    const cst_model *m = s->m;
    double *v1 = ad->V, *excess = ad->r;
    if (cst_adjoint_solve(ad, CST_OF_PROJECTION, ad->u, NULL) != CST_OK) return CST_NUMERIC;
    cst_adjoint_displace(ad, y1->q, 1);
    if (ad->placed != y1->q) {
        cst_system_place(s, *y1->t, y1->q);
        cst_T(s, y1->q, y1->u, v1);
        cst_system_rates(s, v1);
    }
    ad->placed = NULL;
    const cst_pass_at at = {.q = y1->q,
                            .v = v1,
                            .z = y1->z,
                            .mem = y1->mem,
                            .lambda = y1->eta,
                            .phases = CST_ROW_MOTION};
    const cst_adjoint_in in = {.nrhs = ad->n, .w = ad->wv, .wx = ad->wx, .k1 = ad->rows};
    CLEAR(ad->a, m->nq); /* here: bars of v1 */
    const cst_adjoint_out out = {.x = ad->x,
                                 .xd = ad->xd,
                                 .q = ad->q,
                                 .v = ad->a,
                                 .P = ad->P,
                                 .t = ad->timed ? ad->t : NULL};
    cst_adjoint_pass(ad->pass, &at, &in, &out);
    double *difference = ad->base;
    memset(excess, 0, sizeof *excess * (size_t)m->nq);
    for (int i = 0; i < m->nq; i++) difference[i] = v1[i] - V[i];
    cst_mass_add(s, NULL, difference, 1, excess);
    cst_slots_transpose(s, s->fx, excess);
    CLEAR(ad->v, m->nq);
    for (int r = 0; r < ad->n; r++) {
        double *wv = SECTION(ad->wv, m->nq), *v1bar = SECTION(ad->a, m->nq),
               *Vbar = SECTION(ad->v, m->nq);
        cst_mass_add(s, NULL, wv, -1, Vbar);
        for (int i = 0; i < m->nq; i++) v1bar[i] -= Vbar[i];
        cst_mass_bar(s, wv, difference, 1, SECTION(ad->P, m->bound.n));
        L_transpose(s, SECTION(ad->mu, m->nu), excess, SECTION(ad->q, m->nq));
        L_transpose(s, y1->u, v1bar, SECTION(ad->q, m->nq));
    }
    CLEAR(ad->u, m->nu);
    return CST_OK;
}

cst_status cst_adjoint_impact(cst_adjoint *ad, const cst_state *y0, const cst_state *y1)
{
    const cst_system *s = ad->w->s;
    const cst_model *m = s->m;
    double *V = ad->a0;
    cst_T(s, y0->q, y0->u, V);
    if (projection_adjoint(ad, y1, V) != CST_OK) return CST_NUMERIC;
    for (int r = 0; r < ad->n; r++)
        cst_rates_bar(s, y0->q, y0->u, SECTION(ad->v, m->nq), SECTION(ad->q, m->nq),
                      SECTION(ad->u, m->nu));
    return CST_OK;
}

/* h in   base = q0 + h v0 + h^2 (1/2 - beta) a0,   A = (q1 - base)/(beta h^2),   V = v0 + h ((1 -
 * gamma) a0 + gamma A); the bar of A is -beta h^2 that of base */
static double length_bar(double h, double s2, double base, double Vbar, double v0, double a0,
                         double A)
{
    return base * (v0 + 2 * h * (0.5 - CST_BETA) * a0) + base * s2 * 2 * A / h +
           Vbar * ((1 - CST_GAMMA) * a0 + CST_GAMMA * A);
}

/* From bars of V (in v and a) and of base to those of state 0, for one right-hand side */
static void state_before(cst_adjoint *ad, int r, const cst_state *y0, const cst_state *y1)
{
    cst_system *s = ad->w->s;
    const cst_model *m = s->m;
    const double h = *y1->h, s2 = CST_BETA * h * h, *A = ad->step->A;
    double *P = SECTION(ad->P, m->bound.n), *wv = SECTION(ad->wv, m->nq),
           *q = SECTION(ad->q, m->nq);
    double *v = SECTION(ad->v, m->nq), *a = SECTION(ad->a, m->nq), *base = SECTION(ad->base, m->nq);
    double *Abar = ad->r, hbar = 0;
    memset(Abar, 0, sizeof *Abar * (size_t)m->nq);
    cst_inertia_bar(s, wv, A, ad->inertia, Abar, P);
    for (int i = 0; i < m->nq; i++) {
        base[i] -= (Abar[i] + h * CST_GAMMA * a[i]) / s2;
        double Vbar = v[i] + a[i];
        if (ad->timed) hbar += length_bar(h, s2, base[i], Vbar, ad->V[i], ad->a0[i], A[i]);
        q[i] = base[i];
        v[i] = Vbar + h * base[i];
        a[i] = h * (1 - CST_GAMMA) * Vbar + h * h * (0.5 - CST_BETA) * base[i];
    }
    cst_accelerations_bar(s, y0->q, y0->u, y0->ud, ad->V, a, v, q, SECTION(ad->u, m->nu),
                          SECTION(ad->ud, m->nu));
    for (int i = 0; i < m->nz; i++) {
        hbar += SECTION(ad->zeta, m->nz)[i] * (y1->z[i] - y0->z[i]) / h;
        SECTION(ad->z, m->nz)[i] = SECTION(ad->zeta, m->nz)[i];
        SECTION(ad->zd, m->nz)[i] += h / 2 * SECTION(ad->zeta, m->nz)[i];
    }
    for (int i = 0; i < m->quad.n; i++) {
        SECTION(ad->qd, m->quad.n)[i] += h / 2 * SECTION(ad->quad, m->quad.n)[i];
        hbar += SECTION(ad->quad, m->quad.n)[i] * (y0->qd[i] + y1->qd[i]) / 2;
    }
    ad->h[r] = hbar;
}

cst_status cst_adjoint_step(cst_adjoint *ad, const cst_state *y0, const cst_state *y1)
{
    cst_motion *w = ad->w;
    cst_system *s = w->s;
    const cst_model *m = s->m;
    double h = *y1->h, s2 = CST_BETA * h * h, *V = ad->step->V;
    double *t = ad->timed ? ad->t : NULL;
    const double *mem = y0->mem;
    if (projection_adjoint(ad, y1, V) != CST_OK) return CST_NUMERIC;

    cst_system_try_rates(s, V);
    const cst_pass_at at = {.q = y1->q,
                            .v = V,
                            .z = y1->z,
                            .mem = mem,
                            .lambda = y1->newton,
                            .phases = CST_ROW_MOTION,
                            .forces = 1,
                            .hz = h / 2};
    CLEAR(ad->zeta, m->nz), CLEAR(ad->a, m->nq), CLEAR(ad->base, m->nq);
    if (m->nz) { /* z1 = z0 + h/2 (zd0 + g(q1, V, z1)) */
        const cst_pass_at states = {
            .q = y1->q, .v = V, .z = y1->z, .mem = mem, .forces = 1, .hz = h / 2};
        const cst_adjoint_in in = {.nrhs = ad->n, .zbar = ad->z};
        const cst_adjoint_out out = {
            .x = ad->x, .xd = ad->xd, .q = ad->q, .v = ad->v, .z = ad->zeta, .P = ad->P, .t = t};
        cst_adjoint_pass(ad->pass, &states, &in, &out);
    }
    /* V, A as functions of q1 and of state 0; then Newton's equations */
    for (int r = 0; r < ad->n; r++) {
        double *q = SECTION(ad->q, m->nq), *v = SECTION(ad->v, m->nq),
               *base = SECTION(ad->base, m->nq);
        for (int i = 0; i < m->nq; i++) {
            double Abar = h * CST_GAMMA * v[i];
            q[i] += Abar / s2;
            base[i] = -Abar / s2;
        }
        cst_T_transpose(s, y1->q, q, SECTION(ad->u, m->nu));
    }
    if (cst_adjoint_solve(ad, CST_OF_NEWTON, ad->u, NULL) != CST_OK) return CST_NUMERIC;
    cst_adjoint_displace(ad, y1->q, s2);
    const cst_adjoint_in in = {
        .nrhs = ad->n, .w = ad->wv, .wx = ad->wx, .k0 = ad->rows, .fx = ad->step->fx};
    CLEAR(ad->a, m->nq); /* here: bars of V from Newton's equations */
    const cst_adjoint_out out = {
        .x = ad->x, .xd = ad->xd, .v = ad->a, .z = ad->zeta, .P = ad->P, .t = t};
    cst_adjoint_pass(ad->pass, &at, &in, &out);

    CLEAR(ad->q, m->nq), CLEAR(ad->u, m->nu);
    cst_T(s, y0->q, y0->u, ad->V);
    if (ad->timed) {
        cst_T(s, y0->q, y0->ud, ad->a0);
        cst_L_add(s, ad->V, y0->u, ad->a0);
    }
    for (int r = 0; r < ad->n; r++) state_before(ad, r, y0, y1);
    return CST_OK;
}
