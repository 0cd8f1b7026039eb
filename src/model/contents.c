/* SPDX-License-Identifier: MIT
 *
 * What a model contains, for programs. */
#include "model/model.h"

#include <stdio.h>

int cst_model_number_count(const cst_model *m) { return m->leaf.n; }
const char *cst_model_number_name(const cst_model *m, int i) { return m->leaf.at[i].name; }
double cst_model_number_value(const cst_model *m, int i) { return cst_leaf_nominal(m->graph, i); }
const char *cst_model_number_unit(const cst_model *m, int i) { return m->leaf.at[i].unit; }
const char *cst_model_number_place(const cst_model *m, int i, int *line, int *column)
{
    const cst_where *w = &m->leaf.at[i].where;
    *line = w->line, *column = w->col;
    return w->file;
}
void cst_model_number_range(const cst_model *m, int i, double *lower, double *upper)
{
    *lower = m->leaf.at[i].lo, *upper = m->leaf.at[i].hi;
}
int cst_model_number_find(const cst_model *m, const char *name)
{
    return cst_map_get(&m->leaf_names, name);
}
int cst_model_measure_count(const cst_model *m) { return m->component.n; }
const char *cst_model_measure_name(const cst_model *m, int i) { return m->component.at[i].name; }
const char *cst_model_measure_unit(const cst_model *m, int i) { return m->component.at[i].unit; }
int cst_model_objective_count(const cst_model *m) { return m->objective.n; }
const char *cst_model_objective_name(const cst_model *m, int i) { return m->objective.at[i].name; }
const char *cst_model_objective_definition(const cst_model *m, int i)
{
    return m->objective.at[i].label.text;
}
const char *cst_model_objective_doc(const cst_model *m, int i)
{
    return m->objective.at[i].label.doc;
}
void cst_model_objective_unit(const cst_model *m, int i, char *to, size_t n)
{
    snprintf(to, n, "%s", m->objective.at[i].unit);
}
