/* SPDX-License-Identifier: MIT
 *
 * Types of the model file: their tables of fields, the inertias of bodies and the freedoms of
 * joints. */
#include "model/geometry.h"
#include "model_scene.h"
#include "number/parse.h"

#include <stdio.h>

/* ---- the table ---- */

static int is_word(const char *s, const char *more)
{
    for (const char *c = s; *c; c++)
        if (!(*c >= 'a' && *c <= 'z') && !(*c >= '0' && *c <= '9') && strchr(more, *c) == NULL)
            return 0;
    return s[0] != 0;
}

static int has_word(const char *list, const char *word)
{
    size_t n = strlen(word);
    for (const char *c = list; c != NULL; c = strchr(c, '|')) {
        if (*c == '|') c++;
        if (strncmp(c, word, n) == 0 && (c[n] == '|' || c[n] == 0)) return 1;
    }
    return 0;
}

static void check_field(const cst_type *t, const cst_field *f)
{
    double factor, value;
    if (!is_word(f->name, "_") || f->doc == NULL || strlen(f->doc) < 1 ||
        strchr(f->doc, '\n') != NULL)
        fail_msg("%s %s: field %s is not documented", t->section, t->keyword, f->name);
    for (const cst_field *e = t->field; e != f; e++) expect_true(strcmp(e->name, f->name) != 0);
    expect_true(strcmp(f->name, "type") != 0);
    expect_true(f->lo < f->hi);
    if (f->kind == CST_F_CHOICE) {
        expect_true(f->dflt == NULL || f->dflt[0] == 0 || has_word(f->unit, f->dflt));
        return;
    }
    if (f->unit != CST_BY_CONTEXT && strcmp(f->unit, "1") != 0 &&
        (!cst_unit_factor(f->unit, &factor) || factor != 1))
        fail_msg("%s %s: %s has the unit %s", t->section, t->keyword, f->name, f->unit);
    if ((f->kind == CST_F_NUMBER || f->kind == CST_F_NUMBERS) && f->dflt != NULL && f->dflt[0] &&
        f->dflt[0] != '[') {
        expect_true(cst_parse_plain(f->dflt, &value));
        expect_true(f->lo <= value && value <= f->hi);
    }
}

static void test_table(void **state)
{
    (void)state;
    int n = 0;
    for (const cst_type *t; (t = cst_type_at(n)) != NULL; n++) {
        expect_true(has_word("roads|bodies|joints|forces|blocks|measures", t->section));
        expect_true(is_word(t->keyword, "-"));
        expect_true(t->summary != NULL && strlen(t->summary) > 5 && t->build != NULL);
        expect_true(cst_type_find(t->section, t->keyword) == t); /* no second one of this name */
        for (const cst_field *f = t->field; f->name != NULL; f++) check_field(t, f);
    }
    expect_true(n > 40);
    expect_null(cst_type_find("bodies", "revolute"));
}

/* ---- bodies ---- */

static const char *text(const char *format, ...) __attribute__((format(printf, 1, 2)));
static const char *text(const char *format, ...)
{
    static char buffer[8192];
    va_list ap;
    va_start(ap, format);
    vsnprintf(buffer, sizeof buffer, format, ap);
    va_end(ap);
    return buffer;
}

static void fill(expect_random *r, int n, double low, double high, double *x)
{
    for (int i = 0; i < n; i++) x[i] = expect_uniform(r, low, high);
}

#define V3 "[%.17g, %.17g, %.17g]"
#define X3(v) (v)[0], (v)[1], (v)[2]

/* second moments of mass about the centre, along the body axes: integral x_i^2 dm */
static void expect_moments(const scene *s, double mass, const double moment[3])
{
    const double *M = s->P + s->m->body.at[0].mass;
    static const int diagonal[3] = {4, 7, 9};
    expect_near(M[0], mass, 1e-14);
    for (int i = 1; i < 4; i++) expect_near(M[i], 0, 0);
    for (int i = 0; i < 3; i++) expect_near(M[diagonal[i]], moment[i], 1e-13); /* differences */
    expect_near(M[5], 0, 0);
    expect_near(M[6], 0, 0);
    expect_near(M[8], 0, 0);
}

static void test_shapes(void **state)
{
    (void)state;
    expect_random r = {11};
    for (int k = 0; k < 20; k++) {
        double a[3], b[3], p[4], d[3], rho = expect_uniform(&r, 100, 8000);
        fill(&r, 3, -1, 1, a);
        fill(&r, 3, -1, 1, b);
        fill(&r, 4, 0.1, 2, p);
        v3_sub(b, a, d);
        double l = v3_norm(d), R = p[0] + p[1], in = p[1], m = p[2];

        scene *s = scene_new(text("bodies: {b: {type: bar, from: " V3 ", to: " V3 ", mass: %.17g}}",
                                  X3(a), X3(b), m));
        expect_moments(s, m, (double[]){m * l * l / 12, 0, 0});
        for (int i = 0; i < 3; i++) {
            expect_near(s->q[0][i], (a[i] + b[i]) / 2, 1e-15);
            expect_near(s->q[0][3 + i], d[i] / l, 1e-15);
        }
        scene_free(s);

        s = scene_new(text("bodies: {b: {type: tube, from: " V3 ", to: " V3
                           ", density: %.17g, outer_radius: %.17g, inner_radius: %.17g}}",
                           X3(a), X3(b), rho, R, in));
        double tube = rho * CST_PI * (R * R - in * in) * l, across = tube * (R * R + in * in) / 4;
        expect_moments(s, tube, (double[]){tube * l * l / 12, across, across});
        scene_free(s);

        s = scene_new(text("bodies: {b: {type: cylinder, from: " V3 ", to: " V3
                           ", mass: %.17g, radius: %.17g}}",
                           X3(a), X3(b), m, R));
        expect_moments(s, m, (double[]){m * l * l / 12, m * R * R / 4, m * R * R / 4});
        scene_free(s);

        s = scene_new(text("bodies: {b: {type: box, position: " V3 ", size: " V3
                           ", density: %.17g}}",
                           X3(a), X3(p), rho));
        m = rho * p[0] * p[1] * p[2];
        expect_moments(s, m,
                       (double[]){m * p[0] * p[0] / 12, m * p[1] * p[1] / 12,
                                  m * p[2] * p[2] / 12});
        scene_free(s);

        s = scene_new(text("bodies: {b: {type: sphere, position: " V3
                           ", radius: %.17g, density: %.17g}}",
                           X3(a), R, rho));
        m = rho * 4 * CST_PI / 3 * R * R * R;
        expect_moments(s, m, (double[]){m * R * R / 5, m * R * R / 5, m * R * R / 5});
        scene_free(s);
    }
}

/* A cloud of masses, its inertia given about com or origin, in body or ground axes: always the same
 * mass matrix. */
static void test_rigid(void **state)
{
    (void)state;
    enum { N = 6 };
    static const int row[6] = {0, 1, 2, 0, 0, 1}, col[6] = {0, 1, 2, 1, 2, 2};
    expect_random r = {12};
    for (int k = 0; k < 40; k++) {
        int about = k % 5, in_ground = k / 5 & 1, local_com = k / 10 & 1;
        double m[N], x[N][3], q[4], E[9], o[3], c[3] = {0}, mass = 0, local[3] = {0}, I[6] = {0},
                                                M[10] = {0};
        fill(&r, N, 0.1, 1, m);
        fill(&r, 4, -1, 1, q);
        fill(&r, 3, -1, 1, o);
        cst_vop_frame_quaternion.eval(4, q, 9, E);
        for (int i = 0; i < N; i++) {
            fill(&r, 3, -1, 1, x[i]); /* body axes */
            double h[4] = {1, x[i][0], x[i][1], x[i][2]};
            mass += m[i];
            for (int j = 0; j < 3; j++) local[j] += m[i] * x[i][j];
            for (int a = 0, n = 0; a < 4; a++)
                for (int b = a; b < 4; b++, n++) M[n] += m[i] * h[a] * h[b];
        }
        for (int j = 0; j < 3; j++) local[j] /= mass;
        for (int j = 0; j < 3; j++)
            c[j] = o[j] + E[j] * local[0] + E[3 + j] * local[1] + E[6 + j] * local[2];
        double at[3], world[3]; /* a place that is neither */
        fill(&r, 3, -1, 1, at);
        for (int j = 0; j < 3; j++)
            world[j] = o[j] + E[j] * at[0] + E[3 + j] * at[1] + E[6 + j] * at[2];
        char triple[2][120];
        snprintf(triple[0], sizeof triple[0], V3, X3(world));
        snprintf(triple[1], sizeof triple[1], "{local: " V3 "}", X3(at));
        const char *place_of[5] = {"com", "origin", "P", triple[0], triple[1]};
        for (int i = 0; i < N; i++) {
            double d[3], y[3];
            for (int j = 0; j < 3; j++)
                d[j] = x[i][j] - (about == 0 ? local[j] : about == 1 ? 0 : at[j]);
            for (int j = 0; j < 3; j++)
                y[j] = in_ground ? E[j] * d[0] + E[3 + j] * d[1] + E[6 + j] * d[2] : d[j];
            for (int n = 0; n < 6; n++)
                I[n] += m[i] * ((n < 3 ? v3_dot(y, y) : 0) - y[row[n]] * y[col[n]]);
        }
        const double *place = local_com ? local : c;
        scene *s = scene_new(text("points: {P: " V3 "}\n"
                                  "bodies: {b: {type: rigid, mass: %.17g, inertia: [%.17g, %.17g, "
                                  "%.17g, %.17g, %.17g, %.17g], com: %s" V3
                                  "%s, inertia_about: %s, inertia_frame: %s, position: " V3
                                  ", orientation: {quaternion: [%.17g, %.17g, %.17g, %.17g]}}}",
                                  X3(world), mass, I[0], I[1], I[2], I[3], I[4], I[5],
                                  local_com ? "{local: " : "", X3(place), local_com ? "}" : "",
                                  place_of[about], in_ground ? "ground" : "body", X3(o), q[0], q[1],
                                  q[2], q[3]));
        for (int n = 0; n < 10; n++) expect_near(s->P[s->m->body.at[0].mass + n], M[n], 1e-13);
        scene_free(s);
    }
}

/* ---- mirrored parts ---- */

/* A part and its mirror image: mass matrices, drawn places, rates, and a torque with a sense of
 * rotation. */
static void test_mirror(void **state)
{
    (void)state;
    scene *s = scene_new("parts:\n"
                         "  l: &arm\n"
                         "    model:\n"
                         "      bodies:\n"
                         "        b: {type: rigid, mass: 2, com: [0.3, 0.2, 0.1], position: [0.1, "
                         "0.5, 0.2], velocity: [1, 2, 3],\n"
                         "            inertia: [2, 2.5, 3, 0.1, 0.2, 0.3], orientation: "
                         "{quaternion: [0.1, 0.2, 0.3, 0.4]},\n"
                         "            angular_velocity: [1, 2, 3]}\n"
                         "      forces:\n"
                         "        t: {type: torsion, between: [ground, b], axis: [1, 2, 3], "
                         "stiffness: 7, free_angle: 0.3}\n"
                         "        w: {type: torque, on: b, axis: [3, 1, 2], magnitude: 5}\n"
                         "      measures: {M: {type: force, of: t}, W: {type: force, of: w}}\n"
                         "  r: {<<: *arm, mirror: y}\n");
    static const double sign[4] = {1, 1, -1, 1};
    const cst_body *l = &s->m->body.at[0], *r = &s->m->body.at[1];
    for (int i = 0, n = 0; i < 4; i++)
        for (int j = i; j < 4; j++, n++)
            expect_near(s->P[r->mass + n], sign[i] * sign[j] * s->P[l->mass + n], 1e-15);
    scene_forces(s);
    double Ml[3], Mr[3], Wl[3], Wr[3];
    scene_measure3(s, "l.M.torque", Ml);
    scene_measure3(s, "r.M.torque", Mr);
    scene_measure3(s, "l.W.torque", Wl);
    scene_measure3(s, "r.W.torque", Wr);
    for (int i = 0; i < 3; i++) {
        expect_near(s->q[0][12 + i], sign[1 + i] * s->q[0][i], 1e-15);
        expect_near(s->q[1][12 + i], sign[1 + i] * s->q[1][i], 1e-15);
        expect_near(s->P[r->rate + 3 + i], -sign[1 + i] * s->P[l->rate + 3 + i], 1e-15);
        expect_near(Mr[i], -sign[1 + i] * Ml[i], 1e-13);
        expect_near(Wr[i], -sign[1 + i] * Wl[i], 1e-13);
    }
    expect_near(v3_norm(Ml), 2.1, 1e-13);
    scene_free(s);
}

/* ---- what is refused ---- */

typedef struct refusal {
    const char *text, *message;
} refusal;

static const refusal refusals[] = {
    {"bodies: {b: {type: bar, from: [0, 0, 0], to: [0, 0, 0], mass: 1}}", "same point"},
    {"bodies: {b: {type: bar, from: [0, 0, 0], to: [1, 0, 0]}}", "either mass or density"},
    {"bodies: {b: {type: bar, from: [0, 0, 0], to: [1, 0, 0], density: 1}}", "needs a radius"},
    {"bodies: {b: {type: box, position: [0, 0, 0], size: [1, 1], mass: 1}}", "3 numbers, not 2"},
    {"bodies: {b: {type: rigid, mass: 1, inertia: [1, 1, 1, 0]}}", "3 or 6 numbers, not 4"},
    {"bodies: {b: {type: tube, mass: 1, from: [0, 0, 0], to: [1, 0, 0], outer_radius: 1, "
     "inner_radius: 2}}",
     "larger than outer_radius"},
    {"joints: {j: {type: revolute, between: [b, b], at: [0, 0, 0], axis: z}}", "the same"},
    {"joints: {j: {type: revolute, between: [b, p], at: [0, 0, 0], axis: z}}", "no orientation"},
    {"joints: {j: {type: spherical, between: [b, z], at: [0, 0, 0]}}", "no points"},
    {"joints: {j: {type: distance, from: b.P, to: P}}", "must say on which body"},
    {"joints: {j: {type: distance, from: b.P, to: ground.P}}", "same place"},
    {"joints: {j: {type: universal, between: [ground, b], at: P, axis_1: x, axis_2: -x}}",
     "parallel"},
    {"joints: {j: {type: dot, between: [ground, b], axis_1: x, axis_2: x}}", "parallel"},
    {"forces: {f: {type: spring, from: b.P, to: ground.P}}", "stiffness is missing"},
    {"forces: {f: {type: spring, from: b.P, to: b.origin, stiffness: 1}}", "same body"},
    {"forces: {f: {type: spring, from: b.P, to: ground.P, stiffness: 1, force: s}}",
     "either force or"},
    {"forces: {f: {type: torsion, between: [ground, b], axis: z}}", "either stiffness"},
    {"forces: {f: {type: bushing, between: [ground, b], at: P, stiffness: [1, 2]}}",
     "1 or 3 numbers"},
    {"forces: {f: {type: force, on: ground.P, force: [1, 2, 3]}}", "moves nothing"},
    {"forces: {f: {type: force, on: b.P}}", "components or a magnitude"},
    {"forces: {f: {type: force, on: b.P, force: [1, 2, 3], magnitude: 2}}",
     "components or a magnitude"},
    {"forces: {f: {type: torque, on: b, torque: [1, 2, 3], against: b}}", "another body"},
    {"forces: {f: {type: torque, on: p, torque: [1, 2, 3]}}", "no orientation"},
    {"forces: {f: {type: stop, from: b.P, to: ground.P, stiffness: 1}}", "lower, upper or both"},
    {"forces: {f: {type: stop, from: b.P, lower: 0, stiffness: 1}}", "either from and to, or of"},
    {"measures: {m: {type: coordinate, of: b}}", "type scalar"},
    {"measures: {m: {type: reaction, of: j}}", "unknown joint"},
    {"measures: {m: {type: angular-velocity, of: p}}", "no orientation"},
};

static void test_refusals(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        cst_diag d = {0};
        const refusal *f = &refusals[i];
        const char *whole =
            text("costate: 1\npoints: {P: [0.1, 0.2, 0.3]}\n%s%s\n",
                 strncmp(f->text, "bodies", 6) == 0
                     ? ""
                     : "bodies:\n  b: {type: box, position: P, size: [1, 1, 1], mass: 1}\n"
                       "  p: {type: point, position: P, mass: 1}\n  z: {type: scalar}\n",
                 f->text);
        cst_model *m = cst_model_parse("bad.yaml", whole, strlen(whole), 0, NULL, &d);
        expect_null(m);
        expect_contains(d.text, f->message);
        expect_contains(d.text, "bad.yaml:");
        if (d.errors != 1) fail_msg("one cause, one message:\n%s", d.text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),    cmocka_unit_test(test_shapes),
        cmocka_unit_test(test_rigid),    cmocka_unit_test(test_mirror),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
