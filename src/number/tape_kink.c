/* SPDX-License-Identifier: MIT
 *
 * Operations of register code that have no derivative: how near the values are to a kink, whether
 * within rounding, whether the arguments can leave the kink, and whether an output depends on it.
 */
#include "number/op.h"
#include "number/table_eval.h"
#include "number/tape.h"

#include <string.h>

#define STRAIGHT                                                                                   \
    1e-12 /* relative difference of the slopes at a point of a table below which there is no kink  \
           */
#define CANCELS 1e-9 /* relative to the terms: a smaller sum is rounding of changes that cancel */

static int has_kink(const cst_code *c) { return c->op >= 0 && cst_op_table[c->op]->kink; }

double cst_code_kink(const cst_code *c, const double *reg)
{
    if (!has_kink(c)) return INFINITY;
    double a[3] = {reg[c->a[0]], reg[c->a[1]], reg[c->a[2]]}, size = 1;
    for (int k = 0; k < cst_op_table[c->op]->arity; k++) size += fabs(a[k]);
    return cst_op_table[c->op]->kink(a) / size;
}

double cst_tape_kink(const cst_tape *t, const double *reg)
{
    double least = INFINITY;
    for (int i = 0; i < t->ncode; i++) {
        const cst_code *c = &t->code[i];
        if (c->op == CST_CODE_TABLE)
            least = fmin(least, table_kink(t->lookup[c->a[1]].table, reg[c->a[0]]));
        least = fmin(least, cst_code_kink(c, reg));
    }
    return least;
}

void cst_tape_reach(const cst_tape *t, int out, unsigned char *reach)
{
    int n0 = t->nchannel + t->nnumber;
    memset(reach, 0, (size_t)t->nreg);
    reach[t->out[out]] = 1;
    for (int i = t->ncode; i-- > 0;) {
        const cst_code *c = &t->code[i];
        int n = c->op == CST_CODE_CONST   ? 0
                : c->op == CST_CODE_TABLE ? 1
                                          : cst_op_table[c->op]->arity;
        for (int k = 0; k < n && reach[n0 + i]; k++) reach[c->a[k]] = 1;
    }
}

/* ---- one instruction as y = f(a): its arguments' registers, their number and the partials ---- */

static int partials(const cst_tape *t, const cst_code *c, const double *reg, double y, double *d)
{
    if (c->op == CST_CODE_CONST) return 0;
    if (c->op ==
        CST_CODE_TABLE) { /* its own values are numbers: they move, but not to another interval */
        const cst_lookup *l = &t->lookup[c->a[1]];
        d[0] = table_value(l->table, reg[c->a[0]], l->derivative + 1, reg + l->y, reg + l->m);
        return 1;
    }
    const double a[3] = {reg[c->a[0]], reg[c->a[1]], reg[c->a[2]]};
    cst_op_table[c->op]->partial(a, y, d);
    return cst_op_table[c->op]->arity;
}

/* How far the argument of a linear table is from a point at which its slope changes; INFINITY: from
 * all */
static double knot_distance(const cst_tape *t, const cst_code *c, const double *reg)
{
    const cst_lookup *l = &t->lookup[c->a[1]];
    const cst_table *table = l->table;
    if (table->kind != CST_TABLE_LINEAR || table->n < 2 || l->derivative > 0) return INFINITY;
    const double x0 = table->x[0], span = table->x[table->n - 1] - x0;
    double x = reg[c->a[0]], off = 0;
    if (table->outside == CST_TABLE_PERIODIC) off = span * floor((x - x0) / span);
    const int i = table_interval(table, x - off),
              k = x - off - table->x[i] <= table->x[i + 1] - (x - off) ? i : i + 1;
    const double at = table->x[k] + off, beside = 1e-3 * (table->x[i + 1] - table->x[i]);
    const double left = table_value(table, at - beside, 1, reg + l->y, reg + l->m);
    const double right = table_value(table, at + beside, 1, reg + l->y, reg + l->m);
    return fabs(right - left) > STRAIGHT * (fabs(left) + fabs(right)) ? fabs(x - at) : INFINITY;
}

static double room(const cst_code *c,
                   const double *err) /* by which the distance to the kink is not known */
{
    double e = err[c->a[0]];
    for (int k = 1; c->op != CST_OP_pow && k < cst_op_table[c->op]->arity; k++) e += err[c->a[k]];
    return e;
}

static int within(const cst_tape *t, const cst_code *c, const double *reg, const double *err)
{
    if (c->op == CST_CODE_TABLE) return knot_distance(t, c, reg) <= err[c->a[0]];
    const double a[3] = {reg[c->a[0]], reg[c->a[1]], reg[c->a[2]]};
    return has_kink(c) && cst_op_table[c->op]->kink(a) <= room(c, err);
}

void cst_tape_errors(const cst_tape *t, const double *reg, double *err)
{
    int n0 = t->nchannel + t->nnumber;
    for (int i = 0; i < t->ncode; i++) {
        const cst_code *c = &t->code[i];
        double d[3], e = 0, y = reg[n0 + i];
        int n = partials(t, c, reg, y, d);
        for (int k = 0; k < n; k++)
            if (d[k] != 0 && err[c->a[k]] != 0) e += fabs(d[k]) * err[c->a[k]];
        if (c->op == CST_OP_mul) e += err[c->a[0]] * err[c->a[1]];
        if (c->op >= 0 && (c->op == CST_OP_pow ||
                           within(t, c, reg, err))) { /* sqrt(0 + e) is not e, (0 + e)^2 not 0 */
            double a[3];
            for (int k = 0; k < 3; k++) a[k] = reg[c->a[k]] + err[c->a[k]];
            e = fmax(e, fabs(cst_op_table[c->op]->eval(a) - y));
        }
        err[n0 + i] = e;
    }
}

/* Is the partial by argument k zero to rounding? x |x| and |x|^3 at 0 do not see the kink of |x|,
 * and do not move with it. */
static int vanishes(const cst_code *c, int k, const double *reg, const double *err)
{
    int x = c->op == CST_OP_mul ? c->a[1 - k] : c->a[0];
    return (c->op == CST_OP_mul || (c->op == CST_OP_pow && k == 0 && reg[c->a[1]] > 1)) &&
           fabs(reg[x]) <= err[x];
}

/* Of an operation whose first-order change is 0 or cancels: do higher orders move it? */
static int higher(const cst_code *c, int n, const double *reg, const double *err, const double *d,
                  const unsigned char *move)
{
    if (c->op == CST_OP_mul && vanishes(c, 0, reg, err) && vanishes(c, 1, reg, err))
        return move[c->a[0]] && move[c->a[1]];
    int flat = c->op >= 0 && n > 0 && (cst_op_table[c->op]->smooth || c->op == CST_OP_abs) &&
               c->op != CST_OP_mul && c->op != CST_OP_div;
    for (int k = 0; k < n; k++) {
        if (d[k] != 0 && !vanishes(c, k, reg, err) && (move[c->a[k]] & CST_MOVES_HIGHER)) return 1;
        int still =
            k == 1 && (c->op == CST_OP_pow || c->op == CST_OP_unwrap); /* whole turns do not move */
        if (flat && d[k] == 0 && move[c->a[k]] && !still) return 1;
    }
    return 0;
}

void cst_tape_moves(const cst_tape *t, const double *reg, const double *err, const double *dot,
                    unsigned char *move)
{
    int n0 = t->nchannel + t->nnumber;
    for (int i = 0; i < t->ncode; i++) {
        const cst_code *c = &t->code[i];
        double d[3], size = 0;
        int n = partials(t, c, reg, reg[n0 + i], d), any = 0;
        for (int k = 0; k < n; k++) {
            if (d[k] == 0 || vanishes(c, k, reg, err) || !(move[c->a[k]] & CST_MOVES_FIRST))
                continue;
            size += fabs(d[k] * dot[c->a[k]]), any = 1;
        }
        if (c->op == CST_CODE_TABLE) size = 0, any = dot[n0 + i] != 0; /* by its values too */
        move[n0 + i] = any && fabs(dot[n0 + i]) > CANCELS * size ? CST_MOVES_FIRST : 0;
        if (higher(c, n, reg, err, d, move)) move[n0 + i] |= CST_MOVES_HIGHER;
    }
}

/* Do the arguments leave the kink, or do they stay on it by moving alike? For clamp: the kink of
 * the nearer limit. */
static int leaves(const cst_code *c, const double *reg, const double *dot,
                  const unsigned char *move)
{
    if (c->op == CST_CODE_TABLE) return move[c->a[0]];
    int n = c->op == CST_OP_pow ? 1 : cst_op_table[c->op]->arity,
        compares = n == 2 && c->op != CST_OP_hypot && c->op != CST_OP_atan2;
    int any = 0, with = 1;
    if (c->op == CST_OP_clamp) {
        const double x = reg[c->a[0]];
        with = fabs(x - reg[c->a[1]]) <= fabs(x - reg[c->a[2]]) ? 1 : 2, compares = 1;
        any = move[c->a[0]] | move[c->a[with]];
    } else
        for (int k = 0; k < n; k++) any |= move[c->a[k]];
    if (!compares || any != CST_MOVES_FIRST) return any;
    double a = dot[c->a[0]], b = dot[c->a[with]];
    return fabs(a - b) > CANCELS * (fabs(a) + fabs(b));
}

/* The rate of a distance that is 0 is x . v times 1/0, not 0: a product with such a factor is on
 * the kink, unless the rest stays 0. */
static int has_pole(const cst_tape *t, const cst_code *c, const double *reg,
                    const unsigned char *move, const unsigned char *on)
{
    int n0 = t->nchannel + t->nnumber;
    for (int k = 0; c->op == CST_OP_mul && k < 2; k++) {
        int i = c->a[k] - n0, rest = c->a[1 - k];
        if (i < 0 || !on[i] || (t->code[i].op != CST_OP_recip && t->code[i].op != CST_OP_mul))
            continue;
        if (reg[rest] != 0 || !move || move[rest]) return 1;
    }
    return 0;
}

int cst_tape_on_kink(const cst_tape *t, const double *reg, const double *err, const double *dot,
                     const unsigned char *move, unsigned char *on)
{
    int n = 0;
    for (int i = 0; i < t->ncode; i++) {
        const cst_code *c = &t->code[i];
        on[i] = (within(t, c, reg, err) && (!move || leaves(c, reg, dot, move))) ||
                has_pole(t, c, reg, move, on);
        n += on[i];
    }
    return n;
}

/* What decides between two values is seen although its partials are 0. */
static void decides(const cst_code *c, const double *reg, double b, double *bar)
{
    if (c->op == CST_OP_if && reg[c->a[1]] != reg[c->a[2]]) bar[c->a[0]] += b;
    if (c->op == CST_OP_and || c->op == CST_OP_or) bar[c->a[0]] += b, bar[c->a[1]] += b;
    if (c->op == CST_OP_not) bar[c->a[0]] += b;
}

int cst_tape_rough(const cst_tape *t, const double *reg, const double *err, const unsigned char *on,
                   double *bar)
{
    int n0 = t->nchannel + t->nnumber;
    for (int i = t->ncode; i-- > 0;) {
        const cst_code *c = &t->code[i];
        double d[3], b = bar[n0 + i];
        if (b == 0) continue;
        if (on[i]) return i;
        int n = partials(t, c, reg, reg[n0 + i], d);
        for (int k = 0; k < n; k++)
            if (d[k] != 0 && !vanishes(c, k, reg, err)) bar[c->a[k]] += d[k] * b;
        decides(c, reg, b, bar);
    }
    return -1;
}

void cst_tape_deciding(const cst_tape *t, const unsigned char *reach, unsigned char *seen)
{
    const int n0 = t->nchannel + t->nnumber;
    for (int i = 0; i < t->ncode; i++) {
        const cst_code *c = &t->code[i];
        const int n = c->op == CST_OP_if                          ? c->a[1] != c->a[2]
                      : c->op == CST_OP_and || c->op == CST_OP_or ? 2
                                                                  : c->op == CST_OP_not;
        for (int k = 0; k < n && (!reach || reach[n0 + i]); k++)
            if (c->a[k] >= t->nchannel && c->a[k] < n0) seen[t->number[c->a[k] - t->nchannel]] = 1;
    }
}
