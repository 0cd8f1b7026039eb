/* SPDX-License-Identifier: MIT
 *
 * Every formulation with every integrator that applies: its adjoint equals its direct derivative,
 * and both agree with differences; all converge to the same motion and gradient, each with the
 * order of its rule; quantities that a rule should conserve are conserved. */
#include "pairs.h"
#include "random_model.h"
#include "reference.h"

#include <stdlib.h>

#define JOINTS "simulation.formulation=joint"

/* The model of a test, and the same with joint coordinates: its numbers and objectives are the same
 */
static cst_model *joints;

static void load_both(cst_test_run *t, const char *path)
{
    t->m = cst_model_load(path, 0, NULL, &t->d);
    joints = cst_model_load(path, 1, (const char *[]){JOINTS}, &t->d);
    run_check(t, t->m && joints && cst_model_number_count(t->m) == cst_model_number_count(joints));
}

static void free_both(cst_test_run *t)
{
    cst_model_free(t->m);
    cst_model_free(joints);
}

static cst_run *open_with(cst_test_run *t, const char *formulation, const char *integrator,
                          double step, double end)
{
    cst_options o = cst_options_default();
    o.step = step, o.end = end, o.formulation = formulation, o.integrator = integrator;
    t->r = cst_run_new(strcmp(formulation, "joint") == 0 ? joints : t->m, &o, &t->d);
    run_check(t, t->r != NULL);
    return t->r;
}

/* |p (a - b)| over the largest |p a| of each objective, and a thousandth of its unit: some are 0
 * but for rounding. Numbers that are refused are left out. */
static double apart(const cst_model *m, const cst_gradient *g, const double *a, const double *b)
{
    double worst = 0;
    for (int o = 0; o < g->objectives; o++) {
        double size = 0, off = 0;
        for (int i = 0; i < g->numbers; i++) {
            size_t k = (size_t)(o * g->numbers + i);
            double p = fabs(cst_model_number_value(m, g->number[i]));
            if (isnan(a[k]) || isnan(b[k])) continue;
            if (p == 0) p = 1;
            size = fmax(size, p * fabs(a[k])), off = fmax(off, p * fabs(a[k] - b[k]));
        }
        worst = fmax(worst, off / (size + 1e-3 * (1 + fabs(g->value[o]))));
    }
    return worst;
}

typedef struct adjoint_case {
    cst_test_run t;
    double step, end;
    double worst;
    int failed;
} adjoint_case;

/* adjoint = direct for all numbers of the model */
static void adjoint_is_direct(const cst_formulation *f, const char *integrator, void *ctx)
{
    adjoint_case *c = ctx;
    /* u' and lambda that are unknowns of a step are positions over h^2, with their rounding: not at
     * short steps */
    double longer = cst_rule_find(integrator)->carries && c->step < 8e-3 ? 8e-3 / c->step : 1;
    cst_run *r = open_with(&c->t, f->name, integrator, c->step * longer, c->end * longer);
    const cst_gradient *g = cst_run_gradient(r, NULL, CST_ADJOINT, 0, NULL, &c->t.d);
    if (!g) print_error("%s %s\n", f->name, integrator);
    run_check(&c->t, g != NULL);
    size_t n = (size_t)(g->objectives * g->numbers);
    double *adjoint = malloc(sizeof *adjoint * (n + 1));
    memcpy(adjoint, g->slope, sizeof *adjoint * n);
    g = cst_run_gradient(r, NULL, CST_DIRECT, 0, NULL, &c->t.d);
    run_check(&c->t, g != NULL);
    double off = apart(c->t.m, g, adjoint, g->slope);
    double limit =
        f->traits & CST_COMPLIANT
            ? 1e-6
            : 1e-9; /* lambda* = alpha (phi'' + ...): rounding of phi'' times alpha = 1e9 */
    if (!(off < limit))
        print_error("%s %s: adjoint and direct are %.2g apart\n", f->name, integrator, off);
    expect_true(off < limit);
    c->worst = fmax(c->worst, off);
    free(adjoint);
    cst_run_free(r);
}

static void example_is_exact(const char *path, double step, double end)
{
    adjoint_case c = {.step = step, .end = fmax(4 * step, end / expect_rounds(4, 1))};
    load_both(&c.t, path);
    for_each_pair(1, adjoint_is_direct, &c);
    free_both(&c.t);
}

static void test_adjoint_is_direct(void **state)
{
    (void)state;
    example_is_exact(EXAMPLE("five-bar"), 1e-2, 0.3);
    example_is_exact(EXAMPLE("slider-crank"), 1e-2, 0.3);
    example_is_exact(EXAMPLE("pendulum"), 1e-2, 0.5);
    example_is_exact(EXAMPLE("bricard"), 1e-2, 0.2);
    example_is_exact(EXAMPLE("quarter-car"), 1e-3, 0.02);
}

/* Random mechanisms, open, closed and driven, with element states: the same law */
static void test_random(void **state)
{
    (void)state;
    static const random_kind kinds[] = {RANDOM_TREE, RANDOM_PLANAR, RANDOM_CLOSED, RANDOM_DRIVEN};
    static random_model g;
    for (int k = expect_rounds(1, 0); k < 4; k += expect_rounds(2, 1))
        for (uint64_t seed = 1; seed <= (uint64_t)expect_rounds(1, 2); seed++) {
            adjoint_case c = {.step = 2e-3, .end = 0.01};
            random_model_write(
                &g, seed,
                &(random_options){.kind = kinds[k], .objectives = 2, .step = 2e-3, .steps = 5});
            c.t.m = cst_model_parse("random.yaml", g.text, strlen(g.text), 0, NULL, &c.t.d);
            joints = cst_model_parse("random.yaml", g.text, strlen(g.text), 1,
                                     (const char *[]){JOINTS}, &c.t.d);
            run_check(&c.t, c.t.m && joints);
            for_each_pair(1, adjoint_is_direct, &c);
            free_both(&c.t);
        }
}

/* psi and its gradient of the five-bar tend to the exact values with the order of the rule */
static void converges(const cst_formulation *f, const char *integrator, void *ctx)
{
    static const double exact[] = {-4.22881085524, 3.21160410299};
    const cst_rule *rule = cst_rule_find(integrator);
    cst_test_run *t = ctx;
    double error[2] = {0};
    if (rule->adaptive) return;
    int fourth = strcmp(integrator, "rk4") == 0;
    int which[] = {cst_model_number_find(t->m, "L01"), cst_model_number_find(t->m, "L02")};
    for (int k = 0; k < 2; k++) {
        cst_run *r = open_with(t, f->name, integrator, (fourth ? 0.02 : 0.01) / (1 << k), 5);
        const cst_gradient *g = cst_run_gradient(r, NULL, CST_ADJOINT, 2, which, &t->d);
        run_check(t, g != NULL);
        for (int i = 0; i < 2; i++) error[k] += fabs(g->slope[i] - exact[i]);
        cst_run_free(r);
    }
    print_message("%s %s: errors %.1e, %.1e\n", f->name, integrator, error[0], error[1]);
    expect_true(error[1] < 2e-3);
    expect_true(error[0] / error[1] > (fourth ? 10 : 3.6));
    expect_true(fourth || error[0] / error[1] < 4.4);
}

static void test_convergence(void **state)
{
    (void)state;
    cst_test_run t = {0};
    load_both(&t, EXAMPLE("five-bar"));
    for_each_pair(1, converges, &t);
    free_both(&t);
}

/* The continuous methods on the same states: within 0.3 % at a step of 0.01 s, second order */
static void continuous(const cst_formulation *f, const char *integrator, void *ctx)
{
    static const double exact[] = {-4.22881085524, 3.21160410299};
    cst_test_run *t = ctx;
    int which[] = {cst_model_number_find(t->m, "L01"), cst_model_number_find(t->m, "L02")};
    if (strncmp(f->integrators, integrator, strlen(integrator)) != 0)
        return; /* the default of each will do */
    for (cst_method method = CST_CONTINUOUS_DIRECT; method <= CST_CONTINUOUS_ADJOINT; method++) {
        double error[2] = {0};
        for (int k = 0; k < 2; k++) {
            cst_run *r = open_with(t, f->name, integrator, 0.01 / (1 << k), 5);
            const cst_gradient *g = cst_run_gradient(r, NULL, method, 2, which, &t->d);
            run_check(t, g != NULL);
            for (int i = 0; i < 2; i++) error[k] = fmax(error[k], fabs(g->slope[i] / exact[i] - 1));
            cst_run_free(r);
        }
        print_message("%s %s, %d: errors %.1e, %.1e\n", f->name, integrator, (int)method, error[0],
                      error[1]);
        expect_true(error[0] < 3e-3);
        expect_true(error[0] / error[1] > 3.5);
    }
}

static void test_continuous(void **state)
{
    (void)state;
    cst_test_run t = {0};
    load_both(&t, EXAMPLE("five-bar"));
    for_each_pair(1, continuous, &t);
    free_both(&t);
}

/* Constraints of the penalty formulation give way as 1/alpha, and lambda* tends to the multiplier
 */
static void test_penalty(void **state)
{
    (void)state;
    cst_test_run t = {0};
    t.m = cst_model_load(EXAMPLE("pendulum"), 0, NULL, &t.d);
    run_check(&t, t.m != NULL);
    double tension[4];
    for (int k = 0; k < 4; k++) {
        cst_options o = cst_options_default();
        o.step = 1e-3, o.end = 0.5, o.formulation = k ? "penalty" : "index1",
        o.alpha = pow(10, 4 + 2 * k);
        t.r = cst_run_new(t.m, &o, &t.d);
        run_check(&t, t.r && cst_run_simulate(t.r, NULL, NULL, NULL, &t.d) == CST_OK);
        tension[k] = cst_run_measure(t.r, run_find(&t, "R.tension"));
        cst_run_free(t.r);
    }
    for (int k = 1; k < 3; k++)
        expect_true(fabs(tension[k + 1] - tension[0]) < 0.02 * fabs(tension[k] - tension[0]));
    cst_model_free(t.m);
}

/* The variational rule keeps the momentum of a symmetry, that of the heavy top about the vertical,
 * whatever its steps */
static int watch_momentum(void *ctx, double t, const double *measures, int n)
{
    double *range = ctx;
    (void)t, (void)n;
    double L = measures[(int)range[0]];
    range[1] = fmin(range[1], L), range[2] = fmax(range[2], L);
    return 0;
}

static void test_momentum(void **state)
{
    (void)state;
    cst_test_run t = {0};
    t.m = cst_model_load(EXAMPLE("heavy-top"), 0, NULL, &t.d);
    run_check(&t, t.m != NULL);
    for (int k = 0; k < 2; k++) {
        cst_options o = cst_options_default();
        o.step = 1e-3, o.end = 1, o.formulation = "variational", o.tolerance = k ? 1e-5 : 0;
        t.r = cst_run_new(t.m, &o, &t.d);
        run_check(&t, t.r != NULL);
        double range[] = {run_find(&t, "Lz"), INFINITY, -INFINITY};
        run_check(&t, cst_run_simulate(t.r, NULL, watch_momentum, range, &t.d) == CST_OK);
        print_message("Lz between %.15g and %.15g in %ld steps\n", range[1], range[2],
                      cst_run_stats(t.r).steps);
        expect_true(range[2] - range[1] < 1e-11 * fabs(range[1]));
        cst_run_free(t.r);
    }
    cst_model_free(t.m);
}

/* Two bars that hang on each other, in the angles a1, a2 against the downward vertical: the classic
 * rule on their two equations of motion, written by hand, gives the same numbers as joint
 * coordinates do. */
static void double_pendulum(const double y[4], double f[4])
{
    enum { A1, A2, W1, W2 };
    const double m1 = 1, m2 = 2, l1 = 1, l2 = 0.5, g = 9.81;
    double c = m2 * l1 * l2 / 2 * cos(y[A1] - y[A2]), s = m2 * l1 * l2 / 2 * sin(y[A1] - y[A2]);
    double a = (m1 / 3 + m2) * l1 * l1, b = m2 * l2 * l2 / 3;
    double r1 = -s * y[W2] * y[W2] - (m1 / 2 + m2) * g * l1 * sin(y[A1]),
           r2 = s * y[W1] * y[W1] - m2 / 2 * g * l2 * sin(y[A2]);
    f[A1] = y[W1], f[A2] = y[W2];
    f[W1] = (b * r1 - c * r2) / (a * b - c * c), f[W2] = (a * r2 - c * r1) / (a * b - c * c);
}

static void classic(double h, double y[4])
{
    double k[4][4], x[4];
    static const double at[] = {0, 0.5, 0.5, 1};
    for (int i = 0; i < 4; i++) {
        for (int j = 0; j < 4; j++) x[j] = y[j] + (i ? at[i] * h * k[i - 1][j] : 0);
        double_pendulum(x, k[i]);
    }
    for (int j = 0; j < 4; j++) y[j] += h / 6 * (k[0][j] + 2 * k[1][j] + 2 * k[2][j] + k[3][j]);
}

static void test_joint_coordinates(void **state)
{
    (void)state;
    const double h = 5e-3, half = acos(0.0); /* drawn level */
    double y[4] = {half, half};
    cst_test_run t = {0};
    load_both(&t, EXAMPLE("double-pendulum"));
    cst_run *r = open_with(&t, "joint", "rk4", h, 2);
    run_check(&t, cst_run_simulate(r, NULL, NULL, NULL, &t.d) == CST_OK);
    for (int i = 0; i < 400; i++) classic(h, y);
    const double expected[] = {
        sin(y[0]), -cos(y[0]), sin(y[0]) + sin(y[1]) / 2, -cos(y[0]) - cos(y[1]) / 2, y[2], y[3]};
    static const char *const name[] = {"p1.x", "p1.y", "p2.x", "p2.y", "w1.z", "w2.z"};
    for (int i = 0; i < 6; i++)
        expect_near(cst_run_measure(r, run_find(&t, name[i])), expected[i], 1e-9);
    cst_run_free(r);
    free_both(&t);
}

/* index3 and augmented are the same motion; both go through the singular positions of the
 * four-bars, where rounding grows */
static double augmented_apart(const char *path, double step, double end)
{
    cst_test_run t = {0};
    double at_end[2][64], apart_by = 0;
    t.m = cst_model_load(path, 0, NULL, &t.d);
    run_check(&t, t.m != NULL);
    int n = cst_model_measure_count(t.m) < 64 ? cst_model_measure_count(t.m) : 64;
    for (int k = 0; k < 2; k++) {
        cst_run *r = open_with(&t, k ? "augmented" : "index3", "default", step, end);
        run_check(&t, cst_run_simulate(r, NULL, NULL, NULL, &t.d) == CST_OK);
        for (int i = 0; i < n; i++) at_end[k][i] = cst_run_measure(r, i);
        cst_run_free(r);
    }
    for (int i = 0; i < n; i++)
        apart_by = fmax(apart_by, fabs(at_end[1][i] - at_end[0][i]) / (1 + fabs(at_end[0][i])));
    cst_model_free(t.m);
    return apart_by;
}

static void test_augmented(void **state)
{
    (void)state;
    expect_true(augmented_apart(EXAMPLE("five-bar"), 1e-2, 2) < 1e-10);
    expect_true(augmented_apart(EXAMPLE("bricard"), 1e-2, 2) < 1e-10);
    expect_true(augmented_apart(EXAMPLE("n-four-bar"), 1e-3, 3) < 1e-5);
}

/* As costate.h says: joint coordinates are chosen when the model is loaded, and do not keep others
 * from it. */
static void test_joint_is_loaded(void **state)
{
    (void)state;
    cst_test_run t = {0};
    load_both(&t, EXAMPLE("five-bar"));
    cst_options o = cst_options_default();
    o.formulation = "joint", o.end = 0.02;
    expect_null(cst_run_new(t.m, &o, &t.d));
    expect_contains(t.d.text, "the model has no joint coordinates: load it with " JOINTS);
    t.d = (cst_diag){0};
    for (int k = 0; k < 2; k++) {
        o.formulation = k ? "index3" : "joint", o.integrator = k ? "newmark" : "rk4";
        cst_run *r = cst_run_new(joints, &o, &t.d);
        run_check(&t, r && cst_run_simulate(r, NULL, NULL, NULL, &t.d) == CST_OK);
        cst_run_free(r);
    }
    free_both(&t);
}

/* z' = (t - z)/T, z(0) = 1: dz/dT = -1 + e + (1 + T) e t/T^2, e = exp(-t/T). The costate of z is
 * solved, however stiff it is: by the second order of the rule, and finite where T is shorter than
 * a step. */
static void test_continuous_states(void **state)
{
    (void)state;
    for (int stiff = 0; stiff < 2; stiff++) {
        const double T = stiff ? 0.002 : 0.05, e = exp(-0.2 / T),
                     exact = -1 + e + (1 + T) * e * 0.2 / (T * T);
        double error[2];
        char text[512];
        snprintf(
            text, sizeof text,
            "costate: 1\nparameters: {T: %g}\nbodies: {A: {type: point, position: [0, 0, 0], mass: "
            "1}}\n"
            "blocks: {z: {type: state, rate: \"(t - s)/T\", initial: 1}}\nobjectives: {e: end(z)}\n"
            "simulation: {end: 0.2, step: 0.01}\n",
            T);
        for (int k = 0; k < 2; k++) {
            cst_test_run t = {0};
            cst_options o = cst_options_default();
            t.m = cst_model_parse("filter.yaml", text, strlen(text), 0, NULL, &t.d);
            run_check(&t, t.m != NULL);
            o.step = k ? 0.005 : 0.01;
            t.r = cst_run_new(t.m, &o, &t.d);
            run_check(&t, t.r != NULL);
            const int which = cst_model_number_find(t.m, "T");
            const cst_gradient *g =
                cst_run_gradient(t.r, NULL, CST_CONTINUOUS_ADJOINT, 1, &which, &t.d);
            run_check(&t, g != NULL);
            error[k] = fabs(g->slope[0] - exact);
            cst_run_free(t.r), cst_model_free(t.m);
        }
        if (stiff)
            expect_true(error[0] < 0.01);
        else
            expect_true(error[0] < 0.03 && error[0] / error[1] > 3.5 && error[0] / error[1] < 4.5);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_continuous_states),
        cmocka_unit_test(test_adjoint_is_direct),
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_convergence),
        cmocka_unit_test(test_continuous),
        cmocka_unit_test(test_penalty),
        cmocka_unit_test(test_momentum),
        cmocka_unit_test(test_joint_coordinates),
        cmocka_unit_test(test_augmented),
        cmocka_unit_test(test_joint_is_loaded),
    };
    return cmocka_run_group_tests_name("formulations", tests, NULL, NULL);
}
