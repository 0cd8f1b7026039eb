/* SPDX-License-Identifier: MIT
 *
 * Forces that rest on a kink of their law, such as the damper max(c1 v, c2 v) of a vehicle at rest,
 * or on a switch. They have two one-sided slopes, but only with respect to numbers that move the
 * law off the kink. Where no number does, as in an equilibrium that remains one, the derivative
 * exists. A law must move at both ends of a step: at the instant at which something else sets in
 * any slope may occur.
 *
 * Along a direction t of the numbers, resting events go to the side of dg/dt, and along -t to the
 * other side. The rates change by f_+ . t and f_- . t, each with the modes of its side. A number is
 * refused where these differ, or where f_+ and f_- themselves do. Moving a bound at which the law
 * is continuous, as 0 in if(v >= 0, c1, c2) v, makes no difference. A comparison that holds only at
 * rest, as in if(s == 1, c1, c2), is a third f.
 *
 * A number may move the event while the law stays at rest, as the bound b of if(s < b, k (s - 1) +
 * c v, 0) does. When the motion leaves the rest, g first passes the distance by which b has moved,
 * with the other mode, and the momentum changes by the integral of (f_+ - f_-)_u u over that time.
 * The rates of the two modes must therefore not differ for the velocity with which the rest is
 * left.
 *
 * Only runs in which a law rests are examined: first by one tangent sweep along a random direction
 * of all numbers; where that finds something, with all numbers side by side for what they move, and
 * then, for the modes, alone with each number that moves an event. */
#include "sensitivity/brink.h"
#include "sensitivity/direction.h"
#include "sensitivity/edges.h"

#include "integrator/switching.h"

#include <math.h>
#include <string.h>

#define STILL                                                                                      \
    1e-9 /* of what the changes of coordinates could do to a rate within a step: less is rounding  \
          */
#define ROUNDING 1e-13 /* of coordinates, in differences over a step */
#define AT 10.0        /* times its own rounding: a value that is zero */
#define BEYOND                                                                                     \
    1e3             /* times its own rounding, with which a number by its size should move a value \
                     */
#define BESIDE 1e-5 /* how far a value is moved to see what holds beside its rest, */
#define ALIKE 1e-3  /* and changes that are the same there, relative */
#define DECAYED                                                                                    \
    1e-4 /* of its largest change so far: a smaller one counts as none, because the motion has     \
            come to rest */
enum { PAIRS = 8, LOOKS = 3 }; /* events of which pairs are tried, and states at which they are */

typedef struct look {
    cst_run *r;
    cst_direction *dir;
    int modes; /* 0: modes are not compared; 1: they are; 2: also for each pair of events, for a
                  direction of all numbers */
    cst_direction *aside; /* the same with other modes */
    cst_state side[2];
    double *rates;        /* (2 x (u, z, integrals)) their changes */
    double *values;       /* likewise, themselves */
    double *beside;       /* likewise, scratch */
    unsigned char *move;  /* (registers of events and kinks) */
    double *most;         /* (events and kinks) the largest change so far */
    unsigned char *moved; /* (events and kinks) now */
    unsigned char *left;  /* ... and at the state before */
    unsigned char *off;   /* (events) moved off, since it rests */
    cst_tangent *leaving; /* the velocity with which a rest is left, as a change of it */
    const char *pushed;   /* an element that has been moved off for a whole step; NULL: none */
    unsigned char *split; /* cst_moved_rest */
    int event;            /* it is an event */
    int looks;
    long until; /* the last state at which one was */
} look;

static int rates_of(const cst_run *r) { return r->m->nu + r->m->nz + r->m->quad.n; }

/* l->moved: values near zero that move, at a state with the changes of slots at hand */
static int find_moved(look *l)
{
    cst_run *r = l->r;
    cst_events *e = r->events;
    const cst_tape *tape = e->tape;
    const cst_tangent *t = l->dir->t;
    const double x = cst_largest(r->m->nx, t->x),
                 rate = x / r->options.step + cst_largest(r->m->nx, t->xd);
    int any = 0;
    cst_event_forward(e, 0, t->x, t->xd, t->z, t->t,
                      t->val); /* changes of all registers, in e->bar */
    for (int i = 0; i < tape->nchannel + tape->nnumber; i++) {
        const cst_channel *c = &tape->channel[i];
        double least = 0;
        if (i < tape->nchannel && c->kind == CST_CH_X) least = STILL * (c->order ? rate : x);
        l->move[i] = fabs(e->bar[i]) > least ? CST_MOVES_FIRST : 0;
    }
    cst_tape_moves(tape, e->reg, e->err, e->bar, l->move);
    for (int k = 0; k < e->n + e->nkink; k++) {
        const int out = tape->out[k];
        int moves = (l->move[out] & CST_MOVES_FIRST) && fabs(e->bar[out]) > BEYOND * e->err[out];
        if (fabs(e->bar[out]) <= DECAYED * l->most[k]) moves = 0;
        l->most[k] = fmax(l->most[k], fabs(e->bar[out]));
        moves |= k >= e->n && r->m->kink.at[k - e->n].touched &&
                 (l->move[out] & CST_MOVES_HIGHER); /* x^2 below a root */
        int plain = k < e->n || !r->m->kink.at[k - e->n].table;
        int near = cst_event_distance(e, r->m, k, e->value[k]) <=
                   (plain ? fmin(AT * e->err[out], CST_NEAR_KINK) : CST_NEAR_KINK);
        l->moved[k] = e->judged[k] && moves && near;
        any |= l->moved[k];
    }
    return any;
}

/* The rates' change along a direction with the modes of a side, in l->rates */
static int change_on(look *l, const cst_tangent *from, int side)
{
    cst_run *r = l->r;
    const cst_model *m = r->m;
    cst_tangent *t = l->aside->t;
    cst_diag quiet = {0};
    const int at = side * rates_of(r);
    double *f = l->rates + at, *value = l->values + at;
    memcpy(t->q, from->q, sizeof(double) * (size_t)m->nq),
        memcpy(t->u, from->u, sizeof(double) * (size_t)m->nu);
    memcpy(t->z, from->z, sizeof(double) * (size_t)m->nz),
        memcpy(t->quad, from->quad, sizeof(double) * (size_t)m->quad.n);
    t->P = from->P, t->val = from->val, t->t = from->t, t->h = 0;
    cst_motion_forget(r->w); /* factors of a state that is not taken */
    int ok = cst_motion_derive(r->w, &l->side[side], &quiet) == CST_OK &&
             cst_tangent_derive(t, &l->side[side], 1) == CST_OK;
    cst_motion_forget(r->w);
    memcpy(f, t->ud, sizeof *f * (size_t)m->nu),
        memcpy(f + m->nu, t->zd, sizeof *f * (size_t)m->nz);
    memcpy(f + m->nu + m->nz, t->qd, sizeof *f * (size_t)m->quad.n);
    memcpy(value, l->side[side].ud, sizeof *f * (size_t)m->nu),
        memcpy(value + m->nu, l->side[side].zd, sizeof *f * (size_t)m->nz);
    memcpy(value + m->nu + m->nz, l->side[side].qd, sizeof *f * (size_t)m->quad.n);
    return ok;
}

static double larger(const double *x, int n, int i)
{
    return fmax(fabs(x[i]), fabs(x[n + i]));
} /* of both sides */

/* Do the changes of the rates differ between the modes of the two sides or, if `themselves` is 1,
 * do the rates? Accelerations are compared with the largest of all; rates of states and integrals,
 * which have units of their own, each with itself. */
static int splits(look *l, const cst_tangent *along, int themselves)
{
    cst_run *r = l->r;
    const cst_model *m = r->m;
    const int n = rates_of(r);
    double most = ROUNDING / STILL * cst_largest(m->nq, along->q) /
                  (r->options.step * r->options.step),
           size = 0;
    int apart = 0;
    if (!change_on(l, along, 0) || !change_on(l, along, 1)) { /* nothing is known */
        memset(l->split, 1, (size_t)n);
        return 1;
    }
    for (int i = 0; i < m->nu; i++)
        most = fmax(most, larger(l->rates, n, i)), size = fmax(size, larger(l->values, n, i));
    for (int i = 0; i < n; i++) {
        const double change = i < m->nu ? most : larger(l->rates, n, i),
                     value = i < m->nu ? size : larger(l->values, n, i);
        int two = fabs(l->rates[i] - l->rates[n + i]) > STILL * change;
        two |= themselves && fabs(l->values[i] - l->values[n + i]) >
                                 fmax(STILL * value, cst_run_rounding(r, 2, value));
        apart |= two, l->split[i] |= (unsigned char)two;
    }
    return apart;
}

static void set_modes(look *l, int k, double first, double second)
{
    const int memory = l->r->m->event.at[k].memory;
    l->side[0].mem[memory] = first, l->side[1].mem[memory] = second;
}

static void both_are(look *l, const cst_state *y)
{
    for (int s = 0; s < 2; s++) {
        memcpy(l->side[s].t, y->t, sizeof(double) * cst_state_size(l->r->m));
        *l->side[s].h = 0; /* its rates are not those of a step */
    }
}

/* The modes of all events that have moved, to a side (1: that of dg, -1: the other one, 0: at rest)
 * and to another one */
static void set_all(look *l, const cst_state *y, int side, int other)
{
    cst_events *e = l->r->events;
    both_are(l, y);
    for (int k = 0; k < e->n; k++) {
        if (!l->moved[k]) continue;
        const int up = e->bar[e->tape->out[k]] > 0;
        const double mode[] = {1 - up, y->mem[l->r->m->event.at[k].memory], up};
        set_modes(l, k, mode[side + 1], mode[other + 1]);
    }
}

/* y + c t */
static void displace(const cst_model *m, const cst_tangent *t, double c, cst_state *y)
{
    for (int i = 0; i < m->nq; i++) y->q[i] += c * t->q[i];
    for (int i = 0; i < m->nu; i++) y->u[i] += c * t->u[i];
    for (int i = 0; i < m->nz; i++) y->z[i] += c * t->z[i];
}

/* A guard such as if(x == 0, 0, sin(x)^2/x) gives the value at rest, but what holds beside has no
 * slope there, and modes tell nothing: do the rates change beside as they do at rest? Their changes
 * f at two distances give the limit 2 f_1 - f_2. */
static int guard_splits(look *l, const cst_state *y)
{
    cst_run *r = l->r;
    const cst_model *m = r->m;
    const cst_events *e = r->events;
    const cst_tangent *t = l->dir->t;
    const int n = rates_of(r);
    const double rounding =
        ROUNDING * cst_largest(m->nq, t->q) / (r->options.step * r->options.step);
    double moves = 0, *at_rest = l->beside, *near = at_rest + n;
    int any = 0;
    for (int k = 0; k < e->n; k++)
        if (l->moved[k] && m->event.at[k].rests && y->mem[m->event.at[k].memory] == CST_MODE_RESTS)
            moves = fmax(moves, fabs(e->bar[e->tape->out[k]]));
    for (int side = -1; side <= 1 && moves > 0 && !any; side += 2) {
        double most = 0;
        int known = 1;
        for (int far = 1; far <= 2 && known; far++) {
            set_all(l, y, 0, side);
            displace(m, t, side * far * BESIDE / moves, &l->side[1]);
            known = change_on(l, t, 0) && change_on(l, t, 1);
            if (far == 1)
                memcpy(at_rest, l->rates, sizeof *at_rest * (size_t)n),
                    memcpy(near, l->rates + n, sizeof *near * (size_t)n);
        }
        for (int i = 0; i < m->nu; i++) most = fmax(most, fmax(fabs(at_rest[i]), fabs(near[i])));
        for (int i = 0; i < n; i++) {
            const double own = fmax(fabs(at_rest[i]), fmax(fabs(near[i]), fabs(l->rates[n + i]))),
                         limit = 2 * near[i] - l->rates[n + i];
            const int two =
                !known || !(fabs(limit - at_rest[i]) <=
                            ALIKE * (i < m->nu ? most : own) + (i < m->nu ? rounding : 0));
            any |= two, l->split[i] |= (unsigned char)two;
        }
    }
    return any;
}

/* Does the motion differ between the two sides, or between one side and rest? A direction of all
 * numbers does not tell which events move together: each of them, and each pair, is tried. */
static int modes_split(look *l, const cst_state *y)
{
    cst_events *e = l->r->events;
    int n = 0, some[PAIRS], any;
    for (int k = 0; k < e->n; k++)
        if (l->moved[k] && n++ < PAIRS) some[n - 1] = k;
    if (n == 0) return 0;
    if (guard_splits(l, y)) return 1;
    for (int pair = any = 0; pair < 3 && !any; pair++) {
        set_all(l, y, pair < 2 ? 1 : -1, pair ? 0 : -1);
        any = splits(l, l->dir->t, 1);
    }
    if (l->modes < 2 || l->looks++ >= LOOKS) return any;
    if (n > PAIRS) return 1;
    for (int i = 0; i < n && !any; i++)
        for (int j = i; j < n && !any; j++)
            for (int at = 0; at < 4 && !any;
                 at++) { /* (0, 0) against the others: corners of a pair */
                both_are(l, y);
                set_modes(l, some[i], at & 1, 1 - (at & 1)),
                    set_modes(l, some[j], at >> 1, 1 - (at >> 1));
                any = splits(l, l->dir->t, 1);
            }
    return any;
}

/* Value k has moved off zero for a step, up to state n. */
static void push(look *l, int k, long n, double t)
{
    const cst_model *m = l->r->m;
    cst_events *e = l->r->events;
    if (k < e->n && e->staying.when[k] <= t)
        l->pushed = m->event.at[k].name, l->until = n, l->event = 1;
    for (int i = 0; k >= e->n && i < m->force.n; i++) {
        const char *name = m->force.at[i].name;
        if (e->resting.when[i] > t || isnan(e->resting.when[i]) ||
            strcmp(name, m->kink.at[k - e->n].name) != 0)
            continue;
        l->pushed = name, l->until = n, l->event = 0;
        memset(l->split, 1, (size_t)rates_of(l->r)); /* it has no modes that would tell */
    }
}

/* Event k has been moved off its switch, and at y the motion has left the rest: do the rates of its
 * two modes differ for the velocity of the motion? An event that reads velocities does not count:
 * it is passed while they are still zero. */
static int parts_leaving(look *l, int k, const cst_state *y)
{
    cst_tangent *t = l->leaving;
    memcpy(t->xd, l->r->s->xd, sizeof(double) * (size_t)l->r->m->nx);
    if (cst_event_forward(l->r->events, k, t->x, t->xd, t->z, 0, t->val) != 0) return 0;
    memcpy(t->u, y->u, sizeof(double) * (size_t)l->r->m->nu);
    both_are(l, y);
    set_modes(l, k, 0, 1);
    return splits(l, t, 0);
}

static void visit(void *ctx, long n)
{
    look *l = ctx;
    cst_run *r = l->r;
    cst_events *e = r->events;
    const cst_state y = cst_run_state(r, n);
    if (n > 0 && *y.h == 0) return; /* the same instant again */
    cst_direction_at(r, l->dir->t, &y, y.mem);
    cst_rest_errors(r);
    int any = find_moved(l), split = any && l->modes ? modes_split(l, &y) : any;
    for (int k = 0; k < e->n && l->modes; k++) {
        const int left = l->off[k] && fabs(e->value[k]) > CST_NEAR_KINK;
        if (left && (l->modes > 1 || !l->pushed) && parts_leaving(l, k, &y)) push(l, k, n, *y.t);
        l->off[k] = !left && (l->off[k] || l->moved[k]);
    }
    for (int k = 0; k < e->n && !split; k++) l->moved[k] = 0;
    for (int k = 0; k < e->n + e->nkink; k++) {
        if (l->moved[k] && l->left[k]) push(l, k, n, *y.t);
        l->left[k] = l->moved[k];
    }
    if (l->pushed && l->modes == 1) l->dir->states = n + 1; /* enough is known */
}

static void look_new(look *l, cst_arena *a, cst_run *r, cst_direction *dir, int modes,
                     unsigned char *split)
{
    const cst_model *m = r->m;
    *l = (look){.r = r, .dir = dir, .modes = modes, .split = split};
    if (modes) {
        l->aside = cst_directions_new(a, r, r->w, 1);
        for (int i = 0; i < 2; i++)
            l->side[i] = cst_state_view(m, cst_new(a, double, cst_state_size(m)));
        l->rates = cst_new(a, double, 2 * rates_of(r) + 1);
        l->values = cst_new(a, double, 2 * rates_of(r) + 1),
        l->beside = cst_new(a, double, 2 * rates_of(r) + 1);
        l->off = cst_new(a, unsigned char, r->events->n + 1);
        l->leaving = cst_directions_new(a, r, r->w, 1)->t;
    }
    l->move = cst_new(a, unsigned char, r->events->tape->nreg + 1);
    l->most = cst_new(a, double, r->events->n + r->events->nkink + 1);
    l->moved = cst_new(a, unsigned char, r->events->n + r->events->nkink + 1);
    l->left = cst_new(a, unsigned char, r->events->n + r->events->nkink + 1);
    dir->visit = visit, dir->ctx = l;
}

/* Number i by itself, up to state `until`: what it moves */
static cst_status ask_alone(cst_run *r, cst_arena *a, int i, double size, long until,
                            cst_moved_rest *by)
{
    cst_arena *b = cst_arena_child(a);
    double *weight = cst_new(b, double, cst_graph_leaves(r->m->graph) + 1);
    look l;
    look_new(&l, b, r, cst_directions_new(b, r, r->w, 1), 1, by->split);
    weight[i] = size, l.dir->states = until + 1;
    cst_status ok = cst_directions_along(r, b, 1, weight, l.dir);
    by->element = l.pushed;
    cst_arena_free(b);
    return ok;
}

/* n numbers side by side, and those that move events one by one */
static cst_status ask_each(cst_run *r, cst_arena *a, const double *size, int n, const int *number,
                           long until, cst_moved_rest *by)
{
    const size_t nleaf = (size_t)cst_graph_leaves(r->m->graph);
    const int together = n < CST_TOGETHER ? n : CST_TOGETHER;
    cst_status ok = CST_OK;
    for (int first = 0; first < n && ok == CST_OK; first += together) {
        cst_arena *b = cst_arena_child(a);
        const int ndir = n - first < together ? n - first : together, *these = number + first;
        cst_direction *dir = cst_directions_new(b, r, r->w, ndir);
        look *l = cst_new(b, look, ndir + 1);
        double *weight = cst_new(b, double, (size_t)ndir *nleaf + 1);
        for (int k = 0; k < ndir; k++) {
            look_new(&l[k], b, r, &dir[k], 0, by[these[k]].split);
            weight[(size_t)k * nleaf + (size_t)these[k]] = size[these[k]],
                                       dir[k].states = until + 1;
        }
        ok = cst_directions_along(r, b, ndir, weight, dir);
        for (int k = 0; k < ndir && ok == CST_OK; k++) {
            by[these[k]].element = l[k].pushed;
            if (l[k].pushed && l[k].event)
                ok = ask_alone(r, b, these[k], size[these[k]], until, &by[these[k]]);
        }
        cst_arena_free(b);
    }
    return ok;
}

static cst_status ask(cst_run *r, cst_arena *a, const unsigned char *fixed, int n,
                      const int *number, cst_moved_rest *by)
{
    const double *size = cst_random_weights(r, a, fixed);
    look l;
    look_new(&l, a, r, cst_directions_new(a, r, r->w, 1), 2,
             cst_new(a, unsigned char, rates_of(r) + 1));
    cst_status ok = cst_directions_along(r, a, 1, size, l.dir);
    return ok == CST_OK && l.pushed && n ? ask_each(r, a, size, n, number, l.until, by) : ok;
}

cst_status cst_find_resting(cst_run *r, const unsigned char *fixed, int n, const int *number,
                            cst_moved_rest *by, cst_diag *d)
{
    const cst_model *m = r->m;
    cst_events *e = r->events;
    cst_arena a = {0};
    for (int i = 0; i < cst_graph_leaves(m->graph); i++) by[i].element = NULL;
    memset(by[0].split, 0, (size_t)cst_graph_leaves(m->graph) * (size_t)rates_of(r));
    if (!(e->resting.n || e->staying.n) || !r->w->rule->adjoint) return CST_OK;
    if (CST_ARENA_GUARD(&a)) {
        cst_arena_free(&a);
        return cst_error(d, CST_MEMORY, (cst_where){.file = m->file}, "out of memory");
    }
    const cst_status ok = ask(r, &a, fixed, n, number, by);
    cst_arena_free(&a);
    e->resting.n = e->staying.n = 0; /* the numbers are refused instead */
    if (ok == CST_OK) return CST_OK;
    return cst_error(
        d, ok, (cst_where){.file = m->file},
        "a step has no tangent: its matrix is singular, or it is too long for the rule");
}
