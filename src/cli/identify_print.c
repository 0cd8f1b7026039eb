/* SPDX-License-Identifier: MIT
 *
 * The identification for people. */
#include "cli/identify.h"

#include <math.h>
#include <string.h>

static void print_estimates(const cst_identify_job *job, const cst_page *p)
{
    static const char *const head[] = {"number",     "start", "estimate", "unit",
                                       "std. error", "low",   "high",     ""};
    const cst_fit_result *r = job->result;
    cst_grid g = cst_grid_new(job->s->arena, "l..l...l", head);
    for (int i = 0; i < r->parameters; i++) {
        const cst_estimate *e = &r->estimate[i];
        cst_grid_add(&g, "%s", e->name);
        cst_grid_number(&g, e->start);
        cst_grid_number(&g, e->value);
        cst_grid_add(&g, "%s", strcmp(e->unit, "1") == 0 ? "" : e->unit);
        for (int k = 0; k < 3; k++) {
            double x = k == 0 ? e->error : k == 1 ? e->low : e->high;
            if (isnan(x))
                cst_grid_add(&g, "-");
            else
                cst_grid_number(&g, x);
        }
        cst_grid_add(&g, "%s", e->known == CST_ESTIMATED ? "" : cst_known_text(e->known));
    }
    cst_grid_print(&g, p);
    cst_page_gap(p);
}

/* Residuals of each channel of each experiment, and what seems to be wrong with its signal */
static void print_channels(const cst_identify_job *job, const cst_page *p)
{
    static const char *const head[] = {"experiment",   "channel",    "values", "missing",
                                       "rms residual", "over noise", "largest"};
    const cst_fit_result *r = job->result;
    cst_grid g = cst_grid_new(job->s->arena, "ll.....", head);
    for (int i = 0; i < r->channels; i++) {
        const cst_fit_channel *c = &r->channel[i];
        cst_grid_add(&g, "%s", c->experiment);
        cst_grid_add(&g, "%s", c->channel);
        cst_grid_add(&g, "%d", c->values);
        cst_grid_add(&g, "%d", c->missing);
        cst_grid_number(&g, c->rms);
        cst_grid_add(&g, "%.3f", c->rms / c->sigma);
        cst_grid_add(&g, "%.3f", c->largest / c->sigma);
    }
    cst_grid_print(&g, p);
    cst_page_gap(p);
    for (int i = 0; i < r->channels; i++)
        if (r->channel[i].advice)
            printf("%s: %s\n", r->channel[i].experiment, r->channel[i].advice);
}

static void print_quality(const cst_fit_result *r)
{
    printf("variance of the residuals %.4g", r->variance);
    double nu = r->samples - r->free;
    if (r->noise_known && nu > 0)
        printf(": expected 1 +- %.2g where model and noise are right%s", 2 * sqrt(2 / nu),
               r->variance > 1 + 5 * sqrt(2 / nu)   ? "; the errors above are too small"
               : r->variance < 1 - 5 * sqrt(2 / nu) ? "; the noise is less than stated"
                                                    : "");
    else if (!r->noise_known)
        printf(" (not all channels give their noise: errors are scaled by it)");
    printf("\n");
    if (!r->singulars) return;
    printf("singular values");
    for (int k = 0; k < r->singulars && k < 12; k++) printf(" %.3g", r->singular[k]);
    printf("%s (by relative changes)\n", r->singulars > 12 ? " ..." : "");
}

/* Numbers that can only be determined jointly: "k +1 %, m +1 %" together have no effect on any
 * measurement. */
static void print_lost(const cst_fit_result *r)
{
    int n = r->parameters;
    for (int k = r->singulars - r->lost; k < r->singulars; k++) {
        const double *v = r->direction + k * n;
        double most = 0;
        for (int i = 0; i < n; i++)
            if (fabs(v[i]) > fabs(most)) most = v[i];
        printf("not identifiable: these changes together change nothing that is measured:");
        for (int i = 0, comma = 0; i < n; i++)
            if (fabs(v[i] / most) > 1e-3)
                printf("%s %s %+.3g %%", comma++ ? "," : "", r->estimate[i].name, v[i] / most);
        printf("\n");
    }
    for (int i = 0; i < n; i++)
        if (r->estimate[i].known == CST_WITHOUT_EFFECT)
            printf("not identifiable: %s has no effect on any channel\n", r->estimate[i].name);
    for (int i = 0; i < n; i++)
        for (int j = i + 1; j < n; j++)
            if (fabs(r->correlation[i * n + j]) > 0.99)
                printf("%s and %s are hard to tell apart: correlation %+.4f\n", r->estimate[i].name,
                       r->estimate[j].name, r->correlation[i * n + j]);
}

void cst_identify_print(const cst_identify_job *job)
{
    const cst_session *s = job->s;
    const cst_fit_result *r = job->result;
    cst_page p = cst_page_of(stdout, 0);
    cst_page_heading(&p, 1, s->model->name && *s->model->name ? s->model->name : s->model->file);
    cst_page_gap(&p);
    print_estimates(job, &p);
    print_channels(job, &p);
    print_quality(r);
    print_lost(r);
    printf("%s (%s): %d iterations, %d evaluations", r->status, r->why, r->iterations,
           r->evaluations);
    if (r->failures) printf(", %d of them failed and were stepped back from", r->failures);
    printf(", sum of squares %.8g from %.8g, %.3g s\n", r->sum, job->history.at[0].step.sum,
           job->seconds);
    printf("%s/: estimates.csv, fit.csv, correlation.csv, history.csv, identify.json\n", s->dir);
}
