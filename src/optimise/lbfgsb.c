/* SPDX-License-Identifier: MIT
 *
 * L-BFGS-B 3.0 of Zhu, Byrd, Lu, Morales and Nocedal: the Fortran original, by reverse
 * communication.
 *
 * Objectives with events have kinks. Correction pairs taken across a kink describe a curvature that
 * does not exist, and the search creeps: its full step is rejected repeatedly, and only small steps
 * remain. It is then restarted at its current point, without memory. */
#include <math.h>
#include <string.h>

#include "optimise/search.h"

enum { MEMORY = 10, WORD = 60 }; /* correction pairs; length of the texts it passes */
enum { CREEPING = 3 };           /* iterations in a row that end the memory */
#define SHORT 0.02               /* step of a creeping iteration, in scales of the variables */

void setulb_(const int *n, const int *m, double *x, const double *l, const double *u,
             const int *nbd, double *f, double *g, const double *factr, const double *pgtol,
             double *wa, int *iwa, char *task, const int *iprint, char *csave, int *lsave,
             int *isave, double *dsave, size_t task_length, size_t csave_length);

static int begins(const char *task, const char *word)
{
    return strncmp(task, word, strlen(word)) == 0;
}

static void start(char *task)
{
    memset(task, ' ', WORD);
    memcpy(task, "START", 5);
}

/* How far the iterate has moved; it is remembered in `last`. */
static double moved(int n, const double *y, double *last)
{
    double most = 0;
    for (int i = 0; i < n; i++) most = fmax(most, fabs(y[i] - last[i])), last[i] = y[i];
    return most;
}

static void run(cst_search *s)
{
    cst_arena *a = s->work;
    const int n = s->n, m = MEMORY, quiet = -1;
    const size_t N = (size_t)n;
    double *y = cst_new(a, double, n), *g = cst_new(a, double, n), *last = cst_new(a, double, n),
           F = 0;
    int tried = 0, creeping = 0, known = 0; /* known: F and g are those of y */
    double *wa = cst_new(a, double, (2 * m + 5) * N + 12 * m * m + 12 * m), dsave[29] = {0};
    int *nbd = cst_new(a, int, n), *iwa = cst_new(a, int, 3 * N), lsave[4] = {0}, isave[44] = {0};
    char task[WORD + 1] = {0}, csave[WORD + 1] = {0}; /* Fortran does not end them */
    const double factr = s->o.change / 2.220446049250313e-16, pgtol = s->o.gradient;
    start(task);
    memset(csave, ' ', WORD);
    memcpy(y, s->start, sizeof *y * N);
    memcpy(last, y, sizeof *y * N);
    for (int i = 0; i < n; i++) { /* 0: no bound, 1: lower, 2: both, 3: upper */
        int lower = s->lower[i] > -1e300, upper = s->upper[i] < 1e300;
        nbd[i] = lower && upper ? 2 : lower ? 1 : upper ? 3 : 0;
    }
    for (;;) {
        setulb_(&n, &m, y, s->lower, s->upper, nbd, &F, g, &factr, &pgtol, wa, iwa, task, &quiet,
                csave, lsave, isave, dsave, WORD, WORD);
        if (begins(task, "FG")) {
            if (!known && cst_search_eval(s, y) == CST_EVAL_STOP) return;
            if (!known) F = s->F, memcpy(g, s->dF, sizeof *g * N);
            tried += !known, known = 0;
        } else if (begins(task, "NEW_X")) {
            if (cst_search_iterate(s)) return;
            creeping = moved(n, y, last) < SHORT && tried > 1 ? creeping + 1 : 0;
            tried = 0;
            if (creeping == CREEPING) creeping = 0, known = 1, start(task);
        } else
            break;
    }
    if (begins(task, "CONV"))
        cst_search_end(s, CST_CONVERGED,
                       strstr(task, "GRADIENT") ? "the gradient vanishes"
                                                : "the objective does not change any more");
    else
        cst_search_end(s, CST_STALLED, "the line search finds no better point");
}

const cst_optimiser cst_optimiser_lbfgsb = {
    .name = "lbfgsb",
    .summary = "L-BFGS-B: limited-memory quasi-Newton with bounds; no constraints",
    .run = run,
};
