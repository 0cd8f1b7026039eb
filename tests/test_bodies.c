/* SPDX-License-Identifier: MIT
 *
 * Laws of body classes, for every class of the table, and the oracle itself. */
#include "oracle.h"

enum { NQ = 64, NU = CST_MAX_NU, SAMPLES = 50 };

typedef struct sample {
    const cst_body_class *c;
    const cst_body_class_oracle *o;
    int nq, nu;
    double q[NQ];         /* on the manifold */
    double dq[NQ], r[NQ]; /* any */
    double u[NU], xi[NU];
    double w[NQ];
} sample;

static double dot(int n, const double *a, const double *b)
{
    double s = 0;
    for (int i = 0; i < n; i++) s += a[i] * b[i];
    return s;
}

/* unit vectors start as axes; a random move brings the body to a random place */
static void sample_fill(sample *s, expect_random *rng)
{
    double q[NQ];
    random_vector(rng, s->nq, -1, 1, q);
    for (int k = 0, axis = 0; k < s->c->nvec; k++) {
        if (!s->c->unit[k]) continue;
        for (int j = 0; j < 3; j++) q[3 * k + j] = axis == j;
        axis++;
    }
    random_vector(rng, s->nu, -2, 2, s->xi);
    s->c->move(q, s->xi, s->q);
    random_vector(rng, s->nq, -1, 1, s->dq);
    random_vector(rng, s->nq, -1, 1, s->r);
    random_vector(rng, s->nu, -1, 1, s->u);
    random_vector(rng, s->nu, -1, 1, s->xi);
    random_vector(rng, s->c->nvec, -1, 1, s->w);
}

static void for_each_sample(void (*law)(sample *s, expect_random *rng))
{
    expect_random rng = {20};
    int n = 0;
    for (; cst_body_classes[n] != NULL; n++) {
        sample s = {.c = cst_body_classes[n], .o = cst_body_classes_oracle[n]};
        expect_text(s.c->name, s.o->name);
        s.nq = 3 * s.c->nvec + s.c->nscalar, s.nu = s.c->nu;
        expect_true(s.nq <= NQ && s.nu <= NU);
        for (int i = 0; i < SAMPLES; i++) {
            sample_fill(&s, &rng);
            law(&s, &rng);
        }
    }
    expect_true(n >= 3 && cst_body_classes_oracle[n] == NULL);
}

/* T(q + dq) u = T(q) u + L(dq, u): affine in q with the linear part L; both linear in u */
static void law_affine(sample *s, expect_random *rng)
{
    double q1[NQ], a[NQ], b[NQ], c[NQ], y = expect_uniform(rng, -2, 2);
    for (int i = 0; i < s->nq; i++) q1[i] = s->q[i] + s->dq[i];
    s->c->T(q1, s->u, a);
    s->c->T(s->q, s->u, b);
    s->c->L(s->dq, s->u, b); /* adds */
    expect_vector(s->nq, b, a, 1e-14, "T(q) u + L(dq, u)");

    double u[NU];
    for (int i = 0; i < s->nu; i++) u[i] = s->u[i] + y * s->xi[i];
    s->c->T(s->q, u, a);
    s->c->T(s->q, s->u, b);
    s->c->T(s->q, s->xi, c);
    for (int i = 0; i < s->nq; i++) b[i] += y * c[i];
    expect_vector(s->nq, a, b, 1e-14, "T(q) (u + y xi)");
}

/* r.T u = u.Tt r;  r.L(d, u) = d.Lt(u, r) = u.Ltu(d, r); the transposes of L add */
static void law_transposes(sample *s, expect_random *rng)
{
    double y[NQ] = {0}, rho[NU], qbar[NQ], ubar[NU], q0[NQ], u0[NU];
    s->c->T(s->q, s->u, y);
    s->c->Tt(s->q, s->r, rho);
    expect_near(dot(s->nu, s->u, rho), dot(s->nq, s->r, y), 1e-14);

    memset(y, 0, sizeof y);
    s->c->L(s->dq, s->u, y);
    double product = dot(s->nq, s->r, y);
    random_vector(rng, s->nq, -1, 1, q0), memcpy(qbar, q0, sizeof q0);
    random_vector(rng, s->nu, -1, 1, u0), memcpy(ubar, u0, sizeof u0);
    s->c->Lt(s->u, s->r, qbar);
    s->c->Ltu(s->dq, s->r, ubar);
    expect_near(dot(s->nq, s->dq, qbar) - dot(s->nq, s->dq, q0), product, 1e-14);
    expect_near(dot(s->nu, s->u, ubar) - dot(s->nu, s->u, u0), product, 1e-14);
}

static void map_Tt(void *ctx, const oracle_complex *q, oracle_complex *rho)
{
    const sample *s = ctx;
    oracle_complex r[NQ];
    for (int i = 0; i < s->nq; i++) r[i] = s->r[i];
    s->o->Tt(q, r, rho);
}

/* G xi = derivative of T(q)^T r along T(q) xi; G += scale ... */
static void law_geo(sample *s, expect_random *rng)
{
    double G[NU * NU], G0[NU * NU], direction[NQ], expected[NU], actual[NU],
        scale = expect_uniform(rng, -2, 2);
    random_vector(rng, s->nu * s->nu, -1, 1, G0);
    memcpy(G, G0, sizeof G);
    s->c->geo(s->q, s->r, scale, G);
    s->c->T(s->q, s->xi, direction);
    oracle_direction(map_Tt, s, s->nq, s->q, direction, s->nu, NULL, expected);
    for (int i = 0; i < s->nu; i++) {
        expected[i] = scale * expected[i] + dot(s->nu, G0 + i * s->nu, s->xi);
        actual[i] = dot(s->nu, G + i * s->nu, s->xi);
    }
    expect_vector(s->nu, actual, expected, 1e-13, "geo");
}

/* B u = sum_k w_k (T u)_k */
static void law_rows(sample *s, expect_random *rng)
{
    (void)rng;
    double B[3 * NU], y[NQ], expected[3] = {0}, actual[3];
    s->c->rows(s->q, s->w, B);
    s->c->T(s->q, s->u, y);
    for (int j = 0; j < 3; j++) {
        for (int k = 0; k < s->c->nvec; k++) expected[j] += s->w[k] * y[3 * k + j];
        actual[j] = dot(s->nu, B + j * s->nu, s->u);
    }
    expect_vector(3, actual, expected, 1e-14, "rows");

    /* directions, which have no weight on vectors that translate, move only with the later u */
    for (int k = 0; k < s->c->nvec; k++)
        if (s->c->translation[k] != 0) s->w[k] = 0;
    s->c->rows(s->q, s->w, B);
    for (int j = 0; j < 3; j++)
        for (int k = 0; k < s->c->first_of_direction; k++) expect_near(B[j * s->nu + k], 0, 0);
}

static void map_move(void *ctx, const oracle_complex *tau,
                     oracle_complex *q1) /* the body moved by tau u */
{
    const sample *s = ctx;
    oracle_complex q[NQ], xi[NU];
    for (int i = 0; i < s->nq; i++) q[i] = s->q[i];
    for (int i = 0; i < s->nu; i++) xi[i] = *tau * s->u[i];
    s->o->move(q, xi, q1);
}

/* With constant u the motion solves q' = T(q) u, for any angle: d(move(q, tau u))/dtau = T(move(q,
 * tau u)) u. At tau = 0 that is the derivative the integrators rely on. Angles reach down to
 * rounding and across the switch of the series. */
static void law_move(sample *s, expect_random *rng)
{
    const double size[] = {0, 1e-300, 1e-9, 1e-3, 0.3, 0.63, 0.64, 1, 3.2, 20};
    (void)rng;
    for (size_t k = 0; k < sizeof size / sizeof *size; k++) {
        double one = 1, tau = size[k], q1[NQ], q2[NQ], d[NQ], expected[NQ], xi[NU];
        oracle_direction(map_move, s, 1, &tau, &one, s->nq, q1, d);
        for (int i = 0; i < s->nu; i++) xi[i] = tau * s->u[i];
        s->c->move(s->q, xi, q2);
        expect_vector(s->nq, q2, q1, 1e-15 * (1 + tau), "move");
        s->c->T(q1, s->u, expected);
        expect_vector(s->nq, d, expected, 1e-14 * (1 + tau), "d(move)/dtau");
        for (int i = 0; i < s->nu; i++) xi[i] = -xi[i];
        s->c->move(q2, xi, q2); /* back, in place */
        expect_vector(s->nq, q2, s->q, 2e-15 * (1 + tau), "move there and back");
    }
}

/* D is the way of a small move to its own rounding, not to that of q: tau v + tau^2/2 L(v, u), v =
 * T u */
static void law_carry(sample *s, expect_random *rng)
{
    (void)rng;
    const double tau = 1e-7;
    double q1[NQ], q2[NQ], xi[NU], v[NQ], a[NQ] = {0}, D[NQ] = {0};
    if (!s->c->carry) {
        expect_int(s->nu, s->nq);
        return;
    }
    for (int i = 0; i < s->nu; i++) xi[i] = tau * s->u[i];
    s->c->carry(s->q, xi, q1, D);
    s->c->move(s->q, xi, q2);
    expect_vector(s->nq, q1, q2, 0, "carry is move");
    s->c->T(s->q, s->u, v);
    s->c->L(v, s->u, a);
    for (int i = 0; i < s->nq; i++) D[i] /= tau, v[i] += tau / 2 * a[i];
    expect_vector(s->nq, D, v, 2e-14, "way of a small move"); /* the third order is 1e-14 u^3 / 6 */
}

static double orthonormality(const sample *s, const double *q)
{
    double worst = 0;
    for (int i = 0; i < s->c->nvec; i++)
        for (int j = 0; j <= i; j++)
            if (s->c->unit[i] && s->c->unit[j])
                worst = fmax(worst, fabs(dot(3, q + 3 * i, q + 3 * j) - (i == j)));
    return worst;
}

/* rates from T leave unit vectors orthonormal, and a triad slightly off comes back with the next
 * move */
static void law_manifold(sample *s, expect_random *rng)
{
    double y[NQ], q[NQ];
    s->c->T(s->q, s->u, y);
    for (int i = 0; i < s->c->nvec; i++)
        for (int j = 0; j <= i; j++)
            if (s->c->unit[i] && s->c->unit[j])
                expect_near(dot(3, s->q + 3 * i, y + 3 * j) + dot(3, s->q + 3 * j, y + 3 * i), 0,
                            1e-15);

    for (int i = 0; i < s->nq; i++) q[i] = s->q[i] + expect_uniform(rng, -1e-9, 1e-9);
    s->c->move(q, s->xi, q);
    expect_near(orthonormality(s, q), 0, 1e-15);
}

/* b_k += translation_k d is a motion of the body: T(q) u = translation d for some u, found by
 * conjugate gradients */
static void law_translation(sample *s, expect_random *rng)
{
    if (s->c->nvec == 0) return;
    double d[3], rest[NQ] = {0}, g[NU], dir[NU], y[NQ];
    random_vector(rng, 3, -1, 1, d);
    for (int k = 0; k < s->c->nvec; k++)
        for (int j = 0; j < 3; j++) rest[3 * k + j] = s->c->translation[k] * d[j];
    expect_true(dot(s->nq, rest, rest) > 0);
    s->c->Tt(s->q, rest, g);
    memcpy(dir, g, sizeof g);
    for (int n = 0; n < s->nu && dot(s->nu, g, g) > 1e-30; n++) {
        s->c->T(s->q, dir, y);
        double gg = dot(s->nu, g, g), step = gg / dot(s->nq, y, y);
        for (int i = 0; i < s->nq; i++) rest[i] -= step * y[i];
        s->c->Tt(s->q, rest, g);
        for (int i = 0; i < s->nu; i++) dir[i] = g[i] + dot(s->nu, g, g) / gg * dir[i];
    }
    expect_near(dot(s->nq, rest, rest), 0, 1e-24);
}

static void test_affine(void **state) { (void)state, for_each_sample(law_affine); }
static void test_transposes(void **state) { (void)state, for_each_sample(law_transposes); }
static void test_geo(void **state) { (void)state, for_each_sample(law_geo); }
static void test_rows(void **state) { (void)state, for_each_sample(law_rows); }
static void test_move(void **state) { (void)state, for_each_sample(law_move); }
static void test_carry(void **state) { (void)state, for_each_sample(law_carry); }
static void test_manifold(void **state) { (void)state, for_each_sample(law_manifold); }
static void test_translation(void **state) { (void)state, for_each_sample(law_translation); }

/* rounding does not accumulate over 1e5 moves */
static void test_long_run(void **state)
{
    (void)state;
    expect_random rng = {22};
    for (int n = 0; cst_body_classes[n] != NULL; n++) {
        sample s = {.c = cst_body_classes[n], .o = cst_body_classes_oracle[n]};
        s.nq = 3 * s.c->nvec + s.c->nscalar, s.nu = s.c->nu;
        sample_fill(&s, &rng);
        for (int i = 0; i < 100000; i++) {
            random_vector(&rng, s.nu, -1, 1, s.xi);
            s.c->move(s.q, s.xi, s.q);
            expect_near(orthonormality(&s, s.q), 0, 1e-15);
        }
    }
}

/* omega in ground axes: e' = omega x e, written out for one turn about z */
static void test_rigid_turn(void **state)
{
    (void)state;
    const double q[12] = {1, 2, 3, 1, 0, 0, 0, 1, 0, 0, 0, 1};
    const double xi[6] = {0.5, 0, 0, 0, 0, CST_PI / 6};
    const double c = cos(CST_PI / 6), s = sin(CST_PI / 6);
    const double expected[12] = {1.5, 2, 3, c, s, 0, -s, c, 0, 0, 0, 1};
    double q1[12];
    cst_body_rigid.move(q, xi, q1);
    expect_vector(12, q1, expected, 2e-16, "turn");
}

/* ---- the oracle itself ---- */

static void map_closed(void *ctx, const oracle_complex *x, oracle_complex *y)
{
    (void)ctx;
    y[0] = cexp(x[0]) * csin(x[0] * x[1]);
    y[1] = csqrt(x[0] * x[0] + x[1] * x[1]);
    y[2] = cpow(x[1], 3) / x[0];
}

static void test_oracle(void **state)
{
    (void)state;
    expect_random rng = {21};
    for (int n = 0; n < SAMPLES; n++) {
        double x[2], J[6], D[6];
        random_vector(&rng, 2, 0.5, 2, x);
        double a = x[0], b = x[1], r = hypot(a, b);
        const double expected[6] = {
            exp(a) * (sin(a * b) + b * cos(a * b)),
            a * exp(a) * cos(a * b),
            a / r,
            b / r,
            -b * b * b / (a * a),
            3 * b * b / a,
        };
        oracle_jacobian(map_closed, NULL, 2, x, 3, J);
        expect_block(3, 2, J, 2, expected, 2, 4e-15, "complex step");
        oracle_differences(map_closed, NULL, 2, x, 3, 1e-5, D);
        expect_block(3, 2, D, 2, expected, 2, 1e-7, "central difference");
    }
}

/* move_dot is the complex step of move along the manifold; move_bar is its transpose */
static void law_move_derivative(sample *s, expect_random *rng)
{
    double dq[NQ], dxi[NU], dq1[NQ], qbar[NQ] = {0}, xibar[NU] = {0},
                                     scale = pow(10, expect_uniform(rng, -6, 0.4));
    double complex qc[NQ], xc[NU], q1[NQ];
    if (!s->c->move_dot) return;
    s->c->T(s->q, s->u, dq);
    random_vector(rng, s->nu, -1, 1, dxi);
    for (int i = 0; i < s->nu; i++)
        s->xi[i] *= scale, xc[i] = s->xi[i] + 1e-40 * _Complex_I * dxi[i];
    for (int i = 0; i < s->nq; i++) qc[i] = s->q[i] + 1e-40 * _Complex_I * dq[i];
    s->o->move(qc, xc, q1);
    s->c->move_dot(s->q, s->xi, dq, dxi, dq1);
    for (int i = 0; i < s->nq; i++) expect_near(dq1[i], cimag(q1[i]) * 1e40, 1e-13);
    s->c->move_bar(s->q, s->xi, s->r, qbar, xibar);
    expect_near(dot(s->nq, s->r, dq1), dot(s->nq, qbar, dq) + dot(s->nu, xibar, dxi), 1e-13);
}

/* move_back: the change of xi that moves q1 by T(q1) w; with -xi it is transposed */
static void law_move_back(sample *s, expect_random *rng)
{
    double w[NU], y[NU], dxi[NU], back[NU], minus[NU], q1[NQ], moved[NQ], expected[NQ],
        still[NQ] = {0};
    double scale = pow(10, expect_uniform(rng, -6, 0.4));
    if (!s->c->move_back) return;
    random_vector(rng, s->nu, -1, 1, w), random_vector(rng, s->nu, -1, 1, y);
    for (int i = 0; i < s->nu; i++) s->xi[i] *= scale, minus[i] = -s->xi[i];
    s->c->move(s->q, s->xi, q1);
    s->c->T(q1, w, expected);
    s->c->move_back(s->xi, w, dxi);
    s->c->move_dot(s->q, s->xi, still, dxi, moved);
    expect_vector(s->nq, moved, expected, 1e-13, "move_back");
    s->c->move_back(minus, y, back);
    expect_near(dot(s->nu, y, dxi), dot(s->nu, back, w), 1e-13);
}

static void test_move_derivative(void **state)
{
    (void)state;
    for_each_sample(law_move_derivative);
    for_each_sample(law_move_back);
}

/* settle: identity on the manifold, squares a distance from it; its derivative is the complex
 * step's, and symmetric */
static void law_settle(sample *s, expect_random *rng)
{
    double q[NQ], dq1[NQ], dr1[NQ];
    if (!s->c->settle) return;
    for (int i = 0; i < s->nq; i++) q[i] = s->q[i];
    s->c->settle(q);
    for (int i = 0; i < s->nq; i++) expect_near(q[i], s->q[i], 1e-15);
    double off[NQ], once[NQ], twice[NQ], e1 = 0, e2 = 0;
    for (int i = 0; i < s->nq; i++) once[i] = off[i] = s->q[i] + 1e-3 * s->dq[i];
    s->c->settle(once);
    for (int i = 0; i < s->nq; i++) twice[i] = once[i];
    s->c->settle(twice);
    for (int i = 0; i < s->nq; i++)
        e1 = fmax(e1, fabs(once[i] - off[i])), e2 = fmax(e2, fabs(twice[i] - once[i]));
    expect_true(e1 > 1e-5 && e2 < 10 * e1 * e1);

    double complex qc[NQ];
    for (int i = 0; i < s->nq; i++) qc[i] = off[i] + 1e-40 * _Complex_I * s->dq[i];
    s->o->settle(qc);
    s->c->settle_dot(off, s->dq, dq1);
    for (int i = 0; i < s->nq; i++) expect_near(dq1[i], cimag(qc[i]) * 1e40, 1e-14);
    s->c->settle_dot(off, s->r, dr1);
    expect_near(dot(s->nq, dq1, s->r), dot(s->nq, dr1, s->dq), 1e-14);
    (void)rng;
}

static void test_settle(void **state)
{
    (void)state;
    for_each_sample(law_settle);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_oracle),
        cmocka_unit_test(test_affine),
        cmocka_unit_test(test_transposes),
        cmocka_unit_test(test_geo),
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_move),
        cmocka_unit_test(test_carry),
        cmocka_unit_test(test_manifold),
        cmocka_unit_test(test_translation),
        cmocka_unit_test(test_long_run),
        cmocka_unit_test(test_rigid_turn),
        cmocka_unit_test(test_settle),
        cmocka_unit_test(test_move_derivative),
    };
    return cmocka_run_group_tests_name("bodies", tests, NULL, NULL);
}
