/* SPDX-License-Identifier: MIT
 *
 * Tangent and adjoint of explicit Runge-Kutta steps. With k_i the rates of stage i and bars of the
 * sums,
 *
 *     bar(k_i) = h b_i bar(y1) + h sum_{j>i} a_ji bar(y_j),   bar(y_i) = (dk_i/dy_i)^T bar(k_i),
 * bar(y0) = bar(y1) + sum bar(y_i)
 *
 * where (dk/dy)^T is the adjoint of what is derived from a state. The bars of the rates of stage 0
 * are left to the derivation at state 0. The stages are recomputed, which costs less than storing
 * them. */
#include "integrator/runge_kutta.h"

#include <string.h>

/* Of all right-hand sides, or of one change. u: of the tangent, nu; with a chart ambient, nq */
typedef struct rates {
    double *q, *u, *z, *quad;
} rates;

static int speeds(const cst_motion *w) { return w->charts ? w->s->m->nq : w->s->m->nu; }

typedef struct rk_work {
    rates sum, state, k[CST_STAGES]; /* all told, of the sums of one state, of the stages' rates */
    double *t;
} rk_work;

static rates rates_new(cst_arena *a, const cst_motion *w, int n)
{
    const cst_model *m = w->s->m;
    size_t sections = (size_t)n;
    return (rates){cst_new(a, double, sections * m->nq + 1),
                   cst_new(a, double, 1 + sections * speeds(w)),
                   cst_new(a, double, sections * m->nz + 1),
                   cst_new(a, double, sections * m->quad.n + 1)};
}

/* to = f * from, or to += f * from */
static void combine(const cst_motion *w, int n, int add, double f, rates from, rates to)
{
    const cst_model *m = w->s->m;
    const struct {
        const double *from;
        double *to;
        int size;
    } part[] = {{from.q, to.q, m->nq},
                {from.u, to.u, speeds(w)},
                {from.z, to.z, m->nz},
                {from.quad, to.quad, m->quad.n}};
    for (int p = 0; p < 4; p++)
        for (long i = 0; i < (long)n * part[p].size; i++)
            part[p].to[i] = (add ? part[p].to[i] : 0) + f * part[p].from[i];
}

static double dot(int n, const double *x, const double *y)
{
    double s = 0;
    for (int i = 0; i < n; i++) s += x[i] * y[i];
    return s;
}

/* bars of the right-hand side r times the rates of stage j */
static double against(const cst_motion *w, const cst_rk *rk, int r, rates bar, int j,
                      const cst_state *y0)
{
    const cst_model *m = w->s->m;
    const cst_state *k = j ? &rk->y[j] : y0;
    return dot(m->nq, bar.q + (size_t)r * (size_t)m->nq, rk->v[j]) +
           dot(speeds(w), bar.u + (size_t)r * (size_t)speeds(w), w->charts ? rk->a[j] : k->ud) +
           dot(m->nz, bar.z + (size_t)r * (size_t)m->nz, k->zd) +
           dot(m->quad.n, bar.quad + (size_t)r * (size_t)m->quad.n, k->qd);
}

/* ---- adjoint ---- */

void cst_rk_open_adjoint(cst_arena *a, cst_adjoint *ad)
{
    const cst_rk *rk = ad->w->own;
    rk_work *own = ad->own = cst_new(a, rk_work, 1);
    own->sum = rates_new(a, ad->w, ad->n);
    own->state = rates_new(a, ad->w, ad->n);
    own->t = cst_new(a, double, ad->n + 1);
    for (int i = 0; i < rk->t->stages; i++) own->k[i] = rates_new(a, ad->w, ad->n);
}

/* The stages again, their matrices, and that of y1 */
cst_status cst_rk_prepare(cst_prepared *p, const cst_state *y0, const cst_state *y1)
{
    cst_motion *w = p->w;
    cst_rk *rk = w->own;
    const cst_chart *ch = y0 ? cst_chart_at(w->charts, *y0->t) : NULL;
    if (y0) {
        if (cst_rk_stages(w, y0, *y1->h) != CST_OK) return CST_NUMERIC;
        memcpy(rk->q, y0->q, sizeof *rk->q * (size_t)w->s->m->nq);
        for (int j = 0; j < rk->t->stages; j++)
            for (int i = 0; i < w->s->m->nq; i++) rk->q[i] += *y1->h * rk->t->b[j] * rk->v[j][i];
        for (int i = 1; i < rk->t->stages; i++) {
            if (ch && cst_chart_prepare(rk->stage[i]->w, ch, &rk->y[i]) != CST_OK)
                return CST_NUMERIC;
            if (cst_adjoint_prepare(rk->stage[i], NULL, &rk->y[i]) != CST_OK) return CST_NUMERIC;
        }
        if (ch && cst_chart_prepare(w, ch, y1) != CST_OK) return CST_NUMERIC;
    }
    return cst_adjoint_prepare(p, NULL, y1);
}

/* From bars of the rates k of a stage at y (values v, in rk) to bars of its state and of u' */
static void rates_bar(cst_adjoint *ad, const cst_state *y, const double *v, rates k, double *qbar,
                      double *ubar, double *udbar)
{
    const cst_system *s = ad->w->s;
    const cst_model *m = s->m;
    for (int r = 0; r < ad->n; r++) {
        double *kq = k.q + (size_t)r * (size_t)m->nq, *q = qbar + (size_t)r * (size_t)m->nq,
               *u = ubar + (size_t)r * (size_t)m->nu;
        double *ku = k.u + (size_t)r * (size_t)speeds(ad->w),
               *ud = udbar + (size_t)r * (size_t)m->nu;
        if (ad->w->charts) {
            memset(ud, 0, sizeof *ud * (size_t)m->nu);
            cst_accelerations_bar(s, y->q, y->u, y->ud, v, ku, kq, q, u, ud);
        } else {
            memcpy(ud, ku, sizeof *ud * (size_t)m->nu);
            cst_rates_bar(s, y->q, y->u, kq, q, u);
        }
    }
}

static void combine_speeds(const cst_adjoint *ad, const double *from, double *to)
{
    for (long i = 0; i < (long)ad->n * ad->w->s->m->nq; i++) to[i] += from[i];
}

static void clear_state(cst_adjoint *ad)
{
    const cst_model *m = ad->w->s->m;
    size_t n = (size_t)ad->n;
    memset(ad->q, 0, sizeof *ad->q * n * (size_t)m->nq),
        memset(ad->u, 0, sizeof *ad->u * n * (size_t)m->nu);
    memset(ad->z, 0, sizeof *ad->z * n * (size_t)m->nz),
        memset(ad->quad, 0, sizeof *ad->quad * n * (size_t)m->quad.n);
}

/* Bars of the sums that made the state y, in own->state, from those of the state. f: who holds its
 * matrices */
static void sums_bar(cst_adjoint *ad, cst_motion *f, const cst_chart *ch, const cst_state *y,
                     const double *unsettled)
{
    const cst_model *m = ad->w->s->m;
    rk_work *own = ad->own;
    size_t n = (size_t)ad->n;
    if (ch) {
        cst_chart_adjoint(ad, f, ch, y, own->state.q, own->state.u);
    } else {
        for (int r = 0; unsettled && r < ad->n; r++)
            cst_settle_change(ad->w->s, unsettled, ad->q + (size_t)r * (size_t)m->nq);
        memcpy(own->state.q, ad->q, sizeof *ad->q * n * (size_t)m->nq);
        memcpy(own->state.u, ad->u, sizeof *ad->u * n * (size_t)m->nu);
    }
    memcpy(own->state.z, ad->z, sizeof *ad->z * n * (size_t)m->nz);
    memcpy(own->state.quad, ad->quad, sizeof *ad->quad * n * (size_t)m->quad.n);
}

/* Bars of stage i from those of its rates */
static cst_status stage_back(cst_adjoint *ad, cst_rk *rk, int i, rates k)
{
    const cst_model *m = ad->w->s->m;
    clear_state(ad);
    memcpy(ad->zd, k.z, sizeof *ad->zd * (size_t)ad->n * (size_t)m->nz);
    memcpy(ad->qd, k.quad, sizeof *ad->qd * (size_t)ad->n * (size_t)m->quad.n);
    memset(ad->t, 0, sizeof *ad->t * (size_t)ad->n);
    rates_bar(ad, &rk->y[i], rk->v[i], k, ad->q, ad->u, ad->ud);
    ad->step = rk->stage[i];
    return cst_adjoint_derive(ad, &rk->y[i]);
}

/* What the sums' bars in own->state ask of the rates of the first n stages, with weights c, and of
 * the step's length */
static void to_stages(cst_adjoint *ad, const cst_rk *rk, const cst_state *y0, double h,
                      const double *c, int n)
{
    rk_work *own = ad->own;
    for (int j = 0; j < n; j++) {
        if (c[j] == 0) continue;
        combine(ad->w, ad->n, 1, h * c[j], own->state, own->k[j]);
        for (int r = 0; r < ad->n; r++) ad->h[r] += c[j] * against(ad->w, rk, r, own->state, j, y0);
    }
}

cst_status cst_rk_adjoint(cst_adjoint *ad, const cst_state *y0, const cst_state *y1)
{
    const cst_model *m = ad->w->s->m;
    cst_prepared *step = ad->step;
    cst_rk *rk = step->w->own;
    rk_work *own = ad->own;
    const cst_tableau *T = rk->t;
    const cst_chart *ch = cst_chart_at(ad->w->charts, *y0->t);
    double h = *y1->h;
    cst_state end = *y1;
    end.mem = y0->mem;
    memset(ad->h, 0, sizeof *ad->h * (size_t)ad->n);
    for (int j = 0; j < T->stages; j++) combine(ad->w, ad->n, 0, 0, own->k[j], own->k[j]);
    sums_bar(ad, step->w, ch, &end, rk->q);
    combine(ad->w, ad->n, 0, 1, own->state, own->sum);
    memcpy(own->t, ad->t, sizeof *ad->t * (size_t)ad->n);
    to_stages(ad, rk, y0, h, T->b, T->stages);
    for (int i = T->stages - 1; i > 0; i--) {
        if (stage_back(ad, rk, i, own->k[i]) != CST_OK) return CST_NUMERIC;
        sums_bar(ad, rk->stage[i]->w, ch, &rk->y[i], NULL);
        combine(ad->w, ad->n, 1, 1, own->state, own->sum);
        for (int r = 0; r < ad->n; r++) own->t[r] += ad->t[r], ad->h[r] += (T->c[i] - 1) * ad->t[r];
        to_stages(ad, rk, y0, h, T->a[i], i);
    }
    ad->step = step;
    clear_state(ad);
    size_t n = (size_t)ad->n;
    memcpy(ad->q, own->sum.q, sizeof *ad->q * n * (size_t)m->nq);
    memcpy(ad->z, own->sum.z, sizeof *ad->z * n * (size_t)m->nz);
    memcpy(ad->quad, own->sum.quad, sizeof *ad->quad * n * (size_t)m->quad.n);
    if (ch)
        combine_speeds(ad, own->sum.u, own->k[0].q); /* v^ starts at v0 = T(q0) u0 */
    else
        memcpy(ad->u, own->sum.u, sizeof *ad->u * n * (size_t)m->nu);
    rates_bar(ad, y0, rk->v[0], own->k[0], ad->q, ad->u, ad->ud);
    memcpy(ad->t, own->t, sizeof *ad->t * n);
    memcpy(ad->zd, own->k[0].z, sizeof *ad->zd * n * (size_t)m->nz);
    memcpy(ad->qd, own->k[0].quad, sizeof *ad->qd * n * (size_t)m->quad.n);
    return CST_OK;
}

/* ---- tangent ---- */

void cst_rk_open_tangent(cst_arena *a, cst_tangent *t)
{
    const cst_rk *rk = t->w->own;
    rk_work *own = t->own = cst_new(a, rk_work, 1);
    own->sum = rates_new(a, t->w, 1);
    own->state = rates_new(a, t->w, 1);
    for (int i = 0; i < rk->t->stages; i++) own->k[i] = rates_new(a, t->w, 1);
}

/* k = changes of the rates at the state y (with v) whose change is in t, which has been derived */
static void rates_change(const cst_tangent *t, const cst_state *y, const double *v, rates k)
{
    const cst_system *s = t->w->s;
    const cst_model *m = s->m;
    cst_T(s, y->q, t->u, k.q);
    cst_L_add(s, t->q, y->u, k.q);
    if (t->w->charts) { /* da = T du' + L(dq, u') + L(dv, u) + L(v, du) */
        cst_T(s, y->q, t->ud, k.u);
        cst_L_add(s, t->q, y->ud, k.u), cst_L_add(s, k.q, y->u, k.u), cst_L_add(s, v, t->u, k.u);
    } else {
        memcpy(k.u, t->ud, sizeof *k.u * (size_t)m->nu);
    }
    memcpy(k.z, t->zd, sizeof *k.z * (size_t)m->nz);
    memcpy(k.quad, t->qd, sizeof *k.quad * (size_t)m->quad.n);
}

/* t's change of the state y = that of y0 + h sum c_j dk_j + dh sum c_j k_j */
static void sum_change(cst_tangent *t, const cst_state *y0, double h, const double *c, int n,
                       cst_motion *f, const cst_state *y)
{
    const cst_model *m = t->w->s->m;
    const cst_rk *rk = t->w->own;
    rk_work *own = t->own;
    const cst_chart *ch = cst_chart_at(t->w->charts, *y0->t);
    combine(t->w, 1, 0, 1, own->sum, own->state);
    for (int j = 0; j < n; j++) {
        const cst_state *k = j ? &rk->y[j] : y0;
        const rates value = {rk->v[j], t->w->charts ? rk->a[j] : k->ud, k->zd, k->qd};
        if (c[j] == 0) continue;
        combine(t->w, 1, 1, h * c[j], own->k[j], own->state);
        if (t->h != 0) combine(t->w, 1, 1, t->h * c[j], value, own->state);
    }
    memcpy(t->z, own->state.z, sizeof *t->z * (size_t)m->nz);
    memcpy(t->quad, own->state.quad, sizeof *t->quad * (size_t)m->quad.n);
    if (ch) {
        cst_chart_tangent(t, f, ch, y, own->state.q, own->state.u);
    } else {
        memcpy(t->q, own->state.q, sizeof *t->q * (size_t)m->nq);
        memcpy(t->u, own->state.u, sizeof *t->u * (size_t)m->nu);
    }
}

static void swap_factors(cst_motion *w, cst_motion *stage)
{
    cst_lu *lu = w->project;
    double *val = w->project_val;
    w->project = stage->project, w->project_val = stage->project_val;
    stage->project = lu, stage->project_val = val;
}

cst_status cst_rk_tangent(cst_tangent *t, const cst_state *y0, const cst_state *y1, int factor)
{
    const cst_model *m = t->w->s->m;
    cst_motion *w = t->w;
    cst_rk *rk = w->own;
    rk_work *own = t->own;
    const cst_tableau *T = rk->t;
    double h = *y1->h, t1 = t->t;
    cst_state end = *y1;
    end.mem = y0->mem;
    if (factor) {
        cst_prepared here = {.w = w};
        if (cst_rk_prepare(&here, y0, y1) != CST_OK) return CST_NUMERIC;
    }
    rates_change(t, y0, rk->v[0], own->k[0]);
    memcpy(own->sum.q, t->q, sizeof *t->q * (size_t)m->nq);
    memcpy(own->sum.u, w->charts ? own->k[0].q : t->u, sizeof *t->u * (size_t)speeds(w));
    memcpy(own->sum.z, t->z, sizeof *t->z * (size_t)m->nz);
    memcpy(own->sum.quad, t->quad, sizeof *t->quad * (size_t)m->quad.n);
    for (int i = 1; i < T->stages; i++) {
        t->t = t1 - (1 - T->c[i]) * t->h;
        sum_change(t, y0, h, T->a[i], i, rk->stage[i]->w, &rk->y[i]);
        swap_factors(w, rk->stage[i]->w);
        cst_status ok = cst_tangent_derive(t, &rk->y[i], 0);
        swap_factors(w, rk->stage[i]->w);
        if (ok != CST_OK) return ok;
        rates_change(t, &rk->y[i], rk->v[i], own->k[i]);
    }
    t->t = t1;
    sum_change(t, y0, h, T->b, T->stages, w, &end);
    if (!w->charts) cst_settle_change(w->s, rk->q, t->q);
    return CST_OK;
}
