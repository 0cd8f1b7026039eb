/* SPDX-License-Identifier: MIT
 *
 * Kinks of laws, drives and couplings that a motion crosses, and laws without a slope where nobody
 * is. */
#include "nonsmooth/cases.h"

#include <math.h>

#define MOVED(numbers, f)                                                                          \
    "parameters: {" numbers "}\n"                                                                  \
    "bodies: {x: {type: scalar, inertia: 1, value: x0, rate: v0}}\n"                               \
    "tables: {tab: {x: [-9, 0, 9], y: [0, 0, 360]}}\n"                                             \
    "measures: {X: {type: coordinate, of: x}}\n"                                                   \
    "forces: {f: {type: motor, of: x, torque: \"" f "\"}}\n"

/* Free up to b, then on a spring: X = b + v0/w sin ws, s = T - (b - x0)/v0, by x0: cos ws, by b: 1
 * - cos ws, by v0: sin(ws)/w + cos(ws) (b - x0)/v0. The step that is cut has an error of its own.
 */
static void crossed(nonsmooth_table *to)
{
    static const struct {
        const char *by_x0, *by_b, *by_v0, *model;
    } of[] = {
#define CROSSED(f)                                                                                 \
    {"crossed: " f " by x0", "crossed: " f " by b", "crossed: " f " by v0",                        \
     MOVED("x0: 0, v0: 1, b: 0.1037, k: 40", f)}
        CROSSED("-k*max(X - b, 0)"),
        CROSSED("-k*if(X > b, X - b, 0)"),
        CROSSED("-k*(X - b + abs(X - b))/2"),
        CROSSED("-k*clamp(X - b, 0, 9)"),
        CROSSED("-tab(X - b)"),
        CROSSED("k*min(b - X, 0)"),
        CROSSED("-k*(X - b + hypot(X - b, 0))/2"),
        CROSSED("-k*(X - b + sqrt((X - b)^2))/2"),
#undef CROSSED
    };
    const double w = sqrt(40), s = 0.4 - 0.1037, C = cos(w * s), S = sin(w * s) / w;
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        PLAIN(of[i].by_x0, of[i].model, "end(X)", "x0", C, .left = 0.05);
        PLAIN(of[i].by_b, of[i].model, "end(X)", "b", 1 - C, .left = 0.05);
        PLAIN(of[i].by_v0, of[i].model, "end(X)", "v0", S + C * 0.1037, .left = 0.05);
    }
    static const char stop[] = "parameters: {x0: 0, v0: 1, b: 0.1037}\n"
                               "bodies: {x: {type: scalar, inertia: 1, value: x0, rate: v0}}\n"
                               "measures: {X: {type: coordinate, of: x}}\n"
                               "forces: {s: {type: stop, of: x, upper: b, stiffness: 40}}\n";
    PLAIN("crossed: a stop, by x0", stop, "end(X)", "x0", C, .left = 0.05);
    PLAIN("crossed: a stop, by b", stop, "end(X)", "b", 1 - C, .left = 0.05);
    /* A stop that only damps: X' = v0 exp(-c s), by x0 c/v0 of it */
    static const char damped[] =
        "parameters: {x0: 0, v0: 1, b: 0.1037, c: 5}\n"
        "bodies: {x: {type: scalar, inertia: 1, value: x0, rate: v0}}\n"
        "measures: {X: {type: coordinate, of: x}}\n"
        "forces: {s: {type: stop, of: x, upper: b, stiffness: 0, damping: c}}\n";
    const double e = exp(-5 * s);
    PLAIN("crossed: a damped stop, by x0", damped, "end(X.rate)", "x0", -5 * e, .left = 5e-3);
    PLAIN("crossed: a damped stop, by b", damped, "end(X.rate)", "b", 5 * e, .left = 5e-3);
    PLAIN("crossed: a damped stop, by v0", damped, "end(X.rate)", "v0", e - 5 * e * 0.1037,
          .left = 5e-3);
    PLAIN("crossed: a damped stop, by c", damped, "end(X.rate)", "c", -s * e, .left = 5e-3);
    /* An equality holds at one instant, which does nothing. */
    const double c = cos(w * 0.4);
    PLAIN("crossed: an equality, by x0", MOVED("x0: 0, v0: 1, k: 40", "-k*X + if(X == 0.1, 50, 0)"),
          "end(X)", "x0", c, .left = 0.05);
    PLAIN("crossed: a guard, by x0", MOVED("x0: -0.1, v0: 1, k: 41", "-k*X + if(X == 0, 0, X^2/X)"),
          "end(X)", "x0", c, .left = 0.05);
}

/* -F V.x/|V| is a force of given size, and atan2(V.y, V.x) is V.y/V.x to first order */
static void directions(nonsmooth_table *to)
{
#define SLIDES(f)                                                                                  \
    "gravity: [0, 0, 0]\nparameters: {m: 2, v: 9, F: 3, u: 0}\n"                                   \
    "bodies: {b: {type: point, position: [0, 0, 0], mass: m, velocity: [v, u, 0]}}\n"              \
    "measures: {V: {type: velocity, of: b}}\n"                                                     \
    "forces: {f: {type: force, on: b, direction: x, magnitude: \"" f "\"}}\n"
    const double T = 0.4, F = 3, m = 2, v = 9;
    PLAIN("force along a speed, by v", SLIDES("-F*V.x/norm(V)"), "end(V.x)", "v", 1);
    PLAIN("force along a speed, by F", SLIDES("-F*V.x/norm(V)"), "end(V.x)", "F", -T / m);
    PLAIN("force along a speed, by u", SLIDES("-F*V.x/hypot(V.x, V.y)"), "end(V.x)", "u", 0);
    /* -100 u/(v - F t/m)/m over the run */
    PLAIN("slip angle at 0, by u", SLIDES("-F - 100*atan2(V.y, V.x)"), "end(V.x)", "u",
          -100 / F * log(v / (v - F * T / m)), .left = 1e-4);
    PLAIN("slip angle at 0, by v", SLIDES("-F - 100*atan2(V.y, V.x)"), "end(V.x)", "v", 1);
#undef SLIDES

    /* Friction by the size of a reaction, m |g|: x = v T - mu |g| T^2/2 */
#define GUIDED(g)                                                                                  \
    "gravity: [0, 0, \"-g\"]\nparameters: {mu: 0.3, g: " g ", v: 4}\npoints: {O: [0, 0, 0]}\n"     \
    "bodies: {b: {type: rigid, position: O, mass: 2, inertia: [1, 1, 1], velocity: [v, 0, 0]}}\n"  \
    "joints: {j: {type: prismatic, between: [ground, b], at: O, axis: x}}\n"                       \
    "measures: {R: {type: reaction, of: j}, p: {type: position, of: b.origin}}\n"                  \
    "forces: {f: {type: friction, of: j, coulomb: \"mu*norm(R.force)\"}}\n"
    PLAIN("friction by a reaction, by g", GUIDED("9.81"), "end(p.x)", "g", -0.3 * T * T / 2);
    PLAIN("friction by a reaction, by mu", GUIDED("9.81"), "end(p.x)", "mu", -9.81 * T * T / 2);
    ROW("friction by a reaction that vanishes, by g", GUIDED("0"), "end(p.x)", "g", 0.3 * T * T / 2,
        -0.3 * T * T / 2, .width = 1e-3);
    PLAIN("friction by a reaction that vanishes, by v", GUIDED("0"), "end(p.x)", "v", T);
#undef GUIDED

    /* (X - 2)^n with X < 2 is defined for integers alone; by others it has a slope. m = 1, one step
     * of Newmark's rule is exact for a constant force: n = 1 makes it one. */
    static const char power[] = MOVED("x0: 0.1, v0: 0, n: 3, c: 0", "c*(X - 2)^n");
    ROW("power of what is negative, by n", power, "end((X - 2)^n)", "n", NAN, NAN);
    PLAIN("power of what is negative, by x0", power, "end((X - 2)^n)", "x0", 3 * 1.9 * 1.9);
}

/* c max(0, t - t1), and its like, sets a mass in motion at t1: x(T) = c (T - t1). */
static void drives(nonsmooth_table *to)
{
#define DRIVEN(value)                                                                              \
    "parameters: {t1: 0.2, c: 1.7, T0: 0, T1: 0.4}\n"                                              \
    "bodies: {x: {type: scalar, inertia: 1, value: 0}}\n"                                          \
    "joints: {d: {type: drive, of: X, value: \"" value "\"}}\n"                                    \
    "measures: {X: {type: coordinate, of: x}}\n"
    static const char max[] = DRIVEN("c*max(0, t - t1)");
    PLAIN("drive with a kink, by t1", max, "end(X)", "t1", -1.7);
    PLAIN("drive with a kink, by c", max, "end(X)", "c", 0.2);
    PLAIN("drive with a kink, its rate, by t1", max, "end(X.rate)", "t1", 0);
    PLAIN("drive with a kink, integral of its rate, by t1", max, "integral(X.rate)", "t1", -1.7);
    /* A table of 0.1, 0.5, 0.2 at 0, 0.2, 0.6: half of the last two at 0.4, less the first */
    static const char table[] = "tables: {tab: {x: [0, 0.2, 0.6], y: [0.1, 0.5, 0.2]}}\n"
                                "bodies: {x: {type: scalar, inertia: 1, value: 0.1}}\n"
                                "joints: {d: {type: drive, of: X, value: tab(t)}}\n"
                                "measures: {X: {type: coordinate, of: x}}\n";
    PLAIN("drive by a table, its first value", table, "integral(X.rate)", "tab.y[1]", -1);
    PLAIN("drive by a table, the value at its kink", table, "integral(X.rate)", "tab.y[2]", 0.5);
    /* half of c from T - t1 each way, to |T - t1| */
    PLAIN("drive with abs, by t1", DRIVEN("c*abs(t - t1)"), "end(X)", "t1", -1.7);
    /* the rate is read where it jumps: 0 before t1, c behind it */
    ROW("drive with a kink, rate read at it, by t1", max, "at(X.rate, 0.2)", "t1", NAN, 0);
    /* At the start: X = c (T - T0) at the end in both cases, but from -c T0 if it has begun. */
    PLAIN("drive with a kink at the start, place", DRIVEN("c*max(0, t - T0)"), "end(X)", "T0",
          -1.7);
    ROW("drive with a kink at the start, way", DRIVEN("c*max(0, t - T0)"), "integral(X.rate)", "T0",
        0, -1.7);
    ROW("drive with a kink at the end, place", DRIVEN("c*max(0, t - T1)"), "end(X)", "T1", -1.7, 0);
    /* No motion follows a drive that jumps, although places alone would. */
    ROW("drive that jumps, by t1", DRIVEN("if(t > t1, c, 0)"), "end(X)", "t1", NAN, NAN,
        .rough = 1);
    ROW("drive that jumps, by c", DRIVEN("if(t > t1, c, 0)"), "end(X)", "c", NAN, NAN, .rough = 1);
#undef DRIVEN
}

static void couplings(nonsmooth_table *to)
{
    /* y = k (x - p) from x = p on: m1 v0 = (m1 + k^2 m2) v, so that x(1) = p + r (v0 - p) with r =
     * m1/(m1 + k^2 m2) */
    static const struct {
        const char *by_p, *by_v0, *model;
    } of[] = {
#define TAKEN(value)                                                                               \
    {"taken along by " value ", by p", "taken along by " value ", by v0",                          \
     "gravity: [0, 0, 0]\nparameters: {p: 0.371, v0: 1.3, m1: 1.1, m2: 0.7, k: 0.6}\n"             \
     "tables: {tab: {x: [-9, 0, 9], y: [0, 0, 9]}}\n"                                              \
     "bodies: {a: {type: point, position: [0, 0, 0], mass: m1, velocity: [v0, 0, 0]},\n"           \
     "  b: {type: point, position: [0, 0, 0], mass: m2}}\n"                                        \
     "joints: {c: {type: coupling, of: \"y.x - " value "\"}}\n"                                    \
     "measures: {x: {type: position, of: a.origin}, y: {type: position, of: b.origin}}\n"}
        TAKEN("k*max(0, x.x - p)"),
        TAKEN("k*tab(x.x - p)"),
        TAKEN("k*if(x.x > p, x.x - p, 0)"),
#undef TAKEN
    };
    const double r = 1.1 / (1.1 + 0.6 * 0.6 * 0.7);
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        PLAIN(of[i].by_p, of[i].model, "end(x.x)", "p", 1 - r, .end = 1);
        PLAIN(of[i].by_v0, of[i].model, "end(x.x)", "v0", r, .end = 1);
    }
    /* y = k |x| at rest at 0: the nearest point to (x0, 0) is x = x0/(1 + k^2). */
    ROW("coupling that rests on its kink, by x0",
        "parameters: {x0: 0, k: 0.6}\n"
        "bodies: {a: {type: scalar, inertia: 1, value: x0}, b: {type: scalar, inertia: 2, value: "
        "0}}\njoints: {c: {type: coupling, of: \"Y - k*abs(X)\"}}\n"
        "measures: {X: {type: coordinate, of: a}, Y: {type: coordinate, of: b}}\n",
        "end(Y)", "x0", -0.6 / 1.36, 0.6 / 1.36);
}

/* Tires and friction have no closed form here: their sides are those of differences. */
static void measured(nonsmooth_table *to)
{
#define WHEEL(v, side)                                                                             \
    "gravity: [0, 0, -9.81]\nparameters: {v: " v ", side: " side ", tilt: 0}\n"                    \
    "points: {hub: [0, 0, 0.29]}\nroads: {lane: {type: plane}}\nbodies:\n"                         \
    "  wheel: {type: rigid, position: hub, mass: 300, inertia: [5, 9, 5], velocity: [v, side, "    \
    "0], angular_velocity: [0, v/0.29, 0]}\n"                                                      \
    "  cart: {type: rigid, position: hub, mass: 5, inertia: [5, 5, 5], velocity: [v, side, 0]}\n"  \
    "joints:\n  a: {type: constant-angle, between: [ground, cart], axis_1: x, axis_2: z}\n"        \
    "  b: {type: constant-angle, between: [ground, cart], axis_1: y, axis_2: z}\n"                 \
    "  c: {type: constant-angle, between: [ground, cart], axis_1: x, axis_2: y}\n"                 \
    "  axle: {type: revolute, between: [cart, wheel], at: hub, axis: [\"0\", \"cos(tilt)\", "      \
    "\"sin(tilt)\"]}\n"                                                                            \
    "forces:\n  ti: {type: magic-tire, wheel: wheel, road: lane, axis: [\"0\", \"cos(tilt)\", "    \
    "\"sin(tilt)\"], radius: 0.3, stiffness: 2e5, damping: 2000}\n"                                \
    "measures: {p: {type: position, of: cart.com}}\n"
    ROW("upright wheel that slips to the side, by tilt", WHEEL("10", "0.2"), "end(p.y)", "tilt", 0,
        0, .end = 0.1, .step = 4e-3, .measured = 1, .left = 1e-4, .today = NS_WARNED);
    ROW("upright wheel that slips to the side, by v", WHEEL("10", "0.2"), "end(p.y)", "v", 0, 0,
        .end = 0.1, .step = 4e-3, .measured = 1, .left = 1e-4);
    ROW("upright wheel that runs straight, by v", WHEEL("10", "0"), "end(p.x)", "v", 0, 0,
        .end = 0.1, .step = 4e-3, .measured = 1, .left = 1e-4);
#undef WHEEL
    static const char bump[] =
        "gravity: [0, 0, -9.81]\nparameters: {p: 0.5371}\n"
        "roads: {lane: {type: bump, at: p, length: 0.3, height: 0.03}}\nbodies:\n"
        "  w: {type: rigid, position: [0, 0, 0.295], mass: 40, inertia: [1, 1.5, 1], velocity: "
        "[4, 0, 0], angular_velocity: [0, 13.333, 0]}\nforces:\n"
        "  t: {type: tire, wheel: w, road: lane, radius: 0.3, stiffness: 5e4, damping: 800}\n"
        "measures: {x: {type: position, of: w.origin}}\n";
    ROW("a bump of a road, by its place", bump, "end(x.x)", "p", 0, 0, .end = 0.3, .step = 2e-3,
        .measured = 1, .left = 1e-2);
    static const char leaves[] =
        "gravity: [0, 0, 0]\npoints: {O: [0, 0, 0], P: [0, 0, 0.5]}\n"
        "parameters: {limit: 0.02, bound: 0.02}\nbodies: {b: {type: point, position: P, mass: "
        "30}}\njoints: {g: {type: point-on-line, of: b.P, axis: z}}\nforces:\n"
        "  s: {type: damper, from: ground.O, to: b.P, damping: 30}\n"
        "  st: {type: stop, of: z.z, lower: limit, stiffness: 1e4}\n"
        "measures: {z: {type: displacement, of: b.P}, E: {type: energy}}\n";
    ROW("leaves a stop at another switch, dissipated", leaves, "end(E.dissipated)", "limit", 0, 0,
        .end = 0.12, .step = 1e-3, .measured = 1, .left = 1e-2);
    ROW("leaves a stop at another switch, the switch", leaves, "integral(if(z.z < bound, 1, 0))",
        "bound", 0, 0, .end = 0.12, .step = 1e-3, .measured = 1, .left = 1e-2);
    /* m v^2/(2 F), but for the creeping below 1e-3 m/s */
    static const char slides[] =
        "parameters: {v0: 0.8, F: 4.1}\nbodies: {x: {type: scalar, inertia: 1.3, value: 0, rate: "
        "v0}}\nmeasures: {X: {type: coordinate, of: x}}\n"
        "forces: {f: {type: friction, of: x, coulomb: F, transition_speed: 1e-3}}\n";
    PLAIN("friction stops it, by v0", slides, "end(X)", "v0", 1.3 * 0.8 / 4.1, .end = 0.5,
          .step = 4e-3, .left = 0.05);
    PLAIN("friction stops it, by F", slides, "end(X)", "F", -1.3 * 0.8 * 0.8 / (2 * 4.1 * 4.1),
          .end = 0.5, .step = 4e-3, .left = 0.05);
    static const char friction[] =
        "parameters: {v0: 0, F: 2}\nbodies: {x: {type: scalar, inertia: 1, value: 0, rate: v0}}\n"
        "measures: {X: {type: coordinate, of: x}}\n"
        "forces: {f: {type: friction, of: x, coulomb: F, transition_speed: 0.5}}\n";
    ROW("friction at rest, by v0", friction, "end(X)", "v0", 0, 0, .measured = 1, .left = 1e-4);
    ROW("friction at rest, by F", friction, "end(X)", "F", 0, 0, .measured = 1, .left = 1e-4);
}

void nonsmooth_motion(nonsmooth_table *to)
{
    crossed(to);
    directions(to);
    drives(to);
    couplings(to);
    measured(to);
}
