/* SPDX-License-Identifier: MIT
 *
 * Changes of the motion with numbers, carried along it: direct.c. */
#ifndef CST_SENSITIVITY_DIRECTION_H
#define CST_SENSITIVITY_DIRECTION_H

#include "integrator/run.h"
#include "integrator/tangent.h"

/* A pseudo-random number in [1, 2) for each k: with such weights terms do not cancel */
static inline double cst_spread(int k)
{
    return 1 + (double)((unsigned)(k + 1) * 2654435761u >> 8) * 0x1p-24;
}

#define CST_TOGETHER 64 /* directions that are carried side by side */

/* One number's change, carried along the motion */
typedef struct cst_direction {
    cst_tangent *t;
    double *P, *val, *functional, *held; /* held: changes of held values */
    void (*visit)(void *ctx,
                  long n); /* at each state, whose outputs and their changes are at hand; or NULL */
    void *ctx;
    long states; /* how many states to visit, from the first on; 0: all */
} cst_direction;
/* Carries ndir directions, which hold their changes at the start, over the states of the kept
 * trajectory. At each state the changes of accelerations, multipliers and outputs are derived, and
 * each direction is observed (cst_direction_observe). */
typedef struct cst_sweep_of {
    cst_status (*run)(cst_run *r, void *ctx, int ndir, cst_direction *dir);
    void *ctx;
} cst_sweep_of;
cst_direction *cst_directions_new(cst_arena *a, const cst_run *r, cst_motion *w, int n);
void cst_direction_observe(cst_run *r, cst_direction *dir, int k, long n);
/* grad (nobjective x nleaf) by such a sweep */
cst_status cst_gradient_forward(cst_run *r, cst_arena *a, cst_motion *w, const cst_sweep_of *sweep,
                                int nleaf, const int *leaf, double *grad);

/* Directions of several numbers at once, side by side: weight (ndir x leaves). dir: from
 * cst_directions_new */
cst_status cst_directions_along(cst_run *r, cst_arena *a, int ndir, const double *weight,
                                cst_direction *dir);
/* (leaves) pseudo-random weights of all numbers that are not fixed; fixed ones have weight 0 */
double *cst_random_weights(const cst_run *r, cst_arena *a, const unsigned char *fixed);
/* Evaluates events and kinks at y with the modes in mem, and sets t->x, t->xd to the changes of the
 * slots that they read */
void cst_direction_at(cst_run *r, const cst_tangent *t, const cst_state *y, const double *mem);

#endif
