/* SPDX-License-Identifier: MIT
 *
 * Which bodies and joints are in closed loops? A body that hangs on others by a single joint
 * satisfies the rows of this joint whatever the others do. Such bodies are taken off with their
 * joints, again and again, until loops are left, and what connects them. */
#ifndef CST_FORMULATION_LOOPS_H
#define CST_FORMULATION_LOOPS_H

#include "system/system.h"

/* body (bodies), joint (joints) = 1: in a loop, or between loops. The number of such joints. Only
 * rows of the motion count. */
int cst_loops_find(cst_arena *a, const cst_model *m, unsigned char *body, unsigned char *joint);

/* Loops that hang together, not by ground alone, are a part; its number is that of one of its
 * bodies. */
typedef struct cst_loops {
    int joints;               /* in loops, or between them; 0: there are no loops, and no arrays */
    unsigned char *body;      /* (bodies) 1: in a loop */
    unsigned char *on_ground; /* (parts) 1: it hangs on the ground */
    int *part, *row;          /* (bodies), (all rows) of which part they are; row -1: of none */
    double *length;           /* (bodies) the longest side of a box around the points of a part's
                                 joints and the origins of its bodies; of others the model's */
    double *rod;              /* (parts) the shortest distance of points of a constraint */
} cst_loops;
/* The system is placed at q. */
cst_loops cst_loops_measure(cst_arena *a, const cst_system *s, const double *q);

#endif
