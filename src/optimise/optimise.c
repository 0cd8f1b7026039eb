/* SPDX-License-Identifier: MIT
 *
 * The public face of the optimisers. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "optimise/search.h"

#define CST_OPTIMISER(name) extern const cst_optimiser cst_optimiser_##name;
#include "optimise/optimisers.def"
#undef CST_OPTIMISER

static const cst_optimiser *const table[] = {
#define CST_OPTIMISER(name) &cst_optimiser_##name,
#include "optimise/optimisers.def"
#undef CST_OPTIMISER
};
enum { COUNT = sizeof table / sizeof *table };

int cst_optimiser_count(void) { return COUNT; }
const char *cst_optimiser_name(int i) { return i >= 0 && i < COUNT ? table[i]->name : NULL; }
const char *cst_optimiser_summary(int i) { return i >= 0 && i < COUNT ? table[i]->summary : NULL; }

const char *cst_outcome_text(cst_outcome o)
{
    static const char *const text[] = {
#define X(name, words) [name] = words,
        CST_OUTCOME_LIST(X)
#undef X
    };
    return (size_t)o < sizeof text / sizeof *text ? text[o] : "unknown outcome";
}

const char *cst_limit_state_text(cst_limit_state h)
{
    static const char *const text[] = {
#define X(name, words) [name] = words,
        CST_LIMIT_LIST(X)
#undef X
    };
    return (size_t)h < sizeof text / sizeof *text ? text[h] : "";
}

const cst_optimiser *cst_optimiser_find(const char *name)
{
    for (int i = 0; i < COUNT; i++)
        if (strcmp(table[i]->name, name) == 0) return table[i];
    return NULL;
}

cst_search_options cst_search_default(void)
{
    return (cst_search_options){.iterations = 200,
                                .evaluations = 1000,
                                .target = NAN,
                                .gradient = 1e-8,
                                .change = 1e-13,
                                .step = 1e-10,
                                .feasible = 1e-7,
                                .starts = 10,
                                .seed = 1};
}

static void complete(cst_search_options *o, int constraints)
{
    const cst_search_options dflt = cst_search_default();
    if (!o->method) o->method = constraints ? "slsqp" : "lbfgsb";
    if (!o->iterations) o->iterations = dflt.iterations;
    if (!o->evaluations) o->evaluations = dflt.evaluations;
    if (!(o->gradient > 0)) o->gradient = dflt.gradient;
    if (!(o->change > 0)) o->change = dflt.change;
    if (!(o->step > 0)) o->step = dflt.step;
    if (!(o->feasible > 0)) o->feasible = dflt.feasible;
    if (!o->starts) o->starts = dflt.starts;
    if (isnan(o->target)) o->target = -INFINITY;
}

static cst_status wrong(cst_diag *d, const char *text, const char *method)
{
    return cst_error(d, CST_USAGE, (cst_where){0}, text, method);
}

static cst_status check(const cst_nlp *p, const cst_search_options *o, cst_diag *d)
{
    const cst_optimiser *method = cst_optimiser_find(o->method);
    if (!method) {
        cst_nearest near = cst_nearest_begin(o->method);
        for (int i = 0; i < COUNT; i++) cst_nearest_try(&near, table[i]->name);
        const char *best = cst_nearest_best(&near);
        return cst_error(
            d, CST_USAGE, (cst_where){0},
            best ? "there is no optimiser '%s'; did you mean '%s'?"
                 : "there is no optimiser '%s': lbfgsb, slsqp, mma, auglag, ipopt or multistart",
            o->method, best);
    }
    if (p->m && !method->constraints)
        return wrong(d, "%s takes no constraints: use slsqp, mma, auglag or ipopt", o->method);
    if (p->n < 1) return wrong(d, "there are no variables%s", "");
    for (int i = 0; i < p->n; i++)
        if (!(p->lower[i] <= p->start[i] && p->start[i] <= p->upper[i] && isfinite(p->start[i]) &&
              p->scale[i] > 0))
            return cst_error(d, CST_USAGE, (cst_where){0},
                             "variable %d: start %g in [%g, %g] with scale %g is not possible",
                             i + 1, p->start[i], p->lower[i], p->upper[i], p->scale[i]);
    return CST_OK;
}

static cst_search *search_new(cst_arena *a, const cst_nlp *p, const cst_search_options *o,
                              cst_diag *d)
{
    cst_search *s = cst_new(a, cst_search, 1);
    size_t n = (size_t)p->n + 1, m = (size_t)p->m + 1;
    *s = (cst_search){
        .p = p, .o = *o, .arena = a, .d = d, .n = p->n, .m = p->m, .begin = cst_search_seconds()};
    s->said = cst_new(a, cst_diag, 1);
    cst_best *b = &s->best, *c = &s->champion;
    double **vector[] = {&s->residual, &s->origin,  &s->scale,      &s->start, &s->lower,
                         &s->upper,    &s->y,       &s->x,          &s->df,    &s->dF,
                         &s->good_y,   &s->good_dF, &s->reported_y, &b->y,     &b->x,
                         &b->df,       &c->y,       &c->x,          &c->df};
    double **rows[] = {&s->c_size, &s->C_lower, &s->C_upper, &s->c,
                       &s->C,      &s->good_C,  &b->c,       &c->c};
    double **matrix[] = {&s->dc, &s->dC, &s->good_dC, &b->dc, &c->dc};
    for (size_t i = 0; i < sizeof vector / sizeof *vector; i++) *vector[i] = cst_new(a, double, n);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) *rows[i] = cst_new(a, double, m);
    for (size_t i = 0; i < sizeof matrix / sizeof *matrix; i++)
        *matrix[i] = cst_new(a, double, n *m);
    s->row = cst_new(a, int, m);
    s->redundant = cst_new(a, int, m);
    s->needed = cst_new(a, int, m);
    b->pair = cst_new(a, double, CST_PAIRS * 2 * n);
    c->pair = cst_new(a, double, CST_PAIRS * 2 * n);
    cst_sizes_begin(s, p->start);
    return s;
}

/* Continuation: one stage after another, each from the best point of the one before; the last is
 * the problem itself. Values of different stages cannot be compared, so only the point is carried
 * over. Stages before the last need not be solved accurately. */
static void run_stages(cst_search *s)
{
    const cst_optimiser *method = cst_optimiser_find(s->o.method);
    const cst_search_options asked = s->o, dflt = cst_search_default();
    const double rough = 1e-4;
    for (int last = s->p->stages;; s->stage++) {
        int early = s->stage < last;
        s->o.target = early ? -INFINITY : asked.target;
        s->o.change = early ? fmax(rough, asked.change) : asked.change;
        s->o.gradient = early ? fmax(rough, asked.gradient) : asked.gradient;
        s->rough = early || s->o.change > dflt.change || s->o.step > dflt.step;
        if (s->p->stage) s->p->stage(s->p->ctx, s->stage);
        cst_search_from(s, method);
        if (!s->best.there && s->stage) { /* no value: the stage before has the last word */
            cst_search_end(s, CST_STALLED, "a stage of the continuation has no value at its start");
            cst_search_swap(&s->best, &s->champion);
            s->best.there = 1, s->stage--;
            break;
        }
        if (!early || !s->best.there || !cst_search_goes_on(s)) break;
        cst_sizes_begin(s, s->best.x);
        cst_search_swap(&s->best, &s->champion);
        s->best.there = s->champion.there = 0;
    }
    if (s->p->stage) s->p->stage(s->p->ctx, s->p->stages);
}

cst_status cst_optimise(const cst_nlp *p, const cst_search_options *options, cst_optimum *best,
                        cst_diag *d)
{
    cst_arena a = {0};
    cst_search *volatile running = NULL;
    if (CST_ARENA_GUARD(&a)) {
        if (!running || !running->gate)
            cst_arena_free(&a); /* a method may still wait for an answer */
        return cst_error(d, CST_MEMORY, (cst_where){0}, "out of memory");
    }
    cst_search_options o = options ? *options : cst_search_default();
    const int errors = d->errors;
    complete(&o, p->m);
    cst_status ok = check(p, &o, d);
    if (ok != CST_OK) return cst_arena_free(&a), ok;
    cst_search *s = search_new(&a, p, &o, d);
    if (o.journal &&
        !(s->journal = cst_journal_open(&a, o.journal, o.resume, o.key, p->n, p->m, d)))
        return cst_arena_free(&a), d->status;
    running = s;
    run_stages(s);
    if (s->best.there) {
        if (!s->best.reported) cst_search_report(s);
        cst_search_judge(s, best);
        ok = s->status;
    } else {
        ok = s->status ? s->status : CST_NUMERIC;
        if (s->outcome != CST_INTERRUPTED && d->errors == errors)
            cst_error(d, ok, (cst_where){0},
                      "at the start the objective, a constraint or a slope is not a finite number: "
                      "the search cannot start");
    }
    if (!s->left_behind) cst_arena_free(&a);
    return ok;
}
