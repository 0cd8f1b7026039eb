/* SPDX-License-Identifier: MIT
 *
 * Model texts of any size, and the clock. */
#ifndef CST_BENCH_CHAIN_H
#define CST_BENCH_CHAIN_H

#include "integrator/run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

/* CPU time of this process rather than wall-clock time: other programs disturb it less. */
static inline double bench_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static inline long bench_peak_kb(void)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return u.ru_maxrss;
}

static inline void bench_stop(const cst_diag *d, const char *what)
{
    fprintf(stderr, "%s failed\n%.2000s", what, d->text);
    exit(1);
}

/* n bars along x, y, +-z in turn, held at one end, with hinges about x, y, z in turn. Level on the
 * whole: in a hanging chain tension, and with it stiffness, grow with n, which would change the
 * number of iterations. */
static inline char *bench_chain(int n, size_t *size)
{
    char *text = NULL;
    FILE *f = open_memstream(&text, size);
    if (!f) abort();
    fputs("costate: 1\nname: chain\npoints:\n  P0: [0, 0, 0]\n", f);
    double p[3] = {0};
    for (int i = 1; i <= n; i++) {
        p[i % 3] += i % 6 == 2 ? -0.1 : 0.1;
        fprintf(f, "  P%d: [%.10g, %.10g, %.10g]\n", i, p[0], p[1], p[2]);
    }
    fputs("bodies:\n", f);
    for (int i = 0; i < n; i++)
        fprintf(f, "  b%d: {type: bar, from: P%d, to: P%d, mass: 1, radius: 0.02}\n", i, i, i + 1);
    fputs("joints:\n  j0: {type: revolute, between: [ground, b0], at: P0, axis: x}\n", f);
    for (int i = 1; i < n; i++)
        fprintf(f, "  j%d: {type: revolute, between: [b%d, b%d], at: P%d, axis: %c}\n", i, i - 1, i,
                i, "xyz"[i % 3]);
    fprintf(
        f,
        "measures:\n  tip: {type: position, of: b%d.P%d}\nobjectives:\n  drop: integral(tip.z)\n",
        n - 1, n);
    fputs("simulation: {end: 1, step: 0.001}\n", f);
    if (fclose(f)) abort();
    return text;
}

/* A net of n x n nodes: bars between neighbours, ball joints at the nodes, held at two corners of
 * its upper edge. The bars that meet at a node are joined to the first of them. */
static inline char *bench_grid(int n, size_t *size)
{
    char *text = NULL;
    FILE *f = open_memstream(&text, size);
    if (!f) abort();
    fputs("costate: 1\nname: grid\npoints:\n", f);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            fprintf(f, "  P%d_%d: [%g, %g, %g]\n", i, j, 0.1 * j, 0.01 * ((i + 1) * (j + 1) % 3),
                    -0.1 * i);
    fputs("bodies:\n", f);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            const char *bar =
                "  %c%d_%d: {type: bar, from: P%d_%d, to: P%d_%d, mass: 1, radius: 0.01}\n";
            if (j + 1 < n) fprintf(f, bar, 'h', i, j, i, j, i, j + 1);
            if (i + 1 < n) fprintf(f, bar, 'v', i, j, i, j, i + 1, j);
        }
    fputs("joints:\n", f);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            char at[4][32];
            int k = 0;
            if (j + 1 < n) snprintf(at[k++], 32, "h%d_%d", i, j);
            if (i + 1 < n) snprintf(at[k++], 32, "v%d_%d", i, j);
            if (j > 0) snprintf(at[k++], 32, "h%d_%d", i, j - 1);
            if (i > 0) snprintf(at[k++], 32, "v%d_%d", i - 1, j);
            for (int l = 1; l < k; l++)
                fprintf(f, "  n%d_%d_%d: {type: spherical, between: [%s, %s], at: P%d_%d}\n", i, j,
                        l, at[0], at[l], i, j);
            if (i == 0 && (j == 0 || j == n - 1))
                fprintf(f, "  w%d: {type: spherical, between: [ground, %s], at: P%d_%d}\n", j,
                        at[0], i, j);
        }
    fputs("simulation: {end: 1, step: 0.001}\n", f);
    if (fclose(f)) abort();
    return text;
}

#endif
