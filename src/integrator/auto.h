/* SPDX-License-Identifier: MIT
 *
 * The formulation and the integrator for who asks for `auto`. */
#ifndef CST_INTEGRATOR_AUTO_H
#define CST_INTEGRATOR_AUTO_H

#include "integrator/motion.h"

/* Names of both, for steps of length h; tolerant: a tolerance is given. */
const char *cst_auto_formulation(cst_arena *a, cst_motion *w, double h, int tolerant, const char **rule);

#endif
