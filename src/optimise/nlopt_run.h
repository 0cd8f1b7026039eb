/* SPDX-License-Identifier: MIT
 *
 * A search by one of NLopt's methods. */
#ifndef CST_OPTIMISE_NLOPT_RUN_H
#define CST_OPTIMISE_NLOPT_RUN_H

#include <nlopt.h>

#include "optimise/search.h"

/* inner: of NLOPT_AUGLAG; else ignored */
void cst_nlopt_run(cst_search *s, nlopt_algorithm method, nlopt_algorithm inner);

#endif
