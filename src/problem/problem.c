/* SPDX-License-Identifier: MIT */
#include "problem/problem.h"

#include "base/hash.h"

#include <math.h>
#include <string.h>

/* ---- construction ---- */

static void free_models(void *problem)
{
    cst_problem *p = problem;
    for (int k = 0; k < p->ncase; k++) cst_model_free(p->model[k]);
    cst_model_free(p->m);
}

/* Limits that are plain numbers become the nlp's; others are subtracted. */
static int add_limit(cst_problem *p, cst_graph *g, cst_names *names, const cst_limit *l,
                     double range[2], cst_id *out, cst_diag *d)
{
    range[0] = -INFINITY;
    range[1] = INFINITY;
    cst_id e = cst_design_parse(g, &l->expression, names, d), shift = CST_NONE;
    if (e == CST_NONE) return 0;
    for (int side = 0; side < 2; side++) {
        const cst_text *text = side ? &l->upper : &l->lower;
        if (!text->text) continue;
        cst_id limit = cst_design_parse(g, text, names, d);
        if (limit == CST_NONE) return 0;
        if (cst_num_is_const(g, limit, &range[side])) continue;
        if (shift != CST_NONE || (l->lower.text && l->upper.text)) {
            cst_error(d, CST_MODEL, text->where, "of two limits each must be a plain number");
            return 0;
        }
        shift = limit;
        range[side] = 0;
    }
    double plain;
    if (shift != CST_NONE && cst_num_is_const(g, e, &plain)) { /* 400 >= peak: turn it around */
        e = shift;
        range[0] = l->upper.text && !l->equal ? plain : -INFINITY;
        range[1] = l->lower.text || l->equal ? plain : INFINITY;
        shift = CST_NONE;
    }
    if (l->equal) range[0] = range[1];
    *out = shift == CST_NONE ? e : cst_num_sub(g, e, shift);
    if (cst_num_timed(g, *out)) return 1;
    cst_error(d, CST_MODEL, l->expression.where,
              "the constraint '%s' depends on no objective and no number", l->name);
    (void)p;
    return 0;
}

/* Expressions of one case, compiled: f, then the constraints. */
static int compile(cst_problem *p, cst_case *c, cst_diag *d)
{
    const cst_design *s = p->design;
    const cst_terms *terms = c->scenario->minimize.n ? &c->scenario->minimize : &s->minimize;
    cst_graph *g = cst_graph_new(&p->arena);
    cst_names names = {c->m, 0};
    cst_id *out = cst_new(&p->arena, cst_id, p->limits + 1), f = CST_NONE;
    int ok = 1;
    for (int i = 0; i < terms->n; i++) {
        cst_id e = cst_design_parse(g, &terms->at[i].expression, &names, d);
        if (e == CST_NONE) {
            ok = 0;
            continue;
        }
        e = cst_num_mul(g, cst_num_const(g, terms->at[i].weight), e);
        f = f == CST_NONE ? e : cst_num_add(g, f, e);
    }
    if (f != CST_NONE) out[0] = cst_num_mul(g, cst_num_const(g, c->scenario->weight), f);
    for (int j = 0; j < p->limits; j++) {
        double range[2];
        ok &= add_limit(p, g, &names, &s->limit.at[j], range, &out[j + 1], d);
        c->lower[j] = range[0];
        c->upper[j] = range[1];
        if (range[0] <= range[1]) continue;
        cst_error(d, CST_MODEL, s->limit.at[j].expression.where, "the constraint '%s' cannot hold",
                  s->limit.at[j].name);
        ok = 0;
    }
    if (ok) c->tape = cst_tape_new(&p->arena, g, p->limits + 1, out);
    for (int j = 0; j < p->limits && ok; j++)
        c->limit[j] = cst_tape_new(&p->arena, g, 1, &out[j + 1]);
    return ok;
}

/* ---- constraints that several cases have in common ---- */

/* Has this number the same value in both cases, whatever the search does? */
static int same_number(const cst_problem *p, const cst_case *a, int i, const cst_case *b, int k)
{
    for (int v = 0; v < p->n; v++)
        if (a->leaf[v] == i || b->leaf[v] == k) return a->leaf[v] == i && b->leaf[v] == k;
    for (int v = 0; v < p->design->path.n; v++)
        if (a->path[v] == i || b->path[v] == k) return a->path[v] == i && b->path[v] == k;
    return cst_model_number_value(a->m, i) == cst_model_number_value(b->m, k);
}

/* The same code on the same numbers */
static int same_limit(const cst_problem *p, const cst_case *a, const cst_case *b, int j)
{
    const cst_tape *s = a->limit[j], *t = b->limit[j];
    if (a->lower[j] != b->lower[j] || a->upper[j] != b->upper[j]) return 0;
    if (s->nchannel != t->nchannel || s->ncode != t->ncode || s->nnumber || t->nnumber) return 0;
    for (int i = 0; i < s->nchannel; i++) {
        const cst_channel *x = &s->channel[i], *y = &t->channel[i];
        if (x->kind != CST_CH_ARG || y->kind != CST_CH_ARG) return 0;
        if (!same_number(p, a, x->index, b, y->index)) return 0;
    }
    for (int i = 0; i < s->ncode; i++) {
        const cst_code *x = &s->code[i], *y = &t->code[i];
        if (x->op != y->op || x->op == CST_CODE_TABLE) return 0;
        if (x->op == CST_CODE_CONST && s->constant[x->a[0]] != t->constant[y->a[0]]) return 0;
        if (x->op != CST_CODE_CONST && memcmp(x->a, y->a, sizeof x->a) != 0) return 0;
    }
    return s->out[0] == t->out[0];
}

/* Case k has constraint j in common with case *first, which is before it or k itself; returns how
 * many cases have it. */
static int sharing(const cst_problem *p, int k, int j, int *first)
{
    int count = 0;
    *first = k;
    for (int i = p->ncase; i-- > 0;) {
        if (i != k && !same_limit(p, &p->at[i], &p->at[k], j)) continue;
        count++;
        if (i < *first) *first = i;
    }
    return count;
}

static void number_rows(cst_problem *p, double *lower, double *upper)
{
    for (int k = 0; k < p->ncase; k++)
        for (int j = 0; j < p->limits; j++) {
            cst_case *c = &p->at[k];
            const char *name = p->design->limit.at[j].name;
            int first, common = sharing(p, k, j, &first) == p->ncase;
            if (first < k) {
                c->row[j] = p->at[first].row[j];
                continue;
            }
            const int row = c->row[j] = p->nlp.m++;
            lower[row] = c->lower[j];
            upper[row] = c->upper[j];
            p->constraint[row] =
                common ? name : cst_arena_printf(&p->arena, "%s: %s", c->scenario->name, name);
        }
}

static int find_number(const cst_case *c, const char *name, int *leaf, cst_diag *d)
{
    *leaf = cst_model_number_find(c->m, name);
    if (*leaf >= 0) return 1;
    cst_error(d, CST_MODEL, c->scenario->where, "the model of scenario '%s' has no number '%s'",
              c->scenario->name, name);
    return 0;
}

static int find_numbers(const cst_problem *p, cst_case *c, cst_diag *d)
{
    int ok = 1;
    for (int i = 0; i < p->n; i++)
        ok &= find_number(c, p->design->variable.at[i].name, &c->leaf[i], d);
    for (int i = 0; i < p->design->path.n; i++)
        ok &= find_number(c, p->design->path.at[i].name, &c->path[i], d);
    return ok;
}

static int make_case(cst_problem *p, int k, const char *path, int nset, const char *const *set,
                     const cst_options *o, cst_diag *d)
{
    cst_case *c = &p->at[k];
    cst_arena *a = &p->arena;
    const cst_scenario *s = c->scenario = &p->design->scenario.at[k];
    if (s->file || s->set.n) {
        const char *slash = strrchr(path, '/');
        const char *file =
            !s->file ? path
            : s->file[0] == '/' || !slash
                ? s->file
                : cst_arena_printf(a, "%.*s%s", (int)(slash - path + 1), path, s->file);
        const char **all = cst_new(a, const char *, nset + s->set.n + 1);
        for (int i = 0; i < nset; i++) all[i] = set[i];
        for (int i = 0; i < s->set.n; i++) all[nset + i] = s->set.at[i];
        p->model[k] = cst_model_load_below(o ? o->below : NULL, file, nset + s->set.n, all, d);
        if (!p->model[k]) {
            cst_error(d, CST_MODEL, s->where, "the model of scenario '%s' could not be loaded",
                      s->name);
            return 0;
        }
    }
    c->m = p->model[k] ? p->model[k] : p->m;
    c->options = o ? *o : cst_options_default();
    if (isfinite(s->end)) c->options.end = s->end;
    if (isfinite(s->step)) c->options.step = s->step;
    size_t n = (size_t)p->n;
    c->leaf = cst_new(a, int, n);
    c->path = cst_new(a, int, p->design->path.n + 1);
    c->df = cst_new(a, double, n);
    c->c = cst_new(a, double, p->limits + 1);
    c->dc = cst_new(a, double, 1 + n * (size_t)p->limits);
    c->value = cst_new(a, double, c->m->leaf.n + 1);
    c->objective = cst_new(a, double, c->m->objective.n + 1);
    c->said = cst_new(a, cst_diag, 1);
    c->limit = cst_new(a, const cst_tape *, p->limits + 1);
    c->lower = cst_new(a, double, p->limits + 1);
    c->upper = cst_new(a, double, p->limits + 1);
    c->row = cst_new(a, int, p->limits + 1);
    if (!find_numbers(p, c, d) || !compile(p, c, d)) return 0;
    c->reg = cst_new(a, double, c->tape->nreg + 1);
    c->bar = cst_new(a, double, c->tape->nreg + 1);
    c->wanted = cst_new(a, int, c->tape->nchannel + 1);
    for (int i = 0; i < c->tape->nchannel; i++)
        if (c->tape->channel[i].kind == CST_CH_RESULT)
            c->wanted[c->nwanted++] = c->tape->channel[i].index;
    return 1;
}

static void hash(uint64_t *h, const void *data, size_t n) { *h = cst_hash_bytes(*h, data, n); }
static void hash_text(uint64_t *h, const char *s) { hash(h, s, strlen(s) + 1); }

static void hash_options(uint64_t *h, const cst_options *o)
{
    const double numbers[] = {o->start,        o->end,        o->step,
                              o->alpha,        o->xi,         o->omega,
                              o->width,        o->tolerance,  o->sensitivity_step,
                              o->perturbation, o->full_newton};
    const char *const words[] = {o->events,      o->formulation, o->integrator, o->coupling,
                                 o->sensitivity, o->terms,       o->difference};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        const double canonical =
            isnan(numbers[i]) ? -1 : numbers[i]; /* there are several bit patterns of nan */
        hash(h, &canonical, sizeof canonical);
    }
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        hash_text(h, words[i] ? words[i] : "");
}

/* Everything that decides about f and c */
static void make_key(cst_problem *p)
{
    uint64_t h = CST_HASH_START;
    hash_text(&h, cst_version());
    for (int i = 0; i < p->nset; i++) hash_text(&h, p->set[i]);
    for (int i = 0; i < p->n; i++) {
        const cst_variable *v = &p->design->variable.at[i];
        const double numbers[] = {v->lower, v->upper, v->start, v->scale};
        hash_text(&h, v->name);
        hash(&h, numbers, sizeof numbers);
    }
    for (int i = 0; i < p->design->path.n; i++) {
        hash_text(&h, p->design->path.at[i].name);
        hash(&h, p->design->path.at[i].value, sizeof(double) * (size_t)p->design->stages);
    }
    for (int k = 0; k < p->ncase; k++) {
        const cst_case *c = &p->at[k];
        hash(&h, &c->m->contents, sizeof c->m->contents);
        hash_options(&h, &c->options);
        for (int i = 0; i < c->m->leaf.n; i++) {
            double value = cst_model_number_value(c->m, i);
            hash_text(&h, c->m->leaf.at[i].name);
            hash(&h, &value, sizeof value);
        }
        for (int i = 0; i < c->m->objective.n; i++) hash_text(&h, c->m->objective.at[i].name);
        hash(&h, c->tape->code, sizeof *c->tape->code * (size_t)c->tape->ncode);
    }
    for (int j = 0; j < p->nlp.m; j++)
        hash(&h, &p->nlp.c_lower[j], sizeof(double)), hash(&h, &p->nlp.c_upper[j], sizeof(double));
    p->key = h;
}

static void set_stage(void *problem, int k) { ((cst_problem *)problem)->stage = k; }

static int build(cst_problem *p, const char *path, int nset, const char *const *set,
                 const cst_options *o, cst_diag *d)
{
    cst_arena *a = &p->arena;
    const cst_design *s = p->design = cst_design_read(a, p->m, d);
    if (!s) return 0;
    int n = p->n = s->variable.n, m = s->limit.n * s->scenario.n;
    p->limits = s->limit.n;
    p->nset = nset;
    p->set = cst_new(a, const char *, nset + 1);
    for (int i = 0; i < nset; i++) p->set[i] = cst_arena_strdup(a, set[i]);
    p->threads = o && o->threads > 1 ? o->threads : 1;
    p->at = cst_new(a, cst_case, s->scenario.n);
    p->model = cst_new(a, cst_model *, s->scenario.n);
    p->ncase = s->scenario.n;
    p->constraint = cst_new(a, const char *, m + 1);
    double *start = cst_new(a, double, n), *lower = cst_new(a, double, n),
           *upper = cst_new(a, double, n);
    double *scale = cst_new(a, double, n), *c_lower = cst_new(a, double, m + 1),
           *c_upper = cst_new(a, double, m + 1);
    for (int i = 0; i < n; i++) {
        const cst_variable *v = &s->variable.at[i];
        start[i] = v->start, lower[i] = v->lower, upper[i] = v->upper, scale[i] = v->scale;
    }
    p->nlp = (cst_nlp){.n = n,
                       .start = start,
                       .lower = lower,
                       .upper = upper,
                       .scale = scale,
                       .c_lower = c_lower,
                       .c_upper = c_upper,
                       .eval = cst_problem_eval,
                       .ctx = p,
                       .stages = s->stages,
                       .stage = set_stage};
    p->stage = s->stages;
    int ok = 1;
    for (int k = 0; k < p->ncase; k++) ok &= make_case(p, k, path, nset, set, o, d);
    if (!ok) return 0;
    number_rows(p, c_lower, c_upper);
    make_key(p);
    return 1;
}

/* The problem lies in its own arena. NULL: out of memory */
static cst_problem *problem_new(cst_model *m)
{
    cst_arena a = {0};
    if (CST_ARENA_GUARD(&a)) return NULL; /* nothing was allocated */
    cst_problem *p = cst_new(&a, cst_problem, 1);
    a.guard = NULL;
    p->m = m;
    p->arena = a;
    return p;
}

static cst_problem *out_of_memory(const char *path, cst_diag *d)
{
    cst_error(d, CST_MEMORY, (cst_where){.file = path}, "out of memory");
    return NULL;
}

cst_problem *cst_problem_load(const char *path, int nset, const char *const *set,
                              const cst_options *o, cst_diag *d)
{
    cst_model *m = cst_model_load_below(o ? o->below : NULL, path, nset, set, d);
    if (!m) return NULL;
    cst_problem *p = problem_new(m);
    if (!p) {
        cst_model_free(m);
        return out_of_memory(path, d);
    }
    if (CST_ARENA_GUARD(&p->arena)) {
        cst_problem_free(p);
        return out_of_memory(path, d);
    }
    if (build(p, path, nset, set, o, d)) return p;
    cst_problem_free(p);
    return NULL;
}

void cst_problem_free(cst_problem *p)
{
    if (!p) return;
    for (int k = 0; p->at && k < p->ncase; k++) cst_run_free(p->at[k].run);
    free_models(p);
    cst_arena a = p->arena;
    cst_arena_free(&a);
}

const cst_nlp *cst_problem_nlp(const cst_problem *p) { return &p->nlp; }
const char *cst_problem_variable(const cst_problem *p, int i)
{
    return p->design->variable.at[i].name;
}
const char *cst_problem_constraint(const cst_problem *p, int i) { return p->constraint[i]; }

cst_search_options cst_problem_search(const cst_problem *p)
{
    cst_search_options o = p->design->search;
    o.key = p->key;
    return o;
}
