/* SPDX-License-Identifier: MIT
 *
 * The two cars of the examples against independent programs, and their gradients by two methods. */
#include <stdlib.h>

#include "base/csv.h"
#include "formulation/structure.h"
#include "integrator/run.h"
#include "reference.h"
#include "sensitivity/scaling.h"

typedef struct watched { /* largest differences of measures from columns of a reference */
    const cst_csv *csv;
    int n, measure[12];
    const double *column[12];
    double off[12], size[12];
} watched;

static int compare(void *ctx, double t, const double *measure, int n)
{
    (void)n;
    watched *w = ctx;
    const double *time = cst_csv_column(w->csv, "t");
    int row = (int)lround(t / time[1]);
    if (row >= w->csv->nrow || fabs(time[row] - t) > 1e-9) return 0;
    for (int i = 0; i < w->n; i++) {
        w->off[i] = fmax(w->off[i], fabs(measure[w->measure[i]] - w->column[i][row]));
        w->size[i] = fmax(w->size[i], fabs(w->column[i][row]));
    }
    return 0;
}

static void open_with(cst_test_run *t, const char *path, double step, double end, int nset,
                      const char *const *set)
{
    cst_options o = cst_options_default();
    o.step = step, o.end = end;
    memset(&t->d, 0, sizeof t->d);
    t->m = cst_model_load(path, nset, set, &t->d);
    run_check(t, t->m != NULL);
    t->r = cst_run_new(t->m, &o, &t->d);
    run_check(t, t->r != NULL);
}

/* The state at the start is in examples/iltis/expected.csv, with psi and its gradient. */
static void iltis_history(void **state)
{
    (void)state;
    static const char *const measure[] = {
        "cg.z", "tilt.pitch",        "fl.leaf_length",   "rl.leaf_length",
        "a.z",  "fl.contact.normal", "rl.contact.normal"};
    static const char *const column[] = {"z",     "pitch",    "L_front", "L_rear",
                                         "zddot", "Fn_front", "Fn_rear"};
    cst_arena a = {0};
    if (CST_ARENA_GUARD(&a)) fail();
    cst_test_run t;
    watched w = {.n = 7};
    run_open(&t, EXAMPLE("iltis"), 2e-3, 2.6);
    expect_int(t.r->st->dof, 14);
    expect_int(t.r->st->dep.ndep, 6);
    expect_int(t.m->body.n, 20);
    w.csv = cst_csv_read(&a, CST_SOURCE_DIR "/examples/iltis/reference.csv", NULL, &t.d);
    run_check(&t, w.csv != NULL);
    for (int i = 0; i < w.n; i++)
        w.measure[i] = run_find(&t, measure[i]), w.column[i] = cst_csv_column(w.csv, column[i]);
    run_check(&t, cst_run_simulate(t.r, NULL, compare, &w, &t.d) == CST_OK);
    /* the step leaves 1e-4 of the lengths, 0.5 % of what jumps when a wheel lands */
    for (int i = 0; i < w.n; i++) {
        print_message("%s: %.3g of %.3g\n", measure[i], w.off[i], w.size[i]);
        expect_true(w.off[i] <= (i < 4 ? 2e-4 : 1e-2) * w.size[i]);
    }
    run_close(&t);
    cst_arena_free(&a);
}

/* adjoint = direct for the numbers named */
static void two_methods(cst_test_run *t, int n, const char *const *name, double tolerance)
{
    int which[40];
    double adjoint[40 * 16];
    for (int i = 0; i < n; i++) {
        which[i] = cst_model_number_find(t->m, name[i]);
        if (which[i] < 0) print_error("no number %s\n", name[i]);
        expect_true(which[i] >= 0);
    }
    const cst_gradient *g = cst_run_gradient(t->r, NULL, CST_ADJOINT, n, which, &t->d);
    run_check(t, g != NULL);
    int objectives = g->objectives;
    memcpy(adjoint, g->slope, sizeof *adjoint * (size_t)(n * objectives));
    g = cst_run_gradient(t->r, NULL, CST_DIRECT, n, which, &t->d);
    run_check(t, g != NULL);
    for (int i = 0; i < n; i++) {
        if (g->effect[i] != CST_EXACT)
            print_error("%s %s\n", name[i], cst_effect_text(g->effect[i]));
        expect_int(g->effect[i], CST_EXACT);
        print_message("%-14s %.12g %.3g\n", name[i], adjoint[i], g->slope[i] / adjoint[i] - 1);
        expect_near(g->slope[i] / adjoint[i], 1, tolerance);
    }
}

/* The gradient by all numbers, at least n, obeys the identities of mass and length. Any number that
 * is left out breaks one of them if it matters: the sum is compared with the largest part. */
static void all_numbers(cst_test_run *t, int least)
{
    cst_arena a = {0};
    if (CST_ARENA_GUARD(&a)) fail();
    const cst_gradient *g = cst_run_gradient(t->r, NULL, CST_ADJOINT, 0, NULL, &t->d);
    run_check(t, g != NULL);
    expect_true(g->numbers == t->m->leaf.n && g->numbers >= least);
    cst_dimensions dims = cst_dimensions_infer(&a, t->m);
    double *value = cst_new(&a, double, g->numbers);
    for (int i = 0; i < g->numbers; i++) value[i] = cst_model_number_value(t->m, i);
    for (int o = 0; o < g->objectives; o++)
        for (int base = CST_MASS; base <= CST_LENGTH; base++) {
            size_t at = (size_t)o * (size_t)g->numbers;
            cst_scaling s = cst_scaling_check(&a, &dims, base, o, g->value[o], g->numbers, value,
                                              g->slope + at, g->effect + at);
            print_message("%s, base %d: %d numbers, off %.1e\n", t->m->objective.at[o].name, base,
                          g->numbers, s.off);
            expect_int(s.verdict, CST_SCALING_HOLDS);
            expect_false(s.guessed);
            expect_true(s.off < 1e-11);
        }
    cst_arena_free(&a);
}

/* In `make test` the buggy is enough. Over the step, with the landing: springs, hardpoints, masses,
 * tires and road. The left wheels come first: where both drop at the same instant, numbers of one
 * side have a slope for each sense.
 */
static void iltis_gradient(void **state)
{
    (void)state;
    if (!expect_all()) skip();
    static const char *const name[] = {"k_L1",          "k_L2",          "c_S1",
                                       "c_S2",          "k_S1",          "k_S2",
                                       "x_step",        "z_step",        "v_0",
                                       "R_2",           "k_n",           "mu",
                                       "alpha_c",       "kappa_c",       "chassis.mass",
                                       "fl.wheel.mass", "fl.arm_out.y",  "fr.arm_out.z",
                                       "fl.tie_in.z",   "rl.damper_a.z", "gravity.z",
                                       "L_free"};
    static const char *const set[] = {"x_step=1.3", "fl.xa=0.98", "rl.xa=-1.04"};
    cst_test_run t;
    open_with(&t, EXAMPLE("iltis"), 2e-3, 0.6, 3, set);
    two_methods(&t, sizeof name / sizeof *name, name, 1e-8);
    all_numbers(&t, 250);
    run_close(&t);
}

/* The wheels of an axle meet the same edge at once: slopes by numbers of one side are those of one
 * order of the two, but moving both sides alike keeps them together. Then the slope is that of
 * differences. */
static void iltis_mirrored(void **state)
{
    (void)state;
    static const char *const set[] = {"x_step=1.3"};
    cst_test_run t;
    open_with(&t, EXAMPLE("iltis"), 2e-3, expect_all() ? 1.6 : 0.6, expect_all() ? 0 : 1, set);
    const cst_gradient *g = cst_run_gradient(t.r, NULL, CST_ADJOINT, 0, NULL, &t.d);
    run_check(&t, g != NULL);
    const int n = g->numbers;
    double *at = calloc((size_t)n, sizeof *at), *way = calloc((size_t)n, sizeof *way), along = 0;
    int pairs = 0;
    for (int i = 0; i < n; i++) {
        const char *name = cst_model_number_name(t.m, i);
        char other[200];
        at[i] = cst_model_number_value(t.m, i);
        snprintf(other, sizeof other, "%s", name);
        if (strncmp(name, "fl.", 3) != 0 && strncmp(name, "rl.", 3) != 0) continue;
        other[1] = 'r';
        const int j = cst_model_number_find(t.m, other);
        expect_true(j >= 0);
        const double opposite = cst_model_number_value(t.m, j) == -at[i] ? -1 : 1;
        if (!isfinite(g->slope[i]) || !isfinite(g->slope[j]) || at[i] == 0) continue;
        way[i] = at[i] * sin(1 + 3 * i);
        way[j] = opposite * way[i];
        along += g->slope[i] * way[i] + g->slope[j] * way[j];
        pairs++;
    }
    expect_true(pairs > 100);
    double d[2];
    for (int k = 0; k < 2; k++) {
        const double e = k ? 1e-7 : 2e-7;
        double psi[2];
        for (int side = 0; side < 2; side++) {
            for (int i = 0; i < n; i++)
                at[i] = cst_model_number_value(t.m, i) + (side ? e : -e) * way[i];
            run_check(&t, cst_run_simulate(t.r, at, NULL, NULL, &t.d) == CST_OK);
            psi[side] = cst_run_objective(t.r, 0);
        }
        d[k] = (psi[1] - psi[0]) / (2 * e);
    }
    print_message("along a symmetric way: %.10g, differences %.10g and %.10g\n", along, d[0], d[1]);
    expect_near((4 * d[1] - d[0]) / 3, along, 1e-7 * fabs(along));
    free(at);
    free(way);
    run_close(&t);
}

/* ---- buggy ---- */

static int first_row(void *ctx, double t, const double *measure, int n)
{
    memcpy(ctx, measure, sizeof(double) * (size_t)(n < 40 ? n : 40));
    return t >= 0; /* stop */
}

static void buggy_start(void **state)
{
    (void)state;
    cst_test_run t;
    double y[40];
    run_open(&t, EXAMPLE("buggy"), 1e-3, 1e-3);
    expect_int(t.r->st->dof, 14);
    expect_int(t.r->st->dep.ndep, 0);
    expect_int(t.m->body.n, 18);
    run_check(&t, cst_run_simulate(t.r, NULL, first_row, y, &t.d) == CST_STOPPED);
    expect_near(y[run_find(&t, "a1.x")], 0.25528235765, 1e-10);
    expect_near(y[run_find(&t, "a1.y")], -0.00247259052, 1e-10);
    expect_near(y[run_find(&t, "a1.z")], 0.46262115299, 1e-10);
    run_close(&t);
}

/* The same motion with 23 redundant rows; against the reference both times. */
static void buggy_history(void **state)
{
    (void)state;
    static const char *const path[] = {EXAMPLE("buggy"),
                                       CST_SOURCE_DIR "/tests/buggy_literal.yaml"};
    static const char *const measure[] = {"p1.x", "p1.y", "p1.z", "a1.z"}, *const column[] = {"x",
                                                                                              "y",
                                                                                              "z",
                                                                                              "az"};
    cst_arena a = {0};
    double end[2] = {0};
    if (CST_ARENA_GUARD(&a)) fail();
    for (int k = 0; k < 2; k++) {
        cst_test_run t;
        watched w = {.n = 4};
        run_open(&t, path[k], 2e-3, k ? 2.4 : 4.5);
        expect_int(t.r->st->dof, 14);
        expect_int(t.r->st->dep.ndep, k ? 23 : 0);
        w.csv = cst_csv_read(&a, CST_SOURCE_DIR "/examples/buggy/reference.csv", NULL, &t.d);
        run_check(&t, w.csv != NULL);
        for (int i = 0; i < w.n; i++)
            w.measure[i] = run_find(&t, measure[i]), w.column[i] = cst_csv_column(w.csv, column[i]);
        run_check(&t, cst_run_simulate(t.r, NULL, compare, &w, &t.d) == CST_OK);
        for (int i = 0; i < w.n; i++)
            print_message("%s: %.3g of %.3g\n", measure[i], w.off[i], w.size[i]);
        expect_true(w.off[0] < 1e-4 && w.off[1] < 1e-6 && w.off[2] < 4e-5 && w.off[3] < 0.05);
        if (k == 0)
            run_close(&t), run_open(&t, path[k], 2e-3, 2.4),
                cst_run_simulate(t.r, NULL, NULL, NULL, &t.d);
        end[k] = cst_run_measure(t.r, w.measure[2]);
        run_close(&t);
    }
    expect_near(end[1], end[0], 1e-9);
    cst_arena_free(&a);
}

static void buggy_gradient(void **state)
{
    (void)state;
    static const char *const name[] = {"k_f",
                                       "c_f",
                                       "k_r",
                                       "c_r",
                                       "m_c",
                                       "x_step",
                                       "z_step",
                                       "fr.tire.radius",
                                       "fl.tire.stiffness",
                                       "rr.tire.damping",
                                       "fl.tire.friction",
                                       "fr.tire.critical_angle",
                                       "fr.h10.z",
                                       "fl.h22.y",
                                       "chassis.com.x",
                                       "fr.wheel.mass",
                                       "gravity.z",
                                       "fl.spring.free_length",
                                       "fr.upright.mass",
                                       "rl.tire.radius"};
    static const char *const set[] = {"x_step=0.1"};
    cst_test_run t;
    open_with(&t, EXAMPLE("buggy"), 2e-3, 0.25, 1, set);
    two_methods(&t, sizeof name / sizeof *name, name, 1e-8);
    all_numbers(&t, 900);
    run_close(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(buggy_start),    cmocka_unit_test(buggy_history),
        cmocka_unit_test(buggy_gradient), cmocka_unit_test(iltis_history),
        cmocka_unit_test(iltis_gradient), cmocka_unit_test(iltis_mirrored),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
