/* SPDX-License-Identifier: MIT
 *
 * Which bodies and joints are in closed loops? A body that hangs on others by a single joint satisfies the rows of this joint whatever
 * the others do. Such bodies are taken off with their joints, again and again, until loops are left, and what connects them. */
#ifndef CST_FORMULATION_LOOPS_H
#define CST_FORMULATION_LOOPS_H

#include "model/model.h"

/* body (bodies), joint (joints) = 1: in a loop, or between loops. The number of such joints. Only rows of the motion count. */
int cst_loops_find(cst_arena *a, const cst_model *m, unsigned char *body, unsigned char *joint);

#endif
