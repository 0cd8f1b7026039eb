/* SPDX-License-Identifier: MIT
 *
 * Events exactly at the start or at the end of a run: edges.c. */
#ifndef CST_SENSITIVITY_EDGES_H
#define CST_SENSITIVITY_EDGES_H

#include "sensitivity/gradient.h"

int cst_edge_any(const cst_run *r); /* does an event stand on its switch at the start? */
/* Is event k such a one? y: the first state, other: the same with the mode of a side, 0 or 1. 0: it is none, or has that mode */
int cst_edge_begin(cst_run *r, int k, int side, cst_state *y, cst_state *other);
/* Do the bars of the first state, in a column of ad, see that their rates differ? */
int cst_edge_sees(const cst_run *r, const cst_adjoint *ad, int column, int k, const cst_state *y, const cst_state *other);
/* Does what an objective with the bars fbar of its functionals reads there differ? */
int cst_edge_reads(cst_run *r, cst_arena *a, const double *fbar, const cst_state *y, const cst_state *other);
/* Does an `at` go on with another rate behind an event of its instant? */
int cst_edge_bends(cst_run *r, cst_arena *a, int functional);
/* At the last state there may be an event that did not change anything any more, or a kink: what is read there would jump with it, or go
 * on with another rate. name: of the element */
typedef enum cst_edge_at_end { CST_EDGE_NONE, CST_EDGE_JUMPS, CST_EDGE_BENDS } cst_edge_at_end;
cst_edge_at_end cst_edge_ends(cst_run *r, cst_arena *a, const double *fbar, const char **name);
/* Does a number with this slope of g move it, where the largest of all is so? */
int cst_edge_moves(double slope, double largest);

#endif
