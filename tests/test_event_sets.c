/* SPDX-License-Identifier: MIT
 *
 * Many independent parts with more events than a machine word has bits: values and gradients are
 * those of each part alone, whether their events coincide or follow one another. */
#include "event_ways.h"

enum { PARTS = 70, NUMBERS = 6, TIRES = 34 };

static char text[100000];

static void write_to(size_t *n, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void write_to(size_t *n, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    *n += (size_t)vsnprintf(text + *n, sizeof text - *n, format, args);
    va_end(args);
}

static const way newmark = {"index3", "newmark"};

static const char *const numbers[NUMBERS] = {"v0", "xs", "F1", "F2", "G", "m"};
static const double p[NUMBERS] = {1.3, 0.37, 2, -1.5, 0.7, 0.8};

/* Part i is a mass that starts at -i apart and is pushed with F1 up to xs and with F2 behind it.
 * Behind it the value of another switch of every second part jumps from xs - 1 to xs, which adds G.
 */
static void write_masses(double apart)
{
    size_t n = 0;
    write_to(&n, "costate: 1\ngravity: [0, 0, 0]\nparameters: {v0: 1.3, xs: 0.37, F1: 2, F2: -1.5, "
                 "G: 0.7, m: 0.8}\nbodies:\n");
    for (int i = 0; i < PARTS; i++)
        write_to(&n,
                 "  b%d: {type: point, position: [%.17g, %d, 0], mass: m, velocity: [v0, 0, 0]}\n",
                 i, -i * apart, i);
    write_to(&n, "measures:\n");
    for (int i = 0; i < PARTS; i++) write_to(&n, "  x%d: {type: position, of: b%d.origin}\n", i, i);
    write_to(&n, "forces:\n");
    for (int i = 0; i < PARTS; i++)
        write_to(
            &n, "  f%d: {type: force, on: b%d.origin, force: [\"if(x%d.x < xs, F1, F2)\", 0, 0]}\n",
            i, i, i);
    for (int i = 0; i < PARTS; i += 2)
        write_to(&n,
                 "  g%d: {type: force, on: b%d.origin, force: [\"if(x%d.x - if(x%d.x < xs, 1, 0) > "
                 "0, G, 0)\", 0, 0]}\n",
                 i, i, i, i);
    write_to(&n, "objectives: {psi: \"0");
    for (int i = 0; i < PARTS; i++) write_to(&n, " + %d*end(x%d.x)", 1 + i % 3, i);
    write_to(&n, "\"}\nsimulation: {end: 1, step: 0.03}\n");
}

/* x(1) of one part, and += weight times its slopes */
static double part(double x0, double behind, double weight, double g[NUMBERS])
{
    double v0 = p[0], s = p[1] - x0, m = p[5], a1 = p[2] / m, F = p[3] + behind * p[4], a2 = F / m;
    double v = sqrt(v0 * v0 + 2 * a1 * s), t = 1 - (v - v0) / a1, x_t = v + a2 * t;
    double x_a1 = t * s / v + x_t * (-s / v / a1 + (v - v0) / (a1 * a1)), x_a2 = t * t / 2;
    g[0] += weight * (t * v0 / v - x_t * (v0 / v - 1) / a1),
        g[1] += weight * (1 + t * a1 / v - x_t / v);
    g[2] += weight * x_a1 / m, g[3] += weight * x_a2 / m, g[4] += weight * behind * x_a2 / m;
    g[5] -= weight * (x_a1 * p[2] + x_a2 * F) / (m * m);
    return p[1] + v * t + a2 * t * t / 2;
}

static void masses(void **state)
{
    (void)state;
    static const way by[] = {{"index3", "newmark"}, {"maggi", "rk4"}};
    for (int k = 0; k < 8; k++) {
        double apart = k % 2 ? 0.003 : 0, value = 0, slope[NUMBERS] = {0}, size = 0;
        write_masses(apart);
        for (int i = 0; i < PARTS; i++)
            value += (1 + i % 3) * part(-i * apart, i % 2 == 0, 1 + i % 3, slope);
        for (int i = 0; i < NUMBERS; i++) size = fmax(size, fabs(slope[i]));
        double memory = k / 4 ? 1.8e5 : 0; /* with checkpoints too */
        answer a = solve_by(&by[k / 2 % 2], text, "exact", memory, NUMBERS, numbers);
        expect_near(a.value / value, 1, 1e-12);
        for (int i = 0; i < NUMBERS; i++)
            expect_near(a.adjoint[i] / size, slope[i] / size, 1e-11),
                expect_near(a.direct[i] / size, slope[i] / size, 1e-11);
        expect_int(stats.events, PARTS), expect_int(stats.coinciding, apart == 0 ? PARTS - 1 : 0);
        expect_true((stats.again > 0) == (memory > 0));
    }
}

/* Above zs a mass is pushed along x for T = 2 sqrt(2 (top - zs)/g), all within one step: of all
 * parts at once */
static void pulses(void **state)
{
    (void)state;
    static const char *const name[] = {"v", "zs", "F"};
    double v = 2, zs = 0.2038, F = 3, g = 9.81, T = 2 * sqrt(2 * (v * v / (2 * g) - zs) / g),
           rest = 0.5 - v / g - T / 2;
    double T_zs = -4 / (g * T), T_v = 4 * v / (g * g * T), x_T = F * (T + rest), x_rest = F * T;
    const double slope[] = {x_T * T_v + x_rest * (-1 / g - T_v / 2), x_T * T_zs - x_rest * T_zs / 2,
                            T * T / 2 + T * rest};
    size_t n = 0;
    write_to(&n,
             "costate: 1\ngravity: [0, 0, -9.81]\nparameters: {v: 2, zs: 0.2038, F: 3}\nbodies:\n");
    for (int i = 0; i < PARTS; i++)
        write_to(&n, "  b%d: {type: point, position: [0, %d, 0], mass: 1, velocity: [1, 0, v]}\n",
                 i, i);
    write_to(&n, "measures:\n");
    for (int i = 0; i < PARTS; i++) write_to(&n, "  x%d: {type: position, of: b%d.origin}\n", i, i);
    write_to(&n, "forces:\n");
    for (int i = 0; i < PARTS; i++)
        write_to(&n,
                 "  f%d: {type: force, on: b%d.origin, force: [\"if(x%d.z > zs, F, 0)\", 0, 0]}\n",
                 i, i, i);
    write_to(&n, "objectives: {psi: \"0");
    for (int i = 0; i < PARTS; i++) write_to(&n, " + end(x%d.x)", i);
    write_to(&n, "\"}\nsimulation: {end: 0.5, step: 0.03}\n");
    answer a = solve_by(&newmark, text, "exact", 0, 3, name);
    expect_near(a.value / PARTS, 0.5 + F * (T * T / 2 + T * rest), 1e-11);
    for (int i = 0; i < 3; i++)
        expect_near(a.adjoint[i] / PARTS / slope[i], 1, 1e-9),
            expect_near(a.direct[i] / PARTS / slope[i], 1, 1e-9);
    expect_int(stats.events, 2 * PARTS);
}

/* n wheels side by side roll over the edge of a road that drops: the road takes the contact with
 * it. */
static void write_tires(int n)
{
    size_t at = 0;
    write_to(&at, "costate: 1\nparameters: {h: -0.1, e: 0.6371, k: 2e4, c: 300}\nroads: {lane: "
                  "{type: step, at: e, height: h}}\nbodies:\n");
    for (int i = 0; i < n; i++)
        write_to(&at,
                 "  w%d: {type: rigid, position: [0, %d, 0.29], mass: 20, inertia: [1, 1, 1], "
                 "velocity: [5, 0, 0], angular_velocity: [0, 17, 0]}\n",
                 i, 2 * i);
    write_to(&at, "forces:\n");
    for (int i = 0; i < n; i++)
        write_to(
            &at,
            "  t%d: {type: tire, wheel: w%d, road: lane, radius: 0.3, stiffness: k, damping: c}\n",
            i, i);
    write_to(&at, "measures:\n");
    for (int i = 0; i < n; i++) write_to(&at, "  x%d: {type: position, of: w%d.origin}\n", i, i);
    write_to(&at, "objectives: {psi: \"0");
    for (int i = 0; i < n; i++) write_to(&at, " + integral(x%d.z^2)", i);
    write_to(&at, "\"}\nsimulation: {end: 0.3, step: 0.004}\n");
}

static void tires(void **state)
{
    (void)state;
    static const char *const name[] = {"h", "e", "k", "c"};
    write_tires(1);
    answer one = solve_by(&newmark, text, "exact", 0, 4, name);
    int events = (int)stats.events;
    expect_true(events >= 2);
    write_tires(TIRES);
    answer all = solve_by(&newmark, text, "exact", 0, 4, name);
    expect_near(all.value / one.value, TIRES, 1e-10);
    for (int i = 0; i < 4; i++)
        expect_near(all.adjoint[i] / one.adjoint[i], TIRES, 1e-9),
            expect_near(all.direct[i] / one.adjoint[i], TIRES, 1e-9);
    expect_int(stats.events, TIRES * events);
}

enum { WHEELS = 3 };

/* Wheels `from` up to `to` on springs and dampers roll over one edge: the load jumps there, and
 * falls from then on */
static cst_model *wheels(int from, int to)
{
    cst_diag d = {0};
    size_t n = 0;
    write_to(&n, "costate: 1\nparameters: {h: 0.05, v: 8, edge: 0.5}\npoints:\n");
    for (int i = from; i < to; i++) write_to(&n, "  P%d: [0, %d, %.17g]\n", i, i, 0.29 + 0.003 * i);
    write_to(&n, "bodies:\n");
    for (int i = from; i < to; i++)
        write_to(&n, "  w%d: {type: point, position: P%d, mass: %d, velocity: [v, 0, 0]}\n", i, i,
                 90 + 10 * i);
    write_to(&n, "measures:\n");
    for (int i = from; i < to; i++)
        write_to(&n, "  x%d: {type: position, of: w%d}\n  F%d: {type: force, of: f%d}\n", i, i, i,
                 i);
    write_to(&n, "forces:\n");
    for (int i = from; i < to; i++)
        write_to(&n,
                 "  f%d: {type: force, on: w%d, direction: z, magnitude: \"1e5*(0.3 + if(x%d.x > "
                 "edge, h, 0) - x%d.z) - 900*rate(x%d.z)\"}\n",
                 i, i, i, i, i);
    write_to(&n, "objectives:\n");
    for (int i = from; i < to; i++) write_to(&n, "  load%d: peak(F%d.force.z)\n", i, i);
    write_to(&n, "simulation: {end: 0.2, step: 2 ms}\n");
    cst_model *m = cst_model_parse("wheels.yaml", text, n, 0, NULL, &d);
    if (!m) fail_msg("%s\n%s", d.text, text);
    return m;
}

/* The peak of each is where its own wheel is at the edge, whatever others do at the same instant;
 * but for the error of the step that ends there, of which all events have a share */
static void peaks(void **state)
{
    (void)state;
    static const char *const own[] = {"h", "v", "edge", "P%d.x", "P%d.z", "w%d.mass"};
    enum { OWN = sizeof own / sizeof *own };
    for (int method = CST_ADJOINT; method <= CST_DIRECT; method++) {
        cst_diag d = {0};
        cst_model *all = wheels(0, WHEELS);
        cst_run *r = cst_run_new(all, NULL, &d);
        const cst_gradient *g =
            r ? cst_run_gradient(r, NULL, (cst_method)method, 0, NULL, &d) : NULL;
        if (!g) fail_msg("%s", d.text);
        expect_text(d.text, "");
        for (int i = 0; i < WHEELS; i++) {
            cst_model *alone = wheels(i, i + 1);
            cst_run *one = cst_run_new(alone, NULL, &d);
            const cst_gradient *h =
                one ? cst_run_gradient(one, NULL, (cst_method)method, 0, NULL, &d) : NULL;
            if (!h) fail_msg("%s", d.text);
            for (int k = 0; k < OWN; k++)
                for (int j = 0; j < (k < 3 ? 1 : WHEELS); j++) {
                    char name[32];
                    snprintf(name, sizeof name, own[k], k < 3 ? 0 : j);
                    const int mine = k < 3 || j == i;
                    const double slope =
                        g->slope[i * g->numbers + cst_model_number_find(all, name)];
                    const double expected = mine ? h->slope[cst_model_number_find(alone, name)] : 0;
                    if (!(fabs(slope - expected) <= 0.5 + 1e-3 * fabs(expected)))
                        fail_msg("load%d by %s: %.12g, not %.12g", i, name, slope, expected);
                }
            cst_run_free(one), cst_model_free(alone);
        }
        cst_run_free(r), cst_model_free(all);
    }
}

/* A body falls on two stops at once: the acceleration above one of them jumps with either, and its
 * peak with their order */
static void peak_of_two(void **state)
{
    (void)state;
    static const char stops[] =
        "costate: 1\npoints: {A: [0.6, 0, 0.5], B: [-0.6, 0, 0.5], C: [0, 0, 0.5]}\ngravity: [0, "
        "0, -9.81]\n"
        "bodies: {b: {type: rigid, position: C, mass: 80, inertia: [5, 8, 9]}}\n"
        "joints: {g: {type: planar, between: [ground, b], at: C, normal: y}}\nforces:\n"
        "  s: {type: stop, of: a.z, lower: 0.2, stiffness: 4e4, damping: 900}\n"
        "  t: {type: stop, of: c.z, lower: 0.2, stiffness: 4e4, damping: 900}\nmeasures:\n"
        "  a: {type: position, of: b.A}\n  c: {type: position, of: b.B}\n  w: {type: acceleration, "
        "of: b.A}\n"
        "objectives: {psi: peak(w.z)}\nsimulation: {end: 0.5, step: 2 ms}\n";
    cst_diag d = {0};
    cst_model *m = cst_model_parse("stops.yaml", stops, strlen(stops), 0, NULL, &d);
    cst_run *r = m ? cst_run_new(m, NULL, &d) : NULL;
    if (!r || !cst_run_gradient(r, NULL, CST_ADJOINT, 0, NULL, &d)) fail_msg("%s", d.text);
    expect_contains(d.text, "'psi' is read at the instant of an event at which it jumps");
    cst_run_free(r), cst_model_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(masses), cmocka_unit_test(pulses),
                                       cmocka_unit_test(tires), cmocka_unit_test(peaks),
                                       cmocka_unit_test(peak_of_two)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
