/* SPDX-License-Identifier: MIT
 *
 * Expressions that jump, rewritten in terms of modes: a comparison becomes the mode of an event,
 * which is constant between events. So do the other operations that jump (sign, floor, mod, slopes
 * of tables) and, where such slopes occur, kinks. */
#include "number/graph_private.h"
#include "number/table.h"

#include <float.h>
#include <stdlib.h>

/* A mode is 1 where its difference is positive, 0 where it is negative, and 1/2 where it rests at
 * zero: neither a > b nor a < b. */
static cst_id beyond(cst_graph *g, cst_id mode, const char *op)
{
    return mode == CST_NONE ? CST_NONE : cst_num_call(g, op, mode, cst_num_const(g, 0.5), CST_NONE);
}

/* written: the first argument as it was before its jumps became events. CST_NONE: v stays */
typedef cst_id (*replacement)(cst_graph *g, const node *v, cst_id written, cst_event_maker event,
                              void *ctx);

/* floor(x) = p + 2 round((x - 1/2 - p)/2), p = 0 where it is even: where sin(pi x) > 0. With p kept
 * between events the argument of round stays 1/4 away from a jump. 2 round(y/2) = unwrap(0, pi
 * y)/pi. */
static cst_id floor_event(cst_graph *g, cst_id x, cst_event_maker event, void *ctx)
{
    cst_id one = cst_num_const(g, 1), pi = cst_num_const(g, CST_PI), none = CST_NONE;
    cst_id turn = cst_num_mul(g, pi, x),
           mode = event(ctx, cst_num_call(g, "sin", turn, none, none), 0);
    if (mode == CST_NONE) return CST_NONE;
    /* at rest on a whole number: is that one even? */
    cst_id whole =
        cst_num_call(g, ">", cst_num_call(g, "cos", turn, none, none), cst_num_const(g, 0), none);
    cst_id even = cst_num_call(g, "if", cst_num_call(g, "==", mode, cst_num_const(g, 0.5), none),
                               whole, beyond(g, mode, ">"));
    cst_id p = cst_num_sub(g, one, even);
    cst_id y = cst_num_sub(g, x, cst_num_add(g, cst_num_const(g, 0.5), p));
    return cst_num_add(
        g, p,
        cst_num_div(g, cst_num_call(g, "unwrap", cst_num_const(g, 0), cst_num_mul(g, pi, y), none),
                    pi));
}

/* Does this derivative of the table jump? The slope of a linear one at its points, that of a
 * clamped one at its ends. */
static int table_jumps(const cst_table *t, int derivative)
{
    return derivative == 1 && t->n > 1 &&
           (t->kind == CST_TABLE_LINEAR || t->outside == CST_TABLE_CLAMP);
}

/* The same table, continued beyond its ends with its end slopes: rounding may carry x past an end,
 * and the slope must not vanish there */
static const cst_table *extended(cst_graph *g, const cst_table *t)
{
    for (int i = 0; i < g->table.n; i++) {
        const cst_table *other = g->table.at[i];
        if (other->x == t->x && other->y == t->y && other->y_id == t->y_id &&
            other->kind == t->kind && other->outside == CST_TABLE_EXTEND)
            return other;
    }
    return cst_table_new(g->arena, g, t->n, t->x, t->y, t->y_id, t->kind, CST_TABLE_EXTEND);
}

/* Piece k of a linear table, behind x_k, or its slope: a straight line. -1, n - 1: outside */
static cst_id line(cst_graph *g, const cst_table *e, int clamp, int k, cst_id x, int derivative)
{
    int first = k < 0 ? 0 : k, flat = clamp && (k < 0 || k == e->n - 1);
    cst_id at = cst_num_const(g, e->x[first]), y = cst_num_table(g, e, at, 0);
    double middle = k < 0 || k == e->n - 1 ? e->x[first] : (e->x[k] + e->x[k + 1]) / 2;
    cst_id slope = flat ? cst_num_const(g, 0) : cst_num_table(g, e, cst_num_const(g, middle), 1);
    return derivative ? slope : cst_num_add(g, y, cst_num_mul(g, slope, cst_num_sub(g, x, at)));
}

/* y(x) = p_-1 + sum_k mode_k (p_k - p_k-1),  mode_k: x > x_k,  p_k the piece behind x_k; or y'(x)
 * likewise. The middle of a clamped cubic is one piece. A periodic table is read at x_0 + (x - x_0)
 * mod (x_n - x_0). CST_NONE: an event has no mode */
static cst_id table_event(cst_graph *g, const cst_table *t, cst_id x, int derivative,
                          cst_event_maker event, void *ctx)
{
    const cst_table *e = extended(g, t);
    int clamp = t->outside == CST_TABLE_CLAMP, linear = t->kind == CST_TABLE_LINEAR;
    if (t->outside == CST_TABLE_PERIODIC) {
        cst_id first = cst_num_const(g, t->x[0]),
               period = cst_num_const(g, t->x[t->n - 1] - t->x[0]), y = cst_num_sub(g, x, first);
        cst_id turns = floor_event(g, cst_num_div(g, y, period), event, ctx);
        if (turns == CST_NONE) return CST_NONE;
        x = cst_num_add(g, first, cst_num_sub(g, y, cst_num_mul(g, period, turns)));
    }
    cst_id last = line(g, e, clamp, clamp ? -1 : 0, x, derivative), sum = last;
    for (int k = !clamp; k < t->n - !clamp; k += linear ? 1 : t->n - 1) {
        cst_id mode = beyond(g, event(ctx, cst_num_sub(g, x, cst_num_const(g, t->x[k])), 0), ">=");
        if (mode == CST_NONE) return CST_NONE;
        cst_id piece = linear || k > 0 ? line(g, e, clamp, k, x, derivative)
                                       : cst_num_table(g, e, x, derivative);
        sum = cst_num_add(g, sum, cst_num_mul(g, mode, cst_num_sub(g, piece, last)));
        last = piece;
    }
    return sum;
}

enum { MOST_POINTS = 64 }; /* of a table whose slopes become events */

static cst_id table_of_events(cst_graph *g, const node *v, int derivative, cst_event_maker event,
                              void *ctx)
{
    const cst_table *t = g->table.at[v->a[2]];
    int few = t->kind == CST_TABLE_CUBIC || t->n <= MOST_POINTS;
    return few && v->a[1] == derivative && table_jumps(t, 1)
               ? table_event(g, t, v->a[0], derivative, event, ctx)
               : CST_NONE;
}

/* Does d change between events? */
static int moves(cst_graph *g, cst_id d)
{
    const int start = cst_graph_reach(g, 1, &d, 0), n = g->walk->order.n;
    int found = 0;
    for (int i = start; i < n && !found; i++) {
        const cst_id x = g->walk->order.at[i];
        const cst_channel *c = cst_num_channel_of(g, x);
        double slope = NAN;
        if (c && c->kind != CST_CH_MEM)
            found = !cst_num_is_const(g, cst_num_diff(g, d, x), &slope) || slope != 0;
    }
    g->walk->order.n = start;
    return found;
}

/* a == b holds only while a - b rests at zero. A motion that passes through zero leaves no trace,
 * however near a state comes to it. CST_NONE: the difference changes at events only, or there is no
 * mode */
static cst_id equality(cst_graph *g, cst_id a, cst_id b, const char *op, cst_event_maker event,
                       void *ctx)
{
    const cst_id d = cst_num_sub(g, a, b), mode = moves(g, d) ? event(ctx, d, 1) : CST_NONE;
    return mode != CST_NONE && cst_num_depends(g, mode, CST_CH_MEM, -1) ? beyond(g, mode, op)
                                                                        : CST_NONE;
}

/* Is an operation in y that need not be finite? */
static int may_fail(cst_graph *g, cst_id y)
{
    const int start = cst_graph_reach(g, 1, &y, 0);
    int found = 0;
    for (int i = start; i < g->walk->order.n && !found; i++) {
        const node *v = &g->node.at[g->walk->order.at[i]];
        if (v->kind != NODE_OP) continue;
        found = v->op == CST_OP_div
                    ? g->node.at[v->a[1]].timed
                    : v->op == CST_OP_pow || v->op == CST_OP_sqrt || v->op == CST_OP_log ||
                          v->op == CST_OP_log10 || v->op == CST_OP_asin || v->op == CST_OP_acos ||
                          v->op == CST_OP_mod;
    }
    g->walk->order.n = start;
    return found;
}

/* Does y read nothing that x does not read? Time aside */
static int reads_no_more(cst_graph *g, cst_id y, cst_id x)
{
    const int start = cst_graph_reach(g, 1, &x, 0), middle = g->walk->order.n;
    cst_graph_reach(g, 1, &y, 0);
    const cst_id *at = g->walk->order.at;
    int more = 0;
    for (int i = middle; i < g->walk->order.n && !more; i++) {
        const cst_channel *c = cst_num_channel_of(g, at[i]);
        if (!c || c->kind == CST_CH_TIME) continue;
        more = 1;
        for (int k = start; k < middle && more; k++) more = at[k] != at[i];
    }
    g->walk->order.n = start;
    return !more;
}

static const node *connective(const cst_graph *g, cst_id id)
{
    const node *v = &g->node.at[id];
    return v->kind == NODE_OP && (v->op == CST_OP_and || v->op == CST_OP_or || v->op == CST_OP_not)
               ? v
               : NULL;
}

/* The condition `written`, which became c by modes, with those of its comparisons as they are
 * written that read nothing but what y does: laws and drives may not read all */
static cst_id as_written(cst_graph *g, cst_id written, cst_id c, cst_id y)
{
    const node *now = connective(g, c), w = g->node.at[written];
    if (!now || !connective(g, written) || now->op != w.op)
        return reads_no_more(g, written, y) ? written : c;
    cst_id a[3] = {now->a[0], now->a[1], now->a[2]};
    for (int k = 0; k < cst_node_arguments(&w); k++) a[k] = as_written(g, w.a[k], a[k], y);
    return cst_num_op(g, cst_op_table[w.op], a);
}

/* if(c, a, b) with modes in c. Where the modes' choice is not finite, as in if(x == 0, 1, sin(x)/x)
 * while x passes 0 or before its rest is known, the condition decides as it is written. */
static cst_id guarded(cst_graph *g, const node *v, cst_id written)
{
    const cst_id c = v->a[0], none = CST_NONE, y = cst_num_op(g, cst_op_table[CST_OP_if], v->a);
    const cst_id other = c != written && may_fail(g, y) ? as_written(g, written, c, y) : c;
    if (c == other) return CST_NONE;
    const cst_id above = cst_num_call(g, ">=", y, cst_num_const(g, -DBL_MAX), none);
    const cst_id finite =
        cst_num_call(g, "and", above, cst_num_call(g, "<=", y, cst_num_const(g, DBL_MAX), none),
                     none);
    return cst_num_call(g, "if", cst_num_call(g, "if", finite, c, other), v->a[1], v->a[2]);
}

/* The replacement for an operation that jumps; CST_NONE if it does not. The jumps in the arguments
 * of v have been replaced already */
static cst_id jump_event(cst_graph *g, const node *v, cst_id written, cst_event_maker event,
                         void *ctx)
{
    cst_id a = v->a[0], b = v->a[1];
    if (v->kind == NODE_TABLE) return table_of_events(g, v, 1, event, ctx);
    if (v->kind != NODE_OP) return CST_NONE;
    switch (v->op) {
    case CST_OP_lt:
        return beyond(g, event(ctx, cst_num_sub(g, b, a), 0), ">");
    case CST_OP_le:
        return beyond(g, event(ctx, cst_num_sub(g, b, a), 0), ">=");
    case CST_OP_gt:
        return beyond(g, event(ctx, cst_num_sub(g, a, b), 0), ">");
    case CST_OP_ge:
        return beyond(g, event(ctx, cst_num_sub(g, a, b), 0), ">=");
    case CST_OP_eq:
        return equality(g, a, b, "==", event, ctx);
    case CST_OP_ne:
        return equality(g, a, b, "!=", event, ctx);
    case CST_OP_if:
        return guarded(g, v, written);
    case CST_OP_sign:
        return cst_num_sub(g, cst_num_mul(g, cst_num_const(g, 2), event(ctx, a, 0)),
                           cst_num_const(g, 1));
    case CST_OP_floor:
        return floor_event(g, a, event, ctx);
    case CST_OP_ceil:
        return cst_num_neg(g, floor_event(g, cst_num_neg(g, a), event, ctx));
    case CST_OP_mod:
        return cst_num_sub(g, a,
                           cst_num_mul(g, b, floor_event(g, cst_num_div(g, a, b), event, ctx)));
    default:
        return CST_NONE;
    }
}

/* (mode of d > 0) (yes - no) + no */
static cst_id choice(cst_graph *g, cst_id d, cst_id yes, cst_id no, cst_event_maker event,
                     void *ctx)
{
    cst_id mode = event(ctx, d, 0);
    return mode == CST_NONE ? CST_NONE : cst_num_call(g, "if", mode, yes, no);
}

/* The replacement for an operation with a kink where its derivative has made an event of it. The
 * differences must be the same as in the derivative (ops_piecewise.c) */
static cst_id kink_event(cst_graph *g, const node *v, cst_id written, cst_event_maker event,
                         void *ctx)
{
    (void)written;
    cst_id a = v->a[0], b = v->a[1], c = v->a[2], y;
    if (v->kind == NODE_TABLE) return table_of_events(g, v, 0, event, ctx);
    if (v->kind != NODE_OP) return CST_NONE;
    switch (v->op) {
    case CST_OP_abs:
        return choice(g, a, a, cst_num_neg(g, a), event, ctx);
    case CST_OP_min:
        return choice(g, cst_num_sub(g, b, a), a, b, event, ctx);
    case CST_OP_max:
        return choice(g, cst_num_sub(g, a, b), a, b, event, ctx);
    case CST_OP_clamp:
        y = choice(g, cst_num_sub(g, a, c), c, a, event, ctx);
        return y == CST_NONE ? CST_NONE : choice(g, cst_num_sub(g, b, a), b, y, event, ctx);
    default:
        return CST_NONE;
    }
}

static int ascending(const void *a, const void *b)
{
    cst_id x = *(const cst_id *)a, y = *(const cst_id *)b;
    return (x > y) - (x < y);
}

/* The replacement of id. The first n values of the order have been replaced, and their replacements
 * are stored `all` places further on */
static cst_id became(const walk *w, int start, int n, int all, cst_id id)
{
    const cst_id *first = w->order.at + start,
                 *found = n ? bsearch(&id, first, (size_t)n, sizeof id, ascending) : NULL;
    return found ? found[all] : id;
}

/* Arguments, which have smaller ids, are replaced first, so that the value of an event is itself
 * expressed by events where it jumps. event() builds values and starts walks, which would overwrite
 * marks and memos of this walk: none are used. */
static cst_id replaced(cst_graph *g, cst_id y, replacement replace, cst_event_maker event,
                       void *ctx)
{
    int start = cst_graph_reach(g, 1, &y, 0), n = g->walk->order.n - start;
    walk *w = g->walk;
    if (n) qsort(w->order.at + start, (size_t)n, sizeof y, ascending);
    for (int i = 0; i < n; i++) {
        node v = g->node.at[w->order.at[start + i]]; /* a copy: the array moves */
        cst_id to = w->order.at[start + i], written = v.a[0];
        for (int k = 0; k < cst_node_arguments(&v); k++) v.a[k] = became(w, start, i, n, v.a[k]);
        cst_id other = replace(g, &v, written, event, ctx);
        if (other != CST_NONE)
            to = other;
        else if (v.kind == NODE_OP)
            to = cst_num_op(g, cst_op_table[v.op], v.a);
        else if (v.kind == NODE_TABLE)
            to = cst_num_table(g, g->table.at[v.a[2]], v.a[0], v.a[1]);
        *cst_push(g->arena, &w->order) = to;
    }
    cst_id r = became(w, start, n, n, y);
    w->order.n = start;
    return r;
}

cst_id cst_num_events(cst_graph *g, cst_id y, cst_event_maker event, void *ctx)
{
    return replaced(g, y, jump_event, event, ctx);
}

cst_id cst_num_kinks_of_events(cst_graph *g, cst_id y, cst_event_maker event, void *ctx)
{
    return replaced(g, y, kink_event, event, ctx);
}

int cst_num_opposite(const cst_graph *g, cst_id x, cst_id y)
{
    const node *a = &g->node.at[x], *b = &g->node.at[y];
    if (a->kind == NODE_OP && a->op == CST_OP_neg && a->a[0] == y) return 1;
    if (b->kind == NODE_OP && b->op == CST_OP_neg && b->a[0] == x) return 1;
    int differences =
        a->kind == NODE_OP && a->op == CST_OP_sub && b->kind == NODE_OP && b->op == CST_OP_sub;
    return differences && a->a[0] == b->a[1] && a->a[1] == b->a[0];
}

int cst_num_jumps(const cst_graph *g, cst_id y)
{
    int start = cst_graph_reach(g, 1, &y, 0), found = 0;
    for (int i = start; i < g->walk->order.n; i++) {
        const node *v = &g->node.at[g->walk->order.at[i]];
        found |= v->kind == NODE_TABLE && table_jumps(g->table.at[v->a[2]], v->a[1]);
    }
    g->walk->order.n = start;
    return found;
}

void cst_num_kinks(cst_graph *g, cst_id y,
                   void (*kink)(void *ctx, cst_id value, const cst_table *table, int touched),
                   void *ctx)
{
    int start = cst_graph_reach(g, 1, &y, 0), n = g->walk->order.n - start;
    for (int i = 0; i < n; i++) {
        node v = g->node.at[g->walk->order.at[start + i]];
        if (v.kind == NODE_TABLE && g->table.at[v.a[2]]->kind == CST_TABLE_LINEAR)
            kink(ctx, v.a[0], g->table.at[v.a[2]], 0);
        if (v.kind != NODE_OP) continue;
        if (v.op == CST_OP_abs) kink(ctx, v.a[0], NULL, 0);
        if (v.op == CST_OP_sqrt || v.op == CST_OP_pow) kink(ctx, v.a[0], NULL, 1);
        if (v.op == CST_OP_hypot)
            kink(ctx,
                 cst_num_add(g, cst_num_mul(g, v.a[0], v.a[0]), cst_num_mul(g, v.a[1], v.a[1])),
                 NULL, 1);
        if (v.op == CST_OP_min || v.op == CST_OP_max)
            kink(ctx, cst_num_sub(g, v.a[0], v.a[1]), NULL, 0);
        if (v.op != CST_OP_clamp) continue;
        kink(ctx, cst_num_sub(g, v.a[0], v.a[1]), NULL, 0);
        kink(ctx, cst_num_sub(g, v.a[0], v.a[2]), NULL, 0);
    }
    g->walk->order.n = start;
}
