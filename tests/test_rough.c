/* SPDX-License-Identifier: MIT
 *
 * Points without a derivative are refused, with the operation and the time, and nothing beside them
 * is: objectives on a kink, laws on a kink, p-norms at the ends of the range of numbers, instants
 * at and beyond the ends of the run. */
#include "costate.h"
#include "expect.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static cst_diag diag;

/* A rod that hangs sideways from a hinge along z and falls: its end moves in the plane z = 0. w:
 * its rate about the hinge */
static const char rod[] =
    "costate: 1\ngravity: [0, -9.81, 0]\nparameters: {w: 0, lift: 0}\n"
    "points: {A: [0, 0, 0], B: [0.5, 0.1, lift], Q: [0.5, 0.1, 0]}\n"
    "bodies: {rod: {type: bar, from: A, to: B, mass: 1000, radius: 0.01%s}}\n"
    "joints: {a: {type: revolute, between: [ground, rod], at: A, axis: z}}\n"
    "measures:\n  p: {type: position, of: rod.B}\n  v: {type: velocity, of: rod.B}\n"
    "  u: {type: displacement, of: rod.B}\n  d: {type: distance, from: rod.B, to: ground.Q}\n"
    "  R: {type: reaction, of: a}\n"
    "objectives:\n  ok: end(p.x)\n  o: \"%s\"\n"
    "simulation: {end: 0.3, step: 10 ms}\n";

static double number[64]; /* of the last model */

typedef struct answer {
    int refused, n;
    double value, *slope;
} answer; /* of objective o; refused: how many numbers, by NAN slopes */

static cst_model *load(const char *text)
{
    diag = (cst_diag){0};
    cst_model *m = cst_model_parse("m.yaml", text, strlen(text), 0, NULL, &diag);
    if (!m) fail_msg("%s", diag.text);
    return m;
}

static answer solve(const char *spin, const char *objective, cst_method method,
                    const char *integrator, double memory)
{
    char text[4096];
    snprintf(text, sizeof text, rod, spin, objective);
    cst_model *m = load(text);
    cst_options opt = cst_options_default();
    opt.memory = memory, opt.integrator = integrator;
    if (integrator) opt.formulation = "index1";
    cst_run *r = cst_run_new(m, &opt, &diag);
    diag = (cst_diag){0};
    const cst_gradient *g = cst_run_gradient(r, NULL, method, 0, NULL, &diag);
    if (!g) fail_msg("%s: %s", objective, diag.text);
    answer a = {0, g->numbers, g->value[1], malloc(sizeof(double) * (size_t)g->numbers)};
    for (int i = 0; i < g->numbers; i++) {
        cst_effect e = g->effect[g->numbers + i];
        expect_true(g->effect[i] == CST_EXACT ||
                    g->effect[i] == CST_NO_EFFECT); /* ok is never spoiled */
        a.refused += e != CST_EXACT && e != CST_NO_EFFECT;
        a.slope[i] = g->slope[g->numbers + i];
        number[i] = cst_model_number_value(m, i);
    }
    cst_run_free(r), cst_model_free(m);
    return a;
}

/* (o(x + e) - 2 o(x) + o(x - e))/e by number i: the difference of the slopes to the two sides */
static double bend(const char *spin, const char *objective, int i)
{
    char text[4096];
    snprintf(text, sizeof text, rod, spin, objective);
    cst_model *m = load(text);
    cst_run *r = cst_run_new(m, NULL, &diag);
    double x[64], f[3], e = 1e-6;
    for (int k = 0; k < cst_model_number_count(m); k++) x[k] = cst_model_number_value(m, k);
    for (int k = 0; k < 3; k++) {
        const double at = x[i];
        x[i] += (k - 1) * e;
        f[k] = cst_run_simulate(r, x, NULL, NULL, &diag) == CST_OK ? cst_run_objective(r, 1) : NAN;
        x[i] = at;
    }
    cst_run_free(r), cst_model_free(m);
    return (f[2] - 2 * f[1] + f[0]) / e;
}

/* Those numbers are refused by which the objective has two slopes, and no others. Where steps have
 * no derivatives, all are. */
static void expect_refused(const char *spin, const char *objective, const char *what,
                           const char *why)
{
    static const struct {
        cst_method method;
        const char *integrator;
        double memory;
    } way[] = {{CST_ADJOINT, NULL, 0},
               {CST_DIRECT, NULL, 0},
               {CST_DIRECT, "rk4", 0},
               {CST_CONTINUOUS_DIRECT, "bdf", 0}};
    for (size_t k = 0; k < sizeof way / sizeof *way; k++) {
        answer a = solve(spin, objective, way[k].method, way[k].integrator, way[k].memory);
        if (a.refused == 0 || !strstr(diag.text, what) || !strstr(diag.text, why) ||
            !strstr(diag.text, "m.yaml:15:3: warning"))
            fail_msg("%s, way %zu: %d of %d refused, %s", objective, k, a.refused, a.n, diag.text);
        for (int i = 0; i < a.n; i++) {
            double two = bend(spin, objective, i);
            int wanted = k == 3 || fabs(two) > 1e-3;
            int known =
                fabs(two) < 1e5 && !strstr(objective, "atan2") &&
                !strstr(objective,
                        "d.rate"); /* not where rounding decides: if(p.z > 0, ..), sqrt(p.z) */
            if (known && isnan(a.slope[i]) != wanted)
                fail_msg("%s, way %zu, number %d: %g apart, slope %g", objective, k, i, two,
                         a.slope[i]);
        }
        free(a.slope);
    }
}

/* Adjoint = direct = differences, by their influence, and nothing is said */
static void expect_smooth(const char *spin, const char *objective)
{
    answer a = solve(spin, objective, CST_ADJOINT, NULL, 0),
           b = solve(spin, objective, CST_DIRECT, NULL, 0);
    if (a.refused || b.refused || *diag.text)
        fail_msg("%s: %d refused, %s", objective, a.refused, diag.text);
    answer c = solve(spin, objective, CST_DIFFERENCE, NULL, 0);
    double most = 0;
    for (int i = 0; i < a.n; i++) {
        double size = number[i] != 0 ? fabs(number[i]) : 1;
        a.slope[i] *= size, b.slope[i] *= size, c.slope[i] *= size;
        most = fmax(most, fabs(a.slope[i]));
    }
    for (int i = 0; i < a.n && most > 0; i++) {
        expect_near(a.slope[i] / most, b.slope[i] / most, 1e-10);
        if (isfinite(c.slope[i])) expect_near(a.slope[i] / most, c.slope[i] / most, 1e-6);
    }
    free(a.slope), free(b.slope), free(c.slope);
}

static const char still[] = "", turns[] = ", angular_velocity: [0, 0, w]";

static void kinks_are_refused(void **state)
{
    (void)state;
    expect_refused(still, "rms(p.z)", "", "kink of sqrt");
    expect_refused(still, "end(abs(p.z))", "t = 0.3 s: objective 'o' has no derivative",
                   "it is on the kink of abs in 'p.z'");
    expect_refused(still, "at(abs(p.z), 0.123)", "", "kink of abs in 'p.z'");
    expect_refused(still, "peak(abs(p.z) + p.x)", "", "kink of abs in 'p.z'");
    expect_refused(still, "sqrt(end(p.z))", "", "kink of sqrt");
    expect_refused(still, "mean(abs(p.z))", "t = 0 s: objective 'o' has no derivative",
                   "it is on the kink of abs in 'p.z'");
    expect_refused(still, "peak(p.z, 8)", "", "kink of ^");
    expect_refused(still, "max(end(p.z), 0)", "", "kink of max");
    expect_refused(still, "end(clamp(p.z, 0, 1))", "", "kink of clamp");
    expect_refused(still, "end(if(p.z > 0, 1, 2))", "", "kink of >");
    expect_refused(still, "start(d)", "t = 0 s: objective 'o' has no derivative",
                   "'d' is on the kink of sqrt");
    expect_refused(still, "end(atan2(p.z, p.z))", "", "kink of atan2");
    expect_refused(turns, "start(norm(v))", "", "kink of sqrt");
    expect_refused(turns, "start(d.rate)", "", "kink of 1/");
}

/* What passes a kink, does not see it, does not leave it, or is small without being zero, has a
 * derivative. */
static void others_are_not(void **state)
{
    (void)state;
    expect_smooth(still, "mean(abs(p.y))");    /* crosses zero */
    expect_smooth(still, "integral(norm(v))"); /* zero at the start alone */
    expect_smooth(still, "start(norm(v))");    /* no number moves it */
    expect_smooth(still, "end(p.z*abs(p.z))"); /* slope 0 */
    expect_smooth(still, "mean(p.z^2)");
    expect_smooth(still, "end(clamp(p.x, 0, 9))");
    expect_smooth(still, "rms(1e-8*p.y)"); /* the square is 1e-17 */
    expect_smooth(still, "end(sqrt((1e-7*p.x)^2))");
    expect_smooth(still, "end(if(p.x > 0.7, abs(p.z), p.y))"); /* the other branch */
}

/* A law on its kink, or on its switch and at rest: by A.z there is no derivative */
static void laws_at_rest_are_named(void **state)
{
    (void)state;
    static const struct {
        const char *law, *says;
    } of[] = {
        {"300*abs(s - 0.5)",
         "of 'o' with respect to 'A.z', which moves 's' off the kink or switch on which it rests"},
        {"300*max(s - 0.5, 0)",
         "of 'o' with respect to 'A.z', which moves 's' off the kink or switch on which it rests"},
        {"if(s >= 0.5, 300, 100)*(s - 0.5)",
         "of 'o' with respect to 'A.z', which moves 's' off the kink or switch on which it rests"},
        {"if(s >= 0.5, 300, 100)",
         "of 'o' with respect to 'A.z', which moves the switch of 's' off the start"},
        {"300*(s - 0.5)", ""},
        {"300*v*abs(v)", ""},
        {"300*(s - 0.5)*abs(s - 0.5)", ""},
        {"if(s >= 0.4, 300, 100)", ""}};
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        char text[1024];
        snprintf(text, sizeof text,
                 "costate: 1\ngravity: [0, 0, 0]\npoints: {A: [0, 0, 0.5], O: [0, 0, 0]}\n"
                 "bodies: {m: {type: point, position: A, mass: 2}}\n"
                 "forces: {s: {type: spring, from: ground.O, to: m, force: \"%s\"}}\n"
                 "measures: {p: {type: position, of: m}}\nobjectives: {o: end(p.z)}\nsimulation: "
                 "{end: 0.02, step: 2 ms}\n",
                 of[i].law);
        cst_model *m = load(text);
        cst_run *r = cst_run_new(m, NULL, &diag);
        expect_true(cst_run_gradient(r, NULL, CST_ADJOINT, 0, NULL, &diag) != NULL);
        if (*of[i].says ? !strstr(diag.text, of[i].says) : *diag.text)
            fail_msg("%s: %s", of[i].law, diag.text);
        cst_run_free(r), cst_model_free(m);
    }
}

/* With steps that have no derivatives it is not known which numbers these are. All laws are named,
 * each once; of many, eight and the number of the others. n: springs */
static void expect_all_named(const char *law, const char *what, const char *more, int n)
{
    char text[8192], *to = text;
    to += sprintf(to, "costate: 1\ngravity: [0, 0, 0]\npoints: {A: [0, 0, 0.5], O: [0, 0, 0]}\n"
                      "bodies: {m: {type: point, position: A, mass: 2}}\n"
                      "measures: {p: {type: position, of: m}}\nobjectives: {o: "
                      "end(p.z)}\nsimulation: {end: 0.02, step: 2 ms}\nforces:\n");
    for (int i = 0; i < n; i++)
        to += sprintf(to, "  s%d: {type: spring, from: ground.O, to: m, force: \"%s\"}\n", i, law);
    cst_model *m = load(text);
    cst_options opt = cst_options_default();
    opt.formulation = "index1", opt.integrator = "bdf";
    cst_run *r = cst_run_new(m, &opt, &diag);
    diag = (cst_diag){0};
    expect_not_null(cst_run_gradient(r, NULL, CST_CONTINUOUS_DIRECT, 0, NULL, &diag));
    int named = n < 8 ? n : 8;
    expect_int(diag.warnings, named + (n > 8));
    for (int i = 0; i < named; i++) {
        char line[200];
        snprintf(line, sizeof line,
                 "m.yaml:%d:3: warning: t = 0 s: 's%d' %s: the gradient is one-sided", 9 + i, i,
                 what);
        expect_contains(diag.text, line);
    }
    if (n > 8) expect_contains(diag.text, more);
    cst_run_free(r), cst_model_free(m);
}

static void all_laws_at_rest_are_named(void **state)
{
    (void)state;
    static const int n[] = {1, 5, 8, 12};
    for (int i = 0; i < 4; i++) {
        expect_all_named("abs(s - 0.5) + max(s - 0.5, 0)", "stays on a kink of its law",
                         "m.yaml: warning: and 4 more stay on a kink of their laws", n[i]);
        expect_all_named("if(s >= 0.5, 1, 2)", "starts on its switch and at rest",
                         "and 4 more start on their switches and at rest", n[i]);
    }
}

/* (h/2T)^(1/p) peak <= p-norm <= peak at any size of x; the norm is homogeneous, in its derivative
 * as well, also with checkpoints. */
static void p_norms_stay_in_range(void **state)
{
    (void)state;
    static const double size[] = {1, 1e-6, 1e7, 1e-40, 1e40};
    double *first = NULL, value = 0;
    for (int k = 0; k < 5; k++) {
        char norm[64], peak[64];
        snprintf(norm, sizeof norm, "peak(%g*u.y, 100)", size[k]),
            snprintf(peak, sizeof peak, "peak(%g*abs(u.y))", size[k]);
        answer a = solve(still, norm, CST_ADJOINT, NULL, 0),
               b = solve(still, norm, CST_DIRECT, NULL, 0),
               c = solve(still, norm, CST_ADJOINT, NULL, 12e3),
               top = solve(still, peak, CST_ADJOINT, NULL, 0);
        expect_true(a.value <= top.value && a.value >= top.value * pow(0.01 / 0.6, 0.01) &&
                    a.refused == 0);
        for (int i = 0; i < a.n; i++) {
            expect_true(memcmp(&a.slope[i], &c.slope[i], sizeof a.slope[i]) == 0);
            expect_near(a.slope[i] / size[k], b.slope[i] / size[k], 1e-11);
        }
        if (!first) first = a.slope, value = a.value;
        expect_near(a.value / size[k], value, 1e-12);
        for (int i = 0; i < a.n - 1; i++)
            expect_near(a.slope[i] / size[k], first[i], 1e-10); /* the last number is the factor */
        if (a.slope != first) free(a.slope);
        free(b.slope), free(c.slope), free(top.slope);
    }
    free(first);
}

/* ks(x, w): w ln(2T/h) below the peak at the most, and not above it. Adding a to x adds a; with -w
 * it is the smallest value; with a width beyond all values it is their mean; and all that holds of
 * slopes. x/w reaches 1e5: exp of that is no number. */
static void soft_peaks(void **state)
{
    (void)state;
    static const double width[] = {1e-6, 1e-3, 1};
    for (int k = 0; k < 3; k++) {
        char text[4][64];
        snprintf(text[0], sizeof *text, "ks(u.y, %g)", width[k]),
            snprintf(text[1], sizeof *text, "ks(u.y + 7, %g)", width[k]);
        snprintf(text[2], sizeof *text, "-ks(-u.y, -%g)", width[k]),
            snprintf(text[3], sizeof *text, "-ks(-u.y, %g)", width[k]);
        answer a = solve(still, text[0], CST_ADJOINT, NULL, 0),
               b = solve(still, text[0], CST_DIRECT, NULL, 0),
               c = solve(still, text[0], CST_ADJOINT, NULL, 12e3),
               more = solve(still, text[1], CST_ADJOINT, NULL, 0),
               same = solve(still, text[2], CST_ADJOINT, NULL, 0),
               low = solve(still, text[3], CST_ADJOINT, NULL, 0),
               top = solve(still, "peak(u.y)", CST_ADJOINT, NULL, 0),
               bottom = solve(still, "-peak(-u.y)", CST_ADJOINT, NULL, 0);
        const double below = width[k] * log(2 * 0.3 / 0.01) +
                             1e-15; /* attained where one end alone is the largest */
        expect_true(a.refused == 0 && a.value <= top.value && a.value >= top.value - below);
        expect_true(low.value >= bottom.value && low.value <= bottom.value + below &&
                    low.value < a.value);
        expect_near(more.value, a.value + 7, 1e-14);
        expect_near(same.value, a.value, 1e-14);
        for (int i = 0; i < a.n; i++) {
            expect_true(memcmp(&a.slope[i], &c.slope[i], sizeof a.slope[i]) == 0);
            expect_near(a.slope[i], b.slope[i], 1e-11);
        }
        for (int i = 0; i < a.n - 1;
             i++) /* the last number is the width, where it is not preceded by another */
            expect_near(same.slope[i], a.slope[i], 1e-9),
                expect_near(more.slope[i], a.slope[i], 1e-8 * fmax(1, 1e-5 / width[k]));
        free(a.slope), free(b.slope), free(c.slope), free(more.slope), free(same.slope),
            free(low.slope), free(top.slope), free(bottom.slope);
    }
    answer wide = solve(still, "ks(u.y, 1e5)", CST_ADJOINT, NULL, 0),
           mean = solve(still, "mean(u.y)", CST_ADJOINT, NULL, 0);
    expect_near(wide.value, mean.value, 1e-5);
    for (int i = 0; i < mean.n; i++) expect_near(wide.slope[i], mean.slope[i], 1e-4);
    free(wide.slope), free(mean.slope);
}

static const char *at_text(const char *time)
{
    static char text[64];
    snprintf(text, sizeof text, "at(p.y, %s)", time);
    return text;
}

/* Ends of the run belong to it, to rounding; others are an error with its place. */
static void instants_are_in_the_run(void **state)
{
    (void)state;
    answer end = solve(still, "end(p.y)", CST_ADJOINT, NULL, 0);
    static const char *const ends[] = {"0.3", "0.30000000000000004", "0.29999999999999993"};
    for (int i = 0; i < 3; i++) {
        answer a = solve(still, at_text(ends[i]), CST_ADJOINT, NULL, 0);
        expect_true(a.value == end.value && a.refused == 0);
        free(a.slope);
    }
    free(end.slope);
    static const char *const outside[] = {"0.301", "-0.1", "5"};
    for (int i = 0; i < 3; i++) {
        char text[4096], says[128];
        snprintf(text, sizeof text, rod, still, at_text(outside[i]));
        snprintf(says, sizeof says,
                 "m.yaml:15:7: error: at(x, T): T = %s s is not in the run, 0 to 0.3 s",
                 outside[i]);
        cst_model *m = load(text);
        cst_run *r = cst_run_new(m, NULL, &diag);
        expect_true(cst_run_simulate(r, NULL, NULL, NULL, &diag) == CST_NUMERIC);
        if (!strstr(diag.text, says)) fail_msg("%s: %s", outside[i], diag.text);
        cst_run_free(r), cst_model_free(m);
    }
}

/* On a state the slope in the time is the mean of both sides, which central differences have too;
 * at the ends it is that of one side. */
static void slopes_of_instants(void **state)
{
    (void)state;
    static const char *const time[] = {"0.1", "0.07", "0.123", "0.2"};
    for (int i = 0; i < 4; i++) expect_smooth(still, at_text(time[i]));
    char text[4096];
    snprintf(text, sizeof text, rod, still, at_text("0.1"));
    cst_model *m = load(text);
    int k = cst_model_number_find(m, "o[1]");
    expect_text(cst_model_number_unit(m, k), "s");
    cst_model_free(m);
    answer a = solve(still, at_text("0"), CST_ADJOINT, NULL, 0),
           b = solve(still, at_text("0.004"), CST_ADJOINT, NULL, 0);
    expect_true(a.slope[k] != 0);
    expect_near(a.slope[k], b.slope[k], 1e-12); /* the same step */
    free(a.slope), free(b.slope);
}

/* Slope of objective o by parameter p; NAN: refused */
static double slope_of(const char *text, const char *p)
{
    cst_model *m = load(text);
    cst_run *r = cst_run_new(m, NULL, &diag);
    int which = cst_model_number_find(m, p);
    const cst_gradient *g = r ? cst_run_gradient(r, NULL, CST_ADJOINT, 1, &which, &diag) : NULL;
    if (!g) fail_msg("%s", diag.text);
    double slope = g->slope[0];
    cst_run_free(r), cst_model_free(m);
    return slope;
}

/* Peaks that several instants share: those of a steady motion change alike and have a derivative,
 * those of a mass that bounces do not. */
static void shared_peaks(void **state)
{
    (void)state;
    static const char driven[] =
        "costate: 1\nparameters: {A: 0.7, n: 3}\nbodies: {x: {type: scalar, inertia: 1, value: "
        "0}}\n"
        "joints: {d: {type: drive, of: X, value: \"A*sin(2*pi*n*t)\"}}\n"
        "measures: {X: {type: coordinate, of: x}}\nobjectives: {o: peak(X)}\n"
        "simulation: {end: 1, step: 1/120}\n";
    static const char bounces[] =
        "costate: 1\nparameters: {c: 0}\nbodies: {x: {type: scalar, inertia: 1, value: 0.1, rate: "
        "0}}\n"
        "measures: {X: {type: coordinate, of: x}}\n"
        "forces:\n  f: {type: stop, of: x, lower: 0, stiffness: 1000, damping: c}\n"
        "  s: {type: servo, of: x, reference: 0, stiffness: 30}\n"
        "objectives: {o: peak(X.rate)}\nsimulation: {end: 2, step: 5 ms}\n";
    expect_near(slope_of(driven, "A"), 1, 1e-12);
    expect_text(diag.text, "");
    expect_true(isnan(slope_of(bounces, "c")));
    expect_contains(diag.text, "m.yaml:8:14: warning: objective 'o' has no derivative: t = 0.38");
    expect_contains(diag.text, "share its peak");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kinks_are_refused),      cmocka_unit_test(others_are_not),
        cmocka_unit_test(laws_at_rest_are_named), cmocka_unit_test(all_laws_at_rest_are_named),
        cmocka_unit_test(p_norms_stay_in_range),  cmocka_unit_test(soft_peaks),
        cmocka_unit_test(shared_peaks),           cmocka_unit_test(instants_are_in_the_run),
        cmocka_unit_test(slopes_of_instants),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
