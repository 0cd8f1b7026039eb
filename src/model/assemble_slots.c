/* SPDX-License-Identifier: MIT
 *
 * Slots: what elements see of bodies.
 *
 *     point of a rigid body       m = r + x e1 + y e2 + z e3     (x, y, z) = E^T (P - r) when drawn
 *     direction of a rigid body   m = x e1 + y e2 + z e3         (x, y, z) = E^T d/|d|
 *     point mass                  m = r
 *     ground                      m = o
 *
 * The weights are numbers derived from the drawing; the same slot is made only once. */
#include "model/geometry.h"
#include "model/loader.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* ---- hash ---- */

static unsigned hash(const cst_slot_key *k)
{
    unsigned h = 2166136261u;
    const int part[5] = {k->body, k->kind, k->id[0], k->id[1], k->id[2]};
    for (int i = 0; i < 5; i++) h = (h ^ (unsigned)part[i]) * 0x9E3779B1u, h ^= h >> 15;
    return h;
}

static int same(const cst_slot_key *a, const cst_slot_key *b)
{
    return a->body == b->body && a->kind == b->kind && memcmp(a->id, b->id, sizeof a->id) == 0;
}

static cst_slot_key *find(const cst_loader *L,
                          const cst_slot_key *k) /* slot -1: the free place for it */
{
    unsigned mask = (unsigned)L->slot_cap - 1, i = hash(k) & mask;
    while (L->slot[i].slot >= 0 && !same(&L->slot[i], k)) i = (i + 1) & mask;
    return &L->slot[i];
}

static void grow(cst_loader *L)
{
    const cst_slot_key *old = L->slot;
    int nold = L->slot_cap;
    L->slot_cap = nold ? 2 * nold : 64;
    L->slot = cst_new(L->scratch, cst_slot_key, L->slot_cap);
    for (int i = 0; i < L->slot_cap; i++) L->slot[i].slot = -1;
    for (int i = 0; i < nold; i++)
        if (old[i].slot >= 0) *find(L, &old[i]) = old[i];
}

int cst_slot_shared(cst_loader *L, int body, int kind, const cst_id id[3], cst_slot **made)
{
    if (2 * (L->nslot + 1) > L->slot_cap) grow(L);
    cst_slot_key key = {.body = body, .kind = kind, .slot = L->m->slot.n};
    for (int i = 0; i < 3; i++) key.id[i] = id ? id[i] : 0;
    cst_slot_key *k = find(L, &key);
    if (k->slot >= 0) return k->slot;
    *k = key;
    L->nslot++;
    cst_slot *s = cst_push(L->arena, &L->m->slot);
    *s = (cst_slot){.body = body,
                    .span = 1,
                    .dim = kind == CST_SLOT_SCALAR ? 1 : 3,
                    .point = kind <= CST_SLOT_NODE};
    s->w = s->o = -1;
    s->x0 = L->m->nx;
    L->m->nx += s->dim;
    for (int i = 0; i < s->dim; i++) *cst_push(L->scratch, &L->slot_of_x) = key.slot;
    *made = s;
    return -1;
}

/* ---- slots ---- */

static const cst_body *body_at(const cst_loader *L, int body)
{
    assert(body >= 0 && body < L->m->body.n);
    return &L->m->body.at[body];
}

static void weights(cst_loader *L, cst_slot *s, int point, const cst_id x[3])
{
    cst_id w[4] = {cst_num_const(L->g, 1), x[0], x[1], x[2]};
    s->vec = point ? 0 : 1;
    s->n = point ? 4 : 3;
    s->w = cst_bind(L, s->n, point ? w : w + 1);
}

static void ground_at(cst_loader *L, cst_slot *s, const cst_id o[3]) { s->o = cst_bind(L, 3, o); }

static int last(const cst_loader *L) { return L->m->slot.n - 1; }

static void run(cst_id first, int n, cst_id *id)
{
    for (int i = 0; i < n; i++) id[i] = first + i;
}

/* A point mass has one point. */
static void check_point_mass(cst_loader *L, const cst_body *b, const cst_id drawn[3])
{
    if (memcmp(drawn, b->frame, 3 * sizeof *drawn) == 0) return;
    double apart = 0, size = 1;
    for (int i = 0; i < 3; i++) {
        double a = cst_loader_value(L, drawn[i]), r = cst_loader_value(L, b->frame[i]);
        apart = fmax(apart, fabs(a - r));
        size = fmax(size, fabs(r));
    }
    if (apart > 1e-9 * size)
        cst_loader_error(
            L, L->where,
            "body '%s' is a point mass: it has no other point than its own (%.3g m away)", b->name,
            apart);
}

int cst_slot_point(cst_loader *L, int body, const cst_id drawn[3])
{
    cst_slot *s;
    const cst_body *b = body == CST_GROUND ? NULL : body_at(L, body);
    if (b && b->cls == &cst_body_scalar) {
        cst_loader_error(L, L->where, "body '%s' is a scalar: it has no points", b->name);
        return cst_slot_point(L, CST_GROUND, drawn);
    }
    if (b && b->beam) return cst_slot_along(L, body, drawn, 0);
    int point_mass = b && b->cls == &cst_body_point;
    if (point_mass) check_point_mass(L, b, drawn);
    int shared = cst_slot_shared(L, body, CST_SLOT_POINT, point_mass ? b->frame : drawn, &s);
    if (shared >= 0) return shared;
    if (!b) {
        ground_at(L, s, drawn);
    } else if (point_mass) {
        cst_id one = cst_num_const(L->g, 1);
        s->n = 1;
        s->w = cst_bind(L, 1, &one);
    } else {
        cst_id in[15], x[3];
        memcpy(in, b->frame, 12 * sizeof *in);
        memcpy(in + 12, drawn, 3 * sizeof *in);
        run(cst_num_vector(L->g, &cst_vop_local_point, 15, in, 3), 3, x);
        weights(L, s, 1, x);
    }
    return last(L);
}

int cst_slot_local(cst_loader *L, int body, const cst_id local[3])
{
    if (body == CST_GROUND) return cst_slot_point(L, CST_GROUND, local);
    const cst_body *b = body_at(L, body);
    if (b->cls != &cst_body_rigid) {
        cst_loader_error(L, L->where, "body '%s' has no axes for local coordinates", b->name);
        return cst_slot_point(L, CST_GROUND, local);
    }
    cst_slot *s;
    int shared = cst_slot_shared(L, body, CST_SLOT_LOCAL, local, &s);
    if (shared >= 0) return shared;
    weights(L, s, 1, local);
    return last(L);
}

int cst_slot_of(cst_loader *L, const cst_arg *point, int body)
{
    if (point->body[0] != CST_UNSET) body = point->body[0];
    if (point->local) return cst_slot_local(L, body, point->local_at);
    return cst_slot_point(L, body, point->vec);
}

int cst_slot_direction(cst_loader *L, int body, const cst_id drawn[3])
{
    const cst_body *b = body == CST_GROUND ? NULL : body_at(L, body);
    if (b && b->cls != &cst_body_rigid) {
        cst_loader_error(L, L->where, "body '%s' has no orientation", b->name);
        b = NULL;
        body = CST_GROUND;
    }
    cst_slot *s;
    int shared = cst_slot_shared(L, body, CST_SLOT_DIRECTION, drawn, &s);
    if (shared >= 0) return shared;
    cst_id in[12], x[3];
    if (!b) {
        run(cst_num_vector(L->g, &cst_vop_unit, 3, drawn, 3), 3, x);
        ground_at(L, s, x);
    } else {
        memcpy(in, b->frame + 3, 9 * sizeof *in);
        memcpy(in + 9, drawn, 3 * sizeof *in);
        run(cst_num_vector(L->g, &cst_vop_local_direction, 12, in, 3), 3, x);
        weights(L, s, 0, x);
    }
    return last(L);
}

void cst_slot_triad(cst_loader *L, int body, int slot[3])
{
    const cst_body *b = body == CST_GROUND ? NULL : body_at(L, body);
    if (b && b->cls != &cst_body_rigid) {
        cst_loader_error(L, L->where, "body '%s' has no orientation", b->name);
        body = CST_GROUND;
    }
    cst_id unit[2] = {cst_num_const(L->g, 0), cst_num_const(L->g, 1)};
    for (int i = 0; i < 3; i++) {
        cst_slot *s;
        slot[i] = cst_slot_shared(L, body, CST_SLOT_AXIS, (cst_id[3]){i, 0, 0}, &s);
        if (slot[i] >= 0) continue;
        slot[i] = last(L);
        if (body == CST_GROUND) {
            ground_at(L, s, (cst_id[3]){unit[i == 0], unit[i == 1], unit[i == 2]});
            continue;
        }
        s->vec = 1 + i; /* e_i itself, weight 1 */
        s->n = 1;
        s->w = cst_bind(L, 1, &unit[1]);
    }
}

int cst_slot_scalar(cst_loader *L, int body)
{
    const cst_body *b = body == CST_GROUND ? NULL : body_at(L, body);
    if (!b || b->cls != &cst_body_scalar) {
        cst_loader_error(L, L->where, "body '%s' is not a scalar", b ? b->name : "ground");
        cst_id zero = cst_num_const(L->g, 0);
        return cst_slot_point(L, CST_GROUND, (cst_id[3]){zero, zero, zero});
    }
    cst_slot *s;
    int shared = cst_slot_shared(L, body, CST_SLOT_SCALAR, NULL, &s);
    return shared >= 0 ? shared : last(L);
}

void cst_perpendicular(cst_loader *L, const cst_id axis[3], cst_id u[3], cst_id v[3])
{
    cst_id first = cst_num_vector(L->g, &cst_vop_perpendicular, 3, axis, 6);
    run(first, 3, u);
    run(first + 3, 3, v);
}

/* ---- channels ---- */

cst_id cst_x1(cst_loader *L, int slot, int c, int order)
{
    const cst_slot *s = &L->m->slot.at[slot];
    assert(c < s->dim);
    return cst_num_channel(L->g, CST_CH_X, s->x0 + c, order);
}

void cst_x(cst_loader *L, int slot, int order, cst_id v[3])
{
    for (int i = 0; i < 3; i++) v[i] = cst_x1(L, slot, i, order);
}

cst_id cst_time(cst_loader *L) { return cst_num_channel(L->g, CST_CH_TIME, 0, 0); }

/* raw = atan2(third . to, from . to) in (-pi, pi];  the remembered value counts the turns */
cst_id cst_unwrapped_angle(cst_loader *L, const cst_id from[3], const cst_id third[3],
                           const cst_id to[3])
{
    cst_id y = cst_num_dot3(L->g, third, to), x = cst_num_dot3(L->g, from, to);
    cst_id raw = cst_num_call(L->g, "atan2", y, x, CST_NONE);
    int k = L->m->memory.n;
    cst_id value =
        cst_num_call(L->g, "unwrap", raw, cst_num_channel(L->g, CST_CH_MEM, k, 0), CST_NONE);
    cst_push(L->arena, &L->m->memory)->value = value;
    return value;
}
