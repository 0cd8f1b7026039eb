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

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_table_is_right),
                                       cmocka_unit_test(converged_means_optimal),
                                       cmocka_unit_test(convex_programs_are_solved)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
