/* SPDX-License-Identifier: MIT
 *
 * Switches whose own values switch: an event then changes others at its instant; and drives that
 * switch. Forces are constant between the switches, as in test_events.c, and closed forms are exact
 * for the rules. */
#include "event_ways.h"

#define MASS(parameters, measures, magnitude, objective, step)                                     \
    "costate: 1\ngravity: [0, 0, 0]\n"                                                             \
    "parameters: {" parameters "}\n"                                                               \
    "bodies: {a: {type: point, position: [0, 0, 0], mass: 1, velocity: [v0, 0, 0]}}\n"             \
    "measures: {x: {type: position, of: a.origin}, v: {type: velocity, of: a.origin},\n"           \
    "  A: {type: acceleration, of: a.origin}" measures "}\n"                                       \
    "forces: {f: {type: force, on: a.origin, direction: x, magnitude: \"" magnitude "\"}}\n"       \
    "objectives: {psi: " objective "}\n"                                                           \
    "simulation: {end: 1, step: " step "}\n"

static void expect_everywhere(const char *text, int n, const char *const *name, double value,
                              const double *slope)
{
    for (int k = 0; k < 2 * WAYS; k++) { /* with checkpoints too */
        answer a = solve_by(&ways[k / 2], text, "exact", k % 2 ? 8e3 : 0, n, name);
        expect_near(a.value, value, 1e-11);
        for (int i = 0; i < n; i++)
            expect_near(a.adjoint[i], slope[i], 1e-10), expect_near(a.direct[i], slope[i], 1e-10);
    }
}

/* On for c at the beginning of each period p, with (n - 1) p + c < 1 < n p: psi = integral of a^2 =
 * n c F^2 */
static void pulses(void **state)
{
    (void)state;
    static const char *const name[] = {"p", "c", "F"};
    const double p = 0.237, c = 0.039, F = 1.3, n = 5;
    expect_true((n - 1) * p + c < 1 && n * p > 1);
    expect_everywhere(MASS("p: 0.237, c: 0.039, F: 1.3, v0: 0.2", "", "if(mod(t, p) < c, F, 0)",
                           "integral(A.x^2)", "0.03"),
                      3, name, n * c * F * F, (double[]){0, n * F * F, 2 * n * c * F});
    /* x(1) = v0 + F sum over the pulses of (s c - c^2/2), s = 1 - k p the time that is left at
     * their beginning */
    double x = 0.2, x_p = 0, x_c = 0;
    for (int k = 0; k < n; k++) {
        double s = 1 - k * p;
        x += F * (s * c - c * c / 2), x_p -= F * k * c, x_c += F * (s - c);
    }
    expect_everywhere(MASS("p: 0.237, c: 0.039, F: 1.3, v0: 0.2", "", "if(mod(t, p) < c, F, 0)",
                           "end(x.x)", "0.03"),
                      3, name, x, (double[]){x_p, x_c, (x - 0.2) / F});
}

/* The force is F1 up to xs and F2 behind it, decided by a gear that changes there, by a gear of a
 * gear, or by a ramp that jumps: v^2 = v0^2 + 2 F1 xs at the instant t = (v - v0)/F1, and psi =
 * v(1) = v + F2 (1 - t) */
static void gears(void **state)
{
    (void)state;
    static const char *const name[] = {"xs", "F1", "F2", "v0"};
    static const char *const text[] = {
        MASS("v0: 1.1, xs: 0.371, F1: 1, F2: -2", ", gear: \"if(x.x > xs, 2, 1)\"",
             "if(gear > 1.5, F2, F1)", "end(v.x)", "0.03"),
        MASS("v0: 1.1, xs: 0.371, F1: 1, F2: -2",
             ", g: \"if(x.x > xs, 2, 1)\", gear: \"if(g > 1.5, 7, 3)\"", "if(gear < 5, F1, F2)",
             "end(v.x)", "0.03"),
        MASS("v0: 1.1, xs: 0.371, F1: 1, F2: -2", ", ramp: \"if(x.x > xs, 2 + x.x, 0.1*x.x)\"",
             "if(ramp > 1, F2, F1)", "end(v.x)", "0.03"),
        MASS("v0: 1.1, xs: 0.371, F1: 1, F2: -2", ", gear: \"1 + floor(x.x/xs)\"",
             "if(gear > 1.5, F2, F1)", "end(v.x)", "0.03"),
        MASS("v0: 1.1, xs: 0.371, F1: 1, F2: -2", ", side: \"sign(x.x - xs)\"",
             "if(side > 0, F2, F1)", "end(v.x)", "0.03"),
    };
    double xs = 0.371, F1 = 1, F2 = -2, v0 = 1.1, v = sqrt(v0 * v0 + 2 * F1 * xs),
           t = (v - v0) / F1;
    double v_xs = F1 / v, v_F1 = xs / v, v_v0 = v0 / v;
    const double slope[] = {v_xs - F2 * v_xs / F1, v_F1 - F2 * (v_F1 / F1 - t / F1), 1 - t,
                            v_v0 - F2 * (v_v0 - 1) / F1};
    for (size_t i = 0; i < sizeof text / sizeof *text; i++)
        expect_everywhere(text[i], 4, name, v + F2 * (1 - t), slope);
}

/* What a switch reads may switch too: adjoint = direct = differences for a controller with limits
 * whose reference jumps */
static void limited_controller(void **state)
{
    (void)state;
    static const char *const name[] = {"p", "kp", "ki", "lo", "v0"};
    static const char text[] =
        "costate: 1\ngravity: [0, 0, 0]\n"
        "parameters: {p: 0.371, kp: 3, ki: 5, lo: -1, v0: 1}\n"
        "bodies: {a: {type: point, position: [0, 0, 0], mass: 1, velocity: [v0, 0, 0]}}\n"
        "measures: {x: {type: position, of: a.origin}, v: {type: velocity, of: a.origin}}\n"
        "blocks: {c: {type: pi, input: 'if(t > p, 0.5, 0) - v.x', proportional: kp, integral: ki, "
        "lower: lo, upper: 1.5}}\n"
        "forces: {f: {type: force, on: a.origin, direction: x, magnitude: c}}\n"
        "objectives: {psi: end(x.x)}\n"
        "simulation: {end: 1, step: 0.03}\n";
    cst_diag d = {0};
    cst_model *m = cst_model_parse("model.yaml", text, strlen(text), 0, NULL, &d);
    cst_run *r = cst_run_new(m, NULL, &d);
    int which[5];
    for (int i = 0; i < 5; i++) which[i] = cst_model_number_find(m, name[i]);
    double slope[3][5];
    for (int method = 0; method < 3; method++) {
        const cst_gradient *g =
            cst_run_gradient(r, NULL,
                             (cst_method[]){CST_ADJOINT, CST_DIRECT, CST_DIFFERENCE}[method], 5,
                             which, &d);
        expect_text(d.text, "");
        memcpy(slope[method], g->slope, sizeof slope[method]);
    }
    for (int i = 0; i < 5; i++)
        expect_near(slope[0][i], slope[1][i], 1e-12), expect_near(slope[0][i], slope[2][i], 1e-9);
    cst_run_free(r);
    cst_model_free(m);
}

/* A drive whose acceleration, or whose velocity, jumps at t1. The acceleration is c behind t1: psi
 * = integral of it squared. */
static void drives(void **state)
{
    (void)state;
    static const char *const name[] = {"t1", "c"};
    static const char *const value[] = {"if(t > t1, c*(t - t1)^2/2, 0)", "c*max(0, t - t1)^2/2",
                                        "c*clamp(t - t1, 0, 5)^2/2",
                                        "c*(t - t1 + abs(t - t1))^2/8"};
    const double t1 = 0.371, c = 1.7;
    char text[1024];
    for (int k = 0; k < 4; k++) {
        for (int w = 0; w < WAYS; w++) {
            int drifts =
                !strncmp(ways[w].integrator, "rk", 2) &&
                (!strcmp(ways[w].formulation, "index1") || !strcmp(ways[w].formulation, "penalty"));
            if (drifts || !strcmp(ways[w].integrator, "generalized-alpha"))
                continue; /* their accelerations are not those of the drive */
            snprintf(text, sizeof text,
                     "costate: 1\ngravity: [0, 0, 0]\nparameters: {t1: 0.371, c: 1.7}\n"
                     "bodies: {a: {type: point, position: [0, 0, 0], mass: 1}}\n"
                     "joints: {d: {type: drive-coordinate, of: a.origin, direction: x, value: "
                     "\"%s\"}, l: {type: point-on-line, of: a.origin, axis: x}}\n"
                     "measures: {A: {type: acceleration, of: a.origin}}\n"
                     "objectives: {psi: integral(A.x^2)}\nsimulation: {end: 1, step: 0.03}\n",
                     value[k]);
            answer a = solve_by(&ways[w], text, "exact", 0, 2, name);
            const double slope[] = {-c * c, 2 * c * (1 - t1)};
            expect_near(a.value, c * c * (1 - t1), 1e-9);
            for (int i = 0; i < 2; i++)
                expect_near(a.adjoint[i], slope[i], 1e-9), expect_near(a.direct[i], slope[i], 1e-9);
        }
    }
}

/* A mass m1 with velocity v0 takes another one along from x = p on, y = k (x - p): m1 v0 = (m1 +
 * k^2 m2) v, psi = x(1) = p + v (1 - p/v0). By max and by a table with a kink. */
static void taken_along(void **state)
{
    (void)state;
    static const char *const name[] = {"p", "v0", "m1", "m2", "k"};
    static const char *const value[] = {"k*max(0, x.x - p)", "k*tab(x.x - p)",
                                        "k*if(x.x > p, x.x - p, 0)"};
    const double p = 0.371, v0 = 1.3, m1 = 1.1, m2 = 0.7, k = 0.6, m = m1 + k * k * m2, r = m1 / m;
    const double slope[] = {1 - r, r, (v0 - p) * (1 / m - m1 / (m * m)),
                            -(v0 - p) * m1 * k * k / (m * m),
                            -(v0 - p) * m1 * 2 * k * m2 / (m * m)};
    char text[1024];
    for (int w = 0; w < 3 * WAYS; w++) {
        snprintf(
            text, sizeof text,
            "costate: 1\ngravity: [0, 0, 0]\nparameters: {p: 0.371, v0: 1.3, m1: 1.1, m2: 0.7, k: "
            "0.6}\n"
            "tables: {tab: {x: [-9, 0, 9], y: [0, 0, 9]}}\n"
            "bodies: {a: {type: point, position: [0, 0, 0], mass: m1, velocity: [v0, 0, 0]}, b: "
            "{type: point, position: [0, 0, 0], mass: m2}}\n"
            "joints: {c: {type: coupling, of: \"y.x - %s\"}}\n"
            "measures: {x: {type: position, of: a.origin}, y: {type: position, of: b.origin}}\n"
            "objectives: {psi: end(x.x)}\nsimulation: {end: 1, step: 0.03}\n",
            value[w / WAYS]);
        const way *by = &ways[w % WAYS];
        double tol = strcmp(by->formulation, "penalty") ? 1e-10 : 1e-7;
        answer a = solve_by(by, text, "exact", 0, 5, name);
        expect_near(a.value, p + r * (v0 - p), tol);
        for (int i = 0; i < 5; i++)
            expect_near(a.adjoint[i], slope[i], tol), expect_near(a.direct[i], slope[i], tol);
    }
}

/* A drive by a linear table: its velocity jumps at the second point, and at the first it is there
 * from the start on. psi = integral of v = s(1) - s(0) = (1 - w) b + w c - a,  w = (1 - 0.4)/(2 -
 * 0.4) */
static void by_table(void **state)
{
    (void)state;
    static const char *const name[] = {"tab.y[1]", "tab.y[2]", "tab.y[3]", "k"};
    const double a = 0.1, b = 0.5, c = 0.2, w = 0.6 / 1.6;
    expect_everywhere("costate: 1\ngravity: [0, 0, 0]\nparameters: {k: 1}\n"
                      "tables: {tab: {x: [0, 0.4, 2], y: [0.1, 0.5, 0.2]}}\n"
                      "bodies: {a: {type: point, position: [0.1, 0, 0], mass: 1}}\n"
                      "joints: {d: {type: drive-coordinate, of: a.origin, direction: x, value: "
                      "\"k*tab(t)\"}, l: {type: point-on-line, of: a.origin, axis: x}}\n"
                      "measures: {v: {type: velocity, of: a.origin}}\n"
                      "objectives: {psi: integral(v.x)}\nsimulation: {end: 1, step: 0.03}\n",
                      4, name, (1 - w) * b + w * c - a,
                      (double[]){-1, 1 - w, w, (1 - w) * b + w * c - a});
}

/* A square wave whose half periods T = pi/w are a little shorter than a step: the event comes back
 * in each step behind itself. psi = v(1) = v0 + F (T (1 - 1 + 1 ..) over the m whole ones, and what
 * is left of the last) */
static void square_wave(void **state)
{
    (void)state;
    static const char *const name[] = {"F", "w", "v0"};
    const double F = 1.3, w = 131.7, T = acos(-1) / w;
    int m = (int)floor(1 / T);
    double sum = 0, sum_T = 0; /* of v/F, and its slope by T */
    for (int k = 0; k < m; k++) sum += k % 2 ? -T : T, sum_T += k % 2 ? -1 : 1;
    sum += m % 2 ? m * T - 1 : 1 - m * T, sum_T += m % 2 ? m : -m;
    expect_everywhere(MASS("v0: 0.2, F: 1.3, w: 131.7", "", "if(sin(w*t) > 0, F, -F)", "end(v.x)",
                           "0.03"),
                      3, name, 0.2 + F * sum, (double[]){sum, F * sum_T * -T / w, 1});
}

/* An event at the very end of the run, to rounding, has no step behind it: the slopes are those of
 * what was before, by both methods. psi = v(1) = v0 + F */
static void at_the_end(void **state)
{
    (void)state;
    static const char *const name[] = {"F", "v0", "t1"};
    static const char *const text[] = {
        MASS("v0: 0.2, F: 1.3, t1: 1", "", "if(t > t1, 50, F)", "end(v.x)", "0.03"),
        MASS("v0: 0.2, F: 1.3, t1: 0.1*10", "", "if(t > t1, 50, F)", "end(v.x)", "0.1"),
        MASS("v0: 0.2, F: 1.3, t1: 1 - 1e-16", "", "if(t > t1, 50, F)", "end(v.x)", "0.03")};
    for (size_t i = 0; i < sizeof text / sizeof *text; i++)
        expect_everywhere(text[i], 2, name, 1.5, (double[]){1, 1});
}

/* Without events a drive is followed all the same, at instants that do not move: with the numbers
 * that do not move them the gradient is that of the run. psi = x(1) = c (1 - t1) */
static void drives_without_events(void **state)
{
    (void)state;
    static const char *const name[] = {"c"}, *const mode[] = {"none", "frozen", "exact"};
    static const char text[] =
        "costate: 1\ngravity: [0, 0, 0]\nparameters: {t1: 0.371, c: 1.7}\n"
        "bodies: {a: {type: point, position: [0, 0, 0], mass: 1}}\n"
        "joints: {d: {type: drive-coordinate, of: a.origin, direction: x, value: \"c*max(0, t - "
        "t1)\"},\n"
        "  l: {type: point-on-line, of: a.origin, axis: x}}\n"
        "measures: {v: {type: velocity, of: a.origin}}\n"
        "objectives: {psi: integral(v.x)}\nsimulation: {end: 1, step: 0.03}\n";
    for (int i = 0; i < 3; i++) {
        warned = i < 2 ? "the gradient leaves out how the instants of events move" : NULL;
        answer a = solve_by(&ways[0], text, mode[i], 0, 1, name);
        expect_near(a.value, 1.7 * (1 - 0.371), 1e-12);
        expect_near(a.adjoint[0], 1 - 0.371, 1e-12), expect_near(a.direct[0], 1 - 0.371, 1e-12);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(pulses),
                                       cmocka_unit_test(gears),
                                       cmocka_unit_test(limited_controller),
                                       cmocka_unit_test(drives),
                                       cmocka_unit_test(taken_along),
                                       cmocka_unit_test(by_table),
                                       cmocka_unit_test(square_wave),
                                       cmocka_unit_test(at_the_end),
                                       cmocka_unit_test(drives_without_events)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
