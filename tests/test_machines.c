/* SPDX-License-Identifier: MIT
 *
 * What machines are made of, against closed forms: couplings of joint coordinates, motors,
 * friction, stops, anti-roll bars, wheel measures, blocks whose states forces read, bodies without
 * mass. */
#include "costate.h"
#include "expect.h"

#include <stdio.h>

/* ---- runs ---- */

typedef struct machine {
    cst_diag d;
    cst_model *m;
    cst_run *run;
} machine;

static machine machine_new(const char *text, double end, double step)
{
    static char whole[8192];
    machine s = {0};
    snprintf(whole, sizeof whole,
             "costate: 1\ngravity: [0, 0, 0]\n%s\nsimulation: {end: %.17g, step: %.17g}\n", text,
             end, step);
    s.m = cst_model_parse("machine.yaml", whole, strlen(whole), 0, NULL, &s.d);
    if (s.m == NULL) fail_msg("%s\n%s", s.d.text, whole);
    cst_options o = cst_options_default();
    s.run = cst_run_new(s.m, &o, &s.d);
    if (s.run == NULL || cst_run_simulate(s.run, NULL, NULL, NULL, &s.d) != CST_OK)
        fail_msg("%s\n%s", s.d.text, whole);
    return s;
}

static void machine_free(machine *s)
{
    cst_run_free(s->run);
    cst_model_free(s->m);
}

static double measure(const machine *s, const char *name) /* at the end */
{
    for (int i = 0; i < cst_model_measure_count(s->m); i++)
        if (strcmp(cst_model_measure_name(s->m, i), name) == 0) return cst_run_measure(s->run, i);
    fail_msg("no measure %s", name);
    return 0;
}

/* A measure at the end tends to its closed form with h^2: the extrapolated value is off by no more
 * than the extrapolation of coarser steps changes it. */
#define expect_tends(text, end, name, expected)                                                    \
    expect_tends_at(text, end, name, expected, __FILE__, __LINE__)
static void expect_tends_at(const char *model, double end, const char *name, double expected,
                            const char *file, int line)
{
    double y[3], h = end / 150;
    for (int k = 0; k < 3; k++, h /= 2) {
        machine s = machine_new(model, end, h);
        y[k] = measure(&s, name);
        machine_free(&s);
    }
    double a = (4 * y[1] - y[0]) / 3, b = (4 * y[2] - y[1]) / 3,
           order = (y[0] - y[1]) / (y[1] - y[2]);
    if ((fabs(y[1] - y[2]) < 1e-9 || fabs(order - 4) < 0.6) &&
        fabs(a - b) < 1e-4 * (1 + fabs(expected)) &&
        fabs(b - expected) <= fabs(a - b) + 1e-8 * (1 + fabs(expected)))
        return;
    print_error("%s = %.15g +- %.1g, expected %.15g; the error falls by %.3g\n", name, b,
                fabs(a - b), expected, order);
    _fail(file, line);
}

static const char *text(const char *format, ...) __attribute__((format(printf, 1, 2)));
static const char *text(const char *format, ...)
{
    static char buffer[2][6000];
    static int k;
    va_list ap;
    k = !k;
    va_start(ap, format);
    vsnprintf(buffer[k], sizeof buffer[k], format, ap);
    va_end(ap);
    return buffer[k];
}

/* All slopes of the first objective: adjoint against direct, and against differences so small that
 * no event passes a step: values are right to rounding, 1e-14, so slopes are to 1e-9 with d = 1e-5,
 * and d^2 is 1e-10. */
static void expect_slopes(machine *s)
{
    const cst_gradient *g = cst_run_gradient(s->run, NULL, CST_ADJOINT, 0, NULL, &s->d);
    if (g == NULL) fail_msg("%s", s->d.text);
    int n = g->numbers;
    double *adjoint = test_calloc((size_t)n, sizeof *adjoint),
           *p = test_calloc((size_t)n, sizeof *p), y[2];
    memcpy(adjoint, g->slope, (size_t)n * sizeof *adjoint);
    g = cst_run_gradient(s->run, NULL, CST_DIRECT, 0, NULL, &s->d);
    for (int i = 0; i < n; i++) expect_near(adjoint[i], g->slope[i], 1e-12);
    for (int i = 0; i < n; i++) p[i] = cst_model_number_value(s->m, i);
    for (int i = 0; i < n; i++) {
        double p0 = p[i], d = 1e-5 * (1 + fabs(p0));
        for (int k = 0; k < 2; k++) {
            p[i] = k ? p0 + d : p0 - d;
            if (cst_run_simulate(s->run, p, NULL, NULL, &s->d) != CST_OK) fail_msg("%s", s->d.text);
            y[k] = cst_run_objective(s->run, 0);
        }
        p[i] = p0;
        if (fabs(adjoint[i] - (y[1] - y[0]) / (2 * d)) > 1e-7 * (1 + fabs(adjoint[i])))
            fail_msg("%s: %.12g, by differences %.12g", cst_model_number_name(s->m, i), adjoint[i],
                     (y[1] - y[0]) / (2 * d));
    }
    test_free(adjoint), test_free(p);
}

/* ---- couplings: constant torque, so constant accelerations ---- */

/* Two shafts with inertias J1, J2 on parallel hinges in a frame, a slide of mass m */
#define SHAFTS                                                                                     \
    "points: {A: [0, 0, 0], B: [0, 1, 0], C: [0, 2, 0]}\n"                                         \
    "bodies:\n"                                                                                    \
    "  one: {type: rigid, position: A, mass: 3, inertia: [1, 1, %.17g]}\n"                         \
    "  two: {type: rigid, position: B, mass: 2, inertia: [1, 1, %.17g]}\n"                         \
    "  slide: {type: rigid, position: C, mass: %.17g, inertia: [1, 1, 1]}\n"                       \
    "  shaft: {type: scalar, inertia: %.17g}\n"                                                    \
    "joints:\n"                                                                                    \
    "  h1: {type: revolute, between: [ground, one], at: A, axis: z}\n"                             \
    "  h2: {type: revolute, between: [ground, two], at: B, axis: z}\n"                             \
    "  s3: {type: prismatic, between: [ground, slide], at: C, axis: z}\n"                          \
    "  %s\n"                                                                                       \
    "measures:\n"                                                                                  \
    "  th1: {type: joint, of: h1}\n"                                                               \
    "  th2: {type: joint, of: h2}\n"                                                               \
    "  x: {type: joint, of: s3}\n"                                                                 \
    "  th0: {type: coordinate, of: shaft}\n"                                                       \
    "  R: {type: reaction, of: c}\n"                                                               \
    "forces: {T: {type: torque, on: one, axis: z, magnitude: %.17g}, T0: {type: motor, of: "       \
    "shaft, torque: %.17g}}\n"

/* a measure at the end of the motion of SHAFTS with this coupling */
static void expect_coupled(const double J[4], const char *coupling, double T, double T0, double end,
                           const char *name, double expected)
{
    char model[4000];
    snprintf(model, sizeof model, SHAFTS, J[1], J[2], J[3], J[0], coupling, T, T0);
    expect_tends(model, end, name, expected);
}

static void test_couplings(void **state)
{
    (void)state;
    expect_random r = {71};
    for (int k = 0; k < 2; k++) {
        double J[4], T = expect_uniform(&r, 6, 9), i = expect_uniform(&r, 1, 2), t = 2,
                     half = t * t / 2;
        for (int j = 0; j < 4; j++) J[j] = expect_uniform(&r, 0.5, 1.5);
        if (k % 2) i = -i;

        char c[200];
        snprintf(c, sizeof c, "c: {type: gear, from: h1, to: h2, ratio: %.17g}", i);
        double a = T / (J[1] + i * i * J[2]);       /* the power T th1' moves both */
        expect_true(fabs(i * a * half) > acos(-1)); /* beyond the range of one turn */
        expect_coupled(J, c, T, 0, t, "th1", a * half);
        expect_coupled(J, c, T, 0, t, "th2", i * a * half);
        expect_coupled(J, c, T, 0, t, "R.torque.z", J[2] * i * a);

        double R = i / 10;
        snprintf(c, sizeof c, "c: {type: rack-and-pinion, pinion: h1, rack: s3, radius: %.17g}", R);
        a = T / (J[1] + J[3] * R * R);
        expect_coupled(J, c, T, 0, t, "x", R * a * half);
        expect_coupled(J, c, T, 0, t, "R.force.z", J[3] * R * a);

        double p = i / 5, b = p / (2 * acos(-1));
        snprintf(c, sizeof c, "c: {type: screw, turn: h1, slide: s3, lead: %.17g}", p);
        a = T / (J[1] + J[3] * b * b);
        expect_coupled(J, c, T, 0, t, "x.rate", b * a * t);

        /* J0 th0'' = T - l,  J1 th1'' = J2 th2'' = i l/2,  th0 = i (th1 + th2)/2 */
        snprintf(c, sizeof c,
                 "c: {type: differential, input: shaft, left: h1, right: h2, ratio: %.17g}", i);
        double l = T / (1 + J[0] * i * i / 4 * (1 / J[1] + 1 / J[2]));
        expect_coupled(J, c, 0, T, t, "th1", i * l / 2 / J[1] * half);
        expect_coupled(J, c, 0, T, t, "th2", i * l / 2 / J[2] * half);
        expect_coupled(J, c, 0, T, t, "th0", (T - l) / J[0] * half);
        expect_coupled(J, c, 0, T, t, "R.torque.z", i * l / 2);
    }
}

/* A cylindrical joint has both coordinates: nut and screw in one. */
static void test_screw_of_one_joint(void **state)
{
    (void)state;
    double m = 2, J = 0.3, p = 0.4, T = 1.5, b = p / (2 * acos(-1)), a = T / (J + m * b * b);
    const char *nut =
        text("points: {A: [0.2, 0, 0.1]}\n"
             "bodies: {nut: {type: rigid, position: A, mass: %g, inertia: [1, %g, 1]}}\n"
             "joints:\n"
             "  j: {type: cylindrical, between: [ground, nut], at: A, axis: y}\n"
             "  c: {type: screw, turn: j, lead: %g}\n"
             "measures: {q: {type: joint, of: j}}\n"
             "forces: {T: {type: torque, on: nut, axis: y, magnitude: %g}}\n",
             m, J, p, T);
    expect_tends(nut, 1, "q.angle", a / 2);
    expect_tends(nut, 1, "q.travel", b * a / 2);
    expect_tends(nut, 1, "q.travel_rate", b * a);
    expect_tends(nut, 1, "q.angle_acceleration", a);
}

/* ---- forces on a coordinate ---- */

#define WHEEL(J, w0, more)                                                                         \
    text("points: {A: [0, 0, 0]}\n"                                                                \
         "bodies: {w: {type: rigid, position: A, mass: 3, inertia: [1, %.17g, 1], "                \
         "angular_velocity: [0, %.17g, 0]}}\n"                                                     \
         "joints: {h: {type: revolute, between: [ground, w], at: A, axis: y}}\n"                   \
         "measures: {th: {type: joint, of: h}}\n%s\n",                                             \
         J, w0, more)

/* J w' = -Fc tanh(w/v0):  sinh(w/v0) = sinh(w0/v0) exp(-Fc t/(J v0));  viscous alone: w = w0 exp(-c
 * t/J) */
static void test_friction(void **state)
{
    (void)state;
    double J = 0.7, w0 = 1.3, Fc = 0.8, v0 = 0.4, c = 0.9, t = 1.5;
    expect_tends(
        WHEEL(J, w0,
              text("forces: {f: {type: friction, of: h, coulomb: %.17g, transition_speed: %.17g}}",
                   Fc, v0)),
        t, "th.rate", v0 * asinh(sinh(w0 / v0) * exp(-Fc * t / (J * v0))));
    expect_tends(WHEEL(J, w0, text("forces: {f: {type: friction, of: h, viscous: %.17g}}", c)), t,
                 "th.rate", w0 * exp(-c * t / J));

    /* Stribeck: the torque itself, at the start */
    double Fs = 1.1, vs = 0.6;
    machine s =
        machine_new(WHEEL(J, w0,
                          text("forces: {f: {type: friction, of: h, coulomb: %.17g, breakaway: "
                               "%.17g, stribeck_speed: %.17g, transition_speed: %.17g, viscous: "
                               "%.17g}}\nobjectives: {a: start(th.acceleration)}",
                               Fc, Fs, vs, v0, c)),
                    0.1, 0.01);
    double F = (Fc + (Fs - Fc) * exp(-w0 * w0 / vs / vs)) * tanh(w0 / v0) + c * w0;
    expect_near(cst_run_objective(s.run, 0), -F / J, 1e-13);
    expect_slopes(&s);
    machine_free(&s);
}

/* A load below the friction makes the joint creep at v0 atanh(load/Fc), as the help says. */
static void test_friction_creeps(void **state)
{
    (void)state;
    expect_tends(WHEEL(0.5, 0.0,
                       "forces: {f: {type: friction, of: h, coulomb: 2, transition_speed: 0.05}, "
                       "m: {type: motor, of: h, torque: 1.2}}"),
                 2, "th.rate", 0.05 * atanh(1.2 / 2));
}

/* Straight curve, ratio i, J w' = i T0 (1 - i w/W): w = (W/i) (1 - exp(-i^2 T0 t/(J W))) */
static void test_motor(void **state)
{
    (void)state;
    double J = 0.7, T0 = 3, W = 40, i = 4, t = 1.2;
    const char *curve =
        text("tables: {curve: {x: [-100, 100], y: [%.17g, %.17g], outside: extend}}\n"
             "forces: {m: {type: motor, of: h, torque: curve(v), ratio: %g, throttle: 1}}",
             T0 * (1 + 100 / W), T0 * (1 - 100 / W), i);
    expect_tends(WHEEL(J, 0.0, curve), t, "th.rate", W / i * (1 - exp(-i * i * T0 * t / (J * W))));

    /* constant torque behind a lag: w = T (t - tau (1 - exp(-t/tau)))/J */
    double tau = 0.3;
    expect_tends(WHEEL(J, 0.0,
                       text("forces: {m: {type: motor, of: h, torque: %g, time_constant: %g}}", T0,
                            tau)),
                 t, "th.rate", T0 * (t - tau * (1 - exp(-t / tau))) / J);
}

/* J th'' = k (r - th) + c (r' - th') with r = v t follows without delay when it starts on the
 * reference */
static void test_servo(void **state)
{
    (void)state;
    const char *follow =
        WHEEL(0.7, 0.6,
              "forces: {s: {type: servo, of: h, reference: 0.6*t, stiffness: 50, damping: 3}}");
    expect_tends(follow, 1, "th", 0.6);
    /* at its limit: th = F t^2/(2 J) */
    const char *late =
        WHEEL(0.5, 0.0,
              "forces: {s: {type: servo, of: h, reference: 1000, stiffness: 50, limit: 2}}");
    expect_tends(late, 1, "th", 2);
}

/* w = 2: contact with a spring, back at the limit with -2 after pi sqrt(J/k), then free. */
static void test_stop_of_joint(void **state)
{
    (void)state;
    double J = 0.5, k = 50, t = 1.5, upper = 1.017, contact = upper / 2,
           pause = acos(-1) * sqrt(J / k);
    machine s = machine_new(
        WHEEL(J, 2.0,
              text("forces: {s: {type: stop, of: h, lower: -3, upper: %g, stiffness: %g}}", upper,
                   k)),
        t, 1e-3);
    expect_near(measure(&s, "th"), upper - 2 * (t - contact - pause), 2e-5); /* h^2 */
    machine_free(&s);

    /* with damping it starts at the event d = 0 and ends at the event N = 0; in between J d'' = -(k
     * d + c d') */
    const char *damped = WHEEL(J, 2.0,
                               "forces: {s: {type: stop, of: h, upper: 1.017, stiffness: 50, "
                               "damping: 2}}\nobjectives: {e: end(th)}");
    double c = 2, alpha = c / (2 * J), wd = sqrt(k / J - alpha * alpha), t_end = 0, v_end = 0;
    for (double lo = 1e-3, hi = acos(-1) / wd, n = 0; n < 60;
         n++) { /* x'' = 0, bisection on the closed form */
        double x = t_end = (lo + hi) / 2, e = exp(-alpha * x);
        double d = 2 / wd * e * sin(wd * x), v = 2 * e * (cos(wd * x) - alpha / wd * sin(wd * x));
        v_end = v;
        if (k * d + c * v > 0)
            lo = x;
        else
            hi = x;
    }
    double d_end = 2 / wd * exp(-alpha * t_end) * sin(wd * t_end);
    s = machine_new(damped, t, 1e-3);
    expect_near(measure(&s, "th"), upper + d_end + v_end * (t - contact - t_end), 2e-5); /* h^2 */
    machine_free(&s);
    s = machine_new(damped, t, 1e-2);
    expect_slopes(&s);
    machine_free(&s);
}

/* ---- anti-roll bar ---- */

/* Two arms on hinges: J1 a1'' = k (a2 - a1), J2 a2'' = -k (a2 - a1): the difference swings with w^2
 * = k (1/J1 + 1/J2) */
static void test_anti_roll_bar(void **state)
{
    (void)state;
    double J1 = 0.6, J2 = 0.9, k = 20, w0 = 1.5, t = 1.1, w = sqrt(k * (1 / J1 + 1 / J2));
    const char *arms =
        text("points: {A: [0, 1, 0], B: [0, -1, 0], LE: [-0.5, 1, 0], RE: [-0.5, -1, 0]}\n"
             "bodies:\n"
             "  l: {type: rigid, position: A, mass: 1, inertia: [1, %g, 1], angular_velocity: [0, "
             "%g, 0]}\n"
             "  r: {type: rigid, position: B, mass: 1, inertia: [1, %g, 1]}\n"
             "joints:\n"
             "  jl: {type: revolute, between: [ground, l], at: A, axis: y}\n"
             "  jr: {type: revolute, between: [ground, r], at: B, axis: y}\n"
             "measures: {al: {type: joint, of: jl}, ar: {type: joint, of: jr}, d: ar - al}\n"
             "forces: {bar: {type: anti-roll-bar, left: jl, right: jr, stiffness: %g}}",
             J1, w0, J2, k);
    expect_tends(arms, t, "d", -w0 / w * sin(w * t));
    expect_tends(arms, t, "al.rate",
                 (J1 * w0 + J2 * w0 * cos(w * t)) / (J1 + J2)); /* J1 al' + J2 ar' stays */
}

/* Between the ends of links on a free body that turns and shifts: F = k times the difference along
 * the body's own axis, and the three bodies keep momentum and angular momentum. */
static void test_anti_roll_bar_is_internal(void **state)
{
    (void)state;
    machine s = machine_new(
        "points: {O: [0.1, 0.2, -0.1], P: [0.5, 1, 0.1], Q: [0.3, -1, 0.2]}\n"
        "bodies:\n"
        "  c: {type: rigid, position: O, mass: 5, inertia: [1, 1.3, 0.9], angular_velocity: [0.4, "
        "-0.7, 1.1]}\n"
        "  p: {type: point, position: P, mass: 2, velocity: [0.1, 0, 0.5]}\n"
        "  q: {type: point, position: Q, mass: 3, velocity: [0, 0.2, -0.5]}\n"
        "measures:\n"
        "  vc: {type: velocity, of: c.O}\n"
        "  vp: {type: velocity, of: p.P}\n"
        "  vq: {type: velocity, of: q.Q}\n"
        "  xp: {type: position, of: p.P}\n"
        "  xq: {type: position, of: q.Q}\n"
        "  e: {type: orientation, of: c}\n"
        "  m: \"norm(5*vc + 2*vp + 3*vq)\"\n"
        "  ap: {type: acceleration, of: p.P}\n"
        "  n: \"[2*ap.x + 40*e.e3.x*g, 2*ap.y + 40*e.e3.y*g, 2*ap.z + 40*e.e3.z*g]\"\n"
        "  g: (xp.x - xq.x)*e.e3.x + (xp.y - xq.y)*e.e3.y + (xp.z - xq.z)*e.e3.z - (P.z - Q.z)\n"
        "forces: {bar: {type: anti-roll-bar, left_end: q.Q, right_end: p.P, on: c, axis: z, "
        "stiffness: 40}}\n"
        "objectives: {m0: start(m), m1: end(m), g: peak(abs(g))}\n",
        0.7, 0.01);
    expect_near(cst_run_objective(s.run, 0), cst_run_objective(s.run, 1), 1e-12);
    expect_true(cst_run_objective(s.run, 2) > 1e-2);
    expect_near(measure(&s, "n.x"), 0, 1e-10);
    expect_near(measure(&s, "n.y"), 0, 1e-10);
    expect_near(measure(&s, "n.z"), 0, 1e-10);
    machine_free(&s);
}

/* ---- wheel: turned by camber about x, then steered about z, then spun about its own axis ---- */

static void test_wheel(void **state)
{
    (void)state;
    expect_random r = {72};
    for (int k = 0; k < 6; k++) {
        double steer = expect_uniform(&r, -0.5, 0.5), lean = expect_uniform(&r, -0.3, 0.3),
               w = expect_uniform(&r, -9, 9);
        int right = k % 2;
        /* a = Rz(steer) Rx(lean) y */
        double a[3] = {-sin(steer) * cos(lean), cos(steer) * cos(lean), sin(lean)};
        machine s = machine_new(
            text("points: {A: [0, 0, 0]}\n"
                 "bodies:\n"
                 "  w: {type: rigid, position: A, mass: 1, inertia: [1, 1, 1], angular_velocity: "
                 "[%.17g, %.17g, %.17g]}\n"
                 "measures: {m: {type: wheel, of: w, axis: [%.17g, %.17g, %.17g], side: %s}}\n",
                 w * a[0], w * a[1], w * a[2], a[0], a[1], a[2], right ? "right" : "left"),
            0.1, 0.01);
        expect_near(measure(&s, "m.spin"), w, 1e-13);
        expect_near(measure(&s, "m.steer"), steer, 1e-13);
        expect_near(measure(&s, "m.toe"), right ? steer : -steer, 1e-13);
        expect_near(measure(&s, "m.camber"), right ? lean : -lean,
                    1e-13); /* the top of a left wheel with a up leans inward */
        machine_free(&s);
    }
}

/* ---- blocks ---- */

/* Force from a chain of three lags with a switch, read by two forces: both act with what the block
 * shows. */
static void test_forces_read_blocks(void **state)
{
    (void)state;
    machine s = machine_new(
        "bodies:\n"
        "  p: {type: point, position: [0, 0, 0], mass: 2}\n"
        "  x: {type: scalar, inertia: 1.5}\n"
        "measures:\n"
        "  P: {type: position, of: p.origin}\n"
        "  ap: {type: acceleration, of: p.origin}\n"
        "  X: {type: coordinate, of: x}\n"
        "  gap: 2*ap.x - 3*c\n"
        "  gap2: 1.5*X.acceleration + 0.7*c.rate - b^2\n"
        "blocks:\n"
        "  a: {type: first-order, input: sin(3*t) - 0.2*P.x, time_constant: 0.3, initial: 0.4}\n"
        "  b: {type: state, rate: \"if(a > 0.3, 2, 1)*(a - s)\", initial: -0.1}\n"
        "  c: {type: first-order, input: b + 0.1*X.rate, gain: 2, time_constant: 0.2}\n"
        "forces:\n"
        "  f: {type: force, on: p.origin, direction: x, magnitude: 3*c}\n"
        "  g: {type: motor, of: x, torque: b^2 - 0.7*c.rate}\n"
        "objectives: {worst: \"peak(abs(gap) + abs(gap2))\"}\n",
        2, 0.01);
    expect_near(cst_run_objective(s.run, 0), 0, 1e-13);
    expect_true(fabs(measure(&s, "c")) > 0.1);
    machine_free(&s);
}

/* A spring whose law reads a block: gradient of everything */
static void test_block_gradients(void **state)
{
    (void)state;
    machine s = machine_new(
        "points: {A: [0, 0, 0], B: [1, 0, 0], C: [0.3, 1, 0]}\n"
        "bodies: {r: {type: bar, from: A, to: B, mass: 2, radius: 0.05}}\n"
        "joints: {h: {type: revolute, between: [ground, r], at: A, axis: z}}\n"
        "measures: {th: {type: joint, of: h}}\n"
        "blocks:\n"
        "  ref: {type: first-order, input: 0.5*sin(4*t), time_constant: 0.1, initial: 0.05}\n"
        "  u: {type: pi, input: ref - th, proportional: 9, integral: 30, lower: -2, upper: 2.5}\n"
        "forces:\n"
        "  m: {type: motor, of: h, torque: 1 - 0.02*v, throttle: u, ratio: 2, time_constant: "
        "0.05}\n"
        "  s: {type: spring, from: r.B, to: ground.C, force: 4*(s - 1)*(1 + ref^2)}\n"
        "  d: {type: friction, of: h, coulomb: 0.3, transition_speed: 0.2, viscous: 0.8}\n"
        "objectives: {e: integral((th - ref)^2) + 0.1*end(u)}\n",
        1, 0.01);
    expect_slopes(&s);
    machine_free(&s);
}

/* J w' = kp e + z, z' = ki e, e = r - w: w'' + (kp/J) w' + (ki/J)(w - r) = 0 from rest with w'(0) =
 * kp r/J */
static void test_pi(void **state)
{
    (void)state;
    double J = 0.8, kp = 2, ki = 9, r = 1.7, t = 1.3, al = kp / (2 * J),
           wd = sqrt(ki / J - al * al);
    const char *loop =
        WHEEL(J, 0.0,
              text("blocks: {u: {type: pi, input: %g - th.rate, proportional: %g, integral: %g}}\n"
                   "forces: {m: {type: motor, of: h, torque: u}}",
                   r, kp, ki));
    double B = (kp * r / J - al * r) / wd; /* w = r + exp(-al t) (-r cos + B sin) */
    expect_tends(loop, t, "th.rate", r + exp(-al * t) * (-r * cos(wd * t) + B * sin(wd * t)));

    /* Held at its limit Y = U by a constant error e: z -> ki e T + U - kp e, the rest point of z'
     */
    machine s = machine_new("bodies: {x: {type: scalar, inertia: 0.8}}\n"
                            "measures: {th: {type: coordinate, of: x}}\n"
                            "blocks: {u: {type: pi, input: 3, proportional: 2, integral: 5, upper: "
                            "4, tracking_time: 0.1}}\n"
                            "forces: {m: {type: motor, of: x, torque: u}}",
                            4, 0.01);
    expect_near(measure(&s, "u"), 4, 0);
    expect_near(measure(&s, "u.integral"), 5 * 3 * 0.1 + 4 - 2 * 3, 1e-12);
    expect_near(measure(&s, "th.rate"), 4 * 4 / J, 1e-10);
    machine_free(&s);
}

/* Equilibrium with a filter in the force: y = K u there, whether the force takes part or not;
 * nothing moves afterwards. */
static void test_blocks_at_rest(void **state)
{
    (void)state;
    for (int part = 0; part < 2; part++) {
        machine s = machine_new(
            text(
                "bodies: {x: {type: scalar, inertia: 2, value: 0.2}}\n"
                "measures: {X: {type: coordinate, of: x}, gap: 2*X.acceleration + 30*X - 6 + 4*y}\n"
                "blocks: {y: {type: first-order, input: X, gain: 1.5, time_constant: 0.1, initial: "
                "7}}\n"
                "forces:\n"
                "  k: {type: motor, of: x, torque: 6 - 30*s}\n"
                "  f: {type: motor, of: x, torque: -4*y}\n"
                "initial: {equilibrium: %s}\n"
                "objectives: {x0: start(X), y0: start(y), gap: peak(abs(gap))}\n",
                part ? "{without: [f]}" : "true"),
            1, 0.01);
        double x0 = part ? 6.0 / 30 : 6.0 / 36;
        expect_near(cst_run_objective(s.run, 0), x0, 1e-13);
        expect_near(cst_run_objective(s.run, 1), 1.5 * x0, 1e-13);
        expect_near(cst_run_objective(s.run, 2), 0, 1e-12);
        if (!part) expect_near(measure(&s, "X"), x0, 1e-12);
        expect_slopes(&s);
        machine_free(&s);
    }
}

/* ---- a link without mass is a rod: the pendulum behind it swings as if it hung on a distance
 * joint ---- */

static void test_massless_link(void **state)
{
    (void)state;
    const char *rest = "  b: {type: bar, from: B, to: C, mass: 1.5, radius: 0.05}\n"
                       "measures: {p: {type: position, of: b.C}}\n"
                       "forces: {w: {type: force, on: b.com, force: [0, -14.7, 0]}}\n";
    machine s[2];
    s[0] = machine_new(
        text("points: {A: [0, 0, 0], B: [1, 0.2, 0], C: [1.6, -0.5, 0]}\n"
             "joints: {j: {type: revolute, between: [ground, l], at: A, axis: z},\n"
             "  k: {type: revolute, between: [l, b], at: B, axis: z}}\n"
             "bodies:\n  l: {type: rigid, position: A, mass: 0, inertia: [0, 0, 0]}\n%s",
             rest),
        1, 0.005);
    s[1] = machine_new(text("points: {A: [0, 0, 0], B: [1, 0.2, 0], C: [1.6, -0.5, 0]}\n"
                            "joints: {j: {type: distance, from: ground.A, to: b.B},\n"
                            "  k: {type: planar, between: [ground, b], at: B, normal: z}}\n"
                            "bodies:\n%s",
                            rest),
                       1, 0.005);
    expect_near(measure(&s[0], "p.x"), measure(&s[1], "p.x"), 1e-10);
    expect_near(measure(&s[0], "p.y"), measure(&s[1], "p.y"), 1e-10);
    for (int i = 0; i < 2; i++) machine_free(&s[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_couplings),
        cmocka_unit_test(test_screw_of_one_joint),
        cmocka_unit_test(test_friction),
        cmocka_unit_test(test_friction_creeps),
        cmocka_unit_test(test_motor),
        cmocka_unit_test(test_servo),
        cmocka_unit_test(test_stop_of_joint),
        cmocka_unit_test(test_anti_roll_bar),
        cmocka_unit_test(test_anti_roll_bar_is_internal),
        cmocka_unit_test(test_wheel),
        cmocka_unit_test(test_forces_read_blocks),
        cmocka_unit_test(test_block_gradients),
        cmocka_unit_test(test_pi),
        cmocka_unit_test(test_blocks_at_rest),
        cmocka_unit_test(test_massless_link),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
