/* SPDX-License-Identifier: MIT
 *
 * Integrators: each is a rule that takes one state to the next, with its tangent and its adjoint
 * beside it. What follows from a state alone (accelerations, multipliers, rates, measures) is the
 * same for all of them: cst_motion_derive and its derivatives. */
#ifndef CST_INTEGRATOR_RULE_H
#define CST_INTEGRATOR_RULE_H

#include "integrator/adjoint.h"
#include "integrator/chart.h"
#include "integrator/rows.h"
#include "integrator/tangent.h"

struct cst_events;

typedef struct cst_begin { /* what a rule may know of a run */
    double end;
    int keep;      /* > 1: for a continuous adjoint */
    double memory; /* bytes; 0: no limit */
    struct cst_events *events;
    cst_arena *arena;
} cst_begin;

typedef struct cst_rule {
    const char *name, *doc;
    double end; /* integrals: share of h that the rates at the end of a step have; 1/2: trapezoidal,
                   0: by stages */
    int adaptive; /* 1: w->error is set, and the run chooses the steps; 2: when a tolerance is given
                   */
    int order;    /* of the error that is controlled, + 1 */
    int carries;  /* 1: u', lambda and y->carried are unknowns of the step, not functions of the
                   * state; where no step ends (the  start, after an event: h = 0) u' and lambda are
                   * derived and carried = u' */
    /* The rule of steps that are much shorter than the others; NULL: this one. One that leaves an
     * error e in the rates of the rows has accelerations of e/h in a step of length h. A rule that
     * carries begins anew behind them. */
    const struct cst_rule *brief;
    void (*open)(cst_arena *a, cst_motion *w);           /* w->own; NULL: nothing */
    void (*open_adjoint)(cst_arena *a, cst_adjoint *ad); /* ad->own */
    void (*open_tangent)(cst_arena *a, cst_tangent *t);  /* t->own */
    void (*begin)(
        cst_motion *w,
        const cst_begin *run); /* of a run; NULL: rules that carry nothing from step to step */
    /* It may end early, at an event: *y1->h < h. */
    cst_status (*step)(cst_motion *w, const cst_state *y0, double h, cst_state *y1);
    /* Rules that choose their steps: y, the state at t0 + theta h inside the step of length h from
     * y0 that has just been computed. NULL: a shorter step gives it */
    cst_status (*inside)(cst_motion *w, const cst_state *y0, double h, double theta, cst_state *y);
    /* What derivatives of a short step need beyond its states; NULL: nothing */
    void (*keep)(cst_arena *a, const cst_motion *w, double t, cst_increments *to);
    cst_status (*blame)(cst_motion *w, double t,
                        cst_diag *d); /* why a step failed for good; NULL: Newton's method did */
    /* Warnings about a run that has ended at y, whose step was h; returns 1 if there was one. NULL:
     * none */
    int (*warn)(cst_motion *w, double h, cst_state *y, cst_diag *d);
    /* NULL: steps are not differentiated, only the equations are (continuous-direct,
     * continuous-adjoint, mixed) */
    cst_status (*tangent)(cst_tangent *t, const cst_state *y0, const cst_state *y1, int factor);
    cst_status (*prepare)(cst_prepared *p, const cst_state *y0, const cst_state *y1);
    cst_status (*adjoint)(cst_adjoint *ad, const cst_state *y0, const cst_state *y1);
} cst_rule;

static inline int cst_step_carries(const cst_motion *w) { return w->rule && w->rule->carries; }
/* Are u' and lambda of y unknowns of the step that ended there? */
static inline int cst_step_gives(const cst_motion *w, const cst_state *y)
{
    return cst_step_carries(w) && *y->h > 0 && *y->h >= w->brief;
}
/* The rule of a step of length h */
static inline const cst_rule *cst_rule_of(const cst_motion *w, double h)
{
    return h < w->brief ? w->rule->brief : w->rule;
}

/* Makes a step by its rule. On a fixed grid a step whose length differs from that of the last one
 * tried starts with nothing remembered, so that steps that were tried and dropped leave no trace.
 */
cst_status cst_motion_step(cst_motion *w, const cst_state *y0, double h, cst_state *y1);

extern const cst_rule cst_rule_newmark;
const cst_rule *cst_rule_find(const char *name); /* NULL: no such name */
const cst_rule *cst_rule_at(int i);              /* NULL at the end */

/* The equations and the rule of a workspace; all threads of a run use the same. */
/* charts: NULL where the formulation has no independent coordinates */
void cst_motion_choose(cst_arena *a, cst_motion *w, const cst_rule *rule, cst_equations eq,
                       const cst_charts *charts);
/* Another workspace of the same run, which has learned nothing */
cst_motion *cst_motion_like(cst_arena *a, const cst_motion *w, cst_system *s, cst_output *out);

#endif
