/* SPDX-License-Identifier: MIT
 *
 * The only file of the library that allocates. Blocks double in size from 4 KiB to 8 MiB; an item
 * too large for that gets its own block behind the newest one, so that the space left in the newest
 * is not lost. Large blocks are requested in pages of 2 MiB where the system supports them: passes
 * over long arrays then rarely miss the TLB. Under the address sanitizer items are separated by
 * poisoned bytes, so that an overrun inside an arena is detected. */
#define _DEFAULT_SOURCE /* madvise */
#include "base/arena.h"

#include <assert.h>
#include <limits.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#if defined(__SANITIZE_ADDRESS__)
#define WITH_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WITH_ASAN 1
#endif
#endif

#ifdef WITH_ASAN
#include <sanitizer/asan_interface.h>
#define POISON(p, n) ASAN_POISON_MEMORY_REGION(p, n)
#define UNPOISON(p, n) ASAN_UNPOISON_MEMORY_REGION(p, n)
enum { GAP = 32 };
#else
#define POISON(p, n) ((void)(p), (void)(n))
#define UNPOISON(p, n) ((void)(p), (void)(n))
enum { GAP = 0 };
#endif

/* 512 GiB: a larger item is a wrong count, whatever the system would promise */
#define ITEM_MAX ((size_t)1 << 39)
enum { BLOCK_ALIGN = 64, ITEM_ALIGN = 16, BLOCK_MIN = 4096, BLOCK_MAX = 1 << 23, PAGE = 1 << 21 };

struct cst_arena_block {
    cst_arena_block *next;
    size_t used, cap; /* of the bytes behind the header */
};

struct cst_arena_defer_entry {
    cst_arena_defer_entry *next;
    void (*release)(void *);
    void *object;
};

static char *block_bytes(cst_arena_block *b) { return (char *)b + BLOCK_ALIGN; }

static size_t round_up(size_t n, size_t to) { return (n + to - 1) / to * to; }

void *cst_alloc_raw(size_t bytes)
{
    size_t align = bytes < PAGE ? BLOCK_ALIGN : PAGE;
    void *p = aligned_alloc(align, round_up(bytes, align));
#ifdef MADV_HUGEPAGE
    if (p && bytes >= PAGE) madvise(p, bytes, MADV_HUGEPAGE);
#endif
    return p;
}

static _Noreturn void out_of_memory(cst_arena *a)
{
    assert(a->guard && "an arena is used without CST_ARENA_GUARD");
    if (!a->guard) abort(); /* nowhere to go: the caller has broken the contract of the arena */
    longjmp(*a->guard, 1);
}

/* A block with room for `need` bytes, linked into the arena; NULL when memory is out. */
static cst_arena_block *block_new(cst_arena *a, size_t need)
{
    size_t cap = a->head ? 2 * (a->head->cap + BLOCK_ALIGN) : BLOCK_MIN;
    if (cap > BLOCK_MAX) cap = BLOCK_MAX;
    cap -= BLOCK_ALIGN;
    int own = need > cap / 4 &&
              a->head; /* made the newest block, it would hide the space left in the current one */
    if (need > cap || own) cap = need;
    cst_arena_block *b = cst_alloc_raw(cap + BLOCK_ALIGN);
    if (!b) return NULL;
    b->used = 0;
    b->cap = cap;
    if (own) {
        b->next = a->head->next;
        a->head->next = b;
    } else {
        b->next = a->head;
        a->head = b;
    }
    POISON(block_bytes(b), b->cap);
    return b;
}

static void *try_alloc(cst_arena *a, size_t count, size_t size)
{
    if (size && count > ITEM_MAX / size) return NULL;
    size_t n = count * size;
    size_t room = round_up(n ? n : 1, ITEM_ALIGN) + GAP;
    cst_arena_block *b = a->head;
    if (!b || b->cap - b->used < room) b = block_new(a, room);
    if (!b) return NULL;
    char *item = block_bytes(b) + b->used;
    b->used += room;
    a->bytes += n;
    UNPOISON(item, n ? n : 1);
    memset(item, 0, n);
    return item;
}

void *cst_arena_alloc(cst_arena *a, size_t count, size_t size)
{
    void *item = try_alloc(a, count, size);
    if (!item) out_of_memory(a);
    return item;
}

char *cst_arena_strndup(cst_arena *a, const char *s, size_t n)
{
    char *copy = cst_arena_alloc(a, n + 1, 1);
    if (n) memcpy(copy, s, n);
    return copy;
}

char *cst_arena_strdup(cst_arena *a, const char *s) { return cst_arena_strndup(a, s, strlen(s)); }

char *cst_arena_printf(cst_arena *a, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(NULL, 0, format, args);
    va_end(args);
    char *text = cst_arena_alloc(a, n < 0 ? SIZE_MAX : (size_t)n + 1, 1);
    va_start(args, format);
    vsnprintf(text, (size_t)n + 1, format, args);
    va_end(args);
    return text;
}

void cst_arena_defer(cst_arena *a, void (*release)(void *), void *object)
{
    cst_arena_defer_entry *e = try_alloc(a, 1, sizeof *e);
    if (!e) {
        release(object); /* the arena owns it from the call on: it must not leak because there is no
                            memory to record it */
        out_of_memory(a);
    }
    e->release = release;
    e->object = object;
    e->next = a->defers;
    a->defers = e;
}

void cst_arena_free(cst_arena *a)
{
    while (a->defers) {
        cst_arena_defer_entry *e = a->defers;
        a->defers = e->next;
        e->release(e->object);
    }
    for (cst_arena_block *b = a->head; b;) {
        cst_arena_block *next = b->next;
        UNPOISON(block_bytes(b), b->cap);
        free(b);
        b = next;
    }
    a->head = NULL;
    a->bytes = 0;
}

static void free_child(void *child) { cst_arena_free(child); }

cst_arena *cst_arena_child(cst_arena *a)
{
    cst_arena *child = cst_new(a, cst_arena, 1);
    child->guard = a->guard;
    cst_arena_defer(a, free_child, child);
    return child;
}

void cst_list_grow(cst_arena *a, void **at, int *cap, size_t size)
{
    if (*cap > INT_MAX / 2) out_of_memory(a);
    int bigger = *cap ? 2 * *cap : 8;
    char *copy = cst_arena_alloc(a, (size_t)bigger, size);
    void *old; /* `at` points to a T *, which must not be read or written as a void * */
    memcpy(&old, (void *)at, sizeof old);
    if (*cap) memcpy(copy, old, (size_t)*cap * size);
    memcpy((void *)at, &copy, sizeof copy);
    *cap = bigger;
}
