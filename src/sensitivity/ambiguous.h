/* SPDX-License-Identifier: MIT
 *
 * Reactions that are not unique, because rows depend on each other: ambiguous.c. */
#ifndef CST_SENSITIVITY_AMBIGUOUS_H
#define CST_SENSITIVITY_AMBIGUOUS_H

#include "integrator/run.h"

/* Objectives that read reactions which are not unique: ambiguous (objectives) is set to 1. */
cst_status cst_find_ambiguous(cst_run *r, unsigned char *ambiguous, cst_diag *d);

/* Says which components those are, and what is unique beside them. */
cst_status cst_ambiguous_tell(cst_run *r, const unsigned char *objectives, cst_diag *d);

/* The same for components of measures. ambiguous (2 x components): the first half says which are
 * asked about, and then which of them are not unique; the other is scratch. */
cst_status cst_find_ambiguous_measures(cst_run *r, unsigned char *ambiguous, cst_diag *d);

#endif
