/* SPDX-License-Identifier: MIT
 *
 * Derivatives of the static equilibrium by the implicit function theorem. States that settle are
 * eliminated in the matrix (dz = -g_z^-1 g_x dx); here they appear with their own weights gz. */
#include <string.h>

#include "formulation/start.h"
#include "formulation/statics.h"

#define CLEAR(array, size) memset(array, 0, sizeof(double) * (size_t)(size))

static int matrix(cst_statics *w)
{
    return cst_statics_residual(w, w->q, w->lambda, w->z, w->rhs, NULL) == CST_OK &&
           cst_statics_matrix(w, w->q, w->z, w->lambda, 0) < 0;
}

static void put_at(cst_statics *w, const double *q)
{
    CLEAR(w->s.xd, w->s.m->nx);
    cst_system_place(&w->s, w->t, q);
    cst_slots_blocks(&w->s, q);
}

/* slots of a force, one after the other */
static void slots_get(const cst_model *m, const cst_force *f, const double *from, double *to)
{
    for (int k = 0; k < f->nslot; k++)
        for (int c = 0; c < m->slot.at[f->slot[k]].dim; c++)
            *to++ = from[m->slot.at[f->slot[k]].x0 + c];
}

static void slots_add(const cst_model *m, const cst_force *f, const double *from, double *to)
{
    for (int k = 0; k < f->nslot; k++)
        for (int c = 0; c < m->slot.at[f->slot[k]].dim; c++)
            to[m->slot.at[f->slot[k]].x0 + c] += *from++;
}

/* gz += g_z^-T (f_z^T wx - zbar) over the states that settle; either may be NULL */
static int weights_of_states(cst_statics *w, const double *wx, const double *zbar)
{
    const cst_model *m = w->s.m;
    double y[CST_MAX_NX], b[CST_MAX_NX];
    cst_rest e;
    for (int i = 0; i < m->force.n; i++) {
        const cst_force *f = &m->force.at[i];
        if (!f->nz) continue;
        cst_rest_partials(w, i, w->z, &e);
        if (wx) slots_get(m, f, wx, b);
        for (int j = 0; j < e.n; j++) {
            y[j] = zbar ? -zbar[f->z0 + e.act[j]] : 0;
            for (int k = 0; wx && k < e.nx; k++) y[j] += e.f_z[k * e.nz + e.act[j]] * b[k];
        }
        if (!cst_rest_solve(&e, 1, y)) return 0;
        for (int j = 0; j < e.n; j++) w->gz[f->z0 + e.act[j]] += y[j];
    }
    return 1;
}

/* qbar += slots^T g_x^T gz */
static void pull_states(cst_statics *w, double *qbar)
{
    const cst_model *m = w->s.m;
    cst_rest e;
    CLEAR(w->x, m->nx);
    for (int i = 0; i < m->force.n; i++) {
        const cst_force *f = &m->force.at[i];
        double y[CST_MAX_NX] = {0};
        if (!f->nz) continue;
        cst_rest_partials(w, i, w->z, &e);
        for (int j = 0; j < e.nz; j++)
            for (int k = 0; k < e.nx; k++) y[k] += e.f_x[(e.nx + j) * e.nx + k] * w->gz[f->z0 + j];
        slots_add(m, f, y, w->x);
    }
    cst_slots_transpose(&w->s, w->x, qbar);
}

/* mu and rows: -A^-T (T^T qbar, 0), refined twice */
static void solve_transposed(cst_statics *w, const double *qbar)
{
    const cst_kkt *k = w->k;
    double *x = w->sol, *b = w->fix, *y = w->scratch, *minus = w->scratch + k->n;
    CLEAR(b, k->n);
    cst_T_transpose(&w->s, w->q, qbar, b);
    for (int i = 0; i < k->nu; i++) b[i] = -b[i];
    CLEAR(x, k->n);
    for (int it = 0; it < 3; it++) {
        for (int i = 0; i < k->n; i++) minus[i] = -x[i], y[i] = b[i];
        cst_sparse_tmul(k->pattern, w->val, minus, y);
        for (int i = 0; i < k->nrow; i++) y[k->nu + i] -= w->eps * x[k->nu + i];
        cst_lu_tsolve(w->lu, 1, y);
        for (int i = 0; i < k->n; i++) x[i] += y[i];
    }
    CLEAR(w->rows, w->s.m->nrow);
    cst_kkt_spread(k, x + k->nu, w->rows);
}

/* Weights of the initial values: of states that keep them */
static void states_to_numbers(const cst_statics *w, const double *zbar, double *P)
{
    const cst_model *m = w->s.m;
    for (int i = 0; i < m->force.n; i++)
        for (int j = 0; j < m->force.at[i].nz; j++)
            P[m->force.at[i].z_start + j] += zbar[m->force.at[i].z0 + j];
}

/* y = 0 at states that settle */
static void keep_initial(cst_statics *w, double *y)
{
    cst_rest e;
    for (int i = 0; i < w->s.m->force.n; i++) {
        const cst_force *f = &w->s.m->force.at[i];
        if (!f->nz) continue;
        cst_rest_partials(w, i, w->z, &e);
        for (int j = 0; j < e.n; j++) y[f->z0 + e.act[j]] = 0;
    }
}

cst_status cst_statics_adjoint(cst_statics *w, double *qbar, double *zbar, double *P)
{
    cst_system *s = &w->s;
    const cst_model *m = s->m;
    if (!matrix(w)) return CST_NUMERIC;
    CLEAR(w->gz, m->nz);
    if (!weights_of_states(w, NULL, zbar)) return CST_NUMERIC;
    pull_states(w, qbar);
    solve_transposed(w, qbar);
    cst_T(s, w->q, w->sol, w->d);
    cst_slots_apply(s, w->d, 0, w->wx);
    if (!weights_of_states(w, w->wx, NULL)) return CST_NUMERIC;

    const cst_pass_at here = {.q = w->q,
                              .v = w->rest,
                              .z = w->z,
                              .mem = w->mem,
                              .lambda = w->lambda,
                              .phases = w->k->phases,
                              .forces = 1};
    const cst_adjoint_in in = {.nrhs = 1, .w = w->d, .wx = w->wx, .gz = w->gz, .k0 = w->rows};
    const cst_adjoint_out out = {.x = w->x, .xd = w->xd, .z = zbar, .P = P};
    cst_adjoint_pass(w->pass, &here, &in, &out);
    if (!m->statics.weightless) cst_gravity_bar(s, w->d, 1, P);
    keep_initial(w, zbar);
    states_to_numbers(w, zbar, P);

    /* -k . E(q_a) */
    for (int i = 0; i < m->nrow; i++) w->rows[i] = -w->rows[i];
    CLEAR(qbar, m->nq);
    put_at(w, w->assembled);
    const cst_pass_at there = {.q = w->assembled,
                               .v = w->rest,
                               .mem = w->mem,
                               .phases = CST_ROW_STATICS};
    const cst_adjoint_in held = {.nrhs = 1, .k0 = w->rows};
    const cst_adjoint_out back = {.x = w->x, .xd = w->xd, .q = qbar, .P = P};
    cst_adjoint_pass(w->pass, &there, &held, &back);
    return CST_OK;
}

/* dz: changes of initial values where they are kept, else -g_z^-1 dg with dg (in w->gz) at dz = 0
 * there */
static int settle(cst_statics *w, double *dz)
{
    const cst_model *m = w->s.m;
    double y[CST_MAX_NX];
    cst_rest e;
    for (int i = 0; i < m->force.n; i++) {
        const cst_force *f = &m->force.at[i];
        if (!f->nz) continue;
        cst_rest_partials(w, i, w->z, &e);
        for (int j = 0; j < e.n; j++) y[j] = -w->gz[f->z0 + e.act[j]];
        if (!cst_rest_solve(&e, 0, y)) return 0;
        for (int j = 0; j < e.n; j++) dz[f->z0 + e.act[j]] = y[j];
    }
    return 1;
}

cst_status cst_statics_tangent(cst_statics *w, const double *Pdot, double *dq, double *dz)
{
    cst_system *s = &w->s;
    const cst_model *m = s->m;
    const cst_kkt *k = w->k;
    put_at(w, w->assembled);
    const cst_pass_at there = {.q = w->assembled,
                               .v = w->rest,
                               .mem = w->mem,
                               .phases = CST_ROW_STATICS};
    const cst_tangent_in held = {.q = dq, .P = Pdot};
    const cst_tangent_out of_held = {.phi = w->extra, .x = w->x, .xd = w->xd};
    CLEAR(w->extra, m->nrow);
    cst_tangent_pass(w->pass, &there, &held, &of_held);

    if (!matrix(w)) return CST_NUMERIC;
    for (int i = 0; i < m->force.n; i++)
        for (int j = 0; j < m->force.at[i].nz; j++)
            w->dz[m->force.at[i].z0 + j] = Pdot[m->force.at[i].z_start + j];
    keep_initial(w, w->dz);
    memcpy(dz, w->dz, sizeof *dz * (size_t)m->nz);
    const cst_pass_at here = {.q = w->q,
                              .v = w->rest,
                              .z = w->z,
                              .mem = w->mem,
                              .lambda = w->lambda,
                              .phases = k->phases,
                              .forces = 1};
    const cst_tangent_in at_rest = {.P = Pdot, .z = w->dz};
    const cst_tangent_out of_g = {.z = w->gz, .x = w->x, .xd = w->xd};
    if (m->nz) {
        cst_tangent_pass(w->pass, &here, &at_rest, &of_g);
        if (!settle(w, dz)) return CST_NUMERIC;
    }
    const cst_tangent_in in = {.P = Pdot, .z = dz};
    const cst_tangent_out out = {.r = w->d, .phi = w->rows, .x = w->x, .xd = w->xd};
    CLEAR(w->d, m->nq), CLEAR(w->rows, m->nrow);
    cst_tangent_pass(w->pass, &here, &in, &out);
    if (!m->statics.weightless) cst_gravity_dot(s, Pdot, 1, w->d);
    cst_T_transpose(s, w->q, w->d, w->fix);
    for (int i = 0; i < k->nu; i++) w->fix[i] = -w->fix[i];
    for (int i = 0; i < k->nrow; i++)
        w->fix[k->nu + i] = w->extra[k->all_of[i]] - w->rows[k->all_of[i]];
    cst_kkt_solve(k, w->lu, w->val, w->eps, w->fix, w->sol, w->scratch);
    cst_T(s, w->q, w->sol, dq);
    if (!m->nz) return CST_OK;
    const cst_tangent_in moved = {.q = dq, .P = Pdot, .z = w->dz};
    cst_tangent_pass(w->pass, &here, &moved, &of_g);
    return settle(w, dz) ? CST_OK : CST_NUMERIC;
}
