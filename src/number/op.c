/* SPDX-License-Identifier: MIT
 *
 * Operations by name. */
#include "number/op.h"

#include <assert.h>
#include <string.h>

const cst_op *cst_op_at(int index)
{
    return index >= 0 && index < CST_OP_COUNT ? cst_op_table[index] : NULL;
}

const cst_op *cst_op_find(const char *name, int arity)
{
    for (int i = 0; i < CST_OP_COUNT; i++) {
        const cst_op *op = cst_op_table[i];
        if (strcmp(op->name, name) == 0 && (arity == 0 || op->arity == arity)) return op;
    }
    return NULL;
}

cst_id cst_num_apply(cst_graph *g, int op, cst_id a, cst_id b, cst_id c)
{
    cst_id arg[3] = {a, b, c};
    return cst_num_op(g, cst_op_table[op], arg);
}

cst_id cst_num_call(cst_graph *g, const char *name, cst_id a, cst_id b, cst_id c)
{
    int arity = 1 + (b != CST_NONE) + (c != CST_NONE);
    const cst_op *op = cst_op_find(name, arity);
    assert(op);
    return cst_num_apply(g, op->id, a, b, c);
}

cst_id cst_num_add(cst_graph *g, cst_id a, cst_id b)
{
    return cst_num_apply(g, CST_OP_add, a, b, CST_NONE);
}
cst_id cst_num_sub(cst_graph *g, cst_id a, cst_id b)
{
    return cst_num_apply(g, CST_OP_sub, a, b, CST_NONE);
}
cst_id cst_num_mul(cst_graph *g, cst_id a, cst_id b)
{
    return cst_num_apply(g, CST_OP_mul, a, b, CST_NONE);
}
cst_id cst_num_div(cst_graph *g, cst_id a, cst_id b)
{
    return cst_num_apply(g, CST_OP_div, a, b, CST_NONE);
}
cst_id cst_num_neg(cst_graph *g, cst_id a)
{
    return cst_num_apply(g, CST_OP_neg, a, CST_NONE, CST_NONE);
}
cst_id cst_num_sqrt(cst_graph *g, cst_id a)
{
    return cst_num_apply(g, CST_OP_sqrt, a, CST_NONE, CST_NONE);
}

cst_id cst_num_dot3(cst_graph *g, const cst_id a[3], const cst_id b[3])
{
    cst_id xy = cst_num_add(g, cst_num_mul(g, a[0], b[0]), cst_num_mul(g, a[1], b[1]));
    return cst_num_add(g, xy, cst_num_mul(g, a[2], b[2]));
}

void cst_num_cross3(cst_graph *g, const cst_id a[3], const cst_id b[3], cst_id c[3])
{
    cst_id r[3]; /* c may be a or b */
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        r[i] = cst_num_sub(g, cst_num_mul(g, a[j], b[k]), cst_num_mul(g, a[k], b[j]));
    }
    memcpy(c, r, sizeof r);
}

int cst_op_has_sides(const char *name)
{
    static const char *const with[] = {"max", "min", "clamp", "a table"};
    for (size_t i = 0; i < sizeof with / sizeof *with; i++)
        if (strcmp(name, with[i]) == 0) return 1;
    return 0;
}
