/* SPDX-License-Identifier: MIT
 *
 * NLopt asks for the objective and for the constraints in separate calls at the same point: the
 * search remembers it. Its constraints are h(y) <= 0 and h(y) = 0; a limit on each side makes two
 * rows. */
#include "optimise/nlopt_run.h"

#include <math.h>
#include <string.h>

typedef struct row {
    int of;      /* constraint */
    double sign; /* h = sign (C - limit) */
    double limit;
} row;

typedef struct rows {
    struct job *job;
    int n;
    row *at;
} rows;

typedef struct job {
    cst_search *s;
    nlopt_opt opt;
    rows below, equal;
} job;

static int ask(job *j, const double *y)
{
    if (cst_search_eval(j->s, y) == CST_EVAL_STOP || cst_search_improve(j->s))
        nlopt_force_stop(j->opt);
    return j->s->known != 0;
}

static double objective(unsigned n, const double *y, double *grad, void *ctx)
{
    job *j = ctx;
    if (!ask(j, y)) return HUGE_VAL; /* it is being stopped */
    if (grad) memcpy(grad, j->s->dF, sizeof *grad * n);
    return j->s->F;
}

static void constraints(unsigned count, double *h, unsigned n, const double *y, double *grad,
                        void *ctx)
{
    const rows *r = ctx;
    const cst_search *s = r->job->s;
    ask(r->job, y);
    for (unsigned k = 0; k < count; k++) {
        const row *at = &r->at[k];
        h[k] = at->sign * (s->C[at->of] - at->limit);
        for (unsigned i = 0; grad && i < n; i++)
            grad[k * n + i] = at->sign * s->dC[at->of * (int)n + (int)i];
    }
}

static void find_rows(job *j)
{
    cst_search *s = j->s;
    j->below = (rows){j, 0, cst_new(s->work, row, 2 * s->rows + 1)};
    j->equal = (rows){j, 0, cst_new(s->work, row, s->rows + 1)};
    for (int k = 0; k < s->rows; k++) {
        double lo = s->C_lower[k], hi = s->C_upper[k];
        if (lo == hi)
            j->equal.at[j->equal.n++] = (row){k, 1, lo};
        else {
            if (isfinite(lo)) j->below.at[j->below.n++] = (row){k, -1, lo};
            if (isfinite(hi)) j->below.at[j->below.n++] = (row){k, 1, hi};
        }
    }
}

static nlopt_result rules(const cst_search *s, nlopt_opt opt)
{
    nlopt_result ok = nlopt_set_ftol_rel(opt, s->o.change);
    return ok < 0 ? ok : nlopt_set_xtol_abs1(opt, s->o.step / 10);
}

static nlopt_result prepare(job *j, nlopt_algorithm method, nlopt_algorithm inner)
{
    cst_search *s = j->s;
    double *tol = cst_new(s->work, double, 2 * s->rows + 1);
    for (int k = 0; k < 2 * s->rows; k++) tol[k] = s->o.feasible / 2;
    find_rows(j);
    nlopt_result ok = nlopt_set_lower_bounds(j->opt, s->lower);
    if (ok >= 0) ok = nlopt_set_upper_bounds(j->opt, s->upper);
    if (ok >= 0) ok = nlopt_set_min_objective(j->opt, objective, j);
    if (ok >= 0 && j->below.n)
        ok = nlopt_add_inequality_mconstraint(j->opt, (unsigned)j->below.n, constraints, &j->below,
                                              tol);
    if (ok >= 0 && j->equal.n)
        ok = nlopt_add_equality_mconstraint(j->opt, (unsigned)j->equal.n, constraints, &j->equal,
                                            tol);
    if (ok >= 0) ok = rules(s, j->opt);
    if (ok < 0 || method != NLOPT_AUGLAG) return ok;
    nlopt_opt local = nlopt_create(inner, (unsigned)s->n);
    ok = local ? nlopt_set_ftol_rel(local, fmax(s->o.change, 1e-12))
               : NLOPT_OUT_OF_MEMORY; /* the outer loop repeats it */
    if (ok >= 0) ok = nlopt_set_xtol_abs1(local, fmax(s->o.step, 1e-9));
    if (ok >= 0) ok = nlopt_set_local_optimizer(j->opt, local); /* copies */
    nlopt_destroy(local);
    return ok;
}

static void conclude(cst_search *s, nlopt_result r)
{
    switch (r) {
    case NLOPT_SUCCESS:
    case NLOPT_FTOL_REACHED:
        cst_search_end(s, CST_CONVERGED, "the objective does not change any more");
        break;
    case NLOPT_XTOL_REACHED:
        cst_search_end(s, CST_CONVERGED, "the variables do not change any more");
        break;
    case NLOPT_ROUNDOFF_LIMITED:
        cst_search_end(s, CST_STALLED, "rounding limits progress");
        break;
    case NLOPT_FORCED_STOP:
        break; /* the search knows why */
    default:
        cst_search_end(s, CST_STALLED, "the optimiser finds no better point");
        break;
    }
}

void cst_nlopt_run(cst_search *s, nlopt_algorithm method, nlopt_algorithm inner)
{
    job j = {.s = s, .opt = nlopt_create(method, (unsigned)s->n)};
    nlopt_result ok = j.opt ? prepare(&j, method, inner) : NLOPT_OUT_OF_MEMORY;
    if (ok == NLOPT_INVALID_ARGS) {
        s->status =
            cst_error(s->d, CST_USAGE, (cst_where){0},
                      "%s takes no equality constraints: use slsqp, auglag or ipopt", s->o.method);
        cst_search_end(s, CST_BROKEN, "the method does not take these constraints");
    } else if (ok < 0) {
        s->status =
            cst_error(s->d, CST_MEMORY, (cst_where){0}, "NLopt: %s", nlopt_result_to_string(ok));
        cst_search_end(s, CST_BROKEN, "out of memory");
    } else {
        double *y = cst_new(s->work, double, s->n), F;
        memcpy(y, s->start, sizeof *y * (size_t)s->n);
        conclude(s, nlopt_optimize(j.opt, y, &F));
    }
    nlopt_destroy(j.opt);
}
