/* SPDX-License-Identifier: MIT
 *
 * costate optimize: what its files share. The directory of a run holds
 *
 *     journal.bin        every evaluation, for --resume
 *     history.csv        one row per iteration
 *     best.yaml          the model file with the best numbers so far
 *     result.json        what was run and what came out; its status is "running" until the end
 *     initial.csv, best.csv    all measures at the start and at the best design (with scenarios:
 * initial-NAME.csv, ..) results.h5         with --hdf5: history, design, constraints, and the
 * measures at the best design initial.scene.json, initial.poses.f32, ..    what a report draws of
 * them */
#ifndef CST_CLI_OPTIMIZE_H
#define CST_CLI_OPTIMIZE_H

#include "cli/session.h"
#include "problem/problem.h"

typedef struct cst_history_row {
    int iteration, evaluations, failures, stage;
    double f, violation, step;
    double *x, *c; /* (n), (m) */
} cst_history_row;

typedef struct cst_optimize_job {
    cst_session *s;
    cst_problem *p;
    const cst_nlp *nlp;
    cst_search_options search;
    cst_optimum best;
    CST_LIST(cst_history_row) history;
    int evaluations; /* begun */
    int io_failed;
    double evaluating_s;
    cst_hdf5 *hdf5; /* NULL: not asked for */
    cst_progress bar;
    double *objective_start, *objective_best; /* all objectives of all cases */
    double *df_start;                         /* of the check */
} cst_optimize_job;

int cst_history_write(cst_optimize_job *job);                    /* 0: reported */
int cst_result_write(cst_optimize_job *job, const char *status); /* likewise */
void cst_optimize_json(cst_optimize_job *job);
void cst_optimize_print(cst_optimize_job *job);
/* Simulates all cases at x; measures go to STEM.csv and to results.h5 if it is open, objectives of
 * all cases to `objective`. */
cst_status cst_trajectories_write(cst_optimize_job *job, const double *x, const char *stem,
                                  double *objective);
/* optimize_hdf5.c: results.h5 is open while the best design is simulated. 0: reported */
int cst_optimize_hdf5_begin(cst_optimize_job *job);
int cst_optimize_hdf5_end(cst_optimize_job *job);
const char *cst_optimize_hdf5_group(cst_optimize_job *job,
                                    const cst_case *c); /* of its measures and objectives */
/* Adjoint against differences at x: 0 when they differ, which has been said. */
int cst_optimize_check(cst_optimize_job *job, const double *x, const char *where);
int cst_constraint_active(const cst_optimize_job *job, int j); /* 1: it holds with equality */

#endif
