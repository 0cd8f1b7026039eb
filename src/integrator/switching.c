/* SPDX-License-Identifier: MIT */
#include "integrator/switching.h"
#include "integrator/observe.h"
#include "number/table.h"

#include <math.h>
#include <string.h>

#define BURST                                                                                      \
    64 /* switches of one event within one step: it chatters, if only together with others */
#define GRAZING                                                                                    \
    1e-4 /* a crossing whose rate is below this part of the value's change in a step               \
          */
#define TOUCHING                                                                                   \
    1e-6 /* a value that comes this near to zero, as a part of its change in a step, and turns     \
            back */
#define SLOW                                                                                       \
    1e-3 /* of its value a step later: a rate that predicts less does not describe how it leaves   \
          */
#define AT_START                                                                                   \
    1e-9 /* a value this near to zero, as a part of its change in the step, is zero at the start   \
            of the step */
#define TORN 1e-6 /* sizes of the bodies by which a position misses a drive that has jumped */

void cst_run_switch_begin(cst_run *r)
{
    cst_events *e = r->events;
    e->located = e->coinciding = e->settled = e->kinks = 0;
    e->incidents.list.n = 0;
    memset(e->judged, 0, (size_t)e->nkink);
    e->h_older = 0;
    e->sets.list.n = 0;
    memset(e->chatters, 0, (size_t)e->n);
    for (int k = 0; k < e->n; k++) e->since[k] = NAN;
    memset(e->burst, 0, sizeof *e->burst * (size_t)e->n);
    memset(e->crossed, 0, sizeof *e->crossed * (size_t)(e->nkink + e->npiece));
}

static void values_at(cst_run *r, const cst_state *y, const double *mem)
{
    cst_events_eval(r->events, r->s, *y->t, y->q, y->u, y->z, mem);
}

/* ---- finding ---- */

/* With `events: none` the switches of drives are located nevertheless: no step can follow a drive
 * across its switch. */
static int is_located(const cst_run *r, int k, const double *mem)
{
    return cst_event_switches(r->m, k, mem) && !r->events->chatters[k] &&
           (r->events_mode != CST_EVENTS_NONE || r->events->of_drive[k]);
}

/* Is event k zero to rounding at both ends of the step? What rests crosses nothing. */
static int rests(cst_run *r, int k)
{
    const cst_events *e = r->events;
    const double most = fmax(fabs(e->before[k]), fabs(e->value[k]));
    if (most > CST_NEAR_KINK) return 0;
    cst_rest_errors(r);
    return most <= e->err[e->tape->out[k]];
}

/* The first event that the step from y0 has crossed at y1, by linear interpolation; -1: none.
 * whole: y1 is the end of the step, not of a trial to locate it. */
static int first_crossed(cst_run *r, const double *mem, int whole)
{
    const cst_events *e = r->events;
    int first = -1;
    double least = 2;
    for (int k = 0; k < e->n; k++) {
        if (!is_located(r, k, mem) || !cst_event_crossed(e, r->m, k, mem) || (whole && rests(r, k)))
            continue;
        double s = e->before[k] / (e->before[k] - e->value[k]);
        if (!(s >= 0 && s <= 1))
            s = 0; /* it has just changed its mode: the value at y0 is rounding */
        if (first < 0 || s < least) first = k, least = s;
    }
    return first;
}

/* Events other than k that cross with it: the values are those at the crossing */
static void mark_companions(cst_run *r, const double *mem, int k)
{
    cst_events *e = r->events;
    for (int j = 0; j < e->n; j++) {
        int other = (e->full[j] > 0) != (mem[r->m->event.at[j].memory] > 0.5);
        e->companion[j] = j != k && other && is_located(r, j, mem) &&
                          fabs(e->value[j]) <= 1e-6 * (fabs(e->full[j]) + fabs(e->before[j]));
    }
    e->located++;
}

/* A trial step that may be kept: it must not depend on factors and guesses of other trials */
static cst_status try_step(cst_run *r, const cst_state *y0, double h, cst_state *y1)
{
    cst_motion_forget(r->w);
    return cst_motion_step(r->w, y0, h, y1);
}

/* The value of an event at the start of a step whose end it has crossed with g. One that has just
 * changed there is zero to rounding, and comes back within the step: its root is not looked for at
 * the start. */
static double value_at_start(const cst_events *e, int k, double g)
{
    return fabs(e->before[k]) <= AT_START * fabs(g - e->before[k]) ? -g : e->before[k];
}

/* Shortens the step y0 -> y1 to the first event: Illinois' rule on the step's length. The event is
 * returned; -1: the step failed. Events that come within 1e-6 of a step after it are marked as its
 * companions. */
static int locate(cst_run *r, const cst_state *y0, cst_state *y1, double h, int k)
{
    cst_events *e = r->events;
    const double *mem = y0->mem;
    double lo = 0, hi = h, g_hi = e->value[k], g_lo = value_at_start(e, k, g_hi);
    memcpy(e->full, e->value, sizeof *e->full * (size_t)e->all);
    for (int it = 0, side = 0; it < 100; it++) {
        double x = lo + (hi - lo) * (g_lo / (g_lo - g_hi));
        if (!(x > lo && x < hi) || it > 60) x = lo + (hi - lo) / 2;
        if (!(x > lo && x < hi)) break;
        if (try_step(r, y0, x, y1) != CST_OK) return -1;
        values_at(r, y1, mem);
        int crossed = first_crossed(r, mem, 0);
        if (crossed >= 0 && crossed != k)
            k = crossed, g_lo = value_at_start(e, k, e->value[k]), lo = 0,
            side = 0; /* it comes first */
        double g = e->value[k];
        if (crossed >= 0) {
            if (side == 1) g_lo /= 2;
            hi = x, g_hi = g, side = 1;
        } else {
            if (side == -1) g_hi /= 2;
            lo = x, g_lo = g, side = -1;
        }
        if (fabs(g) <= 1e-15 * (fabs(e->before[k]) + fabs(e->full[k])) ||
            hi - lo <= 4e-16 * fmax(fabs(*y0->t), h))
            break;
    }
    mark_companions(r, mem, k);
    return k;
}

/* What changes with event k: the number of the set. A change of mode may make the values of other
 * events jump (a road that drops takes the contact away): these change at the same instant. */
static int consequences(cst_run *r, const cst_state *y, int k)
{
    cst_events *e = r->events;
    double *mem = r->mem_try;
    uint64_t *set = e->made;
    memset(set, 0, sizeof *set * (size_t)e->sets.words);
    cst_set_add(set, k);
    values_at(r, y, y->mem);
    memcpy(e->older, e->value, sizeof *e->older * (size_t)e->n);
    for (int changes = 1; changes;) {
        changes = 0;
        memcpy(mem, y->mem, sizeof *mem * (size_t)r->m->memory.n);
        cst_events_change(r->m, set, mem);
        values_at(r, y, mem);
        for (int j = 0; j < e->n; j++) {
            if (cst_set_has(set, j) || !cst_event_crossed(e, r->m, j, mem)) continue;
            if (fabs(e->value[j] - e->older[j]) <= 1e-12 * fabs(e->full[j]))
                continue; /* it has not jumped */
            cst_set_add(set, j), changes++;
            break; /* one at a time: it may change what the others see */
        }
    }
    return cst_set_number(&r->arena, &e->sets, set);
}

/* An event at y0 itself, to rounding: a force that is switched on at a time of the grid. A step of
 * length zero takes its place, because in one of 1e-18 s all rates are rounding. There: the step
 * before has passed it by rounding at its end. Not if the value leaves zero to the side of its
 * mode, which has just changed or is that of the start: it comes back later. */
static int at_start(cst_run *r, const cst_state *y0, cst_state *y1, int k)
{
    cst_events *e = r->events;
    double from = e->before[k], to = e->value[k];
    size_t all = sizeof *e->value * (size_t)e->all;
    int there = (from > 0) != (y0->mem[r->m->event.at[k].memory] > 0.5) && e->since[k] != *y0->t;
    if (!there && (from * to > 0 || fabs(from) > AT_START * fabs(to - from))) return 0;
    memcpy(e->full, e->value, all);
    double rate = cst_run_event_rate(r, y0, k);
    memcpy(e->value, e->full, all);
    const double mode = y0->mem[r->m->event.at[k].memory];
    if (mode != CST_MODE_RESTS && (mode > 0.5 ? rate > 0 : rate < 0)) return 0;
    memcpy(e->value, e->before, all);
    mark_companions(r, y0->mem, k);
    cst_run_stay(r, y0, y1);
    return 1;
}

/* Where the parabola through (x_i, g_i) turns around, if it opens away from zero; NAN: nowhere.
 * *least: its value there */
static double turn(const double x[3], const double g[3], double *least)
{
    double d1 = (g[1] - g[0]) / (x[1] - x[0]), d2 = (g[2] - g[1]) / (x[2] - x[1]),
           q = (d2 - d1) / (x[2] - x[0]);
    double p = d1 + q * (x[1] - x[0]);
    *least = g[1] - p * p / (4 * q);
    return g[1] * q > 0 ? x[1] - p / (2 * q) : NAN;
}

/* Looks for the turn of event k in the step, with y1 and the values there; 1: an event has been
 * crossed at *h. */
static int look_inside(cst_run *r, const cst_state *y0, cst_state *y1, int k, double *h, int *tried)
{
    cst_events *e = r->events;
    double near = 0.1 * fmin(fabs(e->before[k]), fabs(e->full[k])), least, last = 0;
    double x = turn((double[]){-e->h_older, 0, *h},
                    (double[]){e->older[k], e->before[k], e->full[k]}, &least);
    for (int it = 0; it < 3 && x > 0 && x < *h && (least * e->before[k] <= 0 || fabs(least) < near);
         it++) {
        if (fabs(x - last) < 1e-3 * *h || try_step(r, y0, x, y1) != CST_OK) break;
        *tried = 1;
        values_at(r, y1, y0->mem);
        if (first_crossed(r, y0->mem, 0) >= 0) {
            *h = x;
            return 1;
        }
        if (fabs(e->value[k]) <= TOUCHING * (fabs(e->full[k]) + fabs(e->before[k]))) {
            cst_run_note(r, CST_INCIDENT_TOUCHED, k, k, *y0->t + x);
            break;
        }
        last = x;
        x = turn((double[]){0, x, *h}, (double[]){e->before[k], e->value[k], e->full[k]}, &least);
    }
    return 0;
}

/* A value may cross zero and come back within the step: its last three values lie on a parabola
 * that turns around there. The event is returned, and y1 is at a shorter *h with the values there;
 * -1: there is none, and y1 is as it was. */
static int excursion(cst_run *r, const cst_state *y0, cst_state *y1, double *h)
{
    cst_events *e = r->events;
    double t1 = *y1->t, tag = *y1->tag;
    int tried = 0;
    if (e->h_older == 0 || r->w->rule->begin)
        return -1; /* rules with a memory of their own look for roots themselves */
    memcpy(e->full, e->value, sizeof *e->full * (size_t)e->all);
    for (int k = 0; k < e->n; k++)
        if (is_located(r, k, y0->mem) && look_inside(r, y0, y1, k, h, &tried))
            return first_crossed(r, y0->mem, 0);
    if (tried && try_step(r, y0, *h, y1) == CST_OK) {
        *y1->t = t1, *y1->tag = tag;
        values_at(r, y1, y0->mem);
    }
    return -1;
}

/* ---- changing ---- */

/* Has a drive or coupling jumped, so that the position does not fulfil it any more? */
static int torn(cst_run *r, const cst_state *y)
{
    const cst_kkt *k = r->w->k;
    double *phi = r->w->phi, most = 0;
    if (!r->events->drives) return 0;
    cst_system_place(r->s, *y->t, y->q);
    cst_constraints(r->s, y->mem, CST_ROW_MOTION, phi);
    for (int i = 0; i < k->nrow; i++)
        most = fmax(most, fabs(phi[k->all_of[i]]) / r->st->reach[k->all_of[i]]);
    return most > TORN;
}

/* After event k: the state with the modes of the set changed. */
static cst_status change(cst_run *r, cst_state *y0, cst_state *y1, int k, int set, long *index,
                         cst_diag *d)
{
    cst_events *e = r->events;
    cst_status ok = cst_run_jump(r, y0, set, y1, d);
    e->with[k] = set;
    for (int j = 0; j < e->n; j++)
        if (cst_set_has(cst_set_at(&e->sets, set), j)) e->since[j] = *y0->t;
    if (ok == CST_OK) cst_run_accept(r, y0, y1, index);
    return ok;
}

/* Does event k pass its switch at y, in a step of length h, so slowly that its instant hardly has a
 * derivative? */
static void note_grazing(cst_run *r, const cst_state *y, int k, double h)
{
    cst_events *e = r->events;
    const double slow = GRAZING * (fabs(e->before[k]) + fabs(e->full[k]));
    if (fabs(cst_run_event_rate(r, y, k)) * h < slow)
        cst_run_note(r, CST_INCIDENT_GRAZED, k, k, *y->t);
}

/* Companions of event k: steps of length zero, one after the other. h: of the step in which they
 * were found */
static cst_status companions(cst_run *r, cst_state *y0, cst_state *y1, int k, double h, long *index,
                             cst_diag *d)
{
    cst_events *e = r->events;
    cst_status ok = CST_OK;
    for (int j = 0; j < e->n && ok == CST_OK; j++) {
        double mode = y0->mem[r->m->event.at[j].memory] > 0.5;
        e->companion[j] &= (e->full[j] > 0) != (mode > 0.5);
        if (!e->companion[j]) continue;
        note_grazing(r, y0, j, h);
        int set = consequences(r, y0, j);
        if (cst_run_order_matters(r, y0, y1, k, j, set))
            cst_run_note(r, CST_INCIDENT_ORDERED, k, j, *y0->t);
        cst_run_stay(r, y0, y1);
        *y1->tag = j + 1;
        e->located++, e->coinciding++;
        cst_run_accept(r, y0, y1, index);
        ok = change(r, y0, y1, j, set, index, d);
    }
    return ok;
}

/* Has event k rested on its switch up to y0, and does it leave in the step y0 -> y1 so slowly that
 * its rate at y0 does not show it? An example is the damper if(v >= 0, c1, c2) v of a vehicle at
 * rest. Rounding chose its mode, and there is no instant to locate. */
static int leaves_rest(cst_run *r, const cst_state *y0, int k, double h)
{
    cst_events *e = r->events;
    size_t all = sizeof *e->value * (size_t)e->all;
    if (e->since[k] == *y0->t || fabs(e->before[k]) > SLOW * fabs(e->value[k])) return 0;
    memcpy(e->full, e->value, all);
    double rate = cst_run_event_rate(r, y0, k);
    cst_rest_errors(r);
    memcpy(e->value, e->full, all);
    return fabs(e->before[k]) <= e->err[e->tape->out[k]] &&
           fabs(rate) * h <= SLOW * fabs(e->value[k]);
}

/* Changes its mode at y0; the step is then repeated. r->pattern does not count the change: a
 * neighbouring run may start with that mode. */
static cst_status leave(cst_run *r, cst_state *y0, cst_state *y1, int k, long *index, cst_diag *d)
{
    const int side = r->events->value[k] > 0, memory = r->m->event.at[k].memory;
    const uint64_t pattern = r->pattern, instant = r->instant;
    cst_status ok = CST_OK;
    for (int tries = 0; tries < 2 && y0->mem[memory] != side && ok == CST_OK;
         tries++) /* twice from the mode of what rests */
        ok = change(r, y0, y1, k, consequences(r, y0, k), index, d);
    r->pattern = pattern, r->instant = instant;
    return ok;
}

/* Does event k, which y is behind, switch without end? scratch: a state */
static void watch_chatter(cst_run *r, const cst_state *y, int k, cst_state *scratch)
{
    cst_events *e = r->events;
    double t = *y->t;
    if (e->burst[k] == 0 || t - e->burst_from[k] > r->options.step)
        e->burst[k] = 0, e->burst_from[k] = t;
    if (++e->burst[k] <= BURST && !cst_run_pushes_back(r, y, k, e->with[k], scratch)) return;
    e->chatters[k] = 1;
    cst_run_note(r, CST_INCIDENT_CHATTERS, k, k, e->burst_from[k]);
}

static void count_kinks(const cst_run *r)
{
    cst_events *e = r->events;
    for (int i = 0; i < e->nkink + e->npiece; i++) {
        const cst_table *t = i < e->nkink ? r->m->kink.at[i].table : NULL;
        double a = e->before[e->n + i], b = e->value[e->n + i];
        if (i < e->nkink && r->m->kink.at[i].touched) continue;
        int crossed = t ? cst_table_interval(t, a) != cst_table_interval(t, b) : (a > 0) != (b > 0);
        if (i >= e->nkink) crossed = (int)a % CST_ON_KINK != (int)b % CST_ON_KINK;
        e->kinks += crossed, e->crossed[i] += crossed;
    }
}

cst_status cst_run_switch(cst_run *r, cst_state *y0, cst_state *y1, double h, long *index,
                          cst_diag *d, int *met)
{
    cst_events *e = r->events;
    size_t all = sizeof *e->value * (size_t)e->all;
    *met = 0;
    if (!all) return CST_OK;
    cst_events_again(e, r->s, *y0->t, y0->q, y0->u, y0->z,
                     y0->mem); /* mostly the end of the step before */
    memcpy(e->before, e->value, all);
    values_at(r, y1, y0->mem);
    int k = -1;
    if (r->events_mode != CST_EVENTS_NONE || e->drives) {
        k = first_crossed(r, y0->mem, 1);
        /* at the very end: the next step begins there, if there is one */
        int at_end = k >= 0 && fabs(e->value[k]) <= AT_START * fabs(e->value[k] - e->before[k]);
        if (k < 0)
            k = excursion(r, y0, y1, &h);
        else if (at_end)
            k = -1;
    }
    if (k < 0) {
        count_kinks(r);
        cst_rest_step(r, y0, y1);
        memcpy(e->older, e->before, all), e->h_older = h;
        return cst_run_settle(r, y1, d);
    }
    *met = 1, e->h_older = 0;
    if (leaves_rest(r, y0, k, h)) return leave(r, y0, y1, k, index, d);
    if (!at_start(r, y0, y1, k) && (k = locate(r, y0, y1, h, k)) < 0) return CST_NUMERIC;
    note_grazing(r, y1, k, h);
    count_kinks(r);
    *y1->tag = k + 1;
    cst_status ok = cst_observe_step(r, y0, y1, d);
    if (ok != CST_OK) return ok;
    cst_run_accept(r, y0, y1, index);
    int whole = !torn(r, y0);
    ok = change(r, y0, y1, k, consequences(r, y0, k), index, d);
    if (ok == CST_OK) ok = companions(r, y0, y1, k, h, index, d);
    if (ok == CST_OK && whole && torn(r, y0))
        cst_run_note(r, CST_INCIDENT_TEARS, k, k, *y0->t); /* after all changes of this instant */
    for (int j = 0; j < e->n && ok == CST_OK; j++)
        if (j == k || e->companion[j]) watch_chatter(r, y0, j, y1);
    return ok;
}

/* ---- reports ---- */

void cst_run_note(cst_run *r, cst_incident_kind kind, int k, int other, double t)
{
    const long n = r->traj && r->traj->n > 0 ? r->traj->n - 1 : 0;
    cst_incident_add(&r->arena, &r->events->incidents, (cst_incident){kind, k, other, n, n, t});
}

/* An incident after which there is no motion to differentiate */
static const cst_incident *broken(const cst_run *r)
{
    const cst_incident *x = cst_incident_first(&r->events->incidents, CST_INCIDENT_CHATTERS);
    return x ? x : cst_incident_first(&r->events->incidents, CST_INCIDENT_TEARS);
}

void cst_run_switch_warn(cst_run *r, cst_diag *d)
{
    const cst_incident *x = broken(r);
    if (r->warned || !x) return;
    const char *what = x->kind == CST_INCIDENT_CHATTERS
                           ? "From here on it switches at the ends of steps only"
                           : "What the next step makes of it depends on its length";
    cst_warn(d, r->m->event.at[x->k].where, "t = %.6g s: '%s' %s. %s", x->t,
             r->m->event.at[x->k].name, cst_incident_table[x->kind].words, what);
    r->warned = 1;
}

cst_status cst_run_switch_stops(const cst_run *r, cst_diag *d)
{
    const cst_incident *x = broken(r);
    if (r->events_mode != CST_EVENTS_EXACT || !x) return CST_OK;
    const char *advice = x->kind == CST_INCIDENT_CHATTERS
                             ? ". Use a steep continuous law, as tanh(v/v_s), or --events frozen"
                             : "";
    return cst_error(d, CST_NUMERIC, r->m->event.at[x->k].where,
                     "t = %.6g s: there is no gradient: '%s' %s%s", x->t, r->m->event.at[x->k].name,
                     cst_incident_table[x->kind].words, advice);
}

void cst_run_loose_warn(const cst_run *r, cst_diag *d)
{
    if (r->events_mode != CST_EVENTS_EXACT && (r->events->located || r->events->settled))
        cst_warn(d, (cst_where){.file = r->m->file},
                 "the gradient leaves out how the instants of events move (--events exact includes "
                 "this)");
    for (int i = 0; i < r->m->loose.n && r->events_mode == CST_EVENTS_EXACT; i++)
        cst_warn(d, r->m->loose.at[i].where,
                 "%s at an instant that is not located: the gradient does not contain how the "
                 "instant moves",
                 r->m->loose.at[i].text);
}

static int misses_instants(const cst_run *r)
{
    const cst_events *e = r->events;
    const int loose = r->m->loose.n > 0;
    if (r->events_mode == CST_EVENTS_NONE) return loose || e->settled || e->located;
    if (r->events_mode == CST_EVENTS_FROZEN) return loose || e->located;
    return loose;
}

int cst_run_switch_misses(const cst_run *r)
{
    const cst_incidents *in = &r->events->incidents;
    const int side =
        cst_incident_first(in, CST_INCIDENT_CLOSED) || cst_incident_first(in, CST_INCIDENT_LEANS);
    return (misses_instants(r) ? CST_MISSES_INSTANTS : 0) | (side ? CST_MISSES_SIDE : 0);
}
