/* SPDX-License-Identifier: MIT
 *
 * Which of the redundant rows take part in the motion. Any set of independent ones gives the same
 * motion, but a set that is good where the run starts may lose rank on its way, at positions that
 * are not singular at all: a row that is left out is
 *
 *     J_r = sum_j c_j J_j       over the rows that are kept
 *
 * and these become dependent where a coefficient grows without bound. The coefficients are
 * monitored; if one has become large, rows are chosen anew at the current state. A choice applies
 * to all steps that start at its time or later; derivatives and recomputed steps look it up by the
 * time at which the step starts. Numbers affect a choice only through which rows it has, so
 * derivatives need not consider it. */
#ifndef CST_INTEGRATOR_ROWS_H
#define CST_INTEGRATOR_ROWS_H

#include "integrator/motion.h"

typedef struct cst_choice {
    int *left_out; /* (ndep) among all rows */
    double *size;  /* (all rows) norms of the rows of J where it was made, columns scaled as for the
                      rank */
    const cst_kkt *k;
    const cst_lu *order;
} cst_choice;

typedef struct cst_turn {
    double from;
    int choice;
} cst_turn;

struct cst_choices {
    CST_LIST(cst_choice) made; /* the structure's own first */
    CST_LIST(cst_turn) turn;   /* of this run, by time */
    double worn;               /* coefficients up to this are left as they are */
    int reviews;
    cst_arena *arena;
};
typedef struct cst_choices cst_choices;

/* NULL: no row is redundant, or (a compliance) all rows are regular as they are */
cst_choices *cst_choices_new(cst_arena *a, cst_system *s, const cst_structure *st,
                             cst_equations eq);
/* Before a run: only the structure's choice is in use */
void cst_choices_begin(cst_choices *c, cst_arena *a);

/* Factors of w for all choices that have been made; also for those of its stages. c may be NULL. */
void cst_rows_open(cst_arena *a, cst_motion *w, const cst_choices *c);
/* The choice of a step that starts at t */
void cst_rows_at(cst_motion *w, double t);
/* lambda (all rows) = 0 on those that do not take part: multipliers of another choice as a guess */
void cst_rows_clear(const cst_motion *w, double *lambda);

/* After a step that ended at y: chooses anew when a coefficient has become large */
void cst_rows_review(cst_choices *c, cst_motion *w, const cst_state *y);
/* The same rows must stay closed, else a loop has broken. The system is placed at y; drift: the
 * largest so far */
cst_status cst_rows_watch(cst_motion *w, const cst_state *y, double *drift, cst_diag *d);

#endif
