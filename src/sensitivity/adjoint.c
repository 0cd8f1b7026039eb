/* SPDX-License-Identifier: MIT
 *
 * One backward sweep for all objectives. */
#include <math.h>
#include <string.h>

#include "base/ahead.h"
#include "sensitivity/asked.h"
#include "sensitivity/brink.h"
#include "sensitivity/direction.h"
#include "sensitivity/edges.h"
#include "sensitivity/instant.h"
#include "sensitivity/lone.h"
#include "sensitivity/methods.h"

void cst_objective_reverse(cst_run *r, int objective, double *bar, double *val)
{
    const cst_tape *t = r->objective;
    double *b = r->objective_bar;
    memset(b, 0, sizeof *b * (size_t)t->nreg);
    b[t->out[objective]] = 1;
    cst_tape_reverse(t, r->objective_reg, b);
    for (int i = 0; i < r->m->functional.n; i++) bar[i] = 0;
    for (int i = 0; i < t->nchannel; i++) bar[t->channel[i].index] += b[i];
    for (int i = 0; i < t->nnumber; i++) val[t->number[i]] += b[t->nchannel + i];
    for (int i = 0; i < r->m->functional.n; i++) { /* the time of at(x, time) may be a number */
        const cst_functional *f = &r->m->functional.at[i];
        if (bar[i] != 0 && f->kind == CST_AT && f->time >= 0)
            val[f->time] += bar[i] * r->functional[i].slope;
    }
}

double cst_objective_scale(cst_run *r, int objective)
{
    double scale = 0;
    cst_objective_reverse(r, objective, r->functional_bar, r->value_bar);
    for (int i = 0; i < r->m->functional.n; i++) {
        double part = fabs(r->functional_bar[i]) * r->functional[i].largest;
        if (isfinite(part)) scale += part;
    }
    return scale;
}

double cst_functional_share(const cst_run *r, int i, long n, long last)
{
    const cst_functional_state *f = &r->functional[i];
    switch (r->m->functional.at[i].kind) {
    case CST_START:
        return n == 0;
    case CST_END:
        return n == last;
    case CST_PEAK:
        return n == f->state;
    case CST_AT:
        return n == f->state ? f->weight : n == f->state - 1 ? 1 - f->weight : 0;
    }
    return 0;
}

void cst_functionals_seed(cst_run *r, cst_adjoint *ad, const double *fbar, long n, cst_read which)
{
    const cst_model *m = r->m;
    int nout = r->out->tape->nout;
    for (int i = 0; i < m->functional.n; i++) {
        double s = cst_reads(which, m->functional.at[i].kind)
                       ? cst_functional_share(r, i, n, r->traj->n - 1)
                       : 0;
        for (int o = 0; s != 0 && o < ad->n; o++) {
            double bar = s * fbar[o * m->functional.n + i];
            ad->seed[(size_t)o * (size_t)nout + (size_t)(r->out->functional + i)] += bar;
            if (m->functional.at[i].kind == CST_AT)
                ad->t[o] -= bar * r->functional[i].slope; /* its instant stays */
        }
    }
}

/* See integrator/samples.h. */
static void seed_samples(const cst_samples *s, cst_adjoint *ad, long n)
{
    int first, end;
    cst_samples_range(s, n, &first, &end);
    for (int i = first; i < end; i++) {
        double bar = cst_samples_share(s, i, n) * s->bar[i];
        ad->seed[s->at[i].measure] += bar;
        ad->t[0] -= bar * s->slope[i];
    }
}

/* ---- events ---- */

void cst_event_bars(cst_run *r, cst_adjoint *ev, int k, const cst_state *y0, const cst_state *y1)
{
    const cst_model *m = r->m;
    cst_system *s = r->s;
    cst_adjoint_clear(ev);
    memset(ev->x, 0, sizeof *ev->x * (size_t)m->nx),
        memset(ev->xd, 0, sizeof *ev->xd * (size_t)m->nx);
    memset(ev->v, 0, sizeof *ev->v * (size_t)m->nq);
    cst_events_eval(r->events, s, *y1->t, y1->q, y1->u, y1->z, y0->mem);
    cst_event_reverse(r->events, k, 1, ev->x, ev->xd, ev->z, ev->t, ev->val);
    const cst_pass_at at = {.q = y1->q, .v = r->events->v};
    const cst_adjoint_out out = {.x = ev->x, .xd = ev->xd, .q = ev->q, .v = ev->v, .P = ev->P};
    cst_adjoint_slots(ev->pass, &at, 1, NULL, NULL, &out);
    for (int i = 0; i < m->body.n; i++) { /* v = T(q) u */
        const cst_body *b = &m->body.at[i];
        b->cls->Lt(y1->u + b->u0, ev->v + b->q0, ev->q + b->q0);
        b->cls->Tt(y1->q + b->q0, ev->v + b->q0, ev->u + b->u0);
    }
}

static void add(int n, double c, const double *x, double *y)
{
    for (int i = 0; i < n; i++) y[i] += c * x[i];
}

static double dot(int n, int o, const double *bar, const double *x)
{
    double y = 0;
    for (int i = 0; i < n; i++) y += bar[(size_t)o * (size_t)n + (size_t)i] * x[i];
    return y;
}

/* ad->h: the bar of the length of a step of length zero, that is the bars times the rates of the
 * motion and, after another event at the same instant, times a share of the error e of the step
 * that ended there (instant.c); e NULL: there is none */
static void along_the_motion(cst_run *r, cst_adjoint *ad, const cst_state *y, double share,
                             const cst_tangent *e)
{
    const cst_model *m = r->m;
    double *v = r->events->v;
    cst_T(r->s, y->q, y->u, v);
    for (int o = 0; o < ad->n; o++) {
        ad->h[o] = dot(m->nq, o, ad->q, v) + dot(m->nu, o, ad->u, y->ud) +
                   dot(m->nz, o, ad->z, y->zd) + dot(m->quad.n, o, ad->quad, y->qd);
        if (e)
            ad->h[o] += share * (dot(m->nq, o, ad->q, e->q) + dot(m->nu, o, ad->u, e->u) +
                                 dot(m->nz, o, ad->z, e->z) + dot(m->quad.n, o, ad->quad, e->quad));
    }
}

/* If state n follows another event at the same instant: the error of the step that ended at the
 * first of them, computed with dir[0] and returned in dir[1]. NULL: there is no such step */
static const cst_tangent *error_before(cst_run *r, cst_direction *dir, long n)
{
    if (!dir) return NULL;
    cst_state y0, y1 = cst_run_state(r, n);
    if (!(*y1.tag >= 1 && *y1.h == 0)) return NULL;
    do {
        if (n-- == 0) return NULL;
        y1 = cst_run_state(r, n);
        if (*y1.tag >= 0 && *y1.tag < 1 && *y1.tag != CST_TAG_HOLD) return NULL;
    } while (!(*y1.tag >= 1 && *y1.h > 0));
    cst_run_pair(r, n, &y0, &y1);
    cst_tangent *t = dir[0].t;
    cst_rows_at(t->w, *y0.t);
    t->h = t->t = 0; /* its matrices first */
    if (cst_rule_of(r->w, *y1.h)->tangent(t, &y0, &y1, 1) != CST_OK ||
        cst_length_direction(r, t, &y0, &y1) != CST_OK)
        return NULL;
    return cst_length_error(r, t, &y0, &y1, dir[1].t) == CST_OK ? dir[1].t : NULL;
}

/* Held values are outputs of the state before. */
static void release(const cst_run *r, cst_adjoint *ad)
{
    const cst_model *m = r->m;
    size_t nout = (size_t)r->out->tape->nout;
    for (int o = 0; o < ad->n; o++)
        for (int i = 0; i < m->held.n; i++) {
            double *bar = &ad->z[(size_t)o * (size_t)m->nz + (size_t)m->held.at[i].z];
            ad->seed[(size_t)o * nout + (size_t)(r->out->held + i)] += *bar;
            *bar = 0;
        }
}

/* One step back. On the grid t1 is fixed: the length is t1 - t0. A step that ends at an event has
 * the length as an unknown and g = 0 as its equation: with theta times the bars of g added, the bar
 * of the length vanishes, and t0 carries the time along. The state behind several events of one
 * instant is moved to the mean of their times, each of which has its share. */
static cst_status step_back(cst_run *r, cst_adjoint *ad, cst_adjoint *ev, const cst_tangent *e,
                            const double *fbar, long n, int met, const cst_state *y0,
                            const cst_state *y1)
{
    const cst_model *m = r->m;
    int k = (int)*y1->tag - 1, moves = *y1->h > 0;
    if (*y1->tag <
        0) { /* a change of mode: the state is the same, but for velocities that follow a drive */
        if (ev && met) along_the_motion(r, ad, y1, 0, NULL);
        for (int o = 0; o < ad->n && ev && met; o++)
            ad->mean[o] = (ad->h[o] + ad->t[o]) / met, ad->t[o] = -ad->h[o];
        if (ev && cst_peaks_before_mean(r, n, met)) {
            cst_functionals_seed(r, ad, fbar, n, CST_READ_PEAKS);
            if (cst_adjoint_derive(ad, y1) != CST_OK) return CST_NUMERIC;
        }
        return r->events->drives ? cst_adjoint_impact(ad, y0, y1) : CST_OK;
    }
    if (*y1->tag == CST_TAG_HOLD) {
        release(r, ad);
        return CST_OK;
    }
    cst_status ok = moves ? cst_rule_of(r->w, *y1->h)->adjoint(ad, y0, y1) : CST_OK;
    if (ok != CST_OK || !ev) return ok;
    if (k < 0) {
        for (int o = 0; o < ad->n && *y1->tag != CST_TAG_FREE; o++) ad->t[o] = -ad->h[o];
        return CST_OK;
    }
    for (int o = 0; o < ad->n; o++) {
        ad->t[o] += ad->mean[o];
        if (moves || *y0->tag >= 0) ad->mean[o] = 0;
    }
    cst_event_bars(r, ev, k, y0, y1);
    ev->step = ad->step;
    if (!moves)
        along_the_motion(r, ad, y1, 0.5, e), along_the_motion(r, ev, y1, 1, e);
    else if ((ok = cst_rule_of(r->w, *y1->h)->adjoint(ev, y0, y1)) != CST_OK)
        return ok;
    double rate = ev->h[0] + ev->t[0]; /* dg/dh along the step */
    int nval = cst_graph_values(m->graph);
    for (int o = 0; o < ad->n; o++) {
        double theta = -(ad->h[o] + ad->t[o]) / rate;
        ad->t[o] += theta * ev->t[0];
        add(m->nq, theta, ev->q, ad->q + (size_t)o * (size_t)m->nq);
        add(m->nu, theta, ev->u, ad->u + (size_t)o * (size_t)m->nu);
        add(m->nu, theta, ev->ud, ad->ud + (size_t)o * (size_t)m->nu);
        add(m->nu, theta, ev->carried, ad->carried + (size_t)o * (size_t)m->nu);
        add(m->nz, theta, ev->z, ad->z + (size_t)o * (size_t)m->nz);
        add(m->nz, theta, ev->zd, ad->zd + (size_t)o * (size_t)m->nz);
        add(m->bound.n, theta, ev->P, ad->P + (size_t)o * (size_t)m->bound.n);
        add(nval, theta, ev->val, ad->val + (size_t)o * (size_t)nval);
    }
    return CST_OK;
}

/* ---- matrices made ahead by other threads ---- */

typedef struct matrices { /* of the steps; job k: those of step last - k */
    cst_run *r;
    cst_prepared *place[CST_AHEAD_PLACES];
} matrices;

static int make_matrices(void *ctx, long k, int place)
{
    const matrices *m = ctx;
    cst_prepared *step = m->place[place];
    cst_state y0, y1;
    cst_run_pair(m->r, m->r->traj->n - 1 - k, &y0, &y1);
    cst_rows_at(step->w, *y0.t);
    const cst_rule *rule = cst_rule_of(m->r->w, *y1.h);
    return rule->prepare(step, *y1.h > 0 ? &y0 : NULL, &y1) != CST_OK;
}

/* Allocates nothing: a failure would jump over threads that use the arena. dir: two directions, or
 * NULL without events */
static cst_status sweep_steps(cst_run *r, cst_direction *dir, cst_adjoint *ad, cst_adjoint *ev,
                              const double *fbar, cst_ahead *ahead)
{
    cst_prepared *own = ad->step;
    long last = r->traj->n - 1;
    for (long n = last; n >= 0; n--) {
        cst_state y0, y1;
        cst_status ok = CST_OK;
        const int made_ahead = ahead && n > 0;
        const cst_tangent *e = error_before(r, dir, n);
        const int met = cst_instant_events(r, n);
        if (n > 0)
            cst_run_pair(r, n, &y0, &y1);
        else
            y0 = y1 = cst_run_state(r, 0);
        cst_rows_at(r->w, *y0.t), cst_rows_at(own->w, *y0.t);
        if (made_ahead) {
            int place = cst_ahead_take(ahead, last - n);
            if (place < 0) return CST_NUMERIC;
            ad->step = ((matrices *)ahead->ctx)->place[place];
        } else {
            ad->step = own;
            ok = cst_rule_of(r->w, *y1.h)->prepare(own, n > 0 && *y1.h > 0 ? &y0 : NULL, &y1);
        }
        if (r->samples)
            seed_samples(r->samples, ad, n);
        else
            cst_functionals_seed(r, ad, fbar, n,
                                 ev && cst_peaks_before_mean(r, n, met) ? CST_READ_OTHERS
                                                                        : CST_READ_ALL);
        ad->beside = cst_lone_at(r, n);
        if (ok == CST_OK) ok = cst_adjoint_derive(ad, &y1);
        ad->beside = NULL;
        if (ok == CST_OK && n > 0) ok = step_back(r, ad, ev, e, fbar, n, met, &y0, &y1);
        if (ok != CST_OK) return ok;
        if (made_ahead) cst_ahead_give(ahead, last - n);
    }
    return CST_OK;
}

/* With checkpoints states are computed again in shared memory: the sweep then runs in one thread.
 */
static cst_status sweep(cst_run *r, cst_arena *a, cst_adjoint *ad, cst_adjoint *ev,
                        const double *fbar)
{
    int workers = r->options.threads - 1;
    cst_direction *dir = ev ? cst_directions_new(a, r, ad->step->w, 2) : NULL;
    if (workers > CST_AHEAD_THREADS) workers = CST_AHEAD_THREADS;
    if (workers < 1 || r->traj->every > 1 || r->traj->n < 20)
        return sweep_steps(r, dir, ad, ev, fbar, NULL);

    matrices *made = cst_new(a, matrices, 1);
    made->r = r;
    cst_ahead ahead = {.jobs = r->traj->n - 1,
                       .places = 2 * workers,
                       .make = make_matrices,
                       .ctx = made};
    for (int i = 0; i < ahead.places; i++) {
        cst_system *s = cst_system_new(a, r->m, r->s->leaf);
        cst_output *out =
            cst_output_new(a, r->m); /* rules with stages evaluate the integrals' rates */
        cst_output_bind(out, s);
        made->place[i] = cst_prepared_new(a, cst_motion_like(a, r->w, s, out));
    }

    int started = cst_ahead_start(&ahead, workers); /* 0: the system has no more threads */
    cst_status ok = sweep_steps(r, dir, ad, ev, fbar, started ? &ahead : NULL);
    cst_ahead_stop(&ahead);
    for (int i = 0; i < ahead.places; i++)
        ad->step->factorizations += made->place[i]->factorizations;
    return ok;
}

int cst_objective_of(const cst_run *r, int column)
{
    return r->nwanted && !r->samples ? r->wanted[column] : column;
}

/* The operations of numbers on whose kink the leaves stand, for the bars val of graph values by
 * objective o */
static void look_for_kinks(const cst_run *r, cst_arena *a, int o, const double *val,
                           cst_brink *brink)
{
    const cst_graph *g = r->m->graph;
    size_t n = (size_t)cst_graph_values(g);
    double *bar = cst_new(a, double, n + 1);
    memcpy(bar, val, sizeof *bar * n);
    cst_kinked *k = cst_kinked_new(a, g);
    cst_deciding(r, a, o, k->seen);
    cst_graph_kinked(g, r->s->val, bar, k);
    for (int i = 0; i < cst_graph_leaves(g); i++)
        if (k->op[i]) brink[i].op = k->op[i];
}

/* Keeps the bars of the first state, before they go back through the problems of the start */
static void keep_first(cst_run *r, const cst_adjoint *ad)
{
    const cst_model *m = r->m;
    const size_t nq = (size_t)m->nq, nu = (size_t)m->nu, nz = (size_t)m->nz;
    for (int o = 0; o < ad->n && r->first_bar; o++) {
        double *to = r->first_bar + (size_t)cst_objective_of(r, o) * (nq + nu + nz);
        memcpy(to, ad->q + (size_t)o * nq, sizeof *to * nq),
            memcpy(to + nq, ad->u + (size_t)o * nu, sizeof *to * nu);
        memcpy(to + nq + nu, ad->z + (size_t)o * nz, sizeof *to * nz);
    }
}

cst_status cst_gradient_adjoint(cst_run *r, double *grad, cst_brink *brink, cst_diag *d)
{
    const cst_model *m = r->m;
    cst_arena a = {0};
    cst_where here = {.file = m->file};
    if (cst_discrete_applies(r, d) != CST_OK) return CST_USAGE;
    if (CST_ARENA_GUARD(&a)) {
        cst_arena_free(&a);
        return cst_error(d, CST_MEMORY, here, "out of memory");
    }
    const int all = m->objective.n;
    int n = r->samples   ? 1
            : r->nwanted ? r->nwanted
                         : all,
        nval = cst_graph_values(m->graph), nleaf = cst_graph_leaves(m->graph);
    /* objectives that are not wanted have no slopes */
    for (size_t i = 0; r->nwanted && !r->samples && i < (size_t)all * (size_t)nleaf; i++)
        grad[i] = NAN;
    /* Computing states again changes factors and guesses of r->w: the sweep then has a workspace of
     * its own */
    cst_motion *w = r->traj->every > 1 ? cst_motion_like(&a, r->w, r->s, r->out) : r->w;
    cst_motion_forget(w);
    cst_adjoint *ad = cst_adjoint_new(&a, w, n);
    cst_start_derivative *sd = cst_start_derivative_new(&a, r->start, ad->pass);
    double *fbar = cst_new(&a, double, n * m->functional.n + 1);
    cst_adjoint_clear(ad);
    for (int o = 0; o < n && !r->samples; o++)
        cst_objective_reverse(r, cst_objective_of(r, o), fbar + o * m->functional.n,
                              ad->val + (size_t)o * (size_t)nval);
    ad->step = cst_prepared_new(&a, w);
    cst_adjoint *ev = NULL;
    if (r->events_mode == CST_EVENTS_EXACT && r->events->located) {
        ev = cst_adjoint_new(&a, w, 1);
        ad->timed = ev->timed = 1;
    }
    cst_status ok = sweep(r, &a, ad, ev, fbar);
    cst_state y = cst_run_state(r, 0);
    const cst_start_at at = cst_run_start_at(r, &y);
    if (ok == CST_OK) keep_first(r, ad);
    if (brink && ok == CST_OK) cst_edges_at_start(r, &a, ad, sd, &at, fbar, brink);
    for (int o = 0; ok == CST_OK && o < n; o++) {
        double *P = ad->P + (size_t)o * (size_t)m->bound.n,
               *val = ad->val + (size_t)o * (size_t)nval;
        ok = cst_start_adjoint(sd, &at, ad->q + (size_t)o * (size_t)m->nq,
                               ad->u + (size_t)o * (size_t)m->nu, ad->z + (size_t)o * (size_t)m->nz,
                               P);
        for (int i = 0; i < m->bound.n; i++) val[m->bound.at[i]] += P[i];
        if (brink)
            look_for_kinks(r, &a, cst_objective_of(r, o), val,
                           brink + (size_t)cst_objective_of(r, o) * (size_t)nleaf);
        cst_graph_reverse(m->graph, r->s->val, val);
        double *to = grad + (size_t)cst_objective_of(r, o) * (size_t)nleaf;
        for (int i = 0; i < nleaf; i++) to[i] = val[cst_leaf_id(m->graph, i)];
    }
    r->w->n.factorizations += ad->step->factorizations;
    cst_arena_free(&a);
    return ok == CST_OK ? CST_OK
                        : cst_error(d, ok, here,
                                    "a step has no adjoint: its matrix is singular, or it is too "
                                    "long for the rule");
}
