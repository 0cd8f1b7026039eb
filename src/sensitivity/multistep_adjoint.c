/* SPDX-License-Identifier: MIT
 *
 * continuous-adjoint with CVODES: m' = -f_x^T m backward over CVODES' checkpoints. Running
 * integrals are part of x, so that all that objectives ask for is asked at states of the run: there
 * m jumps by g_x^T, and
 *
 *     dpsi/dp = m(start)^T x0_p + sum g_p + integral m^T f_p dt
 *
 * Accelerations and multipliers enter g and f through their own system (cst_adjoint_derive).
 * Between two such states CVODES chooses its own steps. Where its forward run was restarted, m is
 * transformed to the coordinates of the stretch before. */
#include <math.h>
#include <string.h>

#include "integrator/multistep.h"
#include "integrator/rows.h"
#include "sensitivity/asked.h"
#include "sensitivity/methods.h"

typedef struct backward {
    cst_run *r;
    cst_multistep *o;
    cst_adjoint *ad;
    int n, np; /* objectives; numbers per objective: bound ones, then values of the graph */
    double *P, *val, *t;                    /* scratch: of f_p^T m */
    double *x, *bar;                        /* (N), (n x N) */
    N_Vector m, numbers, tolerance, coarse; /* costates, their integrals, absolute errors of both */
    int stretch;                            /* in use */
    long left;                              /* steps that it may still take */
    int which;                              /* backward problem of CVODES; -1: none yet */
    cst_stretch at;                         /* its solvers; x is not used */
} backward;

static int nval(const backward *b) { return cst_graph_values(b->r->m->graph); }

/* bar = f_x^T m at (t, x), f_p^T m in P, val */
static int apply(backward *b, double t, const double *x, const double *m)
{
    cst_adjoint *ad = b->ad;
    cst_flow *f = b->o->flow;
    if (cst_multistep_place(b->o, t, x)) return 1;
    double *P = ad->P, *val = ad->val, *time = ad->t;
    memset(b->P, 0, sizeof *b->P * (size_t)b->n * (size_t)b->r->m->bound.n);
    memset(b->val, 0, sizeof *b->val * (size_t)b->n * (size_t)nval(b));
    ad->P = b->P, ad->val = b->val, ad->t = b->t;
    cst_status ok = f->w->ambiguous ? cst_adjoint_prepare(ad->step, NULL, &f->y)
                                    : CST_OK; /* else it has been factored there */
    ad->step->own_projection = 1;
    cst_flow_rates_bar(f, m, ad);
    if (ok == CST_OK) ok = cst_adjoint_derive(ad, &f->y);
    if (ok == CST_OK) cst_flow_place_bar(f, ad, b->bar);
    ad->P = P, ad->val = val, ad->t = time;
    return ok != CST_OK;
}

static int costate_rates(realtype t, N_Vector x, N_Vector m, N_Vector md, void *user)
{
    backward *b = user;
    if (apply(b, t, N_VGetArrayPointer(x), N_VGetArrayPointer(m))) return 1;
    double *to = N_VGetArrayPointer(md);
    for (long i = 0; i < (long)b->n * b->o->flow->n; i++) to[i] = -b->bar[i];
    return 0;
}

static int number_rates(realtype t, N_Vector x, N_Vector m, N_Vector rate, void *user)
{
    backward *b = user;
    int nP = b->r->m->bound.n;
    if (apply(b, t, N_VGetArrayPointer(x), N_VGetArrayPointer(m))) return 1;
    for (int o = 0; o < b->n; o++) {
        double *to = N_VGetArrayPointer(rate) + (size_t)o * (size_t)b->np;
        for (int i = 0; i < nP; i++) to[i] = -b->P[(size_t)o * (size_t)nP + (size_t)i];
        for (int i = 0; i < nval(b); i++)
            to[nP + i] = -b->val[(size_t)o * (size_t)nval(b) + (size_t)i];
    }
    return 0;
}

static int jacobian(realtype t, N_Vector x, N_Vector m, N_Vector md, SUNMatrix J, void *user,
                    N_Vector u, N_Vector v, N_Vector w)
{
    backward *b = user;
    (void)m, (void)md, (void)u, (void)v, (void)w;
    if (cst_multistep_place(b->o, t, N_VGetArrayPointer(x))) return 1;
    return cst_multistep_jacobian(b->o, 1, J);
}

static double magnitude(double x) { return x != 0 ? fabs(x) : 1; }

/* Errors of m are measured by what they do to the objective: m times the size of x against the
 * largest such product; those of dpsi/dp likewise, times p */
static void tolerances(backward *b)
{
    int N = b->o->flow->n, nP = b->r->m->bound.n;
    const cst_system *s = b->r->s;
    for (int o = 0; o < b->n; o++) {
        const double *m = N_VGetArrayPointer(b->m) + (size_t)o * (size_t)N, *size = b->o->size;
        double most = 1e-200, *to = N_VGetArrayPointer(b->tolerance) + (size_t)o * (size_t)N;
        for (int i = 0; i < N; i++) most = fmax(most, fabs(m[i]) * size[i]);
        for (int i = 0; i < N; i++)
            to[i] = b->o->flow->w->accuracy * most / fmax(size[i], CST_NOISE);
        to = N_VGetArrayPointer(b->coarse) + (size_t)o * (size_t)b->np;
        for (int i = 0; i < b->np; i++)
            to[i] = b->o->flow->w->accuracy * most / magnitude(i < nP ? s->P[i] : s->val[i - nP]);
    }
}

static int set_tolerances(backward *b, void *c)
{
    double accuracy = b->o->flow->w->accuracy;
    return CVodeSVtolerancesB(c, b->which, accuracy, b->tolerance) == CV_SUCCESS &&
           CVodeSetQuadErrConB(c, b->which, SUNTRUE) == CV_SUCCESS &&
           CVodeQuadSVtolerancesB(c, b->which, accuracy, b->coarse) == CV_SUCCESS;
}

static int open_backward(backward *b, double t)
{
    void *c = b->o->stretch.at[b->stretch].cvode;
    tolerances(b);
    if (b->which >= 0)
        return CVodeReInitB(c, b->which, t, b->m) == CV_SUCCESS &&
               CVodeQuadReInitB(c, b->which, b->numbers) == CV_SUCCESS && set_tolerances(b, c);
    cst_stretch_free(&b->at);
    b->at.x = N_VClone(b->m);
    if (!b->at.x || CVodeCreateB(c, b->o->method, &b->which) != CV_SUCCESS) return 0;
    cst_multistep_silence(CVodeGetAdjCVodeBmem(c, b->which));
    int ok = CVodeInitB(c, b->which, costate_rates, t, b->m) == CV_SUCCESS &&
             CVodeSetUserDataB(c, b->which, b) == CV_SUCCESS &&
             CVodeSetMaxStepB(c, b->which,
                              cst_multistep_longest(b->o, b->o->stretch.at[b->stretch].from)) ==
                 CV_SUCCESS &&
             cst_multistep_newton(b->o, &b->at, b->n) &&
             CVodeSetNonlinearSolverB(c, b->which, b->at.nonlinear) == CV_SUCCESS &&
             CVodeQuadInitB(c, b->which, number_rates, b->numbers) == CV_SUCCESS &&
             set_tolerances(b, c);
    if (ok && b->at.J)
        ok = CVodeSetLinearSolverB(c, b->which, b->at.linear, b->at.J) == CV_SUCCESS &&
             CVodeSetJacFnB(c, b->which, jacobian) == CV_SUCCESS;
    return ok;
}

/* From t1 back to t0 within the stretch in use */
static cst_status integrate(backward *b, double t1, double t0)
{
    void *c = b->o->stretch.at[b->stretch].cvode;
    double t;
    if (!open_backward(b, t1)) return CST_MEMORY;
    CVodeSetMaxNumStepsB(c, b->which, b->left);
    b->o->failed = CVodeB(c, t0, CV_NORMAL);
    cst_multistep_count(b->o, CVodeGetAdjCVodeBmem(c, b->which), 0, &b->left);
    if (b->o->failed < 0) return CST_NUMERIC;
    if (CVodeGetB(c, b->which, &t, b->m) != CV_SUCCESS) return CST_NUMERIC;
    return CVodeGetQuadB(c, b->which, &t, b->numbers) == CV_SUCCESS ? CST_OK : CST_NUMERIC;
}

/* The flow at the stored state y, in the coordinates of the stretch in use */
static cst_status stand(backward *b, const cst_state *y)
{
    cst_flow *f = b->o->flow;
    cst_flow_begin(f, b->o->stretch.at[b->stretch].ch, y);
    cst_flow_read(f, y, b->x);
    *f->y.h = -1;
    int replays = b->o->replays;
    b->o->replays = 0; /* remembered values are y's own */
    cst_rows_at(f->w, *y->t);
    int bad = cst_multistep_place(b->o, *y->t, b->x);
    b->o->replays = replays;
    return bad ? CST_NUMERIC : CST_OK;
}

/* ad->seed: what functionals ask of the outputs at state n. 0: nothing */
static int asked(backward *b, const double *fbar, long n)
{
    cst_adjoint *ad = b->ad;
    size_t nout = (size_t)b->n * (size_t)b->r->out->tape->nout;
    memset(ad->seed, 0, sizeof *ad->seed * nout);
    cst_functionals_seed(b->r, ad, fbar, n);
    for (size_t i = 0; i < nout; i++)
        if (ad->seed[i] != 0) return 1;
    return 0;
}

static cst_status jump(backward *b, const double *fbar, const cst_state *y, long n)
{
    cst_adjoint *ad = b->ad;
    cst_flow *f = b->o->flow;
    double *m = N_VGetArrayPointer(b->m);
    cst_status ok = stand(b, y);
    if (ok == CST_OK) ok = cst_adjoint_prepare(ad->step, NULL, &f->y);
    if (ok != CST_OK) return ok;
    memset(b->bar, 0, sizeof *b->bar * (size_t)b->n * (size_t)f->n);
    cst_flow_rates_bar(f, b->bar, ad); /* all zero */
    asked(b, fbar, n);
    ok = cst_adjoint_derive(ad, &f->y);
    if (ok != CST_OK) return ok;
    cst_flow_place_bar(f, ad, b->bar);
    for (long i = 0; i < (long)b->n * f->n; i++) m[i] += b->bar[i];
    return CST_OK;
}

/* m from the coordinates of the stretch in use to those of the one before, at y */
static cst_status transfer(backward *b, const cst_state *y)
{
    cst_status ok = stand(b, y);
    if (ok != CST_OK) return ok;
    cst_flow_read_bar(b->o->flow, y, N_VGetArrayPointer(b->m), b->ad);
    b->stretch--, b->which = -1;
    ok = stand(b, y);
    if (ok == CST_OK) cst_flow_place_bar(b->o->flow, b->ad, N_VGetArrayPointer(b->m));
    return ok;
}

static cst_status sweep(backward *b, const double *fbar)
{
    cst_run *r = b->r;
    cst_multistep *o = b->o;
    long last = r->traj->n - 1;
    double reached = *cst_run_state(r, last).t;
    cst_status ok = CST_OK;
    b->stretch = o->stretch.n - 1, b->which = -1, b->left = cst_multistep_most(o);
    for (long n = last; n >= 0 && ok == CST_OK; n--) {
        cst_state y = cst_run_state(r, n);
        int ask = asked(b, fbar, n),
            ends = n > 0 && b->stretch > 0 && *y.t <= o->stretch.at[b->stretch].from;
        memset(b->ad->seed, 0, sizeof *b->ad->seed * (size_t)b->n * (size_t)r->out->tape->nout);
        if ((ask || ends || n == 0) && *y.t < reached)
            ok = integrate(b, reached, *y.t), reached = *y.t;
        if (ok == CST_OK && ask) ok = jump(b, fbar, &y, n);
        while (ok == CST_OK && n > 0 && b->stretch > 0 && *y.t <= o->stretch.at[b->stretch].from)
            ok = transfer(b, &y);
    }
    return ok;
}

static void release(void *object)
{
    backward *b = object;
    cst_stretch_free(&b->at);
    if (b->m) N_VDestroy(b->m);
    if (b->numbers) N_VDestroy(b->numbers);
    if (b->tolerance) N_VDestroy(b->tolerance);
    if (b->coarse) N_VDestroy(b->coarse);
}

static backward *backward_new(cst_arena *a, cst_run *r, cst_adjoint *ad)
{
    const cst_model *m = r->m;
    backward *b = cst_new(a, backward, 1);
    size_t n = (size_t)ad->n, N = (size_t)cst_flow_most(r->w);
    *b = (backward){.r = r,
                    .o = r->w->own,
                    .ad = ad,
                    .n = ad->n,
                    .np = m->bound.n + cst_graph_values(m->graph),
                    .which = -1};
    cst_arena_defer(a, release, b);
    b->P = cst_new(a, double, 1 + n * (size_t)m->bound.n),
    b->val = cst_new(a, double, 1 + n * (size_t)cst_graph_values(m->graph));
    b->t = cst_new(a, double, n + 1), b->x = cst_new(a, double, N + 1),
    b->bar = cst_new(a, double, n *N + 1);
    b->m = N_VNew_Serial((sunindextype)(n * N), b->o->context),
    b->tolerance = N_VNew_Serial((sunindextype)(n * N), b->o->context);
    b->numbers = N_VNew_Serial((sunindextype)(n * (size_t)b->np), b->o->context);
    b->coarse = N_VNew_Serial((sunindextype)(n * (size_t)b->np), b->o->context);
    if (!b->m || !b->tolerance || !b->numbers || !b->coarse) return NULL;
    N_VConst(0, b->m), N_VConst(0, b->numbers);
    return b;
}

/* Bars at the start to the numbers of the file */
static cst_status finish(backward *b, cst_start_derivative *sd, double *grad)
{
    cst_run *r = b->r;
    const cst_model *m = r->m;
    cst_adjoint *ad = b->ad;
    int nleaf = cst_graph_leaves(m->graph);
    cst_state y = cst_run_state(r, 0);
    const cst_start_at at = cst_run_start_at(r, &y);
    cst_status ok = stand(b, &y);
    cst_flow_read_bar(b->o->flow, &y, N_VGetArrayPointer(b->m), ad);
    for (int o = 0; ok == CST_OK && o < b->n; o++) {
        double *P = ad->P + (size_t)o * (size_t)m->bound.n,
               *val = ad->val + (size_t)o * (size_t)nval(b);
        const double *sum = N_VGetArrayPointer(b->numbers) + (size_t)o * (size_t)b->np;
        for (int i = 0; i < m->bound.n; i++) P[i] += sum[i];
        for (int i = 0; i < nval(b); i++) val[i] += sum[m->bound.n + i];
        ok = cst_start_adjoint(sd, &at, ad->q + (size_t)o * (size_t)m->nq,
                               ad->u + (size_t)o * (size_t)m->nu, ad->z + (size_t)o * (size_t)m->nz,
                               P);
        for (int i = 0; i < m->bound.n; i++) val[m->bound.at[i]] += P[i];
        cst_graph_reverse(m->graph, r->s->val, val);
        for (int i = 0; i < nleaf; i++)
            grad[(size_t)o * (size_t)nleaf + (size_t)i] = val[cst_leaf_id(m->graph, i)];
    }
    return ok;
}

cst_status cst_gradient_multistep_adjoint(cst_run *r, double *grad, cst_diag *d)
{
    const cst_model *m = r->m;
    cst_arena a = {0};
    cst_where here = {.file = m->file};
    cst_multistep *o = r->w->own;
    cst_arena *const arena = o->arena;
    cst_flow *const flow = o->flow;
    if (CST_ARENA_GUARD(&a)) {
        o->arena = arena, o->flow = flow, o->replays = 0;
        cst_arena_free(&a);
        return cst_error(d, CST_MEMORY, here, "out of memory");
    }
    int n = m->objective.n;
    cst_adjoint *ad = cst_adjoint_new(&a, r->w, n);
    cst_start_derivative *sd = cst_start_derivative_new(&a, r->start, ad->pass);
    double *fbar = cst_new(&a, double, n * m->functional.n + 1);
    cst_adjoint_clear(ad);
    for (int i = 0; i < n; i++)
        cst_objective_reverse(r, i, fbar + i * m->functional.n,
                              ad->val + (size_t)i * (size_t)cst_graph_values(m->graph));
    ad->step = cst_prepared_new(&a, r->w);
    backward *b = backward_new(&a, r, ad);
    cst_status ok = b ? CST_OK : CST_MEMORY;
    o->arena = &a, o->flow = cst_flow_new(&a, r->w, n), o->replays = 1, o->failed = 0;
    cst_state y = cst_run_state(r, 0);
    cst_flow_begin(o->flow, cst_chart_at(r->charts, *y.t), &y);
    if (ok == CST_OK) ok = sweep(b, fbar);
    if (ok == CST_OK) ok = finish(b, sd, grad);
    o->arena = arena, o->flow = flow, o->replays = 0;
    *o->flow->y.h = -1;
    cst_status said = ok == CST_OK ? CST_OK
                      : o->failed < 0
                          ? r->w->rule->blame(r->w, o->tn, d)
                          : cst_error(d, ok, here, "the adjoint equations of CVODES failed");
    o->failed = 0;
    cst_arena_free(&a);
    return said;
}
