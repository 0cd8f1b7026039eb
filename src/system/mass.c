/* SPDX-License-Identifier: MIT
 *
 * The mass matrix: constant, a small matrix times I3 for each body and for each link between
 * neighbours,
 *
 *     (M a)_k = sum_l m_kl a_l,      Q_k = sum_l m_kl tau_l g,      tau the bodies' translation
 * pattern
 *
 * its products with vectors, and their derivatives by the masses. A link adds m_kl at (k, l) and at
 * (l, k). */
#include <string.h>

#include "linalg/dense.h"
#include "system/pass.h"

#define EACH_BODY(s, b)                                                                            \
    for (const cst_mover *b = (s)->mover, *end_##b = b + (s)->m->body.n; b < end_##b; b++)

typedef struct joined { /* a link: its two bodies */
    int na, nb, a, b;   /* vectors; first coordinates in q */
    const double *ta, *tb;
} joined;

static joined joined_at(const cst_system *s, const cst_link *l)
{
    const cst_body *a = &s->m->body.at[l->body], *b = a + 1;
    return (joined){a->cls->nvec, b->cls->nvec,        a->q0,
                    b->q0,        a->cls->translation, b->cls->translation};
}

#define EACH_LINK(s, l, j)                                                                         \
    for (const cst_link *l = (s)->m->link.at, *end_##l = l ? l + (s)->m->link.n : l; l < end_##l;  \
         l++)                                                                                      \
        for (joined j = joined_at(s, l), *once_##j = &j; once_##j; once_##j = NULL)

/* r += c m a for a body of four vectors: nearly all are. x and y together, then z */
static void mass_four(const double *m, const double *a, double c, double *r)
{
    static const int row[4][4] = {{0, 1, 2, 3}, {1, 4, 5, 6}, {2, 5, 7, 8}, {3, 6, 8, 9}};
    cst_pair b[4];
    double z[4];
    for (int l = 0; l < 4; l++)
        b[l] = CST_BOTH(c) * CST_READ_PAIR(a + 3 * l), z[l] = c * a[3 * l + 2];
    for (int k = 0; k < 4; k++) {
        const int *n = row[k];
        CST_PAIR(r + 3 * k) += CST_BOTH(m[n[0]]) * b[0] + CST_BOTH(m[n[1]]) * b[1] +
                               CST_BOTH(m[n[2]]) * b[2] + CST_BOTH(m[n[3]]) * b[3];
        r[3 * k + 2] += m[n[0]] * z[0] + m[n[1]] * z[1] + m[n[2]] * z[2] + m[n[3]] * z[3];
    }
}

/* r_k += c sum_l m_kl a_l ; the triangle of m is stored by rows */
void cst_mass_add(const cst_system *s, const double *weight, const double *a, double c, double *r)
{
    EACH_BODY(s, b)
    {
        int nv = b->cls->nvec, ns = b->cls->nscalar;
        if (weight) {
            for (int i = b->q0; i < b->q0 + 3 * nv + ns; i++) r[i] += c * weight[i] * a[i];
            continue;
        }
        const double *m = s->P + b->mass, *ab = a + b->q0;
        double *rb = r + b->q0;
        if (nv == 4) {
            mass_four(m, ab, c, rb);
            m += 10;
        } else {
            for (int k = 0; k < nv; k++)
                for (int l = k; l < nv; l++, m++) {
                    v3_axpy(c * *m, ab + 3 * l, rb + 3 * k);
                    if (l > k) v3_axpy(c * *m, ab + 3 * k, rb + 3 * l);
                }
        }
        for (int k = 0; k < ns; k++) rb[3 * nv + k] += c * m[k] * ab[3 * nv + k];
    }
    if (weight) return;
    EACH_LINK(s, l, j)
    {
        const double *m = s->P + l->mass;
        for (int k = 0; k < j.na; k++)
            for (int i = 0; i < j.nb; i++, m++) {
                v3_axpy(c * *m, a + j.b + 3 * i, r + j.a + 3 * k);
                v3_axpy(c * *m, a + j.a + 3 * k, r + j.b + 3 * i);
            }
    }
}

/* Q_k = sum_l m_kl tau_l g, tau the body's translation pattern */
void cst_gravity_bind(cst_system *s)
{
    const double *g = s->P + s->m->gravity;
    double *r = s->gravity;
    memset(r, 0, sizeof *r * (size_t)s->m->nq);
    EACH_BODY(s, b)
    {
        int nv = b->cls->nvec;
        const double *m = s->P + b->mass, *tau = b->cls->translation;
        double *rb = r + b->q0;
        for (int k = 0; k < nv; k++)
            for (int l = k; l < nv; l++, m++) {
                if (tau[l] != 0) v3_axpy(*m * tau[l], g, rb + 3 * k);
                if (l > k && tau[k] != 0) v3_axpy(*m * tau[k], g, rb + 3 * l);
            }
    }
    EACH_LINK(s, l, j)
    {
        const double *m = s->P + l->mass;
        for (int k = 0; k < j.na; k++)
            for (int i = 0; i < j.nb; i++, m++) {
                v3_axpy(*m * j.tb[i], g, r + j.a + 3 * k);
                v3_axpy(*m * j.ta[k], g, r + j.b + 3 * i);
            }
    }
}

void cst_gravity_add(const cst_system *s, double c, double *r)
{
    for (int i = 0; i < s->m->nq; i++) r[i] += c * s->gravity[i];
}

double cst_energy_kinetic(const cst_system *s, const double *v)
{
    double T = 0;
    EACH_BODY(s, b)
    {
        int nv = b->cls->nvec;
        const double *m = s->P + b->mass, *vb = v + b->q0;
        for (int k = 0; k < nv; k++)
            for (int l = k; l < nv; l++, m++)
                for (int i = 0; i < 3; i++)
                    T += (l > k ? 1 : 0.5) * *m * vb[3 * k + i] * vb[3 * l + i];
        for (int k = 0; k < b->cls->nscalar; k++) T += 0.5 * m[k] * vb[3 * nv + k] * vb[3 * nv + k];
    }
    EACH_LINK(s, l, j)
    {
        const double *m = s->P + l->mass;
        for (int k = 0; k < j.na; k++)
            for (int i = 0; i < j.nb; i++, m++) T += *m * v3_dot(v + j.a + 3 * k, v + j.b + 3 * i);
    }
    return T;
}

/* V = - sum_kl m_kl tau_l g . b_k */
double cst_energy_gravity(const cst_system *s, const double *q)
{
    const double *g = s->P + s->m->gravity;
    double V = 0;
    EACH_BODY(s, b)
    {
        const double *m = s->P + b->mass, *tau = b->cls->translation, *qb = q + b->q0;
        for (int k = 0; k < b->cls->nvec; k++)
            for (int l = k; l < b->cls->nvec; l++, m++) {
                V -= *m * tau[l] * v3_dot(g, qb + 3 * k);
                if (l > k) V -= *m * tau[k] * v3_dot(g, qb + 3 * l);
            }
    }
    EACH_LINK(s, l, j)
    {
        const double *m = s->P + l->mass;
        for (int k = 0; k < j.na; k++)
            for (int i = 0; i < j.nb; i++, m++)
                V -= *m *
                     (j.tb[i] * v3_dot(g, q + j.a + 3 * k) + j.ta[k] * v3_dot(g, q + j.b + 3 * i));
    }
    return V;
}

/* m_kl += c (w_k . a_l + w_l . a_k), the triangle by rows; where it ends */
CST_INLINE double *mass_bar_of(int nv, const double *w, const double *a, double c, double *m)
{
    for (int k = 0; k < nv; k++)
        for (int l = k; l < nv; l++, m++) {
            *m += c * v3_dot(w + 3 * k, a + 3 * l);
            if (l > k) *m += c * v3_dot(w + 3 * l, a + 3 * k);
        }
    return m;
}

/* S = c sum_kl m_kl w_k . a_l */
void cst_mass_bar(const cst_system *s, const double *w, const double *a, double c, double *P)
{
    EACH_BODY(s, b)
    {
        int nv = b->cls->nvec;
        const double *wb = w + b->q0, *ab = a + b->q0;
        double *m = P + b->mass;
        m = nv == 4 ? mass_bar_of(4, wb, ab, c, m) : mass_bar_of(nv, wb, ab, c, m);
        for (int k = 0; k < b->cls->nscalar; k++) m[k] += c * wb[3 * nv + k] * ab[3 * nv + k];
    }
    EACH_LINK(s, l, j)
    {
        double *m = P + l->mass;
        for (int k = 0; k < j.na; k++)
            for (int i = 0; i < j.nb; i++, m++)
                *m += c * (v3_dot(w + j.a + 3 * k, a + j.b + 3 * i) +
                           v3_dot(w + j.b + 3 * i, a + j.a + 3 * k));
    }
}

/* S = -c sum_kl m_kl tau_l w_k . g */
void cst_gravity_bar(const cst_system *s, const double *w, double c, double *P)
{
    const double *g = s->P + s->m->gravity;
    double *gbar = P + s->m->gravity;
    for (int i = 0; i < s->m->body.n; i++) {
        const cst_body *b = &s->m->body.at[i];
        int nv = b->cls->nvec;
        const double *m = s->P + b->mass, *tau = b->cls->translation, *wb = w + b->q0;
        double *mbar = P + b->mass, along[CST_MAX_NU],
               moved[CST_MAX_NU]; /* w_k . g, sum_l m_kl tau_l */
        for (int k = 0; k < nv; k++) along[k] = c * v3_dot(wb + 3 * k, g), moved[k] = 0;
        for (int k = 0; k < nv; k++)
            for (int l = k; l < nv; l++, m++, mbar++) {
                if (tau[l] != 0) *mbar -= tau[l] * along[k], moved[k] += *m * tau[l];
                if (l > k && tau[k] != 0) *mbar -= tau[k] * along[l], moved[l] += *m * tau[k];
            }
        for (int k = 0; k < nv; k++) v3_axpy(-c * moved[k], wb + 3 * k, gbar);
    }
    EACH_LINK(s, l, j)
    {
        const double *m = s->P + l->mass;
        double *mbar = P + l->mass;
        for (int k = 0; k < j.na; k++)
            for (int i = 0; i < j.nb; i++, m++, mbar++) {
                const double *wa = w + j.a + 3 * k, *wb = w + j.b + 3 * i;
                *mbar -= c * (j.tb[i] * v3_dot(wa, g) + j.ta[k] * v3_dot(wb, g));
                v3_axpy(-c * *m * j.tb[i], wa, gbar);
                v3_axpy(-c * *m * j.ta[k], wb, gbar);
            }
    }
}

/* S = w . (M a - Q) = w . M (a - tau g):   a_bar = M w,   g_bar = -tau^T M w */
void cst_inertia_bar(const cst_system *s, const double *w, const double *a, double *scratch,
                     double *abar, double *P)
{
    const double *g = s->P + s->m->gravity;
    double *gbar = P + s->m->gravity, *Mw = scratch, *rel = scratch + s->m->nq;
    memset(Mw, 0, sizeof *Mw * (size_t)s->m->nq);
    cst_mass_add(s, NULL, w, 1, Mw);
    for (int i = 0; i < s->m->nq; i++) abar[i] += Mw[i], rel[i] = a[i];
    EACH_BODY(s, b)
    for (int k = 0; k < b->cls->nvec; k++) {
        double tau = b->cls->translation[k];
        if (tau == 0) continue;
        v3_axpy(-tau, g, rel + b->q0 + 3 * k);
        v3_axpy(-tau, Mw + b->q0 + 3 * k, gbar);
    }
    cst_mass_bar(s, w, rel, 1, P);
}

void cst_mass_dot(const cst_system *s, const double *Pdot, const double *a, double c, double *r)
{
    for (int i = 0; i < s->m->body.n; i++) {
        const cst_body *b = &s->m->body.at[i];
        int nv = b->cls->nvec;
        const double *m = Pdot + b->mass, *ab = a + b->q0;
        double *rb = r + b->q0;
        for (int k = 0; k < nv; k++)
            for (int l = k; l < nv; l++, m++) {
                v3_axpy(c * *m, ab + 3 * l, rb + 3 * k);
                if (l > k) v3_axpy(c * *m, ab + 3 * k, rb + 3 * l);
            }
        for (int k = 0; k < b->cls->nscalar; k++) rb[3 * nv + k] += c * m[k] * ab[3 * nv + k];
    }
    EACH_LINK(s, l, j)
    {
        const double *m = Pdot + l->mass;
        for (int k = 0; k < j.na; k++)
            for (int i = 0; i < j.nb; i++, m++) {
                v3_axpy(c * *m, a + j.b + 3 * i, r + j.a + 3 * k);
                v3_axpy(c * *m, a + j.a + 3 * k, r + j.b + 3 * i);
            }
    }
}

void cst_gravity_dot(const cst_system *s, const double *Pdot, double c, double *r)
{
    const double *g = s->P + s->m->gravity, *dg = Pdot + s->m->gravity;
    for (int i = 0; i < s->m->body.n; i++) {
        const cst_body *b = &s->m->body.at[i];
        int nv = b->cls->nvec;
        const double *m = s->P + b->mass, *dm = Pdot + b->mass, *tau = b->cls->translation;
        double *rb = r + b->q0;
        for (int k = 0; k < nv; k++)
            for (int l = k; l < nv; l++, m++, dm++)
                for (int j = 0; j < 3; j++) {
                    double y = *dm * g[j] + *m * dg[j];
                    rb[3 * k + j] -= c * tau[l] * y;
                    if (l > k) rb[3 * l + j] -= c * tau[k] * y;
                }
    }
    EACH_LINK(s, l, j)
    {
        const double *m = s->P + l->mass, *dm = Pdot + l->mass;
        for (int k = 0; k < j.na; k++)
            for (int i = 0; i < j.nb; i++, m++, dm++)
                for (int x = 0; x < 3; x++) {
                    double y = *dm * g[x] + *m * dg[x];
                    r[j.a + 3 * k + x] -= c * j.tb[i] * y;
                    r[j.b + 3 * i + x] -= c * j.ta[k] * y;
                }
    }
}
