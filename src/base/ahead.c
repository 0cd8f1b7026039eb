/* SPDX-License-Identifier: MIT */
#include "base/ahead.h"

/* The next job, when its place is free; -1: there is none, or the user needs no more. Locked. */
static long next_job(cst_ahead *w)
{
    while (!w->stop && w->next < w->jobs && w->next >= w->back + w->places)
        pthread_cond_wait(&w->room, &w->lock);
    return w->stop || w->next >= w->jobs ? -1 : w->next++;
}

static void *work(void *arg)
{
    cst_ahead *w = arg;
    pthread_mutex_lock(&w->lock);
    for (long k; (k = next_job(w)) >= 0;) {
        int place = (int)(k % w->places);
        pthread_mutex_unlock(&w->lock);
        int failed = w->make(w->ctx, k, place);
        pthread_mutex_lock(&w->lock);
        w->failed |= failed;
        w->done[place] = k + 1;
        pthread_cond_signal(&w->made);
    }
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

int cst_ahead_start(cst_ahead *w, int threads)
{
    if (threads > CST_AHEAD_THREADS) threads = CST_AHEAD_THREADS;
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->made, NULL);
    pthread_cond_init(&w->room, NULL);
    while (w->threads < threads && pthread_create(&w->thread[w->threads], NULL, work, w) == 0)
        w->threads++;
    return w->threads;
}

int cst_ahead_take(cst_ahead *w, long k)
{
    int place = (int)(k % w->places);
    pthread_mutex_lock(&w->lock);
    while (w->done[place] != k + 1) pthread_cond_wait(&w->made, &w->lock);
    int failed = w->failed;
    pthread_mutex_unlock(&w->lock);
    return failed ? -1 : place;
}

void cst_ahead_give(cst_ahead *w, long k)
{
    pthread_mutex_lock(&w->lock);
    w->back = k + 1;
    pthread_cond_signal(&w->room);
    pthread_mutex_unlock(&w->lock);
}

void cst_ahead_stop(cst_ahead *w)
{
    pthread_mutex_lock(&w->lock);
    w->stop = 1;
    pthread_cond_broadcast(&w->room);
    pthread_mutex_unlock(&w->lock);
    for (int i = 0; i < w->threads; i++) pthread_join(w->thread[i], NULL);
    pthread_cond_destroy(&w->room);
    pthread_cond_destroy(&w->made);
    pthread_mutex_destroy(&w->lock);
}
