/* SPDX-License-Identifier: MIT
 *
 * cst_model_load_below: the same model, or none. */
#include "expect.h"

#include <stdlib.h>
#include <string.h>

#include "costate.h"

#define STRUT CST_SOURCE_DIR "/examples/identify-strut"

static void the_directory_decides(void **state)
{
    (void)state;
    static const struct {
        const char *below;
        int reads;
    } at[] = {{NULL, 1},
              {STRUT, 1},
              {STRUT "/", 1},
              {STRUT "/../identify-strut/.", 1},
              {CST_SOURCE_DIR, 1},
              {"/", 1},
              {STRUT "-not", 0},
              {"/usr", 0},
              {STRUT "/slow.csv", 0},
              {CST_SOURCE_DIR "/examples/pendulum", 0},
              {"", 0}};
    for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
        cst_diag *d = calloc(2, sizeof *d);
        cst_options o = cst_options_default();
        o.below = at[i].below;
        cst_model *m = cst_model_load_below(at[i].below, STRUT "/model.yaml", 0, NULL, &d[0]);
        cst_fit *f = cst_fit_new(STRUT "/model.yaml", 0, NULL, &o, &d[1]);
        if (!m != !at[i].reads || !f != !at[i].reads)
            fail_msg("below '%s': %s", at[i].below, d[0].text);
        expect_int(d[0].errors > 0, !at[i].reads);
        expect_int(d[1].errors > 0, !at[i].reads);
        if (m) expect_int(cst_model_number_count(m) > 10, 1);
        cst_fit_free(f);
        cst_model_free(m);
        free(d);
    }
}

/* A scenario's own model is in the directory of another one: the limit is that of the caller, not
 * of each file. */
static void scenarios_have_the_same_limit(void **state)
{
    (void)state;
    cst_options o = cst_options_default();
    for (int inside = 0; inside < 2; inside++) {
        cst_diag *d = calloc(1, sizeof *d);
        o.below = inside ? CST_SOURCE_DIR : CST_SOURCE_DIR "/tests";
        cst_problem *p = cst_problem_load(CST_SOURCE_DIR "/tests/below.yaml", 0, NULL, &o, d);
        if (!p != !inside) fail_msg("%s", d->text);
        expect_int(strstr(d->text, "outside of the directory") != NULL, !inside);
        cst_problem_free(p);
        free(d);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_directory_decides),
                                       cmocka_unit_test(scenarios_have_the_same_limit)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
