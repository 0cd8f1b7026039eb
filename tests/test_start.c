/* SPDX-License-Identifier: MIT
 *
 * Derivatives of the start alone: runs without a step, closed forms for every way to say how a
 * motion begins. */
#include "random_check.h"

typedef struct scene {
    cst_diag d;
    cst_model *m;
    cst_run *run;
} scene;

static scene open_scene(const char *text, double start)
{
    static char whole[8192];
    scene s = {0};
    snprintf(whole, sizeof whole,
             "costate: 1\n%s\nsimulation: {start: %.17g, end: %.17g, step: 0.01}\n", text, start,
             start + 1);
    cst_options o = cst_options_default();
    o.end = start;
    s.m = cst_model_parse("start.yaml", whole, strlen(whole), 0, NULL, &s.d);
    if (s.m == NULL) fail_msg("%s\n%s", s.d.text, whole);
    s.run = cst_run_new(s.m, &o, &s.d);
    if (s.run == NULL) fail_msg("%s\n%s", s.d.text, whole);
    if (cst_run_simulate(s.run, NULL, NULL, NULL, &s.d) != CST_OK)
        fail_msg("%s\n%s", s.d.text, whole);
    return s;
}

static void close_scene(scene *s)
{
    cst_run_free(s->run);
    cst_model_free(s->m);
}

static int objective(const scene *s, const char *name)
{
    for (int i = 0; i < cst_model_objective_count(s->m); i++)
        if (strcmp(cst_model_objective_name(s->m, i), name) == 0) return i;
    fail_msg("no objective %s", name);
    return -1;
}

static double value(const scene *s, const char *name)
{
    return cst_run_objective(s->run, objective(s, name));
}

/* by adjoint and direct, which must agree */
static double slope(scene *s, const char *name, const char *number)
{
    int o = objective(s, name), i = cst_model_number_find(s->m, number);
    if (i < 0) fail_msg("no number %s", number);
    double y[2];
    for (cst_method method = CST_ADJOINT; method <= CST_DIRECT; method++) {
        const cst_gradient *g = cst_run_gradient(s->run, NULL, method, 1, &i, &s->d);
        if (g == NULL) fail_msg("%s", s->d.text);
        y[method] = g->slope[o];
    }
    expect_near(y[0], y[1], 1e-13);
    return y[0];
}

#define EPS 1e-12

static const char *const axis[3] = {"x", "y", "z"};

static const char *with(const char *name, int i) /* NAME.x; two may be in use at a time */
{
    static char text[2][64];
    static int k;
    k = !k;
    snprintf(text[k], sizeof text[k], "%s.%s", name, axis[i]);
    return text[k];
}

/* d(a x b)_i/da_j */
static double cross_slope(int i, int j, const double b[3])
{
    return j == (i + 1) % 3 ? b[(i + 2) % 3] : j == (i + 2) % 3 ? -b[(i + 1) % 3] : 0;
}

/* ---- velocities of bodies: v = v0 + w x (P - r) ---- */

static void velocities_of_a_free_body(void **state)
{
    (void)state;
    const double arm[3] = {0.4, -0.9, 0.5}, w[3] = {0.7, 0.2, -0.4};
    scene s =
        open_scene("gravity: [0, 0, -9]\npoints: {P: [1.4, -0.4, 0.9], r: [1, 0.5, 0.4]}\n"
                   "bodies: {b: {type: rigid, mass: 2, inertia: [1, 1.2, 0.9], position: r,\n"
                   "  velocity: [0.3, -0.1, 0.6], angular_velocity: [0.7, 0.2, -0.4]}}\n"
                   "measures: {V: {type: velocity, of: b.P}, a: {type: acceleration, of: b.P}}\n"
                   "objectives: {vx: start(V.x), vy: end(V.y), vz: end(V.z), none: integral(V.x), "
                   "ax: end(a.x)}",
                   0);
    static const char *const v[3] = {"vx", "vy", "vz"};
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            expect_near(slope(&s, v[i], with("b.velocity", j)), i == j, EPS);
            expect_near(slope(&s, v[i], with("b.angular_velocity", j)), cross_slope(i, j, arm),
                        EPS);
            expect_near(slope(&s, v[i], with("P", j)), -cross_slope(i, j, w), EPS);
            expect_near(slope(&s, v[i], with("r", j)), cross_slope(i, j, w), EPS);
        }
    expect_near(slope(&s, "none", "P.x"), 0, 0);
    expect_near(slope(&s, "vx", "b.mass"), 0, 0);
    expect_near(slope(&s, "ax", "gravity.x"), 1, EPS);
    close_scene(&s);
}

/* ---- closest assembly: |x| = L from a drawn p gives x = L n, n = p/|p|, and u = (1 - n n^T)
 * u_drawn ---- */

static void closest_point_of_a_sphere(void **state)
{
    (void)state;
    const double p[3] = {0.8, -0.5, 1.1}, u[3] = {0.3, 0.9, -0.2}, L = 1.2;
    scene s =
        open_scene("gravity: [0, 0, 0]\npoints: {O: [0, 0, 0], P: [0.8, -0.5, 1.1]}\n"
                   "bodies: {b: {type: point, mass: 3, position: P, velocity: [0.3, 0.9, -0.2]}}\n"
                   "joints: {rod: {type: distance, from: ground.O, to: b.P, length: 1.2}}\n"
                   "measures: {p: {type: position, of: b.P}, V: {type: velocity, of: b.P}, R: "
                   "{type: reaction, of: rod}}\n"
                   "objectives: {x: end(p.x), y: end(p.y), z: end(p.z), u: end(V.x), v: end(V.y), "
                   "w: end(V.z),\n"
                   "  T: end(R.tension)}",
                   0);
    static const char *const place[3] = {"x", "y", "z"}, *const rate[3] = {"u", "v", "w"};
    double l = sqrt(random_dot(p, p)), n[3], nu = random_dot(p, u) / l, N[3][3];
    for (int i = 0; i < 3; i++) n[i] = p[i] / l;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) N[i][j] = ((i == j) - n[i] * n[j]) / l; /* dn_i/dp_j */
    for (int i = 0; i < 3; i++) {
        expect_near(value(&s, place[i]), L * n[i], EPS);
        expect_near(value(&s, rate[i]), u[i] - nu * n[i], EPS);
        expect_near(slope(&s, place[i], "rod.length"), n[i], EPS);
        for (int j = 0; j < 3; j++) {
            double Nu = 0;
            for (int k = 0; k < 3; k++) Nu += N[k][j] * u[k];
            expect_near(slope(&s, place[i], with("P", j)), L * N[i][j], EPS);
            expect_near(slope(&s, rate[i], with("b.velocity", j)), (i == j) - n[i] * n[j], EPS);
            expect_near(slope(&s, rate[i], with("P", j)), -Nu * n[i] - nu * N[i][j], EPS);
            expect_near(slope(&s, place[i], with("b.velocity", j)), 0, EPS);
        }
    }
    /* tension = m |u|^2/L */
    double v2 = random_dot(u, u) - nu * nu;
    expect_near(value(&s, "T"), 3 * v2 / L, EPS);
    expect_near(slope(&s, "T", "b.mass"), v2 / L, EPS);
    expect_near(slope(&s, "T", "rod.length"), -3 * v2 / (L * L), EPS);
    expect_near(slope(&s, "T", "b.velocity.y"), 6 / L * (u[1] - nu * n[1]), EPS);
    expect_near(slope(&s, "T", "gravity.z"), 3 * n[2], EPS);
    close_scene(&s);
}

/* ---- points drawn apart meet half way ---- */

static void points_drawn_apart_meet(void **state)
{
    (void)state;
    scene s = open_scene("points: {P: [0.8, -0.5, 1.1], Q: [0.2, 0.6, 0.5]}\n"
                         "bodies: {a: {type: point, mass: 3, position: P, velocity: [1, 2, 3]},\n"
                         "  b: {type: point, mass: 1, position: Q, velocity: [0, 5, 1]}}\n"
                         "joints: {both: {type: coincident, from: a.P, to: b.Q}}\n"
                         "measures: {p: {type: position, of: a.P}, V: {type: velocity, of: b.Q}, "
                         "R: {type: reaction, of: both}}\n"
                         "objectives: {x: end(p.x), v: end(V.y), R: end(R.force.y)}",
                         0);
    expect_near(value(&s, "x"), 0.5, EPS);
    expect_near(value(&s, "v"), (3 * 2 + 1 * 5) / 4.0,
                EPS); /* rates meet with the least change of kinetic energy */
    expect_near(slope(&s, "x", "P.x"), 0.5, EPS);
    expect_near(slope(&s, "x", "Q.x"), 0.5, EPS);
    expect_near(slope(&s, "x", "Q.y"), 0, EPS);
    expect_near(slope(&s, "v", "a.velocity.y"), 0.75, EPS);
    expect_near(slope(&s, "v", "b.velocity.y"), 0.25, EPS);
    expect_near(slope(&s, "v", "a.mass"), (2 - 2.75) / 4, EPS);
    expect_near(value(&s, "R"), 0, EPS);
    close_scene(&s);
}

/* ---- a pendulum at a prescribed angle and rate, in both directions of writing it ----
 *
 * bar from A to B, |B - A| = l at the angle f when drawn; prescribed: th, w.  c = cos(f + th), s =
 * sin(f + th) B = A + l (c, s),  v = l w (-s, c),  a = l (w' (-s, c) - w^2 (c, s)),  w' = -3/2 g
 * c/l */

static void pendulum_is(const char *initial, double start)
{
    static char text[2048];
    snprintf(
        text, sizeof text,
        "gravity: [0, -9, 0]\nparameters: {th: 0.4, w: 1.3}\npoints: {A: [0.1, 0.2, 0], B: [0.7, "
        "1, 0]}\n"
        "bodies: {bar: {type: bar, from: A, to: B, mass: 2}}\n"
        "joints: {hinge: {type: revolute, between: [ground, bar], at: A, axis: z}}\n"
        "measures: {p: {type: position, of: bar.B}, V: {type: velocity, of: bar.B}, a: {type: "
        "acceleration, of: bar.B},\n"
        "  q: {type: angle, between: [ground, bar], axis: z}, R: {type: reaction, of: hinge}}\n"
        "%s\nobjectives: {x: end(p.x), v: end(V.y), a: end(a.x), q: end(q), rate: end(q.rate), R: "
        "end(R.force.y)}",
        initial);
    scene sc = open_scene(text, start);
    const double l = 1, f = atan2(0.8, 0.6), th = 0.4, w = 1.3, g = 9, m = 2, dl[2] = {0.6, 0.8},
                 df[2] = {-0.8, 0.6};
    double c = cos(f + th), s = sin(f + th), wd = -1.5 * g * c / l;
    expect_near(value(&sc, "x"), 0.1 + l * c, EPS);
    expect_near(value(&sc, "v"), l * w * c, EPS);
    expect_near(value(&sc, "a"), l * (-wd * s - w * w * c), EPS);
    expect_near(value(&sc, "q"), th, EPS);
    expect_near(value(&sc, "rate"), w, EPS);
    double R = m * g + m * l / 2 * (wd * c - w * w * s);
    expect_near(value(&sc, "R"), R, EPS);
    expect_near(slope(&sc, "x", "th"), -l * s, EPS);
    expect_near(slope(&sc, "x", "w"), 0, EPS);
    expect_near(slope(&sc, "v", "th"), -l * w * s, EPS);
    expect_near(slope(&sc, "v", "w"), l * c, EPS);
    expect_near(slope(&sc, "a", "w"), -2 * l * w * c, EPS);
    /* a.x = 3/2 g c s - l w^2 c */
    expect_near(slope(&sc, "a", "th"), 1.5 * g * (c * c - s * s) + l * w * w * s, EPS);
    expect_near(slope(&sc, "q", "th"), 1, EPS);
    expect_near(slope(&sc, "rate", "w"), 1, EPS);
    /* R.y = m g - 3/4 m g c^2 - m l/2 w^2 s */
    expect_near(slope(&sc, "R", "th"), 1.5 * m * g * c * s - m * l / 2 * w * w * c, EPS);
    expect_near(slope(&sc, "R", "w"), -m * l * w * s, EPS);
    expect_near(slope(&sc, "R", "bar.mass"), R / m, EPS);
    expect_near(slope(&sc, "R", "gravity.y"), -(m - 0.75 * m * c * c), EPS);
    for (int k = 0; k < 2; k++) { /* the drawing: length and angle of the bar */
        expect_near(slope(&sc, "x", with("B", k)), dl[k] * c - l * s * df[k], EPS);
        expect_near(slope(&sc, "x", with("A", k)), (k == 0) - dl[k] * c + l * s * df[k], EPS);
        expect_near(slope(&sc, "v", with("B", k)), dl[k] * w * c - l * w * s * df[k], EPS);
        expect_near(slope(&sc, "a", with("B", k)),
                    (1.5 * g * (c * c - s * s) + l * w * w * s) * df[k] - w * w * c * dl[k], EPS);
        expect_near(slope(&sc, "R", with("B", k)),
                    (1.5 * m * g * c * s - m * l / 2 * w * w * c) * df[k] -
                        m / 2 * w * w * s * dl[k],
                    EPS);
    }
    close_scene(&sc);
}

static void pendulum_at_an_angle(void **state)
{
    (void)state;
    pendulum_is("initial: {positions: {q: th}, velocities: {q: w}}", 0);
    pendulum_is("initial: {positions: {q: th}, velocities: {q.rate: w}}", 0);
    pendulum_is("initial: {positions: {\"2*q\": 2*th}, velocities: {\"rate(q)\": w}}", 0);
    pendulum_is(
        "initial: {positions: {\"sin(q)\": sin(th)}, velocities: {\"3*q.rate + q\": 3*w + th}}", 2);
    pendulum_is("initial: {positions: {\"p.x - A.x\": \"(B.x - A.x)*cos(th) - (B.y - "
                "A.y)*sin(th)\"}, velocities: {q: w}}",
                0);
    pendulum_is("initial: {positions: {q: th}, velocities: {V.y: \"w*((B.x - A.x)*cos(th) - (B.y - "
                "A.y)*sin(th))\"}}",
                0);
}

/* ---- a drive at the start ----  angle th + w (t - t0) */

static void driven_start(void **state)
{
    (void)state;
    scene s =
        open_scene("gravity: [0, -9, 0]\nparameters: {th: 0.4, w: 1.3, e: 0.6}\npoints: {A: [0, 0, "
                   "0], B: [0.6, 0.8, 0]}\n"
                   "bodies: {bar: {type: bar, from: A, to: B, mass: 2}}\n"
                   "joints: {hinge: {type: revolute, between: [ground, bar], at: A, axis: z},\n"
                   "  motor: {type: drive-angle, between: [ground, bar], axis: z, angle: \"th + "
                   "w*(t - 3) + e/2*(t - 3)^2\"}}\n"
                   "measures: {p: {type: position, of: bar.B}, V: {type: velocity, of: bar.B}, a: "
                   "{type: acceleration, of: bar.B},\n"
                   "  M: {type: reaction, of: motor}}\n"
                   "objectives: {x: end(p.x), v: end(V.x), a: end(a.x), M: end(M.drive)}",
                   3);
    const double f = atan2(0.8, 0.6), th = 0.4, w = 1.3, e = 0.6, m = 2;
    double c = cos(f + th), sn = sin(f + th);
    expect_near(value(&s, "M"), m * e / 3 + m * 9 * c / 2, EPS);
    expect_near(slope(&s, "x", "th"), -sn, EPS);
    expect_near(slope(&s, "x", "w"), 0, EPS);
    expect_near(slope(&s, "v", "th"), -w * c, EPS);
    expect_near(slope(&s, "v", "w"), -sn, EPS);
    expect_near(slope(&s, "a", "th"), -e * c + w * w * sn, EPS);
    expect_near(slope(&s, "a", "w"), -2 * w * c, EPS);
    expect_near(slope(&s, "a", "e"), -sn, EPS);
    expect_near(slope(&s, "M", "e"), m / 3, EPS);
    expect_near(slope(&s, "M", "th"), -m * 9 * sn / 2, EPS);
    expect_near(slope(&s, "M", "bar.mass"), e / 3 + 4.5 * c, EPS);
    close_scene(&s);
}

/* However small a mechanism is drawn: a way of many of its lengths is gone in few steps */
static void driven_far_away(void **state)
{
    (void)state;
    for (double far = 1; far < 1e4; far *= 10) {
        char text[512];
        snprintf(text, sizeof text,
                 "parameters: {far: %g}\nbodies: {p: {type: point, mass: 2, position: [0.001, 0, "
                 "0]}}\nmeasures: {x: {type: position, of: p}}\n"
                 "joints: {d: {type: drive-coordinate, of: p, direction: x, value: "
                 "far}}\nobjectives: {e: end(x.x)}",
                 far);
        scene s = open_scene(text, 0);
        expect_near(value(&s, "e"), far, 1e-12 * far);
        expect_near(slope(&s, "e", "far"), 1, 1e-12);
        close_scene(&s);
    }
}

/* ---- a prescribed rate that is not linear: |v|^2 = V2 nearest to the drawn u is v = sqrt(V2)
 * u/|u| ---- */

static void speed_is_prescribed(void **state)
{
    (void)state;
    const double u[3] = {0.3, 0.9, -0.2};
    scene s = open_scene(
        "bodies: {b: {type: point, mass: 3, position: [0, 0, 0], velocity: [0.3, 0.9, -0.2]}}\n"
        "parameters: {V2: 1.5}\nmeasures: {V: {type: velocity, of: {body: b, at: [0, 0, 0]}}}\n"
        "initial: {velocities: {\"dot(V, V)\": V2}}\n"
        "objectives: {x: end(V.x), y: end(V.y), z: end(V.z)}",
        0);
    static const char *const v[3] = {"x", "y", "z"};
    double l = sqrt(random_dot(u, u)), V = sqrt(1.5);
    for (int i = 0; i < 3; i++) {
        expect_near(value(&s, v[i]), V * u[i] / l, 1e-11);
        expect_near(slope(&s, v[i], "V2"), u[i] / l / (2 * V), 1e-11);
        for (int j = 0; j < 3; j++)
            expect_near(slope(&s, v[i], with("b.velocity", j)),
                        V * ((i == j) - u[i] * u[j] / (l * l)) / l, 1e-11);
    }
    close_scene(&s);
}

/* ---- states, scalars ---- */

static void scalars_and_states(void **state)
{
    (void)state;
    scene s = open_scene(
        "bodies: {s: {type: scalar, inertia: 2, value: 0.4, rate: 0.7}, r: {type: scalar, inertia: "
        "1, value: 1, rate: 2}}\n"
        "joints: {gear: {type: coupling, of: \"w + k*c\", value: h}}\nparameters: {k: 3, h: 0.2}\n"
        "measures: {w: {type: coordinate, of: s}, c: {type: coordinate, of: r},\n"
        "  z: {type: state, rate: \"w - 2*s\", initial: 0.9}}\n"
        "objectives: {w: end(w), c: end(c), u: end(w.rate), z: end(z), zz: end(z*z), a: "
        "end(w.acceleration)}",
        0);
    /* closest to (0.4, 1) with w + 3 c = 0.2: excess e = w + k c - h, (w, c) -= e (1, k)/(1 + k^2)
     */
    double e = 0.4 + 3 - 0.2, d = 10, ed = 0.7 + 6;
    /* rates by their inertias 2 and 1: (w', c') -= ed (1/2, k)/(1/2 + k^2) */
    double D = 0.5 + 9;
    expect_near(value(&s, "w"), 0.4 - e / d, EPS);
    expect_near(value(&s, "c"), 1 - 3 * e / d, EPS);
    expect_near(value(&s, "u"), 0.7 - 0.5 * ed / D, EPS);
    expect_near(slope(&s, "w", "s.value"), 1 - 1 / d, EPS);
    expect_near(slope(&s, "w", "r.value"), -3 / d, EPS);
    expect_near(slope(&s, "w", "h"), 1 / d, EPS);
    expect_near(slope(&s, "w", "k"), -(1.0 / d - e * 6 / (d * d)), EPS);
    expect_near(slope(&s, "u", "k"), -0.5 * (2.0 / D - ed * 6 / (D * D)), EPS);
    expect_near(slope(&s, "u", "r.rate"), -0.5 * 3 / D, EPS);
    expect_near(slope(&s, "z", "z.initial"), 1, EPS);
    expect_near(slope(&s, "zz", "z.initial"), 1.8, EPS);
    expect_near(slope(&s, "z", "s.value"), 0, EPS);
    expect_near(value(&s, "a"), 0, EPS);
    close_scene(&s);
}

/* ---- a spring between points that coincide, but for rounding: no direction, no force ---- */

#define ROD                                                                                        \
    "gravity: [0, -9.81, 0]\npoints: {A: [0, 0, 0], B: [%.17g, %.17g, 0], Q: [%.17g, %.17g, 0]}\n" \
    "bodies: {rod: {type: bar, from: A, to: B, mass: 1}}\n"                                        \
    "joints: {a: {type: revolute, between: [ground, rod], at: A, axis: z}}\n"                      \
    "forces: {s: {type: spring, from: rod.B, to: ground.Q, stiffness: 5e6, free_length: 0.1}}\n"   \
    "measures: {acc: {type: acceleration, of: rod.B}}\nobjectives: {y: start(acc.y)}\n"

static void springs_without_length(void **state)
{
    (void)state;
    static char text[2048];
    expect_random r = {7};
    for (int i = 0; i < 20; i++) { /* a uniform rod falls with 3/2 g cos */
        double x = expect_uniform(&r, 0.2, 1), y = expect_uniform(&r, -1, 1),
               c2 = x * x / (x * x + y * y);
        snprintf(text, sizeof text, ROD, x, y, x, y);
        scene s = open_scene(text, 0);
        expect_near(value(&s, "y"), -1.5 * 9.81 * c2, 1e-12);
        close_scene(&s);
    }
    snprintf(text, sizeof text, "costate: 1\n" ROD "simulation: {end: 1, step: 0.01}\n", 0.5, 0.1,
             0.5, 0.1 + 1e-14);
    cst_diag d = {0};
    cst_model *m = cst_model_parse("start.yaml", text, strlen(text), 0, NULL, &d);
    expect_not_null(m);
    expect_null(cst_run_new(m, NULL, &d));
    expect_contains(d.text, "start.yaml:6:10: error: the stiffness of 's' is ");
    expect_contains(d.text, "too close to have a direction");
    cst_model_free(m);
}

/* ---- random mechanisms: everything that can be read at the start ---- */

static void starts_of_random_mechanisms(void **state)
{
    (void)state;
    random_tally t = {0};
    for (uint64_t seed = 100; seed < 142; seed++)
        random_gradient_laws(seed, (random_kind)(seed % RANDOM_KINDS), 1, &t);
    print_message("%ld numbers; direct %.1e, sum %.1e, differences %.1e (%ld, %ld rough)\n",
                  t.numbers, t.worst_direct, t.worst_sum, t.worst_difference, t.differences,
                  t.rough);
    expect_int(t.models, 42);
    expect_int(t.worn, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(velocities_of_a_free_body),
        cmocka_unit_test(closest_point_of_a_sphere),
        cmocka_unit_test(points_drawn_apart_meet),
        cmocka_unit_test(pendulum_at_an_angle),
        cmocka_unit_test(driven_start),
        cmocka_unit_test(driven_far_away),
        cmocka_unit_test(speed_is_prescribed),
        cmocka_unit_test(scalars_and_states),
        cmocka_unit_test(springs_without_length),
        cmocka_unit_test(starts_of_random_mechanisms),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
