/* SPDX-License-Identifier: MIT
 *
 * Changes of modes: the states after them, and what a comparison of states with different modes
 * shows. */
#include "integrator/switching.h"

#include <math.h>
#include <string.h>

#define SAME 1e-9   /* accelerations and rates that are equal but for rounding */
#define RESTS 1e-6  /* of its value a step later: it was at its switch */
#define SLOW 1e-3   /* of the same: its rate says nothing of where it goes */
#define STILL 1e-14 /* of the coordinates, or of 1: a value that has not left its switch */
#define ZERO 1e-6   /* of the change in a step: a value that has not jumped away from its switch */

/* y1 is y0 with the modes of n sets changed, and what follows from it. */
static cst_status changed(cst_run *r, const cst_state *y0, int n, const int *set, cst_state *y1,
                          cst_diag *d)
{
    memcpy(y1->t, y0->t, sizeof(double) * cst_state_size(r->m));
    for (int i = 0; i < n; i++)
        cst_events_change(r->m, cst_set_at(&r->events->sets, set[i]), y1->mem);
    cst_rows_at(r->w, *y0->t);
    if (r->events->drives && cst_motion_impact(r->w, y1) != CST_OK)
        return cst_error(d, CST_NUMERIC, (cst_where){.file = r->m->file},
                         "t = %g s: no velocities follow the drives", *y0->t);
    return cst_motion_derive(r->w, y1, d);
}

cst_status cst_run_jump(cst_run *r, const cst_state *y0, int set, cst_state *y1, cst_diag *d)
{
    cst_status ok = changed(r, y0, 1, &set, y1, d);
    *y1->h = 0, *y1->tag = cst_tag_of_set(set);
    return ok;
}

double cst_run_event_rate(cst_run *r, const cst_state *y, int k)
{
    cst_events_eval(r->events, r->s, *y->t, y->q, y->u, y->z, y->mem);
    return cst_event_rate(r->events, r->s, k, y->q, y->u, y->ud, y->zd);
}

/* At y the event of set[0], k, has just changed its modes, and j comes at the same instant. With
 * modes (k, j) the accelerations and integrands are a_00 ... a_11: sum = a_00 + a_11 - a_10 - a_01
 * is zero where the jumps simply add, most are the largest of them. rate: dg/dt of two events with
 * both off, [0], and with one on. 0: a state has no accelerations */
typedef struct corners {
    const double *sum, *most;
    double rate[2][2];
} corners;

static int find_corners(cst_run *r, const cst_state *y, const int set[2], const int event[2],
                        cst_state *scratch, corners *c)
{
    cst_diag quiet = {0};
    int nu = r->m->nu, n = nu + r->m->quad.n;
    double *sum = r->sum_try, *most = sum + n;
    const struct {
        int n;
        const int *set;
        double sign;
    } other[3] = {{1, set, 1}, {1, set + 1, 1}, {2, set, -1}}; /* 00, 11, 01 */
    for (int i = 0; i < n; i++)
        sum[i] = -(i < nu ? y->ud[i] : y->qd[i - nu]), most[i] = fabs(sum[i]); /* y: 10 */
    for (int o = 0; o < 3; o++) {
        if (changed(r, y, other[o].n, other[o].set, scratch, &quiet) != CST_OK) return 0;
        for (int i = 0; i < n; i++) {
            double a = i < nu ? scratch->ud[i] : scratch->qd[i - nu];
            sum[i] += other[o].sign * a, most[i] = fmax(most[i], fabs(a));
        }
        for (int k = 0; o == 0 && k < 2; k++)
            c->rate[k][0] = cst_run_event_rate(r, scratch, event[k]);
        if (o == 2) c->rate[0][1] = cst_run_event_rate(r, scratch, event[0]);
    }
    c->rate[1][1] = cst_run_event_rate(r, y, event[1]);
    c->sum = sum, c->most = most;
    return 1;
}

/* Has y just changed the modes of a set that has no event of the next one? Then there are four
 * corners, of these two. */
static int has_corners(const cst_run *r, const cst_state *y, int next, int set[2])
{
    set[0] = cst_set_of_tag(*y->tag), set[1] = next;
    return set[0] >= 0 && cst_sets_disjoint(&r->events->sets, set[0], set[1]);
}

void cst_run_stay(cst_run *r, const cst_state *y0, cst_state *y1)
{
    cst_diag quiet = {0};
    memcpy(y1->t, y0->t, sizeof(double) * cst_state_size(r->m));
    *y1->h = 0;
    if (r->w->rule->carries)
        cst_motion_derive(r->w, y1,
                          &quiet); /* this state was derived before, so it does not fail */
}

static int differ(double x, double y) { return fabs(x - y) > SAME * (fabs(x) + fabs(y)); }

int cst_run_order_matters(cst_run *r, const cst_state *y, cst_state *scratch, int k, int j, int set)
{
    const int nu = r->m->nu, nquad = r->m->quad.n, event[2] = {k, j};
    int both[2];
    corners c;
    if (!has_corners(r, y, set, both) || !find_corners(r, y, both, event, scratch, &c)) return 1;
    return differ(c.rate[0][0], c.rate[0][1]) || differ(c.rate[1][0], c.rate[1][1]) ||
           cst_largest(nu, c.sum) > SAME * cst_largest(nu, c.most) ||
           cst_largest(nquad, c.sum + nu) > SAME * cst_largest(nquad, c.most + nu);
}

int cst_run_pushes_back(cst_run *r, const cst_state *y, int k, int set, cst_state *scratch)
{
    cst_events *e = r->events;
    cst_diag quiet = {0};
    double into = y->mem[r->m->event.at[k].memory] > 0.5 ? 1 : -1,
           behind = into * cst_run_event_rate(r, y, k);
    int jumped = fabs(e->value[k]) > ZERO * (fabs(e->before[k]) + fabs(e->full[k]));
    if (!(behind < 0) || jumped || changed(r, y, 1, &set, scratch, &quiet) != CST_OK) return 0;
    double front = into * cst_run_event_rate(r, scratch, k);
    cst_motion_forget(r->w); /* factors of a state that is not taken */
    return front > 0 && -behind > SAME * front;
}

cst_status cst_run_switch_start(cst_run *r, cst_state *y, cst_diag *d)
{
    cst_events *e = r->events;
    int changes = 0;
    cst_events_eval(e, r->s, *y->t, y->q, y->u, y->z, y->mem);
    for (int k = 0; k < e->n; k++) {
        double *mode = &y->mem[r->m->event.at[k].memory], g = e->value[k];
        if (g == 0) g = cst_event_rate(e, r->s, k, y->q, y->u, y->ud, y->zd);
        double on = g > 0 ? 1 : g < 0 ? 0 : CST_MODE_RESTS;
        if (on == *mode) continue;
        *mode = on, changes++;
        if (e->nested) cst_events_eval(e, r->s, *y->t, y->q, y->u, y->z, y->mem);
    }
    return changes ? cst_motion_derive(r->w, y, d) : CST_OK;
}

/* Event k, which the trial step y0 -> y1 has crossed, was at zero before and had no rate to speak
 * of: rounding has chosen its mode. */
static int hesitates(cst_run *r, const cst_state *y0, const cst_state *y1, int k, double h)
{
    cst_events *e = r->events;
    double before = e->before[k], g = e->value[k];
    if (!cst_event_crossed(e, r->m, k, y0->mem) || fabs(before) > RESTS * fabs(g)) return 0;
    if (!(fabs(g) > STILL * fmax(1, cst_largest(r->m->nq, y1->q)))) return 0;
    memcpy(e->full, e->value, sizeof *e->full * (size_t)e->all);
    double rate = cst_run_event_rate(r, y0, k);
    memcpy(e->value, e->full, sizeof *e->full * (size_t)e->all);
    return fabs(rate) * h <= SLOW * fabs(g);
}

cst_status cst_run_try_start(cst_run *r, cst_state *y0, cst_state *y1, cst_diag *d)
{
    cst_events *e = r->events;
    const cst_counts counted = r->w->n;
    const cst_habits habits = r->w->habits;
    const double h = fmin(r->options.step, r->options.end - r->options.start);
    int near = 0, forward = r->w->forward;
    cst_status ok = CST_OK;
    cst_events_eval(e, r->s, *y0->t, y0->q, y0->u, y0->z, y0->mem);
    for (int k = 0; k < e->n; k++) near |= fabs(e->value[k]) <= CST_NEAR_KINK;
    r->w->forward = 0;
    for (int tries = 0; near && tries < 2 * e->n && h > 0 && !r->w->rule->begin && ok == CST_OK;
         tries++) {
        int k = 0;
        memcpy(e->before, e->value, sizeof *e->before * (size_t)e->all);
        if (cst_motion_step(r->w, y0, h, y1) != CST_OK) break;
        cst_events_eval(e, r->s, *y1->t, y1->q, y1->u, y1->z, y0->mem);
        while (k < e->n && !hesitates(r, y0, y1, k, h)) k++;
        if (k == e->n) break;
        y0->mem[r->m->event.at[k].memory] = e->value[k] > 0;
        ok = cst_motion_derive(r->w, y0, d);
        cst_events_eval(e, r->s, *y0->t, y0->q, y0->u, y0->z, y0->mem);
    }
    cst_motion_forget(r->w);
    r->w->n = counted, r->w->habits = habits, r->w->forward = forward;
    cst_events_eval(e, r->s, *y0->t, y0->q, y0->u, y0->z, y0->mem);
    cst_rest_start(r, y0);
    return ok;
}

cst_status cst_run_settle(cst_run *r, cst_state *y1, cst_diag *d)
{
    int all = r->events_mode == CST_EVENTS_NONE;
    if (!all && !cst_incident_first(&r->events->incidents, CST_INCIDENT_CHATTERS)) return CST_OK;
    cst_which which = all ? CST_MODES_OF_FORCES : CST_CHATTERING_MODES;
    int changes = cst_events_modes(r->events, r->s, which, *y1->t, y1->q, y1->u, y1->z, y1->mem);
    if (!changes) return CST_OK;
    r->events->settled += changes;
    if (!r->w->rule->carries) return cst_motion_derive(r->w, y1, d);
    cst_motion_refresh(r->w, y1);
    return CST_OK;
}

/* ---- the other side of a switch ---- */

/* Other events whose values jump with the mode of k, such as those that read mod(t, T), take the
 * modes of their new sides. */
static void follow(cst_run *r, const cst_state *y, int k, double *mem)
{
    cst_events *e = r->events;
    double *old = e->older;
    if (!e->nested) return;
    cst_events_eval(e, r->s, *y->t, y->q, y->u, y->z, y->mem);
    memcpy(old, e->value, sizeof *old * (size_t)e->n);
    for (int again = 1, times = 0; again && times < e->n; times++) {
        again = 0;
        cst_events_eval(e, r->s, *y->t, y->q, y->u, y->z, mem);
        for (int j = 0; j < e->n && !again; j++) {
            double *mode = &mem[r->m->event.at[j].memory];
            if (j == k || !differ(e->value[j], old[j]) || (e->value[j] > 0) == (*mode > 0.5))
                continue;
            *mode = e->value[j] > 0;
            again = 1;
        }
    }
}

int cst_run_other_side(cst_run *r, const cst_state *y, int k, double side, cst_state *other)
{
    cst_diag quiet = {0};
    memcpy(other->t, y->t, sizeof(double) * cst_state_size(r->m));
    double *mode = &other->mem[r->m->event.at[k].memory];
    if (*mode == side) return 0;
    *mode = side;
    *other->h = 0; /* its rates are not those of a step */
    follow(r, y, k, other->mem);
    cst_motion_forget(r->w); /* factors of a state that is not taken */
    const int follows = !r->events->of_drive[k] || cst_motion_impact(r->w, other) == CST_OK;
    const int ok = follows && cst_motion_derive(r->w, other, &quiet) == CST_OK;
    cst_motion_forget(r->w);
    return ok;
}

static int any_differ(int n, const double *x, const double *y)
{
    double apart = 0;
    for (int i = 0; i < n; i++) apart = fmax(apart, fabs(x[i] - y[i]));
    return apart > SAME * (cst_largest(n, x) + cst_largest(n, y));
}

int cst_run_sides_differ(const cst_run *r, const cst_state *y, const cst_state *other)
{
    const cst_model *m = r->m;
    return any_differ(m->nu, y->u, other->u) || any_differ(m->nu, y->ud, other->ud) ||
           any_differ(m->nz, y->zd, other->zd) || any_differ(m->quad.n, y->qd, other->qd);
}
