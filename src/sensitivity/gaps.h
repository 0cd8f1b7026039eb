/* SPDX-License-Identifier: MIT
 *
 * How far the loops of a mechanism are from a singular position. The gap of a part is the distance
 * of one of its rows to the span of the others,
 *
 *     gap = min |W^-1/2 J^T n|,   max |n_i| = 1        rows of J of norm 1 in the metric W
 *
 * and n follows from inverse iteration with J W^-1 J^T, by the matrix [W J^T; J 0] of the rows in
 * use: one factorisation at each position. W measures rotations by the length of the loops. Bodies
 * that hang on loops get almost no weight: their rows then take no part. */
#ifndef CST_SENSITIVITY_GAPS_H
#define CST_SENSITIVITY_GAPS_H

#include "formulation/loops.h"
#include "integrator/rows.h"

typedef struct cst_gaps {
    cst_loops loops;
    double *size; /* (nu) length of the loops for translations, 1 for rotations */
    double *norm; /* (all rows) of J, columns scaled with size */
    double *gap;  /* (parts) at the last position; INFINITY: of no loop */
    /* own */
    cst_arena *a;
    cst_system *s;
    const cst_structure *st;
    const cst_choices *choices;
    const cst_kkt *k;
    cst_lu **lu;                  /* (choices) factors; NULL: not needed yet */
    int choice;                   /* of the rows in use, -1: none yet */
    double *weight, *n, *b, *val; /* (nq) W; (all rows) null vectors; right-hand side; the matrix */
} cst_gaps;

/* The system is placed at q. NULL: there are no loops */
cst_gaps *cst_gaps_new(cst_arena *a, cst_system *s, const cst_structure *st, const cst_choices *c,
                       const double *q);
/* Norms of the rows are the largest of the positions that are given: a law may be flat in one. */
void cst_gaps_norms(cst_gaps *g, double t, const double *q, const double *mem);
double cst_row_norm(const cst_rows *rows, int row);

/* The gaps at a position of the motion; null vectors are taken from the last one. 0: the matrix
 * cannot be factored */
int cst_gaps_at(cst_gaps *g, double t, const double *q, const double *mem);

/* How far what is in loops moves in a second: rad, or lengths of their shortest rods. Loops that do
 * not hang on the ground move against one of their bodies. */
double cst_gaps_speed(const cst_gaps *g, const double *u);

#endif
