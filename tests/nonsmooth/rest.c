/* SPDX-License-Identifier: MIT
 *
 * Motions that rest on a kink, a switch or an equality, for a while or for the whole run. */
#include "nonsmooth/cases.h"

#include <math.h>

#define MOVED(numbers, f)                                                                          \
    "parameters: {" numbers "}\n"                                                                  \
    "bodies: {x: {type: scalar, inertia: 1, value: x0, rate: v0}}\n"                               \
    "tables: {cone: {x: [-1, 0, 1], y: [300, 0, 300]}}\n"                                          \
    "measures: {X: {type: coordinate, of: x}}\n"                                                   \
    "forces: {f: {type: motor, of: x, torque: \"" f "\"}}\n"
#define REST(f) MOVED("x0: 0, v0: 0", f)

/* X'' = -300 |X|, written in many ways, from rest at 0: X = x0 cos wT + v0/w sin wT to the right,
 * with cosh and sinh to the left. */
static void cones(nonsmooth_table *to)
{
    static const struct {
        const char *by_x0, *by_v0, *model;
    } of[] = {
#define CONE(f) {"rests: " f " by x0", "rests: " f " by v0", REST(f)}
        CONE("-300*abs(X)"),           CONE("-300*sqrt(X^2)"),
        CONE("-300*hypot(X, 0)"),      CONE("-300*sign(X)*X"),
        CONE("-300*max(X, -X)"),       CONE("300*min(X, -X)"),
        CONE("-300*if(X > 0, X, -X)"), CONE("-cone(X)"),
        CONE("-300*norm([X, 0, 0])"),  CONE("-300*clamp(X, 0, 9) + 300*clamp(X, -9, 0)"),
#undef CONE
    };
    const double w = sqrt(300), T = 0.08;
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        ROW(of[i].by_x0, of[i].model, "end(X)", "x0", cosh(w * T), cos(w * T), .left = 5e-3,
            .end = T, .step = 2e-3);
        ROW(of[i].by_v0, of[i].model, "end(X)", "v0", sinh(w * T) / w, sin(w * T) / w, .left = 5e-3,
            .end = T, .step = 2e-3);
    }
    /* Two kinks on which it rests at once: other stiffnesses, and the same one */
    static const char two[] = REST("-300*max(X, 0) + 100*max(-X, 0)");
    static const char sum[] = REST("-300*max(X, 0) + 300*max(-X, 0)");
    ROW("rests: two kinks by x0", two, "end(X)", "x0", cos(10 * T), cos(w * T), .left = 5e-3,
        .end = T, .step = 2e-3);
    PLAIN("rests: two kinks that make a line, by x0", sum, "end(X)", "x0", cos(w * T), .left = 5e-3,
          .end = T, .step = 2e-3, .today = NS_REFUSED);
    /* A spring to one side, as a stop that is just touched */
    static const char stop[] = "parameters: {x0: 0.1, xs: 0.1, v0: 0, F: 0}\n"
                               "bodies: {x: {type: scalar, inertia: 1, value: x0, rate: v0}}\n"
                               "measures: {X: {type: coordinate, of: x}}\nforces:\n"
                               "  s: {type: stop, of: x, upper: xs, stiffness: 300}\n"
                               "  f: {type: motor, of: x, torque: F}\n";
    const double C = cos(w * T);
    ROW("rests at a stop, by x0", stop, "end(X)", "x0", 1, C, .left = 5e-3, .end = T, .step = 2e-3);
    ROW("rests at a stop, by xs", stop, "end(X)", "xs", 1 - C, 0, .left = 5e-3, .end = T,
        .step = 2e-3);
    ROW("rests at a stop, by v0", stop, "end(X)", "v0", T, sin(w * T) / w, .left = 5e-3, .end = T,
        .step = 2e-3);
    ROW("rests at a stop, by F", stop, "end(X)", "F", T * T / 2, (1 - C) / 300, .left = 5e-3,
        .end = T, .step = 2e-3);
}

/* At rest X' is on the kink of the damper: X = x0 + v0 (1 - exp(-c T))/c */
static void dampers(nonsmooth_table *to)
{
    const double T = 0.4;
#define CREEP(c) ((1 - exp(-(c)*T)) / (c))
    ROW("rests: max(v, 0) by v0", REST("-3*max(X.rate, 0)"), "end(X)", "v0", T, CREEP(3),
        .left = 2e-3);
    PLAIN("rests: max(v, 0) by x0", REST("-3*max(X.rate, 0)"), "end(X)", "x0", 1);
    ROW("rests: max(c1 v, c2 v) by v0", REST("-max(2*X.rate, 5*X.rate)"), "end(X)", "v0", CREEP(2),
        CREEP(5), .left = 2e-3);
    ROW("rests: if(v >= 0, ..) by v0", REST("-if(X.rate >= 0, 5, 2)*X.rate"), "end(X)", "v0",
        CREEP(2), CREEP(5), .left = 2e-3);
    /* v' = -c v |v| is of second order. */
    PLAIN("rests: v abs(v) by v0", REST("-3*X.rate*abs(X.rate)"), "end(X)", "v0", T);
    PLAIN("rests: v abs(v) by x0", REST("-3*X.rate*abs(X.rate)"), "end(X)", "x0", 1);
    PLAIN("rests: X abs(X) by x0", REST("-3*X*abs(X)"), "end(X)", "x0", 1);
    PLAIN("rests: X abs(X) by v0", REST("-3*X*abs(X)"), "end(X)", "v0", T);
    /* Dry friction stops it after v0^2/(2 F). Behind that the steps chatter: no differences. */
    PLAIN("rests: sign(v) by v0", REST("-2*sign(X.rate)"), "end(X)", "v0", 0, .rough = 1,
          .today = NS_REFUSED);
    PLAIN("rests: sign(v) by x0", REST("-2*sign(X.rate)"), "end(X)", "x0", 1, .today = NS_REFUSED);
    /* Both conditions must hold: from x0 > 0 alone it does not move. With v0 > 0 it is a damped
     * oscillator with d = 10/s, w = sqrt(300 - 100), before it turns. */
    static const char both[] = REST("-if(X.rate > 0 and X > 0, 300*X + 20*X.rate, 0)");
    const double w = sqrt(200), t = 0.06;
    PLAIN("rests: two conditions by x0", both, "end(X)", "x0", 1, .end = t, .step = 2e-3,
          .today = NS_REFUSED);
    ROW("rests: two conditions by v0", both, "end(X)", "v0", t, exp(-10 * t) * sin(w * t) / w,
        .left = 5e-3, .end = t, .step = 2e-3);
#undef CREEP
}

/* Switches between forces, not only between slopes, at rest on them */
static void switches(nonsmooth_table *to)
{
    /* Two masses: y rests on the switch of what pushes x. */
#define SEEN(f)                                                                                    \
    "parameters: {y0: 0, F: 2}\n"                                                                  \
    "bodies: {x: {type: scalar, inertia: 1, value: 0, rate: 0},\n"                                 \
    "  y: {type: scalar, inertia: 1, value: y0, rate: 0}}\n"                                       \
    "measures: {X: {type: coordinate, of: x}, Y: {type: coordinate, of: y}}\n"                     \
    "forces: {f: {type: motor, of: x, torque: \"" f "\"}}\n"
    static const struct {
        const char *by_F, *by_y, *model;
        double factor, below, above;
    } seen[] = {
#define ON(f, factor, below, above)                                                                \
    {"seen at rest: " f " by F", "seen at rest: " f " by y0", SEEN(f), factor, below, above}
        ON("if(Y >= 0, F, 0)", 1, NAN, 0),
        ON("if(Y <= 0, F, 0)", 1, 0, NAN),
        ON("if(Y > 0, F, 0)", 0, 0, NAN),
        ON("if(Y < 0, F, 0)", 0, NAN, 0),
        ON("if(Y > 0, F, if(Y < 0, -F, 0))", 0, NAN, NAN),
        ON("F*sign(Y)", 0, NAN, NAN),
        ON("F*floor(Y)", 0, NAN, 0),
        ON("F*(1 + floor(Y))", 1, NAN, 0),
        ON("if(Y == 0, F, 0)", 1, NAN, NAN),
        ON("if(Y != 0, F, 0)", 0, NAN, NAN),
        ON("F*(Y == 0 and t < 9)", 1, NAN, NAN),
#undef ON
    };
    for (size_t i = 0; i < sizeof seen / sizeof *seen; i++) {
        PLAIN(seen[i].by_F, seen[i].model, "end(X.rate)", "F", 0.4 * seen[i].factor);
        ROW(seen[i].by_y, seen[i].model, "end(X.rate)", "y0", seen[i].below, seen[i].above);
    }
    /* equal forces that are written differently */
    PLAIN("seen at rest: equal forces, by y0", SEEN("if(Y > 0, F, F + 0*t)"), "end(X.rate)", "y0",
          0, .today = NS_REFUSED);
#undef SEEN
}

/* A mass of 2 kg hangs 0.6 m below O in equilibrium, with the weight W = 20 N. */
#define HUNG(law, extra)                                                                           \
    "gravity: [0, 0, -10]\n"                                                                       \
    "parameters: {k: 300, l: 100, d: 30, e: 10, F: 0, t0: 0.02, F0: 20}\n"                         \
    "points: {A: [0, 0, -0.6], O: [0, 0, 0]}\n"                                                    \
    "bodies: {m: {type: point, position: A, mass: 2" extra "}}\n"                                  \
    "forces:\n  s: {type: spring, from: ground.O, to: m, force: \"" law "\"}\n"                    \
    "  f: {type: force, on: m, direction: z, magnitude: \"F*if(t > t0, 1, 0)\"}\n"                 \
    "measures: {p: {type: position, of: m}, V: {type: velocity, of: m}}\n"                         \
    "initial: {equilibrium: true}\n"
#define STILL ", velocity: [0, 0, 0]"

/* s = 0.6 + (W - F0)/k for a larger weight, with l for a smaller one; W = -m g, z = -s */
static void equilibria(nonsmooth_table *to)
{
    static const char *const law[] = {HUNG("if(s >= 0.6, k, l)*(s - 0.6) + F0", ""),
                                      HUNG("max(k*(s - 0.6), l*(s - 0.6)) + F0", "")};
    static const char *const name[][5] = {
        {"equilibrium on a switch, by gravity", "equilibrium on a switch, by mass",
         "equilibrium on a switch, by preload", "equilibrium on a switch, by k",
         "equilibrium on a switch, by l"},
        {"equilibrium on a kink, by gravity", "equilibrium on a kink, by mass",
         "equilibrium on a kink, by preload", "equilibrium on a kink, by k",
         "equilibrium on a kink, by l"}};
    for (int i = 0; i < 2; i++) {
        ROW(name[i][0], law[i], "end(p.z)", "gravity.z", 2.0 / 300, 2.0 / 100, .end = 0.08);
        ROW(name[i][1], law[i], "end(p.z)", "m.mass", -10.0 / 100, -10.0 / 300, .end = 0.08);
        ROW(name[i][2], law[i], "end(p.z)", "F0", 1.0 / 300, 1.0 / 100, .end = 0.08);
        PLAIN(name[i][3], law[i], "end(p.z)", "k", 0, .end = 0.08);
        PLAIN(name[i][4], law[i], "end(p.z)", "l", 0, .end = 0.08);
    }
    /* The equality holds at one place alone: beside it there is k on both sides. */
    static const char equal[] = HUNG("if(s == 0.6, l, k)*(s - 0.6) + F0", "");
    PLAIN("equilibrium in an equality, by gravity", equal, "end(p.z)", "gravity.z", 2.0 / 300,
          .end = 0.08, .today = NS_REFUSED);
    PLAIN("equilibrium in an equality, by mass", equal, "end(p.z)", "m.mass", -10.0 / 300,
          .end = 0.08, .today = NS_REFUSED);
    PLAIN("equilibrium in an equality, by l", equal, "end(p.z)", "l", 0, .end = 0.08);
    /* A damper that switches by place is at rest on either side. */
    static const char damped[] = HUNG("k*(s - 0.6) + F0 + if(s > 0.6, 30*v, 0)", "");
    PLAIN("equilibrium on the bound of a damper, by gravity", damped, "end(p.z)", "gravity.z",
          2.0 / 300, .end = 0.08, .today = NS_REFUSED);
}

/* (1 - exp(-a t) (cos wt + a/w sin wt))/k and exp(-a t) sin(wt)/w: step and impulse of the damped
 * oscillator, with a = c/(2 m), w^2 = k/m - a^2 */
typedef struct damped {
    double step, impulse;
} damped;

static damped oscillator(double k, double c, double m, double t)
{
    const double a = c / (2 * m), w = sqrt(k / m - a * a), e = exp(-a * t);
    return (damped){(1 - e * (cos(w * t) + a / w * sin(w * t))) / k, e * sin(w * t) / w};
}

/* v = s' = -V.z: upwards the damper is e, downwards d */
static void dampers_in_equilibrium(nonsmooth_table *to)
{
    static const char *const law[] = {HUNG("k*(s - 0.6) + F0 + if(v >= 0, d, e)*v", STILL),
                                      HUNG("k*(s - 0.6) + F0 + max(d*v, e*v)", STILL)};
    static const char *const name[][6] = {
        {"damper that stands, if, by V.z", "damper that stands, if, by F",
         "damper that stands, if, by gravity", "damper that stands, if, by d",
         "damper that is left, if, by F", "damper that is left, if, by t0"},
        {"damper that stands, max, by V.z", "damper that stands, max, by F",
         "damper that stands, max, by gravity", "damper that stands, max, by d",
         "damper that is left, max, by F", "damper that is left, max, by t0"}};
    const double T = 0.08, t = T - 0.02;
    const damped up = oscillator(300, 10, 2, t), down = oscillator(300, 30, 2, t);
    for (int i = 0; i < 2; i++) {
        ROW(name[i][0], law[i], "end(p.z)", "m.velocity.z", oscillator(300, 30, 2, T).impulse,
            oscillator(300, 10, 2, T).impulse, .left = 5e-3, .end = T, .step = 2e-3);
        ROW(name[i][1], law[i], "end(p.z)", "F", down.step, up.step, .left = 5e-3, .end = T,
            .step = 2e-3);
        PLAIN(name[i][2], law[i], "end(p.z)", "gravity.z", 2.0 / 300, .end = T, .step = 2e-3);
        PLAIN(name[i][3], law[i], "end(p.z)", "d", 0, .end = T, .step = 2e-3);
    }
    /* It leaves its rest under a load: the slopes are those of the damper e alone. */
    static const char *const left[] = {
        "parameters: {k: 300, d: 30, e: 10, F: 8, t0: 0.02}\n"
        "bodies: {x: {type: scalar, inertia: 2, value: 0, rate: 0}}\n"
        "measures: {X: {type: coordinate, of: x}}\n"
        "forces: {f: {type: motor, of: x, torque: \"if(t > t0, F, 0) - k*X - if(X.rate <= 0, d, "
        "e)*X.rate\"}}\n",
        "parameters: {k: 300, d: 30, e: 10, F: 8, t0: 0.02}\n"
        "bodies: {x: {type: scalar, inertia: 2, value: 0, rate: 0}}\n"
        "measures: {X: {type: coordinate, of: x}}\n"
        "forces: {f: {type: motor, of: x, torque: \"if(t > t0, F, 0) - k*X - min(d*X.rate, "
        "e*X.rate)\"}}\n"};
    for (int i = 0; i < 2; i++) {
        PLAIN(name[i][4], left[i], "end(X)", "F", up.step, .left = 5e-3, .end = T, .step = 2e-3);
        PLAIN(name[i][5], left[i], "end(X)", "t0", -8 * up.impulse / 2, .left = 5e-3, .end = T,
              .step = 2e-3);
    }
}

/* What rests has speeds that are rounding: psi = integral |V| = |v0| integral cos wt, w^2 = k/m */
static void speeds(nonsmooth_table *to)
{
    static const char model[] = HUNG("k*(s - 0.6) + F0", STILL);
    const double T = 0.08, w = sqrt(150), way = sin(w * T) / w;
    ROW("integral of a norm at rest", model, "integral(norm(V))", "m.velocity.z", -way, way,
        .left = 5e-3, .end = T, .step = 2e-3);
    ROW("integral of abs at rest", model, "integral(abs(V.z))", "m.velocity.z", -way, way,
        .left = 5e-3, .end = T, .step = 2e-3);
    ROW("peak of a norm at rest", model, "peak(norm(V))", "m.velocity.z", -1, 1, .end = T,
        .step = 2e-3);
    ROW("peak of abs at rest", model, "peak(abs(V.z))", "m.velocity.z", -1, 1, .end = T,
        .step = 2e-3);
    static const char none[] = HUNG("k*(s - 0.6) + F0", "");
    PLAIN("integral of a norm at rest that nothing moves", none, "integral(norm(V))", "k", 0,
          .end = T, .step = 2e-3);
    PLAIN("peak of a norm at rest that nothing moves", none, "peak(norm(V))", "gravity.z", 0,
          .end = T, .step = 2e-3);
}

/* A wheel with its linkage in equilibrium, with a damper that is on its kink at rest. The chassis
 * slides upright, so that the tire alone carries the weight M g of 255 kg: Cz (0.016677 - hop) = M
 * g. */
static void linkage(nonsmooth_table *to)
{
    static const char model[] =
        "gravity: [0, 0, -9.81]\n"
        "parameters: {m1: 200, K: 40000, c1: 1e3, c2: 3e3, Cz: 150000}\n"
        "points:\n  A: [0, 0.30, 0.25]\n  B: [0, 0.40, 0.50]\n  C: [0, 0.70, 0.20]\n"
        "  E: [0, 0.65, 0.48]\n  W: [0, 0.75, 0.30]\n  S: A + 0.46*(C - A)\n"
        "  T: [0, 0.46, 0.60]\nbodies:\n"
        "  chassis: {type: rigid, mass: m1, inertia: [20, 20, 20], position: T}\n"
        "  lower:   {type: bar, from: A, to: C, mass: 6}\n"
        "  upper:   {type: bar, from: B, to: E, mass: 4}\n"
        "  knuckle: {type: bar, from: C, to: E, mass: 5}\n"
        "  wheel:   {type: rigid, mass: 40, inertia: [0.6, 1, 0.6], position: W}\njoints:\n"
        "  guide: {type: prismatic, between: [ground, chassis], at: T, axis: z}\n"
        "  a:     {type: revolute, between: [chassis, lower], at: A, axis: x}\n"
        "  b:     {type: revolute, between: [chassis, upper], at: B, axis: x}\n"
        "  c:     {type: spherical, between: [lower, knuckle], at: C}\n"
        "  e:     {type: spherical, between: [upper, knuckle], at: E}\n"
        "  hub:   {type: fixed, between: [knuckle, wheel], at: W}\nforces:\n"
        "  strut: {type: spring-damper, from: lower.S, to: chassis.T, force: \"K*(s - 0.5) + "
        "max(c1*v, c2*v)\"}\n"
        "  tire:  {type: force, on: wheel.W, direction: z, magnitude: \"Cz*(0.016677 - hop)\"}\n"
        "measures:\n  pos:  {type: position, of: wheel.W}\n  hop:  pos.z - W.z\n"
        "  len:  {type: distance, from: lower.S, to: chassis.T}\n  vd: rate(len)\n"
        "initial: {equilibrium: {}}\n";
    const double g = 9.81, Cz = 150e3, M = 255;
    PLAIN("linkage at rest, by mass", model, "end(hop)", "m1", -g / Cz, .end = 0.03, .step = 3e-3);
    PLAIN("linkage at rest, by tire", model, "end(hop)", "Cz", M * g / (Cz * Cz), .end = 0.03,
          .step = 3e-3, .width = 1);
    PLAIN("linkage at rest, by damper", model, "end(hop)", "c1", 0, .end = 0.03, .step = 3e-3);
    PLAIN("linkage at rest, by spring", model, "end(hop)", "K", 0, .end = 0.03, .step = 3e-3,
          .width = 1);
    PLAIN("linkage at rest, its speed", model, "at(vd, 0.02)", "m1", 0, .end = 0.03, .step = 3e-3);
    PLAIN("linkage at rest, by a point", model, "end(hop)", "A.z", 0, .end = 0.03, .step = 3e-3);
}

/* sin(s)^2/s and its like have a slope at 0, which their guards do not know: X'' = -(k - slope) X/m
 * with m = 1.3, k = 40. */
static void guards(nonsmooth_table *to)
{
#define GUARD(law)                                                                                 \
    "parameters: {k: 40, x0: 0, v0: 0}\n"                                                          \
    "bodies: {x: {type: scalar, inertia: 1.3, value: x0, rate: v0}}\n"                             \
    "measures: {x: {type: coordinate, of: x}}\n"                                                   \
    "forces: {f: {type: motor, of: x, torque: \"-k*s + " law "\"}}\n"
    static const struct {
        const char *by_x0, *by_v0, *by_k, *model;
        double slope;
        nonsmooth_verdict today;
    } of[] = {
#define OF(law, slope, today) {law " by x0", law " by v0", law " by k", GUARD(law), slope, today}
        OF("if(s == 0, 0, sin(s)^2/s)", 1, NS_REFUSED),
        OF("if(s != 0, sin(s)^2/s, 0)", 1, NS_REFUSED),
        OF("if(not (s == 0), sin(s)^2/s, 0)", 1, NS_REFUSED),
        OF("if(s == 0, 0, s)", 1, NS_REFUSED),
        OF("if(s == 0, 0, sin(s)*sin(s)*sin(s)/s)", 0, NS_REFUSED),
        OF("if(s == 0, 1, sin(s)/s)*s", 1, NS_REFUSED),
        OF("s*if(s <= 0, 1, sin(s)/s)*if(s < 0, sin(s)/s, 1)", 1, NS_REFUSED),
        OF("s*if(t > 3 or (t < 3 and s == 0), 1, sin(s)/s)", 1, NS_REFUSED),
        OF("s*if(s == 0 and t < 3, 1, sin(s)/s)", 1, NS_REFUSED),
#undef OF
    };
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        const double w = sqrt((40 - of[i].slope) / 1.3);
        PLAIN(of[i].by_x0, of[i].model, "end(x)", "x0", cos(w), .left = 5e-3, .end = 1,
              .step = 0.01, .today = of[i].today);
        PLAIN(of[i].by_v0, of[i].model, "end(x)", "v0", sin(w) / w, .left = 2e-2, .end = 1,
              .step = 0.01, .today = of[i].today);
        PLAIN(of[i].by_k, of[i].model, "end(x)", "k", 0, .end = 1, .step = 0.01);
    }
#undef GUARD
}

void nonsmooth_rest(nonsmooth_table *to)
{
    cones(to);
    dampers(to);
    switches(to);
    equilibria(to);
    dampers_in_equilibrium(to);
    speeds(to);
    linkage(to);
    guards(to);
}
