/* SPDX-License-Identifier: MIT
 *
 * Forces that switch: values and gradients against closed forms. Forces are constant between the
 * switches, so that the trapezoidal rule itself is exact and only the treatment of the events is
 * judged. */
#include "event_ways.h"

#include <complex.h>

static answer solve(const char *text, const char *events, double memory, int n,
                    const char *const *name)
{
    const int exact = strcmp(events, "exact") == 0;
    warned = exact ? NULL : "the gradient leaves out how the instants of events move";
    return solve_by(&ways[0], text, events, memory, n, name);
}

#define CROSSING(objective)                                                                        \
    "costate: 1\ngravity: [0, 0, 0]\n"                                                             \
    "parameters: {v0: 1.3, xs: 0.37, F1: 2, F2: -1.5, m: 0.8, w0: 1.3, ys: 0.37, G1: 2}\n"         \
    "points: {O: [0, 0, 0], Q: [0, 1, 0]}\n"                                                       \
    "bodies:\n"                                                                                    \
    "  a: {type: point, position: O, mass: m, velocity: [v0, 0, 0]}\n"                             \
    "  b: {type: point, position: Q, mass: m, velocity: [w0, 0, 0]}\n"                             \
    "measures: {p: {type: position, of: a.origin}, q: {type: position, of: b.origin},\n"           \
    "  A: {type: acceleration, of: a.origin}, B: {type: acceleration, of: b.origin}}\n"            \
    "forces:\n"                                                                                    \
    "  f: {type: force, on: a.origin, force: [\"if(p.x < xs, F1, F2)\", 0, 0]}\n"                  \
    "  g: {type: force, on: b.origin, force: [\"if(q.x < ys, G1, F2)\", 0, 0]}\n"                  \
    "objectives: {psi: " objective "}\n"                                                           \
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
    for (int k = 0; k < 2 * WAYS; k++) { /* with checkpoints too */
        answer a = solve_by(&ways[k / 2], CROSSING("end(p.x)"), "exact", k % 2 ? 8e3 : 0, 5, name);
        expect_near(a.value, crossing(numbers), 1e-12);
        for (int i = 0; i < 5; i++)
            expect_near(a.adjoint[i], g[i], 1e-11), expect_near(a.direct[i], g[i], 1e-11);
        expect_int(stats.events, 2);
    }
}

/* The same force by a table with a jump: F1 up to x = 0.37, F2 behind it. Slopes by the two values
 * of a piece add up to that by its force, since a piece is level. */
static void jump_of_a_table(void **state)
{
    (void)state;
    static const char text[] =
        "costate: 1\ngravity: [0, 0, 0]\nparameters: {v0: 1.3, m: 0.8}\npoints: {O: [0, 0, 0]}\n"
        "tables: {F: {x: [-9, 0.37, 0.37, 9], y: [2, 2, -1.5, -1.5]}}\n"
        "bodies: {a: {type: point, position: O, mass: m, velocity: [v0, 0, 0]}}\n"
        "measures: {p: {type: position, of: a.origin}}\n"
        "forces: {f: {type: force, on: a.origin, force: [F(p.x), 0, 0]}}\n"
        "objectives: {psi: end(p.x)}\nsimulation: {end: 1, step: 0.03}\n";
    static const char *const name[] = {"v0", "m", "F.y[1]", "F.y[2]", "F.y[3]", "F.y[4]"};
    double g[5];
    crossing_gradient(numbers, g);
    for (int k = 0; k < WAYS; k++) {
        answer a = solve_by(&ways[k], text, "exact", 0, 6, name);
        expect_near(a.value, crossing(numbers), 1e-12);
        for (const double *y = a.adjoint; y; y = y == a.adjoint ? a.direct : NULL) {
            expect_near(y[0], g[0], 1e-11), expect_near(y[1], g[4], 1e-11);
            expect_near(y[2] + y[3], g[2], 1e-11), expect_near(y[4] + y[5], g[3], 1e-11);
        }
        for (int i = 0; i < 6; i++) expect_near(a.adjoint[i], a.direct[i], 1e-10);
        expect_int(stats.events, 1);
    }
}

/* Two masses cross at the very same instant: each gradient is that of its own crossing. */
static void two_at_once(void **state)
{
    (void)state;
    static const char *const name[] = {"v0", "xs", "F1", "w0", "ys", "G1", "F2", "m"};
    double g[5];
    crossing_gradient(numbers, g);
    const double expected[] = {g[0], g[1], g[2], 2 * g[0], 2 * g[1], 2 * g[2], 3 * g[3], 3 * g[4]};
    for (int k = 0; k < WAYS; k++) {
        answer a = solve_by(&ways[k], CROSSING("end(p.x) + 2*end(q.x)"), "exact", 0, 8, name);
        expect_near(a.value, 3 * crossing(numbers), 1e-12);
        for (int i = 0; i < 8; i++)
            expect_near(a.adjoint[i], expected[i], 1e-10),
                expect_near(a.direct[i], expected[i], 1e-10);
        expect_int(stats.coinciding, 1);
    }
}

/* Frozen: the instant t1 of the crossing stays. The mass is then pushed by F1 for t1 and by F2 for
 * the rest. */
static void frozen_times(void **state)
{
    (void)state;
    static const char *const name[] = {"v0", "xs", "F1", "F2"};
    double v0 = numbers[0], a1 = numbers[2] / numbers[4], m = numbers[4];
    double t1 = (sqrt(v0 * v0 + 2 * a1 * numbers[1]) - v0) / a1, rest = 1 - t1;
    const double expected[] = {1, 0, (t1 * t1 / 2 + t1 * rest) / m, rest * rest / 2 / m};
    answer a = solve(CROSSING("end(p.x)"), "frozen", 0, 4, name);
    expect_near(a.value, crossing(numbers), 1e-13);
    for (int i = 0; i < 4; i++)
        expect_near(a.adjoint[i], expected[i], 1e-12), expect_near(a.direct[i], expected[i], 1e-12);
}

/* A switched oscillator: constant force towards the middle. Half periods are parabolas: with
 * amplitude A the velocity at the middle is w = sqrt(2 a A) and a quarter of the period takes w/a.
 * The integral of x^2 is not exact: compare both ways. */
static void switched_oscillator(void **state)
{
    (void)state;
    static const char text[] =
        "costate: 1\ngravity: [0, 0, 0]\nparameters: {A: 0.5, a: 2}\n"
        "points: {O: [A, 0, 0]}\nbodies: {b: {type: point, position: O, mass: 1}}\n"
        "measures: {p: {type: position, of: b.origin}}\n"
        "forces: {f: {type: force, on: b.origin, force: [\"if(p.x > 0, -a, a)\", 0, 0]}}\n"
        "objectives: {psi: end(p.x), sum: integral(p.x^2)}\n"
        "simulation: {end: 3, step: 0.01}\n";
    static const char *const name[] = {"A", "a"};
    answer r = solve(text, "exact", 0, 2, name);
    /* quarter q = sqrt(2 A/a); after 3 quarters the mass is in the middle and moves to +: x = w s -
     * a s^2/2, s = 3 - 3 q */
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

/* A mass m dropped from height H bounces twice on a pad that pushes with F: with v = sqrt(2 g H) it
 * falls for v/g, is stopped and thrown back for 2 v/(F/m - g), and flies for 2 v/g. psi = z(T) in
 * the flight behind the second bounce. */
static double complex bounced(const double complex p[4], double T)
{
    double complex g = p[1], v = csqrt(2 * g * p[0]), bounce = 2 * v / (p[2] / p[3] - g),
                   t = T - v / g - 2 * bounce - 2 * v / g;
    return v * t - g * t * t / 2;
}

static void bouncing_on_a_pad(void **state)
{
    (void)state;
    static const char *const name[] = {"H", "g", "F", "m"};
    static const char text[] =
        "costate: 1\ngravity: [0, 0, -g]\nparameters: {H: 0.3, g: 9.81, F: 80, m: 1.3}\n"
        "bodies: {a: {type: point, position: [0, 0, H], mass: m}}\n"
        "measures: {z: {type: position, of: a.origin}}\n"
        "forces: {pad: {type: force, on: a.origin, direction: z, magnitude: \"if(z.z < 0, F, "
        "0)\"}}\n"
        "objectives: {psi: end(z.z)}\nsimulation: {end: 1.1, step: 0.013}\n";
    const double p[] = {0.3, 9.81, 80, 1.3}, T = 1.1;
    for (int k = 0; k < 2 * WAYS; k++) {
        answer a = solve_by(&ways[k / 2], text, "exact", k % 2 ? 8e3 : 0, 4, name);
        expect_int(stats.events, 4);
        for (int i = 0; i < 4; i++) { /* by a complex step */
            double complex x[4] = {p[0], p[1], p[2], p[3]};
            x[i] += 1e-40 * I;
            expect_near(a.value, creal(bounced(x, T)), 1e-11);
            expect_near(a.adjoint[i], cimag(bounced(x, T)) / 1e-40, 1e-9);
            expect_near(a.direct[i], a.adjoint[i], 1e-10);
        }
    }
}

/* A damped stop: the force jumps at contact. Adjoint = direct = differences, which are
 * event-located too. */
static void bouncing_mass(void **state)
{
    (void)state;
    static const char text[] =
        "costate: 1\ngravity: [0, 0, -9.81]\nparameters: {k: 2000, c: 8, z0: 0.7, m: 1.1}\n"
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

/* The same with sign and with floor, which jump like a comparison. */
static void other_jumps(void **state)
{
    (void)state;
    static const char *const name[] = {"v0", "xs", "F1", "F2", "m"},
                             *const law[] = {
                                 "(F1 + F2)/2 - (F1 - F2)/2*sign(p.x - xs)",
                                 "F1 + (F2 - F1)*(1 + floor((p.x - xs)/2))",
                                 "F1 + (F2 - F1)*ceil((p.x - xs)/2)",
                                 "F1 + (F2 - F1)*(1 + ((p.x - xs)/4 - mod((p.x - xs)/4, 1)))"};
    double g[5];
    crossing_gradient(numbers, g);
    for (int k = 0; k < 4; k++) {
        char text[2000];
        snprintf(text, sizeof text,
                 "costate: 1\ngravity: [0, 0, 0]\nparameters: {v0: 1.3, xs: 0.37, F1: 2, F2: -1.5, "
                 "m: 0.8}\npoints: {O: [0, 0, 0]}\n"
                 "bodies: {a: {type: point, position: O, mass: m, velocity: [v0, 0, 0]}}\n"
                 "measures: {p: {type: position, of: a.origin}}\n"
                 "forces: {f: {type: force, on: a.origin, force: [\"%s\", 0, 0]}}\n"
                 "objectives: {psi: end(p.x)}\nsimulation: {end: 1, step: 0.03}\n",
                 law[k]);
        answer a = solve(text, "exact", 0, 5, name);
        expect_near(a.value, crossing(numbers), 1e-12);
        for (int i = 0; i < 5; i++)
            expect_near(a.adjoint[i], g[i], 1e-10), expect_near(a.direct[i], g[i], 1e-10);
        expect_int(stats.events, 1);
    }
}

/* Above zs a mass is pushed along x for T = 2 sqrt(2 (top - zs)/g), all within one step; the rest
 * of the time it is free. */
#define THROWN(zs, sum)                                                                            \
    "costate: 1\ngravity: [0, 0, -9.81]\nparameters: {v: 2, zs: " zs                               \
    ", F: 3}\npoints: {O: [0, 0, 0]}\n"                                                            \
    "bodies: {b: {type: point, position: O, mass: 1, velocity: [1, 0, v]}}\n"                      \
    "measures: {p: {type: position, of: b.origin}}\n"                                              \
    "forces: {s: {type: force, on: b.origin, force: [\"if(p.z > zs, F, 0)" sum "\", 0, 0]}}\n"     \
    "objectives: {psi: end(p.x)}\nsimulation: {end: 0.5, step: 0.03}\n"

static void within_a_step(void **state)
{
    (void)state;
    static const char *const name[] = {"v", "zs", "F"};
    double v = 2, zs = 0.2038, F = 3, g = 9.81, T = 2 * sqrt(2 * (v * v / (2 * g) - zs) / g),
           rest = 0.5 - v / g - T / 2;
    double T_zs = -4 / (g * T), T_v = 4 * v / (g * g * T), x_T = F * (T + rest), x_rest = F * T;
    const double slope[] = {x_T * T_v + x_rest * (-1 / g - T_v / 2), x_T * T_zs - x_rest * T_zs / 2,
                            T * T / 2 + T * rest};
    for (int k = 0; k < WAYS; k++) {
        answer a = solve_by(&ways[k], THROWN("0.2038", ""), "exact", 0, 3, name);
        if (strcmp(ways[k].integrator, "rk45") == 0)
            continue; /* its steps may be longer than the parabola can see */
        expect_near(a.value, 0.5 + F * (T * T / 2 + T * rest), 1e-11);
        for (int i = 0; i < 3; i++)
            expect_near(a.adjoint[i] / slope[i], 1, 1e-9),
                expect_near(a.direct[i] / slope[i], 1, 1e-9);
        expect_int(stats.events, 2);
    }
}

/* What the gradient says, and whether there is one */
static int told(const char *text, const char *events, const char *words)
{
    memset(&diag, 0, sizeof diag);
    cst_model *m = cst_model_parse("model.yaml", text, strlen(text), 0, NULL, &diag);
    expect_text(diag.text, "");
    cst_options o = cst_options_default();
    o.events = events;
    cst_run *r = cst_run_new(m, &o, &diag);
    int found = cst_run_gradient(r, NULL, CST_ADJOINT, 0, NULL, &diag) != NULL;
    if (!strstr(diag.text, words)) print_message("said: %s\n", diag.text);
    expect_true(strstr(diag.text, words) != NULL);
    stats = cst_run_stats(r);
    cst_run_free(r);
    cst_model_free(m);
    return found;
}

static int count_of(const char *words) /* in what was said last */
{
    int n = 0;
    for (const char *c = diag.text; (c = strstr(c, words)); c++) n++;
    return n;
}

/* Dry friction by sign(v): where the mass would rest the law switches without end. */
static void chattering(void **state)
{
    (void)state;
    static const char text[] =
        "costate: 1\ngravity: [0, 0, 0]\npoints: {O: [0, 0, 0]}\n"
        "bodies: {b: {type: point, position: O, mass: 1.1, velocity: [1, 0, 0]}}\n"
        "measures: {p: {type: position, of: b.origin}, v: {type: velocity, of: b.origin}}\n"
        "forces: {dry: {type: force, on: b.origin, force: [\"-2*sign(v.x)\", 0, 0]}}\n"
        "objectives: {psi: end(p.x)}\nsimulation: {end: 1, step: 0.01}\n";
    expect_int(told(text, "exact", "t = 0.55 s: there is no gradient: 'dry' switches without end"),
               0);
    expect_int(stats.chattering, 1);
    expect_int(told(text, "frozen", ""), 1);
    memset(&diag, 0, sizeof diag);
    cst_model *m = cst_model_parse("model.yaml", text, strlen(text), 0, NULL, &diag);
    cst_run *r = cst_run_new(m, NULL, &diag);
    expect_int(cst_run_simulate(r, NULL, NULL, NULL, &diag), CST_OK);
    expect_true(strstr(diag.text, "warning") && strstr(diag.text, "'dry' switches without end"));
    expect_near(cst_run_objective(r, 0), 1.1 / 4,
                0.45 * 2 * 0.01 / 1.1); /* m v^2/(2 F); then |v| < F h/m for 0.45 s */
    cst_run_free(r);
    cst_model_free(m);
}

/* m x'' = -F sign(x') - c x from x = 0 with x' = 1: half waves about -F/c and F/c, until x' is zero
 * where c |x| < F. There the mass stays, but for |x'| < (F + c |x|) h. Turns before that are
 * ordinary events. */
#define SPRING_AND_FRICTION                                                                        \
    "costate: 1\ngravity: [0, 0, 0]\nparameters: {F: %g, c: %g}\npoints: {O: [0, 0, 0]}\n"         \
    "bodies: {b: {type: point, position: O, mass: 1, velocity: [1, 0, 0]}}\n"                      \
    "measures: {x: {type: position, of: b.origin}, v: {type: velocity, of: b.origin}}\n"           \
    "forces: {dry: {type: force, on: b.origin, force: [\"-F*sign(v.x) - c*x.x\", 0, 0]}}\n"        \
    "objectives: {psi: end(x.x), v: end(v.x)}\nsimulation: {end: %g, step: %g}\n"

static void rest_by_friction(void **state)
{
    (void)state;
    static const struct {
        double F, c, end;
        int turns;
    } of[] = {{5, 1, 1, 0}, {5, 0.1, 1, 0}, {3, 2, 1, 0}, {0.3, 2, 7, 2}};
    static const way by[] = {{"index3", "newmark"},
                             {"maggi", "rk4"},
                             {"index1", "rk45"},
                             {"index3", "generalized-alpha"}};
    for (int k = 0; k < 32; k++) {
        double F = of[k % 4].F, c = of[k % 4].c, h = k < 16 ? 0.01 : 0.0025;
        double at = (sqrt(F * F + c) - F) / c; /* F x + c x^2/2 = 1/2 */
        for (int i = 0; i < of[k % 4].turns; i++) at = at > 0 ? 2 * F / c - at : -2 * F / c - at;
        char text[1000];
        snprintf(text, sizeof text, SPRING_AND_FRICTION, F, c, of[k % 4].end, h);
        memset(&diag, 0, sizeof diag);
        cst_model *m = cst_model_parse("model.yaml", text, strlen(text), 0, NULL, &diag);
        cst_options o = cst_options_default();
        o.formulation = by[k / 4 % 4].formulation, o.integrator = by[k / 4 % 4].integrator;
        cst_run *r = cst_run_new(m, &o, &diag);
        expect_int(cst_run_simulate(r, NULL, NULL, NULL, &diag), CST_OK);
        expect_true(strstr(diag.text, "warning") &&
                    strstr(diag.text, "'dry' switches without end"));
        expect_int(cst_run_stats(r).events, of[k % 4].turns + 1),
            expect_int(cst_run_stats(r).chattering, 1);
        expect_near(cst_run_objective(r, 0), at, 0.4 * F * h);
        expect_near(cst_run_objective(r, 1), 0, (F + c * fabs(at)) * h);
        expect_null(cst_run_gradient(r, NULL, CST_ADJOINT, 0, NULL, &diag));
        expect_true(strstr(diag.text, "there is no gradient: 'dry' switches without end") != NULL);
        cst_run_free(r);
        cst_model_free(m);
    }
    char text[1000];
    snprintf(text, sizeof text, SPRING_AND_FRICTION, 0.3, 2.0, 4.0,
             0.01); /* between the second turn and the rest */
    static const char *const name[] = {"F", "c"};
    answer a = solve(text, "exact", 0, 2, name);
    expect_int(stats.events, 2), expect_int(stats.chattering, 0);
    for (int i = 0; i < 2; i++) expect_near(a.adjoint[i], a.direct[i], 1e-11);
}

/* Two switches that no law pushes back to come back ever faster: v' = (-sign vx + b sign vy, -b
 * sign vx - sign vy) shrinks by (b - 1)/(b + 1) at each, and is zero after a finite time. */
static void ever_faster(void **state)
{
    (void)state;
    for (int k = 0; k < 3; k++) {
        char text[1000];
        double b = k == 0 ? 1.0001 : 1 + 0.5 * k;
        snprintf(text, sizeof text,
                 "costate: 1\ngravity: [0, 0, 0]\nparameters: {b: %g}\npoints: {O: [0, 0, 0]}\n"
                 "bodies: {b: {type: point, position: O, mass: 1, velocity: [0.3, 0.2, "
                 "0]}}\nmeasures: {v: {type: velocity, of: b.origin}}\n"
                 "forces: {w: {type: force, on: b.origin, force: [\"-sign(v.x) + b*sign(v.y)\", "
                 "\"-b*sign(v.x) - sign(v.y)\", 0]}}\n"
                 "objectives: {psi: end(v.x)}\nsimulation: {end: 1, step: 0.01}\n",
                 b);
        expect_int(told(text, "exact", "'w' switches without end"), 0);
        expect_int(stats.chattering, 2);
    }
}

/* A top of the path 1e-13 m above the switch, and 1e-13 m below it */
static void grazing(void **state)
{
    (void)state;
    expect_int(told(THROWN("0.2038735983689", ""), "exact", "'s' is only grazed"), 1);
    expect_int(stats.grazing, 2);
    expect_int(told(THROWN("0.2038735983692", ""), "exact",
                    "'s' comes to its switch and turns back"),
               1);
    expect_int(stats.grazing, 1);
    expect_int(stats.events, 0);
    told(THROWN("0.2038", " + 0*abs(p.x - 0.2) + 0*max(p.x, 0.3)"), "exact", "");
    expect_int(stats.kinks, 2);
    expect_int(stats.grazing, 0);
}

/* Two events at one instant: forces that add do not care for the order, a product does. */
static void order_of_events(void **state)
{
    (void)state;
    static const char text[] =
        "costate: 1\ngravity: [0, 0, 0]\npoints: {O: [0, 0, 0]}\n"
        "bodies: {b: {type: point, position: O, mass: 1, velocity: [1, 1, 0]}}\n"
        "measures: {p: {type: position, of: b.origin}}\n"
        "forces: {f: {type: force, on: b.origin, force: [0, 0, \"if(p.x > 0.3, 2, 1)%sif(p.y > "
        "0.3, 5, 3)\"]}}\n"
        "objectives: {psi: end(p.z)}\nsimulation: {end: 1, step: 0.01}\n";
    char with[1000];
    snprintf(with, sizeof with, text, " + ");
    told(with, "exact", "");
    expect_text(diag.text, "");
    expect_int(stats.coinciding, 1);
    snprintf(with, sizeof with, text, " * ");
    expect_int(told(with, "exact", "'f' switches twice at the same instant, and the order matters"),
               1);
}

/* Events d apart whose order matters: at X = 0.3037 + d the force goes from 1*5 to 2*5, at 0.3037 -
 * d from 1*3 to 2*3: dpsi/dX = -(1 - X) 5 or 3. Differences find the slope on this side of the
 * exchange, however near that is. */
static void near_events(void **state)
{
    (void)state;
    static const char text[] =
        "costate: 1\ngravity: [0, 0, 0]\nparameters: {X: %.17g}\npoints: {O: [0, 0, 0]}\n"
        "bodies: {b: {type: point, position: O, mass: 1, velocity: [1, 1, 0]}}\n"
        "measures: {p: {type: position, of: b.origin}}\n"
        "forces: {f: {type: force, on: b.origin, force: [0, 0, \"if(p.x > X, 2, 1)*if(p.y > "
        "0.3037, 5, 3)\"]}}\n"
        "objectives: {psi: end(p.z)}\nsimulation: {end: 1, step: 0.01}\n";
    for (double d = 1e-4; d > 5e-8; d /= 10)
        for (int side = -1; side < 2; side += 2) {
            char with[1000];
            double X
            = 0.3037 + side * d;
            snprintf(with, sizeof with, text, X);
            memset(&diag, 0, sizeof diag);
            cst_model *m = cst_model_parse("model.yaml", with, strlen(with), 0, NULL, &diag);
            cst_run *r = cst_run_new(m, NULL, &diag);
            const int which[] = {cst_model_number_find(m, "X")};
            const cst_gradient *g = cst_run_gradient(r, NULL, CST_DIFFERENCE, 1, which, &diag);
            expect_not_null(g);
            expect_near(g->slope[0], -(1 - X) * (side > 0 ? 5 : 3), 1e-9 + 10 * g->error[0]);
            expect_true(g->error[0] < 1e-5);
            cst_run_free(r);
            cst_model_free(m);
        }
}

/* The time that a mass spends behind xs, by an integral that switches: 1 - t_e, and its gradient
 * -dt_e/dp */
static void integral_that_switches(void **state)
{
    (void)state;
    static const char *const name[] = {"v0", "xs", "F1", "m"};
    double v0 = numbers[0], xs = numbers[1], m = numbers[4], a = numbers[2] / m,
           v = sqrt(v0 * v0 + 2 * a * xs);
    double t_a = (xs / v - (v - v0) / a) / a; /* t = (v - v0)/a */
    const double slope[] = {-(v0 / v - 1) / a, -1 / v, -t_a / m, t_a * numbers[2] / (m * m)};
    for (int k = 0; k < WAYS; k++) {
        answer r =
            solve_by(&ways[k], CROSSING("\"integral(if(p.x > xs, 1, 0))\""), "exact", 0, 4, name);
        expect_near(r.value, 1 - (v - v0) / a, 1e-12);
        for (int i = 0; i < 4; i++)
            expect_near(r.adjoint[i], slope[i], 1e-11), expect_near(r.direct[i], slope[i], 1e-11);
    }
}

/* No motion follows a drive that jumps. */
static void drive_that_jumps(void **state)
{
    (void)state;
    static const char text[] =
        "costate: 1\ngravity: [0, 0, 0]\npoints: {O: [0, 0, 0]}\n"
        "bodies: {b: {type: rigid, position: O, mass: 1, inertia: [1, 1, 1]}}\n"
        "joints: {j: {type: revolute, between: [ground, b], at: O, axis: [0, 0, 1]},\n"
        "  d: {type: drive, of: c, value: \"if(t > 0.3, t^2, 0)\"}}\n"
        "measures: {c: {type: joint, of: j}}\n"
        "objectives: {psi: end(c.rate)}\nsimulation: {end: 1, step: 0.01}\n";
    expect_true(!told(text, "exact", "'d' jumps to another position, and no motion follows it"));
}

#define WATCHED(CONDITION)                                                                         \
    "costate: 1\ngravity: [0, 0, 0]\npoints: {O: [0, 0, 0]}\n"                                     \
    "bodies: {b: {type: point, position: O, mass: 1, velocity: [1, 0, 0]}}\n"                      \
    "joints: {j: {type: point-on-line, of: b, axis: x}}\n"                                         \
    "forces: {F: {type: force, on: b, direction: x, magnitude: -8*p.x}}\n"                         \
    "measures: {p: {type: position, of: b}, a: {type: acceleration, of: b}, f: {type: force, of: " \
    "F}, sp: integral(p.x),\n"                                                                     \
    "  E: {type: energy}, R: {type: reaction, of: j}}\n"                                           \
    "objectives: {psi: \"integral(if(" CONDITION ", 1, 0))\"}\nsimulation: {end: 1, step: 0.01}\n"

/* What switches at instants that are not located is said: the warning names what the condition
 * reads, and comes once however often the integrand switches. */
static void not_located_by(void **state)
{
    (void)state;
    static const char *const condition[] = {WATCHED("a.x < -2"),
                                            WATCHED("f.force.x < -2"),
                                            WATCHED("R.force.y < -2"),
                                            WATCHED("E.kinetic > 0.3"),
                                            WATCHED("sp > 0.1"),
                                            WATCHED("a.x < -2 and sp > 0.1 and a.x < -1"),
                                            WATCHED("a.x + sp < 0")};
    static const char *const by[] = {"accelerations",
                                     "forces",
                                     "reactions",
                                     "quantities of the whole system",
                                     "running integrals",
                                     "accelerations",
                                     "accelerations and running integrals"};
    for (size_t i = 0; i < sizeof by / sizeof *by; i++) {
        char words[200];
        snprintf(words, sizeof words, "an integral switches by %s at an instant", by[i]);
        expect_int(told(condition[i], "exact", words), 1);
        expect_int(count_of("not located"), i == 5 ? 2 : 1);
    }
}

/* A ball on a stop that takes energy comes to rest: a finite number of bounces, then none; the
 * gradient is that of the rest. */
static void comes_to_rest(void **state)
{
    (void)state;
    static const char text[] =
        "costate: 1\ngravity: [0, 0, -9.81]\nparameters: {k: 2e4, m: 1.1, z0: 0.3}\n"
        "points: {O: [0, 0, z0]}\nbodies: {b: {type: point, position: O, mass: m}}\n"
        "measures: {p: {type: position, of: b.origin}}\n"
        "forces: {s: {type: stop, of: p.z, lower: 0.1, stiffness: k, damping: 40}}\n"
        "objectives: {psi: end(p.z)}\nsimulation: {end: 4, step: 0.002}\n";
    static const char *const name[] = {"k", "m", "z0"};
    answer a = solve(text, "exact", 0, 3, name);
    double mg = 1.1 * 9.81, k = 2e4;
    expect_near(a.value, 0.1 - mg / k, 1e-12);
    expect_true(stats.events > 6 && stats.events < 40 && !stats.chattering);
    expect_near(a.adjoint[0], mg / (k * k), 1e-12), expect_near(a.adjoint[1], -9.81 / k, 1e-12),
        expect_near(a.adjoint[2], 0, 1e-12);
    for (int i = 0; i < 3; i++) expect_near(a.direct[i], a.adjoint[i], 1e-12);
}

/* Two forces that are switched on at ta and tb: psi = x(1) = (F (1 - ta)^2 + G (1 - tb)^2)/(2 m),
 * whether these times are on the grid of the steps, as people write them, or not. */
static void switched_at_a_time(void **state)
{
    (void)state;
    static const double when[][2] = {{0.1, 0.35},  {0.1, 0.1},         {0.3, 0.4049},
                                     {0.25, 0.75}, {0.3 + 1e-10, 0.5}, {0.1 + 1e-8, 0.2 + 3e-6}};
    static const char *const name[] = {"ta", "tb", "F", "m"};
    for (size_t i = 0; i < sizeof when / sizeof *when; i++)
        for (int checkpoints = 0; checkpoints < 2; checkpoints++) {
            char text[1024];
            double ta = when[i][0], tb = when[i][1], F = 2, G = -1.5, m = 0.8;
            snprintf(text, sizeof text,
                     "costate: 1\ngravity: [0, 0, 0]\nparameters: {ta: %.17g, tb: %.17g, F: 2, G: "
                     "-1.5, m: 0.8}\n"
                     "points: {O: [0, 0, 0]}\nbodies: {a: {type: point, position: O, mass: m}}\n"
                     "measures: {p: {type: position, of: a.origin}}\n"
                     "forces: {f: {type: force, on: a.origin, force: [\"if(t > ta, F, 0) + if(t > "
                     "tb, G, 0)\", 0, 0]}}\n"
                     "objectives: {psi: end(p.x)}\nsimulation: {end: 1, step: 0.01}\n",
                     ta, tb);
            answer a = solve(text, "exact", checkpoints ? 7500 : 0, 4, name);
            double psi = (F * (1 - ta) * (1 - ta) + G * (1 - tb) * (1 - tb)) / (2 * m);
            const double slope[] = {-F * (1 - ta) / m, -G * (1 - tb) / m,
                                    (1 - ta) * (1 - ta) / (2 * m), -psi / m};
            double tol = i < 4 ? 1e-11 : 1e-10; /* the last two lead to steps of 1e-10 to 3e-6 s */
            expect_near(a.value, psi, tol);
            for (int k = 0; k < 4; k++) {
                expect_near(a.adjoint[k], slope[k], tol);
                expect_near(a.direct[k], slope[k], tol);
            }
        }
}

/* A double pendulum crosses two switches that are 3e-6 m apart: between them is a step of 1e-6 s.
 * Where the scene stands does not matter, although far away q1 - q0 of that step has lost its
 * digits. */
static void far_away(void **state)
{
    (void)state;
    static const char *const name[] = {"s1", "s2", "F1", "m"};
    static const way by[] = {{"index3", "newmark"},
                             {"augmented", "newmark"},
                             {"index1", "trapezoid"}};
    for (int k = 0; k < 6; k++) { /* with checkpoints too */
        answer a[2];
        for (int away = 0; away < 2; away++) {
            char text[1024];
            snprintf(text, sizeof text,
                     "costate: 1\ngravity: [0, -9.81, 0]\nparameters: {s1: 0.2, s2: 0.200003, F1: "
                     "20, F2: -15, m: 0.8, X: %d}\n"
                     "points: {O: [X, 0, 0], P: [X, -1, 0], Q: [X + 0.7, -1.5, 0]}\n"
                     "bodies: {a: {type: bar, from: O, to: P, mass: m}, b: {type: bar, from: P, "
                     "to: Q, mass: m}}\n"
                     "joints: {j: {type: revolute, between: [ground, a], at: O, axis: z}, k: "
                     "{type: revolute, between: [a, b], at: P, axis: z}}\n"
                     "measures: {p: {type: position, of: a.P}, q: {type: position, of: b.Q}}\n"
                     "forces: {f: {type: force, on: a.P, force: [\"if(p.x - X < s1, F1, 0) + "
                     "if(p.x - X < s2, F1, F2)\", 0, 0]}}\n"
                     "objectives: {psi: end(q.x) - X}\nsimulation: {end: 0.6, step: 0.01}\n",
                     away ? 128 : 0);
            a[away] = solve_by(&by[k / 2], text, "exact", k % 2 ? 40e3 : 0, 4, name);
        }
        expect_near(a[0].value, a[1].value, 1e-11);
        for (int i = 0; i < 4; i++) {
            expect_near(a[1].adjoint[i], a[0].adjoint[i], 1e-8);
            for (int away = 0; away < 2; away++)
                expect_near(a[away].direct[i], a[away].adjoint[i], 1e-9);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(step_in_force),
        cmocka_unit_test(jump_of_a_table),
        cmocka_unit_test(two_at_once),
        cmocka_unit_test(frozen_times),
        cmocka_unit_test(switched_at_a_time),
        cmocka_unit_test(switched_oscillator),
        cmocka_unit_test(bouncing_mass),
        cmocka_unit_test(other_jumps),
        cmocka_unit_test(within_a_step),
        cmocka_unit_test(chattering),
        cmocka_unit_test(rest_by_friction),
        cmocka_unit_test(ever_faster),
        cmocka_unit_test(grazing),
        cmocka_unit_test(order_of_events),
        cmocka_unit_test(near_events),
        cmocka_unit_test(comes_to_rest),
        cmocka_unit_test(integral_that_switches),
        cmocka_unit_test(bouncing_on_a_pad),
        cmocka_unit_test(drive_that_jumps),
        cmocka_unit_test(not_located_by),
        cmocka_unit_test(far_away),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
