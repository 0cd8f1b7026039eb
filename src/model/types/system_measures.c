/* SPDX-License-Identifier: MIT
 *
 * Measures of the whole system: energy, violation. */
#include "model/types/types.h"

static const cst_field no_field[] = {
    {0},
};

static cst_id system_channel(cst_loader *L, int index)
{
    return cst_num_channel(cst_loader_graph(L), CST_CH_SYSTEM, index, 0);
}

/* sum f . x' + dV/dt: the power that the force supplies to the motion, apart from the change of its
 * stored energy. The force is read as it acted, so that at a jump it is the one on the correct side
 * of the event. */
static cst_id gain(cst_loader *L, const cst_stored *s)
{
    cst_graph *g = cst_loader_graph(L);
    const cst_model *m = cst_loader_model(L);
    const cst_force *f = &m->force.at[s->force];
    cst_id sum = cst_num_rate(g, s->energy);
    for (int k = 0; k < f->nslot; k++)
        for (int c = 0; c < m->slot.at[f->slot[k]].dim; c++)
            sum = cst_num_add(g, sum,
                              cst_num_mul(g, cst_force_channel(L, s->force, k, c),
                                          cst_x1(L, f->slot[k], c, 1)));
    return sum;
}

static void energy_build(cst_loader *L, const char *name, cst_where where, const cst_arg *arg)
{
    (void)arg;
    cst_graph *g = cst_loader_graph(L);
    const cst_model *model = cst_loader_model(L);
    cst_id T = system_channel(L, CST_SYS_KINETIC), V = system_channel(L, CST_SYS_POTENTIAL);
    cst_id power = system_channel(L, CST_SYS_DISSIPATION);
    for (int i = 0; i < model->stored.n; i++) {
        V = cst_num_add(g, V, model->stored.at[i].energy);
        power = cst_num_sub(g, power, gain(L, &model->stored.at[i]));
    }
    int m = cst_measure_begin(L, name, "energy", where);
    cst_measure_add(L, m, "kinetic", "J", T);
    cst_measure_add(L, m, "potential", "J", V);
    cst_measure_add(L, m, "total", "J", cst_num_add(g, T, V));
    cst_measure_add(L, m, "dissipated", "J", cst_add_quad(L, where, power));
}

const cst_type cst_type_energy = {
    .section = "measures",
    .keyword = "energy",
    .summary = "energies of the system: kinetic, potential, total, dissipated",
    .notes =
        "Potential: gravity and elements that have a potential (springs, torsion springs and "
        "bushings without a law, stops, beams). Dissipated: what their damping has taken out since "
        "the start. Forces by a law or an expression are in neither: costate check names them.",
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
