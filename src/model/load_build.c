/* SPDX-License-Identifier: MIT
 *
 * Entities are resolved on demand. */
#include "model/loader.h"

#include <stdio.h>
#include <string.h>

cst_entity *cst_entity_find(cst_loader *L, const cst_part *scope, cst_section s, const char *name)
{
    char full[512];
    size_t nn = strlen(name);
    for (const cst_part *p = scope; p; p = p->parent) {
        size_t np = strlen(p->prefix);
        if (np + nn >= sizeof full) continue;
        memcpy(full, p->prefix, np);
        memcpy(full + np, name, nn + 1);
        int k = cst_map_get(&L->names[s], full);
        if (k >= 0) return L->entity.at[k];
    }
    return NULL;
}

/* ---- types ---- */

static const char *section_key(const cst_entity *e)
{
    return e->section == CST_SEC_BODY    ? "bodies"
           : e->section == CST_SEC_JOINT ? "joints"
           : e->section == CST_SEC_FORCE ? "forces"
           : e->section == CST_SEC_ROAD  ? "roads"
           : e->block                    ? "blocks"
                                         : "measures";
}

static const char *entity_word(const cst_entity *e)
{
    return e->block ? "block" : cst_section_word[e->section];
}

/* Fields by name and defaults as nodes, once for each type that is used. */
static const cst_type_info *type_info(cst_loader *L, const cst_type *type)
{
    const char *key = cst_arena_printf(L->scratch, "%s %s", type->section, type->keyword);
    cst_type_info info = {.type = type};
    while (type->field[info.nfield].name) info.nfield++;
    info.dflt = cst_new(L->scratch, cst_yaml *, info.nfield + 1);
    for (int i = 0; i < info.nfield; i++) {
        const cst_field *f = &type->field[i];
        cst_map_put(L->scratch, &info.names, f->name, i);
        if (f->dflt && f->dflt[0])
            info.dflt[i] = cst_yaml_parse(L->scratch, "default", f->dflt, strlen(f->dflt), L->d);
    }
    cst_map_put(L->scratch, &L->types, key, L->type.n);
    cst_type_info *to = cst_push(L->scratch, &L->type);
    *to = info;
    return to;
}

static const cst_type_info *find_type(cst_loader *L, const cst_entity *e)
{
    const char *section = section_key(e);
    const cst_yaml *word = cst_yaml_get(e->node, "type");
    if (e->node->kind != CST_YAML_MAPPING || !word || word->kind != CST_YAML_SCALAR) {
        cst_loader_error(L, word ? word->where : e->where, "%s '%s' needs a type: {type: ..., ...}",
                         entity_word(e), e->name);
        return NULL;
    }
    char key[256];
    snprintf(key, sizeof key, "%s %.200s", section, word->text);
    int k = cst_map_get(&L->types, key);
    if (k >= 0) return &L->type.at[k];
    const cst_type *type = cst_type_find(section, word->text);
    if (type) return type_info(L, type);
    cst_nearest near = cst_nearest_begin(word->text);
    for (int i = 0; cst_type_at(i); i++)
        if (strcmp(cst_type_at(i)->section, section) == 0)
            cst_nearest_try(&near, cst_type_at(i)->keyword);
    const char *best = cst_nearest_best(&near);
    cst_loader_error(L, word->where,
                     best ? "unknown type '%.60s' of a %s; did you mean '%s'?"
                          : "unknown type '%.60s' of a %s",
                     word->text, entity_word(e), best);
    return NULL;
}

static int build(cst_loader *L, cst_entity *e)
{
    const cst_type_info *found = find_type(L, e);
    if (!found) return 0;
    const cst_type_info info = *found; /* the list may move while fields lead to other types */
    cst_arg arg[CST_MAX_FIELDS];
    if (info.nfield > CST_MAX_FIELDS || !cst_fields_read(L, e, &info, arg)) return 0;
    cst_part *part = L->building;
    cst_where where = L->where;
    int errors = L->d->errors;
    L->building = e->part;
    L->where = e->where;
    info.type->build(L, e->name, e->where, arg);
    L->building = part;
    L->where = where;
    return L->d->errors == errors && e->index >= 0;
}

/* ---- on demand ---- */

static int is_part(const cst_loader *L, const char *name)
{
    size_t n = strlen(name);
    for (int i = 0; i < L->part.n; i++)
        if (strncmp(L->part.at[i]->prefix, name, n) == 0 &&
            strcmp(L->part.at[i]->prefix + n, ".") == 0)
            return 1;
    return 0;
}

static void report_cycle(cst_loader *L, const cst_entity *e)
{
    char chain[400] = "";
    size_t n = 0;
    int from = L->nopen;
    while (from > 0 && L->open[from - 1] != e) from--;
    for (int i = from - 1; i < L->nopen && n < sizeof chain - 110; i++)
        n += (size_t)snprintf(chain + n, sizeof chain - n, "%.100s -> ", L->open[i]->name);
    cst_loader_error(L, e->where, "%s '%s' depends on itself: %s%.100s%s",
                     cst_section_word[e->section], e->name, chain, e->name,
                     is_part(L, e->name) ? "; a part has the same name: choose another one" : "");
}

static int resolve(cst_loader *L, cst_entity *e)
{
    switch (e->section) {
    case CST_SEC_PARAMETER:
        return cst_parameter_read(L, e);
    case CST_SEC_POINT:
        return cst_point_read(L, e);
    case CST_SEC_TABLE:
        return cst_table_read(L, e);
    case CST_SEC_MEASURE:
        if (!e->block && (e->node->kind != CST_YAML_MAPPING ||
                          (cst_yaml_get(e->node, "value") && !cst_yaml_get(e->node, "type"))))
            return cst_measure_read(L, e);
        return build(L, e) && cst_label_read(L, e->node, &L->m->measure.at[e->index].label);
    case CST_SEC_BODY: {
        int ok = build(L, e);
        if (ok) cst_local_points_read(L, e);
        return ok;
    }
    default:
        return build(L, e);
    }
}

int cst_entity_need(cst_loader *L, cst_entity *e)
{
    if (e->state == CST_DONE) return 1;
    if (e->state == CST_FAILED) return 0;
    if (e->state == CST_BUSY) {
        report_cycle(L, e);
        e->state = CST_FAILED; /* once is enough */
        return 0;
    }
    if (L->nopen == CST_MAX_OPEN) { /* a chain has many such places: the first one is reported */
        if (!L->too_deep++)
            cst_loader_error(L, e->where,
                             "more than %d definitions lead to '%s': define it before it is used",
                             CST_MAX_OPEN, e->name);
        e->state = CST_FAILED;
        return 0;
    }
    e->state = CST_BUSY;
    L->open[L->nopen++] = e;
    int ok = resolve(L, e);
    L->nopen--;
    e->state = ok && e->state == CST_BUSY ? CST_DONE : CST_FAILED;
    return e->state == CST_DONE;
}

/* ---- joints and forces by name ---- */

static int element(cst_loader *L, cst_section s, const char *name, cst_where w)
{
    const cst_part *scope = L->building ? L->building : L->root;
    cst_entity *e = cst_entity_find(L, scope, s, name);
    if (e) return cst_entity_need(L, e) ? e->index : -1;
    cst_nearest near = cst_nearest_begin(name);
    for (int i = 0; i < cst_loader_searches(L); i++)
        if (L->entity.at[i]->section == s)
            cst_nearest_try(&near, L->entity.at[i]->part == scope ? L->entity.at[i]->local
                                                                  : L->entity.at[i]->name);
    char hint[400];
    cst_loader_error(L, w, "unknown %s '%s'%s", cst_section_word[s], name,
                     cst_nearest_hint(&near, hint, sizeof hint));
    return -1;
}

int cst_loader_joint(cst_loader *L, const char *name, cst_where w)
{
    return element(L, CST_SEC_JOINT, name, w);
}
int cst_loader_force(cst_loader *L, const char *name, cst_where w)
{
    return element(L, CST_SEC_FORCE, name, w);
}
