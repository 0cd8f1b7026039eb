/* SPDX-License-Identifier: MIT
 *
 * Beams against the integrals that define them, the theory of slender beams, and the laws of
 * gradients. */
#include "load_text.h"
#include "oracle.h"

#include <complex.h>

#include "costate.h"
#include "linalg/dense.h"
#include "system/kkt.h"

enum { GAUSS = 9 };

/* points and weights of Gauss on [0, 1]: roots of Legendre's polynomial by Newton's method */
static void gauss(double *x, double *w)
{
    for (int i = 0; i < GAUSS; i++) {
        double t = cos(CST_PI * (i + 0.75) / (GAUSS + 0.5)), p1 = 0, d = 1;
        for (int pass = 0; pass < 60; pass++) {
            double p0 = 1;
            p1 = t;
            for (int k = 2; k <= GAUSS; k++) {
                double p2 = ((2 * k - 1) * t * p1 - (k - 1) * p0) / k;
                p0 = p1, p1 = p2;
            }
            d = GAUSS * (p0 - t * p1) / (1 - t * t);
            t -= p1 / d;
        }
        x[i] = (1 + t) / 2, w[i] = 1 / ((1 - t * t) * d * d);
    }
}

/* the cubic through two places with two slopes, solved for its monomials: r = a + b x + c x^2 + d
 * x^3 on [0, l] */
static void cubic(const oracle_complex *q, oracle_complex l, double at, int order,
                  oracle_complex r[3])
{
    oracle_complex x = at * l;
    for (int i = 0; i < 3; i++) {
        oracle_complex a = q[i], b = q[3 + i], rise = (q[6 + i] - a) / l - b, turn = q[9 + i] - b;
        oracle_complex c = (3 * rise - turn) / l, d = (turn - 2 * rise) / (l * l);
        r[i] = order == 0   ? a + x * (b + x * (c + x * d))
               : order == 1 ? b + x * (2 * c + 3 * d * x)
                            : 2 * c + 6 * d * x;
    }
}

static oracle_complex square(const oracle_complex *v)
{
    return v[0] * v[0] + v[1] * v[1] + v[2] * v[2];
}

/* U = 1/2 EA int e^2 dx + 1/2 EI int |r_xx|^2 dx; the mean strain takes its square outside of the
 * mean. in: q (12), l, EA, EI */
static void energy(void *green, const oracle_complex *in, oracle_complex *U)
{
    double x[GAUSS], w[GAUSS];
    oracle_complex e2 = 0, mean = 0, k2 = 0, r[3], l = in[12];
    gauss(x, w);
    for (int i = 0; i < GAUSS; i++) {
        cubic(in, l, x[i], 1, r);
        oracle_complex e = (square(r) - 1) / 2;
        mean += w[i] * e, e2 += w[i] * e * e;
        cubic(in, l, x[i], 2, r);
        k2 += w[i] * square(r);
    }
    *U = l / 2 * (in[13] * (*(int *)green ? e2 : mean * mean) + in[14] * k2);
}

static void test_elastic_force(void **state)
{
    (void)state;
    expect_random rng = {50};
    for (int sample = 0; sample < 60; sample++)
        for (int green = 0; green < 2; green++) {
            const cst_force_class *c = green ? &cst_force_beam_green : &cst_force_beam;
            double v[15], f[12], V, V_p[3], U, dU[15], xd[12] = {0};
            random_vector(&rng, 12, -1, 1, v);
            random_vector(&rng, 3, 0.5, 2, v + 12);
            cst_local e = {.nx = 12, .np = 3, .x = v, .xd = xd, .p = v + 12};
            c->force(&e, f, NULL);
            expect_true(c->energy(&e, &V));
            c->energy_p(&e, V_p);
            double along[15] = {0}, none;
            oracle_direction(energy, &green, 15, v, along, 1, &U, &none);
            oracle_jacobian(energy, &green, 15, v, 1, dU);
            double size = 1;
            for (int i = 0; i < 12; i++) size = fmax(size, fabs(dU[i]));
            expect_near(V / U, 1, 1e-13);
            for (int i = 0; i < 12; i++) expect_near(f[i] / size, -dU[i] / size, 1e-13);
            for (int i = 0; i < 3; i++) expect_near(V_p[i], dU[12 + i], 1e-12);
        }
}

/* ---- a model with one beam ---- */

static const char *const bar =
    "gravity: [1, -9.81, 0.5]\n"
    "points: {A: [0.1, 0.2, 0.3], B: [0.9, -0.4, 0.5], P: [0.42, -0.04, 0.38]}\n"
    "bodies: {rod: {type: beam, from: A, to: B, elements: 3, modulus: 2e6, density: 700, radius: "
    "0.03, inner_radius: 0.01}}\n"
    "measures:\n  p: {type: position, of: rod.P}\n  s: {type: slope, of: rod.P}\n"
    "  k: {type: stress, of: rod.P, height: 0.03}\n"; /* P: 40 % of the way */

static void real_cubic(const double *q, double l, double at, int order, double r[3])
{
    oracle_complex z[12], y[3];
    for (int i = 0; i < 12; i++) z[i] = q[i];
    cubic(z, l, at, order, y);
    for (int i = 0; i < 3; i++) r[i] = creal(y[i]);
}

/* kinetic energy and weight are integrals over the mass; gravity is the derivative of its potential
 */
static void test_inertia(void **state)
{
    (void)state;
    enum { N = 3, NQ = 6 * (N + 1) };
    expect_random rng = {51};
    cst_model *m = parse(bar);
    cst_arena a = {0};
    cst_system *s = cst_system_new(&a, m, NULL);
    double x[GAUSS], w[GAUSS], q[NQ], v[NQ], T = 0, V = 0, r[3], Q[NQ] = {0}, pull[NQ] = {0},
                                             Mv[NQ] = {0};
    double l = sqrt(0.64 + 0.36 + 0.04) / N, per_length = 700 * CST_PI * (9e-4 - 1e-4);
    const double g[3] = {1, -9.81, 0.5};
    expect_int(m->nq, NQ);
    gauss(x, w);
    random_vector(&rng, NQ, -1, 1, q);
    random_vector(&rng, NQ, -1, 1, v);
    for (int e = 0; e < N; e++)
        for (int i = 0; i < GAUSS; i++) {
            real_cubic(v + 6 * e, l, x[i], 0, r);
            T += 0.5 * per_length * l * w[i] * v3_dot(r, r);
            real_cubic(q + 6 * e, l, x[i], 0, r);
            V -= per_length * l * w[i] * v3_dot(g, r);
        }
    expect_near(cst_energy_kinetic(s, v), T, 1e-14);
    expect_near(cst_energy_gravity(s, q), V, 1e-14);
    cst_mass_add(s, NULL, v, 1, Mv);
    cst_gravity_add(s, 1, Q);
    double vMv = 0, qQ = 0;
    for (int i = 0; i < NQ; i++) vMv += v[i] * Mv[i], qQ += q[i] * Q[i];
    expect_near(vMv, 2 * T, 1e-14);
    expect_near(-qQ, V, 1e-14);
    for (int i = 0; i < 3; i++) /* and the whole weight is m g */
        for (int k = 0; k <= N; k++) pull[i] += Q[6 * k + i];
    for (int i = 0; i < 3; i++) expect_near(pull[i], per_length * N * l * g[i], 1e-14);
    cst_arena_free(&a);
    cst_model_free(m);
}

/* points, slopes and curvatures between the nodes are those of the cubic */
static void test_along(void **state)
{
    (void)state;
    expect_random rng = {52};
    cst_model *m = parse(bar);
    cst_arena a = {0};
    cst_system *s = cst_system_new(&a, m, NULL);
    double q[24], r[3], l = sqrt(0.64 + 0.36 + 0.04) / 3;
    random_vector(&rng, 24, -1, 1, q);
    cst_system_place(s, 0, q);
    int found = 0;
    for (int i = 0; i < m->slot.n; i++) {
        if (m->slot.at[i].span != 2) continue;
        real_cubic(
            q + 6, l, 0.2, found,
            r); /* 0.4 of three elements: 0.2 into the second. Slots in the order of the measures */
        for (int k = 0; k < 3; k++) expect_near(s->x[m->slot.at[i].x0 + k], r[k], 1e-14);
        found++;
    }
    expect_int(found, 3);
    cst_arena_free(&a);
    cst_model_free(m);
}

/* ---- theory of slender beams ---- */

typedef struct run {
    cst_model *m;
    cst_run *r;
} run;

static run run_text(const char *text, double step)
{
    run t = {.m = parse(text)};
    cst_options o = cst_options_default();
    o.step = step;
    t.r = cst_run_new(t.m, &o, &diag);
    if (!t.r) fail_msg("%s", diag.text);
    return t;
}

static void run_free(run t) { cst_run_free(t.r), cst_model_free(t.m); }

static double measure(run t, const char *name)
{
    for (int i = 0; i < cst_model_measure_count(t.m); i++)
        if (strcmp(cst_model_measure_name(t.m, i), name) == 0) return cst_run_measure(t.r, i);
    fail_msg("no measure %s", name);
    return 0;
}

#define CANTILEVER                                                                                 \
    "points: {A: [0, 0, 0], B: [2, 0, 0], M: [0.7, 0, 0]}\n"                                       \
    "bodies: {rod: {type: beam, from: A, to: B, elements: %s, modulus: 3e9, density: %s, width: "  \
    "0.02, "                                                                                       \
    "height: 0.04}}\n"                                                                             \
    "joints: {clamp: {type: fixed, between: [rod, ground], at: A}}\n"                              \
    "measures:\n  tip: {type: displacement, of: rod.B}\n  mid: {type: displacement, of: rod.M}\n"  \
    "  R: {type: reaction, of: clamp}\n  s: {type: stress, of: rod.A, height: 0.02, axis: [0, "    \
    "-1, 0]}\n"                                                                                    \
    "initial: {equilibrium: true}\nsimulation: {end: 1e-6, step: 1e-6}\n"

static void test_deflection(void **state)
{
    (void)state;
    char text[2000];
    double EI = 3e9 * 0.02 * 6.4e-5 / 12, F = 1e-5,
           w = 700 * 8e-4 * 9.81e-6; /* so little that bending is small */
    snprintf(text, sizeof text,
             CANTILEVER "gravity: [0, 0, 0]\nforces: {load: {type: force, on: rod.B, direction: z, "
                        "magnitude: 1e-5}}\n",
             "3", "700");
    run t = run_text(text, 1e-6);
    expect_true(cst_run_simulate(t.r, NULL, NULL, NULL, &diag) == CST_OK);
    expect_near(measure(t, "tip.z") * 3 * EI / (F * 8), 1, 1e-8); /* F L^3/3EI */
    expect_near(measure(t, "mid.z") * 6 * EI / (F * 0.49 * (6 - 0.7)), 1,
                1e-8);                                 /* F x^2 (3L - x)/6EI */
    expect_near(measure(t, "R.force.z") / F, 1, 1e-8); /* on the ground */
    expect_near(measure(t, "R.torque.y") / (-2 * F), 1, 1e-8);
    expect_near(measure(t, "s.bending") * EI / (3e9 * 0.02) / (F * 2), 1, 1e-8); /* M h/I */
    run_free(t);

    snprintf(text, sizeof text, CANTILEVER "gravity: [0, 0, -9.81e-6]\n", "3", "700");
    t = run_text(text, 1e-6);
    expect_true(cst_run_simulate(t.r, NULL, NULL, NULL, &diag) == CST_OK);
    expect_near(measure(t, "tip.z") * 8 * EI / (-w * 16), 1,
                1e-8); /* w L^4/8EI: exact at the nodes */
    run_free(t);
}

/* The lowest frequency by inverse iteration with [K J^T; J 0] and M */
static double frequency(const char *elements)
{
    char text[2000];
    snprintf(text, sizeof text, CANTILEVER "gravity: [0, 0, 0]\n", elements, "700");
    cst_model *m = parse(text);
    cst_arena a = {0};
    cst_system *s = cst_system_new(&a, m, NULL);
    double *q = cst_new(&a, double, m->nq), *z = cst_new(&a, double, 1), lambda = 0;
    for (int i = 0; i < m->body.n; i++)
        memcpy(q + m->body.at[i].q0, s->P + m->body.at[i].drawn, 6 * sizeof *q);
    cst_system_place(s, 0, q);
    cst_system_rates(s, cst_new(&a, double, m->nq));
    cst_slots_blocks(s, q);
    cst_kkt *k = cst_kkt_new(&a, s, CST_ROW_MOTION, NULL, 0, NULL);
    double *val = cst_new(&a, double, k->pattern->nnz), *b = cst_new(&a, double, k->n),
           *x = cst_new(&a, double, k->n);
    cst_kkt_assemble(k, s, q, z, z, NULL, NULL, NULL, (cst_kkt_coef){.stiff = 1}, 1, 0, val);
    unsigned char *kind = cst_new(&a, unsigned char, k->n);
    for (int i = k->nu; i < k->n; i++) kind[i] = 1;
    cst_lu *lu = cst_lu_new(&a, k->pattern, val, kind, NULL);
    expect_int(cst_lu_factor(lu, val), -1);
    for (int i = 0; i < m->nu; i++) x[i] = i % 3 == 2; /* bending in z only: in y it is as stiff */
    for (int pass = 0; pass < 60; pass++) {
        memset(b, 0, sizeof *b * (size_t)k->n);
        cst_mass_add(s, NULL, x, 1, b);
        double xMx = 0, size = 0;
        for (int i = 0; i < m->nu; i++) xMx += x[i] * b[i];
        cst_lu_solve(lu, 1, b);
        double *Mb = cst_new(&a, double, m->nq);
        cst_mass_add(s, NULL, b, 1, Mb);
        for (int i = 0; i < m->nu; i++) size += b[i] * Mb[i];
        lambda = sqrt(xMx / size); /* of the inverse: |x| over |K^-1 M x| */
        for (int i = 0; i < k->n; i++) x[i] = i < m->nu ? b[i] / sqrt(size) : 0;
    }
    cst_arena_free(&a);
    cst_model_free(m);
    return sqrt(lambda);
}

static void test_frequency(void **state)
{
    (void)state;
    double beta = 1.8751040687119611 / 2; /* cos(bL) cosh(bL) = -1 */
    double exact = beta * beta * sqrt(3e9 * 1.6e-3 / 12 / 700);
    double off[3] = {frequency("2") / exact - 1, frequency("4") / exact - 1,
                     frequency("8") / exact - 1};
    expect_true(off[0] > 0 &&
                off[0] < 1e-3); /* from above: the elements can do less than the beam */
    expect_near(off[0] / off[1], 16, 0.1);
    expect_near(off[1] / off[2], 16, 0.1);
}

/* ---- motion ---- */

#define PENDULUM                                                                                   \
    "gravity: [0, -9.81, 0]\nparameters: {rho: 4000, E: 1e7, h: 0.05}\npoints: {A: [0, 0, 0], B: " \
    "[1.2, 0, "                                                                                    \
    "0]}\n"                                                                                        \
    "bodies: {rod: {type: beam, from: A, to: B, elements: 4, modulus: E, density: rho, width: h, " \
    "height: "                                                                                     \
    "h%s}}\n"                                                                                      \
    "joints: {pin: {type: revolute, between: [ground, rod], at: A, axis: z}}\n"                    \
    "measures: {tip: {type: position, of: rod.B}, E_: {type: energy}}\n"                           \
    "objectives: {most: peak(E_.total), least: -peak(-E_.total), x: end(tip.x)}\nsimulation: "     \
    "{end: 0.5, "                                                                                  \
    "step: 0.002}\n"

static void test_energy(void **state)
{
    (void)state;
    char text[2000];
    for (int green = 0; green < 2; green++) {
        double range[2];
        snprintf(text, sizeof text, PENDULUM, green ? ", strain: green" : "");
        for (int k = 0; k < 2; k++) {
            run t = run_text(text, k ? 0.0005 : 0.001);
            expect_true(cst_run_simulate(t.r, NULL, NULL, NULL, &diag) == CST_OK);
            range[k] = cst_run_objective(t.r, 0) - cst_run_objective(t.r, 1);
            run_free(t);
        }
        expect_true(range[0] > 0 && range[0] < 0.02); /* of 70 J */
        expect_near(range[0] / range[1], 4, 0.15);
    }
}

/* only E/rho enters */
static void test_scaling(void **state)
{
    (void)state;
    char text[2000];
    snprintf(text, sizeof text, PENDULUM, "");
    run t = run_text(text, 0.002);
    int which[2] = {cst_model_number_find(t.m, "rho"), cst_model_number_find(t.m, "E")};
    const cst_gradient *g = cst_run_gradient(t.r, NULL, CST_ADJOINT, 2, which, &diag);
    expect_not_null(g);
    const double *x = g->slope + 2 * 2;
    expect_true(fabs(x[0]) * 4000 > 1e-3);
    expect_near((x[0] * 4000 + x[1] * 1e7) / (x[0] * 4000), 0, 1e-9);
    run_free(t);
}

/* A beam too stiff to bend moves as a rigid bar: two angles, integrated by another program to 11
 * digits. Its inertia is below rounding beside its stiffness, and must still be seen. */
static void test_rigid_limit(void **state)
{
    (void)state;
    run t = run_text(
        "gravity: [0, 0, 0]\n"
        "points: {A: [0, 0, 0], B: [0, 2, 0], C: [2, 2, 0], D: [2, 0, 0]}\n"
        "bodies:\n"
        "  bar: {type: bar, from: A, to: B, radius: 0.005, mass: 1.6}\n"
        "  beam: {type: beam, from: D, to: C, elements: 1, modulus: 7e14, density: 3700, width: "
        "0.01, height: 0.01,\n"
        "         velocity: [5*(C.y - D.y)/2, -5*(C.x - D.x)/2, 0], angular_velocity: [0, 0, -5]}\n"
        "joints:\n"
        "  a: {type: revolute, between: [ground, bar], at: A, axis: z}\n"
        "  d: {type: spherical, between: [ground, beam], at: D}\n"
        "forces: {spring: {type: spring, from: bar.B, to: beam.C, stiffness: 100}}\n"
        "measures: {b: {type: displacement, of: bar.B}}\n"
        "objectives: {phi: \"integral(dot(b, b))\"}\n"
        "simulation: {end: 1, step: 0.001}\n",
        2.5e-4);
    int which[2] = {cst_model_number_find(t.m, "D.x"), cst_model_number_find(t.m, "D.y")};
    const cst_gradient *g = cst_run_gradient(t.r, NULL, CST_ADJOINT, 2, which, &diag);
    if (!g) fail_msg("%s", diag.text);
    expect_near(g->value[0], 4.02540759, 2e-5);
    expect_near(g->slope[0], 3.41915, 2e-4);
    expect_near(g->slope[1], -16.0982, 2e-4);
    run_free(t);
}

/* ---- gradients ---- */

/* a hub on a motor carries a beam; a second beam is welded to its end at an angle, a mass hangs on
 * that, a spring and a force act between the nodes, a third beam hangs on the tip by a ball */
static const char *const tree =
    "gravity: [0, -9.81, 1]\n"
    "parameters: {E: 5e6, d: 900, r: 0.02, n: 0.3}\n"
    "points: {O: [0, 0, 0], A: [0.1, 0, 0.05], B: [0.9, 0.3, 0], C: [1.1, 0.9, 0.3], D: [1.5, 0.8, "
    "0.1],\n"
    "  M: A + 0.37*(B - A), N: B + n*(C - B), G: [0.5, -0.6, 0.2]}\n"
    "bodies:\n"
    "  hub: {type: cylinder, from: [0, 0, -0.1], to: [0, 0, 0.1], radius: 0.1, mass: 2}\n"
    "  ball: {type: point, mass: 0.3, position: C}\n"
    "  one: {type: beam, from: A, to: B, elements: 3, modulus: E, density: d, radius: r}\n"
    "  two: {type: beam, from: B, to: C, elements: 2, modulus: 2*E, density: d, width: 0.03, "
    "height: 0.02, strain: green,\n"
    "        velocity: [0.1, 0.2, 0], angular_velocity: [0, 0.5, 1]}\n"
    "  three: {type: beam, from: C, to: D, elements: 1, modulus: E, density: 2*d, area: 4e-4, "
    "second_moment: 2e-8, length: 0.445}\n"
    "joints:\n"
    "  motor: {type: revolute, between: [ground, hub], at: O, axis: z}\n"
    "  turn: {type: drive-angle, between: [ground, hub], axis: z, angle: 3*t^2}\n"
    "  root: {type: fixed, between: [hub, one], at: A}\n"
    "  knee: {type: fixed, between: [one, two], at: B}\n"
    "  hang: {type: spherical, between: [two, ball], at: C}\n"
    "  last: {type: spherical, between: [two, three], at: C}\n"
    "forces:\n"
    "  band: {type: spring-damper, from: ground.G, to: one.M, stiffness: 40, damping: 1, "
    "free_length: 0.5}\n"
    "  push: {type: force, on: two.N, direction: [1, 0, 1], magnitude: 2*sin(9*t)}\n"
    "measures:\n"
    "  tip: {type: position, of: three.D}\n  m: {type: velocity, of: one.M}\n  a: {type: "
    "acceleration, of: two.N}\n"
    "  R: {type: reaction, of: root}\n  s: {type: stress, of: one.M, height: r, axis: z}\n  k: "
    "{type: stress, of: two.N, height: 0.01}\n"
    "  slope: {type: slope, of: two.C}\n"
    "objectives:\n"
    "  a: end(tip.x) + integral(dot(m, m))\n  b: integral(R.force.y + 2*R.torque.z)\n  c: "
    "1e-5*integral(s^2/1e6 + k.axial) + end(slope.y)\n"
    "  e: 1e-3*integral(norm(a))\n"
    "simulation: {end: 0.1, step: 0.002}\n";

static void test_gradient(void **state)
{
    (void)state;
    run t = run_text(tree, 0.002);
    const cst_gradient *g = cst_run_gradient(t.r, NULL, CST_ADJOINT, 0, NULL, &diag);
    if (!g) fail_msg("%s", diag.text);
    int n = g->numbers, nobj = g->objectives, exact = 0;
    double *adjoint = malloc(sizeof *adjoint * (size_t)(n * nobj));
    memcpy(adjoint, g->slope, sizeof *adjoint * (size_t)(n * nobj));
    g = cst_run_gradient(t.r, NULL, CST_DIRECT, 0, NULL, &diag);
    expect_not_null(g);
    for (int i = 0; i < nobj * n; i++) {
        if (g->effect[i] != CST_EXACT) continue;
        expect_near(adjoint[i], g->slope[i], 1e-10);
        exact++;
    }
    expect_true(exact > nobj * n / 2);
    static const char *const some[] = {"E",
                                       "d",
                                       "r",
                                       "n",
                                       "C.y",
                                       "A.x",
                                       "three.length",
                                       "two.angular_velocity.z",
                                       "push.direction.x"};
    enum { SOME = sizeof some / sizeof *some };
    int which[SOME];
    for (int i = 0; i < SOME; i++)
        expect_true((which[i] = cst_model_number_find(t.m, some[i])) >= 0);
    g = cst_run_gradient(t.r, NULL, CST_DIFFERENCE, SOME, which, &diag);
    expect_not_null(g);
    for (int o = 0; o < nobj; o++)
        for (int i = 0; i < SOME; i++) {
            double y = adjoint[o * n + which[i]], apart = fabs(g->slope[o * SOME + i] - y);
            if (apart > 1e-6 * fabs(y) + 4 * g->error[o * SOME + i])
                fail_msg("%d by %s: %g, difference %g", o, some[i], y, g->slope[o * SOME + i]);
        }
    free(adjoint);
    run_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_elastic_force), cmocka_unit_test(test_inertia),
        cmocka_unit_test(test_along),         cmocka_unit_test(test_deflection),
        cmocka_unit_test(test_frequency),     cmocka_unit_test(test_energy),
        cmocka_unit_test(test_scaling),       cmocka_unit_test(test_gradient),
        cmocka_unit_test(test_rigid_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
