/* SPDX-License-Identifier: MIT
 *
 * Adjoint and tangent of a step, beside the step itself (newmark.h): exact derivatives of the
 * computed solution.
 *
 * Adjoint. A bar is the derivative of an objective with respect to the quantity below it. At a
 * state the bars of what was derived from it (u', lambda, z', rates of integrals, measures) are
 * turned into bars of the state; then the step that ended there turns them into bars of the state
 * before. Each implicit equation E(y, x) = 0 gives m = -E_y^-T y_bar, x_bar += E_x^T m, p_bar +=
 * E_p^T m; E_x^T m and E_p^T m are one adjoint pass (system/pass.h). */
#ifndef CST_INTEGRATOR_ADJOINT_H
#define CST_INTEGRATOR_ADJOINT_H

#include "integrator/motion.h"
#include "system/pass.h"

/* The matrices of one step, made before its adjoint: those of different steps are independent, so
 * that other threads can make them ahead, each with a motion (and a system) of its own. */
typedef struct cst_prepared {
    cst_motion *w;           /* factors and values */
    double *V, *A;           /* of the step, ambient */
    double *fx;              /* slots: phi_x^T Lambda - f at its end */
    int own_projection;      /* the projection's own factors are in use */
    int direct, direct_next; /* > 0: steps for which these are made at once, without trying Newton's
                                first; how many the next time */
    int passes;              /* refinement passes with Newton's factors in this step */
    long factorizations;
} cst_prepared;

cst_prepared *cst_prepared_new(cst_arena *a, cst_motion *w);
/* Matrices of the step y0 -> y1. y0 NULL: y1 is the first state. */
cst_status cst_adjoint_prepare(cst_prepared *p, const cst_state *y0, const cst_state *y1);

/* The adjoint of a step makes three solves: with the projection's matrix for the bars of the
 * accelerations and of the projection, and with Newton's. */
typedef enum cst_costate_of {
    CST_OF_ACCELERATIONS,
    CST_OF_PROJECTION,
    CST_OF_NEWTON,
    CST_COSTATES
} cst_costate_of;

typedef struct cst_costate { /* history of one of these solves, for extrapolation */
    double *c;               /* sections: the predicted correction */
    double *last, *before;   /* the corrections of the last two steps */
    const cst_kkt *k;        /* its unknowns */
    int steps;               /* consecutive steps that were predicted in this way */
} cst_costate;

typedef struct cst_adjoint { /* one thread; sections per right-hand side */
    cst_motion *w;
    cst_prepared *step; /* the prepared matrices of the current step */
    cst_pass *pass;
    const double *placed; /* q of the state at which the system is placed, with rates V */
    int n;                /* right-hand sides */
    cst_costate costate[CST_COSTATES];
    double theta, h_of_theta; /* the largest |E x| of |x| seen in this sweep (adjoint_solve.c), in
                                 steps of this length */
    double *q, *u, *z, *quad; /* bars of the state (q ambient) */
    double *ud, *zd, *qd;     /* bars of what is derived at the state */
    double *lambda,
        *carried;    /* of the multipliers; of what the rule carries: kept for rules that carry */
    int timed;       /* 1: bars of times are wanted, because steps end at events */
    double *t, *h;   /* (n) bars: of the state's time, += ; of the length of the step in hand */
    double *P, *val; /* bars of bound numbers; of values read by measures */
    void *own;       /* of the rule in use */
    /* scratch */
    double *rows0, *rows1;     /* weights of phi, phi' beside those of phi'' */
    double *rows, *mu, *solve; /* all rows; tangent; (n) */
    double *wv, *wx;           /* virtual displacement, ambient and slots */
    double *v, *a, *base;      /* bars, ambient */
    double *x, *xd, *xa;       /* bars, slots */
    double *force, *react, *sys, *zeta;
    double *quad_own,
        *seed_rates; /* nested integrals: bars of their values without; seeds of rates */
    double *a0, *V, *A, *acc, *r, *seed, *reg; /* ambient values; output seeds; registers */
    double *inertia;                           /* (2 nq) */
} cst_adjoint;

/* m = -A^-T (top, bottom): mu, and all-row weights in ad->rows. */
cst_status cst_adjoint_solve(cst_adjoint *ad, cst_costate_of which, const double *top,
                             const double *bottom);
/* The sweep continues with steps of length h */
void cst_adjoint_at(cst_adjoint *ad, double h);
/* The sweep continues elsewhere: the history of earlier solves is discarded */
void cst_adjoint_forget(cst_adjoint *ad);
/* wv = c T(q) mu and its slots */
void cst_adjoint_displace(cst_adjoint *ad, const double *q, double c);

cst_adjoint *cst_adjoint_new(cst_arena *a, cst_motion *w, int nrhs);
void cst_adjoint_clear(cst_adjoint *ad);

/* For both functions below ad->step must have been prepared. cst_adjoint_derive computes the bars
 * of state y1 from the seeds of its outputs (ad->seed: outputs of the tape, per right-hand side)
 * and from ad->ud, zd, qd, all of which are consumed. */
cst_status cst_adjoint_derive(cst_adjoint *ad, const cst_state *y1);
/* From the bars of y1 to those of y0, which differ by cst_motion_impact */
cst_status cst_adjoint_impact(cst_adjoint *ad, const cst_state *y0, const cst_state *y1);
/* From the bars of y1 to those of y0 (state and derived), for the step y0 -> y1. timed: h is set to
 * the bar of the step's length, and what the step's equations ask of the time t1 is added to t. */
cst_status cst_adjoint_step(cst_adjoint *ad, const cst_state *y0, const cst_state *y1);

#endif
