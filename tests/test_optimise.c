/* SPDX-License-Identifier: MIT
 *
 * Optimisers on problems with known solutions: every method of the table, bounds, constraints,
 * points without values, a search that is killed after any number of evaluations and resumed. */
#include "expect.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "costate.h"
#include "skips.h"

/* f = sum 100 (x_{i+1} - x_i^2)^2 + (1 - x_i)^2 in units of size: minimum 0 at x = size */
typedef struct test_problem {
    int calls, stop_after, hole; /* hole: there is no value for large |x_0|, x_1 */
    double size;
} test_problem;

static cst_status rosenbrock(void *ctx, const double *x, double *f, double *c, double *df,
                             double *dc, cst_diag *d)
{
    test_problem *t = ctx;
    double y[2] = {x[0] / t->size, x[1]};
    (void)c, (void)dc, (void)d;
    if (t->stop_after && t->calls >= t->stop_after) return CST_STOPPED;
    t->calls++;
    if (t->hole && (y[0] < -1.3 || y[0] > 1.3 || y[1] > 1.5)) return CST_NUMERIC;
    double a = y[1] - y[0] * y[0], b = 1 - y[0];
    *f = 100 * a * a + b * b;
    df[0] = (-400 * a * y[0] - 2 * b) / t->size;
    df[1] = 200 * a;
    return CST_OK;
}

/* min x0 + x1 on a disc of radius sqrt 2, x0 x1 = k or free: the solution is (-1, -1), multiplier
 * df/dlimit = -1/2 */
static cst_status disc(void *ctx, const double *x, double *f, double *c, double *df, double *dc,
                       cst_diag *d)
{
    (void)ctx, (void)d;
    *f = x[0] + x[1];
    df[0] = df[1] = 1;
    c[0] = x[0] * x[0] + x[1] * x[1];
    dc[0] = 2 * x[0], dc[1] = 2 * x[1];
    return CST_OK;
}

static cst_diag messages;

static cst_nlp rosenbrock_nlp(test_problem *t)
{
    static double start[2], lower[2], upper[2], scale[2];
    start[0] = -1.2 * t->size, start[1] = 1;
    lower[0] = -2 * t->size, lower[1] = -2;
    upper[0] = 2 * t->size, upper[1] = 2;
    scale[0] = t->size, scale[1] = 1;
    return (cst_nlp){.n = 2,
                     .start = start,
                     .lower = lower,
                     .upper = upper,
                     .scale = scale,
                     .eval = rosenbrock,
                     .ctx = t};
}

static cst_optimum run(const cst_nlp *p, cst_search_options o, double *x)
{
    static double c[4], multiplier[4];
    cst_optimum best = {.x = x, .c = c, .multiplier = multiplier};
    messages = (cst_diag){0};
    cst_status ok = cst_optimise(p, &o, &best, &messages);
    if (ok != CST_OK) print_error("%s", messages.text);
    expect_int(ok, CST_OK);
    return best;
}

static void every_method_finds_the_minimum(void **state)
{
    (void)state;
    for (int k = 0; k < cst_optimiser_count(); k++)
        for (int hole = skips(cst_optimiser_name(k)) ? 2 : 0; hole < 2; hole++)
            for (double size = 1; size < 1e7; size *= 1e6) {
                test_problem t = {.size = size, .hole = hole};
                cst_nlp p = rosenbrock_nlp(&t);
                cst_search_options o = cst_search_default();
                double x[2];
                o.method = cst_optimiser_name(k);
                o.evaluations = 5000;
                o.iterations = 5000;
                o.starts = 4;
                cst_optimum best = run(&p, o, x);
                int mma = strcmp(o.method, "mma") == 0; /* first order: slow in a curved valley */
                if (best.outcome != CST_CONVERGED && !mma)
                    print_error("%s: %s\n", o.method, best.reason);
                if (!mma) expect_int(best.outcome, CST_CONVERGED);
                expect_near(x[0] / size, 1, mma ? 1e-4 : 1e-6);
                expect_near(x[1], 1, mma ? 1e-4 : 1e-6);
                expect_int(t.calls, best.evaluations);
            }
}

static void bounds_are_met_exactly(void **state)
{
    (void)state;
    static const char *const method[] = {"lbfgsb", "slsqp", "mma", "auglag"};
    for (size_t k = 0; k < sizeof method / sizeof *method; k++) {
        test_problem t = {.size = 3};
        cst_nlp p = rosenbrock_nlp(&t);
        double upper[2] = {0.1 * 3, 2}, x[2]; /* 0.3 is no multiple of the scale */
        p.upper = upper;
        cst_search_options o = cst_search_default();
        o.method = method[k];
        run(&p, o, x);
        expect_true(x[0] == upper[0]);
        expect_near(x[1], 0.01, 1e-6);
    }
}

static void constraints_and_their_prices(void **state)
{
    (void)state;
    static const char *const method[] = {"slsqp", "mma", "auglag", "ipopt", "multistart"};
    for (size_t k = 0; k < sizeof method / sizeof *method; k++)
        for (int equal = 0; equal < 2; equal++) {
            double start[2] = {0.4, -0.2}, lower[2] = {-5, -5}, upper[2] = {5, 5},
                   scale[2] = {1, 1}, x[2];
            double lo[1] = {equal ? 2 : -INFINITY}, hi[1] = {2};
            cst_nlp p = {.n = 2,
                         .m = 1,
                         .start = start,
                         .lower = lower,
                         .upper = upper,
                         .scale = scale,
                         .c_lower = lo,
                         .c_upper = hi,
                         .eval = disc};
            cst_search_options o = cst_search_default();
            o.method = method[k];
            o.starts = 3;
            if (skips(method[k])) continue;
            if (equal && strcmp(method[k], "mma") == 0) continue;
            cst_optimum best = run(&p, o, x);
            if (best.outcome != CST_CONVERGED) print_error("%s: %s\n", o.method, best.reason);
            expect_int(best.outcome, CST_CONVERGED);
            expect_near(x[0], -1, 1e-6);
            expect_near(x[1], -1, 1e-6);
            expect_near(best.f, -2, 1e-7);
            expect_near(best.multiplier[0], -0.5, 1e-6);
            expect_true(best.violation <= o.feasible);
        }
}

/* Two wells, f = (x^2 - 1)^2 + b x: the search from x = 1 stays in the upper one. A continuation
 * from f = (x + 1)^2 ends in the lower one, at the root of 4 x (x^2 - 1) + b near -1. */
typedef struct wells {
    int stage, calls, stop_after;
    double begun[3]; /* x of the first evaluation of each stage */
} wells;

static void wells_stage(void *ctx, int k)
{
    wells *w = ctx;
    w->stage = k;
}

static cst_status wells_eval(void *ctx, const double *x, double *f, double *c, double *df,
                             double *dc, cst_diag *d)
{
    wells *w = ctx;
    const double u = x[0], b = 0.3, t = 0.5 * w->stage; /* from the easy problem to the real one */
    (void)c, (void)dc, (void)d;
    if (w->stop_after && w->calls >= w->stop_after) return CST_STOPPED;
    w->calls++;
    if (isnan(w->begun[w->stage])) w->begun[w->stage] = u;
    *f = (1 - t) * (u + 1) * (u + 1) + t * ((u * u - 1) * (u * u - 1) + b * u);
    df[0] = (1 - t) * 2 * (u + 1) + t * (4 * u * (u * u - 1) + b);
    return CST_OK;
}

static int stages_in_order(void *ctx, const cst_iterate *it)
{
    int *last = ctx, ok = it->stage >= *last;
    *last = it->stage;
    return !ok;
}

static void a_continuation_follows_the_optimum(void **state)
{
    (void)state;
    const double start[1] = {1}, lower[1] = {-5}, upper[1] = {5}, scale[1] = {1};
    double low = -1, high = 1;
    for (int i = 0; i < 60; i++) { /* Newton */
        low -= (4 * low * (low * low - 1) + 0.3) / (12 * low * low - 4);
        high -= (4 * high * (high * high - 1) + 0.3) / (12 * high * high - 4);
    }
    char path[64];
    snprintf(path, sizeof path, "/tmp/cst-stages-%d", (int)getpid());
    for (int k = 0; k < cst_optimiser_count(); k++) {
        if (skips(cst_optimiser_name(k))) continue;
        wells w = {.stage = 2, .begun = {NAN, NAN, NAN}};
        cst_nlp p = {.n = 1,
                     .start = start,
                     .lower = lower,
                     .upper = upper,
                     .scale = scale,
                     .eval = wells_eval,
                     .ctx = &w};
        cst_search_options o = cst_search_default();
        double x[1], again[1];
        int last = 0;
        o.method = cst_optimiser_name(k);
        o.starts = 1;
        run(&p, o, x);
        if (strcmp(o.method, "ipopt") != 0 && strcmp(o.method, "mma") != 0)
            expect_near(x[0], high, 1e-6);
        p.stages = 2, p.stage = wells_stage;
        for (int i = 0; i < 3; i++) w.begun[i] = NAN;
        o.target = 1e-3; /* of the problem itself: the first stage goes far below */
        o.observe = stages_in_order, o.ctx = &last;
        o.journal = path;
        cst_optimum best = run(&p, o, x);
        expect_int(best.outcome, CST_TARGET);
        expect_int(last, 2);
        expect_int(w.stage, 2);
        o.target = NAN;
        last = 0;
        best = run(&p, o, x);
        expect_int(best.outcome, CST_CONVERGED);
        expect_near(x[0], low, 1e-6);
        expect_near(best.f, (low * low - 1) * (low * low - 1) + 0.3 * low, 1e-10);
        expect_near(w.begun[1], -1, 1e-2); /* the optimum of the stage before, roughly */
        expect_true(w.begun[2] < -0.9);
        for (int n = 1; n < best.evaluations; n += 3) { /* killed in any stage */
            w.calls = 0, w.stop_after = n, last = 0, o.resume = 0;
            cst_optimum half = {.x = again};
            expect_int(cst_optimise(&p, &o, &half, &messages), CST_STOPPED);
            expect_int(half.outcome, CST_INTERRUPTED);
            expect_int(w.stage, 2);
            w.stop_after = 0, last = 0, o.resume = 1;
            run(&p, o, again);
            expect_true(again[0] == x[0]);
        }
        o.resume = 0;
    }
    remove(path);
}

/* Whatever answer is the last that was recorded, the resumed search ends in the same bits. */
static void resumed_searches_end_in_the_same_bits(void **state)
{
    (void)state;
    char path[64];
    snprintf(path, sizeof path, "/tmp/cst-journal-%d", (int)getpid());
    for (int k = 0; k < cst_optimiser_count(); k++) {
        if (skips(cst_optimiser_name(k))) continue;
        test_problem whole = {.size = 2, .hole = 1};
        cst_nlp p = rosenbrock_nlp(&whole);
        cst_search_options o = cst_search_default();
        double x[2], y[2];
        o.method = cst_optimiser_name(k);
        o.evaluations = 40;
        o.starts = 2;
        run(&p, o, x);
        for (int stop = 1; stop < whole.calls; stop += 7) {
            test_problem part = {.size = 2, .hole = 1, .stop_after = stop};
            p.ctx = &part;
            o.journal = path;
            o.resume = 0;
            cst_optimum best = {.x = y};
            cst_optimise(&p, &o, &best, &messages);
            expect_int(part.calls, stop);
            FILE *f = fopen(path, "ab"); /* half a record, as a kill may leave it */
            expect_int(fwrite("torn", 1, 4, f), 4);
            fclose(f);
            part.stop_after = 0;
            part.calls = 0;
            o.resume = 1;
            best = run(&p, o, y);
            expect_int(best.replayed, stop);
            expect_int(part.calls, whole.calls - stop);
            assert_memory_equal(x, y, sizeof x);
        }
        o.key = 1; /* another problem's journal is refused */
        cst_optimum best = {.x = y};
        messages = (cst_diag){0};
        expect_true(cst_optimise(&p, &o, &best, &messages) != CST_OK);
        expect_contains(messages.text, "recorded for another model");
        o.key = 0;
        o.journal = NULL;
    }
    remove(path);
}

static void wrong_requests_are_named(void **state)
{
    (void)state;
    test_problem t = {.size = 1};
    cst_nlp p = rosenbrock_nlp(&t);
    cst_search_options o = cst_search_default();
    double x[2];
    cst_optimum best = {.x = x};
    o.method = "lbfgs";
    messages = (cst_diag){0};
    expect_int(cst_optimise(&p, &o, &best, &messages), CST_USAGE);
    expect_contains(messages.text, "did you mean 'lbfgsb'");
    double limit[1] = {1};
    p.m = 1, p.c_lower = limit, p.c_upper = limit;
    o.method = "lbfgsb";
    expect_int(cst_optimise(&p, &o, &best, &messages), CST_USAGE);
    expect_contains(messages.text, "takes no constraints");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_method_finds_the_minimum),
        cmocka_unit_test(bounds_are_met_exactly),
        cmocka_unit_test(constraints_and_their_prices),
        cmocka_unit_test(a_continuation_follows_the_optimum),
        cmocka_unit_test(resumed_searches_end_in_the_same_bits),
        cmocka_unit_test(wrong_requests_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
