/* SPDX-License-Identifier: MIT */
#include "number/undefined.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>

#include "number/graph_private.h"
#include "number/op.h"

/* The earliest of the arguments whose value is not finite; -1: all are finite. An argument that is
 * not selected does not count. */
static int blame(int op, int arity, const int *a, const double *value)
{
    int at = -1;
    for (int k = 0; k < arity; k++) {
        int x = a[k], unselected = op == CST_OP_if && k > 0 && isfinite(value[a[0]]) &&
                                   (k == 1) != (value[a[0]] != 0);
        if (!unselected && !isfinite(value[x]) && (at < 0 || x < at)) at = x;
    }
    return at;
}

static int arity_of(const cst_code *c)
{
    return c->op == CST_CODE_CONST ? 0 : c->op == CST_CODE_TABLE ? 1 : cst_op_table[c->op]->arity;
}

int cst_tape_undefined(const cst_tape *t, const double *reg, int at)
{
    int n0 = t->nchannel + t->nnumber;
    while (at >= n0) {
        const cst_code *c = &t->code[at - n0];
        int from = blame(c->op, arity_of(c), c->a, reg);
        if (from < 0) break;
        at = from;
    }
    return at;
}

cst_id cst_num_undefined(const cst_graph *g, const double *val, cst_id at)
{
    for (cst_id from = at; from >= 0;) {
        const node *v = &g->node.at[at = from];
        from = blame(v->kind == NODE_OP ? v->op : -1, cst_node_arguments(v), v->a, val);
    }
    return at;
}

static int steep(int op, const double *a, double y)
{
    double d[3];
    cst_op_table[op]->partial(a, y, d);
    for (int k = 0; k < cst_op_table[op]->arity; k++)
        if (!isfinite(d[k])) return k;
    return -1;
}

int cst_tape_steep(const cst_tape *t, const double *reg, int i)
{
    const cst_code *c = &t->code[i];
    return c->op < 0 ? -1
                     : steep(c->op, (double[]){reg[c->a[0]], reg[c->a[1]], reg[c->a[2]]},
                             reg[t->nchannel + t->nnumber + i]);
}

static void arguments(const node *v, const double *val, double a[3])
{
    for (int k = 0; k < 3; k++) a[k] = k < cst_node_arguments(v) ? val[v->a[k]] : 0;
}

int cst_num_steep(const cst_graph *g, const double *val, cst_id id)
{
    const node *v = &g->node.at[id];
    double a[3];
    arguments(v, val, a);
    return v->kind == NODE_OP && !v->timed ? steep(v->op, a, val[id]) : -1;
}

/* ---- in words ---- */

void cst_op_words(int op, const double *a, char *to, size_t n)
{
    *to = 0;
    if (op < 0) return;
    const cst_op *o = cst_op_table[op];
    char x[3][32];
    int infix = !isalpha((unsigned char)o->name[0]);
    for (int k = 0; k < o->arity; k++)
        snprintf(x[k], sizeof x[k], infix && a[k] < 0 ? "(%.6g)" : "%.6g", a[k]);
    if (infix && o->arity == 2)
        snprintf(to, n, "%s%s%s", x[0], o->name, x[1]);
    else if (infix)
        snprintf(to, n, "%s%s", o->name, x[0]);
    else
        snprintf(to, n, "%s(%s%s%s%s%s)", o->name, x[0], o->arity > 1 ? ", " : "",
                 o->arity > 1 ? x[1] : "", o->arity > 2 ? ", " : "", o->arity > 2 ? x[2] : "");
}

void cst_code_words(const cst_tape *t, const double *reg, int i, char *to, size_t n)
{
    const cst_code *c = &t->code[i];
    cst_op_words(c->op, (double[]){reg[c->a[0]], reg[c->a[1]], reg[c->a[2]]}, to, n);
}

void cst_num_words(const cst_graph *g, const double *val, cst_id id, char *to, size_t n)
{
    const node *v = &g->node.at[id];
    double a[3];
    arguments(v, val, a);
    *to = 0;
    if (v->kind == NODE_OP) cst_op_words(v->op, a, to, n);
}
