/* SPDX-License-Identifier: MIT
 *
 * Arithmetic and powers. */
#include "number/ops_define.h"

EVAL(add) { return a[0] + a[1]; }
PARTIAL(add) { d[0] = 1, d[1] = 1; }
DIFF(add) { return CONST(1); }
OP(add, "+", 2, SMOOTH, "a + b: sum");

EVAL(sub) { return a[0] - a[1]; }
PARTIAL(sub) { d[0] = 1, d[1] = -1; }
DIFF(sub) { return CONST(i == 0 ? 1 : -1); }
TANGENT(sub) { return SUB(da[0], da[1]); }
OP(sub, "-", 2, SMOOTH, "a - b: difference", .tangent = sub_tangent);

EVAL(mul) { return a[0] * a[1]; }
PARTIAL(mul) { d[0] = a[1], d[1] = a[0]; }
DIFF(mul) { return a[1 - i]; }
OP(mul, "*", 2, SMOOTH, "a * b: product");

/* (a/b)' = (a' - y b') / b */
EVAL(div) { return a[0] / a[1]; }
PARTIAL(div) { d[0] = 1 / a[1], d[1] = -y / a[1]; }
DIFF(div) { return i == 0 ? DIV(CONST(1), a[1]) : NEG(DIV(y, a[1])); }
TANGENT(div) { return DIV(SUB(da[0], MUL(y, da[1])), a[1]); }
OP(div, "/", 2, SMOOTH, "a / b: quotient", .tangent = div_tangent);

EVAL(neg) { return -a[0]; }
PARTIAL(neg) { d[0] = -1; }
DIFF(neg) { return CONST(-1); }
OP(neg, "-", 1, SMOOTH, "-a: minus");

/* The complex power goes through the logarithm, which rounds away a small imaginary step of a
 * negative base. Integer exponents, the only ones allowed for a negative base, are therefore
 * computed as products in the oracle. */
static real power(real a, real b)
{
#ifdef CST_ORACLE
    double n = creal(b);
    if (cimag(b) == 0 && n == floor(n) && fabs(n) <= 1024) {
        real y = 1, p = a;
        for (int k = (int)fabs(n); k > 0; k /= 2, p *= p)
            if (k % 2) y *= p;
        return n < 0 ? 1 / y : y;
    }
#endif
    return sc_pow(a, b);
}

/* y = a^b,  dy/da = b a^(b-1),  dy/db = y log a
 * a = 0: dy/da is infinite for b < 1 and then 0 by the rule of op.h. a < 0: only integers b have a
 * value, so there is no derivative by b. */
EVAL(pow) { return power(a[0], a[1]); }
PARTIAL(pow)
{
    double x = sc_val(a[0]), b = sc_val(a[1]);
    d[0] = b == 0 || (x == 0 && b < 1) ? 0 : a[1] * power(a[0], a[1] - 1);
    d[1] = x > 0 ? y * sc_log(a[0]) : x == 0 && b > 0 ? 0 : NAN;
}
DIFF(pow)
{
    return i == 0 ? MUL(a[1], CALL2(pow, a[0], SUB(a[1], CONST(1)))) : MUL(y, CALL(log, a[0]));
}
KINK(pow)
{
    double b = sc_val(a[1]);
    return b == floor(b) || b > 1 ? INFINITY
                                  : gap(sc_val(a[0]), 0); /* b > 1: the slope at 0 is 0 */
}
OP(pow, "^", 2, SMOOTH, "a ^ b: power; a negative base needs an integer exponent",
   .kink = pow_kink);

EVAL(recip) { return sc_val(a[0]) == 0 ? 0 : 1 / a[0]; }
PARTIAL(recip) { d[0] = -y * y; }
DIFF(recip) { return NEG(MUL(y, y)); }
KINK(recip) { return gap(sc_val(a[0]), 0); }
OP(recip, "1/", 1, SMOOTH, "1/a, and 0 at a = 0: stands in derivatives of sqrt",
   .kink = recip_kink);

/* dy/da = 1/(2 y) */
EVAL(sqrt) { return sc_sqrt(a[0]); }
PARTIAL(sqrt) { d[0] = sc_val(y) == 0 ? 0 : 0.5 / y; }
DIFF(sqrt) { return MUL(CONST(0.5), CALL(recip, y)); }
KINK(sqrt) { return gap(sc_val(a[0]), 0); }
OP(sqrt, "sqrt", 1, SMOOTH, "sqrt(x): square root", .kink = sqrt_kink);

/* dy/da = 1/(3 y^2) */
EVAL(cbrt)
{
#ifdef CST_ORACLE
    return sc_val(a[0]) == 0 ? 0 : sc_val(a[0]) < 0 ? -cpow(-a[0], 1.0 / 3) : cpow(a[0], 1.0 / 3);
#else
    return cbrt(a[0]);
#endif
}
PARTIAL(cbrt) { d[0] = sc_val(y) == 0 ? 0 : 1 / (3 * y * y); }
DIFF(cbrt) { return MUL(CONST(1.0 / 3), CALL(recip, MUL(y, y))); }
KINK(cbrt) { return gap(sc_val(a[0]), 0); }
OP(cbrt, "cbrt", 1, SMOOTH, "cbrt(x): cube root, of negative numbers too", .kink = cbrt_kink);

/* y = sqrt(a^2 + b^2),  dy/da = a/y */
EVAL(hypot) { return sc_sqrt(a[0] * a[0] + a[1] * a[1]); }
PARTIAL(hypot)
{
    d[0] = sc_val(y) == 0 ? 0 : a[0] / y;
    d[1] = sc_val(y) == 0 ? 0 : a[1] / y;
}
DIFF(hypot) { return MUL(a[i], CALL(recip, y)); }
KINK(hypot) { return gap(sc_val(hypot_eval(a)), 0); }
OP(hypot, "hypot", 2, SMOOTH, "hypot(x, y): sqrt(x^2 + y^2)", .kink = hypot_kink);
