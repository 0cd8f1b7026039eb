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

/* Does the table jump between rows i - 1 and i? Beside a jump it has two rows at least. */
static int jumps(int n, const double *x, int i)
{
    return i > 1 && i < n - 1 && x[i] == x[i - 1] && x[i - 1] > x[i - 2] && x[i + 1] > x[i];
}

static int check_grid(cst_loader *L, cst_entity *e, int n, const double *x, const double *y, int kind, int periodic)
{
    if (n < 2) {
        cst_loader_error(L, e->where, "table '%s' needs at least 2 rows", e->name);
        return 0;
    }
    for (int i = 1; i < n; i++)
        if (jumps(n, x, i) && (kind != CST_TABLE_LINEAR || periodic)) {
            cst_loader_error(L, e->where, "table '%s': it jumps at x = %g, which only a linear one that is not periodic may",
                             e->name, x[i]);
            return 0;
        } else if (!(x[i] > x[i - 1]) && !jumps(n, x, i)) {
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

const cst_table *cst_profile_read(cst_loader *L, const char *name, cst_where w, const cst_yaml *file, const char *x_name,
                                  const char *z_name, int outside, int numbers)
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
    if (!check_grid(L, &e, csv->nrow, x, z, CST_TABLE_CUBIC, outside == CST_TABLE_PERIODIC)) return NULL;
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

/* One piece from each jump to the next. first: the leaves of y; CST_NONE: y is no number of the model */
static int pieces(cst_loader *L, cst_entity *e, int n, const double *x, const double *y, cst_id first, int kind, int outside)
{
    e->index = L->table.n;
    for (int i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && !jumps(n, x, end); end++) continue;
        int own = first == CST_NONE, rows = end - i;
        const cst_table *t = cst_table_new(L->arena, L->g, rows, copy(L, rows, x + i), own ? copy(L, rows, y + i) : NULL,
                                           own ? CST_NONE : first + i, (cst_table_kind)kind, (cst_table_outside)outside);
        if (!t) return 0;
        *cst_push(L->scratch, &L->table) = (cst_table_piece){t, end < n ? x[end] : INFINITY};
    }
    return 1;
}

static int read_csv(cst_loader *L, cst_entity *e, const cst_yaml *file, int kind, int outside)
{
    int k = L->set.n ? cst_map_get(&L->set_names, cst_arena_printf(L->scratch, "%s.csv", e->name)) : -1;
    cst_yaml other = *file;
    if (k >= 0) L->set.at[k].used = 1, other.text = L->set.at[k].text, file = &other;
    const char *path = cst_loader_path(L, file);
    const cst_csv *csv = path && cst_file_there(L, path, file) ? cst_csv_read(L->scratch, path, L->d) : NULL;
    if (!csv) return 0;
    const double *x = column(L, e, csv, "x"), *y = column(L, e, csv, "y");
    if (!x || !y || !check_grid(L, e, csv->nrow, x, y, kind, outside == CST_TABLE_PERIODIC)) return 0;
    return pieces(L, e, csv->nrow, x, y, CST_NONE, kind, outside);
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
    const cst_yaml *file = cst_yaml_get(e->node, "csv");
    if (file) return read_csv(L, e, file, kind, outside);
    int nx = 0, ny = 0;
    const double *x = read_list(L, e, "x", &nx), *y = read_list(L, e, "y", &ny);
    if (!x || !y) return 0;
    if (nx != ny) {
        cst_loader_error(L, e->where, "table '%s' has %d values x but %d values y", e->name, nx, ny);
        return 0;
    }
    if (!check_grid(L, e, nx, x, y, kind, outside == CST_TABLE_PERIODIC)) return 0;
    return pieces(L, e, nx, x, y, leaves(L, e, nx, y), kind, outside);
}
