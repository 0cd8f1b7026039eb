/* SPDX-License-Identifier: MIT
 *
 * The optimisation in results.h5: /design, /constraints, /history, and at the best design /time,
 * /measures and /objectives; with scenarios these stand in /scenarios/NAME. */
#include "cli/optimize.h"

const char *cst_optimize_hdf5_group(cst_optimize_job *job, const cst_case *c)
{
    if (!*c->scenario->name) return "";
    const char *group = cst_arena_printf(job->s->arena, "scenarios/%s",
                                         cst_hdf5_name(job->hdf5, c->scenario->name));
    cst_hdf5_group(job->hdf5, group);
    cst_hdf5_attribute_number(job->hdf5, group, "weight", c->scenario->weight);
    return group;
}

static void write_design(const cst_optimize_job *job)
{
    enum { VALUE, START, LOWER, UPPER, SCALE, COLUMNS };
    static const char *const title[COLUMNS] = {"value", "start", "lower", "upper", "scale"};
    cst_arena *a = job->s->arena;
    const int n = job->nlp->n;
    const char **name = cst_new(a, const char *, n + 1), **unit = cst_new(a, const char *, n + 1);
    const double *const column[COLUMNS] = {job->best.x, job->nlp->start, job->nlp->lower,
                                           job->nlp->upper, job->nlp->scale};
    for (int i = 0; i < n; i++) {
        const cst_variable *v = &job->p->design->variable.at[i];
        name[i] = v->name, unit[i] = v->unit ? v->unit : "1";
    }
    cst_hdf5_group(job->hdf5, "design");
    cst_hdf5_texts(job->hdf5, "design/name", n, name);
    cst_hdf5_texts(job->hdf5, "design/unit", n, unit);
    for (int k = 0; k < COLUMNS; k++)
        cst_hdf5_numbers(job->hdf5, cst_arena_printf(a, "design/%s", title[k]), n, 0, column[k],
                         NULL);
}

static void write_constraints(const cst_optimize_job *job)
{
    enum { VALUE, LOWER, UPPER, MULTIPLIER, COLUMNS };
    static const char *const title[COLUMNS] = {"value", "lower", "upper", "multiplier"};
    cst_arena *a = job->s->arena;
    const int m = job->nlp->m;
    const char **name = cst_new(a, const char *, m + 1);
    const double *const column[COLUMNS] = {job->best.c, job->nlp->c_lower, job->nlp->c_upper,
                                           job->best.multiplier};
    if (!m) return;
    for (int j = 0; j < m; j++) name[j] = cst_problem_constraint(job->p, j);
    cst_hdf5_group(job->hdf5, "constraints");
    cst_hdf5_texts(job->hdf5, "constraints/name", m, name);
    for (int k = 0; k < COLUMNS; k++)
        cst_hdf5_numbers(job->hdf5, cst_arena_printf(a, "constraints/%s", title[k]), m, 0,
                         column[k], NULL);
}

static void write_history(const cst_optimize_job *job)
{
    enum { ITERATION, EVALUATIONS, FAILURES, STAGE, OBJECTIVE, VIOLATION, STEP, COLUMNS };
    static const char *const title[COLUMNS] = {"iteration", "evaluations", "failures", "stage",
                                               "objective", "violation",   "step"};
    cst_arena *a = job->s->arena;
    const int rows = job->history.n, n = job->nlp->n, m = job->nlp->m;
    double *column = cst_new(a, double, (size_t)COLUMNS *rows + 1);
    double *x = cst_new(a, double, (size_t)rows *n + 1),
           *c = cst_new(a, double, (size_t)rows *m + 1);
    for (int k = 0; k < rows; k++) {
        const cst_history_row *r = &job->history.at[k];
        const double row[COLUMNS] = {r->iteration, r->evaluations, r->failures, r->stage + 1,
                                     r->f,         r->violation,   r->step};
        for (int i = 0; i < COLUMNS; i++) column[i * rows + k] = row[i];
        for (int i = 0; i < n; i++) x[k * n + i] = r->x[i];
        for (int j = 0; j < m; j++) c[k * m + j] = r->c[j];
    }
    cst_hdf5_group(job->hdf5, "history");
    for (int i = 0; i < COLUMNS; i++)
        cst_hdf5_numbers(job->hdf5, cst_arena_printf(a, "history/%s", title[i]), rows, 0,
                         column + i * rows, NULL);
    cst_hdf5_numbers(job->hdf5, "history/design", rows, n, x, NULL);
    if (m) cst_hdf5_numbers(job->hdf5, "history/constraints", rows, m, c, NULL);
}

int cst_optimize_hdf5_begin(cst_optimize_job *job)
{
    int failed;
    job->hdf5 = cst_results_hdf5_open(job->s, &failed);
    if (job->hdf5 && *job->p->at[0].scenario->name) cst_hdf5_group(job->hdf5, "scenarios");
    return !failed;
}

int cst_optimize_hdf5_end(cst_optimize_job *job)
{
    cst_hdf5 *h = job->hdf5;
    if (!h) return 1;
    cst_hdf5_attribute_text(h, "", "status", cst_outcome_text(job->best.outcome));
    cst_hdf5_attribute_text(h, "", "reason", job->best.reason);
    cst_hdf5_attribute_text(h, "", "method", job->search.method);
    write_design(job);
    write_constraints(job);
    write_history(job);
    job->hdf5 = NULL;
    return cst_hdf5_close(h, &job->s->diag);
}
