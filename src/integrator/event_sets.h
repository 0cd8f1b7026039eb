/* SPDX-License-Identifier: MIT
 *
 * Sets of events that change together: one bit per event, as many words as that takes. A run lists
 * those that it meets, each once, and knows them by their number: it is what the tags of states say
 * (events.h). */
#ifndef CST_INTEGRATOR_EVENT_SETS_H
#define CST_INTEGRATOR_EVENT_SETS_H

#include "base/arena.h"

#include <stdint.h>

typedef struct cst_event_sets {
    int words;               /* of one set */
    CST_LIST(uint64_t) list; /* (words) for each set */
} cst_event_sets;

static inline int cst_set_has(const uint64_t *set, int k)
{
    return (int)(set[k / 64] >> k % 64 & 1);
}
static inline void cst_set_add(uint64_t *set, int k) { set[k / 64] |= (uint64_t)1 << k % 64; }
static inline const uint64_t *cst_set_at(const cst_event_sets *s, int i)
{
    return s->list.at + (size_t)i * (size_t)s->words;
}

int cst_set_number(cst_arena *a, cst_event_sets *s,
                   const uint64_t *set); /* it is added if it is new */
int cst_sets_disjoint(const cst_event_sets *s, int i, int j);
uint64_t cst_set_hash(const cst_event_sets *s, int i); /* of its events: the same in all runs */

#endif
