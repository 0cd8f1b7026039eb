/* SPDX-License-Identifier: MIT
 *
 * Simulations beside the values of the numbers, one number changed at a time. */
#include "sensitivity/check.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "sensitivity/asked.h"
#include "sensitivity/methods.h"
#include "sensitivity/rounding.h"
#include "sensitivity/scaling.h"

static void probe_new(const cst_prober *p, cst_probe *to)
{
    to->value = cst_new(p->a, double, p->nobj + 1);
    to->slope = cst_new(p->a, double, p->nobj + 1);
}

/* Sizes are those of the file; a number that has moved far away from there has grown with its
 * value.
 */
static double *sizes(cst_arena *a, const cst_model *m, const double *x)
{
    cst_vector_kind *kind = cst_new(a, cst_vector_kind, m->leaf.n + 1);
    double *size = cst_dimensions_sizes(m->dimensions, a, m, kind);
    for (int i = 0; i < m->leaf.n; i++)
        if (kind[i] == CST_VECTOR_FREE && size[i] == fabs(cst_leaf_nominal(m->graph, i)) &&
            x[i] != 0)
            size[i] = fabs(x[i]);
    return size;
}

/* What is rounding: of a value, and of an influence */
static void set_rounding(cst_prober *p, const double *all)
{
    for (int o = 0; o < p->nobj; o++) {
        const double scale = cst_objective_scale(p->r, o), bound = p->rounding[o];
        double largest = CST_JUDGE_VANISHES * scale;
        for (int i = 0; i < p->nleaf; i++)
            largest = fmax(largest, fabs(all[o * p->nleaf + i]) * p->size[i]);
        p->largest[o] = largest;
        p->rounding[o] = fmax(bound, CST_JUDGE_VALUE * DBL_EPSILON * scale);
        p->nothing[o] = fmax(CST_JUDGE_ROUNDING * largest, CST_JUDGE_NOTHING * bound);
    }
}

cst_prober *cst_prober_new(cst_arena *a, cst_run *r, const double *values, const double *all,
                           cst_diag *d)
{
    cst_prober *p = cst_new(a, cst_prober, 1);
    const int nleaf = cst_graph_leaves(r->m->graph), nobj = r->m->objective.n;
    p->r = r, p->a = a, p->nobj = nobj, p->nleaf = nleaf;
    p->x = cst_new(a, double, nleaf + 1);
    p->rounding = cst_new(a, double, nobj + 1);
    p->nothing = cst_new(a, double, nobj + 1);
    p->largest = cst_new(a, double, nobj + 1);
    p->all = cst_new(a, double, (size_t)nobj *(size_t)nleaf + 1);
    p->quiet = cst_new(a, cst_diag, 1);
    for (int i = 0; i < nleaf; i++) p->x[i] = values ? values[i] : cst_leaf_nominal(r->m->graph, i);
    p->size = sizes(a, r->m, p->x);
    for (int side = 0; side < CST_SIDES; side++) {
        for (int k = 0; k < CST_PLAIN_WIDTHS; k++) probe_new(p, &p->plain[k][side]);
        for (int k = 0; k < CST_SIDES_WIDTHS; k++) probe_new(p, &p->side[k][side]);
    }
    probe_new(p, &p->middle);
    p->middle.ok = 1, p->middle.pattern = r->pattern, p->middle.coinciding = r->events->coinciding;
    memcpy(p->middle.value, r->result, sizeof(double) * (size_t)nobj);
    if (cst_objectives_rounding(r, p->rounding, d) != CST_OK) return NULL;
    set_rounding(p, all);
    return p;
}

double cst_probe_width(const cst_prober *p, int leaf, int k)
{
    return exp2(round(log2(CST_PROBE_WIDEST * p->size[leaf]))) * pow(CST_PROBE_NARROWER, k);
}

void cst_probe_at(cst_prober *p, int leaf, double change, int slopes, cst_probe *to)
{
    cst_run *r = p->r;
    const double x = p->x[leaf];
    memset(p->quiet, 0, sizeof *p->quiet);
    p->x[leaf] = x + change;
    p->simulations++;
    cst_status ok = cst_run_forward(r, p->x, slopes, NULL, NULL, p->quiet);
    if (ok == CST_OK && slopes) ok = cst_gradient_adjoint(r, NULL, NULL, p->all, p->quiet);
    p->x[leaf] = x;
    to->ok = ok == CST_OK;
    to->width = fabs(change);
    to->pattern = r->pattern;
    to->coinciding = r->events->coinciding;
    for (int o = 0; o < p->nobj; o++) {
        to->value[o] = r->result[o];
        to->slope[o] = slopes ? p->all[o * p->nleaf + leaf] : NAN;
        to->ok &= isfinite(to->value[o]);
    }
}
