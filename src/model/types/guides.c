/* SPDX-License-Identifier: MIT
 *
 * Joints between points and directions of two bodies that need not be drawn at one place, the
 * primitives themselves among them: distance, point-on-line, point-on-plane, in-plane, coincident,
 * constant-angle, dot. Right hand sides may be functions of time; left out, they are what the
 * drawing shows. */
#include "model/types/types.h"

#define ON_SECOND "The reaction is what acts on the body of `to`, the second."

/* ---- between two points ---- */

enum { FROM, TO, VALUE, NORMAL };

#define ENDS                                                                                       \
    {"from", CST_F_POINT, "m", CST_ANY, NULL, "point a on the first body: BODY.POINT"},            \
    {                                                                                              \
        "to", CST_F_POINT, "m", CST_ANY, NULL, "point b on the second body: BODY.POINT"            \
    }

static int has_ends(cst_loader *L, const cst_arg *arg)
{
    return cst_build_has_body(L, &arg[FROM], "from") && cst_build_has_body(L, &arg[TO], "to");
}

static int begin(cst_loader *L, const char *name, const char *type, cst_where where,
                 const cst_arg *arg, int slot[2])
{
    if (!has_ends(L, arg)) return -1;
    int b[2] = {arg[FROM].body[0], arg[TO].body[0]};
    if (!cst_build_is_pair(L, where, b, 0)) return -1;
    int joint = cst_joint_begin(L, name, type, where, b[0], b[1]);
    for (int k = 0; k < 2; k++) slot[k] = cst_slot_of(L, &arg[k], CST_GROUND);
    return joint;
}

static void end(cst_loader *L, int joint, const int slot[2], int axis, int drives)
{
    cst_loader_model(L)->joint.at[joint].drives = drives;
    cst_joint_place(L, joint, slot[0], slot[1], axis);
    cst_joint_end(L, joint);
}

static const cst_field coincident_field[] = {
    ENDS,
    {0},
};

static void coincident_build(cst_loader *L, const char *name, cst_where where, const cst_arg *arg)
{
    int slot[2], joint = begin(L, name, "coincident", where, arg, slot);
    if (joint < 0) return;
    cst_add_constraint(L, joint, "point", &cst_coincident, slot, CST_NONE);
    end(L, joint, slot, -1, 0);
}

const cst_type cst_type_coincident = {
    .section = "joints",
    .keyword = "coincident",
    .summary = "a = b: two points coincide; they may be drawn apart (3 rows)",
    .notes = ON_SECOND,
    .field = coincident_field,
    .build = coincident_build,
};

static const cst_field distance_field[] = {
    ENDS,
    {"length", CST_F_TIME, "m", CST_NOT_NEGATIVE, "", "distance; default: as drawn"},
    {0},
};

static void distance_between(cst_loader *L, const char *name, const char *type, cst_where where,
                             const cst_arg *arg, int drives)
{
    cst_id d[3];
    if (!has_ends(L, arg)) return;
    cst_build_sub3(L, arg[TO].vec, arg[FROM].vec, d);
    if (!arg[VALUE].given && !(cst_loader_value(L, cst_num_dot3(cst_loader_graph(L), d, d)) > 0)) {
        cst_loader_error(L, where,
                         "the points are drawn at the same place: give length, or use coincident");
        return;
    }
    int slot[2], joint = begin(L, name, type, where, arg, slot);
    if (joint < 0) return;
    cst_id length = arg[VALUE].given ? arg[VALUE].num : cst_build_norm3(L, d);
    cst_add_constraint(L, joint, "length", &cst_distance, slot, length);
    end(L, joint, slot, -1, drives);
}

static void distance_build(cst_loader *L, const char *name, cst_where where, const cst_arg *arg)
{
    distance_between(L, name, "distance", where, arg, 0);
}

const cst_type cst_type_distance = {
    .section = "joints",
    .keyword = "distance",
    .summary = "|b - a| = length: a massless rod between two points (1 row)",
    .notes = ON_SECOND " Its component `tension` is positive when the rod is pulled.",
    .field = distance_field,
    .build = distance_build,
};

static const cst_field drive_distance_field[] = {
    ENDS,
    {"length", CST_F_TIME, "m", CST_NOT_NEGATIVE, NULL, "distance, a function of t"},
    {0},
};

static void drive_distance_build(cst_loader *L, const char *name, cst_where where,
                                 const cst_arg *arg)
{
    distance_between(L, name, "drive-distance", where, arg, 1);
}

const cst_type cst_type_drive_distance = {
    .section = "joints",
    .keyword = "drive-distance",
    .summary = "|b - a| = length(t): an actuator of prescribed length (1 row)",
    .notes = ON_SECOND " Its component `tension` is positive when the actuator is pulled.",
    .field = drive_distance_field,
    .build = drive_distance_build,
};

/* (b - a).n_A = value */
static const cst_field in_plane_field[] = {
    ENDS,
    {"value", CST_F_TIME, "m", CST_ANY, "", "height of b over the plane; default: as drawn"},
    {"normal", CST_F_AXIS, "1", CST_ANY, NULL,
     "n: normal of the plane through a, fixed in the first body, when drawn"},
    {0},
};

static void in_plane_build(cst_loader *L, const char *name, cst_where where, const cst_arg *arg)
{
    if (!cst_build_has_body(L, &arg[FROM], "from") ||
        !cst_build_has_axes(L, arg[FROM].where, arg[FROM].body[0]))
        return;
    int slot[2], joint = begin(L, name, "in-plane", where, arg, slot);
    if (joint < 0) return;
    cst_id d[3], n[3];
    cst_build_sub3(L, arg[TO].vec, arg[FROM].vec, d);
    cst_build_derive(L, &cst_vop_unit, 3, arg[NORMAL].vec, 3, n);
    cst_id value = arg[VALUE].given ? arg[VALUE].num : cst_num_dot3(cst_loader_graph(L), d, n);
    int n_A = cst_slot_direction(L, arg[FROM].body[0], arg[NORMAL].vec);
    cst_add_constraint(L, joint, "plane", &cst_in_plane, (int[]){slot[1], slot[0], n_A}, value);
    end(L, joint, slot, n_A, 0);
}

const cst_type cst_type_in_plane = {
    .section = "joints",
    .keyword = "in-plane",
    .summary = "(b - a).n = value: a point at a height over a plane (1 row)",
    .notes = ON_SECOND,
    .field = in_plane_field,
    .build = in_plane_build,
};

/* ---- a point of the second body guided by the first ---- */

enum { G_OF, G_ON, G_THROUGH, G_AXIS, G_VALUE };

#define GUIDED                                                                                     \
    "The first body is `on`, the second is that of `of`; the reaction is what acts on the second."
#define GUIDE                                                                                      \
    {"of", CST_F_POINT, "m", CST_ANY, NULL, "the guided point: BODY.POINT"},                       \
    {                                                                                              \
        "on", CST_F_BODY, "1", CST_ANY, "ground", "body that the guide is fixed in"                \
    }

static int guide_begin(cst_loader *L, const char *name, const char *type, cst_where where,
                       const cst_arg *arg, int slot[2])
{
    if (!cst_build_has_body(L, &arg[G_OF], "of")) return -1;
    int b[2] = {arg[G_ON].body[0], arg[G_OF].body[0]};
    if (!cst_build_has_axes(L, arg[G_ON].where, b[0]) || !cst_build_is_pair(L, where, b, 0))
        return -1;
    int joint = cst_joint_begin(L, name, type, where, b[0], b[1]);
    slot[0] = cst_slot_point(L, b[0], arg[G_THROUGH].given ? arg[G_THROUGH].vec : arg[G_OF].vec);
    slot[1] = cst_slot_of(L, &arg[G_OF], CST_GROUND);
    return joint;
}

static const cst_field line_field[] = {
    GUIDE,
    {"through", CST_F_POINT, "m", CST_ANY, "",
     "a point of the line when drawn; default: the guided point"},
    {"axis", CST_F_AXIS, "1", CST_ANY, NULL, "direction of the line when drawn"},
    {0},
};

static void line_build(cst_loader *L, const char *name, cst_where where, const cst_arg *arg)
{
    int slot[2], joint = guide_begin(L, name, "point-on-line", where, arg, slot),
                 on = arg[G_ON].body[0];
    if (joint < 0) return;
    cst_id across[2][3];
    cst_perpendicular(L, arg[G_AXIS].vec, across[0], across[1]);
    for (int k = 0; k < 2; k++) {
        int v_A = cst_slot_direction(L, on, across[k]);
        cst_add_constraint(L, joint, "line", &cst_in_plane, (int[]){slot[1], slot[0], v_A},
                           cst_num_const(cst_loader_graph(L), 0));
    }
    end(L, joint, slot, cst_slot_direction(L, on, arg[G_AXIS].vec), 0);
}

const cst_type cst_type_point_on_line = {
    .section = "joints",
    .keyword = "point-on-line",
    .summary = "a point of one body stays on a line of another (2 rows)",
    .notes = GUIDED,
    .field = line_field,
    .build = line_build,
};

/* (b - a).n_A = value */
static void plane(cst_loader *L, const char *name, const char *type, cst_where where,
                  const cst_arg *arg, int drives)
{
    int slot[2], joint = guide_begin(L, name, type, where, arg, slot);
    if (joint < 0) return;
    int n_A = cst_slot_direction(L, arg[G_ON].body[0], arg[G_AXIS].vec);
    cst_add_constraint(L, joint, drives ? "drive" : "plane", &cst_in_plane,
                       (int[]){slot[1], slot[0], n_A}, arg[G_VALUE].num);
    end(L, joint, slot, n_A, drives);
}

static const cst_field plane_field[] = {
    GUIDE,
    {"through", CST_F_POINT, "m", CST_ANY, "",
     "a point of the plane when drawn; default: the guided point"},
    {"normal", CST_F_AXIS, "1", CST_ANY, NULL, "normal of the plane when drawn"},
    {"value", CST_F_TIME, "m", CST_ANY, "0", "height over the plane"},
    {0},
};

static void plane_build(cst_loader *L, const char *name, cst_where where, const cst_arg *arg)
{
    plane(L, name, "point-on-plane", where, arg, 0);
}

const cst_type cst_type_point_on_plane = {
    .section = "joints",
    .keyword = "point-on-plane",
    .summary = "a point of one body stays on a plane of another (1 row)",
    .notes = GUIDED,
    .field = plane_field,
    .build = plane_build,
};

static const cst_field drive_coordinate_field[] = {
    GUIDE,
    {"origin", CST_F_POINT, "m", CST_ANY, "[0, 0, 0]",
     "where the coordinate is 0, as drawn; fixed in `on`"},
    {"direction", CST_F_AXIS, "1", CST_ANY, "x",
     "direction of the coordinate when drawn; fixed in `on`"},
    {"value", CST_F_TIME, "m", CST_ANY, NULL, "(of - origin).direction, a function of t"},
    {0},
};

static void drive_coordinate_build(cst_loader *L, const char *name, cst_where where,
                                   const cst_arg *arg)
{
    cst_arg full[G_VALUE + 1];
    for (int i = 0; i <= G_VALUE; i++) full[i] = arg[i];
    full[G_THROUGH].given = 1; /* the default of origin is a place */
    plane(L, name, "drive-coordinate", where, full, 1);
}

const cst_type cst_type_drive_coordinate = {
    .section = "joints",
    .keyword = "drive-coordinate",
    .summary = "(of - origin).direction = value(t): prescribes a coordinate of a point (1 row)",
    .notes = GUIDED " With origin at the drawn place of the point, value is its displacement.",
    .field = drive_coordinate_field,
    .build = drive_coordinate_build,
};

/* ---- between two directions ---- */

enum { D_BETWEEN, D_AXIS_1, D_AXIS_2, D_VALUE };

#define DIRECTIONS                                                                                 \
    {"between", CST_F_BODIES, "1", CST_ANY, NULL, "[first, second]: the two bodies, or ground"},   \
        {"axis_1", CST_F_AXIS, "1", CST_ANY, NULL, "u: fixed in the first body, when drawn"},      \
    {                                                                                              \
        "axis_2", CST_F_AXIS, "1", CST_ANY, NULL, "v: fixed in the second body, when drawn"        \
    }
#define PURE_TORQUE                                                                                \
    "The reaction is a torque on the second body. At u = v and u = -v the row loses its rank."

static void directions(cst_loader *L, const char *name, const char *type, cst_where where,
                       const cst_arg *arg, cst_id s)
{
    const int *b = arg[D_BETWEEN].body;
    if (!cst_build_is_pair(L, arg[D_BETWEEN].where, b, 1)) return;
    cst_id u[3], v[3];
    cst_build_derive(L, &cst_vop_unit, 3, arg[D_AXIS_1].vec, 3, u);
    cst_build_derive(L, &cst_vop_unit, 3, arg[D_AXIS_2].vec, 3, v);
    if (s == CST_NONE) s = cst_num_dot3(cst_loader_graph(L), u, v);
    if (!cst_num_timed(cst_loader_graph(L), s) && fabs(cst_loader_value(L, s)) > 1 - 1e-9)
        cst_loader_error(L, where,
                         "the directions are parallel: one row cannot keep them parallel");
    int slot[2] = {cst_slot_direction(L, b[0], arg[D_AXIS_1].vec),
                   cst_slot_direction(L, b[1], arg[D_AXIS_2].vec)};
    int joint = cst_joint_begin(L, name, type, where, b[0], b[1]);
    cst_add_constraint(L, joint, "angle", &cst_dot, slot, s);
    cst_joint_place(L, joint, -1, -1, slot[0]);
    cst_joint_end(L, joint);
}

static const cst_field dot_field[] = {
    DIRECTIONS,
    {"value", CST_F_TIME, "1", -1, 1, "", "cosine of the angle; default: as drawn"},
    {0},
};

static void dot_build(cst_loader *L, const char *name, cst_where where, const cst_arg *arg)
{
    directions(L, name, "dot", where, arg, arg[D_VALUE].given ? arg[D_VALUE].num : CST_NONE);
}

const cst_type cst_type_dot = {
    .section = "joints",
    .keyword = "dot",
    .summary = "u.v = value for two unit directions (1 row)",
    .notes = PURE_TORQUE,
    .field = dot_field,
    .build = dot_build,
};

static const cst_field constant_angle_field[] = {
    DIRECTIONS,
    {"angle", CST_F_TIME, "rad", CST_ANY, "", "angle between the directions; default: as drawn"},
    {0},
};

static void constant_angle_build(cst_loader *L, const char *name, cst_where where,
                                 const cst_arg *arg)
{
    cst_id cosine = CST_NONE;
    if (arg[D_VALUE].given)
        cosine = cst_num_call(cst_loader_graph(L), "cos", arg[D_VALUE].num, CST_NONE, CST_NONE);
    directions(L, name, "constant-angle", where, arg, cosine);
}

const cst_type cst_type_constant_angle = {
    .section = "joints",
    .keyword = "constant-angle",
    .summary = "two directions keep their angle (1 row)",
    .notes = PURE_TORQUE,
    .field = constant_angle_field,
    .build = constant_angle_build,
};
