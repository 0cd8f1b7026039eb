/* SPDX-License-Identifier: MIT
 *
 * Texts become numbers. A text that names nothing is one number of the file, a leaf, whatever
 * arithmetic is in it; in a text that names other numbers the literals are leaves NAME[1], NAME[2],
 * ... So every number that somebody has written is a design variable with a name, a unit, a range
 * and a place. */
#include "model/loader.h"
#include "number/dimension.h"

#include <math.h>
#include <string.h>
#include <strings.h>

cst_reader cst_reader_new(cst_loader *L, cst_part *part, cst_mode mode, const char *what)
{
    return (cst_reader){.L = L,
                        .part = part,
                        .mode = mode,
                        .what = what,
                        .lo = -INFINITY,
                        .hi = INFINITY,
                        .factor = 1};
}

/* ---- leaves ---- */

/* Elements of different sections may have the same name: the later of two equal names gets a
 * number. */
static const char *free_name(cst_loader *L, const char *name)
{
    const char *unique = name;
    for (int k = 2; cst_map_get(&L->m->leaf_names, unique) >= 0; k++)
        unique = cst_arena_printf(L->arena, "%s#%d", name, k);
    return unique == name ? cst_arena_strdup(L->arena, name) : unique;
}

cst_id cst_leaf_add(cst_loader *L, double value, const cst_leaf *leaf)
{
    cst_id id = cst_num_leaf(L->g, value);
    cst_leaf *l = cst_push(L->arena, &L->m->leaf);
    *l = *leaf;
    l->name = free_name(L, leaf->name);
    l->where = cst_loader_place(L, leaf->where);
    if (l->count == 0) l->count = 1;
    if (l->factor == 0) l->factor = 1;
    cst_map_put(L->arena, &L->m->leaf_names, l->name, L->m->leaf.n - 1);
    return id;
}

void cst_range_error(cst_loader *L, cst_where w, const char *what, double lo, double hi,
                     const char *unit, double value)
{
    char text[512];
    cst_range_message(text, sizeof text, what, lo, hi, unit, value);
    cst_loader_error(L, w, "%s", text);
}

static int in_range(const cst_reader *r, double written, cst_where w)
{
    if (isfinite(written) && written >= r->lo && written <= r->hi) return 1;
    cst_range_error(r->L, w, r->what, r->lo, r->hi, r->unit, written);
    return 0;
}

/* The unit behind a plain number; NULL: there is none */
static const char *unit_beside(const cst_reader *r)
{
    double value;
    int n = 0;
    const char *unit = cst_parse_plain(r->text, &value) ? cst_parse_plain_unit(r->text, &n) : NULL;
    return n ? cst_arena_strndup(r->L->arena, unit, (size_t)n) : NULL;
}

static cst_id leaf(cst_reader *r, const char *name, double written, cst_where w)
{
    if (!in_range(r, written, w)) return CST_NONE;
    const char *beside = unit_beside(r), *unit = r->unit && strcmp(r->unit, "1") != 0 ? r->unit
                                                 : beside                             ? beside
                                                                                      : r->unit;
    if (beside && unit != beside && cst_dimension_differs(unit, beside)) {
        cst_loader_error(r->L, w, "%s must be in %s, not in %s", r->what, unit, beside);
        return CST_NONE;
    }
    if (r->constant) return cst_num_const(r->L->g, written * r->factor);
    cst_leaf l = {.name = name,
                  .unit = cst_unit_si(r->L, unit),
                  .doc = r->doc,
                  .where = w,
                  .parameter = r->parameter,
                  .open = !unit};
    l.lo = r->lo * r->factor;
    l.hi = r->hi * r->factor;
    l.length = (int)strlen(r->text);
    l.factor = r->factor;
    return cst_leaf_add(r->L, written * r->factor, &l);
}

void cst_check_add(cst_reader *r, cst_id id, cst_where w)
{
    *cst_push(r->L->scratch, &r->L->check) =
        (cst_check){.id = id,
                    .lo = r->lo,
                    .hi = r->hi,
                    .factor = r->factor,
                    .what = cst_arena_strdup(r->L->scratch, r->what),
                    .unit = r->unit,
                    .where = w};
    if (r->constant) return;
    *cst_push(r->L->arena, &r->L->m->derived) =
        (cst_derived){.id = id,
                      .lo = r->lo * r->factor,
                      .hi = r->hi * r->factor,
                      .what = cst_arena_strdup(r->L->arena, r->what),
                      .unit = cst_arena_strdup(r->L->arena, cst_unit_si(r->L, r->unit)),
                      .where = cst_loader_place(r->L, w)};
}

/* ---- units ---- */

/* `unit: N/mm` is kept as N/m: values are SI. */
const char *cst_unit_si(cst_loader *L, const char *unit)
{
    static const char *const si[][2] = {
        {"mm", "m"},    {"cm", "m"},     {"km", "m"},      {"um", "m"},   {"in", "m"},
        {"ft", "m"},    {"deg", "rad"},  {"g", "kg"},      {"t", "kg"},   {"ms", "s"},
        {"us", "s"},    {"min", "s"},    {"h", "s"},       {"kN", "N"},   {"MN", "N"},
        {"mN", "N"},    {"kW", "W"},     {"kJ", "J"},      {"kPa", "Pa"}, {"MPa", "Pa"},
        {"GPa", "Pa"},  {"bar", "Pa"},   {"rpm", "rad/s"}, {"lb", "kg"},  {"lbf", "N"},
        {"rev", "rad"}, {"mrad", "rad"}, {"kHz", "Hz"},    {"Nmm", "Nm"}, {"kNm", "Nm"},
        {"kNs", "Ns"},
    };
    double factor;
    if (!unit || !cst_unit_factor(unit, &factor)) return unit ? unit : "1";
    char out[96];
    size_t n = 0;
    for (const char *c = unit; *c && n < sizeof out - 16;) {
        size_t word = strspn(c, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ");
        const char *put = c;
        size_t len = word ? word : 1;
        for (size_t i = 0; word && i < sizeof si / sizeof *si; i++)
            if (strlen(si[i][0]) == word && strncmp(c, si[i][0], word) == 0)
                put = si[i][1], len = strlen(put);
        if (len > 15) return "SI";
        memcpy(out + n, put, len);
        n += len;
        c += word ? word : 1;
    }
    return cst_arena_strndup(L->arena, out, n);
}

/* ---- texts ---- */

/* Rough bound for the nesting depth of this text: it limits the stack when texts lead to other
 * texts. */
static int nesting(const char *text)
{
    int depth = 0, deepest = 0, powers = 0;
    for (const char *c = text; *c; c++) {
        if (*c == '(' || *c == '[') depth++;
        if (*c == ')' || *c == ']') depth--;
        if (*c == '^' || ((*c == '-' || *c == '+') && (c[1] == '-' || c[1] == '+'))) powers++;
        if (depth > deepest) deepest = depth;
    }
    int n = 1 + deepest + powers;
    return n < 200 ? n : 200;
}

static int balanced(cst_reader *r)
{
    int open = 0;
    for (const char *c = r->text; *c; c++) open += (*c == '(') - (*c == ')');
    if (open == 0) return 1;
    cst_loader_error(r->L, r->where,
                     "unbalanced parentheses in '%.60s' (inside { } and [ ] an expression with "
                     "commas needs quotes)",
                     r->text);
    return 0;
}

/* What YAML calls .inf and .nan, and other programs inf and nan */
static int finite_text(cst_reader *r)
{
    const char *c = r->text + (r->text[0] == '-' || r->text[0] == '+');
    c += *c == '.';
    if (strcasecmp(c, "inf") != 0 && strcasecmp(c, "nan") != 0) return 1;
    cst_loader_error(r->L, r->where, "%s must be a finite number, not %s", r->what, r->text);
    return 0;
}

/* A unit behind a literal is that of its leaf, the last one. */
static void literal_unit(void *ctx, cst_id id, const char *unit, int n)
{
    cst_reader *r = ctx;
    int last = r->L->m->leaf.n - 1;
    r->units++;
    if (id != CST_NONE && cst_leaf_id(r->L->g, last) == id)
        r->L->m->leaf.at[last].unit =
            cst_unit_si(r->L, cst_arena_strndup(r->L->arena, unit, (size_t)n));
}

static cst_value parse(cst_reader *r, int want)
{
    cst_loader *L = r->L;
    int deep = nesting(r->text);
    if (L->nesting + deep > CST_MAX_NESTING) {
        cst_loader_error(L, r->where, "the definitions that lead here are nested too deeply");
        return (cst_value){0};
    }
    L->nesting += deep;
    r->met = r->literals = r->units = 0;
    cst_scope scope = cst_scope_of(r);
    scope.unit = literal_unit;
    cst_value v = cst_parse(L->g, r->text, r->where, want, &scope, L->d);
    L->nesting -= deep;
    return v;
}

/* The text to read: what the file says, or what `--set` says for the number of this name. */
static int text_begin(cst_reader *r, const char *name, const cst_yaml *node)
{
    cst_loader *L = r->L;
    r->name = name;
    r->where = node->where;
    r->replaced = 0;
    if (L->set.n && !r->constant) {
        int k = cst_map_get(&L->set_names, name);
        if (k >= 0) {
            L->set.at[k].used = r->replaced = 1;
            r->text = L->set.at[k].text;
            r->where = L->set.at[k].where;
            return balanced(r);
        }
    }
    r->text = node->text;
    if (node->kind != CST_YAML_SCALAR || !node->text[0]) {
        cst_loader_error(L, node->where,
                         node->kind == CST_YAML_SEQUENCE || node->kind == CST_YAML_MAPPING
                             ? "%s must be a number or an expression"
                             : "%s is empty",
                         r->what);
        return 0;
    }
    r->where.col += node->quoted; /* the first character is behind the quote */
    return balanced(r) && finite_text(r);
}

/* A number in a text with names: in SI, so that a unit beside it would be ambiguous. */
static int unit_fits(cst_reader *r, double value)
{
    if (r->factor == 1 || r->lenient || r->replaced || cst_text_number(r->text, &value)) return 1;
    cst_loader_error(r->L, r->where,
                     "'%.60s' is in SI units already: write the units of its numbers in it and "
                     "leave out 'unit: %s'",
                     r->text, r->unit);
    return 0;
}

static int timed(const cst_reader *r) { return r->mode != CST_READ_NUMBER; }

/* Records the unit that an expression must have. Laws are left out: lengths as well as angles use
 * them */
static cst_id typed(const cst_reader *r, cst_id value)
{
    int says = r->unit && strcmp(r->unit, "1") != 0 && r->mode != CST_READ_LAW && !r->constant;
    if (says && value != CST_NONE)
        *cst_push(r->L->arena, &r->L->m->typed) =
            (cst_typed){value, cst_arena_strdup(r->L->arena, r->unit)};
    return value;
}

/* A text without names. A text that replaces the one in the file may have its own unit. */
static cst_id one_number(cst_reader *r, const char *name, double value)
{
    if (!r->units || r->factor == 1) return leaf(r, name, value, r->where);
    if (r->lenient || r->replaced) return leaf(r, name, value / r->factor, r->where);
    cst_loader_error(r->L, r->where, "'%.60s' has a unit of its own: leave out 'unit: %s'", r->text,
                     r->unit);
    return CST_NONE;
}

cst_id cst_read_scalar(cst_reader *r, const char *name, const cst_yaml *node)
{
    double value;
    if (!text_begin(r, name, node)) return CST_NONE;
    if (cst_parse_plain(r->text, &value)) {
        double bare;
        r->units = !cst_text_number(r->text, &bare);
        return one_number(r, name, value);
    }
    r->keep = !timed(r) || r->constant;
    cst_value v = parse(r, 1);
    if (v.n != 1) return CST_NONE;
    if (timed(r)) return typed(r, v.at[0]);
    if (r->met == 0 && cst_num_is_const(r->L->g, v.at[0], &value))
        return one_number(r, name, value);
    if (!unit_fits(r, value)) return CST_NONE;
    if (r->literals &&
        !r->constant) { /* read it again, now that its literals are known to be separate numbers */
        r->keep = 0;
        v = parse(r, 1);
        if (v.n != 1) return CST_NONE;
    }
    cst_reader si = *r;
    if (si.factor != 1)
        si.lo *= si.factor, si.hi *= si.factor, si.unit = cst_unit_si(r->L, si.unit), si.factor = 1;
    cst_check_add(&si, v.at[0], r->where);
    return typed(r, v.at[0]);
}

cst_value cst_read_text(cst_reader *r, const char *name, const cst_yaml *node, int want)
{
    if (!text_begin(r, name, node)) return (cst_value){0};
    double value;
    if (want != 3 && cst_parse_plain(r->text, &value)) {
        cst_id id = leaf(r, name, value, r->where);
        return (cst_value){.n = id == CST_NONE ? 0 : 1, .at = {id}};
    }
    r->keep = r->constant;
    cst_value v = parse(r, want);
    for (int i = 0; i < v.n; i++) {
        if (!timed(r)) cst_check_add(r, v.at[i], r->where);
        typed(r, v.at[i]);
    }
    return v;
}

void cst_vector_add(const cst_reader *r, cst_vector_kind kind, int n, const cst_id *at)
{
    if (r->constant || timed(r)) return;
    cst_vector *v = cst_push(r->L->arena, &r->L->m->vector);
    *v = (cst_vector){.kind = kind, .n = n};
    memcpy(v->at, at, sizeof *at * (size_t)n);
}

/* [x, y, z], or a vector expression */
int cst_read_triple(cst_reader *r, const char *name, const cst_yaml *node, cst_id v[3])
{
    if (node->kind == CST_YAML_SCALAR && node->text[0]) {
        cst_value value = cst_read_text(r, name, node, 3);
        if (value.n != 3) return 0;
        memcpy(v, value.at, sizeof value.at);
        cst_vector_add(r, r->kind, 3, v);
        return 1;
    }
    if (node->kind != CST_YAML_SEQUENCE) {
        cst_loader_error(r->L, node->where, "%s must be [x, y, z] or a vector expression", r->what);
        return 0;
    }
    int ok = 1;
    for (int i = 0; i < node->n && node->n != 3;
         i++) /* a comma inside an expression is the likely reason */
        if (node->child[i]->kind == CST_YAML_SCALAR && strchr(node->child[i]->text, '(') &&
            !strchr(node->child[i]->text, ')')) {
            r->text = node->child[i]->text;
            r->where = node->child[i]->where;
            return balanced(r);
        }
    if (node->n != 3) {
        cst_loader_error(r->L, node->where, "%s must have 3 components, not %d", r->what, node->n);
        return 0;
    }
    for (int i = 0; i < 3; i++) {
        const char *part = cst_arena_printf(r->L->scratch, "%s.%c", name, "xyz"[i]);
        v[i] = cst_read_scalar(r, part, node->child[i]);
        ok &= v[i] != CST_NONE;
    }
    if (ok) cst_vector_add(r, r->kind, 3, v);
    return ok;
}

int cst_read_constant(cst_loader *L, const char *what, const cst_yaml *node, double *value)
{
    cst_reader r = cst_reader_new(L, L->root, CST_READ_NUMBER, what);
    r.constant = 1;
    cst_id id = cst_read_scalar(&r, what, node);
    if (id == CST_NONE) return 0;
    if (r.met == 0 && cst_num_is_const(L->g, id, value)) return 1;
    cst_loader_error(L, node->where, "%s must be a plain number, without names", what);
    return 0;
}
