/* SPDX-License-Identifier: MIT
 *
 * Couplings of joint coordinates: gear, rack-and-pinion, screw, differential. One row each; the
 * reaction is what acts on the second body of the driven joint, and the housing feels the rest
 * through the joints. */
#include "model/types/types.h"

#define COORDINATE_NOTES                                                                           \
    "Coordinates are 0 when drawn and count all turns. The reaction is that on the second body "   \
    "of the "                                                                                      \
    "driven joint."

/* phi = g; driven: the joint whose second body shows the reaction, -1: none */
static void couple(cst_loader *L, const char *name, const char *type, cst_where where, int driven,
                   cst_id g)
{
    int b[2] = {CST_GROUND, CST_GROUND};
    for (int k = 0; driven >= 0 && k < 2; k++) b[k] = cst_loader_model(L)->joint.at[driven].body[k];
    int joint = cst_joint_begin(L, name, type, where, b[0], b[1]);
    cst_add_coordinate(L, joint, "coupling", g, CST_ROW_MOTION);
    cst_joint_place(L, joint, -1, -1, -1);
    cst_joint_end(L, joint);
}

static int is_zero(cst_loader *L, const cst_arg *a, const char *what)
{
    if (cst_loader_value(L, a->num) != 0) return 0;
    cst_loader_error(L, a->where, "%s must not be 0", what);
    return 1;
}

/* ---- gear: th_to = i th_from ---- */

enum { FROM, TO, RATIO };

static const cst_field gear_field[] = {
    {"from", CST_F_COORDINATE, "1", CST_ANY, NULL,
     "driving revolute joint (or scalar, or expression)"},
    {"to", CST_F_COORDINATE, "1", CST_ANY, NULL,
     "driven revolute joint (or scalar, or expression)"},
    {"ratio", CST_F_NUMBER, "1", CST_ANY, NULL,
     "i: turns of `to` per turn of `from`; negative where gears mesh outside"},
    {0},
};

static void gear_build(cst_loader *L, const char *name, cst_where where, const cst_arg *arg)
{
    cst_graph *g = cst_loader_graph(L);
    int driven;
    cst_id from = cst_build_coordinate(L, &arg[FROM], CST_TURNS, NULL);
    cst_id to = cst_build_coordinate(L, &arg[TO], CST_TURNS, &driven);
    if (from == CST_NONE || to == CST_NONE || is_zero(L, &arg[RATIO], "ratio")) return;
    couple(L, name, "gear", where, driven,
           cst_num_sub(g, to, cst_num_mul(g, arg[RATIO].num, from)));
}

const cst_type cst_type_gear = {
    .section = "joints",
    .keyword = "gear",
    .summary = "th_to = i th_from: a pair of gears, a belt, a chain (1 row)",
    .notes = COORDINATE_NOTES,
    .field = gear_field,
    .build = gear_build,
};

/* ---- rack-and-pinion: s = R th ---- */

enum { PINION, RACK, RADIUS };

static const cst_field rack_field[] = {
    {"pinion", CST_F_COORDINATE, "1", CST_ANY, NULL, "revolute joint of the pinion"},
    {"rack", CST_F_COORDINATE, "1", CST_ANY, NULL, "prismatic joint of the rack"},
    {"radius", CST_F_NUMBER, "m", CST_ANY, NULL,
     "R of the pinion: travel per radian; negative turns the sense"},
    {0},
};

static void rack_build(cst_loader *L, const char *name, cst_where where, const cst_arg *arg)
{
    cst_graph *g = cst_loader_graph(L);
    int driven;
    cst_id th = cst_build_coordinate(L, &arg[PINION], CST_TURNS, NULL);
    cst_id s = cst_build_coordinate(L, &arg[RACK], CST_SLIDES, &driven);
    if (th == CST_NONE || s == CST_NONE || is_zero(L, &arg[RADIUS], "radius")) return;
    couple(L, name, "rack-and-pinion", where, driven,
           cst_num_sub(g, s, cst_num_mul(g, arg[RADIUS].num, th)));
}

const cst_type cst_type_rack_and_pinion = {
    .section = "joints",
    .keyword = "rack-and-pinion",
    .summary = "s = R th: the travel of a rack and the angle of its pinion (1 row)",
    .notes = COORDINATE_NOTES,
    .field = rack_field,
    .build = rack_build,
};

/* ---- screw: s = p th/(2 pi) ---- */

enum { NUT, SLIDE, LEAD };

static const cst_field screw_field[] = {
    {"turn", CST_F_COORDINATE, "1", CST_ANY, NULL,
     "revolute joint, or the cylindrical joint that has both"},
    {"slide", CST_F_COORDINATE, "1", CST_ANY, "",
     "prismatic joint; default: the same cylindrical joint"},
    {"lead", CST_F_NUMBER, "m", CST_ANY, NULL,
     "p: travel per turn; negative for a left-handed screw"},
    {0},
};

static void screw_build(cst_loader *L, const char *name, cst_where where, const cst_arg *arg)
{
    cst_graph *g = cst_loader_graph(L);
    int driven;
    cst_id th = cst_build_coordinate(L, &arg[NUT], CST_TURNS, NULL);
    cst_id s = cst_build_coordinate(L, &arg[arg[SLIDE].given ? SLIDE : NUT], CST_SLIDES, &driven);
    if (th == CST_NONE || s == CST_NONE || is_zero(L, &arg[LEAD], "lead")) return;
    cst_id per_radian = cst_num_mul(g, arg[LEAD].num, cst_num_const(g, 0.5 / CST_PI));
    couple(L, name, "screw", where, driven, cst_num_sub(g, s, cst_num_mul(g, per_radian, th)));
}

const cst_type cst_type_screw = {
    .section = "joints",
    .keyword = "screw",
    .summary = "s = p th/(2 pi): a screw in its nut (1 row)",
    .notes = COORDINATE_NOTES,
    .field = screw_field,
    .build = screw_build,
};

/* ---- differential: th_input = i (th_left + th_right)/2 ---- */

enum { INPUT, LEFT, RIGHT, D_RATIO };

static const cst_field differential_field[] = {
    {"input", CST_F_COORDINATE, "1", CST_ANY, NULL,
     "revolute joint (or scalar) of the input shaft"},
    {"left", CST_F_COORDINATE, "1", CST_ANY, NULL, "revolute joint of one output"},
    {"right", CST_F_COORDINATE, "1", CST_ANY, NULL, "revolute joint of the other"},
    {"ratio", CST_F_NUMBER, "1", CST_ANY, "1", "i: turns of the input per turn of the carrier"},
    {0},
};

static void differential_build(cst_loader *L, const char *name, cst_where where, const cst_arg *arg)
{
    cst_graph *g = cst_loader_graph(L);
    int driven;
    cst_id in = cst_build_coordinate(L, &arg[INPUT], CST_TURNS, NULL);
    cst_id left = cst_build_coordinate(L, &arg[LEFT], CST_TURNS, &driven);
    cst_id right = cst_build_coordinate(L, &arg[RIGHT], CST_TURNS, NULL);
    if (in == CST_NONE || left == CST_NONE || right == CST_NONE ||
        is_zero(L, &arg[D_RATIO], "ratio"))
        return;
    cst_id carrier = cst_num_mul(g, cst_num_const(g, 0.5), cst_num_add(g, left, right));
    couple(L, name, "differential", where, driven,
           cst_num_sub(g, in, cst_num_mul(g, arg[D_RATIO].num, carrier)));
}

const cst_type cst_type_differential = {
    .section = "joints",
    .keyword = "differential",
    .summary = "th_input = i (th_left + th_right)/2: an open differential, equal torques on both "
               "outputs (1 row)",
    .notes = "Coordinates are 0 when drawn and count all turns. The reaction is that on the second "
             "body of the left joint. A limited slip is a torsion or a friction on the difference "
             "of the two angles.",
    .field = differential_field,
    .build = differential_build,
};
