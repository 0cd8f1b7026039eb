/* SPDX-License-Identifier: MIT
 *
 * Gradients of many random mechanisms: slow_random [COUNT [FIRST SEED]], 1000 of each kind by
 * default. */
#include "random_check.h"

static long count = 1000, first = 1000;

static void kind_is_right(random_kind kind)
{
    random_tally t = {0};
    for (long seed = first; seed < first + count; seed++)
        random_gradient_laws((uint64_t)seed, kind, 10 + (int)(seed % 5) * 10, &t);
    print_message("%ld models, %ld numbers, %ld refused; direct %.1e, sum %.1e, differences %.1e "
                  "(%ld, %ld rough); "
                  "%ld without a motion, %ld worn\n",
                  t.models, t.numbers, t.refused, t.worst_direct, t.worst_sum, t.worst_difference,
                  t.differences, t.rough, t.still, t.worn);
    expect_int(t.models + t.still, count);
    expect_true(t.still <= 1 + count / 50);
    expect_true(t.worn <= 1 + count / 100);
    expect_true(t.rough * 20 <= t.differences);
}

#define X(name)                                                                                    \
    static void gradient_of_##name(void **state)                                                   \
    {                                                                                              \
        (void)state;                                                                               \
        kind_is_right(RANDOM_##name);                                                              \
    }
RANDOM_KIND_LIST(X)
#undef X

int main(int argc, char **argv)
{
    if (argc > 1) count = strtol(argv[1], NULL, 10);
    if (argc > 2) first = strtol(argv[2], NULL, 10);
    const struct CMUnitTest tests[] = {
#define X(name) cmocka_unit_test(gradient_of_##name),
        RANDOM_KIND_LIST(X)
#undef X
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
