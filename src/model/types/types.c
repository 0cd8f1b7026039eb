/* SPDX-License-Identifier: MIT */
#include "model/types/types.h"

void cst_build_const3(cst_loader *L, double x, double y, double z, cst_id v[3])
{
    cst_graph *g = cst_loader_graph(L);
    v[0] = cst_num_const(g, x), v[1] = cst_num_const(g, y), v[2] = cst_num_const(g, z);
}

void cst_build_add3(cst_loader *L, const cst_id a[3], const cst_id b[3], cst_id c[3])
{
    for (int i = 0; i < 3; i++) c[i] = cst_num_add(cst_loader_graph(L), a[i], b[i]);
}

void cst_build_sub3(cst_loader *L, const cst_id a[3], const cst_id b[3], cst_id c[3])
{
    for (int i = 0; i < 3; i++) c[i] = cst_num_sub(cst_loader_graph(L), a[i], b[i]);
}

void cst_build_scale3(cst_loader *L, cst_id s, const cst_id a[3], cst_id c[3])
{
    for (int i = 0; i < 3; i++) c[i] = cst_num_mul(cst_loader_graph(L), s, a[i]);
}

cst_id cst_build_norm3(cst_loader *L, const cst_id a[3])
{
    cst_graph *g = cst_loader_graph(L);
    return cst_num_sqrt(g, cst_num_dot3(g, a, a));
}

void cst_build_derive(cst_loader *L, const cst_vop *op, int nin, const cst_id *in, int nout,
                      cst_id *out)
{
    cst_id first = cst_num_vector(cst_loader_graph(L), op, nin, in, nout);
    for (int i = 0; i < nout; i++) out[i] = first + i;
}

int cst_build_has_axes(cst_loader *L, cst_where where, int body)
{
    if (body == CST_GROUND) return 1;
    const cst_body *b = &cst_loader_model(L)->body.at[body];
    if (b->cls == &cst_body_rigid) return 1;
    cst_loader_error(L, where, "'%s' is %s %s: it has no orientation", b->name,
                     cst_article(b->type), b->type);
    return 0;
}

int cst_build_has_points(cst_loader *L, cst_where where, int body)
{
    if (body == CST_GROUND) return 1;
    const cst_body *b = &cst_loader_model(L)->body.at[body];
    if (b->cls != &cst_body_scalar) return 1;
    cst_loader_error(L, where, "'%s' is %s %s: it has no points", b->name, cst_article(b->type),
                     b->type);
    return 0;
}

int cst_build_is_pair(cst_loader *L, cst_where where, const int body[2], int axes)
{
    if (body[0] == body[1]) {
        cst_loader_error(L, where, "both bodies are the same");
        return 0;
    }
    int ok = 1;
    for (int k = 0; k < 2; k++)
        ok &=
            axes ? cst_build_has_axes(L, where, body[k]) : cst_build_has_points(L, where, body[k]);
    return ok;
}

int cst_build_has_body(cst_loader *L, const cst_arg *point, const char *field)
{
    if (point->body[0] != CST_UNSET) return cst_build_has_points(L, point->where, point->body[0]);
    cst_loader_error(L, point->where,
                     "%s must say on which body the point is: BODY.POINT or ground.POINT", field);
    return 0;
}

cst_id cst_build_at_least(cst_loader *L, cst_id x, cst_id least)
{
    cst_graph *g = cst_loader_graph(L);
    return cst_num_call(g, "if", cst_num_call(g, "<", x, least, CST_NONE), least, x);
}

cst_id cst_build_at_most(cst_loader *L, cst_id x, cst_id most)
{
    cst_graph *g = cst_loader_graph(L);
    return cst_num_call(g, "if", cst_num_call(g, ">", x, most, CST_NONE), most, x);
}

void cst_build_rotation_axis(cst_loader *L, const cst_arg *axis, cst_id out[3])
{
    double sense = cst_loader_mirror(L, 0) * cst_loader_mirror(L, 1) * cst_loader_mirror(L, 2);
    for (int i = 0; i < 3; i++)
        out[i] = sense < 0 ? cst_num_neg(cst_loader_graph(L), axis->vec[i]) : axis->vec[i];
}

void cst_build_along(cst_loader *L, int body, const cst_id v[3], cst_id out[3])
{
    if (body == CST_GROUND) {
        for (int i = 0; i < 3; i++) out[i] = v[i];
        return;
    }
    int slot[3];
    cst_slot_triad(L, body, slot);
    for (int i = 0; i < 3; i++) {
        cst_id e[3];
        cst_x(L, slot[i], 0, e);
        out[i] = cst_num_dot3(cst_loader_graph(L), e, v);
    }
}

cst_id cst_build_distance(cst_loader *L, int slot_a, int slot_b)
{
    cst_id a[3], b[3], d[3];
    cst_x(L, slot_a, 0, a);
    cst_x(L, slot_b, 0, b);
    cst_build_sub3(L, b, a, d);
    return cst_build_norm3(L, d);
}

cst_id cst_build_angle(cst_loader *L, int a, int b, const cst_id axis[3])
{
    cst_id u[3], v[3], from[3], third[3], to[3];
    cst_perpendicular(L, axis, u, v);
    cst_x(L, cst_slot_direction(L, a, u), 0, from);
    cst_x(L, cst_slot_direction(L, a, v), 0, third);
    cst_x(L, cst_slot_direction(L, b, u), 0, to);
    return cst_unwrapped_angle(L, from, third, to);
}

void cst_build_add_xyz(cst_loader *L, int measure, const char *prefix, const char *unit,
                       const cst_id v[3])
{
    for (int i = 0; i < 3; i++)
        cst_measure_add(L, measure, cst_arena_printf(cst_loader_arena(L), "%s%c", prefix, "xyz"[i]),
                        unit, v[i]);
}

int cst_build_origin(cst_loader *L, int body)
{
    const cst_body *b = body == CST_GROUND ? NULL : &cst_loader_model(L)->body.at[body];
    cst_id at[3];
    cst_build_const3(L, 0, 0, 0, at);
    for (int i = 0; b != NULL && i < 3; i++) at[i] = b->frame[i];
    return cst_slot_point(L, body, at);
}

int cst_build_owner(cst_loader *L, const cst_slot *s)
{
    return s->body == CST_GROUND ? CST_GROUND : cst_loader_model(L)->body.at[s->body].owner;
}

cst_resultant cst_resultant_begin(cst_loader *L, int body, int about)
{
    cst_resultant r = {.body = body, .about = about};
    cst_build_const3(L, 0, 0, 0, r.force);
    cst_build_const3(L, 0, 0, 0, r.torque);
    return r;
}

void cst_resultant_add(cst_loader *L, cst_resultant *r, int slot, const cst_id f[3])
{
    const cst_slot *s = &cst_loader_model(L)->slot.at[slot];
    int point = s->point;
    if (cst_build_owner(L, s) != r->body || s->dim != 3) return;
    if (point) cst_build_add3(L, r->force, f, r->force);
    if (slot == r->about) return;
    cst_id arm[3], x0[3], torque[3];
    cst_x(L, slot, 0, arm);
    if (point) {
        cst_x(L, r->about, 0, x0);
        cst_build_sub3(L, arm, x0, arm);
    }
    cst_num_cross3(cst_loader_graph(L), arm, f, torque);
    cst_build_add3(L, r->torque, torque, r->torque);
}
