/* SPDX-License-Identifier: MIT
 *
 * The tape of an element: its inputs from what the element sees, and its derivatives back to them.
 */
#ifndef CST_ELEMENT_LAW_H
#define CST_ELEMENT_LAW_H

#include "element/element.h"

#include <stddef.h>

static inline int law_np(const cst_local *e) /* numbers before those of the tape */
{
    return e->np - e->tape->nnumber;
}

static inline real law_channel(const cst_local *e, const cst_channel *c, const real *arg)
{
    switch (c->kind) {
    case CST_CH_TIME:
        return e->t;
    case CST_CH_ARG:
        return arg[c->index];
    case CST_CH_X:
        return c->order == 0 ? e->x[c->index] : e->xd[c->index];
    case CST_CH_Z:
        return e->z[c->index];
    case CST_CH_MEM:
        return e->mem[c->index];
    default:
        return 0; /* the model lets no other channel into an element */
    }
}

/* Registers of the tape at the element's state; arg (2) for laws, else NULL. */
static inline void law_eval(const cst_local *e, const real *arg)
{
    const cst_tape *t = e->tape;
    for (int i = 0; i < t->nchannel; i++) e->reg[i] = law_channel(e, &t->channel[i], arg);
    for (int i = 0; i < t->nnumber; i++) e->reg[t->nchannel + i] = e->p[law_np(e) + i];
    CST_K(cst_tape_eval)(t, e->reg);
}

static inline real law_out(const cst_local *e, int k) { return e->reg[e->tape->out[k]]; }

/* w d(output k) with respect to arg (2), x, xd, z, p. Registers as after law_eval. Any of them may
 * be NULL.
 * */
static inline void law_gradient(const cst_local *e, int k, real w, real *d_arg, real *d_x,
                                real *d_xd, real *d_z, real *d_p)
{
    const cst_tape *t = e->tape;
    int ninput = t->nchannel + t->nnumber;
    real *bar = e->reg + t->nreg;
    for (int i = 0; i < t->nreg; i++) bar[i] = 0;
    bar[t->out[k]] = w;
    if (t->out[k] >= ninput)
        CST_K(cst_tape_reverse)(t, e->reg, bar); /* else the output is an input */

    for (int i = 0; d_arg != NULL && i < 2; i++) d_arg[i] = 0;
    for (int i = 0; d_x != NULL && i < e->nx; i++) d_x[i] = 0;
    for (int i = 0; d_xd != NULL && i < e->nx; i++) d_xd[i] = 0;
    for (int i = 0; d_z != NULL && i < e->nz; i++) d_z[i] = 0;
    for (int i = 0; i < t->nchannel; i++) {
        const cst_channel *c = &t->channel[i];
        real *d = NULL;
        if (c->kind == CST_CH_ARG) d = d_arg;
        if (c->kind == CST_CH_X) d = c->order == 0 ? d_x : d_xd;
        if (c->kind == CST_CH_Z) d = d_z;
        if (d != NULL) d[c->index] += bar[i];
    }
    if (d_p == NULL) return;
    for (int i = 0; i < law_np(e); i++) d_p[i] = 0;
    for (int i = 0; i < t->nnumber; i++) d_p[law_np(e) + i] = bar[t->nchannel + i];
}

/* Derivative in the explicit time of all outputs: entry k is law_out_t(e, k) afterwards. 0: time is
 * not read. */
static inline int law_time(const cst_local *e)
{
    const cst_tape *t = e->tape;
    real *dot = e->reg + t->nreg;
    int any = 0;
    for (int i = 0; i < t->nchannel + t->nnumber; i++) {
        dot[i] = i < t->nchannel && t->channel[i].kind == CST_CH_TIME;
        any |= sc_val(dot[i]) != 0;
    }
    if (any) CST_K(cst_tape_forward)(t, e->reg, dot);
    return any;
}

static inline real law_out_t(const cst_local *e, int k)
{
    return e->reg[e->tape->nreg + e->tape->out[k]];
}

#endif
