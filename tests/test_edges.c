/* SPDX-License-Identifier: MIT
 *
 * Events exactly at the start of a run, or where an objective is read. Numbers that would move a
 * switch off the start have two one-sided slopes, known in closed form, and are refused by name if
 * the objective depends on it; all others have a slope. */
#include "costate.h"
#include "expect.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static cst_diag diag;

typedef struct edge {
    double slope[8];
    cst_effect effect[8];
} edge;

static edge solve(const char *text, cst_method method, int n, const char *const *name)
{
    edge e = {0};
    int which[8];
    diag = (cst_diag){0};
    cst_model *m = cst_model_parse("m.yaml", text, strlen(text), 0, NULL, &diag);
    cst_run *r = m ? cst_run_new(m, NULL, &diag) : NULL;
    if (!r) fail_msg("%s", diag.text);
    diag = (cst_diag){0}; /* parameters that are never used */
    for (int i = 0; i < n; i++)
        which[i] = cst_model_number_find(m, name[i]), expect_true(which[i] >= 0);
    const cst_gradient *g = cst_run_gradient(r, NULL, method, n, which, &diag);
    if (!g) fail_msg("%s", diag.text);
    memcpy(e.slope, g->slope, sizeof *e.slope * (size_t)n),
        memcpy(e.effect, g->effect, sizeof *e.effect * (size_t)n);
    cst_run_free(r), cst_model_free(m);
    return e;
}

#define PUSHED(law, objective, v)                                                                  \
    "costate: 1\ngravity: [0, 0, 0]\nparameters: {x0: 0.1, xs: 0.1, v0: " v                        \
    ", F: 2, G: 5, T: 0.05}\n"                                                                     \
    "bodies: {a: {type: point, position: [x0, 0, 0], mass: 1, velocity: [v0, 0, 0]}}\n"            \
    "measures: {p: {type: position, of: a}, v: {type: velocity, of: a}, A: {type: acceleration, "  \
    "of: a}}\n"                                                                                    \
    "forces: {f: {type: force, on: a, force: [\"" law                                              \
    "\", 0, 0]}}\nobjectives: {psi: \"" objective "\"}\n"                                          \
    "simulation: {end: 0.1, step: 2 ms}\n"

/* The mass starts at xs and leaves to the side of F: v(end) = v0 + F t whatever happens to F and
 * v0. With x0 below xs it would be pushed with G first. */
static void numbers_that_move_the_switch(void **state)
{
    (void)state;
    static const char *const name[] = {"x0", "xs", "v0", "F", "G"};
    for (int method = CST_ADJOINT; method <= CST_DIRECT; method++) {
        edge e = solve(PUSHED("if(p.x > xs, F, G)", "end(v.x)", "1"), (cst_method)method, 5, name);
        expect_int(e.effect[0], CST_NOT_SMOOTH), expect_int(e.effect[1], CST_NOT_SMOOTH),
            expect_int(e.effect[4], CST_NO_EFFECT);
        expect_near(e.slope[2], 1, 1e-12), expect_near(e.slope[3], 0.1, 1e-13);
        expect_contains(diag.text, "m.yaml:3:18: warning: there is no derivative of 'psi' with "
                                   "respect to 'x0', which moves the switch of 'f' off the start");
        expect_contains(
            diag.text,
            "m.yaml:3:27: warning: there is no derivative of 'psi' with respect to 'xs'");
    }
}

/* Nothing is said where no number that is asked for moves the switch, where both sides have the
 * same force there, or where the position of the switch moves along. */
static void others_have_slopes(void **state)
{
    (void)state;
    static const char *const name[] = {"v0", "F"}, *const all[] = {"x0", "xs", "v0", "F"},
                             *const tied[] = {"x0", "v0", "F"};
    edge e = solve(PUSHED("if(p.x > xs, F, G)", "end(v.x)", "1"), CST_ADJOINT, 2, name);
    expect_text(diag.text, ""), expect_near(e.slope[0], 1, 1e-12);
    e = solve(PUSHED("if(p.x > xs, F*(p.x - xs), 0)", "end(v.x)", "1"), CST_ADJOINT, 4, all);
    expect_text(diag.text, ""), expect_near(e.slope[0] + e.slope[1], 0, 1e-11);
    e = solve(PUSHED("if(p.x > x0, F, G)", "end(v.x)", "1"), CST_DIRECT, 3, tied);
    expect_text(diag.text, ""), expect_near(e.slope[0], 0, 1e-12),
        expect_near(e.slope[2], 0.1, 1e-13);
}

/* Integrands as well: integral(if(x > xs, 1, 0)) = end - max(0, (xs - x0)/v0) */
static void integrands(void **state)
{
    (void)state;
    static const char *const name[] = {"x0", "xs", "v0"};
    edge e = solve(PUSHED("0", "integral(if(p.x > xs, 1, 0))", "1"), CST_ADJOINT, 3, name);
    expect_int(e.effect[0], CST_NOT_SMOOTH), expect_int(e.effect[1], CST_NOT_SMOOTH),
        expect_int(e.effect[2], CST_NO_EFFECT);
}

/* v(T) = v0 + F T where the force changes to G at T itself: an instant of the grid, between two of
 * its points, and at the end */
static void read_at_the_switch(void **state)
{
    (void)state;
    static const char *const name[] = {"T", "v0", "F", "G"};
    for (int k = 0; k < 3; k++)
        for (int method = CST_ADJOINT; method <= CST_DIRECT; method++) {
            static const char *const at[] = {"0.05", "0.0507", "0.1"};
            char text[2048];
            snprintf(text, sizeof text, "%s", PUSHED("if(t < T, F, G)", "at(v.x, T)", "1"));
            char *T = strstr(text, "T: 0.05}");
            memmove(T + 3 + strlen(at[k]), T + 7, strlen(T + 7) + 1),
                memcpy(T + 3, at[k], strlen(at[k]));
            edge e = solve(text, (cst_method)method, 4, name);
            expect_contains(diag.text, k < 2 ? "at which its rate jumps"
                                             : "'f' switches at the very end of the run");
            expect_near(e.slope[0], 2, 1e-11), expect_near(e.slope[1], 1, 1e-12);
            expect_near(e.slope[2], atof(at[k]), 1e-12), expect_near(e.slope[3], 0, 1e-12);
        }
}

/* Nothing is said where the event of the instant does not change the rate of what is read: the
 * position, and a switch between equal forces */
static void others_read_there(void **state)
{
    (void)state;
    static const char *const name[] = {"T", "F"};
    static const char *const text[] = {PUSHED("if(t < 0.05, F, F + 0*G + 3*(t - 0.05))",
                                              "at(v.x, T)", "1"),
                                       PUSHED("if(t < 0.04, F, G)", "at(v.x, T)", "1")};
    for (int k = 0; k < 2; k++) {
        edge e = solve(text[k], CST_ADJOINT, 2, name);
        expect_text(diag.text, "");
        expect_near(e.slope[0], k ? 5 : 2, 4e-3), expect_near(e.slope[1], k ? 0.04 : 0.05, 1e-12);
    }
}

/* What jumps where it is read has no slope by what moves the event, and its own by all others: the
 * acceleration at T, at the end, at the start */
static void read_where_it_jumps(void **state)
{
    (void)state;
    static const char *const name[] = {"F", "xs"};
    static const char *const text[] = {PUSHED("if(t < 0.05, F, G)", "at(A.x, T)", "1"),
                                       PUSHED("if(t < 0.1, F, G)", "end(A.x)", "1"),
                                       PUSHED("if(p.x > xs, F, G)", "start(A.x)", "1")};
    for (int k = 0; k < 3; k++) {
        edge e = solve(text[k], CST_ADJOINT, 2, name);
        expect_near(e.slope[0], 1, 1e-12);
        expect_int(e.effect[1], k < 2 ? CST_NO_EFFECT : CST_NOT_SMOOTH);
        expect_contains(diag.text,
                        k < 2
                            ? "objective 'psi' is read at the instant of an event at which it jumps"
                            : "there is no derivative of 'psi' with respect to 'xs', which moves "
                              "the switch of 'f' off the start");
    }
}

/* A peak at an event moves with it, also where the event is on the grid of steps: a = F t up to T
 */
static void peak_at_an_event(void **state)
{
    (void)state;
    static const char *const name[] = {"T", "F"};
    for (int method = CST_ADJOINT; method <= CST_DIRECT; method++) {
        edge e = solve(PUSHED("if(t < T, F*t, 0)", "peak(A.x)", "1"), (cst_method)method, 2, name);
        expect_near(e.slope[0], 2, 1e-11), expect_near(e.slope[1], 0.05, 1e-12);
    }
}

/* At rest exactly at equality: >= and <= hold, > and < do not, in forces as in integrands. A mass
 * that touches a stop and is pressed onto it starts in contact, so that numbers that do not move
 * the contact have slopes. */
static void rest_at_equality(void **state)
{
    (void)state;
    static const char *const name[] = {"F", "xs", "x0"};
    static const struct {
        const char *law;
        double push;
    } of[] = {{"if(p.y >= 0, F, 0)", 2},
              {"if(p.y <= 0, F, 0)", 2},
              {"if(p.y > 0, F, 0)", 0},
              {"if(p.y < 0, F, 0)", 0},
              {"if(p.y > 0, F, if(p.y < 0, -F, 0))", 0},
              {"F*sign(p.y)", 0},
              {"F*floor(p.y)", 0},
              {"F*(1 + floor(p.y))", 2}};
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        char text[2048], objective[256];
        snprintf(text, sizeof text, PUSHED("%s", "end(v.x)", "0"), of[i].law);
        edge e = solve(text, CST_ADJOINT, 1, name);
        expect_near(e.slope[0] * 2, 0.1 * of[i].push, 1e-13);
        snprintf(objective, sizeof objective, "integral(%s)", of[i].law);
        snprintf(text, sizeof text, PUSHED("0", "%s", "0"), objective);
        e = solve(text, CST_ADJOINT, 1, name);
        expect_near(e.slope[0] * 2, 0.1 * of[i].push, 1e-13);
    }
    static const char pressed[] =
        "costate: 1\ngravity: [0, 0, 0]\nparameters: {F: 2, xs: 0.1, x0: 0.1}\n"
        "bodies: {x: {type: scalar, inertia: 1, value: x0, rate: 0}}\nmeasures: {X: {type: "
        "coordinate, of: x}}\n"
        "forces:\n  f: {type: motor, of: x, torque: F}\n"
        "  s: {type: stop, of: x, upper: xs, stiffness: 400}\n"
        "objectives: {o: end(X)}\nsimulation: {end: 0.1, step: 1e-4}\n";
    edge e = solve(pressed, CST_ADJOINT, 1, name); /* X - 0.1 = F/k (1 - cos(20 t)) */
    expect_near(e.slope[0], (1 - cos(2)) / 400, 1e-7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_that_move_the_switch),
        cmocka_unit_test(others_have_slopes),
        cmocka_unit_test(integrands),
        cmocka_unit_test(read_at_the_switch),
        cmocka_unit_test(read_where_it_jumps),
        cmocka_unit_test(peak_at_an_event),
        cmocka_unit_test(rest_at_equality),
        cmocka_unit_test(others_read_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
