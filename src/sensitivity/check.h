/* SPDX-License-Identifier: MIT
 *
 * Checking of gradients: simulations beside the numbers, and what they say of slopes.
 *
 * All comparisons are made of influences: slopes times the size of the number. */
#ifndef CST_SENSITIVITY_CHECK_H
#define CST_SENSITIVITY_CHECK_H

#include "integrator/run.h"
#include "model/dimensions.h"

/* Widths: half of a central difference, distance of a side */
#define CST_PROBE_WIDEST 0x1p-10  /* of the size of the number */
#define CST_PROBE_NARROWER 0x1p-5 /* of the width before */
enum {
    CST_PLAIN_WIDTHS = 4, /* 8 simulations; 6 where the sides follow: */
    CST_SIDES_WIDTHS = 6, /* 12 more, */
    CST_HALF_WIDTHS = 3   /* and 6 with half the step */
};

/* Verdicts */
#define CST_JUDGE_ROUNDING 1e-9 /* of the largest influence: rounding of slopes */
#define CST_JUDGE_VALUE 64.0    /* times DBL_EPSILON, of the largest values of the run: of values */
#define CST_JUDGE_NOTHING                                                                          \
    100.0                       /* times the rounding of an objective: less influence is nothing   \
                                 */
#define CST_JUDGE_VANISHES 1e-5 /* of the largest values of the run: less is not "the largest" */
#define CST_JUDGE_SAME 1e-6     /* of an influence: two that agree so well do not do so by chance */
#define CST_JUDGE_KNOWN 1e-2    /* of an influence: an estimate with a larger error says nothing */
#define CST_JUDGE_SPREAD 10.0   /* times the change of an estimate between two widths: its error */
#define CST_JUDGE_STAYS                                                                            \
    0.25 /* of the kink seen over the wider width: |p| leaves all of it,                           \
            |p|^1.5 0.18, a smooth function a 32nd */
#define CST_JUDGE_TOGETHER                                                                         \
    0.8 /* of the distance of two slopes: with half the step half of it is                         \
           left of a kink of the steps, or a root of that */

/* A simulation beside the numbers */
typedef struct cst_probe {
    int ok;
    uint64_t pattern; /* of steps and events */
    long coinciding;  /* events at one instant */
    double width;
    double *value; /* (objectives) */
    double *slope; /* (objectives) by the adjoint; NAN where only values are wanted */
} cst_probe;

enum { CST_BELOW, CST_ABOVE, CST_SIDES };

typedef struct cst_prober {
    cst_run *r;
    cst_arena *a;
    int nobj, nleaf;
    double *x;          /* (leaves) the values of the numbers */
    const double *size; /* (leaves) */
    cst_probe middle;   /* its slopes are unset */
    double *rounding;   /* (objectives) of their values, as far as it is known */
    double *nothing;    /* (objectives) an influence that is none */
    double *largest;    /* (objectives) influence of all numbers */
    double *all;        /* (objectives x leaves) scratch */
    cst_probe plain[CST_PLAIN_WIDTHS][CST_SIDES], side[CST_SIDES_WIDTHS][CST_SIDES];
    long simulations; /* for numbers, so far */
    long shared;      /* for all of them */
    cst_diag *quiet;
} cst_prober;

/* check_probe.c. The run has just made and kept the trajectory of these values; all: its gradient
 * (objectives x leaves), from which follows what is rounding. */
cst_prober *cst_prober_new(cst_arena *a, cst_run *r, const double *values, const double *all,
                           cst_diag *d);
/* With the number changed by `change`, and the steps, rows and charts of the middle run */
void cst_probe_at(cst_prober *p, int leaf, double change, int slopes, cst_probe *to);
/* Half width number k of a number: a power of two, so that p + e and p - e are exact mostly */
double cst_probe_width(const cst_prober *p, int leaf, int k);

/* check_values.c: what differences say of a slope of the gradient */
typedef enum cst_hint {
    CST_HINT_AGREES,
    CST_HINT_DIFFERS,
    CST_HINT_OPEN,
    CST_HINT_SIDES /* the sides may differ */
} cst_hint;

typedef struct cst_difference {
    cst_hint hint; /* OPEN: wider ones have not decided */
    double slope, error;
    int known; /* the error is small against the slope */
} cst_difference;

/* Looks at one number; widths first .. first + most - 1. slope, to: (objectives) */
void cst_values_look(cst_prober *p, int leaf, int first, int most, const double *slope,
                     cst_difference *to);

/* sides.c */
typedef struct cst_sided {
    double slope[CST_SIDES], error[CST_SIDES]; /* NAN: not settled */
    double jump;
    int wide; /* number of the wider width from which the slopes are */
    cst_sides_answer answer;
} cst_sided;
/* Widths first .. first + most - 1; to: (objectives) */
void cst_sides_look(cst_prober *p, int leaf, int first, int most, cst_sided *to);

/* The gradient gives a slope. */
static inline int cst_has_slope(cst_effect e)
{
    return e == CST_EXACT || e == CST_NO_EFFECT || e == CST_ONE_SIDED;
}

/* check_judge.c. Gradients to be checked: slopes (objectives x n) of the n numbers; rounding: how
 * much they change when all numbers change in their last digit. The run and its arena are the
 * prober's.
 */
typedef struct cst_claim {
    int n;
    const int *which;
    const double *adjoint, *direct, *rounding;
    const cst_effect *effect;
    cst_run *half; /* with half the step; NULL: there is none */
} cst_claim;

/* to: verdicts, differences and sides of what is claimed. CST_STOPPED: on request */
cst_status cst_check_judge(cst_prober *p, const cst_claim *c, const cst_check_options *o,
                           cst_checked *to);

/* check.c. Memory of results, the run's; NULL: an error was added. It is empty, and has no guard.
 */
typedef struct cst_check_store {
    cst_arena arena;
    cst_checked check;
    cst_sides sides;
} cst_check_store;
cst_check_store *cst_check_store_of(cst_run *r, cst_diag *d);

#endif
