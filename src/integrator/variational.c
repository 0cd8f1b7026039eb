/* SPDX-License-Identifier: MIT */
#include "integrator/variational.h"
#include "integrator/newton.h"

#include <math.h>
#include <string.h>

#define MOST 60

static void open(cst_arena *a, cst_motion *w)
{
    const cst_model *m = w->s->m;
    cst_variational *o = w->own = cst_new(a, cst_variational, 1);
    o->weight = m->sim.weight;
    double **ambient[] = {&o->qm, &o->v, &o->p0, &o->r};
    for (size_t i = 0; i < sizeof ambient / sizeof *ambient; i++)
        *ambient[i] = cst_new(a, double, m->nq + 1);
    o->zm = cst_new(a, double, m->nz + 1), o->zero = cst_new(a, double, m->nz + 1);
    o->rows = cst_new(a, double, m->nrow + 1);
    o->val0 = cst_new(a, double, w->st->entries + 1);
}

void cst_variational_middle(cst_motion *w, const cst_state *y0, double h, const cst_state *y1)
{
    cst_system *s = w->s;
    cst_variational *o = w->own;
    double a = o->weight;
    for (int i = 0; i < s->m->nq; i++) {
        o->qm[i] = (1 - a) * y0->q[i] + a * y1->q[i];
        o->v[i] = (y1->q[i] - y0->q[i]) / h;
    }
    cst_system_place(s, *y1->t - (1 - a) * h, o->qm);
    cst_system_rates(s, o->v);
    memcpy(o->zm, y0->z, sizeof *o->zm * (size_t)s->m->nz);
    if (s->m->nz) cst_states_solve(s, h, y0->z, o->zero, y0->mem, o->zm);
}

void cst_variational_momentum(cst_motion *w, const cst_state *y0, double h, const double *mem)
{
    cst_system *s = w->s;
    const cst_model *m = s->m;
    cst_variational *o = w->own;
    double share = (1 - o->weight) * h;
    cst_T(s, y0->q, y0->u, w->V);
    memset(o->r, 0, sizeof *o->r * (size_t)m->nq);
    for (int i = 0; i < m->nq; i++) w->A[i] = w->V[i] - o->v[i];
    cst_mass_add(s, NULL, w->A, 1, o->r);
    cst_gravity_add(s, share, o->r);
    memset(s->fx, 0, sizeof *s->fx * (size_t)m->nx);
    cst_forces_add(s, o->zm, mem, s->fx, NULL, NULL);
    for (int i = 0; i < m->nx; i++) s->fx[i] *= -share;
    cst_slots_transpose(s, s->fx, o->r);
}

/* J^T of the matrix at q0 into val0 */
static void start_jacobian(cst_motion *w, const cst_state *y0)
{
    cst_variational *o = w->own;
    const cst_kkt_coef c = {.eps = w->st->eps};
    cst_system_place(w->s, *y0->t, y0->q);
    cst_slots_blocks(w->s, y0->q);
    cst_kkt_assemble(w->k, w->s, y0->q, y0->z, y0->mem, NULL, NULL, NULL, c, 0, 0, o->val0);
}

int cst_variational_matrix(cst_motion *w, const cst_state *y0, double h, const cst_state *y1)
{
    cst_variational *o = w->own;
    const cst_kkt *k = w->k;
    double a = o->weight;
    const cst_kkt_coef c = {.mass = 1,
                            .stiff = a * (1 - a) * h * h,
                            .damp = (1 - a) * h,
                            .eps = w->st->eps};
    start_jacobian(w, y0);
    cst_system_place(w->s, *y1->t, y1->q);
    cst_system_rates(w->s, o->v);
    cst_slots_blocks(w->s, y1->q);
    cst_kkt_assemble(k, w->s, y1->q, o->zm, y0->mem, NULL, NULL, NULL, c, 1, h / 2, w->newton_val);
    for (int col = k->nu; col < k->n; col++)
        for (int p = k->pattern->ptr[col];
             p < k->pattern->ptr[col + 1] && k->pattern->row[p] < k->nu; p++)
            w->newton_val[p] = o->val0[p];
    w->n.factorizations++;
    return cst_lu_refactor(w->newton, w->newton_val) < 0;
}

double cst_variational_mass(const cst_motion *w)
{
    double most = 0;
    for (int i = 0; i < w->s->m->body.n; i++)
        for (int j = 0, u0 = w->s->m->body.at[i].u0; j < w->s->m->body.at[i].cls->nu; j++)
            most = fmax(most, fabs(w->newton_val[w->k->body_at[u0 + j] + j]));
    return most;
}

/* b = (h residual, -phi) at y1 */
static void residual(cst_motion *w, const cst_state *y0, double h, cst_state *y1, double *b)
{
    cst_system *s = w->s;
    const cst_kkt *k = w->k;
    cst_variational *o = w->own;
    cst_variational_middle(w, y0, h, y1);
    cst_variational_momentum(w, y0, h, y0->mem);
    cst_T_transpose(s, y0->q, o->r, b);
    for (int i = 0; i < k->nrow; i++) {
        int col = k->nu + i;
        double force = h * y1->newton[k->all_of[i]];
        for (int p = k->pattern->ptr[col];
             p < k->pattern->ptr[col + 1] && k->pattern->row[p] < k->nu; p++)
            b[k->pattern->row[p]] -= o->val0[p] * force;
    }
    for (int i = 0; i < k->nu; i++) b[i] *= h;
    cst_system_place(s, *y1->t, y1->q);
    cst_constraints(s, y0->mem, CST_ROW_MOTION, w->phi);
    for (int i = 0; i < k->nrow; i++) b[k->nu + i] = -w->phi[k->all_of[i]];
}

static int solve(cst_motion *w, const cst_state *y0, double h, cst_state *y1)
{
    const cst_kkt *k = w->k;
    cst_variational *o = w->own;
    double before = 0, theta = 0, floor = 1e-16;
    cst_newton_forces forces = {0};
    int fresh = 0;
    if (fabs(o->factored_h - h) > 1e-6 * h) o->factored_h = 0;
    if (o->factored_h != 0) start_jacobian(w, y0);
    for (int it = 0; it < MOST; it++) {
        if (o->factored_h == 0 || w->full) {
            cst_variational_middle(w, y0, h, y1);
            if (!cst_variational_matrix(w, y0, h, y1)) return 0;
            cst_newton_weigh(w);
            o->factored_h = h, fresh = 1;
        }
        residual(w, y0, h, y1, w->x);
        cst_newton_watch(w, w->x, &forces);
        w->n.iterations++;
        cst_lu_solve(w->newton, 1, w->x);
        cst_move(w->s, y1->q, w->x, y1->q);
        double d = 0;
        for (int i = 0; i < k->nu; i++) d = fmax(d, fabs(w->x[i]) / w->st->column[i]);
        for (int i = 0; i < k->nrow; i++) y1->newton[k->all_of[i]] += w->x[k->nu + i] / (h * h);
        if (!isfinite(d) || d > 1e3 || (it == 0 && d > w->doubt)) return 0;
        if (it) theta = d / before;
        int placed = d <= floor || (it && theta < 1 && theta / (1 - theta) * d <= floor) ||
                     (it && d <= 1e-13 && theta > 0.3);
        if (placed && cst_newton_balanced(w, h, y1->newton, fresh, floor, &forces)) return 1;
        if (it > 1 && (placed ? forces.theta : theta) > 0.2 && !fresh) o->factored_h = 0;
        if (fresh && it > 8 && theta > 0.9 && d > 1e-9) return 0;
        before = d;
    }
    return 0;
}

static int attempt(cst_motion *w, const void *of, const cst_state *y0, double h, cst_state *y1)
{
    const cst_model *m = w->s->m;
    cst_variational *o = w->own;
    (void)of;
    memcpy(y1->newton, y0->lambda, sizeof *y1->newton * (size_t)m->nrow);
    cst_rows_clear(w, y1->newton);
    for (int i = 0; i < m->nu; i++) {
        w->c[i] = h * h / 2 * y0->ud[i];
        w->xi[i] = h * y0->u[i] + (w->habits.coast > 0 ? 0 : w->c[i]);
    }
    cst_newton_doubt(w, w->c);
    cst_move(w->s, y0->q, w->xi, y1->q);
    int ok = solve(w, y0, h, y1);
    if (!ok) o->factored_h = 0;
    return ok;
}

/* u1 from the momentum at the end: w->b, then the projection */
static cst_status velocities(cst_motion *w, const cst_state *y0, double h, cst_state *y1)
{
    cst_system *s = w->s;
    const cst_model *m = s->m;
    const cst_kkt *k = w->k;
    cst_variational *o = w->own;
    cst_variational_middle(w, y0, h, y1);
    for (int i = 0; i < m->nz; i++) y1->z[i] = 2 * o->zm[i] - y0->z[i];
    memset(o->r, 0, sizeof *o->r * (size_t)m->nq);
    cst_mass_add(s, NULL, o->v, 1, o->r);
    cst_gravity_add(s, o->weight * h, o->r);
    memset(s->fx, 0, sizeof *s->fx * (size_t)m->nx);
    cst_forces_add(s, o->zm, y0->mem, s->fx, NULL, NULL);
    for (int i = 0; i < m->nx; i++) s->fx[i] *= -o->weight * h;
    cst_slots_transpose(s, s->fx, o->r);
    cst_system_place(s, *y1->t, y1->q);
    cst_T_transpose(s, y1->q, o->r, w->b);
    cst_constraints_rate(s, y0->mem, CST_ROW_MOTION, w->phi);
    for (int i = 0; i < k->nrow; i++) w->b[k->nu + i] = -w->phi[k->all_of[i]], w->x[k->nu + i] = 0;
    for (int i = 0; i < k->nu; i++) w->x[i] = y0->u[i] + h * y0->ud[i];
    if (cst_motion_project(w, y1, w->b, w->x) != CST_OK) return CST_NUMERIC;
    memcpy(y1->u, w->x, sizeof *y1->u * (size_t)k->nu);
    memset(y1->eta, 0, sizeof *y1->eta * (size_t)m->nrow);
    cst_kkt_spread(k, w->x + k->nu, y1->eta);
    return CST_OK;
}

static cst_status step(cst_motion *w, const cst_state *y0, double h, cst_state *y1)
{
    const cst_model *m = w->s->m;
    cst_variational *o = w->own;
    w->react_at = NULL;
    *y1->t = *y0->t + h, *y1->h = h, *y1->tag = 0;
    memcpy(y1->mem, y0->mem, sizeof *y1->mem * (size_t)m->memory.n);
    if (w->since == 0) o->factored_h = 0;
    if (!cst_newton_attempts(w, attempt, NULL, y0, h, y1)) return CST_NUMERIC;
    if (velocities(w, y0, h, y1) != CST_OK) return CST_NUMERIC;
    cst_memory_update(w->out, w->s, y1->mem);
    memcpy(y1->ud, y0->ud, sizeof *y1->ud * (size_t)m->nu);
    memcpy(y1->lambda, y1->newton, sizeof *y1->lambda * (size_t)m->nrow);
    if (cst_motion_derive_rates(w, y1) != CST_OK) return CST_NUMERIC;
    cst_motion_integrals(w, y0, h, y1);
    if (w->controls) w->error = cst_motion_error(w, y0, h, y1);
    if (w->controls && o->weight != 0.5)
        w->error = pow(w->error, 1.5); /* it falls as h^2 then, not as h^3 */
    w->n.steps++;
    return CST_OK;
}

const cst_rule cst_rule_midpoint = {
    .name = "midpoint",
    .doc = "variational midpoint rule: symplectic, keeps momenta; steps as given or by a "
           "tolerance: order 2",
    .end = 0.5,
    .adaptive = 2,
    .order = 3,
    .open = open,
    .open_adjoint = cst_variational_open_adjoint,
    .open_tangent = cst_variational_open_tangent,
    .step = step,
    .tangent = cst_variational_tangent,
    .prepare = cst_variational_prepare,
    .adjoint = cst_variational_adjoint,
};
