/* SPDX-License-Identifier: MIT
 *
 * continuous-direct with CVODES: the sensitivity equations s' = f_x s + f_p of all numbers are
 * integrated with the motion, in one system (simultaneous) or after each step of it (staggered),
 * with error control of both. */
#include <math.h>
#include <string.h>
#include <sunnonlinsol/sunnonlinsol_fixedpoint.h>
#include <sunnonlinsol/sunnonlinsol_newton.h>

#include "integrator/multistep.h"
#include "sensitivity/direction.h"
#include "sensitivity/methods.h"

typedef struct forward {
    cst_run *r;
    cst_multistep *o;
    int ndir;
    cst_direction *dir;
    double *
        scale; /* (ndir) what s is multiplied by before its errors are measured as those of x are */
    const int *leaf;
    int staggered;
    long left; /* steps that it may still take */
    /* of the solver in hand */
    cst_stretch at;
    N_Vector *s; /* (ndir) sensitivities */
    SUNNonlinearSolver nonlinear;
} forward;

/* The changes of x' at (t, x) for changes s of x */
static int rates_change(int n, realtype t, N_Vector x, N_Vector xd, N_Vector *s, N_Vector *sd,
                        void *user, N_Vector a, N_Vector b)
{
    cst_multistep *o = user;
    forward *w = o->sensitivity;
    cst_flow *f = o->flow;
    (void)xd, (void)a, (void)b;
    if (cst_multistep_place(o, t, N_VGetArrayPointer(x))) return 1;
    for (int k = 0; k < n; k++) {
        cst_tangent *tangent = w->dir[k].t;
        cst_flow_place_change(f, tangent, N_VGetArrayPointer(s[k]));
        if (cst_tangent_derive(tangent, &f->y, k == 0 && f->w->ambiguous) != CST_OK) return 1;
        cst_flow_rates_change(f, tangent, N_VGetArrayPointer(sd[k]));
    }
    return 0;
}

static void close_solver(forward *w)
{
    cst_stretch_free(&w->at);
    if (w->nonlinear) SUNNonlinSolFree(w->nonlinear);
    if (w->s) N_VDestroyVectorArray(w->s, w->ndir);
    w->nonlinear = NULL, w->s = NULL;
}

static int set_nonlinear(forward *w)
{
    cst_multistep *o = w->o;
    int count = w->ndir + !w->staggered;
    w->nonlinear = o->method == CV_BDF ? SUNNonlinSol_NewtonSens(count, w->at.x, o->context)
                                       : SUNNonlinSol_FixedPointSens(count, w->at.x, 0, o->context);
    if (!w->nonlinear) return 0;
    return (w->staggered ? CVodeSetNonlinearSolverSensStg(w->at.cvode, w->nonlinear)
                         : CVodeSetNonlinearSolverSensSim(w->at.cvode, w->nonlinear)) == CV_SUCCESS;
}

/* At y, where each direction's change of the state is in its tangent */
static cst_status open_solver(forward *w, const cst_state *y)
{
    cst_multistep *o = w->o;
    close_solver(w);
    cst_flow_begin(o->flow, cst_chart_at(o->flow->w->charts, *y->t), y);
    *o->flow->y.h = -1;
    if (!cst_stretch_open(o, &w->at, y)) return CST_MEMORY;
    if (!(w->s = N_VCloneVectorArray(w->ndir, w->at.x))) return CST_MEMORY;
    for (int k = 0; k < w->ndir; k++)
        cst_flow_read_change(o->flow, y, w->dir[k].t, N_VGetArrayPointer(w->s[k]));
    void *c = w->at.cvode;
    int ok = CVodeSensInit(c, w->ndir, w->staggered ? CV_STAGGERED : CV_SIMULTANEOUS, rates_change,
                           w->s) == CV_SUCCESS &&
             CVodeSetSensParams(c, NULL, w->scale, NULL) == CV_SUCCESS &&
             CVodeSensEEtolerances(c) == CV_SUCCESS &&
             CVodeSetSensErrCon(c, SUNTRUE) == CV_SUCCESS && set_nonlinear(w);
    if (ok) CVodeSetStopTime(c, w->r->options.end);
    return ok ? CST_OK : CST_MEMORY;
}

/* |p| (1 for numbers that are 0), less where |p| s has grown beyond the size of x: the motion under
 * s is no more accurate than its tolerance, so s cannot be better than relative to its own size. */
static void rescale(forward *w)
{
    const cst_multistep *o = w->o;
    for (int k = 0; k < w->ndir; k++) {
        const double *s = N_VGetArrayPointer(w->s[k]);
        double most = 0;
        for (int i = 0; i < o->flow->n; i++)
            if (o->size[i] > CST_NOISE) most = fmax(most, fabs(s[i]) / o->size[i]);
        w->scale[k] = most > 0 ? fmin(w->scale[k], 1 / most) : w->scale[k];
    }
    CVodeSetSensParams(w->at.cvode, NULL, w->scale, NULL);
}

/* The state and all changes at y's time, derived and observed */
static cst_status observe(forward *w, const cst_state *y, long n)
{
    cst_multistep *o = w->o;
    cst_flow *f = o->flow;
    if (cst_multistep_place(o, *y->t, N_VGetArrayPointer(w->at.x))) return CST_NUMERIC;
    cst_flow_remember(f, y->mem);
    for (int k = 0; k < w->ndir; k++) {
        cst_flow_place_change(f, w->dir[k].t, N_VGetArrayPointer(w->s[k]));
        if (cst_tangent_derive(w->dir[k].t, &f->y, k == 0 && f->w->ambiguous) != CST_OK)
            return CST_NUMERIC;
        cst_direction_observe(w->r, &w->dir[k], k, n);
    }
    return CST_OK;
}

static cst_status advance(forward *w, double t1)
{
    double t;
    long before = 0;
    CVodeGetNumSteps(w->at.cvode, &before);
    CVodeSetMaxNumSteps(w->at.cvode, w->left);
    w->o->failed = CVode(w->at.cvode, t1, w->at.x, &t, CV_NORMAL);
    cst_multistep_count(w->o, w->at.cvode, before, &w->left);
    if (w->o->failed < 0) return CST_NUMERIC;
    if (CVodeGetSens(w->at.cvode, &t, w->s) != CV_SUCCESS) return CST_NUMERIC;
    rescale(w);
    return CST_OK;
}

static cst_status sweep(cst_run *r, void *ctx, int ndir, cst_direction *dir)
{
    forward *w = ctx;
    cst_multistep *o = w->o;
    cst_state y = cst_run_state(r, 0);
    const cst_chart *ch = cst_chart_at(o->flow->w->charts, *y.t);
    w->ndir = ndir, w->dir = dir, w->left = cst_multistep_most(o);
    for (int k = 0; k < ndir; k++) {
        double p = fabs(r->s->leaf[w->leaf[k]]);
        w->scale[k] = p > 0 ? p : 1;
    }
    cst_status ok = open_solver(w, &y);
    if (ok == CST_OK) ok = observe(w, &y, 0);
    for (long n = 1; n < r->traj->n && ok == CST_OK; n++) {
        double before = *y.t;
        y = cst_run_state(r, n);
        const cst_chart *now = cst_chart_at(o->flow->w->charts, *y.t);
        if (*y.t > before) ok = advance(w, *y.t);
        if (ok == CST_OK) ok = observe(w, &y, n);
        int anew =
            *y.tag < 0 || now != ch ||
            (*y.t >= o->rested && before < o->rested); /* other modes, coordinates, longest step */
        if (ok == CST_OK && anew) ok = open_solver(w, &o->flow->y);
        ch = now;
    }
    close_solver(w);
    w->leaf += ndir;
    return ok;
}

static void release(void *object) { close_solver(object); }

cst_status cst_gradient_multistep_direct(cst_run *r, int nleaf, const int *leaf, double *grad,
                                         cst_diag *d)
{
    cst_arena a = {0};
    cst_where here = {.file = r->m->file};
    cst_multistep *o = r->w->own;
    cst_arena *const arena = o->arena;
    if (CST_ARENA_GUARD(&a)) {
        o->sensitivity = NULL, o->arena = arena, o->replays = 0;
        cst_arena_free(&a);
        return cst_error(d, CST_MEMORY, here, "out of memory");
    }
    forward *w = cst_new(&a, forward, 1);
    *w = (forward){.r = r, .o = o, .leaf = leaf, .scale = cst_new(&a, double, nleaf + 1)};
    w->staggered =
        strcmp(r->options.coupling ? r->options.coupling : r->m->sim.coupling, "staggered") == 0;
    cst_arena_defer(&a, release, w);
    o->sensitivity = w, o->arena = &a, o->failed = 0, o->replays = 1;
    const cst_sweep_of steps = {sweep, w};
    cst_status ok = cst_gradient_forward(r, &a, r->w, &steps, nleaf, leaf, grad);
    o->sensitivity = NULL, o->arena = arena, o->replays = 0;
    cst_status said = ok == CST_OK ? CST_OK
                      : o->failed < 0
                          ? r->w->rule->blame(r->w, o->tn, d)
                          : cst_error(d, ok, here, "the sensitivity equations of CVODES failed");
    o->failed = 0;
    cst_arena_free(&a);
    return said;
}
