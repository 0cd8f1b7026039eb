/* SPDX-License-Identifier: MIT
 *
 * Law: angles from the drawing do not depend on the axes in which a body is drawn. */
#include "expect.h"

#include <stdio.h>

#include "integrator/run.h"

/* Two spheres with the same spin, the second with axes of its own: its angles from the drawing are
 * those of the first. */
static void angles_from_the_drawing(void **state)
{
    (void)state;
    expect_random r = {5};
    for (int n = 0; n < 40; n++) {
        double q[4], w[3];
        char text[2048];
        for (int i = 0; i < 4; i++) q[i] = expect_uniform(&r, -1, 1);
        for (int i = 0; i < 3; i++) w[i] = expect_uniform(&r, -1, 1);
        if (n == 0) q[0] = q[2] = 1, q[1] = q[3] = 0; /* upright: at a pitch of 90 degrees */
        snprintf(text, sizeof text,
                 "costate: 1\ngravity: [0, 0, 0]\n"
                 "bodies:\n"
                 "  a: {type: rigid, mass: 1, inertia: [1, 1, 1], position: [0, 0, 0], "
                 "angular_velocity: [%g, %g, %g]}\n"
                 "  b: {type: rigid, mass: 1, inertia: [1, 1, 1], position: [0, 0, 0], "
                 "angular_velocity: [%g, %g, %g],\n"
                 "      orientation: {quaternion: [%.17g, %.17g, %.17g, %.17g]}}\n"
                 "measures:\n"
                 "  x: {type: cardan, of: a}\n"
                 "  y: {type: cardan, of: b, zero: drawn}\n"
                 "simulation: {end: 1, step: 0.05}\n",
                 w[0], w[1], w[2], w[0], w[1], w[2], q[0], q[1], q[2], q[3]);
        cst_diag d = {0};
        cst_model *m = cst_model_parse("m.yaml", text, strlen(text), 0, NULL, &d);
        cst_run *run = m ? cst_run_new(m, NULL, &d) : NULL;
        if (!run || strstr(d.text, "pitch of 90") ||
            cst_run_simulate(run, NULL, NULL, NULL, &d) != CST_OK)
            fail_msg("%s", d.text);
        for (int k = 0; k < 3; k++)
            expect_near(cst_run_measure(run, 3 + k), cst_run_measure(run, k), 1e-12);
        expect_true(fabs(cst_run_measure(run, 0)) > 1e-3);
        cst_run_free(run);
        cst_model_free(m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(angles_from_the_drawing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
