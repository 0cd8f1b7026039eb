/* SPDX-License-Identifier: MIT
 *
 * Passes over forces and constraints at the system's place: values, residuals, energies. */
#include <math.h>
#include <string.h>

#include "linalg/dense.h"
#include "system/system.h"

void cst_local_force(cst_system *s, int i, const double *z, const double *mem, cst_local *e,
                     double *x, double *xd)
{
    const cst_force *f = &s->m->force.at[i];
    cst_reach_get(&s->force_reach[i], s->x, x);
    cst_reach_get(&s->force_reach[i], s->xd, xd);
    *e = (cst_local){.nx = f->nx,
                     .np = f->np,
                     .nz = f->nz,
                     .t = s->t,
                     .x = x,
                     .xd = xd,
                     .z = z ? z + f->z0 : NULL,
                     .mem = mem,
                     .p = s->P + f->p,
                     .tape = f->tape,
                     .reg = s->reg};
}

void cst_forces_add(cst_system *s, const double *z, const double *mem, double *fx, double *zd,
                    double *flat)
{
    const cst_model *m = s->m;
    double x[CST_MAX_NX], xd[CST_MAX_NX], f[CST_MAX_NX], g[CST_MAX_NX];
    for (int i = 0; i < m->force.n; i++) {
        const cst_force *e = &m->force.at[i];
        cst_local l;
        cst_local_force(s, i, z, mem, &l, x, xd);
        e->cls->force(&l, f, g);
        if (fx) cst_reach_add(&s->force_reach[i], -1, f, fx);
        if (zd) memcpy(zd + e->z0, g, sizeof *g * (size_t)e->nz);
        if (flat) memcpy(flat + e->f0, f, sizeof *f * (size_t)e->nx);
    }
}

int cst_forces_infinite(cst_system *s, const double *z, const double *mem)
{
    double x[CST_MAX_NX], xd[CST_MAX_NX], f[CST_MAX_NX], g[CST_MAX_NX];
    for (int i = 0; i < s->m->force.n; i++) {
        const cst_force *e = &s->m->force.at[i];
        cst_local l;
        if (e->nz && !z) continue;
        cst_local_force(s, i, z, mem, &l, x, xd);
        e->cls->force(&l, f, g);
        for (int k = 0; k < e->nx; k++)
            if (!isfinite(f[k])) return i;
    }
    return -1;
}

int cst_forces_stiffest(cst_system *s, const double *mem, double *stiffness)
{
    double x[CST_MAX_NX], xd[CST_MAX_NX], f_x[CST_MAX_NX * CST_MAX_NX];
    int found = -1;
    *stiffness = 0;
    for (int i = 0; i < s->m->force.n; i++) {
        const cst_force *e = &s->m->force.at[i];
        cst_local l;
        if (e->nz) continue;
        cst_local_force(s, i, NULL, mem, &l, x, xd);
        e->cls->partials(&l, f_x, NULL, NULL, NULL);
        for (int k = 0; k < e->nx * e->nx; k++) {
            double y = isfinite(f_x[k]) ? fabs(f_x[k]) : INFINITY;
            if (y > *stiffness) *stiffness = y, found = i;
        }
    }
    return found;
}

#define EACH_CONSTRAINT(s, i, c, which)                                                            \
    for (int i = 0; i < (s)->m->constraint.n; i++)                                                 \
        for (const cst_seat *c = &(s)->seat[i]; c && (c->phases & (which)); c = NULL)

/* phi, and f = phi_x^T lambda of one constraint; f has room for phi_x */
static inline void react(const cst_seat *c, const cst_local *l, const double *lambda, double *phi,
                         double *f)
{
    int nx = c->nx;
    if (c->cls->react) {
        c->cls->react(l, lambda, phi, f);
        return;
    }
    c->cls->phi(l, phi);
    c->cls->phi_x(l, f);
    for (int j = 0; j < nx; j++) f[j] *= lambda[0];
    for (int k = 1; k < c->cls->nphi; k++)
        for (int j = 0; j < nx; j++) f[j] += f[k * nx + j] * lambda[k];
}

void cst_reactions_add(cst_system *s, const double *mem, const double *lambda, int phases,
                       double *fx, double *flat)
{
    double x[CST_MAX_NX], xd[CST_MAX_NX], phi[CST_MAX_PHI], f[CST_MAX_PHI * CST_MAX_NX];
    EACH_CONSTRAINT(s, i, c, phases)
    {
        cst_local l;
        cst_local_constraint(s, i, mem, 0, &l, x, xd);
        react(c, &l, lambda + c->row0, phi, f);
        if (fx) cst_seat_add(s, i, 1, f, fx);
        if (flat)
            for (int j = 0; j < c->nx; j++) flat[s->m->constraint.at[i].f0 + j] = -f[j];
    }
}

void cst_constraints(cst_system *s, const double *mem, int phases, double *phi)
{
    double x[CST_MAX_NX], xd[CST_MAX_NX];
    EACH_CONSTRAINT(s, i, c, phases)
    {
        cst_local l;
        cst_local_constraint(s, i, mem, 0, &l, x, xd);
        c->cls->phi(&l, phi + c->row0);
    }
}

void cst_constraints_react(cst_system *s, const double *mem, const double *lambda, int phases,
                           double *fx, double *phi)
{
    double x[CST_MAX_NX], xd[CST_MAX_NX], J[CST_MAX_PHI * CST_MAX_NX];
    EACH_CONSTRAINT(s, i, c, phases)
    {
        cst_local l;
        cst_local_constraint(s, i, mem, 0, &l, x, xd);
        react(c, &l, lambda + c->row0, phi + c->row0, J);
        cst_seat_add(s, i, 1, J, fx);
    }
}

void cst_constraints_rate(cst_system *s, const double *mem, int phases, double *phi_t)
{
    double x[CST_MAX_NX], xd[CST_MAX_NX];
    EACH_CONSTRAINT(s, i, c, phases)
    {
        cst_local l;
        if (!c->driven && !c->tape) { /* does not depend on time */
            for (int k = 0; k < c->cls->nphi; k++) phi_t[c->row0 + k] = 0;
            continue;
        }
        cst_local_constraint(s, i, mem, 0, &l, x, xd);
        c->cls->phi_t(&l, phi_t + c->row0);
    }
}

void cst_constraints_gamma(cst_system *s, const double *mem, int phases, double *gamma)
{
    double x[CST_MAX_NX], xd[CST_MAX_NX];
    EACH_CONSTRAINT(s, i, c, phases)
    {
        cst_local l;
        cst_local_constraint(s, i, mem, 1, &l, x, xd);
        c->cls->gamma(&l, gamma + c->row0);
    }
}

void cst_constraints_apply(cst_system *s, const double *mem, int phases, const double *xa,
                           double *y)
{
    double x[CST_MAX_NX], xd[CST_MAX_NX], J[CST_MAX_PHI * CST_MAX_NX], d[CST_MAX_NX];
    EACH_CONSTRAINT(s, i, c, phases)
    {
        cst_local l;
        cst_local_constraint(s, i, mem, 0, &l, x, xd);
        c->cls->phi_x(&l, J);
        cst_seat_get(s, i, xa, d);
        for (int k = 0; k < c->cls->nphi; k++)
            for (int j = 0; j < c->nx; j++) y[c->row0 + k] += J[k * c->nx + j] * d[j];
    }
}

void cst_constraints_second(cst_system *s, const double *mem, int phases, const double *xa,
                            double *y)
{
    double x[CST_MAX_NX], xd[CST_MAX_NX], J[CST_MAX_PHI * CST_MAX_NX], d[CST_MAX_NX];
    EACH_CONSTRAINT(s, i, c, phases)
    {
        cst_local l;
        cst_local_constraint(s, i, mem, 1, &l, x, xd);
        c->cls->gamma(&l, y + c->row0);
        c->cls->phi_x(&l, J);
        cst_seat_get(s, i, xa, d);
        for (int k = 0; k < c->cls->nphi; k++)
            for (int j = 0; j < c->nx; j++) y[c->row0 + k] += J[k * c->nx + j] * d[j];
    }
}

double cst_energy_potential(cst_system *s, const double *q, const double *mem)
{
    const cst_model *m = s->m;
    double V = cst_energy_gravity(s, q), x[CST_MAX_NX], xd[CST_MAX_NX];
    for (int i = 0; i < m->force.n; i++) {
        cst_local l;
        double e = 0;
        if (!m->force.at[i].cls->energy) continue;
        cst_local_force(s, i, NULL, mem, &l, x, xd);
        if (m->force.at[i].cls->energy(&l, &e)) V += e;
    }
    return V;
}

/* P = - sum (f(x, x') - f(x, 0)) . x' over forces that have a potential */
double cst_power_dissipated(cst_system *s, const double *z, const double *mem)
{
    const cst_model *m = s->m;
    double P = 0, x[CST_MAX_NX], xd[CST_MAX_NX], f[CST_MAX_NX], f0[CST_MAX_NX], g[CST_MAX_NX], e;
    const double rest[CST_MAX_NX] = {0};
    for (int i = 0; i < m->force.n; i++) {
        const cst_force_class *cls = m->force.at[i].cls;
        cst_local l;
        if (!cls->energy) continue;
        cst_local_force(s, i, z, mem, &l, x, xd);
        if (!cls->energy(&l, &e)) continue;
        cls->force(&l, f, g);
        l.xd = rest;
        cls->force(&l, f0, g);
        for (int j = 0; j < l.nx; j++) P -= (f[j] - f0[j]) * xd[j];
    }
    return P;
}

void cst_states_solve(cst_system *s, double h, const double *z0, const double *g0,
                      const double *mem, double *z1)
{
    const cst_model *m = s->m;
    double x[CST_MAX_NX], xd[CST_MAX_NX], f[CST_MAX_NX], g[CST_MAX_NX], A[CST_MAX_NX * CST_MAX_NX],
        d[CST_MAX_NX];
    double f_z[2 * CST_MAX_NX * CST_MAX_NX];
    for (int i = 0; i < m->force.n; i++) {
        const cst_force *e = &m->force.at[i];
        int nz = e->nz;
        for (int it = 0; nz && it < 20;
             it++) { /* Newton; one iteration where the rate is linear in z */
            cst_local l;
            double change = 0, size = 0;
            cst_local_force(s, i, z1, mem, &l, x, xd);
            e->cls->force(&l, f, g);
            e->cls->partials(&l, NULL, NULL, f_z, NULL);
            for (int j = 0; j < nz; j++) {
                const double *row = f_z + (e->nx + j) * nz;
                for (int k = 0; k < nz; k++) A[j * nz + k] = (j == k) - h / 2 * row[k];
                d[j] = z0[e->z0 + j] + h / 2 * (g0[e->z0 + j] + g[j]) - z1[e->z0 + j];
            }
            if (!cst_dense_solve(nz, A, d)) break;
            for (int j = 0; j < nz; j++) {
                z1[e->z0 + j] += d[j];
                change = fmax(change, fabs(d[j])), size = fmax(size, fabs(z1[e->z0 + j]));
            }
            if (!(change > 1e-15 * (1 + size))) break;
        }
    }
}
