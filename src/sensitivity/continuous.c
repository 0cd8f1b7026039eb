/* SPDX-License-Identifier: MIT
 *
 * Sensitivity and adjoint equations that are discretised themselves, over the stored states of any
 * integrator. With the motion as x' = f(x, p), x = (q, u, z), f from the formulation's
 * accelerations:
 *
 *     continuous-direct    s' = f_x s + f_p                                      trapezoidal rule
 *     continuous-adjoint   m' = -f_x^T m - g_x^T,  m(end) = w_x^T                trapezoidal rule,
 * backward dpsi/dp = m(start)^T x0_p + w_p + integral (m^T f_p + g_p) dt
 *
 * They tend to the derivative as the step does to zero; `direct` and `adjoint` are the derivatives
 * of the numbers that were computed. For constraints of index 3 the equations are those of the
 * reduced index: the multipliers of the adjoint and its end conditions follow from the costates as
 * lambda follows from the state. */
#include <math.h>
#include <string.h>

#include "integrator/trapezoid.h"
#include "sensitivity/asked.h"
#include "sensitivity/methods.h"

#define MOST 60

/* A workspace that has the equations of the run and the trapezoidal rule */
cst_motion *cst_continuous_work(cst_arena *a, cst_run *r)
{
    cst_motion *w = cst_motion_new(a, r->s, r->st, r->out);
    cst_motion_choose(a, w, cst_rule_find("trapezoid"), r->w->eq, NULL);
    cst_rows_open(a, w, r->choices);
    ((cst_trapezoid *)w->own)->ambient = 1;
    return w;
}

cst_status cst_continuous_applies(cst_run *r, cst_diag *d)
{
    if (r->m->held.n)
        return cst_error(d, CST_USAGE, r->m->held.at[0].where,
                         "force '%s' reads reactions of the step before, which the continuous and "
                         "mixed methods cannot differentiate: use adjoint or direct",
                         r->m->held.at[0].name);
    if (r->events_mode != CST_EVENTS_EXACT || !r->events->located) return CST_OK;
    return cst_error(d, CST_USAGE, (cst_where){.file = r->m->file},
                     "the continuous and mixed methods do not differentiate instants of events, "
                     "and there are %ld: use adjoint or direct, or events: frozen",
                     r->events->located);
}

/* ---- continuous adjoint ---- */

typedef struct costate {
    cst_run *r;
    cst_adjoint *ad;
    double *q, *u, *z;    /* m */
    double *bq, *bu, *bz; /* right-hand side */
    double *gq, *gu, *gz; /* g_x^T */
    double *kq, *ku, *kz; /* f_x^T m */
    double *P, *val, *t;  /* thrown away */
    double *scratch;
} costate;

#define SECTION(array, size) ((array) + (size_t)o * (size_t)(size))

static void axpy(long n, double c, const double *x, double *y)
{
    for (long i = 0; i < n; i++) y[i] += c * x[i];
}

static void clear_bars(cst_adjoint *ad)
{
    const cst_model *m = ad->w->s->m;
    size_t n = sizeof(double) * (size_t)ad->n;
    memset(ad->q, 0, n * (size_t)m->nq), memset(ad->u, 0, n * (size_t)m->nu),
        memset(ad->z, 0, n * (size_t)m->nz);
    memset(ad->quad, 0, n * (size_t)m->quad.n), memset(ad->qd, 0, n * (size_t)m->quad.n);
    memset(ad->ud, 0, n * (size_t)m->nu), memset(ad->zd, 0, n * (size_t)m->nz);
}

/* Bars of the state in ad from c times those of its rates: f_x^T, numbers in ad->P */
static cst_status rates_back(costate *c, const cst_state *y, double f, const double *q,
                             const double *u, const double *z)
{
    cst_adjoint *ad = c->ad;
    const cst_model *m = c->r->m;
    clear_bars(ad);
    axpy((long)ad->n * m->nu, f, u, ad->ud);
    axpy((long)ad->n * m->nz, f, z, ad->zd);
    cst_status ok = cst_adjoint_derive(ad, y);
    for (int o = 0; q && o < ad->n; o++) { /* q' = T u */
        double *vbar = ad->V;
        for (int i = 0; i < m->nq; i++) vbar[i] = f * SECTION(q, m->nq)[i];
        cst_rates_bar(ad->w->s, y->q, y->u, vbar, SECTION(ad->q, m->nq), SECTION(ad->u, m->nu));
    }
    return ok;
}

/* Those of element states: (1 - h/2 g_z)^T (m_z - m_z before) = b_z + h/2 (f_z^T m_u + g_z^T m_z) -
 * m_z, with h/2 (..) in ad->z. Returns the largest relative change */
static double correct_states(costate *c, const cst_state *y, double h)
{
    cst_adjoint *ad = c->ad;
    cst_system *s = ad->w->s;
    const cst_model *m = s->m;
    const long n = (long)ad->n * m->nz;
    double worst = 0;
    if (n == 0) return 0;
    for (long i = 0; i < n; i++) ad->z[i] += c->bz[i] - c->z[i], ad->zeta[i] = 0;
    cst_T(s, y->q, y->u, ad->V);
    cst_system_rates(s, ad->V);
    const cst_pass_at at = {
        .q = y->q, .v = ad->V, .z = y->z, .mem = y->mem, .forces = 1, .hz = h / 2};
    const cst_adjoint_in in = {.nrhs = ad->n, .zbar = ad->z};
    const cst_adjoint_out out = {.x = ad->x, .xd = ad->xd, .z = ad->zeta, .P = ad->P};
    cst_adjoint_pass(ad->pass, &at, &in, &out);
    for (int o = 0; o < ad->n; o++) {
        double change = 0, size = 0;
        for (int i = 0; i < m->nz; i++) {
            SECTION(c->z, m->nz)[i] += SECTION(ad->zeta, m->nz)[i];
            change = fmax(change, fabs(SECTION(ad->zeta, m->nz)[i])),
            size = fmax(size, fabs(SECTION(c->z, m->nz)[i]));
        }
        if (size > 0) worst = fmax(worst, change / size);
    }
    return worst;
}

/* m = b + h/2 f_x^T m */
static cst_status solve(costate *c, const cst_state *y, double h)
{
    cst_adjoint *ad = c->ad;
    const cst_model *m = c->r->m;
    const cst_system *s = ad->w->s;
    double *P = ad->P, *val = ad->val, *t = ad->t, before = 0;
    cst_status ok = CST_OK;
    ad->P = c->P, ad->val = c->val, ad->t = c->t;
    memcpy(c->q, c->bq, sizeof *c->q * (size_t)ad->n * (size_t)m->nq);
    memcpy(c->u, c->bu, sizeof *c->u * (size_t)ad->n * (size_t)m->nu);
    memcpy(c->z, c->bz, sizeof *c->z * (size_t)ad->n * (size_t)m->nz);
    int settled = 0;
    for (int it = 0; it < MOST && ok == CST_OK && !settled; it++) {
        ok = rates_back(c, y, h / 2, NULL, c->u, c->z);
        double worst = correct_states(c, y, h);
        for (int o = 0; o < ad->n; o++) {
            double *q = SECTION(c->q, m->nq), *u = SECTION(c->u, m->nu), *Q = SECTION(ad->q, m->nq),
                   *U = SECTION(ad->u, m->nu);
            double *vbar = ad->V, change = 0, size = 0;
            for (int i = 0; i < m->nq; i++)
                vbar[i] = h / 2 * q[i], Q[i] += SECTION(c->bq, m->nq)[i];
            for (int i = 0; i < m->body.n; i++) {
                const cst_body *b = &m->body.at[i];
                b->cls->Lt(y->u + b->u0, vbar + b->q0, Q + b->q0);
            }
            memcpy(q, Q, sizeof *q * (size_t)m->nq);
            cst_T_transpose(s, y->q, q, ad->solve);
            for (int i = 0; i < m->nu; i++)
                U[i] += SECTION(c->bu, m->nu)[i] + h / 2 * ad->solve[i] - u[i];
            cst_trapezoid_correct_bar(ad->step->w, h, U, U, c->scratch);
            for (int i = 0; i < m->nu; i++) {
                u[i] += U[i];
                change = fmax(change, fabs(U[i])), size = fmax(size, fabs(u[i]));
            }
            if (!isfinite(change)) ok = CST_NUMERIC;
            if (size > 0) worst = fmax(worst, change / size);
        }
        settled = cst_iteration_settled(worst, 1, it, &before);
    }
    ad->P = P, ad->val = val, ad->t = t;
    return ok;
}

/* Seeds of functional values (integral: of the integrals' rates, what asks for their values) at
 * state n: bars in ad */
static cst_status seeded(costate *c, const cst_state *y, const double *fbar, long n, int integral)
{
    cst_run *r = c->r;
    cst_adjoint *ad = c->ad;
    const cst_model *m = r->m;
    clear_bars(ad);
    for (int o = 0; integral && o < ad->n; o++)
        axpy(m->quad.n, 1, SECTION(fbar, m->quad.n), SECTION(ad->qd, m->quad.n));
    if (!integral) cst_functionals_seed(r, ad, fbar, n);
    return cst_adjoint_derive(ad, y);
}

/* f_x^T m and f_p^T m at y; P += weight f_p^T m */
static cst_status apply(costate *c, const cst_state *y, double weight)
{
    cst_adjoint *ad = c->ad;
    const cst_model *m = c->r->m;
    double *P = ad->P, *val = ad->val, *t = ad->t;
    size_t n = (size_t)ad->n;
    memset(c->P, 0, sizeof *c->P * n * (size_t)m->bound.n);
    ad->P = c->P, ad->val = c->val, ad->t = c->t;
    cst_status ok = rates_back(c, y, 1, c->q, c->u, c->z);
    ad->P = P, ad->val = val, ad->t = t;
    axpy((long)ad->n * m->bound.n, weight, c->P, P);
    memcpy(c->kq, ad->q, sizeof *c->kq * n * (size_t)m->nq),
        memcpy(c->ku, ad->u, sizeof *c->ku * n * (size_t)m->nu);
    memcpy(c->kz, ad->z, sizeof *c->kz * n * (size_t)m->nz);
    return ok;
}

/* What integrals ask at y: g_x^T in c->gq..., numbers weighed with the state's share of the
 * trapezoidal rule */
static cst_status integrand(costate *c, const cst_state *y, const double *qbar, double weight)
{
    cst_adjoint *ad = c->ad;
    const cst_model *m = c->r->m;
    double *P = ad->P, *val = ad->val;
    size_t n = (size_t)ad->n, nval = (size_t)cst_graph_values(m->graph);
    memset(c->P, 0, sizeof *c->P * n * (size_t)m->bound.n),
        memset(c->val, 0, sizeof *c->val * n * nval);
    ad->P = c->P, ad->val = c->val;
    cst_status ok = seeded(c, y, qbar, 0, 1);
    ad->P = P, ad->val = val;
    axpy((long)ad->n * m->bound.n, weight, c->P, P);
    axpy((long)(n * nval), weight, c->val, val);
    memcpy(c->gq, ad->q, sizeof *c->gq * n * (size_t)m->nq),
        memcpy(c->gu, ad->u, sizeof *c->gu * n * (size_t)m->nu);
    memcpy(c->gz, ad->z, sizeof *c->gz * n * (size_t)m->nz);
    return ok;
}

/* b = m + h/2 (f_x^T m + g_x^T): the known half of the step from here to the state before */
static void known_half(costate *c, double h)
{
    const cst_model *m = c->r->m;
    long n = c->ad->n;
    for (long i = 0; i < n * m->nq; i++) c->bq[i] = c->q[i] + h / 2 * (c->kq[i] + c->gq[i]);
    for (long i = 0; i < n * m->nu; i++) c->bu[i] = c->u[i] + h / 2 * (c->ku[i] + c->gu[i]);
    for (long i = 0; i < n * m->nz; i++) c->bz[i] = c->z[i] + h / 2 * (c->kz[i] + c->gz[i]);
}

static costate *costate_new(cst_arena *a, cst_run *r, cst_adjoint *ad)
{
    const cst_model *m = r->m;
    costate *c = cst_new(a, costate, 1);
    c->r = r, c->ad = ad;
    struct {
        double **at;
        int size;
    } part[] = {{&c->q, m->nq},      {&c->u, m->nu},
                {&c->z, m->nz},      {&c->bq, m->nq},
                {&c->bu, m->nu},     {&c->bz, m->nz},
                {&c->gq, m->nq},     {&c->gu, m->nu},
                {&c->gz, m->nz},     {&c->kq, m->nq},
                {&c->ku, m->nu},     {&c->kz, m->nz},
                {&c->P, m->bound.n}, {&c->val, cst_graph_values(m->graph)},
                {&c->t, 1}};
    for (size_t i = 0; i < sizeof part / sizeof *part; i++)
        *part[i].at = cst_new(a, double, 1 + (size_t)ad->n * (size_t)part[i].size);
    c->scratch = cst_new(a, double, 2 * ad->w->k->n + 1);
    return c;
}

/* The sweep: at each state the implicit half of the step above it, then jumps, then the known half
 * of the one below. */
static cst_status sweep(costate *c, const double *fbar, const double *qbar)
{
    cst_run *r = c->r;
    cst_adjoint *ad = c->ad;
    const cst_model *m = r->m;
    long last = r->traj->n - 1;
    double above = 0, none = 0;
    size_t n = (size_t)ad->n;
    cst_status ok = CST_OK;
    for (long i = last; i >= 0 && ok == CST_OK; i--) {
        cst_state y0, y1;
        if (i > 0)
            cst_run_pair(r, i, &y0, &y1);
        else
            y1 = cst_run_state(r, 0);
        cst_rows_at(ad->w, i > 0 ? *y0.t : *y1.t);
        cst_state y = y1;
        double below = i > 0 ? *y1.h : 0;
        y.h = &none;
        ok = cst_adjoint_prepare(ad->step, NULL, &y);
        if (ok == CST_OK && above > 0 && !cst_trapezoid_matrix(ad->step->w, above, &y, y.mem))
            ok = CST_NUMERIC;
        if (ok == CST_OK) ok = integrand(c, &y, qbar, (above + below) / 2);
        if (ok != CST_OK) return ok;
        if (above > 0) {
            axpy((long)n * m->nq, above / 2, c->gq, c->bq),
                axpy((long)n * m->nu, above / 2, c->gu, c->bu);
            axpy((long)n * m->nz, above / 2, c->gz, c->bz);
            if ((ok = solve(c, &y, above)) != CST_OK || (ok = apply(c, &y, above / 2)) != CST_OK)
                return ok;
        }
        if ((ok = seeded(c, &y, fbar, i, 0)) != CST_OK) return ok;
        axpy((long)n * m->nq, 1, ad->q, c->q), axpy((long)n * m->nu, 1, ad->u, c->u),
            axpy((long)n * m->nz, 1, ad->z, c->z);
        if (below > 0) ok = apply(c, &y, below / 2), known_half(c, below);
        above = below;
    }
    return ok;
}

/* fbar: bars of functionals that are values of integrals at the end become bars of these integrals,
 * qbar */
static void split_integrals(cst_run *r, int n, double *fbar, double *qbar, cst_adjoint *ad)
{
    const cst_model *m = r->m;
    cst_state y = cst_run_state(r, r->traj->n - 1);
    cst_output_eval(r->out, r->s,
                    &(cst_point_of_motion){*y.t, y.q, y.u, y.ud, y.z, y.mem, y.quad, y.lambda});
    memset(ad->seed, 0, sizeof *ad->seed * (size_t)n * (size_t)r->out->tape->nout);
    cst_functionals_seed(r, ad, fbar, r->traj->n - 1);
    memset(qbar, 0, sizeof *qbar * (size_t)n * (size_t)m->quad.n);
    cst_output_quad_bars(r->out, n, ad->seed, qbar);
    memset(ad->seed, 0, sizeof *ad->seed * (size_t)n * (size_t)r->out->tape->nout);
}

cst_status cst_gradient_continuous_adjoint(cst_run *r, double *grad, cst_diag *d)
{
    const cst_model *m = r->m;
    cst_arena a = {0};
    cst_where here = {.file = m->file};
    cst_status ok = cst_continuous_applies(r, d);
    if (ok != CST_OK) return ok;
    if (!r->w->rule->adjoint) return cst_gradient_multistep_adjoint(r, grad, d);
    if (CST_ARENA_GUARD(&a)) {
        cst_arena_free(&a);
        return cst_error(d, CST_MEMORY, here, "out of memory");
    }
    int n = m->objective.n, nval = cst_graph_values(m->graph), nleaf = cst_graph_leaves(m->graph);
    cst_motion *w = cst_continuous_work(&a, r);
    cst_adjoint *ad = cst_adjoint_new(&a, w, n);
    cst_start_derivative *sd = cst_start_derivative_new(&a, r->start, ad->pass);
    double *fbar = cst_new(&a, double, n * m->functional.n + 1),
           *qbar = cst_new(&a, double, n * m->quad.n + 1);
    cst_adjoint_clear(ad);
    for (int o = 0; o < n; o++)
        cst_objective_reverse(r, o, fbar + o * m->functional.n, ad->val + (size_t)o * (size_t)nval);
    ad->step = cst_prepared_new(&a, w);
    costate *c = costate_new(&a, r, ad);
    split_integrals(r, n, fbar, qbar, ad);
    ok = sweep(c, fbar, qbar);
    cst_state y = cst_run_state(r, 0);
    const cst_start_at at = cst_run_start_at(r, &y);
    for (int o = 0; ok == CST_OK && o < n; o++) {
        double *P = SECTION(ad->P, m->bound.n), *val = SECTION(ad->val, nval);
        ok = cst_start_adjoint(sd, &at, SECTION(c->q, m->nq), SECTION(c->u, m->nu),
                               SECTION(c->z, m->nz), P);
        for (int i = 0; i < m->bound.n; i++) val[m->bound.at[i]] += P[i];
        cst_graph_reverse(m->graph, r->s->val, val);
        for (int i = 0; i < nleaf; i++)
            grad[(size_t)o * (size_t)nleaf + (size_t)i] = val[cst_leaf_id(m->graph, i)];
    }
    cst_arena_free(&a);
    return ok == CST_OK
               ? CST_OK
               : cst_error(d, ok, here, "the matrix of the continuous adjoint is singular");
}
