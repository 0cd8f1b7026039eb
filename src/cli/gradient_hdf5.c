/* SPDX-License-Identifier: MIT
 *
 * The gradient in results.h5. A gradient has no observer: the histories come from a run of their
 * own, which repeats the same steps. */
#include "cli/gradient.h"

#include <string.h>

typedef struct rows {
    cst_hdf5 *h;
    const cst_run *run;
} rows;

static int observe(void *ctx, double t, const double *x, int n)
{
    rows *r = ctx;
    (void)n;
    if (r->run->row) cst_hdf5_series_row(r->h, t, x);
    return 0;
}

static void write_objective(cst_gradient_job *job, cst_hdf5 *h, int o)
{
    cst_session *s = job->s;
    size_t n = (size_t)job->n, first = (size_t)o * n;
    const char **effect = cst_new(s->arena, const char *, n + 1);
    for (size_t i = 0; i < n; i++) {
        cst_effect e = job->g.effect[first + i];
        effect[i] = e == CST_EXACT ? "exact" : cst_effect_text(e);
    }
    const char *name = cst_hdf5_name(h, s->model->objective.at[o].name);
    cst_hdf5_numbers(h, cst_arena_printf(s->arena, "gradient/slope/%s", name), job->n, 0,
                     n ? job->g.slope + first : NULL, NULL);
    cst_hdf5_texts(h, cst_arena_printf(s->arena, "gradient/effect/%s", name), job->n, effect);
}

static void write_gradient(cst_gradient_job *job, cst_hdf5 *h)
{
    cst_session *s = job->s;
    const char **name = cst_new(s->arena, const char *, job->n + 1),
               **unit = cst_new(s->arena, const char *, job->n + 1),
               **place = cst_new(s->arena, const char *, job->n + 1);
    double *value = cst_new(s->arena, double, job->n + 1);
    for (int i = 0; i < job->n; i++) {
        const cst_leaf *l = &s->model->leaf.at[job->which[i]];
        name[i] = l->name, unit[i] = l->unit ? l->unit : "1", place[i] = cst_place(s->arena, l);
        value[i] = cst_model_number_value(s->model, job->which[i]);
    }
    cst_hdf5_group(h, "gradient");
    cst_hdf5_attribute_text(h, "gradient", "method", cst_method_text(job->method));
    cst_hdf5_group(h, "gradient/numbers");
    cst_hdf5_group(h, "gradient/slope");
    cst_hdf5_group(h, "gradient/effect");
    cst_hdf5_texts(h, "gradient/numbers/name", job->n, name);
    cst_hdf5_numbers(h, "gradient/numbers/value", job->n, 0, job->n ? value : NULL, NULL);
    cst_hdf5_texts(h, "gradient/numbers/unit", job->n, unit);
    cst_hdf5_texts(h, "gradient/numbers/place", job->n, place);
    for (int o = 0; o < s->model->objective.n; o++) write_objective(job, h, o);
}

int cst_gradient_hdf5(cst_gradient_job *job)
{
    cst_session *s = job->s;
    int failed;
    cst_hdf5 *h = cst_results_hdf5_begin(s, &failed);
    if (!h) return !failed;
    rows r = {h, s->run};
    cst_status status = cst_run_simulate(s->run, NULL, observe, &r, &s->diag);
    cst_hdf5_series_end(h);
    write_gradient(job, h);
    return cst_results_hdf5_end(s, h, status) && status == CST_OK;
}
