/* SPDX-License-Identifier: MIT */
#include "integrator/rule.h"

#include <math.h>
#include <string.h>

#define SOFT                                                                                       \
    1e7 /* augmented without a given alpha: e, in units of the eps that regularises singular       \
           positions */
#define SUSPECT 1e-3 /* rcond of W, of its largest, below which the rows are looked at */
#define OWN_GAIN                                                                                   \
    1e-3 /* relative change after which a solution with a matrix's own factors is taken as it is   \
          */

cst_motion *cst_motion_new(cst_arena *a, cst_system *s, const cst_structure *st, cst_output *out)
{
    const cst_model *m = s->m;
    cst_motion *w = cst_new(a, cst_motion, 1);
    w->s = s, w->st = st, w->k = st->motion, w->left_out = st->left_out, w->out = out;
    w->end = 0.5;
    w->newton = cst_lu_twin(a, st->motion_lu, 0);
    w->project = cst_lu_twin(a, st->motion_lu, 1);
    w->tolerance = w->habits.noise = 1e-16; /* of positions; velocities get 2/h times as much */
    cst_motion_forget(w);
    int n = w->k->n, nnz = st->entries;
    w->newton_val = cst_new(a, double, nnz + 1);
    w->project_val = cst_new(a, double, nnz + 1);
    w->rows_val = cst_new(a, double, nnz + 1);
    w->rows_lu = cst_lu_twin(a, st->motion_lu, 1);
    w->b = cst_new(a, double, n + 1);
    w->x = cst_new(a, double, n + 1);
    w->scratch = cst_new(a, double, 2 * n + 1);
    double **ambient[] = {&w->v0, &w->a0, &w->base, &w->D, &w->A, &w->V, &w->r, &w->c};
    for (size_t i = 0; i < sizeof ambient / sizeof *ambient; i++)
        *ambient[i] = cst_new(a, double, m->nq + 1);
    w->phi = cst_new(a, double, m->nrow + 1);
    w->xi = cst_new(a, double, m->nu + 1);
    w->slot = cst_new(a, double, m->nx + 1);
    double **tangent[] = {&w->ud_before, &w->xi_missed, &w->u_missed, &w->ud_missed,
                          &w->u_guess,   &w->ud_guess,  &w->per_force};
    for (size_t i = 0; i < sizeof tangent / sizeof *tangent; i++)
        *tangent[i] = cst_new(a, double, m->nu + 1);
    double **rows[] = {&w->lambda_before, &w->lambda_missed, &w->newton_missed, &w->lambda_guess,
                       &w->newton_guess};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        *rows[i] = cst_new(a, double, m->nrow + 1);
    w->guess = cst_new(a, double, n + 1);
    int ndep = st->dep.ndep;
    w->ambiguous = ndep > 0 && out->needs_react;
    if (w->ambiguous) {
        w->react = cst_new(a, double, m->nrow + 1);
        w->null = cst_new(a, double, (size_t)ndep * m->nrow);
        w->gram = cst_new(a, double, (size_t)ndep *ndep);
        w->share = cst_new(a, double, ndep);
    }
    return w;
}

/* ---- projection and accelerations ---- */

void cst_motion_left(const cst_motion *w, const double *b, const double *x, double *y)
{
    const cst_kkt *k = w->k;
    memcpy(y, b, sizeof *y * (size_t)k->n);
    cst_kkt_subtract(k, w->project_val, x, y);
    for (int i = k->nu; i < k->n; i++) y[i] += w->eq.compliance * x[i];
}

/* W x = b, from the guess in x. Newton's factors differ from W by O(h^2 K, h C) and by the steps
 * they have been kept: refine with them while each pass gains. With factors of W itself (own) a
 * pass leaves rounding of what it changed, unless rows are soft (w->soft) or compliant: the factors
 * have another e there. */
static int project_solve(cst_motion *w, cst_lu *lu, int own, const double *b, double *x)
{
    const cst_kkt *k = w->k;
    double *y = w->scratch, before = INFINITY, force = cst_largest(k->nu, b);
    for (int pass = 0; pass < 14; pass++) {
        cst_motion_left(w, b, x, y);
        cst_lu_solve(lu, 1, y);
        /* without a velocity to correct multipliers are rounding */
        double gain = cst_kkt_correct(k, y, force, x), theta = pass ? gain / before : 0;
        w->n.refinements++;
        if (!isfinite(gain)) return 0;
        if (gain <= (own && w->soft == 0 && w->eq.compliance == 0 ? OWN_GAIN : 4e-16)) return 1;
        if ((pass && theta < 0.5 && gain * theta <= 1e-16) || (gain <= 1e-13 && theta > 0.3))
            return 1;
        if (pass && theta > 0.3) return own; /* own factors: the remaining error is rounding */
        before = gain;
    }
    return own;
}

double cst_motion_soften(cst_motion *w, double s2)
{
    if (w->eq.augmented) w->soft = w->eq.alpha > 0 ? 1 / (w->eq.alpha * s2) : SOFT * w->st->eps;
    return w->soft;
}

void cst_motion_matrix(cst_motion *w, const cst_state *y)
{
    if (w->eq.augmented && w->soft == 0) w->soft = SOFT * w->st->eps; /* before the first step */
    const cst_kkt_coef c = {.mass = 1,
                            .eps = w->st->eps + (w->eq.alpha > 0 ? 0 : w->soft),
                            .soft = w->eq.compliance + (w->eq.alpha > 0 ? w->soft : 0)};
    cst_slots_blocks(w->s, y->q);
    cst_kkt_assemble(w->k, w->s, y->q, y->z, y->mem, NULL, NULL, NULL, c, 0, 0, w->project_val);
}

/* rcond of [D^-2  J^T; J  -eps U], D: sizes of the bodies, 1 for rotations: it falls where rows
 * come to depend on others, whatever the inertias and the compliance */
static double rows_rcond(cst_motion *w)
{
    const cst_kkt *k = w->k;
    const cst_pattern *P = k->pattern;
    const double *size = w->st->column;
    cst_lu *lu = cst_motion_rows_lu(w);
    memcpy(w->rows_val, w->project_val, sizeof *w->rows_val * (size_t)P->nnz);
    for (int j = 0; j < k->nu; j++)
        for (int p = P->ptr[j]; p < P->ptr[j + 1] && P->row[p] < k->nu; p++)
            w->rows_val[p] = P->row[p] == j ? 1 / (size[j] * size[j]) : 0;
    for (int i = 0; i < k->nrow; i++) w->rows_val[k->diag_at[i]] = -w->st->eps * k->unit[i];
    return cst_lu_factor(lu, w->rows_val) < 0 ? cst_lu_get(lu)->rcond : 0;
}

/* Have the rows in use all but lost a rank? The first matrix with them is what others are compared
 * with. Where rows lose rank W does, too: the rows alone are looked at where W is a thousandth as
 * well conditioned as it was. */
static int singular(cst_motion *w)
{
    if (w->regular_of != w->k) {
        w->regular_of = w->k;
        if (cst_lu_factor(w->project, w->project_val) >= 0) return 1;
        w->regular = cst_lu_get(w->project)->rcond, w->rows_regular = rows_rcond(w);
        return !(w->rows_regular > 0);
    }
    double rcond = cst_lu_get(w->project)->rcond;
    if (rcond > w->regular) w->regular = rcond;
    if (rcond > SUSPECT * w->regular) return 0;
    double rows = rows_rcond(w);
    if (rows > w->rows_regular) w->rows_regular = rows;
    return !(rows > CST_SINGULAR * w->rows_regular);
}

/* Solves with W at the present place: with Newton's factors, or, where forces are stiff and those
 * are far from W, with factors of its own. `fresh` is cleared once W has been factored there. */
cst_status cst_motion_solve(cst_motion *w, int *fresh, const double *b, double *x)
{
    double *guess = w->guess;
    if (*fresh && !w->habits.direct && w->factored_h > 0) {
        memcpy(guess, x, sizeof *x * (size_t)w->k->n);
        if (project_solve(w, w->newton, 0, b, x)) return CST_OK;
        memcpy(x, guess, sizeof *x * (size_t)w->k->n);
        w->habits.direct = cst_direct_steps(&w->habits.direct_next);
    }
    if (*fresh) {
        if (cst_lu_refactor(w->project, w->project_val) >= 0) return CST_NUMERIC;
        w->n.factorizations++;
        if (w->eq.b0 != 0 && w->forward && singular(w)) return CST_NUMERIC;
        *fresh = 0;
    }
    return project_solve(w, w->project, 1, b, x) ? CST_OK : CST_NUMERIC;
}

cst_status cst_motion_project(cst_motion *w, const cst_state *y, const double *b, double *x)
{
    int fresh = 1;
    cst_motion_matrix(w, y);
    return cst_motion_solve(w, &fresh, b, x);
}

/* b -= b1 phi' + b0 phi on the rows */
static void stabilise(cst_motion *w, const cst_state *y)
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
static void accelerations_side(cst_motion *w, cst_state *y)
{
    cst_system *s = w->s;
    const cst_model *m = s->m;
    const cst_kkt *k = w->k;
    memset(w->c, 0, sizeof *w->c * (size_t)m->nq);
    cst_L_add(s, w->V, y->u, w->c);
    memcpy(w->r, s->gravity, sizeof *w->r * (size_t)m->nq);
    cst_mass_add(s, NULL, w->c, -1, w->r);
    memset(s->fx, 0, sizeof *s->fx * (size_t)m->nx);
    cst_forces_add(s, y->z, y->mem, s->fx, y->zd, NULL);
    for (int i = 0; i < m->nx; i++) s->fx[i] = -s->fx[i];
    cst_forces_transpose(s, s->fx, w->r);
    cst_T_transpose(s, y->q, w->r, w->b);
    cst_slots_apply(s, w->c, 0, w->slot);
    cst_constraints_second(s, y->mem, CST_ROW_MOTION, w->slot, w->phi);
    for (int i = 0; i < k->nrow; i++) w->b[k->nu + i] = -w->phi[k->all_of[i]];
    if (w->eq.b1 != 0 || w->eq.b0 != 0) stabilise(w, y);
}

/* M (T u - V) + phi_q^T eta = 0,  J u + phi_t = 0,  with the matrix of y */
cst_status cst_motion_rates(cst_motion *w, const double *guess, cst_state *y, int *fresh)
{
    cst_system *s = w->s;
    const cst_kkt *k = w->k;
    memset(w->c, 0, sizeof *w->c * (size_t)s->m->nq);
    cst_mass_add(s, NULL, w->V, 1, w->c);
    cst_T_transpose(s, y->q, w->c, w->b);
    cst_constraints_rate(s, y->mem, CST_ROW_MOTION, w->phi);
    for (int i = 0; i < k->nrow; i++) w->b[k->nu + i] = -w->phi[k->all_of[i]], w->x[k->nu + i] = 0;
    memcpy(w->x, guess, sizeof *w->x * (size_t)k->nu);
    if (cst_motion_solve(w, fresh, w->b, w->x) != CST_OK) return CST_NUMERIC;
    memcpy(y->u, w->x, sizeof *y->u * (size_t)k->nu);
    memset(y->eta, 0, sizeof *y->eta * (size_t)s->m->nrow);
    cst_kkt_spread(k, w->x + k->nu, y->eta);
    return CST_OK;
}

cst_status cst_motion_impact(cst_motion *w, cst_state *y)
{
    int fresh = 1;
    cst_motion_forget(w);
    cst_system_place(w->s, *y->t, y->q);
    cst_T(w->s, y->q, y->u, w->V);
    cst_motion_matrix(w, y);
    return cst_motion_rates(w, y->u, y, &fresh);
}

/* u', lambda at the same place; y->ud and y->lambda hold a guess. */
cst_status cst_motion_accelerations(cst_motion *w, cst_state *y, int *fresh)
{
    const cst_model *m = w->s->m;
    const cst_kkt *k = w->k;
    accelerations_side(w, y);
    memcpy(w->x, y->ud, sizeof *w->x * (size_t)k->nu);
    cst_kkt_gather(k, y->lambda, w->x + k->nu);
    if (cst_motion_solve(w, fresh, w->b, w->x) != CST_OK) return CST_NUMERIC;
    memcpy(y->ud, w->x, sizeof *y->ud * (size_t)k->nu);
    memset(y->lambda, 0, sizeof *y->lambda * (size_t)m->nrow);
    cst_kkt_spread(k, w->x + k->nu, y->lambda);
    return CST_OK;
}

void cst_motion_integrand(cst_motion *w, cst_state *y)
{
    const cst_model *m = w->s->m;
    if (!m->quad.n) return;
    const double *lambda = m->quads_read_reactions ? cst_motion_reactions(w, y) : y->lambda;
    const cst_point_of_motion at = {*y->t, y->q, y->u, y->ud, y->z, y->mem, y->quad, lambda};
    cst_output_eval(w->out, w->s, &at);
    for (int i = 0; i < m->quad.n; i++) y->qd[i] = cst_output_value(w->out, w->out->quad + i);
}

/* y1 = y0 + h/2 (g0 + g1); a rate that reads other integrals needs these at the end first */
void cst_motion_integrals(cst_motion *w, const cst_state *y0, double h, cst_state *y1)
{
    int n = w->s->m->quad.n, changed = 1;
    memcpy(y1->quad, y0->quad, sizeof *y1->quad * (size_t)n);
    for (int pass = 0; changed && pass <= w->out->nested; pass++) {
        cst_motion_integrand(w, y1);
        changed = 0;
        for (int i = 0; i < n; i++) {
            double next = y0->quad[i] + h / 2 * (y0->qd[i] + y1->qd[i]);
            changed |= next != y1->quad[i];
            y1->quad[i] = next;
        }
    }
}

void cst_motion_refresh(cst_motion *w, cst_state *y)
{
    cst_system *s = w->s;
    w->react_at = NULL;
    cst_system_place(s, *y->t, y->q);
    cst_T(s, y->q, y->u, w->V);
    cst_system_rates(s, w->V);
    if (s->m->nz) cst_forces_add(s, y->z, y->mem, s->fx, y->zd, NULL);
    cst_motion_integrand(w, y);
}

void cst_motion_forget(cst_motion *w)
{
    w->factored_h = w->h_before = 0, w->habits.clean = 1;
    w->react_at = NULL;
    cst_lu_forget(w->newton), cst_lu_forget(w->project);
    if (w->chart_lu) cst_lu_forget(w->chart_lu);
    for (int i = 0; i < w->nstage; i++) cst_motion_forget(w->stage[i]);
}

cst_status cst_motion_derive_rates(cst_motion *w, cst_state *y)
{
    cst_system *s = w->s;
    int fresh = 1;
    w->factored_h = 0;
    w->react_at = NULL;
    cst_system_place(s, *y->t, y->q);
    cst_T(s, y->q, y->u, w->V);
    cst_system_rates(s, w->V);
    cst_motion_matrix(w, y);
    return cst_motion_accelerations(w, y, &fresh) == CST_OK &&
                   isfinite(cst_largest(s->m->nu, y->ud))
               ? CST_OK
               : CST_NUMERIC;
}

void cst_motion_residual(cst_motion *w, cst_state *y, double *r)
{
    double *val = w->project_val;
    w->factored_h = 0;
    cst_system_place(w->s, *y->t, y->q);
    cst_T(w->s, y->q, y->u, w->V);
    cst_system_rates(w->s, w->V);
    w->project_val = w->newton_val; /* the projection's own stay with its factors */
    cst_motion_matrix(w, y);
    accelerations_side(w, y);
    memcpy(w->x, y->ud, sizeof *w->x * (size_t)w->k->nu);
    cst_kkt_gather(w->k, y->lambda, w->x + w->k->nu);
    cst_motion_left(w, w->b, w->x, r);
    w->project_val = val;
}

cst_status cst_motion_derive_from(cst_motion *w, cst_state *y)
{
    cst_status ok = cst_motion_derive_rates(w, y);
    if (ok == CST_OK) cst_motion_integrand(w, y);
    return ok;
}

cst_status cst_motion_derive(cst_motion *w, cst_state *y, cst_diag *d)
{
    cst_system *s = w->s;
    cst_motion_forget(w);
    memset(y->ud, 0, sizeof *y->ud * (size_t)s->m->nu);
    memset(y->lambda, 0, sizeof *y->lambda * (size_t)s->m->nrow);
    cst_status ok = cst_motion_derive_from(w, y);
    if (cst_step_carries(w)) memcpy(y->carried, y->ud, sizeof *y->ud * (size_t)s->m->nu);
    if (ok == CST_OK) return CST_OK;
    int force = cst_forces_infinite(s, y->z, y->mem);
    if (force >= 0)
        return cst_error(d, CST_NUMERIC, s->m->force.at[force].where,
                         "t = %g s: the force '%s' is not finite", *y->t,
                         s->m->force.at[force].name);
    return cst_error(d, CST_NUMERIC, (cst_where){.file = s->m->file},
                     "t = %g s: the accelerations are not determined: masses and constraints leave "
                     "the matrix singular",
                     *y->t);
}
