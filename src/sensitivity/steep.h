/* SPDX-License-Identifier: MIT
 *
 * Slopes that are not finite although the objective is. */
#ifndef CST_SENSITIVITY_STEEP_H
#define CST_SENSITIVITY_STEEP_H

#include "integrator/run.h"

/* Names the first operation of each objective that has such slopes, once. What is at hand is the last run: of method difference
 * another one than that of the values, of which nothing more is said than that there is no slope. */
void cst_steep_tell(cst_run *r, const cst_gradient *g, cst_diag *d);

#endif
