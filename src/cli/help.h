/* SPDX-License-Identifier: MIT
 *
 * The reference of the model file, written from the tables that also drive the parser. Each topic
 * writes itself on a page, which is the terminal or Markdown. */
#ifndef CST_CLI_HELP_H
#define CST_CLI_HELP_H

#include "cli/term.h"
#include "model/build.h"

typedef struct cst_topic {
    const char *name, *title, *summary;
    void (*write)(const cst_page *p, cst_arena *a);
} cst_topic;

void cst_help_model(const cst_page *p, cst_arena *a);
const char *
cst_help_section_text(const char *section); /* what it contains; NULL: there is none of that name */
void cst_help_values(const cst_page *p, cst_arena *a);
void cst_help_functions(const cst_page *p, cst_arena *a);
void cst_help_units(const cst_page *p, cst_arena *a);

void cst_help_section(const cst_page *p, cst_arena *a,
                      const char *section); /* all types of it, one line each */
void cst_help_type(const cst_page *p, cst_arena *a, const cst_type *t);   /* all about one */
int cst_help_function(const cst_page *p, cst_arena *a, const char *name); /* 0: there is none */
void cst_help_function_names(void (*offer)(void *to, const char *name), void *to);

#endif
