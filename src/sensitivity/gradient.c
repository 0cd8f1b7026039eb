/* SPDX-License-Identifier: MIT
 *
 * The public face: runs the model, calls the method, and says which numbers have no gradient and
 * why. */
#include "sensitivity/asked.h"
#include "sensitivity/breaking.h"
#include "sensitivity/brink.h"
#include "sensitivity/edges.h"
#include "sensitivity/methods.h"
#include "sensitivity/rough.h"
#include "sensitivity/singular.h"
#include "sensitivity/steep.h"

#include "integrator/switching.h"

#include <math.h>
#include <string.h>
#include <time.h>

struct cst_gradient_store {
    cst_gradient g;
    size_t leaves;
    int *number;
    double *value, *slope, *error, *all;
    long simulations;
    cst_effect *effect;
    cst_brink *brink, *room; /* (objectives x leaves) why slopes do not exist; room: its memory */
    cst_moved_rest *rests;   /* (leaves) the resting element that each number moves */
    int brinks_told, singular_told, ambiguous_told, swept; /* swept: the adjoint is there */
    unsigned char *fixed, *failed, *ambiguous, *rough,
        *rough_by; /* fixed (leaves): why it cannot change by itself; 0: it can */
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

static cst_moved_rest *rests_new(cst_arena *a, const cst_model *m, size_t nleaf)
{
    const size_t rates = (size_t)(m->nu + m->nz + m->quad.n);
    cst_moved_rest *rest = cst_new(a, cst_moved_rest, nleaf + 1);
    unsigned char *split = cst_new(a, unsigned char, nleaf *rates + 1);
    for (size_t i = 0; i <= nleaf; i++) rest[i].split = split + (i < nleaf ? i : 0) * rates;
    return rest;
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
    s->rests = rests_new(a, m, nleaf), s->singular.when = cst_new(a, double, nleaf + 1);
    s->singular.group = cst_new(a, int, nleaf + 1);
    s->ambiguous = cst_new(a, unsigned char, nobj + 1);
    s->rough = cst_new(a, unsigned char, nobj + 1),
    s->rough_by = cst_new(a, unsigned char, nobj *nleaf + 1);
    return r->gradient = s;
}

static cst_status compute(cst_run *r, struct cst_gradient_store *s, const double *values,
                          cst_method method, int n, cst_diag *d)
{
    int nleaf = cst_graph_leaves(r->m->graph), nobj = r->m->objective.n;
    cst_status ok = CST_OK;
    switch (method) {
    case CST_ADJOINT:
    case CST_CONTINUOUS_ADJOINT:
        if (method == CST_CONTINUOUS_ADJOINT)
            ok = cst_gradient_continuous_adjoint(r, s->all, d);
        else if (!s->swept)
            ok = cst_gradient_adjoint(r, s->all, NULL, d);
        for (int o = 0; o < nobj; o++)
            for (int i = 0; i < n; i++)
                s->slope[o * n + i] = s->all[(size_t)o * (size_t)nleaf + (size_t)s->number[i]];
        return ok;
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
    return ok;
}

static int stands(const cst_brink *b)
{
    return b->op || b->element || b->rests || b->bends || b->opens;
}

static const char *why(const cst_brink *b, cst_arena *a)
{
    if (b->op) return cst_arena_printf(a, "is on the kink of %s", b->op);
    if (b->opens)
        return cst_arena_printf(
            a, "would open a loop in the singular position that is passed at t = %.4g s", b->when);
    if (!b->element && b->rests)
        return cst_arena_printf(a, "moves '%s' off the kink or switch on which it rests",
                                b->rests->element);
    if (!b->element) return "moves a law off its kink or switch at the start";
    return cst_arena_printf(a, "moves the switch of '%s' off the start", b->element);
}

enum { TOLD = 8 }; /* numbers by name */

/* Warns of those of the n numbers asked for that have no derivative, each with the first objective
 * concerned. opens = 1: those that open a loop in a singular position, which are found last; 0: all
 * others */
static cst_status tell_brinks(const cst_model *m, const struct cst_gradient_store *s, int n,
                              int opens, cst_diag *d)
{
    cst_arena a = {0};
    if (CST_ARENA_GUARD(&a)) {
        cst_arena_free(&a);
        return cst_error(d, CST_MEMORY, (cst_where){.file = m->file}, "out of memory");
    }
    int told = 0;
    for (int i = 0; i < n; i++)
        for (int o = 0; o < m->objective.n; o++) {
            const cst_brink *b = &s->brink[(size_t)o * s->leaves + (size_t)s->number[i]];
            const cst_leaf *p = &m->leaf.at[s->number[i]];
            const char *psi = m->objective.at[o].name;
            if (!stands(b) || b->opens != opens) continue;
            if (++told > TOLD) break;
            cst_warn(d, p->where, "there is no derivative of '%s' with respect to '%s', which %s",
                     psi, p->name, why(b, &a));
            break;
        }
    if (told > TOLD)
        cst_warn(d, (cst_where){.file = m->file}, "the same holds for %d more numbers",
                 told - TOLD);
    cst_arena_free(&a);
    return CST_OK;
}

/* Finds numbers without a derivative: those on a kink of an operation of numbers, those that move a
 * switch off the start or a law off its rest, and those for which the start has two one-sided
 * slopes. Which objectives are affected follows from a backward sweep, whatever the method is; for
 * rules without an adjoint this is not known. */
static cst_status find_brinks(cst_run *r, struct cst_gradient_store *s, int n, cst_diag *d)
{
    const cst_model *m = r->m;
    size_t nleaf = s->leaves, nobj = (size_t)m->objective.n;
    s->brink = NULL, s->swept = 0;
    if (r->samples) return CST_OK;
    if (!s->room) {
        if (CST_ARENA_GUARD(&r->arena))
            return cst_error(d, CST_MEMORY, (cst_where){.file = m->file}, "out of memory");
        r->first_bar = cst_new(&r->arena, double, 1 + nobj * (size_t)(m->nq + m->nu + m->nz));
        s->room = cst_new(&r->arena, cst_brink,
                          nobj * nleaf + 1); /* the last: where it is there, both are */
    }
    memset(s->room, 0, sizeof *s->room * nobj * nleaf);
    cst_status ok = CST_OK;
    int rests = 0;
    for (size_t i = 0; i < nleaf; i++) rests |= s->rests[i].element != NULL;
    for (size_t i = 0; i < nobj * nleaf; i++)
        s->room[i].rests = s->rests[i % nleaf].element ? &s->rests[i % nleaf] : NULL;
    s->brink = s->room;
    if (r->w->rule->adjoint && (rests || cst_graph_on_kink(m->graph, r->s->val) ||
                                cst_edge_any(r) || cst_stands_on_kink(r)))
        ok = cst_gradient_adjoint(r, s->all, s->room, d), s->swept = 1;
    if (ok == CST_OK) ok = cst_find_bends(r, s->fixed, n, s->number, s->swept, s->room, d);
    if (ok == CST_OK && !s->brinks_told) ok = tell_brinks(m, s, n, 0, d);
    s->brinks_told = 1;
    return ok;
}

/* 1: the slope of objective o with respect to a leaf does not exist, for one of these reasons */
static int on_brink(const struct cst_gradient_store *s, int o, int leaf)
{
    const cst_brink *b = s->brink ? &s->brink[(size_t)o * s->leaves + (size_t)leaf] : NULL;
    return b && stands(b);
}

/* The first effect that applies; slope: computed slope of objective o with respect to the i-th
 * number asked for */
static cst_effect effect_of(const struct cst_gradient_store *s, int o, int i, double slope)
{
    int fixed = s->fixed[s->number[i]];
    if (s->ambiguous[o]) return CST_NOT_UNIQUE;
    if (s->rough[o] && !isfinite(s->value[o])) return CST_NOT_FINITE;
    if (s->rough[o] && s->rough_by[(size_t)o * s->leaves + (size_t)s->number[i]])
        return CST_NOT_SMOOTH;
    if (fixed) return (cst_effect)fixed;
    if (on_brink(s, o, s->number[i])) return CST_NOT_SMOOTH;
    if (s->failed[i]) return CST_NO_DIFFERENCE;
    if (slope == 0) return CST_NO_EFFECT;
    return isfinite(slope) ? CST_EXACT : CST_NOT_FINITE;
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

/* Does objective o read a loop that a number opens? Then some of the numbers that open it have
 * slopes; the one that is asked for need not: it may open the loop by the square of its change.
 * all: slopes of all numbers; NULL: not known */
static int sees_opening(const struct cst_gradient_store *s, const double *all, int o, int leaf)
{
    const cst_singular *found = &s->singular;
    for (size_t i = 0; all && i < s->leaves; i++)
        if (found->when[i] < INFINITY && found->group[i] == found->group[leaf] &&
            all[(size_t)o * s->leaves + i] != 0)
            return 1;
    return 0;
}

/* Slopes of all numbers, whatever the method was. NULL: not to be had, or an error */
static const double *slopes_of_all(cst_run *r, struct cst_gradient_store *s, cst_method method,
                                   int n, cst_status *ok, cst_diag *d)
{
    int needed = 0;
    for (int i = 0; i < n; i++)
        for (int o = 0; s->singular.when[s->number[i]] < INFINITY && o < r->m->objective.n; o++)
            needed |= s->slope[o * n + i] == 0;
    if (!needed || !r->w->rule->adjoint) return NULL;
    if (method != CST_ADJOINT && !s->swept) *ok = cst_gradient_adjoint(r, s->all, NULL, d);
    return *ok == CST_OK ? s->all : NULL;
}

/* Objectives that read the motion after a singular position have no slope with respect to numbers
 * that open a loop in it. */
static cst_status find_singular(cst_run *r, struct cst_gradient_store *s, cst_method method, int n,
                                cst_diag *d)
{
    if (!s->brink) return CST_OK;
    cst_status ok = cst_find_singular(r, s->fixed, n, s->number, &s->singular, d);
    const double *all = ok == CST_OK ? slopes_of_all(r, s, method, n, &ok, d) : NULL;
    int any = 0;
    for (int o = 0; ok == CST_OK && o < r->m->objective.n; o++) {
        const double until = reads_until(r, o);
        for (int i = 0; i < n; i++) {
            const int leaf = s->number[i];
            cst_brink *b = &s->brink[(size_t)o * s->leaves + (size_t)leaf];
            const double when = s->singular.when[leaf];
            if (!(when < until) || s->fixed[leaf] || stands(b)) continue;
            if (s->slope[o * n + i] != 0 || sees_opening(s, all, o, leaf))
                b->opens = 1, b->when = when, any = 1;
        }
    }
    if (ok == CST_OK && !s->singular_told) ok = tell_brinks(r->m, s, n, 1, d);
    if (ok == CST_OK && !s->singular_told && any && s->singular.near < TOO_NEAR)
        cst_warn(d, (cst_where){.file = r->m->file},
                 "t = %.6g s: a state lies in a singular position, or within %.1g rad of it: its "
                 "multipliers and accelerations are rounding, and later values and slopes may be "
                 "far off; choose another step",
                 s->singular.near_at, fmax(s->singular.near, 1e-15));
    if (ok == CST_OK && !s->singular_told && s->singular.by < INFINITY)
        cst_warn(d, (cst_where){.file = r->m->file},
                 "t = %.6g s: the motion passes close by a singular position, at %.2g of a step: "
                 "with other steps it may go on along another way, with other values and slopes; "
                 "choose steps that resolve it",
                 s->singular.by_at, s->singular.by);
    if (ok == CST_OK && !s->singular_told && s->singular.cut < INFINITY)
        cst_warn(d, (cst_where){.file = r->m->file},
                 "t = %.6g s: from here on the motion passes more singular positions than are "
                 "examined: slopes with respect to numbers that open a loop in a later one may be "
                 "given although they do not exist",
                 s->singular.cut);
    s->singular_told = 1;
    return ok;
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

const cst_gradient *cst_run_gradient(cst_run *r, const double *values, cst_method method, int n,
                                     const int *which, cst_diag *d)
{
    cst_status ok = cst_which_check(r, n, which, d);
    if (ok == CST_OK)
        ok = cst_run_forward(r, values, method == CST_CONTINUOUS_ADJOINT ? 2 : 1, NULL, NULL, d);
    struct cst_gradient_store *s = ok == CST_OK ? store(r, d) : NULL;
    if (!s) return NULL;
    int nleaf = cst_graph_leaves(r->m->graph), nobj = r->m->objective.n;
    if (!which) n = nleaf;
    for (int i = 0; i < n; i++) s->number[i] = which ? which[i] : i;
    memcpy(s->value, r->result, sizeof *s->value * (size_t)nobj);
    memset(s->failed, 0, (size_t)n);
    s->simulations = 1;
    double from = seconds();
    ok = cst_find_breaking(r, s->fixed, d);
    if (ok == CST_OK) ok = cst_find_ambiguous(r, s->ambiguous, d);
    if (ok == CST_OK && !s->ambiguous_told)
        ok = cst_ambiguous_tell(r, s->ambiguous, d), s->ambiguous_told = 1;
    if (ok == CST_OK && r->m->held.n && r->w->ambiguous)
        ok = cst_error(d, CST_NUMERIC, r->m->held.at[0].where,
                       "force '%s' reads reactions that are not unique (redundant constraints): "
                       "there is no gradient",
                       r->m->held.at[0].name);
    if (ok == CST_OK) ok = cst_find_resting(r, s->fixed, n, s->number, s->rests, d);
    if (ok == CST_OK) ok = cst_run_switch_report(r, d);
    if (ok == CST_OK) ok = cst_find_rough(r, s->fixed, n, s->number, s->rough, s->rough_by, d);
    if (ok == CST_OK) ok = find_brinks(r, s, n, d);
    if (ok == CST_OK) ok = compute(r, s, values, method, n, d);
    if (ok == CST_OK) ok = find_singular(r, s, method, n, d);
    if (ok != CST_OK) return NULL;
    for (int o = 0; o < nobj; o++)
        for (int i = 0; i < n; i++) {
            double *slope = &s->slope[o * n + i];
            cst_effect e = s->effect[o * n + i] = effect_of(s, o, i, *slope);
            if (e != CST_EXACT && e != CST_NO_EFFECT) *slope = NAN;
        }
    s->g = (cst_gradient){.objectives = nobj,
                          .numbers = n,
                          .number = s->number,
                          .value = s->value,
                          .slope = s->slope,
                          .error = method == CST_DIFFERENCE ? s->error : NULL,
                          .effect = s->effect,
                          .simulations = s->simulations,
                          .gradient_s = seconds() - from};
    cst_steep_tell(r, &s->g, d);
    return &s->g;
}
