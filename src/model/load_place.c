/* SPDX-License-Identifier: MIT
 *
 * Fields that say where something is: bodies, points, axes, frames. */
#include "model/geometry.h"
#include "model/loader.h"

#include <math.h>
#include <string.h>

/* ---- bodies ---- */

/* Own points of a body, for the nearest name: */
static void offer_own(cst_nearest *near, const cst_yaml *points)
{
    for (int i = 0; points && points->kind == CST_YAML_MAPPING && i < points->n; i++)
        cst_nearest_try(near, points->key[i]);
    cst_nearest_try(near, "com"), cst_nearest_try(near, "origin");
}

/* own: a point of a body, which has `points` and also `com` and `origin` */
static void unknown(cst_loader *L, const cst_part *scope, cst_section s, int own,
                    const cst_yaml *points, const char *name, cst_where w)
{
    cst_nearest near = cst_nearest_begin(name);
    if (own) offer_own(&near, points);
    for (int i = 0; i < cst_loader_searches(L); i++) {
        const cst_entity *e = L->entity.at[i];
        if (e->section != s) continue;
        cst_nearest_try(&near, e->name);
        if (e->part == scope) cst_nearest_try(&near, e->local);
    }
    if (s == CST_SEC_BODY) cst_nearest_try(&near, "ground");
    char hint[400];
    cst_loader_error(L, w, "unknown %s '%.100s'%s", cst_section_word[s], name,
                     cst_nearest_hint(&near, hint, sizeof hint));
}

/* 1: *body is set; 0: failed, which has been reported; -1: there is none of that name */
static int body_named(cst_loader *L, const cst_part *scope, const char *name, int *body,
                      cst_entity **entity)
{
    *entity = NULL;
    *body = CST_GROUND;
    if (strcmp(name, "ground") == 0) return 1;
    *entity = cst_entity_find(L, scope, CST_SEC_BODY, name);
    if (!*entity) return -1;
    if (!cst_entity_need(L, *entity)) return 0;
    *body = (*entity)->index;
    return 1;
}

int cst_body_find(cst_loader *L, cst_part *scope, const cst_yaml *name, int *body)
{
    cst_entity *e;
    if (name->kind != CST_YAML_SCALAR || !name->text[0]) {
        cst_loader_error(L, name->where, "must be the name of a body");
        return 0;
    }
    int found = body_named(L, scope, name->text, body, &e);
    if (found < 0) unknown(L, scope, CST_SEC_BODY, 0, NULL, name->text, name->where);
    return found == 1;
}

/* ---- points ---- */

/* P = r + x e1 + y e2 + z e3 */
static void drawn_at(cst_loader *L, int body, const cst_id l[3], cst_id P[3])
{
    if (body == CST_GROUND) {
        memcpy(P, l, 3 * sizeof *P);
        return;
    }
    const cst_body *b = &L->m->body.at[body];
    for (int i = 0; i < 3; i++) {
        P[i] = b->frame[i];
        for (int k = 0; k < 3 && b->frame[3] != CST_NONE; k++)
            P[i] = cst_num_add(L->g, P[i], cst_num_mul(L->g, b->frame[3 + 3 * k + i], l[k]));
    }
}

static int local_place(cst_loader *L, cst_arg *arg, int body, const cst_id l[3])
{
    arg->body[0] = body;
    arg->local = 1;
    memcpy(arg->local_at, l, sizeof arg->local_at);
    memcpy(arg->vec, l, sizeof arg->vec);
    if (body != CST_UNSET) drawn_at(L, body, l, arg->vec);
    return 1;
}

static int hardpoint(cst_loader *L, cst_entity *e, cst_arg *arg)
{
    e->used = 1;
    if (!cst_entity_need(L, e)) return 0;
    memcpy(arg->vec, e->world, sizeof arg->vec);
    return 1;
}

/* Every rigid body has the points `origin` and `com`. */
static int own_point(cst_loader *L, int body, const char *name, cst_arg *arg)
{
    const cst_body *b = &L->m->body.at[body];
    cst_id zero = cst_num_const(L->g, 0), origin[3] = {zero, zero, zero};
    int point = b->cls == &cst_body_point;
    if (b->cls == &cst_body_scalar || b->beam ||
        (strcmp(name, "com") != 0 && strcmp(name, "origin") != 0))
        return 0;
    arg->body[0] = body;
    if (!point) return local_place(L, arg, body, name[0] == 'c' ? b->com : origin);
    memcpy(arg->vec, b->frame, sizeof arg->vec);
    return 1;
}

/* body.P: a point of the body's own, or a hardpoint seen from the body's part or from here */
static int point_of_body(cst_reader *r, const char *text, const char *dot, cst_where w,
                         cst_arg *arg)
{
    cst_loader *L = r->L;
    const char *head = cst_arena_strndup(L->scratch, text, (size_t)(dot - text));
    cst_entity *body, *point;
    int found = body_named(L, r->part, head, &arg->body[0], &body);
    if (found <= 0) {
        if (found < 0) unknown(L, r->part, CST_SEC_BODY, 0, NULL, head, w);
        return 0;
    }
    if (body) {
        int k = cst_map_get(&L->local, cst_arena_printf(L->scratch, "%s.%s", body->name, dot + 1));
        if (k >= 0)
            return L->local_point.at[k].n == 3 &&
                   local_place(L, arg, body->index, L->local_point.at[k].at);
    }
    point = cst_entity_find(L, body ? body->part : r->part, CST_SEC_POINT, dot + 1);
    if (!point) point = cst_entity_find(L, r->part, CST_SEC_POINT, dot + 1);
    if (point) return hardpoint(L, point, arg);
    if (body && own_point(L, body->index, dot + 1, arg)) return 1;
    if (body && L->m->body.at[body->index].beam) {
        cst_loader_error(L, w, "'%s' is a beam: its points are the hardpoints that are drawn on it",
                         body->name);
        return 0;
    }
    w.col += (int)(dot + 1 - text);
    unknown(L, r->part, CST_SEC_POINT, body != NULL,
            body ? cst_yaml_get(body->node, "points") : NULL, dot + 1, w);
    return 0;
}

static int named_point(cst_reader *r, const char *text, cst_where w, cst_arg *arg)
{
    cst_loader *L = r->L;
    cst_entity *e = cst_entity_find(L, r->part, CST_SEC_POINT, text);
    if (e) return hardpoint(L, e, arg);
    const char *dot = strrchr(text, '.');
    if (dot && dot > text && dot[1]) return point_of_body(r, text, dot, w, arg);
    int body, found = body_named(L, r->part, text, &body, &e);
    if (found == 0) return 0;
    if (found == 1 && e && L->m->body.at[body].cls == &cst_body_point)
        return own_point(L, body, "origin", arg);
    if (found == 1)
        cst_loader_error(L, w, "'%s' is a body: name one of its points, as in %s.POINT", text,
                         text);
    else
        unknown(L, r->part, CST_SEC_POINT, r->centre, NULL, text, w);
    return 0;
}

/* An axis reads its ends with its own reader. */
static int read_coordinates(cst_reader *r, const char *name, const cst_yaml *node, cst_id p[3])
{
    const cst_vector_kind kind = r->kind;
    r->kind = CST_VECTOR_POINT;
    int ok = cst_read_triple(r, name, node, p);
    r->kind = kind;
    return ok;
}

/* {body: b, local: [x, y, z]} or {body: b, at: place} */
static int mapped_point(cst_reader *r, const char *name, const cst_yaml *node, cst_arg *arg)
{
    static const char *const words[] = {"body", "local", "at", NULL};
    const cst_yaml *body = cst_yaml_get(node, "body"), *local = cst_yaml_get(node, "local"),
                   *at = cst_yaml_get(node, "at");
    int on = CST_UNSET;
    if (!cst_keys_check(r->L, node, "key", "a point", words)) return 0;
    if (body && !cst_body_find(r->L, r->part, body, &on)) return 0;
    if (!local == !at) {
        cst_loader_error(r->L, node->where, "%s needs either 'local' or 'at'", r->what);
        return 0;
    }
    if (at) {
        if (!cst_point_field(r, name, at, arg)) return 0;
        if (body) arg->body[0] = on;
        return 1;
    }
    cst_id l[3], turned[3];
    if (!read_coordinates(r, name, local, l)) return 0;
    cst_part_turn(r->L, r->part, 0, l, turned);
    return local_place(r->L, arg, on, turned);
}

static int is_name(const char *s)
{
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.";
    return *s && strspn(s, letters) == strlen(s) && !(*s >= '0' && *s <= '9') && *s != '.';
}

int cst_point_field(cst_reader *r, const char *name, const cst_yaml *node, cst_arg *arg)
{
    arg->body[0] = CST_UNSET;
    arg->local = 0;
    if (node->kind == CST_YAML_MAPPING) return mapped_point(r, name, node, arg);
    if (node->kind == CST_YAML_SCALAR && is_name(node->text))
        return named_point(r, node->text, node->where, arg);
    cst_id p[3];
    if (!read_coordinates(r, name, node, p)) return 0;
    cst_part_to_ground(r->L, r->part, p, arg->vec);
    return 1;
}

/* ---- directions ---- */

static void check_axis(cst_reader *r, const cst_id a[3], const cst_id *b, cst_where w)
{
    cst_axis_check *c = cst_push(r->L->scratch, &r->L->axis);
    *c = (cst_axis_check){.pair = b != NULL, .what = r->what, .where = w};
    memcpy(c->a, a, sizeof c->a);
    if (b) memcpy(c->b, b, sizeof c->b);
}

/* x, y, z, -x, ... are three numbers as well */
static int letter_axis(cst_reader *r, const char *name, const cst_yaml *node, cst_id v[3])
{
    const char *text = node->text;
    double sign = text[0] == '-' ? -1 : 1;
    if (text[0] == '-' || text[0] == '+') text++;
    if (text[0] < 'x' || text[0] > 'z' || text[1]) return 0;
    for (int i = 0; i < 3; i++) {
        cst_yaml number = {.kind = CST_YAML_SCALAR, .where = node->where};
        number.text = i != text[0] - 'x' ? "0" : sign < 0 ? "-1" : "1";
        v[i] =
            cst_read_scalar(r, cst_arena_printf(r->L->scratch, "%s.%c", name, "xyz"[i]), &number);
    }
    cst_vector_add(r, CST_VECTOR_DIRECTION, 3, v);
    return 1;
}

static int between_axis(cst_reader *r, const char *name, const cst_yaml *node, cst_id v[3],
                        cst_arg *arg)
{
    static const char *const words[] = {"from", "to", NULL};
    cst_arg end[2];
    if (!cst_keys_check(r->L, node, "key", "an axis", words)) return 0;
    for (int i = 0; i < 2; i++) {
        const cst_yaml *point = cst_yaml_get(node, words[i]);
        if (!point) {
            cst_loader_error(r->L, node->where, "%s has no '%s'", r->what, words[i]);
            return 0;
        }
        if (!cst_point_field(r, cst_arena_printf(r->L->scratch, "%s.%s", name, words[i]), point,
                             &end[i]))
            return 0;
    }
    cst_id d[3];
    for (int i = 0; i < 3; i++) d[i] = cst_num_sub(r->L->g, end[1].vec[i], end[0].vec[i]);
    for (int i = 0; arg && i < 2; i++) memcpy(arg->end[i], end[i].vec, sizeof arg->end[i]);
    if (arg) arg->between = 1;
    cst_part_turn(r->L, r->part, 0, d, v); /* S is its own inverse */
    return 1;
}

int cst_axis_field(cst_reader *r, const char *name, const cst_yaml *node, cst_id v[3], cst_arg *arg)
{
    int ok;
    r->kind = CST_VECTOR_DIRECTION;
    if (node->kind == CST_YAML_MAPPING)
        ok = between_axis(r, name, node, v, arg);
    else
        ok = (node->kind == CST_YAML_SCALAR && letter_axis(r, name, node, v)) ||
             cst_read_triple(r, name, node, v);
    if (ok) check_axis(r, v, NULL, node->where);
    return ok;
}

/* ---- frames ---- */

static int read_numbers(cst_reader *r, const char *name, const cst_yaml *node, int n, cst_id *v)
{
    int ok = node->kind == CST_YAML_SEQUENCE && node->n == n;
    if (!ok)
        cst_loader_error(r->L, node->where, "%s must be a list of %d numbers%s", r->what, n,
                         n == 4 ? ": [w, x, y, z]" : "");
    for (int i = 0; ok && i < n; i++) {
        v[i] = cst_read_scalar(r, cst_arena_printf(r->L->scratch, "%s[%d]", name, i + 1),
                               node->child[i]);
        ok = v[i] != CST_NONE;
    }
    return ok;
}

static void derive(cst_loader *L, const cst_vop *op, int nin, const cst_id *in, cst_id frame[9])
{
    cst_id first = cst_num_vector(L->g, op, nin, in, 9);
    for (int i = 0; i < 9; i++) frame[i] = first + i;
}

static int frame_matrix(cst_reader *r, const char *name, const cst_yaml *node, cst_id frame[9])
{
    cst_id in[9], row[3];
    if (node->kind != CST_YAML_SEQUENCE || node->n != 3) {
        cst_loader_error(r->L, node->where, "matrix must have 3 rows");
        return 0;
    }
    for (int i = 0; i < 3; i++) {
        if (!read_numbers(r, cst_arena_printf(r->L->scratch, "%s[%d]", name, i + 1), node->child[i],
                          3, row))
            return 0;
        for (int k = 0; k < 3; k++) in[3 * k + i] = row[k]; /* columns are the axes */
    }
    for (int k = 0; k < 3; k++) cst_vector_add(r, CST_VECTOR_DIRECTION, 3, in + 3 * k);
    derive(r->L, &cst_vop_frame_matrix, 9, in, frame);
    return 1;
}

/* Two of x, y, z: the first written is exact. With the first as f1 and the rest of the second as
 * f2, f3 = f1 x f2 is the third axis, or its negative when the two are not in cyclic order. */
static int frame_two(cst_reader *r, const char *name, const cst_yaml *node, cst_id frame[9])
{
    cst_id in[6], f[9];
    int axis[2] = {0, 0};
    for (int i = 0; i < 2; i++) {
        const char *key = node->key[i];
        axis[i] = key[0] - 'x';
        if (!cst_axis_field(r, cst_arena_printf(r->L->scratch, "%s.%s", name, key), node->child[i],
                            in + 3 * i, NULL))
            return 0;
    }
    check_axis(r, in, in + 3, node->where);
    derive(r->L, &cst_vop_frame_two, 6, in, f);
    int cyclic = axis[1] == (axis[0] + 1) % 3, third = 3 - axis[0] - axis[1];
    for (int i = 0; i < 3; i++) {
        frame[3 * axis[0] + i] = f[i];
        frame[3 * axis[1] + i] = f[3 + i];
        frame[3 * third + i] = cyclic ? f[6 + i] : cst_num_neg(r->L->g, f[6 + i]);
    }
    return 1;
}

static int one_of_xyz(const char *key) { return key[0] >= 'x' && key[0] <= 'z' && !key[1]; }

static int frame_written(cst_reader *r, const char *name, const cst_yaml *node, cst_id frame[9])
{
    static const char *const words[] = {"quaternion", "axis", "angle", "matrix",
                                        "x",          "y",    "z",     NULL};
    if (node->kind == CST_YAML_MAPPING &&
        !cst_keys_check(r->L, node, "key", "an orientation", words))
        return 0;
    const cst_yaml *q = cst_yaml_get(node, "quaternion"), *matrix = cst_yaml_get(node, "matrix");
    const cst_yaml *axis = cst_yaml_get(node, "axis"), *angle = cst_yaml_get(node, "angle");
    cst_id in[4];
    if (q && node->n == 1) {
        r->what = cst_arena_printf(r->L->scratch, "the quaternion of %s", r->what);
        if (!read_numbers(r, cst_arena_printf(r->L->scratch, "%s.quaternion", name), q, 4, in))
            return 0;
        cst_vector_add(r, CST_VECTOR_QUATERNION, 4, in);
        derive(r->L, &cst_vop_frame_quaternion, 4, in, frame);
        return 1;
    }
    if (matrix && node->n == 1)
        return frame_matrix(r, cst_arena_printf(r->L->scratch, "%s.matrix", name), matrix, frame);
    if (axis && angle && node->n == 2) {
        const char *what = r->what;
        r->what = cst_arena_printf(r->L->scratch, "the axis of %s", what);
        if (!cst_axis_field(r, cst_arena_printf(r->L->scratch, "%s.axis", name), axis, in, NULL))
            return 0;
        r->what = what;
        r->unit = "rad";
        in[3] = cst_read_scalar(r, cst_arena_printf(r->L->scratch, "%s.angle", name), angle);
        if (in[3] == CST_NONE) return 0;
        cst_vector_add(r, CST_VECTOR_DIRECTION, 1, in + 3);
        derive(r->L, &cst_vop_frame_axis_angle, 4, in, frame);
        return 1;
    }
    if (node->kind == CST_YAML_MAPPING && node->n == 2 && one_of_xyz(node->key[0]) &&
        one_of_xyz(node->key[1]))
        return frame_two(r, name, node, frame);
    cst_loader_error(r->L, node->where,
                     "%s must be {quaternion: [w, x, y, z]}, {axis: .., angle: ..}, {matrix: [..]} "
                     "or two of {x: .., y: .., z: ..}",
                     r->what);
    return 0;
}

/* E' = S E S in a mirrored part */
int cst_frame_field(cst_reader *r, const char *name, const cst_yaml *node, cst_id frame[9])
{
    if (!frame_written(r, name, node, frame)) return 0;
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < 3; i++)
            if (r->part->sign[i] * r->part->sign[k] < 0)
                frame[3 * k + i] = cst_num_neg(r->L->g, frame[3 * k + i]);
    return 1;
}
