/* SPDX-License-Identifier: MIT
 *
 * LU by KLU (Davis, Palamadai Natarajan, ACM TOMS 37, 2010). Rows are scaled by their largest
 * entry, no block triangular form. A diagonal pivot is taken when it is not smaller than `tol`
 * times the largest of its column. */
#include <assert.h>
#include <float.h>
#include <math.h>
#include <string.h>
#include <suitesparse/klu.h>

#include "linalg/fronts.h"
#include "linalg/order.h"
#include "linalg/pair.h"

struct cst_lu {
    const cst_pattern *p;
    klu_common common;
    klu_symbolic *symbolic;     /* own, or that of the lu it is a twin of */
    klu_numeric *numeric;       /* NULL: not factored */
    klu_symbolic *own;          /* NULL in a twin */
    double *pivot;              /* (n) 1 / |u_kk| at the last full check of the factors */
    double growth;              /* of the last factor */
    const cst_front_plan *plan; /* NULL: none */
    cst_fronts *fronts;         /* twins only: dense fronts, where their row exchanges suffice */
    cst_fronts *planned;        /* the fronts it was created with */
    int in_fronts;              /* the current factors are in `fronts`, not in `numeric` */
    double regular;             /* rcond at the values for which the order was chosen */
    int failures;               /* how often the fronts failed near singular positions */
    int refusals, pause; /* refusals in a row; refactorisations before the fronts are tried again */
    double *front_pivot; /* (n) pivots of the fronts at their last full check; valid if `looked` */
    double *regular_pivot; /* (n) theirs when KLU last found the matrix regular, at first at the
                              plan's values; [0] = 0: unknown */
    const double
        *plan_pivot;       /* (n) theirs at the plan's values, of the lu that this is a twin of */
    double *check;         /* (3n) scratch */
    int looked;            /* the fronts have had a full check */
    int forget;            /* the next refactorisation starts from scratch */
    double *scale;         /* (n) d, shared with twins */
    double *both, *scaled; /* (nnz) d_i d_j, shared with twins; d_i d_j a_ij */
    cst_lu_info info;
};

/* instructions per flop of a factorisation, per entry of the factors in a solution: counted */
#define KLU_FACTOR 10.0
#define KLU_SOLVE 7.0

enum { BY_AMD, BY_COLAMD, BY_RULE };

static const struct {
    const char *name;
    int how;
    cst_order_rule rule;
} orders[] = {
    {"multiplier-after", BY_RULE, CST_ORDER_AFTER},
    {"hub-last", BY_RULE, CST_ORDER_HUB},
    {"coordinates-first", BY_RULE, CST_ORDER_COORDINATES},
    {"amd", BY_AMD, 0},
    {"colamd", BY_COLAMD, 0},
};
enum { NORDER = sizeof orders / sizeof *orders };

const char *cst_lu_order_name(int k) { return k >= 0 && k < NORDER ? orders[k].name : NULL; }

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
    lu->pivot = cst_new(a, double, p->n + 1);
    lu->scaled = cst_new(a, double, p->nnz + 1);
    klu_defaults(&lu->common);
    lu->common.scale = 2;
    lu->common.btf = 0;
    cst_arena_defer(a, release, lu);
    return lu;
}

/* A pivot is lost if |u_kk| < LOST max_i |u_ik|: only rounding is left of its column. */
#define LOST 1e-14

/* max_i |u_ik|. A column of U is stored as its indices and then its values, without the diagonal; a
 * 1 x 1 matrix is stored as its diagonal alone. */
static inline double column_size(const klu_numeric *f, int k)
{
    double most = fabs(((const double *)f->Udiag)[k]);
    if (!f->LUbx[0]) return most;
    int len = f->Ulen[k];
    const double *u =
        (const double *)f->LUbx[0] + f->Uip[k] + (len * sizeof(int) + sizeof *u - 1) / sizeof *u;
    for (int i = 0; i < len; i++) most = fabs(u[i]) > most ? fabs(u[i]) : most;
    return most;
}

/* Full check: stores the pivots and returns the unknown whose pivot is lost (or NaN), or -1. */
static int inspect(cst_lu *lu)
{
    const klu_numeric *f = lu->numeric;
    const double *u = f->Udiag;
    double worst = LOST;
    int lost = -1;
    for (int k = 0; k < f->n; k++) {
        double ratio = fabs(u[k]) / column_size(f, k);
        if (!(ratio >= worst)) lost = k, worst = ratio;
        lu->pivot[k] = 1 / fabs(u[k]);
    }
    return lost < 0 ? -1 : lu->symbolic->Q[lost];
}

/* The quick look: have all pivots stayed within a factor of 100? Also rcond = min |u_kk| / max
 * |u_kk|. */
static int pivots_stay(cst_lu *lu)
{
    const double *u = lu->numeric->Udiag, *pivot = lu->pivot;
    double least = INFINITY, most = 0, low = INFINITY, high = 0;
    int n = lu->p->n, number = 1;
    for (int k = 0; k < n; k++) {
        double d = fabs(u[k]), change = d * pivot[k];
        least = d < least ? d : least, most = d > most ? d : most;
        low = change < low ? change : low, high = change > high ? change : high;
        number &= d >= 0;
    }
    lu->info.rcond = least / most;
    return number && low > 0.01 && high < 100;
}

/* The same for the fronts, which keep 1 / u_kk. */
static int front_pivots_stay(const cst_lu *lu, const double *pivot)
{
    const double *v = lu->fronts->inverse;
    double low = INFINITY, high = 0;
    if (pivot[0] == 0) return 0;
    for (int k = 0; k < lu->p->n; k++) {
        double change = fabs(v[k]) * pivot[k];
        low = change < low ? change : low, high = change > high ? change : high;
    }
    return low > 0.01 && high < 100;
}

static void remember_front_pivots(const cst_lu *lu, double *pivot)
{
    for (int k = 0; k < lu->p->n; k++) pivot[k] = 1 / fabs(lu->fronts->inverse[k]);
}

/* Full check of fronts that hold the factors of val: do they solve A x = A v to rounding? If so,
 * their pivots are stored. This has to be tried, because rows are exchanged only inside a front. */
static int fronts_serve(cst_lu *lu, const double *val)
{
    const cst_pattern *p = lu->p;
    int n = p->n;
    double *b = lu->check, *x = b + n, *size = x + n, worst = 0;
    memset(b, 0, sizeof *b * 3 * (size_t)n);
    for (int j = 0; j < n; j++) x[j] = (j & 1 ? -0.5 : 1) + 0.25 * (j % 7) / 7;
    cst_sparse_mul(p, val, x, b);
    memcpy(x, b, sizeof *x * (size_t)n);
    cst_fronts_solve(lu->fronts, 0, x);
    for (int j = 0; j < n; j++)
        for (int k = p->ptr[j]; k < p->ptr[j + 1]; k++) {
            b[p->row[k]] -= val[k] * x[j];
            size[p->row[k]] += fabs(val[k] * x[j]);
        }
    for (int i = 0; i < n; i++)
        if (!(fabs(b[i]) <= worst * size[i])) worst = fabs(b[i]) / size[i];
    if (!(worst <= 1e-12)) return 0;
    lu->refusals = 0;
    remember_front_pivots(lu, lu->front_pivot);
    return lu->looked = 1;
}

#define NEAR                                                                                       \
    0.05 /* a position counts as singular if rcond is below this times rcond where the order was   \
            chosen */

/* Called if the fronts do not serve a matrix that KLU has factored. Near a singular position row
 * exchanges between fronts are needed, now and whenever it is approached again, so the fronts are
 * given up after some failures. Elsewhere only the order of the fronts is unsuitable there, and
 * they are tried again later. */
static void fronts_refused(cst_lu *lu)
{
    if (!(lu->info.rcond < NEAR * lu->regular))
        lu->pause = lu->refusals < 8 ? 1 << lu->refusals++ : 256;
    else if (++lu->failures > 10)
        lu->fronts = NULL;
}

/* The column with an entry that is no number, or -1 */
static int first_nonfinite(const cst_pattern *p, const double *val)
{
    for (int j = 0; j < p->n; j++)
        for (int k = p->ptr[j]; k < p->ptr[j + 1]; k++)
            if (!isfinite(val[k])) return j;
    return -1;
}

static int factor(cst_lu *lu, const double *val)
{
    const cst_pattern *p = lu->p;
    klu_common *c = &lu->common;
    if (p->n == 0) return -1;
    lu->in_fronts = 0;
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
    lu->info.flops = c->flops;
    lu->info.growth = lu->growth = c->rgrowth;
    bad = inspect(lu);
    pivots_stay(lu);
    if (bad >= 0) klu_free_numeric(&lu->numeric, c);
    return bad;
}

/* With KLU. Factors with the old pivots are as good as before while the pivots keep their size
 * (rows of A are scaled to 1). When they do not, their growth against A decides: the smallest over
 * the columns of max |a_ik| / max |u_ik|. */
static int refactor(cst_lu *lu, const double *val)
{
    const cst_pattern *p = lu->p;
    klu_common *c = &lu->common;
    lu->in_fronts = 0;
    if (!lu->numeric || !klu_refactor(p->ptr, p->row, (double *)val, lu->symbolic, lu->numeric, c))
        return factor(lu, val);
    lu->info.refactors++;
    if (pivots_stay(lu)) return -1;

    klu_rgrowth(p->ptr, p->row, (double *)val, lu->symbolic, lu->numeric, c);
    lu->info.growth = c->rgrowth;
    if (c->rgrowth >= 0.1 * lu->growth && inspect(lu) < 0) return -1;
    return factor(lu, val);
}

/* z = x y, entry by entry; z may be x */
static void multiply(int n, const double *x, const double *y, double *z)
{
    int k = 0;
    for (; k + 4 <= n; k += 4) {
        CST_PAIR(z + k) = CST_READ_PAIR(x + k) * CST_READ_PAIR(y + k);
        CST_PAIR(z + k + 2) = CST_READ_PAIR(x + k + 2) * CST_READ_PAIR(y + k + 2);
    }
    for (; k < n; k++) z[k] = x[k] * y[k];
}

/* d_i d_j a_ij */
static const double *scaled(cst_lu *lu, const double *val)
{
    multiply(lu->p->nnz, val, lu->both, lu->scaled);
    return lu->scaled;
}

int cst_lu_factor(cst_lu *lu, const double *val) { return factor(lu, scaled(lu, val)); }

static void begin_anew(cst_lu *lu)
{
    lu->fronts = lu->planned;
    lu->forget = lu->failures = lu->refusals = lu->pause = lu->looked = 0;
    if (!lu->fronts)
        klu_free_numeric(&lu->numeric, &lu->common);
    else
        memcpy(lu->regular_pivot, lu->plan_pivot, sizeof *lu->regular_pivot * (size_t)lu->p->n);
}

/* Uses the fronts where they serve: they get a full check the first time and whenever their pivots
 * have changed. If the pivots have also changed since the matrix was last found regular, KLU
 * decides whether it still is; the resulting factors do not depend on when that check was made. */
int cst_lu_refactor(cst_lu *lu, const double *entries)
{
    if (lu->p->n == 0) return -1;
    const double *val = scaled(lu, entries);
    if (lu->forget) begin_anew(lu);
    if (!lu->fronts || lu->pause > 0) {
        if (lu->pause > 0) lu->pause--;
        return refactor(lu, val);
    }
    int done = cst_fronts_factor(lu->fronts, val),
        serve = done && lu->looked && front_pivots_stay(lu, lu->front_pivot);
    if (!serve) {
        if (!done || !front_pivots_stay(lu, lu->regular_pivot)) {
            int bad = refactor(lu, val);
            if (bad >= 0) return bad;
            if (done) remember_front_pivots(lu, lu->regular_pivot);
        }
        if (!done || !fronts_serve(lu, val)) {
            int bad = factor(lu, val); /* choosing its pivots anew */
            fronts_refused(lu);
            return bad;
        }
    }
    lu->in_fronts = 1;
    lu->info.refactors++;
    return -1;
}

void cst_lu_forget(cst_lu *lu) { lu->forget = 1; }

static void solve(cst_lu *lu, int transposed, int nrhs, double *b)
{
    int n = lu->p->n;
    if (n == 0) return;
    assert(lu->in_fronts || lu->numeric);
    for (int r = 0; r < nrhs; r++, b += n) {
        multiply(n, b, lu->scale, b);
        if (lu->in_fronts)
            cst_fronts_solve(lu->fronts, transposed, b);
        else
            (transposed ? klu_tsolve : klu_solve)(lu->symbolic, lu->numeric, n, 1, b, &lu->common);
        multiply(n, b, lu->scale, b);
    }
    lu->info.solves += nrhs;
}

void cst_lu_solve(cst_lu *lu, int nrhs, double *b) { solve(lu, 0, nrhs, b); }
void cst_lu_tsolve(cst_lu *lu, int nrhs, double *b) { solve(lu, 1, nrhs, b); }

const cst_lu_info *cst_lu_get(const cst_lu *lu) { return &lu->info; }

/* The analysis of order k; 0 when its flops without row exchanges, where they are known, exceed the
 * limit. */
static int analyse(cst_lu *lu, cst_arena *s, const cst_adjacency *g, int k, double limit)
{
    const cst_pattern *p = lu->p;
    if (orders[k].how == BY_RULE) {
        int *perm = cst_new(s, int, p->n + 1);
        if (isinf(cst_order_make(s, g, orders[k].rule, limit, perm))) return 0;
        lu->own = klu_analyze_given(p->n, p->ptr, p->row, perm, perm, &lu->common);
    } else {
        lu->common.ordering = orders[k].how == BY_COLAMD;
        lu->own = klu_analyze(p->n, p->ptr, p->row, &lu->common);
        if (lu->own && orders[k].how == BY_AMD && lu->own->est_flops > limit) return 0;
    }
    lu->symbolic = lu->own;
    lu->info.order = orders[k].name;
    return lu->own != NULL;
}

/* An order is skipped if its estimate is clearly worse than the best. KLU's own orders do not know
 * of the zero pivots of multipliers, and row exchanges may fill the factors far beyond the estimate
 * (AMD on a 27 x 27 grid of bodies: hundreds of times; on a chain of 100: a thousand times). They
 * are tried on matrices smaller than TINY; below SMALL if the best so far costs more than CHEAP
 * flops per entry, which is about the cost of filling in the matrix; and on larger ones only if
 * there is nothing better. */
enum { TINY = 300, SMALL = 2000, CHEAP = 10 };

static int worth_trying(const cst_lu *lu, const cst_adjacency *g, int k)
{
    int n = lu->p->n;
    if (orders[k].how == BY_RULE) return cst_order_differs(g, orders[k].rule);
    return n <= TINY || !lu->numeric || (n <= SMALL && lu->info.flops > CHEAP * (double)lu->p->nnz);
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
static void try_order(cst_lu *best, cst_lu *trial, cst_arena *s, const cst_adjacency *g, int k,
                      const double *val)
{
    release(trial);
    trial->symbolic = NULL;
    if (!analyse(trial, s, g, k, (trial->p->n > SMALL ? 2 : 10) * cost(best))) return;
    cst_lu_factor(trial, val);
    if (cost(trial) < cost(best)) exchange(best, trial);
}

/* d_i = 1/sqrt|a_ii| of coordinates, d_j = 1/max d_i |a_ij| of multipliers and of coordinates
 * without a diagonal, rounded to powers of two: neither units nor the masses of other bodies decide
 * about pivots. */
static void balance(cst_arena *a, cst_lu *lu, const double *val, const unsigned char *rank)
{
    const cst_pattern *p = lu->p;
    double *d = lu->scale = cst_new(a, double, p->n + 1),
           *both = lu->both = cst_new(a, double, p->nnz + 1);
    double *most = lu->pivot; /* scratch */
    for (int j = 0; j < p->n; j++)
        for (int k = p->ptr[j]; k < p->ptr[j + 1]; k++)
            if (rank && p->row[k] == j && !rank[j] && val[k] != 0 && isfinite(val[k]))
                d[j] = 1 / sqrt(fabs(val[k]));
    memset(most, 0, sizeof *most * (size_t)p->n);
    for (int j = 0; rank && j < p->n; j++)
        for (int k = p->ptr[j]; k < p->ptr[j + 1]; k++)
            if (isfinite(val[k]))
                most[p->row[k]] = fmax(most[p->row[k]], (d[j] > 0 ? d[j] : 1) * fabs(val[k]));
    for (int j = 0; j < p->n; j++) {
        if (d[j] == 0) d[j] = most[j] > 0 ? 1 / most[j] : 1;
        d[j] = ldexp(1, (int)rint(log2(d[j])));
    }
    for (int j = 0; j < p->n; j++)
        for (int k = p->ptr[j]; k < p->ptr[j + 1]; k++) both[k] = d[j] * d[p->row[k]];
}

cst_lu *cst_lu_new(cst_arena *a, const cst_pattern *p, const double *val, const unsigned char *rank,
                   const char *order)
{
    cst_lu *lu = lu_alloc(a, p);
    balance(a, lu, val, rank);
    cst_arena *s = cst_arena_child(a);
    cst_lu *trial = lu_alloc(s, p);
    trial->scale = lu->scale, trial->both = lu->both;
    trial->scaled = cst_new(a, double, p->nnz + 1);
    cst_adjacency *g = cst_adjacency_new(s, p, rank);
    trial->pivot = cst_new(a, double, p->n + 1);
    int known = 0;
    for (int k = 0; k < NORDER && p->n > 0; k++) {
        if (order ? strcmp(order, orders[k].name) != 0 : !worth_trying(lu, g, k)) continue;
        known = 1;
        try_order(lu, trial, s, g, k, val);
    }
    cst_arena_free(s);
    lu->info.factors = lu->info.refactors = lu->info.solves = 0;
    lu->info.factor_cost = KLU_FACTOR * lu->info.flops;
    lu->info.solve_cost = KLU_SOLVE * (lu->info.lnz + lu->info.unz);
    return (known && lu->symbolic) || p->n == 0 ? lu : NULL;
}

void cst_lu_plan(cst_arena *a, cst_lu *lu, const double *val)
{
    if (!lu->numeric) return;
    val = scaled(lu, val);
    lu->plan = cst_front_plan_new(a, lu->p, lu->symbolic->Q, val, lu->info.factor_cost);
    if (!lu->plan) return;
    cst_arena *s = cst_arena_child(a);
    lu->fronts = cst_fronts_new(s, lu->plan, 0);
    lu->check = cst_new(s, double, 3 * (size_t)lu->p->n + 1);
    lu->front_pivot = lu->regular_pivot = cst_new(a, double, lu->p->n + 1);
    if (!cst_fronts_factor(lu->fronts, val) || !fronts_serve(lu, val)) lu->regular_pivot[0] = 0;
    lu->fronts = NULL;
    cst_arena_free(s);
}

cst_lu *cst_lu_twin(cst_arena *a, const cst_lu *lu, int symmetric)
{
    cst_lu *twin = lu_alloc(a, lu->p);
    twin->symbolic = lu->symbolic;
    twin->scale = lu->scale, twin->both = lu->both;
    twin->info = lu->info;
    twin->regular = lu->info.rcond;
    twin->info.rcond = INFINITY;
    twin->info.factors = twin->info.refactors = twin->info.solves = 0;
    if (lu->plan) {
        twin->planned = cst_fronts_new(a, lu->plan, symmetric != 0);
        twin->front_pivot = cst_new(a, double, lu->p->n + 1);
        twin->regular_pivot = cst_new(a, double, lu->p->n + 1);
        twin->plan_pivot = lu->regular_pivot;
        twin->check = cst_new(a, double, 3 * (size_t)lu->p->n + 1);
        twin->info.factor_cost = lu->plan->factor_cost;
        twin->info.solve_cost = lu->plan->solve_cost;
    }
    cst_lu_forget(twin);
    return twin;
}
