/* SPDX-License-Identifier: MIT
 *
 * How the graph is stored: 16 bytes per value, in the order of evaluation. */
#ifndef CST_NUMBER_GRAPH_PRIVATE_H
#define CST_NUMBER_GRAPH_PRIVATE_H

#include "number/graph.h"
#include "number/op.h"

#include <stdint.h>

typedef enum node_kind {
    NODE_NONE,
    NODE_CONST,   /* a[0], a[1]: the bits of the double */
    NODE_LEAF,    /* a[0]: leaf number */
    NODE_CHANNEL, /* channel */
    NODE_OP,      /* a: arguments */
    NODE_TABLE,   /* a[0]: x, a[1]: derivative, a[2]: table */
    NODE_VECTOR,  /* first output; a[0]: vector */
    NODE_SPLINE,  /* first second derivative; a[0]: table */
    NODE_REST     /* a[0]: the first id: further outputs of a vector or spline */
} node_kind;

typedef struct node {
    uint8_t kind, op, timed, spare;
    union {
        int a[3];
        cst_channel channel;
    };
} node;

typedef struct vector {
    const cst_vop *op;
    int nin, nout, in; /* in: offset in input */
} vector;

/* Marks of one walk: mark[id] == epoch says that memo[id] belongs to it: a walk costs only what it
 * meets. */
typedef struct walk {
    int epoch, cap;
    int *mark, *memo;
    CST_LIST(cst_id) todo, order; /* both used as stacks: walks may nest */
} walk;

struct cst_graph {
    cst_arena *arena;
    CST_LIST(node) node;
    CST_LIST(cst_id) leaf;
    CST_LIST(double) nominal; /* (leaves) */
    CST_LIST(const cst_table *) table;
    CST_LIST(vector) vector;
    CST_LIST(cst_id) input; /* of all vectors */
    cst_id *slot;           /* hash table of shared values, CST_NONE is empty */
    int nslot, nshared;
    walk *walk;
};

static inline int cst_node_arguments(const node *v)
{
    return v->kind == NODE_OP ? cst_op_table[v->op]->arity : v->kind == NODE_TABLE ? 1 : 0;
}

#define CST_VOP_MAX_IN 512    /* inputs, and outputs, of a vector operation */
#define CST_VOP_MAX_JAC 16384 /* entries of its Jacobian: they stand on the stack */

int cst_graph_table(cst_graph *g, const cst_table *t); /* its number in g->table */
cst_id cst_num_spline(cst_graph *g, int table, int n); /* ids of the second derivatives */
double cst_node_const(const node *v);
/* What the bars of node id ask of its inputs: one step of cst_graph_reverse */
void cst_node_reverse(const cst_graph *g, cst_id id, const double *val, double *bar);

/* Appends the timed values that the roots reach to walk->order, arguments first; returns where they
 * start. Values below `from` are not entered. */
int cst_graph_reach(const cst_graph *g, int nroot, const cst_id *root, cst_id from);
/* A new epoch, with room for all values that exist now. */
walk *cst_graph_walk(const cst_graph *g);

#endif
