/* SPDX-License-Identifier: MIT
 *
 * Energy of elements made of expressions: what a torsion spring and a stop store and lose. Without
 * other forces kinetic + potential + dissipated = constant along the exact motion; along a run the
 * error is of second order. */
#include "costate.h"
#include "expect.h"

#include <stdio.h>

typedef struct course {
    double first[4], last[4]; /* kinetic, potential, total, dissipated */
    double worst;             /* of total + dissipated against the start */
    long rows;
} course;

static int watch(void *ctx, double t, const double *y, int n)
{
    course *c = ctx;
    (void)t;
    expect_int(n, 4);
    if (c->rows++ == 0) memcpy(c->first, y, sizeof c->first);
    memcpy(c->last, y, sizeof c->last);
    c->worst = fmax(c->worst, fabs(y[2] + y[3] - c->first[2] - c->first[3]));
    expect_near(y[0] + y[1], y[2], 1e-14);
    return 0;
}

static course run(const char *force, double step)
{
    static char text[1200];
    static cst_diag d;
    d = (cst_diag){0};
    snprintf(text, sizeof text,
             "costate: 1\n"
             "gravity: [0, 0, 0]\n"
             "points: {O: [0, 0, 0], P: [0.5, 0, 0]}\n"
             "bodies: {b: {type: bar, from: O, to: P, mass: 2, velocity: [0, 0.75, 0], "
             "angular_velocity: [0, 0, 3]}}\n"
             "joints: {j: {type: revolute, between: [ground, b], at: O, axis: z}}\n"
             "measures: {E: {type: energy}}\n"
             "forces: {f: %s}\n"
             "simulation: {end: 1.5, step: %.17g}\n",
             force, step);
    cst_model *m = cst_model_parse("m.yaml", text, strlen(text), 0, NULL, &d);
    expect_text(d.text, "");
    cst_run *r = cst_run_new(m, NULL, &d);
    course c = {0};
    expect_int(cst_run_simulate(r, NULL, watch, &c, &d), CST_OK);
    cst_run_free(r);
    cst_model_free(m);
    return c;
}

/* Second order: (omega h)^2 of the energy bounds the error at every step length, omega^2 =
 * stiffness/inertia. How much of it there is depends on where events fall in the steps. */
static void balance(const char *force, double stiffness, double stored, int damped)
{
    const double inertia = 2 * 0.25 / 3,
                 steps[] = {2e-3, 1e-3, 5e-4, 2.5e-4}; /* m L^2/3 about the hinge */
    for (int k = 0; k < 4; k++) {
        course c = run(force, steps[k]);
        expect_near(c.first[0], 0.5 * inertia * 9, 1e-13);
        expect_near(c.first[1], stored, 1e-13);
        expect_true(c.worst < stiffness / inertia * steps[k] * steps[k] * c.first[2]);
        if (damped)
            expect_true(c.last[3] > 0.05 * c.first[0]);
        else
            expect_near(c.last[3], 0, 1e-12);
    }
}

static void test_torsion(void **state)
{
    (void)state;
    balance("{type: torsion, between: [ground, b], axis: z, stiffness: 7, free_angle: 0.3}", 7,
            0.5 * 7 * 0.09, 0);
    balance("{type: torsion, between: [ground, b], axis: z, stiffness: 7, damping: 0.2, "
            "free_angle: 0.3}",
            7, 0.5 * 7 * 0.09, 1);
}

/* the start is beyond the lower stop by 0.1 rad */
static void test_stop(void **state)
{
    (void)state;
    balance("{type: stop, of: j, lower: 0.1, upper: 0.8, stiffness: 30}", 30, 0.5 * 30 * 0.01, 0);
    balance("{type: stop, of: j, lower: 0.1, upper: 0.8, stiffness: 30, damping: 0.3}", 30,
            0.5 * 30 * 0.01, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_torsion), cmocka_unit_test(test_stop)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
