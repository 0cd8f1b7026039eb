/* SPDX-License-Identifier: MIT
 *
 * Sizes of variables, objective and constraints. None depends on how the problem is written: not on
 * the limits, the units or an offset of a function. The optimisers see
 *
 *     x_i = origin_i + scale_i y_i,   F = f/f_size,   C_j = c_j/c_size_j
 *
 *     scale_i    that of the problem; after the first round not above |x_i|, not below 1e-4 of the
 * problem's c_size_j   sum_i |dc_j/dx_i| scale_i, at least 1e-4 of the largest of |c_j| and its
 * limits f_size     max_i |df/dx_i| scale_i, or the curvature d(df).dx/|dx/scale|^2 over a step
 * down the gradient
 *
 * A violation is thus the change of the variables that repairs it, and a small gradient is a short
 * way to the minimum, both in sizes of the variables. Sizes are constant during a round and renewed
 * at its best point. */
#include "optimise/search.h"

#include <math.h>
#include <string.h>

#define SHRINK 1e-4 /* the smallest scale of a variable, of that of the problem */
#define FLOOR 1e-4  /* of a function's value */
#define NEAREST                                                                                    \
    1e-4 /* steps that are shorter say nothing about curvature: across a kink it would seem as     \
            large as they are short */
#define FARTHEST 10
#define SAME 1e-12 /* rows that differ by less are copies */

static double gradient_size(const cst_search *s, const double *slope, int sum)
{
    double size = 0;
    for (int i = 0; i < s->n; i++) {
        const double part = fabs(slope[i] * s->scale[i]);
        size = sum ? size + part : fmax(size, part);
    }
    return size;
}

static double constraint_size(const cst_search *s, const double *c, const double *dc, int j)
{
    const double lo = s->p->c_lower[j], hi = s->p->c_upper[j];
    double value = fabs(c[j]);
    if (isfinite(lo)) value = fmax(value, fabs(lo));
    if (isfinite(hi)) value = fmax(value, fabs(hi));
    const double size = fmax(gradient_size(s, dc + j * s->n, 1), FLOOR * value);
    return size > 0 ? size : 1;
}

static double beyond_limit(const cst_search *s, const double *c, int j)
{
    return fmax(s->p->c_lower[j] - c[j], c[j] - s->p->c_upper[j]);
}

double cst_search_excess_of(const cst_search *s, const double *c, int j)
{
    return fmax(beyond_limit(s, c, j) / s->c_size[j], 0);
}

double cst_search_violation_of(const cst_search *s, const double *c, const double *dc, int j)
{
    const double beyond = beyond_limit(s, c, j);
    return beyond > 0 ? beyond / constraint_size(s, c, dc, j) : 0;
}

/* ---- curvature ---- */

void cst_sizes_pair(cst_search *s)
{
    double far = 0;
    for (int i = 0; i < s->n; i++) far = fmax(far, fabs(s->x[i] - s->best.x[i]) / s->scale[i]);
    if (far < NEAREST) return;
    double *pair = s->best.pair + (size_t)(s->best.pairs++ % CST_PAIRS) * 2 * (size_t)s->n;
    for (int i = 0; i < s->n; i++) {
        pair[i] = s->x[i] - s->best.x[i];
        pair[s->n + i] = s->df[i] - s->best.df[i];
    }
}

/* Steps that are long by the sizes of now tell of places far away. 0: no step tells */
double cst_sizes_curvature(const cst_search *s)
{
    double most = 0;
    for (int k = 0; k < s->best.pairs && k < CST_PAIRS; k++) {
        const double *dx = s->best.pair + (size_t)k * 2 * (size_t)s->n, *ddf = dx + s->n;
        double step = 0, square = 0, change = 0;
        for (int i = 0; i < s->n; i++) {
            step = fmax(step, fabs(dx[i]) / s->scale[i]);
            square += dx[i] / s->scale[i] * (dx[i] / s->scale[i]);
            change += ddf[i] * dx[i];
        }
        if (step > 0 && step <= FARTHEST) most = fmax(most, fabs(change) / square);
    }
    return most;
}

/* ---- rows ---- */

/* Row `count` of q: the gradient of constraint j in scaled quantities and its residual, less their
 * parts along the rows before, whose gradients are orthonormal. Returns the length of what is left,
 * of 1. */
static double orthogonalise(const cst_search *s, int j, int count, double *q)
{
    const int n = s->n, width = n + 1;
    double *own = q + (size_t)count * (size_t)width, before = 0, after = 0;
    for (int i = 0; i < n; i++)
        own[i] = s->dc[j * n + i] * s->scale[i] / s->c_size[j], before += own[i] * own[i];
    own[n] = (s->c[j] - s->p->c_lower[j]) / s->c_size[j];
    for (int k = 0; k < 2 * count; k++) { /* twice: the first pass leaves rounding */
        const double *other = q + (size_t)(k % count) * (size_t)width;
        double dot = 0;
        for (int i = 0; i < n; i++) dot += own[i] * other[i];
        for (int i = 0; i < width; i++) own[i] -= dot * other[i];
    }
    for (int i = 0; i < n; i++) after += own[i] * own[i];
    return before > 0 ? sqrt(after / before) : 1;
}

/* An equality whose gradient depends on those of the equalities before it. Its residual must depend
 * on theirs too: otherwise the constraints contradict each other, and none is left out. */
static int dependent(const cst_search *s, int j, int *count, double *q)
{
    const int width = s->n + 1;
    double *own = q + (size_t)*count * (size_t)width, length = 0;
    if (orthogonalise(s, j, *count, q) <= 1e-9) return fabs(own[s->n]) <= s->o.feasible;
    for (int i = 0; i < s->n; i++) length += own[i] * own[i];
    for (int i = 0; i < width && length > 0; i++) own[i] /= sqrt(length);
    *count += length > 0;
    return 0;
}

static int copy_of(const cst_search *s, int j, int k)
{
    if (s->p->c_lower[j] != s->p->c_lower[k] || s->p->c_upper[j] != s->p->c_upper[k]) return 0;
    if (fabs(s->c[j] - s->c[k]) > SAME * s->c_size[j]) return 0;
    for (int i = 0; i < s->n; i++)
        if (fabs(s->dc[j * s->n + i] - s->dc[k * s->n + i]) * s->scale[i] > SAME * s->c_size[j])
            return 0;
    return 1;
}

static int is_copy(const cst_search *s, int j)
{
    for (int k = 0; k < j; k++)
        if (!s->redundant[k] && copy_of(s, j, k)) return 1;
    return 0;
}

/* The rows that the optimiser sees. One that was left out before and is violated now does not
 * follow from the others. */
static void choose_rows(cst_search *s)
{
    double *q = cst_new(s->arena, double, (size_t)(s->m + 1) * (size_t)(s->n + 1));
    int count = 0;
    s->rows = 0;
    for (int j = 0; j < s->m; j++) {
        const int equal = s->p->c_lower[j] == s->p->c_upper[j];
        s->needed[j] |=
            s->redundant[j] && cst_search_violation_of(s, s->c, s->dc, j) > s->o.feasible;
        s->redundant[j] = 0;
        if (!s->needed[j]) s->redundant[j] = equal ? dependent(s, j, &count, q) : is_copy(s, j);
        if (s->redundant[j]) continue;
        s->C_lower[s->rows] = s->p->c_lower[j] / s->c_size[j];
        s->C_upper[s->rows] = s->p->c_upper[j] / s->c_size[j];
        s->row[s->rows++] = j;
    }
}

/* ---- all sizes ---- */

static void place_origin(cst_search *s, const double *x)
{
    memcpy(s->origin, x, sizeof *x * (size_t)s->n);
    for (int i = 0; i < s->n; i++) {
        s->lower[i] = (s->p->lower[i] - x[i]) / s->scale[i];
        s->upper[i] = (s->p->upper[i] - x[i]) / s->scale[i];
        s->start[i] = 0;
    }
}

void cst_sizes_begin(cst_search *s, const double *x)
{
    memcpy(s->scale, s->p->scale, sizeof *s->scale * (size_t)s->n);
    place_origin(s, x);
    if (s->m) memset(s->redundant, 0, sizeof *s->redundant * (size_t)s->m);
    if (s->m) memset(s->needed, 0, sizeof *s->needed * (size_t)s->m);
    s->sized = s->known = 0;
}

void cst_sizes_find(cst_search *s)
{
    s->f_size = fmax(gradient_size(s, s->df, 0), cst_sizes_curvature(s));
    if (!(s->f_size > 0)) s->f_size = fabs(s->f);
    if (!(s->f_size > 0)) s->f_size = 1;
    for (int j = 0; j < s->m; j++) s->c_size[j] = constraint_size(s, s->c, s->dc, j);
    choose_rows(s);
    s->sized = 1;
}

void cst_sizes_here(cst_search *s)
{
    cst_best *b = &s->best;
    cst_sizes_find(s);
    cst_search_scale(s);
    s->worst_F = s->F;
    b->excess = 0;
    for (int j = 0; j < s->m; j++) b->excess = fmax(b->excess, cst_search_excess_of(s, b->c, j));
}

/* At the best point, which becomes the origin and the start. Returns the largest factor by which a
 * scale has changed. */
static double renew(cst_search *s, int shrink)
{
    cst_best *b = &s->best;
    const size_t n = sizeof(double) * (size_t)s->n, m = sizeof(double) * (size_t)s->m;
    double changed = 1;
    for (int i = 0; i < s->n; i++) {
        const double old = s->scale[i], own = s->p->scale[i];
        s->scale[i] = shrink ? fmin(own, fmax(fabs(b->x[i]), SHRINK * own)) : own;
        changed = fmax(changed, fmax(old / s->scale[i], s->scale[i] / old));
    }
    place_origin(s, b->x);
    s->f = b->f;
    memset(b->y, 0, n);
    memset(s->y, 0, n);
    memcpy(s->x, b->x, n);
    memcpy(s->df, b->df, n);
    if (s->m) memcpy(s->c, b->c, m), memcpy(s->dc, b->dc, (size_t)s->m * n);
    cst_sizes_find(s);
    s->known = 1;
    s->in_a_row = 0;
    cst_search_scale(s);
    s->worst_F = s->F;
    memset(s->reported_y, 0, n);
    b->excess = b->violation = cst_search_violation(s, b->c, b->dc);
    return changed;
}

double cst_sizes_renew(cst_search *s) { return renew(s, 1); }
void cst_sizes_widen(cst_search *s) { renew(s, 0); }
