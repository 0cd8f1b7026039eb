/* SPDX-License-Identifier: MIT */
#include <assert.h>
#include <string.h>

#include "linalg/dense.h"
#include "system/pass.h"

#define NX CST_MAX_NX

/* dx = do + sum dw_k b_k + w_k db_k; base or change may be NULL */
static void slots_change(const cst_system *s, const double *base, const double *change,
                         const double *Pdot, int offset, double *dx)
{
    const cst_model *m = s->m;
    memset(dx, 0, sizeof *dx * (size_t)m->nx);
    if (change) cst_slots_apply(s, change, 0, dx);
    for (int i = 0; i < m->slot.n; i++) {
        const cst_slot *k = &m->slot.at[i];
        double *y = dx + k->x0;
        if (k->body == CST_GROUND) {
            for (int c = 0; offset && c < 3; c++) y[c] += Pdot[k->o + c];
        } else if (k->dim == 3) {
            const double *b = base + m->body.at[k->body].q0 + 3 * k->vec;
            for (int j = 0; j < k->n; j++) v3_axpy(Pdot[k->w + j], b + 3 * j, y);
        }
    }
}

/* r += slots^T df + (d slots)^T fx */
void cst_slots_transpose_change(const cst_system *s, const double *df, const double *fx,
                                const double *Pdot, double *r)
{
    const cst_model *m = s->m;
    cst_slots_transpose(s, df, r);
    for (int i = 0; i < m->slot.n; i++) {
        const cst_slot *k = &m->slot.at[i];
        if (k->body == CST_GROUND || k->dim == 1) continue;
        double *b = r + m->body.at[k->body].q0 + 3 * k->vec;
        for (int j = 0; j < k->n; j++) v3_axpy(Pdot[k->w + j], fx + k->x0, b + 3 * j);
    }
}

static void get(const cst_model *m, int nslot, const int *slot, const double *from, double *to)
{
    for (int k = 0; k < nslot; k++) {
        const cst_slot *l = &m->slot.at[slot[k]];
        for (int c = 0; c < l->dim; c++) *to++ = from[l->x0 + c];
    }
}

static void put(const cst_model *m, int nslot, const int *slot, double sign, const double *from,
                double *to)
{
    for (int k = 0; k < nslot; k++) {
        const cst_slot *l = &m->slot.at[slot[k]];
        for (int c = 0; c < l->dim; c++) to[l->x0 + c] += sign * *from++;
    }
}

static void mul(int nrow, int ncol, const double *A, const double *x, double *y) /* y += A x */
{
    for (int i = 0; i < nrow; i++)
        for (int j = 0; j < ncol; j++) y[i] += A[i * ncol + j] * x[j];
}

/* y += A dp. Numbers that do not change are skipped: the derivative with respect to one number may
 * not exist although all others do, as that of a^n with respect to n where a < 0. */
static void mul_numbers(int nrow, int np, const double *A, const double *dp, double *y)
{
    for (int j = 0; j < np; j++)
        for (int i = 0; i < nrow && dp[j] != 0; i++) y[i] += A[i * np + j] * dp[j];
}

static double dot_numbers(int np, const double *a, const double *dp)
{
    double y = 0;
    mul_numbers(1, np, a, dp, &y);
    return y;
}

static double dot(int n, const double *a, const double *b)
{
    double y = 0;
    for (int i = 0; i < n; i++) y += a[i] * b[i];
    return y;
}

static void force_tangent(cst_pass *ps, int i, const cst_pass_at *at, const cst_tangent_in *in,
                          const cst_tangent_out *out, double *dfx)
{
    cst_system *s = ps->s;
    const cst_model *m = s->m;
    const cst_force *f = &m->force.at[i];
    int nx = f->nx, nz = f->nz, np = f->np;
    double x[NX], xd[NX], f_x[2 * NX * NX], f_xd[2 * NX * NX], f_z[2 * NX * NX], A[NX * NX],
        d[2 * NX] = {0}, dx[NX], dz[NX], f_t[2 * NX];
    cst_local l;
    cst_local_force(s, i, at->z, at->mem, &l, x, xd);
    f->cls->partials(&l, f_x, f_xd, nz ? f_z : NULL, np ? ps->f_p : NULL);
    get(m, f->nslot, f->slot, out->x, dx);
    mul(nx + nz, nx, f_x, dx, d);
    get(m, f->nslot, f->slot, out->xd, dx);
    mul(nx + nz, nx, f_xd, dx, d);
    if (np) mul_numbers(nx + nz, np, ps->f_p, in->P + f->p, d);
    if (in->t != 0 && f->cls->partial_t && f->cls->partial_t(&l, f_t))
        for (int j = 0; j < nx + nz; j++) d[j] += f_t[j] * in->t;
    if (nz) {
        for (int j = 0; j < nz; j++) dz[j] = in->z ? in->z[f->z0 + j] : 0;
        if (at->hz > 0) { /* (1 - hz g_z) dz = dz_old + hz (g_x dx + ..) */
            for (int j = 0; j < nz; j++) {
                for (int k = 0; k < nz; k++)
                    A[j * nz + k] = (j == k) - at->hz * f_z[(nx + j) * nz + k];
                dz[j] += at->hz * d[nx + j];
            }
            int regular = cst_dense_solve(nz, A, dz);
            assert(regular);
            (void)regular;
            if (out->z) memcpy(out->z + f->z0, dz, sizeof *dz * (size_t)nz);
        }
        mul(nx + nz, nz, f_z, dz, d);
        if (out->z && !(at->hz > 0)) memcpy(out->z + f->z0, d + nx, sizeof *d * (size_t)nz);
    }
    put(m, f->nslot, f->slot, -1, d, dfx);
    if (out->force) memcpy(out->force + f->f0, d, sizeof *d * (size_t)nx);
}

/* Changes of s, s', s'' of a driven constraint. */
static void drive_tangent(cst_pass *ps, int i, const double *mem, const double *Pdot, double dt,
                          double ds[3])
{
    const cst_constraint *c = &ps->s->m->constraint.at[i];
    const cst_tape *d = c->drive;
    double *reg = cst_drive_eval(ps->s, i, mem), *dot_ = reg + d->nreg;
    for (int k = 0; k < d->nchannel; k++) dot_[k] = d->channel[k].kind == CST_CH_TIME ? dt : 0;
    for (int k = 0; k < d->nnumber; k++) dot_[d->nchannel + k] = Pdot[c->p + k];
    cst_tape_forward(d, reg, dot_);
    for (int k = 0; k < 3; k++) ds[k] = dot_[d->out[k]];
}

/* Without numbers, time and curvature: only dphi = phi_x dx, dphi' = phi_x dx', dphi'' = phi_x dxa
 * are left */
static void linear_tangent(cst_pass *ps, int i, const cst_pass_at *at, const cst_tangent_out *out)
{
    cst_system *s = ps->s;
    const cst_model *m = s->m;
    const cst_constraint *c = &m->constraint.at[i];
    double x[NX], xd[NX], dx[NX], J[CST_MAX_PHI * NX];
    const struct {
        double *rows, *changes;
    } level[] = {{out->phi, out->x}, {out->phi1, out->xd}, {out->phi2, out->xa}};
    cst_local l;
    cst_local_constraint(s, i, at->mem, 0, &l, x, xd);
    c->cls->phi_x(&l, J);
    for (int k = 0; k < 3; k++) {
        if (!level[k].rows) continue;
        get(m, c->nslot, c->slot, level[k].changes, dx);
        for (int j = 0; j < c->cls->nphi; j++)
            level[k].rows[c->row0 + j] = dot(c->nx, J + j * c->nx, dx);
    }
    if (out->react && at->lambda) memset(out->react + c->f0, 0, sizeof *out->react * (size_t)c->nx);
}

static void constraint_tangent(cst_pass *ps, int i, const cst_pass_at *at, const cst_tangent_in *in,
                               const cst_tangent_out *out, double *dfx)
{
    cst_system *s = ps->s;
    const cst_model *m = s->m;
    const cst_constraint *c = &m->constraint.at[i];
    const cst_constraint_class *cls = c->cls;
    int nx = c->nx, np = c->drive ? 3 : c->np, nphi = cls->nphi;
    double x[NX], xd[NX], xa[NX] = {0}, dx[NX], dxd[NX], dxa[NX] = {0}, J[CST_MAX_PHI * NX],
                          H[NX * NX], y[NX] = {0};
    double g_x[NX], g_xd[NX], d_t[NX + 3], ds[3], *P1 = ps->f_p,
                                                  *P2 = ps->f_p + (size_t)nx * (size_t)np;
    cst_local l;
    const double *dp = in->P + c->p;
    if (c->drive) drive_tangent(ps, i, at->mem, in->P, in->t, ds), dp = ds;
    cst_local_constraint(s, i, at->mem, 1, &l, x, xd);
    get(m, c->nslot, c->slot, out->x, dx);
    get(m, c->nslot, c->slot, out->xd, dxd);
    if (at->xa) get(m, c->nslot, c->slot, at->xa, xa), get(m, c->nslot, c->slot, out->xa, dxa);
    int timed = in->t != 0 && cls->outputs_t && cls->outputs_t(&l, d_t);
    cls->phi_x(&l, J);
    if (at->lambda) { /* d(phi_x^T lambda) */
        for (int j = 0; timed && j < nx; j++) y[j] += at->lambda[c->row0] * d_t[1 + j] * in->t;
        cls->hess(&l, at->lambda + c->row0, H);
        mul(nx, nx, H, dx, y);
        if (np) cls->force_p(&l, at->lambda + c->row0, P1), mul_numbers(nx, np, P1, dp, y);
        put(m, c->nslot, c->slot, 1, y, dfx);
        for (int j = 0; out->react && j < nx; j++) out->react[c->f0 + j] = -y[j];
    }
    if (out->phi) {
        double *phi = out->phi + c->row0;
        for (int k = 0; k < nphi; k++) phi[k] = dot(nx, J + k * nx, dx);
        if (np) cls->phi_p(&l, P1), mul_numbers(nphi, np, P1, dp, phi);
        if (timed) phi[0] += d_t[0] * in->t;
    }
    for (int k = 0; (out->phi1 || out->phi2) && k < nphi;
         k++) { /* row by row: w is a unit vector */
        double w[CST_MAX_PHI] = {0}, v[NX] = {0};
        w[k] = 1;
        cls->hess(&l, w, H);
        mul(nx, nx, H, dx, v);
        if (np) cls->force_p(&l, w, P1), mul_numbers(nx, np, P1, dp, v); /* v = d(phi_k,x) */
        for (int j = 0; timed && j < nx; j++) v[j] += d_t[1 + j] * in->t;
        if (out->phi1) {
            cls->phi_t_lin(&l, w, g_x, np ? P2 : NULL);
            out->phi1[c->row0 + k] = dot(nx, v, xd) + dot(nx, J + k * nx, dxd) + dot(nx, g_x, dx) +
                                     (np ? dot_numbers(np, P2, dp) : 0) +
                                     (timed ? d_t[nx + 1] * in->t : 0);
        }
        if (out->phi2) {
            cls->gamma_lin(&l, w, g_x, g_xd, np ? P2 : NULL);
            out->phi2[c->row0 + k] = dot(nx, v, xa) + dot(nx, J + k * nx, dxa) + dot(nx, g_x, dx) +
                                     dot(nx, g_xd, dxd) + (np ? dot_numbers(np, P2, dp) : 0) +
                                     (timed ? d_t[nx + 2] * in->t : 0);
        }
    }
}

void cst_tangent_pass(cst_pass *ps, const cst_pass_at *at, const cst_tangent_in *in,
                      const cst_tangent_out *out)
{
    cst_system *s = ps->s;
    const cst_model *m = s->m;
    double *dfx = ps->dfx;
    memset(dfx, 0, sizeof *dfx * (size_t)m->nx);
    slots_change(s, at->q, in->q, in->P, 1, out->x);
    slots_change(s, at->v, in->v, in->P, 0, out->xd);
    if (at->a) slots_change(s, at->a, in->a, in->P, 0, out->xa);
    for (int i = 0; at->forces && i < m->force.n; i++) force_tangent(ps, i, at, in, out, dfx);
    for (int i = 0; i < m->constraint.n; i++)
        if (!(m->constraint.at[i].phases & at->phases))
            continue;
        else if (m->constraint.at[i].cls->linear)
            linear_tangent(ps, i, at, out);
        else
            constraint_tangent(ps, i, at, in, out, dfx);
    if (!out->r) return;
    memset(s->fx, 0, sizeof *s->fx * (size_t)m->nx);
    if (at->forces) cst_forces_add(s, at->z, at->mem, s->fx, NULL, NULL);
    if (at->lambda) cst_reactions_add(s, at->mem, at->lambda, at->phases, s->fx, NULL);
    cst_slots_transpose_change(s, dfx, s->fx, in->P, out->r);
}
