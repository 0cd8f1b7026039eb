/* SPDX-License-Identifier: MIT
 *
 * `formulation: auto` does what the user guide says: index1 with rk4 (rk45 with a tolerance) for
 * trees of joints where nothing switches and the step resolves the forces, index3 with newmark for
 * all others; the models of performance.md, and each condition by itself. */
#include "../bench/chain.h"
#include "expect.h"

#include <math.h>

static cst_diag diag;

static void chooses(cst_model *m, double step, double tolerance, const char *formulation,
                    const char *integrator, const char *why)
{
    cst_options o = cst_options_default();
    o.formulation = "auto", o.tolerance = tolerance;
    if (step > 0) o.step = step;
    cst_run *r = m ? cst_run_new(m, &o, &diag) : NULL;
    if (!r) print_error("%s", diag.text);
    expect_true(r != NULL);
    expect_text(r->options.formulation, formulation),
        expect_text(r->options.integrator, integrator);
    if (!strstr(r->why, why)) print_error("%s, not %s\n", r->why, why);
    expect_true(strstr(r->why, why) != NULL);
    cst_run_free(r);
}

static void file_chooses(const char *path, const char *why)
{
    memset(&diag, 0, sizeof diag);
    cst_model *m = cst_model_load(path, 0, NULL, &diag);
    chooses(m, 0, 0, "index3", "newmark", why);
    cst_model_free(m);
}

static void test_models(void **state)
{
    (void)state;
    size_t size;
    file_chooses(CST_SOURCE_DIR "/examples/five-bar/model.yaml", "loops");
    file_chooses(CST_SOURCE_DIR "/examples/quarter-car/model.yaml", "loops");
    file_chooses(CST_SOURCE_DIR "/examples/n-four-bar/model.yaml", "loops");
    char *text = bench_chain(50, &size);
    cst_model *m = cst_model_parse("chain.yaml", text, size, 0, NULL, &diag);
    chooses(m, 0, 0, "index1", "rk4", "tree");
    chooses(m, 0, 1e-6, "index1", "rk45", "tree");
    cst_model_free(m);
    free(text);
}

/* A bob on a spring, w = sqrt(k/m): resolved up to h w = 0.3 */
static cst_model *bob(const char *force)
{
    char text[1024];
    memset(&diag, 0, sizeof diag);
    snprintf(text, sizeof text,
             "costate: 1\ngravity: [0, 0, 0]\npoints: {P: [0, 0, 0]}\n"
             "bodies: {b: {type: point, position: P, mass: 2, velocity: [1, 0, 0]}}\nmeasures: {p: "
             "{type: position, of: b.origin}, v: {type: velocity, of: b.origin}}\nforces: {f: "
             "{type: force, on: b.origin, force: [\"%s\", 0, 0]}}\n",
             force);
    return cst_model_parse("bob.yaml", text, strlen(text), 0, NULL, &diag);
}

static void test_conditions(void **state)
{
    (void)state;
    const double w = sqrt(200.0 / 2);
    cst_model *m = bob("-200*p.x");
    chooses(m, 0.299 / w, 0, "index1", "rk4", "tree");
    chooses(m, 0.301 / w, 0, "index3", "newmark", "h omega = 0.3");
    cst_model_free(m);
    m = bob("-200*v.x"); /* c/m = 100/s */
    chooses(m, 0.00299, 0, "index1", "rk4", "tree");
    chooses(m, 0.00301, 0, "index3", "newmark", "h omega = 0.3");
    cst_model_free(m);
    m = bob("if(p.x > 1, -p.x, 0)");
    chooses(m, 1e-3, 0, "index3", "newmark", "switches");
    cst_model_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_models),
                                       cmocka_unit_test(test_conditions)};
    return cmocka_run_group_tests_name("auto", tests, NULL, NULL);
}
