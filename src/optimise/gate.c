/* SPDX-License-Identifier: MIT
 *
 * A method runs in a thread of its own, and the functions that it calls run in the thread of the
 * caller: the method hands over a request and waits for its answer. The caller thus keeps control,
 * and leaves a method that does not return. Such a thread is left behind with the memory of the
 * search; should it ever call again, it is sent away. */
#include "optimise/search.h"

#include <pthread.h>
#include <string.h>
#include <time.h>

#define POLL 50000000L /* ns between two looks at the method */
#define GRACE 0.3      /* s to return in */
#define SILENCE 60.0   /* s of computing without a new point */

typedef enum request { NOTHING, EVAL, ITERATE, IMPROVE } request;

struct cst_gate {
    pthread_t thread, caller;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    const cst_optimiser *method;
    cst_search *s;
    request asked;
    const double *y;
    int answer, started, done, left;
    int evaluations;    /* of the search, when it was looked at last */
    double since, told; /* s of computing at its last new point; when it was seen to be stopped */
};

/* Is this the thread of the method? One that was left behind is neither that nor the caller's:
 * *gone. */
static int in_method(const cst_search *s, int *gone)
{
    const struct cst_gate *g = s->gate;
    *gone = 0;
    if (!g || pthread_equal(pthread_self(), g->caller)) return 0;
    *gone = !g->started || g->left || !pthread_equal(pthread_self(), g->thread);
    return 1;
}

static int hand_over(cst_search *s, request what, const double *y)
{
    struct cst_gate *g = s->gate;
    pthread_mutex_lock(&g->lock);
    g->asked = what, g->y = y;
    pthread_cond_broadcast(&g->changed);
    while (g->asked != NOTHING && !g->left) pthread_cond_wait(&g->changed, &g->lock);
    const int answer = g->left ? (what == EVAL ? CST_EVAL_STOP : 1) : g->answer;
    pthread_mutex_unlock(&g->lock);
    return answer;
}

static int answer(cst_search *s, request what, const double *y)
{
    return what == EVAL      ? (int)cst_search_eval_here(s, y)
           : what == ITERATE ? cst_search_iterate_here(s)
                             : cst_search_improve_here(s);
}

static int request_of(cst_search *s, request what, const double *y)
{
    int gone;
    if (!in_method(s, &gone)) return answer(s, what, y);
    return gone ? (what == EVAL ? CST_EVAL_STOP : 1) : hand_over(s, what, y);
}

cst_eval cst_search_eval(cst_search *s, const double *y)
{
    return (cst_eval)request_of(s, EVAL, y);
}
int cst_search_iterate(cst_search *s) { return request_of(s, ITERATE, NULL); }
int cst_search_improve(cst_search *s) { return request_of(s, IMPROVE, NULL); }

void cst_search_end(cst_search *s, cst_outcome outcome, const char *reason)
{
    int gone;
    (void)in_method(s, &gone);
    if (s->stopped || gone) return; /* the first reason counts */
    s->stopped = 1;
    s->outcome = outcome;
    s->reason = reason;
}

/* ---- the two threads ---- */

static void *run_method(void *ctx)
{
    struct cst_gate *g = ctx;
    pthread_mutex_lock(&g->lock); /* until the caller serves */
    pthread_mutex_unlock(&g->lock);
    if (CST_ARENA_GUARD(g->s->work)) {
        g->s->status = CST_MEMORY;
        cst_search_end(g->s, CST_BROKEN, "out of memory");
    } else
        g->method->run(g->s);
    pthread_mutex_lock(&g->lock);
    g->done = 1;
    pthread_cond_broadcast(&g->changed);
    pthread_mutex_unlock(&g->lock);
    return NULL;
}

static double computed(const struct cst_gate *g)
{
    clockid_t clock;
    struct timespec t;
    if (pthread_getcpuclockid(g->thread, &clock) != 0 || clock_gettime(clock, &t) != 0) return 0;
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Some ten times a second: must the search stop? A method that has been told so, or cannot be told,
 * gets a moment to return. */
static void look(struct cst_gate *g, double now)
{
    cst_search *s = g->s;
    if (s->evaluations != g->evaluations) g->evaluations = s->evaluations, g->since = computed(g);
    if (s->stopped && g->told > 0)
        g->left = now - g->told > GRACE;
    else if (s->o.stop && s->o.stop(s->o.ctx))
        cst_search_end(s, CST_INTERRUPTED, "stopped on request");
    else if (s->o.seconds > 0 && now - s->begin >= s->o.seconds)
        cst_search_end(s, CST_LIMIT, "the limit of time is reached");
    else if (computed(g) - g->since > SILENCE)
        cst_search_end(s, CST_STALLED,
                       "the optimiser has computed for 60 s without asking for a new point");
    if (g->told == 0 || !s->stopped) g->told = s->stopped ? now : 0;
}

static void serve(struct cst_gate *g)
{
    double looked = cst_search_seconds();
    while (!g->done && !g->left) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += POLL;
        if (until.tv_nsec >= 1000000000L) until.tv_sec++, until.tv_nsec -= 1000000000L;
        if (g->asked == NOTHING) pthread_cond_timedwait(&g->changed, &g->lock, &until);
        if (g->asked != NOTHING) g->answer = answer(g->s, g->asked, g->y);
        const double now = cst_search_seconds();
        if (!g->done && now - looked >= 1e-9 * POLL) look(g, now), looked = now;
        g->asked = NOTHING;
        pthread_cond_broadcast(&g->changed);
    }
}

void cst_search_run(cst_search *s, const cst_optimiser *method)
{
    struct cst_gate *g = cst_new(s->arena, struct cst_gate, 1);
    *g = (struct cst_gate){.method = method, .s = s, .caller = pthread_self()};
    s->work = cst_arena_child(s->arena);
    pthread_mutex_init(&g->lock, NULL);
    pthread_cond_init(&g->changed, NULL);
    s->gate = g;
    pthread_mutex_lock(&g->lock);
    if (pthread_create(&g->thread, NULL, run_method, g) == 0) {
        g->started = 1;
        serve(g);
        pthread_mutex_unlock(&g->lock);
        if (!g->left)
            pthread_join(g->thread, NULL);
        else
            pthread_detach(g->thread), s->left_behind = 1;
    } else {
        pthread_mutex_unlock(&g->lock);
        method->run(s); /* no thread: as it would be without a gate */
    }
    if (g->left) return;
    pthread_cond_destroy(&g->changed);
    pthread_mutex_destroy(&g->lock);
    cst_arena_free(s->work);
    s->gate = NULL;
}
