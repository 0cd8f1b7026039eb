/* SPDX-License-Identifier: MIT
 *
 * The generalised-alpha method of Chung and Hulbert for index 3, in the tangent coordinates u (the
 * form of Bruels, Cardona and Arnold, Mechanism and Machine Theory 48 (2012) 121-137). The
 * algorithmic accelerations a are carried from step to step:
 *
 *     (1 - am) a1 + am a0 = (1 - af) u1' + af u0'
 *     D  = h u0 + h^2 ((1/2 - beta) a0 + beta a1),     q1 = move(q0, D)
 *     u1 = u0 + h ((1 - gamma) a0 + gamma a1)
 *     T^T (M A1 + phi_q^T lambda1 - Q(q1, v1, z1, t1)) = 0,   phi(q1, t1) = 0      v1 = T u1, A1 =
 * T u1' + L(v1, u1) z1 = z0 + h/2 (z0' + g(q1, v1, z1, t1))
 *
 *     am = (2 rho - 1)/(rho + 1), af = rho/(rho + 1), gamma = 1/2 + af - am, beta = (1/2 +
 * gamma)^2/4
 *
 * Velocities are not projected and accelerations are not computed again: u1' and lambda1 are
 * unknowns of the step. What has a frequency far above 1/h, constraints included, is multiplied by
 * about -rho in each step; order 2, lambda too, but for what is left of a0 = u0' at the start and
 * behind events, which is first order in lambda and dies out as rho^n.
 *
 * Newton's method has the correction of q1 along T as its unknown, w: da1 = back(D, w)/(beta h^2),
 * back the inverse of the derivative of the move. With c = (1 - am)/(1 - af), rows of forces times
 * s2 = beta h^2/c:
 *
 *     N [w; s2 dlambda] = -[s2 T^T r; phi],   N = [W + E + s2 K + (gamma h/c) C,  J^T; J, -eps], W
 * = T^T M T
 *
 * E: how far s2 d(M A1) is from M T w in a body that turns; C has what its velocities change beside
 * (gamma h/c) T w. N is the derivative of the step, but for eps: tangent and adjoint solve with it
 * once, and look at what is left. */
#ifndef CST_INTEGRATOR_GENERALIZED_ALPHA_H
#define CST_INTEGRATOR_GENERALIZED_ALPHA_H

#include "integrator/rule.h"

typedef struct cst_generalized_alpha {
    double am, af, gamma, beta, c;
    double *D, *w, *dxi;       /* tangent */
    double *dq, *Td, *dv, *My; /* ambient: a column of E */
    int most;                  /* unknowns of a body that turns */
    double *y, *turn; /* (most x nq) columns of E before M; of the slots' velocities, like the
                         system's B */
} cst_generalized_alpha;

/* D of the step y0 -> y1 */
void cst_generalized_alpha_move(cst_motion *w, const cst_state *y0, double h, const cst_state *y1);
/* N with D at y1, factored; w->V, w->A, w->r belong to y1. 0: singular */
int cst_generalized_alpha_matrix(cst_motion *w, double h, const cst_state *y1, const double *mem,
                                 int softened);
/* v1, A1, r in w->V, w->A, w->r and phi_x^T lambda - f in s->fx; the system is placed at y1 */
void cst_generalized_alpha_forces(cst_motion *w, const cst_state *y1, const double *mem);

void cst_generalized_alpha_open_adjoint(cst_arena *a, cst_adjoint *ad);
void cst_generalized_alpha_open_tangent(cst_arena *a, cst_tangent *t);
cst_status cst_generalized_alpha_tangent(cst_tangent *t, const cst_state *y0, const cst_state *y1,
                                         int factor);
cst_status cst_generalized_alpha_prepare(cst_prepared *p, const cst_state *y0, const cst_state *y1);
cst_status cst_generalized_alpha_adjoint(cst_adjoint *ad, const cst_state *y0, const cst_state *y1);

#endif
