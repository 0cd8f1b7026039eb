/* SPDX-License-Identifier: MIT
 *
 * Steps that end at events, and events at one instant: instant.c. */
#ifndef CST_SENSITIVITY_INSTANT_H
#define CST_SENSITIVITY_INSTANT_H

#include "integrator/run.h"
#include "integrator/tangent.h"

/* t: derivative of y1 by the length of the step y0 -> y1, whose matrices are at hand; e: its error,
 * the part that is not the motion (instant.c) */
cst_status cst_length_direction(cst_run *r, cst_tangent *t, const cst_state *y0,
                                const cst_state *y1);
cst_status cst_length_error(cst_run *r, const cst_tangent *t, const cst_state *y1, cst_tangent *e);

void cst_motion_direction(cst_run *r, cst_tangent *t, const cst_state *y); /* t: the motion at y */
/* State n is the last of an instant at which several events were: their number; else 0 */
int cst_instant_events(const cst_run *r, long n);

#endif
