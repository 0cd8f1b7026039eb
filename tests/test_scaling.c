/* SPDX-License-Identifier: MIT
 *
 * Laws: units multiply; a unit is a convention, so that numbers scaled by their dimensions scale
 * every objective by its own; Euler's identity holds for the adjoint gradient and fails without any
 * single number. */
#include "expect.h"

#include <stdio.h>
#include <stdlib.h>

#include "sensitivity/scaling.h"

/* ---- units ---- */

static const char *const units[] = {"kg",    "m",     "s",   "N",       "J",       "W",
                                    "Pa",    "Hz",    "rad", "N/m",     "N*s/m",   "kg*m^2",
                                    "m/s^2", "1/s^2", "1",   "N*m/rad", "Nms/rad", "kg/m^3",
                                    "m^0.5", "s^-1",  "rpm", "kNm"};
enum { NUNIT = sizeof units / sizeof *units };

static void same(cst_dimension a, cst_dimension b, double factor, const char *what)
{
    if (a.state != CST_DIMENSION_KNOWN || b.state != CST_DIMENSION_KNOWN)
        fail_msg("%s is not a unit", what);
    for (int k = 0; k < CST_BASES; k++) expect_near(a.x[k], factor * (double)b.x[k], 1e-6);
}

static void units_multiply(void **state)
{
    (void)state;
    char text[128];
    for (int i = 0; i < NUNIT; i++)
        for (int j = 0; j < NUNIT; j++) {
            if (strchr(units[j], '/') || strchr(units[j], '*')) continue; /* a/b*c is (a/b)*c */
            cst_dimension a = cst_dimension_parse(units[i]), b = cst_dimension_parse(units[j]),
                          sum = a, difference = a;
            for (int k = 0; k < CST_BASES; k++) sum.x[k] += b.x[k], difference.x[k] -= b.x[k];
            snprintf(text, sizeof text, "%s*%s", units[i], units[j]);
            same(cst_dimension_parse(text), sum, 1, text);
            snprintf(text, sizeof text, "%s/%s", units[i], units[j]);
            same(cst_dimension_parse(text), difference, 1, text);
        }
    static const char *const equal[][2] = {{"N", "kg*m/s^2"}, {"J", "N*m"},  {"W", "J/s"},
                                           {"Pa", "N/m^2"},   {"Hz", "1/s"}, {"deg", "1"},
                                           {"Nm/rad", "J"},   {"km", "mm"},  {"m^(1/2)", "m^0.5"}};
    for (size_t i = 0; i < sizeof equal / sizeof *equal; i++)
        same(cst_dimension_parse(equal[i][0]), cst_dimension_parse(equal[i][1]), 1, equal[i][0]);
}

static void texts_return(void **state)
{
    (void)state;
    expect_random r = {1};
    for (int n = 0; n < 1000; n++) {
        cst_dimension d = {.state = CST_DIMENSION_KNOWN};
        char text[128], small[4];
        for (int k = 0; k < CST_BASES; k++) d.x[k] = (float)(expect_below(&r, 13) - 6) / 2;
        cst_dimension_text(&d, text, sizeof text);
        if (*text)
            same(cst_dimension_parse(text), d, 1, text);
        else
            expect_true(d.x[0] == 0 && d.x[1] == 0 && d.x[2] == 0);
        cst_dimension_text(&d, small, sizeof small); /* cut, not overrun */
        expect_true(strlen(small) < sizeof small);
    }
    static const char *const wrong[] = {"",        "m*",  "/s",   "mass", "m^",  "m^x", "m^(1",
                                        "m^(1/0)", "m s", "N**m", "m/",   "2*m", "k"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        if (cst_dimension_parse(wrong[i]).state != CST_DIMENSION_UNKNOWN)
            fail_msg("'%s' passes for a unit", wrong[i]);
    expect_int(cst_dimension_parse(NULL).state, CST_DIMENSION_UNKNOWN);
}

/* ---- models ---- */

static const char machine[] =
    "costate: 1\n"
    "gravity: [0.3, -9.81, 0.5]\n"
    "parameters: {w: 0.7, aim: 0.4, k: {value: 80, unit: N/m}, bare: 1.3, wx: 0.3, wy: -0.5, wz: "
    "{value: 0.8, unit: 1/s}}\n"
    "points: {O: [0, 0, 0], A: [0.9, 0.1, -0.2], B: [1.5, -0.6, 0.3], C: [0.2, 1.2, 0.4]}\n"
    "bodies:\n"
    "  arm: {type: rigid, position: O, com: [0.4, 0.1, -0.1], mass: 2, inertia: [0.2, 0.3, 0.35, "
    "0.02, -0.01, 0.03],\n"
    "        angular_velocity: [wx, wy, wz]}\n"
    "  bob: {type: point, position: B, mass: bare, velocity: [wy*B.z - wz*B.y, wz*B.x - wx*B.z, "
    "wx*B.y - wy*B.x]}\n"
    "joints:\n"
    "  ball: {type: spherical, between: [ground, arm], at: O}\n"
    "  rod: {type: distance, from: arm.A, to: bob.B}\n"
    "forces:\n"
    "  s1: {type: spring-damper, from: ground.C, to: bob.B, stiffness: k, damping: 3, free_length: "
    "1.1}\n"
    "  s2: {type: spring, from: ground.C, to: arm.A, stiffness: 0.5*k}\n"
    "measures:\n"
    "  p: {type: position, of: bob.B}\n"
    "  pv: {type: velocity, of: bob.B}\n"
    "  pa: {type: acceleration, of: bob.B}\n"
    "  R: {type: reaction, of: rod}\n"
    "  W: {type: angular-velocity, of: arm}\n"
    "  l: {type: distance, from: ground.C, to: arm.A}\n"
    "  E: {type: energy}\n"
    "objectives:\n"
    "  way: integral(p.x^2 + p.y^2)\n"
    "  speed: end(sqrt(pv.x^2 + pv.y^2))\n"
    "  push: integral(abs(R.force.x))/2\n"
    "  turn: end(W.x*W.y)\n"
    "  energy: end(E.total) + start(E.kinetic)\n"
    "  aimed: integral((l - aim)^2 + w*pv.z^2)\n"
    "  ratio: end(pa.x)/peak(pa.y)\n"
    "  mix: end(p.x) + end(pv.x)\n"
    "simulation: {end: 0.3, step: 0.01}\n";

typedef struct bench {
    cst_arena a;
    cst_model *m;
    cst_run *r;
    cst_dimensions d;
    double *value;
    cst_diag diag;
} bench;

static bench *bench_new(const char *text, expect_random *random)
{
    bench *b = calloc(1, sizeof *b);
    b->m = cst_model_parse("test.yaml", text, strlen(text), 0, NULL, &b->diag);
    if (!b->m) fail_msg("%s", b->diag.text);
    b->r = cst_run_new(b->m, NULL, &b->diag);
    if (!b->r) fail_msg("%s", b->diag.text);
    if (CST_ARENA_GUARD(&b->a)) fail_msg("out of memory");
    b->d = cst_dimensions_infer(&b->a, b->m);
    b->value = cst_new(&b->a, double, b->m->leaf.n + 1);
    for (int i = 0; i < b->m->leaf.n; i++)
        b->value[i] =
            cst_model_number_value(b->m, i) * (random ? expect_uniform(random, 0.95, 1.05) : 1);
    return b;
}

static void bench_free(bench *b)
{
    cst_run_free(b->r);
    cst_model_free(b->m);
    cst_arena_free(&b->a);
    free(b);
}

static int objective(const bench *b, const char *name)
{
    for (int o = 0; o < b->m->objective.n; o++)
        if (strcmp(b->m->objective.at[o].name, name) == 0) return o;
    fail_msg("no objective %s", name);
    return -1;
}

static void dimensions_are_inferred(void **state)
{
    (void)state;
    static const char *const objectives[][2] = {{"way", "m^2*s"}, {"speed", "m/s"},
                                                {"push", "N*s"},  {"turn", "1/s^2"},
                                                {"energy", "J"},  {"aimed", "m^2*s"},
                                                {"ratio", "1"}};
    static const char *const numbers[][2] = {{"w", "s^2"}, {"aim", "m"}, {"bare", "kg"},
                                             {"k", "N/m"}, {"A.x", "m"}, {"gravity.y", "m/s^2"},
                                             {"wx", "1/s"}};
    bench *b = bench_new(machine, NULL);
    for (size_t i = 0; i < sizeof objectives / sizeof *objectives; i++)
        same(b->d.objective[objective(b, objectives[i][0])], cst_dimension_parse(objectives[i][1]),
             1, objectives[i][0]);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        same(b->d.leaf[cst_model_number_find(b->m, numbers[i][0])],
             cst_dimension_parse(numbers[i][1]), 1, numbers[i][0]);
    expect_int(b->d.objective[objective(b, "mix")].state, CST_DIMENSION_MIXED);
    bench_free(b);
}

/* psi(c^a_i p_i) = c^a psi(p), by simulation: no derivative is involved */
static void another_unit(void **state)
{
    (void)state;
    expect_random random = {2};
    bench *b = bench_new(machine, &random);
    int n = b->m->objective.n;
    double *psi = cst_new(&b->a, double, n), *scaled = cst_new(&b->a, double, b->m->leaf.n + 1);
    expect_int(cst_run_simulate(b->r, b->value, NULL, NULL, &b->diag), CST_OK);
    for (int o = 0; o < n; o++) psi[o] = cst_run_objective(b->r, o);
    for (int base = CST_MASS; base <= CST_LENGTH; base++) {
        for (int i = 0; i < b->m->leaf.n; i++)
            scaled[i] = b->value[i] * pow(1.7, (double)b->d.leaf[i].x[base]);
        expect_int(cst_run_simulate(b->r, scaled, NULL, NULL, &b->diag), CST_OK);
        for (int o = 0; o < n; o++)
            if (b->d.objective[o].state == CST_DIMENSION_KNOWN)
                expect_near(cst_run_objective(b->r, o),
                            psi[o] * pow(1.7, (double)b->d.objective[o].x[base]), 1e-9);
    }
    bench_free(b);
}

static void euler_holds_and_misses_nobody(void **state)
{
    (void)state;
    expect_random random = {3};
    int missed = 0;
    for (int sample = 0; sample < 5; sample++) {
        bench *b = bench_new(machine, &random);
        int n = b->m->leaf.n;
        const cst_gradient *g = cst_run_gradient(b->r, b->value, CST_ADJOINT, 0, NULL, &b->diag);
        if (!g) fail_msg("%s", b->diag.text);
        for (int i = 0; i < n; i++) /* "half of k" */
            if (b->d.leaf[i].state == CST_DIMENSION_UNKNOWN)
                b->d.leaf[i] = cst_dimension_parse("1");
        for (int o = 0; o < g->objectives; o++)
            for (int base = CST_MASS; base <= CST_LENGTH; base++) {
                double *slope = cst_new(&b->a, double, n + 1);
                const cst_effect *effect = g->effect + o * n;
                memcpy(slope, g->slope + o * n, sizeof *slope * (size_t)n);
                cst_scaling s = cst_scaling_check(&b->a, &b->d, base, o, g->value[o], n, b->value,
                                                  slope, effect);
                if (o == objective(b, "mix")) {
                    expect_int(s.verdict, CST_SCALING_OPEN);
                    continue;
                }
                if (s.verdict != CST_SCALING_HOLDS)
                    fail_msg("%s, base %d: sum %.17g, psi %.17g, off %g %s",
                             b->m->objective.at[o].name, base, s.sum, g->value[o], s.off,
                             s.why ? s.why : "");
                for (int i = 0; i < n; i++) { /* one number forgotten */
                    double part = fabs((double)b->d.leaf[i].x[base] * b->value[i] * slope[i]);
                    if (part <= 1e-6 * (fabs(s.sum) + fabs(g->value[o]))) continue;
                    double kept = slope[i];
                    slope[i] = 0;
                    s = cst_scaling_check(&b->a, &b->d, base, o, g->value[o], n, b->value, slope,
                                          effect);
                    expect_int(s.verdict, CST_SCALING_FAILS);
                    slope[i] = kept;
                    missed++;
                }
            }
        bench_free(b);
    }
    expect_true(missed > 100);
}

/* Velocities that do not fit are made to fit, with the least change by kinetic energy: the
 * identities hold. */
static void a_start_that_moves(void **state)
{
    (void)state;
    char text[sizeof machine];
    memcpy(text, machine, sizeof machine);
    memcpy(strstr(text, "[wx, wy, wz]"), "[wx, wy, wx]", 12);
    bench *b = bench_new(text, NULL);
    const cst_gradient *g = cst_run_gradient(b->r, NULL, CST_ADJOINT, 0, NULL, &b->diag);
    expect_not_null(g);
    expect_contains(b->diag.text, "do not allow");
    for (int i = 0; i < g->numbers; i++)
        if (b->d.leaf[i].state == CST_DIMENSION_UNKNOWN) b->d.leaf[i] = cst_dimension_parse("1");
    for (int base = CST_MASS; base <= CST_LENGTH; base++)
        expect_int(cst_scaling_check(&b->a, &b->d, base, 0, g->value[0], g->numbers, b->value,
                                     g->slope, g->effect)
                       .verdict,
                   CST_SCALING_HOLDS);
    bench_free(b);
}

/* Coordinates are compared with the extent, components with their vector, and a number that is 0
 * with the others of its dimension, in whatever unit they are written. */
static void sizes_of_numbers(void **state)
{
    (void)state;
    const double extent = sqrt(4 * 4 + 3 * 3 + 70 * 70);
    static const char text[] =
        "costate: 1\n"
        "gravity: [0, 0, -9.81]\n"
        "parameters: {k: {value: 0, unit: N/m}, e: {value: 0, unit: rad}, d: {value: 500, unit: "
        "mm}}\n"
        "points: {A: [0, 3, 0], B: [-4, 0, 70]}\n"
        "bodies: {bob: {type: point, position: B, mass: 2, velocity: [0, 0, d*e]}}\n"
        "forces: {f: {type: spring, from: ground.A, to: bob, stiffness: k}}\n"
        "measures: {p: {type: position, of: bob.B}}\n"
        "objectives: {psi: end(p.y)}\n"
        "simulation: {end: 0.3, step: 0.01}\n";
    bench *b = bench_new(text, NULL);
    const double *size = cst_dimensions_sizes(&b->d, &b->a, b->m, NULL);
    const struct {
        const char *name;
        double size;
    } expected[] = {{"A.x", extent}, {"A.y", extent}, {"B.x", extent},     {"B.z", extent},
                    {"d", 0.5},      {"e", 1},        {"gravity.x", 9.81}, {"gravity.z", 9.81},
                    {"bob.mass", 2}, {"k", 1}};
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
        expect_near(size[cst_model_number_find(b->m, expected[i].name)], expected[i].size, 1e-15);
    bench_free(b);
}

/* A speed in rad/s hides a length that the file does not contain. */
static void a_hidden_length(void **state)
{
    (void)state;
    static const char text[] =
        "costate: 1\n"
        "gravity: [0, 0, 0]\n"
        "parameters: {w: {value: 2, unit: rad/s}}\n"
        "points: {B: [1, 0, 0]}\n"
        "bodies: {bob: {type: point, position: B, mass: 2, velocity: [0, -w, 0]}}\n"
        "measures: {p: {type: position, of: bob.B}}\n"
        "objectives: {psi: end(p.y)}\n"
        "simulation: {end: 0.3, step: 0.01}\n";
    bench *b = bench_new(text, NULL);
    const cst_gradient *g = cst_run_gradient(b->r, NULL, CST_ADJOINT, 0, NULL, &b->diag);
    expect_not_null(g);
    expect_true(b->d.wrong == b->m->body.at);
    cst_scaling s = cst_scaling_check(&b->a, &b->d, CST_LENGTH, 0, g->value[0], g->numbers,
                                      b->value, g->slope, g->effect);
    expect_int(s.verdict, CST_SCALING_OPEN);
    expect_contains(s.why, "bob");
    b->d.wrong = NULL;
    s = cst_scaling_check(&b->a, &b->d, CST_LENGTH, 0, g->value[0], g->numbers, b->value, g->slope,
                          g->effect);
    expect_int(s.verdict, CST_SCALING_FAILS);
    bench_free(b);
    b = bench_new(machine, NULL);
    expect_null(b->d.wrong);
    bench_free(b);
}

/* Gravity that is left out has no slope to put into the sum: the identity of an objective that
 * feels it is not stated. */
static void weight_left_out(void **state)
{
    (void)state;
    static const char text[] =
        "points: {B: [1, 0, 0.5]}\n"
        "bodies: {bob: {type: point, position: B, mass: 2, velocity: [0.3, 0, 0]}}\n"
        "measures: {p: {type: position, of: bob.B}}\n"
        "objectives: {x: end(p.x), z: end(p.z)}\n"
        "simulation: {end: 0.3, step: 0.01}\n";
    for (int written = 0; written < 2; written++) {
        char whole[512];
        snprintf(whole, sizeof whole, "costate: 1\n%s%s", written ? "gravity: [0, 0, -9.81]\n" : "",
                 text);
        bench *b = bench_new(whole, NULL);
        const cst_gradient *g = cst_run_gradient(b->r, NULL, CST_ADJOINT, 0, NULL, &b->diag);
        expect_not_null(g);
        for (int o = 0; o < 2; o++)
            for (int base = CST_MASS; base <= CST_LENGTH; base++) {
                cst_scaling s =
                    cst_scaling_check(&b->a, &b->d, base, o, g->value[o], g->numbers, b->value,
                                      g->slope + o * g->numbers, g->effect + o * g->numbers);
                int felt = !written && o == 1 && base == CST_LENGTH;
                expect_int(s.verdict, felt ? CST_SCALING_OPEN : CST_SCALING_HOLDS);
                if (felt) expect_contains(s.why, "gravity");
            }
        bench_free(b);
    }
}

/* What cannot be known is not guessed to be wrong. */
static void open_questions(void **state)
{
    (void)state;
    static const char law[] =
        "costate: 1\n"
        "points: {O: [0, 0, 0], B: [1, 0, 0]}\n"
        "bodies: {bob: {type: point, position: B, mass: 2, velocity: [0, 0.5, 0]}}\n"
        "forces: {s: {type: spring, from: ground.O, to: bob.B, force: 30*(s - 0.8)}}\n"
        "measures: {p: {type: position, of: bob.B}}\n"
        "objectives: {psi: end(p.x)}\n"
        "simulation: {end: 0.3, step: 0.01}\n";
    bench *b = bench_new(law, NULL);
    const cst_gradient *g = cst_run_gradient(b->r, NULL, CST_ADJOINT, 0, NULL, &b->diag);
    expect_not_null(g);
    for (int i = 0; i < g->numbers; i++)
        if (strstr(b->m->leaf.at[i].name, "force["))
            b->d.leaf[i] = (cst_dimension){.state = CST_DIMENSION_UNKNOWN};
    cst_scaling s = cst_scaling_check(&b->a, &b->d, CST_MASS, 0, g->value[0], g->numbers, b->value,
                                      g->slope, g->effect);
    expect_int(s.verdict, CST_SCALING_OPEN);
    expect_int(s.ignored, 2); /* 30 and 0.8 */
    expect_contains(b->m->leaf.at[s.ignoring[0]].name, "[1]");
    cst_effect *effect = cst_new(&b->a, cst_effect, g->numbers + 1);
    b->d.leaf[s.ignoring[0]] = cst_dimension_parse("N/m");
    b->d.leaf[s.ignoring[1]] = cst_dimension_parse("m");
    s = cst_scaling_check(&b->a, &b->d, CST_MASS, 0, g->value[0], g->numbers, b->value, g->slope,
                          g->effect);
    expect_int(s.verdict, CST_SCALING_HOLDS);
    memcpy(effect, g->effect, sizeof *effect * (size_t)g->numbers);
    effect[cst_model_number_find(b->m, "bob.mass")] = CST_BREAKS_LOOP;
    s = cst_scaling_check(&b->a, &b->d, CST_MASS, 0, g->value[0], g->numbers, b->value, g->slope,
                          effect);
    expect_int(s.verdict, CST_SCALING_OPEN);
    bench_free(b);
}

/* Numbers of forces on a coordinate have the dimension that makes a work of it, literals of a road
 * that of its height and slopes; the coefficients of the Magic Formula hide theirs. */
static void numbers_of_elements(void **state)
{
    (void)state;
    static const char text[] =
        "costate: 1\ngravity: [0, 0, -9.81]\nparameters: {v: {value: 3, unit: m/s}}\n"
        "roads: {r: {type: expression, height: \"if(s > 0.31, 0.02*sin(5*(s - 0.31)) - 0.01, "
        "0)\"}}\n"
        "bodies:\n  w: {type: rigid, position: [0, 0, 0.31], mass: 9, inertia: [0.2, 0.3, 0.35], "
        "velocity: [v, 0, 0.1], angular_velocity: [0, v/0.3, 0]}\n"
        "  b: {type: point, position: [1, 0, 0.2], mass: 1.5, velocity: [0, 0.3, -1]}\n  k: {type: "
        "rigid, position: [2, 0, 0], mass: 3, inertia: [1, 1, 1]}\n"
        "joints: {h: {type: revolute, between: [ground, k], at: [2, 0.3, 0], axis: x}}\n"
        "measures: {p: {type: position, of: w.origin}, q: {type: position, of: b.origin}, a: "
        "{type: acceleration, of: w.origin}, c: {type: joint, of: h}}\n"
        "forces:\n  t: {type: %s, wheel: w, road: r, radius: 0.3, stiffness: 4e4, damping: 30}\n"
        "  s: {type: stop, of: q.z, lower: 0.1, stiffness: 2e4, damping: 40}\n  f: {type: "
        "friction, of: q.y, coulomb: 2, transition_speed: 0.01}\n"
        "  z: {type: stop, of: h, upper: 0.02, stiffness: 300, damping: 2}\n"
        "objectives: {x: integral(p.z^2), y: end(q.z + q.y), z: end(c)}\nsimulation: {end: 0.4, "
        "step: 0.01}\n";
    static const char *const tire[] = {
        "tire", "magic-tire, fx: [-21.3, 1144, 49.6, 226, 0.069, -0.006, 0.056, 0.486]"};
    for (int k = 0; k < 2; k++) {
        char with[sizeof text + 100];
        snprintf(with, sizeof with, text, tire[k]);
        bench *b = bench_new(with, NULL);
        const cst_gradient *g = cst_run_gradient(b->r, NULL, CST_ADJOINT, 0, NULL, &b->diag);
        if (!g) fail_msg("%s", b->diag.text);
        for (int base = CST_MASS; base <= CST_LENGTH; base++)
            for (int o = 0; o < 3; o++) {
                size_t at = (size_t)o * (size_t)g->numbers;
                cst_scaling s = cst_scaling_check(&b->a, &b->d, base, o, g->value[o], g->numbers,
                                                  b->value, g->slope + at, g->effect + at);
                if (s.verdict !=
                    (k ? CST_SCALING_OPEN
                       : CST_SCALING_HOLDS)) /* the steps of all end at the wheel's events */
                    fail_msg("%s, %s, base %d: off %g %s", tire[k], b->m->objective.at[o].name,
                             base, s.off, s.why ? s.why : "");
            }
        bench_free(b);
    }
}

/* Several literals in one product: how they share its dimension does not matter, but that they have
 * it together does. psi by simulation of the scaled numbers, and Euler's sum. A literal in a
 * function or a comparison has the dimension that makes it one. */
static void literals_in_products(void **state)
{
    (void)state;
    static const char text[] =
        "costate: 1\ngravity: [0.3, 0, -9.81]\n"
        "parameters: {v: {value: 3, unit: m/s}, L: {value: 0.7, unit: m}}\n"
        "points: {O: [0.1, 0.2, 0.3], B: [1, 0.4, 0.5]}\n"
        "bodies:\n  a: {type: rigid, position: O, com: [0.3, 0.2, 0.4], mass: 2, inertia: [0.2, "
        "0.3, 0.35], velocity: [2*v/3, 0, -v/5*2],\n"
        "      angular_velocity: [1.2*v/3, -0.4*v/(3*1.7)*2, (0.3*v)/(0.8*L)*0.5]}\n"
        "  b: {type: point, position: B, mass: 1.5}\n"
        "measures: {p: {type: position, of: a.B}, q: {type: position, of: b.origin}, d: {type: "
        "velocity, of: a.origin}}\n"
        "forces: {f: {type: force, on: b.origin, force: [3*sin(7*q.z), 2*exp(-q.x/0.9), "
        "\"4*tanh(6*q.y) + if(q.z > 0.45, 1, 2)\"]}}\n"
        "objectives: {x: integral(p.x^2 + q.z^2), y: end(d.y + d.z), z: integral(q.y*q.x)}\n"
        "simulation: {end: 0.3, step: 0.01}\n";
    expect_random random = {11};
    bench *b = bench_new(text, &random);
    int n = b->m->leaf.n;
    double *scaled = cst_new(&b->a, double, n + 1), psi[3];
    for (int i = 0; i < n; i++)
        if (b->d.leaf[i].state != CST_DIMENSION_KNOWN)
            fail_msg("%s has no dimension", b->m->leaf.at[i].name);
    const cst_gradient *g = cst_run_gradient(b->r, b->value, CST_ADJOINT, 0, NULL, &b->diag);
    if (!g) fail_msg("%s", b->diag.text);
    for (int o = 0; o < 3; o++) psi[o] = g->value[o];
    for (int base = CST_MASS; base <= CST_LENGTH; base++)
        for (int o = 0; o < 3; o++) {
            cst_scaling s = cst_scaling_check(&b->a, &b->d, base, o, psi[o], n, b->value,
                                              g->slope + o * n, g->effect + o * n);
            if (s.verdict != CST_SCALING_HOLDS)
                fail_msg("%s, base %d: off %g %s", b->m->objective.at[o].name, base, s.off,
                         s.why ? s.why : "");
            if (!(s.off < 1e-10))
                fail_msg("%s, base %d: off %g", b->m->objective.at[o].name, base, s.off);
            expect_int(s.ignored, 0);
        }
    for (int base = CST_MASS; base <= CST_LENGTH; base++) {
        for (int i = 0; i < n; i++)
            scaled[i] = b->value[i] * pow(1.7, (double)b->d.leaf[i].x[base]);
        expect_int(cst_run_simulate(b->r, scaled, NULL, NULL, &b->diag), CST_OK);
        for (int o = 0; o < 3; o++)
            expect_near(cst_run_objective(b->r, o) / psi[o],
                        pow(1.7, (double)b->d.objective[o].x[base]), 1e-9);
    }
    bench_free(b);
}

static void has(const bench *b, const char *number, const char *unit)
{
    int i = cst_model_number_find(b->m, number);
    if (i < 0) fail_msg("no number %s", number);
    same(b->d.leaf[i], cst_dimension_parse(unit), 1, number);
}

/* In laws s is a length or an angle and v its rate; a table has the dimension of what it stands
 * for; a unit that is written holds. All of them make Euler's sums hold. */
static void numbers_of_laws(void **state)
{
    (void)state;
    static const char text[] =
        "costate: 1\ngravity: [0.3, 0.1, -9.81]\nparameters: {k: {value: 80, unit: N/m}, n: 1.5, "
        "bare: 20 N/mm}\n"
        "points: {O: [0, 0, 0], A: [0.9, 0.1, -0.2], C: [0.2, 1.2, 0.4]}\n"
        "tables: {curve: {x: [-1, 0.2, 3], y: [0.1, 0.3, 0.2]}, soft: {x: [0, 0.4, 1], y: [3, 1, "
        "2], interpolation: cubic}}\n"
        "bodies: {arm: {type: bar, from: O, to: A, mass: 2, radius: 0.05}}\n"
        "joints: {h: {type: revolute, between: [ground, arm], at: O, axis: [0.2, 0.1, 1]}}\n"
        "measures: {p: {type: position, of: arm.A}, j: {type: joint, of: h}}\n"
        "forces:\n"
        "  a: {type: spring, from: ground.C, to: arm.A, force: k*(s - 0.9) + 2*v + 1.1}\n"
        "  b: {type: spring, from: ground.C, to: arm.A, force: k*s*(s/0.7)^n}\n"
        "  c: {type: torsion, between: [ground, arm], axis: [0.2, 0.1, 1], torque: 3*(s - 0.1) + "
        "0.2*v}\n"
        "  d: {type: spring, from: ground.C, to: arm.A, force: 0.3 kN/m*(s - 900 mm) + 4 N*s/m*v + "
        "bare*(s - s)}\n"
        "  e: {type: torque, on: arm, axis: z, magnitude: curve(j) + soft(t)}\n"
        "objectives: {x: mean(p.x), r: rms(p.y), q: \"peak(p.x, 30)\", w: end(norm(p))^1.5, u: "
        "integral(p.z), mm: 1000*end(p.z)}\n"
        "simulation: {end: 0.2, step: 0.01}\n";
    static const char *const unit[][2] = {
        {"a.force[1]", "m"}, {"a.force[2]", "N*s/m"}, {"a.force[3]", "N"},   {"b.force[1]", "m"},
        {"n", "1"},          {"c.torque[1]", "J"},    {"c.torque[2]", "1"},  {"d.force[1]", "N/m"},
        {"d.force[2]", "m"}, {"d.force[3]", "N*s/m"}, {"curve.y[2]", "N*m"}, {"soft.y[3]", "N*m"},
        {"bare", "N/m"}};
    static const char *const objectives[][2] = {
        {"x", "m"}, {"r", "m"}, {"q", "m"}, {"w", "m^1.5"}, {"u", "m*s"}};
    bench *b = bench_new(text, NULL);
    for (size_t i = 0; i < sizeof unit / sizeof *unit; i++) has(b, unit[i][0], unit[i][1]);
    expect_text(cst_model_number_unit(b->m, cst_model_number_find(b->m, "d.force[1]")),
                "N/m"); /* what is shown is SI */
    expect_text(cst_model_number_unit(b->m, cst_model_number_find(b->m, "d.force[2]")), "m");
    expect_text(cst_model_number_unit(b->m, cst_model_number_find(b->m, "bare")), "N/m");
    expect_near(cst_model_number_value(b->m, cst_model_number_find(b->m, "bare")), 2e4, 1e-15);
    const cst_gradient *g = cst_run_gradient(b->r, NULL, CST_ADJOINT, 0, NULL, &b->diag);
    if (!g) fail_msg("%s", b->diag.text);
    expect_int(b->d.objective[objective(b, "mm")].state,
               CST_DIMENSION_UNKNOWN); /* 1000 may be mm/m */
    for (int o = 0; o < 5; o++) {
        same(b->d.objective[objective(b, objectives[o][0])], cst_dimension_parse(objectives[o][1]),
             1, objectives[o][0]);
        for (int base = CST_MASS; base <= CST_LENGTH; base++) {
            size_t at = (size_t)o * (size_t)g->numbers;
            cst_scaling s = cst_scaling_check(&b->a, &b->d, base, o, g->value[o], g->numbers,
                                              b->value, g->slope + at, g->effect + at);
            if (s.verdict != CST_SCALING_HOLDS || s.guessed || s.ignored)
                fail_msg("%s, base %d: off %g, %d in the way %s", objectives[o][0], base, s.off,
                         s.ignored, s.why ? s.why : "");
        }
    }
    bench_free(b);
}

/* The reason that is given for an identity that fails is what breaks it, and no other objective's.
 * A start that has to change what is drawn is one only where the change depends on how turns are
 * compared with ways: not of a slide, nor of an equilibrium. */
static void reasons(void **state)
{
    (void)state;
    static const char text[] =
        "costate: 1\ngravity: [0.3, 0.1, -9.81]\npoints: {O: [0, 0, 0.2], C: [0.4, 0.1, 0.3]}\n"
        "tables: {profile: {x: [-1, 0.2, 3], y: [0.1, 0.3, 0.2]}}\n"
        "bodies:\n  a: {type: box, position: O, size: [0.1, 0.2, 0.3], mass: 2, velocity: [0.5, 0, "
        "0]}\n"
        "  b: {type: point, position: C, mass: 3}\n"
        "joints: {j: {type: prismatic, between: [ground, a], at: O, axis: [1, 0.2, 0.1]}}\n"
        "forces: {f: {type: spring-damper, from: ground.O, to: b.C, stiffness: 400, damping: 3}}\n"
        "initial: {equilibrium: {hold: [p.x]}}\n"
        "measures: {p: {type: position, of: a.com}, q: {type: position, of: b}}\n"
        "objectives: {fine: end(p.x + q.x), grows: exp(end(p.x)), wave: integral(sin(p.x)), look: "
        "end(profile(p.x))}\n"
        "simulation: {end: 0.2, step: 0.01}\n";
    static const char *const why[] = {NULL, "exp is taken of a quantity that has a length",
                                      "sin is taken of", "abscissae of a table have a length"};
    bench *b = bench_new(text, NULL);
    const cst_gradient *g = cst_run_gradient(b->r, NULL, CST_ADJOINT, 0, NULL, &b->diag);
    if (!g) fail_msg("%s", b->diag.text);
    for (int o = 0; o < g->objectives; o++) {
        size_t at = (size_t)o * (size_t)g->numbers;
        cst_scaling s = cst_scaling_check(&b->a, &b->d, CST_LENGTH, o, g->value[o], g->numbers,
                                          b->value, g->slope + at, g->effect + at);
        expect_int(s.verdict, why[o] ? CST_SCALING_OPEN : CST_SCALING_HOLDS);
        if (why[o]) expect_contains(s.why, why[o]);
        if (o) continue;
        b->value[cst_model_number_find(b->m, "O.x")] = 1e-3,
                                             b->value[cst_model_number_find(b->m, "C.x")] *=
                                             2; /* a plain failure */
        s = cst_scaling_check(&b->a, &b->d, CST_LENGTH, o, g->value[o], g->numbers, b->value,
                              g->slope + at, g->effect + at);
        expect_int(s.verdict, CST_SCALING_FAILS);
        b->value[cst_model_number_find(b->m, "O.x")] = 0,
                                             b->value[cst_model_number_find(b->m, "C.x")] /= 2;
    }
    bench_free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(units_multiply),
        cmocka_unit_test(texts_return),
        cmocka_unit_test(dimensions_are_inferred),
        cmocka_unit_test(another_unit),
        cmocka_unit_test(euler_holds_and_misses_nobody),
        cmocka_unit_test(a_start_that_moves),
        cmocka_unit_test(sizes_of_numbers),
        cmocka_unit_test(a_hidden_length),
        cmocka_unit_test(weight_left_out),
        cmocka_unit_test(open_questions),
        cmocka_unit_test(literals_in_products),
        cmocka_unit_test(numbers_of_elements),
        cmocka_unit_test(numbers_of_laws),
        cmocka_unit_test(reasons),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
