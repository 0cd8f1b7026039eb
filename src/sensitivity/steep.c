/* SPDX-License-Identifier: MIT
 *
 * Slopes that are not finite although the objective is: dy/dn of y = x^n at x < 0, where only whole
 * n have a value. When a gradient has one, the operation is looked for in the objective, at each
 * state in what it reads, then in the laws of forces, each time with the expressions of numbers
 * there; the argument must depend on the number. */
#include "sensitivity/steep.h"
#include "sensitivity/asked.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "integrator/observe.h"
#include "integrator/traj.h"
#include "number/graph_private.h"
#include "number/op.h"
#include "number/undefined.h"

typedef struct search {
    cst_run *r;
    cst_arena *a;
    unsigned char *moves; /* (values) with the number */
    unsigned char *read;  /* (registers of the outputs) by the objective */
    double t;             /* of what was found; NAN: at no time */
    const char *law;      /* of a force; NULL: of none */
    char words[200];
} search;

/* Values that depend on the number, timed ones aside. Tables and vectors of values are no
 * operations that could be steep. */
static void mark(search *s, int leaf)
{
    const cst_graph *g = s->r->m->graph;
    s->moves = cst_new(s->a, unsigned char, g->node.n + 1);
    s->moves[cst_leaf_id(g, leaf)] = 1;
    for (cst_id id = 0; id < g->node.n; id++) {
        const node *v = &g->node.at[id];
        int inputs = v->kind == NODE_VECTOR || v->kind == NODE_TABLE || v->kind == NODE_SPLINE ||
                     v->kind == NODE_REST;
        for (int k = 0; k < cst_node_arguments(v); k++) s->moves[id] |= s->moves[v->a[k]];
        if (inputs && !v->timed) s->moves[id] = 1; /* may */
    }
}

static int found(search *s, double t, const char *law, int op, int argument)
{
    size_t n = strlen(s->words), room = sizeof s->words - n;
    s->t = t, s->law = law;
    if (op == CST_OP_pow && argument == 1)
        snprintf(s->words + n, room, " has no derivative with respect to its exponent");
    else
        snprintf(s->words + n, room, " has no finite slope");
    return 1;
}

/* Numbers that what has been read of a tape is made of; t NULL: all numbers */
static int among_numbers(search *s, const cst_tape *t, const unsigned char *read)
{
    const cst_graph *g = s->r->m->graph;
    const double *val = s->r->s->val;
    unsigned char *seen = cst_new(s->a, unsigned char, g->node.n + 1);
    if (!t) memset(seen, 1, (size_t)g->node.n);
    for (int i = 0; t && i < t->nnumber; i++) seen[t->number[i]] |= read[t->nchannel + i];
    for (cst_id id = g->node.n; id-- > 0;)
        for (int k = 0; k < cst_node_arguments(&g->node.at[id]) && seen[id]; k++)
            seen[g->node.at[id].a[k]] = 1;
    for (cst_id id = 0; id < g->node.n; id++) {
        const node *v = &g->node.at[id];
        if (v->timed || !seen[id] || !s->moves[id] || !isfinite(val[id])) continue;
        int k = cst_num_steep(g, val, id);
        if (k < 0 || !s->moves[v->a[k]]) continue;
        cst_num_words(g, val, id, s->words, sizeof s->words);
        return found(s, NAN, NULL, v->op, k);
    }
    return 0;
}

/* read NULL: all of it */
static int in_tape(search *s, const cst_tape *t, const double *reg, const unsigned char *read,
                   double time, const char *law)
{
    int n0 = t->nchannel + t->nnumber;
    for (int i = 0; i < t->ncode; i++) {
        if ((read && !read[n0 + i]) || !isfinite(reg[n0 + i])) continue;
        int k = cst_tape_steep(t, reg, i), x = k < 0 ? 0 : t->code[i].a[k];
        if (k < 0 || (x >= t->nchannel && x < n0 && !s->moves[t->number[x - t->nchannel]]))
            continue;
        cst_code_words(t, reg, i, s->words, sizeof s->words);
        return found(s, time, law, t->code[i].op, k);
    }
    return 0;
}

static int in_laws(search *s, const cst_state *y)
{
    cst_run *r = s->r;
    double x[CST_MAX_NX], xd[CST_MAX_NX], fx[CST_MAX_NX], zd[CST_MAX_NX];
    for (int i = 0; i < r->m->force.n; i++) {
        const cst_force *f = &r->m->force.at[i];
        cst_local l;
        if (!f->tape) continue;
        cst_local_force(r->s, i, y->z, y->mem, &l, x, xd);
        f->cls->force(&l, fx, zd);
        if (in_tape(s, f->tape, l.reg, NULL, *y->t, f->name)) return 1;
    }
    return 0;
}

static int at_states(search *s, int laws)
{
    for (long n = 0; s->r->traj && n < s->r->traj->n; n++) {
        cst_state y = cst_run_state(s->r, n);
        cst_observe_outputs(s->r, &y);
        if (laws ? in_laws(s, &y)
                 : in_tape(s, s->r->out->tape, s->r->out->reg, s->read, *y.t, NULL))
            return 1;
    }
    return 0;
}

static void tell(cst_run *r, cst_arena *a, int o, int leaf, int more, cst_diag *d)
{
    search s = {.r = r, .a = a, .t = NAN};
    const cst_objective *psi = &r->m->objective.at[o];
    unsigned char *read = cst_new(a, unsigned char, r->objective->nreg + 1);
    cst_tape_reach(r->objective, o, read);
    mark(&s, leaf);
    s.read = cst_outputs_read(r, a, read); /* through functionals and integrals */
    int any = in_tape(&s, r->objective, r->objective_reg, read, NAN, NULL) ||
              among_numbers(&s, r->objective, read) || at_states(&s, 0) ||
              among_numbers(&s, r->out->tape, s.read) || at_states(&s, 1) ||
              among_numbers(&s, NULL, NULL);
    const char *when = isnan(s.t) ? "" : cst_arena_printf(a, "t = %.6g s: ", s.t);
    const char *law = s.law ? cst_arena_printf(a, "in '%s' ", s.law) : "";
    const char *others = more ? cst_arena_printf(a, " and %d more", more) : "";
    cst_warn(d, psi->where, "%sobjective '%s' has no derivative with respect to '%s'%s: %s%s", when,
             psi->name, r->m->leaf.at[leaf].name, others, law,
             any ? s.words : "its slope is not finite");
}

void cst_steep_tell(cst_run *r, const cst_gradient *g, cst_diag *d)
{
    cst_arena a = {0};
    if (r->steep_told) return;
    if (CST_ARENA_GUARD(&a)) {
        cst_arena_free(&a);
        return;
    }
    for (int o = 0; o < g->objectives; o++) {
        int first = -1, n = 0;
        for (int i = 0; i < g->numbers && isfinite(g->value[o]); i++)
            if (g->effect[o * g->numbers + i] == CST_NOT_FINITE && !n++) first = g->number[i];
        if (n) tell(r, &a, o, first, n - 1, d), r->steep_told = 1;
    }
    cst_arena_free(&a);
}
