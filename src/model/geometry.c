/* SPDX-License-Identifier: MIT
 *
 * Vector operations of geometry.h. Derivatives are written as tangents (dout from din) where an
 * output depends on all inputs; `columns` makes the Jacobian of them. Names: d before a letter is
 * its differential.
 * */
#include "model/geometry.h"
#include "linalg/dense.h"

#include <stddef.h>

#define MAX_IN 15
#define MAX_OUT 10

typedef void (*tangent)(const real *in, const real *out, const real *din, real *dout);

static void columns(tangent f, int nin, const real *in, int nout, const real *out, real *J)
{
    for (int j = 0; j < nin; j++) {
        real din[MAX_IN] = {0}, dout[MAX_OUT] = {0};
        din[j] = 1;
        f(in, out, din, dout);
        for (int i = 0; i < nout; i++) J[i * nin + j] = dout[i];
    }
}

#define VOP(name) const cst_vop CST_K(cst_vop_##name) = {#name, name##_eval, name##_jac};

#define VOP_BY_TANGENT(name)                                                                       \
    static void name##_jac(int nin, const real *in, int nout, const real *out, real *J)            \
    {                                                                                              \
        columns(name##_tangent, nin, in, nout, out, J);                                            \
    }                                                                                              \
    VOP(name)

/* n = a/|a|,   dn = (da - n (n.da))/|a| */
static void unit_of(const real *a, real *n)
{
    real l = v3_norm(a);
    for (int i = 0; i < 3; i++) n[i] = a[i] / l;
}

static void unit_d(const real *a, const real *n, const real *da, real *dn)
{
    real l = v3_norm(a), nda = v3_dot(n, da);
    for (int i = 0; i < 3; i++) dn[i] = (da[i] - n[i] * nda) / l;
}

/* dc = da x b + a x db */
static void cross_d(const real *a, const real *b, const real *da, const real *db, real *dc)
{
    real p[3], q[3];
    v3_cross(da, b, p);
    v3_cross(a, db, q);
    for (int i = 0; i < 3; i++) dc[i] = p[i] + q[i];
}

/* ---- the same values once more ---- */

static void copy_eval(int nin, const real *in, int nout, real *out)
{
    (void)nin;
    for (int i = 0; i < nout; i++) out[i] = in[i];
}

static void copy_jac(int nin, const real *in, int nout, const real *out, real *J)
{
    (void)in, (void)out;
    for (int i = 0; i < nout; i++) J[i * nin + i] = 1;
}
VOP(copy)

/* ---- local coordinates: x_i = e_i.(P - r) ---- */

static void local_point_eval(int nin, const real *in, int nout, real *out)
{
    (void)nin, (void)nout;
    real d[3];
    v3_sub(in + 12, in, d);
    for (int i = 0; i < 3; i++) out[i] = v3_dot(in + 3 + 3 * i, d);
}

static void local_point_jac(int nin, const real *in, int nout, const real *out, real *J)
{
    (void)nout, (void)out;
    for (int i = 0; i < 3; i++) {
        const real *e = in + 3 + 3 * i;
        real *row = J + i * nin;
        for (int k = 0; k < 3; k++) {
            row[k] = -e[k];
            row[3 + 3 * i + k] = in[12 + k] - in[k];
            row[12 + k] = e[k];
        }
    }
}
VOP(local_point)

/* x_i = e_i.n, n = d/|d| */
static void local_direction_eval(int nin, const real *in, int nout, real *out)
{
    (void)nin, (void)nout;
    real n[3];
    unit_of(in + 9, n);
    for (int i = 0; i < 3; i++) out[i] = v3_dot(in + 3 * i, n);
}

static void local_direction_jac(int nin, const real *in, int nout, const real *out, real *J)
{
    (void)nout;
    const real *d = in + 9;
    real n[3], l = v3_norm(d);
    unit_of(d, n);
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) {
            J[i * nin + 3 * i + k] = n[k];
            J[i * nin + 9 + k] = (in[3 * i + k] - out[i] * n[k]) / l;
        }
}
VOP(local_direction)

static void unit_eval(int nin, const real *in, int nout, real *out)
{
    (void)nin, (void)nout;
    unit_of(in, out);
}

static void unit_tangent(const real *in, const real *out, const real *din, real *dout)
{
    unit_d(in, out, din, dout);
}
VOP_BY_TANGENT(unit)

/* ---- two directions across a third ----
 *
 * n = a/|a|,   g = h - (h.n) n,   u = g/|g|,   v = n x u
 *
 * In perpendicular, h is the coordinate axis that follows (x y z x ..) the one nearest to n: z
 * gives u, v = x, y. The factor keeps the change of choice away from axes at 45 degrees, which
 * people draw; |g| stays above 0.6. */
static int across(const real *a)
{
    int k = 0;
    for (int i = 1; i < 3; i++)
        if (fabs(sc_val(a[i])) > 1.3 * fabs(sc_val(a[k]))) k = i;
    return (k + 1) % 3;
}

static void rest(const real *n, const real *h, real *g)
{
    real hn = v3_dot(h, n);
    for (int i = 0; i < 3; i++) g[i] = h[i] - hn * n[i];
}

static void two_of(const real *n, const real *h, real *u, real *v)
{
    real g[3];
    rest(n, h, g);
    unit_of(g, u);
    v3_cross(n, u, v);
}

static void two_d(const real *n, const real *h, const real *u, const real *dn, const real *dh,
                  real *du, real *dv)
{
    real g[3], dg[3], hn = v3_dot(h, n), dhn = v3_dot(dh, n) + v3_dot(h, dn);
    rest(n, h, g);
    for (int i = 0; i < 3; i++) dg[i] = dh[i] - dhn * n[i] - hn * dn[i];
    unit_d(g, u, dg, du);
    cross_d(n, u, dn, du, dv);
}

static void perpendicular_eval(int nin, const real *in, int nout, real *out)
{
    (void)nin, (void)nout;
    real n[3], h[3] = {0};
    h[across(in)] = 1;
    unit_of(in, n);
    two_of(n, h, out, out + 3);
}

static void perpendicular_tangent(const real *in, const real *out, const real *din, real *dout)
{
    real n[3], dn[3], h[3] = {0}, dh[3] = {0};
    h[across(in)] = 1;
    unit_of(in, n);
    unit_d(in, n, din, dn);
    two_d(n, h, out, dn, dh, dout, dout + 3);
}
VOP_BY_TANGENT(perpendicular)

static void frame_axis_eval(int nin, const real *in, int nout, real *out)
{
    unit_of(in, out);
    perpendicular_eval(nin, in, nout, out + 3);
}

static void frame_axis_tangent(const real *in, const real *out, const real *din, real *dout)
{
    unit_d(in, out, din, dout);
    perpendicular_tangent(in, out + 3, din, dout + 3);
}
VOP_BY_TANGENT(frame_axis)

static void frame_two_eval(int nin, const real *in, int nout, real *out)
{
    (void)nin, (void)nout;
    unit_of(in, out);
    two_of(out, in + 3, out + 3, out + 6);
}

static void frame_two_tangent(const real *in, const real *out, const real *din, real *dout)
{
    unit_d(in, out, din, dout);
    two_d(out, in + 3, out + 3, dout, din + 3, dout + 3, dout + 6);
}
VOP_BY_TANGENT(frame_two)

/* Gram-Schmidt: the first two axes fix a right-handed frame, so the third decides nothing. */
static void frame_matrix_eval(int nin, const real *in, int nout, real *out)
{
    frame_two_eval(nin, in, nout, out);
}

static void frame_matrix_tangent(const real *in, const real *out, const real *din, real *dout)
{
    frame_two_tangent(in, out, din, dout);
}
VOP_BY_TANGENT(frame_matrix)

/* ---- frames from rotation parameters ----
 *
 * e_j = x_j + (2/q.q) (w (s x x_j) + s x (s x x_j)),   q = (w, s)          x_j the coordinate axes
 */
static real square4(const real *q) { return q[0] * q[0] + v3_dot(q + 1, q + 1); }

static void frame_quaternion_eval(int nin, const real *in, int nout, real *out)
{
    (void)nin, (void)nout;
    const real *s = in + 1;
    real f = 2 / square4(in);
    for (int j = 0; j < 3; j++) {
        real x[3] = {0}, sx[3], ssx[3];
        x[j] = 1;
        v3_cross(s, x, sx);
        v3_cross(s, sx, ssx);
        for (int i = 0; i < 3; i++) out[3 * j + i] = x[i] + f * (in[0] * sx[i] + ssx[i]);
    }
}

/* de_j = f (dw sx + w dsx + dssx) - (e_j - x_j) d(q.q)/(q.q) */
static void frame_quaternion_tangent(const real *in, const real *out, const real *din, real *dout)
{
    const real *s = in + 1, *ds = din + 1;
    real qq = square4(in), dqq = 2 * (in[0] * din[0] + v3_dot(s, ds)), f = 2 / qq;
    for (int j = 0; j < 3; j++) {
        real x[3] = {0}, sx[3], dsx[3], dssx[3];
        x[j] = 1;
        v3_cross(s, x, sx);
        v3_cross(ds, x, dsx);
        cross_d(s, sx, ds, dsx, dssx);
        for (int i = 0; i < 3; i++)
            dout[3 * j + i] = f * (din[0] * sx[i] + in[0] * dsx[i] + dssx[i]) -
                              (out[3 * j + i] - x[i]) * dqq / qq;
    }
}
VOP_BY_TANGENT(frame_quaternion)

/* e_j = c x_j + s (n x x_j) + (1 - c) n_j n,   c, s = cos, sin of the angle */
static void frame_axis_angle_eval(int nin, const real *in, int nout, real *out)
{
    (void)nin, (void)nout;
    real n[3], c = sc_cos(in[3]), s = sc_sin(in[3]);
    unit_of(in, n);
    for (int j = 0; j < 3; j++) {
        real x[3] = {0}, nx[3];
        x[j] = 1;
        v3_cross(n, x, nx);
        for (int i = 0; i < 3; i++) out[3 * j + i] = c * x[i] + s * nx[i] + (1 - c) * n[j] * n[i];
    }
}

static void frame_axis_angle_tangent(const real *in, const real *out, const real *din, real *dout)
{
    (void)out;
    real n[3], dn[3], c = sc_cos(in[3]), s = sc_sin(in[3]), dc = -s * din[3], ds = c * din[3];
    unit_of(in, n);
    unit_d(in, n, din, dn);
    for (int j = 0; j < 3; j++) {
        real x[3] = {0}, nx[3], dnx[3];
        x[j] = 1;
        v3_cross(n, x, nx);
        v3_cross(dn, x, dnx);
        for (int i = 0; i < 3; i++)
            dout[3 * j + i] = dc * (x[i] - n[j] * n[i]) + ds * nx[i] + s * dnx[i] +
                              (1 - c) * (dn[j] * n[i] + n[j] * dn[i]);
    }
}
VOP_BY_TANGENT(frame_axis_angle)

/* ---- tensors ---- */

static const int at[3][3] = {{0, 3, 4}, {3, 1, 5}, {4, 5, 2}}; /* entry of the 6 for row, column */

/* B_ij = sum_kl e_k[i] I_kl e_l[j] */
static void rotate_tensor_eval(int nin, const real *in, int nout, real *out)
{
    (void)nin, (void)nout;
    const real *e = in, *T = in + 9;
    for (int i = 0; i < 3; i++)
        for (int j = i; j < 3; j++) {
            real b = 0;
            for (int k = 0; k < 3; k++)
                for (int l = 0; l < 3; l++) b += e[3 * k + i] * T[at[k][l]] * e[3 * l + j];
            out[at[i][j]] = b;
        }
}

static void rotate_tensor_jac(int nin, const real *in, int nout, const real *out, real *J)
{
    (void)nout, (void)out;
    const real *e = in, *T = in + 9;
    for (int i = 0; i < 3; i++)
        for (int j = i; j < 3; j++) {
            real *row = J + at[i][j] * nin;
            for (int k = 0; k < 3; k++)
                for (int l = 0; l < 3; l++) {
                    real t = T[at[k][l]], a = e[3 * k + i], b = e[3 * l + j];
                    row[3 * k + i] += t * b;
                    row[3 * l + j] += a * t;
                    row[9 + at[k][l]] += a * b;
                }
        }
}
VOP(rotate_tensor)

/* J_ij = I_ij + m (d.d delta_ij - d_i d_j) */
static void steiner_eval(int nin, const real *in, int nout, real *out)
{
    (void)nin, (void)nout;
    const real *d = in + 7;
    real m = in[6], dd = v3_dot(d, d);
    for (int i = 0; i < 3; i++)
        for (int j = i; j < 3; j++)
            out[at[i][j]] = in[at[i][j]] + m * ((i == j ? dd : 0) - d[i] * d[j]);
}

static void steiner_jac(int nin, const real *in, int nout, const real *out, real *J)
{
    (void)nout, (void)out;
    const real *d = in + 7;
    real m = in[6], dd = v3_dot(d, d);
    for (int i = 0; i < 3; i++)
        for (int j = i; j < 3; j++) {
            real *row = J + at[i][j] * nin;
            row[at[i][j]] = 1;
            row[6] = (i == j ? dd : 0) - d[i] * d[j];
            for (int k = 0; k < 3; k++) row[7 + k] = i == j ? 2 * m * d[k] : 0;
            row[7 + i] -= m * d[j];
            row[7 + j] -= m * d[i];
        }
}
VOP(steiner)

static const int tri[4][4] = {{0, 1, 2, 3},
                              {1, 4, 5, 6},
                              {2, 5, 7, 8},
                              {3, 6, 8, 9}}; /* upper triangle by rows */

static void pseudo_inertia_eval(int nin, const real *in, int nout, real *out)
{
    (void)nin, (void)nout;
    real m = in[0], half = (in[4] + in[5] + in[6]) / 2;
    const real *c = in + 1, *T = in + 4;
    out[0] = m;
    for (int i = 0; i < 3; i++) {
        out[tri[0][1 + i]] = m * c[i];
        for (int j = i; j < 3; j++)
            out[tri[1 + i][1 + j]] = (i == j ? half : 0) - T[at[i][j]] + m * c[i] * c[j];
    }
}

static void pseudo_inertia_jac(int nin, const real *in, int nout, const real *out, real *J)
{
    (void)nout, (void)out;
    real m = in[0];
    const real *c = in + 1;
    J[0] = 1;
    for (int i = 0; i < 3; i++) {
        real *row = J + tri[0][1 + i] * nin;
        row[0] = c[i];
        row[1 + i] = m;
        for (int j = i; j < 3; j++) {
            row = J + tri[1 + i][1 + j] * nin;
            row[0] = c[i] * c[j];
            row[1 + i] += m * c[j];
            row[1 + j] += m * c[i];
            for (int k = 0; i == j && k < 3; k++) row[4 + k] = 0.5;
            row[4 + at[i][j]] -= 1;
        }
    }
}
VOP(pseudo_inertia)

const cst_vop_entry CST_K(cst_vop_table)[] = {
    {&CST_K(cst_vop_copy), 1, 1},
    {&CST_K(cst_vop_local_point), 15, 3},
    {&CST_K(cst_vop_local_direction), 12, 3},
    {&CST_K(cst_vop_unit), 3, 3},
    {&CST_K(cst_vop_perpendicular), 3, 6},
    {&CST_K(cst_vop_frame_axis), 3, 9},
    {&CST_K(cst_vop_frame_two), 6, 9},
    {&CST_K(cst_vop_frame_quaternion), 4, 9},
    {&CST_K(cst_vop_frame_axis_angle), 4, 9},
    {&CST_K(cst_vop_frame_matrix), 9, 9},
    {&CST_K(cst_vop_rotate_tensor), 15, 6},
    {&CST_K(cst_vop_steiner), 10, 6},
    {&CST_K(cst_vop_pseudo_inertia), 10, 10},
    {NULL, 0, 0},
};
