/* SPDX-License-Identifier: MIT
 *
 * Names: hash map from text to int, and the nearest known name for a misspelt one. */
#ifndef CST_BASE_TEXT_H
#define CST_BASE_TEXT_H

#include "base/arena.h"

typedef struct cst_map_entry {
    const char *key;
    int value;
} cst_map_entry;
typedef struct cst_map { /* {0} is empty; keys are not copied */
    cst_map_entry *slot;
    int cap, n;
} cst_map;

int cst_map_get(const cst_map *m, const char *key); /* the value, or -1 */
int cst_map_getn(const cst_map *m, const char *key, size_t len);
/* replaces; the old value, or -1 if it is new */
int cst_map_put(cst_arena *a, cst_map *m, const char *key, int value);

/* Edit distance with transpositions (Damerau); NULL when no candidate is near enough to be a help.
 */
enum { CST_NEAREST_FEW = 8 };
typedef struct cst_nearest {
    const char *word;
    const char *best;
    int distance;
    int n; /* candidates, and the first of them */
    const char *few[CST_NEAREST_FEW];
} cst_nearest;
cst_nearest cst_nearest_begin(const char *word);
void cst_nearest_try(cst_nearest *n, const char *candidate);
const char *cst_nearest_best(const cst_nearest *n);
/* "; did you mean 'x'?", or all candidates when they are few ("; known: a, b"), or nothing. Returns
 * text. */
const char *cst_nearest_hint(const cst_nearest *n, char *text, size_t size);

/* "a" or "an", according to pronunciation */
const char *cst_article(const char *word);

/* Strict: the whole text must be a finite decimal number in C syntax. Returns 1 if it is. */
int cst_text_number(const char *s, double *value);

/* Bytes of the UTF-8 character at s: 1 to 4; 0 if it is not one (nor are overlong forms and
 * surrogates). Reads no further than the first byte that is wrong, so that n = 4 is right for a
 * text that ends with 0. */
size_t cst_text_utf8(const char *s, size_t n);

#endif
