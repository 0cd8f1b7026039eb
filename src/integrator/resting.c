/* SPDX-License-Identifier: MIT
 *
 * Laws of forces that rest on a kink, or start on a switch without leaving it: their derivative is
 * that of one side. Looked for in runs that are kept for a gradient, and only where a kink's value
 * is near zero at both ends of a step. */
#include "integrator/switching.h"

#include <math.h>
#include <string.h>

#define ROUNDING 1e-12 /* of the size of what is read */
#define TOLD 8         /* elements that are named */

/* Errors of the inputs of a tape: its coordinates have the rounding of the largest one. */
static void input_errors(const cst_run *r, const cst_tape *t, const double *reg, double *err)
{
    const cst_system *s = r->s;
    const double x[2] = {cst_run_rounding(r, 0, cst_largest(s->m->nx, s->x)),
                         cst_run_rounding(r, 1, cst_largest(s->m->nx, s->xd))};
    for (int i = 0; i < t->nchannel + t->nnumber; i++) {
        const cst_channel *c = &t->channel[i];
        err[i] = ROUNDING * fabs(reg[i]);
        if (i < t->nchannel && c->kind == CST_CH_X) err[i] = x[c->order > 0];
        if (i < t->nchannel && c->kind == CST_CH_ARG) err[i] = x[c->index > 0];
    }
    cst_tape_errors(t, reg, err);
}

void cst_rest_errors(cst_run *r)
{
    input_errors(r, r->events->tape, r->events->reg, r->events->err);
}

/* Is force i on a kink that its law sees? The system is at y: v |v| has none at rest. */
static int on_kink(cst_run *r, int i, const cst_state *y)
{
    const cst_force *f = &r->m->force.at[i];
    cst_events *e = r->events;
    double x[CST_MAX_NX], xd[CST_MAX_NX], fx[CST_MAX_NX], zd[CST_MAX_NX];
    cst_local l;
    cst_local_force(r->s, i, y->z, y->mem, &l, x, xd);
    f->cls->force(&l, fx, zd);
    input_errors(r, f->tape, l.reg, e->err);
    if (!cst_tape_on_kink(f->tape, l.reg, e->err, NULL, NULL, e->on)) return 0;
    memset(e->bar_of_law, 0, sizeof(double) * (size_t)f->tape->nreg);
    for (int k = 0; k < f->tape->nout; k++)
        e->bar_of_law[f->tape->out[k]] += 1 + sqrt(k); /* action and reaction must not cancel */
    return cst_tape_rough(f->tape, l.reg, e->err, e->on, e->bar_of_law) >= 0;
}

static void forget(cst_notice *x, int n)
{
    x->n = 0;
    for (int k = 0; k < n; k++) x->when[k] = NAN;
}

void cst_rest_begin(cst_run *r)
{
    forget(&r->events->resting, r->m->force.n);
    forget(&r->events->staying, r->events->n);
    forget(&r->events->starting, r->events->n);
}

/* The forces of kink k that are on it at y */
static void note_resting(cst_run *r, int k, double since, const cst_state *y)
{
    for (int i = 0; i < r->m->force.n; i++) {
        const cst_force *f = &r->m->force.at[i];
        if (f->tape && !strcmp(f->name, r->m->kink.at[k].name) && on_kink(r, i, y))
            cst_notice_add(&r->events->resting, i, i, since);
    }
}

static int all_finite(int n, const double *x)
{
    for (int i = 0; i < n; i++)
        if (!isfinite(x[i])) return 0;
    return 1;
}

/* The value of event k, which equalities alone read, is zero at y: are there forces or drives in
 * which something is not finite, although they are? A guard has chosen there, and what holds beside
 * has another slope. The system is at y. */
static void note_guards(cst_run *r, int k, const cst_state *y)
{
    const cst_model *m = r->m;
    double x[CST_MAX_NX], xd[CST_MAX_NX], fx[CST_MAX_NX], zd[CST_MAX_NX];
    if (!m->event.at[k].rests) return;
    for (int i = 0; i < m->force.n; i++) {
        const cst_force *f = &m->force.at[i];
        cst_local l;
        if (!f->tape) continue;
        cst_local_force(r->s, i, y->z, y->mem, &l, x, xd);
        f->cls->force(&l, fx, zd);
        if (!all_finite(f->tape->nreg, l.reg)) cst_notice_add(&r->events->guarded, k, k, *y->t);
    }
    for (int i = 0; i < m->constraint.n; i++)
        if (m->constraint.at[i].drive &&
            !all_finite(m->constraint.at[i].drive->nreg, cst_drive_eval(r->s, i, y->mem)))
            cst_notice_add(&r->events->guarded, k, k, *y->t);
}

void cst_rest_step(cst_run *r, const cst_state *y0, const cst_state *y1)
{
    cst_events *e = r->events;
    for (int k = 0; k < e->n + e->nkink && r->traj; k++) {
        if (e->judged[k] || !(cst_event_distance(e, r->m, k, e->before[k]) <= CST_NEAR_KINK))
            continue;
        if (!(cst_event_distance(e, r->m, k, e->value[k]) <= CST_NEAR_KINK)) continue;
        e->judged[k] = 1;
        if (k >= e->n) {
            note_resting(r, k - e->n, *y0->t, y1);
            continue;
        }
        cst_rest_errors(r);
        if (fabs(e->value[k]) <= e->err[e->tape->out[k]]) cst_notice_add(&e->staying, k, k, *y0->t);
    }
    for (int k = 0; k < e->n && r->traj;
         k++) /* one that rests is examined with the numbers that move it */
        if (e->value[k] == 0 && e->before[k] != 0) note_guards(r, k, y1);
    for (int k = 0; k < e->npiece && r->traj; k++) {
        const int at = e->n + e->nkink + k;
        if (e->before[at] >= CST_ON_KINK && e->value[at] >= CST_ON_KINK)
            cst_notice_add(&e->leaning, e->piece[k], k, *y0->t);
    }
}

void cst_rest_start(cst_run *r, const cst_state *y)
{
    cst_events *e = r->events;
    int asked = 0;
    for (int k = 0; k < e->n && r->traj; k++) {
        if (!(fabs(e->value[k]) <= CST_NEAR_KINK)) continue;
        double rate = cst_event_rate(e, r->s, k, y->q, y->u, y->ud, y->zd);
        if (!asked) cst_rest_errors(r), asked = 1;
        double err = e->err[e->tape->out[k]];
        if (fabs(e->value[k]) > err) continue;
        e->begins[k] = 1;
        int leaves = fabs(rate) * r->options.step > err;
        note_guards(r, k, y);
        if (!leaves && !r->w->rule->adjoint)
            cst_notice_add(&e->starting, k, k, *y->t); /* else sensitivity/edges.c knows more */
    }
}

typedef struct subject {
    const char *name;
    cst_where where;
} subject;

static subject force_of(const cst_run *r, int k)
{
    return (subject){r->m->force.at[k].name, r->m->force.at[k].where};
}
static subject event_of(const cst_run *r, int k)
{
    return (subject){r->m->event.at[k].name, r->m->event.at[k].where};
}

/* Each element once: what it is made of stands together. Of many the first ones are enough to find
 * the rest. */
static void tell(const cst_run *r, const cst_notice *x, int n, subject (*of)(const cst_run *, int),
                 const char *one, const char *many, cst_diag *d)
{
    const char *last = "";
    int told = 0;
    for (int k = 0; k < n && x->n; k++) {
        if (isnan(x->when[k])) continue;
        subject s = of(r, k);
        if (!strcmp(s.name, last)) continue;
        last = s.name;
        if (told++ < TOLD)
            cst_warn(d, s.where, "t = %.6g s: '%s' %s: the gradient is one-sided", x->when[k],
                     s.name, one);
    }
    if (told > TOLD)
        cst_warn(d, (cst_where){.file = r->m->file}, "and %d more %s", told - TOLD, many);
}

void cst_rest_closed(cst_run *r, const cst_state *y)
{
    double x[CST_MAX_NX], xd[CST_MAX_NX];
    cst_local l;
    for (int i = 0; i < r->m->force.n && !r->events->closed.n; i++) {
        const cst_force *f = &r->m->force.at[i];
        if (!f->cls->singular) continue;
        cst_local_force(r->s, i, y->z, y->mem, &l, x, xd);
        if (f->cls->singular(&l)) cst_notice_add(&r->events->closed, i, i, *y->t);
    }
}

void cst_rest_warn(const cst_run *r, cst_diag *d)
{
    const cst_events *e = r->events;
    tell(r, &e->resting, r->m->force.n, force_of, "stays on a kink of its law",
         "stay on a kink of their laws", d);
    if (e->closed.n) {
        const cst_force *f = &r->m->force.at[e->closed.k];
        cst_warn(d, f->where,
                 "t = %.6g s: the ends of '%s' coincide, and its free length or preload has no "
                 "direction: it is left out, and so is its gradient",
                 e->closed.t, f->name);
    }
    if (e->guarded.n && isnan(e->staying.when[e->guarded.k]))
        cst_warn(d, r->m->event.at[e->guarded.k].where,
                 "t = %.6g s: '%s' has its value from a guard at this state; its slopes there are "
                 "those of the guard, and if the value is not the limit, the motion jumps with "
                 "numbers that move the state off",
                 e->guarded.t, r->m->event.at[e->guarded.k].name);
    if (e->leaning.n)
        cst_warn(d, r->m->force.at[e->leaning.k].where,
                 "t = %.6g s: '%s' stays on a kink of its law (no camber): slopes with respect to "
                 "numbers that move it off are the mean of both sides, or one of them",
                 e->leaning.t, r->m->force.at[e->leaning.k].name);
    tell(r, &e->staying, e->n, event_of, "stays on its switch", "stay on their switches", d);
    tell(r, &e->starting, e->n, event_of, "starts on its switch and at rest",
         "start on their switches and at rest", d);
}
