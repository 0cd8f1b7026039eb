/* SPDX-License-Identifier: MIT
 *
 * Which numbers an incident concerns (integrator/incidents.h). Let c be the operands that vanish
 * there, w random weights in [1, 2). Number p_i is concerned if it moves them:
 *
 *     |sum_j w_j dc_j/dp_i| size_i  >  CLEAR err
 *
 * where err is what rounding makes of the operands: absolute, and never relative to the largest
 * slope, which at rest is rounding itself. The left-hand side is one more column of the backward
 * sweep. */
#ifndef CST_SENSITIVITY_CONCERN_H
#define CST_SENSITIVITY_CONCERN_H

#include "integrator/adjoint.h"
#include "integrator/run.h"

enum {
    CST_CONCERN_COLUMNS = 16, /* further incidents share them */
    CST_ELSEWHERE = 1 << 24 /* `other` of READS_KINK and READS_POINT: an instruction of the outputs
                               or, from here on, of the objectives; of READS_CORNER and READS_JUMP:
                               an event or, from here on, an `at` whose instant meets one */
};

typedef struct cst_operand { /* of the outputs: a register at state n, with its weight */
    long n;
    int incident, reg;
    double weight;
} cst_operand;

typedef struct cst_concern {
    cst_run *r;
    cst_arena *a;
    cst_incidents found;           /* of the run, and of what its objectives read */
    CST_LIST(cst_operand) operand; /* in the order of states */
    CST_LIST(cst_operand) goal;    /* of the objectives */
    CST_LIST(double) err;          /* (incidents) by which rounding may move the operands */
    int ncolumn;
    int *column;   /* (incidents) -1: it has no operands */
    double *apart; /* (incidents x objectives) by which slopes to both sides differ, per weighted
                      change of the guard; INFINITY: not known */
    cst_state side[2]; /* scratch, */
    double *seen;      /* (columns x 2) likewise */
    double *fbar;      /* (columns x functionals) operands in the objectives themselves */
    double *val;       /* (columns x graph values) likewise */
    double *slope;     /* (columns x leaves) of the operands; NULL: not known */
    double *until;     /* (objectives) until when they read the motion */
    int next;          /* of the operands, on the way back */
    const char *
        *op; /* (objectives x leaves) the operation of numbers on whose kink a number stands */
    cst_kinked *kinked;
    double *bar; /* (graph values) scratch */
} cst_concern;

/* Finds the incidents of the last run, which has been kept. Allocates in a. */
cst_concern *cst_concern_new(cst_arena *a, cst_run *r);
/* reads.c: those of what objectives read */
void cst_reads_find(cst_concern *c, cst_arena *a);

/* Of the backward sweep, whose columns from `first` on are those of the incidents: what is read at
 * state n, and the guards of the motion there. event: bars of a single one; objective: those of the
 * columns before, NULL: all */
void cst_concern_outputs(cst_concern *c, cst_output *o, int first, long n);
void cst_concern_state(cst_concern *c, cst_adjoint *ad, cst_adjoint *event, int first,
                       const int *objective, long n);

/* Numbers on the kink of an operation of numbers that objective o sees with bars val of graph
 * values */
void cst_concern_numbers(cst_concern *c, int o, const double *val);

/* Raises the effects (objectives x n) of the n numbers that are concerned, and says so. Without
 * slopes of the operands all numbers are. size (leaves), slope (objectives x leaves) */
void cst_concern_raise(const cst_concern *c, const double *size, const double *slope, int n,
                       const int *number, cst_effect *effect, cst_diag *d);

#endif
