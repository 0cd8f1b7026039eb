/* SPDX-License-Identifier: MIT */
#include "integrator/event_sets.h"

#include "base/hash.h"

#include <string.h>

int cst_set_number(cst_arena *a, cst_event_sets *s, const uint64_t *set)
{
    int n = s->list.n / s->words;
    for (int i = 0; i < n; i++)
        if (memcmp(cst_set_at(s, i), set, sizeof *set * (size_t)s->words) == 0) return i;
    for (int w = 0; w < s->words; w++) *cst_push(a, &s->list) = set[w];
    return n;
}

int cst_sets_disjoint(const cst_event_sets *s, int i, int j)
{
    uint64_t both = 0;
    for (int w = 0; w < s->words; w++) both |= cst_set_at(s, i)[w] & cst_set_at(s, j)[w];
    return both == 0;
}

uint64_t cst_set_hash(const cst_event_sets *s, int i)
{
    uint64_t y = CST_HASH_START;
    for (int w = 0; w < s->words; w++) y = cst_hash(y, cst_set_at(s, i)[w]);
    return y;
}
