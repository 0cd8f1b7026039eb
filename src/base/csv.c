/* SPDX-License-Identifier: MIT */
#include "base/csv.h"

#include "base/file.h"

#include <string.h>

enum { MAX_COLUMNS = 4096, MAX_NUMBER = 400, MAX_ERRORS = 20 };
#define MAX_BYTES ((size_t)256 << 20)

typedef struct reader {
    cst_arena *a, *scratch;
    cst_diag *d;
    const char *at, *end; /* the rest of the text */
    const char *line;     /* the present line ... */
    const char *line_end; /* ... without its end */
    cst_where where;
    int errors;
} reader;

typedef struct field {
    const char *at;
    size_t n;
} field; /* blanks around it removed */

static int is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

static cst_where place(const reader *r, const char *at)
{
    cst_where w = r->where;
    w.col = (int)(at - r->line) + 1;
    return w;
}

/* The next line with something in it. */
static int next_line(reader *r)
{
    while (r->at < r->end) {
        const char *stop = memchr(r->at, '\n', (size_t)(r->end - r->at));
        r->line = r->at;
        r->line_end = stop ? stop : r->end;
        r->at = stop ? stop + 1 : r->end;
        r->where.line++;
        while (r->line_end > r->line && is_blank(r->line_end[-1])) r->line_end--;
        const char *first = r->line;
        while (first < r->line_end && is_blank(*first)) first++;
        if (first < r->line_end && *first != '#') return 1;
    }
    return 0;
}

/* The field that begins at s; the place of the comma behind it, or the end of the line. Inside quotes commas
 * belong to the field and "" is a quote; the field then still has its quotes. */
static const char *next_field(const reader *r, const char *s, field *f)
{
    while (s < r->line_end && is_blank(*s)) s++;
    f->at = s;
    int quoted = 0;
    for (; s < r->line_end && (quoted || *s != ','); s++)
        if (*s == '"') quoted = !quoted;
    const char *stop = s;
    while (stop > f->at && is_blank(stop[-1])) stop--;
    f->n = (size_t)(stop - f->at);
    return s;
}

/* Returns 0 if a quote is not closed or stands inside an unquoted name */
static int unquote(cst_arena *a, field f, const char **name)
{
    char *out = cst_new(a, char, f.n + 1);
    *name = out;
    if (!f.n || f.at[0] != '"') {
        memcpy(out, f.at, f.n);
        return memchr(f.at, '"', f.n) == NULL;
    }
    if (f.n < 2 || f.at[f.n - 1] != '"') return 0;
    for (size_t i = 1; i + 1 < f.n; i++) {
        if (f.at[i] == '"' && (i + 2 >= f.n || f.at[++i] != '"')) return 0;
        *out++ = f.at[i];
    }
    return 1;
}

/* Count an error; 0 when enough have been reported. */
static int more(reader *r) { return ++r->errors <= MAX_ERRORS; }

static void read_header(reader *r, cst_csv *c)
{
    CST_LIST(const char *) names = {0};
    int numbers = 0;
    for (const char *s = r->line;; s++) {
        field f;
        double x;
        s = next_field(r, s, &f);
        const char *name;
        if (!unquote(r->a, f, &name) && more(r))
            cst_error(r->d, CST_MODEL, place(r, f.at), "wrong quotes in a column name");
        else if (!*name && more(r))
            cst_error(r->d, CST_MODEL, place(r, f.at), "column %d has no name", names.n + 1);
        numbers += cst_text_number(name, &x);
        int same = cst_map_put(r->a, &c->index, name, names.n);
        if (same >= 0 && *name && more(r))
            cst_error(r->d, CST_MODEL, place(r, f.at), "columns %d and %d have the same name '%s'", same + 1,
                      names.n + 1, name);
        *cst_push(r->scratch, &names) = name;
        if (s == r->line_end || names.n > MAX_COLUMNS) break;
    }
    if (names.n > MAX_COLUMNS && more(r))
        cst_error(r->d, CST_MODEL, place(r, r->line), "more than %d columns", MAX_COLUMNS);
    if (numbers == names.n && more(r))
        cst_error(r->d, CST_MODEL, place(r, r->line),
                  "the first line must name the columns; it has only numbers");
    c->ncol = names.n;
    c->name = cst_new(r->a, const char *, names.n);
    memcpy(c->name, names.at, (size_t)names.n * sizeof *names.at);
}

static void read_number(reader *r, const cst_csv *c, int k, field f, double *x)
{
    char text[MAX_NUMBER + 1];
    if (f.n <= MAX_NUMBER) {
        memcpy(text, f.at, f.n);
        text[f.n] = 0;
        if (cst_text_number(text, x)) return;
    }
    if (!more(r)) return;
    if (f.n)
        cst_error(r->d, CST_MODEL, place(r, f.at), "column '%s': '%.*s' is not a number", c->name[k],
                  f.n < 40 ? (int)f.n : 40, f.at);
    else
        cst_error(r->d, CST_MODEL, place(r, f.at), "column '%s': the number is missing", c->name[k]);
}

/* One line into row[0 .. ncol-1]. */
static void read_row(reader *r, const cst_csv *c, double *row)
{
    int k = 0;
    for (const char *s = r->line;; s++) {
        field f;
        s = next_field(r, s, &f);
        if (k < c->ncol) read_number(r, c, k, f, &row[k]);
        k++;
        if (s == r->line_end) break;
    }
    if (k != c->ncol && more(r))
        cst_error(r->d, CST_MODEL, place(r, r->line), "%d number%s, but there are %d columns", k,
                  k == 1 ? "" : "s", c->ncol);
}

static void read_rows(reader *r, cst_csv *c)
{
    CST_LIST(int) lines = {0};
    size_t cap = 0, nc = (size_t)c->ncol;
    double *table = NULL; /* (nrow x ncol), turned into columns at the end */
    while (r->errors <= MAX_ERRORS && next_line(r)) {
        size_t n = (size_t)lines.n;
        if (n == cap) {
            cap = cap ? 2 * cap : 64;
            double *bigger = cst_new(r->scratch, double, cap *nc);
            if (n) memcpy(bigger, table, n * nc * sizeof *table);
            table = bigger;
        }
        read_row(r, c, table + n * nc);
        *cst_push(r->scratch, &lines) = r->where.line;
    }
    c->nrow = lines.n;
    c->line = cst_new(r->a, int, lines.n);
    if (lines.n) memcpy(c->line, lines.at, (size_t)lines.n * sizeof *lines.at);
    c->column = cst_new(r->a, double *, nc);
    for (size_t k = 0; k < nc; k++) {
        c->column[k] = cst_new(r->a, double, lines.n);
        for (size_t i = 0; i < (size_t)lines.n; i++) c->column[k][i] = table[i * nc + k];
    }
}

cst_csv *cst_csv_parse(cst_arena *a, const char *file_name, const char *text, size_t n, cst_diag *d)
{
    cst_csv *c = cst_new(a, cst_csv, 1);
    c->file = cst_arena_strdup(a, file_name);
    reader r = {.a = a, .d = d, .at = text, .end = text + n, .where = {.file = c->file}};
    cst_where w = r.where;
    const char *wrong = cst_text_check(text, n, &w);
    if (n > MAX_BYTES) wrong = "is larger than 256 MiB";
    if (wrong) {
        cst_error(d, CST_MODEL, w, "%s", wrong);
        return NULL;
    }
    if (!next_line(&r)) {
        cst_error(d, CST_MODEL, r.where, "the file is empty");
        return NULL;
    }
    r.scratch = cst_arena_child(a);
    read_header(&r, c);
    if (!r.errors) read_rows(&r, c);
    cst_arena_free(r.scratch);
    if (!r.errors && !c->nrow) {
        r.errors++;
        cst_error(d, CST_MODEL, (cst_where){.file = c->file},
                  "there are no numbers below the names of the columns");
    }
    return r.errors ? NULL : c;
}

cst_csv *cst_csv_read(cst_arena *a, const char *path, cst_diag *d)
{
    size_t n;
    cst_arena *scratch = cst_arena_child(a);
    const char *text = cst_file_read(scratch, path, MAX_BYTES, &n, d);
    cst_csv *c = text ? cst_csv_parse(a, path, text, n, d) : NULL;
    cst_arena_free(scratch);
    return c;
}

const double *cst_csv_column(const cst_csv *c, const char *name)
{
    int k = cst_map_get(&c->index, name);
    return k < 0 ? NULL : c->column[k];
}
