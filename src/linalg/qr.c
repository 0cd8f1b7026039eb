/* SPDX-License-Identifier: MIT
 *
 * Multifrontal Householder QR (Liu, 1986; Puglisi, 1993). A front is a dense matrix of the rows
 * that begin in its columns: its own rows of B and what its children have left. It is reduced to a
 * staircase in all its columns, so that no more rows than columns are left for the parent: rows of
 * zeros, one for each freedom of the mechanism, would otherwise be carried up to the root. */
#include "linalg/qr.h"

#include <math.h>
#include <string.h>

#include "linalg/pair.h"

typedef struct numeric {
    const cst_qr_plan *p;
    const double *scale;
    double tol;
    cst_qr *out;
    double *F; /* the front, by columns, `tall` rows apart */
    int tall;
    int *place;    /* (n) where a column of B is in the front */
    int *stair;    /* (ncol + 1) how many rows of the front begin in a column before this one */
    int *pivot;    /* (rows) columns of the rows of R, in turn */
    double *stack; /* blocks of the fronts whose parents are still to come, by columns */
    size_t used;
    int *rows, *from; /* of each block: its rows, its front */
    int top;
} numeric;

/* ---- a front is put together ---- */

/* Calls a block's row i the first one that can begin in its column i: it is a staircase. */
static void count_rows(numeric *w, const cst_qr_front *f)
{
    memset(w->stair, 0, sizeof *w->stair * (size_t)(f->ncol + 2));
    for (int i = 0; i < f->nown; i++) w->stair[w->place[w->p->first[f->own[i]]] + 2]++;
    for (int c = w->top - f->nchild; c < w->top; c++) {
        const cst_qr_front *child = &w->p->front[w->from[c]];
        for (int i = 0; i < w->rows[c]; i++)
            w->stair[w->place[child->col[child->npivot + i]] + 2]++;
    }
    for (int k = 0; k < f->ncol; k++) w->stair[k + 2] += w->stair[k + 1];
    w->tall = w->stair[f->ncol + 1];
}

/* Rows are sorted by the column they begin in. Afterwards stair[k + 1] rows begin in column k or
 * before. */
static void assemble(numeric *w, const cst_qr_front *f)
{
    const cst_qr_plan *p = w->p;
    for (int k = 0; k < f->ncol; k++) w->place[f->col[k]] = k;
    count_rows(w, f);
    size_t tall = (size_t)w->tall;
    memset(w->F, 0, sizeof *w->F * tall * (size_t)f->ncol);
    for (int i = 0; i < f->nown; i++) {
        int j = f->own[i], at = w->stair[w->place[p->first[j]] + 1]++;
        for (int t = p->ptr[j]; t < p->ptr[j + 1]; t++)
            w->F[(size_t)w->place[p->col[t]] * tall + (size_t)at] +=
                p->m->val[p->slot[t]] * w->scale[p->perm[p->col[t]]];
    }
    for (int c = 0; c < f->nchild; c++) {
        w->top--;
        const cst_qr_front *child = &p->front[w->from[w->top]];
        const int *col = child->col + child->npivot, n = child->ncol - child->npivot,
                  rows = w->rows[w->top];
        w->used -= (size_t)rows * (size_t)n;
        const double *block = w->stack + w->used;
        for (int i = 0; i < rows; i++) {
            int at = w->stair[w->place[col[i]] + 1]++;
            for (int k = i; k < n; k++)
                w->F[(size_t)w->place[col[k]] * tall + (size_t)at] =
                    block[(size_t)k * (size_t)rows + (size_t)i];
        }
    }
}

/* ---- elimination ---- */

static double sum_of_squares(int n, const double *x)
{
    cst_pair s = {0, 0}, other = {0, 0};
    int i = 0;
    for (; i + 3 < n; i += 4) {
        s += CST_READ_PAIR(x + i) * CST_READ_PAIR(x + i);
        other += CST_READ_PAIR(x + i + 2) * CST_READ_PAIR(x + i + 2);
    }
    s += other;
    double sum = s[0] + s[1];
    for (; i < n; i++) sum += x[i] * x[i];
    return sum;
}

/* y -= tau v (v . y) for `count` columns y, `apart` numbers apart */
CST_INLINE void reflect(int n, const double *v, double tau, double *y, size_t apart, int count)
{
    cst_pair s[4] = {{0, 0}};
    double f[4];
    int i = 0;
    for (; i + 1 < n; i += 2)
        for (int c = 0; c < count; c++)
            s[c] += CST_READ_PAIR(v + i) * CST_READ_PAIR(y + (size_t)c * apart + i);
    for (int c = 0; c < count; c++) {
        f[c] = s[c][0] + s[c][1];
        if (i < n) f[c] += v[i] * y[(size_t)c * apart + (size_t)i];
        f[c] *= tau;
    }
    for (i = 0; i + 1 < n; i += 2)
        for (int c = 0; c < count; c++)
            CST_PAIR(y + (size_t)c * apart + i) -= CST_READ_PAIR(v + i) * CST_BOTH(f[c]);
    for (int c = 0; c < count && i < n; c++) y[(size_t)c * apart + (size_t)i] -= v[i] * f[c];
}

/* x becomes beta e1, y of the columns behind x its reflection: H = 1 - tau v v^T, v = x - beta e1.
 * norm = |x| */
static void eliminate(int n, double *x, double norm, int ncol, size_t apart)
{
    double beta = x[0] > 0 ? -norm : norm, tau = -1 / (beta * (x[0] - beta));
    int rest = 0;
    for (int i = 1; i < n; i++) rest |= x[i] != 0;
    if (!rest) return;
    x[0] -= beta;
    double *y = x + apart;
    int k = 0;
    for (; k + 3 < ncol; k += 4) reflect(n, x, tau, y + (size_t)k * apart, apart, 4);
    for (; k < ncol; k++) reflect(n, x, tau, y + (size_t)k * apart, apart, 1);
    x[0] = beta;
    memset(x + 1, 0, sizeof *x * (size_t)(n - 1));
}

/* Returns the rows of R; rows: of the whole staircase. */
static int reduce(numeric *w, const cst_qr_front *f, int *rows)
{
    int r = 0, rank = 0;
    for (int k = 0; k < f->ncol; k++) {
        double *x = w->F + (size_t)k * (size_t)w->tall + r;
        int n = w->stair[k + 1] - r;
        double norm = sqrt(sum_of_squares(n, x));
        if (k < f->npivot && norm > w->tol)
            w->pivot[rank++] = f->col[k];
        else if (k < f->npivot || norm == 0) {
            memset(x, 0, sizeof *x * (size_t)n);
            continue;
        }
        eliminate(n, x, norm, f->ncol - k - 1, (size_t)w->tall);
        r++;
    }
    *rows = r;
    return rank;
}

/* ---- what is kept ---- */

static void keep_rows(numeric *w, const cst_qr_front *f, int rank)
{
    cst_qr *q = w->out;
    q->nlive += rank;
    for (int k = 0; k < f->ncol; k++) {
        const double *x = w->F + (size_t)k * (size_t)w->tall;
        int col = f->col[k];
        for (int i = 0; i < rank && w->pivot[i] <= col; i++) {
            if (w->pivot[i] == col)
                q->diagonal[col] = x[i];
            else if (x[i] != 0)
                q->row[q->end[col]] = w->pivot[i], q->val[q->end[col]++] = x[i];
        }
    }
}

static void keep_block(numeric *w, int front, int rank, int rows)
{
    const cst_qr_front *f = &w->p->front[front];
    int n = f->ncol - f->npivot, left = rows - rank;
    for (int k = 0; k < n; k++) {
        memcpy(w->stack + w->used, w->F + (size_t)(f->npivot + k) * (size_t)w->tall + rank,
               sizeof *w->F * (size_t)left);
        w->used += (size_t)left;
    }
    w->rows[w->top] = left;
    w->from[w->top++] = front;
}

void cst_qr_factor(cst_arena *a, const cst_qr_plan *p, const double *scale, double tol, cst_qr *out)
{
    *out = (cst_qr){.n = p->n};
    out->diagonal = cst_new(a, double, p->n + 1);
    out->ptr = cst_new(a, size_t, p->n + 1);
    out->end = cst_new(a, size_t, p->n + 1);
    for (int k = 0; k < p->n; k++)
        out->ptr[k + 1] = out->end[k + 1] = out->ptr[k] + (size_t)p->bound[k];
    out->row = cst_new(a, int, out->ptr[p->n] + 1);
    out->val = cst_new(a, double, out->ptr[p->n] + 1);

    cst_arena *s = cst_arena_child(a);
    numeric *w = cst_new(s, numeric, 1);
    *w = (numeric){.p = p, .scale = scale, .tol = tol, .out = out};
    w->F = cst_new(s, double, p->front_size + 1);
    w->stack = cst_new(s, double, p->stack_size + 1);
    w->place = cst_new(s, int, p->n + 1);
    w->stair = cst_new(s, int, p->widest + 2);
    w->pivot = cst_new(s, int, p->tallest + 1);
    w->rows = cst_new(s, int, p->stack_rows + 1);
    w->from = cst_new(s, int, p->stack_rows + 1);
    for (int i = 0; i < p->nfront; i++) {
        const cst_qr_front *f = &p->front[i];
        int rows;
        assemble(w, f);
        int rank = reduce(w, f, &rows);
        keep_rows(w, f, rank);
        keep_block(w, i, rank, rows);
    }
    cst_arena_free(s);
}
