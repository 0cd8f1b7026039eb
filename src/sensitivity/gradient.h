/* SPDX-License-Identifier: MIT
 *
 * The gradient of all objectives with respect to all numbers of the model file. */
#ifndef CST_SENSITIVITY_GRADIENT_H
#define CST_SENSITIVITY_GRADIENT_H

#include "formulation/start_derivative.h"
#include "integrator/adjoint.h"
#include "integrator/run.h"
#include "integrator/tangent.h"

/* An error when one of the n numbers asked for is none of the model, or when there are more than the model has; which NULL: all numbers */
cst_status cst_which_check(const cst_run *r, int n, const int *which, cst_diag *d);
/* An error when the run's integrator does not differentiate its steps */
cst_status cst_discrete_applies(const cst_run *r, cst_diag *d);

/* An element that rests on its kink or switch, and that a number moves off it (resting_moves.c) */
typedef struct cst_moved_rest {
    const char *element;  /* NULL: there is none */
    unsigned char *split; /* (nu + nz + integrals) 1: this rate has two one-sided slopes. The arrays of all leaves are one block */
} cst_moved_rest;

/* Why a slope does not exist */
typedef struct cst_brink {
    const char *op, *element;    /* operation of numbers on whose kink it is; element whose switch it moves off the start; NULL: none */
    const cst_moved_rest *rests; /* element that the number moves off the kink or switch on which it rests; NULL: none */
    int opens;                   /* 1: the number would open a loop in a singular position, */
    double when;                 /* which the mechanism passes at this time */
    int bends;                   /* 1: the number moves a law off its kink or switch at the start */
} cst_brink;

/* grad (nobjective x leaves). The trajectory of r must have been kept. brink (likewise): set to the reasons
 * why slopes do not exist; NULL: not wanted */
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

/* A pseudo-random number in [1, 2) for each k: with such weights terms do not cancel */
static inline double cst_spread(int k) { return 1 + (double)((unsigned)(k + 1) * 2654435761u >> 8) * 0x1p-24; }

#define CST_TOGETHER 64 /* directions that are carried side by side */

/* One number's change, carried along the motion */
typedef struct cst_direction {
    cst_tangent *t;
    double *P, *val, *functional, *held; /* held: changes of held values */
    void (*visit)(void *ctx, long n);    /* at each state, whose outputs and their changes are at hand; or NULL */
    void *ctx;
    long states;                         /* how many states to visit, from the first on; 0: all */
} cst_direction;
/* Carries ndir directions, which hold their changes at the start, over the states of the kept trajectory. At each state the changes of
 * accelerations, multipliers and outputs are derived, and each direction is observed (cst_direction_observe). */
typedef struct cst_sweep_of { cst_status (*run)(cst_run *r, void *ctx, int ndir, cst_direction *dir); void *ctx; } cst_sweep_of;
cst_direction *cst_directions_new(cst_arena *a, const cst_run *r, cst_motion *w, int n);
void cst_direction_observe(cst_run *r, cst_direction *dir, int k, long n);
/* grad (nobjective x nleaf) by such a sweep */
cst_status cst_gradient_forward(cst_run *r, cst_arena *a, cst_motion *w, const cst_sweep_of *sweep, int nleaf, const int *leaf,
                                double *grad);

/* Directions of several numbers at once, side by side: weight (ndir x leaves). dir: from cst_directions_new */
cst_status cst_directions_along(cst_run *r, cst_arena *a, int ndir, const double *weight, cst_direction *dir);
/* (leaves) pseudo-random weights of all numbers that are not fixed; fixed ones have weight 0 */
double *cst_random_weights(const cst_run *r, cst_arena *a, const unsigned char *fixed);
/* Evaluates events and kinks at y with the modes in mem, and sets t->x, t->xd to the changes of the slots that they read */
void cst_direction_at(cst_run *r, const cst_tangent *t, const cst_state *y, const double *mem);

/* ev: bars of the state, the time and the numbers for the value of event k at y1, with the modes of y0 (kinks are numbered after events) */
void cst_event_bars(cst_run *r, cst_adjoint *ev, int k, const cst_state *y0, const cst_state *y1);
/* deciding.c: registers of the outputs that an objective reads, with those of integrals; by_objective: registers of the objectives' code */
unsigned char *cst_outputs_read(const cst_run *r, cst_arena *a, const unsigned char *by_objective);
/* seen (values of the graph) = 1: a number that decides in what objective o reads, or in what moves */
void cst_deciding(const cst_run *r, cst_arena *a, int o, unsigned char *seen);
int cst_objective_of(const cst_run *r, int column); /* of an adjoint: all of them, or those that are wanted */

/* Weight of functional i at state n, the last of which is `last` */
double cst_functional_share(const cst_run *r, int i, long n, long last);
/* Functionals that are read at a state. Behind several events of one instant a peak is where the last of them has taken it, and all others
 * are at the mean of their times (instant.c): 1 if there is such a peak at state n, the last of an instant of `met` events */
typedef enum cst_read { CST_READ_ALL, CST_READ_PEAKS, CST_READ_OTHERS } cst_read;
int cst_peaks_before_mean(const cst_run *r, long n, int met);
static inline int cst_reads(cst_read which, cst_functional_kind kind)
{
    return which == CST_READ_ALL || (which == CST_READ_PEAKS) == (kind == CST_PEAK);
}
/* ad->seed += what the bars of functionals ask of the outputs at state n */
void cst_functionals_seed(cst_run *r, cst_adjoint *ad, const double *fbar, long n, cst_read which);

cst_start_at cst_run_start_at(const cst_run *r, const cst_state *y); /* the start of the last run; y: its first state */

/* t: derivative of y1 by the length of the step y0 -> y1, whose matrices are at hand; e: its error, the part that is not the motion
 * (instant.c) */
cst_status cst_length_direction(cst_run *r, cst_tangent *t, const cst_state *y0, const cst_state *y1);
cst_status cst_length_error(cst_run *r, const cst_tangent *t, const cst_state *y0, const cst_state *y1, cst_tangent *e);

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

typedef struct cst_singular { /* positions that the mechanism passes */
    double *when;         /* (leaves) the time of the first one in which a number opens a loop; INFINITY: there is none */
    double near, near_at; /* rad, or lengths of the loops: the least distance of a state from one, and its time; INFINITY: there is none */
    double by, by_at;     /* the least distance at which one way passes another, in steps, and its time; INFINITY: none does */
    int *group, groups;   /* (leaves) numbers that open the same loops at the same time have the same one */
    double cut;           /* the time from which on too many were passed for all to be examined; INFINITY: all were */
} cst_singular;
/* of the n numbers asked for; fixed: as for cst_find_rough */
cst_status cst_find_singular(cst_run *r, const unsigned char *fixed, int n, const int *number, cst_singular *to, cst_diag *d);

/* Forces that stay on a kink of their law or on a switch (r->events->resting, staying). by (leaves): for each of the n
 * numbers asked for, an element that it moves off. The notices are cleared: the numbers are refused instead. */
cst_status cst_find_resting(cst_run *r, const unsigned char *fixed, int n, const int *number, cst_moved_rest *by, cst_diag *d);

int cst_stands_on_kink(cst_run *r); /* is a law near its kink or switch at the start? */
/* brink (objectives x leaves): `bends` is set for those of the n numbers for which a value read at the start, or the start itself, has two
 * different one-sided slopes. swept: 1 if r->first_bar holds the bars of the first state */
cst_status cst_find_bends(cst_run *r, const unsigned char *fixed, int n, const int *number, int swept, cst_brink *brink, cst_diag *d);

/* Objectives at a kink of their own: rough (objectives) is set to 1, and d says why. by (objectives x leaves): the numbers without a
 * derivative, of the n that are asked for; where these are too many, all. fixed: what cst_find_breaking found, numbers that do not count */
cst_status cst_find_rough(cst_run *r, const unsigned char *fixed, int n, const int *number, unsigned char *rough, unsigned char *by,
                          cst_diag *d);

/* lone.c: integrands that are on a kink at a single state. begin: forgets those of the last run. */
void cst_lone_begin(cst_run *r);
/* add: state n is such a state, with its registers at hand; before: those of the state before it, h earlier (NULL: there is none); dot:
 * changes of its inputs along some direction. */
void cst_lone_add(cst_run *r, long n, const double *before, double h, const double *dot);
/* end: the state after n, whose registers are at hand, is h later. */
void cst_lone_end(cst_run *r, long n, double h, const double *dot);
const cst_beside *cst_lone_at(const cst_run *r, long n); /* NULL: it is none */
/* The outputs are those of the end of a step from y0, with changes. NULL: no integrand is on a kink there; else its inside */
const cst_beside *cst_lone_inside(cst_run *r, const cst_state *y0);

/* Objectives that read reactions which are not unique: ambiguous (objectives) is set to 1. */
cst_status cst_find_ambiguous(cst_run *r, unsigned char *ambiguous, cst_diag *d);

/* The same for components of measures. ambiguous (2 x components): the first half says which are asked about, and then which
 * of them are not unique; the other is scratch. */
cst_status cst_find_ambiguous_measures(cst_run *r, unsigned char *ambiguous, cst_diag *d);

/* The magnitude against which rounding of an objective is measured: the sum over its functionals of |slope| times largest |value| */
double cst_objective_scale(cst_run *r, int objective);
/* rounding (objectives): a bound for the rounding error of each (rounding.c). The trajectory must have been kept. */
cst_status cst_objectives_rounding(cst_run *r, double *rounding, cst_diag *d);
/* bars (nfunctional) of one objective's functionals, and val += its bars of numbers */
void cst_objective_reverse(cst_run *r, int objective, double *bar, double *val);

#endif
