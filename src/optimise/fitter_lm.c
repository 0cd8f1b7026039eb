/* SPDX-License-Identifier: MIT
 *
 * Levenberg and Marquardt within bounds. With r + J s near x, a step s solves
 *
 *     min |r + J s|^2 + mu |D s|^2   subject to  lower <= x + s <= upper,     D_j = largest |J_j|
 * so far
 *
 * A number at a bound whose gradient points outside stays there; one that the step would carry over
 * a bound stops at it and the others are solved for again. Through a QR of J all of this is done on
 * n x n matrices. mu follows Nielsen: by the ratio of the reduction to the one predicted. A trial
 * that cannot be simulated is a rejected step. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "linalg/least.h"
#include "optimise/fitter.h"

typedef struct work {
    double *R, *c, *D, *s, *A, *b, *free_s, *x, *r;
    int *column; /* (n) free columns */
    char *fixed;
} work;

static work work_new(cst_arena *a, int n, int m)
{
    work w = {.R = cst_new(a, double, n *n + 1), .A = cst_new(a, double, 2 * n * n + 1)};
    w.c = cst_new(a, double, n + 1), w.D = cst_new(a, double, n + 1),
    w.s = cst_new(a, double, n + 1);
    w.b = cst_new(a, double, 2 * n + 1), w.free_s = cst_new(a, double, n + 1),
    w.x = cst_new(a, double, n + 1);
    w.r = cst_new(a, double, m + 1);
    w.column = cst_new(a, int, n + 1), w.fixed = cst_new(a, char, n + 1);
    return w;
}

/* Free columns of [R; sqrt(mu) D] s + [c + R s_fixed; 0] */
static int solve_free(cst_least *p, work *w, double mu)
{
    int n = p->n, nf = 0;
    for (int j = 0; j < n; j++)
        if (!w->fixed[j]) w->column[nf++] = j;
    if (!nf) return 1;
    memset(w->A, 0, sizeof *w->A * (size_t)(n + nf) * (size_t)nf);
    memset(w->b, 0, sizeof *w->b * (size_t)(n + nf));
    for (int i = 0; i < n; i++) {
        w->b[i] = w->c[i];
        for (int j = 0; j < n; j++)
            if (w->fixed[j]) w->b[i] += w->R[i * n + j] * w->s[j];
        for (int k = 0; k < nf; k++) w->A[i * nf + k] = w->R[i * n + w->column[k]];
    }
    for (int k = 0; k < nf; k++) w->A[(n + k) * nf + k] = sqrt(mu) * w->D[w->column[k]];
    if (!cst_least_solve(p->arena, n + nf, nf, w->A, w->b, w->free_s)) return 0;
    for (int k = 0; k < nf; k++) w->s[w->column[k]] = w->free_s[k];
    return 1;
}

/* The step and the reduction of |r + J s|^2 it promises; the trial point is in w->x, exactly
 * feasible. */
static int step(cst_least *p, work *w, double mu, double *promise)
{
    int n = p->n;
    for (int j = 0; j < n; j++) { /* -gradient points outside */
        double g = 0;
        for (int i = 0; i < n; i++) g += w->R[i * n + j] * w->c[i];
        w->fixed[j] = (p->x[j] <= p->lower[j] && g > 0) || (p->x[j] >= p->upper[j] && g < 0);
        w->s[j] = 0;
    }
    for (int pass = 0, over = 0; over >= 0 && pass <= n;
         pass++) { /* the one that goes farthest over its bound stops there */
        if (!solve_free(p, w, mu)) return 0;
        double share = 0;
        over = -1;
        for (int j = 0; j < n; j++) {
            double x = p->x[j] + w->s[j],
                   beyond = fmax(p->lower[j] - x, x - p->upper[j]) / fabs(w->s[j]);
            if (!w->fixed[j] && beyond > share) share = beyond, over = j;
        }
        if (over < 0) break;
        w->s[over] = (w->s[over] < 0 ? p->lower[over] : p->upper[over]) - p->x[over];
        w->fixed[over] = 1;
    }
    double before = 0, after = 0;
    for (int i = 0; i < n; i++) {
        double y = w->c[i];
        for (int j = 0; j < n; j++) y += w->R[i * n + j] * w->s[j];
        before += w->c[i] * w->c[i], after += y * y;
    }
    for (int j = 0; j < n; j++) w->x[j] = fmin(fmax(p->x[j] + w->s[j], p->lower[j]), p->upper[j]);
    *promise = before - after;
    return 1;
}

/* R, c and the scales at a new point; 0: LAPACK fails */
static int reduce(cst_least *p, work *w)
{
    if (!cst_least_reduce(p->arena, p->m, p->n, p->J, p->r, w->R, w->c)) return 0;
    for (int j = 0; j < p->n; j++) {
        double sum = 0;
        for (int i = 0; i <= j; i++) sum += w->R[i * p->n + j] * w->R[i * p->n + j];
        w->D[j] = fmax(w->D[j], sqrt(sum));
        if (w->D[j] == 0)
            w->D[j] = DBL_EPSILON / p->size[j]; /* without effect: it stays where it is */
    }
    return 1;
}

static double relative_step(const cst_least *p, const work *w)
{
    double most = 0;
    for (int j = 0; j < p->n; j++)
        most = fmax(most, fabs(w->s[j]) / fmax(fabs(p->x[j]), p->size[j]));
    return most;
}

/* A trial beyond what can be simulated: the same direction, shorter. 1: w->x, w->r and *f are a
 * point that is better */
static int shorter(cst_least *p, work *w, double *f)
{
    cst_status ok = CST_NUMERIC;
    for (int k = 0; k < 10 && ok == CST_NUMERIC; k++) {
        for (int j = 0; j < p->n; j++) {
            w->s[j] /= 2;
            w->x[j] = fmin(fmax(p->x[j] + w->s[j], p->lower[j]), p->upper[j]);
        }
        ok = cst_least_value(p, w->x, w->r, f);
    }
    return ok == CST_OK && *f < p->f;
}

static void finish(cst_least *p, cst_fit_end end, const char *why) { p->end = end, p->why = why; }

/* Is there anything left to gain? The undamped step decides, whatever damping has been needed: a
 * short step of a search that is stuck does not indicate a minimum. */
static int nothing_left(cst_least *p, work *w, double *promise, int *failed)
{
    double tiny =
        DBL_EPSILON; /* keeps numbers without effect, or not told apart, from running away */
    double enough = p->tolerance * p->tolerance * cst_least_unit(p);
    *failed = !step(p, w, tiny, promise);
    if (*failed || *promise < 0) return 0; /* bounds in the way of a long step */
    for (int j = 0; j < p->n; j++) {       /* each number by itself: g^2/|J_j|^2 */
        double g = 0, J2 = 0, x = p->x[j];
        for (int i = 0; i < p->n; i++)
            g += w->R[i * p->n + j] * w->c[i], J2 += w->R[i * p->n + j] * w->R[i * p->n + j];
        int held = (x <= p->lower[j] && g > 0) || (x >= p->upper[j] && g < 0);
        if (!held && g * g > enough * J2 && relative_step(p, w) > 1e-13) return 0;
    }
    return *promise <= enough || relative_step(p, w) <= 1e-13;
}

double cst_least_left(cst_least *p)
{
    work w = work_new(p->arena, p->n, p->m);
    double promise;
    if (!reduce(p, &w) || !step(p, &w, DBL_EPSILON, &promise)) return NAN;
    return sqrt(fmax(promise, 0) / cst_least_unit(p));
}

static void run(cst_least *p)
{
    work w = work_new(p->arena, p->n, p->m);
    double mu = 1e-3, nu = 2, left = INFINITY, left_before = INFINITY;
    int failed, fresh = 1;
    if (!reduce(p, &w)) return finish(p, CST_FIT_FAILED, "LAPACK fails on the Jacobian");
    for (;;) {
        double promise, f;
        if (fresh && nothing_left(p, &w, &left, &failed))
            return finish(p, CST_FIT_CONVERGED,
                          "the remaining step is small against the standard errors");
        if ((fresh && failed) || !step(p, &w, mu, &promise))
            return finish(p, CST_FIT_FAILED, "LAPACK fails on a step");
        double size = relative_step(p, &w);
        fresh = 0;
        cst_status ok = cst_least_value(p, w.x, w.r, &f);
        if (ok != CST_OK && ok != CST_NUMERIC)
            return finish(p, CST_FIT_FAILED, "an evaluation failed");
        if (ok == CST_NUMERIC && shorter(p, &w, &f))
            ok = CST_OK, promise = p->f - f, size = relative_step(p, &w);
        double ratio = ok == CST_OK ? (p->f - f) / promise : -1;
        /* at the rounding of f no step can show its reduction: continue while the predicted
         * remainder decreases */
        if (ok == CST_OK && left <= 1e-10 * p->f && f - p->f <= 1e-12 * p->f) {
            if (left >= left_before / 2)
                return finish(p, CST_FIT_CONVERGED, "the reduction is lost in rounding");
            left_before = left, ratio = 1;
        }
        if (ratio <= 1e-4) {
            mu *= nu, nu *= 2;
            /* kinks and the solver's own rounding make f rough: a hundredth of a standard error is
             * good enough */
            if ((mu > 1e20 || size < 1e-14) && left <= 1e-4 * cst_least_unit(p))
                return finish(p, CST_FIT_CONVERGED,
                              "what is left is less than a hundredth of the standard errors");
            if (mu > 1e20 || size < 1e-14)
                return finish(p, CST_FIT_STALLED, "no step, however short, reduces the residuals");
            continue;
        }
        memcpy(p->x, w.x, sizeof *p->x * (size_t)p->n);
        if (cst_least_jacobian(p) != CST_OK || !reduce(p, &w))
            return finish(p, CST_FIT_FAILED, "no Jacobian at a point that can be simulated");
        fresh = 1;
        mu *= fmax(1.0 / 3, 1 - pow(2 * ratio - 1, 3)), nu = 2;
        if (cst_least_next(p, size, mu)) return;
    }
}

const cst_fitter cst_fitter_lm = {
    .name = "lm",
    .summary = "Levenberg-Marquardt with the exact Jacobian, bounds by an active set",
    .iterations = 100,
    .run = run,
};
