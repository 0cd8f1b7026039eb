/* SPDX-License-Identifier: MIT
 *
 * A stationary point may be a saddle point or a maximum. It is none of them if the Lagrangian
 *
 *     L = F - sum_a mu_a C_a
 *
 * curves upwards along all d with dC_a d = 0 for the active constraints a, and d_i = 0 for
 * variables at a bound. Its Hessian H is met in products only: with the projection P on these d,
 *
 *     P H d = P (dL(y + h d) - dL(y)) / h,
 *
 * one evaluation each. Conjugate gradients meet a direction p with p^T H p < 0 as soon as there is
 * one in the space of the products so far: with up to PRODUCTS variables, if there is one at all.
 * The step along it must then lower L. */
#include "optimise/search.h"

#include <math.h>
#include <string.h>

enum { PRODUCTS = 6, GROWTH = 4 };
#define STEP 1e-3  /* h, in scales of the variables */
#define WIDE 1e-2  /* step that must lower L if the curvature is negative */
#define DOWN -1e-3 /* of the largest curvature: what is above is taken as rounding */

typedef struct tangent {
    cst_search *s;
    int n, active;
    unsigned char *held;          /* (n) 1: at a bound, or near it */
    double *normal;               /* (active x n) orthonormal */
    double *multiplier, *dL, *at; /* (m), (n), (n) */
    double largest;               /* curvature met so far */
} tangent;

static double dot(int n, const double *a, const double *b)
{
    double sum = 0;
    for (int i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}

static void add(int n, double factor, const double *a, double *to)
{
    for (int i = 0; i < n; i++) to[i] += factor * a[i];
}

static void multiply(int n, double factor, double *a)
{
    for (int i = 0; i < n; i++) a[i] *= factor;
}

/* Twice: the first pass leaves rounding. */
static void project(const tangent *t, double *d)
{
    for (int i = 0; i < t->n; i++)
        if (t->held[i]) d[i] = 0;
    for (int k = 0; k < 2 * t->active; k++) {
        const double *normal = t->normal + (size_t)(k % t->active) * (size_t)t->n;
        add(t->n, -dot(t->n, normal, d), normal, d);
    }
}

/* dL from slopes in the units of the problem */
static void slope(const tangent *t, const double *df, const double *dc, double *dL)
{
    const cst_search *s = t->s;
    for (int i = 0; i < t->n; i++) {
        double sum = df[i];
        for (int j = 0; j < s->m; j++) sum -= t->multiplier[j] * dc[j * t->n + i];
        dL[i] = sum * s->scale[i] / s->f_size;
    }
}

static double lagrangian(const tangent *t, double f, const double *c)
{
    return (f - dot(t->s->m, t->multiplier, c)) / t->s->f_size;
}

static void find_normals(tangent *t)
{
    const cst_search *s = t->s;
    for (int j = 0; j < s->m; j++) {
        if (!cst_search_side(s, j)) continue;
        double *own = t->normal + (size_t)t->active * (size_t)t->n, size = 0;
        for (int i = 0; i < t->n; i++) {
            own[i] = s->best.dc[j * t->n + i] * s->scale[i];
            size += own[i] * own[i];
        }
        project(t, own);
        const double left = dot(t->n, own, own);
        if (!(left > 1e-20 * size)) continue;
        multiply(t->n, 1 / sqrt(left), own);
        t->active++;
    }
}

/* Evaluates at y + h d. 0: no value there */
static int evaluate(tangent *t, double h, const double *d)
{
    memcpy(t->at, t->s->start, sizeof *d * (size_t)t->n);
    add(t->n, h, d, t->at);
    return cst_search_eval(t->s, t->at) == CST_EVAL_OK;
}

static int product(tangent *t, const double *d, double *Hd)
{
    const cst_search *s = t->s;
    if (!evaluate(t, STEP, d)) return 0;
    slope(t, s->df, s->dc, Hd);
    add(t->n, -1, t->dL, Hd);
    multiply(t->n, 1 / STEP, Hd);
    project(t, Hd);
    t->largest = fmax(t->largest, sqrt(dot(t->n, Hd, Hd)));
    return 1;
}

/* p^T H p = 0: H p = b u vanishes too, or the least curvature in the plane of p and u,
 *
 *     c/2 - sqrt(c^2/4 + b^2),     c = u^T H u,
 *
 * is negative; u and Hu are scratch. */
static double tilt(tangent *t, const double *p, double *u, double *Hu, double *d)
{
    const double b = sqrt(dot(t->n, u, u));
    if (!(b > -DOWN * t->largest)) return 0;
    multiply(t->n, 1 / b, u);
    if (!product(t, u, Hu)) return 0;
    const double c = dot(t->n, u, Hu), least = c / 2 - hypot(c / 2, b), size = hypot(b, least);
    memset(d, 0, sizeof *d * (size_t)t->n);
    add(t->n, b / size, p, d);
    add(t->n, least / size, u, d);
    return least;
}

/* Conjugate gradients on H, from d: the curvature along the first direction that is negative, which
 * becomes d; 0: none was. A point without a value ends this. */
static double negative_curvature(tangent *t, cst_arena *a, double *d)
{
    const int n = t->n;
    double *p = cst_new(a, double, n), *Hp = cst_new(a, double, n), *Hu = cst_new(a, double, n),
           left = 1;
    memcpy(p, d, sizeof *p * (size_t)n);
    for (int k = 0; k < PRODUCTS && left > 1e-16; k++) { /* d is the residual */
        const double size = sqrt(dot(n, p, p));
        multiply(n, 1 / size, p);
        if (!product(t, p, Hp)) return 0;
        const double curvature = dot(n, p, Hp);
        if (curvature < DOWN * t->largest) {
            memcpy(d, p, sizeof *p * (size_t)n);
            return curvature;
        }
        if (curvature <= -DOWN * t->largest) return tilt(t, p, Hp, Hu, d);
        add(n, -left / size / curvature, Hp, d);
        const double rest = dot(n, d, d);
        multiply(n, size * rest / left, p);
        add(n, 1, d, p);
        left = rest;
    }
    return 0;
}

static tangent prepare(cst_search *s, cst_arena *a)
{
    const size_t n = (size_t)s->n, m = (size_t)s->m + 1;
    tangent t = {.s = s, .n = s->n};
    t.held = cst_new(a, unsigned char, n);
    t.normal = cst_new(a, double, m *n);
    t.multiplier = cst_new(a, double, m);
    t.dL = cst_new(a, double, n);
    t.at = cst_new(a, double, n);
    for (int i = 0; i < s->n; i++)
        t.held[i] =
            s->best.y[i] - s->lower[i] <= 2 * WIDE || s->upper[i] - s->best.y[i] <= 2 * WIDE;
    cst_search_stationarity(s, t.multiplier);
    slope(&t, s->best.df, s->best.dc, t.dL);
    find_normals(&t);
    return t;
}

/* Numbers without a pattern: each direction has a part in it. */
static int first_direction(const tangent *t, double *d)
{
    for (int i = 0; i < t->n; i++) d[i] = (i % 2 ? -1 : 1) * (0.5 + fmod(0.618033988749895 * i, 1));
    project(t, d);
    const double size = sqrt(dot(t->n, d, d));
    if (!(size > 1e-6)) return 0; /* no direction is left */
    multiply(t->n, 1 / size, d);
    return 1;
}

/* The longest step along d that keeps to the bounds and to the sizes of the problem */
static double farthest(const cst_search *s, const double *d)
{
    double h = INFINITY;
    for (int i = 0; i < s->n; i++) {
        if (d[i] == 0) continue;
        h = fmin(h, (d[i] > 0 ? s->upper[i] : s->lower[i]) / d[i]);
        h = fmin(h, s->p->scale[i] / s->scale[i] / fabs(d[i]));
    }
    return h;
}

/* Goes down along d in growing steps; 0: the first one does not lower L as `curvature` says. The
 * next round starts at the lowest point, by the scales of the problem: those of a point at which
 * numbers are zero are too small to leave it. */
static int go_down(tangent *t, double curvature, const double *d)
{
    cst_search *s = t->s;
    const double most = farthest(s, d);
    double *x = cst_new(s->arena, double, s->n), h = WIDE;
    double L = lagrangian(t, s->best.f, s->best.c), wanted = L + curvature * h * h / 8;
    int falls = 0;
    while (evaluate(t, h, d) && lagrangian(t, s->f, s->c) < wanted) {
        falls = 1;
        wanted = lagrangian(t, s->f, s->c);
        memcpy(x, s->x, sizeof *x * (size_t)s->n);
        if (h == most) break;
        h = fmin(GROWTH * h, most);
    }
    if (!falls) return 0;
    cst_sizes_widen(s);
    for (int i = 0; i < s->n; i++) {
        const double y = (x[i] - s->origin[i]) / s->scale[i];
        s->start[i] = fmin(fmax(y, s->lower[i]), s->upper[i]);
    }
    return 1;
}

int cst_search_falls(cst_search *s)
{
    cst_arena *a = cst_arena_child(s->arena);
    s->best.saddle = 0;
    tangent t = prepare(s, a);
    double *d = cst_new(a, double, s->n);
    const int affordable = s->evaluations + PRODUCTS + 2 <= s->o.evaluations;
    int falls = 0;
    s->aside = 1;
    if (affordable && first_direction(&t, d)) {
        const double curvature = negative_curvature(&t, a, d);
        if (dot(s->n, t.dL, d) > 0) multiply(s->n, -1, d);
        falls = curvature < 0 && go_down(&t, curvature, d);
        s->best.saddle = falls;
    }
    s->aside = 0;
    cst_arena_free(a);
    return falls;
}
