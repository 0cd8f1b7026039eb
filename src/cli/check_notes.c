/* SPDX-License-Identifier: MIT
 *
 * costate check: what is allowed but rarely intended. Warnings: it may degrade the results. Notes:
 * for information. */
#include "cli/check_notes.h"

#include <math.h>
#include <string.h>

static double mass_of(const cst_session *s, const cst_body *b)
{
    return b->m == CST_NONE ? NAN : s->run->s->val[b->m];
}

/* Names in one line: the first few of them */
typedef struct names {
    char text[900];
    size_t used;
    int n;
    cst_where first;
} names;

static void names_add(names *to, const char *name, cst_where w)
{
    enum { SHOWN = 12 };
    if (to->n++ == 0) to->first = w;
    if (to->n > SHOWN + 1) return;
    const char *gap = to->n == 1 ? "" : ", ";
    to->used += (size_t)snprintf(to->text + to->used, sizeof to->text - to->used, "%s%.60s", gap,
                                 to->n <= SHOWN ? name : "...");
}

static void warn_massless(cst_session *s)
{
    names list = {0};
    for (int i = 0; i < s->model->body.n; i++) {
        const cst_body *b = &s->model->body.at[i];
        if (mass_of(s, b) == 0) names_add(&list, b->name, b->where);
    }
    if (list.n == 1) cst_warn(&s->diag, list.first, "body '%s' has no mass", list.text);
    if (list.n > 1) cst_warn(&s->diag, list.first, "%d bodies have no mass: %s", list.n, list.text);
}

static void warn_condition(cst_session *s, double rcond)
{
    const cst_body *light = NULL, *heavy = NULL;
    for (int i = 0; i < s->model->body.n; i++) {
        const cst_body *b = &s->model->body.at[i];
        double m = mass_of(s, b);
        if (!(m > 0)) continue;
        if (!light || m < mass_of(s, light)) light = b;
        if (!heavy || m > mass_of(s, heavy)) heavy = b;
    }
    cst_where w = cst_session_where(s);
    if (light && mass_of(s, heavy) > 1e9 * mass_of(s, light))
        cst_warn(&s->diag, light->where,
                 "'%s' has %.3g kg and '%s' %.3g kg: this ratio reduces accuracy", light->name,
                 mass_of(s, light), heavy->name, mass_of(s, heavy));
    if (rcond < 1e-14)
        cst_warn(&s->diag, w,
                 "the equations are badly conditioned (rcond %.2g): masses or stiffnesses of very "
                 "different size, or nearly dependent joints",
                 rcond);
}

/* Bodies that no joint and no force touches */
static void note_alone(const cst_session *s, cst_diag *notes)
{
    const cst_model *m = s->model;
    unsigned char *touched = cst_new(s->arena, unsigned char, m->body.n + 1);
    for (int i = 0; i < m->force.n; i++)
        for (int k = 0; k < m->force.at[i].nslot; k++) {
            int body = m->slot.at[m->force.at[i].slot[k]].body;
            if (body >= 0) touched[body] = 1;
        }
    for (int i = 0; i < m->constraint.n; i++)
        for (int k = 0; k < m->constraint.at[i].nslot; k++) {
            int body = m->slot.at[m->constraint.at[i].slot[k]].body;
            if (body >= 0) touched[body] = 1;
        }
    for (int i = 0; i < m->body.n; i++)
        if (!touched[i])
            cst_note(notes, m->body.at[i].where,
                     "body '%s' has no joint and no force: it moves freely", m->body.at[i].name);
}

/* Measures are results in their own right, so one line names them all. */
static void note_measures(const cst_session *s, cst_diag *notes)
{
    const cst_model *m = s->model;
    names list = {0};
    for (int i = 0; i < m->unused.n; i++)
        if (strcmp(m->unused.at[i].what, "measure") == 0)
            names_add(&list, m->unused.at[i].name, m->unused.at[i].where);
    if (list.n == 0 || m->objective.n == 0) return;
    if (list.n == 1)
        cst_note(notes, list.first,
                 "measure '%s' is not used by any objective, law or other measure", list.text);
    else
        cst_note(notes, list.first,
                 "%d measures are not used by any objective, law or other measure: %s", list.n,
                 list.text);
}

/* Forces whose work is neither in the potential nor in the dissipated energy */
static void note_energy(const cst_session *s, cst_diag *notes)
{
    const cst_model *m = s->model;
    names list = {0};
    int asked = 0;
    for (int i = 0; i < m->measure.n; i++) asked |= strcmp(m->measure.at[i].type, "energy") == 0;
    for (int i = 0; asked && i < m->force.n; i++) {
        const cst_force *f = &m->force.at[i];
        int stored = (f->cls->energy && !f->tape) || strcmp(f->type, "state") == 0;
        for (int k = 0; k < m->stored.n; k++) stored |= m->stored.at[k].force == i;
        if (!stored) names_add(&list, f->name, f->where);
    }
    if (list.n)
        cst_note(notes, list.first, "the measure of energy leaves out the work of %s", list.text);
}

void cst_check_notes(cst_session *s, double rcond, cst_diag *notes)
{
    const cst_model *m = s->model;
    warn_massless(s);
    warn_condition(s, rcond);
    note_alone(s, notes);
    for (int i = 0; i < m->unused.n; i++)
        if (strcmp(m->unused.at[i].what, "measure") != 0)
            cst_note(notes, m->unused.at[i].where, "%s '%s' is never used", m->unused.at[i].what,
                     m->unused.at[i].name);
    note_measures(s, notes);
    note_energy(s, notes);
    if (m->objective.n == 0)
        cst_note(notes, cst_session_where(s),
                 "there is no objective: simulate works, gradient does not");
    if (!m->gravity_written && m->body.n > 0)
        cst_note(notes, cst_session_where(s),
                 "gravity is not written: it is [0, 0, -9.81] m/s^2, and not one of the numbers of "
                 "the file");
}
