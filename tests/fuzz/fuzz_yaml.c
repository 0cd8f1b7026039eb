/* SPDX-License-Identifier: MIT
 *
 * Any bytes as a YAML file and as a CSV file: a result is NULL exactly when an error is reported,
 * and a tree that is returned can be walked within its limits. */
#include "base/csv.h"
#include "model/yaml.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void must(int condition)
{
    if (!condition) abort();
}

static long walk(const cst_yaml *y, int depth)
{
    long size = 1;
    must(depth <= 64 && y->text && y->where.file && y->where.line > 0);
    for (int i = 0; i < y->n; i++) {
        if (y->kind == CST_YAML_MAPPING) must(cst_yaml_get(y, y->key[i]) == y->child[i]);
        size += walk(y->child[i], depth + 1);
    }
    return size;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    cst_arena a = {0};
    static _Thread_local cst_diag of_yaml, of_csv; /* large for a stack */
    memset(&of_yaml, 0, sizeof of_yaml);
    memset(&of_csv, 0, sizeof of_csv);
    if (CST_ARENA_GUARD(&a)) {
        cst_arena_free(&a);
        return 0;
    }
    const cst_yaml *y = cst_yaml_parse(&a, "model.yaml", (const char *)data, n, &of_yaml);
    must((y == NULL) == (of_yaml.errors > 0));
    if (y) must(walk(y, 0) <= 2000000 + (long)n);
    const cst_csv *c = cst_csv_parse(&a, "table.csv", (const char *)data, n, &of_csv);
    must((c == NULL) == (of_csv.errors > 0));
    cst_arena_free(&a);
    return 0;
}
