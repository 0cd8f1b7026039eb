/* SPDX-License-Identifier: MIT
 *
 * Events during a run: they are found in a step, the step ends there, modes change. */
#ifndef CST_INTEGRATOR_SWITCHING_H
#define CST_INTEGRATOR_SWITCHING_H

#include "integrator/run.h"

void cst_run_switch_begin(cst_run *r); /* before a run: nothing has been met */
/* Modes of events that are exactly at their switch at the start: as the motion goes on. */
cst_status cst_run_switch_start(cst_run *r, cst_state *y, cst_diag *d);
/* A step is tried: events that were on their switch, and whose mode rounding has chosen, have that
 * of the side to which the motion goes. Then looks for those that start on a switch. y1 is scratch.
 */
cst_status cst_run_try_start(cst_run *r, cst_state *y0, cst_state *y1, cst_diag *d);
/* The first event that the step y0 -> y1 of length h has crossed: the step is shortened, accepted,
 * and followed by the change; then *met is 1 and y0 is the state after it. */
cst_status cst_run_switch(cst_run *r, cst_state *y0, cst_state *y1, double h, long *index,
                          cst_diag *d, int *met);
/* Modes that are not located change at the end of the step y1, which is derived anew then. */
cst_status cst_run_settle(cst_run *r, cst_state *y1, cst_diag *d);
/* A step of length zero up to an event that will change the modes of a set: y1 is y0, and where a
 * rule carries u' and lambda along, they are those of the state again. */
void cst_run_stay(cst_run *r, const cst_state *y0, cst_state *y1);
/* After an event: y1 is y0 with the modes of a set changed, and what follows from it. */
cst_status cst_run_jump(cst_run *r, const cst_state *y0, int set, cst_state *y1, cst_diag *d);
/* dg_k/dt at y; the values there stay in r->events */
double cst_run_event_rate(cst_run *r, const cst_state *y, int k);
/* y has just changed a set. Does the order of its event k and of event j, with the next set, matter
 * to the motion? Not if the jumps of the accelerations add and neither changes the rate at which
 * the other one is crossed. */
int cst_run_order_matters(cst_run *r, const cst_state *y, cst_state *scratch, int k, int j,
                          int set);
/* At y the set of event k has just changed. Does its law push back to the switch from both sides,
 * that is, does dg_k/dt at this very state have, on each side, the sign that leads to the other?
 * Then no motion continues on either side: it switches without end. */
int cst_run_pushes_back(cst_run *r, const cst_state *y, int k, int set, cst_state *scratch);
/* resting.c: laws on their kinks. The values of events and kinks are those at both ends of the step
 * y0 -> y1, or at the start y. */
void cst_rest_step(cst_run *r, const cst_state *y0, const cst_state *y1);
void cst_rest_start(cst_run *r, const cst_state *y);
/* Is a force on kink k at y, where the system is? */
int cst_rest_on_kink(cst_run *r, int k, const cst_state *y);
/* Forces without a direction at a state, where the outputs have been evaluated */
void cst_rest_closed(cst_run *r, const cst_state *y);
/* Of the registers of events and kinks, at their last eval: r->events->err */
void cst_rest_errors(cst_run *r);

/* An incident at the last accepted state */
void cst_run_note(cst_run *r, cst_incident_kind kind, int k, int other, double t);
/* What a simulation must say about its events, once */
void cst_run_switch_warn(cst_run *r, cst_diag *d);
/* An error where the last run has no gradient: it chatters, or jumps to another position */
cst_status cst_run_switch_stops(const cst_run *r, cst_diag *d);
/* Of what switches at instants that are not located */
void cst_run_loose_warn(const cst_run *r, cst_diag *d);
/* What the gradient of the last run is known to leave out, whatever the number is: CST_MISSES_ of
 * costate.h */
int cst_run_switch_misses(const cst_run *r);
/* other: y with mode `side` of event k and of those whose values jump with it, derived anew; 0: y
 * has that mode, or has no accelerations with it. Do rates or accelerations jump between the two?
 */
int cst_run_other_side(cst_run *r, const cst_state *y, int k, double side, cst_state *other);
int cst_run_sides_differ(const cst_run *r, const cst_state *y, const cst_state *other);

#endif
