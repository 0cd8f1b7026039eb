/* SPDX-License-Identifier: MIT
 *
 * Newton's method on the equations of one step, for the rules that solve for positions and
 * multipliers together. Factors are kept over steps while that pays; iterations go on to the
 * rounding floor, because derivatives belong to the solution. */
#ifndef CST_INTEGRATOR_NEWTON_H
#define CST_INTEGRATOR_NEWTON_H

#include "integrator/motion.h"

typedef struct cst_newton {
    void (*guess)(cst_motion *w, const cst_state *y0, double h,
                  cst_state *y1); /* y1; without accelerations while w->habits.coast > 0 */
    void (*residual)(cst_motion *w, const cst_state *y0, double h,
                     cst_state *y1); /* w->b: scaled forces, rows */
    int (*matrix)(cst_motion *w, const cst_state *y0, double h,
                  const cst_state *y1); /* factors of it; 0: singular */
    void (*correct)(cst_motion *w, const cst_state *y0, double h,
                    cst_state *y1);               /* y1 by w->x: (tangent, scaled lambda) */
    const double *(*lambda)(const cst_state *y1); /* its multipliers */
} cst_newton;

/* Iterates from a guess; 0: failed, and its factors are dropped */
typedef int cst_attempt(cst_motion *w, const void *of, const cst_state *y0, double h,
                        cst_state *y1);
/* From the guess; where its accelerations mislead, from one without them; where old factors do,
 * with a new matrix in each iteration. 0: failed */
int cst_newton_attempts(cst_motion *w, cst_attempt *attempts, const void *of, const cst_state *y0,
                        double h, cst_state *y1);
int cst_newton_solve(cst_motion *w, const cst_newton *of, const cst_state *y0, double h,
                     cst_state *y1);
void cst_newton_doubt(cst_motion *w,
                      const double *xi); /* the part of a guess that accelerations give */
void cst_newton_review(cst_motion *w,
                       long iterations); /* after a step: are its factors worth keeping? */
double cst_newton_size(const cst_motion *w,
                       const double *xi); /* of a tangent vector: lengths in sizes of the bodies */

/* The residual of the equations of motion, and its contraction. Corrections of positions do not
 * show it where joints carry it: with old factors these have directions of an earlier position, and
 * multipliers converge more slowly than a motion that does not depend on them. Derivatives read the
 * multipliers. */
typedef struct cst_newton_forces {
    double size, theta;
    int passes, idle;
} cst_newton_forces;
void cst_newton_weigh(cst_motion *w); /* after a new matrix */
void cst_newton_watch(const cst_motion *w, const double *b,
                      cst_newton_forces *f); /* before each solution with it */
/* 1: what is left of it is rounding, or small against the forces of the joints; floor: a move that
 * is rounding */
int cst_newton_balanced(cst_motion *w, double h, const double *lambda, int fresh, double floor,
                        cst_newton_forces *f);

/* The message for a step that failed for good. */
cst_status cst_newton_blame(cst_motion *w, double t, double h, cst_diag *d);

#endif
