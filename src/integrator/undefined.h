/* SPDX-License-Identifier: MIT
 *
 * Measures and objectives that are not finite. */
#ifndef CST_INTEGRATOR_UNDEFINED_H
#define CST_INTEGRATOR_UNDEFINED_H

#include "integrator/run.h"

cst_undefined *cst_undefined_new(cst_arena *a, const cst_model *m);
void cst_undefined_begin(cst_run *r);
/* State `index` at time t, whose outputs and functionals have been evaluated */
void cst_undefined_state(cst_run *r, double t, long index);
/* What of the last run is not finite, once: measures if somebody observes them, objectives */
void cst_undefined_tell(cst_run *r, cst_diag *d);

#endif
