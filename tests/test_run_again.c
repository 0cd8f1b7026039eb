/* SPDX-License-Identifier: MIT
 *
 * A run that is used again gives the same results as a new one: nothing that an earlier gradient
 * found at its states is left in it. Requests for numbers or measures that the model does not have
 * are refused. */
#include "expect.h"

#include <costate.h>
#include <string.h>

/* x = x0 + v0 t: with x0 = 0 the integrand is on its kink at the first state, with x0 = -1 it has
 * the slope -1 everywhere */
static const char text[] = "costate: 1\nparameters: {m: 1, x0: 0, v0: 1}\nbodies: {x: {type: "
                           "scalar, inertia: m, value: x0, rate: v0}}\n"
                           "measures: {X: {type: coordinate, of: x}, S: "
                           "\"integral(abs(X))\"}\nobjectives: {e: \"integral(abs(X))\"}\n"
                           "simulation: {end: 0.5, step: 100 ms}\n";

static cst_diag d;

static void samples_after_a_gradient(void **state)
{
    (void)state;
    cst_model *m = cst_model_parse("m.yaml", text, strlen(text), 0, NULL, &d);
    expect_not_null(m);
    int x0 = cst_model_number_find(m, "x0"), S = -1;
    double value[16], y, slope;
    for (int i = 0; i < cst_model_number_count(m); i++) value[i] = cst_model_number_value(m, i);
    for (int i = 0; i < cst_model_measure_count(m); i++)
        if (strcmp(cst_model_measure_name(m, i), "S") == 0) S = i;
    cst_run *r = cst_run_new(m, NULL, &d);
    expect_not_null(cst_run_gradient(r, value, CST_ADJOINT, 0, NULL, &d));
    value[x0] = -1;
    const cst_sample end = {S, 0.5};
    expect_int(cst_run_samples(r, value, 1, &end, 1, &x0, &y, &slope, &d), CST_OK);
    expect_near(y, 0.375, 1e-12);
    expect_near(slope, -0.5, 1e-12);
    cst_run_free(r);
    cst_model_free(m);
}

static void what_the_model_does_not_have(void **state)
{
    (void)state;
    cst_model *m = cst_model_parse("m.yaml", text, strlen(text), 0, NULL, &d);
    cst_run *r = cst_run_new(m, NULL, &d);
    int n = cst_model_number_count(m), wrong[] = {0, n, -1}, many[32] = {0};
    double y, J[32];
    for (int i = 1; i < 3; i++) {
        d = (cst_diag){0};
        expect_null(cst_run_gradient(r, NULL, CST_ADJOINT, 1, &wrong[i], &d));
        expect_int(d.errors, 1);
    }
    expect_null(cst_run_gradient(r, NULL, CST_ADJOINT, n + 1, many, &d));
    const cst_sample none = {cst_model_measure_count(m), 0.5}, one = {0, 0.5};
    expect_int(cst_run_samples(r, NULL, 1, &none, 1, wrong, &y, J, &d), CST_USAGE);
    expect_int(cst_run_samples(r, NULL, 1, &one, 1, &wrong[1], &y, J, &d), CST_USAGE);
    cst_run_free(r);
    cst_model_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(samples_after_a_gradient),
                                       cmocka_unit_test(what_the_model_does_not_have)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
