/* SPDX-License-Identifier: MIT
 *
 * Does the cost per body stay the same from 10 to 10000 bodies?
 *
 *     chain BODIES STEPS [full]    prints the cost per body of reading, analysing and simulating a
 * chain, then the same values without text chain -m BODIES              prints the model */
#include "chain.h"

int main(int argc, char **argv)
{
    if (argc < 3) return fprintf(stderr, "usage: chain BODIES STEPS [full] | chain -m BODIES\n"), 2;
    int model_only = !strcmp(argv[1], "-m"), n = atoi(argv[model_only ? 2 : 1]),
        steps = model_only ? 0 : atoi(argv[2]);
    size_t size;
    char *text = bench_chain(n, &size);
    if (model_only) return fputs(text, stdout), free(text), 0;
    static cst_diag d;
    double t0 = bench_seconds();
    cst_model *m = cst_model_parse("chain.yaml", text, size, 0, NULL, &d);
    if (!m) bench_stop(&d, "loading");
    double t1 = bench_seconds();
    long kb_model = bench_peak_kb();
    cst_options o = cst_options_default();
    o.end = steps * 0.001;
    o.full_newton = argc > 3;
    cst_run *r = cst_run_new(m, &o, &d);
    if (!r) bench_stop(&d, "structure");
    double t2 = bench_seconds();
    long kb_run = bench_peak_kb();
    double best = 1e30;
    int repeats = (int)(1 + 1000000 / ((long)n * steps + 1) / 10);
    for (int i = 0; i < repeats; i++) {
        double from = bench_seconds();
        if (cst_run_simulate(r, NULL, NULL, NULL, &d) != CST_OK) bench_stop(&d, "simulation");
        double took = bench_seconds() - from;
        if (took < best) best = took;
    }
    const cst_counts *c = &r->w->n;
    const cst_lu_info *f = cst_lu_get(r->w->newton);
    double per = (double)n * steps;
    printf("%6d bodies, us per body: load %.1f  structure %.1f  step %.2f;  per body: flops %.0f  "
           "factors %.1f  entries %.1f;  per step: iterations %.2f  factorizations %.2f  "
           "refinements %.2f;  kB per body: model %.1f  run %.1f  state %.2f\n",
           n, 1e6 * (t1 - t0) / n, 1e6 * (t2 - t1) / n, 1e6 * best / per, f->flops / n,
           (double)(f->lnz + f->unz) / n, (double)r->w->k->pattern->nnz / n,
           (double)c->iterations / steps, (double)c->factorizations / steps,
           (double)c->refinements / steps, (double)kb_model / n, (double)(kb_run - kb_model) / n,
           (double)cst_state_size(m) * 8e-3 / n);
    printf("= %d %.4g %.4g %.4g %.6g %.6g\n", n, 1e6 * (t1 - t0) / n, 1e6 * (t2 - t1) / n,
           1e6 * best / per, f->flops / n, (double)(c->iterations + c->refinements) / steps);
    cst_run_free(r);
    cst_model_free(m);
    free(text);
    return 0;
}
