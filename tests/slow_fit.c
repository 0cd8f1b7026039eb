/* SPDX-License-Identifier: MIT
 *
 * Identification from 100 random sets of measurements by every method: see fit_runs.h. */
#include "fit_runs.h"

static void methods_agree(void **state)
{
    (void)state;
    const fit_tally t = run_sets(100, 1);
    expect_fits(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(methods_agree)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
