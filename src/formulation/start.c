/* SPDX-License-Identifier: MIT
 *
 * Assembly and rates. */
#include "formulation/start.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define LONGEST                                                                                    \
    0.5 /* of a step: rad, or sizes of the body. Far ways of small mechanisms may be longer: */
#define LINEAR                                                                                     \
    1e-3 /* if a step has left just what was expected of it, the next one is twice as long */

cst_start *cst_start_new(cst_arena *a, cst_system *s, const cst_structure *st)
{
    const cst_model *m = s->m;
    cst_start *w = cst_new(a, cst_start, 1);
    int n = m->nu + m->nrow;
    int nnz = st->assembly->pattern->nnz > st->rates->pattern->nnz ? st->assembly->pattern->nnz
                                                                   : st->rates->pattern->nnz;
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
    w->nu = cst_new(a, double, m->nu + 1);
    w->twice = cst_new(a, double, 2 * n + 1);
    w->least = cst_new(a, double, m->nu + 1);
    w->share = cst_new(a, double, m->nu + 1);
    w->stiff = cst_new(a, double, m->nu + 1);
    w->kept = cst_new(a, double, m->nu + 1);
    return w;
}

/* Names the joints that are open farthest, in sizes of their bodies: they are the ones in conflict.
 */
static cst_status cannot_assemble(cst_start *w, double t, cst_diag *d)
{
    const cst_model *m = w->s->m;
    char text[600] = "";
    size_t used = 0;
    int first = -1;
    for (int pick = 0; pick < 4; pick++) {
        int worst;
        double open =
            cst_structure_open(w->st, w->s, CST_ROW_MOTION | CST_ROW_ASSEMBLY, w->phi, &worst);
        if (worst < 0 || open < 1e-9) break;
        const cst_constraint *c = &m->constraint.at[worst];
        if (first < 0) first = worst;
        double apart = 0; /* m */
        for (int j = c->row0; j < c->row0 + c->cls->nphi; j++)
            apart = fmax(apart, fabs(w->phi[j]) / sqrt(w->st->unit[j]));
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s (%s, %.3g m)",
                                 used ? ", " : "", c->name, c->row_name, apart);
        if (used >= sizeof text) used = sizeof text - 1;
        memset(w->phi + c->row0, 0, sizeof *w->phi * (size_t)c->cls->nphi);
    }
    cst_where where = first >= 0 ? m->constraint.at[first].where : (cst_where){.file = m->file};
    return cst_error(d, CST_NUMERIC, where,
                     "t = %g s: the mechanism cannot be assembled from the drawn position; "
                     "constraints that fight: %s",
                     t, used ? text : "none is left open, but the closest position was not found");
}

cst_status cst_assemble(cst_start *w, double t, const double *mem, double *q, double *lambda,
                        cst_diag *d)
{
    cst_system *s = w->s;
    const cst_model *m = s->m;
    const cst_kkt *k = w->st->assembly;
    const double *W = w->st->weight;
    double step = 0, before = INFINITY, longest = LONGEST, expected = 0;
    const cst_kkt_coef full = {.mass = 1, .stiff = 1, .eps = w->st->start_eps},
                       gauss = {.mass = 1, .eps = w->st->start_eps};
    int exact = 0, worst;
    for (int i = 0; i < m->body.n; i++) {
        const cst_body *b = &m->body.at[i];
        memcpy(w->drawn + b->q0, s->P + b->drawn,
               sizeof *w->drawn * (size_t)(3 * b->cls->nvec + b->cls->nscalar));
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
        double open = cst_structure_open(w->st, s, k->phases, w->phi, &worst);
        if (!isfinite(open)) break;
        longest = expected > 0 && fabs(open - expected) < LINEAR * expected ? 2 * longest : LONGEST;
        if (it > 0 && open <= CST_CLOSED && exact &&
            (step < 1e-11 || (step < 1e-8 && step >= before))) {
            if (lambda) memcpy(lambda, w->lambda, sizeof *lambda * (size_t)m->nrow);
            return CST_OK;
        }
        before = it > 0 ? step : INFINITY;
        exact = open < 1e-3 && it > 0;
        cst_kkt_assemble(k, s, q, NULL, mem, exact ? w->r : NULL, exact ? w->lambda : NULL, W,
                         exact ? full : gauss, 0, 0, w->val);
        if ((it ? cst_lu_refactor : cst_lu_factor)(w->assembly, w->val) >= 0)
            break; /* keep the first pivots while they are good enough */
        for (int i = 0; i < k->n; i++) w->rhs[i] = -w->rhs[i];
        memcpy(w->sol, w->rhs, sizeof *w->sol * (size_t)k->n);
        cst_lu_solve(w->assembly, 1, w->sol);
        step = 0;
        for (int i = 0; i < k->nu; i++) step = fmax(step, fabs(w->sol[i]) / w->st->column[i]);
        double cut = step > longest ? longest / step : 1;
        expected = cut < 1 ? (1 - cut) * open : 0;
        for (int i = 0; i < k->nu; i++) w->xi[i] = cut * w->sol[i];
        cst_move(s, q, w->xi, q);
        for (int i = 0; i < k->nrow; i++) w->lambda[k->all_of[i]] += cut * w->sol[k->nu + i];
    }
    return cannot_assemble(w, t, d);
}

/* Reports the prescribed rates, and the constraint whose rate is violated most. */
static cst_status contradiction(const cst_start *w, double t, int worst, cst_diag *d)
{
    static const char head[] = "initial.velocities.";
    const cst_model *m = w->s->m;
    char list[300] = "";
    size_t used = 0;
    if (cst_structure_drives(w->st, worst, sizeof list, list) > 1)
        return cst_error(d, CST_NUMERIC, m->constraint.at[worst].where,
                         "t = %g s: drives that cannot be followed together: %s", t, list);
    list[0] = 0;
    for (int i = 0; i < m->constraint.n && used < sizeof list - 50; i++) {
        const cst_constraint *c = &m->constraint.at[i];
        const char *name = strstr(c->name, head);
        if (!(c->phases & CST_ROW_RATE) || !name) continue;
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%.40s", used ? ", " : " of ",
                                 name + sizeof head - 1);
    }
    return cst_error(d, CST_NUMERIC, m->constraint.at[worst].where,
                     "t = %g s: the prescribed rates%s contradict each other or the joints; "
                     "largest in '%s', %.3g",
                     t, list, m->constraint.at[worst].name,
                     cst_largest(m->constraint.at[worst].cls->nphi,
                                 w->phi + m->constraint.at[worst].row0));
}

/* ---- rates ---- */

#define LEAST 1e-10 /* of a body's inertia: what motions without inertia count for */
#define YIELD                                                                                      \
    1e-8 /* compliance of written rates in the matrix, in units of 1/D; iterations take it out */
#define CHANGED 1e-9 /* of the largest rate: a written rate that cannot be kept */
#define ASIDE                                                                                      \
    1e-2 /* share of rates that are not written in the metric where written ones contradict each   \
            other */

/* Written u_i, in the order of u */
static int is_written(const cst_body *b, int k)
{
    return (b->written & (k < 3 ? CST_VELOCITY : CST_SPIN)) != 0;
}

void cst_rates_measure(cst_start *w)
{
    const cst_system *s = w->s;
    const cst_model *m = s->m;
    for (int i = 0; i < m->body.n; i++) {
        const cst_body *b = &m->body.at[i];
        double mass = s->P[b->mass] > 0 ? s->P[b->mass]
                      : b->cls->nvec    ? w->st->heaviest
                                        : w->st->heaviest * s->size[i] * s->size[i];
        for (int k = 0; k < b->cls->nu; k++) {
            double D = b->cls->nvec && k >= 3 ? mass * s->size[i] * s->size[i] : mass;
            double E = w->clash && !is_written(b, k) ? ASIDE : 1;
            w->share[b->u0 + k] = E, w->least[b->u0 + k] = LEAST * E * E * D;
            w->stiff[b->u0 + k] = is_written(b, k) && !w->clash ? D / YIELD : 0;
        }
    }
}

int cst_rates_factor(cst_start *w, const double *mem, const double *q, const double *lambda,
                     int again)
{
    const cst_model *m = w->s->m;
    const cst_kkt *k = w->st->rates;
    const cst_kkt_coef c = {.mass = 1, .eps = w->st->eps};
    cst_kkt_assemble(k, w->s, q, NULL, mem, NULL, NULL, NULL, c, 0, 0, w->val);
    const cst_pattern *p = k->pattern;
    for (int j = 0; w->clash && j < k->nu; j++)
        for (int i = p->ptr[j]; i < p->ptr[j + 1] && p->row[i] < k->nu; i++)
            w->val[i] *= w->share[j] * w->share[p->row[i]];
    cst_kkt_add_rates(k, w->s, mem, lambda, w->val);
    for (int i = 0; i < m->body.n; i++) {
        const cst_body *b = &m->body.at[i];
        for (int j = b->u0; j < b->u0 + b->cls->nu; j++) {
            double *diagonal = &w->val[k->body_at[j] + j - b->u0];
            *diagonal += w->least[j];
            w->kept[j] = *diagonal;
            *diagonal += w->stiff[j];
        }
    }
    int bad = (again ? cst_lu_refactor : cst_lu_factor)(w->rates, w->val);
    for (int i = 0; i < m->body.n; i++) /* what the equations have */
        for (int j = m->body.at[i].u0; j < m->body.at[i].u0 + m->body.at[i].cls->nu; j++)
            w->val[k->body_at[j] + j - m->body.at[i].u0] = w->kept[j];
    return bad < 0;
}

void cst_rates_step(cst_start *w, int transposed, double *x, const double *s, double *nu)
{
    const cst_kkt *k = w->st->rates;
    double *b = w->twice, *y = w->twice + k->n;
    for (int i = 0; i < k->nu; i++) x[i] += w->stiff[i] * s[i];
    memcpy(b, x, sizeof *b * (size_t)k->n);
    (transposed ? cst_lu_tsolve : cst_lu_solve)(w->rates, 1, x);
    for (int pass = 0; pass < 2; pass++) { /* takes eps out, which is not small beside YIELD */
        cst_kkt_left(k, transposed, w->val, w->st->eps, b, x, y);
        for (int i = 0; i < k->nu; i++) y[i] -= w->stiff[i] * x[i];
        (transposed ? cst_lu_tsolve : cst_lu_solve)(w->rates, 1, y);
        for (int i = 0; i < k->n; i++) x[i] += y[i];
    }
    for (int i = 0; i < k->nu; i++) nu[i] = w->stiff[i] * (x[i] - s[i]);
}

void cst_rates_solve(cst_start *w, int transposed, const double *b, const double *s, double *x,
                     double *nu)
{
    const cst_kkt *k = w->st->rates;
    double *y = w->rhs, *left = w->res, *dnu = w->xi, before = INFINITY;
    memset(x, 0, sizeof *x * (size_t)k->n);
    memset(nu, 0, sizeof *nu * (size_t)k->nu);
    for (int it = 0; it < 20; it++) {
        double move = 0, size = 0;
        cst_kkt_left(k, transposed, w->val, w->st->eps, b, x, y);
        for (int i = 0; i < k->nu; i++)
            y[i] -= nu[i], left[i] = w->stiff[i] > 0 ? (s ? s[i] : 0) - x[i] : 0;
        cst_rates_step(w, transposed, y, left, dnu);
        for (int i = 0; i < k->n; i++) x[i] += y[i];
        for (int i = 0; i < k->nu; i++) {
            nu[i] += dnu[i];
            move = fmax(move, fabs(y[i]) / w->st->column[i]),
            size = fmax(size, fabs(x[i]) / w->st->column[i]);
        }
        if (!(move > 1e-16 * size) || (it > 1 && !(move < 0.3 * before) && move < 1e-10 * size))
            return;
        before = move;
    }
}

/* Has u_i, written in the file, been changed? */
static int is_changed(const cst_start *w, const double *u, const cst_body *b, int k, double largest)
{
    return is_written(b, k) &&
           fabs(u[b->u0 + k] - w->s->P[b->rate + k]) > CHANGED * largest * w->st->column[b->u0 + k];
}

static int count_changed(const cst_start *w, const double *u, double largest)
{
    int n = 0;
    for (int i = 0; i < w->s->m->body.n; i++)
        for (int k = 0; k < w->s->m->body.at[i].cls->nu; k++)
            n += is_changed(w, u, &w->s->m->body.at[i], k, largest);
    return n;
}

/* One message for each body and vector */
static void warn_changed(const cst_start *w, const double *u, double largest, cst_diag *d)
{
    static const char *const name[] = {"velocity", "angular_velocity"}, *const unit[] = {"m/s",
                                                                                         "rad/s"};
    for (int i = 0; i < w->s->m->body.n; i++) {
        const cst_body *b = &w->s->m->body.at[i];
        const double *old = w->s->P + b->rate, *now = u + b->u0;
        for (int k = 0; k < b->cls->nu; k += 3) {
            int n = 0;
            for (int j = k; j < k + 3 && j < b->cls->nu; j++) n += is_changed(w, u, b, j, largest);
            if (n && b->cls->nvec)
                cst_warn(
                    d, b->where,
                    "the joints and the other rates do not allow %s of '%s' as written: [%.5g, "
                    "%.5g, %.5g] becomes [%.5g, %.5g, %.5g] %s, the least change by kinetic energy",
                    name[k / 3], b->name, old[k], old[k + 1], old[k + 2], now[k], now[k + 1],
                    now[k + 2], unit[k / 3]);
            else if (n)
                cst_warn(d, b->where,
                         "the joints and the other rates do not allow the rate of '%s' as written: "
                         "%.5g becomes %.5g",
                         b->name, *old, *now);
        }
    }
}

static double largest_rate(const cst_start *w, const double *u)
{
    double y = 0;
    for (int i = 0; i < w->s->m->nu; i++) y = fmax(y, fabs(u[i]) / w->st->column[i]);
    return y;
}

/* Residuals of the rates' problem at u: rhs = -(balance, rows), left = -(written rates) */
static void rates_residual(cst_start *w, const double *mem, const double *q, const double *u,
                           const double *ud, double *left)
{
    cst_system *s = w->s;
    const cst_model *m = s->m;
    const cst_kkt *k = w->st->rates;
    cst_T(s, q, u, w->d);
    cst_system_rates(s, w->d);
    memset(w->phi, 0, sizeof *w->phi * (size_t)m->nrow);
    cst_constraints_rate(s, mem, CST_ROW_MOTION, w->phi);
    cst_constraints_apply(s, mem, CST_ROW_MOTION, s->xd, w->phi);
    cst_constraints(s, mem, CST_ROW_RATE, w->phi);
    for (int i = 0; i < m->nu; i++) w->xi[i] = w->share[i] * (u[i] - ud[i]);
    cst_T(s, q, w->xi, w->d);
    memset(w->r, 0, sizeof *w->r * (size_t)m->nq);
    cst_mass_add(s, NULL, w->d, 1, w->r);
    cst_T_transpose(s, q, w->r, w->xi);
    memset(s->fx, 0, sizeof *s->fx * (size_t)m->nx);
    memset(w->r, 0, sizeof *w->r * (size_t)m->nq);
    cst_reactions_add(s, mem, w->lambda, k->phases, s->fx, NULL);
    cst_slots_transpose(s, s->fx, w->r);
    cst_T_transpose(s, q, w->r, w->rhs);
    cst_kkt_gather(k, w->phi, w->rhs + k->nu);
    for (int i = 0; i < k->nu; i++) {
        w->rhs[i] += w->share[i] * w->xi[i] + w->least[i] * (u[i] - ud[i]) + w->nu[i];
        left[i] = w->stiff[i] > 0 ? ud[i] - u[i] : 0;
    }
    for (int i = 0; i < k->n; i++) w->rhs[i] = -w->rhs[i];
}

/* The constraint whose rate is violated most, in sizes of its bodies, and by how much */
static double broken_rate(const cst_start *w, int *worst)
{
    const cst_model *m = w->s->m;
    double open = 0;
    *worst = -1;
    for (int i = 0; i < m->constraint.n; i++) {
        const cst_constraint *e = &m->constraint.at[i];
        for (int j = e->row0;
             (e->phases & (CST_ROW_MOTION | CST_ROW_RATE)) && j < e->row0 + e->cls->nphi; j++)
            if (fabs(w->phi[j]) / w->st->reach[j] > open)
                open = fabs(w->phi[j]) / w->st->reach[j], *worst = i;
    }
    return open;
}

/* CST_USAGE: the written rates contradict each other */
static cst_status find_rates(cst_start *w, double t, const double *mem, const double *q, double *u,
                             double *eta, cst_diag *d)
{
    cst_system *s = w->s;
    const cst_model *m = s->m;
    const cst_kkt *k = w->st->rates;
    double *ud = w->drawn + m->nq, before = INFINITY;
    const double slowest =
        1 / fmax(m->sim.end - m->sim.start, m->sim.step); /* a size, or 1 rad, in the whole run */
    for (int i = 0; i < m->body.n; i++)
        memcpy(ud + m->body.at[i].u0, s->P + m->body.at[i].rate,
               sizeof *ud * (size_t)m->body.at[i].cls->nu);
    memcpy(u, ud, sizeof *u * (size_t)m->nu);
    memset(w->lambda, 0, sizeof *w->lambda * (size_t)m->nrow);
    memset(w->nu, 0, sizeof *w->nu * (size_t)m->nu);
    cst_system_place(s, t, q);
    cst_slots_blocks(s, q);
    cst_rates_measure(w);
    for (int it = 0; it < 30; it++) {
        rates_residual(w, mem, q, u, ud, w->res);
        if (!cst_rates_factor(w, mem, q, w->lambda, it > 0)) break;
        memcpy(w->sol, w->rhs, sizeof *w->sol * (size_t)k->n);
        cst_rates_step(w, 0, w->sol, w->res, w->xi);
        double step = largest_rate(w, w->sol), size;
        for (int i = 0; i < m->nu; i++) u[i] += w->sol[i], w->nu[i] += w->xi[i];
        for (int i = 0; i < k->nrow; i++) w->lambda[k->all_of[i]] += w->sol[k->nu + i];
        if (!isfinite(step)) break;
        size = slowest + largest_rate(w, u);
        int still =
            step <= 1e-14 * size ||
            (it >= 3 && (step < 1e-12 * size || (step < 1e-9 * size && step > 0.3 * before)));
        before = step;
        if (!still) continue;
        int worst;
        double open = broken_rate(w, &worst);
        if (worst >= 0 && open > 1e-8 * size) return contradiction(w, t, worst, d);
        if (!w->clash && count_changed(w, u, size)) return CST_USAGE;
        if (w->clash) warn_changed(w, u, size, d);
        if (eta) memcpy(eta, w->lambda, sizeof *eta * (size_t)m->nrow);
        return CST_OK;
    }
    return cst_error(d, CST_NUMERIC,
                     m->initial_where.line ? m->initial_where : (cst_where){.file = m->file},
                     "t = %g s: no rates satisfy the joints and the prescribed rates", t);
}

/* Written rates are kept if the joints allow it. */
cst_status cst_rates(cst_start *w, double t, const double *mem, const double *q, double *u,
                     double *eta, cst_diag *d)
{
    w->clash = 0;
    cst_status ok = find_rates(w, t, mem, q, u, eta, d);
    if (ok != CST_USAGE) return ok;
    w->clash = 1;
    return find_rates(w, t, mem, q, u, eta, d);
}
