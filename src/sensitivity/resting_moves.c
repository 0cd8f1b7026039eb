/* SPDX-License-Identifier: MIT
 *
 * Forces that rest on a kink of their law, as the damper max(c1 v, c2 v) of a vehicle that stands, or on a switch: which side a slope
 * belongs to matters only to numbers that move the law off it. Where no number does, as from an equilibrium that stays one, nothing is
 * one-sided. A law that moves at both ends of a step is asked for: at the instant at which something else sets in there may be any slope.
 * Asked of one direction of all numbers with random weights: one tangent sweep, for runs in which a law rests at all. */
#include "sensitivity/gradient.h"

#include <math.h>
#include <string.h>

#define STILL 1e-9 /* of what changes of the coordinates could do to it within a step: rounding */

typedef struct look {
    cst_run *r;
    cst_direction *dir;
    double *x, *xd, *z, *val; /* bars of a kink: slots, slots, states of forces, graph values */
    unsigned char *left;      /* (events and kinks) the state before was on it, and moved */
} look;

static double sum_abs(int n, const double *x)
{
    double y = 0;
    for (int i = 0; i < n; i++) y += fabs(x[i]);
    return y;
}

/* The change of value k of the events and kinks at the last state evaluated, against the largest that rounding of the coordinates' changes
 * could make */
static int leaves(look *l, int k)
{
    cst_run *r = l->r;
    const cst_model *m = r->m;
    const cst_tangent *t = l->dir->t;
    double time = 0, x = cst_largest(m->nx, t->x), xd = cst_largest(m->nx, t->xd);
    memset(l->x, 0, sizeof *l->x * (size_t)m->nx), memset(l->xd, 0, sizeof *l->xd * (size_t)m->nx);
    memset(l->z, 0, sizeof *l->z * (size_t)m->nz), memset(l->val, 0, sizeof *l->val * (size_t)cst_graph_values(m->graph));
    cst_event_reverse(r->events, k, 1, l->x, l->xd, l->z, &time, l->val);
    double most = x * sum_abs(m->nx, l->x) + (xd + x / r->options.step) * sum_abs(m->nx, l->xd);
    for (int i = 0; i < m->nz; i++) most += fabs(l->z[i] * t->z[i]);
    for (int i = 0; i < cst_graph_values(m->graph); i++) most += fabs(l->val[i] * l->dir->val[i]);
    return fabs(cst_event_forward(r->events, k, t->x, t->xd, t->z, t->t, t->val)) > STILL * most;
}

/* Value k has moved off zero for a step, up to time t. */
static void push(cst_run *r, int k, double t)
{
    cst_events *e = r->events;
    const int forces = r->m->force.n;
    if (k < e->n) {
        e->pushed[forces + k] |= e->staying.when[k] <= t;
        return;
    }
    for (int i = 0; i < forces; i++)
        e->pushed[i] |= e->resting.when[i] <= t && strcmp(r->m->force.at[i].name, r->m->kink.at[k - e->n].name) == 0;
}

static void visit(void *ctx, long n)
{
    look *l = ctx;
    cst_run *r = l->r;
    cst_events *e = r->events;
    const cst_state y = cst_run_state(r, n);
    int asked = 0;
    for (int k = 0; k < e->n + e->nkink; k++) {
        if (!e->judged[k]) continue;
        if (!asked) cst_direction_at(r, l->dir->t, &y, y.mem), asked = 1;
        int left = fabs(e->value[k]) <= CST_NEAR_KINK && leaves(l, k);
        if (left && l->left[k]) push(r, k, *y.t);
        l->left[k] = (unsigned char)left;
    }
}

/* Those that nothing moves are forgotten. */
static void keep_pushed(cst_notice *x, int n, const unsigned char *pushed)
{
    x->n = 0;
    for (int i = 0; i < n; i++) {
        if (!pushed[i]) x->when[i] = NAN;
        x->n += !isnan(x->when[i]);
    }
}

static cst_status ask(cst_run *r, cst_arena *a, const unsigned char *fixed)
{
    const cst_model *m = r->m;
    look l = {r, cst_directions_new(a, r, r->w, 1), cst_new(a, double, m->nx + 1), cst_new(a, double, m->nx + 1),
              cst_new(a, double, m->nz + 1), cst_new(a, double, cst_graph_values(m->graph) + 1),
              cst_new(a, unsigned char, r->events->n + r->events->nkink + 1)};
    l.dir->visit = visit, l.dir->ctx = &l;
    return cst_direction_along(r, a, cst_random_weights(r, a, fixed), l.dir);
}

cst_status cst_find_resting(cst_run *r, const unsigned char *fixed, cst_diag *d)
{
    const cst_model *m = r->m;
    cst_events *e = r->events;
    cst_arena a = {0};
    if (!(e->resting.n || e->staying.n) || !r->w->rule->adjoint) return CST_OK;
    if (CST_ARENA_GUARD(&a)) {
        cst_arena_free(&a);
        return cst_error(d, CST_MEMORY, (cst_where){.file = m->file}, "out of memory");
    }
    const cst_status ok = r->doubted ? CST_OK : ask(r, &a, fixed); /* it may have been asked before */
    cst_arena_free(&a);
    keep_pushed(&e->resting, m->force.n, e->pushed), keep_pushed(&e->staying, e->n, e->pushed + m->force.n);
    if (ok == CST_OK) return CST_OK;
    return cst_error(d, ok, (cst_where){.file = m->file}, "a step has no tangent: its matrix is singular, or it is too long for the rule");
}
