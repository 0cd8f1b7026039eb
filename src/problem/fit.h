/* SPDX-License-Identifier: MIT
 *
 * Measurements and what the model says about them. The section `identify` of a model file names the numbers that are looked
 * for and the experiments: each is the same model with other numbers, a CSV file, and channels that pair columns with
 * measures. Residuals and their exact Jacobian:
 *
 *     r_i = (y_i(x) - measured_i)/sigma_i,   J_ij = dr_i/dx_j
 *
 * The rows of one experiment are contiguous, in order of increasing time. The clock of an experiment may have an unknown offset that is
 * estimated too: y_i is then taken at clock_i + offset, and dy_i/doffset = dy_i/dt. */
#ifndef CST_PROBLEM_FIT_H
#define CST_PROBLEM_FIT_H

#include "model/yaml.h"
#include "sensitivity/samples.h"

typedef struct cst_signal {
    const char *name; /* of the measure's component */
    int component;
    const double *data; /* (rows of the file) in SI */
    double sigma;       /* standard deviation of the noise, or the size that makes channels comparable */
} cst_signal;

typedef struct cst_experiment {
    const char *name;
    cst_where where;
    cst_model *model;
    cst_run *run;
    double *values; /* (numbers) */
    int *which;     /* (numbers that are looked for) */
    int nchannel;
    cst_signal *channel;
    int n, first;       /* samples; their first row among all residuals */
    cst_sample *sample; /* (n) at run time = clock + offset */
    double *clock;      /* (n) time of the file */
    int shift;          /* which of the parameters is the offset; -1: it is known */
    int *of;            /* (n) channel */
    double *measured;   /* (n) */
    cst_samples *samples;
    double *y, *J;          /* (n), (n x numbers) */
    double *bar, *gradient; /* (n), (numbers) */
    int trusted;            /* numbers without a valid derivative have been checked for */
    cst_status status;
    cst_diag *diag;
} cst_experiment;

typedef struct cst_unknown { /* a number that is looked for */
    const char *name, *unit;
    cst_where where;
    double start, lower, upper;
    double size; /* a noticeable change, by which relative changes are scaled */
} cst_unknown;

struct cst_fit {
    cst_arena arena;
    cst_model *model; /* as the file is, without an experiment */
    const char *path;
    int nset;
    const char *const *set;
    cst_options options;
    int n, m;    /* parameters, residuals */
    int numbers; /* the first of the parameters are numbers of the model; offsets of experiments follow */
    cst_unknown *unknown;
    int nexperiment;
    cst_experiment *experiment;
    int noise_known; /* every channel says its noise */
    double confidence, tolerance;
    int iterations, threads;
    const char *method;
    struct cst_fit_work *work; /* optimise/fit.c */
};

enum { CST_FIT_VALUES, CST_FIT_JACOBIAN, CST_FIT_ADJOINT };

/* r (m), and for CST_FIT_JACOBIAN J (m x n), for CST_FIT_ADJOINT J (n): the gradient of sum r^2 by one backward sweep per
 * experiment. CST_NUMERIC: an experiment cannot be simulated at x; d says which. */
cst_status cst_fit_residuals(cst_fit *f, const double *x, int what, double *r, double *J, cst_diag *d);

/* fit_read.c: 0: reported */
int cst_fit_read(cst_fit *f, cst_diag *d);
int cst_experiment_read(cst_fit *f, cst_experiment *e, const cst_yaml *node,
                        cst_diag *d); /* fit_experiment.c */
/* 1: all keys of the mapping are among the words (NULL at the end) */
int cst_fit_keys(const cst_yaml *map, const char *owner, const char *const *words, cst_diag *d);
int cst_fit_number(const cst_yaml *node, const char *what, double *to,
                   cst_diag *d); /* plain, with a unit: 5 ms */
/* range and start of a parameter, into u */
int cst_unknown_settings(cst_unknown *u, const cst_yaml *node, const char *owner, cst_diag *d);

#endif
