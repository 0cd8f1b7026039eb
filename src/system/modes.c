/* SPDX-License-Identifier: MIT
 *
 * What switches, at the place of the system: drives that read modes, and the modes themselves. */
#include "system/system.h"

double *cst_drive_eval(cst_system *s, int i, const double *mem)
{
    const cst_constraint *c = &s->m->constraint.at[i];
    const cst_tape *d = c->drive;
    for (int k = 0; k < d->nchannel; k++)
        s->reg[k] = d->channel[k].kind == CST_CH_MEM ? mem[d->channel[k].index] : s->t;
    for (int k = 0; k < d->nnumber; k++) s->reg[d->nchannel + k] = s->P[c->p + k];
    cst_tape_eval(d, s->reg);
    return s->reg;
}

void cst_drive_place(cst_system *s, int i, const double *mem)
{
    const double *reg = cst_drive_eval(s, i, mem);
    for (int k = 0; k < 3; k++) s->drive[3 * i + k] = reg[s->m->constraint.at[i].drive->out[k]];
}

/* dg_k/dt for the values in s->reg, the mechanism at rest */
static double event_rate_at_rest(cst_system *s, int k)
{
    const cst_tape *t = s->m->events;
    double *dot = s->reg + t->nreg;
    for (int i = 0; i < t->nchannel + t->nnumber; i++)
        dot[i] = i < t->nchannel && t->channel[i].kind == CST_CH_TIME;
    cst_tape_forward(t, s->reg, dot);
    return dot[t->out[k]];
}

/* Events are evaluated in order: an event reads modes of earlier ones only */
void cst_modes_place(cst_system *s, const double *z, int ahead, double *mem)
{
    const cst_tape *t = s->m->events;
    for (int k = 0, changed = 1; k < s->m->event.n; k++) {
        for (int i = 0; changed && i < t->nchannel; i++) {
            const cst_channel *c = &t->channel[i];
            s->reg[i] = c->kind == CST_CH_X     ? (c->order ? s->xd : s->x)[c->index]
                        : c->kind == CST_CH_MEM ? mem[c->index]
                        : c->kind == CST_CH_Z   ? (z ? z[c->index] : 0)
                                                : s->t;
        }
        for (int i = 0; changed && i < t->nnumber; i++)
            s->reg[t->nchannel + i] = s->val[t->number[i]];
        if (changed) cst_tape_eval(t, s->reg);
        double *mode = &mem[s->m->event.at[k].memory], g = s->reg[t->out[k]];
        double now = (g == 0 && ahead ? event_rate_at_rest(s, k) : g) > 0;
        changed = *mode != now;
        *mode = now;
    }
}
