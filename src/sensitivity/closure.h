/* SPDX-License-Identifier: MIT
 *
 * Closed loops: numbers whose change would open them, and the singular positions that a motion
 * passes (closure.c). The trajectory must have been kept. */
#ifndef CST_SENSITIVITY_CLOSURE_H
#define CST_SENSITIVITY_CLOSURE_H

#include "integrator/run.h"

/* Numbers that cannot change by themselves: effect (leaves) is CST_BREAKS_LOOP, CST_CONTRADICTS or
 * 0. */
cst_status cst_find_breaking(cst_run *r, unsigned char *effect, cst_diag *d);

typedef struct cst_singular { /* positions that the motion passes */
    double *when; /* (leaves) the time of the first one in which a number opens a loop; INFINITY:
                     there is none */
    double first; /* the time of the first one; INFINITY: there is none */
    double near, near_at; /* the least distance of a state from one, rad or lengths of the loops,
                             and its time */
    double until;         /* later ones were not looked for; INFINITY: all were */
    long looks;           /* positions that were looked at: each is a factorisation */
} cst_singular;
/* fixed: what cst_find_breaking found. */
cst_status cst_find_singular(cst_run *r, const unsigned char *fixed, cst_singular *to, cst_diag *d);

/* Positions at which loops are examined: y is the k-th of CST_EXAMINED states of the motion, its
 * position closed where the formulation lets it drift. The system is at rest there. 0: it cannot be
 * closed */
enum { CST_EXAMINED = 3 };
int cst_closed_state(cst_run *r, cst_arena *a, int k, cst_state *y);

typedef struct cst_null_space {
    int n;
    double *at; /* (n x all rows) */
} cst_null_space;
/* Left null vectors of the rows of the motion at y; of many a few sums with random factors */
cst_null_space cst_null_at(cst_run *r, cst_arena *a, const cst_state *y);

#endif
