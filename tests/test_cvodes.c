/* SPDX-License-Identifier: MIT
 *
 * The multistep integrators: motions tend to reference values with the tolerance, at any grid of
 * results; events are met as by the other integrators; gradients by CVODES' sensitivities and by
 * its adjoint tend to references and to each other; discrete methods are refused by name. */
#include "reference.h"

#include <stdlib.h>
#include <string.h>

static const struct {
    const char *formulation, *integrator;
} pairs[] = {{"index1", "bdf"}, {"index1", "adams"}, {"penalty", "bdf"}, {"penalty", "adams"},
             {"maggi", "bdf"},  {"maggi", "adams"},  {"joint", "bdf"},   {"joint", "adams"}};
enum { PAIRS = sizeof pairs / sizeof *pairs };

static void open_pair(cst_test_run *t, const char *path, int pair, double tolerance, double step,
                      double end)
{
    cst_options o = cst_options_default();
    o.step = step, o.end = end, o.tolerance = tolerance;
    o.formulation = pairs[pair].formulation, o.integrator = pairs[pair].integrator;
    memset(&t->d, 0, sizeof t->d);
    const char *joints[] = {
        "simulation.formulation=joint"}; /* its model has joint coordinates besides */
    t->m = cst_model_load(path, strcmp(o.formulation, "joint") == 0, joints, &t->d);
    run_check(t, t->m != NULL);
    t->r = cst_run_new(t->m, &o, &t->d);
    run_check(t, t->r != NULL);
}

/* The reference of the five-bar: psi after 2.5 s */
static void test_motion(void **state)
{
    (void)state;
    const double psi = 0.3102663095808;
    for (int k = 0; k < PAIRS; k++) {
        double error[2];
        for (int fine = 0; fine < 2; fine++) {
            cst_test_run t;
            open_pair(&t, EXAMPLE("five-bar"), k, fine ? 1e-9 : 1e-5, fine ? 0.1 : 0.01, 2.5);
            run_check(&t, cst_run_simulate(t.r, NULL, NULL, NULL, &t.d) == CST_OK);
            error[fine] = fabs(cst_run_objective(t.r, 0) - psi);
            run_close(&t);
        }
        print_message("%s %s: %.1e, %.1e\n", pairs[k].formulation, pairs[k].integrator, error[0],
                      error[1]);
        expect_true(error[0] < 2e-3);
        expect_true(error[1] < 3e-7);
    }
}

/* A ball that a damped ground catches: the contact's mode changes. The same flight as by the
 * default integrator. */
static const char *ball =
    "costate: 1\n"
    "gravity: [0, 0, -9.81]\n"
    "bodies: {b: {type: point, position: [0, 0, 0.2], mass: 2}}\n"
    "measures: {p: {type: position, of: b.com}}\n"
    "forces: {floor: {type: stop, of: p.z, lower: 0, stiffness: 2000, damping: 30}}\n"
    "objectives: {z: end(p.z), w: integral(p.z)}\n"
    "simulation: {end: 1.1, step: 1 ms}\n";

static double fly(const char *formulation, const char *integrator, double tolerance, double step,
                  double *z)
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
        for (int coarse = 0; coarse < 2;
             coarse++) { /* a grid that is longer than the contact, too */
            double w1 = fly("index1", i ? "adams" : "bdf", 1e-10, coarse ? 0.11 : 1e-3, &z1);
            expect_near(z1, z, 1e-7);
            expect_near(w1, w, 1e-7);
        }
}

/* ---- gradients ---- */

/* The same: dpsi/d(L01, L02). Both methods tend to it with the tolerance. */
static void test_five_bar(void **state)
{
    (void)state;
    static const double exact[] = {-1.4401893778412, 1.5710002921422};
    static const cst_method methods[] = {CST_CONTINUOUS_DIRECT, CST_CONTINUOUS_ADJOINT};
    for (int k = 0; k < PAIRS; k++)
        for (int j = 0; j < 2; j++) {
            double error[2] = {0};
            for (int fine = 0; fine < 2; fine++) {
                cst_test_run t;
                open_pair(&t, EXAMPLE("five-bar"), k, fine ? 1e-9 : 1e-6, 0.05, 2.5);
                int which[] = {cst_model_number_find(t.m, "L01"),
                               cst_model_number_find(t.m, "L02")};
                const cst_gradient *g = cst_run_gradient(t.r, NULL, methods[j], 2, which, &t.d);
                run_check(&t, g != NULL);
                for (int i = 0; i < 2; i++)
                    error[fine] = fmax(error[fine], fabs(g->slope[i] - exact[i]));
                run_close(&t);
            }
            print_message("%s %s %s: %.1e, %.1e\n", pairs[k].formulation, pairs[k].integrator,
                          cst_method_text(methods[j]), error[0], error[1]);
            expect_true(error[0] < 3e-4);
            expect_true(error[1] < 2e-6);
        }
}

/* |p (a - b)| over the largest |p a| of each objective */
static double apart(const cst_test_run *t, const cst_gradient *g, const double *a)
{
    double worst = 0;
    for (int o = 0; o < g->objectives; o++) {
        double size = 0, off = 0;
        for (int i = 0; i < g->numbers; i++) {
            double p = fabs(cst_model_number_value(t->m, g->number[i])), x = a[o * g->numbers + i],
                   y = g->slope[o * g->numbers + i];
            if (isnan(x) || isnan(y)) continue;
            if (p == 0) p = 1;
            size = fmax(size, p * fabs(y)), off = fmax(off, p * fabs(x - y));
        }
        worst = fmax(worst, size > 0 ? off / size : 0);
    }
    return worst;
}

/* All numbers of a model by the two methods of CVODES, and by the adjoint of an own integrator at a
 * fine step */
static void agrees(const char *path, double end, double step, int first, double limit)
{
    cst_test_run t = {0};
    cst_options o = cst_options_default();
    o.formulation = "maggi", o.integrator = "rk4", o.step = step, o.end = end;
    t.m = cst_model_load(path, 0, NULL, &t.d);
    run_check(&t, t.m != NULL);
    t.r = cst_run_new(t.m, &o, &t.d);
    const cst_gradient *g = cst_run_gradient(t.r, NULL, CST_ADJOINT, 0, NULL, &t.d);
    run_check(&t, g != NULL);
    size_t n = (size_t)(g->objectives * g->numbers);
    double *own = malloc(sizeof *own * (n + 1)), *adjoint = malloc(sizeof *adjoint * (n + 1));
    int numbers = g->numbers;
    memcpy(own, g->slope, sizeof *own * n);
    run_close(&t);
    int some[64],
        count = 0; /* of the direct method, which costs as many sweeps as there are numbers */
    for (int i = 0; i < numbers && count < 64; i += 1 + numbers / 8) some[count++] = i;
    for (int k = first; k < PAIRS; k += 2) { /* the integrators take turns */
        open_pair(&t, path, k, 1e-9, step, end);
        g = cst_run_gradient(t.r, NULL, CST_CONTINUOUS_ADJOINT, 0, NULL, &t.d);
        run_check(&t, g != NULL);
        double off = apart(&t, g, own);
        g = cst_run_gradient(t.r, NULL, CST_CONTINUOUS_ADJOINT, count, some, &t.d);
        run_check(&t, g != NULL);
        memcpy(adjoint, g->slope, sizeof *adjoint * (size_t)(g->objectives * count));
        g = cst_run_gradient(t.r, NULL, CST_CONTINUOUS_DIRECT, count, some, &t.d);
        run_check(&t, g != NULL);
        double between = apart(&t, g, adjoint);
        print_message("%s %s: %.1e from the own adjoint, %.1e from each other\n",
                      pairs[k].formulation, pairs[k].integrator, off, between);
        expect_true(off < limit);
        expect_true(between < limit);
        run_close(&t);
    }
    free(own), free(adjoint);
}

static void test_all_numbers(void **state)
{
    (void)state;
    agrees(EXAMPLE("pendulum"), 1, 2e-3, 0, 2e-6);
    agrees(EXAMPLE("slider-crank"), 0.5, 2e-3, 1, 2e-6);
    agrees(EXAMPLE("quarter-car"), 0.1, 1e-3, 0, 2e-6);
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

/* An oscillator of 1e6 rad/s over an interval of 10 s: adams would need millions of steps, and says
 * so instead */
static void test_no_progress(void **state)
{
    (void)state;
    static const char text[] =
        "costate: 1\ngravity: [0, 0, 0]\npoints: {P: [1, 0, 0]}\nbodies: {b: {type: point, "
        "position: P, mass: 1}}\n"
        "measures: {p: {type: position, of: b.origin}}\n"
        "forces: {f: {type: force, on: b.origin, force: [\"-1e12*p.x\", 0, 0]}}\n";
    cst_test_run t = {0};
    cst_options o = cst_options_default();
    o.step = o.end = 10, o.formulation = "index1", o.integrator = "adams";
    t.m = cst_model_parse("model.yaml", text, strlen(text), 0, NULL, &t.d);
    run_check(&t, t.m != NULL);
    t.r = cst_run_new(t.m, &o, &t.d);
    run_check(&t, t.r != NULL);
    expect_int(cst_run_simulate(t.r, NULL, NULL, NULL, &t.d), CST_NUMERIC);
    expect_contains(t.d.text, "CVODES stopped: its steps have become too short");
    run_close(&t);
}

/* A parallelogram that comes to lie in a line: the slope by the length of its rod has no bound
 * there. Sensitivities and costates stop, and say when, instead of taking ever shorter steps. */
static void test_unbounded(void **state)
{
    (void)state;
    static const char text[] =
        "costate: 1\ngravity: [0, 0, 0]\nparameters: {w: 2, lc: 1}\n"
        "points: {A: [0, 0, 0], D: [1, 0, 0], B: [0.3, 0.4, 0], C: [1.3, 0.4, 0]}\n"
        "bodies:\n  crank: {type: bar, from: A, to: B, mass: 1, radius: 0.01}\n"
        "  rocker: {type: bar, from: D, to: C, mass: 1.5, radius: 0.01}\n"
        "joints:\n  a: {type: revolute, between: [ground, crank], at: A, axis: z}\n"
        "  d: {type: revolute, between: [ground, rocker], at: D, axis: z}\n"
        "  rod: {type: distance, from: crank.B, to: rocker.C, length: lc}\n"
        "forces: {q: {type: torque, on: crank, axis: z, magnitude: 0.3, against: ground}}\n"
        "measures: {th: {type: angle, between: [ground, crank], axis: z}, ph: {type: angle, "
        "between: [ground, rocker], axis: z}}\n"
        "initial: {velocities: {th: -w}}\nobjectives: {e: end(ph)}\nsimulation: {end: 0.8, step: 4 "
        "ms}\n";
    for (int k = 0; k < 2; k++) {
        cst_test_run t = {0};
        cst_options o = cst_options_default();
        o.formulation = "maggi", o.integrator = k ? "adams" : "bdf";
        t.m = cst_model_parse("model.yaml", text, strlen(text), 0, NULL, &t.d);
        run_check(&t, t.m != NULL);
        t.r = cst_run_new(t.m, &o, &t.d);
        run_check(&t, t.r != NULL);
        int lc = cst_model_number_find(t.m, "lc");
        expect_true(!cst_run_gradient(t.r, NULL, k ? CST_CONTINUOUS_ADJOINT : CST_CONTINUOUS_DIRECT,
                                      1, &lc, &t.d));
        expect_contains(t.d.text, "t = 0.588");
        expect_contains(t.d.text, "CVODES stopped: its steps have become too short");
        run_close(&t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_motion),    cmocka_unit_test(test_events),
        cmocka_unit_test(test_five_bar),  cmocka_unit_test(test_all_numbers),
        cmocka_unit_test(test_refusal),   cmocka_unit_test(test_no_progress),
        cmocka_unit_test(test_unbounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
