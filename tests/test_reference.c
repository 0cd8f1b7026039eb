/* SPDX-License-Identifier: MIT
 *
 * Example mechanisms against closed forms and references of many digits (docs/validation.md):
 * values at stated steps, second order in positions, velocities, accelerations and reactions,
 * energy. */
#include "reference_four_bar.h"
#include "reference_history.h"

#define MOST 16

/* Halving the step twice must divide the change by 4, in each of the groups that "|" separates
 * (single measures may pass zero). The first `n` have exact values, which the measures extrapolated
 * to step 0 must meet. */
static void expect_second_order(const char *path, double step, double end, const char *const *name,
                                int n, const double *exact, double tol)
{
    const char *measure[MOST + 1] = {0};
    int group[MOST], all = 0, groups = 0;
    for (int i = 0; name[i]; i++) {
        if (strcmp(name[i], "|") == 0)
            groups++;
        else
            group[all] = groups, measure[all++] = name[i];
    }
    double y[3][MOST];
    for (int k = 0; k < 3; k++) run_to(path, step / (1 << k), end, measure, y[k]);
    for (int i = 0; i < n; i++) expect_near(y[2][i] + (y[2][i] - y[1][i]) / 3, exact[i], tol);
    for (int g = 0; g <= groups; g++) {
        double before = 0, after = 0;
        for (int i = 0; i < all; i++)
            if (group[i] == g) before += fabs(y[1][i] - y[0][i]), after += fabs(y[2][i] - y[1][i]);
        expect_near(before / after, 4, 0.08);
    }
}

/* ---- pendulum ---- */

static void test_closed_form(void **state)
{
    (void)state;
    /* elliptic functions in 40 digits */
    static const double table[3][5] = {
        {1, 0.98629175113187532, -0.16501085312554117, 0.29690551591631582, 1.7746436411126556},
        {5, -0.94230543504375734, -0.33475433841400058, 0.85790425688594907, -2.4149286543704886},
        {10, -0.27508746257611686, -0.96141920509912506, 4.1755981009517288, -1.1947490545604753},
    };
    for (int i = 0; i < 3; i++) {
        pendulum_at y = pendulum_exact(table[i][0], 9.81, 1);
        for (int k = 0; k < 2; k++) {
            expect_near(y.p[k], table[i][1 + k], 1e-13);
            expect_near(y.v[k], table[i][3 + k], 1e-13);
        }
    }
    expect_near(pendulum_exact(10, 9.81, 1).tension, 28.294567206067251, 1e-13);
}

static const char *const pendulum_names[] = {"p.x",   "p.y",   "vel.x",     "vel.y",
                                             "acc.x", "acc.y", "R.tension", NULL};

static void pendulum_list(double t, double *list)
{
    pendulum_at y = pendulum_exact(t, 9.81, 1);
    const double all[7] = {y.p[0], y.p[1], y.v[0], y.v[1], y.a[0], y.a[1], y.tension};
    memcpy(list, all, sizeof all);
}

static void test_pendulum_order(void **state)
{
    (void)state;
    static const char *const names[] = {"p.x",   "p.y",   "|", "vel.x",     "vel.y", "|",
                                        "acc.x", "acc.y", "|", "R.tension", NULL};
    double exact[7];
    pendulum_list(5, exact);
    expect_second_order(EXAMPLE("pendulum"), 0.004, 5, names, 7, exact, 1e-6);
}

static void test_pendulum_value(void **state)
{
    (void)state;
    double y[2][7], exact[7];
    run_to(EXAMPLE("pendulum"), 8e-5, 10, pendulum_names, y[0]);
    pendulum_list(10, exact);
    for (int i = 0; i < 2; i++) expect_true(fabs(y[0][i] - exact[i]) < 1e-6);
    expect_near(y[0][6], exact[6], 1e-6);
    /* to 1e-6 N: two steps extrapolated; tests/slow_reference.c takes short ones */
    for (int k = 0; k < 2; k++)
        run_to(EXAMPLE("pendulum"), 4e-4 / (1 << k), 10, pendulum_names, y[k]);
    expect_true(fabs(y[1][6] + (y[1][6] - y[0][6]) / 3 - exact[6]) < 1e-6);
}

/* ---- five-bar ---- */

static void test_five_bar(void **state)
{
    (void)state;
    static const double steps[2] = {1e-3, 5e-4};
    history h[2];
    double psi[2];
    for (int k = 0; k < 2; k++) {
        cst_arena a = {0};
        if (CST_ARENA_GUARD(&a)) fail();
        five_bar_history(&a, steps[k], &h[k], &psi[k]);
        cst_arena_free(&a);
    }
    expect_near(h[1].error, 0,
                1e-5); /* over the whole history; tests/slow_reference.c goes below 1e-6 */
    expect_near(h[0].error / h[1].error, 4, 0.08);
    expect_near(h[1].drift, 0, 1e-4);
    expect_near(h[0].drift / h[1].drift, 4, 0.08);
    expect_near(psi[1], 0.726877461313, 1e-6);
    expect_near((psi[0] - 0.726877461313) / (psi[1] - 0.726877461313), 4, 0.08);
    expect_near(psi[1] + (psi[1] - psi[0]) / 3, 0.726877461313, 1e-9);
}

static void test_five_bar_order(void **state)
{
    (void)state;
    static const char *const names[] = {"v2.x", "v2.y",       "|",          "a2.x", "a2.y",
                                        "|",    "RA.force.x", "RA.force.y", NULL};
    expect_second_order(EXAMPLE("five-bar"), 0.004, 2.5, names, 0, NULL, 0);
}

/* ---- Bricard ---- */

static void test_bricard(void **state)
{
    (void)state;
    /* reduction to one degree of freedom, 30 digits */
    static const double table[3][4] = {
        {0.5, 0.9682836791067771625, -1.224625159436333889, 0.7501466094377669016},
        {1, 0.5105014611872197359, -1.649167599394806308, 0.1401231145531858283},
        {2, -0.9693403447776516027, -1.221246894956317395, 0.7542780107797767335},
    };
    static const char *const names[] = {"p.x", "p.y", "p.z", "E.total", NULL};
    for (int i = 0; i < 3; i++) {
        double y[4];
        run_to(EXAMPLE("bricard"), 5e-4, table[i][0], names, y);
        for (int k = 0; k < 3; k++)
            expect_near(y[k], table[i][1 + k], 1e-6 / (1 + fabs(table[i][1 + k])));
        expect_near(y[3], -29.43, 1e-6);
    }
    static const char *const all[] = {"p.x",       "p.y",       "p.z",       "|",
                                      "vel.x",     "vel.y",     "vel.z",     "|",
                                      "acc.x",     "acc.y",     "acc.z",     "|",
                                      "R.force.x", "R.force.y", "R.force.z", NULL};
    expect_second_order(EXAMPLE("bricard"), 0.01, 2, all, 3, table[2] + 1, 1e-6);
}

/* ---- N-four-bar ---- */

static void test_four_bar(void **state)
{
    (void)state;
    static const double table[3][5] = {
        {1, -0.19502030194943509, -0.98079920566217383, -6.6766780368811581, 1.3275783251604872},
        {5, -0.81131046100510741, -0.58461554534897555, -3.5691173971932092, 4.953105171313327},
        {10, 0.32845811154081538, 0.94451853817860096, 1.4230514702069441, -0.49486884548704296},
    };
    static const char *const names[] = {"p.x", "p.y", "vel.x", "vel.y", NULL};
    for (int i = 0; i < 3; i++) {
        double y[4];
        run_to(EXAMPLE("n-four-bar"), 1e-3, table[i][0], names, y);
        for (int k = 0; k < 4; k++) expect_near(y[k], table[i][1 + k], 1e-3);
    }
    static const char *const all[] = {"p.x",   "p.y",   "|", "vel.x",     "vel.y",     "|",
                                      "acc.x", "acc.y", "|", "R.force.x", "R.force.y", NULL};
    expect_second_order(EXAMPLE("n-four-bar"), 0.002, 1, all, 4, table[0] + 1, 1e-6);
}

/* The whole history of N = 2, and N = 40 through its first two singular positions. */
static void test_four_bar_history(void **state)
{
    (void)state;
    double drift, coarse;
    expect_true(four_bar_error(2, 2e-3, 10, 0, &coarse) < 1e-3);
    expect_true(four_bar_error(2, 1e-3, 10, 0, &drift) < 3e-4);
    expect_near(coarse / drift, 4, 0.08);
    expect_true(four_bar_error(40, 5e-3, 2, 0, &drift) < 1e-3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_closed_form),    cmocka_unit_test(test_pendulum_order),
        cmocka_unit_test(test_pendulum_value), cmocka_unit_test(test_five_bar),
        cmocka_unit_test(test_five_bar_order), cmocka_unit_test(test_bricard),
        cmocka_unit_test(test_four_bar),       cmocka_unit_test(test_four_bar_history),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
