/* SPDX-License-Identifier: MIT
 *
 * Gradients of example mechanisms against exact values (docs/validation.md): second order in the
 * step, the same by the adjoint and the direct way, by differences as far as they go; numbers that
 * cannot change by themselves are refused. */
#include "../bench/chain.h"
#include "reference.h"

enum { MOST_SLOPES = 8 };

typedef struct slopes {
    int objectives, numbers;
    double value[MOST_SLOPES];
    cst_effect effect[MOST_SLOPES];
} slopes;

static slopes gradient(const char *path, double step, double end, cst_method method,
                       const char *const *name)
{
    cst_test_run t;
    run_open(&t, path, step, end);
    int which[MOST_SLOPES], n = 0;
    for (; name[n]; n++) {
        which[n] = cst_model_number_find(t.m, name[n]);
        expect_true(which[n] >= 0);
    }
    const cst_gradient *g = cst_run_gradient(t.r, NULL, method, n, which, &t.d);
    run_check(&t, g != NULL);
    slopes s = {.objectives = g->objectives, .numbers = n};
    expect_true(g->objectives * n <= MOST_SLOPES);
    memcpy(s.value, g->slope, sizeof *s.value * (size_t)(g->objectives * n));
    memcpy(s.effect, g->effect, sizeof *s.effect * (size_t)(g->objectives * n));
    run_close(&t);
    return s;
}

/* to exact values: errors of two steps, and of both extrapolated to step 0 */
static void expect_convergence(const char *path, double step, double end, const char *const *name,
                               int n, const double *exact, double tol, double ratio_tol)
{
    slopes a = gradient(path, step, end, CST_ADJOINT, name),
           b = gradient(path, step / 2, end, CST_ADJOINT, name);
    double before = 0, after = 0;
    for (int i = 0; i < n; i++) {
        expect_int(a.effect[i], CST_EXACT);
        before += fabs(a.value[i] - exact[i]), after += fabs(b.value[i] - exact[i]);
        expect_near(b.value[i] + (b.value[i] - a.value[i]) / 3, exact[i], tol);
    }
    expect_near(before / after, 4, ratio_tol);
}

static void expect_methods_agree(const char *path, double step, double end, const char *const *name)
{
    slopes a = gradient(path, step, end, CST_ADJOINT, name),
           b = gradient(path, step, end, CST_DIRECT, name);
    slopes c = gradient(path, step, end, CST_DIFFERENCE, name);
    for (int i = 0; i < a.objectives * a.numbers; i++) {
        expect_near(b.value[i], a.value[i], 1e-11);
        expect_near(c.value[i], a.value[i], 1e-7);
    }
}

/* d(x, y)/d(g, L) at 10 s; the start keeps its angle. Objectives: x_end, y_end, tension_end. */
static void test_pendulum(void **state)
{
    (void)state;
    static const char *const names[] = {"g", "L", NULL};
    static const double exact[] = {2.1282355254595968, -21.153077967334761, -0.6089444722530455,
                                   5.0123260677032513};
    expect_convergence(EXAMPLE("pendulum"), 2e-3, 10, names, 4, exact, 1e-5, 0.08);
    expect_methods_agree(EXAMPLE("pendulum"), 1e-2, 10, names);
}

/* The run passes a singular position twice in each turn. How near a step ends to one of them
 * decides what rounding does there, and differences jump with it: the methods are compared before
 * the first. */
static void test_four_bar(void **state)
{
    (void)state;
    static const char *const names[] = {"g", "v0", NULL};
    static const double exact[] = {0.49071887822485845, 4.6026103112977184, -0.17064841982877671,
                                   -1.6005664578298306};
    expect_convergence(EXAMPLE("n-four-bar"), 1e-3, 10, names, 4, exact, 1e-4, 0.1);
    expect_methods_agree(EXAMPLE("n-four-bar"), 5e-3, 0.5, names);
}

static void test_five_bar(void **state)
{
    (void)state;
    static const char *const names[] = {"L01", "L02", NULL};
    static const double exact[] = {-4.22881085524, 3.21160410299};
    expect_convergence(EXAMPLE("five-bar"), 2e-3, 5, names, 2, exact, 1e-6, 0.08);
    expect_methods_agree(EXAMPLE("five-bar"), 1e-2, 5, names);
}

/* Tilting one axis of a planar loop breaks it; nothing else of this file does. */
static void test_refused(void **state)
{
    (void)state;
    for (int method = CST_ADJOINT; method <= CST_DIRECT; method++) {
        cst_test_run t;
        run_open(&t, EXAMPLE("five-bar"), 1e-2, 1);
        const cst_gradient *g = cst_run_gradient(t.r, NULL, (cst_method)method, 0, NULL, &t.d);
        run_check(&t, g != NULL);
        int refused = 0;
        for (int i = 0; i < g->numbers; i++) {
            const char *name = cst_model_number_name(t.m, g->number[i]);
            int tilts = strstr(name, ".axis.x") || strstr(name, ".axis.y");
            expect_int(g->effect[i] == CST_BREAKS_LOOP, tilts);
            expect_int(isnan(g->slope[i]), tilts);
            refused += tilts;
        }
        expect_int(refused, 10);
        run_close(&t);
    }
}

/* In a chain Newton's factors serve the projection, with one pass where the first has shown that a
 * second is rounding: 500 steps of 30 bars must show nothing of it. Numbers spread over all kinds
 * and places. */
static void test_chain(void **state)
{
    (void)state;
    enum { MANY = 24 };
    static cst_diag d;
    size_t size;
    char *text = bench_chain(30, &size);
    cst_model *m = cst_model_parse("chain.yaml", text, size, 0, NULL, &d);
    expect_true(m != NULL);
    cst_options o = cst_options_default();
    o.end = 0.5;
    cst_run *r = cst_run_new(m, &o, &d);
    expect_true(r != NULL);
    int which[MANY], numbers = cst_model_number_count(m), effective = 0;
    double slope[MANY];
    for (int i = 0; i < MANY; i++) which[i] = i * (numbers - 1) / (MANY - 1);
    const cst_gradient *g = cst_run_gradient(r, NULL, CST_ADJOINT, MANY, which, &d);
    expect_true(g != NULL);
    memcpy(slope, g->slope, sizeof slope);
    g = cst_run_gradient(r, NULL, CST_DIRECT, MANY, which, &d);
    expect_true(g != NULL);
    for (int i = 0; i < MANY; i++) {
        if (g->effect[i] != CST_EXACT) continue;
        effective++;
        expect_near(g->slope[i], slope[i], 1e-11);
    }
    expect_true(effective > MANY / 2);
    cst_run_free(r);
    cst_model_free(m);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_chain),    cmocka_unit_test(test_pendulum),
        cmocka_unit_test(test_four_bar), cmocka_unit_test(test_five_bar),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
