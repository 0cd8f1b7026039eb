/* SPDX-License-Identifier: MIT
 *
 * Any bytes as a model file: a model is NULL exactly when an error is reported, and so is a run. A
 * small model that loads is simulated for a few steps of its own length and differentiated;
 * whatever comes of it is reported, never a crash. */
#include "model/model.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define STEPS 5

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void must(int condition)
{
    if (!condition) abort();
}

typedef struct watcher {
    const cst_model *m;
    int rows;
} watcher;

static int observe(void *ctx, double t, const double *measures, int n)
{
    watcher *w = ctx;
    must(n == cst_model_measure_count(w->m) && (n == 0 || measures) && !isnan(t));
    return ++w->rows > STEPS;
}

static void drive(const cst_model *m)
{
    static _Thread_local cst_diag d; /* large for a stack */
    memset(&d, 0, sizeof d);
    cst_options o = cst_options_default();
    o.end = m->sim.start + fmin(m->sim.end - m->sim.start, STEPS * m->sim.step);
    o.output = 0;
    cst_run *r = cst_run_new(m, &o, &d);
    must((r == NULL) == (d.errors > 0));
    if (!r) return;
    watcher w = {m, 0};
    cst_status ok = cst_run_simulate(r, NULL, observe, &w, &d);
    must((ok == CST_OK || ok == CST_STOPPED) == (d.errors == 0));
    if (ok == CST_OK && cst_model_objective_count(m) > 0) {
        const cst_gradient *g = cst_run_gradient(r, NULL, CST_ADJOINT, 0, NULL, &d);
        must((g == NULL) == (d.errors > 0));
    }
    cst_run_free(r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static _Thread_local cst_diag d;
    memset(&d, 0, sizeof d);
    cst_model *m = cst_model_parse("model.yaml", (const char *)data, n, 0, NULL, &d);
    must((m == NULL) == (d.errors > 0));
    if (m) {
        for (int i = 0; i < cst_model_number_count(m); i++) {
            const char *name = cst_model_number_name(m, i);
            must(name && cst_model_number_unit(m, i) && isfinite(cst_model_number_value(m, i)));
            must(cst_model_number_find(m, name) == i);
        }
        for (int i = 0; i < cst_model_measure_count(m); i++)
            must(cst_model_measure_name(m, i) && cst_model_measure_unit(m, i));
        if (m->body.n < 50 && m->constraint.n < 200 && m->force.n < 200) drive(m);
    }
    cst_model_free(m);
    return 0;
}
