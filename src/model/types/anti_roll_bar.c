/* SPDX-License-Identifier: MIT
 *
 * Anti-roll bar: a torsion spring between two arms, given by their joints or by the points at their
 * ends.
 *
 *     joints:   g = th_right - th_left                       k in N m/rad
 *     points:   g = (x_right - x_left) . n, n fixed in the body that carries the bar, minus its
 * drawn value;  k in N/m F = k (g - g0) + c g',   generalised force -F on g
 *
 * g does not change when the whole turns, so the forces have no resultant: n gives the carrier its
 * share. */
#include "model/types/types.h"

enum { LEFT, RIGHT, POINT_LEFT, POINT_RIGHT, ON, AXIS, STIFFNESS, DAMPING, PRELOAD };

static const cst_field field[] = {
    {"left", CST_F_COORDINATE, "1", CST_ANY, "", "revolute joint of the left arm"},
    {"right", CST_F_COORDINATE, "1", CST_ANY, "", "revolute joint of the right arm"},
    {"left_end", CST_F_POINT, "m", CST_ANY, "",
     "instead of joints: end of the left link, BODY.POINT"},
    {"right_end", CST_F_POINT, "m", CST_ANY, "", "end of the right link"},
    {"on", CST_F_BODY, "1", CST_ANY, "", "body that carries the bar, with left_end and right_end"},
    {"axis", CST_F_AXIS, "1", CST_ANY, "z",
     "n: direction in which the ends move, fixed in that body"},
    {"stiffness", CST_F_NUMBER, CST_BY_CONTEXT, CST_NOT_NEGATIVE, NULL,
     "k: N m/rad between joints; N/m between ends"},
    {"damping", CST_F_NUMBER, CST_BY_CONTEXT, CST_NOT_NEGATIVE, "0", "c: N m s/rad or N s/m"},
    {"offset", CST_F_NUMBER, CST_BY_CONTEXT, CST_ANY, "0",
     "g0: difference without force, relative to the drawing; rad or m"},
    {0},
};

static cst_id between_joints(cst_loader *L, const cst_arg *arg)
{
    cst_id l = cst_build_coordinate(L, &arg[LEFT], CST_TURNS, NULL);
    cst_id r = cst_build_coordinate(L, &arg[RIGHT], CST_TURNS, NULL);
    if (l == CST_NONE || r == CST_NONE) return CST_NONE;
    return cst_num_sub(cst_loader_graph(L), r, l);
}

static cst_id between_ends(cst_loader *L, const cst_arg *arg)
{
    cst_graph *g = cst_loader_graph(L);
    if (!cst_build_has_body(L, &arg[POINT_LEFT], "left_end") ||
        !cst_build_has_body(L, &arg[POINT_RIGHT], "right_end") ||
        !cst_build_has_axes(L, arg[ON].where, arg[ON].body[0]))
        return CST_NONE;
    cst_id l[3], r[3], n[3], unit[3], d[3];
    cst_x(L, cst_slot_of(L, &arg[POINT_LEFT], CST_GROUND), 0, l);
    cst_x(L, cst_slot_of(L, &arg[POINT_RIGHT], CST_GROUND), 0, r);
    cst_x(L, cst_slot_direction(L, arg[ON].body[0], arg[AXIS].vec), 0, n);
    cst_build_sub3(L, r, l, r);
    cst_build_derive(L, &cst_vop_unit, 3, arg[AXIS].vec, 3, unit);
    cst_build_sub3(L, arg[POINT_RIGHT].vec, arg[POINT_LEFT].vec, d);
    return cst_num_sub(g, cst_num_dot3(g, r, n), cst_num_dot3(g, d, unit));
}

static void build(cst_loader *L, const char *name, cst_where where, const cst_arg *arg)
{
    cst_graph *g = cst_loader_graph(L);
    int joints = arg[LEFT].given + arg[RIGHT].given;
    int ends = arg[POINT_LEFT].given + arg[POINT_RIGHT].given + arg[ON].given;
    if (!(joints == 2 && ends == 0) && !(joints == 0 && ends == 3)) {
        cst_loader_error(L, where, "give either left and right, or left_end, right_end and on");
        return;
    }
    cst_id d = joints ? between_joints(L, arg) : between_ends(L, arg);
    if (d == CST_NONE) return;
    cst_id F =
        cst_num_add(g, cst_num_mul(g, arg[STIFFNESS].num, cst_num_sub(g, d, arg[PRELOAD].num)),
                    cst_num_mul(g, arg[DAMPING].num, cst_num_rate(g, d)));
    cst_add_generalised_force(L, name, "anti-roll-bar", where, d, cst_num_neg(g, F));
}

const cst_type cst_type_anti_roll_bar = {
    .section = "forces",
    .keyword = "anti-roll-bar",
    .summary = "torsion spring between two arms, or between the ends of two links",
    .notes = "There is no force while both sides move alike. A bar of torsional stiffness kt with "
             "arms of length r has k = kt/r^2 between its ends.",
    .field = field,
    .build = build,
};
