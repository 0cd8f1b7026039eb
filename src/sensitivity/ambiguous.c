/* SPDX-License-Identifier: MIT
 *
 * Objectives that read reactions which are not unique, and in words: the components that they read,
 * and what is unique beside them. */
#include "sensitivity/ambiguous.h"
#include "sensitivity/asked.h"
#include "sensitivity/closure.h"
#include "sensitivity/direction.h"

#include <math.h>
#include <string.h>

#define SHARE 1e-7 /* of the sum without cancelling: less is rounding */

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
    const cst_null_space space = cst_null_at(r, a, y);
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
            if (fabs(share) > SHARE * size) ambiguous[o] = 1;
        }
    }
}

/* found (objectives, or twice the components of measures): as in ambiguous.h */
static cst_status look_along(cst_run *r, int measures, unsigned char *found, cst_diag *d)
{
    cst_arena a = {0};
    if (CST_ARENA_GUARD(&a)) {
        cst_arena_free(&a);
        return cst_error(d, CST_MEMORY, (cst_where){.file = r->m->file}, "out of memory");
    }
    for (int k = 0; k < CST_EXAMINED; k++) {
        cst_state y;
        if (!cst_closed_state(r, &a, k, &y)) continue;
        if (measures)
            look_at_reactions(r, &a, &y, 1, found, found + r->m->component.n);
        else
            look_at_reactions(r, &a, &y, 0, NULL, found);
    }
    cst_arena_free(&a);
    return CST_OK;
}

cst_status cst_find_ambiguous(cst_run *r, unsigned char *ambiguous, cst_diag *d)
{
    memset(ambiguous, 0, (size_t)r->m->objective.n);
    if (!r->st->dep.ndep || !r->out->needs_react) return CST_OK;
    return look_along(r, 0, ambiguous, d);
}

cst_status cst_find_ambiguous_measures(cst_run *r, unsigned char *ambiguous, cst_diag *d)
{
    int n = r->m->component.n;
    if (!r->st->dep.ndep || !r->out->needs_react) {
        memset(ambiguous, 0, (size_t)n);
        return CST_OK;
    }
    memset(ambiguous + n, 0, (size_t)n);
    cst_status ok = look_along(r, 1, ambiguous, d);
    memmove(ambiguous, ambiguous + n, (size_t)n);
    return ok;
}

/* ---- in words ---- */

/* "R.force" of "R.force.y" */
static size_t stem(const char *name)
{
    const char *dot = strrchr(name, '.');
    return dot ? (size_t)(dot - name) : 0;
}

/* What is unique of the vector of component c, in its place: "R.force.x", "hypot(R.force.x,
 * R.force.z)"; NULL: nothing */
static const char *instead_of(const cst_model *m, cst_arena *a, const unsigned char *read,
                              const unsigned char *ambiguous, int c)
{
    const char *name = m->component.at[c].name, *unique[3];
    size_t n = stem(name);
    int count = 0;
    for (int i = 0; n && i < m->component.n && count < 3; i++) {
        const char *other = m->component.at[i].name;
        if (read[i] && !ambiguous[i] && stem(other) == n && memcmp(other, name, n) == 0)
            unique[count++] = other;
    }
    return count == 1   ? unique[0]
           : count == 2 ? cst_arena_printf(a, "hypot(%s, %s)", unique[0], unique[1])
                        : NULL;
}

static void tell(cst_run *r, cst_arena *a, int o, const unsigned char *read,
                 const unsigned char *ambiguous, cst_diag *d)
{
    const cst_model *m = r->m;
    const char *names = "", *instead = NULL;
    int count = 0;
    for (int i = 0; i < m->component.n; i++) {
        if (!read[i] || !ambiguous[i]) continue;
        names =
            cst_arena_printf(a, "%s%s'%s'", names, count++ ? ", " : "", m->component.at[i].name);
        if (!instead) instead = instead_of(m, a, read, ambiguous, i);
    }
    if (!count) return;
    cst_warn(d, m->objective.at[o].where,
             "objective '%s' has no gradient: it reads %s, which redundant constraints leave open: "
             "the joints may share %s in any way%s%s",
             m->objective.at[o].name, names, count > 1 ? "them" : "it",
             instead ? "; unique, and with a gradient, is " : "", instead ? instead : "");
}

cst_status cst_ambiguous_tell(cst_run *r, const unsigned char *objectives, cst_diag *d)
{
    const cst_model *m = r->m;
    if (!memchr(objectives, 1, (size_t)m->objective.n)) return CST_OK;
    cst_arena a = {0};
    if (CST_ARENA_GUARD(&a)) {
        cst_arena_free(&a);
        return cst_error(d, CST_MEMORY, (cst_where){.file = m->file}, "out of memory");
    }
    unsigned char *ambiguous = cst_new(&a, unsigned char, 2 * m->component.n + 1),
                  *read = cst_new(&a, unsigned char, m->component.n + 1);
    unsigned char *by = cst_new(&a, unsigned char, r->objective->nreg + 1);
    memset(ambiguous, 1, (size_t)m->component.n);
    cst_status ok = cst_find_ambiguous_measures(r, ambiguous, d);
    for (int o = 0; ok == CST_OK && o < m->objective.n; o++) {
        if (!objectives[o]) continue;
        cst_tape_reach(r->objective, o, by);
        const unsigned char *outputs = cst_outputs_read(r, &a, by);
        for (int i = 0; i < m->component.n; i++) read[i] = outputs[r->out->tape->out[i]];
        tell(r, &a, o, read, ambiguous, d);
    }
    cst_arena_free(&a);
    return ok;
}
