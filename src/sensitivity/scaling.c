/* SPDX-License-Identifier: MIT
 *
 * Euler's identity. */
#include "sensitivity/scaling.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void cst_model_objective_unit(const cst_model *m, int i, char *to, size_t n)
{
    cst_arena a = {0};
    to[0] = 0;
    if (CST_ARENA_GUARD(&a)) {
        cst_arena_free(&a);
        return;
    }
    cst_dimension d = cst_dimensions_infer(&a, m).objective[i];
    cst_dimension_text(&d, to, n);
    cst_arena_free(&a);
}

/* ---- sizes ---- */

#define NOUGHT 1e-12 /* of the size of others: rounding of 0, as in cos(pi/2) */

static int by_size(const void *x, const void *y)
{
    double a = *(const double *)x, b = *(const double *)y;
    return (a > b) - (a < b);
}

static int alike(const cst_dimension *a, const cst_dimension *b)
{
    int same = a->state == CST_DIMENSION_KNOWN && b->state == CST_DIMENSION_KNOWN;
    for (int k = 0; k < CST_BASES; k++) same &= a->x[k] == b->x[k];
    return same;
}

/* Of the numbers of a dimension that are not 0, nor rounding of 0. sorted: scratch (leaves) */
static double median_of(const cst_dimensions *d, const cst_model *m, const cst_dimension *of, double *sorted)
{
    int n = 0, noughts = 0;
    for (int i = 0; i < m->leaf.n; i++)
        if (alike(&d->leaf[i], of)) sorted[n++] = fabs(cst_model_number_value(m, i));
    qsort(sorted, (size_t)n, sizeof *sorted, by_size);
    while (noughts < n && sorted[noughts] <= NOUGHT * sorted[n - 1]) noughts++;
    return noughts < n ? sorted[noughts + (n - noughts) / 2] : NAN;
}

double *cst_dimensions_sizes(const cst_dimensions *d, cst_arena *a, const cst_model *m)
{
    double *size = cst_new(a, double, m->leaf.n + 1), *sorted = cst_new(a, double, m->leaf.n + 1);
    unsigned char *seen = cst_new(a, unsigned char, m->leaf.n + 1);
    for (int i = 0; i < m->leaf.n; i++) {
        const cst_dimension *of = &d->leaf[i], none = {.state = CST_DIMENSION_KNOWN};
        if (seen[i]) continue;
        const double median = alike(of, &none) ? 1 : median_of(d, m, of, sorted);
        for (int k = i; k < m->leaf.n; k++) { /* all of this dimension */
            const double p = fabs(cst_model_number_value(m, k));
            if (k != i && !alike(&d->leaf[k], of)) continue;
            size[k] = p > NOUGHT * median || (p > 0 && isnan(median)) ? p : median, seen[k] = 1;
        }
    }
    return size;
}

/* ---- the identity ---- */

static int differentiable(cst_effect e) { return e == CST_EXACT || e == CST_NO_EFFECT; }

static int apart(int n, const double *a, const double *b)
{
    int yes = 0;
    for (int i = 0; i < n; i++) yes |= fabs(a[i] - b[i]) > 1e-10 * (1 + fabs(b[i]));
    return yes;
}

/* The structure with another length between points and directions, and between points and scalars */
static cst_structure *remeasured(cst_arena *a, const cst_run *r)
{
    cst_structure *st = cst_new(a, cst_structure, 1);
    *st = *r->st;
    st->weight = cst_new(a, double, r->m->nq + 1);
    for (int i = 0; i < r->m->body.n; i++) {
        const cst_body *b = &r->m->body.at[i];
        for (int k = 0; k < 3 * b->cls->nvec + b->cls->nscalar; k++) {
            double by = k >= 3 * b->cls->nvec ? 3 : b->cls->translation[k / 3] != 0 ? 1 : 2;
            st->weight[b->q0 + k] = by * r->st->weight[b->q0 + k];
        }
    }
    return st;
}

static int assembles(cst_run *r, cst_start *w, const cst_state *y, double *q, cst_diag *quiet)
{
    for (int i = 0; i < r->m->body.n; i++) {
        const cst_body *b = &r->m->body.at[i];
        memcpy(q + b->q0, r->s->P + b->drawn, sizeof *q * (size_t)(3 * b->cls->nvec + b->cls->nscalar));
    }
    return cst_assemble(w, *y->t, r->mem_drawn, q, NULL, quiet) == CST_OK;
}

int cst_scaling_start_measures(cst_arena *arena, cst_run *r)
{
    cst_arena *a = cst_arena_child(arena);
    const cst_state y = cst_run_state(r, 0);
    cst_start *w = cst_start_new(a, r->s, remeasured(a, r));
    double *q = cst_new(a, double, r->m->nq + 1), *other = cst_new(a, double, r->m->nq + 1), *u = cst_new(a, double, r->m->nu + 1);
    cst_diag *quiet = cst_new(a, cst_diag, 1);
    int yes = !assembles(r, r->start, &y, q, quiet) || !assembles(r, w, &y, other, quiet) || apart(r->m->nq, other, q);
    yes = yes || cst_rates(w, *y.t, y.mem, y.q, u, NULL, quiet) != CST_OK || apart(r->m->nu, u, y.u);
    cst_arena_free(a);
    return yes;
}

/* The half-integer that sum/psi is meant to be; 0 when the sum itself is rounding. */
static double guess(double sum, double psi, double size)
{
    if (fabs(sum) <= CST_SCALING_TOLERANCE * size || psi == 0) return 0;
    return round(2 * sum / psi) / 2;
}

cst_scaling cst_scaling_check(cst_arena *a, const cst_dimensions *d, int base, int objective, double psi,
                              int nleaf, const double *value, const double *slope, const cst_effect *effect,
                              int start_measures)
{
    cst_scaling s = {.verdict = CST_SCALING_OPEN};
    const cst_dimension *of = &d->objective[objective];
    double size = 0, largest = fabs(psi);
    int refused = 0, unknown = 0;
    for (int i = 0; i < nleaf; i++) {
        const cst_dimension *u = &d->leaf[i];
        int known = u->state == CST_DIMENSION_KNOWN;
        if (differentiable(effect[i])) largest = fmax(largest, fabs(value[i] * slope[i]));
        if (value[i] == 0 || (known && u->x[base] == 0)) continue;
        if (!differentiable(effect[i]) || (!known && slope[i] != 0)) {
            refused |= !differentiable(effect[i]);
            unknown |= !known;
            *cst_push(a, &s.in_the_way) = i;
        } else if (known) {
            s.sum += (double)u->x[base] * value[i] * slope[i];
            size += fabs((double)u->x[base] * value[i] * slope[i]);
        }
    }
    size = fmax(size, largest); /* rounding in one part is rounding of the largest */
    s.guessed = of->state == CST_DIMENSION_UNKNOWN;
    s.exponent = s.guessed ? guess(s.sum, psi, size) : (double)of->x[base];
    s.off = size > 0 ? fabs(s.sum - s.exponent * psi) / size : 0;
    if (of->state == CST_DIMENSION_MIXED)
        s.why = "the objective adds quantities of different dimensions";
    else if (refused)
        s.why = "numbers that take part have no gradient";
    else if (s.off <= CST_SCALING_TOLERANCE) /* a pure number for what has no unit: then that is what it is */
        s.verdict = CST_SCALING_HOLDS;
    else if (d->wrong)
        s.why = cst_arena_printf(a, "body '%s' is given a quantity of another dimension", d->wrong->name);
    else if (d->hidden[base][objective])
        s.why = d->hidden[base][objective];
    else if (unknown)
        s.why = "numbers that take part have no unit";
    else if (start_measures && base == CST_LENGTH)
        s.why = "the assembly had to change the drawing, and compares rotations with translations by a length that is not in the file";
    else if (d->weight && base == CST_LENGTH)
        s.why = "gravity is not written in the file, and its 9.81 m/s^2 takes part";
    else if (d->dflt[base])
        s.why = cst_arena_printf(a, "defaults that may have a %s are not in the file: %s", cst_base_word[base], d->dflt[base]);
    else if (s.guessed)
        s.why = "the objective's dimension is not known";
    else
        s.verdict = CST_SCALING_FAILS;
    return s;
}
