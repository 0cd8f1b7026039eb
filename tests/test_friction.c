/* SPDX-License-Identifier: MIT
 *
 * Friction much steeper than the step resolves: each step is solved nevertheless, so that the
 * gradient is that of the computed solution. Sliding to a stop, compared with its closed form. */
#include "costate.h"
#include "expect.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static cst_diag diag;

static cst_run *open_text(const char *text, cst_model **m)
{
    diag = (cst_diag){0};
    *m = cst_model_parse("m.yaml", text, strlen(text), 0, NULL, &diag);
    cst_run *r = *m ? cst_run_new(*m, NULL, &diag) : NULL;
    if (!r) fail_msg("%s", diag.text);
    return r;
}

/* A block on a driven spring sticks and slips; in half of the cases it hangs on a bar, so that
 * there are joints. */
static void steps_are_solved(void **state)
{
    (void)state;
    expect_random seed = {5};
    enum { MODELS = 60, NUMBERS = 4 };
    int compared = 0;
    for (int i = 0; i < MODELS; i++) {
        char text[2048];
        double steep = pow(10, expect_uniform(&seed, -5, -2)), F = expect_uniform(&seed, 1, 4),
               k = expect_uniform(&seed, 60, 300);
        const char *body = i % 2
                               ? "bodies: {x: {type: bar, from: O, to: P, mass: m, radius: 0.02}}\n"
                                 "joints: {j: {type: revolute, between: [ground, x], at: O, axis: "
                                 "z}}\nmeasures: {X: {type: joint, of: j}}\n"
                               : "bodies: {x: {type: scalar, inertia: m, value: 0.1, rate: "
                                 "0}}\nmeasures: {X: {type: coordinate, of: x}}\n";
        snprintf(text, sizeof text,
                 "costate: 1\ngravity: [0, 0, 0]\nparameters: {m: %.3f, k: %.6f, F: %.6f, w: "
                 "5}\npoints: {O: [0, 0, 0], P: [1, 0, 0]}\n%sforces:\n  s: {type: servo, of: %s, "
                 "reference: 0.3*sin(w*t), stiffness: k}\n"
                 "  f: {type: friction, of: %s, coulomb: F, breakaway: 1.4*F, stribeck_speed: "
                 "0.05, transition_speed: %.3g}\n"
                 "objectives: {e: end(X), i: integral(X^2)}\nsimulation: {end: 0.5, step: 5 ms}\n",
                 expect_uniform(&seed, 0.5, 2), k, F, body, i % 2 ? "j" : "x", i % 2 ? "j" : "x",
                 steep);
        cst_model *m;
        cst_run *r = open_text(text, &m);
        static const char *const name[NUMBERS] = {"m", "k", "F", "w"};
        int which[NUMBERS];
        double adjoint[2 * NUMBERS], p[NUMBERS];
        for (int j = 0; j < NUMBERS; j++)
            which[j] = cst_model_number_find(m, name[j]),
            p[j] = cst_model_number_value(m, which[j]);
        const cst_gradient *g = cst_run_gradient(r, NULL, CST_ADJOINT, NUMBERS, which, &diag);
        if (!g) fail_msg("model %d: %s\n%s", i, diag.text, text);
        memcpy(adjoint, g->slope, sizeof adjoint);
        g = cst_run_gradient(r, NULL, CST_DIFFERENCE, NUMBERS, which, &diag);
        for (int j = 0; j < 2 * NUMBERS; j++) {
            double size = 1e-2 + fabs(adjoint[j] * p[j % NUMBERS]),
                   error = g->error[j] * p[j % NUMBERS] / size;
            if (error > 1e-6) continue;
            compared++;
            if (!(fabs(adjoint[j] - g->slope[j]) * p[j % NUMBERS] / size <= 1e-5))
                fail_msg("model %d, number %d: %.9g, by differences %.9g +- %.1g\n%s", i, j,
                         adjoint[j], g->slope[j], g->error[j], text);
        }
        cst_run_free(r), cst_model_free(m);
    }
    expect_true(compared >
                MODELS * NUMBERS); /* half of them: those with steep laws are rough functions */
}

/* It slides to x = x0 + m v^2/(2 F), and stays */
static void sliding_to_a_stop(void **state)
{
    (void)state;
    double m = 1.3, v = 0.8, F = 4.1, way[2];
    for (int n = 0; n < 2; n++) {
        char text[1024];
        snprintf(text, sizeof text,
                 "costate: 1\ngravity: [0, 0, 0]\nparameters: {m: %g, v: %g, F: %g}\n"
                 "bodies: {x: {type: scalar, inertia: m, value: 0, rate: v}}\nmeasures: {X: {type: "
                 "coordinate, of: x}}\n"
                 "forces: {f: {type: friction, of: x, coulomb: F, transition_speed: 1e-4}}\n"
                 "objectives: {e: end(X)}\nsimulation: {end: 0.5, step: %g}\n",
                 m, v, F, n ? 1e-3 : 4e-3);
        cst_model *model;
        cst_run *r = open_text(text, &model);
        const cst_gradient *g = cst_run_gradient(r, NULL, CST_ADJOINT, 0, NULL, &diag);
        expect_not_null(g);
        way[n] = g->value[0];
        cst_run_free(r), cst_model_free(model);
    }
    expect_near(way[0], m * v * v / (2 * F), 1e-4), expect_near(way[1], m * v * v / (2 * F), 3e-5);
}

/* Laws that have no slope at rest, where nobody is: a drag of given size F against the motion, v(T)
 * = v - F T/m, and a wheel's slip angle atan2(v.y, v.x), which is 0. */
static void no_slope_at_rest(void **state)
{
    (void)state;
    static const char *const law[] = {"-F*V.x/norm(V)",
                                      "-F*(V.x/hypot(V.x, V.y)) - 1e4*atan2(V.y, V.x)"};
    for (int k = 0; k < 2; k++) {
        char text[1024];
        snprintf(text, sizeof text,
                 "costate: 1\ngravity: [0, 0, 0]\nparameters: {m: 2, v: 9, F: 3}\n"
                 "bodies: {b: {type: point, position: [0, 0, 0], mass: m, velocity: [v, 0, "
                 "0]}}\nmeasures: {V: {type: velocity, of: b}}\n"
                 "forces: {f: {type: force, on: b, direction: x, magnitude: \"%s\"}}\n"
                 "objectives: {e: end(V.x)}\nsimulation: {end: 0.5, step: 10 ms}\n",
                 law[k]);
        cst_model *m;
        cst_run *r = open_text(text, &m);
        const int which[] = {cst_model_number_find(m, "m"), cst_model_number_find(m, "v"),
                             cst_model_number_find(m, "F")};
        const cst_gradient *g = cst_run_gradient(r, NULL, CST_ADJOINT, 3, which, &diag);
        if (!g) fail_msg("%s", diag.text);
        expect_near(g->value[0], 9 - 3 * 0.5 / 2, 1e-12),
            expect_near(g->slope[0], 3 * 0.5 / 4, 1e-12);
        expect_near(g->slope[1], 1, 1e-12), expect_near(g->slope[2], -0.25, 1e-12);
        cst_run_free(r), cst_model_free(m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(steps_are_solved),
                                       cmocka_unit_test(sliding_to_a_stop),
                                       cmocka_unit_test(no_slope_at_rest)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
