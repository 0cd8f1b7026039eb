/* SPDX-License-Identifier: MIT
 *
 * Chooses the formulation and the integrator for `formulation: auto`. */
#ifndef CST_INTEGRATOR_AUTO_H
#define CST_INTEGRATOR_AUTO_H

#include "integrator/motion.h"

typedef struct cst_auto {
    const char *formulation, *integrator, *why;
} cst_auto; /* why: in a few words */

/* For steps of length h; tolerant: a tolerance is given. */
cst_auto cst_auto_choose(cst_arena *a, cst_motion *w, double h, int tolerant);

/* max(omega, c), 1/s; -1: the masses are not regular */
double cst_auto_fastest(cst_arena *a, cst_motion *w);

#endif
