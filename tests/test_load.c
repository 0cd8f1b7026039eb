/* SPDX-License-Identifier: MIT
 *
 * Model files become models: numbers and their names, resolution in any order, slots, tapes, functionals, files. */
#include "expect.h"
#include "model/model.h"
#include "model/yaml.h"
#include "number/tape.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* ---- loading texts ---- */

static cst_diag diag;

static cst_model *parse_set(const char *text, int nset, const char *const *set)
{
    char *whole = malloc(strlen(text) + 32);
    sprintf(whole, "costate: 1\n%s", text);
    diag = (cst_diag){0};
    cst_model *m = cst_model_parse("m.yaml", whole, strlen(whole), nset, set, &diag);
    expect_true((m == NULL) == (diag.errors > 0));
    free(whole);
    return m;
}

static cst_model *parse(const char *text)
{
    cst_model *m = parse_set(text, 0, NULL);
    if (!m) fail_msg("%s", diag.text);
    return m;
}

static double number(const cst_model *m, const char *name)
{
    int i = cst_model_number_find(m, name);
    if (i < 0) fail_msg("no number '%s'", name);
    expect_text(cst_model_number_name(m, i), name);
    return cst_model_number_value(m, i);
}

/* Values of all ids and P, at leaf values scaled by 1 + spread*random */
typedef struct values { double *leaf, *val, *P; } values;

static unsigned long long seed = 1;
static double uniform(void) /* in (-1, 1) */
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(seed >> 11) / 4503599627370496.0 - 1;
}

static values evaluate(const cst_model *m, double spread)
{
    values v;
    int n = cst_graph_leaves(m->graph);
    v.leaf = calloc((size_t)n + 1, sizeof(double));
    v.val = calloc((size_t)cst_graph_values(m->graph) + 1, sizeof(double));
    v.P = calloc((size_t)m->bound.n + 1, sizeof(double));
    for (int i = 0; i < n; i++) v.leaf[i] = cst_leaf_nominal(m->graph, i) + spread * uniform();
    cst_graph_eval(m->graph, v.leaf, v.val);
    for (int i = 0; i < m->bound.n; i++) v.P[i] = v.val[m->bound.at[i]];
    return v;
}

static void values_free(values v) { free(v.leaf), free(v.val), free(v.P); }

static double nominal(const cst_model *m, cst_id id)
{
    values v = evaluate(m, 0);
    double x = v.val[id];
    values_free(v);
    return x;
}

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
    expect_true(L->parameter && L->lo == 1 && L->hi == 4 && L->where.line == 3 && L->where.col == 14);
    cst_model_free(m);
}

static void literals_beside_names_are_numbers(void **state)
{
    (void)state;
    cst_model *m = parse("parameters: {k: 3, c: 2*k^2 + 0.5 mm}\n"
                         "points: {A: [k, c, 7], B: 'A + [0, 0, 1]'}\n"
                         "measures: {y: 3*A.x + t^2/4, z: 5, u: [t, 6, 2*t]}\n"
                         "objectives: {psi: '9*integral(y^2) + peak(y, 8) + at(y, 0.25)'}\n");
    static const struct { const char *name; double value; } want[] = {
        {"k", 3},      {"c[1]", 2},   {"c[2]", 5e-4}, {"A.z", 7},   {"B[3]", 1},   {"y[1]", 3},
        {"y[2]", 4},   {"z", 5},      {"u.y", 6},     {"u.z[1]", 2}, {"psi[1]", 9}, {"psi[2]", 0.25},
    };
    int n = (int)(sizeof want / sizeof *want);
    for (int i = 0; i < n; i++) expect_near(number(m, want[i].name), want[i].value, 1e-16);
    expect_int(cst_model_number_count(m), n + 2); /* and B[1], B[2]; exponents and the order of a norm are structure */
    cst_model_free(m);
}

static void element_numbers(void **state)
{
    (void)state;
    cst_model *m = parse("gravity: [0, -9.81, 0]\n"
                         "points: {A: [0, 0, 0], B: [1, 0, 0]}\n"
                         "bodies:\n"
                         "  rod: {type: bar, from: A, to: B, mass: 2, velocity: [0, 3, 0], points: {Q: [0.1, 0.2, 0.3]}}\n"
                         "joints: {hinge: {type: revolute, between: [ground, rod], at: A, axis: -y}}\n"
                         "forces:\n"
                         "  s1: {type: spring, from: ground.B, to: rod.Q, stiffness: {value: 4, unit: N/mm}, free_length: 1}\n"
                         "  s2: {type: spring, from: ground.B, to: rod.Q, force: 3*s + 0.1*v^3}\n"
                         "  b: {type: bushing, between: [ground, rod], at: B, stiffness: [1, 2, 3]}\n"
                         "tables: {T: {x: [0, 1, 2], y: [4, 5, 6]}}\n"
                         "measures: {m: T(t)}\n");
    static const struct { const char *name; double value; const char *unit; } want[] = {
        {"gravity.y", -9.81, "m/s^2"}, {"rod.mass", 2, "kg"},          {"rod.velocity.y", 3, "m/s"},
        {"rod.Q.z", 0.3, "m"},         {"hinge.axis.x", 0, "1"},       {"hinge.axis.y", -1, "1"},
        {"s1.stiffness", 4000, "N/m"}, {"s1.free_length", 1, "m"},     {"s2.force[1]", 3, "1"},
        {"s2.force[2]", 0.1, "1"},     {"b.stiffness[3]", 3, "N/m"},   {"T.y[2]", 5, "1"},
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
    cst_model *m = parse("parameters: {L: 2}\n"
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
    cst_model *m = parse("points: {A: [0, 0, 0], B: [1, 0, 0]}\n"
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

/* ---- tapes of coordinates ---- */

typedef struct motion { double x0[CST_MAX_NX], x1[CST_MAX_NX], x2[CST_MAX_NX]; } motion; /* x0 + x1 t + x2 t^2/2 */

static void outputs_at(const cst_constraint *c, const double *P, const motion *x, double t, double *out, double *xd)
{
    const cst_tape *k = c->tape;
    double *reg = calloc((size_t)k->nreg + 1, sizeof *reg);
    for (int i = 0; i < k->nchannel; i++) {
        int j = k->channel[i].index;
        if (k->channel[i].kind == CST_CH_TIME) reg[i] = t;
        if (k->channel[i].kind == CST_CH_X && k->channel[i].order == 0)
            reg[i] = x->x0[j] + t * (x->x1[j] + t / 2 * x->x2[j]);
        if (k->channel[i].kind == CST_CH_X && k->channel[i].order == 1) reg[i] = x->x1[j] + t * x->x2[j];
    }
    for (int i = 0; i < k->nnumber; i++) reg[k->nchannel + i] = P[c->p + i];
    cst_tape_eval(k, reg);
    for (int i = 0; i < k->nout; i++) out[i] = reg[k->out[i]];
    for (int j = 0; j < c->nx; j++) xd[j] = x->x1[j] + t * x->x2[j];
    free(reg);
}

/* phi' = phi_x x' + phi_t and phi'' = phi_x x'' + gamma along any motion, by differences in time */
static void driver_rows_have_their_rates(void **state)
{
    (void)state;
    cst_model *m = parse("parameters: {k: 1.3}\n"
                         "points: {A: [0, 0, 0], B: [1, 0.4, 0]}\n"
                         "bodies: {r: {type: bar, from: A, to: B, mass: 1}}\n"
                         "measures: {p: {type: position, of: r.B}}\n"
                         "joints: {d: {type: drive, of: norm(p)*p.x + k*sin(p.y), value: 2*sin(k*t^2)}}\n");
    const cst_constraint *c = &m->constraint.at[0];
    expect_int(m->joint.at[0].drives, 1);
    expect_int(c->nx, 3);
    expect_int(c->tape->nout, 3 + c->nx);
    values v = evaluate(m, 0);
    for (int sample = 0; sample < 10; sample++) {
        motion x;
        for (int i = 0; i < c->nx; i++) x.x0[i] = 1 + 0.5 * uniform(), x.x1[i] = uniform(), x.x2[i] = uniform();
        double t = 1 + uniform(), h = 1e-4, lo[8], at[8], hi[8], xd[3], rate = 0, second = 0;
        outputs_at(c, v.P, &x, t - h, lo, xd);
        outputs_at(c, v.P, &x, t + h, hi, xd);
        outputs_at(c, v.P, &x, t, at, xd);
        for (int i = 0; i < c->nx; i++) rate += at[1 + i] * xd[i], second += at[1 + i] * x.x2[i];
        expect_near(rate + at[1 + c->nx], (hi[0] - lo[0]) / (2 * h), 1e-6);
        expect_near(second + at[2 + c->nx], (hi[0] - 2 * at[0] + lo[0]) / (h * h), 1e-5);
    }
    values_free(v);
    cst_model_free(m);
}

static void initial_rows(void **state)
{
    (void)state;
    cst_model *m = parse("points: {A: [0, 0, 0], B: [1, 0.4, 0]}\n"
                         "bodies: {r: {type: bar, from: A, to: B, mass: 1}}\n"
                         "measures: {p: {type: position, of: r.B}, w: rate(p.x)}\n"
                         "initial:\n"
                         "  positions: {p.x: 0.5, 'p.y + p.z': 0.25}\n"
                         "  velocities: {w: 2, p.z: 3, 'p.x*rate(p.y)': 4}\n");
    expect_int(m->constraint.n, 5);
    static const char *const name[] = {"initial.positions.p.x", "initial.positions.p.y + p.z", "initial.velocities.w",
                                       "initial.velocities.p.z", "initial.velocities.p.x*rate(p.y)"};
    static const double phi_x[5][3] = {{1, 0, 0}, {0, 1, 1}, {1, 0, 0}, {0, 0, 1}, {0, 1.5, 0}}, value[] = {.5, .25, 2, 3, 4};
    values v = evaluate(m, 0);
    motion x = {.x0 = {1.5, 2.5, 3.5}, .x1 = {4.5, 5.5, 6.5}};
    const double phi[] = {1.5 - 0.5, 2.5 + 3.5 - 0.25, 4.5 - 2, 6.5 - 3, 1.5 * 5.5 - 4};
    for (int k = 0; k < 5; k++) {
        const cst_constraint *c = &m->constraint.at[k];
        double out[8], xd[3];
        expect_text(c->name, name[k]);
        expect_near(number(m, name[k]), value[k], 0);
        expect_int(c->phases, k < 2 ? CST_ROW_ASSEMBLY : CST_ROW_RATE);
        outputs_at(c, v.P, &x, 0, out, xd);
        expect_near(out[0], phi[k], 1e-15);
        for (int i = 0; i < 3; i++) expect_near(out[1 + i], phi_x[k][i], 1e-15);
        expect_near(out[4], 0, 0);
        expect_near(out[5], 0, 0);
    }
    values_free(v);
    cst_model_free(m);
}

/* ---- functionals ---- */

static double objective(const cst_model *m, int i, const double *result)
{
    cst_arena a = {0};
    if (CST_ARENA_GUARD(&a)) return NAN;
    const cst_tape *k = cst_tape_new(&a, m->graph, 1, &m->objective.at[i].value);
    double *reg = calloc((size_t)k->nreg + 1, sizeof *reg), y;
    values v = evaluate(m, 0);
    for (int c = 0; c < k->nchannel; c++) {
        expect_int(k->channel[c].kind, CST_CH_RESULT);
        reg[c] = result[k->channel[c].index];
    }
    for (int c = 0; c < k->nnumber; c++) reg[k->nchannel + c] = v.val[k->number[c]];
    cst_tape_eval(k, reg);
    y = reg[k->out[0]];
    free(reg);
    values_free(v);
    cst_arena_free(&a);
    return y;
}

static void functionals(void **state)
{
    (void)state;
    cst_model *m = parse("parameters: {k: 3}\n"
                         "measures: {y: k*t, run: integral(y)}\n"
                         "simulation: {start: 1, end: 5}\n"
                         "objectives:\n"
                         "  a: 2*integral(y) + k\n"
                         "  b: peak(y) - peak(y, 4)\n"
                         "  c: end(y) + start(y) + at(y, k)\n"
                         "  d: mean(y)\n"
                         "  e: rms(y)\n");
    static const cst_functional_kind kind[] = {CST_END, CST_PEAK, CST_PEAK, CST_END, CST_START, CST_AT, CST_END, CST_END};
    expect_int(m->functional.n, 8);
    expect_int(m->quad.n, 4);
    for (int i = 0; i < 8; i++) expect_int(m->functional.at[i].kind, kind[i]);
    expect_near(m->functional.at[1].p, 0, 0);
    expect_near(m->functional.at[2].p, 4, 0);
    expect_near(nominal(m, m->functional.at[5].time), 3, 0);
    const cst_channel *c = cst_num_channel_of(m->graph, m->functional.at[0].value);
    expect_true(c && c->kind == CST_CH_QUAD);
    double r[8];
    for (int i = 0; i < 8; i++) r[i] = 1 + i + uniform();
    expect_near(objective(m, 0, r), 2 * r[0] + 3, 1e-15);
    expect_near(objective(m, 1, r), r[1] - r[2], 1e-15);
    expect_near(objective(m, 2, r), r[3] + r[4] + r[5], 1e-15);
    expect_near(objective(m, 3, r), r[6] / 4, 1e-15);
    expect_near(objective(m, 4, r), sqrt(r[7] / 4), 1e-15);
    expect_int(cst_model_objective_count(m), 5);
    expect_text(cst_model_objective_name(m, 4), "e");
    cst_model_free(m);
}

static void settings(void **state)
{
    (void)state;
    cst_model *m = parse("simulation: {start: 1, end: 2*3, step: 1 ms, events: frozen, formulation: maggi}\n"
                         "design: {minimize: psi, variables: [a, b]}\n");
    expect_true(m->sim.start == 1 && m->sim.end == 6 && m->sim.step == 1e-3 && m->sim.output == 0);
    expect_text(m->sim.events, "frozen");
    expect_text(m->sim.formulation, "maggi");
    expect_text(cst_yaml_get(m->design, "variables")->child[1]->text, "b");
    expect_near(nominal(m, m->bound.at[m->gravity + 2]), -9.81, 0);
    expect_int(cst_model_number_count(m), 0);
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

static void unused_parameters(void **state)
{
    (void)state;
    cst_model *m = parse("parameters: {k: 1, unused: 2, used: 3*k}\npoints: {A: [used, 0, 0]}\n");
    expect_text(diag.text, "m.yaml:2:20: warning: parameter 'unused' is never used\n");
    expect_int(diag.warnings, 1);
    cst_model_free(m);
}

/* ---- files ---- */

static char dir[] = "/tmp/costate-load-XXXXXX";

static const char *put(const char *name, const char *text)
{
    static char path[200];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
    return path;
}

static void files(void **state)
{
    (void)state;
    put("base.yaml", "parameters: {k: 3}\ninclude: more.yaml\nsimulation: {end: 7, step: 0.5}\n");
    put("more.yaml", "points: {P: [k, 1, 2]}\ntables: {T: {csv: data.csv, x: time, y: force, interpolation: cubic}}\n");
    put("data.csv", "time,other,force\n0,1,2\n1,5,4\n2,9,1\n3,1,7\n");
    const char *path = put("top.yaml", "costate: 1\ninclude: [base.yaml, more.yaml]\nsimulation: {end: 9}\n"
                                       "points: {Q: [P.x, T(2), T(k)]}\n");
    diag = (cst_diag){0};
    cst_model *m = cst_model_load(path, 0, NULL, &diag);
    if (!m) fail_msg("%s", diag.text);
    expect_true(m->sim.end == 9 && m->sim.step == 0.5); /* what includes decides */
    expect_near(number(m, "k"), 3, 0);
    expect_int(m->leaf.at[0].where.line, 1);
    expect_contains(m->leaf.at[0].where.file, "base.yaml");
    cst_model_free(m);
    expect_null(cst_model_load("/no/such/file.yaml", 0, NULL, &diag));
    expect_null(cst_model_load(dir, 0, NULL, &diag));
    expect_null(cst_model_load("/no/such/file.yaml", 0, NULL, NULL));
    for (int i = 0; i < 4; i++) {
        char name[200];
        snprintf(name, sizeof name, "%s/%s", dir,
                 i == 0 ? "base.yaml" : i == 1 ? "more.yaml" : i == 2 ? "data.csv" : "top.yaml");
        remove(name);
    }
}

static void include_chain(void **state)
{
    (void)state;
    char name[40], text[80], all[200];
    for (int i = 0; i < 30; i++) {
        snprintf(name, sizeof name, "f%d.yaml", i);
        snprintf(text, sizeof text, "costate: 1\ninclude: f%d.yaml\n", (i + 1) % 30);
        put(name, text);
    }
    diag = (cst_diag){0};
    snprintf(all, sizeof all, "%s/f0.yaml", dir);
    expect_null(cst_model_load(all, 0, NULL, &diag));
    expect_contains(diag.text, "included more than 20 deep");
    expect_int(diag.errors, 1);
    for (int i = 0; i < 30; i++) {
        snprintf(all, sizeof all, "%s/f%d.yaml", dir, i);
        remove(all);
    }
}

/* ---- what is no model ---- */

static void garbage_is_refused(void **state)
{
    (void)state;
    static const char *const text[] = {"", " ", "\n\n", "#\n", "null", "~", "3", "[]", "\"", "{", "\x01\x02", "costate",
                                       "costate: [1]", "? ", "&a [*a]", "costate: 1\n---\ncostate: 1\n", "\t"};
    for (size_t i = 0; i < sizeof text / sizeof *text; i++) {
        diag = (cst_diag){0};
        expect_null(cst_model_parse("g", text[i], strlen(text[i]), 0, NULL, &diag));
        expect_true(diag.errors > 0);
    }
    char bytes[4096];
    for (int k = 0; k < 200; k++) {
        for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (char)(128 * uniform());
        diag = (cst_diag){0};
        expect_null(cst_model_parse("g", bytes, sizeof bytes, 0, NULL, &diag));
        expect_true(diag.errors > 0);
    }
}

/* Damage to a good model gives a model or an error, never both, never a crash. */
static void damaged_models(void **state)
{
    (void)state;
    static const char good[] = "costate: 1\nparameters: {k: 3, c: 2*k + 1}\npoints: {A: [0, 0, 0], B: [c, 0, 0]}\n"
                               "bodies: {r: {type: bar, from: A, to: B, mass: k}}\n"
                               "joints: {h: {type: revolute, between: [ground, r], at: A, axis: z}}\n"
                               "forces: {s: {type: spring, from: ground.A, to: r.B, force: k*(s - 1) + c*v}}\n"
                               "measures: {p: {type: position, of: r.B}, R: {type: reaction, of: h}, q: p.x + 1}\n"
                               "objectives: {psi: integral(q^2) + peak(norm(R.force))}\n"
                               "parts: {x: {model: {points: {C: [k, 1, 2]}}, mirror: y, shift: [0, c, 0]}}\n";
    static const char alphabet[] = "{}[]:,.*()-+^'\"& \nxtk09";
    int loaded = 0;
    for (int k = 0; k < 3000; k++) {
        char text[sizeof good];
        memcpy(text, good, sizeof good);
        for (int e = 0; e < 1 + k % 3; e++) {
            size_t at = (size_t)((uniform() + 1) / 2 * (sizeof good - 2));
            text[at] = alphabet[(size_t)((uniform() + 1) / 2 * (sizeof alphabet - 2))];
        }
        diag = (cst_diag){0};
        cst_model *m = cst_model_parse("d", text, strlen(text), 0, NULL, &diag);
        expect_true((m == NULL) == (diag.errors > 0));
        loaded += m != NULL;
        cst_model_free(m);
    }
    expect_true(loaded > 30 && loaded < 2000);
}

int main(void)
{
    if (!mkdtemp(dir)) return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_without_names_are_one_number),
        cmocka_unit_test(literals_beside_names_are_numbers),
        cmocka_unit_test(element_numbers),
        cmocka_unit_test(order_does_not_matter),
        cmocka_unit_test(long_chains),
        cmocka_unit_test(drawn_joints_close_for_all_numbers),
        cmocka_unit_test(slots_are_shared),
        cmocka_unit_test(driver_rows_have_their_rates),
        cmocka_unit_test(initial_rows),
        cmocka_unit_test(functionals),
        cmocka_unit_test(settings),
        cmocka_unit_test(overrides),
        cmocka_unit_test(unused_parameters),
        cmocka_unit_test(files),
        cmocka_unit_test(include_chain),
        cmocka_unit_test(garbage_is_refused),
        cmocka_unit_test(damaged_models),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    rmdir(dir);
    return failed;
}
