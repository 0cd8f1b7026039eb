/* SPDX-License-Identifier: MIT */
#include <stdint.h>
#include <string.h>

#include "linalg/order.h"

static uint64_t mix(uint64_t x) /* splitmix64 */
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

/* Hash of the pattern of row and column i, without the diagonal. A collision costs a worse order,
 * nothing else. */
static uint64_t *pattern_hash(cst_arena *s, const cst_pattern *p)
{
    uint64_t *h = cst_new(s, uint64_t, p->n + 1);
    for (int j = 0; j < p->n; j++)
        for (int k = p->ptr[j]; k < p->ptr[j + 1]; k++) {
            int i = p->row[k];
            if (i == j) continue;
            h[j] += mix((uint64_t)i);
            h[i] += mix((uint64_t)j) * 3;
        }
    return h;
}

typedef struct bucket {
    uint64_t key;
    int node;
} bucket;

/* The bucket of a key in an open-addressing table of size mask + 1; node is -1 when the key is new.
 */
static bucket *find(bucket *table, size_t mask, uint64_t key)
{
    size_t k = (size_t)key & mask;
    while (table[k].node >= 0 && table[k].key != key) k = (k + 1) & mask;
    table[k].key = key;
    return &table[k];
}

/* Two unknowns are one node when their neighbours agree including themselves (coordinates of a
 * body: closed) or excluding themselves (multipliers of a joint, which do not touch each other:
 * open). Returns the number of nodes. */
static int number_nodes(cst_arena *s, const cst_pattern *p, const unsigned char *rank, int *node)
{
    int n = p->n, nnode = 0;
    uint64_t *h = pattern_hash(s, p);
    size_t cap = 16;
    while (cap < 2 * (size_t)n) cap *= 2;
    bucket *table = cst_new(s, bucket, cap);
    int *size = cst_new(s, int, n + 1), *first = cst_new(s, int, n + 1);

    for (size_t k = 0; k < cap; k++) table[k].node = -1;
    for (int i = 0; i < n; i++) { /* closed: first[] is the node's representative */
        uint64_t self = mix((uint64_t)i);
        bucket *b = find(table, cap - 1, mix(h[i] + 4 * self + (rank ? rank[i] : 0)));
        if (b->node < 0) b->node = i;
        first[i] = b->node;
        size[b->node]++;
    }
    for (size_t k = 0; k < cap; k++) table[k].node = -1;
    for (int i = 0; i < n; i++) {
        if (first[i] != i) {
            node[i] = node[first[i]];
            continue;
        }
        if (size[i] > 1) {
            node[i] = nnode++;
            continue;
        }
        bucket *b = find(table, cap - 1, mix(h[i] + (rank ? rank[i] : 0)));
        if (b->node < 0) b->node = nnode++;
        node[i] = b->node;
    }
    return nnode;
}

static void collect_members(cst_adjacency *g, int n, const int *node)
{
    for (int i = 0; i < n; i++) g->member_ptr[node[i] + 1]++;
    for (int k = 0; k < g->n; k++) {
        g->weight[k] = g->member_ptr[k + 1];
        g->member_ptr[k + 1] += g->member_ptr[k];
    }
    /* filled backwards from the ends, after which member_ptr[k+1] is the start of k */
    for (int i = n - 1; i >= 0; i--) g->member[--g->member_ptr[node[i] + 1]] = i;
    memmove(g->member_ptr, g->member_ptr + 1, g->n * sizeof(int));
    g->member_ptr[g->n] = n;
}

typedef struct edge {
    int a, b;
} edge;

/* Edges between nodes, in both directions. Members of a node have the same rows and columns, so one
 * column of each node tells all. */
static void collect_edges(cst_arena *s, cst_adjacency *g, const cst_pattern *p, const int *node)
{
    int *mark = cst_new(s, int, g->n + 1);
    CST_LIST(edge) e = {0};
    for (int a = 0; a < g->n; a++) {
        int j = g->member[g->member_ptr[a]];
        mark[a] = a + 1;
        for (int k = p->ptr[j]; k < p->ptr[j + 1]; k++) {
            int b = node[p->row[k]];
            if (mark[b] == a + 1) continue;
            mark[b] = a + 1;
            *cst_push(s, &e) = (edge){a, b};
        }
    }
    int *end = cst_new(s, int, g->n + 1), *all = cst_new(s, int, 2 * (size_t)e.n + 1);
    for (int k = 0; k < e.n; k++) end[e.at[k].a]++, end[e.at[k].b]++;
    for (int a = 1; a < g->n; a++) end[a] += end[a - 1];
    for (int k = e.n - 1; k >= 0; k--) {
        all[--end[e.at[k].a]] = e.at[k].b;
        all[--end[e.at[k].b]] = e.at[k].a;
    }
    g->adj = cst_new(s, int, 2 * (size_t)e.n + 1);
    memset(mark, 0, (g->n + 1) * sizeof *mark);
    int nadj = 0;
    for (int a = 0; a < g->n; a++) { /* a structurally symmetric pattern gives each edge twice */
        int stop = a + 1 < g->n ? end[a + 1] : 2 * e.n;
        for (int k = end[a]; k < stop; k++) {
            if (mark[all[k]] == a + 1) continue;
            mark[all[k]] = a + 1;
            g->adj[nadj++] = all[k];
        }
        g->ptr[a + 1] = nadj;
    }
}

cst_adjacency *cst_adjacency_new(cst_arena *scratch, const cst_pattern *p,
                                 const unsigned char *rank)
{
    int n = p->n, *node = cst_new(scratch, int, n + 1);
    cst_adjacency *g = cst_new(scratch, cst_adjacency, 1);
    g->n = number_nodes(scratch, p, rank, node);
    g->ptr = cst_new(scratch, int, g->n + 1);
    g->weight = cst_new(scratch, int, g->n + 1);
    g->multiplier = cst_new(scratch, unsigned char, g->n + 1);
    g->member_ptr = cst_new(scratch, int, g->n + 2);
    g->member = cst_new(scratch, int, n + 1);
    collect_members(g, n, node);
    collect_edges(scratch, g, p, node);
    for (int i = 0; i < n; i++) g->multiplier[node[i]] = rank && rank[i];
    return g;
}
