/* SPDX-License-Identifier: MIT
 *
 * What all optimisers share: scaled variables and functions, the record of evaluations, stopping
 * rules, the best point.
 *
 *     x = origin + scale y,   F = f / f_size,   C_j = c_j / c_size_j     (sizes.c)
 *
 * An optimiser is one file that defines one class, and one line in optimisers.def. It asks for
 * values with cst_search_eval, reports with cst_search_iterate, and leaves when one of them says
 * so. */
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

enum { CST_PAIRS = 4 };
#define CST_STATIONARY 1e-6 /* size of the gradient of the Lagrangian that counts as none */

typedef struct cst_best {
    int there, reported;
    double f, violation; /* by the sizes of the constraints there */
    double excess; /* the same by the sizes of the round, by which infeasible points are compared */
    double *y, *x, *c, *df, *dc;
    double *pair; /* (CST_PAIRS x 2n) its last steps, and the changes of the gradient */
    int pairs;
    cst_outcome outcome; /* of the search from its start, with several starts */
    const char *reason;
    int saddle; /* 1: stationary, but the objective falls along a direction */
} cst_best;

typedef struct cst_search {
    const cst_nlp *p;
    cst_search_options o; /* complete: no defaults are left */
    cst_arena *arena;
    cst_arena *work; /* of the method that is running */
    struct cst_gate *gate;
    int left_behind; /* 1: a method has not returned: its memory must stay */
    cst_diag *d;
    cst_journal *journal; /* NULL: none */
    int n, m;
    double *origin, *scale;        /* (n) */
    double *start, *lower, *upper; /* (n) y */
    double f_size, *c_size;        /* (m) */
    int rows,
        *row; /* (rows) constraints that the optimiser sees: those that do not follow from others */
    double *C_lower, *C_upper;      /* (rows) scaled limits */
    int *redundant;                 /* (m) 1: left out */
    int *needed;                    /* (m) 1: was left out and did not follow from the others */
    double *y, *x, f, *c, *df, *dc; /* the last point that was asked for, and its values */
    double F, *dF, *C, *dC; /* (1), (n), (rows), (rows x n) the same, scaled: what optimisers see */
    int known;              /* 1: the values are those of y; 0: nothing yet; -1: it failed at y */
    double *good_y, good_F, *good_dF, *good_C, *good_dC; /* of the last point with values */
    int repeats;                                         /* requests for y since its evaluation */
    double worst_F;
    double *residual;  /* (n) scaled gradient of the Lagrangian at the best point within the bounds,
                          when it was last asked for */
    cst_best best;     /* of this start */
    cst_best champion; /* of earlier starts */
    double *reported_y, f_reported;
    int sized; /* 1: f_size and c_size are known */
    int iterations, evaluations, failures, in_a_row, replayed;
    int first_iteration; /* of this start */
    int stage;           /* of a continuation */
    int aside;           /* 1: the points that are asked for are no candidates for the best one */
    int rough;           /* 1: coarser stopping rules than the usual ones are wanted: one round */
    double begin;        /* seconds */
    int stopped;         /* a rule has ended the search */
    cst_outcome outcome;
    const char *reason;
    char failure[200]; /* message of the first evaluation that failed */
    cst_diag *said;    /* messages of the evaluation in hand */
    cst_status status; /* of a failure that is no numerical one */
} cst_search;

typedef struct cst_optimiser {
    const char *name, *summary;
    int constraints; /* 1: takes them */
    int wraps;       /* 1: has an inner method */
    int samples;     /* 1: has starts of its own, so that it runs from a stationary start too */
    /* from s->start; says with cst_search_end how it ended, unless the search was stopped */
    void (*run)(cst_search *s);
} cst_optimiser;

const cst_optimiser *cst_optimiser_find(const char *name); /* NULL: there is none */

cst_eval cst_search_eval(cst_search *s, const double *y);
/* The optimiser has done an iteration: the best point is reported, the rules are checked. Non-zero:
 * leave. */
int cst_search_iterate(cst_search *s);
int cst_search_begin(cst_search *s); /* the same for the start */
void cst_search_end(cst_search *s, cst_outcome outcome, const char *reason);
/* An optimiser has ended: may another start follow? Not when a limit of all starts, the target or
 * the user ended it. */
int cst_search_goes_on(cst_search *s);
/* For methods that do not say what an iteration is: each evaluation that improves on the best
 * point. */
int cst_search_improve(cst_search *s);
void cst_search_report(cst_search *s);

/* gate.c: the method in a thread of its own, from which the calls above reach the thread of the
 * caller, where their namesakes do the work. It returns when the method does, or when the search
 * must stop and the method does not return. */
void cst_search_run(cst_search *s, const cst_optimiser *method);
cst_eval cst_search_eval_here(cst_search *s, const double *y);
int cst_search_iterate_here(cst_search *s);
int cst_search_improve_here(cst_search *s);
int cst_search_better(const cst_search *s, const cst_best *a,
                      const cst_best *b); /* a than b; b need not be there */
void cst_search_swap(cst_best *a, cst_best *b);
double cst_search_seconds(void);

void cst_search_scale(cst_search *s); /* the last values, scaled */
/* Of constraint j, relative to its size where c and dc are taken; the largest of all */
double cst_search_violation_of(const cst_search *s, const double *c, const double *dc, int j);
double cst_search_violation(const cst_search *s, const double *c, const double *dc);
double cst_search_excess_of(const cst_search *s, const double *c,
                            int j); /* of constraint j, by its size of the round */

/* sizes.c: a start at x, with the scales of the problem; sizes of the functions are found at its
 * first evaluation */
void cst_sizes_begin(cst_search *s, const double *x);
void cst_sizes_find(cst_search *s); /* from the last evaluation */
/* At the best point, which becomes the origin and the start. Returns the largest factor by which a
 * scale has changed. */
double cst_sizes_renew(cst_search *s);
void cst_sizes_here(cst_search *s);  /* sizes of the functions once more, at the last evaluation */
void cst_sizes_widen(cst_search *s); /* the same with the scales of the problem */
double cst_sizes_curvature(const cst_search *s);
void cst_sizes_pair(cst_search *s); /* the best point is about to become the last one */

/* rounds.c: the method from s->start, and again from its best point with renewed sizes while that
 * brings progress */
void cst_search_rounds(cst_search *s, const cst_optimiser *method);
void cst_search_from(
    cst_search *s,
    const cst_optimiser *method); /* likewise, after the evaluation and the report of the start */

/* curvature.c: does the objective fall along a direction that the bounds and constraints at the
 * best point allow? The best point is where the sizes were renewed. 1: yes, the start is a lower
 * point */
int cst_search_falls(cst_search *s);

/* verdict.c: what is true of the best point, whatever the optimiser has reported */
void cst_search_judge(cst_search *s, cst_optimum *to);

int cst_search_side(
    const cst_search *s,
    int j); /* of constraint j at the best point: -1 or 1 at a limit, 2 an equality, else 0 */
/* Size of the Lagrangian's gradient at the best point in scaled variables, with the multipliers
 * that make it least; those of the constraints, df/d(limit), go to multiplier (m) unless it is
 * NULL. */
double cst_search_stationarity(cst_search *s, double *multiplier);

#endif
