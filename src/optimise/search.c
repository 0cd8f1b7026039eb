/* SPDX-License-Identifier: MIT */
#include "optimise/search.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum {
    FAILURES_IN_A_ROW = 60,
    REPEATS = 1000 /* of the last point: a method that needs its values again asks a few times */
};

double cst_search_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int cst_search_goes_on(cst_search *s)
{
    int local =
        s->outcome == CST_CONVERGED || s->outcome == CST_STALLED || s->outcome == CST_INFEASIBLE;
    int iterations = s->outcome == CST_LIMIT && s->evaluations < s->o.evaluations &&
                     s->iterations - s->first_iteration >= s->o.iterations;
    if (s->stopped && !local && !iterations) return 0;
    s->stopped = 0;
    return 1;
}

/* ---- one point ---- */

/* x = origin + scale y, and a bound that y is at exactly is met exactly */
static void unscale(const cst_search *s, const double *y, double *x)
{
    for (int i = 0; i < s->n; i++) {
        double lo = s->p->lower[i], hi = s->p->upper[i];
        x[i] = y[i] <= s->lower[i]   ? lo
               : y[i] >= s->upper[i] ? hi
                                     : s->origin[i] + s->scale[i] * y[i];
        x[i] = fmin(fmax(x[i], lo), hi);
    }
}

double cst_search_violation(const cst_search *s, const double *c, const double *dc)
{
    double most = 0;
    for (int j = 0; j < s->m; j++) most = fmax(most, cst_search_violation_of(s, c, dc, j));
    return most;
}

void cst_search_scale(cst_search *s)
{
    s->F = s->f / s->f_size;
    for (int i = 0; i < s->n; i++) s->dF[i] = s->df[i] * s->scale[i] / s->f_size;
    for (int k = 0; k < s->rows; k++) {
        const int j = s->row[k];
        s->C[k] = s->c[j] / s->c_size[j];
        for (int i = 0; i < s->n; i++)
            s->dC[k * s->n + i] = s->dc[j * s->n + i] * s->scale[i] / s->c_size[j];
    }
    size_t n = sizeof(double) * (size_t)s->n, m = sizeof(double) * (size_t)s->rows;
    memcpy(s->good_y, s->y, n);
    memcpy(s->good_dF, s->dF, n);
    memcpy(s->good_C, s->C, m);
    memcpy(s->good_dC, s->dC, (size_t)s->rows * n);
    s->good_F = s->F;
    s->worst_F = fmax(s->worst_F, s->F);
}

/* A point without values. Line searches and trust regions reject what is worse than all they have
 * seen; the slope of a parabola with its minimum at the last good point sends their interpolation
 * back towards it. The constraints are those of the good point. */
static void lead_back(cst_search *s)
{
    double rise = 10 * fmax(1, fabs(s->worst_F)), distance2 = 0;
    for (int i = 0; i < s->n; i++) distance2 += (s->y[i] - s->good_y[i]) * (s->y[i] - s->good_y[i]);
    s->F = s->worst_F + rise;
    for (int i = 0; i < s->n; i++)
        s->dF[i] = distance2 > 0 ? 2 * rise * (s->y[i] - s->good_y[i]) / distance2 : 0;
    memcpy(s->C, s->good_C, sizeof *s->C * (size_t)s->rows);
    memcpy(s->dC, s->good_dC, sizeof *s->dC * (size_t)s->rows * (size_t)s->n);
}

static int finite_all(const double *a, int n)
{
    for (int i = 0; i < n; i++)
        if (!isfinite(a[i])) return 0;
    return 1;
}

/* From the journal, or computed and recorded. */
static cst_status answer(cst_search *s)
{
    cst_answer a = {CST_OK, &s->f, s->c, s->df, s->dc};
    if (s->journal) {
        int there = cst_journal_next(s->journal, s->x, &a);
        s->replayed += there > 0;
        if (there > 0) return a.status;
        if (there < 0)
            return cst_error(s->d, CST_USAGE, (cst_where){.file = s->journal->path},
                             "it does not fit this search: start without resuming");
    }
    *s->said = (cst_diag){0};
    a.status = s->p->eval(s->p->ctx, s->x, &s->f, s->c, s->df, s->dc, s->said);
    if (a.status == CST_OK && !(isfinite(s->f) && finite_all(s->c, s->m) &&
                                finite_all(s->df, s->n) && finite_all(s->dc, s->m * s->n)))
        a.status = CST_NUMERIC;
    if (a.status == CST_NUMERIC) { /* nothing undefined is recorded */
        s->f = 0;
        memset(s->c, 0, sizeof *s->c * (size_t)s->m);
        memset(s->df, 0, sizeof *s->df * (size_t)s->n);
        memset(s->dc, 0, sizeof *s->dc * (size_t)s->m * (size_t)s->n);
    }
    if (s->journal && (a.status == CST_OK || a.status == CST_NUMERIC) &&
        !cst_journal_add(s->journal, s->x, &a))
        return cst_error(s->d, CST_OUTPUT, (cst_where){.file = s->journal->path},
                         "cannot be written");
    return a.status;
}

/* A feasible point is better than an infeasible one; otherwise the objective decides, with a
 * penalty on the remaining violation, so that using up the tolerance is no gain. */
int cst_search_better(const cst_search *s, const cst_best *a, const cst_best *b)
{
    if (!b->there) return 1;
    int a_holds = a->violation <= s->o.feasible, b_holds = b->violation <= s->o.feasible;
    if (a_holds != b_holds) return a_holds;
    const double price = 10 * s->f_size;
    return a_holds ? a->f + price * a->violation < b->f + price * b->violation
                   : a->excess < b->excess;
}

void cst_search_swap(cst_best *a, cst_best *b)
{
    cst_best c = *a;
    *a = *b;
    *b = c;
}

static void keep_best(cst_search *s)
{
    cst_best *b = &s->best;
    cst_best now = {.there = 1, .f = s->f, .violation = cst_search_violation(s, s->c, s->dc)};
    for (int j = 0; j < s->m; j++) now.excess = fmax(now.excess, cst_search_excess_of(s, s->c, j));
    if (!cst_search_better(s, &now, b)) return;
    if (b->there)
        cst_sizes_pair(s);
    else
        b->pairs = 0;
    size_t n = sizeof(double) * (size_t)s->n, m = sizeof(double) * (size_t)s->m;
    b->there = 1;
    b->reported = 0;
    b->saddle = 0;
    b->f = now.f;
    b->violation = now.violation;
    b->excess = now.excess;
    memcpy(b->y, s->y, n);
    memcpy(b->x, s->x, n);
    memcpy(b->c, s->c, m);
    memcpy(b->df, s->df, n);
    memcpy(b->dc, s->dc, (size_t)s->m * n);
    if (b->violation <= s->o.feasible && s->f <= s->o.target)
        cst_search_end(s, CST_TARGET, "the objective has reached its target");
}

static cst_eval failed_at(cst_search *s, cst_status status)
{
    s->known = -1;
    if (status != CST_NUMERIC) {
        s->status = status;
        if (s->said->errors) cst_diag_append(s->d, s->said);
        cst_search_end(s, status == CST_STOPPED ? CST_INTERRUPTED : CST_BROKEN,
                       cst_status_text(status));
        return CST_EVAL_STOP;
    }
    if (!s->failures++)
        snprintf(s->failure, sizeof s->failure, "%.*s", (int)strcspn(s->said->text, "\n"),
                 s->said->text);
    if (!s->best.there) { /* nowhere to go back to */
        if (!s->champion.there) cst_diag_append(s->d, s->said);
        return CST_EVAL_STOP;
    }
    if (++s->in_a_row >= FAILURES_IN_A_ROW) {
        cst_search_end(s, CST_STALLED, "too many trial points in a row have no value");
        return CST_EVAL_STOP;
    }
    lead_back(s);
    return CST_EVAL_FAILED;
}

/* The last point once more. A method that asks for nothing else would do so for ever. */
static cst_eval repeat(cst_search *s)
{
    if (++s->repeats > REPEATS) {
        cst_search_end(s, CST_STALLED, "the optimiser asks for the same point again and again");
        return CST_EVAL_STOP;
    }
    return s->known > 0 ? CST_EVAL_OK : CST_EVAL_FAILED;
}

cst_eval cst_search_eval_here(cst_search *s, const double *y)
{
    if (s->stopped) return CST_EVAL_STOP;
    if (s->known && memcmp(y, s->y, sizeof *y * (size_t)s->n) == 0) return repeat(s);
    if (s->evaluations >= s->o.evaluations) {
        cst_search_end(s, CST_LIMIT, "the limit of evaluations is reached");
        return CST_EVAL_STOP;
    }
    memcpy(s->y, y, sizeof *y * (size_t)s->n);
    unscale(s, y, s->x);
    s->known = s->repeats = 0;
    cst_status ok = answer(s);
    s->evaluations++;
    if (ok != CST_OK) return failed_at(s, ok);
    s->known = 1;
    s->in_a_row = 0;
    if (!s->sized) cst_sizes_find(s), s->worst_F = s->f / s->f_size;
    cst_search_scale(s);
    if (!s->aside) keep_best(s);
    return s->stopped ? CST_EVAL_STOP : CST_EVAL_OK;
}

/* ---- iterates ---- */

#define UNBOUNDED 1e10 /* sizes of the variables */

/* Far from the start by the sizes of the variables, and the way on from there leads down */
static int is_falling(const cst_search *s)
{
    double far = 0, slope = 0;
    for (int i = 0; i < s->n; i++) {
        const double away = s->best.x[i] - s->p->start[i];
        far = fmax(far, fabs(away) / s->p->scale[i]);
        slope += s->best.df[i] * away;
    }
    return far > UNBOUNDED && slope < 0;
}

static void check_rules(cst_search *s, double step, double f_before)
{
    const cst_search_options *o = &s->o;
    const int holds = s->best.violation <= o->feasible;
    double size = fmax(fabs(s->best.f), fabs(f_before)), change = fabs(s->best.f - f_before);
    if (holds && cst_search_stationarity(s, NULL) <= o->gradient)
        cst_search_end(s, CST_CONVERGED, "the gradient vanishes");
    else if (s->iterations - s->first_iteration >= o->iterations)
        cst_search_end(s, CST_LIMIT, "the limit of iterations is reached");
    else if (o->seconds > 0 && cst_search_seconds() - s->begin >= o->seconds)
        cst_search_end(s, CST_LIMIT, "the limit of time is reached");
    else if (holds && is_falling(s))
        cst_search_end(s, CST_UNBOUNDED, "the objective falls without bound");
    else if (step > 0 && step <= o->step && holds)
        cst_search_end(s, CST_CONVERGED, "the variables do not change any more");
    else if (step > 0 && change > 0 && change <= o->change * size && holds)
        cst_search_end(s, CST_CONVERGED, "the objective does not change any more");
}

void cst_search_report(cst_search *s)
{
    if (!s->best.there) return;
    double step = 0;
    for (int i = 0; i < s->n; i++) step = fmax(step, fabs(s->best.y[i] - s->reported_y[i]));
    const cst_best *b = cst_search_better(s, &s->best, &s->champion) ? &s->best : &s->champion;
    const cst_iterate it = {.iteration = s->iterations,
                            .evaluations = s->evaluations,
                            .failures = s->failures,
                            .f = b->f,
                            .violation = b->violation,
                            .step = step,
                            .x = b->x,
                            .c = b->c,
                            .improved = !b->reported,
                            .stage = s->stage};
    s->best.reported = 1;
    if (s->o.observe && s->o.observe(s->o.ctx, &it))
        cst_search_end(s, CST_INTERRUPTED, "stopped on request");
}

int cst_search_begin(cst_search *s)
{
    memcpy(s->reported_y, s->best.y, sizeof *s->best.y * (size_t)s->n);
    s->first_iteration = s->iterations;
    cst_search_report(s);
    check_rules(s, 0, INFINITY);
    s->f_reported = s->best.f;
    return s->stopped;
}

int cst_search_iterate_here(cst_search *s)
{
    if (s->stopped) return 1;
    double step = 0;
    for (int i = 0; i < s->n; i++) step = fmax(step, fabs(s->best.y[i] - s->reported_y[i]));
    s->iterations++;
    cst_search_report(s);
    check_rules(s, step, s->f_reported);
    memcpy(s->reported_y, s->best.y, sizeof *s->best.y * (size_t)s->n);
    s->f_reported = s->best.f;
    return s->stopped;
}

int cst_search_improve_here(cst_search *s)
{
    if (s->stopped) return 1;
    return s->best.there && !s->best.reported ? cst_search_iterate(s) : 0;
}
