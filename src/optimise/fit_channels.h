/* SPDX-License-Identifier: MIT
 *
 * How well each channel fits, and what may be wrong with one that does not. */
#ifndef CST_OPTIMISE_FIT_CHANNELS_H
#define CST_OPTIMISE_FIT_CHANNELS_H

#include "costate.h"
#include "problem/fit.h"

/* first, last: residuals (m) at the start and at the end of the search. Returns (n) */
cst_fit_channel *cst_fit_channels(cst_arena *a, const cst_fit *f, const double *first,
                                  const double *last, int *n);

#endif
