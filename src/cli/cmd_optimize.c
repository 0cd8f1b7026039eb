/* SPDX-License-Identifier: MIT
 *
 * costate optimize: searches the best numbers of the design section. */
#include "cli/optimize.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

#define STEEP 1e-5 /* stationarity that a smooth objective seldom has where a search ends */

/* ---- while it runs ---- */

static cst_status evaluate(void *ctx, const double *x, double *f, double *c, double *df, double *dc,
                           cst_diag *d)
{
    cst_optimize_job *job = ctx;
    double from = cst_seconds();
    if (cst_stop_asked() || job->io_failed) return CST_STOPPED;
    job->evaluations++;
    cst_status ok = cst_problem_eval(job->p, x, f, c, df, dc, d);
    job->evaluating_s += cst_seconds() - from;
    return ok;
}

static int stop(void *ctx)
{
    (void)ctx;
    return cst_stop_asked();
}

static void set_stage(void *ctx, int k)
{
    cst_optimize_job *job = ctx;
    job->nlp->stage(job->p, k);
}

/* "k_B = 1e+06": which problem the iterates that follow are of */
static void print_stage(const cst_optimize_job *job, int stage)
{
    const cst_design *d = job->p->design;
    printf("stage %d of %d:", stage + 1, d->stages + 1);
    for (int i = 0; i < d->path.n; i++) {
        double own =
            cst_model_number_value(job->p->m, cst_model_number_find(job->p->m, d->path.at[i].name));
        printf("%s %s = %g", i ? "," : "", d->path.at[i].name,
               stage < d->stages ? d->path.at[i].value[stage] : own);
    }
    printf("\n");
}

static void print_iterate(cst_optimize_job *job, const cst_iterate *it)
{
    double spent = cst_seconds() - job->s->begin;
    if (it->iteration == 0)
        printf("%9s %11s %15s %11s %9s %8s\n", "iteration", "evaluations", "objective", "violation",
               "step", "time");
    if (job->nlp->stages &&
        (job->history.n < 2 || job->history.at[job->history.n - 2].stage != it->stage))
        print_stage(job, it->stage);
    printf("%9d %11d %15.9g %11.3g %9.2e %6.1f s\n", it->iteration, it->evaluations, it->f,
           it->violation, it->step, spent);
    fflush(stdout);
}

/* On disk first, then on the screen. */
static int observe(void *ctx, const cst_iterate *it)
{
    cst_optimize_job *job = ctx;
    cst_session *s = job->s;
    size_t n = (size_t)job->nlp->n, m = (size_t)job->nlp->m;
    cst_history_row row = {it->iteration,
                           it->evaluations,
                           it->failures,
                           it->stage,
                           it->f,
                           it->violation,
                           it->step,
                           cst_new(s->arena, double, n + 1),
                           cst_new(s->arena, double, m + 1)};
    memcpy(row.x, it->x, sizeof *row.x * n);
    memcpy(row.c, it->c, sizeof *row.c * m);
    *cst_push(s->arena, &job->history) = row;
    memcpy(job->best.x, it->x, sizeof *row.x * n);
    memcpy(job->best.c, it->c, sizeof *row.c * m);
    job->best.f = it->f;
    job->best.violation = it->violation;
    job->best.iterations = it->iteration;
    job->best.evaluations = it->evaluations;
    job->best.failures = it->failures;
    int ok = cst_history_write(job);
    if (ok && it->improved)
        ok = cst_problem_save(job->p, it->x, cst_session_path(s, "best.yaml"), &s->diag) == CST_OK;
    if (ok) ok = cst_result_write(job, "running");
    job->io_failed |= !ok;
    cst_progress_end(&job->bar);
    if (!s->quiet && !s->json) print_iterate(job, it);
    return cst_stop_asked() || job->io_failed;
}

/* ---- before and after ---- */

static void choose(cst_optimize_job *job)
{
    const cst_args *args = job->s->args;
    cst_search_options *o = &job->search;
    const char *method = cst_args_text(args, "method"), *inner = cst_args_text(args, "inner");
    double iterations = cst_args_number(args, "iterations"),
           evaluations = cst_args_number(args, "evaluations");
    double starts = cst_args_number(args, "starts"), seed = cst_args_number(args, "seed");
    *o = cst_problem_search(job->p);
    if (method) o->method = method;
    if (inner) o->inner = inner;
    if (!isnan(iterations)) o->iterations = (int)iterations;
    if (!isnan(evaluations)) o->evaluations = (int)evaluations;
    if (!isnan(starts)) o->starts = (int)starts;
    if (!isnan(seed)) o->seed = (unsigned long)seed;
    if (!o->method) o->method = job->nlp->m ? "slsqp" : "lbfgsb";
    o->journal = cst_session_path(job->s, "journal.bin");
    o->resume = cst_args_flag(args, "resume");
    o->observe = observe;
    o->stop = stop;
    o->ctx = job;
}

/* Options given on the command line; all others are taken from each scenario's model. Threads: as
 * many as there are scenarios. */
static cst_options line_options(const cst_session *s)
{
    cst_options o = cst_options_default();
    double threads = cst_args_number(s->args, "threads");
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    cst_session_given(s, &o);
    o.memory = s->options.memory;
    o.below = s->below;
    const cst_yaml *list = cst_yaml_get(s->model->design, "scenarios");
    int scenarios = list && list->n > 1 ? list->n : 1;
    o.threads = !isnan(threads) ? (int)threads : scenarios < cores ? scenarios : (int)cores;
    return o;
}

static int load_problem(cst_optimize_job *job)
{
    cst_session *s = job->s;
    const cst_options o = line_options(s);
    cst_diag *said =
        cst_new(s->arena, cst_diag, 1); /* warnings have been shown when the session was opened */
    job->p = cst_problem_load(s->args->operand.at[0], s->nset, s->set, &o, said);
    if (!job->p) {
        cst_diag_append_errors(&s->diag, said);
        return 0;
    }
    job->nlp = cst_problem_nlp(job->p);
    int n = job->nlp->n, m = job->nlp->m, total = 1;
    for (int k = 0; k < job->p->ncase; k++) total += job->p->at[k].m->objective.n;
    job->best.x = cst_new(s->arena, double, n + 1);
    job->best.c = cst_new(s->arena, double, m + 1);
    job->best.multiplier = cst_new(s->arena, double, m + 1);
    job->best.state = cst_new(s->arena, cst_limit_state, m + 1);
    job->objective_start = cst_new(s->arena, double, total);
    job->objective_best = cst_new(s->arena, double, total);
    return 1;
}

static cst_status search(cst_optimize_job *job)
{
    cst_session *s = job->s;
    int check = cst_args_flag(s->args, "check");
    cst_status ok = cst_trajectories_write(job, job->nlp->start, "initial", job->objective_start);
    if (ok == CST_OK && check && !cst_optimize_check(job, job->nlp->start, "start"))
        ok = CST_NUMERIC;
    if (ok != CST_OK) return ok;
    cst_nlp nlp = *job->nlp;
    nlp.eval = evaluate;
    nlp.stage = set_stage;
    nlp.ctx = job;
    ok = cst_optimise(&nlp, &job->search, &job->best, &s->diag);
    cst_progress_end(&job->bar);
    if (job->io_failed) return CST_OUTPUT;
    if (ok == CST_STOPPED && !job->history.n)
        return cst_error(&s->diag, ok, cst_session_where(s),
                         "stopped on request before the start was evaluated: there is no result");
    if (ok != CST_OK && ok != CST_STOPPED) return ok;
    cst_stop_finish(); /* the best design is simulated to its end */
    if (job->best.failures)
        cst_warn(&s->diag, cst_session_where(s),
                 "%d of %d evaluations (%.0f %%) failed; the optimiser stepped back each time%s%s",
                 job->best.failures, job->best.evaluations,
                 100.0 * job->best.failures / job->best.evaluations,
                 *job->best.failure ? ". The first: " : "", job->best.failure);
    if (job->best.outcome == CST_STALLED && job->best.stationarity > STEEP)
        cst_warn(&s->diag, cst_session_where(s),
                 "the objective no longer changes, but its gradient has not vanished (%.2g): a "
                 "kink may block the search; another method may continue from best.yaml",
                 job->best.stationarity);
    int stage = job->history.n ? job->history.at[job->history.n - 1].stage : 0;
    if (stage < nlp.stages)
        cst_warn(&s->diag, cst_session_where(s),
                 "the search ended in stage %d of %d: this objective is not yet that of the design",
                 stage + 1, nlp.stages + 1);
    if (!cst_optimize_hdf5_begin(job)) return CST_OUTPUT;
    cst_status last = cst_trajectories_write(job, job->best.x, "best", job->objective_best);
    if (!cst_optimize_hdf5_end(job)) return CST_OUTPUT;
    if (last == CST_OK && check && !cst_optimize_check(job, job->best.x, "best design"))
        last = CST_NUMERIC;
    return last != CST_OK ? last : ok;
}

static int optimize(cst_optimize_job *job)
{
    cst_session *s = job->s;
    int leave = cst_session_run(s);
    if (!leave) leave = cst_session_directory(s);
    if (leave) return leave;
    if (!load_problem(job)) return cst_session_fail(s, CST_MODEL);
    choose(job);
    cst_stop_listen();
    cst_status ok = search(job);
    cst_session_messages(s);
    if (ok != CST_OK && (ok != CST_STOPPED || !job->history.n)) {
        if (job->history.n && !job->io_failed) cst_result_write(job, cst_status_text(ok));
        return cst_session_fail(s, ok);
    }
    const char *status = cst_outcome_text(job->best.outcome);
    if (!cst_result_write(job, status)) return cst_session_fail(s, CST_OUTPUT);
    if (s->json)
        cst_optimize_json(job);
    else if (!s->quiet)
        cst_optimize_print(job);
    cst_status page = cst_session_report(s, 0);
    cst_session_messages(s);
    if (page != CST_OK) return cst_exit_status(page);
    cst_outcome o = job->best.outcome;
    if (o == CST_INTERRUPTED) return cst_exit_status(CST_STOPPED);
    return o == CST_CONVERGED || o == CST_TARGET ? CST_EXIT_DONE : CST_EXIT_FAILED;
}

static int run(const cst_args *args)
{
    cst_session *s = cst_new(args->arena, cst_session, 1);
    cst_optimize_job job = {.s = s};
    int status = cst_session_open(s, args);
    if (!status) status = optimize(&job);
    cst_problem_free(job.p);
    cst_session_close(s);
    return status;
}

static const cst_option options[] = {
    {"method", CST_OPTION_TEXT, "NAME", 0, 0,
     "optimiser: lbfgsb, slsqp, mma, auglag, ipopt or multistart"},
    {"inner", CST_OPTION_TEXT, "NAME", 0, 0,
     "inner method of auglag (lbfgs, mma, slsqp) or of multistart"},
    {"iterations", CST_OPTION_WHOLE, "N", 1, 1e9, "at most so many iterations; default 200"},
    {"evaluations", CST_OPTION_WHOLE, "N", 1, 1e9, "at most so many evaluations; default 1000"},
    {"starts", CST_OPTION_WHOLE, "N", 1, 1e6, "starting points of multistart; default 10"},
    {"seed", CST_OPTION_WHOLE, "N", 0, 1e9, "seed of the random sample of multistart; default 1"},
    {"resume", CST_OPTION_FLAG, NULL, 0, 0, "continue an interrupted run in the same directory"},
    {"check", CST_OPTION_FLAG, NULL, 0, 0,
     "compares the gradient with differences at the start and at the end"},
    {NULL, CST_OPTION_FLAG, NULL, 0, 0, NULL},
};

const cst_command cst_command_optimize = {
    .name = "optimize",
    .operands = "MODEL",
    .least = 1,
    .most = 1,
    .summary = "Searches for the best design: the numbers, bounds, constraints and scenarios of "
               "the design section.",
    .notes =
        "Each iteration is on disk before it is shown: DIR/history.csv, DIR/best.yaml (the "
        "model file with the best numbers in their places, comments kept) and "
        "DIR/result.json. DIR/journal.bin records every evaluation: after a kill at any "
        "moment `--resume` replays it and ends in the same design. DIR/initial.csv and "
        "DIR/best.csv have the measures of the first and of the best design; with --hdf5 "
        "DIR/results.h5 has the history, the design and the measures of the best one.\n"
        "If a simulation fails at a trial point, the search steps back. Scenarios run in "
        "parallel. The exit status is 0 if the search has converged or reached its target, and 1 "
        "if it has not: at a limit of iterations, evaluations or time too.",
    .groups = CST_OPTIONS_MODEL | CST_OPTIONS_RUN | CST_OPTIONS_OUT | CST_OPTIONS_HDF5 |
              CST_OPTIONS_REPORT | CST_OPTIONS_PRINT,
    .option = options,
    .run = run,
};
