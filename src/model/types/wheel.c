/* SPDX-License-Identifier: MIT
 *
 * Spin, camber, toe and steer of a wheel, from the direction a of its axis, which points to the
 * left as drawn:
 *
 *     up, x forward and y = up x x to the left are fixed in the reference body
 *     spin   = (omega - omega_carrier).a
 *     lean   = atan2(a.up, |a across up|), of the top to the right;   camber = -lean on the left
 * side, lean on the right steer  = atan2(-a.x, a.y), to the left;        toe    = -steer on the
 * left side, steer on the right (toe-in) */
#include "model/types/types.h"

enum { OF, AXIS, CARRIER, REFERENCE, UP, FORWARD, SIDE };

static const cst_field field[] = {
    {"of", CST_F_BODY, "1", CST_ANY, NULL, "the wheel, a rigid body"},
    {"axis", CST_F_AXIS, "1", CST_ANY, "y", "its axis when drawn, to the left of travel"},
    {"carrier", CST_F_BODY, "1", CST_ANY, "ground", "body relative to which the spin is measured"},
    {"reference", CST_F_BODY, "1", CST_ANY, "ground",
     "body whose axes camber and toe are measured in: chassis or ground"},
    {"up", CST_F_AXIS, "1", CST_ANY, "z", "upward axis of the reference when drawn"},
    {"forward", CST_F_AXIS, "1", CST_ANY, "x", "forward axis of the reference when drawn"},
    {"side", CST_F_CHOICE, "left|right", CST_ANY, "left",
     "side of the vehicle: the sign of camber and toe"},
    {0},
};

static void omega(cst_loader *L, int body, cst_id w[3])
{
    cst_graph *g = cst_loader_graph(L);
    int slot[3];
    cst_build_const3(L, 0, 0, 0, w);
    if (body == CST_GROUND) return;
    cst_slot_triad(L, body, slot);
    for (int i = 0; i < 3; i++) {
        cst_id e[3], ed[3], c[3];
        cst_x(L, slot[i], 0, e);
        cst_x(L, slot[i], 1, ed);
        cst_num_cross3(g, e, ed, c);
        cst_build_add3(L, w, c, w);
    }
    cst_build_scale3(L, cst_num_const(g, 0.5), w, w);
}

static void build(cst_loader *L, const char *name, cst_where where, const cst_arg *arg)
{
    cst_graph *g = cst_loader_graph(L);
    int body = arg[OF].body[0], in = arg[REFERENCE].body[0];
    if (body == CST_GROUND) {
        cst_loader_error(L, arg[OF].where, "the wheel must be a rigid body");
        return;
    }
    if (!cst_build_has_axes(L, arg[OF].where, body) ||
        !cst_build_has_axes(L, arg[CARRIER].where, arg[CARRIER].body[0]) ||
        !cst_build_has_axes(L, arg[REFERENCE].where, in))
        return;
    cst_id a[3], up[3], x[3], y[3], w[3], v[3], dot[3];
    cst_x(L, cst_slot_direction(L, body, arg[AXIS].vec), 0, a);
    cst_x(L, cst_slot_direction(L, in, arg[UP].vec), 0, up);
    cst_num_cross3(g, arg[UP].vec, arg[FORWARD].vec, dot); /* y when drawn, not normalised */
    cst_x(L, cst_slot_direction(L, in, dot), 0, y);
    cst_num_cross3(g, dot, arg[UP].vec, v); /* forward, square to up */
    cst_x(L, cst_slot_direction(L, in, v), 0, x);
    omega(L, body, w);
    omega(L, arg[CARRIER].body[0], v);
    cst_build_sub3(L, w, v, w);
    cst_id ax = cst_num_dot3(g, a, x), ay = cst_num_dot3(g, a, y);
    cst_id level = cst_num_sqrt(g, cst_num_add(g, cst_num_mul(g, ax, ax), cst_num_mul(g, ay, ay)));
    cst_id lean = cst_num_call(g, "atan2", cst_num_dot3(g, a, up), level, CST_NONE);
    cst_id steer = cst_num_call(g, "atan2", cst_num_neg(g, ax), ay, CST_NONE);
    int left = arg[SIDE].choice == 0;
    int m = cst_measure_begin(L, name, "wheel", where);
    cst_measure_add(L, m, "spin", "rad/s", cst_num_dot3(g, w, a));
    cst_measure_add(L, m, "camber", "rad", left ? cst_num_neg(g, lean) : lean);
    cst_measure_add(L, m, "toe", "rad", left ? cst_num_neg(g, steer) : steer);
    cst_measure_add(L, m, "steer", "rad", steer);
}

const cst_type cst_type_wheel = {
    .section = "measures",
    .keyword = "wheel",
    .summary = "spin, camber, toe and steer of a wheel",
    .notes = "Spin is positive when the wheel rolls forward. Camber is positive when the top leans "
             "outward, toe when the front points inward (toe-in); steer is positive to the left, "
             "whatever the side.",
    .field = field,
    .build = build,
};
