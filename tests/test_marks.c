/* SPDX-License-Identifier: MIT
 *
 * Smooth mechanisms and equilibria on kinks are not marked: a few of what slow_marks runs. */
#include "marks.h"

static void smooth(void **state)
{
    (void)state;
    int n = 0;
    for (int k = 0; k < RANDOM_KINDS; k++)
        for (uint64_t seed = 1; seed < 4; seed++) n += marks_of_random(seed, (random_kind)k);
    expect_true(n > 1000);
}

static void at_rest(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed < 9; seed++) expect_true(marks_at_rest(seed) > 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(smooth), cmocka_unit_test(at_rest)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
