/* SPDX-License-Identifier: MIT
 *
 * libfyaml's events become a tree. Its parser, the event at hand and its messages live in one
 * `source`, released by the arena, so that a jump to the guard in the middle of the file leaves
 * nothing behind.
 *
 * Aliases share the node they refer to, so a walk over the tree may visit many more nodes than the
 * file has: the number of nodes behind aliases and the depth are limited, which stops "billion
 * laughs". */
#include "model/yaml.h"

#include "base/file.h"

#include <libfyaml.h>
#include <string.h>

enum { MAX_DEPTH = 64, MAX_ALIASED = 1000000, SMALL = 16, QUOTE_MAX = 60 };
#define MAX_BYTES ((size_t)256 << 20)

typedef struct source {
    struct fy_diag *diag;
    struct fy_parser *parser;
    struct fy_event *event;
} source;

typedef struct entry { /* of a collection that is not complete yet */
    const char *key;
    cst_where key_where;
    cst_yaml *value;
} entry;

typedef struct anchor {
    cst_yaml *node;
    long size; /* nodes in it, those behind aliases included */
    int height;
} anchor;

typedef struct builder {
    cst_arena *a, *scratch;
    cst_diag *d;
    const char *file;
    const char *text; /* of the file, n characters */
    size_t n;
    source *in;
    cst_where last; /* place of the last event that had one */
    int errors;
    int stop;             /* nothing more can be read */
    int flow;             /* depth of { } and [ ] */
    int unbalanced;       /* parentheses were reported in the present { } */
    int deepest;          /* depth reached below the present node */
    long size, aliased;   /* nodes so far, and those of them that stand behind aliases */
    CST_LIST(entry) open; /* children of all open collections, one after the other */
    CST_LIST(anchor) anchors;
    cst_map anchor_index;
} builder;

static cst_yaml *read_node(builder *b, int depth);

/* ---- libfyaml ---- */

static void source_release(void *object)
{
    source *in = object;
    if (in->event) fy_parser_event_free(in->parser, in->event);
    if (in->parser) fy_parser_destroy(in->parser);
    if (in->diag) fy_diag_destroy(in->diag);
    *in = (source){0};
}

static void discard(struct fy_diag *diag, void *user, const char *text, size_t n)
{
    (void)diag, (void)user, (void)text, (void)n;
}

/* The parser collects its messages: nothing is printed. 0: out of memory */
static int source_open(source *in, const char *text, size_t n)
{
    struct fy_diag_cfg to = {0};
    fy_diag_cfg_default(&to);
    to.fp = NULL;
    to.output_fn = discard;
    to.colorize = false;
    in->diag = fy_diag_create(&to);
    if (!in->diag) return 0;
    fy_diag_set_collect_errors(in->diag, true);
    struct fy_parse_cfg how = {.flags = FYPCF_QUIET | FYPCF_COLLECT_DIAG | FYPCF_JSON_NONE,
                               .diag = in->diag};
    in->parser = fy_parser_create(&how);
    return in->parser && fy_parser_set_string(in->parser, text, n) == 0;
}

static cst_where place(const builder *b, const struct fy_mark *m)
{
    cst_where w = {.file = b->file};
    if (m) w.line = m->line + 1, w.col = m->column + 1;
    return w;
}

/* Where the event begins. Marks of quoted scalars and aliases stand behind the quote or the '*'; an
 * empty node has no mark and gets the place of what stands before it. */
static cst_where event_place(builder *b)
{
    struct fy_event *e = b->in->event;
    const struct fy_mark *m = fy_event_start_mark(e);
    if (!m) return b->last;
    enum fy_node_style style = fy_event_get_node_style(e);
    b->last = place(b, m);
    if (style == FYNS_SINGLE_QUOTED || style == FYNS_DOUBLE_QUOTED || style == FYNS_ALIAS)
        b->last.col--;
    return b->last;
}

#define report(b, w, ...) ((b)->errors++, (void)cst_error((b)->d, CST_MODEL, w, __VA_ARGS__))

/* In { } and [ ] a plain scalar ends at a bracket: of `A + [0, 0, 1]` the parser misses a comma
 * before the bracket at w. The text of the whole value, n characters; NULL: it is something else.
 */
static const char *unquoted(const builder *b, cst_where w, int *n)
{
    const char *line = b->text, *end = b->text + b->n;
    for (int k = 1; k < w.line && line; k++) {
        const char *stop = memchr(line, '\n', (size_t)(end - line));
        line = stop ? stop + 1 : NULL;
    }
    if (!line || w.col < 2 || w.col > end - line) return NULL;
    const char *bracket = line + w.col - 1, *from = bracket, *to = bracket;
    if (*bracket != '[' && *bracket != '{') return NULL;
    while (from > line && !strchr(",:{[", from[-1])) from--;
    while (from < bracket && *from == ' ') from++;
    for (int open = 0; to < end && *to != '\n'; to++) {
        open += (*to == '[' || *to == '{') - (*to == ']' || *to == '}');
        if (open < 0 || (open == 0 && *to == ',')) break;
    }
    while (to > bracket && to[-1] == ' ') to--;
    *n = (int)(to - from);
    return from < bracket && *n < QUOTE_MAX ? from : NULL;
}

static void report_syntax(builder *b)
{
    void *at = NULL;
    struct fy_diag_error *e = fy_diag_errors_iterate(b->in->diag, &at);
    cst_where w = {.file = b->file};
    if (e && e->line > 0) w.line = e->line, w.col = e->column;
    int n;
    const char *text = e && e->msg && strstr(e->msg, "missing comma") ? unquoted(b, w, &n) : NULL;
    if (text)
        report(b, w, "inside { } and [ ] a text with brackets must be quoted: \"%.*s\"", n, text);
    else
        report(b, w, "%s", e && e->msg ? e->msg : "the file cannot be parsed");
}

/* The next event; FYET_NONE at the end and after a syntax error, which is reported. */
static enum fy_event_type next(builder *b)
{
    source *in = b->in;
    if (b->stop) return FYET_NONE;
    if (in->event) fy_parser_event_free(in->parser, in->event);
    in->event = fy_parser_parse(in->parser);
    if (in->event) return in->event->type;
    b->stop = 1;
    report_syntax(b);
    return FYET_NONE;
}

static const char *token_text(builder *b, struct fy_token *t)
{
    size_t n = 0;
    const char *text = t ? fy_token_get_text(t, &n) : NULL;
    return text && n ? cst_arena_strndup(b->a, text, n) : "";
}

/* ---- nodes ---- */

static cst_yaml *node_new(builder *b, cst_yaml_kind kind)
{
    cst_yaml *y = cst_new(b->a, cst_yaml, 1);
    y->kind = kind;
    y->text = "";
    y->where = event_place(b);
    b->size++;
    return y;
}

static int balanced(const char *s)
{
    int open = 0;
    for (; *s && open >= 0; s++) open += (*s == '(') - (*s == ')');
    return open == 0;
}

/* In { } and [ ] a comma ends a plain scalar: f(1, 2) arrives as "f(1" and "2)". */
static void check_parentheses(builder *b, const char *text, cst_where w)
{
    if (!b->flow || b->unbalanced || balanced(text)) return;
    b->unbalanced = 1;
    report(b, w,
           "unbalanced parentheses in '%.*s': quote expressions that contain commas inside { }",
           QUOTE_MAX, text);
}

static int is_null(const char *s)
{
    return !*s || !strcmp(s, "~") || !strcmp(s, "null") || !strcmp(s, "Null") || !strcmp(s, "NULL");
}

/* 1 if the event has the tag !!str or !; other tags have no meaning in a model. */
static int tagged_text(builder *b)
{
    static const char *const known[] = {"str", "seq", "map", "float", "int"};
    static const char core[] = "tag:yaml.org,2002:";
    struct fy_token *t = fy_event_get_tag_token(b->in->event);
    if (!t) return 0;
    const char *tag = token_text(b, t);
    if (!strcmp(tag, "!")) return 1;
    for (int i = 0; i < 5 && !strncmp(tag, core, sizeof core - 1); i++)
        if (!strcmp(tag + sizeof core - 1, known[i])) return i == 0;
    report(b, place(b, fy_token_start_mark(t)), "unknown tag '%.*s'", QUOTE_MAX, tag);
    return 0;
}

static cst_yaml *read_scalar(builder *b)
{
    struct fy_token *value = b->in->event->scalar.value;
    cst_yaml *y = node_new(b, CST_YAML_SCALAR);
    enum fy_scalar_style style = value ? fy_token_scalar_style(value) : FYSS_PLAIN;
    y->quoted = (style != FYSS_PLAIN && style != FYSS_ANY) || tagged_text(b);
    y->text = token_text(b, value);
    if (y->quoted) return y;
    check_parentheses(b, y->text, y->where);
    if (is_null(y->text)) {
        y->kind = CST_YAML_NULL;
        y->text = "";
    }
    return y;
}

static cst_yaml *read_alias(builder *b, int depth)
{
    const char *name = token_text(b, b->in->event->alias.anchor);
    int k = cst_map_get(&b->anchor_index, name);
    if (k < 0) {
        report(b, event_place(b), "alias '*%s' names no anchor before it", name);
        return node_new(b, CST_YAML_NULL);
    }
    const anchor *to = &b->anchors.at[k];
    b->size += to->size;
    b->aliased += to->size;
    if (depth + to->height > b->deepest) b->deepest = depth + to->height;
    int deep = depth + to->height > MAX_DEPTH, large = b->aliased > MAX_ALIASED;
    if (deep)
        report(b, event_place(b), "more than %d levels of nesting behind alias '*%s'", MAX_DEPTH,
               name);
    if (large) report(b, event_place(b), "more than %d nodes behind aliases", MAX_ALIASED);
    if (deep || large) b->stop = 1;
    return to->node;
}

/* ---- collections ---- */

/* The entries from `first` on become the children of y. */
static void take_entries(builder *b, cst_yaml *y, int first)
{
    y->n = b->open.n - first;
    const entry *e = y->n ? &b->open.at[first] : NULL;
    y->child = cst_new(b->a, cst_yaml *, y->n);
    for (int i = 0; i < y->n; i++) y->child[i] = e[i].value;
    if (y->kind == CST_YAML_MAPPING) {
        y->key = cst_new(b->a, const char *, y->n);
        y->key_where = cst_new(b->a, cst_where, y->n);
        for (int i = 0; i < y->n; i++) y->key[i] = e[i].key, y->key_where[i] = e[i].key_where;
    }
    b->open.n = first;
}

static cst_yaml *read_sequence(builder *b, int depth)
{
    cst_yaml *y = node_new(b, CST_YAML_SEQUENCE);
    int first = b->open.n;
    while (!b->stop && next(b) != FYET_SEQUENCE_END && !b->stop) {
        cst_yaml *item = read_node(b, depth + 1);
        cst_push(b->scratch, &b->open)->value = item;
    }
    take_entries(b, y, first);
    return y;
}

/* A mapping under construction: its entries from `first` on, with an index when they are many. */
typedef struct keys {
    int first;
    cst_map *index;
} keys;

static int key_find(const builder *b, const keys *k, const char *key)
{
    if (k->index) return cst_map_get(k->index, key);
    for (int i = 0; i < b->open.n - k->first; i++)
        if (!strcmp(b->open.at[k->first + i].key, key)) return i;
    return -1;
}

static void key_add(builder *b, keys *k, const char *key, cst_where w, cst_yaml *value)
{
    int n = b->open.n - k->first;
    *cst_push(b->scratch, &b->open) = (entry){.key = key, .key_where = w, .value = value};
    if (n + 1 == SMALL) {
        k->index = cst_new(b->a, cst_map, 1);
        for (int i = 0; i < n; i++) cst_map_put(b->a, k->index, b->open.at[k->first + i].key, i);
    }
    if (k->index) cst_map_put(b->a, k->index, key, n);
}

/* Entries of `from` that y does not have: what y says itself, or took from an earlier one, has
 * priority. */
static void merge(builder *b, keys *k, const cst_yaml *from, cst_where w)
{
    if (from->kind == CST_YAML_SEQUENCE) {
        for (int i = 0; i < from->n; i++) {
            if (from->child[i]->kind != CST_YAML_MAPPING)
                report(b, w, "<< takes mappings only");
            else
                merge(b, k, from->child[i], w);
        }
        return;
    }
    if (from->kind != CST_YAML_MAPPING) {
        report(b, w, "<< takes a mapping, or a sequence of mappings");
        return;
    }
    for (int i = 0; i < from->n; i++)
        if (key_find(b, k, from->key[i]) < 0)
            key_add(b, k, from->key[i], from->key_where[i], from->child[i]);
}

/* The key at hand; NULL if it is not a word, which is reported and ends the reading. */
static const char *read_key(builder *b, int *is_merge)
{
    struct fy_event *e = b->in->event;
    cst_where w = event_place(b);
    if (e->type != FYET_SCALAR) {
        report(b, w, "a key must be a plain word, not a list, a mapping or an alias");
        b->stop = 1;
        return NULL;
    }
    const char *key = token_text(b, e->scalar.value);
    int plain = !e->scalar.value || fy_token_scalar_style(e->scalar.value) == FYSS_PLAIN;
    if (plain) check_parentheses(b, key, w);
    *is_merge = plain && !strcmp(key, "<<");
    if (!*key) report(b, w, "a value without a key");
    return key;
}

static cst_yaml *read_mapping(builder *b, int depth)
{
    cst_yaml *y = node_new(b, CST_YAML_MAPPING);
    keys k = {.first = b->open.n};
    cst_yaml *merged = NULL;
    cst_where merged_where = {0};
    while (!b->stop && next(b) != FYET_MAPPING_END && !b->stop) {
        int is_merge;
        cst_where w = event_place(b);
        const char *key = read_key(b, &is_merge);
        if (!key || next(b) == FYET_NONE) break;
        cst_yaml *value = read_node(b, depth + 1);
        int same = is_merge ? -1 : key_find(b, &k, key);
        if (is_merge && merged) {
            report(b, w, "a second '<<' (the first is at line %d): give it a sequence",
                   merged_where.line);
        } else if (is_merge) {
            merged = value, merged_where = w;
        } else if (same < 0) {
            key_add(b, &k, key, w, value);
        } else if (!b->unbalanced && *key) {
            cst_where old = b->open.at[k.first + same].key_where;
            report(b, w, "duplicate key '%.*s': it is already at line %d, column %d", QUOTE_MAX,
                   key, old.line, old.col);
        }
    }
    if (merged && !b->stop) merge(b, &k, merged, merged_where);
    take_entries(b, y, k.first);
    y->index = k.index;
    return y;
}

static cst_yaml *read_collection(builder *b, int depth)
{
    if (depth >= MAX_DEPTH) {
        report(b, event_place(b), "more than %d levels of nesting", MAX_DEPTH);
        b->stop = 1;
        return node_new(b, CST_YAML_NULL);
    }
    int flow = fy_event_get_node_style(b->in->event) == FYNS_FLOW;
    if (flow && b->flow++ == 0) b->unbalanced = 0;
    tagged_text(b);
    int mapping = b->in->event->type == FYET_MAPPING_START;
    cst_yaml *y = mapping ? read_mapping(b, depth) : read_sequence(b, depth);
    if (flow && --b->flow == 0) b->unbalanced = 0;
    return y;
}

/* The node that begins with the event at hand. An anchor is known when its node is complete: none
 * contains itself. */
static cst_yaml *read_node(builder *b, int depth)
{
    if (b->stop) return NULL;
    if (b->in->event->type == FYET_ALIAS) return read_alias(b, depth);
    struct fy_token *t = fy_event_get_anchor_token(b->in->event);
    const char *name = t ? token_text(b, t) : NULL;
    int deepest = b->deepest;
    long size = b->size;
    b->deepest = depth;
    cst_yaml *y = b->in->event->type == FYET_SCALAR ? read_scalar(b) : read_collection(b, depth);
    if (name) {
        cst_map_put(b->scratch, &b->anchor_index, name, b->anchors.n);
        *cst_push(b->scratch, &b->anchors) =
            (anchor){.node = y, .size = b->size - size, .height = b->deepest - depth};
    }
    if (deepest > b->deepest) b->deepest = deepest;
    return y;
}

/* ---- files ---- */

/* stream start, one document, stream end */
static cst_yaml *read_stream(builder *b)
{
    cst_yaml *root = NULL;
    if (next(b) == FYET_STREAM_START && next(b) == FYET_DOCUMENT_START && next(b) != FYET_NONE)
        root = read_node(b, 0);
    if (b->stop) return NULL;
    if (!root || root->kind == CST_YAML_NULL) {
        report(b, ((cst_where){.file = b->file}), "the file is empty");
        return NULL;
    }
    if (next(b) == FYET_DOCUMENT_END && next(b) == FYET_DOCUMENT_START)
        report(b, event_place(b), "a second document begins here; a file must contain one");
    return root;
}

cst_yaml *cst_yaml_parse(cst_arena *a, const char *file_name, const char *text, size_t n,
                         cst_diag *d)
{
    builder b = {.a = a, .d = d, .file = cst_arena_strdup(a, file_name), .text = text, .n = n};
    b.last = (cst_where){.file = b.file, .line = 1, .col = 1};
    cst_where w = {.file = b.file};
    const char *wrong = n > MAX_BYTES ? "is larger than 256 MiB" : cst_text_check(text, n, &w);
    if (!n) wrong = "the file is empty";
    if (wrong) {
        cst_error(d, CST_MODEL, w, "%s", wrong);
        return NULL;
    }
    b.in = cst_new(a, source, 1);
    cst_arena_defer(a, source_release, b.in);
    b.scratch = cst_arena_child(a);
    cst_yaml *root = NULL;
    if (source_open(b.in, text, n))
        root = read_stream(&b);
    else
        b.errors++, cst_error(d, CST_MEMORY, w, "%s", cst_status_text(CST_MEMORY));
    source_release(b.in);
    cst_arena_free(b.scratch);
    return b.errors ? NULL : root;
}

cst_yaml *cst_yaml_read(cst_arena *a, const char *path, const char *root, cst_diag *d)
{
    size_t n;
    cst_arena *scratch = cst_arena_child(a);
    const char *text = cst_file_read(scratch, path, root, MAX_BYTES, &n, d);
    cst_yaml *doc = text ? cst_yaml_parse(a, path, text, n, d) : NULL;
    cst_arena_free(scratch);
    return doc;
}

cst_yaml *cst_yaml_get(const cst_yaml *map, const char *key)
{
    if (!map || map->kind != CST_YAML_MAPPING) return NULL;
    if (map->index) {
        int i = cst_map_get(map->index, key);
        return i < 0 ? NULL : map->child[i];
    }
    for (int i = 0; i < map->n; i++)
        if (!strcmp(map->key[i], key)) return map->child[i];
    return NULL;
}
