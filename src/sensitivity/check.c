/* SPDX-License-Identifier: MIT
 *
 * Verdicts on a gradient, number by number, and on the whole.
 *
 *     adjoint and direct differentiate the same computation: they differ by rounding
 *     a slope that the gradient gives is compared with differences of values (check_values.c)
 *     where these see a kink, or the gradient says that it is one-sided or not smooth: with the
 *     slopes to the two sides (sides.c)
 *     where a tolerance chooses the steps: with differences that choose theirs, too
 *
 * Nothing here depends on which other numbers are checked: what slopes are compared with is the
 * largest influence of all numbers of the model. */
#include "sensitivity/check.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "integrator/switching.h"
#include "sensitivity/direction.h"
#include "sensitivity/methods.h"
#include "sensitivity/scaling.h"

const char *cst_verdict_text(cst_verdict v)
{
    static const char *const text[] = {
#define X(name, text) text,
        CST_VERDICT_LIST(X)
#undef X
    };
    return text[v];
}

const char *cst_check_verdict_text(cst_check_verdict c)
{
    static const char *const text[] = {
#define X(name, text) text,
        CST_CHECK_LIST(X)
#undef X
    };
    return text[c];
}

/* ---- memory ---- */

static void release(void *arena) { cst_arena_free(arena); }

cst_check_store *cst_check_store_of(cst_run *r, cst_diag *d)
{
    if (!r->check) {
        if (CST_ARENA_GUARD(&r->arena)) {
            cst_error(d, CST_MEMORY, (cst_where){.file = r->m->file}, "out of memory");
            return NULL;
        }
        struct cst_check_store *s = cst_new(&r->arena, cst_check_store, 1);
        cst_arena_defer(&r->arena, release, &s->arena);
        r->check = s;
    }
    cst_arena_free(&r->check->arena);
    return r->check;
}

/* ---- what is claimed ---- */

/* Do the methods differ by more than the rounding of a slope usually is? */
static int differ_somewhere(const cst_prober *p, const cst_claim *c)
{
    for (int o = 0; o < p->nobj; o++)
        for (int i = 0; i < c->n; i++) {
            const size_t k = (size_t)o * (size_t)c->n + (size_t)i;
            const double apart = fabs(c->adjoint[k] - c->direct[k]) * p->size[c->which[i]];
            if (cst_has_slope(c->effect[k]) && !(apart <= p->nothing[o])) return 1;
        }
    return 0;
}

enum { SHAKES = 2 };

/* How much the slopes change when every number changes in its last digit: rounding that grows along
 * the motion */
static cst_status shake(cst_prober *p, const cst_claim *c, double *rounding)
{
    cst_run *r = p->r;
    const size_t all = (size_t)p->nobj * (size_t)c->n;
    double *x = cst_new(p->a, double, p->nleaf + 1), *direct = cst_new(p->a, double, all + 1);
    cst_status ok = CST_OK;
    r->frozen = 1;
    for (int s = 0; s < SHAKES && ok == CST_OK; s++) {
        for (int i = 0; i < p->nleaf; i++) {
            const double part = cst_spread(s * p->nleaf + i) - 1.5;
            x[i] = p->x[i] * (1 + 2 * DBL_EPSILON * (part > 0 ? 1 : -1));
        }
        memset(p->quiet, 0, sizeof *p->quiet);
        p->shared++;
        ok = cst_run_forward(r, x, 1, NULL, NULL, p->quiet);
        if (ok == CST_OK) ok = cst_gradient_adjoint(r, NULL, NULL, p->all, p->quiet);
        if (ok == CST_OK) ok = cst_gradient_direct(r, c->n, c->which, direct, p->quiet);
        for (size_t k = 0; k < all && ok == CST_OK; k++) {
            const size_t o = k / (size_t)c->n, leaf = (size_t)c->which[k % (size_t)c->n];
            const double a = p->all[o * (size_t)p->nleaf + leaf] - c->adjoint[k],
                         b = direct[k] - c->direct[k];
            rounding[k] = fmax(rounding[k], fmax(fabs(a), fabs(b)));
        }
    }
    r->frozen = 0;
    return ok;
}

/* The slopes of those that are checked, out of the gradient by all */
static cst_claim claim_new(cst_arena *a, const cst_gradient *g, int n, const int *which)
{
    const size_t all = (size_t)g->objectives * (size_t)n + 1;
    double *adjoint = cst_new(a, double, all);
    cst_effect *effect = cst_new(a, cst_effect, all);
    int *number = cst_new(a, int, n + 1);
    for (int i = 0; i < n; i++) {
        number[i] = which ? which[i] : i;
        for (int o = 0; o < g->objectives; o++) {
            adjoint[o * n + i] = g->slope[o * g->numbers + number[i]];
            effect[o * n + i] = g->effect[o * g->numbers + number[i]];
        }
    }
    return (cst_claim){.n = n, .which = number, .adjoint = adjoint, .effect = effect};
}

/* ---- the whole ---- */

/* Every number of the model that may have this base is confirmed, for this objective. */
static int all_confirmed(const cst_run *r, const cst_checked *c, int o, int base)
{
    int yes = c->numbers == r->m->leaf.n;
    for (int i = 0; i < c->numbers; i++) {
        const cst_dimension *u = &r->m->dimensions->leaf[c->number[i]];
        if (u->state == CST_DIMENSION_KNOWN && u->x[base] == 0) continue;
        const cst_verdict v = c->verdict[o * c->numbers + i];
        yes &= v == CST_AGREE || v == CST_REFUSED || v == CST_UNTRIED || v == CST_STEP_KINK;
    }
    return yes;
}

/* The identities are about all numbers, whatever is checked. Where one fails for a gradient that
 * differences confirm, the model itself has a size that is no number of the file: a speed written
 * in rad/s, a law that is not in units of its own. Returns how many fail. */
static int identities(cst_prober *p, const double *slope, const cst_effect *effect,
                      const double *value, cst_checked *c)
{
    cst_scaling *all = cst_new(p->a, cst_scaling, 2 * p->nobj + 1);
    const int penalty = strcmp(p->r->options.formulation, "penalty") == 0;
    int failing = 0;
    for (int k = 0; k < 2 * p->nobj; k++) {
        const int o = k / 2, base = k % 2 ? CST_LENGTH : CST_MASS;
        const size_t first = (size_t)o * (size_t)p->nleaf;
        cst_scaling *s = &all[2 * o + base];
        *s = cst_scaling_check(p->a, p->r->m->dimensions, base, o, value[o], p->nleaf, p->x,
                               slope + first, effect + first);
        const double apart = fabs(s->sum - s->exponent * value[o]);
        if (s->verdict == CST_SCALING_FAILS && apart <= p->nothing[o]) {
            s->verdict = CST_SCALING_HOLDS; /* of what is zero */
            s->off = apart / fmax(p->largest[o], fabs(value[o]));
        }
        if (s->verdict == CST_SCALING_FAILS && penalty) {
            s->verdict = CST_SCALING_OPEN;
            s->why = "the penalty factor alpha takes part and is not a number of the file";
        }
        const int fails = s->verdict == CST_SCALING_FAILS,
                  excused = fails && all_confirmed(p->r, c, o, base);
        failing += fails && !excused;
        c->excused += excused;
    }
    c->scaling = all;
    return failing;
}

/* Of an objective, differences settle no slope that matters: that zeros agree says little. */
static int settles_nothing(const cst_prober *p, const cst_checked *c, int o)
{
    int open = 0, settled = 0;
    for (int i = 0; i < c->numbers; i++) {
        const size_t k = (size_t)o * (size_t)c->numbers + (size_t)i;
        const double x = fabs(c->adjoint[k]) * p->size[c->number[i]];
        if (!cst_has_slope(c->effect[k]) || !(x > p->nothing[o])) continue;
        open += c->verdict[k] == CST_NOT_SETTLED;
        settled += c->verdict[k] != CST_NOT_SETTLED;
    }
    return open && !settled;
}

/* It gives a slope without saying that it is one-sided, and that is one of the two. */
static int is_a_side(const cst_prober *p, const cst_checked *c, size_t k)
{
    const int leaf = c->number[k % (size_t)c->numbers];
    const double a = c->adjoint[k],
                 off = fmin(fabs(a - c->below[k]), fabs(a - c->above[k])) * p->size[leaf],
                 gap = fabs(c->above[k] - c->below[k]) * p->size[leaf];
    return off <= fmax(CST_JUDGE_KNOWN * gap, p->nothing[k / (size_t)c->numbers]);
}

/* What is wrong comes first, then what was not compared, then what the gradient leaves out. */
static cst_check_verdict judge_all(const cst_prober *p, int failing, cst_checked *c)
{
    const size_t all = (size_t)p->nobj * (size_t)c->numbers;
    int differ = failing, kinks = 0, slopes = 0, open = 0;
    int *unsettled = cst_new(p->a, int, p->nobj + 1);
    for (size_t k = 0; k < all; k++) {
        const int two = c->verdict[k] == CST_TWO_SLOPES || c->verdict[k] == CST_JUMP;
        differ += c->verdict[k] == CST_DIFFER;
        slopes += cst_has_slope(c->effect[k]);
        if (!two || !cst_has_slope(c->effect[k]) || c->effect[k] == CST_ONE_SIDED) continue;
        if (c->verdict[k] == CST_TWO_SLOPES && is_a_side(p, c, k))
            c->left_out |= CST_MISSES_SIDE;
        else
            kinks++;
    }
    for (int o = 0; o < p->nobj; o++) open += unsettled[o] = settles_nothing(p, c, o);
    c->unsettled = unsettled;
    if (differ) return CST_CHECK_IN_DOUBT;
    if (kinks) return CST_CHECK_KINK;
    if (!slopes) return CST_CHECK_NOTHING;
    if (open) return CST_CHECK_NOT_SETTLED;
    return c->left_out ? CST_CHECK_INCOMPLETE : CST_CHECK_CONFIRMED;
}

/* The gradient by all numbers has been made; its arrays are the run's until the next one. */
static cst_status check(cst_run *r, cst_run *half, cst_arena *a, const double *values,
                        const cst_gradient *g, int n, const int *which, const cst_check_options *o,
                        cst_checked *to, cst_diag *d)
{
    cst_claim claim = claim_new(a, g, n, which);
    const size_t all = (size_t)g->objectives * (size_t)n + 1;
    double *direct = cst_new(a, double, all), *rounding = cst_new(a, double, all);
    claim.direct = direct, claim.rounding = rounding;
    *to = (cst_checked){.left_out = cst_run_switch_misses(r)};
    claim.half = half;
    cst_status ok = cst_gradient_direct(r, n, claim.which, direct, d);
    for (size_t k = 0; k + 1 < all; k++)
        if (!cst_has_slope(claim.effect[k])) direct[k] = NAN;
    cst_prober *p = ok == CST_OK ? cst_prober_new(a, r, values, g->slope, d) : NULL;
    if (!p) return d->status;
    if (differ_somewhere(p, &claim)) ok = shake(p, &claim, rounding);
    if (ok != CST_OK) memset(rounding, 0, sizeof *rounding * all); /* then it is not known */
    ok = cst_check_judge(p, &claim, o, to);
    if (ok != CST_OK)
        return cst_error(d, ok, (cst_where){.file = r->m->file}, "stopped on request");
    const int failing = identities(p, g->slope, g->effect, g->value, to);
    to->verdict_of_all = judge_all(p, failing, to);
    to->all_simulations = (int)(p->simulations + p->shared) + 1;
    return cst_run_forward(r, values, 1, NULL, NULL, d); /* leave the run as it was */
}

static cst_run *half_run(const cst_run *r)
{
    cst_options o = r->options;
    cst_diag quiet = {0};
    o.step /= 2;
    return r->w->controls ? NULL : cst_run_new(r->m, &o, &quiet);
}

static cst_status guarded(cst_run *r, cst_run *half, cst_check_store *s, const double *values,
                          const cst_gradient *g, int n, const int *which,
                          const cst_check_options *o, cst_diag *d)
{
    if (CST_ARENA_GUARD(&s->arena)) {
        r->frozen = 0;
        return cst_error(d, CST_MEMORY, (cst_where){.file = r->m->file}, "out of memory");
    }
    return check(r, half, &s->arena, values, g, which ? n : g->numbers, which, o, &s->check, d);
}

const cst_checked *cst_run_check(cst_run *r, const double *values, int n, const int *which,
                                 const cst_check_options *o, cst_diag *d)
{
    cst_status ok = cst_which_check(r, n, which, d);
    if (ok == CST_OK) ok = cst_discrete_applies(r, d);
    cst_diag own = {0}; /* what there is to say of other numbers is not said */
    const cst_gradient *g =
        ok == CST_OK ? cst_run_gradient(r, values, CST_ADJOINT, 0, NULL, &own) : NULL;
    if (ok == CST_OK && !g) cst_run_gradient(r, values, CST_ADJOINT, 0, NULL, d); /* says why */
    cst_check_store *s = g ? cst_check_store_of(r, d) : NULL;
    if (!s) return NULL;
    cst_run *half = half_run(r);
    ok = guarded(r, half, s, values, g, n, which, o, d);
    cst_run_free(half);
    return ok == CST_OK ? &s->check : NULL;
}
