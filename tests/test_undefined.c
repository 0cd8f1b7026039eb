/* SPDX-License-Identifier: MIT
 *
 * Objectives, measures and slopes that are not finite: the messages give the operation with its
 * values, what contains it, the time and the place, and there are no messages about finite values.
 *
 * A mass falls freely from x = 0.1, y = z = 0 with the speed (1, 2, 0). */
#include "costate.h"
#include "expect.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static cst_diag diag;

static const char model[] = "costate: 1\ngravity: [0, -10, 0]\nparameters: {n: 3, k: 2}\n"
                            "bodies: {m: {type: point, position: [0.1, 0, 0], mass: 1, velocity: "
                            "[1, 2, 0]}}\n"
                            "measures:\n  p: {type: position, of: m}\n  w: %s\n  w2: 2*w + p.x\n"
                            "forces: {f: {type: force, on: m, force: [0, 0, \"%s\"]}}\n"
                            "objectives:\n  ok: end(p.x)\n  o: \"%s\"\nsimulation: {end: 0.1, "
                            "step: 5 ms}\n"; /* o: line 12 */

static int ignore(void *ctx, double t, const double *measures, int n)
{
    (void)ctx, (void)t, (void)measures, (void)n;
    return 0;
}

typedef struct way {
    const char *formulation, *integrator;
    double tolerance, memory;
} way;

/* Messages, and the effects of n and of the place at the start on objective o. simulate: 1, or 2
 * with an observer; 0: a gradient */
static void solve(const char *w, const char *law, const char *objective, cst_method method, way by,
                  int simulate, cst_effect *effect)
{
    char text[2048];
    snprintf(text, sizeof text, model, w, law, objective);
    diag = (cst_diag){0};
    cst_model *m = cst_model_parse("m.yaml", text, strlen(text), 0, NULL, &diag);
    if (!m) fail_msg("%s", diag.text);
    cst_options opt = cst_options_default();
    opt.formulation = by.formulation, opt.integrator = by.integrator, opt.memory = by.memory;
    if (by.tolerance > 0) opt.tolerance = by.tolerance;
    cst_run *r = cst_run_new(m, &opt, &diag);
    diag = (cst_diag){0};
    if (simulate) {
        if (cst_run_simulate(r, NULL, simulate > 1 ? ignore : NULL, NULL, &diag) != CST_OK)
            fail_msg("%s", diag.text);
    } else {
        int number[] = {cst_model_number_find(m, "n"), cst_model_number_find(m, "m.position.x")};
        const cst_gradient *g = cst_run_gradient(r, NULL, method, 2, number, &diag);
        if (!g) fail_msg("%s: %s", objective, diag.text);
        if (g->effect[0] != CST_NO_EFFECT || g->effect[1] != CST_EXACT) /* ok is never spoiled */
            fail_msg("%s, method %d, integrator %s: %d %d", objective, method, by.integrator,
                     g->effect[0], g->effect[1]);
        memcpy(effect, g->effect + 2, 2 * sizeof *effect);
        expect_not_null(cst_run_gradient(r, NULL, method, 2, number, &diag));
    }
    cst_run_free(r), cst_model_free(m);
}

static const way ways[] = {{NULL, NULL, 0, 0},
                           {NULL, NULL, 0, 12e3},
                           {"index1", "rk4", 0, 0},
                           {"index3", "generalized-alpha", 0, 0}};
enum { WAYS = sizeof ways / sizeof *ways };

/* `told` is the only message, once, of a simulation and of a gradient */
static void expect_told(const char *w, const char *objective, const char *told)
{
    char line[300];
    snprintf(line, sizeof line, "m.yaml:12:3: warning: %s\n", told);
    for (int k = 0; k < WAYS; k++)
        for (int simulate = 0; simulate < 2; simulate++) {
            cst_effect e[2] = {CST_NOT_FINITE, CST_NOT_FINITE};
            solve(w, "0", objective, k % 2 ? CST_DIRECT : CST_ADJOINT, ways[k], simulate, e);
            if (strcmp(diag.text, line))
                fail_msg("%s, way %d: '%s', not '%s'", objective, k, diag.text, line);
            expect_int(e[0], CST_NOT_FINITE), expect_int(e[1], CST_NOT_FINITE);
        }
}

static void objectives_are_told(void **state)
{
    (void)state;
    expect_told("0", "1/start(p.y)", "objective 'o' is inf: it takes 1/0");
    expect_told("0", "end(p.z)/end(p.z)", "objective 'o' is undefined: it takes 0/0");
    expect_told("0", "log(-start(p.x))", "objective 'o' is undefined: it takes log(-0.1)");
    expect_told("0", "start(-p.x)^(n/2)", "objective 'o' is undefined: it takes (-0.1)^1.5");
    expect_told("0", "log(1 - k)*end(p.x)",
                "objective 'o' is undefined: it takes log(-1)"); /* of numbers alone */
    expect_told("0", "integral(1/p.z)", "t = 0 s: objective 'o' is inf: it takes 1/0");
    expect_told("0", "end(-1/p.z)", "t = 0.1 s: objective 'o' is -inf: it takes 1/0");
    expect_told("1/p.z", "end(w2)", "t = 0.1 s: objective 'o' is inf: 'w' takes 1/0");
    expect_told("log(p.x - 0.15)", "start(w)",
                "t = 0 s: objective 'o' is undefined: 'w' takes log(-0.05)");
    expect_told("log(p.x - 0.15)", "peak(w)",
                "t = 0 s: objective 'o' is undefined: 'w' takes log(-0.05)");
    expect_told("log(p.x - 0.15)", "at(w2, 0.025)",
                "t = 0.025 s: objective 'o' is undefined: 'w' takes log(-0.025)");
    expect_told("1/(t - 0.03)", "mean(w2)", "t = 0.03 s: objective 'o' is inf: 'w' takes 1/0");
    expect_told("integral(1/(t - 0.03))", "integral(w)",
                "t = 0.03 s: objective 'o' is inf: it takes 1/0");
    expect_told("0", "end(exp(1e4*p.x))", "t = 0.1 s: objective 'o' is inf: it takes exp(2000)");
}

static void finite_ones_are_not(void **state)
{
    (void)state;
    static const char *const of[] = {"end(if(p.x > 0, p.x, 1/p.z))", "end(1/p.y)", "end(w2)",
                                     "at(log(p.x - 0.15), 0.09)", "1/end(1/p.y)"};
    for (size_t i = 0; i < sizeof of / sizeof *of; i++)
        for (int k = 0; k < WAYS; k++)
            for (int simulate = 0; simulate < 2; simulate++) {
                cst_effect e[2];
                solve("1/p.x", "0", of[i], CST_ADJOINT, ways[k], simulate, e);
                if (*diag.text) fail_msg("%s: %s", of[i], diag.text);
            }
}

/* Those that contain the operation, where somebody sees measures; not those that read them */
static void measures_are_told(void **state)
{
    (void)state;
    solve("1/(t - 0.03)", "0", "end(p.x)", CST_ADJOINT, ways[0], 2, NULL);
    expect_text(diag.text, "m.yaml:7:3: warning: t = 0.03 s: 'w' is not finite: it takes 1/0\n");
    solve("1/(t - 0.03)", "0", "end(p.x)", CST_ADJOINT, ways[0], 1, NULL);
    expect_text(diag.text, "");
}

/* x^n at x < 0 has no slope by n, and all others */
static void exponents_have_no_slope(void **state)
{
    (void)state;
    static const struct {
        const char *w, *law, *objective;
    } of[] = {{"0", "0", "start(-p.x)^n"},
              {"(-p.x)^n", "0", "integral(w2)"},
              {"0", "0", "end(p.x)*(-k)^n"},
              {"0", "(p.x - 1)^n", "end(p.z) + end(p.x)"}};
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        cst_effect e[2];
        solve(of[i].w, of[i].law, of[i].objective, CST_ADJOINT, ways[0], 0, e);
        expect_int(e[0], CST_NOT_FINITE);
        expect_int(e[1], CST_EXACT);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(objectives_are_told),
        cmocka_unit_test(finite_ones_are_not),
        cmocka_unit_test(measures_are_told),
        cmocka_unit_test(exponents_have_no_slope),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
