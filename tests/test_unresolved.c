/* SPDX-License-Identifier: MIT
 *
 * Steps far longer than the fastest vibrations of a model. */
#include "load_text.h"

typedef struct loaded {
    cst_model *m;
    cst_run *r;
} loaded;

static loaded load(const char *text)
{
    loaded t = {.m = parse(text)};
    t.r = cst_run_new(t.m, NULL, &diag);
    if (!t.r) fail_msg("%s", diag.text);
    return t;
}

static void drop(loaded t)
{
    cst_run_free(t.r);
    cst_model_free(t.m);
}

/* A step a thousand times longer than the period of the beam's length: Newton's method converges in
 * it, no step is shortened, and so the objective is smooth in the numbers. */
static void a_beam_takes_long_steps(void **state)
{
    (void)state;
    loaded t =
        load("gravity: [8, 5.5, -0.1]\n"
             "points: {A: [0, 0, 0], B: [-0.1, -1.25, 0.75], C: [0.5, -1, 0.4]}\n"
             "bodies:\n"
             "  beam: {type: beam, from: A, to: B, elements: 3, modulus: 6.4e12, density: 2280, "
             "area: 1.07e-4, second_moment: 9.5e-10}\n"
             "  bar: {type: bar, from: B, to: C, mass: 1, radius: 0.1}\n"
             "joints:\n"
             "  a: {type: revolute, between: [ground, beam], at: A, axis: [0.8, 0.3, 0.6]}\n"
             "  b: {type: spherical, between: [beam, bar], at: B}\n"
             "measures: {c: {type: position, of: bar.C}}\n"
             "objectives: {phi: \"integral(dot(c, c))\"}\n"
             "simulation: {end: 0.48, step: 0.012}\n");
    enum { STEPS = 40, FEW = 9, SIDES = 4 };
    int n = cst_model_number_count(t.m), radius = cst_model_number_find(t.m, "bar.radius");
    double *p = calloc((size_t)n + 1, sizeof *p), by = 1e-6, y[SIDES];
    for (int i = 0; i < n; i++) p[i] = cst_model_number_value(t.m, i);
    const cst_gradient *g = cst_run_gradient(t.r, NULL, CST_ADJOINT, 1, &radius, &diag);
    if (!g) fail_msg("%s", diag.text);
    double slope = g->slope[0], at = p[radius];
    for (int i = 0; i < SIDES; i++) {
        p[radius] = at + by * (i < 2 ? i - 2 : i - 1);
        expect_true(cst_run_simulate(t.r, p, NULL, NULL, &diag) == CST_OK);
        y[i] = cst_run_objective(t.r, 0);
        expect_int(cst_run_stats(t.r).steps, STEPS);
        expect_true(cst_run_stats(t.r).iterations <= FEW * STEPS);
    }
    expect_near((y[0] - 8 * y[1] + 8 * y[2] - y[3]) / (12 * by), slope, 1e-4 * fabs(slope));
    free(p);
    drop(t);
}

/* A drive pulls a rope taut at (2 + 1) - sqrt(5) s, where the run ends. What the message says
 * beside that depends on omega = sqrt(k (1 + c)), where c, from 0 to 1, is the part of the other
 * mass that moves. */
static void ends(double stiffness)
{
    char text[1000];
    snprintf(text, sizeof text,
             "gravity: [0, 0, 0]\n"
             "points: {O: [0, 0, 0], S: [2, 0, 0], P: [0, 1, 0], Q: [0, 2, 1]}\n"
             "bodies:\n"
             "  a: {type: point, mass: 1, position: P}\n"
             "  b: {type: point, mass: 1, position: Q}\n"
             "joints:\n"
             "  rope: {type: distance, from: ground.O, to: a.origin, length: 1}\n"
             "  pull: {type: drive-distance, from: ground.S, to: a.origin, length: sqrt(5) + t}\n"
             "forces: {spring: {type: spring, from: a.origin, to: b.origin, stiffness: %g}}\n"
             "simulation: {end: 1, step: 0.01}\n",
             stiffness);
    loaded t = load(text);
    expect_int(cst_run_simulate(t.r, NULL, NULL, NULL, &diag), CST_NUMERIC);
    expect_contains(diag.text, "t = 0.764");
    expect_near(cst_run_stats(t.r).time, 3 - sqrt(5), 0.01);
    drop(t);
}

static void a_failure_names_them(void **state)
{
    (void)state;
    ends(1e9);
    const char *said = strstr(diag.text, "h omega = ");
    expect_not_null(said);
    double fast = strtod(said + strlen("h omega = "), NULL), least = 0.01 * sqrt(1e9);
    expect_true(fast > 0.99 * least && fast < 1.01 * sqrt(2) * least);
    ends(1e2);
    expect_null(strstr(diag.text, "h omega"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_beam_takes_long_steps),
        cmocka_unit_test(a_failure_names_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
