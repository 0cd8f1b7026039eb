/* SPDX-License-Identifier: MIT
 *
 * Text to value: `2*k_f`, `sqrt(2^2 + 1^2)`, `20 deg`, `if(s < 0, k*s, 0)`, `d.x^2 +
 * norm(RA.force)`.
 *
 *   expr    := or ; or := and ('or' and)* ; and := not ('and' not)* ; not := 'not' not | cmp
 *   cmp     := sum (('<'|'<='|'>'|'>='|'=='|'!=') sum)?
 *   sum     := term (('+'|'-') term)* ; term := unary (('*'|'/') unary)* ; unary := ('-'|'+') unary
 * | power power   := postfix ('^' unary)? (right associative, binds tighter than unary minus: -x^2
 * = -(x^2)) postfix := primary ('.' name)* primary := number unit? | name | name '(' args ')' | '('
 * expr ')' | '[' expr, expr, expr ']'
 *
 * A unit behind a number wins over a name (with a warning if there is such a name). `pi` is known;
 * min and max take two or more arguments.
 *
 * Values have up to 3 components internally (vectors: points, measures, [a, b, c]); functions on
 * vectors: norm, dot, cross; + - on vectors, * and / with a scalar; `.x .y .z` pick components. The
 * result of a parse is a scalar or a 3-vector, as the caller requests. Nesting is limited to 200
 * levels; deeper nesting is reported, so the stack cannot overflow. */
#ifndef CST_NUMBER_PARSE_H
#define CST_NUMBER_PARSE_H

#include "base/diag.h"
#include "base/text.h"
#include "number/graph.h"

/* n = 1 or 3; n = 0: an error that has been reported */
typedef struct cst_value {
    int n;
    cst_id at[3];
} cst_value;

typedef struct cst_scope {
    /* A dotted name, whole (`P1.x`, `RA.force`, `k_f`). Return 1 and fill v; 0: unknown (the parser
     * then tries the name without its last component and picks .x .y .z itself; failing that it
     * reports the nearest name). */
    int (*lookup)(void *ctx, const char *name, cst_where where, cst_value *v);
    /* Functions that are not in ops.def (integral, peak, tables by name); args are parsed. 0:
     * unknown. */
    int (*call)(void *ctx, const char *name, int narg, const cst_value *arg, cst_where where,
                cst_value *v);
    /* Offer all known names to the search for the nearest one; may be NULL. */
    void (*names)(void *ctx, void (*offer)(void *to, const char *name), void *to);
    /* A literal inside an expression: return a leaf id for it, or CST_NONE to make it a constant. k
     * counts from 1. Not called for integer exponents, which are structure. May be NULL. */
    cst_id (*literal)(void *ctx, double value, int k, cst_where where);
    /* The literal that has become this leaf, or CST_NONE, is written with a unit, n characters. May
     * be NULL. */
    void (*unit)(void *ctx, cst_id leaf, const char *unit, int n);
    void *ctx;
} cst_scope;

/* `where` is the place of the first character of text. want: 1 scalar, 3 vector, 0 either. */
cst_value cst_parse(cst_graph *g, const char *text, cst_where where, int want,
                    const cst_scope *scope, cst_diag *diag);

/* 1 when the text is only a number with an optional unit (`-3e2`, `20 deg`, `5 mm`, `.5`): value in
 * SI. */
int cst_parse_plain(const char *text, double *value);
/* Of such a text: where its unit begins, at the end of the text if there is none; n: its length */
const char *cst_parse_plain_unit(const char *text, int *n);

/* Known units and their factors to SI: m mm cm km in, deg rad, kg g t, s ms min, N kN, N/m N/mm,
 * ... */
/* If the unit behind a plain number has a different dimension from `unit`: where it begins, and its
 * length in *n. NULL: it fits, or there is no unit */
const char *cst_unit_misfit(const char *text, const char *unit, int *n);
int cst_unit_factor(const char *unit, double *factor);
void cst_unit_offer(cst_nearest *n);

#endif
