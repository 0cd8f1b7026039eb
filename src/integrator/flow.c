/* SPDX-License-Identifier: MIT */
#include "integrator/flow.h"

#include <string.h>

#include "integrator/runge_kutta.h"

int cst_flow_most(const cst_motion *w)
{
    const cst_model *m = w->s->m;
    return (w->charts ? 2 * (w->k->nu - w->k->nrow) : m->nq + m->nu) + m->nz + m->quad.n;
}

cst_flow *cst_flow_new(cst_arena *a, cst_motion *w, int nrhs)
{
    const cst_model *m = w->s->m;
    cst_flow *f = cst_new(a, cst_flow, 1);
    f->w = w;
    f->y = cst_state_view(m, cst_new(a, double, cst_state_size(m)));
    f->x = cst_new(a, double, cst_flow_most(w) + 1);
    double **ambient[] = {&f->v, &f->a, &f->q_sum, &f->v_sum};
    for (size_t i = 0; i < sizeof ambient / sizeof *ambient; i++)
        *ambient[i] = cst_new(a, double, m->nq + 1);
    if (nrhs) {
        f->q_bars = cst_new(a, double, (size_t)nrhs * m->nq + 1);
        f->v_bars = cst_new(a, double, (size_t)nrhs * m->nq + 1);
    }
    return f;
}

void cst_flow_remember(cst_flow *f, const double *mem)
{
    memcpy(f->y.mem, mem, sizeof *mem * (size_t)f->w->s->m->memory.n);
}

void cst_flow_begin(cst_flow *f, const cst_chart *ch, const cst_state *y)
{
    const cst_model *m = f->w->s->m;
    memcpy(f->y.t, y->t, sizeof(double) * cst_state_size(m));
    *f->y.h = 0, *f->y.tag = 0;
    f->ch = ch;
    f->nq = f->ch ? f->ch->n : m->nq, f->nu = f->ch ? f->ch->n : m->nu;
    f->n = f->nq + f->nu + m->nz + m->quad.n;
    f->n += f->n == 0; /* all is driven: one number that stays 0, for solvers that need one */
}

/* (z, integrals) of x, after its first two parts */
static void rest(const cst_flow *f, const double *z, const double *quad, double *x)
{
    const cst_model *m = f->w->s->m;
    if (f->nq + f->nu + m->nz + m->quad.n == 0) x[0] = 0;
    memcpy(x + f->nq + f->nu, z, sizeof *x * (size_t)m->nz);
    memcpy(x + f->nq + f->nu + m->nz, quad, sizeof *x * (size_t)m->quad.n);
}

static void rest_back(const cst_flow *f, const double *x, double *z, double *quad)
{
    const cst_model *m = f->w->s->m;
    memcpy(z, x + f->nq + f->nu, sizeof *x * (size_t)m->nz);
    memcpy(quad, x + f->nq + f->nu + m->nz, sizeof *x * (size_t)m->quad.n);
}

/* The chart's entries of an ambient vector, and an ambient vector of such entries (the others:
 * whatever they are) */
static void gather(const cst_chart *ch, const double *ambient, double *s)
{
    for (int i = 0; i < ch->n; i++) s[i] = ambient[ch->q[i]];
}

static void spread(const cst_chart *ch, const double *s, double *ambient)
{
    for (int i = 0; i < ch->n; i++) ambient[ch->q[i]] = s[i];
}

void cst_flow_read(const cst_flow *f, const cst_state *y, double *x)
{
    const cst_model *m = f->w->s->m;
    rest(f, y->z, y->quad, x);
    if (f->ch) {
        cst_T(f->w->s, y->q, y->u, f->v_sum);
        gather(f->ch, y->q, x), gather(f->ch, f->v_sum, x + f->nq);
        return;
    }
    memcpy(x, y->q, sizeof *x * (size_t)m->nq);
    memcpy(x + m->nq, y->u, sizeof *x * (size_t)m->nu);
}

cst_status cst_flow_position(cst_flow *f, double t, const double *x)
{
    const cst_model *m = f->w->s->m;
    cst_state *y = &f->y;
    *y->t = t;
    if (x != f->x) memcpy(f->x, x, sizeof *x * (size_t)f->n);
    rest_back(f, x, y->z, y->quad);
    if (f->ch) {
        spread(f->ch, x, f->q_sum), spread(f->ch, x + f->nq, f->v_sum);
        return cst_chart_project(f->w, f->ch, t, y->mem, f->q_sum, f->v_sum, y->q, y->u);
    }
    memcpy(y->q, x, sizeof *x * (size_t)m->nq);
    memcpy(y->u, x + m->nq, sizeof *x * (size_t)m->nu);
    cst_settle(f->w->s, y->q);
    return CST_OK;
}

void cst_flow_turn(cst_flow *f)
{
    const cst_system *s = f->w->s;
    const cst_state *y = &f->y;
    cst_T(s, y->q, y->u, f->v);
    if (!f->ch) return;
    cst_T(s, y->q, y->ud, f->a);
    cst_L_add(s, f->v, y->u, f->a);
}

void cst_flow_take(cst_flow *f, const cst_state *y)
{
    memcpy(f->y.t, y->t, sizeof(double) * cst_state_size(f->w->s->m));
    *f->y.h = 0, *f->y.tag = 0;
    cst_flow_turn(f);
}

cst_status cst_flow_place(cst_flow *f, double t, const double *x)
{
    if (cst_flow_position(f, t, x) != CST_OK || cst_motion_derive_from(f->w, &f->y) != CST_OK)
        return CST_NUMERIC;
    cst_flow_turn(f);
    return CST_OK;
}

void cst_flow_rates(cst_flow *f, double *xd)
{
    const cst_model *m = f->w->s->m;
    const cst_state *y = &f->y;
    rest(f, y->zd, y->qd, xd);
    if (f->ch) {
        gather(f->ch, f->v, xd), gather(f->ch, f->a, xd + f->nq);
        return;
    }
    memcpy(xd, f->v, sizeof *xd * (size_t)m->nq);
    memcpy(xd + m->nq, y->ud, sizeof *xd * (size_t)m->nu);
}

/* ---- changes ---- */

/* dv = T(q) du + L(dq, u) */
static void speed_change(const cst_flow *f, const cst_state *y, const cst_tangent *t, double *dv)
{
    cst_T(f->w->s, y->q, t->u, dv);
    cst_L_add(f->w->s, t->q, y->u, dv);
}

void cst_flow_read_change(const cst_flow *f, const cst_state *y, const cst_tangent *t, double *dx)
{
    const cst_model *m = f->w->s->m;
    rest(f, t->z, t->quad, dx);
    if (f->ch) {
        speed_change(f, y, t, f->v_sum);
        gather(f->ch, t->q, dx), gather(f->ch, f->v_sum, dx + f->nq);
        return;
    }
    memcpy(dx, t->q, sizeof *dx * (size_t)m->nq);
    memcpy(dx + m->nq, t->u, sizeof *dx * (size_t)m->nu);
}

void cst_flow_place_change(cst_flow *f, cst_tangent *t, const double *dx)
{
    const cst_model *m = f->w->s->m;
    rest_back(f, dx, t->z, t->quad);
    if (f->ch) {
        spread(f->ch, dx, f->q_sum), spread(f->ch, dx + f->nq, f->v_sum);
        cst_chart_tangent(t, f->w, f->ch, &f->y, f->q_sum, f->v_sum);
        return;
    }
    memcpy(t->q, dx, sizeof *dx * (size_t)m->nq);
    memcpy(t->u, dx + m->nq, sizeof *dx * (size_t)m->nu);
    cst_settle_change(f->w->s, f->x, t->q);
}

void cst_flow_rates_change(cst_flow *f, const cst_tangent *t, double *dxd)
{
    const cst_model *m = f->w->s->m;
    const cst_state *y = &f->y;
    double *dv = f->q_sum, *da = f->v_sum;
    rest(f, t->zd, t->qd, dxd);
    speed_change(f, y, t, dv);
    if (f->ch) { /* da = T du' + L(dq, u') + L(dv, u) + L(v, du) */
        cst_T(f->w->s, y->q, t->ud, da);
        cst_L_add(f->w->s, t->q, y->ud, da), cst_L_add(f->w->s, dv, y->u, da),
            cst_L_add(f->w->s, f->v, t->u, da);
        gather(f->ch, dv, dxd), gather(f->ch, da, dxd + f->nq);
        return;
    }
    memcpy(dxd, dv, sizeof *dxd * (size_t)m->nq);
    memcpy(dxd + m->nq, t->ud, sizeof *dxd * (size_t)m->nu);
}

/* ---- bars ---- */

static void clear(cst_adjoint *ad)
{
    const cst_model *m = ad->w->s->m;
    size_t n = sizeof(double) * (size_t)ad->n;
    memset(ad->q, 0, n * (size_t)m->nq), memset(ad->u, 0, n * (size_t)m->nu),
        memset(ad->z, 0, n * (size_t)m->nz);
    memset(ad->quad, 0, n * (size_t)m->quad.n), memset(ad->qd, 0, n * (size_t)m->quad.n);
    memset(ad->ud, 0, n * (size_t)m->nu), memset(ad->zd, 0, n * (size_t)m->nz);
}

#define SECTION(array, size) ((array) + (size_t)r * (size_t)(size))

void cst_flow_read_bar(const cst_flow *f, const cst_state *y, const double *x, cst_adjoint *ad)
{
    const cst_model *m = f->w->s->m;
    clear(ad);
    for (int r = 0; r < ad->n; r++) {
        const double *xr = SECTION(x, f->n);
        double *q = SECTION(ad->q, m->nq), *u = SECTION(ad->u, m->nu);
        rest_back(f, xr, SECTION(ad->z, m->nz), SECTION(ad->quad, m->quad.n));
        if (f->ch) {
            memset(f->v_sum, 0, sizeof *f->v_sum * (size_t)m->nq);
            spread(f->ch, xr, q), spread(f->ch, xr + f->nq, f->v_sum);
            cst_rates_bar(f->w->s, y->q, y->u, f->v_sum, q, u);
        } else {
            memcpy(q, xr, sizeof *q * (size_t)m->nq),
                memcpy(u, xr + m->nq, sizeof *u * (size_t)m->nu);
        }
    }
}

void cst_flow_rates_bar(cst_flow *f, const double *xd, cst_adjoint *ad)
{
    const cst_model *m = f->w->s->m;
    const cst_state *y = &f->y;
    double *vbar = f->q_sum, *abar = f->v_sum;
    clear(ad);
    for (int r = 0; r < ad->n; r++) {
        const double *xr = SECTION(xd, f->n);
        double *q = SECTION(ad->q, m->nq), *u = SECTION(ad->u, m->nu), *ud = SECTION(ad->ud, m->nu);
        rest_back(f, xr, SECTION(ad->zd, m->nz), SECTION(ad->qd, m->quad.n));
        if (f->ch) {
            memset(vbar, 0, sizeof *vbar * (size_t)m->nq),
                memset(abar, 0, sizeof *abar * (size_t)m->nq);
            spread(f->ch, xr, vbar), spread(f->ch, xr + f->nq, abar);
            cst_accelerations_bar(f->w->s, y->q, y->u, y->ud, f->v, abar, vbar, q, u, ud);
        } else {
            memcpy(ud, xr + m->nq, sizeof *ud * (size_t)m->nu);
            cst_rates_bar(f->w->s, y->q, y->u, xr, q, u);
        }
    }
}

void cst_flow_place_bar(cst_flow *f, cst_adjoint *ad, double *x)
{
    const cst_model *m = f->w->s->m;
    if (f->ch) cst_chart_adjoint(ad, f->w, f->ch, &f->y, f->q_bars, f->v_bars);
    for (int r = 0; r < ad->n; r++) {
        double *xr = SECTION(x, f->n), *q = SECTION(ad->q, m->nq);
        rest(f, SECTION(ad->z, m->nz), SECTION(ad->quad, m->quad.n), xr);
        if (f->ch) {
            gather(f->ch, SECTION(f->q_bars, m->nq), xr),
                gather(f->ch, SECTION(f->v_bars, m->nq), xr + f->nq);
        } else {
            cst_settle_change(f->w->s, f->x, q);
            memcpy(xr, q, sizeof *xr * (size_t)m->nq);
            memcpy(xr + m->nq, SECTION(ad->u, m->nu), sizeof *xr * (size_t)m->nu);
        }
    }
}
