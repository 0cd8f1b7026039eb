/* SPDX-License-Identifier: MIT
 *
 * Numbers that open closed loops, in all positions or in a singular one that the motion passes
 * (src/sensitivity/closure.c), to first order:
 *
 *     every formulation refuses the same numbers, whatever is redundant
 *     so does a mechanism that is turned, scaled, or has other names
 *     behind a singular position, and only there, numbers that open a loop in it have no slope
 *     spherical linkages, Hooke joints and cranks are not taken for singular
 *     a net of bars is searched with few looks
 *
 * Parallelograms of rods without gravity move at the constant speed v, at the angle v t/c from the
 * upright: the instant in line, and all slopes that exist, are known. */
#include "random_check.h"
#include "sensitivity/closure.h"

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

/* Before the position in line all numbers have slopes, which are those of differences. */
static void expect_differences(const scene *s)
{
    answer a = solve(s, CST_ADJOINT);
    double exact[2 * ASKED];
    int which[ASKED];
    memcpy(exact, a.g->slope, sizeof exact);
    memcpy(which, a.g->number, sizeof which);
    const cst_gradient *g = cst_run_gradient(a.r, NULL, CST_DIFFERENCE, ASKED, which, &diag);
    for (int i = 0; i < 2 * ASKED; i++)
        if (!(fabs(exact[i] - g->slope[i]) <= 1e-8 * (1 + fabs(exact[i])) + 10 * g->error[i]))
            fail_msg("%s: %.12g, by differences %.12g\n%s", asked[i % ASKED], exact[i], g->slope[i],
                     a.text);
    release(a);
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
        s.early = uniform(0.3, 0.5) * when, s.late = 0.7 * when;
        if (k < 3) expect_differences(&s);
        s.early = uniform(0.5, 0.99) * when, s.late = uniform(1.02, 1.8) * when;
        for (int method = CST_ADJOINT; method <= CST_DIRECT; method++) {
            answer a = solve(&s, (cst_method)method);
            char told[128];
            expect_contains(diag.text, "('rod', ...)");
            snprintf(told, sizeof told, "t = %.4g s: the mechanism passes a singular position",
                     when);
            expect_contains(diag.text, told);
            for (int o = 0; o < 2; o++) {
                const double t = o ? s.early : s.late, angle = s.v * t / s.c;
                expect_refused(&a, o, "rod", !o);
                expect_refused(&a, o, "link", !o);
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

/* A parallelogram whose crank is driven by `angle`, beside a slider-crank that goes round at
 * `spin`: is the number refused for what is read at the end? */
static void expect_driven(const char *number, const char *drawn, const char *angle, double spin,
                          double end, double step, int refused)
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
    cst_run_free(r), cst_model_free(m);
}

#define UP "B: [0.3, 0.4, 0], C: [1.3, 0.4, 0]" /* atan2(0.4, 0.3) above the line */
#define UPRIGHT "B: [0, 0.5, 0], C: [1, 0.5, 0]"
#define LEVEL "B: [0.5, 0, 0], C: [1.5, 0, 0]"

static void driven(void **state)
{
    (void)state;
    expect_driven("rod", UP, "-0.9*sin(pi*t)", 1, 1, 2e-3, 0); /* back before it is in line, */
    expect_driven("rod", UP, "-(0.9272952180016122 + 0.005)*sin(pi*t)", 1, 1, 2e-3,
                  1);                                                  /* and just behind it */
    expect_driven("rod", UP, "-0.9272952180016122*t", 1, 1.8, 0.1, 1); /* a state is in line */
    expect_driven("rod", LEVEL, "t", 1, 1, 2e-3, 1);                   /* the first one, */
    expect_driven("rod", LEVEL, "pi*t", 1, 2, 2e-3, 1);                /* and that half way */
    expect_driven("rod", UP, "-1.2*t", 900, 1, 2e-4,
                  1); /* behind 500 dead points of another loop */
    expect_driven("rod", UP, "0.5*t", 900, 0.2, 2e-4, 0);
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
    expect_contains(diag.text, "t = 0.5 s: the mechanism passes a singular position");
    expect_near(g->slope[1], 1, 1e-9);
    expect_near(g->slope[3], 0.3, 1e-9);
    cst_run_free(of.r), cst_model_free(of.m);
}

/* The numbers for which objective 0 is refused must be just those in `refused`, of those in
 * `among`; names end with a space */
static void expect_numbers(const char *text, const char *among, const char *refused)
{
    enum { MOST = 32 };
    char name[MOST][32], found[512] = "";
    int which[MOST], n = 0;
    diag = (cst_diag){0};
    cst_model *m = cst_model_parse("m.yaml", text, strlen(text), 0, NULL, &diag);
    cst_run *r = m ? cst_run_new(m, NULL, &diag) : NULL;
    if (!r) fail_msg("%s\n%s", diag.text, text);
    for (const char *at = among; n < MOST && sscanf(at, "%31s", name[n]) == 1;
         at = strchr(at, ' ') + 1, n++) {
        which[n] = cst_model_number_find(m, name[n]);
        if (which[n] < 0) fail_msg("no number %s\n%s", name[n], text);
    }
    for (int method = CST_ADJOINT; method <= CST_DIRECT; method++) {
        const cst_gradient *g = cst_run_gradient(r, NULL, (cst_method)method, n, which, &diag);
        if (!g) fail_msg("%s\n%s", diag.text, text);
        found[0] = 0;
        for (int i = 0; i < n; i++)
            if (g->effect[i] != CST_EXACT && g->effect[i] != CST_NO_EFFECT)
                strcat(strcat(found, name[i]), " ");
        if (strcmp(found, refused) != 0) fail_msg("refused: %s, not: %s\n%s", found, refused, text);
    }
    cst_run_free(r), cst_model_free(m);
}

/* Two cranks, A B and D C, with a rod */
#define CRANKS(rod)                                                                                \
    "bodies: {b: {type: bar, from: A, to: B, mass: 1}, c: {type: bar, from: D, to: C, mass: "      \
    "1}}\njoints:\n"                                                                               \
    "  j: {type: revolute, between: [ground, b], at: A, axis: z}\n  k: {type: revolute, between: " \
    "[ground, c], at: D, axis: z}\n" rod "measures: {p: {type: position, of: b.B}, v: {type: "     \
    "velocity, of: b.B}}\ninitial: {velocities: {v.x: 2}}\n"                                       \
    "objectives: {e: end(p.x)}\nsimulation: {end: 1, step: 2 ms}\n"

/* The rod does not see how high a crank turns, or about which axis, but has to reach further in
 * line: by the square of it, which is of second order and not refused. A rod that is as much
 * longer, and both cranks that rise together, keep the ways crossed. */
static void through_other_rows(void **state)
{
    (void)state;
    static const char points[] =
        "costate: 1\ngravity: [0, 0, 0]\nparameters: {h: 0, both: 0, kept: 0}\n"
        "points: {A: [0, 0, h + both + kept], B: [0, 0.5, h + both + kept], C: [1, 0.5, both], D: "
        "[1, 0, both]}\n" CRANKS(
            "  r: {type: distance, from: b.B, to: c.C, length: \"hypot(1, kept)\"}\n");
    expect_numbers(points, "h both kept C.y j.axis.x j.axis.y j.axis.z b.mass ", "C.y ");
}

/* Two of them that have nothing to do with each other come into line at the same time */
static void apart(void **state)
{
    (void)state;
    static const char text[] =
        "costate: 1\ngravity: [0, 0, 0]\nparameters: {l: 1, k: 1}\n"
        "points: {A: [0, 0, 0], B: [0, 0.5, 0], C: [1, 0.5, 0], D: [1, 0, 0],\n"
        "         E: [3, 0, 0], F: [3, 0.5, 0], G: [4, 0.5, 0], H: [4, 0, 0]}\nbodies:\n"
        "  b: {type: bar, from: A, to: B, mass: 1}\n  c: {type: bar, from: D, to: C, mass: 1}\n"
        "  d: {type: bar, from: E, to: F, mass: 1}\n  e: {type: bar, from: H, to: G, mass: "
        "1}\njoints:\n"
        "  jb: {type: revolute, between: [ground, b], at: A, axis: z}\n  jc: {type: revolute, "
        "between: [ground, c], at: D, axis: z}\n"
        "  jd: {type: revolute, between: [ground, d], at: E, axis: z}\n  je: {type: revolute, "
        "between: [ground, e], at: H, axis: z}\n"
        "  r: {type: distance, from: b.B, to: c.C, length: l}\n  s: {type: distance, from: d.F, "
        "to: e.G, length: k}\n"
        "measures: {v: {type: velocity, of: b.B}, w: {type: velocity, of: d.F}, p: {type: "
        "position, of: b.B}}\n"
        "initial: {velocities: {v.x: 2, w.x: 2}}\nobjectives: {e: end(p.x)}\nsimulation: {end: 1, "
        "step: 2 ms}\n";
    expect_numbers(text, "l k B.x B.y C.z F.x F.y G.z ", "l B.y ");
}

/* A toggle that its drive leads just to the dead point, 2 = x0 + a, and back: the instant may move,
 * the way may not become longer. Its hinges lie on the line of the drive: one that leaves it makes
 * the way longer by the square of that only. */
static void at_a_turning_point(void **state)
{
    (void)state;
    static const char text[] =
        "costate: 1\ngravity: [0, 0, 0]\nparameters: {w: 5, t0: 0, a: 0.36, x0: 1.64}\n"
        "points: {A: [0, 0, 0], B: [0.82, 0.5723635208501675, 0], D: [1.64, 0, 0]}\nbodies:\n"
        "  b: {type: bar, from: A, to: B, mass: 1}\n  c: {type: bar, from: B, to: D, mass: 1}\n"
        "  s: {type: box, position: D, size: [0.1, 0.1, 0.1], mass: 1}\njoints:\n"
        "  j: {type: revolute, between: [ground, b], at: A, axis: z}\n  k: {type: revolute, "
        "between: [b, c], at: B, axis: z}\n"
        "  l: {type: revolute, between: [c, s], at: D, axis: z}\n  g: {type: prismatic, between: "
        "[ground, s], at: D, axis: x}\n"
        "  d: {type: drive-coordinate, of: s.D, direction: x, value: \"x0 + a*sin(w*(t - t0))\"}\n"
        "measures: {p: {type: position, of: b.B}}\nobjectives: {e: end(p.x)}\nsimulation: {end: "
        "0.6, step: 1.7 ms}\n";
    expect_numbers(text, "w t0 a x0 A.x B.y g.axis.y A.z ", "a x0 A.x B.y ");
}

/* (x + u)^2 = (y + v)^2 + e: whatever u and v are, the ways x + u = +-(y + v) cross. f enters by
 * its square. */
static void squares(void **state)
{
    (void)state;
    static const char text[] =
        "costate: 1\ngravity: [0, 0, 0]\nparameters: {u: 0, v: 0, e: 0, f: 0}\n"
        "bodies: {a: {type: scalar, inertia: 1, value: -1, rate: 2}, b: {type: scalar, inertia: 2, "
        "value: -1, rate: 2}}\n"
        "measures: {x: {type: coordinate, of: a}, y: {type: coordinate, of: b}}\n"
        "joints: {g: {type: coupling, of: \"(x + u)^2 - (y + v)^2 - e - f^2\"}}\n"
        "objectives: {late: end(y)}\nsimulation: {end: 1, step: 3 ms}\n";
    expect_numbers(text, "u v e f a.rate ", "e ");
}

/* A rod beside a parallelogram, which it closes once more: its ends may not leave the plane alone,
 * by the square of that, but together */
static void closed_more_than_once(void **state)
{
    (void)state;
    static const char text[] =
        "costate: 1\ngravity: [0, 0, 0]\nparameters: {h: 0}\n"
        "points: {A: [0, 0, 0], B: [0, 0.5, 0], C: [1, 0.5, 0], D: [1, 0, 0], E: [0.4, -0.3, h], "
        "F: [0.4, 0.2, h]}\nbodies:\n"
        "  b: {type: bar, from: A, to: B, mass: 1}\n  c: {type: bar, from: D, to: C, mass: 1}\n"
        "  m: {type: rigid, mass: 1, inertia: [0.02, 0.02, 0.02], com: F}\njoints:\n"
        "  j: {type: revolute, between: [ground, b], at: A, axis: z}\n  k: {type: revolute, "
        "between: [b, m], at: B, axis: z}\n"
        "  l: {type: revolute, between: [m, c], at: C, axis: z}\n  n: {type: revolute, between: "
        "[c, ground], at: D, axis: z}\n"
        "  r: {type: distance, from: ground.E, to: m.F, length: 0.5}\n"
        "measures: {p: {type: position, of: b.B}, v: {type: velocity, of: b.B}}\ninitial: "
        "{velocities: {v.x: 1}}\n"
        "objectives: {e: end(p.x)}\nsimulation: {end: 0.6, step: 2 ms}\n";
    expect_numbers(text, "h E.y r.length A.y b.mass ", "E.y r.length A.y ");
    char alone[2048];
    snprintf(alone, sizeof alone, "%s", text);
    memcpy(strstr(alone, "F: [0.4, 0.2, h]"), "F: [0.4, 0.2, 0]", 16);
    expect_numbers(alone, "h F.z ", "");
}

/* With the coupler 1 % too long the ways pass each other at a distance: nothing is said. With 1e-9
 * too much it is that of a singular position. */
static void near_misses(void **state)
{
    (void)state;
    static const double longer[] = {1e-2, 1e-9};
    for (int k = 0; k < 2; k++) {
        char text[2048];
        snprintf(text, sizeof text,
                 "costate: 1\ngravity: [0, 0, 0]\npoints: {A: [0, 0, 0], B: [0, 0.5, 0], C: "
                 "[%.17g, 0.5, 0], D: [1, 0, 0]}\n%s",
                 1 + longer[k], CRANKS("  r: {type: distance, from: b.B, to: c.C}\n"));
        expect_numbers(text, "C.x D.x ", k ? "C.x D.x " : "");
        if (!k) expect_text(diag.text, "");
    }
}

/* ---- the same numbers ---- */

static const char *const formulations[] = {"index3", "augmented", "index1",     "penalty",
                                           "maggi",  "joint",     "variational"};
enum { FORMULATIONS = sizeof formulations / sizeof *formulations };

typedef struct found { /* by one formulation */
    cst_model *m;
    cst_run *r;
    cst_singular passed;
    unsigned char *breaks;
} found;

/* 0: the motion stops */
static int find(found *f, const char *text, const char *formulation, double step, double end)
{
    static const char joint[] = "simulation.formulation=joint";
    const char *const set[] = {joint};
    cst_options o = cst_options_default();
    diag = (cst_diag){0};
    const int joints = strcmp(formulation, "joint") == 0;
    f->m = cst_model_parse("m.yaml", text, strlen(text), joints, set, &diag);
    if (!f->m) fail_msg("%s\n%s", diag.text, text);
    const size_t n = (size_t)cst_model_number_count(f->m) + 1;
    o.formulation = formulation, o.step = step, o.end = end;
    f->breaks = calloc(n, 1);
    f->passed = (cst_singular){.when = calloc(n, sizeof(double))};
    f->r = cst_run_new(f->m, &o, &diag);
    return f->r && cst_run_forward(f->r, NULL, 1, NULL, NULL, &diag) == CST_OK &&
           cst_find_breaking(f->r, f->breaks, &diag) == CST_OK &&
           cst_find_singular(f->r, f->breaks, &f->passed, &diag) == CST_OK;
}

static void forget(found *f)
{
    cst_run_free(f->r), cst_model_free(f->m);
    free(f->breaks), free(f->passed.when);
}

/* Every formulation refuses the numbers that index3 refuses; of a motion that stays away from
 * singular positions none finds any. Returns the number of those refused. */
static int expect_same(const char *text, double step, double end, int compared[FORMULATIONS])
{
    found first;
    int refused = 0;
    if (!find(&first, text, formulations[0], step, end)) return forget(&first), -1;
    const int n = cst_model_number_count(first.m);
    for (int i = 0; i < n; i++) refused += first.breaks[i] != 0;
    for (int k = 1; k < FORMULATIONS; k++) {
        found f;
        const int moves = find(&f, text, formulations[k], step, end);
        if (moves) compared[k]++;
        for (int i = 0; moves && i < n; i++)
            if (f.breaks[i] != first.breaks[i])
                fail_msg("%s: %s is %s, not %s\n%s", formulations[k],
                         cst_model_number_name(first.m, i),
                         cst_effect_text((cst_effect)f.breaks[i]),
                         cst_effect_text((cst_effect)first.breaks[i]), text);
        if (moves && f.passed.first < INFINITY && first.passed.first == INFINITY)
            fail_msg("%s: singular at %g s\n%s", formulations[k], f.passed.first, text);
        forget(&f);
    }
    forget(&first);
    return refused;
}

/* A number is refused if and only if, with another value, a redundant row opens in proportion to
 * the change, or is no longer redundant, or the mechanism cannot be assembled. Second order leaves
 * 1e-8.
 */
static void expect_opening(const char *text, double step)
{
    const double by = 1e-4;
    found f;
    if (!find(&f, text, "index3", step, 10 * step)) fail_msg("%s\n%s", diag.text, text);
    const int n = cst_model_number_count(f.m), redundant = f.r->st->dep.ndep;
    double *value = malloc(sizeof *value * (size_t)n);
    for (int i = 0; i < n; i++) value[i] = cst_model_number_value(f.m, i);
    for (int i = 0; i < n; i++) {
        const double keep = value[i];
        double open = 1;
        cst_diag quiet = {0};
        value[i] = keep + by;
        cst_run_forget(f.r);
        if (cst_run_simulate(f.r, value, NULL, NULL, &quiet) == CST_OK &&
            f.r->st->dep.ndep == redundant)
            open = cst_run_stats(f.r).drift;
        value[i] = keep;
        if ((open > 0.02 * by) != (f.breaks[i] == CST_BREAKS_LOOP))
            fail_msg("%s: opens by %g of its change, but: %s\n%s", cst_model_number_name(f.m, i),
                     open / by, cst_effect_text((cst_effect)f.breaks[i]), text);
    }
    free(value);
    forget(&f);
}

static const char bricard[] =
    "costate: 1\n"
    "gravity: [0, -9.81, 0]\n"
    "points: {P0: [0, 0, 0], P1: [1, 0, 0], P2: [1, -1, 0],\n"
    "         P3: [1, -1, 1], P4: [0, -1, 1], P5: [0, 0, 1]}\n"
    "bodies:\n"
    "  r1: {type: box, position: [0.5, 0, 0], size: [1, 0.1, 0.1], mass: 1}\n"
    "  r2: {type: box, position: [1, -0.5, 0], size: [0.1, 1, 0.1], mass: 1}\n"
    "  r3: {type: box, position: [1, -1, 0.5], size: [0.1, 0.1, 1], mass: 1}\n"
    "  r4: {type: box, position: [0.5, -1, 1], size: [1, 0.1, 0.1], mass: 1}\n"
    "  r5: {type: box, position: [0, -0.5, 1], size: [0.1, 1, 0.1], mass: 1}\n"
    "joints:\n"
    "  h0: {type: revolute, between: [ground, r1], at: P0, axis: y}\n"
    "  h1: {type: revolute, between: [r1, r2], at: P1, axis: z}\n"
    "  h2: {type: revolute, between: [r2, r3], at: P2, axis: x}\n"
    "  h3: {type: revolute, between: [r3, r4], at: P3, axis: y}\n"
    "  h4: {type: revolute, between: [r4, r5], at: P4, axis: z}\n"
    "  h5: {type: revolute, between: [r5, ground], at: P5, axis: x}\n"
    "measures: {p: {type: position, of: r3.P3}}\n"
    "objectives: {e: end(p.x)}\n"
    "simulation: {end: 1, step: 2 ms}\n";

/* A parallelogram with a crank more than it needs */
static const char three_cranks[] =
    "costate: 1\n"
    "gravity: [0, -9.81, 0]\n"
    "points: {A: [0, 0, 0], B: [0.3, 0.4, 0], C: [1.3, 0.4, 0], D: [1, 0, 0],\n"
    "         E: [0.6, 0, 0], F: [0.9, 0.4, 0]}\n"
    "bodies:\n"
    "  a: {type: bar, from: A, to: B, mass: 1}\n"
    "  d: {type: bar, from: D, to: C, mass: 1}\n"
    "  e: {type: bar, from: E, to: F, mass: 1}\n"
    "  c: {type: rigid, mass: 1, inertia: [0.02, 0.02, 0.02], com: B}\n"
    "joints:\n"
    "  ja: {type: revolute, between: [ground, a], at: A, axis: z}\n"
    "  jb: {type: revolute, between: [a, c], at: B, axis: z}\n"
    "  jc: {type: revolute, between: [c, d], at: C, axis: z}\n"
    "  jd: {type: revolute, between: [d, ground], at: D, axis: z}\n"
    "  je: {type: revolute, between: [ground, e], at: E, axis: z}\n"
    "  jf: {type: revolute, between: [e, c], at: F, axis: z}\n"
    "measures: {p: {type: position, of: a.B}}\n"
    "objectives: {e: end(p.x)}\n"
    "simulation: {end: 0.3, step: 2 ms}\n";

static const char five_bar[] = "costate: 1\n"
                               "gravity: [0, -9.81, 0]\n"
                               "points: {A: [0, 0, 0], B: [-0.3, 0.5, 0], C: [0.4, 1.1, 0],\n"
                               "         D: [1.2, 0.6, 0], E: [1, 0, 0]}\n"
                               "bodies:\n"
                               "  a: {type: bar, from: A, to: B, mass: 1}\n"
                               "  b: {type: bar, from: B, to: C, mass: 1}\n"
                               "  c: {type: bar, from: C, to: D, mass: 1}\n"
                               "  d: {type: bar, from: D, to: E, mass: 1}\n"
                               "joints:\n"
                               "  ja: {type: revolute, between: [ground, a], at: A, axis: z}\n"
                               "  jb: {type: revolute, between: [a, b], at: B, axis: z}\n"
                               "  jc: {type: revolute, between: [b, c], at: C, axis: z}\n"
                               "  jd: {type: revolute, between: [c, d], at: D, axis: z}\n"
                               "  je: {type: revolute, between: [d, ground], at: E, axis: z}\n"
                               "measures: {p: {type: position, of: b.C}}\n"
                               "objectives: {e: end(p.x)}\n"
                               "simulation: {end: 0.3, step: 2 ms}\n";

/* All axes meet in O, wherever that is */
static const char spherical[] =
    "costate: 1\n"
    "gravity: [0.5, -3, -9.81]\n"
    "points: {O: [%s]}\n"
    "bodies:\n"
    "  a: {type: box, position: 'O + [0.2, 0.05, 0.1]', size: [0.2, 0.1, 0.05], mass: 1}\n"
    "  b: {type: box, position: 'O + [0.1, 0.2, 0.2]', size: [0.1, 0.2, 0.05], mass: 0.8}\n"
    "  c: {type: box, position: 'O + [-0.1, 0.1, 0.25]', size: [0.05, 0.1, 0.2], mass: 0.6}\n"
    "joints:\n"
    "  j1: {type: revolute, between: [ground, a], at: O, axis: [1, 0.1, 0]}\n"
    "  j2: {type: revolute, between: [a, b], at: O, axis: [0.8, 0.5, 0.6]}\n"
    "  j3: {type: revolute, between: [b, c], at: O, axis: [-0.1, 0.9, 0.7]}\n"
    "  j4: {type: revolute, between: [c, ground], at: O, axis: [-1, 0.3, 0.2]}\n"
    "measures: {q: {type: joint, of: j1}}\n"
    "objectives: {psi: end(q)}\n"
    "simulation: {end: 0.5, step: 5 ms}\n";

/* A ball with an angle row, and a Hooke joint behind it */
static const char hooke[] =
    "costate: 1\n"
    "gravity: [0, 0, -9.81]\n"
    "points: {A: [0.1, 0.2, 0.3], B: [0.45, 0.61, 0.37], C: [0.8, 0.7, 0.1]}\n"
    "bodies:\n"
    "  r: {type: bar, from: A, to: B, mass: 1}\n"
    "  s: {type: bar, from: B, to: C, mass: 1}\n"
    "joints:\n"
    "  b: {type: spherical, between: [ground, r], at: A}\n"
    "  d: {type: dot, between: [ground, r], axis_1: [0, 0, 1], axis_2: [4, -3, 0]}\n"
    "  u: {type: universal, between: [r, s], at: B, axis_1: [0, 0, 1], axis_2: [4, -3, 0]}\n"
    "measures: {p: {type: position, of: s.C}}\n"
    "objectives: {e: end(p.x)}\n"
    "simulation: {end: 0.3, step: 2 ms}\n";

static void by_every_formulation(void **state)
{
    (void)state;
    char here[2048], there[2048];
    snprintf(here, sizeof here, spherical, "0.1, 0.2, 0.3");
    snprintf(there, sizeof there, spherical, "1, 2, 3");
    const struct {
        const char *text;
        double step, end;
        int redundant;
    } all[] = {{bricard, 2e-3, 1, 1}, {three_cranks, 2e-3, 0.3, 1}, {five_bar, 2e-3, 0.3, 1},
               {here, 5e-3, 0.5, 0},  {there, 5e-3, 0.5, 0},        {hooke, 2e-3, 0.3, 0}};
    int compared[FORMULATIONS] = {0};
    for (int k = 0; k < (int)(sizeof all / sizeof *all); k++) {
        found f;
        if (!find(&f, all[k].text, "index3", all[k].step, all[k].end)) fail_msg("%s", diag.text);
        if (f.passed.first < INFINITY)
            fail_msg("singular at %g s\n%s", f.passed.first, all[k].text);
        forget(&f);
        const int refused = expect_same(all[k].text, all[k].step, all[k].end, compared);
        expect_true(all[k].redundant ? refused > 0 : refused == 0);
        expect_opening(all[k].text, all[k].step);
    }
    for (int k = 1; k < FORMULATIONS; k++) expect_true(compared[k] >= 4);
}

/* Random closed mechanisms, half of them with a joint that is written twice */
static void by_every_formulation_at_random(void **state)
{
    (void)state;
    static random_model g;
    static const random_kind kinds[] = {RANDOM_PLANAR, RANDOM_CLOSED, RANDOM_SPATIAL};
    int compared[FORMULATIONS] = {0}, refusing = 0;
    for (int k = 0; k < 24; k++) {
        const random_options o = {.kind = kinds[k % 3],
                                  .forces = RANDOM_PASSIVE,
                                  .objectives = 1,
                                  .doubled = k % 2,
                                  .unprescribed = 1,
                                  .step = 2e-3,
                                  .steps = 20};
        random_model_write(&g, (uint64_t)k + 700, &o);
        refusing += expect_same(g.text, 2e-3, 0.04, compared) > 0;
    }
    for (int k = 1; k < FORMULATIONS; k++) expect_true(compared[k] >= 8);
    expect_true(refusing >= 8);
}

/* A parallelogram that passes its singular position, scaled by L, turned by R, its bodies and
 * joints named and written in another order. h lifts a hinge along the axes, s shifts it along the
 * line, tilt turns an axis, c is the coupler's excess. */
static void write_turned(char *text, size_t size, double L, const double R[9], int other)
{
    static const double at[4][3] = {{0, 0, 0}, {0.1, 0.5, 0}, {1.1, 0.5, 0}, {1, 0, 0}};
    static const double normal[3] = {0, 0, 1}, along[3] = {1, 0, 0};
    double p[4][3], n[3], x[3];
    for (int i = 0; i < 3; i++) {
        n[i] = x[i] = 0;
        for (int k = 0; k < 3; k++)
            n[i] += R[3 * i + k] * normal[k], x[i] += R[3 * i + k] * along[k];
        for (int j = 0; j < 4; j++) {
            p[j][i] = 0;
            for (int k = 0; k < 3; k++) p[j][i] += L * R[3 * i + k] * at[j][k];
        }
    }
    size_t used = (size_t)snprintf(
        text, size,
        "costate: 1\ngravity: [0, 0, 0]\nparameters: {h: 0, s: 0, tilt: 0, c: 0}\npoints:\n");
    for (int j = 0; j < 4; j++) {
        used += (size_t)snprintf(text + used, size - used, "  %c: [", 'A' + j);
        for (int i = 0; i < 3; i++)
            used += (size_t)snprintf(text + used, size - used, "\"%.17g%+.17g*h%+.17g*s\"%s",
                                     p[j][i], j ? 0 : n[i], j ? 0 : x[i], i < 2 ? ", " : "]\n");
    }
    char tilted[200];
    snprintf(tilted, sizeof tilted,
             "[\"%.17g%+.17g*tilt\", \"%.17g%+.17g*tilt\", \"%.17g%+.17g*tilt\"]", n[0], x[0], n[1],
             x[1], n[2], x[2]);
    const char *const b = other ? "zeta" : "b", *const c = other ? "alpha" : "c";
    const char *const rod = "{type: bar, from: %s, to: %s, mass: %.17g}";
    char one[80], two[80], first[400], second[400];
    snprintf(one, sizeof one, rod, "A", "B", 1.0), snprintf(two, sizeof two, rod, "D", "C", 1.0);
    used += (size_t)snprintf(text + used, size - used, "bodies:\n  %s: %s\n  %s: %s\njoints:\n",
                             other ? c : b, other ? two : one, other ? b : c, other ? one : two);
    snprintf(first, sizeof first,
             "  j%s: {type: revolute, between: [ground, %s], at: A, axis: %s}\n", b, b, tilted);
    snprintf(second, sizeof second,
             "  j%s: {type: revolute, between: [ground, %s], at: D, axis: [%.17g, %.17g, %.17g]}\n",
             c, c, n[0], n[1], n[2]);
    snprintf(text + used, size - used,
             "%s%s  r: {type: distance, from: %s.B, to: %s.C, length: \"%.17g + c\"}\n"
             "measures: {v: {type: velocity, of: %s.B}, a: {type: joint, of: j%s}}\n"
             "initial: {velocities: {a: -4}}\nobjectives: {e: end(a), f: \"at(a, 0.1)\"}\n"
             "simulation: {end: 0.8, step: 2 ms}\n",
             other ? second : first, other ? first : second, b, c, L, b, b);
}

static void scaled_and_turned(void **state)
{
    (void)state;
    static const char *const number[] = {"h", "s", "tilt", "c"};
    static const cst_effect late[] = {CST_EXACT, CST_NOT_SMOOTH, CST_EXACT, CST_NOT_SMOOTH};
    static const double size[] = {1, 1e-3, 1e3, 1, 0.02};
    static char text[8192];
    for (int k = 0; k < (int)(sizeof size / sizeof *size); k++) {
        const double u = 0.3 * k, v = 0.7 * k, cu = cos(u), su = sin(u), cv = cos(v), sv = sin(v);
        const double R[9] = {cu, -su * cv, su * sv, su, cu * cv, -cu * sv, 0, sv, cv};
        int which[4];
        write_turned(text, sizeof text, size[k], R, k % 2);
        diag = (cst_diag){0};
        cst_model *m = cst_model_parse("m.yaml", text, strlen(text), 0, NULL, &diag);
        cst_run *r = m ? cst_run_new(m, NULL, &diag) : NULL;
        for (int i = 0; r && i < 4; i++) which[i] = cst_model_number_find(m, number[i]);
        const cst_gradient *g = r ? cst_run_gradient(r, NULL, CST_ADJOINT, 4, which, &diag) : NULL;
        if (!g) fail_msg("%s\n%s", diag.text, text);
        for (int i = 0; i < 8; i++) {
            const int exact = g->effect[i] == CST_EXACT || g->effect[i] == CST_NO_EFFECT;
            if (exact != (i >= 4 || late[i] == CST_EXACT))
                fail_msg("size %g, objective %d, %s: %s\n%s\n%s", size[k], i / 4, number[i % 4],
                         cst_effect_text(g->effect[i]), diag.text, text);
        }
        cst_run_free(r), cst_model_free(m);
    }
}

/* A net of n x n masses with rods between neighbours: the search looks at no more positions than
 * the run has states, and each look is one factorisation of the motion's matrix. */
static void of_a_net(void **state)
{
    (void)state;
    enum { N = 12, SIZE = 1 << 16 };
    char *text = malloc(SIZE);
    size_t used = (size_t)snprintf(text, SIZE, "costate: 1\nbodies:\n");
    for (int i = 0; i < N * N; i++)
        used += (size_t)snprintf(text + used, SIZE - used,
                                 "  m%d: {type: point, position: [%d, %d, %.6f], mass: 1}\n", i,
                                 i % N, i / N, 0.1 * sin(0.9 * i + 0.4 * (double)(i / N)));
    used += (size_t)snprintf(text + used, SIZE - used,
                             "points: {O: [-1, -1, 0]}\njoints:\n  o: {type: distance, from: "
                             "ground.O, to: m0}\n");
    for (int i = 0; i < N * N; i++) {
        if (i % N + 1 < N)
            used += (size_t)snprintf(text + used, SIZE - used,
                                     "  x%d: {type: distance, from: m%d, to: m%d}\n", i, i, i + 1);
        if (i / N + 1 < N)
            used += (size_t)snprintf(text + used, SIZE - used,
                                     "  y%d: {type: distance, from: m%d, to: m%d}\n", i, i, i + N);
    }
    snprintf(text + used, SIZE - used,
             "measures: {p: {type: position, of: m%d}}\nobjectives: {e: end(p.z)}\nsimulation: "
             "{end: 0.1, step: 1 ms}\n",
             N * N - 1);
    found f;
    if (!find(&f, text, "index3", 1e-3, 0.1)) fail_msg("%s", diag.text);
    expect_true(f.passed.looks > 0 && f.passed.looks <= f.r->traj->n);
    forget(&f);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(in_line),
                                       cmocka_unit_test(not_in_line),
                                       cmocka_unit_test(driven),
                                       cmocka_unit_test(beside_a_long_body),
                                       cmocka_unit_test(closed_twice),
                                       cmocka_unit_test(flat_law),
                                       cmocka_unit_test(through_other_rows),
                                       cmocka_unit_test(apart),
                                       cmocka_unit_test(at_a_turning_point),
                                       cmocka_unit_test(squares),
                                       cmocka_unit_test(closed_more_than_once),
                                       cmocka_unit_test(near_misses),
                                       cmocka_unit_test(by_every_formulation),
                                       cmocka_unit_test(by_every_formulation_at_random),
                                       cmocka_unit_test(scaled_and_turned),
                                       cmocka_unit_test(of_a_net)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
