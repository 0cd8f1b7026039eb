/* SPDX-License-Identifier: MIT
 *
 * Steps that end at events, by their lengths, and what follows for events at one instant. Let Y_h
 * be the change of the state at the end of a step with its length, f the motion there and e = Y_h -
 * f the error of the step. With two events, at t_1 and t_2, the step ends at the first one, and the
 * state changes by
 *
 *     Y_h t_1 + f_10 (t_2 - t_1)   or   Y_h t_2 + f_01 (t_1 - t_2)
 *
 * In the mean of both orders e has the factor (t_1 + t_2)/2: half of it belongs to t_2 - t_1. Both
 * instants follow from Y_h. The steps that follow have errors of their own: the mean of both orders
 * is what follows from the mean state at the mean time (t_1 + t_2)/2, up to which the state behind
 * the events is moved with f_11. With (q_10 + q_00 + q_11 - q_01)/2 for integrals (changing.c) the
 * derivative does not depend on the order. */
#include "sensitivity/instant.h"
#include "sensitivity/asked.h"

#include "integrator/traj.h"

#include <string.h>

static void clear(const cst_model *m, cst_tangent *t)
{
    memset(t->q, 0, sizeof(double) * (size_t)m->nq),
        memset(t->u, 0, sizeof(double) * (size_t)m->nu);
    memset(t->ud, 0, sizeof(double) * (size_t)m->nu),
        memset(t->z, 0, sizeof(double) * (size_t)m->nz);
    memset(t->zd, 0, sizeof(double) * (size_t)m->nz),
        memset(t->quad, 0, sizeof(double) * (size_t)m->quad.n);
    memset(t->qd, 0, sizeof(double) * (size_t)m->quad.n);
    memset(t->carried, 0, sizeof(double) * (size_t)m->nu),
        memset(t->lambda, 0, sizeof(double) * (size_t)m->nrow);
}

void cst_motion_direction(cst_run *r, cst_tangent *t, const cst_state *y)
{
    const cst_model *m = r->m;
    cst_T(r->s, y->q, y->u, t->q);
    memcpy(t->u, y->ud, sizeof(double) * (size_t)m->nu),
        memcpy(t->z, y->zd, sizeof(double) * (size_t)m->nz);
    memcpy(t->quad, y->qd, sizeof(double) * (size_t)m->quad.n);
}

cst_status cst_length_direction(cst_run *r, cst_tangent *t, const cst_state *y0,
                                const cst_state *y1)
{
    clear(r->m, t);
    t->t = t->h = 1;
    if (*y1->h > 0) return cst_rule_of(t->w, *y1->h)->tangent(t, y0, y1, 0);
    cst_motion_direction(r, t, y1);
    return CST_OK;
}

/* What is derived at the end y1 of a step, with the changes t and in e. The integrals' share of the
 * rates there is part of Y_h. */
static cst_status derive(const cst_model *m, const cst_tangent *t, const cst_state *y1,
                         cst_tangent *e)
{
    struct {
        double *to;
        const double *from;
        int n;
    } part[] = {{e->q, t->q, m->nq},
                {e->u, t->u, m->nu},
                {e->z, t->z, m->nz},
                {e->quad, t->quad, m->quad.n},
                {e->ud, t->ud, m->nu},
                {e->lambda, t->lambda, m->nrow},
                {e->carried, t->carried, m->nu}};
    clear(m, e);
    for (size_t k = 0; k < sizeof part / sizeof *part; k++)
        memcpy(part[k].to, part[k].from, sizeof(double) * (size_t)part[k].n);
    e->t = e->h = 1;
    return cst_tangent_derive(e, y1, 0);
}

cst_status cst_length_error(cst_run *r, const cst_tangent *t, const cst_state *y1, cst_tangent *e)
{
    const cst_model *m = r->m;
    clear(m, e);
    if (*y1->h == 0) return CST_OK;
    const cst_status ok = derive(m, t, y1, e);
    double *v = r->events->v;
    cst_T(r->s, y1->q, y1->u, v);
    for (int i = 0; i < m->nq; i++) e->q[i] -= v[i];
    for (int i = 0; i < m->nu; i++) e->u[i] -= y1->ud[i];
    for (int i = 0; i < m->nz; i++) e->z[i] -= y1->zd[i];
    for (int i = 0; i < m->quad.n; i++) e->quad[i] -= y1->qd[i];
    return ok;
}

int cst_peaks_before_mean(const cst_run *r, long n, int met)
{
    int any = 0;
    for (int i = 0; i < r->m->functional.n && met && !r->samples; i++)
        any |= r->m->functional.at[i].kind == CST_PEAK && r->functional[i].state == n;
    return any;
}

int cst_instant_events(const cst_run *r, long n)
{
    double h, tag = cst_traj_tag(r->traj, n, &h);
    int met = 0;
    if (tag >= 0) return 0;
    if (n + 1 < r->traj->n && cst_traj_tag(r->traj, n + 1, &h) >= 1 && h == 0)
        return 0; /* another one follows */
    for (; n > 0 && (tag < 0 || tag >= 1); tag = cst_traj_tag(r->traj, --n, &h)) {
        met += tag >= 1;
        if (tag >= 1 && h > 0) break;
    }
    return met > 1 ? met : 0;
}
