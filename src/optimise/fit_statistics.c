/* SPDX-License-Identifier: MIT
 *
 * With residuals r = r* + J dx + noise of variance s^2, independent, the estimates have the covariance s^2 (J^T J)^-1.
 * In relative changes dx_j = size_j e_j the Jacobian S = J diag(size) has no units, and S = U diag(sigma) V^T says what the
 * measurements see: a change of the numbers along the row v_k of V^T changes the residuals by sigma_k. The standard error of
 * that combination is s/sigma_k; where sigma_k is rounding, the combination changes nothing and the numbers in it cannot be
 * told apart, whatever their single columns are. */
#include "optimise/fit_statistics.h"

#include <math.h>
#include <string.h>

#include "linalg/least.h"

#define LOST 1e-8       /* relative to the largest singular value: a smaller one is rounding */
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

/* Expansion in 1/nu (Fisher and Cornish); nu = 1, 2 in closed form. Off by less than 1e-3 from nu = 5 on at 95 %. */
double cst_student_quantile(double p, double nu)
{
    double x = cst_normal_quantile(p), a = 2 * p - 1, x2 = x * x;
    if (nu <= 1) return tan(acos(-1) * (p - 0.5));
    if (nu <= 2) return a * sqrt(2 / (1 - a * a));
    return x * (1 + (x2 + 1) / (4 * nu) + ((5 * x2 + 16) * x2 + 3) / (96 * nu * nu) +
                (((3 * x2 + 19) * x2 + 17) * x2 - 15) / (384 * nu * nu * nu) +
                ((((79 * x2 + 776) * x2 + 1482) * x2 - 1920) * x2 - 945) / (92160 * nu * nu * nu * nu));
}

/* Numbers inside their bounds that some channel sees */
static int find_free(const cst_least *p, cst_estimate *e, int *column)
{
    int nf = 0;
    for (int j = 0; j < p->n; j++) {
        double sum = 0;
        for (int i = 0; i < p->m; i++) sum += fabs(p->J[(size_t)i * (size_t)p->n + (size_t)j]);
        int bound = p->x[j] <= p->lower[j] || p->x[j] >= p->upper[j];
        e[j].known = sum == 0 ? CST_WITHOUT_EFFECT : bound ? CST_AT_BOUND : CST_ESTIMATED;
        e[j].error = e[j].low = e[j].high = NAN;
        if (e[j].known == CST_ESTIMATED) column[nf++] = j;
    }
    return nf;
}

static double size_of(const cst_least *p, int j) { return p->x[j] != 0 ? fabs(p->x[j]) : p->size[j]; }

/* S (m x nf), reduced to nf x nf, and its singular values and directions */
static int decompose(const cst_least *p, int nf, const int *column, double *s, double *Vt)
{
    cst_arena *a = p->arena;
    double *S = cst_new(a, double, (size_t)p->m *(size_t)nf + 1), *R = cst_new(a, double, nf *nf + 1);
    double *c = cst_new(a, double, nf + 1);
    for (int i = 0; i < p->m; i++)
        for (int k = 0; k < nf; k++)
            S[(size_t)i * (size_t)nf + (size_t)k] =
                p->J[(size_t)i * (size_t)p->n + (size_t)column[k]] * size_of(p, column[k]);
    return cst_least_reduce(a, p->m, nf, S, p->r, R, c) && cst_svd(a, nf, R, s, Vt);
}

/* cov (nf x nf) of relative changes, from the directions that are seen */
static void covariance(int nf, int seen, const double *s, const double *Vt, double variance, double *cov)
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
                corr[column[k] * n + column[l]] = cov[k * nf + l] / sqrt(cov[k * nf + k] * cov[l * nf + l]);
    out->variance = variance, out->noise_known = noise_known, out->confidence = confidence;
    out->parameters = n, out->samples = p->m, out->free = nf;
    out->estimate = e, out->correlation = corr, out->singulars = nf, out->lost = nf - seen;
    out->singular = s, out->direction = direction;
    return 1;
}
