/* SPDX-License-Identifier: MIT
 *
 * Singular positions that the motion passes: singular.c. */
#ifndef CST_SENSITIVITY_SINGULAR_H
#define CST_SENSITIVITY_SINGULAR_H

#include "integrator/run.h"

typedef struct cst_singular { /* positions that the mechanism passes */
    double *when; /* (leaves) the time of the first one in which a number opens a loop; INFINITY:
                     there is none */
    double near, near_at; /* rad, or lengths of the loops: the least distance of a state from one,
                             and its time; INFINITY: there is none */
    double by, by_at; /* the least distance at which one way passes another, in steps, and its time;
                         INFINITY: none does */
    int *group,
        groups; /* (leaves) numbers that open the same loops at the same time have the same one */
    double cut; /* the time from which on too many were passed for all to be examined; INFINITY: all
                   were */
} cst_singular;
/* of the n numbers asked for; fixed: as for cst_find_rough */
cst_status cst_find_singular(cst_run *r, const unsigned char *fixed, int n, const int *number,
                             cst_singular *to, cst_diag *d);

#endif
