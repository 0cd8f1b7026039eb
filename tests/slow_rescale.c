/* SPDX-License-Identifier: MIT
 *
 * rescale.h on all examples, as far as these are written without hidden lengths and masses. Random
 * mechanisms: same.h. */
#include "rescale.h"

#include <dirent.h>
#include <unistd.h>

typedef struct tally {
    int compared, skipped, failed;
    double value, slope;
} tally;

static void one(const cst_model *m, const char *name, const cst_options *o, uint64_t seed, tally *t)
{
    static cst_diag d;
    rescale_case c;
    d = (cst_diag){0};
    if (!rescale_begin(&c, m, o, &d)) {
        t->skipped++;
        return;
    }
    expect_random r = {seed};
    for (int k = 0; k < 2; k++) {
        double unit[CST_BASES];
        for (int b = 0; b < CST_BASES; b++) unit[b] = pow(10, expect_uniform(&r, -4, 4));
        rescale_result y = rescale_with(&c, o, unit, &d);
        if (y.skipped) {
            printf("%s: not compared: %s\n", name, y.skipped);
            t->skipped++;
            break;
        }
        int bad = !y.same || !(y.value < 1e-9) || !(y.slope < 1e-8);
        if (bad)
            printf("%s with %.2g kg, %.2g m, %.2g s: values %.1e, slopes %.1e, structure and steps "
                   "%s; %s %.300s\n",
                   name, unit[0], unit[1], unit[2], y.value, y.slope,
                   y.same ? "the same" : "OTHERS", y.where, y.value == INFINITY ? d.text : "");
        t->compared += !bad, t->failed += bad;
        t->value = fmax(t->value, y.value), t->slope = fmax(t->slope, y.slope);
    }
    cst_arena_free(&c.arena);
}

static void report(const char *what, const tally *t)
{
    printf("%s: %d compared, %d failed, %d skipped; worst value %.1e, slope %.1e\n", what,
           t->compared, t->failed, t->skipped, t->value, t->slope);
}

static void examples(void **state)
{
    (void)state;
    tally t = {0};
    DIR *dir = opendir(CST_SOURCE_DIR "/examples");
    for (struct dirent *e; (e = readdir(dir));) {
        char path[600];
        static cst_diag d;
        snprintf(path, sizeof path, CST_SOURCE_DIR "/examples/%s/model.yaml", e->d_name);
        if (access(path, R_OK) != 0) continue;
        d = (cst_diag){0};
        cst_model *m = cst_model_load(path, 0, NULL, &d);
        if (!m) fail_msg("%s", d.text);
        cst_options o = cst_options_default();
        o.end = m->sim.start + fmin(m->sim.end - m->sim.start, 200 * m->sim.step);
        one(m, e->d_name, &o, 1, &t);
        cst_model_free(m);
    }
    closedir(dir);
    report("examples", &t);
    expect_int(t.failed, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(examples)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
