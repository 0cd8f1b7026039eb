/* SPDX-License-Identifier: MIT */
#include "formulation/formulation.h"

#include <math.h>
#include <string.h>

static const cst_formulation formulations[] = {
#define CST_FORMULATION(name, integrators, traits, doc) {name, doc, integrators, traits},
#include "formulation/formulations.def"
#undef CST_FORMULATION
};

const cst_formulation *cst_formulation_at(int i)
{
    return i >= 0 && i < (int)(sizeof formulations / sizeof *formulations) ? &formulations[i]
                                                                           : NULL;
}

const cst_formulation *cst_formulation_find(const char *name)
{
    const cst_formulation *f;
    for (int i = 0; (f = cst_formulation_at(i)); i++)
        if (strcmp(f->name, name) == 0) return f;
    return NULL;
}

int cst_formulation_takes(const cst_formulation *f, const char *integrator)
{
    size_t n = strlen(integrator);
    for (const char *s = f->integrators; *s;) {
        size_t word = strcspn(s, "|");
        if (word == n && strncmp(s, integrator, n) == 0) return 1;
        s += word + (s[word] == '|');
    }
    return 0;
}

static double pick(double asked, double otherwise) { return isnan(asked) ? otherwise : asked; }

cst_equations cst_formulation_equations(const cst_formulation *f, double alpha, double xi,
                                        double omega)
{
    double w = pick(omega, 10), damping = pick(xi, 1);
    cst_equations e = {0};
    if (f->traits & CST_STABILISED) e.b0 = w * w, e.b1 = 2 * damping * w;
    if (f->traits & CST_COMPLIANT) e.compliance = 1 / pick(alpha, 1e9);
    e.augmented = (f->traits & CST_AUGMENTED) != 0, e.alpha = pick(alpha, 0);
    return e;
}
