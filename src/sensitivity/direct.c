/* SPDX-License-Identifier: MIT
 *
 * One forward sweep along the stored trajectory for several numbers at once: the matrices of a step
 * are factored once. */
#include <math.h>
#include <string.h>

#include "sensitivity/asked.h"
#include "sensitivity/direction.h"
#include "sensitivity/methods.h"

static void functionals_change(const cst_run *r, cst_direction *dir, long n, long last)
{
    for (int i = 0; i < r->m->functional.n; i++) {
        const double share = cst_functional_share(r, i, n, last),
                     y = cst_output_change(r->out, r->out->functional + i);
        if (share == 0) continue;
        const int stays = r->m->functional.at[i].kind ==
                          CST_AT; /* at an instant that does not move with the state */
        dir->functional[i] += share * (stays ? y - r->functional[i].slope * dir->t->t : y);
    }
}

/* Changes of the samples in direction k: see integrator/samples.h. */
static void samples_change(const cst_run *r, const cst_direction *dir, int k, long n)
{
    const cst_samples *s = r->samples;
    int first, end;
    cst_samples_range(s, n, &first, &end);
    for (int i = first; i < end; i++) {
        double y = cst_output_change(r->out, s->at[i].measure) - s->slope[i] * dir->t->t;
        s->jacobian[(size_t)i * (size_t)s->cols + (size_t)(s->first + k)] +=
            cst_samples_share(s, i, n) * y;
    }
}

void cst_direction_at(cst_run *r, const cst_tangent *t, const cst_state *y, const double *mem)
{
    cst_system *s = r->s;
    cst_events_eval(r->events, s, *y->t, y->q, y->u, y->z, mem);
    cst_T(s, y->q, t->u, t->v);
    cst_L_add(s, t->q, y->u, t->v);
    const cst_pass_at at = {.q = y->q, .v = r->events->v};
    const cst_tangent_in in = {.q = t->q, .v = t->v, .P = t->P};
    const cst_tangent_out out = {.x = t->x, .xd = t->xd};
    cst_tangent_pass(t->pass, &at, &in, &out);
}

/* Change of event k's value at y1 with the change of the state in t. */
static double event_change(cst_run *r, int k, const cst_tangent *t, const cst_state *y0,
                           const cst_state *y1)
{
    cst_direction_at(r, t, y1, y0->mem);
    return cst_event_forward(r->events, k, t->x, t->xd, t->z, t->t, t->val);
}

static void add(int n, double c, const double *x, double *y)
{
    for (int i = 0; i < n; i++) y[i] += c * x[i];
}

/* A step that ends at event k: the change of its length keeps g at zero. */
static void keep_event(cst_run *r, int k, const cst_tangent *unit, double rate, cst_tangent *t,
                       const cst_state *y0, const cst_state *y1)
{
    const cst_model *m = r->m;
    double dh = -event_change(r, k, t, y0, y1) / rate;
    add(m->nq, dh, unit->q, t->q), add(m->nu, dh, unit->u, t->u);
    add(m->nz, dh, unit->z, t->z), add(m->quad.n, dh, unit->quad, t->quad);
    add(m->nu, dh, unit->ud, t->ud),
        add(m->nrow, dh, unit->lambda, t->lambda); /* of the step, or derived anew next */
    add(m->nu, dh, unit->carried, t->carried);
    t->t += dh;
}

/* t: derivative of y1 by the length of the step y0 -> y1, whose matrices are at hand; of a step of
 * length zero the rates of the motion */
static cst_status length_direction(cst_run *r, cst_tangent *t, const cst_state *y0,
                                   const cst_state *y1)
{
    const cst_model *m = r->m;
    cst_tangent_clear(t);
    t->t = t->h = 1;
    if (*y1->h > 0) return cst_rule_of(t->w, *y1->h)->tangent(t, y0, y1, 0);
    cst_T(r->s, y1->q, y1->u, t->q);
    memcpy(t->u, y1->ud, sizeof(double) * (size_t)m->nu);
    memcpy(t->z, y1->zd, sizeof(double) * (size_t)m->nz);
    memcpy(t->quad, y1->qd, sizeof(double) * (size_t)m->quad.n);
    return CST_OK;
}

static cst_status step(cst_run *r, int ndir, cst_direction *dir, cst_direction *unit,
                       const cst_state *y0, const cst_state *y1)
{
    int k = (int)*y1->tag - 1, exact = r->events_mode == CST_EVENTS_EXACT;
    cst_status ok = CST_OK;
    for (int i = 0; i<ndir && * y1->h> 0; i++) {
        cst_tangent *t = dir[i].t;
        int given = k < 0 && *y1->tag != CST_TAG_FREE; /* on the grid t1 is fixed */
        t->h = exact && given ? -t->t : 0;
        if (given) t->t = 0;
        if ((ok = cst_rule_of(t->w, *y1->h)->tangent(t, y0, y1, i == 0)) != CST_OK) return ok;
    }
    if (k < 0 || !exact) return CST_OK;
    if ((ok = length_direction(r, unit->t, y0, y1)) != CST_OK) return ok;
    const double rate = event_change(r, k, unit->t, y0, y1);
    for (int i = 0; i < ndir; i++) keep_event(r, k, unit->t, rate, dir[i].t, y0, y1);
    return CST_OK;
}

void cst_direction_observe(cst_run *r, cst_direction *dir, int k, long n)
{
    functionals_change(r, dir, n, r->traj->n - 1);
    if (r->samples) samples_change(r, dir, k, n);
    if (dir->visit) dir->visit(dir->ctx, n);
}

static cst_status sweep(cst_run *r, void *ctx, int ndir, cst_direction *dir)
{
    cst_direction *unit = ctx;
    const cst_traj *tr = r->traj;
    cst_status ok = CST_OK;
    for (long n = 0; n < (dir->states ? dir->states : tr->n); n++) {
        cst_state y0, y1;
        if (!cst_run_goes_on(r, "forward sweep", (double)n / (double)tr->n)) return CST_STOPPED;
        if (n > 0)
            cst_run_pair(r, n, &y0, &y1);
        else
            y0 = y1 = cst_run_state(r, 0);
        cst_rows_at(dir->t->w, *y0.t);
        int jump = *y1.tag < 0 || *y1.tag == CST_TAG_HOLD;
        for (int k = 0; k < ndir && *y1.tag < 0 && r->events->drives; k++)
            if ((ok = cst_tangent_impact(dir[k].t, &y0, &y1, k == 0)) != CST_OK) return ok;
        for (int k = 0; k < ndir && *y1.tag == CST_TAG_HOLD; k++)
            for (int i = 0; i < r->m->held.n; i++) dir[k].t->z[r->m->held.at[i].z] = dir[k].held[i];
        if (n > 0 && !jump && (ok = step(r, ndir, dir, unit, &y0, &y1)) != CST_OK) return ok;
        jump |= n > 0 && *y1.h == 0; /* no matrix was made */
        for (int k = 0; k < ndir; k++) {
            ok = cst_tangent_derive(dir[k].t, &y1, (n == 0 || jump) && k == 0);
            if (ok != CST_OK) return ok;
            cst_direction_observe(r, &dir[k], k, n);
            for (int i = 0; i < r->m->held.n; i++)
                dir[k].held[i] = cst_output_change(r->out, r->out->held + i);
        }
    }
    return CST_OK;
}

/* What the objective does not read, or the number does not move, contributes nothing, even if its
 * partial is not finite: 0 NaN = 0 */
static double product(double bar, double dot) { return bar == 0 || dot == 0 ? 0 : bar * dot; }

/* The start's change in the direction of dir->val at the leaves */
static cst_status begin(cst_run *r, cst_start_derivative *sd, cst_direction *dir)
{
    const cst_model *m = r->m;
    cst_state y = cst_run_state(r, 0);
    const cst_start_at at = cst_run_start_at(r, &y);
    cst_tangent *t = dir->t;
    memset(dir->functional, 0, sizeof(double) * (size_t)m->functional.n);
    cst_graph_forward(m->graph, r->s->val, dir->val);
    for (int i = 0; i < m->bound.n; i++) dir->P[i] = dir->val[m->bound.at[i]];
    t->P = dir->P, t->val = dir->val;
    memset(t->quad, 0, sizeof(double) * (size_t)m->quad.n);
    t->t = t->h = 0;
    return cst_start_tangent(sd, &at, t->P, t->q, t->u, t->z);
}

static cst_status group(cst_run *r, cst_arena *a, cst_start_derivative *sd,
                        const cst_sweep_of *sweep, int ndir, cst_direction *dir, const int *leaf,
                        int nleaf, double *grad)
{
    const cst_model *m = r->m;
    for (int k = 0; k < ndir; k++) {
        memset(dir[k].val, 0, sizeof(double) * (size_t)cst_graph_values(m->graph));
        dir[k].val[cst_leaf_id(m->graph, leaf[k])] = 1;
        cst_status ok = begin(r, sd, &dir[k]);
        if (ok != CST_OK) return ok;
    }
    cst_status ok = sweep->run(r, sweep->ctx, ndir, dir);
    double *fbar = cst_new(a, double, m->functional.n + 1),
           *val = cst_new(a, double, cst_graph_values(m->graph) + 1);
    for (int o = 0; ok == CST_OK && o < m->objective.n; o++) {
        memset(val, 0, sizeof *val * (size_t)cst_graph_values(m->graph));
        cst_objective_reverse(r, o, fbar, val);
        for (int k = 0; k < ndir; k++) {
            double y1 = 0;
            for (int i = 0; i < m->functional.n; i++) y1 += product(fbar[i], dir[k].functional[i]);
            for (int i = 0; i < cst_graph_values(m->graph); i++)
                y1 += product(val[i], dir[k].val[i]);
            grad[(size_t)o * (size_t)nleaf + (size_t)k] = y1;
        }
    }
    return ok;
}

cst_direction *cst_directions_new(cst_arena *a, const cst_run *r, cst_motion *w, int n)
{
    const cst_model *m = r->m;
    cst_direction *dir = cst_new(a, cst_direction, n + 1);
    for (int k = 0; k < n; k++) {
        dir[k].t = cst_tangent_new(a, w);
        dir[k].P = cst_new(a, double, m->bound.n + 1);
        dir[k].val = cst_new(a, double, cst_graph_values(m->graph) + 1);
        dir[k].functional = cst_new(a, double, m->functional.n + 1);
        dir[k].held = cst_new(a, double, m->held.n + 1);
        dir[k].t->P = dir[k].P, dir[k].t->val = dir[k].val;
    }
    return dir;
}

double *cst_random_weights(const cst_run *r, cst_arena *a, const unsigned char *fixed)
{
    const int n = cst_graph_leaves(r->m->graph);
    double *weight = cst_new(a, double, n + 1);
    for (int i = 0; i < n; i++)
        weight[i] = fixed[i] ? 0 : cst_spread(i) * fmax(fabs(r->s->leaf[i]), 0.1);
    return weight;
}

cst_status cst_directions_along(cst_run *r, cst_arena *a, int ndir, const double *weight,
                                cst_direction *dir)
{
    const cst_model *m = r->m;
    const int n = cst_graph_leaves(m->graph);
    cst_start_derivative *sd = cst_start_derivative_new(a, r->start, dir->t->pass);
    for (int k = 0; k < ndir; k++) {
        memset(dir[k].val, 0, sizeof(double) * (size_t)cst_graph_values(m->graph));
        for (int i = 0; i < n; i++)
            dir[k].val[cst_leaf_id(m->graph, i)] = weight[(size_t)k * (size_t)n + (size_t)i];
        cst_status ok = begin(r, sd, &dir[k]);
        if (ok != CST_OK) return ok;
    }
    return sweep(r, cst_directions_new(a, r, r->w, 1), ndir, dir);
}

cst_status cst_gradient_forward(cst_run *r, cst_arena *a, cst_motion *w, const cst_sweep_of *sweep,
                                int nleaf, const int *leaf, double *grad)
{
    int ndir = nleaf < CST_TOGETHER ? nleaf : CST_TOGETHER;
    if (!ndir) return CST_OK;
    cst_direction *dir = cst_directions_new(a, r, w, ndir);
    cst_start_derivative *sd = cst_start_derivative_new(a, r->start, dir[0].t->pass);
    cst_status ok = CST_OK;
    for (int k = 0; k < nleaf && ok == CST_OK; k += ndir) {
        if (r->samples) r->samples->first = k;
        ok = group(r, a, sd, sweep, nleaf - k < ndir ? nleaf - k : ndir, dir, leaf + k, nleaf,
                   grad + k);
    }
    return ok;
}

static cst_status gradient(cst_run *r, int continuous, int nleaf, const int *leaf, double *grad,
                           cst_diag *d)
{
    cst_arena a = {0};
    cst_where here = {.file = r->m->file};
    if (CST_ARENA_GUARD(&a)) {
        cst_arena_free(&a);
        return cst_error(d, CST_MEMORY, here, "out of memory");
    }
    cst_motion *w = continuous ? cst_continuous_work(&a, r) : r->w;
    const cst_sweep_of steps = {sweep, cst_directions_new(&a, r, w, 1)};
    cst_status ok = cst_gradient_forward(r, &a, w, &steps, nleaf, leaf, grad);
    cst_arena_free(&a);
    if (ok == CST_OK || ok == CST_STOPPED) return ok;
    return cst_error(d, ok, here,
                     "a step has no tangent: its matrix is singular, or it is too long for the "
                     "rule");
}

cst_status cst_gradient_direct(cst_run *r, int nleaf, const int *leaf, double *grad, cst_diag *d)
{
    if (cst_discrete_applies(r, d) != CST_OK) return CST_USAGE;
    return gradient(r, 0, nleaf, leaf, grad, d);
}

cst_status cst_gradient_continuous_direct(cst_run *r, int nleaf, const int *leaf, double *grad,
                                          cst_diag *d)
{
    cst_status ok = cst_continuous_applies(r, d);
    if (ok == CST_OK && !r->w->rule->adjoint)
        return cst_gradient_multistep_direct(r, nleaf, leaf, grad, d);
    return ok == CST_OK ? gradient(r, 1, nleaf, leaf, grad, d) : ok;
}
