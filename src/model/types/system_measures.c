/* SPDX-License-Identifier: MIT
 *
 * Measures of the whole system (energy, violation), and states of the user's own. */
#include "model/types/types.h"

static const cst_field no_field[] = {{0}};

static cst_id system_channel(cst_loader *L, int index)
{
    return cst_num_channel(cst_loader_graph(L), CST_CH_SYSTEM, index, 0);
}

static void energy_build(cst_loader *L, const char *name, cst_where where, const cst_arg *arg)
{
    (void)arg;
    cst_id T = system_channel(L, CST_SYS_KINETIC), V = system_channel(L, CST_SYS_POTENTIAL);
    int m = cst_measure_begin(L, name, "energy", where);
    cst_measure_add(L, m, "kinetic", "J", T);
    cst_measure_add(L, m, "potential", "J", V);
    cst_measure_add(L, m, "total", "J", cst_num_add(cst_loader_graph(L), T, V));
    cst_measure_add(L, m, "dissipated", "J", cst_add_quad(L, system_channel(L, CST_SYS_DISSIPATION)));
}

const cst_type cst_type_energy = {
    .section = "measures",
    .keyword = "energy",
    .summary = "energies of the system: kinetic, potential, total, dissipated",
    .notes = "Potential: gravity and elements that have a potential (springs and bushings without a law). "
             "Dissipated: what their damping has taken out since the start.",
    .field = no_field,
    .build = energy_build,
};

static void violation_build(cst_loader *L, const char *name, cst_where where, const cst_arg *arg)
{
    (void)arg;
    cst_measure_add(L, cst_measure_begin(L, name, "violation", where), "", "1",
                    system_channel(L, CST_SYS_VIOLATION));
}

const cst_type cst_type_violation = {
    .section = "measures",
    .keyword = "violation",
    .summary = "largest residual of all constraint rows, redundant ones included",
    .field = no_field,
    .build = violation_build,
};

/* ---- state: z' = rate(z, ..) ---- */

enum { RATE, INITIAL };

static const cst_field state_field[] = {
    {"rate", CST_F_LAW, "1", CST_ANY, NULL, "z': expression of t and measures; s in it is the state itself"},
    {"initial", CST_F_NUMBER, "1", CST_ANY, "0", "z at the start"},
    {0},
};

static cst_id own_state(void *ctx, const cst_channel *c)
{
    return c->kind == CST_CH_ARG && c->index == 0 ? *(cst_id *)ctx : CST_NONE;
}

static void state_build(cst_loader *L, const char *name, cst_where where, const cst_arg *arg)
{
    cst_id z = cst_state_channel(L, 0);
    cst_id rate = cst_num_substitute(cst_loader_graph(L), arg[RATE].num, own_state, &z);
    /* the name has a blank, so that no force of the file can have it */
    const char *owner = cst_arena_printf(cst_loader_arena(L), "state %s", name);
    if (cst_add_expression_force(L, owner, "state", where, 0, (int[]){0}, &rate, 1, &rate,
                                 &arg[INITIAL].num) < 0)
        return;
    cst_measure_add(L, cst_measure_begin(L, name, "state", where), "", "1", z);
}

const cst_type cst_type_state = {
    .section = "measures",
    .keyword = "state",
    .summary = "a state of your own, z' = rate: filters, observers, running averages",
    .notes = "For example a first-order filter of the measure x with time constant T:  rate: (x - s)/T. "
             "Other elements cannot read it: it is for measures and objectives.",
    .field = state_field,
    .build = state_build,
};
