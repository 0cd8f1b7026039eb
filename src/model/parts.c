/* SPDX-License-Identifier: MIT
 *
 * Parts: instances of a sub-model, with a prefix for its names, its own numbers, a shift and a
 * mirror.
 *
 *     P = S p + shift,   S = diag(1, -1, 1) for `mirror: y`
 *
 * What is mirrored, so that an instance is the mirror image of the drawing:
 *     places, velocities, forces, directions    v' = S v
 *     axial vectors (spins, torques)            v' = det(S) S v
 *     body axes                                 E' = S E S, right-handed again; local coordinates
 * l' = S l tensors in body axes                      I' = S I S: products of the mirrored axis
 * change sign The numbers stay as they are written: the signs stand between them and what is built.
 * Expressions inside a part see its points where the part's author has drawn them; those of outer
 * parts are seen through the inverse map. */
#include "model/loader.h"

#include <string.h>

/* ---- maps ---- */

static cst_id signed_id(cst_loader *L, double sign, cst_id id)
{
    return sign < 0 ? cst_num_neg(L->g, id) : id;
}

void cst_part_turn(cst_loader *L, const cst_part *part, int axial, const cst_id v[3], cst_id V[3])
{
    for (int i = 0; i < 3; i++) V[i] = signed_id(L, part->sign[i] * (axial ? part->det : 1), v[i]);
}

void cst_part_to_ground(cst_loader *L, const cst_part *part, const cst_id p[3], cst_id P[3])
{
    cst_part_turn(L, part, 0, p, P);
    for (int i = 0; i < 3 && part->moved; i++) P[i] = cst_num_add(L->g, P[i], part->shift[i]);
}

void cst_part_from_ground(cst_loader *L, const cst_part *part, const cst_id P[3], cst_id p[3])
{
    for (int i = 0; i < 3; i++) {
        p[i] = part->moved ? cst_num_sub(L->g, P[i], part->shift[i]) : P[i];
        p[i] = signed_id(L, part->sign[i], p[i]);
    }
}

/* ---- reading ---- */

static const char *const words[] = {"file",  "model",      "prefix", "mirror",
                                    "shift", "parameters", "doc",    NULL};

static int valid_prefix(const char *s)
{
    if (!*s) return 1;
    return strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.") ==
               strlen(s) &&
           !strstr(s, "..") && s[0] != '.' && !(s[0] >= '0' && s[0] <= '9');
}

static int read_prefix(cst_loader *L, cst_part *part, const cst_yaml *node, const char *name)
{
    const cst_yaml *text = cst_yaml_get(node, "prefix");
    const char *own = cst_arena_printf(L->scratch, "%s.", name);
    if (text) {
        if (text->kind != CST_YAML_SCALAR || !valid_prefix(text->text)) {
            cst_loader_error(L, text->where, "prefix must be made of letters, digits, _ and .");
            return 0;
        }
        own = text->text;
    }
    part->prefix = cst_arena_printf(L->scratch, "%s%s", part->parent->prefix, own);
    if (strlen(part->prefix) < 200) return 1;
    cst_loader_error(L, node->where, "the prefix '%.40s...' is too long", part->prefix);
    return 0;
}

static int read_mirror(cst_loader *L, cst_part *part, const cst_yaml *node)
{
    const cst_yaml *text = cst_yaml_get(node, "mirror");
    for (int i = 0; i < 3; i++) part->sign[i] = part->parent->sign[i];
    if (text) {
        const char *axis = text->kind == CST_YAML_SCALAR && strlen(text->text) == 1
                               ? strchr("xyz", text->text[0])
                               : NULL;
        if (!axis) {
            cst_loader_error(L, text->where, "mirror must be x, y or z");
            return 0;
        }
        part->sign[text->text[0] - 'x'] *= -1;
    }
    part->det = part->sign[0] * part->sign[1] * part->sign[2];
    return 1;
}

/* P = S_out (S_own p + shift_own) + shift_out */
static void read_shift(cst_loader *L, cst_part *part)
{
    cst_part *out = part->parent;
    const cst_yaml *text = cst_yaml_get(part->node, "shift");
    cst_id own[3];
    part->moved = out->moved || text;
    if (!part->moved) return;
    for (int i = 0; i < 3; i++) own[i] = cst_num_const(L->g, 0);
    cst_reader r = cst_reader_new(L, out, CST_READ_NUMBER, "shift");
    r.unit = "m";
    const char *name = cst_arena_printf(L->scratch, "%sshift", part->prefix);
    if (text && !cst_read_triple(&r, name, text, own)) /* reported; go on unshifted */
        for (int i = 0; i < 3; i++) own[i] = cst_num_const(L->g, 0);
    cst_part_to_ground(L, out, own, part->shift);
}

/* When all names are known; outer parts come first. */
void cst_parts_place(cst_loader *L)
{
    for (int i = 0; i < L->part.n; i++) read_shift(L, L->part.at[i]);
}

/* Documents of the part: its file (which must not be one that it is in) or what stands here. */
static const cst_yaml *read_model(cst_loader *L, cst_part *part, const cst_yaml *node, cst_where w)
{
    const cst_yaml *file = cst_yaml_get(node, "file"), *inner = cst_yaml_get(node, "model");
    if (!file == !inner) {
        cst_loader_error(L, w, "a part needs either 'file' or 'model'");
        return NULL;
    }
    if (inner) {
        if (inner->kind == CST_YAML_MAPPING) return inner;
        cst_loader_error(L, inner->where, "model must be a mapping of sections");
        return NULL;
    }
    part->path = cst_loader_path(L, file);
    if (!part->path) return NULL;
    for (const cst_part *p = part->parent; p; p = p->parent)
        if (p->path && strcmp(p->path, part->path) == 0) {
            cst_loader_error(L, file->where, "'%s' contains itself as a part%s", file->text,
                             p == part->parent ? "" : ": it led to this file");
            return NULL;
        }
    return cst_loader_file(L, part->path, file);
}

/* The user's values for the part's parameters, in the user's scope. */
static void read_overrides(cst_loader *L, cst_part *part, const cst_yaml *map)
{
    if (!map) return;
    if (map->kind != CST_YAML_MAPPING) {
        cst_loader_error(L, map->where, "parameters of a part must be a mapping");
        return;
    }
    for (int i = 0; i < map->n; i++) {
        const char *full = cst_arena_printf(L->scratch, "%s%s", part->prefix, map->key[i]);
        int k = cst_map_get(&L->names[CST_SEC_PARAMETER], full);
        if (k >= 0) {
            L->entity.at[k]->over = map->child[i];
            L->entity.at[k]->over_part = part->parent;
            continue;
        }
        cst_nearest near = cst_nearest_begin(map->key[i]);
        for (int e = 0; e < cst_loader_searches(L); e++)
            if (L->entity.at[e]->part == part && L->entity.at[e]->section == CST_SEC_PARAMETER)
                cst_nearest_try(&near, L->entity.at[e]->local);
        char hint[400];
        cst_loader_error(L, map->key_where[i], "the part has no parameter '%s'%s", map->key[i],
                         cst_nearest_hint(&near, hint, sizeof hint));
    }
}

static void read_part(cst_loader *L, cst_part *outer, const char *name, cst_where w,
                      const cst_yaml *node)
{
    if (node->kind != CST_YAML_MAPPING) {
        cst_loader_error(L, node->where, "part '%s' must be a mapping", name);
        return;
    }
    if (outer->depth >= CST_MAX_DEPTH || L->part.n >= CST_MAX_PARTS) {
        cst_loader_error(L, w,
                         outer->depth >= CST_MAX_DEPTH ? "parts are nested more than %d deep"
                                                       : "more than %d parts",
                         outer->depth >= CST_MAX_DEPTH ? CST_MAX_DEPTH : CST_MAX_PARTS);
        return;
    }
    cst_part *part = cst_new(L->scratch, cst_part, 1);
    part->parent = outer;
    part->depth = outer->depth + 1;
    int ok = cst_keys_check(L, node, "key", "a part", words);
    ok &= read_prefix(L, part, node, name);
    ok &= read_mirror(L, part, node);
    part->node = node;
    if (!ok) return;
    const cst_yaml *doc = read_model(L, part, node, w);
    if (!doc) return;
    *cst_push(L->scratch, &L->part) = part;
    cst_sections_read(L, part, doc);
    read_overrides(L, part, cst_yaml_get(node, "parameters"));
    cst_parts_read(L, part);
}

void cst_parts_read(cst_loader *L, cst_part *part)
{
    for (int d = 0; d < part->doc.n; d++) {
        const cst_yaml *node = cst_yaml_get(part->doc.at[d], "parts");
        if (!node || node->kind == CST_YAML_NULL) continue;
        if (node->kind != CST_YAML_MAPPING) {
            cst_loader_error(L, node->where, "parts must be a mapping of names");
            continue;
        }
        for (int i = 0; i < node->n; i++)
            read_part(L, part, node->key[i], node->key_where[i], node->child[i]);
    }
}
