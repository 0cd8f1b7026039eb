/* SPDX-License-Identifier: MIT
 *
 * Compilation of timed values to register code. */
#include "number/tape.h"
#include "number/graph_private.h"
#include "number/table_eval.h"

#include <string.h>

/* While the code grows temporaries are counted from 0; registers are final when the inputs are
 * known. memo[id] is the register of an input, or ~i for the i-th instruction. */
typedef struct builder {
    const cst_graph *g;
    cst_arena *a;
    walk *w;
    CST_LIST(cst_channel) channel;
    CST_LIST(cst_id) number;
    CST_LIST(cst_code) code;
    CST_LIST(double) constant;
    CST_LIST(cst_lookup) lookup;
} builder;

/* Operands in the making: channel c is c, number k is k + NUMBER, instruction i is ~i. */
#define NUMBER (1 << 30)

static int known(const builder *b, cst_id id) { return b->w->mark[id] == b->w->epoch; }

static int remember(builder *b, cst_id id, int operand)
{
    b->w->mark[id] = b->w->epoch;
    return b->w->memo[id] = operand;
}

static int emit(builder *b, cst_code c)
{
    *cst_push(b->a, &b->code) = c;
    return ~(b->code.n - 1);
}

static int add_number(builder *b, cst_id id)
{
    *cst_push(b->a, &b->number) = id;
    return remember(b, id, NUMBER + b->number.n - 1);
}

/* Operand of a value that is not timed, or that has been emitted. */
static int operand(builder *b, cst_id id)
{
    if (known(b, id)) return b->w->memo[id];
    const node *v = &b->g->node.at[id];
    if (v->kind != NODE_CONST) return add_number(b, id);
    *cst_push(b->a, &b->constant) = cst_node_const(v);
    return remember(b, id, emit(b, (cst_code){.op = CST_CODE_CONST, .a = {b->constant.n - 1}}));
}

/* n consecutive numbers: found again if they were placed as a run before. */
static int number_run(builder *b, cst_id first, int n)
{
    int same = known(b, first);
    for (int i = 1; i < n && same; i++)
        same = known(b, first + i) && b->w->memo[first + i] == b->w->memo[first] + i;
    if (same && b->w->memo[first] >= NUMBER) return b->w->memo[first];
    int run = NUMBER + b->number.n;
    for (int i = 0; i < n; i++) add_number(b, first + i);
    return run;
}

static int emit_table(builder *b, const node *v)
{
    const cst_table *t = b->g->table.at[v->a[2]];
    cst_lookup l = {.table = t, .derivative = v->a[1]};
    if (t->y_id != CST_NONE) l.y = number_run(b, t->y_id, t->n);
    if (t->m_id != CST_NONE) l.m = number_run(b, t->m_id, t->n);
    *cst_push(b->a, &b->lookup) = l;
    int x = operand(b, v->a[0]);
    return emit(b, (cst_code){.op = CST_CODE_TABLE, .a = {x, b->lookup.n - 1, 0}});
}

static void emit_timed(builder *b, cst_id id)
{
    const node *v = &b->g->node.at[id];
    if (v->kind == NODE_CHANNEL) {
        *cst_push(b->a, &b->channel) = v->channel;
        remember(b, id, b->channel.n - 1);
    } else if (v->kind == NODE_TABLE) {
        remember(b, id, emit_table(b, v));
    } else {
        cst_code c = {.op = v->op};
        for (int i = 0; i < cst_op_table[v->op]->arity; i++) c.a[i] = operand(b, v->a[i]);
        remember(b, id, emit(b, c));
    }
}

static int final_register(const builder *b, int operand)
{
    if (operand < 0) return b->channel.n + b->number.n + ~operand;
    return operand >= NUMBER ? b->channel.n + operand - NUMBER : operand;
}

static void number_registers(builder *b)
{
    for (int i = 0; i < b->code.n; i++) {
        cst_code *c = &b->code.at[i];
        int n = c->op == CST_CODE_CONST   ? 0
                : c->op == CST_CODE_TABLE ? 1
                                          : cst_op_table[c->op]->arity;
        for (int k = 0; k < n; k++) c->a[k] = final_register(b, c->a[k]);
        for (int k = n; k < 3 && n > 0 && c->op >= 0; k++) c->a[k] = c->a[0]; /* read, not used */
    }
    for (int i = 0; i < b->lookup.n; i++) {
        b->lookup.at[i].y = final_register(b, b->lookup.at[i].y);
        b->lookup.at[i].m = final_register(b, b->lookup.at[i].m);
    }
}

/* Runs of numbers for tables are placed first, so that single numbers can reuse their registers. */
static void place_tables(builder *b, int start, int end)
{
    for (int i = start; i < end; i++) {
        const node *v = &b->g->node.at[b->w->order.at[i]];
        if (v->kind != NODE_TABLE) continue;
        const cst_table *t = b->g->table.at[v->a[2]];
        if (t->y_id != CST_NONE) number_run(b, t->y_id, t->n);
        if (t->m_id != CST_NONE) number_run(b, t->m_id, t->n);
    }
}

cst_tape *cst_tape_new(cst_arena *a, const cst_graph *g, int nout, const cst_id *out)
{
    int start = cst_graph_reach(g, nout, out, 0), end = g->walk->order.n;
    builder b = {.g = g, .a = a, .w = cst_graph_walk(g)};
    place_tables(&b, start, end);
    for (int i = start; i < end; i++) emit_timed(&b, b.w->order.at[i]);
    b.w->order.n = start;

    cst_tape *t = cst_new(a, cst_tape, 1);
    t->out = cst_new(a, int, nout);
    for (int i = 0; i < nout; i++) t->out[i] = operand(&b, out[i]);
    number_registers(&b);
    for (int i = 0; i < nout; i++) t->out[i] = final_register(&b, t->out[i]);
    t->nout = nout;
    t->nchannel = b.channel.n, t->channel = b.channel.at;
    t->nnumber = b.number.n, t->number = b.number.at;
    t->ncode = b.code.n, t->code = b.code.at;
    t->nreg = t->nchannel + t->nnumber + t->ncode;
    t->constant = b.constant.at;
    t->lookup = b.lookup.at;
    return t;
}
