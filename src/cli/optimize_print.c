/* SPDX-License-Identifier: MIT
 *
 * What costate optimize shows at its end, and its comparison of gradients. */
#include "cli/optimize.h"

#include <math.h>
#include <string.h>

#define NEAR 1e-12 /* of the size of a variable: rounding beside a bound */

static void print_variables(const cst_optimize_job *job, const cst_page *p)
{
    static const char *const head[] = {"variable", "unit", "start", "best", ""};
    cst_grid g = cst_grid_new(job->s->arena, "ll..l", head);
    for (int i = 0; i < job->nlp->n; i++) {
        const cst_variable *v = &job->p->design->variable.at[i];
        double x = job->best.x[i];
        cst_grid_add(&g, "%s", v->name);
        cst_grid_add(&g, "%s", v->unit && (v->unit[0] != '1' || v->unit[1]) ? v->unit : "");
        cst_grid_add(&g, "%.10g", v->start);
        cst_grid_add(&g, "%.10g", x);
        const double near = NEAR * fmax(fabs(x), v->scale);
        cst_grid_add(&g, "%s",
                     x <= v->lower + near   ? "at its lower bound"
                     : x >= v->upper - near ? "at its upper bound"
                                            : "");
    }
    cst_grid_print(&g, p);
    cst_page_gap(p);
}

static void print_constraints(const cst_optimize_job *job, const cst_page *p)
{
    static const char *const head[] = {"constraint", "value", "", "df/dlimit"};
    if (job->nlp->m == 0) return;
    cst_grid g = cst_grid_new(job->s->arena, "l.l.", head);
    for (int j = 0; j < job->nlp->m; j++) {
        cst_grid_add(&g, "%s", cst_problem_constraint(job->p, j));
        cst_grid_add(&g, "%.10g", job->best.c[j]);
        cst_grid_add(&g, "%s", cst_limit_state_text(job->best.state[j]));
        cst_grid_number(&g, cst_constraint_active(job, j) ? job->best.multiplier[j] : NAN);
    }
    cst_grid_print(&g, p);
    cst_page_gap(p);
}

/* Constraints that the optimiser has not seen */
static void print_redundant(const cst_optimize_job *job)
{
    int count = 0;
    for (int j = 0; j < job->nlp->m; j++) {
        if (job->best.state[j] != CST_LIMIT_REDUNDANT) continue;
        printf("%s'%s'",
               count++ ? ", " : "left out of the search, because they follow from others: ",
               cst_problem_constraint(job->p, j));
    }
    if (count) printf("\n");
}

static void print_objectives(const cst_optimize_job *job, const cst_page *p)
{
    static const char *const head[] = {"objective", "unit", "start", "best", "definition"};
    cst_grid g = cst_grid_new(job->s->arena, "ll..l", head);
    int at = 0;
    for (int k = 0; k < job->p->ncase; k++) {
        const cst_case *c = &job->p->at[k];
        for (int i = 0; i < c->m->objective.n; i++, at++) {
            const cst_objective *o = &c->m->objective.at[i];
            cst_grid_add(&g, "%s%s%s", c->scenario->name, *c->scenario->name ? "." : "", o->name);
            cst_grid_add(&g, "%s", o->shown.unit);
            cst_grid_add(&g, "%.10g", job->objective_start[at] / o->shown.factor);
            cst_grid_add(&g, "%.10g", job->objective_best[at] / o->shown.factor);
            cst_grid_add(&g, "%s", cst_objective_says(job->s->arena, o));
        }
    }
    cst_grid_print(&g, p);
    cst_page_gap(p);
}

void cst_optimize_print(cst_optimize_job *job)
{
    const cst_page p = cst_page_of(stdout, 0);
    const cst_optimum *b = &job->best;
    cst_page_gap(&p);
    print_variables(job, &p);
    print_constraints(job, &p);
    print_objectives(job, &p);
    print_redundant(job);
    const char *outcome = cst_outcome_text(b->outcome);
    printf("%s%s%s\n", outcome, strcmp(outcome, b->reason) ? ": " : "",
           strcmp(outcome, b->reason) ? b->reason : "");
    printf("%s, %d iterations, %d evaluations", job->search.method, b->iterations, b->evaluations);
    if (b->replayed) printf(" (%d from the journal)", b->replayed);
    printf(", %.3g s; stationary to %.2g\n", cst_seconds() - job->s->begin, b->stationarity);
    printf("%s\n", cst_session_path(job->s, "best.yaml"));
}

/* ---- adjoint against differences ---- */

/* A slope is weighted by the effect of its variable: |slope| scale relative to the largest of its
 * function. Differences whose own error exceeds a thousandth of that decide nothing. */
static int compare(cst_optimize_job *job, const char *what, const double *adjoint,
                   const double *difference, const double *error, const char *where, int *unsettled)
{
    double size = 0;
    int ok = 1;
    for (int i = 0; i < job->nlp->n; i++) size = fmax(size, fabs(adjoint[i]) * job->nlp->scale[i]);
    for (int i = 0; i < job->nlp->n; i++) {
        double tolerance = fmax(1e-6 * size / job->nlp->scale[i], 10 * error[i]);
        *unsettled += tolerance > 1e-3 * size / job->nlp->scale[i];
        if (fabs(adjoint[i] - difference[i]) <= tolerance) continue;
        cst_error(&job->s->diag, CST_NUMERIC, job->p->design->variable.at[i].where,
                  "at the %s the gradient of %s by '%s' is %.10g, differences give %.10g", where,
                  what, cst_problem_variable(job->p, i), adjoint[i], difference[i]);
        ok = 0;
    }
    return ok;
}

int cst_optimize_check(cst_optimize_job *job, const double *x, const char *where)
{
    cst_session *s = job->s;
    size_t n = (size_t)job->nlp->n, all = n * (size_t)job->nlp->m + 1;
    cst_slopes_at other = {CST_DIFFERENCE, cst_new(s->arena, double, n),
                           cst_new(s->arena, double, all), cst_new(s->arena, double, n),
                           cst_new(s->arena, double, all)};
    double f, *c = cst_new(s->arena, double, job->nlp->m + 1), *df = cst_new(s->arena, double, n),
              *dc = cst_new(s->arena, double, all);
    if (cst_problem_eval(job->p, x, &f, c, df, dc, &s->diag) != CST_OK) return 0;
    if (cst_problem_slopes(job->p, x, &other, &s->diag) != CST_OK) return 0;
    int unsettled = 0,
        ok = compare(job, "the objective", df, other.df, other.df_error, where, &unsettled);
    for (int j = 0; j < job->nlp->m; j++)
        ok &= compare(job, cst_problem_constraint(job->p, j), dc + (size_t)j * n,
                      other.dc + (size_t)j * n, other.dc_error + (size_t)j * n, where, &unsettled);
    if (!ok || s->json || s->quiet) return ok;
    printf("at the %s the gradient of the objective", where);
    if (job->nlp->m) printf(" and of %d constraint%s", job->nlp->m, job->nlp->m == 1 ? "" : "s");
    printf(" agrees with differences");
    if (unsettled)
        printf("; %d slope%s not settled by them", unsettled, unsettled == 1 ? " is" : "s are");
    printf("\n");
    return ok;
}
