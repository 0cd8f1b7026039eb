/* SPDX-License-Identifier: MIT
 *
 * Residuals of all experiments, which are independent of each other and shared out to threads. */
#include "problem/fit.h"

#include <string.h>

#include "base/crew.h"

static const cst_signal *of(const cst_experiment *e, int i) { return &e->channel[e->of[i]]; }

/* r = (scale y + offset - measured)/sigma */
static double residual(const cst_experiment *e, int i, const double *x)
{
    const cst_signal *c = of(e, i);
    return (cst_gauge_at(&c->scale, x) * e->y[i] + cst_gauge_at(&c->offset, x) - e->measured[i]) /
           c->sigma;
}

static void one(cst_fit *f, cst_experiment *e, const double *x, int what)
{
    memset(e->diag, 0, sizeof *e->diag);
    for (int i = 0; i < f->numbers; i++) e->values[e->which[i]] = x[i];
    for (int i = 0; e->shift >= 0 && i < e->n; i++) e->sample[i].time = e->clock[i] + x[e->shift];
    e->status =
        cst_samples_simulate(e->run, e->values, e->samples, what != CST_FIT_VALUES, e->diag);
    if (e->status == CST_USAGE)
        e->status = CST_NUMERIC; /* something made of the numbers has left its range: there is no
                                    value here */
    if (e->status != CST_OK) return;
    memcpy(e->y, e->samples->y, sizeof *e->y * (size_t)e->n);
    if (what == CST_FIT_VALUES) return;
    if (!e->trusted)
        e->status = cst_samples_refuse(e->run, e->samples, f->numbers, e->which, e->diag);
    if (e->status != CST_OK) return;
    e->trusted = 1;
    if (what == CST_FIT_JACOBIAN) {
        e->status = cst_samples_direct(e->run, e->samples, f->numbers, e->which, e->J, e->diag);
        return;
    }
    for (int i = 0; i < e->n; i++)
        e->bar[i] = 2 * residual(e, i, x) * cst_gauge_at(&of(e, i)->scale, x) / of(e, i)->sigma;
    e->status = cst_samples_adjoint(e->run, e->samples, e->bar, e->gradient, e->diag);
}

typedef struct point {
    cst_fit *f;
    const double *x;
    int what;
} point;

static void run_at(void *ctx, int k)
{
    const point *at = ctx;
    one(at->f, &at->f->experiment[k], at->x, at->what);
}

/* The rows of an experiment: dr = (scale dy + y dscale + doffset)/sigma. J (its values x
 * parameters) */
static void jacobian_of(const cst_fit *f, const cst_experiment *e, const double *x, double *J)
{
    for (int i = 0; i < e->n; i++) {
        const cst_signal *c = of(e, i);
        double *row = J + (size_t)i * (size_t)f->n, by = cst_gauge_at(&c->scale, x) / c->sigma;
        for (int j = 0; j < f->n; j++)
            row[j] = j < f->numbers ? by * e->J[(size_t)i * (size_t)f->numbers + (size_t)j] : 0;
        if (e->shift >= 0) row[e->shift] = by * e->samples->slope[i];
        if (c->scale.parameter >= 0) row[c->scale.parameter] += e->y[i] / c->sigma;
        if (c->offset.parameter >= 0) row[c->offset.parameter] += 1 / c->sigma;
    }
}

/* What an experiment adds to the gradient g (parameters) of sum r^2 */
static void gradient_of(const cst_fit *f, const cst_experiment *e, const double *x, double *g)
{
    for (int j = 0; j < f->numbers; j++) g[j] += e->gradient[e->which[j]];
    for (int i = 0; i < e->n; i++) {
        const cst_signal *c = of(e, i);
        double bar = 2 * residual(e, i, x) / c->sigma;
        if (e->shift >= 0) g[e->shift] += e->bar[i] * e->samples->slope[i];
        if (c->scale.parameter >= 0) g[c->scale.parameter] += bar * e->y[i];
        if (c->offset.parameter >= 0) g[c->offset.parameter] += bar;
    }
}

cst_status cst_fit_residuals(cst_fit *f, const double *x, int what, double *r, double *J,
                             cst_diag *d)
{
    point at = {f, x, what};
    cst_crew_run(f->nexperiment, f->threads, run_at, &at);
    if (what == CST_FIT_ADJOINT) memset(J, 0, sizeof *J * (size_t)f->n);
    for (int k = 0; k < f->nexperiment; k++) {
        const cst_experiment *e = &f->experiment[k];
        if (e->status != CST_OK)
            return cst_error(d, e->status, e->where, "experiment '%s': %.*s", e->name,
                             (int)strcspn(e->diag->text, "\n"), e->diag->text);
        for (int i = 0; i < e->n; i++) r[e->first + i] = residual(e, i, x);
        if (what == CST_FIT_JACOBIAN) jacobian_of(f, e, x, J + (size_t)e->first * (size_t)f->n);
        if (what == CST_FIT_ADJOINT) gradient_of(f, e, x, J);
    }
    return CST_OK;
}
