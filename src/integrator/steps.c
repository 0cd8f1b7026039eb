/* SPDX-License-Identifier: MIT
 *
 * The time loop: where steps end, how they are shortened if they fail or if a body turns too far,
 * and the processing of accepted steps. */
#include "base/hash.h"
#include "integrator/auto.h"
#include "integrator/newton.h"
#include "integrator/observe.h"
#include "integrator/switching.h"
#include "integrator/traj.h"
#include "integrator/undefined.h"

#include <math.h>
#include <string.h>

#define UNRESOLVED 10.0 /* h omega, from which vibrations may be why a run fails */
#define BEHIND 24 /* steps whose length is counted from an event before the grid is used again */
#define NEAR 1e-3 /* part of a step in which a point of the grid counts as reached */
/* Of the step asked for: a step that fails, or in which a body turns too far, is not made shorter.
 * FINEST: where it fails to meet a tolerance */
#define SHORTEST 1e-6
#define FINEST 1e-9
#define TURN                                                                                       \
    2.0 /* largest rotation in a step, rad: beyond half a turn forwards and backwards cannot be    \
           distinguished */
/* With a chart: an entry of the directions determines the position up to a quarter turn, of which a
 * chart about to be replaced has a third left (chart.c) */
#define TURN_CHART 0.3
#define FAR 1.0   /* rad in a step, beyond which it is compared with the speeds */
#define LOST 1.33 /* factor between the two beyond which it is no longer an error of the step */
#define FAILURES                                                                                   \
    1000 /* this many failures, plus ten per step requested, also end the run: a diverging motion  \
            would go on for hours */

/* ---- accepted states ---- */

static void evaluate(cst_run *r, const cst_state *y, const cst_state *before, long index)
{
    cst_observe_outputs(r, y);
    if (r->along) cst_asked_slopes(r, y);
    if (r->traj) cst_watch_state(r->watch, r->out, before ? *y->h : -1), cst_rest_closed(r, y);
    cst_functionals_at(r, y, before, index);
    cst_undefined_state(r, *y->t, index);
    if (r->samples)
        cst_samples_state(r->samples, r->out, *y->t, before ? *before->t : *y->t, r->along != NULL,
                          index);
}

/* Rounding decides the order of coinciding events: the tags of one instant are added up, so that
 * the hash does not depend on it. */
static void note_pattern(cst_run *r, const cst_state *y1)
{
    int set = cst_set_of_tag(*y1->tag);
    uint64_t tag = (set < 0 ? (uint64_t)(4 * *y1->tag) : cst_set_hash(&r->events->sets, set)) *
                   0x9e3779b97f4a7c15u;
    if (*y1->h > 0) r->pattern = cst_hash(r->pattern, r->instant), r->instant = 0;
    r->instant += tag ^ tag >> 29;
}

/* Steps that end at events or, on a grid, that were shortened or lead back to it */
static int is_short(const cst_run *r, const cst_state *y1)
{
    if (!cst_rule_of(r->w, *y1->h)->keep || *y1->h == 0) return 0;
    return *y1->tag >= 1 || (!r->w->controls && *y1->h < 0.5 * r->options.step);
}

void cst_run_accept(cst_run *r, cst_state *y0, cst_state *y1, long *index)
{
    evaluate(r, y1, y0, ++*index);
    if (r->traj) cst_traj_add(&r->arena, r->traj, y1->t, r->w);
    if (r->traj && is_short(r, y1))
        cst_rule_of(r->w, *y1->h)->keep(&r->arena, r->w, *y1->t, &r->increments);
    note_pattern(r, y1);
    if (*index % CST_FORGET == 0) cst_motion_forget(r->w);
    cst_state swap = *y0;
    *y0 = *y1, *y1 = swap;
    r->t = *y0->t;
}

cst_status cst_run_hold(cst_run *r, const cst_state *y0, cst_state *y1, cst_diag *d)
{
    cst_observe_outputs(r, y0);
    memcpy(y1->t, y0->t, sizeof(double) * cst_state_size(r->m));
    for (int i = 0; i < r->m->held.n; i++)
        y1->z[r->m->held.at[i].z] = cst_output_value(r->out, r->out->held + i);
    *y1->h = 0, *y1->tag = CST_TAG_HOLD;
    cst_rows_at(r->w, *y0->t);
    return cst_motion_derive(r->w, y1, d);
}

static cst_status hold(cst_run *r, cst_state *y0, cst_state *y1, long *index, cst_diag *d)
{
    int begins = *y0->h > 0 && *y0->h < r->w->brief; /* a brief step gives nothing to carry along */
    if (!r->m->held.n && !begins) return CST_OK;
    cst_status ok = cst_run_hold(r, y0, y1, d);
    if (ok == CST_OK) cst_run_accept(r, y0, y1, index);
    return ok;
}

static double shortest(const cst_run *r)
{
    return (r->w->controls ? FINEST : SHORTEST) * r->options.step;
}

/* ---- one step ---- */

/* Adaptive rules: the length of the next try after one of length h. A rule that factors a matrix
 * for each length keeps it until another is worth that. */
static double suggest(const cst_run *r, double h)
{
    double f = fmin(5, fmax(0.2, 0.9 * pow(fmax(r->w->error, 1e-10), -1.0 / r->w->rule->order)));
    return r->w->rule->adaptive == 2 && r->w->error <= 1 && f < 1.4 ? h : h * f;
}

static double most_turn(const cst_run *r)
{
    return r->charts && !r->charts->joints ? TURN_CHART : TURN;
}

/* The fastest rotation of all bodies at y, rad/s; 0 where it does not matter: multistep rules
 * choose their own steps, and recomputed steps have been checked before */
static double spin(const cst_run *r, const cst_state *y, int *body)
{
    const cst_model *m = r->m;
    double most = 0;
    if (r->w->rule->begin || (r->frozen && r->w->controls)) return 0;
    for (int i = 0; i < m->body.n; i++) {
        const cst_body *b = &m->body.at[i];
        const double *w = y->u + b->u0 + b->cls->first_of_direction;
        if (!b->cls->settle) continue;
        double w2 = w[0] * w[0] + w[1] * w[1] + w[2] * w[2];
        if (w2 > most) most = w2, *body = i;
    }
    return sqrt(most);
}

/* The angle between the directions of a body at two states, from 0 to half a turn */
static double turned(const cst_body *b, const double *q0, const double *q1)
{
    double trace = 0; /* 1 + 2 cos */
    for (int k = 0; k < 3 * b->cls->nvec; k++)
        if (b->cls->unit[k / 3]) trace += q0[b->q0 + k] * q1[b->q0 + k];
    return trace > 1 + 2 * cos(FAR) ? 0 : acos(fmin(1, fmax(-1, (trace - 1) / 2)));
}

/* Has a body turned far, but by an angle inconsistent with the mean w of its angular velocities at
 * both ends, which implies between 2 atan(h |w|/2) (a chord) and h |w| (an arc)? That happens if a
 * step begins at rest and ends several radians further: its solution is then unrelated to the
 * motion. */
static int loses_turns(cst_run *r, const cst_state *y0, const cst_state *y1, double h, cst_diag *d)
{
    const cst_model *m = r->m;
    if (r->w->rule->begin || (r->frozen && r->w->controls)) return 0;
    for (int i = 0; i < m->body.n; i++) {
        const cst_body *b = &m->body.at[i];
        if (!b->cls->settle) continue;
        double angle = turned(b, y0->q, y1->q), w2 = 0;
        if (angle == 0) continue;
        for (int k = b->cls->first_of_direction; k < b->cls->nu; k++)
            w2 += pow(y0->u[b->u0 + k] + y1->u[b->u0 + k], 2);
        double x = h * sqrt(w2) / 4;
        if (angle <= LOST * 2 * x && angle >= 2 * atan(x) / LOST) continue;
        if (!r->hurried && !r->w->controls)
            cst_warn(d, b->where,
                     "t = %.6g s: body '%s' speeds up too much for a step of %.3g s: a shorter "
                     "step is taken",
                     *y0->t, b->name, h);
        r->hurried = 1;
        return 1;
    }
    return 0;
}

/* The longest step from y, `left` divided by a whole number, in which no body turns too far. If
 * forces switch, adaptive steps are limited to the step of the options, because a longer one might
 * miss a switch there and back. */
static double unhurried(cst_run *r, const cst_state *y, double left, cst_diag *d)
{
    int body = 0, watched = r->events->n && r->events_mode != CST_EVENTS_NONE;
    if (r->w->controls && !r->frozen)
        left /= ceil(left / (watched ? r->options.step : cst_motion_longest(r->w, y)) * (1 - 1e-9));
    double turn = left * spin(r, y, &body);
    if (!(turn > most_turn(r))) return left;
    const cst_body *b = &r->m->body.at[body];
    if (!r->hurried && !r->w->controls)
        cst_warn(d, b->where,
                 "t = %.6g s: body '%s' turns by %.3g rad in a step of %.3g s: it is cut into "
                 "parts of at most %g rad",
                 *y->t, b->name, turn, left, most_turn(r));
    r->hurried = 1;
    return left / ceil(turn / most_turn(r));
}

static cst_status turns_too_fast(const cst_run *r, const cst_state *y, double h, cst_diag *d)
{
    int body = 0;
    double turn = h * spin(r, y, &body);
    const cst_body *b = &r->m->body.at[body];
    return cst_error(d, CST_NUMERIC, b->where,
                     "t = %.6g s: body '%s' turns by %.3g rad even in a step of %.2g s", *y->t,
                     b->name, turn, h);
}

/* Newton's method failed for good. Vibrations far faster than the step may be why: rules that do
 * not damp them let them grow. */
static cst_status gives_up(cst_run *r, double t, double h, cst_diag *d)
{
    cst_status ok = cst_newton_blame(r->w, t, h, d);
    double fast = r->options.step * cst_auto_fastest(&r->arena, r->w);
    if (r->w->eq.b0 != 0 || r->w->charts || !(fast > UNRESOLVED)) return ok;
    cst_warn(d, (cst_where){.file = r->m->file},
             "steps of %.3g s do not resolve the fastest vibrations of the model (h omega = %.2g), "
             "which may grow: generalized-alpha with a small rho damps them, shorter steps resolve "
             "them",
             r->options.step, fast);
    return ok;
}

/* From y0 to time t1, in one step or, when Newton fails, in shorter ones; not beyond an event,
 * unless the rule is adaptive: that stops after its first step. y0 and y1 are swapped as steps are
 * accepted. free: the length is given and t1 moves with the start. */
static cst_status advance(cst_run *r, cst_state *y0, cst_state *y1, double t1, int free,
                          cst_diag *d, long *index, int *met)
{
    int said = d->errors, adaptive = r->w->controls && !r->frozen, body = 0;
    *met = 0;
    double h = adaptive ? fmin(r->h_next, t1 - *y0->t) : t1 - *y0->t;
    while (*y0->t < t1) {
        double left = t1 - *y0->t;
        double most = unhurried(r, y0, left, d);
        if (most < left && most < SHORTEST * r->options.step)
            return turns_too_fast(r, y0, SHORTEST * r->options.step, d);
        h = fmin(h, most);
        int last = h >= left * (1 - 1e-9);
        if (adaptive && !last && 2 * h > left)
            h = left / 2; /* else the next is short, with rounding over h^2 in its accelerations */
        if (last) h = left;
        cst_rows_at(r->w, *y0->t);
        cst_status ok = cst_motion_step(r->w, y0, h, y1);
        if (ok == CST_OK && adaptive && r->w->error > 1) {
            r->rejected++;
            h = suggest(r, h);
            if (h < shortest(r)) return gives_up(r, *y0->t, h, d);
            continue;
        }
        if (ok == CST_OK && (h * spin(r, y1, &body) > 1.5 * most_turn(r) ||
                             loses_turns(r, y0, y1, h, d))) { /* in this very step */
            r->w->n.shortened++;
            h /= 2;
            if (h < SHORTEST * r->options.step) return turns_too_fast(r, y1, h, d);
            continue;
        }
        if (ok == CST_OK) {
            if (*y1->h < h) last = 0, h = *y1->h;
            if (last) *y1->t = t1;
            if (free) *y1->tag = CST_TAG_FREE;
            ok = cst_run_switch(r, y0, y1, h, index, d, met);
            if (ok == CST_OK && *met) ok = hold(r, y0, y1, index, d);
            if (ok == CST_OK && *met && !r->w->controls) return CST_OK;
            if (ok == CST_OK && *met) h = adaptive ? fmin(r->h_next, t1 - *y0->t) : t1 - *y0->t;
            if (ok == CST_OK && *met) continue;
            if (d->errors > said) return ok;
        }
        if (ok != CST_OK) {
            r->w->n.shortened++;
            h /= 2;
            if (r->w->rule->blame)
                return r->w->rule->blame(r->w, *y0->t, d); /* it has tried shorter ones itself */
            if (h < shortest(r) ||
                (double)r->w->n.shortened >
                    FAILURES + 10 * (*y0->t - r->options.start) / r->options.step)
                return gives_up(r, *y0->t, h, d);
            continue;
        }
        if ((ok = cst_observe_step(r, y0, y1, d)) != CST_OK) return ok;
        cst_run_accept(r, y0, y1, index);
        if ((ok = hold(r, y0, y1, index, d)) != CST_OK) return ok;
        if (!r->frozen) cst_rows_review(r->choices, r->w, y0);
        if (r->charts && !r->frozen && (ok = cst_charts_review(r->charts, r->w, y0, d)) != CST_OK)
            return ok;
        if (adaptive) {
            *cst_push(&r->arena, &r->grid) = *y0->t;
            if (!last || r->w->error > 0.5) r->h_next = suggest(r, h);
            return CST_OK;
        }
        h *= 2; /* after a failure: back to the step asked for */
    }
    return CST_OK;
}

/* ---- all of them ---- */

/* Where the next step ends: normally on the grid. But the motion after an event is fast, and the
 * error of the first steps depends on their lengths: these are counted from the event, so that they
 * do not change with its instant. After them comes the next point of the grid, however near: as
 * that step shrinks to zero it becomes the point before, so that results do not jump where the
 * number of steps changes. Only if it would be shorter than NEAR of a step, so that rounding would
 * be divided by its length, the step extends to the following point. */
static double next_end(const cst_run *r, double t, long steps, int *behind, int *free)
{
    const cst_options *o = &r->options;
    double h = o->step;
    *free = *behind > 0 && t + (1 + NEAR) * h < o->end;
    *behind = *free ? *behind - 1 : 0;
    if (*free) return t + h;
    long i = (long)floor((t - o->start) / h + NEAR) + 1;
    return i >= steps ? o->end : o->start + (double)i * h;
}

#define SIMULATES "simulation"

static double share_at(const cst_run *r, double t)
{
    return (t - r->options.start) / (r->options.end - r->options.start);
}

/* Steps of one length, up to the end */
static cst_status even_steps(cst_run *r, cst_state *y0, cst_state *y1, long *index, cst_diag *d)
{
    const cst_options *o = &r->options;
    long steps = lround(ceil((o->end - o->start) / o->step - 1e-9));
    int behind = 0, free, met;
    cst_status ok = CST_OK;
    while (*y0->t < o->end && cst_run_goes_on(r, SIMULATES, share_at(r, *y0->t))) {
        double t1 = next_end(r, *y0->t, steps, &behind, &free);
        if ((ok = advance(r, y0, y1, t1, free, d, index, &met)) != CST_OK) return ok;
        if ((ok = cst_rows_watch(r->w, y0, &r->drift, d)) != CST_OK) return ok;
        if (met) behind = BEHIND;
        if (met && *y0->t < o->end) continue;
        cst_observe_state(r, y0, cst_observe_row(r, y0));
    }
    return CST_OK;
}

/* Steps chosen by their error, or those of the run before */
static cst_status chosen_steps(cst_run *r, cst_state *y0, cst_state *y1, long *index, cst_diag *d)
{
    cst_status ok = CST_OK;
    for (int i = 0, met; *y0->t < r->options.end; i++) {
        if (!cst_run_goes_on(r, SIMULATES, share_at(r, *y0->t))) break;
        double t1 = r->frozen && i < r->grid.n ? r->grid.at[i] : cst_asked_next(r);
        if ((ok = advance(r, y0, y1, t1, 0, d, index, &met)) != CST_OK) return ok;
        if ((ok = cst_rows_watch(r->w, y0, &r->drift, d)) != CST_OK) return ok;
        if (!r->stop) cst_observe_state(r, y0, cst_observe_row(r, y0));
    }
    return CST_OK;
}

cst_status cst_run_steps(cst_run *r, cst_state *y0, cst_state *y1, cst_diag *d)
{
    long index = 0;
    cst_status ok = cst_functionals_begin(r, d);
    cst_undefined_begin(r);
    if (ok != CST_OK) return ok;
    if (r->samples) cst_samples_begin(r->samples);
    if (r->events->n && (ok = cst_run_try_start(r, y0, y1, d)) != CST_OK) return ok;
    evaluate(r, y0, NULL, 0);
    if (r->traj) cst_traj_add(&r->arena, r->traj, y0->t, r->w);
    r->t = r->options.start;
    if ((ok = hold(r, y0, y1, &index, d)) != CST_OK) return ok;
    cst_observe_state(r, y0, 1);
    return r->w->controls ? chosen_steps(r, y0, y1, &index, d) : even_steps(r, y0, y1, &index, d);
}
