/* SPDX-License-Identifier: MIT */
#include "system/output.h"

#include <math.h>
#include <string.h>

static int reads(const cst_tape *t, cst_channel_kind kind, int order)
{
    for (int i = 0; i < t->nchannel; i++)
        if (t->channel[i].kind == kind && (order < 0 || t->channel[i].order == order)) return 1;
    return 0;
}

cst_output *cst_output_new(cst_arena *a, const cst_model *m)
{
    cst_output *o = cst_new(a, cst_output, 1);
    o->tape = m->output;
    o->memory = m->remember;
    o->quad = m->component.n;
    o->functional = o->quad + m->quad.n;
    o->held = o->functional + m->functional.n;
    o->norm = o->held + m->held.n;
    for (int i = 0; i < m->quad.n; i++) o->nested += m->quad.at[i].nested;
    o->needs_xdd = reads(o->tape, CST_CH_X, 2);
    o->needs_force = reads(o->tape, CST_CH_FORCE, -1);
    o->needs_react = reads(o->tape, CST_CH_REACT, -1);
    o->needs_system = reads(o->tape, CST_CH_SYSTEM, -1);
    o->reg = cst_new(a, double, o->tape->nreg + 1);
    o->bar = cst_new(a, double, o->tape->nreg + 1);
    o->memory_reg = cst_new(a, double, o->memory->nreg + 1);
    o->xdd = cst_new(a, double, m->nx + 1);
    o->felt = cst_new(a, cst_marker, m->slot.n + CST_AHEAD);
    o->force = cst_new(a, double, m->nforce + 1);
    o->react = cst_new(a, double, m->nreact + 1);
    o->ambient = cst_new(a, double, m->nq + 1);
    o->ambient2 = cst_new(a, double, m->nq + 1);
    return o;
}

/* ground has no acceleration */
static void find_felt(cst_output *o, const cst_system *s)
{
    memset(o->xdd, 0, sizeof *o->xdd * (size_t)s->m->nx);
    for (int i = 0; i < o->tape->nchannel; i++)
        if (o->tape->channel[i].kind == CST_CH_X && o->tape->channel[i].order == 2)
            o->xdd[o->tape->channel[i].index] = 1;
    o->nfelt = 0;
    for (const cst_marker *k = s->marker, *end = k + s->nmarker; k < end; k++) {
        double any = o->xdd[k->x];
        for (int j = 1; k->n && j < 3; j++) any += o->xdd[k->x + j];
        if (any != 0) o->felt[o->nfelt++] = *k;
    }
    memset(o->xdd, 0, sizeof *o->xdd * (size_t)s->m->nx);
}

void cst_output_bind(cst_output *o, const cst_system *s)
{
    find_felt(o, s);
    for (int i = 0; i < o->tape->nnumber; i++)
        o->reg[o->tape->nchannel + i] = s->val[o->tape->number[i]];
    for (int i = 0; i < o->memory->nnumber; i++)
        o->memory_reg[o->memory->nchannel + i] = s->val[o->memory->number[i]];
}

static double violation(cst_system *s, const double *mem, double *phi)
{
    double worst = 0;
    memset(phi, 0, sizeof *phi * (size_t)s->m->nrow);
    cst_constraints(s, mem, CST_ROW_MOTION, phi);
    for (int i = 0; i < s->m->nrow; i++) worst = fmax(worst, fabs(phi[i]));
    return worst;
}

void cst_output_eval(cst_output *o, cst_system *s, const cst_point_of_motion *at)
{
    const cst_tape *tape = o->tape;
    double sys[CST_SYS_COUNT] = {0}, *v = o->ambient, *a = o->ambient2;
    cst_system_place(s, at->t, at->q);
    cst_T(s, at->q, at->u, v);
    cst_system_rates(s, v);
    if (o->needs_xdd) {
        cst_T(s, at->q, at->ud, a);
        cst_L_add(s, v, at->u, a);
        cst_markers_apply(s, o->nfelt, o->felt, a, o->xdd);
    }
    if (o->needs_force) cst_forces_add(s, at->z, at->mem, NULL, NULL, o->force);
    if (o->needs_react) cst_reactions_add(s, at->mem, at->lambda, CST_ROW_MOTION, NULL, o->react);
    if (o->needs_system) {
        sys[CST_SYS_KINETIC] = cst_energy_kinetic(s, v);
        sys[CST_SYS_POTENTIAL] = cst_energy_potential(s, at->q, at->mem);
        sys[CST_SYS_DISSIPATION] = cst_power_dissipated(s, at->z, at->mem);
        sys[CST_SYS_VIOLATION] = violation(s, at->mem, s->row);
    }
    for (int i = 0; i < tape->nchannel; i++) {
        const cst_channel *c = &tape->channel[i];
        const double *x[3] = {s->x, s->xd, o->xdd};
        switch (c->kind) {
        case CST_CH_TIME:
            o->reg[i] = at->t;
            break;
        case CST_CH_X:
            o->reg[i] = x[c->order][c->index];
            break;
        case CST_CH_Z:
            o->reg[i] = at->z[c->index];
            break;
        case CST_CH_MEM:
            o->reg[i] = at->mem[c->index];
            break;
        case CST_CH_FORCE:
            o->reg[i] = o->force[c->index];
            break;
        case CST_CH_REACT:
            o->reg[i] = o->react[c->index];
            break;
        case CST_CH_SYSTEM:
            o->reg[i] = sys[c->index];
            break;
        case CST_CH_QUAD:
            o->reg[i] = at->quad[c->index];
            break;
        case CST_CH_ARG:
        case CST_CH_RESULT:
            o->reg[i] = NAN;
            break; /* never in a measure */
        }
    }
    cst_tape_eval(tape, o->reg);
}

void cst_output_forward(cst_output *o, const cst_output_changes *c)
{
    const cst_tape *t = o->tape;
    const double *x[3] = {c->x, c->xd, c->xa};
    for (int i = 0; i < t->nchannel; i++) {
        const cst_channel *ch = &t->channel[i];
        double y = 0;
        switch (ch->kind) {
        case CST_CH_X:
            y = x[ch->order][ch->index];
            break;
        case CST_CH_Z:
            y = c->z[ch->index];
            break;
        case CST_CH_FORCE:
            y = c->force[ch->index];
            break;
        case CST_CH_REACT:
            y = c->react[ch->index];
            break;
        case CST_CH_SYSTEM:
            y = c->sys[ch->index];
            break;
        case CST_CH_QUAD:
            y = c->quad[ch->index];
            break;
        case CST_CH_TIME:
            y = c->t;
            break;
        case CST_CH_MEM:
        case CST_CH_ARG:
        case CST_CH_RESULT:
            break;
        }
        o->bar[i] = y;
    }
    for (int i = 0; i < t->nnumber; i++) o->bar[t->nchannel + i] = c->val[t->number[i]];
    cst_tape_forward(t, o->reg, o->bar);
}

double cst_output_change(const cst_output *o, int output) { return o->bar[o->tape->out[output]]; }

double cst_output_value(const cst_output *o, int output) { return o->reg[o->tape->out[output]]; }

void cst_memory_update(cst_output *o, cst_system *s, double *mem)
{
    const cst_tape *t = o->memory;
    if (!t->nout) return;
    for (int i = 0; i < t->nchannel; i++) {
        const cst_channel *c = &t->channel[i];
        o->memory_reg[i] = c->kind == CST_CH_X     ? s->x[c->index]
                           : c->kind == CST_CH_MEM ? mem[c->index]
                                                   : s->t;
    }
    cst_tape_eval(t, o->memory_reg);
    for (int i = 0; i < t->nout; i++) mem[i] = o->memory_reg[t->out[i]];
}
