/* SPDX-License-Identifier: MIT
 *
 * Walks over the timed part of the graph: what depends on what, symbolic derivatives, substitution.
 * Every walk costs what it meets, not what the graph holds, and uses no recursion. */
#include "number/graph_private.h"
#include "number/table.h"

#include <assert.h>

walk *cst_graph_walk(const cst_graph *g)
{
    walk *w = g->walk;
    if (w->cap < g->node.n) {
        w->cap = g->node.n + g->node.n / 2 + 64;
        w->mark = cst_new(g->arena, int, w->cap);
        w->memo = cst_new(g->arena, int, w->cap);
        w->epoch = 0;
    }
    w->epoch++;
    return w;
}

/* Depth first; an id comes back from the stack as ~id when all its arguments are in order. */
int cst_graph_reach(const cst_graph *g, int nroot, const cst_id *root, cst_id from)
{
    walk *w = cst_graph_walk(g);
    int start = w->order.n, base = w->todo.n;
    for (int i = nroot; i-- > 0;)
        if (g->node.at[root[i]].timed && root[i] >= from) *cst_push(g->arena, &w->todo) = root[i];
    while (w->todo.n > base) {
        cst_id id = w->todo.at[--w->todo.n];
        if (id < 0) {
            *cst_push(g->arena, &w->order) = ~id;
            continue;
        }
        if (w->mark[id] == w->epoch) continue;
        w->mark[id] = w->epoch;
        *cst_push(g->arena, &w->todo) = ~id;
        const node *v = &g->node.at[id];
        for (int i = cst_node_arguments(v); i-- > 0;)
            if (v->a[i] >= from && g->node.at[v->a[i]].timed && w->mark[v->a[i]] != w->epoch)
                *cst_push(g->arena, &w->todo) = v->a[i];
    }
    return start;
}

int cst_num_depends(const cst_graph *g, cst_id y, cst_channel_kind kind, int order)
{
    int start = cst_graph_reach(g, 1, &y, 0), found = 0;
    walk *w = g->walk;
    for (int i = start; i < w->order.n && !found; i++) {
        const cst_channel *c = cst_num_channel_of(g, w->order.at[i]);
        found = c && c->kind == kind && (c->order == order || order < 0);
    }
    w->order.n = start;
    return found;
}

/* Sum of partial times tangent, or the operation's own rule. */
static cst_id op_tangent(cst_graph *g, const cst_op *op, const cst_id *a, cst_id y,
                         const cst_id *da, cst_id zero)
{
    if (op->tangent) return op->tangent(g, a, y, da);
    cst_id sum = zero;
    for (int i = 0; i < op->arity; i++)
        if (da[i] != zero) sum = cst_num_add(g, sum, cst_num_mul(g, op->diff(g, a, y, i), da[i]));
    return sum;
}

/* y' from the tangents that are in memo: those of this epoch; all other values are constant. */
static cst_id tangent(cst_graph *g, cst_id id, cst_id zero)
{
    const walk *w = g->walk;
    node v = g->node.at[id]; /* a copy: the array moves while derivatives are appended */
    int n = cst_node_arguments(&v), any = 0;
    cst_id da[3] = {zero, zero, zero};
    for (int i = 0; i < n; i++) {
        if (v.a[i] < w->cap && w->mark[v.a[i]] == w->epoch) da[i] = w->memo[v.a[i]];
        any |= da[i] != zero;
    }
    if (!any) return zero;
    if (v.kind == NODE_TABLE)
        return cst_num_mul(g, cst_num_table(g, g->table.at[v.a[2]], v.a[0], v.a[1] + 1), da[0]);
    return op_tangent(g, cst_op_table[v.op], v.a, id, da, zero);
}

/* Rate of a channel, CST_NONE if it has none. */
static cst_id channel_rate(cst_graph *g, cst_channel c, cst_id zero)
{
    switch (c.kind) {
    case CST_CH_TIME:
        return cst_num_const(g, 1);
    case CST_CH_ARG:
        return c.index == 0 ? cst_num_channel(g, CST_CH_ARG, 1, c.order) : CST_NONE;
    case CST_CH_X:
        return c.order < 2 ? cst_num_channel(g, CST_CH_X, c.index, c.order + 1) : CST_NONE;
    case CST_CH_MEM:
        return zero;
    default:
        return CST_NONE;
    }
}

/* Tangent of y along the direction that is 1 at x (x >= 0) or the rates of the channels (x =
 * CST_NONE). */
static cst_id derive(cst_graph *g, cst_id y, cst_id x)
{
    cst_id zero = cst_num_const(g, 0), one = cst_num_const(g, 1), dy = zero;
    int start = cst_graph_reach(g, 1, &y, x == CST_NONE ? 0 : x), end = g->walk->order.n;
    walk *w = g->walk;
    for (int i = start; i < end; i++) {
        cst_id id = w->order.at[i];
        const cst_channel *c = cst_num_channel_of(g, id);
        if (id == x)
            dy = one;
        else if (c)
            dy = x == CST_NONE ? channel_rate(g, *c, zero) : zero;
        else
            dy = tangent(g, id, zero);
        w->memo[id] = dy;
        if (dy == CST_NONE) break;
    }
    w->order.n = start;
    return dy;
}

cst_id cst_num_diff(cst_graph *g, cst_id y, cst_id x)
{
    assert(g->node.at[x].timed);
    return derive(g, y, x);
}

cst_id cst_num_rate(cst_graph *g, cst_id y) { return derive(g, y, CST_NONE); }

/* map() may build values and start walks of its own, so it is asked before this walk's memo is
 * used. */
cst_id cst_num_substitute(cst_graph *g, cst_id y, cst_id (*map)(void *ctx, const cst_channel *c),
                          void *ctx)
{
    int start = cst_graph_reach(g, 1, &y, 0), n = g->walk->order.n - start;
    walk *w = g->walk;
    for (int i = 0; i < n; i++) {
        cst_id id = w->order.at[start + i];
        const cst_channel *c = cst_num_channel_of(g, id);
        cst_id to = c ? map(ctx, c) : CST_NONE;
        *cst_push(g->arena, &w->order) = to == CST_NONE ? id : to;
    }
    cst_graph_walk(g);
    cst_id r = y;
    for (int i = 0; i < n; i++) {
        cst_id id = w->order.at[start + i];
        node v = g->node.at[id];
        r = w->order.at[start + n + i];
        for (int k = 0; k < cst_node_arguments(&v); k++)
            if (w->mark[v.a[k]] == w->epoch) v.a[k] = w->memo[v.a[k]];
        if (v.kind == NODE_OP)
            r = cst_num_op(g, cst_op_table[v.op], v.a);
        else if (v.kind == NODE_TABLE)
            r = cst_num_table(g, g->table.at[v.a[2]], v.a[0], v.a[1]);
        w->mark[id] = w->epoch;
        w->memo[id] = r;
    }
    w->order.n = start;
    return r;
}
