/* SPDX-License-Identifier: MIT
 *
 * Identification from random measurements whose truth is known: closed forms with noise, from
 * random starts, by every method. Methods that say "converged" agree on the sum of squares, which
 * is not above that of the truth, unless they say that a number is held by a bound or has no effect
 * (a pulse of no height); the truth lies in the intervals as often as they say. */
#ifndef CST_TESTS_FIT_RUNS_H
#define CST_TESTS_FIT_RUNS_H

#ifndef _XOPEN_SOURCE
#define _XOPEN_SOURCE 700 /* mkstemp */
#endif
#include "expect.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "costate.h"
#include "skips.h"

enum { UNKNOWNS = 3, VALUES = 40, FIT_METHODS = 4 };

typedef struct curve {
    const char *name, *measure, *body;
    double truth[UNKNOWNS];
    double (*value)(const double *p, double t);
} curve;

static inline double decay(const double *p, double t) { return p[0] * exp(-p[1] * t) + p[2]; }
static inline double peak(const double *p, double t)
{
    return p[0] * exp(-(t - p[1]) * (t - p[1]) / (p[2] * p[2]));
}
static inline double growth(const double *p, double t)
{
    return p[0] / (1 + exp(-p[1] * (t - p[2])));
}
/* x'' + b x' + a x = 0 from x = c at rest */
static inline double swing(const double *p, double t)
{
    const double d = p[1] / 2, w = sqrt(p[0] - d * d);
    return p[2] * exp(-d * t) * (cos(w * t) + d / w * sin(w * t));
}

#define STILL "{type: scalar, inertia: 1, value: 0}"

static const curve curves[] = {
    {"decay", "a*exp(-b*t) + c + 0*x", STILL, {2, 3, 0.5}, decay},
    {"peak", "a*exp(-((t - b)/c)^2) + 0*x", STILL, {2, 0.5, 0.2}, peak},
    {"growth", "a/(1 + exp(-b*(t - c))) + 0*x", STILL, {2, 10, 0.4}, growth},
    {"swing", "x", "{type: scalar, inertia: 1, value: c}", {100, 2, 1}, swing},
};
enum { CURVES = 4 };
#define NOISE 0.02

/* Box and Muller */
static inline double normal(expect_random *r)
{
    const double u = 1 - expect_uniform(r, 0, 1), v = expect_uniform(r, 0, 1);
    return sqrt(-2 * log(u)) * cos(2 * acos(-1) * v);
}

/* The fit; *truth: the sum of squares at the truth */
static inline cst_fit *measured(const curve *k, expect_random *r, double *truth)
{
    char model[] = "/tmp/costate-test-XXXXXX", data[] = "/tmp/costate-test-XXXXXX";
    FILE *csv = fdopen(mkstemp(data), "w"), *f = fdopen(mkstemp(model), "w");
    fprintf(csv, "t,y\n");
    *truth = 0;
    for (int i = 1; i <= VALUES; i++) {
        const double t = (double)i / VALUES, noise = normal(r);
        fprintf(csv, "%.17g,%.17g\n", t, k->value(k->truth, t) + NOISE * noise);
        *truth += noise * noise;
    }
    fclose(csv);
    fprintf(f, "costate: 1\nparameters:\n");
    for (int j = 0; j < UNKNOWNS; j++) /* within a factor of 1.5 */
        fprintf(f, "  %c: {value: %.17g, range: [0, 1000]}\n", 'a' + j,
                k->truth[j] * pow(1.5, expect_uniform(r, -1, 1)));
    fprintf(f, "bodies: {s: %s}\nmeasures: {x: {type: coordinate, of: s}, y: \"%s\"}\n", k->body,
            k->measure);
    if (k->value == swing)
        fprintf(f, "forces: {f: {type: motor, of: s, torque: \"-a*x - b*rate(x)\"}}\n");
    fprintf(f, "simulation: {end: 1, step: %g}\nidentify:\n  parameters: [a, b, c]\n",
            k->value == swing ? 2e-3 : 0.025);
    fprintf(f, "  experiments: {e: {csv: %s, channels: {y: {column: y, noise: %g}}}}\n", data,
            NOISE);
    fclose(f);
    cst_diag d = {0};
    cst_fit *fit = cst_fit_new(model, 0, NULL, NULL, &d);
    unlink(model);
    unlink(data);
    if (!fit) fail_msg("%s: %s", k->name, d.text);
    return fit;
}

typedef struct fit_tally {
    int sets, searches, converged;
    int held;   /* with a number at a bound or without effect */
    int unsaid; /* converged to another sum */
    int intervals, inside;
    double squares; /* of (estimate - truth)/(standard error) */
} fit_tally;

static inline void count_intervals(const curve *k, const cst_fit_result *result, fit_tally *t)
{
    for (int j = 0; j < UNKNOWNS; j++) {
        const cst_estimate *e = &result->estimate[j];
        if (e->known != CST_ESTIMATED) continue;
        const double off = (e->value - k->truth[j]) / e->error;
        t->intervals++;
        t->inside += e->low <= k->truth[j] && k->truth[j] <= e->high;
        t->squares += off * off;
    }
}

static inline int all_estimated(const cst_fit_result *result)
{
    for (int j = 0; j < UNKNOWNS; j++)
        if (result->estimate[j].known != CST_ESTIMATED) return 0;
    return 1;
}

static inline void run_set(int number, expect_random *r, fit_tally *t, int table)
{
    static const char *const method[FIT_METHODS] = {"lm", "minpack", "lbfgsb", "ipopt"};
    const curve *k = &curves[number % CURVES];
    double truth, least = INFINITY, sum[FIT_METHODS];
    int said[FIT_METHODS] = {0}, ran[FIT_METHODS] = {0};
    cst_fit *fit = measured(k, r, &truth);
    t->sets++;
    for (int i = 0; i < FIT_METHODS; i++) {
        cst_diag d = {0};
        if (skips(method[i])) continue;
        if (cst_fit_run(fit, method[i], NULL, NULL, &d) != CST_OK) fail_msg("%s", d.text);
        const cst_fit_result *result = cst_fit_answer(fit);
        sum[i] = result->sum;
        said[i] = result->converged && all_estimated(result);
        t->held += result->converged && !said[i];
        ran[i] = 1;
        if (said[i]) least = fmin(least, sum[i]);
        if (i == 0 && said[i]) count_intervals(k, result, t);
        if (table)
            printf("%3d %-7s %-8s %-20s %4d iterations, sum %.12g, of the truth %.12g, %s\n",
                   number, k->name, method[i], result->status, result->iterations, sum[i], truth,
                   result->why);
    }
    expect_true(least <= truth);
    for (int i = 0; i < FIT_METHODS; i++) {
        const int other = said[i] && sum[i] > least * (1 + 1e-6);
        t->searches += ran[i];
        t->converged += said[i];
        t->unsaid += other;
        if (other)
            printf("%d: %s by %s: %.12g, not %.12g\n", number, k->name, method[i], sum[i], least);
    }
    cst_fit_free(fit);
}

static inline fit_tally run_sets(int count, int table)
{
    expect_random r = {77};
    fit_tally t = {0};
    for (int i = 0; i < count; i++) run_set(i, &r, &t, table);
    printf(
        "%d sets, %d searches: %d converged, %d of them to another sum of squares, %d to a bound\n",
        t.sets, t.searches, t.converged, t.unsaid, t.held);
    printf("%d of %d intervals of 95 %% contain the truth; mean square error %.3f\n", t.inside,
           t.intervals, t.squares / t.intervals);
    return t;
}

/* Three estimates of a set may be right or wrong together: the deviation of the count is between
 * sqrt(0.95 0.05 N) and, if they always are, sqrt(3) times that. */
static inline void expect_fits(const fit_tally *t)
{
    const double deviation = sqrt(3 * 0.95 * 0.05 * t->intervals);
    expect_int(t->unsaid, 0);
    expect_true(t->converged > 0.95 * t->searches);
    expect_true(fabs(t->inside - 0.95 * t->intervals) <= 3 * deviation);
    expect_true(fabs(t->squares / t->intervals - 1) <= 3 * sqrt(3 * 2.0 / t->intervals));
}

#endif
