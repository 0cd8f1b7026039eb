/* SPDX-License-Identifier: MIT
 *
 * Files that include others, and texts that are no models. */
#include "load_text.h"

#include <unistd.h>

/* ---- files ---- */

static char dir[] = "/tmp/costate-load-XXXXXX";

static const char *put(const char *name, const char *text)
{
    static char path[200];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
    return path;
}

static void files(void **state)
{
    (void)state;
    put("base.yaml", "parameters: {k: 3}\ninclude: more.yaml\nsimulation: {end: 7, step: 0.5}\n");
    put("more.yaml", "points: {P: [k, 1, 2]}\ntables: {T: {csv: data.csv, x: time, y: force, "
                     "interpolation: cubic}}\n");
    put("data.csv", "time,other,force\n0,1,2\n1,5,4\n2,9,1\n3,1,7\n");
    const char *path =
        put("top.yaml", "costate: 1\ninclude: [base.yaml, more.yaml]\nsimulation: {end: 9}\n"
                        "points: {Q: [P.x, T(2), T(k)]}\n");
    diag = (cst_diag){0};
    cst_model *m = cst_model_load(path, 0, NULL, &diag);
    if (!m) fail_msg("%s", diag.text);
    expect_true(m->sim.end == 9 && m->sim.step == 0.5); /* what includes decides */
    expect_near(number(m, "k"), 3, 0);
    expect_int(m->leaf.at[0].where.line, 1);
    expect_contains(m->leaf.at[0].where.file, "base.yaml");
    cst_model_free(m);
    expect_null(cst_model_load("/no/such/file.yaml", 0, NULL, &diag));
    expect_null(cst_model_load(dir, 0, NULL, &diag));
    expect_null(cst_model_load("/no/such/file.yaml", 0, NULL, NULL));
    for (int i = 0; i < 4; i++) {
        char name[200];
        snprintf(name, sizeof name, "%s/%s", dir,
                 i == 0   ? "base.yaml"
                 : i == 1 ? "more.yaml"
                 : i == 2 ? "data.csv"
                          : "top.yaml");
        remove(name);
    }
}

static void include_chain(void **state)
{
    (void)state;
    char name[40], text[80], all[200];
    for (int i = 0; i < 30; i++) {
        snprintf(name, sizeof name, "f%d.yaml", i);
        snprintf(text, sizeof text, "costate: 1\ninclude: f%d.yaml\n", (i + 1) % 30);
        put(name, text);
    }
    diag = (cst_diag){0};
    snprintf(all, sizeof all, "%s/f0.yaml", dir);
    expect_null(cst_model_load(all, 0, NULL, &diag));
    expect_contains(diag.text, "included more than 20 deep");
    expect_int(diag.errors, 1);
    for (int i = 0; i < 30; i++) {
        snprintf(all, sizeof all, "%s/f%d.yaml", dir, i);
        remove(all);
    }
}

/* ---- what is no model ---- */

static void garbage_is_refused(void **state)
{
    (void)state;
    static const char *const text[] = {"",
                                       " ",
                                       "\n\n",
                                       "#\n",
                                       "null",
                                       "~",
                                       "3",
                                       "[]",
                                       "\"",
                                       "{",
                                       "\x01\x02",
                                       "costate",
                                       "costate: [1]",
                                       "? ",
                                       "&a [*a]",
                                       "costate: 1\n---\ncostate: 1\n",
                                       "\t"};
    for (size_t i = 0; i < sizeof text / sizeof *text; i++) {
        diag = (cst_diag){0};
        expect_null(cst_model_parse("g", text[i], strlen(text[i]), 0, NULL, &diag));
        expect_true(diag.errors > 0);
    }
    char bytes[4096];
    for (int k = 0; k < 200; k++) {
        for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (char)(128 * uniform());
        diag = (cst_diag){0};
        expect_null(cst_model_parse("g", bytes, sizeof bytes, 0, NULL, &diag));
        expect_true(diag.errors > 0);
    }
}

/* Damage to a good model gives a model or an error, never both, never a crash. */
static void damaged_models(void **state)
{
    (void)state;
    static const char good[] =
        "costate: 1\nparameters: {k: 3, c: 2*k + 1}\npoints: {A: [0, 0, 0], B: [c, 0, 0]}\n"
        "bodies: {r: {type: bar, from: A, to: B, mass: k}}\n"
        "joints: {h: {type: revolute, between: [ground, r], at: A, axis: z}}\n"
        "forces: {s: {type: spring, from: ground.A, to: r.B, force: k*(s - 1) + c*v}}\n"
        "measures: {p: {type: position, of: r.B}, R: {type: reaction, of: h}, q: p.x + 1}\n"
        "objectives: {psi: integral(q^2) + peak(norm(R.force))}\n"
        "parts: {x: {model: {points: {C: [k, 1, 2]}}, mirror: y, shift: [0, c, 0]}}\n";
    static const char alphabet[] = "{}[]:,.*()-+^'\"& \nxtk09";
    int loaded = 0;
    for (int k = 0; k < 3000; k++) {
        char text[sizeof good];
        memcpy(text, good, sizeof good);
        for (int e = 0; e < 1 + k % 3; e++) {
            size_t at = (size_t)((uniform() + 1) / 2 * (sizeof good - 2));
            text[at] = alphabet[(size_t)((uniform() + 1) / 2 * (sizeof alphabet - 2))];
        }
        diag = (cst_diag){0};
        cst_model *m = cst_model_parse("d", text, strlen(text), 0, NULL, &diag);
        expect_true((m == NULL) == (diag.errors > 0));
        loaded += m != NULL;
        cst_model_free(m);
    }
    expect_true(loaded > 30 && loaded < 2000);
}

int main(void)
{
    if (!mkdtemp(dir)) return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files),
        cmocka_unit_test(include_chain),
        cmocka_unit_test(garbage_is_refused),
        cmocka_unit_test(damaged_models),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    rmdir(dir);
    return failed;
}
