/* SPDX-License-Identifier: MIT
 *
 * Verdicts: "converged" is said of optima only. The table itself is checked first; ten of its
 * problems and ten random convex programs run here by every method, all of them in slow_verdict.c.
 */
#include "convex_programs.h"

/* The best points satisfy the conditions of Karush, Kuhn and Tucker, and have the values of the
 * table. */
static void the_table_is_right(void **state)
{
    (void)state;
    int wrong = 0;
    for (int i = 0; i < PROBLEMS; i++) {
        const known *k = &optimum_table[i];
        if (isnan(k->best) || isinf(k->best)) continue;
        cst_problem *p = load_known(k, &scalings[0]);
        search a;
        set_search(&a, k, &scalings[0], cst_problem_nlp(p), 0);
        const truth t = truth_at(&a, k->at);
        const int right = t.violation <= 1e-8 && same_value(t.f, k->best) &&
                          (t.stationarity <= 1e-6 || k->traits & NO_MULTIPLIERS);
        if (!right)
            print_error("%s: f = %.15g, not %.15g; violated by %g, stationary to %g\n", k->name,
                        t.f, k->best, t.violation, t.stationarity);
        wrong += !right;
        cst_problem_free(p);
    }
    expect_int(wrong, 0);
}

static void converged_means_optimal(void **state)
{
    (void)state;
    static const char *const name[] = {"hs1",          "hyperbola",
                                       "hs37",         "hs14",
                                       "hs23",         "hs43",
                                       "hs21",         "falls",
                                       "limits apart", "same limit twice"};
    tally sum[METHODS] = {0};
    for (size_t i = 0; i < sizeof name / sizeof *name; i++)
        for (int k = 0; k < PROBLEMS; k++)
            if (strcmp(optimum_table[k].name, name[i]) == 0) run_known(&optimum_table[k], sum, 0);
    const tally all = print_tallies("ten problems", sum);
    expect_int(all.of[FALSE_WORD], 0);
    expect_true(all.of[FOUND] > all.all * 4 / 5);
}

static void convex_programs_are_solved(void **state)
{
    (void)state;
    tally sum[METHODS] = {0};
    run_programs(10, sum, 0);
    const tally all = print_tallies("ten convex quadratic programs", sum);
    expect_int(all.of[FALSE_WORD], 0);
    expect_true(all.of[FOUND] > all.all * 4 / 5);
}

/* f = z_1^4 - z_1^2 + sum i z_i^2 with z = x - 2 w (w . x), |w| = 1: at x = 0 a saddle point with
 * one direction down among N, and two minima -1/4 */
enum { N = 6, TURNS = 20 };

static cst_status saddle(void *ctx, const double *x, double *f, double *c, double *df, double *dc,
                         cst_diag *d)
{
    const double *w = ctx;
    double z[N], dz[N], along = 0;
    (void)c, (void)dc, (void)d;
    for (int i = 0; i < N; i++) along += w[i] * x[i];
    for (int i = 0; i < N; i++) z[i] = x[i] - 2 * w[i] * along;
    *f = z[0] * z[0] * z[0] * z[0] - z[0] * z[0];
    dz[0] = 4 * z[0] * z[0] * z[0] - 2 * z[0];
    for (int i = 1; i < N; i++) {
        *f += i * z[i] * z[i];
        dz[i] = 2 * i * z[i];
    }
    along = 0;
    for (int i = 0; i < N; i++) along += w[i] * dz[i];
    for (int i = 0; i < N; i++) df[i] = dz[i] - 2 * w[i] * along;
    return CST_OK;
}

static void saddle_points_are_left(void **state)
{
    (void)state;
    double start[N] = {0}, lower[N], upper[N], scale[N], x[N], w[N];
    int found = 0;
    for (int k = 0; k < TURNS; k++) {
        double size = 0;
        for (int i = 0; i < N; i++) {
            lower[i] = -INFINITY, upper[i] = INFINITY, scale[i] = 1;
            w[i] = sin(1 + 7 * i + 3 * k);
            size += w[i] * w[i];
        }
        for (int i = 0; i < N; i++) w[i] /= sqrt(size);
        const cst_nlp p = {.n = N,
                           .start = start,
                           .lower = lower,
                           .upper = upper,
                           .scale = scale,
                           .eval = saddle,
                           .ctx = w};
        cst_optimum best = {.x = x};
        cst_diag d = {0};
        expect_int(cst_optimise(&p, NULL, &best, &d), CST_OK);
        found += best.outcome == CST_CONVERGED && fabs(best.f + 0.25) < 1e-9;
    }
    print_message("%d of %d saddle points are left\n", found, TURNS);
    expect_int(found, TURNS);
}

/* the same where the first direction that is tried has no curvature: f = x_1^4 + x_1^2 - a^2 x_2^2
 * + a^4 x_2^4, a the ratio of its components */
static cst_status balanced(void *ctx, const double *x, double *f, double *c, double *df, double *dc,
                           cst_diag *d)
{
    const double a = 0.5 / (0.5 + 0.618033988749895), y = a * x[1];
    (void)ctx, (void)c, (void)dc, (void)d;
    *f = x[0] * x[0] * x[0] * x[0] + x[0] * x[0] - y * y + y * y * y * y;
    df[0] = 4 * x[0] * x[0] * x[0] + 2 * x[0];
    df[1] = a * (4 * y * y * y - 2 * y);
    return CST_OK;
}

static void flat_directions_are_no_excuse(void **state)
{
    (void)state;
    double start[2] = {0}, lower[2] = {-INFINITY, -INFINITY}, upper[2] = {INFINITY, INFINITY},
           scale[2] = {1, 1}, x[2];
    const cst_nlp p = {
        .n = 2, .start = start, .lower = lower, .upper = upper, .scale = scale, .eval = balanced};
    cst_optimum best = {.x = x};
    cst_diag d = {0};
    expect_int(cst_optimise(&p, NULL, &best, &d), CST_OK);
    expect_int(best.outcome, CST_CONVERGED);
    expect_near(best.f, -0.25, 1e-9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_table_is_right),
                                       cmocka_unit_test(converged_means_optimal),
                                       cmocka_unit_test(convex_programs_are_solved),
                                       cmocka_unit_test(saddle_points_are_left),
                                       cmocka_unit_test(flat_directions_are_no_excuse)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
