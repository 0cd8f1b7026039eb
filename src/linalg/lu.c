/* SPDX-License-Identifier: MIT
 *
 * LU by KLU (Davis, Palamadai Natarajan, ACM TOMS 37, 2010). Rows are scaled by their largest entry, no block
 * triangular form. A diagonal pivot is taken when it is not smaller than `tol` times the largest of its column. */
#include <assert.h>
#include <float.h>
#include <math.h>
#include <suitesparse/klu.h>
#include <string.h>

#include "linalg/order.h"

struct cst_lu {
    const cst_pattern *p;
    klu_common common;
    klu_symbolic *symbolic; /* own, or that of the lu it is a twin of */
    klu_numeric *numeric;   /* NULL: not factored */
    klu_symbolic *own;      /* NULL in a twin */
    double *reach;          /* (n) 1 / largest of each column of U at the last factor */
    double growth;          /* of the last factor */
    cst_lu_info info;
};

enum { BY_AMD, BY_COLAMD, BY_RULE };

static const struct { const char *name; int how; cst_order_rule rule; } orders[] = {
    {"multiplier-after", BY_RULE, CST_ORDER_AFTER},
    {"hub-last", BY_RULE, CST_ORDER_HUB},
    {"coordinates-first", BY_RULE, CST_ORDER_COORDINATES},
    {"amd", BY_AMD, 0},
    {"colamd", BY_COLAMD, 0},
};
enum { NORDER = sizeof orders / sizeof *orders };

const char *cst_lu_order_name(int k)
{
    return k >= 0 && k < NORDER ? orders[k].name : NULL;
}

static void release(void *object)
{
    cst_lu *lu = object;
    klu_free_numeric(&lu->numeric, &lu->common);
    klu_free_symbolic(&lu->own, &lu->common);
}

static cst_lu *lu_alloc(cst_arena *a, const cst_pattern *p)
{
    cst_lu *lu = cst_new(a, cst_lu, 1);
    lu->p = p;
    lu->reach = cst_new(a, double, p->n + 1);
    klu_defaults(&lu->common);
    lu->common.scale = 2;
    lu->common.btf = 0;
    cst_arena_defer(a, release, lu);
    return lu;
}

/* What the factors are worth, from U with rows of A scaled to 1:
 *   pivot   the smallest |u_kk| / max_i |u_ik|: below LOST nothing of the column is left, `worst` is its column;
 *   reach   the largest growth of a column of U since the last factor. */
typedef struct quality { double pivot, reach, smallest, largest; int worst; } quality;

#define LOST 1e-14

static quality measure(const cst_lu *lu)
{
    const klu_numeric *f = lu->numeric;
    const double *lu_block = f->LUbx[0], *diagonal = f->Udiag;
    quality q = {INFINITY, 0, INFINITY, 0, -1};
    for (int k = 0; k < f->n; k++) {
        const double *u = lu_block + f->Uip[k];
        int len = f->Ulen[k];
        u += (len * sizeof(int) + sizeof(double) - 1) / sizeof(double); /* indices come first */
        double d = fabs(diagonal[k]), most = d;
        for (int i = 0; i < len; i++) most = fabs(u[i]) > most ? fabs(u[i]) : most;
        if (!(d >= q.pivot * most)) q.pivot = d / most, q.worst = k;
        double reach = most * lu->reach[k];
        if (!(reach <= q.reach)) q.reach = reach;
        if (d < q.smallest) q.smallest = d;
        if (d > q.largest) q.largest = d;
    }
    return q;
}

static void note_reach(cst_lu *lu)
{
    const klu_numeric *f = lu->numeric;
    const double *lu_block = f->LUbx[0], *diagonal = f->Udiag;
    for (int k = 0; k < f->n; k++) {
        int len = f->Ulen[k];
        const double *u = lu_block + f->Uip[k] + (len * sizeof(int) + sizeof(double) - 1) / sizeof(double);
        double most = fabs(diagonal[k]);
        for (int i = 0; i < len; i++) most = fmax(most, fabs(u[i]));
        lu->reach[k] = 1 / most;
    }
}

/* The column with an entry that is no number, or -1 */
static int first_nonfinite(const cst_pattern *p, const double *val)
{
    for (int j = 0; j < p->n; j++)
        for (int k = p->ptr[j]; k < p->ptr[j + 1]; k++)
            if (!isfinite(val[k])) return j;
    return -1;
}

int cst_lu_factor(cst_lu *lu, const double *val)
{
    const cst_pattern *p = lu->p;
    klu_common *c = &lu->common;
    if (p->n == 0) return -1;
    klu_free_numeric(&lu->numeric, c);
    int bad = first_nonfinite(p, val);
    if (bad >= 0) return bad;
    lu->numeric = klu_factor(p->ptr, p->row, (double *)val, lu->symbolic, c);
    if (!lu->numeric) return c->status == KLU_SINGULAR ? c->singular_col : 0;

    lu->info.factors++;
    lu->info.lnz = lu->numeric->lnz;
    lu->info.unz = lu->numeric->unz;
    klu_flops(lu->symbolic, lu->numeric, c);
    klu_rgrowth(p->ptr, p->row, (double *)val, lu->symbolic, lu->numeric, c);
    note_reach(lu);
    quality q = measure(lu);
    lu->info.flops = c->flops;
    lu->info.growth = lu->growth = c->rgrowth;
    lu->info.rcond = q.smallest / q.largest;
    if (q.pivot > LOST) return -1;
    klu_free_numeric(&lu->numeric, c);
    return lu->symbolic->Q[q.worst];
}

/* Pivots are kept, so the factors are as good as they were while the columns of U do not grow. When they do, the exact
 * growth against A decides. */
int cst_lu_refactor(cst_lu *lu, const double *val)
{
    const cst_pattern *p = lu->p;
    klu_common *c = &lu->common;
    if (p->n == 0) return -1;
    if (!lu->numeric || !klu_refactor(p->ptr, p->row, (double *)val, lu->symbolic, lu->numeric, c))
        return cst_lu_factor(lu, val);
    lu->info.refactors++;
    quality q = measure(lu);
    lu->info.growth = lu->growth / fmax(1, q.reach);
    lu->info.rcond = q.smallest / q.largest;
    if (q.pivot > LOST && q.reach < 1e3) return -1;
    if (q.pivot > LOST) {
        klu_rgrowth(p->ptr, p->row, (double *)val, lu->symbolic, lu->numeric, c);
        lu->info.growth = c->rgrowth;
        if (c->rgrowth > 1e-3 * lu->growth) return -1;
    }
    return cst_lu_factor(lu, val);
}

void cst_lu_solve(cst_lu *lu, int nrhs, double *b)
{
    int n = lu->p->n;
    if (n == 0) return;
    assert(lu->numeric);
    klu_solve(lu->symbolic, lu->numeric, n, nrhs, b, &lu->common);
    lu->info.solves += nrhs;
}

void cst_lu_tsolve(cst_lu *lu, int nrhs, double *b)
{
    int n = lu->p->n;
    if (n == 0) return;
    assert(lu->numeric);
    klu_tsolve(lu->symbolic, lu->numeric, n, nrhs, b, &lu->common);
    lu->info.solves += nrhs;
}

const cst_lu_info *cst_lu_get(const cst_lu *lu)
{
    return &lu->info;
}

/* The analysis of order k. estimate: flops without row exchanges, 0 when unknown. */
static int analyse(cst_lu *lu, cst_arena *s, const cst_adjacency *g, int k, double *estimate)
{
    const cst_pattern *p = lu->p;
    *estimate = 0;
    if (orders[k].how == BY_RULE) {
        int *perm = cst_new(s, int, p->n + 1);
        *estimate = cst_order_make(s, g, orders[k].rule, perm);
        lu->own = klu_analyze_given(p->n, p->ptr, p->row, perm, perm, &lu->common);
    } else {
        lu->common.ordering = orders[k].how == BY_COLAMD;
        lu->own = klu_analyze(p->n, p->ptr, p->row, &lu->common);
        if (lu->own && orders[k].how == BY_AMD) *estimate = fmax(0, lu->own->est_flops);
    }
    lu->symbolic = lu->own;
    lu->info.order = orders[k].name;
    return lu->own != NULL;
}

/* Below SMALL every order is tried. Above, an order is left out when its estimate is clearly worse, and so are KLU's
 * own orders: they do not know of the zero pivots of multipliers, and row exchanges may fill the factors far beyond
 * the estimate (AMD on a 27 x 27 grid of bodies: hundreds of times). They remain for want of anything better. */
enum { SMALL = 2000 };

static int worth_trying(const cst_lu *lu, const cst_adjacency *g, int k)
{
    if (orders[k].how == BY_RULE) return cst_order_differs(g, orders[k].rule);
    return lu->p->n <= SMALL || !lu->numeric;
}

/* Flops; factors that have lost many digits are taken only when there are no better ones. */
static double cost(const cst_lu *lu)
{
    if (!lu->symbolic) return INFINITY;
    if (!lu->numeric) return 1e300;
    return lu->info.growth > 1e-8 ? lu->info.flops : 1e100 / (lu->info.growth + 1e-100);
}

static void exchange(cst_lu *a, cst_lu *b)
{
    cst_lu t = *a;
    *a = *b;
    *b = t;
}

/* Order k against the best so far; the loser is released. */
static void try_order(cst_lu *best, cst_lu *trial, cst_arena *s, const cst_adjacency *g, int k, const double *val)
{
    double estimate;
    release(trial);
    trial->symbolic = NULL;
    if (!analyse(trial, s, g, k, &estimate)) return;
    if (trial->p->n > SMALL && estimate > 2 * cost(best)) return;
    cst_lu_factor(trial, val);
    if (cost(trial) < cost(best)) exchange(best, trial);
}

cst_lu *cst_lu_new(cst_arena *a, const cst_pattern *p, const double *val, const unsigned char *rank,
                   const char *order)
{
    cst_lu *lu = lu_alloc(a, p);
    cst_arena *s = cst_arena_child(a);
    cst_lu *trial = lu_alloc(s, p);
    cst_adjacency *g = cst_adjacency_new(s, p, rank);
    trial->reach = cst_new(a, double, p->n + 1);
    int known = 0;
    for (int k = 0; k < NORDER && p->n > 0; k++) {
        if (order ? strcmp(order, orders[k].name) != 0 : !worth_trying(lu, g, k)) continue;
        known = 1;
        try_order(lu, trial, s, g, k, val);
    }
    cst_arena_free(s);
    lu->info.factors = lu->info.refactors = lu->info.solves = 0;
    return (known && lu->symbolic) || p->n == 0 ? lu : NULL;
}

cst_lu *cst_lu_twin(cst_arena *a, const cst_lu *lu)
{
    cst_lu *twin = lu_alloc(a, lu->p);
    twin->symbolic = lu->symbolic;
    twin->info.order = lu->info.order;
    return twin;
}
