/* SPDX-License-Identifier: MIT
 *
 * Variational midpoint rule: the discrete Lagrangian h L(qm, v), qm = (1 - a) q0 + a q1, v = (q1 -
 * q0)/h, with forces as in the discrete Lagrange-d'Alembert principle. As a map of (q, u), which
 * carries the momentum T^T M T u:
 *
 *     T(q0)^T (M T(q0) u0 - M v + (1 - a) h F(qm, v, zm) - h phi_q(q0)^T lambda) = 0,   phi(q1, t1)
 * = 0     q1, lambda zm = z0 + h/2 g(qm, v, zm),   z1 = 2 zm - z0 [T^T M T  J^T; J  0] [u1; eta] =
 * [T(q1)^T (M v + a h F); -phi_t]                                       at q1
 *
 * F: gravity and all forces. The second line of the discrete Euler-Lagrange equations of the next
 * step has the same momentum: what the projection takes away along J^T changes only its lambda. The
 * discrete Legendre transform at the start is the first line with the given u0. a = 1/2: order 2,
 * symplectic. */
#ifndef CST_INTEGRATOR_VARIATIONAL_H
#define CST_INTEGRATOR_VARIATIONAL_H

#include "integrator/rule.h"

typedef struct cst_variational {
    double weight; /* a */
    double factored_h;
    double *qm, *v, *zm, *zero;
    double *p0, *r, *val0; /* ambient momentum; ambient residual; matrix with J(q0) */
    double *rows;
} cst_variational;

/* qm, v, zm of a step, and the system placed there */
void cst_variational_middle(cst_motion *w, const cst_state *y0, double h, const cst_state *y1);
/* r = M T u0 - M v + (1 - a) h F, ambient; the system is in the middle */
void cst_variational_momentum(cst_motion *w, const cst_state *y0, double h, const double *mem);
/* N = [M + h (1-a) C + h^2 a (1-a) K, J(q0)^T; J(q1), -eps], factored in w->newton. 0: singular */
int cst_variational_matrix(cst_motion *w, const cst_state *y0, double h, const cst_state *y1);
/* The largest inertia in N: what h^2 lambda is per change of q1 */
double cst_variational_mass(const cst_motion *w);

void cst_variational_open_adjoint(cst_arena *a, cst_adjoint *ad);
void cst_variational_open_tangent(cst_arena *a, cst_tangent *t);
cst_status cst_variational_tangent(cst_tangent *t, const cst_state *y0, const cst_state *y1,
                                   int factor);
cst_status cst_variational_prepare(cst_prepared *p, const cst_state *y0, const cst_state *y1);
cst_status cst_variational_adjoint(cst_adjoint *ad, const cst_state *y0, const cst_state *y1);

#endif
