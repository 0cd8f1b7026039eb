/* SPDX-License-Identifier: MIT
 *
 * Model files become models: numbers and their names, resolution in any order, slots, overrides. */
#include "load_text.h"

/* ---- numbers ---- */

static void texts_without_names_are_one_number(void **state)
{
    (void)state;
    cst_model *m = parse("parameters:\n"
                         "  L: {value: sqrt(2^2 + 1^2), unit: m, range: [1, 4]}\n"
                         "  w: {value: 20, unit: mm}\n"
                         "  a: 30 deg\n"
                         "  b: 2*pi\n"
                         "points: {P: [L, w*a, b]}\n");
    expect_near(number(m, "L"), sqrt(5), 1e-16);
    expect_near(number(m, "w"), 0.02, 1e-16);
    expect_text(cst_model_number_unit(m, cst_model_number_find(m, "w")), "m");
    expect_near(number(m, "a"), CST_PI / 6, 1e-15);
    expect_near(number(m, "b"), 2 * CST_PI, 1e-16);
    expect_int(cst_model_number_count(m), 4); /* the point is made of them */
    const cst_leaf *L = &m->leaf.at[cst_model_number_find(m, "L")];
    expect_true(L->parameter && L->lo == 1 && L->hi == 4 && L->where.line == 3 &&
                L->where.col == 14);
    cst_model_free(m);
}

static void literals_beside_names_are_numbers(void **state)
{
    (void)state;
    cst_model *m = parse("parameters: {k: 3, c: 2*k^2 + 0.5 mm}\n"
                         "points: {A: [k, c, 7], B: 'A + [0, 0, 1]'}\n"
                         "measures: {y: 3*A.x + t^2/4, z: 5, u: [t, 6, 2*t]}\n"
                         "objectives: {psi: '9*integral(y^2) + peak(y, 8) + at(y, 0.25)'}\n");
    static const struct {
        const char *name;
        double value;
    } want[] = {
        {"k", 3},    {"c[1]", 2}, {"c[2]", 5e-4}, {"A.z", 7},    {"B[3]", 1},   {"y[1]", 3},
        {"y[2]", 4}, {"z", 5},    {"u.y", 6},     {"u.z[1]", 2}, {"psi[1]", 9}, {"psi[2]", 0.25},
    };
    int n = (int)(sizeof want / sizeof *want);
    for (int i = 0; i < n; i++) expect_near(number(m, want[i].name), want[i].value, 1e-16);
    expect_int(cst_model_number_count(m),
               n + 2); /* and B[1], B[2]; exponents and the order of a norm are structure */
    cst_model_free(m);
}

static void element_numbers(void **state)
{
    (void)state;
    cst_model *m =
        parse("gravity: [0, -9.81, 0]\n"
              "points: {A: [0, 0, 0], B: [1, 0, 0]}\n"
              "bodies:\n"
              "  rod: {type: bar, from: A, to: B, mass: 2, velocity: [0, 3, 0], points: {Q: [0.1, "
              "0.2, 0.3]}}\n"
              "joints: {hinge: {type: revolute, between: [ground, rod], at: A, axis: -y}}\n"
              "forces:\n"
              "  s1: {type: spring, from: ground.B, to: rod.Q, stiffness: {value: 4, unit: N/mm}, "
              "free_length: 1}\n"
              "  s2: {type: spring, from: ground.B, to: rod.Q, force: 3*s + 0.1*v^3}\n"
              "  b: {type: bushing, between: [ground, rod], at: B, stiffness: [1, 2, 3]}\n"
              "tables: {T: {x: [0, 1, 2], y: [4, 5, 6]}}\n"
              "measures: {m: T(t)}\n");
    static const struct {
        const char *name;
        double value;
        const char *unit;
    } want[] = {
        {"gravity.y", -9.81, "m/s^2"}, {"rod.mass", 2, "kg"},        {"rod.velocity.y", 3, "m/s"},
        {"rod.Q.z", 0.3, "m"},         {"hinge.axis.x", 0, "1"},     {"hinge.axis.y", -1, "1"},
        {"s1.stiffness", 4000, "N/m"}, {"s1.free_length", 1, "m"},   {"s2.force[1]", 3, "1"},
        {"s2.force[2]", 0.1, "1"},     {"b.stiffness[3]", 3, "N/m"}, {"T.y[2]", 5, "1"},
    };
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        expect_near(number(m, want[i].name), want[i].value, 1e-15);
        expect_text(cst_model_number_unit(m, cst_model_number_find(m, want[i].name)), want[i].unit);
    }
    expect_int(m->leaf.at[cst_model_number_find(m, "T.y[1]")].count, 3);
    expect_int(cst_model_number_find(m, "rod.density"), -1);
    cst_model_free(m);
}

/* ---- any order ---- */

static void order_does_not_matter(void **state)
{
    (void)state;
    cst_model *m = parse("measures: {speed: rate(d.x), d: {type: displacement, of: rod.B}}\n"
                         "forces: {f: {type: force, on: rod.B, force: [-c*speed, 0, 0]}}\n"
                         "joints: {h: {type: revolute, between: [ground, rod], at: A, axis: z}}\n"
                         "bodies: {rod: {type: bar, from: A, to: B, mass: m2}}\n"
                         "parameters: {c: 2*m2 + B.x, m2: 3*q, q: A.y + 1}\n"
                         "points: {B: [2*A.y + 4, 0, 0], A: [0, 1, 0]}\n");
    expect_near(nominal(m, m->body.at[0].m), 6, 1e-15);
    expect_int(m->force.n, 1);
    expect_text(m->component.at[0].name, "speed"); /* listed as written */
    expect_text(m->component.at[1].name, "d.x");
    expect_int(cst_model_measure_count(m), 4);
    cst_model_free(m);
}

static void long_chains(void **state)
{
    (void)state;
    enum { N = 20000 };
    char *text = malloc(40 * N), *at = text + sprintf(text, "parameters:\n  a0: 1\n");
    for (int i = 1; i < N; i++) at += sprintf(at, "  a%d: a%d + 1\n", i, i - 1);
    cst_model *m = parse(text);
    cst_model_free(m);
    at = text + sprintf(text, "parameters:\n");
    for (int i = N - 1; i > 0; i--) at += sprintf(at, "  a%d: a%d + 1\n", i, i - 1);
    sprintf(at, "  a0: 1\n");
    expect_null(parse_set(text, 0, NULL)); /* backwards it would need the stack */
    expect_contains(diag.text, "define it before it is used");
    expect_int(diag.errors, 1);
    free(text);
}

/* ---- slots ---- */

/* A marker at the drawn coordinates:  m = o + sum_k w_k b_k */
static void marker(const cst_model *m, const values *v, int slot, double x[3])
{
    const cst_slot *s = &m->slot.at[slot];
    for (int c = 0; c < 3; c++) {
        x[c] = s->body == CST_GROUND ? v->P[s->o + c] : 0;
        for (int k = 0; s->body != CST_GROUND && k < s->n; k++)
            x[c] += v->P[s->w + k] * v->P[m->body.at[s->body].drawn + 3 * (s->vec + k) + c];
    }
}

static void drawn_joints_close_for_all_numbers(void **state)
{
    (void)state;
    cst_model *m = parse(
        "parameters: {L: 2}\n"
        "points: {A: [0, 0.3, 1], B: [L, 0, 0.2], C: 'B + [0, L/2, 1]', D: [0, 1, 2]}\n"
        "bodies:\n"
        "  a: {type: bar, from: A, to: B, mass: 1}\n"
        "  b: {type: rigid, mass: 1, inertia: [1, 1, 1], position: [1, 2, 3],\n"
        "      orientation: {x: [1, 2, 0.3], z: {from: A, to: D}}, points: {P: [0.2, 0.3, 0.4]}}\n"
        "  c: {type: point, mass: 1, position: C}\n"
        "joints:\n"
        "  i: {type: spherical, between: [ground, a], at: A}\n"
        "  j: {type: revolute, between: [a, b], at: B, axis: {from: B, to: C}}\n"
        "  k: {type: spherical, between: [b, c], at: C}\n"
        "  l: {type: spherical, between: [a, b], at: b.P}\n");
    for (int sample = 0; sample < 20; sample++) {
        values v = evaluate(m, sample == 0 ? 0 : 0.2);
        for (int j = 0; j < m->joint.n; j++) {
            double a[3], b[3];
            marker(m, &v, m->joint.at[j].at[0], a);
            marker(m, &v, m->joint.at[j].at[1], b);
            for (int c = 0; c < 3; c++) expect_near(a[c], b[c], 1e-14);
        }
        values_free(v);
    }
    cst_model_free(m);
}

static void slots_are_shared(void **state)
{
    (void)state;
    cst_model *m =
        parse("points: {A: [0, 0, 0], B: [1, 0, 0]}\n"
              "bodies: {r: {type: bar, from: A, to: B, mass: 1}}\n"
              "forces:\n"
              "  s: {type: spring, from: ground.A, to: r.B, stiffness: 1, free_length: 1}\n"
              "  u: {type: spring, from: ground.A, to: r.B, stiffness: 2, free_length: 1}\n"
              "measures: {p: {type: position, of: r.B}}\n");
    expect_int(m->slot.n, 2);
    expect_int(m->force.at[0].slot[1], m->force.at[1].slot[1]);
    expect_int(m->nx, 6);
    cst_model_free(m);
}

/* ---- overrides ---- */

static void overrides(void **state)
{
    (void)state;
    static const char text[] = "parameters: {k: {value: 20, unit: mm}, c: 2*k + 3, d: c}\n"
                               "points: {A: [d, 2, 3], B: [1, k, 1]}\n"
                               "bodies: {r: {type: bar, from: A, to: B, mass: k}}\n";
    static const char *const set[] = {"k=30", "c[2]=7", "A.z=9", "r.mass=2*k", "d=c*c", "k=40"};
    cst_model *m = parse_set(text, 6, set);
    if (!m) fail_msg("%s", diag.text);
    expect_near(number(m, "k"), 0.04, 1e-16); /* the last one counts, in the unit of the file */
    expect_near(number(m, "c[2]"), 7, 0);
    expect_near(number(m, "A.z"), 9, 0);
    expect_near(nominal(m, m->body.at[0].m), 0.08, 1e-16);
    cst_model_free(m);
    static const char *const wrong[] = {"r.mas=1", "k", "zzz=1", "A.x=1+", "B.z=nan"};
    expect_null(parse_set(text, 5, wrong));
    expect_contains(diag.text, "--set: error: 'k' is not NAME=VALUE\n");
    expect_contains(diag.text, "--set: error: the model has no number 'zzz'\n");
    expect_contains(diag.text, "--set: error: unknown name 'nan'; did you mean 'tan'?\n");
    expect_contains(diag.text, "--set: error: a value is missing at the end\n");
    expect_contains(diag.text, "--set: error: the model has no number 'r.mas'");
    expect_int(diag.errors, 5);
}

/* Whatever a number is part of, a value that is none is an error, and told once. */
static void wrong_values_are_told(void **state)
{
    (void)state;
    static const char text[] =
        "parameters: {w: 3, c: 2*w}\n"
        "gravity: [0, 0, 2 - c]\n"
        "points: {A: [w, 2, 3], B: [1, 4 + w, 1], C: 2*A}\n"
        "tables: {T: {x: [0, 1], y: [2, 1]}}\n"
        "bodies: {r: {type: bar, from: A, to: B, mass: w + 1}, q: {type: scalar, inertia: 2}}\n"
        "forces: {s: {type: spring, from: ground.C, to: r.B, stiffness: T(0.5), free_length: 1}}\n"
        "measures: {p: {type: position, of: r.B}, z: {type: coordinate, of: q}, y: 2*p.x}\n"
        "initial: {positions: {z: w - 2}, velocities: {z: w - 0.5, p.y: 2*p.x - 3}}\n"
        "objectives: {e: end(y)*3}\n";
    static const char *const wrong[] = {"foo", "1 1", "1/0", "(2"};
    cst_model *m = parse(text);
    for (int i = 0; i < m->leaf.n; i++)
        for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
            char set[100];
            snprintf(set, sizeof set, "%s=%s", m->leaf.at[i].name, wrong[k]);
            if (parse_set(text, 1, &(const char *){set}) || diag.errors != 1)
                fail_msg("%s: %d errors: %s", set, diag.errors, diag.text);
        }
    cst_model_free(m);
}

/* A number has a unit in the file: a value without one is in it, a value with one in its own,
 * arithmetic with units too. */
static void overrides_with_units(void **state)
{
    (void)state;
    static const char text[] =
        "parameters: {k: {value: 20, unit: N/mm, range: [0, 100]}, w: {value: 3, unit: lb}}\n"
        "points: {A: [0, 0, 0], B: [1, 2, 1]}\n"
        "bodies: {r: {type: bar, from: A, to: B, mass: w, radius: {value: 9, unit: mm}}}\n"
        "forces: {s: {type: spring, from: ground.A, to: r.B, stiffness: k}}\n";
    static const struct {
        const char *set, *name;
        double si;
    } way[] = {{"k=30", "k", 3e4},
               {"k=30 kN/m", "k", 3e4},
               {"k=2*15 kN/m", "k", 3e4},
               {"k=2*15", "k", 3e4},
               {"r.radius=7", "r.radius", 7e-3},
               {"r.radius=0.7 cm", "r.radius", 7e-3},
               {"B.x=10 mm", "B.x", 0.01}};
    for (size_t i = 0; i < sizeof way / sizeof *way; i++) {
        cst_model *m = parse_set(text, 1, &way[i].set);
        if (!m) fail_msg("%s", diag.text);
        expect_near(number(m, way[i].name), way[i].si, 1e-15);
        expect_text(cst_model_number_unit(m, cst_model_number_find(m, "w")),
                    "kg"); /* what is shown is SI */
        cst_model_free(m);
    }
    expect_null(parse_set(text, 1, &(const char *){"k=3e4"}));
    expect_contains(diag.text, "--set: error: k must be in [0, 100] N/mm, not 30000\n");
    expect_null(parse_set("parameters: {k: {value: 2*3 kN/m, unit: N/mm}}\n", 0, NULL));
    expect_contains(diag.text, "'2*3 kN/m' has a unit of its own: leave out 'unit: N/mm'");
}

static void unused_parameters(void **state)
{
    (void)state;
    cst_model *m = parse("parameters: {k: 1, unused: 2, used: 3*k}\npoints: {A: [used, 0, 0]}\n");
    expect_text(diag.text, "m.yaml:2:20: warning: parameter 'unused' is never used\n");
    expect_int(diag.warnings, 1);
    cst_model_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_without_names_are_one_number),
        cmocka_unit_test(literals_beside_names_are_numbers),
        cmocka_unit_test(element_numbers),
        cmocka_unit_test(order_does_not_matter),
        cmocka_unit_test(long_chains),
        cmocka_unit_test(drawn_joints_close_for_all_numbers),
        cmocka_unit_test(slots_are_shared),
        cmocka_unit_test(overrides),
        cmocka_unit_test(wrong_values_are_told),
        cmocka_unit_test(overrides_with_units),
        cmocka_unit_test(unused_parameters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
