/* SPDX-License-Identifier: MIT
 *
 * What all optimisers share: scaled variables and functions, the record of evaluations, stopping rules, the best point.
 *
 *     x = x_start + scale y,   F = f / f_size,   C_j = c_j / c_size_j
 *
 * An optimiser is one file that defines one class, and one line in optimisers.def. It asks for values with
 * cst_search_eval, reports with cst_search_iterate, and leaves when one of them says so. */
#ifndef CST_OPTIMISE_SEARCH_H
#define CST_OPTIMISE_SEARCH_H

#include "base/arena.h"
#include "base/diag.h"
#include "optimise/journal.h"

typedef enum {
    CST_EVAL_OK,
    CST_EVAL_FAILED, /* no value there: F, C and their gradients lead back to where there was one */
    CST_EVAL_STOP    /* leave */
} cst_eval;

typedef struct cst_best {
    int there, reported;
    double f, violation, *y, *x, *c, *df, *dc;
} cst_best;

typedef struct cst_search {
    const cst_nlp *p;
    cst_search_options o; /* complete: no defaults are left */
    cst_arena *arena;
    cst_diag *d;
    cst_journal *journal; /* NULL: none */
    int n, m;
    double *start, *lower, *upper;  /* (n) y */
    double f_size, *c_size;         /* (m) */
    double *C_lower, *C_upper;      /* (m) scaled limits */
    double *y, *x, f, *c, *df, *dc; /* the last point that was asked for, and its values */
    double F, *dF, *C, *dC;         /* the same, scaled: what optimisers see */
    int known;                      /* 1: the values are those of y; 0: nothing yet; -1: it failed at y */
    double *good_y, good_F, *good_dF, *good_C, *good_dC; /* of the last point with values */
    double worst_F;
    cst_best best;     /* of this start */
    cst_best champion; /* of earlier starts */
    double *reported_y, f_reported;
    int sized; /* 1: f_size and c_size are known */
    int iterations, evaluations, failures, in_a_row, replayed;
    int first_iteration; /* of this start */
    int stage;           /* of a continuation */
    double begin;        /* seconds */
    int stopped;         /* a rule has ended the search */
    cst_outcome outcome;
    const char *reason;
    cst_diag *said;    /* messages of the evaluation in hand */
    cst_status status; /* of a failure that is no numerical one */
} cst_search;

typedef struct cst_optimiser {
    const char *name, *summary;
    int constraints; /* 1: takes them */
    int wraps;       /* 1: has an inner method */
    /* from s->start; says with cst_search_end how it ended, unless the search was stopped */
    void (*run)(cst_search *s);
} cst_optimiser;

const cst_optimiser *cst_optimiser_find(const char *name); /* NULL: there is none */

cst_eval cst_search_eval(cst_search *s, const double *y);
/* The optimiser has done an iteration: the best point is reported, the rules are checked. Non-zero: leave. */
int cst_search_iterate(cst_search *s);
int cst_search_begin(cst_search *s); /* the same for the start */
void cst_search_end(cst_search *s, cst_outcome outcome, const char *reason);
/* An optimiser has ended: may another start follow? Not when a limit of all starts, the target or the user ended it. */
int cst_search_goes_on(cst_search *s);
/* For methods that do not say what an iteration is: each evaluation that improves on the best point. */
int cst_search_improve(cst_search *s);
void cst_search_report(cst_search *s);
int cst_search_better(const cst_search *s, const cst_best *a,
                      const cst_best *b); /* a than b; b need not be there */
void cst_search_swap(cst_best *a, cst_best *b);
double cst_search_seconds(void);

/* Size of the Lagrangian's gradient at the best point in scaled variables, with the multipliers that make it least; those
 * of the constraints, df/d(limit), go to multiplier (m) unless it is NULL. */
double cst_search_stationarity(cst_search *s, double *multiplier);

#endif
