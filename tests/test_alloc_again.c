/* SPDX-License-Identifier: MIT
 *
 * Every allocation of a gradient may fail, and the same run then gives the same gradient when it is
 * requested again: with events and threads, with laws that rest or start on a switch, by CVODES,
 * and for measures at instants. */
#include "alloc_wrap.h"
#include "expect.h"

#include <costate.h>
#include <math.h>
#include <string.h>

#define OSCILLATOR(law, psi)                                                                       \
    "costate: 1\nparameters: {m: 1, x0: 0.1, v0: 0.3, b: 0.02}\n"                                  \
    "bodies: {x: {type: scalar, inertia: m, value: x0, rate: v0}}\nmeasures: {X: {type: "          \
    "coordinate, of: x}}\n"                                                                        \
    "forces: {f: {type: motor, of: x, torque: \"" law "\"}}\nobjectives: {e: " psi                 \
    "}\nsimulation: {end: 0.5, step: 10 ms}\n"

enum { MOST = 64 };

/* The slopes by all numbers, or the Jacobian of two samples; 0: it failed */
static int ask(cst_run *r, const cst_model *m, int method, double *to, cst_diag *d)
{
    int n = cst_model_number_count(m), all[MOST];
    for (int i = 0; i < n; i++) all[i] = i;
    *d = (cst_diag){0};
    if (method < 0) {
        static const cst_sample at[2] = {{0, 0.1}, {0, 0.4}};
        double y[2];
        return cst_run_samples(r, NULL, 2, at, n, all, y, to, d) == CST_OK;
    }
    const cst_gradient *g = cst_run_gradient(r, NULL, (cst_method)method, n, all, d);
    if (g) memcpy(to, g->slope, sizeof *to * (size_t)n);
    return g != NULL;
}

/* Another method with the same run; CVODES has no adjoint of its steps */
static int other_works(cst_run *r, const cst_model *m, const char *integrator, cst_diag *d)
{
    double other[2 * MOST];
    return integrator || ask(r, m, CST_ADJOINT, other, d);
}

static void each_may_fail(const char *text, const char *formulation, const char *integrator,
                          int threads, int method)
{
    static cst_diag d;
    cst_options o = cst_options_default();
    d = (cst_diag){0};
    o.formulation = formulation, o.integrator = integrator, o.threads = threads;
    cst_model *m = cst_model_parse("m.yaml", text, strlen(text), 0, NULL, &d);
    if (!m) fail_msg("%s", d.text);
    double first[2 * MOST] = {0}, again[2 * MOST] = {0};
    cst_run *r = cst_run_new(m, &o, &d);
    alloc_fail_at(0);
    if (!r || !ask(r, m, method, first, &d)) fail_msg("%s", d.text);
    long total = alloc_count();
    cst_run_free(r);
    for (long k = 1; k <= total; k++) {
        alloc_fail_at(0);
        r = cst_run_new(m, &o, &d);
        if (!r) fail_msg("%s", d.text);
        alloc_fail_at(k);
        int done = ask(r, m, method, again, &d);
        if (!done && !strstr(d.text, "out of memory"))
            fail_msg("request %ld of %ld: %s", k, total, d.text);
        alloc_fail_at(0);
        if (!other_works(r, m, integrator, &d))
            fail_msg("request %ld of %ld, another gradient: %s", k, total, d.text);
        if (!ask(r, m, method, again, &d))
            fail_msg("request %ld of %ld, asked again: %s", k, total, d.text);
        if (memcmp(first, again, sizeof first) != 0)
            fail_msg("request %ld of %ld: another gradient", k, total);
        cst_run_free(r);
    }
    cst_model_free(m);
}

static void events_with_threads(void **state)
{
    (void)state;
    each_may_fail(OSCILLATOR("-50*X - if(X > b, 9, 1)", "integral(X^2)"), NULL, NULL, 4,
                  CST_ADJOINT);
}

static void switches_at_the_start(void **state)
{
    (void)state;
    each_may_fail(OSCILLATOR("-50*X - if(X > x0, 9, 1)", "integral(abs(X - x0))"), NULL, NULL, 1,
                  CST_ADJOINT);
}

static void differences(void **state)
{
    (void)state;
    each_may_fail(OSCILLATOR("-50*X", "end(X)"), NULL, NULL, 1, CST_DIFFERENCE);
}

static void samples(void **state)
{
    (void)state;
    each_may_fail(OSCILLATOR("-50*X", "end(X)"), NULL, NULL, 1, -1);
}

static void cvodes(void **state)
{
    (void)state;
    each_may_fail(OSCILLATOR("-50*X", "end(X)"), "index1", "bdf", 1, CST_CONTINUOUS_DIRECT);
    each_may_fail(OSCILLATOR("-50*X", "end(X)"), "index1", "bdf", 1, CST_CONTINUOUS_ADJOINT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events_with_threads),
        cmocka_unit_test(switches_at_the_start),
        cmocka_unit_test(differences),
        cmocka_unit_test(samples),
        cmocka_unit_test(cvodes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
