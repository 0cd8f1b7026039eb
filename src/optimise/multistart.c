/* SPDX-License-Identifier: MIT
 *
 * Several starts: the first is that of the problem, the others a Latin hypercube in the bounds (of
 * a variable without two bounds: its start plus or minus its scale). The sample depends on the seed
 * only. */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "optimise/search.h"

/* splitmix64 of Steele, Lea and Flood, to [0, 1) */
static double draw(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

/* sample (count x n), x: in each variable every one of `count` strips is hit once */
static void hypercube(const cst_search *s, int count, uint64_t *state, double *sample)
{
    for (int i = 0; i < s->n; i++) {
        const double x = s->p->start[i], size = s->p->scale[i], below = s->p->lower[i],
                     above = s->p->upper[i];
        const double lo = isfinite(below) ? below : fmin(above, x) - size;
        const double hi = isfinite(above) ? above : fmax(below, x) + size;
        for (int k = 0; k < count; k++) { /* a random place among those before */
            int other = (int)(draw(state) * (k + 1));
            sample[k * s->n + i] = sample[other * s->n + i];
            sample[other * s->n + i] = k;
        }
        for (int k = 0; k < count; k++)
            sample[k * s->n + i] = lo + (hi - lo) * (sample[k * s->n + i] + draw(state)) / count;
    }
}

/* How the search from this start has ended: the verdict is about the best of them. */
static void note(cst_search *s)
{
    s->best.outcome = s->outcome;
    s->best.reason = s->reason;
}

static void run(cst_search *s)
{
    const char *name = s->o.inner ? s->o.inner : s->m ? "slsqp" : "lbfgsb";
    const cst_optimiser *inner = cst_optimiser_find(name);
    if (!inner || inner->wraps || (s->m && !inner->constraints)) {
        s->status = cst_error(s->d, CST_USAGE, (cst_where){0},
                              "multistart: '%s' cannot be the inner method for this problem", name);
        cst_search_end(s, CST_BROKEN, "unknown inner method");
        return;
    }
    int count = s->o.starts - 1, alive = 1;
    uint64_t state = s->o.seed;
    double *sample = cst_new(s->arena, double, (size_t)(count > 0 ? count : 0) * (size_t)s->n + 1);
    if (count > 0) hypercube(s, count, &state, sample);
    cst_search_rounds(s, inner);
    note(s);
    for (int k = 0; k < count && (alive = cst_search_goes_on(s)); k++) {
        if (s->best.there && cst_search_better(s, &s->best, &s->champion))
            cst_search_swap(&s->best, &s->champion);
        s->best.there = 0;
        cst_sizes_begin(s, sample + k * s->n);
        cst_search_from(s, inner);
        note(s);
    }
    if (s->champion.there && (!s->best.there || !cst_search_better(s, &s->best, &s->champion)))
        cst_search_swap(&s->best, &s->champion);
    if (!alive || !cst_search_goes_on(s)) return;
    const int local = s->best.outcome == CST_CONVERGED;
    cst_search_end(s, s->best.outcome, local ? "all starts have ended" : s->best.reason);
}

const cst_optimiser cst_optimiser_multistart = {
    .name = "multistart",
    .summary = "starts an inner method from a seeded sample of the bounds",
    .constraints = 1,
    .wraps = 1,
    .samples = 1,
    .run = run,
};
