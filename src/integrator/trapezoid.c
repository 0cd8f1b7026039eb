/* SPDX-License-Identifier: MIT
 *
 * The implicit trapezoidal rule on what a state determines, for every formulation that gives u' =
 * f(q, u, z, t):
 *
 *     u1 = u0 + h/2 (u0' + f1),    q1 = move(q0, xi), xi = h/2 (u0 + u1),    z1 = z0 + h/2 (z0' +
 * z1')
 *
 * The unknown is u1: F = u1 - u0 - h/2 (u0' + f1) = 0. A change of u1 changes f through forces and
 * through the rows phi'' + b1 phi' + b0 phi - c lambda = 0; to leading order in h
 *
 *     N [du; h/2 dlambda] = -[W F; J F/kappa],   N = [W + h/2 C + h^2/4 K, J^T; J, -c/kappa], kappa
 * = 1 + h/2 b1 + h^2/4 b0
 *
 * with W = T^T M T. N is close enough to iterate with: forward, in the tangent and, transposed, in
 * the adjoint. The iterations continue to rounding, so the terms that N neglects affect only their
 * number. */
#include "integrator/trapezoid.h"

#include <math.h>
#include <string.h>

#define MOST 60

static void open(cst_arena *a, cst_motion *w)
{
    cst_trapezoid *o = w->own = cst_new(a, cst_trapezoid, 1);
    o->F = cst_new(a, double, w->k->n + 1);
    o->xi = cst_new(a, double, w->k->nu + 1);
    o->r = cst_new(a, double, w->s->m->nq + 1);
}

double cst_trapezoid_kappa(const cst_motion *w, double h)
{
    return 1 + h / 2 * w->eq.b1 + h * h / 4 * w->eq.b0;
}

/* N at y1, which has been derived */
static int matrix(cst_motion *w, double h, const cst_state *y1, const double *mem)
{
    cst_system *s = w->s;
    const cst_model *m = s->m;
    cst_trapezoid *o = w->own;
    double *r = o->r, *a = w->A;
    const cst_kkt_coef c = {.mass = 1,
                            .stiff = h * h / 4,
                            .damp = h / 2,
                            .eps = w->st->eps,
                            .soft = w->eq.compliance / cst_trapezoid_kappa(w, h)};
    cst_T(s, y1->q, y1->u, w->V);
    cst_T(s, y1->q, y1->ud, a);
    cst_L_add(s, w->V, y1->u, a);
    memset(r, 0, sizeof *r * (size_t)m->nq);
    cst_mass_add(s, NULL, a, 1, r);
    cst_gravity_add(s, -1, r);
    memset(s->fx, 0, sizeof *s->fx * (size_t)m->nx);
    cst_forces_add(s, y1->z, mem, s->fx, NULL, NULL);
    cst_reactions_add(s, mem, y1->lambda, CST_ROW_MOTION, s->fx, NULL);
    cst_slots_transpose(s, s->fx, r);
    cst_slots_blocks(s, y1->q);
    cst_kkt_assemble(w->k, s, y1->q, y1->z, mem, r, y1->lambda, NULL, c, 1, h / 2, w->newton_val);
    w->n.factorizations++;
    return cst_lu_refactor(w->newton, w->newton_val) < 0;
}

int cst_trapezoid_matrix(cst_motion *w, double h, const cst_state *y1, const double *mem)
{
    cst_system_place(w->s, *y1->t, y1->q);
    cst_T(w->s, y1->q, y1->u, w->V);
    cst_system_rates(w->s, w->V);
    return matrix(w, h, y1, mem);
}

/* y1's positions and element states for the velocities in it, and what follows from them */
static cst_status place(cst_motion *w, const cst_state *y0, double h, cst_state *y1)
{
    cst_system *s = w->s;
    cst_trapezoid *o = w->own;
    for (int i = 0; i < w->k->nu; i++) o->xi[i] = h / 2 * (y0->u[i] + y1->u[i]);
    cst_move(s, y0->q, o->xi, y1->q);
    if (s->m->nz) {
        cst_system_place(s, *y1->t, y1->q);
        cst_T(s, y1->q, y1->u, w->V);
        cst_system_rates(s, w->V);
        cst_states_solve(s, h, y0->z, y0->zd, y1->mem, y1->z);
    }
    return cst_motion_derive_rates(w, y1);
}

/* x = (du, h/2 dlambda) from F: what Newton's correction would be with N; W is project_val */
void cst_trapezoid_correct(cst_motion *w, double h, const double *F, double *x)
{
    const cst_kkt *k = w->k;
    cst_trapezoid *o = w->own;
    double kappa = cst_trapezoid_kappa(w, h);
    for (int i = 0; i < k->nu; i++) o->F[i] = -F[i];
    memset(o->F + k->nu, 0, sizeof *o->F * (size_t)k->nrow);
    memset(x, 0, sizeof *x * (size_t)k->n);
    cst_sparse_mul(k->pattern, w->project_val, o->F, x);
    for (int i = k->nu; i < k->n; i++) x[i] /= kappa;
    cst_lu_solve(w->newton, 1, x);
}

/* Iterates on u1 until its changes are rounding. `old`: N may be kept from an earlier step. */
static int solve(cst_motion *w, const cst_state *y0, double h, cst_state *y1)
{
    int nu = w->k->nu, fresh = 0;
    double before = 0, theta = 0;
    cst_trapezoid *o = w->own;
    if (fabs(o->factored_h - h) > 1e-6 * h) o->factored_h = 0;
    for (int it = 0; it < MOST; it++) {
        if (place(w, y0, h, y1) != CST_OK) return 0;
        if (o->factored_h == 0 || w->full) {
            if (!matrix(w, h, y1, y1->mem)) return 0;
            o->factored_h = h, fresh = 1;
        }
        w->n.iterations++;
        double size = 0, d = 0;
        for (int i = 0; i < nu; i++)
            w->xi[i] = y1->u[i] - y0->u[i] - h / 2 * (y0->ud[i] + y1->ud[i]);
        cst_trapezoid_correct(w, h, w->xi, w->x);
        for (int i = 0; i < nu; i++) {
            double scale = 1 / w->st->column[i];
            y1->u[i] += w->x[i];
            d = fmax(d, fabs(w->x[i]) * scale);
            size = fmax(size, (fabs(y1->u[i]) + h * fabs(y1->ud[i])) * scale);
        }
        if (!isfinite(d)) return 0;
        if (it) theta = d / before;
        if (d <= 1e-16 * size || (it && theta < 1 && theta / (1 - theta) * d <= 1e-16 * size))
            return 1;
        if (it && d <= 1e-12 * size && theta > 0.3) return 1;
        if (it > 1 && theta > 0.3) {
            if (fresh && theta > 0.9 && it > 8) return 0;
            if (!fresh) o->factored_h = 0;
        }
        before = d;
    }
    return 0;
}

static cst_status step(cst_motion *w, const cst_state *y0, double h, cst_state *y1)
{
    const cst_model *m = w->s->m;
    cst_trapezoid *o = w->own;
    w->react_at = NULL;
    *y1->t = *y0->t + h, *y1->h = h, *y1->tag = 0;
    memcpy(y1->mem, y0->mem, sizeof *y1->mem * (size_t)m->memory.n);
    memcpy(y1->z, y0->z, sizeof *y1->z * (size_t)m->nz);
    memcpy(y1->ud, y0->ud, sizeof *y1->ud * (size_t)m->nu);
    memcpy(y1->lambda, y0->lambda, sizeof *y1->lambda * (size_t)m->nrow);
    cst_rows_clear(w, y1->lambda);
    if (w->since == 0) o->factored_h = 0;
    for (int i = 0; i < m->nu; i++) y1->u[i] = y0->u[i] + h * y0->ud[i];
    if (!solve(w, y0, h, y1)) {
        o->factored_h = 0;
        return CST_NUMERIC;
    }
    for (int i = 0; i < m->nu; i++) o->xi[i] = h / 2 * (y0->u[i] + y1->u[i]);
    cst_move(w->s, y0->q, o->xi, y1->q);
    cst_system_place(w->s, *y1->t, y1->q);
    cst_T(w->s, y1->q, y1->u, w->V);
    cst_system_rates(w->s, w->V);
    if (m->nz) cst_states_solve(w->s, h, y0->z, y0->zd, y1->mem, y1->z);
    memset(y1->newton, 0, sizeof *y1->newton * (size_t)m->nrow),
        memset(y1->eta, 0, sizeof *y1->eta * (size_t)m->nrow);
    cst_memory_update(w->out, w->s, y1->mem);
    if (cst_motion_derive_rates(w, y1) != CST_OK) return CST_NUMERIC;
    cst_motion_integrals(w, y0, h, y1);
    if (w->controls) w->error = cst_motion_error(w, y0, h, y1);
    w->n.steps++;
    return CST_OK;
}

const cst_rule cst_rule_trapezoid = {
    .name = "trapezoid",
    .doc =
        "implicit trapezoidal rule on u' = f(q, u, t), steps as given or by a tolerance: order 2",
    .end = 0.5,
    .adaptive = 2,
    .order = 3,
    .open = open,
    .open_adjoint = cst_trapezoid_open_adjoint,
    .open_tangent = cst_trapezoid_open_tangent,
    .step = step,
    .tangent = cst_trapezoid_tangent,
    .prepare = cst_trapezoid_prepare,
    .adjoint = cst_trapezoid_adjoint,
};
