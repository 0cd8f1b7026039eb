/* SPDX-License-Identifier: MIT
 *
 * The tangent of the start, the step and what is derived from a state, along one direction of the
 * numbers. */
#ifndef CST_INTEGRATOR_TANGENT_H
#define CST_INTEGRATOR_TANGENT_H

#include "integrator/motion.h"
#include "system/pass.h"

typedef struct cst_tangent {
    cst_motion *w;
    cst_pass *pass;
    const double *P, *val;         /* direction: bound numbers, all values */
    double *q, *u, *z, *quad;      /* change of the state */
    void *own;                     /* of the rule in use */
    double t, h;                   /* of its time; of the length of the step to come */
    double *ud, *lambda, *zd, *qd; /* of what is derived */
    double *carried;               /* of what the rule carries */
    /* scratch */
    double *v, *a, *V, *A, *base, *r, *excess, *v1;
    double *x, *xd, *xa, *xa_at, *rows, *rows0, *rows1, *xi, *b, *sol, *force, *react, *react_own,
        *sys, *z_new, *quad_old;
} cst_tangent;

/* All changes to zero */
void cst_tangent_clear(cst_tangent *t);
cst_tangent *cst_tangent_new(cst_arena *a, cst_motion *w);
/* factor: 1 assembles and factors the matrices; 0 uses those of another direction at the same
 * place. After a step the projection's matrix is that of y1, so that derive at y1 needs none. The
 * end rate's share of the integrals' changes, h/2 qd, is added in derive; the outputs' changes are
 * then complete. */
cst_status cst_tangent_derive(cst_tangent *ta, const cst_state *y, int factor);
/* From y0 to y1, which differ by cst_motion_impact */
cst_status cst_tangent_impact(cst_tangent *ta, const cst_state *y0, const cst_state *y1,
                              int factor);
/* t must be the change of t1 when it is called. */
cst_status cst_tangent_step(cst_tangent *ta, const cst_state *y0, const cst_state *y1, int factor);

#endif
