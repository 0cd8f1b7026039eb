/* SPDX-License-Identifier: MIT
 *
 * Multistep rules of SUNDIALS CVODES (Hindmarsh et al., ACM TOMS 31, 2005) on x' = f(t, x): bdf
 * (Gear) with Newton's method and exact Jacobians, adams with a fixed-point iteration. CVODES
 * chooses steps and orders from the tolerance; a step of the run is one interval of its grid, whose
 * end is interpolated. The last internal step usually reaches beyond it, and the next interval goes
 * on from there. Where the state changes by itself (an event, other independent coordinates),
 * CVODES starts anew.
 *
 * Steps and orders are CVODES' own affair: there is no discrete derivative. For the continuous
 * adjoint the forward run writes CVODES' checkpoints (keep = 2), one solver per stretch between two
 * starts. */
#ifndef CST_INTEGRATOR_MULTISTEP_H
#define CST_INTEGRATOR_MULTISTEP_H

#include <cvodes/cvodes.h>
#include <cvodes/cvodes_ls.h>
#include <nvector/nvector_serial.h>
#include <sundials/sundials_linearsolver.h>
#include <sunmatrix/sunmatrix_dense.h>

#include "integrator/flow.h"

#define CST_NOISE                                                                                  \
    1e-9 /* SI units: element states and integrals below are taken as zero but for rounding and    \
            not controlled */

typedef struct cst_stretch { /* of the motion, between two starts of the solver */
    double from;
    const cst_chart *ch;
    void *cvode;
    N_Vector x;
    SUNMatrix J;
    SUNLinearSolver linear;
    SUNNonlinearSolver nonlinear;
} cst_stretch;

typedef struct cst_multistep {
    int method;         /* CV_BDF or CV_ADAMS */
    SUNContext context; /* NULL: out of memory */
    cst_flow *flow;
    cst_tangent *column; /* of the Jacobian */
    double *no_P, *no_val, *dx, *dxd;
    double *unit, *size; /* (n) natural units; what errors are measured against, tolerance apart */
    double fastest;      /* largest speed so far, in natural units */
    double reach;        /* h of the first call: weighs rates in sizes of what starts at 0 */
    CST_LIST(cst_stretch) stretch;
    cst_arena *arena; /* of the run */
    const cst_begin *run;
    cst_state last, begun; /* end and start of the interval before; last.t NAN: none */
    const cst_chart *ch;   /* of the stretch */
    double tn, before;     /* reached by the solver; start of its last internal step */
    long solver_steps, iterations;
    double rested; /* the first time at which the model rested; INFINITY: it has not */
    int failed;    /* CVODES' flag */
    int replays; /* 1: the motion is computed again, with the rows and the remembered values that it
                    had */
    const cst_kkt *rows; /* that the flow was placed with */
    void *sensitivity;   /* of who uses it */
    CST_LIST(double)
    log; /* (memory.n + 1) per internal step: time, remembered values; only with checkpoints */
} cst_multistep;

/* A solver for x' = f: settings that all of them share; NULL: out of memory. user: cst_multistep */
void *cst_multistep_solver(cst_multistep *o, CVRhsFn f, double t, N_Vector x);
/* Newton's method for n vectors of size m->flow->n side by side, or a fixed-point iteration */
int cst_multistep_newton(cst_multistep *o, cst_stretch *s, int n);
/* Steps that a sweep of sensitivities or costates may take: beyond, they have grown out of bounds,
 * and it would go on for hours */
static inline long cst_multistep_most(const cst_multistep *o)
{
    return 10000 + 20 * o->flow->w->n.steps;
}
/* After a sweep's call of CVODES: what it has taken is gone from *left, o->failed is set when that
 * is all, and then o->tn */
void cst_multistep_count(cst_multistep *o, void *cvode, long before, long *left);
/* CVODES' longest step from time t on: where the model has rested, the step asked for */
double cst_multistep_longest(const cst_multistep *o, double t);
/* At y, which the flow has begun with. 0: out of memory */
int cst_stretch_open(cst_multistep *o, cst_stretch *s, const cst_state *y);
void cst_stretch_free(cst_stretch *s);
/* J = f_x at the flow's place, or -f_x^T */
int cst_multistep_jacobian(cst_multistep *o, int transposed, SUNMatrix J);
void cst_multistep_silence(void *cvode); /* it prints its errors otherwise */
int cst_multistep_weights(N_Vector x, N_Vector weights, void *user);
int cst_multistep_rates(realtype t, N_Vector x, N_Vector xd, void *user);
/* The flow is placed at (t, x), unless it is there already. Non-zero: it failed, and a shorter step
 * may help. */
int cst_multistep_place(cst_multistep *o, double t, const double *x);
/* Remembered values as they were at time t of the run */
void cst_multistep_recall(cst_multistep *o, double t);

#endif
