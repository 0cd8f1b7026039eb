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
#include <stdlib.h>
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

static int has_slope(cst_effect e)
{
    return e == CST_EXACT || e == CST_NO_EFFECT || e == CST_ONE_SIDED;
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

/* ---- one number ---- */

typedef struct checking {
    cst_prober *p;
    const cst_claim *claim;
    cst_verdict *verdict; /* (objectives x n) */
    double *difference, *error, *below, *above;
    int *simulations;          /* (n) */
    double *slope;             /* (objectives) of the number in hand, NAN: none to be compared */
    cst_difference *seen;      /* (objectives) */
    cst_sided *sided, *halved; /* (objectives) */
    cst_prober *half;          /* with half the step; NULL: not made yet, or it cannot be */
} checking;

static double influence(const checking *c, int i, double slope)
{
    return fabs(slope) * c->p->size[c->claim->which[i]];
}

/* Adjoint and direct are apart by more than rounding. */
static int methods_differ(const checking *c, int i, int o)
{
    const size_t k = (size_t)o * (size_t)c->claim->n + (size_t)i;
    const double a = c->claim->adjoint[k], b = c->claim->direct[k];
    const double room =
        fmax(c->p->nothing[o], CST_JUDGE_SPREAD * influence(c, i, c->claim->rounding[k]));
    return !(influence(c, i, a - b) <= room);
}

/* The slope a is s, which is known with an error. */
static int same(const checking *c, int i, int o, double a, double s, double error)
{
    const double larger = fmax(influence(c, i, a), influence(c, i, s));
    return influence(c, i, a - s) <=
           fmax(fmax(CST_JUDGE_SAME * larger, c->p->nothing[o]), influence(c, i, error));
}

/* The slopes to the sides: of a number that has no slope in the gradient they say why. */
static cst_verdict by_sides(const checking *c, int i, int o, const cst_sided *s)
{
    const size_t k = (size_t)o * (size_t)c->claim->n + (size_t)i;
    const double a = c->claim->adjoint[k];
    const int given = has_slope(c->claim->effect[k]),
              below = given && same(c, i, o, a, s->slope[CST_BELOW], s->error[CST_BELOW]),
              above = given && same(c, i, o, a, s->slope[CST_ABOVE], s->error[CST_ABOVE]);
    switch (s->answer) {
    case CST_SIDES_TWO:
        return c->claim->effect[k] == CST_ONE_SIDED && !below && !above ? CST_DIFFER
                                                                        : CST_TWO_SLOPES;
    case CST_SIDES_JUMP:
        return CST_JUMP;
    case CST_SIDES_ONE:
    case CST_SIDES_BELOW:
    case CST_SIDES_ABOVE:
        if (given) return below || above ? CST_AGREE : CST_DIFFER;
        return CST_REFUSED;
    case CST_SIDES_OPEN:
        break;
    }
    return given ? CST_NOT_SETTLED : CST_REFUSED;
}

/* Which objectives are compared with differences: those with a slope that both methods share */
static int begin(checking *c, int i)
{
    int any = 0;
    for (int o = 0; o < c->p->nobj; o++) {
        const size_t k = (size_t)o * (size_t)c->claim->n + (size_t)i;
        const cst_effect e = c->claim->effect[k];
        c->slope[o] = NAN;
        c->seen[o].hint = CST_HINT_OPEN;
        c->verdict[k] = CST_REFUSED;
        if (!has_slope(e)) continue;
        c->verdict[k] = methods_differ(c, i, o) ? CST_DIFFER : CST_NOT_SETTLED;
        if (c->verdict[k] == CST_NOT_SETTLED) c->slope[o] = c->claim->adjoint[k];
        any |= c->verdict[k] == CST_NOT_SETTLED;
    }
    return any;
}

static void keep_differences(checking *c, int i)
{
    static const cst_verdict said[] = {
        [CST_HINT_AGREES] = CST_AGREE,
        [CST_HINT_DIFFERS] = CST_DIFFER,
        [CST_HINT_OPEN] = CST_NOT_SETTLED,
        [CST_HINT_SIDES] = CST_NOT_SETTLED,
    };
    for (int o = 0; o < c->p->nobj; o++) {
        const size_t k = (size_t)o * (size_t)c->claim->n + (size_t)i;
        if (isnan(c->slope[o])) continue;
        c->verdict[k] = said[c->seen[o].hint];
        c->difference[k] = c->seen[o].slope;
        c->error[k] = c->seen[o].error;
    }
}

/* Sides are looked at where differences suggest it or the gradient says so. */
static int wants_sides(const checking *c, int i, int o)
{
    const cst_effect e = c->claim->effect[(size_t)o * (size_t)c->claim->n + (size_t)i];
    return e == CST_NOT_SMOOTH || e == CST_ONE_SIDED ||
           (!isnan(c->slope[o]) && c->seen[o].hint == CST_HINT_SIDES);
}

/* Two slopes of the gradient, the given one among them or between them */
static int is_between(const checking *c, int i, int o)
{
    const size_t k = (size_t)o * (size_t)c->claim->n + (size_t)i;
    const double a = c->claim->adjoint[k], s = c->below[k], t = c->above[k];
    const double gap = fabs(t - s), room = CST_JUDGE_KNOWN * gap;
    return c->verdict[k] == CST_TWO_SLOPES && has_slope(c->claim->effect[k]) &&
           a >= fmin(s, t) - room && a <= fmax(s, t) + room;
}

static cst_prober *half_new(const checking *c)
{
    cst_prober *p = c->p;
    cst_run *half = c->claim->half;
    if (!half) return NULL;
    memset(p->quiet, 0, sizeof *p->quiet);
    cst_status ok = cst_run_forward(half, p->x, 1, NULL, NULL, p->quiet);
    if (ok == CST_OK) ok = cst_gradient_adjoint(half, p->all, NULL, p->quiet);
    p->shared++;
    half->frozen = 1;
    return ok == CST_OK ? cst_prober_new(p->a, half, p->x, p->all, p->quiet) : NULL;
}

/* Do two slopes come together with half the step? Then the kink is one of the steps: an event falls
 * on the end of one, or an integrand is on its kink at a state. */
static void look_at_half(checking *c, int i)
{
    int first = CST_SIDES_WIDTHS, any = 0;
    for (int o = 0; o < c->p->nobj; o++) {
        if (!is_between(c, i, o)) continue;
        any = 1;
        if (c->sided[o].wide < first) first = c->sided[o].wide;
    }
    if (any && !c->half) c->half = half_new(c);
    if (!any || !c->half) return;
    if (first + CST_HALF_WIDTHS > CST_SIDES_WIDTHS) first = CST_SIDES_WIDTHS - CST_HALF_WIDTHS;
    const long before = c->half->simulations;
    cst_sides_look(c->half, c->claim->which[i], first, CST_HALF_WIDTHS, c->halved);
    c->p->simulations += c->half->simulations - before;
    for (int o = 0; o < c->p->nobj; o++) {
        const size_t k = (size_t)o * (size_t)c->claim->n + (size_t)i;
        const cst_sided *s = &c->halved[o];
        const double gap = fabs(s->slope[CST_ABOVE] - s->slope[CST_BELOW]);
        if (is_between(c, i, o) && gap <= CST_JUDGE_TOGETHER * fabs(c->above[k] - c->below[k]))
            c->verdict[k] = CST_STEP_KINK;
    }
}

static void look_at_sides(checking *c, int i)
{
    int any = 0;
    for (int o = 0; o < c->p->nobj; o++) any |= wants_sides(c, i, o);
    if (!any) return;
    cst_sides_look(c->p, c->claim->which[i], 0, CST_SIDES_WIDTHS, c->sided);
    for (int o = 0; o < c->p->nobj; o++) {
        const size_t k = (size_t)o * (size_t)c->claim->n + (size_t)i;
        if (!wants_sides(c, i, o) || c->verdict[k] == CST_DIFFER) continue;
        c->verdict[k] = by_sides(c, i, o, &c->sided[o]);
        c->below[k] = c->sided[o].slope[CST_BELOW];
        c->above[k] = c->sided[o].slope[CST_ABOVE];
    }
    look_at_half(c, i);
}

/* With steps of a tolerance half of the differences are for steps that are chosen anew. */
static void check_number(checking *c, int i)
{
    cst_prober *p = c->p;
    const int leaf = c->claim->which[i], chosen = p->r->w->controls;
    const long before = p->simulations;
    if (begin(c, i)) {
        if (chosen)
            cst_values_look(p, leaf, 1, CST_PLAIN_WIDTHS / 2, c->slope, c->seen);
        else
            cst_values_look(p, leaf, 0, CST_PLAIN_WIDTHS, c->slope, c->seen);
        keep_differences(c, i);
    }
    look_at_sides(c, i);
    c->simulations[i] = (int)(p->simulations - before);
}

/* The same difference with free steps, of two widths. They see the choice of steps as noise: what
 * they contradict by more than their own change is wrong, what they do not know is not settled. */
static void check_free(checking *c, int i)
{
    cst_prober *p = c->p;
    const int leaf = c->claim->which[i];
    int any = 0;
    for (int o = 0; o < p->nobj; o++)
        any |= c->verdict[(size_t)o * (size_t)c->claim->n + (size_t)i] == CST_AGREE;
    for (int k = 0; k < 2 && any; k++)
        for (int side = 0; side < CST_SIDES; side++) {
            const double e = ldexp(cst_probe_width(p, leaf, 0), 2 - k);
            cst_probe_at(p, leaf, side == CST_ABOVE ? e : -e, 0, &p->plain[k][side]);
            c->simulations[i]++;
        }
    for (int o = 0; o < p->nobj && any; o++) {
        const size_t at = (size_t)o * (size_t)c->claim->n + (size_t)i;
        if (c->verdict[at] != CST_AGREE) continue;
        double D[2];
        int ok = 1;
        for (int k = 0; k < 2; k++) {
            const cst_probe *b = &p->plain[k][CST_BELOW], *t = &p->plain[k][CST_ABOVE];
            D[k] = (t->value[o] - b->value[o]) / (2 * t->width);
            ok &= t->ok && b->ok;
        }
        const double a = c->claim->adjoint[at], error = D[1] - D[0];
        const double own = fmax(influence(c, i, a), influence(c, i, D[1]));
        const double apart = influence(c, i, a - D[1]),
                     room = CST_JUDGE_SPREAD * influence(c, i, error);
        if (apart <= fmax(CST_JUDGE_KNOWN / CST_JUDGE_SPREAD * own, p->nothing[o])) continue;
        if (own <= CST_JUDGE_SAME * p->largest[o]) continue;
        if (ok && apart > room)
            c->verdict[at] = CST_DIFFER;
        else if (!ok || room > own / CST_JUDGE_SPREAD)
            c->verdict[at] = CST_NOT_SETTLED;
    }
}

/* ---- all numbers ---- */

typedef struct ranked {
    double influence;
    int i;
} ranked;

static int by_influence(const void *x, const void *y)
{
    const ranked *a = x, *b = y;
    if (a->influence != b->influence) return a->influence > b->influence ? -1 : 1;
    return a->i - b->i;
}

/* (n) which numbers are tried: all or, of more than `most`, half of these the most influential
 * ones, the others spread evenly over the rest */
static unsigned char *choose(const checking *c, int most)
{
    const int n = c->claim->n;
    unsigned char *tried = cst_new(c->p->a, unsigned char, n + 1);
    ranked *r = cst_new(c->p->a, ranked, n + 1);
    for (int i = 0; i < n; i++) {
        r[i].i = i;
        for (int o = 0; o < c->p->nobj; o++) {
            const double x = influence(c, i, c->claim->adjoint[o * n + i]) / c->p->largest[o];
            if (x > r[i].influence) r[i].influence = x; /* NaN is not larger */
        }
    }
    qsort(r, (size_t)n, sizeof *r, by_influence);
    const int half = most / 2, rest = n - half;
    for (int j = 0; j < n; j++) {
        const int k = j - half; /* one of the rest where k half passes a multiple of it */
        tried[r[j].i] = most <= 0 || n <= most || k < 0 || k * half / rest != (k + 1) * half / rest;
    }
    return tried;
}

static void leave(checking *c, int i)
{
    begin(c, i);
    for (int o = 0; o < c->p->nobj; o++) {
        cst_verdict *v = &c->verdict[(size_t)o * (size_t)c->claim->n + (size_t)i];
        if (*v == CST_NOT_SETTLED) *v = CST_UNTRIED;
    }
}

static double *nans(cst_arena *a, size_t n)
{
    double *x = cst_new(a, double, n);
    for (size_t i = 0; i < n; i++) x[i] = NAN;
    return x;
}

static checking checking_new(cst_prober *p, const cst_claim *claim)
{
    const size_t all = (size_t)p->nobj * (size_t)claim->n + 1;
    return (checking){.p = p,
                      .claim = claim,
                      .verdict = cst_new(p->a, cst_verdict, all),
                      .difference = nans(p->a, all),
                      .error = nans(p->a, all),
                      .below = nans(p->a, all),
                      .above = nans(p->a, all),
                      .simulations = cst_new(p->a, int, claim->n + 1),
                      .slope = cst_new(p->a, double, p->nobj + 1),
                      .seen = cst_new(p->a, cst_difference, p->nobj + 1),
                      .sided = cst_new(p->a, cst_sided, p->nobj + 1),
                      .halved = cst_new(p->a, cst_sided, p->nobj + 1)};
}

cst_status cst_check_judge(cst_prober *p, const cst_claim *claim, const cst_check_options *o,
                           cst_checked *to)
{
    checking c = checking_new(p, claim);
    const unsigned char *tried = choose(&c, o ? o->most : 0);
    const int n = claim->n;
    int stop = 0;
    p->r->frozen = 1;
    for (int i = 0; i < n && !stop; i++) {
        if (tried[i])
            check_number(&c, i);
        else
            leave(&c, i);
        stop = o && o->progress && o->progress(o->ctx, i + 1, n);
    }
    p->r->frozen = 0;
    for (int i = 0; i < n && !stop && p->r->w->controls; i++) check_free(&c, i);
    to->objectives = p->nobj;
    to->numbers = n;
    to->number = claim->which;
    to->value = p->middle.value;
    to->adjoint = claim->adjoint;
    to->direct = claim->direct;
    to->effect = claim->effect;
    to->difference = c.difference;
    to->error = c.error;
    to->below = c.below;
    to->above = c.above;
    to->verdict = c.verdict;
    to->simulations = c.simulations;
    to->largest = p->largest;
    return stop ? CST_STOPPED : CST_OK;
}

/* ---- what is claimed ---- */

/* Do the methods differ by more than the rounding of a slope usually is? */
static int differ_somewhere(const cst_prober *p, const cst_claim *c)
{
    for (int o = 0; o < p->nobj; o++)
        for (int i = 0; i < c->n; i++) {
            const size_t k = (size_t)o * (size_t)c->n + (size_t)i;
            const double apart = fabs(c->adjoint[k] - c->direct[k]) * p->size[c->which[i]];
            if (has_slope(c->effect[k]) && !(apart <= p->nothing[o])) return 1;
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
        if (ok == CST_OK) ok = cst_gradient_adjoint(r, p->all, NULL, p->quiet);
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
        if (!has_slope(c->effect[k]) || !(x > p->nothing[o])) continue;
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
        slopes += has_slope(c->effect[k]);
        if (!two || !has_slope(c->effect[k]) || c->effect[k] == CST_ONE_SIDED) continue;
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
        if (!has_slope(claim.effect[k])) direct[k] = NAN;
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
    const cst_gradient *g =
        ok == CST_OK ? cst_run_gradient(r, values, CST_ADJOINT, 0, NULL, d) : NULL;
    cst_check_store *s = g ? cst_check_store_of(r, d) : NULL;
    if (!s) return NULL;
    cst_run *half = half_run(r);
    ok = guarded(r, half, s, values, g, n, which, o, d);
    cst_run_free(half);
    return ok == CST_OK ? &s->check : NULL;
}
