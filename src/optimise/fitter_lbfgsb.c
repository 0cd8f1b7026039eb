/* SPDX-License-Identifier: MIT */
#include "optimise/fitter_adjoint.h"

static void run(cst_least *p) { cst_fitter_by(p, "lbfgsb"); }

const cst_fitter cst_fitter_lbfgsb = {
    .name = "lbfgsb",
    .summary = "L-BFGS-B on the sum of squares with the adjoint gradient",
    .iterations = 1000,
    .run = run,
};
