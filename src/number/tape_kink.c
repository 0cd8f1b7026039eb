/* SPDX-License-Identifier: MIT
 *
 * Operations of register code that have no derivative: how near the values are to a kink, whether
 * within rounding, whether an output sees it, and the operands that vanish there. */
#include "number/op.h"
#include "number/table_eval.h"
#include "number/tape.h"

#include <string.h>

#define STRAIGHT                                                                                   \
    1e-12 /* relative difference of the slopes at a point of a table below which there is no kink  \
           */

static int has_kink(const cst_code *c) { return c->op >= 0 && cst_op_table[c->op]->kink; }

double cst_code_kink(const cst_tape *t, const cst_code *c, const double *reg)
{
    if (c->op == CST_CODE_TABLE) return table_kink(t->lookup[c->a[1]].table, reg[c->a[0]]);
    if (!has_kink(c)) return INFINITY;
    double a[3] = {reg[c->a[0]], reg[c->a[1]], reg[c->a[2]]}, size = 1;
    for (int k = 0; k < cst_op_table[c->op]->arity; k++) size += fabs(a[k]);
    return cst_op_table[c->op]->kink(a) / size;
}

double cst_tape_kink(const cst_tape *t, const double *reg)
{
    double least = INFINITY;
    for (int i = 0; i < t->ncode; i++) least = fmin(least, cst_code_kink(t, &t->code[i], reg));
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

/* The rate of a distance that is 0 is x . v times 1/0, not 0: a product with such a factor is on
 * the kink. */
static int has_pole(const cst_tape *t, const cst_code *c, const unsigned char *on)
{
    int n0 = t->nchannel + t->nnumber;
    for (int k = 0; c->op == CST_OP_mul && k < 2; k++) {
        int i = c->a[k] - n0;
        const int pole =
            i >= 0 && on[i] && (t->code[i].op == CST_OP_recip || t->code[i].op == CST_OP_mul);
        if (pole) return 1;
    }
    return 0;
}

int cst_tape_on_kink(const cst_tape *t, const double *reg, const double *err, unsigned char *on)
{
    int n = 0;
    for (int i = 0; i < t->ncode; i++) {
        const cst_code *c = &t->code[i];
        on[i] = within(t, c, reg, err) || has_pole(t, c, on);
        n += on[i];
    }
    return n;
}

/* What decides between two values is seen although its partials are 0. */
static void decides(const cst_code *c, double b, double *bar)
{
    if (c->op == CST_OP_if && c->a[1] != c->a[2]) bar[c->a[0]] += b;
    if (c->op == CST_OP_and || c->op == CST_OP_or) bar[c->a[0]] += b, bar[c->a[1]] += b;
    if (c->op == CST_OP_not) bar[c->a[0]] += b;
}

int cst_tape_seen(const cst_tape *t, const double *reg, const double *err, const unsigned char *on,
                  double *bar, unsigned char *seen)
{
    const int n0 = t->nchannel + t->nnumber;
    int any = 0;
    memset(seen, 0, (size_t)t->ncode);
    for (int i = t->ncode; i-- > 0;) {
        const cst_code *c = &t->code[i];
        double d[3], b = bar[n0 + i];
        if (b == 0) continue;
        const int n = partials(t, c, reg, reg[n0 + i], d);
        seen[i] = on[i];
        any += seen[i];
        for (int k = 0; k < n; k++) {
            if (on[i] && d[k] == 0 && c->op != CST_OP_if)
                d[k] = 1; /* to the other side it is not */
            if (d[k] != 0 && !vanishes(c, k, reg, err)) bar[c->a[k]] += d[k] * b;
        }
        decides(c, b, bar);
    }
    return any;
}

/* ---- what vanishes ---- */

int cst_code_has_sides(const cst_code *c)
{
    return cst_op_has_sides(c->op == CST_CODE_TABLE ? "a table" : cst_op_table[c->op]->name);
}

/* With weights in [1, 2) operands do not cancel. */
static double weight(int reg)
{
    return 1 + (double)((unsigned)(reg + 1) * 2654435761u >> 8) * 0x1p-24;
}

double cst_tape_zero(const double *err, int r, double *bar)
{
    bar[r] += weight(r);
    return weight(r) * err[r];
}

/* A sum of squares vanishes with each of its terms, and has no slope itself: bars of the terms */
double cst_tape_zeros(const cst_tape *t, const double *reg, const double *err, int r, double *bar)
{
    const int n0 = t->nchannel + t->nnumber;
    const cst_code *c = r >= n0 ? &t->code[r - n0] : NULL;
    double size = 0;
    int inside = 0;
    if (c && (c->op == CST_OP_add || c->op == CST_OP_sub || c->op == CST_OP_hypot)) {
        for (int k = 0; k < 2; k++) {
            inside |= fabs(reg[c->a[k]]) > err[c->a[k]]; /* two terms that cancel are one operand */
        }
        for (int k = 0; k < 2 && !inside; k++) size += cst_tape_zeros(t, reg, err, c->a[k], bar);
        if (!inside) return size;
    }
    if (c && (c->op == CST_OP_mul || c->op == CST_OP_neg || c->op == CST_OP_abs ||
              c->op == CST_OP_sqrt || (c->op == CST_OP_pow && reg[c->a[1]] > 0))) {
        const int n = c->op == CST_OP_mul && c->a[0] != c->a[1] ? 2 : 1;
        for (int k = 0; k < n; k++)
            if (fabs(reg[c->a[k]]) <= fmax(err[c->a[k]], sqrt(err[r])))
                size += cst_tape_zeros(t, reg, err, c->a[k], bar);
        if (size > 0) return size;
    }
    return cst_tape_zero(err, r, bar);
}

double cst_tape_operands(const cst_tape *t, const double *reg, const double *err,
                         const unsigned char *on, int i, double *bar)
{
    const cst_code *c = &t->code[i];
    const int n0 = t->nchannel + t->nnumber;
    const int compares = c->op == CST_OP_min || c->op == CST_OP_max ||
                         (c->op >= CST_OP_lt && c->op <= CST_OP_ne) || c->op == CST_OP_clamp;
    if (compares) {
        const double x = reg[c->a[0]];
        int with = 1;
        if (c->op == CST_OP_clamp && fabs(x - reg[c->a[2]]) < fabs(x - reg[c->a[1]])) with = 2;
        bar[c->a[0]] += weight(i);
        bar[c->a[with]] -= weight(i);
        return weight(i) * (err[c->a[0]] + err[c->a[with]]);
    }
    double size = 0;
    if (c->op == CST_OP_mul) { /* has_pole() */
        for (int k = 0; k < 2; k++) {
            const int j = c->a[k] - n0;
            if (j >= 0 && on[j]) size += cst_tape_operands(t, reg, err, on, j, bar);
        }
        return size;
    }
    if (c->op == CST_OP_sqrt || c->op == CST_OP_pow || c->op == CST_OP_recip)
        return cst_tape_zeros(t, reg, err, c->a[0], bar);
    const int n = c->op == CST_OP_hypot || c->op == CST_OP_atan2 ? 2 : 1;
    for (int k = 0; k < n; k++) size += cst_tape_zero(err, c->a[k], bar);
    return size;
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
