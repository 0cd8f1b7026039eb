/* SPDX-License-Identifier: MIT
 *
 * A streaming JSON writer. Each value has a key inside an object and NULL as key elsewhere; a wrong
 * nesting is the caller's mistake (assert). Numbers have 17 significant digits whatever the locale;
 * NaN and infinities are null. */
#ifndef CST_BASE_JSON_H
#define CST_BASE_JSON_H

#include <stdio.h>

#define CST_JSON_DEPTH 64

typedef struct cst_json {
    FILE *f;
    int pretty; /* 1: one line per value of the outer levels; 0: everything on one line */
    int depth;
    struct {
        char close;
        long n;
    } level[CST_JSON_DEPTH + 1];
} cst_json;

cst_json cst_json_begin(FILE *f, int pretty);
void cst_json_object(cst_json *j, const char *key);
void cst_json_array(cst_json *j, const char *key);
void cst_json_close(cst_json *j); /* the innermost object or array */
void cst_json_number(cst_json *j, const char *key, double x);
void cst_json_integer(cst_json *j, const char *key, long long i);
void cst_json_text(cst_json *j, const char *key,
                   const char *s); /* NULL: null; invalid UTF-8: U+FFFD */
void cst_json_bool(cst_json *j, const char *key, int b);
void cst_json_null(cst_json *j, const char *key);
void cst_json_numbers(cst_json *j, const char *key, int n,
                      const double *x); /* an array on one line */
int cst_json_end(cst_json *j);          /* final newline; 0: everything was written */

#endif
