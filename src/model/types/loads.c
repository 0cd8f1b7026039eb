/* SPDX-License-Identifier: MIT
 *
 * Applied forces and torques, given by expressions: force, load, torque. A torque M on a triad is
 * f_i = 1/2 M x e_i. */
#include "model/types/types.h"

typedef struct load {
    int n, slot[6];
    cst_id f[18];
} load; /* at most two triads */

static void put(load *l, int slot, const cst_id f[3])
{
    for (int i = 0; i < 3; i++) l->f[3 * l->n + i] = f[i];
    l->slot[l->n++] = slot;
}

static void put_torque(cst_loader *L, load *l, int body, const cst_id M[3])
{
    int slot[3];
    cst_id half_M[3];
    cst_build_scale3(L, cst_num_const(cst_loader_graph(L), 0.5), M, half_M);
    cst_slot_triad(L, body, slot);
    for (int i = 0; i < 3; i++) {
        cst_id e[3], f[3];
        cst_x(L, slot[i], 0, e);
        cst_num_cross3(cst_loader_graph(L), half_M, e, f);
        put(l, slot[i], f);
    }
}

/* v = sum v_i e_i when the components are along the axes of the body */
static void to_ground(cst_loader *L, int body, cst_id v[3])
{
    cst_graph *g = cst_loader_graph(L);
    int slot[3];
    cst_id sum[3];
    cst_build_const3(L, 0, 0, 0, sum);
    cst_slot_triad(L, body, slot);
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            sum[k] = cst_num_add(g, sum[k], cst_num_mul(g, v[i], cst_x1(L, slot[i], k, 0)));
    for (int k = 0; k < 3; k++) v[k] = sum[k];
}

/* The vector of a load: components, or magnitude times a direction that is fixed in the ground or
 * in the body. */
static int read_vector(cst_loader *L, cst_where where, int body, const cst_arg *components,
                       const cst_arg *magnitude, const cst_id direction[3] /* NULL: not given */,
                       int in_body, cst_id v[3])
{
    if (components->given == (magnitude->given && direction != NULL) ||
        magnitude->given != (direction != NULL)) {
        cst_loader_error(L, where, "give either the components or a magnitude with its direction");
        return 0;
    }
    if (in_body && !cst_build_has_axes(L, where, body)) return 0;
    if (components->given) {
        for (int i = 0; i < 3; i++) v[i] = components->vec[i];
        if (in_body) to_ground(L, body, v);
        return 1;
    }
    cst_id n[3];
    if (in_body)
        cst_x(L, cst_slot_direction(L, body, direction), 0, n);
    else
        cst_build_derive(L, &cst_vop_unit, 3, direction, 3, n);
    cst_build_scale3(L, magnitude->num, n, v);
    return 1;
}

#define AGAINST                                                                                    \
    {                                                                                              \
        "against", CST_F_BODY, "1", CST_ANY, "", "body that takes the reaction; default: none"     \
    }
#define AXES                                                                                       \
    {                                                                                              \
        "axes", CST_F_CHOICE, "ground|body", CST_ANY, "ground",                                    \
            "axes of the components or direction"                                                  \
    }

/* ---- force ---- */

enum { ON, DIRECTION, MAGNITUDE, SCALE_OR_COMPONENTS, F_AXES, F_AGAINST };

static int check_against(cst_loader *L, const cst_arg *against, int body)
{
    if (!against->given || against->body[0] == CST_GROUND) return 1;
    if (against->body[0] != body) return cst_build_has_axes(L, against->where, against->body[0]);
    cst_loader_error(L, against->where, "against must be another body");
    return 0;
}

/* The reaction acts where the force does, in general not at a fixed point of the other body: at its
 * origin with the torque (x - r) x (-f). */
static void add_force(cst_loader *L, const char *name, const char *type, cst_where where,
                      const cst_arg *on, const cst_id f[3], int against)
{
    load l = {0};
    int slot = cst_slot_of(L, on, CST_GROUND);
    put(&l, slot, f);
    if (against != CST_GROUND) {
        int origin = cst_build_origin(L, against);
        cst_id back[3], x[3], r[3], M[3];
        for (int i = 0; i < 3; i++) back[i] = cst_num_neg(cst_loader_graph(L), f[i]);
        cst_x(L, slot, 0, x);
        cst_x(L, origin, 0, r);
        cst_build_sub3(L, x, r, x);
        cst_num_cross3(cst_loader_graph(L), x, back, M);
        put(&l, origin, back);
        put_torque(L, &l, against, M);
    }
    cst_add_expression_force(L, name, type, where, l.n, l.slot, l.f, 0, NULL, NULL);
}

static int check_on(cst_loader *L, const cst_arg *on)
{
    if (!cst_build_has_body(L, on, "on")) return 0;
    if (on->body[0] == CST_GROUND)
        cst_loader_error(L, on->where, "a force on the ground moves nothing");
    return on->body[0] != CST_GROUND;
}

static const cst_field force_field[] = {
    {"on", CST_F_POINT, "m", CST_ANY, NULL, "where it acts: BODY.POINT"},
    {"direction", CST_F_AXIS, "1", CST_ANY, "", "direction, with magnitude"},
    {"magnitude", CST_F_EXPR, "N", CST_ANY, "", "expression of t and measures"},
    {"force", CST_F_EXPR3, "N", CST_ANY, "", "[x, y, z]: expressions of t and measures"},
    AXES,
    AGAINST,
    {0},
};

static void force_build(cst_loader *L, const char *name, cst_where where, const cst_arg *arg)
{
    int body = arg[ON].body[0];
    cst_id f[3];
    if (!check_on(L, &arg[ON]) || !check_against(L, &arg[F_AGAINST], body)) return;
    if (!read_vector(L, where, body, &arg[SCALE_OR_COMPONENTS], &arg[MAGNITUDE],
                     arg[DIRECTION].given ? arg[DIRECTION].vec : NULL, arg[F_AXES].choice, f))
        return;
    add_force(L, name, "force", where, &arg[ON], f,
              arg[F_AGAINST].given ? arg[F_AGAINST].body[0] : CST_GROUND);
}

const cst_type cst_type_force = {
    .section = "forces",
    .keyword = "force",
    .summary = "force on a point, given by expressions",
    .notes = "In a mirrored part the direction is mirrored, components are not: they are what is "
             "written, in ground axes.",
    .field = force_field,
    .build = force_build,
};

/* ---- load ---- */

static const cst_field load_field[] = {
    {"on", CST_F_POINT, "m", CST_ANY, NULL, "where it acts: BODY.POINT"},
    {"direction", CST_F_AXIS, "1", CST_ANY, NULL, "direction, fixed in the ground"},
    {"signal", CST_F_EXPR, "1", CST_ANY, NULL, "history, usually a table of t: NAME(t)"},
    {"scale", CST_F_NUMBER, "N", CST_ANY, "1", "force per unit of the signal"},
    {0},
};

static void load_build(cst_loader *L, const char *name, cst_where where, const cst_arg *arg)
{
    cst_id n[3], f[3];
    if (!check_on(L, &arg[ON])) return;
    cst_build_derive(L, &cst_vop_unit, 3, arg[DIRECTION].vec, 3, n);
    cst_build_scale3(L,
                     cst_num_mul(cst_loader_graph(L), arg[SCALE_OR_COMPONENTS].num,
                                 arg[MAGNITUDE].num),
                     n, f);
    add_force(L, name, "load", where, &arg[ON], f, CST_GROUND);
}

const cst_type cst_type_load = {
    .section = "forces",
    .keyword = "load",
    .summary = "recorded force history on a point",
    .notes = "Measured histories are tables of the model (section `tables`), from a CSV column or "
             "written out.",
    .field = load_field,
    .build = load_build,
};

/* ---- torque ---- */

static const cst_field torque_field[] = {
    {"on", CST_F_BODY, "1", CST_ANY, NULL, "body it acts on"},
    {"axis", CST_F_AXIS, "1", CST_ANY, "", "axis, with magnitude"},
    {"magnitude", CST_F_EXPR, "N*m", CST_ANY, "", "expression of t and measures"},
    {"torque", CST_F_EXPR3, "N*m", CST_ANY, "", "[x, y, z]: expressions of t and measures"},
    AXES,
    AGAINST,
    {0},
};

static void torque_build(cst_loader *L, const char *name, cst_where where, const cst_arg *arg)
{
    int body = arg[ON].body[0];
    cst_id M[3], axis[3];
    if (body == CST_GROUND) {
        cst_loader_error(L, arg[ON].where, "a torque on the ground moves nothing");
        return;
    }
    if (!cst_build_has_axes(L, arg[ON].where, body) || !check_against(L, &arg[F_AGAINST], body))
        return;
    if (arg[DIRECTION].given) cst_build_rotation_axis(L, &arg[DIRECTION], axis);
    if (!read_vector(L, where, body, &arg[SCALE_OR_COMPONENTS], &arg[MAGNITUDE],
                     arg[DIRECTION].given ? axis : NULL, arg[F_AXES].choice, M))
        return;
    load l = {0};
    put_torque(L, &l, body, M);
    if (arg[F_AGAINST].given && arg[F_AGAINST].body[0] != CST_GROUND) {
        cst_id back[3];
        for (int i = 0; i < 3; i++) back[i] = cst_num_neg(cst_loader_graph(L), M[i]);
        put_torque(L, &l, arg[F_AGAINST].body[0], back);
    }
    cst_add_expression_force(L, name, "torque", where, l.n, l.slot, l.f, 0, NULL, NULL);
}

const cst_type cst_type_torque = {
    .section = "forces",
    .keyword = "torque",
    .summary = "torque on a body, given by expressions",
    .notes = "Right-handed about the axis. In a mirrored part the axis mirrors as an axial vector; "
             "components are what is written, in ground axes.",
    .field = torque_field,
    .build = torque_build,
};
