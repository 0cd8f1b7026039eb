/* SPDX-License-Identifier: MIT
 *
 * Rows of constraints that depend on others, and the numbers that change them: of all positions
 * (breaking.c) or of one (singular.c). */
#ifndef CST_SENSITIVITY_BREAKING_H
#define CST_SENSITIVITY_BREAKING_H

#include "integrator/run.h"
#include "system/kkt.h"

/* Numbers that cannot change by themselves: effect (leaves) is CST_BREAKS_LOOP, CST_CONTRADICTS or
 * 0. The trajectory must have been kept. */
cst_status cst_find_breaking(cst_run *r, unsigned char *effect, cst_diag *d);

/* Objectives that read reactions which are not unique: ambiguous (objectives) is set to 1. */
cst_status cst_find_ambiguous(cst_run *r, unsigned char *ambiguous, cst_diag *d);

/* Says which components those are, and what is unique beside them. ambiguous.c */
cst_status cst_ambiguous_tell(cst_run *r, const unsigned char *objectives, cst_diag *d);

/* The same for components of measures. ambiguous (2 x components): the first half says which are
 * asked about, and then which of them are not unique; the other is scratch. */
cst_status cst_find_ambiguous_measures(cst_run *r, unsigned char *ambiguous, cst_diag *d);

typedef struct cst_null_space {
    int n;
    double *at;
} cst_null_space; /* (n x all rows) left null vectors of a problem's matrix */

/* n (all rows): the dependent row k minus what it is made of */
void cst_null_vector(const cst_jacobian *j, const cst_rank *rank, int k, double *n);

/* effect |= found: the numbers that change n . phi at q, for some n of the space, by more than the
 * part `zero` of what it would be without cancelling. The system is there, at rest; the space is
 * spoiled. */
cst_status cst_numbers_opening(cst_run *r, cst_arena *a, const double *q, const double *mem,
                               cst_null_space space, double zero, unsigned char found,
                               unsigned char *effect);

/* slope (leaves): derivatives of weight . phi at q by the numbers; weight (all rows). The system is
 * there, at rest. */
void cst_rows_slopes(cst_run *r, cst_arena *a, const double *q, const double *mem,
                     const double *weight, double *slope);

/* size (nu): 1 for rotations; for translations the length of the loops that a body is in, else that
 * of the model. part: of bodies, joint: those in loops (formulation/loops.h). The system is placed
 * at y. */
void cst_loop_columns(cst_run *r, cst_arena *a, const unsigned char *joint, const cst_state *y,
                      int *part, double *size);

#endif
