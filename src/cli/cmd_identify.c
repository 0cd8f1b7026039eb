/* SPDX-License-Identifier: MIT
 *
 * costate identify: numbers of the model from measured signals. */
#include "cli/identify.h"

#include <math.h>

#include "problem/fit.h"

static int report(void *ctx, const cst_fit_step *s)
{
    cst_identify_job *job = ctx;
    cst_identify_row *row = cst_push(job->s->arena, &job->history);
    *row = (cst_identify_row){*s, cst_new(job->s->arena, double, job->n + 1),
                              cst_seconds() - job->s->begin};
    for (int i = 0; i < job->n; i++) row->x[i] = s->x[i];
    if (job->io_failed || !cst_identify_history(job)) return job->io_failed = 1;
    cst_progress_show(&job->bar, (double)s->iteration / 20, "iteration %d, sum of squares %.6g",
                      s->iteration, s->sum);
    return cst_stop_asked() != 0;
}

/* Each experiment with the first and with the estimated numbers, for the report: initial-NAME,
 * best-NAME */
static int record(cst_identify_job *job)
{
    cst_session *s = job->s;
    for (int k = 0; k < 2 * job->fit->nexperiment; k++) {
        cst_experiment *e = &job->fit->experiment[k / 2];
        for (int i = 0; i < job->fit->numbers; i++)
            e->values[e->which[i]] =
                k % 2 ? job->result->estimate[i].value : job->result->estimate[i].start;
        const char *stem = cst_arena_printf(s->arena, "%s-%s", k % 2 ? "best" : "initial", e->name);
        cst_status ok = cst_session_record(s, e->run, e->values, s->options.output, stem, NULL);
        if (ok == CST_STOPPED) return 1;
        if (ok != CST_OK) return 0;
    }
    return 1;
}

static int identify(cst_identify_job *job)
{
    cst_session *s = job->s;
    int leave = cst_session_run(s); /* checks the options */
    if (!leave) leave = cst_session_directory(s);
    if (leave) return leave;
    cst_options o = s->options;
    o.end = cst_args_number(s->args,
                            "end"); /* else each experiment ends with its last measured value */
    job->fit = cst_fit_new(s->args->operand.at[0], s->nset, s->set, &o, &s->diag);
    if (!job->fit) return cst_session_fail(s, CST_MODEL);
    job->bar = cst_progress_begin(!s->quiet && !s->json);
    job->n = cst_fit_parameter_count(job->fit);
    cst_stop_listen();
    cst_status status =
        cst_fit_run(job->fit, cst_args_text(s->args, "method"), report, job, &s->diag);
    cst_progress_end(&job->bar);
    if (job->io_failed) return cst_session_fail(s, CST_OUTPUT);
    if (status != CST_OK && status != CST_STOPPED) return cst_session_fail(s, status);
    job->seconds = cst_seconds() - s->begin;
    job->result = cst_fit_answer(job->fit);
    cst_session_messages(s);
    if (!cst_identify_write(job) || !cst_identify_hdf5(job) || !record(job))
        return cst_session_fail(s, s->diag.status);
    if (s->json)
        cst_identify_json(job, s->args->out, 0);
    else if (!s->quiet)
        cst_identify_print(job);
    cst_status page = cst_session_report(s, 0);
    cst_session_messages(s);
    if (page != CST_OK) return cst_exit_status(page);
    if (status == CST_STOPPED) return cst_exit_status(status);
    return job->result->converged ? CST_EXIT_DONE : CST_EXIT_FAILED;
}

static int run(const cst_args *args)
{
    cst_session *s = cst_new(args->arena, cst_session, 1);
    cst_identify_job job = {.s = s};
    int status = cst_session_open(s, args);
    if (!status) status = identify(&job);
    cst_fit_free(job.fit);
    cst_session_close(s);
    return status;
}

static const cst_option options[] = {
    {"method", CST_OPTION_CHOICE, "lm|minpack|lbfgsb|ipopt", 0, 0,
     "lm: Levenberg-Marquardt within bounds; minpack: MINPACK's lmder, bounds by a change of "
     "variables; lbfgsb, ipopt: on the sum of squares with the adjoint gradient"},
    {NULL, CST_OPTION_FLAG, NULL, 0, 0, NULL},
};

const cst_command cst_command_identify = {
    .name = "identify",
    .operands = "MODEL",
    .least = 1,
    .most = 1,
    .summary = "Estimates numbers of the model from measured signals, and reports how well they "
               "are determined.",
    .notes = "The section identify of the model names the numbers and the experiments. Minimises "
             "the sum of squares of (measure - measured)/noise over all of them, with the exact "
             "Jacobian. Prints estimates with standard errors and confidence intervals, and "
             "combinations of numbers that the measurements cannot distinguish.\n"
             "Writes DIR/estimates.csv, DIR/fit.csv (measured, model, residuals), "
             "DIR/correlation.csv, DIR/history.csv, DIR/identify.json, and the measures of each "
             "experiment with the first and with the estimated numbers: DIR/initial-NAME.csv, "
             "DIR/best-NAME.csv. The exit status is 1 if it has not converged.",
    .groups = CST_OPTIONS_MODEL | CST_OPTIONS_RUN | CST_OPTIONS_OUT | CST_OPTIONS_HDF5 |
              CST_OPTIONS_REPORT | CST_OPTIONS_PRINT,
    .option = options,
    .run = run,
};
