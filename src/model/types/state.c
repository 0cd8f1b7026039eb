/* SPDX-License-Identifier: MIT
 *
 * A scalar state of the user's own, z' = rate: filters, controllers, actuators. */
#include "model/types/types.h"

enum { RATE, INITIAL };

static const cst_field field[] = {
    {"rate", CST_F_EXPR, "1", CST_ANY, NULL, "z': expression of t, measures, states and the state itself by its name"},
    {"initial", CST_F_NUMBER, "1", CST_ANY, "0", "z at the start"},
    {0},
};

static void build(cst_loader *L, const char *name, cst_where where, const cst_arg *arg)
{
    cst_add_expression_force(L, name, "state", where, 0, NULL, NULL, 1, &arg[RATE].num, &arg[INITIAL].num);
}

const cst_type cst_type_state = {
    "forces", "state", "a state z with z' = rate, that expressions read by its name",
    "For example a first-order filter of the measure x:  rate: (x - lag)/T  in the state `lag`.", field, build,
};
