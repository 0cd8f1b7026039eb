/* SPDX-License-Identifier: MIT
 *
 * Measures and objectives that are not finite: which operation made them so, and when. Each value
 * is checked when it is computed, by one comparison; the operation is traced only for values that
 * are not finite. */
#include "integrator/undefined.h"

#include <math.h>
#include <stdio.h>

#include "number/undefined.h"

enum { TOLD = 8, WORDS = 120 }; /* measures that are named */

/* Records: of components, then of integrals, then of functionals */
static cst_undefined *of_component(const cst_run *r, int i) { return &r->undefined[i]; }
static cst_undefined *of_quad(const cst_run *r, int i)
{
    return &r->undefined[r->m->component.n + i];
}
static cst_undefined *of_functional(const cst_run *r, int i)
{
    return &r->undefined[r->m->component.n + r->m->quad.n + i];
}

cst_undefined *cst_undefined_new(cst_arena *a, const cst_model *m)
{
    return cst_new(a, cst_undefined, m->component.n + m->quad.n + m->functional.n + 1);
}

void cst_undefined_begin(cst_run *r)
{
    int n = r->m->component.n + r->m->quad.n + r->m->functional.n;
    for (int i = 0; i < n; i++) r->undefined[i].t = NAN;
}

/* ---- at each state ---- */

static void note(const cst_run *r, cst_undefined *u, int output, double t)
{
    const cst_output *o = r->out;
    const cst_tape *tape = o->tape;
    *u = (cst_undefined){.t = t, .reg = cst_tape_undefined(tape, o->reg, tape->out[output])};
    int code = u->reg - tape->nchannel - tape->nnumber;
    for (int k = 0; k < 3 && code >= 0 && tape->code[code].op >= 0; k++)
        u->a[k] = o->reg[tape->code[code].a[k]];
}

/* Is the functional's value that of state `index`, or may it still be? */
static int reads(const cst_run *r, int i, long index, int *open)
{
    const cst_functional_state *f = &r->functional[i];
    int kind = r->m->functional.at[i].kind;
    *open = kind == CST_END || (kind == CST_AT && f->state < 0);
    return *open || (kind == CST_START ? index == 0 : f->state == index);
}

void cst_undefined_state(cst_run *r, double t, long index)
{
    const cst_model *m = r->m;
    const cst_output *o = r->out;
    for (int i = 0; i < m->component.n && r->observe; i++) {
        cst_undefined *u = of_component(r, i);
        if (!isfinite(cst_output_value(o, i)) && isnan(u->t)) note(r, u, i, t);
    }
    for (int i = 0; i < m->quad.n; i++) {
        cst_undefined *u = of_quad(r, i);
        if (!isfinite(cst_output_value(o, o->quad + i)) && isnan(u->t)) note(r, u, o->quad + i, t);
    }
    for (int i = 0; i < m->functional.n; i++) {
        int open, bad = !isfinite(cst_output_value(o, o->functional + i));
        if (!reads(r, i, index, &open)) continue;
        if (bad)
            note(r, of_functional(r, i), o->functional + i, t);
        else if (open)
            of_functional(r, i)->t = NAN;
    }
}

/* ---- in words ---- */

static const char *value_text(double x) { return isnan(x) ? "undefined" : x > 0 ? "inf" : "-inf"; }

/* The innermost measure that output `out` reads and that contains the operation; -1: there is none
 */
static int measure_around(const cst_run *r, cst_arena *a, int out, int reg)
{
    const cst_tape *t = r->out->tape;
    unsigned char *seen = cst_new(a, unsigned char, t->nreg + 1),
                  *reach = cst_new(a, unsigned char, t->nreg + 1);
    int inner = -1;
    cst_tape_reach(t, out, seen);
    for (int i = 0; i < r->m->component.n; i++) {
        if (!seen[t->out[i]] || t->out[i] < reg || (inner >= 0 && t->out[inner] <= t->out[i]))
            continue;
        cst_tape_reach(t, i, reach);
        if (reach[reg]) inner = i;
    }
    return inner;
}

/* What output `out`, whose record is u, has met: the time, the measure that contains it (-1: none)
 * and the operation ("": not known) */
typedef struct cause {
    double t;
    int component;
    char words[WORDS];
} cause;

static void number_words(const cst_run *r, cst_id id, char *to)
{
    cst_num_words(r->m->graph, r->s->val, cst_num_undefined(r->m->graph, r->s->val, id), to, WORDS);
}

static cause find(const cst_run *r, cst_arena *a, int out, const cst_undefined *u)
{
    const cst_tape *t = r->out->tape;
    int n0 = t->nchannel + t->nnumber;
    for (int depth = 0; depth <= r->m->quad.n && !isnan(u->t) && u->reg < t->nchannel &&
                        t->channel[u->reg].kind == CST_CH_QUAD;
         depth++) {
        int q = t->channel[u->reg].index; /* not finite any more since its integrand was not */
        if (isnan(of_quad(r, q)->t)) break;
        u = of_quad(r, q), out = r->out->quad + q;
    }
    cause c = {.t = u->t, .component = -1};
    if (isnan(u->t)) return c;
    c.component = measure_around(r, a, out, u->reg);
    if (u->reg >= n0)
        cst_op_words(t->code[u->reg - n0].op, u->a, c.words, sizeof c.words);
    else if (u->reg >= t->nchannel)
        number_words(r, t->number[u->reg - t->nchannel], c.words);
    return c;
}

static cst_where place_of(const cst_model *m, int component)
{
    for (int i = 0; i < m->measure.n; i++)
        if (component >= m->measure.at[i].first &&
            component < m->measure.at[i].first + m->measure.at[i].n)
            return m->measure.at[i].where;
    return (cst_where){.file = m->file};
}

/* Those that contain the operation themselves, of all that read it */
static void tell_measures(const cst_run *r, cst_arena *a, cst_diag *d)
{
    int told = 0;
    for (int i = 0; i < r->m->component.n && r->observe; i++) {
        if (isnan(of_component(r, i)->t)) continue;
        cause c = find(r, a, i, of_component(r, i));
        if (c.component != i && c.component >= 0 && !isnan(of_component(r, c.component)->t))
            continue;
        if (++told > TOLD) continue;
        const char *takes = *c.words ? ": it takes " : "";
        cst_warn(d, place_of(r->m, i), "t = %.6g s: '%s' is not finite%s%s", c.t,
                 r->m->component.at[i].name, takes, c.words);
    }
    if (told > TOLD)
        cst_warn(d, (cst_where){.file = r->m->file}, "and %d more measures are not finite",
                 told - TOLD);
}

static void tell_objective(const cst_run *r, cst_arena *a, int o, cst_diag *d)
{
    const cst_tape *t = r->objective;
    const cst_objective *psi = &r->m->objective.at[o];
    int n0 = t->nchannel + t->nnumber, reg = cst_tape_undefined(t, r->objective_reg, t->out[o]);
    cause c = {.t = NAN, .component = -1};
    if (reg >= n0)
        cst_code_words(t, r->objective_reg, reg - n0, c.words, sizeof c.words);
    else if (reg >= t->nchannel)
        number_words(r, t->number[reg - t->nchannel], c.words);
    else
        c = find(r, a, r->out->functional + t->channel[reg].index,
                 of_functional(r, t->channel[reg].index));
    const char *when = isnan(c.t) ? "" : cst_arena_printf(a, "t = %.6g s: ", c.t);
    const char *who =
        c.component < 0 ? "it" : cst_arena_printf(a, "'%s'", r->m->component.at[c.component].name);
    const char *why = *c.words ? cst_arena_printf(a, ": %s takes %s", who, c.words) : "";
    cst_warn(d, psi->where, "%sobjective '%s' is %s%s", when, psi->name, value_text(r->result[o]),
             why);
}

void cst_undefined_tell(cst_run *r, cst_diag *d)
{
    int any = 0;
    for (int i = 0; i < r->m->component.n && r->observe; i++) any |= !isnan(of_component(r, i)->t);
    for (int o = 0; o < r->m->objective.n; o++) any |= !isfinite(r->result[o]);
    if (!any || r->undefined_told) return;
    r->undefined_told = 1;
    cst_arena a = {0};
    if (CST_ARENA_GUARD(&a)) {
        cst_arena_free(&a);
        return;
    }
    tell_measures(r, &a, d);
    for (int o = 0; o < r->m->objective.n; o++)
        if (!isfinite(r->result[o])) tell_objective(r, &a, o, d);
    cst_arena_free(&a);
}
