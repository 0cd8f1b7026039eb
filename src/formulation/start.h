/* SPDX-License-Identifier: MIT
 *
 * The start, each problem solved to rounding:
 *
 *     assembly       min 1/2 |q - q_drawn|_W^2    subject to phi(q, t0) = 0 and the prescribed
 * coordinates rates          min 1/2 |u - u_drawn|_M^2    subject to J u + phi_t = 0, the
 * prescribed rates, and u_i = u_drawn_i written in the file accelerations  T^T (M (T u' + L) +
 * phi_x^T lambda - Q) = 0,  J u' = -(phi_x slots(L) + gamma)
 *
 * W is 1 for points and the square of the body's size for directions (structure.h). What is not
 * drawn moving has u_drawn = 0: it follows with the least kinetic energy. Written rates are rows
 * with the compliance YIELD/D, D the inertia of u_i, so that those which follow from others do no
 * harm; iterations take the compliance out:
 *
 *     [ E M E + least   G^T     S^T   ] [u  ]
 *     [ G               0       0     ] [eta]        G: joints and prescribed rates, S: written
 * rates [ S               0    -YIELD/D ] [nu ]
 *
 * Where they contradict each other or the joints (clash), S is left out and E is 1 for written
 * rates and small for others: what is written changes least. Otherwise E = 1. */
#ifndef CST_FORMULATION_START_H
#define CST_FORMULATION_START_H

#include "formulation/structure.h"

typedef struct cst_start { /* scratch, one per thread */
    cst_system *s;
    const cst_structure *st;
    cst_lu *assembly, *rates;
    double *val, *rhs, *sol, *res; /* matrix values, right-hand side, solution, residual */
    double *r, *d, *phi, *lambda, *xi, *drawn;
    double *twice; /* (2 unknowns) scratch */
    double *nu;    /* (nu) multipliers of written rates */
    double *least, *stiff,
        *kept;     /* (nu) least inertia; D/YIELD of written rates, 0: not written; scratch */
    double *share; /* (nu) E */
    int clash;     /* written rates contradict each other or the joints */
} cst_start;

cst_start *cst_start_new(cst_arena *a, cst_system *s, const cst_structure *st);

/* q: initial guess in, assembled position out; mem: remembered values. lambda (all rows, may be
 * NULL): multipliers, out. */
cst_status cst_assemble(cst_start *w, double t, const double *mem, double *q, double *lambda,
                        cst_diag *d);
cst_status cst_rates(cst_start *w, double t, const double *mem, const double *q, double *u,
                     double *eta, cst_diag *d);

/* The matrix of the rates at the place and rates of the system, factored; w->val has no compliance.
 * 0: it is singular */
void cst_rates_measure(cst_start *w);
int cst_rates_factor(cst_start *w, const double *mem, const double *q, const double *lambda,
                     int again);
/* One step: x = (top, rows) and s of the written ones in, (u, eta) and nu out. And the exact
 * solution of A x + S^T nu = b, S x = s (NULL: 0); uses w->rhs, res and xi. */
void cst_rates_step(cst_start *w, int transposed, double *x, const double *s, double *nu);
void cst_rates_solve(cst_start *w, int transposed, const double *b, const double *s, double *x,
                     double *nu);

#endif
