/* SPDX-License-Identifier: MIT
 *
 * Switches that a motion crosses, one or two at a time, in any order, or only touches. Forces are
 * constant between them, and steps exact. */
#include "nonsmooth/cases.h"

#include <complex.h>
#include <math.h>

#define MOVED(numbers, f)                                                                          \
    "parameters: {" numbers "}\n"                                                                  \
    "bodies: {x: {type: scalar, inertia: 1, value: x0, rate: v0}}\n"                               \
    "tables: {step: {x: [-9, 0, 0, 9], y: [2, 2, -1.5, -1.5]}}\n"                                  \
    "measures: {X: {type: coordinate, of: x}}\n"                                                   \
    "forces: {f: {type: motor, of: x, torque: \"" f "\"}}\n"

#define MEASURED(f, measure)                                                                       \
    "parameters: {v0: 1}\nbodies: {x: {type: scalar, inertia: 1, value: 0, rate: v0}}\n"           \
    "measures: {X: {type: coordinate, of: x}, " measure "}\n"                                      \
    "forces: {f: {type: motor, of: x, torque: \"" f "\"}}\n"

/* F1 up to xs, F2 behind it: v = sqrt(v0^2 + 2 F1 (xs - x0)) at t = (v - v0)/F1, and X'(T) = v + F2
 * (T - t) */
static double complex speed(double complex x0, double complex v0, double complex xs,
                            double complex F1, double T)
{
    const double complex v = csqrt(v0 * v0 + 2 * F1 * (xs - x0)), t = (v - v0) / F1;
    return v - 1.5 * (T - t);
}

static void crossed(nonsmooth_table *to)
{
    static const struct {
        const char *by[4], *model;
    } of[] = {
#define CROSSED(f)                                                                                 \
    {{f " by x0", f " by v0", f " by xs", f " by F1"},                                             \
     MOVED("x0: 0, v0: 1.3, xs: 0.37, F1: 2, F2: -1.5", f)}
        CROSSED("if(X < xs, F1, F2)"),
        CROSSED("if(X >= xs, F2, F1)"),
        CROSSED("if(X > xs and t > 0.01, F2, F1)"),
        CROSSED("(F1 + F2)/2 - (F1 - F2)/2*sign(X - xs)"),
        CROSSED("F1 + (F2 - F1)*(1 + floor((X - xs)/2))"),
        CROSSED("F1 + (F2 - F1)*ceil((X - xs)/2)"),
        CROSSED("if(if(X > xs, 2, 1) > 1.5, F2, F1)"),
#undef CROSSED
    };
    const double h = 1e-40, T = 1;
    const double slope[] = {cimag(speed(h * I, 1.3, 0.37, 2, T)) / h,
                            cimag(speed(0, 1.3 + h * I, 0.37, 2, T)) / h,
                            cimag(speed(0, 1.3, 0.37 + h * I, 2, T)) / h,
                            cimag(speed(0, 1.3, 0.37, 2 + h * I, T)) / h};
    static const char *const number[] = {"x0", "v0", "xs", "F1"};
    for (size_t i = 0; i < sizeof of / sizeof *of; i++)
        for (int k = 0; k < 4; k++)
            PLAIN(of[i].by[k], of[i].model, "end(X.rate)", number[k], slope[k], .end = T,
                  .step = 0.03);
    /* What does not read it, or reads it earlier, has nothing of it. */
    PLAIN("read before the event, by xs", of[0].model, "at(X.rate, 0.1)", "xs", 0, .end = T);
    PLAIN("a jump of a table, by x0", MOVED("x0: 0, v0: 1.3, xs: 0.37", "step(X - xs)"),
          "end(X.rate)", "x0", slope[0], .end = T, .step = 0.03);
    PLAIN("a jump of a table, by xs", MOVED("x0: 0, v0: 1.3, xs: 0.37", "step(X - xs)"),
          "end(X.rate)", "xs", slope[2], .end = T, .step = 0.03);
}

static void left_out(nonsmooth_table *to)
{
    /* dX'(T)/dxs = (F1 - F2)/v. Events that are located but whose times are not differentiated, or
     * not even located, leave it out. */
    static const char model[] =
        MOVED("x0: 0, v0: 1.3, xs: 0.37, F1: 2, F2: -1.5", "if(X < xs, F1, F2)");
    const double v = sqrt(1.3 * 1.3 + 2 * 2 * 0.37), T = 1;
    PLAIN("frozen, by xs", model, "end(X.rate)", "xs", 3.5 / v, .end = T,
          .simulation = "events: frozen", .today = NS_WARNED);
    PLAIN("events none, by xs", model, "end(X.rate)", "xs", 3.5 / v, .end = T,
          .simulation = "events: none", .rough = 1, .today = NS_WARNED);
    /* the time behind xs: T - t, with t = (v - v0)/F1, dt/dxs = 1/v */
    PLAIN("integral that switches, by xs", model, "integral(if(X > xs, 1, 0))", "xs", -1 / v,
          .end = T, .step = 0.03);
    /* An acceleration of a spring is no switch that is located: x = v0/w sin wt is above 0.25 for
     * (pi - 2 asin(0.25 w/v0))/w. Differences see whole steps. */
    const double w = sqrt(8), u = 0.25 * w;
    PLAIN("integral that switches by an acceleration, by v0", MOVED("x0: 0, v0: 1", "-8*X"),
          "integral(if(X.acceleration < -2, 1, 0))", "v0", 2 / w * u / sqrt(1 - u * u), .end = 1,
          .left = 0.05, .rough = 1, .today = NS_WARNED);
    /* v0^2/2 - 4 x^2 = 0.3 at sin wt = sqrt(1 - 0.6/v0^2), two times; v0 t^2/2 = 0.1 */
    const double r = sqrt(1 - 0.6);
    PLAIN("integral that switches by an energy, by v0", MEASURED("-8*X", "E: {type: energy}"),
          "integral(if(E.kinetic > 0.3, 1, 0))", "v0", 2 / w * (0.6 / r) / sqrt(1 - r * r),
          .end = 1, .left = 0.05, .rough = 1, .today = NS_WARNED);
    PLAIN("integral that switches by a running one, by v0", MEASURED("0", "way: integral(X)"),
          "integral(if(way > 0.1, 1, 0))", "v0", sqrt(0.2) / 2, .end = 1, .left = 0.05, .rough = 1,
          .today = NS_WARNED);
    /* on for c at the beginning of each period of 0.237: 5 times */
    PLAIN("pulses, by c", MOVED("x0: 0, v0: 0, c: 0.039, F: 1.3", "if(mod(t, 0.237) < c, F, 0)"),
          "end(X.rate)", "c", 5 * 1.3, .end = 1, .step = 0.03);
}

/* Above zs a mass is pushed along x for D = 2 sqrt(2 (top - zs)/g), top = v^2/(2 g): x changes by F
 * (D^2/2 + D rest), which begins with the root of top - zs. From below the top all of that is
 * gone. Binary fractions make the top exact, so that not rounding decides. */
static void thrown(nonsmooth_table *to)
{
#define THROWN(zs, f)                                                                              \
    "gravity: [0, 0, -8]\nparameters: {v: 2, zs: " zs ", F: 3}\n"                                  \
    "bodies: {b: {type: point, position: [0, 0, 0], mass: 1, velocity: [1, 0, v]}}\n"              \
    "measures: {p: {type: position, of: b.origin}, V: {type: velocity, of: b}}\n"                  \
    "forces: {s: {type: force, on: b.origin, force: [\"" f "\", 0, 0]}}\n"
    const double binary = 1.0 / 128;
    const double F = 3, g = 8, D = 2 * sqrt(2 * (0.25 - 0.24) / g);
    static const char within[] = THROWN("0.24", "if(p.z > zs, F, 0)");
    PLAIN("within a step, by zs", within, "end(V.x)", "zs", F * -4 / (g * D), .end = 0.5,
          .step = 0.03);
    PLAIN("within a step, by v", within, "end(V.x)", "v", F * 4 * 2 / (g * g * D), .end = 0.5,
          .step = 0.03);
    PLAIN("within a step, by F", within, "end(V.x)", "F", D, .end = 0.5, .step = 0.03);

    static const char grazed[] = THROWN("0.25", "if(p.z > zs, F, 0)");
    ROW("grazed, by zs", grazed, "end(V.x)", "zs", NAN, 0, .end = 0.5, .step = binary,
        .today = NS_NOT_PLAIN);
    ROW("grazed, by v", grazed, "end(V.x)", "v", 0, NAN, .end = 0.5, .step = binary,
        .today = NS_NOT_PLAIN);
    PLAIN("grazed, by mass", grazed, "end(V.x)", "b.mass", 0, .end = 0.5, .step = binary);
    PLAIN("grazed, read before", grazed, "at(V.x, 0.125)", "zs", 0, .end = 0.5, .step = binary);
    PLAIN("grazed, not read", grazed, "end(p.z)", "zs", 0, .end = 0.5, .step = binary);
    /* A force that is continuous there: its impulse is of the power 3/2. */
    static const char touched[] = THROWN("0.25", "max(p.z - zs, 0)");
    PLAIN("touched, by zs", touched, "end(V.x)", "zs", 0, .end = 0.5, .step = binary, .left = 0.02);
    PLAIN("touched, by v", touched, "end(V.x)", "v", 0, .end = 0.5, .step = binary, .left = 0.02);
    static const char stop[] =
        "gravity: [0, 0, 0]\nparameters: {v: 2, b: 0.25}\n"
        "bodies: {x: {type: scalar, inertia: 1, value: 0, rate: v}}\n"
        "measures: {X: {type: coordinate, of: x}}\nforces:\n  g: {type: motor, of: x, torque: "
        "-8}\n"
        "  s: {type: stop, of: x, upper: b, stiffness: 1}\n";
    PLAIN("a stop is touched, by b", stop, "end(X.rate)", "b", 0, .end = 0.5, .step = binary,
          .apart = 0.02);
    /* with these steps rounding makes contacts that last 1e-7 s */
    PLAIN("a stop is touched by rounding, by b", stop, "end(X.rate)", "b", 0, .end = 0.5,
          .step = 1e-3, .apart = 0.02, .fragile = 1, .today = NS_METHODS);
    /* F/k (1 - cos wt) comes back to 0 and is not negative, whatever k is. */
    static const char back[] = MOVED("x0: 0, v0: 0, k: 400", "0.1 - k*X - if(X.rate > 0, 0, 0)");
    PLAIN("comes back to its switch, by k", back, "integral(if(X > 0, 1, 2))", "k", 0, .end = 0.7,
          .step = 2e-3, .rough = 1, .fragile = 1, .today = NS_METHODS);
#undef THROWN
}

/* A mass flies with (1, 1) and passes x = X and y = Y at 0.3 both. psi = z'(1), with z'' by f. For
 * f = A B with A from 1 to 2 at X and B from 3 to 5 at Y:
 *
 *     X earlier: 3 -> 6, later: 5 -> 10;    Y earlier: 3 -> 5, later: 6 -> 10 */
static void coinciding(nonsmooth_table *to)
{
#define TWO(f)                                                                                     \
    "gravity: [0, 0, 0]\nparameters: {X: 0.3, Y: 0.3, s: 0.3, v: 1}\n"                             \
    "bodies: {b: {type: point, position: [0, 0, 0], mass: 1, velocity: [v, 1, 0]}}\n"              \
    "measures: {p: {type: position, of: b.origin}, V: {type: velocity, of: b}}\n"                  \
    "forces: {f: {type: force, on: b.origin, force: [0, 0, \"" f "\"]}}\n"
    static const char sum[] = TWO("if(p.x > X, 2, 1) + if(p.y > Y, 5, 3)");
    static const char product[] = TWO("if(p.x > X, 2, 1)*if(p.y > Y, 5, 3)");
    static const char same[] = TWO("if(p.x > s, 2, 1)*if(p.y > s, 5, 3)");
    PLAIN("two at once, a sum, by X", sum, "end(V.z)", "X", -1, .end = 1);
    PLAIN("two at once, a sum, by Y", sum, "end(V.z)", "Y", -2, .end = 1);
    ROW("two at once, a product, by X", product, "end(V.z)", "X", 3 - 6, 5 - 10, .end = 1);
    ROW("two at once, a product, by Y", product, "end(V.z)", "Y", 3 - 5, 6 - 10, .end = 1);
    /* v moves only x: t = X/v, dt/dv = -0.3, so that a larger v is earlier. */
    ROW("two at once, a product, by v", product, "end(V.z)", "v", -0.3 * (5 - 10), -0.3 * (3 - 6),
        .end = 1);
    /* moved together they do not change their order */
    PLAIN("two at once, a product, moved together", same, "end(V.z)", "s", 3 - 10, .end = 1);
    PLAIN("two at once, a product, read before", product, "at(V.z, 0.2)", "X", 0, .end = 1);
    PLAIN("two at once, a product, not read", product, "end(V.x)", "X", 0, .end = 1);
    PLAIN("two at once, a product, by mass", product, "end(V.z)", "b.mass", -(0.3 * 3 + 0.7 * 10),
          .end = 1);
    PLAIN("two near each other, a product, by X", TWO("if(p.x > X + 1e-4, 2, 1)*if(p.y > Y, 5, 3)"),
          "end(V.z)", "X", 5 - 10, .end = 1);
    /* and: both must hold, the later one decides; or: the earlier one */
    ROW("two at once, and, by X", TWO("if(p.x > X and p.y > Y, 7, 0)"), "end(V.z)", "X", 0, -7,
        .end = 1);
    ROW("two at once, or, by X", TWO("if(p.x > X or p.y > Y, 7, 0)"), "end(V.z)", "X", -7, 0,
        .end = 1);
#undef TWO
}

static void coinciding_in_what_is_read(nonsmooth_table *to)
{
    /* a and b go from 2 to -1.5 at the same instant t: psi = integral (a + b)^2 has by the instant
     * of a the slope (2 + 2)^2 - (2 - 1.5)^2 if a is earlier, and (2 - 1.5)^2 - (-1.5 - 1.5)^2 if
     * later; dt/dxs = 1/v, v^2 = 1.3^2 + 4 xs. */
    static const char either[] =
        "parameters: {v0: 1.3, xs: 0.37, ys: 0.37, F: -1.5}\n"
        "bodies: {a: {type: scalar, inertia: 1, value: 0, rate: v0}, b: {type: scalar, inertia: "
        "1, value: 0, rate: 1.3}}\n"
        "measures: {A: {type: coordinate, of: a}, B: {type: coordinate, of: b}}\n"
        "forces:\n  f: {type: motor, of: a, torque: \"if(A < xs, 2, F)\"}\n"
        "  g: {type: motor, of: b, torque: \"if(B < ys, 2, F)\"}\n";
    static const char squares[] = "integral((A.acceleration + B.acceleration)^2)";
    const double v = sqrt(1.3 * 1.3 + 4 * 0.37), t = (v - 1.3) / 2;
    ROW("two at once, squares, by xs", either, squares, "xs", (16 - 0.25) / v, (0.25 - 9) / v,
        .end = 1);
    ROW("two at once, squares, by ys", either, squares, "ys", (16 - 0.25) / v, (0.25 - 9) / v,
        .end = 1);
    PLAIN("two at once, squares, by F", either, squares, "F", 2 * 2 * -3 * (1 - t), .end = 1);
    PLAIN("two at once, their sum, by xs", either, "end(A.rate) + end(B.rate)", "xs",
          1 / v * 2 + 1.5 / v, .end = 1);

    /* A body falls on two stops at once, with v^2 = 2 g (0.5 - low). The stop that it meets first
     * turns it: the acceleration above that one jumps to 900 v (1/m + r^2/J) - g, and to less if it
     * is the second one. */
    static const char stops[] =
        "points: {A: [0.6, 0, 0.5], B: [-0.6, 0, 0.5], C: [0, 0, 0.5]}\ngravity: [0, 0, -9.81]\n"
        "parameters: {low: 0.2}\n"
        "bodies: {b: {type: rigid, position: C, mass: 80, inertia: [5, 8, 9]}}\n"
        "joints: {g: {type: planar, between: [ground, b], at: C, normal: y}}\nforces:\n"
        "  s: {type: stop, of: a.z, lower: low, stiffness: 4e4, damping: 900}\n"
        "  t: {type: stop, of: c.z, lower: 0.2, stiffness: 4e4, damping: 900}\nmeasures:\n"
        "  a: {type: position, of: b.A}\n  c: {type: position, of: b.B}\n"
        "  w: {type: acceleration, of: b.A}\n";
    const double g = 9.81, fall = sqrt(2 * g * 0.3);
    ROW("peak above two stops, by one of them", stops, "peak(w.z)", "low", NAN,
        -900 * (1 / 80.0 + 0.6 * 0.6 / 8) * g / fall, .end = 0.3, .step = 2e-3, .left = 1e-4);
}

/* x(T) behind two bounces on a pad that pushes with F while z < 0 */
static double complex bounced(double complex H, double complex F)
{
    const double g = 9.81, m = 1.3;
    const double complex v = csqrt(2 * g * H), bounce = 2 * v / (F / m - g);
    const double complex t = 1.1 - v / g - 2 * bounce - 2 * v / g;
    return v * t - g * t * t / 2;
}

static void many(nonsmooth_table *to)
{
    static const char pad[] =
        "gravity: [0, 0, -9.81]\nparameters: {H: 0.3, F: 80, m: 1.3}\n"
        "bodies: {a: {type: point, position: [0, 0, H], mass: m}}\n"
        "measures: {z: {type: position, of: a.origin}}\n"
        "forces: {pad: {type: force, on: a.origin, direction: z, magnitude: \"if(z.z < 0, F, "
        "0)\"}}\n";
    PLAIN("bounces on a pad, by H", pad, "end(z.z)", "H",
          cimag(bounced(0.3 + 1e-40 * I, 80)) / 1e-40, .end = 1.1, .step = 0.013);
    PLAIN("bounces on a pad, by F", pad, "end(z.z)", "F",
          cimag(bounced(0.3, 80 + 1e-40 * I)) / 1e-40, .end = 1.1, .step = 0.013);
    /* A ball that comes to rest on a damped stop lies m g/k below its limit. */
    static const char ball[] =
        "gravity: [0, 0, -9.81]\nparameters: {k: 2e4, m: 1.1, z0: 0.3}\n"
        "points: {O: [0, 0, z0]}\nbodies: {b: {type: point, position: O, mass: m}}\n"
        "measures: {p: {type: position, of: b.origin}}\n"
        "forces: {s: {type: stop, of: p.z, lower: 0.1, stiffness: k, damping: 40}}\n";
    PLAIN("a ball comes to rest, by m", ball, "end(p.z)", "m", -9.81 / 2e4, .end = 4, .step = 4e-3);
    PLAIN("a ball comes to rest, by z0", ball, "end(p.z)", "z0", 0, .end = 4, .step = 4e-3);

    /* Dry friction: m v0^2/(2 F). Where it rests steps chatter, by which differences are spoilt. */
    static const char dry[] = MOVED("x0: 0, v0: 1, F: 5", "-F*sign(X.rate)");
    PLAIN("chattering, by v0", dry, "end(X)", "v0", 1 / 5.0, .left = 0.1, .rough = 1,
          .today = NS_REFUSED);
    PLAIN("chattering, by x0", dry, "end(X)", "x0", 1, .rough = 1, .today = NS_REFUSED);
    PLAIN("before chattering, by v0", dry, "end(X)", "v0", 0.15, .end = 0.15);
    /* Two speeds that switch each other ever faster, until both are 0 */
    PLAIN("ever faster, by a speed",
          "gravity: [0, 0, 0]\nparameters: {b: 1.5, u: 0.3}\n"
          "bodies: {b: {type: point, position: [0, 0, 0], mass: 1, velocity: [u, 0.2, 0]}}\n"
          "measures: {v: {type: velocity, of: b.origin}}\n"
          "forces: {w: {type: force, on: b.origin, force: [\"-sign(v.x) + b*sign(v.y)\", "
          "\"-b*sign(v.x) - sign(v.y)\", 0]}}\n",
          "end(v.x)", "u", 0, .end = 1, .rough = 1, .today = NS_REFUSED);
    /* A square wave of which half periods P are shorter than a step: X'(1) = F (P - P + .. + what
     * is left), by F */
    const double P = acos(-1) / 131.7;
    const int n = (int)floor(1 / P);
    const double rest = n % 2 ? P - (1 - n * P) : 1 - n * P;
    PLAIN("square wave, by F", MOVED("x0: 0, v0: 0, F: 1.3", "if(sin(131.7*t) > 0, F, -F)"),
          "end(X.rate)", "F", rest, .end = 1, .step = 0.03);
    PLAIN("switched on at a state, by t1", MOVED("x0: 0, v0: 0, F: 2, t1: 0.1", "if(t > t1, F, 0)"),
          "end(X)", "t1", -2 * 0.3);
    PLAIN("switched on twice at a state, by t1",
          MOVED("x0: 0, v0: 0, F: 2, t1: 0.1, t2: 0.1", "if(t > t1, F, 0) + if(t > t2, F, 0)"),
          "end(X)", "t1", -2 * 0.3);
}

void nonsmooth_events(nonsmooth_table *to)
{
    crossed(to);
    left_out(to);
    thrown(to);
    coinciding(to);
    coinciding_in_what_is_read(to);
    many(to);
}
