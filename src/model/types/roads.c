/* SPDX-License-Identifier: MIT
 *
 * Roads: heights z(x, y, t) in ground axes. A road is a law of s = x and v = y, which each tire
 * takes at its wheel centre. Jumps of the height or of its slope are comparisons, so that they
 * become events of the tires. */
#include "model/types/types.h"

static cst_id road_x(cst_loader *L)
{
    return cst_num_channel(cst_loader_graph(L), CST_CH_ARG, 0, 0);
}
static cst_id road_y(cst_loader *L)
{
    return cst_num_channel(cst_loader_graph(L), CST_CH_ARG, 1, 0);
}

/* ---- plane ---- */

enum { PLANE_POINT, PLANE_NORMAL };

static const cst_field plane_field[] = {
    {"point", CST_F_VECTOR, "m", CST_ANY, "[0, 0, 0]", "a point of the plane"},
    {"normal", CST_F_AXIS, "1", CST_ANY, "z", "direction across the plane, upwards"},
    {0},
};

/* z = z0 - (n_x (x - x0) + n_y (y - y0))/n_z */
static void build_plane(cst_loader *L, const char *name, cst_where where, const cst_arg *arg)
{
    cst_graph *g = cst_loader_graph(L);
    const cst_id *p = arg[PLANE_POINT].vec, *n = arg[PLANE_NORMAL].vec;
    (void)where;
    if (cst_loader_value(L, n[2]) <= 0) {
        cst_loader_error(L, arg[PLANE_NORMAL].where,
                         "the normal of a road points upwards: its z must be positive");
        return;
    }
    cst_id across = cst_num_add(g, cst_num_mul(g, n[0], cst_num_sub(g, road_x(L), p[0])),
                                cst_num_mul(g, n[1], cst_num_sub(g, road_y(L), p[1])));
    cst_add_road(L, name, cst_num_sub(g, p[2], cst_num_div(g, across, n[2])));
}

const cst_type cst_type_road_plane = {
    .section = "roads",
    .keyword = "plane",
    .summary = "a plane, level by default",
    .field = plane_field,
    .build = build_plane,
};

/* ---- step, ramp, bump ---- */

enum { STEP_AT, STEP_HEIGHT, STEP_BASE };

static const cst_field step_field[] = {
    {"at", CST_F_NUMBER, "m", CST_ANY, NULL, "x of the step"},
    {"height", CST_F_NUMBER, "m", CST_ANY, NULL,
     "how much higher the road is behind it; negative: it drops"},
    {"base", CST_F_NUMBER, "m", CST_ANY, "0", "height before it"},
    {0},
};

/* a where x < at, else b */
static cst_id before(cst_loader *L, cst_id at, cst_id a, cst_id b)
{
    cst_graph *g = cst_loader_graph(L);
    return cst_num_call(g, "if", cst_num_call(g, "<", road_x(L), at, CST_NONE), a, b);
}

static void build_step(cst_loader *L, const char *name, cst_where where, const cst_arg *arg)
{
    cst_graph *g = cst_loader_graph(L);
    (void)where;
    cst_add_road(L, name,
                 before(L, arg[STEP_AT].num, arg[STEP_BASE].num,
                        cst_num_add(g, arg[STEP_BASE].num, arg[STEP_HEIGHT].num)));
}

const cst_type cst_type_road_step = {
    .section = "roads",
    .keyword = "step",
    .summary = "level, with a step",
    .notes = "A wheel is on the step when its centre is: the instant is an event.",
    .field = step_field,
    .build = build_step,
};

enum { RISE_AT, RISE_LENGTH, RISE_HEIGHT, RISE_BASE };

static const cst_field ramp_field[] = {
    {"at", CST_F_NUMBER, "m", CST_ANY, NULL, "x where it begins"},
    {"length", CST_F_NUMBER, "m", 1e-12, INFINITY, NULL, "along x"},
    {"height", CST_F_NUMBER, "m", CST_ANY, NULL, "how much higher the road is behind it"},
    {"base", CST_F_NUMBER, "m", CST_ANY, "0", "height before it"},
    {0},
};

static void build_ramp(cst_loader *L, const char *name, cst_where where, const cst_arg *arg)
{
    cst_graph *g = cst_loader_graph(L);
    cst_id at = arg[RISE_AT].num, length = arg[RISE_LENGTH].num, height = arg[RISE_HEIGHT].num,
           base = arg[RISE_BASE].num;
    (void)where;
    cst_id slope = cst_num_div(g, cst_num_mul(g, height, cst_num_sub(g, road_x(L), at)), length);
    cst_id behind = before(L, cst_num_add(g, at, length), cst_num_add(g, base, slope),
                           cst_num_add(g, base, height));
    cst_add_road(L, name, before(L, at, base, behind));
}

const cst_type cst_type_road_ramp = {
    .section = "roads",
    .keyword = "ramp",
    .summary = "level, with a straight slope to another level",
    .notes = "The direction of a tire's force jumps with the slope: both ends are events.",
    .field = ramp_field,
    .build = build_ramp,
};

static const cst_field bump_field[] = {
    {"at", CST_F_NUMBER, "m", CST_ANY, NULL, "x where it begins"},
    {"length", CST_F_NUMBER, "m", 1e-12, INFINITY, NULL, "along x"},
    {"height", CST_F_NUMBER, "m", CST_ANY, NULL, "in its middle; negative: a dip"},
    {"base", CST_F_NUMBER, "m", CST_ANY, "0", "height around it"},
    {0},
};

/* z = base + height/2 (1 - cos 2 pi xi),  xi = clamp((x - at)/length, 0, 1): height and slope are
 * continuous */
static void build_bump(cst_loader *L, const char *name, cst_where where, const cst_arg *arg)
{
    cst_graph *g = cst_loader_graph(L);
    cst_id zero = cst_num_const(g, 0), one = cst_num_const(g, 1);
    (void)where;
    cst_id xi = cst_num_div(g, cst_num_sub(g, road_x(L), arg[RISE_AT].num), arg[RISE_LENGTH].num);
    xi = cst_num_call(g, "clamp", xi, zero, one);
    cst_id wave = cst_num_call(g, "cos", cst_num_mul(g, cst_num_const(g, 6.283185307179586), xi),
                               CST_NONE, CST_NONE);
    cst_id rise = cst_num_mul(g, cst_num_mul(g, cst_num_const(g, 0.5), arg[RISE_HEIGHT].num),
                              cst_num_sub(g, one, wave));
    cst_add_road(L, name, cst_num_add(g, arg[RISE_BASE].num, rise));
}

const cst_type cst_type_road_bump = {
    .section = "roads",
    .keyword = "bump",
    .summary = "level, with a bump or dip of the shape 1 - cos",
    .field = bump_field,
    .build = build_bump,
};

/* ---- profile, rig, expression ---- */

enum { CSV, COLUMN_X, COLUMN_Z, SCALE, OFFSET, OUTSIDE, NUMBERS };

static const cst_field profile_field[] = {
    {"csv", CST_F_NODE, "1", CST_ANY, NULL, "a CSV file, relative to the model file"},
    {"x", CST_F_TEXT, "1", CST_ANY, "x", "its column of places, m"},
    {"z", CST_F_TEXT, "1", CST_ANY, "z", "its column of heights, m"},
    {"scale", CST_F_NUMBER, "1", CST_ANY, "1", "multiplies the heights"},
    {"offset", CST_F_NUMBER, "m", CST_ANY, "0", "is added to the heights"},
    {"outside", CST_F_CHOICE, "clamp|extend|periodic", CST_ANY, "clamp",
     "beyond the ends of the file"},
    {"numbers", CST_F_FLAG, "1", CST_ANY, "false",
     "true: each height of the file is a number of the model, NAME.z[i], with a gradient"},
    {0},
};

static void build_profile(cst_loader *L, const char *name, cst_where where, const cst_arg *arg)
{
    cst_graph *g = cst_loader_graph(L);
    const cst_table *t =
        cst_profile_read(L, name, where, arg[CSV].node, arg[COLUMN_X].text, arg[COLUMN_Z].text,
                         arg[OUTSIDE].choice, arg[NUMBERS].choice);
    if (!t) return;
    cst_id z = cst_num_table(g, t, road_x(L), 0);
    cst_add_road(L, name, cst_num_add(g, arg[OFFSET].num, cst_num_mul(g, arg[SCALE].num, z)));
}

const cst_type cst_type_road_profile = {
    .section = "roads",
    .keyword = "profile",
    .summary = "a recorded profile z(x), as a cubic spline",
    .field = profile_field,
    .build = build_profile,
};

enum { HEIGHT };

static const cst_field rig_field[] = {
    {"height", CST_F_TIME, "m", CST_ANY, NULL, "a function of t"},
    {0},
};

static void build_height(cst_loader *L, const char *name, cst_where where, const cst_arg *arg)
{
    (void)where;
    if (cst_road_fits(L, arg[HEIGHT].where, arg[HEIGHT].num))
        cst_add_road(L, name, arg[HEIGHT].num);
}

const cst_type cst_type_road_rig = {
    .section = "roads",
    .keyword = "rig",
    .summary = "a platform that moves up and down: a test rig",
    .notes = "Use one rig per wheel that is moved independently.",
    .field = rig_field,
    .build = build_height,
};

static const cst_field expression_field[] = {
    {"height", CST_F_LAW, "m", CST_ANY, NULL, "an expression of s (that is x), t and numbers"},
    {0},
};

const cst_type cst_type_road_expression = {
    .section = "roads",
    .keyword = "expression",
    .summary = "a height written as an expression",
    .notes = "The direction of tire forces depends on the slope; a jump of it (comparisons, min, "
             "max, abs, clamp, linear tables of up to 64 points) is an event.",
    .field = expression_field,
    .build = build_height,
};
