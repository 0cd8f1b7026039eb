/* SPDX-License-Identifier: MIT
 *
 * What a beam does inside: slope, strain, curvature, stress at a point of its axis. */
#include "model/types/types.h"

enum { OF, HEIGHT, AXIS };

/* the beam's body, or CST_UNSET: reported */
static int beam_of(cst_loader *L, const cst_arg *point)
{
    if (!cst_build_has_body(L, point, "of")) return CST_UNSET;
    int body = point->body[0];
    if (body != CST_GROUND && cst_loader_model(L)->body.at[body].beam) return body;
    cst_loader_error(L, point->where, "must be a point of a beam: BEAM.POINT");
    return CST_UNSET;
}

/* ---- slope ---- */

static const cst_field slope_field[] = {
    {"of", CST_F_POINT, "m", CST_ANY, NULL, "the point: BEAM.POINT"},
    {0},
};

static void slope_build(cst_loader *L, const char *name, cst_where where, const cst_arg *arg)
{
    int body = beam_of(L, &arg[OF]);
    if (body == CST_UNSET) return;
    cst_id s[3];
    cst_x(L, cst_slot_along(L, body, arg[OF].vec, 1), 0, s);
    cst_build_add_xyz(L, cst_measure_begin(L, name, "slope", where), "", "1", s);
}

const cst_type cst_type_slope = {
    .section = "measures",
    .keyword = "slope",
    .summary = "dr/dx at a point of a beam: x, y, z",
    .notes = "It points from `from` to `to` of the beam. Its length is the stretch, 1 at rest.",
    .field = slope_field,
    .build = slope_build,
};

/* ---- stress ---- */

static const cst_field stress_field[] = {
    {"of", CST_F_POINT, "m", CST_ANY, NULL, "the point: BEAM.POINT"},
    {"height", CST_F_NUMBER, "m", CST_ANY, "0",
     "h: distance of the fibre from the axis, on the stretched side"},
    {"axis", CST_F_AXIS, "1", CST_ANY, "",
     "axis of bending, fixed in the ground; default: the one it bends about"},
    {0},
};

/* ebar = (36 d.d - 6 d.(s0 + s1) + 4 s0.s0 + 4 s1.s1 - 2 s0.s1)/60 - 1/2,   d = (r1 - r0)/l
 * (element/beam.c) */
static cst_id mean_strain(cst_loader *L, const cst_beam *beam, int e)
{
    cst_graph *g = cst_loader_graph(L);
    cst_id y[3][3], r[2][3], sum = cst_num_const(g, -0.5);
    for (int k = 0; k < 2; k++) {
        cst_x(L, cst_slot_node(L, beam->first + e + k, 0), 0, r[k]);
        cst_x(L, cst_slot_node(L, beam->first + e + k, 1), 0, y[1 + k]);
    }
    for (int i = 0; i < 3; i++)
        y[0][i] = cst_num_div(g, cst_num_sub(g, r[1][i], r[0][i]), beam->length);
    static const double c[3][3] = {{36, -6, -6}, {0, 4, -2}, {0, 0, 4}};
    for (int i = 0; i < 3; i++)
        for (int k = i; k < 3; k++)
            sum = cst_num_add(g, sum,
                              cst_num_mul(g, cst_num_const(g, c[i][k] / 60),
                                          cst_num_dot3(g, y[i], y[k])));
    return sum;
}

/* The beam of the elements that a slot reads; the last node belongs to the last element. */
static cst_id strain_at(cst_loader *L, int body, const cst_id drawn[3])
{
    cst_graph *g = cst_loader_graph(L);
    const cst_beam *beam = cst_loader_model(L)->body.at[body].beam;
    if (!beam->green) {
        int node =
            cst_loader_model(L)->slot.at[cst_slot_along(L, body, drawn, 0)].body - beam->first;
        return mean_strain(L, beam, node < beam->n ? node : beam->n - 1);
    }
    cst_id s[3], half = cst_num_const(g, 0.5);
    cst_x(L, cst_slot_along(L, body, drawn, 1), 0, s);
    return cst_num_sub(g, cst_num_mul(g, half, cst_num_dot3(g, s, s)), half);
}

/* |r_xx|, or n . (r_x x r_xx)/|r_x| about an axis n */
static cst_id curvature_at(cst_loader *L, int body, const cst_id drawn[3], const cst_arg *axis)
{
    cst_graph *g = cst_loader_graph(L);
    cst_id s[3], k[3], c[3], n[3];
    cst_x(L, cst_slot_along(L, body, drawn, 2), 0, k);
    if (!axis->given) return cst_build_norm3(L, k);
    cst_id turn[3];
    cst_build_rotation_axis(L, axis, turn);
    cst_build_derive(L, &cst_vop_unit, 3, turn, 3, n);
    cst_x(L, cst_slot_along(L, body, drawn, 1), 0, s);
    cst_num_cross3(g, s, k, c);
    return cst_num_div(g, cst_num_dot3(g, n, c), cst_build_norm3(L, s));
}

static void stress_build(cst_loader *L, const char *name, cst_where where, const cst_arg *arg)
{
    int body = beam_of(L, &arg[OF]);
    if (body == CST_UNSET) return;
    cst_graph *g = cst_loader_graph(L);
    cst_id E = cst_loader_model(L)->body.at[body].beam->E;
    cst_id strain = strain_at(L, body, arg[OF].vec),
           curvature = curvature_at(L, body, arg[OF].vec, &arg[AXIS]);
    cst_id axial = cst_num_mul(g, E, strain),
           bending = cst_num_mul(g, E, cst_num_mul(g, arg[HEIGHT].num, curvature));
    int m = cst_measure_begin(L, name, "stress", where);
    cst_measure_add(L, m, "", "Pa", cst_num_add(g, axial, bending));
    cst_measure_add(L, m, "axial", "Pa", axial);
    cst_measure_add(L, m, "bending", "Pa", bending);
    cst_measure_add(L, m, "strain", "1", strain);
    cst_measure_add(L, m, "curvature", "1/m", curvature);
}

const cst_type cst_type_stress = {
    .section = "measures",
    .keyword = "stress",
    .summary = "stress in a fibre of a beam: axial + bending; components axial, bending, strain, "
               "curvature",
    .notes =
        "axial = E times the strain of the model (its mean over the element with `strain: mean`), "
        "bending = E h times the curvature |d2r/dx2|. Without `axis` the curvature is not "
        "negative, and not differentiable where the beam is straight; with `axis` it has a sign: "
        "positive where the beam turns right-handed about the axis from `from` to `to`.",
    .field = stress_field,
    .build = stress_build,
};

/* ---- joints ---- */

int cst_build_is_beam(cst_loader *L, int body)
{
    return body != CST_GROUND && cst_loader_model(L)->body.at[body].beam != NULL;
}

static void drawn_slope(cst_loader *L, int body, cst_id d[3])
{
    const cst_beam *beam = cst_loader_model(L)->body.at[body].beam;
    cst_build_sub3(L, beam->to, beam->from, d);
}

/* a.b/(|a||b|) */
static cst_id cosine(cst_loader *L, const cst_id a[3], const cst_id b[3])
{
    cst_graph *g = cst_loader_graph(L);
    return cst_num_div(g, cst_num_dot3(g, a, b),
                       cst_num_mul(g, cst_build_norm3(L, a), cst_build_norm3(L, b)));
}

/* The slope keeps its direction in a body with axes: u.r' = v.r' = 0 for u, v across it in the
 * drawing. Both rows are homogeneous: the stretch |r'| stays free. */
static void clamp(cst_loader *L, int joint, int beam, int body, const cst_id at[3])
{
    cst_id d[3], u[3], v[3], zero = cst_num_const(cst_loader_graph(L), 0);
    drawn_slope(L, beam, d);
    cst_perpendicular(L, d, u, v);
    int s = cst_slot_along(L, beam, at, 1);
    cst_add_constraint(L, joint, "slope", &cst_dot, (int[]){cst_slot_direction(L, body, u), s},
                       zero);
    cst_add_constraint(L, joint, "slope", &cst_dot, (int[]){cst_slot_direction(L, body, v), s},
                       zero);
}

void cst_build_weld(cst_loader *L, int joint, const int body[2], const cst_id at[3],
                    cst_where where)
{
    for (int k = 0; k < 2; k++)
        if (!cst_build_is_beam(L, body[k])) {
            clamp(L, joint, body[1 - k], body[k], at);
            return;
        }
    cst_id d[2][3],
        s[2][3]; /* two beams have no torsion: a weld can keep only the angle of their slopes */
    for (int k = 0; k < 2; k++) {
        drawn_slope(L, body[k], d[k]);
        cst_x(L, cst_slot_along(L, body[k], at, 1), 0, s[k]);
    }
    cst_id c = cosine(L, d[0], d[1]);
    if (fabs(cst_loader_value(L, c)) > 0.9999)
        cst_loader_error(L, where,
                         "two beams in one line cannot be welded: make one beam of them, or weld "
                         "both to a rigid body");
    else {
        cst_loader_warn(L, where,
                        "beams carry no torsion: this joint keeps the angle of the two beams, and "
                        "either may turn about the other");
        cst_add_coordinate(L, joint, "angle",
                           cst_num_sub(cst_loader_graph(L), cosine(L, s[0], s[1]), c),
                           CST_ROW_MOTION);
    }
}

/* A beam on a hinge: its slope keeps its angle with the axis. */
void cst_build_hinge(cst_loader *L, int joint, const int body[2], const cst_id at[3],
                     const cst_id axis[3], cst_where where)
{
    int beam = cst_build_is_beam(L, body[0]) ? 0 : 1;
    if (cst_build_is_beam(L, body[1 - beam])) {
        cst_loader_error(
            L, where,
            "the axis of a hinge between two beams is fixed in neither: use a spherical joint");
        return;
    }
    cst_id d[3], s[3], n[3];
    drawn_slope(L, body[beam], d);
    cst_x(L, cst_slot_along(L, body[beam], at, 1), 0, s);
    cst_x(L, cst_slot_direction(L, body[1 - beam], axis), 0, n);
    cst_id c = cosine(L, axis, d);
    if (fabs(cst_loader_value(L, c)) > 0.9999)
        cst_loader_error(
            L, where,
            "the axis of the hinge is along the beam, which has no torsion: use a fixed joint");
    else
        cst_add_coordinate(L, joint, "axis", cst_num_sub(cst_loader_graph(L), cosine(L, n, s), c),
                           CST_ROW_MOTION);
}
