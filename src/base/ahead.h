/* SPDX-License-Identifier: MIT
 *
 * Jobs that other threads do ahead of the one that uses them.
 *
 * Job k = 0 .. jobs-1 fills place k % places; the user takes the jobs in their order and gives each
 * place back. Whatever thread does a job, a place sees the same jobs in the same order: results
 * depend on the number of places, not on which thread was faster. */
#ifndef CST_BASE_AHEAD_H
#define CST_BASE_AHEAD_H

#include <pthread.h>

enum { CST_AHEAD_THREADS = 15, CST_AHEAD_PLACES = 2 * CST_AHEAD_THREADS };

typedef struct cst_ahead { /* the caller sets the first four, and 0 in all others */
    long jobs;
    int places;                                  /* up to CST_AHEAD_PLACES */
    int (*make)(void *ctx, long job, int place); /* non-zero: it failed */
    void *ctx;

    pthread_mutex_t lock;        /* of all below */
    pthread_cond_t made, room;   /* a job has been done; a place has been given back */
    long next, back;             /* the next job to do; jobs before `back` have been given back */
    long done[CST_AHEAD_PLACES]; /* jobs up to this one have been done in the place: 1 + job */
    int failed, stop;
    int threads;
    pthread_t thread[CST_AHEAD_THREADS];
} cst_ahead;

/* Starts up to `threads` threads and returns how many the system has given. cst_ahead_stop follows,
 * even after 0. */
int cst_ahead_start(cst_ahead *w, int threads);
/* Waits for job k: its place, or -1 if a job has failed. */
int cst_ahead_take(cst_ahead *w, long k);
/* The place of job k may be used for another. */
void cst_ahead_give(cst_ahead *w, long k);
/* Leaves out the jobs that nobody has begun and waits for the others. */
void cst_ahead_stop(cst_ahead *w);

#endif
