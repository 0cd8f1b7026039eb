/* SPDX-License-Identifier: MIT
 *
 * What a run shows, and the instants that it must meet.
 *
 * Rows of results come at start + i output. Rules with a given step round `output` to a whole
 * number of steps. Where no step ends at a row (a tolerance chooses the steps, or they are counted
 * from an event), the row is evaluated inside a step: the trajectory consists of the ends of steps
 * only, so steps and derivatives need not know of rows. The instants of objectives (`at`) and of
 * samples are ends of steps for these rules: their values and gradients are those of a state. The
 * slope dg/dt there is that along the motion. */
#ifndef CST_INTEGRATOR_OBSERVE_H
#define CST_INTEGRATOR_OBSERVE_H

#include "integrator/run.h"

/* Before the first state of a run; observe may be NULL. */
void cst_observe_begin(cst_run *r, cst_observer observe, void *ctx);
/* All outputs at y */
void cst_observe_outputs(cst_run *r, const cst_state *y);
/* Shows state y, whose outputs have been evaluated: as a row, or only to an observer that wants
 * every step. Sets r->stop. */
void cst_observe_state(cst_run *r, const cst_state *y, int row);

/* The rows from y0 on and before y1, the end of the step that has just been computed; whether y,
 * the end of a step, is one */
cst_status cst_observe_step(cst_run *r, const cst_state *y0, const cst_state *y1, cst_diag *d);
int cst_observe_row(const cst_run *r, const cst_state *y);

/* The next instant that somebody asks for; at most the end */
double cst_asked_next(const cst_run *r);
/* For changes along the motion itself, at numbers that stay */
cst_tangent *cst_along_new(cst_arena *a, const cst_run *r);
/* At y, whose outputs have been evaluated: sets the changes of all outputs to those along the
 * motion; t is scratch. asked: only if somebody asks for this instant */
void cst_observe_rates(cst_run *r, cst_tangent *t, const cst_state *y);
/* At y, whose outputs have been evaluated: if it is a requested instant, sets the changes of all
 * outputs to those along the motion. */
void cst_asked_slopes(cst_run *r, const cst_state *y);

#endif
