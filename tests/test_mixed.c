/* SPDX-License-Identifier: MIT
 *
 * The mixed method: for the motion of any formulation its gradient converges to the reference with
 * the order of the integrator of the sensitivities; perturbed terms equal the analytic ones up to
 * the error of the perturbation. */
#include "reference.h"

#include <string.h>

typedef struct setting {
    const char *formulation, *integrator, *sensitivity, *terms;
    double step, sensitivity_step, tolerance;
} setting;

/* Largest error of dpsi/d(L01, L02) of the five-bar after 2.5 s, by its reference */
static double error_of(const setting *s, double *slope)
{
    static const double exact[] = {-1.4401893778412, 1.5710002921422};
    cst_test_run t = {0};
    cst_options o = cst_options_default();
    const char *joints[] = {"simulation.formulation=joint"};
    o.end = 2.5, o.step = s->step, o.tolerance = s->tolerance, o.formulation = s->formulation,
    o.integrator = s->integrator;
    o.sensitivity = s->sensitivity, o.terms = s->terms, o.sensitivity_step = s->sensitivity_step;
    t.m = cst_model_load(EXAMPLE("five-bar"), strcmp(s->formulation, "joint") == 0, joints, &t.d);
    run_check(&t, t.m != NULL);
    t.r = cst_run_new(t.m, &o, &t.d);
    run_check(&t, t.r != NULL);
    int which[] = {cst_model_number_find(t.m, "L01"), cst_model_number_find(t.m, "L02")};
    const cst_gradient *g = cst_run_gradient(t.r, NULL, CST_MIXED, 2, which, &t.d);
    run_check(&t, g != NULL);
    double error = 0;
    for (int i = 0; i < 2; i++)
        error = fmax(error, fabs(g->slope[i] - exact[i])), slope[i] = g->slope[i];
    run_close(&t);
    return error;
}

static const struct {
    const char *formulation, *integrator;
} motions[] = {{"index1", "rk4"}, {"penalty", "rk4"}, {"maggi", "rk4"},  {"joint", "rk4"},
               {"index1", "bdf"}, {"joint", "bdf"},   {"maggi", "adams"}};

static void test_orders(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        double step, least;
        int order;
    } rules[] = {{"euler", 2.5e-3, 5e-2, 1}, {"heun", 1e-2, 2e-3, 2}, {"rk4", 2e-2, 3e-5, 4}};
    for (size_t k = 0; k < sizeof motions / sizeof *motions; k++) {
        size_t j = k % 3;
        double error[2], slope[2];
        for (int fine = 0; fine < 2; fine++) {
            setting s = {motions[k].formulation,
                         motions[k].integrator,
                         rules[j].name,
                         "perturbed",
                         5e-3,
                         rules[j].step / (1 + fine),
                         1e-10};
            error[fine] = error_of(&s, slope);
        }
        double order = log2(error[0] / error[1]);
        print_message("%s %s, %s: errors %.1e, %.1e, order %.2f\n", motions[k].formulation,
                      motions[k].integrator, rules[j].name, error[0], error[1], order);
        expect_true(error[1] < rules[j].least);
        expect_true(order > rules[j].order - 0.4);
    }
}

/* Formulations whose motion has order 2: the gradient is as far off as the motion */
static void test_second_order_motions(void **state)
{
    (void)state;
    static const struct {
        const char *formulation, *integrator;
    } slow[] = {{"index3", "newmark"}, {"variational", "midpoint"}};
    for (size_t k = 0; k < 2; k++) {
        double slope[2];
        setting s = {slow[k].formulation, slow[k].integrator, "rk4", "perturbed", 2e-3, 1e-2, 0};
        double error = error_of(&s, slope);
        print_message("%s %s: %.1e\n", slow[k].formulation, slow[k].integrator, error);
        expect_true(error < 1e-3);
    }
}

static void test_terms(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof motions / sizeof *motions; k += 2) {
        double perturbed[2], analytic[2];
        setting s = {
            motions[k].formulation, motions[k].integrator, "heun", "perturbed", 2e-2, 2e-2, 1e-8};
        error_of(&s, perturbed);
        s.terms = "analytic";
        error_of(&s, analytic);
        for (int i = 0; i < 2; i++) expect_near(perturbed[i], analytic[i], 2e-6);
    }
}

/* The same for all numbers of a model, masses and gravity among them, which act on the motion in
 * other ways than springs do */
static void test_all_numbers(void **state)
{
    (void)state;
    static const char *const terms[] = {"perturbed", "analytic"};
    static double slope[2][200];
    int n = 0;
    for (int k = 0; k < 2; k++) {
        cst_test_run t = {0};
        cst_options o = cst_options_default();
        o.end = 0.3, o.step = 5e-3, o.sensitivity = "heun", o.terms = terms[k];
        t.m = cst_model_load(EXAMPLE("quarter-car"), 0, NULL, &t.d);
        run_check(&t, t.m != NULL);
        t.r = cst_run_new(t.m, &o, &t.d);
        run_check(&t, t.r != NULL);
        const cst_gradient *g = cst_run_gradient(t.r, NULL, CST_MIXED, 0, NULL, &t.d);
        run_check(&t, g != NULL && g->numbers <= 200);
        n = g->numbers;
        for (int i = 0; i < n; i++) {
            double p = fabs(cst_model_number_value(t.m, g->number[i]));
            slope[k][i] = isnan(g->slope[i]) ? 0 : (p > 0 ? p : 1) * g->slope[i];
        }
        run_close(&t);
    }
    double most = 0;
    for (int i = 0; i < n; i++) most = fmax(most, fabs(slope[1][i]));
    expect_true(most > 0);
    for (int i = 0; i < n; i++) expect_near(slope[0][i] / most, slope[1][i] / most, 1e-6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_orders),
        cmocka_unit_test(test_second_order_motions),
        cmocka_unit_test(test_terms),
        cmocka_unit_test(test_all_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
