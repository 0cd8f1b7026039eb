/* SPDX-License-Identifier: MIT
 *
 * The continuous adjoint of a constrained motion and its conditions at the end, on the pendulum of
 * mass 1 in closed form:
 *
 *     q'' + G^T lambda = (0, -g),   phi = (|q|^2 - L^2)/2 = 0,   G = phi_q = q^T
 *
 * Three ways to d/dg of psi = integral g(q, q', q'', lambda) dt: differences of the closed form;
 * the adjoint equations of index 3 with the end conditions of theory-formulations.md, section 4,
 * integrated here; and the method of the program, which integrates the costates of the reduced
 * index. Objectives at the end itself (velocity, acceleration, reaction) against the closed form,
 * too. */
#include "pairs.h"
#include "reference.h"

#define END 1.2
#define LENGTH 1.3
#define GRAVITY 9.81

static double dot(const double *a, const double *b) { return a[0] * b[0] + a[1] * b[1]; }

/* g = tension x + x'^2 + x y'',   tension = lambda L */
static double integrand(const pendulum_at *y)
{
    return y->tension * y->p[0] + y->v[0] * y->v[0] + y->p[0] * y->a[1];
}

static double psi(double g)
{
    const int n = 4000; /* Simpson */
    double sum = 0;
    for (int i = 0; i <= n; i++) {
        pendulum_at y = pendulum_exact(END * i / n, g, LENGTH);
        sum += (i == 0 || i == n ? 1 : i % 2 ? 4 : 2) * integrand(&y);
    }
    return sum * END / (3 * n);
}

static double slope(double (*f)(double))
{
    double d = 2e-3, wide = (f(GRAVITY + d) - f(GRAVITY - d)) / (2 * d),
           near = (f(GRAVITY + d / 2) - f(GRAVITY - d / 2)) / d;
    return (4 * near - wide) / 3;
}

/* x = (mu, mu', integral mu^T f_g); backward in time. mu_phi from G mu = g_lambda, differentiated
 * twice */
static void adjoint_rates(double t, const double *x, double *f)
{
    pendulum_at y = pendulum_exact(t, GRAVITY, LENGTH);
    const double *q = y.p, *v = y.v, *a = y.a, *mu = x, *mu1 = x + 2;
    double lambda = y.tension / LENGTH;
    double g_q[] = {y.tension + a[1], 0}, g_v1[] = {2 * a[0], 0}, g_a2[] = {0, a[0]},
           g_lambda2 = LENGTH * a[0], free[2];
    for (int i = 0; i < 2; i++) free[i] = g_q[i] - g_v1[i] + g_a2[i] - lambda * mu[i];
    double mu_phi = (dot(q, free) - g_lambda2 + dot(a, mu) + 2 * dot(v, mu1)) / dot(q, q);
    for (int i = 0; i < 2; i++) f[i] = mu1[i], f[2 + i] = free[i] - q[i] * mu_phi;
    f[4] = -mu[1];
}

/* M mu + G^T eta = g_a,  G mu = g_lambda;     M mu' - G^T gamma - G'^T eta = g_a' - g_v,  G mu' +
 * G' mu = g_lambda' */
static void end_conditions(double *x)
{
    pendulum_at y = pendulum_exact(END, GRAVITY, LENGTH);
    const double *q = y.p, *v = y.v;
    double g_a[] = {0, q[0]}, g_a1[] = {0, v[0]}, g_v[] = {2 * v[0], 0}, free[2];
    double eta = (dot(q, g_a) - LENGTH * q[0]) / dot(q, q);
    for (int i = 0; i < 2; i++) x[i] = g_a[i] - q[i] * eta, free[i] = g_a1[i] - g_v[i] + v[i] * eta;
    double gamma = (LENGTH * v[0] - dot(v, x) - dot(q, free)) / dot(q, q);
    for (int i = 0; i < 2; i++) x[2 + i] = free[i] + q[i] * gamma;
    x[4] = 0;
}

static double by_index_3(void)
{
    const int n = 2000;
    double x[5], k[4][5], at[5], h = -END / n;
    end_conditions(x);
    for (int i = 0; i < n; i++) {
        static const double c[] = {0, 0.5, 0.5, 1};
        for (int j = 0; j < 4; j++) {
            for (int l = 0; l < 5; l++) at[l] = x[l] + (j ? c[j] * h * k[j - 1][l] : 0);
            adjoint_rates(END + (i + c[j]) * h, at, k[j]);
        }
        for (int l = 0; l < 5; l++) x[l] += h / 6 * (k[0][l] + 2 * k[1][l] + 2 * k[2][l] + k[3][l]);
    }
    return -x[4];
}

static double end_speed(double g) { return pendulum_exact(END, g, LENGTH).v[0]; }
static double end_acceleration(double g) { return pendulum_exact(END, g, LENGTH).a[1]; }
static double end_tension(double g) { return pendulum_exact(END, g, LENGTH).tension; }

static const char pendulum[] = "costate: 1\ngravity: [0, -g, 0]\nparameters: {g: 9.81, L: "
                               "1.3}\npoints: {O: [0, 0, 0], P: [-L, 0, 0]}\n"
                               "bodies: {bob: {type: point, position: P, mass: 1}}\n"
                               "joints: {rod: {type: distance, from: ground.O, to: bob.P}, plane: "
                               "{type: point-on-plane, of: bob.P, normal: z}}\n"
                               "measures: {p: {type: position, of: bob.P}, v: {type: velocity, of: "
                               "bob.P}, a: {type: acceleration, of: bob.P},\n"
                               "           R: {type: reaction, of: rod}}\n"
                               "objectives: {psi: integral(R.tension*p.x + v.x^2 + p.x*a.y), v: "
                               "end(v.x), a: end(a.y), R: end(R.tension)}\n"
                               "simulation: {end: 1.2}\n";

static void program_by(const cst_formulation *f, const char *integrator, void *ctx)
{
    const double *exact = ctx;
    cst_test_run t = {0};
    double error[2] = {0};
    if (strncmp(f->integrators, integrator, strlen(integrator)) != 0)
        return; /* the default of each will do */
    char set[64];
    snprintf(set, sizeof set, "simulation.formulation=%s", f->name);
    t.m = cst_model_parse("pendulum.yaml", pendulum, strlen(pendulum), 1,
                          (const char *const[]){set}, &t.d);
    run_check(&t, t.m != NULL);
    int which = cst_model_number_find(t.m, "g");
    for (int k = 0; k < 2; k++) {
        cst_options o = cst_options_default();
        o.step = 4e-3 / (1 << k);
        t.r = cst_run_new(t.m, &o, &t.d);
        run_check(&t, t.r != NULL);
        const cst_gradient *g =
            cst_run_gradient(t.r, NULL, CST_CONTINUOUS_ADJOINT, 1, &which, &t.d);
        run_check(&t, g != NULL);
        for (int i = 0; i < 4; i++) error[k] = fmax(error[k], fabs(g->slope[i] - exact[i]));
        cst_run_free(t.r);
    }
    print_message("%s: errors %.1e, %.1e\n", f->name, error[0], error[1]);
    expect_true(error[0] < 1e-3 && error[0] / error[1] > 3.5);
    cst_model_free(t.m);
}

static void test_end_conditions(void **state)
{
    (void)state;
    double exact[] = {slope(psi), slope(end_speed), slope(end_acceleration), slope(end_tension)};
    expect_near(by_index_3(), exact[0], 1e-9);
    for_each_pair(1, program_by, exact);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_end_conditions)};
    return cmocka_run_group_tests_name("end_conditions", tests, NULL, NULL);
}
