/* SPDX-License-Identifier: MIT
 *
 * Parallelograms of rods that pass the position in which all rods are in line. Without gravity all
 * masses move at the same constant speed v, at the angle v t/c from the upright: the instant, and
 * all slopes that exist, are known. A rod whose length changes alone opens a loop in line:
 * objectives read later have no derivative by it, those read earlier have one. So does a hinge that
 * rises alone, by the square of its way: the hinges are then further apart than the masses. Rods
 * that change together, and hinges that turn together, open nothing. */
#include "costate.h"
#include "expect.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static cst_diag diag;
static unsigned long long seed = 5;
static double uniform(double from, double to)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return from + (to - from) * (double)(seed >> 11) / 9007199254740992.0;
}

#define POLE " + asin(one) - pi/2" /* 0, with an infinite slope: that is no measure for others */
/* n windows of width b and height c; rod: in the length of the second rod; lean: of the second rod,
 * which the others do not share: then nothing comes into line */
typedef struct scene {
    int n;
    double b, c, v, lean, early, late;
    const char *rod;
} scene;

static char *write_model(const scene *s)
{
    size_t size = 8192, at = 0;
    char *text = malloc(size);
#define ADD(...) at += (size_t)snprintf(text + at, size - at, __VA_ARGS__)
    ADD("costate: 1\ngravity: [0, 0, 0]\nparameters: {b: %.17g, c: %.17g, v: %.17g, rod: 0, link: "
        "0, rise: 0, tilt: 0, one: 1}\npoints:\n",
        s->b, s->c, s->v);
    for (int i = 0; i <= s->n; i++)
        ADD("  A%d: [%d*b*cos(tilt) + %.17g, \"%d*b*sin(tilt)%s\", 0]\n  B%d: [%d*b, c, 0]\n", i, i,
            i == 1 ? s->lean : 0, i, i == 1 ? " + rise" : "", i, i);
    ADD("bodies:\n");
    for (int i = 0; i <= s->n; i++)
        ADD("  m%d: {type: point, position: B%d, mass: %.17g}\n", i, i, uniform(0.5, 2));
    ADD("joints:\n");
    for (int i = 0; i <= s->n; i++)
        ADD("  r%d: {type: distance, from: ground.A%d, to: m%d, length: \"hypot(c, %.17g)%s\"}\n"
            "  p%d: {type: point-on-plane, of: m%d, normal: z}\n",
            i, i, i, i == 1 ? s->lean : 0, i == 1 ? s->rod : "", i, i);
    for (int i = 0; i < s->n; i++)
        ADD("  l%d: {type: distance, from: m%d, to: m%d, length: \"b%s\"}\n", i, i, i + 1,
            i ? "" : " + link");
    ADD("measures: {p: {type: position, of: m%d}, V: {type: velocity, of: m%d}}\ninitial: "
        "{velocities: {V.x: v}}\n",
        s->n, s->n);
    ADD("objectives: {late: end(p.x), early: \"at(p.x, %.17g)\"}\nsimulation: {end: %.17g, step: "
        "%.17g}\n",
        s->early, s->late, s->late / 2000);
#undef ADD
    return text;
}

static const char *const asked[] = {"rod", "link", "rise", "b", "c", "v", "tilt"};
enum { ASKED = sizeof asked / sizeof *asked };

typedef struct answer {
    cst_model *m;
    cst_run *r;
    const cst_gradient *g;
    char *text;
} answer;

static answer solve(const scene *s, cst_method method)
{
    answer a = {.text = write_model(s)};
    diag = (cst_diag){0};
    a.m = cst_model_parse("m.yaml", a.text, strlen(a.text), 0, NULL, &diag);
    a.r = a.m ? cst_run_new(a.m, NULL, &diag) : NULL;
    int which[ASKED];
    for (int i = 0; a.r && i < ASKED; i++) which[i] = cst_model_number_find(a.m, asked[i]);
    a.g = a.r ? cst_run_gradient(a.r, NULL, method, ASKED, which, &diag) : NULL;
    if (!a.g) fail_msg("%s\n%s", diag.text, a.text);
    return a;
}

static void release(answer a) { cst_run_free(a.r), cst_model_free(a.m), free(a.text); }

static int at(int objective, const char *name)
{
    int i = 0;
    while (strcmp(asked[i], name)) i++;
    return objective * ASKED + i;
}

/* The slope at the angle v t/c: second order in the step */
static void expect_slope(const answer *a, int objective, const char *name, double exact)
{
    double slope = a->g->slope[at(objective, name)];
    if (!(fabs(slope - exact) <= 2e-5 * (1 + fabs(exact))))
        fail_msg("%s: %.12g, not %.12g\n%s", name, slope, exact, a->text);
}

static void expect_refused(const answer *a, int objective, const char *name, int refused)
{
    cst_effect e = a->g->effect[at(objective, name)];
    if ((e == CST_NOT_SMOOTH) != refused || (!refused && e != CST_EXACT))
        fail_msg("%d, %s: %s\n%s\n%s", objective, name, cst_effect_text(e), diag.text, a->text);
}

/* Derivatives of samples up to time t with respect to the rod's length */
static void expect_samples(const answer *a, double t, cst_status status)
{
    const cst_sample at = {0, t};
    const int which = cst_model_number_find(a->m, "rod");
    double y, slope;
    cst_diag d = {0};
    expect_int(cst_run_samples(a->r, NULL, 1, &at, 1, &which, &y, &slope, &d), status);
    if (status != CST_OK) expect_contains(d.text, "'rod' would open a loop");
    expect_int(cst_run_samples(a->r, NULL, 1, &at, 1, NULL, &y, &slope, &d), CST_USAGE);
}

static void in_line(void **state)
{
    (void)state;
    for (int k = 0; k < 12; k++) {
        scene s = {.n = 1 + k % 4,
                   .b = uniform(0.5, 2),
                   .c = uniform(0.5, 2),
                   .v = uniform(0.5, 3),
                   .rod = k % 3 ? " + rod" : " + rod" POLE};
        const double when = acos(-1.0) / 2 * s.c / s.v;
        s.early = uniform(0.5, 0.99) * when, s.late = uniform(1.02, 1.8) * when;
        for (int method = CST_ADJOINT; method <= CST_DIRECT; method++) {
            answer a = solve(&s, (cst_method)method);
            char told[128];
            snprintf(told, sizeof told,
                     "of 'late' with respect to 'rod', which would open a loop in the singular "
                     "position that is passed at t = %.4g s",
                     when);
            expect_contains(diag.text, told);
            for (int o = 0; o < 2; o++) {
                const double t = o ? s.early : s.late, angle = s.v * t / s.c;
                expect_refused(&a, o, "rod", !o), expect_refused(&a, o, "link", !o),
                    expect_refused(&a, o, "rise", !o);
                expect_refused(&a, o, "tilt", 0);
                expect_slope(&a, o, "b", s.n);
                expect_slope(&a, o, "c", sin(angle) - angle * cos(angle));
                expect_slope(&a, o, "v", t * cos(angle));
                expect_samples(&a, t, o ? CST_OK : CST_MODEL);
            }
            release(a);
        }
    }
}

/* Four-bars whose rods do not come into line: cranks that go round, and such that turn back in
 * their dead points */
static void not_in_line(void **state)
{
    (void)state;
    for (int k = 0; k < 12; k++) {
        scene s = {.n = 1,
                   .b = uniform(0.5, 2),
                   .c = uniform(0.5, 2),
                   .v = uniform(0.5, 3),
                   .rod = " + rod + 0*one"};
        s.lean = uniform(0.1, 0.3) * s.b, s.late = uniform(2, 4) * s.c / s.v, s.early = s.late / 2;
        answer a = solve(&s, CST_ADJOINT);
        for (int o = 0; o < 2; o++)
            expect_refused(&a, o, "rod", 0), expect_refused(&a, o, "link", 0),
                expect_refused(&a, o, "c", 0);
        expect_text(diag.text, "");
        release(a);
    }
}

/* What objective 0 changes by with a number, one way and the other: the larger one. INFINITY: the
 * mechanism stops */
static double jump(const cst_model *m, cst_run *r, int number, double by)
{
    const int n = cst_model_number_count(m);
    double *value = malloc(sizeof *value * (size_t)n), psi[3];
    for (int i = 0; i < n; i++) value[i] = cst_model_number_value(m, i);
    for (int k = 0; k < 3; k++) {
        value[number] = cst_model_number_value(m, number) + (k - 1) * by;
        psi[k] = cst_run_simulate(r, value, NULL, NULL, &diag) == CST_OK ? cst_run_objective(r, 0)
                                                                         : INFINITY;
    }
    free(value);
    if (!isfinite(psi[1])) fail_msg("the motion itself stops: %s", diag.text);
    return fmax(fabs(psi[0] - psi[1]), fabs(psi[2] - psi[1]));
}

/* A parallelogram whose crank is driven by `angle`, beside a slider-crank that goes round at
 * `spin`: is the number refused for what is read at the end? by: with a change of so much it does
 * what is said of it; 0: that is not tried */
static void expect_driven(const char *number, double by, const char *drawn, const char *angle,
                          double spin, double end, double step, int refused)
{
    char text[2048];
    snprintf(text, sizeof text,
             "costate: 1\ngravity: [0, 0, 0]\nparameters: {rod: 1}\n"
             "points: {A: [0, 0, 0], D: [1, 0, 0], %s, O: [0, 3, 0], K: [0.1, 3, 0], S: [0.5, 3, "
             "0]}\nbodies:\n"
             "  crank: {type: bar, from: A, to: B, mass: 1, radius: 0.01}\n  rocker: {type: bar, "
             "from: D, to: C, mass: 1.5, radius: 0.01}\n"
             "  fly: {type: bar, from: O, to: K, mass: 1, radius: 0.01}\n  con: {type: bar, from: "
             "K, to: S, mass: 1, radius: 0.01}\n"
             "  pis: {type: rigid, position: S, mass: 1, inertia: [1, 1, 1]}\njoints:\n"
             "  a: {type: revolute, between: [ground, crank], at: A, axis: z}\n  d: {type: "
             "revolute, between: [ground, rocker], at: D, axis: z}\n"
             "  l: {type: distance, from: crank.B, to: rocker.C, length: rod}\n"
             "  q: {type: drive-angle, between: [ground, crank], axis: z, angle: \"%s\"}\n"
             "  o: {type: revolute, between: [ground, fly], at: O, axis: z}\n  k: {type: revolute, "
             "between: [fly, con], at: K, axis: z}\n"
             "  s: {type: spherical, between: [con, pis], at: S}\n  g: {type: prismatic, between: "
             "[ground, pis], at: S, axis: x}\n"
             "  w: {type: drive-angle, between: [ground, fly], axis: z, angle: \"%.17g*t\"}\n"
             "measures: {ph: {type: angle, between: [ground, rocker], axis: z}, x: {type: "
             "position, of: pis.S}}\n"
             "objectives: {e: end(ph), slide: end(x.x)}\nsimulation: {end: %.17g, step: %.17g}\n",
             drawn, angle, spin, end, step);
    diag = (cst_diag){0};
    cst_model *m = cst_model_parse("m.yaml", text, strlen(text), 0, NULL, &diag);
    cst_run *r = m ? cst_run_new(m, NULL, &diag) : NULL;
    const int which[] = {m ? cst_model_number_find(m, number) : 0,
                         m ? cst_model_number_find(m, "K.x") : 0};
    const cst_gradient *g = r ? cst_run_gradient(r, NULL, CST_ADJOINT, 2, which, &diag) : NULL;
    if (!g) fail_msg("%s\n%s", diag.text, text);
    const int given = g->effect[0] == CST_EXACT || g->effect[0] == CST_NO_EFFECT;
    if ((g->effect[0] == CST_NOT_SMOOTH) != refused || given == refused ||
        g->effect[2] != CST_NO_EFFECT || g->effect[3] != CST_EXACT)
        fail_msg("%s\n%s", diag.text, text);
    const double jumps = by > 0 ? jump(m, r, which[0], by) : 0;
    if (by > 0 && refused != (jumps > 1)) fail_msg("%s jumps by %g\n%s", number, jumps, text);
    cst_run_free(r), cst_model_free(m);
}

#define UP "B: [0.3, 0.4, 0], C: [1.3, 0.4, 0]" /* atan2(0.4, 0.3) above the line */
#define UPRIGHT "B: [0, 0.5, 0], C: [1, 0.5, 0]"
#define LEVEL "B: [0.5, 0, 0], C: [1.5, 0, 0]"

static void driven(void **state)
{
    (void)state;
    expect_driven("rod", 0, UP, "-0.9*sin(pi*t)", 1, 1, 2e-3, 0); /* back before it is in line, */
    expect_driven("rod", 0, UP, "-(0.9272952180016122 + 0.005)*sin(pi*t)", 1, 1, 2e-3,
                  1);                                                     /* and just behind it */
    expect_driven("rod", 0, UP, "-0.9272952180016122*t", 1, 1.8, 0.1, 1); /* a state is in line */
    expect_driven("rod", 0, LEVEL, "t", 1, 1, 2e-3, 1);                   /* the first one, */
    expect_driven("rod", 0, LEVEL, "pi*t", 1, 2, 2e-3, 1);                /* and that half way */
    expect_driven("rod", 0, UP, "-1.2*t", 900, 1, 2e-4,
                  1); /* behind 500 dead points of another loop */
    expect_driven("rod", 0, UP, "0.5*t", 900, 0.2, 2e-4, 0);
}

/* Coordinates of the cranks' ends change lengths by their square where these are drawn upright. In
 * line the rocker then turns back, or the crank is stopped, no matter how little the number
 * changes. */
static void of_second_order(void **state)
{
    (void)state;
    static const struct {
        const char *number;
        int refused;
    } all[] = {{"B.x", 1}, {"C.x", 1}, {"B.z", 1},       {"C.z", 1},
               {"A.z", 0}, {"D.z", 0}, {"q.angle[1]", 0}};
    for (int i = 0; i < (int)(sizeof all / sizeof *all); i++) {
        expect_driven(all[i].number, 0.03, UPRIGHT, "-2.5*t", 1, 1, 1e-3, all[i].refused);
        expect_driven(all[i].number, 0.01, UPRIGHT, "-2.5*t", 1, 0.6, 2e-3,
                      0); /* it is not yet in line */
    }
}

/* Slider-cranks with arms of 1 : 1.4, which are never singular, are not taken for it beside a long
 * body; those of 1 : 1 are singular */
static void beside_a_long_body(void **state)
{
    (void)state;
    for (int k = 0; k < 4; k++) {
        char text[2048];
        const double arm = k < 2 ? 0.5 : 0.1, rod = k % 2 ? arm : 1.4 * arm;
        snprintf(text, sizeof text,
                 "costate: 1\ngravity: [0, 0, 0]\npoints: {O: [0, 0, 0], K: [%.17g, %.17g, 0], S: "
                 "[%.17g, 0, 0], Q: [3000, 0, 0]}\nbodies:\n"
                 "  crank: {type: bar, from: O, to: K, mass: 1, radius: 0.001}\n  con: {type: bar, "
                 "from: K, to: S, mass: 1, radius: 0.001}\n"
                 "  pis: {type: rigid, position: S, mass: 1, inertia: [1, 1, 1]}\n  far: {type: "
                 "bar, from: O, to: Q, mass: 1, radius: 0.01}\n"
                 "joints:\n  o: {type: revolute, between: [ground, crank], at: O, axis: z}\n"
                 "  k: {type: revolute, between: [crank, con], at: K, axis: z}\n  s: {type: "
                 "revolute, between: [con, pis], at: S, axis: z}\n"
                 "  g: {type: prismatic, between: [ground, pis], at: S, axis: x}\n  f: {type: "
                 "revolute, between: [ground, far], at: O, axis: z}\n"
                 "measures: {th: {type: angle, between: [ground, crank], axis: z}, x: {type: "
                 "position, of: pis.S}}\n"
                 "initial: {velocities: {th: 12}}\nobjectives: {e: end(x.x)}\nsimulation: {end: "
                 "0.2, step: 1 ms}\n",
                 0.6 * arm, 0.8 * arm, 0.6 * arm + sqrt(rod * rod - 0.64 * arm * arm));
        diag = (cst_diag){0};
        cst_model *m = cst_model_parse("m.yaml", text, strlen(text), 0, NULL, &diag);
        cst_run *r = m ? cst_run_new(m, NULL, &diag) : NULL;
        static const char *const names[] = {"K.x", "S.x", "O.y", "O.z"};
        int which[4];
        for (int i = 0; m && i < 4; i++) which[i] = cst_model_number_find(m, names[i]);
        const cst_gradient *g = r ? cst_run_gradient(r, NULL, CST_ADJOINT, 4, which, &diag) : NULL;
        if (!g) fail_msg("%s\n%s", diag.text, text);
        for (int i = 0; i < 3; i++)
            if (g->effect[i] != (k % 2 ? CST_NOT_SMOOTH : CST_EXACT))
                fail_msg("%s: %s\n%s", names[i], diag.text, text);
        expect_true(g->effect[3] == CST_NO_EFFECT);
        cst_run_free(r), cst_model_free(m);
    }
}

/* With respect to two numbers */
static answer gradient_of(const char *text, const char *first, const char *second)
{
    answer a = {0};
    diag = (cst_diag){0};
    a.m = cst_model_parse("m.yaml", text, strlen(text), 0, NULL, &diag);
    a.r = a.m ? cst_run_new(a.m, NULL, &diag) : NULL;
    if (!a.r) fail_msg("%s", diag.text);
    const int which[] = {cst_model_number_find(a.m, first), cst_model_number_find(a.m, second)};
    a.g = cst_run_gradient(a.r, NULL, CST_ADJOINT, 2, which, &diag);
    if (!a.g) fail_msg("%s", diag.text);
    return a;
}

/* Two rods side by side: neither length can change by itself, whatever else is in it */
static void closed_twice(void **state)
{
    (void)state;
    static const char text[] =
        "costate: 1\nparameters: {L: 1, M: 1, one: 1}\npoints: {O: [0, 0, 0]}\nbodies: {m: {type: "
        "point, position: [L, 0, 0], mass: 2}}\njoints:\n"
        "  r: {type: distance, from: ground.O, to: m, length: \"L" POLE "\"}\n"
        "  s: {type: distance, from: ground.O, to: m, length: M}\n"
        "measures: {p: {type: position, of: m}}\nobjectives: {e: end(p.x)}\nsimulation: {end: 0.3, "
        "step: 1 ms}\n";
    answer of = gradient_of(text, "L", "M");
    const cst_gradient *g = of.g;
    expect_true(g->effect[0] == CST_BREAKS_LOOP && g->effect[1] == CST_BREAKS_LOOP);
    cst_run_free(of.r), cst_model_free(of.m);
}

/* x^2 - y^2 = c with c = 0 and x = y = w t - 1: the row itself vanishes at t = 1/w. The slope by w
 * is t, that by c is lost there. */
static void flat_law(void **state)
{
    (void)state;
    static const char text[] =
        "costate: 1\ngravity: [0, 0, 0]\nparameters: {c: 0, w: 2}\n"
        "bodies: {a: {type: scalar, inertia: 1, value: -1, rate: w}, b: {type: scalar, inertia: 2, "
        "value: -1, rate: w}}\n"
        "measures: {x: {type: coordinate, of: a}, y: {type: coordinate, of: b}}\n"
        "joints: {g: {type: coupling, of: \"x^2 - y^2 - c\"}}\n"
        "objectives: {late: end(y), early: \"at(y, 0.3)\"}\nsimulation: {end: 1, step: 3 ms}\n";
    answer of = gradient_of(text, "c", "w");
    const cst_gradient *g = of.g;
    expect_true(g->effect[0] == CST_NOT_SMOOTH && g->effect[2] == CST_EXACT);
    expect_contains(diag.text, "singular position that is passed at t = 0.5 s");
    expect_near(g->slope[1], 1, 1e-9);
    expect_near(g->slope[3], 0.3, 1e-9);
    cst_run_free(of.r), cst_model_free(of.m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(in_line),
                                       cmocka_unit_test(not_in_line),
                                       cmocka_unit_test(driven),
                                       cmocka_unit_test(of_second_order),
                                       cmocka_unit_test(beside_a_long_body),
                                       cmocka_unit_test(closed_twice),
                                       cmocka_unit_test(flat_law)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
