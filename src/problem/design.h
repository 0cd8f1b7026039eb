/* SPDX-License-Identifier: MIT
 *
 * The design section of a model file, read and checked:
 *
 *     design:
 *       minimize: psi                          # an expression of objectives and numbers, or {psi:
 * weight, ..} subject_to: [peak_reaction <= 400]     # likewise on both sides; <=, >=, ==, or lower
 * <= x <= upper variables: [L01, L02]                  # or {L01: [1, 4], L02: {bounds: [1, 4],
 * scale: 0.1, start: 2}} scenarios: {slow: {set: {v: 3}, weight: 2}, fast: {set: {v: 9}}}
 *       continuation: {k: [1e3, 1e4]}          # solved with these values first, each from the
 * optimum before method: slsqp stop: {iterations: 100, gradient: 1e-8} */
#ifndef CST_PROBLEM_DESIGN_H
#define CST_PROBLEM_DESIGN_H

#include "base/diag.h"
#include "model/model.h"
#include "model/yaml.h"

typedef struct cst_variable {
    const char *name, *unit;
    cst_where where;
    int leaf; /* in the model itself */
    double lower, upper, start, scale;
} cst_variable;

typedef struct cst_text {
    const char *text;
    cst_where where;
} cst_text;

typedef struct cst_term { /* weight times expression */
    cst_text expression;
    double weight;
} cst_term;

typedef CST_LIST(cst_term) cst_terms;

typedef struct cst_limit { /* lower <= expression <= upper, texts; NULL: none */
    const char *name;      /* as written */
    cst_text expression, lower, upper;
    int equal; /* expression == upper */
} cst_limit;

typedef struct cst_scenario {
    const char *name, *file; /* file: another model file; NULL: the same */
    cst_where where;
    double weight, end, step; /* NAN: as the model says */
    CST_LIST(const char *) set;
    cst_terms minimize; /* instead of the section's; empty: the same */
} cst_scenario;

typedef struct cst_path { /* of a number through the stages of a continuation; its own value follows
                           */
    const char *name;
    cst_where where;
    double *value; /* (stages) */
} cst_path;

typedef struct cst_design {
    CST_LIST(cst_variable) variable;
    cst_terms minimize;
    CST_LIST(cst_limit) limit;
    CST_LIST(cst_scenario) scenario; /* at least one: the model itself, without a name */
    CST_LIST(cst_path) path;
    int stages; /* before the problem itself */
    cst_search_options search;
    cst_where where;
} cst_design;

cst_design *cst_design_read(cst_arena *a, const cst_model *m, cst_diag *d); /* NULL: reported */

/* design_text.c: an expression of objectives and numbers of a model */
typedef struct cst_names {
    const cst_model *m;
    int constant; /* 1: numbers only, at their values */
} cst_names;
cst_id cst_design_parse(cst_graph *g, const cst_text *text, cst_names *names,
                        cst_diag *d); /* CST_NONE: reported */
int cst_design_number(cst_arena *a, const cst_model *m, const cst_yaml *node, const char *what,
                      double *to, cst_diag *d);
int cst_design_limit(cst_arena *a, const cst_yaml *node, cst_limit *to, cst_diag *d);
/* error with the nearest of the words; words end with NULL */
int cst_design_keys(const cst_yaml *map, const char *owner, const char *const *words, cst_diag *d);

#endif
