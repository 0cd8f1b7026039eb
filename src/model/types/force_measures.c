/* SPDX-License-Identifier: MIT
 *
 * Measures of what acts: reaction of a joint, force of a force element. */
#include "model/types/types.h"
#include "number/op.h"

#include <string.h>

static void add_resultant(cst_loader *L, int measure, const cst_resultant *r, int axes)
{
    cst_id v[3];
    cst_build_along(L, axes, r->force, v);
    cst_build_add_xyz(L, measure, "force.", "N", v);
    cst_build_along(L, axes, r->torque, v);
    cst_build_add_xyz(L, measure, "torque.", "N*m", v);
}

/* unit vector from one slot's point to another's; 0 where they coincide */
static void line(cst_loader *L, int slot_a, int slot_b, cst_id n[3])
{
    cst_graph *g = cst_loader_graph(L);
    cst_id a[3], b[3];
    cst_x(L, slot_a, 0, a);
    cst_x(L, slot_b, 0, b);
    cst_build_sub3(L, b, a, n);
    cst_id per_s = cst_num_apply(g, CST_OP_recip, cst_build_norm3(L, n), CST_NONE, CST_NONE);
    for (int i = 0; i < 3; i++) n[i] = cst_num_mul(g, n[i], per_s);
}

/* tension = -f_b.n,  n = (b - a)/|b - a|; p: numbers of element/line.c, or NULL: where s = 0 there
 * is no n, and it is F0 - k s0 */
static void add_tension(cst_loader *L, int measure, int slot_a, int slot_b, const cst_id f_b[3],
                        const cst_id *p)
{
    cst_graph *g = cst_loader_graph(L);
    cst_id n[3];
    line(L, slot_a, slot_b, n);
    cst_id F = cst_num_neg(g, cst_num_dot3(g, f_b, n));
    if (p) {
        cst_id apart = cst_num_dot3(g, n, n),
               rest = cst_num_sub(g, p[3], cst_num_mul(g, p[0], p[2])); /* 1, where s = 0: 0 */
        F = cst_num_add(g, F, cst_num_mul(g, cst_num_sub(g, cst_num_const(g, 1), apart), rest));
    }
    cst_measure_add(L, measure, "tension", "N", F);
}

enum { OF, AXES, ON };

/* ---- reaction ---- */

static const cst_field reaction_field[] = {
    {"of", CST_F_ELEMENT, "1", CST_ANY, NULL, "a joint"},
    {"axes", CST_F_CHOICE, "ground|body", CST_ANY, "ground",
     "axes of the components; body: the second body's"},
    {0},
};

static void reactions(cst_loader *L, const cst_joint *j, cst_resultant *r)
{
    for (int c = j->first; c < j->first + j->n; c++) {
        const cst_constraint *k = &cst_loader_model(L)->constraint.at[c];
        for (int i = 0; i < k->nslot; i++) {
            if (cst_loader_model(L)->slot.at[k->slot[i]].dim != 3) continue;
            cst_id f[3];
            for (int x = 0; x < 3; x++) f[x] = cst_react_channel(L, c, i, x);
            cst_resultant_add(L, r, k->slot[i], f);
        }
    }
}

/* What a driver does along its coordinate: torque about the axis of a rotation, force along a
 * direction. */
static void add_drive(cst_loader *L, int measure, const cst_joint *j, const cst_resultant *r)
{
    const cst_constraint *k = &cst_loader_model(L)->constraint.at[j->first];
    if (j->n != 1 || j->axis < 0) return;
    int turns = k->cls == &cst_rotation;
    if (!turns && k->cls != &cst_in_plane) return;
    cst_id n[3];
    cst_x(L, j->axis, 0, n);
    cst_measure_add(L, measure, "drive", turns ? "N*m" : "N",
                    cst_num_dot3(cst_loader_graph(L), turns ? r->torque : r->force, n));
}

static void reaction_build(cst_loader *L, const char *name, cst_where where, const cst_arg *arg)
{
    int joint = cst_loader_joint(L, arg[OF].text, arg[OF].where);
    if (joint < 0) return;
    cst_joint j = cst_loader_model(L)->joint.at[joint];
    if (j.body[0] == j.body[1]) {
        cst_loader_error(L, arg[OF].where, "'%s' has no second body: give it `between`", j.name);
        return;
    }
    if (arg[AXES].choice == 1 && !cst_build_has_axes(L, arg[AXES].where, j.body[1])) return;
    cst_resultant r =
        cst_resultant_begin(L, j.body[1], j.at[1] >= 0 ? j.at[1] : cst_build_origin(L, j.body[1]));
    reactions(L, &j, &r);
    int m = cst_measure_begin(L, name, "reaction", where);
    add_resultant(L, m, &r, arg[AXES].choice == 1 ? j.body[1] : CST_GROUND);
    if (j.n == 1 && cst_loader_model(L)->constraint.at[j.first].cls == &cst_distance)
        add_tension(L, m, j.at[0], j.at[1], r.force, NULL);
    add_drive(L, m, &j, &r);
}

const cst_type cst_type_reaction = {
    .section = "measures",
    .keyword = "reaction",
    .summary = "reaction of a joint: force.x .. torque.z, on the second body",
    .notes =
        "The torque is about the joint's point on the second body, or about that body's origin "
        "where a joint has no point. Distance joints also have tension (positive: pulled), "
        "drive-angle and drive-coordinate have drive (what the drive does along its coordinate). "
        "Reactions of redundant joints are not unique: those of least norm are used.",
    .field = reaction_field,
    .build = reaction_build,
};

/* ---- force ---- */

static const cst_field force_field[] = {
    {"of", CST_F_ELEMENT, "1", CST_ANY, NULL, "a force element"},
    {"axes", CST_F_CHOICE, "ground|body", CST_ANY, "ground",
     "axes of the components; body: of the body it acts on"},
    {"on", CST_F_BODY, "1", CST_ANY, "",
     "body it acts on; default: that of `to`, the second, or the only one"},
    {0},
};

/* The body of the second point of a line or bushing; else the only moving body among the slots.
 * CST_UNSET: unclear */
static int default_body(cst_loader *L, const cst_force *f)
{
    const cst_slot *slot = cst_loader_model(L)->slot.at;
    if (f->cls == &cst_force_line || f->cls == &cst_force_bushing)
        return cst_build_owner(L, &slot[f->slot[1]]);
    int body = CST_UNSET;
    for (int k = 0; k < f->nslot; k++) {
        int b = cst_build_owner(L, &slot[f->slot[k]]);
        if (b == CST_GROUND || b == body) continue;
        if (body != CST_UNSET) return CST_UNSET;
        body = b;
    }
    return body;
}

/* The first point of the element on the body, else the body's origin. */
static int reference(cst_loader *L, const cst_force *f, int body)
{
    for (int k = 0; k < f->nslot; k++) {
        const cst_slot *s = &cst_loader_model(L)->slot.at[f->slot[k]];
        if (cst_build_owner(L, s) == body && s->point && s->dim == 3) return f->slot[k];
    }
    return cst_build_origin(L, body);
}

static void force_build(cst_loader *L, const char *name, cst_where where, const cst_arg *arg)
{
    int force = cst_loader_force(L, arg[OF].text, arg[OF].where);
    if (force < 0) return;
    cst_force f = cst_loader_model(L)->force.at[force];
    int body = arg[ON].given ? arg[ON].body[0] : default_body(L, &f);
    if (body == CST_UNSET) {
        cst_loader_error(L, where, "'%s' acts on several bodies: say which with `on`", f.name);
        return;
    }
    if (!(arg[AXES].choice ? cst_build_has_axes : cst_build_has_points)(L, where, body)) return;
    cst_resultant r = cst_resultant_begin(L, body, reference(L, &f, body));
    cst_id f_b[3];
    for (int k = 0; k < f.nslot; k++) {
        if (cst_loader_model(L)->slot.at[f.slot[k]].dim != 3) continue;
        for (int x = 0; x < 3; x++) f_b[x] = cst_force_channel(L, force, k, x);
        cst_resultant_add(L, &r, f.slot[k], f_b);
    }
    int m = cst_measure_begin(L, name, "force", where);
    add_resultant(L, m, &r, arg[AXES].choice ? body : CST_GROUND);
    if (f.cls != &cst_force_line) return;
    cst_graph *g = cst_loader_graph(L);
    cst_id s = cst_build_distance(L, f.slot[0], f.slot[1]), v = cst_num_rate(g, s);
    /* f_b is the force at the second slot */
    add_tension(L, m, f.slot[0], f.slot[1], f_b,
                f.tape ? NULL : cst_loader_model(L)->bound.at + f.p);
    cst_measure_add(L, m, "length", "m", s);
    cst_measure_add(L, m, "rate", "m/s", v);
}

const cst_type cst_type_measure_force = {
    .section = "measures",
    .keyword = "force",
    .summary = "what a force element does to a body: force.x .. torque.z",
    .notes = "The torque is about the element's point on the body, or the body's origin where it "
             "has none. Springs and dampers also have tension (positive: pulled), length and rate.",
    .field = force_field,
    .build = force_build,
};
