/* SPDX-License-Identifier: MIT
 *
 * Beams, and the measures and joint rows that read their slope. */
#include "model/types/types.h"

enum {
    FROM,
    TO,
    ELEMENTS,
    MODULUS,
    DENSITY,
    WIDTH,
    HEIGHT,
    RADIUS,
    INNER,
    AREA,
    SECOND,
    LENGTH,
    STRAIN,
    VELOCITY,
    SPIN
};

static const cst_field field[] = {
    {"from", CST_F_POINT, "m", CST_ANY, NULL, "one end, when drawn"},
    {"to", CST_F_POINT, "m", CST_ANY, NULL, "the other end"},
    {"elements", CST_F_COUNT, "1", 1, 10000, "4", "number of elements, all of one length"},
    {"modulus", CST_F_NUMBER, "Pa", CST_NOT_NEGATIVE, NULL, "E: Young's modulus"},
    {"density", CST_F_NUMBER, "kg/m^3", CST_NOT_NEGATIVE, NULL, "density"},
    {"width", CST_F_NUMBER, "m", CST_NOT_NEGATIVE, "", "b of a rectangular section, with height"},
    {"height", CST_F_NUMBER, "m", CST_NOT_NEGATIVE, "", "h of a rectangular section: I = b h^3/12"},
    {"radius", CST_F_NUMBER, "m", CST_NOT_NEGATIVE, "", "radius of a round section"},
    {"inner_radius", CST_F_NUMBER, "m", CST_NOT_NEGATIVE, "", "of a tube, with radius"},
    {"area", CST_F_NUMBER, "m^2", CST_NOT_NEGATIVE, "", "A of any section, with second_moment"},
    {"second_moment", CST_F_NUMBER, "m^4", CST_NOT_NEGATIVE, "", "I of any section, with area"},
    {"length", CST_F_NUMBER, "m", CST_NOT_NEGATIVE, "", "length at rest; default: as drawn"},
    {"strain", CST_F_CHOICE, "mean|green", CST_ANY, "mean",
     "axial strain in the stress: its mean over each element, or the local one"},
    {"velocity", CST_F_VECTOR, "m/s", CST_ANY, "[0, 0, 0]",
     "of the middle at the start, ground axes"},
    {"angular_velocity", CST_F_AXIAL, "rad/s", CST_ANY, "[0, 0, 0]", "at the start, ground axes"},
    {0},
};

static cst_id times(cst_loader *L, double c, cst_id a, cst_id b)
{
    cst_graph *g = cst_loader_graph(L);
    return cst_num_mul(g, cst_num_const(g, c), cst_num_mul(g, a, b));
}

/* rectangle  A = b h,  I = b h^3/12;      tube  A = pi (R^2 - r^2),  I = pi/4 (R^4 - r^4) */
static int section(cst_loader *L, cst_where where, const cst_arg *arg, cst_id *A, cst_id *I)
{
    int box = arg[WIDTH].given + arg[HEIGHT].given, any = arg[AREA].given + arg[SECOND].given;
    int round = arg[RADIUS].given || arg[INNER].given;
    if ((box == 2) + (any == 2) + arg[RADIUS].given != 1 || (box > 0) + (any > 0) + round != 1) {
        cst_loader_error(
            L, where,
            "a beam needs one section: width and height, or radius, or area and second_moment");
        return 0;
    }
    if (any) {
        *A = arg[AREA].num, *I = arg[SECOND].num;
    } else if (box) {
        cst_id h = arg[HEIGHT].num;
        *A = times(L, 1, arg[WIDTH].num, h);
        *I = times(L, 1.0 / 12, *A, times(L, 1, h, h));
    } else {
        cst_graph *g = cst_loader_graph(L);
        cst_id RR = times(L, 1, arg[RADIUS].num, arg[RADIUS].num), rr = cst_num_const(g, 0);
        if (arg[INNER].given) rr = times(L, 1, arg[INNER].num, arg[INNER].num);
        *A = times(L, CST_PI, cst_num_const(g, 1), cst_num_sub(g, RR, rr));
        *I = times(L, 0.25, *A, cst_num_add(g, RR, rr));
    }
    if (cst_loader_value(L, *A) > 0) return 1;
    cst_loader_error(L, where, "the section of the beam has no area");
    return 0;
}

static void build(cst_loader *L, const char *name, cst_where where, const cst_arg *arg)
{
    cst_beam_def d = {.n = arg[ELEMENTS].choice,
                      .green = arg[STRAIN].choice,
                      .E = arg[MODULUS].num,
                      .density = arg[DENSITY].num};
    cst_id span[3];
    for (int i = 0; i < 3; i++) {
        d.from[i] = arg[FROM].vec[i], d.to[i] = arg[TO].vec[i];
        d.velocity[i] = arg[VELOCITY].vec[i], d.spin[i] = arg[SPIN].vec[i];
    }
    cst_build_sub3(L, d.to, d.from, span);
    cst_id drawn = cst_build_norm3(L, span);
    d.length = arg[LENGTH].given ? arg[LENGTH].num : drawn;
    if (!(cst_loader_value(L, drawn) > 0) || !(cst_loader_value(L, d.length) > 0)) {
        cst_loader_error(L, where, "the beam '%s' has no length", name);
        return;
    }
    if (section(L, where, arg, &d.A, &d.I)) cst_add_beam(L, name, where, &d);
}

const cst_type cst_type_beam = {
    .section = "bodies",
    .keyword = "beam",
    .summary = "straight elastic beam between two points, for bending of any size",
    .notes = "Absolute nodal coordinates: axial strain and bending, no shear, no torsion, the same "
             "stiffness against bending in all planes through the axis. Drawn straight. BODY.POINT "
             "is any point drawn on its axis. `fixed` clamps its end, `revolute` and `spherical` "
             "hold its position. `green` follows the strain along an element, which locks in "
             "slender elements that bend: `mean` is better there.",
    .field = field,
    .build = build,
};
