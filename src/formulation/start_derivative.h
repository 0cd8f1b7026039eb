/* SPDX-License-Identifier: MIT
 *
 * Derivatives of the start by the implicit function theorem. With w = T(q) mu:
 *
 *     assembly   S = w . (W (q - q_drawn) + phi_q^T lambda) + k . phi(q)
 *     statics    formulation/statics.h
 *     rates      S = w . (M T (u - u_drawn) + phi_q^T eta + E_v^T eta_r) + k . (phi_x x' + phi_t) +
 * k_r . E(x, x') + nu . (u - u_drawn)
 *
 * E are the prescribed rates. Where they are not linear in x', the matrix has their second
 * derivatives eta_r E_vv, too. */
#ifndef CST_FORMULATION_START_DERIVATIVE_H
#define CST_FORMULATION_START_DERIVATIVE_H

#include "formulation/start.h"
#include "formulation/statics.h"
#include "system/pass.h"

typedef struct cst_start_at { /* the start as it was solved */
    double t;
    const double *q, *u; /* at the start, with rates */
    const double *mem_drawn,
        *mem; /* remembered values during assembly, and after the start has been found */
    const double *lambda, *eta; /* multipliers of assembly and rates, all rows */
    cst_statics *statics;       /* NULL: q is the assembled position */
} cst_start_at;

typedef struct cst_start_derivative {
    cst_start *st;
    cst_pass *pass;
    double *top, *mu, *nu, *rows, *w, *wx, *x, *xd, *v, *d, *r, *excess, *sol, *b, *scratch;
} cst_start_derivative;

cst_start_derivative *cst_start_derivative_new(cst_arena *a, cst_start *st, cst_pass *pass);

/* P += from bars of q (ambient; consumed), u (tangent) and z (consumed) of the first state */
cst_status cst_start_adjoint(cst_start_derivative *sd, const cst_start_at *at, double *qbar,
                             const double *ubar, double *zbar, double *P);
/* P += of weight . (J u + phi_t, E), all rows, at the rates that were found; the position moves
 * with the numbers. qbar, zbar: scratch */
cst_status cst_start_rate_rows(cst_start_derivative *sd, const cst_start_at *at,
                               const double *weight, double *qbar, double *zbar, double *P);
/* dq (ambient), du (tangent), dz from the change of the numbers */
cst_status cst_start_tangent(cst_start_derivative *sd, const cst_start_at *at, const double *Pdot,
                             double *dq, double *du, double *dz);

#endif
