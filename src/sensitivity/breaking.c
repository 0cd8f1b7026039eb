/* SPDX-License-Identifier: MIT
 *
 * Numbers whose change would open a loop that is closed more than once. Let n be a left null vector of phi_u: a row that
 * depends on others, n^T phi_u = 0. If n^T phi_p != 0 no motion can make up for a change of p. n^T phi_p for all numbers is
 * one adjoint pass with weights n. What counts as zero is measured: the same pass with the
 * entries of n scaled at random, so that nothing cancels. Both are collected over all null vectors and positions before they
 * are compared, because a single one may leave rounding in both. */
#include <math.h>
#include <string.h>

#include "sensitivity/gradient.h"

#define ZERO 1e-7  /* of the size that the sum has without cancelling */
#define SMALL 1e-5 /* sizes below this part of the largest count as this */

typedef struct breaking { double *open, *size; } breaking; /* (leaves) |n^T phi_p|, and what it is without cancelling */

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

static void look(cst_run *r, cst_arena *a, const cst_state *y, const breaking *b)
{
    const cst_model *m = r->m;
    cst_system *s = r->s;
    int nleaf = cst_graph_leaves(m->graph);
    double *rest = cst_new(a, double, m->nq + 1), *n = cst_new(a, double, m->nrow + 1), *x = cst_new(a, double, 2 * m->nx + 1);
    double *P = cst_new(a, double, m->bound.n + 1), *val = cst_new(a, double, cst_graph_values(m->graph) + 1);
    cst_pass *ps = cst_pass_new(a, s);
    cst_system_place(s, *y->t, y->q);
    cst_system_rates(s, rest);
    cst_slots_blocks(s, y->q);
    cst_jacobian j = cst_jacobian_rows(a, s, y->mem, CST_ROW_MOTION, r->st->column);
    cst_rank rank;
    if (!cst_rank_rows(a, &j.rows, 1e-7, &rank)) return;
    const cst_pass_at at = {.q = y->q, .v = rest, .mem = y->mem, .phases = CST_ROW_MOTION};
    for (int k = 0; k < rank.ndep; k++) {
        memset(n, 0, sizeof *n * (size_t)m->nrow);
        n[j.all_of[rank.dep[k]]] = 1;
        for (int i = rank.term_ptr[k]; i < rank.term_ptr[k + 1]; i++) n[j.all_of[rank.term_row[i]]] = -rank.term_coef[i];
        if (r->st->keep[j.all_of[rank.dep[k]]] && r->st->rank > rank.rank) continue; /* a singular position, not a redundancy */
        numbers_of(r, ps, &at, n, x, P, val);
        for (int i = 0; i < nleaf; i++) b->open[i] = fmax(b->open[i], fabs(val[cst_leaf_id(m->graph, i)]));
        for (int i = 0; i < m->nrow; i++) n[i] *= 1 + (double)((unsigned)(i + 1) * 2654435761u >> 8) * 0x1p-24;
        numbers_of(r, ps, &at, n, x, P, val);
        for (int i = 0; i < nleaf; i++) b->size[i] = fmax(b->size[i], fabs(val[cst_leaf_id(m->graph, i)]));
    }
}

cst_status cst_find_breaking(cst_run *r, unsigned char *breaks, cst_diag *d)
{
    int nleaf = cst_graph_leaves(r->m->graph);
    double largest = 0;
    memset(breaks, 0, (size_t)nleaf);
    if (!r->st->dep.ndep) return CST_OK;
    cst_arena a = {0};
    if (CST_ARENA_GUARD(&a)) {
        cst_arena_free(&a);
        return cst_error(d, CST_MEMORY, (cst_where){.file = r->m->file}, "out of memory");
    }
    const breaking b = {cst_new(&a, double, nleaf + 1), cst_new(&a, double, nleaf + 1)};
    long last = r->traj->n - 1;
    for (int k = 0; k < 3; k++) { /* at the start, half way and at the end */
        cst_state y = cst_state_view(r->m, cst_traj_at(r->traj, last * k / 2));
        look(r, &a, &y, &b);
    }
    for (int i = 0; i < nleaf; i++) largest = fmax(largest, b.size[i]);
    for (int i = 0; i < nleaf; i++) breaks[i] = b.open[i] > ZERO * fmax(b.size[i], SMALL * largest);
    cst_arena_free(&a);
    return CST_OK;
}
