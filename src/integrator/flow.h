/* SPDX-License-Identifier: MIT
 *
 * The motion as an ordinary differential equation x' = f(t, x, p), for whatever integrates such
 * equations:
 *
 *     x = (q, u, z, integrals)      q' = T(q) u, u' from the formulation's accelerations
 *     x = (s, s', z, integrals)     with independent coordinates (chart.h): s'' = S q''
 *
 * A place is the state that x stands for: the bodies' vectors are brought back to their manifold
 * first (settle), positions and velocities of a chart follow from the constraints. f, f_x and f_p
 * are taken there, so that f is a function of x alone and its derivatives below are its own. */
#ifndef CST_INTEGRATOR_FLOW_H
#define CST_INTEGRATOR_FLOW_H

#include "integrator/rule.h"

typedef struct cst_flow {
    cst_motion *w;
    const cst_chart *ch; /* NULL: x has q and u themselves */
    int n, nq, nu;       /* sizes of x and of its first two parts */
    cst_state y;         /* the last place, derived */
    double *x; /* (n) it belongs to; the last entry asked for stays valid until the next place */
    double *v, *a;         /* ambient: q', q'' there */
    double *q_sum, *v_sum; /* ambient scratch */
    double *q_bars,
        *v_bars; /* (right-hand sides x nq) scratch of the adjoint; NULL: none asked for */
} cst_flow;

cst_flow *cst_flow_new(cst_arena *a, cst_motion *w, int nrhs);
/* Largest n of any chart */
int cst_flow_most(const cst_motion *w);

/* x belongs to the chart ch (NULL: none); remembered values and guesses are those of y */
void cst_flow_begin(cst_flow *f, const cst_chart *ch, const cst_state *y);
void cst_flow_remember(cst_flow *f, const double *mem);
/* x of a state */
void cst_flow_read(const cst_flow *f, const cst_state *y, double *x);
/* f->y becomes the state of x, with all that follows from it */
cst_status cst_flow_place(cst_flow *f, double t, const double *x);
/* The two halves of it: positions, velocities and element states alone; q' and q'' after u' is
 * known */
cst_status cst_flow_position(cst_flow *f, double t, const double *x);
void cst_flow_turn(cst_flow *f);
/* f->y becomes y, which has been derived */
void cst_flow_take(cst_flow *f, const cst_state *y);
/* x' at the place */
void cst_flow_rates(cst_flow *f, double *xd);

/* Changes. dx of a state's change in t; t's change of the place's state from dx; dx' after
 * cst_tangent_derive there */
void cst_flow_read_change(const cst_flow *f, const cst_state *y, const cst_tangent *t, double *dx);
void cst_flow_place_change(cst_flow *f, cst_tangent *t, const double *dx);
void cst_flow_rates_change(cst_flow *f, const cst_tangent *t, double *dxd);

/* Bars, of all right-hand sides: (ad->n x f->n). Those of a state from those of x (set); of the
 * place's rates, before cst_adjoint_derive (ad is cleared but for P and val); of x from those of
 * the place's state */
void cst_flow_read_bar(const cst_flow *f, const cst_state *y, const double *x, cst_adjoint *ad);
void cst_flow_rates_bar(cst_flow *f, const double *xd, cst_adjoint *ad);
void cst_flow_place_bar(cst_flow *f, cst_adjoint *ad, double *x);

#endif
