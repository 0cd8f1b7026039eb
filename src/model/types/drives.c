/* SPDX-License-Identifier: MIT
 *
 * Rotations about an axis through all turns, and constraints on any expression of positions. */
#include "model/types/types.h"

/* ---- rotation, drive-angle ----
 *
 * u_B.(cos s v_A - sin s u_A) = 0 with u, v across the axis as drawn:  u_B = cos s u_A + sin s v_A
 */
enum { BETWEEN, AXIS, ANGLE, AT };

#define ROTATION_FIELDS(dflt)                                                                      \
    {"between", CST_F_BODIES, "1", CST_ANY, NULL, "[first, second]: the two bodies, or ground"},   \
        {"axis", CST_F_AXIS, "1", CST_ANY, NULL, "axis of rotation when drawn"},                   \
        {"angle", CST_F_TIME, "rad",                                                               \
         CST_ANY, dflt,       "angle of the second body against the first; 0 when drawn"},         \
    {                                                                                              \
        "at", CST_F_POINT, "m", CST_ANY, "",                                                       \
            "point of the reaction; default: origin of the second body"                            \
    }
#define ROTATION_NOTES                                                                             \
    "Right-handed about the axis. Other joints must keep the axes of the two bodies parallel. "    \
    "The reaction "                                                                                \
    "is "                                                                                          \
    "a torque on the second body; its component `drive` is the part along the axis."

static void rotation(cst_loader *L, const char *name, const char *type, cst_where where,
                     const cst_arg *arg, int drives)
{
    const int *b = arg[BETWEEN].body;
    if (!cst_build_is_pair(L, arg[BETWEEN].where, b, 1)) return;
    cst_id n[3], u[3], v[3];
    cst_build_rotation_axis(L, &arg[AXIS], n);
    cst_perpendicular(L, n, u, v);
    int slot[3] = {cst_slot_direction(L, b[1], u), cst_slot_direction(L, b[0], u),
                   cst_slot_direction(L, b[0], v)};
    int at[2] = {-1, -1};
    for (int k = 0; arg[AT].given && k < 2; k++) at[k] = cst_slot_point(L, b[k], arg[AT].vec);
    int joint = cst_joint_begin(L, name, type, where, b[0], b[1]);
    cst_loader_model(L)->joint.at[joint].drives = drives;
    cst_add_constraint(L, joint, drives ? "drive" : "angle", &cst_rotation, slot, arg[ANGLE].num);
    cst_joint_place(L, joint, at[0], at[1], cst_slot_direction(L, b[0], n));
    cst_joint_end(L, joint);
}

static const cst_field rotation_field[] = {
    ROTATION_FIELDS("0"),
    {0},
};

static void rotation_build(cst_loader *L, const char *name, cst_where where, const cst_arg *arg)
{
    rotation(L, name, "rotation", where, arg, 0);
}

const cst_type cst_type_rotation = {
    .section = "joints",
    .keyword = "rotation",
    .summary = "holds the rotation of two bodies about an axis (1 row)",
    .notes = ROTATION_NOTES,
    .field = rotation_field,
    .build = rotation_build,
};

static const cst_field drive_angle_field[] = {
    ROTATION_FIELDS(NULL),
    {0},
};

static void drive_angle_build(cst_loader *L, const char *name, cst_where where, const cst_arg *arg)
{
    rotation(L, name, "drive-angle", where, arg, 1);
}

const cst_type cst_type_drive_angle = {
    .section = "joints",
    .keyword = "drive-angle",
    .summary = "prescribes the rotation about an axis, through all turns (1 row)",
    .notes = ROTATION_NOTES,
    .field = drive_angle_field,
    .build = drive_angle_build,
};

/* ---- drive, coupling: g(x) = value(t) ---- */

enum { OF, VALUE, PAIR };

#define EXPRESSION_FIELDS(dflt)                                                                    \
    {"of",    CST_F_EXPR, "1",                                                                     \
     CST_ANY, NULL,       "g: expression of positions, angles and coordinates (measures)"},        \
        {"value", CST_F_EXPR, CST_BY_CONTEXT, CST_ANY, dflt, "its value: of t and positions"},     \
    {                                                                                              \
        "between", CST_F_BODIES, "1", CST_ANY, "",                                                 \
            "[first, second]: for the measure `reaction` only"                                     \
    }

static void expression(cst_loader *L, const char *name, const char *type, cst_where where,
                       const cst_arg *arg, int drives)
{
    int b[2] = {CST_GROUND, CST_GROUND};
    for (int k = 0; arg[PAIR].given && k < 2; k++) b[k] = arg[PAIR].body[k];
    int joint = cst_joint_begin(L, name, type, where, b[0], b[1]);
    cst_loader_model(L)->joint.at[joint].drives = drives;
    cst_add_coordinate(L, joint, drives ? "drive" : "coupling",
                       cst_num_sub(cst_loader_graph(L), arg[OF].num, arg[VALUE].num),
                       CST_ROW_MOTION);
    cst_joint_place(L, joint, -1, -1, -1);
    cst_joint_end(L, joint);
}

static const cst_field drive_field[] = {
    EXPRESSION_FIELDS(NULL),
    {0},
};

static void drive_build(cst_loader *L, const char *name, cst_where where, const cst_arg *arg)
{
    expression(L, name, "drive", where, arg, 1);
}

const cst_type cst_type_drive = {
    .section = "joints",
    .keyword = "drive",
    .summary = "g = value: prescribes any expression of positions (1 row)",
    .notes = "Only measures of positions may appear in g and in value, and t: the row is needed "
             "with its second derivative in time, which the states of blocks do not have (a servo "
             "can follow these). `reaction` needs `between`.",
    .field = drive_field,
    .build = drive_build,
};

static const cst_field coupling_field[] = {
    EXPRESSION_FIELDS("0"),
    {0},
};

static void coupling_build(cst_loader *L, const char *name, cst_where where, const cst_arg *arg)
{
    expression(L, name, "coupling", where, arg, 0);
}

const cst_type cst_type_coupling = {
    .section = "joints",
    .keyword = "coupling",
    .summary = "g = value: gears, racks, screws, pulleys (1 row)",
    .notes =
        "For example of: a1 + 3*a2 with the angle measures a1 and a2. `reaction` needs `between`.",
    .field = coupling_field,
    .build = coupling_build,
};
