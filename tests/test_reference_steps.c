/* SPDX-License-Identifier: MIT
 *
 * The step of newmark.h by itself, on the pendulum in closed form: second order from the first step
 * on, across changes of the step's length and across a step that is very short, in positions,
 * velocities, accelerations and multipliers. */
#include "integrator/newmark.h"
#include "integrator/run.h"
#include "reference.h"

enum { POSITION, VELOCITY, ACCELERATION, MULTIPLIER, LEVELS };

typedef struct stepper {
    cst_test_run t;
    cst_state y[2]; /* y[0] is the present one */
    double g, L;
} stepper;

/* begins in the closed form's state at time t */
static void stepper_open(stepper *s, double t)
{
    run_open(&s->t, EXAMPLE("pendulum"), 1, 0);
    run_check(&s->t, cst_run_simulate(s->t.r, NULL, NULL, NULL, &s->t.d) == CST_OK);
    s->g = 9.81, s->L = 1;
    for (int i = 0; i < 2; i++) s->y[i] = cst_state_view(s->t.m, s->t.r->state_block[i]);
    pendulum_at at = pendulum_exact(t, s->g, s->L);
    *s->y[0].t = t;
    for (int k = 0; k < 2; k++) s->y[0].q[k] = at.p[k], s->y[0].u[k] = at.v[k];
    run_check(&s->t, cst_motion_derive(s->t.r->w, &s->y[0], &s->t.d) == CST_OK);
}

/* largest error of each level at the present state */
static void stepper_error(const stepper *s, double e[LEVELS])
{
    const cst_state *y = &s->y[0];
    pendulum_at at = pendulum_exact(*y->t, s->g, s->L);
    for (int k = 0; k < 2; k++) {
        e[POSITION] = fmax(e[POSITION], fabs(y->q[k] - at.p[k]));
        e[VELOCITY] = fmax(e[VELOCITY], fabs(y->u[k] - at.v[k]));
        e[ACCELERATION] = fmax(e[ACCELERATION], fabs(y->ud[k] - at.a[k]));
    }
    e[MULTIPLIER] = fmax(e[MULTIPLIER], fabs(2 * y->lambda[0] * s->L - at.tension));
}

static void stepper_step(stepper *s, double h)
{
    run_check(&s->t, cst_newmark_step(s->t.r->w, &s->y[0], h, &s->y[1]) == CST_OK);
    cst_state swap = s->y[0];
    s->y[0] = s->y[1], s->y[1] = swap;
}

/* Largest errors over a list of steps, multiples of h, made `repeat` times. */
static void sequence(double start, double h, int n, const double *multiple, int repeat,
                     double e[LEVELS])
{
    stepper s;
    stepper_open(&s, start);
    memset(e, 0, sizeof *e * LEVELS);
    stepper_error(&s, e);
    for (int i = 0; i < LEVELS; i++) expect_near(e[i], 0, 1e-12);
    for (int i = 0; i < repeat; i++)
        for (int k = 0; k < n; k++) {
            stepper_step(&s, multiple[k] * h);
            stepper_error(&s, e);
        }
    run_close(&s.t);
}

/* One step: at least second order at every level, so that nothing is lost in what is derived. */
static void test_first_step(void **state)
{
    (void)state;
    static const double one = 1;
    for (double start = 0.1; start < 2.4; start += 0.3) {
        double a[LEVELS], b[LEVELS];
        sequence(start, 1e-2, 1, &one, 1, a);
        sequence(start, 5e-3, 1, &one, 1, b);
        for (int i = 0; i < LEVELS; i++) {
            expect_true(a[i] > 1e-9);
            expect_true(a[i] / b[i] > 3.9);
        }
    }
}

static void test_changing_step(void **state)
{
    (void)state;
    static const double multiple[] = {1, 1, 0.3, 1.7, 0.05, 2, 1};
    double a[LEVELS], b[LEVELS];
    sequence(0.37, 4e-3, 7, multiple, 40, a);
    sequence(0.37, 2e-3, 7, multiple, 80, b);
    for (int i = 0; i < LEVELS; i++) expect_near(a[i] / b[i], 4, 0.08);
}

/* A step of 1e-7 s in between changes no error by more than rounding allows, in lambda or in what
 * follows. */
static void test_tiny_step(void **state)
{
    (void)state;
    stepper s;
    stepper_open(&s, 0.37);
    for (int i = 0; i < 200; i++) {
        double before[LEVELS] = {0}, after[LEVELS] = {0};
        stepper_step(&s, 4e-3);
        stepper_error(&s, before);
        if (i % 10 == 0) {
            stepper_step(&s, 1e-7);
            stepper_error(&s, after);
            for (int k = 0; k < LEVELS; k++) expect_near(after[k], before[k], 1e-7);
        }
    }
    run_close(&s.t);
    static const double multiple[] = {1, 1, 1, 1, 1, 1};
    for (int tiny = 0; tiny < 2; tiny++) { /* and second order over all of it */
        double a[LEVELS] = {0}, b[LEVELS] = {0};
        double *e[2] = {a, b};
        for (int k = 0; k < 2; k++) {
            double h = 4e-3 / (1 << k), with[6];
            for (int i = 0; i < 6; i++) with[i] = tiny && i == 3 ? 1e-7 / h : multiple[i];
            sequence(0.37, h, 6, with, 40 << k, e[k]);
        }
        for (int i = 0; i < LEVELS; i++) expect_near(a[i] / b[i], 4, 0.08);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_first_step),
        cmocka_unit_test(test_changing_step),
        cmocka_unit_test(test_tiny_step),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
