/* SPDX-License-Identifier: MIT
 *
 * The step: see generalized_alpha.h. */
#include "integrator/generalized_alpha.h"
#include "integrator/newton.h"

#include <math.h>
#include <string.h>

static void open(cst_arena *a, cst_motion *w)
{
    const cst_model *m = w->s->m;
    cst_generalized_alpha *o = w->own = cst_new(a, cst_generalized_alpha, 1);
    double rho = m->sim.rho;
    o->am = (2 * rho - 1) / (rho + 1), o->af = rho / (rho + 1);
    o->gamma = 0.5 + o->af - o->am, o->beta = (0.5 + o->gamma) * (0.5 + o->gamma) / 4;
    o->c = (1 - o->am) / (1 - o->af);
    double **tangent[] = {&o->D, &o->w, &o->dxi}, **ambient[] = {&o->dq, &o->Td, &o->dv, &o->My};
    for (int i = 0; i < 3; i++) *tangent[i] = cst_new(a, double, m->nu + 1);
    for (int i = 0; i < 4; i++) *ambient[i] = cst_new(a, double, m->nq + 1);
    for (int i = 0; i < m->body.n; i++)
        if (m->body.at[i].cls->move_back && m->body.at[i].cls->nu > o->most)
            o->most = m->body.at[i].cls->nu;
    o->y = cst_new(a, double, (size_t)o->most * m->nq + 1);
    o->turn = cst_new(a, double, w->s->nB + 1);
}

void cst_generalized_alpha_move(cst_motion *w, const cst_state *y0, double h, const cst_state *y1)
{
    cst_generalized_alpha *o = w->own;
    for (int i = 0; i < w->k->nu; i++)
        o->D[i] =
            h * y0->u[i] + h * h * ((0.5 - o->beta) * y0->carried[i] + o->beta * y1->carried[i]);
}

/* ---- the matrix ---- */

/* Column j of a body that turns: s2 dA1 - T e_j for w = e_j, and what s2 dv1 is beside damp T e_j,
 *     d = back(D, e_j),   s2 dv1 = damp T d + s2 L(T e_j, u1),   damp = gamma h/c
 *                         s2 dA1 = T d + damp (L(T d, u1) + L(v1, d)) + s2 (L(T e_j, u1') + L(L(T
 * e_j, u1), u1)) */
static void turning_column(cst_motion *w, const cst_body *b, int j, double s2, double damp,
                           const cst_state *y1, double *y)
{
    cst_generalized_alpha *o = w->own;
    const double *q = y1->q + b->q0, *u = y1->u + b->u0, *ud = y1->ud + b->u0, *v = w->V + b->q0;
    double *e = o->w + b->u0, *d = o->dxi + b->u0, *dq = o->dq + b->q0, *Td = o->Td + b->q0,
           *dv = o->dv + b->q0;
    double part[4 * CST_MAX_NU];
    int nq = 3 * b->cls->nvec + b->cls->nscalar;
    memset(part, 0, sizeof *part * (size_t)nq), memset(e, 0, sizeof *e * (size_t)b->cls->nu);
    e[j] = 1;
    b->cls->move_back(o->D + b->u0, e, d);
    b->cls->T(q, e, dq), b->cls->T(q, d, Td);
    b->cls->L(Td, u, part), b->cls->L(v, d, part);
    for (int i = 0; i < nq; i++)
        y[i] = Td[i] - dq[i] + damp * part[i], dv[i] = damp * (Td[i] - dq[i]);
    memset(part, 0, sizeof *part * (size_t)nq), memset(Td, 0, sizeof *Td * (size_t)nq);
    b->cls->L(dq, u, Td), b->cls->L(dq, ud, part), b->cls->L(Td, u, part);
    for (int i = 0; i < nq; i++) y[i] += s2 * part[i], dv[i] += s2 * Td[i];
}

static int turns(const cst_body *b, int j)
{
    return b->cls->move_back && j >= b->cls->first_of_direction && j < b->cls->nu;
}

static int any_turns(const cst_model *m, int j)
{
    for (int i = 0; i < m->body.n; i++)
        if (turns(&m->body.at[i], j)) return 1;
    return 0;
}

/* Columns of E in o->y, of velocities in o->turn */
static void turning_columns(cst_motion *w, double s2, double damp, const cst_state *y1)
{
    const cst_model *m = w->s->m;
    cst_generalized_alpha *o = w->own;
    for (int j = 0; j < o->most; j++) {
        double *y = o->y + (size_t)j * (size_t)m->nq;
        if (!any_turns(m, j)) continue;
        for (int i = 0; i < m->body.n; i++) {
            const cst_body *b = &m->body.at[i];
            if (turns(b, j)) turning_column(w, b, j, s2, damp, y1, y + b->q0);
        }
        cst_slots_column(w->s, o->dv, j, o->turn);
    }
}

/* val += E */
static void add_turning(cst_motion *w, const cst_state *y1, double *val)
{
    cst_system *s = w->s;
    const cst_model *m = s->m;
    cst_generalized_alpha *o = w->own;
    double rho[CST_MAX_NU];
    for (int j = 0; j < o->most; j++) {
        if (!any_turns(m, j)) continue;
        memset(o->My, 0, sizeof *o->My * (size_t)m->nq);
        cst_mass_add(s, NULL, o->y + (size_t)j * (size_t)m->nq, 1, o->My);
        for (int i = 0; i < m->body.n; i++) {
            const cst_body *b = &m->body.at[i];
            if (!turns(b, j)) continue;
            double *column = val + w->k->body_at[b->u0 + j];
            b->cls->Tt(y1->q + b->q0, o->My + b->q0, rho);
            for (int k = 0; k < b->cls->nu; k++) column[k] += rho[k];
        }
    }
}

int cst_generalized_alpha_matrix(cst_motion *w, double h, const cst_state *y1, const double *mem,
                                 int softened)
{
    const cst_generalized_alpha *o = w->own;
    double s2 = o->beta * h * h / o->c, damp = o->gamma * h / o->c;
    const double soft = softened ? w->soft : 0;
    const cst_kkt_coef c = {.mass = 1,
                            .stiff = s2,
                            .damp = damp,
                            .turn = o->turn,
                            .eps = w->st->eps + (w->eq.alpha > 0 ? 0 : soft),
                            .soft = w->eq.alpha > 0 ? soft : 0};
    cst_slots_blocks(w->s, y1->q);
    turning_columns(w, s2, damp, y1);
    cst_kkt_assemble(w->k, w->s, y1->q, y1->z, mem, w->r, y1->lambda, NULL, c, 1, h / 2,
                     w->newton_val);
    add_turning(w, y1, w->newton_val);
    return cst_lu_refactor(w->newton, w->newton_val) < 0;
}

/* ---- the step ---- */

void cst_generalized_alpha_forces(cst_motion *w, const cst_state *y1, const double *mem)
{
    cst_system *s = w->s;
    const cst_model *m = s->m;
    cst_T(s, y1->q, y1->ud, w->A);
    cst_L_add(s, w->V, y1->u, w->A);
    memset(w->r, 0, sizeof *w->r * (size_t)m->nq);
    cst_mass_add(s, NULL, w->A, 1, w->r);
    cst_gravity_add(s, -1, w->r);
    memset(s->fx, 0, sizeof *s->fx * (size_t)m->nx);
    cst_forces_add(s, y1->z, mem, s->fx, NULL, NULL);
    cst_reactions_add(s, mem, y1->lambda, CST_ROW_MOTION, s->fx, NULL);
    cst_slots_transpose(s, s->fx, w->r);
}

/* y1 from its a1, and the system placed there */
static void place(cst_motion *w, const cst_state *y0, double h, cst_state *y1)
{
    cst_system *s = w->s;
    const cst_generalized_alpha *o = w->own;
    const double *a0 = y0->carried, *a1 = y1->carried;
    cst_generalized_alpha_move(w, y0, h, y1);
    cst_move(s, y0->q, o->D, y1->q);
    for (int i = 0; i < w->k->nu; i++) {
        y1->u[i] = y0->u[i] + h * ((1 - o->gamma) * a0[i] + o->gamma * a1[i]);
        y1->ud[i] = ((1 - o->am) * a1[i] + o->am * a0[i] - o->af * y0->ud[i]) / (1 - o->af);
    }
    cst_system_place(s, *y1->t, y1->q);
    cst_T(s, y1->q, y1->u, w->V);
    cst_system_rates(s, w->V);
    if (s->m->nz) cst_states_solve(s, h, y0->z, y0->zd, y1->mem, y1->z);
}

static void residual(cst_motion *w, const cst_state *y0, double h, cst_state *y1)
{
    const cst_kkt *k = w->k;
    const cst_generalized_alpha *o = w->own;
    place(w, y0, h, y1);
    cst_generalized_alpha_forces(w, y1, y1->mem);
    cst_T_transpose(w->s, y1->q, w->r, w->b);
    for (int i = 0; i < k->nu; i++) w->b[i] *= o->beta * h * h / o->c;
    cst_constraints(w->s, y1->mem, CST_ROW_MOTION, w->phi);
    cst_kkt_gather(k, w->phi, w->b + k->nu);
}

static int matrix(cst_motion *w, const cst_state *y0, double h, const cst_state *y1)
{
    const cst_generalized_alpha *o = w->own;
    (void)y0;
    cst_motion_soften(w, o->beta * h * h / o->c);
    return cst_generalized_alpha_matrix(w, h, y1, y1->mem, 1);
}

static void correct(cst_motion *w, const cst_state *y0, double h, cst_state *y1)
{
    const cst_kkt *k = w->k;
    cst_generalized_alpha *o = w->own;
    double bh2 = o->beta * h * h;
    (void)y0;
    cst_move_back(w->s, o->D, w->x, o->dxi);
    for (int i = 0; i < k->nu; i++) y1->carried[i] += o->dxi[i] / bh2;
    for (int i = 0; i < k->nrow; i++) y1->lambda[k->all_of[i]] += w->x[k->nu + i] * o->c / bh2;
}

static const double *multipliers(const cst_state *y1) { return y1->lambda; }

/* a1 and lambda1 extrapolated from the step before, with what the guess missed there: quadratic
 * where steps are even */
static void guess(cst_motion *w, const cst_state *y0, double h, cst_state *y1)
{
    const cst_generalized_alpha *o = w->own;
    const double *a_before = w->xi_missed, *a0 = y0->carried;
    int coasting = w->habits.coast > 0;
    double ratio = w->h_before > 0 ? h / w->h_before : 0, again = fabs(ratio - 1) < 1e-6;
    for (int i = 0; i < w->k->nu; i++) {
        double a1 = a0[i] + ratio * (a0[i] - a_before[i]) + again * w->ud_missed[i];
        w->c[i] = h * h * ((0.5 - o->beta) * a0[i] + o->beta * a1);
        y1->carried[i] = coasting ? (1 - 0.5 / o->beta) * a0[i] : a1;
        w->ud_guess[i] = a1 - again * w->ud_missed[i];
    }
    cst_newton_doubt(w, w->c);
    for (int i = 0; i < w->s->m->nrow; i++) {
        w->lambda_guess[i] = y0->lambda[i] + ratio * (y0->lambda[i] - w->lambda_before[i]);
        y1->lambda[i] = w->lambda_guess[i] + again * w->lambda_missed[i];
    }
    cst_rows_clear(w, y1->lambda);
}

static void remember_guess(cst_motion *w, const cst_state *y0, double h, const cst_state *y1)
{
    int nu = w->k->nu;
    for (int i = 0; i < nu; i++) w->ud_missed[i] = y1->carried[i] - w->ud_guess[i];
    for (int i = 0; i < w->s->m->nrow; i++)
        w->lambda_missed[i] = y1->lambda[i] - w->lambda_guess[i];
    memcpy(w->xi_missed, y0->carried,
           sizeof *w->xi_missed * (size_t)nu); /* a_before; Newton's method reads the next */
    memcpy(w->ud_before, y0->ud, sizeof *w->ud_before * (size_t)nu);
    memcpy(w->lambda_before, y0->lambda, sizeof *w->lambda_before * (size_t)w->s->m->nrow);
    w->h_before = h;
}

static const cst_newton equations = {guess, residual, matrix, correct, multipliers};

static cst_status step(cst_motion *w, const cst_state *y0, double h, cst_state *y1)
{
    cst_system *s = w->s;
    const cst_model *m = s->m;
    long iterations = w->n.iterations;
    *y1->t = *y0->t + h, *y1->h = h, *y1->tag = 0;
    w->react_at = NULL;
    memcpy(y1->mem, y0->mem, sizeof *y1->mem * (size_t)m->memory.n);
    if (!cst_newton_solve(w, &equations, y0, h, y1)) return CST_NUMERIC;
    place(w, y0, h, y1); /* at what was accepted */
    cst_memory_update(w->out, s, y1->mem);
    if (m->nz) cst_forces_add(s, y1->z, y1->mem, s->fx, y1->zd, NULL);
    cst_newton_review(w, w->n.iterations - iterations);
    remember_guess(w, y0, h, y1);
    cst_motion_integrals(w, y0, h, y1);
    if (w->controls) w->error = cst_motion_error(w, y0, h, y1);
    w->n.steps++;
    return CST_OK;
}

/* Reactions carry errors that are multiplied by about -rho in each step, and fed again as the
 * directions of the joints turn: they grow when these turn by more than about 1 - rho per step.
 * Then u' of the step is no longer that of the equations, and h times the difference is as large as
 * the speeds. */
static int warn(cst_motion *w, double h, cst_state *y, cst_diag *d)
{
    const cst_model *m = w->s->m;
    const cst_where here = {.file = m->file};
    double fastest = 1e-3, apart = 0; /* at rest all is rounding */
    if (!m->nrow) return 0;
    if (m->sim.rho > 0.999) {
        cst_warn(d, here,
                 "generalized-alpha with rho = %g does not damp the errors of reactions, which "
                 "grow with the motion of the joints: use rho below 1, or newmark",
                 m->sim.rho);
        return 1;
    }
    memcpy(w->ud_guess, y->ud, sizeof *y->ud * (size_t)m->nu);
    if (cst_motion_derive_from(w, y) != CST_OK) return 0;
    for (int i = 0; i < m->nu; i++) {
        fastest = fmax(fastest, fabs(y->u[i]) / w->st->column[i]);
        apart = fmax(apart, h * fabs(w->ud_guess[i] - y->ud[i]) / w->st->column[i]);
    }
    if (apart < 0.1 * fastest) return 0;
    cst_warn(d, here,
             "t = %.6g s: accelerations and reactions no longer satisfy the equations: with rho = "
             "%g and this step their errors grow. Use a smaller rho, shorter steps, or newmark",
             *y->t, m->sim.rho);
    return 1;
}

const cst_rule cst_rule_generalized_alpha = {
    .name = "generalized-alpha",
    .doc = "generalised-alpha, high frequencies damped by rho per step; steps as given or by a "
           "tolerance: order 2",
    .end = 0.5,
    .adaptive = 2,
    .order = 3,
    .carries = 1,
    .brief = &cst_rule_newmark,
    .open = open,
    .open_adjoint = cst_generalized_alpha_open_adjoint,
    .open_tangent = cst_generalized_alpha_open_tangent,
    .step = step,
    .warn = warn,
    .tangent = cst_generalized_alpha_tangent,
    .prepare = cst_generalized_alpha_prepare,
    .adjoint = cst_generalized_alpha_adjoint,
};
