/* SPDX-License-Identifier: MIT
 *
 * Independent coordinates (Maggi). A chart selects as many of the natural coordinates q as there
 * are degrees of freedom, those that move most with the free motions of the state it is made at: S
 * q are entries of q. It depends on numbers only by that choice, so that derivatives need not know
 * it. Joint coordinates (model/assemble_tree.c) are entries of q too: the formulation `joint`
 * selects among these, and R with [J; S T] R = [0; I] is then the velocity transformation along the
 * tree with the cut joints closed.
 *
 * A state is carried by (s, s'): positions and velocities follow from
 *
 *     phi(q, t) = 0,  S q = S q^        J u + phi_t = 0,  S T(q) u = S v^
 *
 * each square and solved with [T^T S^T S T, J^T; J, 0], whose multipliers vanish. A chart serves
 * from its time on until dependent velocities have grown too large for given independent ones; then
 * another one is made at the state in hand, which is the same in both. */
#ifndef CST_INTEGRATOR_CHART_H
#define CST_INTEGRATOR_CHART_H

#include "integrator/adjoint.h"
#include "integrator/tangent.h"

typedef struct cst_chart {
    double from;      /* time */
    int n;            /* coordinates */
    int *q;           /* (n) which natural coordinates */
    int *body;        /* (n) of which body */
    double growth;    /* of the dependent velocities when it was made */
    double rcond;     /* of the matrix below, then */
    const cst_kkt *k; /* with these rows */
} cst_chart;

struct cst_charts {
    CST_LIST(cst_chart *) list;
    cst_arena *arena;
    int joints;
    double regular; /* largest ratio of the last to the first pivot of J */
};
typedef struct cst_charts cst_charts;

/* The chart at time t; NULL: this formulation has none */
const cst_chart *cst_chart_at(const cst_charts *cs, double t);

/* Makes a chart at y when there is none, or when the last one has become bad. CST_NUMERIC: J has
 * lost rank there. */
cst_status cst_charts_review(cst_charts *cs, cst_motion *w, const cst_state *y, cst_diag *d);

/* Has it become bad at q, where its matrix is factored? */
int cst_chart_worn(cst_motion *w, const cst_chart *ch, const double *q);

typedef struct cst_chart_work { /* of one thread */
    double *val, *b, *x;
    double *sigma;               /* (nu) */
    double *s, *want;            /* coordinates */
    double *rows, *xi, *v, *phi; /* all rows; tangent; ambient */
} cst_chart_work;

cst_chart_work *cst_chart_work_new(cst_arena *a, cst_motion *w);

/* q and u from the ambient sums q^, v^; q holds a first guess. */
cst_status cst_chart_project(cst_motion *w, const cst_chart *ch, double t, const double *mem,
                             const double *q_sum, const double *v_sum, double *q, double *u);
/* J xi = 0, S T xi = S e: what follows from the ambient e in independent coordinates alone, at q,
 * where the matrix is factored */
const double *cst_chart_follow(cst_motion *w, const cst_chart *ch, const double *q,
                               const double *e);
/* The matrix at y, factored: for the two below */
cst_status cst_chart_prepare(cst_motion *w, const cst_chart *ch, const cst_state *y);
/* Changes of q (ambient, in t->q) and u (t->u) from those of the sums; t->t is the change of the
 * time */
void cst_chart_tangent(cst_tangent *t, cst_motion *factors, const cst_chart *ch, const cst_state *y,
                       const double *dq_sum, const double *dv_sum);
/* Bars of the sums (set) from those of q, u in ad; P, t += . `factors`: who holds the matrix */
void cst_chart_adjoint(cst_adjoint *ad, cst_motion *factors, const cst_chart *ch,
                       const cst_state *y, double *q_sum, double *v_sum);

#endif
