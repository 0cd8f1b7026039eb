/* SPDX-License-Identifier: MIT
 *
 * What the element classes mean: closed forms that a consistent set of wrong signs would not meet.
 */
#include "oracle.h"

enum { SAMPLES = 20 };

static const double identity[12] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};

static void random_triad(expect_random *rng, double *e)
{
    double xi[6], q[12];
    random_vector(rng, 6, -2, 2, xi);
    cst_body_rigid.move(identity, xi, q);
    memcpy(e, q + 3, 9 * sizeof(double));
}

/* e turned about its own axis i by an angle, right-handed */
static void turn_triad(const double *e, int i, double angle, double *b)
{
    double q[12] = {0}, q1[12], xi[6] = {0};
    memcpy(q + 3, e, 9 * sizeof(double));
    for (int j = 0; j < 3; j++) xi[3 + j] = angle * e[3 * i + j];
    cst_body_rigid.move(q, xi, q1);
    memcpy(b, q1 + 3, 9 * sizeof(double));
}

static double phi(const cst_constraint_class *c, int nx, const double *x, double s)
{
    double p[3] = {s, 0, 0}, xd[9] = {0}, y[CST_MAX_PHI];
    cst_local e = {.nx = nx, .np = c->np, .x = x, .xd = xd, .p = p};
    c->phi(&e, y);
    return y[0];
}

/* each primitive is satisfied by the s it measures, and leaves it in the stated direction */
static void test_constraints(void **state)
{
    (void)state;
    expect_random rng = {40};
    for (int n = 0; n < SAMPLES; n++) {
        double x[9], d[3];
        random_vector(&rng, 9, -1, 1, x);
        for (int j = 0; j < 3; j++) d[j] = x[j] - x[3 + j];
        double uv = x[0] * x[3] + x[1] * x[4] + x[2] * x[5];
        double height = d[0] * x[6] + d[1] * x[7] + d[2] * x[8];
        double length = sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
        double s = expect_uniform(&rng, -1, 1);
        expect_near(phi(&cst_dot, 6, x, s), uv - s, 1e-15);
        expect_near(phi(&cst_in_plane, 9, x, s), height - s, 1e-15);
        expect_near(phi(&cst_distance, 6, x, s), length * length - s * s, 1e-15);
        expect_near(phi(&cst_distance, 6, x, length), 0, 1e-15);
        expect_near(phi(&cst_coincident, 6, x, 0), d[0], 1e-15);
    }
}

/* u = v1 turned by th about v3: phi(s) = sin(th - s), zero at s = th through several turns */
static void test_rotation(void **state)
{
    (void)state;
    expect_random rng = {41};
    for (int n = 0; n < SAMPLES; n++) {
        double x[9], v[9], turned[9], angle = expect_uniform(&rng, -20, 20),
                                      s = expect_uniform(&rng, -20, 20);
        random_triad(&rng, v);
        turn_triad(v, 2, angle, turned);
        memcpy(x, turned, 3 * sizeof(double));
        memcpy(x + 3, v, 6 * sizeof(double));
        expect_near(phi(&cst_rotation, 9, x, angle), 0, 1e-14);
        expect_near(phi(&cst_rotation, 9, x, s), sin(angle - s), 1e-14);
    }
}

/* tension positive: a longer spring pulls a towards b */
static void test_line(void **state)
{
    (void)state;
    const double x[6] = {1, 0, 0, 4, 0, 4}, xd[6] = {0, 0, 0, 3, 7, 4}, p[4] = {10, 2, 3, 0.5};
    cst_local e = {.nx = 6, .np = 4, .x = x, .xd = xd, .p = p};
    double f[6], F = 0.5 + 10 * (5 - 3) + 2 * 5;
    const double expected[6] = {0.6 * F, 0, 0.8 * F, -0.6 * F, 0, -0.8 * F};
    cst_force_line.force(&e, f, NULL);
    expect_vector(6, f, expected, 1e-15, "line");

    const double near[6] = {0, 0, 0, 3e-150, 0, 4e-150}, rest[6] = {0}, unit[4] = {0, 0, 0, 1};
    const double pull[6] = {0.6, 0, 0.8, -0.6, 0, -0.8};
    e.x = near, e.xd = rest, e.p = unit;
    cst_force_line.force(&e, f, NULL);
    expect_vector(6, f, pull, 1e-15, "line between close points");
}

/* V of a displacement d in the axes of a and a turn of b about one of them */
static void test_bushing(void **state)
{
    (void)state;
    expect_random rng = {42};
    for (int n = 0; n < SAMPLES; n++) {
        double x[24], xd[24] = {0}, p[12], d[3], V, expected, angle = expect_uniform(&rng, -1, 1);
        int axis = n % 3;
        random_vector(&rng, 12, 0.1, 2, p);
        random_vector(&rng, 3, -1, 1, d);
        random_vector(&rng, 3, -1, 1, x);
        random_triad(&rng, x + 6);
        turn_triad(x + 6, axis, angle, x + 15);
        for (int j = 0; j < 3; j++)
            x[3 + j] = x[j] + d[0] * x[6 + j] + d[1] * x[9 + j] + d[2] * x[12 + j];
        cst_local e = {.nx = 24, .np = 12, .x = x, .xd = xd, .p = p};
        expect_int(cst_force_bushing.energy(&e, &V), 1);
        expected = 0.5 * p[3 + axis] * angle * angle;
        for (int i = 0; i < 3; i++) expected += 0.5 * p[i] * d[i] * d[i];
        expect_near(V, expected, 1e-14);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_constraints),
        cmocka_unit_test(test_rotation),
        cmocka_unit_test(test_line),
        cmocka_unit_test(test_bushing),
    };
    return cmocka_run_group_tests_name("primitives", tests, NULL, NULL);
}
