/* SPDX-License-Identifier: MIT
 *
 * Names and functions in expressions. A name is looked for in the part that uses it, then outside.
 */
#include "model/loader.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- names ---- */

static int refuse(cst_reader *r, const char *name, cst_where w, cst_value *v)
{
    v->n = 0;
    cst_loader_error(r->L, w,
                     r->mode == CST_READ_TIME
                         ? "'%s' depends on the motion: %s may depend on t and numbers only"
                         : "'%s' changes during a run: %s must be a fixed number",
                     name, r->what);
    return 1;
}

static int found(cst_reader *r, const char *name, cst_where w, cst_value *v, const cst_id *id,
                 int n)
{
    for (int i = 0; i < n; i++) {
        v->at[i] = id[i];
        int moves = cst_num_timed(r->L->g, id[i]);
        if (moves && r->mode <= CST_READ_TIME) return refuse(r, name, w, v);
    }
    v->n = n;
    return 1;
}

static int offset(const cst_reader *r, cst_where w) /* of a place in the text; -1: elsewhere */
{
    int at = w.line == r->where.line ? w.col - r->where.col : -1;
    return at >= 0 && (size_t)at <= strlen(r->text) ? at : -1;
}

/* `2 t`: behind a number the parser also looks up names, in order to warn about units */
static int behind_number(const cst_reader *r, cst_where w)
{
    int at = offset(r, w);
    while (at > 0 && r->text[at - 1] == ' ') at--;
    return at > 0 && ((r->text[at - 1] >= '0' && r->text[at - 1] <= '9') || r->text[at - 1] == '.');
}

/* In a law s and v are its coordinate and rate: if the file also uses such a name for something
 * else, it is ambiguous. */
static int lookup_argument(cst_reader *r, const char *name, cst_where w)
{
    for (const cst_part *p = r->part; p; p = p->parent)
        for (cst_section k = CST_SEC_PARAMETER; k <= CST_SEC_MEASURE; k++) {
            int other = cst_map_get(&r->L->names[k],
                                    cst_arena_printf(r->L->scratch, "%s%s", p->prefix, name));
            if (other < 0) continue;
            cst_loader_error(r->L, w,
                             "'%s' is the %s of the law here, and also the name of a %s (line %d)",
                             name, name[0] == 'v' ? "rate" : "coordinate", cst_section_word[k],
                             r->L->entity.at[other]->where.line);
            return 0;
        }
    return 1;
}

/* t, and s and v of a law */
static int lookup_channel(cst_reader *r, const char *name, cst_where w, cst_value *v)
{
    cst_id id = CST_NONE;
    if (strcmp(name, "t") == 0 || strcmp(name, "time") == 0) {
        if (r->mode == CST_READ_NUMBER && behind_number(r, w)) return 0;
        if (r->mode == CST_READ_NUMBER) return refuse(r, name, w, v);
        id = cst_time(r->L);
    } else if (r->mode == CST_READ_LAW && (strcmp(name, "s") == 0 || strcmp(name, "v") == 0)) {
        v->n = 0;
        if (!lookup_argument(r, name, w)) return 1;
        id = cst_num_channel(r->L->g, CST_CH_ARG, name[0] == 'v', 0);
    }
    if (id == CST_NONE) return 0;
    v->n = 1;
    v->at[0] = id;
    return 1;
}

/* The components NAME.x, NAME.y, NAME.z, or the component NAME itself, of a measure that has been
 * made. */
static int component(cst_reader *r, const char *full, cst_where w, cst_value *v)
{
    cst_loader *L = r->L;
    int k = cst_map_get(&L->component, full);
    if (k >= 0) return found(r, full, w, v, &L->m->component.at[k].value, 1);
    cst_id id[3];
    char part[512];
    size_t n = strlen(full);
    if (n + 3 > sizeof part) return 0;
    memcpy(part, full, n);
    for (int i = 0; i < 3; i++) {
        memcpy(part + n, (char[3]){'.', "xyz"[i], 0}, 3);
        k = cst_map_get(&L->component, part);
        if (k < 0) return 0;
        id[i] = L->m->component.at[k].value;
    }
    return found(r, full, w, v, id, 3);
}

static void no_component(cst_reader *r, const cst_entity *e, const char *full, cst_where w)
{
    cst_loader *L = r->L;
    const cst_measure *m = &L->m->measure.at[e->index];
    char list[200] = "";
    size_t skip = strlen(m->name) + 1;
    for (int i = 0; i < m->n && strlen(list) < 100; i++) {
        const char *name = L->m->component.at[m->first + i].name;
        if (strlen(name) <= skip) continue;
        strcat(list, *list ? ", " : "");
        strncat(list, name + skip, 40);
    }
    if (*list && strlen(full) < skip)
        cst_loader_error(L, w,
                         "measure '%s' is no number and no vector: name one of its components %s",
                         m->name, list);
    else if (*list)
        cst_loader_error(L, w, "measure '%s' has no component '%s', only %s", m->name, full + skip,
                         list);
    else
        cst_loader_error(L, w, "measure '%s' has no components", m->name);
}

/* full = prefix + name: a parameter, a point, a measure, or (from the right) a component of a
 * measure */
static int lookup_full(cst_reader *r, const char *full, cst_where w, cst_value *v)
{
    cst_loader *L = r->L;
    for (cst_section s = CST_SEC_PARAMETER; s <= CST_SEC_POINT; s++) {
        int k = cst_map_get(&L->names[s], full);
        if (k < 0) continue;
        cst_entity *e = L->entity.at[k];
        e->used = 1;
        v->n = 0;
        if (!cst_entity_need(L, e)) return 1; /* reported */
        if (s == CST_SEC_PARAMETER) return found(r, full, w, v, e->value.at, 1);
        cst_id p[3];
        if (e->part == r->part)
            memcpy(p, e->value.at, sizeof p);
        else
            cst_part_from_ground(L, r->part, e->world, p);
        return found(r, full, w, v, p, 3);
    }
    for (size_t n = strlen(full); n > 0; n--) {
        if (full[n] != 0 && full[n] != '.') continue;
        int k = cst_map_getn(&L->names[CST_SEC_MEASURE], full, n);
        if (k < 0) continue;
        cst_entity *e = L->entity.at[k];
        e->used = 1;
        v->n = 0;
        if (!cst_entity_need(L, e)) return 1;
        if (component(r, full, w, v)) return 1;
        no_component(r, e, full, w);
        v->n = 0;
        return 1;
    }
    return 0;
}

static int lookup(void *ctx, const char *name, cst_where w, cst_value *v)
{
    cst_reader *r = ctx;
    char full[512];
    r->met++;
    if (lookup_channel(r, name, w, v)) return 1;
    for (const cst_part *p = r->part; p; p = p->parent) {
        size_t np = strlen(p->prefix), nn = strlen(name);
        if (np + nn >= sizeof full) continue;
        memcpy(full, p->prefix, np);
        memcpy(full + np, name, nn + 1);
        if (lookup_full(r, full, w, v)) return 1;
    }
    r->met--;
    return 0;
}

static void names(void *ctx, void (*offer)(void *to, const char *name), void *to)
{
    const cst_reader *r = ctx;
    for (int i = 0; i < cst_loader_searches(r->L); i++) {
        const cst_entity *e = r->L->entity.at[i];
        if (e->section > CST_SEC_TABLE) continue;
        int inside = 0;
        for (const cst_part *p = r->part; p && !inside; p = p->parent) inside = p == e->part;
        offer(to, inside ? e->local : e->name);
    }
    for (int i = 0; i < r->L->m->component.n && r->mode > CST_READ_TIME; i++)
        offer(to, r->L->m->component.at[i].name);
}

/* ---- functions ---- */

typedef struct call {
    cst_reader *r;
    const char *name;
    int narg;
    const cst_value *arg;
    cst_where where;
    cst_value *v;
} call;

static int complain(const call *c, const char *message)
{
    c->v->n = 0;
    cst_loader_error(c->r->L, c->where, "%s(): %s", c->name, message);
    return 1;
}

static int result(const call *c, cst_id id)
{
    c->v->n = 1;
    c->v->at[0] = id;
    return 1;
}

static int call_rate(const call *c)
{
    if (c->narg != 1) return complain(c, "takes one expression");
    for (int i = 0; i < c->arg[0].n; i++) {
        c->v->at[i] = cst_num_rate(c->r->L->g, c->arg[0].at[i]);
        if (c->v->at[i] == CST_NONE)
            return complain(c, "forces, reactions, accelerations and blocks have no rate");
    }
    c->v->n = c->arg[0].n;
    return 1;
}

/* integral, peak, end, start, at, mean, rms, ks: of a timed scalar */
static int functional_argument(const call *c)
{
    cst_graph *g = c->r->L->g;
    int ks = strcmp(c->name, "ks") == 0, least = ks || strcmp(c->name, "at") == 0 ? 2 : 1;
    int most = strcmp(c->name, "peak") == 0 ? 2 : least;
    if (c->narg < least || c->narg > most)
        return !complain(c, ks           ? "takes an expression and a width, a number in its unit"
                            : least == 2 ? "takes an expression and a time"
                            : most == 2  ? "takes an expression, and perhaps the p of a p-norm"
                                         : "takes one expression");
    for (int i = 0; i < c->narg; i++)
        if (c->arg[i].n != 1)
            return !complain(c, "takes numbers, not vectors: use norm() or one component");
    if (cst_num_depends(g, c->arg[0].at[0], CST_CH_RESULT, 0))
        return !complain(c, "integral, peak, end and the like cannot contain each other; a running "
                            "integral is a measure");
    if (c->narg == 2 && cst_num_timed(g, c->arg[1].at[0]))
        return !complain(c, "the second argument must be a number");
    return 1;
}

static cst_id integral_of(const call *c, cst_id e)
{
    cst_loader *L = c->r->L;
    return cst_functional_add(L, CST_END, cst_add_quad(L, c->where, e), CST_NONE, c->where);
}

static cst_id mean_of(const call *c, cst_id e)
{
    cst_loader *L = c->r->L;
    cst_id total = integral_of(c, e), length = integral_of(c, cst_num_const(L->g, 1));
    return cst_num_div(L->g, total, length);
}

/* s (mean (|x|/s)^p)^(1/p) <= max |x| <= that times (2 T/h)^(1/p), T the run's length and h its
 * step: the trapezoidal weight of the largest value is at least h/2 */
static cst_id p_norm(const call *c, cst_id x, double p)
{
    cst_loader *L = c->r->L;
    cst_id size = cst_num_call(L->g, "abs", x, CST_NONE, CST_NONE), unit = cst_norm_add(L, size, p);
    cst_id power =
        cst_num_call(L->g, "^", cst_num_mul(L->g, size, unit), cst_num_const(L->g, p), CST_NONE);
    cst_id root = cst_num_call(L->g, "^", mean_of(c, power), cst_num_const(L->g, 1 / p), CST_NONE);
    return cst_num_div(L->g, root, cst_functional_add(L, CST_START, unit, CST_NONE, c->where));
}

/* Kreisselmeier and Steinhauser: w ln mean exp(x/w) <= max x <= that plus w ln(2 T/h), for the same
 * reason */
static cst_id soft_peak(const call *c, cst_id x, cst_id w)
{
    cst_graph *g = c->r->L->g;
    cst_id scaled = cst_num_div(g, x, w), shift = cst_norm_add(c->r->L, scaled, 0);
    cst_id mean =
        mean_of(c, cst_num_call(g, "exp", cst_num_sub(g, scaled, shift), CST_NONE, CST_NONE));
    cst_id back = cst_functional_add(c->r->L, CST_START, shift, CST_NONE, c->where);
    return cst_num_mul(g, w,
                       cst_num_add(g, cst_num_call(g, "log", mean, CST_NONE, CST_NONE), back));
}

static int call_functional(const call *c)
{
    static const char *const name[] = {"integral", "peak", "end", "start", "at",
                                       "mean",     "rms",  "ks",  NULL};
    enum { INTEGRAL, PEAK, END, START, AT, MEAN, RMS, KS } k = 0;
    while (name[k] && strcmp(name[k], c->name) != 0) k++;
    if (!name[k]) return 0;
    cst_loader *L = c->r->L;
    c->v->n = 0;
    for (int i = 0; i < c->narg; i++)
        if (c->arg[i].n == 0) return 1; /* reported */
    if (!functional_argument(c)) return 1;
    cst_id e = c->arg[0].at[0];
    if (c->r->mode != CST_READ_OBJECTIVE) {
        if (c->r->mode <= CST_READ_TIME) return complain(c, "belongs in measures and objectives");
        return k == INTEGRAL ? result(c, cst_add_quad(L, c->where, e))
                             : complain(c, "belongs in objectives");
    }
    switch (k) {
    case INTEGRAL:
        return result(c, integral_of(c, e));
    case MEAN:
        return result(c, mean_of(c, e));
    case RMS:
        return result(c, cst_num_sqrt(L->g, mean_of(c, cst_num_mul(L->g, e, e))));
    case END:
        return result(c, cst_functional_add(L, CST_END, e, CST_NONE, c->where));
    case START:
        return result(c, cst_functional_add(L, CST_START, e, CST_NONE, c->where));
    case AT:
        *cst_push(L->arena, &L->m->typed) = (cst_typed){c->arg[1].at[0], "s"};
        return result(c, cst_functional_add(L, CST_AT, e, c->arg[1].at[0], c->where));
    case KS:
        return result(c, soft_peak(c, e, c->arg[1].at[0]));
    case PEAK:
        break;
    }
    double p = 0;
    if (c->narg == 2) {
        if (!cst_num_is_const(L->g, c->arg[1].at[0], &p))
            return complain(c, "the p of a p-norm must be a plain number");
        if (!(p >= 2 && p <= 100)) return complain(c, "the p of a p-norm must be in [2, 100]");
        return result(c, p_norm(c, e, p));
    }
    return result(c, cst_functional_add(L, CST_PEAK, e, CST_NONE, c->where));
}

/* if(x < until, this piece, those behind it) */
static cst_id piece_of(cst_loader *L, const cst_table_piece *p, cst_id x)
{
    cst_id y = cst_num_table(L->g, p->t, x, 0);
    if (isinf(p->until)) return y;
    cst_id before = cst_num_call(L->g, "<", x, cst_num_const(L->g, p->until), CST_NONE);
    return cst_num_call(L->g, "if", before, y, piece_of(L, p + 1, x));
}

static int call_table(const call *c)
{
    cst_loader *L = c->r->L;
    cst_entity *e = cst_entity_find(L, c->r->part, CST_SEC_TABLE, c->name);
    if (!e) return 0;
    c->r->met++;
    e->used = 1;
    c->v->n = 0;
    if (!cst_entity_need(L, e)) return 1;
    if (c->narg != 1 || c->arg[0].n != 1)
        return c->narg == 1 && c->arg[0].n == 0 ? 1 : complain(c, "a table takes one number");
    return result(c, piece_of(L, L->table.at + e->index, c->arg[0].at[0]));
}

static int call_function(void *ctx, const char *name, int narg, const cst_value *arg, cst_where w,
                         cst_value *v)
{
    call c = {ctx, name, narg, arg, w, v};
    if (strcmp(name, "rate") == 0) return call_rate(&c);
    return call_functional(&c) || call_table(&c);
}

/* ---- literals ---- */

/* Is the place behind the comma of the innermost open `name`( ? */
static int is_second_of(const cst_reader *r, const char *name, cst_where w)
{
    int at = offset(r, w), depth = 0, commas = 0, n = (int)strlen(name);
    for (int i = at - 1; i >= 0; i--) {
        char ch = r->text[i];
        if (ch == ')' || ch == ']') depth++;
        if (ch == ',' && depth == 0) commas++;
        if ((ch != '(' && ch != '[') || depth-- > 0) continue;
        int named = commas == 1 && i >= n && strncmp(r->text + i - n, name, (size_t)n) == 0;
        return named && (i == n || !(isalnum((unsigned char)r->text[i - n - 1]) ||
                                     strchr("_.", r->text[i - n - 1])));
    }
    return 0;
}

/* at(x, 0.3): a number that is the whole second argument is a time */
static const char *unit_by_place(const cst_reader *r, cst_where w)
{
    int at = offset(r, w);
    if (r->mode != CST_READ_OBJECTIVE || at < 0 || !is_second_of(r, "at", w)) return "1";
    const char *end = r->text + at + strspn(r->text + at, "0123456789.eE+-_ ");
    while (at > 0 && r->text[at - 1] == ' ') at--;
    return *end == ')' && at > 0 && r->text[at - 1] == ',' ? "s" : "1";
}

static cst_id literal(void *ctx, double value, int k, cst_where w)
{
    cst_reader *r = ctx;
    cst_loader *L = r->L;
    if (r->mode == CST_READ_OBJECTIVE && is_second_of(r, "peak", w))
        return CST_NONE; /* the p of a p-norm is structure */
    r->literals++;
    if (r->keep) return CST_NONE;
    char name[600];
    (void)k; /* counts what is structure as well */
    snprintf(name, sizeof name, "%.560s[%d]", r->name, r->literals);
    int set = L->set.n ? cst_map_get(&L->set_names, name) : -1;
    if (set >= 0) {
        L->set.at[set].used = 1;
        cst_yaml node = {.kind = CST_YAML_SCALAR,
                         .text = L->set.at[set].text,
                         .where = L->set.at[set].where};
        if (!cst_read_constant(L, name, &node, &value)) return CST_NONE;
    }
    cst_leaf l = {.name = name, .unit = unit_by_place(r, w), .where = w, .parameter = 0};
    l.lo = -INFINITY;
    l.hi = INFINITY;
    return cst_leaf_add(L, value, &l);
}

cst_scope cst_scope_of(cst_reader *r)
{
    return (cst_scope){
        .lookup = lookup, .call = call_function, .names = names, .literal = literal, .ctx = r};
}
