/* SPDX-License-Identifier: MIT
 *
 * A^T P = Q R by SuiteSparseQR (Davis, ACM TOMS 38, 2011), rows of A scaled to norm 1. Going through the
 * columns of A^T in the order P, a column whose distance to the span of the live columns before it is at
 * most tol is dead (Heath, 1982): every dead row is dependent, with that residual. The converse does not
 * hold for a tolerance far above rounding: rows may be dependent together although each keeps a distance
 * to those before it. Therefore the smallest singular value of the live part is looked at, and while it
 * belongs to a dependent row that row is moved to the end and the factorisation repeated. */
#include "linalg/rank.h"

#include <math.h>
#include <string.h>
#include <suitesparse/SuiteSparseQR_C.h>

typedef SuiteSparse_long index_t;

typedef struct qr_work {
    const cst_rows *m;
    cst_arena *s;
    double tol;
    cholmod_common cc;
    int started;
    cholmod_sparse *At; /* P applied */
    cholmod_sparse *R;
    index_t *E;       /* what the factorisation did to the columns of At; NULL: nothing */
    double *scale;    /* 1 / norm of each row of A; 0 for zero rows */
    int *perm, n;     /* nonzero rows in the order of the columns of At */
    int *live, nlive; /* rows, in the order of the rows of R */
    int *live_col;    /* and their columns of R */
    int *dead, ndead;
    int *dead_col;
    double *x, *y; /* (n) */
} qr_work;

static void release_factors(qr_work *w)
{
    cholmod_l_free_sparse(&w->At, &w->cc);
    cholmod_l_free_sparse(&w->R, &w->cc);
    if (w->E) cholmod_l_free((size_t)w->n, sizeof *w->E, w->E, &w->cc);
    w->E = NULL;
}

static void release(void *object)
{
    qr_work *w = object;
    if (!w->started) return;
    release_factors(w);
    cholmod_l_finish(&w->cc);
    w->started = 0;
}

static qr_work *work_new(cst_arena *s, const cst_rows *m, double tol)
{
    qr_work *w = cst_new(s, qr_work, 1);
    cst_arena_defer(s, release, w);
    w->m = m, w->s = s, w->tol = tol;
    cholmod_l_start(&w->cc);
    w->started = 1;
    w->cc.print = 0;
    w->cc.error_handler = NULL;
    int **list[] = {&w->perm, &w->live, &w->live_col, &w->dead, &w->dead_col};
    for (size_t k = 0; k < sizeof list / sizeof *list; k++) *list[k] = cst_new(s, int, m->nrow + 1);
    w->scale = cst_new(s, double, m->nrow + 1);
    w->x = cst_new(s, double, m->nrow + m->ncol + 1);
    w->y = cst_new(s, double, m->nrow + m->ncol + 1);
    for (int i = 0; i < m->nrow; i++) {
        double most = 0, sum = 0;
        for (int k = m->ptr[i]; k < m->ptr[i + 1]; k++) most = fmax(most, fabs(m->val[k]));
        if (most == 0) continue;
        for (int k = m->ptr[i]; k < m->ptr[i + 1]; k++) sum += (m->val[k] / most) * (m->val[k] / most);
        w->scale[i] = 1 / (most * sqrt(sum));
        w->perm[w->n++] = i;
    }
    return w;
}

/* Column k of At is row perm[k] of A, scaled. */
static int form_transpose(qr_work *w)
{
    const cst_rows *m = w->m;
    size_t nnz = 0;
    for (int k = 0; k < w->n; k++) nnz += (size_t)(m->ptr[w->perm[k] + 1] - m->ptr[w->perm[k]]);
    w->At = cholmod_l_allocate_sparse((size_t)m->ncol, (size_t)w->n, nnz, 0, 1, 0, CHOLMOD_REAL, &w->cc);
    if (!w->At) return 0;
    index_t *p = w->At->p, *i = w->At->i, end = 0;
    double *x = w->At->x;
    for (int k = 0; k < w->n; k++) {
        int row = w->perm[k];
        p[k] = end;
        for (int t = m->ptr[row]; t < m->ptr[row + 1]; t++, end++) {
            i[end] = m->col[t];
            x[end] = m->val[t] * w->scale[row];
        }
    }
    p[w->n] = end;
    return 1;
}

/* Rows of R are live columns in turn: a column is live when it reaches the next row. */
static void read_staircase(qr_work *w)
{
    const index_t *p = w->R->p, *i = w->R->i;
    w->nlive = w->ndead = 0;
    for (int k = 0; k < w->n; k++) {
        int row = w->perm[w->E ? w->E[k] : k], reaches = 0;
        for (index_t t = p[k]; t < p[k + 1]; t++) reaches |= i[t] == w->nlive;
        if (reaches)
            w->live_col[w->nlive] = k, w->live[w->nlive++] = row;
        else
            w->dead_col[w->ndead] = k, w->dead[w->ndead++] = row;
    }
}

static int factor(qr_work *w)
{
    release_factors(w);
    if (!form_transpose(w)) return 0;
    index_t rank = SuiteSparseQR_C(SPQR_ORDERING_FIXED, w->tol, 0, 0, w->At, NULL, NULL, NULL, NULL, &w->R,
                                   &w->E, NULL, NULL, NULL, &w->cc);
    if (rank < 0 || !w->R) return 0;
    read_staircase(w);
    return 1;
}

/* Chooses the order of the rows: as given, if the factors then stay small, so that the later rows are the dependent ones;
 * otherwise the best order that CHOLMOD finds for A A^T. Flops are those of its Cholesky factor, an upper bound for R. */
static int choose_order(qr_work *w)
{
    int *given = cst_new(w->s, int, w->n + 1);
    memcpy(given, w->perm, w->n * sizeof(int));
    if (!form_transpose(w)) return 0;
    cholmod_sparse *A = cholmod_l_transpose(w->At, 0, &w->cc);
    cholmod_l_free_sparse(&w->At, &w->cc);
    if (!A) return 0;
    w->cc.nmethods = 1;
    w->cc.method[0].ordering = CHOLMOD_NATURAL;
    w->cc.postorder = 0;
    cholmod_factor *L = cholmod_l_analyze(A, &w->cc);
    double natural = L ? w->cc.fl : INFINITY;
    cholmod_l_free_factor(&L, &w->cc);
    if (natural > 1e8) {
        w->cc.method[0].ordering = CHOLMOD_AMD;
        w->cc.postorder = 1;
        L = cholmod_l_analyze(A, &w->cc);
        if (L && w->cc.fl < 0.1 * natural) {
            const index_t *P = L->Perm;
            for (int k = 0; k < w->n; k++) w->perm[k] = given[P[k]];
        }
        cholmod_l_free_factor(&L, &w->cc);
    }
    cholmod_l_free_sparse(&A, &w->cc);
    return w->cc.status >= CHOLMOD_OK;
}

/* R11 x = b for the live columns, in place; `top` is the last row where b is not zero */
static void solve_live(const qr_work *w, int top, double *x)
{
    const index_t *p = w->R->p, *i = w->R->i;
    const double *r = w->R->x;
    for (int k = top; k >= 0; k--) {
        if (x[k] == 0) continue;
        double diagonal = 1;
        for (index_t t = p[w->live_col[k]]; t < p[w->live_col[k] + 1]; t++)
            if (i[t] == k) diagonal = r[t];
        double xk = x[k] /= diagonal;
        for (index_t t = p[w->live_col[k]]; t < p[w->live_col[k] + 1]; t++)
            if (i[t] < k) x[i[t]] -= r[t] * xk;
    }
}

static void tsolve_live(const qr_work *w, double *x)
{
    const index_t *p = w->R->p, *i = w->R->i;
    const double *r = w->R->x;
    for (int k = 0; k < w->nlive; k++) {
        double diagonal = 1, sum = x[k];
        for (index_t t = p[w->live_col[k]]; t < p[w->live_col[k] + 1]; t++) {
            if (i[t] == k)
                diagonal = r[t];
            else if (i[t] < k)
                sum -= r[t] * x[i[t]];
        }
        x[k] = sum / diagonal;
    }
}

static double normalise(int n, double *x)
{
    double most = 0, sum = 0;
    for (int k = 0; k < n; k++) most = fmax(most, fabs(x[k]));
    if (!(most > 0) || isinf(most)) return most;
    for (int k = 0; k < n; k++) sum += (x[k] / most) * (x[k] / most);
    double norm = most * sqrt(sum);
    for (int k = 0; k < n; k++) x[k] /= norm;
    return norm;
}

/* Inverse iteration for the smallest singular value sigma of R11, vector v: |sum v_k row_k| = sigma, so
 * row k is at most sigma / |v_k| away from the others. The last row of that kind, or -1. */
static int hidden_dependency(qr_work *w)
{
    int n = w->nlive;
    double *v = w->x, sigma = INFINITY;
    for (int k = 0; k < n; k++) v[k] = 1 + 0.5 * sin(1.0 + 7.0 * k);
    normalise(n, v);
    for (int it = 0; it < 4 && n > 0; it++) {
        tsolve_live(w, v);
        normalise(n, v);
        solve_live(w, n - 1, v);
        double inverse = normalise(n, v);
        if (!isfinite(inverse)) return -1;
        sigma = 1 / inverse;
    }
    for (int k = n - 1; k >= 0; k--)
        if (sigma <= 0.5 * w->tol * fabs(v[k])) return k;
    return -1;
}

static void move_to_end(qr_work *w, int row)
{
    int k = 0;
    while (w->perm[k] != row) k++;
    memmove(w->perm + k, w->perm + k + 1, (w->n - k - 1) * sizeof(int));
    w->perm[w->n - 1] = row;
}

/* |row - sum c_k live_k| with unit rows; the c_k are in w->x */
static double residual(qr_work *w, int row, int top)
{
    const cst_rows *m = w->m;
    double sum = 0, *r = w->y;
    memset(r, 0, m->ncol * sizeof *r);
    for (int t = m->ptr[row]; t < m->ptr[row + 1]; t++) r[m->col[t]] += m->val[t] * w->scale[row];
    for (int k = 0; k <= top; k++) {
        if (w->x[k] == 0) continue;
        int i = w->live[k];
        double c = w->x[k] * w->scale[i];
        for (int t = m->ptr[i]; t < m->ptr[i + 1]; t++) r[m->col[t]] -= c * m->val[t];
    }
    for (int j = 0; j < m->ncol; j++) sum += r[j] * r[j];
    return sqrt(sum);
}

typedef struct term {
    int row;
    double coef;
} term;
typedef CST_LIST(term) term_list;

/* Row dead[d] in terms of the live ones: R11 c = R12. The claim is checked on A itself: 0 when it does
 * not hold. */
static int express(qr_work *w, int d, term_list *terms)
{
    const index_t *p = w->R->p, *i = w->R->i;
    const double *r = w->R->x;
    int top = -1, row = w->dead[d];
    memset(w->x, 0, (w->nlive + 1) * sizeof *w->x);
    for (index_t t = p[w->dead_col[d]]; t < p[w->dead_col[d] + 1]; t++) {
        if (i[t] >= w->nlive) continue;
        w->x[i[t]] = r[t];
        if (i[t] > top) top = (int)i[t];
    }
    solve_live(w, top, w->x);
    if (!(residual(w, row, top) <= 4 * w->tol)) return 0;
    for (int k = 0; k <= top; k++)
        if (fabs(w->x[k]) > 1e-8)
            *cst_push(w->s, terms) = (term){w->live[k], w->x[k] * w->scale[w->live[k]] / w->scale[row]};
    return 1;
}

static void fill(cst_arena *a, const qr_work *w, const int *from, const int *start, const term *terms,
                 cst_rank *out)
{
    int nterm = 0;
    for (int row = 0; row < w->m->nrow; row++)
        if (from[row]) out->ndep++, nterm += from[row] > 0 ? start[from[row]] - start[from[row] - 1] : 0;
    out->rank = w->m->nrow - out->ndep;
    out->dep = cst_new(a, int, out->ndep + 1);
    out->term_ptr = cst_new(a, int, out->ndep + 1);
    out->term_row = cst_new(a, int, nterm + 1);
    out->term_coef = cst_new(a, double, nterm + 1);
    int n = 0, end = 0;
    for (int row = 0; row < w->m->nrow; row++) {
        if (!from[row]) continue;
        for (int t = from[row] > 0 ? start[from[row] - 1] : 0; from[row] > 0 && t < start[from[row]]; t++) {
            out->term_row[end] = terms[t].row;
            out->term_coef[end++] = terms[t].coef;
        }
        out->dep[n++] = row;
        out->term_ptr[n] = end;
    }
}

static int find_rank(qr_work *w)
{
    if (!choose_order(w) || !factor(w)) return 0;
    for (int found = -1, k; found < w->ndead && (k = hidden_dependency(w)) >= 0;) {
        found = w->ndead;
        move_to_end(w, w->live[k]);
        if (!factor(w)) return 0;
    }
    return 1;
}

int cst_rank_rows(cst_arena *a, const cst_rows *m, double tol, cst_rank *out)
{
    cst_arena *s = cst_arena_child(a);
    qr_work *w = work_new(s, m, tol);
    *out = (cst_rank){0};
    int ok = w->n == 0 || m->ncol == 0 || find_rank(w);
    if (ok) {
        /* from[row]: 0 independent, -1 zero row, else 1 + its place in start */
        int *from = cst_new(s, int, m->nrow + 1), *start = cst_new(s, int, w->ndead + 1);
        term_list terms = {0};
        for (int i = 0; i < m->nrow; i++) from[i] = w->scale[i] == 0 ? -1 : 0;
        for (int d = 0; d < w->ndead; d++) {
            if (express(w, d, &terms)) from[w->dead[d]] = d + 1;
            start[d + 1] = terms.n;
        }
        fill(a, w, from, start, terms.at, out);
    }
    cst_arena_free(s);
    return ok;
}
