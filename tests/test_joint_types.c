/* SPDX-License-Identifier: MIT
 *
 * What joints leave free and what they hold: finite motions of the second body, virtual work of
 * reactions, drivers. */
#include "model/geometry.h"
#include "model_scene.h"

#include <stdio.h>

static void fill(expect_random *r, int n, double low, double high, double *x)
{
    for (int i = 0; i < n; i++) x[i] = expect_uniform(r, low, high);
}

#define V3 "[%.17g, %.17g, %.17g]"
#define X3(v) (v)[0], (v)[1], (v)[2]

typedef struct drawing {
    double at[3], n[3], u[3], v[3];
    char bodies[1200];
} drawing; /* n, u, v: unit, right-handed */

static drawing draw(expect_random *r)
{
    drawing d;
    double q[8], o[6], e[6];
    fill(r, 3, -1, 1, d.at);
    fill(r, 3, -1, 1, e);
    fill(r, 8, -1, 1, q);
    fill(r, 6, -1, 1, o);
    cst_vop_unit.eval(3, e, 3, d.n);
    cst_vop_perpendicular.eval(3, d.n, 6, e);
    memcpy(d.u, e, sizeof d.u);
    memcpy(d.v, e + 3, sizeof d.v);
    snprintf(d.bodies, sizeof d.bodies,
             "bodies:\n"
             "  A: {type: rigid, mass: 1, inertia: [1, 1, 1], position: " V3
             ", orientation: {quaternion: [%.17g, %.17g, "
             "%.17g, %.17g]}}\n"
             "  B: {type: rigid, mass: 1, inertia: [1, 1, 1], position: " V3
             ", orientation: {quaternion: [%.17g, %.17g, "
             "%.17g, %.17g]}}\n",
             X3(o), q[0], q[1], q[2], q[3], X3(o + 3), q[4], q[5], q[6], q[7]);
    return d;
}

static void rotation_about(const double n[3], double angle, double R[9])
{
    double in[4] = {n[0], n[1], n[2], angle}, E[9];
    cst_vop_frame_axis_angle.eval(4, in, 9, E);
    for (int i = 0; i < 9; i++) R[i] = E[3 * (i % 3) + i / 3];
}

static const double none[3], one[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};

/* Motions along and about n, u, v through the joint: 1 free, 0 held, -1 depends. Turns go v, u, n.
 */
typedef struct kind {
    const char *fields; /* AT, N, U stand for the drawing's */
    int rows, shift[3], turn[3];
} kind;

static const kind kinds[] = {
    {"type: spherical, between: [A, B], at: AT", 3, {0, 0, 0}, {1, 1, 1}},
    {"type: revolute, between: [A, B], at: AT, axis: N", 5, {0, 0, 0}, {1, 0, 0}},
    {"type: universal, between: [A, B], at: AT, axis_1: N, axis_2: U", 4, {0, 0, 0}, {1, 1, 0}},
    {"type: cylindrical, between: [A, B], at: AT, axis: N", 4, {1, 0, 0}, {1, 0, 0}},
    {"type: prismatic, between: [A, B], at: AT, axis: N", 5, {1, 0, 0}, {0, 0, 0}},
    {"type: planar, between: [A, B], at: AT, normal: N", 3, {0, 1, 1}, {1, 0, 0}},
    {"type: fixed, between: [A, B]", 6, {0, 0, 0}, {0, 0, 0}},
    {"type: fixed, between: [A, B], at: AT", 6, {0, 0, 0}, {0, 0, 0}},
    {"type: coincident, from: A.P, to: B.P", 3, {0, 0, 0}, {1, 1, 1}},
    {"type: point-on-line, of: B.P, on: A, axis: N", 2, {1, 0, 0}, {1, 1, 1}},
    {"type: point-on-plane, of: B.P, on: A, normal: N", 1, {0, 1, 1}, {1, 1, 1}},
    {"type: in-plane, from: A.P, to: B.P, normal: N", 1, {0, 1, 1}, {1, 1, 1}},
    {"type: dot, between: [A, B], axis_1: N, axis_2: U", 1, {1, 1, 1}, {1, 1, 0}},
    {"type: constant-angle, between: [A, B], axis_1: N, axis_2: U, angle: 90 deg",
     1,
     {1, 1, 1},
     {1, 1, 0}},
    {"type: rotation, between: [A, B], axis: N", 1, {1, 1, 1}, {0, 1, -1}},
};

/* fields with AT, N, U written out */
static void expand(const drawing *d, const char *fields, char *out, size_t size)
{
    size_t n = 0;
    for (const char *c = fields; *c; c++) {
        int first = c == fields || c[-1] == ' ', last1 = strchr(",}", c[1]) != NULL;
        const double *v = NULL;
        if (first && c[0] == 'A' && c[1] == 'T')
            v = d->at, c++;
        else if (first && last1 && *c == 'N')
            v = d->n;
        else if (first && last1 && *c == 'U')
            v = d->u;
        if (v != NULL)
            n += (size_t)snprintf(out + n, size - n, V3, X3(v));
        else
            out[n++] = *c;
    }
    out[n] = 0;
}

static scene *with_joint(const drawing *d, const char *fields, const char *more)
{
    char joint[1000], measures[1000], text[6000];
    expand(d, fields, joint, sizeof joint);
    expand(d, more, measures, sizeof measures);
    snprintf(text, sizeof text,
             "points: {P: " V3
             "}\n%sjoints: {j: {%s}}\nmeasures:\n  R: {type: reaction, of: j}\n%s",
             X3(d->at), d->bodies, joint, measures);
    return scene_new(text);
}

static void test_freedoms(void **state)
{
    (void)state;
    expect_random r = {21};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        const kind *K = &kinds[k];
        for (int sample = 0; sample < 5; sample++) {
            drawing d = draw(&r);
            const double *axis[3] = {d.n, d.u, d.v};
            double R[9], shift[3] = {0}, q0[24];
            scene *s = with_joint(&d, K->fields, "");
            memcpy(q0, s->q[0], sizeof q0);
            expect_int(s->m->nrow, K->rows);
            expect_near(scene_phi(s, 0, NULL), 0, 1e-14);

            for (int i = 2; i >= 0; i--) { /* all that is free, far */
                double far = expect_uniform(&r, -3, 3);
                if (K->shift[i] == 1) v3_axpy(far, axis[i], shift);
                if (K->turn[i] != 1) continue;
                rotation_about(axis[i], expect_uniform(&r, -3, 3), R);
                scene_move(s, 1, R, d.at, none);
            }
            scene_move(s, 1, one, none, shift);
            if (scene_phi(s, 0, NULL) > 1e-13) print_error("%s:\n", K->fields);
            expect_near(scene_phi(s, 0, NULL), 0, 1e-13);
            rotation_about(d.v, 2, R); /* and the scene as a whole */
            for (int b = 0; b < 2; b++) scene_move(s, b, R, none, d.n);
            expect_near(scene_phi(s, 0, NULL), 0, 1e-13);

            for (int i = 0; i < 3; i++) { /* what is held, each alone */
                memcpy(s->q[0], q0, sizeof q0);
                scene_slots(s);
                memset(shift, 0, sizeof shift);
                v3_axpy(0.3, axis[i], shift);
                if (K->shift[i] == 0) {
                    scene_move(s, 1, one, none, shift);
                    expect_true(scene_phi(s, 0, NULL) > 0.05);
                }
                memcpy(s->q[0], q0, sizeof q0);
                scene_slots(s);
                rotation_about(axis[i], 0.4, R);
                scene_move(s, 1, R, d.at, none);
                if (K->turn[i] == 0) expect_true(scene_phi(s, 0, NULL) > 0.05);
            }
            scene_free(s);
        }
    }
}

/* force and torque about x0 on a body, summed over the slots by hand */
static void resultant(const scene *s, int body, const double x0[3], double F[3], double M[3])
{
    memset(F, 0, 3 * sizeof *F);
    memset(M, 0, 3 * sizeof *M);
    for (int c = 0; c < s->m->constraint.n; c++)
        for (int k = 0, x = 0; k < s->m->constraint.at[c].nslot; k++, x += 3) {
            const cst_slot *slot = &s->m->slot.at[s->m->constraint.at[c].slot[k]];
            const double *f = s->react + s->m->constraint.at[c].f0 + x, *at = s->x[0] + slot->x0;
            if (slot->body != body) continue;
            double arm[3], torque[3];
            for (int i = 0; i < 3; i++) arm[i] = at[i] - (slot->point ? x0[i] : 0);
            v3_cross(arm, f, torque);
            if (slot->point) v3_axpy(1, f, F);
            v3_axpy(1, torque, M);
        }
}

/* Reactions do no work on free motions, act on both bodies alike, and the measure shows those on
 * the second.
 * */
static void test_reactions(void **state)
{
    (void)state;
    expect_random r = {22};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        const kind *K = &kinds[k];
        drawing d = draw(&r);
        const double *axis[3] = {d.n, d.u, d.v};
        double lambda[6], F[3], M[3], x0[3], FA[3], MA[3], FB[3], MB[3];
        scene *s = with_joint(&d, K->fields, "  RB: {type: reaction, of: j, axes: body}\n");
        fill(&r, 6, -2, 2, lambda);
        scene_phi(s, 0, lambda);
        scene_measure3(s, "R.force", F);
        scene_measure3(s, "R.torque", M);
        int at = s->m->joint.at[0].at[1];
        for (int i = 0; i < 3; i++)
            x0[i] = at >= 0 ? s->x[0][s->m->slot.at[at].x0 + i] : s->q[0][12 + i];
        resultant(s, 1, x0, FB, MB);
        resultant(s, 0, x0, FA, MA);
        for (int i = 0; i < 3; i++) {
            expect_near(F[i], FB[i], 1e-14);
            expect_near(M[i], MB[i], 1e-14);
            expect_near(FA[i], -FB[i], 1e-14);
            expect_near(MA[i], -MB[i], 1e-13);
        }
        double arm[3], moved[3];
        v3_sub(x0, d.at, arm);
        v3_cross(arm, F, moved);
        for (int i = 0; i < 3; i++) M[i] += moved[i]; /* about the joint */
        for (int i = 0; i < 3; i++) {
            if (K->shift[i] == 1) expect_near(v3_dot(F, axis[i]), 0, 1e-14);
            if (K->turn[i] == 1) expect_near(v3_dot(M, axis[i]), 0, 1e-14);
        }
        scene_measure3(s, "RB.force", FB);
        for (int i = 0; i < 3; i++) expect_near(FB[i], v3_dot(F, s->q[0] + 15 + 3 * i), 1e-14);
        scene_free(s);
    }
}

/* Drivers: the second body moved by what is prescribed, over several turns. */
static void test_drivers(void **state)
{
    (void)state;
    expect_random r = {23};
    double R[9], shift[3];
    for (int sample = 0; sample < 5; sample++) {
        drawing d = draw(&r);
        scene *s =
            with_joint(&d, "type: drive-angle, between: [A, B], axis: N, angle: 7*t + sin(t)", "");
        expect_int(s->m->joint.at[0].drives, 1);
        double lambda[1] = {expect_uniform(&r, 1, 2)}, M[3], w[3];
        scene_phi(s, 0, lambda);
        scene_measure3(s, "R.torque", M);
        expect_near(scene_measure(s, "R.drive"), v3_dot(M, d.n), 1e-14);
        expect_near(fabs(v3_dot(M, d.n)), lambda[0], 1e-14);
        for (int k = 0; k < 40; k++) {
            double q0[24];
            memcpy(q0, s->q[0], sizeof q0);
            s->t = 0.2 * k;
            rotation_about(d.n, 7 * s->t + sin(s->t), R);
            scene_move(s, 1, R, d.at, d.u);
            expect_near(scene_phi(s, 0, NULL), 0, 1e-13);
            rotation_about(d.n, 0.1, R);
            scene_move(s, 1, R, d.at, none);
            expect_near(scene_phi(s, 0, NULL), sin(0.1), 1e-12);
            memcpy(s->q[0], q0, sizeof q0);
        }
        scene_free(s);

        s = with_joint(
            &d, "type: drive-coordinate, of: B.P, on: A, origin: AT, direction: N, value: t^2", "");
        s->t = 1.5;
        memset(shift, 0, sizeof shift);
        v3_axpy(2.25, d.n, shift);
        v3_axpy(0.7, d.u, shift);
        scene_move(s, 1, one, none, shift);
        expect_near(scene_phi(s, 0, lambda), 0, 1e-14);
        scene_measure3(s, "R.force", w);
        expect_near(scene_measure(s, "R.drive"), v3_dot(w, d.n), 1e-14);
        expect_near(fabs(v3_dot(w, d.n)), lambda[0], 1e-14);
        scene_free(s);

        s = with_joint(&d, "type: drive, of: a, value: 7*t, between: [A, B]",
                       "  a: {type: angle, between: [A, B], axis: N}\n");
        s->t = 0.3;
        rotation_about(d.n, 2.1, R);
        scene_move(s, 1, R, d.at, d.v);
        expect_near(scene_phi(s, 0, lambda), 0, 1e-14);
        scene_measure3(s, "R.torque", M); /* -lambda on the angle */
        for (int i = 0; i < 3; i++) expect_near(M[i], -lambda[0] * d.n[i], 1e-13);
        scene_free(s);
    }
}

/* A rod: free to turn about its first end; tension 2 lambda L; pulled when it is positive. */
static void test_distance(void **state)
{
    (void)state;
    expect_random r = {24};
    for (int sample = 0; sample < 10; sample++) {
        drawing d = draw(&r);
        char fields[300];
        double end[3], rod[3], R[9], F[3], lambda[1] = {expect_uniform(&r, -2, 2)};
        fill(&r, 3, -2, 2, end);
        v3_sub(end, d.at, rod);
        snprintf(fields, sizeof fields, "type: distance, from: A.P, to: {body: B, at: " V3 "}",
                 X3(end));
        scene *s = with_joint(&d, fields, "");
        rotation_about(d.u, 1.3, R);
        scene_move(s, 1, R, d.at, none);
        expect_near(scene_phi(s, 0, lambda), 0, 1e-13);
        expect_near(scene_measure(s, "R.tension"), 2 * lambda[0] * v3_norm(rod), 1e-13);
        scene_measure3(s, "R.force", F);
        double now[3];
        for (int i = 0; i < 3; i++) now[i] = v3_dot(R + 3 * i, rod);
        expect_near(v3_dot(F, now), -2 * lambda[0] * v3_dot(rod, rod), 1e-13);
        scene_free(s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_freedoms),
        cmocka_unit_test(test_reactions),
        cmocka_unit_test(test_drivers),
        cmocka_unit_test(test_distance),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
