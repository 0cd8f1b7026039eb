/* SPDX-License-Identifier: MIT
 *
 * adjoint = direct for every formulation with every rule: slow_pairs [COUNT [SEED [MINUTES]]], 1000
 * mechanisms of all kinds by default, from this seed. The law is one of each step, so that few
 * steps will do. Prints the worst of each pair, also when the minutes are over or a signal ends it.
 */
#include "pair_table.h"

#include <signal.h>
#include <time.h>

enum { PROGRESS = 50 };

static long count = 1000, first = 1000;
static double minutes = INFINITY;
static volatile sig_atomic_t ended;

static void end(int signal) { ended = signal; }

static void adjoint_is_direct(void **state)
{
    (void)state;
    pair_line line[PAIRS];
    int lines = pair_lines(line);
    long k = 0;
    time_t begin = time(NULL);
    for (; k < count && !ended && difftime(time(NULL), begin) < 60 * minutes; k++) {
        uint64_t seed = (uint64_t)(first + k);
        pair_model(seed, (random_kind)(seed % RANDOM_KINDS), 5 + (int)((seed - 1) % 3), line,
                   lines);
        if ((k + 1) % PROGRESS == 0)
            print_message("%ld mechanisms in %.0f s\n", k + 1, difftime(time(NULL), begin));
    }
    print_message("%ld mechanisms\n", k);
    pair_print(line, lines);
    for (int i = 0; i < lines; i++) {
        expect_true(line[i].worst <= PAIR_LIMIT);
        expect_true((line[i].models + 1) * 10 >= k * 9 &&
                    line[i].worn * 400 <= line[i].objectives + 400);
    }
}

int main(int argc, char **argv)
{
    if (argc > 1) count = strtol(argv[1], NULL, 10);
    if (argc > 2) first = strtol(argv[2], NULL, 10);
    if (argc > 3) minutes = strtod(argv[3], NULL);
    setvbuf(stdout, NULL, _IOLBF, 0);
    signal(SIGTERM, end);
    signal(SIGINT, end);
    const struct CMUnitTest tests[] = {cmocka_unit_test(adjoint_is_direct)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
