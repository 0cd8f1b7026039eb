/* SPDX-License-Identifier: MIT
 *
 * Scalar operations of expressions: one line in ops.def, one block in a file of number/. Both the numeric and the
 * symbolic partials stand beside the law. */
#ifndef CST_NUMBER_OP_H
#define CST_NUMBER_OP_H

#include "number/graph.h"

struct cst_op {
    const char *name; /* as written; operators by their sign */
    int arity;        /* 1 .. 3 */
    const char *doc;
    int smooth;       /* 0: has kinks or jumps (if, min, abs, floor, comparisons) */
    real (*eval)(const real *a);
    void (*partial)(const real *a, real y, real *d);                         /* d[i] = dy/da_i */
    cst_id (*diff)(cst_graph *g, const cst_id *a, cst_id y, int i);          /* the same, symbolically */
};

const cst_op *cst_op_find(const char *name, int arity); /* NULL if there is none; arity 0: any */
const cst_op *cst_op_at(int index);                     /* the table, NULL at the end: for help and tests */

#endif
