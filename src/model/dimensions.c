/* SPDX-License-Identifier: MIT
 *
 * Dimensions of all values of the graph, from those that are known: numbers with units, components
 * of measures, channels. Sweeps over the graph in the order of evaluation (arguments give results)
 * and back (a result gives a missing argument) are repeated until nothing new is learnt. What is
 * learnt never changes; a contradiction makes the result MIXED. */
#include "model/dimensions.h"

#include <math.h>
#include <string.h>

#include "number/graph_private.h"
#include "number/table.h"

typedef cst_dimension dim;

typedef struct sweep {
    const cst_model *m;
    const cst_graph *g;
    dim *of;                /* (values) */
    dim *x, *force, *react; /* of the channels */
    unsigned char *signs; /* (values) 1: a min or max of which only the sign is read: its arguments
                             need not be alike */
    int news;
} sweep;

#define ROUNDS                                                                                     \
    20 /* each meets at least one new functional, integral or memory; deeper nests stay unknown */

static const dim unknown = {.state = CST_DIMENSION_UNKNOWN}, mixed = {.state = CST_DIMENSION_MIXED},
                 pure = {.state = CST_DIMENSION_KNOWN};

static int same(const dim *a, const dim *b)
{
    for (size_t i = 0; i < sizeof a->x / sizeof *a->x; i++)
        if (a->x[i] != b->x[i]) return 0;
    return 1;
}

/* a b^p */
static dim product(const dim *a, const dim *b, float p)
{
    if (a->state == CST_DIMENSION_MIXED || b->state == CST_DIMENSION_MIXED) return mixed;
    if (!cst_dimension_known(a) || !cst_dimension_known(b)) return unknown;
    dim y = *a;
    for (int k = 0; k < CST_BASES; k++) {
        float x = y.x[k] + p * b->x[k], whole = roundf(x);
        y.x[k] = (fabsf(x - whole) < 1e-5f ? whole : x) +
                 0.0f; /* (x^30)^(1/30) is x; no -0, so that memcmp compares */
    }
    return y;
}

static int is_const(const sweep *w, cst_id id) { return w->g->node.at[id].kind == NODE_CONST; }

static void learn(sweep *w, cst_id id, dim d)
{
    const node *v = &w->g->node.at[id];
    if (w->of[id].state != CST_DIMENSION_UNKNOWN || d.state == CST_DIMENSION_UNKNOWN) return;
    if (d.state == CST_DIMENSION_MIXED && v->kind != NODE_OP && v->kind != NODE_CHANNEL) return;
    if (v->kind == NODE_CONST) return; /* a zero has every dimension */
    for (int k = 0; k < CST_BASES; k++) d.x[k] += 0.0f;
    w->of[id] = d;
    w->news = 1;
}

/* ---- what is known ---- */

/* "1" is also what a literal or a parameter has whose unit nobody wrote */
static dim of_leaf(const cst_leaf *l)
{
    dim d = cst_dimension_parse(l->unit);
    int says_nothing = !l->unit || strcmp(l->unit, "1") == 0;
    int written_freely = l->parameter || l->open || l->length == 0 || strstr(l->name, "initial.");
    return says_nothing && written_freely ? unknown : d;
}

static int is_memory(const cst_graph *g, cst_id id, int index)
{
    const cst_channel *c = cst_num_channel_of(g, id);
    return c && c->kind == CST_CH_MEM && c->index == index;
}

static dim channel(const sweep *w, const cst_channel *c)
{
    static const char *const system[CST_SYS_COUNT] = {
        [CST_SYS_KINETIC] = "J", [CST_SYS_POTENTIAL] = "J", [CST_SYS_DISSIPATION] = "W"};
    const dim s = cst_dimension_parse("s");
    cst_id id;
    switch (c->kind) {
    case CST_CH_TIME:
        return s;
    case CST_CH_X:
        return product(&w->x[c->index], &s, (float)-c->order);
    case CST_CH_FORCE:
        return w->force[c->index];
    case CST_CH_REACT:
        return w->react[c->index];
    case CST_CH_SYSTEM:
        return cst_dimension_parse(system[c->index] ? system[c->index] : "?");
    case CST_CH_MEM: /* a mode of a law that switches, or the scale of a p-norm: it is remembered
                        from itself */
        id = w->m->memory.at[c->index].value;
        return is_memory(w->g, id, c->index) ? pure : w->of[id];
    case CST_CH_QUAD: /* the length of the run is the integral of 1 */
        id = w->m->quad.at[c->index].rate;
        return product(is_const(w, id) ? &pure : &w->of[id], &s, 1);
    case CST_CH_RESULT:
        return w->of[w->m->functional.at[c->index].value];
    case CST_CH_ARG: /* laws stand in the graph with what they are laws of as well: see conjugate */
    case CST_CH_Z:
        break;
    }
    return unknown;
}

/* A point is a length, a direction a pure number; forces are conjugate to them. */
static void slot_channels(sweep *w, int nslot, const int *slot, int at, dim *to)
{
    const dim J = cst_dimension_parse("J");
    for (int i = 0; i < nslot; i++) {
        const cst_slot *s = &w->m->slot.at[slot[i]];
        for (int k = 0; k < s->dim; k++, at++) to[at] = product(&J, &w->x[s->x0 + k], -1);
    }
}

static void begin(sweep *w, cst_arena *a)
{
    const cst_model *m = w->m;
    w->of = cst_new(a, dim, cst_graph_values(m->graph) + 1);
    w->x = cst_new(a, dim, m->nx + 1);
    w->force = cst_new(a, dim, m->nforce + 1);
    w->react = cst_new(a, dim, m->nreact + 1);
    for (int i = 0; i < m->slot.n; i++)
        for (int k = 0; k < m->slot.at[i].dim && m->slot.at[i].dim == 3; k++)
            w->x[m->slot.at[i].x0 + k] = m->slot.at[i].point ? cst_dimension_parse("m") : pure;
    for (int i = 0; i < m->force.n; i++)
        slot_channels(w, m->force.at[i].nslot, m->force.at[i].slot, m->force.at[i].f0, w->force);
    for (int i = 0; i < m->constraint.n; i++)
        slot_channels(w, m->constraint.at[i].nslot, m->constraint.at[i].slot,
                      m->constraint.at[i].f0, w->react);
    for (int i = 0; i < m->leaf.n; i++) learn(w, cst_leaf_id(m->graph, i), of_leaf(&m->leaf.at[i]));
    for (int i = 0; i < m->component.n; i++) {
        const cst_component *c = &m->component.at[i];
        if (c->unit && strcmp(c->unit, "1") != 0) learn(w, c->value, cst_dimension_parse(c->unit));
    }
}

static void only_sign(sweep *w, cst_id id)
{
    const node *v = &w->g->node.at[id];
    if (v->kind != NODE_OP || (v->op != CST_OP_min && v->op != CST_OP_max)) return;
    w->signs[id] = 1;
    for (int i = 0; i < w->m->kink.n; i++) {
        const node *k = &w->g->node.at[w->m->kink.at[i].value];
        if (k->kind == NODE_OP && k->op == CST_OP_sub && k->a[0] == v->a[0] && k->a[1] == v->a[1])
            w->signs[w->m->kink.at[i].value] = 1;
    }
}

/* A stop pushes while the smaller of a way and a force is positive; the kink of that min is where
 * they are equal. */
static void find_signs(sweep *w, cst_arena *a)
{
    int n = cst_graph_values(w->g);
    w->signs = cst_new(a, unsigned char, n + 1);
    for (cst_id id = 0; id < n; id++) {
        const node *v = &w->g->node.at[id];
        if (v->kind != NODE_OP ||
            (v->op != CST_OP_lt && v->op != CST_OP_le && v->op != CST_OP_gt && v->op != CST_OP_ge))
            continue;
        if (is_const(w, v->a[1])) only_sign(w, v->a[0]);
        if (is_const(w, v->a[0])) only_sign(w, v->a[1]);
    }
    for (int i = 0; i < w->m->event.n; i++) only_sign(w, w->m->event.at[i].value);
}

/* What a value has to be; 0: it is something else */
static int require(sweep *w, cst_id id, const char *unit)
{
    const dim d = cst_dimension_parse(unit);
    if (id < 0 || is_const(w, id)) return 1;
    if (cst_dimension_known(&w->of[id])) return same(&w->of[id], &d);
    learn(w, id, d);
    return 1;
}

static const cst_body *require_bodies(sweep *w)
{
    const cst_model *m = w->m;
    const cst_body *wrong = NULL;
    for (int k = 0; k < 3; k++) require(w, m->bound.at[m->gravity + k], "m/s^2");
    for (int i = 0; i < m->body.n; i++) {
        const cst_body *b = &m->body.at[i];
        int ok = 1;
        if (b->m < 0 || b->cls->nscalar) continue;
        ok &= require(w, b->m, "kg");
        for (int k = 0; k < 3; k++) ok &= require(w, b->frame[k], "m");
        for (int k = 0; k < b->cls->nu; k++)
            ok &= require(w, m->bound.at[b->rate + k], k < 3 ? "m/s" : "1/s");
        if (!ok && !wrong) wrong = b;
    }
    return wrong;
}

/* ---- operations ---- */

/* A number of the file, with a sign as in x^(-2), or less 1 as in a derivative; NAN: it is
 * something else */
static float exponent(const sweep *w, cst_id id)
{
    const node *v = &w->g->node.at[id];
    double p = 0;
    if (v->kind == NODE_OP && v->op == CST_OP_neg) return -exponent(w, v->a[0]);
    if (v->kind == NODE_OP && v->op == CST_OP_sub)
        return exponent(w, v->a[0]) - exponent(w, v->a[1]);
    if (v->kind == NODE_LEAF) return (float)cst_leaf_nominal(w->g, v->a[0]);
    return cst_num_is_const(w->g, id, &p) ? (float)p : NAN;
}

/* y = a^p; NAN: it is not of this kind. An exponent that is a number of the file scales with
 * nothing: its value counts. */
static float power(const sweep *w, const node *v)
{
    switch (v->op) {
    case CST_OP_sqrt:
        return 0.5f;
    case CST_OP_cbrt:
        return 1.0f / 3;
    case CST_OP_recip:
        return -1;
    case CST_OP_pow:
        return exponent(w, v->a[1]);
    }
    return NAN;
}

/* Constants fit in everywhere. y: has the dimension of the arguments too; CST_NONE: nothing has */
static void alike(sweep *w, cst_id y, const node *v, int first)
{
    int n = cst_op_at(v->op)->arity;
    dim d = y == CST_NONE ? unknown : w->of[y];
    int clash = 0;
    for (int i = first; i < n; i++) {
        const dim *x = &w->of[v->a[i]];
        clash |= x->state == CST_DIMENSION_MIXED ||
                 (cst_dimension_known(&d) && cst_dimension_known(x) && !same(&d, x));
        if (!cst_dimension_known(&d) && cst_dimension_known(x)) d = *x;
    }
    if (y != CST_NONE) learn(w, y, clash ? mixed : d);
    for (int i = first; i < n && !clash; i++) learn(w, v->a[i], d);
}

/* y = a b^p, p = 1 or -1 */
static void factors(sweep *w, cst_id y, const node *v, float p)
{
    const dim *d = w->of;
    dim a = is_const(w, v->a[0]) ? pure : d[v->a[0]], b = is_const(w, v->a[1]) ? pure : d[v->a[1]];
    learn(w, y, product(&a, &b, p));
    learn(w, v->a[0], product(&d[y], &b, -p));
    dim rest = product(&d[y], &a, -1); /* b^p */
    learn(w, v->a[1], product(&pure, &rest, p));
}

static void operation(sweep *w, cst_id y, const node *v)
{
    int first, kind = cst_op_manner(v->op, &first);
    float p = power(w, v);
    if (kind == CST_ALIKE) {
        if (!w->signs[y]) alike(w, y, v, first);
    } else if (kind != CST_OTHER) {
        learn(w, y, pure);
        if (kind == CST_COMPARED) alike(w, CST_NONE, v, 0);
        if (kind == CST_FUNCTION) learn(w, v->a[0], pure);
    } else if (v->op == CST_OP_mul || v->op == CST_OP_div) {
        factors(w, y, v, v->op == CST_OP_mul ? 1 : -1);
    } else if (!isnan(p)) {
        if (v->op == CST_OP_pow) learn(w, v->a[1], pure);
        dim a = is_const(w, v->a[0]) ? pure : w->of[v->a[0]];
        learn(w, y, product(&pure, &a, p));
        if (p != 0) learn(w, v->a[0], product(&pure, &w->of[y], 1 / p));
    } else if (v->op == CST_OP_unwrap) {
        learn(w, y, w->of[v->a[0]]);
    }
}

/* A derivative of a table has its values' dimension over that of its argument. */
static void table(sweep *w, cst_id y, const node *v)
{
    const cst_table *t = w->g->table.at[v->a[2]];
    const dim *x = v->a[1] ? &w->of[v->a[0]] : &pure;
    if (t->y_id == CST_NONE) return; /* data */
    learn(w, y, product(&w->of[t->y_id], x, (float)-v->a[1]));
    for (int i = 0; i < t->n; i++) learn(w, t->y_id + i, product(&w->of[y], x, (float)v->a[1]));
}

static void visit(sweep *w, cst_id id)
{
    const node *v = &w->g->node.at[id];
    if (v->kind == NODE_OP) operation(w, id, v);
    if (v->kind == NODE_TABLE) table(w, id, v);
    if (v->kind == NODE_CHANNEL) learn(w, id, channel(w, &v->channel));
}

static void work(sweep *w, const cst_conjugate *c)
{
    const dim J = cst_dimension_parse("J");
    learn(w, c->F, product(&J, &w->of[c->s], -1));
    learn(w, c->s, product(&J, &w->of[c->F], -1));
}

static void settle(sweep *w)
{
    int n = cst_graph_values(w->g);
    w->news = 1;
    for (int round = 0; round < ROUNDS && w->news; round++) {
        w->news = 0;
        for (int i = 0; i < w->m->conjugate.n; i++) work(w, &w->m->conjugate.at[i]);
        for (cst_id id = 0; id < n; id++) visit(w, id);
        for (cst_id id = n - 1; id >= 0; id--) visit(w, id);
    }
}

/* ---- products of literals ---- */

static int is_product(const node *v)
{
    return v->kind == NODE_OP &&
           (v->op == CST_OP_mul || v->op == CST_OP_div || v->op == CST_OP_neg);
}

/* Literals without a unit in a product of such literals and of known values: the first of them, all
 * of them marked in `met`; CST_NONE: it is not such a product, has none, or one that was marked
 * before */
static cst_id literals_in(const sweep *w, cst_id id, unsigned char *met)
{
    const node *v = &w->g->node.at[id];
    if (v->kind == NODE_LEAF) {
        int literal = w->m->leaf.at[v->a[0]].length == 0 && !met[id];
        met[id] = 1;
        return literal ? id : CST_NONE;
    }
    if (!is_product(v)) return CST_NONE;
    cst_id first = CST_NONE;
    int fits = 1;
    for (int i = cst_op_at(v->op)->arity - 1; i >= 0; i--) {
        if (is_const(w, v->a[i]) || cst_dimension_known(&w->of[v->a[i]])) continue;
        cst_id found = literals_in(w, v->a[i], met);
        fits &= found != CST_NONE;
        first = found;
    }
    return fits ? first : CST_NONE;
}

/* In 1.2*v/3 the product is known, and two literals are not, whatever else is known. p dpsi/dp is
 * the same for both but for the sign: how they share what is missing does not matter to Euler's
 * sum, so that the one behind is pure. Derivatives have the literals of what was differentiated:
 * what shares one with a product before it waits until that has settled. */
static int share_out(sweep *w, unsigned char *met)
{
    int n = cst_graph_values(w->g);
    memset(met, 0, (size_t)n);
    w->news = 0;
    for (cst_id y = n - 1; y >= 0; y--) {
        const node *v = &w->g->node.at[y];
        if (!is_product(v) || v->op == CST_OP_neg || !cst_dimension_known(&w->of[y])) continue;
        if (w->of[v->a[0]].state != CST_DIMENSION_UNKNOWN ||
            w->of[v->a[1]].state != CST_DIMENSION_UNKNOWN)
            continue;
        if (is_const(w, v->a[0]) || is_const(w, v->a[1])) continue;
        cst_id ahead = literals_in(w, v->a[0], met), behind = literals_in(w, v->a[1], met);
        if (ahead != CST_NONE && behind != CST_NONE) learn(w, behind, pure);
    }
    return w->news;
}

/* 1000 and the like: more likely mm/m than a pure number */
static int converts(double x)
{
    double n = x > 0 ? log10(x) : 0;
    return fabs(n) >= 2 && n == round(n);
}

static dim of_objective(const sweep *w, int i)
{
    cst_id y = w->m->objective.at[i].value;
    return is_const(w, y) ? pure : w->of[y];
}

cst_dimensions cst_dimensions_infer(cst_arena *a, const cst_model *m)
{
    cst_arena *scratch = cst_arena_child(a);
    sweep w = {.m = m, .g = m->graph};
    cst_dimensions d = {.leaf = cst_new(a, dim, m->leaf.n + 1),
                        .objective = cst_new(a, dim, m->objective.n + 1)};
    d.weight = !m->gravity_written;
    begin(&w, scratch);
    find_signs(&w, scratch);
    settle(&w);
    d.wrong = require_bodies(&w);
    for (int i = 0; i < m->typed.n; i++)
        learn(&w, m->typed.at[i].value, cst_dimension_parse(m->typed.at[i].unit));
    settle(&w);
    for (unsigned char *met = cst_new(scratch, unsigned char, cst_graph_values(m->graph) + 1);
         share_out(&w, met);)
        settle(&w);
    cst_dimensions_hidden(a, m, w.of, &d);
    cst_dimensions_clash(a, m, w.of, &d);
    for (int i = 0; i < m->leaf.n; i++) d.leaf[i] = w.of[cst_leaf_id(m->graph, i)];
    for (int i = 0; i < m->objective.n; i++) d.objective[i] = of_objective(&w, i);
    d.component = cst_new(a, dim, m->component.n + 1);
    for (int i = 0; i < m->component.n; i++) d.component[i] = w.of[m->component.at[i].value];
    /* half of something: what nothing says more of is a pure number, unless that leads to a
     * contradiction */
    for (int i = 0; i < m->leaf.n; i++)
        if (!converts(cst_leaf_nominal(m->graph, i))) learn(&w, cst_leaf_id(m->graph, i), pure);
    settle(&w);
    for (int i = 0; i < m->objective.n; i++) {
        dim y = of_objective(&w, i);
        if (d.objective[i].state == CST_DIMENSION_UNKNOWN && cst_dimension_known(&y))
            d.objective[i] = y;
    }
    cst_arena_free(scratch);
    return d;
}
