/* SPDX-License-Identifier: MIT
 *
 * Objectives at kinks, in words. */
#include "number/op.h"
#include "sensitivity/lone.h"
#include "sensitivity/rough.h"

#define LONE                                                                                       \
    "has two one-sided slopes that differ by the order of the step, and the gradient uses the "    \
    "slopes inside the steps"
enum { TOLD = 3 }; /* numbers by name */

/* The component of a measure that a register of the outputs holds, or NULL */
static const char *measured(const cst_run *r, int reg)
{
    for (int i = 0; i < r->m->component.n; i++)
        if (r->out->tape->out[i] == reg) return r->m->component.at[i].name;
    return NULL;
}

/* "t = 0.3 s: objective 'o' has no derivative: it is on the kink of abs in 'p.z'" */
static void tell(const cst_study *s, int o, const cst_rough_place *p, const char *what,
                 cst_arena *a, cst_diag *d)
{
    const cst_run *r = s->r;
    const cst_objective *psi = &r->m->objective.at[o];
    const cst_tape *t = p->in_objective ? r->objective : r->out->tape;
    const cst_code *c = &t->code[p->code];
    const char *op = c->op == CST_CODE_TABLE ? "a table"
                     : p->pole               ? "1/"
                               : cst_op_table[c->op]->name; /* has_pole() of tape_kink.c */
    const char *when = p->in_objective ? "" : cst_arena_printf(a, "t = %.6g s: ", p->t),
               *who = "it", *by = "";
    const char *whole = p->in_objective ? NULL : measured(r, t->nchannel + t->nnumber + p->code);
    const char *x = p->in_objective || whole ? NULL : measured(r, c->a[0]);
    if (whole) who = cst_arena_printf(a, "'%s'", whole);
    if (x) by = cst_arena_printf(a, " in '%s'", x);
    cst_warn(d, psi->where, "%sobjective '%s' %s: %s is on the kink of %s%s", when, psi->name, what,
             who, op, by);
}

/* "has no derivative" or, where it has one with respect to other numbers, "... with respect to 'x',
 * 'y', 'z' and 2 more" */
static const char *without(const cst_study *s, int o, int n, const int *number,
                           const unsigned char *by, cst_arena *a)
{
    const cst_model *m = s->r->m;
    const unsigned char *row = by + (size_t)o * (size_t)cst_graph_leaves(m->graph);
    const char *text = "has no derivative";
    int count = 0;
    for (int i = 0; i < n; i++) count += row[number[i]];
    if (count == n && n > CST_MOST_ASKED && s->moves)
        return cst_arena_printf(
            a,
            "has no derivative with respect to some numbers (choose at most %d to be told which)",
            CST_MOST_ASKED);
    if (count == n) return text;
    for (int i = 0, told = 0; i < n && told < TOLD; i++) {
        if (!row[number[i]]) continue;
        text = cst_arena_printf(a, "%s%s '%s'", text, told++ ? "," : " with respect to",
                                m->leaf.at[number[i]].name);
    }
    return count > TOLD ? cst_arena_printf(a, "%s and %d more", text, count - TOLD) : text;
}

void cst_rough_tell(const cst_study *s, int n, const int *number, const unsigned char *by,
                    cst_arena *a, cst_diag *d)
{
    const cst_run *r = s->r;
    const cst_model *m = r->m;
    for (int o = 0; o < m->objective.n; o++) {
        const cst_rough_place *p = &s->at[o];
        const char *what = s->rough[o] ? without(s, o, n, number, by, a) : "";
        if (s->rough[o] && p->tie)
            cst_warn(d, m->objective.at[o].where,
                     "objective '%s' %s: t = %.6g s and t = %.6g s share its peak",
                     m->objective.at[o].name, what, p->t, p->other);
        else if (s->rough[o] && p->code >= 0)
            tell(s, o, p, what, a, d);
        if (!s->rough[o] && s->lone[o].code >= 0 && (!s->moves || cst_lone_at(r, s->lone[o].n)))
            tell(s, o, &s->lone[o], LONE, a, d);
    }
}
