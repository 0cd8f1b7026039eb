/* SPDX-License-Identifier: MIT
 *
 * Bodies that turn far in a step. A step in which one would turn by more than 2 rad is cut: what
 * comes out is the motion of the shorter steps, with a warning that names the body; a spin that no
 * step follows is an error. Multistep rules choose their own steps: with independent coordinates
 * they end where these are worn. */
#include "expect.h"
#include "pairs.h"

static cst_diag diag;

typedef struct outcome {
    double p[3], w[3];
    cst_status status;
    cst_stats stats;
} outcome;

/* A wheel on a hinge with the spin w0 and the torque M about it; its moment of inertia is 1 */
static outcome spin(const char *formulation, const char *integrator, double w0, double M,
                    double step, double end)
{
    char text[1024], set[64];
    outcome y = {0};
    snprintf(
        text, sizeof text,
        "costate: 1\ngravity: [0, 0, 0]\npoints: {O: [0, 0, 0], Z: [0, 0, 0.1], R: [0.5, 0, 0]}\n"
        "bodies: {wheel: {type: cylinder, from: O, to: Z, radius: 0.5, mass: 8, angular_velocity: "
        "[0, 0, %.17g]}}\n"
        "joints: {hub: {type: revolute, between: [ground, wheel], at: O, axis: z}}\n"
        "forces: {motor: {type: torque, on: wheel, torque: [0, 0, %.17g]}}\n"
        "measures: {p: {type: position, of: wheel.R}, w: {type: angular-velocity, of: wheel}}\n",
        w0, M);
    snprintf(set, sizeof set, "simulation.formulation=%s", formulation);
    memset(&diag, 0, sizeof diag);
    cst_model *m =
        cst_model_parse("wheel.yaml", text, strlen(text), 1, (const char *const[]){set}, &diag);
    cst_options o = cst_options_default();
    o.step = step, o.end = end, o.integrator = integrator;
    cst_run *r = m ? cst_run_new(m, &o, &diag) : NULL;
    expect_text(diag.text, "");
    y.status = cst_run_simulate(r, NULL, NULL, NULL, &diag);
    for (int i = 0; i < 3; i++) y.p[i] = cst_run_measure(r, i), y.w[i] = cst_run_measure(r, 3 + i);
    y.stats = cst_run_stats(r);
    cst_run_free(r);
    cst_model_free(m);
    return y;
}

/* 2.5 rad in a step: two of 1.25 rad each; where the entries of directions are coordinates, nine */
static void cut(const cst_formulation *f, const char *integrator, void *ctx)
{
    (void)ctx;
    const cst_rule *rule = cst_rule_find(integrator);
    int n = (f->traits & CST_CHARTED) && !(f->traits & CST_JOINTS) ? 9 : 2;
    if (rule->begin || rule->adaptive == 1) return;
    outcome whole = spin(f->name, rule->name, 250, 0, 0.01, 0.03);
    expect_int(diag.warnings, 1);
    expect_contains(
        diag.text,
        "wheel.yaml:4:10: warning: t = 0 s: body 'wheel' turns by 2.5 rad in a step of 0.01 s");
    outcome parts = spin(f->name, rule->name, 250, 0, 0.01 / n, 0.03);
    expect_text(diag.text, "");
    if (parts.stats.shortened) return; /* midpoint: chords, which need shorter steps still */
    expect_int(whole.stats.steps, 3 * n);
    expect_int(parts.stats.steps, 3 * n);
    for (int i = 0; i < 3; i++)
        expect_near(whole.p[i], parts.p[i], 1e-11), expect_near(whole.w[i], parts.w[i], 1e-11);
}

static void a_long_step_is_cut(void **state)
{
    (void)state;
    for_each_pair(0, cut, NULL);
}

/* From rest the first step comes to 3.5 rad per step: it is taken again, shorter. w = M t, exact
 * with rotation vectors. */
static void started(const cst_formulation *f, const char *integrator, void *ctx)
{
    (void)ctx;
    const cst_rule *rule = cst_rule_find(integrator);
    if (strcmp(rule->name, "trapezoid") != 0 && strcmp(rule->name, "generalized-alpha") != 0)
        return;
    outcome y = spin(f->name, rule->name, 0, 3.5e4, 0.01, 0.01);
    expect_int(y.status, CST_OK);
    expect_int(y.stats.shortened, 1);
    expect_int(y.stats.steps, 3); /* one in vain */
    expect_near(y.w[2], 350, 1e-9);
}

static void a_step_that_speeds_up_is_cut(void **state)
{
    (void)state;
    for_each_pair(0, started, NULL);
}

/* Newmark's rule from rest: 7 rad to go, of which it would find none. w comes within the error of a
 * step on a chord, and falls with it. */
static void a_start_that_loses_turns(void **state)
{
    (void)state;
    outcome y = spin("index3", "newmark", 0, 7e4, 0.01, 0.01);
    expect_contains(
        diag.text,
        "wheel.yaml:4:10: warning: t = 0 s: body 'wheel' speeds up too much for a step of 0.01 s");
    expect_true(y.stats.shortened > 0 && y.w[2] > 350);
    y = spin("index3", "newmark", 0, 7e4, 1e-4, 0.01);
    expect_text(diag.text, "");
    expect_near(y.w[2], 700, 1);
    y = spin("index3", "newmark", 0, 1.5e4, 0.01, 0.01); /* 0.75 rad */
    expect_text(diag.text, "");
    expect_int(y.stats.shortened, 0);
}

static void nothing_follows(const cst_formulation *f, const char *integrator, void *ctx)
{
    (void)ctx;
    const cst_rule *rule = cst_rule_find(integrator);
    if (rule->begin) return;
    outcome y = spin(f->name, rule->name, 1e9, 0, 0.01, 0.1);
    expect_int(y.status, CST_NUMERIC);
    expect_contains(
        diag.text,
        "wheel.yaml:4:10: error: t = 0 s: body 'wheel' turns by 10 rad even in a step of 1e-08 s");
}

static void a_spin_that_no_step_follows(void **state)
{
    (void)state;
    for_each_pair(0, nothing_follows, NULL);
}

/* The grid of results is longer than half a turn: w stays what it is */
static void turning(const cst_formulation *f, const char *integrator, void *ctx)
{
    (void)ctx;
    const cst_rule *rule = cst_rule_find(integrator);
    if (!rule->begin) return;
    outcome y = spin(f->name, rule->name, 320, 0, 0.01, 0.1);
    expect_text(diag.text, "");
    expect_near(y.w[2], 320, 1e-3);
    expect_near(y.p[0], 0.5 * cos(32), 1e-2);
    expect_near(y.p[1], 0.5 * sin(32), 1e-2);
}

static void multistep_rules_turn_on(void **state)
{
    (void)state;
    for_each_pair(0, turning, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_long_step_is_cut),       cmocka_unit_test(a_step_that_speeds_up_is_cut),
        cmocka_unit_test(a_start_that_loses_turns), cmocka_unit_test(a_spin_that_no_step_follows),
        cmocka_unit_test(multistep_rules_turn_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
