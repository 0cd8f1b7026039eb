/* SPDX-License-Identifier: MIT
 *
 * Laws of forces that rest on a kink, or start on a switch without leaving it: their derivative is
 * that of one side. Looked for in runs that are kept for a gradient, and only where a kink's value
 * is near zero at both ends of a step. */
#include "integrator/switching.h"

#include <math.h>
#include <string.h>

#define ROUNDING 1e-12 /* of the size of what is read */

/* What is known of a kink: nothing, a force is on it, none sees it */
enum { ON_UNKNOWN, ON_ONE, ON_NONE };

/* Errors of the inputs of a tape: its coordinates have the rounding of the largest one. */
static void input_errors(const cst_run *r, const cst_tape *t, const double *reg, double *err)
{
    const cst_system *s = r->s;
    const double x[2] = {cst_run_rounding(r, 0, cst_largest(s->m->nx, s->x)),
                         cst_run_rounding(r, 1, cst_largest(s->m->nx, s->xd))};
    for (int i = 0; i < t->nchannel + t->nnumber; i++) {
        const cst_channel *c = &t->channel[i];
        err[i] = ROUNDING * fabs(reg[i]);
        if (i < t->nchannel && c->kind == CST_CH_X) err[i] = x[c->order > 0];
        if (i < t->nchannel && c->kind == CST_CH_ARG) err[i] = x[c->index > 0];
    }
    cst_tape_errors(t, reg, err);
}

void cst_rest_errors(cst_run *r)
{
    input_errors(r, r->events->tape, r->events->reg, r->events->err);
}

/* How many kinks force i is on that its law sees; *sides: the only one has slopes to its sides. The
 * system is at y: v |v| has none at rest. */
static int on_kinks(cst_run *r, int i, const cst_state *y, int *sides)
{
    const cst_force *f = &r->m->force.at[i];
    cst_events *e = r->events;
    double x[CST_MAX_NX], xd[CST_MAX_NX], fx[CST_MAX_NX], zd[CST_MAX_NX];
    cst_local l;
    cst_local_force(r->s, i, y->z, y->mem, &l, x, xd);
    f->cls->force(&l, fx, zd);
    input_errors(r, f->tape, l.reg, e->err);
    if (!cst_tape_on_kink(f->tape, l.reg, e->err, e->on)) return 0;
    memset(e->bar_of_law, 0, sizeof(double) * (size_t)f->tape->nreg);
    for (int k = 0; k < f->tape->nout; k++)
        e->bar_of_law[f->tape->out[k]] += 1 + sqrt(k); /* action and reaction must not cancel */
    const int n = cst_tape_seen(f->tape, l.reg, e->err, e->on, e->bar_of_law, e->seen);
    for (int k = 0; k < f->tape->ncode; k++)
        if (e->seen[k]) *sides = n == 1 && cst_code_has_sides(&f->tape->code[k]);
    return n;
}

/* The forces of kink k that are on it at both ends of the step y0 -> y1 */
static int note_resting(cst_run *r, int k, const cst_state *y0, const cst_state *y1)
{
    int any = 0;
    for (int i = 0; i < r->m->force.n; i++) {
        const cst_force *f = &r->m->force.at[i];
        int sides = 0;
        if (!f->tape || strcmp(f->name, r->m->kink.at[k].name) != 0) continue;
        if (!on_kinks(r, i, y1, &sides)) continue;
        cst_run_note(r, sides ? CST_INCIDENT_RESTS : CST_INCIDENT_RESTS_AT_POINT, i, k, *y0->t);
        any = 1;
    }
    return any;
}

int cst_rest_on_kink(cst_run *r, int k, const cst_state *y)
{
    int any = 0, sides;
    for (int i = 0; i < r->m->force.n; i++) {
        const cst_force *f = &r->m->force.at[i];
        if (f->tape && strcmp(f->name, r->m->kink.at[k].name) == 0)
            any |= on_kinks(r, i, y, &sides) > 0;
    }
    return any;
}

static int all_finite(int n, const double *x)
{
    for (int i = 0; i < n; i++)
        if (!isfinite(x[i])) return 0;
    return 1;
}

/* The value of event k, which equalities alone read, is zero at y: are there forces or drives in
 * which something is not finite, although they are? A guard has chosen there, and what holds beside
 * has another slope. The system is at y. */
static void note_guards(cst_run *r, int k, const cst_state *y)
{
    const cst_model *m = r->m;
    double x[CST_MAX_NX], xd[CST_MAX_NX], fx[CST_MAX_NX], zd[CST_MAX_NX];
    if (!m->event.at[k].rests) return;
    for (int i = 0; i < m->force.n; i++) {
        const cst_force *f = &m->force.at[i];
        cst_local l;
        if (!f->tape) continue;
        cst_local_force(r->s, i, y->z, y->mem, &l, x, xd);
        f->cls->force(&l, fx, zd);
        if (!all_finite(f->tape->nreg, l.reg)) cst_run_note(r, CST_INCIDENT_GUARDED, k, k, *y->t);
    }
    for (int i = 0; i < m->constraint.n; i++)
        if (m->constraint.at[i].drive &&
            !all_finite(m->constraint.at[i].drive->nreg, cst_drive_eval(r->s, i, y->mem)))
            cst_run_note(r, CST_INCIDENT_GUARDED, k, k, *y->t);
}

static int near_zero(const cst_run *r, int k, const double *value)
{
    return cst_event_distance(r->events, r->m, k, value[k]) <= CST_NEAR_KINK;
}

void cst_rest_step(cst_run *r, const cst_state *y0, const cst_state *y1)
{
    cst_events *e = r->events;
    if (!r->traj) return;
    for (int k = 0; k < e->nkink; k++) {
        if (e->judged[k] == ON_NONE || !near_zero(r, e->n + k, e->before)) continue;
        if (!near_zero(r, e->n + k, e->value)) continue;
        e->judged[k] = note_resting(r, k, y0, y1) ? ON_ONE : ON_NONE;
    }
    for (int k = 0, errors = 0; k < e->n; k++) {
        if (e->value[k] == 0 && e->before[k] != 0) note_guards(r, k, y1);
        if (!near_zero(r, k, e->before) || !near_zero(r, k, e->value)) continue;
        if (!errors++) cst_rest_errors(r);
        if (fabs(e->value[k]) <= e->err[e->tape->out[k]])
            cst_run_note(r, CST_INCIDENT_STAYS, k, k, *y0->t);
    }
    for (int k = 0; k < e->npiece; k++) {
        const int at = e->n + e->nkink + k;
        if (e->before[at] >= CST_ON_KINK && e->value[at] >= CST_ON_KINK)
            cst_run_note(r, CST_INCIDENT_LEANS, e->piece[k], k, *y0->t);
    }
}

void cst_rest_start(cst_run *r, const cst_state *y)
{
    cst_events *e = r->events;
    if (!r->traj) return;
    cst_rest_errors(r);
    for (int k = 0; k < e->n; k++) {
        if (fabs(e->value[k]) > e->err[e->tape->out[k]]) continue;
        cst_run_note(r, CST_INCIDENT_STARTS, k, k, *y->t);
        note_guards(r, k, y);
    }
}

void cst_rest_closed(cst_run *r, const cst_state *y)
{
    double x[CST_MAX_NX], xd[CST_MAX_NX];
    cst_local l;
    for (int i = 0; i < r->m->force.n; i++) {
        const cst_force *f = &r->m->force.at[i];
        if (!f->cls->singular) continue;
        cst_local_force(r->s, i, y->z, y->mem, &l, x, xd);
        if (f->cls->singular(&l)) cst_run_note(r, CST_INCIDENT_CLOSED, i, i, *y->t);
    }
}
