/* SPDX-License-Identifier: MIT
 *
 * A few random mechanisms of each law of same.h, and rates that the file writes. `slow_same` has
 * thousands. */
#include "same.h"

static void closed_drawings(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 60; seed++) same_closed_law(seed);
}

static void open_drawings(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) same_open_law(seed);
}

static void trees(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 12; seed++) same_tree_law(seed);
}

/* Rates that contradict each other: a rack of mass m on a pinion of inertia J and radius r. With w
 * of the pinion and v of the rack written, J (w - w0)^2 + m (v - v0)^2 is least where v = r w. Both
 * are named. */
static void contradictions(void **state)
{
    (void)state;
    static const char text[] =
        "costate: 1\ngravity: [0, 0, 0]\n"
        "bodies:\n  pinion: {type: rigid, mass: 3, inertia: [1, 1, 0.5], angular_velocity: [0, 0, "
        "10]}\n"
        "  rack: {type: rigid, mass: 2, inertia: [1, 1, 1], position: [0.3, 0, 0], velocity: [0, "
        "1, 0]}\n"
        "joints:\n  a: {type: revolute, between: [ground, pinion], at: [0, 0, 0], axis: z}\n"
        "  c: {type: prismatic, between: [ground, rack], at: [0.3, 0, 0], axis: y}\n"
        "  g: {type: rack-and-pinion, pinion: a, rack: c, radius: 0.3}\n"
        "measures: {w: {type: angular-velocity, of: pinion}}\nobjectives: {w: "
        "start(w.z)}\nsimulation: {end: 0.1, step: 0.01}\n";
    cst_diag d = {0};
    cst_model *m = cst_model_parse("rack.yaml", text, strlen(text), 0, NULL, &d);
    cst_run *r = m ? cst_run_new(m, NULL, &d) : NULL;
    const cst_gradient *g = r ? cst_run_gradient(r, NULL, CST_ADJOINT, 0, NULL, &d) : NULL;
    if (!g) fail_msg("%s", d.text);
    double J = 0.5, mass = 2, rad = 0.3, w0 = 10, v0 = 1, sum = J + mass * rad * rad,
           w = (J * w0 + mass * rad * v0) / sum;
    expect_near(g->value[0], w, 1e-10);
    expect_near(g->slope[cst_model_number_find(m, "pinion.angular_velocity.z")], J / sum, 1e-10);
    expect_near(g->slope[cst_model_number_find(m, "rack.velocity.y")], mass * rad / sum, 1e-10);
    expect_near(g->slope[cst_model_number_find(m, "rack.mass")], (rad * v0 - rad * rad * w) / sum,
                1e-10);
    expect_contains(d.text,
                    "angular_velocity of 'pinion' as written: [0, 0, 10] becomes [0, 0, 8.235");
    expect_contains(d.text, "velocity of 'rack' as written: [0, 1, 0] becomes [0, 2.470");
    cst_run_free(r);
    cst_model_free(m);
}

static void one_run_many_numbers(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 3; seed++) same_turn_law(seed, 40);
}

/* Drives that contradict each other in position, in rate and during the motion: both are named. */
static void two_drives(void **state)
{
    (void)state;
    static const char *const law[] = {"1 + t", "3*t", "t + t^2"};
    for (int i = 0; i < 3; i++) {
        char text[1000];
        cst_diag d = {0};
        int n = snprintf(
            text, sizeof text,
            "costate: 1\ngravity: [0, 0, 0]\nbodies: {a: {type: box, position: [0, 0, 0], size: "
            "[1, 2, 3], mass: 1}}\n"
            "joints:\n  h: {type: revolute, between: [ground, a], at: [0, 0, 0], axis: z}\n"
            "  first: {type: drive-angle, between: [ground, a], axis: z, angle: t}\n"
            "  second: {type: drive-angle, between: [ground, a], axis: z, angle: %s}\nsimulation: "
            "{end: 1, step: 0.01}\n",
            law[i]);
        cst_model *m = cst_model_parse("drives.yaml", text, (size_t)n, 0, NULL, &d);
        cst_run *r = m ? cst_run_new(m, NULL, &d) : NULL;
        if (!m || (r && cst_run_simulate(r, NULL, NULL, NULL, &d) == CST_OK))
            fail_msg("%s", d.text);
        expect_contains(d.text, "first"), expect_contains(d.text, "second");
        cst_run_free(r);
        cst_model_free(m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(closed_drawings),
                                       cmocka_unit_test(open_drawings),
                                       cmocka_unit_test(trees),
                                       cmocka_unit_test(contradictions),
                                       cmocka_unit_test(two_drives),
                                       cmocka_unit_test(one_run_many_numbers)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
