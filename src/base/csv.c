/* SPDX-License-Identifier: MIT */
#define _POSIX_C_SOURCE 200809L /* strcasecmp */
#include "base/csv.h"

#include "base/file.h"

#include <math.h>
#include <string.h>
#include <strings.h>

enum { MAX_COLUMNS = 4096, MAX_NUMBER = 400, MAX_ERRORS = 20 };
#define MAX_BYTES ((size_t)256 << 20)

typedef struct reader {
    cst_arena *a, *scratch;
    cst_diag *d;
    const char *at, *end; /* the rest of the text */
    const char *line;     /* the present line ... */
    const char *line_end; /* ... without its end */
    char separator;       /* ',', ';' or a tab */
    char mark;            /* of decimals, '.' or ','; 0: no number had one yet */
    cst_where where;
    int errors;
} reader;

typedef struct field {
    const char *at;
    size_t n;
} field; /* blanks around it removed */

static int is_blank(const reader *r, char c)
{
    return c == ' ' || c == '\r' || (c == '\t' && r->separator != '\t');
}

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
        while (r->line_end > r->line && is_blank(r, r->line_end[-1])) r->line_end--;
        const char *first = r->line;
        while (first < r->line_end && (is_blank(r, *first) || *first == '\t')) first++;
        if (first < r->line_end && *first != '#') return 1;
    }
    return 0;
}

/* The field that begins at s; the place of the separator behind it, or the end of the line. Inside
 * quotes separators belong to the field and "" is a quote; the field then still has its quotes. */
static const char *next_field(const reader *r, const char *s, field *f)
{
    while (s < r->line_end && is_blank(r, *s)) s++;
    f->at = s;
    int quoted = 0;
    for (; s < r->line_end && (quoted || *s != r->separator); s++)
        if (*s == '"') quoted = !quoted;
    const char *stop = s;
    while (stop > f->at && is_blank(r, stop[-1])) stop--;
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

/* ---- cells ---- */

typedef enum cell { CELL_NUMBER, CELL_MISSING, CELL_TEXT } cell;

/* 1.5, 1,5 or "1,5"; nothing, nan or NA is a missing value. mark: the decimal mark that stands in
 * it, or 0 */
static cell read_cell(field f, double *x, char *mark)
{
    char text[MAX_NUMBER + 1];
    if (f.n >= 2 && f.at[0] == '"' && f.at[f.n - 1] == '"') f.at++, f.n -= 2;
    *x = NAN, *mark = 0;
    if (!f.n) return CELL_MISSING;
    if (f.n > MAX_NUMBER) return CELL_TEXT;
    memcpy(text, f.at, f.n);
    text[f.n] = 0;
    char *comma = strchr(text, ',');
    if (strchr(text, '.')) *mark = '.';
    if (comma) { /* both marks: one of them groups thousands */
        if (*mark || comma[1] < '0' || comma[1] > '9') return CELL_TEXT;
        *mark = ',', *comma = '.';
    }
    if (cst_text_number(text, x)) return CELL_NUMBER;
    return strcasecmp(text, "nan") == 0 || strcmp(text, "NA") == 0 ? CELL_MISSING : CELL_TEXT;
}

/* ---- the dialect ---- */

typedef struct guess {
    int names;      /* in the first line */
    double numbers; /* share of numbers among the cells below */
} guess;

/* What the file looks like with a separator: its first line and the ones that follow */
static guess look(reader r, char separator)
{
    enum { LINES = 20 };
    guess g = {0};
    int cells = 0, good = 0;
    r.separator = separator;
    for (int line = 0; line <= LINES && next_line(&r); line++) {
        int n = 0, numbers = 0;
        for (const char *s = r.line;; s++) {
            field f;
            double x;
            char mark;
            s = next_field(&r, s, &f);
            numbers += read_cell(f, &x, &mark) != CELL_TEXT;
            n++;
            if (s == r.line_end) break;
        }
        if (line == 0) g.names = n;
        if (line > 0) cells += n, good += n == g.names ? numbers : 0;
    }
    g.numbers = cells ? (double)good / cells : 0;
    return g;
}

/* Among the separators that stand in the first line, the one that leaves the largest share of
 * numbers below */
static char find_separator(const reader *r)
{
    static const char separator[] = {',', ';', '\t'};
    int best = 0;
    guess of[3];
    for (int k = 0; k < 3; k++) {
        of[k] = look(*r, separator[k]);
        int splits = of[k].names > 1, best_splits = of[best].names > 1;
        if (splits > best_splits || (splits == best_splits && of[k].numbers > of[best].numbers))
            best = k;
    }
    return separator[best];
}

/* ---- names and units ---- */

/* "F [kN]", "F (kN)": the length of the name alone; 0: there are no brackets behind it. unit: what
 * stands in them */
static size_t split_unit(cst_arena *a, const char *name, const char **unit)
{
    size_t n = strlen(name);
    const char *open = !n                   ? NULL
                       : name[n - 1] == ']' ? strrchr(name, '[')
                       : name[n - 1] == ')' ? strrchr(name, '(')
                                            : NULL;
    if (!open || open == name) return 0;
    *unit = cst_arena_printf(a, "%.*s", (int)(name + n - 1 - open - 1), open + 1);
    for (n = (size_t)(open - name); n && name[n - 1] == ' ';) n--;
    return n;
}

/* Columns are found by the whole text of their first line and, where that is unique, without the
 * unit. */
static void name_columns(reader *r, cst_csv *c)
{
    c->unit = cst_new(r->a, const char *, c->ncol + 1);
    for (int k = 0; k < c->ncol; k++) {
        size_t n = split_unit(r->a, c->name[k], &c->unit[k]);
        if (!n) continue;
        const char *alone = cst_arena_printf(r->a, "%.*s", (int)n, c->name[k]);
        int other = cst_map_get(&c->index, alone),
            theirs = other >= 0 && strcmp(c->name[other], alone) == 0;
        if (!theirs) cst_map_put(r->a, &c->index, alone, other < 0 ? k : -1);
    }
}

static void read_header(reader *r, cst_csv *c)
{
    CST_LIST(const char *) names = {0};
    int numbers = 0, empty = 0; /* empty: names at the end of the line */
    field f = {0}, before;
    for (const char *s = r->line;; s++) {
        before = f;
        double x;
        char mark;
        s = next_field(r, s, &f);
        const char *name;
        if (!unquote(r->a, f, &name) && more(r))
            cst_error(r->d, CST_MODEL, place(r, f.at), "wrong quotes in a column name");
        if (*name && empty && more(r))
            cst_error(r->d, CST_MODEL, place(r, before.at), "column %d has no name", names.n);
        empty = *name ? 0 : empty + 1;
        numbers += read_cell(f, &x, &mark) == CELL_NUMBER;
        int same = *name ? cst_map_put(r->a, &c->index, name, names.n) : -1;
        if (same >= 0 && more(r))
            cst_error(r->d, CST_MODEL, place(r, f.at), "columns %d and %d have the same name '%s'",
                      same + 1, names.n + 1, name);
        *cst_push(r->scratch, &names) = name;
        if (s == r->line_end || names.n > MAX_COLUMNS) break;
    }
    if (names.n > MAX_COLUMNS && more(r))
        cst_error(r->d, CST_MODEL, place(r, r->line), "more than %d columns", MAX_COLUMNS);
    c->ncol = names.n - empty;
    if (numbers == c->ncol && more(r))
        cst_error(r->d, CST_MODEL, place(r, r->line),
                  "the first line must name the columns; it has only numbers");
    c->name = cst_new(r->a, const char *, names.n);
    memcpy(c->name, names.at, (size_t)names.n * sizeof *names.at);
    name_columns(r, c);
}

/* A line below the names without a single number has units, with or without brackets. Those behind
 * the names go first. */
static int read_units(reader *r, cst_csv *c)
{
    int texts = 0, numbers = 0;
    for (int pass = 0; pass < 2; pass++) {
        int k = 0;
        for (const char *s = r->line;; s++, k++) {
            field f;
            double x;
            char mark;
            s = next_field(r, s, &f);
            cell is = read_cell(f, &x, &mark);
            numbers += is == CELL_NUMBER || (is == CELL_MISSING && f.n), texts += is == CELL_TEXT;
            if (pass && k < c->ncol && is == CELL_TEXT && !c->unit[k] &&
                unquote(r->a, f, &c->unit[k])) {
                const char *u = c->unit[k];
                size_t n = strlen(u);
                if (n > 1 && (*u == '[' || *u == '('))
                    c->unit[k] = cst_arena_printf(r->a, "%.*s", (int)n - 2, u + 1);
            }
            if (s == r->line_end) break;
        }
        if (numbers || !texts) return 0;
    }
    return 1;
}

/* ---- rows ---- */

static void note_text(reader *r, cst_csv_text *to, field f, int mixed)
{
    if (to->what) return; /* the first of its column */
    to->where = place(r, f.at);
    to->what = cst_arena_printf(r->a,
                                mixed ? "'%.*s' mixes decimal commas with decimal points"
                                      : "'%.*s' is not a number",
                                f.n < 40 ? (int)f.n : 40, f.at);
}

static void wrong_length(reader *r, const cst_csv *c, int n)
{
    const char *hint = "";
    if (r->separator == ',' && n == 2 * c->ncol)
        hint = "; with decimal commas, columns are separated by ';' or tabs";
    else if (n > c->ncol)
        hint = "; the first line must name them, and lines above it begin with '#'";
    cst_error(r->d, CST_MODEL, place(r, r->line), "%d number%s, but there %s %d column%s%s", n,
              n == 1 ? "" : "s", c->ncol == 1 ? "is" : "are", c->ncol, c->ncol == 1 ? "" : "s",
              hint);
}

/* One line into row[0 .. ncol-1]; empty cells behind the last column do not count. */
static void read_row(reader *r, cst_csv *c, double *row)
{
    int k = 0, n = 0;
    for (const char *s = r->line;; s++) {
        field f;
        double x;
        char mark;
        s = next_field(r, s, &f);
        cell is = read_cell(f, &x, &mark);
        if (is == CELL_NUMBER && mark && !r->mark) r->mark = mark;
        int mixed = is == CELL_NUMBER && mark && mark != r->mark;
        if (k < c->ncol) row[k] = mixed ? NAN : x;
        if (k < c->ncol && (mixed || is == CELL_TEXT)) note_text(r, &c->text[k], f, mixed);
        k++;
        if (f.n || k <= c->ncol) n = k;
        if (s == r->line_end) break;
    }
    if (n != c->ncol && more(r)) wrong_length(r, c, n);
}

static void read_rows(reader *r, cst_csv *c)
{
    CST_LIST(int) lines = {0};
    size_t cap = 0, nc = (size_t)c->ncol;
    double *table = NULL; /* (nrow x ncol), turned into columns at the end */
    c->text = cst_new(r->a, cst_csv_text, nc);
    int first = 1;
    while (r->errors <= MAX_ERRORS && next_line(r)) {
        size_t n = (size_t)lines.n;
        if (first && (first = 0, read_units(r, c))) continue;
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
    if (wrong) wrong = cst_arena_printf(a, "%s; a table must be text in UTF-8", wrong);
    if (n > MAX_BYTES) wrong = "is larger than 256 MiB";
    if (wrong) {
        cst_error(d, CST_MODEL, w, "%s", wrong);
        return NULL;
    }
    r.separator = find_separator(&r);
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

cst_csv *cst_csv_read(cst_arena *a, const char *path, const char *root, cst_diag *d)
{
    size_t n;
    cst_arena *scratch = cst_arena_child(a);
    const char *text = cst_file_read(scratch, path, root, MAX_BYTES, &n, d);
    cst_csv *c = text ? cst_csv_parse(a, path, text, n, d) : NULL;
    cst_arena_free(scratch);
    return c;
}

int cst_csv_find(const cst_csv *c, const char *name) { return cst_map_get(&c->index, name); }

const double *cst_csv_column(const cst_csv *c, const char *name)
{
    int k = cst_csv_find(c, name);
    return k < 0 ? NULL : c->column[k];
}

int cst_csv_check(const cst_csv *c, int k, int whole, cst_diag *d)
{
    if (c->text[k].what) {
        cst_error(d, CST_MODEL, c->text[k].where, "column '%s': %s", c->name[k], c->text[k].what);
        return 0;
    }
    for (int i = 0; whole && i < c->nrow; i++)
        if (isnan(c->column[k][i])) {
            cst_error(d, CST_MODEL, (cst_where){c->file, c->line[i], 1},
                      "column '%s': the number is missing", c->name[k]);
            return 0;
        }
    return 1;
}
