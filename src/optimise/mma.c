/* SPDX-License-Identifier: MIT
 *
 * Method of moving asymptotes (Svanberg's globally convergent form), from NLopt. */
#include "optimise/nlopt_run.h"

static void run(cst_search *s) { cst_nlopt_run(s, NLOPT_LD_MMA, NLOPT_LD_MMA); }

const cst_optimiser cst_optimiser_mma = {
    .name = "mma",
    .summary = "MMA: moving asymptotes; inequality constraints; many variables",
    .constraints = 1,
    .run = run,
};
