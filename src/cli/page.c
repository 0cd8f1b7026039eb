/* SPDX-License-Identifier: MIT
 *
 * Headings, paragraphs and tables, for the terminal and as Markdown. */
#include "cli/term.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

/* Characters, not bytes: continuation bytes of UTF-8 take no column. */
static int width_of(const char *s, size_t n)
{
    int w = 0;
    for (size_t i = 0; i < n && s[i]; i++) w += ((unsigned char)s[i] & 0xc0) != 0x80;
    return w;
}

static int width(const char *s) { return width_of(s, strlen(s)); }

static void blanks(FILE *f, int n)
{
    while (n-- > 0) fputc(' ', f);
}

/* Characters with a meaning in Markdown are escaped, except in code. */
static void markdown(FILE *f, const char *s, int cell)
{
    int code = 0;
    for (; *s; s++) {
        if (*s == '`') code = !code;
        if ((*s == '|' && cell) || (!code && strchr("*<", *s))) fputc('\\', f);
        fputc(*s, f);
    }
}

/* Words from `column` on, later lines indented. */
static void wrap(const cst_page *p, const char *s, int column, int indent)
{
    int first = 1;
    while (*s) {
        size_t n = strcspn(s, " ");
        int w = width_of(s, n);
        if (!first && column + 1 + w > p->width) {
            fputc('\n', p->f);
            blanks(p->f, indent);
            column = indent;
        } else if (!first) {
            fputc(' ', p->f);
            column++;
        }
        fwrite(s, 1, n, p->f);
        column += w;
        first = 0;
        s += n + (s[n] == ' ');
    }
    fputc('\n', p->f);
}

void cst_page_gap(const cst_page *p) { fputc('\n', p->f); }

void cst_page_heading(const cst_page *p, int level, const char *text)
{
    if (p->markdown) {
        for (int i = 0; i < level; i++) fputc('#', p->f);
        fprintf(p->f, " %s\n\n", text);
    } else {
        fprintf(p->f, "%s%s%s\n", p->style.bold, text, p->style.off);
    }
}

void cst_page_text(const cst_page *p, const char *text)
{
    if (!p->markdown) {
        wrap(p, text, 0, 0);
        return;
    }
    markdown(p->f, text, 0);
    fputs("\n\n", p->f);
}

void cst_page_item(const cst_page *p, const char *text)
{
    fputs(p->markdown ? "- " : "  ", p->f);
    if (p->markdown) {
        markdown(p->f, text, 0);
        fputc('\n', p->f);
    } else {
        wrap(p, text, 2, 6);
    }
}

void cst_page_term(const cst_page *p, const char *term, const char *text)
{
    enum { COLUMN = 26 };
    int w = 2 + width(term);
    fprintf(p->f, "  %s", term);
    if (w + 2 > COLUMN) fputc('\n', p->f), w = 0;
    blanks(p->f, COLUMN - w);
    wrap(p, text, COLUMN, COLUMN);
}

void cst_page_code(const cst_page *p, const char *text)
{
    if (p->markdown) fputs("```yaml\n", p->f);
    while (*text) {
        size_t n = strcspn(text, "\n");
        if (!p->markdown && n) blanks(p->f, 4);
        fwrite(text, 1, n, p->f);
        fputc('\n', p->f);
        text += n + (text[n] == '\n');
    }
    if (p->markdown) fputs("```\n\n", p->f);
}

/* ---- tables ---- */

cst_grid cst_grid_new(cst_arena *a, const char *align, const char *const *head)
{
    cst_grid g = {.arena = a, .ncol = (int)strlen(align), .align = align};
    for (int i = 0; i < g.ncol; i++) cst_grid_add(&g, "%s", head ? head[i] : "");
    return g;
}

void cst_grid_add(cst_grid *g, const char *format, ...)
{
    char small[256];
    va_list ap, again;
    va_start(ap, format);
    va_copy(again, ap);
    int n = vsnprintf(small, sizeof small, format, ap);
    va_end(ap);
    char *text = cst_new(g->arena, char, n + 1);
    vsnprintf(text, (size_t)n + 1, format, again);
    va_end(again);
    *cst_push(g->arena, &g->cell) = text;
}

void cst_grid_number(cst_grid *g, double x)
{
    if (isnan(x))
        cst_grid_add(g, "%s", "");
    else
        cst_grid_add(g, "%.6g", x == 0 ? 0.0 : x); /* no -0 */
}

void cst_grid_count(cst_grid *g, int n)
{
    if (n)
        cst_grid_add(g, "%d", n);
    else
        cst_grid_add(g, "%s", "");
}

static const char *cell(const cst_grid *g, int row, int col)
{
    return g->cell.at[row * g->ncol + col];
}

/* characters before the decimal point, or before the exponent */
static int before_point(const char *s) { return (int)strcspn(s, ".e"); }

typedef struct column {
    int width, before;
} column; /* before: columns left of the decimal point */

static column measure(const cst_grid *g, int j, int rows)
{
    column c = {0, 0};
    int after = 0;
    for (int i = 1; i < rows && g->align[j] == '.'; i++) {
        int b = before_point(cell(g, i, j)), a = width(cell(g, i, j)) - b;
        if (b > c.before) c.before = b;
        if (a > after) after = a;
    }
    c.width = c.before + after;
    for (int i = 0; i < rows; i++)
        if (width(cell(g, i, j)) > c.width) {
            int more = width(cell(g, i, j)) - c.width;
            c.width += more;
            c.before += more; /* a wide head: numbers stand under its end */
        }
    return c;
}

static void print_markdown(const cst_grid *g, const cst_page *p, int rows)
{
    for (int i = 0; i < rows; i++) {
        for (int j = 0; j < g->ncol; j++) {
            int code = g->align[j] == 'c' && i > 0 && *cell(g, i, j);
            fputs(code ? "| `" : "| ", p->f);
            markdown(p->f, cell(g, i, j), 1);
            fputs(code ? "` " : " ", p->f);
        }
        fputs("|\n", p->f);
        for (int j = 0; i == 0 && j < g->ncol; j++)
            fputs(strchr("r.", g->align[j]) ? "|--:" : "|---", p->f);
        if (i == 0) fputs("|\n", p->f);
    }
    fputc('\n', p->f);
}

static void print_row(const cst_grid *g, const cst_page *p, int row, const column *col)
{
    int at = 2, owed = 2; /* blanks are printed before text only: no line ends with them */
    for (int j = 0; j < g->ncol; j++) {
        const char *s = cell(g, row, j);
        int w = width(s), left = 0, decimal = g->align[j] == '.';
        if (g->align[j] == 'r' || (decimal && row == 0)) left = col[j].width - w;
        if (decimal && row > 0) left = col[j].before - before_point(s);
        if (*s) {
            blanks(p->f, owed + left);
            owed = 0;
            if (g->align[j] == 'w' && row > 0) {
                wrap(p, s, at, at);
                return;
            }
            fputs(s, p->f);
        } else {
            owed += left;
        }
        owed += col[j].width - left - w + 2;
        at += col[j].width + 2;
    }
    fputc('\n', p->f);
}

void cst_grid_print(const cst_grid *g, const cst_page *p)
{
    int rows = g->cell.n / g->ncol, head = 0;
    if (p->markdown) {
        print_markdown(g, p, rows);
        return;
    }
    column col[16];
    for (int j = 0; j < g->ncol; j++) col[j] = measure(g, j, rows), head |= cell(g, 0, j)[0] != 0;
    if (head) {
        fputs(p->style.dim, p->f);
        print_row(g, p, 0, col);
        fputs(p->style.off, p->f);
    }
    for (int i = 1; i < rows; i++) print_row(g, p, i, col);
}
