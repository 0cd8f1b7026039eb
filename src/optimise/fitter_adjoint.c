/* SPDX-License-Identifier: MIT
 *
 * The optimisers of optimisers.def on f = sum r^2. One adjoint sweep costs the same for any number
 * of unknowns, the direct method one tangent for each: with many unknowns this way pays although it
 * needs more iterations. */
#include "optimise/fitter_adjoint.h"

#include <math.h>
#include <string.h>

static cst_status evaluate(void *ctx, const double *x, double *f, double *c, double *df, double *dc,
                           cst_diag *d)
{
    cst_least *p = ctx;
    (void)c, (void)dc, (void)d; /* messages of trials are of no interest, and those of failures are
                                   kept by p->eval */
    p->evaluations++;
    cst_status ok = p->eval(p->ctx, x, 2, p->r, df);
    *f = 0;
    for (int i = 0; ok == CST_OK && i < p->m; i++) *f += p->r[i] * p->r[i];
    if (ok == CST_NUMERIC) p->failures++;
    return ok;
}

static int observe(void *ctx, const cst_iterate *it)
{
    cst_least *p = ctx;
    if (it->iteration == 0) return 0;
    memcpy(p->x, it->x, sizeof *p->x * (size_t)p->n);
    p->f = it->f;
    return cst_least_next(p, it->step, NAN);
}

void cst_fitter_by(cst_least *p, const char *optimiser)
{
    static const cst_fit_end end[] = {
        [CST_CONVERGED] = CST_FIT_CONVERGED, [CST_TARGET] = CST_FIT_CONVERGED,
        [CST_LIMIT] = CST_FIT_LIMIT,         [CST_STALLED] = CST_FIT_STALLED,
        [CST_INTERRUPTED] = CST_FIT_STOPPED, [CST_INFEASIBLE] = CST_FIT_FAILED,
        [CST_BROKEN] = CST_FIT_FAILED,       [CST_UNBOUNDED] = CST_FIT_STALLED,
    };
    cst_arena *a = p->arena;
    double *start = cst_new(a, double, p->n);
    cst_optimum best = {.x = cst_new(a, double, p->n)};
    cst_diag *d = cst_new(a, cst_diag, 1);
    memcpy(start, p->x, sizeof *start * (size_t)p->n);
    const cst_nlp nlp = {.n = p->n,
                         .start = start,
                         .lower = p->lower,
                         .upper = p->upper,
                         .scale = p->size,
                         .eval = evaluate,
                         .ctx = p};
    cst_search_options o = cst_search_default();
    o.method = optimiser, o.iterations = p->most, o.observe = observe, o.ctx = p;
    o.gradient = 1e-12, o.step = 1e-13;
    o.change = 1e-15;             /* what is left is judged by the standard errors, not by f */
    o.evaluations = 10 * p->most; /* the limit of iterations is the one that counts */
    p->end = CST_FIT_FAILED, p->why = "an evaluation failed";
    if (cst_optimise(&nlp, &o, &best, d) != CST_OK) return;
    int stopped = p->end == CST_FIT_LIMIT || p->end == CST_FIT_STOPPED; /* said by cst_least_next */
    if (!stopped) p->end = end[best.outcome], p->why = cst_arena_strdup(a, best.reason);
    memcpy(p->x, best.x, sizeof *p->x * (size_t)p->n);
    if (cst_least_jacobian(p) != CST_OK) p->end = CST_FIT_FAILED;
}
