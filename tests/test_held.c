/* SPDX-License-Identifier: MIT
 *
 * Friction that depends on the reaction of its joint, which is held from step to step: against
 * closed forms. */
#include "costate.h"
#include "expect.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static cst_diag diag;

/* A block slides on a guide with the load m g + a t; v is far above the transition speed. */
static const char block[] =
    "costate: 1\ngravity: [0, 0, \"-g\"]\nparameters: {mu: 0.3, g: 9.81, v: 4, m: 2, a: "
    "3}\npoints: {O: [0, 0, 0]}\n"
    "bodies: {b: {type: rigid, position: O, mass: m, inertia: [1, 1, 1], velocity: [v, 0, 0]}}\n"
    "joints: {j: {type: prismatic, between: [ground, b], at: O, axis: [1, 0, 0]}}\n"
    "measures: {R: {type: reaction, of: j}, p: {type: position, of: b.origin}}\n"
    "forces:\n"
    "  f: {type: friction, of: j, coulomb: \"mu*norm(R.force)\"}\n"
    "  w: {type: force, on: b.origin, force: [0, 0, \"-a*t\"]}\n"
    "objectives: {psi: end(p.x), top: peak(p.x), way: integral(p.x)}\n"
    "simulation: {end: 0.5, step: 0.01}\n";

static const char *const name[] = {"mu", "g", "v", "m", "a"};
enum { MU, G, V, M, A, N };

typedef struct answer {
    double psi, adjoint[3 * N], direct[3 * N], difference[3 * N];
} answer;

static answer solve(const char *formulation, const char *integrator, const char *load, double step,
                    double memory)
{
    char set[64], also[64];
    answer r = {0};
    int which[N];
    snprintf(set, sizeof set, "simulation.formulation=%s", formulation),
        snprintf(also, sizeof also, "a=%s", load);
    memset(&diag, 0, sizeof diag);
    cst_model *m = cst_model_parse("model.yaml", block, strlen(block), 2,
                                   (const char *const[]){set, also}, &diag);
    expect_text(diag.text, "");
    cst_options o = cst_options_default();
    o.step = step, o.memory = memory, o.integrator = integrator;
    cst_run *run = cst_run_new(m, &o, &diag);
    expect_text(diag.text, "");
    for (int i = 0; i < N; i++) which[i] = cst_model_number_find(m, name[i]);
    double *to[] = {r.adjoint, r.direct, r.difference};
    for (int k = 0; k < 3; k++) {
        const cst_gradient *g = cst_run_gradient(run, NULL,
                                                 k == 0   ? CST_ADJOINT
                                                 : k == 1 ? CST_DIRECT
                                                          : CST_DIFFERENCE,
                                                 N, which, &diag);
        expect_text(diag.text, "");
        for (int i = 0; i < 3 * N; i++) {
            to[k][i] = g->slope[i];
            if (g->effect[i] != CST_NO_EFFECT) expect_int(g->effect[i], CST_EXACT);
        }
        r.psi = g->value[0];
    }
    cst_run_free(run);
    cst_model_free(m);
    return r;
}

static const char *const ways[][2] = {{"index3", "newmark"}, {"index1", "trapezoid"},
                                      {"index1", "rk4"},     {"maggi", "rk4"},
                                      {"joint", "rk45"},     {"variational", "midpoint"}};

/* A constant load: x = v T - mu g T^2/2, to rounding, whatever the step */
static void constant_load(void **state)
{
    (void)state;
    const double mu = 0.3, g = 9.81, v = 4, T = 0.5,
                 slope[N] = {-g * T * T / 2, -mu * T * T / 2, T, 0, 0};
    for (size_t k = 0; k < sizeof ways / sizeof *ways; k++) {
        answer r = solve(ways[k][0], ways[k][1], "0", 0.01, 0);
        expect_near(r.psi, v * T - mu * g * T * T / 2, 1e-11);
        for (int i = 0; i < A; i++)
            expect_near(r.adjoint[i], slope[i], 1e-10), expect_near(r.direct[i], slope[i], 1e-10);
    }
}

/* A load that grows: x = v T - mu (g T^2/2 + a T^3/(6 m)); what is held lags by a step. Derivatives
 * are those of the steps. */
static void growing_load(void **state)
{
    (void)state;
    const double x = 4 * 0.5 - 0.3 * (9.81 * 0.125 + 3 * 0.125 / 12);
    double off[2];
    for (int k = 0; k < 2; k++)
        off[k] = solve("index3", "newmark", "3", k ? 0.005 : 0.01, 0).psi - x;
    expect_near(off[1] / off[0], 0.5, 0.01);
    for (size_t k = 0; k < sizeof ways / sizeof *ways; k++) {
        answer r = solve(ways[k][0], ways[k][1], "3", 0.01, 0),
               limited = solve(ways[k][0], ways[k][1], "3", 0.01, 3e4);
        for (int i = 0; i < 3 * N; i++) {
            expect_near(r.direct[i], r.adjoint[i], 1e-11);
            expect_true(limited.adjoint[i] == r.adjoint[i]); /* the same bits */
            expect_near(r.difference[i], r.adjoint[i], 1e-7);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(constant_load),
                                       cmocka_unit_test(growing_load)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
