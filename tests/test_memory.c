/* SPDX-License-Identifier: MIT
 *
 * Checkpoints: with little memory most states are computed again from others that were kept. They
 * are the same bits, and so is the gradient: in smooth motions, with redundant rows, beyond
 * singular positions, and with events, whose steps were tried several times. */
#include "integrator/run.h"
#include "integrator/state.h"
#include "pairs.h"
#include "reference.h"

typedef struct {
    cst_model *m;
    cst_run *r;
    const cst_gradient *g;
} solution;

/* With room for a share of all states; 0: for all */
static solution solve(const char *file, const char *formulation, const char *integrator, double end,
                      double share)
{
    static cst_diag d;
    d = (cst_diag){0};
    char path[300], set[80];
    snprintf(path, sizeof path, "%s/examples/%s/model.yaml", CST_SOURCE_DIR, file);
    snprintf(set, sizeof set, "simulation.formulation=%s", formulation);
    solution s = {.m = cst_model_load(path, 1, (const char *[]){set}, &d)};
    if (!s.m) fail_msg("%s", d.text);
    cst_options o = cst_options_default();
    o.end = end, o.integrator = integrator;
    s.r = cst_run_new(s.m, &o, &d);
    if (s.r && share > 0) {
        double steps = end / s.r->options.step;
        cst_run_free(s.r);
        o.memory = share * steps * 8 * (double)cst_state_size(s.m);
        s.r = cst_run_new(s.m, &o, &d);
    }
    if (!s.r || !(s.g = cst_run_gradient(s.r, NULL, CST_ADJOINT, 0, NULL, &d)))
        fail_msg("%s: %s", file, d.text);
    return s;
}

static void release(solution *s) { cst_run_free(s->r), cst_model_free(s->m); }

static int same(const double *a, const double *b)
{
    return memcmp(a, b, sizeof *a) == 0 || (isnan(*a) && isnan(*b));
}

/* With room for windows of a whole interval between kept states, and of a part of it */
static void same_bits(const char *file, double end, double much, double little)
{
    const double share[] = {much, little};
    solution all = solve(file, "index3", NULL, end, 0);
    int n = cst_model_number_count(all.m), nobj = cst_model_objective_count(all.m);
    expect_int(all.r->kept->every, 1);
    for (int k = 0; k < 2; k++) {
        solution s = solve(file, "index3", NULL, end, share[k]);
        const cst_traj *t = s.r->kept;
        expect_true(t->every > 1 && (t->window < t->every) == k &&
                    (double)t->again > (k ? 1.5 : 0.9) * (double)t->n);
        for (int i = 0; i < nobj * n; i++)
            if (!same(&all.g->slope[i], &s.g->slope[i]))
                fail_msg("%s: d/d%s is %.17g, with checkpoints %.17g", file,
                         cst_model_number_name(all.m, i % n), all.g->slope[i], s.g->slope[i]);
        release(&s);
    }
    release(&all);
}

/* Every formulation and integrator; charts that are reviewed leave rounding */
static void same_by(const cst_formulation *f, const char *integrator, void *ctx)
{
    (void)ctx;
    solution all = solve("five-bar", f->name, integrator, 0.4, 0),
             s = solve("five-bar", f->name, integrator, 0.4, 0.1);
    int n = cst_model_number_count(all.m);
    double most = 0;
    expect_true(s.r->kept->every > 1 && s.r->kept->again > 0);
    for (int i = 0; i < n; i++) most = fmax(most, fabs(all.g->slope[i])); /* NaN is not taken */
    for (int i = 0; i < n; i++)
        if (!same(&all.g->slope[i], &s.g->slope[i]))
            expect_near(s.g->slope[i] / most, all.g->slope[i] / most, 1e-14);
    release(&all), release(&s);
}

static void test_formulations(void **state) { (void)state, for_each_pair(1, same_by, NULL); }
static void test_smooth(void **state) { (void)state, same_bits("five-bar", 0.4, 0.3, 0.1); }
static void test_redundant(void **state) { (void)state, same_bits("bricard", 5, 0.1, 0.045); }
static void test_singular(void **state) { (void)state, same_bits("n-four-bar", 1.4, 0.15, 0.08); }
static void test_events(void **state) { (void)state, same_bits("buggy", 0.4, 0.3, 0.1); }

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_smooth),
                                       cmocka_unit_test(test_redundant),
                                       cmocka_unit_test(test_singular),
                                       cmocka_unit_test(test_events),
                                       cmocka_unit_test(test_formulations)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
