/* SPDX-License-Identifier: MIT
 *
 * Vector operations of the model: Jacobians against complex steps, frames and inertias against
 * their laws. */
#include "expect.h"
#include "model/geometry.h"

#include <complex.h>
#undef I

typedef double complex cplx;

/* the same table, compiled with complex numbers */
typedef struct oracle_vop {
    const char *name;
    void (*eval)(int nin, const cplx *in, int nout, cplx *out);
    void (*jac)(int nin, const cplx *in, int nout, const cplx *out, cplx *J);
} oracle_vop;
typedef struct oracle_entry {
    const oracle_vop *op;
    int nin, nout;
} oracle_entry;
extern const oracle_entry cst_vop_table_oracle[];

enum { SAMPLES = 200, MAX = 16 };

static void fill(expect_random *r, int n, double *x)
{
    for (int i = 0; i < n; i++) x[i] = expect_uniform(r, -2, 2);
}

static void apply(const cst_vop *op, const double *in, int nin, int nout, double *out)
{
    op->eval(nin, in, nout, out);
}

static double dot(const double *a, const double *b)
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void expect_frame(const double *e)
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) expect_near(dot(e + 3 * i, e + 3 * j), i == j, 4e-15);
    for (int i = 0; i < 3; i++) { /* e1 x e2 = e3 */
        int j = (i + 1) % 3, k = (i + 2) % 3;
        expect_near(e[j] * e[3 + k] - e[k] * e[3 + j], e[6 + i], 4e-15);
    }
}

static void test_jacobians(void **state)
{
    (void)state;
    expect_random r = {1};
    for (int k = 0; cst_vop_table[k].op != NULL; k++) {
        const cst_vop_entry *v = &cst_vop_table[k];
        const oracle_entry *o = &cst_vop_table_oracle[k];
        expect_text(v->op->name, o->op->name);
        for (int s = 0; s < SAMPLES; s++) {
            double in[MAX], out[MAX], J[MAX * MAX] = {0};
            fill(&r, v->nin, in);
            v->op->eval(v->nin, in, v->nout, out);
            v->op->jac(v->nin, in, v->nout, out, J);
            for (int j = 0; j < v->nin; j++) {
                cplx zin[MAX], zout[MAX];
                for (int i = 0; i < v->nin; i++) zin[i] = in[i] + (i == j ? 1e-40 : 0) * _Complex_I;
                o->op->eval(v->nin, zin, v->nout, zout);
                for (int i = 0; i < v->nout; i++) {
                    double exact = cimag(zout[i]) / 1e-40, scale = 1 + fabs(exact);
                    if (fabs(J[i * v->nin + j] - exact) > 1e-12 * scale)
                        print_error("%s:\n", v->op->name);
                    expect_near(J[i * v->nin + j], exact, 1e-12);
                    expect_near(creal(zout[i]), out[i], 1e-14);
                }
            }
        }
    }
}

static void test_frames(void **state)
{
    (void)state;
    expect_random r = {2};
    for (int s = 0; s < SAMPLES; s++) {
        double in[MAX], e[9], n[3];
        fill(&r, 9, in);
        apply(&cst_vop_unit, in, 3, 3, n);
        apply(&cst_vop_frame_axis, in, 3, 9, e);
        expect_frame(e);
        for (int i = 0; i < 3; i++) expect_near(e[i], n[i], 1e-15);
        apply(&cst_vop_frame_two, in, 6, 9, e);
        expect_frame(e);
        for (int i = 0; i < 3; i++) expect_near(e[i], n[i], 1e-15);
        expect_true(dot(in + 3, e + 3) > 0);       /* e2 leans to h */
        expect_near(dot(in + 3, e + 6), 0, 1e-14); /* and e1, e2 span it */
        apply(&cst_vop_frame_matrix, in, 9, 9, e);
        expect_frame(e);
        apply(&cst_vop_frame_quaternion, in, 4, 9, e);
        expect_frame(e);
        apply(&cst_vop_frame_axis_angle, in, 4, 9, e);
        expect_frame(e);
    }
}

/* u, v, a is right-handed, and coordinate axes give coordinate axes in their cyclic order. */
static void test_perpendicular(void **state)
{
    (void)state;
    expect_random r = {3};
    for (int s = 0; s < SAMPLES; s++) {
        double a[3], n[3], e[9];
        fill(&r, 3, a);
        if (s % 4 == 1) a[s % 3] = 0;
        if (s % 4 == 2) a[1] = a[0], a[2] = -a[0];
        apply(&cst_vop_perpendicular, a, 3, 6, e);
        apply(&cst_vop_unit, a, 3, 3, n);
        memcpy(e + 6, n, sizeof n);
        expect_frame(e);
    }
    for (int k = 0; k < 3; k++) {
        double a[3] = {0}, uv[6];
        a[k] = 5;
        apply(&cst_vop_perpendicular, a, 3, 6, uv);
        for (int i = 0; i < 3; i++) {
            expect_near(uv[i], i == (k + 1) % 3, 0);
            expect_near(uv[3 + i], i == (k + 2) % 3, 0);
        }
    }
}

/* A rotation keeps its axis, and a quaternion (cos a/2, sin a/2 n) is the rotation by a about n. */
static void test_rotations_agree(void **state)
{
    (void)state;
    expect_random r = {4};
    for (int s = 0; s < SAMPLES; s++) {
        double in[4], n[3], e[9], f[9];
        fill(&r, 4, in);
        double angle = in[3];
        apply(&cst_vop_unit, in, 3, 3, n);
        apply(&cst_vop_frame_axis_angle, in, 4, 9, e);
        double scale = expect_uniform(&r, 0.5, 2), q[4] = {scale * cos(angle / 2)};
        for (int i = 0; i < 3; i++) q[1 + i] = scale * sin(angle / 2) * n[i];
        apply(&cst_vop_frame_quaternion, q, 4, 9, f);
        for (int i = 0; i < 9; i++) expect_near(f[i], e[i], 2e-15);
        for (int i = 0; i < 3; i++)
            expect_near(e[i] * n[0] + e[3 + i] * n[1] + e[6 + i] * n[2], n[i], 2e-15);
        expect_near(e[0] + e[4] + e[8], 1 + 2 * cos(angle), 2e-15);
    }
    double quarter[4] = {0, 3, 0, CST_PI / 2}, e[9]; /* right-handed: x goes to -z about y */
    apply(&cst_vop_frame_axis_angle, quarter, 4, 9, e);
    expect_near(e[2], -1, 1e-15);
}

/* r + E E^T (P - r) = P */
static void test_local_coordinates(void **state)
{
    (void)state;
    expect_random r = {5};
    for (int s = 0; s < SAMPLES; s++) {
        double in[15], q[4], x[3], d[12], y[3], n[3];
        fill(&r, 15, in);
        fill(&r, 4, q);
        apply(&cst_vop_frame_quaternion, q, 4, 9, in + 3);
        apply(&cst_vop_local_point, in, 15, 3, x);
        memcpy(d, in + 3, 12 * sizeof *d);
        apply(&cst_vop_local_direction, d, 12, 3, y);
        apply(&cst_vop_unit, in + 12, 3, 3, n);
        for (int i = 0; i < 3; i++) {
            double P = in[i], m = 0;
            for (int k = 0; k < 3; k++)
                P += x[k] * in[3 + 3 * k + i], m += y[k] * in[3 + 3 * k + i];
            expect_near(P, in[12 + i], 4e-15);
            expect_near(m, n[i], 4e-15);
        }
    }
}

/* Masses m_k at x_k: all tensors against sums over the cloud. */
static void test_inertias(void **state)
{
    (void)state;
    enum { N = 5 };
    expect_random r = {6};
    for (int s = 0; s < SAMPLES; s++) {
        double m[N], x[N][3], total = 0, first[3] = {0}, origin[6] = {0}, second[10] = {0};
        static const int row[6] = {0, 1, 2, 0, 0, 1}, col[6] = {0, 1, 2, 1, 2, 2};
        for (int k = 0; k < N; k++) {
            m[k] = expect_uniform(&r, 0.1, 2);
            fill(&r, 3, x[k]);
            total += m[k];
            for (int i = 0; i < 3; i++) first[i] += m[k] * x[k][i];
            for (int c = 0; c < 6; c++)
                origin[c] += m[k] * ((c < 3 ? dot(x[k], x[k]) : 0) - x[k][row[c]] * x[k][col[c]]);
            double h[4] = {1, x[k][0], x[k][1], x[k][2]};
            for (int i = 0, c = 0; i < 4; i++)
                for (int j = i; j < 4; j++, c++) second[c] += m[k] * h[i] * h[j];
        }
        double in[10] = {total}, shift[10], out[10], back[6], rotated[6], E[15];
        for (int i = 0; i < 3; i++) in[1 + i] = first[i] / total;

        memcpy(shift, origin, sizeof origin); /* origin to centre of mass */
        shift[6] = -total;
        memcpy(shift + 7, in + 1, 3 * sizeof *in);
        apply(&cst_vop_steiner, shift, 10, 6, in + 4);
        apply(&cst_vop_pseudo_inertia, in, 10, 10, out);
        for (int c = 0; c < 10; c++) expect_near(out[c], second[c], 1e-13);

        memcpy(shift, in + 4, 6 * sizeof *in); /* and back */
        shift[6] = total;
        apply(&cst_vop_steiner, shift, 10, 6, back);
        for (int c = 0; c < 6; c++) expect_near(back[c], origin[c], 1e-13);

        fill(&r, 4, shift); /* the cloud turned by E has the tensor E I E^T */
        apply(&cst_vop_frame_quaternion, shift, 4, 9, E);
        memcpy(E + 9, origin, sizeof origin);
        apply(&cst_vop_rotate_tensor, E, 15, 6, rotated);
        for (int c = 0; c < 6; c++) {
            double sum = 0;
            for (int k = 0; k < N; k++) {
                double y[3];
                for (int i = 0; i < 3; i++)
                    y[i] = x[k][0] * E[i] + x[k][1] * E[3 + i] + x[k][2] * E[6 + i];
                sum += m[k] * ((c < 3 ? dot(y, y) : 0) - y[row[c]] * y[col[c]]);
            }
            expect_near(rotated[c], sum, 1e-13);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_jacobians),         cmocka_unit_test(test_frames),
        cmocka_unit_test(test_perpendicular),     cmocka_unit_test(test_rotations_agree),
        cmocka_unit_test(test_local_coordinates), cmocka_unit_test(test_inertias),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
