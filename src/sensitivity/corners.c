/* SPDX-License-Identifier: MIT
 *
 * Objectives that are read at the instant of an event or on a kink of a law: at the end of a run,
 * at a requested instant, at a peak. The value may jump there or continue at another rate, so that
 * numbers which move one instant relative to the other have no slope or two one-sided ones. Which
 * numbers do so is not determined: warnings name the objective. For the start they are: edges.c,
 * bends.c. */
#include "sensitivity/asked.h"
#include "sensitivity/edges.h"

#include "integrator/observe.h"

#include <math.h>
#include <string.h>

#define LATER 1e-2  /* of a step */
#define AT_END 1e-9 /* of a step: an event this near to the end is there */

int cst_edge_later(cst_run *r, const cst_state *y, double dt, double *xi, cst_state *to)
{
    cst_diag quiet = {0};
    const cst_model *m = r->m;
    memcpy(to->t, y->t, sizeof(double) * cst_state_size(m));
    for (int i = 0; i < m->nu; i++)
        xi[i] = dt * (y->u[i] + dt / 2 * y->ud[i]), to->u[i] += dt * y->ud[i];
    for (int i = 0; i < m->nz; i++) to->z[i] += dt * y->zd[i];
    for (int i = 0; i < m->quad.n; i++) to->quad[i] += dt * y->qd[i];
    *to->t += dt, *to->h = 0; /* its rates are not those of a step */
    cst_move(r->s, y->q, xi, to->q);
    cst_motion_forget(r->w); /* factors of a state that is not taken */
    int ok = cst_motion_derive(r->w, to, &quiet) == CST_OK;
    cst_motion_forget(r->w);
    return ok;
}

/* Does a functional with a bar continue from y at another rate than from `other`, which is y with
 * another mode? Then the two differ by the order of the time since y, not of its square. */
static int part(cst_run *r, cst_arena *a, const double *fbar, const cst_state *y,
                const cst_state *other)
{
    const int nf = r->m->functional.n;
    double *value = cst_new(a, double, nf + 1), *wide = cst_new(a, double, nf + 1),
           *xi = cst_new(a, double, r->m->nu + 1);
    cst_state later = cst_state_view(r->m, cst_new(a, double, cst_state_size(r->m)));
    int apart = 0;
    for (int narrow = 0; narrow < 2; narrow++)
        for (int side = 0; side < 2; side++) {
            if (!cst_edge_later(r, side ? other : y, (narrow ? LATER / 4 : LATER) * r->options.step,
                                xi, &later))
                return 0;
            cst_observe_outputs(r, &later);
            for (int i = 0; i < nf; i++) {
                double v = cst_output_value(r->out, r->out->functional + i),
                       gap = fabs(v - value[i]);
                apart |= side && narrow && fbar[i] != 0 &&
                         cst_functional_jumps(&r->functional[i], v, value[i]) && gap > wide[i] / 8;
                if (side)
                    wide[i] = gap;
                else
                    value[i] = v;
            }
        }
    return apart;
}

/* For laws without modes: do the functionals (bars fbar) that are read at state n, which is y, have
 * a kink in time there? If so, (f(t + e) - 2 f(t) + f(t - e))/e does not fall with e. */
static int bends_along(cst_run *r, cst_arena *a, long n, const double *fbar, const cst_state *y)
{
    const int nf = r->m->functional.n;
    double *value[3], *wide = cst_new(a, double, nf + 1), *xi = cst_new(a, double, r->m->nu + 1),
                      e = LATER * r->options.step;
    cst_state near = cst_state_view(r->m, cst_new(a, double, cst_state_size(r->m)));
    int bends = 0;
    for (int i = 0; i < 3; i++) value[i] = cst_new(a, double, nf + 1);
    for (int narrow = 0; narrow < 2; narrow++, e /= 4) {
        for (int side = -1; side <= 1; side++) {
            if (!cst_edge_later(r, y, side * e, xi, &near)) return 0;
            cst_observe_outputs(r, &near);
            for (int i = 0; i < nf; i++)
                value[side + 1][i] = cst_output_value(r->out, r->out->functional + i);
        }
        for (int i = 0; i < nf; i++) {
            double before = value[0][i], at = value[1][i], behind = value[2][i],
                   bend = (behind - 2 * at + before) / e;
            int seen = fbar[i] != 0 && cst_functional_share(r, i, n, r->traj->n - 1) != 0;
            bends |= narrow && seen &&
                     cst_functional_jumps(&r->functional[i], behind - at, at - before) &&
                     fabs(bend) > fabs(wide[i]) / 2;
            wide[i] = bend;
        }
    }
    return bends;
}

int cst_edge_bends(cst_run *r, cst_arena *a, int functional)
{
    const cst_functional_state *f = &r->functional[functional];
    double *fbar = cst_new(a, double, r->m->functional.n + 1);
    cst_state y[2];
    fbar[functional] = 1;
    if (f->switched > 0) {
        cst_run_pair(r, f->switched, &y[0], &y[1]);
        return part(r, a, fbar, &y[0], &y[1]);
    }
    if (r->m->functional.at[functional].kind != CST_AT || f->state <= 0 ||
        f->state >= r->traj->n - 1)
        return 0;
    y[0] = cst_run_state(r, f->state);
    return fabs(f->time - *y[0].t) <= AT_END * r->options.step &&
           bends_along(r, a, f->state, fbar, &y[0]);
}

int cst_edge_corner(cst_run *r, cst_arena *a, int functional, double *t)
{
    const long n = r->functional[functional].state;
    if (r->m->functional.at[functional].kind != CST_PEAK || n <= 0 || n >= r->traj->n - 1) return 0;
    double *fbar = cst_new(a, double, r->m->functional.n + 1);
    const cst_state y = cst_run_state(r, n);
    fbar[functional] = 1, *t = *y.t;
    return *y.tag >= 0 && *y.tag < 1 && bends_along(r, a, n, fbar, &y);
}

/* The bars of what is read at the last state */
static double *read_last(const cst_run *r, cst_arena *a, const double *fbar)
{
    double *last = cst_new(a, double, r->m->functional.n + 1);
    for (int i = 0; i < r->m->functional.n; i++)
        if (cst_functional_share(r, i, r->traj->n - 1, r->traj->n - 1) != 0) last[i] = fbar[i];
    return last;
}

cst_edge_at_end cst_edge_ends(cst_run *r, cst_arena *a, const double *fbar, const char **name)
{
    const long last = r->traj->n - 1;
    cst_events *e = r->events;
    cst_state other = cst_state_view(r->m, cst_new(a, double, cst_state_size(r->m)));
    double *value = cst_new(a, double, r->m->functional.n + 1), *read = read_last(r, a, fbar);
    for (int k = 0; k < e->n && r->events_mode == CST_EVENTS_EXACT; k++) {
        const cst_state y = cst_run_state(r, last);
        cst_events_eval(e, r->s, *y.t, y.q, y.u, y.z, y.mem);
        double g = e->value[k], rate = cst_event_rate(e, r->s, k, y.q, y.u, y.ud, y.zd);
        if (rate == 0 || e->since[k] == *y.t || fabs(g) > AT_END * fabs(rate) * r->options.step)
            continue;
        for (int side = 0; side < 2;
             side++) { /* the run has ended before the event would have changed anything */
            if (!cst_edge_mode(r, &y, k, side, &other)) continue;
            *name = r->m->event.at[k].name;
            if (cst_edge_jumps(r, last, fbar, &y, &other, value)) return CST_EDGE_JUMPS;
            if (part(r, a, read, &y, &other)) return CST_EDGE_BENDS;
        }
    }
    const cst_state y = cst_run_state(r, last);
    *name = NULL;
    return bends_along(r, a, last, fbar, &y) ? CST_EDGE_BENDS : CST_EDGE_NONE;
}

/* Has event k changed its mode at the instant of state n? */
static int changed_at(cst_run *r, int k, double when, long n)
{
    while (n + 1 < r->traj->n && *cst_run_state(r, n + 1).t == when) n++;
    for (; n >= 0; n--) {
        const cst_state y = cst_run_state(r, n);
        if (*y.t != when) return 0;
        if (cst_set_of_tag(*y.tag) >= 0 &&
            cst_set_has(cst_set_at(&r->events->sets, cst_set_of_tag(*y.tag)), k))
            return 1;
    }
    return 0;
}

/* Is a peak at an instant of several events, two of which change what it reads? With another order
 * it would be another one. t: its time */
static int peak_of_several(cst_run *r, cst_arena *a, int functional, double *t)
{
    const long n = r->functional[functional].state;
    if (r->m->functional.at[functional].kind != CST_PEAK || n <= 0 ||
        r->events_mode != CST_EVENTS_EXACT)
        return 0;
    double *fbar = cst_new(a, double, r->m->functional.n + 1),
           *value = cst_new(a, double, r->m->functional.n + 1);
    cst_state other = cst_state_view(r->m, cst_new(a, double, cst_state_size(r->m)));
    const double when = *cst_run_state(r, n).t;
    int deciding = 0;
    fbar[functional] = 1, *t = when;
    for (int k = 0; k < r->events->n; k++) {
        const cst_state y = cst_run_state(r, n);
        const double mode = y.mem[r->m->event.at[k].memory];
        if (!changed_at(r, k, when, n)) continue;
        deciding += cst_edge_mode(r, &y, k, mode > 0.5 ? 0 : 1, &other) &&
                    cst_edge_jumps(r, n, fbar, &y, &other, value);
    }
    return deciding > 1;
}

/* Only warnings: most numbers move neither the event nor the instant at which the objective is
 * read. */
void cst_corners_tell(cst_run *r, cst_arena *a, const double *bars, const unsigned char *rough,
                      cst_diag *d)
{
    const cst_model *m = r->m;
    for (int o = 0; o < m->objective.n; o++) {
        const double *fbar = bars + (size_t)o * (size_t)m->functional.n;
        const char *name = NULL;
        cst_edge_at_end end = rough[o] ? CST_EDGE_NONE : cst_edge_ends(r, a, fbar, &name);
        int torn = end == CST_EDGE_JUMPS;
        int bends = 0;
        for (int i = 0; i < m->functional.n; i++) torn |= fbar[i] != 0 && r->functional[i].torn;
        for (int i = 0; i < m->functional.n && !torn && !rough[o]; i++)
            bends |= fbar[i] != 0 && cst_edge_bends(r, a, i);
        for (int i = 0; i < m->functional.n && !rough[o]; i++) {
            double t;
            if (fbar[i] == 0 || !cst_edge_corner(r, a, i, &t)) continue;
            cst_warn(d, m->objective.at[o].where,
                     "t = %.6g s: the peak of '%s' is at a corner: its slope with respect to "
                     "numbers that move the corner is one-sided",
                     t, m->objective.at[o].name);
            break;
        }
        for (int i = 0; i < m->functional.n && !rough[o]; i++) {
            double t;
            if (fbar[i] == 0 || !peak_of_several(r, a, i, &t)) continue;
            cst_warn(d, m->objective.at[o].where,
                     "t = %.6g s: the peak of '%s' is at several events at once, of which more "
                     "than one changes it: it jumps with numbers that move them apart",
                     t, m->objective.at[o].name);
            break;
        }
        if (torn && !rough[o])
            cst_warn(d, m->objective.at[o].where,
                     "objective '%s' is read at the instant of an event at which it jumps: it has "
                     "no derivative with respect to numbers that move one of these instants "
                     "relative to the other",
                     m->objective.at[o].name);
        if (bends)
            cst_warn(d, m->objective.at[o].where,
                     "objective '%s' is read at an instant at which its rate jumps: with respect "
                     "to numbers that move one of these instants relative to the other, its slope "
                     "is one-sided or the mean of both sides",
                     m->objective.at[o].name);
        if (!torn && end == CST_EDGE_BENDS)
            cst_warn(d, m->objective.at[o].where,
                     "%s at the very end of the run: slopes of '%s' with respect to numbers that "
                     "move it are those before it",
                     name ? cst_arena_printf(a, "'%s' switches", name) : "there is a kink",
                     m->objective.at[o].name);
    }
}
