/* SPDX-License-Identifier: MIT
 *
 * The frame of one operation in an ops_*.c:
 *
 *     EVAL(sin) { return sc_sin(a[0]); }
 *     PARTIAL(sin) { d[0] = sc_cos(a[0]); }
 *     DIFF(sin) { return CALL(cos, a[0]); }
 *     OP(sin, "sin", 1, SMOOTH, "sin(x): sine, x in radians"); */
#ifndef CST_NUMBER_OPS_DEFINE_H
#define CST_NUMBER_OPS_DEFINE_H

#include "number/op.h"

#define UNUSED __attribute__((unused))
#define EVAL(op) static real op##_eval(const real *a)
#define PARTIAL(op) static void op##_partial(UNUSED const real *a, UNUSED real y, real *d)
#define DIFF(op)                                                                                   \
    static cst_id op##_diff(UNUSED cst_graph *g, UNUSED const cst_id *a, UNUSED cst_id y,          \
                            UNUSED int i)
#define TANGENT(op)                                                                                \
    static cst_id op##_tangent(cst_graph *g, UNUSED const cst_id *a, UNUSED cst_id y,              \
                               const cst_id *da)
#define KINK(op) static double op##_kink(const real *a)

#define SMOOTH 1
#define KINKED 0
/* the last arguments are .tangent = ..., .kink = ... where there are any */
#define OP(op, sign, n, is_smooth, text, ...)                                                      \
    extern const cst_op CST_K(cst_op_##op);                                                        \
    const cst_op CST_K(cst_op_##op) = {.name = sign,                                               \
                                       .arity = n,                                                 \
                                       .doc = text,                                                \
                                       .smooth = is_smooth,                                        \
                                       .eval = op##_eval,                                          \
                                       .partial = op##_partial,                                    \
                                       .diff = op##_diff,                                          \
                                       .id = CST_OP_##op,                                          \
                                       __VA_ARGS__}

/* symbolic arithmetic */
#define CONST(c) cst_num_const(g, c)
#define ADD(a, b) cst_num_add(g, a, b)
#define SUB(a, b) cst_num_sub(g, a, b)
#define MUL(a, b) cst_num_mul(g, a, b)
#define DIV(a, b) cst_num_div(g, a, b)
#define NEG(a) cst_num_neg(g, a)
#define CALL(op, a) cst_num_apply(g, CST_OP_##op, a, CST_NONE, CST_NONE)
#define CALL2(op, a, b) cst_num_apply(g, CST_OP_##op, a, b, CST_NONE)
#define CALL3(op, a, b, c) cst_num_apply(g, CST_OP_##op, a, b, c)

UNUSED static inline double gap(double a, double b) { return fabs(a - b); }

#endif
