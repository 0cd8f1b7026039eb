/* SPDX-License-Identifier: MIT */
#include "alloc_wrap.h"

#include <stddef.h>

static _Thread_local long count, fail_at;

void *__real_aligned_alloc(size_t align, size_t n);
void *__wrap_aligned_alloc(size_t align, size_t n);

void alloc_fail_at(long k)
{
    count = 0;
    fail_at = k;
}

long alloc_count(void) { return count; }

void *__wrap_aligned_alloc(size_t align, size_t n)
{
    return ++count == fail_at ? NULL : __real_aligned_alloc(align, n);
}
