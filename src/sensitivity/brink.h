/* SPDX-License-Identifier: MIT
 *
 * Numbers without a derivative: why, and who finds them. */
#ifndef CST_SENSITIVITY_BRINK_H
#define CST_SENSITIVITY_BRINK_H

#include "integrator/run.h"

/* An element that rests on its kink or switch, and that a number moves off it (resting_moves.c) */
typedef struct cst_moved_rest {
    const char *element;  /* NULL: there is none */
    unsigned char *split; /* (nu + nz + integrals) 1: this rate has two one-sided slopes. The arrays
                             of all leaves are one block */
} cst_moved_rest;

/* Why a slope does not exist */
typedef struct cst_brink {
    const char *op, *element; /* operation of numbers on whose kink it is; element whose switch it
                                 moves off the start; NULL: none */
    const cst_moved_rest *rests; /* element that the number moves off the kink or switch on which it
                                    rests; NULL: none */
    int opens;                   /* 1: the number would open a loop in a singular position, */
    double when;                 /* which the mechanism passes at this time */
    int bends;                   /* 1: the number moves a law off its kink or switch at the start */
} cst_brink;

/* Forces that stay on a kink of their law or on a switch (r->events->resting, staying). by
 * (leaves): for each of the n numbers asked for, an element that it moves off. The notices are
 * cleared: the numbers are refused instead. */
cst_status cst_find_resting(cst_run *r, const unsigned char *fixed, int n, const int *number,
                            cst_moved_rest *by, cst_diag *d);

int cst_stands_on_kink(cst_run *r); /* is a law near its kink or switch at the start? */
/* brink (objectives x leaves): `bends` is set for those of the n numbers for which a value read at
 * the start, or the start itself, has two different one-sided slopes. swept: 1 if r->first_bar
 * holds the bars of the first state */
cst_status cst_find_bends(cst_run *r, const unsigned char *fixed, int n, const int *number,
                          int swept, cst_brink *brink, cst_diag *d);

#endif
