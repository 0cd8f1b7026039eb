/* SPDX-License-Identifier: MIT */
#define _POSIX_C_SOURCE 200809L /* uselocale */
#include "base/json.h"

#include "base/text.h"

#include <assert.h>
#include <locale.h>
#include <math.h>
#include <string.h>

enum { PRETTY_DEPTH = 3 }; /* deeper levels stay on one line */

static void line_break(cst_json *j)
{
    if (!j->pretty || j->depth > PRETTY_DEPTH) return;
    fputc('\n', j->f);
    for (int i = 0; i < j->depth; i++) fputs("  ", j->f);
}

static void write_text(FILE *f, const char *s)
{
    fputc('"', f);
    for (size_t length; *s; s += length) {
        unsigned char c = (unsigned char)*s;
        length = cst_text_utf8(s, 4);
        if (!length) {
            fputs("\\ufffd", f);
            length = 1;
        } else if (c == '"' || c == '\\') {
            fprintf(f, "\\%c", c);
        } else if (c == '\n') {
            fputs("\\n", f);
        } else if (c == '\t') {
            fputs("\\t", f);
        } else if (c < ' ' || c == 0x7F || c == '<') { /* '<': the text may be embedded in HTML */
            fprintf(f, "\\u%04x", c);
        } else {
            fwrite(s, 1, length, f);
        }
    }
    fputc('"', f);
}

static void write_number(FILE *f, double x)
{
    if (!isfinite(x)) {
        fputs("null", f);
        return;
    }
    /* "C" is a static object of the C library: nothing to free */
    locale_t old = uselocale(newlocale(LC_ALL_MASK, "C", (locale_t)0));
    fprintf(f, "%.17g", x);
    uselocale(old);
}

/* Comma, line break and key: what stands before every value. */
static void before(cst_json *j, const char *key)
{
    assert((key != NULL) == (j->level[j->depth].close == '}') &&
           "values have keys exactly inside objects");
    assert((j->depth > 0 || j->level[0].n == 0) && "one value at the top");
    if (j->level[j->depth].n++) fputs(j->pretty && j->depth <= PRETTY_DEPTH ? "," : ", ", j->f);
    if (j->depth) line_break(j);
    if (!key) return;
    write_text(j->f, key);
    fputs(": ", j->f);
}

static void open_level(cst_json *j, const char *key, char open, char close)
{
    before(j, key);
    fputc(open, j->f);
    assert(j->depth < CST_JSON_DEPTH);
    j->depth++;
    j->level[j->depth].close = close;
    j->level[j->depth].n = 0;
}

cst_json cst_json_begin(FILE *f, int pretty) { return (cst_json){.f = f, .pretty = pretty}; }

void cst_json_object(cst_json *j, const char *key) { open_level(j, key, '{', '}'); }

void cst_json_array(cst_json *j, const char *key) { open_level(j, key, '[', ']'); }

void cst_json_close(cst_json *j)
{
    assert(j->depth > 0);
    char close = j->level[j->depth].close;
    long n = j->level[j->depth].n;
    int broken = j->depth <= PRETTY_DEPTH;
    j->depth--;
    if (n && broken) line_break(j);
    fputc(close, j->f);
}

void cst_json_number(cst_json *j, const char *key, double x)
{
    before(j, key);
    write_number(j->f, x);
}

void cst_json_integer(cst_json *j, const char *key, long long i)
{
    before(j, key);
    fprintf(j->f, "%lld", i);
}

void cst_json_text(cst_json *j, const char *key, const char *s)
{
    before(j, key);
    if (s)
        write_text(j->f, s);
    else
        fputs("null", j->f);
}

void cst_json_bool(cst_json *j, const char *key, int b)
{
    before(j, key);
    fputs(b ? "true" : "false", j->f);
}

void cst_json_null(cst_json *j, const char *key)
{
    before(j, key);
    fputs("null", j->f);
}

void cst_json_numbers(cst_json *j, const char *key, int n, const double *x)
{
    before(j, key);
    fputc('[', j->f);
    for (int i = 0; i < n; i++) {
        if (i) fputs(", ", j->f);
        write_number(j->f, x[i]);
    }
    fputc(']', j->f);
}

int cst_json_end(cst_json *j)
{
    assert(j->depth == 0 && "every object and array is closed");
    fputc('\n', j->f);
    return fflush(j->f) != 0 || ferror(j->f);
}
