/* SPDX-License-Identifier: MIT
 *
 * adjoint = direct for every formulation with every rule, on a mechanism of each kind
 * (pair_table.h). */
#include "pair_table.h"

static void adjoint_is_direct(void **state)
{
    (void)state;
    pair_line line[PAIRS];
    int lines = pair_lines(line);
    for (uint64_t seed = 1; seed <= RANDOM_KINDS; seed++)
        pair_model(seed, (random_kind)(seed % RANDOM_KINDS), 4, line, lines);
    pair_print(line, lines);
    for (int k = 0; k < lines; k++)
        expect_true(line[k].worst <= PAIR_LIMIT && line[k].models >= RANDOM_KINDS - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(adjoint_is_direct)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
