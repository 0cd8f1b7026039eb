/* SPDX-License-Identifier: MIT
 *
 * f, c and their gradients at x: one simulation and one backward sweep per case, cases in parallel.
 * Each case keeps its run, which is analysed anew at each x: a search that is resumed must see the
 * bits of one that was never killed. */
#include <math.h>
#include <string.h>

#include "base/crew.h"
#include "integrator/run.h"
#include "problem/problem.h"

void cst_problem_numbers(const cst_problem *p, int k, const double *x, double *value)
{
    const cst_case *c = &p->at[k];
    for (int i = 0; i < c->m->leaf.n; i++) value[i] = cst_model_number_value(c->m, i);
    for (int i = 0; i < p->n; i++) value[c->leaf[i]] = x[i];
    for (int i = 0; i < p->design->path.n && p->stage < p->design->stages; i++)
        value[c->path[i]] = p->design->path.at[i].value[p->stage];
}

/* ---- the chain rule of one case ---- */

static void run_tape(cst_case *c, const double *psi)
{
    const cst_tape *t = c->tape;
    for (int i = 0; i < t->nchannel; i++) {
        const cst_channel *ch = &t->channel[i];
        c->reg[i] = ch->kind == CST_CH_RESULT ? psi[ch->index] : c->value[ch->index];
    }
    cst_tape_eval(t, c->reg);
    c->f = c->reg[t->out[0]];
    for (int j = 1; j < t->nout; j++) c->c[j - 1] = c->reg[t->out[j]];
}

static cst_status refuse(const cst_case *c, int objective, int number, cst_effect e)
{
    const cst_leaf *l = &c->m->leaf.at[number];
    const cst_where where =
        e == CST_NOT_UNIQUE ? c->m->objective.at[objective].where : l->where; /* of what is wrong */
    return cst_error(c->said, CST_NUMERIC, where, "'%s' has no gradient by '%s': %s",
                     c->m->objective.at[objective].name, l->name, cst_effect_text(e));
}

/* de/dx_i = sum_psi e_psi dpsi/dx_i + e_x_i for output k of the tape; `absolute` sums absolute
 * values instead: a bound of the error */
static cst_status row_of(cst_case *c, int n, const cst_gradient *g, const double *slope, int k,
                         int absolute, double *row)
{
    const cst_tape *t = c->tape;
    memset(c->bar, 0, sizeof *c->bar * (size_t)t->nreg);
    c->bar[t->out[k]] = 1;
    cst_tape_reverse(t, c->reg, c->bar);
    memset(row, 0, sizeof *row * (size_t)n);
    for (int j = 0; j < t->nchannel; j++) {
        const cst_channel *ch = &t->channel[j];
        double bar = absolute ? fabs(c->bar[j]) : c->bar[j];
        if (bar == 0) continue;
        for (int i = 0; i < n; i++) {
            if (ch->kind != CST_CH_RESULT) {
                if (c->leaf[i] == ch->index && !absolute) row[i] += bar;
                continue;
            }
            double s = slope[ch->index * n + i];
            if (isnan(s)) return refuse(c, ch->index, c->leaf[i], g->effect[ch->index * n + i]);
            row[i] += bar * (absolute ? fabs(s) : s);
        }
    }
    return CST_OK;
}

static cst_status gradients(cst_case *c, int n, const cst_gradient *g, const double *slope,
                            int absolute, double *df, double *dc)
{
    cst_status ok = row_of(c, n, g, slope, 0, absolute, df);
    for (int j = 1; j < c->tape->nout && ok == CST_OK; j++)
        ok = row_of(c, n, g, slope, j, absolute, dc + (j - 1) * n);
    return ok;
}

static cst_status run_case(const cst_problem *p, int k, const double *x, cst_method method,
                           double *df, double *dc, double *df_error, double *dc_error)
{
    cst_case *c = &p->at[k];
    *c->said = (cst_diag){0};
    cst_problem_numbers(p, k, x, c->value);
    if (!c->run) c->run = cst_run_new(c->m, &c->options, c->said);
    cst_run *r = c->run;
    if (r) {
        r->nwanted = c->nwanted, r->wanted = c->wanted, r->options.threads = c->options.threads;
        cst_run_forget(r);
    }
    const cst_gradient *g =
        r ? cst_run_gradient(r, c->value, method, p->n, c->leaf, c->said) : NULL;
    cst_status ok = g ? CST_OK : CST_NUMERIC;
    if (g) {
        memcpy(c->objective, g->value, sizeof *g->value * (size_t)g->objectives);
        c->stats = cst_run_stats(r);
        c->gradient_s = g->gradient_s;
        run_tape(c, g->value);
        ok = gradients(c, p->n, g, g->slope, 0, df, dc);
        if (ok == CST_OK && df_error) ok = gradients(c, p->n, g, g->error, 1, df_error, dc_error);
    }
    return ok;
}

/* ---- all cases ---- */

typedef struct point {
    cst_problem *p;
    const double *x;
} point;

static void run_at(void *ctx, int k)
{
    const point *at = ctx;
    cst_case *c = &at->p->at[k];
    c->status = run_case(at->p, k, at->x, CST_ADJOINT, c->df, c->dc, NULL, NULL);
}

/* Threads beyond the number of cases are used by the backward sweeps. */
static void run_all(cst_problem *p, const double *x)
{
    int crowd = p->ncase < p->threads ? p->ncase : p->threads;
    point at = {p, x};
    for (int k = 0; k < p->ncase; k++) p->at[k].options.threads = p->threads / crowd;
    cst_crew_run(p->ncase, crowd, run_at, &at);
}

/* The rows of case k, to where the problem has them */
static void place_rows(const cst_problem *p, int k, const double *from, double *to)
{
    const size_t n = (size_t)p->n;
    for (int j = 0; j < p->limits; j++)
        memcpy(to + (size_t)p->at[k].row[j] * n, from + (size_t)j * n, sizeof *to * n);
}

cst_status cst_problem_eval(void *problem, const double *x, double *f, double *c, double *df,
                            double *dc, cst_diag *d)
{
    cst_problem *p = problem;
    size_t n = (size_t)p->n;
    cst_status status = CST_OK;
    run_all(p, x);
    *f = 0;
    memset(df, 0, sizeof *df * n);
    for (int k = 0; k < p->ncase;
         k++) { /* in this order whatever the threads did: the same bits every time */
        const cst_case *at = &p->at[k];
        if (at->status != CST_OK) {
            if (status == CST_OK) status = at->status;
            cst_diag_append(d, at->said);
            continue;
        }
        *f += at->f;
        for (size_t i = 0; i < n; i++) df[i] += at->df[i];
        for (int j = 0; j < p->limits; j++) c[at->row[j]] = at->c[j];
        place_rows(p, k, at->dc, dc);
    }
    return status;
}

/* Adds the slopes of case k */
static cst_status add_case(cst_problem *p, int k, const double *x, cst_slopes_at *to, cst_diag *d)
{
    size_t n = (size_t)p->n;
    int errors = to->method == CST_DIFFERENCE;
    cst_case *c = &p->at[k];
    cst_arena a = {0};
    if (CST_ARENA_GUARD(&a)) {
        cst_arena_free(&a);
        return cst_error(d, CST_MEMORY, (cst_where){.file = p->m->file}, "out of memory");
    }
    double *error = cst_new(&a, double, n),
           *dc_error = cst_new(&a, double, n *(size_t)(p->limits + 1));
    cst_status ok = run_case(p, k, x, to->method, c->df, c->dc, errors ? error : NULL,
                             errors ? dc_error : NULL);
    if (ok == CST_OK) place_rows(p, k, c->dc, to->dc);
    if (ok == CST_OK && errors) place_rows(p, k, dc_error, to->dc_error);
    for (size_t i = 0; i < n && ok == CST_OK; i++) {
        to->df[i] += c->df[i];
        if (errors) to->df_error[i] += error[i];
    }
    cst_arena_free(&a);
    if (ok != CST_OK) cst_diag_append(d, c->said);
    return ok;
}

cst_status cst_problem_slopes(cst_problem *p, const double *x, cst_slopes_at *to, cst_diag *d)
{
    cst_status ok = CST_OK;
    memset(to->df, 0, sizeof *to->df * (size_t)p->n);
    if (to->method == CST_DIFFERENCE) memset(to->df_error, 0, sizeof *to->df_error * (size_t)p->n);
    for (int k = 0; k < p->ncase && ok == CST_OK; k++) ok = add_case(p, k, x, to, d);
    return ok;
}
