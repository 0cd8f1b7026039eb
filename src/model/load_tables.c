/* SPDX-License-Identifier: MIT
 *
 * Tables: y(x) written in the file, where each y is a number of the design, or columns of a CSV file. */
#include "base/csv.h"
#include "model/loader.h"

#include <math.h>
#include <string.h>

static int word_of(cst_loader *L, const cst_yaml *node, const char *what, const char *const *words)
{
    if (!node) return 0;
    for (int i = 0; words[i]; i++)
        if (node->kind == CST_YAML_SCALAR && strcmp(node->text, words[i]) == 0) return i;
    cst_key_known(L, what, "a table", node->text, node->where, words);
    return -1;
}

static double *read_list(cst_loader *L, cst_entity *e, const char *key, int *n)
{
    const cst_yaml *list = cst_yaml_get(e->node, key);
    if (!list || list->kind != CST_YAML_SEQUENCE) {
        cst_loader_error(L, list ? list->where : e->where, "table '%s': %s must be a list of numbers",
                         e->name, key);
        return NULL;
    }
    double *v = cst_new(L->arena, double, list->n);
    *n = list->n;
    int ok = 1;
    for (int i = 0; i < list->n; i++) {
        const char *what = cst_arena_printf(L->scratch, "%s.%s[%d]", e->name, key, i + 1);
        int k = L->set.n && key[0] == 'y' ? cst_map_get(&L->set_names, what) : -1;
        cst_yaml set = {.kind = CST_YAML_SCALAR,
                        .text = k >= 0 ? L->set.at[k].text : "",
                        .where = {"--set", 0, 0}};
        if (k >= 0) L->set.at[k].used = 1;
        ok &= cst_read_constant(L, what, k >= 0 ? &set : list->child[i], &v[i]);
    }
    return ok ? v : NULL;
}

static int check_grid(cst_loader *L, cst_entity *e, int n, const double *x, const double *y, int periodic)
{
    if (n < 2) {
        cst_loader_error(L, e->where, "table '%s' needs at least 2 rows", e->name);
        return 0;
    }
    for (int i = 1; i < n; i++)
        if (!(x[i] > x[i - 1])) {
            cst_loader_error(L, e->where, "table '%s': x must increase, but x[%d] = %g follows %g", e->name,
                             i + 1, x[i], x[i - 1]);
            return 0;
        }
    if (!periodic || y[0] == y[n - 1]) return 1;
    cst_loader_error(L, e->where, "table '%s' is periodic: its last y must be its first, %g, not %g", e->name,
                     y[0], y[n - 1]);
    return 0;
}

static cst_id leaves(cst_loader *L, cst_entity *e, int n, const double *y)
{
    const cst_yaml *list = cst_yaml_get(e->node, "y");
    cst_id first = CST_NONE;
    for (int i = 0; i < n; i++) { /* consecutive: nothing else is made in between */
        cst_leaf l = {.unit = "1", .where = list->child[i]->where, .lo = -INFINITY, .hi = INFINITY};
        l.name = cst_arena_printf(L->scratch, "%s.y[%d]", e->name, i + 1);
        l.count = i == 0 ? n : 1;
        cst_id id = cst_leaf_add(L, y[i], &l);
        if (i == 0) first = id;
    }
    return first;
}

static const double *column(cst_loader *L, cst_entity *e, const cst_csv *csv, const char *key)
{
    const cst_yaml *name = cst_yaml_get(e->node, key);
    if (!name || name->kind != CST_YAML_SCALAR) {
        cst_loader_error(L, name ? name->where : e->where, "table '%s': %s must name a column", e->name, key);
        return NULL;
    }
    const double *v = cst_csv_column(csv, name->text);
    if (v) return v;
    cst_nearest near = cst_nearest_begin(name->text);
    for (int i = 0; i < csv->ncol; i++) cst_nearest_try(&near, csv->name[i]);
    char hint[400];
    cst_loader_error(L, name->where, "%s has no column '%s'%s", csv->file, name->text,
                     cst_nearest_hint(&near, hint, sizeof hint));
    return NULL;
}

static const double *copy(cst_loader *L, int n, const double *v)
{
    double *c = cst_new(L->arena, double, n);
    memcpy(c, v, (size_t)n * sizeof *c);
    return c;
}

const cst_table *cst_profile_read(cst_loader *L, const char *name, cst_where w, const cst_yaml *file, const char *x_name, const char *z_name,
                                  int outside, int numbers)
{
    const char *path = cst_loader_path(L, file);
    const cst_csv *csv = path && cst_file_there(L, path, file) ? cst_csv_read(L->scratch, path, L->d) : NULL;
    if (!csv) return NULL;
    const double *x = cst_csv_column(csv, x_name), *z = cst_csv_column(csv, z_name);
    if (!x || !z) {
        cst_loader_error(L, file->where, "%s has no column '%s'", csv->file, x ? z_name : x_name);
        return NULL;
    }
    cst_entity e = {.name = name, .where = w};
    if (!check_grid(L, &e, csv->nrow, x, z, outside == CST_TABLE_PERIODIC)) return NULL;
    cst_id first = CST_NONE;
    for (int i = 0; numbers && i < csv->nrow; i++) { /* consecutive, as above */
        cst_leaf l = {.unit = "m", .where = file->where, .lo = -INFINITY, .hi = INFINITY, .count = i == 0 ? csv->nrow : 1};
        l.name = cst_arena_printf(L->scratch, "%s.z[%d]", name, i + 1);
        cst_id id = cst_leaf_add(L, z[i], &l);
        if (i == 0) first = id;
    }
    return cst_table_new(L->arena, L->g, csv->nrow, copy(L, csv->nrow, x), numbers ? NULL : copy(L, csv->nrow, z), first, CST_TABLE_CUBIC,
                         (cst_table_outside)outside);
}

static const cst_table *read_csv(cst_loader *L, cst_entity *e, const cst_yaml *file, int kind, int outside)
{
    int k = L->set.n ? cst_map_get(&L->set_names, cst_arena_printf(L->scratch, "%s.csv", e->name)) : -1;
    cst_yaml other = *file;
    if (k >= 0) L->set.at[k].used = 1, other.text = L->set.at[k].text, file = &other;
    const char *path = cst_loader_path(L, file);
    const cst_csv *csv = path && cst_file_there(L, path, file) ? cst_csv_read(L->scratch, path, L->d) : NULL;
    if (!csv) return NULL;
    const double *x = column(L, e, csv, "x"), *y = column(L, e, csv, "y");
    if (!x || !y || !check_grid(L, e, csv->nrow, x, y, outside == CST_TABLE_PERIODIC)) return NULL;
    return cst_table_new(L->arena, L->g, csv->nrow, copy(L, csv->nrow, x), copy(L, csv->nrow, y), CST_NONE,
                         (cst_table_kind)kind, (cst_table_outside)outside);
}

int cst_table_read(cst_loader *L, cst_entity *e)
{
    static const char *const keys[] = {"x", "y", "csv", "interpolation", "outside", "doc", NULL};
    static const char *const kinds[] = {"linear", "cubic", NULL}, *const outsides[] = {"clamp", "extend",
                                                                                       "periodic", NULL};
    if (e->node->kind != CST_YAML_MAPPING) {
        cst_loader_error(L, e->node->where,
                         "table '%s' must be {x: [..], y: [..]} or {csv: file, x: .., y: ..}", e->name);
        return 0;
    }
    int ok = cst_keys_check(L, e->node, "key", "a table", keys);
    int kind = word_of(L, cst_yaml_get(e->node, "interpolation"), "interpolation", kinds);
    int outside = word_of(L, cst_yaml_get(e->node, "outside"), "outside", outsides);
    if (!ok || kind < 0 || outside < 0) return 0;
    const cst_table *t = NULL;
    const cst_yaml *file = cst_yaml_get(e->node, "csv");
    if (file) {
        t = read_csv(L, e, file, kind, outside);
    } else {
        int nx = 0, ny = 0;
        const double *x = read_list(L, e, "x", &nx), *y = read_list(L, e, "y", &ny);
        if (!x || !y) return 0;
        if (nx != ny) {
            cst_loader_error(L, e->where, "table '%s' has %d values x but %d values y", e->name, nx, ny);
            return 0;
        }
        if (!check_grid(L, e, nx, x, y, outside == CST_TABLE_PERIODIC)) return 0;
        t = cst_table_new(L->arena, L->g, nx, x, NULL, leaves(L, e, nx, y), (cst_table_kind)kind,
                          (cst_table_outside)outside);
    }
    if (!t) return 0;
    e->index = L->table.n;
    *cst_push(L->scratch, &L->table) = t;
    return 1;
}
