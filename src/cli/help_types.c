/* SPDX-License-Identifier: MIT
 *
 * Types of bodies, joints, forces, blocks and measures, from their tables. */
#include "cli/help.h"

#include <math.h>
#include <string.h>

static const char *const kinds[] = {
    [CST_F_NUMBER] = "number",
    [CST_F_VECTOR] = "vector",
    [CST_F_AXIAL] = "vector",
    [CST_F_POINT] = "point",
    [CST_F_CENTRE] = "com|origin|point",
    [CST_F_BODY] = "body",
    [CST_F_BODIES] = "two bodies",
    [CST_F_AXIS] = "axis",
    [CST_F_FRAME] = "orientation",
    [CST_F_LAW] = "law",
    [CST_F_EXPR] = "expression",
    [CST_F_EXPR3] = "3 expressions",
    [CST_F_TIME] = "function of t",
    [CST_F_CHOICE] = "word",
    [CST_F_FLAG] = "true or false",
    [CST_F_TEXT] = "text",
    [CST_F_NUMBERS] = "numbers",
    [CST_F_ELEMENT] = "joint or force",
    [CST_F_COUNT] = "whole number",
    [CST_F_COORDINATE] = "coordinate",
    [CST_F_ROAD] = "road",
    [CST_F_NODE] = "see below",
};

void cst_help_section(const cst_page *p, cst_arena *a, const char *section)
{
    static const char *const head[] = {"type", "what it is"};
    const cst_type *t;
    cst_grid g = cst_grid_new(a, "cw", head);
    for (int i = 0; (t = cst_type_at(i)); i++) {
        if (strcmp(t->section, section) != 0) continue;
        cst_grid_add(&g, "%s", t->keyword);
        cst_grid_add(&g, "%s", t->summary);
    }
    cst_grid_print(&g, p);
}

static void add_unit(cst_grid *g, const cst_field *f)
{
    int has = f->unit && strcmp(f->unit, "1") != 0 && f->kind != CST_F_CHOICE;
    cst_grid_add(g, "%s", has ? f->unit : "");
}

/* A list of coefficients would leave no room for the meaning on a terminal: it stands behind the
 * meaning there. */
static int is_long(const cst_page *p, const cst_field *f)
{
    return !p->markdown && f->dflt && strlen(f->dflt) > 16;
}

static void add_default(cst_grid *g, const cst_page *p, const cst_field *f)
{
    cst_grid_add(g, "%s", !f->dflt ? "required" : is_long(p, f) ? "see there" : f->dflt);
}

/* the meaning, with the words or the range that are allowed */
static void add_doc(cst_grid *g, const cst_page *p, const cst_field *f)
{
    const char *dflt = is_long(p, f) ? f->dflt : "", *word = *dflt ? "; default: " : "";
    int number = f->kind == CST_F_NUMBER || f->kind == CST_F_NUMBERS;
    if (f->kind == CST_F_CHOICE)
        cst_grid_add(g, "%s: %s%s%s", f->doc, f->unit, word, dflt);
    else if (number && f->lo == 0 && isinf(f->hi))
        cst_grid_add(g, "%s; not negative%s%s", f->doc, word, dflt);
    else if (number && (isfinite(f->lo) || isfinite(f->hi)))
        cst_grid_add(g, "%s; in [%g, %g]%s%s", f->doc, f->lo, f->hi, word, dflt);
    else
        cst_grid_add(g, "%s%s%s", f->doc, word, dflt);
}

void cst_help_type(const cst_page *p, cst_arena *a, const cst_type *t)
{
    static const char *const head[] = {"field", "kind", "unit", "default", "meaning"};
    char title[200];
    if (p->markdown)
        snprintf(title, sizeof title, "%s", t->keyword);
    else
        snprintf(title, sizeof title, "%s (%s)", t->keyword, t->section);
    cst_page_heading(p, 3, title);
    cst_page_text(p, t->summary);
    if (!p->markdown) cst_page_gap(p);
    cst_grid g = cst_grid_new(a, "clllw", head);
    for (const cst_field *f = t->field; f->name; f++) {
        cst_grid_add(&g, "%s", f->name);
        cst_grid_add(&g, "%s", kinds[f->kind]);
        add_unit(&g, f);
        add_default(&g, p, f);
        add_doc(&g, p, f);
    }
    if (g.cell.n > g.ncol) cst_grid_print(&g, p);
    if (!t->notes) return;
    if (!p->markdown) cst_page_gap(p);
    cst_page_text(p, t->notes);
}
