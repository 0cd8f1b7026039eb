/* SPDX-License-Identifier: MIT */
#include "integrator/observe.h"

#include <math.h>
#include <string.h>

#define SLACK                                                                                      \
    1e-9 /* of the interval between rows: a state this near to a row's time is the row             \
          */

/* ---- rows ---- */

/* Shorter steps for rows use a separate workspace, so that they do not affect what the run has
 * learned */
static cst_motion *motion_aside(cst_run *r)
{
    cst_motion *w = cst_motion_like(&r->analysis, r->w, r->s, r->out);
    w->controls = 0, w->increments = NULL;
    return w;
}

cst_tangent *cst_along_new(cst_arena *a, const cst_run *r)
{
    cst_tangent *t = cst_tangent_new(a, r->w);
    t->P = cst_new(a, double, r->m->bound.n + 1);
    t->val = cst_new(a, double, cst_graph_values(r->m->graph) + 1);
    return t;
}

void cst_observe_begin(cst_run *r, cst_observer observe, void *ctx)
{
    const cst_model *m = r->m;
    int asked = r->samples != NULL;
    r->observe = observe, r->observe_ctx = ctx, r->stop = 0, r->rows = 0;
    for (int i = 0; i < m->functional.n; i++) asked |= m->functional.at[i].kind == CST_AT;
    if (asked && !r->along && r->w->controls) r->along = cst_along_new(&r->analysis, r);
    if (!observe || !(r->options.output > 0) || r->inside.t || !(r->w->controls || r->events->n))
        return;
    r->inside = cst_state_view(m, cst_new(&r->analysis, double, cst_state_size(m)));
    r->aside = r->w->rule->inside ? r->w : motion_aside(r);
}

void cst_observe_outputs(cst_run *r, const cst_state *y)
{
    const cst_point_of_motion at = {*y->t, y->q,   y->u,    y->ud,
                                    y->z,  y->mem, y->quad, cst_motion_reactions(r->w, y)};
    cst_output_eval(r->out, r->s, &at);
}

void cst_observe_state(cst_run *r, const cst_state *y, int row)
{
    r->rows += row;
    if (!row && !r->every_step) return;
    for (int i = 0; i < r->m->component.n; i++) r->component[i] = cst_output_value(r->out, i);
    r->q = y->q, r->row = row;
    if (r->observe && r->observe(r->observe_ctx, *y->t, r->component, r->m->component.n))
        r->stop = 1;
}

/* Between rows: a whole number of steps where these are given */
static double interval(const cst_run *r)
{
    const cst_options *o = &r->options;
    return r->w->controls ? o->output : o->step * (double)lround(fmax(1, o->output / o->step));
}

/* Of the next row; row 0 is the start */
static double row_time(const cst_run *r)
{
    return r->options.start + (double)r->rows * interval(r);
}

int cst_observe_row(const cst_run *r, const cst_state *y)
{
    const cst_options *o = &r->options;
    return !(o->output > 0) || *y->t >= o->end || *y->t >= row_time(r) - SLACK * o->output;
}

cst_status cst_observe_step(cst_run *r, const cst_state *y0, const cst_state *y1, cst_diag *d)
{
    const cst_rule *rule = r->w->rule;
    double slack = SLACK * r->options.output, h = *y1->h, t;
    if (!r->inside.t || !r->observe) return CST_OK;
    while (!r->stop && (t = row_time(r)) < *y1->t - slack) {
        const cst_state *y = t <= *y0->t + slack ? y0 : &r->inside;
        double theta = (t - *y0->t) / h;
        cst_status ok = CST_OK;
        if (y != y0 && rule->inside)
            ok = rule->inside(r->w, y0, h, theta, &r->inside);
        else if (y != y0) {
            cst_rows_at(r->aside, *y0->t);
            ok = rule->step(r->aside, y0, theta * h, &r->inside);
            /* accelerations carried by a short step contain rounding over h^2: use those derived
             * from the state */
            if (ok == CST_OK && rule->carries)
                *r->inside.h = 0, ok = cst_motion_derive_from(r->aside, &r->inside);
        }
        if (ok != CST_OK)
            return cst_error(d, CST_NUMERIC, (cst_where){.file = r->m->file},
                             "t = %g s: there is no state for this row of results", t);
        if (y != y0) *r->inside.t = t;
        cst_observe_outputs(r, y);
        cst_observe_state(r, y, 1);
    }
    return CST_OK;
}

/* ---- instants ---- */

double cst_asked_next(const cst_run *r)
{
    const cst_samples *s = r->samples;
    double next = r->options.end;
    if (s && s->met < s->n) next = fmin(next, s->at[s->met].time);
    for (int i = 0; i < r->m->functional.n; i++) {
        const cst_functional_state *f = &r->functional[i];
        if (r->m->functional.at[i].kind == CST_AT && f->state < 0) next = fmin(next, f->time);
    }
    return next;
}

void cst_asked_slopes(cst_run *r, const cst_state *y)
{
    const cst_model *m = r->m;
    const cst_samples *s = r->samples;
    cst_tangent *t = r->along;
    int met = s && s->met < s->n && s->at[s->met].time <= *y->t;
    for (int i = 0; i < m->functional.n; i++) met |= cst_functional_met(r, i, *y->t);
    if (met) cst_observe_rates(r, t, y);
}

void cst_observe_rates(cst_run *r, cst_tangent *t, const cst_state *y)
{
    const cst_model *m = r->m;
    cst_state here = *y;
    here.h = (double[]){0}; /* no step ends here: the rates are those of the state */
    cst_T(r->s, y->q, y->u, t->q);
    memcpy(t->u, y->ud, sizeof *t->u * (size_t)m->nu),
        memcpy(t->z, y->zd, sizeof *t->z * (size_t)m->nz);
    memcpy(t->quad, y->qd, sizeof *t->quad * (size_t)m->quad.n);
    t->t = 1;
    cst_tangent_derive(t, &here, 1);
}
