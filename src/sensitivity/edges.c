/* SPDX-License-Identifier: MIT
 *
 * Events exactly at the start of a run.
 *
 * An event with g = 0 at the start and g' != 0 has the mode of the side that the motion goes to.
 * With g(0) moved by dg to the other side it would come at -dg/g', and until then the rates of the
 * state would be f_, with the other mode, instead of f:
 *
 *     slope of psi to that side - slope to this one  =  -(psi_bar . (f_ - f)) g_p / g'
 *
 * Numbers with g_p != 0 have no derivative where psi_bar sees the jump. All others leave the event
 * where it is. The same holds where g starts at rest, or rests at zero: there are two other sides
 * then.
 *
 * Where g starts at rest and grows with t^2, the event comes at tau = sqrt(2 dg/g''). Rates f_ - f
 * = r t until then, as those of a stop with a damper that is pressed into, add up to r tau^2/2 = r
 * dg/g'': that is of the order of dg, too.
 *
 * What rests on a switch or kink stays on the side to which it is moved, at the start or later: see
 * resting_moves.c.
 *
 * What an objective reads at the first state, as an acceleration, may jump with such an event
 * itself. */
#include "sensitivity/edges.h"
#include "sensitivity/asked.h"
#include "sensitivity/brink.h"

#include "integrator/observe.h"
#include "integrator/switching.h"

#include <math.h>
#include <string.h>

#define ROUNDING 1e-9 /* of what is subtracted */
#define JUMPED 1e-9   /* of a value of an event */
#define STILL 1e-12   /* of the largest slope of g */
#define LATER 1e-2    /* of a step */
#define LATE 1e-2     /* of g: what its rate would make of it */

/* Other events whose values jump with the mode of k, such as those that read mod(t, T), take the
 * modes of their new sides. */
static void follow(cst_run *r, const cst_state *y, int k, double *mem)
{
    cst_events *e = r->events;
    double *old = e->older;
    if (!e->nested) return;
    cst_events_eval(e, r->s, *y->t, y->q, y->u, y->z, y->mem);
    memcpy(old, e->value, sizeof *old * (size_t)e->n);
    for (int again = 1, times = 0; again && times < e->n; times++) {
        again = 0;
        cst_events_eval(e, r->s, *y->t, y->q, y->u, y->z, mem);
        for (int j = 0; j < e->n && !again; j++) {
            double *mode = &mem[r->m->event.at[j].memory];
            const int jumped =
                fabs(e->value[j] - old[j]) > JUMPED * (fabs(e->value[j]) + fabs(old[j]));
            if (j != k && jumped && (e->value[j] > 0) != (*mode > 0.5))
                *mode = e->value[j] > 0, again = 1;
        }
    }
}

int cst_edge_mode(cst_run *r, const cst_state *y, int k, double side, cst_state *other)
{
    cst_diag quiet = {0};
    memcpy(other->t, y->t, sizeof(double) * cst_state_size(r->m));
    double *mode = &other->mem[r->m->event.at[k].memory];
    if (*mode == side) return 0;
    *mode = side, *other->h = 0; /* its rates are not those of a step */
    follow(r, y, k, other->mem);
    cst_motion_forget(r->w); /* factors of a state that is not taken */
    int follows = !r->events->of_drive[k] || cst_motion_impact(r->w, other) == CST_OK;
    int ok = follows && cst_motion_derive(r->w, other, &quiet) == CST_OK;
    cst_motion_forget(r->w);
    return ok;
}

static void jump(int n, const double *bar, const double *f, const double *f_, double *sum,
                 double *size)
{
    for (int i = 0; i < n; i++)
        *sum += bar[i] * (f_[i] - f[i]), *size += fabs(bar[i]) * (fabs(f_[i]) + fabs(f[i]));
}

/* |psi_bar . (f_ - f)|. Accelerations that jump with a drive are left out: velocities follow the
 * drive, and may jump themselves. */
static double seen(const cst_run *r, const cst_adjoint *ad, int column, int k, const cst_state *y,
                   const cst_state *other)
{
    const cst_model *m = r->m;
    const size_t o = (size_t)column;
    double sum = 0, size = 0;
    cst_T(r->s, y->q, y->u, r->events->v), cst_T(r->s, y->q, other->u, r->events->a);
    jump(m->nq, ad->q + o * (size_t)m->nq, r->events->v, r->events->a, &sum, &size);
    if (!r->events->of_drive[k])
        jump(m->nu, ad->u + o * (size_t)m->nu, y->ud, other->ud, &sum, &size);
    jump(m->nz, ad->z + o * (size_t)m->nz, y->zd, other->zd, &sum, &size);
    jump(m->quad.n, ad->quad + o * (size_t)m->quad.n, y->qd, other->qd, &sum, &size);
    return fabs(sum) > ROUNDING * size ? fabs(sum) : 0;
}

int cst_edge_any(const cst_run *r)
{
    const cst_events *e = r->events;
    int any = 0;
    for (int k = 0; k < e->n && r->events_mode == CST_EVENTS_EXACT; k++) any |= e->begins[k];
    return any;
}

int cst_edge_jumps(cst_run *r, long n, const double *fbar, const cst_state *y,
                   const cst_state *other, double *value)
{
    const int functionals = r->m->functional.n;
    int jumps = 0;
    cst_observe_outputs(r, y);
    for (int i = 0; i < functionals; i++)
        value[i] = cst_output_value(r->out, r->out->functional + i);
    cst_observe_outputs(r, other);
    for (int i = 0; i < functionals; i++) {
        if (fbar[i] == 0 || cst_functional_share(r, i, n, r->traj->n - 1) == 0) continue;
        jumps |= cst_functional_jumps(&r->functional[i], value[i],
                                      cst_output_value(r->out, r->out->functional + i));
    }
    return jumps;
}

/* ---- all of them ---- */

typedef struct edge {
    cst_run *r;
    const cst_adjoint *ad; /* bars of the first state */
    const double *fbar;
    cst_adjoint *g; /* bars of g */
    cst_state y, other, later;
    double *value, *xi; /* (functionals), (tangents) */
} edge;

static int reads_split(int n, const double *bar, const unsigned char *split)
{
    const double most = cst_largest(n, bar);
    int any = 0;
    for (int i = 0; i < n; i++) any |= split[i] && fabs(bar[i]) > STILL * most;
    return any;
}

/* Does objective o see rates that have two sides because a law rests on a switch? */
static int sees_rest(const edge *d, int o, const unsigned char *split)
{
    const cst_model *m = d->r->m;
    const size_t c = (size_t)o;
    return reads_split(m->nu, d->ad->u + c * (size_t)m->nu, split) ||
           reads_split(m->nz, d->ad->z + c * (size_t)m->nz, split + m->nu) ||
           reads_split(m->quad.n, d->ad->quad + c * (size_t)m->quad.n, split + m->nu + m->nz);
}

/* g->val: slopes of g by all graph values, through the start; the largest by a leaf. 0: g cannot
 * move */
static double slopes(edge *d, cst_start_derivative *sd, const cst_start_at *at)
{
    const cst_model *m = d->r->m;
    cst_adjoint *g = d->g;
    double largest = 0;
    if (cst_start_adjoint(sd, at, g->q, g->u, g->z, g->P) != CST_OK) return 0;
    for (int i = 0; i < m->bound.n; i++) g->val[m->bound.at[i]] += g->P[i];
    cst_graph_reverse(m->graph, d->r->s->val, g->val);
    for (int i = 0; i < cst_graph_leaves(m->graph); i++)
        largest = fmax(largest, fabs(g->val[cst_leaf_id(m->graph, i)]));
    return largest;
}

/* All leaves that move g */
static void mark(const edge *d, double largest, const char *name, cst_brink *brink)
{
    const cst_graph *g = d->r->m->graph;
    for (int i = 0; i < cst_graph_leaves(g); i++)
        if (fabs(d->g->val[cst_leaf_id(g, i)]) > STILL * largest) brink[i].element = name;
}

/* For an event k that starts at rest: |psi_bar . (f_ - f)| on the other side of its switch,
 * half-way through a delay dt of the event. 0: there is no effect, or the law does not stay on that
 * side so long */
static double seen_late(edge *d, int o, int k, double dt, double *grown)
{
    cst_run *r = d->r;
    const cst_model *m = r->m;
    cst_events *e = r->events;
    const cst_state *y = &d->later;
    double square = 0;
    *grown = 0;
    if (!cst_edge_later(r, &d->y, dt, d->xi, &d->later)) return 0;
    const double rate = fabs(cst_run_event_rate(r, &d->y, k));
    cst_events_eval(e, r->s, *y->t, y->q, y->u, y->z, y->mem);
    const double g = *grown = e->value[k];
    if (rate * dt > LATE * fabs(g)) return 0; /* it does not start at rest */
    memset(d->xi, 0, sizeof *d->xi * (size_t)m->nu);
    for (int i = 0; i < m->body.n; i++) {
        const cst_body *b = &m->body.at[i];
        b->cls->Tt(y->q + b->q0, d->g->q + b->q0, d->xi + b->u0);
    }
    for (int i = 0; i < m->nu; i++) square += d->xi[i] * d->xi[i];
    if (square == 0) return 0;
    for (int i = 0; i < m->nu; i++)
        d->xi[i] *= -4 * g / square; /* at half the time g has grown by a quarter of dg */
    cst_move(r->s, y->q, d->xi, d->later.q);
    const double side = g > 0 ? 0 : 1; /* the other one */
    d->later.mem[m->event.at[k].memory] = 1 - side;
    if (!cst_edge_mode(r, &d->later, k, side, &d->other)) return 0;
    cst_events_eval(e, r->s, *y->t, d->other.q, d->other.u, d->other.z, d->other.mem);
    if ((e->value[k] > 0) != (side > 0.5)) return 0;
    if (!cst_edge_mode(r, &d->other, k, 1 - side, &d->later)) return 0;
    return seen(r, d->ad, o, k, &d->later, &d->other);
}

/* Does objective o see that event k, on its switch at the start, could be on either side of it? */
static int sees_event(edge *d, int o, int k)
{
    cst_run *r = d->r;
    const double *fbar = d->fbar + o * r->m->functional.n;
    for (int side = 0; side < 2; side++) {
        if (!cst_edge_mode(r, &d->y, k, side, &d->other)) continue;
        if (seen(r, d->ad, o, k, &d->y, &d->other) > 0 ||
            cst_edge_jumps(r, 0, fbar, &d->y, &d->other, d->value))
            return 1;
    }
    double dt = LATER * r->options.step, g[2], narrow = seen_late(d, o, k, dt / 4, &g[0]);
    if (narrow == 0) return 0;
    double wide = seen_late(d, o, k, dt, &g[1]);
    return narrow > wide / 8 && fabs(g[1]) > 8 * fabs(g[0]); /* it grows with t^2 */
}

void cst_edges_at_start(cst_run *r, cst_arena *a, const cst_adjoint *ad, cst_start_derivative *sd,
                        const cst_start_at *at, const double *fbar, cst_brink *brink)
{
    const cst_model *m = r->m;
    const size_t nleaf = (size_t)cst_graph_leaves(m->graph);
    const cst_events *e = r->events;
    unsigned char *seen = cst_new(a, unsigned char, ad->n + 1);
    edge d = {.r = r,
              .ad = ad,
              .fbar = fbar,
              .g = cst_adjoint_new(a, ad->w, 1),
              .value = cst_new(a, double, m->functional.n + 1)};
    d.xi = cst_new(a, double, m->nu + 1),
    d.later = cst_state_view(m, cst_new(a, double, cst_state_size(m)));
    d.other = cst_state_view(m, cst_new(a, double, cst_state_size(m))),
    d.y = cst_state_view(m, cst_new(a, double, cst_state_size(m)));
    memcpy(d.y.t, cst_run_state(r, 0).t, sizeof(double) * cst_state_size(m));
    for (int k = 0; k < e->n && r->events_mode == CST_EVENTS_EXACT; k++) {
        if (!e->begins[k]) continue;
        cst_event_bars(r, d.g, k, &d.y, &d.y);
        for (int o = 0; o < ad->n; o++) seen[o] = (unsigned char)sees_event(&d, o, k);
        double largest = slopes(&d, sd, at);
        for (int o = 0; largest > 0 && o < ad->n; o++)
            if (seen[o])
                mark(&d, largest, m->event.at[k].name,
                     brink + (size_t)cst_objective_of(r, o) * nleaf);
    }
    for (int o = 0; o < ad->n; o++)
        for (size_t i = 0; i < nleaf; i++) {
            cst_brink *b = &brink[(size_t)cst_objective_of(r, o) * nleaf + i];
            if (b->rests && !sees_rest(&d, o, b->rests->split)) b->rests = NULL;
        }
}
