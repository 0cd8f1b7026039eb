/* SPDX-License-Identifier: MIT
 *
 * The identification in results.h5: /estimates, /fit/EXPERIMENT/CHANNEL, /history. */
#include <string.h>

#include "cli/identify.h"

static void write_estimates(const cst_identify_job *job, cst_hdf5 *h)
{
    enum { VALUE, ERROR, LOW, HIGH, START, LOWER, UPPER, COLUMNS };
    static const char *const title[COLUMNS] = {"value", "standard_error", "low",  "high",
                                               "start", "lower",          "upper"};
    cst_arena *a = job->s->arena;
    const cst_fit_result *r = job->result;
    const int n = r->parameters;
    const char **name = cst_new(a, const char *, n + 1), **unit = cst_new(a, const char *, n + 1),
               **known = cst_new(a, const char *, n + 1);
    double *column = cst_new(a, double, COLUMNS *n + 1);
    for (int i = 0; i < n; i++) {
        const cst_estimate *e = &r->estimate[i];
        const double row[COLUMNS] = {e->value, e->error, e->low,  e->high,
                                     e->start, e->lower, e->upper};
        for (int k = 0; k < COLUMNS; k++) column[k * n + i] = row[k];
        name[i] = e->name, unit[i] = e->unit, known[i] = cst_known_text(e->known);
    }
    cst_hdf5_group(h, "estimates");
    cst_hdf5_attribute_text(h, "estimates", "why", r->why);
    cst_hdf5_attribute_number(h, "estimates", "sum_of_squares", r->sum);
    cst_hdf5_attribute_number(h, "estimates", "variance", r->variance);
    cst_hdf5_attribute_number(h, "estimates", "confidence", r->confidence);
    cst_hdf5_texts(h, "estimates/name", n, name);
    cst_hdf5_texts(h, "estimates/unit", n, unit);
    cst_hdf5_texts(h, "estimates/known", n, known);
    for (int k = 0; k < COLUMNS; k++)
        cst_hdf5_numbers(h, cst_arena_printf(a, "estimates/%s", title[k]), n, 0, column + k * n,
                         NULL);
    cst_hdf5_numbers(h, "estimates/correlation", n, n, r->correlation, NULL);
    if (!r->singulars) return;
    cst_hdf5_numbers(h, "estimates/singular_values", r->singulars, 0, r->singular, NULL);
    cst_hdf5_numbers(h, "estimates/directions", r->singulars, n, r->direction, NULL);
}

/* The values of one channel: the samples of an experiment stand together, its channels take turns.
 */
static void write_channel(const cst_identify_job *job, cst_hdf5 *h, const char *group, int first)
{
    enum { TIME, MEASURED, MODEL, NORMALISED, COLUMNS };
    static const char *const title[COLUMNS] = {"time", "measured", "model", "normalised"};
    cst_arena *a = job->s->arena;
    const cst_fit_result *r = job->result;
    const cst_fitted *s = &r->fitted[first];
    const int most = r->samples - first;
    int n = 0;
    double *column = cst_new(a, double, (size_t)COLUMNS *most + 1);
    for (int k = first; k < r->samples && strcmp(r->fitted[k].experiment, s->experiment) == 0;
         k++) {
        const cst_fitted *f = &r->fitted[k];
        if (strcmp(f->channel, s->channel) != 0) continue;
        const double row[COLUMNS] = {f->time, f->measured, f->model,
                                     (f->measured - f->model) / f->sigma};
        for (int c = 0; c < COLUMNS; c++) column[(size_t)c * (size_t)most + (size_t)n] = row[c];
        n++;
    }
    const char *path = cst_arena_printf(a, "%s/%s", group, cst_hdf5_name(h, s->channel));
    cst_hdf5_group(h, path);
    cst_hdf5_attribute_number(h, path, "noise", s->sigma);
    for (int c = 0; c < COLUMNS; c++)
        cst_hdf5_numbers(h, cst_arena_printf(a, "%s/%s", path, title[c]), n, 0,
                         column + (size_t)c * (size_t)most, c == TIME ? "s" : NULL);
}

static void write_fit(const cst_identify_job *job, cst_hdf5 *h)
{
    const cst_fit_result *r = job->result;
    const char *group = "fit";
    cst_hdf5_group(h, "fit");
    for (int i = 0, begin = 0; i < r->samples; i++) {
        const cst_fitted *s = &r->fitted[i];
        int seen = 0;
        if (i == 0 || strcmp(r->fitted[i - 1].experiment, s->experiment) != 0) {
            begin = i,
            group = cst_arena_printf(job->s->arena, "fit/%s", cst_hdf5_name(h, s->experiment));
            cst_hdf5_group(h, group);
        }
        for (int k = begin; k < i && !seen; k++)
            seen = strcmp(r->fitted[k].channel, s->channel) == 0;
        if (!seen) write_channel(job, h, group, i);
    }
}

static void write_history(const cst_identify_job *job, cst_hdf5 *h)
{
    cst_arena *a = job->s->arena;
    const int rows = job->history.n, n = job->n;
    double *sum = cst_new(a, double, rows + 1), *x = cst_new(a, double, (size_t)rows *n + 1);
    for (int k = 0; k < rows; k++) {
        sum[k] = job->history.at[k].step.sum;
        for (int i = 0; i < n; i++) x[k * n + i] = job->history.at[k].x[i];
    }
    cst_hdf5_group(h, "history");
    cst_hdf5_numbers(h, "history/sum_of_squares", rows, 0, sum, NULL);
    cst_hdf5_numbers(h, "history/numbers", rows, n, x, NULL);
}

int cst_identify_hdf5(cst_identify_job *job)
{
    int failed;
    cst_hdf5 *h = cst_results_hdf5_open(job->s, &failed);
    if (!h) return !failed;
    cst_hdf5_attribute_text(h, "", "status", job->result->status);
    write_estimates(job, h);
    write_fit(job, h);
    write_history(job, h);
    return cst_hdf5_close(h, &job->s->diag);
}
