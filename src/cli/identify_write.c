/* SPDX-License-Identifier: MIT
 *
 * The identification for programs: CSV and JSON. */
#include "cli/identify.h"

#include <math.h>
#include <string.h>

static void number(FILE *f, double x, char end)
{
    if (isfinite(x)) fprintf(f, "%.17g", x == 0 ? 0.0 : x);
    fputc(end, f);
}

static void estimates(const cst_identify_job *job, FILE *f)
{
    const cst_fit_result *r = job->result;
    fputs("number,value,unit,standard_error,low,high,start,lower,upper,known\n", f);
    for (int i = 0; i < r->parameters; i++) {
        const cst_estimate *e = &r->estimate[i];
        fprintf(f, "%s,", e->name);
        number(f, e->value, ',');
        fprintf(f, "%s,", e->unit);
        number(f, e->error, ','), number(f, e->low, ','), number(f, e->high, ',');
        number(f, e->start, ','), number(f, e->lower, ','), number(f, e->upper, ',');
        fprintf(f, "%s\n", cst_known_text(e->known));
    }
}

/* residual = measured - model; normalised by the noise */
static void fitted(const cst_identify_job *job, FILE *f)
{
    const cst_fit_result *r = job->result;
    fputs("experiment,channel,t,measured,model,residual,normalised\n", f);
    for (int i = 0; i < r->samples; i++) {
        const cst_fitted *s = &r->fitted[i];
        fprintf(f, "%s,%s,", s->experiment, s->channel);
        number(f, s->time, ','), number(f, s->measured, ','), number(f, s->model, ',');
        number(f, s->measured - s->model, ','),
            number(f, (s->measured - s->model) / s->sigma, '\n');
    }
}

static void correlation(const cst_identify_job *job, FILE *f)
{
    const cst_fit_result *r = job->result;
    int n = r->parameters;
    fputs("number", f);
    for (int i = 0; i < n; i++) fprintf(f, ",%s", r->estimate[i].name);
    fputc('\n', f);
    for (int i = 0; i < n; i++) {
        fprintf(f, "%s,", r->estimate[i].name);
        for (int j = 0; j < n; j++) number(f, r->correlation[i * n + j], j + 1 < n ? ',' : '\n');
    }
}

static void history(const cst_identify_job *job, FILE *f)
{
    fputs("iteration,evaluations,sum_of_squares,step,damping,seconds", f);
    for (int i = 0; i < job->n; i++) fprintf(f, ",%s", cst_fit_parameter_name(job->fit, i));
    fputc('\n', f);
    for (int k = 0; k < job->history.n; k++) {
        const cst_identify_row *h = &job->history.at[k];
        fprintf(f, "%d,%d,", h->step.iteration, h->step.evaluations);
        number(f, h->step.sum, ','), number(f, h->step.step, ','), number(f, h->step.damping, ',');
        number(f, h->seconds, ',');
        for (int i = 0; i < job->n; i++) number(f, h->x[i], i + 1 < job->n ? ',' : '\n');
    }
}

/* ---- JSON ---- */

static void json_estimates(const cst_fit_result *r, cst_json *j)
{
    cst_json_object(j, "design");
    for (int i = 0; i < r->parameters; i++)
        cst_json_number(j, r->estimate[i].name, r->estimate[i].value);
    cst_json_close(j);
    cst_json_object(j, "standard_errors");
    for (int i = 0; i < r->parameters; i++)
        cst_json_number(j, r->estimate[i].name, r->estimate[i].error);
    cst_json_close(j);
    cst_json_object(j, "intervals");
    for (int i = 0; i < r->parameters; i++)
        cst_json_numbers(j, r->estimate[i].name, 2,
                         (double[]){r->estimate[i].low, r->estimate[i].high});
    cst_json_close(j);
    cst_json_object(j, "known");
    for (int i = 0; i < r->parameters; i++)
        cst_json_text(j, r->estimate[i].name, cst_known_text(r->estimate[i].known));
    cst_json_close(j);
}

static void json_channels(const cst_fit_result *r, cst_json *j)
{
    cst_json_array(j, "channels");
    for (int i = 0; i < r->channels; i++) {
        const cst_fit_channel *c = &r->channel[i];
        cst_json_object(j, NULL);
        cst_json_text(j, "experiment", c->experiment);
        cst_json_text(j, "channel", c->channel);
        cst_json_integer(j, "values", c->values);
        cst_json_integer(j, "missing", c->missing);
        cst_json_number(j, "noise", c->sigma);
        cst_json_number(j, "rms_residual", c->rms);
        cst_json_number(j, "correlation", c->correlation);
        if (c->advice) cst_json_text(j, "advice", c->advice);
        cst_json_close(j);
    }
    cst_json_close(j);
}

static void json_directions(const cst_fit_result *r, cst_json *j)
{
    int n = r->parameters;
    cst_json_object(j, "correlation");
    for (int i = 0; i < n; i++) cst_json_numbers(j, r->estimate[i].name, n, r->correlation + i * n);
    cst_json_close(j);
    cst_json_numbers(j, "singular_values", r->singulars, r->singular);
    cst_json_array(j, "unidentifiable");
    for (int k = r->singulars - r->lost; k < r->singulars; k++) {
        cst_json_object(j, NULL);
        for (int i = 0; i < n; i++)
            if (fabs(r->direction[k * n + i]) > 1e-3)
                cst_json_number(j, r->estimate[i].name, r->direction[k * n + i]);
        cst_json_close(j);
    }
    for (int i = 0; i < n; i++) {
        if (r->estimate[i].known != CST_WITHOUT_EFFECT) continue;
        cst_json_object(j, NULL);
        cst_json_number(j, r->estimate[i].name, 1);
        cst_json_close(j);
    }
    cst_json_close(j);
}

void cst_identify_json(const cst_identify_job *job, FILE *f, int with_run)
{
    const cst_fit_result *r = job->result;
    cst_json j = cst_json_begin(f, 1);
    cst_json_object(&j, NULL);
    if (with_run) cst_json_run(&j, job->s);
    cst_json_text(&j, "status", r->status);
    cst_json_text(&j, "why", r->why);
    cst_json_object(&j, "objectives");
    cst_json_number(&j, "sum_of_squares", r->sum);
    cst_json_close(&j);
    json_estimates(r, &j);
    cst_json_integer(&j, "iterations", r->iterations);
    cst_json_integer(&j, "evaluations", r->evaluations);
    cst_json_object(&j, "stats");
    cst_json_integer(&j, "samples", r->samples);
    cst_json_integer(&j, "failed_evaluations", r->failures);
    cst_json_number(&j, "variance", r->variance);
    cst_json_bool(&j, "noise_known", r->noise_known);
    cst_json_number(&j, "confidence", r->confidence);
    cst_json_number(&j, "seconds", job->seconds);
    cst_json_close(&j);
    json_channels(r, &j);
    json_directions(r, &j);
    cst_json_close(&j);
    cst_json_end(&j);
}

/* ---- files ---- */

static void whole_json(const cst_identify_job *job, FILE *f) { cst_identify_json(job, f, 1); }

static int write_file(cst_identify_job *job, const char *name,
                      void (*write)(const cst_identify_job *, FILE *))
{
    const char *path = cst_session_path(job->s, name);
    cst_writer *o = cst_writer_open(job->s->arena, path, &job->s->diag);
    if (!o) return 0;
    write(job, o->f);
    return cst_writer_close(o, &job->s->diag);
}

int cst_identify_history(cst_identify_job *job) { return write_file(job, "history.csv", history); }

int cst_identify_write(cst_identify_job *job)
{
    return write_file(job, "estimates.csv", estimates) && write_file(job, "fit.csv", fitted) &&
           write_file(job, "correlation.csv", correlation) &&
           write_file(job, "identify.json", whole_json);
}
