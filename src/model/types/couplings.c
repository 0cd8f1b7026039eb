/* SPDX-License-Identifier: MIT
 *
 * Elastic forces between two bodies at one place: torsion and bushing. */
#include "model/types/types.h"

/* ---- torsion ----
 *
 * th: angle of the second body against the first, 0 when drawn, over all turns
 * M = k (th - th0) + c th',   generalised force -M on th
 */
enum { BETWEEN, AXIS, TORQUE, STIFFNESS, DAMPING, FREE_ANGLE };

static const cst_field torsion_field[] = {
    {"between", CST_F_BODIES, "1", CST_ANY, NULL, "[first, second]: the two bodies, or ground"},
    {"axis", CST_F_AXIS, "1", CST_ANY, NULL, "axis when drawn"},
    {"torque", CST_F_LAW, "N*m", CST_ANY, "", "M(s, v, t) instead: s is the angle, v its rate"},
    {"stiffness", CST_F_NUMBER, "N*m/rad", CST_NOT_NEGATIVE, "0", "k"},
    {"damping", CST_F_NUMBER, "N*m*s/rad", CST_NOT_NEGATIVE, "0", "c"},
    {"free_angle", CST_F_NUMBER, "rad", CST_ANY, "0",
     "th0: angle without torque, relative to the drawing"},
    {0},
};

static void torsion_build(cst_loader *L, const char *name, cst_where where, const cst_arg *arg)
{
    cst_graph *g = cst_loader_graph(L);
    const int *b = arg[BETWEEN].body;
    if (!cst_build_is_pair(L, arg[BETWEEN].where, b, 1)) return;
    int given = arg[STIFFNESS].given | arg[DAMPING].given | arg[FREE_ANGLE].given;
    if (arg[TORQUE].given == given) {
        cst_loader_error(L, where, "give either stiffness and damping or torque");
        return;
    }
    cst_id n[3], M;
    cst_build_rotation_axis(L, &arg[AXIS], n);
    cst_id th = cst_build_angle(L, b[0], b[1], n);
    if (arg[TORQUE].given)
        M = cst_law_of(L, arg[TORQUE].num, th);
    else
        M = cst_num_add(g,
                        cst_num_mul(g, arg[STIFFNESS].num, cst_num_sub(g, th, arg[FREE_ANGLE].num)),
                        cst_num_mul(g, arg[DAMPING].num, cst_num_rate(g, th)));
    int force = cst_add_generalised_force(L, name, "torsion", where, th, cst_num_neg(g, M));
    if (arg[TORQUE].given) return;
    cst_id turned = cst_num_sub(g, th, arg[FREE_ANGLE].num);
    cst_id half = cst_num_mul(g, cst_num_const(g, 0.5), arg[STIFFNESS].num);
    cst_add_potential(L, force, cst_num_mul(g, half, cst_num_mul(g, turned, turned)));
}

const cst_type cst_type_torsion = {
    .section = "forces",
    .keyword = "torsion",
    .summary = "M = k (th - th0) + c th': rotational spring and damper about an axis",
    .notes =
        "Right-handed about the axis; a positive M turns the second body towards smaller th. Other "
        "joints must keep the axes of the two bodies parallel. The angle counts all turns.",
    .field = torsion_field,
    .build = torsion_build,
};

/* ---- bushing ---- */

enum { B_BETWEEN, B_AT, B_ORIENTATION, B_K, B_KR, B_C, B_CR };

static const cst_field bushing_field[] = {
    {"between", CST_F_BODIES, "1", CST_ANY, NULL, "[first, second]: the two bodies, or ground"},
    {"at", CST_F_POINT, "m", CST_ANY, NULL, "place as drawn, where there is no force"},
    {"orientation", CST_F_FRAME, "1", CST_ANY, "",
     "axes when drawn; default: parallel to the ground axes"},
    {"stiffness", CST_F_NUMBERS, "N/m", CST_NOT_NEGATIVE, NULL, "k or [k1, k2, k3] along the axes"},
    {"rotational_stiffness", CST_F_NUMBERS, "N*m/rad", CST_NOT_NEGATIVE, "0",
     "k or [k1, k2, k3] about the axes"},
    {"damping", CST_F_NUMBERS, "N*s/m", CST_NOT_NEGATIVE, "0", "c or [c1, c2, c3] along the axes"},
    {"rotational_damping", CST_F_NUMBERS, "N*m*s/rad", CST_NOT_NEGATIVE, "0",
     "c or [c1, c2, c3] about the axes"},
    {0},
};

static int three(cst_loader *L, const cst_arg *a, cst_id out[3])
{
    if (a->nlist != 1 && a->nlist != 3) {
        cst_loader_error(L, a->where, "1 or 3 numbers are needed, not %d", a->nlist);
        return 0;
    }
    for (int i = 0; i < 3; i++) out[i] = a->list[a->nlist == 3 ? i : 0];
    return 1;
}

static void bushing_build(cst_loader *L, const char *name, cst_where where, const cst_arg *arg)
{
    const int *b = arg[B_BETWEEN].body;
    cst_id p[12];
    int ok = cst_build_is_pair(L, arg[B_BETWEEN].where, b, 1);
    for (int k = 0; k < 4; k++) ok &= three(L, &arg[B_K + k], p + 3 * k);
    if (!ok) return;
    int slot[8];
    for (int k = 0; k < 2; k++) {
        slot[k] = cst_slot_point(L, b[k], arg[B_AT].vec);
        for (int i = 0; i < 3; i++) {
            cst_id e[3];
            cst_build_const3(L, i == 0, i == 1, i == 2, e);
            slot[2 + 3 * k + i] =
                cst_slot_direction(L, b[k],
                                   arg[B_ORIENTATION].given ? arg[B_ORIENTATION].frame + 3 * i : e);
        }
    }
    cst_add_force(L, name, "bushing", where, &cst_force_bushing, 8, slot, 12, p, CST_NONE);
}

const cst_type cst_type_bushing = {
    .section = "forces",
    .keyword = "bushing",
    .summary = "elastic mount: six springs and dampers between two bodies",
    .notes = "Axes are fixed in the first body. Rotations are the components of the rotation "
             "vector, which has the length of the angle: about one axis the torque is k times the "
             "angle. Valid up to 165 degrees; full turns are not counted: see torsion.",
    .field = bushing_field,
    .build = bushing_build,
};
