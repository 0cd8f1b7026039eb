/* SPDX-License-Identifier: MIT
 *
 * Singular positions, loops that are closed more than once, ends that coincide, limits of what can
 * be assembled.
 *
 * Where the ways of a mechanism cross, a change of e parts them by sqrt(e), or by e itself if it
 * matters by its square: a step is longer than that, so that differences of such rows say nothing.
 */
#include "nonsmooth/cases.h"

#include <math.h>

/* A parallelogram of two rods of length c, b apart, that passes the position in which they are in
 * line. Without gravity masses move at the constant speed v: the angle from the upright is v t/c,
 * and p = b + c sin(v t/c). A change that parts the two ways there has no derivative behind it:
 * that of one rod, of the link, and by the square of it of the place of a hinge. */
static void parallelogram(nonsmooth_table *to)
{
    static const char model[] =
        "gravity: [0, 0, 0]\n"
        "parameters: {b: 0.9, c: 0.7, v: 1.1, rod: 0, link: 0, rise: 0}\n"
        "points: {A0: [0, 0, 0], A1: [b, rise, 0], B0: [0, c, 0], B1: [b, c, 0]}\n"
        "bodies: {m0: {type: point, position: B0, mass: 1.3}, m1: {type: point, position: B1, "
        "mass: 0.8}}\njoints:\n"
        "  r0: {type: distance, from: ground.A0, to: m0, length: c}\n"
        "  r1: {type: distance, from: ground.A1, to: m1, length: c + rod}\n"
        "  l: {type: distance, from: m0, to: m1, length: b + link}\n"
        "  p0: {type: point-on-plane, of: m0, normal: z}\n"
        "  p1: {type: point-on-plane, of: m1, normal: z}\n"
        "measures: {p: {type: position, of: m1}, V: {type: velocity, of: m1}}\n"
        "initial: {velocities: {V.x: v}}\n";
    /* in line at pi/2 c/v = 0.9996 */
    const double c = 0.7, v = 1.1, T = 1.3, t = 0.6;
    const double late = v * T / c, early = v * t / c;
    ROW("parallelogram, by a rod", model, "end(p.x)", "rod", NAN, NAN, .end = T, .step = 4e-3,
        .rough = 1);
    ROW("parallelogram, by the link", model, "end(p.x)", "link", NAN, NAN, .end = T, .step = 4e-3,
        .rough = 1);
    /* to second order: only a warning */
    ROW("parallelogram, by a hinge that rises", model, "end(p.x)", "rise", NAN, NAN, .end = T,
        .step = 4e-3, .rough = 1, .today = NS_WARNED);
    PLAIN("parallelogram, by both rods", model, "end(p.x)", "c", sin(late) - late * cos(late),
          .left = 1e-3, .end = T, .step = 4e-3);
    PLAIN("parallelogram, by its speed", model, "end(p.x)", "v", T * cos(late), .left = 1e-3,
          .end = T, .step = 4e-3);
    PLAIN("parallelogram, by its width", model, "end(p.x)", "b", 1, .left = 1e-3, .end = T,
          .step = 4e-3);
    PLAIN("parallelogram, by a mass", model, "end(p.x)", "m0.mass", 0, .left = 1e-3, .end = T,
          .step = 4e-3);
    PLAIN("parallelogram, before, by both rods", model, "end(p.x)", "c",
          sin(early) - early * cos(early), .left = 1e-3, .end = t, .step = 4e-3);
    PLAIN("parallelogram, before, read there, by its speed", model, "at(p.x, 0.6)", "v",
          t * cos(early), .left = 1e-3, .end = T, .step = 4e-3);
    /* The link is m1 further from m0, before it comes into line: it has a slope, which differences
     * know. */
    ROW("parallelogram, before, by a rod", model, "end(p.x)", "rod", 0, 0, .left = 1e-4, .end = t,
        .step = 4e-3, .measured = 1);
    ROW("parallelogram, read before, by a rod", model, "at(p.x, 0.6)", "rod", 0, 0, .left = 1e-3,
        .end = T, .step = 4e-3, .measured = 1);
}

/* x and y meet the crossing of two ways at t = 0.5. (x + u)^2 = (y + v)^2 + e: the ways x + u =
 * +-(y
 * + v) cross for whatever u and v; drawn (-1, -1), the nearest start is x = -1 - u/2, y = -1 + u/2.
 * Beside them the ways of e turn back: no derivative. */
static void crossings(nonsmooth_table *to)
{
    static const char model[] =
        "parameters: {u: 0, v: 0, e: 0, w: 2}\n"
        "bodies: {a: {type: scalar, inertia: 1, value: -1, rate: w}, b: {type: scalar, inertia: "
        "2, value: -1, rate: w}}\n"
        "measures: {x: {type: coordinate, of: a}, y: {type: coordinate, of: b}}\n"
        "joints: {g: {type: coupling, of: \"(x + u)^2 - (y + v)^2 - e\"}}\n";
    PLAIN("crossing, by w", model, "end(y)", "w", 1, .end = 1, .step = 3e-3, .rough = 1);
    PLAIN("crossing, by u", model, "end(y)", "u", 0.5, .end = 1, .step = 3e-3, .rough = 1);
    ROW("crossing, by e", model, "end(y)", "e", NAN, NAN, .end = 1, .step = 3e-3, .rough = 1);
    PLAIN("crossing, before, by w", model, "end(y)", "w", 0.3, .end = 0.3, .step = 3e-3);

    /* A toggle that its drive leads to the dead point, x0 + a = 2, and back: B is half way, p.x =
     * (x0
     * + a sin wt)/2. The way may not become longer. */
    static const char toggle[] =
        "gravity: [0, 0, 0]\nparameters: {w: 5, a: 0.36, x0: 1.64}\n"
        "points: {A: [0, 0, 0], B: [0.82, 0.5723635208501675, 0], D: [1.64, 0, 0]}\nbodies:\n"
        "  b: {type: bar, from: A, to: B, mass: 1}\n  c: {type: bar, from: B, to: D, mass: 1}\n"
        "  s: {type: box, position: D, size: [0.1, 0.1, 0.1], mass: 1}\njoints:\n"
        "  j: {type: revolute, between: [ground, b], at: A, axis: z}\n"
        "  k: {type: revolute, between: [b, c], at: B, axis: z}\n"
        "  l: {type: revolute, between: [c, s], at: D, axis: z}\n"
        "  g: {type: prismatic, between: [ground, s], at: D, axis: x}\n"
        "  d: {type: drive-coordinate, of: s.D, direction: x, value: \"x0 + a*sin(w*t)\"}\n"
        "measures: {p: {type: position, of: b.B}}\n";
    PLAIN("dead point and back, by w", toggle, "end(p.x)", "w", 0.36 * cos(3) * 0.6 / 2,
          .left = 1e-3, .end = 0.6, .step = 5.1e-3, .rough = 1);
    ROW("dead point and back, by a", toggle, "end(p.x)", "a", NAN, NAN, .end = 0.6, .step = 5.1e-3,
        .rough = 1);
    PLAIN("dead point, before, by a", toggle, "end(p.x)", "a", sin(1) / 2, .end = 0.2,
          .step = 2e-3);
}

/* Two cranks of 0.5 and 1.5 kg with a rod of 1, one of them driven into the line of both.
 * Coordinates of their ends drawn upright change lengths by their square only: in line the rocker
 * then turns back, or the crank is stopped. */
static void driven(nonsmooth_table *to)
{
#define DRIVEN(drawn, drive)                                                                       \
    "gravity: [0, 0, 0]\nparameters: {rod: 1, w: 1}\n"                                             \
    "points: {A: [0, 0, 0], D: [1, 0, 0], " drawn "}\nbodies:\n"                                   \
    "  crank: {type: bar, from: A, to: B, mass: 1, radius: 0.01}\n"                                \
    "  rocker: {type: bar, from: D, to: C, mass: 1.5, radius: 0.01}\njoints:\n"                    \
    "  a: {type: revolute, between: [ground, crank], at: A, axis: z}\n"                            \
    "  d: {type: revolute, between: [ground, rocker], at: D, axis: z}\n"                           \
    "  l: {type: distance, from: crank.B, to: rocker.C, length: rod}\n"                            \
    "  q: {type: drive-angle, between: [ground, crank], axis: z, angle: \"" drive "\"}\n"          \
    "measures: {ph: {type: angle, between: [ground, rocker], axis: z}}\n"
#define UP "B: [0.3, 0.4, 0], C: [1.3, 0.4, 0]" /* atan2(0.4, 0.3) above the line */
#define UPRIGHT "B: [0, 0.5, 0], C: [1, 0.5, 0]"
#define LEVEL "B: [0.5, 0, 0], C: [1.5, 0, 0]"
    static const struct {
        const char *name, *model, *number;
        double slope, end; /* NAN: none */
        nonsmooth_verdict today;
    } of[] = {
        {"cranks, just behind the line, by the rod",
         DRIVEN(UP, "-(0.9272952180016122 + 0.005)*sin(pi*t)"), "rod", NAN, 1,
         NS_VALUE}, /* it turns back within a step behind the line */
        {"cranks, a state in line, by the rod", DRIVEN(UP, "-0.9272952180016122*t"), "rod", NAN,
         1.8, NS_RIGHT},
        {"cranks, the first state in line, by the rod", DRIVEN(LEVEL, "t"), "rod", NAN, 1,
         NS_RIGHT},
        {"cranks, in line half way, by the rod", DRIVEN(LEVEL, "pi*t"), "rod", NAN, 2, NS_RIGHT},
        {"cranks, by the end of one", DRIVEN(UPRIGHT, "-2.5*t"), "B.x", NAN, 1, NS_WARNED},
        {"cranks, by the height of one", DRIVEN(UPRIGHT, "-2.5*t"), "C.z", NAN, 1, NS_WARNED},
        {"cranks, by the drive", DRIVEN(UPRIGHT, "-2.5*w*t"), "w", -2.5, 1, NS_RIGHT},
        {"cranks, by a mass", DRIVEN(UPRIGHT, "-2.5*t"), "rocker.mass", 0, 1, NS_RIGHT},
        {"cranks, before, by the drive", DRIVEN(UPRIGHT, "-2.5*w*t"), "w", -1.25, 0.5, NS_RIGHT},
        {"cranks, before, by the height of one", DRIVEN(UPRIGHT, "-2.5*t"), "C.z", 0, 0.5,
         NS_RIGHT},
    };
    for (size_t i = 0; i < sizeof of / sizeof *of; i++)
        PLAIN(of[i].name, of[i].model, "end(ph)", of[i].number, of[i].slope, .end = of[i].end,
              .step = 8e-3, .rough = isnan(of[i].slope), .today = of[i].today);
#undef DRIVEN
#undef UP
#undef UPRIGHT
#undef LEVEL
}

static void rods(nonsmooth_table *to)
{
    /* The rod sees how high a crank turns by the square of it, except where it is as much longer.
     * p.x is 0.5 sin(2 t/0.5) in the plane. */
    static const char rows[] =
        "gravity: [0, 0, 0]\nparameters: {h: 0, both: 0, kept: 0, l: 1, u: 2}\n"
        "points: {A: [0, 0, h + both + kept], B: [0, 0.5, h + both + kept], C: [1, 0.5, both], D: "
        "[1, 0, both], E: [3, 0, 0], F: [3, 0.5, 0], G: [4, 0.5, 0], H: [4, 0, 0]}\nbodies:\n"
        "  b: {type: bar, from: A, to: B, mass: 1}\n  c: {type: bar, from: D, to: C, mass: 1}\n"
        "  d: {type: bar, from: E, to: F, mass: 1}\n  e: {type: bar, from: H, to: G, mass: 1}\n"
        "joints:\n  j: {type: revolute, between: [ground, b], at: A, axis: z}\n"
        "  k: {type: revolute, between: [ground, c], at: D, axis: z}\n"
        "  m: {type: revolute, between: [ground, d], at: E, axis: z}\n"
        "  n: {type: revolute, between: [ground, e], at: H, axis: z}\n"
        "  r: {type: distance, from: b.B, to: c.C, length: \"hypot(1, kept)\"}\n"
        "  s: {type: distance, from: d.F, to: e.G, length: l}\n"
        "measures: {p: {type: position, of: b.B}, v: {type: velocity, of: b.B}, w: {type: "
        "velocity, of: d.F}}\ninitial: {velocities: {v.x: u, w.x: 2}}\n";
    ROW("rods, by the height of one", rows, "end(p.x)", "h", NAN, NAN, .end = 1, .step = 8e-3,
        .rough = 1, .today = NS_WARNED);
    PLAIN("rods, by the height of both", rows, "end(p.x)", "both", 0, .end = 1, .step = 8e-3);
    PLAIN("rods, by a height that the rod follows", rows, "end(p.x)", "kept", 0, .end = 1,
          .step = 8e-3);
    PLAIN("rods, by a loop that stands apart", rows, "end(p.x)", "l", 0, .end = 1, .step = 8e-3,
          .rough = 1);
    PLAIN("rods, by their speed", rows, "end(p.x)", "u", cos(4), .end = 1, .step = 8e-3,
          .left = 1e-2);
    /* 1 % too long it passes the line at a distance that steps resolve. */
    ROW("rods that miss the line, by a point",
        "gravity: [0, 0, 0]\npoints: {A: [0, 0, 0], B: [0, 0.5, 0], C: [1.01, 0.5, 0], D: [1, 0, "
        "0]}\nbodies: {b: {type: bar, from: A, to: B, mass: 1}, c: {type: bar, from: D, to: C, "
        "mass: 1}}\njoints:\n  j: {type: revolute, between: [ground, b], at: A, axis: z}\n"
        "  k: {type: revolute, between: [ground, c], at: D, axis: z}\n"
        "  r: {type: distance, from: b.B, to: c.C}\n"
        "measures: {p: {type: position, of: b.B}, v: {type: velocity, of: b.B}}\n"
        "initial: {velocities: {v.x: 2}}\n",
        "end(p.x)", "C.x", 0, 0, .end = 1, .step = 8e-3, .measured = 1, .left = 1e-2,
        .width = 1e-6);
}

/* Where a change by itself leaves nothing that can be assembled there is no motion beside it. */
static void loops(nonsmooth_table *to)
{
    static const char twice[] =
        "parameters: {L: 1, M: 1, both: 1}\npoints: {O: [0, 0, 0]}\n"
        "bodies: {m: {type: point, position: [L, 0, 0], mass: 2}}\njoints:\n"
        "  r: {type: distance, from: ground.O, to: m, length: L*both}\n"
        "  s: {type: distance, from: ground.O, to: m, length: M*both}\n"
        "measures: {d: {type: distance, from: ground.O, to: m}}\n";
    ROW("closed twice, by one length", twice, "end(d)", "L", NAN, NAN);
    ROW("closed twice, by the other", twice, "end(d)", "M", NAN, NAN);
    PLAIN("closed twice, by both", twice, "end(d)", "both", 1);
    PLAIN("closed twice, by mass", twice, "end(d)", "m.mass", 0);

    /* axes of a planar loop are parallel, or it does not close; its height is free */
    static const char planar[] =
        "gravity: [0, 0, 0]\nparameters: {h: 0}\n"
        "points: {A: [0, 0, h], B: [0, 0.5, h], C: [1, 0.7, h], D: [1, 0, h]}\nbodies:\n"
        "  b: {type: bar, from: A, to: B, mass: 1}\n  m: {type: bar, from: B, to: C, mass: 1}\n"
        "  c: {type: bar, from: D, to: C, mass: 1}\njoints:\n"
        "  j: {type: revolute, between: [ground, b], at: A, axis: [0, 0, 1]}\n"
        "  k: {type: revolute, between: [b, m], at: B, axis: z}\n"
        "  l: {type: revolute, between: [m, c], at: C, axis: z}\n"
        "  n: {type: revolute, between: [c, ground], at: D, axis: z}\n"
        "measures: {p: {type: position, of: b.B}, v: {type: velocity, of: b.B}}\n"
        "initial: {velocities: {v.x: 1}}\n";
    ROW("planar loop, by an axis", planar, "end(p.x)", "j.axis.x", NAN, NAN, .rough = 1);
    PLAIN("planar loop, by its height", planar, "end(p.x)", "h", 0);
    PLAIN("planar loop, its own height", planar, "end(p.z)", "h", 1);

    static const char rope[] =
        "gravity: [0, 0, 0]\nparameters: {L: 1}\n"
        "points: {A: [0, 0, 0], B: [1, 0, 0], C: [2, 0, 0]}\n"
        "bodies: {a: {type: bar, from: A, to: B, mass: 1, radius: 0.01}}\njoints:\n"
        "  pin: {type: revolute, between: [ground, a], at: A, axis: z}\n"
        "  rope: {type: distance, from: ground.C, to: a.B, length: L}\n"
        "measures: {x: {type: position, of: a.B}}\n";
    ROW("stretched to its limit", rope, "end(x.x)", "L", NAN, NAN, .rough = 1);

    /* Both rates of a gear are prescribed. */
    static const char geared[] =
        "gravity: [0, 0, 0]\nparameters: {w0: 3, i: 2.5}\n"
        "bodies: {a: {type: scalar, inertia: 1}, b: {type: scalar, inertia: 1}}\n"
        "joints: {g: {type: coupling, of: \"B - i*A\"}}\n"
        "measures: {A: {type: coordinate, of: a}, B: {type: coordinate, of: b}}\n"
        "initial: {velocities: {A: w0, B: 7.5}}\n";
    ROW("prescribed twice, by a rate", geared, "end(A)", "w0", NAN, NAN);
    ROW("prescribed twice, by the ratio", geared, "end(A)", "i", NAN, NAN);
}

/* A spring between points that coincide: without a free length it is linear, x = e exp(-t/2) (cos
 * wt
 * + sin(wt)/(2 w)), w^2 = 100 - 1/4. With one it pushes them apart to where they came from. */
static void ends_that_coincide(nonsmooth_table *to)
{
#define SPRING(spring)                                                                             \
    "gravity: [0, 0, 0]\nparameters: {e: 0, w: 0}\npoints: {T: [0, 0, 0.5]}\n"                     \
    "bodies: {m: {type: point, position: [0, 0, 0.5 + e], mass: 1, velocity: [0, 0, w]}}\n"        \
    "forces: {s: {type: spring-damper, from: m, to: ground.T, " spring "}}\n"                      \
    "measures: {p: {type: position, of: m}}\n"
    const double w = sqrt(100 - 0.25), T = 0.05, D = exp(-T / 2);
    static const char *const model[] = {SPRING("stiffness: 100, damping: 1, free_length: 0"),
                                        SPRING("force: 100*s + 1*v")};
    static const char *const name[][2] = {{"ends coincide, a spring, by e",
                                           "ends coincide, a spring, by w"},
                                          {"ends coincide, a law, by e",
                                           "ends coincide, a law, by w"}};
    for (int i = 0; i < 2; i++) {
        PLAIN(name[i][0], model[i], "end(p.z)", "e", D * (cos(w * T) + sin(w * T) / (2 * w)),
              .left = 1e-2, .end = T, .step = 5e-3);
        PLAIN(name[i][1], model[i], "end(p.z)", "w", D * sin(w * T) / w, .left = 1e-2, .end = T,
              .step = 5e-3);
    }
    ROW("ends coincide, a free length, by e", SPRING("stiffness: 100, free_length: 0.1"),
        "end(p.z)", "e", NAN, NAN, .end = T, .step = 5e-3, .today = NS_WARNED);
    ROW("ends coincide, a preload, by e", SPRING("stiffness: 100, free_length: 0, preload: 3"),
        "end(p.z)", "e", NAN, NAN, .end = T, .step = 5e-3, .today = NS_WARNED);
#undef SPRING
}

void nonsmooth_singular(nonsmooth_table *to)
{
    parallelogram(to);
    crossings(to);
    driven(to);
    rods(to);
    loops(to);
    ends_that_coincide(to);
}
