/* SPDX-License-Identifier: MIT
 *
 * Scalar operations of expressions: one line in ops.def, one block in a file of number/. Both the
 * numeric and the symbolic partials stand beside the law.
 *
 * Where a derivative is infinite or does not exist (sqrt at 0, abs at 0) the partial derivative is
 * 0: a subgradient for the most common use, a norm. kink() is 0 there, so that code that reports a
 * gradient can say so. */
#ifndef CST_NUMBER_OP_H
#define CST_NUMBER_OP_H

#include "number/graph.h"

enum cst_op_id {
#define CST_OP(id) CST_OP_##id,
#include "number/ops.def"
#undef CST_OP
    CST_OP_COUNT
};

struct cst_op {
    const char *name; /* as written; operators by their sign */
    int arity;        /* 1 .. 3 */
    const char *doc;
    int smooth; /* 0: has kinks or jumps (if, min, abs, floor, comparisons) */
    real (*eval)(const real *a);
    void (*partial)(const real *a, real y, real *d);                /* d[i] = dy/da_i */
    cst_id (*diff)(cst_graph *g, const cst_id *a, cst_id y, int i); /* the same, symbolically */
    /* Optional: y' from a' where the sum of partials times a' will not do, because the argument
     * that is not selected may be NaN. */
    cst_id (*tangent)(cst_graph *g, const cst_id *a, cst_id y, const cst_id *da);
    double (*kink)(
        const real *a); /* optional: distance to the nearest kink or jump, in the unit of a[0] */
    int id;             /* enum cst_op_id */
};

const cst_op *cst_op_find(const char *name, int arity); /* NULL if there is none; arity 0: any */
/* Does the value of `name` to either side of its kink have a slope of that side, as max(a, b), or
 * none, as a norm? */
int cst_op_has_sides(const char *name);
const cst_op *cst_op_at(int index); /* the table, NULL at the end: for help and tests */
/* by enum cst_op_id; unused: CST_NONE */
cst_id cst_num_apply(cst_graph *g, int op, cst_id a, cst_id b, cst_id c);

extern const cst_op *const CST_K(cst_op_table)[]; /* by enum cst_op_id */

#endif
