/* SPDX-License-Identifier: MIT
 *
 * The cost of a gradient, in forward runs with a new matrix in every Newton iteration ("full").
 *
 *     gradient NAME MODEL [END [REPEATS]]       MODEL: a file, or chain:BODIES
 *     gradient NAME MODEL END full|kept|back    one of these once, to be profiled */
#include "chain.h"

#include <math.h>
#include <time.h>

static double forward(cst_run *r, int full, cst_diag *d)
{
    r->w->full = full;
    double from = bench_seconds();
    if (cst_run_simulate(r, NULL, NULL, NULL, d) != CST_OK) bench_stop(d, "simulation");
    return bench_seconds() - from;
}

static double wall(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The gradient by the clock on the wall, with so many threads */
static double gradient_wall(const cst_model *m, cst_options o, int threads, int repeats,
                            cst_diag *d)
{
    double best = 1e30;
    o.threads = threads;
    cst_run *r = cst_run_new(m, &o, d);
    for (int i = 0; i < repeats; i++) {
        double from = wall();
        if (!r || !cst_run_gradient(r, NULL, CST_ADJOINT, 0, NULL, d))
            bench_stop(d, "the gradient");
        best = fmin(best, wall() - from);
    }
    cst_run_free(r);
    return best;
}

enum { MOST = 99 }; /* repeats */

/* Ratios of times that were measured in immediate succession: a processor that other programs use
 * stays slow for seconds */
static double median(int n, double *x)
{
    for (int i = 1; i < n; i++)
        for (int j = i; j > 0 && x[j] < x[j - 1]; j--) {
            double t = x[j];
            x[j] = x[j - 1], x[j - 1] = t;
        }
    return n & 1 ? x[n / 2] : (x[n / 2 - 1] + x[n / 2]) / 2;
}

static double least(double *x, double y) { return *x = y < *x ? y : *x; }

int main(int argc, char **argv)
{
    if (argc < 3) return fprintf(stderr, "usage: gradient NAME MODEL [END [REPEATS]]\n"), 2;
    static cst_diag d;
    cst_model *m;
    if (!strncmp(argv[2], "chain:", 6)) {
        size_t size;
        char *text = bench_chain(atoi(argv[2] + 6), &size);
        m = cst_model_parse("chain.yaml", text, size, 0, NULL, &d);
        free(text);
    } else {
        m = cst_model_load(argv[2], 0, NULL, &d);
    }
    if (!m) bench_stop(&d, "loading");
    cst_options o = cst_options_default();
    if (argc > 3) o.end = atof(argv[3]);
    cst_run *r = cst_run_new(m, &o, &d);
    if (!r) bench_stop(&d, "structure");
    if (argc > 4 && strchr("fkb", argv[4][0])) {
        if (argv[4][0] != 'b')
            forward(r, argv[4][0] == 'f', &d);
        else if (!cst_run_gradient(r, NULL, CST_ADJOINT, 0, NULL, &d))
            bench_stop(&d, "the gradient");
        const cst_counts *c = &r->w->n;
        printf("%ld steps %ld iterations %ld factorizations %ld refinements\n", c->steps,
               c->iterations, c->factorizations, c->refinements);
        cst_run_free(r);
        cst_model_free(m);
        return 0;
    }
    double full = 1e30, kept = 1e30, back = 1e30, both = 1e30, back_per_full[MOST],
           both_per_full[MOST];
    long steps = 0, iterations = 0, factors = 0, factors_full = 0, factors_back = 0;
    const cst_gradient *g = NULL;
    int repeats = argc > 4 ? atoi(argv[4]) : 9;
    if (repeats < 1 || repeats > MOST) repeats = MOST;
    for (int i = 0; i < repeats; i++) {
        double f = forward(r, 1, &d);
        steps = r->w->n.steps, factors_full = r->w->n.factorizations;
        double k = forward(r, 0, &d);
        iterations = r->w->n.iterations, factors = r->w->n.factorizations;
        double from = bench_seconds();
        if (!(g = cst_run_gradient(r, NULL, CST_ADJOINT, 0, NULL, &d)))
            bench_stop(&d, "the gradient");
        double b = bench_seconds() - from;
        factors_back = r->w->n.factorizations - factors;
        least(&full, f), least(&kept, k), least(&back, g->gradient_s), least(&both, b);
        back_per_full[i] = g->gradient_s / f,
        both_per_full[i] = b / f; /* b - k would have the noise of two runs */
    }
    double ratio = median(repeats, back_per_full), ratio_both = median(repeats, both_per_full);
    double us = 1e6 / (double)steps;
    printf("%-11s %3d bodies %5d numbers %5ld steps, us per step: full %.1f  kept %.1f  backward "
           "%.1f  both %.1f;  per step: factorizations full %.2f  kept %.2f  backward %.2f  "
           "iterations %.2f;  stored %.2f kB per step\n",
           argv[1], m->body.n, g->numbers, steps, full * us, kept * us, back * us, both * us,
           (double)factors_full / (double)steps, (double)factors / (double)steps,
           (double)factors_back / (double)steps, (double)iterations / (double)steps,
           (double)cst_state_size(m) * 8e-3);
    double one = gradient_wall(m, o, 1, repeats, &d), two = gradient_wall(m, o, 2, repeats, &d);
    printf("= %s %.4f %.4f %.2f %.4f %.4f %.4f\n", argv[1], ratio, ratio_both, 100 / ratio_both,
           kept, both, two / one);
    cst_run_free(r);
    cst_model_free(m);
    return 0;
}
