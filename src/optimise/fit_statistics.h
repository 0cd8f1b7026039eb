/* SPDX-License-Identifier: MIT
 *
 * How well least squares determine their unknowns. */
#ifndef CST_OPTIMISE_FIT_STATISTICS_H
#define CST_OPTIMISE_FIT_STATISTICS_H

#include "costate.h"
#include "optimise/fitter.h"

/* Fills error, low, high and known of the estimates and everything from `variance` on, except
 * `fitted`. The Jacobian is that at the solution p->x. 0: LAPACK fails */
int cst_fit_judge(const cst_least *p, int noise_known, double confidence, cst_estimate *e,
                  cst_fit_result *out);

/* Quantiles of the normal distribution, and of Student's with nu degrees of freedom */
double cst_normal_quantile(double p);
double cst_student_quantile(double p, double nu);

#endif
