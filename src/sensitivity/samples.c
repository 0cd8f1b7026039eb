/* SPDX-License-Identifier: MIT
 *
 * Measures at instants: their values, their Jacobian by the direct method, and the gradient of any
 * function of them by one backward sweep. */
#include "sensitivity/samples.h"
#include "sensitivity/ambiguous.h"
#include "sensitivity/closure.h"
#include "sensitivity/methods.h"

#include <math.h>
#include <string.h>

cst_status cst_samples_simulate(cst_run *r, const double *values, cst_samples *s, int keep,
                                cst_diag *d)
{
    const cst_options *o = &r->options;
    for (int i = 0; i < s->n; i++) {
        double t = s->at[i].time;
        if (t >= o->start && t <= o->end && (i == 0 || t >= s->at[i - 1].time)) continue;
        return cst_error(d, CST_USAGE, (cst_where){.file = r->m->file},
                         "a sample at %.9g s: samples must be in order of time and within the run, "
                         "%.9g to %.9g s",
                         t, o->start, o->end);
    }
    s->bar = NULL, s->jacobian = NULL;
    r->samples = s;
    cst_status ok = cst_run_forward(r, values, keep, NULL, NULL, d);
    r->samples = NULL;
    for (int i = 0; ok == CST_OK && i < s->n; i++)
        if (!isfinite(s->y[i]))
            ok = cst_error(d, CST_NUMERIC, (cst_where){.file = r->m->file},
                           "t = %.9g s: '%s' is not a finite number", s->at[i].time,
                           r->m->component.at[s->at[i].measure].name);
    return ok;
}

static cst_status finite(cst_run *r, size_t n, const double *x, cst_diag *d)
{
    for (size_t i = 0; i < n; i++)
        if (!isfinite(x[i]))
            return cst_error(d, CST_NUMERIC, (cst_where){.file = r->m->file},
                             "a measure has no finite derivative here");
    return CST_OK;
}

cst_status cst_samples_direct(cst_run *r, cst_samples *s, int n, const int *which, double *jacobian,
                              cst_diag *d)
{
    size_t size = (size_t)s->n * (size_t)n;
    cst_arena a = {0};
    if (CST_ARENA_GUARD(&a)) {
        cst_arena_free(&a);
        return cst_error(d, CST_MEMORY, (cst_where){.file = r->m->file}, "out of memory");
    }
    double *slope =
        cst_new(&a, double, (size_t)n * r->m->objective.n + 1); /* of the objectives: not used */
    memset(jacobian, 0, sizeof *jacobian * size);
    s->jacobian = jacobian, s->cols = n, s->first = 0;
    r->samples = s;
    cst_status ok = cst_gradient_direct(r, n, which, slope, d);
    r->samples = NULL, s->jacobian = NULL;
    cst_arena_free(&a);
    return ok == CST_OK ? finite(r, size, jacobian, d) : ok;
}

cst_status cst_samples_adjoint(cst_run *r, cst_samples *s, const double *bar, double *gradient,
                               cst_diag *d)
{
    s->bar = bar;
    r->samples = s;
    cst_status ok = cst_gradient_adjoint(r, NULL, NULL, gradient, d);
    r->samples = NULL, s->bar = NULL;
    return ok == CST_OK ? finite(r, (size_t)cst_graph_leaves(r->m->graph), gradient, d) : ok;
}

/* ---- what has no derivative ---- */

static cst_status refuse(cst_run *r, cst_arena *a, const cst_samples *s, int n, const int *which,
                         cst_diag *d)
{
    const cst_model *m = r->m;
    unsigned char *fixed = cst_new(a, unsigned char, m->leaf.n + 1);
    unsigned char *ambiguous = cst_new(a, unsigned char, 2 * m->component.n + 1);
    for (int i = 0; i < s->n; i++) ambiguous[s->at[i].measure] = 1; /* asked about */
    cst_singular singular = {.when = cst_new(a, double, m->leaf.n + 1)};
    cst_status ok = cst_find_breaking(r, fixed, d);
    if (ok == CST_OK) ok = cst_find_ambiguous_measures(r, ambiguous, d);
    if (ok == CST_OK) ok = cst_find_singular(r, fixed, &singular, d);
    for (int i = 0; ok == CST_OK && i < n; i++)
        if (fixed[which[i]])
            ok = cst_error(d, CST_MODEL, m->leaf.at[which[i]].where, "'%s' %s",
                           m->leaf.at[which[i]].name, cst_effect_text((cst_effect)fixed[which[i]]));
    for (int i = 0; ok == CST_OK && i < n && s->n; i++)
        if (singular.when[which[i]] < s->at[s->n - 1].time)
            ok = cst_error(d, CST_MODEL, m->leaf.at[which[i]].where,
                           "'%s' would open a loop in the singular position that is passed at t = "
                           "%.4g s: later samples have no derivative with respect to it",
                           m->leaf.at[which[i]].name, singular.when[which[i]]);
    for (int c = 0; ok == CST_OK && c < m->component.n; c++)
        if (ambiguous[c])
            ok = cst_error(d, CST_MODEL, (cst_where){.file = m->file},
                           "'%s' reads a reaction that is not unique (redundant constraints): it "
                           "has no derivative",
                           m->component.at[c].name);
    return ok;
}

cst_status cst_samples_refuse(cst_run *r, const cst_samples *s, int n, const int *which,
                              cst_diag *d)
{
    cst_arena a = {0};
    if (CST_ARENA_GUARD(&a)) {
        cst_arena_free(&a);
        return cst_error(d, CST_MEMORY, (cst_where){.file = r->m->file}, "out of memory");
    }
    cst_status ok = refuse(r, &a, s, n, which, d);
    cst_arena_free(&a);
    return ok;
}

/* ---- the public face ---- */

cst_status cst_run_samples(cst_run *r, const double *values, int n, const cst_sample *sample,
                           int nwhich, const int *which, double *y, double *jacobian, cst_diag *d)
{
    cst_arena a = {0};
    for (int i = 0; i < n; i++)
        if (sample[i].measure < 0 || sample[i].measure >= r->m->component.n)
            return cst_error(d, CST_USAGE, (cst_where){.file = r->m->file},
                             "sample %d: the model has no measure %d", i, sample[i].measure);
    if (jacobian && !which)
        return cst_error(d, CST_USAGE, (cst_where){.file = r->m->file},
                         "derivatives are asked for, but not with respect to which numbers");
    if (jacobian && cst_which_check(r, nwhich, which, d) != CST_OK) return CST_USAGE;
    if (CST_ARENA_GUARD(&a)) {
        cst_arena_free(&a);
        r->samples = NULL;
        return cst_error(d, CST_MEMORY, (cst_where){.file = r->m->file}, "out of memory");
    }
    cst_samples *s = cst_samples_new(&a, r->m, n, sample);
    cst_status ok = cst_samples_simulate(r, values, s, jacobian != NULL, d);
    if (ok == CST_OK) memcpy(y, s->y, sizeof *y * (size_t)n);
    if (ok == CST_OK && jacobian) ok = cst_samples_refuse(r, s, nwhich, which, d);
    if (ok == CST_OK && jacobian) ok = cst_samples_direct(r, s, nwhich, which, jacobian, d);
    cst_arena_free(&a);
    return ok;
}
