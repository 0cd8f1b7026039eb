/* SPDX-License-Identifier: MIT
 *
 * Numbers whose change would open a loop that is closed more than once. Let n be a left null vector of phi_u: a row that
 * depends on others, n^T phi_u = 0. If n^T phi_p != 0 no motion can make up for a change of p. n^T phi_p for all numbers is
 * one adjoint pass with weights n. What counts as zero is measured: the same pass with the
 * entries of n scaled at random, so that nothing cancels. Both are collected over all null vectors of a position before they
 * are compared, because a single one may leave rounding in both. Of many null vectors a few sums with random factors are
 * taken: they vanish for a number only if all of them do, and each of them has the size that all have. */
#include <math.h>
#include <string.h>

#include "sensitivity/gradient.h"

#define ZERO 1e-7  /* of the size that the sum has without cancelling */
#define SMALL 1e-5 /* sizes below this part of the largest count as this */
enum { FEW = 3 };  /* null vectors */

/* in [1, 2), another one for each k */
static double factor(int k) { return 1 + (double)((unsigned)(k + 1) * 2654435761u >> 8) * 0x1p-24; }

static void numbers_of(cst_run *r, cst_pass *ps, const cst_pass_at *at, const double *weight, double *x, double *P, double *val)
{
    const cst_model *m = r->m;
    memset(P, 0, sizeof *P * (size_t)m->bound.n);
    memset(val, 0, sizeof *val * (size_t)cst_graph_values(m->graph));
    const cst_adjoint_in in = {.nrhs = 1, .k0 = weight};
    const cst_adjoint_out out = {.x = x, .xd = x + m->nx, .P = P};
    cst_adjoint_pass(ps, at, &in, &out);
    for (int i = 0; i < m->bound.n; i++) val[m->bound.at[i]] += P[i];
    cst_graph_reverse(m->graph, r->s->val, val);
}

typedef struct null_space { int n; double *at; } null_space; /* (n x all rows) left null vectors of phi_u at a state */

static null_space null_at(cst_run *r, cst_arena *a, const cst_state *y)
{
    const cst_model *m = r->m;
    cst_system_place(r->s, *y->t, y->q);
    cst_slots_blocks(r->s, y->q);
    cst_jacobian j = cst_jacobian_rows(a, r->s, y->mem, CST_ROW_MOTION, r->st->column);
    cst_rank rank;
    null_space space = {0};
    if (!cst_rank_rows(a, &j.rows, 1e-7, &rank)) return space;
    space.at = cst_new(a, double, (size_t)rank.ndep *(size_t)m->nrow + 1);
    for (int k = 0; k < rank.ndep; k++) {
        if (r->st->keep[j.all_of[rank.dep[k]]] && r->st->rank > rank.rank) continue; /* a singular position, not a redundancy */
        double *n = space.at + (size_t)space.n++ * (size_t)m->nrow;
        n[j.all_of[rank.dep[k]]] = 1;
        for (int i = rank.term_ptr[k]; i < rank.term_ptr[k + 1]; i++) n[j.all_of[rank.term_row[i]]] = -rank.term_coef[i];
    }
    return space;
}

/* FEW sums of the vectors with random factors and signs */
static null_space sums(cst_arena *a, null_space all, int nrow)
{
    null_space few = {FEW, cst_new(a, double, (size_t)FEW *(size_t)nrow + 1)};
    for (int s = 0; s < FEW; s++)
        for (int k = 0; k < all.n; k++) {
            double f = factor(s * all.n + k), c = f < 1.5 ? f : f - 3; /* 1 .. 1.5 or -1.5 .. -1 */
            for (int i = 0; i < nrow; i++) few.at[s * nrow + i] += c * all.at[(size_t)k * (size_t)nrow + (size_t)i];
        }
    return few;
}

static void look(cst_run *r, cst_arena *a, const cst_state *y, unsigned char *breaks)
{
    const cst_model *m = r->m;
    int nleaf = cst_graph_leaves(m->graph);
    double *rest = cst_new(a, double, m->nq + 1), *x = cst_new(a, double, 2 * m->nx + 1);
    double *open = cst_new(a, double, nleaf + 1), *size = cst_new(a, double, nleaf + 1), largest = 0;
    double *P = cst_new(a, double, m->bound.n + 1), *val = cst_new(a, double, cst_graph_values(m->graph) + 1);
    cst_pass *ps = cst_pass_new(a, r->s);
    null_space space = null_at(r, a, y);
    int many = space.n > FEW;
    if (many) space = sums(a, space, m->nrow);
    cst_system_rates(r->s, rest);
    const cst_pass_at at = {.q = y->q, .v = rest, .mem = y->mem, .phases = CST_ROW_MOTION};
    for (int k = 0; k < space.n; k++) {
        double *n = space.at + (size_t)k * (size_t)m->nrow;
        numbers_of(r, ps, &at, n, x, P, val);
        for (int i = 0; i < nleaf; i++) open[i] = fmax(open[i], fabs(val[cst_leaf_id(m->graph, i)]));
        if (many && k > 0) continue;
        for (int i = 0; i < m->nrow; i++) n[i] *= factor(i);
        numbers_of(r, ps, &at, n, x, P, val);
        for (int i = 0; i < nleaf; i++) size[i] = fmax(size[i], fabs(val[cst_leaf_id(m->graph, i)]));
    }
    for (int i = 0; i < nleaf; i++) largest = fmax(largest, size[i]);
    for (int i = 0; i < nleaf; i++) breaks[i] |= open[i] > ZERO * fmax(size[i], SMALL * largest);
}

/* Seeds of the outputs that count: an objective's functionals, or one component of a measure. */
static void ask(cst_run *r, int measures, int o, double *fbar, double *val, double *seed)
{
    memset(seed, 0, sizeof *seed * (size_t)r->out->tape->nout);
    if (measures) {
        seed[o] = 1;
        return;
    }
    cst_objective_reverse(r, o, fbar, val);
    for (int i = 0; i < r->m->functional.n; i++) seed[r->out->functional + i] = fbar[i];
}

/* A reaction is unique when what asks for the multipliers, lambda_bar, has no share in a null vector. The shares of the
 * functionals at this state do not matter for that: all are asked for at once. */
static void look_at_reactions(cst_run *r, cst_arena *a, const cst_state *y, int measures, const unsigned char *asked,
                              unsigned char *ambiguous)
{
    const cst_model *m = r->m;
    int nout = r->out->tape->nout, nval = cst_graph_values(m->graph);
    double *fbar = cst_new(a, double, m->functional.n + 1), *val = cst_new(a, double, nval + 1);
    double *seed = cst_new(a, double, nout + 1), *quad = cst_new(a, double, m->quad.n + 1);
    double *x = cst_new(a, double, 3 * m->nx + 1), *force = cst_new(a, double, m->nforce + 1);
    double *z = cst_new(a, double, m->nz + 1), *q = cst_new(a, double, 3 * m->nq + 1), *P = cst_new(a, double, m->bound.n + 1);
    cst_pass *ps = cst_pass_new(a, r->s);
    null_space space = null_at(r, a, y);
    for (int o = 0; o < (measures ? m->component.n : m->objective.n) && space.n; o++) {
        if (asked && !asked[o]) continue;
        double *react = cst_new(a, double, m->nreact + 1), *lambda = cst_new(a, double, m->nrow + 1);
        const cst_point_of_motion here = {*y->t, y->q, y->u, y->ud, y->z, y->mem, y->quad, y->lambda};
        cst_output_eval(r->out, r->s, &here);
        memset(quad, 0, sizeof *quad * (size_t)m->quad.n);
        ask(r, measures, o, fbar, val, seed);
        cst_output_quad_bars(r->out, 1, seed, quad);
        for (int i = 0; i < m->quad.n; i++) seed[r->out->quad + i] = quad[i];
        cst_T(r->s, y->q, y->u, q);
        const cst_pass_at at = {.q = y->q, .v = q, .z = y->z, .mem = y->mem, .phases = CST_ROW_MOTION};
        const cst_output_bars bars = {x, x + m->nx, x + 2 * m->nx, force, react, z, q + m->nq, q + 2 * m->nq, P, val, NULL};
        cst_output_reverse(r->out, ps, &at, 1, seed, &bars);
        cst_adjoint_react(ps, &at, 1, react, lambda);
        for (int k = 0; k < space.n; k++) {
            double share = 0, size = 0;
            for (int i = 0; i < m->nrow; i++) {
                double y1 = space.at[(size_t)k * (size_t)m->nrow + (size_t)i] * lambda[i];
                share += y1, size += fabs(y1);
            }
            if (fabs(share) > ZERO * size) ambiguous[o] = 1;
        }
    }
}

static void look_objectives(cst_run *r, cst_arena *a, const cst_state *y, unsigned char *found)
{
    look_at_reactions(r, a, y, 0, NULL, found);
}

/* found: those asked about, then those that are not unique, beside each other */
static void look_measures(cst_run *r, cst_arena *a, const cst_state *y, unsigned char *found)
{
    look_at_reactions(r, a, y, 1, found, found + r->m->component.n);
}

typedef void looker(cst_run *r, cst_arena *a, const cst_state *y, unsigned char *found);

/* at the start, half way and at the end */
static cst_status look_along(cst_run *r, looker *at, unsigned char *found, cst_diag *d)
{
    cst_arena a = {0};
    if (CST_ARENA_GUARD(&a)) {
        cst_arena_free(&a);
        return cst_error(d, CST_MEMORY, (cst_where){.file = r->m->file}, "out of memory");
    }
    long last = r->traj->n - 1;
    for (int k = 0; k < 3; k++) {
        cst_state y = cst_run_state(r, last * k / 2);
        at(r, &a, &y, found);
    }
    cst_arena_free(&a);
    return CST_OK;
}

cst_status cst_find_breaking(cst_run *r, unsigned char *breaks, cst_diag *d)
{
    memset(breaks, 0, (size_t)cst_graph_leaves(r->m->graph));
    return r->st->dep.ndep ? look_along(r, look, breaks, d) : CST_OK;
}

cst_status cst_find_ambiguous(cst_run *r, unsigned char *ambiguous, cst_diag *d)
{
    memset(ambiguous, 0, (size_t)r->m->objective.n);
    return r->st->dep.ndep && r->out->needs_react ? look_along(r, look_objectives, ambiguous, d) : CST_OK;
}

cst_status cst_find_ambiguous_measures(cst_run *r, unsigned char *ambiguous, cst_diag *d)
{
    int n = r->m->component.n;
    if (!r->st->dep.ndep || !r->out->needs_react) {
        memset(ambiguous, 0, (size_t)n);
        return CST_OK;
    }
    memset(ambiguous + n, 0, (size_t)n);
    cst_status ok = look_along(r, look_measures, ambiguous, d);
    memmove(ambiguous, ambiguous + n, (size_t)n);
    return ok;
}
