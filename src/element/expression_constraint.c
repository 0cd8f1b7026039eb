/* SPDX-License-Identifier: MIT
 *
 * A constraint on any measure of positions: one row, the outputs of the tape are phi, phi_x (nx),
 * phi_t, gamma, all made from phi in the graph. What is differentiated here is differentiated by
 * reverse sweeps. */
#include "element/law.h"

enum { PHI = 0, PHI_X = 1 };

static int phi_t_out(const cst_local *e) { return 1 + e->nx; }
static int gamma_out(const cst_local *e) { return 2 + e->nx; }

static void expression_phi(const cst_local *e, real *phi)
{
    law_eval(e, NULL);
    phi[0] = law_out(e, PHI);
}

static void expression_phi_x(const cst_local *e, real *J)
{
    law_eval(e, NULL);
    for (int i = 0; i < e->nx; i++) J[i] = law_out(e, PHI_X + i);
}

static void expression_phi_t(const cst_local *e, real *r)
{
    law_eval(e, NULL);
    r[0] = law_out(e, phi_t_out(e));
}

static void expression_gamma(const cst_local *e, real *g)
{
    law_eval(e, NULL);
    g[0] = law_out(e, gamma_out(e));
}

static void expression_hess(const cst_local *e, const real *w, real *H)
{
    law_eval(e, NULL);
    for (int i = 0; i < e->nx; i++)
        law_gradient(e, PHI_X + i, w[0], NULL, H + i * e->nx, NULL, NULL, NULL);
}

static void expression_phi_p(const cst_local *e, real *P)
{
    law_eval(e, NULL);
    law_gradient(e, PHI, 1, NULL, NULL, NULL, NULL, P);
}

static void expression_force_p(const cst_local *e, const real *w, real *P)
{
    law_eval(e, NULL);
    for (int i = 0; i < e->nx; i++)
        law_gradient(e, PHI_X + i, w[0], NULL, NULL, NULL, NULL, P + i * e->np);
}

static void expression_phi_t_lin(const cst_local *e, const real *w, real *g_x, real *g_p)
{
    law_eval(e, NULL);
    law_gradient(e, phi_t_out(e), w[0], NULL, g_x, NULL, NULL, g_p);
}

static void expression_gamma_lin(const cst_local *e, const real *w, real *g_x, real *g_xd,
                                 real *g_p)
{
    law_eval(e, NULL);
    law_gradient(e, gamma_out(e), w[0], NULL, g_x, g_xd, NULL, g_p);
}

static int expression_outputs_t(const cst_local *e, real *d)
{
    law_eval(e, NULL);
    if (!law_time(e)) return 0;
    for (int i = 0; i < e->nx + 3; i++) d[i] = law_out_t(e, i);
    return 1;
}

const cst_constraint_class CST_K(cst_expression) = {
    .name = "expression",
    .nslot = -1,
    .nphi = 1,
    .np = 0,
    .phi = expression_phi,
    .phi_x = expression_phi_x,
    .phi_t = expression_phi_t,
    .gamma = expression_gamma,
    .hess = expression_hess,
    .phi_p = expression_phi_p,
    .force_p = expression_force_p,
    .phi_t_lin = expression_phi_t_lin,
    .gamma_lin = expression_gamma_lin,
    .outputs_t = expression_outputs_t,
    .slots = NULL,
};
