/* SPDX-License-Identifier: MIT
 *
 * More is prescribed at the start than there are freedoms: numbers that would contradict it are
 * refused, all others keep their gradient. */
#include "statics_trial.h"

#include <math.h>

#define GEARED                                                                                     \
    "gravity: [0, -9.81, 0]\n"                                                                     \
    "parameters: {w0: 3, a0: 0.2, i: 2.5}\n"                                                       \
    "points: {A: [0, 0, 0], B: [0.5, 0, 0], S: [0.5, 0.6, 0]}\n"                                   \
    "bodies:\n"                                                                                    \
    "  rod: {type: bar, from: A, to: B, mass: 1, radius: 0.01}\n"                                  \
    "  fly: {type: scalar, inertia: 0.01}\n"                                                       \
    "joints:\n"                                                                                    \
    "  a: {type: revolute, between: [ground, rod], at: A, axis: z}\n"                              \
    "  g: {type: gear, from: a, to: fly, ratio: i}\n"                                              \
    "forces: {s: {type: spring, from: rod.B, to: ground.S, stiffness: 50, free_length: 0.3}}\n"    \
    "measures:\n"                                                                                  \
    "  turn: {type: angle, between: [ground, rod], axis: z}\n"                                     \
    "  p: {type: position, of: rod.B}\n"                                                           \
    "  c: {type: coordinate, of: fly}\n"                                                           \
    "objectives: {x: end(p.x), y: start(p.y), r: start(rate(p.y)), f: end(c)}\n"                   \
    "simulation: {end: 0.1, step: 0.01}\n"

#define FIVE_BAR                                                                                   \
    "gravity: [0, -9.81, 0]\n"                                                                     \
    "points: {A: [0, 0, 0], P: [-1, -1, 0], Q: [0.5, -2, 0], R: [2, -1, 0], B: [1, 0, 0]}\n"       \
    "bodies:\n"                                                                                    \
    "  b1: {type: bar, from: A, to: P, mass: 1}\n"                                                 \
    "  b2: {type: bar, from: P, to: Q, mass: 1}\n"                                                 \
    "  b3: {type: bar, from: Q, to: R, mass: 1}\n"                                                 \
    "  b4: {type: bar, from: R, to: B, mass: 1}\n"                                                 \
    "joints:\n"                                                                                    \
    "  a: {type: revolute, between: [ground, b1], at: A, axis: z}\n"                               \
    "  p: {type: revolute, between: [b1, b2], at: P, axis: z}\n"                                   \
    "  q: {type: revolute, between: [b2, b3], at: Q, axis: z}\n"                                   \
    "  r: {type: revolute, between: [b3, b4], at: R, axis: z}\n"                                   \
    "  b: {type: revolute, between: [b4, ground], at: B, axis: z}\n"                               \
    "measures: {d: {type: displacement, of: b2.Q}}\n"                                              \
    "objectives: {x: end(d.x)}\n"                                                                  \
    "simulation: {end: 0.1, step: 0.01}\n"

/* " a b " contains " a " */
static int listed(const char *list, const char *name)
{
    char word[80];
    snprintf(word, sizeof word, " %s ", name);
    return strstr(list, word) != NULL;
}

/* The status of a run with number i changed by h; o: its objectives, may be NULL */
static cst_status changed(trial *y, int i, double h, double *o)
{
    int n = cst_model_number_count(y->m);
    cst_diag quiet = {0};
    double *p = calloc((size_t)n, sizeof *p);
    for (int k = 0; k < n; k++) p[k] = cst_model_number_value(y->m, k) + (k == i ? h : 0);
    cst_status ok = cst_run_simulate(y->r, p, NULL, NULL, &quiet);
    for (int k = 0; o && k < cst_model_objective_count(y->m); k++)
        o[k] = cst_run_objective(y->r, k);
    free(p);
    return ok;
}

/* Exactly the listed numbers are refused, and a run fails where one of them is changed. The others:
 * adjoint = direct, and differences where there is a slope at all. */
static void refused_are(const char *model, const char *initial, const char *list)
{
    static char text[4096];
    snprintf(text, sizeof text, "%sinitial: %s\n", model, initial);
    trial y = try_text(text);
    int n = cst_model_number_count(y.m), nobj = cst_model_objective_count(y.m), size = n * nobj;
    double *slope[2];
    cst_effect *effect = calloc((size_t)size, sizeof *effect);
    for (cst_method way = CST_ADJOINT; way <= CST_DIRECT; way++) {
        const cst_gradient *g = gradient(&y, way);
        slope[way] = calloc((size_t)size, sizeof **slope);
        memcpy(slope[way], g->slope, sizeof **slope * (size_t)size);
        memcpy(effect, g->effect, sizeof *effect * (size_t)size);
    }
    for (int i = 0; i < n; i++) {
        const char *name = cst_model_number_name(y.m, i);
        double above[8], below[8], h = 2e-6;
        if ((effect[i] == CST_CONTRADICTS) != listed(list, name))
            fail_msg("%s: %s: %s", initial, name, cst_effect_text(effect[i]));
        if (effect[i] == CST_CONTRADICTS) expect_int(changed(&y, i, 1e-3, NULL), CST_NUMERIC);
        if (effect[i] > CST_NO_EFFECT) continue;
        int any = 0;
        for (int o = 0; o < nobj; o++) any |= fabs(slope[0][o * n + i]) > 1e-9;
        if (!any) continue;
        expect_int(changed(&y, i, h, above), CST_OK);
        expect_int(changed(&y, i, -h, below), CST_OK);
        for (int o = 0; o < nobj; o++) {
            expect_near(slope[0][o * n + i], slope[1][o * n + i], 1e-12);
            expect_near(slope[0][o * n + i], (above[o] - below[o]) / (2 * h), 1e-7);
        }
    }
    free(slope[0]), free(slope[1]), free(effect);
    trial_end(&y);
}

static void positions(void **state)
{
    (void)state;
    refused_are(GEARED, "{positions: {turn: 0.2, c: 0.5}}",
                " i initial.positions.turn initial.positions.c ");
    refused_are(GEARED, "{positions: {turn: a0, c: i*a0}}", "");
    refused_are(GEARED, "{positions: {turn: a0, turn + c: a0 + i*a0, c: i*a0}}", "");
    refused_are(FIVE_BAR, "{positions: {d.z: 0}}", " initial.positions.d.z ");
}

static void rates(void **state)
{
    (void)state;
    refused_are(GEARED, "{velocities: {turn: 3, c: 7.5}}",
                " i initial.velocities.turn initial.velocities.c ");
    refused_are(GEARED, "{velocities: {turn: w0, c: i*w0}}", "");
    refused_are(GEARED, "{velocities: {turn: w0, c: 2.5*w0}}", " i initial.velocities.c[1] ");
    refused_are(FIVE_BAR, "{velocities: {d.z: 0}}", " initial.velocities.d.z ");
}

/* y' = w (x - A.x) and x' = -w (y - A.y): the position decides what the rates may be. */
static void rates_follow_the_position(void **state)
{
    (void)state;
    refused_are(GEARED, "{velocities: {turn: 3, p.y: 1.5}}",
                " A.x B.x initial.velocities.turn initial.velocities.p.y ");
    refused_are(GEARED, "{positions: {turn: a0}, velocities: {turn: w0, p.y: w0*p.x}}", " A.x ");
    refused_are(GEARED, "{positions: {turn: 0}, velocities: {turn: w0, p.x: 0}}",
                " A.y B.y initial.positions.turn initial.velocities.p.x ");
}

static void rates_follow_the_equilibrium(void **state)
{
    (void)state;
    refused_are(GEARED, "{equilibrium: true, velocities: {turn: w0, p.y: w0*p.x}}", " A.x ");
    refused_are(GEARED, "{equilibrium: true, velocities: {turn: 0, p.y: 0}}",
                " initial.velocities.turn initial.velocities.p.y ");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(positions),
        cmocka_unit_test(rates),
        cmocka_unit_test(rates_follow_the_position),
        cmocka_unit_test(rates_follow_the_equilibrium),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
