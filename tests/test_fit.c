/* SPDX-License-Identifier: MIT
 *
 * Least squares: LAPACK's laws on random matrices, quantiles against tables, the methods on
 * certified data (NIST Statistical Reference Datasets, Misra1a: estimates and standard errors to 11
 * digits), bounds, failing points, numbers that cannot be told apart; slopes by clocks that are
 * off. */
#include "fit_runs.h"

#include "linalg/least.h"
#include "optimise/fit_statistics.h"
#include "problem/fit.h"

static void reduction_keeps_the_norm(void **state)
{
    (void)state;
    expect_random r = {7};
    cst_arena a = {0};
    for (int trial = 0; trial < 50; trial++) {
        int n = 1 + trial % 6, m = n + trial % 9;
        double A[200], b[40], R[40], c[10], x[10], s[10], Vt[40];
        for (int i = 0; i < m * n; i++) A[i] = expect_uniform(&r, -1, 1);
        for (int i = 0; i < m; i++) b[i] = expect_uniform(&r, -1, 1);
        for (int j = 0; j < n; j++) x[j] = expect_uniform(&r, -1, 1);
        expect_true(cst_least_reduce(&a, m, n, A, b, R, c));
        double own = 0, at0 = 0, own0 = 0, full = 0; /* |Ax+b|^2 - |b|^2 = |Rx+c|^2 - |c|^2 */
        for (int i = 0; i < m; i++) {
            double y = b[i];
            for (int j = 0; j < n; j++) y += A[i * n + j] * x[j];
            full += y * y, at0 += b[i] * b[i];
        }
        for (int i = 0; i < n; i++) {
            double y = c[i];
            for (int j = 0; j < n; j++) y += R[i * n + j] * x[j];
            own += y * y, own0 += c[i] * c[i];
        }
        expect_near(full - at0, own - own0, 1e-13);
        expect_true(cst_svd(&a, n, R, s, Vt));
        for (int k = 0; k < n; k++) { /* |A v_k| = s_k; rows of V^T are orthonormal; decreasing */
            double length = 0;
            for (int i = 0; i < m; i++) {
                double y = 0;
                for (int j = 0; j < n; j++) y += A[i * n + j] * Vt[k * n + j];
                length += y * y;
            }
            expect_near(sqrt(length), s[k], 1e-13);
            expect_true(k == 0 || s[k] <= s[k - 1]);
            for (int l = 0; l <= k; l++) {
                double dot = 0;
                for (int j = 0; j < n; j++) dot += Vt[k * n + j] * Vt[l * n + j];
                expect_near(dot, k == l, 1e-13);
            }
        }
        double A1[200], b1[40];
        memcpy(A1, A, sizeof A1), memcpy(b1, b, sizeof b1);
        expect_true(cst_least_solve(&a, m, n, A1, b1, x));
        for (int j = 0; j < n; j++) { /* A^T (A x + b) = 0 */
            double g = 0;
            for (int i = 0; i < m; i++) {
                double y = b[i];
                for (int k = 0; k < n; k++) y += A[i * n + k] * x[k];
                g += A[i * n + j] * y;
            }
            expect_near(g, 0, 1e-11);
        }
    }
    cst_arena_free(&a);
}

/* Values of mpmath with 30 digits: roots of its regularised incomplete beta function. */
static void quantiles(void **state)
{
    (void)state;
    expect_near(cst_normal_quantile(0.975), 1.959963984540054, 1e-14);
    expect_near(cst_normal_quantile(0.005), -2.575829303548901, 1e-14);
    expect_near(cst_normal_quantile(0.5), 0, 1e-14);
    expect_near(cst_student_quantile(0.975, 1), 12.706204736174698, 1e-12);
    expect_near(cst_student_quantile(0.975, 2), 4.302652729749464, 1e-12);
    expect_near(cst_student_quantile(0.975, 5), 2.570581835636314, 1e-12);
    expect_near(cst_student_quantile(0.975, 10), 2.2281388519862747, 1e-12);
    expect_near(cst_student_quantile(0.975, 30), 2.0422724563012373, 1e-12);
}

/* The integral of the density (1 + t^2/nu)^(-(nu + 1)/2), by Simpson's rule in t = sqrt(nu) tan(a),
 * is p at the quantile. */
static void student_quantiles_are_exact(void **state)
{
    (void)state;
    static const double nus[] = {1, 2, 3, 4, 7, 19, 60, 400, 5000};
    for (int k = 0; k < 9; k++)
        for (double p = 0.55; p < 0.9999; p += (1 - p) / 3) {
            enum { PARTS = 20000 };
            double nu = nus[k], top = atan(cst_student_quantile(p, nu) / sqrt(nu)), sum = 0;
            for (int i = 0; i <= PARTS; i++)
                sum += (i == 0 || i == PARTS ? 1
                        : i % 2              ? 4
                                             : 2) *
                       pow(cos(top * i / PARTS), nu - 1) * top / PARTS / 3;
            double half = exp(lgamma(nu / 2) - lgamma((nu + 1) / 2)) * sqrt(acos(-1)) /
                          2; /* of the whole, by the beta function */
            expect_near(0.5 + 0.5 * sum / half, p, 1e-11);
            expect_near(cst_student_quantile(1 - p, nu), -cst_student_quantile(p, nu),
                        1e-9 * cst_student_quantile(p, nu));
        }
}

/* ---- problems without mechanics ---- */

typedef struct problem {
    int n, m;
    const double *x, *y;
    double wall; /* no value beyond it */
    int refused;
    void (*model)(const double *b, double x, double *y, double *dy);
} problem;

static cst_status evaluate(void *ctx, const double *b, int what, double *r, double *J)
{
    problem *q = ctx;
    for (int i = 0; i < q->m; i++) {
        double y, dy[4];
        if (b[0] > q->wall) {
            q->refused++;
            return CST_NUMERIC;
        }
        q->model(b, q->x[i], &y, dy);
        r[i] = y - q->y[i];
        for (int j = 0; j < q->n && what == 1; j++) J[i * q->n + j] = dy[j];
        for (int j = 0; j < q->n && what == 2; j++) J[j] = (i ? J[j] : 0) + 2 * r[i] * dy[j];
    }
    return CST_OK;
}

static int silent(void *ctx)
{
    (void)ctx;
    return 0;
}

typedef struct solved {
    double x[4];
    cst_estimate e[4];
    cst_fit_result result;
    cst_least p;
} solved;

static solved solve(cst_arena *a, const char *method, problem *q, const double *start,
                    const double *lower, const double *upper)
{
    static double size[4];
    solved s = {0};
    for (int j = 0; j < q->n; j++) size[j] = fabs(start[j]), s.x[j] = start[j];
    s.p = (cst_least){.arena = a,
                      .n = q->n,
                      .m = q->m,
                      .lower = lower,
                      .upper = upper,
                      .size = size,
                      .tolerance = 1e-9,
                      .most = 200,
                      .eval = evaluate,
                      .report = silent,
                      .ctx = q};
    s.p.x = cst_new(a, double, 4), s.p.r = cst_new(a, double, q->m),
    s.p.J = cst_new(a, double, q->m * q->n);
    memcpy(s.p.x, start, sizeof *start * (size_t)q->n);
    expect_int(cst_least_jacobian(&s.p), CST_OK);
    for (int i = 0; cst_fitter_at(i); i++)
        if (strcmp(cst_fitter_at(i)->name, method) == 0) cst_fitter_at(i)->run(&s.p);
    memcpy(s.x, s.p.x, sizeof *s.x * (size_t)q->n);
    expect_true(cst_fit_judge(&s.p, 0, 0.95, s.e, &s.result));
    return s;
}

static const double misra_x[] = {77.6,  114.9, 141.1, 190.8, 239.9, 289.0, 332.8,
                                 378.4, 434.8, 477.3, 536.8, 593.1, 689.1, 760.0};
static const double misra_y[] = {10.07, 14.73, 17.94, 23.93, 29.61, 35.18, 40.02,
                                 44.82, 50.76, 55.05, 61.01, 66.40, 75.47, 81.78};

/* b1 (1 - exp(-b2 x)) */
static void misra(const double *b, double x, double *y, double *dy)
{
    double e = exp(-b[1] * x);
    *y = b[0] * (1 - e), dy[0] = 1 - e, dy[1] = b[0] * x * e;
}

/* the same, where only the product of two numbers counts, and a fourth does nothing */
static void confounded(const double *b, double x, double *y, double *dy)
{
    double in[2] = {b[0] * b[2], b[1]}, out[2];
    misra(in, x, y, out);
    dy[0] = out[0] * b[2], dy[1] = out[1], dy[2] = out[0] * b[0], dy[3] = 0;
}

static const double none[4] = {-INFINITY, -INFINITY, -INFINITY, -INFINITY},
                    all[4] = {INFINITY, INFINITY, INFINITY, INFINITY};

static void certified_data(void **state)
{
    (void)state;
    static const double start[2][2] = {{500, 1e-4}, {250, 5e-4}}, lower[] = {1, 1e-6},
                        upper[] = {1e4, 1};
    cst_arena a = {0};
    for (int k = 0; k < 8; k++) {
        problem q = {2, 14, misra_x, misra_y, INFINITY, 0, misra};
        solved s = solve(&a, k % 2 ? "minpack" : "lm", &q, start[k / 2 % 2], k < 4 ? none : lower,
                         k < 4 ? all : upper);
        expect_int(s.p.end, CST_FIT_CONVERGED);
        expect_near(s.x[0] / 2.3894212918e2, 1, 1e-9);
        expect_near(s.x[1] / 5.5015643181e-4, 1, 1e-9);
        expect_near(s.p.f / 1.2455138894e-1, 1, 1e-10);
        expect_near(s.e[0].error / 2.7070075241, 1, 1e-8);
        expect_near(s.e[1].error / 7.2668688436e-6, 1, 1e-8);
        expect_near(sqrt(s.result.variance) / 1.0187876330e-1, 1, 1e-10);
    }
    cst_arena_free(&a);
}

/* With b1 held at 230 by its bound, the rest is the minimum in b2 alone, and the gradient in b1
 * points outside. */
static void bounds_hold(void **state)
{
    (void)state;
    static const double lower[] = {1, 1e-6}, upper[] = {230, 1}, start[] = {100, 1e-3};
    cst_arena a = {0};
    problem q = {2, 14, misra_x, misra_y, INFINITY, 0, misra};
    solved s = solve(&a, "lm", &q, start, lower, upper),
           other = solve(&a, "lbfgsb", &q, start, lower, upper);
    expect_near(other.x[0], 230, 0);
    expect_near(other.x[1] / s.x[1], 1, 1e-6);
    if (!skips("ipopt")) {
        other = solve(&a, "ipopt", &q, start, lower, upper); /* stays a little inside */
        expect_near(other.x[0], 230, 1e-4);
        expect_near(other.x[1] / s.x[1], 1, 1e-4);
    }
    for (int k = 0; k < 3;
         k++) { /* whatever the method: held, and the other error is that with b1 known */
        static const char *const inside[] = {"ipopt", "minpack", "lbfgsb"};
        if (skips(inside[k])) continue;
        other = solve(&a, inside[k], &q, start, lower, upper);
        expect_int(other.e[0].known, CST_AT_BOUND);
        expect_near(other.e[1].error / s.e[1].error, 1, 1e-4);
    }
    double g[2] = {0, 0}, size = 0;
    for (int i = 0; i < 14; i++)
        for (int j = 0; j < 2; j++)
            g[j] += s.p.r[i] * s.p.J[2 * i + j], size += fabs(s.p.r[i] * s.p.J[2 * i + 1]) / 2;
    expect_true(s.x[0] == 230);
    expect_true(g[0] < 0);
    expect_near(g[1] / size, 0, 1e-6);
    expect_int(s.e[0].known, CST_AT_BOUND);
    expect_true(isnan(s.e[0].error));
    expect_int(s.e[1].known, CST_ESTIMATED);
    expect_true(s.e[1].error > 0);
    cst_arena_free(&a);
}

/* y = sum_j b_j basis_j(x) + 0.1 (b_0 b_1 ...): random boxes, from random starts; the laws of
 * Karush, Kuhn and Tucker hold */
static double basis[40][4];
static void nearly_linear(const double *b, double x, double *y, double *dy)
{
    const double *f = basis[(int)x];
    *y = 0.1 * b[0] * b[1] + 0.05 * b[2] * b[3] * b[3];
    for (int j = 0; j < 4; j++) *y += f[j] * b[j];
    dy[0] = f[0] + 0.1 * b[1], dy[1] = f[1] + 0.1 * b[0], dy[2] = f[2] + 0.05 * b[3] * b[3],
    dy[3] = f[3] + 0.1 * b[2] * b[3];
}

static void random_boxes(void **state)
{
    (void)state;
    expect_random r = {11};
    cst_arena a = {0};
    int held = 0;
    for (int trial = 0; trial < 200; trial++) {
        double x[40], y[40], lower[4], upper[4], start[4];
        int m = 5 + trial % 30;
        for (int i = 0; i < m; i++) {
            x[i] = i, y[i] = expect_uniform(&r, -2, 2);
            for (int j = 0; j < 4; j++)
                basis[i][j] = expect_uniform(&r, -1, 1) + (j ? 0.9 * basis[i][j - 1] : 0);
        }
        for (int j = 0; j < 4; j++) {
            lower[j] = expect_uniform(&r, -1, 0.5),
            upper[j] = lower[j] + expect_uniform(&r, 0.1, 1.5);
            start[j] = trial % 3 == 0 ? upper[j] : expect_uniform(&r, lower[j], upper[j]);
        }
        problem q = {4, m, x, y, INFINITY, 0, nearly_linear};
        solved s = solve(&a, "lm", &q, start, lower, upper);
        expect_int(s.p.end, CST_FIT_CONVERGED);
        for (int j = 0; j < 4; j++) {
            double g = 0, size = 0;
            for (int i = 0; i < m; i++)
                g += s.p.r[i] * s.p.J[4 * i + j], size += fabs(s.p.r[i] * s.p.J[4 * i + j]);
            int low = s.x[j] == lower[j], high = s.x[j] == upper[j];
            expect_true(s.x[j] >= lower[j] && s.x[j] <= upper[j]);
            held += low || high;
            if (!low && !high) expect_near(g / size, 0, 1e-7);
            if (low) expect_true(g / size > -1e-7);
            if (high) expect_true(g / size < 1e-7);
        }
    }
    expect_true(held > 200 && held < 700);
    cst_arena_free(&a);
}

/* Nothing can be computed behind a wall in b1. Where the way to the solution (238.9) does not lead
 * along the wall it is found; where the search is stuck at the wall it must not say that it has
 * converged. */
static void failing_points_are_stepped_back_from(void **state)
{
    (void)state;
    static const double start[][2] = {{500, 1e-4}, {200, 1e-4}, {100, 1e-3},
                                      {250, 5e-4}, {230, 4e-4}, {400, 3e-4}};
    cst_arena a = {0};
    int found = 0, stuck = 0, refused = 0;
    for (int k = 0; k < 6; k++)
        for (double wall = 240; wall < 1000; wall *= 1.1) {
            problem q = {2, 14, misra_x, misra_y, wall, 0, misra};
            if (start[k][0] > wall) continue;
            solved s = solve(&a, "lm", &q, start[k], none, all);
            expect_int(s.p.failures, q.refused);
            refused += q.refused > 0;
            if (s.p.end == CST_FIT_CONVERGED) {
                expect_near(s.x[0] / 2.3894212918e2, 1, 1e-9);
                found += q.refused > 0;
            } else {
                expect_int(s.p.end, CST_FIT_STALLED);
                expect_true(s.x[0] > 0.99 * wall);
                stuck++;
            }
        }
    print_message("%d searches met the wall: %d found the solution, %d are stuck and say so\n",
                  refused, found, stuck);
    expect_true(found > 2);
    cst_arena_free(&a);
}

static void what_cannot_be_told_apart(void **state)
{
    (void)state;
    static const double start[] = {30, 5e-4, 7, 3};
    cst_arena a = {0};
    problem q = {4, 14, misra_x, misra_y, INFINITY, 0, confounded};
    solved s = solve(&a, "lm", &q, start, none, all);
    expect_near(s.x[0] * s.x[2] / 2.3894212918e2, 1, 1e-8);
    expect_near(s.x[3], 3, 0);
    expect_int(s.e[0].known, CST_CONFOUNDED);
    expect_int(s.e[2].known, CST_CONFOUNDED);
    expect_int(s.e[1].known, CST_ESTIMATED);
    expect_int(s.e[3].known, CST_WITHOUT_EFFECT);
    expect_near(s.e[1].error / 7.2668688436e-6, 1, 1e-7); /* as if the product were one number */
    expect_int(s.result.lost, 1);
    const double *v =
        s.result.direction + 2 * 4; /* relative changes: one up, the other down by as much */
    expect_near(fabs(v[0]), sqrt(0.5), 1e-7);
    expect_near(v[0] + v[2], 0, 1e-7);
    expect_near(v[1], 0, 1e-7);
    cst_arena_free(&a);
}

/* ---- clocks that are off ---- */

static cst_fit *fit_with_offsets(void)
{
    char path[] = "/tmp/costate-test-XXXXXX";
    int file = mkstemp(path);
    FILE *f = fdopen(file, "w");
    const char *dir = CST_SOURCE_DIR "/examples/identify-strut";
    fprintf(f,
            "costate: 1\ninclude: %s/model.yaml\nidentify:\n  parameters: [k, a]\n  experiments:\n",
            dir);
    fprintf(
        f, "    slow: {csv: %s/slow.csv, to: 0.5, every: 30 ms, offset: {range: [-20 ms, 30 ms]}, ",
        dir);
    fprintf(
        f,
        "numbers: {amp: 40 mm, freq: 1}, channels: {z.z: {column: z_mm, unit: mm, noise: 0.3}}}\n");
    fprintf(f,
            "    fast: {csv: %s/fast.csv, to: 0.3, every: 20 ms, offset: {range: [-9 ms, 0], "
            "start: -2 ms}, ",
            dir);
    fprintf(f, "numbers: {amp: 20 mm, freq: 2.5}, channels: {acc.z: {column: acc, noise: 0.1}, "
               "z.z: z_mm}}\n");
    fclose(f);
    cst_diag d = {0};
    cst_options o = cst_options_default();
    o.step = 1e-3, o.end = NAN;
    cst_fit *fit = cst_fit_new(path, 0, NULL, &o, &d);
    unlink(path);
    if (!fit) fail_msg("%s", d.text);
    return fit;
}

/* J by differences, 2 J^T r by the adjoint; the clock of one experiment does nothing to the other.
 * Instants stay between the same two steps: offsets are no multiples of the step. */
static void clocks_have_exact_slopes(void **state)
{
    (void)state;
    enum { N = 4, M = 200 };
    double r[M], r1[M], J[M * N], g[N], x[N] = {19e3, 110, 0.0033137, -0.0041421};
    cst_fit *f = fit_with_offsets();
    cst_diag d = {0};
    expect_int(f->n, N);
    expect_true(f->m > 20 && f->m <= M);
    expect_true(strcmp(f->unknown[2].name, "slow.offset") == 0 &&
                strcmp(f->unknown[3].name, "fast.offset") == 0);
    expect_near(f->unknown[2].start, 0.005, 1e-15); /* the middle of its range */
    expect_int(cst_fit_residuals(f, x, CST_FIT_ADJOINT, r, g, &d), CST_OK);
    expect_int(cst_fit_residuals(f, x, CST_FIT_JACOBIAN, r, J, &d), CST_OK);
    for (int j = 0; j < N; j++) {
        double sum = 0, size = 0;
        for (int i = 0; i < f->m; i++)
            sum += 2 * J[i * N + j] * r[i], size += fabs(J[i * N + j] * r[i]);
        expect_near(g[j], sum, 1e-9 * size);
    }
    for (int j = 2; j < N; j++) {
        const cst_experiment *e = &f->experiment[j - 2];
        double h = 1e-6, keep = x[j], most = 0;
        for (int i = 0; i < f->m; i++) most = fmax(most, fabs(J[i * N + j]));
        x[j] = keep + h;
        expect_int(cst_fit_residuals(f, x, CST_FIT_VALUES, r1, NULL, &d), CST_OK);
        x[j] = keep;
        for (int i = 0; i < f->m;
             i++) { /* linear between two steps: a one-sided difference has no error but rounding */
            expect_near((r1[i] - r[i]) / h, J[i * N + j], 1e-7 * most);
            if (i < e->first || i >= e->first + e->n) expect_near(J[i * N + j], 0, 0);
        }
    }
    cst_fit_free(f);
}

/* ---- sensors ---- */

/* Measured = scale y + offset + noise, with y(t) a known function: scale, offset and their errors
 * are those of the straight line through (y, measured), by the normal equations. The offset is a
 * number of the model, the scale a parameter of its own. */
static void sensors_are_straight_lines(void **state)
{
    (void)state;
    enum { ROWS = 60 };
    static const char *const method[] = {"lm", "minpack", "lbfgsb", "ipopt"};
    expect_random r = {31};
    for (int trial = 0; trial < 8; trial++) {
        if (skips(method[trial % 4])) continue;
        char path[] = "/tmp/costate-test-XXXXXX", table[40];
        FILE *f = fdopen(mkstemp(path), "w");
        double scale = expect_uniform(&r, -3, 3), offset = expect_uniform(&r, -2, 2), s[5] = {0},
               noise = 0.05;
        snprintf(table, sizeof table, "%s.csv", path);
        FILE *csv = fopen(table, "w");
        fprintf(csv, "time [ms];y [mm]\n");
        for (int i = 0; i < ROWS; i++) {
            double t = 0.01 * (i + 1), y = 3 * t * t + t, gauss = -6;
            for (int k = 0; k < 12; k++) gauss += expect_uniform(&r, 0, 1);
            double measured = scale * y + offset + noise * gauss;
            if (i % 9 == 4) {
                fprintf(csv, "%.17g;\n", 1e3 * t);
                continue;
            }
            fprintf(csv, "%.17g;%.17g\n", 1e3 * t, 1e3 * measured);
            s[0] += 1, s[1] += y, s[2] += y * y, s[3] += measured, s[4] += y * measured;
        }
        fclose(csv);
        fprintf(f, "costate: 1\ngravity: [0, 0, 0]\nparameters: {zero: {value: 0, unit: m}, speed: "
                   "1 m/s}\n");
        fprintf(f, "bodies: {b: {type: point, mass: 1, position: [0, 0, 0]}}\n");
        fprintf(f, "measures: {p: {type: position, of: b.origin}, y: 'p.x + 3 m/s^2*t^2 + "
                   "speed*t'}\nsimulation: {end: 1, step: 1e-4}\n");
        fprintf(f,
                "identify: {tolerance: 1e-7, parameters: [zero], experiments: {e: {csv: %s, "
                "channels: {y: {noise: 50, scale: {start: 0.5}, offset: zero}}}}}\n",
                table);
        fclose(f);
        cst_diag d = {0};
        cst_fit *fit = cst_fit_new(path, 0, NULL, NULL, &d);
        if (!fit) fail_msg("%s", d.text);
        expect_int(d.warnings, 0); /* zero is used: by the channel */
        expect_int(cst_fit_run(fit, method[trial % 4], NULL, NULL, &d), CST_OK);
        const cst_fit_result *out = cst_fit_answer(fit);
        double det = s[0] * s[2] - s[1] * s[1], b = (s[0] * s[4] - s[1] * s[3]) / det,
               a = (s[3] - b * s[1]) / s[0];
        expect_int(out->channel[0].values, 53);
        expect_int(out->channel[0].missing, 7);
        expect_near(out->estimate[0].value, a, 2e-5);
        expect_near(out->estimate[1].value, b, 2e-5);
        expect_near(out->estimate[0].error, noise * sqrt(s[2] / det), 1e-6);
        expect_near(out->estimate[1].error, noise * sqrt(s[0] / det), 1e-6);
        cst_fit_free(fit);
        unlink(path), unlink(table);
    }
}

static void methods_agree(void **state)
{
    (void)state;
    const fit_tally t = run_sets(8, 0);
    expect_fits(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reduction_keeps_the_norm),
        cmocka_unit_test(quantiles),
        cmocka_unit_test(student_quantiles_are_exact),
        cmocka_unit_test(certified_data),
        cmocka_unit_test(bounds_hold),
        cmocka_unit_test(random_boxes),
        cmocka_unit_test(failing_points_are_stepped_back_from),
        cmocka_unit_test(what_cannot_be_told_apart),
        cmocka_unit_test(clocks_have_exact_slopes),
        cmocka_unit_test(sensors_are_straight_lines),
        cmocka_unit_test(methods_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
