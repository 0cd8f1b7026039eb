/* SPDX-License-Identifier: MIT
 *
 * Elimination orders on a net of N x N nodes (bars and ball joints) and on a chain: work of one
 * factorisation with each. */
#include "chain.h"

static void compare(const char *name, char *text, size_t size)
{
    static cst_diag d;
    cst_arena a = {0};
    if (CST_ARENA_GUARD(&a)) abort();
    cst_model *m = cst_model_parse("orders.yaml", text, size, 0, NULL, &d);
    if (!m) bench_stop(&d, "loading");
    double from = bench_seconds();
    cst_run *r = cst_run_new(m, NULL, &d);
    if (!r) bench_stop(&d, "structure");
    const cst_kkt *k = r->st->motion;
    printf(
        "%s: %d bodies, %d rows of which %d redundant, %d unknowns, %d entries, structure %.2f s\n",
        name, m->body.n, m->nrow, r->st->dep.ndep, k->n, k->pattern->nnz, bench_seconds() - from);
    unsigned char *kind = cst_new(&a, unsigned char, k->n + 1);
    double *val = cst_new(&a, double, k->pattern->nnz + 1), *z = cst_new(&a, double, m->nz + 1);
    double *mem = cst_new(&a, double, m->memory.n + 1);
    for (int i = k->nu; i < k->n; i++) kind[i] = 1;
    cst_system_place(r->s, 0, r->st->q);
    cst_slots_blocks(r->s, r->st->q);
    const cst_kkt_coef c = {.mass = 1, .eps = r->st->eps};
    cst_kkt_assemble(k, r->s, r->st->q, z, mem, NULL, NULL, NULL, c, 1, 0, val);
    for (int i = 0; cst_lu_order_name(i); i++) {
        double t0 = bench_seconds();
        cst_lu *lu = cst_lu_new(&a, k->pattern, val, kind, cst_lu_order_name(i));
        double t1 = bench_seconds(), best = 1e30;
        if (!lu || cst_lu_refactor(lu, val) >= 0) {
            printf("  %-18s has no factors\n", cst_lu_order_name(i));
            continue;
        }
        for (int j = 0; j < 5; j++) {
            double t2 = bench_seconds();
            cst_lu_refactor(lu, val);
            double took = bench_seconds() - t2;
            if (took < best) best = took;
        }
        const cst_lu_info *f = cst_lu_get(lu);
        printf("  %-18s %10.3f Mflop  %8.1f k entries  refactor %8.2f ms  analysis %8.1f ms%s\n",
               cst_lu_order_name(i), 1e-6 * f->flops, 1e-3 * (f->lnz + f->unz), 1e3 * best,
               1e3 * (t1 - t0),
               strcmp(f->order, cst_lu_get(r->st->motion_lu)->order) ? "" : "  <- kept");
    }
    cst_run_free(r);
    cst_model_free(m);
    cst_arena_free(&a);
    free(text);
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 27;
    size_t size;
    setvbuf(stdout, NULL, _IOLBF, 0);
    char *text = bench_grid(n, &size);
    if (argc > 2) return fputs(text, stdout), free(text), 0;
    compare("net", text, size);
    text = bench_chain(100, &size);
    compare("chain", text, size);
    return 0;
}
