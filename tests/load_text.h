/* SPDX-License-Identifier: MIT
 *
 * Models from texts, and their values at numbers near the nominal ones. */
#ifndef CST_TESTS_LOAD_TEXT_H
#define CST_TESTS_LOAD_TEXT_H

#include "expect.h"
#include "model/model.h"

#include <stdio.h>
#include <stdlib.h>

static cst_diag diag;

static inline cst_model *parse_set(const char *text, int nset, const char *const *set)
{
    char *whole = malloc(strlen(text) + 32);
    sprintf(whole, "costate: 1\n%s", text);
    diag = (cst_diag){0};
    cst_model *m = cst_model_parse("m.yaml", whole, strlen(whole), nset, set, &diag);
    expect_true((m == NULL) == (diag.errors > 0));
    free(whole);
    return m;
}

static inline cst_model *parse(const char *text)
{
    cst_model *m = parse_set(text, 0, NULL);
    if (!m) fail_msg("%s", diag.text);
    return m;
}

static inline double number(const cst_model *m, const char *name)
{
    int i = cst_model_number_find(m, name);
    if (i < 0) fail_msg("no number '%s'", name);
    expect_text(cst_model_number_name(m, i), name);
    return cst_model_number_value(m, i);
}

/* Values of all ids and P, at leaf values scaled by 1 + spread*random */
typedef struct values {
    double *leaf, *val, *P;
} values;

static unsigned long long seed = 1;
static inline double uniform(void) /* in (-1, 1) */
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(seed >> 11) / 4503599627370496.0 - 1;
}

static inline values evaluate(const cst_model *m, double spread)
{
    values v;
    int n = cst_graph_leaves(m->graph);
    v.leaf = calloc((size_t)n + 1, sizeof(double));
    v.val = calloc((size_t)cst_graph_values(m->graph) + 1, sizeof(double));
    v.P = calloc((size_t)m->bound.n + 1, sizeof(double));
    for (int i = 0; i < n; i++) v.leaf[i] = cst_leaf_nominal(m->graph, i) + spread * uniform();
    cst_graph_eval(m->graph, v.leaf, v.val);
    for (int i = 0; i < m->bound.n; i++) v.P[i] = v.val[m->bound.at[i]];
    return v;
}

static inline void values_free(values v) { free(v.leaf), free(v.val), free(v.P); }

static inline double nominal(const cst_model *m, cst_id id)
{
    values v = evaluate(m, 0);
    double x = v.val[id];
    values_free(v);
    return x;
}

#endif
