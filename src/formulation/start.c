/* SPDX-License-Identifier: MIT
 *
 * Assembly and rates. */
#include "formulation/start.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define LONGEST 0.5 /* of a step: rad, or lengths of the model. Far ways of small mechanisms may be longer: */
#define LINEAR 1e-3 /* if a step has left just what was expected of it, the next one is twice as long */

cst_start *cst_start_new(cst_arena *a, cst_system *s, const cst_structure *st)
{
    const cst_model *m = s->m;
    cst_start *w = cst_new(a, cst_start, 1);
    int n = m->nu + m->nrow;
    int nnz = st->assembly->pattern->nnz > st->rates->pattern->nnz ? st->assembly->pattern->nnz : st->rates->pattern->nnz;
    w->s = s, w->st = st;
    if (st->assembly_lu) w->assembly = cst_lu_twin(a, st->assembly_lu, 0);
    if (st->rates_lu) w->rates = cst_lu_twin(a, st->rates_lu, 0);
    w->val = cst_new(a, double, nnz + 1);
    w->rhs = cst_new(a, double, n + 1);
    w->sol = cst_new(a, double, n + 1);
    w->res = cst_new(a, double, n + 1);
    w->r = cst_new(a, double, m->nq + 1);
    w->d = cst_new(a, double, m->nq + 1);
    w->drawn = cst_new(a, double, m->nq + m->nu + 1);
    w->phi = cst_new(a, double, m->nrow + 1);
    w->lambda = cst_new(a, double, m->nrow + 1);
    w->xi = cst_new(a, double, m->nu + 1);
    return w;
}

/* Names the constraints with the largest residuals: they are the ones in conflict. */
static cst_status cannot_assemble(cst_start *w, double t, cst_diag *d)
{
    const cst_model *m = w->s->m;
    char text[600] = "";
    size_t used = 0;
    int first = -1;
    for (int pick = 0; pick < 4; pick++) {
        int best = -1;
        double most = 1e-9 * w->s->length;
        for (int i = 0; i < m->constraint.n; i++) {
            const cst_constraint *c = &m->constraint.at[i];
            double e = cst_largest(c->cls->nphi, w->phi + c->row0);
            if ((c->phases & (CST_ROW_MOTION | CST_ROW_ASSEMBLY)) && !(e <= most)) best = i, most = e;
        }
        if (best < 0) break;
        const cst_constraint *c = &m->constraint.at[best];
        if (first < 0) first = best;
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s (%s, %.3g)", used ? ", " : "", c->name,
                                 c->row_name, most);
        if (used >= sizeof text) used = sizeof text - 1;
        memset(w->phi + c->row0, 0, sizeof *w->phi * (size_t)c->cls->nphi);
    }
    cst_where where = first >= 0 ? m->constraint.at[first].where : (cst_where){.file = m->file};
    return cst_error(d, CST_NUMERIC, where,
                     "t = %g s: the mechanism cannot be assembled from the drawn position; constraints that fight: %s", t,
                     used ? text : "none is left open, but the closest position was not found");
}

cst_status cst_assemble(cst_start *w, double t, const double *mem, double *q, double *lambda, cst_diag *d)
{
    cst_system *s = w->s;
    const cst_model *m = s->m;
    const cst_kkt *k = w->st->assembly;
    const double *W = w->st->weight;
    double close = 1e-12 * fmax(1, s->length * s->length), step = 0, before = INFINITY, longest = LONGEST, expected = 0;
    const cst_kkt_coef full = {.mass = 1, .stiff = 1, .eps = w->st->start_eps}, gauss = {.mass = 1, .eps = w->st->start_eps};
    int exact = 0;
    for (int i = 0; i < m->body.n; i++) {
        const cst_body *b = &m->body.at[i];
        memcpy(w->drawn + b->q0, s->P + b->drawn, sizeof *w->drawn * (size_t)(3 * b->cls->nvec + b->cls->nscalar));
    }
    memset(w->lambda, 0, sizeof *w->lambda * (size_t)m->nrow);
    memset(w->phi, 0, sizeof *w->phi * (size_t)m->nrow);
    cst_system_rest(s);
    for (int it = 0; it < 100; it++) {
        cst_system_place(s, t, q);
        cst_slots_blocks(s, q);
        cst_constraints(s, mem, k->phases, w->phi);
        for (int i = 0; i < m->nq; i++) w->d[i] = q[i] - w->drawn[i], w->r[i] = 0;
        cst_mass_add(s, W, w->d, 1, w->r);
        memset(s->fx, 0, sizeof *s->fx * (size_t)m->nx);
        cst_reactions_add(s, mem, w->lambda, k->phases, s->fx, NULL);
        cst_slots_transpose(s, s->fx, w->r);
        cst_T_transpose(s, q, w->r, w->rhs);
        cst_kkt_gather(k, w->phi, w->rhs + k->nu);
        double open = cst_largest(k->nrow, w->rhs + k->nu);
        if (!isfinite(open)) break;
        longest = expected > 0 && fabs(open - expected) < LINEAR * expected ? 2 * longest : LONGEST;
        if (it > 0 && open <= close && exact && (step < 1e-11 || (step < 1e-8 && step >= before))) {
            if (lambda) memcpy(lambda, w->lambda, sizeof *lambda * (size_t)m->nrow);
            return CST_OK;
        }
        before = it > 0 ? step : INFINITY;
        exact = open < 1e-3 * s->length && it > 0;
        cst_kkt_assemble(k, s, q, NULL, mem, exact ? w->r : NULL, exact ? w->lambda : NULL, W, exact ? full : gauss, 0, 0,
                         w->val);
        if ((it ? cst_lu_refactor : cst_lu_factor)(w->assembly, w->val) >= 0) break; /* keep the first pivots while they are good enough */
        for (int i = 0; i < k->n; i++) w->rhs[i] = -w->rhs[i];
        memcpy(w->sol, w->rhs, sizeof *w->sol * (size_t)k->n);
        cst_lu_solve(w->assembly, 1, w->sol);
        step = 0;
        for (int i = 0; i < k->nu; i++) step = fmax(step, fabs(w->sol[i] * (w->st->column[i] == 1 ? 1 : 1 / s->length)));
        double cut = step > longest ? longest / step : 1;
        expected = cut < 1 ? (1 - cut) * open : 0;
        for (int i = 0; i < k->nu; i++) w->xi[i] = cut * w->sol[i];
        cst_move(s, q, w->xi, q);
        for (int i = 0; i < k->nrow; i++) w->lambda[k->all_of[i]] += cut * w->sol[k->nu + i];
    }
    return cannot_assemble(w, t, d);
}

/* Reports the prescribed rates, and the constraint whose rate is violated most. */
static cst_status contradiction(const cst_model *m, double t, int worst, double open, cst_diag *d)
{
    static const char head[] = "initial.velocities.";
    char list[300] = "";
    size_t used = 0;
    for (int i = 0; i < m->constraint.n && used < sizeof list - 50; i++) {
        const cst_constraint *c = &m->constraint.at[i];
        const char *name = strstr(c->name, head);
        if (!(c->phases & CST_ROW_RATE) || !name) continue;
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%.40s", used ? ", " : " of ", name + sizeof head - 1);
    }
    return cst_error(d, CST_NUMERIC, m->constraint.at[worst].where,
                     "t = %g s: the prescribed rates%s contradict each other or the joints; largest in '%s', %.3g", t, list,
                     m->constraint.at[worst].name, open);
}

cst_status cst_rates(cst_start *w, double t, const double *mem, const double *q, double *u, double *eta, cst_diag *d)
{
    cst_system *s = w->s;
    const cst_model *m = s->m;
    const cst_kkt *k = w->st->rates;
    const double *W = w->st->weight;
    double *ud = w->drawn + m->nq;
    const cst_kkt_coef c = {.mass = 1, .eps = w->st->start_eps};
    for (int i = 0; i < m->body.n; i++)
        memcpy(ud + m->body.at[i].u0, s->P + m->body.at[i].rate, sizeof *ud * (size_t)m->body.at[i].cls->nu);
    memcpy(u, ud, sizeof *u * (size_t)m->nu);
    memset(w->lambda, 0, sizeof *w->lambda * (size_t)m->nrow);
    cst_system_place(s, t, q);
    cst_slots_blocks(s, q);
    for (int it = 0; it < 20; it++) {
        cst_T(s, q, u, w->d);
        cst_system_rates(s, w->d);
        memset(w->phi, 0, sizeof *w->phi * (size_t)m->nrow);
        cst_constraints_rate(s, mem, CST_ROW_MOTION, w->phi);
        cst_constraints_apply(s, mem, CST_ROW_MOTION, s->xd, w->phi);
        cst_constraints(s, mem, CST_ROW_RATE, w->phi);
        for (int i = 0; i < m->nu; i++) w->xi[i] = u[i] - ud[i];
        cst_T(s, q, w->xi, w->d);
        memset(w->r, 0, sizeof *w->r * (size_t)m->nq);
        cst_mass_add(s, W, w->d, 1, w->r);
        memset(s->fx, 0, sizeof *s->fx * (size_t)m->nx);
        cst_reactions_add(s, mem, w->lambda, k->phases, s->fx, NULL);
        cst_slots_transpose(s, s->fx, w->r);
        cst_T_transpose(s, q, w->r, w->rhs);
        cst_kkt_gather(k, w->phi, w->rhs + k->nu);
        for (int i = 0; i < k->n; i++) w->rhs[i] = -w->rhs[i];
        cst_kkt_assemble(k, s, q, NULL, mem, NULL, NULL, W, c, 0, 0, w->val);
        cst_kkt_add_rates(k, s, mem, w->lambda, w->val);
        int bad = (it ? cst_lu_refactor : cst_lu_factor)(w->rates, w->val);
        if (bad >= 0) break;
        memcpy(w->sol, w->rhs, sizeof *w->sol * (size_t)k->n);
        cst_lu_solve(w->rates, 1, w->sol);
        double step = cst_largest(m->nu, w->sol), size = cst_largest(m->nu, u);
        for (int i = 0; i < m->nu; i++) u[i] += w->sol[i];
        for (int i = 0; i < k->nrow; i++) w->lambda[k->all_of[i]] += w->sol[k->nu + i];
        if (!isfinite(step)) break;
        if (step <= 1e-14 * (1 + size) || (it >= 3 && step < 1e-11 * (1 + size))) {
            double open = 0;
            int worst = -1;
            for (int i = 0; i < m->constraint.n; i++) {
                const cst_constraint *e = &m->constraint.at[i];
                if (!(e->phases & (CST_ROW_MOTION | CST_ROW_RATE))) continue;
                double y = cst_largest(e->cls->nphi, w->phi + e->row0);
                if (y > open) open = y, worst = i;
            }
            if (worst >= 0 && open > 1e-8 * (1 + size))
                return contradiction(m, t, worst, open, d);
            if (eta) memcpy(eta, w->lambda, sizeof *eta * (size_t)m->nrow);
            return CST_OK;
        }
    }
    return cst_error(d, CST_NUMERIC, m->initial_where.line ? m->initial_where : (cst_where){.file = m->file},
                     "t = %g s: no rates satisfy the joints and the prescribed rates", t);
}
