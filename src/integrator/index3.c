/* SPDX-License-Identifier: MIT */
#include "integrator/rows.h"
#include "integrator/rule.h"

#include <math.h>
#include <string.h>

#define MAX_ITERATIONS 25
#define REFACTOR_AT 0.1   /* measured contraction that asks for a new matrix */
#define UNSEEN 1e-6      /* of the error of the rule: an error that Newton's method may leave */
#define SOFT 1e7           /* augmented without alpha: e in units of the block that is there for singular positions */
#define OWN_GAIN 1e-4     /* relative change after which a solution with a matrix's own factors is taken as it is */

cst_index3 *cst_index3_new(cst_arena *a, cst_system *s, const cst_structure *st, cst_output *out)
{
    const cst_model *m = s->m;
    cst_index3 *w = cst_new(a, cst_index3, 1);
    w->s = s, w->st = st, w->k = st->motion, w->left_out = st->left_out, w->out = out;
    w->end = 0.5;
    w->newton = cst_lu_twin(a, st->motion_lu);
    w->project = cst_lu_twin(a, st->motion_lu);
    w->tolerance = 1e-16; /* of positions; velocities get 2/h times as much */
    cst_index3_forget(w);
    int n = w->k->n, nnz = st->entries;
    w->newton_val = cst_new(a, double, nnz + 1);
    w->project_val = cst_new(a, double, nnz + 1);
    w->b = cst_new(a, double, n + 1);
    w->x = cst_new(a, double, n + 1);
    w->scratch = cst_new(a, double, 2 * n + 1);
    double **ambient[] = {&w->v0, &w->a0, &w->base, &w->D, &w->A, &w->V, &w->r, &w->c};
    for (size_t i = 0; i < sizeof ambient / sizeof *ambient; i++) *ambient[i] = cst_new(a, double, m->nq + 1);
    w->phi = cst_new(a, double, m->nrow + 1);
    w->xi = cst_new(a, double, m->nu + 1);
    w->slot = cst_new(a, double, m->nx + 1);
    double **tangent[] = {&w->ud_before, &w->xi_missed, &w->u_missed, &w->ud_missed, &w->u_guess, &w->ud_guess};
    for (size_t i = 0; i < sizeof tangent / sizeof *tangent; i++) *tangent[i] = cst_new(a, double, m->nu + 1);
    double **rows[] = {&w->lambda_before, &w->lambda_missed, &w->newton_missed, &w->lambda_guess, &w->newton_guess};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) *rows[i] = cst_new(a, double, m->nrow + 1);
    w->guess = cst_new(a, double, n + 1);
    int ndep = st->dep.ndep;
    w->ambiguous = ndep > 0 && out->needs_react;
    if (w->ambiguous) {
        w->react = cst_new(a, double, m->nrow + 1);
        w->null = cst_new(a, double, (size_t)ndep *(size_t)m->nrow);
        w->gram = cst_new(a, double, (size_t)ndep *(size_t)ndep);
        w->share = cst_new(a, double, ndep);
    }
    return w;
}

/* ---- projection and accelerations ---- */

static double largest(int n, const double *x)
{
    double y = 0;
    for (int i = 0; i < n; i++)
        if (!(fabs(x[i]) <= y)) y = fabs(x[i]); /* a NaN stays */
    return y;
}

/* y = b - W x, with the -eps block taken out again */
static void project_residual(const cst_index3 *w, const double *b, const double *x, double *y)
{
    const cst_kkt *k = w->k;
    double *minus_x = w->scratch + k->n;
    for (int i = 0; i < k->n; i++) minus_x[i] = -x[i], y[i] = b[i];
    cst_sparse_tmul(k->pattern, w->project_val, minus_x, y); /* W is symmetric, and rows are cheaper than columns */
    for (int i = 0; i < k->nrow; i++) y[k->nu + i] -= (w->st->eps + w->soft) * x[k->nu + i];
}

/* W x = b, from the guess in x. Newton's factors differ from W by O(h^2 K, h C) and by the steps they have been kept:
 * refine with them while each pass gains. With factors of W itself (own) a pass leaves rounding of what it changed. */
static int project_solve(cst_index3 *w, cst_lu *lu, int own, const double *b, double *x)
{
    const cst_kkt *k = w->k;
    double *y = w->scratch, before = INFINITY, force = largest(k->nu, b);
    for (int pass = 0; pass < 14; pass++) {
        project_residual(w, b, x, y);
        cst_lu_solve(lu, 1, y);
        double gain_u = 0, size_u = 0, gain_l = 0, size_l = force;
        for (int i = 0; i < k->nu; i++) {
            double change = fabs(y[i]), now = fabs(x[i] += y[i]);
            gain_u = change > gain_u ? change : gain_u, size_u = now > size_u ? now : size_u;
        }
        /* multipliers are measured against the forces: those of a velocity that needs no correction are rounding */
        for (int i = k->nu; i < k->n; i++) {
            double change = fabs(y[i]), now = fabs(x[i] += y[i]);
            gain_l = change > gain_l ? change : gain_l, size_l = now > size_l ? now : size_l;
        }
        double gain = fmax(size_u > 0 ? gain_u / size_u : 0, size_l > 0 ? gain_l / size_l : 0);
        double theta = pass ? gain / before : 0;
        w->n.refinements++;
        if (!isfinite(size_u + size_l)) return 0;
        if (gain <= (own && w->soft == 0 ? OWN_GAIN : 4e-16)) return 1;
        if ((pass && theta < 0.5 && gain * theta <= 1e-16) || (gain <= 1e-13 && theta > 0.3)) return 1;
        if (pass && theta > 0.3) return own; /* its own factors: what there is, is rounding */
        before = gain;
    }
    return own;
}

static void project_assemble(cst_index3 *w, const cst_state *y)
{
    if (w->eq.augmented && w->soft == 0) w->soft = SOFT * w->st->eps; /* before the first step */
    const cst_kkt_coef c = {.mass = 1, .eps = w->st->eps + w->soft + w->eq.compliance};
    cst_slots_blocks(w->s, y->q);
    cst_kkt_assemble(w->k, w->s, y->q, y->z, y->mem, NULL, NULL, NULL, c, 0, 0, w->project_val);
}

static int singular(cst_index3 *w)
{
    double rcond = cst_lu_get(w->project)->rcond;
    if (w->regular_of != w->k) w->regular = 0, w->regular_of = w->k;
    if (rcond > w->regular) w->regular = rcond;
    return !(rcond > CST_SINGULAR * w->regular);
}

/* Solves with W at the present place: with Newton's factors, or, where forces are stiff and those are far from W, with
 * factors of its own. `fresh` is cleared once W has been factored there. */
static cst_status project_with(cst_index3 *w, int *fresh, const double *b, double *x)
{
    double *guess = w->guess;
    if (*fresh && !w->direct_projection && w->factored_h > 0) {
        memcpy(guess, x, sizeof *x * (size_t)w->k->n);
        if (project_solve(w, w->newton, 0, b, x)) return CST_OK;
        memcpy(x, guess, sizeof *x * (size_t)w->k->n);
        w->direct_projection = cst_direct_steps(&w->direct_next);
    }
    if (*fresh) {
        if (cst_lu_refactor(w->project, w->project_val) >= 0) return CST_NUMERIC;
        w->n.factorizations++;
        if (w->eq.b0 != 0 && w->forward && singular(w)) return CST_NUMERIC;
        *fresh = 0;
    }
    return project_solve(w, w->project, 1, b, x) ? CST_OK : CST_NUMERIC;
}

cst_status cst_index3_project(cst_index3 *w, const cst_state *y, const double *b, double *x)
{
    int fresh = 1;
    project_assemble(w, y);
    return project_with(w, &fresh, b, x);
}

/* b -= b1 phi' + b0 phi on the rows */
static void stabilise(cst_index3 *w, const cst_state *y)
{
    cst_system *s = w->s;
    const cst_kkt *k = w->k;
    cst_constraints_rate(s, y->mem, CST_ROW_MOTION, w->phi);
    cst_constraints_apply(s, y->mem, CST_ROW_MOTION, s->xd, w->phi);
    for (int i = 0; i < k->nrow; i++) w->b[k->nu + i] -= w->eq.b1 * w->phi[k->all_of[i]];
    cst_constraints(s, y->mem, CST_ROW_MOTION, w->phi);
    for (int i = 0; i < k->nrow; i++) w->b[k->nu + i] -= w->eq.b0 * w->phi[k->all_of[i]];
}

/* b of W (u', lambda) = b, and z': the system is placed at y->q, with rates V = T u in w->V */
static void accelerations_side(cst_index3 *w, cst_state *y)
{
    cst_system *s = w->s;
    const cst_model *m = s->m;
    const cst_kkt *k = w->k;
    memset(w->c, 0, sizeof *w->c * (size_t)m->nq);
    cst_L_add(s, w->V, y->u, w->c);
    memset(w->r, 0, sizeof *w->r * (size_t)m->nq);
    cst_mass_add(s, NULL, w->c, -1, w->r);
    cst_gravity_add(s, 1, w->r);
    memset(s->fx, 0, sizeof *s->fx * (size_t)m->nx);
    cst_forces_add(s, y->z, y->mem, s->fx, y->zd, NULL);
    for (int i = 0; i < m->nx; i++) s->fx[i] = -s->fx[i];
    cst_slots_transpose(s, s->fx, w->r);
    cst_T_transpose(s, y->q, w->r, w->b);
    cst_slots_apply(s, w->c, 0, w->slot);
    cst_constraints_second(s, y->mem, CST_ROW_MOTION, w->slot, w->phi);
    for (int i = 0; i < k->nrow; i++) w->b[k->nu + i] = -w->phi[k->all_of[i]];
    if (w->eq.b1 != 0 || w->eq.b0 != 0) stabilise(w, y);
}

/* u', lambda at the same place; y->ud and y->lambda hold a guess. */
static cst_status accelerations(cst_index3 *w, cst_state *y, int *fresh)
{
    const cst_model *m = w->s->m;
    const cst_kkt *k = w->k;
    accelerations_side(w, y);
    memcpy(w->x, y->ud, sizeof *w->x * (size_t)k->nu);
    cst_kkt_gather(k, y->lambda, w->x + k->nu);
    if (project_with(w, fresh, w->b, w->x) != CST_OK) return CST_NUMERIC;
    memcpy(y->ud, w->x, sizeof *y->ud * (size_t)k->nu);
    memset(y->lambda, 0, sizeof *y->lambda * (size_t)m->nrow);
    cst_kkt_spread(k, w->x + k->nu, y->lambda);
    return CST_OK;
}

void cst_index3_integrand(cst_index3 *w, cst_state *y)
{
    const cst_model *m = w->s->m;
    if (!m->quad.n) return;
    const double *lambda = m->quads_read_reactions ? cst_index3_reactions(w, y) : y->lambda;
    const cst_point_of_motion at = {*y->t, y->q, y->u, y->ud, y->z, y->mem, y->quad, lambda};
    cst_output_eval(w->out, w->s, &at);
    for (int i = 0; i < m->quad.n; i++) y->qd[i] = cst_output_value(w->out, w->out->quad + i);
}

/* y1 = y0 + h/2 (g0 + g1); a rate that reads other integrals needs these at the end first */
void cst_index3_integrals(cst_index3 *w, const cst_state *y0, double h, cst_state *y1)
{
    int n = w->s->m->quad.n, changed = 1;
    memcpy(y1->quad, y0->quad, sizeof *y1->quad * (size_t)n);
    for (int pass = 0; changed && pass <= w->out->nested; pass++) {
        cst_index3_integrand(w, y1);
        changed = 0;
        for (int i = 0; i < n; i++) {
            double next = y0->quad[i] + h / 2 * (y0->qd[i] + y1->qd[i]);
            changed |= next != y1->quad[i];
            y1->quad[i] = next;
        }
    }
}

void cst_index3_refresh(cst_index3 *w, cst_state *y)
{
    cst_system *s = w->s;
    w->react_at = NULL;
    cst_system_place(s, *y->t, y->q);
    cst_T(s, y->q, y->u, w->V);
    cst_system_rates(s, w->V);
    if (s->m->nz) cst_forces_add(s, y->z, y->mem, s->fx, y->zd, NULL);
    cst_index3_integrand(w, y);
}

void cst_index3_forget(cst_index3 *w)
{
    w->factored_h = w->h_before = 0;
    w->direct_projection = w->direct_next = 0;
    w->noise = w->tolerance;
    w->react_at = NULL;
}

cst_status cst_index3_derive_rates(cst_index3 *w, cst_state *y)
{
    cst_system *s = w->s;
    int fresh = 1;
    w->factored_h = 0;
    w->react_at = NULL;
    cst_system_place(s, *y->t, y->q);
    cst_T(s, y->q, y->u, w->V);
    cst_system_rates(s, w->V);
    project_assemble(w, y);
    return accelerations(w, y, &fresh) == CST_OK && isfinite(largest(s->m->nu, y->ud)) ? CST_OK : CST_NUMERIC;
}

void cst_index3_residual(cst_index3 *w, cst_state *y, double *r)
{
    double *val = w->project_val;
    w->factored_h = 0;
    cst_system_place(w->s, *y->t, y->q);
    cst_T(w->s, y->q, y->u, w->V);
    cst_system_rates(w->s, w->V);
    w->project_val = w->newton_val; /* the projection's own stay with its factors */
    project_assemble(w, y);
    accelerations_side(w, y);
    memcpy(w->x, y->ud, sizeof *w->x * (size_t)w->k->nu);
    cst_kkt_gather(w->k, y->lambda, w->x + w->k->nu);
    project_residual(w, w->b, w->x, r);
    w->project_val = val;
}

cst_status cst_index3_derive_from(cst_index3 *w, cst_state *y)
{
    cst_status ok = cst_index3_derive_rates(w, y);
    if (ok == CST_OK) cst_index3_integrand(w, y);
    return ok;
}

cst_status cst_index3_derive(cst_index3 *w, cst_state *y, cst_diag *d)
{
    cst_system *s = w->s;
    cst_index3_forget(w);
    memset(y->ud, 0, sizeof *y->ud * (size_t)s->m->nu);
    memset(y->lambda, 0, sizeof *y->lambda * (size_t)s->m->nrow);
    cst_status ok = cst_index3_derive_from(w, y);
    if (cst_step_carries(w)) memcpy(y->carried, y->ud, sizeof *y->ud * (size_t)s->m->nu);
    if (ok == CST_OK) return CST_OK;
    int force = cst_forces_infinite(s, y->z, y->mem);
    if (force >= 0)
        return cst_error(d, CST_NUMERIC, s->m->force.at[force].where, "t = %g s: the force '%s' is not finite", *y->t,
                         s->m->force.at[force].name);
    return cst_error(d, CST_NUMERIC, (cst_where){.file = s->m->file},
                     "t = %g s: the accelerations are not determined: masses and constraints leave the matrix singular", *y->t);
}

/* ---- the step ---- */

static double norm_of(const cst_index3 *w, const double *xi)
{
    double y = 0, per_length = 1 / w->s->length;
    for (int i = 0; i < w->k->nu; i++) {
        double e = fabs(xi[i]) * (w->st->column[i] == 1 ? 1 : per_length);
        if (!(e <= y)) y = e;
    }
    return y;
}

/* A and V at y1, and the system placed there. D = q1 - q0 is carried along with q1, because the difference of the two
 * has the rounding of q, which 1/h^2 makes 1e-16/h per step in the velocity. */
static void place_step(cst_index3 *w, double h, const cst_state *y1)
{
    double s2 = CST_BETA * h * h;
    for (int i = 0; i < w->s->m->nq; i++) {
        w->A[i] = (w->D[i] - w->base[i]) / s2;
        w->V[i] = w->v0[i] + h * ((1 - CST_GAMMA) * w->a0[i] + CST_GAMMA * w->A[i]);
    }
    cst_system_place(w->s, *y1->t, y1->q);
    cst_system_rates(w->s, w->V);
}

/* Residual of Newton's equations at y1 into w->b: (beta h^2 T^T r, phi); r stays in w->r for the geometric block. */
static void residual(cst_index3 *w, const cst_state *y0, double h, cst_state *y1)
{
    cst_system *s = w->s;
    const cst_model *m = s->m;
    const cst_kkt *k = w->k;
    double s2 = CST_BETA * h * h;
    place_step(w, h, y1);
    memset(w->r, 0, sizeof *w->r * (size_t)m->nq);
    if (m->nz) cst_states_solve(s, h, y0->z, y0->zd, y1->mem, y1->z);
    cst_mass_add(s, NULL, w->A, 1, w->r);
    cst_gravity_add(s, -1, w->r);
    memset(s->fx, 0, sizeof *s->fx * (size_t)m->nx);
    cst_forces_add(s, y1->z, y1->mem, s->fx, NULL, NULL);
    cst_constraints_react(s, y1->mem, y1->newton, CST_ROW_MOTION, s->fx, w->phi);
    cst_slots_transpose(s, s->fx, w->r);
    cst_T_transpose(s, y1->q, w->r, w->b);
    for (int i = 0; i < k->nu; i++) w->b[i] *= s2;
    cst_kkt_gather(k, w->phi, w->b + k->nu);
}

/* q1 - q0 has the rounding of q, which 1/h^2 makes large in a short step, such as one that ends at an event. Where it is more than
 * the accelerations change in the step, those at its end are nearer. */
void cst_index3_step_acceleration(cst_index3 *w, const cst_state *y0, const cst_state *y1, double *A)
{
    const cst_model *m = w->s->m;
    double h = *y1->h, change = 0;
    for (int i = 0; i < m->nq; i++)
        A[i] = (y1->q[i] - (y0->q[i] + h * w->v0[i] + h * h * (0.5 - CST_BETA) * w->a0[i])) / (CST_BETA * h * h);
    if (h > 0.02 * m->sim.step) return;
    cst_T(w->s, y1->q, y1->u, w->D);
    cst_T(w->s, y1->q, y1->ud, w->c);
    cst_L_add(w->s, w->D, y1->u, w->c);
    for (int i = 0; i < m->nq; i++) change = fmax(change, fabs(w->c[i] - w->a0[i]));
    if (4e-16 * largest(m->nq, y1->q) / (h * h) > change) memcpy(A, w->c, sizeof *A * (size_t)m->nq);
}

double cst_index3_soften(cst_index3 *w, double s2)
{
    if (w->eq.augmented) w->soft = w->eq.alpha > 0 ? 1 / (w->eq.alpha * s2) : SOFT * w->st->eps;
    return w->soft;
}

static int newton_matrix(cst_index3 *w, const cst_state *y0, double h, const cst_state *y1)
{
    double s2 = CST_BETA * h * h;
    (void)y0;
    cst_index3_soften(w, s2);
    const cst_kkt_coef c = {1, s2, CST_GAMMA * h, w->st->eps + w->soft};
    cst_slots_blocks(w->s, y1->q);
    cst_kkt_assemble(w->k, w->s, y1->q, y1->z, y1->mem, w->r, y1->newton, NULL, c, 1, h / 2, w->newton_val);
    return cst_lu_refactor(w->newton, w->newton_val) < 0;
}

/* Guess: accelerations and multipliers extrapolated from the step before, Newton's multipliers as far from these as
 * there. With the errors that the guesses had there they are one order better. Good multipliers matter: with factors from
 * earlier steps the force of their correction has the wrong direction. */
static void guess(cst_index3 *w, const cst_state *y0, double h, cst_state *y1)
{
    int nu = w->k->nu, nrow = w->s->m->nrow;
    double ratio = w->h_before > 0 ? h / w->h_before : 0, again = fabs(ratio - 1) < 1e-6;
    for (int i = 0; i < nu; i++) {
        double ud = y0->ud[i] + ratio * (y0->ud[i] - w->ud_before[i]);
        w->ud_guess[i] = ud + again * w->ud_missed[i];
        w->u_guess[i] = y0->u[i] + h / 2 * (y0->ud[i] + ud) + again * w->u_missed[i];
        w->xi[i] = h * y0->u[i] + h * h * ((0.5 - CST_BETA) * y0->ud[i] + CST_BETA * ud) + again * w->xi_missed[i];
    }
    memset(w->D, 0, sizeof *w->D * (size_t)w->s->m->nq);
    cst_carry(w->s, y0->q, w->xi, y1->q, w->D);
    for (int i = 0; i < nrow; i++) {
        double lambda = y0->lambda[i] + ratio * (y0->lambda[i] - w->lambda_before[i]);
        w->lambda_guess[i] = lambda + again * w->lambda_missed[i];
        y1->newton[i] = w->newton_guess[i] = lambda + again * (y0->newton[i] - y0->lambda[i] + w->newton_missed[i]);
    }
    cst_rows_clear(w, y1->newton);
}

/* After an accepted step from y0 to y1, whose corrections by Newton's method are in w->xi */
static void remember_guess(cst_index3 *w, const cst_state *y0, double h, const cst_state *y1)
{
    int nu = w->k->nu;
    double ratio = w->h_before > 0 ? h / w->h_before : 0, again = fabs(ratio - 1) < 1e-6;
    for (int i = 0; i < nu; i++) {
        w->xi_missed[i] = w->xi[i] + again * w->xi_missed[i];
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

/* h^3/12 of the third derivative, as the accelerations of the step before say: about the rule's error in one step. What Newton's
 * method leaves has one sign for many steps, and must be small against it whatever the step. */
static double local_error(const cst_index3 *w, const cst_state *y0, double h)
{
    if (!(w->h_before > 0)) return 0;
    for (int i = 0; i < w->k->nu; i++) w->c[i] = y0->ud[i] - w->ud_before[i];
    return h * h * h / (12 * w->h_before) * norm_of(w, w->c);
}

/* Moves y1 by the correction in w->x. */
static void correct(cst_index3 *w, const cst_state *y0, double h, cst_state *y1)
{
    const cst_kkt *k = w->k;
    (void)y0;
    cst_carry(w->s, y1->q, w->x, y1->q, w->D);
    for (int i = 0; i < k->nu; i++) w->xi[i] += w->x[i];
    for (int i = 0; i < k->nrow; i++) y1->newton[k->all_of[i]] += w->x[k->nu + i] / (CST_BETA * h * h);
}

int cst_index3_newton(cst_index3 *w, const cst_newton *of, const cst_state *y0, double h, cst_state *y1)
{
    const cst_kkt *k = w->k;
    double before = 0, theta = 1;
    double floor = 1e-16 * largest(w->s->m->nq, y0->q) / w->s->length;
    double local = local_error(w, y0, h), enough = fmin(fmax(w->tolerance, floor), UNSEEN * local);
    int fresh = 0; /* the matrix belongs to this step */
    if (fabs(w->factored_h - h) > 1e-6 * h) w->factored_h = 0; /* t1 - t0 is rounded: nearly the same length will do */
    for (int it = 0; it < MAX_ITERATIONS; it++) {
        of->residual(w, y0, h, y1);
        if (w->full || w->factored_h == 0) {
            w->factored_h = h, w->spent = 0, w->n.factorizations++;
            if (!of->matrix(w, y0, h, y1)) return 0;
            fresh = 1;
        }
        w->n.iterations++;
        for (int i = 0; i < k->n; i++) w->x[i] = -w->b[i];
        cst_lu_solve(w->newton, 1, w->x);
        double d = norm_of(w, w->x);
        if (!isfinite(d) || d > 1e3) return 0;
        if (it > 0) {
            theta = fmax(d / before, it == 1 ? 0 : theta * 0.1);
            if (d < w->noise) w->noise = fmax(d, w->noise / 2);
            if (theta > 1 && d > 1e-6 && fresh > 1 && it > 4) return 0; /* diverging with a fresh matrix */
        }
        of->correct(w, y0, h, y1);
        /* The first correction says nothing of the contraction, and old factors may have any: guesses are so good that
         * the first correction alone would often do, and leave an error of one sign. */
        double left = it == 0 ? d : theta < 1 ? theta / (1 - theta) * d : INFINITY;
        if (left <= enough || (it > 0 && (d <= 2 * w->noise || left <= fmin(w->noise / 30, UNSEEN * local)))) return 1;
        if (it > 0 && d <= 1e-12 && theta > 0.3) {
            w->noise = fmin(d, 1e-13);
            return 1;
        }
        /* In a long chain far from the origin rounding is more: a matrix of this very step does not make it smaller. */
        if (it > 0 && fresh && d <= 1e-9 && theta > 0.3) return 1;
        /* Near a singular position rounding of phi, divided by the smallest singular value, is all that a fresh matrix
         * still moves. A shorter step would not help. */
        if (fresh && it > 1 && theta > 0.5 && d <= 1e-7 && largest(k->nrow, w->b + k->nu) <= 16 * floor * w->s->length)
            return 1;
        if (!w->full && it > 0 && theta > REFACTOR_AT) {
            w->factored_h = 0;
            fresh++;
        }
        before = d;
    }
    return 0;
}

/* Old factors cost passes. Throw them away when the passes beyond those that fresh ones need, of all steps together, have
 * been dearer than a new matrix. An iteration of Newton is about three passes. */
void cst_index3_review(cst_index3 *w, long iterations)
{
    const cst_lu_info *f = cst_lu_get(w->newton);
    double entries = (double)w->k->pattern->nnz;
    double matrix = f->factor_cost + 45 * entries, pass = f->solve_cost + 8 * entries;
    w->spent += (double)(3 * (iterations - 2)) * pass;
    if (w->spent > matrix) w->factored_h = 0;
}

/* The same for the projection: factor W itself when the passes with Newton's factors are dearer. */
static void keep_or_refactor(cst_index3 *w, long iterations, long refinements)
{
    const cst_lu_info *f = cst_lu_get(w->newton);
    double pass = f->solve_cost + 8 * (double)w->k->pattern->nnz;
    int shared = !w->direct_projection; /* Newton's factors serve the projection too */
    cst_index3_review(w, iterations);
    if (shared && (double)(refinements - 3) * pass > f->factor_cost) w->direct_projection = cst_direct_steps(&w->direct_next);
    else if (!shared) w->direct_projection--; /* tried again later */
}

double cst_index3_error(const cst_index3 *w, const cst_state *y0, double h, const cst_state *y1)
{
    double worst = 0;
    for (int i = 0; i < w->k->nu; i++) worst = fmax(worst, fabs(y1->ud[i] - y0->ud[i]) / w->st->column[i]);
    return h * h / 12 * worst / w->accuracy;
}

static const cst_newton equations = {residual, newton_matrix, correct};

cst_status cst_index3_step(cst_index3 *w, const cst_state *y0, double h, cst_state *y1)
{
    cst_system *s = w->s;
    const cst_model *m = s->m;
    const cst_kkt *k = w->k;
    long iterations = w->n.iterations, refinements = w->n.refinements;
    *y1->t = *y0->t + h, *y1->h = h, *y1->tag = 0;
    w->react_at = NULL; /* y1 is about to change */
    memcpy(y1->mem, y0->mem, sizeof *y1->mem * (size_t)m->memory.n);
    memcpy(y1->z, y0->z, sizeof *y1->z * (size_t)m->nz);
    cst_T(s, y0->q, y0->u, w->v0);
    cst_T(s, y0->q, y0->ud, w->a0);
    cst_L_add(s, w->v0, y0->u, w->a0);
    for (int i = 0; i < m->nq; i++) w->base[i] = h * w->v0[i] + h * h * (0.5 - CST_BETA) * w->a0[i];
    guess(w, y0, h, y1);
    memset(w->xi, 0, sizeof *w->xi * (size_t)k->nu);
    if (!cst_index3_newton(w, &equations, y0, h, y1)) {
        w->factored_h = 0;
        return CST_NUMERIC;
    }
    place_step(w, h, y1); /* at what was accepted */
    if (m->nz) cst_states_solve(s, h, y0->z, y0->zd, y1->mem, y1->z);

    int fresh = 1;
    memset(w->c, 0, sizeof *w->c * (size_t)m->nq);
    project_assemble(w, y1);
    cst_mass_add(s, NULL, w->V, 1, w->c);
    cst_T_transpose(s, y1->q, w->c, w->b);
    cst_constraints_rate(s, y1->mem, CST_ROW_MOTION, w->phi);
    for (int i = 0; i < k->nrow; i++) w->b[k->nu + i] = -w->phi[k->all_of[i]], w->x[k->nu + i] = 0;
    memcpy(w->x, w->u_guess, sizeof *w->x * (size_t)k->nu);
    if (project_with(w, &fresh, w->b, w->x) != CST_OK) return CST_NUMERIC;
    memcpy(y1->u, w->x, sizeof *y1->u * (size_t)k->nu);
    memset(y1->eta, 0, sizeof *y1->eta * (size_t)m->nrow);
    cst_kkt_spread(k, w->x + k->nu, y1->eta);

    cst_memory_update(w->out, s, y1->mem);
    cst_T(s, y1->q, y1->u, w->V);
    cst_system_rates(s, w->V);
    memcpy(y1->ud, w->ud_guess, sizeof *y1->ud * (size_t)k->nu);
    memcpy(y1->lambda, w->lambda_guess, sizeof *y1->lambda * (size_t)m->nrow);
    if (accelerations(w, y1, &fresh) != CST_OK) return CST_NUMERIC;
    keep_or_refactor(w, w->n.iterations - iterations, w->n.refinements - refinements);
    remember_guess(w, y0, h, y1);
    cst_index3_integrals(w, y0, h, y1);
    if (w->controls) w->error = cst_index3_error(w, y0, h, y1);
    w->n.steps++;
    return CST_OK;
}

cst_status cst_index3_blame(cst_index3 *w, double t, double h, cst_diag *d)
{
    const cst_model *m = w->s->m;
    const cst_kkt *k = w->k;
    double most = -1, force = 0;
    int row = -1, unknown = -1;
    if (strcmp(w->rule->name, "newmark") != 0)
        return cst_error(d, CST_NUMERIC, (cst_where){.file = m->file},
                         "t = %.6g s: the rule %s fails with steps down to %.3g s: the constraints lose rank here, or the motion is too "
                         "fast for it; formulation index3 passes singular positions", t, w->rule->name, h);
    for (int i = 0; i < k->nrow; i++)
        if (!(fabs(w->b[k->nu + i]) <= most)) most = fabs(w->b[k->nu + i]), row = k->all_of[i];
    for (int i = 0; i < k->nu; i++)
        if (!(fabs(w->b[i]) <= force)) force = fabs(w->b[i]), unknown = i;
    for (int i = 0; most > 1e-9 * w->s->length && i < m->constraint.n; i++) {
        const cst_constraint *c = &m->constraint.at[i];
        if (row < c->row0 || row >= c->row0 + c->cls->nphi) continue;
        return cst_error(d, CST_NUMERIC, c->where,
                         "t = %.6g s: Newton stopped after %d iterations with the step at %.3g s, residual %.3g; largest in '%s' (%s)",
                         t, MAX_ITERATIONS, h, most, c->name, c->row_name);
    }
    for (int i = 0; i < m->body.n; i++) {
        const cst_body *b = &m->body.at[i];
        if (unknown < b->u0 || unknown >= b->u0 + b->cls->nu) continue;
        return cst_error(d, CST_NUMERIC, b->where,
                         "t = %.6g s: Newton stopped after %d iterations with the step at %.3g s; largest change in body '%s'", t,
                         MAX_ITERATIONS, h, b->name);
    }
    return cst_error(d, CST_NUMERIC, (cst_where){.file = m->file}, "t = %.6g s: Newton stopped with the step at %.3g s", t, h);
}
