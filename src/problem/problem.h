/* SPDX-License-Identifier: MIT
 *
 * A design problem: cases (the scenarios), each a model with numbers of its own that sees the
 * design variables, give
 *
 *     f(x) = sum_s weight_s sum_k w_k e_k(psi_s, x),     c_sj(x) = e_j(psi_s, x),
 *
 * psi_s the objectives of case s, e expressions of the design section; df/dx = sum e_psi dpsi/dx +
 * e_x. A constraint of numbers alone that is the same function in several cases is one row of the
 * problem: otherwise each case has its own. */
#ifndef CST_PROBLEM_PROBLEM_H
#define CST_PROBLEM_PROBLEM_H

#include "base/arena.h"
#include "number/tape.h"
#include "problem/design.h"

typedef struct cst_case { /* one scenario; belongs to one thread at a time */
    const cst_scenario *scenario;
    const cst_model *m;
    cst_options options;
    cst_run *run;           /* made at the first evaluation */
    int *leaf;              /* (n) number of each variable in this model */
    int *path;              /* likewise of each number of the continuation */
    const cst_tape *tape;   /* channels RESULT and ARG -> f, c (limits) */
    const cst_tape **limit; /* (limits) each constraint alone */
    double *lower, *upper;  /* (limits) */
    int *row;               /* (limits) of each constraint in the problem */
    double *reg, *bar;
    int nwanted,
        *wanted;   /* objectives that f and c are made of: the others are not differentiated */
    double *value; /* (numbers of the model) */
    double f, *c, *df, *dc; /* (limits), (n), (limits x n) */
    double *objective;      /* (objectives of the model) at the last x */
    cst_stats stats;
    double gradient_s;
    cst_status status;
    cst_diag *said;
} cst_case;

struct cst_problem {
    cst_arena arena;
    cst_model *m; /* the file itself */
    cst_design *design;
    int n, limits; /* limits: constraints of one case */
    int ncase, threads;
    int stage; /* of the continuation; design->stages: the problem itself */
    cst_case *at;
    cst_model **model; /* of the cases; NULL: shares m */
    cst_nlp nlp;
    const char **constraint; /* (nlp.m) names */
    int nset;
    const char **set; /* what was given for the file's numbers, NAME=VALUE */
    unsigned long long key;
};

cst_status cst_problem_eval(void *problem, const double *x, double *f, double *c, double *df,
                            double *dc, cst_diag *d);

/* Gradients at x by a method other than the adjoint. error (n), (m x n): estimates of the
 * differences, else NULL */
typedef struct cst_slopes_at {
    cst_method method;
    double *df, *dc, *df_error, *dc_error;
} cst_slopes_at;
cst_status cst_problem_slopes(cst_problem *p, const double *x, cst_slopes_at *to, cst_diag *d);

void cst_problem_numbers(const cst_problem *p, int k, const double *x,
                         double *value); /* all numbers of case k at x, in this stage */

#endif
