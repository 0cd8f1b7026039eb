/* SPDX-License-Identifier: MIT
 *
 * No marks in 1,000 smooth mechanisms and 200 equilibria on kinks: slow_marks [SMOOTH [AT REST]].
 */
#include "marks.h"

static long smooth = 1000, rest = 200;

static void none_where_all_is_smooth(void **state)
{
    (void)state;
    long n = 0, still = 0;
    for (long k = 0; k < smooth; k++) {
        const int one = marks_of_random(5000 + (uint64_t)k, (random_kind)(k % RANDOM_KINDS));
        n += one;
        still += one == 0;
    }
    print_message("%ld mechanisms, %ld slopes, none marked; %ld without a motion\n", smooth, n,
                  still);
    expect_true(still * 20 < smooth);
}

static void none_at_rest(void **state)
{
    (void)state;
    long n = 0;
    for (long k = 0; k < rest; k++) n += marks_at_rest(100 + (uint64_t)k);
    print_message("%ld equilibria, %ld slopes, none marked\n", rest, n);
}

int main(int argc, char **argv)
{
    if (argc > 1) smooth = strtol(argv[1], NULL, 10);
    if (argc > 2) rest = strtol(argv[2], NULL, 10);
    const struct CMUnitTest tests[] = {cmocka_unit_test(none_where_all_is_smooth),
                                       cmocka_unit_test(none_at_rest)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
