/* SPDX-License-Identifier: MIT
 *
 * Where a model hides a mass or a length that is no number of its file: a function such as exp of a
 * quantity that has a dimension (it counts in units), data of tables (all abscissae, and values
 * that come from a file), and defaults. */
#include "model/dimensions.h"

#include "number/graph_private.h"
#include "number/table.h"

typedef struct search {
    cst_arena *a;
    const cst_model *m;
    const cst_graph *g;
    const cst_dimension *of;
    unsigned char *met; /* (values) 1: the objective reads it, 2: some objective does */
} search;

/* Arguments of a value that objectives read, through what is summed up and remembered over the run;
 * up to 3 */
static int arguments(const search *s, const node *v, cst_id *to)
{
    const cst_channel *c = &v->channel;
    int n = cst_node_arguments(v);
    for (int i = 0; i < n; i++) to[i] = v->a[i];
    if (v->kind != NODE_CHANNEL) return n;
    to[0] = c->kind == CST_CH_RESULT ? s->m->functional.at[c->index].value
            : c->kind == CST_CH_QUAD ? s->m->quad.at[c->index].rate
            : c->kind == CST_CH_MEM  ? s->m->memory.at[c->index].value
                                     : CST_NONE;
    return to[0] >= 0;
}

static void reach(search *s, cst_id root)
{
    CST_LIST(cst_id) todo = {0};
    *cst_push(s->a, &todo) = root;
    while (todo.n) {
        cst_id id = todo.at[--todo.n], arg[3];
        if (s->met[id] & 1) continue;
        s->met[id] = 3;
        int n = arguments(s, &s->g->node.at[id], arg);
        for (int i = 0; i < n; i++) *cst_push(s->a, &todo) = arg[i];
    }
}

/* What value id hides of base; NULL: nothing */
static const char *hides(const search *s, cst_id id, int base)
{
    const node *v = &s->g->node.at[id];
    const char *of = cst_base_word[base];
    const cst_dimension *x = v->kind == NODE_OP || v->kind == NODE_TABLE ? &s->of[v->a[0]] : NULL;
    int has = x && cst_dimension_known(x) && x->x[base] != 0, first;
    if (has && v->kind == NODE_OP && cst_op_manner(v->op, &first) == CST_FUNCTION)
        return cst_arena_printf(s->a, "%s is taken of a quantity that has a %s",
                                cst_op_at(v->op)->name, of);
    if (v->kind != NODE_TABLE) return NULL;
    if (has)
        return cst_arena_printf(
            s->a, "the abscissae of a table have a %s and are data, not numbers of the file", of);
    int data = s->g->table.at[v->a[2]]->y_id == CST_NONE,
        without = cst_dimension_known(&s->of[id]) && s->of[id].x[base] == 0;
    return data && !without
               ? cst_arena_printf(
                     s->a, "values of a table that may have a %s are data, not numbers of the file",
                     of)
               : NULL;
}

/* What the objective reads comes first, then what no objective does: laws. */
static const char *find(const search *s, int base)
{
    int n = cst_graph_values(s->g);
    for (int pass = 0; pass < 2; pass++)
        for (cst_id id = 0; id < n; id++) {
            const char *text =
                (pass ? s->met[id] == 0 : s->met[id] & 1) ? hides(s, id, base) : NULL;
            if (text) return text;
        }
    return NULL;
}

/* "tire.fx, tire.fy and 5 more" */
static const char *defaults_with(cst_arena *a, const cst_model *m, int base)
{
    enum { NAMES = 6 };
    const char *text = NULL;
    int n = 0;
    for (int i = 0; i < m->dflt.n; i++) {
        const cst_dimension d = cst_dimension_parse(m->dflt.at[i].unit);
        if (cst_dimension_known(&d) && d.x[base] == 0) continue;
        if (n++ < NAMES)
            text = cst_arena_printf(a, "%s%s%s", text ? text : "", text ? ", " : "",
                                    m->dflt.at[i].name);
    }
    return n > NAMES ? cst_arena_printf(a, "%s and %d more", text, n - NAMES) : text;
}

void cst_dimensions_hidden(cst_arena *a, const cst_model *m, const cst_dimension *of,
                           cst_dimensions *d)
{
    int n = cst_graph_values(m->graph);
    search s = {a, m, m->graph, of, cst_new(a, unsigned char, n + 1)};
    for (int base = CST_MASS; base <= CST_LENGTH; base++) {
        d->dflt[base] = defaults_with(a, m, base);
        d->hidden[base] = cst_new(a, const char *, m->objective.n + 1);
    }
    for (int o = 0; o < m->objective.n; o++) reach(&s, m->objective.at[o].value);
    for (int o = 0; o < m->objective.n; o++) {
        for (int i = 0; i < n; i++) s.met[i] &= 2;
        reach(&s, m->objective.at[o].value);
        for (int base = CST_MASS; base <= CST_LENGTH; base++) d->hidden[base][o] = find(&s, base);
    }
}
