/* SPDX-License-Identifier: MIT
 *
 * Numbers of a run, and the maps between bodies and slots. */
#include "system/system.h"
#include "linalg/pair.h"

#include <math.h>
#include <string.h>

static int slot_unknowns(const cst_model *m, const cst_slot *k) /* of the bodies that it reads */
{
    int n = 0;
    for (int i = 0; k->body != CST_GROUND && i < k->span; i++) n += m->body.at[k->body + i].cls->nu;
    return n;
}

/* Ranges that overlap are joined until none do: few slots, at most a handful of passes. */
static void reach_join(int nslot, int *from, int *to, int *at)
{
    for (int again = 1; again;) {
        again = 0;
        for (int i = 0; i < nslot; i++)
            for (int k = 0; k < i; k++) {
                if (at[i] < 0 || at[k] < 0 || at[i] == at[k]) continue;
                int a = at[i], b = at[k];
                if (to[a] <= from[b] || to[b] <= from[a]) continue;
                if (from[a] < from[b]) from[b] = from[a];
                if (to[a] > to[b]) to[b] = to[a];
                for (int l = 0; l < nslot; l++)
                    if (at[l] == a) at[l] = b;
                again = 1;
            }
    }
}

/* place: where the touches of this element go in the array of all elements; returns the next free
 * place */
static cst_touch *reach_build(cst_arena *a, const cst_system *s, int nslot, const int *slot,
                              cst_touch *place, cst_reach *r)
{
    const cst_model *m = s->m;
    int *from = cst_new(a, int, nslot), *to = cst_new(a, int, nslot),
        *range = cst_new(a, int, nslot), *own = cst_new(a, int, nslot);
    r->at = cst_new(a, int, nslot);
    r->off = cst_new(a, int, nslot);
    r->nu = cst_new(a, int, nslot);
    r->skip = cst_new(a, int, nslot);
    r->stride = cst_new(a, int, nslot);
    r->u0 = cst_new(a, int, nslot);
    r->t0 = cst_new(a, int, nslot + 1);
    r->nslot = nslot;
    r->x0 = cst_new(a, int, nslot);
    r->dim = cst_new(a, int, nslot);
    for (int k = 0; k < nslot; k++) {
        const cst_slot *sl = &m->slot.at[slot[k]];
        r->x0[k] = sl->x0, r->dim[k] = sl->dim;
        r->at[k] = sl->body == CST_GROUND ? -1 : k;
        if (sl->body == CST_GROUND) continue;
        const cst_body *b = &m->body.at[sl->body];
        r->stride[k] = slot_unknowns(m, sl);
        from[k] = own[k] = b->u0 + (!sl->point && sl->dim == 3 ? b->cls->first_of_direction : 0);
        to[k] = b->u0 + r->stride[k];
    }
    reach_join(nslot, from, to, r->at);
    for (int k = 0; k < nslot;
         k++) { /* number the ranges that are left in the order of the slots */
        if (r->at[k] < 0) continue;
        int i = 0, first = from[r->at[k]], u0 = m->body.at[m->slot.at[slot[k]].body].u0;
        while (i < r->n && r->u0[i] != first) i++;
        if (i == r->n) r->u0[i] = first, r->t0[i + 1] = r->t0[i] + to[r->at[k]] - first, r->n++;
        range[k] = i;
        r->off[k] = own[k] - first;
        r->skip[k] = own[k] - u0;
        r->nu[k] = r->stride[k] - r->skip[k];
    }
    for (int k = 0; k < nslot; k++)
        if (r->at[k] >= 0) r->at[k] = range[k];
    r->nt = r->t0[r->n];
    r->place = place;
    for (int k = 0, x = 0; k < nslot; x += r->dim[k++]) {
        cst_touch *p = &r->place[k];
        *p = (cst_touch){.x = x,
                         .dim = r->dim[k],
                         .range = r->at[k],
                         .off = r->off[k],
                         .nu = r->nu[k],
                         .stride = r->stride[k]};
        if (r->at[k] >= 0) p->t = r->t0[r->at[k]] + r->off[k], p->b = s->b0[slot[k]] + r->skip[k];
    }
    return place + nslot;
}

static int max_int(int a, int b) { return a > b ? a : b; }

void cst_system_bind(cst_system *s, const double *leaf)
{
    const cst_model *m = s->m;
    for (int i = 0; i < cst_graph_leaves(m->graph); i++)
        s->leaf[i] = leaf ? leaf[i] : cst_leaf_nominal(m->graph, i);
    cst_graph_eval(m->graph, s->leaf, s->val);
    for (int i = 0; i < m->bound.n; i++) s->P[i] = s->val[m->bound.at[i]];
    cst_gravity_bind(s);
    cst_sizes_bind(s);
    s->placed = s->rated = 0;
}

/* Who reads each slot: RATES: forces and tapes, READ: other constraints, 0: outputs alone */
enum { READ = 1, RATES = 2 };

static unsigned char *readers(cst_arena *a, const cst_model *m)
{
    unsigned char *by = cst_new(a, unsigned char, m->slot.n + 1);
    for (int i = 0; i < m->constraint.n; i++)
        for (int k = 0; k < m->constraint.at[i].nslot; k++)
            by[m->constraint.at[i].slot[k]] |= m->constraint.at[i].tape ? RATES : READ;
    for (int i = 0; i < m->force.n; i++)
        for (int k = 0; k < m->force.at[i].nslot; k++) by[m->force.at[i].slot[k]] |= RATES;
    return by;
}

static void markers_build(cst_arena *a, cst_system *s)
{
    const cst_model *m = s->m;
    const unsigned char *by = s->read = readers(a, m);
    s->marker = cst_new(a, cst_marker, m->slot.n + CST_AHEAD);
    s->ground = cst_new(a, cst_marker, m->slot.n + 1);
    for (int pass = RATES; pass >= 0; pass--) {
        for (int i = 0; i < m->slot.n; i++) {
            const cst_slot *k = &m->slot.at[i];
            if ((by[i] & RATES ? RATES : by[i]) != pass) continue;
            if (k->body == CST_GROUND) {
                s->ground[s->nground++] = (cst_marker){.x = k->x0, .w = k->o};
                continue;
            }
            const cst_body *b = &m->body.at[k->body];
            int scalar = k->dim == 1;
            int q0 = b->q0 + (scalar ? 3 * b->cls->nvec + k->vec : 3 * k->vec);
            s->marker[s->nmarker++] = (cst_marker){k->x0, q0, k->w, scalar ? 0 : k->n};
        }
        if (pass == RATES) s->nrated = s->nmarker;
        if (pass == READ) s->nread = s->nmarker;
    }
}

static void seats_build(cst_arena *a, cst_system *s)
{
    const cst_model *m = s->m;
    s->mover = cst_new(a, cst_mover, m->body.n + 1);
    for (int i = 0; i < m->body.n; i++) {
        const cst_body *b = &m->body.at[i];
        s->mover[i] = (cst_mover){b->cls, b->q0, b->u0, b->mass};
    }
    s->seat = cst_new(a, cst_seat, m->constraint.n + CST_AHEAD);
    s->driven = cst_new(a, int, m->constraint.n + 1);
    for (int i = 0; i < m->constraint.n; i++) {
        const cst_constraint *c = &m->constraint.at[i];
        cst_seat *to = &s->seat[i];
        *to = (cst_seat){.cls = c->cls,
                         .tape = c->tape,
                         .phases = c->phases,
                         .row0 = c->row0,
                         .nx = c->nx,
                         .np = c->drive ? 3 : c->np,
                         .p = c->drive ? 3 * i : c->p,
                         .driven = c->drive ? CST_DRIVEN : CST_FREE};
        for (int k = 0; c->drive && k < c->drive->nchannel; k++)
            if (c->drive->channel[k].kind == CST_CH_MEM) to->driven = CST_SWITCHED;
        if (to->driven == CST_DRIVEN) s->driven[s->ndriven++] = i;
        if (c->nslot > 3 || c->nx != 3 * c->nslot) continue;
        to->nslot = c->nslot;
        for (int k = 0; k < c->nslot; k++) to->x0[k] = m->slot.at[c->slot[k]].x0;
    }
}

cst_system *cst_system_new(cst_arena *a, const cst_model *m, const double *leaf)
{
    cst_system *s = cst_new(a, cst_system, 1);
    s->m = m;
    s->leaf = cst_new(a, double, cst_graph_leaves(m->graph) + 1);
    s->val = cst_new(a, double, cst_graph_values(m->graph) + 1);
    s->P = cst_new(a, double, m->bound.n + 1);
    s->gravity = cst_new(a, double, m->nq + 1);
    seats_build(a, s);
    cst_sizes_new(a, s);
    cst_system_bind(s, leaf);
    s->b0 = cst_new(a, int, m->slot.n + 1);
    int nb = 0;
    for (int i = 0; i < m->slot.n; i++) {
        const cst_slot *k = &m->slot.at[i];
        s->b0[i] = nb;
        nb += k->dim * slot_unknowns(m, k);
    }
    int touches = 0;
    for (int i = 0; i < m->force.n; i++) touches += m->force.at[i].nslot;
    for (int i = 0; i < m->constraint.n; i++) touches += m->constraint.at[i].nslot;
    cst_touch *place = cst_new(a, cst_touch, touches + 1);
    s->force_reach = cst_new(a, cst_reach, m->force.n + 1);
    for (int i = 0; i < m->force.n; i++) {
        const cst_force *f = &m->force.at[i];
        place = reach_build(a, s, f->nslot, f->slot, place, &s->force_reach[i]);
        s->max_np = max_int(s->max_np, f->np);
        if (f->tape) s->max_nreg = max_int(s->max_nreg, f->tape->nreg);
    }
    s->constraint_reach = cst_new(a, cst_reach, m->constraint.n + 1);
    for (int i = 0; i < m->constraint.n; i++) {
        const cst_constraint *c = &m->constraint.at[i];
        place = reach_build(a, s, c->nslot, c->slot, place, &s->constraint_reach[i]);
        s->max_np = max_int(s->max_np, c->np);
        if (c->tape) s->max_nreg = max_int(s->max_nreg, c->tape->nreg);
        if (c->drive) s->max_nreg = max_int(s->max_nreg, c->drive->nreg);
    }
    s->max_nreg = max_int(s->max_nreg, m->events->nreg);
    s->B = cst_new(a, double, nb + 1);
    s->nB = nb;
    markers_build(a, s);
    s->q_at = cst_new(a, double, m->nq + 1);
    s->v_at = cst_new(a, double, m->nq + 1);
    s->x = cst_new(a, double, m->nx + 1);
    s->xd = cst_new(a, double, m->nx + 1);
    s->fx = cst_new(a, double, m->nx + 1);
    s->row = cst_new(a, double, m->nrow + 1);
    s->drive = cst_new(a, double, 3 * m->constraint.n + 1);
    s->reg = cst_new(a, double, 2 * s->max_nreg + 1);
    s->p = cst_new(a, double, s->max_np + 4);
    int most = 1;
    for (int i = 0; i < m->force.n; i++)
        most = max_int(most, m->force.at[i].nx * s->force_reach[i].nt);
    s->HB = cst_new(a, double, most);
    return s;
}

static void place_ground(const cst_system *s, int offset, double *x)
{
    for (const cst_marker *k = s->ground, *end = k + s->nground; k < end; k++)
        for (int c = 0; c < 3; c++) x[k->x + c] = offset ? s->P[k->w + c] : 0;
}

void cst_markers_apply(const cst_system *s, int n, const cst_marker *marker, const double *ambient,
                       double *x)
{
    for (const cst_marker *k = marker, *end = k + n; k < end; k++) {
        const double *v = ambient + k->q, *w = s->P + k->w;
        double *y = x + k->x;
        __builtin_prefetch(s->P + k[CST_AHEAD].w);
        if (k->n == 4) { /* a point of a rigid body */
            CST_PAIR(y) =
                CST_BOTH(w[0]) * CST_READ_PAIR(v) + CST_BOTH(w[1]) * CST_READ_PAIR(v + 3) +
                CST_BOTH(w[2]) * CST_READ_PAIR(v + 6) + CST_BOTH(w[3]) * CST_READ_PAIR(v + 9);
            y[2] = w[0] * v[2] + w[1] * v[5] + w[2] * v[8] + w[3] * v[11];
        } else if (k->n == 3) { /* a direction */
            CST_PAIR(y) = CST_BOTH(w[0]) * CST_READ_PAIR(v) +
                          CST_BOTH(w[1]) * CST_READ_PAIR(v + 3) +
                          CST_BOTH(w[2]) * CST_READ_PAIR(v + 6);
            y[2] = w[0] * v[2] + w[1] * v[5] + w[2] * v[8];
        } else if (k->n == 0) {
            y[0] = v[0];
        } else {
            double y0 = 0, y1 = 0, y2 = 0;
            for (int j = 0; j < k->n; j++, v += 3)
                y0 += w[j] * v[0], y1 += w[j] * v[1], y2 += w[j] * v[2];
            y[0] = y0, y[1] = y1, y[2] = y2;
        }
    }
}

void cst_slots_apply(const cst_system *s, const double *ambient, int offset, double *x)
{
    place_ground(s, offset, x);
    cst_markers_apply(s, s->nmarker, s->marker, ambient, x);
}

void cst_slots_column(const cst_system *s, const double *ambient, int j, double *B)
{
    const cst_model *m = s->m;
    for (int i = 0; i < m->force.n; i++)
        for (int l = 0; l < m->force.at[i].nslot; l++) {
            int slot = m->force.at[i].slot[l];
            const cst_slot *k = &m->slot.at[slot];
            if (k->body == CST_GROUND || k->span > 1) continue;
            const cst_body *b = &m->body.at[k->body];
            const double *v = ambient + b->q0 + 3 * k->vec, *w = s->P + k->w;
            double *y = B + s->b0[slot] + j;
            if (j >= b->cls->nu) continue;
            if (k->dim == 1) {
                y[0] = ambient[b->q0 + 3 * b->cls->nvec + k->vec];
                continue;
            }
            for (int c = 0; c < 3; c++, y += b->cls->nu) {
                y[0] = 0;
                for (int n = 0; n < k->n; n++) y[0] += w[n] * v[3 * n + c];
            }
        }
}

static void transpose(const cst_system *s, int n, const double *x, double *ambient)
{
    for (const cst_marker *k = s->marker, *end = k + n; k < end; k++) {
        const double *y = x + k->x, *w = s->P + k->w;
        double *v = ambient + k->q;
        __builtin_prefetch(s->P + k[CST_AHEAD].w);
        if (k->n == 0) {
            v[0] += y[0];
            continue;
        }
        if (cst_three_zeros(y)) continue;
        cst_pair y01 = CST_READ_PAIR(y);
        double y2 = y[2];
        for (int j = 0; j < k->n; j++, v += 3)
            CST_PAIR(v) += CST_BOTH(w[j]) * y01, v[2] += w[j] * y2;
    }
}

void cst_slots_transpose(const cst_system *s, const double *x, double *ambient)
{
    transpose(s, s->nmarker, x, ambient);
}

void cst_forces_transpose(const cst_system *s, const double *fx, double *ambient)
{
    transpose(s, s->nread, fx, ambient);
}

/* A slot that reads bodies with T = 1 in a row: B = [w_1 1, w_2 1, ..] */
static void span_block(const cst_slot *k, const double *w, int nu, double *B)
{
    memset(B, 0, sizeof *B * (size_t)(3 * nu));
    for (int j = 0; j < k->n; j++)
        for (int c = 0; c < 3; c++) B[c * nu + 3 * (k->vec + j) + c] = w[j];
}

void cst_slots_blocks(cst_system *s, const double *q)
{
    const cst_model *m = s->m;
    double w[CST_MAX_NU];
    for (int i = 0; i < m->slot.n; i++) {
        const cst_slot *k = &m->slot.at[i];
        if (k->body == CST_GROUND || !s->read[i]) continue;
        const cst_mover *b = &s->mover[k->body];
        double *B = s->B + s->b0[i];
        if (k->dim == 1) {
            memset(B, 0, sizeof *B * (size_t)b->cls->nu);
            B[b->cls->nu - b->cls->nscalar + k->vec] = 1;
        } else if (k->span > 1) {
            span_block(k, s->P + k->w, slot_unknowns(m, k), B);
        } else if (k->n == b->cls->nvec) {
            b->cls->rows(q + b->q0, s->P + k->w, B);
        } else {
            for (int j = 0; j < b->cls->nvec; j++) w[j] = 0;
            for (int j = 0; j < k->n; j++) w[k->vec + j] = s->P[k->w + j];
            b->cls->rows(q + b->q0, w, B);
        }
    }
}

static void drives_place(cst_system *s)
{
    for (int n = 0; n < s->ndriven; n++) cst_drive_place(s, s->driven[n], NULL);
}

void cst_system_place(cst_system *s, double t, const double *q)
{
    size_t size = sizeof *q * (size_t)s->m->nq;
    if (s->placed && t == s->t && memcmp(q, s->q_at, size) == 0) return;
    memcpy(s->q_at, q, size);
    s->placed = 1;
    s->t = t;
    cst_slots_apply(s, q, 1, s->x);
    drives_place(s);
}

void cst_system_rates(cst_system *s, const double *v)
{
    size_t size = sizeof *v * (size_t)s->m->nq;
    if (s->rated && memcmp(v, s->v_at, size) == 0) return;
    memcpy(s->v_at, v, size);
    s->rated = 1;
    cst_slots_apply(s, v, 0, s->xd);
}

void cst_system_try_rates(cst_system *s, const double *v)
{
    s->rated = 0;
    cst_markers_apply(s, s->nrated, s->marker, v, s->xd);
}

void cst_system_try(cst_system *s, double t, const double *q, const double *v)
{
    s->placed = 0;
    s->t = t;
    place_ground(s, 1, s->x);
    cst_markers_apply(s, s->nread, s->marker, q, s->x);
    cst_system_try_rates(s, v);
    drives_place(s);
}

void cst_system_rest(cst_system *s)
{
    memset(s->xd, 0, sizeof *s->xd * (size_t)s->m->nx);
    s->rated = 0;
}

#define EACH_BODY(s, b)                                                                            \
    for (const cst_mover *b = (s)->mover, *end_##b = b + (s)->m->body.n; b < end_##b; b++)

void cst_T(const cst_system *s, const double *q, const double *u, double *dq)
{
    EACH_BODY(s, b) b->cls->T(q + b->q0, u + b->u0, dq + b->q0);
}

void cst_T_transpose(const cst_system *s, const double *q, const double *r, double *rho)
{
    EACH_BODY(s, b) b->cls->Tt(q + b->q0, r + b->q0, rho + b->u0);
}

void cst_L_add(const cst_system *s, const double *dq, const double *u, double *ddq)
{
    EACH_BODY(s, b) b->cls->L(dq + b->q0, u + b->u0, ddq + b->q0);
}

void cst_accelerations_bar(const cst_system *s, const double *q, const double *u, const double *ud,
                           const double *v, const double *abar, double *vbar, double *qbar,
                           double *ubar, double *udbar)
{
    double rho[CST_MAX_NU];
    for (int i = 0; i < s->m->body.n; i++) {
        const cst_body *b = &s->m->body.at[i];
        b->cls->Lt(ud + b->u0, abar + b->q0, qbar + b->q0);
        if (udbar) b->cls->Tt(q + b->q0, abar + b->q0, rho);
        for (int j = 0; udbar && j < b->cls->nu; j++) udbar[b->u0 + j] += rho[j];
        b->cls->Lt(u + b->u0, abar + b->q0, vbar + b->q0);
        b->cls->Ltu(v + b->q0, abar + b->q0, ubar + b->u0);
    }
    cst_rates_bar(s, q, u, vbar, qbar, ubar);
}

void cst_move_change(const cst_system *s, const double *q, const double *xi, const double *dq,
                     const double *dxi, double *dq1)
{
    for (int i = 0; i < s->m->body.n; i++) {
        const cst_body *b = &s->m->body.at[i];
        int nq = 3 * b->cls->nvec + b->cls->nscalar;
        if (b->cls->move_dot) {
            b->cls->move_dot(q + b->q0, xi + b->u0, dq + b->q0, dxi + b->u0, dq1 + b->q0);
            continue;
        }
        b->cls->T(q + b->q0, dxi + b->u0, dq1 + b->q0);
        for (int j = 0; j < nq; j++) dq1[b->q0 + j] += dq[b->q0 + j];
    }
}

void cst_move_bar(const cst_system *s, const double *q, const double *xi, const double *bar,
                  double *qbar, double *xibar)
{
    double rho[CST_MAX_NU];
    for (int i = 0; i < s->m->body.n; i++) {
        const cst_body *b = &s->m->body.at[i];
        int nq = 3 * b->cls->nvec + b->cls->nscalar;
        if (b->cls->move_bar) {
            b->cls->move_bar(q + b->q0, xi + b->u0, bar + b->q0, qbar + b->q0, xibar + b->u0);
            continue;
        }
        for (int j = 0; j < nq; j++) qbar[b->q0 + j] += bar[b->q0 + j];
        b->cls->Tt(q + b->q0, bar + b->q0, rho);
        for (int j = 0; j < b->cls->nu; j++) xibar[b->u0 + j] += rho[j];
    }
}

void cst_rates_bar(const cst_system *s, const double *q, const double *u, const double *vbar,
                   double *qbar, double *ubar)
{
    double rho[CST_MAX_NU];
    for (int i = 0; i < s->m->body.n; i++) {
        const cst_body *b = &s->m->body.at[i];
        b->cls->Lt(u + b->u0, vbar + b->q0, qbar + b->q0);
        b->cls->Tt(q + b->q0, vbar + b->q0, rho);
        for (int j = 0; j < b->cls->nu; j++) ubar[b->u0 + j] += rho[j];
    }
}

void cst_move(const cst_system *s, const double *q, const double *xi, double *q1)
{
    EACH_BODY(s, b) b->cls->move(q + b->q0, xi + b->u0, q1 + b->q0);
}

void cst_move_back(const cst_system *s, const double *xi, const double *w, double *dxi)
{
    EACH_BODY(s, b)
    {
        if (b->cls->move_back)
            b->cls->move_back(xi + b->u0, w + b->u0, dxi + b->u0);
        else
            for (int i = b->u0; i < b->u0 + b->cls->nu; i++) dxi[i] = w[i];
    }
}

void cst_carry(const cst_system *s, const double *q, const double *xi, double *q1, double *D)
{
    EACH_BODY(s, b)
    {
        if (b->cls->carry) {
            b->cls->carry(q + b->q0, xi + b->u0, q1 + b->q0, D + b->q0);
            continue;
        }
        b->cls->move(q + b->q0, xi + b->u0, q1 + b->q0);
        for (int i = 0; i < b->cls->nu; i++) D[b->q0 + i] += xi[b->u0 + i];
    }
}
