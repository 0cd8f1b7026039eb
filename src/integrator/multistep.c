/* SPDX-License-Identifier: MIT
 *
 * The rules bdf and adams: intervals of the run's grid. */
#include "integrator/multistep.h"

#include <math.h>
#include <string.h>

#include "integrator/events.h"

static void release(void *object)
{
    cst_multistep *o = object;
    for (int i = 0; i < o->stretch.n; i++) cst_stretch_free(&o->stretch.at[i]);
    o->stretch.n = 0;
    if (o->context) SUNContext_Free(&o->context);
}

static void open_rule(cst_arena *a, cst_motion *w, int method)
{
    const cst_model *m = w->s->m;
    cst_multistep *o = w->own = cst_new(a, cst_multistep, 1);
    int n = cst_flow_most(w);
    o->method = method;
    if (SUNContext_Create(NULL, &o->context) != 0) o->context = NULL;
    cst_arena_defer(a, release, o);
    o->flow = cst_flow_new(a, w, 0);
    o->column = cst_tangent_new(a, w);
    o->no_P = cst_new(a, double, m->bound.n + 1),
    o->no_val = cst_new(a, double, cst_graph_values(m->graph) + 1);
    o->column->P = o->no_P, o->column->val = o->no_val;
    double **part[] = {&o->dx, &o->dxd, &o->unit, &o->size};
    for (size_t i = 0; i < sizeof part / sizeof *part; i++) *part[i] = cst_new(a, double, n + 1);
    o->last = cst_state_view(m, cst_new(a, double, cst_state_size(m)));
    o->begun = cst_state_view(m, cst_new(a, double, cst_state_size(m)));
    *o->last.t = *o->begun.t = NAN;
}

static void open_bdf(cst_arena *a, cst_motion *w) { open_rule(a, w, CV_BDF); }
static void open_adams(cst_arena *a, cst_motion *w) { open_rule(a, w, CV_ADAMS); }

static void begin(cst_motion *w, const cst_begin *run)
{
    cst_multistep *o = w->own;
    for (int i = 0; i < o->stretch.n; i++) cst_stretch_free(&o->stretch.at[i]);
    o->stretch.n = o->log.n = 0;
    o->run = run, o->arena = run->arena;
    o->fastest = 0, o->failed = 0, o->rested = INFINITY;
    *o->last.t = *o->begun.t = NAN;
}

/* ---- sizes ---- */

static void units(cst_multistep *o)
{
    const cst_flow *f = o->flow;
    const cst_motion *w = f->w;
    for (int i = 0; i < f->nq; i++) o->unit[i] = w->st->ambient[f->ch ? f->ch->q[i] : i];
    for (int i = 0; i < f->nu; i++) o->unit[f->nq + i] = f->ch ? o->unit[i] : w->st->column[i];
}

/* Sizes grow with the motion. x, x': at the place of the flow */
static void sizes(cst_multistep *o, const double *x, const double *xd, int first)
{
    const cst_flow *f = o->flow;
    int rates = f->nq + f->nu;
    if (first) memset(o->size, 0, sizeof *o->size * (size_t)f->n), o->fastest = 0;
    for (int i = f->nq; i < rates; i++)
        o->fastest =
            fmax(o->fastest, (fabs(x[i]) + (first ? o->reach * fabs(xd[i]) : 0)) / o->unit[i]);
    if (o->fastest == 0) o->fastest = 1e-12;
    for (int i = 0; i < f->n; i++)
        o->size[i] = i < f->nq   ? o->unit[i]
                     : i < rates ? o->unit[i] * o->fastest
                                 : fmax(o->size[i], fmax(fabs(x[i]), o->reach * fabs(xd[i])));
}

/* ---- the solver ---- */

static int same(const cst_motion *w, const cst_state *a, const cst_state *b)
{
    const cst_model *m = w->s->m;
    /* the run rounds the times of its grid again */
    return fabs(*a->t - *b->t) <= 1e-14 * (fabs(*a->t) + fabs(*b->t)) &&
           memcmp(a->q, b->q, sizeof *a->q * (size_t)m->nq) == 0 &&
           memcmp(a->u, b->u, sizeof *a->u * (size_t)m->nu) == 0 &&
           memcmp(a->z, b->z, sizeof *a->z * (size_t)m->nz) == 0 &&
           memcmp(a->mem, b->mem, sizeof *a->mem * (size_t)m->memory.n) == 0 &&
           memcmp(a->quad, b->quad, sizeof *a->quad * (size_t)m->quad.n) == 0;
}

static void remember(cst_multistep *o, double t)
{
    const cst_model *m = o->flow->w->s->m;
    if (!m->memory.n || o->run->keep < 2) return;
    *cst_push(o->arena, &o->log) = t;
    for (int i = 0; i < m->memory.n; i++) *cst_push(o->arena, &o->log) = o->flow->y.mem[i];
}

void cst_multistep_recall(cst_multistep *o, double t)
{
    int width = o->flow->w->s->m->memory.n + 1, lo = 0, hi = o->log.n / width;
    if (hi == 0 || width == 1) return;
    while (hi - lo > 1) { /* the last one at or before t */
        int mid = lo + (hi - lo) / 2;
        if (o->log.at[mid * width] <= t)
            lo = mid;
        else
            hi = mid;
    }
    cst_flow_remember(o->flow, o->log.at + lo * width + 1);
}

static cst_status start(cst_multistep *o, const cst_state *y0, double h)
{
    cst_flow *f = o->flow;
    if (!o->context) return CST_MEMORY;
    cst_flow_begin(f, cst_chart_at(f->w->charts, *y0->t), y0);
    *f->y.h = -1;
    o->ch = f->ch;
    int another = o->run->keep > 1 || !o->stretch.n;
    cst_stretch *s = another ? cst_push(o->arena, &o->stretch) : &o->stretch.at[0];
    if (another) *s = (cst_stretch){.ch = f->ch};
    if (o->reach == 0 || isnan(*o->last.t)) o->reach = h;
    int first = isnan(*o->last.t);
    units(o);
    cst_flow_read(f, y0, o->dx);
    if (cst_multistep_place(o, *y0->t, o->dx)) return CST_NUMERIC;
    cst_flow_rates(f, o->dxd);
    sizes(o, o->dx, o->dxd, first);
    if (!cst_stretch_open(o, s, y0)) return CST_MEMORY;
    CVodeSetStopTime(s->cvode, fmax(o->run->end, *y0->t + h));
    o->tn = o->before = *y0->t, o->solver_steps = o->iterations = 0;
    remember(o, *y0->t);
    return CST_OK;
}

/* Has an event of the model changed sides at the flow's place? */
static int crossed(cst_multistep *o)
{
    cst_events *e = o->run->events;
    const cst_motion *w = o->flow->w;
    const cst_state *y = &o->flow->y;
    if (!e || !e->n) return 0;
    cst_events_eval(e, w->s, *y->t, y->q, y->u, y->z, y->mem);
    for (int k = 0; k < e->n; k++)
        if (cst_event_crossed(e, w->s->m, k, y->mem)) return 1;
    return 0;
}

/* One internal step; *stop: an event was met in it, or it has worn the independent coordinates */
static cst_status internal(cst_multistep *o, cst_stretch *s, double t1, int *stop)
{
    cst_motion *w = o->flow->w;
    double t = o->tn;
    int checkpoints;
    o->failed = o->run->keep > 1 ? CVodeF(s->cvode, t1, s->x, &t, CV_ONE_STEP, &checkpoints)
                                 : CVode(s->cvode, t1, s->x, &t, CV_ONE_STEP);
    if (o->failed < 0) return CST_NUMERIC;
    double h;
    long iterations;
    CVodeGetLastStep(s->cvode, &h);
    CVodeGetNumNonlinSolvIters(s->cvode, &iterations);
    o->before = fmax(t - h, o->tn), o->tn = t;
    w->n.steps++, w->n.iterations += iterations - o->iterations, o->iterations = iterations;
    if (cst_multistep_place(o, t, N_VGetArrayPointer(s->x))) return CST_NUMERIC;
    *stop = o->ch && cst_chart_worn(w, o->ch, o->flow->y.q);
    *stop |= crossed(o);
    if (w->s->m->memory.n && !*stop) {
        cst_system_place(w->s, t, o->flow->y.q);
        cst_memory_update(w->out, w->s, o->flow->y.mem);
        remember(o, t);
    }
    cst_flow_rates(o->flow, o->dxd);
    sizes(o, N_VGetArrayPointer(s->x), o->dxd, 0);
    return CST_OK;
}

#define MOST_STEPS                                                                                 \
    50000 /* in one interval of the grid: this rule is not suited to a motion that fast, and would \
             run for hours */

/* To t1, or to the end of the internal step that had to be the last: *t1 */
static cst_status march(cst_multistep *o, double *t1)
{
    cst_stretch *s = &o->stretch.at[o->stretch.n - 1];
    int stop = 0;
    for (int steps = 0; o->tn < *t1 && !stop; steps++) {
        if (steps == MOST_STEPS) o->failed = CV_TOO_MUCH_WORK;
        if (steps == MOST_STEPS) return CST_NUMERIC;
        cst_status ok = internal(o, s, *t1, &stop);
        if (ok != CST_OK) return ok;
    }
    if (stop) *t1 = fmin(*t1, o->tn);
    if (CVodeGetDky(s->cvode, *t1, 0, s->x) != CV_SUCCESS) return CST_NUMERIC;
    return cst_multistep_place(o, *t1, N_VGetArrayPointer(s->x)) ? CST_NUMERIC : CST_OK;
}

static cst_status step(cst_motion *w, const cst_state *y0, double h, cst_state *y1)
{
    const cst_model *m = w->s->m;
    cst_multistep *o = w->own;
    double t1 = *y0->t + h;
    size_t size = sizeof(double) * cst_state_size(m);
    int goes_on = o->stretch.n && (same(w, y0, &o->last) || same(w, y0, &o->begun)) &&
                  o->failed >= 0 && t1 >= o->before && cst_chart_at(w->charts, *y0->t) == o->ch;
    if (isinf(o->rested) && cst_motion_longest(w, y0) == w->given) o->rested = *y0->t, goes_on = 0;
    w->react_at = NULL;
    cst_status ok = goes_on ? CST_OK : start(o, y0, h);
    if (ok == CST_OK) ok = march(o, &t1);
    memcpy(o->begun.t, y0->t, size);
    if (ok != CST_OK) return ok;
    memcpy(y1->t, o->flow->y.t, size);
    *y1->t = t1, *y1->h = t1 - *y0->t, *y1->tag = 0;
    memcpy(y1->mem, y0->mem, sizeof *y1->mem * (size_t)m->memory.n);
    cst_system_place(w->s, t1, y1->q);
    cst_memory_update(w->out, w->s, y1->mem);
    memset(y1->newton, 0, sizeof *y1->newton * (size_t)m->nrow),
        memset(y1->eta, 0, sizeof *y1->eta * (size_t)m->nrow);
    memcpy(o->last.t, y1->t, size);
    return CST_OK;
}

static cst_status blame(cst_motion *w, double t, cst_diag *d)
{
    const cst_multistep *o = w->own;
    const cst_where here = {.file = w->s->m->file};
    static const struct {
        int flag;
        const char *text;
    } why[] = {
        {CV_TOO_MUCH_WORK, "its steps have become too short to make progress: the forces are too "
                           "stiff, or this is a singular position"},
        {CV_TOO_MUCH_ACC, "the tolerance is below what double precision can give"},
        {CV_ERR_FAILURE, "its error test fails with the shortest steps"},
        {CV_CONV_FAILURE, "its iterations do not converge with the shortest steps"},
        {CV_LSETUP_FAIL, "its matrix is singular"},
        {CV_REPTD_RHSFUNC_ERR, "the accelerations are not determined"},
        {CV_UNREC_RHSFUNC_ERR, "the accelerations are not determined"},
    };
    if (!o->context) return cst_error(d, CST_MEMORY, here, "out of memory");
    for (size_t i = 0; i < sizeof why / sizeof *why; i++)
        if (why[i].flag == o->failed)
            return cst_error(d, CST_NUMERIC, here, "t = %.6g s: CVODES stopped: %s", fmax(t, o->tn),
                             why[i].text);
    return cst_error(d, CST_NUMERIC, here, "t = %.6g s: CVODES stopped (%d)", fmax(t, o->tn),
                     o->failed);
}

const cst_rule cst_rule_bdf = {
    .name = "bdf",
    .doc = "Gear's backward differences of variable order and step (SUNDIALS CVODES), by "
           "tolerance; the step is the grid of results",
    .open = open_bdf,
    .begin = begin,
    .step = step,
    .blame = blame,
};

const cst_rule cst_rule_adams = {
    .name = "adams",
    .doc = "Adams' rules of variable order and step (SUNDIALS CVODES), by tolerance; the step is "
           "the grid of results",
    .open = open_adams,
    .begin = begin,
    .step = step,
    .blame = blame,
};
