/* SPDX-License-Identifier: MIT
 *
 * a^n with a < 0 is defined for integer n only: there is no derivative by n, and n is refused by
 * the adjoint and the direct method. The derivatives by all other numbers exist, agree between both
 * methods and with differences, wherever the power occurs. */
#include "costate.h"
#include "expect.h"
#include "pairs.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static cst_diag diag;

enum { NAMES = 5 };
static const char *const names[NAMES] = {"n", "k", "c", "v", "mass"};

typedef struct place {
    const char *law, *push, *drive, *objective;
} place; /* where the power stands */

typedef struct slopes {
    cst_effect effect[NAMES];
    double of[NAMES];
} slopes;

static slopes solve(const cst_formulation *f, const char *integrator, const place *p,
                    cst_method method)
{
    char text[2048], set[64];
    slopes y;
    snprintf(
        text, sizeof text,
        "costate: 1\nparameters: {n: 3, k: 30, c: 0.7, v: 0.3, mass: 2}\npoints: {O: [0, 0, 0]}\n"
        "bodies: {m: {type: point, position: [0.1, 0.2, 0], mass: mass, velocity: [v, 0, 0]}}\n"
        "measures: {X: {type: position, of: m}}\njoints: {j: {type: drive, of: X.y, value: "
        "\"%s\"}}\n"
        "forces:\n  s: {type: spring-damper, from: m, to: ground.O, force: \"k*s + %s\"}\n"
        "  f: {type: force, on: m, force: [\"%s\", 0, 0]}\n"
        "objectives: {o: \"%s\"}\nsimulation: {end: 0.1, step: 5 ms}\n",
        p->drive, p->law, p->push, p->objective);
    snprintf(set, sizeof set, "simulation.formulation=%s", f->name);
    diag = (cst_diag){0};
    cst_model *m =
        cst_model_parse("m.yaml", text, strlen(text), 1, (const char *const[]){set}, &diag);
    cst_options o = cst_options_default();
    o.integrator = integrator;
    cst_run *r = m ? cst_run_new(m, &o, &diag) : NULL;
    if (!r) fail_msg("%s", diag.text);
    int which[NAMES];
    for (int i = 0; i < NAMES; i++) which[i] = cst_model_number_find(m, names[i]);
    const cst_gradient *g = cst_run_gradient(r, NULL, method, NAMES, which, &diag);
    if (!g)
        fail_msg("%s %s method %d, law %s, push %s, drive %s: %s", f->name, integrator, (int)method,
                 p->law, p->push, p->drive, diag.text);
    memcpy(y.effect, g->effect, sizeof y.effect), memcpy(y.of, g->slope, sizeof y.of);
    cst_run_free(r), cst_model_free(m);
    return y;
}

static void compare(const cst_formulation *f, const char *integrator, void *ctx)
{
    static const place places[] = {
        {"c*(s - 2)^n", "0", "0.2", "end(X.x)"},       {"0", "c*(X.x - 2)^n", "0.2", "end(X.x)"},
        {"0", "c*(t - 2)^n*X.x", "0.2", "end(X.x)"},   {"0", "0", "0.2 + c*(t - 1)^n", "end(X.x)"},
        {"0", "0", "0.2 + c*(X.x - 1)^n", "end(X.x)"}, {"0", "c", "0.2", "end((X.x - 2)^n)"},
        {"0", "c", "0.2", "integral((X.x - 2)^n)"},    {"0", "(c - 2)^n", "0.2", "end(X.x)"},
    };
    (void)ctx;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        const place *p = &places[i];
        slopes a = solve(f, integrator, p, CST_ADJOINT), b = solve(f, integrator, p, CST_DIRECT);
        slopes c = solve(f, integrator, p, CST_DIFFERENCE);
        for (int k = 0; k < NAMES; k++) {
            int known = k > 0,
                same = a.effect[k] == b.effect[k] && (a.effect[k] == CST_NOT_FINITE) == !known;
            if (!same || (known && !(fabs(a.of[k] - b.of[k]) <= 1e-10 &&
                                     fabs(a.of[k] - c.of[k]) <= 1e-6 * (fabs(a.of[k]) + 0.1))))
                fail_msg("%s, %s, place %zu, %s: adjoint %.10g (%d), direct %.10g (%d), difference "
                         "%.10g",
                         f->name, integrator, i, names[k], a.of[k], (int)a.effect[k], b.of[k],
                         (int)b.effect[k], c.of[k]);
        }
    }
}

static void only_the_exponent_is_refused(void **state)
{
    (void)state;
    for_each_pair(1, compare, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(only_the_exponent_is_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
