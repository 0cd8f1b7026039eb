/* SPDX-License-Identifier: MIT */
#include "sensitivity/concern.h"

#include <math.h>
#include <string.h>

#include "integrator/switching.h"
#include "integrator/traj.h"
#include "number/op.h"
#include "sensitivity/asked.h"
#include "sensitivity/direction.h"

#define BESIDE 1e-10   /* of the largest change of the same operands: rounding of slopes */
#define CLEAR 1e3      /* of the rounding of what vanishes: a change that is none of rounding */
#define ROUNDING 1e-12 /* of a time */
#define ALIKE 1e-6     /* of the largest influence: sides that differ by less are one */
#define UNSEEN 1e-9    /* of the terms: a sum that is rounding */
enum { NAMED = 3 };    /* numbers in a message */

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
    const double rate = fabs(cst_run_event_rate(r, &y, x->k));
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
        c->err.at[i] +=
            cst_spread((int)n) *
            cst_guard_bars(c->r, event, k, x->kind == CST_INCIDENT_RESTS_AT_START && x->other, &y);
        add_bars(c->r->m, cst_spread((int)n), event, ad, column);
    }
}

void cst_concern_numbers(cst_concern *c, int o, const double *val)
{
    const cst_graph *g = c->r->m->graph;
    const size_t nleaf = (size_t)cst_graph_leaves(g);
    if (!c->op) return;
    cst_arena *a = cst_arena_child(&c->r->arena);
    memcpy(c->bar, val, sizeof *val * (size_t)cst_graph_values(g));
    memset(c->kinked->seen, 0, (size_t)cst_graph_values(g));
    cst_deciding(c->r, a, o, c->kinked->seen);
    cst_graph_kinked(g, c->r->s->val, c->bar, c->kinked);
    memcpy(c->op + (size_t)o * nleaf, c->kinked->op, sizeof *c->op * nleaf);
    cst_arena_free(a);
}

/* ---- who is concerned ---- */

/* The least |slope| size that is a change: of the operands' rounding, and beside the largest of
 * all, because the slopes have a rounding of their own */
static double least_change(const cst_concern *c, int i, const double *size)
{
    const int nleaf = cst_graph_leaves(c->r->m->graph);
    const double *slope = c->slope + (size_t)c->column[i] * (size_t)nleaf;
    double err = 0, largest = 0;
    if (c->found.list.at[i].kind == CST_INCIDENT_GRAZED) return 0; /* any rounding counts there */
    for (int k = 0; k < c->found.list.n; k++)
        if (c->column[k] == c->column[i]) err += c->err.at[k];
    for (int k = 0; k < nleaf; k++)
        if (isfinite(slope[k])) largest = fmax(largest, fabs(slope[k]) * size[k]);
    return fmax(CLEAR * err, BESIDE * largest);
}

static int reads(const cst_concern *c, int o, int i)
{
    const cst_incident *x = &c->found.list.at[i];
    if (cst_incident_table[x->kind].of == CST_OF_OBJECTIVE) return x->k == o;
    return c->until[o] > x->t;
}

static void raise(cst_effect *e, cst_effect to)
{
    if (*e == CST_EXACT || *e == CST_NO_EFFECT || (*e == CST_ONE_SIDED && to == CST_NOT_SMOOTH))
        *e = to;
}

typedef struct subject {
    const char *name;
    cst_where where;
} subject;

static subject subject_of(const cst_model *m, const cst_incident *x)
{
    switch (cst_incident_table[x->kind].of) {
    case CST_OF_EVENT:
        return (subject){m->event.at[x->k].name, m->event.at[x->k].where};
    case CST_OF_FORCE:
        return (subject){m->force.at[x->k].name, m->force.at[x->k].where};
    case CST_OF_OBJECTIVE:
        break;
    }
    return (subject){m->objective.at[x->k].name, m->objective.at[x->k].where};
}

/* "'a', 'b', 'c' and 2 more numbers" */
static const char *names(const cst_model *m, cst_arena *a, const int *moved, int n)
{
    const char *text = "";
    for (int i = 0; i < n && i < NAMED; i++)
        text = cst_arena_printf(a, "%s%s'%s'", text, i ? ", " : "", m->leaf.at[moved[i]].name);
    return n > NAMED ? cst_arena_printf(a, "%s and %d more numbers", text, n - NAMED) : text;
}

static void tell(const cst_concern *c, cst_arena *a, const cst_incident *x, const int *moved, int n,
                 cst_diag *d)
{
    const cst_incident_class *of = &cst_incident_table[x->kind];
    const cst_model *m = c->r->m;
    const subject s = subject_of(m, x);
    const char *other = "", *words = of->words;
    if (x->kind == CST_INCIDENT_ORDERED && strcmp(m->event.at[x->other].name, s.name) == 0)
        words = "switches twice at the same instant, and the order matters";
    else if (x->kind == CST_INCIDENT_ORDERED)
        other = cst_arena_printf(a, " and '%s'", m->event.at[x->other].name);
    if (of->effect == CST_EXACT)
        cst_warn(d, s.where, "t = %.6g s: '%s' %s", x->t, s.name, of->words);
    else
        cst_warn(d, s.where, "t = %.6g s: '%s'%s %s: with respect to %s %s", x->t, s.name, other,
                 words, names(m, a, moved, n),
                 of->effect == CST_ONE_SIDED ? "slopes are those of one side"
                                             : "there is no derivative");
}

/* The largest influence of a number on objective o */
static double largest_influence(const cst_concern *c, const double *size, const double *slope,
                                int o)
{
    const int nleaf = cst_graph_leaves(c->r->m->graph);
    double largest = 0;
    for (int i = 0; i < nleaf; i++) {
        const double influence = fabs(slope[(size_t)o * (size_t)nleaf + (size_t)i]) * size[i];
        if (isfinite(influence)) largest = fmax(largest, influence);
    }
    return largest;
}

/* One incident: the numbers that it concerns, in moved; how many. change (leaves): of its operands,
 * by the size of each number; NULL: not known */
static int raise_by(const cst_concern *c, int k, const double *change, const double *largest, int n,
                    const int *number, cst_effect *effect, int *moved)
{
    const int nobj = c->r->m->objective.n;
    int nmoved = 0;
    for (int i = 0; i < n; i++) {
        int any = 0;
        for (int o = 0; o < nobj; o++) {
            cst_effect *e = &effect[o * n + i];
            const double apart = c->apart[k * nobj + o];
            if (!reads(c, o, k) || (*e != CST_EXACT && *e != CST_NO_EFFECT && *e != CST_ONE_SIDED))
                continue;
            if (change &&
                !(change[number[i]] > 0 && apart * change[number[i]] > ALIKE * largest[o]))
                continue;
            raise(e, cst_incident_table[c->found.list.at[k].kind].effect);
            any = 1;
        }
        if (any) moved[nmoved++] = number[i];
    }
    return nmoved;
}

/* change (leaves): of the operands of incident k by the size of each number; 0: what is rounding */
static void find_change(const cst_concern *c, int k, const double *size, double *change)
{
    const int nleaf = cst_graph_leaves(c->r->m->graph);
    const double *slope = c->slope + (size_t)c->column[k] * (size_t)nleaf;
    const double least = least_change(c, k, size);
    for (int i = 0; i < nleaf; i++) {
        const double x = fabs(slope[i]) * size[i];
        change[i] = x > least ? x : isfinite(x) ? 0 : INFINITY;
    }
}

/* Numbers that stand on the kink of an operation of numbers */
static void raise_numbers(const cst_concern *c, int n, const int *number, cst_effect *effect,
                          cst_diag *d)
{
    const cst_model *m = c->r->m;
    for (int i = 0; i < n && c->op; i++) {
        const cst_leaf *p = &m->leaf.at[number[i]];
        const char *op = NULL;
        for (int o = 0; o < m->objective.n; o++) {
            const char *by = c->op[(size_t)o * (size_t)m->leaf.n + (size_t)number[i]];
            if (!by) continue;
            raise(&effect[o * n + i], cst_op_has_sides(by) ? CST_ONE_SIDED : CST_NOT_SMOOTH);
            op = by;
        }
        if (op)
            cst_warn(d, p->where, "'%s' is on the kink of %s: %s", p->name, op,
                     cst_op_has_sides(op) ? "slopes with respect to it are those of one side"
                                          : "there is no derivative with respect to it");
    }
}

void cst_concern_raise(const cst_concern *c, const double *size, const double *slope, int n,
                       const int *number, cst_effect *effect, cst_diag *d)
{
    const cst_model *m = c->r->m;
    cst_arena *a = cst_arena_child(&c->r->arena);
    int *moved = cst_new(a, int, n + 1);
    double *change = cst_new(a, double, m->leaf.n + 1);
    double *largest = cst_new(a, double, m->objective.n + 1);
    for (int o = 0; o < m->objective.n && c->slope; o++)
        largest[o] = largest_influence(c, size, slope, o);
    for (int k = 0; k < c->found.list.n; k++) {
        int nmoved = 0;
        if (c->column[k] >= 0 && c->slope) find_change(c, k, size, change);
        if (c->column[k] >= 0)
            nmoved = raise_by(c, k, c->slope ? change : NULL, largest, n, number, effect, moved);
        if (nmoved || c->column[k] < 0) tell(c, a, &c->found.list.at[k], moved, nmoved, d);
    }
    raise_numbers(c, n, number, effect, d);
    cst_arena_free(a);
}
