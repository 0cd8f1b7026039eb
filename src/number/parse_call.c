/* SPDX-License-Identifier: MIT
 *
 * Functions in expressions: those of ops.def, those on vectors, those of the scope. */
#include "number/op.h"
#include "number/parse_private.h"

#include <stdio.h>
#include <string.h>

static const struct vector_function {
    const char *name;
    int narg;
    const char *doc;
} vector_functions[] = {
    {"norm", 1, "norm(v): length of a vector"},
    {"dot", 2, "dot(a, b): scalar product"},
    {"cross", 2, "cross(a, b): vector product"},
};
enum { NVECTOR = sizeof vector_functions / sizeof *vector_functions };

/* and, or, not are words of the grammar, operators have no letters */
static const cst_op *function_op(const char *name)
{
    if (cst_lex_name(name) == name || !strcmp(name, "and") || !strcmp(name, "or") ||
        !strcmp(name, "not"))
        return NULL;
    return cst_op_find(name, 0);
}

static const struct vector_function *function_vector(const char *name)
{
    for (int i = 0; i < NVECTOR; i++)
        if (strcmp(vector_functions[i].name, name) == 0) return &vector_functions[i];
    return NULL;
}

int cst_parse_is_function(const char *name) { return function_op(name) || function_vector(name); }

/* The offered name may live only as long as the offer. */
typedef struct search {
    cst_nearest nearest;
    char best[64];
} search;

static void offer(void *to, const char *name)
{
    search *s = to;
    const char *before = s->nearest.best;
    cst_nearest_try(&s->nearest, name);
    if (s->nearest.best != before) {
        snprintf(s->best, sizeof s->best, "%s", name);
        s->nearest.best = s->best;
    }
}

void cst_parse_unknown(parser *p, const char *what, const char *name, const char *at)
{
    if (strcmp(what, "function") == 0 && cst_parse_is_function(name)) {
        cst_lex_fail(p, at, "'%s' is a function: write %s(...)", name, name);
        return;
    }
    search s = {.nearest = cst_nearest_begin(name)};
    for (int i = 0; cst_op_at(i); i++)
        if (function_op(cst_op_at(i)->name)) offer(&s, cst_op_at(i)->name);
    for (int i = 0; i < NVECTOR; i++) offer(&s, vector_functions[i].name);
    offer(&s, "pi");
    if (p->scope && p->scope->names) p->scope->names(p->scope->ctx, offer, &s);
    const char *best = cst_nearest_best(&s.nearest);
    if (best)
        cst_lex_fail(p, at, "unknown %s '%s'; did you mean '%s'?", what, name, best);
    else
        cst_lex_fail(p, at, "unknown %s '%s'", what, name);
}

static cst_value wrong_count(parser *p, const char *at, const char *name, int want, int n,
                             const char *doc)
{
    return cst_lex_fail(p, at, "%s takes %d argument%s, not %d: %s", name, want,
                        want == 1 ? "" : "s", n, doc);
}

static cst_value call_op(parser *p, const cst_op *op, const char *at, int n, const cst_value *arg,
                         const char *const *arg_at)
{
    int fold = op->id == CST_OP_min || op->id == CST_OP_max; /* of any number of arguments */
    if (fold ? n < 2 : n != op->arity) return wrong_count(p, at, op->name, op->arity, n, op->doc);
    for (int i = 0; i < n; i++)
        if (arg[i].n != 1)
            return cst_lex_fail(p, arg_at[i],
                                "a vector where a number is expected: pick .x, .y or .z");
    cst_id a[3] = {arg[0].at[0], n > 1 ? arg[1].at[0] : CST_NONE, n > 2 ? arg[2].at[0] : CST_NONE};
    cst_id y = cst_num_op(p->g, op, a);
    for (int i = 2; fold && i < n; i++) y = cst_num_apply(p->g, op->id, y, arg[i].at[0], CST_NONE);
    return (cst_value){1, {y, CST_NONE, CST_NONE}};
}

static cst_value call_vector(parser *p, const struct vector_function *f, const char *at, int n,
                             const cst_value *arg, const char *const *arg_at)
{
    if (n != f->narg) return wrong_count(p, at, f->name, f->narg, n, f->doc);
    for (int i = 0; i < n; i++)
        if (arg[i].n != 3)
            return cst_lex_fail(p, arg_at[i], "a number where %s expects a vector", f->name);
    cst_value v = {1, {CST_NONE, CST_NONE, CST_NONE}};
    if (f == &vector_functions[2]) {
        v.n = 3;
        cst_num_cross3(p->g, arg[0].at, arg[1].at, v.at);
    } else if (f == &vector_functions[1]) {
        v.at[0] = cst_num_dot3(p->g, arg[0].at, arg[1].at);
    } else {
        v.at[0] = cst_num_sqrt(p->g, cst_num_dot3(p->g, arg[0].at, arg[0].at));
    }
    return v;
}

cst_value cst_parse_call(parser *p, const char *name, const char *at, int narg,
                         const cst_value *arg, const char *const *arg_at)
{
    const cst_op *op = function_op(name);
    if (op) return call_op(p, op, at, narg, arg, arg_at);
    const struct vector_function *f = function_vector(name);
    if (f) return call_vector(p, f, at, narg, arg, arg_at);
    cst_value v = parse_failed;
    if (p->scope && p->scope->call &&
        p->scope->call(p->scope->ctx, name, narg, arg, cst_lex_where(p, at), &v)) {
        p->failed |= v.n == 0; /* reported by the scope */
        return v;
    }
    cst_value named;
    if (p->scope && p->scope->lookup &&
        p->scope->lookup(p->scope->ctx, name, cst_lex_where(p, at), &named))
        return cst_lex_fail(p, at, "'%s' is not a function: write * for a product", name);
    cst_parse_unknown(p, "function", name, at);
    return parse_failed;
}
