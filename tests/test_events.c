/* SPDX-License-Identifier: MIT
 *
 * Forces that switch: values and gradients against closed forms. Forces are constant between the switches, so that the
 * trapezoidal rule itself is exact and only the treatment of the events is judged. */
#include "costate.h"
#include "expect.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static cst_diag diag;

typedef struct answer { double value, adjoint[16], direct[16]; } answer;

/* value and gradient of the first objective by the parameters named */
static answer solve(const char *text, const char *events, double memory, int n, const char *const *name)
{
    answer a = {0};
    memset(&diag, 0, sizeof diag);
    cst_model *m = cst_model_parse("model.yaml", text, strlen(text), 0, NULL, &diag);
    expect_text(diag.text, "");
    cst_options o = cst_options_default();
    o.events = events, o.memory = memory;
    cst_run *r = cst_run_new(m, &o, &diag);
    expect_text(diag.text, "");
    int which[16];
    for (int i = 0; i < n; i++) which[i] = cst_model_number_find(m, name[i]), expect_true(which[i] >= 0);
    for (int method = 0; method < 2; method++) {
        const cst_gradient *g = cst_run_gradient(r, NULL, method ? CST_DIRECT : CST_ADJOINT, n, which, &diag);
        expect_text(diag.text, "");
        a.value = g->value[0];
        memcpy(method ? a.direct : a.adjoint, g->slope, sizeof(double) * (size_t)n);
    }
    cst_run_free(r);
    cst_model_free(m);
    return a;
}

#define CROSSING(objective)                                                                                   \
    "costate: 1\ngravity: [0, 0, 0]\n"                                                                        \
    "parameters: {v0: 1.3, xs: 0.37, F1: 2, F2: -1.5, m: 0.8, w0: 1.3, ys: 0.37, G1: 2}\n"                    \
    "points: {O: [0, 0, 0], Q: [0, 1, 0]}\n"                                                                  \
    "bodies:\n"                                                                                               \
    "  a: {type: point, position: O, mass: m, velocity: [v0, 0, 0]}\n"                                        \
    "  b: {type: point, position: Q, mass: m, velocity: [w0, 0, 0]}\n"                                        \
    "measures: {p: {type: position, of: a.origin}, q: {type: position, of: b.origin}}\n"                      \
    "forces:\n"                                                                                               \
    "  f: {type: force, on: a.origin, force: [\"if(p.x < xs, F1, F2)\", 0, 0]}\n"                             \
    "  g: {type: force, on: b.origin, force: [\"if(q.x < ys, G1, F2)\", 0, 0]}\n"                             \
    "objectives: {psi: " objective "}\n"                                                                      \
    "simulation: {end: 1, step: 0.03}\n"

/* x(1) of a mass that is pushed with F1 up to xs and with F2 behind it */
static double crossing(const double p[5])
{
    double v0 = p[0], xs = p[1], a1 = p[2] / p[4], a2 = p[3] / p[4];
    double v = sqrt(v0 * v0 + 2 * a1 * xs), t = 1 - (v - v0) / a1;
    return xs + v * t + a2 * t * t / 2;
}

/* the same by numbers: p enters v = sqrt(v0^2 + 2 a1 xs) and t = 1 - (v - v0)/a1 */
static void crossing_gradient(const double p[5], double g[5])
{
    double v0 = p[0], xs = p[1], F1 = p[2], F2 = p[3], m = p[4], a1 = F1 / m, a2 = F2 / m;
    double v = sqrt(v0 * v0 + 2 * a1 * xs), t = 1 - (v - v0) / a1, x_v = t, x_t = v + a2 * t;
    double v_v0 = v0 / v, v_xs = a1 / v, v_a1 = xs / v;
    g[0] = x_v * v_v0 + x_t * -(v_v0 - 1) / a1;
    g[1] = 1 + x_v * v_xs + x_t * -v_xs / a1;
    double x_a1 = x_v * v_a1 + x_t * (-v_a1 / a1 + (v - v0) / (a1 * a1)), x_a2 = t * t / 2;
    g[2] = x_a1 / m, g[3] = x_a2 / m, g[4] = -(x_a1 * F1 + x_a2 * F2) / (m * m);
}

static const double numbers[] = {1.3, 0.37, 2, -1.5, 0.8};

static void step_in_force(void **state)
{
    (void)state;
    static const char *const name[] = {"v0", "xs", "F1", "F2", "m"};
    double g[5];
    crossing_gradient(numbers, g);
    for (int limited = 0; limited < 2; limited++) { /* with checkpoints too */
        answer a = solve(CROSSING("end(p.x)"), "exact", limited ? 8e3 : 0, 5, name);
        expect_near(a.value, crossing(numbers), 1e-13);
        for (int i = 0; i < 5; i++) expect_near(a.adjoint[i], g[i], 1e-12), expect_near(a.direct[i], g[i], 1e-12);
    }
}

/* Two masses cross at the very same instant: each gradient is that of its own crossing. */
static void two_at_once(void **state)
{
    (void)state;
    static const char *const name[] = {"v0", "xs", "F1", "w0", "ys", "G1", "F2", "m"};
    double g[5];
    crossing_gradient(numbers, g);
    answer a = solve(CROSSING("end(p.x) + 2*end(q.x)"), "exact", 0, 8, name);
    const double expected[] = {g[0], g[1], g[2], 2 * g[0], 2 * g[1], 2 * g[2], 3 * g[3], 3 * g[4]};
    expect_near(a.value, 3 * crossing(numbers), 1e-13);
    for (int i = 0; i < 8; i++) expect_near(a.adjoint[i], expected[i], 1e-10), expect_near(a.direct[i], expected[i], 1e-10);
}

/* Frozen: the instant t1 of the crossing stays. The mass is then pushed by F1 for t1 and by F2 for the rest. */
static void frozen_times(void **state)
{
    (void)state;
    static const char *const name[] = {"v0", "xs", "F1", "F2"};
    double v0 = numbers[0], a1 = numbers[2] / numbers[4], m = numbers[4];
    double t1 = (sqrt(v0 * v0 + 2 * a1 * numbers[1]) - v0) / a1, rest = 1 - t1;
    const double expected[] = {1, 0, (t1 * t1 / 2 + t1 * rest) / m, rest * rest / 2 / m};
    answer a = solve(CROSSING("end(p.x)"), "frozen", 0, 4, name);
    expect_near(a.value, crossing(numbers), 1e-13);
    for (int i = 0; i < 4; i++) expect_near(a.adjoint[i], expected[i], 1e-12), expect_near(a.direct[i], expected[i], 1e-12);
}

/* A switched oscillator: constant force towards the middle. Half periods are parabolas: with amplitude A the velocity at the
 * middle is w = sqrt(2 a A) and a quarter of the period takes w/a. The integral of x^2 is not exact: compare both ways. */
static void switched_oscillator(void **state)
{
    (void)state;
    static const char text[] = "costate: 1\ngravity: [0, 0, 0]\nparameters: {A: 0.5, a: 2}\n"
                               "points: {O: [A, 0, 0]}\nbodies: {b: {type: point, position: O, mass: 1}}\n"
                               "measures: {p: {type: position, of: b.origin}}\n"
                               "forces: {f: {type: force, on: b.origin, force: [\"if(p.x > 0, -a, a)\", 0, 0]}}\n"
                               "objectives: {psi: end(p.x), sum: integral(p.x^2)}\n"
                               "simulation: {end: 3, step: 0.01}\n";
    static const char *const name[] = {"A", "a"};
    answer r = solve(text, "exact", 0, 2, name);
    /* quarter q = sqrt(2 A/a); after 3 quarters the mass is in the middle and moves to +: x = w s - a s^2/2, s = 3 - 3 q */
    double A = 0.5, a = 2, q = sqrt(2 * A / a), w = a * q, s = 3 - 3 * q;
    while (s > 2 * q) s -= 2 * q, w = -w; /* further half periods */
    double sign = w > 0 ? 1 : -1, halves = round((3 - 3 * q - s) / (2 * q));
    expect_near(r.value, sign * (a * q * s - a * s * s / 2), 1e-12);
    double q_A = 1 / (a * q), q_a = -A / (a * a * q), n = 3 + 2 * halves; /* s = 3 - n q */
    double x_s = sign * (a * q - a * s), x_q = sign * a * s;
    expect_near(r.adjoint[0], x_q * q_A + x_s * -n * q_A, 1e-9);
    expect_near(r.adjoint[1], sign * (q * s - s * s / 2) + x_q * q_a + x_s * -n * q_a, 1e-9);
    for (int i = 0; i < 2; i++) expect_near(r.direct[i], r.adjoint[i], 1e-11);
}

/* A damped stop: the force jumps at contact. Adjoint = direct = differences, which are event-located too. */
static void bouncing_mass(void **state)
{
    (void)state;
    static const char text[] = "costate: 1\ngravity: [0, 0, -9.81]\nparameters: {k: 2000, c: 8, z0: 0.7, m: 1.1}\n"
                               "points: {O: [0, 0, z0]}\nbodies: {b: {type: point, position: O, mass: m}}\n"
                               "measures: {p: {type: position, of: b.origin}}\n"
                               "forces: {s: {type: stop, of: p.z, lower: 0.1, stiffness: k, damping: c}}\n"
                               "objectives: {psi: end(p.z)}\n"
                               "simulation: {end: 1, step: 0.002}\n";
    memset(&diag, 0, sizeof diag);
    cst_model *m = cst_model_parse("model.yaml", text, strlen(text), 0, NULL, &diag);
    expect_text(diag.text, "");
    cst_run *r = cst_run_new(m, NULL, &diag);
    int n = cst_model_number_count(m);
    double *slope = calloc((size_t)n, sizeof *slope);
    const cst_gradient *g = cst_run_gradient(r, NULL, CST_ADJOINT, 0, NULL, &diag);
    memcpy(slope, g->slope, sizeof *slope * (size_t)n);
    g = cst_run_gradient(r, NULL, CST_DIRECT, 0, NULL, &diag);
    for (int i = 0; i < n; i++) expect_near(g->slope[i], slope[i], 1e-10);
    g = cst_run_gradient(r, NULL, CST_DIFFERENCE, 0, NULL, &diag);
    for (int i = 0; i < n; i++) expect_near(g->slope[i], slope[i], 1e-6 + 10 * g->error[i]);
    free(slope);
    cst_run_free(r);
    cst_model_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(step_in_force), cmocka_unit_test(two_at_once), cmocka_unit_test(frozen_times),
        cmocka_unit_test(switched_oscillator), cmocka_unit_test(bouncing_mass),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
