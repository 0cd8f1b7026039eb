/* SPDX-License-Identifier: MIT
 *
 * One backward sweep for all objectives. */
#include <math.h>
#include <string.h>

#include "sensitivity/gradient.h"

void cst_objective_reverse(cst_run *r, int objective, double *bar, double *val)
{
    const cst_tape *t = r->objective;
    double *b = r->objective_bar;
    memset(b, 0, sizeof *b * (size_t)t->nreg);
    b[t->out[objective]] = 1;
    cst_tape_reverse(t, r->objective_reg, b);
    for (int i = 0; i < r->m->functional.n; i++) bar[i] = 0;
    for (int i = 0; i < t->nchannel; i++) bar[t->channel[i].index] += b[i];
    for (int i = 0; i < t->nnumber; i++) val[t->number[i]] += b[t->nchannel + i];
    for (int i = 0; i < r->m->functional.n; i++) { /* the time of at(x, time) may be a number */
        const cst_functional *f = &r->m->functional.at[i];
        if (f->kind == CST_AT && f->time >= 0) val[f->time] += bar[i] * r->functional[i].slope;
    }
}

/* Weight of functional i at state n of last */
static double share(const cst_run *r, int i, long n, long last)
{
    const cst_functional_state *f = &r->functional[i];
    switch (r->m->functional.at[i].kind) {
    case CST_START: return n == 0;
    case CST_END: return n == last;
    case CST_PEAK: return n == f->state;
    case CST_AT: return n == f->state ? f->weight : n == f->state - 1 ? 1 - f->weight : 0;
    }
    return 0;
}

static cst_status sweep(cst_run *r, cst_adjoint *ad, const double *fbar)
{
    const cst_model *m = r->m;
    const cst_traj *tr = r->traj;
    int nout = r->out->tape->nout;
    for (long n = tr->n - 1; n >= 0; n--) {
        cst_state y0, y1;
        if (n > 0) cst_run_pair(r, n, &y0, &y1);
        else y0 = y1 = cst_run_state(r, 0);
        for (int i = 0; i < m->functional.n; i++) {
            double s = share(r, i, n, tr->n - 1);
            for (int o = 0; s != 0 && o < ad->n; o++)
                ad->seed[(size_t)o * (size_t)nout + (size_t)(r->out->functional + i)] += s * fbar[o * m->functional.n + i];
        }
        cst_status ok = cst_adjoint_prepare(ad, n > 0 ? &y0 : NULL, &y1);
        if (ok == CST_OK) ok = cst_adjoint_derive(ad, &y1);
        if (ok == CST_OK && n > 0) ok = cst_adjoint_step(ad, &y0, &y1);
        if (ok != CST_OK) return ok;
    }
    return CST_OK;
}

cst_status cst_gradient_adjoint(cst_run *r, double *grad, cst_diag *d)
{
    const cst_model *m = r->m;
    cst_arena a = {0};
    cst_where here = {.file = m->file};
    if (CST_ARENA_GUARD(&a)) {
        cst_arena_free(&a);
        return cst_error(d, CST_MEMORY, here, "out of memory");
    }
    int n = m->objective.n, nval = cst_graph_values(m->graph), nleaf = cst_graph_leaves(m->graph);
    cst_adjoint *ad = cst_adjoint_new(&a, r->w, n);
    cst_start_derivative *sd = cst_start_derivative_new(&a, r->start, ad->pass);
    double *fbar = cst_new(&a, double, n *m->functional.n + 1);
    cst_adjoint_clear(ad);
    for (int o = 0; o < n; o++) cst_objective_reverse(r, o, fbar + o * m->functional.n, ad->val + (size_t)o * (size_t)nval);
    cst_status ok = sweep(r, ad, fbar);
    cst_state y = cst_run_state(r, 0);
    const cst_start_at at = {*y.t, y.q, y.u, r->mem_drawn, y.mem, r->assembly_lambda, r->rates_eta};
    for (int o = 0; ok == CST_OK && o < n; o++) {
        double *P = ad->P + (size_t)o * (size_t)m->bound.n, *val = ad->val + (size_t)o * (size_t)nval;
        for (int i = 0; i < m->force.n; i++)
            for (int j = 0; j < m->force.at[i].nz; j++)
                P[m->force.at[i].z_start + j] += ad->z[(size_t)o * (size_t)m->nz + (size_t)(m->force.at[i].z0 + j)];
        ok = cst_start_adjoint(sd, &at, ad->q + (size_t)o * (size_t)m->nq, ad->u + (size_t)o * (size_t)m->nu, P);
        for (int i = 0; i < m->bound.n; i++) val[m->bound.at[i]] += P[i];
        cst_graph_reverse(m->graph, r->s->val, val);
        for (int i = 0; i < nleaf; i++) grad[(size_t)o * (size_t)nleaf + (size_t)i] = val[cst_leaf_id(m->graph, i)];
    }
    r->w->n.factorizations += ad->factorizations;
    cst_arena_free(&a);
    return ok == CST_OK ? CST_OK : cst_error(d, ok, here, "the adjoint's matrix is singular");
}
