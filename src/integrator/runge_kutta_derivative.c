/* SPDX-License-Identifier: MIT
 *
 * Tangent and adjoint of explicit Runge-Kutta steps. With k_i the rates of stage i and bars of the sums,
 *
 *     bar(k_i) = h b_i bar(y1) + h sum_{j>i} a_ji bar(y_j),   bar(y_i) = (dk_i/dy_i)^T bar(k_i),   bar(y0) = bar(y1) + sum bar(y_i)
 *
 * where (dk/dy)^T is the adjoint of what is derived from a state. What asks for the rates of stage 0 is left to the
 * derivation at state 0. The stages are computed again: that costs less than to keep them. */
#include "integrator/runge_kutta.h"

#include <string.h>

typedef struct rates { double *q, *u, *z, *quad; } rates; /* of all right-hand sides, or of one change */

typedef struct rk_adjoint { rates sum, k[CST_STAGES]; double *t; } rk_adjoint;

static rates rates_new(cst_arena *a, const cst_model *m, int n)
{
    size_t sections = (size_t)n;
    return (rates){cst_new(a, double, sections *(size_t)m->nq + 1), cst_new(a, double, sections *(size_t)m->nu + 1),
                   cst_new(a, double, sections *(size_t)m->nz + 1), cst_new(a, double, sections *(size_t)m->quad.n + 1)};
}

/* to = f * from, or to += f * from */
static void combine(const cst_model *m, int n, int add, double f, rates from, rates to)
{
    const struct { const double *from; double *to; int size; } part[] = {
        {from.q, to.q, m->nq}, {from.u, to.u, m->nu}, {from.z, to.z, m->nz}, {from.quad, to.quad, m->quad.n}};
    for (int p = 0; p < 4; p++)
        for (long i = 0; i < (long)n * part[p].size; i++) part[p].to[i] = (add ? part[p].to[i] : 0) + f * part[p].from[i];
}

static double dot(int n, const double *x, const double *y)
{
    double s = 0;
    for (int i = 0; i < n; i++) s += x[i] * y[i];
    return s;
}

/* bars of the right-hand side r times rates of stage j */
static double against(const cst_model *m, int r, rates bar, const double *v, const cst_state *k)
{
    return dot(m->nq, bar.q + (size_t)r * (size_t)m->nq, v) + dot(m->nu, bar.u + (size_t)r * (size_t)m->nu, k->ud) +
           dot(m->nz, bar.z + (size_t)r * (size_t)m->nz, k->zd) +
           dot(m->quad.n, bar.quad + (size_t)r * (size_t)m->quad.n, k->qd);
}

/* ---- adjoint ---- */

void cst_rk_open_adjoint(cst_arena *a, cst_adjoint *ad)
{
    const cst_rk *rk = ad->w->own;
    rk_adjoint *own = ad->own = cst_new(a, rk_adjoint, 1);
    own->sum = rates_new(a, ad->w->s->m, ad->n);
    own->t = cst_new(a, double, ad->n + 1);
    for (int i = 0; i < rk->t->stages; i++) own->k[i] = rates_new(a, ad->w->s->m, ad->n);
}

/* The stages again, their matrices, and that of y1 */
cst_status cst_rk_prepare(cst_prepared *p, const cst_state *y0, const cst_state *y1)
{
    if (y0) {
        cst_rk *rk = p->w->own;
        if (cst_rk_stages(p->w, y0, *y1->h) != CST_OK) return CST_NUMERIC;
        memcpy(rk->q, y0->q, sizeof *rk->q * (size_t)p->w->s->m->nq);
        for (int j = 0; j < rk->t->stages; j++)
            for (int i = 0; i < p->w->s->m->nq; i++) rk->q[i] += *y1->h * rk->t->b[j] * rk->v[j][i];
        for (int i = 1; i < rk->t->stages; i++)
            if (cst_adjoint_prepare(rk->stage[i], NULL, &rk->y[i]) != CST_OK) return CST_NUMERIC;
    }
    return cst_adjoint_prepare(p, NULL, y1);
}

/* v = T(q) u at state k: from the bars of v to those of q and u in `to` */
static void rates_bar(cst_adjoint *ad, const cst_state *k, const double *vbar, rates to)
{
    const cst_model *m = ad->w->s->m;
    for (int r = 0; r < ad->n; r++)
        cst_rates_bar(ad->w->s, k->q, k->u, vbar + (size_t)r * (size_t)m->nq, to.q + (size_t)r * (size_t)m->nq,
                      to.u + (size_t)r * (size_t)m->nu);
}

/* Bars of stage i from those of its rates: in ad->q, u, z, quad */
static cst_status stage_back(cst_adjoint *ad, cst_rk *rk, int i, rates k)
{
    const cst_model *m = ad->w->s->m;
    const rates state = {ad->q, ad->u, ad->z, ad->quad};
    combine(m, ad->n, 0, 0, state, state);
    memcpy(ad->ud, k.u, sizeof *ad->ud * (size_t)ad->n * (size_t)m->nu);
    memcpy(ad->zd, k.z, sizeof *ad->zd * (size_t)ad->n * (size_t)m->nz);
    memcpy(ad->qd, k.quad, sizeof *ad->qd * (size_t)ad->n * (size_t)m->quad.n);
    memset(ad->t, 0, sizeof *ad->t * (size_t)ad->n);
    rates_bar(ad, &rk->y[i], k.q, state);
    ad->step = rk->stage[i];
    return cst_adjoint_derive(ad, &rk->y[i]);
}

cst_status cst_rk_adjoint(cst_adjoint *ad, const cst_state *y0, const cst_state *y1)
{
    const cst_model *m = ad->w->s->m;
    cst_prepared *step = ad->step;
    cst_rk *rk = step->w->own;
    rk_adjoint *own = ad->own;
    const cst_tableau *T = rk->t;
    double h = *y1->h;
    const rates state = {ad->q, ad->u, ad->z, ad->quad};
    for (int r = 0; r < ad->n; r++) cst_settle_change(ad->w->s, rk->q, ad->q + (size_t)r * (size_t)m->nq);
    combine(m, ad->n, 0, 1, state, own->sum);
    memcpy(own->t, ad->t, sizeof *ad->t * (size_t)ad->n);
    memset(ad->h, 0, sizeof *ad->h * (size_t)ad->n);
    for (int j = 0; j < T->stages; j++) {
        combine(m, ad->n, 0, h * T->b[j], state, own->k[j]);
        for (int r = 0; r < ad->n; r++) ad->h[r] += T->b[j] * against(m, r, state, rk->v[j], j ? &rk->y[j] : y0);
    }
    for (int i = T->stages - 1; i > 0; i--) {
        if (stage_back(ad, rk, i, own->k[i]) != CST_OK) return CST_NUMERIC;
        combine(m, ad->n, 1, 1, state, own->sum);
        for (int r = 0; r < ad->n; r++) own->t[r] += ad->t[r], ad->h[r] += (T->c[i] - 1) * ad->t[r];
        for (int j = 0; j < i; j++) {
            if (T->a[i][j] == 0) continue;
            combine(m, ad->n, 1, h * T->a[i][j], state, own->k[j]);
            for (int r = 0; r < ad->n; r++) ad->h[r] += T->a[i][j] * against(m, r, state, rk->v[j], j ? &rk->y[j] : y0);
        }
    }
    ad->step = step;
    rates_bar(ad, y0, own->k[0].q, own->sum);
    combine(m, ad->n, 0, 1, own->sum, state);
    memcpy(ad->t, own->t, sizeof *ad->t * (size_t)ad->n);
    memcpy(ad->ud, own->k[0].u, sizeof *ad->ud * (size_t)ad->n * (size_t)m->nu);
    memcpy(ad->zd, own->k[0].z, sizeof *ad->zd * (size_t)ad->n * (size_t)m->nz);
    memcpy(ad->qd, own->k[0].quad, sizeof *ad->qd * (size_t)ad->n * (size_t)m->quad.n);
    return CST_OK;
}

/* ---- tangent ---- */

void cst_rk_open_tangent(cst_arena *a, cst_tangent *t)
{
    const cst_rk *rk = t->w->own;
    rk_adjoint *own = t->own = cst_new(a, rk_adjoint, 1);
    own->sum = rates_new(a, t->w->s->m, 1);
    for (int i = 0; i < rk->t->stages; i++) own->k[i] = rates_new(a, t->w->s->m, 1);
}

/* k = changes of the rates at the state y whose change is in t, which has been derived */
static void rates_change(const cst_tangent *t, const cst_state *y, rates k)
{
    const cst_model *m = t->w->s->m;
    cst_T(t->w->s, y->q, t->u, k.q);
    cst_L_add(t->w->s, t->q, y->u, k.q);
    memcpy(k.u, t->ud, sizeof *k.u * (size_t)m->nu), memcpy(k.z, t->zd, sizeof *k.z * (size_t)m->nz);
    memcpy(k.quad, t->qd, sizeof *k.quad * (size_t)m->quad.n);
}

/* t's state change = that of y0 + h sum c_j dk_j + dh sum c_j k_j */
static void sum_change(cst_tangent *t, const cst_state *y0, double h, const double *c, int n)
{
    const cst_model *m = t->w->s->m;
    const cst_rk *rk = t->w->own;
    const rk_adjoint *own = t->own;
    const rates state = {t->q, t->u, t->z, t->quad};
    combine(m, 1, 0, 1, own->sum, state);
    for (int j = 0; j < n; j++) {
        const cst_state *k = j ? &rk->y[j] : y0;
        const rates value = {rk->v[j], k->ud, k->zd, k->qd};
        if (c[j] == 0) continue;
        combine(m, 1, 1, h * c[j], own->k[j], state);
        if (t->h != 0) combine(m, 1, 1, t->h * c[j], value, state);
    }
}

static void swap_factors(cst_index3 *w, cst_index3 *stage)
{
    cst_lu *lu = w->project;
    double *val = w->project_val;
    w->project = stage->project, w->project_val = stage->project_val;
    stage->project = lu, stage->project_val = val;
}

cst_status cst_rk_tangent(cst_tangent *t, const cst_state *y0, const cst_state *y1, int factor)
{
    const cst_model *m = t->w->s->m;
    cst_index3 *w = t->w;
    cst_rk *rk = w->own;
    rk_adjoint *own = t->own;
    const cst_tableau *T = rk->t;
    double h = *y1->h, t1 = t->t;
    const rates state = {t->q, t->u, t->z, t->quad};
    if (factor) {
        cst_prepared here = {.w = w};
        if (cst_rk_prepare(&here, y0, y1) != CST_OK) return CST_NUMERIC;
    }
    combine(m, 1, 0, 1, state, own->sum);
    rates_change(t, y0, own->k[0]);
    for (int i = 1; i < T->stages; i++) {
        sum_change(t, y0, h, T->a[i], i);
        t->t = t1 - (1 - T->c[i]) * t->h;
        swap_factors(w, rk->stage[i]->w);
        cst_status ok = cst_tangent_derive(t, &rk->y[i], 0);
        swap_factors(w, rk->stage[i]->w);
        if (ok != CST_OK) return ok;
        rates_change(t, &rk->y[i], own->k[i]);
    }
    sum_change(t, y0, h, T->b, T->stages);
    cst_settle_change(w->s, rk->q, t->q);
    t->t = t1;
    return CST_OK;
}
