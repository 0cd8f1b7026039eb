/* SPDX-License-Identifier: MIT
 *
 * Central differences of several widths e and what they say of a slope a:
 *
 *     D(e) = (f(p + e) - f(p - e))/(2 e) = f' + f''' e^2/6 + ...
 *     K(e) = (f(p + e) - 2 f(p) + f(p - e))/e = s_above - s_below + f'' e + ...
 *
 * D confirms a by agreeing with it to CST_JUDGE_SAME, which does not happen by chance, if K is
 * nothing or shrinks with e. No single difference refutes a: it may be too wide, reach across a
 * change of the order of events, lie within the instant to which events are drawn together, or
 * consist of rounding. Three widths must agree with each other against it, all with the steps and
 * events of the middle. Where K stays, or the steps and events are others at the narrowest widths,
 * the sides may differ. */
#include "sensitivity/check.h"

#include <math.h>

typedef struct reading { /* of one objective at one width, as influences; NAN: there is none */
    double D, K;
    double most; /* the larger of the differences to the two sides */
    int same;    /* steps and events of the middle on both sides */
} reading;

static reading read(const cst_prober *p, int leaf, int k, int o)
{
    const cst_probe *above = &p->plain[k][CST_ABOVE], *below = &p->plain[k][CST_BELOW];
    if (!above->ok || !below->ok) return (reading){NAN, NAN, 0, 0};
    const double up = above->value[o] - p->middle.value[o],
                 down = below->value[o] - p->middle.value[o], part = p->size[leaf] / above->width;
    return (reading){(up - down) / 2 * part, (up + down) * part, fmax(fabs(up), fabs(down)) * part,
                     above->pattern == p->middle.pattern && below->pattern == p->middle.pattern};
}

typedef struct readings {
    int n;
    double a, tight; /* the slope; as much as D may be apart from it */
    reading at[CST_PLAIN_WIDTHS];
    double rounding[CST_PLAIN_WIDTHS]; /* of D */
} readings;

static int no_kink(const readings *s, int k)
{
    const double here = fabs(s->at[k].K), least = fmax(s->tight, s->rounding[k]);
    return here <= least || (k > 0 && here <= CST_JUDGE_STAYS * fabs(s->at[k - 1].K));
}

static double extrapolated(const readings *s, int k)
{
    const double q = CST_PROBE_NARROWER * CST_PROBE_NARROWER;
    return k > 0 ? (s->at[k].D - q * s->at[k - 1].D) / (1 - q) : NAN;
}

static int agrees(const readings *s, int k)
{
    const double a = s->a;
    const int near = fabs(s->at[k].D - a) <= s->tight || fabs(extrapolated(s, k) - a) <= s->tight;
    return near && no_kink(s, k);
}

/* Three widths, k the narrowest of them, agree with each other, also by their own size, and not
 * with the slope. */
static int contradicts(const readings *s, int k)
{
    const double apart = fabs(s->at[k].D - s->a), own = fabs(s->at[k].D);
    if (k < 2 || apart <= s->tight || !no_kink(s, k)) return 0;
    double most = 0;
    for (int j = k - 1; j <= k; j++) most = fmax(most, fabs(s->at[j].D - s->at[j - 1].D));
    return s->at[k].same && s->at[k - 1].same && s->at[k - 2].same &&
           CST_JUDGE_SPREAD * most <= fmin(apart, fmax(own, s->rounding[k]));
}

/* The difference that its neighbour changes least, as influence */
static void best(const readings *s, cst_difference *to)
{
    to->error = INFINITY;
    to->slope = s->at[s->n - 1].D;
    for (int k = 1; k < s->n; k++) {
        const double error = CST_JUDGE_SPREAD * fabs(s->at[k].D - s->at[k - 1].D);
        if (!(error < to->error)) continue;
        to->slope = extrapolated(s, k);
        to->error = error;
    }
    to->known = to->error <= CST_JUDGE_KNOWN * fmax(fabs(s->a), fabs(to->slope));
}

static cst_hint weigh(const cst_prober *p, const readings *s, int o, int last, cst_difference *to)
{
    const int k = s->n - 1;
    best(s, to);
    if (agrees(s, k)) {
        to->slope = fabs(s->at[k].D - s->a) <= s->tight ? s->at[k].D : extrapolated(s, k);
        return CST_HINT_AGREES;
    }
    if (contradicts(s, k)) return CST_HINT_DIFFERS;
    int plain = 1;
    for (int j = k > 0 ? k - 1 : 0; j <= k; j++) plain &= s->at[j].same && no_kink(s, j);
    if (!plain && k + 1 == CST_PLAIN_WIDTHS - 1) last = 1;
    if (!last) return CST_HINT_OPEN;
    const double apart = fabs(to->slope - s->a);
    if (plain && to->known && apart <= to->error) return CST_HINT_AGREES;
    /* too little influence to be known, and as little by the difference */
    if (!to->known && fabs(s->a) <= CST_JUDGE_SAME * p->largest[o] &&
        apart <= CST_JUDGE_SAME * p->largest[o])
        return CST_HINT_AGREES;
    return plain ? CST_HINT_OPEN : CST_HINT_SIDES;
}

static void weigh_all(const cst_prober *p, int leaf, int first, int k, int last,
                      const double *slope, cst_difference *to)
{
    const double size = p->size[leaf];
    for (int o = 0; o < p->nobj; o++) {
        if (to[o].hint != CST_HINT_OPEN || isnan(slope[o])) continue;
        readings s = {.n = k + 1 - first, .a = slope[o] * size};
        for (int j = 0; j < s.n; j++) {
            s.at[j] = read(p, leaf, first + j, o);
            s.rounding[j] = p->rounding[o] * size / p->plain[first + j][CST_ABOVE].width;
        }
        double most = 0;
        for (int j = 0; j < s.n; j++)
            if (s.at[j].same) most = fmax(most, s.at[j].most);
        s.tight = CST_JUDGE_SAME * fmax(fabs(s.a), fabs(s.at[s.n - 1].D));
        s.tight = fmax(fmax(s.tight, p->nothing[o]), CST_JUDGE_ROUNDING * most);
        to[o].hint = weigh(p, &s, o, last, &to[o]);
        to[o].slope /= size;
        to[o].error /= size;
    }
}

void cst_values_look(cst_prober *p, int leaf, int first, int most, const double *slope,
                     cst_difference *to)
{
    int open = 0;
    for (int o = 0; o < p->nobj; o++) {
        to[o] = (cst_difference){.hint = CST_HINT_OPEN, .slope = NAN, .error = NAN};
        open |= !isnan(slope[o]);
    }
    for (int k = first; k < first + most && open; k++) {
        const double e = cst_probe_width(p, leaf, k);
        cst_probe_at(p, leaf, -e, 0, &p->plain[k][CST_BELOW]);
        cst_probe_at(p, leaf, e, 0, &p->plain[k][CST_ABOVE]);
        weigh_all(p, leaf, first, k, k == first + most - 1, slope, to);
        open = 0;
        for (int o = 0; o < p->nobj; o++) open |= to[o].hint == CST_HINT_OPEN && !isnan(slope[o]);
    }
}
