/* SPDX-License-Identifier: MIT
 *
 * Parameters, points, measures that are plain expressions. */
#include "model/loader.h"

#include <math.h>
#include <string.h>

/* ---- settings ---- */

static int read_unit(cst_loader *L, const cst_yaml *node, const char **unit, double *factor)
{
    if (!node) return 1;
    if (node->kind != CST_YAML_SCALAR || !node->text[0]) {
        cst_loader_error(L, node->where, "unit must be a word such as mm");
        return 0;
    }
    *unit = cst_arena_strdup(L->arena, node->text);
    if (strcmp(*unit, "1") == 0 || cst_unit_factor(*unit, factor)) return 1;
    cst_nearest near = cst_nearest_begin(*unit);
    char hint[100];
    cst_unit_offer(&near);
    cst_loader_error(L, node->where, "unknown unit '%.40s'%s", *unit,
                     cst_nearest_hint(&near, hint, sizeof hint));
    return 0;
}

static int read_doc(cst_loader *L, const cst_yaml *node, const char **doc)
{
    if (!node || node->kind == CST_YAML_NULL) return 1;
    if (node->kind == CST_YAML_SCALAR) {
        *doc = cst_arena_strdup(L->arena, node->text);
        return 1;
    }
    cst_loader_error(L, node->where, "doc must be a text");
    return 0;
}

static int read_range(cst_loader *L, cst_reader *r, const cst_yaml *range)
{
    if (!range) return 1;
    if (range->kind != CST_YAML_SEQUENCE || range->n != 2) {
        cst_loader_error(L, range->where, "range must be [lowest, highest]");
        return 0;
    }
    for (int i = 0; i < 2; i++) {
        double *bound = i == 0 ? &r->lo : &r->hi;
        const cst_yaml *node = range->child[i];
        if (node->kind == CST_YAML_SCALAR && strcmp(node->text, i == 0 ? "-inf" : "inf") == 0)
            continue;
        if (!cst_read_constant(L, "range", node, bound)) return 0;
    }
    if (r->lo <= r->hi) return 1;
    cst_loader_error(L, range->where, "range [%g, %g] is empty", r->lo, r->hi);
    return 0;
}

const cst_yaml *cst_settings_read(cst_loader *L, cst_reader *r, const cst_yaml *node,
                                  const char *value, cst_where w)
{
    if (node->kind != CST_YAML_MAPPING) return node;
    const char *const words[] = {value, "unit", "range", "doc", NULL};
    int ok = cst_keys_check(L, node, "key", r->what, words);
    ok &= read_unit(L, cst_yaml_get(node, "unit"), &r->unit, &r->factor);
    ok &= read_doc(L, cst_yaml_get(node, "doc"), &r->doc);
    ok &= read_range(L, r, cst_yaml_get(node, "range"));
    const cst_yaml *text = cst_yaml_get(node, value);
    if (!text && ok) cst_loader_error(L, w, "'%s' has no %s", r->what, value);
    return ok ? text : NULL;
}

/* ---- labels of measures and objectives ---- */

int cst_label_read(cst_loader *L, const cst_yaml *node, cst_label *to)
{
    double factor;
    if (node->kind != CST_YAML_MAPPING) return 1;
    const cst_yaml *unit = cst_yaml_get(node, "unit");
    if (unit) to->unit_at = cst_loader_place(L, unit->where);
    return read_unit(L, unit, &to->unit, &factor) &
           read_doc(L, cst_yaml_get(node, "doc"), &to->doc);
}

/* As written: an expression, or three of them */
static const char *definition(cst_loader *L, const cst_yaml *node)
{
    if (node->kind == CST_YAML_SCALAR) return cst_arena_strdup(L->arena, node->text);
    const char *text = "";
    for (int i = 0; i < node->n; i++)
        text = cst_arena_printf(L->arena, "%s%s%s", text, i ? ", " : "[",
                                node->child[i]->text ? node->child[i]->text : "");
    return cst_arena_printf(L->arena, "%s]", text);
}

const cst_yaml *cst_labelled_read(cst_loader *L, const cst_yaml *node, const char *what,
                                  cst_where w, cst_label *to)
{
    static const char *const words[] = {"value", "unit", "doc", NULL};
    const cst_yaml *text = node->kind == CST_YAML_MAPPING ? cst_yaml_get(node, "value") : node;
    int ok = (node->kind != CST_YAML_MAPPING || cst_keys_check(L, node, "key", what, words)) &&
             cst_label_read(L, node, to);
    if (!text && ok) cst_loader_error(L, w, "'%s' has no value", what);
    if (!text || !ok) return NULL;
    to->text = definition(L, text);
    return text;
}

/* ---- parameters ---- */

int cst_parameter_read(cst_loader *L, cst_entity *e)
{
    cst_reader r = cst_reader_new(L, e->part, CST_READ_NUMBER, e->name);
    r.unit = "1";
    r.parameter = 1;
    const cst_yaml *text = cst_settings_read(L, &r, e->node, "value", e->where);
    if (!text) return 0;
    if (e->over) {
        r.part = e->over_part;
        r.lenient = 1;
        text = e->over;
    }
    e->value.n = 1;
    e->value.at[0] = cst_read_scalar(&r, e->name, text);
    return e->value.at[0] != CST_NONE;
}

/* ---- points ---- */

int cst_point_read(cst_loader *L, cst_entity *e)
{
    cst_reader r = cst_reader_new(L, e->part, CST_READ_NUMBER, e->name);
    r.unit = "m", r.kind = CST_VECTOR_POINT;
    const cst_yaml *text = cst_settings_read(L, &r, e->node, "at", e->where);
    if (!text || !cst_read_triple(&r, e->name, text, e->value.at)) return 0;
    e->value.n = 3;
    cst_part_to_ground(L, e->part, e->value.at, e->world);
    cst_hardpoint_add(L, e->part, e->name, CST_GROUND, e->world);
    return 1;
}

/* Local points of a body, in body axes; in a mirrored part l' = S l. */
void cst_local_points_read(cst_loader *L, cst_entity *body)
{
    const cst_yaml *map = cst_yaml_get(body->node, "points");
    if (!map || map->kind == CST_YAML_NULL) return;
    if (map->kind != CST_YAML_MAPPING) {
        cst_loader_error(L, map->where, "points of a body must be a mapping of names");
        return;
    }
    if (L->m->body.at[body->index].cls != &cst_body_rigid) {
        cst_loader_error(L, map->where, "'%s' has no axes for points of its own", body->name);
        return;
    }
    for (int i = 0; i < map->n; i++) {
        const char *name = cst_arena_printf(L->scratch, "%s.%s", body->name, map->key[i]);
        cst_reader r = cst_reader_new(L, body->part, CST_READ_NUMBER, map->key[i]);
        r.unit = "m", r.kind = CST_VECTOR_POINT;
        const cst_yaml *text = cst_settings_read(L, &r, map->child[i], "at", map->key_where[i]);
        cst_value v = {0}, at;
        if (text && cst_read_triple(&r, name, text, at.at)) {
            v.n = 3;
            cst_part_turn(L, body->part, 0, at.at, v.at);
            cst_hardpoint_add(L, body->part, name, body->index, v.at);
        }
        cst_map_put(L->scratch, &L->local, name, L->local_point.n);
        *cst_push(L->scratch, &L->local_point) = v; /* n = 0: reported */
    }
}

/* ---- measures without a type ---- */

int cst_measure_read(cst_loader *L, cst_entity *e)
{
    cst_reader r = cst_reader_new(L, e->part, CST_READ_TIMED, e->name);
    cst_value v = {0};
    cst_label label = {0};
    const cst_yaml *text = cst_labelled_read(L, e->node, e->name, e->where, &label);
    if (!text) return 0;
    if (text->kind == CST_YAML_SEQUENCE)
        v.n = cst_read_triple(&r, e->name, text, v.at) ? 3 : 0;
    else
        v = cst_read_text(&r, e->name, text, 0);
    if (v.n == 0) return 0;
    int m = cst_measure_begin(L, e->name, "expression", e->where);
    L->m->measure.at[m].label = label;
    for (int i = 0; i < v.n; i++)
        cst_measure_add(L, m, v.n == 1 ? "" : (char[2]){"xyz"[i], 0}, "", v.at[i]);
    return 1;
}
