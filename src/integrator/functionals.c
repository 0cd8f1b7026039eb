/* SPDX-License-Identifier: MIT
 *
 * What a run makes of its outputs over time: end, peak, value at an instant; and objectives from these. */
#include "integrator/run.h"

#include <math.h>

void cst_functionals_at(cst_run *r, const cst_state *y, const cst_state *before, long index)
{
    const cst_model *m = r->m;
    for (int i = 0; i < m->functional.n; i++) {
        cst_functional_state *f = &r->functional[i];
        double v = cst_output_value(r->out, r->out->functional + i);
        switch (m->functional.at[i].kind) {
        case CST_START:
            if (!before) f->value = v;
            break;
        case CST_END: f->value = v; break;
        case CST_PEAK:
            if (before && v == f->value && *y->t > f->time) f->tied = 1; /* not the same instant after a change of mode */
            if (!before || v > f->value) f->value = v, f->state = index, f->time = *y->t, f->tied = 0;
            break;
        case CST_AT: { /* linear between the two states around the time, or the state at this time */
            double at = f->time;
            if (r->along && before) {
                if (!cst_functional_met(r, i, *y->t)) break;
                f->slope = cst_output_change(r->out, r->out->functional + i);
                f->value = v + f->slope * (at - *y->t); /* with the steps of another run the time may have moved */
                f->state = index, f->weight = 1, f->met = *y->t;
                break;
            }
            if (!before) f->state = -1, f->weight = v; /* weight holds the last value until the time is met */
            if (!before && at <= *y->t) f->value = v, f->state = 0, f->weight = 1;
            if (before && f->state < 0) {
                if (at <= *y->t && *y->t > *before->t) {
                    double share = (at - *before->t) / (*y->t - *before->t);
                    f->value = (1 - share) * f->weight + share * v;
                    f->slope = (v - f->weight) / (*y->t - *before->t);
                    f->state = index, f->weight = share;
                } else {
                    f->weight = v;
                }
            }
            break;
        }
        }
    }
}

int cst_functional_met(const cst_run *r, int i, double t)
{
    const cst_functional_state *f = &r->functional[i];
    return r->m->functional.at[i].kind == CST_AT && f->state < 0 && (r->frozen ? f->met : f->time) <= t;
}

void cst_functionals_begin(cst_run *r)
{
    for (int i = 0; i < r->m->functional.n; i++) {
        const cst_functional *f = &r->m->functional.at[i];
        cst_functional_state *at = &r->functional[i];
        double time = f->time >= 0 ? r->s->val[f->time] : 0;
        *at = (cst_functional_state){.value = NAN, .time = time, .met = r->frozen ? at->met : INFINITY, .state = -1};
    }
}

void cst_objectives_eval(cst_run *r)
{
    const cst_tape *t = r->objective;
    for (int i = 0; i < t->nchannel; i++) r->objective_reg[i] = r->functional[t->channel[i].index].value;
    for (int i = 0; i < t->nnumber; i++) r->objective_reg[t->nchannel + i] = r->s->val[t->number[i]];
    cst_tape_eval(t, r->objective_reg);
    for (int i = 0; i < t->nout; i++) r->result[i] = r->objective_reg[t->out[i]];
}
