/* SPDX-License-Identifier: MIT */
#include "integrator/rows.h"

#include <math.h>
#include <string.h>

#define OPEN                                                                                       \
    1e-2 /* violation, in sizes of the bodies, at which a formulation that only pulls towards phi  \
            = 0 has failed */
#define WORN 6 /* the exchange at a choice leaves coefficients of at most 4 */

/* ---- choices ---- */

static cst_choice *add(cst_arena *a, cst_choices *c, cst_system *s, const cst_structure *st,
                       const double *mem, const int *left_out)
{
    cst_choice *o = cst_push(a, &c->made);
    *o = (cst_choice){.left_out = cst_new(a, int, st->dep.ndep),
                      .size = cst_new(a, double, s->m->nrow + 1)};
    memcpy(o->left_out, left_out, sizeof *left_out * (size_t)st->dep.ndep);
    cst_arena *scratch = cst_arena_child(a);
    cst_jacobian j = cst_jacobian_rows(scratch, s, mem, CST_ROW_MOTION, st->column);
    for (int i = 0; i < j.rows.nrow; i++) {
        double sum = 0;
        for (int p = j.rows.ptr[i]; p < j.rows.ptr[i + 1]; p++)
            sum += j.rows.val[p] * j.rows.val[p];
        o->size[j.all_of[i]] = sqrt(sum);
    }
    cst_arena_free(scratch);
    return o;
}

cst_choices *cst_choices_new(cst_arena *a, cst_system *s, const cst_structure *st, cst_equations eq)
{
    if (!st->dep.ndep || eq.compliance > 0) return NULL;
    cst_choices *c = cst_new(a, cst_choices, 1);
    cst_system_place(s, s->m->sim.start, st->q);
    cst_slots_blocks(s, st->q);
    cst_choice *o = add(a, c, s, st, cst_new(a, double, s->m->memory.n + 1), st->left_out);
    o->k = st->motion, o->order = st->motion_lu;
    return c;
}

void cst_choices_begin(cst_choices *c, cst_arena *a)
{
    c->arena = a;
    c->turn.n = 0;
    *cst_push(a, &c->turn) = (cst_turn){-INFINITY, 0};
    c->worn = WORN, c->reviews = 0;
}

static int same_rows(const cst_structure *st, const cst_choice *o, const int *left_out)
{
    for (int i = 0; i < st->dep.ndep; i++)
        if (o->k->row_of[left_out[i]] >= 0) return 0;
    return 1;
}

/* The choice that leaves these rows out, made when there is none; -1: its matrix cannot be factored
 * at y */
static int choice_of(cst_choices *c, cst_motion *w, const cst_state *y, const int *left_out)
{
    const cst_structure *st = w->st;
    for (int i = 0; i < c->made.n; i++)
        if (same_rows(st, &c->made.at[i], left_out)) return i;
    cst_arena *scratch = cst_arena_child(c->arena);
    unsigned char *keep = cst_new(scratch, unsigned char, st->m->nrow + 1);
    memset(keep, 1, (size_t)st->m->nrow);
    for (int i = 0; i < st->dep.ndep; i++) keep[left_out[i]] = 0;
    cst_kkt *k = cst_kkt_new(c->arena, w->s, CST_ROW_MOTION, keep, st->nhold, st->hold);
    cst_structure_units(st, k);
    cst_lu *order = cst_structure_order(c->arena, w->s, st, k, y->q, y->mem);
    cst_arena_free(scratch);
    if (!order) return -1;
    cst_choice *o = add(c->arena, c, w->s, st, y->mem, left_out);
    o->k = k, o->order = order;
    cst_rows_open(c->arena, w, c);
    return c->made.n - 1;
}

/* ---- factors ---- */

void cst_rows_open(cst_arena *a, cst_motion *w, const cst_choices *c)
{
    w->choices = c;
    for (int i = 0; i < w->nstage; i++) cst_rows_open(a, w->stage[i], c);
    for (int i = w->factors.n; c && i < c->made.n; i++) {
        const cst_lu *order = c->made.at[i].order;
        cst_row_factors *f = cst_push(a, &w->factors);
        if (i == 0)
            *f = (cst_row_factors){w->newton, w->project, w->chart_lu, cst_lu_twin(a, order, 1)};
        else
            *f = (cst_row_factors){cst_lu_twin(a, order, 0), cst_lu_twin(a, order, 1),
                                   w->chart_lu ? cst_lu_twin(a, order, 0) : NULL,
                                   cst_lu_twin(a, order, 1)};
    }
}

static void take(cst_motion *w, int choice)
{
    for (int i = 0; i < w->nstage; i++) take(w->stage[i], choice);
    if (w->choice == choice) return;
    const cst_row_factors *f = &w->factors.at[choice];
    w->choice = choice, w->k = w->choices->made.at[choice].k,
    w->left_out = w->choices->made.at[choice].left_out;
    w->newton = f->newton, w->project = f->project, w->chart_lu = f->chart;
    cst_motion_forget(w);
}

void cst_rows_at(cst_motion *w, double t)
{
    const cst_choices *c = w->choices;
    if (!c) return;
    int i = c->turn.n - 1;
    while (i > 0 && c->turn.at[i].from > t) i--;
    take(w, c->turn.at[i].choice);
}

void cst_rows_clear(const cst_motion *w, double *lambda)
{
    for (int i = 0; w->choices && i < w->st->dep.ndep; i++) lambda[w->left_out[i]] = 0;
}

/* ---- review ---- */

/* The largest coefficient, each row in units of its norm. All rows that are left out are looked at
 * together, with weights between 1/2 and 1 of both signs, others at each review, so that nothing
 * cancels for long: K x + J^T c = sum_r s_r J_r^T, J x = 0 has x = 0 whatever K is, and Newton's
 * factors will do. */
static double largest_coefficient(const cst_choices *c, cst_motion *w, const cst_state *y)
{
    cst_system *s = w->s;
    const cst_model *m = s->m;
    const cst_kkt *k = w->k;
    const double *size = c->made.at[w->choice].size;
    double phase = 0.11 * (double)(c->reviews % 89), whole = 0, most = 0;
    cst_lu *lu = w->newton;
    cst_system_place(s, *y->t, y->q);
    if (w->factored_h == 0) {
        const cst_kkt_coef mass = {.mass = 1, .eps = w->st->eps};
        cst_slots_blocks(s, y->q);
        cst_kkt_assemble(k, s, y->q, y->z, y->mem, NULL, NULL, NULL, mass, 0, 0, w->project_val);
        lu = w->factors.at[w->choice]
                 .review; /* the factors of the steps must not be affected by this review */
        if (cst_lu_refactor(lu, w->project_val) >= 0) return INFINITY;
    }
    memset(w->phi, 0, sizeof *w->phi * (size_t)m->nrow);
    for (int i = 0; i < w->st->dep.ndep; i++) {
        phase += 0.6180339887498949, phase -= floor(phase);
        w->phi[w->left_out[i]] = phase < 0.5 ? phase - 1 : phase;
        whole = fmax(whole, size[w->left_out[i]]);
    }
    memset(s->fx, 0, sizeof *s->fx * (size_t)m->nx);
    memset(w->r, 0, sizeof *w->r * (size_t)m->nq);
    cst_reactions_add(s, y->mem, w->phi, CST_ROW_MOTION, s->fx, NULL);
    cst_slots_transpose(s, s->fx, w->r);
    memset(w->b, 0, sizeof *w->b * (size_t)k->n);
    cst_T_transpose(s, y->q, w->r, w->b);
    cst_lu_solve(lu, 1, w->b);
    for (int i = 0; i < k->nrow; i++) {
        double e = fabs(w->b[k->nu + i]) * size[k->all_of[i]];
        if (!(e <= most)) most = e;
    }
    return most / whole;
}

void cst_rows_review(cst_choices *c, cst_motion *w, const cst_state *y)
{
    if (!c) return;
    c->reviews++;
    double most = largest_coefficient(c, w, y);
    if (most <= c->worn) return;
    cst_arena *scratch = cst_arena_child(c->arena);
    int *left_out = cst_new(scratch, int, w->st->dep.ndep), next = -1;
    cst_system_place(w->s, *y->t, y->q);
    cst_slots_blocks(w->s, y->q);
    if (cst_structure_choose(scratch, w->s, w->st, y->mem, *y->t, y->q, left_out))
        next = choice_of(c, w, y, left_out);
    cst_arena_free(scratch);
    if (next >= 0 && next != w->choice) {
        *cst_push(c->arena, &c->turn) = (cst_turn){*y->t, next};
        c->worn = WORN;
    } else {
        if (isfinite(most))
            c->worn = 2 * most; /* near a singular position of all rows no choice is better */
    }
}

static const cst_constraint *constraint_of(const cst_model *m, int row)
{
    int i = 0;
    while (i + 1 < m->constraint.n && m->constraint.at[i + 1].row0 <= row) i++;
    return &m->constraint.at[i];
}

/* Redundant rows follow the rows in use: where a formulation lets these drift, they drift too. A
 * formulation that only drives phi towards 0 can lose it near a singular position; what follows
 * would be a different mechanism. */
cst_status cst_rows_watch(cst_motion *w, const cst_state *y, double *drift, cst_diag *d)
{
    const cst_kkt *k = w->k;
    const double *reach = w->st->reach;
    double kept = 0, *phi = w->s->row;
    int pulled = w->eq.b0 != 0;
    if (!w->st->dep.ndep && !pulled) return CST_OK;
    cst_constraints(w->s, y->mem, CST_ROW_MOTION, phi);
    for (int i = 0; i < k->nrow; i++) {
        double e = fabs(phi[k->all_of[i]]), part = e / reach[k->all_of[i]];
        const cst_constraint *c =
            pulled && !(part <= OPEN) ? constraint_of(w->s->m, k->all_of[i]) : NULL;
        if (c)
            return cst_error(d, CST_NUMERIC, c->where,
                             "t = %.6g s: '%s' has opened by %.3g: this formulation does not hold "
                             "its constraints here; index3 does",
                             *y->t, c->name, e);
        kept = fmax(kept, part);
    }
    for (int i = 0; i < w->st->dep.ndep; i++) {
        double e = fabs(phi[w->left_out[i]]);
        const cst_constraint *c = constraint_of(w->s->m, w->left_out[i]);
        *drift = fmax(*drift, e);
        if (!(e / reach[w->left_out[i]] <= fmax(1e-5, 100 * kept))) {
            char drives[300];
            if (cst_structure_drives(w->st, (int)(c - w->s->m->constraint.at), sizeof drives,
                                     drives) > 1)
                return cst_error(d, CST_NUMERIC, c->where,
                                 "t = %.6g s: drives that cannot be followed together: %s", *y->t,
                                 drives);
            return cst_error(d, CST_NUMERIC, c->where,
                             "t = %.6g s: the loop through '%s' no longer closes: redundant row "
                             "'%s' is open by %.3g",
                             *y->t, c->name, c->row_name, e);
        }
    }
    return CST_OK;
}
