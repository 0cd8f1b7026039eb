/* SPDX-License-Identifier: MIT
 *
 * Parts: names, scopes, numbers of their own; a mirrored part is the model that is mirrored by
 * hand. */
#include "expect.h"
#include "model/model.h"

#include <stdio.h>
#include <stdlib.h>

static cst_diag diag;

static cst_model *parse(const char *text)
{
    char *whole = malloc(strlen(text) + 32);
    sprintf(whole, "costate: 1\n%s", text);
    diag = (cst_diag){0};
    cst_model *m = cst_model_parse("m.yaml", whole, strlen(whole), 0, NULL, &diag);
    free(whole);
    if (!m) fail_msg("%s", diag.text);
    return m;
}

/* All values at the nominal numbers */
static double *evaluate(const cst_model *m)
{
    int n = cst_graph_leaves(m->graph);
    double *leaf = calloc((size_t)n + 1, sizeof *leaf);
    double *val = calloc((size_t)cst_graph_values(m->graph) + 1, sizeof *val);
    for (int i = 0; i < n; i++) leaf[i] = cst_leaf_nominal(m->graph, i);
    cst_graph_eval(m->graph, leaf, val);
    free(leaf);
    return val;
}

static void expect_same_model(const cst_model *a, const cst_model *b)
{
    expect_int(a->bound.n, b->bound.n);
    expect_int(a->slot.n, b->slot.n);
    expect_int(a->nrow, b->nrow);
    expect_int(a->force.n, b->force.n);
    double *va = evaluate(a), *vb = evaluate(b);
    for (int i = 0; i < a->bound.n; i++) expect_near(va[a->bound.at[i]], vb[b->bound.at[i]], 1e-14);
    for (int i = 0; i < a->slot.n; i++) {
        expect_int(a->slot.at[i].body, b->slot.at[i].body);
        expect_int(a->slot.at[i].w, b->slot.at[i].w);
        expect_int(a->slot.at[i].o, b->slot.at[i].o);
    }
    free(va), free(vb);
}

/* One side of an axle, with everything that has a place or a direction. The format's numbers are
 *   %1 sign of y, %2 y of the shift, %3 sign of axial x and z, %4 sign of axial y */
static const char chassis[] =
    "points: {O: [0, 0, 0]}\n"
    "bodies: {box: {type: rigid, mass: 9, inertia: [3, 3, 3], position: O}}\n";

static void side(char *text, size_t size, const char *prefix, double s, double dy)
{
    double a = s; /* axial vectors: x and z change sign, y does not */
    char P[3][80];
    static const double p[3][3] = {{0.3, 0.7, 0.2}, {0.4, 1.1, 0.1}, {0.1, 0.9, 0.6}};
    for (int i = 0; i < 3; i++)
        snprintf(P[i], sizeof P[i], "[%.17g, %.17g, %.17g]", p[i][0], s * p[i][1] + dy, p[i][2]);
    snprintf(
        text, size,
        "points: {O: [0, 0, 0], %sA: %s, %sB: %s, %sC: %s}\n"
        "bodies:\n"
        "  box: {type: rigid, mass: 9, inertia: [3, 3, 3], position: O}\n"
        "  %sarm: {type: rigid, mass: 2, inertia: [1, 1.1, 1.2, %g, 0.02, %g], position: %sA, com: "
        "%sB,\n"
        "    orientation: {matrix: [[0.8, %g, 0], [%g, 0.8, 0], [0, 0, 1]]},\n"
        "    velocity: [1, %g, 3], angular_velocity: [%g, 5, %g], points: {Q: [0.1, %g, 0.3]}}\n"
        "joints:\n"
        "  %sj: {type: revolute, between: [box, %sarm], at: %sA, axis: [1, %g, 3]}\n"
        "forces:\n"
        "  %ss: {type: spring, from: box.%sC, to: %sarm.Q, stiffness: 7, free_length: 0.5}\n",
        prefix, P[0], prefix, P[1], prefix, P[2], prefix, s * 0.01, s * 0.03, prefix, prefix,
        s * -0.6, s * 0.6, s * 2, a * 4, a * 6, s * 0.2, prefix, prefix, prefix, s * 2, prefix,
        prefix, prefix);
}

static void part(char *text, size_t size, const char *options)
{
    snprintf(text, size,
             "%sparts:\n  l:\n    prefix: l_\n%s    model:\n"
             "      parameters: {mass: 2}\n"
             "      points: {A: [0.3, 0.7, 0.2], B: 'A + [0.1, 0.4, -0.1]', C: [0.1, 0.9, 3*A.z]}\n"
             "      bodies:\n"
             "        arm: {type: rigid, mass: mass, inertia: [1, 1.1, 1.2, 0.01, 0.02, 0.03], "
             "position: A, com: B,\n"
             "          orientation: {matrix: [[0.8, -0.6, 0], [0.6, 0.8, 0], [0, 0, 1]]},\n"
             "          velocity: [1, 2, 3], angular_velocity: [4, 5, 6], points: {Q: [0.1, 0.2, "
             "0.3]}}\n"
             "      joints:\n"
             "        j: {type: revolute, between: [box, arm], at: A, axis: [1, 2, 3]}\n"
             "      forces:\n"
             "        s: {type: spring, from: box.C, to: arm.Q, stiffness: 7, free_length: 0.5}\n",
             chassis, options);
}

static void compare(const char *options, double s, double dy)
{
    char a[8192], b[8192];
    part(a, sizeof a, options);
    side(b, sizeof b, "l_", s, dy);
    cst_model *m = parse(a), *hand = parse(b);
    expect_same_model(m, hand);
    cst_model_free(m);
    cst_model_free(hand);
}

static void a_part_is_the_model_written_out(void **state)
{
    (void)state;
    compare("", 1, 0);
    compare("    shift: [0, 0.25, 0]\n", 1, 0.25);
}

static void a_mirrored_part_is_mirrored_by_hand(void **state)
{
    (void)state;
    compare("    mirror: y\n", -1, 0);
    compare("    mirror: y\n    shift: [0, 0.25, 0]\n", -1, 0.25);
}

/* mirror: y of mirror: y is nothing; shifts add up as S shift_inner + shift_outer */
static void mirrors_cancel(void **state)
{
    (void)state;
    static const char inner[] =
        "{model: {points: {A: [1, 2, 3], B: 'A + [0, 1, 0]'}, bodies: {b: {type: bar, from: A, to: "
        "B, mass: 1, angular_velocity: [1, 2, 3]}}}, mirror: y, shift: [0, 0.5, 0]}";
    char text[2000];
    snprintf(text, sizeof text,
             "parts: {o: {model: {parts: {i: %s}}, mirror: y, shift: [1, 0, 0]}}\n", inner);
    cst_model *m = parse(text);
    cst_model *flat =
        parse("points: {A: [2, 1.5, 3], B: [2, 2.5, 3]}\n"
              "bodies: {b: {type: bar, from: A, to: B, mass: 1, angular_velocity: [1, 2, 3]}}\n");
    expect_text(m->body.at[0].name, "o.i.b");
    expect_same_model(m, flat);
    expect_near(cst_model_number_value(m, cst_model_number_find(m, "o.i.A.y")), 2,
                0); /* as written */
    cst_model_free(m);
    cst_model_free(flat);
}

static double value_of(const cst_model *m, cst_id id)
{
    double *v = evaluate(m), x = v[id];
    free(v);
    return x;
}

/* Names inside come first, then those outside; each instance has its own numbers; overrides speak
 * the outer language. */
static void scopes(void **state)
{
    (void)state;
    cst_model *m =
        parse("parameters: {k: 10, outer: 5}\n"
              "points: {G: [1, 2, 3]}\n"
              "parts:\n"
              "  a: &a {model: &p {parameters: {k: 2, q: k + outer, u: {value: 1, unit: mm}},\n"
              "         points: {P: [k, q, u], H: [G.x, G.y, G.z]},\n"
              "         bodies: {m: {type: point, mass: q, position: P}, n: {type: point, mass: 1, "
              "position: H}}},\n"
              "         mirror: y, shift: [0, 1, 0]}\n"
              "  b: {model: *p, parameters: {k: 3*k, u: 7}, mirror: y, shift: [0, 1, 0]}\n"
              "  c: {model: *p, parameters: {u: outer}}\n"
              "measures: {x: 'a.P.y + b.P.z'}\n");
    static const double mass[] = {7, 35, 7}, z[] = {1e-3, 7e-3, 5}, y[] = {1 - 7, 1 - 35, 7};
    for (int i = 0; i < 3; i++) {
        const cst_body *b = &m->body.at[2 * i];
        expect_near(value_of(m, b->m), mass[i], 1e-15);
        expect_near(value_of(m, b->frame[1]), y[i], 1e-15);
        expect_near(value_of(m, b->frame[2]), z[i], 1e-15);
        for (int c = 0; c < 3; c++) /* an outer point stays where it is, whatever the part does */
            expect_near(value_of(m, m->body.at[2 * i + 1].frame[c]), 1 + c, 1e-15);
    }
    expect_near(value_of(m, m->component.at[0].value), -6 + 7e-3, 1e-15);
    expect_near(cst_model_number_value(m, cst_model_number_find(m, "a.k")), 2, 0);
    expect_near(cst_model_number_value(m, cst_model_number_find(m, "b.k[1]")), 3, 0);
    expect_near(cst_model_number_value(m, cst_model_number_find(m, "b.u")), 7e-3, 1e-18);
    expect_int(cst_model_number_find(m, "b.k"), -1);
    cst_model_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_part_is_the_model_written_out),
        cmocka_unit_test(a_mirrored_part_is_mirrored_by_hand),
        cmocka_unit_test(mirrors_cancel),
        cmocka_unit_test(scopes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
