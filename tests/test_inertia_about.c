/* SPDX-License-Identifier: MIT
 *
 * Inertia given about any point P: the motion of the same body whose inertia is given about the
 * centre of mass, and the derivative in P by the parallel-axis theorem,
 *
 *     I_com = I_P - m (d.d 1 - d d^T),  d = c - P,
 *     dpsi/dP_k = sum_ij (dpsi/dI_ij) m (2 d_k delta_ij - delta_ik d_j - delta_jk d_i),
 *
 * where dpsi/dI is the gradient of the second model. */
#include "costate.h"
#include "expect.h"

#include <stdio.h>

#define V3 "[%.17g, %.17g, %.17g]"
#define X3(v) (v)[0], (v)[1], (v)[2]

static const int row[6] = {0, 1, 2, 0, 0, 1}, col[6] = {0, 1, 2, 1, 2, 2};
static const double mass = 2.5, com[3] = {0.31, -0.12, 0.07};

typedef struct answer {
    double value, slope[9]; /* by the numbers asked for */
} answer;

/* A tumbling body on a spring, inertia I about `about`. */
static answer solve(const char *about, const double P[3], const double I[6], int n,
                    const char *const *name)
{
    static char text[2000];
    static cst_diag d;
    answer a = {0};
    d = (cst_diag){0};
    snprintf(
        text, sizeof text,
        "costate: 1\n"
        "points: {P: " V3 ", O: [0, 0, 0]}\n"
        "bodies:\n"
        "  b: {type: rigid, mass: %.17g, com: " V3
        ", position: [0.1, 0.2, 0.3], inertia_about: %s,\n"
        "      inertia: [%.17g, %.17g, %.17g, %.17g, %.17g, %.17g], angular_velocity: [3, 1, -2],\n"
        "      orientation: {axis: [1, 2, 3], angle: 0.7}, inertia_frame: ground}\n"
        "forces: {f: {type: spring, from: b.origin, to: ground.O, stiffness: 200}}\n"
        "measures: {r: {type: position, of: b.com}}\n"
        "objectives: {psi: integral(r.x^2 + 2*r.y + r.z*r.x)}\n"
        "simulation: {end: 0.5, step: 10 ms}\n",
        X3(P), mass, X3(com), about, I[0], I[1], I[2], I[3], I[4], I[5]);
    cst_model *m = cst_model_parse("m.yaml", text, strlen(text), 0, NULL, &d);
    expect_text(d.text, "");
    cst_run *r = cst_run_new(m, NULL, &d);
    int which[9];
    for (int i = 0; i < n; i++)
        which[i] = cst_model_number_find(m, name[i]), expect_true(which[i] >= 0);
    const cst_gradient *s = cst_run_gradient(r, NULL, CST_ADJOINT, n, which, &d);
    expect_text(d.text, "");
    a.value = s->value[0];
    for (int i = 0; i < n; i++) a.slope[i] = s->slope[i];
    cst_run_free(r);
    cst_model_free(m);
    return a;
}

static void test_any_point(void **state)
{
    (void)state;
    static const char *const entry[6] = {"b.inertia[1]", "b.inertia[2]", "b.inertia[3]",
                                         "b.inertia[4]", "b.inertia[5]", "b.inertia[6]"};
    static const char *const place[9] = {"P.x",          "P.y",          "P.z",
                                         "b.inertia[1]", "b.inertia[2]", "b.inertia[3]",
                                         "b.inertia[4]", "b.inertia[5]", "b.inertia[6]"};
    static const double I[6] = {0.3, 0.4, 0.5, 0.02, -0.03, 0.05};
    expect_random r = {5};
    for (int sample = 0; sample < 5; sample++) {
        double P[3], d[3], moved[6];
        for (int i = 0; i < 3; i++) P[i] = expect_uniform(&r, -1, 1), d[i] = com[i] - P[i];
        double dd = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
        for (int i = 0; i < 6; i++)
            moved[i] = I[i] + mass * ((i < 3 ? dd : 0) - d[row[i]] * d[col[i]]);
        answer a = solve("P", P, moved, 9, place), b = solve("com", P, I, 6, entry);
        expect_near(a.value, b.value, 1e-13);
        for (int i = 0; i < 6; i++) expect_near(a.slope[3 + i], b.slope[i], 1e-12);
        for (int k = 0; k < 3; k++) {
            double slope = 0;
            for (int i = 0; i < 6; i++)
                slope += b.slope[i] * mass *
                         (2 * d[k] * (i < 3) - (row[i] == k ? d[col[i]] : 0) -
                          (col[i] == k ? d[row[i]] : 0));
            expect_true(fabs(slope) > 1e-4);
            expect_near(a.slope[k], slope, 1e-12);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_any_point)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
