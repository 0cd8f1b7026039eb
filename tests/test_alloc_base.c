/* SPDX-License-Identifier: MIT
 *
 * Memory running out, at every block of a construction: control reaches the guard, and nothing
 * leaks. */
#include "alloc_wrap.h"
#include "base/arena.h"
#include "base/csv.h"
#include "base/text.h"
#include "expect.h"
#include "model/yaml.h"

#include <stdio.h>

static void release(void *counter) { --*(int *)counter; }

/* Lists, maps, texts, deferred releases and a child: all that construction code uses. */
static void construct(cst_arena *a, int *open)
{
    CST_LIST(double) list = {0};
    cst_map map = {0};
    cst_arena *child = cst_arena_child(a);
    for (int i = 0; i < 400; i++) {
        *cst_push(a, &list) = i;
        cst_map_put(a, &map, cst_arena_printf(a, "name %d", i), i);
        ++*open;
        cst_arena_defer(i % 2 ? a : child, release, open);
        if (i % 50 == 0) (void)cst_new(child, double, 1000);
    }
    expect_int(map.n, 400);
    expect_near(list.at[399], 399, 0);
}

static int construct_guarded(int *open)
{
    cst_arena a = {0};
    if (CST_ARENA_GUARD(&a)) {
        cst_arena_free(&a);
        return 0;
    }
    construct(&a, open);
    cst_arena_free(&a);
    return 1;
}

static void every_block_may_fail(void **state)
{
    (void)state;
    long k = 0;
    for (int done = 0; !done; k++) {
        int open = 0;
        alloc_fail_at(k + 1);
        done = construct_guarded(&open);
        expect_int(open, 0);
        expect_int(done, alloc_count() <= k);
    }
    expect_true(k > 10); /* the construction takes more than ten blocks, each has failed once */
}

static int read_guarded(const char *yaml, const char *csv)
{
    cst_arena a = {0};
    cst_diag d = {0};
    if (CST_ARENA_GUARD(&a)) {
        cst_arena_free(&a);
        return 0;
    }
    expect_not_null(cst_yaml_parse(&a, "model.yaml", yaml, strlen(yaml), &d));
    expect_not_null(cst_csv_parse(&a, "table.csv", csv, strlen(csv), &d));
    expect_not_null(cst_yaml_read(&a, CST_SOURCE_DIR "/.clang-format", NULL, &d));
    cst_arena_free(&a);
    return 1;
}

static void readers_survive(void **state)
{
    (void)state;
    char yaml[20000] = "", csv[20000] = "t, x\n";
    size_t ny = 0, nc = strlen(csv);
    for (int i = 0; i < 600; i++) {
        ny += (size_t)snprintf(yaml + ny, sizeof yaml - ny, "key%d: {a: [1, 2], b: x}\n", i);
        nc += (size_t)snprintf(csv + nc, sizeof csv - nc, "%d, 0.5\n", i);
    }
    long k = 0;
    for (int done = 0; !done; k++) {
        alloc_fail_at(k + 1);
        done = read_guarded(yaml, csv);
    }
    expect_true(k > 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_block_may_fail),
        cmocka_unit_test(readers_survive),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
