/* SPDX-License-Identifier: MIT
 *
 * A pole on a light cart: however light the cart, its rows stay independent, the motion goes on and
 * its energy stays. */
#include "costate.h"
#include "expect.h"

#include <stdio.h>
#include <string.h>

#define CART                                                                                       \
    "costate: 1\ngravity: [0, -9.81, 0]\nparameters: {M: %.17g, L: %.17g}\npoints: {C: [0, 0, "    \
    "0], B: [L, 0, 0]}\n"                                                                          \
    "bodies: {cart: {type: point, position: C, mass: M}, bob: {type: point, position: B, mass: "   \
    "1}}\n"                                                                                        \
    "joints:\n  rail: {type: point-on-line, of: cart.C, on: ground, axis: x}\n"                    \
    "  plane: {type: point-on-plane, of: bob.B, on: ground, normal: z}\n  pole: {type: distance, " \
    "from: cart.C, to: bob.B}\n"                                                                   \
    "measures: {E: {type: energy}}\nobjectives: {lost: end(E.total)-start(E.total)}\n"             \
    "simulation: {end: %.17g, step: 1e-3, integrator: rk45, tolerance: 1e-9, formulation: %s}\n"

static void energy_stays(void **state)
{
    (void)state;
    const char *const formulation[] = {"index1", "penalty"};
    const double mass[] = {1, 1e-3, 1e-6, 1e-8}, length[] = {1e-2, 1, 1e2};
    for (int i = 0; i < 24; i++) {
        double L = length[i / 8];
        char text[2000];
        cst_diag d = {0};
        snprintf(text, sizeof text, CART, mass[i / 2 % 4], L, 1.2 * sqrt(L), formulation[i % 2]);
        cst_model *m = cst_model_parse("cart.yaml", text, strlen(text), 0, NULL, &d);
        expect_true(m != NULL);
        cst_run *r = cst_run_new(m, NULL, &d);
        expect_int(cst_run_simulate(r, NULL, NULL, NULL, &d), CST_OK);
        expect_near(cst_run_objective(r, 0) / (9.81 * L), 0, 1e-4);
        cst_run_free(r);
        cst_model_free(m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(energy_stays)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
