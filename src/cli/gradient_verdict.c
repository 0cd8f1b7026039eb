/* SPDX-License-Identifier: MIT
 *
 * Verdicts: does a difference confirm a slope, contradict it, or neither?
 *
 * A difference may be too wide for the function, reach across a change of the order of events, lie
 * within the tolerance by which an event is drawn to a point of the steps' grid, or consist of
 * rounding. No single difference refutes a slope: where the first does not confirm it, others of
 * all widths follow. One that confirms it is enough, because agreement to 1e-6 does not happen by
 * chance. Only two widths that agree with each other count against it.
 *
 * A kink may be one of the steps alone: an event falls on a point of the grid, or an integrand is
 * on a kink at a single state. Its two slopes approach each other as steps become shorter: they are
 * compared again with half and a quarter of the step. */
#include "cli/gradient.h"

#include <math.h>
#include <string.h>

#define ADJOINT_DIRECT                                                                             \
    1e-9 /* they differentiate the same computation: rounding, with room for its growth */
#define DIFFERENCE 1e-6 /* or ten times the difference's own estimate of its error */
#define HIDDEN 1e-9     /* of the largest influence: less is rounding of it */
#define USELESS                                                                                    \
    1e-2 /* a difference whose error may be larger than this part of the slope itself says nothing \
          */
#define VOICE                                                                                      \
    0.1 /* the same, of one that counts against a slope which a better one has contradicted */
#define WIDEST 1e-3 /* of the number: widths of those that follow, */
enum { WIDTHS = 6 };
#define NARROWER 16.0
#define NARROWEST 1e-8
#define BESIDE                                                                                     \
    4.0 /* of the distance of the two one-sided slopes: a gradient this far outside of them may    \
         * belong to a kink of the steps, if it comes nearer with shorter steps */
#define APART                                                                                      \
    1.0 /* of the same: a gradient that does not, and is farther outside than this, is wrong */
#define BETWEEN 0.05 /* of the same: it is one of them, or between them */
#define TOGETHER                                                                                   \
    0.8 /* with half the step the slopes of a kink of the steps are at most this far apart: half,  \
           or a root of it */
#define LEFT 1e-3 /* of the largest: what is left of one that has shrunk is rounding */
#define NOTHING                                                                                    \
    100.0 /* times the rounding of an objective: influences that are all less are nothing else */
#define STAYS                                                                                      \
    0.7 /* of their distance over a width 16 times as wide: at a kink it does not shrink; at       \
           |x|^1.5, by 4 */

const char *cst_verdict_word(cst_verdict v)
{
    static const char *const word[] = {
        "agree", "DIFFER",           "difference too rough", "refused", "adjoint = direct",
        "kink",  "kink of the steps"};
    return word[v];
}

/* ---- one difference ---- */

/* The distance of the two one-sided slopes, by influence; 0: no kink is seen */
static double gap_of(const cst_gradient_job *job, int i, size_t k, double size)
{
    double gap =
        cst_slope_size(job, i, job->check.difference.above[k] - job->check.difference.below[k]);
    return size > 0 && gap > DIFFERENCE * size ? gap : 0;
}

/* How far the gradient is from what lies between the two sides */
static double outside(const cst_gradient_job *job, int i, double a, double below, double above)
{
    double gap = cst_slope_size(job, i, above - below);
    return fmax(0,
                (cst_slope_size(job, i, a - below) + cst_slope_size(job, i, a - above) - gap) / 2);
}

/* At a kink the slopes to the two sides are apart, and the gradient is one of them or between them.
 * At one of the steps it may be beside them. */
static int at_kink(const cst_gradient_job *job, int i, size_t k, double size)
{
    const cst_checked *c = &job->check;
    const double gap = gap_of(job, i, k, size);
    return gap > 0 && outside(job, i, c->adjoint.slope[k], c->difference.below[k],
                              c->difference.above[k]) <= BESIDE * gap;
}

/* Of a number itself: the larger of what the gradient and the difference say */
static double own_size(const cst_gradient_job *job, int i, size_t k)
{
    return fmax(cst_slope_size(job, i, job->check.adjoint.slope[k]),
                cst_slope_size(job, i, job->check.difference.slope[k]));
}

/* Is a difference known well, by the influence of the number itself? */
static int knows_itself(const cst_gradient_job *job, int i, size_t k, double room)
{
    return room <= USELESS * own_size(job, i, k);
}

/* A difference confirms a slope within its own error, if that is small against the largest
 * influence or that of the number itself; or within DIFFERENCE of the largest influence, unless the
 * difference is accurate enough to judge a smaller influence by its own size. */
static int confirms(const cst_gradient_job *job, int i, size_t k, double size, double room)
{
    const double a = job->check.adjoint.slope[k], f = job->check.difference.slope[k];
    const double apart = cst_slope_size(job, i, a - f), own = own_size(job, i, k);
    if (apart <= room && room <= fmax(10 * DIFFERENCE * size, USELESS * own)) return 1;
    const double least =
        fmax(fmax(DIFFERENCE * own, HIDDEN * size), job->check.rounding[k / (size_t)job->n]);
    return apart <= DIFFERENCE * size && !(knows_itself(job, i, k, room) && apart > least);
}

static int methods_differ(const cst_checked *c, size_t k) { return !(c->off[k] <= ADJOINT_DIRECT); }

/* What slopes are compared with: the largest influence or, where all influences are rounding of an
 * objective that is zero, so much that they agree. */
static double size_of(const cst_gradient_job *job, int i, size_t k)
{
    const size_t o = k / (size_t)job->n;
    const double rounding = job->check.rounding[o];
    if (job->check.largest[o] <= NOTHING * rounding) return NOTHING * rounding / ADJOINT_DIRECT;
    return fmax(fmax(job->check.largest[o], cst_slope_size(job, i, job->check.adjoint.slope[k])),
                CST_VANISHES * job->scale[o]);
}

/* A kink comes first: the mean of its slopes may be the gradient. */
static cst_verdict compare(cst_gradient_job *job, int i, size_t k)
{
    cst_checked *c = &job->check;
    const double a = c->adjoint.slope[k], b = c->direct.slope[k], f = c->difference.slope[k],
                 apart = cst_slope_size(job, i, a - f);
    const size_t o = k / (size_t)job->n;
    if (cst_effect_refuses(
            c->adjoint.effect[k])) /* 0/0 of a backward sweep need not be one of a forward sweep */
        return c->direct.effect[k] == c->adjoint.effect[k] || c->adjoint.effect[k] == CST_NOT_FINITE
                   ? CST_REFUSED
                   : CST_DIFFERS;
    const double size = size_of(job, i, k),
                 room = 10 * cst_slope_size(job, i, c->difference.error[k]);
    const double whole = fmax(size, c->of_all[o]);
    c->off[k] = whole > 0 ? cst_slope_size(job, i, a - b) / whole : 0;
    c->off_difference[k] = size > 0 ? apart / size : apart;
    const double larger = fmax(cst_slope_size(job, i, a), cst_slope_size(job, i, b));
    if (methods_differ(c, k))
        return c->refused[o] && larger <= room ? CST_ROUGH
                                               : CST_DIFFERS; /* rounding of what is refused */
    if (isnan(f) && !cst_effect_refuses(c->difference.effect[k])) return CST_UNTRIED;
    if (cst_effect_refuses(c->difference.effect[k]))
        return CST_ROUGH; /* the simulation fails beside this value */
    const int agrees = confirms(job, i, k, size, room),
              small = gap_of(job, i, k, size) <= 10 * DIFFERENCE * size;
    if (at_kink(job, i, k, size) && !(agrees && small)) return CST_AT_KINK;
    if (agrees) return CST_AGREES;
    return apart <= room ? CST_ROUGH : CST_DIFFERS;
}

/* The largest influence. Numbers that are 0 have one too: where only these act, the rest is
 * rounding of theirs. */
static double most(const cst_gradient_job *job, int n, const int *which, const double *slope)
{
    double largest = 0;
    for (int i = 0; i < n; i++) {
        double r = cst_leaf_influence(job, which ? which[i] : i, slope[i]);
        if (r > largest) largest = r; /* NaN is not larger */
    }
    return largest;
}

void cst_compare_all(cst_gradient_job *job, const cst_slopes *all_numbers)
{
    cst_checked *c = &job->check;
    cst_arena *a = job->s->arena;
    size_t n = (size_t)job->n, nobj = (size_t)job->s->model->objective.n, all = nobj * n + 1;
    c->verdict = cst_new(a, cst_verdict, all);
    c->off = cst_new(a, double, all), c->off_difference = cst_new(a, double, all);
    c->refused = cst_new(a, unsigned char, nobj + 1);
    c->largest = cst_new(a, double, nobj + 1), c->of_all = cst_new(a, double, nobj + 1);
    for (size_t o = 0; o < nobj; o++) {
        c->largest[o] = most(job, job->n, job->which, c->adjoint.slope + o * n);
        c->of_all[o] =
            most(job, all_numbers->n, NULL, all_numbers->slope + o * (size_t)all_numbers->n);
        for (size_t i = 0; i < n; i++)
            c->refused[o] |= (unsigned char)cst_effect_refuses(c->adjoint.effect[o * n + i]);
        for (size_t i = 0; i < n; i++) c->verdict[o * n + i] = compare(job, (int)i, o * n + i);
    }
}

/* ---- more of them ---- */

typedef struct doubt { /* of one slope: what differences have said so far */
    double last, room;
    double gap, width,
        most; /* between the two sides, and the width at which it was seen last; the largest */
    int stays,
        alike; /* the gap does not shrink; two widths agree with each other, against the slope */
    int confirmed; /* one agreed with the slope */
    int known; /* an accurate one contradicted the slope: only an accurate one can confirm it now */
} doubt;

static int doubtful(const cst_checked *c, size_t k, cst_verdict v)
{
    return v == CST_AT_KINK ||
           (v == CST_DIFFERS && !cst_effect_refuses(c->adjoint.effect[k]) &&
            !methods_differ(c, k)) ||
           (v == CST_ROUGH && !cst_effect_refuses(c->difference.effect[k]));
}

/* Numbers with a slope of the verdict v, or of a doubtful one (-1): n of them in leaf, and their
 * places in at */
static int gather(const cst_gradient_job *job, int v, int *leaf, int *at)
{
    const cst_checked *c = &job->check;
    int n = 0, nobj = job->s->model->objective.n;
    for (int i = 0; i < job->n; i++) {
        int any = 0;
        for (int o = 0; o < nobj; o++) {
            size_t k = (size_t)o * (size_t)job->n + (size_t)i;
            any |= v < 0 ? doubtful(c, k, c->verdict[k]) : (int)c->verdict[k] == v;
        }
        if (any) leaf[n] = job->which[i], at[n++] = i;
    }
    return n;
}

static void swap(cst_slopes *x, size_t k, cst_slopes *y, size_t from)
{
    double *const a[] = {x->slope, x->error, x->below, x->above}, *const b[] = {y->slope, y->error,
                                                                                y->below, y->above};
    for (int i = 0; i < 4; i++) {
        double t = a[i][k];
        a[i][k] = b[i][from], b[i][from] = t;
    }
    cst_effect t = x->effect[k];
    x->effect[k] = y->effect[from], y->effect[from] = t;
}

/* Slope k once more, by the difference in d over a width: a verdict that it confirms, or what it
 * adds to the doubts. Once a gap has stayed there is one, whatever narrower differences are able to
 * see. */
static void look_again(cst_gradient_job *job, int i, size_t k, cst_slopes *d, size_t from,
                       double width, doubt *in)
{
    cst_checked *c = &job->check;
    if (!doubtful(c, k, c->verdict[k]) || in->stays) return;
    in->known |= c->verdict[k] == CST_DIFFERS &&
                 knows_itself(job, i, k, 10 * cst_slope_size(job, i, c->difference.error[k]));
    swap(&c->difference, k, d, from);
    const double f = c->difference.slope[k],
                 room = 10 * cst_slope_size(job, i, c->difference.error[k]);
    const double size = size_of(job, i, k);
    cst_verdict v = compare(job, i, k);
    if (v == CST_AT_KINK) { /* this one is shown */
        double gap = gap_of(job, i, k, size);
        in->most = fmax(in->most, gap);
        in->stays |= in->gap > 0 && gap >= fmax(STAYS * in->gap, LEFT * in->most);
        in->gap = gap, in->width = width, in->confirmed |= confirms(job, i, k, size, room);
        return;
    }
    const int known = knows_itself(job, i, k, room);
    if (v == CST_AGREES && (known || !in->known)) {
        c->verdict[k] = v;
        return;
    }
    const double apart = cst_slope_size(job, i, f - c->adjoint.slope[k]), own = own_size(job, i, k);
    const int against = in->known ? apart > room && room <= VOICE * own
                                  : v == CST_DIFFERS && room <= USELESS * size;
    if (against) {
        in->alike |=
            in->room > 0 && cst_slope_size(job, i, f - in->last) <=
                                fmax(room + in->room, DIFFERENCE * (in->known ? own : size));
        in->last = f, in->room = fmax(room, 1e-300);
    }
    swap(&c->difference, k, d, from); /* the first one is shown */
    compare(job, i, k);
}

/* Number i of a run with shorter steps: do the slopes of its kinks come together, and the gradient
 * with them? */
static void halve(cst_gradient_job *job, cst_run *half, int i, const doubt *doubts, cst_diag *quiet)
{
    cst_checked *c = &job->check;
    const int nobj = job->s->model->objective.n;
    double *slope = cst_new(job->s->arena, double, nobj + 1);
    const cst_gradient *g = cst_run_gradient(half, NULL, CST_ADJOINT, 1, &job->which[i], quiet);
    if (!g) return;
    memcpy(slope, g->slope, sizeof *slope * (size_t)nobj);
    for (int o = 0; o < nobj; o++) {
        const size_t k = (size_t)o * (size_t)job->n + (size_t)i;
        if (c->verdict[k] != CST_AT_KINK) continue;
        const double below = c->difference.below[k], above = c->difference.above[k],
                     gap = fabs(above - below);
        const double off = outside(job, i, c->adjoint.slope[k], below, above),
                     enough = BETWEEN * cst_slope_size(job, i, gap);
        int together = 0, follows = 0;
        for (double width = doubts[k].width * NARROWER; width > NARROWEST && !(together && follows);
             width /= NARROWER) {
            half->options.width = width;
            g = cst_run_gradient(half, NULL, CST_DIFFERENCE, 1, &job->which[i], quiet);
            if (g && isnan(g->above[o] - g->below[o]))
                continue; /* its events are elsewhere: one is inside of the width */
            together = g && fabs(g->above[o] - g->below[o]) <= TOGETHER * gap;
            double most = fmax(TOGETHER * off, enough);
            if (g && g->above[o] == g->below[o]) /* not seen apart */
                most = fmax(most, cst_slope_size(job, i,
                                                 fmax(TOGETHER / 2 * gap, fmin(g->error[o], gap))));
            follows = g && outside(job, i, slope[o], g->below[o], g->above[o]) <= most;
            if (width <= doubts[k].width)
                break; /* narrower ones may not see what this one has seen */
        }
        if (together && follows) c->verdict[k] = CST_AT_STEP;
    }
}

/* What is left is a kink, or beside one. */
static void settle(cst_gradient_job *job, const doubt *doubts)
{
    cst_checked *c = &job->check;
    for (int o = 0; o < job->s->model->objective.n; o++)
        for (int i = 0; i < job->n; i++) {
            const size_t k = (size_t)o * (size_t)job->n + (size_t)i;
            if (c->verdict[k] != CST_AT_KINK) continue;
            const double below = c->difference.below[k], above = c->difference.above[k],
                         gap = cst_slope_size(job, i, above - below);
            const double off = outside(job, i, c->adjoint.slope[k], below, above);
            if (off > BETWEEN * gap)
                c->verdict[k] = doubts[k].alike || off > APART * gap ? CST_DIFFERS : CST_ROUGH;
        }
}

/* Half and a quarter: where the instants of events fall in their steps may hide it once. */
static void halve_all(cst_gradient_job *job, const doubt *doubts)
{
    cst_session *s = job->s;
    int *leaf = cst_new(s->arena, int, job->n + 1), *at = cst_new(s->arena, int, job->n + 1), n = 0;
    cst_diag *quiet = cst_new(s->arena, cst_diag, 1);
    for (int part = 2; part <= 4 && (n = gather(job, CST_AT_KINK, leaf, at)) > 0; part *= 2) {
        cst_options options = s->run->options;
        options.step /= part;
        cst_run *half = cst_run_new(s->model, &options, quiet);
        for (int j = 0; half && j < n; j++) halve(job, half, at[j], doubts, quiet);
        cst_run_free(half);
    }
    settle(job, doubts);
}

cst_status cst_compare_again(cst_gradient_job *job)
{
    cst_session *s = job->s;
    cst_checked *c = &job->check;
    const int nobj = s->model->objective.n;
    const size_t all = (size_t)nobj * (size_t)job->n;
    int *leaf = cst_new(s->arena, int, job->n + 1), *at = cst_new(s->arena, int, job->n + 1), n = 0;
    doubt *doubts = cst_new(s->arena, doubt, all + 1);
    double width = WIDEST;
    for (int w = 0; w < WIDTHS && (n = gather(job, -1, leaf, at)) > 0; w++, width /= NARROWER) {
        cst_slopes d;
        s->run->options.width = width;
        cst_status ok = cst_slopes_get(job, CST_DIFFERENCE, n, leaf, &d);
        s->run->options.width = 0;
        if (ok != CST_OK) return ok;
        for (int o = 0; o < nobj; o++)
            for (int j = 0; j < n; j++) {
                size_t k = (size_t)o * (size_t)job->n + (size_t)at[j];
                look_again(job, at[j], k, &d, (size_t)o * (size_t)n + (size_t)j, width, &doubts[k]);
            }
    }
    for (size_t k = 0; k < all; k++) {
        cst_verdict *v = &c->verdict[k];
        if (!doubtful(c, k, *v)) continue;
        const doubt *in = &doubts[k];
        *v = in->stays       ? CST_AT_KINK
             : in->confirmed ? CST_AGREES
             : in->alike     ? CST_DIFFERS
                             : CST_ROUGH;
    }
    halve_all(job, doubts);
    for (size_t k = 0; k < all; k++) {
        c->kinks += c->verdict[k] == CST_AT_KINK, c->of_steps += c->verdict[k] == CST_AT_STEP;
        c->differing += c->verdict[k] == CST_AT_KINK ||
                        c->verdict[k] == CST_DIFFERS; /* at a kink there is no derivative */
    }
    return CST_OK;
}
