/* SPDX-License-Identifier: MIT
 *
 * Body kernels. A body owns nvec 3-vectors b_k and nscalar scalars of q, and a mass matrix that is
 * a small symmetric matrix m (nvec x nvec) times I3 plus a diagonal for the scalars. What the
 * body's own constraints leave free is its tangent, nu unknowns u:
 *
 *     q' = T(q) u,   T(q) u = T0 u + L(q, u),   L bilinear         (rigid: r' = u_r, e_i' = omega x
 * e_i) q'' = T(q) u' + L(q', u)
 *
 * Since T is affine in q, dT is L itself and nothing else needs to be differentiated. */
#ifndef CST_BODY_BODY_H
#define CST_BODY_BODY_H

#include "base/scalar.h"

#define CST_MAX_NU 64 /* of one body; sizes small work arrays on the stack */

typedef struct cst_body_class {
    const char *name;
    int nvec, nscalar, nu;  /* nq = 3 nvec + nscalar */
    int first_of_direction; /* directions move only with u from here on (rigid: with the rotations)
                             */
    const double
        *translation; /* (nvec) b_k += translation_k d moves the body by d: gravity, momentum */
    const unsigned char *unit;                              /* (nvec) 1: a unit direction */
    void (*T)(const real *q, const real *u, real *dq);      /* dq  = T(q) u */
    void (*L)(const real *dq, const real *u, real *ddq);    /* ddq += L(dq, u) */
    void (*Tt)(const real *q, const real *r, real *rho);    /* rho = T(q)^T r */
    void (*Lt)(const real *u, const real *r, real *qbar);   /* qbar += d(r . L(q, u))/dq */
    void (*Ltu)(const real *dq, const real *r, real *ubar); /* ubar += d(r . L(dq, u))/du */
    /* G (nu x nu, row-major) += s * d(T(q)^T r)/dxi for dq = T(q) xi, r fixed */
    void (*geo)(const real *q, const real *r, real s, real *G);
    /* B (3 x nu, row-major) = sum_k w_k T_k(q): how a marker with weights w moves with u */
    void (*rows)(const real *q, const real *w, real *B);
    /* G (nu x nu) += s T^T M T for a mass matrix given as in model.h, upper triangle by rows; NULL:
     * made from rows */
    void (*inertia)(const real *q, const real *m, real s, real *G);
    /* q1 = q moved by the finite tangent step xi, on the manifold to rounding, dq1/dxi = T at xi =
     * 0 */
    void (*move)(const real *q, const real *xi, real *q1);
    /* its change with dq (along the manifold) and dxi; its transpose, qbar += and xibar += . NULL:
     * q1 = q + T xi */
    void (*move_dot)(const real *q, const real *xi, const real *dq, const real *dxi, real *dq1);
    void (*move_bar)(const real *q, const real *xi, const real *bar, real *qbar, real *xibar);
    /* dxi that moves q1 by T(q1) w: the inverse of move_dot in dxi, with dq = 0; the transposed map
     * has -xi. NULL: dxi = w */
    void (*move_back)(const real *xi, const real *w, real *dxi);
    /* settle: q brought back to the manifold, from a distance of about the square root of rounding;
     * along the manifold the map is the identity. settle_dot: dq1 = its change due to dq, a
     * symmetric map. NULL: there is no manifold. */
    void (*settle)(real *q);
    void (*settle_dot)(const real *q, const real *dq, real *dq1);
    /* The same as move, and D += q1 - q without the rounding of q and q1: an integrator divides D
     * by h^2. NULL where T = 1: then D += xi. */
    void (*carry)(const real *q, const real *xi, real *q1, real *D);
} cst_body_class;

extern const cst_body_class CST_K(cst_body_rigid), CST_K(cst_body_point), CST_K(cst_body_node),
    CST_K(cst_body_scalar);
extern const cst_body_class *const CST_K(cst_body_classes)[]; /* NULL at the end: for tests */

#endif
