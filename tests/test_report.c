/* SPDX-License-Identifier: MIT
 *
 * What a page is made of: base64, thinned histories, frames and scenes. The page itself is tested
 * in a browser (tests/run_report.sh). */
#include "load_text.h"

#include "integrator/run.h"
#include "report/encode.h"
#include "report/scene.h"

/* the vectors of RFC 4648, section 10 */
static void base64(void **state)
{
    static const char *const want[] = {"",         "Zg==",     "Zm8=",    "Zm9v",
                                       "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy"};
    (void)state;
    for (size_t n = 0; n <= 6; n++) {
        char text[16] = "";
        FILE *f = fmemopen(text, sizeof text, "w");
        cst_base64_write(f, (const unsigned char *)"foobar", n);
        fclose(f);
        expect_text(text, want[n]);
    }
    unsigned char byte[4];
    cst_float_put(byte, 1.5f); /* 0x3fc00000 */
    expect_true(byte[0] == 0 && byte[1] == 0 && byte[2] == 0xC0 && byte[3] == 0x3F);
}

/* Whatever is left out, the least and the largest value of every stretch that is longer than a
 * group survive. */
static void thinning(void **state)
{
    enum { N = 5000 };
    static double x[N], t[N], y[N], s[N];
    (void)state;
    srand(3);
    for (int rows = 2; rows <= N; rows = rows * 3 / 2 + rows % 2) {
        size_t n = (size_t)(rand() % N) + 1;
        for (size_t i = 0; i < n; i++) x[i] = rand() / (double)RAND_MAX, t[i] = 0.1 * (double)i;
        size_t k = cst_thin(n, (size_t)rows, x, y);
        expect_int(cst_thin_time(n, (size_t)rows, t, s), k);
        expect_true(k <= (size_t)rows + 1 && (n > (size_t)rows || k == n));
        double least = 1, most = 0, kept_least = 1, kept_most = 0;
        for (size_t i = 0; i < n; i++) least = fmin(least, x[i]), most = fmax(most, x[i]);
        for (size_t i = 0; i < k; i++) {
            kept_least = fmin(kept_least, y[i]), kept_most = fmax(kept_most, y[i]);
            expect_true(s[i] >= t[0] && s[i] <= t[n - 1] && (i == 0 || s[i] >= s[i - 1]));
        }
        expect_true(kept_least == least && kept_most == most);
    }
}

static const char swinging[] =
    "gravity: [0, -9.81, 0]\npoints: {A: [0, 0, 0], B: [0.7, 0.1, 0]}\n"
    "bodies: {rod: {type: cylinder, from: A, to: B, mass: 2, radius: 0.03}}\n"
    "joints: {pin: {type: revolute, between: [ground, rod], at: A, axis: z}}\n"
    "initial: {velocities: {angle: 2}}\n"
    "measures: {tip: {type: position, of: rod.B}, angle: {type: angle, between: [ground, rod], "
    "axis: z}}\n"
    "simulation: {end: 3, step: 1 ms}\n";

typedef struct filmed {
    cst_film film;
    const cst_run *r;
    long seen;
} filmed;

static int observe(void *ctx, double t, const double *x, int n)
{
    filmed *c = ctx;
    (void)x, (void)n;
    cst_film_frame(&c->film, c->r->s, t, c->r->q);
    c->seen++;
    return 0;
}

/* Frames come at equal intervals from the start to the end, at most one per step, within the
 * budget; each is the state to 32 bits: body axes are orthonormal, the pinned point rests. */
static void frames(void **state)
{
    static const double end[] = {0.05, 3, 20};
    (void)state;
    for (int k = 0; k < 3; k++) {
        cst_model *m = parse(swinging);
        cst_options o = cst_options_default();
        o.end = end[k];
        filmed c = {.r = cst_run_new(m, &o, &diag)};
        cst_arena a = {0};
        char path[] = "/tmp/costate-frames-XXXXXX";
        fclose(fdopen(mkstemp(path), "w"));
        expect_true(cst_film_open(&c.film, &a, m, path, 0, end[k], 1e-3, NULL));
        expect_int(cst_run_simulate((cst_run *)c.r, NULL, observe, &c, &diag), CST_OK);
        expect_true(cst_film_close(&c.film, NULL));
        expect_true(c.film.frames <= c.seen && c.film.frames * (m->nq + 1) <= 1200000 + m->nq + 1);
        expect_int(c.film.frames, end[k] < 0.1 ? c.seen : end[k] < 10 ? 600 : 1200);
        FILE *f = fopen(path, "rb");
        float row[13];
        double before = -1;
        for (long i = 0; i < c.film.frames; i++) {
            expect_int(fread(row, sizeof *row, 13, f), 13); /* little endian, as this machine */
            expect_true(row[0] > before && row[0] - before < 1.5 * c.film.interval + 1.001);
            if (i) expect_near(row[0], before + c.film.interval, 1.1e-3);
            before = row[0];
            for (int e = 4; e < 13; e += 3)
                expect_near(row[e] * row[e] + row[e + 1] * row[e + 1] + row[e + 2] * row[e + 2], 1,
                            1e-6);
            double half = hypot(0.7, 0.1) / 2; /* A = r - l/2 e1 */
            expect_near(row[1] - half * row[4], 0, 1e-6);
            expect_near(row[2] - half * row[5], 0, 1e-6);
        }
        expect_near(before, end[k], 1e-6);
        expect_int(fgetc(f), EOF);
        fclose(f);
        remove(path);
        cst_arena_free(&a);
        cst_run_free((cst_run *)c.r);
        cst_model_free(m);
    }
}

/* The scene names what there is, with the numbers of the run and not of the file; what only starts
 * the motion is no joint. */
static void scene(void **state)
{
    static char text[1 << 16];
    (void)state;
    cst_model *m = parse(swinging);
    cst_run *r = cst_run_new(m, NULL, &diag);
    double value[64];
    for (int i = 0; i < cst_model_number_count(m); i++) value[i] = cst_model_number_value(m, i);
    value[cst_model_number_find(m, "rod.radius")] = 0.125;
    cst_system_bind(r->s, value);
    FILE *f = fmemopen(text, sizeof text, "w");
    expect_int(cst_scene_write(f, r->s, NULL), 0);
    fclose(f);
    expect_contains(text, "\"kind\": \"line\"");
    expect_contains(text, ", 0.125, null]");
    expect_contains(text, "\"type\": \"revolute\"");
    expect_contains(text, "\"name\": \"B\"");
    expect_lacks(text, "\"type\": \"initial\"");
    cst_run_free(r);
    cst_model_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(base64), cmocka_unit_test(thinning),
                                       cmocka_unit_test(frames), cmocka_unit_test(scene)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
