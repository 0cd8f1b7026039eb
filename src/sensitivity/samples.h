/* SPDX-License-Identifier: MIT
 *
 * Derivatives of measures at instants. Simulate first, with keep for derivatives; the samples s
 * then belong to that run. */
#ifndef CST_SENSITIVITY_SAMPLES_H
#define CST_SENSITIVITY_SAMPLES_H

#include "integrator/run.h"
#include "integrator/samples.h"

cst_status cst_samples_simulate(cst_run *r, const double *values, cst_samples *s, int keep,
                                cst_diag *d);
/* Numbers and measures that have no derivative: an error that names the first of them */
cst_status cst_samples_refuse(cst_run *r, const cst_samples *s, int n, const int *which,
                              cst_diag *d);
/* jacobian (samples x n) */
cst_status cst_samples_direct(cst_run *r, cst_samples *s, int n, const int *which, double *jacobian,
                              cst_diag *d);
/* gradient (all numbers) of a function whose derivatives with respect to the samples are bar
 * (samples) */
cst_status cst_samples_adjoint(cst_run *r, cst_samples *s, const double *bar, double *gradient,
                               cst_diag *d);

#endif
