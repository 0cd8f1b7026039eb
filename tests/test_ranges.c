/* SPDX-License-Identifier: MIT
 *
 * Laws: no evaluation answers for numbers that the file would refuse, whoever asks; at a bound
 * everything works, differences too. */
#include "expect.h"

#include <stdlib.h>

#include "costate.h"

static const char text[] =
    "costate: 1\n"
    "gravity: [0, -9.81, 0]\n"
    "parameters: {L: {value: 500, unit: mm, range: [100, 700]}, m: {value: 2, unit: kg}}\n"
    "points: {A: [0, 0, 0], B: [L, 0, 0]}\n"
    "bodies: {rod: {type: bar, from: A, to: B, mass: 3 - m, radius: 0.01}}\n"
    "joints: {a: {type: revolute, between: [ground, rod], at: A, axis: z}}\n"
    "forces: {c: {type: damper, from: ground.A, to: rod.B, damping: 2}}\n"
    "measures: {p: {type: position, of: rod.B}}\n"
    "objectives: {low: end(p.y), load: rms(p.y)/2, odd: exp(end(p.y))}\n"
    "simulation: {end: 0.05, step: 5 ms}\n";

typedef struct bench {
    cst_model *m;
    cst_run *r;
    double *value;
    cst_diag d;
} bench;

static bench *bench_new(void)
{
    bench *b = calloc(1, sizeof *b);
    b->m = cst_model_parse("test.yaml", text, strlen(text), 0, NULL, &b->d);
    if (!b->m) fail_msg("%s", b->d.text);
    b->r = cst_run_new(b->m, NULL, &b->d);
    b->value = calloc((size_t)cst_model_number_count(b->m), sizeof *b->value);
    return b;
}

static void bench_free(bench *b)
{
    cst_run_free(b->r);
    cst_model_free(b->m);
    free(b->value);
    free(b);
}

static int set(bench *b, const char *name, double x)
{
    int i = cst_model_number_find(b->m, name);
    for (int k = 0; k < cst_model_number_count(b->m); k++)
        b->value[k] = cst_model_number_value(b->m, k);
    b->value[i] = x;
    b->d = (cst_diag){0};
    return i;
}

static void wrong_values_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        double x;
        const char *says;
    } wrong[] = {{"L", 5, "test.yaml:3:25: error: L must be in [0.1, 0.7] m, not 5"},
                 {"L", 0.0999, "L must be in [0.1, 0.7] m, not 0.0999"},
                 {"L", NAN, "test.yaml:3:25: error: L must be a finite number"},
                 {"A.z", INFINITY, "A.z must be a finite number, not inf"},
                 {"c.damping", -1e-3, "test.yaml:7:64: error: c.damping must be at least 0"},
                 {"rod.radius", -1, "rod.radius must be"},
                 {"m", 3.5, "test.yaml:5:49: error: mass must be at least 0 kg, not -0.5"}};
    bench *b = bench_new();
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        int which = set(b, wrong[i].name, wrong[i].x);
        expect_int(cst_run_simulate(b->r, b->value, NULL, NULL, &b->d), CST_USAGE);
        expect_contains(b->d.text, wrong[i].says);
        expect_int(b->d.errors, 1);
        for (int method = CST_ADJOINT; method <= CST_DIFFERENCE; method++) {
            set(b, wrong[i].name, wrong[i].x);
            expect_null(cst_run_gradient(b->r, b->value, (cst_method)method, 1, &which, &b->d));
            expect_contains(b->d.text, wrong[i].says);
        }
        set(b, wrong[i].name, wrong[i].x);
        double y, slope;
        expect_int(cst_run_samples(b->r, b->value, 1, &(cst_sample){0, 0.02}, 1, &which, &y, &slope,
                                   &b->d),
                   CST_USAGE);
        expect_contains(b->d.text, wrong[i].says);
        set(b, "L", 0.5); /* the run has learned nothing wrong */
        expect_int(cst_run_simulate(b->r, b->value, NULL, NULL, &b->d), CST_OK);
    }
    bench_free(b);
}

static void bounds_are_allowed(void **state)
{
    (void)state;
    bench *b = bench_new();
    static const double at[] = {0.1, 0.7};
    for (int k = 0; k < 2; k++) {
        int L = set(b, "L", at[k]);
        const cst_gradient *g = cst_run_gradient(b->r, b->value, CST_ADJOINT, 1, &L, &b->d);
        if (!g) fail_msg("%s", b->d.text);
        double slope = g->slope[0];
        g = cst_run_gradient(b->r, b->value, CST_DIFFERENCE, 1, &L, &b->d);
        if (!g) fail_msg("%s", b->d.text);
        expect_near(g->slope[0], slope, 1e-8);
    }
    bench_free(b);
}

static void what_a_program_may_ask(void **state)
{
    (void)state;
    bench *b = bench_new();
    int L = cst_model_number_find(b->m, "L"), line, column;
    double lower, upper;
    expect_text(cst_model_number_place(b->m, L, &line, &column), "test.yaml");
    expect_int(line, 3);
    expect_int(column, 25);
    cst_model_number_range(b->m, L, &lower, &upper);
    expect_near(lower, 0.1, 1e-15);
    expect_near(upper, 0.7, 1e-15);
    cst_model_number_range(b->m, cst_model_number_find(b->m, "A.x"), &lower, &upper);
    expect_true(isinf(lower) && isinf(upper));
    char unit[16], small[1];
    cst_model_objective_unit(b->m, 0, unit, sizeof unit);
    expect_text(unit, "m");
    cst_model_objective_unit(b->m, 1, unit, sizeof unit);
    expect_text(unit, "m");
    cst_model_objective_unit(b->m, 2, unit, sizeof unit);
    expect_text(unit, "");
    cst_model_objective_unit(b->m, 0, small, sizeof small);
    expect_text(small, "");
    bench_free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_values_are_refused),
        cmocka_unit_test(bounds_are_allowed),
        cmocka_unit_test(what_a_program_may_ask),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
