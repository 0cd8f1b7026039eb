/* SPDX-License-Identifier: MIT
 *
 * Measures of motion against rigid-body kinematics, force elements against their laws and their
 * power. */
#include "model/geometry.h"
#include "model_scene.h"

#include <stdio.h>

static void fill(expect_random *r, int n, double low, double high, double *x)
{
    for (int i = 0; i < n; i++) x[i] = expect_uniform(r, low, high);
}

#define V3 "[%.17g, %.17g, %.17g]"
#define X3(v) (v)[0], (v)[1], (v)[2]

/* Two bodies in motion, and a hardpoint P that is drawn on both */
typedef struct motion {
    double P[3], n[3], v[2][3], w[2][3], a[2][3], alpha[2][3];
} motion;

static scene *moving(expect_random *r, motion *k, const char *more)
{
    char text[4000];
    double q[8], o[6], e[3], R[9], E[9];
    fill(r, 3, -1, 1, k->P);
    fill(r, 3, -1, 1, e);
    cst_vop_unit.eval(3, e, 3, k->n);
    fill(r, 8, -1, 1, q);
    fill(r, 6, -1, 1, o);
    snprintf(text, sizeof text,
             "points: {P: " V3 ", Q: [0.3, -0.2, 0.9]}\n"
             "parameters: {nx: %.17g, ny: %.17g, nz: %.17g, k: 70, c: 3}\n"
             "bodies:\n"
             "  A: {type: rigid, mass: 1, inertia: [1, 1, 1], position: " V3
             ", orientation: {quaternion: [%.17g, %.17g, "
             "%.17g, %.17g]}}\n"
             "  B: {type: rigid, mass: 1, inertia: [1, 1, 1], position: " V3
             ", orientation: {quaternion: [%.17g, %.17g, "
             "%.17g, %.17g]}}\n%s",
             X3(k->P), X3(k->n), X3(o), q[0], q[1], q[2], q[3], X3(o + 3), q[4], q[5], q[6], q[7],
             more);
    scene *s = scene_new(text);
    for (int b = 0; b < 2; b++) {
        fill(r, 3, -1, 1, k->v[b]);
        fill(r, 3, -1, 1, k->w[b]);
        fill(r, 3, -1, 1, k->a[b]);
        fill(r, 3, -1, 1, k->alpha[b]);
        fill(r, 4, -1, 1, q);
        fill(r, 3, -1, 1, o);
        cst_vop_frame_quaternion.eval(4, q, 9, E);
        for (int i = 0; i < 9; i++) R[i] = E[3 * (i % 3) + i / 3];
        scene_move(s, b, R, k->P, o);
        scene_motion(s, b, k->v[b], k->w[b], k->a[b], k->alpha[b]);
    }
    return s;
}

static const double *frame(const scene *s, int body) { return s->q[0] + 12 * body; }

/* x, x', x'' of the point that is drawn at P, by r + E l and the rotation formulas */
static void point_of(const scene *s, const motion *k, int b, const double P[3], double x[3],
                     double v[3], double a[3])
{
    const double *drawn = s->P + s->m->body.at[b].drawn, *q = frame(s, b);
    double d[3], rho[3] = {0}, wr[3], wwr[3], ar[3];
    v3_sub(P, drawn, d);
    for (int i = 0; i < 3; i++) v3_axpy(v3_dot(drawn + 3 + 3 * i, d), q + 3 + 3 * i, rho);
    v3_cross(k->w[b], rho, wr);
    v3_cross(k->w[b], wr, wwr);
    v3_cross(k->alpha[b], rho, ar);
    for (int i = 0; i < 3; i++) {
        x[i] = q[i] + rho[i];
        v[i] = k->v[b][i] + wr[i];
        a[i] = k->a[b][i] + ar[i] + wwr[i];
    }
}

static void expect3(const scene *s, const char *name, const double expected[3])
{
    double v[3];
    scene_measure3(s, name, v);
    for (int i = 0; i < 3; i++) expect_near(v[i], expected[i], 1e-13);
}

static void along(const double *q, const double v[3], double out[3])
{
    for (int i = 0; i < 3; i++) out[i] = v3_dot(q + 3 + 3 * i, v);
}

static void test_measures(void **state)
{
    (void)state;
    expect_random r = {31};
    for (int sample = 0; sample < 20; sample++) {
        motion k;
        scene *s = moving(&r, &k,
                          "measures:\n"
                          "  p: {type: position, of: B.P}\n"
                          "  pA: {type: position, of: B.P, in: A}\n"
                          "  d: {type: displacement, of: B.P}\n"
                          "  vel: {type: velocity, of: B.P}\n"
                          "  vA: {type: velocity, of: B.P, in: A}\n"
                          "  a: {type: acceleration, of: B.P}\n"
                          "  aB: {type: acceleration, of: B.P, in: B}\n"
                          "  l: {type: distance, from: A.Q, to: B.P}\n"
                          "  w: {type: angular-velocity, of: B}\n"
                          "  wA: {type: angular-velocity, of: B, in: A}\n"
                          "  wd: {type: angular-acceleration, of: B}\n"
                          "  E: {type: orientation, of: B}\n"
                          "  ypr: {type: cardan, of: B}\n"
                          "  still: {type: velocity, of: ground.P}\n");
        const double Q[3] = {0.3, -0.2, 0.9}, *qA = frame(s, 0), *qB = frame(s, 1), zero[3] = {0};
        double x[3], v[3], a[3], y[3], vy[3], ay[3], d[3], out[3];
        point_of(s, &k, 1, k.P, x, v, a);
        point_of(s, &k, 0, Q, y, vy, ay);
        expect3(s, "p", x);
        v3_sub(x, qA, d);
        along(qA, d, out);
        expect3(s, "pA", out);
        v3_sub(x, k.P, d);
        expect3(s, "d", d);
        expect3(s, "vel", v);
        along(qA, v, out);
        expect3(s, "vA", out);
        expect3(s, "a", a);
        along(qB, a, out);
        expect3(s, "aB", out);
        expect3(s, "w", k.w[1]);
        along(qA, k.w[1], out);
        expect3(s, "wA", out);
        expect3(s, "wd", k.alpha[1]);
        expect3(s, "E.e2", qB + 6);
        expect3(s, "still", zero);
        /* l^2 = d.d,  l l' = d.d',  l'^2 + l l'' = d'.d' + d.d'' */
        double dv[3], da[3], l = scene_measure(s, "l"), ld = scene_measure(s, "l.rate");
        v3_sub(x, y, d), v3_sub(v, vy, dv), v3_sub(a, ay, da);
        expect_near(l * l, v3_dot(d, d), 1e-13);
        expect_near(l * ld, v3_dot(d, dv), 1e-13);
        expect_near(ld * ld + l * scene_measure(s, "l.acceleration"),
                    v3_dot(dv, dv) + v3_dot(d, da), 1e-12);
        /* E = R_z R_y R_x */
        double yaw = scene_measure(s, "ypr.yaw"), pitch = scene_measure(s, "ypr.pitch"),
               roll = scene_measure(s, "ypr.roll");
        expect_near(cos(yaw) * cos(pitch), qB[3], 1e-14);
        expect_near(sin(yaw) * cos(pitch), qB[4], 1e-14);
        expect_near(cos(yaw) * sin(pitch) * sin(roll) - sin(yaw) * cos(roll), qB[6], 1e-14);
        expect_near(cos(pitch) * cos(roll), qB[11], 1e-14);
        scene_free(s);
    }
}

/* B turns about the axis in A: the angle, its rate and its acceleration, and the power of a torsion
 * spring.
 * */
static void test_angle(void **state)
{
    (void)state;
    expect_random r = {32};
    for (int sample = 0; sample < 20; sample++) {
        motion k;
        scene *s = moving(&r, &k,
                          "forces:\n"
                          "  spring: {type: torsion, between: [A, B], axis: [nx, ny, nz], "
                          "stiffness: k, damping: c, free_angle: 0.2}\n"
                          "  law: {type: torsion, between: [A, B], axis: [nx, ny, nz], torque: "
                          "k*(s - 0.2) + c*v}\n"
                          "measures:\n"
                          "  th: {type: angle, between: [A, B], axis: [nx, ny, nz]}\n"
                          "  M: {type: force, of: spring, on: B}\n"
                          "  MA: {type: force, of: spring, on: A}\n"
                          "  L: {type: force, of: law, on: B}\n");
        double q0[12], in[4] = {X3(k.n), expect_uniform(&r, -3, 3)}, E[9], R[9], n[3] = {0}, M[3],
                       w[3], al[3], c[3];
        double rate = expect_uniform(&r, -2, 2), accel = expect_uniform(&r, -2, 2);
        cst_vop_frame_axis_angle.eval(4, in, 9, E);
        for (int i = 0; i < 9; i++) R[i] = E[3 * (i % 3) + i / 3];
        /* B as drawn, turned about n, and then moved as A was: e_B = E_A E_A0^T R e_B0 */
        memcpy(q0, s->P + s->m->body.at[1].drawn, sizeof q0);
        memcpy(s->q[0] + 12, q0, sizeof q0);
        scene_move(s, 1, R, k.P, (double[3]){0});
        const double *A0 = s->P + s->m->body.at[0].drawn, *A = frame(s, 0);
        double S[9] = {0};
        for (int j = 0; j < 3; j++)
            for (int i = 0; i < 9; i++) S[i] += A[3 + 3 * j + i / 3] * A0[3 + 3 * j + i % 3];
        scene_move(s, 1, S, k.P, (double[3]){0});
        for (int i = 0; i < 3; i++) n[i] = v3_dot(S + 3 * i, k.n);
        /* w_B = w_A + th' n,  al_B = al_A + th'' n + w_A x th' n */
        v3_cross(k.w[0], n, c);
        for (int i = 0; i < 3; i++) {
            w[i] = k.w[0][i] + rate * n[i];
            al[i] = k.alpha[0][i] + accel * n[i] + rate * c[i];
        }
        scene_motion(s, 1, k.v[1], w, k.a[1], al);
        double th = scene_measure(s, "th"), torque = 70 * (th - 0.2) + 3 * rate;
        expect_near(th, in[3], 1e-13);
        expect_near(scene_measure(s, "th.rate"), rate, 1e-13);
        expect_near(scene_measure(s, "th.acceleration"), accel, 1e-12);
        scene_forces(s);
        scene_measure3(s, "M.torque", M);
        for (int i = 0; i < 3; i++) expect_near(M[i], -torque * n[i], 1e-12);
        expect3(s, "L.torque", M);
        for (int i = 0; i < 3; i++) M[i] = -M[i];
        expect3(s, "MA.torque", M);
        expect3(s, "M.force", (double[3]){0});
        scene_free(s);
    }
}

static void test_lines(void **state)
{
    (void)state;
    expect_random r = {33};
    for (int sample = 0; sample < 20; sample++) {
        motion k;
        scene *s =
            moving(&r, &k,
                   "forces:\n"
                   "  sp: {type: spring, from: A.Q, to: B.P, stiffness: k, free_length: 0.4}\n"
                   "  da: {type: damper, from: A.Q, to: B.P, damping: c}\n"
                   "  sd: {type: spring-damper, from: A.Q, to: B.P, stiffness: k, damping: c, "
                   "preload: 5}\n"
                   "  la: {type: spring, from: A.Q, to: B.P, force: \"k*(s - 0.4) + c*v + 2*t\"}\n"
                   "  lm: {type: damper, from: A.Q, to: B.P, force: \"k*l.rate*s + p.x\"}\n"
                   "measures:\n"
                   "  l: {type: distance, from: A.Q, to: B.P}\n"
                   "  p: {type: position, of: A.P}\n"
                   "  Fsp: {type: force, of: sp}\n"
                   "  Fda: {type: force, of: da}\n"
                   "  Fsd: {type: force, of: sd}\n"
                   "  Fla: {type: force, of: la}\n"
                   "  Flm: {type: force, of: lm, on: B}\n"
                   "  Fon: {type: force, of: sp, on: A}\n");
        const double Q[3] = {0.3, -0.2, 0.9};
        double x[3], y[3], v[3], a[3], n[3], d0[3], F[3];
        point_of(s, &k, 1, k.P, x, v, a);
        point_of(s, &k, 0, Q, y, v, a);
        v3_sub(x, y, n);
        v3_sub(k.P, Q, d0);
        s->t = 1.7;
        double l = v3_norm(n), ld = scene_measure(s, "l.rate"), drawn = v3_norm(d0);
        for (int i = 0; i < 3; i++) n[i] /= l;
        scene_forces(s);
        expect_near(scene_measure(s, "Fsp.tension"), 70 * (l - 0.4), 1e-13);
        expect_near(scene_measure(s, "Fsp.length"), l, 1e-14);
        expect_near(scene_measure(s, "Fsp.rate"), ld, 1e-14);
        expect_near(scene_measure(s, "Fda.tension"), 3 * ld, 1e-13);
        expect_near(scene_measure(s, "Fsd.tension"), 5 + 70 * (l - drawn) + 3 * ld, 1e-13);
        expect_near(scene_measure(s, "Fla.tension"), 70 * (l - 0.4) + 3 * ld + 3.4, 1e-13);
        scene_measure3(s, "Flm.force", F);
        expect_near(-v3_dot(F, n), 70 * ld * l + scene_measure(s, "p.x"), 1e-12);
        for (int i = 0; i < 3; i++) F[i] = -70 * (l - 0.4) * n[i];
        expect3(s, "Fsp.force", F); /* tension pulls the second point to the first */
        for (int i = 0; i < 3; i++) F[i] = -F[i];
        expect3(s, "Fon.force", F);
        scene_free(s);
    }
}

/* resultant of all forces on a body about the ground's origin */
static void total(const scene *s, int body, double F[3], double M[3])
{
    memset(F, 0, 3 * sizeof *F);
    memset(M, 0, 3 * sizeof *M);
    for (int i = 0; i < s->m->force.n; i++)
        for (int j = 0, at = s->m->force.at[i].f0; j < s->m->force.at[i].nslot; j++, at += 3) {
            const cst_slot *k = &s->m->slot.at[s->m->force.at[i].slot[j]];
            double torque[3];
            if (k->body != body) continue;
            if (k->point) v3_axpy(1, s->force + at, F);
            v3_cross(s->x[0] + k->x0, s->force + at, torque);
            v3_axpy(1, torque, M);
        }
}

static void expect_load(expect_random *r, const char *fields, int pair, int turned,
                        const double force[3], const double torque[3], const char *axes)
{
    motion k;
    char more[600];
    snprintf(more, sizeof more, "forces: {f: {%s%s}}\n", fields, pair ? ", against: A" : "");
    scene *s = moving(r, &k, more);
    const double *q = frame(s, 1);
    double F[3], M[3], FA[3], MA[3], x[3], v[3], a[3], f[3] = {0}, m[3] = {0}, arm[3];
    scene_forces(s);
    total(s, 1, F, M);
    total(s, 0, FA, MA);
    for (int i = 0; i < 3; i++) { /* expected, in ground axes */
        const double unit[3] = {i == 0, i == 1, i == 2};
        v3_axpy(force[i], turned ? q + 3 + 3 * i : unit, f);
        v3_axpy(torque[i], turned ? q + 3 + 3 * i : unit, m);
    }
    point_of(s, &k, 1, k.P, x, v, a);
    v3_cross(x, f, arm);
    for (int i = 0; i < 3; i++) {
        if (fabs(F[i] - f[i]) > 1e-12) print_error("%s (%s):\n", fields, axes);
        expect_near(F[i], f[i], 1e-13);
        expect_near(M[i], m[i] + arm[i], 1e-13);
        expect_near(FA[i], pair ? -F[i] : 0, 1e-13);
        expect_near(MA[i], pair ? -M[i] : 0, 1e-12);
    }
    scene_free(s);
}

static void test_loads(void **state)
{
    (void)state;
    expect_random r = {34};
    const double F[3] = {1, -2, 3}, none[3] = {0}, Z[3] = {0, 0, -4};
    for (int pair = 0; pair < 2; pair++) {
        expect_load(&r, "type: force, on: B.P, force: [1, -2, 3*cos(t)]", pair, 0, F, none,
                    "ground");
        expect_load(&r, "type: force, on: B.P, force: [1, -2, 3], axes: body", pair, 1, F, none,
                    "body");
        expect_load(&r, "type: force, on: B.P, direction: -z, magnitude: 4 + t", pair, 0, Z, none,
                    "ground");
        expect_load(&r, "type: torque, on: B, torque: [1, -2, 3]", pair, 0, none, F, "ground");
        expect_load(&r, "type: torque, on: B, torque: [1, -2, 3], axes: body", pair, 1, none, F,
                    "body");
        expect_load(&r, "type: torque, on: B, axis: z, magnitude: -4", pair, 0, none, Z, "ground");
    }
    expect_load(&r, "type: load, on: B.P, direction: -z, signal: 2*cos(t), scale: 2", 0, 0, Z, none,
                "ground");
}

/* A stop pushes beyond its limits only, and never pulls. */
static void test_stop(void **state)
{
    (void)state;
    expect_random r = {35};
    int seen[3] = {0};
    for (int sample = 0; sample < 60; sample++) {
        motion k;
        scene *s = moving(&r, &k,
                          "forces:\n"
                          "  st: {type: stop, from: A.Q, to: B.P, lower: 1.2, upper: 2, stiffness: "
                          "k, damping: 30}\n"
                          "measures:\n"
                          "  l: {type: distance, from: A.Q, to: B.P}\n"
                          "  F: {type: force, of: st, on: B}\n");
        const double Q[3] = {0.3, -0.2, 0.9};
        double x[3], y[3], v[3], a[3], d[3], F[3], l = scene_measure(s, "l"),
                                                   ld = scene_measure(s, "l.rate");
        point_of(s, &k, 1, k.P, x, v, a);
        point_of(s, &k, 0, Q, y, v, a);
        v3_sub(x, y, d);
        scene_forces(s);
        scene_measure3(s, "F.force", F);
        double out = v3_dot(F, d) / l, N = 0;
        if (l < 1.2) N = fmax(0, 70 * (1.2 - l) - 30 * ld), seen[0] += N > 0;
        if (l > 2) N = -fmax(0, 70 * (l - 2) + 30 * ld), seen[1] += N < 0;
        seen[2] += N == 0;
        expect_near(out, N, 1e-12);
        scene_free(s);
    }
    expect_true(seen[0] > 0 && seen[1] > 0 && seen[2] > 0);
}

/* A bushing is free of force as drawn, and pushes back along its own axes. */
static void test_bushing(void **state)
{
    (void)state;
    expect_random r = {36};
    motion k;
    scene *s = moving(&r, &k,
                      "forces:\n"
                      "  b: {type: bushing, between: [A, B], at: P, orientation: {x: [0, 1, 0], y: "
                      "[0, 0, 1]}, stiffness: [10, 20, 30], rotational_stiffness: 4}\n"
                      "measures: {F: {type: force, of: b}}\n");
    for (int b = 0; b < 2; b++) {
        memcpy(s->q[0] + 12 * b, s->P + s->m->body.at[b].drawn, 12 * sizeof(double));
        scene_motion(s, b, (double[3]){0}, (double[3]){0}, (double[3]){0}, (double[3]){0});
    }
    scene_forces(s);
    expect3(s, "F.force", (double[3]){0});
    expect3(s, "F.torque", (double[3]){0});
    const double R[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    scene_move(s, 1, R, k.P, (double[3]){0.1, 0.01, -0.2});
    scene_forces(s);
    expect3(s, "F.force",
            (double[3]){-30 * 0.1, -10 * 0.01,
                        20 * 0.2}); /* x, y, z are its third, first, second */
    static const double angle[] = {1e-9, 0.01, 0.8, 1.1, 2, 2.85};
    for (size_t i = 0; i < sizeof angle / sizeof *angle;
         i++) { /* turned by an angle about n: back by 4 times that */
        double n[3], size = 0, c = cos(angle[i]), d = sin(angle[i]), Q[9];
        for (int j = 0; j < 3; j++) n[j] = expect_uniform(&r, -1, 1), size += n[j] * n[j];
        for (int j = 0; j < 3; j++) n[j] /= sqrt(size);
        const double cross[9] = {0, -n[2], n[1], n[2], 0, -n[0], -n[1], n[0], 0};
        for (int j = 0; j < 9; j++)
            Q[j] = (j % 4 == 0 ? c : 0) + d * cross[j] + (1 - c) * n[j / 3] * n[j % 3];
        memcpy(s->q[0] + 12, s->P + s->m->body.at[1].drawn, 12 * sizeof(double));
        scene_move(s, 1, Q, k.P, (double[3]){0});
        scene_forces(s);
        expect3(s, "F.torque",
                (double[3]){-4 * angle[i] * n[0], -4 * angle[i] * n[1], -4 * angle[i] * n[2]});
    }
    scene_free(s);
}

static void test_state(void **state)
{
    (void)state;
    expect_random r = {37};
    motion k;
    scene *s = moving(&r, &k,
                      "forces: {f: {type: force, on: B.P, force: [1, 0, 0]}}\n"
                      "measures:\n"
                      "  p: {type: position, of: B.P}\n"
                      "  lag: {type: state, rate: (p.x - s)/c, initial: 2}\n"
                      "  lag2: {type: state, rate: p.y - 3*s}\n");
    expect_int(s->m->nz, 2);
    s->z[0] = 5, s->z[1] = 7;
    expect_near(scene_measure(s, "lag"), 5, 0);
    expect_near(scene_measure(s, "lag2"), 7, 0);
    for (int i = 0; i < s->m->force.n; i++) {
        const cst_force *f = &s->m->force.at[i];
        if (f->nz == 0) continue;
        scene_element w;
        double zd[1], out[CST_MAX_NX];
        scene_local(s, f->nslot, f->slot, w.x, w.xd);
        for (int j = 0; j < f->np; j++) w.p[j] = s->P[f->p + j];
        w.e = (cst_local){.nx = f->nx,
                          .np = f->np,
                          .nz = 1,
                          .x = w.x,
                          .xd = w.xd,
                          .z = s->z + f->z0,
                          .mem = s->mem,
                          .p = w.p,
                          .tape = f->tape,
                          .reg = w.reg};
        f->cls->force(&w.e, out, zd);
        int first = f->z0 == 0;
        double expected = first ? (scene_measure(s, "p.x") - 5) / 3 : scene_measure(s, "p.y") - 21;
        expect_near(zd[0], expected, 1e-14);
        expect_near(s->P[f->z_start], first ? 2 : 0, 0);
    }
    scene_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_measures), cmocka_unit_test(test_angle),
        cmocka_unit_test(test_lines),    cmocka_unit_test(test_loads),
        cmocka_unit_test(test_stop),     cmocka_unit_test(test_bushing),
        cmocka_unit_test(test_state),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
