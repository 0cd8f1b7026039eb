/* SPDX-License-Identifier: MIT
 *
 * Integrands that are on a kink at a single state: at the start, at the end, where they cross it or
 * only touch it. The slope is that of the integral itself, and the objective is named, unless no
 * number can move the integrand off its kink.
 *
 * A free mass moves as x = x0 + v t + a t^2/2 along x, so that d/dx0 of integral(|x|) is the
 * integral of sign(x): sums over steps are exact where sign(x) changes at a state. */
#include "costate.h"
#include "expect.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static cst_diag diag;

typedef struct flight {
    double x0, v, a, end;
} flight;

static double slope_by_x0(flight f, const char *objective, cst_method method,
                          const char *formulation, const char *integrator, double memory)
{
    char text[2048];
    snprintf(text, sizeof text,
             "costate: 1\ngravity: [%.17g, 0, 0]\nparameters: {x0: %.17g}\n"
             "bodies: {m: {type: point, mass: 2, position: [x0, 0, 0], velocity: [%.17g, 0, 0]}}\n"
             "measures: {x: {type: position, of: m}, d: {type: displacement, of: m}}\n"
             "objectives:\n  psi: \"%s\"\n  plain: integral(x.x)\nsimulation: {end: %.17g, step: "
             "10 ms}\n",
             f.a, f.x0, f.v, objective, f.end);
    diag = (cst_diag){0};
    cst_model *m = cst_model_parse("m.yaml", text, strlen(text), 0, NULL, &diag);
    if (!m) fail_msg("%s", diag.text);
    cst_options opt = cst_options_default();
    opt.formulation = formulation, opt.integrator = integrator, opt.memory = memory;
    cst_run *r = cst_run_new(m, &opt, &diag);
    int number = cst_model_number_find(m, "x0");
    const cst_gradient *g = r ? cst_run_gradient(r, NULL, method, 1, &number, &diag) : NULL;
    if (!g) fail_msg("%s", diag.text);
    expect_true(g->effect[0] == CST_EXACT || g->effect[0] == CST_NO_EFFECT);
    expect_near(g->slope[1], f.end, 1e-12);
    double slope = g->slope[0];
    cst_run_free(r), cst_model_free(m);
    return slope;
}

static const struct {
    const char *formulation, *integrator;
} way[] = {{NULL, NULL},
           {"index3", "generalized-alpha"},
           {"index1", "trapezoid"},
           {"variational", NULL}};

static void expect_slope(flight f, const char *objective, double slope, const char *named)
{
    for (size_t k = 0; k < sizeof way / sizeof *way; k++)
        for (int method = CST_ADJOINT; method <= CST_DIRECT; method++) {
            double s = slope_by_x0(f, objective, (cst_method)method, way[k].formulation,
                                   way[k].integrator, 0);
            if (!(fabs(s - slope) <= 1e-7))
                fail_msg("%s, way %zu, method %d: %.12g, not %.12g", objective, k, method, s,
                         slope);
            int said = strstr(diag.text, "m.yaml:7:3: warning: ") &&
                       strstr(diag.text, "two one-sided slopes");
            if (named ? !said || !strstr(diag.text, named) : *diag.text)
                fail_msg("%s, way %zu: '%s'", objective, k, diag.text);
        }
}

static const flight leaves = {0, 1, 0, 1}, leaves_down = {0, -1, 0, 1}, arrives = {-1, 1, 0, 1},
                    passes = {-0.5, 1, 0, 1}, touches = {0.125, -0.5, 1, 1};

static void slopes_are_those_of_the_integral(void **state)
{
    (void)state;
    expect_slope(leaves, "integral(abs(x.x))", 1, "t = 0 s: objective 'psi'");
    expect_slope(leaves_down, "integral(abs(x.x))", -1, "kink of abs in 'x.x'");
    expect_slope(leaves, "integral(norm(x))", 1, "kink of sqrt");
    expect_slope(leaves, "integral(max(x.x, 0))", 1, "kink of max in 'x.x'");
    expect_slope(leaves_down, "integral(max(x.x, 0))", 0, "kink of max in 'x.x'");
    expect_slope(leaves, "integral(min(2*x.x, x.x))", 1, "kink of min");
    expect_slope(leaves, "integral(clamp(x.x, 0, 2))", 1, "kink of clamp in 'x.x'");
    expect_slope(leaves, "mean(abs(x.x)) + 3*integral(abs(2*x.x))", 7, "kink of abs");
    expect_slope(arrives, "integral(abs(x.x))", -1, "t = 1 s: objective 'psi'");
    expect_slope(passes, "integral(abs(x.x))", 0, "t = 0.5 s: objective 'psi'");
    expect_slope(passes, "integral(max(x.x, 0))", 0.5, "t = 0.5 s: objective 'psi'");
    expect_slope(touches, "integral(abs(x.x))", 1, "t = 0.5 s: objective 'psi'");
    expect_slope(touches, "integral(max(x.x, 0))", 1, "t = 0.5 s: objective 'psi'");
}

static void others_are_not_named(void **state)
{
    (void)state;
    expect_slope(leaves, "integral(norm(d))", 0, NULL);      /* zero at the start whatever x0 is */
    expect_slope(leaves, "integral(x.x*abs(x.x))", 1, NULL); /* 2 |x|: no kink of its own */
    expect_slope((flight){0.1, 1, 0, 1}, "integral(abs(x.x))", 1, NULL);
}

/* Slopes that grow without bound towards the kink: d/dx0 of integral(sqrt(|x|)) is 1, and a sum of
 * steps comes near it at best. */
static void steep_kinks_are_left_alone(void **state)
{
    (void)state;
    for (int method = CST_ADJOINT; method <= CST_DIRECT; method++) {
        expect_near(slope_by_x0(leaves, "integral(sqrt(abs(x.x)))", (cst_method)method, NULL, NULL,
                                0),
                    1, 0.2);
        expect_text(diag.text, "");
    }
}

static void checkpoints_change_nothing(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        flight f = k ? passes : leaves;
        double all = slope_by_x0(f, "integral(abs(x.x))", CST_ADJOINT, NULL, NULL, 0);
        expect_true(all == slope_by_x0(f, "integral(abs(x.x))", CST_ADJOINT, NULL, NULL, 12e3));
    }
}

/* A mass leaves an undamped stop, and at the same instant another objective switches. What is
 * dissipated is the work of the damper alone, with or without the stop's share, which vanishes on
 * either side of a kink of its own there. */
static void beside_another_event(void **state)
{
    (void)state;
    static const double step[] = {0.7e-3, 0.8e-3, 0.9e-3, 1e-3, 1.1e-3, 1.2e-3, 1.3e-3};
    for (size_t k = 0; k < sizeof step / sizeof *step; k++) {
        char text[1024];
        snprintf(text, sizeof text,
                 "costate: 1\ngravity: [0, 0, 0]\npoints: {O: [0, 0, 0], P: [0, 0, 0.5]}\n"
                 "parameters: {limit: 0.02, bound: 0.02}\nbodies: {b: {type: point, position: P, "
                 "mass: 30}}\n"
                 "joints: {g: {type: point-on-line, of: b.P, axis: z}}\n"
                 "forces: {s: {type: damper, from: ground.O, to: b.P, damping: 30}, st: {type: "
                 "stop, of: z.z, lower: limit, stiffness: 1e4}}\n"
                 "measures: {z: {type: displacement, of: b.P}, E: {type: energy}, v: {type: "
                 "velocity, of: b.P}}\n"
                 "objectives: {d: end(E.dissipated), w: integral(30*v.z^2), n: \"integral(if(z.z < "
                 "bound, 1, 0))\"}\n"
                 "simulation: {end: 0.12, step: %.17g}\n",
                 step[k]);
        diag = (cst_diag){0};
        cst_model *m = cst_model_parse("m.yaml", text, strlen(text), 0, NULL, &diag);
        cst_run *r = m ? cst_run_new(m, NULL, &diag) : NULL;
        if (!r) fail_msg("%s", diag.text);
        double slope[3][2];
        const int asked[] = {cst_model_number_find(m, "limit"), cst_model_number_find(m, "bound")};
        for (int method = CST_ADJOINT; method <= CST_DIFFERENCE; method++) {
            if (method != CST_ADJOINT && method != CST_DIRECT && method != CST_DIFFERENCE) continue;
            const cst_gradient *g = cst_run_gradient(r, NULL, (cst_method)method, 2, asked, &diag);
            if (!g) fail_msg("%s", diag.text);
            const double close = method == CST_DIFFERENCE
                                     ? 3e-3
                                     : 1e-9; /* the steps have a kink there, of their own error */
            for (int i = 0; i < 2; i++) {
                expect_near(g->slope[i], g->slope[2 + i], close);
                if (method == CST_ADJOINT)
                    for (int o = 0; o < 3; o++) slope[o][i] = g->slope[2 * o + i];
                for (int o = 0; o < 3; o++) expect_near(g->slope[2 * o + i], slope[o][i], close);
            }
        }
        cst_run_free(r), cst_model_free(m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slopes_are_those_of_the_integral),
        cmocka_unit_test(others_are_not_named),
        cmocka_unit_test(steep_kinks_are_left_alone),
        cmocka_unit_test(checkpoints_change_nothing),
        cmocka_unit_test(beside_another_event),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
