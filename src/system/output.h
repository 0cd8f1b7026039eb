/* SPDX-License-Identifier: MIT
 *
 * Measures, rates of running integrals, remembered values and the integrands of objectives: outputs
 * of one tape whose channels are read from a state. */
#ifndef CST_SYSTEM_OUTPUT_H
#define CST_SYSTEM_OUTPUT_H

#include "system/pass.h"

typedef struct cst_output {
    const cst_tape *tape;
    int quad, functional, held, norm; /* first output of each kind; components come first */
    int nested; /* > 0: rates of integrals read other integrals; all are final after this many
                   passes */
    const cst_tape *memory; /* remembered values: channels x, MEM, time */
    int nfelt;              /* slots whose accelerations are read */
    cst_marker *felt;
    int needs_xdd, needs_force, needs_react, needs_system;
    double *reg, *bar, *memory_reg;
    double *xdd, *force, *react, *ambient, *ambient2;
    double *operand; /* (nrhs x registers) bars beside the seeds, taken by cst_output_reverse; */
    int operands;    /* 1: there are some */
} cst_output;

cst_output *cst_output_new(cst_arena *a, const cst_model *m);
void cst_output_bind(cst_output *o, const cst_system *s); /* numbers */

typedef struct cst_point_of_motion { /* what the channels are read from */
    double t;
    const double *q, *u, *ud, *z, *mem, *quad, *lambda;
} cst_point_of_motion;

/* Evaluates the tape; results stay in o->reg. The system is placed there. */
void cst_output_eval(cst_output *o, cst_system *s, const cst_point_of_motion *at);
double cst_output_value(const cst_output *o, int output);
/* mem = remembered values at (t, q), given the old ones */
void cst_memory_update(cst_output *o, cst_system *s, double *mem);

/* Bars of what the outputs read, per right-hand side, from seeds (nrhs x outputs) at the state of
 * the last eval; all += . xa are bars of slots' accelerations, val of graph values. */
typedef struct cst_output_bars {
    double *x, *xd, *xa, *force, *react, *z, *q, *v, *P, *val, *t;
} cst_output_bars;
void cst_output_reverse(cst_output *o, cst_pass *ps, const cst_pass_at *at, int nrhs,
                        const double *seed, const cst_output_bars *b);

/* quad (nrhs x integrals) += the bars of the integrals' values due to the seeds */
void cst_output_quad_bars(cst_output *o, int nrhs, const double *seed, double *quad);

/* Changes of the elements' potential and of the dissipated power, += */
void cst_energies_change(cst_pass *ps, const cst_pass_at *at, const double *dx, const double *dxd,
                         const double *dP, double *potential, double *dissipation);

/* Changes of all outputs (dot registers, outputs at tape->out) from the changes of what they read.
 */
typedef struct cst_output_changes {
    const double *x, *xd, *xa, *force, *react, *z, *quad, *val, *sys;
    double t;
} cst_output_changes;
void cst_output_forward(cst_output *o, const cst_output_changes *c);
double cst_output_change(const cst_output *o, int output);

#endif
