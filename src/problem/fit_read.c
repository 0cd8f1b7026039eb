/* SPDX-License-Identifier: MIT
 *
 * The section `identify`: what is looked for, how, and from which experiments. */
#include <math.h>
#include <string.h>

#include "number/parse.h"
#include "problem/fit.h"

int cst_fit_keys(const cst_yaml *map, const char *owner, const char *const *words, cst_diag *d)
{
    int ok = 1;
    if (map->kind != CST_YAML_MAPPING) {
        cst_error(d, CST_MODEL, map->where, "%s must be a mapping", owner);
        return 0;
    }
    for (int i = 0; i < map->n; i++) {
        int known = 0;
        cst_nearest near = cst_nearest_begin(map->key[i]);
        for (int k = 0; words[k]; k++)
            known |= strcmp(words[k], map->key[i]) == 0, cst_nearest_try(&near, words[k]);
        const char *best = cst_nearest_best(&near);
        if (!known)
            cst_error(d, CST_MODEL, map->key_where[i],
                      best ? "unknown key '%.60s' of %s; did you mean '%s'?"
                           : "unknown key '%.60s' of %s",
                      map->key[i], owner, best);
        ok &= known;
    }
    return ok;
}

int cst_fit_quantity(const cst_yaml *node, const char *what, double factor, const char *unit,
                     double *to, cst_diag *d)
{
    int own = 0; /* length of the unit behind the number */
    if (!node) return 1;
    if (node->kind != CST_YAML_SCALAR || !cst_parse_plain(node->text, to) || !isfinite(*to)) {
        cst_error(d, CST_MODEL, node->where, "%s must be a number, such as 5 ms", what);
        return 0;
    }
    const char *beside = unit ? cst_unit_misfit(node->text, unit, &own) : NULL;
    if (beside) {
        cst_error(d, CST_MODEL, node->where, "%s is in %.*s, but the measure is in %s", what, own,
                  beside, unit);
        return 0;
    }
    cst_parse_plain_unit(node->text, &own);
    if (!own) *to *= factor;
    return 1;
}

int cst_fit_number(const cst_yaml *node, const char *what, double *to, cst_diag *d)
{
    return cst_fit_quantity(node, what, 1, NULL, to, d);
}

/* ---- parameters ---- */

static int find_number(cst_fit *f, const char *name, cst_where w, cst_diag *d)
{
    const cst_model *m = f->model;
    int leaf = cst_model_number_find(m, name);
    if (leaf >= 0) return leaf;
    cst_nearest near = cst_nearest_begin(name);
    for (int i = 0; i < m->leaf.n; i++) cst_nearest_try(&near, m->leaf.at[i].name);
    const char *best = cst_nearest_best(&near);
    cst_error(d, CST_MODEL, w,
              best ? "the model has no number '%.60s'; did you mean '%s'?"
                   : "the model has no number '%.60s'",
              name, best);
    return -1;
}

static int read_range(cst_unknown *u, const cst_yaml *range, double factor, cst_diag *d)
{
    const double lo = u->lower, hi = u->upper;
    if (!range) return 1;
    if (range->kind != CST_YAML_SEQUENCE || range->n != 2) {
        cst_error(d, CST_MODEL, range->where, "range must be [lowest, highest]");
        return 0;
    }
    for (int i = 0; i < 2; i++) {
        const cst_yaml *b = range->child[i];
        double *to = i ? &u->upper : &u->lower;
        if (strcmp(b->text, i ? "inf" : "-inf") == 0)
            *to = i ? INFINITY : -INFINITY;
        else if (!cst_fit_quantity(b, "range", factor, u->unit, to, d))
            return 0;
    }
    if (u->lower < u->upper && u->lower >= lo && u->upper <= hi) return 1;
    if (u->lower < u->upper)
        cst_error(d, CST_MODEL, range->where,
                  "the range [%g, %g] of '%s' leaves its own range [%g, %g]", u->lower, u->upper,
                  u->name, lo, hi);
    else
        cst_error(d, CST_MODEL, range->where, "range [%g, %g] is empty", u->lower, u->upper);
    return 0;
}

int cst_unknown_settings(cst_unknown *u, const cst_yaml *node, const char *owner, double factor,
                         cst_diag *d)
{
    static const char *const words[] = {"range", "start", "doc", NULL};
    if (node && node->kind != CST_YAML_NULL) {
        if (!cst_fit_keys(node, owner, words, d)) return 0;
        if (!read_range(u, cst_yaml_get(node, "range"), factor, d)) return 0;
        if (!cst_fit_quantity(cst_yaml_get(node, "start"), "start", factor, u->unit, &u->start, d))
            return 0;
    }
    if (u->start < u->lower || u->start > u->upper) {
        cst_error(d, CST_MODEL, u->where, "'%s' starts at %g, outside of its range [%g, %g]",
                  u->name, u->start, u->lower, u->upper);
        return 0;
    }
    u->size = fabs(u->start);
    if (u->size == 0) u->size = isfinite(u->upper - u->lower) ? u->upper - u->lower : 1;
    return 1;
}

static int read_parameter(cst_fit *f, cst_unknown *u, const char *name, cst_where w,
                          const cst_yaml *node, cst_diag *d)
{
    int leaf = find_number(f, name, w, d);
    if (leaf < 0) return 0;
    const cst_leaf *l = &f->model->leaf.at[leaf];
    *u = (cst_unknown){.name = l->name,
                       .unit = l->unit ? l->unit : "1",
                       .where = w,
                       .lower = l->lo,
                       .upper = l->hi};
    u->start = cst_model_number_value(f->model, leaf);
    if (!cst_unknown_settings(u, node, "a parameter that is identified", 1, d)) return 0;
    for (const cst_unknown *v = f->unknown; v < u; v++)
        if (strcmp(v->name, u->name) == 0) {
            cst_error(d, CST_MODEL, w, "'%s' is named twice", name);
            return 0;
        }
    return 1;
}

/* [k, c] or {k: {range: [lo, hi], start: 3}, c: } */
static int read_parameters(cst_fit *f, const cst_yaml *list, int own, cst_where w, cst_diag *d)
{
    int ok =
        list && (list->kind == CST_YAML_SEQUENCE || list->kind == CST_YAML_MAPPING) && list->n > 0;
    if (!ok) {
        cst_error(d, CST_MODEL, list ? list->where : w,
                  "identify needs parameters: [NAME, ..] or {NAME: {range: [lo, hi]}, ..}");
        return 0;
    }
    f->unknown = cst_new(&f->arena, cst_unknown, list->n + own);
    for (int i = 0; i < list->n; i++) {
        int map = list->kind == CST_YAML_MAPPING;
        const char *name = map ? list->key[i] : list->child[i]->text;
        int one = read_parameter(f, &f->unknown[f->n], name,
                                 map ? list->key_where[i] : list->child[i]->where,
                                 map ? list->child[i] : NULL, d);
        f->n += one, ok &= one;
    }
    f->numbers = f->n;
    return ok;
}

/* At most: an offset of each experiment's clock, scale and offset of each channel */
static int own_parameters(const cst_yaml *experiments)
{
    int n = 0;
    for (int i = 0; experiments && i < experiments->n; i++) {
        const cst_yaml *channels =
            experiments->child[i] ? cst_yaml_get(experiments->child[i], "channels") : NULL;
        n += 1 + 2 * (channels ? channels->n : 0);
    }
    return n;
}

/* ---- the section ---- */

static int read_settings(cst_fit *f, const cst_yaml *node, cst_diag *d)
{
    double iterations = 0;
    const cst_yaml *method = cst_yaml_get(node, "method"),
                   *confidence = cst_yaml_get(node, "confidence");
    f->confidence = 0.95, f->tolerance = 1e-4;
    int ok = cst_fit_number(cst_yaml_get(node, "iterations"), "iterations", &iterations, d);
    ok &= cst_fit_number(cst_yaml_get(node, "tolerance"), "tolerance", &f->tolerance, d);
    ok &= cst_fit_number(confidence, "confidence", &f->confidence, d);
    if (ok && !(f->confidence > 0 && f->confidence < 1)) {
        cst_error(d, CST_MODEL, confidence->where, "confidence must be in (0, 1), not %g",
                  f->confidence);
        ok = 0;
    }
    if (ok && !(f->tolerance > 0 && f->tolerance < 1)) {
        cst_error(d, CST_MODEL, cst_yaml_get(node, "tolerance")->where,
                  "tolerance must be in (0, 1), not %g", f->tolerance);
        ok = 0;
    }
    f->iterations = iterations >= 1 && iterations < 1e6 ? (int)iterations : 0;
    if (method) f->method = method->text;
    return ok;
}

static int read_experiments(cst_fit *f, const cst_yaml *map, cst_where w, cst_diag *d)
{
    if (!map || map->kind != CST_YAML_MAPPING || map->n == 0) {
        cst_error(d, CST_MODEL, map ? map->where : w,
                  "identify needs experiments: {NAME: {csv: .., channels: {..}}, ..}");
        return 0;
    }
    int ok = 1;
    f->experiment = cst_new(&f->arena, cst_experiment, map->n);
    for (int i = 0; i < map->n; i++) {
        cst_experiment *e = &f->experiment[f->nexperiment++];
        e->name = map->key[i], e->where = map->key_where[i];
        if (strpbrk(e->name, ",\"\n")) {
            cst_error(d, CST_MODEL, e->where,
                      "an experiment's name must not contain commas or quotes");
            ok = 0;
        }
        ok &= cst_experiment_read(f, e, map->child[i], d);
        e->first = f->m;
        f->m += e->n;
    }
    return ok;
}

int cst_fit_read(cst_fit *f, cst_diag *d)
{
    static const char *const words[] = {"parameters", "experiments", "method", "iterations",
                                        "tolerance",  "confidence",  "doc",    NULL};
    const cst_yaml *node = f->model->identify,
                   *experiments = node ? cst_yaml_get(node, "experiments") : NULL;
    if (!node) {
        cst_error(d, CST_MODEL, (cst_where){.file = f->model->file},
                  "the model has no section identify");
        return 0;
    }
    f->noise_known = 1;
    int ok = cst_fit_keys(node, "identify", words, d);
    ok &= read_settings(f, node, d);
    ok &= read_parameters(f, cst_yaml_get(node, "parameters"), own_parameters(experiments),
                          node->where, d);
    if (!ok || !read_experiments(f, experiments, node->where, d)) return 0;
    if (f->m >= f->n) return 1;
    cst_error(d, CST_MODEL, node->where, "%d measured values cannot determine %d numbers", f->m,
              f->n);
    return 0;
}
