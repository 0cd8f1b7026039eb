/* SPDX-License-Identifier: MIT
 *
 * Pattern and values of the matrix over (u, lambda). */
#include "system/kkt.h"

#include <assert.h>
#include <string.h>

static int *body_unknowns(const cst_model *m, const cst_reach *r, int *out)
{
    int n = 0;
    for (int i = 0; i < r->nbody; i++) {
        const cst_body *b = &m->body.at[r->body[i]];
        for (int k = r->lo[i]; k < b->cls->nu; k++) out[n++] = b->u0 + k;
    }
    return out;
}

static int first_unknown(const cst_model *m, const cst_reach *r, int i) { return m->body.at[r->body[i]].u0 + r->lo[i]; }

/* position of (first row of each body of r, each tangent column of r): nbody x nt */
static int *stiff_starts(cst_arena *a, const cst_model *m, const cst_pattern *p, const cst_reach *r, int *cols)
{
    int *at = cst_new(a, int, r->nbody * r->nt);
    body_unknowns(m, r, cols);
    for (int i = 0; i < r->nbody; i++) {
        int row = first_unknown(m, r, i);
        cst_pattern_slots(p, 1, &row, r->nt, cols, at + i * r->nt);
    }
    return at;
}

static int chosen_rows(const cst_kkt *k, const cst_constraint *c, int *first)
{
    int n = 0;
    *first = -1;
    for (int i = 0; i < c->cls->nphi; i++) {
        int r = k->row_of[c->row0 + i];
        if (r < 0) continue;
        if (*first < 0) *first = r;
        n++;
    }
    return n;
}

static int touches(const cst_constraint *c, int phases) { return (c->phases & phases) != 0; }

/* Quadratic and tape constraints have Hessians; linear ones have none. */
static int has_hessian(const cst_constraint *c) { return !c->cls->linear; }

static const cst_pattern *pattern_of(const cst_kkt *k, cst_arena *a, const cst_system *s, int *cols)
{
    const cst_model *m = s->m;
    int zero = 0;
    cst_pattern_builder *b = cst_pattern_begin(a, k->n);
    for (int i = 0; i < m->body.n; i++) {
        cst_reach r = {.nbody = 1, .body = &i, .lo = &zero, .nt = m->body.at[i].cls->nu};
        body_unknowns(m, &r, cols);
        cst_pattern_block(b, r.nt, cols, r.nt, cols);
    }
    for (int i = 0; i < m->force.n; i++) {
        const cst_reach *r = &s->force_reach[i];
        body_unknowns(m, r, cols);
        cst_pattern_block(b, r->nt, cols, r->nt, cols);
    }
    for (int i = 0; i < m->constraint.n; i++) {
        const cst_constraint *c = &m->constraint.at[i];
        const cst_reach *r = &s->constraint_reach[i];
        if (!touches(c, k->phases)) continue;
        int rows[CST_MAX_PHI], first, n = chosen_rows(k, c, &first);
        for (int j = 0; j < n; j++) rows[j] = k->nu + first + j;
        body_unknowns(m, r, cols);
        if (has_hessian(c)) cst_pattern_block(b, r->nt, cols, r->nt, cols);
        if (n) cst_pattern_block(b, n, rows, r->nt, cols), cst_pattern_block(b, r->nt, cols, n, rows);
    }
    for (int i = 0; i < k->nrow; i++) {
        int row = k->nu + i;
        cst_pattern_block(b, 1, &row, 1, &row);
    }
    return cst_pattern_finish(b, a);
}

static int widest(const cst_system *s)
{
    int n = CST_MAX_NU;
    for (int i = 0; i < s->m->force.n; i++)
        if (s->force_reach[i].nt > n) n = s->force_reach[i].nt;
    for (int i = 0; i < s->m->constraint.n; i++)
        if (s->constraint_reach[i].nt > n) n = s->constraint_reach[i].nt;
    return n;
}

cst_kkt *cst_kkt_new(cst_arena *a, const cst_system *s, int phases, const unsigned char *keep, int nhold,
                     const cst_hold *hold)
{
    const cst_model *m = s->m;
    cst_kkt *k = cst_new(a, cst_kkt, 1);
    int *cols = cst_new(a, int, widest(s)), zero = 0;
    k->nu = m->nu, k->phases = phases;
    k->row_of = cst_new(a, int, m->nrow + 1);
    k->all_of = cst_new(a, int, m->nrow + 1);
    for (int i = 0; i < m->nrow; i++) k->row_of[i] = -1;
    for (int i = 0; i < m->constraint.n; i++) {
        const cst_constraint *c = &m->constraint.at[i];
        for (int j = c->row0; touches(c, phases) && j < c->row0 + c->cls->nphi; j++)
            if (!keep || keep[j]) k->row_of[j] = k->nrow, k->all_of[k->nrow++] = j;
    }
    k->n = k->nu + k->nrow;
    k->pattern = pattern_of(k, a, s, cols);
    k->body_at = cst_new(a, int, m->nu + 1);
    for (int i = 0; i < m->body.n; i++) {
        const cst_body *b = &m->body.at[i];
        cst_reach r = {.nbody = 1, .body = &i, .lo = &zero, .nt = b->cls->nu};
        cst_pattern_slots(k->pattern, 1, &b->u0, r.nt, body_unknowns(m, &r, cols), k->body_at + b->u0);
    }
    k->force_at = cst_new(a, int *, m->force.n + 1);
    for (int i = 0; i < m->force.n; i++) k->force_at[i] = stiff_starts(a, m, k->pattern, &s->force_reach[i], cols);
    k->stiff_at = cst_new(a, int *, m->constraint.n + 1);
    k->jac_at = cst_new(a, int *, m->constraint.n + 1);
    for (int i = 0; i < m->constraint.n; i++) {
        const cst_constraint *c = &m->constraint.at[i];
        const cst_reach *r = &s->constraint_reach[i];
        int first, n;
        if (!touches(c, phases)) continue;
        if (has_hessian(c)) k->stiff_at[i] = stiff_starts(a, m, k->pattern, r, cols);
        if (!(n = chosen_rows(k, c, &first))) continue;
        k->jac_at[i] = cst_new(a, int, r->nt + n * r->nbody);
        int row = k->nu + first;
        cst_pattern_slots(k->pattern, 1, &row, r->nt, body_unknowns(m, r, cols), k->jac_at[i]);
        for (int j = 0; j < n; j++)
            for (int l = 0; l < r->nbody; l++) {
                int col = k->nu + first + j, row_u = first_unknown(m, r, l);
                cst_pattern_slots(k->pattern, 1, &row_u, 1, &col, k->jac_at[i] + r->nt + j * r->nbody + l);
            }
    }
    k->diag_at = cst_new(a, int, k->nrow + 1);
    for (int i = 0; i < k->nrow; i++) {
        int row = k->nu + i;
        cst_pattern_slots(k->pattern, 1, &row, 1, &row, k->diag_at + i);
    }
    k->nhold = nhold;
    k->hold = cst_new(a, cst_hold, nhold + 1);
    if (nhold) memcpy(k->hold, hold, sizeof *hold * (size_t)nhold);
    return k;
}

void cst_kkt_gather(const cst_kkt *k, const double *all, double *chosen)
{
    for (int i = 0; i < k->nrow; i++) chosen[i] = all[k->all_of[i]];
}

void cst_kkt_spread(const cst_kkt *k, const double *chosen, double *all)
{
    for (int i = 0; i < k->nrow; i++) all[k->all_of[i]] = chosen[i];
}
