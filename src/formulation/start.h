/* SPDX-License-Identifier: MIT
 *
 * The start, each problem solved to rounding:
 *
 *     assembly       min 1/2 |q - q_drawn|_W^2    subject to phi(q, t0) = 0 and the prescribed coordinates
 *     rates          min 1/2 |T(u - u_drawn)|_W^2 subject to J u + phi_t = 0 and the prescribed rates
 *     accelerations  T^T (M (T u' + L) + phi_x^T lambda - Q) = 0,  J u' = -(phi_x slots(L) + gamma)
 *
 * W is 1 for points and scalars and length^2 for directions (structure.h). */
#ifndef CST_FORMULATION_START_H
#define CST_FORMULATION_START_H

#include "formulation/structure.h"

typedef struct cst_start { /* scratch, one per thread */
    cst_system *s;
    const cst_structure *st;
    cst_lu *assembly, *rates;
    double *val, *rhs, *sol, *res;         /* matrix values, right-hand side, solution, residual */
    double *r, *d, *phi, *lambda, *xi, *drawn;
} cst_start;

cst_start *cst_start_new(cst_arena *a, cst_system *s, const cst_structure *st);

/* q: initial guess in, assembled position out; mem: remembered values. lambda (all rows, may be NULL): multipliers, out. */
cst_status cst_assemble(cst_start *w, double t, const double *mem, double *q, double *lambda, cst_diag *d);
cst_status cst_rates(cst_start *w, double t, const double *mem, const double *q, double *u, double *eta, cst_diag *d);


#endif
