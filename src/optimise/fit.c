/* SPDX-License-Identifier: MIT
 *
 * Identification: the problem (problem/fit.h), a method (optimise/fitter.h) and what the result is
 * worth. */
#include <math.h>
#include <string.h>

#include "optimise/fit_channels.h"
#include "optimise/fit_statistics.h"
#include "problem/fit.h"

struct cst_fit_work {
    cst_arena arena; /* of one run */
    cst_fit *f;
    cst_least p;
    cst_diag *said; /* of the evaluation in hand */
    cst_status status;
    int (*report)(void *ctx, const cst_fit_step *s);
    void *ctx;
    cst_estimate *estimate;
    cst_fitted *fitted;
    cst_fit_result result;
};

const char *cst_known_text(cst_known k)
{
    static const char *const text[] = {
#define X(name, text) text,
        CST_KNOWN_LIST(X)
#undef X
    };
    return text[k];
}

/* f with what its model says, or NULL */
static cst_fit *read(cst_fit *f, cst_diag *d)
{
    if (CST_ARENA_GUARD(&f->arena)) {
        cst_error(d, CST_MEMORY, (cst_where){.file = f->path}, "out of memory");
        cst_fit_free(f);
        return NULL;
    }
    int ok = f->model && cst_fit_read(f, d);
    f->arena.guard = NULL;
    if (ok) return f;
    cst_fit_free(f);
    return NULL;
}

cst_fit *cst_fit_new(const char *path, int nset, const char *const *set, const cst_options *o,
                     cst_diag *d)
{
    cst_arena a = {0};
    if (CST_ARENA_GUARD(&a)) {
        cst_arena_free(&a);
        cst_error(d, CST_MEMORY, (cst_where){.file = path}, "out of memory");
        return NULL;
    }
    cst_fit *f = cst_new(&a, cst_fit, 1);
    f->path = cst_arena_strdup(&a, path);
    f->options = o ? *o : cst_options_default();
    f->threads = f->options.threads > 0 ? f->options.threads : 1;
    const char **copy = cst_new(&a, const char *, nset + 1);
    for (int i = 0; i < nset; i++) copy[i] = cst_arena_strdup(&a, set[i]);
    f->nset = nset, f->set = copy;
    f->work = cst_new(&a, struct cst_fit_work, 1);
    f->model = cst_model_load_below(f->options.below, path, nset, set, d);
    f->arena = a;
    return read(f, d);
}

void cst_fit_free(cst_fit *f)
{
    if (!f) return;
    cst_arena_free(&f->work->arena);
    cst_model_free(f->model);
    cst_arena a = f->arena; /* the fit itself lies in it */
    cst_arena_free(&a);
}

int cst_fit_parameter_count(const cst_fit *f) { return f->n; }
const char *cst_fit_parameter_name(const cst_fit *f, int i) { return f->unknown[i].name; }

/* ---- what a method calls ---- */

static cst_status evaluate(void *ctx, const double *x, int what, double *r, double *J)
{
    struct cst_fit_work *w = ctx;
    memset(w->said, 0, sizeof *w->said);
    return w->status = cst_fit_residuals(w->f, x, what, r, J, w->said);
}

static int tell(void *ctx)
{
    struct cst_fit_work *w = ctx;
    const cst_least *p = &w->p;
    const cst_fit_step s = {p->iterations, p->evaluations, p->f, p->step, p->damping, p->x};
    return w->report ? w->report(w->ctx, &s) : 0;
}

/* ---- a run ---- */

static void prepare(struct cst_fit_work *w, const cst_fitter *how)
{
    cst_fit *f = w->f;
    cst_arena *a = &w->arena;
    double *lower = cst_new(a, double, f->n), *upper = cst_new(a, double, f->n),
           *size = cst_new(a, double, f->n);
    w->p =
        (cst_least){.arena = a, .n = f->n, .m = f->m, .lower = lower, .upper = upper, .size = size};
    w->p.x = cst_new(a, double, f->n), w->p.r = cst_new(a, double, f->m);
    w->p.J = cst_new(a, double, (size_t)f->m * f->n);
    w->p.tolerance = f->tolerance;
    w->p.most = f->iterations ? f->iterations : how->iterations;
    w->p.known = f->noise_known;
    w->p.eval = evaluate, w->p.report = tell, w->p.ctx = w;
    w->said = cst_new(a, cst_diag, 1);
    w->estimate = cst_new(a, cst_estimate, f->n);
    w->fitted = cst_new(a, cst_fitted, f->m);
    for (int j = 0; j < f->n; j++) {
        const cst_unknown *u = &f->unknown[j];
        w->p.x[j] = u->start, lower[j] = u->lower, upper[j] = u->upper, size[j] = u->size;
    }
}

/* Why the search has ended and, where it has not converged, how far it is from that */
static const char *reason(struct cst_fit_work *w)
{
    cst_least *p = &w->p;
    if (p->end == CST_FIT_CONVERGED || p->end == CST_FIT_FAILED) return p->why;
    return cst_arena_printf(
        &w->arena,
        "%s; the remaining step is %.2g standard errors, and converged means less than %.2g",
        p->why, cst_least_left(p), p->tolerance);
}

/* One verdict for every method: what an undamped step within the bounds would still gain. Near the
 * rounding or the kinks of a simulation a hundredth of a standard error cannot be improved on, and
 * is accepted where the method has ended by itself. */
static void judge(cst_least *p)
{
    const double left = cst_least_left(p), enough = 1e-2;
    if (p->end == CST_FIT_STOPPED || p->end == CST_FIT_FAILED || isnan(left)) return;
    const int by_itself = p->end != CST_FIT_LIMIT;
    if (left <= p->tolerance || (by_itself && left <= fmax(enough, p->tolerance))) {
        if (p->end != CST_FIT_CONVERGED)
            p->why = "the remaining step is small against the standard errors";
        p->end = CST_FIT_CONVERGED;
    } else if (p->end == CST_FIT_CONVERGED) {
        p->end = CST_FIT_STALLED;
        p->why = cst_arena_printf(p->arena, "the method reports success (%s)", p->why);
    }
}

static void collect(struct cst_fit_work *w)
{
    static const char *const status[] = {"converged", "limit reached", "no further progress",
                                         "stopped on request", "failed"};
    cst_fit *f = w->f;
    const cst_least *p = &w->p;
    for (int j = 0; j < f->n; j++) {
        const cst_unknown *u = &f->unknown[j];
        cst_estimate *e = &w->estimate[j];
        e->name = u->name, e->unit = u->unit, e->value = p->x[j], e->start = u->start;
        e->lower = u->lower, e->upper = u->upper;
    }
    for (int k = 0; k < f->nexperiment; k++)
        for (int i = 0; i < f->experiment[k].n; i++) {
            const cst_experiment *e = &f->experiment[k];
            const cst_signal *c = &e->channel[e->of[i]];
            double model = e->measured[i] + c->sigma * p->r[e->first + i];
            double time = e->shift < 0 ? e->sample[i].time : e->clock[i] + p->x[e->shift];
            w->fitted[e->first + i] =
                (cst_fitted){e->name, c->name, time, e->measured[i], model, c->sigma};
        }
    cst_fit_result *out = &w->result;
    out->converged = p->end == CST_FIT_CONVERGED;
    out->status = status[p->end], out->why = reason(w), out->sum = p->f, out->fitted = w->fitted;
    out->iterations = p->iterations, out->evaluations = p->evaluations, out->failures = p->failures;
}

static const cst_fitter *find_method(const cst_fit *f, const char *asked, cst_diag *d)
{
    const char *name = asked ? asked : f->method ? f->method : "lm";
    const cst_fitter *c;
    for (int i = 0; (c = cst_fitter_at(i)); i++)
        if (strcmp(c->name, name) == 0) return c;
    cst_error(d, CST_USAGE, (cst_where){.file = f->path},
              "unknown method '%.40s': lm, minpack, lbfgsb or ipopt", name);
    return NULL;
}

cst_status cst_fit_run(cst_fit *f, const char *method,
                       int (*report)(void *ctx, const cst_fit_step *s), void *ctx, cst_diag *d)
{
    struct cst_fit_work *w = f->work;
    const cst_fitter *how = find_method(f, method, d);
    if (!how) return CST_USAGE;
    cst_arena_free(&w->arena);
    *w = (struct cst_fit_work){.f = f, .report = report, .ctx = ctx};
    if (CST_ARENA_GUARD(&w->arena)) {
        cst_arena_free(&w->arena);
        return cst_error(d, CST_MEMORY, (cst_where){.file = f->path}, "out of memory");
    }
    prepare(w, how);
    cst_status ok = cst_least_jacobian(&w->p);
    if (ok != CST_OK)
        return cst_error(d, ok, (cst_where){.file = f->path}, "at the start: %s", w->said->text);
    tell(w);
    double *first = cst_new(&w->arena, double, f->m + 1);
    memcpy(first, w->p.r, sizeof *first * (size_t)f->m);
    how->run(&w->p);
    judge(&w->p);
    collect(w);
    w->result.channel = cst_fit_channels(&w->arena, f, first, w->p.r, &w->result.channels);
    if (w->p.end == CST_FIT_FAILED)
        return cst_error(d, w->status == CST_OK ? CST_NUMERIC : w->status,
                         (cst_where){.file = f->path}, "%s: %s", w->p.why, w->said->text);
    if (!cst_fit_judge(&w->p, f->noise_known, f->confidence, w->estimate, &w->result))
        return cst_error(d, CST_NUMERIC, (cst_where){.file = f->path},
                         "the Jacobian has no singular values");
    return w->p.end == CST_FIT_STOPPED ? CST_STOPPED : CST_OK;
}

const cst_fit_result *cst_fit_answer(const cst_fit *f) { return &f->work->result; }
