/* SPDX-License-Identifier: MIT
 *
 * What the parts of `costate gradient` share: the numbers asked for, their slopes, the outcome of a
 * check. */
#ifndef CST_CLI_GRADIENT_H
#define CST_CLI_GRADIENT_H

#include "cli/session.h"
#include "sensitivity/scaling.h"

typedef struct cst_slopes { /* a cst_gradient that survives the next call; (objectives x n) */
    int n;
    double *value; /* (objectives) */
    double *slope;
    cst_effect *effect;
    double seconds;
} cst_slopes;

typedef struct cst_gradient_job {
    cst_session *s;
    cst_method method;
    int n, *which;    /* the numbers asked for */
    int nside, *side; /* those of --sides */
    int top;          /* rows on the terminal */
    cst_slopes g;
    cst_stats stats;
    double *scale;     /* (objectives) cst_objective_scale */
    const char *kinks; /* the forces whose kinks were crossed */
    cst_dimensions dims;
    const double
        *size; /* (leaves) what changes of the numbers are compared with: cst_number_size */
    cst_vector_kind *kind;    /* (leaves) */
    const cst_checked *check; /* NULL: not asked for */
    const cst_sides *sides;   /* likewise; of `side` */
} cst_gradient_job;

/* gradient_select.c: the numbers that an option names, in the order of the file, and in n how many;
 * NULL: an error was added */
int *cst_gradient_select(cst_gradient_job *job, const char *option, const char *names, int *n);

/* gradient_slopes.c */
cst_status cst_slopes_get(cst_gradient_job *job, cst_slopes *out);

/* gradient_check.c */
cst_status cst_gradient_check(cst_gradient_job *job);
cst_status cst_gradient_sides(cst_gradient_job *job);
/* k-th thing that is left out; NULL: none */
const char *cst_missing_text(const cst_gradient_job *job, int k, const char **word);
const char *cst_check_sentence(const cst_gradient_job *job); /* the verdict on the whole */
void cst_checked_print(const cst_gradient_job *job);         /* nothing if it was not asked for */
void cst_sides_print(const cst_gradient_job *job);           /* likewise */

/* gradient_print.c: for people */
void cst_gradient_print(const cst_gradient_job *job);

/* gradient_write.c: for programs */
int cst_gradient_write(cst_gradient_job *job); /* gradient.csv, gradient.json, check.csv, sides.csv;
                                                  0: an error was added */
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
