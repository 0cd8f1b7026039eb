/* SPDX-License-Identifier: MIT
 *
 * Which bodies and joints are in closed loops? A body that hangs on others by a single joint
 * satisfies the rows of this joint whatever the others do. Such bodies are taken off with their
 * joints, again and again, until loops are left, and what connects them. */
#ifndef CST_FORMULATION_LOOPS_H
#define CST_FORMULATION_LOOPS_H

#include "model/model.h"

/* body (bodies), joint (joints) = 1: in a loop, or between loops. The number of such joints. Only
 * rows of the motion count. */
int cst_loops_find(cst_arena *a, const cst_model *m, unsigned char *body, unsigned char *joint);

/* part (bodies): bodies whose loops hang together, not by ground alone, have the same number. size
 * (bodies): how large these loops are, the longest side of a box around the points of their joints
 * and the origins of their bodies. x, q: coordinates of slots and bodies; joint: those in loops. 0:
 * not in a loop, or all points are one. */
void cst_loops_sizes(cst_arena *a, const cst_model *m, const unsigned char *joint, const double *x,
                     const double *q, int *part, double *size);

#endif
