/* SPDX-License-Identifier: MIT
 *
 * Methods for least squares within bounds, f = sum r_i^2: one file that defines one class, one line
 * in fitters.def. A method asks for values with the calls below, which count, keep the best point,
 * report progress and say when to leave. */
#ifndef CST_OPTIMISE_FITTER_H
#define CST_OPTIMISE_FITTER_H

#include "base/arena.h"
#include "base/diag.h"

typedef enum cst_fit_end {
    CST_FIT_CONVERGED,
    CST_FIT_LIMIT,
    CST_FIT_STALLED,
    CST_FIT_STOPPED,
    CST_FIT_FAILED
} cst_fit_end;

typedef struct cst_least { /* the problem and the search in one */
    cst_arena *arena;
    int n, m;
    const double *lower, *upper, *size;
    double *x;        /* (n) the point in hand: feasible */
    double *r, *J, f; /* (m), (m x n): at x; a method stores those of its trial points itself */
    double tolerance; /* the last step is shorter than this many standard errors */
    int known; /* 1: residuals are in units of their noise, one standard error changes f by 1; 0: by
                  f/(m - n) */
    int most;  /* iterations */
    int iterations, evaluations, jacobians, failures;
    cst_fit_end end;
    const char *why;      /* one line about the end */
    double damping, step; /* of the last iteration, for the history: NAN where a method has none */
    /* r (m) and J at x: what 0 values, 1 Jacobian, 2 gradient of f in J (n) */
    cst_status (*eval)(void *ctx, const double *x, int what, double *r, double *J);
    int (*report)(void *ctx); /* after each iteration; non-zero: leave */
    void *ctx;
} cst_least;

typedef struct cst_fitter {
    const char *name, *summary;
    int iterations; /* at most, unless a limit is given */
    void (*run)(
        cst_least *p); /* from p->x with r, J, f; leaves the best point there, with end and why */
} cst_fitter;

const cst_fitter *cst_fitter_at(int i); /* the table, NULL at the end */

double cst_least_unit(const cst_least *p); /* change of f by one standard error */
/* f and r at x. CST_NUMERIC: there is no value, or no finite one */
cst_status cst_least_value(cst_least *p, const double *x, double *r, double *f);
cst_status cst_least_jacobian(cst_least *p); /* r, J and f at p->x */
/* What the undamped step within the bounds would still gain at p->x, in standard errors: the square
 * root of the reduction of f that it predicts, over the change of f by one standard error.
 * Converged: below p->tolerance. NAN: LAPACK fails */
double cst_least_left(cst_least *p);
int cst_least_next(cst_least *p, double step,
                   double damping); /* an iteration is done; non-zero: leave, end is set */

#endif
