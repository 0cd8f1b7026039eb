/* SPDX-License-Identifier: MIT
 *
 * Register code for timed expressions: compiled from the graph once, evaluated in the time loop
 * without walking the graph. Inputs are channels (given by the caller each time) and numbers
 * (untimed values that the code reads: gathered once per run). Constants are loaded by the code,
 * they are neither. Registers: [channels | numbers | temporaries], one temporary per instruction.
 */
#ifndef CST_NUMBER_TAPE_H
#define CST_NUMBER_TAPE_H

#include "number/graph.h"

typedef struct cst_tape {
    int nchannel, nnumber, nout, nreg, ncode;
    cst_channel *channel; /* (nchannel) what register i is */
    cst_id *number;       /* (nnumber) which value register nchannel + i holds */
    int *out;             /* (nout) register of each output */
    struct cst_code *code;
    double *constant;
    struct cst_lookup *lookup;
} cst_tape;

typedef struct cst_code { /* instruction i writes register nchannel + nnumber + i */
    int op;               /* enum cst_op_id or one of the two below */
    int a[3];             /* registers of the arguments */
} cst_code;

#define CST_CODE_CONST (-1) /* a[0]: which constant */
#define CST_CODE_TABLE (-2) /* a[0]: register of x, a[1]: which lookup */

typedef struct cst_lookup {
    const cst_table *table;
    int derivative, y,
        m; /* y, m: first registers of the table's values (n numbers); data: unused */
} cst_lookup;

cst_tape *cst_tape_new(cst_arena *a, const cst_graph *g, int nout, const cst_id *out);

/* reg[0 .. nchannel+nnumber) is given; fills the rest. */
void CST_K(cst_tape_eval)(const cst_tape *t, real *reg);
/* dot[inputs] given, fills the rest. reg as after eval. */
void CST_K(cst_tape_forward)(const cst_tape *t, const real *reg, real *dot);
/* bar: seeds at out registers, zero elsewhere; on return bar[inputs] is the gradient, temporaries
 * are 0. */
void CST_K(cst_tape_reverse)(const cst_tape *t, const real *reg, real *bar);
/* Smallest relative distance of an argument to a kink or jump met by the last eval's registers
 * (tests, reports). Distances are relative to 1 + size of the arguments, for linear tables to the
 * interval; INFINITY: there is none. */
double cst_tape_kink(const cst_tape *t, const double *reg);
/* The same of one instruction */
double cst_code_kink(const cst_tape *t, const cst_code *c, const double *reg);

/* ---- is a value on a kink, to rounding? tape_kink.c ---- */

/* reach (registers) = 1: output `out` reads the register */
void cst_tape_reach(const cst_tape *t, int out, unsigned char *reach);
/* How far rounding may have moved each register: err[inputs] given, fills the rest. */
void cst_tape_errors(const cst_tape *t, const double *reg, double *err);
/* on (ncode) = 1: the operation is on its kink, to rounding. Returns how many */
int cst_tape_on_kink(const cst_tape *t, const double *reg, const double *err, unsigned char *on);
/* seen (ncode) = 1: operations in `on` that the seeds in bar reach; their number. bar is left as
 * scratch. */
int cst_tape_seen(const cst_tape *t, const double *reg, const double *err, const unsigned char *on,
                  double *bar, unsigned char *seen);
/* Does a value to either side of its kink have a slope of that side, as max(a, b), or none, as a
 * norm? */
int cst_code_has_sides(const cst_code *c);
/* bar (registers) += weights of what vanishes at the kink of instruction i (a - b of max(a, b),
 * each component of a norm); returns how far rounding may move their sum. zero: register r itself;
 * zeros: of a register that may have no slope, as x^2 + y^2, what makes it vanish */
double cst_tape_operands(const cst_tape *t, const double *reg, const double *err,
                         const unsigned char *on, int i, double *bar);
double cst_tape_zero(const double *err, int r, double *bar);
double cst_tape_zeros(const cst_tape *t, const double *reg, const double *err, int r, double *bar);
/* seen (values of the graph) = 1: a number that decides between values in the registers of reach;
 * NULL: of all */
void cst_tape_deciding(const cst_tape *t, const unsigned char *reach, unsigned char *seen);

#endif
