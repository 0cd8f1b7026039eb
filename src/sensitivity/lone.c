/* SPDX-License-Identifier: MIT
 *
 * An integrand g(x(t)) that is on a kink at a single state: abs(x) of a motion that starts at x =
 * 0. A single instant does not matter to the integral, whose derivative is made of slopes of g on
 * either side. But in its sum
 *
 *     h_l/2 (g_n-1 + g_n) + h_r/2 (g_n + g_n+1)
 *
 * g_n has a slope to each side, and a mean of them, or one of them, is wrong by the order of the
 * step. In the step to the left the slope is that inside of it, in the step to the right that
 * inside of this one: g is differentiated beside state n, towards its neighbours. That is a
 * derivative of the sum to one side, or a mean of both, and converges like the sum itself.
 * Runge-Kutta rules sum over stages as well, of which only the first of a step is a state.
 *
 * Slopes that grow without bound towards the kink, as of sqrt(abs(x)), say nothing there: the state
 * has the partials of its own. */
#include "sensitivity/lone.h"

#include "integrator/observe.h"

#include <string.h>

enum { LEFT, RIGHT };
#define FARTHER 64.0
#define NEAR                                                                                       \
    0x1p-26 /* of the way to the neighbour: beyond the rounding of x, but too near for the slope   \
               to change */

void cst_lone_begin(cst_run *r) { r->lone.n = 0; }

/* All registers of the point near to state n, whose channels are in reg, on the way to `to`. Modes
 * and counted turns stay. */
static void move(const cst_tape *t, double near, const double *to, double *reg)
{
    for (int i = 0; i < t->nchannel; i++)
        if (t->channel[i].kind != CST_CH_MEM) reg[i] += near * (to[i] - reg[i]);
    cst_tape_eval(t, reg);
}

/* dot: changes of the inputs at state n. Are the changes of the integrands nearly the same at two
 * places beside it, that is, bounded? */
static int bounded(cst_run *r, const double *dot, const double *to, double *reg)
{
    const cst_output *o = r->out;
    const cst_tape *t = o->tape;
    const size_t inputs = sizeof *dot * (size_t)(t->nchannel + t->nnumber);
    double *at[2] = {r->lone_work, r->lone_work + t->nreg}, change[2];
    int ok = 1;
    for (int far = 0; far < 2; far++) {
        memcpy(at[far], reg, sizeof *reg * (size_t)t->nreg);
        move(t, far ? FARTHER * NEAR : NEAR, to, at[far]);
    }
    for (int i = 0; i < r->m->quad.n && ok; i++) {
        for (int far = 0; far < 2; far++) {
            memcpy(r->lone_work + 2 * t->nreg, dot, inputs);
            cst_tape_forward(t, at[far], r->lone_work + 2 * t->nreg);
            change[far] = fabs(r->lone_work[2 * t->nreg + t->out[o->quad + i]]);
        }
        ok = !(change[0] > 2 * change[1]) || change[1] == 0;
    }
    memcpy(reg, at[0], sizeof *reg * (size_t)t->nreg);
    return ok;
}

void cst_lone_add(cst_run *r, long n, const double *before, double h, const double *dot)
{
    const cst_tape *t = r->out->tape;
    cst_lone *l = cst_push(&r->arena, &r->lone);
    l->n = n;
    for (int side = 0; side < 2; side++) {
        if (!l->beside.reg[side]) l->beside.reg[side] = cst_new(&r->arena, double, t->nreg + 1);
        memcpy(l->beside.reg[side], r->out->reg, sizeof(double) * (size_t)t->nreg);
    }
    l->beside.share[LEFT] = before && h > 0 ? h : 0, l->beside.share[RIGHT] = 0;
    if (l->beside.share[LEFT] > 0 && !bounded(r, dot, before, l->beside.reg[LEFT])) r->lone.n--;
}

/* Lengths of the two steps become shares of both. */
void cst_lone_end(cst_run *r, long n, double h, const double *dot)
{
    cst_lone *l = r->lone.n ? &r->lone.at[r->lone.n - 1] : NULL;
    if (!l || l->n != n) return;
    cst_beside *b = &l->beside;
    double left = b->share[LEFT], both = left + h;
    if (h > 0 && !bounded(r, dot, r->out->reg, b->reg[RIGHT])) {
        r->lone.n--;
        return;
    }
    b->share[LEFT] = both > 0 ? left / both : 1, b->share[RIGHT] = both > 0 ? h / both : 0;
}

const cst_beside *cst_lone_inside(cst_run *r, const cst_state *y0)
{
    const cst_output *o = r->out;
    const cst_tape *t = o->tape;
    cst_beside *b = &r->lone_inside;
    double *dot = r->lone_work + 3 * t->nreg;
    if (!r->m->quad.n || cst_tape_kink(t, o->reg) > CST_TOUCHED) return NULL;
    memcpy(b->reg[LEFT], o->reg, sizeof(double) * (size_t)t->nreg);
    memcpy(dot, o->bar, sizeof(double) * (size_t)t->nreg);
    cst_observe_outputs(r, y0);
    b->share[LEFT] = 1, b->share[RIGHT] = 0;
    return bounded(r, dot, o->reg, b->reg[LEFT]) ? b : NULL;
}

const cst_beside *cst_lone_at(const cst_run *r, long n)
{
    int low = 0, high = r->lone.n; /* they were met in order */
    while (low < high) {
        int mid = low + (high - low) / 2;
        if (r->lone.at[mid].n < n)
            low = mid + 1;
        else
            high = mid;
    }
    return low < r->lone.n && r->lone.at[low].n == n ? &r->lone.at[low].beside : NULL;
}
