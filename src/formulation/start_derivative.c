/* SPDX-License-Identifier: MIT */
#include "formulation/start_derivative.h"

#include <string.h>

cst_start_derivative *cst_start_derivative_new(cst_arena *a, cst_start *st, cst_pass *pass)
{
    const cst_model *m = st->s->m;
    cst_start_derivative *sd = cst_new(a, cst_start_derivative, 1);
    int n = m->nu + m->nrow;
    sd->st = st, sd->pass = pass;
    struct {
        double **at;
        int size;
    } part[] = {
        {&sd->top, m->nu}, {&sd->mu, m->nu}, {&sd->nu, m->nu},      {&sd->rows, m->nrow},
        {&sd->w, m->nq},   {&sd->wx, m->nx}, {&sd->x, m->nx},       {&sd->xd, m->nx},
        {&sd->v, m->nq},   {&sd->d, m->nq},  {&sd->r, m->nq},       {&sd->excess, m->nq},
        {&sd->sol, n},     {&sd->b, n},      {&sd->scratch, 2 * n},
    };
    for (size_t i = 0; i < sizeof part / sizeof *part; i++)
        *part[i].at = cst_new(a, double, part[i].size + 1);
    return sd;
}

#define CLEAR(array, size) memset(array, 0, sizeof(double) * (size_t)(size))

/* -A^-T (top, 0): mu and rows */
static void solve_transposed(cst_start_derivative *sd, const cst_kkt *k, cst_lu *lu,
                             const double *val, const double *top)
{
    const cst_model *m = sd->st->s->m;
    double *x = sd->sol, *b = sd->b;
    for (int i = 0; i < k->n; i++) b[i] = i < k->nu ? -top[i] : 0;
    cst_kkt_tsolve(k, lu, val, sd->st->st->start_eps, b, x, sd->scratch);
    memcpy(sd->mu, x, sizeof *x * (size_t)k->nu);
    CLEAR(sd->rows, m->nrow);
    cst_kkt_spread(k, x + k->nu, sd->rows);
}

/* The same for the rates; nu: weights of the written ones */
static void solve_rates_transposed(cst_start_derivative *sd, const double *top)
{
    const cst_kkt *k = sd->st->st->rates;
    for (int i = 0; i < k->n; i++) sd->b[i] = i < k->nu ? -top[i] : 0;
    cst_rates_solve(sd->st, 1, sd->b, NULL, sd->sol, sd->nu);
    memcpy(sd->mu, sd->sol, sizeof *sd->mu * (size_t)k->nu);
    CLEAR(sd->rows, sd->st->s->m->nrow);
    cst_kkt_spread(k, sd->sol + k->nu, sd->rows);
}

static void L_transpose(const cst_system *s, const double *u, const double *r, double *qbar)
{
    for (int i = 0; i < s->m->body.n; i++) {
        const cst_body *b = &s->m->body.at[i];
        b->cls->Lt(u + b->u0, r + b->q0, qbar + b->q0);
    }
}

/* top = E (u - u_d), and d = T(q) top */
static void rate_excess(cst_start_derivative *sd, const cst_start_at *at)
{
    cst_system *s = sd->st->s;
    const cst_model *m = s->m;
    for (int i = 0; i < m->body.n; i++) {
        const cst_body *b = &m->body.at[i];
        for (int j = 0; j < b->cls->nu; j++)
            sd->top[b->u0 + j] = sd->st->share[b->u0 + j] * (at->u[b->u0 + j] - s->P[b->rate + j]);
    }
    cst_T(s, at->q, sd->top, sd->d);
}

/* Registers of a prescribed rate: E and E_v at the present place; returns the local coordinates'
 * count. */
static cst_local rate_row(cst_start_derivative *sd, int i, const double *mem, double *x, double *xd)
{
    cst_local l;
    cst_local_constraint(sd->st->s, i, mem, 1, &l, x, xd);
    double J[CST_MAX_NX];
    sd->st->s->m->constraint.at[i].cls->phi_x(&l, J); /* fills the registers */
    return l;
}

static const double *slot_entry(const cst_model *m, const cst_constraint *c, int local,
                                const double *of, int *slot_index)
{
    for (int k = 0; k < c->nslot; k++) {
        const cst_slot *sl = &m->slot.at[c->slot[k]];
        if (local < sl->dim) {
            if (slot_index) *slot_index = sl->x0 + local;
            return of ? of + sl->x0 + local : NULL;
        }
        local -= sl->dim;
    }
    return NULL;
}

/* S = eta sum_j E_v,j wx_j + k E */
static void rate_rows_adjoint(cst_start_derivative *sd, const cst_start_at *at, double *x,
                              double *xd, double *P, double *fx)
{
    cst_system *s = sd->st->s;
    const cst_model *m = s->m;
    double lx[CST_MAX_NX], lxd[CST_MAX_NX];
    for (int i = 0; i < m->constraint.n; i++) {
        const cst_constraint *c = &m->constraint.at[i];
        if (!(c->phases & CST_ROW_RATE)) continue;
        cst_local l = rate_row(sd, i, at->mem, lx, lxd);
        const cst_tape *t = c->tape;
        double *bar = l.reg + t->nreg, eta = at->eta[c->row0], k = sd->rows[c->row0];
        CLEAR(bar, t->nreg);
        bar[t->out[0]] += k;
        for (int j = 0; j < c->nx; j++) {
            int at_slot = 0;
            bar[t->out[1 + j]] += eta * *slot_entry(m, c, j, sd->wx, &at_slot);
            fx[at_slot] += eta * l.reg[t->out[1 + j]];
        }
        cst_tape_reverse(t, l.reg, bar);
        for (int j = 0; j < t->nchannel; j++) {
            int slot = 0;
            if (t->channel[j].kind != CST_CH_X) continue;
            slot_entry(m, c, t->channel[j].index, NULL, &slot);
            (t->channel[j].order ? xd : x)[slot] += bar[j];
        }
        for (int j = 0; j < t->nnumber; j++)
            P[c->p + c->np - t->nnumber + j] += bar[t->nchannel + j];
    }
}

static void slots_get_velocity(cst_start_derivative *sd, const cst_start_at *at)
{
    cst_system *s = sd->st->s;
    cst_system_place(s, at->t, at->q);
    cst_T(s, at->q, at->u, sd->v);
    cst_system_rates(s, sd->v);
    cst_slots_blocks(s, at->q);
}

static int rates_matrix(cst_start_derivative *sd, const cst_start_at *at)
{
    cst_rates_measure(sd->st);
    return cst_rates_factor(sd->st, at->mem, at->q, at->eta, 1);
}

static const double *assembled(const cst_start_at *at)
{
    return at->statics ? at->statics->assembled : at->q;
}

/* Coordinates whose weight is the square of the body's size */
static int by_size(const cst_body *b, int j)
{
    return j >= 3 * b->cls->nvec ? !b->bound : b->cls->translation[j / 3] == 0;
}

/* Puts the system at the assembled position; sd->d = q - q_drawn */
static int assembly_matrix(cst_start_derivative *sd, const cst_start_at *at)
{
    cst_start *st = sd->st;
    cst_system *s = st->s;
    const cst_model *m = s->m;
    const cst_kkt *k = st->st->assembly;
    const cst_kkt_coef c = {.mass = 1, .stiff = 1, .eps = st->st->start_eps};
    const double *q = assembled(at);
    cst_system_rest(s);
    cst_system_place(s, at->t, q);
    cst_slots_blocks(s, q);
    CLEAR(sd->excess, m->nq);
    for (int i = 0; i < m->body.n; i++) {
        const cst_body *b = &m->body.at[i];
        for (int j = 0; j < 3 * b->cls->nvec + b->cls->nscalar; j++)
            sd->d[b->q0 + j] = q[b->q0 + j] - s->P[b->drawn + j];
    }
    cst_mass_add(s, st->st->weight, sd->d, 1, sd->excess);
    CLEAR(s->fx, m->nx);
    cst_reactions_add(s, at->mem_drawn, at->lambda, k->phases, s->fx, NULL);
    cst_slots_transpose(s, s->fx, sd->excess);
    cst_kkt_assemble(k, s, q, NULL, at->mem_drawn, sd->excess, at->lambda, st->st->weight, c, 0, 0,
                     st->val);
    return cst_lu_refactor(st->assembly, st->val) < 0;
}

/* From weights mu of the balance of the rates' problem and rows of its conditions: qbar, P += */
static void rates_bars(cst_start_derivative *sd, const cst_start_at *at, double *qbar, double *P)
{
    cst_system *s = sd->st->s;
    const cst_model *m = s->m;
    cst_T(s, at->q, sd->mu, sd->w);
    cst_slots_apply(s, sd->w, 0, sd->wx);
    const cst_pass_at here = {
        .q = at->q, .v = sd->v, .mem = at->mem, .lambda = at->eta, .phases = CST_ROW_MOTION};
    const cst_adjoint_in in = {.nrhs = 1, .w = sd->w, .wx = sd->wx, .k1 = sd->rows};
    double *vbar = sd->r;
    CLEAR(vbar, m->nq);
    const cst_adjoint_out out = {.x = sd->x, .xd = sd->xd, .q = qbar, .v = vbar, .P = P};
    cst_adjoint_pass(sd->pass, &here, &in, &out);
    CLEAR(sd->x, m->nx), CLEAR(sd->xd, m->nx);
    double *own = sd->pass->dfx;
    CLEAR(own, m->nx);
    rate_rows_adjoint(sd, at, sd->x, sd->xd, P, own);
    cst_adjoint_slots(sd->pass, &here, 1, sd->w, own, &out);
    for (int i = 0; i < m->nx; i++) own[i] += s->fx[i];

    CLEAR(sd->excess, m->nq);
    cst_slots_transpose(s, own, sd->excess);
    L_transpose(s, sd->mu, sd->excess, qbar);
    L_transpose(s, at->u, vbar, qbar); /* v = T(q) u; u itself is the unknown */

    /* w . M d, d = T E (u - u_d); w = T E mu. Written rates: nu . (u - u_d) */
    double *mine = sd->sol;
    for (int i = 0; i < m->nu; i++) mine[i] = sd->st->share[i] * sd->mu[i];
    cst_T(s, at->q, mine, sd->w);
    rate_excess(sd, at);
    CLEAR(sd->excess, m->nq);
    cst_mass_add(s, NULL, sd->d, 1, sd->excess);
    L_transpose(s, mine, sd->excess, qbar);
    cst_mass_bar(s, sd->w, sd->d, 1, P);
    double *dbar = sd->scratch;
    CLEAR(dbar, m->nq);
    cst_mass_add(s, NULL, sd->w, 1, dbar);
    L_transpose(s, sd->top, dbar, qbar);
    cst_T_transpose(s, at->q, dbar, sd->b);
    for (int i = 0; i < m->body.n; i++) {
        const cst_body *b = &m->body.at[i];
        for (int j = b->u0; j < b->u0 + b->cls->nu; j++)
            P[b->rate + j - b->u0] -=
                sd->st->share[j] * sd->b[j] + sd->st->least[j] * sd->mu[j] + sd->nu[j];
        double mass = 0, square = 0; /* bars of log m and log size^2: mu . dleast (u - u_d) */
        for (int j = b->u0; j < b->u0 + b->cls->nu; j++) {
            double y = sd->st->least[j] * sd->mu[j] * sd->top[j] / sd->st->share[j];
            mass += y, square += b->cls->nvec && j >= b->u0 + 3 ? y : 0;
        }
        if (s->P[b->mass] > 0) P[b->mass] += mass / s->P[b->mass];
        if (square != 0) cst_size_square_bar(s, i, square / (s->size[i] * s->size[i]), P);
    }
}

/* From bars of the position after the equilibrium, if any: P += */
static cst_status positions_adjoint(cst_start_derivative *sd, const cst_start_at *at, double *qbar,
                                    double *zbar, double *P)
{
    cst_start *st = sd->st;
    cst_system *s = st->s;
    const cst_model *m = s->m;
    if (at->statics) {
        cst_status ok = cst_statics_adjoint(at->statics, qbar, zbar, P);
        if (ok != CST_OK) return ok;
    } else {
        for (int i = 0; i < m->force.n; i++)
            for (int j = 0; j < m->force.at[i].nz; j++)
                P[m->force.at[i].z_start + j] += zbar[m->force.at[i].z0 + j];
    }

    const double *q = assembled(at);
    if (!assembly_matrix(sd, at)) return CST_NUMERIC;
    cst_T_transpose(s, q, qbar, sd->top);
    solve_transposed(sd, st->st->assembly, st->assembly, st->val, sd->top);
    cst_T(s, q, sd->mu, sd->w);
    cst_slots_apply(s, sd->w, 0, sd->wx);
    CLEAR(sd->v, m->nq);
    const cst_pass_at drawn = {.q = q,
                               .v = sd->v,
                               .mem = at->mem_drawn,
                               .lambda = at->lambda,
                               .phases = st->st->assembly->phases};
    const cst_adjoint_in asm_in = {.nrhs = 1, .w = sd->w, .wx = sd->wx, .k0 = sd->rows};
    const cst_adjoint_out asm_out = {.x = sd->x, .xd = sd->xd, .P = P};
    cst_adjoint_pass(sd->pass, &drawn, &asm_in, &asm_out);
    CLEAR(sd->r, m->nq);
    cst_mass_add(s, st->st->weight, sd->w, 1, sd->r);
    for (int i = 0; i < m->body.n; i++) {
        const cst_body *b = &m->body.at[i];
        double square = 0; /* bar of the body's size: w . dW (q - q_drawn) */
        for (int j = 0; j < 3 * b->cls->nvec + b->cls->nscalar; j++) {
            P[b->drawn + j] -= sd->r[b->q0 + j];
            if (by_size(b, j)) square += sd->w[b->q0 + j] * sd->d[b->q0 + j];
        }
        if (square != 0) cst_size_square_bar(s, i, square, P);
    }
    return CST_OK;
}

cst_status cst_start_adjoint(cst_start_derivative *sd, const cst_start_at *at, double *qbar,
                             const double *ubar, double *zbar, double *P)
{
    slots_get_velocity(sd, at);
    if (!rates_matrix(sd, at)) return CST_NUMERIC;
    solve_rates_transposed(sd, ubar);
    rates_bars(sd, at, qbar, P);
    return positions_adjoint(sd, at, qbar, zbar, P);
}

cst_status cst_start_rate_rows(cst_start_derivative *sd, const cst_start_at *at,
                               const double *weight, double *qbar, double *zbar, double *P)
{
    const cst_model *m = sd->st->s->m;
    slots_get_velocity(sd, at);
    cst_rates_measure(sd->st);
    CLEAR(sd->mu, m->nu), CLEAR(sd->nu, m->nu), CLEAR(qbar, m->nq), CLEAR(zbar, m->nz);
    memcpy(sd->rows, weight, sizeof *weight * (size_t)m->nrow);
    rates_bars(sd, at, qbar, P);
    return positions_adjoint(sd, at, qbar, zbar, P);
}

/* b = -(T^T dr + L(dq, .)^T r) */
static void tangent_rhs(cst_start_derivative *sd, const cst_kkt *k, const double *q,
                        const double *dr, const double *dq, const double *r)
{
    const cst_system *s = sd->st->s;
    CLEAR(sd->mu, s->m->nu);
    cst_T_transpose(s, q, dr, sd->b);
    for (int i = 0; dq && i < s->m->body.n; i++) {
        const cst_body *b = &s->m->body.at[i];
        b->cls->Ltu(dq + b->q0, r + b->q0, sd->mu + b->u0);
    }
    for (int i = 0; i < s->m->nu; i++) sd->b[i] = -(sd->b[i] + sd->mu[i]);
    for (int i = 0; i < k->nrow; i++) sd->b[k->nu + i] = -sd->rows[k->all_of[i]];
}

/* Changes of E (into rows) and of E_v^T eta (added to dfx) */
static void rate_rows_tangent(cst_start_derivative *sd, const cst_start_at *at, const double *dx,
                              const double *dxd, const double *Pdot, double *dfx, double *fx)
{
    cst_system *s = sd->st->s;
    const cst_model *m = s->m;
    double lx[CST_MAX_NX], lxd[CST_MAX_NX];
    for (int i = 0; i < m->constraint.n; i++) {
        const cst_constraint *c = &m->constraint.at[i];
        if (!(c->phases & CST_ROW_RATE)) continue;
        cst_local l = rate_row(sd, i, at->mem, lx, lxd);
        const cst_tape *t = c->tape;
        double *dot = l.reg + t->nreg, eta = at->eta[c->row0];
        for (int j = 0; j < t->nchannel; j++)
            dot[j] =
                t->channel[j].kind == CST_CH_X
                    ? *slot_entry(m, c, t->channel[j].index, t->channel[j].order ? dxd : dx, NULL)
                    : 0;
        for (int j = 0; j < t->nnumber; j++)
            dot[t->nchannel + j] = Pdot[c->p + c->np - t->nnumber + j];
        cst_tape_forward(t, l.reg, dot);
        sd->rows[c->row0] = dot[t->out[0]];
        for (int j = 0; j < c->nx; j++) {
            int slot = 0;
            slot_entry(m, c, j, NULL, &slot);
            dfx[slot] += eta * dot[t->out[1 + j]];
            fx[slot] += eta * l.reg[t->out[1 + j]];
        }
    }
}

cst_status cst_start_tangent(cst_start_derivative *sd, const cst_start_at *at, const double *Pdot,
                             double *dq, double *du, double *dz)
{
    cst_start *st = sd->st;
    cst_system *s = st->s;
    const cst_model *m = s->m;
    const cst_kkt *ka = st->st->assembly, *kr = st->st->rates;

    const double *q = assembled(at);
    if (!assembly_matrix(sd, at)) return CST_NUMERIC;
    CLEAR(sd->v, m->nq), CLEAR(sd->r, m->nq), CLEAR(sd->rows, m->nrow);
    const cst_pass_at drawn = {
        .q = q, .v = sd->v, .mem = at->mem_drawn, .lambda = at->lambda, .phases = ka->phases};
    const cst_tangent_in asm_in = {.P = Pdot};
    const cst_tangent_out asm_out = {.r = sd->r, .phi = sd->rows, .x = sd->x, .xd = sd->xd};
    cst_tangent_pass(sd->pass, &drawn, &asm_in, &asm_out);
    for (int i = 0; i < m->body.n; i++) {
        const cst_body *b = &m->body.at[i];
        double square = cst_size_square_dot(s, i, Pdot);
        for (int j = 0; j < 3 * b->cls->nvec + b->cls->nscalar; j++) {
            if (by_size(b, j)) sd->r[b->q0 + j] += square * sd->d[b->q0 + j];
            sd->d[b->q0 + j] = -Pdot[b->drawn + j];
        }
    }
    cst_mass_add(s, st->st->weight, sd->d, 1, sd->r);
    tangent_rhs(sd, ka, q, sd->r, NULL, NULL);
    cst_kkt_solve(ka, st->assembly, st->val, st->st->start_eps, sd->b, sd->sol, sd->scratch);
    cst_T(s, q, sd->sol, dq);
    for (int i = 0; i < m->force.n; i++)
        for (int j = 0; j < m->force.at[i].nz; j++)
            dz[m->force.at[i].z0 + j] = Pdot[m->force.at[i].z_start + j];
    cst_status ok = at->statics ? cst_statics_tangent(at->statics, Pdot, dq, dz) : CST_OK;
    if (ok != CST_OK) return ok;

    slots_get_velocity(sd, at);
    if (!rates_matrix(sd, at)) return CST_NUMERIC;
    double *dv = sd->w;
    CLEAR(dv, m->nq), CLEAR(sd->r, m->nq), CLEAR(sd->rows, m->nrow);
    cst_L_add(s, dq, at->u, dv);
    const cst_pass_at here = {
        .q = at->q, .v = sd->v, .mem = at->mem, .lambda = at->eta, .phases = CST_ROW_MOTION};
    const cst_tangent_in in = {.q = dq, .v = dv, .P = Pdot};
    const cst_tangent_out out = {.r = sd->r, .phi1 = sd->rows, .x = sd->x, .xd = sd->xd};
    cst_tangent_pass(sd->pass, &here, &in, &out);
    double *dfx = sd->pass->dfx, *own = sd->wx;
    CLEAR(dfx, m->nx), CLEAR(own, m->nx);
    rate_rows_tangent(sd, at, sd->x, sd->xd, Pdot, dfx, own);
    cst_slots_transpose_change(s, dfx, own, Pdot, sd->r);
    for (int i = 0; i < m->nx; i++) own[i] += s->fx[i];
    CLEAR(sd->excess, m->nq);
    cst_slots_transpose(s, own, sd->excess);
    tangent_rhs(sd, kr, at->q, sd->r, dq, sd->excess);
    memcpy(sd->sol, sd->b, sizeof *sd->b * (size_t)kr->n);
    rate_excess(sd, at);
    CLEAR(sd->excess, m->nq), CLEAR(sd->r, m->nq);
    cst_mass_add(s, NULL, sd->d, 1, sd->excess);
    cst_mass_dot(s, Pdot, sd->d, 1, sd->r);
    double *dd = sd->d; /* change of T E (u - u_d) at fixed u */
    for (int i = 0; i < m->body.n; i++) {
        const cst_body *b = &m->body.at[i];
        for (int j = 0; j < b->cls->nu; j++)
            sd->mu[b->u0 + j] = -st->share[b->u0 + j] * Pdot[b->rate + j];
    }
    cst_T(s, at->q, sd->mu, dd);
    cst_L_add(s, dq, sd->top, dd);
    cst_mass_add(s, NULL, dd, 1, sd->r);
    tangent_rhs(sd, kr, at->q, sd->r, dq, sd->excess);
    for (int i = 0; i < m->body.n; i++) {
        const cst_body *b = &m->body.at[i];
        for (int j = b->u0; j < b->u0 + b->cls->nu; j++) {
            double log_size = b->cls->nvec && j >= b->u0 + 3
                                  ? cst_size_square_dot(s, i, Pdot) / (s->size[i] * s->size[i])
                                  : 0;
            double log_mass = s->P[b->mass] > 0 ? Pdot[b->mass] / s->P[b->mass] : 0;
            sd->sol[j] -= st->least[j] * (log_mass + log_size) * sd->top[j] / st->share[j];
            sd->scratch[j] = Pdot[b->rate + j - b->u0];
            sd->b[j] = sd->sol[j] + st->share[j] * sd->b[j] + st->least[j] * sd->scratch[j];
        }
    }
    cst_rates_solve(st, 0, sd->b, sd->scratch, sd->sol, sd->nu);
    memcpy(du, sd->sol, sizeof *du * (size_t)m->nu);
    return CST_OK;
}
