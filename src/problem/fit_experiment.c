/* SPDX-License-Identifier: MIT
 *
 * One experiment: its numbers, its file, and the instants that count. */
#include <math.h>
#include <string.h>

#include "base/file.h"
#include "problem/fit.h"

/* ---- the model of the experiment ---- */

static int is_unknown(const cst_fit *f, const char *name)
{
    for (int i = 0; i < f->numbers; i++)
        if (strcmp(f->unknown[i].name, name) == 0) return 1;
    return 0;
}

/* The same file with the experiment's numbers: texts, so that units, expressions and files of
 * tables may stand there. */
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
    e->model = cst_model_load_below(f->options.below, f->path, n, set, &own);
    if (!e->model) { /* what is wrong now is wrong in the experiment's numbers */
        cst_error(d, CST_MODEL, numbers ? numbers->where : e->where, "experiment '%s': %.*s",
                  e->name, (int)strcspn(own.text, "\n"), own.text);
        return 0;
    }
    e->values = cst_new(&f->arena, double, e->model->leaf.n + 1);
    for (int i = 0; i < e->model->leaf.n; i++) e->values[i] = cst_model_number_value(e->model, i);
    e->which = cst_new(&f->arena, int, f->numbers + 1);
    for (int i = 0; i < f->numbers; i++) {
        e->which[i] = cst_model_number_find(e->model, f->unknown[i].name);
        if (e->which[i] >= 0) continue;
        cst_error(d, CST_MODEL, e->where, "experiment '%s' has no number '%s'", e->name,
                  f->unknown[i].name);
        return 0;
    }
    return 1;
}

/* ---- the file ---- */

static const cst_csv *read_file(cst_fit *f, const cst_experiment *e, const cst_yaml *name,
                                cst_diag *d)
{
    if (!name || name->kind != CST_YAML_SCALAR || !name->text[0]) {
        cst_error(d, CST_MODEL, name ? name->where : e->where,
                  "experiment '%s' needs csv: the name of a file", e->name);
        return NULL;
    }
    const char *slash = name->where.file ? strrchr(name->where.file, '/') : NULL,
               *path = name->text;
    if (path[0] != '/' && slash)
        path = cst_arena_printf(&f->arena, "%.*s%s", (int)(slash - name->where.file + 1),
                                name->where.file, path);
    const char *why = cst_file_obstacle(path, f->model->root);
    if (!why) return cst_csv_read(&f->arena, path, f->model->root, d);
    cst_error(d, CST_MODEL, name->where, "cannot read '%.100s': %s", name->text, why);
    return NULL;
}

/* COLUMN or {column: COLUMN, unit: ms}; else the first of the usual names that is there */
static const double *read_time(cst_fit *f, const cst_csv *csv, const cst_experiment *e,
                               const cst_yaml *node, cst_diag *d)
{
    static const char *const usual[] = {"t", "time", "T", "Time", "TIME", NULL}, *const words[] = {
                                                                                     "column",
                                                                                     "unit", NULL};
    const cst_yaml *name = node, *unit = NULL;
    if (node && node->kind == CST_YAML_MAPPING) {
        if (!cst_fit_keys(node, "time", words, d)) return NULL;
        name = cst_yaml_get(node, "column"), unit = cst_yaml_get(node, "unit");
    }
    cst_column_wish wish = {"time", unit ? unit->text : NULL,     "s", "time",
                            0,      node ? node->where : e->where};
    cst_column t;
    for (int k = 0; !name && usual[k]; k++)
        if (cst_csv_find(csv, usual[k]) >= 0) {
            wish.name = usual[k];
            break;
        }
    if (name) wish.name = name->text;
    return cst_column_read(&f->arena, csv, &wish, &t, d) ? t.value : NULL;
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
    cst_unknown u = {.name = cst_arena_printf(&f->arena, "%s.offset", e->name),
                     .unit = "s",
                     .where = node->where};
    u.lower = -INFINITY, u.upper = INFINITY;
    if (!cst_yaml_get(node, "start")) u.start = NAN;
    if (!cst_unknown_settings(&u, node, "an offset", 1, d)) return 0;
    if (!isfinite(u.lower) || !isfinite(u.upper)) {
        cst_error(d, CST_MODEL, node->where,
                  "an offset that is looked for needs range: [lowest, highest]");
        return 0;
    }
    if (isnan(u.start)) u.start = (u.lower + u.upper) / 2;
    u.size = u.upper - u.lower;
    e->shift = f->n, f->unknown[f->n++] = u;
    w->offset = u.start, w->lowest = u.lower, w->highest = u.upper;
    return 1;
}

/* 1: the row lies within the window and the run, for any offset in its range, so that all
 * evaluations compare the same rows. A row exactly at the start would have no slope on its left. */
static int counts(const cst_fit *f, const cst_experiment *e, const window *w, double t)
{
    double start = isnan(f->options.start) ? e->model->sim.start : f->options.start,
           at = t + w->offset, earliest = t + w->lowest;
    double end = f->options.end; /* NAN: as long as there is something to compare with */
    if (isnan(t) || earliest < start || (e->shift >= 0 && earliest == start) ||
        t + w->highest > end)
        return 0;
    return at >= w->from && at <= w->to;
}

/* The run's time is that of the file plus the offset. A value does not count if its row does not,
 * or if it is nearer than `every` to the last one of its channel. */
static int choose_rows(cst_fit *f, cst_experiment *e, const cst_csv *csv, const double *t,
                       const window *w, cst_diag *d)
{
    size_t most = (size_t)csv->nrow * (size_t)e->nchannel;
    double before = -INFINITY;
    e->sample = cst_new(&f->arena, cst_sample, most + 1);
    e->clock = cst_new(&f->arena, double, most + 1);
    e->of = cst_new(&f->arena, int, most + 1);
    e->measured = cst_new(&f->arena, double, most + 1);
    for (int i = 0; i < csv->nrow; i++) {
        if (!counts(f, e, w, t[i])) continue;
        if (!(t[i] > before)) {
            cst_error(d, CST_MODEL, (cst_where){csv->file, csv->line[i], 1},
                      "times must increase, but %g follows %g", t[i], before);
            return 0;
        }
        before = t[i];
        for (int k = 0; k < e->nchannel; k++) {
            cst_signal *c = &e->channel[k];
            double at = t[i] + w->offset;
            if (isnan(c->data[i])) c->missing++;
            if (isnan(c->data[i]) || (c->n && at < c->last + w->every * (1 - 1e-9))) continue;
            e->sample[e->n] = (cst_sample){c->component, at};
            e->clock[e->n] = t[i], e->of[e->n] = k, e->measured[e->n++] = c->data[i];
            c->last = at, c->n++;
        }
    }
    if (e->n) return 1;
    cst_error(d, CST_MODEL, e->where,
              "experiment '%s': no row of %s lies within the run (from %g s)", e->name, csv->file,
              isnan(f->options.start) ? e->model->sim.start : f->options.start);
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
    e->J = cst_new(&f->arena, double, (size_t)e->n * f->numbers + 1);
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
    if (!cst_fit_keys(node, cst_arena_printf(&f->arena, "experiment '%s'", e->name), words, d))
        return 0;
    int ok = read_offset(f, e, cst_yaml_get(node, "offset"), &w, d);
    ok &= cst_fit_number(cst_yaml_get(node, "from"), "from", &w.from, d);
    ok &= cst_fit_number(cst_yaml_get(node, "to"), "to", &w.to, d);
    ok &= cst_fit_number(cst_yaml_get(node, "every"), "every", &w.every, d);
    if (!ok || !load(f, e, cst_yaml_get(node, "numbers"), d)) return 0;
    const cst_csv *csv = read_file(f, e, cst_yaml_get(node, "csv"), d);
    const double *t = csv ? read_time(f, csv, e, cst_yaml_get(node, "time"), d) : NULL;
    if (!t || !cst_channels_read(f, e, csv, cst_yaml_get(node, "channels"), d)) return 0;
    return choose_rows(f, e, csv, t, &w, d) && cst_channels_weigh(f, e, d) && prepare(f, e, &w, d);
}
