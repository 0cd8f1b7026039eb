/* SPDX-License-Identifier: MIT */
#include "integrator/events.h"

#include "number/table_eval.h"

#include <math.h>
#include <string.h>

/* Events whose modes the tape of a constraint reads. Turns are remembered too. */
static void find_drives(cst_events *e, const cst_model *m, const cst_tape *t)
{
    for (int i = 0; t && i < t->nchannel; i++)
        for (int k = 0; t->channel[i].kind == CST_CH_MEM && k < m->event.n; k++)
            if (m->event.at[k].memory == t->channel[i].index) e->of_drive[k] = 1, e->drives = 1;
}

cst_events *cst_events_new(cst_arena *a, const cst_model *m)
{
    cst_events *e = cst_new(a, cst_events, 1);
    e->tape = m->events;
    e->n = m->event.n;
    e->reg = cst_new(a, double, e->tape->nreg + 1);
    e->bar = cst_new(a, double, e->tape->nreg + 1);
    e->nkink = m->kink.n;
    e->piece = cst_new(a, int, m->force.n + 1);
    for (int i = 0; i < m->force.n; i++)
        if (m->force.at[i].cls->piece) e->piece[e->npiece++] = i;
    e->all = e->n + e->nkink + e->npiece;
    e->value = cst_new(a, double, e->all + 1);
    e->before = cst_new(a, double, e->all + 1);
    e->full = cst_new(a, double, e->all + 1);
    e->older = cst_new(a, double, e->all + 1);
    e->crossed = cst_new(a, long, e->nkink + e->npiece + 1);
    e->chatters = cst_new(a, unsigned char, e->n + 1);
    e->with = cst_new(a, int, e->n + 1);
    e->since = cst_new(a, double, e->n + 1);
    e->burst = cst_new(a, int, e->n + 1);
    e->burst_from = cst_new(a, double, e->n + 1);
    e->a = cst_new(a, double, m->nq + 1);
    e->xdd = cst_new(a, double, m->nx + 1);
    e->companion = cst_new(a, unsigned char, e->n + 1);
    e->v = cst_new(a, double, m->nq + 1);
    e->of_drive = cst_new(a, unsigned char, e->n + 1);
    for (int i = 0; i < m->constraint.n; i++) {
        const cst_constraint *c = &m->constraint.at[i];
        if (c->phases & CST_ROW_MOTION) find_drives(e, m, c->drive), find_drives(e, m, c->tape);
    }
    int most = e->tape->nreg;
    for (int i = 0; i < m->force.n; i++)
        if (m->force.at[i].tape && m->force.at[i].tape->nreg > most)
            most = m->force.at[i].tape->nreg;
    e->judged = cst_new(a, unsigned char, e->nkink + 1);
    e->on = cst_new(a, unsigned char, most + 1);
    e->seen = cst_new(a, unsigned char, most + 1);
    e->err = cst_new(a, double, most + 1), e->bar_of_law = cst_new(a, double, most + 1);
    for (int i = 0; i < e->tape->nchannel; i++) e->nested |= e->tape->channel[i].kind == CST_CH_MEM;
    e->sets.words = (e->n + 63) / 64;
    e->made = cst_new(a, uint64_t, e->sets.words + 1);
    e->at = cst_new(a, double, 1 + m->nq + m->nu + m->nz + m->memory.n);
    e->at[0] = NAN;
    return e;
}

void cst_events_bind(cst_events *e, const cst_system *s)
{
    for (int i = 0; i < e->tape->nnumber; i++)
        e->reg[e->tape->nchannel + i] = s->val[e->tape->number[i]];
    e->at[0] = NAN;
}

/* Compares e->at with a state, or keeps the state there. */
static int same_place(cst_events *e, const cst_model *m, int keep, double t, const double *q,
                      const double *u, const double *z, const double *mem)
{
    const struct {
        const double *x;
        int n;
    } part[] = {{&t, 1}, {q, m->nq}, {u, m->nu}, {z, m->nz}, {mem, m->memory.n}};
    double *at = e->at;
    for (size_t i = 0; i < sizeof part / sizeof *part; at += part[i++].n) {
        size_t size = sizeof *at * (size_t)part[i].n;
        if (keep)
            memcpy(at, part[i].x, size);
        else if (memcmp(at, part[i].x, size) != 0)
            return 0;
    }
    return 1;
}

void cst_events_again(cst_events *e, cst_system *s, double t, const double *q, const double *u,
                      const double *z, const double *mem)
{
    if (!same_place(e, s->m, 0, t, q, u, z, mem)) cst_events_eval(e, s, t, q, u, z, mem);
}

void cst_events_eval(cst_events *e, cst_system *s, double t, const double *q, const double *u,
                     const double *z, const double *mem)
{
    const cst_tape *tape = e->tape;
    if (!e->all) return;
    same_place(e, s->m, 1, t, q, u, z, mem);
    cst_system_place(s, t, q);
    cst_T(s, q, u, e->v);
    cst_system_rates(s, e->v);
    for (int i = 0; i < tape->nchannel; i++) {
        const cst_channel *c = &tape->channel[i];
        e->reg[i] = c->kind == CST_CH_X     ? (c->order ? s->xd : s->x)[c->index]
                    : c->kind == CST_CH_Z   ? z[c->index]
                    : c->kind == CST_CH_MEM ? mem[c->index]
                                            : t;
    }
    cst_tape_eval(tape, e->reg);
    for (int k = 0; k < e->n + e->nkink; k++) e->value[k] = e->reg[tape->out[k]];
    for (int k = 0; k < e->npiece; k++) {
        double x[CST_MAX_NX], xd[CST_MAX_NX];
        cst_local l;
        cst_local_force(s, e->piece[k], z, mem, &l, x, xd);
        e->value[e->n + e->nkink + k] = s->m->force.at[e->piece[k]].cls->piece(&l);
    }
}

int cst_event_crossed(const cst_events *e, const cst_model *m, int k, const double *mem)
{
    const double mode = mem[m->event.at[k].memory], g = e->value[k];
    if (!cst_event_switches(m, k, mem)) return 0;
    return mode == CST_MODE_RESTS ? g != 0 : (g > 0) != (mode > 0.5);
}

int cst_events_modes(cst_events *e, cst_system *s, cst_which which, double t, const double *q,
                     const double *u, const double *z, double *mem)
{
    int changes = 0;
    cst_events_eval(e, s, t, q, u, z, mem);
    for (int k = 0; k < e->n; k++) {
        int wanted = which == CST_ALL_MODES || e->chatters[k] ||
                     (which == CST_MODES_OF_FORCES && !e->of_drive[k]);
        if (!wanted || !cst_event_crossed(e, s->m, k, mem)) continue;
        mem[s->m->event.at[k].memory] = e->value[k] > 0, changes++;
        if (e->nested) cst_events_eval(e, s, t, q, u, z, mem);
    }
    return changes;
}

void cst_events_change(const cst_model *m, const uint64_t *set, double *mem)
{
    for (int k = 0; k < m->event.n; k++) {
        double *mode = &mem[m->event.at[k].memory];
        if (cst_set_has(set, k)) *mode = *mode > 0.5 ? 0 : 1;
    }
}

double cst_event_distance(const cst_events *e, const cst_model *m, int k, double value)
{
    const cst_table *table = k < e->n ? NULL : m->kink.at[k - e->n].table;
    return table ? table_kink(table, value) : fabs(value);
}

/* From bars of registers */
static void reverse(cst_events *e, double *x, double *xd, double *z, double *t, double *val)
{
    const cst_tape *tape = e->tape;
    cst_tape_reverse(tape, e->reg, e->bar);
    for (int i = 0; i < tape->nchannel; i++) {
        const cst_channel *c = &tape->channel[i];
        if (c->kind == CST_CH_X) (c->order ? xd : x)[c->index] += e->bar[i];
        if (c->kind == CST_CH_Z) z[c->index] += e->bar[i];
        if (c->kind == CST_CH_TIME) *t += e->bar[i];
    }
    for (int i = 0; i < tape->nnumber; i++) val[tape->number[i]] += e->bar[tape->nchannel + i];
}

void cst_event_reverse(cst_events *e, int k, double seed, double *x, double *xd, double *z,
                       double *t, double *val)
{
    memset(e->bar, 0, sizeof *e->bar * (size_t)e->tape->nreg);
    e->bar[e->tape->out[k]] = seed;
    reverse(e, x, xd, z, t, val);
}

double cst_event_zeros(cst_events *e, int k, int touched, double *x, double *xd, double *z,
                       double *t, double *val)
{
    memset(e->bar, 0, sizeof *e->bar * (size_t)e->tape->nreg);
    const int r = e->tape->out[k];
    const double err = touched ? cst_tape_zeros(e->tape, e->reg, e->err, r, e->bar)
                               : cst_tape_zero(e->err, r, e->bar);
    reverse(e, x, xd, z, t, val);
    return err;
}

double cst_event_forward(cst_events *e, int k, const double *x, const double *xd, const double *z,
                         double t, const double *val)
{
    const cst_tape *tape = e->tape;
    for (int i = 0; i < tape->nchannel; i++) {
        const cst_channel *c = &tape->channel[i];
        e->bar[i] = c->kind == CST_CH_X      ? (c->order ? xd : x)[c->index]
                    : c->kind == CST_CH_Z    ? z[c->index]
                    : c->kind == CST_CH_TIME ? t
                                             : 0;
    }
    for (int i = 0; i < tape->nnumber; i++) e->bar[tape->nchannel + i] = val[tape->number[i]];
    cst_tape_forward(tape, e->reg, e->bar);
    return e->bar[tape->out[k]];
}

double cst_event_rate(cst_events *e, cst_system *s, int k, const double *q, const double *u,
                      const double *ud, const double *zd)
{
    const cst_tape *tape = e->tape;
    cst_T(s, q, ud, e->a);
    cst_L_add(s, e->v, u, e->a);
    cst_slots_apply(s, e->a, 0, e->xdd);
    for (int i = 0; i < tape->nchannel; i++) {
        const cst_channel *c = &tape->channel[i];
        e->bar[i] = c->kind == CST_CH_X      ? (c->order ? e->xdd : s->xd)[c->index]
                    : c->kind == CST_CH_Z    ? zd[c->index]
                    : c->kind == CST_CH_TIME ? 1
                                             : 0;
    }
    memset(e->bar + tape->nchannel, 0, sizeof *e->bar * (size_t)tape->nnumber);
    cst_tape_forward(tape, e->reg, e->bar);
    return e->bar[tape->out[k]];
}
