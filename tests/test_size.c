/* SPDX-License-Identifier: MIT
 *
 * Laws: the influence of a point, a direction or a length does not depend on the origin, the axes
 * or the unit of the drawing. */
#include "expect.h"

#include <stdio.h>
#include <stdlib.h>

#include "integrator/run.h"

/* A wishbone suspension: hinges on pairs of points, a tie rod, a prescribed way of the wheel
 * centre. */
enum { LF, LR, LO, UF, UR, UO, TI, TO, WC, NPOINT };
static const char *const point[NPOINT] = {"LF", "LR", "LO", "UF", "UR", "UO", "TI", "TO", "WC"};
static const double drawn[NPOINT][3] = {{0.15, 0.35, 0.20},  {-0.15, 0.35, 0.20},
                                        {0.00, 0.72, 0.18},  {0.10, 0.42, 0.46},
                                        {-0.14, 0.42, 0.46}, {-0.01, 0.69, 0.48},
                                        {-0.12, 0.36, 0.25}, {-0.13, 0.70, 0.24},
                                        {0.00, 0.78, 0.31}};

typedef struct placing {
    double R[3][3], shift[3], unit;
} placing;

static void place(const placing *to, const double x[3], int point_too, double y[3])
{
    for (int i = 0; i < 3; i++) {
        y[i] = point_too ? to->shift[i] : 0;
        for (int k = 0; k < 3; k++) y[i] += to->R[i][k] * x[k];
        if (point_too) y[i] *= to->unit;
    }
}

static char *text_of(const placing *to)
{
    enum { SIZE = 8192 };
    char *text = malloc(SIZE);
    double y[3];
    const double up[3] = {0, 0, 1};
    int n =
        snprintf(text, SIZE, "costate: 1\nparameters: {travel: {value: %.17g, unit: m}}\npoints:\n",
                 0.08 * to->unit);
    for (int i = 0; i < NPOINT; i++) {
        place(to, drawn[i], 1, y);
        n += snprintf(text + n, (size_t)(SIZE - n), "  %s: [%.17g, %.17g, %.17g]\n", point[i], y[0],
                      y[1], y[2]);
    }
    place(to, up, 0, y);
    snprintf(text + n, (size_t)(SIZE - n),
             "bodies:\n"
             "  lower: {type: rigid, mass: 4, position: LO, inertia: [0.05, 0.05, 0.1]}\n"
             "  upper: {type: rigid, mass: 3, position: UO, inertia: [0.03, 0.03, 0.05]}\n"
             "  upright: {type: rigid, mass: 15, position: WC, inertia: [0.2, 0.3, 0.2]}\n"
             "joints:\n"
             "  lower_pivot: {type: revolute, between: [ground, lower], at: LF, axis: {from: LR, "
             "to: LF}}\n"
             "  upper_pivot: {type: revolute, between: [ground, upper], at: UF, axis: {from: UR, "
             "to: UF}}\n"
             "  lower_ball: {type: spherical, between: [lower, upright], at: LO}\n"
             "  upper_ball: {type: spherical, between: [upper, upright], at: UO}\n"
             "  tie_rod: {type: distance, from: ground.TI, to: upright.TO}\n"
             "  jack: {type: drive-coordinate, of: upright.WC, origin: WC, direction: [%.17g, "
             "%.17g, %.17g], value: travel*sin(2*pi*t)}\n"
             "measures: {d: {type: distance, from: ground.TI, to: upright.UO}}\n"
             "objectives: {psi: rms(d)/end(d)}\n"
             "simulation: {end: 0.2, step: 5 ms}\n",
             y[0], y[1], y[2]);
    return text;
}

/* influence: of each point, then of the direction of the jack, then of the travel */
enum { NINFLUENCE = NPOINT + 2 };

static double component(const cst_model *m, const cst_gradient *g, const double *size,
                        const char *name)
{
    const int i = cst_model_number_find(m, name);
    if (i < 0) fail_msg("no number '%s'", name);
    return g->slope[i] * size[i];
}

static void influences(const placing *to, double influence[NINFLUENCE], double single[3 * NPOINT])
{
    char *text = text_of(to), name[64];
    cst_diag d = {0};
    cst_model *m = cst_model_parse("m.yaml", text, strlen(text), 0, NULL, &d);
    if (!m) fail_msg("%s", d.text);
    cst_run *r = cst_run_new(m, NULL, &d);
    const cst_gradient *g = r ? cst_run_gradient(r, NULL, CST_ADJOINT, 0, NULL, &d) : NULL;
    if (!g) fail_msg("%s", d.text);
    double *size = calloc((size_t)g->numbers, sizeof *size);
    expect_int(cst_number_size(m, size), CST_OK);
    for (int i = 0; i <= NPOINT; i++) {
        influence[i] = 0;
        for (int k = 0; k < 3; k++) {
            snprintf(name, sizeof name, i < NPOINT ? "%s.%c" : "jack.%s.%c",
                     i < NPOINT ? point[i] : "direction", "xyz"[k]);
            const double x = component(m, g, size, name);
            influence[i] = hypot(influence[i], x);
            if (i < NPOINT) single[3 * i + k] = x;
        }
    }
    influence[NPOINT + 1] = fabs(component(m, g, size, "travel"));
    free(size), free(text);
    cst_run_free(r);
    cst_model_free(m);
}

static placing placing_new(void)
{
    return (placing){.R = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, .unit = 1};
}

/* A turn about a random axis, by a random angle */
static void turn(expect_random *r, double R[3][3])
{
    double q[4], n = 0;
    for (int i = 0; i < 4; i++) q[i] = expect_uniform(r, -1, 1), n += q[i] * q[i];
    for (int i = 0; i < 4; i++) q[i] /= sqrt(n);
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) {
            const int l = 3 - i - k;
            const double cross = i == k ? 0 : ((k - i + 3) % 3 == 1 ? -1 : 1) * q[0] * q[1 + l];
            R[i][k] = 2 * (q[1 + i] * q[1 + k] + cross) + (i == k ? 2 * q[0] * q[0] - 1 : 0);
        }
}

static void influences_do_not_depend_on_the_frame(void **state)
{
    (void)state;
    expect_random r = {7};
    double at[NINFLUENCE], single[3 * NPOINT], other[NINFLUENCE], moved[3 * NPOINT];
    const placing here = placing_new();
    influences(&here, at, single);
    for (int n = 0; n < 12; n++) {
        placing to = here;
        if (n % 3 == 0 || n > 8) to.unit = pow(10, expect_uniform(&r, -2, 2));
        if (n % 3 == 1 || n > 8)
            for (int k = 0; k < 3; k++) to.shift[k] = expect_uniform(&r, -1, 1);
        if (n % 3 == 2 || n > 8) turn(&r, to.R);
        influences(&to, other, moved);
        for (int i = 0; i < NINFLUENCE; i++) expect_near(other[i], at[i], 1e-7);
        for (int i = 0; i < 3 * NPOINT && n % 3 != 2 && n <= 8; i++)
            expect_near(moved[i], single[i], 1e-7); /* the same axes */
    }
    expect_true(at[WC] > 1e-3 && at[NPOINT] > 1e-3 &&
                at[NPOINT + 1] > 1e-3); /* there is something to compare */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(influences_do_not_depend_on_the_frame)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
