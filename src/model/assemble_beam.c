/* SPDX-License-Identifier: MIT
 *
 * Beams: nodes, the inertia between them, elastic forces, and the slots along a beam.
 *
 * A beam of length L has n elements of length l = L/n and n + 1 nodes with place r and slope dr/dx;
 * inside element e, at x = (e + xi) l, cubics of Hermite give places and slopes as weighted sums of
 * the four vectors of its two nodes:
 *
 *     r    = (1 - 3 xi^2 + 2 xi^3) r_e + l (xi - 2 xi^2 + xi^3) r'_e + (3 xi^2 - 2 xi^3) r_e+1 + l
 * (xi^3 - xi^2) r'_e+1
 *
 * The consistent mass matrix of an element is integral rho A S^T S dx:
 *
 *     m/420 [156  22l  54 -13l;  22l 4l^2 13l -3l^2;  54 13l 156 -22l;  -13l -3l^2 -22l 4l^2],   m
 * = rho A l */
#include <math.h>
#include <string.h>

#include "model/loader.h"

static cst_id scaled(cst_loader *L, double c, cst_id a)
{
    return cst_num_mul(L->g, cst_num_const(L->g, c), a);
}

int cst_slot_node(cst_loader *L, int node, int vec)
{
    cst_slot *s;
    int shared = cst_slot_shared(L, node, vec == 0 ? CST_SLOT_NODE : CST_SLOT_SLOPE, NULL, &s);
    if (shared >= 0) return shared;
    cst_id one = cst_num_const(L->g, 1);
    s->vec = vec;
    s->n = 1;
    s->w = cst_bind(L, 1, &one);
    return L->m->slot.n - 1;
}

/* m: rho A l of an element. At an inner node two elements meet, and terms odd in l cancel. */
static void node_mass(cst_loader *L, cst_body *b, int k, int n, cst_id m, cst_id l)
{
    int inside = k > 0 && k < n;
    cst_id ml = cst_num_mul(L->g, m, l), mll = cst_num_mul(L->g, ml, l), mass[3];
    mass[0] = scaled(L, (inside ? 312 : 156) / 420.0, m);
    mass[1] = inside ? cst_num_const(L->g, 0) : scaled(L, (k == 0 ? 22 : -22) / 420.0, ml);
    mass[2] = scaled(L, (inside ? 8 : 4) / 420.0, mll);
    b->mass = cst_bind(L, 3, mass);
}

static void link_mass(cst_loader *L, int body, cst_id m, cst_id l)
{
    cst_id ml = cst_num_mul(L->g, m, l), mll = cst_num_mul(L->g, ml, l);
    cst_id mass[4] = {scaled(L, 54 / 420.0, m), scaled(L, -13 / 420.0, ml),
                      scaled(L, 13 / 420.0, ml), scaled(L, -3 / 420.0, mll)};
    *cst_push(L->arena, &L->m->link) = (cst_link){body, cst_bind(L, 4, mass)};
}

/* drawn straight: r = from + k/n (to - from), r' = (to - from)/length; moving as a rigid body */
static void node_place(cst_loader *L, cst_body *b, int k, const cst_beam_def *d)
{
    cst_graph *g = L->g;
    cst_id q[6], u[6], arm[3], turn[3];
    for (int i = 0; i < 3; i++) {
        cst_id span = cst_num_sub(g, d->to[i], d->from[i]);
        q[i] = k == 0      ? d->from[i]
               : k == d->n ? d->to[i]
                           : cst_num_add(g, d->from[i], scaled(L, (double)k / d->n, span));
        q[3 + i] = cst_num_div(g, span, d->length);
        arm[i] = scaled(L, (double)k / d->n - 0.5, span); /* from the middle */
    }
    cst_num_cross3(g, d->spin, arm, turn);
    cst_num_cross3(g, d->spin, q + 3, u + 3);
    for (int i = 0; i < 3; i++) u[i] = cst_num_add(g, d->velocity[i], turn[i]);
    b->drawn = cst_bind(L, 6, q);
    b->rate = cst_bind(L, 6, u);
    memcpy(b->frame, q, 3 * sizeof *q);
}

int cst_add_beam(cst_loader *L, const char *name, cst_where w, const cst_beam_def *d)
{
    cst_model *m = L->m;
    int first = m->body.n;
    cst_beam *beam = cst_new(L->arena, cst_beam, 1);
    *beam = (cst_beam){.first = first, .n = d->n, .green = d->green, .E = d->E};
    memcpy(beam->from, d->from, sizeof beam->from);
    memcpy(beam->to, d->to, sizeof beam->to);
    beam->length = scaled(L, 1.0 / d->n, d->length);
    beam->EA = cst_num_mul(L->g, d->E, d->A);
    beam->EI = cst_num_mul(L->g, d->E, d->I);
    cst_id per_length = cst_num_mul(L->g, d->density, d->A),
           mass = cst_num_mul(L->g, per_length, beam->length);
    for (int k = 0; k <= d->n; k++) {
        cst_body *b = cst_body_new(L, name, "beam", w, &cst_body_node);
        b->owner = first;
        b->beam = beam;
        if (k == 0) b->m = cst_num_mul(L->g, per_length, d->length);
        node_mass(L, b, k, d->n, mass, beam->length);
        node_place(L, b, k, d);
    }
    int e = cst_map_get(&L->names[CST_SEC_BODY], name);
    if (e >= 0) L->entity.at[e]->index = first;
    const cst_id p[3] = {beam->length, beam->EA, beam->EI};
    for (int k = first; k < first + d->n; k++) {
        int slot[4] = {cst_slot_node(L, k, 0), cst_slot_node(L, k, 1), cst_slot_node(L, k + 1, 0),
                       cst_slot_node(L, k + 1, 1)};
        const char *part = cst_arena_printf(L->arena, "%s.%d", name, k - first + 1);
        cst_add_force(L, part, "beam", w, d->green ? &cst_force_beam_green : &cst_force_beam, 4,
                      slot, 3, p, CST_NONE);
        link_mass(L, k, mass, beam->length);
    }
    return first;
}

/* ---- along the beam ---- */

static cst_id cubic(cst_loader *L, cst_id xi, double c0, double c1, double c2, double c3)
{
    cst_graph *g = L->g;
    cst_id y = scaled(L, c3, xi);
    y = cst_num_mul(g, cst_num_add(g, cst_num_const(g, c2), y), xi);
    y = cst_num_mul(g, cst_num_add(g, cst_num_const(g, c1), y), xi);
    return cst_num_add(g, cst_num_const(g, c0), y);
}

/* Weights of r_e, r'_e, r_e+1, r'_e+1 in the derivative of this order by x: polynomials of xi times
 * powers of l. */
static void hermite(cst_loader *L, cst_id xi, cst_id l, int order, cst_id w[4])
{
    static const double c[3][4][4] = {
        {{1, 0, -3, 2}, {0, 1, -2, 1}, {0, 0, 3, -2}, {0, 0, -1, 1}},
        {{0, -6, 6, 0}, {1, -4, 3, 0}, {0, 6, -6, 0}, {0, -2, 3, 0}},
        {{-6, 12, 0, 0}, {-4, 6, 0, 0}, {6, -12, 0, 0}, {-2, 6, 0, 0}},
    };
    for (int i = 0; i < 4; i++) {
        const double *a = c[order][i];
        int power = i % 2 - order;
        w[i] = cubic(L, xi, a[0], a[1], a[2], a[3]);
        if (power > 0) w[i] = cst_num_mul(L->g, w[i], l);
        for (; power < 0; power++) w[i] = cst_num_div(L->g, w[i], l);
    }
}

/* s = n (P - from).(to - from)/|to - from|^2, the element coordinate of the drawn point; reports
 * what is not on the beam */
static cst_id along(cst_loader *L, const cst_body *b, const cst_id drawn[3])
{
    const cst_beam *beam = b->beam;
    cst_id d[3], p[3];
    double off = 0, size = 0;
    for (int i = 0; i < 3; i++) {
        d[i] = cst_num_sub(L->g, beam->to[i], beam->from[i]);
        p[i] = cst_num_sub(L->g, drawn[i], beam->from[i]);
    }
    cst_id part = cst_num_div(L->g, cst_num_dot3(L->g, p, d), cst_num_dot3(L->g, d, d));
    double s = cst_loader_value(L, part);
    for (int i = 0; i < 3; i++) {
        double di = cst_loader_value(L, d[i]), away = cst_loader_value(L, p[i]) - s * di;
        off += away * away, size += di * di;
    }
    if (!(sqrt(off) <= 1e-9 * sqrt(size)) || !(s >= -1e-9 && s <= 1 + 1e-9))
        cst_loader_error(L, L->where,
                         "the point is not on the beam '%s': it is drawn %.3g m away from it",
                         b->name, hypot(sqrt(off), sqrt(size) * fmax(0, fmax(-s, s - 1))));
    return scaled(L, beam->n, part);
}

int cst_slot_along(cst_loader *L, int body, const cst_id drawn[3], int order)
{
    const cst_beam *beam = L->m->body.at[body].beam;
    int start = memcmp(drawn, beam->from, sizeof beam->from) == 0,
        end = memcmp(drawn, beam->to, sizeof beam->to) == 0;
    if (order < 2 && (start || end))
        return cst_slot_node(L, beam->first + (start ? 0 : beam->n), order);
    cst_slot *s;
    int shared = cst_slot_shared(L, body, CST_SLOT_ALONG + order, drawn, &s);
    if (shared >= 0) return shared;
    int slot = L->m->slot.n - 1;
    cst_id at = along(L, &L->m->body.at[body], drawn), w[4];
    double nominal = cst_loader_value(L, at);
    int e = nominal >= beam->n - 1 ? beam->n - 1 : nominal > 0 ? (int)nominal : 0;
    hermite(L, cst_num_sub(L->g, at, cst_num_const(L->g, e)), beam->length, order, w);
    s = &L->m->slot.at[slot];
    s->body = beam->first + e;
    s->span = 2;
    s->n = 4;
    s->point = order == 0;
    s->w = cst_bind(L, 4, w);
    return slot;
}
