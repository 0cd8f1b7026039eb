/* SPDX-License-Identifier: MIT
 *
 * adjoint = direct for every formulation with every rule: slow_pairs [COUNT [FIRST SEED]], 1000
 * mechanisms of all kinds by default. Prints the worst of each pair. */
#include "pair_table.h"

static long count = 1000, first = 1000;

static void adjoint_is_direct(void **state)
{
    (void)state;
    pair_line line[PAIRS];
    int lines = pair_lines(line);
    for (long k = 0; k < count; k++)
        pair_model((uint64_t)(first + k), (random_kind)((first + k) % RANDOM_KINDS),
                   12 + 4 * (int)(k % 3), line, lines);
    pair_print(line, lines);
    for (int k = 0; k < lines; k++) {
        expect_true(line[k].worst <= PAIR_LIMIT);
        expect_true(line[k].models * 10 >= count * 9 &&
                    line[k].worn * 25 <= line[k].objectives + 25);
    }
}

int main(int argc, char **argv)
{
    if (argc > 1) count = strtol(argv[1], NULL, 10);
    if (argc > 2) first = strtol(argv[2], NULL, 10);
    const struct CMUnitTest tests[] = {cmocka_unit_test(adjoint_is_direct)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
