/* SPDX-License-Identifier: MIT
 *
 * FNV-1a, by bytes or by words. */
#ifndef CST_BASE_HASH_H
#define CST_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

#define CST_HASH_START UINT64_C(14695981039346656037)

static inline uint64_t cst_hash(uint64_t h, uint64_t x)
{
    return (h ^ x) * UINT64_C(1099511628211);
}
static inline uint64_t cst_hash_bytes(uint64_t h, const void *data, size_t n)
{
    for (const unsigned char *c = data; n--; c++) h = cst_hash(h, *c);
    return h;
}

#endif
