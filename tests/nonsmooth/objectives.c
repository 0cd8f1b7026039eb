/* SPDX-License-Identifier: MIT
 *
 * Objectives on kinks and jumps of their own: of what rests, of integrands that are zero at a
 * state, of peaks, of instants at which something switches. */
#include "nonsmooth/cases.h"

#include <math.h>

/* x = x0 + v0 t + a t^2/2, y = y0, z = z0: steps are exact. */
#define FREE(x0, v0, a)                                                                            \
    "gravity: [" a ", 0, 0]\n"                                                                     \
    "parameters: {x0: " x0 ", v0: " v0 ", y0: 0, z0: 0}\npoints: {Q: [0.5, 0, 0]}\n"               \
    "tables: {cone: {x: [-1, 0, 1], y: [2, 0, 3]}}\n"                                              \
    "bodies: {m: {type: point, position: [x0, y0, z0], mass: 2, velocity: [v0, 0, 0]}}\n"          \
    "measures: {p: {type: position, of: m}, V: {type: velocity, of: m},\n"                         \
    "  D: {type: displacement, of: m}, d: {type: distance, from: m, to: ground.Q}}\n"

/* z rests at 0: what an expression of z does there is what the objective does. */
static void at_rest(nonsmooth_table *to)
{
    static const struct {
        const char *objective;
        double below, above;
        nonsmooth_verdict today;
    } of[] = {
        {"end(abs(p.z))", -1, 1, NS_RIGHT},
        {"abs(end(p.z))", -1, 1, NS_RIGHT},
        {"at(abs(p.z), 0.123)", -1, 1, NS_RIGHT},
        {"start(abs(p.z))", -1, 1, NS_RIGHT},
        {"mean(abs(p.z))", -1, 1, NS_RIGHT},
        {"rms(p.z)", -1, 1, NS_RIGHT},
        {"peak(p.z, 8)", -1, 1, NS_RIGHT},
        {"peak(abs(p.z) + p.x)", -1, 1, NS_RIGHT},
        {"end(hypot(p.y, p.z))", -1, 1, NS_RIGHT},
        {"end(norm([p.y, p.z, 0]))", -1, 1, NS_RIGHT},
        {"end(sqrt(p.y^2 + p.z^2))", -1, 1, NS_RIGHT},
        {"hypot(end(p.y), end(p.z))", -1, 1, NS_RIGHT},
        {"max(end(p.z), 0)", 0, 1, NS_RIGHT},
        {"end(max(p.z, p.y))", 0, 1, NS_RIGHT},
        {"min(end(p.z), end(p.y))", 1, 0, NS_RIGHT},
        {"end(clamp(p.z, 0, 1))", 0, 1, NS_RIGHT},
        {"end(cone(p.z))", -2, 3, NS_RIGHT},
        {"integral(max(p.z, 0))", 0, 0.4, NS_RIGHT},
        {"end(if(p.z > 0, p.z, 2*p.z))", 2, 1, NS_RIGHT},
        {"end(if(p.z > 0, 1, 2))", 0, NAN, NS_RIGHT},
        {"end(if(p.z == 0, 1, 2))", NAN, NAN, NS_RIGHT},
        {"if(end(p.z) >= 0, 1, 2)", NAN, 0, NS_RIGHT},
        {"integral(if(p.z > 0, 1, 0))", 0, NAN, NS_RIGHT},
        {"end(floor(p.z))", NAN, 0, NS_RIGHT},
        {"end(sign(p.z))", NAN, NAN, NS_RIGHT},
        {"end(atan2(p.z, p.z))", NAN, NAN, NS_RIGHT}, /* -3 pi/4, 0, pi/4 */
        {"end(cbrt(p.z))", NAN, NAN, NS_RIGHT},
        {"end(abs(p.z)^0.5)", NAN, NAN, NS_RIGHT},
        {"sqrt(end(p.z))", NAN, NAN, NS_RIGHT},
        {"1/end(p.z)", NAN, NAN, NS_RIGHT},
        {"end(1/p.z)", NAN, NAN, NS_RIGHT},
        {"log(-start(p.x))*end(p.z)", NAN, NAN, NS_RIGHT}, /* undefined on both sides */
        /* those are smooth */
        {"end(p.z*abs(p.z))", 0, 0, NS_RIGHT},
        {"mean(p.z^2)", 0, 0, NS_RIGHT},
        {"end(hypot(p.z, p.x))", 0, 0, NS_RIGHT}, /* p.x > 0 */
        {"end(if(p.x > 0.7, abs(p.z), p.z))", 1, 1, NS_RIGHT},
        {"end(clamp(p.z, -1, 1))", 1, 1, NS_RIGHT},
        {"end(if(p.z == 0, 0, p.z))", 1, 1, NS_REFUSED},
        {"end(max(p.z, 0) + min(p.z, 0))", 1, 1, NS_REFUSED},
    };
    for (size_t i = 0; i < sizeof of / sizeof *of; i++)
        ROW(of[i].objective, FREE("0.5", "0.3", "0"), of[i].objective, "z0", of[i].below,
            of[i].above, .today = of[i].today);
}

static void norms_at_rest(nonsmooth_table *to)
{
    PLAIN("root of a small square", FREE("0.5", "0.3", "0"), "end(sqrt((1e-7*p.x)^2))", "x0", 1e-7);
    ROW("distance of points that coincide", FREE("0.5", "0", "0"), "start(d)", "z0", -1, 1);
    ROW("distance of points that coincide, later", FREE("0.5", "0", "0"), "end(d)", "x0", -1, 1);
    ROW("rate of that distance", FREE("0.5", "1", "0"), "start(d.rate)", "x0", NAN, NAN);
    ROW("norm of a speed that vanishes", FREE("0.5", "0", "0"), "start(norm(V))", "v0", -1, 1);

    /* all in one, at rest */
    static const char rest[] = FREE("0.3", "0", "0");
    ROW("rests: hypot", rest, "end(hypot(p.x - 0.3, p.y))", "x0", -1, 1);
    ROW("rests: sqrt", rest, "end(sqrt((p.x - 0.3)^2 + p.y^2))", "x0", -1, 1);
    ROW("rests: abs", rest, "end(abs(p.x - 0.3))", "x0", -1, 1);
    PLAIN("rests: squares", rest, "end((p.x - 0.3)^2 + p.y^2)", "x0", 0);
}

/* d/dx0 of integral |x| is integral sign(x): a zero at one instant does not matter. Sums of steps
 * have a kink there, of the size of a step. */
static void single_zeros(nonsmooth_table *to)
{
#define LEAVES FREE("0", "1", "0")
#define DOWN FREE("0", "-1", "0")
#define ARRIVES FREE("-1", "1", "0")
#define PASSES FREE("-0.5", "1", "0")
#define TOUCHES FREE("0.125", "-0.5", "1") /* (t - 0.5)^2/2 */
    static const struct {
        const char *name, *model, *objective;
        double slope;
    } of[] = {
        {"leaves a zero, abs", LEAVES, "integral(abs(p.x))", 1},
        {"leaves a zero downwards, abs", DOWN, "integral(abs(p.x))", -1},
        {"leaves a zero, norm", LEAVES, "integral(norm(p))", 1},
        {"leaves a zero, max", LEAVES, "integral(max(p.x, 0))", 1},
        {"leaves a zero downwards, max", DOWN, "integral(max(p.x, 0))", 0},
        {"leaves a zero, min", LEAVES, "integral(min(2*p.x, p.x))", 1},
        {"leaves a zero, clamp", LEAVES, "integral(clamp(p.x, 0, 2))", 1},
        {"leaves a zero, table", LEAVES, "integral(cone(p.x))", 3},
        {"leaves a zero, sums", LEAVES, "mean(abs(p.x)) + 3*integral(abs(2*p.x))", 7},
        {"arrives at a zero, abs", ARRIVES, "integral(abs(p.x))", -1},
        {"passes a zero, abs", PASSES, "integral(abs(p.x))", 0},
        {"passes a zero, max", PASSES, "integral(max(p.x, 0))", 0.5},
        {"touches a zero, abs", TOUCHES, "integral(abs(p.x))", 1},
        {"touches a zero, max", TOUCHES, "integral(max(p.x, 0))", 1},
    };
    for (size_t i = 0; i < sizeof of / sizeof *of; i++)
        PLAIN(of[i].name, of[i].model, of[i].objective, "x0", of[i].slope, .apart = 0.1, .end = 1,
              .left = 0.02);
    PLAIN("a zero that stays at the start", LEAVES, "integral(norm(D))", "x0", 0, .end = 1);
    PLAIN("leaves a zero, x abs(x)", LEAVES, "integral(p.x*abs(p.x))", "x0", 1, .end = 1);
    PLAIN("beside a zero", FREE("0.1", "1", "0"), "integral(abs(p.x))", "x0", 1, .end = 1);
    /* integral of 1/(2 sqrt t). Differences of a sum that has sqrt|x0| in it say nothing. */
    PLAIN("leaves a zero, steep", LEAVES, "integral(sqrt(abs(p.x)))", "x0", 1, .left = 0.4,
          .end = 1, .rough = 1);
#undef LEAVES
#undef DOWN
#undef ARRIVES
#undef PASSES
#undef TOUCHES
}

static void peaks(nonsmooth_table *to)
{
    /* X = c + A sin(2 pi n t): tops that are alike share the peak; top and bottom share that of |X|
     * for c = 0. */
    static const char driven[] =
        "parameters: {A: 0.7, n: 3, c: 0}\nbodies: {x: {type: scalar, inertia: 1, value: 0}}\n"
        "joints: {d: {type: drive, of: X, value: \"c + A*sin(2*pi*n*t)\"}}\n"
        "measures: {X: {type: coordinate, of: x}}\n";
    PLAIN("tops share the peak, by A", driven, "peak(X)", "A", 1, .end = 1, .step = 1 / 120.0);
    PLAIN("tops share the peak, by c", driven, "peak(X)", "c", 1, .end = 1, .step = 1 / 120.0);
    PLAIN("top and bottom share the peak, by A", driven, "peak(abs(X))", "A", 1, .end = 1,
          .step = 1 / 120.0);
    ROW("top and bottom share the peak, by c", driven, "peak(abs(X))", "c", -1, 1, .end = 1,
        .step = 1 / 120.0);
    ROW("two peaks that tie, by c", driven, "max(peak(X), peak(-X))", "c", -1, 1, .end = 1,
        .step = 1 / 120.0);

    /* x = x0 + v0 t with v0 = 0: all instants share the peak. */
    static const char still[] = FREE("0.3", "0", "0");
    ROW("all states share the peak, by v0", still, "peak(p.x)", "v0", 0, 0.4);
    ROW("all states share the lowest, by v0", still, "peak(-p.x)", "v0", -0.4, 0);
    PLAIN("all states share the peak, by x0", still, "peak(p.x)", "x0", 1);

    /* Accelerations: a top of |t - T| stays 3, wherever it is; steps see it only at a state, so
     * that differences say nothing. F t falls to 0 at T. */
#define PUSHED(f)                                                                                  \
    "parameters: {T: 0.2, F: 2, S: 0.2, G: 5}\n"                                                   \
    "bodies: {x: {type: scalar, inertia: 1, value: 0, rate: 0}}\n"                                 \
    "measures: {X: {type: coordinate, of: x}}\n"                                                   \
    "forces: {f: {type: motor, of: x, torque: \"" f "\"}}\n"
    PLAIN("peak at a corner", PUSHED("3 - abs(t - T)"), "peak(X.acceleration)", "T", 0, .rough = 1);
    PLAIN("peak at a round top", PUSHED("3 - (t - T)^2"), "peak(X.acceleration)", "T", 0);
    PLAIN("peak at an event, by T", PUSHED("if(t < T, F*t, 0)"), "peak(X.acceleration)", "T", 2);
    PLAIN("peak at an event, by F", PUSHED("if(t < T, F*t, 0)"), "peak(X.acceleration)", "F", 0.2);
    /* the event of another one at the same instant does nothing to it */
    static const char two[] =
        "parameters: {T: 0.2, S: 0.2, F: 2}\n"
        "bodies: {x: {type: scalar, inertia: 1}, y: {type: scalar, inertia: 1}}\n"
        "measures: {X: {type: coordinate, of: x}, Y: {type: coordinate, of: y}}\nforces:\n"
        "  f: {type: motor, of: x, torque: \"if(t < T, F*t, 0)\"}\n"
        "  g: {type: motor, of: y, torque: \"if(t < S, F*t, 0)\"}\n";
    PLAIN("peak at one of two events, by its own", two, "peak(X.acceleration)", "T", 2);
    PLAIN("peak at one of two events, by the other", two, "peak(X.acceleration)", "S", 0);
    ROW("peak before and behind an event alike", PUSHED("if(t < T, F, G - 3)"),
        "peak(X.acceleration)", "F", 0, 1, .today = NS_NOT_PLAIN);
}

/* X'' = F before S, G behind it, read at T: X'(T) = F S + G (T - S) */
static void instants(nonsmooth_table *to)
{
    static const char jumps[] = PUSHED("if(t < S, F, G)");
    ROW("rate read at its switch, by T", jumps, "at(X.rate, T)", "T", 2, 5);
    ROW("rate read at its switch, by S", jumps, "at(X.rate, T)", "S", -3, 0);
    PLAIN("rate read at its switch, by F", jumps, "at(X.rate, T)", "F", 0.2);
    PLAIN("rate read at its switch, by G", jumps, "at(X.rate, T)", "G", 0);
    PLAIN("rate read at its switch, tied", PUSHED("if(t < T, F, G)"), "at(X.rate, T)", "T", 2);
    PLAIN("rate read at a switch between equal forces", PUSHED("if(t < S, F, F + G*(t - S))"),
          "at(X.rate, T)", "S", 0, .left = 0.1);
    PLAIN("rate read at a switch between equal forces, by T", PUSHED("if(t < S, F, F + G*(t - S))"),
          "at(X.rate, T)", "T", 2, .left = 0.05);
    /* a place is smoother by one: X(T) has the rate F S; steps are chords */
    PLAIN("place read at a switch, by T", jumps, "at(X, T)", "T", 0.4, .left = 0.2);
    PLAIN("place read at a switch, by S", jumps, "at(X, T)", "S", 0, .left = 0.05);
    /* the value at T itself is that before it */
    ROW("acceleration read at its switch, by T", jumps, "at(X.acceleration, T)", "T", 0, NAN);
    ROW("acceleration read at its switch, by S", jumps, "at(X.acceleration, T)", "S", NAN, 0);
    PLAIN("acceleration read at its switch, by F", jumps, "at(X.acceleration, T)", "F", 1);
    ROW("rate at the end, with a switch, by S", jumps, "end(X.rate)", "S", -3, 0, .end = 0.2);
    PLAIN("rate at the end, with a switch, by F", jumps, "end(X.rate)", "F", 0.2, .end = 0.2);
    PLAIN("place at the end, with a switch, by S", jumps, "end(X)", "S", 0, .end = 0.2);
    ROW("acceleration at the end, with a switch, by S", jumps, "end(X.acceleration)", "S", NAN, 0,
        .end = 0.2);
    ROW("integrand that switches at the end, by S", jumps, "integral(if(t > S, 1, 0))", "S", -1, 0,
        .end = 0.2);
    PLAIN("before a switch, by S", jumps, "at(X.rate, 0.1)", "S", 0);

    /* Drives that end with the run, A r(t/T): r = 3 u^2 - 2 u^3 has the rate (6 u - 6 u^2)/T, that
     * of step5, 10 u^3 - 15 u^4 + 6 u^5, has (60 u - 180 u^2 + 120 u^3)/T^2. Behind T all is 0. */
#define DRIVEN(r)                                                                                  \
    "parameters: {A: 0.3, T: 0.1}\nbodies: {x: {type: scalar, inertia: 1, value: 0}}\n"            \
    "joints: {d: {type: drive, of: X, value: \"A*" r "(t, 0, T)\"}}\n"                             \
    "measures: {X: {type: coordinate, of: x}}\n"
    const double A = 0.3, T = 0.1;
    ROW("drive that ends with the run, rate", DRIVEN("smoothstep"), "end(X.rate)", "T", 0,
        6 * A / (T * T), .end = T, .step = 2e-3);
    PLAIN("drive that ends with the run, place", DRIVEN("smoothstep"), "end(X)", "T", 0, .end = T,
          .step = 2e-3);
    ROW("soft drive that ends with the run, acceleration", DRIVEN("step5"), "end(X.acceleration)",
        "T", 0, -60 * A / (T * T * T), .end = T, .step = 2e-3);
    PLAIN("soft drive that ends with the run, rate", DRIVEN("step5"), "end(X.rate)", "T", 0,
          .end = T, .step = 2e-3, .width = 1e-6);
#undef DRIVEN
}

void nonsmooth_objectives(nonsmooth_table *to)
{
    at_rest(to);
    norms_at_rest(to);
    single_zeros(to);
    peaks(to);
    instants(to);
}
