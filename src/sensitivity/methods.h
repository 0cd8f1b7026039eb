/* SPDX-License-Identifier: MIT
 *
 * The gradient of all objectives with respect to all numbers of the model file, by each method. */
#ifndef CST_SENSITIVITY_METHODS_H
#define CST_SENSITIVITY_METHODS_H

#include "sensitivity/concern.h"

typedef struct cst_request { /* of a gradient: these objectives only, the others have no slopes */
    int n;
    const int *objective;
} cst_request;

/* cst_run_gradient; of NULL: all objectives */
const cst_gradient *cst_gradient_of(cst_run *r, const double *values, cst_method method, int n,
                                    const int *which, const cst_request *of, cst_diag *d);

/* An error when one of the n numbers asked for is none of the model, or when there are more than
 * the model has; which NULL: all numbers */
cst_status cst_which_check(const cst_run *r, int n, const int *which, cst_diag *d);
/* An error when the run's integrator does not differentiate its steps */
cst_status cst_discrete_applies(const cst_run *r, cst_diag *d);

/* grad (nobjective x leaves), of the objectives of the request (NULL: all). The trajectory of r
 * must have been kept. concern: its columns, too; NULL: nobody asks */
cst_status cst_gradient_adjoint(cst_run *r, const cst_request *of, cst_concern *concern,
                                double *grad, cst_diag *d);
/* grad (nobjective x nleaf) for the leaves listed */
cst_status cst_gradient_direct(cst_run *r, int nleaf, const int *leaf, double *grad, cst_diag *d);

/* The sensitivity and adjoint equations discretised themselves: continuous.c */
cst_status cst_gradient_continuous_direct(cst_run *r, int nleaf, const int *leaf, double *grad,
                                          cst_diag *d);
cst_status cst_gradient_continuous_adjoint(cst_run *r, double *grad, cst_diag *d);
cst_motion *cst_continuous_work(cst_arena *a, cst_run *r);
cst_status cst_continuous_applies(cst_run *r, cst_diag *d);

/* The same by CVODES, for runs of its integrators; the adjoint needs one that was kept with
 * checkpoints (keep = 2). */
cst_status cst_gradient_multistep_direct(cst_run *r, int nleaf, const int *leaf, double *grad,
                                         cst_diag *d);
cst_status cst_gradient_multistep_adjoint(cst_run *r, double *grad, cst_diag *d);

/* Terms by perturbed residuals, an integrator and a step of their own: mixed.c */
cst_status cst_gradient_mixed(cst_run *r, int nleaf, const int *leaf, double *grad, cst_diag *d);

typedef struct cst_differences {
    double *slope, *error; /* (nobjective x nleaf) extrapolated central differences */
    unsigned char *failed; /* (nleaf) 1: a run failed */
    long *simulations;     /* += how many were made */
} cst_differences;

cst_status cst_gradient_difference(cst_run *r, const double *values, int nleaf, const int *leaf,
                                   const cst_differences *to, cst_diag *d);

#endif
