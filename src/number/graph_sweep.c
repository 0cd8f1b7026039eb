/* SPDX-License-Identifier: MIT
 *
 * Sweeps over all values that are not timed: evaluation, tangents, gradients. The graph is not
 * changed and nothing is allocated, so that threads may share it. */
#include "number/graph_private.h"
#include "number/table_eval.h"

#include <string.h>

static const double *at(const double *v, cst_id first)
{
    return first == CST_NONE ? NULL : v + first;
}
static double *at_bar(double *v, cst_id first) { return first == CST_NONE ? NULL : v + first; }

static void gather(const cst_graph *g, const vector *r, const double *v, double *in)
{
    const cst_id *id = g->input.at + r->in;
    for (int i = 0; i < r->nin; i++) in[i] = v[id[i]];
}

static double op_eval(const node *v, const double *val)
{
    const cst_op *op = cst_op_table[v->op];
    double a[3] = {0};
    for (int i = 0; i < op->arity; i++) a[i] = val[v->a[i]];
    return op->eval(a);
}

static void vector_eval(const cst_graph *g, const vector *r, double *val, cst_id first)
{
    double in[CST_VOP_MAX_IN];
    gather(g, r, val, in);
    r->op->eval(r->nin, in, r->nout, val + first);
}

void cst_graph_eval(const cst_graph *g, const double *leaf, double *val)
{
    for (cst_id id = 0; id < g->node.n; id++) {
        const node *v = &g->node.at[id];
        if (v->timed) continue;
        switch (v->kind) {
        case NODE_CONST:
            val[id] = cst_node_const(v);
            break;
        case NODE_LEAF:
            val[id] = leaf[v->a[0]];
            break;
        case NODE_OP:
            val[id] = op_eval(v, val);
            break;
        case NODE_TABLE: {
            const cst_table *t = g->table.at[v->a[2]];
            val[id] = table_value(t, val[v->a[0]], v->a[1], at(val, t->y_id), at(val, t->m_id));
            break;
        }
        case NODE_VECTOR:
            vector_eval(g, &g->vector.at[v->a[0]], val, id);
            break;
        case NODE_SPLINE: {
            const cst_table *t = g->table.at[v->a[0]];
            cst_spline_solve(t, val + t->y_id, val + id);
            break;
        }
        }
    }
}

/* d = partials of an operation at val */
static int op_partial(const node *v, const double *val, double y, double *d)
{
    const cst_op *op = cst_op_table[v->op];
    double a[3] = {0};
    for (int i = 0; i < op->arity; i++) a[i] = val[v->a[i]];
    op->partial(a, y, d);
    return op->arity;
}

/* J of a vector operation and its tangent or gradient; J is too large for the frame of the sweeps
 */
static void vector_jac(const cst_graph *g, const vector *r, const double *val, cst_id first,
                       double *J)
{
    double in[CST_VOP_MAX_IN];
    gather(g, r, val, in);
    memset(J, 0, sizeof *J * (size_t)r->nin * (size_t)r->nout);
    r->op->jac(r->nin, in, r->nout, val + first, J);
}

static void vector_forward(const cst_graph *g, const vector *r, const double *val, double *dot,
                           cst_id first)
{
    const cst_id *in = g->input.at + r->in;
    double J[CST_VOP_MAX_JAC];
    vector_jac(g, r, val, first, J);
    for (int i = 0; i < r->nout; i++) {
        double s = 0;
        for (int j = 0; j < r->nin; j++) s += J[i * r->nin + j] * dot[in[j]];
        dot[first + i] = s;
    }
}

static void vector_reverse(const cst_graph *g, const vector *r, const double *val, double *bar,
                           cst_id first)
{
    const cst_id *in = g->input.at + r->in;
    int any = 0;
    for (int i = 0; i < r->nout; i++) any |= bar[first + i] != 0;
    if (!any) return;
    double J[CST_VOP_MAX_JAC];
    vector_jac(g, r, val, first, J);
    for (int i = 0; i < r->nout; i++) {
        for (int j = 0; j < r->nin; j++) bar[in[j]] += J[i * r->nin + j] * bar[first + i];
        bar[first + i] = 0;
    }
}

/* A term is left out when a factor is zero: the branch that `if` does not take may be NaN. */
static double op_forward(const node *v, const double *val, double y, const double *dot)
{
    double d[3], s = 0;
    int n = op_partial(v, val, y, d);
    for (int i = 0; i < n; i++)
        if (d[i] != 0 && dot[v->a[i]] != 0) s += d[i] * dot[v->a[i]];
    return s;
}

void cst_graph_forward(const cst_graph *g, const double *val, double *dot)
{
    for (cst_id id = 0; id < g->node.n; id++) {
        const node *v = &g->node.at[id];
        if (v->timed) continue;
        switch (v->kind) {
        case NODE_CONST:
            dot[id] = 0;
            break;
        case NODE_OP:
            dot[id] = op_forward(v, val, val[id], dot);
            break;
        case NODE_TABLE: {
            const cst_table *t = g->table.at[v->a[2]];
            dot[id] = table_forward(t, val[v->a[0]], v->a[1], at(val, t->y_id), at(val, t->m_id),
                                    dot[v->a[0]], at(dot, t->y_id), at(dot, t->m_id));
            break;
        }
        case NODE_VECTOR:
            vector_forward(g, &g->vector.at[v->a[0]], val, dot, id);
            break;
        case NODE_SPLINE: {
            const cst_table *t = g->table.at[v->a[0]];
            cst_spline_solve(t, dot + t->y_id, dot + id);
            break;
        }
        }
    }
}

static void op_reverse(const node *v, const double *val, double y, double b, double *bar)
{
    double d[3];
    int n = op_partial(v, val, y, d);
    for (int i = 0; i < n; i++)
        if (d[i] != 0) bar[v->a[i]] += d[i] * b;
}

static void table_node_reverse(const cst_graph *g, const node *v, const double *val, double b,
                               double *bar)
{
    const cst_table *t = g->table.at[v->a[2]];
    table_reverse(t, val[v->a[0]], v->a[1], at(val, t->y_id), at(val, t->m_id), b, &bar[v->a[0]],
                  at_bar(bar, t->y_id), at_bar(bar, t->m_id));
}

void cst_node_reverse(const cst_graph *g, cst_id id, const double *val, double *bar)
{
    const node *v = &g->node.at[id];
    if (v->timed || v->kind == NODE_LEAF || v->kind == NODE_REST) return;
    double b = bar[id];
    if (v->kind == NODE_VECTOR) {
        vector_reverse(g, &g->vector.at[v->a[0]], val, bar, id);
    } else if (v->kind == NODE_SPLINE) {
        const cst_table *t = g->table.at[v->a[0]];
        cst_spline_reverse(t, bar + id, bar + t->y_id);
        memset(bar + id, 0, sizeof *bar * (size_t)t->n);
    } else {
        bar[id] = 0;
        if (b != 0 && v->kind == NODE_OP)
            op_reverse(v, val, val[id], b, bar);
        else if (b != 0 && v->kind == NODE_TABLE)
            table_node_reverse(g, v, val, b, bar);
    }
}

void cst_graph_reverse(const cst_graph *g, const double *val, double *bar)
{
    for (cst_id id = g->node.n; id-- > 0;) cst_node_reverse(g, id, val, bar);
}
