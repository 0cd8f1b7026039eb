/* SPDX-License-Identifier: MIT
 *
 * Differences of an objective that is a polynomial: a stone thrown up, z = v T - g T^2/2, which the
 * trapezoidal rule has exactly. */
#include "reference.h"

static const char stone[] =
    "costate: 1\ngravity: [0, 0, -g]\nparameters: {g: 9.81, v: 7}\npoints: {P: [0, 0, 0]}\n"
    "bodies: {s: {type: point, position: P, mass: 1, velocity: [0, 0, v]}}\n"
    "measures: {p: {type: position, of: s.origin}}\nobjectives: {square: end(p.z)^2, cube: "
    "end(p.z)^3}\n"
    "simulation: {end: 0.5, step: 0.01}\n";

#define T 0.5
static const double v = 7, z = 7 * T - 9.81 * T * T / 2;

static const cst_gradient *differences(cst_test_run *t, const char *kind, double width)
{
    cst_options o = cst_options_default();
    memset(t, 0, sizeof *t);
    o.difference = kind, o.width = width;
    t->m = cst_model_parse("stone.yaml", stone, strlen(stone), 0, NULL, &t->d);
    run_check(t, t->m != NULL);
    t->r = cst_run_new(t->m, &o, &t->d);
    run_check(t, t->r != NULL);
    int which = cst_model_number_find(t->m, "v");
    const cst_gradient *g = cst_run_gradient(t->r, NULL, CST_DIFFERENCE, 1, &which, &t->d);
    run_check(t, g != NULL);
    return g;
}

/* f = z^2, z^3 and d = h dz/dv = h T: forward 2 z T + d T, 3 z^2 T + 3 z d T + d^2 T; central 2 z
 * T, 3 z^2 T + d^2 T. With half the width these differ from the derivative by half and by a
 * quarter: the error told is the true one where one term leads. */
static void test_given_width(void **state)
{
    (void)state;
    static const double widths[] = {1e-2, 1e-4};
    for (int k = 0; k < 2; k++) {
        double d = widths[k] * v * T;
        cst_test_run t;
        const cst_gradient *g = differences(&t, "forward", widths[k]);
        expect_near(g->slope[0], 2 * z * T + d * T, 1e-10), expect_near(g->error[0], d * T, 1e-8);
        expect_near(g->slope[1], 3 * z * z * T + 3 * z * d * T + d * d * T, 1e-10);
        run_close(&t);
        g = differences(&t, "central", widths[k]);
        expect_near(g->slope[0], 2 * z * T, 1e-10);
        expect_near(g->slope[1], 3 * z * z * T + d * d * T, 1e-10),
            expect_near(g->error[1], d * d * T, 1e-8);
        expect_int(g->simulations, 1 + 4); /* two widths */
        run_close(&t);
    }
}

/* A chosen width is better than any that one would guess, and says how good it is. */
static void test_chosen_width(void **state)
{
    (void)state;
    static const struct {
        const char *kind;
        double enough;
    } kinds[] = {{"forward", 1e-6}, {"central", 1e-9}, {"extrapolated", 1e-10}};
    for (int k = 0; k < 3; k++) {
        cst_test_run t;
        const cst_gradient *g = differences(&t, kinds[k].kind, 0);
        const double exact[] = {2 * z * T, 3 * z * z * T};
        if (k == 2) expect_int(g->simulations, 1 + 6); /* h, h/2, h/4 */
        for (int i = 0; i < 2; i++) {
            expect_near(g->slope[i] / exact[i], 1, kinds[k].enough);
            expect_true(fabs(g->slope[i] - exact[i]) <= 10 * g->error[i]);
        }
        run_close(&t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_given_width),
                                       cmocka_unit_test(test_chosen_width)};
    return cmocka_run_group_tests_name("difference", tests, NULL, NULL);
}
