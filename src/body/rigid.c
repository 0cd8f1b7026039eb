/* SPDX-License-Identifier: MIT
 *
 * Rigid body: q = (r, e1, e2, e3), u = (v, omega), both in ground axes.
 *
 *     r' = v,  e_i' = omega x e_i
 *     T0 u = (v, 0, 0, 0),  L(q, u) = (0, omega x e_1, omega x e_2, omega x e_3) */
#include "body/body.h"
#include "linalg/dense.h"

enum { R = 0, E = 3, NE = 3, V = 0, OMEGA = 3, NU = 6 };

static void rigid_L(const real *dq, const real *u, real *ddq)
{
    for (int i = 0; i < NE; i++) {
        real w[3];
        v3_cross(u + OMEGA, dq + E + 3 * i, w);
        v3_axpy(1, w, ddq + E + 3 * i);
    }
}

static void rigid_T(const real *q, const real *u, real *dq)
{
    for (int j = 0; j < 3; j++) dq[R + j] = u[V + j];
    for (int i = 0; i < NE; i++) v3_cross(u + OMEGA, q + E + 3 * i, dq + E + 3 * i);
}

/* r_i . (omega x d_i) = omega . (d_i x r_i): also the torque of forces r_i on the directions d_i */
static void rigid_Ltu(const real *dq, const real *r, real *ubar)
{
    for (int i = 0; i < NE; i++) {
        real m[3];
        v3_cross(dq + E + 3 * i, r + E + 3 * i, m);
        v3_axpy(1, m, ubar + OMEGA);
    }
}

static void rigid_Tt(const real *q, const real *r, real *rho)
{
    for (int j = 0; j < 3; j++) rho[V + j] = r[R + j], rho[OMEGA + j] = 0;
    rigid_Ltu(q, r, rho);
}

/* r_i . (omega x d_i) = d_i . (r_i x omega) */
static void rigid_Lt(const real *u, const real *r, real *qbar)
{
    for (int i = 0; i < NE; i++) {
        real w[3];
        v3_cross(r + E + 3 * i, u + OMEGA, w);
        v3_axpy(1, w, qbar + E + 3 * i);
    }
}

/* d(e_i x r_i) = (dtheta x e_i) x r_i = (e_i r_i^T - (e_i . r_i) I) dtheta */
static void rigid_geo(const real *q, const real *r, real s, real *G)
{
    for (int i = 0; i < NE; i++) {
        const real *e = q + E + 3 * i, *f = r + E + 3 * i;
        real ef = v3_dot(e, f);
        for (int j = 0; j < 3; j++) {
            real *row = G + (OMEGA + j) * NU + OMEGA;
            for (int k = 0; k < 3; k++) row[k] += s * e[j] * f[k];
            row[j] -= s * ef;
        }
    }
}

/* m = w_0 r + d, d = sum w_i e_i:  m' = w_0 v + omega x d */
static void rigid_rows(const real *q, const real *w, real *B)
{
    real d[3] = {0};
    for (int i = 0; i < NE; i++) v3_axpy(w[1 + i], q + E + 3 * i, d);
    real *X
    = B, *Y = B + NU, *Z = Y + NU;
    X
    [0] = w[0], X
    [1] = 0, X
    [2] = 0, X
    [3] = 0, X
    [4] = d[2], X
    [5] = -d[1];
    Y[0] = 0, Y[1] = w[0], Y[2] = 0, Y[3] = -d[2], Y[4] = 0, Y[5] = d[0];
    Z[0] = 0, Z[1] = 0, Z[2] = w[0], Z[3] = d[1], Z[4] = -d[0], Z[5] = 0;
}

/* T^T M T for the mass matrix [m s^T; s J] of (r, e1, e2, e3), upper triangle by rows:
 *     d = sum s_i e_i,  S = sum_ij J_ij e_i e_j^T:   [m 1, -[d]x; [d]x, tr(S) 1 - S] */
static void rigid_inertia(const real *q, const real *m, real s, real *G)
{
    const real *e = q + E, J[3][3] = {{m[4], m[5], m[6]}, {m[5], m[7], m[8]}, {m[6], m[8], m[9]}};
    real d[3] = {0}, Je[3][3] = {{0}},
         S[3][3] = {
             {0},
         };
    for (int i = 0; i < NE; i++) {
        v3_axpy(s * m[1 + i], e + 3 * i, d);
        for (int j = 0; j < NE; j++) v3_axpy(s * J[i][j], e + 3 * j, Je[i]);
    }
    for (int i = 0; i < NE; i++)
        for (int k = 0; k < 3; k++) v3_axpy(e[3 * i + k], Je[i], S[k]);
    real trace = S[0][0] + S[1][1] + S[2][2];
    const real X
    [3][3] = {{0, -d[2], d[1]}, {d[2], 0, -d[0]}, {-d[1], d[0], 0}};
    for (int i = 0; i < 3; i++) {
        G[i * NU + i] += s * m[0];
        G[(3 + i) * NU + 3 + i] += trace;
        for (int j = 0; j < 3; j++) {
            G[i * NU + 3 + j] -= X
            [i][j];
            G[(3 + i) * NU + j] += X
            [i][j];
            G[(3 + i) * NU + 3 + j] -= S[i][j];
        }
    }
}

/* sin(h)/h from h^2: an analytic function of h^2, so the series also carries a complex step at h =
 * 0. Eight terms leave 0.1^8 / 17! = 3e-23 at the switch, five 0.001^5 / 11! = 3e-23. */
static real sinc(real h2)
{
    if (sc_val(h2) > 0.1) {
        real h = sc_sqrt(h2);
        return sc_sin(h) / h;
    }
    real y = 1;
    if (sc_val(h2) > 0.001)
        for (int k = 7; k > 4; k--) y = 1 - h2 * (1.0 / (2 * k * (2 * k + 1))) * y;
    for (int k = 4; k >= 1; k--) y = 1 - h2 * (1.0 / (2 * k * (2 * k + 1))) * y;
    return y;
}

/* e_i <- 1/2 (3 e_i - sum_j (e_i . e_j) e_j): one Newton-Schulz step to the nearest orthonormal
 * triad. It squares the error, so rounding does not accumulate over steps, and its derivative along
 * the manifold is the identity. */
static void orthonormalise(real *e)
{
    real g[NE][NE], old[3 * NE];
    for (int i = 0; i < NE; i++)
        for (int j = 0; j <= i; j++) g[i][j] = g[j][i] = v3_dot(e + 3 * i, e + 3 * j);
    for (int k = 0; k < 3 * NE; k++) old[k] = e[k];
    /* written as a correction: its terms are of the size of the error */
    for (int i = 0; i < NE; i++)
        for (int j = 0; j < NE; j++) v3_axpy(0.5 * ((i == j) - g[i][j]), old + 3 * j, e + 3 * i);
}

static void rigid_settle(real *q) { orthonormalise(q + E); }

/* Symmetric, because the map is the gradient of 3/4 sum e_i . e_i - 1/8 sum_ij (e_i . e_j)^2:
 *     de1_i = 1/2 (3 de_i - sum_j ((de_i . e_j + e_i . de_j) e_j + (e_i . e_j) de_j)) */
static void rigid_settle_dot(const real *q, const real *dq, real *dq1)
{
    const real *e = q + E, *de = dq + E;
    for (int j = 0; j < 3; j++) dq1[R + j] = dq[R + j];
    for (int i = 0; i < NE; i++) {
        real *to = dq1 + E + 3 * i;
        for (int k = 0; k < 3; k++) to[k] = 1.5 * de[3 * i + k];
        for (int j = 0; j < NE; j++) {
            real change = v3_dot(de + 3 * i, e + 3 * j) + v3_dot(e + 3 * i, de + 3 * j);
            v3_axpy(-0.5 * change, e + 3 * j, to);
            v3_axpy(-0.5 * v3_dot(e + 3 * i, e + 3 * j), de + 3 * j, to);
        }
    }
}

/* Rodrigues, h = |theta|/2:
 *     turn   y = x + a theta x x + b theta x (theta x x)
 *     dexp   y = x + b theta x x + c theta x (theta x x)        d(turn) x = (dexp dtheta) x (turn
 * x) a = sin|theta|/|theta| = sinc(h) cos(h),   b = (1 - cos|theta|)/|theta|^2 = 1/2 sinc(h)^2 c =
 * (1 - a)/|theta|^2,   cos(h) = 1 - 1/2 h^2 sinc(h/2)^2 Functions of h^2 only: no division by zero,
 * no root of zero. The transposes have -theta. */
static void turn_coefficients(const real *theta, real *a, real *b)
{
    real h2 = 0.25 * v3_dot(theta, theta), y = sinc(h2), half = sinc(0.25 * h2);
    *a = y * (1 - 0.5 * h2 * half * half), *b = 0.5 * y * y;
}

/* y = f theta x x + g theta x (theta x x) */
static void turn_part(const real *theta, real f, real g, const real *x, real *y)
{
    real c[3], d[3];
    v3_cross(theta, x, c);
    v3_cross(theta, c, d);
    for (int j = 0; j < 3; j++) y[j] = f * c[j] + g * d[j];
}

/* D receives the increment itself, before orthonormalise removes rounding from q1. */
static void rigid_carry(const real *q, const real *xi, real *q1, real *D)
{
    const real *theta = xi + OMEGA;
    real a, b;
    turn_coefficients(theta, &a, &b);
    for (int j = 0; j < 3; j++) q1[R + j] = q[R + j] + xi[V + j], D[R + j] += xi[V + j];
    for (int i = 0; i < NE; i++) {
        real d[3];
        turn_part(theta, a, b, q + E + 3 * i, d);
        for (int j = 0; j < 3; j++)
            q1[E + 3 * i + j] = q[E + 3 * i + j] + d[j], D[E + 3 * i + j] += d[j];
    }
    orthonormalise(q1 + E);
}

static void rigid_move(const real *q, const real *xi, real *q1)
{
    real D[3 + 3 * NE] = {0};
    rigid_carry(q, xi, q1, D);
}

/* sum_k (-theta^2)^k / (2k+3)!: (1 - a)/theta^2 without its cancellation */
static real dexp_coefficient(real theta2, real a)
{
    if (sc_val(theta2) > 0.4) return (1 - a) / theta2;
    real y = 1;
    for (int k = 8; k >= 1; k--) y = 1 - theta2 * (1.0 / ((2 * k + 2) * (2 * k + 3))) * y;
    return y / 6;
}

static void rigid_move_dot(const real *q, const real *xi, const real *dq, const real *dxi,
                           real *dq1)
{
    const real *theta = xi + OMEGA, *dtheta = dxi + OMEGA;
    real a, b, c, w[3];
    turn_coefficients(theta, &a, &b);
    c = dexp_coefficient(v3_dot(theta, theta), a);
    turn_part(theta, b, c, dtheta, w);
    for (int j = 0; j < 3; j++) w[j] += dtheta[j], dq1[R + j] = dq[R + j] + dxi[V + j];
    for (int i = 0; i < NE; i++) {
        const real *e = q + E + 3 * i, *de = dq + E + 3 * i;
        real e1[3], d[3], moved[3];
        turn_part(theta, a, b, e, e1);
        turn_part(theta, a, b, de, d);
        for (int j = 0; j < 3; j++) e1[j] += e[j];
        v3_cross(w, e1, moved);
        for (int j = 0; j < 3; j++) dq1[E + 3 * i + j] = de[j] + d[j] + moved[j];
    }
}

/* dexp^-1   y = x - 1/2 theta x x + d theta x (theta x x),   d = (1 - h cot h)/|theta|^2, h =
 * |theta|/2 = (1/2 sinc(h/2)^2 - (1 - sinc(h))/h^2) / (4 sinc(h)) */
static void rigid_move_back(const real *xi, const real *w, real *dxi)
{
    const real *theta = xi + OMEGA;
    real h2 = 0.25 * v3_dot(theta, theta), y = sinc(h2), half = sinc(0.25 * h2), part[3];
    turn_part(theta, -0.5, (0.5 * half * half - dexp_coefficient(h2, y)) / (4 * y), w + OMEGA,
              part);
    for (int j = 0; j < 3; j++) dxi[V + j] = w[V + j], dxi[OMEGA + j] = w[OMEGA + j] + part[j];
}

static void rigid_move_bar(const real *q, const real *xi, const real *bar, real *qbar, real *xibar)
{
    const real *theta = xi + OMEGA;
    real a, b, c, m[3] = {0}, back[3];
    turn_coefficients(theta, &a, &b);
    c = dexp_coefficient(v3_dot(theta, theta), a);
    for (int i = 0; i < NE; i++) {
        const real *e = q + E + 3 * i, *f = bar + E + 3 * i;
        real e1[3], d[3];
        turn_part(theta, a, b, e, e1);
        turn_part(theta, -a, b, f, d);
        for (int j = 0; j < 3; j++) e1[j] += e[j], qbar[E + 3 * i + j] += f[j] + d[j];
        v3_cross(e1, f, d);
        v3_axpy(1, d, m);
    }
    turn_part(theta, -b, c, m, back);
    for (int j = 0; j < 3; j++) {
        qbar[R + j] += bar[R + j], xibar[V + j] += bar[R + j];
        xibar[OMEGA + j] += m[j] + back[j];
    }
}

static const double translation[] = {1, 0, 0, 0};
static const unsigned char unit[] = {0, 1, 1, 1};

const cst_body_class CST_K(cst_body_rigid) = {
    .name = "rigid",
    .nvec = 4,
    .nscalar = 0,
    .nu = NU,
    .first_of_direction = 3,
    .translation = translation,
    .unit = unit,
    .T = rigid_T,
    .L = rigid_L,
    .Tt = rigid_Tt,
    .Lt = rigid_Lt,
    .Ltu = rigid_Ltu,
    .geo = rigid_geo,
    .rows = rigid_rows,
    .inertia = rigid_inertia,
    .move = rigid_move,
    .carry = rigid_carry,
    .move_dot = rigid_move_dot,
    .move_bar = rigid_move_bar,
    .move_back = rigid_move_back,
    .settle = rigid_settle,
    .settle_dot = rigid_settle_dot,
};
