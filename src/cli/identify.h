/* SPDX-License-Identifier: MIT
 *
 * What the parts of `costate identify` share. */
#ifndef CST_CLI_IDENTIFY_H
#define CST_CLI_IDENTIFY_H

#include "cli/session.h"

typedef struct cst_identify_row {
    cst_fit_step step;
    double *x; /* (parameters) */
    double seconds;
} cst_identify_row;

typedef struct cst_identify_job {
    cst_session *s;
    cst_fit *fit;
    int n; /* parameters */
    CST_LIST(cst_identify_row) history;
    const cst_fit_result *result;
    cst_progress bar;
    double seconds;
    int io_failed; /* history.csv could not be written: reported */
} cst_identify_job;

/* identify_write.c; 0: an error was added */
int cst_identify_history(cst_identify_job *job); /* history.csv, whole after each iteration */
int cst_identify_write(cst_identify_job *job);   /* everything else */
void cst_identify_json(const cst_identify_job *job, FILE *f, int with_run);

/* identify_hdf5.c: results.h5 if --hdf5 was given */
int cst_identify_hdf5(cst_identify_job *job);

/* identify_print.c: for people */
void cst_identify_print(const cst_identify_job *job);

#endif
