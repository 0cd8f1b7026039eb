/* SPDX-License-Identifier: MIT
 *
 * Units are a convention: with all numbers of a model in other units of length, mass and time,
 * values and slopes are those of before in these units, and so are the structure and the number of
 * steps. What cannot be rescaled is named: numbers without a known dimension, and what is no number
 * of the file (defaults, data, functions of lengths). */
#ifndef CST_TESTS_RESCALE_H
#define CST_TESTS_RESCALE_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "expect.h"
#include "integrator/run.h"
#include "sensitivity/scaling.h"

typedef struct rescale_result {
    const char *skipped; /* why it does not apply; NULL: it was compared */
    double value,
        slope; /* the largest error of a value and of a slope, relative to the largest influence */
    char where[300];
    int same; /* structure and steps are */
} rescale_result;

typedef struct rescale_case {
    const cst_model *m;
    cst_arena arena;
    cst_dimensions d;
    cst_gradient g; /* a copy, as it is written */
    double *p;
    int rank, dof, hold;
    long steps;
} rescale_case;

static inline double rescale_factor(const cst_dimension *d, const double *unit, int inverse)
{
    double y = 1;
    for (int k = 0; k < CST_BASES; k++) y *= pow(unit[k], (inverse ? -1 : 1) * (double)d->x[k]);
    return y;
}

/* Gravity, defaults and data that are no numbers of the file: the law cannot be tested */
static inline const char *rescale_hidden(rescale_case *c)
{
    if (c->d.wrong) return "a body is given a quantity of another dimension";
    if (c->d.weight) return "gravity is not written";
    for (int base = 0; base < 2; base++) {
        if (c->d.dflt[base]) return c->d.dflt[base];
        for (int o = 0; o < c->m->objective.n; o++)
            if (c->d.hidden[base][o]) return c->d.hidden[base][o];
    }
    for (int o = 0; o < c->m->objective.n; o++)
        if (c->d.objective[o].state == CST_DIMENSION_MIXED)
            return "an objective adds quantities of different dimensions";
    for (int i = 0; i < c->g.numbers; i++)
        for (int o = 0;
             c->d.leaf[i].state != CST_DIMENSION_KNOWN && c->p[i] != 0 && o < c->g.objectives; o++)
            if (c->g.slope[o * c->g.numbers + i] != 0)
                return cst_arena_printf(&c->arena, "the dimension of %s is not known",
                                        cst_model_number_name(c->m, i));
    return NULL;
}

static inline void rescale_copy(cst_arena *a, const cst_gradient *g, cst_gradient *to)
{
    size_t n = (size_t)g->objectives * (size_t)g->numbers;
    double *value = cst_new(a, double, g->objectives + 1), *slope = cst_new(a, double, n + 1);
    cst_effect *effect = cst_new(a, cst_effect, n + 1);
    memcpy(value, g->value, sizeof *value * (size_t)g->objectives);
    memcpy(slope, g->slope, sizeof *slope * n), memcpy(effect, g->effect, sizeof *effect * n);
    *to = *g, to->value = value, to->slope = slope, to->effect = effect;
}

/* NULL: it cannot be simulated as it is written */
static inline const cst_gradient *rescale_begin(rescale_case *c, const cst_model *m,
                                                const cst_options *o, cst_diag *d)
{
    *c = (rescale_case){.m = m};
    cst_run *r = cst_run_new(m, o, d);
    const cst_gradient *g = r ? cst_run_gradient(r, NULL, CST_ADJOINT, 0, NULL, d) : NULL;
    if (!g) {
        cst_run_free(r);
        return NULL;
    }
    if (CST_ARENA_GUARD(&c->arena)) abort();
    c->d = cst_dimensions_infer(&c->arena, m);
    rescale_copy(&c->arena, g, &c->g);
    c->p = cst_new(&c->arena, double, g->numbers + 1);
    for (int i = 0; i < g->numbers; i++) c->p[i] = cst_model_number_value(m, i);
    c->rank = r->st->rank, c->dof = r->st->dof, c->hold = r->st->nhold,
    c->steps = cst_run_stats(r).steps;
    cst_run_free(r);
    return &c->g;
}

static inline void rescale_note(rescale_result *y, double *worst, double e, const char *what,
                                const char *objective, double is, double was)
{
    if (!(e > *worst)) return;
    *worst = e;
    snprintf(y->where, sizeof y->where, "%s of %s: %.15g, not %.15g", what, objective, is, was);
}

/* unit: of mass, length, time, in the order of the dimensions */
static inline rescale_result rescale_with(rescale_case *c, const cst_options *given,
                                          const double *unit, cst_diag *d)
{
    rescale_result y = {.skipped = rescale_hidden(c)};
    cst_options o = *given;
    const cst_sim *sim = &c->m->sim;
    o.start = (isnan(o.start) ? sim->start : o.start) * unit[CST_TIME],
    o.end = (isnan(o.end) ? sim->end : o.end) * unit[CST_TIME];
    o.step = (isnan(o.step) ? sim->step : o.step) * unit[CST_TIME];
    if (y.skipped) return y;
    double *p = cst_new(&c->arena, double, c->g.numbers + 1);
    for (int i = 0; i < c->g.numbers; i++) {
        double by = rescale_factor(&c->d.leaf[i], unit, 0);
        cst_leaf *leaf =
            &((cst_model *)c->m)->leaf.at[i]; /* ranges are of numbers as they are written */
        p[i] = c->p[i] * by, leaf->lo = -INFINITY, leaf->hi = INFINITY;
    }
    cst_run *r = cst_run_new(c->m, &o, d);
    const cst_gradient *g = r ? cst_run_gradient(r, p, CST_ADJOINT, 0, NULL, d) : NULL;
    if (!g) {
        cst_run_free(r);
        return y.skipped = NULL, y.value = INFINITY, y;
    }
    y.same = r->st->rank == c->rank && r->st->dof == c->dof && r->st->nhold == c->hold &&
             cst_run_stats(r).steps == c->steps;
    for (int k = 0; k < g->objectives; k++) {
        const double *was = c->g.slope + k * g->numbers, *is = g->slope + k * g->numbers;
        double back = rescale_factor(&c->d.objective[k], unit, 1), size = fabs(c->g.value[k]);
        const char *name = c->m->objective.at[k].name;
        for (int i = 0; i < g->numbers; i++)
            if (isfinite(was[i])) size = fmax(size, fabs(was[i] * c->p[i]));
        if (size == 0) continue;
        rescale_note(&y, &y.value, fabs(g->value[k] * back - c->g.value[k]) / size, "value", name,
                     g->value[k] * back, c->g.value[k]);
        for (int i = 0; i < g->numbers; i++) {
            double s = is[i] * back * rescale_factor(&c->d.leaf[i], unit, 0);
            if (isnan(s) != isnan(was[i]))
                y.same = 0, snprintf(y.where, sizeof y.where, "%s of %s: refused %d",
                                     cst_model_number_name(c->m, i), name, isnan(s));
            else if (!isnan(s))
                rescale_note(&y, &y.slope, fabs((s - was[i]) * c->p[i]) / size,
                             cst_model_number_name(c->m, i), name, s, was[i]);
        }
    }
    cst_run_free(r);
    return y;
}

#endif
