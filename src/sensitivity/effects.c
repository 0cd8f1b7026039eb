/* SPDX-License-Identifier: MIT
 *
 * Effects of incidents on slopes: which numbers they concern, and how that is said. */
#include "sensitivity/concern.h"

#include <math.h>
#include <string.h>

#include "number/op.h"

#define BESIDE 1e-10 /* of the largest change of the same operands: rounding of slopes */
#define CLEAR 1e3    /* of the rounding of what vanishes: a change that is none of rounding */
#define ALIKE 1e-6   /* of the largest influence: sides that differ by less are one */
enum { NAMED = 3 };  /* numbers in a message */

/* The least |slope| size that is a change: of the operands' rounding, and beside the largest of
 * all, because the slopes have a rounding of their own */
static double least_change(const cst_concern *c, int i, const double *size)
{
    const int nleaf = cst_graph_leaves(c->r->m->graph);
    const double *slope = c->slope + (size_t)c->column[i] * (size_t)nleaf;
    double err = 0, largest = 0;
    if (c->found.list.at[i].kind == CST_INCIDENT_GRAZED) return 0; /* any rounding counts there */
    for (int k = 0; k < c->found.list.n; k++)
        if (c->column[k] == c->column[i]) err += c->err.at[k];
    for (int k = 0; k < nleaf; k++)
        if (isfinite(slope[k])) largest = fmax(largest, fabs(slope[k]) * size[k]);
    return fmax(CLEAR * err, BESIDE * largest);
}

static int reads(const cst_concern *c, int o, int i)
{
    const cst_incident *x = &c->found.list.at[i];
    if (cst_incident_table[x->kind].of == CST_OF_OBJECTIVE) return x->k == o;
    return c->until[o] > x->t;
}

static void raise(cst_effect *e, cst_effect to)
{
    if (*e == CST_EXACT || *e == CST_NO_EFFECT || (*e == CST_ONE_SIDED && to == CST_NOT_SMOOTH))
        *e = to;
}

typedef struct subject {
    const char *name;
    cst_where where;
} subject;

static subject subject_of(const cst_model *m, const cst_incident *x)
{
    switch (cst_incident_table[x->kind].of) {
    case CST_OF_EVENT:
        return (subject){m->event.at[x->k].name, m->event.at[x->k].where};
    case CST_OF_FORCE:
        return (subject){m->force.at[x->k].name, m->force.at[x->k].where};
    case CST_OF_OBJECTIVE:
        break;
    }
    return (subject){m->objective.at[x->k].name, m->objective.at[x->k].where};
}

/* "'a', 'b', 'c' and 2 more numbers" */
static const char *names(const cst_model *m, cst_arena *a, const int *moved, int n)
{
    const char *text = "";
    for (int i = 0; i < n && i < NAMED; i++)
        text = cst_arena_printf(a, "%s%s'%s'", text, i ? ", " : "", m->leaf.at[moved[i]].name);
    return n > NAMED ? cst_arena_printf(a, "%s and %d more numbers", text, n - NAMED) : text;
}

static void tell(const cst_concern *c, cst_arena *a, const cst_incident *x, const int *moved, int n,
                 cst_diag *d)
{
    const cst_incident_class *of = &cst_incident_table[x->kind];
    const cst_model *m = c->r->m;
    const subject s = subject_of(m, x);
    const char *other = "", *words = of->words;
    if (x->kind == CST_INCIDENT_ORDERED && strcmp(m->event.at[x->other].name, s.name) == 0)
        words = "switches twice at the same instant, and the order matters";
    else if (x->kind == CST_INCIDENT_ORDERED)
        other = cst_arena_printf(a, " and '%s'", m->event.at[x->other].name);
    if (of->effect == CST_EXACT)
        cst_warn(d, s.where, "t = %.6g s: '%s' %s", x->t, s.name, of->words);
    else
        cst_warn(d, s.where, "t = %.6g s: '%s'%s %s: with respect to %s %s", x->t, s.name, other,
                 words, names(m, a, moved, n),
                 of->effect == CST_ONE_SIDED ? "slopes are those of one side"
                                             : "there is no derivative");
}

/* The largest influence of a number on objective o */
static double largest_influence(const cst_concern *c, const double *size, const double *slope,
                                int o)
{
    const int nleaf = cst_graph_leaves(c->r->m->graph);
    double largest = 0;
    for (int i = 0; i < nleaf; i++) {
        const double influence = fabs(slope[(size_t)o * (size_t)nleaf + (size_t)i]) * size[i];
        if (isfinite(influence)) largest = fmax(largest, influence);
    }
    return largest;
}

/* One incident: the numbers that it concerns, in moved; how many. change (leaves): of its operands,
 * by the size of each number; NULL: not known */
static int raise_by(const cst_concern *c, int k, const double *change, const double *largest, int n,
                    const int *number, cst_effect *effect, int *moved)
{
    const int nobj = c->r->m->objective.n;
    int nmoved = 0;
    for (int i = 0; i < n; i++) {
        int any = 0;
        for (int o = 0; o < nobj; o++) {
            cst_effect *e = &effect[o * n + i];
            const double apart = c->apart[k * nobj + o];
            if (!reads(c, o, k) || (*e != CST_EXACT && *e != CST_NO_EFFECT && *e != CST_ONE_SIDED))
                continue;
            if (change &&
                !(change[number[i]] > 0 && apart * change[number[i]] > ALIKE * largest[o]))
                continue;
            raise(e, cst_incident_table[c->found.list.at[k].kind].effect);
            any = 1;
        }
        if (any) moved[nmoved++] = number[i];
    }
    return nmoved;
}

/* change (leaves): of the operands of incident k by the size of each number; 0: what is rounding */
static void find_change(const cst_concern *c, int k, const double *size, double *change)
{
    const int nleaf = cst_graph_leaves(c->r->m->graph);
    const double *slope = c->slope + (size_t)c->column[k] * (size_t)nleaf;
    const double least = least_change(c, k, size);
    for (int i = 0; i < nleaf; i++) {
        const double x = fabs(slope[i]) * size[i];
        change[i] = x > least ? x : isfinite(x) ? 0 : INFINITY;
    }
}

/* Numbers that stand on the kink of an operation of numbers */
static void raise_numbers(const cst_concern *c, int n, const int *number, cst_effect *effect,
                          cst_diag *d)
{
    const cst_model *m = c->r->m;
    for (int i = 0; i < n && c->op; i++) {
        const cst_leaf *p = &m->leaf.at[number[i]];
        const char *op = NULL;
        for (int o = 0; o < m->objective.n; o++) {
            const char *by = c->op[(size_t)o * (size_t)m->leaf.n + (size_t)number[i]];
            if (!by) continue;
            raise(&effect[o * n + i], cst_op_has_sides(by) ? CST_ONE_SIDED : CST_NOT_SMOOTH);
            op = by;
        }
        if (op)
            cst_warn(d, p->where, "'%s' is on the kink of %s: %s", p->name, op,
                     cst_op_has_sides(op) ? "slopes with respect to it are those of one side"
                                          : "there is no derivative with respect to it");
    }
}

void cst_concern_raise(const cst_concern *c, const double *size, const double *slope, int n,
                       const int *number, cst_effect *effect, cst_diag *d)
{
    const cst_model *m = c->r->m;
    cst_arena *a = cst_arena_child(c->a);
    int *moved = cst_new(a, int, n + 1);
    double *change = cst_new(a, double, m->leaf.n + 1);
    double *largest = cst_new(a, double, m->objective.n + 1);
    for (int o = 0; o < m->objective.n && c->slope; o++)
        largest[o] = largest_influence(c, size, slope, o);
    for (int k = 0; k < c->found.list.n; k++) {
        int nmoved = 0;
        if (c->column[k] >= 0 && c->slope) find_change(c, k, size, change);
        if (c->column[k] >= 0)
            nmoved = raise_by(c, k, c->slope ? change : NULL, largest, n, number, effect, moved);
        if (nmoved || c->column[k] < 0) tell(c, a, &c->found.list.at[k], moved, nmoved, d);
    }
    raise_numbers(c, n, number, effect, d);
    cst_arena_free(a);
}
