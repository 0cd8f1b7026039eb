/* SPDX-License-Identifier: MIT
 *
 * A state of the motion. Between steps it is (t, q, u, z, mem, quad), nothing hidden; u' and lambda
 * follow from it and are kept because measures and the next step use them. Newton's multipliers and
 * those of the velocity projection belong to the step that ended here: the adjoint needs them.
 * Rules that carry a vector of their own keep it in the place of Newton's, and u' and lambda of the
 * end of a step are the step's. All in one block of `size` doubles, so that a trajectory is an
 * array. */
#ifndef CST_INTEGRATOR_STATE_H
#define CST_INTEGRATOR_STATE_H

#include "model/model.h"

typedef struct cst_state {
    double *t, *h,
        *tag; /* time; length of the step that ended here; events: see events.h, else 0 */
    double *q, *u, *z, *mem, *quad;
    double *ud, *lambda;  /* u' ; multipliers of all rows */
    double *zd;           /* rates of z */
    double *qd;           /* rates of the running integrals */
    double *newton, *eta; /* (all rows) multipliers of the step's equations; of the velocity
                             projection, or of a drive's impulse */
    double *
        carried; /* (nu) the same memory: of rules that carry a vector from step to step (rule.h) */
} cst_state;

size_t cst_state_size(const cst_model *m); /* doubles */
cst_state cst_state_view(const cst_model *m, double *block);

#endif
