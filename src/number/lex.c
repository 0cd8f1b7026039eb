/* SPDX-License-Identifier: MIT
 *
 * Tokens of an expression, and messages at their places. */
#include "number/parse_private.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static int letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
static int digit(char c) { return c >= '0' && c <= '9'; }

const char *cst_lex_blanks(const char *s)
{
    while (*s == ' ' || *s == '\t' || *s == '\n' || *s == '\r') s++;
    return s;
}

const char *cst_lex_name(const char *s)
{
    if (!letter(*s)) return s;
    while (letter(*s) || digit(*s)) s++;
    return s;
}

static const char *digits(const char *s)
{
    while (digit(*s)) s++;
    return s;
}

const char *cst_lex_number(const char *s, double *value)
{
    const char *end = digits(s);
    int n = (int)(end - s);
    if (*end == '.') {
        const char *f = digits(end + 1);
        n += (int)(f - end - 1);
        end = f;
    }
    if (n == 0) return NULL;
    if (*end == 'e' || *end == 'E') {
        const char *x = end + 1 + (end[1] == '+' || end[1] == '-');
        if (digit(*x)) end = digits(x);
    }
    char copy[400]; /* longer ones are not numbers a person wrote */
    size_t len = (size_t)(end - s);
    *value = INFINITY;
    if (len < sizeof copy) {
        memcpy(copy, s, len);
        copy[len] = 0;
        if (!cst_text_number(copy, value)) *value = INFINITY;
    }
    return end;
}

/* Columns count characters; a line break in a folded scalar starts a new line. */
cst_where cst_lex_where(const parser *p, const char *at)
{
    cst_where w = p->where;
    if (w.line == 0) return w;
    for (const char *s = p->text; s < at; s++) {
        if (*s == '\n') {
            w.line++;
            w.col = 1;
        } else if (((unsigned char)*s & 0xC0) != 0x80) {
            w.col++;
        }
    }
    return w;
}

cst_value cst_lex_fail(parser *p, const char *at, const char *format, ...)
{
    if (!p->failed) {
        char message[512];
        va_list args;
        va_start(args, format);
        vsnprintf(message, sizeof message, format, args);
        va_end(args);
        cst_error(p->diag, CST_MODEL, cst_lex_where(p, at), "%s", message);
    }
    p->failed = 1;
    p->token = TOKEN_END;
    return parse_failed;
}

/* Notation of other languages that means something else or nothing here. */
static const char *foreign(const char *s)
{
    static const char *const hint[][2] = {
        {"**", "'**' is not an operator: write ^ for a power"},
        {"&&", "'&&' is not an operator: write 'and'"},
        {"||", "'||' is not an operator: write 'or'"},
        {"!", "'!' is not an operator: write 'not'"},
        {"=", "'=' is not an operator: write == to compare"},
        {"%", "'%' is not an operator: write mod(a, b)"},
        {"?", "'?' is not an operator: write if(condition, a, b)"},
    };
    for (size_t i = 0; i < sizeof hint / sizeof *hint; i++)
        if (strncmp(s, hint[i][0], strlen(hint[i][0])) == 0) return hint[i][1];
    return NULL;
}

static int sign_length(const char *s)
{
    if (s[1] == '=' && strchr("<>=!", s[0])) return 2;
    if (s[0] == '*' && s[1] == '*') return 0;
    return strchr("+-*/^()[],.<>", s[0]) ? 1 : 0;
}

void cst_lex_advance(parser *p)
{
    if (p->failed) return;
    const char *s = p->at = p->next = cst_lex_blanks(p->next);
    if (!*s) {
        p->token = TOKEN_END;
    } else if (letter(*s)) {
        p->token = TOKEN_NAME;
        p->next = cst_lex_name(s);
    } else if ((p->next = cst_lex_number(s, &p->number))) {
        p->token = TOKEN_NUMBER;
        if (!isfinite(p->number)) cst_lex_fail(p, s, "the number is too large");
    } else if (sign_length(s)) {
        p->token = TOKEN_SIGN;
        p->next = s + sign_length(s);
    } else {
        int len = 1;
        while (((unsigned char)s[len] & 0xC0) == 0x80) len++;
        const char *hint = foreign(s);
        if (hint)
            cst_lex_fail(p, s, "%s", hint);
        else
            cst_lex_fail(p, s, "'%.*s' cannot stand in an expression", len, s);
    }
}

int cst_lex_sign(const parser *p, const char *sign)
{
    size_t len = strlen(sign);
    return (p->token == TOKEN_SIGN || p->token == TOKEN_NAME) && (size_t)(p->next - p->at) == len &&
           memcmp(p->at, sign, len) == 0;
}
