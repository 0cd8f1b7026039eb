/* SPDX-License-Identifier: MIT
 *
 * What belongs to the run: initial conditions, objectives. */
#include "model/loader.h"

#include <math.h>
#include <string.h>

/* ---- initial conditions ---- */

/* A plain number or, failing that, an expression of quantities that are known at that point */
static cst_id read_rate_value(cst_loader *L, cst_part *part, const char *key, const char *name,
                              const cst_yaml *node)
{
    cst_reader r = cst_reader_new(L, part, CST_READ_NUMBER, key);
    cst_diag *d = L->d;
    L->d = cst_new(L->scratch, cst_diag, 1);
    cst_id value = cst_read_scalar(&r, name, node);
    if (value != CST_NONE)
        cst_diag_append(d, L->d); /* what is wrong with values that are set for its literals */
    L->d = d;
    if (value != CST_NONE) return value;
    r = cst_reader_new(L, part, CST_READ_TIMED, key);
    return cst_read_scalar(&r, name, node);
}

/* Forces, reactions and states come after the start's positions and rates. */
static int known_at_start(cst_loader *L, cst_where w, const char *name, cst_id value)
{
    const char *later = cst_reads_beyond(L, value);
    if (!later && cst_num_depends(L->g, value, CST_CH_Z, -1)) later = "states of blocks";
    if (later)
        cst_loader_error(
            L, w,
            "%s: depends on %s, which are not known when the initial state is computed: positions "
            "and numbers may be read, and under velocities their rates",
            name, later);
    return !later;
}

/* phi = expr - value, in the assembly or among the rates; a position prescribed under velocities
 * means its rate. Positions are known when the rates are looked for: the value of a rate may be
 * made of them. */
static void read_prescribed(cst_loader *L, cst_part *part, int rates, const char *key, cst_where w,
                            const cst_yaml *node)
{
    const char *name = cst_arena_printf(L->scratch, "%sinitial.%s.%s", part->prefix,
                                        rates ? "velocities" : "positions", key);
    cst_reader r = cst_reader_new(L, part, CST_READ_TIMED, key),
               v = cst_reader_new(L, part, CST_READ_NUMBER, key);
    cst_yaml text = {.kind = CST_YAML_SCALAR, .text = key, .where = w};
    r.constant = 1; /* its literals say what is prescribed */
    cst_id expr = cst_read_scalar(&r, name, &text);
    cst_id value =
        rates ? read_rate_value(L, part, key, name, node) : cst_read_scalar(&v, name, node);
    if (expr == CST_NONE || value == CST_NONE) return;
    if (!known_at_start(L, w, name, expr) || !known_at_start(L, node->where, name, value)) return;
    if (cst_num_depends(L->g, value, CST_CH_X, 1)) {
        cst_loader_error(L, node->where,
                         "the value of '%s' is made of velocities: write them on its left", key);
        return;
    }
    if (rates && !cst_num_depends(L->g, expr, CST_CH_X, 1)) {
        expr = cst_num_rate(L->g, expr);
        if (expr == CST_NONE) {
            cst_loader_error(L, w, "'%s' is made of neither positions nor velocities", key);
            return;
        }
    }
    if (!rates && cst_num_depends(L->g, expr, CST_CH_X, 1)) {
        cst_loader_error(L, w, "'%s' is made of velocities: it belongs under velocities", key);
        return;
    }
    L->where = w;
    int joint = cst_joint_begin(L, name, "initial", w, CST_GROUND, CST_GROUND);
    cst_add_coordinate(L, joint, L->m->joint.at[joint].name, cst_num_sub(L->g, expr, value),
                       rates ? CST_ROW_RATE : CST_ROW_ASSEMBLY);
    cst_joint_end(L, joint);
}

/* ---- static equilibrium ---- */

static int read_flag(cst_loader *L, const cst_yaml *node, const char *name, int dflt)
{
    if (!node) return dflt;
    if (node->kind == CST_YAML_SCALAR && strcmp(node->text, "true") == 0) return 1;
    if (node->kind == CST_YAML_SCALAR && strcmp(node->text, "false") == 0) return 0;
    cst_loader_error(L, node->where, "%s must be true or false", name);
    return dflt;
}

/* phi = expr; the run subtracts its value at the assembled position */
static void read_held(cst_loader *L, cst_part *part, const cst_yaml *node)
{
    const char *what = node->kind == CST_YAML_SCALAR ? node->text : "";
    const char *name = cst_arena_printf(L->scratch, "%sinitial.equilibrium.%s", part->prefix, what);
    cst_reader r = cst_reader_new(L, part, CST_READ_TIMED, "what is held");
    r.constant = 1;
    cst_id expr = cst_read_scalar(&r, name, node);
    if (expr == CST_NONE || !known_at_start(L, node->where, name, expr)) return;
    if (cst_num_depends(L->g, expr, CST_CH_X, 1)) {
        cst_loader_error(L, node->where, "'%s' is made of velocities: only positions can be held",
                         what);
        return;
    }
    L->where = node->where;
    int joint = cst_joint_begin(L, name, "initial", node->where, CST_GROUND, CST_GROUND);
    cst_add_coordinate(L, joint, L->m->joint.at[joint].name, expr, CST_ROW_STATICS);
    cst_joint_end(L, joint);
}

/* takes: 1 to let the forces of this name take part, 0 to leave them out */
static void choose_force(cst_loader *L, cst_part *part, const cst_yaml *node, int takes)
{
    if (node->kind != CST_YAML_SCALAR || !node->text[0]) {
        cst_loader_error(L, node->where, "the name of a force is expected");
        return;
    }
    cst_part *building = L->building;
    L->building = part;
    int i = cst_loader_force(L, node->text, node->where);
    L->building = building;
    if (i < 0) return;
    const char *name = L->m->force.at[i].name; /* an element may be made of several forces */
    for (i = 0; i < L->m->force.n; i++)
        if (strcmp(L->m->force.at[i].name, name) == 0) L->m->force.at[i].statics = takes;
}

static void each_of(cst_loader *L, cst_part *part, const cst_yaml *list, const char *key,
                    void (*read)(cst_loader *, cst_part *, const cst_yaml *))
{
    if (!list || list->kind == CST_YAML_NULL) return;
    if (list->kind != CST_YAML_SEQUENCE)
        cst_loader_error(L, list->where, "%s must be a list [a, b, ..]", key);
    else
        for (int i = 0; i < list->n; i++) read(L, part, list->child[i]);
}

static void take_in(cst_loader *L, cst_part *part, const cst_yaml *node)
{
    choose_force(L, part, node, 1);
}
static void leave_out(cst_loader *L, cst_part *part, const cst_yaml *node)
{
    choose_force(L, part, node, 0);
}

static void read_equilibrium(cst_loader *L, cst_part *part, const cst_yaml *node)
{
    static const char *const keys[] = {"hold", "forces", "without", "gravity", NULL};
    cst_equilibrium *e = &L->m->statics;
    if (!node || node->kind == CST_YAML_NULL) return;
    if (node->kind != CST_YAML_MAPPING) {
        if (!read_flag(L, node, "equilibrium", 0)) return;
    } else {
        cst_keys_check(L, node, "key", "equilibrium", keys);
        const cst_yaml *forces = cst_yaml_get(node, "forces"),
                       *without = cst_yaml_get(node, "without");
        if (forces && without)
            cst_loader_error(L, without->where,
                             "equilibrium has either forces or without, not both");
        each_of(L, part, cst_yaml_get(node, "hold"), "hold", read_held);
        for (int i = 0; i < L->m->force.n && forces && !e->chosen;
             i++) { /* states of measures are no forces, beams are bodies */
            cst_force *f = &L->m->force.at[i];
            f->statics = strcmp(f->type, "state") == 0 || strcmp(f->type, "beam") == 0;
        }
        e->chosen |= forces != NULL;
        each_of(L, part, forces, "forces", take_in);
        each_of(L, part, without, "without", leave_out);
        e->weightless |= !read_flag(L, cst_yaml_get(node, "gravity"), "gravity", 1);
    }
    if (!e->wanted) e->where = cst_loader_place(L, node->where);
    e->wanted = 1;
}

static void read_initial(cst_loader *L, cst_part *part, const cst_yaml *node)
{
    static const char *const keys[] = {"positions", "velocities", "equilibrium", NULL};
    if (!node || node->kind == CST_YAML_NULL) return;
    if (node->kind != CST_YAML_MAPPING) {
        cst_loader_error(L, node->where,
                         "initial must be {positions: {..}, velocities: {..}, equilibrium: ..}");
        return;
    }
    cst_keys_check(L, node, "key", "initial", keys);
    if (!L->m->initial_where.line) L->m->initial_where = cst_loader_place(L, node->where);
    for (int rates = 0; rates < 2; rates++) {
        const cst_yaml *map = cst_yaml_get(node, keys[rates]);
        if (!map || map->kind == CST_YAML_NULL) continue;
        if (map->kind != CST_YAML_MAPPING) {
            cst_loader_error(L, map->where, "%s must be {expression: value, ..}", keys[rates]);
            continue;
        }
        for (int i = 0; i < map->n; i++)
            read_prescribed(L, part, rates, map->key[i], map->key_where[i], map->child[i]);
    }
    read_equilibrium(L, part, cst_yaml_get(node, "equilibrium"));
}

static void in_all_documents(cst_loader *L, const char *key,
                             void (*read)(cst_loader *, cst_part *, const cst_yaml *))
{
    for (int p = -1; p < L->part.n; p++) {
        cst_part *part = p < 0 ? L->root : L->part.at[p];
        for (int d = 0; d < part->doc.n; d++) read(L, part, cst_yaml_get(part->doc.at[d], key));
    }
}

void cst_initial_read(cst_loader *L) { in_all_documents(L, "initial", read_initial); }

/* ---- objectives ---- */

/* Only results of the run and numbers are left outside integral(), peak(), end(), ... */
static int is_result(cst_loader *L, cst_id value)
{
    cst_arena *scratch = cst_arena_child(L->scratch);
    const cst_tape *t = cst_tape_new(scratch, L->g, 1, &value);
    int ok = 1;
    for (int i = 0; i < t->nchannel; i++) ok &= t->channel[i].kind == CST_CH_RESULT;
    cst_arena_free(scratch);
    return ok;
}

static void read_objective(cst_loader *L, cst_part *part, const char *key, cst_where w,
                           const cst_yaml *node)
{
    cst_reader r = cst_reader_new(L, part, CST_READ_OBJECTIVE, key);
    const char *name = cst_arena_printf(L->arena, "%s%s", part->prefix, key);
    cst_label label = {0};
    const cst_yaml *text = cst_labelled_read(L, node, key, w, &label);
    if (!text) return;
    for (int i = 0; i < L->m->objective.n; i++)
        if (strcmp(L->m->objective.at[i].name, name) == 0) {
            cst_loader_error(L, w, "objective '%s' is defined twice", name);
            return;
        }
    if (!cst_name_free(L, CST_SEC_PARAMETER, CST_SEC_POINT, name, w))
        return; /* `set` and design would mean either */
    cst_id value = cst_read_scalar(&r, name, text);
    if (value == CST_NONE) return;
    if (!is_result(L, value)) {
        cst_loader_error(L, text->where,
                         "objective '%s' changes during the run: use end(x), integral(x) or "
                         "peak(x) of what moves",
                         name);
        return;
    }
    *cst_push(L->arena, &L->m->objective) = (cst_objective){.name = name,
                                                            .where = cst_loader_place(L, w),
                                                            .value = value,
                                                            .label = label};
}

static void read_objectives(cst_loader *L, cst_part *part, const cst_yaml *node)
{
    if (!node || node->kind == CST_YAML_NULL) return;
    if (node->kind != CST_YAML_MAPPING) {
        cst_loader_error(L, node->where, "objectives must be a mapping of names");
        return;
    }
    for (int i = 0; i < node->n; i++)
        read_objective(L, part, node->key[i], node->key_where[i], node->child[i]);
}

void cst_objectives_read(cst_loader *L) { in_all_documents(L, "objectives", read_objectives); }
