/* SPDX-License-Identifier: MIT
 *
 * LU of the transpose by KLU, with block triangular form: rows of the matrix are columns there.
 * Scaling is by positive factors. */
#include "linalg/pivots.h"

#include <math.h>

#include <suitesparse/klu.h>

struct cst_pivots {
    const cst_rows *m;
    klu_common common;
    klu_symbolic *symbolic;
    klu_numeric *numeric;
};

static void release(void *object)
{
    cst_pivots *p = object;
    klu_free_numeric(&p->numeric, &p->common);
    klu_free_symbolic(&p->symbolic, &p->common);
}

cst_pivots *cst_pivots_new(cst_arena *a, const cst_rows *m)
{
    cst_pivots *p = cst_new(a, cst_pivots, 1);
    p->m = m;
    klu_defaults(&p->common);
    cst_arena_defer(a, release, p);
    p->symbolic = klu_analyze(m->nrow, (int *)m->ptr, (int *)m->col, &p->common);
    if (!p->symbolic) return NULL;
    p->numeric =
        klu_factor((int *)m->ptr, (int *)m->col, (double *)m->val, p->symbolic, &p->common);
    p->common.halt_if_singular = 0;
    return p->numeric ? p : NULL;
}

double cst_pivots_signs(cst_pivots *p, const double *val, unsigned char *negative)
{
    klu_refactor((int *)p->m->ptr, (int *)p->m->col, (double *)val, p->symbolic, p->numeric,
                 &p->common);
    const double *u = p->numeric->Udiag;
    double least = INFINITY;
    for (int i = 0; i < p->m->nrow; i++) negative[i] = u[i] < 0, least = fmin(least, fabs(u[i]));
    return least;
}
