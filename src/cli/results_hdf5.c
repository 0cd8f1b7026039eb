/* SPDX-License-Identifier: MIT
 *
 * results.h5: what was run, the histories of all measures, objectives, statistics. */
#define _XOPEN_SOURCE 700 /* realpath */
#include <stdlib.h>

#include "cli/session.h"

static void write_options(cst_session *s, cst_hdf5 *h)
{
    const cst_options *o = &s->options;
    const cst_sim *sim = &s->model->sim;
    const char **set;
    int n = cst_args_list(s->args, "set", &set);
    cst_hdf5_group(h, "options");
    cst_hdf5_attribute_number(h, "options", "start", o->start);
    cst_hdf5_attribute_number(h, "options", "end", o->end);
    cst_hdf5_attribute_number(h, "options", "step", o->step);
    cst_hdf5_attribute_number(h, "options", "output", o->output);
    cst_hdf5_attribute_text(h, "options", "formulation", s->run->options.formulation);
    cst_hdf5_attribute_text(h, "options", "integrator", s->run->options.integrator);
    cst_hdf5_attribute_text(h, "options", "events", cst_session_word(s, "events", sim->events));
    cst_hdf5_attribute_text(h, "options", "newton", o->full_newton ? "full" : "modified");
    cst_hdf5_texts(h, "options/set", n, set);
}

/* Every number of the file: what the run was made of. */
static void write_numbers(cst_session *s, cst_hdf5 *h)
{
    const cst_model *m = s->model;
    size_t n = (size_t)m->leaf.n;
    const char **name = cst_new(s->arena, const char *, n + 1),
               **unit = cst_new(s->arena, const char *, n + 1),
               **place = cst_new(s->arena, const char *, n + 1);
    double *value = cst_new(s->arena, double, n + 1);
    for (int i = 0; i < m->leaf.n; i++) {
        const cst_leaf *l = &m->leaf.at[i];
        name[i] = l->name, unit[i] = l->unit ? l->unit : "1",
        value[i] = cst_model_number_value(m, i);
        place[i] = cst_arena_printf(s->arena, "%s:%d:%d", l->where.file ? l->where.file : "",
                                    l->where.line, l->where.col);
    }
    cst_hdf5_group(h, "numbers");
    cst_hdf5_texts(h, "numbers/name", m->leaf.n, name);
    cst_hdf5_numbers(h, "numbers/value", m->leaf.n, 0, n ? value : NULL, NULL);
    cst_hdf5_texts(h, "numbers/unit", m->leaf.n, unit);
    cst_hdf5_texts(h, "numbers/place", m->leaf.n, place);
}

cst_hdf5 *cst_results_hdf5_open(cst_session *s, int *failed)
{
    const cst_model *m = s->model;
    char whole[4096 + 1] = ""; /* PATH_MAX */
    *failed = 0;
    if (!cst_args_flag(s->args, "hdf5")) return NULL;
    cst_hdf5 *h = cst_hdf5_open(s->arena, cst_session_path(s, "results.h5"), &s->diag);
    if (!h) {
        *failed = 1;
        return NULL;
    }
    cst_hdf5_attribute_number(h, "", "layout", 1);
    cst_hdf5_attribute_text(h, "", "costate", cst_version());
    cst_hdf5_attribute_text(h, "", "command", s->args->command->name);
    cst_hdf5_attribute_text(h, "", "model", m->name);
    cst_hdf5_attribute_text(h, "", "file", s->args->operand.at[0]);
    cst_hdf5_attribute_text(h, "", "path", realpath(s->args->operand.at[0], whole) ? whole : NULL);
    write_options(s, h);
    write_numbers(s, h);
    return h;
}

void cst_results_hdf5_series(cst_hdf5 *h, cst_arena *a, const cst_model *m, const char *group)
{
    const char **name = cst_new(a, const char *, m->component.n + 1);
    const char **unit = cst_new(a, const char *, m->component.n + 1);
    for (int i = 0; i < m->component.n; i++)
        name[i] = m->component.at[i].name, unit[i] = m->component.at[i].unit;
    cst_hdf5_series_begin(h, group, m->component.n, name, unit);
}

void cst_results_hdf5_objectives(cst_hdf5 *h, cst_arena *a, const cst_model *m, const char *group,
                                 const double *value)
{
    const char *path = cst_arena_printf(a, "%s%sobjectives", group, *group ? "/" : "");
    cst_hdf5_group(h, path);
    for (int i = 0; i < m->objective.n && value; i++)
        cst_hdf5_numbers(h,
                         cst_arena_printf(a, "%s/%s", path,
                                          cst_hdf5_name(h, m->objective.at[i].name)),
                         0, 0, value + i, NULL);
}

cst_hdf5 *cst_results_hdf5_begin(cst_session *s, int *failed)
{
    cst_hdf5 *h = cst_results_hdf5_open(s, failed);
    if (h) cst_results_hdf5_series(h, s->arena, s->model, "");
    return h;
}

int cst_results_hdf5_end(cst_session *s, cst_hdf5 *h, cst_status status)
{
    const cst_model *m = s->model;
    const cst_stats n = cst_run_stats(s->run);
    cst_hdf5_series_end(h);
    cst_hdf5_attribute_text(h, "", "status", cst_status_text(status));
    double *value = cst_new(s->arena, double, m->objective.n + 1);
    for (int i = 0; i < m->objective.n && status == CST_OK; i++)
        value[i] = cst_run_objective(s->run, i);
    cst_results_hdf5_objectives(h, s->arena, m, "", status == CST_OK ? value : NULL);
    cst_hdf5_group(h, "stats");
    cst_hdf5_attribute_number(h, "stats", "steps", (double)n.steps);
    cst_hdf5_attribute_number(h, "stats", "iterations", (double)n.iterations);
    cst_hdf5_attribute_number(h, "stats", "factorizations", (double)n.factorizations);
    cst_hdf5_attribute_number(h, "stats", "shortened_steps", (double)n.shortened);
    cst_hdf5_attribute_number(h, "stats", "time", n.time);
    cst_hdf5_attribute_number(h, "stats", "drift", n.drift);
    cst_hdf5_attribute_number(h, "stats", "events", (double)n.events);
    cst_hdf5_attribute_number(h, "stats", "kinks", (double)n.kinks);
    cst_hdf5_attribute_number(h, "stats", "forward_s", n.forward_s);
    return cst_hdf5_close(h, &s->diag);
}
