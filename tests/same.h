/* SPDX-License-Identifier: MIT
 *
 * The same mechanism described differently: laws that hold whatever the unit, the place, the order
 * and the measures of a model are. Texts are written with all numbers scaled by the units of length
 * L, mass M and time T. */
#ifndef CST_TESTS_SAME_H
#define CST_TESTS_SAME_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "costate.h"
#include "expect.h"
#include "integrator/run.h"

typedef struct same_way { /* of describing it */
    double L, M, T;
    double shift[3], turn[9]; /* of the whole scene; turn: an orthogonal matrix by rows */
    uint64_t order;           /* of bodies and joints; 0: as they come */
    double far;               /* > 0: a measure of a point so far away is added */
} same_way;

#define SAME_AS_IS                                                                                 \
    {                                                                                              \
        1, 1, 1, {0, 0, 0}, {1, 0, 0, 0, 1, 0, 0, 0, 1}, 0, 0                                      \
    }

typedef struct same_text {
    char text[20000];
    size_t n;
} same_text;

static inline void same_print(same_text *s, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
#include <stdarg.h>
static inline void same_print(same_text *s, const char *format, ...)
{
    va_list a;
    va_start(a, format);
    s->n += (size_t)vsnprintf(s->text + s->n, sizeof s->text - s->n, format, a);
    va_end(a);
}

/* unit * (turn x) + shift; shift is given in lengths of the first description */
static inline void same_vector(same_text *s, const same_way *w, const double *x, double unit,
                               int point)
{
    double y[3];
    for (int i = 0; i < 3; i++) {
        y[i] = w->turn[3 * i] * x[0] + w->turn[3 * i + 1] * x[1] + w->turn[3 * i + 2] * x[2] +
               (point ? w->shift[i] : 0);
        y[i] *= unit;
    }
    same_print(s, "[%.17g, %.17g, %.17g]", y[0], y[1], y[2]);
}

static inline void same_rotation(expect_random *r, double turn[9])
{
    double q[4], n = 0;
    for (int i = 0; i < 4; i++) q[i] = expect_uniform(r, -1, 1), n += q[i] * q[i];
    for (int i = 0; i < 4; i++) q[i] /= sqrt(n);
    double w = q[0], x = q[1], y = q[2], z = q[3];
    double R[9] = {1 - 2 * (y * y + z * z), 2 * (x * y - z * w),     2 * (x * z + y * w),
                   2 * (x * y + z * w),     1 - 2 * (x * x + z * z), 2 * (y * z - x * w),
                   2 * (x * z - y * w),     2 * (y * z + x * w),     1 - 2 * (x * x + y * y)};
    memcpy(turn, R, sizeof R);
}

/* A permutation of 0 .. n-1 */
static inline void same_order(uint64_t seed, int n, int *to)
{
    expect_random r = {seed};
    for (int i = 0; i < n; i++) to[i] = i;
    for (int i = n - 1; seed && i > 0; i--) {
        int j = expect_below(&r, i + 1), k = to[i];
        to[i] = to[j], to[j] = k;
    }
}

/* ---- planar loops: n moving bars and ground, n + 1 hinges, n - 2 degrees of freedom, 3 redundant
 * rows ---- */

enum { SAME_BARS = 6 };

typedef struct same_loop {
    int n, slider;
    double p[SAME_BARS + 1][3];
} same_loop;

static inline same_loop same_loop_make(uint64_t seed)
{
    expect_random r = {seed};
    same_loop l = {.n = 3 + expect_below(&r, SAME_BARS - 2)};
    double a = 0, step = 2 * acos(-1) / (l.n + 1);
    for (int i = 0; i <= l.n; i++) { /* around a centre, so that no three neighbours are in line */
        a += step * expect_uniform(&r, 0.6, 1.2);
        double d = expect_uniform(&r, 0.4, 1);
        l.p[i][0] = d * cos(a), l.p[i][1] = d * sin(a);
    }
    return l;
}

static inline void same_loop_write(const same_loop *l, const same_way *w, same_text *s)
{
    int order[SAME_BARS + 1];
    static const double z[3] = {0, 0, 1};
    s->n = 0;
    same_print(s, "costate: 1\ngravity: [0, 0, 0]\npoints:\n");
    for (int i = 0; i <= l->n; i++)
        same_print(s, "  P%d: ", i), same_vector(s, w, l->p[i], w->L, 1), same_print(s, "\n");
    same_print(s, "bodies:\n");
    same_order(w->order, l->n, order);
    for (int k = 0; k < l->n; k++)
        same_print(s, "  b%d: {type: bar, from: P%d, to: P%d, mass: %.17g}\n", order[k], order[k],
                   order[k] + 1, w->M * (1 + order[k]));
    same_print(s, "joints:\n");
    same_order(w->order, l->n + 1, order);
    for (int k = 0; k <= l->n; k++) {
        char a[20] = "ground", b[20] = "ground";
        int i = order[k];
        if (i > 0) snprintf(a, sizeof a, "b%d", i - 1);
        if (i < l->n) snprintf(b, sizeof b, "b%d", i);
        same_print(s, "  j%d: {type: revolute, between: [%s, %s], at: P%d, axis: ", i, a, b, i);
        same_vector(s, w, z, 1, 0);
        same_print(s, "}\n");
    }
    same_print(s, "simulation: {end: %.17g, step: %.17g}\n", 0.01 * w->T, 0.001 * w->T);
}

/* ---- trees of boxes: hinges, sliders, balls; a spring; half of them closed by a rod; the first
 * body turns as written ---- */

typedef struct same_box {
    double at[3], size[3], m, joint[3], axis[3];
    int type;
} same_box;

enum { SAME_BOXES = 5 };

typedef struct same_tree {
    int n, rod;
    double spin, k, end[3];
    same_box b[SAME_BOXES];
} same_tree;

static inline same_tree same_tree_make(uint64_t seed)
{
    expect_random r = {seed};
    same_tree t = {.n = 2 + expect_below(&r, SAME_BOXES - 1),
                   .rod = expect_below(&r, 2),
                   .spin = expect_uniform(&r, 1, 3),
                   .k = expect_uniform(&r, 20, 60)};
    for (int i = 0; i < t.n; i++) {
        same_box *b = &t.b[i];
        double n = 0;
        for (int j = 0; j < 3; j++) {
            b->joint[j] = (i ? t.b[i - 1].at[j] : 0) + expect_uniform(&r, -0.5, 0.5);
            b->at[j] = b->joint[j] + expect_uniform(&r, -0.5, 0.5);
            b->size[j] = expect_uniform(&r, 0.1, 0.5);
            b->axis[j] = expect_uniform(&r, -1, 1), n += b->axis[j] * b->axis[j];
            t.end[j] = expect_uniform(&r, -1, 1);
        }
        for (int j = 0; j < 3; j++) b->axis[j] /= sqrt(n);
        b->m = expect_uniform(&r, 0.5, 3), b->type = i ? expect_below(&r, 3) : 0;
    }
    return t;
}

static inline void same_tree_write(const same_tree *t, const same_way *w, same_text *s)
{
    static const char *const type[] = {"revolute", "prismatic", "spherical"};
    static const double down[3] = {0, 0.3, -9.81};
    int order[SAME_BOXES];
    const double zero[3] = {0};
    s->n = 0;
    same_print(s, "costate: 1\ngravity: ");
    same_vector(s, w, down, w->L / (w->T * w->T), 0);
    same_print(s, "\nparameters: {k: %.17g}\npoints:\n  O: ", t->k * w->M / (w->T * w->T));
    same_vector(s, w, zero, w->L, 1);
    same_print(s, "\n  E: "), same_vector(s, w, t->end, w->L, 1), same_print(s, "\n");
    for (int i = 0; i < t->n; i++)
        same_print(s, "  J%d: ", i), same_vector(s, w, t->b[i].joint, w->L, 1), same_print(s, "\n");
    same_print(s, "bodies:\n");
    same_order(w->order, t->n, order);
    for (int k = 0; k < t->n; k++) {
        const same_box *b = &t->b[order[k]];
        double I[3];
        for (int j = 0; j < 3; j++) {
            double x = b->size[(j + 1) % 3], y = b->size[(j + 2) % 3];
            I[j] = b->m / 12 * (x * x + y * y) * w->M * w->L * w->L;
        }
        same_print(s,
                   "  b%d: {type: rigid, mass: %.17g, inertia: [%.17g, %.17g, %.17g], position: ",
                   order[k], b->m * w->M, I[0], I[1], I[2]);
        same_vector(s, w, b->at, w->L, 1);
        same_print(s, ", orientation: {x: [%.17g, %.17g, %.17g], y: [%.17g, %.17g, %.17g]}",
                   w->turn[0], w->turn[3], w->turn[6], w->turn[1], w->turn[4], w->turn[7]);
        double spin[3];
        for (int j = 0; j < 3; j++) spin[j] = t->spin * b->axis[j];
        if (order[k] == 0)
            same_print(s, ", angular_velocity: "), same_vector(s, w, spin, 1 / w->T, 0);
        same_print(s, "}\n");
    }
    same_print(s, "joints:\n");
    for (int k = 0; k < t->n; k++) {
        int i = order[k];
        char a[20] = "ground";
        if (i > 0) snprintf(a, sizeof a, "b%d", i - 1);
        same_print(s, "  j%d: {type: %s, between: [%s, b%d], at: J%d", i, type[t->b[i].type], a, i,
                   i);
        if (t->b[i].type < 2) same_print(s, ", axis: "), same_vector(s, w, t->b[i].axis, 1, 0);
        same_print(s, "}\n");
    }
    if (t->rod) same_print(s, "  rod: {type: distance, from: ground.E, to: b%d.com}\n", t->n - 1);
    same_print(s,
               "forces: {f: {type: spring, from: b%d.com, to: ground.E, stiffness: k, free_length: "
               "%.17g}}\n",
               t->n - 1, 0.4 * w->L);
    same_print(s,
               "measures:\n  d: {type: displacement, of: b%d.com}\n  w0: {type: angular-velocity, "
               "of: b0}\n",
               t->n - 1);
    if (w->far > 0) {
        const double x[3] = {w->far, w->far, -w->far};
        same_print(s, "  far: {type: distance, from: {body: b0, at: "),
            same_vector(s, w, x, w->L, 1), same_print(s, "}, to: ground.O}\n");
    }
    same_print(
        s,
        "objectives: {psi: end(d.x^2 + d.y^2 + d.z^2), spin: start(w0.x^2 + w0.y^2 + w0.z^2)}\n");
    same_print(s, "simulation: {end: %.17g, step: %.17g}\n", 0.2 * w->T, 0.005 * w->T);
}

typedef struct same_result {
    int dof, redundant;
    long steps;
    double psi, spin, by_k, by_mass;
} same_result;

/* psi in the units of the first description; its slopes as p dpsi/dp */
static inline same_result same_tree_run(const same_tree *t, const same_way *w)
{
    static same_text s;
    cst_diag d = {0};
    same_tree_write(t, w, &s);
    cst_model *m = cst_model_parse("same.yaml", s.text, s.n, 0, NULL, &d);
    cst_run *r = m ? cst_run_new(m, NULL, &d) : NULL;
    const cst_gradient *g = r ? cst_run_gradient(r, NULL, CST_ADJOINT, 0, NULL, &d) : NULL;
    if (!g || d.errors) fail_msg("%s\n%s", d.text, s.text);
    int k = cst_model_number_find(m, "k"), mass = cst_model_number_find(m, "b0.mass");
    same_result y = {.dof = r->st->dof,
                     .redundant = r->st->dep.ndep,
                     .steps = cst_run_stats(r).steps};
    y.psi = g->value[0] / (w->L * w->L), y.spin = g->value[1] * w->T * w->T;
    y.by_k = g->slope[k] * t->k * w->M / (w->T * w->T) / (w->L * w->L);
    y.by_mass = g->slope[mass] * t->b[0].m * w->M / (w->L * w->L);
    cst_run_free(r);
    cst_model_free(m);
    return y;
}

static inline void same_expect(const same_result *a, const same_result *b, const char *what,
                               uint64_t seed)
{
    double size = fmax(fabs(a->psi), 1e-3);
    if (a->dof != b->dof || a->redundant != b->redundant || a->steps != b->steps)
        fail_msg("seed %llu, %s: %d, %d freedoms, %d, %d redundant rows, %ld, %ld steps",
                 (unsigned long long)seed, what, a->dof, b->dof, a->redundant, b->redundant,
                 a->steps, b->steps);
    double off = fmax(fabs(a->psi - b->psi) / size, fabs(a->spin - b->spin) / a->spin) / 1e-9;
    off = fmax(off, fmax(fabs(a->by_k - b->by_k), fabs(a->by_mass - b->by_mass)) / size / 1e-8);
    if (!(off < 1))
        fail_msg("seed %llu, %s: psi %.15g, %.15g; spin %.15g, %.15g; by k %.15g, %.15g; by mass "
                 "%.15g, %.15g",
                 (unsigned long long)seed, what, a->psi, b->psi, a->spin, b->spin, a->by_k, b->by_k,
                 a->by_mass, b->by_mass);
}

/* ---- the laws ---- */

static inline double same_power(expect_random *r, double low, double high)
{
    return pow(10, expect_uniform(r, low, high));
}

/* A closed drawing is accepted, whatever its size, place and order; its freedoms and redundant rows
 * are counted right. */
static inline void same_closed_law(uint64_t seed)
{
    static same_text s;
    expect_random r = {seed};
    same_loop l = same_loop_make(seed);
    same_way w = SAME_AS_IS;
    w.L = same_power(&r, -3, 2), w.M = same_power(&r, -3, 3), w.order = seed + 1;
    same_rotation(&r, w.turn);
    same_loop_write(&l, &w, &s);
    cst_diag d = {0};
    cst_model *m = cst_model_parse("same.yaml", s.text, s.n, 0, NULL, &d);
    cst_run *run = m ? cst_run_new(m, NULL, &d) : NULL;
    if (!run || cst_run_simulate(run, NULL, NULL, NULL, &d) != CST_OK)
        fail_msg("seed %llu: %s\n%s", (unsigned long long)seed, d.text, s.text);
    if (run->st->dof != l.n - 2 || run->st->dep.ndep != 3)
        fail_msg("seed %llu: %d freedoms, %d redundant rows\n%s", (unsigned long long)seed,
                 run->st->dof, run->st->dep.ndep, s.text);
    cst_run_free(run);
    cst_model_free(m);
}

/* A rod that is too long for its loop is refused by name. */
static inline void same_open_law(uint64_t seed)
{
    static same_text s;
    expect_random r = {seed};
    same_way w = SAME_AS_IS;
    w.L = same_power(&r, -3, 2);
    same_rotation(&r, w.turn);
    double a = expect_uniform(&r, 0.2, 1), b = expect_uniform(&r, 0.2, 1),
           f = expect_uniform(&r, 0, 6), h = expect_uniform(&r, 0, 6);
    const double p[4][3] = {{0}, {a * cos(f), a * sin(f)}, {1 + b * cos(h), b * sin(h)}, {1}},
                 z[3] = {0, 0, 1};
    s.n = 0;
    same_print(&s, "costate: 1\npoints:\n");
    for (int i = 0; i < 4; i++)
        same_print(&s, "  P%d: ", i), same_vector(&s, &w, p[i], w.L, 1), same_print(&s, "\n");
    same_print(&s, "bodies: {u: {type: bar, from: P0, to: P1, mass: 1}, v: {type: bar, from: P3, "
                   "to: P2, mass: 2}}\njoints:\n");
    same_print(&s, "  a: {type: revolute, between: [ground, u], at: P0, axis: "),
        same_vector(&s, &w, z, 1, 0);
    same_print(&s, "}\n  b: {type: revolute, between: [ground, v], at: P3, axis: "),
        same_vector(&s, &w, z, 1, 0);
    same_print(&s, "}\n  rod: {type: distance, from: u.P1, to: v.P2, length: %.17g}\n",
               w.L * (1 + a + b) * expect_uniform(&r, 1.02, 2));
    cst_diag d = {0};
    cst_model *m = cst_model_parse("same.yaml", s.text, s.n, 0, NULL, &d);
    cst_run *run = m ? cst_run_new(m, NULL, &d) : NULL;
    if (!m || run || !strstr(d.text, "cannot be assembled") || !strstr(d.text, "rod ("))
        fail_msg("seed %llu: %s\n%s", (unsigned long long)seed, d.text, s.text);
    cst_model_free(m);
}

/* Rescaled, shifted, turned, shuffled, with a measure far away: the same motion and slopes */
static inline void same_tree_law(uint64_t seed)
{
    expect_random r = {seed};
    const same_tree t = same_tree_make(seed);
    const same_way as_is = SAME_AS_IS;
    const same_result first = same_tree_run(&t, &as_is);
    expect_near(first.spin, t.spin * t.spin, 1e-12); /* what is written is kept */
    same_way w = as_is;
    w.L = same_power(&r, -4, 4), w.M = same_power(&r, -4, 4), w.T = same_power(&r, -4, 4);
    same_result y = same_tree_run(&t, &w);
    same_expect(&first, &y, "rescaled", seed);
    w = as_is, w.order = seed + 1;
    y = same_tree_run(&t, &w);
    same_expect(&first, &y, "shuffled", seed);
    w = as_is, w.far = 1e5;
    y = same_tree_run(&t, &w);
    same_expect(&first, &y, "with a measure far away", seed);
    w = as_is;
    for (int i = 0; i < 3; i++) w.shift[i] = expect_uniform(&r, -10, 10);
    same_rotation(&r, w.turn);
    y = same_tree_run(&t, &w);
    same_expect(&first, &y, "moved", seed);
}

/* A planar loop whose plane turns about x through 360 degrees, in n evaluations of one run: the
 * plane is not felt (gravity is along x), and each evaluation gives what a fresh load gives, slopes
 * included. */
static inline void same_turn_law(uint64_t seed, int n)
{
    static same_text s;
    expect_random r = {seed};
    same_loop l = same_loop_make(seed);
    s.n = 0;
    same_print(
        &s,
        "costate: 1\ngravity: [-9.81, 0, 0]\nparameters: {f: 0, c: cos(f), s: sin(f)}\npoints:\n");
    for (int i = 0; i <= l.n; i++)
        same_print(&s, "  P%d: [%.17g, \"%.17g*c\", \"%.17g*s\"]\n", i, l.p[i][0], l.p[i][1],
                   l.p[i][1]);
    same_print(&s, "bodies:\n");
    for (int k = 0; k < l.n; k++)
        same_print(&s, "  b%d: {type: bar, from: P%d, to: P%d, mass: %d, radius: 0.02}\n", k, k,
                   k + 1, 1 + k);
    same_print(&s, "joints:\n");
    for (int i = 0; i <= l.n; i++) {
        char a[20] = "ground", b[20] = "ground";
        if (i > 0) snprintf(a, sizeof a, "b%d", i - 1);
        if (i < l.n) snprintf(b, sizeof b, "b%d", i);
        same_print(&s, "  j%d: {type: revolute, between: [%s, %s], at: P%d, axis: [0, -s, c]}\n", i,
                   a, b, i);
    }
    same_print(&s, "measures: {d: {type: position, of: b0.com}}\nobjectives: {psi: "
                   "integral(d.x)}\nsimulation: {end: 0.02, step: 0.002}\n");
    cst_diag d = {0};
    cst_model *m = cst_model_parse("turn.yaml", s.text, s.n, 0, NULL, &d);
    cst_run *run = m ? cst_run_new(m, NULL, &d) : NULL;
    if (!run) fail_msg("seed %llu: %s", (unsigned long long)seed, d.text);
    int numbers = cst_model_number_count(m), f = cst_model_number_find(m, "f"),
        by = cst_model_number_find(m, "b0.mass");
    double *p = calloc((size_t)numbers, sizeof *p), psi = 0, slope = 0,
           start = expect_uniform(&r, 0, 6);
    for (int i = 0; i < numbers; i++) p[i] = cst_model_number_value(m, i);
    for (int k = 0; k < n; k++) {
        p[f] = start + 2 * acos(-1) * k / n;
        const cst_gradient *g = cst_run_gradient(run, p, CST_ADJOINT, 0, NULL, &d);
        if (!g)
            fail_msg("seed %llu, f = %.17g: %s\n%s", (unsigned long long)seed, p[f], d.text,
                     s.text);
        if (k == 0) psi = g->value[0], slope = g->slope[by];
        if (!(fabs(g->value[0] - psi) <= 1e-10 * fabs(psi)) ||
            !(fabs(g->slope[by] - slope) <= 1e-9 * fabs(psi)))
            fail_msg("seed %llu, f = %.17g: psi %.15g, not %.15g; slope %.15g, not %.15g",
                     (unsigned long long)seed, p[f], g->value[0], psi, g->slope[by], slope);
    }
    free(p);
    cst_run_free(run);
    cst_model_free(m);
}

#endif
