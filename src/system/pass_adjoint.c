/* SPDX-License-Identifier: MIT */
#include <assert.h>
#include <string.h>

#include "linalg/dense.h"
#include "system/pass.h"

#define NX CST_MAX_NX

cst_pass *cst_pass_new(cst_arena *a, cst_system *s)
{
    const cst_model *m = s->m;
    cst_pass *ps = cst_new(a, cst_pass, 1);
    size_t most = 1;
    for (int i = 0; i < m->force.n; i++) {
        size_t n = (size_t)(m->force.at[i].nx + m->force.at[i].nz) * (size_t)m->force.at[i].np;
        if (n > most) most = n;
    }
    for (int i = 0; i < m->constraint.n; i++) {
        const cst_constraint *c = &m->constraint.at[i];
        size_t n = (size_t)(c->nx + 2) * (size_t)(c->np + 3);
        if (n > most) most = n;
    }
    ps->s = s;
    ps->f_p = cst_new(a, double, most);
    ps->dfx = cst_new(a, double, m->nx + 1);
    ps->nP = m->bound.n;
    return ps;
}

/* to[slot coordinates] += from, and gather the other way */
static void slots_add(const cst_model *m, int nslot, const int *slot, const double *from, double *to)
{
    for (int k = 0; k < nslot; k++) {
        const cst_slot *l = &m->slot.at[slot[k]];
        for (int c = 0; c < l->dim; c++) to[l->x0 + c] += *from++;
    }
}

static void slots_get(const cst_model *m, int nslot, const int *slot, const double *from, double *to)
{
    for (int k = 0; k < nslot; k++) {
        const cst_slot *l = &m->slot.at[slot[k]];
        for (int c = 0; c < l->dim; c++) *to++ = from[l->x0 + c];
    }
}

/* y += A^T w, A is nrow x ncol */
static void add_tmul(int nrow, int ncol, const double *A, const double *w, double *y)
{
    for (int i = 0; i < nrow; i++)
        if (w[i] != 0)
            for (int j = 0; j < ncol; j++) y[j] += A[i * ncol + j] * w[i];
}

static void add_mul(int nrow, int ncol, const double *A, const double *x, double *y)
{
    for (int i = 0; i < nrow; i++)
        for (int j = 0; j < ncol; j++) y[i] += A[i * ncol + j] * x[j];
}

/* zeta: (1 - hz g_z)^T zeta = zbar + f_z^T fb, in place of zbar */
static void states_transpose(int nx, int nz, double hz, const double *f_z, const double *fb, double *zeta)
{
    double A[NX * NX];
    add_tmul(nx, nz, f_z, fb, zeta);
    for (int i = 0; i < nz; i++)
        for (int j = 0; j < nz; j++) A[j * nz + i] = (i == j) - hz * f_z[(nx + i) * nz + j];
    int regular = cst_dense_solve(nz, A, zeta);
    assert(regular);
    (void)regular;
}

static void force_adjoint(cst_pass *ps, int i, const cst_pass_at *at, const cst_adjoint_in *in, const cst_adjoint_out *out)
{
    cst_system *s = ps->s;
    const cst_model *m = s->m;
    const cst_force *f = &m->force.at[i];
    int nx = f->nx, nz = f->nz, np = f->np;
    double x[NX], xd[NX], f_x[2 * NX * NX], f_xd[2 * NX * NX], f_z[2 * NX * NX], b[2 * NX], y[NX], f_t[2 * NX];
    cst_local l;
    cst_local_force(s, i, at->z, at->mem, &l, x, xd);
    f->cls->partials(&l, f_x, f_xd, nz ? f_z : NULL, np ? ps->f_p : NULL);
    int timed = out->t && f->cls->partial_t && f->cls->partial_t(&l, f_t);
    for (int r = 0; r < in->nrhs; r++) { /* b: weights of (f, g) */
        memset(b, 0, sizeof *b * (size_t)(nx + nz));
        if (in->wx) {
            slots_get(m, f->nslot, f->slot, in->wx + (size_t)r * (size_t)m->nx, b);
            for (int j = 0; j < nx; j++) b[j] = -b[j];
        }
        if (in->force)
            for (int j = 0; j < nx; j++) b[j] += in->force[(size_t)r * (size_t)m->nforce + (size_t)(f->f0 + j)];
        size_t zr = (size_t)r * (size_t)m->nz + (size_t)f->z0;
        if (nz && at->hz > 0) {
            double zeta[NX] = {0};
            for (int j = 0; in->zbar && j < nz; j++) zeta[j] = in->zbar[zr + (size_t)j];
            states_transpose(nx, nz, at->hz, f_z, b, zeta);
            for (int j = 0; j < nz; j++) {
                b[nx + j] = at->hz * zeta[j];
                if (out->z) out->z[zr + (size_t)j] += zeta[j];
            }
        } else if (nz) {
            for (int j = 0; in->gz && j < nz; j++) b[nx + j] = in->gz[zr + (size_t)j];
            if (out->z) add_tmul(nx + nz, nz, f_z, b, out->z + zr);
        }
        memset(y, 0, sizeof *y * (size_t)nx);
        add_tmul(nx + nz, nx, f_x, b, y);
        slots_add(m, f->nslot, f->slot, y, out->x + (size_t)r * (size_t)m->nx);
        memset(y, 0, sizeof *y * (size_t)nx);
        add_tmul(nx + nz, nx, f_xd, b, y);
        slots_add(m, f->nslot, f->slot, y, out->xd + (size_t)r * (size_t)m->nx);
        if (np) add_tmul(nx + nz, np, ps->f_p, b, out->P + (size_t)r * (size_t)ps->nP + f->p);
        for (int j = 0; timed && j < nx + nz; j++) out->t[r] += b[j] * f_t[j];
    }
}

/* The numbers of a driven constraint are s, s', s'' at this time: back through the drive's tape. */
static void drive_adjoint(cst_pass *ps, const cst_constraint *c, const double bar[3], double *P, double *t)
{
    cst_system *s = ps->s;
    const cst_tape *d = c->drive;
    double *reg = s->reg, *b = s->reg + d->nreg;
    for (int k = 0; k < d->nchannel; k++) reg[k] = s->t;
    for (int k = 0; k < d->nnumber; k++) reg[d->nchannel + k] = s->P[c->p + k];
    cst_tape_eval(d, reg);
    memset(b, 0, sizeof *b * (size_t)d->nreg);
    for (int k = 0; k < 3; k++) b[d->out[k]] += bar[k];
    cst_tape_reverse(d, reg, b);
    for (int k = 0; k < d->nnumber; k++) P[c->p + k] += b[d->nchannel + k];
    for (int k = 0; t && k < d->nchannel; k++) *t += b[k]; /* its only channel is the time */
}


static int rows_get(const double *all, int r, int nrow, const cst_constraint *c, double *k)
{
    int any = 0;
    for (int i = 0; i < c->cls->nphi; i++) {
        k[i] = all ? all[(size_t)r * (size_t)nrow + (size_t)(c->row0 + i)] : 0;
        any |= k[i] != 0;
    }
    return any;
}

static void constraint_adjoint(cst_pass *ps, int i, const cst_pass_at *at, const cst_adjoint_in *in,
                               const cst_adjoint_out *out)
{
    cst_system *s = ps->s;
    const cst_model *m = s->m;
    const cst_constraint *c = &m->constraint.at[i];
    const cst_constraint_class *cls = c->cls;
    int nx = c->nx, np = c->drive ? 3 : c->np, nphi = cls->nphi;
    double x[NX], xd[NX], xa[NX], J[CST_MAX_PHI * NX], H[NX * NX], y[NX], g_x[NX], g_xd[NX], w[NX];
    double k0[CST_MAX_PHI], k1[CST_MAX_PHI], k2[CST_MAX_PHI], d_t[NX + 3];
    cst_local l;
    cst_local_constraint(s, i, at->mem, &l, x, xd);
    if (at->xa) slots_get(m, c->nslot, c->slot, at->xa, xa);
    int timed = out->t && cls->outputs_t && cls->outputs_t(&l, d_t);
    cls->phi_x(&l, J);
    if (in->w && at->lambda) { /* phi_x^T lambda, for the weights */
        memset(y, 0, sizeof *y * (size_t)nx);
        add_tmul(nphi, nx, J, at->lambda + c->row0, y);
        slots_add(m, c->nslot, c->slot, y, s->fx);
    }
    for (int r = 0; r < in->nrhs; r++) {
        double *xbar = out->x + (size_t)r * (size_t)m->nx, *P = out->P + (size_t)r * (size_t)ps->nP;
        double drive[3] = {0}, *p = c->drive ? drive : P + c->p, *P1 = ps->f_p, *P2 = ps->f_p + (size_t)nx * (size_t)np;
        memset(y, 0, sizeof *y * (size_t)nx);
        memset(w, 0, sizeof *w * (size_t)nx);
        if (in->wx) slots_get(m, c->nslot, c->slot, in->wx + (size_t)r * (size_t)m->nx, w);
        for (int j = 0; in->react && j < nx; j++) w[j] -= in->react[(size_t)r * (size_t)m->nreact + (size_t)(c->f0 + j)];
        if (at->lambda && !cls->linear && (in->wx || in->react)) {
            const double *lambda = at->lambda + c->row0;
            cls->hess(&l, lambda, H);
            add_mul(nx, nx, H, w, y);
            if (np) cls->force_p(&l, lambda, P1), add_tmul(nx, np, P1, w, p);
        }
        if (rows_get(in->k0, r, m->nrow, c, k0)) {
            add_tmul(nphi, nx, J, k0, y);
            if (np) cls->phi_p(&l, P1), add_tmul(nphi, np, P1, k0, p);
        }
        if (rows_get(in->k1, r, m->nrow, c, k1)) {
            double v[NX] = {0};
            if (!cls->linear) {
                cls->hess(&l, k1, H);
                add_mul(nx, nx, H, xd, y);
                cls->phi_t_lin(&l, k1, g_x, np ? P2 : NULL);
                for (int j = 0; j < nx; j++) y[j] += g_x[j];
            }
            if (np) {
                cls->force_p(&l, k1, P1), add_tmul(nx, np, P1, xd, p);
                for (int j = 0; j < np; j++) p[j] += P2[j];
            }
            add_tmul(nphi, nx, J, k1, v);
            slots_add(m, c->nslot, c->slot, v, out->xd + (size_t)r * (size_t)m->nx);
        }
        if (rows_get(in->k2, r, m->nrow, c, k2)) {
            double v[NX] = {0};
            if (!cls->linear) {
                cls->hess(&l, k2, H);
                add_mul(nx, nx, H, xa, y);
                cls->gamma_lin(&l, k2, g_x, g_xd, np ? P2 : NULL);
                for (int j = 0; j < nx; j++) y[j] += g_x[j];
                slots_add(m, c->nslot, c->slot, g_xd, out->xd + (size_t)r * (size_t)m->nx);
            }
            if (np) {
                cls->force_p(&l, k2, P1), add_tmul(nx, np, P1, xa, p);
                for (int j = 0; j < np; j++) p[j] += P2[j];
            }
            add_tmul(nphi, nx, J, k2, v);
            slots_add(m, c->nslot, c->slot, v, out->xa + (size_t)r * (size_t)m->nx);
        }
        slots_add(m, c->nslot, c->slot, y, xbar);
        if (c->drive) drive_adjoint(ps, c, drive, P, out->t ? out->t + r : NULL);
        if (timed) {
            double sum = k0[0] * d_t[0] + k1[0] * d_t[nx + 1] + k2[0] * d_t[nx + 2];
            double lambda = at->lambda && (in->wx || in->react) ? at->lambda[c->row0] : 0;
            for (int j = 0; j < nx; j++) sum += d_t[1 + j] * (lambda * w[j] + k1[0] * xd[j] + (at->xa ? k2[0] * xa[j] : 0));
            out->t[r] += sum;
        }
    }
}

/* Marker weights and ground offsets: m = o + sum w_k b_k read for x, x', xa and wx alike. fx: phi_x^T lambda - f */
static void weights_adjoint(cst_pass *ps, const cst_pass_at *at, const cst_adjoint_in *in, const cst_adjoint_out *out,
                            const double *fx)
{
    const cst_model *m = ps->s->m;
    for (int r = 0; r < in->nrhs; r++) {
        const double *x = out->x + (size_t)r * (size_t)m->nx, *xd = out->xd + (size_t)r * (size_t)m->nx;
        const double *xa = out->xa ? out->xa + (size_t)r * (size_t)m->nx : NULL;
        const double *w = in->w ? in->w + (size_t)r * (size_t)m->nq : NULL;
        double *P = out->P + (size_t)r * (size_t)ps->nP;
        for (int i = 0; i < m->slot.n; i++) {
            const cst_slot *k = &m->slot.at[i];
            int x0 = k->x0;
            if (k->body == CST_GROUND)
                for (int c = 0; c < 3; c++) P[k->o + c] += x[x0 + c];
            if (k->body == CST_GROUND || k->dim == 1) continue;
            size_t q0 = (size_t)(m->body.at[k->body].q0 + 3 * k->vec);
            for (int j = 0; j < k->n; j++, q0 += 3) {
                double y = v3_dot(x + x0, at->q + q0) + v3_dot(xd + x0, at->v + q0);
                if (xa && at->a) y += v3_dot(xa + x0, at->a + q0);
                if (w) y += v3_dot(fx + x0, w + q0);
                P[k->w + j] += y;
            }
        }
    }
}

void cst_adjoint_slots(cst_pass *ps, const cst_pass_at *at, int nrhs, const double *w, const double *fx,
                       const cst_adjoint_out *out)
{
    const cst_adjoint_in in = {.nrhs = nrhs, .w = w};
    weights_adjoint(ps, at, &in, out, fx);
    for (int r = 0; r < nrhs; r++) {
        size_t x0 = (size_t)r * (size_t)ps->s->m->nx, q0 = (size_t)r * (size_t)ps->s->m->nq;
        cst_slots_transpose(ps->s, out->x + x0, out->q + q0);
        cst_slots_transpose(ps->s, out->xd + x0, out->v + q0);
        if (out->a) cst_slots_transpose(ps->s, out->xa + x0, out->a + q0);
    }
}

void cst_adjoint_pass(cst_pass *ps, const cst_pass_at *at, const cst_adjoint_in *in, const cst_adjoint_out *out)
{
    cst_system *s = ps->s;
    const cst_model *m = s->m;
    size_t n = sizeof(double) * (size_t)(in->nrhs * m->nx);
    memset(out->x, 0, n), memset(out->xd, 0, n);
    if (out->xa) memset(out->xa, 0, n);
    for (int i = 0; at->forces && i < m->force.n; i++) force_adjoint(ps, i, at, in, out);
    if (in->w) memset(s->fx, 0, sizeof *s->fx * (size_t)m->nx);
    if (in->w && at->forces) cst_forces_add(s, at->z, at->mem, s->fx, NULL, NULL);
    for (int i = 0; i < m->constraint.n; i++)
        if (m->constraint.at[i].phases & at->phases) constraint_adjoint(ps, i, at, in, out);
    weights_adjoint(ps, at, in, out, s->fx);
    for (int r = 0; r < in->nrhs; r++) {
        size_t x0 = (size_t)r * (size_t)m->nx, q0 = (size_t)r * (size_t)m->nq;
        if (out->q) cst_slots_transpose(s, out->x + x0, out->q + q0);
        if (out->v) cst_slots_transpose(s, out->xd + x0, out->v + q0);
        if (out->a) cst_slots_transpose(s, out->xa + x0, out->a + q0);
    }
}

void cst_adjoint_react(cst_pass *ps, const cst_pass_at *at, int nrhs, const double *react, double *lbar)
{
    const cst_model *m = ps->s->m;
    double x[NX], xd[NX], J[CST_MAX_PHI * NX];
    for (int i = 0; i < m->constraint.n; i++) {
        const cst_constraint *c = &m->constraint.at[i];
        cst_local l;
        if (!(c->phases & at->phases)) continue;
        cst_local_constraint(ps->s, i, at->mem, &l, x, xd);
        c->cls->phi_x(&l, J);
        for (int r = 0; r < nrhs; r++) {
            const double *b = react + (size_t)r * (size_t)m->nreact + c->f0;
            double *y = lbar + (size_t)r * (size_t)m->nrow + c->row0;
            for (int k = 0; k < c->cls->nphi; k++)
                for (int j = 0; j < c->nx; j++) y[k] -= J[k * c->nx + j] * b[j];
        }
    }
}
