/* SPDX-License-Identifier: MIT
 *
 * Documents and their sections: which keys there are, included files, and the entities that the
 * sections declare. */
#include "base/file.h"
#include "model/loader.h"

#include <string.h>

const char *const cst_section_word[] = {"parameter", "point", "measure", "table",
                                        "road",      "body",  "joint",   "force"};

const char *const cst_section_keys[] = {"costate",    "name",       "gravity", "include",
                                        "parameters", "points",     "tables",  "roads",
                                        "bodies",     "joints",     "forces",  "blocks",
                                        "measures",   "objectives", "initial", "simulation",
                                        "parts",      "design",     "set",     "identify",
                                        "doc",        NULL};

static const struct {
    const char *key;
    cst_section section;
} sections[] = {
    {"parameters", CST_SEC_PARAMETER}, {"points", CST_SEC_POINT},   {"tables", CST_SEC_TABLE},
    {"bodies", CST_SEC_BODY},          {"joints", CST_SEC_JOINT},   {"forces", CST_SEC_FORCE},
    {"measures", CST_SEC_MEASURE},     {"blocks", CST_SEC_MEASURE}, {"roads", CST_SEC_ROAD},
};

/* ---- keys ---- */

/* What others call it */
static const char *synonym(const char *key, const char *const *words)
{
    static const char *const other[][2] = {{"center", "position"},
                                           {"centre", "position"},
                                           {"origin", "position"},
                                           {"location", "position"},
                                           {"at", "position"},
                                           {"pos", "position"},
                                           {"start", "from"},
                                           {"end", "to"},
                                           {"k", "stiffness"},
                                           {"rate", "stiffness"},
                                           {"c", "damping"},
                                           {"l0", "free_length"},
                                           {"rest_length", "free_length"},
                                           {"natural_length", "free_length"},
                                           {"length0", "free_length"},
                                           {"m", "mass"},
                                           {"r", "radius"},
                                           {"rho", "density"},
                                           {"bodies", "between"},
                                           {"body", "of"},
                                           {"point", "of"},
                                           {"position", "at"},
                                           {"point", "at"},
                                           {"location", "at"},
                                           {"center", "at"},
                                           {"direction", "axis"},
                                           {"rotation", "orientation"},
                                           {"expression", "value"},
                                           {"units", "unit"},
                                           {"description", "doc"},
                                           {"comment", "doc"}};
    for (size_t i = 0; i < sizeof other / sizeof *other; i++)
        for (int k = 0; strcmp(other[i][0], key) == 0 && words[k]; k++)
            if (strcmp(words[k], other[i][1]) == 0) return words[k];
    return NULL;
}

int cst_key_known(cst_loader *L, const char *what, const char *owner, const char *key, cst_where w,
                  const char *const *words)
{
    cst_nearest near = cst_nearest_begin(key);
    for (int i = 0; words[i]; i++) {
        if (strcmp(words[i], key) == 0) return 1;
        cst_nearest_try(&near, words[i]);
    }
    /* `max(1, 2)` without quotes in a flow mapping: its value has said what is wrong */
    if (strchr(key, ')') && !strchr(key, '(')) return 0;
    const char *meant = synonym(key, words);
    if (meant) near.best = meant;
    char hint[400];
    cst_loader_error(L, w, "unknown %s '%.60s'%s%s%s", what, key, *owner ? " of " : "", owner,
                     cst_nearest_hint(&near, hint, sizeof hint));
    return 0;
}

int cst_keys_check(cst_loader *L, const cst_yaml *map, const char *what, const char *owner,
                   const char *const *words)
{
    int ok = 1;
    for (int i = 0; i < map->n; i++)
        ok &= cst_key_known(L, what, owner, map->key[i], map->key_where[i], words);
    return ok;
}

const cst_yaml *cst_part_section(const cst_part *part, const char *key)
{
    for (int i = 0; i < part->doc.n; i++) {
        const cst_yaml *node = cst_yaml_get(part->doc.at[i], key);
        if (node) return node;
    }
    return NULL;
}

/* ---- entities ---- */

static int valid_name(const char *s)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
    return *s && strspn(s, letters) == strlen(s) && !(*s >= '0' && *s <= '9') && strlen(s) <= 100;
}

/* Words that expressions understand by themselves. */
static int reserved(cst_section s, const char *name)
{
    static const char *const word[] = {"t", "time", "pi", "and", "or", "not", NULL};
    if (s > CST_SEC_TABLE) return strcmp(name, "ground") == 0;
    for (int i = 0; word[i]; i++)
        if (strcmp(name, word[i]) == 0) return 1;
    return 0;
}

int cst_name_free(cst_loader *L, cst_section from, cst_section to, const char *full, cst_where w)
{
    for (cst_section k = from; k <= to; k++) {
        int other = cst_map_get(&L->names[k], full);
        if (other < 0) continue;
        const cst_entity *e = L->entity.at[other];
        int elsewhere = strcmp(e->where.file, w.file) != 0;
        cst_loader_error(L, w, "'%s' is already the name of a %s (%s%s%d)", full,
                         cst_section_word[k], elsewhere ? e->where.file : "line",
                         elsewhere ? ":" : " ", e->where.line);
        return 0;
    }
    return 1;
}

cst_entity *cst_entity_add(cst_loader *L, cst_section s, cst_part *part, const char *name,
                           cst_where w, const cst_yaml *node)
{
    if (!valid_name(name)) {
        cst_loader_error(L, w, "'%.60s' is not a name: use letters, digits and _", name);
        return NULL;
    }
    if (reserved(s, name)) {
        cst_loader_error(L, w, "'%s' is reserved: choose another name for the %s", name,
                         cst_section_word[s]);
        return NULL;
    }
    const char *full =
        *part->prefix ? cst_arena_printf(L->scratch, "%s%s", part->prefix, name) : name;
    const int named = s <= CST_SEC_MEASURE; /* in expressions */
    if (!cst_name_free(L, named ? CST_SEC_PARAMETER : s, named ? CST_SEC_MEASURE : s, full, w))
        return NULL;
    cst_entity *e = cst_new(L->scratch, cst_entity, 1);
    *e = (cst_entity){.section = s,
                      .name = full,
                      .local = name,
                      .part = part,
                      .node = node,
                      .where = w,
                      .index = -1};
    cst_map_put(L->scratch, &L->names[s], full, L->entity.n);
    *cst_push(L->scratch, &L->entity) = e;
    return e;
}

static void read_section(cst_loader *L, cst_part *part, cst_section s, const char *key,
                         const cst_yaml *node)
{
    for (int i = 0; i < node->n; i++) {
        cst_entity *e =
            cst_entity_add(L, s, part, node->key[i], node->key_where[i], node->child[i]);
        if (e)
            e->block = strcmp(key, "blocks") == 0; /* blocks are measures with types of their own */
    }
}

/* ---- files ---- */

const char *cst_loader_path(cst_loader *L, const cst_yaml *name)
{
    if (name->kind != CST_YAML_SCALAR || !name->text[0]) {
        cst_loader_error(L, name->where, "must be the name of a file");
        return NULL;
    }
    const char *slash = name->where.file ? strrchr(name->where.file, '/') : NULL;
    int own = name->text[0] == '/' || !slash;
    const char *path =
        own ? cst_arena_strdup(L->arena, name->text)
            : cst_arena_printf(L->arena, "%.*s%s", (int)(slash - name->where.file + 1),
                               name->where.file, name->text);
    *cst_push(L->arena, &L->m->file_ref) =
        (cst_file_ref){cst_loader_place(L, name->where), (int)strlen(name->text), path};
    return path;
}

int cst_file_there(cst_loader *L, const char *path, const cst_yaml *name)
{
    const char *why = cst_file_obstacle(path, L->m->root);
    if (why) cst_loader_error(L, name->where, "cannot read '%.100s': %s", name->text, why);
    return !why;
}

cst_yaml *cst_loader_file(cst_loader *L, const char *path, const cst_yaml *name)
{
    int k = cst_map_get(&L->files, path);
    if (k >= 0) return L->file.at[k];
    int before = L->d->errors;
    cst_yaml *doc =
        cst_file_there(L, path, name) ? cst_yaml_read(L->scratch, path, L->m->root, L->d) : NULL;
    if (doc && doc->kind != CST_YAML_MAPPING) {
        cst_loader_error(L, doc->where, "a model file is a mapping of sections");
        doc = NULL;
    }
    if (!doc && L->d->errors == before)
        cst_loader_error(L, name->where, "'%s' could not be read", path);
    cst_map_put(L->scratch, &L->files, path, L->file.n);
    *cst_push(L->scratch, &L->file) =
        doc; /* NULL: an error was reported, and it is not reported again */
    return doc;
}

typedef struct include_chain {
    const char *path;
    const struct include_chain *outer;
    int depth;
} include_chain;

static int read_document(cst_loader *L, cst_part *part, const cst_yaml *doc,
                         const include_chain *chain);

static void read_include(cst_loader *L, cst_part *part, const cst_yaml *name,
                         const include_chain *chain)
{
    const char *path = cst_loader_path(L, name);
    if (!path) return;
    include_chain inner = {path, chain, chain->depth + 1};
    for (const include_chain *c = chain; c; c = c->outer)
        if (c->path && strcmp(c->path, path) == 0) {
            if (c == chain)
                cst_loader_error(L, name->where, "'%s' includes itself", name->text);
            else
                cst_loader_error(L, name->where, "'%s' includes itself: it led to this file",
                                 name->text);
            return;
        }
    if (inner.depth > CST_MAX_DEPTH) {
        cst_loader_error(L, name->where, "files are included more than %d deep", CST_MAX_DEPTH);
        return;
    }
    const cst_yaml *doc = cst_loader_file(L, path, name);
    for (int i = 0; doc && i < part->doc.n; i++)
        if (part->doc.at[i] == doc) return; /* included twice: once is enough */
    if (doc) read_document(L, part, doc, &inner);
}

static void read_includes(cst_loader *L, cst_part *part, const cst_yaml *node,
                          const include_chain *chain)
{
    if (!node) return;
    if (node->kind != CST_YAML_SEQUENCE) {
        read_include(L, part, node, chain);
        return;
    }
    for (int i = 0; i < node->n; i++) read_include(L, part, node->child[i], chain);
}

static int check_version(cst_loader *L, const cst_yaml *doc, int required)
{
    const cst_yaml *v = cst_yaml_get(doc, "costate");
    if (!v && !required) return 1;
    if (v && v->kind == CST_YAML_SCALAR && strcmp(v->text, "1") == 0) return 1;
    if (v)
        cst_loader_error(L, v->where, "this program reads 'costate: 1', not '%.20s'", v->text);
    else
        cst_loader_error(L, doc->where, "a model file starts with 'costate: 1'");
    return 0;
}

static int read_document(cst_loader *L, cst_part *part, const cst_yaml *doc,
                         const include_chain *chain)
{
    if (!check_version(L, doc, part == L->root && part->doc.n == 0)) return 0;
    cst_keys_check(L, doc, "section", "", cst_section_keys);
    *cst_push(L->scratch, &part->doc) = doc;
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++) {
        const cst_yaml *node = cst_yaml_get(doc, sections[i].key);
        if (!node || node->kind == CST_YAML_NULL) continue;
        if (node->kind == CST_YAML_MAPPING)
            read_section(L, part, sections[i].section, sections[i].key, node);
        else
            cst_loader_error(L, node->where, "%s must be a mapping of names", sections[i].key);
    }
    read_includes(L, part, cst_yaml_get(doc, "include"), chain);
    return 1;
}

int cst_sections_read(cst_loader *L, cst_part *part, const cst_yaml *doc)
{
    include_chain top = {.path = doc->where.file, .outer = NULL, .depth = 0};
    return read_document(L, part, doc, &top);
}
