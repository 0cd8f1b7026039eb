/* SPDX-License-Identifier: MIT
 *
 * Finite differences, for checking only: forward or central ones on request, otherwise central ones
 * with widths h, h/2, h/4 and two extrapolations (Romberg). The error estimate is the change that
 * the last extrapolation made, plus rounding.
 *
 * Extrapolation presumes that halving h divides the error by 4. Where the three differences d0, d1,
 * d2 do not behave so, h is too wide for the function (or too narrow for rounding): the last one is
 * taken, and its changes are the error. As long as that is more than rounding would be with a
 * smaller h, smaller ones are tried, and the best is kept.
 *
 * A difference also presumes one function over its whole width. Where two events change their
 * order, an event passes a point of the grid or a peak moves to another step, another function
 * takes over, with another slope or a jump of the size of rounding: the sequence of steps and
 * events (r->pattern) shows it. h is then made smaller, until both ends have the sequence of the
 * middle. With two events at one instant no h has it; it is then enough that each side keeps the
 * sequence that it has, for then each side has a slope of its own. Two events may also be so near
 * to each other that a small h has the sequence and wider ones look like an instant: the smallest
 * are tried first. But where events coincide in the middle, a small h may only keep them within the
 * rounding of an instant, where they are taken as one: a width that has parted them, so that
 * another number of events coincides, is the right one. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "sensitivity/methods.h"
#include "sensitivity/scaling.h"

enum {
    ABOVE,
    BELOW,
    SIDES,
    LEVELS = 3,
    WIDTHS = 6,
    SIDED = 4
};                    /* SIDED: the last width of one-sided slopes, which have more rounding */
#define NARROWER 16.0 /* of two widths */
#define WIDEST 1e-3   /* of the number */
#define NOUGHT 1e-11  /* of what numbers of its dimension are: rounding of 0 */
#define SETTLED 1e-7  /* of the slope: an error that needs no smaller h */

typedef struct estimate {
    double slope, error;
} estimate;

typedef struct middle_run {
    unsigned long long pattern;
    long coincide;
} middle_run; /* coincide: events that are at one instant */

typedef struct trial {        /* around one number */
    double *f[SIDES][LEVELS]; /* (objectives) */
    unsigned long long pattern[SIDES][LEVELS];
    long coincide[SIDES][LEVELS];
    estimate *at;  /* (widths x objectives) */
    double *scale; /* (leaves) |x|, or 1 where that is 0 or rounding of 0 */
    long *simulations;
} trial;

/* Half width of the widest difference: a power of two near a part of the number's scale */
static double width(double scale, double part) { return exp2(round(log2(part * scale))); }

static trial *trial_new(cst_arena *a, const cst_model *m, const double *x)
{
    const int nobj = m->objective.n;
    const cst_dimensions dims = *m->dimensions;
    const double *size = cst_dimensions_sizes(&dims, a, m, NULL);
    trial *t = cst_new(a, trial, 1);
    t->scale = cst_new(a, double, m->leaf.n + 1);
    for (int i = 0; i < m->leaf.n; i++)
        t->scale[i] = x[i] == 0 || fabs(x[i]) < NOUGHT * size[i] ? 1 : fabs(x[i]);
    t->at = cst_new(a, estimate, WIDTHS * nobj + 1);
    for (int side = 0; side < SIDES; side++)
        for (int k = 0; k < LEVELS; k++) t->f[side][k] = cst_new(a, double, nobj + 1);
    return t;
}

/* Both sides at x -+ h/2^level; 0: a simulation fails */
static int run_level(cst_run *r, double *values, int leaf, double h, int level, trial *t,
                     cst_diag *quiet)
{
    double x = values[leaf];
    cst_status ok = CST_OK;
    for (int side = 0; side < SIDES && ok == CST_OK; side++) {
        memset(quiet, 0, sizeof *quiet);
        values[leaf] = x + (side == ABOVE ? 1 : -1) * ldexp(h, -level);
        ok = cst_run_forward(r, values, 0, NULL, NULL, quiet);
        ++*t->simulations;
        memcpy(t->f[side][level], r->result, sizeof(double) * (size_t)r->m->objective.n);
        t->pattern[side][level] = r->pattern, t->coincide[side][level] = r->events->coinciding;
    }
    values[leaf] = x;
    return ok == CST_OK;
}

/* At this level a side has parted events that coincide in the middle */
static int parts(const trial *t, int level, middle_run middle)
{
    return t->coincide[ABOVE][level] != middle.coincide ||
           t->coincide[BELOW][level] != middle.coincide;
}

/* Levels from `first` on; h, or 0: a simulation fails */
static double run_levels(cst_run *r, double *values, int leaf, double h, int first, trial *t,
                         cst_diag *quiet)
{
    for (int k = first; k < LEVELS; k++)
        if (!run_level(r, values, leaf, h, k, t, quiet)) return 0;
    return h;
}

/* The width at which both ends have the sequence of the middle, else one at which they keep their
 * own; 0: a simulation fails, whatever the width */
static double run_all(cst_run *r, double *values, int leaf, middle_run middle, trial *t,
                      cst_diag *quiet)
{
    double h = width(t->scale[leaf], WIDEST), own = 0;
    unsigned long long wider[SIDES] = {0};
    int kept = 0,
        parted = 0; /* both sides have kept their own over two widths; a width has parted events */
    for (int n = 1; n <= WIDTHS; n++, h /= NARROWER) {
        if (!run_level(r, values, leaf, h, 0, t, quiet)) continue;
        const unsigned long long above = t->pattern[ABOVE][0], below = t->pattern[BELOW][0];
        const int same = above == middle.pattern && below == middle.pattern;
        if (same && !parted) return run_levels(r, values, leaf, h, 1, t, quiet);
        if (same) break;
        const int keep = above == wider[ABOVE] && below == wider[BELOW] && n <= SIDED;
        if ((keep && !(middle.coincide && kept)) || own == 0) own = h;
        kept |= keep, parted |= parts(t, 0, middle);
        wider[ABOVE] = above, wider[BELOW] = below;
    }
    return own > 0 ? run_levels(r, values, leaf, own, 0, t, quiet) : 0;
}

static int uniform(const unsigned long long pattern[LEVELS])
{
    return pattern[0] == pattern[1] && pattern[1] == pattern[2];
}

static double extrapolate(double d0, double d1, double d2, double *error)
{
    double e0 = d1 + (d1 - d0) / 3, e1 = d2 + (d2 - d1) / 3, best = e1 + (e1 - e0) / 15;
    int settled = fabs((d1 - d0) - 4 * (d2 - d1)) <= fabs(d2 - d1);
    *error = settled ? fabs(best - e1) : fabs(d2 - d1) + fabs(best - d2);
    return settled ? best : d2;
}

static double central(const trial *t, int o, double h, double *error)
{
    double d[LEVELS];
    for (int k = 0; k < LEVELS; k++)
        d[k] = (t->f[ABOVE][k][o] - t->f[BELOW][k][o]) / (2 * ldexp(h, -k));
    double slope = extrapolate(d[0], d[1], d[2], error);
    if (!uniform(t->pattern[ABOVE]) || !uniform(t->pattern[BELOW])) *error = INFINITY;
    return slope;
}

/* e: the estimates of each objective from the trial of half width h. 1: smaller widths may be
 * better for one of them. Slopes that are negligible against psi/x do not ask for them: their
 * differences are noise. */
static int estimate_all(const cst_run *r, const trial *t, double h, double x, const double *middle,
                        estimate *e)
{
    int open = 0;
    for (int o = 0; o < r->m->objective.n; o++) {
        double error, rounding = 8 * DBL_EPSILON * fabs(middle[o]) / ldexp(h, -(LEVELS - 1)),
                      slope = central(t, o, h, &error);
        open |= error > fmax(SETTLED * fmax(fabs(slope), fabs(middle[o] / (x != 0 ? x : 1))),
                             NARROWER * rounding);
        e[o] = (estimate){.slope = slope, .error = error + rounding};
    }
    return open;
}

/* The best of n estimates of one objective, nobj apart. Errors are estimates, too, and small by
 * chance where there is only noise: a smaller one is believed if it belongs to a slope that a wider
 * difference has said before. */
static estimate best_of(int n, int nobj, const estimate *e)
{
    estimate best = e[0];
    for (int w = 1; w < n; w++) {
        const estimate *now = &e[w * nobj], *before = &e[(w - 1) * nobj];
        int finer = fabs(now->slope - best.slope) <= 3 * best.error,
            again = fabs(now->slope - before->slope) <= 10 * before->error;
        if (now->error < best.error && (finer || (again && before->error < best.error)))
            best = *now;
    }
    return best;
}

/* 0: a simulation fails */
static int extrapolated(cst_run *r, double *values, int i, int leaf, int nleaf, middle_run run,
                        const double *middle, trial *t, const cst_differences *to, cst_diag *quiet)
{
    const int nobj = r->m->objective.n;
    double h = run_all(r, values, leaf, run, t, quiet);
    const int parted = h > 0 && parts(t, 0, run);
    int n = 0;
    /* its narrowest difference is so near that events are taken as one again: all those of this one
     * are at least as wide as h */
    if (parted && !parts(t, LEVELS - 1, run))
        h = run_levels(r, values, leaf, ldexp(h, LEVELS - 1), 0, t, quiet);
    while (h > 0) {
        if (n && parted && !parts(t, LEVELS - 1, run)) break;
        const int open = estimate_all(r, t, h, values[leaf], middle, t->at + n++ * nobj);
        if (!open || n == WIDTHS) break;
        h = run_levels(r, values, leaf, h / NARROWER, 0, t, quiet);
    }
    for (int o = 0; n && o < nobj; o++) {
        const estimate e = best_of(n, nobj, t->at + o);
        to->slope[o * nleaf + i] = e.slope;
        to->error[o * nleaf + i] = e.error;
    }
    return n > 0;
}

/* ---- without extrapolation ---- */

enum { PLAIN_WIDTHS = 10 };
#define PLAIN_FIRST 1e-2 /* of the number, */
#define PLAIN_NARROWER 8.0

/* (f(x + h) - f(x))/h, or (f(x + h) - f(x - h))/(2 h), of all objectives; 0: a simulation fails */
static int plain(cst_run *r, double *values, int leaf, double h, int central, const double *middle,
                 double *slope, cst_diag *quiet)
{
    int n = r->m->objective.n;
    double x = values[leaf], ends[2] = {x + h, central ? x - h : x};
    for (int side = 0; side < 1 + central; side++) {
        memset(quiet, 0, sizeof *quiet);
        values[leaf] = ends[side];
        cst_status ok = cst_run_forward(r, values, 0, NULL, NULL, quiet);
        values[leaf] = x;
        if (ok != CST_OK) return 0;
        for (int o = 0; o < n; o++) slope[o] = side ? slope[o] - r->result[o] : r->result[o];
    }
    for (int o = 0; o < n; o++)
        slope[o] = (slope[o] - (central ? 0 : middle[o])) / (ends[0] - ends[1]);
    return 1;
}

/* Of a given width, with half of it to see the error; else, for each objective, of the width that
 * the next narrower one changes least: wider ones have the higher terms of the function, narrower
 * ones its rounding. 0: a simulation fails */
static int plain_slopes(cst_run *r, double *values, int i, int leaf, int nleaf, double scale,
                        const double *middle, const cst_differences *to, double *scratch,
                        cst_diag *quiet)
{
    int n = r->m->objective.n, central = strcmp(r->options.difference, "central") == 0,
        given = r->options.width > 0;
    double h = scale * (given ? r->options.width : PLAIN_FIRST);
    double narrower = given ? 2 : PLAIN_NARROWER, left = given ? (central ? 4.0 / 3 : 2) : 1,
           *d[2] = {scratch, scratch + n};
    *to->simulations += 1 + central;
    if (!plain(r, values, leaf, h, central, middle, d[0], quiet)) return 0;
    for (int o = 0; o < n; o++) {
        to->error[o * nleaf + i] = INFINITY;
        to->slope[o * nleaf + i] = NAN; /* no width has a finite one */
    }
    for (int k = 1; k < (given ? 2 : PLAIN_WIDTHS); k++) {
        h /= narrower;
        *to->simulations += 1 + central;
        if (!plain(r, values, leaf, h, central, middle, d[1], quiet)) return 0;
        for (int o = 0; o < n; o++) {
            double error = left * fabs(d[1][o] - d[0][o]) + 8 * DBL_EPSILON * fabs(middle[o]) / h,
                   *least = &to->error[o * nleaf + i];
            if (error < *least) *least = error, to->slope[o * nleaf + i] = d[0][o];
        }
        double *swap = d[0];
        d[0] = d[1], d[1] = swap;
    }
    return 1;
}

cst_status cst_gradient_difference(cst_run *r, const double *values, int nleaf, const int *leaf,
                                   const cst_differences *to, cst_diag *d)
{
    const cst_model *m = r->m;
    cst_arena a = {0};
    if (CST_ARENA_GUARD(&a)) {
        cst_arena_free(&a);
        return cst_error(d, CST_MEMORY, (cst_where){.file = m->file}, "out of memory");
    }
    int all = cst_graph_leaves(m->graph), nobj = m->objective.n;
    double *x = cst_new(&a, double, all + 1), *middle = cst_new(&a, double, nobj + 1);
    for (int i = 0; i < all; i++) x[i] = values ? values[i] : cst_leaf_nominal(m->graph, i);
    trial *t = trial_new(&a, m, x);
    t->simulations = to->simulations;
    memcpy(middle, r->result, sizeof *middle * (size_t)nobj);
    const middle_run run = {r->pattern, r->events->coinciding};
    cst_diag *quiet = cst_new(&a, cst_diag, 1);
    const char *kind = r->options.difference;
    int simple = kind && strcmp(kind, "extrapolated") != 0;
    double *scratch = cst_new(&a, double, 2 * nobj + 1);
    r->frozen = 1;
    for (int i = 0; simple && i < nleaf; i++)
        to->failed[i] =
            !plain_slopes(r, x, i, leaf[i], nleaf, t->scale[leaf[i]], middle, to, scratch, quiet);
    for (int i = 0; !simple && i < nleaf; i++)
        to->failed[i] = !extrapolated(r, x, i, leaf[i], nleaf, run, middle, t, to, quiet);
    r->frozen = 0;
    cst_status ok = cst_run_forward(r, values, 1, NULL, NULL, d); /* leave the run as it was */
    cst_arena_free(&a);
    return ok;
}
