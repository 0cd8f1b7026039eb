/* SPDX-License-Identifier: MIT
 *
 * Recursive descent over the grammar of parse.h. */
#include "number/op.h"
#include "number/parse_private.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum level { LEVEL_OR, LEVEL_AND, LEVEL_NOT, LEVEL_COMPARE, LEVEL_SUM, LEVEL_TERM, LEVEL_UNARY };

/* clang-format off */
static const struct binary { const char *sign; enum level level; int op; } binaries[] = {
    {"or", LEVEL_OR, CST_OP_or},      {"and", LEVEL_AND, CST_OP_and},
    {"<", LEVEL_COMPARE, CST_OP_lt},  {"<=", LEVEL_COMPARE, CST_OP_le},
    {">", LEVEL_COMPARE, CST_OP_gt},  {">=", LEVEL_COMPARE, CST_OP_ge},
    {"==", LEVEL_COMPARE, CST_OP_eq}, {"!=", LEVEL_COMPARE, CST_OP_ne},
    {"+", LEVEL_SUM, CST_OP_add},     {"-", LEVEL_SUM, CST_OP_sub},
    {"*", LEVEL_TERM, CST_OP_mul},    {"/", LEVEL_TERM, CST_OP_div},
};
/* clang-format on */

static cst_value expression(parser *p, enum level level);

static cst_value scalar(cst_id id) { return (cst_value){1, {id, CST_NONE, CST_NONE}}; }

static int enter(parser *p)
{
    if (++p->depth > PARSE_DEPTH)
        cst_lex_fail(p, p->at, "the expression is nested deeper than %d levels", PARSE_DEPTH);
    return !p->failed;
}

/* ---- primaries ---- */

/* The message for a word behind a number that is no unit. */
static cst_value not_a_unit(parser *p, const char *word)
{
    const char *end = cst_lex_name(word);
    char name[64];
    snprintf(name, sizeof name, "%.*s", (int)(end - word), word);
    int digits = (int)(p->next - p->at);
    cst_value v;
    if (p->scope && p->scope->lookup &&
        p->scope->lookup(p->scope->ctx, name, cst_lex_where(p, word), &v))
        return cst_lex_fail(p, word, "an operator is missing: write %.*s*%s for the product",
                            digits, p->at, name);
    cst_nearest n = cst_nearest_begin(name);
    cst_unit_offer(&n);
    const char *best = cst_nearest_best(&n);
    return best ? cst_lex_fail(p, word, "unknown unit '%s'; did you mean '%s'?", name, best)
                : cst_lex_fail(p, word, "unknown unit '%s'", name);
}

static int keyword(const char *s)
{
    size_t len = (size_t)(cst_lex_name(s) - s);
    return (len == 2 && strncmp(s, "or", 2) == 0) || (len == 3 && strncmp(s, "and", 3) == 0);
}

/* A unit wins over a name; where both are meant to exist the reader is told. */
static void warn_of_name(parser *p, const char *word, const char *end)
{
    char name[64];
    cst_value v;
    if (cst_lex_name(word) != end || !p->scope || !p->scope->lookup) return;
    snprintf(name, sizeof name, "%.*s", (int)(end - word), word);
    if (p->scope->lookup(p->scope->ctx, name, cst_lex_where(p, word), &v))
        cst_warn(p->diag, cst_lex_where(p, word),
                 "'%s' is read as the unit; write %.*s*%s for the product", name,
                 (int)(p->next - p->at), p->at, name);
}

static cst_value number(parser *p, int exponent)
{
    double value = p->number, factor = 1;
    const char *at = p->at, *word = cst_lex_blanks(p->next);
    int structure = exponent && value == floor(value), unit = 0; /* unit: its length */
    if (cst_lex_name(word) != word && !keyword(word)) {
        const char *end = cst_unit_match(word, &factor);
        if (!end) return not_a_unit(p, word);
        warn_of_name(p, word, end);
        if (p->failed) return parse_failed;
        p->next = end;
        structure = 0, unit = (int)(end - word);
        const char *after = cst_lex_blanks(end);
        if (*after == '^')
            return cst_lex_fail(p, after, "a power of a number with a unit: write (%.*s)^...",
                                (int)(end - at), at);
    }
    cst_lex_advance(p);
    if (p->failed) return parse_failed;
    value *= factor;
    cst_id id = CST_NONE;
    if (!(structure && !cst_lex_sign(p, "^")) && p->scope && p->scope->literal)
        id = p->scope->literal(p->scope->ctx, value, ++p->literals, cst_lex_where(p, at));
    if (unit && p->scope && p->scope->unit) p->scope->unit(p->scope->ctx, id, word, unit);
    return scalar(id == CST_NONE ? cst_num_const(p->g, value) : id);
}

static int component(const char *name)
{
    return name[0] >= 'x' && name[0] <= 'z' && !name[1] ? name[0] - 'x' : -1;
}

static cst_value pick(parser *p, cst_value v, const char *name, const char *at)
{
    if (v.n == 3 && component(name) >= 0) return scalar(v.at[component(name)]);
    if (v.n == 1) return cst_lex_fail(p, at, "'.%s': a number has no components", name);
    return cst_lex_fail(p, at, "'.%s': a vector has the components .x, .y and .z", name);
}

static int lookup(parser *p, const char *name, const char *at, cst_value *v)
{
    *v = parse_failed;
    if (strcmp(name, "pi") == 0) {
        *v = scalar(cst_num_const(p->g, CST_PI));
        return 1;
    }
    if (!p->scope || !p->scope->lookup ||
        !p->scope->lookup(p->scope->ctx, name, cst_lex_where(p, at), v))
        return 0;
    if (v->n == 0) p->failed = 1; /* reported by the scope */
    return 1;
}

/* The whole dotted name; or a vector and one of its components. */
static cst_value dotted(parser *p, const char *name, const char *at)
{
    cst_value v;
    if (lookup(p, name, at, &v)) return v;
    char head[PARSE_NAME];
    snprintf(head, sizeof head, "%s", name);
    char *dot = strrchr(head, '.');
    if (dot) {
        *dot = 0;
        if (lookup(p, head, at, &v))
            return p->failed ? parse_failed : pick(p, v, dot + 1, at + (dot - head) + 1);
    }
    cst_parse_unknown(p, cst_parse_is_function(name) ? "function" : "name", name, at);
    return parse_failed;
}

static cst_value call(parser *p, const char *name, const char *at)
{
    cst_value arg[PARSE_ARGS];
    const char *arg_at[PARSE_ARGS];
    const char *open = p->at;
    int n = 0;
    cst_lex_advance(p);
    while (!p->failed && !cst_lex_sign(p, ")")) {
        if (n == PARSE_ARGS)
            return cst_lex_fail(p, p->at, "%s has more than %d arguments", name, PARSE_ARGS);
        arg_at[n] = p->at;
        arg[n++] = expression(p, LEVEL_OR);
        if (!cst_lex_sign(p, ",")) break;
        cst_lex_advance(p);
        if (cst_lex_sign(p, ")"))
            return cst_lex_fail(p, p->at, "an argument is missing behind ','");
    }
    if (!p->failed && p->token == TOKEN_END)
        return cst_lex_fail(
            p, open, "')' is missing; an expression with commas inside { } or [ ] must be quoted");
    if (!p->failed && !cst_lex_sign(p, ")")) return cst_lex_fail(p, p->at, "',' or ')' expected");
    cst_lex_advance(p);
    return p->failed ? parse_failed : cst_parse_call(p, name, at, n, arg, arg_at);
}

static cst_value name(parser *p)
{
    const char *at = p->at, *end = p->next;
    if (cst_lex_sign(p, "and") || cst_lex_sign(p, "or"))
        return cst_lex_fail(p, at, "a value is missing before '%.*s'", (int)(end - at), at);
    if (cst_lex_sign(p, "not"))
        return cst_lex_fail(p, at, "'not' binds weaker than arithmetic: write (not ...)");
    while (*end == '.' && cst_lex_name(end + 1) != end + 1) end = cst_lex_name(end + 1);
    char whole[PARSE_NAME];
    if (end - at >= PARSE_NAME)
        return cst_lex_fail(p, at, "the name is longer than %d characters", PARSE_NAME - 1);
    snprintf(whole, sizeof whole, "%.*s", (int)(end - at), at);
    p->next = end;
    cst_lex_advance(p);
    if (p->failed) return parse_failed;
    return cst_lex_sign(p, "(") ? call(p, whole, at) : dotted(p, whole, at);
}

static cst_value bracket(parser *p)
{
    const char *open = p->at;
    cst_value v = {3, {CST_NONE, CST_NONE, CST_NONE}};
    for (int i = 0; i < 3; i++) {
        cst_lex_advance(p);
        const char *at = p->at;
        cst_value c = expression(p, LEVEL_OR);
        if (c.n == 3) return cst_lex_fail(p, at, "a component of a vector must be a number");
        v.at[i] = c.at[0];
        if (!p->failed && !cst_lex_sign(p, i < 2 ? "," : "]"))
            return cst_lex_fail(p, p->token == TOKEN_END ? open : p->at,
                                "a vector is written [x, y, z]");
    }
    cst_lex_advance(p);
    return p->failed ? parse_failed : v;
}

static cst_value parenthesis(parser *p)
{
    const char *open = p->at;
    cst_lex_advance(p);
    cst_value v = expression(p, LEVEL_OR);
    if (!p->failed && p->token == TOKEN_END) return cst_lex_fail(p, open, "')' is missing");
    if (!p->failed && !cst_lex_sign(p, ")"))
        return cst_lex_fail(p, p->at, "')' or an operator expected");
    cst_lex_advance(p);
    return p->failed ? parse_failed : v;
}

static cst_value primary(parser *p)
{
    int exponent = p->exponent;
    p->exponent = 0;
    if (p->token == TOKEN_NUMBER) return number(p, exponent);
    if (p->token == TOKEN_NAME) return name(p);
    if (cst_lex_sign(p, "(")) return parenthesis(p);
    if (cst_lex_sign(p, "[")) return bracket(p);
    if (p->token == TOKEN_END)
        return cst_lex_fail(p, p->at,
                            *cst_lex_blanks(p->text) ? "a value is missing at the end"
                                                     : "empty expression");
    return cst_lex_fail(p, p->at, "a value is missing before '%.*s'", (int)(p->next - p->at),
                        p->at);
}

/* ---- operators ---- */

static cst_value postfix(parser *p)
{
    cst_value v = primary(p);
    while (!p->failed && cst_lex_sign(p, ".")) {
        cst_lex_advance(p);
        char name_[PARSE_NAME];
        if (p->failed || p->token != TOKEN_NAME)
            return cst_lex_fail(p, p->at, "a component (.x, .y, .z) is expected behind '.'");
        snprintf(name_, sizeof name_, "%.*s", (int)(p->next - p->at), p->at);
        v = pick(p, v, name_, p->at);
        cst_lex_advance(p);
    }
    return v;
}

static cst_value unary(parser *p);

static cst_value power(parser *p)
{
    const char *at = p->at;
    cst_value base = postfix(p);
    if (p->failed || !cst_lex_sign(p, "^")) return base;
    if (base.n == 3) return cst_lex_fail(p, at, "a power of a vector: use dot(v, v) or norm(v)");
    cst_lex_advance(p);
    const char *exponent_at = p->at;
    p->exponent = 1;
    cst_value e = unary(p);
    if (p->failed) return parse_failed;
    if (e.n == 3)
        return cst_lex_fail(p, exponent_at,
                            "a vector where a number is expected: pick .x, .y or .z");
    return scalar(cst_num_apply(p->g, CST_OP_pow, base.at[0], e.at[0], CST_NONE));
}

static cst_value unary(parser *p)
{
    if (!enter(p)) return parse_failed;
    int minus = cst_lex_sign(p, "-");
    cst_value v;
    if (minus || cst_lex_sign(p, "+")) {
        cst_lex_advance(p);
        v = unary(p);
        for (int i = 0; minus && i < v.n; i++) v.at[i] = cst_num_neg(p->g, v.at[i]);
    } else {
        v = power(p);
    }
    p->depth--;
    return v;
}

/* a op b for numbers; + and - of two vectors; * and / of a vector and a number */
static cst_value combine(parser *p, const struct binary *o, const char *at, cst_value a,
                         cst_value b)
{
    int vectors = (a.n == 3) + (b.n == 3);
    const char *wrong = NULL;
    if (o->level < LEVEL_SUM && vectors)
        wrong = "a vector where a number is expected: pick .x, .y or .z";
    else if (o->level == LEVEL_SUM && vectors == 1)
        wrong = "a vector and a number cannot be added";
    else if (o->op == CST_OP_mul && vectors == 2)
        wrong = "a product of two vectors: write dot(a, b) or cross(a, b)";
    else if (o->op == CST_OP_div && b.n == 3)
        wrong = "a division by a vector";
    if (wrong) return cst_lex_fail(p, at, "%s", wrong);
    cst_value v = {vectors ? 3 : 1, {CST_NONE, CST_NONE, CST_NONE}};
    for (int i = 0; i < v.n; i++)
        v.at[i] =
            cst_num_apply(p->g, o->op, a.at[a.n == 3 ? i : 0], b.at[b.n == 3 ? i : 0], CST_NONE);
    return v;
}

static const struct binary *binary_at(const parser *p, enum level level)
{
    for (size_t i = 0; i < sizeof binaries / sizeof *binaries; i++)
        if (binaries[i].level == level && cst_lex_sign(p, binaries[i].sign)) return &binaries[i];
    return NULL;
}

static cst_value negation(parser *p)
{
    if (!enter(p)) return parse_failed;
    cst_lex_advance(p);
    const char *at = p->at;
    cst_value v = expression(p, LEVEL_NOT);
    p->depth--;
    if (v.n == 3)
        return cst_lex_fail(p, at, "a vector where a number is expected: pick .x, .y or .z");
    return p->failed ? parse_failed
                     : scalar(cst_num_apply(p->g, CST_OP_not, v.at[0], CST_NONE, CST_NONE));
}

static cst_value expression(parser *p, enum level level)
{
    if (level == LEVEL_UNARY) return unary(p);
    if (level == LEVEL_NOT)
        return cst_lex_sign(p, "not") ? negation(p) : expression(p, LEVEL_COMPARE);
    cst_value a = expression(p, level + 1);
    const struct binary *o;
    for (int n = 0; !p->failed && (o = binary_at(p, level)); n++) {
        const char *at = p->at;
        if (level == LEVEL_COMPARE && n > 0)
            return cst_lex_fail(p, at, "comparisons cannot be chained: write a < b and b < c");
        cst_lex_advance(p);
        cst_value b = expression(p, level + 1);
        if (!p->failed) a = combine(p, o, at, a, b);
    }
    return p->failed ? parse_failed : a;
}

cst_value cst_parse(cst_graph *g, const char *text, cst_where where, int want,
                    const cst_scope *scope, cst_diag *diag)
{
    parser p = {.g = g,
                .text = text,
                .where = where,
                .scope = scope,
                .diag = diag,
                .at = text,
                .next = text};
    cst_lex_advance(&p);
    const char *first = p.at;
    cst_value v = expression(&p, LEVEL_OR);
    if (p.failed) return parse_failed;
    if (p.token != TOKEN_END)
        return cst_lex_fail(&p, p.at,
                            cst_lex_sign(&p, ")") ? "')' has no '('"
                                                  : "an operator is missing before '%.*s'",
                            (int)(p.next - p.at), p.at);
    if (want == 1 && v.n == 3)
        return cst_lex_fail(&p, first, "a vector where a number is expected: pick .x, .y or .z");
    if (want == 3 && v.n == 1)
        return cst_lex_fail(&p, first, "a number where a vector is expected: write [x, y, z]");
    return v;
}
