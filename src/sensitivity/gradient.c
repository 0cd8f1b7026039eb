/* SPDX-License-Identifier: MIT
 *
 * The public face: runs the model, calls the method, and says which numbers have no gradient and
 * why. */
#include "sensitivity/ambiguous.h"
#include "sensitivity/asked.h"
#include "sensitivity/closure.h"
#include "sensitivity/methods.h"

#include "integrator/switching.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

struct cst_gradient_store {
    cst_gradient g;
    size_t leaves;
    int *number;
    double *value, *slope, *error, *all, *size;
    long simulations;
    cst_effect *effect;
    int singular_told, ambiguous_told, loose_told;
    unsigned char *fixed, *failed,
        *ambiguous; /* fixed (leaves): why it cannot change by itself; 0: it can */
    cst_singular singular;
};

const char *cst_effect_text(cst_effect e)
{
    static const char *const text[] = {
#define X(name, text) text,
        CST_EFFECT_LIST(X)
#undef X
    };
    return text[e];
}

const char *cst_method_text(cst_method m)
{
    static const char *const text[] = {
#define X(name, text) text,
        CST_METHOD_LIST(X)
#undef X
    };
    return text[m];
}

cst_status cst_discrete_applies(const cst_run *r, cst_diag *d)
{
    if (r->w->rule->adjoint) return CST_OK;
    return cst_error(d, CST_USAGE, (cst_where){.file = r->m->file},
                     "direct and adjoint differentiate the computed steps, and integrator '%s' "
                     "does not support that: SUNDIALS chooses steps and orders as it runs. Use "
                     "continuous-direct, continuous-adjoint or mixed",
                     r->w->rule->name);
}

cst_start_at cst_run_start_at(const cst_run *r, const cst_state *y)
{
    return (cst_start_at){*y->t,        y->q,      y->u, r->mem_drawn, y->mem, r->assembly_lambda,
                          r->rates_eta, r->statics};
}

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static struct cst_gradient_store *store(cst_run *r, cst_diag *d)
{
    if (r->gradient) return r->gradient;
    if (CST_ARENA_GUARD(&r->arena)) {
        cst_error(d, CST_MEMORY, (cst_where){.file = r->m->file}, "out of memory");
        return NULL;
    }
    const cst_model *m = r->m;
    cst_arena *a = &r->arena;
    size_t nleaf = (size_t)cst_graph_leaves(m->graph), nobj = (size_t)m->objective.n;
    struct cst_gradient_store *s = cst_new(a, struct cst_gradient_store, 1);
    s->leaves = nleaf;
    s->number = cst_new(a, int, nleaf + 1);
    s->value = cst_new(a, double, nobj + 1);
    s->slope = cst_new(a, double, nobj *nleaf + 1);
    s->error = cst_new(a, double, nobj *nleaf + 1);
    s->all = cst_new(a, double, nobj *nleaf + 1);
    s->effect = cst_new(a, cst_effect, nobj * nleaf + 1);
    s->fixed = cst_new(a, unsigned char, nleaf + 1);
    s->failed = cst_new(a, unsigned char, nleaf + 1);
    s->size = cst_new(a, double, nleaf + 1);
    s->singular.when = cst_new(a, double, nleaf + 1);
    s->ambiguous = cst_new(a, unsigned char, nobj + 1);
    if (cst_number_size(m, s->size) != CST_OK) {
        cst_error(d, CST_MEMORY, (cst_where){.file = m->file}, "out of memory");
        return NULL;
    }
    return r->gradient = s;
}

/* s->slope, of the n numbers; the columns of incidents come with the backward sweep */
static cst_status slopes(cst_run *r, struct cst_gradient_store *s, const double *values,
                         cst_method method, int n, const cst_request *of, cst_concern *concern,
                         cst_diag *d)
{
    const size_t nleaf = s->leaves, nobj = (size_t)r->m->objective.n;
    const int backward = method == CST_ADJOINT || method == CST_CONTINUOUS_ADJOINT;
    const int marks = concern->ncolumn || concern->op;
    cst_status ok = CST_OK;
    if (method == CST_ADJOINT || (marks && r->w->rule->adjoint)) {
        for (size_t i = 0; of && i < nobj * nleaf; i++) s->all[i] = NAN; /* not wanted */
        ok = cst_gradient_adjoint(r, of, concern, s->all, d);
    }
    if (ok != CST_OK) return ok;
    switch (method) {
    case CST_ADJOINT:
        break;
    case CST_CONTINUOUS_ADJOINT:
        ok = cst_gradient_continuous_adjoint(r, s->all, d);
        break;
    case CST_DIRECT:
        return cst_gradient_direct(r, n, s->number, s->slope, d);
    case CST_CONTINUOUS_DIRECT:
        return cst_gradient_continuous_direct(r, n, s->number, s->slope, d);
    case CST_MIXED:
        return cst_gradient_mixed(r, n, s->number, s->slope, d);
    case CST_DIFFERENCE:
        return cst_gradient_difference(r, values, n, s->number,
                                       &(cst_differences){s->slope, s->error, s->failed,
                                                          &s->simulations},
                                       d);
    }
    for (size_t o = 0; backward && o < nobj; o++)
        for (size_t i = 0; i < (size_t)n; i++)
            s->slope[o * (size_t)n + i] = s->all[o * nleaf + (size_t)s->number[i]];
    return ok;
}

/* Until when does objective o read the motion? */
static double reads_until(cst_run *r, int o)
{
    const cst_model *m = r->m;
    double until = -INFINITY;
    cst_objective_reverse(r, o, r->functional_bar, r->value_bar);
    for (int i = 0; i < m->functional.n; i++) {
        const cst_functional_kind kind = m->functional.at[i].kind;
        if (r->functional_bar[i] == 0 || kind == CST_START) continue;
        until = fmax(until, kind == CST_END ? r->t : r->functional[i].time);
    }
    return until;
}

#define TOO_NEAR                                                                                   \
    1e-4 /* rad: with 3e-6 slopes were wrong in their first digit, with 1e-3 they were not */

/* Warns once of singular positions that some objective reads behind. */
static void tell_singular(const struct cst_gradient_store *s, int n, const cst_model *m,
                          cst_diag *d)
{
    const cst_singular *f = &s->singular;
    char near[160] = "", later[80] = "", open[200] = "";
    int opening = 0, first = 0;
    for (int i = n; i-- > 0;)
        if (f->when[s->number[i]] < INFINITY) opening++, first = s->number[i];
    if (opening)
        snprintf(open, sizeof open,
                 "; there are no later slopes with respect to %d number%s that would open a loop "
                 "in it ('%.60s'%s)",
                 opening, opening == 1 ? "" : "s", m->leaf.at[first].name,
                 opening == 1 ? "" : ", ...");
    if (f->near < TOO_NEAR)
        snprintf(
            near, sizeof near,
            "; the state at %.6g s lies within %.1g rad of one: later values and slopes may be "
            "far off, choose another step",
            f->near_at, fmax(f->near, 1e-15));
    if (f->until < INFINITY)
        snprintf(later, sizeof later, "; from %.4g s on they are not looked for", f->until);
    cst_warn(d, (cst_where){.file = m->file},
             "t = %.4g s: the mechanism passes a singular position%s; later slopes with respect to "
             "numbers that open a loop in it to second order only may not exist%s%s",
             f->first, open, near, later);
}

/* Objectives that read the motion after a singular position have no slope with respect to numbers
 * that open a loop in it. */
static cst_status find_singular(cst_run *r, struct cst_gradient_store *s, int n, cst_diag *d)
{
    cst_status ok = cst_find_singular(r, s->fixed, &s->singular, d);
    int behind = 0;
    for (int o = 0; ok == CST_OK && o < r->m->objective.n; o++) {
        const double until = reads_until(r, o);
        behind |= s->singular.first < until;
        for (int i = 0; i < n; i++)
            if (s->singular.when[s->number[i]] < until && s->effect[o * n + i] == CST_EXACT)
                s->effect[o * n + i] = CST_NOT_SMOOTH;
    }
    if (ok == CST_OK && !s->singular_told && behind) tell_singular(s, n, r->m, d);
    s->singular_told = 1;
    return ok;
}

/* What is known of the slopes before incidents are: the first that applies */
static void begin_effects(struct cst_gradient_store *s, int nobj, int n)
{
    for (int o = 0; o < nobj; o++)
        for (int i = 0; i < n; i++) {
            const double slope = s->slope[o * n + i];
            const int fixed = s->fixed[s->number[i]];
            s->effect[o * n + i] = s->ambiguous[o]                              ? CST_NOT_UNIQUE
                                   : fixed                                      ? (cst_effect)fixed
                                   : s->failed[i]                               ? CST_NO_DIFFERENCE
                                   : !isfinite(slope) || !isfinite(s->value[o]) ? CST_NOT_FINITE
                                   : slope == 0                                 ? CST_NO_EFFECT
                                                                                : CST_EXACT;
        }
}

cst_status cst_which_check(const cst_run *r, int n, const int *which, cst_diag *d)
{
    const int nleaf = cst_graph_leaves(r->m->graph);
    int wrong = which && (n < 0 || n > nleaf);
    for (int i = 0; which && i < n && !wrong; i++) wrong = which[i] < 0 || which[i] >= nleaf;
    if (!wrong) return CST_OK;
    return cst_error(d, CST_USAGE, (cst_where){.file = r->m->file},
                     "the model has %d numbers, counted from 0; others are asked for", nleaf);
}

/* What has no gradient at all, and numbers and objectives that have none */
static cst_status find_refusals(cst_run *r, struct cst_gradient_store *s, cst_diag *d)
{
    cst_status ok = cst_run_switch_stops(r, d);
    if (ok == CST_OK) ok = cst_find_breaking(r, s->fixed, d);
    if (ok == CST_OK) ok = cst_find_ambiguous(r, s->ambiguous, d);
    if (ok == CST_OK && !s->ambiguous_told) ok = cst_ambiguous_tell(r, s->ambiguous, d);
    s->ambiguous_told = 1;
    if (ok != CST_OK || !r->m->held.n || !r->w->ambiguous) return ok;
    return cst_error(d, CST_NUMERIC, r->m->held.at[0].where,
                     "force '%s' reads reactions that are not unique (redundant constraints): "
                     "there is no gradient",
                     r->m->held.at[0].name);
}

static cst_status slopes_and_effects(cst_run *r, struct cst_gradient_store *s, cst_arena *a,
                                     const double *values, cst_method method, int n,
                                     const cst_request *of, cst_diag *d)
{
    if (CST_ARENA_GUARD(a))
        return cst_error(d, CST_MEMORY, (cst_where){.file = r->m->file}, "out of memory");
    cst_concern *concern = cst_concern_new(a, r);
    cst_status ok = slopes(r, s, values, method, n, of, concern, d);
    if (ok != CST_OK) return ok;
    begin_effects(s, r->m->objective.n, n);
    ok = find_singular(r, s, n, d);
    cst_concern_raise(concern, s->size, s->all, n, s->number, s->effect, d);
    if (!s->loose_told) cst_run_loose_warn(r, d);
    s->loose_told = 1;
    return ok;
}

/* A request to stop has no message of its own. */
static const cst_gradient *failed(const cst_run *r, cst_status ok, cst_diag *d)
{
    if (ok == CST_STOPPED)
        cst_error(d, ok, (cst_where){.file = r->m->file}, "%s", cst_status_text(ok));
    return NULL;
}

const cst_gradient *cst_gradient_of(cst_run *r, const double *values, cst_method method, int n,
                                    const int *which, const cst_request *of, cst_diag *d)
{
    const int keep = method == CST_CONTINUOUS_ADJOINT ? 2 : 1, nobj = r->m->objective.n;
    cst_status ok = cst_which_check(r, n, which, d);
    if (ok == CST_OK) ok = cst_run_forward(r, values, keep, NULL, NULL, d);
    struct cst_gradient_store *s = ok == CST_OK ? store(r, d) : NULL;
    if (!s) return failed(r, ok, d);
    if (!which) n = (int)s->leaves;
    for (int i = 0; i < n; i++) s->number[i] = which ? which[i] : i;
    memcpy(s->value, r->result, sizeof *s->value * (size_t)nobj);
    memset(s->failed, 0, (size_t)n);
    s->simulations = 1;
    const double from = seconds();

    ok = find_refusals(r, s, d);
    if (ok != CST_OK) return NULL;
    cst_arena a = {0};
    ok = slopes_and_effects(r, s, &a, values, method, n, of, d);
    cst_arena_free(&a);
    if (ok != CST_OK) return failed(r, ok, d);
    for (int k = 0; k < nobj * n; k++)
        if (s->effect[k] > CST_NO_EFFECT && s->effect[k] != CST_ONE_SIDED) s->slope[k] = NAN;
    s->g = (cst_gradient){.objectives = nobj,
                          .numbers = n,
                          .number = s->number,
                          .value = s->value,
                          .slope = s->slope,
                          .error = method == CST_DIFFERENCE ? s->error : NULL,
                          .effect = s->effect,
                          .simulations = s->simulations,
                          .gradient_s = seconds() - from};
    return &s->g;
}

const cst_gradient *cst_run_gradient(cst_run *r, const double *values, cst_method method, int n,
                                     const int *which, cst_diag *d)
{
    return cst_gradient_of(r, values, method, n, which, NULL, d);
}
