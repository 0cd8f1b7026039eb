/* SPDX-License-Identifier: MIT
 *
 * Laws that rest or start on a kink or a switch: numbers that move them off it have two one-sided
 * slopes and are refused by name; all others have a slope, as if the law were that of one side; and
 * there is no message if nothing moves them. */
#include "costate.h"
#include "expect.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static cst_diag diag;

typedef struct answer {
    int n;
    double slope[64];
    cst_effect effect[64];
    cst_model *m;
} answer;

static answer solve(const char *text, cst_method method)
{
    answer a = {0};
    diag = (cst_diag){0};
    a.m = cst_model_parse("m.yaml", text, strlen(text), 0, NULL, &diag);
    cst_run *r = a.m ? cst_run_new(a.m, NULL, &diag) : NULL;
    if (!r) fail_msg("%s", diag.text);
    diag = (cst_diag){0};
    const cst_gradient *g = cst_run_gradient(r, NULL, method, 0, NULL, &diag);
    if (!g || g->numbers > 64 || g->objectives != 1) fail_msg("%s", diag.text);
    a.n = g->numbers;
    memcpy(a.slope, g->slope, sizeof *a.slope * (size_t)a.n),
        memcpy(a.effect, g->effect, sizeof *a.effect * (size_t)a.n);
    cst_run_free(r);
    return a;
}

static int number(const answer *a, const char *name)
{
    int i = cst_model_number_find(a->m, name);
    if (i < 0) fail_msg("there is no number '%s'", name);
    return i;
}

/* Exactly the numbers of a list, each followed by a blank, are refused. */
static void expect_refused(const char *text, const char *list)
{
    for (int method = CST_ADJOINT; method <= CST_DIRECT; method++) {
        answer a = solve(text, (cst_method)method);
        for (int i = 0; i < a.n; i++) {
            char name[64];
            snprintf(name, sizeof name, "%s ", cst_model_number_name(a.m, i));
            int refused = a.effect[i] == CST_NOT_SMOOTH;
            if (refused != (strstr(list, name) != NULL))
                fail_msg("%s%s refused: %s", name, refused ? "is" : "is not", diag.text);
        }
        cst_model_free(a.m);
    }
}

/* A mass on a spring, 0.6 m below O in equilibrium; psi: its place or speed at the end. Numbers of
 * the law: law[..] */
#define HUNG(law, extra, objective)                                                                \
    "costate: 1\ngravity: [0, 0, -10]\nparameters: {k: 300, l: 100, d: 30, e: 10, F: 8}\npoints: " \
    "{A: [0, 0, -0.6], O: [0, 0, 0]}\n"                                                            \
    "bodies: {m: {type: point, position: A, mass: 2" extra "}}\n"                                  \
    "forces:\n  s: {type: spring, from: ground.O, to: m, force: \"" law "\"}\n"                    \
    "  f: {type: force, on: m, direction: z, magnitude: \"F*smoothstep(t, 0.1, 0.2)\"}\n"          \
    "measures: {p: {type: position, of: m}, V: {type: velocity, of: m}, a: {type: acceleration, "  \
    "of: m}}\n"                                                                                    \
    "initial: {equilibrium: true}\nobjectives: {psi: \"" objective                                 \
    "\"}\nsimulation: {end: 0.4, step: 2 ms}\n"

/* The equilibrium is at the switch of the stiffness: to its two sides it has the compliances 1/k
 * and 1/l. */
static void equilibrium_on_a_switch(void **state)
{
    (void)state;
    expect_refused(HUNG("if(s >= 0.6, k, l)*(s - 0.6) + 20", "", "end(p.z)"),
                   "gravity.z m.mass s.force[3] ");
    expect_contains(diag.text,
                    "m.yaml:2:17: warning: there is no derivative of 'psi' with respect to "
                    "'gravity.z', which moves 's' off the kink or switch on which it rests");
    expect_refused(HUNG("max(k*(s - 0.6), l*(s - 0.6)) + 20", "", "end(p.z)"),
                   "gravity.z m.mass s.force[1] s.force[2] s.force[3] ");
    expect_refused(HUNG("k*(s - 0.6) + 20", "", "end(p.z)"), "");
    expect_text(diag.text, "");
}

/* Laws that rest on other kinks: the point of a table, a root, two conditions together. By the
 * place of the mass there are two sides, by what moves nothing there is one. */
static void other_kinks_at_rest(void **state)
{
    (void)state;
    static const char *const law[] = {"T(s)", "300*sqrt((s - 0.6)^2)",
                                      "if(v > 0 and s > 0.6, 300*(s - 0.6) + 20*v, 0)",
                                      "300*hypot(s - 0.6, 0)", "sign(s - 0.6)*(s - 0.6)*300"};
    for (size_t i = 0; i < sizeof law / sizeof *law; i++) {
        char text[1024];
        snprintf(
            text, sizeof text,
            "costate: 1\ngravity: [0, 0, 0]\npoints: {A: [0, 0, -0.6], O: [0, 0, 0]}\nparameters: "
            "{F: 8, c: 3}\n"
            "bodies: {m: {type: point, position: A, mass: 2, velocity: [0, 0, 0]}}\ntables: {T: "
            "{x: [0, 0.6, 1], y: [0, 0, 80]}}\n"
            "forces:\n  s: {type: spring, from: ground.O, to: m, force: \"%s\"}\n"
            "  f: {type: force, on: m, direction: z, magnitude: \"-F*smoothstep(t, 0.02, 0.1)\"}\n"
            "  g: {type: spring, from: ground.O, to: m, force: \"40*(s - 0.6) + c*v\"}\n"
            "measures: {p: {type: position, of: m}}\nobjectives: {psi: end(p.z)}\nsimulation: "
            "{end: 0.2, step: 2 ms}\n",
            law[i]);
        for (int method = CST_ADJOINT; method <= CST_DIRECT; method++) {
            answer a = solve(text, (cst_method)method);
            static const char *const two[] = {"A.z", "O.z", "gravity.z", "m.velocity.z"},
                                     *const one[] = {"m.mass", "F", "c"};
            for (int k = i == 2 ? 3 : 0; k < 4;
                 k++) /* a speed alone brings both conditions about */
                if (a.effect[number(&a, two[k])] != CST_NOT_SMOOTH)
                    fail_msg("%s: %s is not refused", law[i], two[k]);
            for (int k = 0; k < 3; k++)
                if (a.effect[number(&a, one[k])] != CST_EXACT)
                    fail_msg("%s: %s is refused: %s", law[i], one[k], diag.text);
            cst_model_free(a.m);
        }
    }
}

/* A damper that stands has two sides only to what would have moved it: here a speed at the start.
 */
static void dampers_that_stand(void **state)
{
    (void)state;
    static const char *const still[] = {HUNG("k*(s - 0.5) + if(v >= 0, d, e)*v", "", "end(p.z)"),
                                        HUNG("k*(s - 0.5) + max(d*v, e*v)", "", "end(p.z)")};
    static const char *const moved[] = {HUNG("k*(s - 0.5) + if(v >= 0, d, e)*v",
                                             ", velocity: [0, 0, 0]", "end(p.z)"),
                                        HUNG("k*(s - 0.5) + max(d*v, e*v)", ", velocity: [0, 0, 0]",
                                             "end(p.z)")};
    for (int i = 0; i < 2; i++) {
        expect_refused(still[i], ""), expect_text(diag.text, "");
        expect_refused(moved[i], "m.velocity.z ");
    }
    /* whatever else is integrated */
    expect_refused(HUNG("k*(s - 0.5) + if(v >= 0, d, e)*v", ", velocity: [0, 0, 0]",
                        "end(p.z) + 0*integral((1e4*p.z)^30)"),
                   "m.velocity.z ");
}

/* a == b holds at rest alone: to both sides of an equilibrium in it there is another stiffness, or
 * another force. Passed, it does nothing: all slopes are those of the law without it. */
static void equalities(void **state)
{
    (void)state;
    expect_refused(HUNG("if(s == 0.6, l, k)*(s - 0.6) + 20", "", "end(p.z)"),
                   "gravity.z m.mass s.force[3] ");
    static const char *const law[] = {HUNG("k*(s - 0.5) + if(s == 0.65, 0, 50)*(s - 0.5)", "",
                                           "end(p.z)"),
                                      HUNG("k*(s - 0.5) + if(s != 0.65, 50, 0)*(s - 0.5)", "",
                                           "end(p.z)")};
    for (int i = 0; i < 2; i++)
        for (int method = CST_ADJOINT; method <= CST_DIRECT; method++) {
            static const char *const name[] = {"k", "F", "m.mass", "gravity.z", "f.magnitude[1]"};
            answer a = solve(law[i], (cst_method)method),
                   b = solve(HUNG("k*(s - 0.5) + 50*(s - 0.5)", "", "end(p.z)"),
                             (cst_method)method);
            expect_text(diag.text, "");
            for (size_t n = 0; n < sizeof name / sizeof *name; n++) {
                double x = a.slope[number(&a, name[n])], y = b.slope[number(&b, name[n])];
                if (!(fabs(x - y) <= 1e-11 * fabs(y)))
                    fail_msg("%s: %.12g, without the equality %.12g", name[n], x, y);
            }
            cst_model_free(a.m), cst_model_free(b.m);
        }
}

/* sin(y)/y has its value at y = 0 from a guard, where a run starts there, at rest or not, and comes
 * back: -k y sin(y)/y is -k sin(y), and the integral of sin(y)/y goes on. */
static void guards_of_poles(void **state)
{
    (void)state;
    static const char *const guard[] = {"if(y == 0, 1, sin(y)/y)",
                                        "if(y != 0, sin(y)/y, 1)",
                                        "if(not (y == 0), sin(y)/y, 1)",
                                        "if(y == 0 and t < 3, 1, sin(y)/y)",
                                        "if(y == 0 or p.z > 9, 1, sin(y)/y)",
                                        "if(p.z > 9 or (t < 3 and y == 0), 1, sin(y)/y)",
                                        "if(y <= 0, 1, sin(y)/y)*if(y < 0, sin(y)/y, 1)"};
    static const char text[] =
        "costate: 1\ngravity: [0, 0, 0]\nparameters: {m: 2, k: 100, x: 1, v: %s}\n"
        "bodies: {b: {type: point, position: [x, 0, 0], mass: m, velocity: [v, 0, 0]}}\n"
        "forces: {f: {type: force, on: b, direction: x, magnitude: \"%s\"}}\n"
        "measures: {p: {type: position, of: b}, y: p.x - 1, g: \"%s\"}\n"
        "objectives: {psi: \"%s\"}\nsimulation: {end: 1, step: 1 ms}\n";
    static const char *const name[] = {"m", "k", "x", "v"};
    for (size_t i = 0; i < sizeof guard / sizeof *guard; i++)
        for (int rests = 0; rests < 2; rests++) {
            char with[1024], without[1024];
            const int ends = strstr(guard[i], "<=") != NULL; /* steps where it switches */
            snprintf(with, sizeof with, text, rests ? "0" : "0.5", "-k*y*g", guard[i], "end(p.x)");
            snprintf(without, sizeof without, text, rests ? "0" : "0.5", "-k*sin(y)", "0",
                     "end(p.x)");
            for (int method = CST_ADJOINT; method <= CST_DIRECT; method++) {
                answer a = solve(with, (cst_method)method), b = solve(without, (cst_method)method);
                for (int n = 0; n < 4; n++) {
                    const double slope = a.slope[number(&a, name[n])],
                                 smooth = b.slope[number(&b, name[n])];
                    if (!(fabs(slope - smooth) <= (ends ? 1e-4 : 1e-9) * (1 + fabs(smooth))))
                        fail_msg("%s: d psi/d%s = %.9g, not %.9g: %s", guard[i], name[n], slope,
                                 smooth, diag.text);
                }
                cst_model_free(a.m), cst_model_free(b.m);
            }
            snprintf(with, sizeof with, text, rests ? "0" : "0.5", "-k*sin(y)", guard[i],
                     "integral(g)");
            answer a = solve(with, CST_ADJOINT);
            expect_true(isfinite(a.slope[number(&a, "v")]) && isfinite(a.slope[number(&a, "x")]));
            cst_model_free(a.m);
        }
}

/* sin(s)^2/s has a slope at 0, which its guard does not know; sin(s) sin(s) sin(s)/s has none */
static void guards_with_slopes(void **state)
{
    (void)state;
#define GUARD(law) STARTED("0", law)
#define STARTED(rate, law)                                                                         \
    "costate: 1\nparameters: {k: 40}\nbodies: {x: {type: scalar, inertia: 1.3, value: 0, "         \
    "rate: " rate "}}\n"                                                                           \
    "measures: {x: {type: coordinate, of: x}}\nforces: {f: {type: motor, of: x, torque: \"-k*s "   \
    "+ " law "\"}}\n"                                                                              \
    "objectives: {e: end(x)}\nsimulation: {end: 1, step: 5 ms}\n"
    expect_refused(GUARD("if(s == 0, 0, sin(s)^2/s)"), "x.value x.rate f.torque[2] ");
    expect_refused(GUARD("if(not (s == 0), log(1 + s)^2/s, 0)"), "x.value x.rate f.torque[3] ");
    expect_refused(GUARD("if(s == 0, 0, sin(s)*sin(s)*sin(s)/s)"),
                   "f.torque[2] "); /* the value at 0 */
    answer a =
        solve(STARTED("0.5", "if(s == 0, 0, sin(s)^2/s)"), CST_ADJOINT); /* passes it at once */
    expect_contains(diag.text, "t = 0 s: 'f' has its value from a guard");
    cst_model_free(a.m);
#undef STARTED
#undef GUARD
}

/* The bound of a law that rests on it alone. Moved to the side that is left, it is passed with the
 * other law: a damper takes c b of the momentum; a spring, and a bound of the speed, take what
 * vanishes before b. */
static void bounds_that_are_left(void **state)
{
    (void)state;
#define LEFT(law) HUNG("300*(s - 0.6) + 20 + " law, "", "end(p.z)")
    expect_refused(LEFT("if(s > 0.6, 30*v, 0)"),
                   "gravity.z m.mass s.force[2] s.force[3] s.force[4] s.force[6] ");
    expect_refused(LEFT("if(v > 0, 30, 10)*v"), "");
    expect_refused(LEFT("if(s - 0.6 + 0.1*v > 0, 30, 10)*v"), "");
    answer a = solve(LEFT("if(s > 0.6, 100*(s - 0.6), 0)"), CST_ADJOINT);
    expect_true(a.effect[number(&a, "s.force[4]")] != CST_NOT_SMOOTH &&
                a.slope[number(&a, "s.force[4]")] == 0);
    cst_model_free(a.m);
#undef LEFT
}

/* With e = d the damper is d v, whatever switches: all slopes are those of the damper without a
 * switch, that of the instant at which the load sets in among them. It leaves its rest there, at a
 * rate of zero. */
static void what_leaves_its_rest(void **state)
{
    (void)state;
    static const char *const law[] = {HUNG("k*(s - 0.5) + if(v >= 0, d, d + 0*e)*v", "",
                                           "end(V.z)"),
                                      HUNG("k*(s - 0.5) + if(v >= 0, d + 0*e, d)*v", "",
                                           "end(V.z)")};
    static const char *const name[] = {
        "k", "d", "F", "m.mass", "gravity.z", "f.magnitude[1]", "f.magnitude[2]"};
    for (int i = 0; i < 2; i++)
        for (int method = CST_ADJOINT; method <= CST_DIRECT; method++) {
            answer a = solve(law[i], (cst_method)method),
                   b = solve(HUNG("k*(s - 0.5) + d*v + 0*e", "", "end(V.z)"), (cst_method)method);
            expect_text(diag.text, "");
            for (size_t n = 0; n < sizeof name / sizeof *name; n++) {
                double x = a.slope[number(&a, name[n])], y = b.slope[number(&b, name[n])];
                expect_near(x, y, 1e-9 * (1 + fabs(y)));
            }
            cst_model_free(a.m), cst_model_free(b.m);
        }
}

/* Speeds of what rests from an equilibrium are rounding: on the kink of abs and norm if a number
 * moves them, and nothing if none does. */
static void speeds_that_are_rounding(void **state)
{
    (void)state;
    static const char *const psi[] = {"integral(norm(V))", "integral(abs(V.z))", "peak(norm(V))",
                                      "peak(abs(V.z))"};
    for (int i = 0; i < 4; i++)
        for (int moved = 0; moved < 2; moved++) {
            char text[2048];
            snprintf(text, sizeof text, "%s",
                     moved ? HUNG("k*(s - 0.5)", ", velocity: [0, 0, 0]", "PSI")
                           : HUNG("k*(s - 0.5)", "", "PSI"));
            char *at = strstr(text, "end: 0.4");
            at[5 + 2] = '1'; /* before the load sets in */
            at = strstr(text, "PSI"), memmove(at + strlen(psi[i]), at + 3, strlen(at + 3) + 1),
            memcpy(at, psi[i], strlen(psi[i]));
            answer a = solve(text, CST_ADJOINT);
            if (moved) expect_int(a.effect[number(&a, "m.velocity.z")], CST_NOT_SMOOTH);
            if (moved)
                expect_contains(diag.text, "objective 'psi' has no derivative");
            else
                expect_text(diag.text, "");
            cst_model_free(a.m);
        }
}

/* What is read at the start: a stop just in contact, a table at one of its points, a drive that
 * sets in. Beside them there are slopes. */
#define READ(x, law)                                                                               \
    "costate: 1\ngravity: [0, 0, 0]\nparameters: {x: " x ", b: 0.5, t0: 0, k: 40}\n"               \
    "bodies: {m: {type: point, position: [x, 0, 0], mass: 2, velocity: [1, 0, 0]}}\nforces: {" law \
    "}\n"                                                                                          \
    "tables: {w: {x: [-1, 0, 1], y: [0, 0, 3]}}\n"                                                 \
    "measures: {p: {type: position, of: m}, a: {type: acceleration, of: m}}\n"                     \
    "objectives: {psi: start(a.x)}\nsimulation: {end: 0.02, step: 2 ms}\n"
#define STOP "s: {type: stop, of: p.x, upper: b, stiffness: k}"

static void read_at_the_start(void **state)
{
    (void)state;
    expect_refused(READ("0.5", STOP), "x b ");
    expect_contains(diag.text, "m.yaml:3:17: warning: there is no derivative of 'psi' with respect "
                               "to 'x', which moves a law off its kink or switch at the start");
    expect_refused(READ("0.499999", STOP), ""), expect_refused(READ("0.500001", STOP), ""),
        expect_text(diag.text, "");
    answer a = solve(READ("0.500001", STOP), CST_ADJOINT);
    expect_near(a.slope[number(&a, "x")], -20, 1e-8),
        expect_near(a.slope[number(&a, "b")], 20, 1e-8); /* -k/m */
    cst_model_free(a.m);
    expect_refused(READ("0.5", "f: {type: force, on: m, direction: x, magnitude: \"w(t - t0)\"}"),
                   "t0 ");
    expect_refused(READ("0.5",
                        "f: {type: force, on: m, direction: x, magnitude: \"w(t - t0 + 1e-3)\"}"),
                   "");
}

/* v(T) and a(T) of a drive that stops at T, the end of the run */
static void drives_that_end_with_the_run(void **state)
{
    (void)state;
    static const char text[] =
        "costate: 1\ngravity: [0, 0, 0]\nparameters: {A: 0.3, T: 0.1}\npoints: {O: [0, 0, 0], P: "
        "[1, 0, 0]}\n"
        "bodies: {b: {type: bar, from: O, to: P, mass: 2, radius: 0.02}}\njoints:\n"
        "  j: {type: revolute, between: [ground, b], at: O, axis: y}\n"
        "  d: {type: drive-angle, between: [ground, b], axis: y, angle: \"A*%s(t, 0, T)\"}\n"
        "measures: {w: {type: joint, of: j}}\nobjectives: {psi: end(%s)}\nsimulation: {end: 0.1, "
        "step: 2 ms}\n";
    static const struct {
        const char *law, *what;
        int bends;
    } of[] = {{"smoothstep", "w.rate", 1},
              {"smoothstep", "w", 0},
              {"step5", "w.acceleration", 1},
              {"step5", "w.rate", 0}};
    for (int i = 0; i < 4; i++) {
        char model[1024];
        snprintf(model, sizeof model, text, of[i].law, of[i].what);
        answer a = solve(model, CST_ADJOINT);
        if (of[i].bends)
            expect_contains(diag.text, "'d' switches at the very end of the run");
        else
            expect_text(diag.text, "");
        cst_model_free(a.m);
    }
}

/* The largest load of a ramp up and down is at its corner, which is a state; that of a parabola is
 * not one. */
static void peaks_at_corners(void **state)
{
    (void)state;
    static const char text[] =
        "costate: 1\ngravity: [0, 0, 0]\nparameters: {T: 0.05}\n"
        "bodies: {m: {type: point, position: [0, 0, 0], mass: 2}}\n"
        "forces: {f: {type: force, on: m, direction: x, magnitude: \"%s\"}}\n"
        "measures: {a: {type: acceleration, of: m}}\nobjectives: {psi: peak(a.x)}\nsimulation: "
        "{end: 0.1, step: 2 ms}\n";
    for (int i = 0; i < 2; i++) {
        char model[1024];
        snprintf(model, sizeof model, text, i ? "3 - abs(t - T)" : "3 - (t - T)^2");
        answer a = solve(model, CST_ADJOINT);
        if (i)
            expect_contains(diag.text, "t = 0.05 s: the peak of 'psi' is at a corner");
        else
            expect_text(diag.text, "");
        cst_model_free(a.m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equilibrium_on_a_switch),
        cmocka_unit_test(dampers_that_stand),
        cmocka_unit_test(what_leaves_its_rest),
        cmocka_unit_test(speeds_that_are_rounding),
        cmocka_unit_test(read_at_the_start),
        cmocka_unit_test(drives_that_end_with_the_run),
        cmocka_unit_test(guards_of_poles),
        cmocka_unit_test(guards_with_slopes),
        cmocka_unit_test(equalities),
        cmocka_unit_test(bounds_that_are_left),
        cmocka_unit_test(peaks_at_corners),
        cmocka_unit_test(other_kinks_at_rest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
