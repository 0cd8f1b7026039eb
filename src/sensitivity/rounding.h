/* SPDX-License-Identifier: MIT
 *
 * Bounds for the rounding errors of outputs and objectives of a run. */
#ifndef CST_SENSITIVITY_ROUNDING_H
#define CST_SENSITIVITY_ROUNDING_H

#include "integrator/run.h"

enum {
    CST_SIZE_FORCE = 3,
    CST_SIZE_REACT,
    CST_SIZES
}; /* behind coordinates, rates and accelerations */

typedef struct cst_rounding {
    cst_run *r;
    double size[CST_SIZES]; /* the largest of each so far: rounding stays when they vanish */
    double *err;            /* (registers) at the last state */
    double *quad_err, *functional_err; /* (integrals), (functionals) so far */
} cst_rounding;

cst_rounding cst_rounding_new(cst_arena *a, cst_run *r);
void cst_rounding_state(cst_rounding *s); /* bounds at a state, whose outputs are at hand */
void cst_rounding_add(cst_rounding *s, long n,
                      double h); /* counts it: it is state n and ends a step of length h */
double *cst_rounding_objectives(const cst_rounding *s,
                                cst_arena *a); /* (registers of the objectives) */

/* rounding (objectives): a bound for the rounding error of each (rounding.c). The trajectory must
 * have been kept. */
cst_status cst_objectives_rounding(cst_run *r, double *rounding, cst_diag *d);

int cst_is_kinetic(
    const cst_channel *c); /* the kinetic energy: from rest it grows with the square of rates */

#endif
