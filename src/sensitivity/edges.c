/* SPDX-License-Identifier: MIT
 *
 * Events exactly at the start or at the end of a run.
 *
 * An event with g = 0 at the start and g' != 0 has the mode of the side that the motion goes to. With g(0) moved by dg to the other side it
 * would come at -dg/g', and until then the rates of the state would be f_, with the other mode, instead of f:
 *
 *     slope of psi to that side - slope to this one  =  -(psi_bar . (f_ - f)) g_p / g'
 *
 * Numbers with g_p != 0 have no derivative where psi_bar sees the jump. All others leave the event where it is. The same holds where g
 * rests at zero: there are two other sides then.
 *
 * What an objective reads at the first or the last state, as an acceleration, may jump with such an event itself. */
#include "sensitivity/edges.h"

#include "integrator/observe.h"
#include "number/table_eval.h"

#include <math.h>
#include <string.h>

#define ROUNDING 1e-9 /* of what is subtracted */
#define STILL 1e-12   /* of the largest slope of g */
#define LATER 1e-2   /* of a step */
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
    int follows = !r->events->of_drive[k] || cst_motion_impact(r->w, other) == CST_OK;
    int ok = follows && cst_motion_derive(r->w, other, &quiet) == CST_OK;
    cst_motion_forget(r->w);
    return ok;
}

static void jump(int n, const double *bar, const double *f, const double *f_, double *sum, double *size)
{
    for (int i = 0; i < n; i++) *sum += bar[i] * (f_[i] - f[i]), *size += fabs(bar[i]) * (fabs(f_[i]) + fabs(f[i]));
}

/* Accelerations that jump with a drive say nothing: the velocities follow the drive itself, and may jump. */
int cst_edge_sees(const cst_run *r, const cst_adjoint *ad, int column, int k, const cst_state *y, const cst_state *other)
{
    const cst_model *m = r->m;
    const size_t o = (size_t)column;
    double sum = 0, size = 0;
    cst_T(r->s, y->q, y->u, r->events->v), cst_T(r->s, y->q, other->u, r->events->a);
    jump(m->nq, ad->q + o * (size_t)m->nq, r->events->v, r->events->a, &sum, &size);
    if (!r->events->of_drive[k]) jump(m->nu, ad->u + o * (size_t)m->nu, y->ud, other->ud, &sum, &size);
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

/* Does a functional that objective o reads (bars fbar) at state n jump between y and other, which have different modes? */
static int reads_jump(cst_run *r, long n, const double *fbar, const cst_state *y, const cst_state *other, double *value)
{
    const int functionals = r->m->functional.n;
    int jumps = 0;
    cst_observe_outputs(r, y);
    for (int i = 0; i < functionals; i++) value[i] = cst_output_value(r->out, r->out->functional + i);
    cst_observe_outputs(r, other);
    for (int i = 0; i < functionals; i++) {
        if (fbar[i] == 0 || cst_functional_share(r, i, n, r->traj->n - 1) == 0) continue;
        jumps |= cst_functional_jumps(&r->functional[i], value[i], cst_output_value(r->out, r->out->functional + i));
    }
    return jumps;
}

int cst_edge_reads(cst_run *r, cst_arena *a, const double *fbar, const cst_state *y, const cst_state *other)
{
    return reads_jump(r, 0, fbar, y, other, cst_new(a, double, r->m->functional.n + 1));
}

/* y a little later, as its rates lead on, and what follows from it; 0: nothing does */
static int go_on(cst_run *r, const cst_state *y, double dt, double *xi, cst_state *to)
{
    cst_diag quiet = {0};
    const cst_model *m = r->m;
    memcpy(to->t, y->t, sizeof(double) * cst_state_size(m));
    for (int i = 0; i < m->nu; i++) xi[i] = dt * (y->u[i] + dt / 2 * y->ud[i]), to->u[i] += dt * y->ud[i];
    for (int i = 0; i < m->nz; i++) to->z[i] += dt * y->zd[i];
    for (int i = 0; i < m->quad.n; i++) to->quad[i] += dt * y->qd[i];
    *to->t += dt;
    cst_move(r->s, y->q, xi, to->q);
    cst_motion_forget(r->w); /* factors of a state that is not taken */
    int ok = cst_motion_derive(r->w, to, &quiet) == CST_OK;
    cst_motion_forget(r->w);
    return ok;
}

int cst_edge_bends(cst_run *r, cst_arena *a, int functional)
{
    const long n = r->functional[functional].switched;
    const double dt = LATER * r->options.step;
    cst_state y[2], later = cst_state_view(r->m, cst_new(a, double, cst_state_size(r->m)));
    double value[2], *xi = cst_new(a, double, r->m->nu + 1);
    if (n == 0) return 0;
    cst_run_pair(r, n, &y[0], &y[1]);
    for (int i = 0; i < 2; i++) {
        if (!go_on(r, &y[i], dt, xi, &later)) return 0;
        cst_observe_outputs(r, &later);
        value[i] = cst_output_value(r->out, r->out->functional + functional);
    }
    return cst_functional_jumps(&r->functional[functional], value[0], value[1]);
}

/* Laws without a mode: do the functionals (bars fbar) that are read at state n, which is y, bend there? (f(t + e) - 2 f(t) + f(t - e))/e
 * is not smaller for a smaller e then. */
static int bends_along(cst_run *r, cst_arena *a, long n, const double *fbar, const cst_state *y)
{
    const int nf = r->m->functional.n;
    double *value[3], *wide = cst_new(a, double, nf + 1), *xi = cst_new(a, double, r->m->nu + 1), e = LATER * r->options.step;
    cst_state near = cst_state_view(r->m, cst_new(a, double, cst_state_size(r->m)));
    int bends = 0;
    for (int i = 0; i < 3; i++) value[i] = cst_new(a, double, nf + 1);
    for (int narrow = 0; narrow < 2; narrow++, e /= 4) {
        for (int side = -1; side <= 1; side++) {
            if (!go_on(r, y, side * e, xi, &near)) return 0;
            cst_observe_outputs(r, &near);
            for (int i = 0; i < nf; i++) value[side + 1][i] = cst_output_value(r->out, r->out->functional + i);
        }
        for (int i = 0; i < nf; i++) {
            double before = value[0][i], at = value[1][i], behind = value[2][i], bend = (behind - 2 * at + before) / e;
            int seen = fbar[i] != 0 && cst_functional_share(r, i, n, r->traj->n - 1) != 0;
            bends |= narrow && seen && cst_functional_jumps(&r->functional[i], behind - at, at - before) && fabs(bend) > fabs(wide[i]) / 2;
            wide[i] = bend;
        }
    }
    return bends;
}

/* A force on a kink of its law at y, with which what is read there bends; NULL: none */
static const char *kink_at(cst_run *r, cst_arena *a, long n, const double *fbar, const cst_state *y)
{
    cst_events *e = r->events;
    cst_events_eval(e, r->s, *y->t, y->q, y->u, y->z, y->mem);
    for (int k = 0; k < e->nkink; k++) {
        const cst_kink *kink = &r->m->kink.at[k];
        double g = e->value[e->n + k], distance = kink->table ? table_kink(kink->table, g) : fabs(g);
        if (distance <= CST_NEAR_KINK) return bends_along(r, a, n, fbar, y) ? kink->name : NULL;
    }
    return NULL;
}

cst_edge_at_end cst_edge_ends(cst_run *r, cst_arena *a, const double *fbar, const char **name)
{
    const long last = r->traj->n - 1;
    const double dt = LATER * r->options.step;
    cst_events *e = r->events;
    cst_state other = cst_state_view(r->m, cst_new(a, double, cst_state_size(r->m))), later[2];
    for (int i = 0; i < 2; i++) later[i] = cst_state_view(r->m, cst_new(a, double, cst_state_size(r->m)));
    double *value = cst_new(a, double, r->m->functional.n + 1), *xi = cst_new(a, double, r->m->nu + 1);
    for (int k = 0; k < e->n && r->events_mode == CST_EVENTS_EXACT; k++) {
        const cst_state y = cst_run_state(r, last);
        cst_events_eval(e, r->s, *y.t, y.q, y.u, y.z, y.mem);
        double g = e->value[k], rate = cst_event_rate(e, r->s, k, y.q, y.u, y.ud, y.zd);
        if (rate == 0 || e->since[k] == *y.t || fabs(g) > AT_END * fabs(rate) * r->options.step) continue;
        for (int side = 0; side < 2; side++) { /* the run has ended before the event would have changed anything */
            if (!with_mode(r, &y, k, side, &other)) continue;
            *name = r->m->event.at[k].name;
            if (reads_jump(r, last, fbar, &y, &other, value)) return CST_EDGE_JUMPS;
            if (!go_on(r, &y, dt, xi, &later[0]) || !go_on(r, &other, dt, xi, &later[1])) continue;
            if (reads_jump(r, last, fbar, &later[0], &later[1], value)) return CST_EDGE_BENDS;
        }
    }
    const cst_state y = cst_run_state(r, last);
    *name = kink_at(r, a, last, fbar, &y);
    return *name ? CST_EDGE_BENDS : CST_EDGE_NONE;
}
