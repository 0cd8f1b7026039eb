/* SPDX-License-Identifier: MIT
 *
 * Minimum degree on the quotient graph with approximate degrees (Amestoy, Davis, Duff, SIAM J.
 * Matrix Anal. Appl. 17, 1996), with one addition: a node may have to wait.
 *
 * The pivot of a multiplier is zero until a coordinate it touches has been eliminated. If it waits
 * for that, the diagonal can mostly be the pivot, and the order of the analysis is the order of the
 * factors. Waiting until enough coordinates are there to match all multipliers (which would exclude
 * zero pivots) was tried: it delays multipliers into the hub and costs up to ten times the flops,
 * while the row exchanges it avoids are few. */
#include "linalg/order.h"

#include <math.h>
#include <string.h>

enum { WAITING, LISTED, ELEMENT, ABSORBED };

typedef struct degree_work {
    const cst_adjacency *g;
    cst_arena *s;
    int *adj, *nelem, *nvar; /* slice of i from g->ptr[i]: elements, then variables (never grows) */
    CST_LIST(int) store;     /* variables of the elements */
    int *begin, *len;        /* of an element in store */
    int *size;               /* weighted, of an element */
    int *degree;
    unsigned char *state, *hub;
    int *head, *next, *prev; /* lists of the LISTED by degree */
    int min, cap;
    int *mark, stamp;    /* membership in the pivot's element */
    int *outside, *seen; /* |L_e \ L_p| of the elements next to the pivot */
    int left;            /* unknowns not yet eliminated */
} degree_work;

static void list_put(degree_work *w, int i)
{
    int d = w->degree[i] < w->cap ? w->degree[i] : w->cap;
    w->state[i] = LISTED;
    w->prev[i] = -1;
    w->next[i] = w->head[d];
    if (w->head[d] >= 0) w->prev[w->head[d]] = i;
    w->head[d] = i;
    if (d < w->min) w->min = d;
}

static void list_take(degree_work *w, int i)
{
    int d = w->degree[i] < w->cap ? w->degree[i] : w->cap;
    if (w->next[i] >= 0) w->prev[w->next[i]] = w->prev[i];
    if (w->prev[i] >= 0)
        w->next[w->prev[i]] = w->next[i];
    else
        w->head[d] = w->next[i];
    w->state[i] = WAITING;
}

static int list_min(degree_work *w)
{
    while (w->min <= w->cap && w->head[w->min] < 0) w->min++;
    return w->min <= w->cap ? w->head[w->min] : -1;
}

/* The variables of a new element: L_p = (A_p + all L_e next to p) \ p; the L_e are absorbed. */
static void form_element(degree_work *w, int p)
{
    const cst_adjacency *g = w->g;
    const int *list = w->adj + g->ptr[p];
    int ne = w->nelem[p], nv = w->nvar[p];
    w->begin[p] = w->store.n;
    w->stamp++;
    w->mark[p] = w->stamp;
    w->size[p] = 0;
    for (int k = -1; k < ne; k++) { /* -1: the variables next to p */
        int n = k < 0 ? nv : w->len[list[k]];
        for (int t = 0; t < n; t++) {
            int i = k < 0 ? list[ne + t] : w->store.at[w->begin[list[k]] + t];
            if (w->mark[i] == w->stamp) continue;
            w->mark[i] = w->stamp;
            *cst_push(w->s, &w->store) = i;
            w->size[p] += g->weight[i];
        }
        if (k >= 0) w->state[list[k]] = ABSORBED;
    }
    w->len[p] = w->store.n - w->begin[p];
    w->state[p] = ELEMENT;
}

/* outside[e] = |L_e \ L_p| for every element next to a variable of L_p */
static void count_outside(degree_work *w, int p)
{
    const cst_adjacency *g = w->g;
    for (int t = 0; t < w->len[p]; t++) {
        int i = w->store.at[w->begin[p] + t];
        for (int k = 0; k < w->nelem[i]; k++) {
            int e = w->adj[g->ptr[i] + k];
            if (w->state[e] == ABSORBED) continue;
            if (w->seen[e] != w->stamp) {
                w->seen[e] = w->stamp;
                w->outside[e] = w->size[e];
            }
            w->outside[e] -= g->weight[i];
        }
    }
}

/* Rewrite the slice of i in L_p: elements that survive and p, variables outside L_p; and its
 * approximate degree d_i = min(left, d_i + |L_p \ i|, |A_i| + |L_p \ i| + sum_e |L_e \ L_p|). An
 * element inside L_p is absorbed. */
static void update_variable(degree_work *w, int p, int i)
{
    const cst_adjacency *g = w->g;
    int *list = w->adj + g->ptr[i], ne = w->nelem[i], nv = w->nvar[i];
    int lp = w->size[p] - g->weight[i], d = lp, out = 0;
    for (int k = 0; k < ne; k++) {
        int e = list[k];
        if (w->state[e] == ABSORBED) continue;
        if (w->outside[e] == 0) {
            w->state[e] = ABSORBED;
            continue;
        }
        d += w->outside[e];
        list[out++] = e;
    }
    int nelem = out, nvar = 0;
    for (int k = ne; k < ne + nv;
         k++) { /* p leaves the slice of i, or an absorbed element did: there is room */
        int v = list[k];
        if (w->mark[v] == w->stamp) continue;
        d += g->weight[v];
        list[out + nvar++] = v;
    }
    memmove(list + nelem + 1, list + nelem, nvar * sizeof *list);
    list[nelem] = p;
    w->nelem[i] = nelem + 1;
    w->nvar[i] = nvar;
    if (d > w->degree[i] + lp) d = w->degree[i] + lp;
    if (d > w->left - g->weight[i]) d = w->left - g->weight[i];
    w->degree[i] = d;
}

/* Flops of the columns of node p: c divisions and 2 c^2 for a column with c entries below the
 * diagonal */
static double node_flops(const degree_work *w, int p)
{
    double f = 0;
    for (int k = 0; k < w->g->weight[p]; k++) {
        double c = w->size[p] + k;
        f += c + 2 * c * c;
    }
    return f;
}

static double eliminate(degree_work *w, int p)
{
    const cst_adjacency *g = w->g;
    list_take(w, p);
    form_element(w, p);
    w->left -= g->weight[p];
    count_outside(w, p);
    for (int t = 0; t < w->len[p]; t++) {
        int i = w->store.at[w->begin[p] + t], listed = w->state[i] == LISTED;
        if (listed) list_take(w, i);
        update_variable(w, p, i);
        if (listed) list_put(w, i);
    }
    return node_flops(w, p);
}

/* The multipliers next to an eliminated coordinate c */
static void release_multipliers(degree_work *w, int c)
{
    const cst_adjacency *g = w->g;
    for (int k = g->ptr[c]; k < g->ptr[c + 1]; k++) {
        int m = g->adj[k];
        if (g->multiplier[m] && w->state[m] == WAITING) list_put(w, m);
    }
}

/* When nothing is listed: the coordinates that were held back, then the multipliers. */
static void release_rest(degree_work *w, int multipliers)
{
    for (int i = 0; i < w->g->n; i++)
        if (w->state[i] == WAITING && w->g->multiplier[i] == multipliers) list_put(w, i);
}

static double run(degree_work *w, cst_order_rule rule, double limit, int *order)
{
    const cst_adjacency *g = w->g;
    double flops = 0;
    int n = 0, stage = 0;
    while (n < g->n) {
        int p = list_min(w);
        if (p < 0) {
            release_rest(w, stage++);
            continue;
        }
        flops += eliminate(w, p);
        if (flops > limit) return INFINITY;
        order[n++] = p;
        if (!g->multiplier[p] && rule != CST_ORDER_COORDINATES) release_multipliers(w, p);
    }
    return flops;
}

/* Hubs: coordinates with many more neighbours than usual, at least half as many as the largest has.
 */
static int find_hubs(const cst_adjacency *g, unsigned char *hub)
{
    int most = 0, ncoordinate = 0, nhub = 0;
    double sum = 0;
    for (int i = 0; i < g->n; i++) {
        if (g->multiplier[i]) continue;
        int d = g->ptr[i + 1] - g->ptr[i];
        if (d > most) most = d;
        sum += d;
        ncoordinate++;
    }
    if (most < 4 || most * (double)ncoordinate < 2 * sum) return 0;
    for (int i = 0; i < g->n; i++) {
        if (g->multiplier[i] || 2 * (g->ptr[i + 1] - g->ptr[i]) < most) continue;
        if (hub) hub[i] = 1;
        nhub++;
    }
    return nhub;
}

int cst_order_differs(const cst_adjacency *g, cst_order_rule rule)
{
    if (rule == CST_ORDER_AFTER) return 1;
    if (rule == CST_ORDER_HUB) return find_hubs(g, NULL) > 0;
    for (int i = 0; i < g->n; i++)
        if (g->multiplier[i]) return 1;
    return 0;
}

static degree_work *work_new(cst_arena *s, const cst_adjacency *g)
{
    int n = g->n, nadj = g->ptr[n];
    degree_work *w = cst_new(s, degree_work, 1);
    *w = (degree_work){.g = g, .s = s};
    w->adj = cst_new(s, int, nadj + 1);
    memcpy(w->adj, g->adj, nadj * sizeof(int));
    int **array[] = {&w->nelem, &w->nvar, &w->begin, &w->len,     &w->size, &w->degree,
                     &w->next,  &w->prev, &w->mark,  &w->outside, &w->seen};
    for (size_t k = 0; k < sizeof array / sizeof *array; k++) *array[k] = cst_new(s, int, n + 1);
    w->state = cst_new(s, unsigned char, n + 1);
    w->hub = cst_new(s, unsigned char, n + 1);
    for (int i = 0; i < n; i++) {
        w->nvar[i] = g->ptr[i + 1] - g->ptr[i];
        w->left += g->weight[i];
        for (int k = g->ptr[i]; k < g->ptr[i + 1]; k++) w->degree[i] += g->weight[g->adj[k]];
    }
    w->cap = w->left;
    w->min = w->cap + 1;
    w->head = cst_new(s, int, w->cap + 1);
    for (int d = 0; d <= w->cap; d++) w->head[d] = -1;
    return w;
}

double cst_order_make(cst_arena *scratch, const cst_adjacency *g, cst_order_rule rule, double limit,
                      int *perm)
{
    degree_work *w = work_new(scratch, g);
    if (rule == CST_ORDER_HUB) find_hubs(g, w->hub);
    for (int i = g->n - 1; i >= 0; i--)
        if (!g->multiplier[i] && !w->hub[i]) list_put(w, i);
    int *order = cst_new(scratch, int, g->n + 1), n = 0;
    double flops = run(w, rule, limit, order);
    for (int k = 0; flops <= limit && k < g->n; k++)
        for (int m = g->member_ptr[order[k]]; m < g->member_ptr[order[k] + 1]; m++)
            perm[n++] = g->member[m];
    return flops;
}
