/* SPDX-License-Identifier: MIT */
#include "expect.h"
#include "model/yaml.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static cst_diag diag;

static cst_yaml *parse(cst_arena *a, const char *text)
{
    diag = (cst_diag){0};
    cst_yaml *y = cst_yaml_parse(a, "m.yaml", text, strlen(text), &diag);
    expect_int(y == NULL, diag.errors > 0);
    return y;
}

static void expect_place(cst_where w, int line, int col)
{
    expect_text(w.file, "m.yaml");
    expect_int(w.line, line);
    expect_int(w.col, col);
}

static void nodes_have_kinds_and_places(void **state)
{
    (void)state;
    cst_arena a = {0};
    if (CST_ARENA_GUARD(&a)) fail();
    cst_yaml *y = parse(&a, "# first\n"
                            "name: Five-bar\n"
                            "list: [1, 'two', \"3\"]\n"
                            "map:\n"
                            "  a: sqrt(2^2 + 1^2)\n"
                            "  b:\n"
                            "text: |\n"
                            "  two\n"
                            "  lines\n"
                            "nothing: ~\n"
                            "tilde: '~'\n");
    expect_not_null(y);
    expect_int(y->kind, CST_YAML_MAPPING);
    expect_int(y->n, 6);
    expect_place(y->where, 2, 1);
    expect_text(y->key[1], "list");
    expect_place(y->key_where[1], 3, 1);
    const cst_yaml *list = cst_yaml_get(y, "list");
    expect_true(list == y->child[1]);
    expect_int(list->kind, CST_YAML_SEQUENCE);
    expect_int(list->n, 3);
    expect_place(list->where, 3, 7);
    expect_int(list->child[0]->quoted, 0);
    expect_int(list->child[1]->quoted, 1);
    expect_int(list->child[2]->quoted, 1);
    expect_text(list->child[2]->text, "3");
    expect_place(list->child[2]->where, 3, 18);
    const cst_yaml *map = cst_yaml_get(y, "map");
    expect_text(cst_yaml_get(map, "a")->text, "sqrt(2^2 + 1^2)");
    expect_place(cst_yaml_get(map, "a")->where, 5, 6);
    expect_int(cst_yaml_get(map, "b")->kind, CST_YAML_NULL);
    expect_int(cst_yaml_get(map, "b")->where.line, 6);
    expect_text(cst_yaml_get(y, "text")->text, "two\nlines\n");
    expect_int(cst_yaml_get(y, "nothing")->kind, CST_YAML_NULL);
    expect_int(cst_yaml_get(y, "tilde")->kind, CST_YAML_SCALAR);
    expect_null(cst_yaml_get(y, "absent"));
    expect_null(cst_yaml_get(list, "a"));
    expect_null(cst_yaml_get(NULL, "a"));
    cst_arena_free(&a);
}

/* A random tree written in block or flow style is read back as it was. */
typedef struct writer {
    expect_random r;
    char *at, *end;
} writer;

static void put(writer *w, const char *s)
{
    size_t n = strlen(s);
    if (w->at + n >= w->end) fail();
    memcpy(w->at, s, n + 1);
    w->at += n;
}

static cst_yaml *grow_tree(cst_arena *a, expect_random *r, int depth)
{
    static const char *const words[] = {
        "1", "-2.5e3", "2*k_f", "L01", "Five-bar mechanism", "f(x)*(1 + y)"};
    cst_yaml *y = cst_new(a, cst_yaml, 1);
    int what = depth > 5 ? 0 : expect_below(r, 3);
    y->kind = what == 0 ? CST_YAML_SCALAR : what == 1 ? CST_YAML_SEQUENCE : CST_YAML_MAPPING;
    y->text = what ? "" : words[expect_below(r, 6)];
    y->quoted = what ? 0 : expect_below(r, 2);
    y->n = what ? 1 + expect_below(r, depth == 0 ? 40 : 4) : 0;
    y->child = cst_new(a, cst_yaml *, y->n);
    y->key = what == 2 ? cst_new(a, const char *, y->n) : NULL;
    for (int i = 0; i < y->n; i++) {
        y->child[i] = grow_tree(a, r, depth + 1);
        if (y->key) y->key[i] = cst_arena_printf(a, "key_%d", i);
    }
    return y;
}

static void write_tree(writer *w, const cst_yaml *y, int indent, int flow)
{
    if (y->kind == CST_YAML_SCALAR) {
        put(w, y->quoted ? "\"" : "");
        put(w, y->text);
        put(w, y->quoted ? "\"" : "");
        return;
    }
    int map = y->kind == CST_YAML_MAPPING;
    flow = flow || (indent > 0 && expect_below(&w->r, 3) == 0);
    if (flow) put(w, map ? "{" : "[");
    for (int i = 0; i < y->n; i++) {
        if (flow) {
            put(w, i ? ", " : "");
        } else {
            put(w, "\n");
            for (int k = 0; k < indent; k++) put(w, "  ");
            put(w, map ? "" : "- ");
        }
        if (map) put(w, y->key[i]), put(w, ": ");
        write_tree(w, y->child[i], indent + 1, flow);
    }
    if (flow) put(w, map ? "}" : "]");
}

static void expect_same(const cst_yaml *a, const cst_yaml *b)
{
    expect_int(a->kind, b->kind);
    expect_int(a->quoted, b->quoted);
    expect_text(a->text, b->text);
    expect_int(a->n, b->n);
    for (int i = 0; i < a->n; i++) {
        if (a->key) {
            expect_text(a->key[i], b->key[i]);
            expect_true(cst_yaml_get(a, b->key[i]) == a->child[i]);
        }
        expect_same(a->child[i], b->child[i]);
    }
}

static void trees_are_read_back(void **state)
{
    (void)state;
    static char text[1 << 20];
    expect_random r = {11};
    for (int round = 0; round < 200; round++) {
        cst_arena a = {0};
        if (CST_ARENA_GUARD(&a)) fail();
        writer w = {{(uint64_t)round}, text, text + sizeof text};
        const cst_yaml *tree = grow_tree(&a, &r, 0);
        write_tree(&w, tree, 0, 0);
        put(&w, "\n");
        const cst_yaml *y = parse(&a, text);
        if (!y) print_error("%s\n%s", text, diag.text);
        expect_not_null(y);
        expect_same(y, tree);
        cst_arena_free(&a);
    }
}

static void aliases_and_merges_are_resolved(void **state)
{
    (void)state;
    cst_arena a = {0};
    if (CST_ARENA_GUARD(&a)) fail();
    cst_yaml *y = parse(&a, "base: &base {mass: 1, type: bar}\n"
                            "more: &more {mass: 5, unit: kg}\n"
                            "one: {mass: 2, <<: *base}\n"
                            "two: {<<: [*base, *more], type: rod}\n"
                            "same: *base\n"
                            "again: &base 7\n"
                            "new: *base\n"
                            "word: {'<<': 3}\n");
    expect_not_null(y);
    const cst_yaml *one = cst_yaml_get(y, "one"), *two = cst_yaml_get(y, "two");
    expect_int(one->n, 2);
    expect_text(cst_yaml_get(one, "mass")->text, "2");
    expect_text(cst_yaml_get(one, "type")->text, "bar");
    expect_place(cst_yaml_get(one, "type")->where, 1, 29);
    expect_int(two->n, 3);
    expect_text(cst_yaml_get(two, "mass")->text, "1");
    expect_text(cst_yaml_get(two, "type")->text, "rod");
    expect_text(cst_yaml_get(two, "unit")->text, "kg");
    expect_true(cst_yaml_get(y, "same") == cst_yaml_get(y, "base"));
    expect_text(cst_yaml_get(y, "new")->text, "7");
    expect_text(cst_yaml_get(cst_yaml_get(y, "word"), "<<")->text, "3");
    cst_arena_free(&a);
}

static void wrong_files_say_where(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
    } wrong[] = {{"", "m.yaml: error: the file is empty"},
                 {"# comment\n", "m.yaml: error: the file is empty"},
                 {"---\n...\n", "m.yaml: error: the file is empty"},
                 {"a: 1\n---\nb: 2\n", "m.yaml:2:1: error: a second document"},
                 {"a: 1\nb: 2\na: 3\n",
                  "m.yaml:3:1: error: duplicate key 'a': it is already at line 1, column 1"},
                 {"x: {b: 1, 'b': 2}\n",
                  "m.yaml:1:11: error: duplicate key 'b': it is already at line 1, column 5"},
                 {"a:\n\t- 1\n", "m.yaml:2:1: error: "},
                 {"a: [1, 2\n", "error: flow sequence without a closing bracket"},
                 {"a: \"x\n", "m.yaml:1:5: error: double-quoted scalar without closing quote"},
                 {"a: b: c\n", "m.yaml:1:5: error: "},
                 {"{a: f(1, 2)}\n", "m.yaml:1:5: error: unbalanced parentheses in 'f(1': quote "
                                    "expressions that contain commas inside { }\n"},
                 {"x: [1, max(a, b), 3]\n", "m.yaml:1:8: error: unbalanced parentheses in 'max(a'"},
                 {"x: {a: {b: g(1, 1), c: 1)}}\n",
                  "m.yaml:1:12: error: unbalanced parentheses in 'g(1'"},
                 {"a: *b\n", "m.yaml:1:4: error: alias '*b' names no anchor before it"},
                 {"a: &a [*a]\n", "alias '*a' names no anchor before it"},
                 {"a: {<<: 3}\n", "m.yaml:1:5: error: << takes a mapping"},
                 {"a: {<<: [{}, 3]}\n", "m.yaml:1:5: error: << takes mappings only"},
                 {"a: {<<: {}, <<: {}}\n", "m.yaml:1:13: error: a second '<<'"},
                 {"? [1]\n: 2\n", "m.yaml:1:3: error: a key must be a plain word"},
                 {"a: &x 1\n*x : 2\n", "m.yaml:2:1: error: a key must be a plain word"},
                 {"a: 1\n: 2\n", "error: a value without a key"},
                 {"a: !odd 1\n", "m.yaml:1:4: error: unknown tag '!odd'"},
                 {"a: 1\nb: \x01\n", "m.yaml:2:4: error: control character"},
                 {"a: 1\n\xC3\xA4: \xC3(\n", "m.yaml:2:4: error: not valid UTF-8"}};
    cst_arena a = {0};
    if (CST_ARENA_GUARD(&a)) fail();
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        expect_null(parse(&a, wrong[i].text));
        expect_contains(diag.text, wrong[i].message);
        expect_int(diag.errors, 1);
    }
    diag = (cst_diag){0};
    expect_null(cst_yaml_parse(&a, "m.yaml", "a: 1\nb: \0", 9, &diag));
    expect_contains(diag.text, "m.yaml:2:4: error: NUL byte");
    expect_null(cst_yaml_read(&a, CST_SOURCE_DIR, NULL, &diag));
    expect_contains(diag.text, "it is a directory");
    expect_null(cst_yaml_read(&a, "/nonexistent.yaml", NULL, &diag));
    expect_contains(diag.text, "/nonexistent.yaml: error: cannot read");
    expect_int(diag.errors, 3);
    cst_arena_free(&a);
}

/* One run reports all of them. */
static void errors_are_collected(void **state)
{
    (void)state;
    cst_arena a = {0};
    if (CST_ARENA_GUARD(&a)) fail();
    expect_null(parse(&a, "a: {b: f(1, 2)}\nc: *none\na: 2\nd: !x 3\ne: {g: h(1, 2)}\n"));
    expect_int(diag.errors, 5);
    for (int line = 1; line <= 5; line++) {
        char place[32];
        snprintf(place, sizeof place, "m.yaml:%d:", line);
        expect_contains(diag.text, place);
    }
    expect_not_null(parse(&a, "a: f(1, 2)\nb: \"f(1\"\nc: {d: 'f(1, 2)'}\n")); /* these are fine */
    cst_arena_free(&a);
}

/* 10^10 nodes in 10 lines; a self-made tower of aliases; a plain one of brackets. */
static void bombs_are_refused(void **state)
{
    (void)state;
    static char text[20000];
    writer w = {{0}, text, text + sizeof text};
    cst_arena a = {0};
    if (CST_ARENA_GUARD(&a)) fail();
    put(&w, "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
    for (int i = 1; i < 10; i++) {
        put(&w, cst_arena_printf(&a, "a%d: &a%d [", i, i));
        for (int k = 0; k < 10; k++) put(&w, cst_arena_printf(&a, "%s*a%d", k ? ", " : "", i - 1));
        put(&w, "]\n");
    }
    expect_null(parse(&a, text));
    expect_contains(diag.text, "nodes behind aliases");

    w.at = text;
    put(&w, "a0: &a0 [x]\n");
    for (int i = 1; i < 100; i++) put(&w, cst_arena_printf(&a, "a%d: &a%d [*a%d]\n", i, i, i - 1));
    expect_null(parse(&a, text));
    expect_contains(diag.text, "more than 64 levels of nesting behind alias '*a62'");

    memset(text, '[', 5000);
    text[5000] = 0;
    expect_null(parse(&a, text));
    expect_contains(diag.text, "levels of nesting");
    cst_arena_free(&a);
}

static double seconds_for(char *text, size_t n)
{
    cst_arena a = {0};
    if (CST_ARENA_GUARD(&a)) fail();
    diag = (cst_diag){0};
    clock_t start = clock();
    expect_not_null(cst_yaml_parse(&a, "m.yaml", text, n, &diag));
    double t = (double)(clock() - start) / CLOCKS_PER_SEC;
    cst_arena_free(&a);
    return t;
}

/* Ten times the keys take about ten times the time; a search through all keys would take a hundred
 * times. */
static void time_is_linear(void **state)
{
    (void)state;
    enum { N = 100000 };
    char *text = malloc(40 * N);
    expect_not_null(text);
    double t[2];
    for (int round = 0; round < 2; round++) {
        size_t n = 0;
        for (int i = 0; i < (round ? N : N / 10); i++)
            n += (size_t)sprintf(text + n, "k%d: {a: 1, b: [2]}\n", i);
        t[round] = seconds_for(text, n);
    }
    expect_true(t[1] < 40 * t[0] + 0.5);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nodes_have_kinds_and_places),
        cmocka_unit_test(trees_are_read_back),
        cmocka_unit_test(aliases_and_merges_are_resolved),
        cmocka_unit_test(wrong_files_say_where),
        cmocka_unit_test(errors_are_collected),
        cmocka_unit_test(bombs_are_refused),
        cmocka_unit_test(time_is_linear),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
