/* SPDX-License-Identifier: MIT
 *
 * Explicit Runge-Kutta rules on (q, u, z, integrals). Stage i has time t0 + c_i h and
 *
 *     q_i = q0 + h sum_j a_ij v_j,  v_j = T(q_j) u_j         u_i = u0 + h sum_j a_ij u'_j likewise
 * z, integrals
 *
 * and u'_i, z'_i, rates of the integrals follow from it (cst_motion_derive). The new state is the
 * sum with weights b; the bodies' vectors are brought back to their manifold (settle), which leaves
 * the order as it is. Stage 0 is state 0.
 *
 * With independent coordinates (chart.h) the sums are taken of q' = v and q'' = a, and every stage
 * takes positions and velocities from them: the rule is that on (s, s'). */
#ifndef CST_INTEGRATOR_RUNGE_KUTTA_H
#define CST_INTEGRATOR_RUNGE_KUTTA_H

#include "integrator/rule.h"

#define CST_STAGES 7

typedef struct cst_tableau {
    int stages;
    double c[CST_STAGES], a[CST_STAGES][CST_STAGES], b[CST_STAGES],
        e[CST_STAGES]; /* e: error = h sum e_i k_i */
} cst_tableau;

typedef struct cst_rk {
    const cst_tableau *t;
    cst_state y[CST_STAGES]; /* stages; the first is not used */
    double *v[CST_STAGES];   /* q' of all */
    double *a[CST_STAGES];   /* q'' of all, with a chart */
    double *q,
        *v_sum; /* ambient: the sums of positions, before they are settled, and of velocities */
    cst_prepared *stage[CST_STAGES]; /* matrices of the stages, for derivatives */
} cst_rk;

void cst_rk_open(cst_arena *a, cst_motion *w, const cst_tableau *t);
/* All stages of the step from y0 */
cst_status cst_rk_stages(cst_motion *w, const cst_state *y0, double h);
cst_status cst_rk_step(cst_motion *w, const cst_state *y0, double h, cst_state *y1);

void cst_rk_open_adjoint(cst_arena *a, cst_adjoint *ad);
void cst_rk_open_tangent(cst_arena *a, cst_tangent *t);
cst_status cst_rk_tangent(cst_tangent *t, const cst_state *y0, const cst_state *y1, int factor);
cst_status cst_rk_prepare(cst_prepared *p, const cst_state *y0, const cst_state *y1);
cst_status cst_rk_adjoint(cst_adjoint *ad, const cst_state *y0, const cst_state *y1);

/* bodies: q brought back to the manifold; changes and bars through it (symmetric), in place */
void cst_settle(const cst_system *s, double *q);
void cst_settle_change(const cst_system *s, const double *q, double *dq);

#endif
