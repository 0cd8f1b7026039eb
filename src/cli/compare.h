/* SPDX-License-Identifier: MIT
 *
 * What the parts of `costate compare` share. */
#ifndef CST_CLI_COMPARE_H
#define CST_CLI_COMPARE_H

#include "cli/gradient.h"

typedef struct cst_compared {
    const char *formulation, *integrator, *method, *note;
    double *value, *slope; /* (objectives), (objectives x n); NULL: it did not apply */
    double seconds, violation, distance;
} cst_compared;

typedef struct cst_comparison {
    cst_gradient_job job;
    CST_LIST(cst_compared) rows;
    double *best;     /* (objectives x n) extrapolated */
    double forward_s; /* one simulation as the model file says */
} cst_comparison;

/* compare_print.c */
void cst_comparison_print(const cst_comparison *c);
void cst_comparison_json(const cst_comparison *c, FILE *f, int with_run);
int cst_comparison_write(
    const cst_comparison *c); /* compare.csv, compare.json; 0: an error was added */

#endif
