/* SPDX-License-Identifier: MIT
 *
 * The Magic Formula as Bakker, Nyborg and Pacejka (1987, 1989) give it, with F = Fn in kN, x in
 * percent or degrees, camber g:
 *
 *     y(x) = sin(C atan(B x - E (B x - atan(B x)))),    D = a1 F^2 + a2 F,   E = a6 F^2 + a7 F + a8
 *     Fx:  B C D = (a3 F^2 + a4 F)/exp(a5 F)            Fx = D y(kappa)
 *     Fy:  B C D = a3 sin(a4 atan(a5 F)) (1 - a12 |g|)  Fy = D y(alpha + a9 g) + (a10 F^2 + a11 F)
 * g Mz:  B C D = (a3 F^2 + a4 F)/exp(a5 F) (1 - a12 |g|),  E/(1 - a13 |g|),  Mz as Fy
 *
 * friction mu multiplies D and leaves B C D, the stiffness at small slips, as it is. Where y_x^2 +
 * y_y^2 > 1 all are divided by its root: the friction ellipse. */
#include "element/tire.h"

#define DUAL_LANES 42
#include "element/dual.h"

#include <stddef.h>

enum { MU, SHAPE, FX = SHAPE + 3, FY = FX + 8, MZ = FY + 13, NP = MZ + 13 }; /* own numbers */
enum { A1, A2, A3, A4, A5, A6, A7, A8, A9, A10, A11, A12, A13 };

const cst_field CST_K(cst_tire_magic_field)[] = {
    CST_TIRE_FIELDS,
    {"friction", CST_F_NUMBER, "1", 1e-12, INFINITY, "1", "mu: multiplies the peaks D"},
    {"shape", CST_F_NUMBERS, "1", CST_ANY, "[1.65, 1.3, 2.4]", "C of fx, fy and mz"},
    {"fx", CST_F_NUMBERS, CST_BY_CONTEXT, CST_ANY,
     "[-21.3, 1144, 49.6, 226, 0.069, -0.006, 0.056, 0.486]", "a1 .. a8 of the longitudinal force"},
    {"fy", CST_F_NUMBERS, CST_BY_CONTEXT, CST_ANY,
     "[-22.1, 1011, 1078, 1.82, 0.208, 0, -0.354, 0.707, 0.028, 0, 14.8, 0.022, 0]",
     "a1 .. a13 of the lateral force; a13 has no effect"},
    {"mz", CST_F_NUMBERS, CST_BY_CONTEXT, CST_ANY,
     "[-2.72, -2.28, -1.86, -2.73, 0.11, -0.07, 0.643, -4.04, 0.015, -0.066, 0.945, 0.03, 0.07]",
     "a1 .. a13 of the aligning moment"},
    {0},
};

static dual times(int n, dual a, dual b) { return dual_mul(n, a, b); }

/* a F^2 + b F */
static dual quadratic(int n, dual a, dual b, dual F)
{
    return times(n, F, dual_add(n, times(n, a, F), b));
}

static dual dual_atan(int n, dual x)
{
    return dual_chain(n, sc_atan(x.v), 1 / (1 + x.v * x.v), &x);
}
static dual dual_sin(int n, dual x) { return dual_chain(n, sc_sin(x.v), sc_cos(x.v), &x); }
static dual dual_exp(int n, dual x) { return dual_chain(n, sc_exp(x.v), sc_exp(x.v), &x); }

/* 1 - a |g| */
static dual less(int n, dual a, dual g)
{
    return dual_sub(n, dual_const(n, 1), times(n, a, dual_abs(n, g)));
}

typedef struct curve {
    dual y, D, shift;
} curve; /* force = D y + shift */

/* which: 0 Fx, 1 Fy, 2 Mz; a: its coefficients */
static curve curve_of(int n, int which, dual F, dual x, dual g, dual mu, dual C, const dual *a)
{
    curve c = {.D = times(n, mu, quadratic(n, a[A1], a[A2], F)), .shift = dual_const(n, 0)};
    dual E = dual_add(n, quadratic(n, a[A6], a[A7], F), a[A8]);
    dual BCD = which == 1
                   ? times(n, a[A3], dual_sin(n, times(n, a[A4], dual_atan(n, times(n, a[A5], F)))))
                   : dual_div(n, quadratic(n, a[A3], a[A4], F), dual_exp(n, times(n, a[A5], F)));
    if (which > 0) {
        BCD = times(n, BCD, less(n, a[A12], g));
        x = dual_add(n, x, times(n, a[A9], g));
        c.shift = times(n, quadratic(n, a[A10], a[A11], F), g);
    }
    if (which == 2) E = dual_div(n, E, less(n, a[A13], g));
    dual Bx = times(n, dual_div(n, BCD, times(n, C, c.D)), x);
    dual inner = dual_sub(n, Bx, times(n, E, dual_sub(n, Bx, dual_atan(n, Bx))));
    c.y = dual_sin(n, times(n, C, dual_atan(n, inner)));
    return c;
}

/* a: the inputs, then the own numbers */
static void curves_of(int n, const dual *a, curve c[CST_TIRE_OUT])
{
    const double degree = 57.29577951308232;
    const dual *q = a + CST_TIRE_IN;
    dual F = dual_scale(n, 1e-3, a[CST_TIRE_FN]), g = dual_scale(n, degree, a[CST_TIRE_CAMBER]);
    dual kappa = dual_scale(n, 100, a[CST_TIRE_KAPPA]),
         alpha = dual_scale(n, degree, a[CST_TIRE_ALPHA]);
    c[0] = curve_of(n, 0, F, kappa, g, q[MU], q[SHAPE], q + FX);
    c[1] = curve_of(n, 1, F, alpha, g, q[MU], q[SHAPE + 1], q + FY);
    c[2] = curve_of(n, 2, F, alpha, g, q[MU], q[SHAPE + 2], q + MZ);
}

static void law(const real *in, const real *p, real *out, real *out_in, real *out_p)
{
    int n = out_p ? CST_TIRE_IN + NP : out_in ? CST_TIRE_IN : 0;
    dual a[CST_TIRE_IN + NP];
    curve c[CST_TIRE_OUT];
    for (int i = 0; i < CST_TIRE_IN; i++) a[i] = dual_input(n, in[i], i);
    for (int i = 0; i < NP; i++)
        a[CST_TIRE_IN + i] = out_p ? dual_input(n, p[i], CST_TIRE_IN + i) : dual_const(n, p[i]);
    curves_of(n, a, c);
    dual size = dual_add(n, times(n, c[0].y, c[0].y), times(n, c[1].y, c[1].y));
    dual root = sc_val(size.v) > 1 ? dual_inv(n, dual_sqrt(n, size)) : dual_const(n, 1);
    for (int k = 0; k < CST_TIRE_OUT; k++) {
        dual f = dual_add(n, times(n, root, times(n, c[k].D, c[k].y)), c[k].shift);
        out[k] = f.v;
        for (int i = 0; out_in && i < CST_TIRE_IN; i++) out_in[k * CST_TIRE_IN + i] = f.d[i];
        for (int i = 0; out_p && i < NP; i++) out_p[k * NP + i] = f.d[CST_TIRE_IN + i];
    }
}

/* 1: beyond the friction ellipse; 2 and 4: the side to which the wheel leans, since the law reads
 * |camber|. Upright to rounding it is on neither, and on a kink if it slips to the side: |camber|
 * multiplies that. */
static int piece(const real *in, const real *p)
{
    dual a[CST_TIRE_IN + NP];
    curve c[CST_TIRE_OUT];
    double g = sc_val(in[CST_TIRE_CAMBER]);
    for (int i = 0; i < CST_TIRE_IN + NP; i++)
        a[i] = dual_const(0, i < CST_TIRE_IN ? in[i] : p[i - CST_TIRE_IN]);
    curves_of(0, a, c);
    const int side = 2 * (g > 1e-9) + 4 * (g < -1e-9),
              slips = fabs(sc_val(in[CST_TIRE_ALPHA])) > 1e-6;
    return (sc_val(c[0].y.v * c[0].y.v + c[1].y.v * c[1].y.v) > 1) + side +
           (side == 0 && slips ? CST_ON_KINK : 0);
}

CST_TIRE_DEFINE(magic, law, piece, NP);
