/* SPDX-License-Identifier: MIT */
#include "integrator/runge_kutta.h"

#include <math.h>
#include <string.h>

void cst_rk_open(cst_arena *a, cst_motion *w, const cst_tableau *t)
{
    const cst_model *m = w->s->m;
    cst_rk *rk = w->own = cst_new(a, cst_rk, 1);
    rk->t = t;
    rk->q = cst_new(a, double, m->nq + 1);
    rk->v_sum = cst_new(a, double, m->nq + 1);
    w->stage = cst_new(a, cst_motion *, t->stages);
    for (int i = 0; i < t->stages; i++) {
        rk->v[i] = cst_new(a, double, m->nq + 1);
        rk->a[i] = cst_new(a, double, m->nq + 1);
        if (!i) continue;
        rk->y[i] = cst_state_view(m, cst_new(a, double, cst_state_size(m)));
        rk->stage[i] = cst_prepared_new(a, cst_motion_new(a, w->s, w->st, w->out));
        w->stage[w->nstage++] = rk->stage[i]->w;
        rk->stage[i]->w->eq = w->eq, rk->stage[i]->w->charts = w->charts;
        if (w->charts) rk->stage[i]->w->chart = cst_chart_work_new(a, rk->stage[i]->w);
    }
}

void cst_settle(const cst_system *s, double *q)
{
    for (int i = 0; i < s->m->body.n; i++) {
        const cst_body *b = &s->m->body.at[i];
        if (b->cls->settle) b->cls->settle(q + b->q0);
    }
}

void cst_settle_change(const cst_system *s, const double *q, double *dq)
{
    double dq1[3 * CST_MAX_NU];
    for (int i = 0; i < s->m->body.n; i++) {
        const cst_body *b = &s->m->body.at[i];
        if (!b->cls->settle) continue;
        b->cls->settle_dot(q + b->q0, dq + b->q0, dq1);
        memcpy(dq + b->q0, dq1, sizeof *dq * (size_t)(3 * b->cls->nvec + b->cls->nscalar));
    }
}

/* y = y0 + h sum_j c_j k_j over the first n stages; at the time and with the remembered values of y
 */
static cst_status sum(cst_motion *w, const cst_state *y0, double h, const double *c, int n,
                      const cst_state *y)
{
    const cst_model *m = w->s->m;
    cst_rk *rk = w->own;
    const cst_chart *ch = cst_chart_at(w->charts, *y0->t);
    memcpy(rk->q, y0->q, sizeof *rk->q * (size_t)m->nq),
        memcpy(y->u, y0->u, sizeof *y->u * (size_t)m->nu);
    memcpy(y->z, y0->z, sizeof *y->z * (size_t)m->nz),
        memcpy(y->quad, y0->quad, sizeof *y->quad * (size_t)m->quad.n);
    memcpy(rk->v_sum, rk->v[0], sizeof *rk->v_sum * (size_t)m->nq);
    for (int j = 0; j < n; j++) {
        const cst_state *k = j ? &rk->y[j] : y0;
        double f = h * c[j];
        if (f == 0) continue;
        for (int i = 0; i < m->nq; i++) rk->q[i] += f * rk->v[j][i];
        for (int i = 0; !ch && i < m->nu; i++) y->u[i] += f * k->ud[i];
        for (int i = 0; ch && i < m->nq; i++) rk->v_sum[i] += f * rk->a[j][i];
        for (int i = 0; i < m->nz; i++) y->z[i] += f * k->zd[i];
        for (int i = 0; i < m->quad.n; i++) y->quad[i] += f * k->qd[i];
    }
    memcpy(y->q, rk->q, sizeof *y->q * (size_t)m->nq);
    if (!ch) return CST_OK;
    cst_settle(w->s, y->q);
    return cst_chart_project(w, ch, *y->t, y->mem, rk->q, rk->v_sum, y->q, y->u);
}

/* q' and q'' of stage i at y */
static void rates_of(cst_motion *w, int i, const cst_state *y)
{
    cst_rk *rk = w->own;
    cst_T(w->s, y->q, y->u, rk->v[i]);
    if (!w->charts) return;
    cst_T(w->s, y->q, y->ud, rk->a[i]);
    cst_L_add(w->s, rk->v[i], y->u, rk->a[i]);
}

cst_status cst_rk_stages(cst_motion *w, const cst_state *y0, double h)
{
    const cst_model *m = w->s->m;
    cst_rk *rk = w->own;
    const cst_tableau *t = rk->t;
    rates_of(w, 0, y0);
    for (int i = 1; i < t->stages; i++) {
        const cst_state *y = &rk->y[i], *before = i > 1 ? &rk->y[i - 1] : y0;
        *y->t = *y0->t + t->c[i] * h, *y->h = 0, *y->tag = 0;
        memcpy(y->mem, y0->mem, sizeof *y->mem * (size_t)m->memory.n);
        memcpy(y->ud, before->ud, sizeof *y->ud * (size_t)m->nu); /* a guess */
        memcpy(y->lambda, before->lambda, sizeof *y->lambda * (size_t)m->nrow);
        if (sum(w, y0, h, t->a[i], i, y) != CST_OK) return CST_NUMERIC;
        if (cst_motion_derive_from(w, &rk->y[i]) != CST_OK) return CST_NUMERIC;
        rates_of(w, i, y);
    }
    return CST_OK;
}

static double fastest(const cst_motion *w, double h, const cst_state *y)
{
    double most = w->slow;
    for (int i = 0; i < w->s->m->nu; i++)
        most = fmax(most, (fabs(y->u[i]) + h * fabs(y->ud[i])) / w->st->column[i]);
    return most;
}

static double largest(const cst_motion *w, const double *x)
{
    double most = 0;
    for (int i = 0; i < w->s->m->nu; i++) most = fmax(most, fabs(x[i]) / w->st->column[i]);
    return most;
}

/* Independent coordinates: only their errors are known, and all others follow from them. A
 * coordinate that is nearly stationary while its body turns (cos s at s = 0) has a small error but
 * large errors in the coordinates that depend on it. */
static double charted_error(cst_motion *w, const cst_chart *ch, const cst_state *y1, double h)
{
    const cst_model *m = w->s->m;
    cst_rk *rk = w->own;
    memset(rk->q, 0, sizeof *rk->q * (size_t)m->nq),
        memset(rk->v_sum, 0, sizeof *rk->v_sum * (size_t)m->nq);
    for (int j = 0; j < rk->t->stages; j++)
        for (int i = 0; i < m->nq; i++)
            rk->q[i] += h * rk->t->e[j] * rk->v[j][i],
                rk->v_sum[i] += h * rk->t->e[j] * rk->a[j][i];
    double positions = largest(w, cst_chart_follow(w, ch, y1->q, rk->q));
    return fmax(positions,
                largest(w, cst_chart_follow(w, ch, y1->q, rk->v_sum)) / fastest(w, h, y1));
}

/* Largest error of the step relative to the tolerance: positions against the typical size of the
 * model, directions against 1, rates against the largest one; at rest against the rate that the
 * step produces, but at least against w->slow, because a motion that starts as a power of time is
 * never small against the rate it produces from rest */
static double error_of(cst_motion *w, const cst_state *y0, const cst_state *y1, double h)
{
    const cst_model *m = w->s->m;
    const cst_rk *rk = w->own;
    const cst_chart *ch = cst_chart_at(w->charts, *y0->t);
    if (ch) return charted_error(w, ch, y1, h) / w->accuracy;
    double worst = 0, most = fastest(w, h, y1);
    for (int i = 0; i < m->nq + m->nu; i++) {
        int rate = i >= m->nq, u = i - m->nq;
        double e = 0;
        for (int j = 0; j < rk->t->stages; j++)
            e += rk->t->e[j] * (rate ? (j ? rk->y[j].ud : y0->ud)[u] : rk->v[j][i]);
        double size = rate ? w->st->column[u] * most : w->st->ambient[i];
        worst = fmax(worst, fabs(h * e) / size);
    }
    return worst / w->accuracy;
}

/* The state y whose t and mem are set is the sum with weights b; derived from it what follows. */
static cst_status close_sum(cst_motion *w, const cst_state *y0, double h, const double *b,
                            cst_state *y)
{
    const cst_model *m = w->s->m;
    const cst_rk *rk = w->own;
    const cst_state *last = &rk->y[rk->t->stages - 1];
    if (sum(w, y0, h, b, rk->t->stages, y) != CST_OK) return CST_NUMERIC;
    if (!w->charts) cst_settle(w->s, y->q);
    cst_system_place(w->s, *y->t, y->q);
    cst_memory_update(w->out, w->s, y->mem);
    memcpy(y->ud, last->ud, sizeof *y->ud * (size_t)m->nu); /* guesses */
    memcpy(y->lambda, last->lambda, sizeof *y->lambda * (size_t)m->nrow);
    memset(y->newton, 0, sizeof *y->newton * (size_t)m->nrow),
        memset(y->eta, 0, sizeof *y->eta * (size_t)m->nrow);
    return cst_motion_derive_from(w, y);
}

cst_status cst_rk_step(cst_motion *w, const cst_state *y0, double h, cst_state *y1)
{
    const cst_rk *rk = w->own;
    w->react_at = NULL;
    if (cst_rk_stages(w, y0, h) != CST_OK) return CST_NUMERIC;
    *y1->t = *y0->t + h, *y1->h = h, *y1->tag = 0;
    memcpy(y1->mem, y0->mem, sizeof *y1->mem * (size_t)w->s->m->memory.n);
    if (close_sum(w, y0, h, rk->t->b, y1) != CST_OK) return CST_NUMERIC;
    if (w->controls) w->error = error_of(w, y0, y1, h);
    w->n.steps++;
    return CST_OK;
}

/* ---- the rules ---- */

static const cst_tableau classic = {
    .stages = 4,
    .c = {0, 0.5, 0.5, 1},
    .a = {{0}, {0.5}, {0, 0.5}, {0, 0, 1}},
    .b = {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6},
};

/* Dormand and Prince, J. Comput. Appl. Math. 6 (1980) 19-26: fifth order, error by the embedded
 * fourth-order rule. The seventh stage is the new state before it is settled. */
static const cst_tableau dormand_prince = {
    .stages = 7,
    .c = {0, 1.0 / 5, 3.0 / 10, 4.0 / 5, 8.0 / 9, 1, 1},
    .a = {{0},
          {1.0 / 5},
          {3.0 / 40, 9.0 / 40},
          {44.0 / 45, -56.0 / 15, 32.0 / 9},
          {19372.0 / 6561, -25360.0 / 2187, 64448.0 / 6561, -212.0 / 729},
          {9017.0 / 3168, -355.0 / 33, 46732.0 / 5247, 49.0 / 176, -5103.0 / 18656},
          {35.0 / 384, 0, 500.0 / 1113, 125.0 / 192, -2187.0 / 6784, 11.0 / 84}},
    .b = {35.0 / 384, 0, 500.0 / 1113, 125.0 / 192, -2187.0 / 6784, 11.0 / 84, 0},
    .e = {71.0 / 57600, 0, -71.0 / 16695, 71.0 / 1920, -17253.0 / 339200, 22.0 / 525, -1.0 / 40},
};

/* Its continuous extension of order 4 (Shampine, Math. Comp. 46 (1986) 135-150): y(t0 + theta h) =
 * y0 + h sum b_j(theta) k_j, which meets y0, y1 and their rates */
static cst_status inside(cst_motion *w, const cst_state *y0, double h, double theta, cst_state *y)
{
    static const double c[CST_STAGES][4] = {/* of theta ... theta^4 */
                                            {1, -183.0 / 64, 37.0 / 12, -145.0 / 128},
                                            {0},
                                            {0, 1500.0 / 371, -1000.0 / 159, 1000.0 / 371},
                                            {0, -125.0 / 32, 125.0 / 12, -375.0 / 64},
                                            {0, 9477.0 / 3392, -729.0 / 106, 25515.0 / 6784},
                                            {0, -11.0 / 7, 11.0 / 3, -55.0 / 28},
                                            {0, 3.0 / 2, -4, 5.0 / 2}};
    double b[CST_STAGES];
    for (int j = 0; j < CST_STAGES; j++)
        b[j] = theta * (c[j][0] + theta * (c[j][1] + theta * (c[j][2] + theta * c[j][3])));
    *y->t = *y0->t + theta * h, *y->h = 0, *y->tag = 0;
    memcpy(y->mem, y0->mem, sizeof *y->mem * (size_t)w->s->m->memory.n);
    return close_sum(w, y0, h, b, y);
}

static void open_classic(cst_arena *a, cst_motion *w) { cst_rk_open(a, w, &classic); }
static void open_dormand_prince(cst_arena *a, cst_motion *w) { cst_rk_open(a, w, &dormand_prince); }

const cst_rule cst_rule_rk4 = {
    .name = "rk4",
    .doc = "the classic explicit Runge-Kutta rule, fixed step: order 4",
    .open = open_classic,
    .open_adjoint = cst_rk_open_adjoint,
    .open_tangent = cst_rk_open_tangent,
    .step = cst_rk_step,
    .tangent = cst_rk_tangent,
    .prepare = cst_rk_prepare,
    .adjoint = cst_rk_adjoint,
};

const cst_rule cst_rule_rk45 = {
    .name = "rk45",
    .doc = "explicit Runge-Kutta 5(4) of Dormand and Prince; steps chosen by its error, frozen in "
           "the derivative",
    .adaptive = 1,
    .order = 5,
    .open = open_dormand_prince,
    .open_adjoint = cst_rk_open_adjoint,
    .open_tangent = cst_rk_open_tangent,
    .step = cst_rk_step,
    .inside = inside,
    .tangent = cst_rk_tangent,
    .prepare = cst_rk_prepare,
    .adjoint = cst_rk_adjoint,
};
