/* SPDX-License-Identifier: MIT
 *
 * Incidents, the operands that vanish there, and their columns in the backward sweep. */
#include "sensitivity/concern.h"

#include <math.h>
#include <string.h>

#include "integrator/switching.h"
#include "integrator/traj.h"
#include "sensitivity/asked.h"
#include "sensitivity/direction.h"

#define ROUNDING 1e-12 /* of a time */
#define SHORT 1e-9     /* of the step asked for */
#define UNSEEN 1e-9    /* of the terms: a sum that is rounding */

/* ---- which incidents there are ---- */

/* Does the motion jump across the switch of event k at state n? Where it does not, a law has a kink
 * there: one that is left at once leaves no trace in slopes. */
static int crosses_jump(cst_run *r, cst_arena *a, int k, long n)
{
    cst_state other = cst_state_view(r->m, cst_new(a, double, cst_state_size(r->m)));
    const cst_state y = cst_run_state(r, n);
    const double mode = y.mem[r->m->event.at[k].memory];
    return cst_run_other_side(r, &y, k, mode > 0.5 ? 0 : 1, &other) &&
           cst_run_sides_differ(r, &y, &other);
}

/* Does event k leave its switch at the start with a rate that shows within a step? */
static int leaves_at_start(cst_run *r, int k)
{
    const cst_state y = cst_run_state(r, 0);
    const double rate = cst_run_event_rate(r, &y, k);
    cst_rest_errors(r);
    return fabs(rate) * r->options.step > r->events->err[r->events->tape->out[k]];
}

/* How far apart both modes of event k are at state n, in their accelerations and rates of states;
 * 0: there is no other mode */
static double apart(cst_run *r, cst_arena *a, int k, long n)
{
    const cst_model *m = r->m;
    cst_state other = cst_state_view(m, cst_new(a, double, cst_state_size(m)));
    const cst_state y = cst_run_state(r, n);
    const double mode = y.mem[m->event.at[k].memory];
    double most = 0;
    if (!cst_run_other_side(r, &y, k, mode > 0.5 ? 0 : 1, &other)) return 0;
    for (int i = 0; i < m->nu; i++) most = fmax(most, fabs(other.ud[i] - y.ud[i]));
    for (int i = 0; i < m->nz; i++) most = fmax(most, fabs(other.zd[i] - y.zd[i]));
    for (int i = 0; i < m->quad.n; i++) most = fmax(most, fabs(other.qd[i] - y.qd[i]));
    return most;
}

/* Event k leaves its switch at the start with t^2: it comes at tau = sqrt(2 dg/g'') if it is moved
 * by dg. Rates that are apart by r t until then, as those of a damper that is pressed into, add up
 * to r tau^2/2: that is of the order of dg, and to one side only. Those of a spring, by r t^2, do
 * not. */
static int parts_linearly(cst_run *r, cst_arena *a, int k)
{
    if (r->traj->n < 3) return 1;
    const double t[2] = {*cst_run_state(r, 1).t - *cst_run_state(r, 0).t,
                         *cst_run_state(r, 2).t - *cst_run_state(r, 0).t};
    const double d[2] = {apart(r, a, k, 1), apart(r, a, k, 2)};
    return d[1] < pow(t[1] / t[0], 1.5) * d[0];
}

/* The state that the first event of the instant of state n ends */
static long first_of_instant(const cst_run *r, long n)
{
    long first = n;
    double h = 0, tag = cst_traj_tag(r->traj, n, &h);
    while (n > 0 && (tag < 0 || tag >= 1)) {
        if (tag >= 1) first = n;
        if (h > 0) break;
        tag = cst_traj_tag(r->traj, --n, &h);
    }
    return first;
}

/* Keeps what a slope can see of an incident of the motion */
static void take(cst_concern *c, cst_arena *a, cst_incident x)
{
    cst_run *r = c->r;
    const int of_event = cst_incident_table[x.kind].of == CST_OF_EVENT;
    if (of_event && r->events_mode != CST_EVENTS_EXACT) return;
    switch (x.kind) {
    case CST_INCIDENT_STARTS: {
        const int jump = crosses_jump(r, a, x.k, 0), leaves = leaves_at_start(r, x.k);
        if (!jump && (leaves || !parts_linearly(r, a, x.k))) return;
        if (!leaves) x.kind = CST_INCIDENT_RESTS_AT_START;
        x.other = jump;
        break;
    }
    case CST_INCIDENT_STAYS:
        x.other = crosses_jump(r, a, x.k, x.first);
        break;
    case CST_INCIDENT_TOUCHED:
    case CST_INCIDENT_GRAZED:
        if (!crosses_jump(r, a, x.k, x.first)) return;
        break;
    case CST_INCIDENT_ORDERED: /* the second event at the state that the first one ends */
        x.first = x.last = first_of_instant(r, x.first);
        x.k = x.other;
        x.other = (int)*cst_run_state(r, x.first).tag - 1;
        break;
    default:
        break;
    }
    *cst_push(a, &c->found.list) = x;
}

static int has_operands(const cst_incident *x)
{
    return cst_incident_table[x->kind].effect != CST_EXACT;
}

/* Operands of operations in the objectives: functionals and numbers */
static void seed_objectives(cst_concern *c)
{
    const cst_model *m = c->r->m;
    const cst_tape *t = c->r->objective;
    for (int i = 0; i < c->goal.n; i++) {
        const cst_operand *x = &c->goal.at[i];
        const size_t column = (size_t)c->column[x->incident];
        double *fbar = c->fbar + column * (size_t)m->functional.n;
        double *val = c->val + column * (size_t)cst_graph_values(m->graph);
        if (x->reg < t->nchannel)
            fbar[t->channel[x->reg].index] += x->weight;
        else
            val[t->number[x->reg - t->nchannel]] += x->weight;
    }
}

cst_concern *cst_concern_new(cst_arena *a, cst_run *r)
{
    const cst_model *m = r->m;
    const cst_incidents *motion = &r->events->incidents;
    cst_concern *c = cst_new(a, cst_concern, 1);
    c->r = r;
    c->a = a;
    c->until = cst_new(a, double, m->objective.n + 1);
    if (r->samples) return c;
    for (int i = 0; i < motion->list.n; i++) take(c, a, motion->list.at[i]);
    cst_reads_find(c, a);
    while (c->err.n < c->found.list.n) *cst_push(a, &c->err) = 0;
    c->column = cst_new(a, int, c->found.list.n + 1);
    c->apart = cst_new(a, double, c->found.list.n * m->objective.n + 1);
    for (int i = 0; i < c->found.list.n * m->objective.n; i++) c->apart[i] = INFINITY;
    for (int i = 0; i < 2; i++)
        c->side[i] = cst_state_view(m, cst_new(a, double, cst_state_size(m)));
    c->seen = cst_new(a, double, 2 * (m->objective.n + CST_CONCERN_COLUMNS + 1));
    int n = 0;
    for (int i = 0; i < c->found.list.n; i++)
        c->column[i] = has_operands(&c->found.list.at[i]) ? n++ % CST_CONCERN_COLUMNS : -1;
    c->ncolumn = n < CST_CONCERN_COLUMNS ? n : CST_CONCERN_COLUMNS;
    if (!r->w->rule->adjoint) return c;
    if (cst_graph_on_kink(m->graph, r->s->val)) {
        const size_t marks = (size_t)m->objective.n * (size_t)cst_graph_leaves(m->graph);
        c->op = cst_new(a, const char *, marks + 1);
        c->kinked = cst_kinked_new(a, m->graph);
        c->bar = cst_new(a, double, cst_graph_values(m->graph) + 1);
    }
    if (!n) return c;
    const size_t all = (size_t)c->ncolumn;
    c->fbar = cst_new(a, double, all *(size_t)m->functional.n + 1);
    c->val = cst_new(a, double, all *(size_t)cst_graph_values(m->graph) + 1);
    c->slope = cst_new(a, double, all *(size_t)cst_graph_leaves(m->graph) + 1);
    c->next = c->operand.n;
    seed_objectives(c);
    return c;
}

/* ---- on the way back ---- */

void cst_concern_outputs(cst_concern *c, cst_output *o, int first, long n)
{
    const size_t nreg = (size_t)o->tape->nreg;
    for (; c->next > 0 && c->operand.at[c->next - 1].n >= n; c->next--) {
        const cst_operand *x = &c->operand.at[c->next - 1];
        const size_t column = (size_t)(first + c->column[x->incident]);
        if (x->n == n) o->operand[column * nreg + (size_t)x->reg] += x->weight;
        o->operands = 1;
    }
}

static void add(int n, double w, const double *x, double *y)
{
    for (int i = 0; i < n; i++) y[i] += w * x[i];
}

/* Column `to` += w times the bars of a guard of the motion */
static void add_bars(const cst_model *m, double w, const cst_adjoint *x, cst_adjoint *ad, size_t to)
{
    const int nval = cst_graph_values(m->graph);
    add(m->nq, w, x->q, ad->q + to * (size_t)m->nq);
    add(m->nu, w, x->u, ad->u + to * (size_t)m->nu);
    add(m->nz, w, x->z, ad->z + to * (size_t)m->nz);
    add(m->bound.n, w, x->P, ad->P + to * (size_t)m->bound.n);
    add(nval, w, x->val, ad->val + to * (size_t)nval);
    ad->t[to] += w * x->t[0];
}

/* The value among those of events and kinks that vanishes; -1: none */
static int guard_of(const cst_concern *c, const cst_incident *x)
{
    switch (cst_incident_table[x->kind].of) {
    case CST_OF_EVENT:
        return x->k;
    case CST_OF_FORCE:
        return c->r->events->n + x->other;
    case CST_OF_OBJECTIVE:
        break;
    }
    const int at_event = x->kind == CST_INCIDENT_READS_JUMP || x->kind == CST_INCIDENT_READS_CORNER;
    return at_event && x->other < CST_ELSEWHERE ? x->other : -1;
}

static cst_guard_at guard_at(const cst_incident *x)
{
    if (x->kind == CST_INCIDENT_RESTS_AT_START && x->other) return CST_GUARD_RESTS_AT_JUMP;
    if (x->kind == CST_INCIDENT_STAYS && x->other) return CST_GUARD_MOVES;
    const int rests = x->kind == CST_INCIDENT_STAYS || x->kind == CST_INCIDENT_RESTS_AT_START;
    return rests ? CST_GUARD_RESTS : CST_GUARD_MOVES;
}

/* An `at` whose instant meets an event, which moves against it: the time of the event less its own
 */
static void seed_instant(cst_concern *c, cst_adjoint *ad, size_t column, int i)
{
    const cst_incident *x = &c->found.list.at[i];
    const cst_run *r = c->r;
    const cst_functional *f = &r->m->functional.at[x->other - CST_ELSEWHERE];
    ad->t[column] += 1;
    if (f->kind == CST_AT && f->time >= 0)
        ad->val[column * (size_t)cst_graph_values(r->m->graph) + (size_t)f->time] -= 1;
    c->err.at[i] += ROUNDING * fmax(fabs(x->t), r->options.step);
}

/* psi_bar . (rates of the state): += share of it, and of the sum of its terms without signs */
static void add_product(int n, const double *bar, const double *rate, double share, double *sum,
                        double *size)
{
    for (int i = 0; i < n; i++) {
        *sum += share * bar[i] * rate[i];
        *size += fabs(bar[i] * rate[i]);
    }
}

/* What each objective makes of the rates at y: a drive determines velocities, not accelerations. */
static void add_rates(cst_concern *c, const cst_adjoint *ad, const cst_state *y, int drive,
                      double share)
{
    cst_run *r = c->r;
    const cst_model *m = r->m;
    cst_T(r->s, y->q, y->u, r->events->v);
    for (size_t k = 0; k < (size_t)ad->n; k++) {
        double *sum = &c->seen[2 * k], *size = &c->seen[2 * k + 1];
        add_product(m->nq, ad->q + k * (size_t)m->nq, r->events->v, share, sum, size);
        if (!drive) add_product(m->nu, ad->u + k * (size_t)m->nu, y->ud, share, sum, size);
        add_product(m->nz, ad->z + k * (size_t)m->nz, y->zd, share, sum, size);
        add_product(m->quad.n, ad->quad + k * (size_t)m->quad.n, y->qd, share, sum, size);
    }
}

static int flip(cst_run *r, const cst_state *y, int k, cst_state *to)
{
    return cst_run_other_side(r, y, k, y->mem[r->m->event.at[k].memory] > 0.5 ? 0 : 1, to);
}

/* A guard that is moved lets the motion stay a little longer in one of its modes: whoever sees it
 * sees
 *
 *     psi_bar . (f_ - f)    or, of two events at once,    psi_bar . (f_00 + f_11 - f_10 - f_01)
 *
 * by the time dg/g' that it takes. */
static void look_at_modes(cst_concern *c, const cst_adjoint *ad, int i, int first,
                          const int *objective, long n)
{
    cst_run *r = c->r;
    const cst_incident *x = &c->found.list.at[i];
    const int two = x->kind == CST_INCIDENT_ORDERED && x->other != x->k,
              drive = r->events->of_drive[x->k];
    const cst_state y = cst_run_state(r, n);
    const int grazed =
        x->kind == CST_INCIDENT_GRAZED; /* its slopes are rounding over a rate of zero */
    const double rate = grazed ? 0 : fabs(cst_run_event_rate(r, &y, x->k));
    memset(c->seen, 0, 2 * sizeof *c->seen * (size_t)ad->n);
    if (!flip(r, &y, x->k, &c->side[0])) return;
    add_rates(c, ad, &y, drive, 1);
    add_rates(c, ad, &c->side[0], drive, -1);
    if (two && flip(r, &c->side[0], x->other, &c->side[1])) add_rates(c, ad, &c->side[1], drive, 1);
    if (two && flip(r, &y, x->other, &c->side[1])) add_rates(c, ad, &c->side[1], drive, -1);
    for (int k = 0; k < first; k++) {
        const int o = objective ? objective[k] : k;
        const double sum = c->seen[2 * k], size = c->seen[2 * k + 1];
        c->apart[i * r->m->objective.n + o] =
            fabs(sum) > UNSEEN * size ? fabs(sum) / (rate * cst_spread((int)n)) : 0;
    }
}

/* Incidents at which the motion crosses a jump: whoever does not see the jump does not see them */
static int crosses(const cst_incident *x)
{
    return x->kind == CST_INCIDENT_STARTS || x->kind == CST_INCIDENT_TOUCHED ||
           x->kind == CST_INCIDENT_GRAZED || x->kind == CST_INCIDENT_ORDERED;
}

void cst_concern_state(cst_concern *c, cst_adjoint *ad, cst_adjoint *event, int first,
                       const int *objective, long n)
{
    for (int i = 0; i < c->found.list.n; i++) {
        const cst_incident *x = &c->found.list.at[i];
        if (c->column[i] < 0 || n < x->first || n > x->last) continue;
        const size_t column = (size_t)(first + c->column[i]);
        const int k = guard_of(c, x);
        const int at_event =
            x->kind == CST_INCIDENT_READS_JUMP || x->kind == CST_INCIDENT_READS_CORNER;
        if (k < 0 && at_event) seed_instant(c, ad, column, i);
        if (k < 0) continue;
        if (crosses(x)) look_at_modes(c, ad, i, first, objective, n);
        const cst_state y = cst_run_state(c->r, n);
        if (*y.h > 0 && *y.h < SHORT * c->r->options.step) continue; /* its rates are rounding */
        c->err.at[i] += cst_spread((int)n) * cst_guard_bars(c->r, event, k, guard_at(x), &y);
        add_bars(c->r->m, cst_spread((int)n), event, ad, column);
    }
}

void cst_concern_numbers(cst_concern *c, int o, const double *val)
{
    const cst_graph *g = c->r->m->graph;
    const size_t nleaf = (size_t)cst_graph_leaves(g);
    if (!c->op) return;
    cst_arena *a = cst_arena_child(c->a);
    memcpy(c->bar, val, sizeof *val * (size_t)cst_graph_values(g));
    memset(c->kinked->seen, 0, (size_t)cst_graph_values(g));
    cst_deciding(c->r, a, o, c->kinked->seen);
    cst_graph_kinked(g, c->r->s->val, c->bar, c->kinked);
    memcpy(c->op + (size_t)o * nleaf, c->kinked->op, sizeof *c->op * nleaf);
    cst_arena_free(a);
}
