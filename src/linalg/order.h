/* SPDX-License-Identifier: MIT
 *
 * Elimination orders for KKT matrices [K J^T; J 0]: minimum degree on the graph of unknowns, with
 * rules that keep the pivots of the multipliers away from zero. */
#ifndef CST_LINALG_ORDER_H
#define CST_LINALG_ORDER_H

#include "linalg/sparse.h"

/* Unknowns with the same neighbours are one node: 6 coordinates of a body, the multipliers of a
 * joint. */
typedef struct cst_adjacency {
    int n;          /* nodes */
    int *ptr, *adj; /* symmetric, no loops */
    int *weight;    /* unknowns in a node */
    unsigned char *multiplier;
    int *member_ptr, *member; /* the unknowns of each node */
} cst_adjacency;

typedef enum cst_order_rule {
    CST_ORDER_COORDINATES, /* all coordinates first */
    CST_ORDER_AFTER,       /* a multiplier after a coordinate it touches */
    CST_ORDER_HUB          /* the same, with the coordinates of hubs after all others */
} cst_order_rule;

cst_adjacency *cst_adjacency_new(cst_arena *scratch, const cst_pattern *p,
                                 const unsigned char *rank);
/* Does the rule give a different order on this graph from the other rules? */
int cst_order_differs(const cst_adjacency *g, cst_order_rule rule);
/* perm: unknowns in the order of elimination. Returns the flops of an LU without row exchanges
 * (upper bound), or INFINITY, with perm unfinished, as soon as they exceed the limit: an order that
 * fills the factors also takes long to find. */
double cst_order_make(cst_arena *scratch, const cst_adjacency *g, cst_order_rule rule, double limit,
                      int *perm);

#endif
