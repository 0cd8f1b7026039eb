/* SPDX-License-Identifier: MIT
 *
 * The plan: structure of the factors by columns, columns joined to fronts where that is cheaper,
 * fronts in an order in which a front follows its children. The pattern is made symmetric. */
#include "linalg/fronts.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

enum { LARGEST = 1 << 27 }; /* limit for the number of doubles in all fronts */
enum { MOST_TRIALS = 12 };
enum { CACHE = 1 << 16 }; /* doubles that stay in the cache from one solve to the next */
/* Smallest admissible pivot relative to its column, with rows and columns scaled to 1, tried in
 * this order. With the first value D^-1 has hardly more rounding than triangular factors have; some
 * matrices have no such pivots inside their fronts. */
static const double least_pivot[] = {0.1, 1e-2, 1e-3, 1e-4};

typedef struct columns { /* of L, in the order of elimination */
    int n, *parent;
    int **row, *count; /* later unknowns that column k touches */
    int *place;        /* of each unknown in the order */
} columns;

/* neighbours that come later, with repetitions: ptr (n+1), list */
static void later_neighbours(cst_arena *s, const cst_pattern *p, const int *place, int **ptr,
                             int **list)
{
    int n = p->n, *at = cst_new(s, int, n + 2);
    *ptr = at;
    for (int pass = 0; pass < 2; pass++) {
        for (int j = 0; j < n; j++)
            for (int k = p->ptr[j]; k < p->ptr[j + 1]; k++) {
                int a = place[p->row[k]], b = place[j];
                if (a == b) continue;
                int first = a < b ? a : b;
                if (pass)
                    (*list)[at[first + 1]++] = a < b ? b : a;
                else
                    at[first + 2]++;
            }
        if (pass) break;
        for (int i = 0; i <= n; i++) at[i + 1] += at[i];
        *list = cst_new(s, int, at[n + 1] + 1);
    }
}

/* struct(k) = neighbours of k and of its children that come later; parent(k): the first of them */
static columns columns_new(cst_arena *s, const cst_pattern *p, const int *perm)
{
    int n = p->n, *ptr, *list, *mark = cst_new(s, int, n + 1);
    columns c = {.n = n,
                 .parent = cst_new(s, int, n + 1),
                 .row = cst_new(s, int *, n + 1),
                 .count = cst_new(s, int, n + 1),
                 .place = cst_new(s, int, n + 1)};
    int *child = cst_new(s, int, n + 1), *next = cst_new(s, int, n + 1),
        *buffer = cst_new(s, int, n + 1);
    for (int k = 0; k < n; k++) c.place[perm[k]] = k, child[k] = next[k] = -1, mark[k] = -1;
    later_neighbours(s, p, c.place, &ptr, &list);
    for (int k = 0; k < n; k++) {
        int count = 0, first = -1;
        mark[k] = k;
        for (int i = ptr[k]; i < ptr[k + 1]; i++)
            if (mark[list[i]] != k) mark[list[i]] = k, buffer[count++] = list[i];
        for (int d = child[k]; d >= 0; d = next[d])
            for (int i = 0; i < c.count[d]; i++)
                if (mark[c.row[d][i]] != k) mark[c.row[d][i]] = k, buffer[count++] = c.row[d][i];
        for (int i = 0; i < count; i++)
            if (first < 0 || buffer[i] < first) first = buffer[i];
        c.row[k] = cst_new(s, int, count + 1);
        memcpy(c.row[k], buffer, sizeof *buffer * (size_t)count);
        c.count[k] = count, c.parent[k] = first;
        if (first >= 0) next[k] = child[first], child[first] = k;
    }
    return c;
}

static int padded(int m) { return (m + 3) & ~3; }
static int shape_of(int dq, int nq)
{
    return dq <= CST_SHAPE_D && nq <= CST_SHAPE_N ? (dq - 1) * (CST_SHAPE_N + 1) + nq
                                                  : CST_NSHAPE - 1;
}

/* Instructions of one front, counted: inverting D, the rows of its pivots, the rows below, filling
 * in, adding to the parent. */
static double cost_of(int w, int m)
{
    double d = padded(w), n = padded(m), pivots = w * (w * (d + n + 13) + 2 * n + 70);
    return pivots + m * (n * (w + 1) + 25) + 0.4 * (w + n) * (w + m) + 1.2 * m * m + 300;
}

/* top[k]: the last column of the front that column k is in. A front is joined to its parent where
 * one larger front is cheaper than two. */
static int *join_columns(cst_arena *s, const columns *c)
{
    int n = c->n, *top = cst_new(s, int, n + 1), *width = cst_new(s, int, n + 1);
    int *child = cst_new(s, int, n + 1), *next = cst_new(s, int, n + 1);
    for (int k = 0; k < n; k++) top[k] = k, width[k] = 1, child[k] = -1;
    for (int k = 0; k < n; k++) {
        for (int d = child[k]; d >= 0; d = next[d]) {
            int w = width[k] + width[d];
            if (cost_of(w, c->count[k]) >
                cost_of(width[k], c->count[k]) + cost_of(width[d], c->count[d]))
                continue;
            width[k] = w, top[d] = k;
        }
        if (c->parent[k] >= 0) next[k] = child[c->parent[k]], child[c->parent[k]] = k;
    }
    for (int k = n - 1; k >= 0; k--)
        top[k] = top[top[k]]; /* parents have a larger index and are final already */
    return top;
}

/* Fronts in postorder: order[i] is the i-th column of the new order, begin[f] the first of front f.
 */
static int postorder(cst_arena *s, const columns *c, const int *top, int *order, int *begin)
{
    int n = c->n, nfront = 0, filled = 0, *child = cst_new(s, int, n + 1),
        *next = cst_new(s, int, n + 1);
    int *member = cst_new(s, int, n + 1), *link = cst_new(s, int, n + 1),
        *stack = cst_new(s, int, n + 1), depth = 0;
    for (int k = 0; k < n; k++) child[k] = member[k] = -1;
    for (int k = n - 1; k >= 0; k--) link[k] = member[top[k]], member[top[k]] = k;
    for (int k = n - 1; k >= 0; k--)
        if (top[k] == k && c->parent[k] >= 0)
            next[k] = child[top[c->parent[k]]], child[top[c->parent[k]]] = k;
    for (int root = 0; root < n; root++) {
        if (top[root] != root || c->parent[root] >= 0) continue;
        stack[depth++] = root;
        while (depth) {
            int k = stack[depth - 1], d = child[k];
            if (d >= 0) {
                child[k] = next[d];
                stack[depth++] = d;
                continue;
            }
            begin[nfront++] = filled;
            for (int i = member[k]; i >= 0; i = link[i]) order[filled++] = i;
            depth--;
        }
    }
    begin[nfront] = filled;
    return nfront;
}

static void sort_up(int n, int *x)
{
    for (int gap = n / 2; gap > 0; gap /= 2)
        for (int i = gap; i < n; i++)
            for (int j = i - gap; j >= 0 && x[j] > x[j + gap]; j -= gap) {
                int t = x[j];
                x[j] = x[j + gap], x[j + gap] = t;
            }
}

/* position of unknown k in front f */
static int local(const cst_front *f, int k)
{
    if (k < f->first + f->w) return k - f->first;
    int lo = 0, hi = f->m - 1;
    while (lo < hi) {
        int mid = (lo + hi) / 2;
        if (f->row[mid] < k)
            lo = mid + 1;
        else
            hi = mid;
    }
    return f->w + lo;
}

static const int piece_length[CST_NLENGTH] = {6, 3, 2, 1};

/* Where row i of S goes, from column c on: as many columns as are neighbours there too and make one
 * piece. place: of f's rows in p. Returns the kind of the piece. */
static int piece_of(const cst_front *f, const cst_front *p, const int *place, int i, int c,
                    cst_front_piece *piece)
{
    int row = place[i], to = place[c], len = 1, kind = 0, in_S = row >= p->w && to >= p->w;
    while (c + len < f->m && place[c + len] == to + len && to + len != p->w)
        len++;                         /* in one block */
    if (row >= p->w && !in_S) len = 1; /* L is kept by columns */
    while (piece_length[kind] > len) kind++;
    size_t at = cst_front_entry(p, row, to) - (in_S ? cst_front_S(p) : 0);
    *piece = (cst_front_piece){(int)((size_t)i * (size_t)f->n) + c, (int)at};
    return in_S * CST_NLENGTH + kind;
}

/* The upper half (c >= i) goes into the upper half of the parent, because rows ascend in both
 * fronts. scratch (m) */
static void pieces_to_parent(cst_arena *a, cst_front *f, const cst_front *parent, int *scratch)
{
    for (int i = 0; i < f->m; i++) scratch[i] = local(parent, f->row[i]);
    for (int symmetric = 0; symmetric < 2; symmetric++) {
        int *count = f->npiece[symmetric], next[CST_NPIECE], n = 0;
        for (int pass = 0; pass < 2; pass++) { /* count, list */
            for (int i = 0; i < f->m; i++)
                for (int c = symmetric ? i : 0; c < f->m;) {
                    cst_front_piece piece;
                    int kind = piece_of(f, parent, scratch, i, c, &piece);
                    if (pass)
                        f->piece[symmetric][next[kind]++] = piece;
                    else
                        count[kind]++;
                    c += piece_length[kind % CST_NLENGTH];
                }
            for (int kind = 0; !pass && kind < CST_NPIECE; kind++) next[kind] = n, n += count[kind];
            if (!pass) f->piece[symmetric] = cst_new(a, cst_front_piece, n + 1);
        }
    }
}

/* place: of each unknown in the order of elimination; of: the front of each place */
static void entries_to_fronts(cst_arena *a, const cst_pattern *p, const int *place, const int *of,
                              cst_front_plan *plan)
{
    cst_front_fill *fill = cst_new(a, cst_front_fill, p->nnz + CST_FILL_AHEAD);
    for (int pass = 0; pass < 3; pass++) { /* count; those of the upper half; the others */
        for (int j = 0; j < p->n; j++)
            for (int k = p->ptr[j]; k < p->ptr[j + 1]; k++) {
                int r = place[p->row[k]], c = place[j], upper = r <= c;
                cst_front *f = &plan->front[of[upper ? r : c]];
                if (!pass)
                    f->nfill++;
                else if (upper == (pass == 1))
                    f->fill[f->nfill++] =
                        (cst_front_fill){k, (int)cst_front_entry(f, local(f, r), local(f, c))};
            }
        for (int i = 0; i < plan->nfront; i++) {
            cst_front *f = &plan->front[i];
            if (pass == 0) f->fill = fill, fill += f->nfill, f->nfill = 0;
            if (pass == 1) f->nupper = f->nfill;
        }
    }
}

static size_t size_of_S(const cst_front *f) { return (size_t)f->m * (size_t)f->n; }
static size_t size_with_S(const cst_front *f) { return cst_front_S(f) + size_of_S(f); }

/* Offsets of blocks that live from the elimination of a front to that of its parent. Generations
 * alternate between two stacks, so that a front's block is never on the stack of its children,
 * whose blocks are then on top of theirs. Returns the total size of both stacks. */
static size_t stack_blocks(cst_arena *s, const cst_front_plan *plan,
                           size_t (*size)(const cst_front *), size_t *at)
{
    size_t top[2] = {0}, most[2] = {0};
    unsigned char *odd = cst_new(s, unsigned char, plan->nfront + 1);
    for (int i = plan->nfront - 1; i >= 0; i--)
        odd[i] = plan->front[i].parent >= 0 && !odd[plan->front[i].parent];
    for (int i = 0; i < plan->nfront; i++) {
        const cst_front *f = &plan->front[i];
        size_t *mine = &top[odd[i]];
        at[i] = *mine, *mine += size(f);
        if (*mine > most[odd[i]]) most[odd[i]] = *mine;
        for (int c = f->child; c >= 0; c = plan->front[c].next)
            top[!odd[i]] -= size(&plan->front[c]);
    }
    for (int i = 0; i < plan->nfront; i++)
        if (odd[i]) at[i] += most[0] + CST_FRONT_SLACK;
    return most[0] + most[1] + 2L * CST_FRONT_SLACK;
}

static const cst_front_plan *plan_for(cst_arena *a, const cst_pattern *p, const int *perm)
{
    cst_arena *s = cst_arena_child(a);
    int n = p->n;
    columns c = columns_new(s, p, perm);
    int *top = join_columns(s, &c), *order = cst_new(s, int, n + 1),
        *begin = cst_new(s, int, n + 2);
    int *now = cst_new(s, int, n + 1), *of = cst_new(s, int, n + 1);
    cst_front_plan *plan = cst_new(a, cst_front_plan, 1);
    plan->n = n, plan->nnz = p->nnz, plan->nfront = postorder(s, &c, top, order, begin);
    plan->front = cst_new(a, cst_front, plan->nfront + 1);
    plan->perm = cst_new(a, int, n + 1);
    for (int k = 0; k < n; k++) now[order[k]] = k, plan->perm[k] = perm[order[k]];
    for (int i = 0; i < plan->nfront; i++) {
        cst_front *f = &plan->front[i];
        int last = order[begin[i + 1] - 1], *row = cst_new(a, int, padded(c.count[last]) + 1);
        *f = (cst_front){.first = begin[i],
                         .w = begin[i + 1] - begin[i],
                         .m = c.count[last],
                         .parent = -1,
                         .child = -1,
                         .next = -1,
                         .at = {plan->size[0], plan->size[1]},
                         .row = row};
        for (int k = 0; k < f->m; k++) row[k] = now[c.row[last][k]];
        sort_up(f->m, row);
        for (int k = begin[i]; k < begin[i + 1]; k++) of[k] = i;
        f->d = padded(f->w), f->n = padded(f->m), f->shape = shape_of(f->d / 4, f->n / 4);
        for (int k = f->m; k < f->n; k++) row[k] = n;
        plan->size[0] += cst_front_S(f), plan->size[1] += cst_front_Lt(f);
        plan->factor_cost += cost_of(f->w, f->m) + 5;
        plan->solve_cost += f->w * (f->w + 2.0 * f->m) + 9.0 * (f->w + f->m) + 60;
        if (f->d + f->n > plan->widest) plan->widest = f->d + f->n;
        if (cst_front_S(f) > plan->largest) plan->largest = cst_front_S(f);
    }
    for (int i = 0; i < plan->nfront; i++) {
        cst_front *f = &plan->front[i];
        if (!f->m) continue;
        cst_front *parent = &plan->front[f->parent = of[f->row[0]]];
        pieces_to_parent(a, f, parent, now);
        f->next = parent->child, parent->child = i;
    }
    size_t *at = cst_new(s, size_t, plan->nfront + 1);
    plan->stack = stack_blocks(s, plan, size_of_S, at);
    for (int i = 0; i < plan->nfront; i++) plan->front[i].S = at[i];
    for (int k = 0; k < n; k++) now[plan->perm[k]] = k;
    entries_to_fronts(a, p, now, of, plan);
    plan->factor_cost += 4.0 * p->nnz;
    plan->far = plan->size[1] > CACHE;
    cst_arena_free(s);
    return plan->size[0] + plan->stack < LARGEST ? plan : NULL;
}

/* ---- unknowns without a pivot ---- */

/* d_i d_j a_ij with rows and columns of size about 1 (Ruiz 2001) */
static double *scaled(cst_arena *s, const cst_pattern *p, const double *val)
{
    double *y = cst_new(s, double, p->nnz + 1), *row = cst_new(s, double, p->n + 1),
           *col = cst_new(s, double, p->n + 1);
    memcpy(y, val, sizeof *y * (size_t)p->nnz);
    for (int pass = 0; pass < 6; pass++) {
        memset(row, 0, sizeof *row * (size_t)p->n);
        for (int j = 0; j < p->n; j++) {
            col[j] = 0;
            for (int k = p->ptr[j]; k < p->ptr[j + 1]; k++)
                col[j] = fmax(col[j], fabs(y[k])),
                row[p->row[k]] = fmax(row[p->row[k]], fabs(y[k]));
        }
        for (int j = 0; j < p->n; j++)
            for (int k = p->ptr[j]; k < p->ptr[j + 1]; k++)
                if (y[k] != 0) y[k] /= sqrt(row[p->row[k]] * col[j]);
    }
    return y;
}

#define ENTRY(row, col) F[cst_front_entry(f, row, col)]

/* Plain elimination of the pivots of one front; late[k] = 1: column k has no pivot in it and is
 * passed over. */
static int eliminate_trial(const cst_front *f, double *F, double least, unsigned char *late)
{
    int size = f->w + f->m, any = 0;
    for (int k = 0; k < f->w; k++) {
        int best = k;
        double most = 0;
        for (int i = k; i < size; i++) {
            double e = fabs(ENTRY(i, k));
            if (i < f->w && e > fabs(ENTRY(best, k))) best = i;
            most = fmax(most, e);
        }
        if (!(fabs(ENTRY(best, k)) > least * most)) {
            late[k] = 1, any = 1;
            continue;
        }
        for (int j = 0; j < size && best != k; j++) {
            double t = ENTRY(k, j);
            ENTRY(k, j) = ENTRY(best, j), ENTRY(best, j) = t;
        }
        for (int i = k + 1; i < size; i++) {
            double l = ENTRY(i, k) / ENTRY(k, k);
            for (int j = k + 1; l != 0 && j < size; j++) ENTRY(i, j) -= l * ENTRY(k, j);
        }
    }
    return any;
}

/* Marks unknowns (in the order of elimination) that have no pivot in their front. */
static int find_late(cst_arena *s, const cst_front_plan *plan, const double *val, double least,
                     unsigned char *late)
{
    size_t *at = cst_new(s, size_t, plan->nfront + 1);
    double *stack = cst_new(s, double, stack_blocks(s, plan, size_with_S, at));
    int any = 0;
    for (int i = 0; i < plan->nfront; i++) {
        const cst_front *f = &plan->front[i];
        double *F = stack + at[i];
        memset(F, 0, sizeof *F * size_with_S(f));
        for (int k = 0; k < f->nfill; k++) F[f->fill[k].to] = val[f->fill[k].from];
        for (int d = f->child; d >= 0; d = plan->front[d].next) {
            const cst_front *child = &plan->front[d];
            const double *S = stack + at[d];
            for (int r = 0; r < child->m; r++)
                for (int c = 0; c < child->m; c++)
                    F[cst_front_entry(f, local(f, child->row[r]), local(f, child->row[c]))] +=
                        S[cst_front_entry(child, child->w + r, child->w + c)];
        }
        any |= eliminate_trial(f, F, least, late + f->first);
    }
    return any;
}

/* The order with late unknowns moved behind the pivots of the parent front; 0: a front without a
 * parent has some. */
static int move_late(cst_arena *s, const cst_front_plan *plan, const unsigned char *late, int *perm)
{
    int n = 0, *first = cst_new(s, int, plan->nfront + 1), *next = cst_new(s, int, plan->n + 1);
    for (int i = 0; i < plan->nfront; i++) first[i] = -1;
    for (int i = 0; i < plan->nfront; i++) {
        const cst_front *f = &plan->front[i];
        for (int k = f->first; k < f->first + f->w; k++) {
            if (!late[k]) {
                perm[n++] = plan->perm[k];
                continue;
            }
            if (f->parent < 0) return 0;
            next[k] = first[f->parent], first[f->parent] = k;
        }
        for (int k = first[i]; k >= 0; k = next[k]) perm[n++] = plan->perm[k];
    }
    return 1;
}

static const cst_front_plan *plan_with(cst_arena *a, const cst_pattern *p, const int *order,
                                       const double *val, double least, double most_cost)
{
    cst_arena *s = cst_arena_child(a);
    int *perm = cst_new(s, int, p->n + 1);
    const cst_front_plan *plan = NULL;
    memcpy(perm, order, sizeof *perm * (size_t)p->n);
    for (int trial = 0; trial < MOST_TRIALS; trial++) {
        cst_arena *t = cst_arena_child(s);
        unsigned char *late = cst_new(t, unsigned char, p->n + 1);
        const cst_front_plan *draft = plan_for(t, p, perm);
        if (draft && draft->factor_cost > most_cost) draft = NULL;
        int again = draft && find_late(t, draft, val, least, late),
            moved = again && move_late(t, draft, late, perm);
        cst_arena_free(t);
        if (!draft || (again && !moved)) break;
        if (!again) {
            plan = plan_for(a, p, perm);
            break;
        }
    }
    cst_arena_free(s);
    return plan;
}

const cst_front_plan *cst_front_plan_new(cst_arena *a, const cst_pattern *p, const int *order,
                                         const double *val, double most_cost)
{
    cst_arena *s = cst_arena_child(a);
    const double *typical = scaled(s, p, val);
    const cst_front_plan *plan = NULL;
    for (size_t i = 0; !plan && i < sizeof least_pivot / sizeof *least_pivot; i++)
        plan = plan_with(a, p, order, typical, least_pivot[i], most_cost);
    cst_arena_free(s);
    return plan;
}

/* ---- numbers ---- */

static const cst_front_kernel *kernel_of_this_processor(void)
{
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx2")) return &cst_front_kernel_wide;
#endif
    return &cst_front_kernel_plain;
}

/* Room for n numbers and `behind` more that may be read or cleared but have no meaning; aligned so
 * that a row of 8 starts on a cache line */
static double *numbers(cst_arena *a, size_t n, size_t behind)
{
    double *x = cst_new(a, double, n + behind + 8);
    return x + (64 - (uintptr_t)x % 64) % 64 / sizeof *x;
}

cst_fronts *cst_fronts_new(cst_arena *a, const cst_front_plan *plan, int symmetric)
{
    cst_fronts *f = cst_new(a, cst_fronts, 1);
    f->plan = plan;
    f->kernel = kernel_of_this_processor();
    f->symmetric = symmetric;
    size_t rows = 3 * (size_t)plan->widest;
    f->F = numbers(a, plan->size[symmetric], rows);
    f->inverse = cst_new(a, double, plan->n + 1);
    f->exchange = cst_new(a, int, 2 * plan->widest + 2);
    f->x = numbers(a, (size_t)plan->n, 4);
    f->y = numbers(a, 2 * (size_t)plan->widest, 0);
    f->W = numbers(a, plan->largest, rows + CST_FRONT_SLACK);
    f->stack = numbers(a, plan->stack, 0);
    return f;
}

int cst_fronts_factor(cst_fronts *f, const double *val) { return f->kernel->factor(f, val); }
void cst_fronts_solve(cst_fronts *f, int transposed, double *b)
{
    f->kernel->solve(f, transposed, b);
}
