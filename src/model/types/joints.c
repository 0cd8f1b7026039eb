/* SPDX-License-Identifier: MIT
 *
 * Joints between two bodies at a place of the drawing, made of primitives. Slots of the first body
 * are named _A, of the second _B; n is the axis, u and v are across it, u x v = n. All are drawn
 * alike on both bodies, so that every right hand side is zero when the model is drawn assembled. */
#include "model/types/types.h"

#include <string.h>

enum { BETWEEN, AT, AXIS }; /* the first fields of all of them */

#define BETWEEN_FIELD                                                                              \
    {                                                                                              \
        "between", CST_F_BODIES, "1", CST_ANY, NULL, "[first, second]: the two bodies, or ground"  \
    }
#define AT_FIELD                                                                                   \
    {                                                                                              \
        "at", CST_F_POINT, "m", CST_ANY, NULL, "place of the joint when drawn"                     \
    }
#define REACTION "The reaction is what acts on the second body, about the joint's point on it."

typedef struct axes {
    int n_A, u_A, v_A, n_B, u_B, v_B;
} axes;

/* -1: not given or not a pair (reported) */
static int begin(cst_loader *L, const char *name, const char *type, cst_where where,
                 const cst_arg *arg, int oriented, int at[2])
{
    const int *b = arg[BETWEEN].body;
    if (!cst_build_is_pair(L, arg[BETWEEN].where, b, oriented)) return -1;
    int joint = cst_joint_begin(L, name, type, where, b[0], b[1]);
    for (int k = 0; k < 2; k++) at[k] = cst_slot_point(L, b[k], arg[AT].vec);
    return joint;
}

static axes directions(cst_loader *L, const int body[2], const cst_id n[3])
{
    cst_id u[3], v[3];
    cst_perpendicular(L, n, u, v);
    return (axes){
        .n_A = cst_slot_direction(L, body[0], n),
        .n_B = cst_slot_direction(L, body[1], n),
        .u_A = cst_slot_direction(L, body[0], u),
        .u_B = cst_slot_direction(L, body[1], u),
        .v_A = cst_slot_direction(L, body[0], v),
        .v_B = cst_slot_direction(L, body[1], v),
    };
}

static void coincident(cst_loader *L, int joint, const int at[2])
{
    cst_add_constraint(L, joint, "point", &cst_coincident, at, CST_NONE);
}

static void dot(cst_loader *L, int joint, const char *row, int d_A, int d_B)
{
    cst_add_constraint(L, joint, row, &cst_dot, (int[]){d_A, d_B},
                       cst_num_const(cst_loader_graph(L), 0));
}

/* (b - a).v_A = 0 */
static void in_plane(cst_loader *L, int joint, const int at[2], int v_A)
{
    cst_add_constraint(L, joint, "travel", &cst_in_plane, (int[]){at[1], at[0], v_A},
                       cst_num_const(cst_loader_graph(L), 0));
}

static void end(cst_loader *L, int joint, const int at[2], int axis)
{
    cst_joint_place(L, joint, at[0], at[1], axis);
    cst_joint_end(L, joint);
}

/* Records which motions the joint leaves free, for code that reads its coordinates (coordinates.c)
 */
static void leaves(cst_loader *L, int joint, int freedom, const cst_arg *axis)
{
    cst_joint *j = &cst_loader_model(L)->joint.at[joint];
    j->freedom = freedom;
    cst_build_rotation_axis(L, axis, j->turn);
    j->between = axis->between;
    memcpy(j->end, axis->end, sizeof j->end);
}

static const cst_field spherical_field[] = {
    BETWEEN_FIELD,
    AT_FIELD,
    {0},
};

static void spherical_build(cst_loader *L, const char *name, cst_where where, const cst_arg *arg)
{
    int at[2], joint = begin(L, name, "spherical", where, arg, 0, at);
    if (joint < 0) return;
    coincident(L, joint, at);
    end(L, joint, at, -1);
}

const cst_type cst_type_spherical = {
    .section = "joints",
    .keyword = "spherical",
    .summary = "ball joint: two points stay together (3 rows)",
    .notes = REACTION,
    .field = spherical_field,
    .build = spherical_build,
};

/* a = b;  n_A.u_B = n_A.v_B = 0 */
static const cst_field revolute_field[] = {
    BETWEEN_FIELD,
    AT_FIELD,
    {"axis", CST_F_AXIS, "1", CST_ANY, NULL, "axis of rotation when drawn"},
    {0},
};

/* Begins a joint that may also hold a beam: a body that is not a beam must have axes. */
static int begin_beam(cst_loader *L, const char *name, const char *type, cst_where where,
                      const cst_arg *arg, int at[2])
{
    const int *b = arg[BETWEEN].body;
    for (int k = 0; k < 2; k++)
        if (!cst_build_is_beam(L, b[k]) && !cst_build_has_axes(L, arg[BETWEEN].where, b[k]))
            return -1;
    return begin(L, name, type, where, arg, 0, at);
}

static int has_beam(cst_loader *L, const cst_arg *arg)
{
    return cst_build_is_beam(L, arg[BETWEEN].body[0]) || cst_build_is_beam(L, arg[BETWEEN].body[1]);
}

static void beam_hinge(cst_loader *L, const char *name, cst_where where, const cst_arg *arg)
{
    int at[2], joint = begin_beam(L, name, "revolute", where, arg, at);
    if (joint < 0) return;
    coincident(L, joint, at);
    cst_build_hinge(L, joint, arg[BETWEEN].body, arg[AT].vec, arg[AXIS].vec, where);
    end(L, joint, at, -1);
}

static void revolute_build(cst_loader *L, const char *name, cst_where where, const cst_arg *arg)
{
    if (has_beam(L, arg)) {
        beam_hinge(L, name, where, arg);
        return;
    }
    int at[2], joint = begin(L, name, "revolute", where, arg, 1, at);
    if (joint < 0) return;
    axes d = directions(L, arg[BETWEEN].body, arg[AXIS].vec);
    coincident(L, joint, at);
    dot(L, joint, "axis", d.n_A, d.u_B);
    dot(L, joint, "axis", d.n_A, d.v_B);
    leaves(L, joint, CST_TURNS, &arg[AXIS]);
    end(L, joint, at, d.n_A);
}

const cst_type cst_type_revolute = {
    .section = "joints",
    .keyword = "revolute",
    .summary = "hinge: leaves one rotation about an axis (5 rows)",
    .notes = REACTION
    " A beam has no torsion: with one, the slope keeps its angle with the axis (4 rows).",
    .field = revolute_field,
    .build = revolute_build,
};

/* (b - a).u_A = (b - a).v_A = 0;  n_B.u_A = n_B.v_A = 0 */
static const cst_field cylindrical_field[] = {
    BETWEEN_FIELD,
    AT_FIELD,
    {"axis", CST_F_AXIS, "1", CST_ANY, NULL, "axis of rotation and travel when drawn"},
    {0},
};

static void cylindrical_rows(cst_loader *L, int joint, const int at[2], const axes *d)
{
    in_plane(L, joint, at, d->u_A);
    in_plane(L, joint, at, d->v_A);
    dot(L, joint, "axis", d->u_A, d->n_B);
    dot(L, joint, "axis", d->v_A, d->n_B);
}

static void cylindrical_build(cst_loader *L, const char *name, cst_where where, const cst_arg *arg)
{
    int at[2], joint = begin(L, name, "cylindrical", where, arg, 1, at);
    if (joint < 0) return;
    axes d = directions(L, arg[BETWEEN].body, arg[AXIS].vec);
    cylindrical_rows(L, joint, at, &d);
    leaves(L, joint, CST_TURNS | CST_SLIDES, &arg[AXIS]);
    end(L, joint, at, d.n_A);
}

const cst_type cst_type_cylindrical = {
    .section = "joints",
    .keyword = "cylindrical",
    .summary = "leaves travel along and rotation about an axis (4 rows)",
    .notes = REACTION " The axis is fixed in the first body.",
    .field = cylindrical_field,
    .build = cylindrical_build,
};

/* the same and u_A.v_B = 0 */
static const cst_field prismatic_field[] = {
    BETWEEN_FIELD,
    AT_FIELD,
    {"axis", CST_F_AXIS, "1", CST_ANY, NULL, "direction of travel when drawn"},
    {0},
};

static void prismatic_build(cst_loader *L, const char *name, cst_where where, const cst_arg *arg)
{
    int at[2], joint = begin(L, name, "prismatic", where, arg, 1, at);
    if (joint < 0) return;
    axes d = directions(L, arg[BETWEEN].body, arg[AXIS].vec);
    cylindrical_rows(L, joint, at, &d);
    dot(L, joint, "turn", d.u_A, d.v_B);
    leaves(L, joint, CST_SLIDES, &arg[AXIS]);
    end(L, joint, at, d.n_A);
}

const cst_type cst_type_prismatic = {
    .section = "joints",
    .keyword = "prismatic",
    .summary = "slider: leaves travel along an axis (5 rows)",
    .notes = REACTION " The axis is fixed in the first body.",
    .field = prismatic_field,
    .build = prismatic_build,
};

/* (b - a).n_A = 0;  n_A.u_B = n_A.v_B = 0 */
static const cst_field planar_field[] = {
    BETWEEN_FIELD,
    AT_FIELD,
    {"normal", CST_F_AXIS, "1", CST_ANY, NULL, "normal of the plane when drawn"},
    {0},
};

static void planar_build(cst_loader *L, const char *name, cst_where where, const cst_arg *arg)
{
    int at[2], joint = begin(L, name, "planar", where, arg, 1, at);
    if (joint < 0) return;
    axes d = directions(L, arg[BETWEEN].body, arg[AXIS].vec);
    in_plane(L, joint, at, d.n_A);
    dot(L, joint, "normal", d.n_A, d.u_B);
    dot(L, joint, "normal", d.n_A, d.v_B);
    end(L, joint, at, d.n_A);
}

const cst_type cst_type_planar = {
    .section = "joints",
    .keyword = "planar",
    .summary = "leaves travel in a plane and rotation about its normal (3 rows)",
    .notes = REACTION " The plane is fixed in the first body.",
    .field = planar_field,
    .build = planar_build,
};

/* a = b;  x_A.y_B = y_A.z_B = z_A.x_B = 0 with the ground's x, y, z of the drawing */
static const cst_field fixed_field[] = {
    BETWEEN_FIELD,
    {"at", CST_F_POINT, "m", CST_ANY, "",
     "point of the reaction; default: origin of the second body, else of the first"},
    {0},
};

static void beam_weld(cst_loader *L, const char *name, cst_where where, const cst_arg *arg)
{
    int at[2];
    if (!arg[AT].given) {
        cst_loader_error(
            L, where, "with a beam a fixed joint needs `at`: the point of the beam that is held");
        return;
    }
    int joint = begin_beam(L, name, "fixed", where, arg, at);
    if (joint < 0) return;
    coincident(L, joint, at);
    cst_build_weld(L, joint, arg[BETWEEN].body, arg[AT].vec, where);
    end(L, joint, at, -1);
}

static void fixed_build(cst_loader *L, const char *name, cst_where where, const cst_arg *arg)
{
    const int *b = arg[BETWEEN].body;
    if (has_beam(L, arg)) {
        beam_weld(L, name, where, arg);
        return;
    }
    if (!cst_build_is_pair(L, arg[BETWEEN].where, b, 1)) return;
    cst_arg full[AXIS] = {arg[BETWEEN], arg[AT]};
    int origin = b[b[1] == CST_GROUND ? 0 : 1];
    for (int i = 0; !arg[AT].given && i < 3; i++)
        full[AT].vec[i] = cst_loader_model(L)->body.at[origin].frame[i];
    int at[2], joint = begin(L, name, "fixed", where, full, 1, at);
    cst_id z[3];
    cst_build_const3(L, 0, 0, 1, z);
    axes d = directions(L, b, z);
    coincident(L, joint, at);
    dot(L, joint, "turn", d.u_A, d.v_B);
    dot(L, joint, "turn", d.v_A, d.n_B);
    dot(L, joint, "turn", d.n_A, d.u_B);
    end(L, joint, at, -1);
}

const cst_type cst_type_fixed = {
    .section = "joints",
    .keyword = "fixed",
    .summary = "holds two bodies together as they are drawn (6 rows)",
    .notes = REACTION " A beam is held at `at`: its point and the direction of its slope, not its "
                      "stretch (5 rows); two beams keep the angle between their slopes (4 rows).",
    .field = fixed_field,
    .build = fixed_build,
};

/* a = b;  n1_A.n2_B = their drawn cosine */
enum { AXIS_1 = AXIS, AXIS_2 };

static const cst_field universal_field[] = {
    BETWEEN_FIELD,
    AT_FIELD,
    {"axis_1", CST_F_AXIS, "1", CST_ANY, NULL, "axis of the cross in the first body, when drawn"},
    {"axis_2", CST_F_AXIS, "1", CST_ANY, NULL, "axis of the cross in the second body, when drawn"},
    {0},
};

static void universal_build(cst_loader *L, const char *name, cst_where where, const cst_arg *arg)
{
    int at[2], joint = begin(L, name, "universal", where, arg, 1, at);
    if (joint < 0) return;
    cst_id n1[3], n2[3];
    cst_build_derive(L, &cst_vop_unit, 3, arg[AXIS_1].vec, 3, n1);
    cst_build_derive(L, &cst_vop_unit, 3, arg[AXIS_2].vec, 3, n2);
    cst_id cosine = cst_num_dot3(cst_loader_graph(L), n1, n2);
    double drawn = cst_loader_value(L, cosine);
    if (fabs(drawn) > 0.999)
        cst_loader_error(L, arg[AXIS_2].where, "the axes of the cross are parallel");
    else if (fabs(drawn) > 1e-3)
        cst_loader_warn(L, arg[AXIS_2].where,
                        "the axes of the cross are drawn at %.4g degrees and keep this angle",
                        acos(drawn) * 180 / CST_PI);
    int n_A = cst_slot_direction(L, arg[BETWEEN].body[0], arg[AXIS_1].vec);
    int n_B = cst_slot_direction(L, arg[BETWEEN].body[1], arg[AXIS_2].vec);
    coincident(L, joint, at);
    cst_add_constraint(L, joint, "cross", &cst_dot, (int[]){n_A, n_B}, cosine);
    end(L, joint, at, n_A);
}

const cst_type cst_type_universal = {
    .section = "joints",
    .keyword = "universal",
    .summary = "cardan joint: two points together, two axes at a constant angle (4 rows)",
    .notes = REACTION " The angle of the axes stays as drawn, usually 90 degrees.",
    .field = universal_field,
    .build = universal_build,
};
