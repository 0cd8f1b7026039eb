/* SPDX-License-Identifier: MIT
 *
 * Forward derivatives of a small kernel with respect to a few inputs at once: a value and n lanes.
 * For laws whose partials are too many to write by hand and which are too hot for a tape. n = 0:
 * the value alone. */
#ifndef CST_ELEMENT_DUAL_H
#define CST_ELEMENT_DUAL_H

#include "base/scalar.h"

#ifndef DUAL_LANES
#error "define DUAL_LANES, the most inputs, before including dual.h"
#endif

#if defined(__GNUC__) &&                                                                           \
    !defined(__clang__) /* lanes from n on are copied with the others, and never read */
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

typedef struct dual {
    real v, d[DUAL_LANES];
} dual;

/* y = f(a): y.v given, y.d = f' a.d */
static inline dual dual_chain(int n, real v, real slope, const dual *a)
{
    dual y;
    y.v = v;
    for (int i = 0; i < n; i++) y.d[i] = slope * a->d[i];
    return y;
}

static inline dual dual_const(int n, real v)
{
    dual y;
    y.v = v;
    for (int i = 0; i < n; i++) y.d[i] = 0;
    return y;
}

static inline dual dual_input(int n, real v, int lane)
{
    dual y = dual_const(n, v);
    if (n) y.d[lane] = 1;
    return y;
}

static inline dual dual_axpy(int n, real c, dual a, dual b) /* c a + b */
{
    dual y;
    y.v = c * a.v + b.v;
    for (int i = 0; i < n; i++) y.d[i] = c * a.d[i] + b.d[i];
    return y;
}

static inline dual dual_add(int n, dual a, dual b) { return dual_axpy(n, 1, a, b); }
static inline dual dual_sub(int n, dual a, dual b) { return dual_axpy(n, -1, b, a); }
static inline dual dual_scale(int n, real c, dual a) { return dual_chain(n, c * a.v, c, &a); }

static inline dual dual_mul(int n, dual a, dual b)
{
    dual y;
    y.v = a.v * b.v;
    for (int i = 0; i < n; i++) y.d[i] = a.d[i] * b.v + a.v * b.d[i];
    return y;
}

static inline dual dual_inv(int n, dual a) { return dual_chain(n, 1 / a.v, -1 / (a.v * a.v), &a); }
static inline dual dual_div(int n, dual a, dual b) { return dual_mul(n, a, dual_inv(n, b)); }
static inline dual dual_abs(int n, dual a) { return sc_val(a.v) < 0 ? dual_scale(n, -1, a) : a; }
static inline dual dual_asin(int n, dual a)
{
    return dual_chain(n, sc_asin(a.v), 1 / sc_sqrt(1 - a.v * a.v), &a);
}

static inline dual dual_sqrt(int n, dual a)
{
    real s = sc_sqrt(a.v);
    return dual_chain(n, s, sc_val(s) > 0 ? 0.5 / s : 0, &a);
}

static inline dual dual_dot(int n, const dual a[3], const dual b[3])
{
    return dual_add(n, dual_mul(n, a[0], b[0]),
                    dual_add(n, dual_mul(n, a[1], b[1]), dual_mul(n, a[2], b[2])));
}

static inline void dual_cross(int n, const dual a[3], const dual b[3], dual c[3])
{
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        c[i] = dual_sub(n, dual_mul(n, a[j], b[k]), dual_mul(n, a[k], b[j]));
    }
}

#endif
