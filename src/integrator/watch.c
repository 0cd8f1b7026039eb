/* SPDX-License-Identifier: MIT
 *
 * Watches for kinks in what objectives read, while a run that is kept goes by: a few comparisons
 * per state. */
#include "integrator/run.h"

#include "number/op.h"

#include <float.h>
#include <math.h>

#define ROUNDING 1e-12 /* of the size of what is read */
#define ULPS 16        /* of coordinates: what an equilibrium or a step leaves */

double cst_run_rounding(const cst_run *r, int order, double size)
{
    double x = cst_largest(r->m->nx, r->s->x), h = r->options.step;
    return ROUNDING * size + (order > 0 ? ULPS * DBL_EPSILON * x / pow(h, order) : 0);
}

cst_watch *cst_watch_new(cst_arena *a, const cst_model *m)
{
    const cst_tape *t = m->output;
    cst_watch *w = cst_new(a, cst_watch, 1);
    int n0 = t->nchannel + t->nnumber, outs = m->quad.n + m->functional.n;
    w->code = cst_new(a, int, t->ncode + 1);
    for (int i = 0; i < t->ncode; i++)
        if (t->code[i].op == CST_CODE_TABLE ||
            (t->code[i].op >= 0 && cst_op_table[t->code[i].op]->kink))
            w->code[w->n++] = i;
    w->reads = cst_new(a, unsigned char, (size_t)outs * w->n + 1);
    w->near = cst_new(a, unsigned char, w->n + 1), w->before = cst_new(a, unsigned char, w->n + 1);
    unsigned char *reach = cst_new(a, unsigned char, t->nreg + 1);
    for (int o = 0; o < outs && w->n; o++) {
        cst_tape_reach(t, m->component.n + o, reach);
        for (int k = 0; k < w->n; k++)
            w->reads[(size_t)o * (size_t)w->n + (size_t)k] = reach[n0 + w->code[k]];
    }
    return w;
}

static int integrand_reads(const cst_watch *w, const cst_output *out, int k)
{
    int reads = 0;
    for (int q = 0; q < out->functional - out->quad; q++)
        reads |= w->reads[(size_t)q * (size_t)w->n + (size_t)k];
    return reads;
}

void cst_watch_state(cst_watch *w, const cst_output *out, double h)
{
    unsigned char *swap = w->before;
    w->before = w->near, w->near = swap, w->any = 0;
    for (int k = 0; k < w->n; k++) {
        double distance = cst_code_kink(out->tape, &out->tape->code[w->code[k]], out->reg);
        w->near[k] = distance <= CST_NEAR_KINK;
        w->any |= w->near[k];
        if (!w->near[k]) continue;
        if (w->before[k] && h > 0) w->rested |= integrand_reads(w, out, k);
    }
}

int cst_watch_near(const cst_watch *w, const cst_model *m, int functional)
{
    size_t row = (size_t)(m->quad.n + functional) * (size_t)w->n;
    int near = 0;
    for (int k = 0; w->any && k < w->n; k++) near |= w->near[k] && w->reads[row + (size_t)k];
    return near;
}
