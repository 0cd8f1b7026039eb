/* SPDX-License-Identifier: MIT
 *
 * Nominal values while the graph still grows: each value is computed once, when it is first asked
 * for, together with those before it. (cst_graph_eval starts from the beginning: that would cost
 * the square of the model's size.) */
#include "model/loader.h"
#include "number/graph_private.h"
#include "number/table_eval.h"

#include <string.h>

static void eval_op(const node *v, double *val, cst_id id)
{
    const cst_op *op = cst_op_table[v->op];
    double a[3] = {0};
    for (int i = 0; i < op->arity; i++) a[i] = val[v->a[i]];
    val[id] = op->eval(a);
}

static void eval_vector(const cst_graph *g, const vector *r, double *val, cst_id id)
{
    double in[CST_VOP_MAX_IN];
    for (int i = 0; i < r->nin; i++) in[i] = val[g->input.at[r->in + i]];
    r->op->eval(r->nin, in, r->nout, val + id);
}

static void eval(const cst_graph *g, double *val, cst_id id)
{
    const node *v = &g->node.at[id];
    if (v->timed) return;
    if (v->kind == NODE_CONST) val[id] = cst_node_const(v);
    if (v->kind == NODE_LEAF) val[id] = cst_leaf_nominal(g, v->a[0]);
    if (v->kind == NODE_OP) eval_op(v, val, id);
    if (v->kind == NODE_VECTOR) eval_vector(g, &g->vector.at[v->a[0]], val, id);
    if (v->kind == NODE_SPLINE) {
        const cst_table *t = g->table.at[v->a[0]];
        cst_spline_solve(t, val + t->y_id, val + id);
    }
    if (v->kind == NODE_TABLE) {
        const cst_table *t = g->table.at[v->a[2]];
        const double *y = t->y_id == CST_NONE ? NULL : val + t->y_id,
                     *m = t->m_id == CST_NONE ? NULL : val + t->m_id;
        val[id] = table_value(t, val[v->a[0]], v->a[1], y, m);
    }
}

double cst_loader_value(cst_loader *L, cst_id id)
{
    int n = cst_graph_values(L->g);
    if (n > L->val_cap) {
        const double *old = L->val;
        L->val_cap = 2 * n;
        L->val = cst_new(L->scratch, double, L->val_cap);
        if (L->nval) memcpy(L->val, old, (size_t)L->nval * sizeof *old);
    }
    for (; L->nval < n; L->nval++) eval(L->g, L->val, L->nval);
    return L->val[id];
}
