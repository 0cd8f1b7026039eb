/* SPDX-License-Identifier: MIT
 *
 * Gradients of random mechanisms of every kind (random_check.h says by which laws). */
#include "random_check.h"

static void kind_is_right(random_kind kind)
{
    random_tally t = {0};
    const int rounds = expect_rounds(8, 30);
    for (uint64_t seed = 1; seed <= (uint64_t)rounds; seed++)
        random_gradient_laws(seed, kind, 12 + 4 * (int)(seed % 3), &t);
    print_message("%ld models, %ld numbers, %ld refused; direct %.1e, sum %.1e, differences %.1e "
                  "(%ld, %ld rough)\n",
                  t.models, t.numbers, t.refused, t.worst_direct, t.worst_sum, t.worst_difference,
                  t.differences, t.rough);
    expect_true(t.models == rounds && t.worn == 0);
    expect_true(t.differences * 30 > 50 * rounds);
    expect_true(t.rough * 20 < t.differences);
    expect_true(kind != RANDOM_PLANAR || t.refused * 30 > 5 * rounds);
}

#define X(name)                                                                                    \
    static void gradient_of_##name(void **state)                                                   \
    {                                                                                              \
        (void)state;                                                                               \
        kind_is_right(RANDOM_##name);                                                              \
    }
RANDOM_KIND_LIST(X)
#undef X

int main(void)
{
    const struct CMUnitTest tests[] = {
#define X(name) cmocka_unit_test(gradient_of_##name),
        RANDOM_KIND_LIST(X)
#undef X
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
