/* SPDX-License-Identifier: MIT
 *
 * Quadratic constraints of one row, driven by one quantity s, p = (s, s', s''):
 *
 *     phi = sum_k Q_k(s) y_i.y_j - c(s) = 1/2 y^T Q y - c,     y: slots, or differences of two
 * slots
 *
 * A primitive says what its y and its pairs are and supplies form(): the coefficients Q_k and c
 * with their first three derivatives in s. All else is written once here, in terms of A_n = 1/2 y^T
 * Q^(n) y - c^(n):
 *
 *     phi = A_0,   phi_y = Q y,   phi_t = A_1 s'
 *     gamma = y'^T Q y' + 2 (y^T Q1 y') s' + A_2 s'^2 + A_1 s''
 *
 * Differences are formed before products, so that |a - b|^2 keeps its digits far from the origin.
 * The functions are inline and the quadric is a constant: each class compiles to straight code for
 * its own form.
 * */
#ifndef CST_ELEMENT_QUADRIC_H
#define CST_ELEMENT_QUADRIC_H

#include "element/element.h"
#include "linalg/dense.h"

#include <stddef.h>

enum { QUADRIC_Y = 3, QUADRIC_PAIRS = 2, QUADRIC_NP = 3 };

typedef struct quadric {
    int nslot, ny, npair;
    int driven; /* 0: Q does not depend on s */
    struct {
        int plus, minus;
    } y[QUADRIC_Y]; /* y = x_plus - x_minus; minus -1: none */
    struct {
        int i, j;
    } pair[QUADRIC_PAIRS];
    void (*form)(real s, real Q[4][QUADRIC_PAIRS], real c[4]); /* both zeroed before the call */
} quadric;

typedef struct quadric_at { /* a quadric at a state */
    real Q[4][QUADRIC_PAIRS], c[4];
    real y[3 * QUADRIC_Y], yd[3 * QUADRIC_Y];
    real s1, s2; /* s', s'' */
} quadric_at;

static inline void quadric_read(const quadric *d, const real *x, real *y)
{
    for (int i = 0; i < d->ny; i++)
        for (int k = 0; k < 3; k++) {
            y[3 * i + k] = x[3 * d->y[i].plus + k];
            if (d->y[i].minus >= 0) y[3 * i + k] -= x[3 * d->y[i].minus + k];
        }
}

static inline void quadric_eval(const quadric *d, const cst_local *e, int rates, quadric_at *at)
{
    for (int n = 0; n < 4; n++) {
        at->c[n] = 0;
        for (int k = 0; k < QUADRIC_PAIRS; k++) at->Q[n][k] = 0;
    }
    d->form(e->p[0], at->Q, at->c);
    at->s1 = e->p[1], at->s2 = e->p[2];
    quadric_read(d, e->x, at->y);
    if (rates) quadric_read(d, e->xd, at->yd);
}

/* A_n = 1/2 y^T Q^(n) y - c^(n) */
static inline real quadric_A(const quadric *d, const quadric_at *at, int n)
{
    real A = -at->c[n];
    for (int k = 0; (n == 0 || d->driven) && k < d->npair; k++)
        A += at->Q[n][k] * v3_dot(at->y + 3 * d->pair[k].i, at->y + 3 * d->pair[k].j);
    return A;
}

/* a^T Q^(n) b */
static inline real quadric_product(const quadric *d, const quadric_at *at, int n, const real *a,
                                   const real *b)
{
    real sum = 0;
    for (int k = 0; (n == 0 || d->driven) && k < d->npair; k++) {
        int i = 3 * d->pair[k].i, j = 3 * d->pair[k].j;
        sum += at->Q[n][k] * (v3_dot(a + i, b + j) + v3_dot(a + j, b + i));
    }
    return sum;
}

/* g += w Q^(n) a */
static inline void quadric_apply(const quadric *d, const quadric_at *at, int n, real w,
                                 const real *a, real *g)
{
    for (int k = 0; (n == 0 || d->driven) && k < d->npair; k++) {
        int i = 3 * d->pair[k].i, j = 3 * d->pair[k].j;
        v3_axpy(w * at->Q[n][k], a + j, g + i);
        v3_axpy(w * at->Q[n][k], a + i, g + j);
    }
}

/* from derivatives by y to derivatives by x, `stride` entries apart */
static inline void quadric_spread(const quadric *d, const real *g_y, real *g_x, int stride)
{
    for (int i = 0; i < 3 * d->nslot; i++) g_x[i * stride] = 0;
    for (int i = 0; i < d->ny; i++)
        for (int k = 0; k < 3; k++) {
            g_x[(3 * d->y[i].plus + k) * stride] += g_y[3 * i + k];
            if (d->y[i].minus >= 0) g_x[(3 * d->y[i].minus + k) * stride] -= g_y[3 * i + k];
        }
}

static inline void quadric_phi(const quadric *d, const cst_local *e, real *phi)
{
    quadric_at at;
    quadric_eval(d, e, 0, &at);
    phi[0] = quadric_A(d, &at, 0);
}

static inline void quadric_phi_x(const quadric *d, const cst_local *e, real *J)
{
    quadric_at at;
    real g[3 * QUADRIC_Y] = {0};
    quadric_eval(d, e, 0, &at);
    quadric_apply(d, &at, 0, 1, at.y, g);
    quadric_spread(d, g, J, 1);
}

static inline void quadric_react(const quadric *d, const cst_local *e, const real *w, real *phi,
                                 real *f)
{
    quadric_at at;
    real g[3 * QUADRIC_Y] = {0};
    quadric_eval(d, e, 0, &at);
    phi[0] = quadric_A(d, &at, 0);
    quadric_apply(d, &at, 0, w[0], at.y, g);
    quadric_spread(d, g, f, 1);
}

static inline void quadric_phi_t(const quadric *d, const cst_local *e, real *r)
{
    quadric_at at;
    quadric_eval(d, e, 0, &at);
    r[0] = quadric_A(d, &at, 1) * at.s1;
}

static inline void quadric_gamma(const quadric *d, const cst_local *e, real *g)
{
    quadric_at at;
    quadric_eval(d, e, 1, &at);
    g[0] = quadric_product(d, &at, 0, at.yd, at.yd) +
           2 * quadric_product(d, &at, 1, at.y, at.yd) * at.s1 +
           quadric_A(d, &at, 2) * at.s1 * at.s1 + quadric_A(d, &at, 1) * at.s2;
}

static inline void quadric_hess_add(int nx, int i, int j, real v, real *H)
{
    for (int k = 0; i >= 0 && j >= 0 && k < 3; k++) {
        H[(3 * i + k) * nx + 3 * j + k] += v;
        H[(3 * j + k) * nx + 3 * i + k] += v;
    }
}

static inline void quadric_hess(const quadric *d, const cst_local *e, const real *w, real *H)
{
    int nx = 3 * d->nslot;
    quadric_at at;
    quadric_eval(d, e, 0, &at);
    for (int i = 0; i < nx * nx; i++) H[i] = 0;
    for (int k = 0; k < d->npair; k++) {
        int i = d->pair[k].i, j = d->pair[k].j;
        real v = w[0] * at.Q[0][k];
        quadric_hess_add(nx, d->y[i].plus, d->y[j].plus, v, H);
        quadric_hess_add(nx, d->y[i].plus, d->y[j].minus, -v, H);
        quadric_hess_add(nx, d->y[i].minus, d->y[j].plus, -v, H);
        quadric_hess_add(nx, d->y[i].minus, d->y[j].minus, v, H);
    }
}

static inline void quadric_phi_p(const quadric *d, const cst_local *e, real *P)
{
    quadric_at at;
    quadric_eval(d, e, 0, &at);
    P[0] = quadric_A(d, &at, 1), P[1] = P[2] = 0;
}

static inline void quadric_force_p(const quadric *d, const cst_local *e, const real *w, real *P)
{
    quadric_at at;
    real g[3 * QUADRIC_Y] = {0};
    quadric_eval(d, e, 0, &at);
    quadric_apply(d, &at, 1, w[0], at.y, g);
    for (int i = 0; i < 3 * d->nslot * QUADRIC_NP; i++) P[i] = 0;
    quadric_spread(d, g, P, QUADRIC_NP);
}

static inline void quadric_phi_t_lin(const quadric *d, const cst_local *e, const real *w, real *g_x,
                                     real *g_p)
{
    quadric_at at;
    quadric_eval(d, e, 0, &at);
    if (g_x != NULL) {
        real g[3 * QUADRIC_Y] = {0};
        quadric_apply(d, &at, 1, w[0] * at.s1, at.y, g);
        quadric_spread(d, g, g_x, 1);
    }
    if (g_p == NULL) return;
    g_p[0] = w[0] * quadric_A(d, &at, 2) * at.s1;
    g_p[1] = w[0] * quadric_A(d, &at, 1);
    g_p[2] = 0;
}

/* gamma_y   = 2 Q1 y' s' + Q2 y s'^2 + Q1 y s''
 * gamma_y'  = 2 Q y' + 2 Q1 y s'
 * gamma_s   = y'^T Q1 y' + 2 (y^T Q2 y') s' + A_3 s'^2 + A_2 s''
 * gamma_s'  = 2 y^T Q1 y' + 2 A_2 s',   gamma_s'' = A_1 */
static inline void quadric_gamma_lin(const quadric *d, const cst_local *e, const real *w, real *g_x,
                                     real *g_xd, real *g_p)
{
    quadric_at at;
    quadric_eval(d, e, 1, &at);
    real s1 = at.s1, s2 = at.s2;
    if (g_x != NULL) {
        real g[3 * QUADRIC_Y] = {0};
        quadric_apply(d, &at, 1, 2 * w[0] * s1, at.yd, g);
        quadric_apply(d, &at, 2, w[0] * s1 * s1, at.y, g);
        quadric_apply(d, &at, 1, w[0] * s2, at.y, g);
        quadric_spread(d, g, g_x, 1);
    }
    if (g_xd != NULL) {
        real g[3 * QUADRIC_Y] = {0};
        quadric_apply(d, &at, 0, 2 * w[0], at.yd, g);
        quadric_apply(d, &at, 1, 2 * w[0] * s1, at.y, g);
        quadric_spread(d, g, g_xd, 1);
    }
    if (g_p == NULL) return;
    real A2 = quadric_A(d, &at, 2);
    g_p[0] = w[0] * (quadric_product(d, &at, 1, at.yd, at.yd) +
                     2 * quadric_product(d, &at, 2, at.y, at.yd) * s1 +
                     quadric_A(d, &at, 3) * s1 * s1 + A2 * s2);
    g_p[1] = w[0] * 2 * (quadric_product(d, &at, 1, at.y, at.yd) + A2 * s1);
    g_p[2] = w[0] * quadric_A(d, &at, 1);
}

/* Q does not depend on s: phi_x is linear in x, written J(x), so that the Hessian times d is J(d).
 * With S = d.J(x) + k0 phi + k1 (x'.J(x) + phi_t) + k2 (xa.J(x) + gamma) x_bar = J(d + k0 x + k1 x'
 * + k2 xa),   x'_bar = J(k1 x + 2 k2 x'),   xa_bar = k2 J(x) */
static inline void quadric_bars(const quadric *q, const cst_local *e, const real *k, const real *d,
                                const real *xa, real *J, real *x, real *xd, real *p)
{
    enum { N = 3 * QUADRIC_Y };
    quadric_at at;
    int n = 3 * q->nslot;
    real sum[N], y[N],
        g[3][N] = {
            {0},
        };
    quadric_eval(q, e, 0, &at);
    quadric_apply(q, &at, 0, 1, at.y, g[0]);
    quadric_spread(q, g[0], J, 1);
    for (int i = 0; i < n; i++) sum[i] = d[i] + k[0] * e->x[i];
    for (int i = 0; k[1] != 0 && i < n; i++) sum[i] += k[1] * e->xd[i];
    for (int i = 0; k[2] != 0 && i < n; i++) sum[i] += k[2] * xa[i];
    quadric_read(q, sum, y);
    quadric_apply(q, &at, 0, 1, y, g[1]);
    quadric_spread(q, g[1], x, 1);
    if (k[2] != 0) {
        for (int i = 0; i < n; i++) sum[i] = k[1] * e->x[i] + 2 * k[2] * e->xd[i];
        quadric_read(q, sum, y);
        quadric_apply(q, &at, 0, 1, y, g[2]);
        quadric_spread(q, g[2], xd, 1);
    } else {
        for (int i = 0; k[1] != 0 && i < n; i++) xd[i] = k[1] * J[i];
    }
    real s1 = at.s1, A1 = -at.c[1], A2 = -at.c[2], A3 = -at.c[3];
    p[0] += k[0] * A1 + k[1] * A2 * s1 + k[2] * (A3 * s1 * s1 + A2 * at.s2);
    p[1] += k[1] * A1 + 2 * k[2] * A2 * s1;
    p[2] += k[2] * A1;
}

/* The bars of a quadric that is not driven */
#define CST_QUADRIC_BARS(id, shape)                                                                \
    static void id##_bars(const cst_local *e, const real *k, const real *d, const real *xa,        \
                          real *J, real *x, real *xd, real *p)                                     \
    {                                                                                              \
        quadric_bars(&shape, e, k, d, xa, J, x, xd, p);                                            \
    }

/* The class CST_K(cst_<id>) of a quadric named `shape`, a static const of the file; own_bars NULL:
 * it is driven. */
#define CST_QUADRIC_CLASS(id, shape, letters, own_bars)                                            \
    static void id##_phi(const cst_local *e, real *phi) { quadric_phi(&shape, e, phi); }           \
    static void id##_phi_x(const cst_local *e, real *J) { quadric_phi_x(&shape, e, J); }           \
    static void id##_react(const cst_local *e, const real *w, real *phi, real *f)                  \
    {                                                                                              \
        quadric_react(&shape, e, w, phi, f);                                                       \
    }                                                                                              \
    static void id##_phi_t(const cst_local *e, real *r) { quadric_phi_t(&shape, e, r); }           \
    static void id##_gamma(const cst_local *e, real *g) { quadric_gamma(&shape, e, g); }           \
    static void id##_hess(const cst_local *e, const real *w, real *H)                              \
    {                                                                                              \
        quadric_hess(&shape, e, w, H);                                                             \
    }                                                                                              \
    static void id##_phi_p(const cst_local *e, real *P) { quadric_phi_p(&shape, e, P); }           \
    static void id##_force_p(const cst_local *e, const real *w, real *P)                           \
    {                                                                                              \
        quadric_force_p(&shape, e, w, P);                                                          \
    }                                                                                              \
    static void id##_phi_t_lin(const cst_local *e, const real *w, real *g_x, real *g_p)            \
    {                                                                                              \
        quadric_phi_t_lin(&shape, e, w, g_x, g_p);                                                 \
    }                                                                                              \
    static void id##_gamma_lin(const cst_local *e, const real *w, real *g_x, real *g_xd,           \
                               real *g_p)                                                          \
    {                                                                                              \
        quadric_gamma_lin(&shape, e, w, g_x, g_xd, g_p);                                           \
    }                                                                                              \
    const cst_constraint_class CST_K(cst_##id) = {                                                 \
        .name = #id,                                                                               \
        .nslot = (int)sizeof letters - 1,                                                          \
        .nphi = 1,                                                                                 \
        .np = QUADRIC_NP,                                                                          \
        .scalar = 1,                                                                               \
        .bars = own_bars,                                                                          \
        .phi = id##_phi,                                                                           \
        .phi_x = id##_phi_x,                                                                       \
        .react = id##_react,                                                                       \
        .phi_t = id##_phi_t,                                                                       \
        .gamma = id##_gamma,                                                                       \
        .hess = id##_hess,                                                                         \
        .phi_p = id##_phi_p,                                                                       \
        .force_p = id##_force_p,                                                                   \
        .phi_t_lin = id##_phi_t_lin,                                                               \
        .gamma_lin = id##_gamma_lin,                                                               \
        .slots = letters,                                                                          \
    }

#endif
