/* SPDX-License-Identifier: MIT */
#include "integrator/traj.h"
#include "integrator/switching.h"

#include <math.h>
#include <string.h>

static double *kept_at(const cst_traj *t, long i)
{
    return t->block[i / t->per_block] + t->size * (size_t)(i % t->per_block);
}

/* Two levels: N/every kept states and every + 1 of one interval; the least memory is at every = sqrt(N). The smallest spacing with room
 * for both is taken: fewest states are computed again at once. Where the run forgets they are the same bits; the last room is for
 * others, whose states differ by rounding. */
static long spacing(double states, double room)
{
    for (long every = CST_FORGET; every < states + CST_FORGET; every += CST_FORGET)
        if (states / (double)every + (double)every + 3 <= room) return every;
    return (long)fmax(2, ceil((room - sqrt(fmax(0, room * room - 4 * states))) / 2));
}

cst_status cst_traj_begin(cst_run *r, cst_diag *d)
{
    const cst_options *o = &r->options;
    cst_arena *a = &r->arena;
    cst_traj *t = r->kept;
    if (!t) {
        t = r->kept = cst_new(a, cst_traj, 1);
        t->size = cst_state_size(r->m);
        t->per_block = (int)(1 + 65536 / t->size);
        double steps = (r->m->held.n ? 2 : 1) * (ceil((o->end - o->start) / o->step) + 2), bytes = 8 * (double)t->size;
        t->every = 1;
        /* states that cannot be computed again one by one are all kept */
        if (r->w->rule->adjoint && o->memory > 0 && steps * bytes > o->memory) {
            double room = (o->memory - steps * 36) / bytes, least = 2 * sqrt(steps) + 3;
            if (room < least)
                return cst_error(d, CST_USAGE, (cst_where){.file = r->m->file},
                                 "memory of %.3g MB is too small: the trajectory of %.0f steps needs at least %.3g MB with checkpoints",
                                 o->memory / 1e6, steps, (least * bytes + steps * 36) / 1e6);
            t->every = spacing(steps, room);
            t->segment = cst_new(a, double, (size_t)(t->every + 1) * t->size);
        }
    }
    t->n = 0, t->nblock = 0, t->from = -1, t->again = 0, t->time.n = t->length.n = t->tag.n = t->began.n = t->noise.n = 0;
    return CST_OK;
}

void cst_traj_add(cst_arena *a, cst_traj *t, const double *state, const cst_motion *w)
{
    if (t->every > 1) { /* cst_state: t, h, tag */
        *cst_push(a, &t->time) = state[0], *cst_push(a, &t->length) = state[1], *cst_push(a, &t->tag) = state[2];
        *cst_push(a, &t->began) = w->began, *cst_push(a, &t->noise) = w->began_noise;
    }
    if (t->n++ % t->every) return;
    long i = (t->n - 1) / t->every;
    if (i == (long)t->nblock * t->per_block) {
        if (t->nblock == t->cap) cst_list_grow(a, (void **)&t->block, &t->cap, sizeof *t->block);
        if (!t->block[t->nblock]) t->block[t->nblock] = cst_new(a, double, t->size *(size_t)t->per_block);
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

/* The states from kept state i on, up to the next one. */
static void compute_again(cst_run *r, long i)
{
    cst_traj *t = r->traj;
    long from = i * t->every, to = from + t->every;
    if (t->from == from) return;
    if (to > t->n - 1) to = t->n - 1;
    memcpy(t->segment, kept_at(t, i), sizeof(double) * t->size);
    cst_motion_forget(r->w);
    cst_diag quiet = {0};
    for (long n = from + 1; n <= to; n++) {
        cst_state y0 = cst_state_view(r->m, t->segment + (size_t)(n - from - 1) * t->size);
        cst_state y1 = cst_state_view(r->m, t->segment + (size_t)(n - from) * t->size);
        double h = t->length.at[n]; /* the difference of times has their rounding, which is much of a short step */
        cst_status ok = CST_OK;
        cst_rows_at(r->w, *y0.t);
        int began = t->began.at[n] - 1;
        if (began >= 0) { /* as it was: the same bits */
            cst_motion_forget(r->w);
            r->w->noise = t->noise.at[n], r->w->direct_projection = began % CST_DIRECT_MOST, r->w->direct_next = began / CST_DIRECT_MOST;
        }
        if (t->tag.at[n] == CST_TAG_HOLD) ok = cst_run_hold(r, &y0, &y1, &quiet);
        else if (t->tag.at[n] > 0 && h == 0) cst_run_stay(r, &y0, -t->tag.at[n + 1], &y1);
        else ok = t->tag.at[n] < 0 ? cst_run_jump(r, &y0, -t->tag.at[n], &y1, &quiet)
                                         : cst_motion_step(r->w, &y0, h, &y1);
        if (ok != CST_OK) memcpy(y1.t, y0.t, sizeof(double) * t->size); /* it went through once; cannot happen */
        *y1.t = t->time.at[n], *y1.tag = t->tag.at[n];
        if (ok == CST_OK && (t->tag.at[n] == 0 || t->tag.at[n] == CST_TAG_FREE)) ok = cst_run_settle(r, &y1, &quiet);
        t->again++;
    }
    t->from = from;
}

static cst_state state_in(cst_run *r, long segment, long n)
{
    cst_traj *t = r->traj;
    if (t->every == 1) return cst_state_view(r->m, kept_at(t, n));
    compute_again(r, segment);
    return cst_state_view(r->m, t->segment + (size_t)(n - t->from) * t->size);
}

cst_state cst_run_state(cst_run *r, long n)
{
    cst_traj *t = r->traj;
    if (n % t->every == 0) return cst_state_view(r->m, kept_at(t, n / t->every));
    return state_in(r, n / t->every, n);
}

void cst_run_pair(cst_run *r, long n, cst_state *y0, cst_state *y1)
{
    long segment = (n - 1) / r->traj->every;
    *y0 = state_in(r, segment, n - 1);
    *y1 = state_in(r, segment, n);
}
