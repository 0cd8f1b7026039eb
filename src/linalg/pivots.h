/* SPDX-License-Identifier: MIT
 *
 * Does a square matrix that changes with time become singular on its way? Its pivots, eliminated in one order, change their
 * signs then, each part of the matrix its own: two singular parts at once do not hide each other, as they do in a determinant. */
#ifndef CST_LINALG_PIVOTS_H
#define CST_LINALG_PIVOTS_H

#include "linalg/rank.h"

typedef struct cst_pivots cst_pivots;
/* Chooses the order at m, whose values change later, its pattern does not. NULL: it is singular, or out of memory. m's ptr and col must
 * outlive it; released with the arena. */
cst_pivots *cst_pivots_new(cst_arena *a, const cst_rows *m);
/* negative (nrow): the pivots of the matrix with these values that are less than 0. They are what they are where a pivot is too small to
 * go on with: signs that change are a reason to look, not a proof. Returns the size
 * of the smallest one, of rows whose largest entries are 1. */
double cst_pivots_signs(cst_pivots *p, const double *val, unsigned char *negative);

#endif
