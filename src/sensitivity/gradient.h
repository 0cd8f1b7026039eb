/* SPDX-License-Identifier: MIT
 *
 * The gradient of all objectives with respect to all numbers of the model file. */
#ifndef CST_SENSITIVITY_GRADIENT_H
#define CST_SENSITIVITY_GRADIENT_H

#include "formulation/start_derivative.h"
#include "integrator/adjoint.h"
#include "integrator/run.h"
#include "integrator/tangent.h"

/* An error when the run's integrator does not differentiate its steps */
cst_status cst_discrete_applies(const cst_run *r, cst_diag *d);

/* An element that rests on its kink or switch, and a number moves it off (resting_moves.c) */
typedef struct cst_moved_rest {
    const char *element;  /* NULL: there is none */
    unsigned char *split; /* (nu, nz, integrals) rates that have two sides then; in a list of the leaves those of all are one block */
} cst_moved_rest;

/* What a number stands on, so that it has no derivative: a kink of an operation of numbers, or the switch of an element at the start */
typedef struct cst_brink {
    const char *op, *element; /* of numbers; one whose switch is at the start */
    const cst_moved_rest *rests;
    int opens;                /* a loop, in a singular position that the mechanism passes */
    double when;              /* it does */
    int bends;                /* some law has its kink or switch at the start, where it is read */
} cst_brink;

/* grad (nobjective x leaves). The trajectory of r must have been kept. brink (likewise): what an objective sees and a leaf moves off;
 * NULL: nobody asks */
cst_status cst_gradient_adjoint(cst_run *r, double *grad, cst_brink *brink, cst_diag *d);
/* grad (nobjective x nleaf) for the leaves listed */
cst_status cst_gradient_direct(cst_run *r, int nleaf, const int *leaf, double *grad, cst_diag *d);

/* The sensitivity and adjoint equations discretised themselves: continuous.c */
cst_status cst_gradient_continuous_direct(cst_run *r, int nleaf, const int *leaf, double *grad, cst_diag *d);
cst_status cst_gradient_continuous_adjoint(cst_run *r, double *grad, cst_diag *d);
cst_motion *cst_continuous_work(cst_arena *a, cst_run *r);
cst_status cst_continuous_applies(cst_run *r, cst_diag *d);

/* The same by CVODES, for runs of its integrators; the adjoint needs one that was kept with checkpoints (keep = 2). */
cst_status cst_gradient_multistep_direct(cst_run *r, int nleaf, const int *leaf, double *grad, cst_diag *d);
cst_status cst_gradient_multistep_adjoint(cst_run *r, double *grad, cst_diag *d);

/* Terms by perturbed residuals, an integrator and a step of their own: mixed.c */
cst_status cst_gradient_mixed(cst_run *r, int nleaf, const int *leaf, double *grad, cst_diag *d);

/* in [1, 2), another one for each k: weights with which nothing cancels */
static inline double cst_spread(int k) { return 1 + (double)((unsigned)(k + 1) * 2654435761u >> 8) * 0x1p-24; }

#define CST_TOGETHER 64 /* directions that are carried side by side */

/* One number's change, carried along the motion */
typedef struct cst_direction {
    cst_tangent *t;
    double *P, *val, *functional, *held; /* held: changes of held values */
    void (*visit)(void *ctx, long n);    /* at each state, whose outputs and their changes are at hand; or NULL */
    void *ctx;
    long states;                         /* only the first of them; 0: all */
} cst_direction;
/* Carries ndir directions, whose changes at the start are in dir, over all states of the kept trajectory, and lets each
 * be observed at each of them, derived. */
typedef struct cst_sweep_of { cst_status (*run)(cst_run *r, void *ctx, int ndir, cst_direction *dir); void *ctx; } cst_sweep_of;
cst_direction *cst_directions_new(cst_arena *a, const cst_run *r, cst_motion *w, int n);
void cst_direction_observe(cst_run *r, cst_direction *dir, int k, long n);
/* grad (nobjective x nleaf) by such a sweep */
cst_status cst_gradient_forward(cst_run *r, cst_arena *a, cst_motion *w, const cst_sweep_of *sweep, int nleaf, const int *leaf,
                                double *grad);

/* Directions of several numbers at once, side by side: weight (ndir x leaves). dir: from cst_directions_new */
cst_status cst_directions_along(cst_run *r, cst_arena *a, int ndir, const double *weight, cst_direction *dir);
/* weight (leaves): all numbers that are not fixed, so that nothing cancels */
double *cst_random_weights(const cst_run *r, cst_arena *a, const unsigned char *fixed);
/* Values of events and kinks at y, with the modes in mem, and in t->x, t->xd the changes of the slots that they read */
void cst_direction_at(cst_run *r, const cst_tangent *t, const cst_state *y, const double *mem);

/* The bars of the value of event k, or of a kink behind them, at y1 with the modes of y0, in ev: of the state, the time and numbers */
void cst_event_bars(cst_run *r, cst_adjoint *ev, int k, const cst_state *y0, const cst_state *y1);
int cst_objective_of(const cst_run *r, int column); /* of an adjoint: all of them, or those that are wanted */

/* Weight of functional i at state n, the last of which is `last` */
double cst_functional_share(const cst_run *r, int i, long n, long last);
/* ad->seed += what the bars of functionals ask of the outputs at state n */
void cst_functionals_seed(cst_run *r, cst_adjoint *ad, const double *fbar, long n);

/* t: the state's change with the length of the step y0 -> y1 alone, whose matrices are at hand; e: what of it is the step's error. */
cst_status cst_length_direction(cst_run *r, cst_tangent *t, const cst_state *y0, const cst_state *y1);
cst_status cst_length_error(cst_run *r, const cst_tangent *t, const cst_state *y1, cst_tangent *e);

void cst_motion_direction(cst_run *r, cst_tangent *t, const cst_state *y); /* t: the motion at y */
/* State n is the last of an instant at which several events were: their number; else 0 */
int cst_instant_events(const cst_run *r, long n);

typedef struct cst_differences {
    double *slope, *error;  /* (nobjective x nleaf) extrapolated central differences */
    double *below, *above;  /* likewise, to each side; NAN: not to be had */
    unsigned char *failed;  /* (nleaf) 1: a run failed */
} cst_differences;

cst_status cst_gradient_difference(cst_run *r, const double *values, int nleaf, const int *leaf, const cst_differences *to,
                                   cst_diag *d);

/* Numbers that cannot change by themselves: effect (leaves) is CST_BREAKS_LOOP, CST_CONTRADICTS or 0. The trajectory must have
 * been kept. */
cst_status cst_find_breaking(cst_run *r, unsigned char *effect, cst_diag *d);

/* when (leaves): the time at which the mechanism first passes a singular position in which a number opens a loop; INFINITY: none */
cst_status cst_find_singular(cst_run *r, double *when, cst_diag *d);

/* Forces that stay on a kink of their law or on a switch (r->events->resting, staying). by (leaves): one that a number, of the n that are
 * asked for, moves off it. Where that is known nothing need be said of the forces. */
cst_status cst_find_resting(cst_run *r, const unsigned char *fixed, int n, const int *number, cst_moved_rest *by, cst_diag *d);

int cst_stands_on_kink(cst_run *r); /* is a law near its kink or switch at the start? */
/* brink (objectives x leaves): of n numbers, those by which what is read at the start, or the start itself, has slopes of two sides. swept:
 * what the objectives ask of the start is known, r->first_bar */
cst_status cst_find_bends(cst_run *r, const unsigned char *fixed, int n, const int *number, int swept, cst_brink *brink, cst_diag *d);

/* Objectives at a kink of their own: rough (objectives) is set to 1, and d says why. by (objectives x leaves): the numbers without a
 * derivative, of the n that are asked for; where these are too many, all. fixed: what cst_find_breaking found, numbers that do not count */
cst_status cst_find_rough(cst_run *r, const unsigned char *fixed, int n, const int *number, unsigned char *rough, unsigned char *by,
                          cst_diag *d);

/* lone.c: integrands on a kink at one state alone, where they have slopes to two sides. Those of the last run are forgotten; */
void cst_lone_begin(cst_run *r);
/* state n is one, with its registers and those of the state before it, h earlier, if there is one (NULL); dot: changes of its inputs along
 * some direction, */
void cst_lone_add(cst_run *r, long n, const double *before, double h, const double *dot);
/* and the state behind it, whose registers are at hand, is h later. */
void cst_lone_end(cst_run *r, long n, double h, const double *dot);
const cst_beside *cst_lone_at(const cst_run *r, long n); /* NULL: it is none */

/* Objectives that read reactions which are not unique: ambiguous (objectives) is set to 1. */
cst_status cst_find_ambiguous(cst_run *r, unsigned char *ambiguous, cst_diag *d);

/* The same for components of measures. ambiguous (2 x components): the first half says which are asked about, and then which
 * of them are not unique; the other is scratch. */
cst_status cst_find_ambiguous_measures(cst_run *r, unsigned char *ambiguous, cst_diag *d);

/* What rounding of an objective is a part of: the largest values in the run of what it reads, times its slopes by these */
double cst_objective_scale(cst_run *r, int objective);
/* rounding (objectives): by how much each is not known (rounding.c). The trajectory must have been kept. */
cst_status cst_objectives_rounding(cst_run *r, double *rounding, cst_diag *d);
/* bars (nfunctional) of one objective's functionals, and val += its bars of numbers */
void cst_objective_reverse(cst_run *r, int objective, double *bar, double *val);

#endif
