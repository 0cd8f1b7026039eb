/* SPDX-License-Identifier: MIT
 *
 * What costate optimize writes. */
#include "base/crew.h"
#include "cli/optimize.h"

#include <math.h>
#include <string.h>

int cst_constraint_active(const cst_optimize_job *job, int j)
{
    const cst_limit_state h = job->best.state[j];
    return h == CST_LIMIT_ACTIVE || h == CST_LIMIT_EQUALITY;
}

/* ---- history.csv ---- */

/* names with commas or quotes stand in quotes */
static void write_name(FILE *f, const char *name)
{
    if (!strpbrk(name, ",\"")) {
        fprintf(f, ",%s", name);
        return;
    }
    fputs(",\"", f);
    for (const char *c = name; *c; c++) {
        if (*c == '"') fputc('"', f);
        fputc(*c, f);
    }
    fputc('"', f);
}

int cst_history_write(cst_optimize_job *job)
{
    cst_session *s = job->s;
    const char *path = cst_session_path(s, "history.csv");
    cst_writer *o = cst_writer_open(s->arena, path, &s->diag);
    if (!o) return 0;
    FILE *f = o->f;
    fputs("iteration,evaluations,failures,objective,violation,step", f);
    if (job->nlp->stages) fputs(",stage", f);
    for (int j = 0; j < job->nlp->m; j++) write_name(f, cst_problem_constraint(job->p, j));
    for (int i = 0; i < job->nlp->n; i++) write_name(f, cst_problem_variable(job->p, i));
    fputc('\n', f);
    for (int k = 0; k < job->history.n; k++) {
        const cst_history_row *r = &job->history.at[k];
        fprintf(f, "%d,%d,%d,%.17g,%.17g,%.17g", r->iteration, r->evaluations, r->failures, r->f,
                r->violation, r->step);
        if (job->nlp->stages) fprintf(f, ",%d", r->stage + 1);
        for (int j = 0; j < job->nlp->m; j++) fprintf(f, ",%.17g", r->c[j]);
        for (int i = 0; i < job->nlp->n; i++) fprintf(f, ",%.17g", r->x[i]);
        fputc('\n', f);
    }
    return cst_writer_close(o, &s->diag);
}

/* ---- result.json ---- */

static void write_objectives(cst_json *j, const cst_optimize_job *job, const char *key,
                             const double *value)
{
    int at = 0;
    cst_json_object(j, key);
    for (int k = 0; k < job->p->ncase; k++) {
        const cst_case *c = &job->p->at[k];
        for (int i = 0; i < c->m->objective.n; i++) {
            const char *name = c->m->objective.at[i].name;
            if (*c->scenario->name)
                name = cst_arena_printf(job->s->arena, "%s.%s", c->scenario->name, name);
            cst_json_number(j, name, value[at++]);
        }
    }
    cst_json_close(j);
}

static void write_definitions(cst_json *j, const cst_optimize_job *job)
{
    cst_json_object(j, "definitions");
    for (int k = 0; k < job->p->ncase; k++) {
        const cst_case *c = &job->p->at[k];
        for (int i = 0; i < c->m->objective.n; i++) {
            const cst_objective *o = &c->m->objective.at[i];
            const char *scenario = c->scenario->name;
            cst_json_definition(j,
                                *scenario
                                    ? cst_arena_printf(job->s->arena, "%s.%s", scenario, o->name)
                                    : o->name,
                                o->unit, &o->shown, &o->label);
        }
    }
    cst_json_close(j);
}

static void write_variables(cst_json *j, const cst_optimize_job *job)
{
    cst_json_array(j, "variables");
    for (int i = 0; i < job->nlp->n; i++) {
        const cst_variable *v = &job->p->design->variable.at[i];
        cst_json_object(j, NULL);
        cst_json_text(j, "name", v->name);
        cst_json_text(j, "unit", v->unit);
        cst_json_number(j, "start", v->start);
        cst_json_number(j, "value", job->best.x[i]);
        cst_json_number(j, "lower", v->lower);
        cst_json_number(j, "upper", v->upper);
        cst_json_number(j, "scale", v->scale);
        cst_json_close(j);
    }
    cst_json_close(j);
}

static void write_constraints(cst_json *j, const cst_optimize_job *job)
{
    cst_json_array(j, "constraints");
    for (int k = 0; k < job->nlp->m; k++) {
        cst_json_object(j, NULL);
        cst_json_text(j, "name", cst_problem_constraint(job->p, k));
        cst_json_number(j, "value", job->best.c[k]);
        cst_json_number(j, "lower", job->nlp->c_lower[k]);
        cst_json_number(j, "upper", job->nlp->c_upper[k]);
        cst_json_bool(j, "active", cst_constraint_active(job, k));
        cst_json_text(j, "state", cst_limit_state_text(job->best.state[k]));
        cst_json_number(j, "multiplier", job->best.multiplier[k]);
        cst_json_close(j);
    }
    cst_json_close(j);
}

static void write_design(cst_json *j, const cst_optimize_job *job)
{
    cst_json_object(j, "design");
    for (int i = 0; i < job->nlp->n; i++)
        cst_json_number(j, cst_problem_variable(job->p, i), job->best.x[i]);
    cst_json_close(j);
}

static void write_stats(cst_json *j, const cst_optimize_job *job)
{
    cst_json_object(j, "stats");
    cst_json_number(j, "wall_s", cst_seconds() - job->s->begin);
    cst_json_number(j, "evaluating_s", job->evaluating_s);
    cst_json_integer(j, "failures", job->best.failures);
    if (*job->best.failure) cst_json_text(j, "first_failure", job->best.failure);
    cst_json_integer(j, "replayed", job->best.replayed);
    cst_json_integer(j, "scenarios", job->p->ncase);
    cst_json_integer(j, "threads", job->p->threads);
    cst_json_close(j);
}

static void write_outcome(cst_json *j, const cst_optimize_job *job, const char *status)
{
    cst_json_text(j, "status", status);
    cst_json_text(j, "reason", job->best.reason);
    cst_json_text(j, "method", job->search.method);
    write_objectives(j, job, "objectives", job->objective_best);
    write_definitions(j, job);
    write_design(j, job);
    cst_json_integer(j, "iterations", job->best.iterations);
    cst_json_integer(j, "evaluations", job->best.evaluations);
    cst_json_number(j, "objective", job->best.f);
    cst_json_number(j, "violation", job->best.violation);
    cst_json_number(j, "stationarity", job->best.stationarity);
    write_constraints(j, job);
    write_stats(j, job);
}

int cst_result_write(cst_optimize_job *job, const char *status)
{
    cst_session *s = job->s;
    const char *path = cst_session_path(s, "result.json");
    cst_writer *o = cst_writer_open(s->arena, path, &s->diag);
    if (!o) return 0;
    cst_json j = cst_json_begin(o->f, 1);
    cst_json_object(&j, NULL);
    cst_json_run(&j, s);
    write_outcome(&j, job, status);
    write_objectives(&j, job, "objectives_start", job->objective_start);
    write_variables(&j, job);
    cst_json_messages(&j, &s->diag);
    cst_json_object(&j, "files");
    cst_json_text(&j, "history.csv", "one row per iteration: objective, constraints, variables");
    cst_json_text(&j, "best.yaml", "the model file with the best numbers");
    cst_json_text(&j, "initial.csv", "measures at the start");
    cst_json_text(&j, "best.csv", "measures at the best design");
    if (cst_args_flag(s->args, "hdf5"))
        cst_json_text(&j, "results.h5",
                      "history, design, constraints, measures at the best design");
    cst_json_close(&j);
    cst_json_close(&j);
    cst_json_end(&j);
    return cst_writer_close(o, &s->diag);
}

void cst_optimize_json(cst_optimize_job *job)
{
    cst_json j = cst_json_begin(job->s->args->out, 1);
    cst_json_object(&j, NULL);
    write_outcome(&j, job, cst_outcome_text(job->best.outcome));
    cst_json_close(&j);
    cst_json_end(&j);
}

/* ---- trajectories ---- */

static cst_status simulate(cst_optimize_job *job, cst_session *s, int k, const double *x,
                           const char *stem, double *objective)
{
    const cst_case *c = &job->p->at[k];
    cst_problem_numbers(job->p, k, x, c->value);
    cst_run *r = cst_run_new(c->m, &c->options, &s->diag);
    if (!r) return s->diag.status;
    const char *group = job->hdf5 ? cst_optimize_hdf5_group(job, c) : NULL;
    if (group) cst_results_hdf5_series(job->hdf5, s->arena, c->m, group);
    cst_status ok = cst_session_record(s, r, c->value, r->options.output, stem, job->hdf5);
    for (int i = 0; i < c->m->objective.n; i++)
        objective[i] = ok == CST_OK ? cst_run_objective(r, i) : NAN;
    cst_run_free(r);
    if (group) {
        cst_hdf5_series_end(job->hdf5);
        cst_results_hdf5_objectives(job->hdf5, s->arena, c->m, group,
                                    ok == CST_OK ? objective : NULL);
    }
    return ok == CST_STOPPED ? CST_OK : ok; /* what was asked to stop is said by the search */
}

typedef struct tour {
    cst_optimize_job *job;
    const double *x;
    const char *stem;
    double **objective; /* (cases) */
    cst_status *status; /* (cases) */
    cst_diag *said;     /* (cases) */
} tour;

/* Has its own memory and messages, because cases are simulated in parallel. */
static void simulate_case(void *ctx, int k)
{
    const tour *t = ctx;
    const char *name = t->job->p->at[k].scenario->name;
    cst_session own = *t->job->s;
    cst_arena a = {0};
    own.arena = &a;
    own.diag = (cst_diag){0};
    if (CST_ARENA_GUARD(&a))
        t->status[k] =
            cst_error(&t->said[k], CST_MEMORY, cst_session_where(t->job->s), "out of memory");
    else {
        const char *stem = cst_arena_printf(&a, "%s%s%s", t->stem, *name ? "-" : "", name);
        t->status[k] = simulate(t->job, &own, k, t->x, stem, t->objective[k]);
        t->said[k] = own.diag;
    }
    cst_arena_free(&a);
}

cst_status cst_trajectories_write(cst_optimize_job *job, const double *x, const char *stem,
                                  double *objective)
{
    cst_arena *a = job->s->arena;
    int n = job->p->ncase,
        threads = job->hdf5 ? 1 : job->p->threads; /* the HDF5 library is for one thread */
    tour t = {
        job, x, stem, cst_new(a, double *, n), cst_new(a, cst_status, n), cst_new(a, cst_diag, n)};
    cst_status ok = CST_OK;
    for (int k = 0; k < n; k++)
        t.objective[k] = objective, objective += job->p->at[k].m->objective.n;
    cst_crew_run(n, threads, simulate_case, &t);
    for (int k = 0; k < n; k++) {
        cst_diag_append(&job->s->diag, &t.said[k]);
        if (ok == CST_OK) ok = t.status[k];
    }
    return ok;
}
