/* SPDX-License-Identifier: MIT
 *
 * What the commands that work on a model have in common: loading it with the values of --set, a run
 * with the options of the line, messages on standard error, the directory of results, and ending in
 * good order on ctrl-C. */
#ifndef CST_CLI_SESSION_H
#define CST_CLI_SESSION_H

#include "base/json.h"
#include "base/writer.h"
#include "cli/command.h"
#include "cli/term.h"
#include "integrator/run.h"
#include "report/hdf5.h"
#include "report/scene.h"

typedef struct cst_session {
    const cst_args *args;
    cst_arena *arena;
    cst_model *model;
    cst_run *run;
    int nset; /* other values of numbers, and what decides how the model is built */
    const char **set;
    cst_options options; /* of the run, complete: options not given on the command line are taken
                            from the model */
    const char *below;   /* --sandbox: the directory of the model */
    const char *dir;     /* of results, without a slash at its end */
    double begin;        /* of the session, cst_seconds */
    int compares;        /* all formulations: --integrator is for those that take it */
    int json, quiet;
    size_t printed; /* bytes of the messages that have been shown */
    cst_diag diag;
} cst_session;

/* Each returns CST_EXIT_DONE, or the status to exit with: all messages have then been printed, also
 * as JSON. */
int cst_session_open(cst_session *s, const cst_args *args);
int cst_session_run(cst_session *s);
int cst_session_directory(cst_session *s);
void cst_session_close(cst_session *s);

/* What was run, if that differs from what is written: "index1 with rk4 (chosen by auto: ...)";
 * otherwise NULL */
const char *cst_session_chosen(const cst_session *s);

void cst_session_messages(cst_session *s); /* shows new messages on standard error */
int cst_session_fail(cst_session *s,
                     cst_status status); /* the same, and with --json an object that says so */
int cst_exit_status(cst_status status);
const char *cst_session_word(const cst_session *s, const char *option,
                             const char *written); /* the line's or the model's */
cst_where cst_session_where(const cst_session *s); /* the model file */
const char *cst_session_path(cst_session *s,
                             const char *name); /* of a file in the directory of results */

/* Handles SIGINT and SIGTERM: the first one requests a stop, the second one, of either kind, ends
 * the program at once. 0, or the signal. */
void cst_session_given(
    const cst_session *s,
    cst_options *o); /* the options of a run that stand on the command line, into o */
void cst_stop_listen(void);
int cst_stop_asked(void);
void cst_stop_finish(void); /* what is left is written to its end, unless a second signal comes:
                               from now on no stop is requested */

/* Members of a result object */
void cst_json_objectives(cst_json *j, const cst_run *r,
                         int complete); /* incomplete runs have none */
void cst_json_measures_end(cst_json *j, const cst_run *r);
/* Of objectives and measures: expression, doc, unit in SI, and the unit in which tables and the
 * page show it: value in SI over factor */
void cst_json_definitions(cst_json *j, const cst_model *m);
void cst_json_definition(cst_json *j, const char *name, const char *unit, const cst_shown *shown,
                         const cst_label *l);
const char *cst_objective_says(
    cst_arena *a,
    const cst_objective *o); /* its expression and what the file says about it, one line */
void cst_json_stats(cst_json *j, const cst_run *r);
const char *cst_kinks_text(
    cst_arena *a,
    const cst_run *r); /* "fl.tire 12, brake 3": forces whose kinks were crossed most often */
void cst_print_events(const cst_stats *n,
                      const char *kinks); /* a line about events and kinks, if there were any */
void cst_json_messages(cst_json *j, const cst_diag *d);
void cst_json_lines(cst_json *j, const char *key, const cst_diag *d);
void cst_json_run(cst_json *j, const cst_session *s); /* program, model, options: what was run */

/* results_hdf5.c: DIR/results.h5. open: NULL when --hdf5 was not given, or (*failed = 1) when an
 * error was added; the file then has what was run. series: it waits for rows of all measures.
 * begin: both. objectives: the values in the order of the model. end: objectives (of a complete
 * run) and statistics; 0: reported. group: "" is the root */
cst_hdf5 *cst_results_hdf5_open(cst_session *s, int *failed);
cst_hdf5 *cst_results_hdf5_begin(cst_session *s, int *failed);
void cst_results_hdf5_series(cst_hdf5 *h, cst_arena *a, const cst_model *m, const char *group);
void cst_results_hdf5_objectives(cst_hdf5 *h, cst_arena *a, const cst_model *m, const char *group,
                                 const double *value);
int cst_results_hdf5_end(cst_session *s, cst_hdf5 *h, cst_status status);
/* film.c: DIR/scene.json and DIR/poses.f32 while the run is observed (cst_film_frame), or
 * DIR/STEM.scene.json and DIR/STEM.poses.f32 where a directory has several runs. 0: an error was
 * added */
int cst_session_film_begin(cst_session *s, const cst_run *r, const char *stem, cst_film *film);
int cst_session_film_end(cst_session *s, const cst_run *r, const char *stem, cst_film *film);
int cst_session_scene(cst_session *s,
                      const cst_run *r); /* DIR/scene.json without frames. 0: an error was added */
/* Simulates: the measures go to DIR/measures.csv, or DIR/STEM.csv, the frames beside them, and the
 * rows to the series that hdf5 waits for, unless it is NULL. output: as the option */
cst_status cst_session_record(cst_session *s, cst_run *r, const double *values, double output,
                              const char *stem, cst_hdf5 *hdf5);
/* DIR/report.html if --report was given; simulate: the histories and frames are not there yet */
cst_status cst_session_report(cst_session *s, int simulate);

#endif
