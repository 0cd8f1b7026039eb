/* SPDX-License-Identifier: MIT
 *
 * Jobs done ahead by other threads: the user sees the jobs in their order, a place sees the same
 * jobs whatever the number of threads, no job is done before its place is free, and the threads end
 * wherever the user stops. */
#include "base/ahead.h"
#include "expect.h"

#include <sched.h>

enum { JOBS = 500 };

typedef struct book {
    long seen[CST_AHEAD_PLACES]; /* the last job of each place */
    int wrong[CST_AHEAD_PLACES]; /* jobs that came out of order, or before the place was free */
    int in_use[CST_AHEAD_PLACES];
    int places;
    long fails; /* the job that fails; -1: none */
} book;

static int write_down(void *ctx, long job, int place)
{
    book *b = ctx;
    long before = job < b->places ? 0 : job + 1 - b->places;
    if (b->seen[place] != before || b->in_use[place]) b->wrong[place]++;
    for (int i = 0; i < (int)(job * 7 % 5); i++) sched_yield(); /* jobs overtake each other */
    b->seen[place] = job + 1;
    b->in_use[place] = 1;
    return job == b->fails;
}

static int wrong(const book *b)
{
    int n = 0;
    for (int i = 0; i < b->places; i++) n += b->wrong[i];
    return n;
}

/* Takes jobs up to `last` and stops; the number of jobs that were taken. A job may fail. */
static long use(book *b, int threads, long last)
{
    cst_ahead w = {.jobs = JOBS, .places = b->places, .make = write_down, .ctx = b};
    expect_int(cst_ahead_start(&w, threads), threads);
    long k = 0;
    for (int place; k < last && (place = cst_ahead_take(&w, k)) >= 0; k++) {
        expect_int(place, k % b->places);
        expect_int(b->seen[place], k + 1);
        expect_int(b->in_use[place], 1);
        b->in_use[place] = 0;
        cst_ahead_give(&w, k);
    }
    cst_ahead_stop(&w);
    return k;
}

static void jobs_come_in_order(void **state)
{
    (void)state;
    for (int threads = 1; threads <= CST_AHEAD_THREADS; threads += 3)
        for (int places = 1; places <= 2 * threads; places += threads) {
            book b = {.places = places, .fails = -1};
            expect_int(use(&b, threads, JOBS), JOBS);
            expect_int(wrong(&b), 0);
        }
}

static void the_user_may_stop_anywhere(void **state)
{
    (void)state;
    for (long last = 0; last < 40; last += 3) {
        book b = {.places = 6, .fails = -1};
        expect_int(use(&b, 3, last), last);
        expect_int(wrong(&b), 0);
        for (int i = 0; i < b.places; i++) expect_true(b.seen[i] <= last + b.places);
    }
}

/* The user learns of it at the latest with the job itself. */
static void a_job_may_fail(void **state)
{
    (void)state;
    for (long fails = 0; fails < 60; fails += 7) {
        book b = {.places = 4, .fails = fails};
        long taken = use(&b, 2, JOBS);
        expect_true(taken <= fails);
        expect_true(taken > fails - b.places);
    }
}

static void without_threads_nothing_waits(void **state)
{
    (void)state;
    book b = {.places = 2, .fails = -1};
    cst_ahead w = {.jobs = JOBS, .places = 2, .make = write_down, .ctx = &b};
    expect_int(cst_ahead_start(&w, 0), 0);
    cst_ahead_stop(&w);
    expect_int(b.seen[0], 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(jobs_come_in_order),
                                       cmocka_unit_test(the_user_may_stop_anywhere),
                                       cmocka_unit_test(a_job_may_fail),
                                       cmocka_unit_test(without_threads_nothing_waits)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
