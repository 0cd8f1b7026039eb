/* SPDX-License-Identifier: MIT
 *
 * Values of the matrix over (u, lambda): element blocks are pulled back to the tangents of the bodies they touch,
 *
 *     K_ij += B_a^T H_ab B_b      for slots a on body i, b on body j        H = d(phi_x^T lambda - f)/dx
 *     J_i  += phi_x,a B_a
 *
 * and added column by column. */
#include <math.h>
#include <string.h>

#include "linalg/dense.h"
#include "linalg/rank.h"
#include "system/kkt.h"

typedef struct place { /* a slot of an element: where its coordinates and its tangent are */
    int x, dim, t, nu;       /* t: first local tangent index */
    int range, off;          /* range of the element's reach, -1 on ground; where the slot begins in it */
    int stride;              /* of B */
    const double *B;
} place;

static void places(const cst_system *s, int nslot, const int *slot, const cst_reach *r, place *out)
{
    int x = 0;
    for (int k = 0; k < nslot; k++) {
        const cst_slot *l = &s->m->slot.at[slot[k]];
        out[k] = (place){.x = x, .dim = l->dim, .range = r->at[k], .off = r->off[k], .nu = r->nu[k], .stride = r->stride[k]};
        if (r->at[k] >= 0) {
            out[k].t = r->t0[r->at[k]] + r->off[k];
            out[k].B = s->B + s->b0[slot[k]] + r->skip[k];
        }
        x += l->dim;
    }
}

/* val += c B^T H B over all slot pairs; H is nx x nx and mostly empty, as that of a joint */
static void add_stiffness(int nslot, const place *pl, const cst_reach *r, const int *at, double c, const double *H,
                          int nx, double *val)
{
    double HB[3 * CST_MAX_NU];
    for (int a = 0; a < nslot; a++) {
        const place *A = &pl[a];
        if (A->range < 0) continue;
        for (int b = 0; b < nslot; b++) {
            const place *Bp = &pl[b];
            if (Bp->range < 0) continue;
            double any = 0;
            for (int i = 0; i < A->dim; i++)
                for (int j = 0; j < Bp->dim; j++) any += fabs(H[(A->x + i) * nx + Bp->x + j]);
            if (any == 0) continue;
            for (int i = 0; i < A->dim; i++)
                for (int l = 0; l < Bp->nu; l++) {
                    double y = 0;
                    for (int j = 0; j < Bp->dim; j++) y += H[(A->x + i) * nx + Bp->x + j] * Bp->B[j * Bp->stride + l];
                    HB[i * Bp->nu + l] = c * y;
                }
            const int *start = at + A->range * r->nt + Bp->t;
            for (int l = 0; l < Bp->nu; l++) {
                double *column = val + start[l] + A->off;
                for (int i = 0; i < A->dim; i++) {
                    double y = HB[i * Bp->nu + l];
                    if (y == 0) continue;
                    for (int k = 0; k < A->nu; k++) column[k] += A->B[i * A->stride + k] * y;
                }
            }
        }
    }
}

/* The same where H is full, as that of a force: first all rows of H B, then B^T of that. HB: nx x nt scratch */
static void add_full_stiffness(int nslot, const place *pl, const cst_reach *r, const int *at, const double *H, int nx,
                               double *HB, double *val)
{
    int nt = r->nt;
    memset(HB, 0, sizeof *HB * (size_t)(nx * nt));
    for (int i = 0; i < nx; i++)
        for (const place *b = pl; b < pl + nslot; b++)
            for (int j = 0; b->range >= 0 && j < b->dim; j++) {
                double h = H[i * nx + b->x + j], *y = HB + i * nt + b->t;
                const double *row = b->B + j * b->stride;
                for (int l = 0; h != 0 && l < b->nu; l++) y[l] += h * row[l];
            }
    for (const place *a = pl; a < pl + nslot; a++)
        for (int i = 0; a->range >= 0 && i < a->dim; i++) {
            const double *row = HB + (a->x + i) * nt, *B = a->B + i * a->stride;
            const int *start = at + a->range * nt;
            for (int l = 0; l < nt; l++) {
                double y = row[l], *column = val + start[l] + a->off;
                for (int k = 0; y != 0 && k < a->nu; k++) column[k] += B[k] * y;
            }
        }
}

/* T^T M T of one body through its rows for unit weights; held spins are added by the caller */
static void body_mass(const cst_system *s, const cst_body *b, const double *q, const double *weight, double c, double *G)
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

/* Inertia about a spin that has none: c m L^2 a a^T on the rotations; the right-hand sides have nothing there. */
static void hold_spin(const cst_system *s, const cst_hold *h, const double *q, double c, double *G)
{
    const cst_body *b = &s->m->body.at[h->body];
    const double *e = q + b->q0 + 3;
    double a[3], size = fabs(s->P[b->mass]) * s->length * s->length;
    if (size == 0) size = 1;
    for (int i = 0; i < 3; i++) a[i] = h->axis[0] * e[i] + h->axis[1] * e[3 + i] + h->axis[2] * e[6 + i];
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

static void assemble_bodies(const cst_kkt *k, cst_system *s, const double *q, const double *r, const double *weight,
                            cst_kkt_coef c, double *val)
{
    double G[CST_MAX_NU * CST_MAX_NU];
    int h = 0;
    for (int i = 0; i < s->m->body.n; i++) {
        const cst_body *b = &s->m->body.at[i];
        int nu = b->cls->nu;
        memset(G, 0, sizeof *G * (size_t)(nu * nu));
        if (c.mass != 0) body_mass(s, b, q, weight, c.mass, G);
        if (r) b->cls->geo(q + b->q0, r + b->q0, c.stiff, G);
        for (; c.mass != 0 && h < k->nhold && k->hold[h].body == i; h++) hold_spin(s, &k->hold[h], q, c.mass, G);
        for (int j = 0; j < nu; j++) {
            double *column = val + k->body_at[b->u0 + j];
            for (int l = 0; l < nu; l++) column[l] += G[l * nu + j];
        }
    }
}

/* H = -(stiff f_x + damp f_xd), with states eliminated: dz = hz (1 - hz g_z)^-1 (g_x dx + g_xd dxd) */
static void force_stiffness(const cst_force *f, const cst_local *e, cst_kkt_coef c, double hz, double *H)
{
    double f_x[2 * CST_MAX_NX * CST_MAX_NX], f_xd[2 * CST_MAX_NX * CST_MAX_NX], f_z[2 * CST_MAX_NX * CST_MAX_NX];
    int nx = e->nx, nz = e->nz;
    f->cls->partials(e, f_x, f_xd, nz ? f_z : NULL, NULL);
    int rows = nx + nz;
    for (int i = 0; i < rows * nx; i++) f_x[i] = c.stiff * f_x[i] + c.damp * f_xd[i];
    if (nz && hz != 0) {
        double A[CST_MAX_NX * CST_MAX_NX], d[CST_MAX_NX];
        for (int j = 0; j < nx; j++) {
            for (int i = 0; i < nz; i++) {
                for (int k = 0; k < nz; k++) A[i * nz + k] = (i == k) - hz * f_z[(nx + i) * nz + k];
                d[i] = hz * f_x[(nx + i) * nx + j];
            }
            if (!cst_dense_solve(nz, A, d)) continue;
            for (int i = 0; i < nx; i++)
                for (int k = 0; k < nz; k++) f_x[i * nx + j] += f_z[i * nz + k] * d[k];
        }
    }
    for (int i = 0; i < nx * nx; i++) H[i] = -f_x[i];
}

static void assemble_constraint(const cst_kkt *k, cst_system *s, int i, const double *mem, const double *lambda,
                                cst_kkt_coef c, int jacobian, double *val)
{
    const cst_constraint *e = &s->m->constraint.at[i];
    const cst_reach *r = &s->constraint_reach[i];
    double x[CST_MAX_NX], xd[CST_MAX_NX], J[CST_MAX_PHI * CST_MAX_NX], H[CST_MAX_NX * CST_MAX_NX];
    place pl[CST_MAX_NX];
    cst_local l;
    if (!jacobian && (!lambda || e->cls->linear)) return;
    cst_local_constraint(s, i, mem, &l, x, xd);
    places(s, e->nslot, e->slot, r, pl);
    if (lambda && !e->cls->linear) {
        e->cls->hess(&l, lambda + e->row0, H);
        add_stiffness(e->nslot, pl, r, k->stiff_at[i], c.stiff, H, e->nx, val);
    }
    if (!k->jac_at[i] || !jacobian) return;
    e->cls->phi_x(&l, J);
    int n = 0;
    for (int row = 0; row < e->cls->nphi; row++) {
        if (k->row_of[e->row0 + row] < 0) continue;
        const int *jt = k->jac_at[i] + r->nt + n * r->n;
        for (int a = 0; a < e->nslot; a++) {
            const place *A = &pl[a];
            if (A->range < 0) continue;
            for (int t = 0; t < A->nu; t++) {
                double y = 0;
                for (int d = 0; d < A->dim; d++) y += J[row * e->nx + A->x + d] * A->B[d * A->stride + t];
                val[k->jac_at[i][A->t + t] + n] += y;
                val[jt[A->range] + A->off + t] += y;
            }
        }
        n++;
    }
}

void cst_kkt_assemble(const cst_kkt *k, cst_system *s, const double *q, const double *z, const double *mem,
                      const double *r, const double *lambda, const double *weight, cst_kkt_coef c, int forces, double hz,
                      double *val)
{
    memset(val, 0, sizeof *val * (size_t)k->pattern->nnz);
    assemble_bodies(k, s, q, NULL, weight, c, val);
    if (c.mass != 0 && !weight) assemble_links(k, s, c.mass, val);
    for (int i = 0; i < s->m->constraint.n; i++)
        if (s->m->constraint.at[i].phases & k->phases) assemble_constraint(k, s, i, mem, NULL, c, 1, val);
    for (int i = 0; i < k->nrow; i++) val[k->diag_at[i]] -= c.eps;
    if (r || lambda || forces) cst_kkt_add_stiffness(k, s, q, z, mem, r, lambda, c, forces, hz, val);
}

void cst_kkt_add_stiffness(const cst_kkt *k, cst_system *s, const double *q, const double *z, const double *mem,
                           const double *r, const double *lambda, cst_kkt_coef c, int forces, double hz, double *val)
{
    const cst_model *m = s->m;
    cst_kkt_coef stiff = c;
    stiff.mass = 0;
    if (r) assemble_bodies(k, s, q, r, NULL, stiff, val);
    double x[CST_MAX_NX], xd[CST_MAX_NX], H[CST_MAX_NX * CST_MAX_NX];
    place pl[CST_MAX_NX];
    for (int i = 0; forces && i < m->force.n; i++) {
        const cst_force *f = &m->force.at[i];
        cst_local l;
        if (!f->nx) continue;
        cst_local_force(s, i, z, mem, &l, x, xd);
        force_stiffness(f, &l, c, hz, H);
        places(s, f->nslot, f->slot, &s->force_reach[i], pl);
        add_full_stiffness(f->nslot, pl, &s->force_reach[i], k->force_at[i], H, f->nx, s->HB, val);
    }
    for (int i = 0; lambda && i < m->constraint.n; i++)
        if (m->constraint.at[i].phases & k->phases) assemble_constraint(k, s, i, mem, lambda, c, 0, val);
}

void cst_kkt_add_rates(const cst_kkt *k, cst_system *s, const double *mem, const double *eta, double *val)
{
    double x[CST_MAX_NX], xd[CST_MAX_NX], J[CST_MAX_NX], H[CST_MAX_NX * CST_MAX_NX];
    place pl[CST_MAX_NX];
    for (int i = 0; i < s->m->constraint.n; i++) {
        const cst_constraint *e = &s->m->constraint.at[i];
        const cst_tape *t = e->tape;
        cst_local l;
        if (!(e->phases & CST_ROW_RATE)) continue;
        cst_local_constraint(s, i, mem, &l, x, xd);
        e->cls->phi_x(&l, J); /* fills the registers */
        memset(H, 0, sizeof *H * (size_t)(e->nx * e->nx));
        for (int row = 0; row < e->nx; row++) { /* outputs 1 .. nx are E_v */
            double *bar = l.reg + t->nreg;
            memset(bar, 0, sizeof *bar * (size_t)t->nreg);
            bar[t->out[1 + row]] = eta[e->row0];
            cst_tape_reverse(t, l.reg, bar);
            for (int c = 0; c < t->nchannel; c++)
                if (t->channel[c].kind == CST_CH_X && t->channel[c].order == 1) H[row * e->nx + t->channel[c].index] += bar[c];
        }
        places(s, e->nslot, e->slot, &s->constraint_reach[i], pl);
        add_stiffness(e->nslot, pl, &s->constraint_reach[i], k->stiff_at[i], 1, H, e->nx, val);
    }
}
