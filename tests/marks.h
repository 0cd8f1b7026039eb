/* SPDX-License-Identifier: MIT
 *
 * No number is marked as one-sided or not differentiable where nothing is: in smooth mechanisms,
 * and in those that start in an equilibrium on the kinks of their dampers, which no number leaves.
 */
#ifndef CST_TESTS_MARKS_H
#define CST_TESTS_MARKS_H

#include "random_check.h"

static inline int marks_of(const cst_gradient *g)
{
    int n = 0;
    for (int k = 0; k < g->objectives * g->numbers; k++)
        n += g->effect[k] == CST_ONE_SIDED || g->effect[k] == CST_NOT_SMOOTH;
    return n;
}

/* How many slopes a random mechanism has; 0: it has no motion */
static inline int marks_of_random(uint64_t seed, random_kind kind)
{
    static random_model g;
    cst_diag d = {0}, quiet = {0};
    random_model_write(&g, seed,
                       &(random_options){.kind = kind, .objectives = 3, .step = 1e-2, .steps = 15});
    cst_model *m = cst_model_parse("random.yaml", g.text, strlen(g.text), 0, NULL, &quiet);
    cst_run *r = m ? cst_run_new(m, NULL, &quiet) : NULL;
    const cst_gradient *slopes = r ? cst_run_gradient(r, NULL, CST_ADJOINT, 0, NULL, &d) : NULL;
    const int n = slopes ? slopes->objectives * slopes->numbers : 0;
    if (slopes && marks_of(slopes)) fail_msg("seed %llu: %s", (unsigned long long)seed, d.text);
    cst_run_free(r);
    cst_model_free(m);
    return n;
}

/* A wishbone suspension of random shape on a spring and a damper of two sides */
static inline int marks_at_rest(uint64_t seed)
{
    static const char *const damper[] = {"max(c1*v, c2*v)", "if(v >= 0, c2, c1)*v",
                                         "clamp(c2*v, -9, 9)", "max(c1*v, c2*v) + abs(c1*v)"};
    expect_random r = {seed};
    char text[4000];
    double x[14];
    cst_diag d = {0};
    for (int i = 0; i < 14; i++) x[i] = expect_uniform(&r, -0.03, 0.03);
    snprintf(
        text, sizeof text,
        "costate: 1\ngravity: [0, 0, -9.81]\n"
        "parameters: {m1: %.9g, K: %.9g, c1: %.9g, c2: 3e3, Cz: 150e3, zs: 0.02}\n"
        "points: {A: [0, %.9g, %.9g], B: [0, %.9g, %.9g], C: [0, %.9g, %.9g], E: [0, %.9g, %.9g],\n"
        "  W: [0, 0.75, 0.3], S: A + %.9g*(C - A), T: [0, 0.46, %.9g]}\n"
        "bodies:\n  chassis: {type: rigid, mass: m1, inertia: [20, 20, 20], position: T}\n"
        "  lower: {type: bar, from: A, to: C, mass: 6}\n  upper: {type: bar, from: B, to: E, mass: "
        "4}\n"
        "  knuckle: {type: bar, from: C, to: E, mass: 5}\n"
        "  wheel: {type: rigid, mass: 40, inertia: [0.6, 1, 0.6], position: W}\n"
        "joints:\n  guide: {type: prismatic, between: [ground, chassis], at: T, axis: z}\n"
        "  a: {type: revolute, between: [chassis, lower], at: A, axis: x}\n"
        "  b: {type: revolute, between: [chassis, upper], at: B, axis: x}\n"
        "  c: {type: revolute, between: [lower, knuckle], at: C, axis: x}\n"
        "  e: {type: revolute, between: [upper, knuckle], at: E, axis: x}\n"
        "  hub: {type: fixed, between: [knuckle, wheel], at: W}\n"
        "forces:\n  strut: {type: spring-damper, from: lower.S, to: chassis.T, force: \"K*(s - "
        "0.5) + %s\"}\n"
        "  tire: {type: force, on: wheel.W, direction: z, magnitude: \"Cz*(zs - hop + if(t > t0, "
        "0.02, 0))\"}\n"
        "measures: {pos: {type: position, of: wheel.W}, hop: pos.z - W.z,\n"
        "  len: {type: distance, from: lower.S, to: chassis.T}, vd: rate(len),\n"
        "  zc: {type: position, of: chassis.T}}\n"
        "initial: {equilibrium: {}}\n"
        "objectives: {early: \"at(vd, 0.03)\", psi: integral(zc.z^2), late: end(hop)}\n"
        "simulation: {end: 0.1, step: 2 ms}\n",
        200 + 1e3 * x[0], 40e3 + 1e5 * x[1], 1e3 + 1e4 * x[2], 0.3 + x[3], 0.25 + x[4], 0.4 + x[5],
        0.5 + x[6], 0.7 + x[7], 0.2 + x[8], 0.65 + x[9], 0.48 + x[10], 0.46 + x[11], 0.6 + x[12],
        damper[seed % 4]);
    char *t0 = strstr(text, "t > t0");
    memcpy(t0, "t>0.06", 6);
    cst_model *m = cst_model_parse("rest.yaml", text, strlen(text), 0, NULL, &d);
    cst_run *run = m ? cst_run_new(m, NULL, &d) : NULL;
    const cst_gradient *g = run ? cst_run_gradient(run, NULL, CST_ADJOINT, 0, NULL, &d) : NULL;
    if (!g || marks_of(g)) {
        fputs(text, stderr);
        fail_msg("seed %llu: %s", (unsigned long long)seed, d.text);
    }
    const int n = g->objectives * g->numbers;
    cst_run_free(run);
    cst_model_free(m);
    return n;
}

#endif
