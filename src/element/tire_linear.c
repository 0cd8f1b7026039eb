/* SPDX-License-Identifier: MIT
 *
 * Tire that is linear in its slips, with saturation (Zhu et al.; Lopez Varela and Mouzo):
 *
 *     X = clamp(kappa/kappa_c, -1, 1),  Y = clamp(alpha/alpha_c, -1, 1),  both divided by sqrt(X^2
 * + Y^2) where that exceeds 1 Fx = mu_x Fn X,  Fy = mu_y Fn Y,  Mz = 0 */
#include "element/tire.h"

#include <stddef.h>

enum { MU_X, MU_Y, KAPPA_C, ALPHA_C, NP };

const cst_field CST_K(cst_tire_linear_field)[] = {
    CST_TIRE_FIELDS,
    {"friction", CST_F_NUMBER, "1", CST_NOT_NEGATIVE, "1", "mu, longitudinal and lateral"},
    {"lateral_friction", CST_F_NUMBER, "1", CST_NOT_NEGATIVE, "", "mu, lateral, if it differs"},
    {"critical_slip", CST_F_NUMBER, "1", 1e-12, INFINITY, "0.1",
     "longitudinal slip at which friction saturates"},
    {"critical_angle", CST_F_NUMBER, "rad", 1e-12, INFINITY, "0.1",
     "slip angle at which friction saturates"},
    {0},
};

/* y = clamp(x/limit, -1, 1); its slopes in x and in the limit */
static real share(real x, real limit, real slope[2])
{
    real y = x / limit;
    int inside = sc_val(sc_abs(y)) <= 1;
    slope[0] = inside ? 1 / limit : 0, slope[1] = inside ? -y / limit : 0;
    return inside ? y : sc_val(y) > 0 ? 1 : -1;
}

static void law(const real *in, const real *p, real *out, real *out_in, real *out_p)
{
    real slope[2][2], y[2] = {share(in[CST_TIRE_KAPPA], p[KAPPA_C], slope[0]),
                              share(in[CST_TIRE_ALPHA], p[ALPHA_C], slope[1])};
    real size = y[0] * y[0] + y[1] * y[1], root = 1, cubed = 0;
    if (sc_val(size) > 1)
        root = 1 / sc_sqrt(size), cubed = root * root * root; /* root_y = -cubed y */
    out[CST_TIRE_MZ] = 0;
    for (int i = 0; out_in && i < CST_TIRE_IN; i++) out_in[CST_TIRE_MZ * CST_TIRE_IN + i] = 0;
    for (int i = 0; out_p && i < NP; i++) out_p[CST_TIRE_MZ * NP + i] = 0;
    for (int k = 0; k < 2; k++) {
        real load = p[MU_X + k] * in[CST_TIRE_FN], f_y[2]; /* f = load y_k root */
        out[k] = load * y[k] * root;
        for (int i = 0; i < 2; i++) f_y[i] = load * ((i == k ? root : 0) - cubed * y[k] * y[i]);
        if (out_in) {
            real *g = out_in + k * CST_TIRE_IN;
            g[CST_TIRE_FN] = p[MU_X + k] * y[k] * root, g[CST_TIRE_CAMBER] = 0;
            g[CST_TIRE_KAPPA] = f_y[0] * slope[0][0], g[CST_TIRE_ALPHA] = f_y[1] * slope[1][0];
        }
        if (out_p) {
            real *g = out_p + k * NP;
            g[MU_X] = g[MU_Y] = 0;
            g[MU_X + k] = in[CST_TIRE_FN] * y[k] * root;
            g[KAPPA_C] = f_y[0] * slope[0][1], g[ALPHA_C] = f_y[1] * slope[1][1];
        }
    }
}

/* 1: beyond the ellipse, 2: the slip is beyond its critical value, 4: the angle is */
static int piece(const real *in, const real *p)
{
    double x = sc_val(in[CST_TIRE_KAPPA] / p[KAPPA_C]), y = sc_val(in[CST_TIRE_ALPHA] / p[ALPHA_C]);
    return (x * x + y * y > 1) + 2 * (x * x > 1) + 4 * (y * y > 1);
}

CST_TIRE_DEFINE(linear, law, piece, NP);
