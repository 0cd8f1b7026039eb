/* SPDX-License-Identifier: MIT */
#include "integrator/rule.h"
#include "integrator/rows.h"

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

const cst_rule *cst_rule_at(int i)
{
    return i >= 0 && i < (int)(sizeof rules / sizeof *rules) ? rules[i] : NULL;
}

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
    w->tried = h, w->began = w->habits;
    w->since = w->habits.clean ? 0 : w->since + 1, w->habits.clean = 0;
    return cst_rule_of(w, h)->step(w, y0, h, y1);
}

cst_motion *cst_motion_like(cst_arena *a, const cst_motion *w, cst_system *s, cst_output *out)
{
    cst_motion *x = cst_motion_new(a, s, w->st, out);
    cst_motion_choose(a, x, w->rule, w->eq, w->charts);
    cst_rows_open(a, x, w->choices);
    x->increments = w->increments, x->accuracy = w->accuracy, x->slow = w->slow,
    x->given = w->given, x->longest = w->longest, x->controls = w->controls, x->brief = w->brief,
    x->full = w->full;
    return x;
}

void cst_motion_choose(cst_arena *a, cst_motion *w, const cst_rule *rule, cst_equations eq,
                       const cst_charts *charts)
{
    w->charts = charts;
    if (charts) w->chart = cst_chart_work_new(a, w);
    w->rule = rule, w->eq = eq, w->end = rule->end;
    if (rule->open) rule->open(a, w);
}
