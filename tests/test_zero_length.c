/* SPDX-License-Identifier: MIT
 *
 * Springs whose ends coincide. Without a free length and a preload f = k (b - a) + c (b - a)': the
 * motion, its equilibrium and all slopes are those of a linear oscillator. With one the force has
 * no direction there, which a gradient says. */
#include "expect.h"
#include "pairs.h"

#include "costate.h"

#include <math.h>

static cst_diag diag;

enum { K = 100, STEPS = 10 };

/* A mass at (x, 0, 0.5 + e) on a spring to (0, 0, 0.5), with the velocity w along z */
static cst_model *mass(const char *formulation, const char *spring, const char *start, double g,
                       double e, double w)
{
    char text[1024], set[64];
    snprintf(
        text, sizeof text,
        "costate: 1\ngravity: [0, 0, %.17g]\nparameters: {e: %.17g, w: %.17g}\npoints: {T: [0, 0, "
        "0.5]}\n"
        "bodies: {m: {type: point, position: [0, 0, 0.5 + e], mass: 1, velocity: [0, 0, w]}}\n"
        "forces: {s: {type: spring-damper, from: m, to: ground.T, %s}}\n"
        "measures: {p: {type: position, of: m}, F: {type: force, of: s}}\n%sobjectives: {z: "
        "end(p.z), g: end(F.force.z), f: end(F.tension)}\nsimulation: {end: 50 ms, step: 5 ms}\n",
        g, e, w, spring, start);
    snprintf(set, sizeof set, "simulation.formulation=%s", formulation);
    diag = (cst_diag){0};
    cst_model *m =
        cst_model_parse("m.yaml", text, strlen(text), 1, (const char *const[]){set}, &diag);
    if (!m) fail_msg("%s", diag.text);
    return m;
}

static void linear(const cst_formulation *f, const char *integrator, void *ctx)
{
    static const char *const names[] = {"e", "T.z", "w", "s.stiffness", "m.mass"};
    enum { N = sizeof names / sizeof *names };
    (void)ctx;
    for (int way = 0; way < 8; way++) { /* at rest or not, falling or not, by numbers or by a law */
        double slope[3][N], value = 0;
        const char *spring =
            way & 4 ? "force: 100*s + 1*v" : "stiffness: 100, damping: 1, free_length: 0";
        for (int method = CST_ADJOINT; method <= CST_DIFFERENCE; method++) {
            cst_model *m = mass(f->name, spring, "", way & 1 ? -9.81 : 0, 0, way & 2 ? 0.3 : 0);
            cst_options o = cst_options_default();
            o.integrator = integrator;
            cst_run *r = cst_run_new(m, &o, &diag);
            int which[N];
            for (int i = 0; i < N; i++) which[i] = cst_model_number_find(m, names[i]);
            if (way & 4) which[3] = which[0];
            const cst_gradient *g =
                r ? cst_run_gradient(r, NULL, (cst_method)method, N, which, &diag) : NULL;
            if (!g) fail_msg("%s", diag.text);
            memcpy(slope[method == CST_ADJOINT  ? 0
                         : method == CST_DIRECT ? 1
                                                : 2],
                   g->slope, sizeof *slope);
            value = g->value[0];
            cst_run_free(r), cst_model_free(m);
        }
        expect_true(way & 3 ? fabs(value - 0.5) > 1e-3 : fabs(value - 0.5) < 1e-15);
        expect_near(slope[0][0], 0.8796,
                    2e-3); /* e^-0.025 (cos + 0.05 sin)(0.5) in all of these ways: it is linear */
        expect_near(slope[0][0] + slope[0][1], 1, 1e-11);
        for (int i = 0; i < N; i++) {
            expect_near(slope[1][i], slope[0][i], 1e-11);
            if (fabs(slope[2][i] - slope[0][i]) > 1e-6)
                fail_msg("%s, %s, way %d, %s: %.9g, difference %.9g", f->name, integrator, way,
                         names[i], slope[0][i], slope[2][i]);
        }
    }
}

static void it_is_a_linear_spring(void **state)
{
    (void)state;
    for_each_pair(1, linear, NULL);
}

static void it_finds_its_equilibrium(void **state)
{
    (void)state;
    static const double from[] = {0, 1e-9, 1e-6, 1e-3, -1e-3, 0.1, -0.4};
    for (size_t i = 0; i < sizeof from / sizeof *from; i++) {
        cst_model *m = mass("index3", "stiffness: 100, free_length: 0",
                            "initial: {equilibrium: true}\n", -9.81, from[i], 0);
        cst_run *r = cst_run_new(m, NULL, &diag);
        if (!r || cst_run_simulate(r, NULL, NULL, NULL, &diag) != CST_OK) fail_msg("%s", diag.text);
        expect_near(cst_run_measure(r, 2), 0.5 - 9.81 / K, 1e-12);
        cst_run_free(r), cst_model_free(m);
    }
}

/* F0 - k s0 has no direction: it is told, the measure has its limit */
static void what_has_no_direction_is_told(void **state)
{
    (void)state;
    static const struct {
        const char *spring;
        double tension;
    } way[] = {
        {"stiffness: 100, free_length: 0", 0},
        {"stiffness: 100, free_length: 0.1", -10},
        {"stiffness: 100, free_length: 0, preload: 3", 3},
    };
    for (int i = 0; i < 3; i++) {
        cst_model *m = mass("index3", way[i].spring, "", 0, 0, 0);
        cst_run *r = cst_run_new(m, NULL, &diag);
        int which = cst_model_number_find(m, "e");
        const cst_gradient *g = cst_run_gradient(r, NULL, CST_ADJOINT, 1, &which, &diag);
        if (!g) fail_msg("%s", diag.text);
        expect_near(g->value[2], way[i].tension, 1e-12);
        expect_true(
            (strstr(diag.text, "m.yaml:6:10: warning: t = 0 s: 's' has ends that coincide") !=
             NULL) == (i > 0));
        cst_run_free(r), cst_model_free(m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_a_linear_spring),
        cmocka_unit_test(it_finds_its_equilibrium),
        cmocka_unit_test(what_has_no_direction_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
