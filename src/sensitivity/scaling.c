/* SPDX-License-Identifier: MIT
 *
 * Euler's identity. */
#include "sensitivity/scaling.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the identity ---- */

static int differentiable(cst_effect e) { return e == CST_EXACT || e == CST_NO_EFFECT; }

/* The half-integer that sum/psi is meant to be; 0 when the sum itself is rounding. */
static double guess(double sum, double psi, double size)
{
    if (fabs(sum) <= CST_SCALING_TOLERANCE * size || psi == 0) return 0;
    return round(2 * sum / psi) / 2;
}

cst_scaling cst_scaling_check(cst_arena *a, const cst_dimensions *d, int base, int objective,
                              double psi, int nleaf, const double *value, const double *slope,
                              const cst_effect *effect)
{
    cst_scaling s = {.verdict = CST_SCALING_OPEN};
    const cst_dimension *of = &d->objective[objective];
    double size = 0, largest = fabs(psi);
    int refused = 0, unknown = 0, *ignoring = cst_new(a, int, nleaf + 1);
    for (int i = 0; i < nleaf; i++) {
        const cst_dimension *u = &d->leaf[i];
        int known = u->state == CST_DIMENSION_KNOWN;
        if (differentiable(effect[i])) largest = fmax(largest, fabs(value[i] * slope[i]));
        if (value[i] == 0 || (known && u->x[base] == 0)) continue;
        if (!differentiable(effect[i]) || (!known && slope[i] != 0)) {
            refused |= !differentiable(effect[i]);
            unknown |= !known;
            ignoring[s.ignored++] = i;
        } else if (known) {
            s.sum += (double)u->x[base] * value[i] * slope[i];
            size += fabs((double)u->x[base] * value[i] * slope[i]);
        }
    }
    s.ignoring = ignoring;
    size = fmax(size, largest); /* rounding in one part is rounding of the largest */
    s.guessed = of->state == CST_DIMENSION_UNKNOWN;
    s.exponent = s.guessed ? guess(s.sum, psi, size) : (double)of->x[base];
    s.off = size > 0 ? fabs(s.sum - s.exponent * psi) / size : 0;
    if (of->state == CST_DIMENSION_MIXED)
        s.why = "the objective adds quantities of different dimensions";
    else if (refused)
        s.why = "numbers that take part have no gradient";
    else if (s.off <= CST_SCALING_TOLERANCE) /* a pure number for what has no unit: then that is
                                                what it is */
        s.verdict = CST_SCALING_HOLDS;
    else if (d->wrong)
        s.why = cst_arena_printf(a, "body '%s' is given a quantity of another dimension",
                                 d->wrong->name);
    else if (d->hidden[base][objective])
        s.why = d->hidden[base][objective];
    else if (unknown)
        s.why = "numbers that take part have no unit";
    else if (d->weight && base == CST_LENGTH)
        s.why = "gravity is not written in the file, and its 9.81 m/s^2 takes part";
    else if (d->dflt[base])
        s.why = cst_arena_printf(a, "defaults that may have a %s are not in the file: %s",
                                 cst_base_word[base], d->dflt[base]);
    else if (s.guessed)
        s.why = "the objective's dimension is not known";
    else
        s.verdict = CST_SCALING_FAILS;
    return s;
}
