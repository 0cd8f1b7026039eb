/* SPDX-License-Identifier: MIT
 *
 * The state of one parse: token, place, failure. After the first error the token is TOKEN_END and
 * every function returns a value with n = 0, so that one cause gives one message. */
#ifndef CST_NUMBER_PARSE_PRIVATE_H
#define CST_NUMBER_PARSE_PRIVATE_H

#include "base/text.h"
#include "number/parse.h"

#define PARSE_DEPTH 200
#define PARSE_NAME 256 /* bytes of a dotted name */
#define PARSE_ARGS 16  /* arguments of a call */

typedef enum token_kind { TOKEN_END, TOKEN_NUMBER, TOKEN_NAME, TOKEN_SIGN } token_kind;

typedef struct parser {
    cst_graph *g;
    const char *text;
    cst_where where;
    const cst_scope *scope;
    cst_diag *diag;
    token_kind token;
    const char *at, *next; /* the token's first character, and the first behind it */
    double number;
    int depth, literals, failed;
    int exponent; /* only ^ and signs precede the next primary: it is an exponent */
} parser;

static const cst_value parse_failed = {0};

/* lex.c */
void cst_lex_advance(parser *p);
int cst_lex_sign(const parser *p, const char *sign); /* 1: the token is this sign or word */
cst_where cst_lex_where(const parser *p, const char *at);
cst_value cst_lex_fail(parser *p, const char *at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
const char *cst_lex_blanks(const char *s);
const char *cst_lex_number(const char *s,
                           double *value); /* end of the number at s; NULL: none; inf: too large */
const char *cst_lex_name(const char *s);   /* end of the name at s, s if there is none */

/* unit.c */
const char *cst_unit_match(const char *s,
                           double *factor); /* end of the longest unit at s; NULL: none */

/* parse_call.c */
cst_value cst_parse_call(parser *p, const char *name, const char *at, int narg,
                         const cst_value *arg, const char *const *arg_at);
void cst_parse_unknown(parser *p, const char *what, const char *name, const char *at);
int cst_parse_is_function(const char *name);

#endif
