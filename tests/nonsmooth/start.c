/* SPDX-License-Identifier: MIT
 *
 * Runs that start on a kink or a switch and leave it. A mass of 1 kg moves by X'' = f(X, X', t)
 * from x0 with v0. */
#include "nonsmooth/cases.h"

#include <math.h>

#define MOVED(numbers, f)                                                                          \
    "parameters: {" numbers "}\n"                                                                  \
    "bodies: {x: {type: scalar, inertia: 1, value: x0, rate: v0}}\n"                               \
    "measures: {X: {type: coordinate, of: x}}\n"                                                   \
    "forces: {f: {type: motor, of: x, torque: \"" f "\"}}\n"

/* f = -k max(X, 0), left with a rate: from x0 < 0 the mass is free for -x0/v0, which is as if it
 * had started there later. To both sides X = x0 cos wT + v0/w sin wT to first order. */
static void kink_with_a_rate(nonsmooth_table *to)
{
    static const char model[] = MOVED("x0: 0, v0: 1, k: 40", "-k*max(X, 0)");
    const double w = sqrt(40), T = 0.3, s = sin(w * T), c = cos(w * T);
    PLAIN("kink at the start, left with a rate, by x0", model, "end(X)", "x0", c, .left = 5e-3,
          .apart = 0.2, .end = T);
    PLAIN("kink at the start, left with a rate, by v0", model, "end(X)", "v0", s / w, .left = 5e-3,
          .end = T);
    PLAIN("kink at the start, left with a rate, by k", model, "end(X)", "k",
          (T * c / w - s / (w * w)) / (2 * w), .left = 5e-3, .end = T);
    /* F (X - xs) behind xs: X = v0/r sinh r t */
    static const char away[] = MOVED("x0: 0.1, xs: 0.1, v0: 1, F: 2", "if(X > xs, F*(X - xs), 0)");
    const double r = sqrt(2), slope = r * sinh(r * 0.4);
    PLAIN("switch without a jump at the start, by x0", away, "end(X.rate)", "x0", slope,
          .left = 1e-3);
    PLAIN("switch without a jump at the start, by xs", away, "end(X.rate)", "xs", -slope,
          .left = 1e-3);
    /* A stop without damping, reached at once */
    static const char stop[] = "parameters: {x0: 0.1, xs: 0.1, v0: 1}\n"
                               "bodies: {x: {type: scalar, inertia: 1, value: x0, rate: v0}}\n"
                               "measures: {X: {type: coordinate, of: x}}\n"
                               "forces: {s: {type: stop, of: x, upper: xs, stiffness: 40}}\n";
    PLAIN("stop at the start, reached with a rate, by x0", stop, "end(X)", "x0", c, .left = 5e-3,
          .end = T);
    PLAIN("stop at the start, reached with a rate, by xs", stop, "end(X)", "xs", 1 - c,
          .left = 5e-3, .end = T);
}

/* f = -k (X + 0.1) behind 0. Y = X + 0.1 = 0.1 cos ws + v0/w sin ws for s = T + x0/v0 from x0 < 0,
 * and (x0 + 0.1) cos wT + v0/w sin wT from x0 > 0. */
static void switch_with_a_rate(nonsmooth_table *to)
{
    static const char model[] = MOVED("x0: 0, v0: 1, k: 40", "-k*if(X > 0, X + 0.1, 0)");
    const double w = sqrt(40), T = 0.3, s = sin(w * T), c = cos(w * T);
    ROW("switch at the start, left with a rate, by x0", model, "end(X)", "x0", c - 0.1 * w * s, c,
        .left = 5e-3, .end = T);
    PLAIN("switch at the start, left with a rate, by v0", model, "end(X)", "v0", s / w,
          .left = 5e-3, .end = T);
    PLAIN("switch at the start, left with a rate, by k", model, "end(X)", "k",
          (-0.1 * T * s + T * c / w - s / (w * w)) / (2 * w), .left = 5e-3, .end = T);
}

/* f = F behind xs, G before it. From x0 = xs - d it is pushed with G for d/v0: v(T) = v0 + F T + (G
 * - F) d/v0, and v0 + F T from the other side. Steps are exact. */
static void forces_that_jump(nonsmooth_table *to)
{
    static const char model[] = MOVED("x0: 0.1, xs: 0.1, v0: 1, F: 2, G: 5", "if(X > xs, F, G)");
    ROW("force jumps at the start, by x0", model, "end(X.rate)", "x0", -3, 0);
    ROW("force jumps at the start, by xs", model, "end(X.rate)", "xs", 0, 3);
    PLAIN("force jumps at the start, by v0", model, "end(X.rate)", "v0", 1);
    PLAIN("force jumps at the start, by F", model, "end(X.rate)", "F", 0.4);
    PLAIN("force jumps at the start, by G", model, "end(X.rate)", "G", 0);
    PLAIN("force jumps at the start, switch tied to it",
          MOVED("x0: 0.1, v0: 1, F: 2, G: 5", "if(X > x0, F, G)"), "end(X.rate)", "x0", 0);
    /* the time behind xs is T - max(0, xs - x0)/v0, v0 = 1 */
    static const char free[] = MOVED("x0: 0.1, xs: 0.1, v0: 1", "0");
    ROW("integrand jumps at the start, by x0", free, "integral(if(X > xs, 1, 0))", "x0", 1, 0);
    ROW("integrand jumps at the start, by xs", free, "integral(if(X > xs, 1, 0))", "xs", 0, -1);
    PLAIN("integrand jumps at the start, by v0", free, "integral(if(X > xs, 1, 0))", "v0", 0);
    /* What is read is that of the side on which the motion goes on. */
    ROW("acceleration jumps at the start, by x0", model, "start(X.acceleration)", "x0", NAN, 0);
    ROW("acceleration jumps at the start, by xs", model, "start(X.acceleration)", "xs", 0, NAN);
    PLAIN("acceleration jumps at the start, by F", model, "start(X.acceleration)", "F", 1);
    /* A stop without stiffness: X' = v0 exp(-c t) from its limit on; before it the mass is free for
     * d/v0, by which exp(-c (T - d/v0)) is larger. */
    static const char damped[] = "parameters: {x0: 0.1, xs: 0.1, v0: 0.8, c: 3}\n"
                                 "bodies: {x: {type: scalar, inertia: 1, value: x0, rate: v0}}\n"
                                 "measures: {X: {type: coordinate, of: x}}\nforces: {s: {type: "
                                 "stop, of: x, upper: xs, stiffness: 0, damping: c}}\n";
    const double e = exp(-3 * 0.4);
    ROW("damped stop at the start, by x0", damped, "end(X.rate)", "x0", -3 * e, 0, .left = 2e-3);
    ROW("damped stop at the start, by xs", damped, "end(X.rate)", "xs", 0, 3 * e, .left = 2e-3);
    PLAIN("damped stop at the start, by v0", damped, "end(X.rate)", "v0", e, .left = 2e-3);
}

/* From rest on the switch, pushed over it. From x0 = xs - d with G: v1 = sqrt(2 G d) at sqrt(2
 * d/G), so that v(T) changes with sqrt(d). With v0 < 0 it comes back after 2 |v0|/G. */
static void pushed_from_rest(nonsmooth_table *to)
{
    static const char model[] = MOVED("x0: 0.1, xs: 0.1, v0: 0, F: 2, G: 5", "if(X >= xs, F, G)");
    ROW("force jumps at the start, left from rest, by x0", model, "end(X.rate)", "x0", NAN, 0);
    ROW("force jumps at the start, left from rest, by xs", model, "end(X.rate)", "xs", 0, NAN);
    ROW("force jumps at the start, left from rest, by v0", model, "end(X.rate)", "v0",
        -(1 - 2 * 2 / 5.0), 1, .width = 1e-3);
    PLAIN("force jumps at the start, left from rest, by F", model, "end(X.rate)", "F", 0.4);

    /* f = F - c X' behind b, F before it: v = F/c (1 - E), E = exp(-c T). From b - d it comes with
     * v1 = F t1, d = F t1^2/2: v = F/c + (F t1 - F/c) exp(c t1) E = F/c (1 - E) + c d E + .. */
    static const char bound[] =
        MOVED("x0: 0.1, b: 0.1, v0: 0, F: 2, c: 3", "F - c*if(X > b, X.rate, 0)");
    const double c = 3, E = exp(-c * 0.4);
    ROW("bound of a damper, left from rest, by x0", bound, "end(X.rate)", "x0", -c * E, 0,
        .left = 2e-3);
    ROW("bound of a damper, left from rest, by b", bound, "end(X.rate)", "b", 0, c * E,
        .left = 2e-3);
    /* Back at b after 2 |v0|/F with |v0|: v = F/c + (|v0| - F/c) exp(-c (T - 2 |v0|/F)) */
    PLAIN("bound of a damper, left from rest, by v0", bound, "end(X.rate)", "v0", E, .left = 2e-3);
    PLAIN("bound of a damper, left from rest, by F", bound, "end(X.rate)", "F", (1 - E) / c,
          .left = 2e-3);
    /* A damper that is another one at negative rates: those last |v0|/F */
    static const char rates[] = MOVED("x0: 0.1, v0: 0, F: 2", "F - if(X.rate > 0, 3, 1)*X.rate");
    PLAIN("bound of a rate, left from rest, by v0", rates, "end(X.rate)", "v0", E, .left = 2e-3);
    PLAIN("bound of a rate, left from rest, by F", rates, "end(X.rate)", "F", (1 - E) / c,
          .left = 2e-3);

    /* A stop that is touched and pressed: X - xs = F/k (1 - cos wt) + (x0 - xs) cos wt. From xs - d
     * it comes with F t1, d = F t1^2/2, and X changes by -F cos(wT) t1^2/2 = -d cos wT. */
    static const char pressed[] = "parameters: {F: 2, xs: 0.1, x0: 0.1}\n"
                                  "bodies: {x: {type: scalar, inertia: 1, value: x0, rate: 0}}\n"
                                  "measures: {X: {type: coordinate, of: x}}\n"
                                  "forces:\n  f: {type: motor, of: x, torque: F}\n"
                                  "  s: {type: stop, of: x, upper: xs, stiffness: 40}\n";
    const double C = cos(sqrt(40) * 0.3);
    PLAIN("stop that is pressed from its limit, by x0", pressed, "end(X)", "x0", C, .left = 5e-3,
          .apart = 0.2, .end = 0.3);
    PLAIN("stop that is pressed from its limit, by xs", pressed, "end(X)", "xs", 1 - C,
          .left = 5e-3, .apart = 0.2, .end = 0.3);
    PLAIN("stop that is pressed from its limit, by F", pressed, "end(X)", "F", (1 - C) / 40,
          .left = 5e-3, .end = 0.3);
}

/* What is read at the start itself: X'' = -k (x - b) behind b, k/m = 20; tab(0 - t0) */
static void read_at_the_start(nonsmooth_table *to)
{
#define READ(x, law)                                                                               \
    "parameters: {x: " x ", b: 0.5, t0: 0, k: 40}\n"                                               \
    "bodies: {m: {type: scalar, inertia: 2, value: x, rate: 1}}\n"                                 \
    "tables: {w: {x: [-1, 0, 1], y: [0, 0, 3]}}\n"                                                 \
    "measures: {X: {type: coordinate, of: m}}\nforces: {" law "}\n"
#define STOP "s: {type: stop, of: m, upper: b, stiffness: k}"
    ROW("read at the start, just in contact, by x", READ("0.5", STOP), "start(X.acceleration)", "x",
        0, -20);
    ROW("read at the start, just in contact, by b", READ("0.5", STOP), "start(X.acceleration)", "b",
        20, 0);
    PLAIN("read at the start, before contact", READ("0.499", STOP), "start(X.acceleration)", "x",
          0);
    PLAIN("read at the start, in contact", READ("0.501", STOP), "start(X.acceleration)", "x", -20);
    ROW("read at the start, point of a table",
        READ("0.5", "f: {type: motor, of: m, torque: \"w(t "
                    "- t0)\"}"),
        "start(X.acceleration)", "t0", -1.5, 0);
    PLAIN("read at the start, beside the point of a table",
          READ("0.5", "f: {type: motor, of: m, torque: \"w(t - t0 + 1e-3)\"}"),
          "start(X.acceleration)", "t0", -1.5);
#undef STOP
#undef READ
}

/* Guards of poles that the motion passes at once: -k X + X with X = v0/w sin wT, w^2 = k - 1 */
static void guards(nonsmooth_table *to)
{
    static const char *const name[] = {"guard that is left at once, ==",
                                       "guard that is left at once, !=",
                                       "guard that is left at once, not"};
    static const char *const model[] = {MOVED("x0: 0, v0: 0.5, k: 40", "-k*X + if(X == 0, 0, X)"),
                                        MOVED("x0: 0, v0: 0.5, k: 40", "-k*X + if(X != 0, X, 0)"),
                                        MOVED("x0: 0, v0: 0.5, k: 40",
                                              "-k*X + if(not (X == 0), X, 0)")};
    const double w = sqrt(39), T = 0.4;
    for (int i = 0; i < 3; i++) PLAIN(name[i], model[i], "end(X)", "x0", cos(w * T), .left = 5e-3);
    PLAIN("guard that is left at once, by v0", model[0], "end(X)", "v0", sin(w * T) / w,
          .left = 5e-3);
}

void nonsmooth_start(nonsmooth_table *to)
{
    kink_with_a_rate(to);
    switch_with_a_rate(to);
    forces_that_jump(to);
    pushed_from_rest(to);
    read_at_the_start(to);
    guards(to);
}
