/* SPDX-License-Identifier: MIT */
#include "integrator/traj.h"
#include "integrator/switching.h"

#include <math.h>
#include <string.h>

static double *kept_at(const cst_traj *t, long i)
{
    return t->block[i / t->per_block] + t->size * (size_t)(i % t->per_block);
}

/* Every `every`-th state is kept, at states where the run forgets what it has learned, so that the
 * states in between are reproduced bit for bit. Each interval is recomputed in `shares` windows,
 * always from the kept state, which costs (shares + 1) / 2 simulations in all. Takes the fewest
 * shares for which there is room; 0: there is no room, and `least` is the smallest number of states
 * needed. */
static int choose_spacing(double states, double room, cst_traj *t, double *least)
{
    *least = states;
    for (long shares = 1; shares <= 8; shares *= 2)
        for (t->every = CST_FORGET; (double)t->every < states + CST_FORGET;
             t->every += CST_FORGET) {
            t->window = t->every / shares;
            double kept = ceil(states / (double)t->every) + (double)t->window + 2;
            if (kept <= room) return 1;
            *least = fmin(*least, kept);
        }
    return 0;
}

cst_status cst_traj_begin(cst_run *r, cst_diag *d)
{
    const cst_options *o = &r->options;
    cst_arena *a = &r->arena;
    cst_traj *t = r->kept;
    if (!t) {
        t = cst_new(a, cst_traj, 1);
        t->size = cst_state_size(r->m);
        t->per_block = (int)(1 + 65536 / t->size);
        double steps = (r->m->held.n ? 2 : 1) * (ceil((o->end - o->start) / o->step) + 2),
               bytes = 8 * (double)t->size;
        t->every = 1;
        /* states that cannot be computed again one by one are all kept */
        if (r->w->rule->adjoint && o->memory > 0 && steps * bytes > o->memory) {
            double times = steps * (3 * sizeof(double) + sizeof(cst_habits)), least;
            if (!choose_spacing(steps, (o->memory - times) / bytes, t, &least))
                return cst_error(d, CST_USAGE, (cst_where){.file = r->m->file},
                                 "memory of %.3g MB is too small: the trajectory of %.0f steps "
                                 "needs at least %.3g MB with checkpoints",
                                 o->memory / 1e6, steps,
                                 fmin(steps * bytes, least * bytes + times) / 1e6);
            t->computed = cst_new(a, double, (size_t)(t->window + 1) * t->size);
        }
        r->kept = t;
    }
    t->n = 0, t->nblock = 0, t->from = -1, t->again = 0,
    t->time.n = t->length.n = t->tag.n = t->began.n = 0;
    return CST_OK;
}

void cst_traj_add(cst_arena *a, cst_traj *t, const double *state, const cst_motion *w)
{
    if (t->every > 1) { /* cst_state: t, h, tag */
        *cst_push(a, &t->time) = state[0], *cst_push(a, &t->length) = state[1],
                     *cst_push(a, &t->tag) = state[2];
        *cst_push(a, &t->began) = w->began;
    }
    if (t->n++ % t->every) return;
    long i = (t->n - 1) / t->every;
    if (i == (long)t->nblock * t->per_block) {
        if (t->nblock == t->cap) cst_list_grow(a, (void **)&t->block, &t->cap, sizeof *t->block);
        if (!t->block[t->nblock]) t->block[t->nblock] = cst_new(a, double, t->size * t->per_block);
        t->nblock++;
    }
    memcpy(kept_at(t, i), state, sizeof(double) * t->size);
}

double cst_traj_tag(const cst_traj *t, long n, double *h)
{
    if (t->every > 1) return *h = t->length.at[n], t->tag.at[n];
    const double *state = kept_at(t, n);
    return *h = state[1], state[2];
}

static double *computed_at(const cst_traj *t, long i) { return t->computed + (size_t)i * t->size; }

/* The states of the window that begins at `from`, and the next one. */
static void compute_again(cst_run *r, long from)
{
    cst_traj *t = r->traj;
    long kept = from / t->every, to = from + t->window < t->n ? from + t->window : t->n - 1;
    if (t->from == from) return;
    memcpy(t->computed, kept_at(t, kept), sizeof(double) * t->size);
    cst_motion_forget(r->w);
    cst_diag quiet = {0};
    for (long n = kept * t->every + 1; n <= to; n++) {
        long at = n > from ? n - from
                           : 1; /* on the way to the window one state after the other is at 0 */
        cst_state y0 = cst_state_view(r->m, computed_at(t, at - 1)),
                  y1 = cst_state_view(r->m, computed_at(t, at));
        double h = t->length.at[n]; /* the difference of times has their rounding, which is much of
                                       a short step */
        cst_status ok = CST_OK;
        cst_rows_at(r->w, *y0.t);
        if (t->tag.at[n] == CST_TAG_HOLD)
            ok = cst_run_hold(r, &y0, &y1, &quiet);
        else if (t->tag.at[n] > 0 && h == 0)
            cst_run_stay(r, &y0, &y1);
        else if (t->tag.at[n] < 0)
            ok = cst_run_jump(r, &y0, cst_set_of_tag(t->tag.at[n]), &y1, &quiet);
        else {
            if (t->began.at[n].clean) { /* as it was: the same bits */
                cst_motion_forget(r->w);
                r->w->habits = t->began.at[n];
            }
            ok = cst_motion_step(r->w, &y0, h, &y1);
        }
        if (ok != CST_OK)
            memcpy(y1.t, y0.t,
                   sizeof(double) * t->size); /* cannot happen: the same step succeeded before */
        *y1.t = t->time.at[n], *y1.tag = t->tag.at[n];
        if (ok == CST_OK && (t->tag.at[n] == 0 || t->tag.at[n] == CST_TAG_FREE))
            (void)cst_run_settle(r, &y1, &quiet);
        if (n <= from) memcpy(y0.t, y1.t, sizeof(double) * t->size);
        t->again++;
    }
    t->from = from;
}

/* State n, of the window with state `in` */
static cst_state state_in(cst_run *r, long in, long n)
{
    cst_traj *t = r->traj;
    if (t->every == 1) return cst_state_view(r->m, kept_at(t, n));
    compute_again(r, in / t->window * t->window);
    return cst_state_view(r->m, computed_at(t, n - t->from));
}

cst_state cst_run_state(cst_run *r, long n)
{
    cst_traj *t = r->traj;
    if (n % t->every == 0) return cst_state_view(r->m, kept_at(t, n / t->every));
    return state_in(r, n, n);
}

void cst_run_pair(cst_run *r, long n, cst_state *y0, cst_state *y1)
{
    *y0 = state_in(r, n - 1, n - 1);
    *y1 = state_in(r, n - 1, n);
}
