/* SPDX-License-Identifier: MIT
 *
 * What is printed for people: colours where they make sense, tables, wrapped text, a progress bar.
 * The same page can be written as Markdown. */
#ifndef CST_CLI_TERM_H
#define CST_CLI_TERM_H

#include <stdio.h>

#include "base/arena.h"

typedef struct cst_style {
    const char *bold, *dim, *red, *yellow, *off;
} cst_style;
cst_style cst_style_of(
    FILE *f); /* empty texts unless f is a terminal that shows colours and NO_COLOR is not set */

double cst_seconds(void); /* a monotonic clock, s */

typedef struct cst_page {
    FILE *f;
    int markdown;
    int width; /* columns */
    cst_style style;
} cst_page;

cst_page cst_page_of(FILE *f, int markdown);
void cst_page_heading(const cst_page *p, int level, const char *text);
void cst_page_text(const cst_page *p,
                   const char *text); /* a paragraph; `code` between backquotes */
void cst_page_item(const cst_page *p, const char *text); /* of a list */
void cst_page_term(
    const cst_page *p, const char *term,
    const char *text); /* on the terminal: what it means stands beside it, or below */
void cst_page_code(const cst_page *p, const char *text); /* lines as they are */
void cst_page_gap(const cst_page *p);

/* A table. align, per column: 'l' left, 'r' right, '.' by the decimal point, 'c' code (left), 'w'
 * wrapped (the last one only). */
typedef struct cst_grid {
    cst_arena *arena;
    int ncol;
    const char *align;
    CST_LIST(const char *) cell; /* the heads first */
} cst_grid;

cst_grid cst_grid_new(cst_arena *a, const char *align, const char *const *head);
void cst_grid_add(cst_grid *g, const char *format, ...)
    __attribute__((format(printf, 2, 3)));   /* the next cell */
void cst_grid_number(cst_grid *g, double x); /* 6 digits; nothing for NAN */
void cst_grid_count(cst_grid *g, int n);     /* nothing for 0 */
void cst_grid_print(const cst_grid *g, const cst_page *p);

/* A bar on standard error for what takes longer than a second, on terminals only. */
typedef struct cst_progress {
    int on, drawn;
    double begin, last;
} cst_progress;
cst_progress cst_progress_begin(int wanted);
void cst_progress_show(cst_progress *b, double share, const char *format, ...) /* share: 0 .. 1 */
    __attribute__((format(printf, 3, 4)));
void cst_progress_end(cst_progress *b);

#endif
