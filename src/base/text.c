/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* strtod_l */
#include "base/text.h"

#include <locale.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- hash map: open addressing, at most half full ---- */

static uint32_t hash(const char *key, size_t len) /* FNV-1a */
{
    uint32_t h = 2166136261u;
    for (size_t i = 0; i < len; i++) h = (h ^ (unsigned char)key[i]) * 16777619u;
    return h ^ (h >> 15);
}

/* The slot of the key, or the empty one where it belongs. */
static cst_map_entry *find(const cst_map *m, const char *key, size_t len)
{
    uint32_t mask = (uint32_t)m->cap - 1;
    uint32_t i = hash(key, len) & mask;
    while (m->slot[i].key && (strncmp(m->slot[i].key, key, len) != 0 || m->slot[i].key[len]))
        i = (i + 1) & mask;
    return &m->slot[i];
}

int cst_map_getn(const cst_map *m, const char *key, size_t len)
{
    if (!m->n) return -1;
    const cst_map_entry *e = find(m, key, len);
    return e->key ? e->value : -1;
}

int cst_map_get(const cst_map *m, const char *key) { return cst_map_getn(m, key, strlen(key)); }

static void grow(cst_arena *a, cst_map *m)
{
    cst_map bigger = {.cap = m->cap ? 2 * m->cap : 16, .n = m->n};
    bigger.slot = cst_new(a, cst_map_entry, bigger.cap);
    for (int i = 0; i < m->cap; i++)
        if (m->slot[i].key) *find(&bigger, m->slot[i].key, strlen(m->slot[i].key)) = m->slot[i];
    *m = bigger;
}

int cst_map_put(cst_arena *a, cst_map *m, const char *key, int value)
{
    if (2 * (m->n + 1) > m->cap) grow(a, m);
    cst_map_entry *e = find(m, key, strlen(key));
    int old = -1;
    if (e->key) {
        old = e->value;
    } else {
        e->key = key;
        m->n++;
    }
    e->value = value;
    return old;
}

/* ---- nearest name ---- */

enum { WORD_MAX = 48 };

static int lower(char c) { return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c; }

static int min3(int a, int b, int c) { return a < b ? (a < c ? a : c) : (b < c ? b : c); }

/* Letters inserted, deleted, replaced or two neighbours exchanged; upper and lower case are the
 * same. D[i][j] = min(D[i-1][j] + 1, D[i][j-1] + 1, D[i-1][j-1] + (a_i != b_j), D[i-2][j-2] + 1 if
 * exchanged)
 */
static int distance(const char *a, int na, const char *b, int nb)
{
    int row[3][WORD_MAX + 1];
    for (int j = 0; j <= nb; j++) row[0][j] = j;
    for (int i = 1; i <= na; i++) {
        int *D = row[i % 3], *D1 = row[(i + 2) % 3], *D2 = row[(i + 1) % 3];
        D[0] = i;
        for (int j = 1; j <= nb; j++) {
            int ai = lower(a[i - 1]), bj = lower(b[j - 1]);
            D[j] = min3(D1[j] + 1, D[j - 1] + 1, D1[j - 1] + (ai != bj));
            int exchanged = i > 1 && j > 1 && ai == lower(b[j - 2]) && lower(a[i - 2]) == bj;
            if (exchanged && D2[j - 2] + 1 < D[j]) D[j] = D2[j - 2] + 1;
        }
    }
    return row[na % 3][nb];
}

/* One mistake in three letters may be a slip; more is another word. */
cst_nearest cst_nearest_begin(const char *word)
{
    size_t len = strlen(word);
    int allowed = len <= WORD_MAX ? (int)(len + 1) / 3 : -1;
    return (cst_nearest){.word = word, .best = NULL, .distance = allowed + 1};
}

void cst_nearest_try(cst_nearest *n, const char *candidate)
{
    for (int i = 0; i < n->n && i < CST_NEAREST_FEW; i++)
        if (strcmp(n->few[i], candidate) == 0) return;
    if (n->n < CST_NEAREST_FEW) n->few[n->n] = candidate;
    n->n++;
    size_t na = strlen(n->word), nb = strlen(candidate);
    if (na > WORD_MAX || nb > WORD_MAX) return;
    int apart = abs((int)na - (int)nb);
    if (apart >= n->distance) return;
    int D = distance(n->word, (int)na, candidate, (int)nb);
    if (D >= n->distance) return;
    n->distance = D;
    n->best = candidate;
}

const char *cst_nearest_best(const cst_nearest *n) { return n->best; }

const char *cst_nearest_hint(const cst_nearest *n, char *text, size_t size)
{
    size_t used = 0;
    text[0] = 0;
    if (n->best) snprintf(text, size, "; did you mean '%.100s'?", n->best);
    for (int i = 0; !n->best && n->n <= CST_NEAREST_FEW && i < n->n && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%.40s",
                                 i ? ", " : "; known: ", n->few[i]);
    return text;
}

/* ---- numbers ---- */

static const char *digits(const char *s, int *n)
{
    while (*s >= '0' && *s <= '9') s++, ++*n;
    return s;
}

/* [+-] digits [. digits] [e [+-] digits]; nothing that strtod reads beyond that (hexadecimal, inf,
 * nan, blanks) */
static int is_decimal(const char *s)
{
    int mantissa = 0, exponent = 0;
    if (*s == '+' || *s == '-') s++;
    s = digits(s, &mantissa);
    if (*s == '.') s = digits(s + 1, &mantissa);
    if (!mantissa) return 0;
    if (*s == 'e' || *s == 'E') {
        s++;
        if (*s == '+' || *s == '-') s++;
        s = digits(s, &exponent);
        if (!exponent) return 0;
    }
    return *s == 0;
}

const char *cst_article(const char *word)
{
    int vowel = *word && strchr("aeiou", *word) &&
                strncmp(word, "uni", 3) != 0; /* an angle, a universal joint */
    return vowel ? "an" : "a";
}

int cst_text_number(const char *s, double *value)
{
    if (!is_decimal(s)) return 0;
    /* glibc returns a static object for "C": this neither allocates nor has to be freed */
    double x = strtod_l(s, NULL, newlocale(LC_ALL_MASK, "C", (locale_t)0));
    if (!isfinite(x)) return 0;
    *value = x;
    return 1;
}

/* ---- UTF-8 ---- */

size_t cst_text_utf8(const char *text, size_t n)
{
    const unsigned char *s = (const unsigned char *)text;
    static const struct {
        unsigned char low, high, second_low, second_high;
        size_t length;
    } form[] = {{0x00, 0x7F, 0, 0, 1},       {0xC2, 0xDF, 0x80, 0xBF, 2},
                {0xE0, 0xE0, 0xA0, 0xBF, 3}, {0xE1, 0xEC, 0x80, 0xBF, 3},
                {0xED, 0xED, 0x80, 0x9F, 3}, {0xEE, 0xEF, 0x80, 0xBF, 3},
                {0xF0, 0xF0, 0x90, 0xBF, 4}, {0xF1, 0xF3, 0x80, 0xBF, 4},
                {0xF4, 0xF4, 0x80, 0x8F, 4}};
    for (size_t k = 0; k < sizeof form / sizeof *form; k++) {
        if (s[0] < form[k].low || s[0] > form[k].high) continue;
        size_t length = form[k].length;
        if (length > n) return 0;
        if (length > 1 && (s[1] < form[k].second_low || s[1] > form[k].second_high)) return 0;
        for (size_t i = 2; i < length; i++)
            if (s[i] < 0x80 || s[i] > 0xBF) return 0;
        return length;
    }
    return 0;
}
