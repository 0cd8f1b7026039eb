/* SPDX-License-Identifier: MIT
 *
 * The first and the last value of a periodic table are one number: it has one slope and changes at
 * both ends, however it is changed, and the last value cannot be set by name.
 *
 * A free mass under the force F(t) for two periods: its momentum is twice the area under the table,
 * which for straight pieces is sum y_i (h_i-1 + h_i)/2, indices modulo the rows. Steps end at the
 * rows, where the sums over steps are exact. */
#include "costate.h"
#include "expect.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static cst_diag diag;

static cst_model *load(const char *table, int nset, const char *const *set)
{
    char text[2048];
    snprintf(
        text, sizeof text,
        "costate: 1\ngravity: [0, 0, 0]\nbodies: {m: {type: point, mass: 2, position: [0, 0, 0]}}\n"
        "tables: {F: {x: [0, 0.1, 0.25, 0.4], %s, outside: periodic}}\n"
        "forces: {f: {type: force, on: m, force: [F(t), 0, 0]}}\nmeasures: {v: {type: velocity, "
        "of: m}}\n"
        "objectives: {p: 2*end(v.x)}\nsimulation: {end: 0.8, step: 10 ms}\n",
        table);
    diag = (cst_diag){0};
    return cst_model_parse("m.yaml", text, strlen(text), nset, set, &diag);
}

typedef struct answer {
    double value, slope[3];
} answer;

static answer solve(cst_model *m, const double *values, cst_method method)
{
    if (!m) fail_msg("%s", diag.text);
    int number[3];
    for (int i = 0; i < 3; i++) {
        char name[32];
        snprintf(name, sizeof name, "F.y[%d]", i + 1);
        expect_true((number[i] = cst_model_number_find(m, name)) >= 0);
    }
    cst_run *r = cst_run_new(m, NULL, &diag);
    const cst_gradient *g = r ? cst_run_gradient(r, values, method, 3, number, &diag) : NULL;
    if (!g) fail_msg("%s", diag.text);
    answer a = {.value = g->value[0]};
    for (int i = 0; i < 3; i++) {
        expect_int(g->effect[i], CST_EXACT);
        a.slope[i] = g->slope[i];
    }
    cst_run_free(r);
    return a;
}

static const double area[] = {0.25, 0.25, 0.3}; /* of two periods, by y_i */

static void both_ends_are_one_number(void **state)
{
    (void)state;
    for (int cubic = 0; cubic < 2; cubic++) {
        cst_model *m =
            load(cubic ? "y: [1, 2, -1, 1], interpolation: cubic" : "y: [1, 2, -1, 1]", 0, NULL);
        answer a = solve(m, NULL, CST_ADJOINT), b = solve(m, NULL, CST_DIRECT),
               c = solve(m, NULL, CST_DIFFERENCE);
        for (int i = 0; i < 3; i++) {
            if (!cubic) expect_near(a.slope[i], area[i], 1e-12);
            expect_near(a.slope[i], b.slope[i], 1e-12);
            expect_near(a.slope[i], c.slope[i], 1e-9);
        }
        expect_near(a.slope[0] + 2 * a.slope[1] - a.slope[2], a.value,
                    1e-12); /* linear in the values */
        expect_int(cst_model_number_find(m, "F.y[4]"), -1);
        cst_model_free(m);
    }
}

/* The file, --set and values of the library agree on what y[1] = 1.5 is. */
static void whoever_changes_it(void **state)
{
    (void)state;
    double x[64];
    cst_model *m = load("y: [1, 2, -1, 1]", 0, NULL),
              *written = load("y: [1.5, 2, -1, 1.5]", 0, NULL);
    cst_model *set = load("y: [1, 2, -1, 1]", 1, (const char *const[]){"F.y[1]=1.5"});
    for (int i = 0; i < cst_model_number_count(m); i++) x[i] = cst_model_number_value(m, i);
    x[cst_model_number_find(m, "F.y[1]")] = 1.5;
    double value = solve(written, NULL, CST_ADJOINT).value;
    expect_near(value, 1.5 * area[0] + 2 * area[1] - area[2], 1e-12);
    expect_true(solve(m, x, CST_ADJOINT).value == value);
    expect_true(solve(set, NULL, CST_ADJOINT).value == value);
    cst_model_free(m), cst_model_free(written), cst_model_free(set);
}

static void the_last_is_not_to_be_named(void **state)
{
    (void)state;
    expect_null(load("y: [1, 2, -1, 1]", 1, (const char *const[]){"F.y[4]=1.5"}));
    expect_contains(diag.text,
                    "--set: error: 'F.y[4]' follows from 'F.y[1]': its table is periodic");
    expect_null(load("y: [1, 2, -1, 1.5]", 0, NULL));
    expect_contains(diag.text, "table 'F' is periodic: its last y must be its first, 1, not 1.5");
    expect_null(load("y: [1, 2, -1, 1.5]", 1, (const char *const[]){"F.y[1]=1.5"}));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_ends_are_one_number),
        cmocka_unit_test(whoever_changes_it),
        cmocka_unit_test(the_last_is_not_to_be_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
