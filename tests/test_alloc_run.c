/* SPDX-License-Identifier: MIT
 *
 * Memory of runs and gradients: nothing is allocated per time step, and every allocation may fail
 * (in `make test` one in eleven): the result is then a status and a message, nothing leaks, and the
 * same request can be repeated afterwards. */
#include "alloc_wrap.h"
#include "random_model.h"

/* ---- nothing per step ---- */

static int look(void *ctx, double t, const double *measure, int n)
{
    (void)t, (void)measure, (void)n;
    ++*(long *)ctx;
    return 0;
}

static void no_allocation_per_step(void **state)
{
    (void)state;
    static random_model g;
    static cst_diag d;
    for (uint64_t seed = 1; seed <= 3 * RANDOM_KINDS; seed++) {
        random_options o = {.kind = (random_kind)(seed % RANDOM_KINDS),
                            .objectives = 2,
                            .step = 0.005,
                            .steps = 20};
        random_model_write(&g, seed, &o);
        cst_model *m = cst_model_parse("random.yaml", g.text, strlen(g.text), 0, NULL, &d);
        expect_not_null(m);
        long count[2], seen[2] = {0};
        for (int k = 0; k < 2; k++) {
            cst_options options = cst_options_default();
            options.end = (k + 1) * o.steps * o.step;
            cst_run *run = cst_run_new(m, &options, &d);
            if (run == NULL) fail_msg("seed %d: %s", (int)seed, d.text);
            alloc_fail_at(0);
            if (cst_run_simulate(run, NULL, look, &seen[k], &d) != CST_OK)
                fail_msg("seed %d: %s\n%s", (int)seed, d.text, g.text);
            count[k] = alloc_count();
            cst_run_free(run);
        }
        expect_int(count[0], count[1]);
        expect_true(seen[1] >= 2 * seen[0] - 1);
        cst_model_free(m);
    }
}

/* A second simulation with the same run asks for nothing at all. */
static void a_run_is_used_again(void **state)
{
    (void)state;
    static random_model g;
    static cst_diag d;
    random_options o = {.kind = RANDOM_PLANAR, .objectives = 2, .step = 0.01, .steps = 10};
    random_model_write(&g, 4, &o);
    cst_model *m = cst_model_parse("random.yaml", g.text, strlen(g.text), 0, NULL, &d);
    expect_not_null(m);
    cst_run *run = cst_run_new(m, NULL, &d);
    expect_int(cst_run_simulate(run, NULL, NULL, NULL, &d), CST_OK);
    alloc_fail_at(0);
    expect_int(cst_run_simulate(run, NULL, NULL, NULL, &d), CST_OK);
    expect_int(alloc_count(), 0);
    cst_run_free(run);
    cst_model_free(m);
}

/* ---- every request may fail ---- */

/* 1: all was done; 0: something failed, and said so */
static int whole_life(const char *text, cst_diag *d, double *slope, int *n)
{
    int all = 1, objectives = 0;
    cst_model *m = cst_model_parse("m.yaml", text, strlen(text), 0, NULL, d);
    if (m == NULL) return 0;
    objectives = cst_model_objective_count(m);
    cst_run *run = cst_run_new(m, NULL, d);
    if (run != NULL) {
        cst_status ok = cst_run_simulate(run, NULL, NULL, NULL, d);
        expect_true(ok == CST_OK || ok == CST_MEMORY);
        all &= ok == CST_OK;
        for (cst_method method = CST_ADJOINT; method <= CST_DIFFERENCE; method++) {
            static const int which[2] = {0, 3}; /* differences take longer */
            const cst_gradient *g =
                cst_run_gradient(run, NULL, method, 2, method == CST_DIFFERENCE ? which : NULL, d);
            all &= g != NULL;
            if (g && method == CST_ADJOINT)
                memcpy(slope, g->slope, sizeof *slope * (size_t)(*n = objectives * g->numbers));
        }
        cst_run_free(run);
    }
    cst_model_free(m);
    return all && run != NULL;
}

static void every_request_may_fail(random_kind kind, uint64_t seed)
{
    static random_model g;
    static cst_diag d;
    static double first[4096], slope[4096];
    int n = 0, failures = 0;
    random_options o = {.kind = kind, .objectives = 2, .step = 0.01, .steps = 3};
    random_model_write(&g, seed, &o);
    alloc_fail_at(0);
    d = (cst_diag){0};
    if (!whole_life(g.text, &d, first, &n)) fail_msg("%s\n%s", d.text, g.text);
    long total = alloc_count(), stride = expect_rounds(11, 1);
    for (long k = 1; k <= total; k += stride) {
        d = (cst_diag){0};
        alloc_fail_at(k);
        int done = whole_life(g.text, &d, slope, &n);
        alloc_fail_at(0);
        failures += !done;
        if (done || strstr(d.text, "out of memory")) continue;
        fail_msg("request %ld of %ld failed without a message: %s", k, total, d.text);
    }
    expect_true(failures > 10 && failures * stride * 2 > total);
    expect_true(whole_life(g.text, &d, slope, &n));
    expect_true(memcmp(first, slope, sizeof *first * (size_t)n) == 0);
}

static void requests_of_loops_may_fail(void **state)
{
    (void)state;
    every_request_may_fail(RANDOM_PLANAR, 3);
}

static void requests_of_trees_may_fail(void **state)
{
    (void)state;
    every_request_may_fail(RANDOM_DRIVEN, 2);
    every_request_may_fail(RANDOM_GEARED, 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_allocation_per_step),
        cmocka_unit_test(a_run_is_used_again),
        cmocka_unit_test(requests_of_loops_may_fail),
        cmocka_unit_test(requests_of_trees_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
