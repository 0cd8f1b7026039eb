/* SPDX-License-Identifier: MIT
 *
 * Random samples of every force and constraint class. A class with letters (slots) is tried without
 * a tape and, for forces, with a law F(ARG 0, ARG 1, TIME, MEM); a class for any slots gets a tape
 * of random expressions. */
#ifndef CST_TESTS_ELEMENT_SAMPLE_H
#define CST_TESTS_ELEMENT_SAMPLE_H

#include "oracle.h"

enum {
    NX = CST_MAX_NX,
    NP = 128,
    NZ = 2,
    NMEM = 2,
    NV = 1 + 2 * NX + NZ + NP,
    NREG = 4096,
    NW = CST_MAX_PHI
};
enum { SAMPLES = 20, ANY_NX = 7 };

typedef struct sample {
    const cst_force_class *force;
    const cst_force_class_oracle *force_o;
    const cst_constraint_class *con;
    const cst_constraint_class_oracle *con_o;
    const char *slots;
    int nx, np, nz, own, nphi;
    int x, xd, z, p, nv; /* places in v = (t, x, xd, z, p): all that an element depends on */
    double v[NV], mem[NMEM], w[NW], a[NX]; /* a: x'' */
    const cst_tape *tape;
    double reg[NREG];
    oracle_complex reg_o[NREG];
} sample;

static cst_local local(sample *s, const double *v)
{
    return (cst_local){.nx = s->nx,
                       .np = s->np,
                       .nz = s->nz,
                       .t = v[0],
                       .x = v + s->x,
                       .xd = v + s->xd,
                       .z = v + s->z,
                       .mem = s->mem,
                       .p = v + s->p,
                       .tape = s->tape,
                       .reg = s->reg};
}

static cst_local_oracle local_o(sample *s, const oracle_complex *v, oracle_complex mem[NMEM])
{
    for (int i = 0; i < NMEM; i++) mem[i] = s->mem[i];
    return (cst_local_oracle){.nx = s->nx,
                              .np = s->np,
                              .nz = s->nz,
                              .t = v[0],
                              .x = v + s->x,
                              .xd = v + s->xd,
                              .z = v + s->z,
                              .mem = mem,
                              .p = v + s->p,
                              .tape = s->tape,
                              .reg = s->reg_o};
}

/* ---- random tapes ---- */

/* sum of number * function(source * source): every source in turn, so that each one has an effect
 */
static cst_id random_expression(cst_graph *g, expect_random *rng, int n, const cst_id *source)
{
    static const char *const function[] = {"sin", "cos", "tanh", "exp"};
    cst_id y = cst_num_leaf(g, expect_uniform(rng, -1, 1));
    for (int i = 0; i < n; i++) {
        cst_id inner = cst_num_mul(g, source[i], source[expect_below(rng, n)]);
        inner = cst_num_call(g, function[expect_below(rng, 4)], inner, CST_NONE, CST_NONE);
        y = cst_num_add(g, y, cst_num_mul(g, cst_num_leaf(g, expect_uniform(rng, 0.1, 1)), inner));
    }
    return y;
}

static int push_channels(cst_graph *g, cst_channel_kind kind, int order, int n, cst_id *at)
{
    for (int i = 0; i < n; i++) at[i] = cst_num_channel(g, kind, i, order);
    return n;
}

static void add_tape(sample *s, cst_arena *a, cst_graph *g, int nout, const cst_id *out)
{
    s->tape = cst_tape_new(a, g, nout, out);
    expect_true(2 * s->tape->nreg <= NREG && s->own + s->tape->nnumber <= NP);
    double *leaf = cst_new(a, double, cst_graph_leaves(g) + 1),
           *val = cst_new(a, double, cst_graph_values(g));
    for (int i = 0; i < cst_graph_leaves(g); i++) leaf[i] = cst_leaf_nominal(g, i);
    cst_graph_eval(g, leaf, val);
    s->np = s->own + s->tape->nnumber;
    for (int i = 0; i < s->tape->nnumber; i++) s->v[s->p + s->own + i] = val[s->tape->number[i]];
}

static void add_law(sample *s, expect_random *rng, cst_arena *a)
{
    cst_graph *g = cst_graph_new(a);
    cst_id source[8];
    int n = push_channels(g, CST_CH_ARG, 0, 2, source);
    n += push_channels(g, CST_CH_TIME, 0, 1, source + n);
    n += push_channels(g, CST_CH_MEM, 0, NMEM, source + n);
    cst_id out = random_expression(g, rng, n, source);
    add_tape(s, a, g, 1, &out);
}

static void add_force_tape(sample *s, expect_random *rng, cst_arena *a)
{
    cst_graph *g = cst_graph_new(a);
    cst_id source[2 * NX + NZ + NMEM + 1], out[NX + NZ];
    int n = push_channels(g, CST_CH_X, 0, s->nx, source);
    n += push_channels(g, CST_CH_X, 1, s->nx, source + n);
    n += push_channels(g, CST_CH_TIME, 0, 1, source + n);
    n += push_channels(g, CST_CH_Z, 0, s->nz, source + n);
    n += push_channels(g, CST_CH_MEM, 0, NMEM, source + n);
    for (int i = 0; i < s->nx + s->nz; i++)
        out[i] = random_expression(g, rng, 3, source + expect_below(rng, n - 2));
    out[0] = cst_num_const(g, 0); /* outputs that are inputs: a zero component, a number, a state */
    out[1] = cst_num_leaf(g, 0.7);
    out[2] = cst_num_channel(g, CST_CH_X, 1, 1);
    add_tape(s, a, g, s->nx + s->nz, out);
}

/* phi_x, phi_t and gamma as the model makes them: symbolically from phi */
static void add_constraint_tape(sample *s, expect_random *rng, cst_arena *a)
{
    cst_graph *g = cst_graph_new(a);
    cst_id x[NX + 1], xd[NX], out[NX + 3];
    push_channels(g, CST_CH_X, 0, s->nx, x);
    push_channels(g, CST_CH_X, 1, s->nx, xd);
    cst_id t = x[s->nx] = cst_num_channel(g, CST_CH_TIME, 0, 0),
           mem = cst_num_channel(g, CST_CH_MEM, 1, 0);
    cst_id phi = cst_num_add(g, random_expression(g, rng, s->nx + 1, x), cst_num_mul(g, mem, x[1]));
    out[0] = phi;
    cst_id rate = out[1 + s->nx] = cst_num_diff(g, phi, t);
    for (int i = 0; i < s->nx; i++) {
        out[1 + i] = cst_num_diff(g, phi, x[i]);
        rate = cst_num_add(g, rate, cst_num_mul(g, out[1 + i], xd[i]));
    }
    cst_id gamma = cst_num_diff(g, rate, t);
    for (int i = 0; i < s->nx; i++)
        gamma = cst_num_add(g, gamma, cst_num_mul(g, cst_num_diff(g, rate, x[i]), xd[i]));
    out[2 + s->nx] = gamma;
    add_tape(s, a, g, s->nx + 3, out);
}

/* A class with a tape of its own kind (ntape outputs): a road z(x, y, t) with its slopes and z_t,
 * in contact or not. */
static void add_road(sample *s, expect_random *rng, cst_arena *a)
{
    cst_graph *g = cst_graph_new(a);
    cst_id source[4];
    int n = push_channels(g, CST_CH_X, 0, 2, source);
    n += push_channels(g, CST_CH_TIME, 0, 1, source + n);
    cst_id z = random_expression(g, rng, n, source);
    const cst_id out[5] = {z, cst_num_diff(g, z, source[0]), cst_num_diff(g, z, source[1]),
                           cst_num_diff(g, z, source[2]),
                           cst_num_const(g, expect_below(rng, 4) > 0)};
    expect_int(s->force->ntape, 5);
    add_tape(s, a, g, 5, out);
}

/* ---- samples ---- */

static void sample_sizes(sample *s, int nslot, int np, int nz)
{
    s->nx = 0;
    for (int k = 0; k < nslot; k++) s->nx += s->slots[k] == 's' ? 1 : 3;
    if (nslot < 0) s->nx = ANY_NX;
    s->own = s->np = np, s->nz = nz < 0 ? NZ : nz;
    s->x = 1, s->xd = s->x + s->nx, s->z = s->xd + s->nx, s->p = s->z + s->nz;
    expect_true(s->nx <= NX && s->np <= NP && s->nz <= NZ);
}

static void sample_fill(sample *s, expect_random *rng)
{
    random_vector(rng, s->p, -1, 1, s->v);
    random_vector(rng, s->own, 0.1, 2, s->v + s->p);
    random_vector(rng, NMEM, -1, 1, s->mem);
    random_vector(rng, NW, -1, 1, s->w);
    random_vector(rng, s->nx, -1, 1, s->a);
    for (int k = 0, i = s->x; s->slots != NULL && s->slots[k] != '\0';
         i += s->slots[k++] == 's' ? 1 : 3) {
        double *u = s->v + i, size = sqrt(u[0] * u[0] + u[1] * u[1] + u[2] * u[2]);
        for (int j = 0; s->slots[k] == 'u' && j < 3; j++) u[j] /= size;
    }
    s->nv = s->p + s->np;
}

typedef void law_fn(sample *s, expect_random *rng);

static void run(law_fn *law, sample *s, expect_random *rng,
                void (*make)(sample *, expect_random *, cst_arena *))
{
    for (int n = 0; n < SAMPLES; n++) {
        cst_arena a = {0};
        s->tape = NULL, s->np = s->own;
        if (make != NULL) make(s, rng, &a);
        sample_fill(s, rng);
        law(s, rng);
        cst_arena_free(&a);
    }
}

static void for_each_force(law_fn *law)
{
    expect_random rng = {30};
    int n = 0;
    for (; cst_force_classes[n] != NULL; n++) {
        sample s = {.force = cst_force_classes[n], .force_o = cst_force_classes_oracle[n]};
        expect_text(s.force->name, s.force_o->name);
        s.slots = s.force->slots;
        expect_true((s.slots == NULL) == (s.force->nslot < 0));
        expect_true(s.slots == NULL || (int)strlen(s.slots) == s.force->nslot);
        sample_sizes(&s, s.force->nslot, s.force->np, s.force->nz);
        if (s.slots == NULL) {
            run(law, &s, &rng, add_force_tape);
            continue;
        }
        if (s.force->ntape > 0) {
            run(law, &s, &rng, add_road);
            sample_sizes(&s, s.force->nslot, s.force->np, 0); /* and without its states */
            run(law, &s, &rng, add_road);
            continue;
        }
        run(law, &s, &rng, NULL);
        run(law, &s, &rng, add_law);
    }
    expect_true(n >= 3 && cst_force_classes_oracle[n] == NULL);
}

static void for_each_constraint(law_fn *law)
{
    expect_random rng = {31};
    int n = 0;
    for (; cst_constraint_classes[n] != NULL; n++) {
        sample s = {.con = cst_constraint_classes[n], .con_o = cst_constraint_classes_oracle[n]};
        expect_text(s.con->name, s.con_o->name);
        s.slots = s.con->slots, s.nphi = s.con->nphi;
        expect_true((s.slots == NULL) == (s.con->nslot < 0));
        expect_true(s.slots == NULL || (int)strlen(s.slots) == s.con->nslot);
        expect_true(s.nphi <= CST_MAX_PHI && s.con->np % 3 == 0);
        sample_sizes(&s, s.con->nslot, s.con->np, 0);
        run(law, &s, &rng, s.slots == NULL ? add_constraint_tape : NULL);
    }
    expect_true(n >= 6 && cst_constraint_classes_oracle[n] == NULL);
}

#endif
