/* SPDX-License-Identifier: MIT */
#include "integrator/rule.h"

#include <math.h>
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

cst_status cst_motion_step(cst_motion *w, const cst_state *y0, double h, cst_state *y1)
{
    if (!w->controls && !(fabs(h - w->tried) <= 1e-6 * h)) cst_motion_forget(w);
    w->tried = h, w->began_noise = w->noise, w->since = w->clean ? 0 : w->since + 1, w->began = w->clean ? 1 + w->direct_projection + CST_DIRECT_MOST * w->direct_next : 0, w->clean = 0;
    return cst_rule_of(w, h)->step(w, y0, h, y1);
}

void cst_motion_choose(cst_arena *a, cst_motion *w, const cst_rule *rule, cst_equations eq, const cst_charts *charts)
{
    w->charts = charts;
    if (charts) w->chart = cst_chart_work_new(a, w);
    w->rule = rule, w->eq = eq, w->end = rule->end;
    if (rule->open) rule->open(a, w);
}
