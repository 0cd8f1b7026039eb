/* SPDX-License-Identifier: MIT
 *
 * Channels: which column belongs to which measure, in which unit, through which sensor, and with
 * which noise. */
#include <math.h>
#include <string.h>

#include "model/dimensions.h"
#include "number/parse.h"
#include "problem/fit.h"

static int find_component(const cst_model *m, const char *name, cst_where w, cst_diag *d)
{
    cst_nearest near = cst_nearest_begin(name);
    for (int i = 0; i < m->component.n; i++) {
        if (strcmp(m->component.at[i].name, name) == 0) return i;
        cst_nearest_try(&near, m->component.at[i].name);
    }
    const char *best = cst_nearest_best(&near);
    cst_error(d, CST_MODEL, w,
              best ? "the model has no measure '%.60s'; did you mean '%s'?"
                   : "the model has no measure '%.60s'",
              name, best);
    return -1;
}

/* NULL: not known */
static const char *unit_of(const cst_model *m, int component)
{
    const char *unit = m->component.at[component].unit;
    const int known =
        strcmp(unit, "1") != 0 || cst_dimension_known(&m->dimensions->component[component]);
    return *unit && known ? unit : NULL;
}

/* ---- scale and offset ---- */

static int find_parameter(const cst_fit *f, const char *name)
{
    for (int j = 0; j < f->numbers; j++)
        if (strcmp(f->unknown[j].name, name) == 0) return j;
    return -1;
}

typedef struct gauge_kind {
    const char *key;
    double value;     /* where nothing is written */
    double factor;    /* of plain numbers */
    const char *unit; /* NULL: any */
} gauge_kind;

/* A number, the name of a number of the model, or {range, start}: a parameter
 * EXPERIMENT.MEASURE.scale */
static int read_gauge(cst_fit *f, const cst_experiment *e, const cst_signal *c,
                      const cst_yaml *node, const gauge_kind *kind, cst_gauge *g, cst_diag *d)
{
    *g = (cst_gauge){kind->value, -1};
    if (!node) return 1;
    if (node->kind == CST_YAML_SCALAR) {
        int leaf = cst_model_number_find(e->model, node->text);
        if (leaf < 0)
            return cst_fit_quantity(node, kind->key, kind->factor, kind->unit, &g->value, d);
        const char *unit = e->model->leaf.at[leaf].unit;
        if (kind->unit && unit && strcmp(unit, "1") != 0 &&
            cst_dimension_differs(unit, kind->unit)) {
            cst_error(d, CST_MODEL, node->where, "%s '%s' is in %s, but the measure is in %s",
                      kind->key, node->text, unit, kind->unit);
            return 0;
        }
        g->value = e->values[leaf], g->parameter = find_parameter(f, e->model->leaf.at[leaf].name);
        return 1;
    }
    cst_unknown u = {.name = cst_arena_printf(&f->arena, "%s.%s.%s", e->name, c->name, kind->key),
                     .where = node->where};
    u.unit = kind->unit ? kind->unit : "1", u.start = kind->value, u.lower = -INFINITY,
    u.upper = INFINITY;
    if (!cst_unknown_settings(&u, node, kind->key, kind->factor, d)) return 0;
    g->parameter = f->n, f->unknown[f->n++] = u;
    return 1;
}

/* ---- noise ---- */

/* sigma in SI; 0: by the spread of the values that count */
static int read_sigma(cst_fit *f, cst_signal *c, const cst_yaml *node, double factor,
                      const char *unit, cst_diag *d)
{
    const cst_yaml *noise = cst_yaml_get(node, "noise"), *weight = cst_yaml_get(node, "weight");
    double x = 1;
    if (noise && weight) {
        cst_error(d, CST_MODEL, weight->where, "a channel has either noise or weight, not both");
        return 0;
    }
    c->noise_known = noise != NULL;
    f->noise_known &= c->noise_known;
    if (!noise && !weight) return 1;
    const char *what = noise ? "noise" : "weight";
    if (!cst_fit_quantity(noise ? noise : weight, what, noise ? factor : 1, noise ? unit : "1", &x,
                          d))
        return 0;
    if (!(x > 0)) {
        cst_error(d, CST_MODEL, (noise ? noise : weight)->where, "%s must be positive, not %g",
                  what, x);
        return 0;
    }
    c->sigma = noise ? x : 1 / x;
    return 1;
}

/* Deviation from the mean: the scale of a channel whose noise is not given. */
static double spread(const cst_experiment *e, int channel)
{
    double mean = 0, sum = 0, n = e->channel[channel].n;
    for (int i = 0; i < e->n; i++)
        if (e->of[i] == channel) mean += e->measured[i] / n;
    for (int i = 0; i < e->n; i++)
        if (e->of[i] == channel) sum += (e->measured[i] - mean) * (e->measured[i] - mean) / n;
    return sum > 0 ? sqrt(sum) : fabs(mean) > 0 ? fabs(mean) : 1;
}

int cst_channels_weigh(cst_fit *f, cst_experiment *e, cst_diag *d)
{
    (void)f;
    for (int k = 0; k < e->nchannel; k++) {
        cst_signal *c = &e->channel[k];
        if (!c->n) {
            cst_error(d, CST_MODEL, c->where,
                      "experiment '%s': channel '%s' has no value within the run", e->name,
                      c->name);
            return 0;
        }
        if (c->sigma == 0) c->sigma = spread(e, k);
    }
    return 1;
}

/* ---- the section ---- */

/* MEASURE: COLUMN, or MEASURE: {column, unit, noise or weight, scale, offset}; the unit is that of
 * the column, of noise and offset */
static int read_channel(cst_fit *f, cst_experiment *e, const cst_csv *csv, const char *name,
                        cst_where w, const cst_yaml *node, cst_diag *d)
{
    static const char *const words[] = {"column", "noise",  "weight", "unit",
                                        "scale",  "offset", "doc",    NULL};
    cst_signal *c = &e->channel[e->nchannel];
    const cst_yaml *col = cst_yaml_get(node, "column"), *unit = cst_yaml_get(node, "unit");
    if (node->kind == CST_YAML_MAPPING && !cst_fit_keys(node, "a channel", words, d)) return 0;
    c->name = name, c->where = w;
    c->component = find_component(e->model, name, w, d);
    if (c->component < 0) return 0;
    const char *si = unit_of(e->model, c->component);
    cst_column_wish wish = {.name = col                             ? col->text
                                    : node->kind == CST_YAML_SCALAR ? node->text
                                                                    : name,
                            .unit = unit ? unit->text : NULL,
                            .as = si,
                            .by = si ? cst_arena_printf(&f->arena, "'%s'", name) : NULL,
                            .where = col ? col->where : node->where};
    cst_column column;
    if (!cst_column_read(&f->arena, csv, &wish, &column, d)) return 0;
    c->data = column.value;
    e->nchannel++;
    gauge_kind scale = {"scale", 1, 1, "1"},
               offset = {"offset", 0, column.factor, si ? si : column.unit};
    return read_gauge(f, e, c, cst_yaml_get(node, "scale"), &scale, &c->scale, d) &&
           read_gauge(f, e, c, cst_yaml_get(node, "offset"), &offset, &c->offset, d) &&
           read_sigma(f, c, node, column.factor, offset.unit, d);
}

int cst_channels_read(cst_fit *f, cst_experiment *e, const cst_csv *csv, const cst_yaml *map,
                      cst_diag *d)
{
    if (!map || map->kind != CST_YAML_MAPPING || map->n == 0) {
        cst_error(d, CST_MODEL, map ? map->where : e->where,
                  "experiment '%s' needs channels: {MEASURE: COLUMN, ..}", e->name);
        return 0;
    }
    int ok = 1;
    e->channel = cst_new(&f->arena, cst_signal, map->n);
    for (int i = 0; i < map->n; i++)
        ok &= read_channel(f, e, csv, map->key[i], map->key_where[i], map->child[i], d);
    return ok;
}
