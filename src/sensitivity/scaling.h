/* SPDX-License-Identifier: MIT
 *
 * Dimensions, and the identities that a gradient obeys whatever the mechanism is. Units are a convention:
 * with another unit of mass every number p_i whose unit has kg^a_i is multiplied by c^a_i, an objective by
 * c^a. The derivative at c = 1 is Euler's identity
 *
 *     sum_i a_i p_i dpsi/dp_i = a psi
 *
 * over ALL numbers of the file, and likewise for length. It holds to rounding for an exact gradient and
 * fails when the part of a single number is missing. It is not stated for time: the step and the end of the
 * simulation would change with the unit, and they are no numbers of the gradient. */
#ifndef CST_SENSITIVITY_SCALING_H
#define CST_SENSITIVITY_SCALING_H

#include "integrator/run.h"
#include "number/dimension.h"

/* What is known of the numbers and the objectives of a model: units of the file, and what follows from them
 * through the expressions, up and down: in `d.x^2 + w*v.x^2` the weight w has s^2. */
typedef struct cst_dimensions {
    cst_dimension *leaf, *objective;
    int weight;            /* 1: gravity is not written: 9.81 m/s^2 takes part and is no number of the file */
    /* (objectives) of mass, length: what takes part and hides one that is no number of the file; NULL: nothing does */
    const char **hidden[2];
    const char *dflt[2];   /* of mass, length: defaults that have it, or may have it, and are no numbers of the file; NULL: none */
    const cst_body *wrong; /* a body that is given a speed in rad/s, a mass in m, ...; NULL: none was found */
} cst_dimensions;
cst_dimensions cst_dimensions_infer(cst_arena *a, const cst_model *m);
/* d->hidden, d->dflt; of (values): what is known of the values of the graph */
void cst_dimensions_hidden(cst_arena *a, const cst_model *m, const cst_dimension *of, cst_dimensions *d);
/* Arguments from `first` on have the dimension of the result (ALIKE), or the result is a pure number: of arguments of one dimension
 * (COMPARED), of pure numbers (FUNCTION: exp, sin), of anything (TRUTH). */
typedef enum cst_manner { CST_OTHER, CST_ALIKE, CST_COMPARED, CST_FUNCTION, CST_TRUTH } cst_manner;
cst_manner cst_op_manner(int op, int *first);

/* (leaves) What a change of each number is compared with: |p|. For a number that is 0 now, or rounding of 0, it is 1 when it has no
 * dimension (a component of a direction, an angle in rad), else the median of |p| over the other numbers of its dimension; NAN: there are
 * none, or the dimension is not known. */
double *cst_dimensions_sizes(const cst_dimensions *d, cst_arena *a, const cst_model *m);

typedef enum cst_scaling_verdict {
    CST_SCALING_HOLDS,
    CST_SCALING_FAILS,
    CST_SCALING_OPEN
} cst_scaling_verdict;

typedef struct cst_scaling {
    cst_scaling_verdict verdict;
    double sum; /* sum_i a_i p_i dpsi/dp_i */
    double
        exponent; /* a: of the objective's dimension or, guessed = 1, the half-integer nearest to sum/psi */
    double off;   /* |sum - a psi| over the largest of |psi|, |p_i dpsi/dp_i|, sum_i |a_i p_i dpsi/dp_i| */
    int guessed;
    const char *why;          /* OPEN: the reason, else NULL */
    CST_LIST(int) in_the_way; /* leaves: of unknown unit (taken as pure numbers), or without a gradient */
} cst_scaling;

#define CST_SCALING_TOLERANCE 1e-9

/* 1: the start of the kept trajectory depends on the length by which turns are compared with ways. What is nearest to the drawing is
 * measured with it where that has to change (formulation/start.h). It is a number of no file, so that the identity of length
 * need not hold then. */
int cst_scaling_start_measures(cst_arena *arena, cst_run *r);

/* value, slope, effect: of all leaves; base: CST_MASS or CST_LENGTH */
cst_scaling cst_scaling_check(cst_arena *a, const cst_dimensions *d, int base, int objective, double psi,
                              int nleaf, const double *value, const double *slope, const cst_effect *effect,
                              int start_measures);

#endif
