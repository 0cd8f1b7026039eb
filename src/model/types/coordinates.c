/* SPDX-License-Identifier: MIT
 *
 * Coordinates of joints: the angle of a hinge, counted over all turns, and the travel of a slider.
 * Both are of the second body against the first, 0 when drawn. */
#include "model/types/types.h"

#include <stdio.h>

/* angle of a direction across the axis;  travel = (b - a).n_A */
static cst_id joint_coordinate(cst_loader *L, int joint, int kind)
{
    cst_joint j = cst_loader_model(L)->joint.at[joint];
    cst_id have = kind == CST_TURNS ? j.angle : j.travel, value;
    if (have != CST_NONE) return have; /* the angle remembers its turns: it is created only once */
    if (kind == CST_TURNS) {
        value = cst_build_angle(L, j.body[0], j.body[1], j.turn);
    } else {
        cst_id a[3], b[3], n[3];
        cst_x(L, j.at[0], 0, a);
        cst_x(L, j.at[1], 0, b);
        cst_x(L, j.axis, 0, n);
        cst_build_sub3(L, b, a, b);
        value = cst_num_dot3(cst_loader_graph(L), b, n);
    }
    cst_joint *to = &cst_loader_model(L)->joint.at[joint];
    *(kind == CST_TURNS ? &to->angle : &to->travel) = value;
    return value;
}

static cst_id of_joint(cst_loader *L, const cst_arg *arg, int want, int *index)
{
    int joint = cst_loader_joint(L, arg->text, arg->where);
    if (joint < 0) return CST_NONE;
    const cst_joint *j = &cst_loader_model(L)->joint.at[joint];
    int kind = j->freedom & want;
    if (kind == (CST_TURNS | CST_SLIDES)) {
        cst_loader_error(
            L, arg->where,
            "joint '%s' has an angle and a travel: use one of a measure of it, type joint",
            j->name);
        return CST_NONE;
    }
    if (kind == 0) {
        const char *which = want == CST_TURNS    ? "angle"
                            : want == CST_SLIDES ? "travel"
                                                 : "coordinate";
        cst_loader_error(L, arg->where, "joint '%s' (%s) has no %s", j->name, j->type, which);
        return CST_NONE;
    }
    if (index) *index = joint;
    return joint_coordinate(L, joint, kind);
}

cst_id cst_build_coordinate(cst_loader *L, const cst_arg *arg, int want, int *joint)
{
    cst_graph *g = cst_loader_graph(L);
    if (joint) *joint = -1;
    if (arg->text) return of_joint(L, arg, want, joint);
    if (arg->body[0] != CST_UNSET) {
        const cst_body *b =
            arg->body[0] == CST_GROUND ? NULL : &cst_loader_model(L)->body.at[arg->body[0]];
        if (b && b->cls == &cst_body_scalar)
            return cst_x1(L, cst_slot_scalar(L, arg->body[0]), 0, 0);
        cst_loader_error(L, arg->where,
                         "'%s' is a body, not a coordinate: name a joint, a scalar or a measure",
                         b ? b->name : "ground");
        return CST_NONE;
    }
    if (cst_num_depends(g, arg->num, CST_CH_X, 0) && !cst_num_depends(g, arg->num, CST_CH_X, 1) &&
        !cst_num_depends(g, arg->num, CST_CH_X, 2) && cst_num_rate(g, arg->num) != CST_NONE)
        return arg->num;
    cst_loader_error(
        L, arg->where,
        "this is not a coordinate: name a joint or a scalar, or give an expression of positions");
    return CST_NONE;
}

void cst_build_add_rates(cst_loader *L, int measure, const char *prefix, int angle, cst_id value)
{
    static const char *const unit[2][3] = {{"m", "m/s", "m/s^2"}, {"rad", "rad/s", "rad/s^2"}};
    static const char *const suffix[3] = {"", "rate", "acceleration"};
    char name[64];
    for (int k = 0; k < 3; k++) {
        snprintf(name, sizeof name, "%s%s%s", prefix, *prefix && k ? "_" : "", suffix[k]);
        cst_measure_add(L, measure, name, unit[angle != 0][k], value);
        value = cst_num_rate(cst_loader_graph(L), value);
    }
}

/* ---- joint ---- */

enum { OF };

static const cst_field joint_field[] = {
    {"of", CST_F_ELEMENT, "1", CST_ANY, NULL, "a revolute, prismatic or cylindrical joint"},
    {0},
};

static void joint_build(cst_loader *L, const char *name, cst_where where, const cst_arg *arg)
{
    int joint = cst_loader_joint(L, arg[OF].text, arg[OF].where);
    if (joint < 0) return;
    cst_joint j = cst_loader_model(L)->joint.at[joint];
    if (!j.freedom) {
        cst_loader_error(L, arg[OF].where, "joint '%s' (%s) has no coordinate of its own", j.name,
                         j.type);
        return;
    }
    int both = j.freedom == (CST_TURNS | CST_SLIDES),
        m = cst_measure_begin(L, name, "joint", where);
    if (j.freedom & CST_TURNS)
        cst_build_add_rates(L, m, both ? "angle" : "", 1, joint_coordinate(L, joint, CST_TURNS));
    if (j.freedom & CST_SLIDES)
        cst_build_add_rates(L, m, both ? "travel" : "", 0, joint_coordinate(L, joint, CST_SLIDES));
}

const cst_type cst_type_joint = {
    .section = "measures",
    .keyword = "joint",
    .summary =
        "coordinate of a joint: angle over all turns, or travel; components rate, acceleration",
    .notes = "Of the second body against the first, about or along the axis, 0 when drawn. A "
             "cylindrical joint has angle, angle_rate, angle_acceleration, travel, travel_rate, "
             "travel_acceleration instead.",
    .field = joint_field,
    .build = joint_build,
};
