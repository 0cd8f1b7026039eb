/* SPDX-License-Identifier: MIT
 *
 * What operations ask of dimensions. */
#include "model/dimensions.h"

#include "number/op.h"

/* clang-format off */
cst_manner cst_op_manner(int op, int *first)
{
    *first = 0;
    switch (op) {
    case CST_OP_if: *first = 1; return CST_ALIKE;
    case CST_OP_add: case CST_OP_sub: case CST_OP_neg: case CST_OP_abs: case CST_OP_min:
    case CST_OP_max: case CST_OP_hypot: case CST_OP_clamp: case CST_OP_mod: case CST_OP_floor:
    case CST_OP_ceil: return CST_ALIKE;
    case CST_OP_atan2: case CST_OP_lt: case CST_OP_le: case CST_OP_gt: case CST_OP_ge:
    case CST_OP_eq: case CST_OP_ne: return CST_COMPARED;
    case CST_OP_exp: case CST_OP_log: case CST_OP_log10: case CST_OP_sin: case CST_OP_cos:
    case CST_OP_tan: case CST_OP_asin: case CST_OP_acos: case CST_OP_atan: case CST_OP_sinh:
    case CST_OP_cosh: case CST_OP_tanh: return CST_FUNCTION;
    case CST_OP_sign: case CST_OP_and: case CST_OP_or: case CST_OP_not: return CST_TRUTH;
    }
    return CST_OTHER;
}
/* clang-format on */
