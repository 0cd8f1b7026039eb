/* SPDX-License-Identifier: MIT
 *
 * Tires on roads. */
#include "model/types/types.h"

enum { WHEEL, CENTRE, AXIS, RADIUS, STIFFNESS, DAMPING, FRICTION, FRICTION_Y, KAPPA, ALPHA, LOW, ROAD, POINT, ROLLING, INDENT };

static const cst_field field[] = {
    {"wheel", CST_F_BODY, "1", CST_ANY, NULL, "the body that rolls"},
    {"centre", CST_F_POINT, "m", CST_ANY, "", "wheel centre, fixed in the wheel; default: its origin"},
    {"axis", CST_F_AXIS, "1", CST_ANY, "y", "wheel axis when drawn, to the left of travel"},
    {"radius", CST_F_NUMBER, "m", 1e-12, INFINITY, NULL, "R, of the unloaded wheel"},
    {"stiffness", CST_F_NUMBER, "N/m", CST_NOT_NEGATIVE, NULL, "k, of the indentation"},
    {"damping", CST_F_NUMBER, "N*s/m", CST_NOT_NEGATIVE, "0", "c, of the vertical velocity, in contact"},
    {"friction", CST_F_NUMBER, "1", CST_NOT_NEGATIVE, "1", "mu, longitudinal and lateral"},
    {"lateral_friction", CST_F_NUMBER, "1", CST_NOT_NEGATIVE, "", "mu, lateral, if it differs"},
    {"critical_slip", CST_F_NUMBER, "1", 1e-12, INFINITY, "0.1", "longitudinal slip at which friction saturates"},
    {"critical_angle", CST_F_NUMBER, "rad", 1e-12, INFINITY, "0.1", "slip angle at which friction saturates"},
    {"low_speed", CST_F_NUMBER, "m/s", 1e-12, INFINITY, "1e-2", "below it slips are regularised: standstill is regular"},
    {"road", CST_F_LAW, "m", CST_ANY, "0", "height of the road, an expression of s (x of the wheel centre) and t"},
    {"contact", CST_F_CHOICE, "circle|below", CST_ANY, "circle",
     "where the force acts: lowest point of the circle, moved to the road; or below the centre"},
    {"rolling_radius", CST_F_CHOICE, "loaded|nominal", CST_ANY, "loaded", "radius in the longitudinal slip: height of the centre, or R"},
    {"indentation", CST_F_CHOICE, "circle|vertical", CST_ANY, "circle",
     "of the wheel's circle, which camber lifts from the road; or R less the height of the centre"},
    {0},
};

/* delta = R sqrt(1 - u_z^2) - (c_z - z), or R - (c_z - z) */
static cst_id indentation(cst_loader *L, int centre, int axis, cst_id R, int upright, cst_id z)
{
    cst_graph *g = cst_loader_graph(L);
    if (upright) return cst_num_add(g, cst_num_sub(g, R, cst_x1(L, centre, 2, 0)), z);
    cst_id u = cst_x1(L, axis, 2, 0), sigma = cst_num_sqrt(g, cst_num_sub(g, cst_num_const(g, 1), cst_num_mul(g, u, u)));
    return cst_num_add(g, cst_num_sub(g, cst_num_mul(g, R, sigma), cst_x1(L, centre, 2, 0)), z);
}

static void build(cst_loader *L, const char *name, cst_where where, const cst_arg *arg)
{
    cst_graph *g = cst_loader_graph(L);
    int body = arg[WHEEL].body[0], slot[5];
    if (body == CST_GROUND || cst_loader_model(L)->body.at[body].cls != &cst_body_rigid) {
        cst_loader_error(L, arg[WHEEL].where, "the wheel must be a rigid body");
        return;
    }
    const cst_body *b = &cst_loader_model(L)->body.at[body];
    slot[0] = arg[CENTRE].given ? cst_slot_of(L, &arg[CENTRE], body) : cst_slot_point(L, body, b->frame);
    slot[1] = cst_slot_direction(L, body, arg[AXIS].vec);
    cst_slot_triad(L, body, slot + 2);
    cst_id x[3], zero = cst_num_const(g, 0), one = cst_num_const(g, 1);
    cst_x(L, slot[0], 0, x);
    cst_id z = cst_law_at(L, name, where, arg[ROAD].num, x[0]); /* with its jumps as events of the wheel */
    cst_id delta = indentation(L, slot[0], slot[1], arg[RADIUS].num, arg[INDENT].choice == 1, z);
    const cst_id out[3] = {z, cst_num_timed(g, z) ? cst_num_diff(g, z, cst_time(L)) : zero, cst_add_event(L, name, where, delta)};
    const cst_id p[] = {arg[RADIUS].num, arg[STIFFNESS].num, arg[DAMPING].num, arg[FRICTION].num,
                        arg[FRICTION_Y].given ? arg[FRICTION_Y].num : arg[FRICTION].num, arg[KAPPA].num, arg[ALPHA].num,
                        arg[LOW].num, arg[POINT].choice == 1 ? one : zero, arg[ROLLING].choice == 1 ? one : zero,
                        arg[INDENT].choice == 1 ? one : zero};
    cst_add_taped_force(L, name, "tire", where, &cst_force_tire, 5, slot, 11, p, 3, out);
    cst_add_wheel(L, body, slot[0], slot[1], arg[RADIUS].num, arg[ROAD].num);
}

const cst_type cst_type_tire = {
    .section = "forces",
    .keyword = "tire",
    .summary = "tire of a wheel on a road with vertical normal: indentation, slips, saturation",
    .notes = "Longitudinal force along the heading axis x up, lateral force to its left. Contact on and off, and jumps of the "
             "road, are events. Slips are clamped at their critical values and then limited to the friction ellipse.",
    .field = field,
    .build = build,
};
