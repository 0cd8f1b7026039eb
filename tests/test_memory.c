/* SPDX-License-Identifier: MIT
 *
 * Checkpoints: with little memory most states are computed again from others that were kept. They are the same bits, and so is the
 * gradient: in smooth motions, with redundant rows, and with events, whose steps were tried several times. */
#include "reference.h"
#include "integrator/run.h"
#include "integrator/state.h"

static void gradient(const char *file, double end, int little, const cst_gradient **g, cst_model **m, cst_run **r)
{
    static cst_diag d;
    d = (cst_diag){0};
    char path[300];
    snprintf(path, sizeof path, "%s/examples/%s/model.yaml", CST_SOURCE_DIR, file);
    *m = cst_model_load(path, 0, NULL, &d);
    if (!*m) fail_msg("%s", d.text);
    cst_options o = cst_options_default();
    o.end = end;
    if (little) { /* room for one interval and for the kept states, not for a third of all */
        *r = cst_run_new(*m, &o, &d);
        double steps = (*r)->options.end / (*r)->options.step + 12;
        o.memory = (steps / CST_FORGET + CST_FORGET + 5) * 8 * (double)cst_state_size(*m) + 36 * steps;
        cst_run_free(*r);
    }
    *r = cst_run_new(*m, &o, &d);
    if (!*r || !(*g = cst_run_gradient(*r, NULL, CST_ADJOINT, 0, NULL, &d))) fail_msg("%s: %s", file, d.text);
    expect_int((*r)->kept->every, little ? CST_FORGET : 1);
    expect_true(!little || (*r)->kept->again > 3 * CST_FORGET);
}

static void same_bits(const char *file, double end)
{
    const cst_gradient *g[2];
    cst_model *m[2];
    cst_run *r[2];
    for (int i = 0; i < 2; i++) gradient(file, end, i, &g[i], &m[i], &r[i]);
    int n = cst_model_number_count(m[0]), nobj = cst_model_objective_count(m[0]);
    for (int i = 0; i < nobj * n; i++)
        if (memcmp(&g[0]->slope[i], &g[1]->slope[i], sizeof(double)) != 0 && !(isnan(g[0]->slope[i]) && isnan(g[1]->slope[i])))
            fail_msg("%s: d/d%s is %.17g, with checkpoints %.17g", file, cst_model_number_name(m[0], i % n), g[0]->slope[i], g[1]->slope[i]);
    for (int i = 0; i < 2; i++) cst_run_free(r[i]), cst_model_free(m[i]);
}

static void test_smooth(void **state) { (void)state, same_bits("five-bar", 0.4); }
static void test_redundant(void **state) { (void)state, same_bits("n-four-bar", 0.4); }
static void test_events(void **state) { (void)state, same_bits("buggy", 0.4); }

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_smooth), cmocka_unit_test(test_redundant), cmocka_unit_test(test_events)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
