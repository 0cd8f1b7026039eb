/* SPDX-License-Identifier: MIT
 *
 * The fields of a type: what is written, or the default, becomes the arguments of its build
 * function. */
#include "model/loader.h"

#include <math.h>
#include <string.h>

/* One field: the reader has its unit, range and scope; `name` is ELEMENT.FIELD. 0: reported. */
typedef int read_field(cst_reader *r, const cst_field *f, const char *name, const cst_yaml *node,
                       cst_arg *arg);

/* Ranges of the table are in SI, what is written may have another unit. */
static int read_number(cst_reader *r, const cst_field *f, const char *name, const cst_yaml *node,
                       cst_arg *arg)
{
    r->lo = -INFINITY, r->hi = INFINITY;
    const cst_yaml *text = cst_settings_read(r->L, r, node, "value", node->where);
    if (!text) return 0;
    r->lo = fmax(r->lo, f->lo / r->factor);
    r->hi = fmin(r->hi, f->hi / r->factor);
    arg->num = cst_read_scalar(r, name, text);
    return arg->num != CST_NONE;
}

static int read_timed(cst_reader *r, const cst_field *f, const char *name, const cst_yaml *node,
                      cst_arg *arg)
{
    r->mode = f->kind == CST_F_LAW || f->kind == CST_F_ROAD ? CST_READ_LAW
              : f->kind == CST_F_TIME                       ? CST_READ_TIME
                                                            : CST_READ_TIMED;
    arg->num = cst_read_scalar(r, name, node);
    if (arg->num == CST_NONE) return 0;
    if (!cst_num_timed(r->L->g, arg->num)) cst_check_add(r, arg->num, node->where);
    return 1;
}

static int read_vector(cst_reader *r, const cst_field *f, const char *name, const cst_yaml *node,
                       cst_arg *arg)
{
    cst_id v[3];
    if (!cst_read_triple(r, name, node, v)) return 0;
    cst_part_turn(r->L, r->part, f->kind == CST_F_AXIAL, v, arg->vec);
    return 1;
}

/* Expressions speak of ground axes, as the measures in them do: they are not mirrored. */
static int read_expressions(cst_reader *r, const cst_field *f, const char *name,
                            const cst_yaml *node, cst_arg *arg)
{
    (void)f;
    r->mode = CST_READ_TIMED;
    return cst_read_triple(r, name, node, arg->vec);
}

static int read_point(cst_reader *r, const cst_field *f, const char *name, const cst_yaml *node,
                      cst_arg *arg)
{
    (void)f;
    return cst_point_field(r, name, node, arg);
}

static int read_centre(cst_reader *r, const cst_field *f, const char *name, const cst_yaml *node,
                       cst_arg *arg)
{
    int word = node->kind == CST_YAML_SCALAR;
    if (word && strcmp(node->text, "com") == 0)
        arg->choice = CST_ABOUT_COM;
    else if (word && strcmp(node->text, "origin") == 0)
        arg->choice = CST_ABOUT_ORIGIN;
    else {
        arg->choice = CST_ABOUT_POINT;
        r->centre = 1;
        return read_point(r, f, name, node, arg);
    }
    return 1;
}

static int read_axis(cst_reader *r, const cst_field *f, const char *name, const cst_yaml *node,
                     cst_arg *arg)
{
    (void)f;
    cst_id v[3];
    if (!cst_axis_field(r, name, node, v, arg)) return 0;
    cst_part_turn(r->L, r->part, 0, v, arg->vec);
    return 1;
}

static int read_frame(cst_reader *r, const cst_field *f, const char *name, const cst_yaml *node,
                      cst_arg *arg)
{
    (void)f;
    return cst_frame_field(r, name, node, arg->frame);
}

static int read_body(cst_reader *r, const cst_field *f, const char *name, const cst_yaml *node,
                     cst_arg *arg)
{
    (void)f, (void)name;
    return cst_body_find(r->L, r->part, node, &arg->body[0]);
}

static int read_bodies(cst_reader *r, const cst_field *f, const char *name, const cst_yaml *node,
                       cst_arg *arg)
{
    (void)f, (void)name;
    if (node->kind != CST_YAML_SEQUENCE || node->n != 2) {
        cst_loader_error(r->L, node->where, "%s must be [first body, second body]", r->what);
        return 0;
    }
    int a = cst_body_find(r->L, r->part, node->child[0], &arg->body[0]);
    int b = cst_body_find(r->L, r->part, node->child[1], &arg->body[1]);
    return a && b;
}

/* `unit` lists the words: "a|b|c" */
static int read_choice(cst_reader *r, const cst_field *f, const char *name, const cst_yaml *node,
                       cst_arg *arg)
{
    (void)name;
    size_t len = strlen(node->text);
    int k = 0;
    for (const char *word = f->unit; word && node->kind == CST_YAML_SCALAR; k++) {
        const char *bar = strchr(word, '|');
        size_t n = bar ? (size_t)(bar - word) : strlen(word);
        if (n == len && strncmp(word, node->text, n) == 0) {
            arg->choice = k;
            return 1;
        }
        word = bar ? bar + 1 : NULL;
    }
    cst_loader_error(r->L, node->where, "%s must be one of %s, not '%.40s'", r->what, f->unit,
                     node->text);
    return 0;
}

static int read_flag(cst_reader *r, const cst_field *f, const char *name, const cst_yaml *node,
                     cst_arg *arg)
{
    (void)f, (void)name;
    arg->choice = strcmp(node->text, "true") == 0;
    if (arg->choice || strcmp(node->text, "false") == 0) return 1;
    cst_loader_error(r->L, node->where, "%s must be true or false, not '%.40s'", r->what,
                     node->text);
    return 0;
}

static int read_text(cst_reader *r, const cst_field *f, const char *name, const cst_yaml *node,
                     cst_arg *arg)
{
    (void)f, (void)name;
    arg->text = cst_arena_strdup(r->L->arena, node->text);
    if (node->kind == CST_YAML_SCALAR) return 1;
    cst_loader_error(r->L, node->where, "%s must be a text", r->what);
    return 0;
}

static int read_numbers(cst_reader *r, const cst_field *f, const char *name, const cst_yaml *node,
                        cst_arg *arg)
{
    (void)f;
    if (node->kind != CST_YAML_SEQUENCE) {
        arg->nlist = 1;
        arg->list[0] = cst_read_scalar(r, name, node);
        return arg->list[0] != CST_NONE;
    }
    int ok = node->n >= 1 && node->n <= 16;
    if (!ok)
        cst_loader_error(r->L, node->where, "%s must have 1 to 16 numbers, not %d", r->what,
                         node->n);
    arg->nlist = ok ? node->n : 0;
    for (int i = 0; i < arg->nlist; i++) {
        arg->list[i] = cst_read_scalar(r, cst_arena_printf(r->L->scratch, "%s[%d]", name, i + 1),
                                       node->child[i]);
        ok &= arg->list[i] != CST_NONE;
    }
    return ok;
}

/* The name of a joint or a force; the type decides what it may be. */
static int read_element(cst_reader *r, const cst_field *f, const char *name, const cst_yaml *node,
                        cst_arg *arg)
{
    (void)f, (void)name;
    cst_loader *L = r->L;
    cst_entity *e = cst_entity_find(L, r->part, CST_SEC_JOINT, node->text);
    if (!e) e = cst_entity_find(L, r->part, CST_SEC_FORCE, node->text);
    if (e) {
        arg->text = cst_arena_strdup(L->arena, e->name);
        return e->state != CST_FAILED;
    }
    cst_nearest near = cst_nearest_begin(node->text);
    for (int i = 0; i < cst_loader_searches(L); i++)
        if (L->entity.at[i]->section >= CST_SEC_JOINT)
            cst_nearest_try(&near, L->entity.at[i]->name);
    char hint[400];
    cst_loader_error(L, node->where, "unknown joint or force '%.100s'%s", node->text,
                     cst_nearest_hint(&near, hint, sizeof hint));
    return 0;
}

static int read_count(cst_reader *r, const cst_field *f, const char *name, const cst_yaml *node,
                      cst_arg *arg)
{
    (void)name;
    double n = 0;
    if (!cst_read_constant(r->L, r->what, node, &n)) return 0;
    arg->choice = (int)fmin(fmax(n, f->lo), f->hi);
    if (arg->choice == n) return 1;
    cst_loader_error(r->L, node->where, "%s must be a whole number from %g to %g, not %g", r->what,
                     f->lo, f->hi, n);
    return 0;
}

static int read_coordinate(cst_reader *r, const cst_field *f, const char *name,
                           const cst_yaml *node, cst_arg *arg)
{
    cst_loader *L = r->L;
    if (node->kind == CST_YAML_SCALAR) {
        cst_entity *e = cst_entity_find(L, r->part, CST_SEC_JOINT, node->text);
        if (e) {
            arg->text = cst_arena_strdup(L->arena, e->name);
            return e->state != CST_FAILED;
        }
        e = cst_entity_find(L, r->part, CST_SEC_BODY, node->text);
        if (e) return cst_body_find(L, r->part, node, &arg->body[0]);
    }
    return read_timed(r, f, name, node, arg);
}

static int read_road(cst_reader *r, const cst_field *f, const char *name, const cst_yaml *node,
                     cst_arg *arg)
{
    cst_loader *L = r->L;
    cst_entity *e = node->kind == CST_YAML_SCALAR
                        ? cst_entity_find(L, r->part, CST_SEC_ROAD, node->text)
                        : NULL;
    if (e) {
        e->used = 1;
        if (!cst_entity_need(L, e)) return 0;
        arg->num = L->road.at[e->index];
        return 1;
    }
    return read_timed(r, f, name, node, arg) && cst_road_fits(L, node->where, arg->num);
}

static int read_node(cst_reader *r, const cst_field *f, const char *name, const cst_yaml *node,
                     cst_arg *arg)
{
    (void)r, (void)f, (void)name;
    arg->node = node;
    return 1;
}

static read_field *const readers[] = {
    [CST_F_NUMBER] = read_number,
    [CST_F_VECTOR] = read_vector,
    [CST_F_AXIAL] = read_vector,
    [CST_F_POINT] = read_point,
    [CST_F_BODY] = read_body,
    [CST_F_BODIES] = read_bodies,
    [CST_F_AXIS] = read_axis,
    [CST_F_FRAME] = read_frame,
    [CST_F_LAW] = read_timed,
    [CST_F_EXPR] = read_timed,
    [CST_F_EXPR3] = read_expressions,
    [CST_F_TIME] = read_timed,
    [CST_F_CHOICE] = read_choice,
    [CST_F_FLAG] = read_flag,
    [CST_F_TEXT] = read_text,
    [CST_F_CENTRE] = read_centre,
    [CST_F_NUMBERS] = read_numbers,
    [CST_F_ELEMENT] = read_element,
    [CST_F_COUNT] = read_count,
    [CST_F_NODE] = read_node,
    [CST_F_COORDINATE] = read_coordinate,
    [CST_F_ROAD] = read_road,
};

static cst_arg arg_empty(cst_where w)
{
    cst_arg a = {.where = w, .num = CST_NONE, .body = {CST_UNSET, CST_UNSET}};
    for (int i = 0; i < 3; i++) a.vec[i] = a.local_at[i] = CST_NONE;
    for (int i = 0; i < 9; i++) a.frame[i] = CST_NONE;
    for (int i = 0; i < 12; i++) a.list[i] = CST_NONE;
    return a;
}

static int read_one(cst_loader *L, cst_entity *e, const cst_field *f, const cst_yaml *node,
                    int dflt, cst_arg *arg)
{
    if (node->kind == CST_YAML_NULL) {
        cst_loader_error(L, node->where, "%s is empty", f->name);
        return 0;
    }
    cst_reader r = cst_reader_new(L, e->part, CST_READ_NUMBER, f->name);
    r.unit = f->unit;
    r.lo = f->lo;
    r.hi = f->hi;
    r.constant = dflt;
    char name[512];
    size_t n = strlen(e->name), m = strlen(f->name);
    if (n + m + 2 > sizeof name) return 0;
    memcpy(name, e->name, n);
    name[n] = '.';
    memcpy(name + n + 1, f->name, m + 1);
    return readers[f->kind](&r, f, name, node, arg);
}

/* Records defaults that enter the model but are not numbers of the file. 0 never counts, nor does 1
 * in a field whose unit depends on the context: it is taken as a pure number. */
static void note_default(cst_loader *L, const cst_entity *e, const cst_field *f, const cst_arg *arg)
{
    int n = f->kind == CST_F_NUMBER ? 1 : f->kind == CST_F_NUMBERS ? arg->nlist : 0, counts = 0;
    for (int i = 0; i < n; i++) {
        double x = cst_loader_value(L, f->kind == CST_F_NUMBER ? arg->num : arg->list[i]);
        counts |= x != 0 && (x != 1 || f->unit);
    }
    if (counts)
        *cst_push(L->arena, &L->m->dflt) =
            (cst_default){cst_arena_printf(L->arena, "%s.%s", e->name, f->name), f->unit};
}

static int check_keys(cst_loader *L, cst_entity *e, const cst_type_info *info)
{
    int ok = 1;
    for (int i = 0; i < e->node->n; i++) {
        const char *key = e->node->key[i];
        if (cst_map_get(&info->names, key) >= 0 || strcmp(key, "type") == 0 ||
            strcmp(key, "doc") == 0 ||
            (e->section == CST_SEC_MEASURE && strcmp(key, "unit") == 0) ||
            (e->section == CST_SEC_BODY && strcmp(key, "points") == 0))
            continue;
        const char *words[CST_MAX_FIELDS + 4];
        int n = 0;
        for (; n < info->nfield; n++) words[n] = info->type->field[n].name;
        words[n++] = "type";
        if (e->section == CST_SEC_BODY) words[n++] = "points";
        if (e->section == CST_SEC_MEASURE) words[n++] = "unit";
        words[n] = NULL;
        const char *owner = cst_arena_printf(L->scratch, "%s %s", cst_article(info->type->keyword),
                                             info->type->keyword);
        ok &= cst_key_known(L, "field", owner, key, e->node->key_where[i], words);
    }
    return ok;
}

int cst_fields_read(cst_loader *L, cst_entity *e, const cst_type_info *info, cst_arg *arg)
{
    int known = check_keys(L, e, info), ok = known;
    for (int i = 0; i < info->nfield; i++) {
        const cst_field *f = &info->type->field[i];
        const cst_yaml *node = cst_yaml_get(e->node, f->name);
        arg[i] = arg_empty(node ? node->where : e->where);
        if (node) {
            arg[i].given = 1;
            ok &= read_one(L, e, f, node, 0, &arg[i]);
        } else if (!f->dflt) {
            if (known) /* else a misspelt field is the likely reason */
                cst_loader_error(L, e->where, "%s '%s' needs the field '%s'",
                                 cst_section_word[e->section], e->name, f->name);
            ok = 0;
        } else if (info->dflt[i]) {
            int read = read_one(L, e, f, info->dflt[i], 1, &arg[i]);
            if (read) note_default(L, e, f, &arg[i]);
            ok &= read;
        }
    }
    return ok;
}
