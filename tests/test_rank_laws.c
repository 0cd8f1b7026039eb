/* SPDX-License-Identifier: MIT
 *
 * Dependent rows of random mechanisms and random sparse matrices. */
#include "rank_laws.h"

static void laws(void **state)
{
    (void)state;
    rank_tally t = {0};
    for (uint64_t seed = 1; seed <= 120; seed++) rank_laws_of_seed(seed, 8, &t);
    expect_true(t.clear * 20 >= t.matrices * 19);
    expect_true(t.dependent > t.matrices);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(laws)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
