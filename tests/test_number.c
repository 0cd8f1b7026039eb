/* SPDX-License-Identifier: MIT
 *
 * The graph of numbers: sharing, simplification, sweeps over what is not timed, vector operations,
 * tables, splines, substitution, and its speed. */
#include "number/graph.h"
#include "number/table.h"
#include "number/tape.h"
#include "number_sample.h"

#include <stdlib.h>
#include <time.h>

enum { NLEAF = 6, NOP = 60, NVAL = 8192, SAMPLES = 100 };

static void table_of_operations(void **state)
{
    (void)state;
    for (int i = 0; cst_op_at(i); i++) {
        const cst_op *op = cst_op_at(i);
        expect_int(op->id, i);
        expect_true(op->arity >= 1 && op->arity <= 3 && op->doc && op->doc[0]);
        expect_true(cst_op_find(op->name, op->arity) == op); /* name and arity say which */
    }
    expect_null(cst_op_find("sin", 2));
    expect_null(cst_op_find("sine", 0));
    expect_not_null(cst_op_find("sin", 0));
    expect_null(cst_op_at(-1));
}

/* Equal expressions are one value, sources of equal kind too, leaves never. */
static void sharing(void **state)
{
    (void)state;
    cst_arena a = {0};
    cst_graph *g = cst_graph_new(&a);
    cst_id pool[2][NLEAF + NOP];
    for (int i = 0; i < NLEAF; i++) pool[0][i] = pool[1][i] = cst_num_channel(g, CST_CH_X, i, 0);
    for (int k = 0, n = 0; k < 2; k++) {
        expect_random r = {11};
        sample_expressions(g, &r, NLEAF, pool[k], NOP, 0);
        if (k == 1) expect_int(cst_graph_values(g), n);
        n = cst_graph_values(g);
    }
    for (int i = 0; i < NLEAF + NOP; i++) expect_int(pool[0][i], pool[1][i]);
    expect_true(cst_num_leaf(g, 1) != cst_num_leaf(g, 1));
    expect_int(cst_num_const(g, 0.1), cst_num_const(g, 0.1));
    expect_int(cst_num_channel(g, CST_CH_X, 3, 1), cst_num_channel(g, CST_CH_X, 3, 1));
    expect_true(cst_num_channel(g, CST_CH_X, 3, 1) != cst_num_channel(g, CST_CH_Z, 3, 1));
    cst_arena_free(&a);
}

static void simplification(void **state)
{
    (void)state;
    cst_arena a = {0};
    cst_graph *g = cst_graph_new(&a);
    cst_id x = cst_num_leaf(g, 2), y = cst_num_leaf(g, 3), c0 = cst_num_const(g, 0),
           c1 = cst_num_const(g, 1);
    cst_id nx = cst_num_neg(g, x), ny = cst_num_neg(g, y), xy = cst_num_mul(g, x, y);
    expect_int(cst_num_add(g, x, c0), x);
    expect_int(cst_num_add(g, c0, x), x);
    expect_int(cst_num_sub(g, c0, x), nx);
    expect_int(cst_num_sub(g, x, x), c0);
    expect_int(cst_num_neg(g, nx), x);
    expect_int(cst_num_mul(g, c1, x), x);
    expect_int(cst_num_mul(g, x, c0), c0);
    expect_int(cst_num_mul(g, cst_num_const(g, -1), x), nx);
    expect_int(cst_num_mul(g, nx, ny), xy);
    expect_int(cst_num_mul(g, y, x), xy);
    expect_int(cst_num_mul(g, nx, y), cst_num_neg(g, xy));
    expect_int(cst_num_add(g, x, ny), cst_num_sub(g, x, y));
    expect_int(cst_num_sub(g, x, ny), cst_num_add(g, x, y));
    expect_int(cst_num_add(g, nx, y), cst_num_sub(g, y, x));
    expect_int(cst_num_div(g, x, c1), x);
    expect_int(cst_num_div(g, c0, x), c0);
    expect_int(cst_num_call(g, "^", x, c0, CST_NONE), c1);
    expect_int(cst_num_call(g, "^", x, c1, CST_NONE), x);
    expect_int(cst_num_call(g, "^", x, cst_num_const(g, 2), CST_NONE), cst_num_mul(g, x, x));
    expect_int(cst_num_call(g, "if", c1, x, y), x);
    expect_int(cst_num_call(g, "if", c0, x, y), y);
    expect_int(cst_num_call(g, "if", x, y, y), y);
    double c;
    expect_true(cst_num_is_const(g, cst_num_call(g, "atan2", c1, c1, CST_NONE), &c));
    expect_near(c, CST_PI / 4, 1e-16);
    expect_false(cst_num_is_const(g, xy, &c));
    expect_int(cst_num_leaf_number(g, y), 1);
    expect_int(cst_num_leaf_number(g, xy), -1);
    cst_arena_free(&a);
}

/* ---- sweeps ---- */

/* out = in_0 unit(in_1, in_2, in_3) */
static void direction_eval(int nin, const real *in, int nout, real *out)
{
    (void)nin;
    real l = sc_sqrt(in[1] * in[1] + in[2] * in[2] + in[3] * in[3]);
    for (int i = 0; i < nout; i++) out[i] = in[0] * in[1 + i] / l;
}

static void direction_jac(int nin, const real *in, int nout, const real *out, real *J)
{
    real l2 = in[1] * in[1] + in[2] * in[2] + in[3] * in[3], l = sc_sqrt(l2);
    for (int i = 0; i < nout; i++) {
        J[i * nin] = in[1 + i] / l;
        J[i * nin + 1 + i] = in[0] / l;
        for (int j = 0; j < 3; j++) J[i * nin + 1 + j] -= out[i] * in[1 + j] / l2;
    }
}

static const cst_vop direction = {.name = "direction",
                                  .eval = direction_eval,
                                  .jac = direction_jac};

static cst_id to_leaf(void *ctx, const cst_channel *c)
{
    const cst_id *leaf = ctx;
    return c->kind == CST_CH_X ? leaf[c->index] : CST_NONE;
}

/* One expression three ways: of channels as register code, of leaves as graph (made by
 * substitution), and of leaves with reverse: values and gradients agree. */
static void graph_is_tape(void **state)
{
    (void)state;
    static double reg[NVAL], bar[NVAL], val[NVAL], gbar[NVAL], dot[NVAL];
    expect_random r = {12};
    for (int k = 0; k < SAMPLES; k++) {
        cst_arena a = {0};
        cst_graph *g = cst_graph_new(&a);
        cst_id pool[NLEAF + NOP], leaf_id[NLEAF];
        double leaf[NLEAF], direction_[NLEAF];
        for (int i = 0; i < NLEAF; i++) pool[i] = cst_num_channel(g, CST_CH_X, i, 0);
        int n = sample_expressions(g, &r, NLEAF, pool, NOP, k % 2);
        cst_id y = pool[n - 1];
        for (int i = 2; i <= 12; i++) y = cst_num_add(g, y, pool[n - i]);
        for (int i = 0; i < NLEAF; i++) {
            leaf[i] = expect_uniform(&r, -1.5, 1.5), direction_[i] = expect_uniform(&r, -1, 1);
            leaf_id[i] = cst_num_leaf(g, leaf[i]);
        }
        cst_id p = cst_num_substitute(g, y, to_leaf, leaf_id);
        expect_true(cst_num_timed(g, y) && !cst_num_timed(g, p));
        const cst_tape *t = cst_tape_new(&a, g, 1, &y);
        expect_true(cst_graph_values(g) <= NVAL && t->nnumber == 0);

        for (int i = 0; i < t->nchannel; i++) reg[i] = leaf[t->channel[i].index];
        cst_tape_eval(t, reg);
        memset(bar, 0, sizeof bar);
        bar[t->out[0]] = 1;
        cst_tape_reverse(t, reg, bar);
        cst_graph_eval(g, leaf, val);
        memset(gbar, 0, sizeof gbar);
        gbar[p] = 1;
        cst_graph_reverse(g, val, gbar);
        for (int i = 0; i < NLEAF; i++) dot[leaf_id[i]] = direction_[i];
        cst_graph_forward(g, val, dot);

        expect_near(val[p], reg[t->out[0]], 1e-15);
        double along = 0, size = 0;
        for (int i = 0; i < NLEAF; i++) {
            along += gbar[leaf_id[i]] * direction_[i];
            size += fabs(gbar[leaf_id[i]] * direction_[i]);
        }
        expect_near((dot[p] - along) / (1 + size), 0, 1e-13);
        for (int i = 0; i < t->nchannel; i++)
            expect_near(bar[i] / (1 + size), gbar[leaf_id[t->channel[i].index]] / (1 + size),
                        1e-13);
        for (int i = 0; i < cst_graph_values(g); i++)
            if (cst_num_leaf_number(g, i) < 0) expect_true(gbar[i] == 0 || cst_num_timed(g, i));
        cst_arena_free(&a);
    }
}

/* Vector operations, leaf tables (linear and cubic) and scalars in one graph: bar.J dot = dot.J^T
 * bar, and J dot is what an extrapolated difference sees. */
static void sweeps_of_vectors_and_tables(void **state)
{
    (void)state;
    static double val[NVAL], val2[NVAL], dot[NVAL], bar[NVAL];
    static const double grid[] = {-3, -1.8, -1, 0.2, 0.9, 1.7, 3};
    expect_random r = {13};
    for (int k = 0; k < SAMPLES; k++) {
        cst_arena a = {0};
        cst_graph *g = cst_graph_new(&a);
        double nominal[7];
        cst_id in[4], pool[64];
        for (int i = 0; i < 7; i++) nominal[i] = expect_uniform(&r, 0.5, 2);
        cst_id first = cst_num_leaves(g, 7, nominal);
        const cst_table *t = cst_table_new(&a, g, 7, grid, NULL, first, (cst_table_kind)(k % 2),
                                           (cst_table_outside)(k % 3));
        for (int i = 0; i < 4; i++) in[i] = cst_num_leaf(g, expect_uniform(&r, 0.5, 2));
        int n = 0;
        for (int i = 0; i < 4; i++) pool[n++] = in[i];
        cst_id v = cst_num_vector(g, &direction, 4, in, 3);
        for (int i = 0; i < 3; i++) pool[n++] = v + i;
        for (int d = 0; d < 3; d++) pool[n++] = cst_num_table(g, t, v + d, d);
        pool[n++] = cst_num_table(g, t, cst_num_const(g, 4.5), 0); /* outside */
        n = sample_expressions(g, &r, n, pool, 20, 1);
        int nv = cst_graph_values(g), nl = cst_graph_leaves(g);
        double leaf[16], speed[16];
        for (int i = 0; i < nl; i++) {
            leaf[i] = cst_leaf_nominal(g, i), speed[i] = expect_uniform(&r, -1, 1);
            expect_int(cst_num_leaf_number(g, cst_leaf_id(g, i)), i);
            dot[cst_leaf_id(g, i)] = speed[i];
        }
        cst_graph_eval(g, leaf, val);
        cst_graph_forward(g, val, dot);
        double left = 0, right = 0, size = 0;
        for (int i = 0; i < nv; i++) {
            bar[i] = cst_num_leaf_number(g, i) < 0 ? expect_uniform(&r, -1, 1) : 0;
            left += bar[i] * dot[i], size += fabs(bar[i] * dot[i]);
        }
        cst_graph_reverse(g, val, bar);
        for (int i = 0; i < nl; i++) right += bar[cst_leaf_id(g, i)] * speed[i];
        for (int i = 0; i < nv; i++) expect_true(bar[i] == 0 || cst_num_leaf_number(g, i) >= 0);
        expect_near((left - right) / size, 0, 1e-13);
        /* Richardson: (4 D(h) - D(2h))/3, with D the central difference */
        double D[2], h = 1e-4;
        cst_id y = v + k % 3;
        for (int s = 0; s < 2; s++) {
            double moved[16];
            for (int i = 0; i < nl; i++) moved[i] = leaf[i] + (s + 1) * h * speed[i];
            cst_graph_eval(g, moved, val);
            for (int i = 0; i < nl; i++) moved[i] = leaf[i] - (s + 1) * h * speed[i];
            cst_graph_eval(g, moved, val2);
            D[s] = (val[y] - val2[y]) / (2 * (s + 1) * h);
        }
        expect_near(dot[y], (4 * D[0] - D[1]) / 3, 1e-10);
        cst_arena_free(&a);
    }
}

/* ---- tables ---- */

/* S m = rhs by Gauss elimination with pivoting on the full matrix, rows as the definition of a
 * spline says: slope continuity at inner points; m = 0 at the ends, or equal slope and curvature of
 * both ends. */
static void dense_spline(int n, const double *x, const double *y, int periodic, double *m)
{
    double S[24][25] = {
        {0},
    };
    for (int i = 0; i < n; i++) {
        if (i == 0 || i == n - 1) {
            if (!periodic || i == n - 1) S[i][i] = 1;
            if (periodic && i == n - 1) S[i][0] = -1;
            if (!periodic || i == n - 1) continue;
        }
        int b = i > 0 ? i - 1 : n - 2,
            e = i > 0 ? i : n - 1; /* the interval that ends at point i */
        double h0 = x[e] - x[b], h1 = x[i + 1] - x[i];
        /* slope at the end of [b, e] = slope at the start of [i, i+1] */
        S[i][b] += h0 / 6, S[i][e] += h0 / 3, S[i][i] += h1 / 3, S[i][i + 1] += h1 / 6;
        S[i][n] = (y[i + 1] - y[i]) / h1 - (y[e] - y[b]) / h0;
    }
    for (int c = 0; c < n; c++) {
        int pivot = c;
        for (int i = c; i < n; i++)
            if (fabs(S[i][c]) > fabs(S[pivot][c])) pivot = i;
        for (int j = 0; j <= n; j++) {
            double s = S[c][j];
            S[c][j] = S[pivot][j], S[pivot][j] = s;
        }
        for (int i = 0; i < n; i++) {
            double f = i == c ? 0 : S[i][c] / S[c][c];
            for (int j = c; j <= n && f != 0; j++) S[i][j] -= f * S[c][j];
        }
    }
    for (int i = 0; i < n; i++) m[i] = S[i][n] / S[i][i];
}

/* a data table with its derivatives 0 .. 3 as register code */
typedef struct probe {
    cst_arena arena;
    const cst_table *table;
    const cst_tape *tape;
} probe;

static void probe_make(probe *p, int n, const double *x, const double *y, cst_table_kind kind,
                       cst_table_outside outside)
{
    memset(p, 0, sizeof *p);
    cst_graph *g = cst_graph_new(&p->arena);
    p->table = cst_table_new(&p->arena, g, n, x, y, CST_NONE, kind, outside);
    cst_id at = cst_num_channel(g, CST_CH_X, 0, 0), out[4];
    for (int d = 0; d < 4; d++) out[d] = cst_num_table(g, p->table, at, d);
    p->tape = cst_tape_new(&p->arena, g, 4, out);
}

static double probe_at(const probe *p, double x, int derivative)
{
    double reg[16] = {x};
    cst_tape_eval(p->tape, reg);
    return reg[p->tape->out[derivative]];
}

static void random_grid(expect_random *r, int n, double *x, double *y)
{
    x[0] = expect_uniform(r, -2, 0);
    for (int i = 0; i < n; i++) {
        if (i > 0) x[i] = x[i - 1] + expect_uniform(r, 0.1, 1);
        y[i] = expect_uniform(r, -1, 1);
    }
}

/* Interpolates, twice continuous at inner points, m equal to the dense solve; natural or closed
 * ends. */
static void spline_laws(void **state)
{
    (void)state;
    expect_random r = {14};
    for (int k = 0; k < SAMPLES; k++) {
        int n = 2 + expect_below(&r, 18), periodic = k % 2;
        double x[24], y[24], m[24], e = 1e-13;
        random_grid(&r, n, x, y);
        if (periodic) y[n - 1] = y[0];
        probe p;
        probe_make(&p, n, x, y, CST_TABLE_CUBIC, periodic ? CST_TABLE_PERIODIC : CST_TABLE_EXTEND);
        dense_spline(n, x, y, periodic, m);
        for (int i = 0; i < n; i++) {
            expect_near(p.table->m[i], m[i], 1e-12);
            expect_near(probe_at(&p, x[i], 0), y[i], 1e-14);
            for (int d = 0; d < 3;
                 d++) /* both sides of x_i; the third derivative is bounded by about 1e4 */
                expect_near(probe_at(&p, x[i] - e, d), probe_at(&p, x[i] + e, d), 1e-8);
        }
        if (!periodic) {
            expect_near(probe_at(&p, x[0], 2), 0, 1e-14);
            expect_near(probe_at(&p, x[n - 1], 2), 0, 1e-14);
            double far = x[n - 1] + 3, slope = probe_at(&p, x[n - 1], 1);
            expect_near(probe_at(&p, far, 0), y[n - 1] + 3 * slope, 1e-13);
            expect_near(probe_at(&p, far, 1), slope, 1e-14);
        } else {
            double period = x[n - 1] - x[0], at = expect_uniform(&r, x[0], x[n - 1]);
            for (int d = 0; d < 4; d++)
                expect_near(probe_at(&p, at + 3 * period, d), probe_at(&p, at, d), 1e-11);
            for (int d = 0; d < 4; d++)
                expect_near(probe_at(&p, at - 2 * period, d), probe_at(&p, at, d), 1e-11);
        }
        cst_arena_free(&p.arena);
    }
}

/* Straight data stay straight; a sine is approached with the fourth power of the grid, at the ends
 * too. */
static void spline_accuracy(void **state)
{
    (void)state;
    double x[65], y[65], error[2] = {0, 0};
    expect_random r = {15};
    random_grid(&r, 20, x, y);
    for (int i = 0; i < 20; i++) y[i] = 3 - 2 * x[i];
    probe p;
    for (int kind = 0; kind < 2; kind++) {
        probe_make(&p, 20, x, y, (cst_table_kind)kind, CST_TABLE_EXTEND);
        for (int i = 0; i < 50; i++) {
            double at = expect_uniform(&r, -4, 20);
            expect_near(probe_at(&p, at, 0), 3 - 2 * at, 1e-14);
            expect_near(probe_at(&p, at, 1), -2, 1e-13);
            expect_near(probe_at(&p, at, 2), 0, 1e-12);
        }
        cst_arena_free(&p.arena);
    }
    for (int fine = 0; fine < 2; fine++) {
        int n = fine ? 65 : 33;
        for (int i = 0; i < n; i++) x[i] = 2 * CST_PI * i / (n - 1), y[i] = sin(x[i]);
        y[n - 1] = y[0];
        probe_make(&p, n, x, y, CST_TABLE_CUBIC, CST_TABLE_PERIODIC);
        for (double at = -5; at < 15; at += 0.01)
            error[fine] = fmax(error[fine], fabs(probe_at(&p, at, 0) - sin(at)));
        cst_arena_free(&p.arena);
    }
    expect_true(error[0] / error[1] > 14 && error[0] / error[1] < 18);
}

/* Linear: between neighbours; clamped ends; one point is a constant. Clamped cubic: the end value
 * goes on. */
static void linear_and_clamped(void **state)
{
    (void)state;
    expect_random r = {16};
    double x[8], y[8];
    random_grid(&r, 8, x, y);
    probe p;
    probe_make(&p, 8, x, y, CST_TABLE_LINEAR, CST_TABLE_CLAMP);
    for (int i = 0; i < 7; i++) {
        double u = expect_uniform(&r, 0, 1), at = x[i] + u * (x[i + 1] - x[i]);
        expect_near(probe_at(&p, at, 0), y[i] + u * (y[i + 1] - y[i]), 1e-14);
        expect_near(probe_at(&p, at, 1), (y[i + 1] - y[i]) / (x[i + 1] - x[i]), 1e-14);
        expect_near(probe_at(&p, at, 2), 0, 0);
    }
    double reg[16] = {x[3]};
    cst_tape_eval(p.tape, reg);
    expect_near(cst_tape_kink(p.tape, reg), 0, 0);
    cst_arena_free(&p.arena);
    for (int n = 1; n <= 8; n += 7)
        for (int kind = 0; kind < 2; kind++) {
            probe_make(&p, n, x, y, (cst_table_kind)kind, CST_TABLE_CLAMP);
            expect_near(probe_at(&p, x[0] - 1, 0), y[0], 0);
            expect_near(probe_at(&p, x[n - 1] + 1, 0), y[n - 1], 0);
            expect_near(probe_at(&p, x[n - 1] + 1, 1), 0, 0);
            expect_near(probe_at(&p, x[0] - 1, 1), 0, 0);
            cst_arena_free(&p.arena);
        }
}

/* A table of leaves gives what a table of data gives, and cst_graph_forward what differencing the
 * data gives: the spline is linear in its values, so the difference is exact. */
static void leaf_table_is_data_table(void **state)
{
    (void)state;
    static double val[NVAL], dot[NVAL];
    expect_random r = {17};
    for (int k = 0; k < SAMPLES; k++) {
        int n = 3 + expect_below(&r, 12), outside = k % 3;
        double x[24], y[24], y_dot[24];
        random_grid(&r, n, x, y);
        cst_arena a = {0};
        cst_graph *g = cst_graph_new(&a);
        cst_id first = cst_num_leaves(g, n, y);
        const cst_table *t =
            cst_table_new(&a, g, n, x, NULL, first, CST_TABLE_CUBIC, (cst_table_outside)outside);
        double at = expect_uniform(&r, x[0] - 1, x[n - 1] + 1);
        cst_id out = cst_num_table(g, t, cst_num_leaf(g, at), k % 4);
        double leaf[25];
        for (int i = 0; i < n; i++)
            leaf[i] = y[i], dot[first + i] = y_dot[i] = expect_uniform(&r, -1, 1);
        leaf[n] = at;
        dot[cst_leaf_id(g, n)] = 0;
        cst_graph_eval(g, leaf, val);
        cst_graph_forward(g, val, dot);
        probe p;
        probe_make(&p, n, x, y, CST_TABLE_CUBIC, (cst_table_outside)outside);
        expect_near(val[out], probe_at(&p, at, k % 4), 1e-12);
        cst_arena_free(&p.arena);
        probe_make(&p, n, x, y_dot, CST_TABLE_CUBIC, (cst_table_outside)outside);
        expect_near(dot[out], probe_at(&p, at, k % 4), 1e-12);
        cst_arena_free(&p.arena);
        cst_arena_free(&a);
    }
}

/* ---- walks ---- */

static cst_id double_time(void *ctx, const cst_channel *c)
{
    cst_graph *g = ctx;
    if (c->kind != CST_CH_TIME) return CST_NONE;
    /* builds and walks while the substitution is under way */
    cst_id t = cst_num_channel(g, CST_CH_TIME, 0, 0), t2 = cst_num_mul(g, t, t);
    return cst_num_diff(g, t2, t);
}

static void substitution_and_dependence(void **state)
{
    (void)state;
    cst_arena a = {0};
    cst_graph *g = cst_graph_new(&a);
    cst_id t = cst_num_channel(g, CST_CH_TIME, 0, 0), x = cst_num_channel(g, CST_CH_X, 4, 1),
           p = cst_num_leaf(g, 1);
    cst_id y = cst_num_add(g, cst_num_mul(g, p, cst_num_call(g, "sin", t, CST_NONE, CST_NONE)), x);
    cst_id two_t = cst_num_add(g, t, t);
    cst_id expected =
        cst_num_add(g, cst_num_mul(g, p, cst_num_call(g, "sin", two_t, CST_NONE, CST_NONE)), x);
    expect_int(cst_num_substitute(g, y, double_time, g), expected);
    expect_int(cst_num_substitute(g, p, double_time, g), p);
    expect_true(cst_num_depends(g, y, CST_CH_X, 1) && !cst_num_depends(g, y, CST_CH_X, 0));
    expect_true(cst_num_depends(g, y, CST_CH_X, -1) && cst_num_depends(g, y, CST_CH_TIME, 0));
    expect_false(cst_num_depends(g, p, CST_CH_TIME, 0));
    expect_int(cst_num_channel_of(g, x)->index, 4);
    expect_null(cst_num_channel_of(g, y));
    double c;
    expect_true(cst_num_is_const(g, cst_num_diff(g, p, t), &c) && c == 0);
    expect_true(cst_num_is_const(g, cst_num_diff(g, y, y), &c) && c == 1);
    cst_arena_free(&a);
}

/* 10^6 values, summed in a chain 350000 deep: construction, evaluation, gradient, derivative and
 * code in linear time and without recursion. The gradient of sum a_i a_{i+1} is a_{i-1} + a_{i+1}.
 */
static void a_million_values(void **state)
{
    (void)state;
    enum { N = 350000 };
    clock_t begin = clock();
    cst_arena a = {0};
    cst_graph *g = cst_graph_new(&a);
    double *leaf = malloc(N * sizeof *leaf);
    for (int i = 0; i < N; i++) leaf[i] = sin(i);
    cst_id first = cst_num_leaves(g, N, leaf), sum = cst_num_const(g, 0),
           x = cst_num_channel(g, CST_CH_X, 0, 0);
    for (int i = 0; i + 1 < N; i++)
        sum = cst_num_add(g, sum, cst_num_mul(g, first + i, first + i + 1));
    int n = cst_graph_values(g);
    expect_true(n > 1000000);
    double *val = malloc((size_t)n * sizeof *val), *bar = calloc((size_t)n, sizeof *bar);
    cst_graph_eval(g, leaf, val);
    bar[sum] = 1;
    cst_graph_reverse(g, val, bar);
    for (int i = 1; i + 1 < N; i++) expect_near(bar[first + i], leaf[i - 1] + leaf[i + 1], 1e-15);

    cst_id y = x; /* y <- (leaf_i - y) x, contracting at x = 1/2 */
    for (int i = 0; i < 100000; i++) y = cst_num_mul(g, cst_num_sub(g, first + i, y), x);
    cst_id out[] = {y, cst_num_diff(g, y, x)};
    const cst_tape *t = cst_tape_new(&a, g, 2, out);
    expect_true(t->ncode > 300000 && t->nchannel == 1);
    double *reg = calloc((size_t)t->nreg, sizeof *reg), *dot = calloc((size_t)t->nreg, sizeof *dot);
    reg[0] = 0.5, dot[0] = 1;
    for (int i = 0; i < t->nnumber; i++) reg[1 + i] = val[t->number[i]];
    cst_tape_eval(t, reg);
    cst_tape_forward(t, reg, dot);
    expect_near(reg[t->out[1]], dot[t->out[0]], 1e-14);
    double seconds = (double)(clock() - begin) / CLOCKS_PER_SEC;
    if (seconds > 1) print_message("a million values took %.2f s\n", seconds);
    expect_true(seconds < 5); /* 0.3 s on a slow core; the rest is for sanitizers */
    free(leaf), free(val), free(bar), free(reg), free(dot);
    cst_arena_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(table_of_operations),
        cmocka_unit_test(sharing),
        cmocka_unit_test(simplification),
        cmocka_unit_test(graph_is_tape),
        cmocka_unit_test(sweeps_of_vectors_and_tables),
        cmocka_unit_test(spline_laws),
        cmocka_unit_test(spline_accuracy),
        cmocka_unit_test(linear_and_clamped),
        cmocka_unit_test(leaf_table_is_data_table),
        cmocka_unit_test(substitution_and_dependence),
        cmocka_unit_test(a_million_values),
    };
    return cmocka_run_group_tests_name("number", tests, NULL, NULL);
}
