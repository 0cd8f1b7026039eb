/* SPDX-License-Identifier: MIT
 *
 * The equations that are integrated. All formulations share one routine for accelerations and
 * multipliers,
 *
 *     T^T (M a + phi_x^T lambda - Q) = 0,    phi'' + b1 phi' + b0 phi - compliance lambda = 0
 *
 *     index3, augmented, maggi, joint   b1 = b0 = compliance = 0          phi = 0 is kept in other
 * ways index1                            b1 = 2 xi omega, b0 = omega^2     Baumgarte penalty the
 * same, compliance = 1/alpha    (T^T M T + J^T alpha J) u' = ..., lambda*
 *
 * and differ in what the integrator carries from step to step. */
#ifndef CST_FORMULATION_FORMULATION_H
#define CST_FORMULATION_FORMULATION_H

#include "base/diag.h"

enum {                     /* traits */
       CST_STABILISED = 1, /* b1, b0 from xi, omega */
       CST_COMPLIANT = 2,  /* compliance from alpha */
       CST_AUGMENTED =
           4,           /* 1/alpha stands in the matrices that are factored, not in the equations */
       CST_CHARTED = 8, /* independent coordinates are integrated: see chart.h */
       CST_JOINTS = 16, /* these coordinates are those of the joints */
};

typedef struct cst_formulation {
    const char *name, *doc;
    const char *integrators; /* "newmark|generalized-alpha": those that apply, the default first */
    int traits;
} cst_formulation;

/* NULL: no such name. The names in one text: "index3|index1|..." */
const cst_formulation *cst_formulation_find(const char *name);
int cst_formulation_takes(const cst_formulation *f, const char *integrator);
const cst_formulation *cst_formulation_at(int i); /* NULL at the end */

typedef struct cst_equations {
    double b0, b1, compliance;
    int augmented;
    double alpha; /* augmented: 0: as large as rounding allows with few iterations */
} cst_equations;

/* alpha, xi, omega: NAN for the defaults 1e9, 1 and 10/s */
cst_equations cst_formulation_equations(const cst_formulation *f, double alpha, double xi,
                                        double omega);

#endif
