/* SPDX-License-Identifier: MIT
 *
 * Bounds of rounding in outputs and objectives. Coordinates have the rounding of the largest one,
 * rates and accelerations also that of coordinates in differences over a step, forces and reactions
 * that of the largest force; from these a bound for each register follows with its partials, for
 * integrals with the length of steps, and for objectives. */
#include "sensitivity/rounding.h"
#include "sensitivity/asked.h"

#include "integrator/observe.h"
#include "integrator/traj.h"

#include <math.h>

#define ROUNDING 1e-12 /* of the size of what is read */
enum { ORDERS = 3 };

cst_rounding cst_rounding_new(cst_arena *a, cst_run *r)
{
    const cst_model *m = r->m;
    return (cst_rounding){.r = r,
                          .err = cst_new(a, double, r->out->tape->nreg + 1),
                          .quad_err = cst_new(a, double, m->quad.n + 1),
                          .functional_err = cst_new(a, double, m->functional.n + 1)};
}

int cst_is_kinetic(const cst_channel *c)
{
    return c->kind == CST_CH_SYSTEM && c->index == CST_SYS_KINETIC;
}

void cst_rounding_state(cst_rounding *s)
{
    const cst_run *r = s->r;
    const cst_output *o = r->out;
    const cst_tape *t = o->tape;
    const double now[CST_SIZES] = {cst_largest(r->m->nx, r->s->x), cst_largest(r->m->nx, r->s->xd),
                                   o->needs_xdd ? cst_largest(r->m->nx, o->xdd) : 0,
                                   o->needs_force ? cst_largest(r->m->nforce, o->force) : 0,
                                   o->needs_react ? cst_largest(r->m->nreact, o->react) : 0};
    double rounding[ORDERS];
    for (int i = 0; i < CST_SIZES; i++) s->size[i] = fmax(s->size[i], now[i]);
    for (int i = 0; i < ORDERS; i++) rounding[i] = cst_run_rounding(r, i, s->size[i]);
    for (int i = 0; i < t->nchannel + t->nnumber; i++) {
        const cst_channel *c = &t->channel[i];
        s->err[i] = ROUNDING * fabs(o->reg[i]);
        if (i < t->nchannel && cst_is_kinetic(c))
            s->err[i] += r->m->nu * r->st->heaviest * rounding[1] * rounding[1];
        if (i < t->nchannel && c->kind == CST_CH_X) s->err[i] = rounding[c->order];
        if (i < t->nchannel && c->kind == CST_CH_FORCE)
            s->err[i] = ROUNDING * s->size[CST_SIZE_FORCE];
        if (i < t->nchannel && c->kind == CST_CH_REACT)
            s->err[i] = ROUNDING * fmax(s->size[CST_SIZE_REACT], s->size[CST_SIZE_FORCE]);
        if (i < t->nchannel && c->kind == CST_CH_MEM) s->err[i] = 0;
        if (i < t->nchannel && c->kind == CST_CH_QUAD) s->err[i] = s->quad_err[c->index];
    }
    cst_tape_errors(t, o->reg, s->err);
}

void cst_rounding_add(cst_rounding *s, long n, double h)
{
    const cst_run *r = s->r;
    const cst_output *o = r->out;
    const int *out = o->tape->out;
    for (int q = 0; q < r->m->quad.n; q++) s->quad_err[q] += h * s->err[out[o->quad + q]];
    for (int i = 0; i < r->m->functional.n; i++)
        if (cst_functional_share(r, i, n, r->traj->n - 1) != 0)
            s->functional_err[i] = fmax(s->functional_err[i], s->err[out[o->functional + i]]);
}

double *cst_rounding_objectives(const cst_rounding *s, cst_arena *a)
{
    const cst_run *r = s->r;
    const cst_tape *t = r->objective;
    double *err = cst_new(a, double, t->nreg + 1);
    for (int i = 0; i < t->nchannel; i++) err[i] = s->functional_err[t->channel[i].index];
    for (int i = t->nchannel; i < t->nchannel + t->nnumber; i++)
        err[i] = ROUNDING * fabs(r->objective_reg[i]);
    cst_tape_errors(t, r->objective_reg, err);
    return err;
}

cst_status cst_objectives_rounding(cst_run *r, double *rounding, cst_diag *d)
{
    cst_arena a = {0};
    if (CST_ARENA_GUARD(&a)) {
        cst_arena_free(&a);
        return cst_error(d, CST_MEMORY, (cst_where){.file = r->m->file}, "out of memory");
    }
    cst_rounding known = cst_rounding_new(&a, r);
    for (long n = 0; n < r->traj->n; n++) {
        cst_state y = cst_run_state(r, n);
        double h;
        cst_traj_tag(r->traj, n, &h);
        cst_observe_outputs(r, &y);
        cst_rounding_state(&known);
        cst_rounding_add(&known, n, h);
    }
    const double *err = cst_rounding_objectives(&known, &a);
    for (int o = 0; o < r->m->objective.n; o++) rounding[o] = err[r->objective->out[o]];
    cst_arena_free(&a);
    return CST_OK;
}
