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
} cst_trapezoid;

double cst_trapezoid_kappa(const cst_index3 *w, double h);
int cst_trapezoid_matrix(cst_index3 *w, double h, const cst_state *y1, const double *mem); /* 0: singular */
void cst_trapezoid_correct(cst_index3 *w, double h, const double *F, double *x);

void cst_trapezoid_open_adjoint(cst_arena *a, cst_adjoint *ad);
void cst_trapezoid_open_tangent(cst_arena *a, cst_tangent *t);
cst_status cst_trapezoid_tangent(cst_tangent *t, const cst_state *y0, const cst_state *y1, int factor);
cst_status cst_trapezoid_prepare(cst_prepared *p, const cst_state *y0, const cst_state *y1);
cst_status cst_trapezoid_adjoint(cst_adjoint *ad, const cst_state *y0, const cst_state *y1);

#endif
