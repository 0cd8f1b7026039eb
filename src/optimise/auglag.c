/* SPDX-License-Identifier: MIT
 *
 * Augmented Lagrangian (Birgin and Martinez) around an inner method without constraints, from
 * NLopt. */
#include <string.h>

#include "optimise/nlopt_run.h"

static void run(cst_search *s)
{
    static const struct {
        const char *name;
        nlopt_algorithm method;
    } table[] = {{"lbfgs", NLOPT_LD_LBFGS}, {"mma", NLOPT_LD_MMA}, {"slsqp", NLOPT_LD_SLSQP}};
    const char *inner = s->o.inner ? s->o.inner : s->n <= 100 ? "slsqp" : "lbfgs";
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (strcmp(table[i].name, inner) == 0) {
            cst_nlopt_run(s, NLOPT_AUGLAG, table[i].method);
            return;
        }
    s->status = cst_error(s->d, CST_USAGE, (cst_where){0},
                          "auglag has the inner methods lbfgs, mma and slsqp, not '%s'", inner);
    cst_search_end(s, CST_BROKEN, "unknown inner method");
}

const cst_optimiser cst_optimiser_auglag = {
    .name = "auglag",
    .summary = "AUGLAG: augmented Lagrangian; all constraints; inner: lbfgs, mma or slsqp",
    .constraints = 1,
    .wraps = 1,
    .run = run,
};
