/* SPDX-License-Identifier: MIT
 *
 * Columns of R by merging rows (George, Liu, Ng, SIAM J. Sci. Stat. Comput. 9, 1988): the row of R
 * that begins in column k has at most the columns of all rows that begin there, which are those of
 * B and those left over from its children in the elimination tree. The bound holds with dead
 * columns, too: a row that is not used up in its first column goes on to the parent. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <suitesparse/amd.h>

#include "linalg/qr.h"

typedef struct merge {
    cst_qr_plan *p;
    cst_arena *s;
    CST_LIST(int)
    store; /* columns behind k in the row of R that begins in k, ascending: begin, len */
    int *begin, *len;
    int *parent;          /* the first of them, -1: none */
    int *child, *sibling; /* lists by parent */
    int *into;     /* the column whose front takes this one, -1: it is the last pivot of a front */
    int *npivot;   /* of the front with this last pivot */
    double *zeros; /* entries of its rows that are there only because fronts were merged */
    int *mark;
} merge;

/* ---- B by rows ---- */

static void transpose(cst_arena *a, cst_qr_plan *p)
{
    const cst_rows *m = p->m;
    p->ptr = cst_new(a, int, m->ncol + 2);
    p->first = cst_new(a, int, m->ncol + 1);
    for (int j = 0; j < m->ncol; j++) p->first[j] = -1;
    for (int k = 0; k < p->n; k++)
        for (int t = m->ptr[p->perm[k]]; t < m->ptr[p->perm[k] + 1]; t++)
            if (m->val[t] != 0) p->ptr[m->col[t] + 2]++;
    for (int j = 0; j < m->ncol; j++) p->ptr[j + 2] += p->ptr[j + 1];
    p->col = cst_new(a, int, p->ptr[m->ncol + 1] + 1);
    p->slot = cst_new(a, int, p->ptr[m->ncol + 1] + 1);
    for (int k = 0; k < p->n; k++)
        for (int t = m->ptr[p->perm[k]]; t < m->ptr[p->perm[k] + 1]; t++) {
            if (m->val[t] == 0) continue;
            int j = m->col[t], at = p->ptr[j + 1]++;
            if (p->first[j] < 0) p->first[j] = k;
            p->col[at] = k, p->slot[at] = t;
        }
}

/* ---- columns of the rows of R ---- */

static int ascending(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

static void sort(int n, int *x)
{
    if (n > 24) {
        qsort(x, (size_t)n, sizeof *x, ascending);
        return;
    }
    for (int i = 1; i < n; i++) {
        int y = x[i], j = i;
        for (; j > 0 && x[j - 1] > y; j--) x[j] = x[j - 1];
        x[j] = y;
    }
}

static void add_columns(merge *w, int k, int n, const int *col)
{
    for (int t = 0; t < n; t++) {
        if (col[t] <= k || w->mark[col[t]] == k) continue;
        w->mark[col[t]] = k;
        *cst_push(w->s, &w->store) = col[t];
    }
}

static void merge_column(merge *w, int k, int nrow, const int *row)
{
    const cst_qr_plan *p = w->p;
    w->begin[k] = w->store.n;
    for (int i = 0; i < nrow; i++)
        add_columns(w, k, p->ptr[row[i] + 1] - p->ptr[row[i]], p->col + p->ptr[row[i]]);
    for (int c = w->child[k]; c >= 0; c = w->sibling[c])
        for (int t = 0; t < w->len[c]; t++) { /* the store may move while it grows */
            int col = w->store.at[w->begin[c] + t];
            add_columns(w, k, 1, &col);
        }
    w->len[k] = w->store.n - w->begin[k];
    for (int c = w->child[k]; c >= 0; c = w->sibling[c]) {
        if (w->len[c] != w->len[k] + 1) continue; /* else the same columns: one list serves both */
        w->store.n = w->begin[k];
        w->begin[k] = w->begin[c] + 1;
        return;
    }
    if (w->len[k]) sort(w->len[k], w->store.at + w->begin[k]);
}

/* Takes children into the front that ends in k, while that adds few zeros. Fronts of a few columns
 * cost more to put together than to eliminate. */
static void merge_fronts(merge *w, int k)
{
    enum { FEW = 12 };
    w->npivot[k] = 1;
    for (int c = w->child[k]; c >= 0; c = w->sibling[c]) {
        double mine = w->npivot[k], its = w->npivot[c], rows = mine + its;
        double more = its * (mine + w->len[k] - w->len[c]),
               zeros = w->zeros[k] + w->zeros[c] + more;
        double size = rows * (rows + 1) / 2 + rows * w->len[k];
        if (zeros > (rows <= FEW ? 0.4 : 0.1) * size) continue;
        w->into[c] = k;
        w->npivot[k] = (int)rows;
        w->zeros[k] = zeros;
    }
}

/* ---- the tree of fronts ---- */

/* Numbers the fronts, children first: place (n) of the front of a column. Returns their number. */
static int number_fronts(merge *w, int *place)
{
    int n = w->p->n, count = 0, top = -1;
    int *head = cst_new(w->s, int, n + 1), *next = cst_new(w->s, int, n + 1),
        *up = cst_new(w->s, int, n + 1);
    int *stack = cst_new(w->s, int, n + 1), *last = cst_new(w->s, int, n + 1);
    for (int k = 0; k <= n; k++) head[k] = -1; /* n: above the roots */
    for (int k = n - 1; k >= 0; k--) last[k] = w->into[k] < 0 ? k : last[w->into[k]];
    for (int k = n - 1; k >= 0; k--) {
        if (w->into[k] >= 0) continue;
        up[k] = w->parent[k] < 0 ? n : last[w->parent[k]];
        next[k] = head[up[k]], head[up[k]] = k;
    }
    up[n] = -1;
    stack[++top] = n;
    while (top >= 0) {
        int k = stack[top];
        if (head[k] >= 0) {
            stack[++top] = head[k];
            head[k] = next[head[k]];
        } else {
            top--;
            if (k < n) place[k] = count++;
        }
    }
    for (int k = 0; k < n; k++) place[k] = place[last[k]];
    return count;
}

static void fill_fronts(cst_arena *a, merge *w, const int *place)
{
    cst_qr_plan *p = w->p;
    int n = p->n, *of_col = cst_new(w->s, int, p->nfront + 1);
    for (int k = 0; k < n; k++) {
        cst_qr_front *f = &p->front[place[k]];
        f->npivot++;
        if (w->into[k] < 0) f->ncol = w->len[k], of_col[place[k]] = k;
        if (w->into[k] < 0 && w->parent[k] >= 0) p->front[place[w->parent[k]]].nchild++;
    }
    for (int j = 0; j < p->m->ncol; j++)
        if (p->first[j] >= 0) p->front[place[p->first[j]]].nown++;
    for (int i = 0; i < p->nfront; i++) {
        cst_qr_front *f = &p->front[i];
        int k = of_col[i];
        f->ncol += f->npivot;
        f->col = cst_new(a, int, f->ncol + 1);
        f->own = cst_new(a, int, f->nown + 1);
        if (w->len[k])
            memcpy(f->col + f->npivot, w->store.at + w->begin[k], sizeof(int) * (size_t)w->len[k]);
        for (int t = 0; t < f->ncol; t++) p->bound[f->col[t]] += t < f->npivot ? 0 : f->npivot;
        f->npivot = f->nown = 0;
    }
    for (int k = 0; k < n; k++) {
        cst_qr_front *f = &p->front[place[k]];
        p->bound[k] += f->npivot;
        f->col[f->npivot++] = k;
    }
    for (int j = 0; j < p->m->ncol; j++) {
        if (p->first[j] < 0) continue;
        cst_qr_front *f = &p->front[place[p->first[j]]];
        f->own[f->nown++] = j;
    }
}

/* Memory for the worst case, in which all pivots of a front are dead */
static void measure(cst_qr_plan *p, cst_arena *s)
{
    size_t now = 0, *left = cst_new(s, size_t, p->nfront + 1);
    int top = 0, *rows = cst_new(s, int, p->nfront + 1);
    for (int i = 0; i < p->nfront; i++) {
        const cst_qr_front *f = &p->front[i];
        int tall = f->nown, behind = f->ncol - f->npivot;
        for (int c = 0; c < f->nchild; c++) top--, tall += rows[top], now -= left[top];
        size_t size = (size_t)tall * (size_t)f->ncol;
        if (size > p->front_size) p->front_size = size;
        if (tall > p->tallest) p->tallest = tall;
        if (f->ncol > p->widest) p->widest = f->ncol;
        rows[top] = tall < behind ? tall : behind;
        left[top] = (size_t)rows[top] * (size_t)behind;
        now += left[top++];
        if (now > p->stack_size) p->stack_size = now;
        if ((size_t)top > p->stack_rows) p->stack_rows = (size_t)top;
    }
}

static merge *merge_new(cst_arena *s, cst_qr_plan *p)
{
    merge *w = cst_new(s, merge, 1);
    w->p = p, w->s = s;
    int **list[] = {&w->begin,   &w->len,  &w->parent, &w->child,
                    &w->sibling, &w->into, &w->npivot, &w->mark};
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) *list[i] = cst_new(s, int, p->n + 1);
    w->zeros = cst_new(s, double, p->n + 1);
    for (int k = 0; k < p->n; k++) w->child[k] = w->parent[k] = w->into[k] = w->mark[k] = -1;
    return w;
}

/* The rows of B by their first column: row[start[k]] .. */
static int *rows_by_first(cst_arena *s, const cst_qr_plan *p, int *start)
{
    int *row = cst_new(s, int, p->m->ncol + 1);
    for (int j = 0; j < p->m->ncol; j++)
        if (p->first[j] >= 0) start[p->first[j] + 2]++;
    for (int k = 0; k < p->n; k++) start[k + 2] += start[k + 1];
    for (int j = 0; j < p->m->ncol; j++)
        if (p->first[j] >= 0) row[start[p->first[j] + 1]++] = j;
    return row;
}

cst_qr_plan *cst_qr_plan_new(cst_arena *a, const cst_rows *m, int n, const int *perm, double limit)
{
    cst_qr_plan *p = cst_new(a, cst_qr_plan, 1);
    cst_arena *s = cst_arena_child(a);
    p->m = m, p->n = n, p->perm = perm;
    transpose(a, p);
    merge *w = merge_new(s, p);
    int *start = cst_new(s, int, n + 2), *row = rows_by_first(s, p, start);
    for (int k = 0; k < n && p->flops <= limit; k++) {
        merge_column(w, k, start[k + 1] - start[k], row + start[k]);
        p->flops += (w->len[k] + 1.0) * (w->len[k] + 1.0);
        merge_fronts(w, k);
        if (w->len[k] == 0) continue;
        int up = w->parent[k] = w->store.at[w->begin[k]];
        w->sibling[k] = w->child[up], w->child[up] = k;
    }
    int small = p->flops <= limit;
    if (small) {
        int *place = cst_new(s, int, n + 1);
        p->nfront = number_fronts(w, place);
        p->front = cst_new(a, cst_qr_front, p->nfront + 1);
        p->bound = cst_new(a, int, n + 1);
        fill_fronts(a, w, place);
        measure(p, s);
    }
    cst_arena_free(s);
    return small ? p : NULL;
}

/* ---- order ---- */

/* perm by minimum degree on the graph of B^T B */
static int minimum_degree(cst_arena *s, const cst_qr_plan *B, int *perm)
{
    int n = B->n, *ptr = cst_new(s, int, n + 1), *mark = cst_new(s, int, n + 1),
        *order = cst_new(s, int, n + 1);
    CST_LIST(int) adj = {0};
    for (int k = 0; k < n; k++) mark[k] = -1;
    for (int k = 0; k < n; k++) {
        mark[k] = k;
        for (int t = B->m->ptr[B->perm[k]]; t < B->m->ptr[B->perm[k] + 1]; t++)
            for (int j = B->m->col[t], i = B->ptr[j]; i < B->ptr[j + 1]; i++)
                if (mark[B->col[i]] != k) mark[B->col[i]] = k, *cst_push(s, &adj) = B->col[i];
        ptr[k + 1] = adj.n;
    }
    if (amd_order(n, ptr, adj.at, order, NULL, NULL) < AMD_OK) return 0;
    for (int k = 0; k < n; k++) perm[k] = B->perm[order[k]];
    return 1;
}

cst_qr_plan *cst_qr_order(cst_arena *a, const cst_rows *m, int n, int *perm)
{
    cst_qr_plan *given = cst_qr_plan_new(a, m, n, perm, 1e8);
    if (given) return given;
    cst_arena *s = cst_arena_child(a);
    cst_qr_plan B = {.m = m, .n = n, .perm = perm};
    int *other = cst_new(a, int, n + 1);
    transpose(s, &B);
    int ok = minimum_degree(s, &B, other);
    cst_arena_free(s);
    if (!ok) return NULL;
    cst_qr_plan *p = cst_qr_plan_new(a, m, n, other, INFINITY);
    given = cst_qr_plan_new(a, m, n, perm, 10 * p->flops);
    if (given) return given;
    memcpy(perm, other, sizeof *perm * (size_t)n);
    p->perm = perm;
    return p;
}
