/* SPDX-License-Identifier: MIT */
#include "integrator/samples.h"

#include <math.h>

cst_samples *cst_samples_new(cst_arena *a, const cst_model *m, int n, const cst_sample *at)
{
    cst_samples *s = cst_new(a, cst_samples, 1);
    s->n = n, s->at = at, s->ncomponent = m->component.n;
    s->y = cst_new(a, double, n + 1), s->weight = cst_new(a, double, n + 1),
    s->slope = cst_new(a, double, n + 1);
    s->state = cst_new(a, long, n + 1);
    s->before = cst_new(a, double, m->component.n + 1);
    return s;
}

void cst_samples_begin(cst_samples *s)
{
    s->met = 0;
    for (int i = 0; i < s->n; i++) s->y[i] = NAN, s->state[i] = -1;
}

void cst_samples_state(cst_samples *s, const cst_output *out, double t, double t_before, int slopes,
                       long index)
{
    for (; s->met < s->n && s->at[s->met].time <= t; s->met++) {
        int i = s->met, c = s->at[i].measure;
        double g1 = cst_output_value(out, c), g0 = s->before[c], h = t - t_before;
        int first = index == 0 || !(h > 0);
        double w = first ? 1 : (s->at[i].time - t_before) / h;
        s->state[i] = index, s->weight[i] = w,
        s->slope[i] = first    ? 0
                      : slopes ? cst_output_change(out, c)
                               : (g1 - g0) / h;
        s->y[i] = first ? g1 : (1 - w) * g0 + w * g1;
    }
    for (int c = 0; c < s->ncomponent; c++) s->before[c] = cst_output_value(out, c);
}

/* The first sample whose later state is n or after */
static int from(const cst_samples *s, long n)
{
    int lo = 0, hi = s->n;
    while (lo < hi) {
        int mid = lo + (hi - lo) / 2;
        if (s->state[mid] < n)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

void cst_samples_range(const cst_samples *s, long n, int *first, int *end)
{
    *first = from(s, n), *end = from(s, n + 2);
}

double cst_samples_share(const cst_samples *s, int i, long n)
{
    return s->state[i] == n ? s->weight[i] : 1 - s->weight[i];
}
