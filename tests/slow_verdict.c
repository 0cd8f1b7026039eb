/* SPDX-License-Identifier: MIT
 *
 * Verdicts: every problem of optimum_table.h by every optimiser, in three scalings, from near and
 * far, and 200 random convex quadratic programs. "converged" is said of optima only; see
 * optimum_runs.h for the laws. slow_verdict [NAME]    one problem only */
#include "convex_programs.h"

static const char *only;

static void converged_means_optimal(void **state)
{
    (void)state;
    tally sum[METHODS] = {0};
    for (int k = 0; k < PROBLEMS; k++)
        if (!only || strcmp(only, optimum_table[k].name) == 0) run_known(&optimum_table[k], sum, 1);
    const tally all = print_tallies("problems with known optima", sum);
    expect_int(all.of[FALSE_WORD], 0);
}

static void convex_programs_are_solved(void **state)
{
    (void)state;
    tally sum[METHODS] = {0};
    if (only) return;
    run_programs(200, sum, 1);
    const tally all = print_tallies("convex quadratic programs", sum);
    expect_int(all.of[FALSE_WORD], 0);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(converged_means_optimal),
                                       cmocka_unit_test(convex_programs_are_solved)};
    if (argc > 1) only = argv[1];
    return cmocka_run_group_tests(tests, NULL, NULL);
}
