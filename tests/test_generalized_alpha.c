/* SPDX-License-Identifier: MIT
 *
 * The generalised-alpha integrator: a linear oscillator follows its recurrence, written out by
 * hand; vibrations faster than the steps decay by rho per step; order 2 on the pendulum's closed
 * form; energy at rho = 1; gradients from checkpoints and by differences. adjoint = direct on
 * mechanisms and the order of the gradient are in test_formulations.c; events in test_events.c. */
#include "reference.h"

#include <stdlib.h>

static cst_model *parse(cst_test_run *t, const char *text)
{
    memset(&t->d, 0, sizeof t->d);
    t->m = cst_model_parse("model.yaml", text, strlen(text), 0, NULL, &t->d);
    run_check(t, t->m != NULL);
    return t->m;
}

static void open_run(cst_test_run *t, double step, double end, double memory)
{
    cst_options o = cst_options_default();
    o.step = step, o.end = end, o.memory = memory, o.integrator = "generalized-alpha";
    t->r = cst_run_new(t->m, &o, &t->d);
    run_check(t, t->r != NULL);
}

/* ---- the linear oscillator ---- */

enum { STEPS = 24 };

typedef struct history {
    int n;
    double x[STEPS + 1], a[STEPS + 1];
} history;

static int record(void *ctx, double t, const double *measures, int n)
{
    history *y = ctx;
    (void)t, (void)n;
    if (y->n <= STEPS) y->x[y->n] = measures[0], y->a[y->n++] = measures[3];
    return 0;
}

/* x'' = -w^2 x - 2 z w x' from x = 0, x' = 1 */
static history oscillate(double rho, double w, double z, double h)
{
    char text[1024];
    cst_test_run t;
    history y = {0};
    snprintf(
        text, sizeof text,
        "costate: 1\ngravity: [0, 0, 0]\npoints: {P: [0, 0, 0]}\nbodies: {b: {type: point, "
        "position: P, mass: 1, velocity: [1, 0, 0]}}\n"
        "measures: {p: {type: position, of: b.origin}, acc: {type: acceleration, of: b.origin}, v: "
        "{type: velocity, of: b.origin}}\n"
        "forces: {f: {type: force, on: b.origin, force: [\"-(%.17g)*p.x - (%.17g)*v.x\", 0, 0]}}\n"
        "simulation: {rho: %.17g}\n",
        w * w, 2 * z * w, rho);
    parse(&t, text);
    open_run(&t, h, STEPS * h, 0);
    run_check(&t, cst_run_simulate(t.r, NULL, record, &y, &t.d) == CST_OK);
    expect_true(y.n == STEPS + 1);
    run_close(&t);
    return y;
}

/* The same by hand: one linear equation for a1 */
static history by_hand(double rho, double w, double z, double h)
{
    double am = (2 * rho - 1) / (rho + 1), af = rho / (rho + 1), gamma = 0.5 + af - am,
           beta = (0.5 + gamma) * (0.5 + gamma) / 4;
    double x = 0, v = 1, f = -2 * z * w * v, a = f;
    history y = {.n = STEPS + 1, .x = {x}, .a = {f}};
    for (int i = 1; i <= STEPS; i++) {
        double x0 = x + h * v + h * h * (0.5 - beta) * a,
               v0 = v + h * (1 - gamma) * a; /* without a1 */
        double known = am * a - af * f, k = w * w * h * h * beta + 2 * z * w * h * gamma;
        /* (1 - am) a1 + known = (1 - af) f1,  f1 = -w^2 (x0 + h^2 beta a1) - 2 z w (v0 + h gamma
         * a1) */
        double a1 = ((1 - af) * (-w * w * x0 - 2 * z * w * v0) - known) / (1 - am + (1 - af) * k);
        x = x0 + h * h * beta * a1, v = v0 + h * gamma * a1, a = a1;
        f = -w * w * x - 2 * z * w * v;
        y.x[i] = x, y.a[i] = f;
    }
    return y;
}

static void test_recurrence(void **state)
{
    (void)state;
    expect_random rng = {41};
    for (int i = 0; i < 20; i++) {
        double rho = i < 3 ? 0.5 * i : expect_uniform(&rng, 0, 1), h = 0.01,
               z = expect_uniform(&rng, 0, 0.3);
        double w = pow(10, expect_uniform(&rng, -1, 2)) / h;
        history y = oscillate(rho, w, z, h), expected = by_hand(rho, w, z, h);
        for (int k = 0; k <= STEPS; k++) {
            expect_near(y.x[k] / h, expected.x[k] / h, 1e-11);
            expect_near(y.a[k] / (w * w * h), expected.a[k] / (w * w * h), 1e-11);
        }
    }
}

/* w h -> infinity: the amplification's eigenvalue -rho has the multiplicity 3, (lambda + rho)^3 = 0
 */
static void test_high_frequency(void **state)
{
    (void)state;
    static const double rho[] = {0.2, 0.5, 0.8, 1};
    for (int i = 0; i < 4; i++) {
        double r = rho[i];
        history y = oscillate(r, 1e6, 0, 1);
        for (int k = 0; k + 3 <= STEPS; k++) {
            double size = fabs(y.x[k]) + fabs(y.x[k + 1]) + fabs(y.x[k + 2]);
            double left =
                y.x[k + 3] + 3 * r * y.x[k + 2] + 3 * r * r * y.x[k + 1] + r * r * r * y.x[k];
            expect_true(fabs(left) < 1e-9 * size + 1e-14); /* rounding of positions */
        }
    }
}

/* ---- the pendulum ---- */

#define PENDULUM                                                                                   \
    "costate: 1\ngravity: [0, -g, 0]\nparameters: {g: 9.81, L: 1}\npoints: {O: [0, 0, 0], P: "     \
    "[-L, 0, 0]}\n"                                                                                \
    "bodies: {bob: {type: point, position: P, mass: 1}}\n"                                         \
    "joints: {rod: {type: distance, from: ground.O, to: bob.P}, plane: {type: point-on-plane, "    \
    "of: bob.P, normal: z}}\n"                                                                     \
    "measures: {p: {type: position, of: bob.P}, v: {type: velocity, of: bob.P}, a: {type: "        \
    "acceleration, of: bob.P},\n"                                                                  \
    "           R: {type: reaction, of: rod}, E: {type: energy}}\n"                                \
    "objectives: {x: end(p.x), y: end(p.y), R: end(R.tension), W: integral(p.x*v.y)}\n"

/* Positions, velocities, accelerations and the tension: second order; their gradients with respect
 * to L and g by differences of the closed form */
static void test_pendulum(void **state)
{
    (void)state;
    static const char *const rho[] = {"0", "0.5", "0.8", "0.95"};
    const double end = 1.5;
    pendulum_at e = pendulum_exact(end, 9.81, 1);
    for (int k = 0; k < 4; k++) {
        char text[2048];
        cst_test_run t;
        double error[2][4] = {
            {0},
        };
        snprintf(text, sizeof text, PENDULUM "simulation: {rho: %s}\n", rho[k]);
        parse(&t, text);
        int which[] = {cst_model_number_find(t.m, "g"), cst_model_number_find(t.m, "L")};
        for (int i = 0; i < 2; i++) {
            open_run(&t, 5e-3 / (1 << i), end, 0);
            const cst_gradient *g = cst_run_gradient(t.r, NULL, CST_ADJOINT, 2, which, &t.d);
            run_check(&t, g != NULL);
            error[i][0] = fabs(g->value[0] - e.p[0]) + fabs(g->value[1] - e.p[1]);
            error[i][1] = fabs(g->value[2] - e.tension);
            for (int j = 0; j < 2; j++) {
                double d = 1e-4;
                pendulum_at hi = pendulum_exact(end, 9.81 + (j == 0) * d, 1 + (j == 1) * d);
                pendulum_at lo = pendulum_exact(end, 9.81 - (j == 0) * d, 1 - (j == 1) * d);
                error[i][2] += fabs(g->slope[j] - (hi.p[0] - lo.p[0]) / (2 * d));
                error[i][3] += fabs(g->slope[4 + j] - (hi.tension - lo.tension) / (2 * d));
            }
            cst_run_free(t.r);
        }
        for (int j = 0; j < 4; j++) {
            print_message("rho %s: errors %.2e, %.2e\n", rho[k], error[0][j], error[1][j]);
            expect_true(error[0][j] / error[1][j] > 3.5 && error[0][j] / error[1][j] < 4.5);
        }
        cst_model_free(t.m);
    }
}

typedef struct energies {
    int at;
    double scatter, late;
} energies; /* largest |E - E0| before 10 s; its mean behind 30 s */

static int watch(void *ctx, double t, const double *measures, int n)
{
    energies *e = ctx;
    (void)n;
    double E = measures[e->at] - 10; /* k s^2/2 at the start */
    if (t < 10) e->scatter = fmax(e->scatter, fabs(E));
    if (t > 30) e->late += E / 1000;
    return 0;
}

#define ELASTIC                                                                                    \
    "costate: 1\ngravity: [0, -9.81, 0]\npoints: {O: [0, 0, 0], P: [-1, 0, 0]}\n"                  \
    "bodies: {bob: {type: point, position: P, mass: 1}}\n"                                         \
    "forces: {k: {type: spring, from: ground.O, to: bob.P, stiffness: 2000, free_length: "         \
    "0.9}}\nmeasures: {E: {type: energy}}\n"

/* An elastic pendulum, let go stretched: with rho = 1 the energy scatters and does not drift, with
 * less it is lost. With constraints rho must be below 1: what is left of the start in lambda would
 * not die out. */
static void test_energy(void **state)
{
    (void)state;
    energies e[2];
    for (int k = 0; k < 2; k++) {
        cst_test_run t;
        parse(&t, k ? ELASTIC "simulation: {rho: 0.5}\n" : ELASTIC "simulation: {rho: 1}\n");
        open_run(&t, 0.01, 40, 0);
        e[k] = (energies){.at = run_find(&t, "E.total")};
        run_check(&t, cst_run_simulate(t.r, NULL, watch, &e[k], &t.d) == CST_OK);
        print_message("energy within %.3e, then %.3e\n", e[k].scatter, e[k].late);
        run_close(&t);
    }
    expect_true(fabs(e[0].late) < e[0].scatter);
    expect_true(e[1].late < -5 * e[0].scatter);
}

/* ---- gradients ---- */

static void gradient_of(cst_test_run *t, cst_method method, double memory, int n, const int *which,
                        double *slope, double *error)
{
    open_run(t, 0.01, 1, memory);
    const cst_gradient *g = cst_run_gradient(t->r, NULL, method, n, which, &t->d);
    run_check(t, g != NULL);
    memcpy(slope, g->slope, sizeof *slope * (size_t)(g->objectives * n));
    if (error) memcpy(error, g->error, sizeof *error * (size_t)(g->objectives * n));
    cst_run_free(t->r);
}

/* From checkpoints the same; by differences the same within their own error */
static void test_gradient(void **state)
{
    (void)state;
    cst_test_run t = {0};
    t.m = cst_model_load(EXAMPLE("five-bar"), 0, NULL, &t.d);
    run_check(&t, t.m != NULL);
    int n = 2, which[] = {cst_model_number_find(t.m, "L01"), cst_model_number_find(t.m, "L02")};
    double all[64], again[64], difference[64], error[64];
    gradient_of(&t, CST_ADJOINT, 0, n, which, all, NULL);
    gradient_of(&t, CST_ADJOINT, 1e5, n, which, again, NULL);
    gradient_of(&t, CST_DIFFERENCE, 0, n, which, difference, error);
    for (int i = 0; i < n; i++) {
        expect_near(again[i], all[i], 1e-11);
        expect_near(difference[i], all[i], 1e-7);
    }
    cst_model_free(t.m);
}

/* A pendulum that swings from level turns by 0.044 rad in its fastest step of 0.01 s: with rho
 * nearer to 1 than that the reactions grow, and a run says so, once; energy and tension say it as
 * well. */
static void warnings_of(double rho, int joints, int warned, int grown)
{
    char text[1024];
    cst_test_run t = {0};
    snprintf(text, sizeof text,
             "costate: 1\ngravity: [0, -9.81, 0]\npoints: {O: [0, 0, 0], P: [1, 0, 0]}\nbodies: "
             "{b: {type: point, position: P, mass: 1}}\n"
             "%smeasures: {a: {type: acceleration, of: b.P}}\nobjectives: {most: "
             "\"peak(norm(a))\"}\nsimulation: {rho: %.17g}\n",
             joints ? "joints: {rod: {type: distance, from: ground.O, to: b.P}}\n" : "", rho);
    parse(&t, text);
    open_run(&t, 0.01, 20, 0);
    for (int again = 0; again < 2; again++) cst_run_simulate(t.r, NULL, NULL, NULL, &t.d);
    expect_int(t.d.warnings, warned);
    if (warned) expect_contains(t.d.text, "rho");
    if (!t.d.errors) expect_int(cst_run_objective(t.r, 0) > 10 * 9.81, grown); /* at most 3 g */
    run_close(&t);
}

static void test_growth(void **state)
{
    (void)state;
    warnings_of(0.8, 1, 0, 0);
    warnings_of(0.9, 1, 0, 0);
    warnings_of(0.98, 1, 1, 1);
    warnings_of(1, 1, 1, 1);
    warnings_of(1, 0, 0, 0); /* no joints: nothing grows */
}

/* ---- brief steps ---- */

/* A force that begins 1e-6 s behind a point of the grid, or little more: the accelerations at the
 * end of so short a step, and with them the slopes of their integrals, are those of another rule at
 * the same step, whose error is of the same order. */
static void test_brief_steps(void **state)
{
    (void)state;
    static const char *const rule[] = {"generalized-alpha", "newmark"};
    static const double behind[] = {1e-6, 1e-5, 1e-4, 1.9e-4};
    for (size_t k = 0; k < sizeof behind / sizeof *behind; k++) {
        double slope[2][4] = {0};
        for (int by = 0; by < 2; by++)
            for (int method = 0; method < 2; method++) {
                char text[1000];
                cst_test_run t;
                cst_options o = cst_options_default();
                snprintf(
                    text, sizeof text,
                    "costate: 1\ngravity: [0, 0, -9.81]\nparameters: {T: %.17g, l: 1.3}\npoints: "
                    "{O: [0.2, 0.1, 0], A: [0.2 + l, 0.1, 0.2]}\n"
                    "bodies: {p: {type: rigid, position: A, mass: 2, inertia: [0.1, 0.2, 0.15]}}\n"
                    "joints: {h: {type: revolute, between: [ground, p], at: O, axis: y}}\n"
                    "measures: {q: {type: position, of: p.com}, a: {type: acceleration, of: "
                    "p.com}}\n"
                    "forces: {f: {type: force, on: p.com, force: [0, 0, \"if(t > T, 5, 0)\"]}}\n"
                    "objectives: {psi: integral(a.z^2), e: end(q.z)}\n",
                    0.1 + behind[k]);
                parse(&t, text);
                o.step = 2e-3, o.end = 0.3, o.integrator = rule[by];
                t.r = cst_run_new(t.m, &o, &t.d);
                run_check(&t, t.r != NULL);
                const int which[] = {cst_model_number_find(t.m, "T"),
                                     cst_model_number_find(t.m, "l")};
                const cst_gradient *g =
                    cst_run_gradient(t.r, NULL, method ? CST_DIRECT : CST_ADJOINT, 2, which, &t.d);
                run_check(&t, g != NULL);
                for (int i = 0; i < 4; i++) {
                    if (method) expect_near(g->slope[i] / slope[by][i], 1, 1e-8);
                    slope[by][i] = g->slope[i];
                }
                run_close(&t);
            }
        for (int i = 0; i < 4; i++) expect_near(slope[0][i] / slope[1][i], 1, 1e-3);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_recurrence),  cmocka_unit_test(test_high_frequency),
        cmocka_unit_test(test_pendulum),    cmocka_unit_test(test_energy),
        cmocka_unit_test(test_gradient),    cmocka_unit_test(test_growth),
        cmocka_unit_test(test_brief_steps),
    };
    return cmocka_run_group_tests_name("generalized alpha", tests, NULL, NULL);
}
