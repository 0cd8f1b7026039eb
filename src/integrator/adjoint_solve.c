/* SPDX-License-Identifier: MIT
 *
 * The costates of a step, A^T x = b, A being the projection's matrix or Newton's, with factors F of A itself ("own") or of Newton's
 * matrix where it is near the projection's:
 *
 *     x_0 = F^-T b + c,     x_k+1 = x_k + F^-T (b - A^T x_k),     x - x_k+1 = E (x - x_k),     E = F^-T (F - A)^T
 *
 * c is foreseen from the corrections x - F^-T b of the two steps before: it leaves O(h^2) of E x, and one pass O(h^2) of E^2 x. With own
 * factors E is rounding, which cannot be foreseen: one pass, and no c. */
#include <math.h>
#include <string.h>

#include "integrator/adjoint.h"
#include "integrator/rule.h"
#include "linalg/pair.h"

#define CLOSE 1e-14 /* of x: passes go on while more than this is left to correct */

void cst_adjoint_forget(cst_adjoint *ad)
{
    ad->theta = 0;
    for (int i = 0; i < CST_COSTATES; i++) ad->last[i].steps = 0;
}

void cst_adjoint_at(cst_adjoint *ad, double h)
{
    if (fabs(h - ad->h_of_theta) <= 1e-9 * ad->h_of_theta) return;
    cst_adjoint_forget(ad); /* E depends on the step */
    ad->h_of_theta = h;
}

/* x += y */
static void add(int n, const double *y, double *x)
{
    int i = 0;
    for (; i + 2 <= n; i += 2) CST_PAIR(x + i) += CST_READ_PAIR(y + i);
    if (i < n) x[i] += y[i];
}

/* c for the next step, from x - first and, where steps were foreseen, that of the step before */
static void foresee(int n, int steps, const double *x, const double *first, double *c, double *before)
{
    for (int i = 0; i < n; i++) {
        double now = x[i] - first[i];
        c[i] = steps ? 2 * now - before[i] : now, before[i] = now;
    }
}

/* With own factors: x = F^-T b, and a correction of rounding */
static void solve_own(const cst_motion *f, const double *b, double *x, double *y)
{
    int n = f->k->n;
    memcpy(x, b, sizeof *x * (size_t)n);
    cst_lu_tsolve(f->project, 1, x);
    cst_motion_left(f, b, x, y);
    cst_lu_tsolve(f->project, 1, y);
    add(n, y, x);
}

/* x += y; the largest of y in units of the largest of x, or of `size` */
static double correct(int n, const double *y, double *x, double size)
{
    double most = 0;
    for (int i = 0; i < n; i++) {
        double change = fabs(y[i]), now = fabs(x[i] += y[i]);
        most = change > most ? change : most, size = now > size ? now : size;
    }
    return size > 0 ? most / size : 0;
}

/* The projection's with Newton's factors, and what to foresee; section: of c. 0: the factors are too far from the matrix */
static int refine(cst_adjoint *ad, const cst_costate *last, size_t section, const double *b, double *x, double *y)
{
    cst_prepared *step = ad->step;
    const cst_motion *f = step->w;
    const cst_kkt *k = f->k;
    double *first = y + k->n, before = 0, force = cst_largest(k->nu, b);
    memcpy(x, b, sizeof *x * (size_t)k->n);
    cst_lu_tsolve(f->newton, 1, x);
    memcpy(first, x, sizeof *x * (size_t)k->n);
    if (last->steps) add(k->n, last->c + section, x);
    for (int pass = 0; pass < 12; pass++) {
        cst_motion_left(f, b, x, y);
        cst_lu_tsolve(f->newton, 1, y);
        double gain = correct(k->nu, y, x, 0);
        gain = fmax(gain, correct(k->nrow, y + k->nu, x + k->nu, force)); /* where none are needed multipliers are rounding */
        step->passes++;
        if (!isfinite(gain)) return 0;
        double theta = pass ? gain / before : last->steps ? 10 * ad->theta : 10 * gain; /* of one x; others may need more */
        if (pass ? gain > 10 * CLOSE : !last->steps) ad->theta = fmax(ad->theta, pass ? theta : gain);
        if ((theta < 0.5 && gain * theta <= CLOSE) || (gain <= 10 * CLOSE && theta > 0.3)) {
            if (ad->theta > CLOSE) foresee(k->n, last->steps, x, first, last->c + section, last->before + section);
            return 1;
        }
        if (pass && theta > 0.3) return 0;
        before = gain;
    }
    return 0;
}

cst_status cst_adjoint_solve(cst_adjoint *ad, cst_costate_of which, const double *top, const double *bottom)
{
    const cst_motion *w = ad->w;
    const cst_kkt *k = w->k;
    const cst_model *m = w->s->m;
    cst_prepared *step = ad->step;
    cst_motion *f = step->w;
    cst_costate *last = &ad->last[which];
    double *x = ad->solve, *b = x + k->n, *y = b + k->n;
    if (last->k != k) last->steps = 0, last->k = k;
    memset(ad->rows, 0, sizeof *ad->rows * (size_t)ad->n * (size_t)m->nrow);
    for (int r = 0; r < ad->n; r++) {
        for (int i = 0; i < k->nu; i++) b[i] = -top[(size_t)r * (size_t)k->nu + (size_t)i];
        for (int i = 0; i < k->nrow; i++) b[k->nu + i] = bottom ? -bottom[(size_t)r * (size_t)m->nrow + (size_t)k->all_of[i]] : 0;
        if (which == CST_OF_NEWTON) cst_kkt_tsolve(k, f->newton, f->newton_val, w->st->eps, b, x, y);
        else if (step->own_projection || !refine(ad, last, (size_t)r * (size_t)k->n, b, x, y)) {
            if (!step->own_projection) {
                if (cst_lu_refactor(f->project, f->project_val) >= 0) return CST_NUMERIC;
                step->own_projection = 1, step->factorizations++;
                step->direct = cst_direct_steps(&step->direct_next);
            }
            solve_own(f, b, x, y);
        }
        memcpy(ad->mu + (size_t)r * (size_t)k->nu, x, sizeof *x * (size_t)k->nu);
        for (int i = 0; i < k->nrow; i++) ad->rows[(size_t)r * (size_t)m->nrow + (size_t)k->all_of[i]] = x[k->nu + i];
    }
    last->steps = !step->own_projection && ad->theta > CLOSE ? last->steps + 1 : 0;
    const cst_lu_info *cost = cst_lu_get(f->newton); /* two solutions, each one pass more with its own factors */
    if (!step->direct && (step->passes - 2 * ad->n) * (cost->solve_cost + 8.0 * k->pattern->nnz) > cost->factor_cost)
        step->direct = cst_direct_steps(&step->direct_next);
    return CST_OK;
}
