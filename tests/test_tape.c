/* SPDX-License-Identifier: MIT
 *
 * Register code: derivatives of random expressions against the complex step of the same code,
 * against each other and against derivatives that were built symbolically. */
#include "number/table.h"
#include "number/tape.h"
#include "number_sample.h"

#include <complex.h>
#undef I
#include <stdlib.h>

void cst_tape_eval_oracle(const cst_tape *t, double complex *reg);
void cst_tape_forward_oracle(const cst_tape *t, const double complex *reg, double complex *dot);
void cst_tape_reverse_oracle(const cst_tape *t, const double complex *reg, double complex *bar);

#define H 1e-40
enum { NX = 3, NOP = 40, NPOOL = 3 * NX + 4 + NOP, NREG = 4096, SAMPLES = 200 };

typedef struct scene {
    cst_arena arena;
    cst_graph *g;
    int n;
    cst_id pool[NPOOL];
} scene;

/* sources: x_i, x_i', x_i'', t, s, two leaves */
static void scene_make(scene *s, expect_random *r, int smooth, int orders)
{
    memset(s, 0, sizeof *s);
    s->g = cst_graph_new(&s->arena);
    for (int order = 0; order < orders; order++)
        for (int i = 0; i < NX; i++) s->pool[s->n++] = cst_num_channel(s->g, CST_CH_X, i, order);
    s->pool[s->n++] = cst_num_channel(s->g, CST_CH_TIME, 0, 0);
    s->pool[s->n++] = cst_num_leaf(s->g, 0.7);
    s->pool[s->n++] = cst_num_leaf(s->g, -0.4);
    s->n = sample_expressions(s->g, r, s->n, s->pool, NOP, smooth);
}

/* a value that depends on most of the pool */
static cst_id sum_of_last(scene *s, int n)
{
    cst_id y = s->pool[s->n - 1];
    for (int i = 2; i <= n; i++) y = cst_num_add(s->g, y, s->pool[s->n - i]);
    return y;
}

static void random_inputs(const cst_tape *t, expect_random *r, double *reg)
{
    expect_true(t->nreg <= NREG);
    for (int i = 0; i < t->nchannel + t->nnumber; i++) reg[i] = expect_uniform(r, -1.5, 1.5);
}

/* Random channels and leaves; the numbers are what the graph derives from the leaves. */
static void random_state(const cst_graph *g, const cst_tape *t, expect_random *r, double *reg)
{
    static double val[NREG];
    double leaf[2] = {expect_uniform(r, -1.5, 1.5), expect_uniform(r, -1.5, 1.5)};
    random_inputs(t, r, reg);
    expect_true(cst_graph_values(g) <= NREG && cst_graph_leaves(g) == 2);
    cst_graph_eval(g, leaf, val);
    for (int i = 0; i < t->nnumber; i++) reg[t->nchannel + i] = val[t->number[i]];
}

/* max |y_dot| against the complex step in one direction */
static void check_forward(const cst_tape *t, const double *reg, const double *dot)
{
    static double complex z[NREG];
    int nin = t->nchannel + t->nnumber;
    for (int i = 0; i < nin; i++) z[i] = reg[i] + _Complex_I * (H * dot[i]);
    cst_tape_eval_oracle(t, z);
    for (int i = 0; i < t->nout; i++) {
        expect_near(reg[t->out[i]], creal(z[t->out[i]]), 1e-13);
        expect_near(dot[t->out[i]], cimag(z[t->out[i]]) / H, 1e-12);
    }
}

/* Each operation alone, so that a wrong partial is named: numeric, symbolic and complex step. */
static void partials_of_each_operation(void **state)
{
    (void)state;
    expect_random r = {6};
    for (int k = 0; cst_op_at(k); k++) {
        cst_arena a = {0};
        cst_graph *g = cst_graph_new(&a);
        const cst_op *op = cst_op_at(k);
        cst_id x[3] = {CST_NONE, CST_NONE, CST_NONE}, out[4];
        for (int i = 0; i < op->arity; i++) x[i] = cst_num_channel(g, CST_CH_X, i, 0);
        out[0] = cst_num_op(g, op, x);
        for (int i = 0; i < op->arity; i++) out[1 + i] = cst_num_diff(g, out[0], x[i]);
        const cst_tape *t = cst_tape_new(&a, g, 1 + op->arity, out);
        for (int n = 0; n < 20; n++) {
            double reg[64], bar[64] = {0};
            double complex z[64];
            for (int i = 0; i < op->arity; i++) {
                double lo, hi;
                sample_range(op, i, &lo, &hi);
                reg[i] = expect_uniform(&r, lo, hi);
            }
            cst_tape_eval(t, reg);
            bar[t->out[0]] = 1;
            cst_tape_reverse(t, reg, bar);
            for (int i = 0; i < op->arity; i++) {
                for (int j = 0; j < op->arity; j++) z[j] = reg[j] + (i == j ? _Complex_I * H : 0);
                cst_tape_eval_oracle(t, z);
                double d = cimag(z[t->out[0]]) / H;
                int good = fabs(bar[i] - d) <= 1e-13 * (1 + fabs(d)) &&
                           fabs(reg[t->out[1 + i]] - d) <= 1e-13 * (1 + fabs(d)) &&
                           fabs(reg[t->out[0]] - creal(z[t->out[0]])) <=
                               1e-14 * (1 + fabs(reg[t->out[0]]));
                if (!good)
                    print_error(
                        "%s: argument %d: partial %.17g, symbolic %.17g, complex step %.17g\n",
                        op->name, i + 1, bar[i], reg[t->out[1 + i]], d);
                expect_true(good);
            }
        }
        cst_arena_free(&a);
    }
}

static void forward_is_complex_step(void **state)
{
    (void)state;
    static double reg[NREG], dot[NREG];
    expect_random r = {1};
    int checked = 0;
    for (int k = 0; k < SAMPLES; k++) {
        scene s;
        scene_make(&s, &r, k % 2, 3);
        const cst_tape *t = cst_tape_new(&s.arena, s.g, s.n, s.pool);
        random_state(s.g, t, &r, reg);
        cst_tape_eval(t, reg);
        random_inputs(t, &r, dot);
        cst_tape_forward(t, reg, dot);
        if (cst_tape_kink(t, reg) > 1e-9) {
            check_forward(t, reg, dot);
            checked++;
        }
        cst_arena_free(&s.arena);
    }
    expect_true(checked > SAMPLES / 2);
}

/* bar.(J dot) = (J^T bar).dot, also in the oracle's sweeps */
static void reverse_is_transpose(void **state)
{
    (void)state;
    static double reg[NREG], dot[NREG], bar[NREG];
    static double complex zreg[NREG], zdot[NREG], zbar[NREG];
    expect_random r = {2};
    for (int k = 0; k < SAMPLES; k++) {
        scene s;
        scene_make(&s, &r, k % 2, 3);
        const cst_tape *t = cst_tape_new(&s.arena, s.g, s.n, s.pool);
        int nin = t->nchannel + t->nnumber;
        random_state(s.g, t, &r, reg);
        random_inputs(t, &r, dot);
        for (int i = 0; i < nin; i++) zreg[i] = reg[i], zdot[i] = dot[i];
        cst_tape_eval(t, reg);
        cst_tape_forward(t, reg, dot);
        cst_tape_eval_oracle(t, zreg);
        cst_tape_forward_oracle(t, zreg, zdot);
        memset(bar, 0, sizeof bar);
        memset(zbar, 0, sizeof zbar);
        double left = 0, right = 0, size = 0;
        for (int i = 0; i < t->nout; i++) {
            double b = expect_uniform(&r, -1, 1);
            bar[t->out[i]] += b, zbar[t->out[i]] += b;
            left += b * dot[t->out[i]];
            size += fabs(b * dot[t->out[i]]);
            expect_near(creal(zdot[t->out[i]]), dot[t->out[i]], 1e-12);
        }
        cst_tape_reverse(t, reg, bar);
        cst_tape_reverse_oracle(t, zreg, zbar);
        for (int i = 0; i < nin; i++) {
            right += bar[i] * dot[i];
            size += fabs(bar[i] * dot[i]);
            expect_near(creal(zbar[i]) / (1 + size), bar[i] / (1 + size), 1e-12);
        }
        for (int i = nin; i < t->nreg; i++) expect_true(bar[i] == 0);
        expect_near((left - right) / size, 0, 1e-13);
        cst_arena_free(&s.arena);
    }
}

/* gradient of output `out` by each channel: grad[i] for channel register i */
static void gradient(const cst_tape *t, const double *reg, int out, double *bar)
{
    memset(bar, 0, sizeof *bar * (size_t)t->nreg);
    bar[t->out[out]] = 1;
    cst_tape_reverse(t, reg, bar);
}

static int channel_register(const cst_tape *t, const cst_channel *c)
{
    for (int i = 0; i < t->nchannel; i++)
        if (t->channel[i].kind == c->kind && t->channel[i].index == c->index &&
            t->channel[i].order == c->order)
            return i;
    return -1;
}

/* dy/dx built in the graph has the value that the reverse sweep of y gives; y_xz = y_zx */
static void symbolic_is_reverse(void **state)
{
    (void)state;
    static double reg[NREG], bar[NREG];
    expect_random r = {3};
    int nonzero = 0;
    for (int k = 0; k < SAMPLES; k++) {
        scene s;
        scene_make(&s, &r, k % 2, 3);
        cst_id y = sum_of_last(&s, 12);
        cst_id x = s.pool[expect_below(&r, NX)], z = s.pool[expect_below(&r, 3 * NX + 1)];
        cst_id y_x = cst_num_diff(s.g, y, x), y_z = cst_num_diff(s.g, y, z);
        cst_id out[] = {y, y_x, y_z, cst_num_diff(s.g, y_x, z), cst_num_diff(s.g, y_z, x), x, z};
        const cst_tape *t = cst_tape_new(&s.arena, s.g, 7, out);
        random_state(s.g, t, &r, reg);
        cst_tape_eval(t, reg);
        if (cst_tape_kink(t, reg) > 1e-9) {
            gradient(t, reg, 0, bar);
            int rx = channel_register(t, cst_num_channel_of(s.g, x));
            int rz = channel_register(t, cst_num_channel_of(s.g, z));
            expect_near(reg[t->out[1]], bar[rx], 1e-12);
            expect_near(reg[t->out[2]], bar[rz], 1e-12);
            nonzero += bar[rx] != 0 && reg[t->out[3]] != 0;
            expect_near(reg[t->out[3]], reg[t->out[4]], 1e-10);
            gradient(t, reg, 1, bar);
            expect_near(reg[t->out[3]], bar[rz], 1e-10);
        }
        cst_arena_free(&s.arena);
    }
    expect_true(nonzero > SAMPLES / 8);
}

/* rate(y) = dy/dt along x(t): the complex step of y with x + i h x', x' + i h x'', t + i h */
static void rate_is_chain_rule(void **state)
{
    (void)state;
    static double reg[NREG];
    static double complex z[NREG];
    expect_random r = {4};
    for (int k = 0; k < SAMPLES; k++) {
        scene s;
        scene_make(&s, &r, 1, 2); /* up to x' in y, so that x'' is the last rate */
        cst_id out[2 + 3 * NX] = {sum_of_last(&s, 12), CST_NONE};
        out[1] = cst_num_rate(s.g, out[0]);
        expect_true(out[1] != CST_NONE);
        for (int i = 0; i < 3 * NX; i++)
            out[2 + i] = cst_num_channel(s.g, CST_CH_X, i % NX, i / NX);
        const cst_tape *t = cst_tape_new(&s.arena, s.g, 2 + 3 * NX, out);
        random_state(s.g, t, &r, reg);
        cst_tape_eval(t, reg);
        for (int i = 0; i < t->nchannel + t->nnumber; i++) z[i] = reg[i];
        for (int i = 0; i < t->nchannel; i++) {
            const cst_channel *c = &t->channel[i];
            if (c->kind == CST_CH_TIME) z[i] += _Complex_I * H;
            cst_channel next = {CST_CH_X, c->index, c->order + 1};
            if (c->kind == CST_CH_X && c->order < 2)
                z[i] += _Complex_I * H * reg[channel_register(t, &next)];
        }
        cst_tape_eval_oracle(t, z);
        expect_near(reg[t->out[1]], cimag(z[t->out[0]]) / H, 1e-11);
        cst_arena_free(&s.arena);
    }
}

static void rates_of_channels(void **state)
{
    (void)state;
    cst_arena a = {0};
    cst_graph *g = cst_graph_new(&a);
    double c;
    expect_int(cst_num_rate(g, cst_num_channel(g, CST_CH_ARG, 0, 0)),
               cst_num_channel(g, CST_CH_ARG, 1, 0));
    expect_true(cst_num_is_const(g, cst_num_rate(g, cst_num_channel(g, CST_CH_MEM, 2, 0)), &c) &&
                c == 0);
    expect_true(cst_num_is_const(g, cst_num_rate(g, cst_num_leaf(g, 3)), &c) && c == 0);
    cst_channel_kind none[] = {CST_CH_Z, CST_CH_FORCE, CST_CH_REACT, CST_CH_SYSTEM, CST_CH_RESULT};
    for (int i = 0; i < 5; i++)
        expect_int(cst_num_rate(g, cst_num_sqrt(g, cst_num_channel(g, none[i], 1, 0))), CST_NONE);
    expect_int(cst_num_rate(g, cst_num_channel(g, CST_CH_X, 0, 2)), CST_NONE);
    cst_arena_free(&a);
}

/* What `if` does not select may be NaN with NaN derivatives: nothing of it may reach the result. */
static void unselected_branch_is_silent(void **state)
{
    (void)state;
    cst_arena a = {0};
    cst_graph *g = cst_graph_new(&a);
    cst_id x = cst_num_channel(g, CST_CH_X, 0, 0), zero = cst_num_const(g, 0);
    cst_id c = cst_num_call(g, "<", x, zero, CST_NONE);
    cst_id right = cst_num_sqrt(g, x), left = cst_num_sqrt(g, cst_num_neg(g, x));
    cst_id y = cst_num_call(g, "if", c, cst_num_mul(g, left, left),
                            cst_num_mul(g, right, cst_num_const(g, 3)));
    cst_id out[] = {y, cst_num_diff(g, y, x)};
    const cst_tape *t = cst_tape_new(&a, g, 2, out);
    for (double v = -2; v <= 2; v += 4) {
        double reg[64] = {v}, dot[64] = {1}, bar[64];
        double expected = v < 0 ? -1 : 1.5 / sqrt(v);
        cst_tape_eval(t, reg);
        cst_tape_forward(t, reg, dot);
        gradient(t, reg, 0, bar);
        expect_near(reg[t->out[0]], v < 0 ? -v : 3 * sqrt(v), 1e-15);
        expect_near(dot[t->out[0]], expected, 1e-15);
        expect_near(bar[0], expected, 1e-15);
        expect_near(reg[t->out[1]], expected, 1e-15);
    }
    cst_arena_free(&a);
}

/* a^n for integers n and any a; the norm of a vector at zero */
static void powers_and_norms(void **state)
{
    (void)state;
    cst_arena a = {0};
    cst_graph *g = cst_graph_new(&a);
    cst_id x = cst_num_channel(g, CST_CH_X, 0, 0);
    for (int n = -4; n <= 5; n++) {
        cst_id y = cst_num_call(g, "^", x, cst_num_const(g, n), CST_NONE);
        cst_id out[] = {y, cst_num_diff(g, y, x)};
        const cst_tape *t = cst_tape_new(&a, g, 2, out);
        double base[] = {-1.7, 0, 0.3};
        for (int k = 0; k < 3; k++) {
            if (n < 0 && base[k] == 0) continue;
            double reg[64] = {base[k]}, dot[64] = {1};
            double expected = n == 0 ? 0 : n * pow(base[k], n - 1);
            if (t->nchannel == 0) continue; /* x^0 is 1 */
            cst_tape_eval(t, reg);
            cst_tape_forward(t, reg, dot);
            expect_near(reg[t->out[0]], pow(base[k], n), 1e-14);
            expect_near(dot[t->out[0]], expected, 1e-14);
            expect_near(reg[t->out[1]], expected, 1e-14);
        }
    }
    cst_id v[] = {x, x, x}, norm = cst_num_sqrt(g, cst_num_dot3(g, v, v));
    cst_id out[] = {norm, cst_num_diff(g, norm, x)};
    const cst_tape *t = cst_tape_new(&a, g, 2, out);
    double reg[64] = {0}, bar[64];
    cst_tape_eval(t, reg);
    gradient(t, reg, 0, bar);
    expect_true(bar[0] == 0 && reg[t->out[1]] == 0 && cst_tape_kink(t, reg) == 0);
    cst_arena_free(&a);
}

/* The code holds what the outputs need, once. */
static void code_is_minimal(void **state)
{
    (void)state;
    cst_arena a = {0};
    cst_graph *g = cst_graph_new(&a);
    cst_id x = cst_num_channel(g, CST_CH_X, 0, 0), p = cst_num_leaf(g, 2), q = cst_num_leaf(g, 3);
    cst_id pq = cst_num_mul(g, p, q), u = cst_num_mul(g, pq, x);
    cst_num_add(g, u, cst_num_channel(g, CST_CH_TIME, 0, 0)); /* not asked for */
    cst_id out[] = {cst_num_add(g, u, cst_num_const(g, 5)), cst_num_mul(g, u, u), pq, x,
                    cst_num_const(g, 7)};
    const cst_tape *t = cst_tape_new(&a, g, 5, out);
    expect_int(t->nchannel, 1);
    expect_int(t->nnumber, 1);
    expect_int(t->number[0], pq);
    expect_int(t->ncode, 5); /* u, 5, u + 5, u u, 7 */
    double reg[7] = {1.5, 6};
    cst_tape_eval(t, reg);
    double y[] = {14, 81, 6, 1.5, 7};
    for (int i = 0; i < 5; i++) expect_near(reg[t->out[i]], y[i], 0);
    cst_arena_free(&a);
}

/* Tables whose values are numbers: all derivatives by x, y and m against the oracle. */
static void tables_in_code(void **state)
{
    (void)state;
    static double reg[NREG], dot[NREG], bar[NREG];
    expect_random r = {5};
    double grid[] = {-2, -1.1, -0.4, 0.3, 1.2, 1.5, 2.2};
    for (int k = 0; k < SAMPLES; k++) {
        cst_arena a = {0};
        cst_graph *g = cst_graph_new(&a);
        double y[7];
        for (int i = 0; i < 7; i++) y[i] = expect_uniform(&r, -1, 1);
        cst_id y_id = k % 3 ? cst_num_leaves(g, 7, y) : CST_NONE;
        const cst_table *t1 =
            cst_table_new(&a, g, 7, grid, k % 3 ? NULL : y, y_id, (cst_table_kind)(k % 2),
                          (cst_table_outside)(k / 2 % 3));
        cst_id x = cst_num_channel(g, CST_CH_X, 0, 0), out[8];
        cst_id u = cst_num_mul(g, cst_num_const(g, 3), x); /* far outside the grid too */
        for (int d = 0; d < 4; d++) out[d] = cst_num_table(g, t1, u, d);
        out[4] = cst_num_diff(g, out[0], x);
        out[5] = cst_num_diff(g, out[4], x);
        out[6] = k % 3 ? y_id + 2 : u;
        out[7] = cst_num_mul(g, out[0], out[6]);
        const cst_tape *t = cst_tape_new(&a, g, 8, out);
        if (k % 3) expect_true(t->nnumber == (k % 2 ? 14 : 7));
        random_inputs(t, &r, reg);
        random_inputs(t, &r, dot);
        cst_tape_eval(t, reg);
        cst_tape_forward(t, reg, dot);
        check_forward(t, reg, dot);
        expect_near(reg[t->out[4]], 3 * reg[t->out[1]], 1e-14);
        expect_near(reg[t->out[5]], 9 * reg[t->out[2]], 1e-14);
        memset(bar, 0, sizeof bar);
        double left = 0, right = 0;
        for (int i = 0; i < 8; i++) bar[t->out[i]] += 1, left += dot[t->out[i]];
        cst_tape_reverse(t, reg, bar);
        for (int i = 0; i < t->nchannel + t->nnumber; i++) right += bar[i] * dot[i];
        expect_near(left, right, 1e-12);
        cst_arena_free(&a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(partials_of_each_operation),
        cmocka_unit_test(forward_is_complex_step),
        cmocka_unit_test(reverse_is_transpose),
        cmocka_unit_test(symbolic_is_reverse),
        cmocka_unit_test(rate_is_chain_rule),
        cmocka_unit_test(rates_of_channels),
        cmocka_unit_test(unselected_branch_is_silent),
        cmocka_unit_test(powers_and_norms),
        cmocka_unit_test(code_is_minimal),
        cmocka_unit_test(tables_in_code),
    };
    return cmocka_run_group_tests_name("tape", tests, NULL, NULL);
}
