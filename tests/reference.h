/* SPDX-License-Identifier: MIT
 *
 * Runs of example models for comparison with references, and the pendulum in closed form. */
#ifndef CST_TESTS_REFERENCE_H
#define CST_TESTS_REFERENCE_H

#include "costate.h"
#include "expect.h"

#include <stdio.h>

#define EXAMPLE(name) CST_SOURCE_DIR "/examples/" name "/model.yaml"

typedef struct cst_test_run {
    cst_model *m;
    cst_run *r;
    cst_diag d;
} cst_test_run;

static inline void run_check(const cst_test_run *t, int ok)
{
    if (!ok) print_error("%s", t->d.text);
    expect_true(ok);
}

static inline void run_open(cst_test_run *t, const char *path, double step, double end)
{
    cst_options o = cst_options_default();
    o.step = step, o.end = end;
    memset(&t->d, 0, sizeof t->d);
    t->m = cst_model_load(path, 0, NULL, &t->d);
    run_check(t, t->m != NULL);
    t->r = cst_run_new(t->m, &o, &t->d);
    run_check(t, t->r != NULL);
}

static inline void run_close(cst_test_run *t)
{
    cst_run_free(t->r);
    cst_model_free(t->m);
}

static inline int run_find(const cst_test_run *t, const char *measure)
{
    for (int i = 0; i < cst_model_measure_count(t->m); i++)
        if (strcmp(cst_model_measure_name(t->m, i), measure) == 0) return i;
    print_error("there is no measure %s\n", measure);
    fail();
    return -1;
}

/* the measures (NULL at the end) at the end of a run */
static inline void run_to(const char *path, double step, double end, const char *const *name,
                          double *value)
{
    cst_test_run t;
    run_open(&t, path, step, end);
    run_check(&t, cst_run_simulate(t.r, NULL, NULL, NULL, &t.d) == CST_OK);
    for (int i = 0; name[i]; i++) value[i] = cst_run_measure(t.r, run_find(&t, name[i]));
    run_close(&t);
}

/* ---- the pendulum of length L released level and at rest ---- */

/* sn, cn of modulus k by the arithmetic-geometric mean (Abramowitz and Stegun 16.4) */
static inline void jacobi(double u, double k, double *sn, double *cn)
{
    double a[12] = {1}, c[12] = {k}, b = sqrt(1 - k * k), scale = 1;
    int n = 0;
    while (fabs(c[n]) > 1e-17 && n < 11) {
        a[n + 1] = (a[n] + b) / 2, c[n + 1] = (a[n] - b) / 2, b = sqrt(a[n] * b);
        n++, scale *= 2;
    }
    double phi = scale * a[n] * u;
    for (; n > 0; n--) phi = (phi + asin(c[n] / a[n] * sin(phi))) / 2;
    *sn = sin(phi), *cn = cos(phi);
}

typedef struct pendulum_at {
    double p[2], v[2], a[2], tension;
} pendulum_at;

/* theta from hanging: sin(theta/2) = -k cn/dn,  theta'/2 cos(theta/2) = k w (1 - k^2) sn/dn^2,
 * k^2 = 1/2,  w^2 = g/L */
static inline pendulum_at pendulum_exact(double t, double g, double L)
{
    double k = sqrt(0.5), w = sqrt(g / L), sn, cn;
    jacobi(w * t, k, &sn, &cn);
    double dn = sqrt(1 - sn * sn / 2), s = -k * cn / dn, c = sqrt(1 - s * s);
    double rate = 2 * k * w * 0.5 * sn / (dn * dn) / c, sine = 2 * s * c, cosine = 1 - 2 * s * s;
    pendulum_at y = {{L * sine, -L * cosine}, {L * rate * cosine, L * rate * sine}, {0}, 0};
    y.tension = L * rate * rate + g * cosine;
    y.a[0] = -y.tension * sine, y.a[1] = y.tension * cosine - g;
    return y;
}

#endif
