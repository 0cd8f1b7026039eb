/* SPDX-License-Identifier: MIT
 *
 * A YAML file as an immutable tree in an arena, with the place of every node. Anchors, aliases and
 * merge keys
 * (<<) are resolved: an alias is the very node it names. What a model file should not contain is an
 * error here: syntax errors, several documents, duplicate keys, keys that are not plain words,
 * unknown tags, bytes that are not text. */
#ifndef CST_MODEL_YAML_H
#define CST_MODEL_YAML_H

#include "base/arena.h"
#include "base/diag.h"
#include "base/text.h"

typedef enum { CST_YAML_SCALAR, CST_YAML_SEQUENCE, CST_YAML_MAPPING, CST_YAML_NULL } cst_yaml_kind;

typedef struct cst_yaml {
    cst_yaml_kind kind;
    int quoted;       /* scalar: it was in quotes, a block (| or >) or tagged !!str */
    const char *text; /* scalar; "" for the other kinds */
    cst_where where;
    int n;
    struct cst_yaml **child; /* (n) items of a sequence or values of a mapping */
    const char **key;        /* (n) mapping */
    cst_where *key_where;    /* (n) mapping */
    const cst_map *index;    /* key -> child of a large mapping, or NULL */
} cst_yaml;

/* NULL: errors are reported. file_name is copied; it only serves messages. */
cst_yaml *cst_yaml_parse(cst_arena *a, const char *file_name, const char *text, size_t n,
                         cst_diag *d);
/* a file of at most 256 MiB; root: as in base/file.h */
cst_yaml *cst_yaml_read(cst_arena *a, const char *path, const char *root, cst_diag *d);

cst_yaml *cst_yaml_get(const cst_yaml *map,
                       const char *key); /* NULL: no such key, or not a mapping */

#endif
