/* SPDX-License-Identifier: MIT
 *
 * Values of the matrix over (u, lambda): element blocks are pulled back to the tangents of the
 * bodies they touch,
 *
 *     K_ij += B_a^T H_ab B_b      for slots a on body i, b on body j        H = d(phi_x^T lambda -
 * f)/dx J_i  += phi_x,a B_a
 *
 * and added column by column. */
#include <math.h>
#include <string.h>

#include "linalg/dense.h"
#include "linalg/pair.h"
#include "linalg/rank.h"
#include "system/kkt.h"

/* y += h x; bodies have 3 or 6 unknowns */
static inline void add_scaled(int n, double h, const double *x, double *y)
{
    cst_pair both = CST_BOTH(h);
    if (n == 3)
        CST_PAIR(y) += both * CST_READ_PAIR(x), y[2] += h * x[2];
    else if (n == 6)
        for (int i = 0; i < 6; i += 2) CST_PAIR(y + i) += both * CST_READ_PAIR(x + i);
    else
        for (int i = 0; i < n; i++) y[i] += h * x[i];
}

/* The block of slots a and b of a symmetric H, na x nb coordinates, and its transpose, as one with
 * nu and mu unknowns. scalar: a multiple of 1 */
CST_INLINE void add_block_of(int scalar, int na, int nu, int nb, int mu, const cst_system *s,
                             const int *start, const int *other, const cst_touch *a,
                             const cst_touch *b, double c, const double *H, int nx, double *val)
{
    const double *A = s->B + a->b, *B = s->B + b->b;
    for (int l = 0; l < mu; l++) {
        double h[3], *to = val + start[l] + a->off;
        for (int i = 0; i < na; i++) { /* column l of c H B */
            h[i] = scalar ? H[0] * B[i * b->stride + l] : H[i * nx] * B[l];
            for (int j = 1; !scalar && j < nb; j++) h[i] += H[i * nx + j] * B[j * b->stride + l];
            h[i] *= c;
        }
        for (int k = 0; k < nu; k++) {
            double g = h[0] * A[k];
            for (int i = 1; i < na; i++) g += h[i] * A[i * a->stride + k];
            to[k] += g;
            if (a != b) val[other[k] + b->off + l] += g;
        }
    }
}

static void add_block(int scalar, const cst_system *s, const cst_reach *r, const int *at,
                      const cst_touch *a, const cst_touch *b, double c, const double *H, int nx,
                      double *val)
{
    const int *start = at + a->range * r->nt + b->t, *other = at + b->range * r->nt + a->t;
    if (!scalar)
        add_block_of(0, a->dim, a->nu, b->dim, b->nu, s, start, other, a, b, c, H, nx, val);
    else if (a->nu == 3 && b->nu == 3)
        add_block_of(1, 3, 3, 3, 3, s, start, other, a, b, c, H, nx, val); /* of rigid bodies */
    else if (a->nu == 6 && b->nu == 3)
        add_block_of(1, 3, 6, 3, 3, s, start, other, a, b, c, H, nx, val);
    else
        add_block_of(1, 3, a->nu, 3, b->nu, s, start, other, a, b, c, H, nx, val);
}

/* Is a block of H zero? */
static inline int empty_block(int scalar, int rows, int cols, const double *H, int nx)
{
    if (scalar) return H[0] == 0;
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < cols; j++)
            if (H[i * nx + j] != 0) return 0;
    return 1;
}

/* val += c B^T H B over all slot pairs; H is symmetric, nx x nx and mostly empty, as that of a
 * joint */
static void add_stiffness(int scalar, const cst_system *s, const cst_reach *r, const int *at,
                          double c, const double *H, int nx, double *val)
{
    const cst_touch *end = r->place + r->nslot;
    for (const cst_touch *a = r->place; a < end; a++)
        for (const cst_touch *b = a; a->range >= 0 && b < end; b++) {
            const double *block = H + a->x * nx + b->x;
            if (b->range >= 0 && !empty_block(scalar, a->dim, b->dim, block, nx))
                add_block(scalar, s, r, at, a, b, c, block, nx, val);
        }
}

/* y += sum_j h_j X_j over three rows X_j of n entries, stride apart */
CST_INLINE void add_three(int n, const double *h, const double *X, int stride, double *y)
{
    cst_pair a = CST_BOTH(h[0]), b = CST_BOTH(h[1]), c = CST_BOTH(h[2]);
    const double *Y = X
    +stride, *Z = Y + stride;
    int i = 0;
    for (; i + 2 <= n; i += 2)
        CST_PAIR(y + i) +=
            a * CST_READ_PAIR(X + i) + b * CST_READ_PAIR(Y + i) + c * CST_READ_PAIR(Z + i);
    if (i < n) y[i] += h[0] * X
    [i] + h[1] * Y[i] + h[2] * Z[i];
}

/* The same over dim rows */
static inline void add_combined(int dim, int n, const double *h, const double *X, int stride,
                                double *y)
{
    if (dim == 3 && n == 6)
        add_three(6, h, X, stride, y); /* a point of a rigid body */
    else if (dim == 3 && n == 3)
        add_three(3, h, X, stride, y); /* a direction */
    else
        for (int j = 0; j < dim; j++)
            if (h[j] != 0) add_scaled(n, h[j], X + j * stride, y);
}

static inline int all_zero(int n, const double *h)
{
    for (int i = 0; i < n; i++)
        if (h[i] != 0) return 0;
    return 1;
}

/* HB += H B, all rows of a force's H */
static void add_rows_of_force(const cst_reach *r, const double *H, int nx, const double *B,
                              double *HB)
{
    const cst_touch *end = r->place + r->nslot;
    for (int i = 0; i < nx; i++)
        for (const cst_touch *b = r->place; b < end; b++) {
            const double *h = H + i * nx + b->x;
            if (b->range >= 0 && !all_zero(b->dim, h))
                add_combined(b->dim, b->nu, h, B + b->b, b->stride, HB + i * r->nt + b->t);
        }
}

/* val += B^T (H B + Hv turn) for a full H that is not symmetric, as it is for a force. Hv: NULL if
 * there is none; HB: nx x nt scratch */
static void add_full_stiffness(const cst_system *s, const cst_reach *r, const int *at,
                               const double *H, const double *Hv, int nx, const double *turn,
                               double *HB, double *val)
{
    int nt = r->nt;
    const cst_touch *end = r->place + r->nslot;
    memset(HB, 0, sizeof *HB * (size_t)(nx * nt));
    add_rows_of_force(r, H, nx, s->B, HB);
    if (Hv) add_rows_of_force(r, Hv, nx, turn, HB);
    for (const cst_touch *a = r->place; a < end; a++) {
        const double *row = HB + a->x * nt;
        const int *start = at + a->range * nt;
        for (int l = 0; a->range >= 0 && l < nt; l++) {
            double h[3] = {0};
            for (int i = 0; i < a->dim; i++) h[i] = row[i * nt + l];
            if (!all_zero(a->dim, h))
                add_combined(a->dim, a->nu, h, s->B + a->b, a->stride, val + start[l] + a->off);
        }
    }
}

/* T^T M T of one body through its rows for unit weights; held spins are added by the caller */
static void body_mass(const cst_system *s, const cst_body *b, const double *q, const double *weight,
                      double c, double *G)
{
    int nv = b->cls->nvec, nu = b->cls->nu;
    if (b->cls->inertia && !weight) {
        b->cls->inertia(q + b->q0, s->P + b->mass, c, G);
        return;
    }
    double w[CST_MAX_NU] = {0}, rows[4 * 3 * CST_MAX_NU];
    for (int k = 0; k < nv; k++) {
        w[k] = 1;
        b->cls->rows(q + b->q0, w, rows + k * 3 * nu);
        w[k] = 0;
    }
    const double *m = s->P + b->mass;
    for (int k = 0; k < nv; k++)
        for (int l = k; l < nv; l++, m++) {
            double mkl = c * (weight ? (k == l ? weight[b->q0 + 3 * k] : 0) : *m);
            if (mkl == 0) continue;
            const double *Rk = rows + k * 3 * nu, *Rl = rows + l * 3 * nu;
            for (int d = 0; d < 3; d++)
                for (int i = 0; i < nu; i++) {
                    double ki = mkl * Rk[d * nu + i], li = mkl * Rl[d * nu + i];
                    if (ki != 0)
                        for (int j = 0; j < nu; j++) G[i * nu + j] += ki * Rl[d * nu + j];
                    if (l > k && li != 0)
                        for (int j = 0; j < nu; j++) G[i * nu + j] += li * Rk[d * nu + j];
                }
        }
    for (int k = 0; k < b->cls->nscalar; k++) {
        int i = nu - b->cls->nscalar + k;
        G[i * nu + i] += c * (weight ? weight[b->q0 + 3 * nv + k] : m[k]);
    }
}

/* Gives inertia to a spin that has none: c m L^2 a a^T on the rotations. The right-hand sides are
 * zero there, so the spin is held. */
static void hold_spin(const cst_system *s, const cst_hold *h, const double *q, double c, double *G)
{
    const cst_body *b = &s->m->body.at[h->body];
    const double *e = q + b->q0 + 3;
    double a[3], size = fabs(s->P[b->mass]) * s->size[h->body] * s->size[h->body];
    if (size == 0) size = s->heaviest < 0 ? 1 : s->P[s->heaviest] * s->length * s->length;
    for (int i = 0; i < 3; i++)
        a[i] = h->axis[0] * e[i] + h->axis[1] * e[3 + i] + h->axis[2] * e[6 + i];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) G[(3 + i) * 6 + 3 + j] += c * size * a[i] * a[j];
}

/* c m_kl at both places of each entry of the link */
static void assemble_links(const cst_kkt *k, const cst_system *s, double c, double *val)
{
    for (int i = 0; i < s->m->link.n; i++) {
        const cst_link *l = &s->m->link.at[i];
        const cst_body *a = &s->m->body.at[l->body], *b = a + 1;
        const double *m = s->P + l->mass;
        int na = a->cls->nu;
        for (int v = 0; v < a->cls->nvec; v++)
            for (int w = 0; w < b->cls->nvec; w++, m++)
                for (int x = 0; x < 3; x++) {
                    int from = 3 * v + x, to = na + 3 * w + x;
                    val[k->link_at[i][to] + from] += c * *m;
                    val[k->link_at[i][from] + to] += c * *m;
                }
    }
}

static void assemble_bodies(const cst_kkt *k, cst_system *s, const double *q, const double *r,
                            const double *weight, cst_kkt_coef c, double *val)
{
    double G[CST_MAX_NU * CST_MAX_NU];
    int h = 0;
    for (int i = 0; i < s->m->body.n; i++) {
        const cst_body *b = &s->m->body.at[i];
        int nu = b->cls->nu;
        memset(G, 0, sizeof *G * (size_t)(nu * nu));
        if (c.mass != 0) body_mass(s, b, q, weight, c.mass, G);
        if (r) b->cls->geo(q + b->q0, r + b->q0, c.stiff, G);
        for (; c.mass != 0 && h < k->nhold && k->hold[h].body == i; h++)
            hold_spin(s, &k->hold[h], q, c.mass, G);
        if (!r) { /* a mass is symmetric */
            for (int j = 0; j < nu; j++) add_scaled(nu, 1, G + j * nu, val + k->body_at[b->u0 + j]);
            continue;
        }
        for (int j = c.mass != 0 ? 0 : b->cls->first_of_direction; j < nu; j++) {
            double *column = val + k->body_at[b->u0 + j];
            for (int l = c.mass != 0 ? 0 : b->cls->first_of_direction; l < nu; l++)
                column[l] += G[l * nu + j];
        }
    }
}

/* F += f_z dz of the columns of F = f_x or f_xd:   dz = hz (1 - hz g_z)^-1 g_x dx,   the rows of g
 * below those of f */
static void eliminate_states(int nx, int nz, double hz, const double *f_z, double *F)
{
    double A[CST_MAX_NX * CST_MAX_NX], d[CST_MAX_NX];
    for (int j = 0; j < nx; j++) {
        for (int i = 0; i < nz; i++) {
            for (int k = 0; k < nz; k++) A[i * nz + k] = (i == k) - hz * f_z[(nx + i) * nz + k];
            d[i] = hz * F[(nx + i) * nx + j];
        }
        if (!cst_dense_solve(nz, A, d)) continue;
        for (int i = 0; i < nx; i++)
            for (int k = 0; k < nz; k++) F[i * nx + j] += f_z[i * nz + k] * d[k];
    }
}

/* H = -(stiff f_x + damp f_xd), with the states eliminated. If velocities change by more than damp
 * B, also Hv = -f_xd; returns 1 if that is not zero */
static int force_stiffness(const cst_force *f, const cst_local *e, cst_kkt_coef c, double hz,
                           double *H, double *Hv)
{
    double f_x[2 * CST_MAX_NX * CST_MAX_NX], f_xd[2 * CST_MAX_NX * CST_MAX_NX],
        f_z[2 * CST_MAX_NX * CST_MAX_NX], any = 0;
    int nx = e->nx, nz = e->nz, rows = nx + nz;
    f->cls->partials(e, f_x, f_xd, nz ? f_z : NULL, NULL);
    if (nz && hz != 0) {
        for (int i = 0; i < rows * nx; i++) f_x[i] = c.stiff * f_x[i] + c.damp * f_xd[i];
        eliminate_states(nx, nz, hz, f_z, f_x);
        for (int i = 0; i < nx * nx; i++) H[i] = -f_x[i];
    } else {
        const cst_pair stiff = CST_BOTH(-c.stiff), damp = CST_BOTH(-c.damp);
        int i = 0;
        for (; i + 2 <= nx * nx; i += 2)
            CST_PAIR(H + i) = stiff * CST_READ_PAIR(f_x + i) + damp * CST_READ_PAIR(f_xd + i);
        if (i < nx * nx) H[i] = -(c.stiff * f_x[i] + c.damp * f_xd[i]);
    }
    if (!c.turn) return 0;
    if (nz && hz != 0) eliminate_states(nx, nz, hz, f_z, f_xd);
    for (int i = 0; i < nx * nx; i++) Hv[i] = -f_xd[i], any += fabs(f_xd[i]);
    return any != 0;
}

/* g B, for the dim rows of a slot's B: into row n of J, the columns of which begin at `start`, and
 * its transpose */
CST_INLINE void add_row_of(int dim, int nu, const double *g, const double *B, int stride, int n,
                           const int *start, double *val, double *transposed)
{
    double y[CST_MAX_NU] = {0};
    if (dim == 3)
        add_three(nu, g, B, stride, y);
    else
        add_scaled(nu, *g, B, y);
    for (int t = 0; t < nu; t++) val[start[t] + n] += y[t];
    add_scaled(nu, 1, y, transposed);
}

/* Rows of J, and their transposes */
static void add_jacobian(const cst_kkt *k, const cst_system *s, int i, const double *J, double *val)
{
    const cst_seat *e = &s->seat[i];
    const cst_reach *r = &s->constraint_reach[i];
    for (int row = 0, n = 0; row < e->cls->nphi; row++) {
        if (k->row_of[e->row0 + row] < 0) continue;
        const int *transposed = k->jac_at[i] + r->nt + n * r->n;
        for (const cst_touch *a = r->place; a < r->place + r->nslot; a++) {
            if (a->range < 0) continue;
            const double *g = J + row * e->nx + a->x, *B = s->B + a->b;
            const int *start = k->jac_at[i] + a->t;
            double *to = val + transposed[a->range] + a->off;
            if (a->dim == 3 && a->nu == 6)
                add_row_of(3, 6, g, B, a->stride, n, start, val, to);
            else if (a->dim == 3 && a->nu == 3)
                add_row_of(3, 3, g, B, a->stride, n, start, val, to);
            else
                add_row_of(a->dim, a->nu, g, B, a->stride, n, start, val, to);
        }
        n++;
    }
}

static void assemble_constraint(const cst_kkt *k, cst_system *s, int i, const double *mem,
                                const double *lambda, cst_kkt_coef c, int jacobian, double *val)
{
    const cst_seat *e = &s->seat[i];
    double x[CST_MAX_NX], xd[CST_MAX_NX], J[CST_MAX_PHI * CST_MAX_NX], H[CST_MAX_NX * CST_MAX_NX];
    cst_local l;
    if (!jacobian && (!lambda || e->cls->linear)) return;
    cst_local_constraint(s, i, mem, 0, &l, x, xd);
    if (lambda && !e->cls->linear) {
        e->cls->hess(&l, lambda + e->row0, H);
        add_stiffness(e->cls->scalar, s, &s->constraint_reach[i], k->stiff_at[i], c.stiff, H, e->nx,
                      val);
    }
    if (!k->jac_at[i] || !jacobian) return;
    e->cls->phi_x(&l, J);
    add_jacobian(k, s, i, J, val);
}

void cst_kkt_assemble(const cst_kkt *k, cst_system *s, const double *q, const double *z,
                      const double *mem, const double *r, const double *lambda,
                      const double *weight, cst_kkt_coef c, int forces, double hz, double *val)
{
    memset(val, 0, sizeof *val * (size_t)k->pattern->nnz);
    assemble_bodies(k, s, q, NULL, weight, c, val);
    if (c.mass != 0 && !weight) assemble_links(k, s, c.mass, val);
    for (int i = 0; i < s->m->constraint.n; i++)
        if (s->seat[i].phases & k->phases) assemble_constraint(k, s, i, mem, NULL, c, 1, val);
    for (int i = 0; i < k->nrow; i++) val[k->diag_at[i]] -= c.eps * k->unit[i] + c.soft;
    if (r || lambda || forces)
        cst_kkt_add_stiffness(k, s, q, z, mem, r, lambda, c, forces, hz, val);
}

void cst_kkt_add_stiffness(const cst_kkt *k, cst_system *s, const double *q, const double *z,
                           const double *mem, const double *r, const double *lambda, cst_kkt_coef c,
                           int forces, double hz, double *val)
{
    const cst_model *m = s->m;
    cst_kkt_coef stiff = c;
    stiff.mass = 0;
    if (r) assemble_bodies(k, s, q, r, NULL, stiff, val);
    double x[CST_MAX_NX], xd[CST_MAX_NX], H[CST_MAX_NX * CST_MAX_NX], Hv[CST_MAX_NX * CST_MAX_NX];
    for (int i = 0; forces && i < m->force.n; i++) {
        const cst_force *f = &m->force.at[i];
        cst_local l;
        if (!f->nx) continue;
        cst_local_force(s, i, z, mem, &l, x, xd);
        int turning = force_stiffness(f, &l, c, hz, H, Hv);
        add_full_stiffness(s, &s->force_reach[i], k->force_at[i], H, turning ? Hv : NULL, f->nx,
                           c.turn, s->HB, val);
    }
    for (int i = 0; lambda && i < m->constraint.n; i++)
        if (s->seat[i].phases & k->phases) assemble_constraint(k, s, i, mem, lambda, c, 0, val);
}

void cst_kkt_add_rates(const cst_kkt *k, cst_system *s, const double *mem, const double *eta,
                       double *val)
{
    double x[CST_MAX_NX], xd[CST_MAX_NX], J[CST_MAX_NX], H[CST_MAX_NX * CST_MAX_NX];
    for (int i = 0; i < s->m->constraint.n; i++) {
        const cst_constraint *e = &s->m->constraint.at[i];
        const cst_tape *t = e->tape;
        cst_local l;
        if (!(e->phases & CST_ROW_RATE)) continue;
        cst_local_constraint(s, i, mem, 0, &l, x, xd);
        e->cls->phi_x(&l, J); /* fills the registers */
        memset(H, 0, sizeof *H * (size_t)(e->nx * e->nx));
        for (int row = 0; row < e->nx; row++) { /* outputs 1 .. nx are E_v */
            double *bar = l.reg + t->nreg;
            memset(bar, 0, sizeof *bar * (size_t)t->nreg);
            bar[t->out[1 + row]] = eta[e->row0];
            cst_tape_reverse(t, l.reg, bar);
            for (int c = 0; c < t->nchannel; c++)
                if (t->channel[c].kind == CST_CH_X && t->channel[c].order == 1)
                    H[row * e->nx + t->channel[c].index] += bar[c];
        }
        add_stiffness(e->cls->scalar, s, &s->constraint_reach[i], k->stiff_at[i], 1, H, e->nx, val);
    }
}
