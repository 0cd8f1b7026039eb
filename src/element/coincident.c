/* SPDX-License-Identifier: MIT
 *
 * Two points coincide: phi = a - b, phi_x = [I -I]. Linear, without time and numbers: nothing else
 * is left.
 * */
#include "element/element.h"

#include <stddef.h>

enum { NX = 6, NPHI = 3 };

static void zero(int n, real *y)
{
    for (int i = 0; y != NULL && i < n; i++) y[i] = 0;
}

static void coincident_phi(const cst_local *e, real *phi)
{
    for (int i = 0; i < NPHI; i++) phi[i] = e->x[i] - e->x[3 + i];
}

static void coincident_phi_x(const cst_local *e, real *J)
{
    (void)e;
    zero(NPHI * NX, J);
    for (int i = 0; i < NPHI; i++) J[i * NX + i] = 1, J[i * NX + 3 + i] = -1;
}

static void coincident_react(const cst_local *e, const real *w, real *phi, real *f)
{
    for (int i = 0; i < NPHI; i++) phi[i] = e->x[i] - e->x[3 + i], f[i] = w[i], f[3 + i] = -w[i];
}

static void coincident_phi_t(const cst_local *e, real *r)
{
    (void)e;
    zero(NPHI, r);
}

static void coincident_hess(const cst_local *e, const real *w, real *H)
{
    (void)e, (void)w;
    zero(NX * NX, H);
}

static void coincident_phi_p(const cst_local *e, real *P) { zero(NPHI * e->np, P); }

static void coincident_force_p(const cst_local *e, const real *w, real *P)
{
    (void)w;
    zero(NX * e->np, P);
}

static void coincident_phi_t_lin(const cst_local *e, const real *w, real *g_x, real *g_p)
{
    (void)w;
    zero(NX, g_x), zero(e->np, g_p);
}

static void coincident_gamma_lin(const cst_local *e, const real *w, real *g_x, real *g_xd,
                                 real *g_p)
{
    (void)w;
    zero(NX, g_x), zero(NX, g_xd), zero(e->np, g_p);
}

const cst_constraint_class CST_K(cst_coincident) = {
    .name = "coincident",
    .nslot = 2,
    .nphi = NPHI,
    .np = 0,
    .linear = 1,
    .phi = coincident_phi,
    .phi_x = coincident_phi_x,
    .react = coincident_react,
    .phi_t = coincident_phi_t,
    .gamma = coincident_phi_t,
    .hess = coincident_hess,
    .phi_p = coincident_phi_p,
    .force_p = coincident_force_p,
    .phi_t_lin = coincident_phi_t_lin,
    .gamma_lin = coincident_gamma_lin,
    .slots = "pp",
};
