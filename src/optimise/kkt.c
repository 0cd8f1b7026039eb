/* SPDX-License-Identifier: MIT
 *
 * How far the best point is from a stationary one. In scaled quantities, over the active
 * constraints a,
 *
 *     r = dF - sum_a mu_a dC_a,   mu_a >= 0 at a lower limit, <= 0 at an upper one, free at an
 * equality,
 *
 * mu by least squares over the variables that are not at a bound; r_i counts as 0 if x_i is at a
 * bound and r_i pushes against it. A constraint that is only near its limit contributes mu_a times
 * its distance. mu_a is also d(F at the optimum)/d(limit of C_a). */
#include "optimise/search.h"

#include <math.h>
#include <string.h>

enum { LOWER = -1, FREE = 0, UPPER = 1, EQUAL = 2 };

static int side_of_bound(const cst_search *s, int i)
{
    const double near = 1e-7; /* interior points come no nearer */
    return s->best.y[i] - s->lower[i] <= near   ? LOWER
           : s->upper[i] - s->best.y[i] <= near ? UPPER
                                                : FREE;
}

int cst_search_side(const cst_search *s, int j)
{
    double c = s->best.c[j], lo = s->p->c_lower[j], hi = s->p->c_upper[j];
    double near = fmax(10 * s->o.feasible, 1e-6) * s->c_size[j];
    if (s->redundant[j]) return FREE;
    return lo == hi ? EQUAL : c - lo <= near ? LOWER : hi - c <= near ? UPPER : FREE;
}

static double dC(const cst_search *s, int j, int i)
{
    return s->best.dc[j * s->n + i] * s->scale[i] / s->c_size[j];
}

/* mu of the columns `active` by modified Gram-Schmidt on [A | b]; a dependent column gets 0. */
static void least_squares(cst_arena *a, int rows, int cols, double *A, double *b, double *mu)
{
    double *R = cst_new(a, double, cols *cols + 1);
    for (int j = 0; j < cols; j++) {
        double *q = A + j * rows, size = 0, norm = 0;
        for (int i = 0; i < rows; i++) size += q[i] * q[i];
        for (int k = 0; k < j; k++) {
            double dot = 0;
            for (int i = 0; i < rows; i++) dot += A[k * rows + i] * q[i];
            for (int i = 0; i < rows; i++) q[i] -= dot * A[k * rows + i];
            R[k * cols + j] = dot;
        }
        for (int i = 0; i < rows; i++) norm += q[i] * q[i];
        int dependent = !(norm > 1e-20 * size);
        R[j * cols + j] = dependent ? 0 : sqrt(norm);
        for (int i = 0; i < rows; i++) q[i] = dependent ? 0 : q[i] / R[j * cols + j];
        double dot = 0;
        for (int i = 0; i < rows; i++) dot += q[i] * b[i];
        for (int i = 0; i < rows; i++) b[i] -= dot * q[i];
        mu[j] = dot;
    }
    for (int j = cols - 1; j >= 0; j--) {
        for (int k = j + 1; k < cols; k++) mu[j] -= R[j * cols + k] * mu[k];
        mu[j] = R[j * cols + j] > 0 ? mu[j] / R[j * cols + j] : 0;
    }
}

/* Multipliers of the active constraints; one with the wrong sign is left out, and the others are
 * found again. */
static void find_multipliers(const cst_search *s, cst_arena *a, const double *dF, int *side,
                             double *mu)
{
    double *A = cst_new(a, double, s->m * s->n + 1), *b = cst_new(a, double, s->n + 1),
           *part = cst_new(a, double, s->m + 1);
    int *of = cst_new(a, int, s->m + 1);
    for (int j = 0; j < s->m; j++) side[j] = cst_search_side(s, j);
    for (int again = 1; again;) {
        int cols = 0, rows = 0;
        again = 0;
        for (int i = 0; i < s->n; i++)
            if (side_of_bound(s, i) == FREE) b[rows++] = dF[i];
        for (int j = 0; j < s->m; j++) {
            if (side[j] == FREE) continue;
            int r = 0;
            for (int i = 0; i < s->n; i++)
                if (side_of_bound(s, i) == FREE) A[cols * rows + r++] = dC(s, j, i);
            of[cols++] = j;
        }
        least_squares(a, rows, cols, A, b, part);
        memset(mu, 0, sizeof *mu * (size_t)s->m);
        int worst = -1;
        for (int k = 0; k < cols; k++) {
            int j = of[k];
            double wrong = side[j] == LOWER ? -part[k] : side[j] == UPPER ? part[k] : 0;
            mu[j] = part[k];
            if (wrong > 0 && (worst < 0 || wrong > fabs(mu[worst]))) worst = j;
        }
        if (worst >= 0) side[worst] = FREE, again = 1;
    }
}

double cst_search_stationarity(cst_search *s, double *multiplier)
{
    cst_arena *a = cst_arena_child(s->arena);
    double *dF = cst_new(a, double, s->n + 1), *mu = cst_new(a, double, s->m + 1), most = 0;
    int *side = cst_new(a, int, s->m + 1);
    for (int i = 0; i < s->n; i++) dF[i] = s->best.df[i] * s->scale[i] / s->f_size;
    find_multipliers(s, a, dF, side, mu);
    for (int i = 0; i < s->n; i++) {
        double r = dF[i], room_down = s->best.y[i] - s->lower[i],
               room_up = s->upper[i] - s->best.y[i];
        for (int j = 0; j < s->m; j++) r -= mu[j] * dC(s, j, i);
        r = fmax(-room_up, fmin(r, room_down)); /* y - r, projected on the bounds, minus y */
        s->residual[i] = r;
        most = fmax(most, fabs(r));
    }
    for (int j = 0; j < s->m; j++) {
        double c = s->best.c[j],
               gap = fmin(fabs(c - s->p->c_lower[j]), fabs(c - s->p->c_upper[j])) / s->c_size[j];
        if (mu[j] != 0) most = fmax(most, fabs(mu[j]) * gap);
    }
    for (int j = 0; multiplier && j < s->m; j++) multiplier[j] = mu[j] * s->f_size / s->c_size[j];
    cst_arena_free(a);
    return most;
}
