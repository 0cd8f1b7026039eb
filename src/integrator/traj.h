/* SPDX-License-Identifier: MIT
 *
 * Memory of a trajectory, within the limit of the options. */
#ifndef CST_INTEGRATOR_TRAJ_H
#define CST_INTEGRATOR_TRAJ_H

#include "integrator/run.h"

/* Makes r->kept empty, with the spacing that the memory limit asks for. CST_USAGE: the limit is too
 * small (reported). */
cst_status cst_traj_begin(cst_run *r, cst_diag *d);
/* w: knows how the step that ended there began */
void cst_traj_add(cst_arena *a, cst_traj *t, const double *state, const cst_motion *w);
/* Tag and length of state n, also where it is not kept */
double cst_traj_tag(const cst_traj *t, long n, double *h);

#endif
