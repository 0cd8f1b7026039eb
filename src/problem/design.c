/* SPDX-License-Identifier: MIT */
#include "problem/design.h"

#include <math.h>
#include <string.h>

#include "sensitivity/scaling.h"

typedef struct reader {
    cst_arena *a;
    const cst_model *m;
    cst_diag *d;
    cst_design *to;
    const double *size; /* (leaves) */
} reader;

static int is_mapping(const cst_yaml *y) { return y && y->kind == CST_YAML_MAPPING; }

/* ---- variables ---- */

/* Changes of a variable by its scale should matter: the size of the number (number:
 * cst_design_sizes), not above the distance of the bounds, and not below a thousandth of it; of a
 * number that is negligible against that distance, the distance. */
static double automatic_scale(const cst_variable *v, double number)
{
    const double width = v->upper - v->lower, size = fmax(number, fabs(v->start));
    if (!isfinite(width) || !(width > 0)) return size > 0 ? size : 1;
    return fabs(v->start) <= 1e-6 * width ? width : fmin(fmax(size, 1e-3 * width), width);
}

static int read_bounds(reader *r, cst_variable *v, const cst_yaml *node)
{
    if (!node) return 1;
    if (node->kind != CST_YAML_SEQUENCE || node->n != 2) {
        cst_error(r->d, CST_MODEL, node->where, "bounds of '%s' must be [lowest, highest]",
                  v->name);
        return 0;
    }
    double lo = v->lower, hi = v->upper;
    if (!cst_design_number(r->a, r->m, node->child[0], "a bound", &v->lower, r->d) ||
        !cst_design_number(r->a, r->m, node->child[1], "a bound", &v->upper, r->d))
        return 0;
    if (v->lower >= lo && v->upper <= hi) return 1;
    cst_error(r->d, CST_MODEL, node->where, "the bounds [%g, %g] of '%s' leave its range [%g, %g]",
              v->lower, v->upper, v->name, lo, hi);
    return 0;
}

static void read_variable(reader *r, int leaf, cst_where w, const cst_yaml *settings)
{
    static const char *const keys[] = {"bounds", "scale", "start", "name", "doc", NULL};
    const cst_leaf *l = &r->m->leaf.at[leaf];
    cst_variable v = {.name = l->name,
                      .unit = l->unit,
                      .where = w,
                      .leaf = leaf,
                      .lower = l->lo,
                      .upper = l->hi,
                      .start = cst_model_number_value(r->m, leaf),
                      .scale = NAN};
    for (int i = 0; i < r->to->variable.n; i++)
        if (r->to->variable.at[i].leaf == leaf) {
            cst_error(r->d, CST_MODEL, w, "'%s' is listed twice as a variable", l->name);
            return;
        }
    const cst_yaml *bounds = settings && settings->kind == CST_YAML_SEQUENCE ? settings : NULL;
    if (is_mapping(settings)) {
        if (!cst_design_keys(settings, l->name, keys, r->d)) return;
        bounds = cst_yaml_get(settings, "bounds");
        if (!cst_design_number(r->a, r->m, cst_yaml_get(settings, "scale"), "scale", &v.scale,
                               r->d) ||
            !cst_design_number(r->a, r->m, cst_yaml_get(settings, "start"), "start", &v.start,
                               r->d))
            return;
    } else if (settings && settings->kind == CST_YAML_SCALAR) {
        cst_error(r->d, CST_MODEL, settings->where,
                  "'%s': [lowest, highest] or {bounds: .., scale: .., start: ..}", l->name);
        return;
    }
    if (!read_bounds(r, &v, bounds)) return;
    if (isnan(v.scale)) v.scale = automatic_scale(&v, r->size[leaf]);
    if (!(v.lower <= v.start && v.start <= v.upper))
        cst_error(r->d, CST_MODEL, w, "'%s' starts at %g, outside of its bounds [%g, %g]", v.name,
                  v.start, v.lower, v.upper);
    else if (!(v.scale > 0 && isfinite(v.scale)))
        cst_error(r->d, CST_MODEL, w, "the scale of '%s' must be positive, not %g", v.name,
                  v.scale);
    else
        *cst_push(r->a, &r->to->variable) = v;
}

/* Names contain brackets, so fnmatch cannot be used. */
static int matches(const char *pattern, const char *name)
{
    if (*pattern == '*') return matches(pattern + 1, name) || (*name && matches(pattern, name + 1));
    if (!*pattern || !*name) return !*pattern && !*name;
    return (*pattern == '?' || *pattern == *name) && matches(pattern + 1, name + 1);
}

static void no_number(reader *r, const char *word, cst_where w)
{
    cst_nearest near = cst_nearest_begin(word);
    for (int i = 0; i < r->m->leaf.n; i++) cst_nearest_try(&near, r->m->leaf.at[i].name);
    const char *best = cst_nearest_best(&near);
    cst_error(r->d, CST_MODEL, w,
              best ? "there is no number '%s'; did you mean '%s'?" : "there is no number '%s'",
              word, best);
}

static void read_variables_of(reader *r, const char *word, cst_where w, const cst_yaml *settings)
{
    int leaf = cst_model_number_find(r->m, word), any = 0;
    if (leaf >= 0) {
        read_variable(r, leaf, w, settings);
        return;
    }
    for (int i = 0; i < r->m->leaf.n && strpbrk(word, "*?"); i++)
        if (matches(word, r->m->leaf.at[i].name)) read_variable(r, i, w, settings), any = 1;
    if (!any) no_number(r, word, w);
}

static void read_variables(reader *r, const cst_yaml *list)
{
    if (!list || (list->kind != CST_YAML_SEQUENCE && list->kind != CST_YAML_MAPPING) ||
        list->n == 0) {
        cst_error(r->d, CST_MODEL, list ? list->where : r->to->where,
                  "design needs variables: [NAME, ..]");
        return;
    }
    for (int i = 0; i < list->n; i++) {
        const cst_yaml *item = list->child[i], *name = NULL;
        if (list->kind == CST_YAML_MAPPING)
            read_variables_of(r, list->key[i], list->key_where[i], item);
        else if (item->kind == CST_YAML_SCALAR)
            read_variables_of(r, item->text, item->where, NULL);
        else if (is_mapping(item) &&
                 (name = cst_yaml_get(item, "name"))) /* - {name: L01, bounds: [1, 4]} */
            read_variables_of(r, name->text, name->where, item);
        else if (is_mapping(item) && item->n == 1) /* - L01: [1, 4] */
            read_variables_of(r, item->key[0], item->key_where[0], item->child[0]);
        else
            cst_error(r->d, CST_MODEL, item->where,
                      "a variable is NAME, NAME: [lowest, highest] or NAME: {bounds: ..}");
    }
}

/* ---- objectives and constraints ---- */

static int read_terms(reader *r, const cst_yaml *node, cst_terms *to)
{
    if (node->kind == CST_YAML_SCALAR && node->text[0]) {
        cst_where w = node->where;
        w.col += node->quoted;
        *cst_push(r->a, to) = (cst_term){{node->text, w}, 1};
        return 1;
    }
    if ((node->kind != CST_YAML_MAPPING && node->kind != CST_YAML_SEQUENCE) || node->n == 0) {
        cst_error(r->d, CST_MODEL, node->where,
                  "minimize is an expression of objectives, or {objective: weight, ..}");
        return 0;
    }
    for (int i = 0; i < node->n; i++) {
        cst_term t = {.weight = 1};
        if (node->kind == CST_YAML_SEQUENCE) {
            if (!read_terms(r, node->child[i], to)) return 0;
            continue;
        }
        t.expression = (cst_text){node->key[i], node->key_where[i]};
        if (!cst_design_number(r->a, r->m, node->child[i], "a weight", &t.weight, r->d)) return 0;
        *cst_push(r->a, to) = t;
    }
    return 1;
}

static void read_limits(reader *r, const cst_yaml *node)
{
    cst_limit limit;
    if (!node || node->kind == CST_YAML_NULL) return;
    int n = node->kind == CST_YAML_SEQUENCE ? node->n : 1;
    for (int i = 0; i < n; i++)
        if (cst_design_limit(r->a, node->kind == CST_YAML_SEQUENCE ? node->child[i] : node, &limit,
                             r->d))
            *cst_push(r->a, &r->to->limit) = limit;
}

/* ---- scenarios ---- */

static void read_set(reader *r, cst_scenario *s, const cst_yaml *node)
{
    if (!node || node->kind == CST_YAML_NULL) return;
    if (!is_mapping(node)) {
        cst_error(r->d, CST_MODEL, node->where, "set must be {NAME: value, ..}");
        return;
    }
    for (int i = 0; i < node->n; i++) {
        for (int k = 0; k < r->to->variable.n; k++)
            if (strcmp(r->to->variable.at[k].name, node->key[i]) == 0)
                cst_error(r->d, CST_MODEL, node->key_where[i],
                          "'%s' is a design variable: a scenario cannot set it", node->key[i]);
        if (node->child[i]->kind != CST_YAML_SCALAR)
            cst_error(r->d, CST_MODEL, node->child[i]->where, "'%s' must be a number",
                      node->key[i]);
        else
            *cst_push(r->a, &s->set) =
                cst_arena_printf(r->a, "%s=%s", node->key[i], node->child[i]->text);
    }
}

static void read_scenario(reader *r, const char *name, cst_where w, const cst_yaml *node)
{
    static const char *const keys[] = {"set",  "weight",   "file", "end",
                                       "step", "minimize", "doc",  NULL};
    cst_scenario s = {.name = name, .where = w, .weight = 1, .end = NAN, .step = NAN};
    if (node->kind != CST_YAML_NULL) {
        if (!is_mapping(node) || !cst_design_keys(node, name, keys, r->d)) {
            if (!is_mapping(node))
                cst_error(r->d, CST_MODEL, w,
                          "a scenario is {set: {NAME: value, ..}, weight: 1, ..}");
            return;
        }
        const cst_yaml *file = cst_yaml_get(node, "file"),
                       *minimize = cst_yaml_get(node, "minimize");
        if (file) s.file = file->text;
        if (minimize) read_terms(r, minimize, &s.minimize);
        cst_design_number(r->a, r->m, cst_yaml_get(node, "weight"), "weight", &s.weight, r->d);
        cst_design_number(r->a, r->m, cst_yaml_get(node, "end"), "end", &s.end, r->d);
        cst_design_number(r->a, r->m, cst_yaml_get(node, "step"), "step", &s.step, r->d);
        read_set(r, &s, cst_yaml_get(node, "set"));
    }
    *cst_push(r->a, &r->to->scenario) = s;
}

static void read_scenarios(reader *r, const cst_yaml *node)
{
    if (!node || node->kind == CST_YAML_NULL) {
        *cst_push(r->a, &r->to->scenario) =
            (cst_scenario){.name = "", .weight = 1, .end = NAN, .step = NAN, .where = r->to->where};
        return;
    }
    if (!is_mapping(node) || node->n == 0) {
        cst_error(r->d, CST_MODEL, node->where,
                  "scenarios must be {NAME: {set: {..}, weight: 1}, ..}");
        return;
    }
    for (int i = 0; i < node->n; i++)
        read_scenario(r, node->key[i], node->key_where[i], node->child[i]);
}

/* ---- continuation ---- */

static void read_path(reader *r, const char *name, cst_where w, const cst_yaml *node)
{
    int leaf = cst_model_number_find(r->m, name);
    if (leaf < 0) {
        no_number(r, name, w);
        return;
    }
    for (int k = 0; k < r->to->variable.n; k++)
        if (r->to->variable.at[k].leaf == leaf) {
            cst_error(r->d, CST_MODEL, w,
                      "'%s' is a design variable: the continuation cannot set it", name);
            return;
        }
    if (node->kind != CST_YAML_SEQUENCE || node->n == 0 ||
        (r->to->path.n && node->n != r->to->stages)) {
        cst_error(r->d, CST_MODEL, node->where,
                  "'%s' must be a list of values, as many for each number", name);
        return;
    }
    cst_path p = {name, w, cst_new(r->a, double, node->n)};
    const cst_leaf *l = &r->m->leaf.at[leaf];
    for (int k = 0; k < node->n; k++) {
        if (!cst_design_number(r->a, r->m, node->child[k], name, &p.value[k], r->d)) return;
        if (p.value[k] >= l->lo && p.value[k] <= l->hi) continue;
        cst_error(r->d, CST_MODEL, node->child[k]->where, "%g is not in the range [%g, %g] of '%s'",
                  p.value[k], l->lo, l->hi, name);
    }
    r->to->stages = node->n;
    *cst_push(r->a, &r->to->path) = p;
}

static void read_continuation(reader *r, const cst_yaml *node)
{
    if (!node || node->kind == CST_YAML_NULL) return;
    if (!is_mapping(node)) {
        cst_error(r->d, CST_MODEL, node->where, "continuation must be {NAME: [value, ..]}");
        return;
    }
    for (int i = 0; i < node->n; i++)
        read_path(r, node->key[i], node->key_where[i], node->child[i]);
}

/* ---- method and stopping rules ---- */

static int read_whole(reader *r, const cst_yaml *node, const char *what, int *to)
{
    double x = 0;
    if (!node) return 1;
    if (!cst_design_number(r->a, r->m, node, what, &x, r->d)) return 0;
    if (x >= 1 && x <= 1e9 && x == floor(x)) return *to = (int)x, 1;
    cst_error(r->d, CST_MODEL, node->where, "%s must be a whole number from 1 to 1e9, not %g", what,
              x);
    return 0;
}

static void read_stop(reader *r, const cst_yaml *node)
{
    static const char *const keys[] = {"iterations", "evaluations", "time", "objective",
                                       "gradient",   "change",      "step", "feasible",
                                       "doc",        NULL};
    cst_search_options *s = &r->to->search;
    double *const number[] = {&s->seconds, &s->target, &s->gradient,
                              &s->change,  &s->step,   &s->feasible};
    if (!node || node->kind == CST_YAML_NULL) return;
    if (!is_mapping(node)) {
        cst_error(r->d, CST_MODEL, node->where, "stop must be {iterations: .., gradient: .., ..}");
        return;
    }
    cst_design_keys(node, "stop", keys, r->d);
    read_whole(r, cst_yaml_get(node, "iterations"), "iterations", &s->iterations);
    read_whole(r, cst_yaml_get(node, "evaluations"), "evaluations", &s->evaluations);
    for (int i = 0; i < 6; i++) {
        const cst_yaml *value = cst_yaml_get(node, keys[i + 2]);
        if (!cst_design_number(r->a, r->m, value, keys[i + 2], number[i], r->d)) continue;
        if (value && i != 1 && !(*number[i] > 0))
            cst_error(r->d, CST_MODEL, value->where, "%s must be positive, not %g", keys[i + 2],
                      *number[i]);
    }
}

static void read_method(reader *r, const cst_yaml *design)
{
    const cst_yaml *method = cst_yaml_get(design, "method"), *inner = cst_yaml_get(design, "inner");
    const cst_yaml *seed = cst_yaml_get(design, "seed");
    cst_search_options *s = &r->to->search;
    int number = (int)s->seed;
    if (method) s->method = method->text;
    if (inner) s->inner = inner->text;
    read_whole(r, cst_yaml_get(design, "starts"), "starts", &s->starts);
    if (read_whole(r, seed, "seed", &number)) s->seed = (unsigned long)number;
}

/* The section has other errors, so its expressions will not be compiled: errors in them are
 * reported now. */
static void report_names(const cst_design *s, const cst_model *m, cst_diag *d)
{
    cst_arena scratch = {0};
    if (!CST_ARENA_GUARD(&scratch)) {
        cst_graph *g = cst_graph_new(&scratch);
        cst_names names = {m, 0};
        for (int i = 0; i < s->minimize.n; i++)
            cst_design_parse(g, &s->minimize.at[i].expression, &names, d);
        for (int i = 0; i < s->limit.n; i++)
            cst_design_parse(g, &s->limit.at[i].expression, &names, d);
    }
    cst_arena_free(&scratch);
}

cst_design *cst_design_read(cst_arena *a, const cst_model *m, cst_diag *d)
{
    static const char *const keys[] = {"minimize",     "subject_to", "variables", "scenarios",
                                       "continuation", "method",     "inner",     "starts",
                                       "seed",         "stop",       "doc",       NULL};
    const cst_yaml *section = m->design;
    int before = d->errors;
    if (!section) {
        cst_error(d, CST_MODEL, (cst_where){.file = m->file},
                  "the model has no design section: design: {minimize: OBJECTIVE, variables: "
                  "[NAME, ..]}");
        return NULL;
    }
    cst_design *to = cst_new(a, cst_design, 1);
    reader r = {a, m, d, to, cst_design_sizes(a, m)};
    to->where = section->where;
    to->search = (cst_search_options){.target = NAN, .seed = 1}; /* 0: default */
    cst_design_keys(section, "design", keys, d);
    read_variables(&r, cst_yaml_get(section, "variables"));
    const cst_yaml *minimize = cst_yaml_get(section, "minimize");
    if (minimize)
        read_terms(&r, minimize, &to->minimize);
    else
        cst_error(d, CST_MODEL, section->where,
                  "design needs minimize: an expression of objectives");
    read_limits(&r, cst_yaml_get(section, "subject_to"));
    read_scenarios(&r, cst_yaml_get(section, "scenarios"));
    read_continuation(&r, cst_yaml_get(section, "continuation"));
    read_method(&r, section);
    read_stop(&r, cst_yaml_get(section, "stop"));
    if (d->errors == before) return to;
    report_names(to, m, d);
    return NULL;
}
