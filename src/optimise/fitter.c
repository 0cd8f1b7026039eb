/* SPDX-License-Identifier: MIT */
#include "optimise/fitter.h"

#include <math.h>

#define CST_FITTER(name) extern const cst_fitter cst_fitter_##name;
#include "optimise/fitters.def"
#undef CST_FITTER

static const cst_fitter *const table[] = {
#define CST_FITTER(name) &cst_fitter_##name,
#include "optimise/fitters.def"
#undef CST_FITTER
    NULL,
};

const cst_fitter *cst_fitter_at(int i) { return table[i]; }

double cst_least_unit(const cst_least *p) { return p->known ? 1 : p->f / fmax(p->m - p->n, 1); }

cst_status cst_least_value(cst_least *p, const double *x, double *r, double *f)
{
    p->evaluations++;
    cst_status ok = p->eval(p->ctx, x, 0, r, NULL);
    *f = 0;
    for (int i = 0; i < p->m && ok == CST_OK; i++) *f += r[i] * r[i];
    if (ok == CST_OK && !isfinite(*f)) ok = CST_NUMERIC;
    if (ok == CST_NUMERIC) p->failures++;
    return ok;
}

cst_status cst_least_jacobian(cst_least *p)
{
    p->evaluations++, p->jacobians++;
    cst_status ok = p->eval(p->ctx, p->x, 1, p->r, p->J);
    p->f = 0;
    for (int i = 0; i < p->m && ok == CST_OK; i++) p->f += p->r[i] * p->r[i];
    return ok;
}

int cst_least_next(cst_least *p, double step, double damping)
{
    p->iterations++;
    p->step = step, p->damping = damping;
    if (p->report(p->ctx)) {
        p->end = CST_FIT_STOPPED, p->why = "stopped on request";
        return 1;
    }
    if (p->iterations < p->most) return 0;
    p->end = CST_FIT_LIMIT, p->why = "as many iterations as allowed";
    return 1;
}
