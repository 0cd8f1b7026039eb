/* SPDX-License-Identifier: MIT
 *
 * Implicit rules that choose their steps by a tolerance: the error bound per step bounds the total
 * error, which falls as the power 2/3 of the tolerance (order 2, local error of order 3); the
 * derivative for the chosen steps is exact, also across events and from checkpoints; and
 * generalised-alpha keeps its order when step lengths change with the motion. For rows between
 * steps see test_observe.c. */
#include "integrator/run.h"
#include "pairs.h"
#include "reference.h"

#include <stdlib.h>

static int chooses(const char *integrator) { return cst_rule_find(integrator)->adaptive == 2; }

static cst_run *open_by(cst_test_run *t, const char *formulation, const char *integrator,
                        double tolerance)
{
    cst_options o = cst_options_default();
    o.formulation = formulation, o.integrator = integrator, o.tolerance = tolerance;
    t->r = cst_run_new(t->m, &o, &t->d);
    run_check(t, t->r != NULL);
    return t->r;
}

static void parse(cst_test_run *t, const char *text)
{
    memset(t, 0, sizeof *t);
    t->m = cst_model_parse("model.yaml", text, strlen(text), 0, NULL, &t->d);
    run_check(t, t->m != NULL);
}

static const cst_gradient *differentiate(cst_test_run *t, cst_method method, int n,
                                         const int *which)
{
    const cst_gradient *g = cst_run_gradient(t->r, NULL, method, n, which, &t->d);
    run_check(t, g != NULL);
    return g;
}

/* ---- a wheel that spins at 3 rad/s and meets nothing: its angle is known, and its angular
 * acceleration is zero ---- */

static const char wheel[] =
    "costate: 1\ngravity: [0, 0, 0]\npoints: {O: [0, 0, 0], Z: [0, 0, 0.1], R: [0.4, 0, 0]}\n"
    "bodies: {wheel: {type: cylinder, from: O, to: Z, radius: 0.4, mass: 1, angular_velocity: [0, "
    "0, 3]}}\n"
    "joints: {hub: {type: revolute, between: [ground, wheel], at: O, axis: z}}\n"
    "measures: {p: {type: position, of: wheel.R}}\nobjectives: {x: end(p.x), y: end(p.y)}\n"
    "simulation: {end: 2, step: 0.01}\n";

static void spin_by(const cst_formulation *f, const char *integrator, void *ctx)
{
    (void)ctx;
    double error[2];
    if (!chooses(integrator)) return;
    for (int k = 0; k < 2; k++) {
        cst_test_run t;
        double tolerance = k ? 1e-7 : 6.4e-6;
        parse(&t, wheel);
        cst_run *r = open_by(&t, f->name, integrator, tolerance);
        run_check(&t, cst_run_simulate(r, NULL, NULL, NULL, &t.d) == CST_OK);
        error[k] = fabs(
            remainder(atan2(cst_run_objective(r, 1), cst_run_objective(r, 0)) - 6, 8 * atan(1)));
        expect_true(error[k] <=
                    (double)cst_run_stats(r).steps *
                        tolerance); /* angles add up: no more than one tolerance per step */
        run_close(&t);
    }
    print_message("%s %s: angle off by %.2e, %.2e\n", f->name, integrator, error[0], error[1]);
    expect_true(error[1] < 1e-9 ||
                (error[0] / error[1] > 12 && error[0] / error[1] < 22)); /* 64^(2/3) = 16 */
}

static void test_spin(void **state)
{
    (void)state;
    for_each_pair(1, spin_by, NULL);
}

/* ---- five-bar: the gradient of the paper ---- */

static void five_bar_by(const cst_formulation *f, const char *integrator, void *ctx)
{
    static const double exact[] = {-4.22881085524, 3.21160410299};
    cst_test_run *t = ctx;
    double error[2] = {0};
    if (!chooses(integrator)) return;
    int which[] = {cst_model_number_find(t->m, "L01"), cst_model_number_find(t->m, "L02")};
    for (int k = 0; k < 2; k++) {
        cst_run *r = open_by(t, f->name, integrator, k ? 1.25e-7 : 8e-6);
        const cst_gradient *g = differentiate(t, CST_ADJOINT, 2, which);
        double adjoint[] = {g->slope[0], g->slope[1]};
        for (int i = 0; i < 2; i++) error[k] += fabs(g->slope[i] - exact[i]);
        for (int m = 0; m < 2 - k; m++) {
            g = differentiate(t, m ? CST_DIFFERENCE : CST_DIRECT, 2, which);
            for (int i = 0; i < 2; i++) expect_near(g->slope[i] / adjoint[i], 1, m ? 1e-6 : 1e-9);
        }
        cst_run_free(r);
    }
    print_message("%s %s: gradient off by %.2e, %.2e\n", f->name, integrator, error[0], error[1]);
    expect_true(error[0] / error[1] > 11 && error[0] / error[1] < 23);
}

static void test_five_bar(void **state)
{
    (void)state;
    cst_test_run t = {0};
    t.m = cst_model_load(EXAMPLE("five-bar"), 0, NULL, &t.d);
    run_check(&t, t.m != NULL);
    for_each_pair(1, five_bar_by, &t);
    cst_model_free(t.m);
}

/* ---- events: a bob flies at v against a spring at a distance d, stays for half a period, and
 * flies back: x = -v (T - d/v - pi/w) ---- */

static const char stop[] =
    "costate: 1\ngravity: [0, 0, 0]\nparameters: {k: 50, d: 0.5, v: 1, m: 2}\npoints: {P: [-d, 0, "
    "0]}\n"
    "bodies: {bob: {type: point, position: P, mass: m, velocity: [v, 0, 0]}}\n"
    "measures: {p: {type: position, of: bob.origin}}\n"
    "forces: {f: {type: force, on: bob.origin, force: [\"if(p.x > 0, -k*p.x, 0)\", 0, 0]}}\n"
    "objectives: {x: end(p.x)}\nsimulation: {end: 2, step: 0.02}\n";

static void stop_by(const cst_formulation *f, const char *integrator, void *ctx)
{
    (void)ctx;
    static const char *const name[] = {"k", "d", "v", "m"};
    const double pi = 4 * atan(1), k = 50, d = 0.5, v = 1, m = 2, half = pi * sqrt(m / k);
    const double exact[] = {-v * half / 2 / k, 1, -(2 - half), v * half / 2 / m};
    double error[2] = {0};
    if (!chooses(integrator)) return;
    for (int i = 0; i < 2; i++) {
        cst_test_run t;
        parse(&t, stop);
        int which[4];
        for (int j = 0; j < 4; j++) which[j] = cst_model_number_find(t.m, name[j]);
        open_by(&t, f->name, integrator, i ? 1e-8 : 6.4e-7);
        const cst_gradient *g = differentiate(&t, CST_ADJOINT, 4, which);
        double adjoint[4];
        memcpy(adjoint, g->slope, sizeof adjoint);
        expect_near(g->value[0], -v * (2 - d / v - half), i ? 1e-5 : 2e-4);
        for (int j = 0; j < 4; j++) error[i] = fmax(error[i], fabs(adjoint[j] - exact[j]));
        g = differentiate(&t, CST_DIRECT, 4, which);
        for (int j = 0; j < 4; j++) expect_near(g->slope[j], adjoint[j], 1e-9);
        run_close(&t);
    }
    print_message("%s %s: behind a stop off by %.2e, %.2e\n", f->name, integrator, error[0],
                  error[1]);
    /* Generalised-alpha: a belongs to steps of one length, and h of a step that ends at an event is
     * any: first order in the derivative */
    expect_true(cst_rule_find(integrator)->carries ? error[0] / error[1] > 3.5
                                                   : error[0] / error[1] > 8 && error[1] < 1e-4);
}

static void test_events(void **state)
{
    (void)state;
    for_each_pair(1, stop_by, NULL);
}

/* ---- checkpoints: the same gradient from states that are computed again ---- */

static void checkpoints_by(const cst_formulation *f, const char *integrator, void *ctx)
{
    cst_test_run *t = ctx;
    double slope[2][2];
    if (!chooses(integrator)) return;
    int which[] = {cst_model_number_find(t->m, "L01"), cst_model_number_find(t->m, "L02")};
    for (int k = 0; k < 2; k++) {
        cst_options o = cst_options_default();
        o.formulation = f->name, o.integrator = integrator, o.tolerance = 1e-5,
        o.memory = k ? 4e5 : 0;
        t->r = cst_run_new(t->m, &o, &t->d);
        run_check(t, t->r != NULL);
        const cst_gradient *g = differentiate(t, CST_ADJOINT, 2, which);
        memcpy(slope[k], g->slope, sizeof slope[k]);
        expect_true((cst_run_stats(t->r).again > 0) == k);
        cst_run_free(t->r);
    }
    for (int i = 0; i < 2; i++) expect_near(slope[1][i] / slope[0][i], 1, 1e-12);
}

static void test_checkpoints(void **state)
{
    (void)state;
    cst_test_run t = {0};
    t.m = cst_model_load(EXAMPLE("five-bar"), 0, NULL, &t.d);
    run_check(&t, t.m != NULL);
    for_each_pair(1, checkpoints_by, &t);
    cst_model_free(t.m);
}

/* ---- generalised-alpha on steps whose lengths change: the pendulum's closed form ---- */

/* Step i of n ends at: lengths that go up and down three times by a factor of 3, whatever n;
 * lengths of 1 and 3 in turn */
static double waves(double i, double n)
{
    return 1.5 * (i / n - sin(6 * 4 * atan(1) * i / n) / (12 * 4 * atan(1)));
}
static double in_turn(double i, double n) { return 1.5 * (fmod(i, 2) == 1 ? i - 0.5 : i) / n; }

static void uneven(const char *rho, int n, double (*end)(double, double), double *error)
{
    char text[2048];
    cst_test_run t;
    pendulum_at e = pendulum_exact(1.5, 9.81, 1);
    snprintf(text, sizeof text,
             "costate: 1\ngravity: [0, -9.81, 0]\npoints: {O: [0, 0, 0], P: [-1, 0, 0]}\nbodies: "
             "{bob: {type: point, position: P, mass: 1}}\n"
             "joints: {rod: {type: distance, from: ground.O, to: bob.P}, plane: {type: "
             "point-on-plane, of: bob.P, normal: z}}\n"
             "measures: {p: {type: position, of: bob.P}, v: {type: velocity, of: bob.P}}\n"
             "objectives: {x: end(p.x), y: end(p.y), vx: end(v.x), vy: end(v.y)}\nsimulation: "
             "{rho: %s, end: 1.5}\n",
             rho);
    parse(&t, text);
    cst_run *r = open_by(&t, "index3", "generalized-alpha", 1e-6);
    r->frozen = 1; /* these steps, not chosen ones */
    for (int i = 1; i <= n; i++) *cst_push(&r->arena, &r->grid) = i < n ? end(i, n) : 1.5;
    run_check(&t, cst_run_simulate(r, NULL, NULL, NULL, &t.d) == CST_OK);
    expect_int(cst_run_stats(r).steps, n);
    error[0] = hypot(cst_run_objective(r, 0) - e.p[0], cst_run_objective(r, 1) - e.p[1]);
    error[1] = hypot(cst_run_objective(r, 2) - e.v[0], cst_run_objective(r, 3) - e.v[1]);
    run_close(&t);
}

static void test_uneven(void **state)
{
    (void)state;
    static const char *const rho[] = {"0", "0.3", "0.8"};
    for (int k = 0; k < 6; k++) {
        double coarse[2], fine[2],
            order = k < 3 ? 4 : 2; /* steps that alternate without end: first order, but stable */
        uneven(rho[k % 3], 400, k < 3 ? waves : in_turn, coarse),
            uneven(rho[k % 3], 800, k < 3 ? waves : in_turn, fine);
        for (int i = 0; i < 2; i++) {
            print_message("rho %s, %s: errors %.2e, %.2e\n", rho[k % 3],
                          k < 3 ? "waves" : "in turn", coarse[i], fine[i]);
            expect_true(coarse[i] < 3e-2 && coarse[i] / fine[i] > 0.85 * order);
        }
    }
}

/* ---- a quarter car that stands until its road rises with the square of the time: no step is short
 * enough for what that makes of rates that are zero, if errors are compared with these ---- */

static const char quarter_car[] =
    "costate: 1\ngravity: [0, 0, -9.81]\nroads: {r: {type: rig, height: \"0.05*smoothstep(t, 0.1, "
    "0.2)\"}}\n"
    "points: {B: [0, 0, 0.5], W: [0, 0, 0.3]}\n"
    "bodies: {b: {type: rigid, position: B, mass: 300, inertia: [10, 10, 10]}, w: {type: rigid, "
    "position: W, mass: 30, inertia: [1, 1, 1]}}\n"
    "joints: {g: {type: prismatic, between: [ground, b], at: B, axis: z}, gw: {type: prismatic, "
    "between: [b, w], at: B, axis: z}}\n"
    "forces:\n  s: {type: spring-damper, from: w.W, to: b.B, stiffness: 2e4, free_length: 0.3, "
    "damping: 800}\n"
    "  t: {type: tire, wheel: w, road: r, radius: 0.3, stiffness: 2e5, damping: 100, axis: y}\n"
    "measures: {p: {type: position, of: b.com}}\ninitial: {equilibrium: true}\nobjectives: {e: "
    "end(p.z)}\n"
    "simulation: {end: 0.6, step: 1 ms}\n";

static double height_by(const char *formulation, const char *integrator, double step)
{
    cst_test_run t;
    parse(&t, quarter_car);
    cst_options o = cst_options_default();
    o.formulation = formulation, o.integrator = integrator, o.step = step;
    t.r = cst_run_new(t.m, &o, &t.d);
    run_check(&t, t.r && cst_run_simulate(t.r, NULL, NULL, NULL, &t.d) == CST_OK);
    double e = cst_run_objective(t.r, 0);
    run_close(&t);
    return e;
}

static void rest_by(const cst_formulation *f, const char *integrator, void *ctx)
{
    if (strcmp(integrator, "rk45") == 0 && !(f->traits & CST_JOINTS))
        expect_near(height_by(f->name, integrator, 1e-3), *(double *)ctx, 1e-6);
}

static void test_rest(void **state)
{
    (void)state;
    double h = height_by("index3", "newmark", 1e-3), half = height_by("index3", "newmark", 5e-4),
           exact = half + (half - h) / 3;
    for_each_pair(1, rest_by, &exact);
}

/* ---- a mass that comes to rest, and is pushed much later, for less than a 50th of the run: what
 * rests has no error ---- */

static const char *const number[] = {"k", "T", "H"};

static cst_run *open_push(cst_test_run *t, const char *formulation, const char *integrator,
                          double step, const char *push, double speed)
{
    char text[2048];
    snprintf(text, sizeof text,
             "costate: 1\ngravity: [0, 0, 0]\nparameters: {k: 2000, c: 250, m: 10, T: 3, H: "
             "0.05}\npoints: {U: [0, 0, 0.5]}\n"
             "tables: {tb: {x: [0, 0.02, 0.04], y: [0, 1, 0], interpolation: cubic}}\n"
             "bodies: {b: {type: rigid, position: U, mass: m, inertia: [1, 1, 1], velocity: [0, 0, "
             "%g]}}\n"
             "joints: {g: {type: prismatic, between: [ground, b], at: U, axis: z}}\n"
             "measures: {p: {type: position, of: b.U}, v: {type: velocity, of: b.U}}\n"
             "forces: {f: {type: force, on: b.U, direction: z, magnitude: \"-k*(p.z - 0.5 - H*%s) "
             "- c*v.z\"}}\n"
             "objectives: {e: end(p.z), i: integral((p.z - 0.5)^2)}\nsimulation: {end: 3.1, step: "
             "4 ms, formulation: %s}\n",
             speed, push, formulation);
    parse(t, text);
    cst_options o = cst_options_default();
    o.integrator = integrator;
    if (step > 0)
        o.step = step;
    else
        o.tolerance = 1e-8;
    t->r = cst_run_new(t->m, &o, &t->d);
    run_check(t, t->r != NULL);
    return t->r;
}

typedef struct push {
    const char *law;
    double speed;
    int kinks;
    double value[2], slope[6];
} push;

static void push_by(const cst_formulation *f, const char *integrator, void *ctx)
{
    const push *exact = ctx;
    const cst_rule *rule = cst_rule_find(integrator);
    cst_test_run t;
    if (!rule->adaptive && !rule->begin) return;
    open_push(&t, f->name, integrator, 0, exact->law, exact->speed);
    int which[3];
    for (int j = 0; j < 3; j++) which[j] = cst_model_number_find(t.m, number[j]);
    double back[6];
    for (int k = 0; k < 2; k++) {
        cst_method method = rule->begin ? (k ? CST_CONTINUOUS_DIRECT : CST_CONTINUOUS_ADJOINT)
                            : k         ? CST_DIRECT
                                        : CST_ADJOINT;
        const cst_gradient *g = differentiate(&t, method, 3, which);
        for (int i = 0; i < 2; i++) expect_near(g->value[i], exact->value[i], 1e-5);
        for (int i = 0; i < 6;
             i++) /* by T: kinks are ends of given steps, and those have slopes of one side */
            if (i % 3 != 1 || !exact->kinks) expect_near(g->slope[i] / exact->slope[i], 1, 5e-2);
        for (int i = 0; k && !rule->begin && i < 6; i++)
            expect_near(g->slope[i] / back[i], 1, 1e-9);
        memcpy(back, g->slope, sizeof back);
    }
    run_close(&t);
}

static void test_push(void **state)
{
    (void)state;
    push at[] = {{"step5(t, T, T + 0.02)*(1 - step5(t, T + 0.02, T + 0.04))", 0, 0, {0}, {0}},
                 {"exp(-((t - T - 0.02)/0.01)^2)", 0.5, 0, {0}, {0}},
                 {"tb(t - T)", 0.5, 1, {0}, {0}}};
    for (size_t n = 0; n < sizeof at / sizeof *at; n += (size_t)expect_rounds(2, 1)) {
        for (int fine = 0; fine < 2; fine++) { /* newmark with given steps, extrapolated */
            cst_test_run t;
            open_push(&t, "index3", "newmark", fine ? 5e-4 : 1e-3, at[n].law, at[n].speed);
            int which[3];
            for (int j = 0; j < 3; j++) which[j] = cst_model_number_find(t.m, number[j]);
            const cst_gradient *g = differentiate(&t, CST_ADJOINT, 3, which);
            for (int i = 0; i < 2; i++)
                at[n].value[i] = fine ? (4 * g->value[i] - at[n].value[i]) / 3 : g->value[i];
            for (int i = 0; i < 6; i++)
                at[n].slope[i] = fine ? (4 * g->slope[i] - at[n].slope[i]) / 3 : g->slope[i];
            run_close(&t);
        }
        expect_true(at[n].value[0] > 0.501);
        for_each_pair(0, push_by, &at[n]);
    }
}

/* A rule of given steps says that it has no use for a tolerance; auto takes one that has. */
static void test_others(void **state)
{
    (void)state;
    cst_test_run t;
    parse(&t, wheel);
    cst_run_free(open_by(&t, "index1", "rk4", 1e-6));
    expect_true(strstr(t.d.text, "integrator 'rk4' has steps of a given length") != NULL);
    cst_run *r = open_by(&t, "auto", "default", 1e-6);
    expect_text(r->w->rule->name, "rk45");
    cst_run_free(r);
    r = open_by(&t, "auto", "default", 0);
    expect_text(r->w->rule->name, "rk4");
    run_close(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_others),      cmocka_unit_test(test_spin),
        cmocka_unit_test(test_five_bar),    cmocka_unit_test(test_events),
        cmocka_unit_test(test_checkpoints), cmocka_unit_test(test_uneven),
        cmocka_unit_test(test_rest),        cmocka_unit_test(test_push)};
    return cmocka_run_group_tests_name("chosen_steps", tests, NULL, NULL);
}
