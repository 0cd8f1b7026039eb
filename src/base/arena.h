/* SPDX-License-Identifier: MIT
 *
 * Memory with one owner. An arena grows in blocks and is freed as a whole. An allocation never
 * returns NULL: when memory runs out, control goes to the guard that the public entry point has set
 * with
 *
 *     cst_arena a = {0};
 *     if (CST_ARENA_GUARD(&a)) { cst_arena_free(&a); return cst_error(diag, CST_MEMORY, ...); }
 *
 * so that construction code stays free of checks and nothing leaks: all it owns is in the arena.
 * Resources of other libraries (KLU factors, YAML documents) are registered with cst_arena_defer
 * and released with it. */
#ifndef CST_BASE_ARENA_H
#define CST_BASE_ARENA_H

#include <setjmp.h>
#include <stddef.h>

typedef struct cst_arena_block cst_arena_block;
typedef struct cst_arena_defer_entry cst_arena_defer_entry;

typedef struct cst_arena {
    cst_arena_block *head;         /* newest block */
    cst_arena_defer_entry *defers; /* newest first */
    size_t bytes;                  /* handed out so far */
    jmp_buf *guard;
    jmp_buf guard_storage;
} cst_arena;

#define CST_ARENA_GUARD(a) ((a)->guard = &(a)->guard_storage, setjmp((a)->guard_storage))

/* zeroed; items are 16-byte aligned, blocks 64-byte */
void *cst_arena_alloc(cst_arena *a, size_t count, size_t size);
char *cst_arena_strdup(cst_arena *a, const char *s);
char *cst_arena_strndup(cst_arena *a, const char *s, size_t n);
char *cst_arena_printf(cst_arena *a, const char *format, ...) __attribute__((format(printf, 2, 3)));
void cst_arena_defer(cst_arena *a, void (*release)(void *), void *object);
void cst_arena_free(cst_arena *a); /* the arena is then empty and may be used again */

/* A child arena for scratch memory: freed with `a`, or earlier by cst_arena_free. When it runs out
 * of memory, control goes to the guard of `a`. */
cst_arena *cst_arena_child(cst_arena *a);

/* All memory of the library comes from here, 64-byte aligned; only arena.c calls it. NULL: out of
 * memory. */
void *cst_alloc_raw(size_t bytes);

#define cst_new(a, type, n) ((type *)cst_arena_alloc(a, (size_t)(n), sizeof(type)))

/* A growing array in an arena. Doubling copies; old blocks die with the arena. */
#define CST_LIST(T)                                                                                \
    struct {                                                                                       \
        T *at;                                                                                     \
        int n, cap;                                                                                \
    }
#define cst_push(a, list)                                                                          \
    ((list)->n == (list)->cap                                                                      \
         ? cst_list_grow(a, (void **)&(list)->at, &(list)->cap, sizeof *(list)->at)                \
         : (void)0,                                                                                \
     &(list)->at[(list)->n++])
void cst_list_grow(cst_arena *a, void **at, int *cap, size_t size);

#endif
