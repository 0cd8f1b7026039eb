/* SPDX-License-Identifier: MIT
 *
 * What CVODES is given: f, its Jacobian, error weights, and a dense solver for I - gamma J. */
#include <math.h>
#include <string.h>
#include <sunnonlinsol/sunnonlinsol_fixedpoint.h>
#include <sunnonlinsol/sunnonlinsol_newton.h>

#include "integrator/multistep.h"
#include "integrator/rows.h"

/* LAPACK */
void dgetrf_(const int *m, const int *n, double *a, const int *lda, int *pivot, int *info);
void dgetrs_(const char *trans, const int *n, const int *nrhs, const double *a, const int *lda,
             const int *pivot, double *b, const int *ldb, int *info, int);

/* ---- the dense solver ---- */

typedef struct dense {
    int n, vectors, *pivot;
} dense;

static SUNLinearSolver_Type dense_type(SUNLinearSolver s)
{
    return (void)s, SUNLINEARSOLVER_DIRECT;
}
static SUNLinearSolver_ID dense_id(SUNLinearSolver s) { return (void)s, SUNLINEARSOLVER_CUSTOM; }

static int dense_setup(SUNLinearSolver s, SUNMatrix A)
{
    dense *d = s->content;
    int info = 0;
    dgetrf_(&d->n, &d->n, SM_DATA_D(A), &d->n, d->pivot, &info);
    return info ? 1 : 0; /* singular: with another gamma it need not be */
}

static int dense_solve(SUNLinearSolver s, SUNMatrix A, N_Vector x, N_Vector b, realtype tolerance)
{
    dense *d = s->content;
    int info = 0;
    (void)tolerance;
    N_VScale(1, b, x);
    dgetrs_("N", &d->n, &d->vectors, SM_DATA_D(A), &d->n, d->pivot, N_VGetArrayPointer(x), &d->n,
            &info, 1);
    return info;
}

int cst_multistep_newton(cst_multistep *o, cst_stretch *s, int n)
{
    if (o->method == CV_ADAMS) {
        s->nonlinear = SUNNonlinSol_FixedPoint(s->x, 0, o->context);
        return s->nonlinear != NULL;
    }
    s->nonlinear = SUNNonlinSol_Newton(s->x, o->context);
    s->J = SUNDenseMatrix(o->flow->n, o->flow->n, o->context);
    s->linear = SUNLinSolNewEmpty(o->context);
    if (!s->nonlinear || !s->J || !s->linear) return 0;
    dense *d = cst_new(o->arena, dense, 1);
    *d = (dense){o->flow->n, n, cst_new(o->arena, int, o->flow->n + 1)};
    s->linear->content = d;
    s->linear->ops->gettype = dense_type, s->linear->ops->getid = dense_id;
    s->linear->ops->setup = dense_setup, s->linear->ops->solve = dense_solve;
    return 1;
}

void cst_stretch_free(cst_stretch *s)
{
    if (s->cvode) CVodeFree(&s->cvode);
    if (s->nonlinear) SUNNonlinSolFree(s->nonlinear);
    if (s->linear)
        s->linear->content = NULL, SUNLinSolFreeEmpty(s->linear); /* the content is the arena's */
    if (s->J) SUNMatDestroy(s->J);
    if (s->x) N_VDestroy(s->x);
    *s = (cst_stretch){0};
}

/* ---- f and f_x ---- */

int cst_multistep_place(cst_multistep *o, double t, const double *x)
{
    cst_flow *f = o->flow;
    if (o->replays) cst_rows_at(f->w, t);
    if (*f->y.h == 0 && o->rows == f->w->k && *f->y.t == t &&
        memcmp(f->x, x, sizeof *x * (size_t)f->n) == 0)
        return 0;
    if (o->replays) cst_multistep_recall(o, t);
    *f->y.h = -1; /* not valid, should it fail */
    for (int i = 0; i < f->n; i++)
        if (!isfinite(x[i])) return 1;
    if (cst_flow_place(f, t, x) != CST_OK) return 1;
    *f->y.h = 0, o->rows = f->w->k;
    return 0;
}

int cst_multistep_rates(realtype t, N_Vector x, N_Vector xd, void *user)
{
    cst_multistep *o = user;
    int bad = cst_multistep_place(o, t, N_VGetArrayPointer(x));
    if (!bad) cst_flow_rates(o->flow, N_VGetArrayPointer(xd));
    return bad;
}

int cst_multistep_jacobian(cst_multistep *o, int transposed, SUNMatrix J)
{
    cst_flow *f = o->flow;
    memset(o->dx, 0, sizeof *o->dx * (size_t)f->n);
    for (int j = 0; j < f->n; j++) {
        o->dx[j] = 1;
        cst_flow_place_change(f, o->column, o->dx);
        o->dx[j] = 0;
        if (cst_tangent_derive(o->column, &f->y, 0) != CST_OK) return 1;
        cst_flow_rates_change(f, o->column, transposed ? o->dxd : SM_COLUMN_D(J, j));
        for (int i = 0; transposed && i < f->n; i++) SM_ELEMENT_D(J, j, i) = -o->dxd[i];
    }
    return 0;
}

static int jacobian(realtype t, N_Vector x, N_Vector xd, SUNMatrix J, void *user, N_Vector a,
                    N_Vector b, N_Vector c)
{
    cst_multistep *o = user;
    (void)xd, (void)a, (void)b, (void)c;
    if (cst_multistep_place(o, t, N_VGetArrayPointer(x))) return 1;
    return cst_multistep_jacobian(o, 0, J);
}

int cst_multistep_weights(N_Vector x, N_Vector weights, void *user)
{
    const cst_multistep *o = user;
    double *w = N_VGetArrayPointer(weights);
    (void)x;
    for (int i = 0; i < o->flow->n; i++)
        w[i] = o->size[i] > CST_NOISE ? 1 / (o->flow->w->accuracy * o->size[i]) : 1e-30;
    return 0;
}

static void silent(int code, const char *module, const char *function, char *message, void *user)
{
    (void)code, (void)module, (void)function, (void)message, (void)user;
}

void cst_multistep_silence(void *cvode) { CVodeSetErrHandlerFn(cvode, silent, NULL); }

void *cst_multistep_solver(cst_multistep *o, CVRhsFn f, double t, N_Vector x)
{
    void *c = CVodeCreate(o->method, o->context);
    if (!c) return NULL;
    cst_multistep_silence(c);
    int ok = CVodeInit(c, f, t, x) == CV_SUCCESS && CVodeSetUserData(c, o) == CV_SUCCESS &&
             CVodeWFtolerances(c, cst_multistep_weights) == CV_SUCCESS &&
             CVodeSetMaxNumSteps(c, -1) == CV_SUCCESS;
    if (!ok) CVodeFree(&c);
    return c;
}

void cst_multistep_count(cst_multistep *o, void *cvode, long before, long *left)
{
    long now = before;
    CVodeGetNumSteps(cvode, &now);
    *left -= now - before;
    if (o->failed >= 0 && *left <= 0) o->failed = CV_TOO_MUCH_WORK;
    if (o->failed < 0) CVodeGetCurrentTime(cvode, &o->tn);
}

/* ---- a stretch ---- */

/* Steps between checkpoints. Stretches between two checkpoints are recomputed, except the last */
static long spacing(const cst_multistep *o)
{
    /* CVODES' polynomials of variable order between few states after a start have errors of any
     * size: Hermite's */
    double room = o->run->memory > 0 ? o->run->memory / 2 : 16e6;
    return lround(fmin(5000, fmax(10, room / (16.0 * (o->flow->n + 10)))));
}

double cst_multistep_longest(const cst_multistep *o, double t)
{
    return t >= o->rested ? o->flow->w->given : o->flow->w->longest;
}

int cst_stretch_open(cst_multistep *o, cst_stretch *s, const cst_state *y)
{
    s->from = *y->t;
    if (!s->cvode) {
        s->x = N_VNew_Serial(o->flow->n, o->context);
        if (!s->x) return 0;
        cst_flow_read(o->flow, y, N_VGetArrayPointer(s->x));
        s->cvode = cst_multistep_solver(o, cst_multistep_rates, *y->t, s->x);
        if (!s->cvode || !cst_multistep_newton(o, s, 1)) return 0;
        if (CVodeSetNonlinearSolver(s->cvode, s->nonlinear) != CV_SUCCESS) return 0;
        if (s->J && (CVodeSetLinearSolver(s->cvode, s->linear, s->J) != CV_SUCCESS ||
                     CVodeSetJacFn(s->cvode, jacobian) != CV_SUCCESS))
            return 0;
        if (o->run->keep > 1 && CVodeAdjInit(s->cvode, spacing(o), CV_HERMITE) != CV_SUCCESS)
            return 0;
        return CVodeSetMaxStep(s->cvode, cst_multistep_longest(o, s->from)) == CV_SUCCESS;
    }
    cst_flow_read(o->flow, y, N_VGetArrayPointer(s->x));
    return CVodeReInit(s->cvode, *y->t, s->x) == CV_SUCCESS &&
           CVodeSetMaxStep(s->cvode, cst_multistep_longest(o, s->from)) == CV_SUCCESS;
}
