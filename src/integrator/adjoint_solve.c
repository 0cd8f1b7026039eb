/* SPDX-License-Identifier: MIT
 *
 * The costates of a step, A^T x = b, A being the projection's matrix or Newton's, with factors F of
 * A itself ("own") or of Newton's matrix where it is near the projection's:
 *
 *     x_0 = F^-T b + c,     x_k+1 = x_k + F^-T (b - A^T x_k),     x - x_k+1 = E (x - x_k),     E =
 * F^-T (F - A)^T
 *
 * c is foreseen from the corrections x - F^-T b of three steps before: it leaves O(h^3) of E x, and
 * one pass O(h^3) of E^2 x. Own factors need no c: E is rounding, and one pass is enough, unless A
 * has a compliance e in redundant rows. F has e + eps there, so E is eps/(e + eps), which may be 1
 * %: passes continue (cst_kkt_refined). */
#include <math.h>
#include <string.h>

#include "integrator/adjoint.h"
#include "integrator/rule.h"
#include "linalg/pair.h"

#define CLOSE                                                                                      \
    1e-16 /* relative to x: passes continue while more than this is left to correct, for the sake  \
             of small entries of x, */
#define FLOOR 1e-13 /* or until they no longer improve x */

void cst_adjoint_forget(cst_adjoint *ad)
{
    ad->theta = 0;
    for (int i = 0; i < CST_COSTATES; i++) ad->costate[i].steps = 0;
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

/* c for the next step: a parabola through x - first and the last two of those, as far as there are
 */
static void foresee(int n, int steps, const double *x, const double *first, double *c, double *last,
                    double *before)
{
    double a = steps == 0   ? 1
               : steps == 1 ? 2
                            : 3,
           b = steps == 0   ? 0
               : steps == 1 ? -1
                            : -3,
           d = steps < 2 ? 0 : 1;
    for (int i = 0; i < n; i++) {
        double now = x[i] - first[i];
        c[i] = a * now + b * last[i] + d * before[i];
        before[i] = last[i], last[i] = now;
    }
}

/* The projection's with its own factors */
static void solve_own(const cst_motion *f, const double *b, double *x, double *y)
{
    double before = 1, force = cst_largest(f->k->nu, b);
    memcpy(x, b, sizeof *x * (size_t)f->k->n);
    cst_lu_tsolve(f->project, 1, x);
    for (int pass = 0; pass < 14; pass++) {
        cst_motion_left(f, b, x, y);
        cst_lu_tsolve(f->project, 1, y);
        if (cst_kkt_refined(cst_kkt_correct(f->k, y, force, x), &before)) return;
    }
}

/* |x - first| of |x|, largest entries */
static double share_corrected(int n, const double *x, const double *first)
{
    double most = 0, size = 0;
    for (int i = 0; i < n; i++) {
        double c = fabs(x[i] - first[i]), now = fabs(x[i]);
        most = c > most ? c : most, size = now > size ? now : size;
    }
    return size > 0 ? most / size : 0;
}

/* The projection's with Newton's factors, and what to foresee; section: of c. 0: the factors are
 * too far from the matrix */
static int refine(cst_adjoint *ad, const cst_costate *of, size_t section, const double *b,
                  double *x, double *y)
{
    cst_prepared *step = ad->step;
    const cst_motion *f = step->w;
    const cst_kkt *k = f->k;
    double *first = y + k->n, before = 0, force = cst_largest(k->nu, b);
    memcpy(x, b, sizeof *x * (size_t)k->n);
    cst_lu_tsolve(f->newton, 1, x);
    memcpy(first, x, sizeof *x * (size_t)k->n);
    if (of->steps) add(k->n, of->c + section, x);
    for (int pass = 0; pass < 12; pass++) {
        cst_motion_left(f, b, x, y);
        cst_lu_tsolve(f->newton, 1, y);
        double gain = cst_kkt_correct(k, y, force, x);
        step->passes++;
        if (!isfinite(gain)) return 0;
        double theta = pass ? gain / before : share_corrected(k->n, x, first); /* |E x| of |x| */
        if (!pass || gain > FLOOR) ad->theta = fmax(ad->theta, theta);
        if (!pass)
            theta =
                10 * ad->theta; /* the remaining error is another vector, and may contract less */
        if (gain <= 4e-16 || (theta < 0.5 && gain * theta <= CLOSE) ||
            (gain <= FLOOR && theta > 0.3)) {
            if (ad->theta > FLOOR)
                foresee(k->n, of->steps, x, first, of->c + section, of->last + section,
                        of->before + section);
            return 1;
        }
        if (pass && theta > 0.3) return 0;
        before = gain;
    }
    return 0;
}

cst_status cst_adjoint_solve(cst_adjoint *ad, cst_costate_of which, const double *top,
                             const double *bottom)
{
    const cst_motion *w = ad->w;
    const cst_kkt *k = w->k;
    const cst_model *m = w->s->m;
    cst_prepared *step = ad->step;
    cst_motion *f = step->w;
    cst_costate *of = &ad->costate[which];
    double *x = ad->solve, *b = x + k->n, *y = b + k->n;
    if (of->k != k) of->steps = 0, of->k = k;
    memset(ad->rows, 0, sizeof *ad->rows * (size_t)ad->n * (size_t)m->nrow);
    for (int r = 0; r < ad->n; r++) {
        for (int i = 0; i < k->nu; i++) b[i] = -top[(size_t)r * (size_t)k->nu + (size_t)i];
        for (int i = 0; i < k->nrow; i++)
            b[k->nu + i] = bottom ? -bottom[(size_t)r * (size_t)m->nrow + (size_t)k->all_of[i]] : 0;
        if (which == CST_OF_NEWTON)
            cst_kkt_tsolve(k, f->newton, f->newton_val, w->st->eps, b, x, y);
        else if (step->own_projection || !refine(ad, of, (size_t)r * (size_t)k->n, b, x, y)) {
            if (!step->own_projection) {
                if (cst_lu_refactor(f->project, f->project_val) >= 0) return CST_NUMERIC;
                step->own_projection = 1, step->factorizations++;
                step->direct = cst_direct_steps(&step->direct_next);
            }
            solve_own(f, b, x, y);
        }
        memcpy(ad->mu + (size_t)r * (size_t)k->nu, x, sizeof *x * (size_t)k->nu);
        for (int i = 0; i < k->nrow; i++)
            ad->rows[(size_t)r * (size_t)m->nrow + (size_t)k->all_of[i]] = x[k->nu + i];
    }
    of->steps = !step->own_projection && ad->theta > FLOOR ? of->steps + 1 : 0;
    const cst_lu_info *cost =
        cst_lu_get(f->newton); /* two solutions, each one pass more with its own factors */
    if (!step->direct && of->steps > 3 &&
        (step->passes - 2 * ad->n) * (cost->solve_cost + 8.0 * k->pattern->nnz) > cost->factor_cost)
        step->direct = cst_direct_steps(&step->direct_next);
    return CST_OK;
}
