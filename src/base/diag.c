/* SPDX-License-Identifier: MIT */
#include "base/diag.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

#ifndef CST_VERSION
#define CST_VERSION "0.0.0"
#endif

enum {
    LINE_MAX_BYTES = 1024,
    TAIL = 64
}; /* TAIL: room kept for the line that counts what was left out */

const char *cst_version(void) { return CST_VERSION; }

const char *cst_status_text(cst_status s)
{
    static const char *const text[] = {
#define X(name, words) [name] = words,
        CST_STATUS_LIST(X)
#undef X
    };
    return (size_t)s < sizeof text / sizeof *text ? text[s] : "unknown status";
}

/* A message is one line, and the contents of a file must not send control characters to the
 * terminal. */
static void clean(char *line)
{
    for (char *c = line; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 0x7f)
            *c = *c == '\n' || *c == '\t' || *c == '\r' ? ' ' : '?';
}

/* Cut to end with "..." before the last whole character (UTF-8) that fits. */
static void cut(char *line, size_t size)
{
    size_t n = size - 5;
    while (n && ((unsigned char)line[n] & 0xC0) == 0x80) n--;
    memcpy(line + n, "...", 4);
}

static size_t format_place(char *line, size_t size, cst_where w)
{
    int n = 0;
    if (w.file && w.line > 0)
        n = snprintf(line, size, "%s:%d:%d: ", w.file, w.line, w.col);
    else if (w.file)
        n = snprintf(line, size, "%s: ", w.file);
    if (n < 0) return 0;
    return (size_t)n < size ? (size_t)n : size - 1;
}

/* Records the words of a message; 0: they were there already. What does not fit in the list is
 * new. */
static int first_time(cst_diag *d, uint64_t key)
{
    for (int i = 0; i < d->keys; i++)
        if (d->key[i] == key) return 0;
    if (d->keys < (int)(sizeof d->key / sizeof *d->key)) d->key[d->keys++] = key;
    return 1;
}

/* The length of the number at c, which follows `before`; 0: there is none. Digits in names and in
 * places are no numbers: "b2", "file:31:3". */
static size_t number_at(const char *c, char before)
{
    const char *digit = c + strspn(c, "+-.");
    if (*digit < '0' || *digit > '9' || !strchr(" [(=", before)) return 0;
    char *end;
    strtod(c, &end);
    return (size_t)(end - c);
}

/* A message is known by its words: the same complaint about the same place with other values is no
 * other message. */
static uint64_t words_of(const char *line, size_t n)
{
    uint64_t h = CST_HASH_START;
    char before = ' ';
    for (const char *c = line; c < line + n; before = *c++) {
        c += number_at(c, before);
        if (c < line + n) h = cst_hash(h, (unsigned char)*c);
    }
    return h;
}

static void count_left_out(cst_diag *d)
{
    d->text[d->used] = 0;
    if (d->left_out)
        snprintf(d->text + d->used, TAIL, "(%d more message%s)\n", d->left_out,
                 d->left_out == 1 ? "" : "s");
}

/* 1: a new message */
static int append(cst_diag *d, cst_where w, size_t limit, const char *kind, const char *format,
                  va_list args)
{
    char line[LINE_MAX_BYTES];
    size_t n = format_place(line, sizeof line / 2, w);
    n += (size_t)snprintf(line + n, sizeof line - n, "%s: ", kind);
    int body = vsnprintf(line + n, sizeof line - n, format, args);
    if (body >= (int)(sizeof line - n)) cut(line, sizeof line);
    clean(line);
    n = strlen(line);
    if (!first_time(d, words_of(line, n))) {
        d->repeated++;
        return 0;
    }
    if (d->used + n + 1 <= limit - TAIL) {
        memcpy(d->text + d->used, line, n);
        d->used += n;
        d->text[d->used++] = '\n';
    } else {
        d->left_out++;
    }
    count_left_out(d);
    return 1;
}

cst_status cst_error(cst_diag *d, cst_status status, cst_where w, const char *format, ...)
{
    if (!d) return status;
    va_list args;
    va_start(args, format);
    d->errors++, d->status = status;
    append(d, w, sizeof d->text, "error", format, args);
    va_end(args);
    return status;
}

void cst_note(cst_diag *d, cst_where w, const char *format, ...)
{
    if (!d) return;
    va_list args;
    va_start(args, format);
    append(d, w, sizeof d->text / 2, "note", format, args);
    va_end(args);
}

/* Warnings fill at most half of the text: there is always room for the error that follows them. */
void cst_warn(cst_diag *d, cst_where w, const char *format, ...)
{
    if (!d) return;
    va_list args;
    va_start(args, format);
    d->warnings += append(d, w, sizeof d->text / 2, "warning", format, args);
    va_end(args);
}

/* A line of another diag, with its end. */
static void append_line(cst_diag *d, const char *line, size_t n)
{
    if (!first_time(d, words_of(line, n - 1))) {
        d->repeated++;
        return;
    }
    if (d->used + n > sizeof d->text - TAIL) {
        d->left_out++;
        return;
    }
    memcpy(d->text + d->used, line, n);
    d->used += n;
}

/* keep: lines with this word; NULL: all */
static void append_lines(cst_diag *d, const cst_diag *more, const char *keep)
{
    for (const char *line = more->text; line < more->text + more->used;) {
        size_t n = strcspn(line, "\n") + 1;
        const char *word = keep ? strstr(line, keep) : line;
        if (word && word < line + n) append_line(d, line, n);
        line += n;
    }
    count_left_out(d);
}

void cst_diag_append(cst_diag *d, const cst_diag *more)
{
    if (!d) return;
    d->errors += more->errors;
    d->warnings += more->warnings;
    d->left_out += more->left_out;
    d->repeated += more->repeated;
    append_lines(d, more, NULL);
}

void cst_diag_append_errors(cst_diag *d, const cst_diag *more)
{
    if (!d) return;
    d->errors += more->errors;
    append_lines(d, more, ": error: ");
}
