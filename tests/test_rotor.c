/* SPDX-License-Identifier: MIT
 *
 * A rotor whose centre of mass is on its axis turns evenly, whatever its bearing holds: corrections
 * of its positions are rounding from the first one on and reveal nothing about the multipliers,
 * which turn with it. Derivatives by the axis read the multipliers: they must be those of the
 * computed solution, with factors of earlier steps as well as with new ones. */
#include "expect.h"
#include "pairs.h"

#include "costate.h"

static cst_diag diag;

#define NAMES 2

static cst_run *rotor(const cst_formulation *f, const char *integrator, double spin, int full,
                      cst_model **m)
{
    char text[1024], set[64];
    snprintf(text, sizeof text,
             "costate: 1\ngravity: [0, -9.81, 0]\npoints: {A: [0, 0, 0]}\n"
             "bodies: {g: {type: rigid, mass: 0.5, inertia: [1.3e-4, 1.3e-4, 2.3e-4], position: "
             "[0, 0, 0.01],\n"
             "             angular_velocity: [0, 0, %g]}}\n"
             "joints: {j: {type: revolute, between: [ground, g], at: A, axis: z}}\n"
             "measures: {q: {type: joint, of: j}}\nobjectives: {a: end(q)}\n"
             "simulation: {end: 50 ms, step: 1 ms}\n",
             spin);
    snprintf(set, sizeof set, "simulation.formulation=%s", f->name);
    diag = (cst_diag){0};
    *m = cst_model_parse("rotor.yaml", text, strlen(text), 1, (const char *const[]){set}, &diag);
    cst_options o = cst_options_default();
    o.integrator = integrator, o.full_newton = full;
    cst_run *r = *m ? cst_run_new(*m, &o, &diag) : NULL;
    if (!r) fail_msg("%s", diag.text);
    return r;
}

static void slopes(const cst_formulation *f, const char *integrator, double spin, int full,
                   cst_method method, double *slope)
{
    cst_model *m;
    cst_run *r = rotor(f, integrator, spin, full, &m);
    int which[NAMES] = {cst_model_number_find(m, "j.axis.x"), cst_model_number_find(m, "j.axis.y")};
    const cst_gradient *g = cst_run_gradient(r, NULL, method, NAMES, which, &diag);
    if (!g) fail_msg("%s", diag.text);
    memcpy(slope, g->slope, sizeof *slope * NAMES);
    cst_run_free(r), cst_model_free(m);
}

static void exact(const cst_formulation *f, const char *integrator, void *ctx)
{
    (void)ctx;
    for (double spin = 20; spin <= 400; spin *= 4) {
        double adjoint[NAMES], direct[NAMES], full[NAMES], difference[NAMES];
        slopes(f, integrator, spin, 0, CST_ADJOINT, adjoint);
        slopes(f, integrator, spin, 0, CST_DIRECT, direct);
        slopes(f, integrator, spin, 1, CST_ADJOINT, full);
        slopes(f, integrator, spin, 0, CST_DIFFERENCE, difference);
        double size = hypot(full[0], full[1]) + 1e-3;
        for (int i = 0; i < NAMES; i++) {
            if (fabs(adjoint[i] - full[i]) > 1e-7 * size || fabs(direct[i] - full[i]) > 1e-7 * size)
                fail_msg("%s, %s, %g rad/s: adjoint %.9g, direct %.9g, with new factors %.9g",
                         f->name, integrator, spin, adjoint[i], direct[i], full[i]);
            if (fabs(adjoint[i] - difference[i]) > 1e-5 * size)
                fail_msg("%s, %s, %g rad/s: adjoint %.9g, difference %.9g", f->name, integrator,
                         spin, adjoint[i], difference[i]);
        }
    }
}

static void derivatives_are_of_the_numbers(void **state)
{
    (void)state;
    for_each_pair(1, exact, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(derivatives_are_of_the_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
