/* SPDX-License-Identifier: MIT
 *
 * Bodies whose inertia is given: rigid, point, scalar. */
#include "model/types/types.h"

/* ---- rigid ---- */

enum {
    MASS,
    INERTIA,
    COM,
    INERTIA_ABOUT,
    INERTIA_FRAME,
    POSITION,
    ORIENTATION,
    VELOCITY,
    ANGULAR_VELOCITY
};

static const cst_field rigid_field[] = {
    {"mass", CST_F_NUMBER, "kg", CST_NOT_NEGATIVE, NULL, "mass"},
    {"inertia", CST_F_NUMBERS, "kg*m^2", CST_ANY, NULL,
     "[xx, yy, zz] or [xx, yy, zz, xy, xz, yz]: entries of the inertia matrix"},
    {"com", CST_F_POINT, "m", CST_ANY, "",
     "centre of mass as drawn, or {local: [x, y, z]}; default: position"},
    {"inertia_about", CST_F_CENTRE, "m", CST_ANY, "com",
     "point that the inertia is given about: com, origin, a point as drawn, or {local: [x, y, z]}"},
    {"inertia_frame", CST_F_CHOICE, "body|ground", CST_ANY, "body",
     "axes that the inertia is given in, as drawn"},
    {"position", CST_F_POINT, "m", CST_ANY, "[0, 0, 0]",
     "origin of the body axes; default: com if given"},
    {"orientation", CST_F_FRAME, "1", CST_ANY, "",
     "body axes when drawn; default: parallel to the ground axes"},
    {"velocity", CST_F_VECTOR, "m/s", CST_ANY, "[0, 0, 0]",
     "of the origin at the start, ground axes"},
    {"angular_velocity", CST_F_AXIAL, "rad/s", CST_ANY, "[0, 0, 0]", "at the start, ground axes"},
    {0},
};

/* The tensor of a mirrored body is S I S: products change sign with the product of their axes'
 * signs. */
static int read_inertia(cst_loader *L, const cst_arg *a, cst_id I[6])
{
    static const int row[6] = {0, 1, 2, 0, 0, 1}, col[6] = {0, 1, 2, 1, 2, 2};
    cst_graph *g = cst_loader_graph(L);
    if (a->nlist != 3 && a->nlist != 6) {
        cst_loader_error(L, a->where, "inertia needs 3 or 6 numbers, not %d", a->nlist);
        return 0;
    }
    for (int i = 0; i < 6; i++) {
        double sign = cst_loader_mirror(L, row[i]) * cst_loader_mirror(L, col[i]);
        I[i] = i < a->nlist ? a->list[i] : cst_num_const(g, 0);
        if (sign < 0) I[i] = cst_num_neg(g, I[i]);
    }
    return 1;
}

static void frame_of(cst_loader *L, const cst_arg *orientation, cst_id E[9])
{
    for (int i = 0; i < 9; i++)
        E[i] = orientation->given ? orientation->frame[i]
                                  : cst_num_const(cst_loader_graph(L), i % 4 == 0);
}

static void rigid_place(cst_loader *L, const cst_arg *arg, cst_rigid_def *d)
{
    const cst_arg *com = &arg[COM], *origin = &arg[POSITION];
    if (com->given && !com->local && !origin->given) origin = com;
    for (int i = 0; i < 3; i++) d->frame[i] = origin->vec[i];
    frame_of(L, &arg[ORIENTATION], d->frame + 3);
    cst_build_const3(L, 0, 0, 0, d->com);
    if (!com->given || origin == com) return;
    cst_id in[15];
    for (int i = 0; i < 12; i++) in[i] = d->frame[i];
    for (int i = 0; i < 3; i++) in[12 + i] = com->vec[i], d->com[i] = com->local_at[i];
    if (!com->local) cst_build_derive(L, &cst_vop_local_point, 15, in, 3, d->com);
}

/* d = c - P in body axes, P being the point that the inertia is given about */
static void rigid_lever(cst_loader *L, const cst_arg *about, const cst_rigid_def *d,
                        cst_id lever[3])
{
    cst_id P[3], in[15];
    int own = about->local && about->body[0] == CST_UNSET;
    for (int i = 0; i < 12; i++) in[i] = d->frame[i];
    for (int i = 0; i < 3; i++) in[12 + i] = about->vec[i], P[i] = about->local_at[i];
    if (about->choice == CST_ABOUT_POINT && !own)
        cst_build_derive(L, &cst_vop_local_point, 15, in, 3, P);
    for (int i = 0; i < 3; i++)
        lever[i] = about->choice == CST_ABOUT_ORIGIN
                       ? d->com[i]
                       : cst_num_sub(cst_loader_graph(L), d->com[i], P[i]);
}

/* ground axes: I_body = E^T I E; about P: I_com = I_P - m (d.d 1 - d d^T) with d = c - P */
static void rigid_inertia(cst_loader *L, const cst_arg *arg, cst_rigid_def *d)
{
    if (arg[INERTIA_FRAME].choice == 1 && arg[ORIENTATION].given) {
        cst_id in[15];
        for (int i = 0; i < 9; i++) in[i] = d->frame[3 + 3 * (i % 3) + i / 3]; /* E^T */
        for (int i = 0; i < 6; i++) in[9 + i] = d->inertia[i];
        cst_build_derive(L, &cst_vop_rotate_tensor, 15, in, 6, d->inertia);
    }
    if (arg[INERTIA_ABOUT].choice != CST_ABOUT_COM) {
        cst_id in[10];
        for (int i = 0; i < 6; i++) in[i] = d->inertia[i];
        in[6] = cst_num_neg(cst_loader_graph(L), d->mass);
        rigid_lever(L, &arg[INERTIA_ABOUT], d, in + 7);
        cst_build_derive(L, &cst_vop_steiner, 10, in, 6, d->inertia);
    }
}

static void rigid_build(cst_loader *L, const char *name, cst_where where, const cst_arg *arg)
{
    cst_rigid_def d = {.mass = arg[MASS].num};
    if (!read_inertia(L, &arg[INERTIA], d.inertia)) return;
    rigid_place(L, arg, &d);
    rigid_inertia(L, arg, &d);
    for (int i = 0; i < 3; i++)
        d.velocity[i] = arg[VELOCITY].vec[i], d.spin[i] = arg[ANGULAR_VELOCITY].vec[i];
    d.written =
        (arg[VELOCITY].given ? CST_VELOCITY : 0) | (arg[ANGULAR_VELOCITY].given ? CST_SPIN : 0);
    cst_add_rigid(L, name, "rigid", where, &d);
}

const cst_type cst_type_rigid = {
    .section = "bodies",
    .keyword = "rigid",
    .summary = "rigid body with mass, centre of mass and inertia",
    .notes = "Products of inertia are entries of the matrix: xy = -integral x y dm. Vectors are in "
             "ground axes of the drawing.",
    .field = rigid_field,
    .build = rigid_build,
};

/* ---- point ---- */

enum { P_MASS, P_POSITION, P_VELOCITY };

static const cst_field point_field[] = {
    {"mass", CST_F_NUMBER, "kg", CST_NOT_NEGATIVE, NULL, "mass"},
    {"position", CST_F_POINT, "m", CST_ANY, NULL, "where it is drawn"},
    {"velocity", CST_F_VECTOR, "m/s", CST_ANY, "[0, 0, 0]", "at the start, ground axes"},
    {0},
};

static void point_build(cst_loader *L, const char *name, cst_where where, const cst_arg *arg)
{
    cst_add_point_mass(L, name, where, arg[P_POSITION].vec, arg[P_MASS].num, arg[P_VELOCITY].vec,
                       arg[P_VELOCITY].given ? CST_VELOCITY : 0);
}

const cst_type cst_type_point = {
    .section = "bodies",
    .keyword = "point",
    .summary = "point mass",
    .notes = "It has a position and no orientation.",
    .field = point_field,
    .build = point_build,
};

/* ---- scalar ---- */

enum { S_INERTIA, S_VALUE, S_RATE };

static const cst_field scalar_field[] = {
    {"inertia", CST_F_NUMBER, CST_BY_CONTEXT, CST_NOT_NEGATIVE, "0",
     "kg m^2 of an angle, kg of a travel"},
    {"value", CST_F_NUMBER, CST_BY_CONTEXT, CST_ANY, "0", "at the start: rad or m"},
    {"rate", CST_F_NUMBER, CST_BY_CONTEXT, CST_ANY, "0", "at the start: rad/s or m/s"},
    {0},
};

static void scalar_build(cst_loader *L, const char *name, cst_where where, const cst_arg *arg)
{
    cst_add_scalar(L, name, where, arg[S_INERTIA].num, arg[S_VALUE].num, arg[S_RATE].num,
                   arg[S_RATE].given ? CST_VELOCITY : 0);
}

const cst_type cst_type_scalar = {
    .section = "bodies",
    .keyword = "scalar",
    .summary = "an independent angle or travel, with inertia",
    .notes = "Shafts, gears, actuators. The measure `coordinate` reads it, the joint `coupling` "
             "ties it to others.",
    .field = scalar_field,
    .build = scalar_build,
};
