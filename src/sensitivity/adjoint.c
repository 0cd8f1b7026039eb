/* SPDX-License-Identifier: MIT
 *
 * One backward sweep for all objectives. */
#include <math.h>
#include <string.h>

#include "base/ahead.h"
#include "integrator/switching.h"
#include "sensitivity/asked.h"
#include "sensitivity/concern.h"
#include "sensitivity/direction.h"
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

void cst_functionals_seed(cst_run *r, cst_adjoint *ad, const double *fbar, long n)
{
    const cst_model *m = r->m;
    int nout = r->out->tape->nout;
    for (int i = 0; i < m->functional.n; i++) {
        const double s = cst_functional_share(r, i, n, r->traj->n - 1);
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

/* Bars of the state, from those of slots, rates and time that have been set */
static void bars_of_state(cst_run *r, cst_adjoint *ev, const cst_state *y)
{
    const cst_model *m = r->m;
    const cst_pass_at at = {.q = y->q, .v = r->events->v};
    const cst_adjoint_out out = {.x = ev->x, .xd = ev->xd, .q = ev->q, .v = ev->v, .P = ev->P};
    cst_adjoint_slots(ev->pass, &at, 1, NULL, NULL, &out);
    for (int i = 0; i < m->body.n; i++) { /* v = T(q) u */
        const cst_body *b = &m->body.at[i];
        b->cls->Lt(y->u + b->u0, ev->v + b->q0, ev->q + b->q0);
        b->cls->Tt(y->q + b->q0, ev->v + b->q0, ev->u + b->u0);
    }
}

static void begin_event(cst_run *r, cst_adjoint *ev, const double *mem, const cst_state *y)
{
    const cst_model *m = r->m;
    cst_adjoint_clear(ev);
    memset(ev->x, 0, sizeof *ev->x * (size_t)m->nx);
    memset(ev->xd, 0, sizeof *ev->xd * (size_t)m->nx);
    memset(ev->v, 0, sizeof *ev->v * (size_t)m->nq);
    cst_events_eval(r->events, r->s, *y->t, y->q, y->u, y->z, mem);
}

/* ev: bars of the state, the time and the numbers for the value of event k at y1, with the modes of
 * y0 */
static void event_bars(cst_run *r, cst_adjoint *ev, int k, const cst_state *y0, const cst_state *y1)
{
    begin_event(r, ev, y0->mem, y1);
    cst_event_reverse(r->events, k, 1, ev->x, ev->xd, ev->z, ev->t, ev->val);
    bars_of_state(r, ev, y1);
}

double cst_guard_bars(cst_run *r, cst_adjoint *ev, int k, cst_guard_at at, const cst_state *y)
{
    begin_event(r, ev, y->mem, y);
    cst_rest_errors(r);
    const int touched = k >= r->events->n && r->m->kink.at[k - r->events->n].touched;
    const double err = cst_event_zeros(r->events, k, touched, ev->x, ev->xd, ev->z, ev->t, ev->val);
    if (at == CST_GUARD_RESTS && cst_largest(r->m->nx, ev->xd) > 0)
        memset(ev->val, 0, sizeof *ev->val * (size_t)cst_graph_values(r->m->graph));
    if (at == CST_GUARD_RESTS_AT_JUMP)
        for (int i = 0; i < r->m->nx; i++) ev->xd[i] += r->options.step * ev->x[i];
    bars_of_state(r, ev, y);
    return at == CST_GUARD_RESTS_AT_JUMP ? 2 * err : err;
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
 * motion */
static void along_the_motion(cst_run *r, cst_adjoint *ad, const cst_state *y)
{
    const cst_model *m = r->m;
    double *v = r->events->v;
    cst_T(r->s, y->q, y->u, v);
    for (int o = 0; o < ad->n; o++)
        ad->h[o] = dot(m->nq, o, ad->q, v) + dot(m->nu, o, ad->u, y->ud) +
                   dot(m->nz, o, ad->z, y->zd) + dot(m->quad.n, o, ad->quad, y->qd);
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
 * of the length vanishes, and t0 carries the time along. Events of one instant follow each other in
 * the order in which the run has taken them, with steps of length zero. */
static cst_status step_back(cst_run *r, cst_adjoint *ad, cst_adjoint *ev, const cst_state *y0,
                            const cst_state *y1)
{
    const cst_model *m = r->m;
    const int k = (int)*y1->tag - 1, moves = *y1->h > 0;
    if (*y1->tag < 0) /* a change of mode: the same state, but for velocities that follow a drive */
        return r->events->drives ? cst_adjoint_impact(ad, y0, y1) : CST_OK;
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
    event_bars(r, ev, k, y0, y1);
    ev->step = ad->step;
    if (!moves) {
        along_the_motion(r, ad, y1);
        along_the_motion(r, ev, y1);
    } else if ((ok = cst_rule_of(r->w, *y1->h)->adjoint(ev, y0, y1)) != CST_OK)
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

/* Columns of a sweep: those of the objectives, then those of incidents */
typedef struct columns {
    cst_run *r;
    int objectives;
    const int *objective; /* which ones; NULL: all, or the samples */
    const double *fbar;   /* (columns x functionals) */
    cst_concern *concern; /* NULL: nobody asks */
    cst_adjoint *ad;
    cst_adjoint *ev,
        *guard; /* bars of an event that ends a step, NULL: there is none; of a guard */
} columns;

/* Allocates nothing: a failure would jump over threads that use the arena. */
static cst_status sweep_steps(columns *c, cst_ahead *ahead)
{
    cst_run *r = c->r;
    cst_adjoint *ad = c->ad;
    cst_prepared *own = ad->step;
    long last = r->traj->n - 1;
    for (long n = last; n >= 0; n--) {
        cst_state y0, y1;
        cst_status ok = CST_OK;
        const int made_ahead = ahead && n > 0;
        if (!cst_run_goes_on(r, "backward sweep", 1 - (double)n / (double)(last + 1)))
            return CST_STOPPED;
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
            cst_functionals_seed(r, ad, c->fbar, n);
        if (c->concern && c->concern->ncolumn) {
            cst_concern_outputs(c->concern, ad->w->out, c->objectives, n);
            cst_concern_state(c->concern, ad, c->guard, c->objectives, c->objective, n);
        }
        if (ok == CST_OK) ok = cst_adjoint_derive(ad, &y1);
        if (ok == CST_OK && n > 0) ok = step_back(r, ad, c->ev, &y0, &y1);
        if (ok != CST_OK) return ok;
        if (made_ahead) cst_ahead_give(ahead, last - n);
    }
    return CST_OK;
}

/* With checkpoints states are computed again in shared memory: the sweep then runs in one thread.
 */
static cst_status sweep(columns *c, cst_arena *a)
{
    cst_run *r = c->r;
    cst_adjoint *ad = c->ad;
    int workers = r->options.threads - 1;
    if (workers > CST_AHEAD_THREADS) workers = CST_AHEAD_THREADS;
    if (workers < 1 || r->traj->every > 1 || r->traj->n < 20) return sweep_steps(c, NULL);

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
    cst_status ok = sweep_steps(c, started ? &ahead : NULL);
    cst_ahead_stop(&ahead);
    for (int i = 0; i < ahead.places; i++)
        ad->step->factorizations += made->place[i]->factorizations;
    return ok;
}

static int objective_of(const columns *c, int column)
{
    return c->objective ? c->objective[column] : column;
}

static columns *columns_new(cst_arena *a, cst_run *r, const cst_request *of, cst_concern *concern)
{
    const cst_model *m = r->m;
    const size_t nf = (size_t)m->functional.n, nval = (size_t)cst_graph_values(m->graph);
    columns *c = cst_new(a, columns, 1);
    const int marks = concern ? concern->ncolumn : 0;
    *c = (columns){.r = r, .concern = concern};
    c->objectives = r->samples ? 1 : of ? of->n : m->objective.n;
    c->objective = r->samples || !of ? NULL : of->objective;
    /* Computing states again changes factors and guesses of r->w: the sweep then has a workspace of
     * its own */
    cst_motion *w = r->traj->every > 1 ? cst_motion_like(a, r->w, r->s, r->out) : r->w;
    cst_motion_forget(w);
    c->ad = cst_adjoint_new(a, w, c->objectives + marks);
    c->ad->step = cst_prepared_new(a, w);
    cst_adjoint_clear(c->ad);
    double *fbar = cst_new(a, double, (size_t)(c->objectives + marks) * nf + 1);
    c->fbar = fbar;
    for (int o = 0; o < c->objectives && !r->samples; o++)
        cst_objective_reverse(r, objective_of(c, o), fbar + (size_t)o * nf,
                              c->ad->val + (size_t)o * nval);
    if (r->events_mode == CST_EVENTS_EXACT && r->events->located) {
        c->ev = cst_adjoint_new(a, w, 1);
        c->ad->timed = c->ev->timed = 1;
    }
    if (!marks) return c;
    c->guard = cst_adjoint_new(a, w, 1);
    memcpy(fbar + (size_t)c->objectives * nf, concern->fbar, sizeof *fbar * nf * (size_t)marks);
    memcpy(c->ad->val + (size_t)c->objectives * nval, concern->val,
           sizeof *fbar * nval * (size_t)marks);
    w->out->operand =
        cst_new(a, double, (size_t)(c->objectives + marks) * (size_t)w->out->tape->nreg + 1);
    return c;
}

/* Through the problems of the start and the graph of numbers: slope (leaves) of a column */
static cst_status finish(columns *c, cst_start_derivative *sd, const cst_start_at *at, int column,
                         double *slope)
{
    const cst_model *m = c->r->m;
    const cst_adjoint *ad = c->ad;
    const size_t k = (size_t)column;
    double *P = ad->P + k * (size_t)m->bound.n;
    double *val = ad->val + k * (size_t)cst_graph_values(m->graph);
    const cst_status ok =
        cst_start_adjoint(sd, at, ad->q + k * (size_t)m->nq, ad->u + k * (size_t)m->nu,
                          ad->z + k * (size_t)m->nz, P);
    for (int i = 0; i < m->bound.n; i++) val[m->bound.at[i]] += P[i];
    if (c->concern && column < c->objectives)
        cst_concern_numbers(c->concern, objective_of(c, column), val);
    cst_graph_reverse(m->graph, c->r->s->val, val);
    for (int i = 0; i < cst_graph_leaves(m->graph); i++) slope[i] = val[cst_leaf_id(m->graph, i)];
    return ok;
}

cst_status cst_gradient_adjoint(cst_run *r, const cst_request *of, cst_concern *concern,
                                double *grad, cst_diag *d)
{
    const size_t nleaf = (size_t)cst_graph_leaves(r->m->graph);
    cst_arena a = {0};
    cst_where here = {.file = r->m->file};
    if (cst_discrete_applies(r, d) != CST_OK) return CST_USAGE;
    if (CST_ARENA_GUARD(&a)) {
        cst_arena_free(&a);
        return cst_error(d, CST_MEMORY, here, "out of memory");
    }
    columns *c = columns_new(&a, r, of, concern);
    cst_start_derivative *sd = cst_start_derivative_new(&a, r->start, c->ad->pass);
    cst_status ok = sweep(c, &a);
    const cst_state y = cst_run_state(r, 0);
    const cst_start_at at = cst_run_start_at(r, &y);
    for (int k = 0; ok == CST_OK && k < c->ad->n; k++) {
        const int mark = k - c->objectives;
        double *to = mark < 0 ? grad + (size_t)objective_of(c, k) * nleaf
                              : concern->slope + (size_t)mark * nleaf;
        ok = finish(c, sd, &at, k, to);
    }
    r->w->n.factorizations += c->ad->step->factorizations;
    c->ad->w->out->operand = NULL;
    c->ad->w->out->operands = 0;
    cst_arena_free(&a);
    if (ok == CST_OK || ok == CST_STOPPED) return ok;
    return cst_error(d, ok, here,
                     "a step has no adjoint: its matrix is singular, or it is too long for the "
                     "rule");
}
