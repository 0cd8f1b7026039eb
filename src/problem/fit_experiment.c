/* SPDX-License-Identifier: MIT
 *
 * One experiment: its numbers, its file, its channels, and the instants that count. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/csv.h"
#include "number/parse.h"
#include "problem/fit.h"

/* ---- the model of the experiment ---- */

static int is_unknown(const cst_fit *f, const char *name)
{
    for (int i = 0; i < f->numbers; i++)
        if (strcmp(f->unknown[i].name, name) == 0) return 1;
    return 0;
}

/* The same file with the experiment's numbers: texts, so that units, expressions and files of tables may stand there. */
static int load(cst_fit *f, cst_experiment *e, const cst_yaml *numbers, cst_diag *d)
{
    int n = f->nset;
    if (numbers && numbers->kind != CST_YAML_MAPPING) {
        cst_error(d, CST_MODEL, numbers->where, "numbers must be {NAME: value, ..}");
        return 0;
    }
    const char **set = cst_new(&f->arena, const char *, f->nset + (numbers ? numbers->n : 0) + 1);
    for (int i = 0; i < n; i++) set[i] = f->set[i];
    for (int i = 0; numbers && i < numbers->n; i++) {
        const cst_yaml *v = numbers->child[i];
        if (is_unknown(f, numbers->key[i])) {
            cst_error(d, CST_MODEL, numbers->key_where[i],
                      "'%s' is identified: an experiment cannot prescribe it", numbers->key[i]);
            return 0;
        }
        if (v->kind != CST_YAML_SCALAR || !v->text[0]) {
            cst_error(d, CST_MODEL, v->where, "the value of '%s' must be a number or an expression",
                      numbers->key[i]);
            return 0;
        }
        set[n++] = cst_arena_printf(&f->arena, "%s=%s", numbers->key[i], v->text);
    }
    cst_diag own = {0};
    e->model = cst_model_load(f->path, n, set, &own);
    if (!e->model) { /* what is wrong now is wrong in the experiment's numbers */
        cst_error(d, CST_MODEL, numbers ? numbers->where : e->where, "experiment '%s': %.*s", e->name,
                  (int)strcspn(own.text, "\n"), own.text);
        return 0;
    }
    e->values = cst_new(&f->arena, double, e->model->leaf.n + 1);
    for (int i = 0; i < e->model->leaf.n; i++) e->values[i] = cst_model_number_value(e->model, i);
    e->which = cst_new(&f->arena, int, f->numbers + 1);
    for (int i = 0; i < f->numbers; i++) {
        e->which[i] = cst_model_number_find(e->model, f->unknown[i].name);
        if (e->which[i] >= 0) continue;
        cst_error(d, CST_MODEL, e->where, "experiment '%s' has no number '%s'", e->name, f->unknown[i].name);
        return 0;
    }
    return 1;
}

/* ---- the file ---- */

static const double *column(const cst_csv *csv, const char *name, cst_where w, cst_diag *d)
{
    const double *x = cst_csv_column(csv, name);
    if (x) return x;
    cst_nearest near = cst_nearest_begin(name);
    for (int i = 0; i < csv->ncol; i++) cst_nearest_try(&near, csv->name[i]);
    const char *best = cst_nearest_best(&near);
    cst_error(d, CST_MODEL, w,
              best ? "%s has no column '%.60s'; did you mean '%s'?" : "%s has no column '%.60s'", csv->file,
              name, best);
    return NULL;
}

static const cst_csv *read_file(cst_fit *f, const cst_experiment *e, const cst_yaml *name, cst_diag *d)
{
    if (!name || name->kind != CST_YAML_SCALAR || !name->text[0]) {
        cst_error(d, CST_MODEL, name ? name->where : e->where,
                  "experiment '%s' needs csv: the name of a file", e->name);
        return NULL;
    }
    const char *slash = name->where.file ? strrchr(name->where.file, '/') : NULL, *path = name->text;
    if (path[0] != '/' && slash)
        path = cst_arena_printf(&f->arena, "%.*s%s", (int)(slash - name->where.file + 1), name->where.file,
                                path);
    return cst_csv_read(&f->arena, path, d);
}

static const double *read_time(const cst_csv *csv, const cst_experiment *e, const cst_yaml *node, cst_diag *d)
{
    const char *name = node ? node->text : cst_csv_column(csv, "t") ? "t" : "time";
    const double *t = column(csv, name, node ? node->where : e->where, d);
    for (int i = 1; t && i < csv->nrow; i++)
        if (!(t[i] > t[i - 1])) {
            cst_error(d, CST_MODEL, (cst_where){csv->file, csv->line[i], 0},
                      "times must increase, but %g follows %g", t[i], t[i - 1]);
            return NULL;
        }
    return t;
}

/* ---- channels ---- */

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

/* Deviation from the mean: the scale of a channel whose noise is not given. */
static double spread(int n, const double *x)
{
    double mean = 0, sum = 0;
    for (int i = 0; i < n; i++) mean += x[i] / n;
    for (int i = 0; i < n; i++) sum += (x[i] - mean) * (x[i] - mean) / n;
    return sum > 0 ? sqrt(sum) : fabs(mean) > 0 ? fabs(mean) : 1;
}

static int read_sigma(cst_fit *f, cst_signal *c, const cst_yaml *node, double factor, int rows, cst_diag *d)
{
    const cst_yaml *noise = cst_yaml_get(node, "noise"), *weight = cst_yaml_get(node, "weight");
    double x = 1;
    if (noise && weight) {
        cst_error(d, CST_MODEL, weight->where, "a channel has either noise or weight, not both");
        return 0;
    }
    if (!noise) f->noise_known = 0;
    if (!noise && !weight) {
        c->sigma = spread(rows, c->data);
        return 1;
    }
    const char *what = noise ? "noise" : "weight";
    if (!cst_fit_number(noise ? noise : weight, what, &x, d)) return 0;
    if (!(x > 0)) {
        cst_error(d, CST_MODEL, (noise ? noise : weight)->where, "%s must be positive, not %g", what, x);
        return 0;
    }
    c->sigma = noise ? x * factor : 1 / x;
    return 1;
}

/* MEASURE: COLUMN, or MEASURE: {column, noise or weight, unit}; the unit is that of the column and of the noise */
static int read_channel(cst_fit *f, cst_experiment *e, const cst_csv *csv, const char *name, cst_where w,
                        const cst_yaml *node, cst_diag *d)
{
    static const char *const words[] = {"column", "noise", "weight", "unit", "doc", NULL};
    cst_signal *c = &e->channel[e->nchannel];
    const char *from = node->kind == CST_YAML_SCALAR ? node->text : name;
    const cst_yaml *col = cst_yaml_get(node, "column"), *unit = cst_yaml_get(node, "unit");
    double factor = 1;
    if (node->kind == CST_YAML_MAPPING && !cst_fit_keys(node, "a channel", words, d)) return 0;
    if (col) from = col->text;
    if (unit && !cst_unit_factor(unit->text, &factor)) {
        cst_error(d, CST_MODEL, unit->where, "unknown unit '%.40s'", unit->text);
        return 0;
    }
    c->name = name;
    c->component = find_component(e->model, name, w, d);
    const double *raw = c->component >= 0 ? column(csv, from, col ? col->where : node->where, d) : NULL;
    if (!raw) return 0;
    double *data = cst_new(&f->arena, double, csv->nrow + 1);
    for (int i = 0; i < csv->nrow; i++) data[i] = factor * raw[i];
    c->data = data;
    e->nchannel++;
    return read_sigma(f, c, node, factor, csv->nrow, d);
}

static int read_channels(cst_fit *f, cst_experiment *e, const cst_csv *csv, const cst_yaml *map, cst_diag *d)
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

/* ---- instants ---- */

typedef struct window {
    double from, to, every; /* in the run's time, with the offset that it starts from */
    double offset, lowest, highest;
} window;

/* A number, or {range: [lowest, highest], start: s}: then it is looked for as well. */
static int read_offset(cst_fit *f, cst_experiment *e, const cst_yaml *node, window *w, cst_diag *d)
{
    e->shift = -1;
    if (!node || node->kind != CST_YAML_MAPPING) {
        int ok = cst_fit_number(node, "offset", &w->offset, d);
        w->lowest = w->highest = w->offset;
        return ok;
    }
    cst_unknown u = {.name = cst_arena_printf(&f->arena, "%s.offset", e->name), .unit = "s", .where = node->where};
    u.lower = -INFINITY, u.upper = INFINITY;
    if (!cst_yaml_get(node, "start")) u.start = NAN;
    if (!cst_unknown_settings(&u, node, "an offset", d)) return 0;
    if (!isfinite(u.lower) || !isfinite(u.upper)) {
        cst_error(d, CST_MODEL, node->where, "an offset that is looked for needs range: [lowest, highest]");
        return 0;
    }
    if (isnan(u.start)) u.start = (u.lower + u.upper) / 2;
    u.size = u.upper - u.lower;
    e->shift = f->n, f->unknown[f->n++] = u;
    w->offset = u.start, w->lowest = u.lower, w->highest = u.upper;
    return 1;
}

/* The run's time is that of the file plus the offset. Rows outside the window, nearer than `every` to the last one taken, or
 * before the start of the run do not count. A row is left out if this applies for any offset in its range, so that all evaluations
 * compare the same rows. A row exactly at the start would have no slope on its left. */
static int choose_rows(cst_fit *f, cst_experiment *e, const cst_csv *csv, const double *t, const window *w,
                       cst_diag *d)
{
    double start = isnan(f->options.start) ? e->model->sim.start : f->options.start, last = -INFINITY;
    double end = f->options.end; /* NAN: as long as there is something to compare with */
    size_t most = (size_t)csv->nrow * (size_t)e->nchannel;
    e->sample = cst_new(&f->arena, cst_sample, most + 1);
    e->clock = cst_new(&f->arena, double, most + 1);
    e->of = cst_new(&f->arena, int, most + 1);
    e->measured = cst_new(&f->arena, double, most + 1);
    for (int i = 0; i < csv->nrow; i++) {
        double at = t[i] + w->offset, earliest = t[i] + w->lowest;
        if (earliest < start || (e->shift >= 0 && earliest == start) || t[i] + w->highest > end) continue;
        if (at > w->to || at < w->from || at < last + w->every * (1 - 1e-9)) continue;
        last = at;
        for (int c = 0; c < e->nchannel; c++, e->n++) {
            e->sample[e->n] = (cst_sample){e->channel[c].component, at};
            e->clock[e->n] = t[i], e->of[e->n] = c, e->measured[e->n] = e->channel[c].data[i];
        }
    }
    if (e->n) return 1;
    cst_error(d, CST_MODEL, e->where, "experiment '%s': no row of %s lies within the run (from %g s)",
              e->name, csv->file, start);
    return 0;
}

static void free_model(void *m) { cst_model_free(*(cst_model **)m); }
static void free_run(void *r) { cst_run_free(*(cst_run **)r); }

static int prepare(cst_fit *f, cst_experiment *e, const window *w, cst_diag *d)
{
    cst_options o = f->options;
    o.end = e->clock[e->n - 1] + w->highest, o.threads = 1;
    e->run = cst_run_new(e->model, &o, d);
    if (!e->run) return 0;
    e->samples = cst_samples_new(&f->arena, e->model, e->n, e->sample);
    e->y = cst_new(&f->arena, double, e->n + 1), e->bar = cst_new(&f->arena, double, e->n + 1);
    e->J = cst_new(&f->arena, double, (size_t)e->n *(size_t)f->numbers + 1);
    e->gradient = cst_new(&f->arena, double, e->model->leaf.n + 1);
    e->diag = cst_new(&f->arena, cst_diag, 1);
    return 1;
}

int cst_experiment_read(cst_fit *f, cst_experiment *e, const cst_yaml *node, cst_diag *d)
{
    static const char *const words[] = {"csv",   "time",    "offset", "from",     "to",
                                        "every", "numbers", "doc",    "channels", NULL};
    window w = {.from = -INFINITY, .to = INFINITY};
    cst_arena_defer(&f->arena, free_model, &e->model);
    cst_arena_defer(&f->arena, free_run, &e->run);
    if (!cst_fit_keys(node, cst_arena_printf(&f->arena, "experiment '%s'", e->name), words, d)) return 0;
    int ok = read_offset(f, e, cst_yaml_get(node, "offset"), &w, d);
    ok &= cst_fit_number(cst_yaml_get(node, "from"), "from", &w.from, d);
    ok &= cst_fit_number(cst_yaml_get(node, "to"), "to", &w.to, d);
    ok &= cst_fit_number(cst_yaml_get(node, "every"), "every", &w.every, d);
    if (!ok || !load(f, e, cst_yaml_get(node, "numbers"), d)) return 0;
    const cst_csv *csv = read_file(f, e, cst_yaml_get(node, "csv"), d);
    const double *t = csv ? read_time(csv, e, cst_yaml_get(node, "time"), d) : NULL;
    if (!t || !read_channels(f, e, csv, cst_yaml_get(node, "channels"), d)) return 0;
    return choose_rows(f, e, csv, t, &w, d) && prepare(f, e, &w, d);
}
