/* SPDX-License-Identifier: MIT */
#include "integrator/rule.h"

#include <string.h>

#define CST_RULE(rule, name) extern const cst_rule cst_rule_##rule;
#include "integrator/rules.def"
#undef CST_RULE

static const cst_rule *const rules[] = {
#define CST_RULE(rule, name) &cst_rule_##rule,
#include "integrator/rules.def"
#undef CST_RULE
};

const cst_rule *cst_rule_at(int i) { return i >= 0 && i < (int)(sizeof rules / sizeof *rules) ? rules[i] : NULL; }

const cst_rule *cst_rule_find(const char *name)
{
    const cst_rule *r;
    for (int i = 0; (r = cst_rule_at(i)); i++)
        if (strcmp(r->name, name) == 0) return r;
    return NULL;
}

void cst_motion_choose(cst_arena *a, cst_motion *w, const cst_rule *rule, cst_equations eq, const cst_charts *charts)
{
    w->charts = charts;
    if (charts) w->chart = cst_chart_work_new(a, w);
    w->rule = rule, w->eq = eq, w->end = rule->end;
    if (rule->open) rule->open(a, w);
}
