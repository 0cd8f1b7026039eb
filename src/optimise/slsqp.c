/* SPDX-License-Identifier: MIT
 *
 * Sequential least-squares quadratic programming (Kraft), from NLopt. */
#include "optimise/nlopt_run.h"

static void run(cst_search *s) { cst_nlopt_run(s, NLOPT_LD_SLSQP, NLOPT_LD_SLSQP); }

const cst_optimiser cst_optimiser_slsqp = {
    .name = "slsqp",
    .summary =
        "SLSQP: sequential quadratic programming; all constraints; up to some hundred variables",
    .constraints = 1,
    .run = run,
};
