/* SPDX-License-Identifier: MIT
 *
 * The cars of the examples at the steps that their tables name. */
#include "reference.h"

/* psi and its slopes by n numbers, of the first objective */
static double slopes(const char *path, int nset, const char *const *set, double step, double end, int n, const char *const *name,
                     double *slope)
{
    cst_test_run t;
    cst_options o = cst_options_default();
    int which[16];
    o.step = step, o.end = end;
    memset(&t.d, 0, sizeof t.d);
    t.m = cst_model_load(path, nset, set, &t.d);
    run_check(&t, t.m != NULL);
    t.r = cst_run_new(t.m, &o, &t.d);
    run_check(&t, t.r != NULL);
    double psi;
    if (n) {
        for (int i = 0; i < n; i++) which[i] = cst_model_number_find(t.m, name[i]), expect_true(which[i] >= 0);
        const cst_gradient *g = cst_run_gradient(t.r, NULL, CST_ADJOINT, n, which, &t.d);
        run_check(&t, g != NULL);
        memcpy(slope, g->slope, sizeof *slope * (size_t)n);
        psi = g->value[0];
    } else {
        run_check(&t, cst_run_simulate(t.r, NULL, NULL, NULL, &t.d) == CST_OK);
        psi = cst_run_objective(t.r, 0);
    }
    run_close(&t);
    return psi;
}

/* within 0.1 % at 0.5 ms, and ten times nearer when extrapolated from 1 ms: the error is of second order */
static void iltis(void **state)
{
    (void)state;
    static const char *const name[] = {"k_L1", "k_L2", "c_S1", "c_S2", "k_S1", "k_S2"};
    static const double exact[] = {-0.00409859, 0.00756191, -0.03188605, -0.07585773, 0.01843517, 0.02054882};
    double coarse[6], fine[6];
    double p1 = slopes(EXAMPLE("iltis"), 0, NULL, 1e-3, 2.6, 6, name, coarse);
    double p2 = slopes(EXAMPLE("iltis"), 0, NULL, 5e-4, 2.6, 6, name, fine);
    expect_near(p2 / 522.262659, 1, 1e-4);
    expect_near((4 * p2 - p1) / 3 / 522.262659, 1, 1e-5);
    for (int i = 0; i < 6; i++) {
        expect_near(fine[i] / exact[i], 1, 1e-3);
        expect_near((4 * fine[i] - coarse[i]) / 3 / exact[i], 1, 1e-4);
    }
}

static void iltis_with_bump_stops(void **state)
{
    (void)state;
    static const char *const set[] = {"k_B=1e7"};
    expect_near(slopes(EXAMPLE("iltis"), 1, set, 1.25e-4, 2.6, 0, NULL, NULL) / 3204.65399, 1, 1e-3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(iltis),
        cmocka_unit_test(iltis_with_bump_stops),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
