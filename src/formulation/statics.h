/* SPDX-License-Identifier: MIT
 *
 * Static equilibrium, an optional problem of the start between assembly and rates. From the
 * assembled position q_a find q, lambda and z with
 *
 *     T(q)^T (-Q_gravity + slots^T (phi_x^T lambda - f(x, 0, z, t0))) = 0      at rest
 *     phi(q, t0) = 0,    E(q) - E(q_a) = 0                                     joints and drives;
 * held measures E g(x, 0, z) = 0                                                           states
 * of the forces
 *
 * Prescribed positions belong to the assembly only: what must stay where it was assembled is held.
 * E(q_a) is no number of its own; it changes with the numbers as the assembled position does. A
 * state whose rate at rest does not depend on the element's states (a row of zeros in g_z) has no
 * rest value and keeps its initial one. Forces may be left out, with their states; the states of
 * measures always take part. Modes of events follow the position. */
#ifndef CST_FORMULATION_STATICS_H
#define CST_FORMULATION_STATICS_H

#include "formulation/structure.h"
#include "system/pass.h"

typedef struct cst_statics {
    cst_system
        s; /* the run's system and its arrays; forces that do not take part are silent in it */
    const cst_structure *st;
    const cst_kkt *k;
    cst_lu *lu;
    cst_pass *pass;
    int checked;         /* the matrix has been checked for neutral freedoms */
    double stiff;        /* largest stiffness in the matrix, N/m, but at least that of least_scale
                            (statics.c) */
    double eps;          /* of the matrix's lower right block */
    double left, *first; /* the load that is still held, as a share of `first`, the imbalance where
                            this part of the load began */
    double extent,
        *unit; /* of the bodies as they are assembled; (nu) of moves the extent, of turns 1 rad */
    /* the equilibrium that was found last */
    double t;
    double *assembled, *mem; /* q_a; remembered values and modes */
    double *held;            /* (all rows) E(q_a) */
    double *q, *z, *lambda;
    /* scratch */
    double *reg;                                /* of the tape of remembered values */
    double *val, *rhs, *sol, *fix, *scratch;    /* matrix values; n, n, n, 2 n + nq */
    double *r, *d, *phi, *back_q, *back_lambda; /* nq, nq, rows; what a rejected step returns to */
    double *part_q, *part_lambda;               /* the same of a part of the load */
    double *probe, *metric, *xi; /* nu: direction of least stiffness, products with W */
    double *x, *xd, *wx, *gz, *dz, *rest, *rows,
        *extra; /* of derivatives: slots, states, nq zeros, rows */
} cst_statics;

/* Where the search fails from q_a, the load is applied in parts: r(q) = (1 - part) r(q_k) has the
 * solution q_k for part = 0, and each part starts where the last one ended. */

/* NULL: the matrix cannot be ordered */
cst_statics *cst_statics_new(cst_arena *a, cst_system *s, const cst_structure *st);

/* q: assembled in, in equilibrium out; z: initial values in, at rest out; mem: remembered values
 * and modes, likewise */
cst_status cst_statics_solve(cst_statics *w, double t, double *mem, double *q, double *z,
                             cst_diag *d);

/* ---- parts of it: statics.c ---- */

/* Places the system at q at rest, settles z, and gives R = (T^T r, phi) in the order of the
 * matrix's unknowns; also w->r, w->phi. Not CST_OK if states have no rest value, which is reported
 * to d unless that is NULL. */
cst_status cst_statics_residual(cst_statics *w, const double *q, const double *lambda, double *z,
                                double *R, cst_diag *d);
/* Factors K + c W (W: the start's metric), where the last residual was evaluated; -1, or the
 * unknown with no pivot */
int cst_statics_matrix(cst_statics *w, const double *q, const double *z, const double *lambda,
                       double c);
void cst_statics_metric(cst_statics *w, const double *q, const double *u,
                        double *out); /* T^T W T u */

/* States of force i at rest: (f, g) by x and z, and which are free to settle (act) */
typedef struct cst_rest {
    int nx, nz, n, act[CST_MAX_NX];
    double f_x[2 * CST_MAX_NX * CST_MAX_NX], f_z[2 * CST_MAX_NX * CST_MAX_NX];
} cst_rest;
void cst_rest_partials(cst_statics *w, int force, const double *z, cst_rest *e);
/* y (n) = g_z^-1 y or g_z^-T y over the settling states; 0: singular */
int cst_rest_solve(const cst_rest *e, int transposed, double *y);

/* Neutral freedoms are reported, by body, at once; CST_OK: there are none. statics_blame.c */
cst_status cst_statics_neutral(cst_statics *w, cst_diag *d);
cst_status cst_statics_blame(cst_statics *w, int iterations, cst_diag *d); /* no equilibrium: why */

/* ---- derivatives, at the equilibrium that was found last ----
 *
 *     S = w . (-Q_gravity + slots^T (phi_x^T lambda - f)) + k . (phi, E(q) - E(q_a)) + gz . g,   w
 * = T(q) mu
 */
/* qbar (ambient): of q in, of the assembled position out; zbar: of z, consumed; P += , with that of
 * the initial states */
cst_status cst_statics_adjoint(cst_statics *w, double *qbar, double *zbar, double *P);
/* dq: of the assembled position in, of q out; dz: of z out */
cst_status cst_statics_tangent(cst_statics *w, const double *Pdot, double *dq, double *dz);

#endif
