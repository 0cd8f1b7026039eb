/* SPDX-License-Identifier: MIT
 *
 * Least squares by an optimiser that knows nothing of residuals: it sees f = sum r^2 and the
 * gradient of one backward sweep per experiment. */
#ifndef CST_OPTIMISE_FITTER_ADJOINT_H
#define CST_OPTIMISE_FITTER_ADJOINT_H

#include "optimise/fitter.h"

void cst_fitter_by(cst_least *p, const char *optimiser);

#endif
