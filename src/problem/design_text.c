/* SPDX-License-Identifier: MIT
 *
 * Expressions of the design section. Objectives are channels CST_CH_RESULT, numbers of the file
 * CST_CH_ARG: the problem gives their values and collects their derivatives. */
#include <math.h>
#include <string.h>

#include "number/parse.h"
#include "problem/design.h"

typedef struct reader {
    cst_names *names;
    cst_graph *g;
    cst_diag *d;
} reader;

/* A number of the file, as a channel or at its value */
static cst_id number(void *ctx, int leaf)
{
    const reader *r = ctx;
    return r->names->constant ? cst_num_const(r->g, cst_model_number_value(r->names->m, leaf))
                              : cst_num_channel(r->g, CST_CH_ARG, leaf, 0);
}

/* A parameter that is an expression of numbers */
static int formula(reader *r, const char *name, cst_where w, cst_value *v)
{
    const cst_model *m = r->names->m;
    for (int i = 0; i < m->formula.n; i++) {
        if (strcmp(m->formula.at[i].name, name) != 0) continue;
        v->at[0] = cst_num_import(r->g, m->graph, m->formula.at[i].id, number, r);
        if (v->at[0] != CST_NONE) return 1;
        v->n = 0;
        cst_error(r->d, CST_MODEL, w,
                  "'%s' reads a table or the drawing: give it a name under objectives and use the "
                  "name here",
                  name);
        return 1;
    }
    return 0;
}

static int find_name(void *ctx, const char *name, cst_where w, cst_value *v)
{
    reader *r = ctx;
    const cst_model *m = r->names->m;
    v->n = 1;
    for (int i = 0; i < m->objective.n && !r->names->constant; i++)
        if (strcmp(m->objective.at[i].name, name) == 0) {
            v->at[0] = cst_num_channel(r->g, CST_CH_RESULT, i, 0);
            return 1;
        }
    const int leaf = cst_model_number_find(m, name);
    if (leaf < 0) return formula(r, name, w, v);
    v->at[0] = number(r, leaf);
    return 1;
}

static int refuse_call(void *ctx, const char *name, int narg, const cst_value *arg, cst_where w,
                       cst_value *v)
{
    static const char *const known[] = {"integral", "peak", "end", "start", "at",
                                        "mean",     "rms",  "ks",  NULL};
    const reader *r = ctx;
    (void)narg, (void)arg;
    for (int i = 0; known[i]; i++)
        if (strcmp(known[i], name) == 0) {
            v->n = 0;
            cst_error(r->d, CST_MODEL, w,
                      "%s() belongs under objectives: give it a name there and use the name here",
                      name);
            return 1;
        }
    return 0;
}

static void offer_names(void *ctx, void (*offer)(void *to, const char *name), void *to)
{
    const reader *r = ctx;
    const cst_model *m = r->names->m;
    for (int i = 0; i < m->objective.n; i++) offer(to, m->objective.at[i].name);
    for (int i = 0; i < m->leaf.n; i++) offer(to, m->leaf.at[i].name);
    for (int i = 0; i < m->formula.n; i++) offer(to, m->formula.at[i].name);
}

cst_id cst_design_parse(cst_graph *g, const cst_text *text, cst_names *names, cst_diag *d)
{
    reader r = {names, g, d};
    const cst_scope scope = {.lookup = find_name,
                             .call = refuse_call,
                             .names = offer_names,
                             .ctx = &r};
    cst_value v = cst_parse(g, text->text, text->where, 1, &scope, d);
    return v.n == 1 ? v.at[0] : CST_NONE;
}

int cst_design_number(cst_arena *a, const cst_model *m, const cst_yaml *node, const char *what,
                      double *to, cst_diag *d)
{
    if (!node) return 1;
    if (node->kind != CST_YAML_SCALAR || !node->text[0]) {
        cst_error(d, CST_MODEL, node->where, "%s must be a number", what);
        return 0;
    }
    if (strcmp(node->text, "inf") == 0 || strcmp(node->text, "-inf") == 0) {
        *to = node->text[0] == '-' ? -INFINITY : INFINITY;
        return 1;
    }
    cst_names names = {m, 1};
    cst_arena *scratch = cst_arena_child(a);
    cst_graph *g = cst_graph_new(scratch);
    cst_where w = node->where;
    w.col += node->quoted;
    cst_id id = cst_design_parse(g, &(cst_text){node->text, w}, &names, d);
    int ok = id != CST_NONE && cst_num_is_const(g, id, to);
    cst_arena_free(scratch);
    return ok;
}

/* ---- limits ---- */

/* The next comparison at the outer level from `from` on: its place; *n its length. NULL: none */
static const char *comparison(const char *from, int *n)
{
    int depth = 0;
    for (const char *c = from; *c; c++) {
        depth += (*c == '(' || *c == '[') - (*c == ')' || *c == ']');
        if (depth || !strchr("<>=", *c)) continue;
        *n = c[1] == '=' ? 2 : 1;
        return c;
    }
    return NULL;
}

static cst_text part_of(cst_arena *a, const char *whole, const char *from, const char *to,
                        cst_where w)
{
    while (from < to && *from == ' ') from++;
    while (to > from && to[-1] == ' ') to--;
    w.col += (int)(from - whole);
    return (cst_text){cst_arena_strndup(a, from, (size_t)(to - from)), w};
}

int cst_design_limit(cst_arena *a, const cst_yaml *node, cst_limit *to, cst_diag *d)
{
    static const char expected[] =
        "a constraint is 'x <= limit', 'x >= limit', 'x == value' or 'lower <= x <= upper'";
    const char *t = node->text, *first, *second = NULL;
    cst_where w = node->where;
    int n1 = 0, n2 = 0;
    w.col += node->quoted;
    first = node->kind == CST_YAML_SCALAR ? comparison(t, &n1) : NULL;
    if (first) second = comparison(first + n1, &n2);
    int both = second && *first == *second && *first != '=';
    if (!first || (second && !both) || (both && comparison(second + n2, &n2))) {
        cst_error(d, CST_MODEL, w, "%s", expected);
        return 0;
    }
    *to = (cst_limit){.name = t, .equal = *first == '='};
    const char *end = t + strlen(t);
    cst_text left = part_of(a, t, t, first, w),
             middle = part_of(a, t, first + n1, second ? second : end, w);
    if (second) {
        cst_text right = part_of(a, t, second + n2, end, w);
        to->expression = middle;
        to->lower = *first == '<' ? left : right;
        to->upper = *first == '<' ? right : left;
    } else {
        to->expression = left;
        *(*first == '>' ? &to->lower : &to->upper) = middle;
    }
    if (to->expression.text[0] && middle.text[0] && left.text[0] && (!second || to->upper.text[0]))
        return 1;
    cst_error(d, CST_MODEL, w, "%s", expected);
    return 0;
}

int cst_design_keys(const cst_yaml *map, const char *owner, const char *const *words, cst_diag *d)
{
    int ok = 1;
    for (int i = 0; i < map->n; i++) {
        cst_nearest near = cst_nearest_begin(map->key[i]);
        int known = 0;
        for (int k = 0; words[k]; k++) {
            known |= strcmp(words[k], map->key[i]) == 0;
            cst_nearest_try(&near, words[k]);
        }
        const char *best = cst_nearest_best(&near);
        if (!known)
            cst_error(d, CST_MODEL, map->key_where[i],
                      best ? "unknown key '%s' of %s; did you mean '%s'?"
                           : "unknown key '%s' of %s",
                      map->key[i], owner, best);
        ok &= known;
    }
    return ok;
}
