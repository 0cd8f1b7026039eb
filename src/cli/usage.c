/* SPDX-License-Identifier: MIT
 *
 * Usage and help of a command, from its tables. */
#include "cli/command.h"
#include "cli/term.h"

#include <string.h>

void cst_usage_short(const cst_command *c) { fprintf(stderr, "Try: costate help %s\n", c->name); }

static void print_options(const cst_command *c, const cst_page *p)
{
    const cst_option *o;
    char term[256];
    for (int i = 0; (o = cst_option_at(c, i)); i++) {
        if (i == 0) fprintf(p->f, "\n%soptions%s\n", p->style.bold, p->style.off);
        snprintf(term, sizeof term, o->kind == CST_OPTION_FLAG ? "--%s" : "--%s %s", o->name,
                 o->value);
        cst_page_term(p, term, o->doc);
    }
}

void cst_usage_print(const cst_command *c)
{
    cst_page p = cst_page_of(stdout, 0);
    printf("%susage:%s costate %s %s%s\n\n", p.style.bold, p.style.off, c->name, c->operands,
           cst_option_at(c, 0) ? " [OPTIONS]" : "");
    cst_page_text(&p, c->summary);
    if (c->notes) {
        cst_page_gap(&p);
        for (const char *s = c->notes; *s;) { /* a line is a paragraph */
            size_t n = strcspn(s, "\n");
            char line[4096];
            snprintf(line, sizeof line, "%.*s", (int)n, s);
            cst_page_text(&p, line);
            s += n + (s[n] == '\n');
        }
    }
    print_options(c, &p);
    if (c->groups)
        printf("\nNumbers may have units: --step \"1 ms\". Exit status: 0 done, 1 failed or "
               "results cannot be written, 2 wrong model or usage or a file cannot be read.\n");
}
