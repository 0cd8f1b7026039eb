/* SPDX-License-Identifier: MIT
 *
 * A number of one graph as a number of another. */
#include "number/graph_private.h"

/* 1: the values that y is made of are operations, constants and leaves; they are marked in reach */
static int plain(const cst_graph *from, cst_id y, unsigned char *reach)
{
    reach[y] = 1;
    for (cst_id id = y; id >= 0; id--) {
        const node *v = &from->node.at[id];
        if (!reach[id]) continue;
        if (v->kind != NODE_OP && v->kind != NODE_CONST && v->kind != NODE_LEAF) return 0;
        for (int i = 0; i < cst_node_arguments(v); i++) reach[v->a[i]] = 1;
    }
    return 1;
}

cst_id cst_num_import(cst_graph *g, const cst_graph *from, cst_id y,
                      cst_id (*leaf)(void *ctx, int number), void *ctx)
{
    cst_arena *a = cst_arena_child(g->arena);
    unsigned char *reach = cst_new(a, unsigned char, y + 1);
    cst_id *to = cst_new(a, cst_id, y + 1), found = CST_NONE;
    if (plain(from, y, reach)) {
        for (cst_id id = 0; id <= y; id++) {
            const node *v = &from->node.at[id];
            if (!reach[id]) continue;
            cst_id arg[3] = {CST_NONE, CST_NONE, CST_NONE};
            for (int i = 0; i < cst_node_arguments(v); i++) arg[i] = to[v->a[i]];
            to[id] = v->kind == NODE_CONST  ? cst_num_const(g, cst_node_const(v))
                     : v->kind == NODE_LEAF ? leaf(ctx, v->a[0])
                                            : cst_num_op(g, cst_op_table[v->op], arg);
        }
        found = to[y];
    }
    cst_arena_free(a);
    return found;
}
