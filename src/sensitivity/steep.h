/* SPDX-License-Identifier: MIT
 *
 * Slopes that are not finite although the objective is. */
#ifndef CST_SENSITIVITY_STEEP_H
#define CST_SENSITIVITY_STEEP_H

#include "integrator/run.h"

/* Warns, once, of each objective that has such slopes, and names the first operation of the last
 * run that causes them. Where none is found the warning says only that the slope is not finite. */
void cst_steep_tell(cst_run *r, const cst_gradient *g, cst_diag *d);

#endif
