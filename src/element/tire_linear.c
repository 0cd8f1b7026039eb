/* SPDX-License-Identifier: MIT
 *
 * Tire that is linear in its slips, with saturation (Zhu et al.; Lopez Varela and Mouzo):
 *
 *     X = clamp(kappa/kappa_c, -1, 1),  Y = clamp(alpha/alpha_c, -1, 1),  both divided by sqrt(X^2 + Y^2) where that exceeds 1
 *     Fx = mu_x Fn X,  Fy = mu_y Fn Y,  Mz = 0 */
#include "element/tire.h"

#define DUAL_LANES 8
#include "element/dual.h"

#include <stddef.h>

enum { MU_X, MU_Y, KAPPA_C, ALPHA_C, NP };

const cst_field CST_K(cst_tire_linear_field)[] = {
    CST_TIRE_FIELDS,
    {"friction", CST_F_NUMBER, "1", CST_NOT_NEGATIVE, "1", "mu, longitudinal and lateral"},
    {"lateral_friction", CST_F_NUMBER, "1", CST_NOT_NEGATIVE, "", "mu, lateral, if it differs"},
    {"critical_slip", CST_F_NUMBER, "1", 1e-12, INFINITY, "0.1", "longitudinal slip at which friction saturates"},
    {"critical_angle", CST_F_NUMBER, "rad", 1e-12, INFINITY, "0.1", "slip angle at which friction saturates"},
    {0},
};

static dual clamp_one(int n, dual x)
{
    return sc_val(x.v) > 1 ? dual_const(n, 1) : sc_val(x.v) < -1 ? dual_const(n, -1) : x;
}

static void law(const real *in, const real *p, real *out, real *out_in, real *out_p)
{
    int n = out_p ? CST_TIRE_IN + NP : out_in ? CST_TIRE_IN : 0;
    dual a[CST_TIRE_IN + NP], y[2];
    for (int i = 0; i < CST_TIRE_IN; i++) a[i] = dual_input(n, in[i], i);
    for (int i = 0; i < NP; i++) a[CST_TIRE_IN + i] = out_p ? dual_input(n, p[i], CST_TIRE_IN + i) : dual_const(n, p[i]);
    const dual *q = a + CST_TIRE_IN;
    y[0] = clamp_one(n, dual_div(n, a[CST_TIRE_KAPPA], q[KAPPA_C]));
    y[1] = clamp_one(n, dual_div(n, a[CST_TIRE_ALPHA], q[ALPHA_C]));
    dual size = dual_add(n, dual_mul(n, y[0], y[0]), dual_mul(n, y[1], y[1]));
    dual root = sc_val(size.v) > 1 ? dual_inv(n, dual_sqrt(n, size)) : dual_const(n, 1);
    out[CST_TIRE_MZ] = 0;
    for (int k = 0; k < CST_TIRE_OUT; k++) {
        dual f = k < 2 ? dual_mul(n, dual_mul(n, q[k], a[CST_TIRE_FN]), dual_mul(n, y[k], root)) : dual_const(n, 0);
        out[k] = f.v;
        for (int i = 0; out_in && i < CST_TIRE_IN; i++) out_in[k * CST_TIRE_IN + i] = f.d[i];
        for (int i = 0; out_p && i < NP; i++) out_p[k * NP + i] = f.d[CST_TIRE_IN + i];
    }
}

CST_TIRE_DEFINE(linear, law, NP);
