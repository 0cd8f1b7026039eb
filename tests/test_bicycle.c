/* SPDX-License-Identifier: MIT
 *
 * The Whipple bicycle of Meijaard, Papadopoulos, Ruina and Schwab (2007, table 1) on tires that
 * hardly slip. Near the upright motion its lean and steering follow their linear equations
 *
 *     M q'' + v C1 q' + (g K0 + v^2 K2) q = 0,   q = (lean, steer)
 *
 * whose matrices are given in their paper for wheels that do not slip in the contact. */
#include "costate.h"
#include "expect.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double M[2][2] = {{80.81722, 2.31941332208709}, {2.31941332208709, 0.29784188199686}};
static const double C1[2][2] = {{0, 33.86641391492494}, {-0.85035641456978, 1.68540397397560}};
static const double K0[2][2] = {{-80.95, -2.59951685249872},
                                {-2.59951685249872, -0.80329488458618}};
static const double K2[2][2] = {{0, 76.59734589573222}, {0, 2.65431523794604}};

/* y = (q, q') */
static void rates(double v, const double y[4], double f[4])
{
    double b[2], det = M[0][0] * M[1][1] - M[0][1] * M[1][0];
    for (int i = 0; i < 2; i++) {
        b[i] = 0;
        for (int j = 0; j < 2; j++)
            b[i] -= v * C1[i][j] * y[2 + j] + (9.81 * K0[i][j] + v * v * K2[i][j]) * y[j];
    }
    f[0] = y[2], f[1] = y[3];
    f[2] = (M[1][1] * b[0] - M[0][1] * b[1]) / det, f[3] = (M[0][0] * b[1] - M[1][0] * b[0]) / det;
}

/* The classical Runge-Kutta rule */
static void advance(double v, double h, double y[4])
{
    double k[4][4], x[4];
    const double at[4] = {0, 0.5, 0.5, 1}, weight[4] = {1, 2, 2, 1};
    for (int s = 0; s < 4; s++) {
        for (int i = 0; i < 4; i++) x[i] = y[i] + (s ? h * at[s] * k[s - 1][i] : 0);
        rates(v, x, k[s]);
    }
    for (int s = 0; s < 4; s++)
        for (int i = 0; i < 4; i++) y[i] += h / 6 * weight[s] * k[s][i];
}

/* All rates of the drawing fit together: the frame leans about the line of the contacts, and the
 * rear wheel and the front wheel roll. */
#define BICYCLE                                                                                    \
    "costate: 1\ngravity: [0, 0, -9.81]\n"                                                         \
    "parameters: {v: %g, lam: pi/10, wb: 1.02, c: 0.08, k: 1e7, ac: %g, p0: 0.002}\n"              \
    "points: {R: [0, 0, 0.3], F: [wb, 0, 0.35], S: [wb + c - 0.8*sin(lam), 0, 0.8*cos(lam)], Bc: " \
    "[0.3, 0, 0.9], Hc: [0.9, 0, 0.7]}\n"                                                          \
    "bodies:\n"                                                                                    \
    "  rear: {type: rigid, position: R, mass: 2, inertia: [0.0603, 0.12, 0.0603], velocity: [v, "  \
    "-0.3*p0, 0], angular_velocity: [p0, v/0.3, 0]}\n"                                             \
    "  front: {type: rigid, position: F, mass: 3, inertia: [0.1405, 0.28, 0.1405], velocity: [v, " \
    "-0.35*p0, 0], angular_velocity: [p0, v/0.35, 0]}\n"                                           \
    "  frame: {type: rigid, com: Bc, mass: 85, inertia: [9.2, 11, 2.8, 0, -2.4, 0], velocity: "    \
    "[v, -0.9*p0, 0], angular_velocity: [p0, 0, 0]}\n"                                             \
    "  fork: {type: rigid, com: Hc, mass: 4, inertia: [0.05892, 0.06, 0.00708, 0, 0.00756, 0], "   \
    "velocity: [v, -0.7*p0, 0], angular_velocity: [p0, 0, 0]}\n"                                   \
    "joints:\n"                                                                                    \
    "  jr: {type: revolute, between: [frame, rear], at: R, axis: y}\n"                             \
    "  jf: {type: revolute, between: [fork, front], at: F, axis: y}\n"                             \
    "  js: {type: revolute, between: [frame, fork], at: S, axis: [-sin(lam), 0, cos(lam)]}\n"      \
    "forces:\n"                                                                                    \
    "  tr: {type: tire, wheel: rear, road: 612.8/k, radius: 0.3, stiffness: k, damping: 2e4, "     \
    "critical_slip: ac, critical_angle: ac, low_speed: 1e-6, slip: %s}\n"                          \
    "  tf: {type: tire, wheel: front, road: 309.3/k, radius: 0.35, stiffness: k, damping: 2e4, "   \
    "critical_slip: ac, critical_angle: ac, low_speed: 1e-6, slip: %s}\n"                          \
    "measures: {att: {type: cardan, of: frame}, steer: {type: joint, of: js}}\n"                   \
    "simulation: {end: 1.5, step: 1e-3}\n"

typedef struct history {
    double v, t, y[4], off[2], most[2];
    int roll, steer;
} history;

static int compare(void *ctx, double t, const double *measure, int n)
{
    history *h = ctx;
    expect_true(h->roll < n && h->steer < n);
    const double q[2] = {measure[h->roll], -measure[h->steer]}; /* z points down in the paper */
    for (; h->t < t - 1e-9; h->t += 1e-3) advance(h->v, 1e-3, h->y);
    for (int i = 0; i < 2; i++)
        h->off[i] = fmax(h->off[i], fabs(q[i] - h->y[i])),
        h->most[i] = fmax(h->most[i], fabs(h->y[i]));
    return 0;
}

/* angle: critical_angle and critical_slip. Largest deviation from the linear equations, relative to
 * the largest lean or angle of steering */
static double deviation(double v, double angle, const char *slip)
{
    char text[4000];
    cst_diag diag = {0};
    snprintf(text, sizeof text, BICYCLE, v, angle, slip, slip);
    cst_model *m = cst_model_parse("bicycle.yaml", text, strlen(text), 0, NULL, &diag);
    expect_text(diag.text, "");
    cst_run *r = cst_run_new(m, NULL, &diag);
    history h = {.v = v, .y = {0, 0, 0.002, 0}, .roll = -1, .steer = -1};
    for (int i = 0; i < cst_model_measure_count(m); i++) {
        if (strcmp(cst_model_measure_name(m, i), "att.roll") == 0) h.roll = i;
        if (strcmp(cst_model_measure_name(m, i), "steer") == 0) h.steer = i;
    }
    expect_int(cst_run_simulate(r, NULL, compare, &h, &diag), CST_OK);
    expect_text(diag.text, "");
    cst_run_free(r);
    cst_model_free(m);
    return fmax(h.off[0] / h.most[0], h.off[1] / h.most[1]);
}

/* What slip remains is in proportion to the critical angle: two of them are extrapolated to none.
 * What is then left is the deflection of the tires. With the velocities of the wheel centres the
 * bicycle is another one. */
static void linear_equations(void **state)
{
    (void)state;
    static const double speed[] = {4, 5, 6};
    for (int i = 0; i < 3; i++) {
        expect_near(2 * deviation(speed[i], 5e-4, "contact") - deviation(speed[i], 1e-3, "contact"),
                    0, 1e-3);
        expect_true(deviation(speed[i], 5e-4, "centre") > 0.05);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(linear_equations)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
