/* SPDX-License-Identifier: MIT
 *
 * Measures of the whole system: energy, violation. */
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
