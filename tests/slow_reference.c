/* SPDX-License-Identifier: MIT
 *
 * References that need many steps: docs/validation.md names the step of each. */
#include "reference_four_bar.h"
#include "reference_history.h"

static void test_four_bar_40(void **state)
{
    (void)state;
    double drift, error = four_bar_error(40, 1e-3, 20, 2, &drift);
    print_message("N-four-bar, N = 40, 20 s, step 1e-3: error %.3g m, energy %.3g\n", error, drift);
    expect_near(error, 0, 1e-3);
}

static void test_five_bar(void **state)
{
    (void)state;
    cst_arena a = {0};
    if (CST_ARENA_GUARD(&a)) fail();
    history h;
    double psi;
    five_bar_history(&a, 1.25e-4, &h, &psi);
    print_message("five-bar, 5 s, step 1.25e-4: error %.3g m, psi %.12g, energy %.3g J\n", h.error,
                  psi, h.drift);
    expect_near(h.error, 0, 1e-6);
    expect_near(psi, 0.726877461313, 1e-7);
    cst_arena_free(&a);
}

static void test_bricard(void **state)
{
    (void)state;
    static const char *const names[] = {"p.x", "p.y", "p.z", "E.total", NULL};
    static const double exact[] = {0.9999999638063494092, -1.000269012696163344,
                                   0.9997309511199213073, -29.43};
    double y[4];
    run_to(EXAMPLE("bricard"), 5e-4, 10, names, y);
    print_message("Bricard, 10 s, step 5e-4: error %.3g, %.3g, %.3g m, energy %.3g J\n",
                  fabs(y[0] - exact[0]), fabs(y[1] - exact[1]), fabs(y[2] - exact[2]),
                  fabs(y[3] - exact[3]));
    for (int i = 0; i < 3; i++) expect_true(fabs(y[i] - exact[i]) < 1e-6);
    expect_near(y[3], exact[3], 1e-8);
}

/* second order down to where positions differenced over h^2 would leave nothing but rounding */
static void test_pendulum(void **state)
{
    (void)state;
    static const char *const names[] = {"R.tension", NULL};
    const double exact = 28.294567206067251, step[] = {1e-4, 3e-5, 1e-5}; /* closed form */
    double y[3];
    for (int k = 0; k < 3; k++) {
        run_to(EXAMPLE("pendulum"), step[k], 10, names, &y[k]);
        print_message("pendulum, 10 s, step %g: tension %.3g N\n", step[k], fabs(y[k] - exact));
    }
    expect_true(fabs(y[1] - exact) < 1e-6);
    expect_true(fabs(y[2] - exact) <
                1.1e-7); /* a million steps: rounding is as large as the error of the rule */
    expect_near((y[0] - exact) / (y[1] - exact), 100.0 / 9, 0.5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_four_bar_40),
        cmocka_unit_test(test_five_bar),
        cmocka_unit_test(test_bricard),
        cmocka_unit_test(test_pendulum),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
