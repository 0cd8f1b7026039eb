/* SPDX-License-Identifier: MIT
 *
 * Ipopt, an interior-point method, with limited-memory second derivatives. It handles points
 * without values itself, by shortening the step. */
#include <math.h>
#include <string.h>

#include "base/library.h"
#include "optimise/ipopt_functions.h"
#include "optimise/search.h"

typedef struct ipopt_functions {
#define X(result, name, arguments) result(*name) arguments;
    IPOPT_FUNCTIONS(X)
#undef X
} ipopt_functions;

static int load(ipopt_functions *f, cst_diag *d)
{
    static const char *const name[] = {
#define X(result, function, arguments) #function,
        IPOPT_FUNCTIONS(X)
#undef X
            NULL
    };
    void *address[sizeof name / sizeof *name - 1];
    _Static_assert(sizeof *f == sizeof address, "one address for each name");
    int ok = cst_library_load(&cst_library_ipopt, name, address, CST_NUMERIC, d);
    if (ok) memcpy(f, address, sizeof *f);
    return ok;
}

static Bool at(cst_search *s, Number *y)
{
    return cst_search_eval(s, y) == CST_EVAL_OK ? TRUE : FALSE;
}

static Bool eval_f(Index n, Number *y, Bool fresh, Number *F, UserDataPtr ctx)
{
    (void)n, (void)fresh;
    cst_search *s = ctx;
    if (!at(s, y)) return FALSE;
    *F = s->F;
    return TRUE;
}

static Bool eval_df(Index n, Number *y, Bool fresh, Number *dF, UserDataPtr ctx)
{
    (void)fresh;
    cst_search *s = ctx;
    if (!at(s, y)) return FALSE;
    memcpy(dF, s->dF, sizeof *dF * (size_t)n);
    return TRUE;
}

static Bool eval_c(Index n, Number *y, Bool fresh, Index m, Number *C, UserDataPtr ctx)
{
    (void)n, (void)fresh;
    cst_search *s = ctx;
    if (!at(s, y)) return FALSE;
    memcpy(C, s->C, sizeof *C * (size_t)m);
    return TRUE;
}

static Bool eval_dc(Index n, Number *y, Bool fresh, Index m, Index count, Index *row, Index *col,
                    Number *value, UserDataPtr ctx)
{
    (void)fresh, (void)m;
    cst_search *s = ctx;
    if (!value) {
        for (Index k = 0; k < count; k++) row[k] = k / n, col[k] = k % n;
        return TRUE;
    }
    if (!at(s, y)) return FALSE;
    memcpy(value, s->dC, sizeof *value * (size_t)count);
    return TRUE;
}

static Bool eval_h(Index n, Number *y, Bool fresh, Number factor, Index m, Number *lambda,
                   Bool fresh_lambda, Index count, Index *row, Index *col, Number *value,
                   UserDataPtr ctx)
{
    (void)n, (void)y, (void)fresh, (void)factor, (void)m, (void)lambda, (void)fresh_lambda,
        (void)count, (void)row, (void)col;
    (void)value, (void)ctx;
    return FALSE; /* there are none: limited memory */
}

static Bool iterate(Index mode, Index iteration, Number F, Number inf_pr, Number inf_du, Number mu,
                    Number d_norm, Number regularization, Number alpha_du, Number alpha_pr,
                    Index trials, UserDataPtr ctx)
{
    (void)mode, (void)F, (void)inf_pr, (void)inf_du, (void)mu, (void)d_norm, (void)regularization,
        (void)alpha_du;
    (void)alpha_pr, (void)trials;
    return iteration > 0 && cst_search_iterate(ctx) ? FALSE : TRUE;
}

static void set_options(const cst_search *s, const ipopt_functions *f, IpoptProblem p)
{
    static const char *const words[][2] = {
        {"sb", "yes"},
        {"hessian_approximation", "limited-memory"},
        {"nlp_scaling_method", "none"},
        {"honor_original_bounds", "yes"},
        {"mu_strategy", "adaptive"},
        /* bounds that are far away must not push: the barrier would rule the first steps */
        {"bound_mult_init_method", "mu-based"},
    };
    const struct {
        const char *name;
        double value;
    } numbers[] = {
        {"tol", s->o.gradient},
        {"mu_init", 1e-3},
        {"constr_viol_tol", s->o.feasible / 2},
        {"acceptable_tol", s->o.gradient},
        {"compl_inf_tol", s->o.gradient},
        {"bound_relax_factor", 0},
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        f->AddIpoptStrOption(p, (char *)words[i][0], (char *)words[i][1]);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        f->AddIpoptNumOption(p, (char *)numbers[i].name, numbers[i].value);
    f->AddIpoptIntOption(p, (char *)"print_level", 0);
    f->AddIpoptIntOption(p, (char *)"max_iter", s->o.iterations + 1);
}

static void conclude(cst_search *s, enum ApplicationReturnStatus r)
{
    switch (r) {
    case Solve_Succeeded:
    case Solved_To_Acceptable_Level:
        cst_search_end(s, CST_CONVERGED, "the optimality conditions hold");
        break;
    case Search_Direction_Becomes_Too_Small:
        cst_search_end(s, CST_STALLED, "rounding limits progress");
        break;
    case Infeasible_Problem_Detected:
        cst_search_end(s, CST_INFEASIBLE, "the constraints cannot hold together here");
        break;
    case User_Requested_Stop:
        break; /* the search knows why */
    case Maximum_Iterations_Exceeded:
        cst_search_end(s, CST_LIMIT, "the limit of iterations is reached");
        break;
    default:
        cst_search_end(s, CST_STALLED, "the optimiser finds no better point");
        break;
    }
}

static double finite(double x) { return fmin(fmax(x, -1e20), 1e20); }

static void run(cst_search *s)
{
    int n = s->n, m = s->rows;
    ipopt_functions f;
    if (!load(&f, s->d)) {
        s->status = CST_NUMERIC;
        cst_search_end(s, CST_BROKEN, "Ipopt is not installed");
        return;
    }
    double *lower = cst_new(s->work, double, n + 1), *upper = cst_new(s->work, double, n + 1);
    double *C_lower = cst_new(s->work, double, m + 1), *C_upper = cst_new(s->work, double, m + 1);
    double *y = cst_new(s->work, double, n + 1);
    for (int i = 0; i < n; i++) lower[i] = finite(s->lower[i]), upper[i] = finite(s->upper[i]);
    for (int j = 0; j < m; j++)
        C_lower[j] = finite(s->C_lower[j]), C_upper[j] = finite(s->C_upper[j]);
    memcpy(y, s->start, sizeof *y * (size_t)n);
    IpoptProblem p = f.CreateIpoptProblem(n, lower, upper, m, C_lower, C_upper, m * n, 0, 0, eval_f,
                                          eval_c, eval_df, eval_dc, eval_h);
    if (!p) {
        s->status =
            cst_error(s->d, CST_MEMORY, (cst_where){0}, "Ipopt: the problem cannot be made");
        cst_search_end(s, CST_BROKEN, "out of memory");
        return;
    }
    set_options(s, &f, p);
    f.SetIntermediateCallback(p, iterate);
    conclude(s, f.IpoptSolve(p, y, NULL, NULL, NULL, NULL, NULL, s));
    f.FreeIpoptProblem(p);
}

const cst_optimiser cst_optimiser_ipopt = {
    .name = "ipopt",
    .summary = "Ipopt: interior point; all constraints; many variables",
    .constraints = 1,
    .run = run,
};
