/* SPDX-License-Identifier: MIT
 *
 * Measures of motion: position, displacement, velocity, acceleration, distance, angle, orientation,
 * cardan, angular-velocity, angular-acceleration, coordinate. Rates are built symbolically by the
 * graph. */
#include "model/types/types.h"

#include <math.h>
#include <string.h>

#define IN_FIELD                                                                                   \
    {                                                                                              \
        "in", CST_F_BODY, "1", CST_ANY, "ground", "body in whose axes the components are given"    \
    }

/* ---- of a point ---- */

enum { OF, IN };

static const cst_field point_field[] = {
    {"of", CST_F_POINT, "m", CST_ANY, NULL, "the point: BODY.POINT"},
    IN_FIELD,
    {0},
};

static void vector(cst_loader *L, const char *name, const char *type, cst_where where,
                   const char *unit, int body, const cst_id v[3])
{
    cst_id out[3];
    cst_build_along(L, body, v, out);
    cst_build_add_xyz(L, cst_measure_begin(L, name, type, where), "", unit, out);
}

static int point_slot(cst_loader *L, const cst_arg *arg) /* -1: reported */
{
    if (!cst_build_has_body(L, &arg[OF], "of") ||
        !cst_build_has_axes(L, arg[IN].where, arg[IN].body[0]))
        return -1;
    return cst_slot_of(L, &arg[OF], CST_GROUND);
}

static void position_build(cst_loader *L, const char *name, cst_where where, const cst_arg *arg)
{
    int slot = point_slot(L, arg), in = arg[IN].body[0];
    if (slot < 0) return;
    cst_id x[3], r[3];
    cst_x(L, slot, 0, x);
    if (in != CST_GROUND) {
        cst_x(L, cst_build_origin(L, in), 0, r);
        cst_build_sub3(L, x, r, x);
    }
    vector(L, name, "position", where, "m", in, x);
}

const cst_type cst_type_position = {
    .section = "measures",
    .keyword = "position",
    .summary = "coordinates of a point: x, y, z",
    .notes = "With `in` they are relative to that body's origin, along its axes.",
    .field = point_field,
    .build = position_build,
};

static void displacement_build(cst_loader *L, const char *name, cst_where where, const cst_arg *arg)
{
    int slot = point_slot(L, arg);
    if (slot < 0) return;
    cst_id x[3];
    cst_x(L, slot, 0, x);
    cst_build_sub3(L, x, arg[OF].vec, x);
    vector(L, name, "displacement", where, "m", arg[IN].body[0], x);
}

const cst_type cst_type_displacement = {
    .section = "measures",
    .keyword = "displacement",
    .summary = "position of a point minus its drawn position: x, y, z",
    .notes = "It is not zero at the start when assembly or equilibrium moves the drawing.",
    .field = point_field,
    .build = displacement_build,
};

static void velocity_build(cst_loader *L, const char *name, cst_where where, const cst_arg *arg)
{
    int slot = point_slot(L, arg);
    if (slot < 0) return;
    cst_id x[3];
    cst_x(L, slot, 1, x);
    vector(L, name, "velocity", where, "m/s", arg[IN].body[0], x);
}

const cst_type cst_type_velocity = {
    .section = "measures",
    .keyword = "velocity",
    .summary = "velocity of a point against the ground: x, y, z",
    .field = point_field,
    .build = velocity_build,
};

static void acceleration_build(cst_loader *L, const char *name, cst_where where, const cst_arg *arg)
{
    int slot = point_slot(L, arg);
    if (slot < 0) return;
    cst_id x[3];
    cst_x(L, slot, 2, x);
    vector(L, name, "acceleration", where, "m/s^2", arg[IN].body[0], x);
}

const cst_type cst_type_acceleration = {
    .section = "measures",
    .keyword = "acceleration",
    .summary = "acceleration of a point against the ground: x, y, z",
    .notes = "Gravity is not included: an accelerometer shows this minus the gravity of the model.",
    .field = point_field,
    .build = acceleration_build,
};

/* ---- scalars with their rates ---- */

static void with_rates(cst_loader *L, const char *name, const char *type, cst_where where,
                       const char *const unit[3], cst_id value)
{
    static const char *const component[3] = {"", "rate", "acceleration"};
    int m = cst_measure_begin(L, name, type, where);
    for (int k = 0; k < 3; k++) {
        cst_measure_add(L, m, component[k], unit[k], value);
        value = cst_num_rate(cst_loader_graph(L), value);
    }
}

enum { FROM, TO };

static const cst_field distance_field[] = {
    {"from", CST_F_POINT, "m", CST_ANY, NULL, "point a: BODY.POINT"},
    {"to", CST_F_POINT, "m", CST_ANY, NULL, "point b: BODY.POINT"},
    {0},
};

static void distance_build(cst_loader *L, const char *name, cst_where where, const cst_arg *arg)
{
    static const char *const unit[3] = {"m", "m/s", "m/s^2"};
    if (!cst_build_has_body(L, &arg[FROM], "from") || !cst_build_has_body(L, &arg[TO], "to"))
        return;
    int a = cst_slot_of(L, &arg[FROM], CST_GROUND), b = cst_slot_of(L, &arg[TO], CST_GROUND);
    with_rates(L, name, "distance", where, unit, cst_build_distance(L, a, b));
}

const cst_type cst_type_measure_distance = {
    .section = "measures",
    .keyword = "distance",
    .summary = "distance of two points; components rate, acceleration",
    .notes = "At zero distance it has no derivative.",
    .field = distance_field,
    .build = distance_build,
};

enum { BETWEEN, AXIS };

static const cst_field angle_field[] = {
    {"between", CST_F_BODIES, "1", CST_ANY, NULL, "[first, second]: the two bodies, or ground"},
    {"axis", CST_F_AXIS, "1", CST_ANY, NULL, "axis when drawn"},
    {0},
};

static void angle_build(cst_loader *L, const char *name, cst_where where, const cst_arg *arg)
{
    static const char *const unit[3] = {"rad", "rad/s", "rad/s^2"};
    const int *b = arg[BETWEEN].body;
    if (!cst_build_is_pair(L, arg[BETWEEN].where, b, 1)) return;
    cst_id n[3];
    cst_build_rotation_axis(L, &arg[AXIS], n);
    with_rates(L, name, "angle", where, unit, cst_build_angle(L, b[0], b[1], n));
}

const cst_type cst_type_angle = {
    .section = "measures",
    .keyword = "angle",
    .summary =
        "angle of the second body against the first about an axis; components rate, acceleration",
    .notes = "Zero when drawn, right-handed, counted over all turns. If joints do not keep the "
             "axes parallel, it is the angle of a direction across the axis, projected on the "
             "plane across the axis of the first body.",
    .field = angle_field,
    .build = angle_build,
};

enum { SCALAR };

static const cst_field coordinate_field[] = {
    {"of", CST_F_BODY, "1", CST_ANY, NULL, "a body of type scalar"},
    {0},
};

static void coordinate_build(cst_loader *L, const char *name, cst_where where, const cst_arg *arg)
{
    static const char *const unit[3] = {"1", "1/s", "1/s^2"};
    int body = arg[SCALAR].body[0];
    if (body == CST_GROUND || cst_loader_model(L)->body.at[body].cls != &cst_body_scalar) {
        cst_loader_error(L, arg[SCALAR].where, "of must be a body of type scalar");
        return;
    }
    with_rates(L, name, "coordinate", where, unit, cst_x1(L, cst_slot_scalar(L, body), 0, 0));
}

const cst_type cst_type_coordinate = {
    .section = "measures",
    .keyword = "coordinate",
    .summary = "value of a scalar body; components rate, acceleration",
    .field = coordinate_field,
    .build = coordinate_build,
};

/* ---- of a body's axes ---- */

static const cst_field body_field[] = {
    {"of", CST_F_BODY, "1", CST_ANY, NULL, "a rigid body"},
    IN_FIELD,
    {0},
};

static int has_axes(cst_loader *L, const cst_arg *arg)
{
    return cst_build_has_axes(L, arg[OF].where, arg[OF].body[0]) &&
           cst_build_has_axes(L, arg[IN].where, arg[IN].body[0]);
}

static void triad(cst_loader *L, int body, int in, cst_id e[3][3])
{
    int slot[3];
    cst_slot_triad(L, body, slot);
    for (int i = 0; i < 3; i++) {
        cst_id x[3];
        cst_x(L, slot[i], 0, x);
        cst_build_along(L, in, x, e[i]);
    }
}

static void orientation_build(cst_loader *L, const char *name, cst_where where, const cst_arg *arg)
{
    static const char *const prefix[3] = {"e1.", "e2.", "e3."};
    if (!has_axes(L, arg)) return;
    cst_id e[3][3];
    triad(L, arg[OF].body[0], arg[IN].body[0], e);
    int m = cst_measure_begin(L, name, "orientation", where);
    for (int i = 0; i < 3; i++) cst_build_add_xyz(L, m, prefix[i], "1", e[i]);
}

const cst_type cst_type_orientation = {
    .section = "measures",
    .keyword = "orientation",
    .summary = "the axes of a body: e1.x .. e3.z",
    .notes = "Columns of its rotation matrix.",
    .field = body_field,
    .build = orientation_build,
};

enum { ZERO = IN + 1 };

static const cst_field cardan_field[] = {
    {"of", CST_F_BODY, "1", CST_ANY, NULL, "a rigid body"},
    IN_FIELD,
    {"zero", CST_F_CHOICE, "axes|drawn", CST_ANY, "axes",
     "the angles are zero where the axes are parallel, or as drawn"},
    {0},
};

/* Axes of a body as drawn, in ground axes */
static void drawn_axes(cst_loader *L, int body, cst_id e[3][3])
{
    cst_graph *g = cst_loader_graph(L);
    for (int i = 0; i < 9; i++)
        e[i / 3][i % 3] = body == CST_GROUND ? cst_num_const(g, i % 4 == 0)
                                             : cst_loader_model(L)->body.at[body].frame[3 + i];
}

/* e0: axes of `of` as drawn, in the axes of `in` */
static void drawn_triad(cst_loader *L, int of, int in, cst_id e0[3][3])
{
    cst_id e[3][3], f[3][3];
    drawn_axes(L, of, e), drawn_axes(L, in, f);
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) e0[i][k] = cst_num_dot3(cst_loader_graph(L), e[i], f[k]);
}

/* E := E E0^T, the turn from the drawing */
static void from_drawn(cst_graph *g, cst_id e[3][3], cst_id e0[3][3])
{
    cst_id turned[3][3];
    for (int j = 0; j < 3; j++)
        for (int k = 0; k < 3; k++) {
            turned[j][k] = cst_num_const(g, 0);
            for (int i = 0; i < 3; i++)
                turned[j][k] = cst_num_add(g, turned[j][k], cst_num_mul(g, e[i][k], e0[i][j]));
        }
    memcpy(e, turned, sizeof turned);
}

#define LOCKED 0.02 /* rad beside a pitch of 90 degrees */

static void warn_lock(cst_loader *L, const char *name, cst_where where, int body, cst_id e0[3][3])
{
    if (hypot(cst_loader_value(L, e0[0][0]), cst_loader_value(L, e0[0][1])) > LOCKED) return;
    cst_loader_warn(
        L, where,
        "measure '%s': '%s' is drawn at a pitch of 90 degrees (its first axis points along z), "
        "where yaw and roll are undefined; 'zero: drawn' takes the angles from the drawing",
        name, cst_loader_model(L)->body.at[body].name);
}

/* E = R_z(yaw) R_y(pitch) R_x(roll):  e1 = (cy cp, sy cp, -sp),  e2.z = cp sr,  e3.z = cp cr */
static void cardan_build(cst_loader *L, const char *name, cst_where where, const cst_arg *arg)
{
    if (!has_axes(L, arg)) return;
    cst_graph *g = cst_loader_graph(L);
    cst_id e[3][3], e0[3][3];
    triad(L, arg[OF].body[0], arg[IN].body[0], e);
    drawn_triad(L, arg[OF].body[0], arg[IN].body[0], e0);
    if (arg[ZERO].choice)
        from_drawn(g, e, e0);
    else if (arg[OF].body[0] != CST_GROUND)
        warn_lock(L, name, where, arg[OF].body[0], e0);
    cst_id level = cst_num_sqrt(g, cst_num_add(g, cst_num_mul(g, e[0][0], e[0][0]),
                                               cst_num_mul(g, e[0][1], e[0][1])));
    int m = cst_measure_begin(L, name, "cardan", where);
    cst_measure_add(L, m, "yaw", "rad", cst_num_call(g, "atan2", e[0][1], e[0][0], CST_NONE));
    cst_measure_add(L, m, "pitch", "rad",
                    cst_num_call(g, "atan2", cst_num_neg(g, e[0][2]), level, CST_NONE));
    cst_measure_add(L, m, "roll", "rad", cst_num_call(g, "atan2", e[1][2], e[2][2], CST_NONE));
}

const cst_type cst_type_cardan = {
    .section = "measures",
    .keyword = "cardan",
    .summary = "yaw, pitch and roll of a body's axes",
    .notes = "Rotations by yaw about z, then pitch about the new y, then roll about the new x; "
             "each in (-180, 180] degrees, undefined at a pitch of 90 degrees. With `zero: drawn` "
             "they are those of the turn from the drawing, about the same axes: a body that is "
             "drawn upright is then far from that pitch.",
    .field = cardan_field,
    .build = cardan_build,
};

/* omega = 1/2 sum e_i x e_i' */
static void omega(cst_loader *L, int body, cst_id w[3])
{
    cst_graph *g = cst_loader_graph(L);
    int slot[3];
    cst_slot_triad(L, body, slot);
    cst_build_const3(L, 0, 0, 0, w);
    for (int i = 0; i < 3; i++) {
        cst_id e[3], ed[3], c[3];
        cst_x(L, slot[i], 0, e);
        cst_x(L, slot[i], 1, ed);
        cst_num_cross3(g, e, ed, c);
        cst_build_add3(L, w, c, w);
    }
    cst_build_scale3(L, cst_num_const(g, 0.5), w, w);
}

static void angular_velocity_build(cst_loader *L, const char *name, cst_where where,
                                   const cst_arg *arg)
{
    if (!has_axes(L, arg)) return;
    cst_id w[3];
    omega(L, arg[OF].body[0], w);
    vector(L, name, "angular-velocity", where, "rad/s", arg[IN].body[0], w);
}

const cst_type cst_type_angular_velocity = {
    .section = "measures",
    .keyword = "angular-velocity",
    .summary = "angular velocity of a body against the ground: x, y, z",
    .field = body_field,
    .build = angular_velocity_build,
};

static void angular_acceleration_build(cst_loader *L, const char *name, cst_where where,
                                       const cst_arg *arg)
{
    if (!has_axes(L, arg)) return;
    cst_id w[3];
    omega(L, arg[OF].body[0], w);
    for (int i = 0; i < 3; i++) w[i] = cst_num_rate(cst_loader_graph(L), w[i]);
    vector(L, name, "angular-acceleration", where, "rad/s^2", arg[IN].body[0], w);
}

const cst_type cst_type_angular_acceleration = {
    .section = "measures",
    .keyword = "angular-acceleration",
    .summary = "angular acceleration of a body against the ground: x, y, z",
    .field = body_field,
    .build = angular_acceleration_build,
};
