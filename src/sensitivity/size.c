/* SPDX-License-Identifier: MIT
 *
 * Sizes of numbers: what a change of each is compared with. They do not depend on the origin or the
 * axes of the drawing, and scale with the units. */
#include "sensitivity/scaling.h"

#include <math.h>
#include <stdlib.h>

#include "number/graph_private.h"

#define NOUGHT 1e-12 /* of the size of others: rounding of 0, as in cos(pi/2) */
#define TINY                                                                                       \
    1e-6 /* likewise: too small for the start of a search to say how far the optimum may be */

/* ---- extent of the drawing ---- */

typedef struct place {
    double x[3], r;
} place; /* r: distance from the mean of all */

typedef struct places {
    cst_arena *a;
    const cst_model *m;
    const double *val; /* (values) */
    CST_LIST(place) at;
} places;

static double drawn(const places *p, int bound) { return p->val[p->m->bound.at[bound]]; }

static double distance(const double a[3], const double b[3])
{
    return hypot(hypot(a[0] - b[0], a[1] - b[1]), a[2] - b[2]);
}

/* m = sum_k w_k b_k; the vectors go on into the next body inside an element of a beam */
static void add_slot(places *p, const cst_slot *s)
{
    if (!s->point || s->dim != 3) return;
    place *to = cst_push(p->a, &p->at);
    for (int i = 0; i < 3; i++) {
        to->x[i] = s->body == CST_GROUND ? drawn(p, s->o + i) : 0;
        for (int k = 0, body = s->body, vec = s->vec; body != CST_GROUND && k < s->n; k++, vec++) {
            if (vec == p->m->body.at[body].cls->nvec) body++, vec = 0;
            to->x[i] += drawn(p, s->w + k) * drawn(p, p->m->body.at[body].drawn + 3 * vec + i);
        }
    }
}

static int by_radius(const void *x, const void *y)
{
    const double a = ((const place *)x)->r, b = ((const place *)y)->r;
    return (a < b) - (a > b);
}

/* Two points are no farther apart than the sum of their radii: with the outer points first most
 * pairs are left out. */
static double diameter(places *p)
{
    double mean[3] = {0}, most = 0;
    for (int i = 0; i < p->at.n; i++)
        for (int k = 0; k < 3; k++) mean[k] += p->at.at[i].x[k] / p->at.n;
    for (int i = 0; i < p->at.n; i++) p->at.at[i].r = distance(p->at.at[i].x, mean);
    if (p->at.n) qsort(p->at.at, (size_t)p->at.n, sizeof *p->at.at, by_radius);
    for (int i = 0; i < p->at.n; i++)
        for (int k = i + 1; k < p->at.n && p->at.at[i].r + p->at.at[k].r >= most; k++)
            most = fmax(most, distance(p->at.at[i].x, p->at.at[k].x));
    return most;
}

/* Both ends of a bar, a cylinder, a tube: r -+ l/2 e1 */
static void add_ends(places *p, const cst_shape *shape)
{
    const int at = p->m->body.at[shape->body].drawn;
    for (int side = -1; side <= 1; side += 2) {
        place *to = cst_push(p->a, &p->at);
        for (int k = 0; k < 3; k++)
            to->x[k] = drawn(p, at + k) + side * p->val[shape->size[0]] / 2 * drawn(p, at + 3 + k);
    }
}

static double extent(cst_arena *a, const cst_model *m, const double *val)
{
    places p = {.a = a, .m = m, .val = val};
    for (int i = 0; i < m->body.n; i++) {
        if (!m->body.at[i].cls->nvec) continue;
        place *to = cst_push(a, &p.at);
        for (int k = 0; k < 3; k++) to->x[k] = drawn(&p, m->body.at[i].drawn + k);
    }
    for (int i = 0; i < m->shape.n; i++)
        if (m->shape.at[i].kind == CST_SHAPE_LINE) add_ends(&p, &m->shape.at[i]);
    for (int i = 0; i < m->force.n; i++)
        for (int k = 0; k < m->force.at[i].nslot; k++)
            add_slot(&p, &m->slot.at[m->force.at[i].slot[k]]);
    for (int i = 0; i < m->constraint.n; i++) {
        const cst_constraint *c = &m->constraint.at[i];
        for (int k = 0; k < c->nslot && c->phases & CST_ROW_MOTION; k++)
            add_slot(&p, &m->slot.at[c->slot[k]]);
    }
    return diameter(&p);
}

static double *values_of(cst_arena *a, const cst_model *m)
{
    double *leaf = cst_new(a, double, m->leaf.n + 1),
           *val = cst_new(a, double, cst_graph_values(m->graph) + 1);
    for (int i = 0; i < m->leaf.n; i++) leaf[i] = cst_leaf_nominal(m->graph, i);
    cst_graph_eval(m->graph, leaf, val);
    return val;
}

double cst_drawing_extent(cst_arena *a, const cst_model *m)
{
    return extent(a, m, values_of(a, m));
}

/* ---- vectors ---- */

typedef struct sizes {
    const cst_model *m;
    const double *val;
    double extent;
    double *size; /* (leaves) 0: not known yet */
    cst_vector_kind *kind;
} sizes;

/* A number that a component is a sum of, with either sign, moves the component as much as itself.
 */
static void mark(sizes *s, cst_id id, cst_vector_kind kind, double size)
{
    const node *v = &s->m->graph->node.at[id];
    if (v->kind == NODE_LEAF && kind >= s->kind[v->a[0]]) {
        const int leaf = v->a[0];
        s->size[leaf] = kind > s->kind[leaf] ? size : fmax(s->size[leaf], size);
        s->kind[leaf] = kind;
    }
    if (v->kind != NODE_OP || (v->op != CST_OP_neg && v->op != CST_OP_add && v->op != CST_OP_sub))
        return;
    for (int i = 0; i < cst_op_at(v->op)->arity; i++) mark(s, v->a[i], kind, size);
}

/* A direction that is not of unit length turns by an angle where its component changes by the
 * length times the angle; a quaternion turns by twice that. */
static double vector_size(const sizes *s, const cst_vector *v)
{
    double length = 0;
    for (int i = 0; i < v->n; i++) length = hypot(length, s->val[v->at[i]]);
    if (v->kind == CST_VECTOR_POINT) return s->extent;
    if (v->kind == CST_VECTOR_QUATERNION) return length / 2;
    return v->kind == CST_VECTOR_DIRECTION && v->n == 1 ? 1 : length;
}

/* ---- other numbers ---- */

static int by_size(const void *x, const void *y)
{
    double a = *(const double *)x, b = *(const double *)y;
    return (a > b) - (a < b);
}

static int alike(const cst_dimension *a, const cst_dimension *b)
{
    int same = cst_dimension_known(a) && cst_dimension_known(b);
    for (int k = 0; k < CST_BASES; k++) same &= a->x[k] == b->x[k];
    return same;
}

/* Of the numbers of a dimension that are neither 0, nor rounding of 0, nor coordinates of points;
 * 0: there are none. sorted: scratch (leaves) */
static double median_of(const sizes *s, const cst_dimensions *d, const cst_dimension *of,
                        double *sorted)
{
    int n = 0, noughts = 0;
    for (int i = 0; i < s->m->leaf.n; i++)
        if (s->kind[i] == CST_VECTOR_FREE && alike(&d->leaf[i], of)) sorted[n++] = s->size[i];
    qsort(sorted, (size_t)n, sizeof *sorted, by_size);
    while (noughts < n && sorted[noughts] <= NOUGHT * sorted[n - 1]) noughts++;
    return noughts < n ? sorted[noughts + (n - noughts) / 2] : 0;
}

/* Of a number that is 0, by its dimension */
static double usual(const sizes *s, const cst_dimensions *d, const cst_dimension *of,
                    double *sorted)
{
    const cst_dimension none = {.state = CST_DIMENSION_KNOWN}, length = cst_dimension_parse("m");
    const double median = alike(of, &none) ? 1 : median_of(s, d, of, sorted);
    return median > 0 ? median : alike(of, &length) && s->extent > 0 ? s->extent : 1;
}

/* least: of what is usual for the dimension; a number that is smaller has the usual size */
static double *sizes_above(const cst_dimensions *d, cst_arena *a, const cst_model *m, double least,
                           cst_vector_kind *kind)
{
    sizes s = {.m = m, .val = values_of(a, m), .size = cst_new(a, double, m->leaf.n + 1)};
    s.kind = kind ? kind : cst_new(a, cst_vector_kind, m->leaf.n + 1);
    s.extent = extent(a, m, s.val);
    for (int i = 0; i < m->leaf.n; i++)
        s.size[i] = fabs(cst_leaf_nominal(m->graph, i)), s.kind[i] = CST_VECTOR_FREE;
    for (int free = 1; free >= 0; free--) /* what is a coordinate or a direction is nothing else */
        for (int i = 0; i < m->vector.n; i++) {
            const cst_vector *v = &m->vector.at[i];
            for (int k = 0; k < v->n && (v->kind == CST_VECTOR_FREE) == free; k++)
                mark(&s, v->at[k], v->kind, vector_size(&s, v));
        }
    double *sorted = cst_new(a, double, m->leaf.n + 1);
    unsigned char *seen = cst_new(a, unsigned char, m->leaf.n + 1);
    for (int i = 0; i < m->leaf.n; i++) {
        if (seen[i]) continue;
        const double typical = usual(&s, d, &d->leaf[i], sorted);
        const int known = cst_dimension_known(&d->leaf[i]);
        for (int k = i; k < m->leaf.n; k++) { /* all of this dimension */
            if (k != i && !alike(&d->leaf[k], &d->leaf[i])) continue;
            seen[k] = 1;
            if (s.size[k] <= (known || least > NOUGHT ? least * typical : 0)) s.size[k] = typical;
        }
    }
    return s.size;
}

double *cst_dimensions_sizes(const cst_dimensions *d, cst_arena *a, const cst_model *m,
                             cst_vector_kind *kind)
{
    return sizes_above(d, a, m, NOUGHT, kind);
}

double *cst_design_sizes(cst_arena *a, const cst_model *m)
{
    return sizes_above(m->dimensions, a, m, TINY, NULL);
}

cst_status cst_number_size(const cst_model *m, double *size)
{
    cst_arena a = {0};
    if (CST_ARENA_GUARD(&a)) {
        cst_arena_free(&a);
        return CST_MEMORY;
    }
    const cst_dimensions d = *m->dimensions;
    const double *from = cst_dimensions_sizes(&d, &a, m, NULL);
    for (int i = 0; i < m->leaf.n; i++) size[i] = from[i];
    cst_arena_free(&a);
    return CST_OK;
}
