/* SPDX-License-Identifier: MIT
 *
 * Numbers whose change would open a loop that is closed more than once. Let n be a left null vector
 * of phi_u: a row that depends on others, n^T phi_u = 0. If n^T phi_p != 0 no motion can make up
 * for a change of p. n^T phi_p for all numbers is one adjoint pass with weights n. What counts as
 * zero is measured: the same pass with the entries of n scaled at random, so that nothing cancels.
 * Both are collected over all null vectors of a position before they are compared, because a single
 * one may leave rounding in both. Of many null vectors a few sums with random factors are taken:
 * they vanish for a number only if all of them do, and each of them has the size that all have.
 *
 * At the start the same holds of the prescribed positions with phi, and of the prescribed rates
 * with J u + phi_t = 0, where the position, too, changes with p: numbers that would contradict what
 * else is prescribed. */
#include <math.h>
#include <string.h>

#include "formulation/loops.h"
#include "sensitivity/asked.h"
#include "sensitivity/breaking.h"
#include "sensitivity/crossing.h"
#include "sensitivity/direction.h"

#define ZERO 1e-7  /* of the size that the sum has without cancelling */
#define SMALL 1e-5 /* sizes below this part of the largest count as this */
enum { FEW = 3 };  /* null vectors */

/* Rows of a problem at a state, and what their weighted sum asks of P */
typedef struct problem {
    cst_run *r;
    cst_pass *ps;
    cst_pass_at at;              /* of positions: weights on phi */
    cst_start_derivative *rates; /* not NULL: weights on the rates' conditions instead */
    cst_start_at start;
    double *x, *q, *z; /* scratch: slots twice, positions, states */
    double *P, *val;
} problem;

static problem problem_new(cst_run *r, cst_arena *a)
{
    const cst_model *m = r->m;
    problem p = {.r = r, .ps = cst_pass_new(a, r->s)};
    p.x = cst_new(a, double, 2 * m->nx + 1), p.q = cst_new(a, double, m->nq + 1),
    p.z = cst_new(a, double, m->nz + 1);
    p.P = cst_new(a, double, m->bound.n + 1),
    p.val = cst_new(a, double, cst_graph_values(m->graph) + 1);
    return p;
}

/* val: derivatives of weight . rows by the numbers */
static cst_status numbers_of(const problem *p, const double *weight)
{
    const cst_model *m = p->r->m;
    cst_status ok = CST_OK;
    memset(p->P, 0, sizeof *p->P * (size_t)m->bound.n);
    memset(p->val, 0, sizeof *p->val * (size_t)cst_graph_values(m->graph));
    if (p->rates) {
        ok = cst_start_rate_rows(p->rates, &p->start, weight, p->q, p->z, p->P);
    } else {
        const cst_adjoint_in in = {.nrhs = 1, .k0 = weight};
        const cst_adjoint_out out = {.x = p->x, .xd = p->x + m->nx, .P = p->P};
        cst_adjoint_pass(p->ps, &p->at, &in, &out);
    }
    for (int i = 0; i < m->bound.n; i++) p->val[m->bound.at[i]] += p->P[i];
    cst_graph_reverse(m->graph, p->r->s->val, p->val);
    return ok;
}

static int prescribed(const cst_model *m, const double *n)
{
    for (int i = 0; i < m->constraint.n; i++)
        if (!(m->constraint.at[i].phases & CST_ROW_MOTION) && n[m->constraint.at[i].row0] != 0)
            return 1;
    return 0;
}

void cst_null_vector(const cst_jacobian *j, const cst_rank *rank, int k, double *n)
{
    n[j->all_of[rank->dep[k]]] = 1;
    for (int i = rank->term_ptr[k]; i < rank->term_ptr[k + 1]; i++)
        n[j->all_of[rank->term_row[i]]] = -rank->term_coef[i];
}

/* Left null vectors of the rows of `phases` at q. For rows of rates the system must have its rates
 */
static cst_null_space null_at(cst_run *r, cst_arena *a, double t, const double *q,
                              const double *mem, int phases)
{
    const cst_model *m = r->m;
    cst_system_place(r->s, t, q);
    cst_slots_blocks(r->s, q);
    cst_jacobian j = cst_jacobian_rows(a, r->s, mem, phases, r->st->column);
    cst_rank rank;
    cst_null_space space = {0};
    if (!cst_rank_rows(a, &j.rows, 1e-7, &rank)) return space;
    space.at = cst_new(a, double, (size_t)rank.ndep * m->nrow + 1);
    for (int k = 0; k < rank.ndep; k++) {
        int singular = r->st->keep[j.all_of[rank.dep[k]]] &&
                       r->st->rank > rank.rank; /* a position, not a redundancy */
        if (phases == CST_ROW_MOTION && singular) continue;
        double *n = space.at + (size_t)space.n * (size_t)m->nrow;
        cst_null_vector(&j, &rank, k, n);
        if (phases == CST_ROW_MOTION || prescribed(m, n))
            space.n++;
        else
            memset(n, 0, sizeof *n * (size_t)m->nrow); /* joints alone: these are the redundancies
                                                          that breaks_at() examines */
    }
    return space;
}

/* FEW sums of the vectors with random factors and signs */
static cst_null_space sums(cst_arena *a, cst_null_space all, int nrow)
{
    cst_null_space few = {FEW, cst_new(a, double, (size_t)FEW *nrow + 1)};
    for (int s = 0; s < FEW; s++)
        for (int k = 0; k < all.n; k++) {
            double f = cst_spread(s * all.n + k),
                   c = f < 1.5 ? f : f - 3; /* 1 .. 1.5 or -1.5 .. -1 */
            for (int i = 0; i < nrow; i++)
                few.at[s * nrow + i] += c * all.at[(size_t)k * (size_t)nrow + (size_t)i];
        }
    return few;
}

/* found |= the numbers that change n . rows */
static cst_status compare(const problem *p, cst_arena *a, cst_null_space space, double zero,
                          unsigned char found, unsigned char *effect)
{
    const cst_model *m = p->r->m;
    int nleaf = cst_graph_leaves(m->graph), many = space.n > FEW;
    double *open = cst_new(a, double, nleaf + 1), *size = cst_new(a, double, nleaf + 1),
           largest = 0;
    if (many) space = sums(a, space, m->nrow);
    for (int k = 0; k < space.n; k++) {
        double *n = space.at + (size_t)k * (size_t)m->nrow;
        cst_status ok = numbers_of(p, n);
        if (ok != CST_OK) return ok;
        for (int i = 0; i < nleaf; i++)
            open[i] = fmax(open[i], fabs(p->val[cst_leaf_id(m->graph, i)]));
        if (many && k > 0) continue;
        for (int i = 0; i < m->nrow; i++) n[i] *= cst_spread(i);
        if ((ok = numbers_of(p, n)) != CST_OK) return ok;
        for (int i = 0; i < nleaf; i++)
            size[i] = fmax(size[i], fabs(p->val[cst_leaf_id(m->graph, i)]));
    }
    for (int i = 0; i < nleaf; i++) {
        if (!isfinite(size[i]))
            size[i] = 0; /* asin(s) at s = 1 must not be the measure of all others */
        largest = fmax(largest, size[i]);
    }
    for (int i = 0; i < nleaf; i++)
        if (!effect[i] && open[i] > zero * fmax(size[i], SMALL * largest)) effect[i] = found;
    return CST_OK;
}

cst_status cst_numbers_opening(cst_run *r, cst_arena *a, const double *q, const double *mem,
                               cst_null_space space, double zero, unsigned char found,
                               unsigned char *effect)
{
    problem p = problem_new(r, a);
    p.at = (cst_pass_at){.q = q, .v = p.q, .mem = mem, .phases = CST_ROW_MOTION};
    cst_system_rates(r->s, p.q);
    return compare(&p, a, space, zero, found, effect);
}

void cst_rows_slopes(cst_run *r, cst_arena *a, const double *q, const double *mem,
                     const double *weight, double *slope)
{
    const cst_model *m = r->m;
    problem p = problem_new(r, a);
    p.at = (cst_pass_at){.q = q, .v = p.q, .mem = mem, .phases = CST_ROW_MOTION};
    cst_system_rates(r->s, p.q);
    numbers_of(&p, weight);
    for (int i = 0; i < cst_graph_leaves(m->graph); i++) slope[i] = p.val[cst_leaf_id(m->graph, i)];
}

static void breaks_at(cst_run *r, cst_arena *a, const cst_state *y, unsigned char *effect)
{
    cst_null_space space = null_at(r, a, *y->t, y->q, y->mem, CST_ROW_MOTION);
    cst_numbers_opening(r, a, y->q, y->mem, space, ZERO, CST_BREAKS_LOOP, effect);
}

void cst_loop_columns(cst_run *r, cst_arena *a, const unsigned char *joint, const cst_state *y,
                      int *part, double *size)
{
    const cst_model *m = r->m;
    double *length = cst_new(a, double, m->body.n + 1);
    cst_system_place(r->s, *y->t, y->q);
    cst_loops_sizes(a, m, joint, r->s->x, part, length);
    memcpy(size, r->st->column, sizeof *size * (size_t)m->nu);
    for (int b = 0; b < m->body.n; b++)
        for (int i = 0; length[b] > 0 && m->body.at[b].cls->nvec && i < 3; i++)
            size[m->body.at[b].u0 + i] = length[b];
}

/* Of the numbers that do not break a loop in first order: those that do in second */
static void breaks_in_second_order(cst_run *r, cst_arena *a, const cst_state *y,
                                   unsigned char *effect)
{
    const cst_model *m = r->m;
    const int nleaf = cst_graph_leaves(m->graph);
    unsigned char *row = cst_new(a, unsigned char, m->nrow + 1),
                  *apart = cst_new(a, unsigned char, m->nrow + 1);
    unsigned char *wanted = cst_new(a, unsigned char, nleaf + 1),
                  *breaks = cst_new(a, unsigned char, nleaf + 1);
    unsigned char *in_loop = cst_new(a, unsigned char, m->body.n + 1),
                  *joint = cst_new(a, unsigned char, m->joint.n + 1);
    double *typical = cst_new(a, double, m->nrow + 1), *size = cst_new(a, double, m->nu + 1);
    cst_loops_find(a, m, in_loop, joint);
    cst_loop_columns(r, a, joint, y, cst_new(a, int, m->body.n + 1), size);
    cst_meeting at = {.t = *y->t,
                      .q = y->q,
                      .mem = y->mem,
                      .size = size,
                      .row = row,
                      .typical = typical,
                      .apart = apart};
    at.always = 1;
    at.space = null_at(r, a, *y->t, y->q, y->mem, CST_ROW_MOTION);
    const cst_jacobian j = cst_jacobian_rows(a, r->s, y->mem, CST_ROW_MOTION, size);
    cst_rank rank;
    if (!at.space.n || !cst_rank_rows(a, &j.rows, 1e-7, &rank)) return;
    for (int i = 0; i < j.rows.nrow; i++) {
        double sum = 0;
        for (int p = j.rows.ptr[i]; p < j.rows.ptr[i + 1]; p++)
            sum += j.rows.val[p] * j.rows.val[p];
        typical[j.all_of[i]] = sqrt(sum);
    }
    for (int k = 0; k < m->joint.n; k++)
        for (int c = m->joint.at[k].first; joint[k] && c < m->joint.at[k].first + m->joint.at[k].n;
             c++)
            memset(row + m->constraint.at[c].row0, 1, (size_t)m->constraint.at[c].cls->nphi);
    for (int k = 0; k < rank.ndep; k++) apart[j.all_of[rank.dep[k]]] = 1;
    for (int i = 0; i < nleaf; i++) wanted[i] = !effect[i];
    if (cst_numbers_parting(r, a, &at, wanted, breaks) != CST_CROSSES) return;
    for (int i = 0; i < nleaf; i++)
        if (breaks[i]) effect[i] = CST_BREAKS_LOOP;
}

/* Each problem of the start has its own rows: positions and joints, then rates and the joints'
 * rates */
static cst_status look_at_start(cst_run *r, cst_arena *a, unsigned char *effect)
{
    cst_system *s = r->s;
    cst_state y = cst_run_state(r, 0);
    problem p = problem_new(r, a);
    const double *q = r->statics ? r->statics->assembled : y.q;
    const int positions = CST_ROW_MOTION | CST_ROW_ASSEMBLY, rates = CST_ROW_MOTION | CST_ROW_RATE;
    cst_system_rest(s);
    cst_null_space space = null_at(r, a, *y.t, q, r->mem_drawn, positions);
    p.at = (cst_pass_at){.q = q, .v = p.q, .mem = r->mem_drawn, .phases = positions};
    cst_status ok = compare(&p, a, space, ZERO, CST_CONTRADICTS, effect);

    p.rates = cst_start_derivative_new(a, r->start, p.ps);
    p.start = cst_run_start_at(r, &y);
    cst_system_place(s, *y.t, y.q);
    cst_T(s, y.q, y.u, p.q);
    cst_system_rates(s, p.q);
    space = null_at(r, a, *y.t, y.q, y.mem, rates);
    return ok == CST_OK ? compare(&p, a, space, ZERO, CST_CONTRADICTS, effect) : ok;
}

/* Seeds of the outputs that count: an objective's functionals, or one component of a measure. */
static void ask(cst_run *r, int measures, int o, double *fbar, double *val, unsigned char *reach,
                double *seed)
{
    memset(seed, 0, sizeof *seed * (size_t)r->out->tape->nout);
    if (measures) {
        seed[o] = 1;
        return;
    }
    cst_objective_reverse(r, o, fbar, val);
    cst_tape_reach(r->objective, o, reach);
    for (int i = 0; i < r->objective->nchannel;
         i++) { /* also where the slope happens to be 0, as that of a square at 0 */
        int f = r->objective->channel[i].index;
        if (reach[i]) seed[r->out->functional + f] = fbar[f] != 0 ? fbar[f] : 1;
    }
}

/* Other multipliers with the same forces, lambda + sum of null vectors. At lambda itself an
 * objective may be stationary, such as the square of a reaction that is 0. */
static const double *other_multipliers(cst_arena *a, const cst_model *m, cst_null_space space,
                                       const double *lambda)
{
    double *to = cst_new(a, double, m->nrow + 1), size = cst_largest(m->nrow, lambda);
    memcpy(to, lambda, sizeof *to * (size_t)m->nrow);
    for (int k = 0; k < space.n; k++)
        for (int i = 0; i < m->nrow; i++)
            to[i] += cst_spread(k) * (size > 0 ? size : 1) *
                     space.at[(size_t)k * (size_t)m->nrow + (size_t)i];
    return to;
}

/* A reaction is unique when what asks for the multipliers, lambda_bar, has no share in a null
 * vector. The shares of the functionals at this state do not matter for that: all are asked for at
 * once. */
static void look_at_reactions(cst_run *r, cst_arena *a, const cst_state *y, int measures,
                              const unsigned char *asked, unsigned char *ambiguous)
{
    const cst_model *m = r->m;
    int nout = r->out->tape->nout, nval = cst_graph_values(m->graph);
    double *fbar = cst_new(a, double, m->functional.n + 1), *val = cst_new(a, double, nval + 1);
    double *seed = cst_new(a, double, nout + 1), *quad = cst_new(a, double, m->quad.n + 1);
    double *x = cst_new(a, double, 3 * m->nx + 1), *force = cst_new(a, double, m->nforce + 1);
    double *z = cst_new(a, double, m->nz + 1), *q = cst_new(a, double, 3 * m->nq + 1),
           *P = cst_new(a, double, m->bound.n + 1);
    cst_pass *ps = cst_pass_new(a, r->s);
    cst_null_space space = null_at(r, a, *y->t, y->q, y->mem, CST_ROW_MOTION);
    const double *other = other_multipliers(a, m, space, y->lambda);
    unsigned char *reach = cst_new(a, unsigned char, r->objective->nreg + 1);
    for (int o = 0; o < (measures ? m->component.n : m->objective.n) && space.n; o++) {
        if (asked && !asked[o]) continue;
        double *react = cst_new(a, double, m->nreact + 1),
               *lambda = cst_new(a, double, m->nrow + 1);
        const cst_point_of_motion here = {*y->t, y->q, y->u, y->ud, y->z, y->mem, y->quad, other};
        cst_output_eval(r->out, r->s, &here);
        memset(quad, 0, sizeof *quad * (size_t)m->quad.n);
        ask(r, measures, o, fbar, val, reach, seed);
        cst_output_quad_bars(r->out, 1, seed, quad);
        for (int i = 0; i < m->quad.n; i++) seed[r->out->quad + i] = quad[i];
        cst_T(r->s, y->q, y->u, q);
        const cst_pass_at at = {
            .q = y->q, .v = q, .z = y->z, .mem = y->mem, .phases = CST_ROW_MOTION};
        const cst_output_bars bars = {x,     x + m->nx, x + 2 * m->nx, force,
                                      react, z,         q + m->nq,     q + 2 * m->nq,
                                      P,     val,       NULL};
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

/* At the start, half way and at the end; or half way alone */
static cst_status look_along(cst_run *r, looker *at, int alone, unsigned char *found, cst_diag *d)
{
    cst_arena a = {0};
    if (CST_ARENA_GUARD(&a)) {
        cst_arena_free(&a);
        return cst_error(d, CST_MEMORY, (cst_where){.file = r->m->file}, "out of memory");
    }
    long last = r->traj->n - 1;
    for (int k = alone; k < 3 - alone; k++) {
        cst_state y = cst_run_state(r, last * k / 2);
        at(r, &a, &y, found);
    }
    cst_arena_free(&a);
    return CST_OK;
}

static int prescribes(const cst_model *m)
{
    for (int i = 0; i < m->constraint.n; i++)
        if (m->constraint.at[i].phases & (CST_ROW_ASSEMBLY | CST_ROW_RATE)) return 1;
    return 0;
}

cst_status cst_find_breaking(cst_run *r, unsigned char *effect, cst_diag *d)
{
    cst_where here = {.file = r->m->file};
    memset(effect, 0, (size_t)cst_graph_leaves(r->m->graph));
    cst_status ok = r->st->dep.ndep ? look_along(r, breaks_at, 0, effect, d) : CST_OK;
    if (ok == CST_OK && r->st->dep.ndep) ok = look_along(r, breaks_in_second_order, 1, effect, d);
    if (ok != CST_OK || !prescribes(r->m)) return ok;
    cst_arena a = {0};
    if (CST_ARENA_GUARD(&a)) {
        cst_arena_free(&a);
        return cst_error(d, CST_MEMORY, here, "out of memory");
    }
    ok = look_at_start(r, &a, effect);
    cst_arena_free(&a);
    return ok == CST_OK
               ? ok
               : cst_error(d, ok, here, "the derivative of the start has a singular matrix");
}

cst_status cst_find_ambiguous(cst_run *r, unsigned char *ambiguous, cst_diag *d)
{
    memset(ambiguous, 0, (size_t)r->m->objective.n);
    return r->st->dep.ndep && r->out->needs_react ? look_along(r, look_objectives, 0, ambiguous, d)
                                                  : CST_OK;
}

cst_status cst_find_ambiguous_measures(cst_run *r, unsigned char *ambiguous, cst_diag *d)
{
    int n = r->m->component.n;
    if (!r->st->dep.ndep || !r->out->needs_react) {
        memset(ambiguous, 0, (size_t)n);
        return CST_OK;
    }
    memset(ambiguous + n, 0, (size_t)n);
    cst_status ok = look_along(r, look_measures, 0, ambiguous, d);
    memmove(ambiguous, ambiguous + n, (size_t)n);
    return ok;
}
