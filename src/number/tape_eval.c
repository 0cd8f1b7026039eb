/* SPDX-License-Identifier: MIT
 *
 * Running register code: y_i = op_i(registers), in order; y_i' with the same order; gradients
 * backwards. The four rules of arithmetic are most of the code and stand in the loop. */
#include "number/op.h"
#include "number/table_eval.h"
#include "number/tape.h"

#define A reg[c->a[0]]
#define B reg[c->a[1]]

void CST_K(cst_tape_eval)(const cst_tape *t, real *reg)
{
    real *y = reg + t->nchannel + t->nnumber;
    const cst_code *c = t->code;
    for (int i = 0; i < t->ncode; i++, c++) {
        switch (c->op) {
        case CST_CODE_CONST:
            y[i] = t->constant[c->a[0]];
            break;
        case CST_OP_add:
            y[i] = A + B;
            break;
        case CST_OP_sub:
            y[i] = A - B;
            break;
        case CST_OP_mul:
            y[i] = A * B;
            break;
        case CST_OP_div:
            y[i] = A / B;
            break;
        case CST_OP_neg:
            y[i] = -A;
            break;
        case CST_CODE_TABLE: {
            const cst_lookup *l = &t->lookup[c->a[1]];
            y[i] = table_value(l->table, A, l->derivative, reg + l->y, reg + l->m);
            break;
        }
        default: {
            const real a[3] = {A, B, reg[c->a[2]]};
            y[i] = CST_K(cst_op_table)[c->op]->eval(a);
        }
        }
    }
}

/* A term is left out when a factor is zero: the branch that `if` does not take may be NaN. */
static real op_forward(const cst_code *c, const real *reg, real y, const real *dot)
{
    const cst_op *op = CST_K(cst_op_table)[c->op];
    const real a[3] = {A, B, reg[c->a[2]]};
    real d[3], s = 0;
    op->partial(a, y, d);
    for (int k = 0; k < op->arity; k++)
        if (d[k] != 0 && dot[c->a[k]] != 0) s += d[k] * dot[c->a[k]];
    return s;
}

void CST_K(cst_tape_forward)(const cst_tape *t, const real *reg, real *dot)
{
    const real *y = reg + t->nchannel + t->nnumber;
    real *y_dot = dot + t->nchannel + t->nnumber;
    const cst_code *c = t->code;
    for (int i = 0; i < t->ncode; i++, c++) {
        const real *da = &dot[c->a[0]], *db = &dot[c->a[1]];
        switch (c->op) {
        case CST_CODE_CONST:
            y_dot[i] = 0;
            break;
        case CST_OP_add:
            y_dot[i] = *da + *db;
            break;
        case CST_OP_sub:
            y_dot[i] = *da - *db;
            break;
        case CST_OP_mul:
            y_dot[i] = *da * B + A * *db;
            break;
        case CST_OP_div:
            y_dot[i] = (*da - y[i] * *db) / B;
            break;
        case CST_OP_neg:
            y_dot[i] = -*da;
            break;
        case CST_CODE_TABLE: {
            const cst_lookup *l = &t->lookup[c->a[1]];
            y_dot[i] = table_forward(l->table, A, l->derivative, reg + l->y, reg + l->m, *da,
                                     dot + l->y, dot + l->m);
            break;
        }
        default:
            y_dot[i] = op_forward(c, reg, y[i], dot);
        }
    }
}

static void op_reverse(const cst_code *c, const real *reg, real y, real b, real *bar)
{
    const cst_op *op = CST_K(cst_op_table)[c->op];
    const real a[3] = {A, B, reg[c->a[2]]};
    real d[3];
    op->partial(a, y, d);
    for (int k = 0; k < op->arity; k++)
        if (d[k] != 0) bar[c->a[k]] += d[k] * b;
}

void CST_K(cst_tape_reverse)(const cst_tape *t, const real *reg, real *bar)
{
    const real *y = reg + t->nchannel + t->nnumber;
    real *y_bar = bar + t->nchannel + t->nnumber;
    for (int i = t->ncode; i-- > 0;) {
        const cst_code *c = &t->code[i];
        real b = y_bar[i];
        y_bar[i] = 0;
        if (b == 0) continue;
        real *a_bar = &bar[c->a[0]], *b_bar = &bar[c->a[1]];
        switch (c->op) {
        case CST_CODE_CONST:
            break;
        case CST_OP_add:
            *a_bar += b;
            *b_bar += b;
            break;
        case CST_OP_sub:
            *a_bar += b;
            *b_bar -= b;
            break;
        case CST_OP_mul:
            *a_bar += b * B;
            *b_bar += b * A;
            break;
        case CST_OP_div: {
            real s = b / B;
            *a_bar += s;
            *b_bar -= s * y[i];
            break;
        }
        case CST_OP_neg:
            *a_bar -= b;
            break;
        case CST_CODE_TABLE: {
            const cst_lookup *l = &t->lookup[c->a[1]];
            table_reverse(l->table, A, l->derivative, reg + l->y, reg + l->m, b, a_bar, bar + l->y,
                          bar + l->m);
            break;
        }
        default:
            op_reverse(c, reg, y[i], b, bar);
        }
    }
}
