/* SPDX-License-Identifier: MIT
 *
 * Events exactly at the start or at the end of a run.
 *
 * An event with g = 0 at the start and g' != 0 has the mode of the side that the motion goes to. With g(0) moved by dg to the other side it
 * would come at -dg/g', and until then the rates of the state would be f_, with the other mode, instead of f:
 *
 *     slope of psi to that side - slope to this one  =  -(psi_bar . (f_ - f)) g_p / g'
 *
 * Numbers with g_p != 0 have no derivative where psi_bar sees the jump. All others leave the event where it is. The same holds where g rests
 * at zero: there are two other sides then.
 *
 * What an objective reads at the first or the last state, as an acceleration, may jump with such an event itself. */
#include "sensitivity/edges.h"

#include "integrator/observe.h"

#include <math.h>
#include <string.h>

#define ROUNDING 1e-9 /* of what is subtracted */
#define STILL 1e-12   /* of the largest slope of g */
#define AT_END 1e-9   /* of a step: an event this near to the end is there */

/* other: y with a mode of event k, and what follows from it; 0: it has that mode, or nothing follows */
static int with_mode(cst_run *r, const cst_state *y, int k, double side, cst_state *other)
{
    cst_diag quiet = {0};
    memcpy(other->t, y->t, sizeof(double) * cst_state_size(r->m));
    double *mode = &other->mem[r->m->event.at[k].memory];
    if (*mode == side) return 0;
    *mode = side;
    cst_motion_forget(r->w); /* factors of a state that is not taken */
    int ok = cst_motion_derive(r->w, other, &quiet) == CST_OK;
    cst_motion_forget(r->w);
    return ok;
}

static void jump(int n, const double *bar, const double *f, const double *f_, double *sum, double *size)
{
    for (int i = 0; i < n; i++) *sum += bar[i] * (f_[i] - f[i]), *size += fabs(bar[i]) * (fabs(f_[i]) + fabs(f[i]));
}

int cst_edge_sees(const cst_run *r, const cst_adjoint *ad, int column, const cst_state *y, const cst_state *other)
{
    const cst_model *m = r->m;
    const size_t o = (size_t)column;
    double sum = 0, size = 0;
    jump(m->nu, ad->u + o * (size_t)m->nu, y->ud, other->ud, &sum, &size);
    jump(m->nz, ad->z + o * (size_t)m->nz, y->zd, other->zd, &sum, &size);
    jump(m->quad.n, ad->quad + o * (size_t)m->quad.n, y->qd, other->qd, &sum, &size);
    return fabs(sum) > ROUNDING * size;
}

int cst_edge_begin(cst_run *r, int k, int side, cst_state *y, cst_state *other)
{
    *y = cst_run_state(r, 0);
    return r->events->begins[k] && with_mode(r, y, k, side, other);
}

int cst_edge_moves(double slope, double largest) { return fabs(slope) > STILL * largest; }

int cst_edge_any(const cst_run *r)
{
    int any = 0;
    for (int k = 0; k < r->events->n && r->events_mode == CST_EVENTS_EXACT; k++) any |= r->events->begins[k];
    return any;
}

/* ---- what is read there ---- */

/* Functionals that are read at state n and jump with event k: torn (functionals) */
static void compare(cst_run *r, long n, int k, cst_state *other, double *value, int *torn)
{
    const cst_state y = cst_run_state(r, n);
    const int functionals = r->m->functional.n;
    cst_observe_outputs(r, &y);
    for (int i = 0; i < functionals; i++) value[i] = cst_output_value(r->out, r->out->functional + i);
    for (int side = 0; side < 2; side++) {
        if (!with_mode(r, &y, k, side, other)) continue;
        cst_observe_outputs(r, other);
        for (int i = 0; i < functionals; i++) {
            double a = value[i], b = cst_output_value(r->out, r->out->functional + i);
            if (cst_functional_share(r, i, n, r->traj->n - 1) != 0 && cst_functional_jumps(a, b)) torn[i] = 1;
        }
    }
}

void cst_edge_jumps(cst_run *r, cst_arena *a, int *torn)
{
    const long last = r->traj->n - 1;
    cst_events *e = r->events;
    cst_state other = cst_state_view(r->m, cst_new(a, double, cst_state_size(r->m)));
    double *value = cst_new(a, double, r->m->functional.n + 1);
    for (int k = 0; k < e->n && r->events_mode == CST_EVENTS_EXACT; k++) {
        if (e->begins[k]) compare(r, 0, k, &other, value, torn);
        const cst_state y = cst_run_state(r, last);
        cst_events_eval(e, r->s, *y.t, y.q, y.u, y.z, y.mem);
        double g = e->value[k], rate = cst_event_rate(e, r->s, k, y.q, y.u, y.ud, y.zd);
        /* The run has ended before the event would have changed anything. */
        if (rate != 0 && e->since[k] != *y.t && fabs(g) <= AT_END * fabs(rate) * r->options.step) compare(r, last, k, &other, value, torn);
    }
}
