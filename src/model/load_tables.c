/* SPDX-License-Identifier: MIT
 *
 * Tables: y(x) written in the file, where each y is a number of the design, or columns of a CSV
 * file. */
#include "model/geometry.h"
#include "model/loader.h"
#include "number/column.h"

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
        cst_loader_error(L, list ? list->where : e->where,
                         "table '%s': %s must be a list of numbers", e->name, key);
        return NULL;
    }
    double *v = cst_new(L->arena, double, list->n);
    *n = list->n;
    int ok = 1;
    for (int i = 0; i < list->n; i++)
        ok &= cst_read_constant(L, cst_arena_printf(L->scratch, "%s.%s[%d]", e->name, key, i + 1),
                                list->child[i], &v[i]);
    return ok ? v : NULL;
}

/* ---- values of rows, which are numbers of the model: NAME.y[1], .. ---- */

typedef struct row_values {
    const char *name, *key, *unit;
    int n,
        periodic; /* periodic: the last value is no number of its own, it is the first once more */
    const cst_where *at; /* (n) */
    double *v;           /* (n) */
} row_values;

static const char *row_name(cst_loader *L, const row_values *r, int i)
{
    return cst_arena_printf(L->scratch, "%s.%s[%d]", r->name, r->key, i + 1);
}

/* What --set or the section `set` says instead of the file */
static int set_rows(cst_loader *L, row_values *r)
{
    int ok = 1;
    for (int i = 0; i < r->n && L->set.n; i++) {
        int k = cst_map_get(&L->set_names, row_name(L, r, i));
        if (k < 0) continue;
        cst_yaml set = {.kind = CST_YAML_SCALAR,
                        .text = L->set.at[k].text,
                        .where = L->set.at[k].where};
        L->set.at[k].used = 1;
        if (r->periodic && i == r->n - 1) {
            cst_loader_error(L, set.where, "'%s' follows from '%s': its table is periodic",
                             row_name(L, r, i), row_name(L, r, 0));
            ok = 0;
        } else {
            ok &= cst_read_constant(L, row_name(L, r, i), &set, &r->v[i]);
        }
    }
    if (r->periodic) r->v[r->n - 1] = r->v[0];
    return ok;
}

/* The first of n consecutive ids: nothing else is made in between */
static cst_id leaves(cst_loader *L, const row_values *r)
{
    cst_id first = CST_NONE;
    int numbers = r->n - r->periodic;
    for (int i = 0; i < numbers; i++) {
        cst_leaf l = {.name = row_name(L, r, i),
                      .unit = r->unit,
                      .where = r->at[i],
                      .lo = -INFINITY,
                      .hi = INFINITY};
        l.count = i == 0 ? numbers : 1;
        if (i == 0 && r->periodic) l.again = cst_loader_place(L, r->at[r->n - 1]);
        cst_id id = cst_leaf_add(L, r->v[i], &l);
        if (i == 0) first = id;
    }
    if (r->periodic) cst_num_vector(L->g, &cst_vop_copy, 1, &first, 1);
    return first;
}

/* Does the table jump between rows i - 1 and i? Each side of a jump must have at least two rows. */
static int jumps(int n, const double *x, int i)
{
    return i > 1 && i < n - 1 && x[i] == x[i - 1] && x[i - 1] > x[i - 2] && x[i + 1] > x[i];
}

static int check_grid(cst_loader *L, cst_entity *e, int n, const double *x, const double *y,
                      int kind, int periodic)
{
    if (n < 2) {
        cst_loader_error(L, e->where, "table '%s' needs at least 2 rows", e->name);
        return 0;
    }
    for (int i = 1; i < n; i++)
        if (jumps(n, x, i) && (kind != CST_TABLE_LINEAR || periodic)) {
            cst_loader_error(
                L, e->where,
                "table '%s': it jumps at x = %g, which only a linear one that is not periodic may",
                e->name, x[i]);
            return 0;
        } else if (!(x[i] > x[i - 1]) && !jumps(n, x, i)) {
            cst_loader_error(L, e->where, "table '%s': x must increase, but x[%d] = %g follows %g",
                             e->name, i + 1, x[i], x[i - 1]);
            return 0;
        }
    if (!periodic || y[0] == y[n - 1]) return 1;
    cst_loader_error(L, e->where,
                     "table '%s' is periodic: its last y must be its first, %g, not %g", e->name,
                     y[0], y[n - 1]);
    return 0;
}

static const double *column(cst_loader *L, cst_entity *e, const cst_csv *csv, const char *key)
{
    const cst_yaml *name = cst_yaml_get(e->node, key);
    if (!name || name->kind != CST_YAML_SCALAR) {
        cst_loader_error(L, name ? name->where : e->where, "table '%s': %s must name a column",
                         e->name, key);
        return NULL;
    }
    cst_column_wish wish = {.name = name->text, .whole = 1, .where = name->where};
    cst_column c;
    return cst_column_read(L->scratch, csv, &wish, &c, L->d) ? c.value : NULL;
}

static double *copy(cst_loader *L, int n, const double *v)
{
    double *c = cst_new(L->arena, double, n);
    memcpy(c, v, (size_t)n * sizeof *c);
    return c;
}

const cst_table *cst_profile_read(cst_loader *L, const char *name, cst_where w,
                                  const cst_yaml *file, const char *x_name, const char *z_name,
                                  int outside, int numbers)
{
    const char *path = cst_loader_path(L, file);
    const cst_csv *csv = path && cst_file_there(L, path, file)
                             ? cst_csv_read(L->scratch, path, L->m->root, L->d)
                             : NULL;
    if (!csv) return NULL;
    cst_loader_hash_csv(L, csv);
    cst_column_wish wish[2] = {{x_name, NULL, "m", "a road", 1, file->where},
                               {z_name, NULL, "m", "a road", 1, file->where}};
    cst_column c[2];
    for (int k = 0; k < 2; k++)
        if (!cst_column_read(L->scratch, csv, &wish[k], &c[k], L->d)) return NULL;
    const double *x = c[0].value, *z = c[1].value;
    cst_entity e = {.name = name, .where = w};
    if (!check_grid(L, &e, csv->nrow, x, z, CST_TABLE_CUBIC, outside == CST_TABLE_PERIODIC))
        return NULL;
    int n = csv->nrow;
    cst_id first = CST_NONE;
    if (numbers) {
        cst_where *at = cst_new(L->scratch, cst_where, n);
        row_values r = {
            .name = name, .key = "z", .unit = "m", .n = n, .at = at, .v = copy(L, n, z)};
        r.periodic = outside == CST_TABLE_PERIODIC;
        for (int i = 0; i < n; i++) at[i] = file->where;
        if (!set_rows(L, &r)) return NULL;
        first = leaves(L, &r);
    }
    return cst_table_new(L->arena, L->g, n, copy(L, n, x), numbers ? NULL : copy(L, n, z), first,
                         CST_TABLE_CUBIC, (cst_table_outside)outside);
}

/* Splits the table at its jumps. first: the leaves of y; CST_NONE: y is not a number of the model
 */
static int pieces(cst_loader *L, cst_entity *e, int n, const double *x, const double *y,
                  cst_id first, int kind, int outside)
{
    e->index = L->table.n;
    for (int i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && !jumps(n, x, end); end++) continue;
        int own = first == CST_NONE, rows = end - i;
        const cst_table *t =
            cst_table_new(L->arena, L->g, rows, copy(L, rows, x + i),
                          own ? copy(L, rows, y + i) : NULL, own ? CST_NONE : first + i,
                          (cst_table_kind)kind, (cst_table_outside)outside);
        if (!t) return 0;
        *cst_push(L->scratch, &L->table) = (cst_table_piece){t, end < n ? x[end] : INFINITY};
    }
    return 1;
}

static int read_csv(cst_loader *L, cst_entity *e, const cst_yaml *file, int kind, int outside)
{
    int k =
        L->set.n ? cst_map_get(&L->set_names, cst_arena_printf(L->scratch, "%s.csv", e->name)) : -1;
    cst_yaml other = *file;
    if (k >= 0) L->set.at[k].used = 1, other.text = L->set.at[k].text, file = &other;
    const char *path = cst_loader_path(L, file);
    const cst_csv *csv = path && cst_file_there(L, path, file)
                             ? cst_csv_read(L->scratch, path, L->m->root, L->d)
                             : NULL;
    if (!csv) return 0;
    cst_loader_hash_csv(L, csv);
    const double *x = column(L, e, csv, "x"), *y = column(L, e, csv, "y");
    if (!x || !y || !check_grid(L, e, csv->nrow, x, y, kind, outside == CST_TABLE_PERIODIC))
        return 0;
    return pieces(L, e, csv->nrow, x, y, CST_NONE, kind, outside);
}

int cst_table_read(cst_loader *L, cst_entity *e)
{
    static const char *const keys[] = {"x", "y", "csv", "interpolation", "outside", "doc", NULL};
    static const char *const kinds[] = {"linear", "cubic", NULL}, *const outsides[] = {"clamp",
                                                                                       "extend",
                                                                                       "periodic",
                                                                                       NULL};
    if (e->node->kind != CST_YAML_MAPPING) {
        cst_loader_error(L, e->node->where,
                         "table '%s' must be {x: [..], y: [..]} or {csv: file, x: .., y: ..}",
                         e->name);
        return 0;
    }
    int ok = cst_keys_check(L, e->node, "key", "a table", keys);
    int kind = word_of(L, cst_yaml_get(e->node, "interpolation"), "interpolation", kinds);
    int outside = word_of(L, cst_yaml_get(e->node, "outside"), "outside", outsides);
    if (!ok || kind < 0 || outside < 0) return 0;
    const cst_yaml *file = cst_yaml_get(e->node, "csv");
    if (file) return read_csv(L, e, file, kind, outside);
    int nx = 0, ny = 0;
    const double *x = read_list(L, e, "x", &nx);
    double *y = read_list(L, e, "y", &ny);
    if (!x || !y) return 0;
    if (nx != ny) {
        cst_loader_error(L, e->where, "table '%s' has %d values x but %d values y", e->name, nx,
                         ny);
        return 0;
    }
    if (!check_grid(L, e, nx, x, y, kind, outside == CST_TABLE_PERIODIC)) return 0;
    const cst_yaml *list = cst_yaml_get(e->node, "y");
    cst_where *at = cst_new(L->scratch, cst_where, ny);
    for (int i = 0; i < ny; i++) at[i] = list->child[i]->where;
    row_values r = {.name = e->name, .key = "y", .unit = "1", .n = ny, .at = at, .v = y};
    r.periodic = outside == CST_TABLE_PERIODIC;
    return set_rows(L, &r) && pieces(L, e, nx, x, y, leaves(L, &r), kind, outside);
}
