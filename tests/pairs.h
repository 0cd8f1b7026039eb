/* SPDX-License-Identifier: MIT
 *
 * Every formulation with every integrator that it takes. own: only those with steps of their own;
 * the others are in test_cvodes.c. */
#ifndef CST_TESTS_PAIRS_H
#define CST_TESTS_PAIRS_H

#include "formulation/formulation.h"
#include "integrator/rule.h"

#include <stdio.h>
#include <string.h>

typedef void (*pair_law)(const cst_formulation *f, const char *integrator, void *ctx);

static inline void for_each_pair(int own, pair_law law, void *ctx)
{
    const cst_formulation *f;
    char name[32];
    for (int i = 0; (f = cst_formulation_at(i)); i++)
        for (const char *s = f->integrators; *s;) {
            size_t n = strcspn(s, "|");
            snprintf(name, sizeof name, "%.*s", (int)n, s);
            if (!own || cst_rule_find(name)->adjoint) law(f, name, ctx);
            s += n + (s[n] == '|');
        }
}

#endif
