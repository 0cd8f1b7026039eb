/* SPDX-License-Identifier: MIT
 *
 * A hash of all that a model was read from: the trees of its YAML files, without comments and
 * layout, and the numbers of its CSV files. Stopping rules of a search do not count: they may
 * change when it is resumed. */
#include <string.h>

#include "base/hash.h"
#include "model/loader.h"

enum { END = 0x5d }; /* of a tree */

static uint64_t hash_text(uint64_t h, const char *text)
{
    return cst_hash_bytes(h, text, strlen(text) + 1);
}

/* skip: a key that is left out; NULL: none */
static uint64_t hash_tree(uint64_t h, const cst_yaml *y, const char *skip)
{
    h = hash_text(cst_hash(h, (uint64_t)y->kind), y->text);
    for (int i = 0; i < y->n; i++) {
        const char *key = y->kind == CST_YAML_MAPPING ? y->key[i] : "";
        if (skip && strcmp(key, skip) == 0) continue;
        h = hash_tree(hash_text(h, key), y->child[i], NULL);
    }
    return cst_hash(h, END);
}

void cst_loader_hash_file(cst_loader *L, const cst_yaml *doc)
{
    if (!doc) return; /* it could not be read, which was reported */
    const cst_yaml *design = cst_yaml_get(doc, "design");
    L->m->contents = hash_tree(L->m->contents ^ CST_HASH_START, doc, design ? "design" : NULL);
    if (design) L->m->contents = hash_tree(L->m->contents, design, "stop");
}

void cst_loader_hash_csv(cst_loader *L, const cst_csv *csv)
{
    uint64_t h = L->m->contents ^ CST_HASH_START;
    for (int k = 0; k < csv->ncol; k++) {
        h = hash_text(h, csv->name[k]);
        h = cst_hash_bytes(h, csv->column[k], sizeof **csv->column * (size_t)csv->nrow);
    }
    L->m->contents = h;
}
