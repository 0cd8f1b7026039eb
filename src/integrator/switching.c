/* SPDX-License-Identifier: MIT */
#include "integrator/observe.h"
#include "integrator/switching.h"
#include "number/table.h"

#include <math.h>
#include <string.h>

#define BURST 64      /* switches of one event within one step: it chatters */
#define GRAZING 1e-4  /* a crossing whose rate is below this part of the value's change in a step */
#define TOUCHING 1e-6 /* a value that comes this near to zero, as a part of its change in a step, and turns back */
#define AT_START 1e-9 /* a value this near to zero, as a part of its change in the step, is zero at the start of the step */
#define SAME 1e-9     /* accelerations and rates that are equal but for rounding */

void cst_run_switch_begin(cst_run *r)
{
    cst_events *e = r->events;
    e->located = e->coinciding = e->either = e->kinks = 0;
    e->grazing = e->touching = e->ordered = e->chattering = e->resting = e->starting = (cst_notice){0};
    memset(e->judged, 0, (size_t)e->nkink);
    e->h_older = 0;
    memset(e->chatters, 0, (size_t)e->n);
    memset(e->burst, 0, sizeof *e->burst * (size_t)e->n);
    memset(e->crossed, 0, sizeof *e->crossed * (size_t)(e->nkink + e->npiece));
}

static void notice(cst_notice *x, int k, int other, double t)
{
    if (!x->n++) x->k = k, x->other = other, x->t = t;
}

cst_status cst_run_jump(cst_run *r, const cst_state *y0, double mask, cst_state *y1, cst_diag *d)
{
    memcpy(y1->t, y0->t, sizeof(double) * cst_state_size(r->m));
    cst_events_change(r->m, mask, y1->mem);
    *y1->h = 0, *y1->tag = -mask;
    cst_rows_at(r->w, *y0->t);
    return cst_motion_derive(r->w, y1, d);
}

/* At y the event with mask k has just changed its modes, and j comes at the same instant. With modes (k, j) the accelerations and
 * integrands are a_00 ... a_11: sum = a_00 + a_11 - a_10 - a_01 is zero where the jumps simply add, most are the largest of them.
 * rate: dg/dt of two events with both off, [0], and with one on. 0: a state has no accelerations */
typedef struct corners { const double *sum, *most; double rate[2][2]; } corners;

static double rate_at(cst_run *r, const cst_state *y, int k);

static int find_corners(cst_run *r, const cst_state *y, const double mask[2], const int event[2], cst_state *scratch, corners *c)
{
    cst_diag quiet = {0};
    int nu = r->m->nu, n = nu + r->m->quad.n;
    double *sum = r->sum_try, *most = sum + n;
    const double others[3] = {mask[0], mask[1], mask[0] + mask[1]}, sign[3] = {1, 1, -1}; /* 00, 11, 01 */
    for (int i = 0; i < n; i++) sum[i] = -(i < nu ? y->ud[i] : y->qd[i - nu]), most[i] = fabs(sum[i]); /* y: 10 */
    for (int o = 0; o < 3; o++) {
        if (cst_run_jump(r, y, others[o], scratch, &quiet) != CST_OK) return 0;
        for (int i = 0; i < n; i++) {
            double a = i < nu ? scratch->ud[i] : scratch->qd[i - nu];
            sum[i] += sign[o] * a, most[i] = fmax(most[i], fabs(a));
        }
        if (event && o == 0) c->rate[0][0] = rate_at(r, scratch, event[0]), c->rate[1][0] = rate_at(r, scratch, event[1]);
        if (event && o == 2) c->rate[0][1] = rate_at(r, scratch, event[0]);
    }
    if (event) c->rate[1][1] = rate_at(r, y, event[1]);
    c->sum = sum, c->most = most;
    return 1;
}

/* May the two change together, as bits of one mask? */
static int disjoint(double a, double b)
{
    if (!(a >= 1 && b >= 1 && a < ldexp(1, CST_MASKED) && b < ldexp(1, CST_MASKED))) return 0;
    return ((unsigned long long)a & (unsigned long long)b) == 0;
}

/* Between the instants t_k and t_j the integrals gain a_10 (t_j - t_k), in the other order (a_00 + a_11 - a_01)(t_j - t_k). An
 * integrand that is not linear in the forces makes a kink of this: the derivative is the mean of both orders, so that it is the
 * same for equal parts and exact for numbers that move both events together. Derivatives read it in y1->qd. */
void cst_run_stay(cst_run *r, const cst_state *y0, double mask, cst_state *y1)
{
    cst_diag quiet = {0};
    const double both[2] = {-*y0->tag, mask};
    int nu = r->m->nu, open = 0;
    corners c;
    int met = r->m->quad.n && disjoint(both[0], both[1]) && find_corners(r, y0, both, NULL, y1, &c);
    memcpy(y1->t, y0->t, sizeof(double) * cst_state_size(r->m));
    *y1->h = 0;
    if (r->w->rule->carries) cst_motion_derive(r->w, y1, &quiet); /* it was, at the start or in a step: it does not fail */
    for (int i = 0; met && i < r->m->quad.n; i++) {
        if (!(fabs(c.sum[nu + i]) > SAME * c.most[nu + i])) continue;
        y1->qd[i] += c.sum[nu + i] / 2;
        open = 1;
    }
    r->events->either += open && r->w->forward;
}

static void values_at(cst_run *r, const cst_state *y, const double *mem)
{
    cst_events_eval(r->events, r->s, *y->t, y->q, y->u, y->z, mem);
}

/* dg_k/dt at y */
static double rate_at(cst_run *r, const cst_state *y, int k)
{
    values_at(r, y, y->mem);
    return cst_event_rate(r->events, r->s, k, y->q, y->u, y->ud, y->zd);
}

cst_status cst_run_switch_start(cst_run *r, cst_state *y, cst_diag *d)
{
    cst_events *e = r->events;
    int changed = 0;
    values_at(r, y, y->mem);
    for (int k = 0; k < e->n; k++) {
        double *mode = &y->mem[r->m->event.at[k].memory], g = e->value[k];
        double on = (g != 0 ? g : cst_event_rate(e, r->s, k, y->q, y->u, y->ud, y->zd)) > 0;
        if (on == *mode) continue;
        *mode = on, changed = 1;
        if (e->nested) values_at(r, y, y->mem);
    }
    cst_rest_start(r, y);
    return changed ? cst_motion_derive(r->w, y, d) : CST_OK;
}

cst_status cst_run_settle(cst_run *r, cst_state *y1, cst_diag *d)
{
    int all = r->events_mode == CST_EVENTS_NONE;
    if (!all && !r->events->chattering.n) return CST_OK;
    if (!cst_events_modes(r->events, r->s, all, *y1->t, y1->q, y1->u, y1->z, y1->mem)) return CST_OK;
    if (!r->w->rule->carries) return cst_motion_derive(r->w, y1, d);
    cst_motion_refresh(r->w, y1);
    return CST_OK;
}

/* ---- finding ---- */

/* The first event that the step from y0 has crossed at y1, by linear interpolation; -1: none. */
static int first_crossed(const cst_run *r, const double *mem)
{
    const cst_events *e = r->events;
    int first = -1;
    double least = 2;
    for (int k = 0; k < e->n; k++) {
        if (e->chatters[k] || !cst_event_crossed(e, r->m, k, mem)) continue;
        double s = e->before[k] / (e->before[k] - e->value[k]);
        if (!(s >= 0 && s <= 1)) s = 0; /* it has just changed its mode: the value at y0 is rounding */
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
        e->companion[j] = j != k && other && !e->chatters[j] &&
                          fabs(e->value[j]) <= 1e-6 * (fabs(e->full[j]) + fabs(e->before[j]));
    }
    e->located++;
}

/* A step that may be the one that is kept: with nothing remembered of others that were tried */
static cst_status try_step(cst_run *r, const cst_state *y0, double h, cst_state *y1)
{
    cst_motion_forget(r->w);
    return cst_motion_step(r->w, y0, h, y1);
}

/* Shortens the step y0 -> y1 to the first event: Illinois' rule on the step's length. The event is returned; -1: the step
 * failed. Events that come within 1e-6 of a step after it are marked as its companions. */
static int locate(cst_run *r, const cst_state *y0, cst_state *y1, double h, int k)
{
    cst_events *e = r->events;
    const double *mem = y0->mem;
    double lo = 0, hi = h, g_lo = e->before[k], g_hi = e->value[k];
    memcpy(e->full, e->value, sizeof *e->full * (size_t)e->all);
    for (int it = 0, side = 0; it < 100; it++) {
        double x = lo + (hi - lo) * (g_lo / (g_lo - g_hi));
        if (!(x > lo && x < hi) || it > 60) x = lo + (hi - lo) / 2;
        if (!(x > lo && x < hi)) break;
        if (try_step(r, y0, x, y1) != CST_OK) return -1;
        values_at(r, y1, mem);
        int crossed = first_crossed(r, mem);
        if (crossed >= 0 && crossed != k) k = crossed, g_lo = e->before[k], lo = 0, side = 0; /* another one comes first */
        double g = e->value[k];
        if (crossed >= 0) {
            if (side == 1) g_lo /= 2;
            hi = x, g_hi = g, side = 1;
        } else {
            if (side == -1) g_hi /= 2;
            lo = x, g_lo = g, side = -1;
        }
        if (fabs(g) <= 1e-15 * (fabs(e->before[k]) + fabs(e->full[k])) || hi - lo <= 4e-16 * fmax(fabs(*y0->t), h)) break;
    }
    mark_companions(r, mem, k);
    return k;
}

/* What changes with event k, as a mask. A change of mode may make the values of other events jump (a road that drops takes the contact
 * away): these change at the same instant. */
static double consequences(cst_run *r, const cst_state *y, int k)
{
    cst_events *e = r->events;
    double *mem = r->mem_try, mask = k < CST_MASKED ? ldexp(1, k) : ldexp(1, CST_MASKED) + k;
    unsigned char *done = r->event_done;
    memset(done, 0, (size_t)e->n);
    values_at(r, y, y->mem);
    memcpy(e->older, e->value, sizeof *e->older * (size_t)e->n);
    for (int changes = 1; changes;) {
        changes = 0;
        memcpy(mem, y->mem, sizeof *mem * (size_t)r->m->memory.n);
        cst_events_change(r->m, mask, mem);
        values_at(r, y, mem);
        for (int j = 0; j < e->n && j < CST_MASKED && mask < ldexp(1, CST_MASKED); j++) {
            int in = fmod(floor(ldexp(mask, -j)), 2) >= 1;
            if (in || done[j] || !cst_event_crossed(e, r->m, j, mem)) continue;
            if (fabs(e->value[j] - e->older[j]) <= 1e-12 * fabs(e->full[j])) continue; /* it has not jumped */
            mask += ldexp(1, j), done[j] = 1, changes++;
            break; /* one at a time: it may change what the others see */
        }
    }
    return mask;
}

/* An event at y0 itself, to rounding: a force that is switched on at a time of the grid. A step of length zero takes its place,
 * because in one of 1e-18 s all rates are rounding. Not if y0 has just changed this very mode. */
static int at_start(cst_run *r, const cst_state *y0, cst_state *y1, int k)
{
    cst_events *e = r->events;
    double from = e->before[k], to = e->value[k], mask = -*y0->tag;
    int own = mask > 0 && (k < CST_MASKED ? fmod(floor(ldexp(mask, -k)), 2) >= 1 : mask == ldexp(1, CST_MASKED) + k);
    if (own || from * to > 0 || fabs(from) > AT_START * fabs(to - from)) return 0;
    memcpy(e->full, e->value, sizeof *e->full * (size_t)e->all);
    memcpy(e->value, e->before, sizeof *e->value * (size_t)e->all);
    mark_companions(r, y0->mem, k);
    cst_run_stay(r, y0, consequences(r, y0, k), y1);
    return 1;
}

/* Where the parabola through (x_i, g_i) turns around, if it opens away from zero; NAN: nowhere. *least: its value there */
static double turn(const double x[3], const double g[3], double *least)
{
    double d1 = (g[1] - g[0]) / (x[1] - x[0]), d2 = (g[2] - g[1]) / (x[2] - x[1]), q = (d2 - d1) / (x[2] - x[0]);
    double p = d1 + q * (x[1] - x[0]);
    *least = g[1] - p * p / (4 * q);
    return g[1] * q > 0 ? x[1] - p / (2 * q) : NAN;
}

/* Looks for the turn of event k in the step, with y1 and the values there; 1: an event has been crossed at *h. */
static int look_inside(cst_run *r, const cst_state *y0, cst_state *y1, int k, double *h, int *tried)
{
    cst_events *e = r->events;
    double near = 0.1 * fmin(fabs(e->before[k]), fabs(e->full[k])), least, last = 0;
    double x = turn((double[]){-e->h_older, 0, *h}, (double[]){e->older[k], e->before[k], e->full[k]}, &least);
    for (int it = 0; it < 3 && x > 0 && x < *h && (least * e->before[k] <= 0 || fabs(least) < near); it++) {
        if (fabs(x - last) < 1e-3 * *h || try_step(r, y0, x, y1) != CST_OK) break;
        *tried = 1;
        values_at(r, y1, y0->mem);
        if (first_crossed(r, y0->mem) >= 0) {
            *h = x;
            return 1;
        }
        if (fabs(e->value[k]) <= TOUCHING * (fabs(e->full[k]) + fabs(e->before[k]))) {
            notice(&e->touching, k, k, *y0->t + x);
            break;
        }
        last = x;
        x = turn((double[]){0, x, *h}, (double[]){e->before[k], e->value[k], e->full[k]}, &least);
    }
    return 0;
}

/* A value may cross zero and come back within the step: its last three values lie on a parabola that turns around there. The
 * event is returned, and y1 is at a shorter *h with the values there; -1: there is none, and y1 is as it was. */
static int excursion(cst_run *r, const cst_state *y0, cst_state *y1, double *h)
{
    cst_events *e = r->events;
    double t1 = *y1->t, tag = *y1->tag;
    int tried = 0;
    if (e->h_older == 0 || r->w->rule->begin) return -1; /* rules with a memory of their own look for roots themselves */
    memcpy(e->full, e->value, sizeof *e->full * (size_t)e->all);
    for (int k = 0; k < e->n; k++)
        if (!e->chatters[k] && look_inside(r, y0, y1, k, h, &tried)) return first_crossed(r, y0->mem);
    if (tried && try_step(r, y0, *h, y1) == CST_OK) {
        *y1->t = t1, *y1->tag = tag;
        values_at(r, y1, y0->mem);
    }
    return -1;
}

/* ---- changing ---- */

/* After an event: the state with the modes of mask changed. */
static cst_status change(cst_run *r, cst_state *y0, cst_state *y1, double mask, long *index, cst_diag *d)
{
    cst_status ok = cst_run_jump(r, y0, mask, y1, d);
    if (ok == CST_OK) cst_run_accept(r, y0, y1, index);
    return ok;
}

static int differ(double x, double y) { return fabs(x - y) > SAME * (fabs(x) + fabs(y)); }

/* Does the order of events k and j matter to the motion? Not if the jumps of the accelerations add and neither changes the rate at
 * which the other one is crossed. scratch: a state */
static int order_matters(cst_run *r, const cst_state *y, cst_state *scratch, int k, int j, double mask)
{
    int nu = r->m->nu;
    const double both[2] = {-*y->tag, mask};
    const int event[2] = {k, j};
    corners c;
    if (!disjoint(both[0], both[1]) || !find_corners(r, y, both, event, scratch, &c)) return 1;
    return differ(c.rate[0][0], c.rate[0][1]) || differ(c.rate[1][0], c.rate[1][1]) ||
           cst_largest(nu, c.sum) > SAME * cst_largest(nu, c.most);
}

/* Companions of event k: steps of length zero, one after the other. */
static cst_status companions(cst_run *r, cst_state *y0, cst_state *y1, int k, long *index, cst_diag *d)
{
    cst_events *e = r->events;
    cst_status ok = CST_OK;
    for (int j = 0; j < e->n && ok == CST_OK; j++) {
        double mode = y0->mem[r->m->event.at[j].memory] > 0.5;
        if (!e->companion[j] || (e->full[j] > 0) == (mode > 0.5)) continue;
        double mask = consequences(r, y0, j);
        if (order_matters(r, y0, y1, k, j, mask)) notice(&e->ordered, k, j, *y0->t);
        cst_run_stay(r, y0, mask, y1);
        *y1->tag = j + 1;
        e->located++, e->coinciding++;
        cst_run_accept(r, y0, y1, index);
        ok = change(r, y0, y1, mask, index, d);
    }
    return ok;
}

/* Does event k, located at t, switch without end? Its law then pushes back to the switch from both sides. */
static void watch_chatter(cst_run *r, int k, double t)
{
    cst_events *e = r->events;
    if (e->burst[k] == 0 || t - e->burst_from[k] > r->options.step) e->burst[k] = 0, e->burst_from[k] = t;
    if (++e->burst[k] <= BURST) return;
    e->chatters[k] = 1;
    notice(&e->chattering, k, k, e->burst_from[k]);
}

static void count_kinks(const cst_run *r)
{
    cst_events *e = r->events;
    for (int i = 0; i < e->nkink + e->npiece; i++) {
        const cst_table *t = i < e->nkink ? r->m->kink.at[i].table : NULL;
        double a = e->before[e->n + i], b = e->value[e->n + i];
        int crossed = i >= e->nkink ? a != b : t ? cst_table_interval(t, a) != cst_table_interval(t, b) : (a > 0) != (b > 0);
        e->kinks += crossed, e->crossed[i] += crossed;
    }
}

cst_status cst_run_switch(cst_run *r, cst_state *y0, cst_state *y1, double h, long *index, cst_diag *d, int *met)
{
    cst_events *e = r->events;
    size_t all = sizeof *e->value * (size_t)e->all;
    *met = 0;
    if (!all) return CST_OK;
    cst_events_again(e, r->s, *y0->t, y0->q, y0->u, y0->z, y0->mem); /* mostly the end of the step before */
    memcpy(e->before, e->value, all);
    values_at(r, y1, y0->mem);
    int k = -1;
    if (r->events_mode != CST_EVENTS_NONE && (k = first_crossed(r, y0->mem)) < 0) k = excursion(r, y0, y1, &h);
    if (k < 0) {
        count_kinks(r);
        cst_rest_step(r, y0, y1);
        memcpy(e->older, e->before, all), e->h_older = h;
        return cst_run_settle(r, y1, d);
    }
    *met = 1, e->h_older = 0;
    if (!at_start(r, y0, y1, k) && (k = locate(r, y0, y1, h, k)) < 0) return CST_NUMERIC;
    if (fabs(rate_at(r, y1, k)) * h < GRAZING * (fabs(e->before[k]) + fabs(e->full[k]))) notice(&e->grazing, k, k, *y1->t);
    count_kinks(r);
    watch_chatter(r, k, *y1->t);
    *y1->tag = k + 1;
    cst_status ok = cst_observe_step(r, y0, y1, d);
    if (ok != CST_OK) return ok;
    cst_run_accept(r, y0, y1, index);
    ok = change(r, y0, y1, consequences(r, y0, k), index, d);
    return ok == CST_OK ? companions(r, y0, y1, k, index, d) : ok;
}

/* ---- reports ---- */

static void warn(cst_run *r, cst_diag *d, const cst_notice *x, const char *text)
{
    if (!x->n) return; /* the model may have no events */
    const cst_event *k = &r->m->event.at[x->k], *other = &r->m->event.at[x->other];
    if (!strcmp(k->name, other->name)) cst_warn(d, k->where, "t = %.6g s: '%s' %s", x->t, k->name, text);
    else cst_warn(d, k->where, "t = %.6g s: '%s' and '%s' %s", x->t, k->name, other->name, text);
}

void cst_run_switch_warn(cst_run *r, cst_diag *d)
{
    if (r->warned || !r->events->chattering.n) return;
    warn(r, d, &r->events->chattering,
         "switches without end: its law pushes back to the switch from both sides. From here on it switches at the ends of steps only");
    r->warned = 1;
}

cst_status cst_run_switch_report(cst_run *r, cst_diag *d)
{
    const cst_events *e = r->events;
    int told = r->warned;
    if (!told) cst_rest_warn(r, d);
    r->warned |= e->resting.n || e->starting.n;
    if (r->events_mode != CST_EVENTS_EXACT) return CST_OK;
    if (e->chattering.n)
        return cst_error(d, CST_NUMERIC, r->m->event.at[e->chattering.k].where,
                         "t = %.6g s: there is no gradient: '%s' switches without end (its law pushes back to the switch from both sides). "
                         "Use a steep continuous law, as tanh(v/v_s), or --events frozen",
                         e->chattering.t, r->m->event.at[e->chattering.k].name);
    if (told) return CST_OK;
    warn(r, d, &e->grazing, "is only grazed: the instant of this event moves without bound with the numbers, and so may the gradient");
    warn(r, d, &e->touching, "comes to its switch and turns back: the gradient is one-sided");
    int same = e->ordered.n && !strcmp(r->m->event.at[e->ordered.k].name, r->m->event.at[e->ordered.other].name);
    warn(r, d, &e->ordered, same ? "switches twice at the same instant and the order matters: the gradient is that of one order"
                                 : "switch at the same instant and their order matters: the gradient is that of one order");
    for (int i = 0; i < r->m->loose.n; i++)
        cst_warn(d, r->m->loose.at[i].where, "%s at an instant that is not located: how it moves with the numbers is not in the gradient",
                 r->m->loose.at[i].text);
    r->warned |= r->m->loose.n || e->grazing.n || e->touching.n || e->ordered.n;
    return CST_OK;
}
