/* SPDX-License-Identifier: MIT
 *
 * Measures at instants: their values are those of the run between its steps, and their Jacobian is
 * the same by the direct method, by the adjoint (bar^T J for a random bar) and by extrapolated
 * differences, on random mechanisms and around events. */
#include "random_check.h"
#include "sensitivity/ambiguous.h"
#include "sensitivity/closure.h"
#include "sensitivity/samples.h"

enum { SAMPLES = 40 };

typedef struct grid {
    int c;
    double before[2], at, value;
    int met;
} grid; /* one component at one instant, from the observer's rows */

static int observe(void *ctx, double t, const double *x, int n)
{
    grid *g = ctx;
    (void)n;
    if (!g->met && t >= g->at) {
        double w = t > g->before[0] ? (g->at - g->before[0]) / (t - g->before[0]) : 1;
        g->value = t > g->at ? (1 - w) * g->before[1] + w * x[g->c] : x[g->c];
        g->met = 1;
    }
    g->before[0] = t, g->before[1] = x[g->c];
    return 0;
}

static void values_are_the_runs(random_case *c, int n, const cst_sample *at, const double *y)
{
    for (int k = 0; k < 3; k++) {
        int i = random_of(&c->g, n);
        grid g = {.c = at[i].measure, .at = at[i].time};
        expect_int(cst_run_simulate(c->run, NULL, observe, &g, &c->d), CST_OK);
        expect_near(y[i], g.value, 1e-13);
    }
}

/* d/dp of all samples by central differences, extrapolated once; *error: how far the extrapolation
 * moved */
static void difference(random_case *c, int leaf, int n, const cst_sample *at, double *slope,
                       double *error)
{
    static double y[4][SAMPLES];
    double p = c->p[leaf], h = 1e-4 * random_weight(c, leaf);
    for (int k = 0; k < 4; k++) {
        c->p[leaf] = p + (k % 2 ? -1 : 1) * (k < 2 ? h : h / 2);
        cst_status ok = cst_run_samples(c->run, c->p, n, at, 0, NULL, y[k], NULL, &c->d);
        if (ok != CST_OK) random_fail(c, "a changed number fails");
    }
    c->p[leaf] = p;
    for (int i = 0; i < n; i++) {
        double a = (y[0][i] - y[1][i]) / (2 * h), b = (y[2][i] - y[3][i]) / h;
        slope[i] = b + (b - a) / 3, error[i] = fabs(b - a);
    }
}

static int by_time(const void *a, const void *b)
{
    double x = ((const cst_sample *)a)->time, y = ((const cst_sample *)b)->time;
    return (x > y) - (x < y);
}

/* Components that are unique, at random instants, with the start and the end among them */
static int choose(random_case *c, cst_sample *at, int steps)
{
    int nc = cst_model_measure_count(c->m), n = 0;
    unsigned char *asked = calloc(2 * (size_t)nc + 1, 1);
    memset(asked, 1, (size_t)nc);
    expect_int(cst_run_forward(c->run, NULL, 1, NULL, NULL, &c->d), CST_OK);
    expect_int(cst_find_ambiguous_measures(c->run, asked, &c->d), CST_OK);
    for (int i = 0; i < 200 && n < SAMPLES; i++) {
        int k = random_of(&c->g, nc);
        double t = n == 0   ? 0
                   : n == 1 ? 0.01 * steps
                   : n == 2 ? 0.02
                            : expect_uniform(&c->g.r, 0, 0.01 * steps);
        if (!asked[k]) at[n++] = (cst_sample){k, t};
    }
    free(asked);
    qsort(at, (size_t)n, sizeof *at, by_time);
    return n;
}

static void jacobian_is_right(uint64_t seed, random_kind kind, long *checked)
{
    static random_case c;
    enum { STEPS = 12 };
    random_options o = {.kind = kind, .objectives = 1, .step = 0.01, .steps = STEPS};
    cst_sample at[SAMPLES];
    random_case_begin(&c, seed, &o);
    int n = choose(&c, at, STEPS), nfree = 0;
    if (n < 5) {
        random_case_end(&c);
        return;
    }
    unsigned char *breaks = calloc((size_t)c.n + 1, 1);
    int *which = calloc((size_t)c.n + 1, sizeof *which);
    expect_int(cst_find_breaking(c.run, breaks, &c.d), CST_OK);
    for (int i = 0; i < c.n; i++)
        if (!breaks[i]) which[nfree++] = i;
    double *J = calloc((size_t)n * (size_t)nfree + 1, sizeof *J),
           *gradient = calloc((size_t)c.n + 1, sizeof *gradient);
    double y[SAMPLES], bar[SAMPLES], slope[SAMPLES], error[SAMPLES];
    if (cst_run_samples(c.run, NULL, n, at, nfree, which, y, J, &c.d) != CST_OK)
        random_fail(&c, "no Jacobian");
    values_are_the_runs(&c, n, at, y);

    cst_arena a = {0};
    cst_samples *s = cst_samples_new(&a, c.m, n, at);
    for (int i = 0; i < n; i++) bar[i] = expect_uniform(&c.g.r, -1, 1) / (1 + fabs(y[i]));
    expect_int(cst_samples_simulate(c.run, NULL, s, 1, &c.d), CST_OK);
    expect_int(cst_samples_adjoint(c.run, s, bar, gradient, &c.d), CST_OK);
    double most = 0;
    for (int k = 0; k < nfree; k++)
        most = fmax(most, fabs(gradient[which[k]]) * random_weight(&c, which[k]));
    for (int k = 0; k < nfree; k++) {
        double sum = 0, w = random_weight(&c, which[k]);
        for (int i = 0; i < n; i++) sum += bar[i] * J[(size_t)i * (size_t)nfree + (size_t)k];
        if (fabs(sum - gradient[which[k]]) * w > 1e-10 * (fabs(sum) * w + 1e-2 * most + 1e-2)) {
            print_error("%s: direct %.17g, adjoint %.17g\n", cst_model_number_name(c.m, which[k]),
                        sum, gradient[which[k]]);
            random_fail(&c, "bar^T J is not the adjoint's gradient");
        }
    }
    for (int tries = 0; tries < 2; tries++) {
        int k = random_of(&c.g, nfree);
        difference(&c, which[k], n, at, slope, error);
        for (int i = 0; i < n; i++) {
            double J1 = J[(size_t)i * (size_t)nfree + (size_t)k], w = random_weight(&c, which[k]);
            if (error[i] * w > 1e-5 * (fabs(y[i]) + 1)) continue;
            if (fabs(y[i]) < 1e-9) continue; /* norm(0): a kink */
            (*checked)++;
            if (fabs(J1 - slope[i]) * w > 1e-6 * (fabs(y[i]) + fabs(J1) * w + 1)) {
                print_error("d%s/d%s: %.17g, differences %.17g\n",
                            cst_model_measure_name(c.m, at[i].measure),
                            cst_model_number_name(c.m, which[k]), J1, slope[i]);
                random_fail(&c, "the Jacobian is not that of differences");
            }
        }
    }
    cst_arena_free(&a);
    free(breaks), free(which), free(J), free(gradient);
    random_case_end(&c);
}

static void random_mechanisms(void **state)
{
    (void)state;
    long checked = 0;
    for (int kind = 0; kind < RANDOM_KINDS; kind++)
        for (uint64_t seed = 1; seed <= 3; seed++)
            jacobian_is_right(seed, (random_kind)kind, &checked);
    print_message("%ld slopes by differences\n", checked);
    expect_true(checked > 300);
}

/* The force jumps where p.x passes xs, at t = 0.2537..: states of the grid around it are at 0.24
 * and 0.27. Between the steps values are linear, so that differences of just these values are the
 * judge. */
static void around_an_event(void **state)
{
    (void)state;
    static const char text[] =
        "costate: 1\ngravity: [0, 0, 0]\nparameters: {v0: 1.3, xs: 0.37, F1: 2, F2: -1.5, m: 0.8}\n"
        "points: {O: [0, 0, 0]}\nbodies: {a: {type: point, position: O, mass: m, velocity: [v0, 0, "
        "0]}}\n"
        "measures: {p: {type: position, of: a.origin}, v: {type: velocity, of: a.origin}}\n"
        "forces: {f: {type: force, on: a.origin, force: [\"if(p.x < xs, F1, F2)\", 0, 0]}}\n"
        "objectives: {x1: \"at(p.x, 0.25)\", x2: \"at(v.x, 0.261)\", x3: \"at(v.x, 0.5)\"}\n"
        "simulation: {end: 1, step: 0.03}\n";
    static const char *const name[] = {"v0", "xs", "F1", "F2", "m"};
    static const double time[] = {0.25, 0.261, 0.5};
    cst_diag d = {0};
    cst_model *m = cst_model_parse("model.yaml", text, sizeof text - 1, 0, NULL, &d);
    cst_run *r = m ? cst_run_new(m, NULL, &d) : NULL;
    expect_text(d.text, "");
    int which[5], n = cst_model_number_count(m);
    double p[40], J[3 * 5], y[4][3];
    cst_sample at[3];
    for (int i = 0; i < n; i++) p[i] = cst_model_number_value(m, i);
    for (int i = 0; i < 5; i++) which[i] = cst_model_number_find(m, name[i]);
    for (int i = 0; i < 3; i++)
        for (int c = 0; c < cst_model_measure_count(m); c++)
            if (strcmp(cst_model_measure_name(m, c), i ? "v.x" : "p.x") == 0)
                at[i] = (cst_sample){c, time[i]};
    expect_int(cst_run_samples(r, NULL, 3, at, 5, which, y[0], J, &d), CST_OK);
    for (int k = 0; k < 5; k++) {
        double h = 1e-4 * p[which[k]], keep = p[which[k]];
        for (int j = 0; j < 4; j++) {
            p[which[k]] = keep + (j % 2 ? -1 : 1) * (j < 2 ? h : h / 2);
            expect_int(cst_run_samples(r, p, 3, at, 0, NULL, y[j], NULL, &d), CST_OK);
        }
        p[which[k]] = keep;
        for (int i = 0; i < 3; i++) {
            double a = (y[0][i] - y[1][i]) / (2 * h), b = (y[2][i] - y[3][i]) / h;
            expect_near(J[5 * i + k], b + (b - a) / 3, 1e-9);
        }
    }
    for (int method = 0; method < 2; method++) { /* at() is the same */
        const cst_gradient *g =
            cst_run_gradient(r, NULL, method ? CST_DIRECT : CST_ADJOINT, 5, which, &d);
        for (int i = 0; i < 15; i++) expect_near(g->slope[i], J[i], 1e-12);
    }
    cst_run_free(r);
    cst_model_free(m);
}

static void wrong_requests(void **state)
{
    (void)state;
    static const char text[] =
        "costate: 1\npoints: {O: [0, 0, 0]}\nbodies: {a: {type: point, position: O, mass: 1}}\n"
        "measures: {p: {type: position, of: a.origin}}\nsimulation: {end: 1, step: 0.1}\n";
    cst_diag d = {0};
    cst_model *m = cst_model_parse("model.yaml", text, sizeof text - 1, 0, NULL, &d);
    cst_run *r = cst_run_new(m, NULL, &d);
    double y[2];
    const cst_sample late[] = {{0, 0.5}, {0, 1.01}}, back[] = {{0, 0.5}, {0, 0.4}};
    expect_int(cst_run_samples(r, NULL, 2, late, 0, NULL, y, NULL, &d), CST_USAGE);
    expect_int(cst_run_samples(r, NULL, 2, back, 0, NULL, y, NULL, &d), CST_USAGE);
    expect_contains(d.text, "samples must be in order of time and within the run, 0 to 1 s");
    expect_int(cst_run_samples(r, NULL, 1, late, 0, NULL, y, NULL, &d), CST_OK);
    cst_run_free(r);
    cst_model_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_mechanisms),
        cmocka_unit_test(around_an_event),
        cmocka_unit_test(wrong_requests),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
