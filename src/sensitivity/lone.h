/* SPDX-License-Identifier: MIT
 *
 * Integrands that are on a kink at a single state: lone.c. */
#ifndef CST_SENSITIVITY_LONE_H
#define CST_SENSITIVITY_LONE_H

#include "integrator/run.h"

/* begin: forgets those of the last run. */
void cst_lone_begin(cst_run *r);
/* add: state n is such a state, with its registers at hand; before: those of the state before it, h
 * earlier (NULL: there is none); dot: changes of its inputs along some direction. */
void cst_lone_add(cst_run *r, long n, const double *before, double h, const double *dot);
/* end: the state after n, whose registers are at hand, is h later. */
void cst_lone_end(cst_run *r, long n, double h, const double *dot);
const cst_beside *cst_lone_at(const cst_run *r, long n); /* NULL: it is none */
/* The outputs are those of the end of a step from y0, with changes. NULL: no integrand is on a kink
 * there; else its inside */
const cst_beside *cst_lone_inside(cst_run *r, const cst_state *y0);

#endif
