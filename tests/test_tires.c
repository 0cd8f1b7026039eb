/* SPDX-License-Identifier: MIT
 *
 * Tires and roads: forces in the contact against their formulas, motion against closed forms,
 * gradients on every road. */
#include "costate.h"
#include "expect.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static cst_diag diag;

typedef struct scene {
    cst_model *m;
    cst_run *r;
} scene;

static scene open_text(const char *text)
{
    scene s;
    memset(&diag, 0, sizeof diag);
    s.m = cst_model_parse(CST_SOURCE_DIR "/tests/model.yaml", text, strlen(text), 0, NULL, &diag);
    if (diag.errors) print_error("%s", diag.text);
    expect_int(diag.errors, 0);
    memset(&diag, 0, sizeof diag); /* a road need not use all parameters */
    s.r = cst_run_new(s.m, NULL, &diag);
    expect_text(diag.text, "");
    return s;
}

static void close_scene(scene *s)
{
    cst_run_free(s->r);
    cst_model_free(s->m);
}

static double end_of(const scene *s, const char *measure)
{
    for (int i = 0; i < cst_model_measure_count(s->m); i++)
        if (strcmp(cst_model_measure_name(s->m, i), measure) == 0) return cst_run_measure(s->r, i);
    print_error("no measure %s\n", measure);
    fail();
    return NAN;
}

static void simulate(scene *s)
{
    cst_status ok = cst_run_simulate(s->r, NULL, NULL, NULL, &diag);
    expect_text(diag.text, "");
    expect_int(ok, CST_OK);
}

/* A wheel that is turned by pitch about y, camber about its own x: where it is, how it moves (lean
 * and yaw are rates about the road's axes ahead and normal), and what its tire does */
typedef struct wheel {
    double height, slope, camber, v, across, up, spin, lean, yaw, k, c, R, mu, kappa_c, alpha_c;
} wheel;

static scene wheel_scene(const wheel *w, const char *type, const char *own)
{
    char text[3000];
    double s = sin(w->slope), c = cos(w->slope), sc = sin(w->camber), cc = cos(w->camber);
    /* axes of the road: ahead (c, 0, -s), left y, normal (s, 0, c); of the wheel: axis (0, cc, -sc)
     * in them */
    double x = w->height * s, z = w->height * c, axis[3] = {-sc * s, cc, -sc * c};
    double vel[3] = {w->v * c + w->up * s, w->across, -w->v * s + w->up * c};
    double omega[3] = {w->spin * axis[0] + w->lean * c + w->yaw * s, w->spin * axis[1],
                       w->spin * axis[2] - w->lean * s + w->yaw * c};
    snprintf(text, sizeof text,
             "costate: 1\ngravity: [0, 0, 0]\n"
             "roads: {r: {type: plane, normal: [%.17g, 0, %.17g]}}\n"
             "bodies:\n  w: {type: rigid, mass: 1e12, inertia: [1e12, 1e12, 1e12], position: "
             "[%.17g, 0, %.17g],\n"
             "      velocity: [%.17g, %.17g, %.17g], angular_velocity: [%.17g, %.17g, %.17g]}\n"
             "forces: {t: {type: %s, wheel: w, road: r, axis: [%.17g, %.17g, %.17g], radius: "
             "%.17g, stiffness: %.17g, damping: %.17g, %s}}\n"
             "measures: {q: {type: tire, of: t}, f: {type: force, of: t}}\n"
             "simulation: {end: 1e-9, step: 1e-9}\n",
             s, c, x, z, vel[0], vel[1], vel[2], omega[0], omega[1], omega[2], type, axis[0],
             axis[1], axis[2], w->R, w->k, w->c, own);
    scene y = open_text(text);
    simulate(&y);
    return y;
}

static wheel random_wheel(expect_random *rng)
{
    wheel w = {.R = expect_uniform(rng, 0.25, 0.4),
               .slope = expect_uniform(rng, -0.3, 0.3),
               .camber = expect_uniform(rng, -0.2, 0.2)};
    w.k = expect_uniform(rng, 1e5, 3e5), w.c = expect_uniform(rng, 0, 500);
    w.height = w.R * cos(w.camber) - expect_uniform(rng, 0.005, 0.02);
    w.v = expect_uniform(rng, 5, 20), w.across = expect_uniform(rng, -1, 1),
    w.up = expect_uniform(rng, -0.1, 0.1);
    w.spin = w.v / w.height * expect_uniform(rng, 0.9, 1.1);
    w.lean = expect_uniform(rng, -2, 2), w.yaw = expect_uniform(rng, -2, 2);
    w.mu = expect_uniform(rng, 0.3, 1.2), w.kappa_c = expect_uniform(rng, 0.05, 0.2),
    w.alpha_c = expect_uniform(rng, 0.05, 0.2);
    return w;
}

/* In the axes of the road the plane is level: slips and forces are those of the formulas for n = z.
 */
static void linear_law(void **state)
{
    (void)state;
    expect_random rng = {71};
    for (int i = 0; i < 40; i++) {
        wheel w = random_wheel(&rng);
        char own[200];
        snprintf(own, sizeof own, "friction: %.17g, critical_slip: %.17g, critical_angle: %.17g",
                 w.mu, w.kappa_c, w.alpha_c);
        scene s = wheel_scene(&w, "tire", own);
        double delta = w.R * cos(w.camber) - w.height, Fn = w.k * delta - w.c * w.up;
        /* omega = spin axis; b.(omega x r n) = spin r b.(u x n) = spin r cos camber */
        double kappa = (w.spin * cos(w.camber) * w.height - w.v) / w.v;
        double alpha = -atan2(w.across + w.lean * w.height,
                              w.v); /* the contact is `height` below the centre */
        double X
        = fmax(-1, fmin(1, kappa / w.kappa_c)), Y = fmax(-1, fmin(1, alpha / w.alpha_c)),
                                                size = fmax(1, hypot(X, Y));
        expect_near(end_of(&s, "q.indentation"), delta, 1e-8);
        expect_near(end_of(&s, "q.contact"), 1, 0);
        expect_near(end_of(&s, "q.slip"), kappa, 1e-8);
        expect_near(end_of(&s, "q.angle"), alpha, 1e-8);
        expect_near(end_of(&s, "q.camber"), w.camber, 1e-8);
        expect_near(end_of(&s, "q.normal") / Fn, 1, 1e-6);
        expect_near(end_of(&s, "q.longitudinal") / Fn, w.mu * X / size, 1e-6);
        expect_near(end_of(&s, "q.lateral") / Fn, w.mu * Y / size, 1e-6);
        /* the force acts at the lowest point of the circle, moved to the road: c + R d + delta n,
         * in road axes (0, y, -height) */
        double arm = -w.R * sin(w.camber), Fx = Fn * w.mu * X
        / size, Fy = Fn * w.mu * Y / size;
        double along = w.height * Fy + arm * Fn, side = -w.height * Fx, up = -arm * Fx;
        double c = cos(w.slope), t = sin(w.slope);
        expect_near((end_of(&s, "f.torque.x") - (along * c + up * t)) / Fn, 0, 1e-6);
        expect_near((end_of(&s, "f.torque.y") - side) / Fn, 0, 1e-6);
        expect_near((end_of(&s, "f.torque.z") - (up * c - along * t)) / Fn, 0, 1e-6);
        close_scene(&s);
    }
}

/* Magic Formula: the slope at zero slip is B C D, the largest force is D, at the load F in kN. */
static void magic_formula(void **state)
{
    (void)state;
    wheel w = {.height = 0.28, .R = 0.3, .k = 2e5, .v = 10};
    double F = 4, D[3] = {-21.3 * F * F + 1144 * F, -22.1 * F * F + 1011 * F, 0};
    double BCD[3] = {(49.6 * F * F + 226 * F) / exp(0.069 * F), 1078 * sin(1.82 * atan(0.208 * F)),
                     (-1.86 * F * F - 2.73 * F) / exp(0.11 * F)};
    double most[2] = {0}, step = 1e-4;
    for (int i = 0; i <= 60; i++) {
        wheel a = w, b = w;
        double slip = i == 0 ? step : i * 0.004;
        a.spin = w.v / w.height * (1 + slip), b.spin = w.v / w.height, b.across = -w.v * tan(slip);
        scene x = wheel_scene(&a, "magic-tire", "friction: 1"),
              y = wheel_scene(&b, "magic-tire", "friction: 1");
        most[0] = fmax(most[0], end_of(&x, "q.longitudinal")),
        most[1] = fmax(most[1], end_of(&y, "q.lateral"));
        if (i == 0) { /* percent and degrees; the curve is odd, so that its slope is met to the
                         square of the slip */
            expect_near(end_of(&x, "q.longitudinal") / (BCD[0] * 100 * slip), 1, 1e-4);
            expect_near(end_of(&y, "q.lateral") / (BCD[1] * slip * 180 / 3.14159265358979), 1,
                        1e-4);
            double moment = end_of(&y, "f.torque.z");
            expect_near(moment / (BCD[2] * slip * 180 / 3.14159265358979), 1, 1e-3);
        }
        close_scene(&x), close_scene(&y);
    }
    for (int k = 0; k < 2; k++)
        expect_true(most[k] <= D[k] * (1 + 1e-7) && most[k] >= D[k] * 0.999);
}

/* A heavy wheel rolls with a constant angle: the slip builds up as 1 - exp(-v t/L). */
static void relaxation(void **state)
{
    (void)state;
    scene s = open_text("costate: 1\ngravity: [0, 0, 0]\n"
                        "bodies:\n  w: {type: rigid, mass: 1e12, inertia: [1e12, 1e12, 1e12], "
                        "position: [0, 0, 0.28], velocity: [8, 0.4, 0],\n"
                        "      angular_velocity: [0, 30, 0]}\n"
                        "forces: {t: {type: tire, wheel: w, radius: 0.3, stiffness: 2e5, "
                        "relaxation_length: 0.7, lateral_relaxation_length: 0.4}}\n"
                        "measures: {q: {type: tire, of: t}}\nsimulation: {end: 0.1, step: 1e-4}\n");
    simulate(&s);
    expect_near(end_of(&s, "q.slip"), (30 * 0.28 - 8) / 8 * (1 - exp(-8 * 0.1 / 0.7)), 1e-8);
    expect_near(tan(end_of(&s, "q.angle")), -0.4 / 8 * (1 - exp(-8 * 0.1 / 0.4)), 1e-8);
    expect_near(end_of(&s, "q.lateral") / end_of(&s, "q.normal"), end_of(&s, "q.angle") / 0.1,
                1e-12);
    close_scene(&s);
}

/* Velocity of the wheel centre when the wheel turns by omega about an axis ahead on the road,
 * through the contact: lean x height, to the right. The contact does not move across, so there is
 * no slip angle, however fast it leans; the centre has one. */
static void leaning(void **state)
{
    (void)state;
    static const char *const type[] = {"tire", "magic-tire", "tire", "magic-tire"};
    static const char *const own[] = {"contact: below", "rolling_radius: nominal",
                                      "indentation: vertical, relaxation_length: 0.3",
                                      "relaxation_length: 0.2"};
    expect_random rng = {74};
    for (int i = 0; i < 40; i++) {
        wheel w = random_wheel(&rng);
        char text[200];
        w.across = -w.lean * w.height;
        scene s = wheel_scene(&w, type[i % 4], own[i % 4]);
        expect_near(end_of(&s, "q.angle"), 0, 1e-8);
        close_scene(&s);
        snprintf(text, sizeof text, "%s, slip: centre", own[i % 4]);
        s = wheel_scene(&w, type[i % 4], text);
        double alpha =
            i % 4 < 2 ? -atan2(w.across, w.v) : 0; /* with relaxation it has not yet built up */
        expect_near(end_of(&s, "q.angle"), alpha, 1e-7);
        close_scene(&s);
    }
}

/* Slips of a wheel that leans at a constant rate build up towards those of its contact. */
static void leaning_relaxation(void **state)
{
    (void)state;
    for (int at_centre = 0; at_centre < 2; at_centre++) {
        char text[1000];
        snprintf(text, sizeof text,
                 "costate: 1\ngravity: [0, 0, 0]\n"
                 "bodies: {w: {type: rigid, mass: 1e12, inertia: [1e12, 1e12, 1e12], position: [0, "
                 "0, 0.28], velocity: [8, 0.4, 0],\n"
                 "      angular_velocity: [1e-3, 30, 0]}}\n"
                 "forces: {t: {type: magic-tire, wheel: w, radius: 0.3, stiffness: 2e5, "
                 "relaxation_length: 0.4, slip: %s}}\n"
                 "measures: {q: {type: tire, of: t}}\nsimulation: {end: 0.01, step: 1e-5}\n",
                 at_centre ? "centre" : "contact");
        scene s = open_text(text);
        simulate(&s);
        double across = 0.4 + (at_centre ? 0 : 1e-3 * 0.28);
        expect_near(tan(end_of(&s, "q.angle")) / (-across / 8 * (1 - exp(-8 * 0.01 / 0.4))), 1,
                    3e-5); /* it has turned by 1e-5 rad */
        close_scene(&s);
    }
}

/* Without friction a wheel in contact slides down a plane with g sin(slope). */
static void slope(void **state)
{
    (void)state;
    char text[2000];
    double a = 0.2, k = 1e5, R = 0.3, g = 9.81, m = 20, height = R - m * g * cos(a) / k;
    snprintf(
        text, sizeof text,
        "costate: 1\nroads: {r: {type: plane, normal: [%.17g, 0, %.17g]}}\n"
        "bodies: {w: {type: rigid, mass: %g, inertia: [1, 1, 1], position: [%.17g, 0, %.17g]}}\n"
        "forces: {t: {type: tire, wheel: w, road: r, radius: 0.3, stiffness: %g, friction: 0}}\n"
        "measures: {p: {type: position, of: w.com}}\nsimulation: {end: 1, step: 0.01}\n",
        sin(a), cos(a), m, height * sin(a), height * cos(a), k);
    scene s = open_text(text);
    simulate(&s);
    double way = 0.5 * g * sin(a);
    expect_near(end_of(&s, "p.x"), height * sin(a) + way * cos(a), 1e-10);
    expect_near(end_of(&s, "p.z"), height * cos(a) - way * sin(a), 1e-10);
    close_scene(&s);
}

/* At rest on a level road nothing moves, and the gradient is finite: no slip is divided by a speed
 * of zero. */
static void standstill(void **state)
{
    (void)state;
    static const char *const type[] = {"tire", "magic-tire", "magic-tire, relaxation_length: 0.5"};
    for (int i = 0; i < 3; i++) {
        char text[2000];
        snprintf(text, sizeof text,
                 "costate: 1\nbodies: {w: {type: rigid, mass: 20, inertia: [1, 1, 1], position: "
                 "[0, 0, 0.3]}}\n"
                 "forces: {t: {type: %s, wheel: w, radius: 0.3, stiffness: 1e5, damping: 100}}\n"
                 "measures: {p: {type: position, of: w.com}, o: {type: cardan, of: w}, q: {type: "
                 "tire, of: t}}\n"
                 "initial: {equilibrium: {hold: [p.x, p.y, o.yaw, o.pitch, o.roll]}}\n"
                 "objectives: {x: end(p.x), z: end(p.z), load: end(q.normal), side: "
                 "end(q.lateral)}\nsimulation: {end: 0.2, step: 0.01}\n",
                 type[i]);
        scene s = open_text(text);
        const cst_gradient *g = cst_run_gradient(s.r, NULL, CST_ADJOINT, 0, NULL, &diag);
        expect_text(diag.text, "");
        expect_not_null(g);
        expect_near(g->value[0], 0, 1e-12);
        expect_near(g->value[1], 0.3 - 20 * 9.81 / 1e5, 1e-12);
        expect_near(g->value[2], 20 * 9.81, 1e-8);
        for (int k = 0; k < g->objectives * g->numbers; k++)
            expect_true(g->effect[k] == CST_NO_EFFECT || isfinite(g->slope[k]));
        close_scene(&s);
    }
}

/* ---- gradients ---- */

/* A cart with one wheel, a spring above it and a stick that keeps it upright, over a road; all
 * numbers of the file */
#define CART(tire, road)                                                                           \
    "costate: 1\nparameters: {h: 0.04, L: 0.9, x0: 0.4, k: 9e4}\n"                                 \
    "roads: {r: " road "}\n"                                                                       \
    "points: {C: [0, 0, 0.29], T: [0, 0, 0.8]}\n"                                                  \
    "bodies:\n"                                                                                    \
    "  w: {type: rigid, mass: 12, inertia: [0.5, 0.9, 0.5], position: C, velocity: [4, 0, 0], "    \
    "angular_velocity: [0, 13.6, 0.272]}\n"                                                        \
    "  u: {type: rigid, mass: 5, inertia: [0.2, 0.2, 0.2], position: C, velocity: [4, 0, 0]}\n"    \
    "  b: {type: rigid, mass: 80, inertia: [4, 4, 4], position: T, velocity: [4, 0, 0]}\n"         \
    "joints:\n"                                                                                    \
    "  axle: {type: revolute, between: [u, w], at: C, axis: [0, 1, 0.02]}\n"                       \
    "  guide: {type: prismatic, between: [b, u], at: T, axis: z}\n"                                \
    "  upright: {type: planar, between: [ground, b], at: T, normal: y}\n"                          \
    "  level: {type: constant-angle, between: [ground, b], axis_1: x, axis_2: z}\n"                \
    "forces:\n"                                                                                    \
    "  s: {type: spring-damper, from: u.C, to: b.T, stiffness: 2e4, damping: 900, free_length: "   \
    "0.55}\n"                                                                                      \
    "  t: {" tire                                                                                  \
    ", wheel: w, axis: [0, 1, 0.02], road: r, radius: 0.3, stiffness: k, damping: 150}\n"          \
    "measures: {p: {type: position, of: b.com}, q: {type: tire, of: t}, a: {type: acceleration, "  \
    "of: b.com}}\n"                                                                                \
    "objectives: {psi: integral(a.z^2) + end(p.x), grip: integral(q.lateral + "                    \
    "0.1*q.longitudinal)}\n"                                                                       \
    "simulation: {end: 0.3, step: 0.005}\n"

#define LINEAR "type: tire, friction: 0.8, lateral_friction: 0.7, critical_slip: 0.2"
#define MAGIC                                                                                      \
    "type: magic-tire, relaxation_length: 0.3, fy: [-22, 1000, 1080, 1.8, 0.2, 0, -0.35, 0.7, "    \
    "0.03, 0.1, 15, 0.02, 0]"

/* adjoint = direct for all numbers; = differences, which take a while, for those of the tire, the
 * road and the parameters */
static void all_methods(const char *text, double tolerance)
{
    scene s = open_text(text);
    int n = cst_model_number_count(s.m), some = 0, which[200];
    for (int i = 0; i < n; i++) {
        const char *name = cst_model_number_name(s.m, i);
        int part = strncmp(name, "t.", 2) == 0 || strncmp(name, "r.", 2) == 0;
        if (!strchr(name, '.') || (part && i % 3 == 0)) which[some++] = i;
    }
    expect_true(some > 4 && some < 200);
    const cst_gradient *g = cst_run_gradient(s.r, NULL, CST_ADJOINT, 0, NULL, &diag);
    expect_text(diag.text, "");
    int total = g->objectives * n, exact = 0;
    double *adjoint = calloc((size_t)total, sizeof *adjoint),
           *direct = calloc((size_t)total, sizeof *direct);
    memcpy(adjoint, g->slope, sizeof *adjoint * (size_t)total);
    close_scene(&s);
    s = open_text(
        text); /* the very same motion: a second run of a workspace differs in its last digits */
    g = cst_run_gradient(s.r, NULL, CST_DIRECT, 0, NULL, &diag);
    memcpy(direct, g->slope, sizeof *direct * (size_t)total);
    for (int i = 0; i < total; i++) {
        double p = fabs(cst_model_number_value(s.m, i % n)) + 1e-3,
               value = fabs(g->value[i / n]) + 1;
        if (!isnan(adjoint[i]))
            expect_near(p * (direct[i] - adjoint[i]) / value, 0, 1e-10), exact += adjoint[i] != 0;
    }
    expect_true(exact > 50);
    g = cst_run_gradient(s.r, NULL, CST_DIFFERENCE, some, which, &diag);
    expect_not_null(g);
    for (int k = 0; k < g->objectives * some; k++) {
        int i = k / some * n + which[k % some];
        if (isnan(adjoint[i]) || isnan(g->slope[k])) continue;
        double p = fabs(cst_model_number_value(s.m, i % n)) + 1e-3,
               value = fabs(g->value[i / n]) + 1;
        double off = p * fabs(g->slope[k] - adjoint[i]),
               allowed = tolerance * value + 20 * p * g->error[k];
        if (off > allowed)
            print_error("%s by %s: %.9g, differences %.9g +- %.2g\n",
                        cst_model_objective_name(s.m, i / n), cst_model_number_name(s.m, i % n),
                        adjoint[i], g->slope[k], g->error[k]);
        expect_true(off <= allowed);
    }
    free(adjoint), free(direct);
    close_scene(&s);
}

static void gradient_plane(void **state)
{
    (void)state, all_methods(CART(LINEAR, "{type: plane, normal: [0.05, 0.02, 1]}"), 1e-6);
}
static void gradient_step(void **state)
{
    (void)state, all_methods(CART(LINEAR, "{type: step, at: x0, height: -0.03}"), 1e-6);
}
static void gradient_ramp(void **state)
{
    (void)state, all_methods(CART(LINEAR, "{type: ramp, at: x0, length: L, height: h}"), 1e-6);
}
static void gradient_bump(void **state)
{
    (void)state, all_methods(CART(MAGIC, "{type: bump, at: x0, length: L, height: h}"), 1e-6);
}
static void gradient_rig(void **state)
{
    (void)state, all_methods(CART(MAGIC, "{type: rig, height: h*sin(20*t)}"), 1e-6);
}
static void gradient_profile(void **state)
{
    (void)state;
    all_methods(CART(LINEAR,
                     "{type: profile, csv: road.csv, scale: 0.7, offset: 0.001, numbers: true}"),
                1e-6);
}
static void gradient_expression(void **state)
{
    (void)state;
    all_methods(
        CART(LINEAR ", contact: below, rolling_radius: nominal, indentation: vertical",
             "{type: expression, height: \"if(s < x0, 0, h*sin((s - x0)/L)) + 0.01*sin(9*t)\"}"),
        1e-6);
}

/* A wheel that rolls, leans and turns freely */
#define HOOP(tire)                                                                                 \
    "costate: 1\nparameters: {k: 9e4, R: 0.3, v: 4, p: 0.4, m: 12, yaw: 0.3}\n"                    \
    "roads: {r: {type: plane, normal: [0.05, 0.02, 1]}}\n"                                         \
    "bodies:\n"                                                                                    \
    "  w: {type: rigid, mass: m, inertia: [0.5, 0.9, 0.5], position: [0, 0, 0.298], velocity: "    \
    "[v, 0.1, 0], angular_velocity: [p, 13.6, yaw]}\n"                                             \
    "forces: {t: {" tire                                                                           \
    ", wheel: w, axis: [0, 1, 0.1], road: r, radius: R, stiffness: k, damping: 150}}\n"            \
    "measures: {c: {type: position, of: w.com}, q: {type: tire, of: t}, o: {type: orientation, "   \
    "of: w}}\n"                                                                                    \
    "objectives: {psi: end(c.y) + end(o.e2.z), grip: integral(q.lateral + 0.1*q.longitudinal), "   \
    "drift: integral(q.angle^2)}\n"                                                                \
    "simulation: {end: 0.3, step: 0.005}\n"

static void gradient_leaning(void **state)
{
    (void)state;
    all_methods(HOOP(LINEAR), 1e-6);
    all_methods(HOOP(LINEAR ", slip: centre"), 1e-6);
    all_methods(HOOP(LINEAR ", contact: below, rolling_radius: nominal, indentation: vertical, "
                            "relaxation_length: 0.2"),
                1e-6);
    all_methods(HOOP(MAGIC), 1e-6);
}

/* A flywheel that rolls at v and w across, lifted at u: its spin swings, kappa = K sin(2 pi t),
 * alpha = const */
#define FLYWHEEL(type, across, u, own)                                                             \
    "costate: 1\ngravity: [0, 0, 0]\nparameters: {K: 0.15, R: 0.3, v: 10}\n"                       \
    "roads: {r: {type: plane, normal: [0, 0, 1]}}\n"                                               \
    "bodies: {w: {type: rigid, mass: 1e12, inertia: [1e12, 1e12, 1e12], position: [0, 0, 0.29], "  \
    "velocity: [v, " across ", " u "], \n"                                                         \
    "         angular_velocity: [0, v/0.29, 0]}}\n"                                                \
    "forces:\n  t: {type: " type ", wheel: w, road: r, radius: R, stiffness: 1e5, " own "}\n"      \
    "  m: {type: torque, on: w, torque: [0, "                                                      \
    "1e12*K*v/0.29*2*3.141592653589793*cos(2*3.141592653589793*t), 0]}\n"                          \
    "measures: {q: {type: tire, of: t}}\nsimulation: {end: 1.99, step: 1 ms}\n"

static long kinks_of(const char *text, const char *name)
{
    long n, all = 0;
    const char *found = NULL;
    scene s = open_text(text);
    simulate(&s);
    for (int i = 0; cst_run_kinks(s.r, i, &n); i++) found = cst_run_kinks(s.r, i, &n), all += n;
    expect_int(cst_run_stats(s.r).kinks, all);
    if (all) expect_text(found, name);
    close_scene(&s);
    return all;
}

/* x = kappa/kappa_c swings between -1.5 and 1.5. The ellipse is left where x^2 + y^2 = 1, the
 * critical slip passed where |x| = 1: 4 times each in a period; without an angle both are one. A
 * tire with damping that is lifted pulls before it leaves the road. */
static void kinks(void **state)
{
    (void)state;
    expect_int(kinks_of(FLYWHEEL("tire", "0.6", "0", "critical_slip: 0.1, critical_angle: 0.1"),
                        "t"),
               16);
    expect_int(kinks_of(FLYWHEEL("tire", "0", "0", "critical_slip: 0.1, critical_angle: 0.1"), "t"),
               8);
    expect_int(kinks_of(FLYWHEEL("tire", "2", "0", "critical_slip: 0.1, critical_angle: 0.1"), "t"),
               8); /* always beyond */
    expect_int(kinks_of(FLYWHEEL("tire", "0", "0", "critical_slip: 0.16, critical_angle: 0.1"), ""),
               0);
    expect_int(kinks_of(FLYWHEEL("tire", "0", "0.01", "critical_slip: 0.5, damping: 5e4"), "t"), 1);
    expect_int(kinks_of(FLYWHEEL("tire", "0", "0.01", "critical_slip: 0.5"), ""), 0);
    expect_int(kinks_of(FLYWHEEL("magic-tire", "0", "0", "friction: 1"), ""),
               0); /* the ellipse is one of two slips */
    long n = kinks_of(FLYWHEEL("magic-tire", "0.6", "0", "friction: 1"), "t");
    expect_true(n > 0 && n % 4 == 0);
}

/* The slopes of N = max(0, k (R - z)) at the start by R and z, of a wheel that comes down at z = R
 * - depth */
static void touching(const char *type, const char *depth, cst_method method, double slope,
                     cst_effect effect)
{
    char text[1000];
    snprintf(text, sizeof text,
             "costate: 1\ngravity: [0, 0, 0]\nparameters: {R: 0.3125, z: 0.3125, depth: "
             "%s}\nroads: {r: {type: plane, normal: [0, 0, 1]}}\n"
             "bodies: {w: {type: rigid, mass: 20, inertia: [1, 1, 1], position: [0, 0, z - depth], "
             "velocity: [9, 0.5, -0.1]}}\n"
             "forces: {t: {type: %s, wheel: w, road: r, radius: R, stiffness: 1e5}}\nmeasures: {q: "
             "{type: tire, of: t}}\n"
             "objectives: {N: start(q.normal)}\nsimulation: {end: 1e-3, step: 1e-3}\n",
             depth, type);
    scene s = open_text(text);
    const int which[] = {cst_model_number_find(s.m, "R"), cst_model_number_find(s.m, "z")};
    const cst_gradient *g = cst_run_gradient(s.r, NULL, method, 2, which, &diag);
    expect_not_null(g);
    expect_near(g->value[0], fmax(0, 1e5 * atof(depth)), 1e-8);
    for (int i = 0; i < 2; i++) {
        expect_int(g->effect[i], effect);
        if (effect != CST_NOT_SMOOTH) expect_near(g->slope[i], i ? -slope : slope, 1e-8);
    }
    close_scene(&s);
}

/* A wheel that just touches has two sides, and no slope; one that hardly touches has the slopes of
 * the contact, one that does not, none. */
static void no_load(void **state)
{
    (void)state;
    static const char *const type[] = {"tire", "magic-tire"};
    for (int k = 0; k < 2; k++)
        for (int method = CST_ADJOINT; method <= CST_DIRECT; method++) {
            touching(type[k], "0", (cst_method)method, 0, CST_NOT_SMOOTH);
            touching(type[k], "1e-6", (cst_method)method, 1e5, CST_EXACT);
            touching(type[k], "-1e-6", (cst_method)method, 0, CST_NO_EFFECT);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kinks),
        cmocka_unit_test(no_load),
        cmocka_unit_test(linear_law),
        cmocka_unit_test(magic_formula),
        cmocka_unit_test(relaxation),
        cmocka_unit_test(leaning),
        cmocka_unit_test(leaning_relaxation),
        cmocka_unit_test(gradient_leaning),
        cmocka_unit_test(slope),
        cmocka_unit_test(standstill),
        cmocka_unit_test(gradient_plane),
        cmocka_unit_test(gradient_step),
        cmocka_unit_test(gradient_ramp),
        cmocka_unit_test(gradient_bump),
        cmocka_unit_test(gradient_rig),
        cmocka_unit_test(gradient_profile),
        cmocka_unit_test(gradient_expression),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
