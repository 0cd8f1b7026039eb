/* SPDX-License-Identifier: MIT
 *
 * Loading: collect all names, resolve everything, check what was derived. All errors of a file are
 * reported in one run. */
#include "base/file.h"
#include "model/dimensions.h"
#include "model/loader.h"

#include <assert.h>
#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- what build functions ask for ---- */

cst_model *cst_loader_model(cst_loader *L) { return L->m; }
cst_graph *cst_loader_graph(cst_loader *L) { return L->g; }
cst_arena *cst_loader_arena(cst_loader *L) { return L->arena; }

void cst_loader_error(cst_loader *L, cst_where w, const char *format, ...)
{
    char text[900];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    cst_error(L->d, CST_MODEL, w, "%s", text);
}

void cst_loader_warn(cst_loader *L, cst_where w, const char *format, ...)
{
    char text[900];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    cst_warn(L->d, w, "%s", text);
}

/* A search goes through all names: when a large model is wrong everywhere, the first messages are
 * enough. */
int cst_loader_searches(const cst_loader *L) { return L->d->errors < 200 ? L->entity.n : 0; }

double cst_loader_mirror(cst_loader *L, int axis)
{
    return L->building ? L->building->sign[axis] : 1;
}

/* Files are few and come in runs: the last one is asked first. */
cst_where cst_loader_place(cst_loader *L, cst_where w)
{
    if (!w.file) return w;
    for (int i = L->file_name.n - 1; i >= 0; i--)
        if (strcmp(L->file_name.at[i], w.file) == 0) {
            w.file = L->file_name.at[i];
            return w;
        }
    w.file = cst_arena_strdup(L->arena, w.file);
    *cst_push(L->scratch, &L->file_name) = w.file;
    return w;
}

/* ---- top level ---- */

static void read_gravity(cst_loader *L)
{
    const cst_yaml *node = cst_part_section(L->root, "gravity");
    cst_id g[3];
    cst_reader r = cst_reader_new(L, L->root, CST_READ_NUMBER, "gravity");
    r.unit = "m/s^2";
    L->m->gravity_written = node != NULL;
    if (!node || !cst_read_triple(&r, "gravity", node, g))
        for (int i = 0; i < 3; i++) g[i] = cst_num_const(L->g, i < 2 ? 0 : -9.81);
    L->m->gravity = cst_bind(L, 3, g);
}

static cst_yaml *yaml_copy(cst_loader *L, const cst_yaml *y)
{
    cst_yaml *c = cst_new(L->arena, cst_yaml, 1);
    c->kind = y->kind;
    c->quoted = y->quoted;
    c->text = cst_arena_strdup(L->arena, y->text ? y->text : "");
    c->where = cst_loader_place(L, y->where);
    c->n = y->n;
    if (y->n == 0) return c;
    c->child = cst_new(L->arena, cst_yaml *, y->n);
    for (int i = 0; i < y->n; i++) c->child[i] = yaml_copy(L, y->child[i]);
    if (y->kind != CST_YAML_MAPPING) return c;
    c->key = cst_new(L->arena, const char *, y->n);
    c->key_where = cst_new(L->arena, cst_where, y->n);
    for (int i = 0; i < y->n; i++) {
        c->key[i] = cst_arena_strdup(L->arena, y->key[i]);
        c->key_where[i] = cst_loader_place(L, y->key_where[i]);
    }
    return c;
}

static const cst_yaml *read_raw(cst_loader *L, const char *key)
{
    const cst_yaml *node = cst_part_section(L->root, key);
    if (!node || node->kind == CST_YAML_NULL) return NULL;
    if (node->kind == CST_YAML_MAPPING) return yaml_copy(L, node);
    cst_loader_error(L, node->where, "%s must be a mapping", key);
    return NULL;
}

static void read_name(cst_loader *L)
{
    const cst_yaml *node = cst_part_section(L->root, "name");
    L->m->name =
        cst_arena_strdup(L->arena, node && node->kind == CST_YAML_SCALAR ? node->text : "");
    if (node && node->kind != CST_YAML_SCALAR)
        cst_loader_error(L, node->where, "name must be a text");
}

/* ---- overrides ---- */

static void read_overrides(cst_loader *L, int nset, const char *const *set)
{
    cst_where w = {"--set", 0, 0};
    for (int i = 0; i < nset; i++) {
        const char *eq = strchr(set[i], '=');
        if (!eq || eq == set[i] || !eq[1]) {
            cst_loader_error(L, w, "'%.60s' is not NAME=VALUE", set[i]);
            continue;
        }
        cst_override *o = cst_push(L->scratch, &L->set);
        o->name = cst_arena_strndup(L->scratch, set[i], (size_t)(eq - set[i]));
        o->text = cst_arena_strdup(L->scratch, eq + 1);
        o->where = w;
        int old = cst_map_put(L->scratch, &L->set_names, o->name, L->set.n - 1);
        if (old >= 0) L->set.at[old].used = 1; /* the last one counts */
    }
}

/* The section `set` does the same in a file; --set and an including file go first. */
static void read_set_section(cst_loader *L)
{
    for (int k = 0; k < L->root->doc.n; k++) {
        const cst_yaml *node = cst_yaml_get(L->root->doc.at[k], "set");
        if (!node || node->kind == CST_YAML_NULL) continue;
        if (node->kind != CST_YAML_MAPPING) {
            cst_loader_error(L, node->where, "set must be {NAME: value, ..}");
            continue;
        }
        for (int i = 0; i < node->n; i++) {
            const cst_yaml *value = node->child[i];
            if (cst_map_get(&L->set_names, node->key[i]) >= 0) continue;
            if (value->kind != CST_YAML_SCALAR || !value->text[0]) {
                cst_loader_error(L, value->where, "'%s' must be a number or an expression",
                                 node->key[i]);
                continue;
            }
            cst_override *o = cst_push(L->scratch, &L->set);
            *o = (cst_override){.name = node->key[i], .text = value->text, .where = value->where};
            o->where.col += value->quoted;
            cst_map_put(L->scratch, &L->set_names, o->name, L->set.n - 1);
        }
    }
}

static void check_overrides(cst_loader *L)
{
    for (int i = 0; i < L->set.n; i++) {
        const cst_override *o = &L->set.at[i];
        if (o->used) continue;
        cst_nearest near = cst_nearest_begin(o->name);
        for (int k = 0; k < (cst_loader_searches(L) ? L->m->leaf.n : 0); k++)
            cst_nearest_try(&near, L->m->leaf.at[k].name);
        const char *best = cst_nearest_best(&near);
        cst_loader_error(L, o->where,
                         best ? "the model has no number '%.100s'; did you mean '%s'?"
                              : "the model has no number '%.100s'",
                         o->name, best);
    }
}

/* ---- checks of what was derived ---- */

static void check_numbers(cst_loader *L)
{
    for (int i = 0; i < L->check.n; i++) {
        const cst_check *c = &L->check.at[i];
        double value = cst_loader_value(L, c->id) / c->factor;
        if (!isfinite(value) || value < c->lo || value > c->hi)
            cst_range_error(L, c->where, c->what, c->lo, c->hi, c->unit, value);
    }
}

static double length(cst_loader *L, const cst_id v[3])
{
    return hypot(hypot(cst_loader_value(L, v[0]), cst_loader_value(L, v[1])),
                 cst_loader_value(L, v[2]));
}

static void check_axes(cst_loader *L)
{
    for (int i = 0; i < L->axis.n; i++) {
        const cst_axis_check *c = &L->axis.at[i];
        double a[3], b[3], size = length(L, c->a);
        if (!c->pair) {
            if (size == 0) cst_loader_error(L, c->where, "%s must not be zero", c->what);
            continue;
        }
        for (int k = 0; k < 3; k++)
            a[k] = cst_loader_value(L, c->a[k]), b[k] = cst_loader_value(L, c->b[k]);
        double x = a[1] * b[2] - a[2] * b[1], y = a[2] * b[0] - a[0] * b[2],
               z = a[0] * b[1] - a[1] * b[0];
        if (size > 0 && hypot(hypot(x, y), z) <= 1e-9 * size * length(L, c->b))
            cst_loader_error(L, c->where, "%s: the two axes must not be parallel", c->what);
    }
}

/* ---- what nothing reads ---- */

static int in_a_name(char c) { return isalnum((unsigned char)c) || c == '_'; }

/* 1: an expression has the name as a word: "k" in "2*k", and the measure "x" in "x.y" */
static int names(const char *text, const char *name)
{
    const size_t n = strlen(name);
    for (const char *at = text; (at = strstr(at, name)); at++) {
        const int begins = at == text || (!in_a_name(at[-1]) && at[-1] != '.');
        if (begins && !in_a_name(at[n])) return 1;
    }
    return 0;
}

static int names_below(const cst_yaml *node, const char *name)
{
    int yes = node->kind == CST_YAML_SCALAR && names(node->text, name);
    for (int i = 0; i < node->n && !yes; i++) {
        yes = node->kind == CST_YAML_MAPPING && names(node->key[i], name);
        yes |= names_below(node->child[i], name);
    }
    return yes;
}

/* 1: an expression of the sections design and identify reads the name. A variable that is only
 * listed there is not read. */
static int section_reads(const cst_yaml *node, const char *name)
{
    static const char *const expressions[] = {"minimize", "subject_to", "scale", "offset"};
    int yes = 0;
    for (int i = 0; node && i < node->n && !yes; i++) {
        const char *key = node->kind == CST_YAML_MAPPING ? node->key[i] : "";
        const cst_yaml *of = node->child[i];
        for (size_t k = 0; k < sizeof expressions / sizeof *expressions; k++)
            yes |= strcmp(key, expressions[k]) == 0 && names_below(of, name);
        for (int k = 0; strcmp(key, "channels") == 0 && of->kind == CST_YAML_MAPPING && k < of->n;
             k++)
            yes |= names(of->key[k], name);
        yes |= section_reads(of, name);
    }
    return yes;
}

/* A parameter that nothing reads is a mistake; an unused point, table or measure may be intended
 * and is only listed by `check`. Names that a part offers and the model does not use are not
 * reported. */
static void find_unused(cst_loader *L)
{
    for (int i = 0; i < L->entity.n; i++) {
        const cst_entity *e = L->entity.at[i];
        if (e->part != L->root || e->used) continue;
        if (section_reads(L->m->design, e->name) || section_reads(L->m->identify, e->name))
            continue;
        if (e->section == CST_SEC_PARAMETER)
            cst_loader_warn(L, e->where, "parameter '%s' is never used", e->name);
        if (e->section != CST_SEC_POINT && e->section != CST_SEC_MEASURE &&
            e->section != CST_SEC_TABLE && e->section != CST_SEC_ROAD)
            continue;
        cst_unused *u = cst_push(L->arena, &L->m->unused);
        *u = (cst_unused){cst_section_word[e->section], cst_arena_strdup(L->arena, e->name),
                          cst_loader_place(L, e->where)};
    }
}

/* Parameters that are expressions, for the section design. */
static void list_formulas(cst_loader *L)
{
    for (int i = 0; i < L->entity.n; i++) {
        const cst_entity *e = L->entity.at[i];
        if (e->section != CST_SEC_PARAMETER || e->value.n != 1) continue;
        if (cst_map_get(&L->m->leaf_names, e->name) >= 0) continue;
        *cst_push(L->arena, &L->m->formula) =
            (cst_formula){cst_arena_strdup(L->arena, e->name), e->value.at[0]};
    }
}

static void check_all(cst_loader *L)
{
    assert(L->m->leaf.n == cst_graph_leaves(L->g)); /* each leaf has its name and place */
    check_overrides(L);
    check_numbers(L);
    check_axes(L);
    if (L->d->errors) return;
    find_unused(L);
    list_formulas(L);
}

/* ---- loading ---- */

static void resolve_section(cst_loader *L, cst_section s)
{
    for (int i = 0; i < L->entity.n; i++)
        if (L->entity.at[i]->section == s) cst_entity_need(L, L->entity.at[i]);
}

/* What is read from a state: components, rates of integrals, functionals; remembered values;
 * objectives of functionals. Compiled here, because compiling walks the graph, and a loaded model
 * is shared by threads. */
static void compile_outputs(cst_loader *L)
{
    cst_model *m = L->m;
    int n = 0, most = m->component.n + m->quad.n + m->functional.n + m->memory.n + m->event.n +
                      m->kink.n + m->objective.n + m->held.n + m->norm.n;
    cst_id *out = cst_new(L->scratch, cst_id, most + 1);
    for (int i = 0; i < m->component.n; i++) out[n++] = m->component.at[i].value;
    for (int i = 0; i < m->quad.n; i++) {
        out[n++] = m->quad.at[i].rate;
        m->quads_read_reactions |= cst_num_depends(L->g, m->quad.at[i].rate, CST_CH_REACT, -1);
    }
    m->objectives_read_reactions = m->quads_read_reactions;
    for (int i = 0; i < m->functional.n; i++) {
        out[n++] = m->functional.at[i].value;
        m->objectives_read_reactions |=
            cst_num_depends(L->g, m->functional.at[i].value, CST_CH_REACT, -1);
    }
    for (int i = 0; i < m->held.n; i++) out[n++] = m->held.at[i].value;
    for (int i = 0; i < m->norm.n; i++) out[n++] = m->norm.at[i].size;
    m->objectives_read_reactions |= m->held.n > 0;
    m->output = cst_tape_new(L->arena, L->g, n, out);
    for (int i = 0; i < m->memory.n; i++) out[i] = m->memory.at[i].value;
    m->remember = cst_tape_new(L->arena, L->g, m->memory.n, out);
    for (int i = 0; i < m->event.n; i++) out[i] = m->event.at[i].value;
    for (int i = 0; i < m->kink.n; i++) out[m->event.n + i] = m->kink.at[i].value;
    m->events = cst_tape_new(L->arena, L->g, m->event.n + m->kink.n, out);
    for (int i = 0; i < m->objective.n; i++) out[i] = m->objective.at[i].value;
    m->judge = cst_tape_new(L->arena, L->g, m->objective.n, out);
}

static void build_model(cst_loader *L, const cst_yaml *doc)
{
    static const cst_section order[] = {CST_SEC_PARAMETER, CST_SEC_POINT,  CST_SEC_TABLE,
                                        CST_SEC_ROAD,      CST_SEC_BODY,   CST_SEC_JOINT,
                                        CST_SEC_FORCE,     CST_SEC_MEASURE};
    L->root->path = doc->where.file;
    if (!cst_sections_read(L, L->root, doc)) return;
    read_set_section(L);
    cst_parts_read(L, L->root);
    cst_parts_place(L);
    read_name(L);
    cst_simulation_read(L);
    read_gravity(L);
    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        resolve_section(L, order[i]);
        if (order[i] == CST_SEC_BODY && L->d->errors == 0)
            cst_bodies_check(L); /* errors in joints are reported in addition */
    }
    cst_initial_read(L);
    cst_objectives_read(L);
    cst_measures_sort(L);
    if (strcmp(L->m->sim.formulation, "joint") == 0 && !L->d->errors) cst_tree_build(L);
    L->m->design = read_raw(L, "design");
    L->m->identify = read_raw(L, "identify");
    check_all(L);
    if (!L->d->errors) compile_outputs(L);
    if (!L->d->errors) cst_units_settle(L->m, L->d);
}

typedef struct source {
    const char *file, *text, *below; /* below: a directory, NULL: any */
    size_t n;
    int nset;
    const char *const *set;
} source;

/* The model lies in its own arena. NULL: out of memory */
static cst_model *model_new(void)
{
    cst_arena a = {0};
    if (CST_ARENA_GUARD(&a)) return NULL; /* nothing was allocated */
    cst_model *m = cst_new(&a, cst_model, 1);
    a.guard = NULL;
    m->arena = a;
    return m;
}

static int limit_files(cst_loader *L, const char *below)
{
    char whole[CST_PATH_SIZE];
    if (!below) return 1;
    if (cst_file_real(below, whole)) {
        L->m->root = cst_arena_strdup(L->arena, whole);
        return 1;
    }
    cst_error(L->d, CST_IO, (cst_where){.file = below},
              "there is no such directory to limit reading to");
    return 0;
}

static void load(cst_model *m, const source *in, cst_diag *d)
{
    cst_arena *a = &m->arena;
    if (CST_ARENA_GUARD(a)) {
        cst_error(d, CST_MEMORY, (cst_where){in->file, 0, 0}, "out of memory");
        return;
    }
    cst_loader *L = cst_new(a, cst_loader, 1);
    L->arena = a;
    L->scratch = cst_arena_child(a);
    L->d = d;
    L->m = m;
    m->file = cst_arena_strdup(a, in->file);
    L->g = m->graph = cst_graph_new(a);
    L->root = cst_new(L->scratch, cst_part, 1);
    L->root->prefix = "";
    for (int i = 0; i < 3; i++) L->root->sign[i] = 1;
    L->root->det = 1;
    L->building = L->root;
    const cst_yaml *doc = NULL;
    if (limit_files(L, in->below))
        doc = in->text ? cst_yaml_parse(L->scratch, in->file, in->text, in->n, d)
                       : cst_yaml_read(L->scratch, in->file, m->root, d);
    if (doc && doc->kind == CST_YAML_MAPPING) {
        read_overrides(L, in->nset, in->set);
        build_model(L, doc);
        cst_loader_hash_file(L, doc);
        for (int i = 0; i < L->file.n; i++) cst_loader_hash_file(L, L->file.at[i]);
    } else if (doc) {
        cst_loader_error(L, doc->where,
                         "a model file is a mapping of sections that starts with 'costate: 1'");
    } else if (d->errors == 0) {
        cst_loader_error(L, (cst_where){in->file, 0, 0}, "the file could not be read");
    }
    cst_arena_free(L->scratch);
}

/* The result depends on the errors of this call only. */
static cst_model *load_owned(const source *in, cst_diag *diag)
{
    cst_diag own = {0}, *d = diag ? diag : &own;
    int before = d->errors;
    d->errors = 0;
    cst_model *m = model_new();
    if (m)
        load(m, in, d);
    else
        cst_error(d, CST_MEMORY, (cst_where){in->file, 0, 0}, "out of memory");
    int failed = d->errors > 0;
    d->errors += before;
    if (m) m->arena.guard = NULL;
    if (!failed) return m;
    cst_model_free(m);
    return NULL;
}

cst_model *cst_model_load(const char *path, int nset, const char *const *set, cst_diag *d)
{
    return load_owned(&(source){.file = path, .nset = nset, .set = set}, d);
}

cst_model *cst_model_load_below(const char *below, const char *path, int nset,
                                const char *const *set, cst_diag *d)
{
    return load_owned(&(source){.file = path, .below = below, .nset = nset, .set = set}, d);
}

cst_model *cst_model_parse(const char *file_name, const char *text, size_t n, int nset,
                           const char *const *set, cst_diag *d)
{
    return load_owned(&(source){.file = file_name, .text = text, .n = n, .nset = nset, .set = set},
                      d);
}

void cst_model_free(cst_model *m)
{
    if (!m) return;
    cst_arena a = m->arena; /* the model itself lies in it */
    cst_arena_free(&a);
}
