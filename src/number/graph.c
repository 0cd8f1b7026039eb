/* SPDX-License-Identifier: MIT
 *
 * Construction of the graph: sources, shared (hash-consed) operations, simplification. */
#include "number/graph_private.h"
#include "number/table.h"

#include <assert.h>
#include <limits.h>
#include <string.h>

cst_graph *cst_graph_new(cst_arena *a)
{
    cst_graph *g = cst_new(a, cst_graph, 1);
    g->arena = a;
    g->walk = cst_new(a, walk, 1);
    return g;
}

int cst_graph_values(const cst_graph *g) { return g->node.n; }
int cst_graph_leaves(const cst_graph *g) { return g->leaf.n; }
cst_id cst_leaf_id(const cst_graph *g, int leaf) { return g->leaf.at[leaf]; }
double cst_leaf_nominal(const cst_graph *g, int leaf) { return g->nominal.at[leaf]; }

static cst_id append(cst_graph *g, node v)
{
    assert(g->node.n < INT_MAX / 2);
    *cst_push(g->arena, &g->node) = v;
    return g->node.n - 1;
}

/* ---- sharing ---- */

static uint32_t hash(const node *v)
{
    uint64_t w[2];
    memcpy(w, v, sizeof w);
    uint64_t h = w[0] * 0x9E3779B97F4A7C15u ^ (w[1] + 0x632BE59BD9B4E019u) * 0xC2B2AE3D27D4EB4Fu;
    h ^= h >> 29;
    h *= 0xBF58476D1CE4E5B9u;
    return (uint32_t)(h >> 32);
}

static void rehash(cst_graph *g)
{
    const cst_id *old = g->slot;
    int nold = g->nslot;
    g->nslot = nold ? 2 * nold : 256;
    g->slot = cst_new(g->arena, cst_id, g->nslot);
    memset(g->slot, 0xff, (size_t)g->nslot * sizeof *g->slot); /* CST_NONE */
    uint32_t mask = (uint32_t)g->nslot - 1;
    for (int i = 0; i < nold; i++) {
        if (old[i] == CST_NONE) continue;
        uint32_t s = hash(&g->node.at[old[i]]) & mask;
        while (g->slot[s] != CST_NONE) s = (s + 1) & mask;
        g->slot[s] = old[i];
    }
}

/* The id of v: an equal value that exists, or a new one. */
static cst_id share(cst_graph *g, node v)
{
    if (3 * (g->nshared + 1) > 2 * g->nslot) rehash(g);
    uint32_t mask = (uint32_t)g->nslot - 1, s = hash(&v) & mask;
    for (; g->slot[s] != CST_NONE; s = (s + 1) & mask)
        if (memcmp(&g->node.at[g->slot[s]], &v, sizeof v) == 0) return g->slot[s];
    g->nshared++;
    return g->slot[s] = append(g, v);
}

/* ---- sources ---- */

cst_id cst_num_const(cst_graph *g, double c)
{
    node v = {.kind = NODE_CONST};
    memcpy(v.a, &c, sizeof c);
    return share(g, v);
}

double cst_node_const(const node *v)
{
    double c;
    memcpy(&c, v->a, sizeof c);
    return c;
}

cst_id cst_num_leaf(cst_graph *g, double nominal) { return cst_num_leaves(g, 1, &nominal); }

cst_id cst_num_leaves(cst_graph *g, int n, const double *nominal)
{
    cst_id first = g->node.n;
    for (int i = 0; i < n; i++) {
        node v = {.kind = NODE_LEAF, .a = {g->leaf.n}};
        *cst_push(g->arena, &g->leaf) = append(g, v);
        *cst_push(g->arena, &g->nominal) = nominal[i];
    }
    return first;
}

cst_id cst_num_channel(cst_graph *g, cst_channel_kind kind, int index, int order)
{
    return share(g, (node){.kind = NODE_CHANNEL, .timed = 1, .channel = {kind, index, order}});
}

int cst_graph_table(cst_graph *g, const cst_table *t)
{
    *cst_push(g->arena, &g->table) = t;
    return g->table.n - 1;
}

static cst_id append_run(cst_graph *g, node head, int n)
{
    cst_id first = append(g, head);
    for (int i = 1; i < n; i++) append(g, (node){.kind = NODE_REST, .a = {first}});
    return first;
}

cst_id cst_num_spline(cst_graph *g, int table, int n)
{
    return append_run(g, (node){.kind = NODE_SPLINE, .a = {table}}, n);
}

cst_id cst_num_vector(cst_graph *g, const cst_vop *op, int nin, const cst_id *in, int nout)
{
    assert(nout > 0 && nin <= CST_VOP_MAX_IN && nout <= CST_VOP_MAX_IN &&
           nin * nout <= CST_VOP_MAX_JAC);
    *cst_push(g->arena, &g->vector) = (vector){op, nin, nout, g->input.n};
    for (int i = 0; i < nin; i++) {
        assert(!g->node.at[in[i]].timed);
        *cst_push(g->arena, &g->input) = in[i];
    }
    return append_run(g, (node){.kind = NODE_VECTOR, .a = {g->vector.n - 1}}, nout);
}

/* ---- operations ---- */

static int is(const cst_graph *g, cst_id id, double c)
{
    const node *v = &g->node.at[id];
    return v->kind == NODE_CONST && cst_node_const(v) == c;
}

/* x if id is -x, else CST_NONE */
static cst_id negated(const cst_graph *g, cst_id id)
{
    const node *v = &g->node.at[id];
    return v->kind == NODE_OP && v->op == CST_OP_neg ? v->a[0] : CST_NONE;
}

static cst_id simplify_sum(cst_graph *g, int op, cst_id a, cst_id b)
{
    int sub = op == CST_OP_sub;
    if (is(g, b, 0)) return a;
    if (is(g, a, 0)) return sub ? cst_num_neg(g, b) : b;
    if (sub && a == b) return cst_num_const(g, 0);
    cst_id n = negated(g, b);
    if (n != CST_NONE) return sub ? cst_num_add(g, a, n) : cst_num_sub(g, a, n);
    n = negated(g, a);
    if (n != CST_NONE && !sub) return cst_num_sub(g, b, n);
    return CST_NONE;
}

/* Signs move outwards, so that x y and (-x) y are one product. */
static cst_id simplify_product(cst_graph *g, int op, cst_id a, cst_id b)
{
    int div = op == CST_OP_div;
    if (is(g, a, 0) || (!div && is(g, b, 0))) return cst_num_const(g, 0);
    if (is(g, b, 1)) return a;
    if (is(g, b, -1)) return cst_num_neg(g, a);
    if (!div && is(g, a, 1)) return b;
    if (!div && is(g, a, -1)) return cst_num_neg(g, b);
    cst_id na = negated(g, a), nb = negated(g, b);
    if (na == CST_NONE && nb == CST_NONE) return CST_NONE;
    cst_id y = cst_num_apply(g, op, na != CST_NONE ? na : a, nb != CST_NONE ? nb : b, CST_NONE);
    return na != CST_NONE && nb != CST_NONE ? y : cst_num_neg(g, y);
}

static cst_id simplify_power(cst_graph *g, cst_id a, cst_id b)
{
    if (is(g, b, 0)) return cst_num_const(g, 1);
    if (is(g, b, 1)) return a;
    if (is(g, b, 2)) return cst_num_mul(g, a, a);
    if (is(g, b, -1)) return cst_num_div(g, cst_num_const(g, 1), a);
    return CST_NONE;
}

static cst_id simplify(cst_graph *g, int op, const cst_id *a)
{
    switch (op) {
    case CST_OP_add:
    case CST_OP_sub:
        return simplify_sum(g, op, a[0], a[1]);
    case CST_OP_mul:
    case CST_OP_div:
        return simplify_product(g, op, a[0], a[1]);
    case CST_OP_neg:
        return negated(g, a[0]);
    case CST_OP_pow:
        return simplify_power(g, a[0], a[1]);
    case CST_OP_if:
        if (g->node.at[a[0]].kind == NODE_CONST) return is(g, a[0], 0) ? a[2] : a[1];
        return a[1] == a[2] ? a[1] : CST_NONE;
    default:
        return CST_NONE;
    }
}

cst_id cst_num_op(cst_graph *g, const cst_op *op, const cst_id *arg)
{
    node v = {.kind = NODE_OP, .op = (uint8_t)op->id};
    int nconst = 0;
    double c[3] = {0};
    for (int i = 0; i < op->arity; i++) {
        assert(arg[i] >= 0 && arg[i] < g->node.n);
        v.a[i] = arg[i];
        const node *p = &g->node.at[arg[i]];
        v.timed |= p->timed;
        if (p->kind == NODE_CONST) {
            c[i] = cst_node_const(p);
            nconst++;
        }
    }
    if (nconst == op->arity) return cst_num_const(g, op->eval(c));
    cst_id simple = simplify(g, op->id, v.a);
    if (simple != CST_NONE) return simple;
    if ((op->id == CST_OP_add || op->id == CST_OP_mul) &&
        v.a[0] > v.a[1]) { /* commutative, exactly */
        int t = v.a[0];
        v.a[0] = v.a[1];
        v.a[1] = t;
    }
    return share(g, v);
}

cst_id cst_num_table(cst_graph *g, const cst_table *t, cst_id x, int derivative)
{
    if (derivative > (t->kind == CST_TABLE_CUBIC ? 3 : 1)) return cst_num_const(g, 0);
    return share(g, (node){.kind = NODE_TABLE,
                           .timed = g->node.at[x].timed,
                           .a = {x, derivative, t->index}});
}

/* ---- what a value is ---- */

int cst_num_is_const(const cst_graph *g, cst_id id, double *value)
{
    const node *v = &g->node.at[id];
    if (v->kind != NODE_CONST) return 0;
    *value = cst_node_const(v);
    return 1;
}

int cst_num_leaf_number(const cst_graph *g, cst_id id)
{
    const node *v = &g->node.at[id];
    return v->kind == NODE_LEAF ? v->a[0] : -1;
}

int cst_num_timed(const cst_graph *g, cst_id id) { return g->node.at[id].timed; }

/* Nodes never change, and old blocks of the array live as long as the graph: the pointer stays
 * valid when the array has moved. */
const cst_channel *cst_num_channel_of(const cst_graph *g, cst_id id)
{
    const node *v = &g->node.at[id];
    return v->kind == NODE_CHANNEL ? &v->channel : NULL;
}
