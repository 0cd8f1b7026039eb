/* SPDX-License-Identifier: MIT */
#include <assert.h>
#include <string.h>

#include "linalg/dense.h"
#include "linalg/pair.h"
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
static void states_transpose(int nx, int nz, double hz, const double *f_z, const double *fb,
                             double *zeta)
{
    double A[NX * NX];
    add_tmul(nx, nz, f_z, fb, zeta);
    for (int i = 0; i < nz; i++)
        for (int j = 0; j < nz; j++) A[j * nz + i] = (i == j) - hz * f_z[(nx + i) * nz + j];
    int regular = cst_dense_solve(nz, A, zeta);
    assert(regular);
    (void)regular;
}

/* b: weights of (f, g) for right-hand side r, those of g left at 0 */
static void force_weights(const cst_force *f, const cst_reach *reach, const cst_model *m,
                          const cst_adjoint_in *in, int r, double *b)
{
    memset(b, 0, sizeof *b * (size_t)(f->nx + f->nz));
    if (in->wx) {
        cst_reach_get(reach, in->wx + (size_t)r * (size_t)m->nx, b);
        for (int j = 0; j < f->nx; j++) b[j] = -b[j];
    }
    if (in->force)
        for (int j = 0; j < f->nx; j++)
            b[j] += in->force[(size_t)r * (size_t)m->nforce + (size_t)(f->f0 + j)];
}

/* A class that knows its transposed products, without states that are implicit in the step */
static void force_adjoint_own(cst_pass *ps, int i, const cst_pass_at *at, const cst_adjoint_in *in,
                              const cst_adjoint_out *out)
{
    cst_system *s = ps->s;
    const cst_model *m = s->m;
    const cst_force *f = &m->force.at[i];
    const cst_reach *reach = &s->force_reach[i];
    double x[NX], xd[NX], b[2 * NX], y[NX], yd[NX], yz[NX], f_t[2 * NX];
    cst_local l;
    cst_local_force(s, i, at->z, at->mem, &l, x, xd);
    int timed = out->t && f->cls->partial_t && f->cls->partial_t(&l, f_t);
    for (int r = 0; r < in->nrhs; r++) {
        size_t x0 = (size_t)r * (size_t)m->nx, z0 = (size_t)r * (size_t)m->nz + (size_t)f->z0;
        force_weights(f, reach, m, in, r, b);
        for (int j = 0; in->gz && j < f->nz; j++) b[f->nx + j] = in->gz[z0 + (size_t)j];
        f->cls->transposed(&l, b, y, yd, yz, out->P + (size_t)r * (size_t)ps->nP + f->p);
        cst_reach_add(reach, 1, y, out->x + x0);
        cst_reach_add(reach, 1, yd, out->xd + x0);
        for (int j = 0; out->z && j < f->nz; j++) out->z[z0 + (size_t)j] += yz[j];
        for (int j = 0; timed && j < f->nx + f->nz; j++) out->t[r] += b[j] * f_t[j];
    }
}

static void force_adjoint(cst_pass *ps, int i, const cst_pass_at *at, const cst_adjoint_in *in,
                          const cst_adjoint_out *out)
{
    cst_system *s = ps->s;
    const cst_model *m = s->m;
    const cst_force *f = &m->force.at[i];
    const cst_reach *reach = &s->force_reach[i];
    int nx = f->nx, nz = f->nz, np = f->np;
    double x[NX], xd[NX], f_x[2 * NX * NX], f_xd[2 * NX * NX], f_z[2 * NX * NX], b[2 * NX], y[NX],
        f_t[2 * NX];
    cst_local l;
    if (f->cls->transposed && !(nz && at->hz > 0)) {
        force_adjoint_own(ps, i, at, in, out);
        return;
    }
    cst_local_force(s, i, at->z, at->mem, &l, x, xd);
    f->cls->partials(&l, f_x, f_xd, nz ? f_z : NULL, np ? ps->f_p : NULL);
    int timed = out->t && f->cls->partial_t && f->cls->partial_t(&l, f_t);
    for (int r = 0; r < in->nrhs; r++) {
        force_weights(f, reach, m, in, r, b);
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
        cst_reach_add(reach, 1, y, out->x + (size_t)r * (size_t)m->nx);
        memset(y, 0, sizeof *y * (size_t)nx);
        add_tmul(nx + nz, nx, f_xd, b, y);
        cst_reach_add(reach, 1, y, out->xd + (size_t)r * (size_t)m->nx);
        if (np) add_tmul(nx + nz, np, ps->f_p, b, out->P + (size_t)r * (size_t)ps->nP + f->p);
        for (int j = 0; timed && j < nx + nz; j++) out->t[r] += b[j] * f_t[j];
    }
}

/* The numbers of a driven constraint are s, s', s'' at this time: back through the drive's tape. */
static void drive_adjoint(cst_pass *ps, int i, const double *mem, const double bar[3], double *P,
                          double *t)
{
    const cst_constraint *c = &ps->s->m->constraint.at[i];
    const cst_tape *d = c->drive;
    double *reg = cst_drive_eval(ps->s, i, mem), *b = reg + d->nreg;
    memset(b, 0, sizeof *b * (size_t)d->nreg);
    for (int k = 0; k < 3; k++) b[d->out[k]] += bar[k];
    cst_tape_reverse(d, reg, b);
    for (int k = 0; k < d->nnumber; k++) P[c->p + k] += b[d->nchannel + k];
    for (int k = 0; t && k < d->nchannel; k++)
        if (d->channel[k].kind == CST_CH_TIME) *t += b[k];
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

/* A quadratic row, not driven by a tape: its class knows all bars at once */
CST_INLINE void quadratic_of(int nslot, cst_pass *ps, int i, const cst_pass_at *at,
                             const cst_adjoint_in *in, const cst_adjoint_out *out)
{
    cst_system *s = ps->s;
    const cst_model *m = s->m;
    const cst_seat *c = &s->seat[i];
    double x[NX], xd[NX], xa[NX], d[NX], J[NX], y[NX], yd[NX];
    const int nx = nslot ? 3 * nslot : c->nx;
    double lambda = at->lambda ? at->lambda[c->row0] : 0;
    cst_local l;
    cst_local_constraint_of(nslot, s, i, at->mem, in->k1 || in->k2, &l, x, xd);
    if (in->k2) cst_seat_get_of(nslot, s, i, at->xa, xa);
    for (int r = 0; r < in->nrhs; r++) {
        size_t row = (size_t)r * (size_t)m->nrow + (size_t)c->row0, x0 = (size_t)r * (size_t)m->nx;
        double *P = out->P + (size_t)r * (size_t)ps->nP, drive[3] = {0};
        const double k[3] = {in->k0 ? in->k0[row] : 0, in->k1 ? in->k1[row] : 0,
                             in->k2 ? in->k2[row] : 0};
        if (in->wx)
            cst_seat_get_of(nslot, s, i, in->wx + x0, d);
        else
            memset(d, 0, sizeof *d * (size_t)nx);
        if (in->react) {
            const double *own = in->react + (size_t)r * (size_t)m->nreact + m->constraint.at[i].f0;
            for (int j = 0; j < nx; j++) d[j] -= own[j];
        }
        for (int j = 0; j < nx; j++) d[j] *= lambda;
        c->cls->bars(&l, k, d, xa, J, y, yd, c->driven ? drive : P + c->p);
        cst_seat_add_of(nslot, s, i, y, out->x + x0);
        if (k[1] != 0 || k[2] != 0) cst_seat_add_of(nslot, s, i, yd, out->xd + x0);
        if (k[2] != 0) cst_seat_add_times(nslot, s, i, k[2], J, out->xa + x0);
        /* phi_x^T lambda, for the weights */
        if (r == 0 && in->w && !in->fx && at->lambda)
            cst_seat_add_times(nslot, s, i, lambda, J, s->fx);
        if (c->driven) drive_adjoint(ps, i, at->mem, drive, P, out->t ? out->t + r : NULL);
    }
}

static void quadratic_adjoint(cst_pass *ps, int i, const cst_pass_at *at, const cst_adjoint_in *in,
                              const cst_adjoint_out *out)
{
    int nslot = ps->s->seat[i].nslot;
    if (nslot == 2)
        quadratic_of(2, ps, i, at, in, out);
    else
        quadratic_of(nslot, ps, i, at, in, out);
}

/* bars (one section per right-hand side) += phi_x^T k of a constraint whose phi_x is constant */
CST_INLINE void linear_add(int nslot, const cst_system *s, int i, const cst_local *l,
                           const double *k, int r, double *bars)
{
    const cst_seat *c = &s->seat[i];
    double y[NX], phi[CST_MAX_PHI];
    c->cls->react(l, k + (size_t)r * (size_t)s->m->nrow + c->row0, phi, y);
    cst_seat_add_of(nslot, s, i, y, bars + (size_t)r * (size_t)s->m->nx);
}

/* Without numbers, time and curvature:  S = .. + k0.phi + k1.phi_x x' + k2.phi_x xa */
CST_INLINE void linear_of(int nslot, cst_system *s, int i, const cst_pass_at *at,
                          const cst_adjoint_in *in, const cst_adjoint_out *out)
{
    const cst_local l = {.nx = s->seat[i].nx, .x = s->x}; /* phi is not wanted: any x */
    if (in->w && !in->fx && at->lambda) linear_add(nslot, s, i, &l, at->lambda, 0, s->fx);
    for (int r = 0; r < in->nrhs; r++) {
        if (in->k0) linear_add(nslot, s, i, &l, in->k0, r, out->x);
        if (in->k1) linear_add(nslot, s, i, &l, in->k1, r, out->xd);
        if (in->k2) linear_add(nslot, s, i, &l, in->k2, r, out->xa);
    }
}

static void linear_adjoint(cst_pass *ps, int i, const cst_pass_at *at, const cst_adjoint_in *in,
                           const cst_adjoint_out *out)
{
    int nslot = ps->s->seat[i].nslot;
    if (nslot == 2)
        linear_of(2, ps->s, i, at, in, out);
    else
        linear_of(nslot, ps->s, i, at, in, out);
}

static void constraint_adjoint(cst_pass *ps, int i, const cst_pass_at *at, const cst_adjoint_in *in,
                               const cst_adjoint_out *out)
{
    cst_system *s = ps->s;
    const cst_model *m = s->m;
    const cst_constraint *c = &m->constraint.at[i];
    const cst_constraint_class *cls = c->cls;
    const cst_reach *reach = &s->constraint_reach[i];
    int nx = c->nx, np = c->drive ? 3 : c->np, nphi = cls->nphi;
    double x[NX], xd[NX], xa[NX], J[CST_MAX_PHI * NX], H[NX * NX], y[NX], g_x[NX], g_xd[NX], w[NX];
    double k0[CST_MAX_PHI], k1[CST_MAX_PHI], k2[CST_MAX_PHI], d_t[NX + 3];
    cst_local l;
    cst_local_constraint(s, i, at->mem, 1, &l, x, xd);
    if (at->xa) cst_reach_get(reach, at->xa, xa);
    int timed = out->t && cls->outputs_t && cls->outputs_t(&l, d_t);
    cls->phi_x(&l, J);
    if (in->w && !in->fx && at->lambda) { /* phi_x^T lambda, for the weights */
        memset(y, 0, sizeof *y * (size_t)nx);
        add_tmul(nphi, nx, J, at->lambda + c->row0, y);
        cst_reach_add(reach, 1, y, s->fx);
    }
    for (int r = 0; r < in->nrhs; r++) {
        double *xbar = out->x + (size_t)r * (size_t)m->nx, *P = out->P + (size_t)r * (size_t)ps->nP;
        double drive[3] = {0}, *p = c->drive ? drive : P + c->p, *P1 = ps->f_p,
               *P2 = ps->f_p + (size_t)nx * (size_t)np;
        memset(y, 0, sizeof *y * (size_t)nx);
        memset(w, 0, sizeof *w * (size_t)nx);
        if (in->wx) cst_reach_get(reach, in->wx + (size_t)r * (size_t)m->nx, w);
        for (int j = 0; in->react && j < nx; j++)
            w[j] -= in->react[(size_t)r * (size_t)m->nreact + (size_t)(c->f0 + j)];
        if (at->lambda && (in->wx || in->react)) {
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
            cls->hess(&l, k1, H);
            add_mul(nx, nx, H, xd, y);
            cls->phi_t_lin(&l, k1, g_x, np ? P2 : NULL);
            for (int j = 0; j < nx; j++) y[j] += g_x[j];
            if (np) {
                cls->force_p(&l, k1, P1), add_tmul(nx, np, P1, xd, p);
                for (int j = 0; j < np; j++) p[j] += P2[j];
            }
            add_tmul(nphi, nx, J, k1, v);
            cst_reach_add(reach, 1, v, out->xd + (size_t)r * (size_t)m->nx);
        }
        if (rows_get(in->k2, r, m->nrow, c, k2)) {
            double v[NX] = {0};
            cls->hess(&l, k2, H);
            add_mul(nx, nx, H, xa, y);
            cls->gamma_lin(&l, k2, g_x, g_xd, np ? P2 : NULL);
            for (int j = 0; j < nx; j++) y[j] += g_x[j];
            cst_reach_add(reach, 1, g_xd, out->xd + (size_t)r * (size_t)m->nx);
            if (np) {
                cls->force_p(&l, k2, P1), add_tmul(nx, np, P1, xa, p);
                for (int j = 0; j < np; j++) p[j] += P2[j];
            }
            add_tmul(nphi, nx, J, k2, v);
            cst_reach_add(reach, 1, v, out->xa + (size_t)r * (size_t)m->nx);
        }
        cst_reach_add(reach, 1, y, xbar);
        if (c->drive) drive_adjoint(ps, i, at->mem, drive, P, out->t ? out->t + r : NULL);
        if (timed) {
            double sum = k0[0] * d_t[0] + k1[0] * d_t[nx + 1] + k2[0] * d_t[nx + 2];
            double lambda = at->lambda && (in->wx || in->react) ? at->lambda[c->row0] : 0;
            for (int j = 0; j < nx; j++)
                sum += d_t[1 + j] * (lambda * w[j] + k1[0] * xd[j] + (at->xa ? k2[0] * xa[j] : 0));
            out->t[r] += sum;
        }
    }
}

typedef struct marked {
    const double *read, *bar;
    double *to;
} marked; /* ambient values, bars of their slots, bars of the values */

/* A marker m = sum_k w_k b_k over nb vectors, read for q, v, a and the virtual displacement alike:
 *     w_k_bar += sum m_bar . b_k,     b_k_bar += w_k m_bar */
CST_INLINE void marker_adjoint(const cst_marker *k, int nb, int n, const marked *of,
                               const double *w, double *wbar)
{
    cst_pair sum[CST_MAX_NU];
    double third[CST_MAX_NU];
    for (int j = 0; j < nb; j++) sum[j] = CST_BOTH(0), third[j] = 0;
    for (int i = 0; i < n; i++) {
        const double *b = of[i].read + k->q, *y = of[i].bar + k->x;
        if (cst_three_zeros(y)) continue;
        cst_pair y01 = CST_READ_PAIR(y);
        double y2 = y[2];
        for (int j = 0; j < nb; j++)
            sum[j] += y01 * CST_READ_PAIR(b + 3 * j), third[j] += y2 * b[3 * j + 2];
        if (!of[i].to) continue;
        double *to = of[i].to + k->q;
        for (int j = 0; j < nb; j++)
            CST_PAIR(to + 3 * j) += CST_BOTH(w[j]) * y01, to[3 * j + 2] += w[j] * y2;
    }
    for (int j = 0; j < nb; j++) wbar[j] += sum[j][0] + sum[j][1] + third[j];
}

/* These markers, with n of their readings, a constant */
CST_INLINE void some_markers(int n, const cst_marker *k, const cst_marker *end,
                             const marked *readings, const double *weights, double *P)
{
    marked of[4];
    for (int i = 0; i < n; i++) of[i] = readings[i];
    for (; k < end; k++) {
        const double *w = weights + k->w;
        if (k->n == 4)
            marker_adjoint(k, 4, n, of, w, P + k->w); /* a point of a rigid body */
        else if (k->n == 3)
            marker_adjoint(k, 3, n, of, w, P + k->w); /* a direction */
        else if (k->n)
            marker_adjoint(k, k->n, n, of, w, P + k->w);
        else /* a scalar */
            for (int i = 0; i < n; i++)
                if (of[i].to) of[i].to[k->q] += of[i].bar[k->x];
    }
}

/* From bars of the slots to those of numbers and of q, v, a. fx: phi_x^T lambda - f, bars of the
 * virtual displacement's slots */
static void markers_adjoint(cst_pass *ps, const cst_pass_at *at, const cst_adjoint_in *in,
                            const cst_adjoint_out *out, const double *fx)
{
    const cst_system *s = ps->s;
    const cst_model *m = s->m;
    const cst_marker *first = s->marker, *end = first + s->nmarker;
    const cst_marker *rated = in->more || in->k1 || in->k2
                                  ? end
                                  : first + s->nrated; /* markers behind have no bars of rates */
    for (int r = 0; r < in->nrhs; r++) {
        size_t x0 = (size_t)r * (size_t)m->nx, q0 = (size_t)r * (size_t)m->nq;
        const double *x = out->x + x0;
        double *P = out->P + (size_t)r * (size_t)ps->nP;
        marked of[4];
        int n = 0;
        of[n++] = (marked){at->q, x, out->q ? out->q + q0 : NULL};
        if (in->w) of[n++] = (marked){in->w + q0, fx, NULL};
        of[n++] = (marked){at->v, out->xd + x0, out->v ? out->v + q0 : NULL};
        if (out->xa && at->a) of[n++] = (marked){at->a, out->xa + x0, out->a ? out->a + q0 : NULL};
        for (int i = 0; i < s->nground; i++)
            for (int c = 0; c < 3; c++) P[s->ground[i].w + c] += x[s->ground[i].x + c];
        if (n == 4)
            some_markers(4, first, end, of, s->P, P);
        else if (n == 3 && in->w)
            some_markers(3, first, rated, of, s->P, P), some_markers(2, rated, end, of, s->P, P);
        else
            some_markers(n, first, end, of, s->P, P);
    }
}

void cst_adjoint_slots(cst_pass *ps, const cst_pass_at *at, int nrhs, const double *w,
                       const double *fx, const cst_adjoint_out *out)
{
    const cst_adjoint_in in = {.nrhs = nrhs, .more = 1, .w = w};
    markers_adjoint(ps, at, &in, out, fx);
}

typedef void constraint_pass_of(cst_pass *ps, int i, const cst_pass_at *at,
                                const cst_adjoint_in *in, const cst_adjoint_out *out);

static constraint_pass_of *constraint_pass(const cst_constraint_class *c)
{
    return c->bars ? quadratic_adjoint : c->linear ? linear_adjoint : constraint_adjoint;
}

void cst_adjoint_pass(cst_pass *ps, const cst_pass_at *at, const cst_adjoint_in *in,
                      const cst_adjoint_out *out)
{
    cst_system *s = ps->s;
    const cst_model *m = s->m;
    size_t n = sizeof(double) * (size_t)(in->nrhs * m->nx);
    if (!in->more) memset(out->x, 0, n), memset(out->xd, 0, n);
    if (!in->more && out->xa) memset(out->xa, 0, n);
    for (int i = 0; at->forces && i < m->force.n; i++) force_adjoint(ps, i, at, in, out);
    int own = in->w && !in->fx;
    if (own) memset(s->fx, 0, sizeof *s->fx * (size_t)m->nx);
    if (own && at->forces) cst_forces_add(s, at->z, at->mem, s->fx, NULL, NULL);
    for (int i = 0; i < m->constraint.n; i++)
        if (s->seat[i].phases & at->phases) constraint_pass(s->seat[i].cls)(ps, i, at, in, out);
    markers_adjoint(ps, at, in, out, own ? s->fx : in->fx);
}

void cst_adjoint_react(cst_pass *ps, const cst_pass_at *at, int nrhs, const double *react,
                       double *lbar)
{
    const cst_model *m = ps->s->m;
    double x[NX], xd[NX], J[CST_MAX_PHI * NX];
    for (int i = 0; i < m->constraint.n; i++) {
        const cst_constraint *c = &m->constraint.at[i];
        cst_local l;
        if (!(c->phases & at->phases)) continue;
        cst_local_constraint(ps->s, i, at->mem, 1, &l, x, xd);
        c->cls->phi_x(&l, J);
        for (int r = 0; r < nrhs; r++) {
            const double *b = react + (size_t)r * (size_t)m->nreact + c->f0;
            double *y = lbar + (size_t)r * (size_t)m->nrow + c->row0;
            for (int k = 0; k < c->cls->nphi; k++)
                for (int j = 0; j < c->nx; j++) y[k] -= J[k * c->nx + j] * b[j];
        }
    }
}
