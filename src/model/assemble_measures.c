/* SPDX-License-Identifier: MIT
 *
 * Measures, running integrals and functionals of the run. */
#include "model/loader.h"

int cst_measure_begin(cst_loader *L, const char *name, const char *type, cst_where w)
{
    cst_model *m = L->m;
    int e = cst_map_get(&L->names[CST_SEC_MEASURE], name);
    if (e >= 0) L->entity.at[e]->index = m->measure.n;
    *cst_push(L->arena, &m->measure) = (cst_measure){.name = cst_arena_strdup(L->arena, name),
                                                     .type = type,
                                                     .where = cst_loader_place(L, w),
                                                     .first = m->component.n};
    return m->measure.n - 1;
}

void cst_measure_add(cst_loader *L, int measure, const char *component, const char *unit,
                     cst_id value)
{
    cst_measure *e = &L->m->measure.at[measure];
    const char *name = e->name;
    if (component[0]) name = cst_arena_printf(L->arena, "%s.%s", e->name, component);
    cst_map_put(L->scratch, &L->component, name, L->m->component.n);
    *cst_push(L->arena, &L->m->component) =
        (cst_component){.name = name, .unit = unit, .value = value};
    e->n++;
}

/* Measures are made when they are first named; the model lists them as the file does. */
void cst_measures_sort(cst_loader *L)
{
    cst_model *m = L->m;
    cst_measure *measure = cst_new(L->arena, cst_measure, m->measure.n);
    cst_component *component = cst_new(L->arena, cst_component, m->component.n);
    int nm = 0, nc = 0;
    for (int i = 0; i < L->entity.n; i++) {
        const cst_entity *e = L->entity.at[i];
        if (e->section != CST_SEC_MEASURE || e->index < 0) continue;
        cst_measure *to = &measure[nm++];
        *to = m->measure.at[e->index];
        for (int k = 0; k < to->n; k++) component[nc + k] = m->component.at[to->first + k];
        to->first = nc;
        nc += to->n;
    }
    m->measure.at = measure;
    m->component.at = component;
    m->measure.n = m->measure.cap = nm;
    m->component.n = m->component.cap = nc;
}

cst_id cst_add_quad(cst_loader *L, cst_where w, cst_id rate)
{
    rate = cst_switched_integrand(L, w, rate);
    *cst_push(L->arena, &L->m->quad) =
        (cst_quad){rate, cst_num_depends(L->g, rate, CST_CH_QUAD, -1)};
    return cst_num_channel(L->g, CST_CH_QUAD, L->m->quad.n - 1, 0);
}

cst_id cst_functional_add(cst_loader *L, cst_functional_kind kind, cst_id value, cst_id time,
                          cst_where w)
{
    *cst_push(L->arena, &L->m->functional) = (cst_functional){.kind = kind,
                                                              .value = value,
                                                              .time = time,
                                                              .where = cst_loader_place(L, w)};
    return cst_num_channel(L->g, CST_CH_RESULT, L->m->functional.n - 1, 0);
}

cst_id cst_norm_add(cst_loader *L, cst_id size, double p)
{
    cst_id unit = cst_num_channel(L->g, CST_CH_MEM, L->m->memory.n, 0);
    *cst_push(L->arena, &L->m->norm) = (cst_norm){size, p, L->m->memory.n};
    cst_push(L->arena, &L->m->memory)->value = unit; /* constant at the value the run sets */
    return unit;
}
