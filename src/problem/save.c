/* SPDX-License-Identifier: MIT
 *
 * The model file with other numbers, for the best design: the user's text with each number replaced
 * in its place, and with file names made relative to the new directory. A number without a unique
 * place in the file (it is in an included file, in a part that is used twice, or came from --set)
 * goes into the section `set`. The new text is read back and compared before it is accepted; if it
 * does not give the same numbers, a file that includes the user's file is written instead. */
#define _XOPEN_SOURCE 700 /* realpath */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/writer.h"
#include "number/parse.h"
#include "problem/problem.h"

typedef struct edit {
    size_t at, length; /* bytes of the old text */
    const char *text;
} edit;

typedef struct writer {
    cst_problem *p;
    cst_arena *a;
    const double *x;
    const char *path; /* of the new file */
    const char *text; /* the old one */
    size_t n;
    CST_LIST(edit) edit;
    CST_LIST(const char *) set; /* lines NAME: value */
} writer;

/* ---- places ---- */

/* Line and column count from 1, columns in characters. */
static int offset_of(const writer *w, cst_where at, size_t *offset)
{
    const char *s = w->text, *end = w->text + w->n;
    for (int line = 1; line < at.line; line++) {
        s = memchr(s, '\n', (size_t)(end - s));
        if (!s) return 0;
        s++;
    }
    for (int col = 1; col < at.col && s < end; col++) {
        size_t n = cst_text_utf8(s, (size_t)(end - s));
        s += n ? n : 1;
    }
    *offset = (size_t)(s - w->text);
    return s < end;
}

static int in_file(const writer *w, cst_where at)
{
    return at.line > 0 && at.file && strcmp(at.file, w->p->m->file) == 0;
}

static int same_place(cst_where a, cst_where b)
{
    return a.line == b.line && a.col == b.col && strcmp(a.file, b.file) == 0;
}

/* A part that is used twice has each number of its text twice. */
static int has_own_place(const writer *w, int leaf)
{
    const cst_model *m = w->p->m;
    for (int i = 0; i < m->leaf.n; i++)
        if (i != leaf && m->leaf.at[i].where.file &&
            same_place(m->leaf.at[i].where, m->leaf.at[leaf].where))
            return 0;
    return 1;
}

/* ---- numbers ---- */

/* The shortest text whose value times factor is v */
static const char *number_text(cst_arena *a, double v, double factor)
{
    char text[40];
    double near = v / factor;
    for (int digits = 6; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, near);
        if (strtod(text, NULL) * factor == v) return cst_arena_strdup(a, text);
    }
    for (int k = 0; k < 8; k++) { /* the division has rounded: a neighbour may fit */
        double other = near;
        for (int i = 0; i <= k / 2; i++) other = nextafter(other, k % 2 ? INFINITY : -INFINITY);
        if (other * factor == v) return cst_arena_printf(a, "%.17g", other);
    }
    return cst_arena_printf(a, "%.17g", near);
}

/* The leaf's text `5`, `5 mm`, `sqrt(2^2 + 1)`, or a literal inside an expression, at `where`; its
 * unit stays. */
static int replace_at(writer *w, int leaf, cst_where where, double value)
{
    const cst_leaf *l = &w->p->m->leaf.at[leaf];
    double nominal = cst_model_number_value(w->p->m, leaf), plain;
    size_t at;
    char *end;
    if (!in_file(w, where) || !offset_of(w, where, &at)) return 0;
    const char *old =
        cst_arena_strndup(w->a, w->text + at,
                          l->length > 0 ? (size_t)l->length : strcspn(w->text + at, "\n"));
    double written = strtod(old, &end);
    int literal = l->length == 0, is_plain = literal || cst_parse_plain(old, &plain);
    if (literal && end == old) return 0;
    edit e = {.at = at,
              .length =
                  is_plain && end > old && written != 0 ? (size_t)(end - old) : (size_t)l->length};
    double factor = is_plain && written != 0 ? nominal / written : l->factor;
    if (literal && written == 0) return 0;
    e.text = number_text(w->a, value, factor);
    if (literal && value < 0) e.text = cst_arena_printf(w->a, "(%s)", e.text);
    *cst_push(w->a, &w->edit) = e;
    return 1;
}

/* At its place, and where it is written again */
static int replace_number(writer *w, int leaf, double value)
{
    const cst_leaf *l = &w->p->m->leaf.at[leaf];
    const int edits = w->edit.n;
    int ok = has_own_place(w, leaf) && replace_at(w, leaf, l->where, value);
    if (ok && l->again.file) ok = replace_at(w, leaf, l->again, value);
    if (!ok) w->edit.n = edits;
    return ok;
}

static void set_line(writer *w, const char *name, const char *value)
{
    *cst_push(w->a, &w->set) = cst_arena_printf(w->a, "\"%s\": %s", name, value);
}

static void set_number(writer *w, int leaf, double value)
{
    const cst_leaf *l = &w->p->m->leaf.at[leaf];
    set_line(w, l->name, number_text(w->a, value, l->factor));
}

static void collect_numbers(writer *w, int in_place)
{
    const cst_problem *p = w->p;
    for (int i = 0; i < p->n; i++) {
        const cst_variable *v = &p->design->variable.at[i];
        if (!in_place || !replace_number(w, v->leaf, w->x[i])) set_number(w, v->leaf, w->x[i]);
    }
    for (int k = 0; k < p->nset; k++) { /* values of the line that are no variables */
        size_t n = strcspn(p->set[k], "=");
        const char *name = cst_arena_strndup(w->a, p->set[k], n);
        int variable = 0, later = 0;
        for (int i = 0; i < p->n; i++)
            variable |= strcmp(p->design->variable.at[i].name, name) == 0;
        for (int i = k + 1; i < p->nset; i++) later |= strncmp(p->set[i], p->set[k], n + 1) == 0;
        if (!variable && !later)
            set_line(w, name, cst_arena_printf(w->a, "\"%s\"", p->set[k] + n + 1));
    }
}

/* ---- files ---- */

/* From the directory of the new file to `target`, in quotes */
static const char *lead_to(writer *w, const char *target)
{
    char from[4096 + 1], to[4096 + 1];
    const char *slash = strrchr(w->path, '/');
    const char *dir =
        slash ? cst_arena_strndup(w->a, w->path, (size_t)(slash - w->path + (slash == w->path)))
              : ".";
    if (!realpath(dir, from) || !realpath(target, to)) return NULL;
    size_t same = 0;
    for (size_t i = 0; from[i] == to[i] && from[i]; i++)
        if (from[i] == '/') same = i + 1;
    size_t n = strlen(from);
    if (strncmp(from, to, n) == 0 && to[n] == '/') same = n + 1; /* below the directory itself */
    const char *up = "";
    for (size_t i = same; i < n; i++)
        if (i == same || from[i] == '/') up = cst_arena_printf(w->a, "%s../", up);
    return cst_arena_printf(w->a, "\"%s%s\"", up, to + same);
}

/* Names of files, in quotes or plain */
static int replace_files(writer *w)
{
    const cst_model *m = w->p->m;
    for (int i = 0; i < m->file_ref.n; i++) {
        const cst_file_ref *r = &m->file_ref.at[i];
        size_t at;
        int known = 0;
        if (!in_file(w, r->where)) continue;
        if (!offset_of(w, r->where, &at)) return 0;
        for (int k = 0; k < w->edit.n; k++) known |= w->edit.at[k].at == at;
        const char *s = w->text + at,
                   *close = *s == '"' || *s == '\'' ? memchr(s + 1, *s, w->n - at - 1) : NULL;
        size_t length = close ? (size_t)(close + 1 - s) : (size_t)r->length;
        const char *text = lead_to(w, r->path);
        if (!text) return 0;
        if (!known) *cst_push(w->a, &w->edit) = (edit){at, length, text};
    }
    return 1;
}

/* ---- the new text ---- */

static int by_place(const void *a, const void *b)
{
    size_t x = ((const edit *)a)->at, y = ((const edit *)b)->at;
    return (x > y) - (x < y);
}

/* Lines of `set` come behind everything; a file that has such a section already is included
 * instead. */
static int place_set(writer *w)
{
    if (w->set.n == 0) return 1;
    cst_diag *quiet = cst_new(w->a, cst_diag, 1);
    const cst_yaml *doc = cst_yaml_parse(w->a, w->p->m->file, w->text, w->n, quiet);
    if (!doc || cst_yaml_get(doc, "set")) return 0;
    const char *all = w->n && w->text[w->n - 1] == '\n' ? "\nset:\n" : "\n\nset:\n";
    for (int i = 0; i < w->set.n; i++) all = cst_arena_printf(w->a, "%s  %s\n", all, w->set.at[i]);
    *cst_push(w->a, &w->edit) = (edit){w->n, 0, all};
    return 1;
}

static const char *apply(writer *w)
{
    size_t n = w->n + 1, from = 0, to = 0;
    if (w->edit.n) qsort(w->edit.at, (size_t)w->edit.n, sizeof *w->edit.at, by_place);
    for (int i = 0; i < w->edit.n; i++) n += strlen(w->edit.at[i].text);
    char *text = cst_new(w->a, char, n);
    for (int i = 0; i < w->edit.n; i++) {
        const edit *e = &w->edit.at[i];
        if (e->at < from || e->at + e->length > w->n) return NULL; /* two numbers at one place */
        memcpy(text + to, w->text + from, e->at - from);
        to += e->at - from;
        memcpy(text + to, e->text, strlen(e->text));
        to += strlen(e->text);
        from = e->at + e->length;
    }
    memcpy(text + to, w->text + from, w->n - from);
    return text;
}

/* Does the text give the numbers that were asked for, and no other? */
static int fits(writer *w, const char *text)
{
    const cst_problem *p = w->p;
    double *want = cst_new(w->a, double, p->m->leaf.n + 1);
    cst_diag *quiet = cst_new(w->a, cst_diag, 1);
    for (int i = 0; i < p->m->leaf.n; i++) want[i] = cst_model_number_value(p->m, i);
    for (int i = 0; i < p->n; i++) want[p->design->variable.at[i].leaf] = w->x[i];
    cst_model *m = cst_model_parse(w->path, text, strlen(text), 0, NULL, quiet);
    int ok = m && m->leaf.n == p->m->leaf.n;
    for (int i = 0; i < p->m->leaf.n && ok; i++)
        ok = fabs(cst_model_number_value(m, i) - want[i]) <= 4e-16 * fabs(want[i]);
    cst_model_free(m);
    return ok;
}

static const char *in_place(writer *w)
{
    collect_numbers(w, 1);
    const char *text = replace_files(w) && place_set(w) ? apply(w) : NULL;
    return text && fits(w, text) ? text : NULL;
}

static const char *including(writer *w)
{
    const char *file = lead_to(w, w->p->m->file);
    w->set.n = 0;
    collect_numbers(w, 0);
    if (!file) return NULL;
    char *text = cst_arena_printf(w->a, "costate: 1\ninclude: %s\nset:\n", file);
    for (int i = 0; i < w->set.n; i++)
        text = cst_arena_printf(w->a, "%s  %s\n", text, w->set.at[i]);
    return fits(w, text) ? text : NULL;
}

static cst_status write_whole(writer *w, const char *text, cst_diag *d)
{
    cst_writer *o = cst_writer_open(w->a, w->path, d);
    if (!o) return CST_OUTPUT;
    cst_writer_write(o, text, strlen(text));
    return cst_writer_close(o, d) ? CST_OK : CST_OUTPUT;
}

cst_status cst_problem_save(cst_problem *p, const double *x, const char *path, cst_diag *d)
{
    cst_arena a = {0};
    if (CST_ARENA_GUARD(&a)) {
        cst_arena_free(&a);
        return cst_error(d, CST_MEMORY, (cst_where){.file = path}, "out of memory");
    }
    writer *w = cst_new(&a, writer, 1);
    *w = (writer){.p = p, .a = &a, .x = x, .path = path};
    cst_status ok = CST_IO;
    if ((w->text = cst_file_read(&a, p->m->file, p->m->root, (size_t)256 << 20, &w->n, d))) {
        const char *text = in_place(w);
        if (!text) text = including(w);
        ok = text ? write_whole(w, text, d)
                  : cst_error(d, CST_OUTPUT, (cst_where){.file = path},
                              "the numbers cannot be written into a copy of '%s'", p->m->file);
    }
    cst_arena_free(&a);
    return ok;
}
