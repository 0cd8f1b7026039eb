/* SPDX-License-Identifier: MIT
 *
 * Events during a run: they are found in a step, the step ends there, modes change. */
#ifndef CST_INTEGRATOR_SWITCHING_H
#define CST_INTEGRATOR_SWITCHING_H

#include "integrator/run.h"

void cst_run_switch_begin(cst_run *r); /* before a run: nothing has been met */
/* Modes of events that are exactly at their switch at the start: as the motion goes on. */
cst_status cst_run_switch_start(cst_run *r, cst_state *y, cst_diag *d);
/* The first event that the step y0 -> y1 of length h has crossed: the step is shortened, accepted, and followed by the change; then
 * *met is 1 and y0 is the state after it. */
cst_status cst_run_switch(cst_run *r, cst_state *y0, cst_state *y1, double h, long *index, cst_diag *d, int *met);
/* Modes that are not located change at the end of the step y1, which is derived anew then. */
cst_status cst_run_settle(cst_run *r, cst_state *y1, cst_diag *d);
/* A step of length zero up to an event that will change the modes of mask: y1 is y0, and where a rule carries u' and lambda along,
 * they are those of the state again. */
void cst_run_stay(cst_run *r, const cst_state *y0, double mask, cst_state *y1);
/* After an event: y1 is y0 with the modes of mask changed, and what follows from it. */
cst_status cst_run_jump(cst_run *r, const cst_state *y0, double mask, cst_state *y1, cst_diag *d);
/* resting.c: laws on their kinks. The values of events and kinks are those at both ends of the step y0 -> y1, or at the start y. */
void cst_rest_step(cst_run *r, const cst_state *y0, const cst_state *y1);
void cst_rest_start(cst_run *r, const cst_state *y);
void cst_rest_warn(const cst_run *r, cst_diag *d);
void cst_run_switch_warn(cst_run *r, cst_diag *d); /* what a simulation must say about its events, once */
/* What a gradient of the last run must say about its events; an error if there is none. */
cst_status cst_run_switch_report(cst_run *r, cst_diag *d);

#endif
