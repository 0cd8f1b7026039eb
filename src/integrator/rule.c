/* SPDX-License-Identifier: MIT */
#include "integrator/rule.h"

#include <string.h>

#define CST_RULE(name) extern const cst_rule cst_rule_##name;
#include "integrator/rules.def"
#undef CST_RULE

static const cst_rule *const rules[] = {
#define CST_RULE(name) &cst_rule_##name,
#include "integrator/rules.def"
#undef CST_RULE
};

const cst_rule cst_rule_newmark = {
    .name = "newmark",
    .doc = "Newmark's trapezoidal rule with velocity projection and recomputed accelerations: order 2, the default",
    .end = 0.5,
    .adaptive = 2,
    .order = 3,
    .step = cst_index3_step,
    .tangent = cst_tangent_step,
    .prepare = cst_adjoint_prepare,
    .adjoint = cst_adjoint_step,
};

const cst_rule *cst_rule_at(int i) { return i >= 0 && i < (int)(sizeof rules / sizeof *rules) ? rules[i] : NULL; }

const cst_rule *cst_rule_find(const char *name)
{
    const cst_rule *r;
    for (int i = 0; (r = cst_rule_at(i)); i++)
        if (strcmp(r->name, name) == 0) return r;
    return NULL;
}

void cst_index3_choose(cst_arena *a, cst_index3 *w, const cst_rule *rule, cst_equations eq, const cst_charts *charts)
{
    w->charts = charts;
    if (charts) w->chart = cst_chart_work_new(a, w);
    w->rule = rule, w->eq = eq, w->end = rule->end;
    if (rule->open) rule->open(a, w);
}
