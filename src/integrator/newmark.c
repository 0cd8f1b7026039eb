/* SPDX-License-Identifier: MIT */
#include "integrator/newmark.h"
#include "integrator/newton.h"
#include "integrator/rows.h"
#include "integrator/rule.h"

#include <math.h>
#include <string.h>

/* A and V at y1. D = q1 - q0 is carried along with q1, because the difference of the two
 * has the rounding of q, which 1/h^2 makes 1e-16/h per step in the velocity. */
static void rates_of_step(cst_motion *w, double h)
{
    double s2 = CST_BETA * h * h;
    for (int i = 0; i < w->s->m->nq; i++) {
        w->A[i] = (w->D[i] - w->base[i]) / s2;
        w->V[i] = w->v0[i] + h * ((1 - CST_GAMMA) * w->a0[i] + CST_GAMMA * w->A[i]);
    }
}

/* Residual of Newton's equations at y1 into w->b: (beta h^2 T^T r, phi); r stays in w->r for the
 * geometric block. */
static void residual(cst_motion *w, const cst_state *y0, double h, cst_state *y1)
{
    cst_system *s = w->s;
    const cst_model *m = s->m;
    const cst_kkt *k = w->k;
    double s2 = CST_BETA * h * h;
    rates_of_step(w, h);
    cst_system_try(s, *y1->t, y1->q, w->V);
    for (int i = 0; i < m->nq; i++) w->r[i] = -s->gravity[i];
    if (m->nz) cst_states_solve(s, h, y0->z, y0->zd, y1->mem, y1->z);
    cst_mass_add(s, NULL, w->A, 1, w->r);
    memset(s->fx, 0, sizeof *s->fx * (size_t)m->nx);
    cst_forces_add(s, y1->z, y1->mem, s->fx, NULL, NULL);
    cst_constraints_react(s, y1->mem, y1->newton, CST_ROW_MOTION, s->fx, w->phi);
    cst_forces_transpose(s, s->fx, w->r);
    cst_T_transpose(s, y1->q, w->r, w->b);
    for (int i = 0; i < k->nu; i++) w->b[i] *= s2;
    cst_kkt_gather(k, w->phi, w->b + k->nu);
}

void cst_newmark_keep(cst_arena *a, const cst_motion *w, double t, cst_increments *to)
{
    *cst_push(a, &to->t) = t;
    for (int i = 0; i < w->s->m->nq; i++) *cst_push(a, &to->D) = w->D[i];
}

/* D of the step that ends at time t; NULL: it was not kept */
static const double *kept_increment(const cst_motion *w, double t)
{
    const cst_increments *x = w->increments;
    int lo = 0, hi = x ? x->t.n : 0;
    while (lo < hi) {
        int mid = (lo + hi) / 2;
        if (x->t.at[mid] < t)
            lo = mid + 1;
        else
            hi = mid;
    }
    return x && lo < x->t.n && x->t.at[lo] == t ? x->D.at + (size_t)lo * (size_t)w->s->m->nq : NULL;
}

void cst_newmark_acceleration(cst_motion *w, const cst_state *y0, const cst_state *y1, double *A)
{
    double h = *y1->h;
    const double *D = kept_increment(w, *y1->t);
    for (int i = 0; i < w->s->m->nq; i++)
        A[i] =
            ((D ? D[i] : y1->q[i] - y0->q[i]) - h * (w->v0[i] + h * (0.5 - CST_BETA) * w->a0[i])) /
            (CST_BETA * h * h);
}

static int newton_matrix(cst_motion *w, const cst_state *y0, double h, const cst_state *y1)
{
    double s2 = CST_BETA * h * h;
    (void)y0;
    cst_motion_soften(w, s2);
    const cst_kkt_coef c = {.mass = 1,
                            .stiff = s2,
                            .damp = CST_GAMMA * h,
                            .eps = w->st->eps + (w->eq.alpha > 0 ? 0 : w->soft),
                            .soft = w->eq.alpha > 0 ? w->soft : 0};
    cst_slots_blocks(w->s, y1->q);
    cst_kkt_assemble(w->k, w->s, y1->q, y1->z, y1->mem, w->r, y1->newton, NULL, c, 1, h / 2,
                     w->newton_val);
    return cst_lu_refactor(w->newton, w->newton_val) < 0;
}

/* Prediction: accelerations and multipliers extrapolated from the step before; Newton's multipliers
 * differ from these as they did there. Adding the errors of the last predictions makes them one
 * order better. Good multipliers matter: with factors from earlier steps the force of their
 * correction has the wrong direction. */
static void guess(cst_motion *w, const cst_state *y0, double h, cst_state *y1)
{
    int nu = w->k->nu, nrow = w->s->m->nrow, coasting = w->habits.coast > 0;
    double ratio = w->h_before > 0 ? h / w->h_before : 0, again = fabs(ratio - 1) < 1e-6;
    for (int i = 0; i < nu; i++) {
        double ud = y0->ud[i] + ratio * (y0->ud[i] - w->ud_before[i]);
        w->ud_guess[i] = ud + again * w->ud_missed[i];
        w->u_guess[i] = y0->u[i] + h / 2 * (y0->ud[i] + ud) + again * w->u_missed[i];
        w->c[i] = h * h * ((0.5 - CST_BETA) * y0->ud[i] + CST_BETA * ud) + again * w->xi_missed[i];
        w->xi[i] = h * y0->u[i] + (coasting ? 0 : w->c[i]);
    }
    cst_newton_doubt(w, w->c);
    memset(w->D, 0, sizeof *w->D * (size_t)w->s->m->nq);
    cst_carry(w->s, y0->q, w->xi, y1->q, w->D);
    for (int i = 0; i < nrow; i++) {
        double lambda = y0->lambda[i] + ratio * (y0->lambda[i] - w->lambda_before[i]);
        w->lambda_guess[i] = lambda + again * w->lambda_missed[i];
        y1->newton[i] = w->newton_guess[i] =
            lambda + again * (y0->newton[i] - y0->lambda[i] + w->newton_missed[i]);
    }
    cst_rows_clear(w, y1->newton);
    memset(w->xi, 0, sizeof *w->xi * (size_t)nu);
}

/* After an accepted step from y0 to y1, whose corrections by Newton's method are in w->xi */
static void remember_guess(cst_motion *w, const cst_state *y0, double h, const cst_state *y1)
{
    int nu = w->k->nu;
    double ratio = w->h_before > 0 ? h / w->h_before : 0, again = fabs(ratio - 1) < 1e-6;
    for (int i = 0; i < nu; i++) {
        w->xi_missed[i] = isinf(w->doubt) ? 0 : w->xi[i] + again * w->xi_missed[i];
        w->ud_missed[i] = y1->ud[i] - w->ud_guess[i] + again * w->ud_missed[i];
        w->u_missed[i] = y1->u[i] - w->u_guess[i] + again * w->u_missed[i];
    }
    for (int i = 0; i < w->s->m->nrow; i++) {
        w->lambda_missed[i] = y1->lambda[i] - w->lambda_guess[i] + again * w->lambda_missed[i];
        w->newton_missed[i] = y1->newton[i] - w->newton_guess[i] + again * w->newton_missed[i];
    }
    memcpy(w->ud_before, y0->ud, sizeof *w->ud_before * (size_t)nu);
    memcpy(w->lambda_before, y0->lambda, sizeof *w->lambda_before * (size_t)w->s->m->nrow);
    w->h_before = h;
}

/* Moves y1 by the correction in w->x. */
static void correct(cst_motion *w, const cst_state *y0, double h, cst_state *y1)
{
    const cst_kkt *k = w->k;
    (void)y0;
    cst_carry(w->s, y1->q, w->x, y1->q, w->D);
    for (int i = 0; i < k->nu; i++) w->xi[i] += w->x[i];
    for (int i = 0; i < k->nrow; i++)
        y1->newton[k->all_of[i]] += w->x[k->nu + i] / (CST_BETA * h * h);
}

/* After a step: keep Newton's factors or not; and factor W itself for the projection if the passes
 * with Newton's factors cost more. */
static void keep_or_refactor(cst_motion *w, long iterations, long refinements)
{
    const cst_lu_info *f = cst_lu_get(w->newton);
    double pass = f->solve_cost + 8 * (double)w->k->pattern->nnz;
    int shared = !w->habits.direct; /* Newton's factors serve the projection too */
    cst_newton_review(w, iterations);
    if (shared && w->since < 3) return; /* guesses were poor, which says nothing of the factors */
    if (shared && (double)(refinements - 3) * pass > f->factor_cost)
        w->habits.direct = cst_direct_steps(&w->habits.direct_next);
    else if (!shared)
        w->habits.direct--; /* tried again later */
}

static const double *multipliers(const cst_state *y1) { return y1->newton; }

static const cst_newton equations = {guess, residual, newton_matrix, correct, multipliers};

cst_status cst_newmark_step(cst_motion *w, const cst_state *y0, double h, cst_state *y1)
{
    cst_system *s = w->s;
    const cst_model *m = s->m;
    const cst_kkt *k = w->k;
    long iterations = w->n.iterations, refinements = w->n.refinements;
    *y1->t = *y0->t + h, *y1->h = h, *y1->tag = 0;
    w->react_at = NULL; /* y1 is about to change */
    memcpy(y1->mem, y0->mem, sizeof *y1->mem * (size_t)m->memory.n);
    cst_T(s, y0->q, y0->u, w->v0);
    cst_T(s, y0->q, y0->ud, w->a0);
    cst_L_add(s, w->v0, y0->u, w->a0);
    for (int i = 0; i < m->nq; i++) w->base[i] = h * w->v0[i] + h * h * (0.5 - CST_BETA) * w->a0[i];
    if (!cst_newton_solve(w, &equations, y0, h, y1)) return CST_NUMERIC;
    rates_of_step(w, h); /* at what was accepted */
    cst_system_place(s, *y1->t, y1->q);
    cst_system_try_rates(s, w->V);
    if (m->nz) cst_states_solve(s, h, y0->z, y0->zd, y1->mem, y1->z);

    int fresh = 1;
    cst_motion_matrix(w, y1);
    if (cst_motion_rates(w, w->u_guess, y1, &fresh) != CST_OK) return CST_NUMERIC;
    cst_memory_update(w->out, s, y1->mem);
    cst_T(s, y1->q, y1->u, w->V);
    cst_system_rates(s, w->V);
    memcpy(y1->ud, w->ud_guess, sizeof *y1->ud * (size_t)k->nu);
    memcpy(y1->lambda, w->lambda_guess, sizeof *y1->lambda * (size_t)m->nrow);
    if (cst_motion_accelerations(w, y1, &fresh) != CST_OK) return CST_NUMERIC;
    keep_or_refactor(w, w->n.iterations - iterations, w->n.refinements - refinements);
    remember_guess(w, y0, h, y1);
    cst_motion_integrals(w, y0, h, y1);
    if (w->controls) w->error = cst_motion_error(w, y0, h, y1);
    w->n.steps++;
    return CST_OK;
}

const cst_rule cst_rule_newmark = {
    .name = "newmark",
    .doc = "Newmark's trapezoidal rule with velocity projection and recomputed accelerations: "
           "order 2, the default",
    .end = 0.5,
    .keep = cst_newmark_keep,
    .adaptive = 2,
    .order = 3,
    .step = cst_newmark_step,
    .tangent = cst_tangent_step,
    .prepare = cst_adjoint_prepare,
    .adjoint = cst_adjoint_step,
};
