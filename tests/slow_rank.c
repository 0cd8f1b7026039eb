/* SPDX-License-Identifier: MIT
 *
 * Dependent rows of many random mechanisms and sparse matrices: slow_rank [COUNT [FIRST SEED]],
 * 2000 by default. */
#include <stdlib.h>

#include "rank_laws.h"

static long count = 2000, first = 1000;

static void laws(void **state)
{
    (void)state;
    rank_tally t = {0};
    for (long seed = first; seed < first + count; seed++) rank_laws_of_seed((uint64_t)seed, 25, &t);
    print_message("%ld matrices, %ld with a clear rank, %ld dependent rows\n", t.matrices, t.clear,
                  t.dependent);
    expect_true(t.clear * 20 >= t.matrices * 19);
}

int main(int argc, char **argv)
{
    if (argc > 1) count = strtol(argv[1], NULL, 10);
    if (argc > 2) first = strtol(argv[2], NULL, 10);
    const struct CMUnitTest tests[] = {cmocka_unit_test(laws)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
