/* SPDX-License-Identifier: MIT
 *
 * What docs/threads.md promises: a model may be shared by runs in several threads, and the number
 * of threads of a run changes no bit of its gradient. `make threads` runs it under ThreadSanitizer.
 */
#include "reference.h"

#include <pthread.h>
#include <stdlib.h>

enum { NUMBERS = 200, RUNS = 3 };

typedef struct sweep {
    const cst_model *m;
    int threads, numbers, ok;
    double end;
    double slope[NUMBERS];
} sweep;

static void *gradient(void *arg)
{
    sweep *s = arg;
    cst_diag *d = calloc(1, sizeof *d);
    cst_options o = cst_options_default();
    o.step = 5e-3, o.end = s->end, o.threads = s->threads;
    cst_run *r = cst_run_new(s->m, &o, d);
    const cst_gradient *g = r ? cst_run_gradient(r, NULL, CST_ADJOINT, 0, NULL, d) : NULL;
    s->ok = g && g->numbers <= NUMBERS;
    if (s->ok) {
        s->numbers = g->numbers;
        memcpy(s->slope, g->slope, sizeof *g->slope * (size_t)g->numbers);
    }
    cst_run_free(r);
    free(d);
    return NULL;
}

/* To the bit with as many threads; with others each matrix has other pivots: to rounding */
static void expect_same(const sweep *a, const sweep *b)
{
    double largest = 0;
    expect_true(a->ok && b->ok);
    expect_int(a->numbers, b->numbers);
    for (int i = 0; i < b->numbers; i++) largest = fmax(largest, fabs(b->slope[i]));
    for (int i = 0; i < b->numbers; i++) {
        double apart = fabs(a->slope[i] - b->slope[i]);
        expect_true(isnan(a->slope[i]) == isnan(b->slope[i]));
        expect_true(isnan(apart) || apart <= (a->threads == b->threads ? 0 : 1e-11 * largest));
    }
}

/* One model without events, one whose wheel leaves the road and lands again */
static const struct {
    const char *path;
    double end;
} scene[] = {{EXAMPLE("five-bar"), 0.5}, {EXAMPLE("quarter-car"), 1.5}};

static void threads_of_a_run_change_rounding_only(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof scene / sizeof *scene; k++) {
        static cst_diag d;
        d = (cst_diag){0};
        cst_model *m = cst_model_load(scene[k].path, 0, NULL, &d);
        expect_not_null(m);
        sweep alone = {.m = m, .threads = 1, .end = scene[k].end};
        gradient(&alone);
        for (int threads = 2; threads <= 20; threads += 1 + threads) {
            sweep more = {.m = m, .threads = threads, .end = scene[k].end}, again = more;
            gradient(&more);
            gradient(&again);
            expect_same(&more, &alone);
            expect_same(&again, &more);
        }
        cst_model_free(m);
    }
}

static void a_model_is_shared_by_threads(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof scene / sizeof *scene; k++) {
        static cst_diag d;
        d = (cst_diag){0};
        cst_model *m = cst_model_load(scene[k].path, 0, NULL, &d);
        expect_not_null(m);
        sweep alone = {.m = m, .threads = 1, .end = scene[k].end}, s[RUNS];
        pthread_t thread[RUNS];
        gradient(&alone);
        for (int i = 0; i < RUNS; i++) {
            s[i] = (sweep){.m = m, .threads = 1 + i, .end = scene[k].end};
            expect_int(pthread_create(&thread[i], NULL, gradient, &s[i]), 0);
        }
        for (int i = 0; i < RUNS; i++) {
            pthread_join(thread[i], NULL);
            expect_same(&s[i], &alone);
        }
        cst_model_free(m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(threads_of_a_run_change_rounding_only),
                                       cmocka_unit_test(a_model_is_shared_by_threads)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
