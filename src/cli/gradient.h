/* SPDX-License-Identifier: MIT
 *
 * What the parts of `costate gradient` share: the numbers asked for, their slopes, the outcome of a
 * check. */
#ifndef CST_CLI_GRADIENT_H
#define CST_CLI_GRADIENT_H

#include "cli/session.h"
#include "sensitivity/scaling.h"

#define CST_NO_INFLUENCE 1e-12 /* of the largest one: rounding */
#define CST_VANISHES                                                                               \
    1e-5 /* relative to the largest values of the run: if all influences are smaller, they are     \
            compared with this */

typedef struct cst_slopes { /* a cst_gradient that survives the next call; (objectives x n) */
    int n;
    double *value; /* (objectives) */
    double *slope, *error, *below, *above;
    cst_effect *effect;
    double seconds;
} cst_slopes;

typedef enum cst_verdict {
    CST_AGREES,
    CST_DIFFERS,
    CST_ROUGH,
    CST_REFUSED,
    CST_UNTRIED,
    CST_AT_KINK,
    CST_AT_STEP,
    CST_VERDICTS
} cst_verdict;

typedef struct cst_checked {
    int on;
    cst_slopes adjoint, direct, difference; /* of the numbers asked for */
    cst_verdict *verdict;                   /* (objectives x n) */
    unsigned char *refused;                 /* (objectives) a number is */
    double *largest, *of_all; /* (objectives) influence of the numbers asked for; of all numbers,
                                 whose rounding the others share */
    double *off, *off_difference; /* |difference| by size over the largest influence: of all
                                     numbers, of those asked for */
    cst_scaling *scaling;         /* (objectives x 2): mass, length */
    double *rounding;             /* (objectives) cst_objectives_rounding */
    int differing; /* how many verdicts fail, kinks too, and identities that no difference excuses
                    */
    int kinks, of_steps;         /* how many numbers stand at a kink; at one of the steps alone */
    int hidden;                  /* identities that fail although differences confirm all numbers */
    int misses;                  /* what the gradient leaves out: CST_MISSES_ */
    int confirmed;               /* 1: nothing speaks against it, nothing is left out */
    const char *word, *sentence; /* the verdict on the whole: for programs, for people */
} cst_checked;

typedef struct cst_gradient_job {
    cst_session *s;
    cst_method method;
    int n, *which; /* the numbers asked for */
    int top;       /* rows on the terminal */
    cst_slopes g;
    cst_stats stats;
    double *scale;     /* (objectives) cst_objective_scale */
    const char *kinks; /* the forces whose kinks were crossed */
    cst_dimensions dims;
    const double
        *size; /* (leaves) what changes of the numbers are compared with: cst_number_size */
    cst_vector_kind *kind; /* (leaves) */
    cst_checked check;
} cst_gradient_job;

/* gradient_select.c: --wrt; 0: an error was added */
int cst_gradient_select(cst_gradient_job *job, const char *wrt);

/* gradient_check.c */
cst_status cst_slopes_get(cst_gradient_job *job, cst_method method, int n, const int *which,
                          cst_slopes *out);
cst_status cst_gradient_check(cst_gradient_job *job);
double cst_leaf_influence(const cst_gradient_job *job, int leaf,
                          double slope); /* as cst_slope_size */
const char *cst_missing_text(const cst_gradient_job *job, int k,
                             const char **word); /* k-th thing that is left out; NULL: none */

/* gradient_verdict.c: what differences say; and, where the first ones do not confirm a slope, what
 * others do */
void cst_compare_all(cst_gradient_job *job, const cst_slopes *all_numbers);
cst_status cst_compare_again(cst_gradient_job *job);
const char *cst_verdict_word(cst_verdict v);

/* gradient_print.c: for people */
void cst_gradient_print(const cst_gradient_job *job);
void cst_checked_print(const cst_gradient_job *job);

/* gradient_write.c: for programs */
int cst_gradient_write(
    cst_gradient_job *job); /* gradient.csv, gradient.json, check.csv; 0: an error was added */
void cst_gradient_json(const cst_gradient_job *job, FILE *f, int with_run);

/* gradient_hdf5.c: results.h5 if it was asked for; 0: an error was added */
int cst_gradient_hdf5(cst_gradient_job *job);

/* Influence of number i of those asked for: |slope| times its size */
double cst_slope_size(const cst_gradient_job *job, int i, double slope);
/* The same with the sign of p times the slope where the size is |p|, else with that of the slope */
double cst_slope_influence(const cst_gradient_job *job, int i, double slope);
/* A unit of the number in which its slope is shown: mm for coordinates of points, deg for
 * directions, else the number's own */
typedef struct cst_per {
    const char *unit;
    double factor;
} cst_per;
cst_per cst_slope_per(const cst_gradient_job *job, int leaf);
/* A slope that is rounding becomes 0, without effect: tables, files and page say the same. */
void cst_gradient_round(cst_gradient_job *job);
const cst_effect *cst_effects_of(const cst_gradient_job *job, int o); /* (n) */
int cst_effect_refuses(cst_effect e);
const char *cst_place(cst_arena *a, const cst_leaf *l); /* file:line:col */

#endif
