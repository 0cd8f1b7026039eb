/* SPDX-License-Identifier: MIT
 *
 * The start from static equilibrium on random scenes: gradients by three ways, rest that lasts,
 * forces with states. */
#include "statics_trial.h"

/* ---- gradients of random scenes ---- */

/* Boxes on springs and bushings, some joined, some on slender rods: stable, with no symmetry and no
 * neutral freedom */
static void random_scene(expect_random *r, char *text, int how)
{
    int nbody = 1 + expect_below(r, 4);
    size_t n = (size_t)sprintf(text, "gravity: [%.3f, %.3f, -9.81]\n", expect_uniform(r, -1, 1),
                               expect_uniform(r, -1, 1));
#define ADD(...) n += (size_t)sprintf(text + n, __VA_ARGS__)
#define R(a, b) expect_uniform(r, a, b)
    ADD("parameters: {m: %.3f, k: %.1f, v0: 0.3}\nbodies:\n", R(1, 5), R(200, 900));
    for (int i = 0; i < nbody; i++)
        ADD("  b%d: {type: rigid, position: [%.3f, %.3f, %.3f], orientation: {axis: [1, %.2f, "
            "0.3], angle: "
            "%.2f}, mass: m, inertia: [0.3, 0.4, 0.5], com: [0.02, %.3f, -0.01]%s}\n",
            i, 1.2 * i + R(-.2, .2), R(-.2, .2), R(-.2, .2), R(-1, 1), R(-2, 2), R(-.1, .1),
            how & 1 ? ", velocity: [0.1, -0.2, 0.3]" : "");
    ADD("joints:\n  drive: {type: drive, of: d0, value: 2.6 + 0.1*sin(3*t)}\n");
    for (int i = 1; i < nbody; i++)
        if (expect_below(r, 3))
            ADD("  j%d: {type: %s, between: [b%d, b%d], at: [%.3f, %.3f, 0.1]%s}\n", i,
                (const char *[]){"spherical", "revolute"}[i % 2], i - 1, i, 1.2 * i - 0.6,
                R(-.3, .3), i % 2 ? ", axis: [0.3, 1, 0.5]" : "");
    ADD("forces:\n");
    for (int i = 0; i < nbody; i++) {
        ADD("  m%d: {type: bushing, between: [ground, b%d], at: [%.3f, 0.3, 0.1], stiffness: "
            "[%.1f, k, 400], rotational_stiffness: [50, %.1f, 80], damping: 3}\n",
            i, i, 1.2 * i, R(200, 900), R(30, 90));
        ADD("  s%d: {type: spring-damper, from: {body: ground, local: [%.3f, %.3f, 1.5]}, to: "
            "{body: b%d, local: [%.3f, 0.2, 0.3]}, stiffness: %.1f, free_length: %.3f, damping: "
            "2}\n",
            i, 1.2 * i + R(-.5, .5), R(-.5, .5), i, R(-.3, .3), R(100, 300), R(0.8, 1.4));
    }
    ADD("measures:\n  q: {type: position, of: {body: b%d, local: [0.2, 0.1, -0.1]}}\n", nbody - 1);
    ADD("  d0: {type: distance, from: {body: ground, local: [-2.5, 0.5, 0.2]}, to: {body: b0, "
        "local: [0, 0.1, 0]}}\n");
    ADD("  e: {type: orientation, of: b%d}\n  z: {type: state, rate: '(q.x*q.y - s*(2 + "
        "s^2))/0.2', initial: 0.4}\n",
        nbody - 1);
    ADD("initial:\n");
    if (how & 2) ADD("  positions: {q.z: 0.05}\n");
    if (how & 1) ADD("  velocities: {'e.e1.x*rate(q.y)': v0*q.x}\n");
    ADD("  equilibrium: %s\n",
        (const char *[]){"true", "{hold: [q.z]}", "{without: [s0], hold: ['q.x*q.y']}",
                         "{gravity: false, forces: [m0, m1, m2, m3]}"}[how >> 2 & 3]);
    if ((how >> 2 & 3) == 3) {
        char list[32] = "", *old = strstr(text, "[m0, m1, m2, m3]");
        for (int i = 0; i < nbody; i++) sprintf(list + strlen(list), "%sm%d", i ? ", " : "[", i);
        sprintf(list + strlen(list), "]}\n");
        strcpy(old, list);
        n = strlen(text);
    }
    ADD("objectives: {o1: end(q.x + 2*q.y*e.e1.z + z), o2: start(e.e2.x*q.z - q.x) + start(z), o3: "
        "peak(q.z), o4: integral(norm(rate(q)))}\n"
        "simulation: {end: 0.1, step: 0.01}\n");
#undef ADD
#undef R
}

static void compare(trial *y, const char *text, double *worst)
{
    int n = cst_model_number_count(y->m), nobj = cst_model_objective_count(y->m);
    size_t size = sizeof(double) * (size_t)(n * nobj);
    double *a = malloc(size), *b = malloc(size);
    const cst_gradient *g = gradient(y, CST_ADJOINT);
    memcpy(a, g->slope, size);
    memcpy(b, gradient(y, CST_DIRECT)->slope, size);
    for (int o = 0; o < nobj; o++)
        for (int i = 0; i < n; i++) {
            double w = fmax(0.1, fabs(cst_model_number_value(y->m, i)));
            double off = fabs(a[o * n + i] - b[o * n + i]) * w / (1 + fabs(b[o * n + i]) * w);
            if (isnan(a[o * n + i]) && isnan(b[o * n + i])) continue;
            if (!(off < 1e-11))
                fail_msg("d%s/d%s is %.17g by adjoint, %.17g by direct\n%s",
                         cst_model_objective_name(y->m, o), cst_model_number_name(y->m, i),
                         a[o * n + i], b[o * n + i], text);
        }
    int which[6];
    for (int k = 0; k < 6; k++) which[k] = (int)((unsigned)(k + 1) * 2654435761u % (unsigned)n);
    g = cst_run_gradient(y->r, NULL, CST_DIFFERENCE, 6, which, &diag);
    if (!g) fail_msg("%s", diag.text);
    for (int o = 0; o < nobj; o++)
        for (int k = 0; k < 6; k++) {
            double w = fmax(0.1, fabs(cst_model_number_value(y->m, which[k]))),
                   at = a[o * n + which[k]];
            double off = fabs(at - g->slope[o * 6 + k]) * w / (1 + fabs(at) * w);
            if (isnan(at)) continue;
            *worst = fmax(*worst, off);
            if (!(off < 1e-7))
                fail_msg("d%s/d%s is %.17g, by differences %.17g +- %.1e\n%s",
                         cst_model_objective_name(y->m, o), cst_model_number_name(y->m, which[k]),
                         at, g->slope[o * 6 + k], g->error[o * 6 + k], text);
        }
    free(a), free(b);
}

static void gradients_by_three_ways(void **state)
{
    (void)state;
    expect_random r = {1};
    static char text[16384];
    double worst = 0;
    for (int sample = 0; sample < 32; sample++) {
        random_scene(&r, text, sample % 16);
        trial y = try_text(text);
        compare(&y, text, &worst);
        trial_end(&y);
    }
    print_message("differences: %.1e\n", worst);
}

/* With everything taking part, nothing held and no rates prescribed, nothing moves. */
static void equilibrium_lasts(void **state)
{
    (void)state;
    expect_random r = {2};
    static char text[16384];
    for (int sample = 0; sample < 20; sample++) {
        random_scene(&r, text, 0);
        char *drive = strstr(text, "0.1*sin(3*t)");
        memcpy(drive, "0.0", 3); /* the drive stands */
        trial y = try_text(text);
        run(&y);
        expect_near(value_of(&y, "o4"), 0, 1e-12);
        trial_end(&y);
    }
}

/* ---- a force with states ---- */

/* Between points a, b: tension z1 + z2 + k (s - s0), z1' = 30 (s - 0.5) - z1 (2 + z1^2) + z2, z2' =
 * 0 s' */
enum { K, C, S0, F0 };

static void hyper_force(const cst_local *e, double *f, double *zd)
{
    double d[3], s = 0;
    for (int i = 0; i < 3; i++) d[i] = e->x[3 + i] - e->x[i], s += d[i] * d[i];
    s = sqrt(s);
    double F = e->z[0] + e->z[1] + e->p[K] * (s - e->p[S0]);
    for (int i = 0; i < 3; i++) f[i] = F * d[i] / s, f[3 + i] = -f[i];
    zd[0] = 30 * (s - 0.5) - e->z[0] * (2 + e->z[0] * e->z[0]) + e->z[1];
    zd[1] = 0;
}

static void hyper_partials(const cst_local *e, double *f_x, double *f_xd, double *f_z, double *f_p)
{
    double d[3], n[3], s = 0;
    for (int i = 0; i < 3; i++) d[i] = e->x[3 + i] - e->x[i], s += d[i] * d[i];
    s = sqrt(s);
    for (int i = 0; i < 3; i++) n[i] = d[i] / s;
    double F = e->z[0] + e->z[1] + e->p[K] * (s - e->p[S0]);
    if (f_xd) memset(f_xd, 0, 8 * 6 * sizeof *f_xd);
    for (int i = 0; i < 6; i++) {
        int c = i % 3;
        double sign = i < 3 ? 1 : -1;
        for (int j = 0; f_x && j < 6; j++) {
            double by = j < 3 ? -1 : 1, dn = ((c == j % 3) - n[c] * n[j % 3]) / s;
            f_x[i * 6 + j] = sign * by * (e->p[K] * n[c] * n[j % 3] + F * dn);
        }
        for (int j = 0; f_z && j < 2; j++) f_z[i * 2 + j] = sign * n[c];
        for (int j = 0; f_p && j < e->np; j++)
            f_p[i * e->np + j] = sign * n[c] * (j == K ? s - e->p[S0] : j == S0 ? -e->p[K] : 0);
    }
    for (int j = 0; f_x && j < 6; j++)
        f_x[6 * 6 + j] = 30 * (j < 3 ? -1 : 1) * n[j % 3], f_x[7 * 6 + j] = 0;
    if (f_z) f_z[12] = -2 - 3 * e->z[0] * e->z[0], f_z[13] = 1, f_z[14] = f_z[15] = 0;
    if (f_p) memset(f_p + 6 * e->np, 0, 2 * (size_t)e->np * sizeof *f_p);
}

static void forces_with_states(void **state)
{
    (void)state;
    static const cst_force_class hyper = {.name = "hyper",
                                          .nslot = 2,
                                          .np = 4,
                                          .nz = 2,
                                          .force = hyper_force,
                                          .partials = hyper_partials};
    double worst = 0;
    const char *text = HANGING_MASS "initial: {equilibrium: true}\n";
    cst_model *m = parse(text);
    cst_force *f = &m->force.at[0];
    f->cls = &hyper;
    f->nz = m->nz = 2;
    f->z_start = m->body.at[0].drawn + 1; /* numbers of the file: P.y and P.z */
    trial y = {.m = m, .r = cst_run_new(m, NULL, &diag)};
    expect_not_null(y.r);
    run(&y);
    /* at rest: z2 = P.z, z1 from its own equation, tension = m g */
    double s = -value_of(&y, "y"), z1 = 2 * 9.81 - 500 * (s - 1) - 0.3;
    expect_near(30 * (s - 0.5) - z1 * (2 + z1 * z1) + 0.3, 0, 1e-11);
    expect_near(value_of(&y, "end"), -s, 1e-13);
    compare(&y, text, &worst);
    const cst_gradient *g = gradient(&y, CST_ADJOINT);
    expect_near(slope_of(&y, g, "y", "P.y"), 0, 1e-12);
    expect_true(fabs(slope_of(&y, g, "y", "P.z")) > 1e-4);
    trial_end(&y);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradients_by_three_ways),
        cmocka_unit_test(equilibrium_lasts),
        cmocka_unit_test(forces_with_states),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
