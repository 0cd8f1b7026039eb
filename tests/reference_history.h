/* SPDX-License-Identifier: MIT
 *
 * The five-bar mechanism over its whole history, against examples/five-bar/reference.csv. */
#ifndef CST_TESTS_REFERENCE_HISTORY_H
#define CST_TESTS_REFERENCE_HISTORY_H

#include "base/csv.h"
#include "reference.h"

typedef struct history {
    int column[8], n;
    const cst_csv *csv;
    const double *exact[8];
    double error; /* largest */
    int energy;
    double energy0, drift;
} history;

static inline int compare_row(void *ctx, double t, const double *measure, int n)
{
    (void)n;
    history *h = ctx;
    if (t == 0) h->energy0 = measure[h->energy];
    h->drift = fmax(h->drift, fabs(measure[h->energy] - h->energy0));
    const double *time = cst_csv_column(h->csv, "t");
    int row = (int)lround((t - time[0]) / (time[1] - time[0]));
    if (row >= h->csv->nrow || fabs(time[row] - t) > 1e-9) return 0;
    for (int i = 0; i < h->n; i++)
        h->error = fmax(h->error, fabs(measure[h->column[i]] - h->exact[i][row]));
    return 0;
}

static inline void five_bar_history(cst_arena *a, double step, history *h, double *psi)
{
    static const char *const measure[6] = {"r1.x", "r1.y", "r2.x", "r2.y", "r3.x", "r3.y"};
    static const char *const column[6] = {"x1", "y1", "x2", "y2", "x3", "y3"};
    cst_test_run t;
    run_open(&t, EXAMPLE("five-bar"), step, 5);
    *h = (history){.n = 6, .energy = run_find(&t, "E.total")};
    h->csv = cst_csv_read(a, CST_SOURCE_DIR "/examples/five-bar/reference.csv", NULL, &t.d);
    run_check(&t, h->csv != NULL);
    for (int i = 0; i < 6; i++) {
        h->column[i] = run_find(&t, measure[i]);
        h->exact[i] = cst_csv_column(h->csv, column[i]);
        expect_not_null(h->exact[i]);
    }
    run_check(&t, cst_run_simulate(t.r, NULL, compare_row, h, &t.d) == CST_OK);
    *psi = cst_run_objective(t.r, 0);
    run_close(&t);
}

#endif
