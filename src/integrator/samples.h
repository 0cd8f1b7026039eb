/* SPDX-License-Identifier: MIT
 *
 * Measures at given instants, linear between the two states around each:
 *
 *     y_i = (1 - w) g(n-1) + w g(n),   w = (t_i - t(n-1))/(t(n) - t(n-1)),   s = dy_i/dt_i
 *
 * Where a tolerance chooses the steps, one ends at t_i: w = 1, and s is the rate along the motion
 * (observe.h).
 *
 * The states' own times change when one of them is an event. With dg the whole change of an output
 * at its state:
 *
 *     dy_i = (1 - w) (dg(n-1) - s dt(n-1)) + w (dg(n) - s dt(n)) */
#ifndef CST_INTEGRATOR_SAMPLES_H
#define CST_INTEGRATOR_SAMPLES_H

#include "system/output.h"

typedef struct cst_samples {
    int n;
    const cst_sample *at; /* (n) by increasing time */
    double *y;            /* (n) */
    long *state;          /* (n) n: the later of the two states; not decreasing */
    double *weight;       /* (n) w */
    double *slope;        /* (n) s */
    double *before;       /* (components) at the state before */
    int ncomponent;
    int met; /* samples whose time has been reached */
    /* what a derivative reads or fills, else NULL */
    const double *bar; /* (n) adjoint: of the samples */
    double *jacobian;  /* (n x cols) direct */
    int cols, first;   /* first: column of the first direction that is carried */
} cst_samples;

cst_samples *cst_samples_new(cst_arena *a, const cst_model *m, int n, const cst_sample *at);
void cst_samples_begin(cst_samples *s);
/* The outputs are those of state `index` at time t; slopes: their changes are those along the
 * motion there (observe.h). */
void cst_samples_state(cst_samples *s, const cst_output *out, double t, double t_before, int slopes,
                       long index);

/* Samples that state n has a share in: indices first .. end - 1 */
void cst_samples_range(const cst_samples *s, long n, int *first, int *end);
double cst_samples_share(const cst_samples *s, int i, long n);

#endif
