/* SPDX-License-Identifier: MIT
 *
 * An objective reads a kink where an operation of its outputs is on one to rounding, and it depends
 * on that operation
 *
 *     at a state where a functional is read,  in an integrand over a whole step,  or in the
 * objective itself.
 *
 * An integrand that is on a kink at a single state is not such a case: the integral has a
 * derivative. */
#include "sensitivity/concern.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "integrator/observe.h"
#include "integrator/switching.h"
#include "integrator/traj.h"
#include "sensitivity/asked.h"
#include "sensitivity/direction.h"
#include "sensitivity/rounding.h"

#define AT_END 1e-9 /* of a step: an event this near to the end of the run is there */
#define SAME 1e-8   /* rates that are equal but for rounding */

typedef struct look {
    cst_concern *c;
    cst_run *r;
    cst_arena *a;
    cst_rounding known;
    double *fbar;            /* (objectives x functionals) */
    double *bar;             /* (registers) */
    unsigned char *derived;  /* (functionals) */
    cst_tangent *along;      /* the motion itself */
    unsigned char *integral; /* (objectives x integrals) 1: the objective reads it */
    unsigned char *on, *was, *stays,
        *seen; /* (instructions) on a kink now, before, both, and seen */
} look;

static int add(look *l, cst_incident_kind kind, int o, int other, long n)
{
    const double t = *cst_run_state(l->r, n).t;
    const int i = cst_incident_add(l->a, &l->c->found, (cst_incident){kind, o, other, n, n, t});
    while (l->c->err.n <= i) *cst_push(l->a, &l->c->err) = 0;
    return i;
}

/* Of several kinks at once the run may have taken sides that do not belong together. */
static cst_incident_kind kind_of(const cst_code *c, int seen)
{
    return seen == 1 && cst_code_has_sides(c) ? CST_INCIDENT_READS_KINK : CST_INCIDENT_READS_POINT;
}

/* Instructions in l->seen as incidents of objective o at state n, with their operands */
static void add_seen(look *l, int seen, int o, long n)
{
    const cst_output *out = l->r->out;
    const cst_tape *t = out->tape;
    for (int i = 0; i < t->ncode; i++) {
        if (!l->seen[i]) continue;
        const int x = add(l, kind_of(&t->code[i], seen), o, i, n);
        memset(l->bar, 0, sizeof *l->bar * (size_t)t->nreg);
        l->c->err.at[x] += cst_tape_operands(t, out->reg, l->known.err, l->on, i, l->bar);
        for (int reg = 0; reg < t->nreg; reg++)
            if (l->bar[reg] != 0)
                *cst_push(l->a, &l->c->operand) = (cst_operand){n, x, reg, l->bar[reg]};
    }
}

/* Is state n among those that share the peak of a functional? */
static int shares_peak(const cst_functional_state *f, long n)
{
    int among = f->ties && n == f->state;
    for (int k = 0; k < f->ties && k < CST_TIES; k++) among |= n == f->tie[k];
    return among;
}

static void look_at_functionals(look *l, int o, long n)
{
    const cst_run *r = l->r;
    const cst_tape *t = r->out->tape;
    memset(l->bar, 0, sizeof *l->bar * (size_t)t->nreg);
    for (int i = 0; i < r->m->functional.n; i++) {
        const double bar = l->fbar[o * r->m->functional.n + i];
        double share = cst_functional_share(r, i, n, r->traj->n - 1);
        if (shares_peak(&r->functional[i], n)) share = 1;
        if (bar != 0 && share != 0) l->bar[t->out[r->out->functional + i]] += bar * share;
    }
    const int seen = cst_tape_seen(t, r->out->reg, l->known.err, l->on, l->bar, l->seen);
    if (seen) add_seen(l, seen, o, n);
}

static void look_at_integrands(look *l, int o, long n)
{
    const cst_run *r = l->r;
    const cst_tape *t = r->out->tape;
    memset(l->bar, 0, sizeof *l->bar * (size_t)t->nreg);
    for (int q = 0; q < r->m->quad.n; q++)
        if (l->integral[o * r->m->quad.n + q]) l->bar[t->out[r->out->quad + q]] = 1;
    for (int i = 0; i < r->m->held.n; i++) l->bar[t->out[r->out->held + i]] = 1; /* of forces */
    const int seen = cst_tape_seen(t, r->out->reg, l->known.err, l->stays, l->bar, l->seen);
    if (seen) add_seen(l, seen, o, n);
}

/* x(t_1) - x(t_k) of a peak that several states share */
static void look_at_tie(look *l, int o, int i, long n)
{
    const cst_run *r = l->r;
    const cst_functional_state *f = &r->functional[i];
    const int reg = r->out->tape->out[r->out->functional + i];
    double w = 0;
    if (!shares_peak(f, n)) return;
    const int x = add(l, CST_INCIDENT_PEAKS_TIE, o, i, f->state);
    for (int k = 0; k < f->ties && k < CST_TIES; k++)
        w += cst_spread(k) * ((n == f->state) - (n == f->tie[k]));
    *cst_push(l->a, &l->c->operand) = (cst_operand){n, x, reg, w};
    l->c->err.at[x] += fabs(w) * l->known.err[reg];
}

static void look_at_state(look *l, long n)
{
    cst_run *r = l->r;
    const cst_tape *t = r->out->tape;
    cst_state y = cst_run_state(r, n);
    int stay = 0;
    cst_observe_outputs(r, &y);
    cst_rounding_state(&l->known);
    const int any = cst_tape_on_kink(t, r->out->reg, l->known.err, l->on);
    for (int i = 0; i < t->ncode; i++) {
        l->stays[i] = n > 0 && *y.h > 0 && l->on[i] && l->was[i];
        stay |= l->stays[i];
    }
    for (int o = 0; any && o < r->m->objective.n; o++) {
        look_at_functionals(l, o, n);
        if (stay) look_at_integrands(l, o, n);
    }
    for (int o = 0; o < r->m->objective.n; o++)
        for (int i = 0; i < r->m->functional.n; i++)
            if (l->fbar[o * r->m->functional.n + i] != 0) look_at_tie(l, o, i, n);
    cst_rounding_add(&l->known, n, *y.h);
    memcpy(l->was, l->on, (size_t)t->ncode);
}

/* ---- the objectives themselves ---- */

/* row (integrals) = 1: those whose running value output `out` reads, at any depth */
static void integrals_of(const cst_output *o, int out, unsigned char *reach, unsigned char *row)
{
    const cst_tape *t = o->tape;
    cst_tape_reach(t, out, reach);
    for (int i = 0; i < t->nchannel; i++)
        if (t->channel[i].kind == CST_CH_QUAD && reach[i]) row[t->channel[i].index] |= 1;
}

/* The root of an integral that is zero, as of a mean square, vanishes with its integrand at each
 * state. */
static void add_integrand(look *l, int x, int functional)
{
    const cst_run *r = l->r;
    const cst_tape *t = r->out->tape;
    unsigned char *reach = cst_new(l->a, unsigned char, t->nreg + 1);
    unsigned char *row = cst_new(l->a, unsigned char, r->m->quad.n + 1);
    integrals_of(r->out, r->out->functional + functional, reach, row);
    cst_rounding known = cst_rounding_new(l->a, l->r);
    for (long n = 0; n < r->traj->n; n++) {
        const cst_state y = cst_run_state(l->r, n);
        cst_observe_outputs(l->r, &y);
        cst_rounding_state(&known);
        memset(l->bar, 0, sizeof *l->bar * (size_t)t->nreg);
        for (int q = 0; q < r->m->quad.n; q++)
            if (row[q])
                l->c->err.at[x] +=
                    cst_tape_zeros(t, r->out->reg, known.err, t->out[r->out->quad + q], l->bar);
        for (int reg = 0; reg < t->nreg; reg++)
            if (l->bar[reg] != 0)
                *cst_push(l->a, &l->c->operand) = (cst_operand){n, x, reg, l->bar[reg]};
    }
}

static int by_state(const void *x, const void *y)
{
    const cst_operand *a = x, *b = y;
    return (a->n > b->n) - (a->n < b->n);
}

/* Instruction i of the objectives, which objective o sees on its kink */
static void add_goal(look *l, int seen, int o, int i, const double *err, const unsigned char *on)
{
    cst_run *r = l->r;
    const cst_tape *t = r->objective;
    double *bar = r->objective_bar;
    const int x = add(l, kind_of(&t->code[i], seen), o, CST_ELSEWHERE + i, r->traj->n - 1);
    memset(bar, 0, sizeof *bar * (size_t)t->nreg);
    l->c->err.at[x] += cst_tape_operands(t, r->objective_reg, err, on, i, bar);
    cst_tape_reverse(t, r->objective_reg, bar);
    for (int reg = 0; reg < t->nchannel + t->nnumber; reg++) {
        if (bar[reg] == 0) continue;
        *cst_push(l->a, &l->c->goal) = (cst_operand){-1, x, reg, bar[reg]};
        if (reg < t->nchannel && r->objective_reg[reg] <= err[reg] &&
            !cst_code_has_sides(&t->code[i]))
            add_integrand(l, x, t->channel[reg].index);
    }
}

static void look_at_objectives(look *l)
{
    cst_run *r = l->r;
    const cst_tape *t = r->objective;
    const double *err = cst_rounding_objectives(&l->known, l->a);
    double *bar = r->objective_bar;
    unsigned char *on = cst_new(l->a, unsigned char, t->ncode + 1);
    if (!cst_tape_on_kink(t, r->objective_reg, err, on)) return;
    l->seen = cst_new(l->a, unsigned char, t->ncode + 1);
    for (int o = 0; o < r->m->objective.n; o++) {
        memset(bar, 0, sizeof *bar * (size_t)t->nreg);
        bar[t->out[o]] = 1;
        const int seen = cst_tape_seen(t, r->objective_reg, err, on, bar, l->seen);
        for (int i = 0; i < t->ncode && seen; i++)
            if (l->seen[i]) add_goal(l, seen, o, i, err, on);
    }
    qsort(l->c->operand.at, (size_t)l->c->operand.n, sizeof *l->c->operand.at, by_state);
}

/* ---- what is read at events ---- */

/* Does objective o read something at state n, only if it is `derived` (an acceleration, a force)?
 */
static int reads_at(const look *l, int o, long n, int derived)
{
    const cst_run *r = l->r;
    int any = 0;
    for (int i = 0; i < r->m->functional.n; i++)
        any |= l->fbar[o * r->m->functional.n + i] != 0 && (l->derived[i] || !derived) &&
               cst_functional_share(r, i, n, r->traj->n - 1) != 0;
    return any;
}

/* Of the functionals at y */
static void values(look *l, const cst_state *y, double *value)
{
    const cst_run *r = l->r;
    cst_observe_outputs(l->r, y);
    for (int i = 0; i < r->m->functional.n; i++)
        value[i] = cst_output_value(r->out, r->out->functional + i);
}

/* ... and their rates along the motion */
static void values_and_rates(look *l, const cst_state *y, double *value, double *rate)
{
    cst_run *r = l->r;
    values(l, y, value);
    cst_motion_forget(r->w);
    cst_observe_rates(r, l->along, y);
    cst_motion_forget(r->w);
    for (int i = 0; i < r->m->functional.n; i++)
        rate[i] = cst_output_change(r->out, r->out->functional + i);
}

/* What objective o reads at state n: does it jump between y and other, or go on at another rate? */
static void look_at_sides(look *l, int o, int k, long n, const cst_state *y, const cst_state *other)
{
    const cst_run *r = l->r;
    const int nf = r->m->functional.n;
    double *value = cst_new(l->a, double, 4 * nf + 1);
    int jump = 0, bend = 0;
    values_and_rates(l, y, value, value + nf);
    values_and_rates(l, other, value + 2 * nf, value + 3 * nf);
    for (int i = 0; i < nf; i++) {
        if (l->fbar[o * nf + i] == 0 || cst_functional_share(r, i, n, r->traj->n - 1) == 0)
            continue;
        const double *rate = value + nf + i;
        jump |= cst_functional_jumps(&r->functional[i], value[i], value[2 * nf + i]);
        bend |= fabs(rate[0] - rate[2 * nf]) > SAME * (fabs(rate[0]) + fabs(rate[2 * nf])) &&
                fabs(rate[0] - rate[2 * nf]) * r->options.step > SAME * r->functional[i].largest;
    }
    if (jump || bend) add(l, jump ? CST_INCIDENT_READS_JUMP : CST_INCIDENT_READS_CORNER, o, k, n);
}

static double other_mode(const cst_run *r, const cst_state *y, int k)
{
    return y->mem[r->m->event.at[k].memory] > 0.5 ? 0 : 1;
}

/* Events at the very end of the run, which would change something if it went on */
static void look_at_end(look *l)
{
    cst_run *r = l->r;
    cst_events *e = r->events;
    const long last = r->traj->n - 1;
    cst_state other = cst_state_view(r->m, cst_new(l->a, double, cst_state_size(r->m)));
    for (int k = 0; k < e->n && r->events_mode == CST_EVENTS_EXACT; k++) {
        const cst_state y = cst_run_state(r, last);
        const double rate = cst_run_event_rate(r, &y, k);
        if (rate == 0 || fabs(e->value[k]) > AT_END * fabs(rate) * r->options.step) continue;
        if (!cst_run_other_side(r, &y, k, other_mode(r, &y, k), &other)) continue;
        for (int o = 0; o < r->m->objective.n; o++)
            if (reads_at(l, o, last, 0)) look_at_sides(l, o, k, last, &y, &other);
    }
}

/* Events and kinks of laws at the start, of which accelerations and forces there are read */
static void look_at_start(look *l)
{
    cst_run *r = l->r;
    cst_events *e = r->events;
    cst_state other = cst_state_view(r->m, cst_new(l->a, double, cst_state_size(r->m)));
    for (int o = 0; o < r->m->objective.n; o++) {
        if (!reads_at(l, o, 0, 1)) continue;
        for (int k = 0; k < e->n + e->nkink; k++) {
            const cst_state y = cst_run_state(r, 0);
            cst_events_eval(e, r->s, *y.t, y.q, y.u, y.z, y.mem);
            cst_rest_errors(r);
            const double err = e->err[e->tape->out[k]];
            if (cst_event_distance(e, r->m, k, e->value[k]) > fmin(CST_NEAR_KINK, 1e3 * err))
                continue;
            int jump = 0;
            if (k >= e->n && !cst_rest_on_kink(r, k - e->n, &y)) continue;
            if (k < e->n && cst_run_other_side(r, &y, k, other_mode(r, &y, k), &other))
                jump = cst_run_sides_differ(r, &y, &other);
            add(l, jump ? CST_INCIDENT_READS_JUMP : CST_INCIDENT_READS_CORNER, o, k, 0);
        }
    }
}

/* Functionals that read what is derived from a state */
static void find_derived(look *l)
{
    const cst_run *r = l->r;
    const cst_tape *t = r->out->tape;
    unsigned char *reach = cst_new(l->a, unsigned char, t->nreg + 1);
    l->derived = cst_new(l->a, unsigned char, r->m->functional.n + 1);
    for (int i = 0; i < r->m->functional.n; i++) {
        cst_tape_reach(t, r->out->functional + i, reach);
        for (int k = 0; k < t->nchannel; k++) {
            const cst_channel *c = &t->channel[k];
            l->derived[i] |=
                reach[k] && (c->kind == CST_CH_FORCE || c->kind == CST_CH_REACT ||
                             c->kind == CST_CH_SYSTEM || (c->kind == CST_CH_X && c->order == 2));
        }
    }
}

/* The events of a state at the end of a step, and the states before it at the same instant: is more
 * than one of them what a peak there depends on? first: the state that the earliest one ended */
static int events_of_instant(const cst_run *r, long n, long *first)
{
    int met = 0;
    double h, tag = cst_traj_tag(r->traj, n, &h);
    while (n + 1 < r->traj->n) { /* to the end of the instant */
        const double next = cst_traj_tag(r->traj, n + 1, &h);
        if (h > 0 || !(next < 0 || next >= 1)) break;
        n++;
    }
    for (; n > 0; n--) {
        tag = cst_traj_tag(r->traj, n, &h);
        if (!(tag < 0 || tag >= 1)) break;
        if (tag >= 1) met++, *first = n;
        if (h > 0) break;
    }
    return met;
}

/* A peak at an instant of several events, of which more than one changes it, jumps with numbers
 * that move them apart. */
static void look_at_peak(look *l, int o, int i)
{
    cst_run *r = l->r;
    const cst_functional_state *f = &r->functional[i];
    cst_state other = cst_state_view(r->m, cst_new(l->a, double, cst_state_size(r->m)));
    double *value = cst_new(l->a, double, 2 * r->m->functional.n + 1);
    long first = f->state;
    int deciding = 0, last = 0;
    if (r->events_mode != CST_EVENTS_EXACT || f->state <= 0) return;
    if (events_of_instant(r, f->state, &first) < 2) return;
    for (long n = first; n < r->traj->n; n++) {
        double h;
        const double tag = cst_traj_tag(r->traj, n, &h);
        if (n > first && h > 0) break;
        if (tag < 1) continue;
        const cst_state y = cst_run_state(r, f->state);
        if (!cst_run_other_side(r, &y, (int)tag - 1, other_mode(r, &y, (int)tag - 1), &other))
            continue;
        values(l, &y, value);
        values(l, &other, value + r->m->functional.n);
        if (!cst_functional_jumps(f, value[i], value[r->m->functional.n + i])) continue;
        deciding++;
        last = (int)tag - 1;
    }
    if (deciding > 1) add(l, CST_INCIDENT_READS_JUMP, o, last, first);
}

/* An `at` at the instant of an event: the state before it and the one behind it are both there. */
static void look_at_instant(look *l, int o, int i)
{
    cst_run *r = l->r;
    const long n = r->functional[i].switched;
    cst_state y0, y1;
    cst_run_pair(r, n, &y0, &y1);
    const int before = l->c->found.list.n;
    look_at_sides(l, o, CST_ELSEWHERE + i, n - 1, &y0, &y1);
    for (int k = before; k < l->c->found.list.n; k++) {
        cst_incident *x = &l->c->found.list.at[k];
        if (r->functional[i].torn) x->kind = CST_INCIDENT_READS_JUMP;
    }
}

static void look_at_instants(look *l)
{
    const cst_run *r = l->r;
    for (int o = 0; o < r->m->objective.n; o++)
        for (int i = 0; i < r->m->functional.n; i++) {
            const cst_functional_state *f = &r->functional[i];
            if (l->fbar[o * r->m->functional.n + i] == 0) continue;
            if (r->m->functional.at[i].kind == CST_PEAK) look_at_peak(l, o, i);
            if (r->m->functional.at[i].kind == CST_AT && f->switched > 0) look_at_instant(l, o, i);
            if (r->m->functional.at[i].kind == CST_END && f->torn)
                add(l, CST_INCIDENT_READS_JUMP, o, CST_ELSEWHERE + i, r->traj->n - 1);
        }
}

/* ---- all of them ---- */

static void find_integrals(look *l)
{
    const cst_run *r = l->r;
    const cst_model *m = r->m;
    unsigned char *reach = cst_new(l->a, unsigned char, r->out->tape->nreg + 1);
    for (int o = 0; o < m->objective.n && m->quad.n; o++) {
        unsigned char *row = l->integral + (size_t)o * (size_t)m->quad.n;
        for (int i = 0; i < m->functional.n; i++)
            if (l->fbar[o * m->functional.n + i] != 0)
                integrals_of(r->out, r->out->functional + i, reach, row);
        for (int pass = 0; pass <= r->out->nested; pass++)
            for (int q = 0; q < m->quad.n; q++)
                if (row[q] && m->quad.at[q].nested)
                    integrals_of(r->out, r->out->quad + q, reach, row);
    }
}

/* Until when does objective o read the motion? */
static double reads_until(const look *l, int o)
{
    const cst_run *r = l->r;
    double until = -INFINITY;
    for (int i = 0; i < r->m->functional.n; i++) {
        const cst_functional_kind kind = r->m->functional.at[i].kind;
        if (l->fbar[o * r->m->functional.n + i] == 0) continue;
        const double t = kind == CST_START ? r->options.start
                         : kind == CST_END ? r->t
                                           : r->functional[i].time;
        until = fmax(until, t);
    }
    return until;
}

static int near_any(const cst_run *r)
{
    int near = r->watch->rested || r->m->held.n ||
               cst_tape_kink(r->objective, r->objective_reg) <= CST_NEAR_KINK;
    for (int i = 0; i < r->m->functional.n; i++)
        near |= r->functional[i].near || r->functional[i].ties;
    return near;
}

void cst_reads_find(cst_concern *c, cst_arena *a)
{
    cst_run *r = c->r;
    const cst_model *m = r->m;
    const cst_tape *t = r->out->tape;
    const size_t nobj = (size_t)m->objective.n;
    look l = {.c = c, .r = r, .a = a, .known = cst_rounding_new(a, r)};
    l.fbar = cst_new(a, double, nobj *(size_t)m->functional.n + 1);
    l.bar = cst_new(a, double, t->nreg + 1);
    l.integral = cst_new(a, unsigned char, nobj *(size_t)m->quad.n + 1);
    l.on = cst_new(a, unsigned char, t->ncode + 1);
    l.was = cst_new(a, unsigned char, t->ncode + 1);
    l.stays = cst_new(a, unsigned char, t->ncode + 1);
    l.seen = cst_new(a, unsigned char, t->ncode + 1);
    for (int o = 0; o < m->objective.n; o++) {
        cst_objective_reverse(r, o, l.fbar + o * m->functional.n, r->value_bar);
        c->until[o] = reads_until(&l, o);
    }
    find_derived(&l);
    if (r->events->n) l.along = cst_along_new(a, r);
    look_at_instants(&l);
    look_at_start(&l);
    look_at_end(&l);
    if (!near_any(r)) return;
    find_integrals(&l);
    for (long n = 0; n < r->traj->n; n++) look_at_state(&l, n);
    look_at_objectives(&l);
}
