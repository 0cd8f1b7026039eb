/* SPDX-License-Identifier: MIT
 *
 * What a run makes of its outputs over time: end, peak, value at an instant; and objectives from
 * these. */
#include "integrator/run.h"

#include <math.h>
#include <string.h>

#define SAME 1e-9      /* of a step: an instant this near to a state is that of the state */
#define JUMP 1e-9      /* of two values: more is not rounding, */
#define ROUNDING 1e-11 /* of the largest in the run */
#define NOTHING 1e-60  /* unless both are nothing: a tire without load has 1e-100 N */
#define TIE 1e-11      /* of a peak: beyond what rounding makes of equal ones */
#define WITHIN                                                                                     \
    800 /* log2 of (peak/s)^p, of exp(peak/w - c): a double reaches from -1022 to 1023, and an     \
           integral is the sum of many */
enum { ABOVE_ONLY = 1, BOTH_SIDES };

int cst_functional_jumps(const cst_functional_state *f, double x, double y)
{
    return fabs(x - y) > fmax(JUMP * (fabs(x) + fabs(y)), fmax(ROUNDING * f->largest, NOTHING));
}

/* Linear between the two states around the time. If the time is that of a state, the slope there is
 * the mean of both sides, or that of one side: at an end of the run, and before an event. */
static void at_instant(cst_run *r, int i, const cst_state *y, const cst_state *before, double v,
                       long index)
{
    cst_functional_state *f = &r->functional[i];
    double at = f->time, t = *y->t, slack = SAME * r->options.step;
    int near = cst_watch_near(r->watch, r->m, i);
    if (f->open && t > *before->t) {
        double above = (v - f->last) / (t - *before->t);
        if (f->open == ABOVE_ONLY) f->slope = above;
        if (f->open == BOTH_SIDES && !f->switched) f->slope = (f->slope + above) / 2;
        f->open = 0;
    }
    if (f->open && *y->tag >= 1)
        f->state = index,
        f->weight = 1; /* an event at this instant: if it moves, the value moves with it */
    if (f->open && *y->tag < 0) f->torn |= cst_functional_jumps(f, f->last, v), f->switched = index;
    if (f->open) f->last = v; /* behind an event of this instant */
    if (f->state >= 0) return;
    if (at > t + slack) {
        f->last = v, f->near = near;
    } else if (!before) {
        f->value = v, f->state = 0, f->weight = 1, f->near = near, f->last = v,
        f->open = ABOVE_ONLY;
    } else if (t > *before->t) {
        double share = (at - *before->t) / (t - *before->t);
        f->value = (1 - share) * f->last + share * v;
        f->slope = (v - f->last) / (t - *before->t);
        f->state = index, f->weight = share, f->near |= near;
        if (fabs(at - t) <= slack) f->last = v, f->open = BOTH_SIDES;
    }
}

/* If a tolerance chooses the steps, a step ends at this time. */
static void at_end_of_step(cst_run *r, int i, const cst_state *y, double v, long index)
{
    cst_functional_state *f = &r->functional[i];
    if (!cst_functional_met(r, i, *y->t)) return;
    f->slope = cst_output_change(r->out, r->out->functional + i);
    f->value = v + f->slope * (f->time -
                               *y->t); /* with the steps of another run the time may have moved */
    f->state = index, f->weight = 1, f->met = *y->t, f->near = cst_watch_near(r->watch, r->m, i);
}

/* Records peaks that are equal to rounding: which of them is the largest is then arbitrary. Values
 * before and after a change of mode at one instant do not count. */
static void note_tie(cst_functional_state *f, double v, double t, long index)
{
    int same = fabs(v - f->value) <= TIE * fabs(f->value), taken = v > f->value;
    if (taken && !same) f->ties = 0;
    if (!same || !(t > f->time)) return;
    if (f->ties < CST_TIES) f->tie[f->ties] = taken ? f->state : index;
    f->ties++;
}

/* A further event at the instant of a peak: any of them may be the one that ends it */
static void share(cst_functional_state *f, long index)
{
    if (f->event && f->ties < CST_TIES) f->tie[f->ties] = f->state;
    f->ties += f->event, f->event = 1, f->state = index;
}

void cst_functionals_at(cst_run *r, const cst_state *y, const cst_state *before, long index)
{
    const cst_model *m = r->m;
    for (int i = 0; i < m->norm.n; i++)
        r->norm[i].peak = fmax(r->norm[i].peak, cst_output_value(r->out, r->out->norm + i));
    for (int i = 0; i < m->functional.n; i++) {
        cst_functional_state *f = &r->functional[i];
        double v = cst_output_value(r->out, r->out->functional + i);
        f->largest = fmax(f->largest, fabs(v));
        int kind = m->functional.at[i].kind, taken = kind == CST_END || !before;
        if (kind == CST_AT && r->along)
            at_end_of_step(r, i, y, v, index);
        else if (kind == CST_AT)
            at_instant(r, i, y, before, v, index);
        if (kind == CST_AT) continue;
        if (kind == CST_PEAK) {
            const int again = before && *y->t == f->time &&
                              fabs(v - f->value) <= TIE * fabs(f->value); /* of the same instant */
            taken = !before || (v > f->value && !again);
            if (before) note_tie(f, v, *y->t, index);
            if (taken)
                f->state = index, f->time = *y->t, f->event = *y->tag >= 1, f->raised = *y->tag < 0;
            else if (*y->tag >= 1 && *y->h == 0 && again && !f->raised)
                share(f, index); /* it moves with the event */
        }
        if (kind == CST_END)
            f->torn =
                before && *y->t == *before->t && (f->torn || cst_functional_jumps(f, f->value, v));
        if (taken) f->value = v, f->near = cst_watch_near(r->watch, m, i);
    }
}

int cst_functional_met(const cst_run *r, int i, double t)
{
    const cst_functional_state *f = &r->functional[i];
    return r->m->functional.at[i].kind == CST_AT && f->state < 0 &&
           (r->frozen ? f->met : f->time) <= t;
}

cst_status cst_functionals_begin(cst_run *r, cst_diag *d)
{
    const cst_options *o = &r->options;
    double slack = SAME * o->step;
    for (int i = 0; i < r->m->functional.n; i++) {
        const cst_functional *f = &r->m->functional.at[i];
        cst_functional_state *at = &r->functional[i];
        double time = f->time >= 0 ? r->s->val[f->time] : o->start;
        if (!(time >= o->start - slack && time <= o->end + slack))
            return cst_error(d, CST_NUMERIC, f->where,
                             "at(x, T): T = %.9g s is not in the run, %.9g to %.9g s", time,
                             o->start, o->end);
        if (time > o->end - slack) time = o->end;
        if (time < o->start + slack) time = o->start;
        *at = (cst_functional_state){.value = NAN,
                                     .time = time,
                                     .met = r->frozen ? at->met : INFINITY,
                                     .state = -1};
    }
    for (int i = 0; i < r->m->norm.n; i++) r->norm[i].peak = r->m->norm.at[i].p > 0 ? 0 : -INFINITY;
    r->watch->rested = 0;
    memset(r->watch->near, 0, (size_t)r->watch->n);
    return CST_OK;
}

int cst_norms_review(cst_run *r)
{
    int changed = 0;
    for (int i = 0; i < r->m->norm.n; i++) {
        cst_norm_state *n = &r->norm[i];
        const double p = r->m->norm.at[i].p;
        const int power = p > 0;
        if (!isfinite(n->peak) || (power && n->peak == 0)) continue;
        const double off = power ? log2(n->peak) - n->exponent : n->peak - n->shift;
        if ((power ? p : 1 / log(2)) * fabs(off) <= WITHIN) continue;
        if (power)
            n->exponent += (int)lround(off);
        else
            n->shift += off;
        changed++;
    }
    return changed;
}

void cst_objectives_eval(cst_run *r)
{
    const cst_tape *t = r->objective;
    for (int i = 0; i < t->nchannel; i++)
        r->objective_reg[i] = r->functional[t->channel[i].index].value;
    for (int i = 0; i < t->nnumber; i++)
        r->objective_reg[t->nchannel + i] = r->s->val[t->number[i]];
    cst_tape_eval(t, r->objective_reg);
    for (int i = 0; i < t->nout; i++) {
        double value = r->objective_reg[t->out[i]];
        r->result[i] = isnan(value) ? NAN : value; /* 0/0 has a sign, which would be printed */
    }
}
