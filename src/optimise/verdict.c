/* SPDX-License-Identifier: MIT
 *
 * The verdict: what is true of the best point, whatever the optimiser has reported. With the sizes
 * of that point (sizes.c) all constraints must hold, those that were left out too, and the gradient
 * of the Lagrangian must vanish with multipliers of its own (kkt.c), and the objective must not
 * fall along a direction from there (curvature.c). Only then a search has converged; otherwise the
 * nearest true sentence says what has happened. */
#include "optimise/search.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void say(cst_optimum *to, cst_outcome outcome, const char *reason)
{
    to->outcome = outcome;
    snprintf(to->reason, sizeof to->reason, "%s", reason);
}

static void judge_stationary(const cst_search *s, cst_optimum *to)
{
    if (s->best.saddle)
        say(to, CST_STALLED,
            "the point is stationary, but no minimum: the objective falls along a direction from "
            "it");
    else
        say(to, CST_CONVERGED,
            s->outcome == CST_CONVERGED ? s->reason : "the optimality conditions hold");
}

static void judge_not_stationary(const cst_search *s, cst_optimum *to)
{
    if (s->outcome != CST_CONVERGED && s->outcome != CST_INFEASIBLE) {
        say(to, s->outcome, s->reason); /* a limit, no progress, no bound: true as it is */
        return;
    }
    to->outcome = s->rough ? CST_LIMIT : CST_STALLED;
    snprintf(to->reason, sizeof to->reason,
             "%s reports that %s, but the point is stationary to %.2g only", s->o.method,
             s->outcome == CST_CONVERGED ? s->reason : "no feasible point exists",
             to->stationarity);
}

static void judge_infeasible(const cst_search *s, cst_optimum *to)
{
    to->outcome = CST_INFEASIBLE;
    if (s->outcome == CST_LIMIT)
        snprintf(to->reason, sizeof to->reason,
                 "%s, and a constraint is violated by %.2g of its size", s->reason, to->violation);
    else
        snprintf(to->reason, sizeof to->reason,
                 "a constraint is violated by %.2g of its size, and %s finds nothing better",
                 to->violation, s->o.method);
}

static cst_limit_state state_of(const cst_search *s, int j)
{
    const int side = cst_search_side(s, j);
    if (cst_search_violation_of(s, s->best.c, s->best.dc, j) > s->o.feasible)
        return CST_LIMIT_VIOLATED;
    return s->redundant[j] ? CST_LIMIT_REDUNDANT
           : side == 2     ? CST_LIMIT_EQUALITY
           : side          ? CST_LIMIT_ACTIVE
                           : CST_LIMIT_INACTIVE;
}

void cst_search_judge(cst_search *s, cst_optimum *to)
{
    double *multiplier = to->multiplier;
    cst_sizes_renew(s);
    *to = (cst_optimum){.x = to->x,
                        .c = to->c,
                        .multiplier = multiplier,
                        .state = to->state,
                        .iterations = s->iterations,
                        .evaluations = s->evaluations,
                        .failures = s->failures,
                        .replayed = s->replayed,
                        .f = s->best.f,
                        .violation = s->best.violation};
    memcpy(to->failure, s->failure, sizeof to->failure);
    memcpy(to->x, s->best.x, sizeof *to->x * (size_t)s->n);
    if (s->m) memcpy(to->c, s->best.c, sizeof *to->c * (size_t)s->m);
    for (int j = 0; to->state && j < s->m; j++) to->state[j] = state_of(s, j);
    to->stationarity = cst_search_stationarity(s, multiplier);
    const int holds = to->violation <= s->o.feasible,
              stationary = to->stationarity <= fmax(CST_STATIONARY, s->o.gradient);
    if (s->outcome == CST_INTERRUPTED || s->outcome == CST_BROKEN ||
        (s->outcome == CST_TARGET && holds))
        say(to, s->outcome, s->reason);
    else if (!holds)
        judge_infeasible(s, to);
    else if (stationary &&
             s->outcome != CST_LIMIT) /* at a limit the last curvature has not been looked at */
        judge_stationary(s, to);
    else
        judge_not_stationary(s, to);
}
