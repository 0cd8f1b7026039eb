/* SPDX-License-Identifier: MIT
 *
 * Laws of motion on random mechanisms: balances of Newton, Euler and power, conservation of energy
 * at second order, closed constraints, no preferred place or direction, redundant joints that
 * change nothing, the same bits every time. */
#include "random_check.h"

typedef struct history {
    int n, rows, cap;
    double *t, *at; /* rows x n */
} history;

static int record(void *ctx, double t, const double *measure, int n)
{
    history *h = ctx;
    if (h->rows == h->cap) {
        h->cap = 2 * h->cap + 16;
        h->t = realloc(h->t, sizeof *h->t * (size_t)h->cap);
        h->at = realloc(h->at, sizeof *h->at * (size_t)(h->cap * n));
    }
    h->n = n;
    h->t[h->rows] = t;
    memcpy(h->at + h->rows++ * n, measure, sizeof *measure * (size_t)n);
    return 0;
}

static void history_free(history *h) { free(h->t), free(h->at), *h = (history){0}; }

static int column(const random_case *c, const char *format, int k, const char *rest)
{
    char name[64];
    snprintf(name, sizeof name, format, k);
    strcat(name, rest);
    for (int i = 0; i < cst_model_measure_count(c->m); i++)
        if (strcmp(cst_model_measure_name(c->m, i), name) == 0) return i;
    random_fail(c, name);
    return -1;
}

static void vector_at(const random_case *c, const double *row, const char *format, int k,
                      const char *rest, double v[3])
{
    for (int i = 0; i < 3; i++) {
        char full[32];
        snprintf(full, sizeof full, "%s.%c", rest, "xyz"[i]);
        v[i] = row[column(c, format, k, full)];
    }
}

static history simulate(random_case *c, double step)
{
    history h = {0};
    cst_options o = cst_options_default();
    if (step > 0) {
        cst_run_free(c->run);
        o.step = step;
        c->run = cst_run_new(c->m, &o, &c->d);
        if (!c->run) random_fail(c, "there is no run");
    }
    if (cst_run_simulate(c->run, NULL, record, &h, &c->d) != CST_OK)
        random_fail(c, "the motion fails");
    return h;
}

static const random_kind kinds[] = {
#define X(name) RANDOM_##name,
    RANDOM_KIND_LIST(X)
#undef X
};

enum { NKIND = sizeof kinds / sizeof *kinds };

/* ---- Newton and Euler ---- */

typedef struct wrench {
    double f[3], m[3]; /* m about the centre of mass */
    double size;
} wrench;

static void wrench_add(wrench *w, double sign, const double f[3], const double m[3],
                       const double at[3], const double com[3])
{
    double arm[3], c[3];
    for (int i = 0; i < 3; i++) arm[i] = at[i] - com[i];
    random_cross(arm, f, c);
    for (int i = 0; i < 3; i++) {
        w->f[i] += sign * f[i], w->m[i] += sign * (m[i] + c[i]);
        w->size = fmax(w->size, fmax(fabs(f[i]), fabs(m[i]) + fabs(c[i])));
    }
}

static void elements_add(const random_case *c, const double *row, int b, const double com[3],
                         const random_element *e, int n, char kind, wrench *w)
{
    for (int k = 0; k < n; k++) {
        double f[3], m[3], at[3] = {0};
        char letter[8];
        snprintf(letter, sizeof letter, "%c%c%%d", kind, kind == 'R' ? 'j' : 'f');
        for (int side = 0; side < 2; side++) {
            if (e[k].body[side] != b) continue;
            vector_at(c, row, letter, k, ".force", f);
            vector_at(c, row, letter, k, ".torque", m);
            if (e[k].point[1][0]) /* without a point there is no resulting force: the place does not
                                     matter */
                vector_at(c, row, kind == 'R' ? "atj%d" : "atf%d", k, "", at);
            wrench_add(w, side ? 1 : -1, f, m, at, com);
        }
    }
}

static void body_is_balanced(const random_case *c, const double *row, int k)
{
    const random_body *b = &c->g.body[k];
    wrench w = {.size = 1};
    double com[3], a[3], spin[3], turn[3], L[3], Ia[3], e[3][3], zero[3] = {0};
    vector_at(c, row, "mp%d", k, "", com);
    vector_at(c, row, "ma%d", k, "", a);
    elements_add(c, row, k, com, c->g.joint, c->g.njoint, 'R', &w);
    elements_add(c, row, k, com, c->g.force, c->g.nforce, 'F', &w);
    double weight[3];
    for (int i = 0; i < 3; i++) weight[i] = b->mass * c->g.gravity[i];
    wrench_add(&w, 1, weight, zero, com, com);
    for (int i = 0; i < 3; i++)
        if (!(fabs(w.f[i] - b->mass * a[i]) <= 1e-9 * w.size))
            random_fail(c, "a body's forces are not its mass times acceleration");
    if (!b->local) return;
    vector_at(c, row, "mw%d", k, "", spin);
    vector_at(c, row, "mal%d", k, "", turn);
    for (int i = 0; i < 3; i++)
        vector_at(c, row, "me%d", k, i == 0 ? ".e1" : i == 1 ? ".e2" : ".e3", e[i]);
    const double *I = b->inertia,
                 full[3][3] = {{I[0], I[3], I[4]}, {I[3], I[1], I[5]}, {I[4], I[5], I[2]}};
    for (int i = 0; i < 3; i++) L[i] = Ia[i] = 0;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            for (int x = 0; x < 3; x++) {
                L[x] += e[i][x] * full[i][j] * random_dot(e[j], spin);
                Ia[x] += e[i][x] * full[i][j] * random_dot(e[j], turn);
            }
    random_cross(spin, L, e[0]);
    for (int i = 0; i < 3; i++)
        if (!(fabs(w.m[i] - Ia[i] - e[0][i]) <= 1e-9 * w.size))
            random_fail(c, "a body's torques are not the rate of its spin");
}

static void forces_are_mass_times_acceleration(void **state)
{
    (void)state;
    static random_case c;
    for (uint64_t seed = 1; seed <= (uint64_t)expect_rounds(4, 12) * NKIND; seed++) {
        random_options o = {.kind = kinds[seed % NKIND], .balance = 1, .step = 0.01, .steps = 10};
        random_case_begin(&c, seed, &o);
        history h = simulate(&c, 0);
        for (int i = 0; i < h.rows; i += 3)
            for (int k = 0; k < c.g.nbody; k++) body_is_balanced(&c, h.at + i * h.n, k);
        int open = column(&c, "open", 0, "");
        for (int i = 0; i < h.rows; i++)
            if (!(h.at[i * h.n + open] <= 1e-12)) random_fail(&c, "constraints are open");
        history_free(&h);
        random_case_end(&c);
    }
}

/* ---- energy ---- */

/* largest |E(t) + dissipated - work - E(0)| */
static double imbalance(random_case *c, double step, double *size)
{
    history h = simulate(c, step);
    int total = column(c, "E.total", 0, ""), lost = column(c, "E.dissipated", 0, ""),
        kinetic = column(c, "E.kinetic", 0, "");
    int work = c->g.npower ? column(c, "work", 0, "") : -1;
    double most = 0;
    *size = 1;
    for (int i = 0; i < h.rows; i++) {
        const double *x = h.at + i * h.n;
        double e = x[total] + x[lost] - (work >= 0 ? x[work] : 0) - h.at[total];
        most = fmax(most, fabs(e));
        *size = fmax(*size, fabs(x[kinetic]));
    }
    history_free(&h);
    return most;
}

static void energy_is_kept(random_kind kind, random_forces forces)
{
    static random_case c;
    double coarse = 0, fine = 0;
    for (uint64_t seed = 1; seed <= 12; seed++) {
        random_options o = {.kind = kind, .forces = forces, .step = 0.008, .steps = 40};
        random_case_begin(&c, seed, &o);
        double size, a = imbalance(&c, 0.008, &size), b = imbalance(&c, 0.004, &size);
        if (b > 0.3 * a + 1e-11 * size)
            random_fail(&c, "the imbalance of energy does not fall as the step squared");
        if (!(a < 0.05 * size)) random_fail(&c, "the energy is not balanced");
        coarse += a, fine += b;
        random_case_end(&c);
    }
    print_message("imbalance %.3g at h, %.3g at h/2\n", coarse, fine);
    expect_true(fine > 0 && fine < 0.28 * coarse && fine > 0.2 * coarse);
}

static void conservative_motion_keeps_its_energy(void **state)
{
    (void)state;
    energy_is_kept(RANDOM_CHAIN, RANDOM_CONSERVATIVE);
    energy_is_kept(RANDOM_TREE, RANDOM_CONSERVATIVE);
    energy_is_kept(RANDOM_PLANAR, RANDOM_CONSERVATIVE);
    energy_is_kept(RANDOM_SPATIAL, RANDOM_CONSERVATIVE);
    energy_is_kept(RANDOM_CLOSED, RANDOM_CONSERVATIVE);
}

static void power_is_balanced(void **state)
{
    (void)state;
    energy_is_kept(RANDOM_DRIVEN, RANDOM_PASSIVE);
    energy_is_kept(RANDOM_GEARED, RANDOM_PASSIVE);
    energy_is_kept(RANDOM_SPATIAL, RANDOM_PASSIVE);
}

/* ---- comparisons of two histories ---- */

static void same_measures(const random_case *a, const random_case *b, const history *x,
                          const history *y, const char *prefix, double tol)
{
    char text[200];
    int compared = 0;
    if (x->rows != y->rows) random_fail(b, "another number of steps");
    for (int i = 0; i < x->n; i++) {
        const char *name = cst_model_measure_name(a->m, i);
        size_t n = strcspn(name, "0123456789.");
        if (n > 12) continue;
        char key[16] = ",";
        memcpy(key + 1, name, n);
        key[n + 1] = ',';
        if (!strstr(prefix, key)) continue;
        int j = column(b, name, 0, "");
        double size = 1;
        for (int r = 0; r < x->rows; r++) size = fmax(size, fabs(x->at[r * x->n + i]));
        for (int r = 0; r < x->rows; r++) {
            double u = x->at[r * x->n + i], v = y->at[r * y->n + j];
            if (fabs(u - v) <= tol * size) continue;
            snprintf(text, sizeof text, "%s at t = %g is %.17g, then %.17g", name, x->t[r], u, v);
            random_fail(b, text);
        }
        compared++;
    }
    if (!compared) random_fail(b, "nothing is compared");
}

static void no_place_is_preferred(void **state)
{
    (void)state;
    static random_case a, b;
    static random_model turn;
    for (uint64_t seed = 1; seed <= (uint64_t)expect_rounds(5, 15) * NKIND; seed++) {
        random_options o = {.kind = kinds[seed % NKIND],
                            .slow_angles = 1,
                            .step = 0.01,
                            .steps = 20},
                       moved = o;
        double R[9], d[3];
        turn.r = (expect_random){seed};
        random_rotation(&turn, R);
        for (int i = 0; i < 3; i++) d[i] = random_in(&turn, -2, 2);
        moved.R = R, moved.d = d;
        random_case_begin(&a, seed, &o);
        random_case_begin(&b, seed, &moved);
        history x = simulate(&a, 0), y = simulate(&b, 0);
        same_measures(&a, &b, &x, &y, ",inv,", 1e-9);
        history_free(&x), history_free(&y);
        random_case_end(&a), random_case_end(&b);
    }
}

static void a_joint_twice_is_a_joint(void **state)
{
    (void)state;
    static random_case a, b;
    for (uint64_t seed = 1; seed <= (uint64_t)expect_rounds(4, 10) * NKIND; seed++) {
        random_options o = {.kind = kinds[seed % NKIND],
                            .unprescribed = 1,
                            .step = 0.01,
                            .steps = 20},
                       twice = o;
        twice.doubled = 1;
        random_case_begin(&a, seed, &o);
        random_case_begin(&b, seed, &twice);
        history x = simulate(&a, 0), y = simulate(&b, 0);
        if (a.g.njoint) same_measures(&a, &b, &x, &y, ",p,v,acc,w,al,F,E,z,", 1e-8);
        history_free(&x), history_free(&y);
        random_case_end(&a), random_case_end(&b);
    }
}

/* ---- bits ---- */

static void the_same_bits_every_time(void **state)
{
    (void)state;
    static random_case a, b;
    for (uint64_t seed = 1; seed <= (uint64_t)expect_rounds(3, 6) * NKIND; seed++) {
        random_options o = {.kind = kinds[seed % NKIND],
                            .objectives = 2,
                            .step = 0.01,
                            .steps = 12};
        random_case_begin(&a, seed, &o);
        random_case_begin(&b, seed, &o);
        size_t size = sizeof(double) * (size_t)(a.n * a.nobj);
        double *first = malloc(size + 8);
        history x = simulate(&a, 0), y = simulate(&a, 0), z = simulate(&b, 0);
        const history *other[] = {&y, &z};
        for (int i = 0; i < 2; i++)
            if (memcmp(x.at, other[i]->at, sizeof(double) * (size_t)(x.n * x.rows)))
                random_fail(&a, "a second run differs");
        for (cst_method method = CST_ADJOINT; method <= CST_DIRECT; method++) {
            const cst_gradient *g = cst_run_gradient(a.run, NULL, method, 0, NULL, &a.d);
            if (g == NULL) random_fail(&a, "there is no gradient");
            memcpy(first, g->slope, size);
            g = cst_run_gradient(a.run, NULL, method, 0, NULL, &a.d);
            if (memcmp(first, g->slope, size)) random_fail(&a, "a second gradient differs");
            g = cst_run_gradient(b.run, NULL, method, 0, NULL, &a.d);
            if (memcmp(first, g->slope, size))
                random_fail(&a, "the gradient of another run differs");
        }
        history_free(&x), history_free(&y), history_free(&z);
        free(first);
        random_case_end(&a), random_case_end(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forces_are_mass_times_acceleration),
        cmocka_unit_test(conservative_motion_keeps_its_energy),
        cmocka_unit_test(power_is_balanced),
        cmocka_unit_test(no_place_is_preferred),
        cmocka_unit_test(a_joint_twice_is_a_joint),
        cmocka_unit_test(the_same_bits_every_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
