/* SPDX-License-Identifier: MIT
 *
 * What objectives ask of states: adjoint.c, deciding.c. */
#ifndef CST_SENSITIVITY_ASKED_H
#define CST_SENSITIVITY_ASKED_H

#include "formulation/start_derivative.h"
#include "integrator/adjoint.h"
#include "integrator/run.h"

/* deciding.c: registers of the outputs that an objective reads, with those of integrals;
 * by_objective: registers of the objectives' code */
unsigned char *cst_outputs_read(const cst_run *r, cst_arena *a, const unsigned char *by_objective);
/* seen (values of the graph) = 1: a number that decides in what objective o reads, or in what moves
 */
void cst_deciding(const cst_run *r, cst_arena *a, int o, unsigned char *seen);
/* Weight of functional i at state n, the last of which is `last` */
double cst_functional_share(const cst_run *r, int i, long n, long last);
/* ad->seed += what the bars of functionals ask of the outputs at state n */
void cst_functionals_seed(cst_run *r, cst_adjoint *ad, const double *fbar, long n);

cst_start_at
cst_run_start_at(const cst_run *r,
                 const cst_state *y); /* the start of the last run; y: its first state */

/* The magnitude against which rounding of an objective is measured: the sum over its functionals of
 * |slope| times largest |value| */
double cst_objective_scale(cst_run *r, int objective);
/* bars (nfunctional) of one objective's functionals, and val += its bars of numbers */
void cst_objective_reverse(cst_run *r, int objective, double *bar, double *val);

/* event: bars of what vanishes with the value of event or kink k at y; returns how far rounding may
 * move it. At a rest: with a jump its rate counts, too; without one a bound of velocities is left
 * out, because the motion that leaves the rest passes it in a time of the order of the bound, with
 * a law that is apart by as much. adjoint.c */
typedef enum cst_guard_at {
    CST_GUARD_MOVES,
    CST_GUARD_RESTS,
    CST_GUARD_RESTS_AT_JUMP
} cst_guard_at;
double cst_guard_bars(cst_run *r, cst_adjoint *event, int k, cst_guard_at at, const cst_state *y);

#endif
