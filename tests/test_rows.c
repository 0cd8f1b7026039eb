/* SPDX-License-Identifier: MIT
 *
 * Redundant rows in large motion: plane loops of hinges in space, closed three times too often,
 * that swing and turn over. the rows in use are nearly as independent as all rows are, at every
 * state slopes are those of the same loop closed just once, for every formulation, with checkpoints
 * and threads */
#include <stdlib.h>

#include "integrator/run.h"
#include "load_text.h"

/* LAPACK: singular values */
void dgesvd_(const char *jobu, const char *jobv, const int *m, const int *n, double *a,
             const int *lda, double *s, double *u, const int *ldu, double *v, const int *ldv,
             double *work, const int *lwork, int *info);

static void rotation(expect_random *r, double R[3][3])
{
    double e[4], n = 0;
    for (int i = 0; i < 4; i++) e[i] = expect_uniform(r, -1, 1), n += e[i] * e[i];
    for (int i = 0; i < 4; i++) e[i] /= sqrt(n);
    double w = e[0], x = e[1], y = e[2], z = e[3];
    double Q[3][3] = {{1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)},
                      {2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)},
                      {2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)}};
    memcpy(R, Q, sizeof Q);
}

static const char *vector(char *text, double R[3][3], double x, double y, double z)
{
    double v[3] = {x, y, z}, o[3];
    for (int i = 0; i < 3; i++) o[i] = R[i][0] * v[0] + R[i][1] * v[1] + R[i][2] * v[2];
    sprintf(text, "[%.17g, %.17g, %.17g]", o[0], o[1], o[2]);
    return text;
}

/* n - 1 bars between n hinges, the first and the last on the ground. once: the last one only guides
 * a point. */
static cst_model *loop_of(uint64_t seed_of, int once)
{
    static char text[8192];
    char v[128], axis[128], *at = text;
    expect_random r = {seed_of};
    double R[3][3], pi = acos(-1);
    int n = 4 + (int)(expect_bits(&r) % 3);
    rotation(&r, R);
    vector(axis, R, 0, 0, 1);
    at += sprintf(at, "gravity: %s\npoints:\n", vector(v, R, 0, -9.81, 0));
    for (int i = 0; i < n; i++) {
        double a = 2 * pi * i / n, l = expect_uniform(&r, 0.6, 1.2);
        at += sprintf(at, "  P%d: %s\n", i, vector(v, R, l * cos(a), l * sin(a), 0));
    }
    at += sprintf(at, "bodies:\n");
    for (int i = 0; i + 1 < n; i++)
        at += sprintf(at, "  b%d: {type: bar, from: P%d, to: P%d, mass: 1, radius: 0.05}\n", i, i,
                      i + 1);
    at += sprintf(at, "joints:\n  j0: {type: revolute, between: [ground, b0], at: P0, axis: %s}\n",
                  axis);
    for (int i = 1; i + 1 < n; i++)
        at += sprintf(at, "  j%d: {type: revolute, between: [b%d, b%d], at: P%d, axis: %s}\n", i,
                      i - 1, i, i, axis);
    if (once)
        at += sprintf(at, "  end: {type: point-on-line, of: b%d.P%d, through: P%d, axis: %s}\n",
                      n - 2, n - 1, n - 1, axis);
    else
        at += sprintf(at, "  end: {type: revolute, between: [b%d, ground], at: P%d, axis: %s}\n",
                      n - 2, n - 1, axis);
    at += sprintf(at,
                  "measures:\n  place: {type: position, of: b1.P2}\n  turn: {type: angle, between: "
                  "[ground, b0], axis: %s}\n",
                  axis);
    at += sprintf(at, "  R: {type: reaction, of: j0}\ninitial: {velocities: {turn: %.17g}}\n",
                  expect_uniform(&r, -8, 8));
    /* in the plane the reaction is unique */
    at +=
        sprintf(at,
                "objectives: {x: end(place.x), R2: 'integral((%.17g*R.force.x + %.17g*R.force.y + "
                "%.17g*R.force.z)^2)'}\n",
                R[0][0], R[1][0], R[2][0]);
    sprintf(at, "simulation: {end: 2, step: 0.005}\n");
    return parse(text);
}

static double singular(cst_run *r, const cst_jacobian *j, int all)
{
    int nu = r->m->nu, most = j->rows.nrow, n = 0, info, one = 1, lwork = 40 * (most + nu);
    double *A = calloc((size_t)most * (size_t)nu + 1, sizeof *A),
           *s = calloc((size_t)most + 1, sizeof *s);
    double *work = calloc((size_t)lwork, sizeof *work), none;
    for (int i = 0; i < most; i++) {
        if (!all && r->w->k->row_of[j->all_of[i]] < 0) continue;
        for (int p = j->rows.ptr[i]; p < j->rows.ptr[i + 1]; p++)
            A[(size_t)j->rows.col[p] * (size_t)most + (size_t)n] = j->rows.val[p];
        n++;
    }
    dgesvd_("N", "N", &n, &nu, A, &most, s, &none, &one, &none, &one, work, &lwork, &info);
    double last = s[r->st->rank - 1];
    free(A), free(s), free(work);
    return last;
}

typedef struct watcher {
    cst_run *run;
    double worst;
    int states;
} watcher;

static int watch(void *ctx, double t, const double *measure, int n)
{
    watcher *w = ctx;
    cst_run *r = w->run;
    cst_arena a = {0};
    (void)measure, (void)n;
    if (w->states++ % 3) return 0;
    if (CST_ARENA_GUARD(&a)) fail_msg("out of memory");
    double *mem = cst_new(&a, double, r->m->memory.n + 1);
    cst_system_place(r->s, t, r->q);
    cst_slots_blocks(r->s, r->q);
    cst_jacobian j = cst_jacobian_rows(&a, r->s, mem, CST_ROW_MOTION, r->st->column);
    w->worst = fmin(w->worst, singular(r, &j, 0) / singular(r, &j, 1));
    cst_arena_free(&a);
    return 0;
}

static void test_rows_stay_independent(void **state)
{
    (void)state;
    int turned = 0;
    for (uint64_t k = 1; k <= 16; k++) {
        cst_model *m = loop_of(k, 0);
        cst_run *r = cst_run_new(m, NULL, &diag);
        watcher w = {r, 1, 0};
        expect_int(r->st->dep.ndep, 3);
        if (cst_run_simulate(r, NULL, watch, &w, &diag) != CST_OK)
            fail_msg("loop %d: %s", (int)k, diag.text);
        if (w.worst < 0.05)
            fail_msg("loop %d: singular values of the rows in use fall to %.2g of those of all",
                     (int)k, w.worst);
        turned += r->choices->turn.n > 1;
        cst_run_free(r), cst_model_free(m);
    }
    if (turned < 5) fail_msg("rows changed in %d of 16 loops: nothing has been shown", turned);
}

/* Slopes by the numbers of bodies and points, which both loops have */
static void compare(const cst_gradient *a, const cst_model *ma, const cst_gradient *b,
                    const cst_model *mb, double tol, const char *what)
{
    for (int o = 0; o < a->objectives; o++) {
        double largest = 0;
        for (int i = 0; i < a->numbers; i++)
            if (isfinite(a->slope[o * a->numbers + i]))
                largest = fmax(largest, fabs(a->slope[o * a->numbers + i]));
        if (!(largest > 0))
            fail_msg("%s: objective %d has no slopes: %d %s", what, o,
                     (int)a->effect[o * a->numbers], cst_model_number_name(ma, 0));
        for (int i = 0; i < a->numbers; i++) {
            const char *name = cst_model_number_name(ma, a->number[i]);
            if (name[0] != 'P' && name[0] != 'b' && name[0] != 'g') continue;
            int k = cst_model_number_find(mb, name);
            expect_true(k >= 0);
            double apart = fabs(a->slope[o * a->numbers + i] - b->slope[o * b->numbers + k]);
            if (!(apart <= tol * largest))
                fail_msg("%s, objective %d by %s: %.2g of the largest slope", what, o, name,
                         apart / largest);
        }
    }
}

static const struct {
    const char *formulation, *integrator;
    double memory;
    int threads, own;
} way[] = {
    {"index3", NULL, 0, 1, 0},        {"index3", NULL, 70e3, 1, 0},   {"index3", NULL, 0, 2, 0},
    {"index1", "trapezoid", 0, 1, 0}, {"variational", NULL, 0, 1, 0}, {"augmented", NULL, 0, 1, 0},
    {"maggi", "rk4", 0, 1, 1}, /* its coordinates are others: compared with its own direct method */
};

static void test_slopes(void **state)
{
    (void)state;
    int turned = 0;
    for (uint64_t k = 1; k <= 3; k++)
        for (size_t i = 0; i < sizeof way / sizeof *way; i++) {
            cst_model *m[2] = {loop_of(k, 0), loop_of(k, !way[i].own)};
            cst_run *r[2];
            const cst_gradient *g[2];
            cst_options o = cst_options_default();
            o.end = 1, o.formulation = way[i].formulation, o.integrator = way[i].integrator;
            o.memory = way[i].memory, o.threads = way[i].threads;
            for (int j = 0; j < 2; j++) {
                r[j] = cst_run_new(m[j], &o, &diag);
                g[j] =
                    r[j] ? cst_run_gradient(r[j], NULL, way[i].own && j ? CST_DIRECT : CST_ADJOINT,
                                            0, NULL, &diag)
                         : NULL;
                if (!g[j]) fail_msg("%s", diag.text);
            }
            char what[64];
            sprintf(what, "loop %d, way %d", (int)k, (int)i);
            compare(g[0], m[0], g[1], m[1], 1e-7, what);
            turned += r[0]->choices->turn.n > 1;
            for (int j = 0; j < 2; j++) cst_run_free(r[j]), cst_model_free(m[j]);
        }
    if (turned < 5) fail_msg("rows changed in %d runs: nothing has been shown", turned);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows_stay_independent),
        cmocka_unit_test(test_slopes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
