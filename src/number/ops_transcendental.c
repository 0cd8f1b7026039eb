/* SPDX-License-Identifier: MIT
 *
 * Exponential, trigonometric and hyperbolic functions. */
#include "number/ops_define.h"

EVAL(exp) { return sc_exp(a[0]); }
PARTIAL(exp) { d[0] = y; }
DIFF(exp) { return y; }
OP(exp, "exp", 1, SMOOTH, "exp(x): e^x");

EVAL(log) { return sc_log(a[0]); }
PARTIAL(log) { d[0] = 1 / a[0]; }
DIFF(log) { return DIV(CONST(1), a[0]); }
OP(log, "log", 1, SMOOTH, "log(x): natural logarithm");

#define LN10 2.30258509299404568402
EVAL(log10)
{
#ifdef CST_ORACLE
    return clog(a[0]) / LN10;
#else
    return log10(a[0]);
#endif
}
PARTIAL(log10) { d[0] = 1 / (LN10 * a[0]); }
DIFF(log10) { return DIV(CONST(1 / LN10), a[0]); }
OP(log10, "log10", 1, SMOOTH, "log10(x): logarithm to base 10");

EVAL(sin) { return sc_sin(a[0]); }
PARTIAL(sin) { d[0] = sc_cos(a[0]); }
DIFF(sin) { return CALL(cos, a[0]); }
OP(sin, "sin", 1, SMOOTH, "sin(x): sine, x in radians");

EVAL(cos) { return sc_cos(a[0]); }
PARTIAL(cos) { d[0] = -sc_sin(a[0]); }
DIFF(cos) { return NEG(CALL(sin, a[0])); }
OP(cos, "cos", 1, SMOOTH, "cos(x): cosine, x in radians");

EVAL(tan) { return sc_tan(a[0]); }
PARTIAL(tan) { d[0] = 1 + y * y; }
DIFF(tan) { return ADD(CONST(1), MUL(y, y)); }
OP(tan, "tan", 1, SMOOTH, "tan(x): tangent, x in radians");

/* 1 - a^2 as (1 - a)(1 + a), exact near the ends */
EVAL(asin) { return sc_asin(a[0]); }
PARTIAL(asin) { d[0] = 1 / sc_sqrt((1 - a[0]) * (1 + a[0])); }
DIFF(asin)
{
    cst_id c2 = MUL(SUB(CONST(1), a[0]), ADD(CONST(1), a[0]));
    return DIV(CONST(1), CALL(sqrt, c2));
}
KINK(asin) { return gap(fabs(sc_val(a[0])), 1); }
OP(asin, "asin", 1, SMOOTH, "asin(x): angle in [-pi/2, pi/2] whose sine is x", .kink = asin_kink);

EVAL(acos) { return sc_acos(a[0]); }
PARTIAL(acos) { d[0] = -1 / sc_sqrt((1 - a[0]) * (1 + a[0])); }
DIFF(acos) { return NEG(asin_diff(g, a, y, i)); }
OP(acos, "acos", 1, SMOOTH, "acos(x): angle in [0, pi] whose cosine is x", .kink = asin_kink);

EVAL(atan) { return sc_atan(a[0]); }
PARTIAL(atan) { d[0] = 1 / (1 + a[0] * a[0]); }
DIFF(atan) { return DIV(CONST(1), ADD(CONST(1), MUL(a[0], a[0]))); }
OP(atan, "atan", 1, SMOOTH, "atan(x): angle in (-pi/2, pi/2) whose tangent is x");

/* y = angle of (a1, a0):  dy = (a1 da0 - a0 da1) / (a0^2 + a1^2) */
EVAL(atan2) { return sc_atan2(a[0], a[1]); }
PARTIAL(atan2)
{
    real r2 = a[0] * a[0] + a[1] * a[1];
    d[0] = a[1] / r2;
    d[1] = -a[0] / r2;
}
DIFF(atan2)
{
    cst_id r2 = ADD(MUL(a[0], a[0]), MUL(a[1], a[1]));
    return i == 0 ? DIV(a[1], r2) : NEG(DIV(a[0], r2));
}
KINK(atan2) { return fmax(gap(sc_val(a[0]), 0), gap(sc_val(a[1]), 0)); }
OP(atan2, "atan2", 2, SMOOTH, "atan2(y, x): angle of the point (x, y) in (-pi, pi]; see unwrap",
   .kink = atan2_kink);

EVAL(sinh) { return sc_sinh(a[0]); }
PARTIAL(sinh) { d[0] = sc_cosh(a[0]); }
DIFF(sinh) { return CALL(cosh, a[0]); }
OP(sinh, "sinh", 1, SMOOTH, "sinh(x): hyperbolic sine");

EVAL(cosh) { return sc_cosh(a[0]); }
PARTIAL(cosh) { d[0] = sc_sinh(a[0]); }
DIFF(cosh) { return CALL(sinh, a[0]); }
OP(cosh, "cosh", 1, SMOOTH, "cosh(x): hyperbolic cosine");

/* 1 - y^2 would cancel for large x */
EVAL(tanh) { return sc_tanh(a[0]); }
PARTIAL(tanh)
{
    real c = sc_cosh(a[0]);
    d[0] = 1 / (c * c);
}
DIFF(tanh)
{
    cst_id c = CALL(cosh, a[0]);
    return DIV(CONST(1), MUL(c, c));
}
OP(tanh, "tanh", 1, SMOOTH, "tanh(x): hyperbolic tangent");
