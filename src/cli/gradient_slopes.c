/* SPDX-License-Identifier: MIT
 *
 * Slopes of the numbers asked for, and their influence. */
#include "cli/gradient.h"

#include <math.h>
#include <string.h>

double cst_slope_size(const cst_gradient_job *job, int i, double slope)
{
    return fabs(slope) * job->size[job->which[i]];
}

double cst_slope_influence(const cst_gradient_job *job, int i, double slope)
{
    const double p = cst_model_number_value(job->s->model, job->which[i]),
                 size = job->size[job->which[i]];
    return job->kind[job->which[i]] == CST_VECTOR_FREE && p == -size ? -slope * size : slope * size;
}

cst_per cst_slope_per(const cst_gradient_job *job, int leaf)
{
    const cst_leaf *l = &job->s->model->leaf.at[leaf];
    const cst_vector_kind kind = job->kind[leaf];
    if (kind == CST_VECTOR_POINT) return (cst_per){"mm", 1e-3};
    if (kind != CST_VECTOR_FREE) return (cst_per){"deg", job->size[leaf] * CST_PI / 180};
    return (cst_per){l->unit && strcmp(l->unit, "1") != 0 ? l->unit : "", 1};
}

#define NO_INFLUENCE 1e-12 /* of the largest one: rounding */
#define NOTHING 1e-15      /* part of the largest values of the run */

void cst_gradient_round(cst_gradient_job *job)
{
    for (int o = 0; o < job->s->model->objective.n; o++) {
        double *slope = job->g.slope + (size_t)o * (size_t)job->n, largest = 0;
        cst_effect *effect = job->g.effect + (size_t)o * (size_t)job->n;
        for (int i = 0; i < job->n; i++)
            if (effect[i] == CST_EXACT) largest = fmax(largest, cst_slope_size(job, i, slope[i]));
        const double least = fmax(NO_INFLUENCE * largest, NOTHING * job->scale[o]);
        for (int i = 0; i < job->n; i++)
            if (effect[i] == CST_EXACT && cst_slope_size(job, i, slope[i]) < least)
                slope[i] = 0, effect[i] = CST_NO_EFFECT;
    }
}

const cst_effect *cst_effects_of(const cst_gradient_job *job, int o)
{
    return job->g.effect + (size_t)o * (size_t)job->n;
}

int cst_effect_refuses(cst_effect e)
{
    return e != CST_EXACT && e != CST_NO_EFFECT && e != CST_ONE_SIDED;
}

/* ---- slopes ---- */

static void slopes_new(const cst_gradient_job *job, int n, cst_slopes *out)
{
    cst_arena *a = job->s->arena;
    const size_t nobj = (size_t)job->s->model->objective.n, all = nobj * (size_t)n + 1;
    *out = (cst_slopes){.n = n,
                        .value = cst_new(a, double, nobj + 1),
                        .slope = cst_new(a, double, all),
                        .effect = cst_new(a, cst_effect, all)};
}

/* Numbers at .. at+g->numbers-1 of out */
static void copy(const cst_gradient *g, int at, cst_slopes *out)
{
    for (int o = 0; o < g->objectives; o++) {
        size_t to = (size_t)o * (size_t)out->n + (size_t)at, from = (size_t)o * (size_t)g->numbers;
        out->value[o] = g->value[o];
        memcpy(out->slope + to, g->slope + from, sizeof *g->slope * (size_t)g->numbers);
        memcpy(out->effect + to, g->effect + from, sizeof *g->effect * (size_t)g->numbers);
    }
    out->seconds += g->gradient_s;
}

typedef struct progress {
    cst_progress bar;
    int differences; /* whose own progress is shown */
} progress;

static int show(void *ctx, const char *phase, double share)
{
    progress *p = ctx;
    if (!p->differences) cst_progress_show(&p->bar, share, "%s", phase);
    return cst_stop_asked() != 0;
}

/* Differences take six runs for each number and more where events are near: a few numbers at a
 * time, so that progress can be shown. */
cst_status cst_slopes_get(cst_gradient_job *job, cst_slopes *out)
{
    const cst_method method = job->method;
    const int n = job->n, *which = job->which;
    cst_session *s = job->s;
    int together = method == CST_DIFFERENCE ? 8 : n;
    progress p = {cst_progress_begin(!s->quiet), method == CST_DIFFERENCE};
    slopes_new(job, n, out);
    cst_stop_listen();
    cst_run_control(s->run, show, &p);
    cst_status ok = CST_OK;
    for (int at = 0; ok == CST_OK && at < n; at += together) {
        int now = n - at < together ? n - at : together;
        const cst_gradient *g = cst_run_gradient(s->run, NULL, method, now, which + at, &s->diag);
        if (!g) {
            ok = s->diag.status;
            continue;
        }
        copy(g, at, out);
        if (p.differences)
            cst_progress_show(&p.bar, (double)(at + now) / n, "differences: %d of %d numbers",
                              at + now, n);
    }
    cst_run_control(s->run, NULL, NULL);
    cst_progress_end(&p.bar);
    return ok;
}
