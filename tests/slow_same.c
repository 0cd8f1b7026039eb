/* SPDX-License-Identifier: MIT
 *
 * Laws of same.h on many random mechanisms: slow_same [closed [open [trees [turns]]]] */
#include "same.h"

static int count[4] = {5000, 500, 500, 10};

static void all(void **state)
{
    (void)state;
    for (int i = 1; i <= count[0]; i++) same_closed_law((uint64_t)(1000 + i));
    printf("%d closed drawings\n", count[0]);
    for (int i = 1; i <= count[1]; i++) same_open_law((uint64_t)(1000 + i));
    printf("%d drawings that cannot close\n", count[1]);
    for (int i = 1; i <= count[2]; i++) same_tree_law((uint64_t)(1000 + i));
    printf("%d trees\n", count[2]);
    for (int i = 1; i <= count[3]; i++) same_turn_law((uint64_t)i, 1000);
    printf("%d loops turned\n", count[3]);
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc && i <= 4; i++) count[i - 1] = atoi(argv[i]);
    const struct CMUnitTest tests[] = {cmocka_unit_test(all)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
