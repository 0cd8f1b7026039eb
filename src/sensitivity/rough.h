/* SPDX-License-Identifier: MIT
 *
 * Objectives at kinks: what is known of them along one direction of the numbers (rough.c), and how
 * it is told (rough_told.c). */
#ifndef CST_SENSITIVITY_ROUGH_H
#define CST_SENSITIVITY_ROUGH_H

#include "sensitivity/rounding.h"

enum { CST_MOST_ASKED = 256 }; /* numbers that are asked one by one; of more, all are refused */

/* Where an objective has no derivative: at an operation of the outputs, or of the objectives, or
 * where two instants share a peak */
typedef struct cst_rough_place {
    int code, in_objective, tie, pole;
    double t, other;
    long n;
} cst_rough_place;

typedef struct cst_study {
    cst_run *r;
    cst_rounding known;
    const cst_tangent *t;  /* changes of the state */
    double *most, fastest; /* (channels) the largest changes so far; of all rates u */
    int first_only;        /* the first state, and its neighbour */
    int asking; /* 1: the study of a single number, which does not collect states for lone.c */
    int moves;  /* 0: there are no tangents; everything may move */
    double *bar, *fbar; /* (registers), (objectives x functionals) */
    unsigned char *move, *on, *was,
        *stays;               /* (registers), (codes) now, at the state before, both */
    unsigned char *quad_seen; /* (objectives x integrals) */
    unsigned char *quad_moves, *functional_moves;
    unsigned char *rough; /* (objectives) */
    cst_rough_place *at,
        *lone; /* (objectives) where it is so; where an integrand is on a kink at one state alone */
    double *before, *dot_before; /* (registers) of the state before, and their changes */
    double *tie_change,
        *tie_time;   /* (functionals) of the first state that shares a peak; NAN: none yet */
    double *unequal; /* (functionals) when another one changes otherwise; NAN: none does */
} cst_study;

/* Objectives at a kink of their own: rough (objectives) is set to 1, and d says why. by (objectives
 * x leaves): the numbers without a derivative, of the n that are asked for; where these are too
 * many, all. fixed: what cst_find_breaking found, numbers that do not count */
cst_status cst_find_rough(cst_run *r, const unsigned char *fixed, int n, const int *number,
                          unsigned char *rough, unsigned char *by, cst_diag *d);

/* Warns of what the study of all numbers at once has found. by (objectives x leaves): 1 for those
 * of n numbers without a derivative */
void cst_rough_tell(const cst_study *s, int n, const int *number, const unsigned char *by,
                    cst_arena *a, cst_diag *d);

#endif
