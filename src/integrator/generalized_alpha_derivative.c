/* SPDX-License-Identifier: MIT
 *
 * Tangent and adjoint of the generalised-alpha step. Its equations are linearised exactly by the
 * passes over the elements and the bodies' kinematics; the systems are solved by correction with N
 * (generalized_alpha.h), which differs from the exact matrix in little, until the corrections are
 * rounding. */
#include "integrator/generalized_alpha.h"
#include "integrator/trapezoid.h"

#include <math.h>
#include <string.h>

#define MOST 60

/* The system and the residual of the step's equations at y1: w->V, w->A, w->r, s->fx; D */
static void linearise_at(cst_motion *w, const cst_state *y0, const cst_state *y1)
{
    cst_generalized_alpha_move(w, y0, *y1->h, y1);
    cst_system_place(w->s, *y1->t, y1->q);
    cst_T(w->s, y1->q, y1->u, w->V);
    cst_system_rates(w->s, w->V);
    cst_generalized_alpha_forces(w, y1, y0->mem);
}

/* ---- tangent ---- */

typedef struct tangent_work {
    double *u0, *ud0,
        *D0;         /* changes of u1, u1' and D with state 0 and the length of the step, a1 held */
    double *q0, *z0; /* of q0; of what z1 begins with */
    double *a1;      /* of a1 */
    double *da, *dl; /* correction of a1, of lambda1 */
    double *u, *ud, *D, *q, *v, *A, *r; /* changes at y1 */
    double *left, *b;                   /* (n) residual of the changed equations; N's correction */
    double *none;                       /* zero: numbers, coordinates, states that do not change */
} tangent_work;

void cst_generalized_alpha_open_tangent(cst_arena *a, cst_tangent *t)
{
    const cst_model *m = t->w->s->m;
    tangent_work *o = t->own = cst_new(a, tangent_work, 1);
    struct {
        double **at;
        int size;
    } part[] = {{&o->u0, m->nu},     {&o->ud0, m->nu},
                {&o->D0, m->nu},     {&o->q0, m->nq},
                {&o->z0, m->nz},     {&o->a1, m->nu},
                {&o->da, m->nu},     {&o->dl, m->nrow},
                {&o->u, m->nu},      {&o->ud, m->nu},
                {&o->D, m->nu},      {&o->q, m->nq},
                {&o->v, m->nq},      {&o->A, m->nq},
                {&o->r, m->nq},      {&o->left, t->w->k->n},
                {&o->b, t->w->k->n}, {&o->none, m->bound.n + m->nq + m->nz}};
    for (size_t i = 0; i < sizeof part / sizeof *part; i++)
        *part[i].at = cst_new(a, double, part[i].size + 1);
}

/* What state 0 and the length of the step give, and first values for a1 */
static void given(cst_tangent *t, const cst_state *y0, const cst_state *y1)
{
    const cst_model *m = t->w->s->m;
    const cst_generalized_alpha *g = t->w->own;
    tangent_work *o = t->own;
    double h = *y1->h;
    memcpy(o->q0, t->q, sizeof *t->q * (size_t)m->nq);
    for (int i = 0; i < m->nu; i++) {
        double a0 = y0->carried[i], a1 = y1->carried[i], da0 = t->carried[i];
        o->D0[i] = h * t->u[i] + h * h * (0.5 - g->beta) * da0 +
                   t->h * (y0->u[i] + 2 * h * ((0.5 - g->beta) * a0 + g->beta * a1));
        o->u0[i] =
            t->u[i] + h * (1 - g->gamma) * da0 + t->h * ((1 - g->gamma) * a0 + g->gamma * a1);
        o->ud0[i] = (g->am * da0 - g->af * t->ud[i]) / (1 - g->af);
        o->a1[i] = da0;
    }
    for (int i = 0; i < m->nz; i++)
        o->z0[i] = t->z[i] + h / 2 * t->zd[i] + t->h * (y1->z[i] - y0->z[i]) / h;
}

/* Changes of u1, u1', q1, v1 and A1 with that of a1; all: and with what is given */
static void follow(cst_tangent *t, const cst_state *y0, const cst_state *y1, const double *a1,
                   int all)
{
    const cst_motion *w = t->w;
    const cst_system *s = w->s;
    const cst_generalized_alpha *g = w->own;
    tangent_work *o = t->own;
    double h = *y1->h;
    for (int i = 0; i < w->k->nu; i++) {
        o->u[i] = all * o->u0[i] + h * g->gamma * a1[i];
        o->ud[i] = all * o->ud0[i] + g->c * a1[i];
        o->D[i] = all * o->D0[i] + g->beta * h * h * a1[i];
    }
    cst_move_change(s, y0->q, g->D, all ? o->q0 : o->none, o->D, o->q);
    cst_T(s, y1->q, o->u, o->v);
    cst_L_add(s, o->q, y1->u, o->v);
    cst_T(s, y1->q, o->ud, o->A);
    cst_L_add(s, o->q, y1->ud, o->A);
    cst_L_add(s, o->v, y1->u, o->A);
    cst_L_add(s, w->V, o->u, o->A);
}

/* left -= (s2 d(T^T r), d phi) of these changes and of lambda's; all: and of the numbers, the time,
 * z0 */
static void leave(cst_tangent *t, const cst_state *y0, const cst_state *y1, const double *lambda,
                  int all)
{
    cst_motion *w = t->w;
    cst_system *s = w->s;
    const cst_model *m = s->m;
    const cst_kkt *k = w->k;
    const cst_generalized_alpha *g = w->own;
    tangent_work *o = t->own;
    double h = *y1->h, s2 = g->beta * h * h / g->c;
    const cst_pass_at at = {.q = y1->q,
                            .v = w->V,
                            .z = y1->z,
                            .mem = y0->mem,
                            .lambda = y1->lambda,
                            .phases = CST_ROW_MOTION,
                            .forces = 1,
                            .hz = h / 2};
    const cst_tangent_in in = {.q = o->q,
                               .v = o->v,
                               .z = all ? o->z0 : o->none,
                               .P = all ? t->P : o->none,
                               .t = all ? t->t : 0};
    const cst_tangent_out out = {.r = o->r, .phi = t->rows, .x = t->x, .xd = t->xd};
    memset(o->r, 0, sizeof *o->r * (size_t)m->nq);
    cst_tangent_pass(t->pass, &at, &in, &out);
    memset(s->fx, 0, sizeof *s->fx * (size_t)m->nx);
    cst_reactions_add(s, y0->mem, lambda, CST_ROW_MOTION, s->fx, NULL);
    cst_slots_transpose(s, s->fx, o->r);
    cst_mass_add(s, NULL, o->A, 1, o->r);
    if (all) cst_mass_dot(s, t->P, w->A, 1, o->r), cst_gravity_dot(s, t->P, 1, o->r);
    cst_T_transpose(s, y1->q, o->r, o->b);
    for (int i = 0; i < m->body.n; i++) { /* d(T^T) r = L(dq, .)^T r */
        const cst_body *b = &m->body.at[i];
        b->cls->Ltu(o->q + b->q0, w->r + b->q0, o->b + b->u0);
    }
    for (int i = 0; i < k->nu; i++) o->left[i] -= s2 * o->b[i];
    for (int i = 0; i < k->nrow; i++) o->left[k->nu + i] -= t->rows[k->all_of[i]];
}

/* Changes of a1 and lambda1 by correction with N. The residual is updated with each correction
 * alone, so that its rounding is that of the correction, not of the sum. */
static int solve(cst_tangent *t, const cst_state *y0, const cst_state *y1)
{
    cst_motion *w = t->w;
    const cst_kkt *k = w->k;
    cst_generalized_alpha *g = w->own;
    tangent_work *o = t->own;
    double h = *y1->h, bh2 = g->beta * h * h, s2 = bh2 / g->c, before = 0;
    memset(o->left, 0, sizeof *o->left * (size_t)k->n),
        memset(o->dl, 0, sizeof *o->dl * (size_t)w->s->m->nrow);
    cst_rows_clear(w, t->lambda);
    follow(t, y0, y1, o->a1, 1);
    leave(t, y0, y1, t->lambda, 1);
    for (int it = 0; it < MOST; it++) {
        memcpy(o->b, o->left, sizeof *o->b * (size_t)k->n);
        cst_lu_solve(w->newton, 1, o->b);
        cst_move_back(w->s, g->D, o->b, o->da);
        for (int i = 0; i < k->nu; i++) o->a1[i] += o->da[i] /= bh2;
        for (int i = 0; i < k->nrow; i++)
            t->lambda[k->all_of[i]] += o->dl[k->all_of[i]] = o->b[k->nu + i] / s2;
        double change = cst_largest(k->nu, o->da);
        if (!isfinite(change)) return it == 0; /* there is no slope by this number: it stays NaN */
        if (cst_iteration_settled(change, cst_largest(k->nu, o->a1), it, &before)) return 1;
        follow(t, y0, y1, o->da, 0);
        leave(t, y0, y1, o->dl, 0);
    }
    return 0;
}

cst_status cst_generalized_alpha_tangent(cst_tangent *t, const cst_state *y0, const cst_state *y1,
                                         int factor)
{
    cst_motion *w = t->w;
    const cst_model *m = w->s->m;
    tangent_work *o = t->own;
    double h = *y1->h;
    linearise_at(w, y0, y1);
    if (factor && !cst_generalized_alpha_matrix(w, h, y1, y0->mem, 0)) return CST_NUMERIC;
    w->factored_h = 0;
    given(t, y0, y1);
    if (!solve(t, y0, y1)) return CST_NUMERIC;
    follow(t, y0, y1, o->a1, 1);
    memcpy(t->q, o->q, sizeof *t->q * (size_t)m->nq),
        memcpy(t->u, o->u, sizeof *t->u * (size_t)m->nu);
    memcpy(t->ud, o->ud, sizeof *t->ud * (size_t)m->nu),
        memcpy(t->carried, o->a1, sizeof *t->carried * (size_t)m->nu);
    if (m->nz) {
        const cst_pass_at at = {
            .q = y1->q, .v = w->V, .z = y1->z, .mem = y0->mem, .forces = 1, .hz = h / 2};
        const cst_tangent_in in = {.q = o->q, .v = o->v, .z = o->z0, .P = t->P, .t = t->t};
        const cst_tangent_out out = {.z = t->z, .x = t->x, .xd = t->xd};
        cst_tangent_pass(t->pass, &at, &in, &out);
    }
    for (int i = 0; i < m->quad.n; i++) /* the rate at the end follows in derive */
        t->quad[i] += h / 2 * t->qd[i] + t->h * (y0->qd[i] + y1->qd[i]) / 2;
    return CST_OK;
}

/* ---- adjoint ---- */

typedef struct adjoint_work { /* sections per right-hand side */
    double *mu;               /* multipliers of the forces' rows so far */
    double *a1, *lambda;      /* what is left of the bars of a1 and lambda1 */
    double *q, *u, *ud;       /* bars of q1, u1, u1' of one correction */
    double *q0, *D;           /* bars of q0 and of D */
    double *b;                /* (n): one right-hand side */
} adjoint_work;

void cst_generalized_alpha_open_adjoint(cst_arena *a, cst_adjoint *ad)
{
    const cst_model *m = ad->w->s->m;
    adjoint_work *o = ad->own = cst_new(a, adjoint_work, 1);
    struct {
        double **at;
        int size;
    } part[] = {{&o->mu, m->nu}, {&o->a1, m->nu}, {&o->lambda, m->nrow}, {&o->q, m->nq},
                {&o->u, m->nu},  {&o->ud, m->nu}, {&o->q0, m->nq},       {&o->D, m->nu}};
    for (size_t i = 0; i < sizeof part / sizeof *part; i++)
        *part[i].at = cst_new(a, double, 1 + (size_t)ad->n * (size_t)part[i].size);
    o->b = cst_new(a, double, ad->w->k->n + 1);
}

cst_status cst_generalized_alpha_prepare(cst_prepared *p, const cst_state *y0, const cst_state *y1)
{
    cst_motion *w = p->w;
    const cst_model *m = w->s->m;
    if (!y0) return cst_adjoint_prepare(p, NULL, y1);
    linearise_at(w, y0, y1);
    memcpy(p->V, w->V, sizeof *p->V * (size_t)m->nq),
        memcpy(p->A, w->A, sizeof *p->A * (size_t)m->nq);
    memcpy(p->fx, w->s->fx, sizeof *p->fx * (size_t)m->nx);
    p->factorizations++;
    w->factored_h = 0;
    return cst_generalized_alpha_matrix(w, *y1->h, y1, y0->mem, 0) ? CST_OK : CST_NUMERIC;
}

#define SECTION(array, size) ((array) + (size_t)r * (size_t)(size))
#define CLEAR(array, size) memset(array, 0, sizeof(double) * (size_t)ad->n * (size_t)(size))

static void add(int n, const double *x, double *y)
{
    for (int i = 0; i < n; i++) y[i] += x[i];
}

/* The bars of a1 and of lambda1, all told, must vanish:
 *     a1 + beta h^2 D + gamma h u1 + c u1' = 0,     lambda1 + phi_q T mu = 0
 * collect: what bars of q1, u1, u1' add to the first. */
static void collect(cst_adjoint *ad, int r, const cst_state *y0, double h, const double *q,
                    const double *u, const double *ud)
{
    const cst_system *s = ad->w->s;
    const cst_model *m = s->m;
    const cst_generalized_alpha *g = ad->w->own;
    adjoint_work *o = ad->own;
    double *D = SECTION(o->D, m->nu), *q0 = SECTION(o->q0, m->nq), *a1 = SECTION(o->a1, m->nu);
    memset(D, 0, sizeof *D * (size_t)m->nu), memset(q0, 0, sizeof *q0 * (size_t)m->nq);
    cst_move_bar(s, y0->q, g->D, q, q0, D);
    for (int i = 0; i < m->nu; i++)
        a1[i] += g->beta * h * h * D[i] + g->gamma * h * u[i] + g->c * ud[i];
}

/* mu and kappa (ad->mu, ad->rows) from what is left, by N^T; their size over that of mu so far */
static double correction(cst_adjoint *ad, int r, int first, double h)
{
    const cst_motion *w = ad->w, *f = ad->step->w;
    const cst_model *m = w->s->m;
    const cst_kkt *k = w->k;
    cst_generalized_alpha *g = w->own;
    adjoint_work *o = ad->own;
    double bh2 = g->beta * h * h, s2 = bh2 / g->c, *rows = SECTION(ad->rows, m->nrow);
    double *mu = SECTION(ad->mu, m->nu), *sum = SECTION(o->mu, m->nu);
    for (int i = 0; i < m->nu; i++) g->w[i] = -SECTION(o->a1, m->nu)[i] / bh2, g->dxi[i] = -g->D[i];
    cst_move_back(w->s, g->dxi, g->w, o->b); /* transposed */
    for (int i = 0; i < k->nrow; i++)
        o->b[k->nu + i] = -SECTION(o->lambda, m->nrow)[k->all_of[i]] / s2;
    if (first) { /* later ones correct rounding, and need not be refined */
        double *b = ad->solve;
        memcpy(b, o->b, sizeof *b * (size_t)k->n);
        cst_kkt_tsolve(k, f->newton, f->newton_val, w->st->eps, b, o->b, b + k->n);
    } else {
        cst_lu_tsolve(f->newton, 1, o->b);
    }
    memset(rows, 0, sizeof *rows * (size_t)m->nrow);
    cst_kkt_spread(k, o->b + k->nu, rows);
    memcpy(mu, o->b, sizeof *mu * (size_t)m->nu);
    add(m->nu, mu, sum);
    double change = cst_largest(m->nu, mu), size = cst_largest(m->nu, sum);
    return size > 0 ? change / size : change;
}

/* What mu and kappa ask of y1 and of the numbers */
static void apply(cst_adjoint *ad, const cst_state *y0, const cst_state *y1, double s2)
{
    cst_system *s = ad->w->s;
    const cst_model *m = s->m;
    adjoint_work *o = ad->own;
    const double *V = ad->step->V, *A = ad->step->A;
    const cst_pass_at at = {.q = y1->q,
                            .v = V,
                            .z = y1->z,
                            .mem = y0->mem,
                            .lambda = y1->lambda,
                            .phases = CST_ROW_MOTION,
                            .forces = 1,
                            .hz = *y1->h / 2};
    const cst_adjoint_in in = {
        .nrhs = ad->n, .w = ad->wv, .wx = ad->wx, .k0 = ad->rows, .fx = ad->step->fx};
    const cst_adjoint_out out = {.x = ad->x,
                                 .xd = ad->xd,
                                 .q = o->q,
                                 .v = ad->v,
                                 .z = ad->zeta,
                                 .P = ad->P,
                                 .t = ad->timed ? ad->t : NULL};
    cst_adjoint_displace(ad, y1->q, s2);
    CLEAR(ad->v, m->nq), CLEAR(ad->a, m->nq), CLEAR(o->q, m->nq), CLEAR(o->u, m->nu),
        CLEAR(o->ud, m->nu);
    cst_adjoint_pass(ad->pass, &at, &in, &out);
    for (int r = 0; r < ad->n; r++) {
        double *P = SECTION(ad->P, m->bound.n), *wv = SECTION(ad->wv, m->nq),
               *a = SECTION(ad->a, m->nq);
        double *q = SECTION(o->q, m->nq), *u = SECTION(o->u, m->nu), *ud = SECTION(o->ud, m->nu),
               *mu = SECTION(ad->mu, m->nu);
        cst_inertia_bar(s, wv, A, ad->inertia, a, P);
        for (int i = 0; i < m->body.n; i++) { /* T(q1)^T r */
            const cst_body *b = &m->body.at[i];
            b->cls->Lt(mu + b->u0, ad->r + b->q0, q + b->q0);
        }
        cst_accelerations_bar(s, y1->q, y1->u, y1->ud, V, a, SECTION(ad->v, m->nq), q, u, ud);
        cst_constraints_apply(s, y0->mem, CST_ROW_MOTION, SECTION(ad->wx, m->nx),
                              SECTION(o->lambda, m->nrow));
        add(m->nq, q, SECTION(ad->q, m->nq)), add(m->nu, u, SECTION(ad->u, m->nu)),
            add(m->nu, ud, SECTION(ad->ud, m->nu));
        collect(ad, r, y0, *y1->h, q, u, ud);
    }
}

/* Bars of y1 with z1 = z0 + h/2 (z0' + g(q1, v1, z1)) taken out, zeta; r = M A1 + phi_q^T lambda1 -
 * Q */
static void begin(cst_adjoint *ad, const cst_state *y0, const cst_state *y1)
{
    cst_system *s = ad->w->s;
    const cst_model *m = s->m;
    const double *V = ad->step->V;
    cst_generalized_alpha_move(ad->w, y0, *y1->h, y1);
    cst_system_place(s, *y1->t, y1->q);
    cst_system_rates(s, V);
    CLEAR(ad->zeta, m->nz), CLEAR(ad->v, m->nq);
    CLEAR(((adjoint_work *)ad->own)->mu, m->nu);
    if (m->nz) {
        const cst_pass_at at = {
            .q = y1->q, .v = V, .z = y1->z, .mem = y0->mem, .forces = 1, .hz = *y1->h / 2};
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
            cst_rates_bar(s, y1->q, y1->u, SECTION(ad->v, m->nq), SECTION(ad->q, m->nq),
                          SECTION(ad->u, m->nu));
    }
    memset(ad->r, 0, sizeof *ad->r * (size_t)m->nq);
    cst_mass_add(s, NULL, ad->step->A, 1, ad->r);
    cst_gravity_add(s, -1, ad->r);
    cst_slots_transpose(s, ad->step->fx, ad->r);
}

/* From the bars of y1 and of D to those of y0 and of the length */
static void finish(cst_adjoint *ad, int r, const cst_state *y0, const cst_state *y1)
{
    const cst_model *m = ad->w->s->m;
    const cst_generalized_alpha *g = ad->w->own;
    adjoint_work *o = ad->own;
    double h = *y1->h, hbar = 0, *u = SECTION(ad->u, m->nu), *ud = SECTION(ad->ud, m->nu),
           *a = SECTION(ad->carried, m->nu);
    const double *D = SECTION(o->D, m->nu), *zeta = SECTION(ad->zeta, m->nz),
                 *quad = SECTION(ad->quad, m->quad.n);
    for (int i = 0; i < m->nu; i++) {
        double a0 = y0->carried[i], a1 = y1->carried[i];
        hbar += D[i] * (y0->u[i] + 2 * h * ((0.5 - g->beta) * a0 + g->beta * a1)) +
                u[i] * ((1 - g->gamma) * a0 + g->gamma * a1);
        a[i] = h * h * (0.5 - g->beta) * D[i] + h * (1 - g->gamma) * u[i] +
               g->am / (1 - g->af) * ud[i];
        u[i] += h * D[i];
        ud[i] *= -g->af / (1 - g->af);
    }
    memcpy(SECTION(ad->q, m->nq), SECTION(o->q0, m->nq), sizeof *o->q0 * (size_t)m->nq);
    for (int i = 0; i < m->nz; i++) {
        hbar += zeta[i] * (y1->z[i] - y0->z[i]) / h;
        SECTION(ad->z, m->nz)[i] = zeta[i];
        SECTION(ad->zd, m->nz)[i] += h / 2 * zeta[i];
    }
    for (int i = 0; i < m->quad.n; i++) {
        SECTION(ad->qd, m->quad.n)[i] += h / 2 * quad[i];
        hbar += quad[i] * (y0->qd[i] + y1->qd[i]) / 2;
    }
    ad->h[r] = hbar;
}

cst_status cst_generalized_alpha_adjoint(cst_adjoint *ad, const cst_state *y0, const cst_state *y1)
{
    const cst_model *m = ad->w->s->m;
    const cst_generalized_alpha *g = ad->w->own;
    adjoint_work *o = ad->own;
    double h = *y1->h, before = 0;
    int settled = 0;
    begin(ad, y0, y1);
    memcpy(o->a1, ad->carried, sizeof *o->a1 * (size_t)ad->n * (size_t)m->nu);
    memcpy(o->lambda, ad->lambda, sizeof *o->lambda * (size_t)ad->n * (size_t)m->nrow);
    for (int r = 0; r < ad->n; r++)
        collect(ad, r, y0, h, SECTION(ad->q, m->nq), SECTION(ad->u, m->nu), SECTION(ad->ud, m->nu));
    for (int it = 0; it < MOST && !settled; it++) {
        double change = 0;
        for (int r = 0; r < ad->n; r++) {
            double c = correction(ad, r, it == 0, h);
            if (!(c <= change)) change = c; /* a NaN stays */
        }
        if (!isfinite(change)) return CST_NUMERIC;
        settled = cst_iteration_settled(change, 1, it, &before);
        if (change > 1e-14)
            apply(ad, y0, y1,
                  g->beta * h * h / g->c); /* else it is rounding of the solution before */
    }
    if (!settled) return CST_NUMERIC;
    for (int r = 0; r < ad->n; r++) {
        collect(ad, r, y0, h, SECTION(ad->q, m->nq), SECTION(ad->u, m->nu),
                SECTION(ad->ud, m->nu)); /* q0, D of them all */
        finish(ad, r, y0, y1);
    }
    return CST_OK;
}
