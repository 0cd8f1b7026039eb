/* SPDX-License-Identifier: MIT
 *
 * The N-four-bar for any N over its whole history, against its one degree of freedom. */
#ifndef CST_TESTS_REFERENCE_FOUR_BAR_H
#define CST_TESTS_REFERENCE_FOUR_BAR_H

#include "reference.h"

/* a'' = c sin a, a from upright, B0 = (sin a, cos a), by the classical Runge-Kutta rule */
typedef struct four_bar {
    double c, t, a, w;
    int p, energy;
    double error, drift, energy0;
} four_bar;

static inline void four_bar_advance(four_bar *f, double t)
{
    int n = (int)ceil((t - f->t) / 1e-4);
    double h = n ? (t - f->t) / n : 0;
    for (int i = 0; i < n; i++) {
        double a[4] = {f->a}, w[4] = {f->w};
        for (int k = 1; k < 4; k++) {
            double s = k == 3 ? h : h / 2;
            a[k] = f->a + s * w[k - 1], w[k] = f->w + s * f->c * sin(a[k - 1]);
        }
        f->a += h / 6 * (w[0] + 2 * w[1] + 2 * w[2] + w[3]);
        f->w += h / 6 * f->c * (sin(a[0]) + 2 * sin(a[1]) + 2 * sin(a[2]) + sin(a[3]));
    }
    f->t = t;
}

static inline int four_bar_observe(void *ctx, double t, const double *measure, int n)
{
    (void)n;
    four_bar *f = ctx;
    four_bar_advance(f, t);
    if (t == 0) f->energy0 = measure[f->energy];
    f->drift = fmax(f->drift, fabs(measure[f->energy] / f->energy0 - 1));
    f->error = fmax(f->error, hypot(measure[f->p] - sin(f->a), measure[f->p + 1] - cos(f->a)));
    return 0;
}

/* examples/n-four-bar/generate writes the model */
static inline cst_model *four_bar_model(int windows, cst_diag *d)
{
    static char text[1 << 20];
    char command[512];
    snprintf(command, sizeof command, "sh '%s/examples/n-four-bar/generate' %d", CST_SOURCE_DIR,
             windows);
    FILE *f = popen(command, "r");
    expect_not_null(f);
    size_t n = fread(text, 1, sizeof text, f);
    expect_int(pclose(f), 0);
    return cst_model_parse("n-four-bar", text, n, 0, NULL, d);
}

/* largest error of B0 over the whole history; the largest relative change of the energy too.
 * shortened: steps that may be taken again, shorter, at singular positions */
static inline double four_bar_error(int windows, double step, double end, int shortened,
                                    double *drift)
{
    cst_test_run t;
    memset(&t.d, 0, sizeof t.d);
    cst_options o = cst_options_default();
    o.step = step, o.end = end;
    t.m = four_bar_model(windows, &t.d);
    run_check(&t, t.m != NULL);
    t.r = cst_run_new(t.m, &o, &t.d);
    run_check(&t, t.r != NULL);
    four_bar f = {.c = 3 * (3.0 * windows + 1) / (2 * (4.0 * windows + 1)) * 9.81, .w = 1};
    f.p = run_find(&t, "p.x"), f.energy = run_find(&t, "E.total");
    run_check(&t, cst_run_simulate(t.r, NULL, four_bar_observe, &f, &t.d) == CST_OK);
    expect_true(cst_run_stats(t.r).shortened <= shortened);
    run_close(&t);
    *drift = f.drift;
    return f.error;
}

#endif
