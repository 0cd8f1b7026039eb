/* SPDX-License-Identifier: MIT
 *
 * Dimensions, and the identities that a gradient obeys whatever the mechanism is. Units are a
 * convention: with another unit of mass every number p_i whose unit has kg^a_i is multiplied by
 * c^a_i, an objective by c^a. The derivative at c = 1 is Euler's identity
 *
 *     sum_i a_i p_i dpsi/dp_i = a psi
 *
 * over ALL numbers of the file, and likewise for length. It holds to rounding for an exact gradient
 * and fails when the part of a single number is missing. It is not stated for time: the step and
 * the end of the simulation would change with the unit, and they are no numbers of the gradient. */
#ifndef CST_SENSITIVITY_SCALING_H
#define CST_SENSITIVITY_SCALING_H

#include "integrator/run.h"
#include "model/dimensions.h"

/* (leaves) cst_number_size; kind: of the vector that the number belongs to, NULL: not wanted */
double *cst_dimensions_sizes(const cst_dimensions *d, cst_arena *a, const cst_model *m,
                             cst_vector_kind *kind);
double *cst_design_sizes(cst_arena *a,
                         const cst_model *m); /* (leaves) the same for design variables: a tiny
                                                 number has the usual size */
/* The largest distance of two drawn points: origins of bodies, ends of bars, and points of joints
 * and forces */
double cst_drawing_extent(cst_arena *a, const cst_model *m);

#define CST_SCALING_TOLERANCE 1e-9

/* value, slope, effect: of all leaves; base: CST_MASS or CST_LENGTH */
cst_scaling cst_scaling_check(cst_arena *a, const cst_dimensions *d, int base, int objective,
                              double psi, int nleaf, const double *value, const double *slope,
                              const cst_effect *effect);

#endif
