/* SPDX-License-Identifier: MIT
 *
 * What is added, compared or chosen between although its units differ: metres minus seconds. */
#include "model/dimensions.h"

#include "number/graph_private.h"

typedef struct search {
    cst_arena *a;
    const cst_model *m;
    const cst_dimension *of; /* (values) */
    unsigned char *met;      /* (values) */
} search;

static const char *unit_of(const search *s, const cst_dimension *d)
{
    char text[64];
    cst_dimension_text(d, text, sizeof text);
    return *text ? cst_arena_strdup(s->a, text) : "no unit";
}

/* The value behind a channel: of a functional, an integral, a memory; CST_NONE: there is none */
static cst_id behind(const search *s, const cst_channel *c)
{
    if (c->kind == CST_CH_RESULT) return s->m->functional.at[c->index].value;
    if (c->kind == CST_CH_QUAD) return s->m->quad.at[c->index].rate;
    return c->kind == CST_CH_MEM ? s->m->memory.at[c->index].value : CST_NONE;
}

/* The arguments of v that must be alike: "m and s" if they are not, else NULL */
static const char *apart(const search *s, const node *v)
{
    int first;
    if (v->kind != NODE_OP || cst_op_manner(v->op, &first) != CST_ALIKE) return NULL;
    for (int i = first + 1; i < cst_op_at(v->op)->arity; i++) {
        const cst_dimension *x = &s->of[v->a[first]], *y = &s->of[v->a[i]];
        int same = 1;
        for (int k = 0; k < CST_BASES; k++) same &= x->x[k] == y->x[k];
        if (cst_dimension_known(x) && cst_dimension_known(y) && !same)
            return cst_arena_printf(s->a, "%s and %s", unit_of(s, x), unit_of(s, y));
    }
    return NULL;
}

/* A value whose dimension is contradictory inherits that from one that adds what differs. */
static const char *search_below(search *s, cst_id root)
{
    CST_LIST(cst_id) todo = {0};
    *cst_push(s->a, &todo) = root;
    while (todo.n) {
        const cst_id id = todo.at[--todo.n];
        if (id < 0 || s->met[id] || s->of[id].state != CST_DIMENSION_MIXED) continue;
        s->met[id] = 1;
        const node *v = &s->m->graph->node.at[id];
        const char *found = apart(s, v);
        if (found) return found;
        for (int i = 0; i < cst_node_arguments(v); i++) *cst_push(s->a, &todo) = v->a[i];
        if (v->kind == NODE_CHANNEL) *cst_push(s->a, &todo) = behind(s, &v->channel);
    }
    return NULL;
}

void cst_dimensions_clash(cst_arena *a, const cst_model *m, const cst_dimension *of,
                          cst_dimensions *d)
{
    const int n = m->component.n + m->objective.n;
    search s = {a, m, of, cst_new(a, unsigned char, cst_graph_values(m->graph) + 1)};
    d->clash = cst_new(a, const char *, n + 1);
    for (int i = 0; i < m->measure.n;
         i++) /* of a type: what it consists of is not written in the file */
        for (int k = 0; k < m->measure.at[i].n && !m->measure.at[i].label.text; k++)
            s.met[m->component.at[m->measure.at[i].first + k].value] = 1;
    for (int i = 0; i < n; i++) /* each is named where it is met first */
        d->clash[i] =
            search_below(&s, i < m->component.n ? m->component.at[i].value
                                                : m->objective.at[i - m->component.n].value);
}
