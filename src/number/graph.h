/* SPDX-License-Identifier: MIT
 *
 * Numbers are a graph. A *value* is a scalar with an id; a *node* produces one value (an operation
 * of ops.def) or several (a vector operation, cst_vop). Ids grow from children to parents, so the
 * order of ids is an order of evaluation. Sources:
 *
 *   constant   a literal that is structure (exponents, pi)
 *   leaf       a number written in the model file: a design variable
 *   channel    an input that changes during a run: time, a coordinate of a slot, a force, ... ; a
 * value that depends on a channel is *timed*, all others are evaluated once per set of leaf values
 *
 * Scalar operations are hash-consed, folded and simplified (x+0, 1*x, 0*x, --x), because
 * cst_num_diff builds derivatives symbolically. */
#ifndef CST_NUMBER_GRAPH_H
#define CST_NUMBER_GRAPH_H

#include "base/arena.h"
#include "base/scalar.h"

typedef int cst_id;
#define CST_NONE (-1)

typedef enum cst_channel_kind {
    CST_CH_TIME,   /* t */
    CST_CH_ARG,    /* argument of a law: 0 is s (length or angle), 1 is v (its rate) */
    CST_CH_X,      /* index: coordinate of a slot, flat; order 0, 1, 2: x, x', x'' */
    CST_CH_Z,      /* index: element state */
    CST_CH_MEM,    /* index: remembered value; constant between accepted steps, derivative zero */
    CST_CH_FORCE,  /* index: component of a force element's force at its slots, flat */
    CST_CH_REACT,  /* index: component of a constraint's force -phi_x^T lambda at its slots, flat */
    CST_CH_SYSTEM, /* index: a quantity of the whole system (energies, violation), see
                      system/measure.h */
    CST_CH_QUAD,   /* index: a running integral */
    CST_CH_RESULT  /* index: the value of a functional of the run (integral, peak, end): objectives
                    */
} cst_channel_kind;

typedef struct cst_channel {
    cst_channel_kind kind;
    int index, order;
} cst_channel;

typedef struct cst_graph cst_graph;
typedef struct cst_op cst_op;       /* number/op.h */
typedef struct cst_vop cst_vop;     /* below */
typedef struct cst_table cst_table; /* number/table.h */

cst_graph *cst_graph_new(cst_arena *a);
int cst_graph_values(const cst_graph *g); /* ids are 0 .. values-1 */
int cst_graph_leaves(
    const cst_graph *g); /* leaf numbers are 0 .. leaves-1 in the order of creation */

cst_id cst_num_const(cst_graph *g, double c);
cst_id cst_num_leaf(cst_graph *g, double nominal);                 /* never shared */
cst_id cst_num_leaves(cst_graph *g, int n, const double *nominal); /* n consecutive ids: an array */
cst_id cst_num_channel(cst_graph *g, cst_channel_kind kind, int index, int order);
cst_id cst_num_op(cst_graph *g, const cst_op *op, const cst_id *a); /* op->arity arguments */
cst_id cst_num_table(cst_graph *g, const cst_table *t, cst_id x,
                     int derivative); /* t: number/table.h */

/* A vector operation: what a body derives (a frame, local coordinates, a pseudo-inertia) is one
 * node. J is nout x nin, row-major, zeroed before the call. Inputs are not timed; nin, nout <= 512,
 * nin nout <= 16384. */
struct cst_vop {
    const char *name;
    void (*eval)(int nin, const real *in, int nout, real *out);
    void (*jac)(int nin, const real *in, int nout, const real *out, real *J);
};
/* the id of the first output */
cst_id cst_num_vector(cst_graph *g, const cst_vop *op, int nin, const cst_id *in, int nout);

/* shorthands */
cst_id cst_num_add(cst_graph *g, cst_id a, cst_id b);
cst_id cst_num_sub(cst_graph *g, cst_id a, cst_id b);
cst_id cst_num_mul(cst_graph *g, cst_id a, cst_id b);
cst_id cst_num_div(cst_graph *g, cst_id a, cst_id b);
cst_id cst_num_neg(cst_graph *g, cst_id a);
cst_id cst_num_sqrt(cst_graph *g, cst_id a);
/* by name; unused: CST_NONE */
cst_id cst_num_call(cst_graph *g, const char *op, cst_id a, cst_id b, cst_id c);
cst_id cst_num_dot3(cst_graph *g, const cst_id a[3], const cst_id b[3]);
void cst_num_cross3(cst_graph *g, const cst_id a[3], const cst_id b[3], cst_id c[3]);

/* what a value is */
int cst_num_is_const(const cst_graph *g, cst_id id, double *value); /* 1: a constant, its value */
int cst_num_leaf_number(const cst_graph *g, cst_id id);             /* leaf number or -1 */
int cst_num_timed(const cst_graph *g, cst_id id);                   /* depends on a channel */
/* on any such channel; order -1: any */
int cst_num_depends(const cst_graph *g, cst_id y, cst_channel_kind kind, int order);
const cst_channel *cst_num_channel_of(const cst_graph *g,
                                      cst_id id); /* NULL unless it is a channel */

/* Partial of y with respect to the timed value x (a channel, mostly), as a value. */
cst_id cst_num_diff(cst_graph *g, cst_id y, cst_id x);
/* Total time derivative: t -> 1, x -> x', x' -> x''; CST_NONE when a channel has no rate (forces,
 * states). */
cst_id cst_num_rate(cst_graph *g, cst_id y);
/* y with channels replaced: map(ctx, channel) returns the id to put there, or CST_NONE to keep it.
 */
cst_id cst_num_substitute(cst_graph *g, cst_id y, cst_id (*map)(void *ctx, const cst_channel *c),
                          void *ctx);

/* A value of another graph that is not timed, its leaves replaced: leaf(ctx, number) returns the id
 * to put there. CST_NONE: it reads a table or a vector operation */
cst_id cst_num_import(cst_graph *g, const cst_graph *from, cst_id y,
                      cst_id (*leaf)(void *ctx, int number), void *ctx);

/* The mode of an event. rests 1: nothing changes where the difference passes zero, only where it
 * rests there */
typedef cst_id (*cst_event_maker)(void *ctx, cst_id difference, int rests);

/* y with each timed comparison a < b, a > b, ... replaced by event(ctx, d), d the difference that
 * is positive where the comparison is true: laws that switch become laws of a mode. sign, floor,
 * ceil, mod and slopes of tables jump too, and become modes likewise. */
cst_id cst_num_events(cst_graph *g, cst_id y, cst_event_maker event, void *ctx);
/* y with its kinks (abs, min, max, clamp, linear tables) by modes too, where event() has one;
 * CST_NONE: it has none. A kink whose slope is an event must be on the same side of it. */
cst_id cst_num_kinks_of_events(cst_graph *g, cst_id y, cst_event_maker event, void *ctx);
/* Is y written as -x, or as b - a where x is a - b? */
int cst_num_opposite(const cst_graph *g, cst_id x, cst_id y);
/* Does the rewritten y still jump? It does if it reads slopes of a table that has too many points
 * to become events. */
int cst_num_jumps(const cst_graph *g, cst_id y);
/* Calls kink() for each kink of y (abs, min, max, clamp, a linear table): it is where `value`
 * changes its sign or, with a table, its interval. touched: the kink is at zero only and need not
 * be crossed to matter (sqrt, hypot, x^n). */
void cst_num_kinks(cst_graph *g, cst_id y,
                   void (*kink)(void *ctx, cst_id value, const cst_table *table, int touched),
                   void *ctx);

/* All values that are not timed, from the leaves. val has cst_graph_values() entries; timed ones
 * are left alone. reverse: bar[id] holds seeds for any values; on return the leaves' gradient is at
 * their ids (all others are consumed). forward: dot[leaf ids] given, all others computed.
 * cst_leaf_id maps leaf numbers to ids. */
cst_id cst_leaf_id(const cst_graph *g, int leaf);
double cst_leaf_nominal(const cst_graph *g, int leaf);
void cst_graph_eval(const cst_graph *g, const double *leaf, double *val);
void cst_graph_forward(const cst_graph *g, const double *val, double *dot);
void cst_graph_reverse(const cst_graph *g, const double *val, double *bar);

/* Kinks and jumps of values that are not timed: how many stand on one, to rounding; */
int cst_graph_on_kink(const cst_graph *g, const double *val);
/* leaves that can move one which the seeds in bar see, or `seen` says: op (leaves) is the name of
 * its operation, or NULL. Both are used up. */
typedef struct cst_kinked {
    const char **op;
    const char **by;     /* (values) scratch */
    unsigned char *seen; /* (values) 1: it decides in what is timed, which has bars of its own */
    double *side[2];
} cst_kinked;
cst_kinked *cst_kinked_new(cst_arena *a, const cst_graph *g);
void cst_graph_kinked(const cst_graph *g, const double *val, double *bar, cst_kinked *k);

#endif
