/* SPDX-License-Identifier: MIT
 *
 * Results as JSON. */
#define _XOPEN_SOURCE 700 /* realpath */
#include "cli/session.h"

#include <stdlib.h>
#include <string.h>

#define KINKS 4 /* forces that are named */

void cst_json_objectives(cst_json *j, const cst_run *r, int complete)
{
    cst_json_object(j, "objectives");
    for (int i = 0; complete && i < r->m->objective.n; i++)
        cst_json_number(j, r->m->objective.at[i].name, cst_run_objective(r, i));
    cst_json_close(j);
}

void cst_json_measures_end(cst_json *j, const cst_run *r)
{
    cst_json_object(j, "measures_end");
    for (int i = 0; i < r->m->component.n; i++)
        cst_json_number(j, r->m->component.at[i].name, cst_run_measure(r, i));
    cst_json_close(j);
}

void cst_json_definition(cst_json *j, const char *name, const char *unit, const cst_shown *shown,
                         const cst_label *l)
{
    cst_json_object(j, name);
    if (l->text) cst_json_text(j, "text", l->text);
    if (l->doc) cst_json_text(j, "doc", l->doc);
    cst_json_text(j, "unit", unit);
    cst_json_text(j, "shown_unit", shown->unit);
    cst_json_number(j, "shown_factor", shown->factor);
    cst_json_close(j);
}

void cst_json_definitions(cst_json *j, const cst_model *m)
{
    cst_json_object(j, "definitions");
    for (int i = 0; i < m->objective.n; i++) {
        const cst_objective *o = &m->objective.at[i];
        cst_json_definition(j, o->name, o->unit, &o->shown, &o->label);
    }
    cst_json_close(j);
    cst_json_object(j, "measure_definitions");
    for (int i = 0; i < m->measure.n; i++) {
        const cst_measure *x = &m->measure.at[i];
        for (int k = x->first;
             k < x->first + x->n && (x->label.text || x->label.doc || x->label.unit); k++)
            cst_json_definition(j, m->component.at[k].name, m->component.at[k].unit,
                                &m->component.at[k].shown, &x->label);
    }
    cst_json_close(j);
}

/* On one line, although the file may use several */
const char *cst_objective_says(cst_arena *a, const cst_objective *o)
{
    const char *of = o->label.text ? o->label.text : "", *doc = o->label.doc ? o->label.doc : "";
    char *text = cst_arena_printf(a, "%s%s%s", of, *of && *doc ? ": " : "", doc), *to = text;
    for (const char *s = text; *s; s++) {
        const int blank = *s == ' ' || *s == '\t' || *s == '\n';
        if (!blank || (to > text && to[-1] != ' ')) *to++ = blank ? ' ' : *s;
    }
    *to = 0;
    return text;
}

void cst_json_stats(cst_json *j, const cst_run *r)
{
    const cst_stats n = cst_run_stats(r);
    cst_json_object(j, "stats");
    cst_json_integer(j, "steps", n.steps);
    cst_json_integer(j, "iterations", n.iterations);
    cst_json_integer(j, "factorizations", n.factorizations);
    cst_json_number(j, "forward_s", n.forward_s);
    cst_json_integer(j, "shortened_steps", n.shortened);
    cst_json_number(j, "time", n.time);
    cst_json_number(j, "drift", n.drift);
    cst_json_integer(j, "events", n.events);
    cst_json_integer(j, "coinciding_events", n.coinciding);
    cst_json_integer(j, "either_order_events", n.either);
    cst_json_integer(j, "grazing_events", n.grazing);
    cst_json_integer(j, "chattering_events", n.chattering);
    cst_json_integer(j, "kinks", n.kinks);
    cst_json_object(j, "kinks_of");
    long times;
    const char *name;
    for (int i = 0; (name = cst_run_kinks(r, i, &times)); i++) cst_json_integer(j, name, times);
    cst_json_close(j);
    cst_json_close(j);
}

typedef struct crossed {
    long n;
    int i;
    const char *name;
} crossed;

static int by_number(const void *x, const void *y)
{
    const crossed *a = x, *b = y;
    return a->n != b->n ? (a->n > b->n ? -1 : 1) : a->i - b->i;
}

const char *cst_kinks_text(cst_arena *a, const cst_run *r)
{
    CST_LIST(crossed) list = {0};
    crossed c = {0};
    for (; (c.name = cst_run_kinks(r, c.i, &c.n)); c.i++) *cst_push(a, &list) = c;
    if (!list.n) return "";
    qsort(list.at, (size_t)list.n, sizeof *list.at, by_number);
    const char *text = "";
    for (int i = 0; i < list.n && i < KINKS; i++)
        text =
            cst_arena_printf(a, "%s%s%s %ld", text, i ? ", " : "", list.at[i].name, list.at[i].n);
    return list.n > KINKS ? cst_arena_printf(a, "%s and %d more", text, list.n - KINKS) : text;
}

void cst_print_events(const cst_stats *n, const char *kinks)
{
    if (!n->events && !n->kinks) return;
    printf("%ld event%s", n->events, n->events == 1 ? "" : "s");
    if (n->coinciding && n->either)
        printf(" (%ld coinciding, %ld of them in an order that matters)", n->coinciding, n->either);
    else if (n->coinciding)
        printf(" (%ld coinciding)", n->coinciding);
    if (n->grazing) printf(", %ld grazed", n->grazing);
    if (n->chattering) printf(", %ld chattering", n->chattering);
    if (n->kinks)
        printf(", %ld kink%s of laws crossed: %s", n->kinks, n->kinks == 1 ? "" : "s", kinks);
    printf("\n");
}

void cst_json_messages(cst_json *j, const cst_diag *d) { cst_json_lines(j, "messages", d); }

void cst_json_lines(cst_json *j, const char *key, const cst_diag *d)
{
    cst_json_array(j, key);
    for (const char *s = d->text; *s;) {
        size_t n = strcspn(s, "\n");
        char line[2048];
        snprintf(line, sizeof line, "%.*s", (int)n, s);
        cst_json_text(j, NULL, line);
        s += n + (s[n] == '\n');
    }
    cst_json_close(j);
}

void cst_json_run(cst_json *j, const cst_session *s)
{
    char whole[4096 + 1] = ""; /* PATH_MAX */
    const char **set;
    const cst_options *o = &s->options;
    cst_json_text(j, "costate", cst_version());
    cst_json_text(j, "command", s->args->command->name);
    cst_json_object(j, "model");
    cst_json_text(j, "name", s->model->name);
    cst_json_text(j, "file", s->args->operand.at[0]);
    cst_json_text(j, "path", realpath(s->args->operand.at[0], whole) ? whole : NULL);
    cst_json_close(j);
    cst_json_array(j, "set");
    int n = cst_args_list(s->args, "set", &set);
    for (int i = 0; i < n; i++) cst_json_text(j, NULL, set[i]);
    cst_json_close(j);
    cst_json_object(j, "options");
    cst_json_number(j, "start", o->start);
    cst_json_number(j, "end", o->end);
    cst_json_number(j, "step", o->step);
    cst_json_number(j, "output", o->output);
    cst_json_text(j, "formulation", s->run->options.formulation);
    cst_json_text(j, "integrator", s->run->options.integrator);
    cst_json_text(j, "events", cst_session_word(s, "events", s->model->sim.events));
    cst_json_text(j, "newton", o->full_newton ? "full" : "modified");
    cst_json_close(j);
}
