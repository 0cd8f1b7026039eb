/* SPDX-License-Identifier: MIT
 *
 * MINPACK's lmder (CMINPACK). It knows no bounds: a bounded number is replaced by u without any,
 *
 *     two bounds   x = (upper + lower)/2 + (upper - lower)/2 sin u      dx/du = (upper - lower)/2
 * cos u one bound    x = lower - size + size sqrt(1 + u^2)                dx/du = size u/sqrt(1 +
 * u^2)
 *
 * A solution at a bound is approached but never reached, and dx/du vanishes there: the method
 * serves as an independent judge of solutions inside the bounds. A point that cannot be simulated
 * has large residuals. */
#include <cminpack.h>
#include <math.h>
#include <string.h>

#include "optimise/fitter.h"

typedef struct adapter {
    cst_least *p;
    double *dx; /* (n) dx/du at the last point */
    double *best_x, best_f;
    int leave;
} adapter;

static void to_x(const cst_least *p, const double *u, double *x, double *dx)
{
    for (int j = 0; j < p->n; j++) {
        double lo = p->lower[j], hi = p->upper[j], size = p->size[j], root = sqrt(1 + u[j] * u[j]);
        if (isfinite(lo) && isfinite(hi))
            x[j] = (hi + lo) / 2 + (hi - lo) / 2 * sin(u[j]), dx[j] = (hi - lo) / 2 * cos(u[j]);
        else if (isfinite(lo))
            x[j] = lo - size + size * root, dx[j] = size * u[j] / root;
        else if (isfinite(hi))
            x[j] = hi + size - size * root, dx[j] = -size * u[j] / root;
        else
            x[j] = size * u[j], dx[j] = size;
        x[j] = fmin(fmax(x[j], lo), hi);
    }
}

/* The inverse; a start at a bound is moved off it, where dx/du is not zero, by a hundredth of the
 * number's size: of a wide range that would be far. */
static void to_u(const cst_least *p, const double *x, double *u)
{
    for (int j = 0; j < p->n; j++) {
        double lo = p->lower[j], hi = p->upper[j], size = p->size[j];
        double y = isfinite(lo) ? (x[j] - lo + size) / size : (hi + size - x[j]) / size;
        if (isfinite(lo) && isfinite(hi)) {
            const double off = fmin(0.01 * size, 0.005 * (hi - lo));
            const double inside = fmin(fmax(x[j], lo + off), hi - off);
            u[j] = asin((2 * inside - hi - lo) / (hi - lo));
        } else if (isfinite(lo) || isfinite(hi))
            u[j] = sqrt(fmax(y * y - 1, 1e-2)) * (isfinite(lo) ? 1 : -1);
        else
            u[j] = x[j] / size;
    }
}

static int evaluate(void *ctx, int m, int n, const double *u, double *r, double *J, int ld,
                    int flag)
{
    adapter *a = ctx;
    cst_least *p = a->p;
    if (a->leave) return -1;
    to_x(p, u, p->x, a->dx);
    if (flag == 1) {
        double f;
        cst_status ok = cst_least_value(p, p->x, r, &f);
        if (ok != CST_OK && ok != CST_NUMERIC) return -1;
        for (int i = 0; i < m && ok != CST_OK; i++) r[i] = 1e3 * sqrt(a->best_f / m + 1);
        if (ok == CST_OK && f < a->best_f)
            a->best_f = f, memcpy(a->best_x, p->x, sizeof *p->x * (size_t)n);
        return 0;
    }
    if (flag != 2) return 0;
    if (cst_least_jacobian(p) != CST_OK) return -1;
    for (int j = 0; j < n; j++)
        for (int i = 0; i < m; i++)
            J[(size_t)j * (size_t)ld + (size_t)i] =
                p->J[(size_t)i * (size_t)n + (size_t)j] * a->dx[j];
    a->leave = p->jacobians > 2 && cst_least_next(p, NAN, NAN);
    return a->leave ? -1 : 0;
}

static void run(cst_least *p)
{
    int n = p->n, m = p->m, nfev, njev;
    cst_arena *s = p->arena;
    adapter a = {.p = p,
                 .dx = cst_new(s, double, n + 1),
                 .best_x = cst_new(s, double, n + 1),
                 .best_f = p->f};
    double *u = cst_new(s, double, n + 1), *r = cst_new(s, double, m + 1),
           *J = cst_new(s, double, (size_t)m *n + 1);
    double *diag = cst_new(s, double, n + 1), *qtf = cst_new(s, double, n + 1),
           *w = cst_new(s, double, 3 * n + m + 1);
    int *pivot = cst_new(s, int, n + 1);
    memcpy(a.best_x, p->x, sizeof *p->x * (size_t)n);
    to_u(p, p->x, u);
    p->end = CST_FIT_FAILED, p->why = "an evaluation failed";
    int info = lmder(evaluate, &a, m, n, u, r, J, m,
                     fmin(p->tolerance * p->tolerance * cst_least_unit(p) / p->f, 1e-6), 1e-13, 0,
                     20 * p->most, diag, 1, 1, 0, &nfev, &njev, pivot, qtf, w, w + n, w + 2 * n,
                     w + 3 * n);
    if (info > 0)
        p->end = info <= 4 ? CST_FIT_CONVERGED : info == 5 ? CST_FIT_LIMIT : CST_FIT_CONVERGED;
    static const char *const why[] = {"wrong input",
                                      "the reduction is below the tolerance",
                                      "the step is below the tolerance",
                                      "reduction and step are below the tolerance",
                                      "residuals and Jacobian are orthogonal",
                                      "as many evaluations as allowed",
                                      "the reduction is lost in rounding",
                                      "the step is lost in rounding",
                                      "residuals and Jacobian are orthogonal to rounding"};
    if (info > 0 && info <= 8) p->why = why[info];
    memcpy(p->x, a.best_x, sizeof *p->x * (size_t)n);
    if (cst_least_jacobian(p) != CST_OK) p->end = CST_FIT_FAILED;
}

const cst_fitter cst_fitter_minpack = {
    .name = "minpack",
    .summary = "MINPACK's lmder with the exact Jacobian, bounds by a change of variables",
    .iterations = 100,
    .run = run,
};
