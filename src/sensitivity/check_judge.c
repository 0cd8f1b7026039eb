/* SPDX-License-Identifier: MIT
 *
 * Verdicts on slopes, number by number. */
#include "sensitivity/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sensitivity/methods.h"

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
    const int given = cst_has_slope(c->claim->effect[k]),
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
        if (!cst_has_slope(e)) continue;
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
    return c->verdict[k] == CST_TWO_SLOPES && cst_has_slope(c->claim->effect[k]) &&
           a >= fmin(s, t) - room && a <= fmax(s, t) + room;
}

static cst_prober *half_new(const checking *c)
{
    cst_prober *p = c->p;
    cst_run *half = c->claim->half;
    if (!half) return NULL;
    memset(p->quiet, 0, sizeof *p->quiet);
    cst_status ok = cst_run_forward(half, p->x, 1, NULL, NULL, p->quiet);
    if (ok == CST_OK) ok = cst_gradient_adjoint(half, NULL, NULL, p->all, p->quiet);
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

/* Central differences with steps that are chosen anew, of the widths 2 e and e. The choice is
 * noise:
 *
 *     D(2e) - D(e)    and    (K(2e) - 4 K(e))/(4 e),    K(e) = f(p + e) - 2 f(p) + f(p - e)
 *
 * vanish for a parabola. The larger of the two is the error. */
static double free_slope(const cst_prober *p, int o, double *error)
{
    double D[2], K[2];
    *error = INFINITY;
    for (int k = 0; k < 2; k++) {
        const cst_probe *below = &p->plain[k][CST_BELOW], *above = &p->plain[k][CST_ABOVE];
        if (!below->ok || !above->ok) return NAN;
        D[k] = (above->value[o] - below->value[o]) / (2 * above->width);
        K[k] = above->value[o] - 2 * p->middle.value[o] + below->value[o];
    }
    *error = fmax(fabs(D[0] - D[1]), fabs(K[0] - 4 * K[1]) / (2 * p->plain[0][CST_ABOVE].width));
    return D[1];
}

/* What they contradict by more than their error is wrong, what they do not know is not settled. */
static cst_verdict by_free_steps(const checking *c, int i, int o, double a)
{
    double error, free = free_slope(c->p, o, &error);
    const double own = fmax(influence(c, i, a), isnan(free) ? 0 : influence(c, i, free));
    const double apart = influence(c, i, a - free),
                 room = CST_JUDGE_SPREAD * influence(c, i, error);
    if (own <= fmax(CST_JUDGE_SAME * c->p->largest[o], c->p->nothing[o])) return CST_AGREE;
    if (apart <= CST_JUDGE_KNOWN / CST_JUDGE_SPREAD * own) return CST_AGREE;
    if (apart > room) return CST_DIFFER;
    return room <= own / CST_JUDGE_SPREAD ? CST_AGREE : CST_NOT_SETTLED;
}

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
        const size_t k = (size_t)o * (size_t)c->claim->n + (size_t)i;
        if (c->verdict[k] != CST_AGREE) continue;
        c->verdict[k] = by_free_steps(c, i, o, c->claim->adjoint[k]);
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
