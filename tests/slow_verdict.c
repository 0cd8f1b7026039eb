/* SPDX-License-Identifier: MIT
 *
 * Verdicts: every problem of optimum_table.h by every optimiser, in three scalings, from near and
 * far. "converged" is said of optima only; see optimum_runs.h for the laws.
 *     slow_verdict [NAME]    one problem only */
#include "optimum_runs.h"

static const char *only;

static void converged_means_optimal(void **state)
{
    (void)state;
    tally sum[10] = {0}, all = {0};
    for (int k = 0; k < PROBLEMS; k++)
        if (!only || strcmp(only, optimum_table[k].name) == 0) run_known(&optimum_table[k], sum, 1);
    for (int i = 0; i < cst_optimiser_count(); i++) {
        print_tally(cst_optimiser_name(i), &sum[i]);
        for (int k = 0; k < ANSWER_COUNT; k++) all.of[k] += sum[i].of[k];
        all.all += sum[i].all;
    }
    print_tally("all", &all);
    expect_int(all.of[FALSE_WORD], 0);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(converged_means_optimal)};
    if (argc > 1) only = argv[1];
    return cmocka_run_group_tests(tests, NULL, NULL);
}
