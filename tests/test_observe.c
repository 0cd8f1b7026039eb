/* SPDX-License-Identifier: MIT
 *
 * Rules that choose their steps: rows of results at the times asked for, to the order of the rule;
 * instants of objectives and samples met exactly, with their slopes in time. A wheel on a torsion
 * spring swings as phi = b sin(w t), w^2 = 2 k/(m r^2): its rim is at r (cos phi, sin phi). */
#include "expect.h"
#include "integrator/run.h"

#include <stdio.h>
#include <stdlib.h>

#define MASS 1.5
#define RADIUS 0.4
#define STIFFNESS 3.0
#define SWING 1.2
#define END 2.0

static double frequency(double k, double m, double r) { return sqrt(2 * k / (m * r * r)); }

static const char wheel[] =
    "costate: 1\ngravity: [0, 0, 0]\n"
    "parameters: {m: 1.5, r: 0.4, k: 3, T: 0.7345, rate: 1.2*sqrt(2*3/(1.5*0.4^2))}\n"
    "points: {O: [0, 0, 0], Z: [0, 0, 0.1], R: [r, 0, 0]}\n"
    "bodies:\n"
    "  wheel: {type: cylinder, from: O, to: Z, radius: r, mass: m, angular_velocity: [0, 0, "
    "rate]}\n"
    "joints: {hub: {type: revolute, between: [ground, wheel], at: O, axis: z}}\n"
    "forces: {spring: {type: torsion, between: [ground, wheel], axis: z, stiffness: k}}\n"
    "measures:\n"
    "  p: {type: position, of: wheel.R}\n"
    "  v: {type: velocity, of: wheel.R}\n"
    "  a: {type: acceleration, of: wheel.R}\n"
    "objectives: {y: \"at(p.y, T)\", n: \"at(a.x, T) + 1*at(v.y, 1.25)\"}\n"
    "simulation: {end: 2, step: 0.01}\n";

enum { PX, PY, PZ, VX, VY, VZ, AX, AY, AZ };

static void closed(double t, double x[9])
{
    double w = frequency(STIFFNESS, MASS, RADIUS), f = SWING * sin(w * t),
           fd = SWING * w * cos(w * t), fdd = -w * w * f;
    double c = RADIUS * cos(f), s = RADIUS * sin(f);
    const double all[] = {
        c, s, 0, -s * fd, c * fd, 0, -c * fd * fd - s * fdd, -s * fd * fd + c * fdd, 0};
    memcpy(x, all, sizeof all);
}

typedef struct way {
    const char *formulation, *integrator;
    double tolerance;
} way;
static const way ways[] = {{"index1", "rk45", 1e-8},         {"penalty", "rk45", 1e-8},
                           {"maggi", "rk45", 1e-8},          {"joint", "rk45", 1e-8},
                           {"index3", "newmark", 1e-7},      {"augmented", "newmark", 1e-7},
                           {"index1", "trapezoid", 1e-7},    {"index3", "generalized-alpha", 1e-7},
                           {"variational", "midpoint", 1e-7}};
#define WAYS (int)(sizeof ways / sizeof *ways)

static cst_diag diag;
static cst_model *model;

static cst_run *begin(const char *text, const way *by, double tolerance, double output)
{
    char formulation[64];
    memset(&diag, 0, sizeof diag);
    snprintf(formulation, sizeof formulation, "simulation.formulation=%s", by->formulation);
    model = cst_model_parse("wheel.yaml", text, strlen(text), 1, (const char *const[]){formulation},
                            &diag);
    expect_text(diag.text, "");
    cst_options o = cst_options_default();
    o.integrator = by->integrator, o.tolerance = tolerance, o.output = output;
    cst_run *r = cst_run_new(model, &o, &diag);
    expect_text(diag.text, "");
    return r;
}

static void end(cst_run *r)
{
    cst_run_free(r);
    cst_model_free(model);
}

typedef struct seen {
    const cst_run *r;
    double t[100000], x[100000][9];
    int n, rows;
} seen;
static seen one, other;

static int note(void *ctx, double t, const double *x, int n)
{
    seen *s = ctx;
    expect_int(n, 9);
    s->t[s->n] = t, memcpy(s->x[s->n++], x, sizeof(double) * 9);
    s->rows += s->r->row;
    return 0;
}

static void watch(cst_run *r, seen *s)
{
    s->r = r, s->n = s->rows = 0;
    expect_int(cst_run_simulate(r, NULL, note, s, &diag), CST_OK);
}

/* Largest distance of positions and velocities, relative to their sizes, from the closed form */
static double off(const seen *s)
{
    double worst = 0, x[9], speed = RADIUS * SWING * frequency(STIFFNESS, MASS, RADIUS);
    for (int i = 0; i < s->n; i++) {
        closed(s->t[i], x);
        for (int j = 0; j < AX; j++)
            worst = fmax(worst, fabs(s->x[i][j] - x[j]) / (j < VX ? RADIUS : speed));
    }
    return worst;
}

/* Rows are at their times, as accurate as the ends of steps; there are more of them than of steps.
 */
static void rows_at_their_times(void **state)
{
    (void)state;
    for (int k = 0; k < WAYS; k++) {
        cst_run *r = begin(wheel, &ways[k], ways[k].tolerance, 0);
        watch(r, &one);
        long steps = cst_run_stats(r).steps;
        end(r);
        double output = strcmp(ways[k].integrator, "rk45") == 0 ? 0.003 : 0.00075;
        r = begin(wheel, &ways[k], ways[k].tolerance, output);
        watch(r, &other);
        expect_int(other.n, ceil(END / output - 1e-9) + 1);
        expect_int(other.rows, other.n);
        for (int i = 0; i < other.n; i++) expect_near(other.t[i], fmin(i * output, END), 1e-15);
        if (!(off(&other) <= 1.5 * off(&one)))
            print_error("%s %s: %g %g\n", ways[k].formulation, ways[k].integrator, off(&one),
                        off(&other));
        expect_true(off(&other) <= 1.5 * off(&one));
        if (strcmp(ways[k].integrator, "rk45") == 0)
            expect_true(off(&other) <= 6 * ways[k].tolerance);
        expect_int(cst_run_stats(r).steps, steps);
        expect_true(other.n > steps);
        end(r);
    }
}

/* Who sees every step sees the steps of a run without rows in between, to rounding, and the rows.
 */
static void rows_leave_the_steps_alone(void **state)
{
    (void)state;
    for (int k = 0; k < WAYS; k++) {
        cst_run *r = begin(wheel, &ways[k], ways[k].tolerance, 0);
        watch(r, &one);
        end(r);
        r = begin(wheel, &ways[k], ways[k].tolerance, 0.013);
        r->every_step = 1;
        watch(r, &other);
        expect_int(other.rows, ceil(END / 0.013) + 1);
        int met = 0;
        for (int i = 0; i < other.n; i++) {
            expect_true(i == 0 || other.t[i] > other.t[i - 1]);
            if (met == one.n || other.t[i] != one.t[met]) continue;
            for (int j = 0; j < AX; j++) expect_near(other.x[i][j], one.x[met][j], 1e-13);
            met++;
        }
        expect_int(met, one.n);
        end(r);
    }
}

/* Steps of half the length: errors of rows fall by 2^4 and more with rk45 */
static void rows_have_the_order_of_the_rule(void **state)
{
    (void)state;
    for (int k = 0; k < 4; k++) {
        double error[2];
        long steps[2];
        for (int fine = 0; fine < 2; fine++) {
            cst_run *r = begin(wheel, &ways[k], fine ? 1e-8 : 1e-4, 0.001);
            watch(r, &one);
            error[fine] = off(&one), steps[fine] = cst_run_stats(r).steps;
            end(r);
        }
        double order = log(error[0] / error[1]) / log((double)steps[1] / (double)steps[0]);
        if (!(order > 4)) print_error("%s: %g\n", ways[k].formulation, order);
        expect_true(order > 4);
    }
}

/* An instant of an objective is the end of a step: the row there is the same value. Its slopes are
 * those of the closed form, and direct, adjoint and differences agree; the time is a number like
 * others. */
static void objectives_at_an_instant(void **state)
{
    (void)state;
    const double T = 0.7345;
    for (int k = 0; k < WAYS; k++) {
        cst_run *r = begin(wheel, &ways[k], ways[k].tolerance, 0.7345);
        const int which[] = {cst_model_number_find(model, "T"), cst_model_number_find(model, "k"),
                             cst_model_number_find(model, "m"),
                             cst_model_number_find(model, "rate")};
        double adjoint[8], x[9], x1[9], w = frequency(STIFFNESS, MASS, RADIUS),
                                        near = 300 * ways[k].tolerance;
        watch(r, &one);
        closed(T, x), closed(1.25, x1);
        expect_near(one.t[1], T, 1e-15);
        expect_near(cst_run_objective(r, 0), one.x[1][PY], 1e-15);
        expect_near(cst_run_objective(r, 0), x[PY], near);
        expect_near(cst_run_objective(r, 1), x[AX] + x1[VY], w * w * near);
        const cst_gradient *g = cst_run_gradient(r, NULL, CST_ADJOINT, 4, which, &diag);
        expect_not_null(g);
        memcpy(adjoint, g->slope, sizeof adjoint);
        /* phi = rate/w sin(w t): dphi/dT = phi', and with w fixed dphi/drate = phi/rate */
        double fd = SWING * w * cos(w * T), f = SWING * sin(w * T),
               f_w = -f / w + SWING * T * cos(w * T);
        expect_near(adjoint[0], RADIUS * cos(f) * fd, 10 * near);
        expect_near(adjoint[1], RADIUS * cos(f) * f_w * w / (2 * STIFFNESS), 10 * near);
        expect_near(adjoint[2], -RADIUS * cos(f) * f_w * w / (2 * MASS), 10 * near);
        expect_near(adjoint[3], RADIUS * cos(f) * f / (SWING * w), 10 * near);
        /* dax/dT by the closed form */
        double e = 1e-5, before[9], after[9];
        closed(T - e, before), closed(T + e, after);
        expect_near(adjoint[4], (after[AX] - before[AX]) / (2 * e), fmax(w * w * 10 * near, 1e-6));
        g = cst_run_gradient(r, NULL, CST_DIRECT, 4, which, &diag);
        expect_not_null(g);
        int stiff = strcmp(ways[k].formulation, "penalty") == 0; /* lambda* = 1e9 (...) */
        for (int i = 0; i < 8; i++) expect_near(g->slope[i], adjoint[i], stiff ? 1e-7 : 1e-10);
        g = cst_run_gradient(r, NULL, CST_DIFFERENCE, 4, which, &diag);
        expect_not_null(g);
        for (int i = 0; i < 8; i++) expect_near(g->slope[i], adjoint[i], stiff ? 1e-5 : 1e-7);
        end(r);
    }
}

/* The same of samples, many of them between the ends of two steps that the rule would take */
static void samples_at_their_instants(void **state)
{
    (void)state;
    enum { N = 300 };
    cst_sample at[N];
    double y[N], J[N], x[9];
    for (int k = 0; k < WAYS; k++) {
        cst_run *r = begin(wheel, &ways[k], ways[k].tolerance, 0);
        for (int i = 0; i < N; i++)
            at[i] = (cst_sample){.measure = i % 2 ? PX : VY, .time = END * (i + 0.3) / N};
        const int which = cst_model_number_find(model, "rate");
        expect_int(cst_run_samples(r, NULL, N, at, 1, &which, y, J, &diag), CST_OK);
        for (int i = 0; i < N; i++) {
            double w = frequency(STIFFNESS, MASS, RADIUS), near = 300 * ways[k].tolerance;
            closed(at[i].time, x);
            expect_near(y[i], x[at[i].measure], 2 * w * near);
            if (i % 2)
                expect_near(J[i], -x[PY] * SWING * sin(w * at[i].time) / (SWING * w), 10 * near);
        }
        end(r);
    }
}

/* A force that switches: rows on both sides of the event, which is no row. The motion is a parabola
 * in each part: rules are exact. */
static void rows_around_an_event(void **state)
{
    (void)state;
    static const char pushed[] =
        "costate: 1\ngravity: [0, 0, 0]\n"
        "points: {O: [0, 0, 0]}\n"
        "bodies: {a: {type: point, position: O, mass: 2, velocity: [1, 0, 0]}}\n"
        "measures: {p: {type: position, of: a.origin}, v: {type: velocity, of: a.origin}, a: "
        "{type: acceleration, of: a.origin}}\n"
        "forces: {f: {type: force, on: a.origin, force: [\"if(p.x < 0.5, 4, -6)\", 0, 0]}}\n"
        "simulation: {end: 1, step: 0.01}\n";
    double ts = sqrt(1 + 2 * 2 * 0.5) / 2 - 0.5, vs = 1 + 2 * ts; /* x = t + t^2 = 0.5 */
    for (int k = 0; k < WAYS; k++) {
        cst_run *r = begin(pushed, &ways[k], 1e-6, 0.02);
        watch(r, &one);
        expect_int(one.n, 51);
        for (int i = 0; i < one.n; i++) {
            double t = one.t[i], s = t - ts;
            expect_near(t, 0.02 * i, 1e-15);
            expect_near(one.x[i][PX], s < 0 ? t + t * t : 0.5 + vs * s - 1.5 * s * s, 1e-12);
            expect_near(one.x[i][VX], s < 0 ? 1 + 2 * t : vs - 3 * s, 1e-12);
            expect_near(one.x[i][AX], s < 0 ? 2 : -3, 1e-12);
        }
        end(r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_at_their_times),
        cmocka_unit_test(rows_leave_the_steps_alone),
        cmocka_unit_test(rows_have_the_order_of_the_rule),
        cmocka_unit_test(objectives_at_an_instant),
        cmocka_unit_test(samples_at_their_instants),
        cmocka_unit_test(rows_around_an_event),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
