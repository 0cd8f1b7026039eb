/* SPDX-License-Identifier: MIT
 *
 * Measures, rates of running integrals, remembered values and the integrands of objectives: outputs of one tape whose
 * channels are read from a state. */
#ifndef CST_SYSTEM_OUTPUT_H
#define CST_SYSTEM_OUTPUT_H

#include "system/system.h"

typedef struct cst_output {
    const cst_tape *tape;
    int quad, functional; /* first output of each kind; components come first */
    const cst_tape *memory;          /* remembered values: channels x, MEM, time */
    int needs_xdd, needs_force, needs_react, needs_system;
    double *reg, *memory_reg;
    double *xdd, *force, *react, *ambient, *ambient2;
} cst_output;

/* scratch and tapes; the tapes are compiled here, once per object */
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

#endif
