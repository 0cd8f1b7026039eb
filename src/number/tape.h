/* SPDX-License-Identifier: MIT
 *
 * Register code for timed expressions: compiled from the graph once, evaluated in the time loop without walking
 * the graph. Inputs are channels (given by the caller each time) and numbers (untimed values that the code
 * reads: gathered once per run). Registers: [channels | numbers | temporaries]. */
#ifndef CST_NUMBER_TAPE_H
#define CST_NUMBER_TAPE_H

#include "number/graph.h"

typedef struct cst_tape {
    int nchannel, nnumber, nout, nreg, ncode;
    cst_channel *channel; /* (nchannel) what register i is */
    cst_id *number;       /* (nnumber) which value register nchannel + i holds */
    int *out;             /* (nout) register of each output */
    struct cst_code *code;
} cst_tape;

cst_tape *cst_tape_new(cst_arena *a, const cst_graph *g, int nout, const cst_id *out);

/* reg[0 .. nchannel+nnumber) is given; fills the rest. */
void CST_K(cst_tape_eval)(const cst_tape *t, real *reg);
/* dot[inputs] given, fills the rest. reg as after eval. */
void CST_K(cst_tape_forward)(const cst_tape *t, const real *reg, real *dot);
/* bar: seeds at out registers, zero elsewhere; on return bar[inputs] is the gradient, temporaries are consumed. */
void CST_K(cst_tape_reverse)(const cst_tape *t, const real *reg, real *bar);
/* Smallest relative distance of an argument to a kink or jump met by the last eval's registers (tests, reports). */
double cst_tape_kink(const cst_tape *t, const double *reg);

#endif
