/* SPDX-License-Identifier: MIT
 *
 * Residuals of all experiments, which are independent of each other and shared out to threads. */
#include "problem/fit.h"

#include <string.h>

#include "base/crew.h"

static void one(cst_fit *f, cst_experiment *e, const double *x, int what)
{
    memset(e->diag, 0, sizeof *e->diag);
    for (int i = 0; i < f->numbers; i++) e->values[e->which[i]] = x[i];
    for (int i = 0; e->shift >= 0 && i < e->n; i++) e->sample[i].time = e->clock[i] + x[e->shift];
    e->status = cst_samples_simulate(e->run, e->values, e->samples, what != CST_FIT_VALUES, e->diag);
    if (e->status == CST_USAGE) e->status = CST_NUMERIC; /* something made of the numbers has left its range: there is no value here */
    if (e->status != CST_OK) return;
    memcpy(e->y, e->samples->y, sizeof *e->y * (size_t)e->n);
    if (what == CST_FIT_VALUES) return;
    if (!e->trusted) e->status = cst_samples_refuse(e->run, e->samples, f->numbers, e->which, e->diag);
    if (e->status != CST_OK) return;
    e->trusted = 1;
    if (what == CST_FIT_JACOBIAN) {
        e->status = cst_samples_direct(e->run, e->samples, f->numbers, e->which, e->J, e->diag);
        return;
    }
    for (int i = 0; i < e->n; i++) {
        double s = e->channel[e->of[i]].sigma;
        e->bar[i] = 2 * (e->y[i] - e->measured[i]) / (s * s);
    }
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

cst_status cst_fit_residuals(cst_fit *f, const double *x, int what, double *r, double *J, cst_diag *d)
{
    point at = {f, x, what};
    cst_crew_run(f->nexperiment, f->threads, run_at, &at);
    if (what == CST_FIT_ADJOINT) memset(J, 0, sizeof *J * (size_t)f->n);
    for (int k = 0; k < f->nexperiment; k++) {
        const cst_experiment *e = &f->experiment[k];
        if (e->status != CST_OK)
            return cst_error(d, e->status, e->where, "experiment '%s': %.*s", e->name,
                             (int)strcspn(e->diag->text, "\n"), e->diag->text);
        for (int i = 0; i < e->n; i++) {
            double s = e->channel[e->of[i]].sigma, *row = J + (size_t)(e->first + i) * (size_t)f->n;
            r[e->first + i] = (e->y[i] - e->measured[i]) / s;
            if (what != CST_FIT_JACOBIAN) continue;
            for (int j = 0; j < f->n; j++)
                row[j] = j < f->numbers ? e->J[(size_t)i * (size_t)f->numbers + (size_t)j] / s : 0;
            if (e->shift >= 0) row[e->shift] = e->samples->slope[i] / s;
        }
        for (int j = 0; what == CST_FIT_ADJOINT && j < f->numbers; j++) J[j] += e->gradient[e->which[j]];
        for (int i = 0; what == CST_FIT_ADJOINT && e->shift >= 0 && i < e->n; i++)
            J[e->shift] += e->bar[i] * e->samples->slope[i];
    }
    return CST_OK;
}
