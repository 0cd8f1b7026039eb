/* SPDX-License-Identifier: MIT
 *
 * Numbers exactly on a kink or a jump of an expression of numbers are refused by name, with the
 * operation. Beside the kink, where no objective depends on it, and where numbers stay on it by
 * changing together, they have the slopes that differences find. */
#include "costate.h"
#include "expect.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static cst_diag diag;

#define NAMES 7
static const char *const names[NAMES] = {"z", "w", "n", "k1", "k2", "u", "T"};

/* A mass on a spring, pushed by an expression of numbers: effects of the names above on objective o
 */
static void solve(const char *push, const char *objective, cst_method method, cst_effect *effect,
                  double *slope, double *size)
{
    char text[2048];
    snprintf(text, sizeof text,
             "costate: 1\nparameters: {z: 0, w: 0, n: 3, k1: 50, k2: 50, u: 1, T: 2, v: 0.3}\n"
             "tables: {y: {x: [0, 2, 3], y: [1, 4, 2]}}\n"
             "bodies: {m: {type: scalar, inertia: 2, value: 0.1, rate: v}}\nmeasures: {X: {type: "
             "coordinate, of: m}}\n"
             "forces: {f: {type: motor, of: m, torque: \"-50*X + %s\"}}\n"
             "objectives: {e: \"%s\"}\nsimulation: {end: 0.4, step: 20 ms}\n",
             push, objective);
    diag = (cst_diag){0};
    cst_model *m = cst_model_parse("m.yaml", text, strlen(text), 0, NULL, &diag);
    cst_run *r = m ? cst_run_new(m, NULL, &diag) : NULL;
    if (!r) fail_msg("%s", diag.text);
    diag = (cst_diag){0}; /* what is never used */
    int which[NAMES];
    for (int i = 0; i < NAMES; i++) which[i] = cst_model_number_find(m, names[i]);
    const cst_gradient *g = cst_run_gradient(r, NULL, method, NAMES, which, &diag);
    if (!g) fail_msg("%s", diag.text);
    memcpy(effect, g->effect, sizeof *effect * NAMES),
        memcpy(slope, g->slope, sizeof *slope * NAMES);
    *size = fabs(g->value[0]) + 0.1;
    cst_run_free(r), cst_model_free(m);
}

static void expect_on(const char *push, const char *objective, const char *refused, const char *op)
{
    for (int method = CST_ADJOINT; method <= CST_DIRECT; method++) {
        cst_effect effect[NAMES];
        double slope[NAMES], size;
        char said[100], found[100] = "";
        solve(push, objective, (cst_method)method, effect, slope, &size);
        for (int i = 0; i < NAMES; i++)
            if (effect[i] == CST_NOT_SMOOTH) strcat(strcat(found, *found ? " " : ""), names[i]);
        if (strcmp(found, refused) != 0)
            fail_msg("%s: refused are '%s', not '%s'", push, found, refused);
        snprintf(said, sizeof said, "'%.*s', which is on the kink of %s",
                 (int)strcspn(refused, " "), refused, op);
        expect_contains(diag.text, said);
        expect_contains(diag.text, "m.yaml:2:");
    }
}

static void kinks_are_named(void **state)
{
    (void)state;
    expect_on("abs(z)", "end(X)", "z", "abs");
    expect_on("0", "abs(z) + end(X)", "z", "abs");
    expect_on("k1*abs(z - w)", "end(X)", "z w", "abs");
    expect_on("sqrt(z^2 + w^2)", "end(X)", "z w", "sqrt");
    expect_on("hypot(z, w)", "end(X)", "z w", "hypot");
    expect_on("cbrt(z)", "end(X)", "z", "cbrt");
    expect_on("min(k1, k2)", "end(X)", "k1 k2", "min");
    expect_on("max(k1, k2, n)", "end(X)", "k1 k2", "max");
    expect_on("clamp(u, 0, 1)", "end(X)", "u", "clamp");
    expect_on("floor(n)", "end(X)", "n", "floor");
    expect_on("sign(z)", "end(X)", "z", "sign");
    expect_on("if(n >= 3, k1, k2 + 1)", "end(X)", "n", ">=");
    expect_on("if(n < 3 or z > 0, 1, 2)", "end(X)", "z n", ">");
    expect_on("if(z > 0, 5*z, 0)", "end(X)", "z", ">"); /* equal values, different slopes */
    expect_on("if(k1 > k2, 3*X, X)", "end(X)", "k1 k2", ">");
    expect_on("mod(n, 1)", "end(X)", "n", "mod");
    expect_on("y(T)", "end(X)", "T", "a table");
    expect_on("abs(2*y(T + z) - 8)", "end(X)", "z T", "abs");
}

static void others_are_not(void **state)
{
    (void)state;
    static const char *const push[] = {"abs(z + 1)",
                                       "z*abs(z)",
                                       "0*abs(z)",
                                       "min(k1, 2*k2)",
                                       "if(n > 3.5, abs(z), k1)",
                                       "max(u*u, u^2) + z",
                                       "clamp(u, 0, 2)",
                                       "floor(n + 0.5)",
                                       "y(T + 0.3)",
                                       "if(n >= 3, k1, k1)"};
    for (size_t k = 0; k < sizeof push / sizeof *push; k++) {
        cst_effect effect[NAMES], same[NAMES];
        double slope[NAMES], direct[NAMES], by[NAMES], size;
        solve(push[k], "end(X)", CST_ADJOINT, effect, slope, &size);
        expect_text(diag.text, "");
        solve(push[k], "end(X)", CST_DIRECT, same, direct, &size);
        solve(push[k], "end(X)", CST_DIFFERENCE, same, by, &size);
        for (int i = 0; i < NAMES; i++) {
            expect_true(effect[i] == CST_EXACT || effect[i] == CST_NO_EFFECT);
            expect_near(slope[i], direct[i], 1e-12 * size),
                expect_near(slope[i], by[i], 5e-5 * size); /* z |z| is not Romberg's */
        }
    }
}

/* What an objective reads through an integral, a running integral or a choice of results decides
 * for it alone: end(X) has its slope by n. */
static void choices_of_other_objectives(void **state)
{
    (void)state;
    static const char *const other[] = {"integral(if(n >= 3, X, 2*X))", "end(if(n >= 3, X, 2*X))",
                                        "if(n >= 3, end(X), 2*end(X))", "end(R)",
                                        "peak(if(not (n < 3), X, 2*X), 8)"};
    for (size_t k = 0; k < sizeof other / sizeof *other; k++)
        for (int method = CST_ADJOINT; method <= CST_DIRECT; method++) {
            char text[1024];
            snprintf(
                text, sizeof text,
                "costate: 1\nparameters: {n: 3}\nbodies: {m: {type: scalar, inertia: 2, value: "
                "0.1}}\n"
                "forces: {f: {type: motor, of: m, torque: n}}\n"
                "measures: {X: {type: coordinate, of: m}, R: \"integral(if(n >= 3, X, 2*X))\"}\n"
                "objectives: {e: end(X), o: \"%s\"}\nsimulation: {end: 0.4, step: 20 ms}\n",
                other[k]);
            diag = (cst_diag){0};
            cst_model *m = cst_model_parse("m.yaml", text, strlen(text), 0, NULL, &diag);
            cst_run *r = m ? cst_run_new(m, NULL, &diag) : NULL;
            if (!r) fail_msg("%s", diag.text);
            const cst_gradient *g = cst_run_gradient(r, NULL, (cst_method)method, 1,
                                                     &(int){cst_model_number_find(m, "n")}, &diag);
            if (!g || g->effect[0] != CST_EXACT || g->effect[1] != CST_NOT_SMOOTH)
                fail_msg("%s: %s", other[k], diag.text);
            expect_near(g->slope[0], 0.04, 1e-12); /* T^2/(2 m) */
            expect_contains(
                diag.text,
                "there is no derivative of 'o' with respect to 'n', which is on the kink of");
            cst_run_free(r), cst_model_free(m);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(kinks_are_named),
                                       cmocka_unit_test(others_are_not),
                                       cmocka_unit_test(choices_of_other_objectives)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
