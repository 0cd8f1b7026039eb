/* SPDX-License-Identifier: MIT
 *
 * Operations that choose: steps, limits, comparisons, rounding. Truth is a number: 0 is false, all
 * else is true. */
#include "number/ops_define.h"

/* u = (x - lo)/(hi - lo) limited to [0, 1];  du/dx = 1/w, du/dlo = (u - 1)/w, du/dhi = -u/w, w = hi
 * - lo */
static real ramp(const real *a)
{
    real u = (a[0] - a[1]) / (a[2] - a[1]);
    return sc_val(u) < 0 ? 0 : sc_val(u) > 1 ? 1 : u;
}

static void ramp_partial(const real *a, real u, real slope, real *d)
{
    real s = slope / (a[2] - a[1]);
    d[0] = s;
    d[1] = s * (u - 1);
    d[2] = -s * u;
}

static cst_id ramp_id(cst_graph *g, const cst_id *a)
{
    return CALL3(clamp, DIV(SUB(a[0], a[1]), SUB(a[2], a[1])), CONST(0), CONST(1));
}

static cst_id ramp_diff(cst_graph *g, const cst_id *a, cst_id u, cst_id slope, int i)
{
    cst_id s = DIV(slope, SUB(a[2], a[1]));
    return i == 0 ? s : i == 1 ? MUL(s, SUB(u, CONST(1))) : NEG(MUL(s, u));
}

/* S = 3 u^2 - 2 u^3, S' = 6 u (1 - u) */
EVAL(smoothstep)
{
    real u = ramp(a);
    return u * u * (3 - 2 * u);
}
PARTIAL(smoothstep)
{
    real u = ramp(a);
    ramp_partial(a, u, 6 * u * (1 - u), d);
}
DIFF(smoothstep)
{
    cst_id u = ramp_id(g, a);
    return ramp_diff(g, a, u, MUL(CONST(6), MUL(u, SUB(CONST(1), u))), i);
}
OP(smoothstep, "smoothstep", 3, SMOOTH,
   "smoothstep(x, lo, hi): 0 below lo, 1 above hi, the cubic 3u^2 - 2u^3 between (slope "
   "continuous)");

/* S = 10 u^3 - 15 u^4 + 6 u^5, S' = 30 u^2 (1 - u)^2 */
EVAL(step5)
{
    real u = ramp(a);
    return u * u * u * (10 + u * (6 * u - 15));
}
PARTIAL(step5)
{
    real u = ramp(a), b = u * (1 - u);
    ramp_partial(a, u, 30 * b * b, d);
}
DIFF(step5)
{
    cst_id u = ramp_id(g, a), b = MUL(u, SUB(CONST(1), u));
    return ramp_diff(g, a, u, MUL(CONST(30), MUL(b, b)), i);
}
OP(step5, "step5", 3, SMOOTH,
   "step5(x, lo, hi): 0 below lo, 1 above hi, the quintic 10u^3 - 15u^4 + 6u^5 between (curvature "
   "continuous)");

static double signum(real x) { return sc_val(x) > 0 ? 1 : sc_val(x) < 0 ? -1 : 0; }

EVAL(abs) { return sc_abs(a[0]); }
PARTIAL(abs) { d[0] = signum(a[0]); }
DIFF(abs) { return CALL(sign, a[0]); }
KINK(abs) { return gap(sc_val(a[0]), 0); }
OP(abs, "abs", 1, KINKED, "abs(x): magnitude", .kink = abs_kink);

EVAL(sign) { return signum(a[0]); }
PARTIAL(sign) { d[0] = 0; }
DIFF(sign) { return CONST(0); }
OP(sign, "sign", 1, KINKED, "sign(x): -1, 0 or 1", .kink = abs_kink);

KINK(pair) { return gap(sc_val(a[0]), sc_val(a[1])); }

EVAL(min) { return sc_min(a[0], a[1]); }
PARTIAL(min) { d[0] = sc_val(a[0]) <= sc_val(a[1]), d[1] = 1 - d[0]; }
DIFF(min) { return i == 0 ? CALL2(le, a[0], a[1]) : CALL2(gt, a[0], a[1]); }
TANGENT(min) { return CALL3(if, CALL2(le, a[0], a[1]), da[0], da[1]); }
OP(min, "min", 2, KINKED, "min(a, b, ...): the smallest", .tangent = min_tangent,
   .kink = pair_kink);

EVAL(max) { return sc_max(a[0], a[1]); }
PARTIAL(max) { d[0] = sc_val(a[0]) >= sc_val(a[1]), d[1] = 1 - d[0]; }
DIFF(max) { return i == 0 ? CALL2(ge, a[0], a[1]) : CALL2(lt, a[0], a[1]); }
TANGENT(max) { return CALL3(if, CALL2(ge, a[0], a[1]), da[0], da[1]); }
OP(max, "max", 2, KINKED, "max(a, b, ...): the largest", .tangent = max_tangent, .kink = pair_kink);

/* which argument clamp returns */
static int clamped(const real *a)
{
    return sc_val(a[0]) < sc_val(a[1]) ? 1 : sc_val(a[0]) > sc_val(a[2]) ? 2 : 0;
}

EVAL(clamp) { return a[clamped(a)]; }
PARTIAL(clamp) { d[0] = d[1] = d[2] = 0, d[clamped(a)] = 1; }
TANGENT(clamp)
{
    cst_id inside_or_hi = CALL3(if, CALL2(gt, a[0], a[2]), da[2], da[0]);
    return CALL3(if, CALL2(lt, a[0], a[1]), da[1], inside_or_hi);
}
DIFF(clamp)
{
    cst_id e[3] = {CONST(i == 0), CONST(i == 1), CONST(i == 2)};
    return clamp_tangent(g, a, y, e);
}
KINK(clamp) { return fmin(gap(sc_val(a[0]), sc_val(a[1])), gap(sc_val(a[0]), sc_val(a[2]))); }
OP(clamp, "clamp", 3, KINKED, "clamp(x, lo, hi): x limited to [lo, hi]", .tangent = clamp_tangent,
   .kink = clamp_kink);

EVAL(if) { return sc_val(a[0]) != 0 ? a[1] : a[2]; }
PARTIAL(if) { d[0] = 0, d[1] = sc_val(a[0]) != 0, d[2] = 1 - d[1]; }
DIFF(if) { return i == 0 ? CONST(0) : CALL3(if, a[0], CONST(i == 1), CONST(i == 2)); }
TANGENT(if) { return CALL3(if, a[0], da[1], da[2]); }
OP(if, "if", 3, KINKED, "if(c, a, b): a where c is true (not 0), else b", .tangent = if_tangent);

#define TRUTH(op, sign, n, law, text, ...)                                                         \
    EVAL(op) { return law; }                                                                       \
    PARTIAL(op)                                                                                    \
    {                                                                                              \
        for (int k = 0; k < n; k++) d[k] = 0;                                                      \
    }                                                                                              \
    DIFF(op) { return CONST(0); }                                                                  \
    OP(op, sign, n, KINKED, text, __VA_ARGS__)

TRUTH(lt, "<", 2, sc_val(a[0]) < sc_val(a[1]), "a < b: 1 if true, else 0", .kink = pair_kink);
TRUTH(le, "<=", 2, sc_val(a[0]) <= sc_val(a[1]), "a <= b: 1 if true, else 0", .kink = pair_kink);
TRUTH(gt, ">", 2, sc_val(a[0]) > sc_val(a[1]), "a > b: 1 if true, else 0", .kink = pair_kink);
TRUTH(ge, ">=", 2, sc_val(a[0]) >= sc_val(a[1]), "a >= b: 1 if true, else 0", .kink = pair_kink);
TRUTH(eq, "==", 2, sc_val(a[0]) == sc_val(a[1]),
      "a == b: 1 if true, else 0; if it moves: 1 only while at rest there", .kink = pair_kink);
TRUTH(ne, "!=", 2, sc_val(a[0]) != sc_val(a[1]), "a != b: 0 where a == b, else 1",
      .kink = pair_kink);
TRUTH(and, "and", 2, sc_val(a[0]) != 0 && sc_val(a[1]) != 0, "a and b: 1 if both are true, else 0",
      .kink = NULL);
TRUTH(or, "or", 2, sc_val(a[0]) != 0 || sc_val(a[1]) != 0, "a or b: 1 if one is true, else 0",
      .kink = NULL);
TRUTH(not, "not", 1, sc_val(a[0]) == 0, "not a: 1 if a is false, else 0", .kink = NULL);

KINK(whole) { return gap(sc_val(a[0]), round(sc_val(a[0]))); }
TRUTH(floor, "floor", 1, floor(sc_val(a[0])), "floor(x): largest whole number not above x",
      .kink = whole_kink);
TRUTH(ceil, "ceil", 1, ceil(sc_val(a[0])), "ceil(x): smallest whole number not below x",
      .kink = whole_kink);

/* y = a - n b, n = floor(a/b) */
EVAL(mod) { return a[0] - a[1] * floor(sc_val(a[0]) / sc_val(a[1])); }
PARTIAL(mod) { d[0] = 1, d[1] = -floor(sc_val(a[0]) / sc_val(a[1])); }
DIFF(mod) { return i == 0 ? CONST(1) : NEG(CALL(floor, DIV(a[0], a[1]))); }
KINK(mod)
{
    real turns = a[0] / a[1];
    return fabs(sc_val(a[1])) * whole_kink(&turns);
}
OP(mod, "mod", 2, KINKED, "mod(a, b): a - b floor(a/b), in [0, b)", .kink = mod_kink);

/* y = raw + 2 pi n, n = round((last - raw)/(2 pi)); no jump while the angle moves less than pi from
 * last */
EVAL(unwrap) { return a[0] + 2 * CST_PI * round((sc_val(a[1]) - sc_val(a[0])) / (2 * CST_PI)); }
PARTIAL(unwrap) { d[0] = 1, d[1] = 0; }
DIFF(unwrap) { return CONST(i == 0); }
OP(unwrap, "unwrap", 2, SMOOTH,
   "unwrap(raw, last): the angle raw moved by whole turns to be nearest to last");
