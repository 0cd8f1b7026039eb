/* SPDX-License-Identifier: MIT
 *
 * Central differences with steps h, h/2, h/4 and two extrapolations (Romberg). The error estimate is the change that the
 * last extrapolation made, plus rounding. For checking only.
 *
 * Extrapolation presumes that halving h divides the error by 4. Where the three differences d0, d1, d2 do not behave so, h is
 * too wide for the function (or too narrow for rounding), and the last change |d2 - d1| is the error. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "sensitivity/gradient.h"

#define LEVELS 3

/* Half width of the widest difference: a power of two near 1e-3 of the number, or of its range's or unit scale at 0. */
static double width(double x) { return exp2(round(log2(1e-3 * (x != 0 ? fabs(x) : 1)))); }

static cst_status central(cst_run *r, double *values, int leaf, double h, double *slope, cst_diag *d)
{
    int nobj = r->m->objective.n;
    double x = values[leaf];
    cst_status ok = CST_OK;
    for (int side = 1; side >= -1 && ok == CST_OK; side -= 2) {
        values[leaf] = x + side * h;
        ok = cst_run_forward(r, values, 0, NULL, NULL, d);
        for (int o = 0; ok == CST_OK && o < nobj; o++) slope[o] = (side > 0 ? 0 : slope[o]) + side * r->result[o] / (2 * h);
    }
    values[leaf] = x;
    return ok;
}

static double extrapolate(double d0, double d1, double d2, double *error)
{
    double e0 = d1 + (d1 - d0) / 3, e1 = d2 + (d2 - d1) / 3, best = e1 + (e1 - e0) / 15;
    int settled = fabs((d1 - d0) - 4 * (d2 - d1)) <= fabs(d2 - d1);
    *error = settled ? fabs(best - e1) : fabs(d2 - d1);
    return best;
}

cst_status cst_gradient_difference(cst_run *r, const double *values, int nleaf, const int *leaf, double *grad, double *error,
                                   unsigned char *failed, cst_diag *d)
{
    const cst_model *m = r->m;
    cst_arena a = {0};
    if (CST_ARENA_GUARD(&a)) {
        cst_arena_free(&a);
        return cst_error(d, CST_MEMORY, (cst_where){.file = m->file}, "out of memory");
    }
    int all = cst_graph_leaves(m->graph), nobj = m->objective.n;
    double *x = cst_new(&a, double, all + 1), *t = cst_new(&a, double, LEVELS *(nobj + 1)), *size = cst_new(&a, double, nobj + 1);
    for (int i = 0; i < all; i++) x[i] = values ? values[i] : cst_leaf_nominal(m->graph, i);
    memcpy(size, r->result, sizeof *size * (size_t)nobj);
    cst_diag *quiet = cst_new(&a, cst_diag, 1);
    r->frozen = 1;
    for (int i = 0; i < nleaf; i++) {
        double h = width(x[leaf[i]]);
        for (int k = 0; k < LEVELS && !failed[i]; k++) {
            memset(quiet, 0, sizeof *quiet);
            failed[i] = central(r, x, leaf[i], ldexp(h, -k), t + k * nobj, quiet) != CST_OK;
        }
        for (int o = 0; o < nobj; o++) {
            size_t at = (size_t)o * (size_t)nleaf + (size_t)i;
            grad[at] = extrapolate(t[o], t[nobj + o], t[2 * nobj + o], &error[at]);
            error[at] += 8 * DBL_EPSILON * fabs(size[o]) / ldexp(h, -(LEVELS - 1));
        }
    }
    r->frozen = 0;
    cst_status ok = cst_run_forward(r, values, 1, NULL, NULL, d); /* leave the run as it was */
    cst_arena_free(&a);
    return ok;
}
