/* SPDX-License-Identifier: MIT
 *
 * Detects whether a square matrix that changes with time becomes singular on its way. Eliminated in
 * a fixed order, its pivots then change sign, those of each diagonal block separately: two blocks
 * that become singular together do not hide each other, as they would in a determinant. */
#ifndef CST_LINALG_PIVOTS_H
#define CST_LINALG_PIVOTS_H

#include "linalg/rank.h"

typedef struct cst_pivots cst_pivots;
/* Chooses the order of elimination at the values of m; values may change later, the pattern may
 * not. NULL: m is singular, or out of memory. m->ptr and m->col must outlive the object, which is
 * released with the arena. */
cst_pivots *cst_pivots_new(cst_arena *a, const cst_rows *m);
/* negative (nrow): 1 for each pivot below 0 of the matrix with these values. Where a pivot is too
 * small to continue, the signs are not reliable: a change of sign is a reason to look closer, not a
 * proof. Returns the size of the smallest pivot, of rows that are scaled to largest entries of 1.
 */
double cst_pivots_signs(cst_pivots *p, const double *val, unsigned char *negative);

#endif
