/* SPDX-License-Identifier: MIT
 *
 * Forces that rest on a kink of their law, as the damper max(c1 v, c2 v) of a vehicle that stands, or on a switch: which side a slope
 * belongs to matters only to numbers that move the law off it. Where no number does, as from an equilibrium that stays one, nothing is
 * one-sided. A law must move at both ends of a step: at the instant at which something else sets in there may be any slope. Asked of one
 * direction of all numbers with random weights first, one tangent sweep for runs in which a law rests at all; then of each number. */
#include "sensitivity/edges.h"

#include "integrator/switching.h"

#include <math.h>
#include <string.h>

#define STILL 1e-9 /* of what changes of the coordinates could do to it within a step: rounding; */
#define ROUNDING 1e-13 /* of coordinates, in differences over a step */
#define BEYOND 1e3 /* times its own rounding, with which a number by its size should move it */

typedef struct look {
    cst_run *r;
    cst_direction *dir;
    double *x, *xd, *z, *val; /* bars of a kink: slots, slots, states of forces, graph values */
    cst_direction *aside;     /* the same with other modes */
    cst_state other[2];
    double *rates;            /* (u, z, integrals) of one of them */
    unsigned char *left;      /* (events and kinks) the state before was on it, and moved */
    const char *pushed;       /* one that has moved for a step; NULL: none */
    long until;               /* the last state at which one did */
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
    most = fmax(STILL * most, BEYOND * r->events->err[r->events->tape->out[k]]);
    return fabs(cst_event_forward(r->events, k, t->x, t->xd, t->z, t->t, t->val)) > most;
}

static void rates_of(const cst_model *m, const cst_tangent *t, double *f)
{
    memcpy(f, t->ud, sizeof *f * (size_t)m->nu), memcpy(f + m->nu, t->zd, sizeof *f * (size_t)m->nz);
    memcpy(f + m->nu + m->nz, t->qd, sizeof *f * (size_t)m->quad.n);
}

/* Do the rates at y change differently with the two modes of event k? Not by a bound that lies where the law has none, as 0 in
 * if(v >= 0, c1, c2) v. */
static int splits(look *l, int k, const cst_state *y)
{
    cst_run *r = l->r;
    const cst_model *m = r->m;
    const cst_tangent *from = l->dir->t;
    cst_tangent *t = l->aside->t;
    int apart = 0;
    double most = ROUNDING / STILL * cst_largest(m->nq, from->q) / (r->options.step * r->options.step);
    const int n = m->nu + m->nz + m->quad.n;
    for (int side = 0; side < 2; side++) {
        cst_state *at = &l->other[side];
        if (!cst_edge_mode(r, y, k, side, at)) memcpy(at->t, y->t, sizeof(double) * cst_state_size(m));
        memcpy(t->q, from->q, sizeof(double) * (size_t)m->nq), memcpy(t->u, from->u, sizeof(double) * (size_t)m->nu);
        memcpy(t->z, from->z, sizeof(double) * (size_t)m->nz), memcpy(t->quad, from->quad, sizeof(double) * (size_t)m->quad.n);
        t->P = from->P, t->val = from->val, t->t = from->t, t->h = 0;
        cst_motion_forget(r->w);
        if (cst_tangent_derive(t, at, 1) != CST_OK) return 1; /* nothing is known */
        rates_of(m, t, l->rates + side * n);
    }
    cst_motion_forget(r->w);
    for (int i = 0; i < n; i++) most = fmax(most, fmax(fabs(l->rates[i]), fabs(l->rates[n + i])));
    for (int i = 0; i < n; i++) {
        int two = fabs(l->rates[i] - l->rates[n + i]) > STILL * most;
        apart |= two, r->events->split[i] |= (unsigned char)two;
    }
    return apart;
}

/* Value k has moved off zero for a step, up to state n. */
static void push(look *l, int k, long n, double t)
{
    const cst_model *m = l->r->m;
    cst_events *e = l->r->events;
    if (k < e->n && e->staying.when[k] <= t) l->pushed = m->event.at[k].name, l->until = n;
    for (int i = 0; k >= e->n && i < m->force.n; i++) {
        const char *name = m->force.at[i].name;
        if (e->resting.when[i] > t || isnan(e->resting.when[i]) || strcmp(name, m->kink.at[k - e->n].name) != 0) continue;
        l->pushed = name, l->until = n;
        memset(e->split, 1, (size_t)(m->nu + m->nz + m->quad.n)); /* it has no modes that would tell */
    }
}

static void visit(void *ctx, long n)
{
    look *l = ctx;
    cst_run *r = l->r;
    cst_events *e = r->events;
    const cst_state y = cst_run_state(r, n);
    int asked = 0;
    if (n > 0 && *y.h == 0) return; /* the same instant again */
    for (int k = 0; k < e->n + e->nkink; k++) {
        if (!e->judged[k]) continue;
        if (!asked) cst_direction_at(r, l->dir->t, &y, y.mem), cst_rest_errors(r), asked = 1;
        int left = fabs(e->value[k]) <= CST_NEAR_KINK && leaves(l, k);
        if (left && k < e->n && (left = splits(l, k, &y))) cst_direction_at(r, l->dir->t, &y, y.mem); /* it was elsewhere */
        if (left && l->left[k]) push(l, k, n, *y.t);
        l->left[k] = (unsigned char)left;
    }
}

static void look_new(look *l, cst_arena *a, cst_run *r)
{
    const cst_model *m = r->m;
    *l = (look){.r = r, .dir = cst_directions_new(a, r, r->w, 1), .aside = cst_directions_new(a, r, r->w, 1)};
    l->x = cst_new(a, double, m->nx + 1), l->xd = cst_new(a, double, m->nx + 1), l->z = cst_new(a, double, m->nz + 1);
    l->val = cst_new(a, double, cst_graph_values(m->graph) + 1), l->rates = cst_new(a, double, 2 * (m->nu + m->nz + m->quad.n) + 1);
    for (int i = 0; i < 2; i++) l->other[i] = cst_state_view(m, cst_new(a, double, cst_state_size(m)));
    l->left = cst_new(a, unsigned char, r->events->n + r->events->nkink + 1);
    l->dir->visit = visit, l->dir->ctx = l;
}

static cst_status ask(cst_run *r, cst_arena *a, const unsigned char *fixed, int n, const int *number, const char **by)
{
    const int nleaf = cst_graph_leaves(r->m->graph);
    double *weight = cst_random_weights(r, a, fixed), *one = cst_new(a, double, nleaf + 1);
    look l;
    look_new(&l, a, r);
    cst_status ok = cst_directions_along(r, a, 1, weight, l.dir);
    l.dir->states = l.until + 1;
    for (int i = 0, any = l.pushed != NULL; i < n && any && ok == CST_OK; i++) {
        memset(one, 0, sizeof *one * (size_t)nleaf), memset(l.left, 0, (size_t)(r->events->n + r->events->nkink));
        one[number[i]] = weight[number[i]], l.pushed = NULL;
        ok = cst_directions_along(r, a, 1, one, l.dir);
        by[number[i]] = l.pushed;
    }
    return ok;
}

cst_status cst_find_resting(cst_run *r, const unsigned char *fixed, int n, const int *number, const char **by, cst_diag *d)
{
    const cst_model *m = r->m;
    cst_events *e = r->events;
    cst_arena a = {0};
    memset(by, 0, sizeof *by * (size_t)cst_graph_leaves(m->graph));
    if (!(e->resting.n || e->staying.n) || !r->w->rule->adjoint) return CST_OK;
    if (CST_ARENA_GUARD(&a)) {
        cst_arena_free(&a);
        return cst_error(d, CST_MEMORY, (cst_where){.file = m->file}, "out of memory");
    }
    memset(e->split, 0, (size_t)(m->nu + m->nz + m->quad.n));
    const cst_status ok = ask(r, &a, fixed, n, number, by);
    cst_arena_free(&a);
    e->resting.n = e->staying.n = 0; /* it is told by number */
    if (ok == CST_OK) return CST_OK;
    return cst_error(d, ok, (cst_where){.file = m->file}, "a step has no tangent: its matrix is singular, or it is too long for the rule");
}
