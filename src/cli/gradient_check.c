/* SPDX-License-Identifier: MIT
 *
 * Three ways to the same gradient, compared number by number, and the identities of scaling. */
#include "cli/gradient.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "integrator/switching.h"
#include "sensitivity/rounding.h"

#define TRIED                                                                                      \
    120 /* differences are made for so many numbers, if there are more: half of them the most      \
           influential */

double cst_leaf_influence(const cst_gradient_job *job, int leaf, double slope)
{
    return fabs(slope) * job->size[leaf];
}

double cst_slope_size(const cst_gradient_job *job, int i, double slope)
{
    return cst_leaf_influence(job, job->which[i], slope);
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

#define NOTHING 1e-15 /* part of the largest values of the run */

void cst_gradient_round(cst_gradient_job *job)
{
    for (int o = 0; o < job->s->model->objective.n; o++) {
        double *slope = job->g.slope + (size_t)o * (size_t)job->n, largest = 0;
        cst_effect *effect = job->g.effect + (size_t)o * (size_t)job->n;
        for (int i = 0; i < job->n; i++)
            if (effect[i] == CST_EXACT) largest = fmax(largest, cst_slope_size(job, i, slope[i]));
        const double least = fmax(CST_NO_INFLUENCE * largest, NOTHING * job->scale[o]);
        for (int i = 0; i < job->n; i++)
            if (effect[i] == CST_EXACT && cst_slope_size(job, i, slope[i]) < least)
                slope[i] = 0, effect[i] = CST_NO_EFFECT;
    }
}

const cst_effect *cst_effects_of(const cst_gradient_job *job, int o)
{
    return job->g.effect + (size_t)o * (size_t)job->n;
}

int cst_effect_refuses(cst_effect e) { return e != CST_EXACT && e != CST_NO_EFFECT; }

/* ---- slopes ---- */

static void slopes_new(const cst_gradient_job *job, int n, cst_slopes *out)
{
    cst_arena *a = job->s->arena;
    size_t nobj = (size_t)job->s->model->objective.n, all = nobj * (size_t)n + 1;
    *out = (cst_slopes){n,
                        cst_new(a, double, nobj + 1),
                        cst_new(a, double, all),
                        cst_new(a, double, all),
                        cst_new(a, double, all),
                        cst_new(a, double, all),
                        cst_new(a, cst_effect, all),
                        0};
}

/* Numbers at .. at+g->numbers-1 of out */
static void copy(const cst_gradient *g, int at, cst_slopes *out)
{
    for (int o = 0; o < g->objectives; o++) {
        size_t to = (size_t)o * (size_t)out->n + (size_t)at, from = (size_t)o * (size_t)g->numbers;
        out->value[o] = g->value[o];
        memcpy(out->slope + to, g->slope + from, sizeof *g->slope * (size_t)g->numbers);
        memcpy(out->effect + to, g->effect + from, sizeof *g->effect * (size_t)g->numbers);
        const double *const extra[] = {g->error, g->below, g->above};
        double *const extra_to[] = {out->error, out->below, out->above};
        for (int k = 0; k < 3 && g->error; k++)
            memcpy(extra_to[k] + to, extra[k] + from, sizeof **extra * (size_t)g->numbers);
    }
    out->seconds += g->gradient_s;
}

/* Differences take six runs for each number and more where events are near: a few numbers at a
 * time, so that progress can be shown. */
cst_status cst_slopes_get(cst_gradient_job *job, cst_method method, int n, const int *which,
                          cst_slopes *out)
{
    cst_session *s = job->s;
    int together = method == CST_DIFFERENCE ? 8 : n;
    cst_progress bar = cst_progress_begin(!s->quiet && method == CST_DIFFERENCE);
    slopes_new(job, n, out);
    for (int at = 0; at < n; at += together) {
        int now = n - at < together ? n - at : together;
        const cst_gradient *g = cst_run_gradient(s->run, NULL, method, now, which + at, &s->diag);
        if (!g) {
            cst_progress_end(&bar);
            return s->diag.status;
        }
        copy(g, at, out);
        cst_progress_show(&bar, (double)(at + now) / n, "differences: %d of %d numbers", at + now,
                          n);
    }
    cst_progress_end(&bar);
    return CST_OK;
}

typedef struct influence {
    double size;
    int i;
} influence;

static int by_influence(const void *x, const void *y)
{
    const influence *a = x, *b = y;
    return a->size != b->size ? (a->size > b->size ? -1 : 1) : a->i - b->i;
}

/* Which numbers are tried: differences take six runs each. With more than TRIED numbers half of
 * these are the most influential ones, the others are spread evenly over the rest. */
static unsigned char *choose(const cst_gradient_job *job, const cst_slopes *adjoint)
{
    unsigned char *tried = cst_new(job->s->arena, unsigned char, job->n + 1);
    influence *r = cst_new(job->s->arena, influence, job->n + 1);
    int nobj = job->s->model->objective.n;
    for (int i = 0; i < job->n; i++) {
        r[i].i = i;
        for (int o = 0; o < nobj; o++) {
            double s = cst_slope_size(job, i, adjoint->slope[o * job->n + i]);
            if (s > r[i].size) r[i].size = s; /* NaN is not larger */
        }
    }
    qsort(r, (size_t)job->n, sizeof *r, by_influence);
    for (int j = 0; j < job->n; j++) {
        int rest = job->n - TRIED / 2,
            k = j - TRIED / 2; /* one of the rest where k TRIED/2 passes a multiple of it */
        tried[r[j].i] =
            job->n <= TRIED || k < 0 || k * (TRIED / 2) / rest != (k + 1) * (TRIED / 2) / rest;
    }
    return tried;
}

/* Differences of those numbers only that have a gradient */
static cst_status differences(cst_gradient_job *job, const cst_slopes *adjoint, cst_slopes *out)
{
    int nobj = job->s->model->objective.n, n = 0;
    const unsigned char *tried = choose(job, adjoint);
    int *some = cst_new(job->s->arena, int, job->n + 1),
        *at = cst_new(job->s->arena, int, job->n + 1);
    for (int i = 0; i < job->n; i++) {
        int refused = 1;
        for (int o = 0; o < nobj; o++)
            refused &= cst_effect_refuses(adjoint->effect[(size_t)o * (size_t)job->n + (size_t)i]);
        at[i] = refused || !tried[i] ? -1 : n;
        if (at[i] >= 0) some[n++] = job->which[i];
    }
    cst_slopes d;
    cst_status ok = cst_slopes_get(job, CST_DIFFERENCE, n, some, &d);
    slopes_new(job, job->n, out);
    for (int o = 0; o < nobj; o++)
        for (int i = 0; i < job->n; i++) {
            size_t to = (size_t)o * (size_t)job->n + (size_t)i,
                   from = (size_t)o * (size_t)n + (size_t)at[i];
            out->slope[to] = at[i] < 0 ? NAN : d.slope[from];
            out->error[to] = at[i] < 0 ? NAN : d.error[from];
            out->below[to] = at[i] < 0 ? NAN : d.below[from],
            out->above[to] = at[i] < 0 ? NAN : d.above[from];
            out->effect[to] = at[i] < 0 ? adjoint->effect[to] : d.effect[from];
        }
    out->seconds = d.seconds;
    return ok;
}

/* ---- identities ---- */

/* Differences have confirmed every number of the model that may have this base, for this objective.
 */
static int all_confirmed(const cst_gradient_job *job, int o, int base)
{
    int yes = job->n == job->s->model->leaf.n;
    for (int i = 0; i < job->n; i++) {
        const cst_dimension *u = &job->dims.leaf[job->which[i]];
        if (u->state == CST_DIMENSION_KNOWN && u->x[base] == 0) continue;
        cst_verdict v = job->check.verdict[(size_t)o * (size_t)job->n + (size_t)i];
        yes &= v == CST_AGREES || v == CST_REFUSED || v == CST_UNTRIED || v == CST_AT_STEP;
    }
    return yes;
}

/* The identities are about all numbers, whatever was asked for. Where one fails for a gradient that
 * differences confirm, the model itself has a size that is no number of the file: a speed written
 * in rad/s, a law that is not in units of its own. */
static void identities(cst_gradient_job *job, const cst_slopes *g)
{
    const cst_model *m = job->s->model;
    cst_arena *a = job->s->arena;
    cst_checked *c = &job->check;
    size_t n = (size_t)g->n;
    double *value = cst_new(a, double, n + 1);
    for (int i = 0; i < g->n; i++) value[i] = cst_model_number_value(m, i);
    c->scaling = cst_new(a, cst_scaling, 2 * m->objective.n + 1);
    for (int o = 0; o < m->objective.n; o++)
        for (int base = CST_MASS; base <= CST_LENGTH; base++) {
            cst_scaling *s = &c->scaling[2 * o + base];
            *s = cst_scaling_check(a, &job->dims, base, o, g->value[o], g->n, value,
                                   g->slope + (size_t)o * n, g->effect + (size_t)o * n);
            double apart = fabs(s->sum - s->exponent * g->value[o]),
                   scale = CST_VANISHES * job->scale[o];
            if (s->verdict == CST_SCALING_FAILS &&
                apart <= fmax(CST_SCALING_TOLERANCE * scale, c->rounding[o]))
                s->verdict = CST_SCALING_HOLDS,
                s->off = apart / fmax(scale, fmax(apart, fabs(g->value[o]))); /* of what is zero */
            if (s->verdict == CST_SCALING_FAILS &&
                strcmp(job->s->run->options.formulation, "penalty") == 0)
                s->verdict = CST_SCALING_OPEN,
                s->why = "the penalty factor alpha takes part and is not a number of the file";
            int fails = s->verdict == CST_SCALING_FAILS,
                excused = fails && all_confirmed(job, o, base);
            c->differing += fails && !excused;
            c->hidden += excused;
        }
}

static void pick(const cst_gradient_job *job, const cst_slopes *all, cst_slopes *out)
{
    slopes_new(job, job->n, out);
    out->seconds = all->seconds;
    for (int o = 0; o < job->s->model->objective.n; o++) {
        out->value[o] = all->value[o];
        for (int i = 0; i < job->n; i++) {
            size_t to = (size_t)o * (size_t)job->n + (size_t)i,
                   from = (size_t)o * (size_t)all->n + (size_t)job->which[i];
            out->slope[to] = all->slope[from];
            out->effect[to] = all->effect[from];
        }
    }
}

/* ---- the whole ---- */

const char *cst_missing_text(const cst_gradient_job *job, int k, const char **word)
{
    static const struct {
        int bit;
        const char *word, *text;
    } part[] = {{CST_MISSES_INSTANTS, "instants",
                 "it leaves out how instants move that are not located (see the warning)"},
                {CST_MISSES_SIDE, "one-sided", "it is one-sided (see the warning)"}};
    for (size_t i = 0; i < sizeof part / sizeof *part; i++) {
        if (!(job->check.misses & part[i].bit) || k-- > 0) continue;
        *word = part[i].word;
        int chosen =
            part[i].bit == CST_MISSES_INSTANTS && job->s->run->events_mode != CST_EVENTS_EXACT;
        return chosen
                   ? "it leaves out how the instants of events move (--events exact includes this)"
                   : part[i].text;
    }
    return NULL;
}

/* How many numbers have this verdict, for objective o or, -1, for all */
static int count(const cst_gradient_job *job, int o, cst_verdict v)
{
    int n = 0;
    for (int k = 0; k < job->s->model->objective.n * job->n; k++)
        n += (o < 0 || k / job->n == o) && job->check.verdict[k] == v;
    return n;
}

/* "; nothing was compared of A, B" or nothing */
static const char *not_compared(const cst_gradient_job *job)
{
    const cst_model *m = job->s->model;
    const char *text = "";
    for (int o = 0; o < m->objective.n; o++)
        if (count(job, o, CST_REFUSED) == job->n)
            text = cst_arena_printf(job->s->arena, "%s%s%s", text,
                                    *text ? ", " : "; nothing was compared of ",
                                    m->objective.at[o].name);
    return text;
}

/* Objectives whose slopes, where they matter, no difference has settled: "A, B" or nothing. That
 * zeros agree says little. */
static const char *not_settled(const cst_gradient_job *job)
{
    const cst_model *m = job->s->model;
    const char *text = "";
    for (int o = 0; o < m->objective.n; o++) {
        int open = 0, settled = 0;
        for (int i = 0; i < job->n; i++) {
            const size_t k = (size_t)o * (size_t)job->n + (size_t)i;
            if (job->check.verdict[k] == CST_REFUSED) continue;
            if (!(cst_slope_size(job, i, job->check.adjoint.slope[k]) >
                  CST_NO_INFLUENCE * job->check.largest[o]))
                continue;
            if (job->check.verdict[k] == CST_ROUGH)
                open++;
            else
                settled++;
        }
        if (open && !settled)
            text = cst_arena_printf(job->s->arena, "%s%s%s", text, *text ? ", " : "",
                                    m->objective.at[o].name);
    }
    return text;
}

/* What is wrong comes first, then what was not compared, then what the gradient leaves out. */
static void judge(cst_gradient_job *job)
{
    cst_checked *c = &job->check;
    const char *text, *word;
    c->word = "in doubt", c->sentence = "The gradient is in doubt.";
    if (c->differing > c->kinks) return;
    c->word = "kink", c->sentence = "The gradient is in doubt: there is none at a kink.";
    if (c->kinks) return;
    c->word = "nothing compared", c->sentence = "Nothing was compared: no number has a gradient.";
    if (count(job, -1, CST_REFUSED) == job->s->model->objective.n * job->n) return;
    c->word = "not settled";
    c->sentence = cst_arena_printf(
        job->s->arena,
        "Nothing is confirmed of %s: adjoint and direct agree, but differences settle no slope.",
        not_settled(job));
    if (*not_settled(job)) return;
    const char *unseen = not_compared(job);
    c->word = "incomplete", c->sentence = "The gradient is incomplete";
    for (int k = 0; (text = cst_missing_text(job, k, &word)); k++)
        c->sentence = cst_arena_printf(job->s->arena, "%s; %s", c->sentence, text);
    c->sentence = cst_arena_printf(job->s->arena, "%s%s.", c->sentence, unseen);
    if (c->misses) return;
    c->word = "confirmed",
    c->sentence = cst_arena_printf(job->s->arena, "The gradient is confirmed%s.", unseen);
    c->confirmed = 1;
}

cst_status cst_gradient_check(cst_gradient_job *job)
{
    cst_checked *c = &job->check;
    int n = job->s->model->leaf.n, *all = cst_new(job->s->arena, int, n + 1);
    for (int i = 0; i < n; i++) all[i] = i;
    cst_slopes adjoint;
    cst_status ok = cst_slopes_get(job, CST_ADJOINT, n, all, &adjoint);
    if (ok != CST_OK) return ok;
    c->rounding = cst_new(job->s->arena, double, job->s->model->objective.n + 1);
    ok = cst_objectives_rounding(job->s->run, c->rounding, &job->s->diag);
    if (ok != CST_OK) return ok;
    c->misses = cst_run_switch_misses(job->s->run); /* of this run: differences make others */
    pick(job, &adjoint, &c->adjoint);
    ok = cst_slopes_get(job, CST_DIRECT, job->n, job->which, &c->direct);
    if (ok == CST_OK) ok = differences(job, &c->adjoint, &c->difference);
    if (ok != CST_OK) return ok;
    cst_compare_all(job, &adjoint);
    if ((ok = cst_compare_again(job)) != CST_OK) return ok;
    identities(job, &adjoint);
    judge(job);
    c->on = 1;
    return CST_OK;
}
