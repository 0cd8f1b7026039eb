/* SPDX-License-Identifier: MIT
 *
 * The pattern is the union of blocks rows x columns. A block is kept as its two lists, never as its
 * entries: memory is linear in the lists, time in the number of block entries. */
#include "linalg/sparse.h"

#include <assert.h>
#include <math.h>
#include <string.h>

struct cst_pattern_builder {
    cst_arena *scratch;
    int n;
    CST_LIST(size_t) start; /* of each block in list */
    CST_LIST(int) list;     /* nr, nc, rows, columns; nc = -1: columns are the rows */
};

cst_pattern_builder *cst_pattern_begin(cst_arena *scratch, int n)
{
    cst_pattern_builder *b = cst_new(scratch, cst_pattern_builder, 1);
    b->scratch = scratch;
    b->n = n;
    return b;
}

static void append(cst_pattern_builder *b, int n, const int *item)
{
    for (int i = 0; i < n; i++) {
        assert(item[i] >= 0 && item[i] < b->n);
        *cst_push(b->scratch, &b->list) = item[i];
    }
}

void cst_pattern_block(cst_pattern_builder *b, int nr, const int *row, int nc, const int *col)
{
    if (nr <= 0 || nc <= 0) return;
    int square = nr == nc && memcmp(row, col, nr * sizeof *row) == 0;
    *cst_push(b->scratch, &b->start) = (size_t)b->list.n;
    *cst_push(b->scratch, &b->list) = nr;
    *cst_push(b->scratch, &b->list) = square ? -1 : nc;
    append(b, nr, row);
    if (!square) append(b, nc, col);
}

typedef struct block {
    int nr, nc;
    const int *row, *col;
} block;

static block block_at(const cst_pattern_builder *b, int k)
{
    const int *s = b->list.at + b->start.at[k];
    return (block){s[0], s[1] < 0 ? s[0] : s[1], s + 2, s[1] < 0 ? s + 2 : s + 2 + s[0]};
}

/* Which blocks touch a column: of[ptr[j]..ptr[j+1]) */
static int *blocks_of_columns(const cst_pattern_builder *b, int *ptr)
{
    for (int k = 0; k < b->start.n; k++) {
        block s = block_at(b, k);
        for (int j = 0; j < s.nc; j++) ptr[s.col[j] + 1]++;
    }
    for (int j = 0; j < b->n; j++) ptr[j + 1] += ptr[j];
    int *of = cst_new(b->scratch, int, ptr[b->n] + 1), *next = cst_new(b->scratch, int, b->n + 1);
    memcpy(next, ptr, b->n * sizeof *next);
    for (int k = 0; k < b->start.n; k++) {
        block s = block_at(b, k);
        for (int j = 0; j < s.nc; j++) of[next[s.col[j]]++] = k;
    }
    return of;
}

/* The union of the rows of the blocks that touch column j; row NULL: only counted. mark[r] == j +
 * 1: r is there. */
static int column_rows(const cst_pattern_builder *b, const int *ptr, const int *of, int j,
                       int *mark, int *row)
{
    int n = 0;
    for (int k = ptr[j]; k < ptr[j + 1]; k++) {
        if (k > ptr[j] && of[k] == of[k - 1]) continue;
        block s = block_at(b, of[k]);
        for (int i = 0; i < s.nr; i++) {
            if (mark[s.row[i]] == j + 1) continue;
            mark[s.row[i]] = j + 1;
            if (row) row[n] = s.row[i];
            n++;
        }
    }
    return n;
}

/* B = A^T; the columns of B come out sorted whatever the order within the columns of A. */
static void transpose(int n, const int *Ap, const int *Ai, int *Bp, int *Bi, int *next)
{
    memset(Bp, 0, (n + 1) * sizeof *Bp);
    for (int k = 0; k < Ap[n]; k++) Bp[Ai[k] + 1]++;
    for (int j = 0; j < n; j++) Bp[j + 1] += Bp[j];
    memcpy(next, Bp, n * sizeof *next);
    for (int j = 0; j < n; j++)
        for (int k = Ap[j]; k < Ap[j + 1]; k++) Bi[next[Ai[k]]++] = j;
}

const cst_pattern *cst_pattern_finish(cst_pattern_builder *b, cst_arena *a)
{
    int n = b->n;
    int *bptr = cst_new(b->scratch, int, n + 1), *mark = cst_new(b->scratch, int, n + 1);
    int *of = blocks_of_columns(b, bptr);

    cst_pattern *p = cst_new(a, cst_pattern, 1);
    p->n = n;
    p->ptr = cst_new(a, int, n + 1);
    for (int j = 0; j < n; j++) p->ptr[j + 1] = p->ptr[j] + column_rows(b, bptr, of, j, mark, NULL);
    p->nnz = p->ptr[n];
    p->row = cst_new(a, int, p->nnz + 1);
    memset(mark, 0, n * sizeof *mark);
    for (int j = 0; j < n; j++) column_rows(b, bptr, of, j, mark, p->row + p->ptr[j]);

    int *tp = cst_new(b->scratch, int, n + 1), *ti = cst_new(b->scratch, int, p->nnz + 1);
    transpose(n, p->ptr, p->row, tp, ti, mark);
    transpose(n, tp, ti, p->ptr, p->row, mark);
    return p;
}

static int slot_of(const cst_pattern *p, int row, int col)
{
    int lo = p->ptr[col], hi = p->ptr[col + 1];
    while (hi - lo > 1) {
        int mid = lo + (hi - lo) / 2;
        if (p->row[mid] <= row)
            lo = mid;
        else
            hi = mid;
    }
    assert(lo < p->ptr[col + 1] && p->row[lo] == row);
    return lo;
}

/* The unknowns of a body follow each other, so the next row is mostly in the next slot. */
void cst_pattern_slots(const cst_pattern *p, int nr, const int *row, int nc, const int *col,
                       int *slot)
{
    for (int j = 0; j < nc; j++) {
        int end = p->ptr[col[j] + 1], s = end;
        for (int i = 0; i < nr; i++) {
            s = s + 1 < end && p->row[s + 1] == row[i] ? s + 1 : slot_of(p, row[i], col[j]);
            slot[i * nc + j] = s;
        }
    }
}

double cst_largest(int n, const double *x)
{
    double y = 0;
    for (int i = 0; i < n; i++) {
        double e = fabs(x[i]);
        if (e > y) y = e;
        if (isnan(e)) return e;
    }
    return y;
}

void cst_sparse_mul(const cst_pattern *p, const double *val, const double *x, double *y)
{
    for (int j = 0; j < p->n; j++) {
        double xj = x[j];
        for (int k = p->ptr[j], end = p->ptr[j + 1]; k < end; k++) y[p->row[k]] += val[k] * xj;
    }
}

void cst_sparse_tmul(const cst_pattern *p, const double *val, const double *x, double *y)
{
    for (int j = 0; j < p->n; j++) {
        double s = 0, other = 0;
        int k = p->ptr[j], end = p->ptr[j + 1];
        for (; k + 1 < end; k += 2)
            s += val[k] * x[p->row[k]], other += val[k + 1] * x[p->row[k + 1]];
        if (k < end) s += val[k] * x[p->row[k]];
        y[j] += s + other;
    }
}
