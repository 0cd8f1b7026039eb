/* SPDX-License-Identifier: MIT
 *
 * Value and gradient of a model with events, by every way of solving it. */
#ifndef CST_TESTS_EVENT_WAYS_H
#define CST_TESTS_EVENT_WAYS_H

#include "costate.h"
#include "expect.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static cst_diag diag;

typedef struct answer {
    double value, adjoint[16], direct[16];
} answer;

/* the integrators to be tried: those with a given step, and those that choose their steps */
typedef struct way {
    const char *formulation, *integrator;
} way;
static const way ways[] = {{"index3", "newmark"},       {"augmented", "newmark"},
                           {"index1", "trapezoid"},     {"index1", "rk4"},
                           {"index1", "rk45"},          {"maggi", "rk4"},
                           {"maggi", "rk45"},           {"joint", "rk4"},
                           {"joint", "rk45"},           {"penalty", "rk4"},
                           {"variational", "midpoint"}, {"index3", "generalized-alpha"}};
#define WAYS (int)(sizeof ways / sizeof *ways)

static cst_stats stats;    /* of the last run */
static const char *warned; /* what a gradient says; NULL: nothing */

/* value and gradient of the first objective by the parameters named */
static answer solve_by(const way *by, const char *text, const char *events, double memory, int n,
                       const char *const *name)
{
    answer a = {0};
    memset(&diag, 0, sizeof diag);
    char formulation[64];
    snprintf(formulation, sizeof formulation, "simulation.formulation=%s", by->formulation);
    cst_model *m = cst_model_parse("model.yaml", text, strlen(text), 1,
                                   (const char *const[]){formulation}, &diag);
    expect_text(diag.text, "");
    cst_options o = cst_options_default();
    o.events = events, o.memory = memory, o.integrator = by->integrator;
    cst_run *r = cst_run_new(m, &o, &diag);
    expect_text(diag.text, "");
    int which[16];
    for (int i = 0; i < n; i++)
        which[i] = cst_model_number_find(m, name[i]), expect_true(which[i] >= 0);
    for (int method = 0; method < 2; method++) {
        const cst_gradient *g =
            cst_run_gradient(r, NULL, method ? CST_DIRECT : CST_ADJOINT, n, which, &diag);
        if (!warned)
            expect_text(diag.text, "");
        else if (method == 0)
            expect_contains(diag.text, warned);
        a.value = g->value[0];
        memcpy(method ? a.direct : a.adjoint, g->slope, sizeof(double) * (size_t)n);
    }
    stats = cst_run_stats(r);
    cst_run_free(r);
    cst_model_free(m);
    return a;
}

#endif
