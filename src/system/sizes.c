/* SPDX-License-Identifier: MIT
 *
 * Sizes of bodies. With mass entries m_kl (k = 0: the origin) and the points p_i that joints hold
 * on a body,
 *
 *     size^2 = g^2 + max |p_i - p_j|^2 / 4,     g^2 = sum_k m_kk/m - (m_0k/m)^2,  k > 0 squared
 * radius of gyration
 *
 * It depends on the body alone: neither on where it is drawn, nor on other bodies, measures or
 * forces. A body without either (a point mass) has the size of the model, the largest of the
 * others; that of a model without any is the longest distance between two points of one joint or
 * force. A scalar of inertia I has the weight I/m of the heaviest body, which is the square of a
 * lever. */
#include <math.h>
#include <string.h>

#include "linalg/dense.h"
#include "system/system.h"

/* The place of m_kk in the upper triangle by rows */
static int diagonal(int nv, int k) { return k * nv - k * (k - 1) / 2; }

static double gyration(const cst_body *b, const double *m)
{
    double g2 = 0;
    for (int k = 1; m[0] > 0 && k < b->cls->nvec; k++)
        g2 += (m[diagonal(b->cls->nvec, k)] - m[k] * m[k] / m[0]) / m[0];
    return g2 > 0 ? g2 : 0;
}

/* dg^2 = sum_k (dm_kk - 2 c_k dm_0k - (m_kk/m - 2 c_k^2) dm)/m,  c_k = m_0k/m */
static double gyration_dot(const cst_body *b, const double *m, const double *dm)
{
    double sum = 0;
    for (int k = 1; k < b->cls->nvec; k++) {
        int kk = diagonal(b->cls->nvec, k);
        double c = m[k] / m[0];
        sum += (dm[kk] - 2 * c * dm[k] - (m[kk] / m[0] - 2 * c * c) * dm[0]) / m[0];
    }
    return sum;
}

static void gyration_bar(const cst_body *b, const double *m, double bar, double *mbar)
{
    for (int k = 1; k < b->cls->nvec; k++) {
        int kk = diagonal(b->cls->nvec, k);
        double c = m[k] / m[0];
        mbar[kk] += bar / m[0], mbar[k] -= 2 * c * bar / m[0],
            mbar[0] -= (m[kk] / m[0] - 2 * c * c) * bar / m[0];
    }
}

/* Points that joints hold: markers with weights (1, x, y, z) of one body */
static int holds(const cst_slot *k)
{
    return k->point && k->dim == 3 && k->body != CST_GROUND && k->n >= 4 && k->span <= 1;
}

void cst_sizes_new(cst_arena *a, cst_system *s)
{
    const cst_model *m = s->m;
    unsigned char *held = cst_new(a, unsigned char, m->slot.n + 1);
    s->size = cst_new(a, double, m->body.n + 1);
    s->span = cst_new(a, cst_span, m->body.n + 1);
    s->held = cst_new(a, int, m->slot.n + 1);
    s->held_ptr = cst_new(a, int, m->body.n + 1);
    for (int i = 0; i < m->constraint.n; i++)
        for (int k = 0;
             (m->constraint.at[i].phases & CST_ROW_MOTION) && k < m->constraint.at[i].nslot; k++) {
            int slot = m->constraint.at[i].slot[k];
            if (holds(&m->slot.at[slot]) && !held[slot])
                held[slot] = 1, s->held_ptr[m->slot.at[slot].body + 1]++;
        }
    for (int b = 0; b < m->body.n; b++) s->held_ptr[b + 1] += s->held_ptr[b];
    int *next = cst_new(a, int, m->body.n + 1);
    memcpy(next, s->held_ptr, sizeof *next * (size_t)m->body.n);
    for (int i = 0; i < m->slot.n; i++)
        if (held[i]) s->held[next[m->slot.at[i].body]++] = m->slot.at[i].w + 1;
}

/* The two held points that are farthest apart */
static cst_span span_of(const cst_system *s, int body)
{
    cst_span y = {0};
    for (int i = s->held_ptr[body]; i < s->held_ptr[body + 1]; i++)
        for (int j = s->held_ptr[body]; j < i; j++) {
            double d[3];
            v3_sub(s->P + s->held[i], s->P + s->held[j], d);
            if (v3_dot(d, d) > y.square) y = (cst_span){s->held[i], s->held[j], v3_dot(d, d)};
        }
    return y;
}

static void drawn_point(const cst_system *s, const cst_slot *k, double *p)
{
    const cst_model *m = s->m;
    if (k->body == CST_GROUND) {
        memcpy(p, s->P + k->o, 3 * sizeof *p);
        return;
    }
    const cst_body *b = &m->body.at[k->body];
    const double *q = s->P + b->drawn + 3 * k->vec;
    p[0] = p[1] = p[2] = 0;
    for (int l = 0; l < k->n && k->vec + l < b->cls->nvec; l++)
        v3_axpy(s->P[k->w + l], q + 3 * l, p);
}

/* The longest distance between two points of one element, as drawn */
static double longest(const cst_system *s, int nslot, const int *slot)
{
    double most = 0, a[3], b[3], d[3];
    for (int i = 0; i < nslot; i++)
        for (int j = 0; j < i; j++) {
            const cst_slot *x = &s->m->slot.at[slot[i]], *y = &s->m->slot.at[slot[j]];
            if (!x->point || !y->point || x->dim != 3 || y->dim != 3) continue;
            drawn_point(s, x, a), drawn_point(s, y, b);
            v3_sub(a, b, d);
            most = fmax(most, v3_norm(d));
        }
    return most;
}

static int levered(const cst_system *s, const cst_body *b)
{
    return s->heaviest >= 0 && s->P[b->mass] > 0;
}

void cst_sizes_bind(cst_system *s)
{
    const cst_model *m = s->m;
    double length = 0;
    s->heaviest = -1;
    for (int i = 0; i < m->body.n; i++) {
        const cst_body *b = &m->body.at[i];
        if (!b->cls->nvec) continue;
        s->span[i] = span_of(s, i);
        s->size[i] = sqrt(gyration(b, s->P + b->mass) + s->span[i].square / 4);
        length = fmax(length, s->size[i]);
        if (s->P[b->mass] > (s->heaviest < 0 ? 0 : s->P[s->heaviest])) s->heaviest = b->mass;
    }
    for (int i = 0; length == 0 && i < m->constraint.n; i++)
        length = fmax(length, longest(s, m->constraint.at[i].nslot, m->constraint.at[i].slot));
    for (int i = 0; length == 0 && i < m->force.n; i++)
        length = fmax(length, longest(s, m->force.at[i].nslot, m->force.at[i].slot));
    s->length = length > 0 && isfinite(length) ? length : 1;
    for (int i = 0; i < m->body.n; i++) {
        const cst_body *b = &m->body.at[i];
        if (b->cls->nvec && !(s->size[i] > 0 && isfinite(s->size[i]))) s->size[i] = s->length;
        if (!b->cls->nvec) s->size[i] = levered(s, b) ? sqrt(s->P[b->mass] / s->P[s->heaviest]) : 1;
    }
}

double cst_size_square_dot(const cst_system *s, int body, const double *Pdot)
{
    const cst_body *b = &s->m->body.at[body];
    const cst_span *y = &s->span[body];
    const double *m = s->P + b->mass;
    double d[3], v[3], sum = 0;
    if (!b->cls->nvec) /* I/m */
        return levered(s, b) ? (Pdot[b->mass] - *m / s->P[s->heaviest] * Pdot[s->heaviest]) /
                                   s->P[s->heaviest]
                             : 0;
    if (gyration(b, m) > 0) sum += gyration_dot(b, m, Pdot + b->mass);
    if (y->square == 0) return sum;
    v3_sub(s->P + y->from, s->P + y->to, d);
    v3_sub(Pdot + y->from, Pdot + y->to, v);
    return sum + v3_dot(d, v) / 2;
}

void cst_size_square_bar(const cst_system *s, int body, double bar, double *Pbar)
{
    const cst_body *b = &s->m->body.at[body];
    const cst_span *y = &s->span[body];
    const double *m = s->P + b->mass;
    double d[3];
    if (!b->cls->nvec) {
        if (!levered(s, b)) return;
        Pbar[b->mass] += bar / s->P[s->heaviest];
        Pbar[s->heaviest] -= bar * *m / (s->P[s->heaviest] * s->P[s->heaviest]);
        return;
    }
    if (gyration(b, m) > 0) gyration_bar(b, m, bar, Pbar + b->mass);
    if (y->square == 0) return;
    v3_sub(s->P + y->from, s->P + y->to, d);
    v3_axpy(bar / 2, d, Pbar + y->from);
    v3_axpy(-bar / 2, d, Pbar + y->to);
}
