/* SPDX-License-Identifier: MIT
 *
 * Numbers that stand on a kink or a jump of an expression of numbers alone: abs(z) at z = 0,
 * min(k1, k2) at k1 = k2, floor(n) at a whole n, a table of a number at one of its points. Partials
 * are 0 or those of one side there (op.h). */
#include "number/graph_private.h"
#include "number/table_eval.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define ROUNDING (8 * DBL_EPSILON) /* of what is compared */
#define CANCELS 1e-9               /* of its terms: both sides of a comparison move alike */

/* For operations that compare their first argument with another: the index of that argument; 0: it
 * does not compare. clamp: the nearer limit */
static int compared(const node *v, const double *val)
{
    if (v->kind != NODE_OP) return 0;
    const double x = val[v->a[0]];
    if (v->op == CST_OP_clamp) return fabs(x - val[v->a[1]]) <= fabs(x - val[v->a[2]]) ? 1 : 2;
    return v->op == CST_OP_min || v->op == CST_OP_max || (v->op >= CST_OP_lt && v->op <= CST_OP_ne);
}

static int on_kink(const cst_graph *g, const node *v, const double *val)
{
    if (v->timed) return 0;
    if (v->kind == NODE_TABLE) {
        const cst_table *t = g->table.at[v->a[2]];
        double x = val[v->a[0]];
        return table_kink(t, x) <= ROUNDING * (1 + fabs(x) / (t->x[t->n - 1] - t->x[0]));
    }
    const cst_op *op = v->kind == NODE_OP ? cst_op_table[v->op] : NULL;
    if (!op || !op->kink) return 0;
    double a[3] = {0}, size = 0;
    for (int i = 0; i < op->arity; i++) a[i] = val[v->a[i]], size = fmax(size, fabs(a[i]));
    return op->kink(a) <= ROUNDING * size;
}

int cst_graph_on_kink(const cst_graph *g, const double *val)
{
    int n = 0;
    for (cst_id id = 0; id < g->node.n; id++) n += on_kink(g, &g->node.at[id], val);
    return n;
}

/* Inputs of a value: their number, and the k-th of them */
static int inputs(const cst_graph *g, const node *v)
{
    if (v->kind == NODE_VECTOR) return g->vector.at[v->a[0]].nin;
    if (v->kind == NODE_TABLE || v->kind == NODE_SPLINE) {
        const cst_table *t = g->table.at[v->a[v->kind == NODE_TABLE ? 2 : 0]];
        return (v->kind == NODE_TABLE) + (t->y_id == CST_NONE ? 0 : t->n);
    }
    return cst_node_arguments(v);
}

static cst_id input(const cst_graph *g, const node *v, int k)
{
    if (v->kind == NODE_VECTOR) return g->input.at[g->vector.at[v->a[0]].in + k];
    if (v->kind == NODE_SPLINE) return g->table.at[v->a[0]]->y_id + k;
    return v->kind == NODE_TABLE && k > 0 ? g->table.at[v->a[2]]->y_id + k - 1 : v->a[k];
}

/* Leaves that move the two sides of a comparison apart. A leaf that moves both sides alike leaves
 * the value on the kink. */
static void part(const cst_graph *g, const double *val, const node *v, int with, cst_kinked *k)
{
    int n = cst_graph_leaves(g);
    for (int side = 0; side < 2; side++) {
        memset(k->side[side], 0, sizeof(double) * (size_t)g->node.n);
        k->side[side][v->a[side ? with : 0]] = 1;
        cst_graph_reverse(g, val, k->side[side]);
    }
    for (int i = 0; i < n; i++) {
        cst_id id = g->leaf.at[i];
        double a = k->side[0][id], b = k->side[1][id];
        if (fabs(a - b) > CANCELS * (fabs(a) + fabs(b)))
            k->op[i] = k->op[i] ? "several operations" : cst_op_table[v->op]->name;
    }
}

cst_kinked *cst_kinked_new(cst_arena *a, const cst_graph *g)
{
    cst_kinked *k = cst_new(a, cst_kinked, 1);
    k->op = cst_new(a, const char *, cst_graph_leaves(g) + 1),
    k->by = cst_new(a, const char *, g->node.n + 1);
    k->seen = cst_new(a, unsigned char, g->node.n + 1);
    for (int side = 0; side < 2; side++) k->side[side] = cst_new(a, double, g->node.n + 1);
    return k;
}

/* A value that decides between two others matters although its partial derivatives are 0. */
static void decides(const node *v, unsigned char *seen)
{
    if (v->op == CST_OP_if && v->a[1] != v->a[2])
        seen[v->a[0]] = 1; /* equal values may have different slopes */
    if (v->op == CST_OP_and || v->op == CST_OP_or) seen[v->a[0]] = seen[v->a[1]] = 1;
    if (v->op == CST_OP_not) seen[v->a[0]] = 1;
}

void cst_graph_kinked(const cst_graph *g, const double *val, double *bar, cst_kinked *k)
{
    memset(k->by, 0, sizeof *k->by * (size_t)g->node.n);
    memset(k->op, 0, sizeof *k->op * (size_t)cst_graph_leaves(g));
    for (cst_id id = g->node.n; id-- > 0;) {
        const node *v = &g->node.at[id];
        if (v->timed || v->kind == NODE_REST) continue;
        int outs = v->kind == NODE_VECTOR   ? g->vector.at[v->a[0]].nout
                   : v->kind == NODE_SPLINE ? g->table.at[v->a[0]]->n
                                            : 1;
        const char *by = NULL;
        int seen = k->seen[id];
        for (int i = 0; i < outs; i++) {
            seen |= bar[id + i] != 0;
            if (k->by[id + i]) by = k->by[id + i];
        }
        if (v->kind == NODE_LEAF && by) k->op[v->a[0]] = by;
        if (!by && seen && on_kink(g, v, val)) {
            int with = compared(v, val);
            if (with)
                part(g, val, v, with, k);
            else if (v->kind == NODE_TABLE)
                k->by[v->a[0]] = "a table"; /* its values do not move it */
            else
                by = cst_op_table[v->op]->name;
        }
        for (int i = 0; by && i < inputs(g, v); i++) k->by[input(g, v, i)] = by;
        if (v->kind == NODE_OP && seen) decides(v, k->seen);
        if (!by) cst_node_reverse(g, id, val, bar);
    }
}
