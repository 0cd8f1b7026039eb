/* SPDX-License-Identifier: MIT
 *
 * The default: index 3 with Newmark's rule (trapezoidal, beta = 1/4, gamma = 1/2), velocity
 * projection and recomputed accelerations. One step from state 0 to state 1, length h:
 *
 *     A  = (q1 - q0 - h v0 - h^2 (1/2 - beta) a0) / (beta h^2)          v0 = T u0, a0 = T u0' +
 * L(v0, u0) V  = v0 + h ((1 - gamma) a0 + gamma A) T(q1)^T (M A + phi_q^T Lambda - Q(q1, V, z1,
 * t1)) = 0,  phi(q1, t1) = 0          unknowns q1, Lambda z1 = z0 + h/2 (g0 + g(q1, V, z1, t1))
 * element by element [T^T M T  J^T; J  0] [u1; eta]     = [T^T M V; -phi_t] projection of the
 * velocity [T^T M T  J^T; J  0] [u1'; lambda] = [T^T (Q - M L(v1, u1)); -(phi_x L + gamma)]
 * accelerations, multipliers
 *
 * Natural coordinates make q1 - q0 meaningful as it stands; the bodies' own constraints are kept by
 * moving q1 along T (Betsch and Leyendecker's null space method). Newton's rows are scaled by beta
 * h^2, so that its matrix tends to the projection's as h tends to 0: the projection is solved with
 * the factors at hand and a few refinements.
 *
 * `augmented` solves the same equations with -e in the lower right block of every matrix that is
 * factored (Bayo and Ledesma, Nonlinear Dynamics 9 (1996) 113-130: ALI3-P). Eliminating the
 * multipliers leaves
 *
 *     (K + J^T J / e) xi = -(T^T r + J^T phi / e),    Lambda += (phi + J xi) / (beta h^2 e),    e =
 * 1/(alpha beta h^2)
 *
 * the penalty's matrix with Lambda as the estimate that each iteration improves. Where it ends phi
 * = 0 holds as before: the state, its tangent and its adjoint are those of index3. */
#ifndef CST_INTEGRATOR_NEWMARK_H
#define CST_INTEGRATOR_NEWMARK_H

#include "integrator/motion.h"

#define CST_BETA 0.25
#define CST_GAMMA 0.5

/* One step of length h from y0 to y1. CST_NUMERIC with no message: Newton failed (cst_newton_blame
 * says where). */
cst_status cst_newmark_step(cst_motion *w, const cst_state *y0, double h, cst_state *y1);

/* Keeps D of the step that has just been made, which ends at time t. */
void cst_newmark_keep(cst_arena *a, const cst_motion *w, double t, cst_increments *to);

/* A of the step y0 -> y1, from its D if that was kept or from its states; v0 and a0 are set. For
 * the step's derivatives */
void cst_newmark_acceleration(cst_motion *w, const cst_state *y0, const cst_state *y1, double *A);

#endif
