/* SPDX-License-Identifier: MIT
 *
 * Measurements and what the model says about them. The section `identify` of a model file names the
 * numbers that are looked for and the experiments: each is the same model with other numbers, a CSV
 * file, and channels that pair columns with measures. Residuals and their exact Jacobian:
 *
 *     r_i = (scale y_i(x) + offset - measured_i)/sigma_i,   J_ij = dr_i/dx_j
 *
 * The rows of one experiment are contiguous, in order of increasing time. The clock of an
 * experiment may have an unknown offset that is estimated too: y_i is then taken at clock_i +
 * offset, and dy_i/doffset = dy_i/dt. Scale and offset of a channel are those of its sensor; they
 * are constants, numbers of the model, or parameters of their own. */
#ifndef CST_PROBLEM_FIT_H
#define CST_PROBLEM_FIT_H

#include "model/yaml.h"
#include "number/column.h"
#include "sensitivity/samples.h"

typedef struct cst_gauge { /* scale or offset of a channel */
    double value;
    int parameter; /* which of the parameters it is; -1: it is constant */
} cst_gauge;

static inline double cst_gauge_at(const cst_gauge *g, const double *x)
{
    return g->parameter < 0 ? g->value : x[g->parameter];
}

typedef struct cst_signal {
    const char *name; /* of the measure's component */
    cst_where where;
    int component;
    const double *data; /* (rows of the file) in SI; NAN: missing */
    cst_gauge scale, offset;
    double sigma; /* standard deviation of the noise, or the size that makes channels comparable, in
                     SI */
    int noise_known; /* sigma is a noise */
    int n, missing;  /* values that count; rows of the window without one */
    double last;     /* time of the last value taken */
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
    int numbers; /* the first of the parameters are numbers of the model; offsets of experiments
                    follow */
    cst_unknown *unknown;
    int nexperiment;
    cst_experiment *experiment;
    int noise_known; /* every channel says its noise */
    double confidence, tolerance;
    int iterations; /* at most; 0: what the method needs */
    int threads;
    const char *method;
    struct cst_fit_work *work; /* optimise/fit.c */
};

enum { CST_FIT_VALUES, CST_FIT_JACOBIAN, CST_FIT_ADJOINT };

/* r (m), and for CST_FIT_JACOBIAN J (m x n), for CST_FIT_ADJOINT J (n): the gradient of sum r^2 by
 * one backward sweep per experiment. CST_NUMERIC: an experiment cannot be simulated at x; d says
 * which. */
cst_status cst_fit_residuals(cst_fit *f, const double *x, int what, double *r, double *J,
                             cst_diag *d);

/* fit_read.c: 0: reported */
int cst_fit_read(cst_fit *f, cst_diag *d);
int cst_experiment_read(cst_fit *f, cst_experiment *e, const cst_yaml *node,
                        cst_diag *d); /* fit_experiment.c */
int cst_channels_read(cst_fit *f, cst_experiment *e, const cst_csv *csv, const cst_yaml *map,
                      cst_diag *d); /* fit_channel.c */
int cst_channels_weigh(cst_fit *f, cst_experiment *e,
                       cst_diag *d); /* once the values that count are chosen */
/* 1: all keys of the mapping are among the words (NULL at the end) */
int cst_fit_keys(const cst_yaml *map, const char *owner, const char *const *words, cst_diag *d);
int cst_fit_number(const cst_yaml *node, const char *what, double *to,
                   cst_diag *d); /* plain, with a unit: 5 ms */
/* The same in a unit: 3 is 3*factor, 3 mm is 0.003 and must have the dimension of the unit (NULL:
 * any) */
int cst_fit_quantity(const cst_yaml *node, const char *what, double factor, const char *unit,
                     double *to, cst_diag *d);
/* range and start of a parameter, into u; plain numbers are times factor */
int cst_unknown_settings(cst_unknown *u, const cst_yaml *node, const char *owner, double factor,
                         cst_diag *d);

#endif
