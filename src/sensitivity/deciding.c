/* SPDX-License-Identifier: MIT
 *
 * Numbers that decide: the condition n >= 3 of if(n >= 3, x, 2*x) has no bar, and is seen by
 * whoever reads the choice. Integrands and what else an objective reads decide for it alone; laws,
 * drives, events and what is remembered or held decide for all. */
#include "sensitivity/asked.h"

static void reach_more(const cst_tape *t, int out, unsigned char *scratch, unsigned char *read)
{
    cst_tape_reach(t, out, scratch);
    for (int i = 0; i < t->nreg; i++) read[i] |= scratch[i];
}

unsigned char *cst_outputs_read(const cst_run *r, cst_arena *a, const unsigned char *by_objective)
{
    const cst_tape *t = r->out->tape;
    unsigned char *scratch = cst_new(a, unsigned char, t->nreg + 1),
                  *read = cst_new(a, unsigned char, t->nreg + 1);
    for (int i = 0; i < r->objective->nchannel; i++)
        if (by_objective[i])
            reach_more(t, r->out->functional + r->objective->channel[i].index, scratch, read);
    for (int pass = 0; pass <= r->out->nested; pass++)
        for (int i = 0; i < t->nchannel; i++)
            if (t->channel[i].kind == CST_CH_QUAD && read[i])
                reach_more(t, r->out->quad + t->channel[i].index, scratch, read);
    return read;
}

void cst_deciding(const cst_run *r, cst_arena *a, int o, unsigned char *seen)
{
    const cst_model *m = r->m;
    unsigned char *read = cst_new(a, unsigned char, r->objective->nreg + 1);
    cst_tape_reach(r->objective, o, read);
    cst_tape_deciding(r->objective, read, seen);
    unsigned char *outputs = cst_outputs_read(r, a, read),
                  *scratch = cst_new(a, unsigned char, r->out->tape->nreg + 1);
    for (int i = 0; i < m->held.n; i++)
        reach_more(r->out->tape, r->out->held + i, scratch, outputs);
    cst_tape_deciding(r->out->tape, outputs, seen);
    cst_tape_deciding(m->events, NULL, seen);
    cst_tape_deciding(m->remember, NULL, seen);
    for (int i = 0; i < m->force.n; i++)
        if (m->force.at[i].tape) cst_tape_deciding(m->force.at[i].tape, NULL, seen);
    for (int i = 0; i < m->constraint.n; i++) {
        const cst_constraint *c = &m->constraint.at[i];
        if (c->tape) cst_tape_deciding(c->tape, NULL, seen);
        if (c->drive) cst_tape_deciding(c->drive, NULL, seen);
    }
}
