/* SPDX-License-Identifier: MIT
 *
 * A method is run again from its best point with the sizes found there, until that point is optimal
 * or a round brings no progress. A search from far away begins with sizes that say nothing about
 * the optimum, and the stopping rules of the libraries act on them. A stationary point from which
 * the objective falls is left along that direction. */
#include "optimise/search.h"

#include <math.h>
#include <string.h>

enum { ROUNDS = 20 };
#define PROBE 1e-3   /* in scales of the variables */
#define HELD 1.0     /* violation, of its size where the search has ended */
#define PRECISE 1e-7 /* stationarity that no further round is needed for */

typedef struct progress {
    double f, violation, stationarity;
} progress;

/* A step down the gradient of the Lagrangian tells the curvature in its direction. That of the last
 * steps is too large in a narrow valley, where the gradient along the valley is small beside it. */
static void probe(cst_search *s)
{
    double *y = cst_new(s->arena, double, s->n + 1);
    double size = 0;
    cst_search_stationarity(s, NULL);
    for (int i = 0; i < s->n; i++) size = fmax(size, fabs(s->residual[i]));
    if (!(size > 0)) return;
    s->best.pairs = 0;
    for (int i = 0; i < s->n; i++) {
        const double move = -PROBE * s->residual[i] / size;
        y[i] =
            s->best.y[i] + fmin(fmax(move, s->lower[i] - s->best.y[i]), s->upper[i] - s->best.y[i]);
    }
    if (memcmp(y, s->best.y, sizeof *y * (size_t)s->n) == 0) return;
    const cst_eval got = cst_search_eval(s, y);
    if (got == CST_EVAL_OK && !s->best.pairs)
        cst_sizes_pair(s); /* no better: the pair is of no step of the best point */
}

/* Half of the violation, of the gradient, or a change of the objective above rounding */
static int gains(const cst_search *s, const progress *a, const progress *b)
{
    if (b->violation > s->o.feasible) return b->violation < a->violation / 2;
    if (a->violation > s->o.feasible) return 1;
    return b->f < a->f - 1e-9 * fmax(s->f_size, 1e-6 * fabs(a->f)) ||
           b->stationarity < a->stationarity / 2;
}

static int may_go_on(const cst_search *s)
{
    const int local =
        s->outcome == CST_CONVERGED || s->outcome == CST_STALLED || s->outcome == CST_INFEASIBLE;
    return s->best.there && (!s->stopped || local);
}

/* What the method has reported stays: the verdict may quote it. */
static int renew(cst_search *s)
{
    const int stopped = s->stopped;
    cst_sizes_renew(s);
    s->stopped = 0;
    probe(s);
    if (!may_go_on(s)) return 0;
    s->stopped |= stopped;
    cst_sizes_renew(s);
    return 1;
}

/* From a point where no method goes on, but where the objective still falls along a direction */
static int leaves(cst_search *s)
{
    const int stopped = s->stopped;
    s->stopped = 0;
    const int falls = cst_search_falls(s);
    if (s->stopped) return 0; /* by the user, or by a target */
    s->stopped = stopped && !falls;
    return falls;
}

static void repeat(cst_search *s, const cst_optimiser *method)
{
    progress last = {0};
    for (int k = 0; k < ROUNDS; k++) {
        cst_search_run(s, method);
        if (s->rough || s->left_behind || !may_go_on(s) || !renew(s)) return;
        const progress now = {s->best.f, s->best.violation, cst_search_stationarity(s, NULL)};
        const int holds = now.violation <= s->o.feasible;
        const int precise = holds && now.stationarity <= fmax(s->o.gradient, PRECISE);
        const int stationary = holds && now.stationarity <= fmax(s->o.gradient, CST_STATIONARY);
        const int ends = precise || (k && !gains(s, &last, &now));
        if (ends && !(stationary && leaves(s))) return;
        last = now;
        s->stopped = 0;
    }
}

/* A start beside the best point, at most `reach` scales away: the same ones each time. The sizes
 * are those found there. */
static int step_aside(cst_search *s, int k, double reach)
{
    const double golden = 0.6180339887498949;
    double *y = cst_new(s->arena, double, s->n + 1);
    for (int i = 0; i < s->n; i++) {
        const double share = 2 * fmod((i + 1) * golden + k * golden / 2, 1) - 1;
        y[i] = fmin(fmax(s->best.y[i] + reach * share, s->lower[i]), s->upper[i]);
    }
    s->stopped = 0;
    if (cst_search_eval(s, y) != CST_EVAL_OK) return 0;
    memcpy(s->start, y, sizeof *y * (size_t)s->n);
    cst_sizes_here(s);
    return 1;
}

/* A point that violates a constraint whose slopes (nearly) vanish there holds every method, also at
 * a saddle of the violation. No step of the size of the variables repairs it to first order, and
 * the search begins again beside it. */
static int is_held(const cst_search *s)
{
    return !s->rough && !s->left_behind && may_go_on(s) && s->best.violation > HELD;
}

void cst_search_rounds(cst_search *s, const cst_optimiser *method)
{
    static const double reach[] = {1, 1, 10};
    repeat(s, method);
    for (int k = 0; k < 3 && is_held(s); k++)
        if (step_aside(s, k, reach[k])) repeat(s, method);
}

void cst_search_from(cst_search *s, const cst_optimiser *method)
{
    if (cst_search_eval(s, s->start) == CST_EVAL_STOP) return;
    const int stationary = cst_search_begin(s);
    if (method->samples && (!stationary || cst_search_goes_on(s)))
        method->run(s);
    else if (!stationary || (may_go_on(s) && renew(s) && leaves(s)))
        cst_search_rounds(s, method);
}
