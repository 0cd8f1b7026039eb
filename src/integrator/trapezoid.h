/* SPDX-License-Identifier: MIT
 *
 * What the trapezoidal rule and its derivatives share: see trapezoid.c. */
#ifndef CST_INTEGRATOR_TRAPEZOID_H
#define CST_INTEGRATOR_TRAPEZOID_H

#include "integrator/rule.h"

typedef struct cst_trapezoid {
    double factored_h; /* of N; 0: none */
    double *F;         /* (n) */
    double *xi;        /* (nu) */
    double *r;         /* ambient */
    int ambient; /* tangent: dq1 = dq0 + h/2 (dv0 + dv1), the sensitivity equation itself, instead
                    of the move's */
} cst_trapezoid;

double cst_trapezoid_kappa(const cst_motion *w, double h);
int cst_trapezoid_matrix(cst_motion *w, double h, const cst_state *y1,
                         const double *mem); /* 0: singular */
void cst_trapezoid_correct(cst_motion *w, double h, const double *F, double *x);

/* dx = [W J^T/kappa] N^-T (rho, 0): nearly (I - h/2 D)^-T rho; scratch (2n) */
void cst_trapezoid_correct_bar(cst_motion *f, double h, const double *rho, double *dx,
                               double *scratch);

/* Corrections of a tangent or an adjoint come to rounding (noise: they are known to be there). They
 * never grow (linalg/krylov.h): what is left at the last one is rounding too, of terms that cancel.
 * FAILED: a NaN. before: the change before this one, updated */
#define CST_ITERATION_MOST 80
typedef enum cst_iteration {
    CST_ITERATION_GOES_ON,
    CST_ITERATION_SETTLED,
    CST_ITERATION_FAILED
} cst_iteration;
cst_iteration cst_iteration_ends(int noise, double change, double size, int it, double *before);
/* The larger of `worst` and change/size; a NaN stays */
double cst_iteration_worse(double worst, double change, double size);
/* Has an iteration come to rounding? */
int cst_iteration_settled(double change, double size, int it, double *before);

void cst_trapezoid_open_adjoint(cst_arena *a, cst_adjoint *ad);
void cst_trapezoid_open_tangent(cst_arena *a, cst_tangent *t);
cst_status cst_trapezoid_tangent(cst_tangent *t, const cst_state *y0, const cst_state *y1,
                                 int factor);
cst_status cst_trapezoid_prepare(cst_prepared *p, const cst_state *y0, const cst_state *y1);
cst_status cst_trapezoid_adjoint(cst_adjoint *ad, const cst_state *y0, const cst_state *y1);

#endif
