/* SPDX-License-Identifier: MIT
 *
 * The multistep integrators: motions tend to reference values with the tolerance, at any grid of results; events are met as
 * by the other integrators; discrete methods are refused by name. */
#include "reference.h"

#include <stdlib.h>
#include <string.h>

static const struct { const char *formulation, *integrator; } pairs[] = {
    {"index1", "bdf"}, {"index1", "adams"}, {"penalty", "bdf"}, {"penalty", "adams"}, {"maggi", "bdf"}, {"maggi", "adams"}};
enum { PAIRS = sizeof pairs / sizeof *pairs };

static void open_pair(cst_test_run *t, const char *path, int pair, double tolerance, double step, double end)
{
    cst_options o = cst_options_default();
    o.step = step, o.end = end, o.tolerance = tolerance;
    o.formulation = pairs[pair].formulation, o.integrator = pairs[pair].integrator;
    memset(&t->d, 0, sizeof t->d);
    t->m = cst_model_load(path, 0, NULL, &t->d);
    run_check(t, t->m != NULL);
    t->r = cst_run_new(t->m, &o, &t->d);
    run_check(t, t->r != NULL);
}

/* shared/reference/five-bar: psi after 5 s */
static void test_motion(void **state)
{
    (void)state;
    const double psi = 0.726877461313003;
    for (int k = 0; k < PAIRS; k++) {
        double error[2];
        for (int fine = 0; fine < 2; fine++) {
            cst_test_run t;
            open_pair(&t, EXAMPLE("five-bar"), k, fine ? 1e-9 : 1e-5, fine ? 0.1 : 0.01, 5);
            run_check(&t, cst_run_simulate(t.r, NULL, NULL, NULL, &t.d) == CST_OK);
            error[fine] = fabs(cst_run_objective(t.r, 0) - psi);
            run_close(&t);
        }
        print_message("%s %s: %.1e, %.1e\n", pairs[k].formulation, pairs[k].integrator, error[0], error[1]);
        expect_true(error[0] < 2e-3);
        expect_true(error[1] < 3e-7);
    }
}

/* A ball that a damped ground catches: the contact's mode changes. The same flight as by the default integrator. */
static const char *ball = "costate: 1\n"
                          "gravity: [0, 0, -9.81]\n"
                          "bodies: {b: {type: point, position: [0, 0, 0.2], mass: 2}}\n"
                          "measures: {p: {type: position, of: b.com}}\n"
                          "forces: {floor: {type: stop, of: p.z, lower: 0, stiffness: 2000, damping: 30}}\n"
                          "objectives: {z: end(p.z), w: integral(p.z)}\n"
                          "simulation: {end: 1.1, step: 1 ms}\n";

static double fly(const char *formulation, const char *integrator, double tolerance, double step, double *z)
{
    cst_test_run t = {0};
    cst_options o = cst_options_default();
    o.formulation = formulation, o.integrator = integrator, o.tolerance = tolerance, o.step = step;
    t.m = cst_model_parse("ball.yaml", ball, strlen(ball), 0, NULL, &t.d);
    run_check(&t, t.m != NULL);
    t.r = cst_run_new(t.m, &o, &t.d);
    run_check(&t, t.r != NULL);
    run_check(&t, cst_run_simulate(t.r, NULL, NULL, NULL, &t.d) == CST_OK);
    *z = cst_run_objective(t.r, 0);
    double w = cst_run_objective(t.r, 1);
    run_close(&t);
    return w;
}

static void test_events(void **state)
{
    (void)state;
    double z, z1, w = fly("index1", "rk4", 0, 1e-4, &z);
    for (int i = 0; i < 2; i++)
        for (int coarse = 0; coarse < 2; coarse++) { /* a grid that is longer than the contact, too */
            double w1 = fly("index1", i ? "adams" : "bdf", 1e-10, coarse ? 0.11 : 1e-3, &z1);
            expect_near(z1, z, 1e-7);
            expect_near(w1, w, 1e-7);
        }
}

static void test_refusal(void **state)
{
    (void)state;
    static const cst_method refused[] = {CST_ADJOINT, CST_DIRECT};
    for (int i = 0; i < 2; i++) {
        cst_test_run t;
        open_pair(&t, EXAMPLE("pendulum"), 0, 1e-6, 1e-2, 0.1);
        expect_true(cst_run_gradient(t.r, NULL, refused[i], 0, NULL, &t.d) == NULL);
        expect_true(strstr(t.d.text, "'bdf'") && strstr(t.d.text, "continuous-adjoint"));
        run_close(&t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_motion),
        cmocka_unit_test(test_events),
        cmocka_unit_test(test_refusal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
