/* SPDX-License-Identifier: MIT
 *
 * The table of operations, by enum cst_op_id. */
#include "number/op.h"

#define CST_OP(id) extern const cst_op CST_K(cst_op_##id);
#include "number/ops.def"
#undef CST_OP

const cst_op *const CST_K(cst_op_table)[] = {
#define CST_OP(id) &CST_K(cst_op_##id),
#include "number/ops.def"
#undef CST_OP
};
