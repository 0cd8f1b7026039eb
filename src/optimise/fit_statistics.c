/* SPDX-License-Identifier: MIT
 *
 * With residuals r = r* + J dx + noise of variance s^2, independent, the estimates have the
 * covariance s^2 (J^T J)^-1. In relative changes dx_j = size_j e_j the Jacobian S = J diag(size)
 * has no units, and S = U diag(sigma) V^T says what the measurements see: a change of the numbers
 * along the row v_k of V^T changes the residuals by sigma_k. The standard error of that combination
 * is s/sigma_k; where sigma_k is rounding, the combination changes nothing and the numbers in it
 * cannot be told apart, whatever their single columns are. */
#include "optimise/fit_statistics.h"

#include <math.h>
#include <string.h>

#include "linalg/least.h"

#define LOST 1e-8     /* relative to the largest singular value: a smaller one is rounding */
#define TOUCHES 1e-12 /* of the range: at the bound, but for rounding */
#define NEAR                                                                                       \
    1e-3 /* of the range: so near that a bound that holds the number back counts as reached */
#define TAKES_PART 0.03 /* share of a number in a lost combination that matters */

/* A coarse start, then Halley's iteration on erfc to rounding */
double cst_normal_quantile(double p)
{
    double t = sqrt(-2 * log(p < 0.5 ? p : 1 - p)),
           x = t - (2.30753 + 0.27061 * t) / (1 + 0.99229 * t + 0.04481 * t * t);
    if (p < 0.5) x = -x;
    for (int i = 0; i < 4; i++) {
        double off = 0.5 * erfc(-x / sqrt(2)) - p, slope = exp(-x * x / 2) / sqrt(2 * acos(-1));
        x -= off / slope / (1 + x * off / slope / 2);
    }
    return x;
}

/* Regularised incomplete beta function I_x(a, b): Lentz's continued fraction, on the side where it
 * converges fast */
static double incomplete_beta(double a, double b, double x)
{
    if (x <= 0 || x >= 1) return x <= 0 ? 0 : 1;
    if (x > (a + 1) / (a + b + 2)) return 1 - incomplete_beta(b, a, 1 - x);
    double front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x)) / a;
    double c = 1, d = 1 / (1 - (a + b) * x / (a + 1)), h = d;
    for (int m = 1; m < 10000; m++) {
        double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        d = 1 / (1 + even * d), c = 1 + even / c, h *= c * d;
        d = 1 / (1 + odd * d), c = 1 + odd / c, h *= c * d;
        if (fabs(c * d - 1) < 1e-16) break;
    }
    return front * h;
}

/* The probability beyond t > 0 is I_x(nu/2, 1/2)/2 with x = nu/(nu + t^2). Bisection in log t: no
 * start can mislead it. */
double cst_student_quantile(double p, double nu)
{
    if (!(nu > 0)) return NAN;
    if (nu > 1e7) return cst_normal_quantile(p); /* they differ by less than 1e-6 */
    if (p < 0.5) return -cst_student_quantile(1 - p, nu);
    if (p == 0.5) return 0;
    double low = log(1e-12), high = log(1e12);
    for (int i = 0; i < 100; i++) {
        double mid = (low + high) / 2, t2 = exp(2 * mid);
        double beyond = t2 < nu ? (1 - incomplete_beta(0.5, nu / 2, t2 / (nu + t2))) / 2
                                : incomplete_beta(nu / 2, 0.5, nu / (nu + t2)) / 2;
        if (beyond > 1 - p)
            low = mid;
        else
            high = mid;
    }
    return exp((low + high) / 2);
}

/* A number is at its bound if it is there to rounding, or near it and its own step would cross it:
 * methods that approach a bound from inside (a barrier, a change of variables) end a little before
 * it. */
static int at_bound(const cst_least *p, int j, double gradient, double curvature)
{
    double range = p->upper[j] - p->lower[j], size = isfinite(range) ? range : p->size[j];
    double step = curvature > 0 ? -gradient / curvature : 0; /* of x_j alone: r + J_j s */
    double below = p->x[j] - p->lower[j], above = p->upper[j] - p->x[j];
    if (fmin(below, above) <= TOUCHES * size) return 1;
    return (below <= NEAR * size && -step > below) || (above <= NEAR * size && step > above);
}

/* Numbers inside their bounds that some channel sees */
static int find_free(const cst_least *p, cst_estimate *e, int *column)
{
    int nf = 0;
    for (int j = 0; j < p->n; j++) {
        double sum = 0, gradient = 0;
        for (int i = 0; i < p->m; i++) {
            double J = p->J[(size_t)i * (size_t)p->n + (size_t)j];
            sum += J * J, gradient += J * p->r[i];
        }
        e[j].known = sum == 0                        ? CST_WITHOUT_EFFECT
                     : at_bound(p, j, gradient, sum) ? CST_AT_BOUND
                                                     : CST_ESTIMATED;
        e[j].error = e[j].low = e[j].high = NAN;
        if (e[j].known == CST_ESTIMATED) column[nf++] = j;
    }
    return nf;
}

static double size_of(const cst_least *p, int j)
{
    return p->x[j] != 0 ? fabs(p->x[j]) : p->size[j];
}

/* S (m x nf), reduced to nf x nf, and its singular values and directions */
static int decompose(const cst_least *p, int nf, const int *column, double *s, double *Vt)
{
    cst_arena *a = p->arena;
    double *S = cst_new(a, double, (size_t)p->m *nf + 1), *R = cst_new(a, double, nf *nf + 1);
    double *c = cst_new(a, double, nf + 1);
    for (int i = 0; i < p->m; i++)
        for (int k = 0; k < nf; k++)
            S[(size_t)i * (size_t)nf + (size_t)k] =
                p->J[(size_t)i * (size_t)p->n + (size_t)column[k]] * size_of(p, column[k]);
    return cst_least_reduce(a, p->m, nf, S, p->r, R, c) && cst_svd(a, nf, R, s, Vt);
}

/* cov (nf x nf) of relative changes, from the directions that are seen */
static void covariance(int nf, int seen, const double *s, const double *Vt, double variance,
                       double *cov)
{
    memset(cov, 0, sizeof *cov * (size_t)(nf * nf));
    for (int k = 0; k < seen; k++)
        for (int i = 0; i < nf; i++)
            for (int j = 0; j < nf; j++)
                cov[i * nf + j] += variance * Vt[k * nf + i] * Vt[k * nf + j] / (s[k] * s[k]);
}

int cst_fit_judge(const cst_least *p, int noise_known, double confidence, cst_estimate *e,
                  cst_fit_result *out)
{
    cst_arena *a = p->arena;
    int n = p->n, *column = cst_new(a, int, n + 1), nf = find_free(p, e, column), seen = 0;
    double *s = cst_new(a, double, nf + 1), *Vt = cst_new(a, double, nf *nf + 1),
           *cov = cst_new(a, double, nf *nf + 1);
    double *corr = cst_new(a, double, n *n + 1), *direction = cst_new(a, double, nf *n + 1);
    if (nf && !decompose(p, nf, column, s, Vt)) return 0;
    while (seen < nf && s[seen] > LOST * s[0]) seen++;
    double nu = p->m - seen, variance = nu > 0 ? p->f / nu : NAN, tail = (1 + confidence) / 2;
    double z = noise_known ? cst_normal_quantile(tail) : cst_student_quantile(tail, nu);
    covariance(nf, seen, s, Vt, noise_known ? 1 : variance, cov);
    for (int i = 0; i < n * n; i++) corr[i] = NAN;
    for (int k = 0; k < nf; k++) {
        cst_estimate *at = &e[column[k]];
        for (int l = seen; l < nf; l++)
            if (fabs(Vt[l * nf + k]) > TAKES_PART) at->known = CST_CONFOUNDED;
        for (int l = 0; l < nf; l++) direction[l * n + column[k]] = Vt[l * nf + k];
        if (at->known == CST_CONFOUNDED) continue;
        at->error = sqrt(cov[k * nf + k]) * size_of(p, column[k]);
        at->low = p->x[column[k]] - z * at->error, at->high = p->x[column[k]] + z * at->error;
        if (cov[k * nf + k] > 1) at->known = CST_WEAK;
    }
    for (int k = 0; k < nf; k++)
        for (int l = 0; l < nf; l++)
            if (!isnan(e[column[k]].error) && !isnan(e[column[l]].error))
                corr[column[k] * n + column[l]] =
                    cov[k * nf + l] / sqrt(cov[k * nf + k] * cov[l * nf + l]);
    out->variance = variance, out->noise_known = noise_known, out->confidence = confidence;
    out->parameters = n, out->samples = p->m, out->free = nf;
    out->estimate = e, out->correlation = corr, out->singulars = nf, out->lost = nf - seen;
    out->singular = s, out->direction = direction;
    return 1;
}
