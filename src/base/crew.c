/* SPDX-License-Identifier: MIT */
#include "base/crew.h"

#include <pthread.h>
#include <stdatomic.h>

enum { MOST_THREADS = 64 };

typedef struct crew {
    int jobs;
    void (*run)(void *ctx, int k);
    void *ctx;
    atomic_int next;
} crew;

static void *work(void *arg)
{
    crew *c = arg;
    for (int k; (k = atomic_fetch_add(&c->next, 1)) < c->jobs;) c->run(c->ctx, k);
    return NULL;
}

void cst_crew_run(int jobs, int threads, void (*run)(void *ctx, int k), void *ctx)
{
    pthread_t thread[MOST_THREADS];
    crew c = {.jobs = jobs, .run = run, .ctx = ctx};
    int others = (threads < jobs ? threads : jobs) - 1, started = 0;
    while (started < others && started < MOST_THREADS &&
           pthread_create(&thread[started], NULL, work, &c) == 0)
        started++;
    work(&c);
    for (int i = 0; i < started; i++) pthread_join(thread[i], NULL);
}
