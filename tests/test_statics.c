/* SPDX-License-Identifier: MIT
 *
 * The start from static equilibrium: closed forms, stability, what takes part, failures. */
#include "statics_trial.h"

/* ---- closed forms ---- */

static void mass_on_a_spring(void **state)
{
    (void)state;
    trial y = try_text(HANGING_MASS "initial: {equilibrium: true}\n");
    double m = 2, k = 500, g = 9.81;
    run(&y);
    expect_near(value_of(&y, "x"), 0, 1e-14);
    expect_near(value_of(&y, "y"), -(1 + m * g / k), 1e-14);
    expect_near(value_of(&y, "end"), -(1 + m * g / k), 1e-13);
    for (int method = 0; method < 2; method++) {
        const cst_gradient *d = gradient(&y, method ? CST_DIRECT : CST_ADJOINT);
        const char *const of[] = {"y", "end"};
        for (int i = 0; i < 2; i++) {
            expect_near(slope_of(&y, d, of[i], "mass"), -g / k, 1e-12);
            expect_near(slope_of(&y, d, of[i], "k"), m * g / k / k, 1e-12);
            expect_near(slope_of(&y, d, of[i], "L0"), -1, 1e-12);
            expect_near(slope_of(&y, d, of[i], "gravity.y"), m / k, 1e-12);
            expect_near(slope_of(&y, d, of[i], "A.y"), 1, 1e-12);
            expect_near(slope_of(&y, d, of[i], "P.y"), 0,
                        1e-12); /* where the search began is forgotten */
        }
        /* the pendulum's own stiffness: m g x = L m g_x */
        expect_near(slope_of(&y, d, "x", "gravity.x"), (1 + m * g / k) / g, 1e-12);
    }
    trial_end(&y);
}

/* A lever with a torsion spring: K th = m g l/2 cos(th), th downwards from the drawn position */
static void spring_loaded_lever(void **state)
{
    (void)state;
    trial y = try_text("gravity: [0, -9.81, 0]\n"
                       "parameters: {mass: 3, K: 20, l: 0.8}\n"
                       "points: {A: [0, 0, 0], B: [l, 0, 0]}\n"
                       "bodies: {lever: {type: bar, from: A, to: B, mass: mass}}\n"
                       "joints: {pin: {type: revolute, between: [ground, lever], at: A, axis: z}}\n"
                       "forces: {t: {type: torsion, between: [ground, lever], axis: z, stiffness: "
                       "K, damping: 1}}\n"
                       "measures: {a: {type: angle, between: [ground, lever], axis: z}}\n"
                       "initial: {equilibrium: true}\n"
                       "objectives: {th: start(-a), end: end(-a), rate: end(a.rate)}\n"
                       "simulation: {end: 0.3, step: 0.01}\n");
    double m = 3, K = 20, l = 0.8, g = 9.81, th = 0;
    for (int i = 0; i < 50; i++)
        th -= (K * th - m * g * l / 2 * cos(th)) / (K + m * g * l / 2 * sin(th));
    double by = K + m * g * l / 2 * sin(th);
    run(&y);
    expect_near(value_of(&y, "th"), th, 1e-14);
    expect_near(value_of(&y, "end"), th, 1e-13);
    expect_near(value_of(&y, "rate"), 0, 1e-12);
    const cst_gradient *d = gradient(&y, CST_ADJOINT);
    expect_near(slope_of(&y, d, "th", "K"), -th / by, 1e-13);
    expect_near(slope_of(&y, d, "th", "mass"), g * l / 2 * cos(th) / by, 1e-13);
    expect_near(slope_of(&y, d, "th", "l"), m * g / 2 * cos(th) / by, 1e-13);
    expect_near(slope_of(&y, d, "th", "t.damping"), 0, 1e-13);
    trial_end(&y);
}

/* Bars between two points of equal height, drawn as a zigzag: the joints carry the same horizontal
 * force H, so the slopes are in arithmetic progression, tan(a_i) = (2 i - n + 1) m g/(2 H), and the
 * shape is symmetric. */
static void hanging_chain(void **state)
{
    (void)state;
    enum { N = 8 };
    char text[8192] = "gravity: [0, -9.81, 0]\npoints:\n";
    size_t n = strlen(text);
    for (int i = 0; i <= N; i++)
        n += (size_t)sprintf(text + n, "  P%d: [%g, %g, 0]\n", i, 0.5 * i, i % 2 ? 0.4 : 0.0);
    n += (size_t)sprintf(text + n, "bodies:\n");
    for (int i = 0; i < N; i++)
        n += (size_t)sprintf(text + n, "  b%d: {type: bar, from: P%d, to: P%d, mass: 1.5}\n", i, i,
                             i + 1);
    n += (size_t)sprintf(text + n, "joints:\n");
    for (int i = 0; i <= N; i++) {
        char a[16], b[16];
        sprintf(a, i ? "b%d" : "ground", i - 1), sprintf(b, i < N ? "b%d" : "ground", i);
        n += (size_t)sprintf(text + n, "  j%d: {type: %s, between: [%s, %s], at: P%d%s}\n", i,
                             i == 0 ? "spherical" : "revolute", a, b, i, i ? ", axis: z" : "");
    }
    n += (size_t)sprintf(text + n, "initial: {equilibrium: true}\nmeasures:\n");
    for (int i = 0; i < N; i++)
        n += (size_t)sprintf(text + n, "  p%d: {type: position, of: b%d.P%d}\n", i + 1, i, i + 1);
    n += (size_t)sprintf(text + n, "  p0: {type: position, of: b0.P0}\nobjectives:\n");
    for (int i = 0; i <= N; i++)
        n += (size_t)sprintf(
            text + n, "  x%d: start(p%d.x)\n  y%d: start(p%d.y)\n  e%d: end(norm(rate(p%d)))\n", i,
            i, i, i, i, i);
    sprintf(text + n, "simulation: {end: 0.2, step: 0.01}\n");
    trial y = try_text(text);
    run(&y);
    double x[N + 1], h[N + 1], tan[N];
    for (int i = 0; i <= N; i++) {
        char name[16];
        sprintf(name, "x%d", i), x[i] = value_of(&y, name);
        sprintf(name, "y%d", i), h[i] = value_of(&y, name);
        sprintf(name, "e%d", i), expect_near(value_of(&y, name), 0, 1e-11);
    }
    for (int i = 0; i < N; i++) tan[i] = (h[i + 1] - h[i]) / (x[i + 1] - x[i]);
    expect_true(tan[0] < -0.1);
    for (int i = 0; i < N; i++)
        expect_near(tan[i] / tan[N - 1], (2 * i - N + 1) / (double)(N - 1), 1e-10);
    trial_end(&y);
}

/* A slender rod between ball joints spins freely and without inertia: that is held, not an error. A
 * weight on it hangs below the anchor, pulled aside by a constant force F: it rests at l (F,
 * -G)/sqrt(F^2 + G^2), G with half the rod. */
static void slender_rods(void **state)
{
    (void)state;
    trial y = try_text("gravity: [0, -10, 0]\n"
                       "parameters: {F: 15, l: 2}\n"
                       "points: {A: [0, 0, 0], P: [0, 0, l]}\n"
                       "bodies:\n"
                       "  rod: {type: bar, from: A, to: P, mass: 1}\n"
                       "  p: {type: point, position: P, mass: 1.5}\n"
                       "joints:\n"
                       "  a: {type: spherical, between: [ground, rod], at: A}\n"
                       "  b: {type: spherical, between: [rod, p], at: P}\n"
                       "forces: {side: {type: force, on: p.P, force: [F, 0, 0]}}\n"
                       "measures: {pos: {type: position, of: p.P}}\n"
                       "initial: {equilibrium: true}\n"
                       "objectives: {x: start(pos.x), y: start(pos.y)}\n"
                       "simulation: {end: 0.01, step: 0.01}\n");
    run(&y);
    expect_near(value_of(&y, "x"), 2 * 0.6, 1e-14);
    expect_near(value_of(&y, "y"), -2 * 0.8, 1e-14);
    for (int method = 0; method < 2; method++) {
        const cst_gradient *d = gradient(&y, method ? CST_DIRECT : CST_ADJOINT);
        expect_near(slope_of(&y, d, "x", "l"), 0.6, 1e-13);
        expect_near(slope_of(&y, d, "y", "l"), -0.8, 1e-13);
        expect_near(slope_of(&y, d, "x", "F"), 2 * 400 / pow(625, 1.5), 1e-13);
    }
    trial_end(&y);
}

/* ---- stability ---- */

/* Drawn exactly upright a pendulum is in equilibrium; the start looks for one that lasts. */
static void unstable_positions_are_left(void **state)
{
    (void)state;
    trial y = try_text("gravity: [0, -9.81, 0]\n"
                       "points: {A: [0, 0, 0], B: [0, 1, 0], C: [0, 1.8, 0]}\n"
                       "bodies:\n"
                       "  p: {type: bar, from: A, to: B, mass: 1}\n"
                       "  q: {type: bar, from: B, to: C, mass: 2}\n"
                       "joints:\n"
                       "  pin: {type: revolute, between: [ground, p], at: A, axis: z}\n"
                       "  elbow: {type: revolute, between: [p, q], at: B, axis: z}\n"
                       "measures: {c: {type: position, of: q.C}}\n"
                       "initial: {equilibrium: true}\n"
                       "objectives: {x: start(c.x), y: start(c.y)}\n"
                       "simulation: {end: 0.01, step: 0.01}\n");
    run(&y);
    expect_near(value_of(&y, "x"), 0, 1e-13);
    expect_near(value_of(&y, "y"), -1.8, 1e-13);
    trial_end(&y);
}

/* ---- what takes part, what is held ---- */

static void forces_take_part_as_told(void **state)
{
    (void)state;
    /* 100 (y + 1) = 3 - (100 (y + 1) + 4), of which the load b, the weight of -3 N or both may be
     * missing */
    static const struct {
        const char *how;
        double y;
    } with[] = {{"true", -1 - 1. / 200},
                {"{forces: [a]}", -0.97},
                {"{forces: [a, b]}", -1 - 1. / 200},
                {"{without: [b]}", -0.97},
                {"{gravity: false}", -1.02},
                {"{without: [b], gravity: false}", -1}};
    for (size_t i = 0; i < sizeof with / sizeof *with; i++) {
        char text[1024];
        sprintf(text,
                "gravity: [0, 3, 0]\npoints: {A: [0, 0, 0], P: [0, -1.1, 0]}\n"
                "bodies: {p: {type: point, position: P, mass: 1}}\n"
                "joints: {g: {type: drive, of: pos.x, value: 0}, h: {type: drive, of: pos.z, "
                "value: 0}}\n"
                "forces:\n"
                "  a: {type: spring, from: ground.A, to: p.P, stiffness: 100, free_length: 1}\n"
                "  b: {type: force, on: p.P, force: [0, \"-100*(pos.y + 1) - 4\", 0]}\n"
                "measures: {pos: {type: position, of: p.P}}\n"
                "objectives: {y: start(pos.y)}\ninitial: {equilibrium: %s}\n"
                "simulation: {end: 0.01, step: 0.01}\n",
                with[i].how);
        trial y = try_text(text);
        run(&y);
        expect_near(value_of(&y, "y"), with[i].y, 1e-13);
        trial_end(&y);
    }
}

/* A held coordinate stays where the assembly put it and follows what prescribed it; a free one
 * forgets. */
static void held_measures_stay(void **state)
{
    (void)state;
    for (int hold = 0; hold < 2; hold++) {
        char text[1400];
        sprintf(text,
                HANGING_MASS
                "initial:\n  positions: {pos.x: x0, 'pos.y + pos.z': -0.5}\n  equilibrium: %s\n",
                hold ? "{hold: [pos.x]}" : "true");
        char *parameters = strstr(text, "L0: 1");
        memmove(parameters + 15, parameters + 5, strlen(parameters + 5) + 1);
        memcpy(parameters, "L0: 1, x0: 0.25", 15);
        trial y = try_text(text);
        run(&y);
        expect_near(value_of(&y, "x"), hold ? 0.25 : 0, 1e-13);
        expect_near(value_of(&y, "z"), 0, 1e-13);
        for (int method = 0; method < 2; method++) {
            const cst_gradient *d = gradient(&y, method ? CST_DIRECT : CST_ADJOINT);
            expect_near(slope_of(&y, d, "x", "x0"), hold, 1e-13);
            expect_near(slope_of(&y, d, "x", "A.x"), !hold, 1e-13);
        }
        trial_end(&y);
    }
}

/* Drawn above the road a wheel falls on it; prescribed rates may use what the equilibrium has
 * found: it rolls with its loaded radius. */
static void rates_read_the_equilibrium(void **state)
{
    (void)state;
    trial y =
        try_text("parameters: {v0: 20, kt: 2e5, r: 0.3, mass: 400}\n"
                 "points: {C: [0, 0, 2*r]}\n"
                 "bodies: {w: {type: rigid, position: C, mass: mass, inertia: [5, 9, 5]}}\n"
                 "forces: {tire: {type: tire, wheel: w, radius: r, stiffness: kt, damping: 10}}\n"
                 "joints: {plane: {type: planar, between: [ground, w], at: C, normal: y}}\n"
                 "measures: {c: {type: position, of: w.origin}, a: {type: angle, between: [ground, "
                 "w], axis: y}}\n"
                 "initial:\n"
                 "  equilibrium: {hold: [c.x, a]}\n"
                 "  velocities: {c.x: v0, a: 2*v0/c.z - v0/c.z}\n"
                 "objectives: {z: end(c.z), spin: start(a.rate), x: end(c.x)}\n"
                 "simulation: {end: 0.1, step: 0.01}\n");
    double v = 20, kt = 2e5, r = 0.3, m = 400, g = 9.81, z = r - m * g / kt;
    run(&y);
    expect_near(value_of(&y, "z"), z, 1e-13);
    expect_near(value_of(&y, "spin"), v / z, 1e-13);
    expect_near(value_of(&y, "x"), 0.1 * v, 1e-12);
    for (int method = 0; method < 2; method++) {
        const cst_gradient *d = gradient(&y, method ? CST_DIRECT : CST_ADJOINT);
        expect_near(slope_of(&y, d, "spin", "v0"), 1 / z, 1e-12);
        expect_near(slope_of(&y, d, "spin", "mass"), v / z / z * g / kt, 1e-12);
        expect_near(slope_of(&y, d, "spin", "kt"), -v / z / z * m * g / kt / kt, 1e-12);
        expect_near(slope_of(&y, d, "spin", "r"), -v / z / z, 1e-11);
    }
    trial_end(&y);
}

/* A filter is at rest with what it filters; a state whose rate does not know it keeps its initial
 * value. */
static void states_of_measures_rest(void **state)
{
    (void)state;
    char text[1400] = HANGING_MASS "initial: {equilibrium: true}\n";
    char *measures = strstr(text, "{pos:") + 1;
    const char *more = "f: {type: state, rate: '(3*pos.y - s)/0.1', initial: 5}, n: {type: state, "
                       "rate: pos.y + 1, initial: 7}, ";
    memmove(measures + strlen(more), measures, strlen(measures) + 1);
    memcpy(measures, more, strlen(more));
    char *objectives = strstr(text, "objectives: {") + strlen("objectives: {");
    more = "f0: start(f), f1: end(f), n0: start(n), ";
    memmove(objectives + strlen(more), objectives, strlen(objectives) + 1);
    memcpy(objectives, more, strlen(more));
    trial y = try_text(text);
    run(&y);
    expect_near(value_of(&y, "f0"), -3 * (1 + 2 * 9.81 / 500), 1e-13);
    expect_near(value_of(&y, "f1"), -3 * (1 + 2 * 9.81 / 500), 1e-12);
    expect_near(value_of(&y, "n0"), 7, 1e-15);
    for (int method = 0; method < 2; method++) {
        const cst_gradient *d = gradient(&y, method ? CST_DIRECT : CST_ADJOINT);
        expect_near(slope_of(&y, d, "f0", "L0"), -3, 1e-12);
        expect_near(slope_of(&y, d, "f1", "L0"), -3, 1e-11);
        expect_near(slope_of(&y, d, "f0", "f.initial"), 0, 1e-12);
        expect_near(slope_of(&y, d, "n0", "n.initial"), 1, 1e-12);
        expect_near(slope_of(&y, d, "n0", "L0"), 0, 1e-12);
    }
    trial_end(&y);
}

/* ---- failures ---- */

static void neutral_freedoms_are_named(void **state)
{
    (void)state;
    /* a wheel on an axle that a spring carries: it can turn */
    fails_with(
        "points: {A: [0, 0, 0]}\n"
        "bodies:\n"
        "  axle: {type: rigid, position: A, mass: 1, inertia: [1, 1, 1]}\n"
        "  wheel: {type: rigid, position: A, mass: 1, inertia: [1, 2, 1]}\n"
        "joints: {hub: {type: revolute, between: [axle, wheel], at: A, axis: [0.3, 1, 0.2]}}\n"
        "forces: {mount: {type: bushing, between: [ground, axle], at: A, stiffness: 1e4, "
        "rotational_stiffness: 1e3}}\n"
        "initial: {equilibrium: true}\nsimulation: {end: 0.1, step: 0.01}\n",
        (const char *const[]){"m.yaml:8:24: error: ", "'wheel' can turn without a restoring force",
                              "hold", NULL});
    /* a box that slides */
    fails_with("bodies: {box: {type: rigid, position: [0, 0, 0], mass: 1, inertia: [1, 1, 1]}}\n"
               "joints: {rail: {type: prismatic, between: [ground, box], at: [0, 0, 0], axis: x}}\n"
               "initial: {equilibrium: true}\nsimulation: {end: 0.1, step: 0.01}\n",
               (const char *const[]){"'box' can move without a restoring force", NULL});
    /* the same on a slope: it slides away */
    fails_with("bodies: {box: {type: rigid, position: [0, 0, 0], mass: 1, inertia: [1, 1, 1]}}\n"
               "joints: {rail: {type: prismatic, between: [ground, box], at: [0, 0, 0], axis: [1, "
               "0, 0.1]}}\n"
               "initial: {equilibrium: true}\nsimulation: {end: 0.1, step: 0.01}\n",
               (const char *const[]){"error: ", "'box' can move", NULL});
}

/* No force at all takes part, or one that is 0 at the start: nothing gives the stiffness a scale.
 */
static void neutral_without_forces(void **state)
{
    (void)state;
    static const char *const how[] = {"{forces: [], gravity: false}",
                                      "{forces: [f], gravity: false}",
                                      "{without: [f, s], gravity: false}", "{forces: [f]}"};
    for (int i = 0; i < 4; i++) {
        static char text[2048];
        snprintf(
            text, sizeof text,
            "gravity: [0, %s, 0]\n"
            "points: {A: [0, 0, 0], P: [-1, -1, 0], Q: [0.5, -2, 0], R: [2, -1, 0], B: [1, 0, 0]}\n"
            "bodies:\n"
            "  b1: {type: bar, from: A, to: P, mass: 1, radius: 0.01}\n"
            "  b2: {type: bar, from: P, to: Q, mass: 1, radius: 0.01}\n"
            "  b3: {type: bar, from: Q, to: R, mass: 1, radius: 0.01}\n"
            "  b4: {type: bar, from: R, to: B, mass: 1, radius: 0.01}\n"
            "joints:\n"
            "  a: {type: revolute, between: [ground, b1], at: A, axis: z}\n"
            "  p: {type: revolute, between: [b1, b2], at: P, axis: z}\n"
            "  q: {type: revolute, between: [b2, b3], at: Q, axis: z}\n"
            "  r: {type: revolute, between: [b3, b4], at: R, axis: z}\n"
            "  b: {type: revolute, between: [b4, ground], at: B, axis: z}\n"
            "forces:\n"
            "  s: {type: spring, from: b1.P, to: ground.B, stiffness: 100}\n"
            "  f: {type: force, on: b2.Q, direction: x, magnitude: 3*sin(5*t)}\n"
            "initial: {equilibrium: %s}\nsimulation: {end: 0.5, step: 0.01}\n",
            i == 3 ? "0" : "-9.81", how[i]);
        fails_with(text, (const char *const[]){"not unique: ", "'b1' can turn", "'b4' can turn",
                                               "without a restoring force (2 freedoms)", NULL});
        expect_int(diag.errors, 1);
    }
}

static void held_twice_is_fine(void **state)
{
    (void)state;
    trial y = try_text(HANGING_MASS
                       "initial: {equilibrium: {hold: [pos.x, 2*pos.x, pos.x + pos.z, pos.z]}}\n");
    run(&y);
    expect_near(value_of(&y, "x"), 0.4, 1e-13);
    expect_near(value_of(&y, "z"), 0.3, 1e-13);
    trial_end(&y);
}

static void wrong_input(void **state)
{
    (void)state;
    static const struct {
        const char *initial, *message;
    } wrong[] = {
        {"{equilibrium: maybe}", "equilibrium must be true or false"},
        {"{equilibrium: {holt: [pos.x]}}",
         "unknown key 'holt' of equilibrium; did you mean 'hold'?"},
        {"{equilibrium: {hold: pos.x}}", "hold must be a list"},
        {"{equilibrium: {hold: [rate(pos.x)]}}",
         "'rate(pos.x)' is made of velocities: only positions can be held"},
        {"{equilibrium: {hold: [k]}}", "does not depend on any position"},
        {"{equilibrium: {hold: [nothing]}}", "nothing"},
        {"{equilibrium: {without: [t]}}", "unknown force 't'"},
        {"{equilibrium: {without: [s], forces: [s]}}", "either forces or without"},
        {"{equilibrium: {gravity: 3}}", "gravity must be true or false"},
        {"{velocities: {pos.x: rate(pos.y)}}", "is made of velocities"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char text[1400];
        sprintf(text, HANGING_MASS "initial: %s\n", wrong[i].initial);
        expect_null(parse_set(text, 0, NULL));
        expect_contains(diag.text, "m.yaml:10:");
        expect_contains(diag.text, wrong[i].message);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mass_on_a_spring),
        cmocka_unit_test(spring_loaded_lever),
        cmocka_unit_test(hanging_chain),
        cmocka_unit_test(slender_rods),
        cmocka_unit_test(unstable_positions_are_left),
        cmocka_unit_test(forces_take_part_as_told),
        cmocka_unit_test(held_measures_stay),
        cmocka_unit_test(rates_read_the_equilibrium),
        cmocka_unit_test(states_of_measures_rest),
        cmocka_unit_test(neutral_freedoms_are_named),
        cmocka_unit_test(neutral_without_forces),
        cmocka_unit_test(held_twice_is_fine),
        cmocka_unit_test(wrong_input),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
