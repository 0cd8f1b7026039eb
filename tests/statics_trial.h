/* SPDX-License-Identifier: MIT
 *
 * Runs of texts that start from static equilibrium. */
#ifndef CST_TESTS_STATICS_TRIAL_H
#define CST_TESTS_STATICS_TRIAL_H

#include "load_text.h"

/* ---- a run of a text ---- */

typedef struct trial {
    cst_model *m;
    cst_run *r;
} trial;

static inline trial try_text(const char *text)
{
    trial y = {.m = parse(text)};
    y.r = cst_run_new(y.m, NULL, &diag);
    if (!y.r) fail_msg("%s", diag.text);
    return y;
}

static inline void run(trial *y)
{
    if (cst_run_simulate(y->r, NULL, NULL, NULL, &diag) != CST_OK) fail_msg("%s", diag.text);
}

static inline void trial_end(trial *y) { cst_run_free(y->r), cst_model_free(y->m); }

static inline int objective_of(const cst_model *m, const char *name)
{
    for (int i = 0; i < cst_model_objective_count(m); i++)
        if (strcmp(cst_model_objective_name(m, i), name) == 0) return i;
    fail_msg("no objective '%s'", name);
    return -1;
}

static inline double value_of(const trial *y, const char *objective)
{
    return cst_run_objective(y->r, objective_of(y->m, objective));
}

static inline double slope_of(const trial *y, const cst_gradient *g, const char *objective,
                              const char *leaf)
{
    int i = cst_model_number_find(y->m, leaf);
    if (i < 0) fail_msg("no number '%s'", leaf);
    return g->slope[objective_of(y->m, objective) * g->numbers + i];
}

static inline const cst_gradient *gradient(trial *y, cst_method method)
{
    const cst_gradient *g = cst_run_gradient(y->r, NULL, method, 0, NULL, &diag);
    if (!g) fail_msg("%s", diag.text);
    return g;
}

/* The run fails and says all of these; NULL at the end. */
static inline void fails_with(const char *text, const char *const *parts)
{
    cst_model *m = parse(text);
    cst_run *r = cst_run_new(m, NULL, &diag);
    expect_not_null(r);
    expect_int(cst_run_simulate(r, NULL, NULL, NULL, &diag), CST_NUMERIC);
    for (; *parts; parts++) expect_contains(diag.text, *parts);
    cst_run_free(r);
    cst_model_free(m);
}

/* A mass on a spring hangs below the anchor: y = -(L0 + m g/k) */
#define HANGING_MASS                                                                               \
    "gravity: [0, -9.81, 0]\n"                                                                     \
    "parameters: {mass: 2, k: 500, L0: 1}\n"                                                       \
    "points: {A: [0, 0, 0], P: [0.4, -0.6, 0.3]}\n"                                                \
    "bodies: {p: {type: point, position: P, mass: mass}}\n"                                        \
    "forces: {s: {type: spring, from: ground.A, to: p.P, stiffness: k, free_length: L0}}\n"        \
    "measures: {pos: {type: position, of: p.P}}\n"                                                 \
    "objectives: {x: start(pos.x), y: start(pos.y), end: end(pos.y), z: start(pos.z)}\n"           \
    "simulation: {end: 0.5, step: 0.01}\n"

#endif
