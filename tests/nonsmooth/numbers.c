/* SPDX-License-Identifier: MIT
 *
 * Kinks and jumps of expressions of numbers alone. A mass of 2 kg is pushed by F, an expression of
 * numbers: X(0.4) = 0.1 + 0.4 v + F T^2/(2 m), so that slopes of psi = end(X) are those of F times
 * 0.04. Steps are exact. */
#include "nonsmooth/cases.h"

#include <math.h>

#define PUSHED(F)                                                                                  \
    "parameters: {z: 0, w: 0, n: 3, k1: 50, k2: 50, u: 1, T: 2, v: 0.3}\n"                         \
    "tables: {y: {x: [0, 2, 3], y: [1, 4, 2]}}\n"                                                  \
    "bodies: {m: {type: scalar, inertia: 2, value: 0.1, rate: v}}\n"                               \
    "measures: {X: {type: coordinate, of: m}}\n"                                                   \
    "forces: {f: {type: motor, of: m, torque: \"" F "\"}}\n"

/* F has the slopes `down` and, first of the last arguments, up */
#define BY(F, number, down, ...)                                                                   \
    ROW(F " by " number, PUSHED(F), "end(X)", number, 0.04 * (down), 0.04 * __VA_ARGS__)

static void kinks(nonsmooth_table *to)
{
    BY("abs(z)", "z", -1, 1);
    BY("50*abs(z - w)", "z", -50, 50);
    BY("50*abs(z - w)", "w", -50, 50);
    BY("sqrt(z^2 + w^2)", "z", -1, 1);
    BY("hypot(z, w)", "z", -1, 1);
    BY("hypot(z, w)", "w", -1, 1);
    BY("(z^2)^0.5", "z", -1, 1);
    BY("min(k1, k2)", "k1", 1, 0);
    BY("min(k1, k2)", "k2", 1, 0);
    BY("max(k1, k2, n)", "k1", 0, 1);
    BY("max(k1, k2, n)", "n", 0, 0);
    BY("clamp(u, 0, 1)", "u", 1, 0);
    BY("clamp(z, 0, 1)", "z", 0, 1);
    BY("if(z > 0, 5*z, 0)", "z", 0, 5);    /* no jump, but a kink */
    BY("y(T)", "T", 1.5, -2);              /* (4 - 1)/2, (2 - 4)/1 */
    BY("abs(2*y(T + z) - 8)", "z", -3, 4); /* y(2) = 4: |2*1.5*dz|, |2*-2*dz| */
    BY("abs(2*y(T + z) - 8)", "T", -3, 4);
    BY("max(z, 0)", "z", 0, 1);
    ROW("objective abs(z)", PUSHED("0"), "abs(z) + end(X)", "z", -1, 1);
    ROW("objective norm of numbers", PUSHED("0"), "norm([z, w, 0]) + end(X)", "z", -1, 1);
}

/* A side on which F jumps has no slope, one on which it is infinite neither. */
static void jumps(nonsmooth_table *to)
{
    BY("floor(n)", "n", NAN, 0);
    BY("ceil(n)", "n", 0, NAN);
    BY("sign(z)", "z", NAN, NAN); /* sign(0) = 0 */
    BY("if(n >= 3, k1, k2 + 1)", "n", NAN, 0);
    BY("if(n >= 3, k1, k2 + 1)", "k1", 1, 1);
    BY("if(n < 3 or z > 0, 1, 2)", "z", 0, NAN);
    BY("if(n < 3 or z > 0, 1, 2)", "n", NAN, 0);
    BY("if(k1 > k2, 3, 1)", "k1", 0, NAN);
    BY("if(k1 > k2, 3, 1)", "k2", NAN, 0);
    BY("mod(n, 1)", "n", NAN, 1); /* from 1 to 0 */
    BY("if(k1 == k2, 0, 5)", "k1", NAN, NAN);
    BY("if(k1 != k2, 0, 5)", "k2", NAN, NAN);
    BY("atan2(z, w)", "z", NAN, NAN); /* -pi/2, 0, pi/2 */
    BY("atan2(z, w)", "w", NAN, 0);   /* pi, 0, 0 */
    BY("cbrt(z)", "z", NAN, NAN);     /* infinite */
    BY("sqrt(z)", "z", NAN, NAN);     /* undefined, infinite */
    BY("abs(z)^0.5", "z", NAN, NAN);
    BY("(-u)^n", "n", NAN, NAN); /* defined for integers alone */
}

static void smooth(nonsmooth_table *to)
{
    BY("abs(z + 1)", "z", 1, 1);
    BY("z*abs(z)", "z", 0, 0);
    BY("abs(z)^1.5", "z", 0, 0, .width = 1e-9);
    BY("(z^2)^1.5", "z", 0, 0);
    BY("0*abs(z)", "z", 0, 0);
    BY("min(k1, 2*k2)", "k1", 1, 1);
    BY("if(n > 3.5, abs(z), k1)", "z", 0, 0); /* a branch that is not taken */
    BY("max(u*u, u^2)", "u", 2, 2);           /* the same on both sides */
    BY("clamp(u, 0, 2)", "u", 1, 1);
    BY("floor(n + 0.5)", "n", 0, 0);
    BY("y(T + 0.3)", "T", -2, -2);
    BY("if(n >= 3, k1, k1)", "n", 0, 0);
    BY("(-u)^n", "u", -3, -3); /* d(-u^3)/du = -3 u^2 */
    /* Both sides of an equality have slope 1 at it, although its own branch is a constant. */
    BY("if(k1 == k2, 0, k1 - k2)", "k1", 1, 1, .today = NS_REFUSED);
    BY("if(z == 0, 1, sin(z)/z)", "z", 0, 0, .today = NS_REFUSED);
    BY("if(z == 0, 0, sin(z)^2/z)", "z", 1, 1, .today = NS_REFUSED);
    /* Two kinks of which the sum is z */
    BY("max(z, 0) + min(z, 0)", "z", 1, 1, .today = NS_REFUSED);
}

/* n chooses among what is computed anyway: the other choice has another value. X = 0.1 + 0.3 t */
static void choices(nonsmooth_table *to)
{
    static const char *const objective[] = {"integral(if(n >= 3, X, 2*X))",
                                            "end(if(n >= 3, X, 2*X))",
                                            "if(n >= 3, end(X), 2*end(X))",
                                            "peak(if(not (n < 3), X, 2*X), 8)"};
    for (int i = 0; i < 4; i++) ROW(objective[i], PUSHED("0"), objective[i], "n", NAN, 0);
    /* At their own switch both choices have the same value, and n is not in it. */
    PLAIN("choice of equals", PUSHED("0"), "integral(if(n >= 3, X, X + 0*n))", "n", 0,
          .today = NS_REFUSED);
}

void nonsmooth_numbers(nonsmooth_table *to)
{
    kinks(to);
    jumps(to);
    smooth(to);
    choices(to);
}
