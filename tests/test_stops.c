/* SPDX-License-Identifier: MIT
 *
 * Stops with damping, from soft to very stiff: contact begins exactly at the limit, whatever the
 * step and the stiffness, so that no stop returns more energy than it has taken up; and a stop
 * without stiffness, compared with its closed form. */
#include "event_ways.h"

/* A mass that flies against a stop at x = 0 */
static void flight(char *text, size_t size, double k, double c, double v, double x0, double end,
                   double step, const char *objective)
{
    snprintf(text, size,
             "costate: 1\ngravity: [0, 0, 0]\nparameters: {m: 1.7, x0: %.17g, v: %.17g, k: %.17g, "
             "c: %.17g}\n"
             "bodies: {x: {type: scalar, inertia: m, value: x0, rate: -v}}\nmeasures: {X: {type: "
             "coordinate, of: x}}\n"
             "forces: {f: {type: stop, of: x, lower: 0, stiffness: k, damping: c}}\n"
             "objectives: {o: %s}\nsimulation: {end: %.17g, step: %.17g}\n",
             x0, v, k, c, objective, end, step);
}

static void no_stop_gives_energy(void **state)
{
    (void)state;
    static const char *const name[] = {"v", "x0", "k", "c", "m"};
    expect_random r = {17};
    for (int i = 0; i < 200; i++) {
        char text[1024];
        double k = pow(10, expect_uniform(&r, 3, 11)), v = expect_uniform(&r, 0.2, 2),
               h = pow(10, expect_uniform(&r, -4, -2));
        double c = expect_uniform(&r, 0.01, 0.9) * 2 * sqrt(k * 1.7),
               x0 = v * h * expect_uniform(&r, 2, 9);
        double end = 40 * h + 4 / sqrt(k / 1.7);
        flight(text, sizeof text, k, c, v, x0, end, h, "end(X.rate)");
        answer a = solve_by(&ways[0], text, "exact", 0, 5, name);
        if (!(a.value > 0 && a.value <= v * (1 + 1e-9)))
            fail_msg("sample %d, k = %g, c = %g, h = %g: %g -> %g", i, k, c, h, v, a.value);
        expect_int(stats.events, 2);
        double scale = fabs(a.value);
        for (int p = 0; p < 5; p++)
            expect_near(a.adjoint[p] / scale, a.direct[p] / scale,
                        1e-9 * (1 + fabs(a.adjoint[p] / scale)));
    }
}

/* k = 0: m v' = -c v while it goes deeper: v = v0 exp(-c t/m) behind t0 = x0/v0, and it never comes
 * back */
static void damping_alone(void **state)
{
    (void)state;
    static const char *const name[] = {"v", "x0", "c", "m"};
    double v = 0.8, x0 = 0.1003, c = 9, m = 1.7, end = 0.5, err[2];
    double t = end - x0 / v, e = exp(-c * t / m), exact = v * e,
           slope[] = {e + v * e * -c / m * (x0 / (v * v)), v * e * c / m / v, -v * e * t / m,
                      v * e * c * t / (m * m)};
    for (int n = 0; n < 2; n++) {
        char text[1024];
        flight(text, sizeof text, 0, c, v, x0, end, n ? 1e-3 : 2e-3, "-end(X.rate)");
        answer a = solve_by(&ways[0], text, "exact", 0, 4, name);
        err[n] = a.value - exact;
        for (int i = 0; i < 4; i++)
            expect_near(a.adjoint[i], slope[i], n ? 4e-6 : 16e-6),
                expect_near(a.adjoint[i], a.direct[i], 1e-12);
    }
    expect_near(err[0] / err[1], 4, 0.3); /* second order */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(no_stop_gives_energy),
                                       cmocka_unit_test(damping_alone)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
