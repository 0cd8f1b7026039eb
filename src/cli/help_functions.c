/* SPDX-License-Identifier: MIT
 *
 * Functions and units of expressions. */
#include "cli/help.h"

#include <string.h>

#include "number/op.h"
#include "number/parse.h"

/* What is not an operation of numbers, and what it is written like. */
static const struct word {
    const char *name, *call, *doc;
} vectors[] =
    {
        {"norm", "norm(v)", "length of a vector"},
        {"dot", "dot(a, b)", "scalar product"},
        {"cross", "cross(a, b)", "vector product"},
        {NULL, "[a, b, c]", "a vector"},
        {NULL, "v.x, v.y, v.z", "components of a vector, a point or a measure"},
},
  motions[] =
      {
          {"rate", "rate(x)", "time derivative of an expression of positions and velocities"},
          {"integral", "integral(x)",
           "over time, from the start: a running integral in measures, the whole one in "
           "objectives"},
          {NULL, "NAME(x)", "a table of the model at x"},
},
  results[] = {
      {"end", "end(x)", "value at the end"},
      {"start", "start(x)", "value at the start"},
      {"at", "at(x, t)", "value at time t, which must lie in the run"},
      {"peak", "peak(x), peak(x, p)",
       "largest value over time (exact on the steps); with p (2 to 100): p-norm of |x|, between "
       "(h/2T)^(1/p) of its peak and the peak, T: length of the run, h: step"},
      {"ks", "ks(x, w)",
       "smoothed largest value, w ln(mean exp(x/w)): between w ln(2T/h) below the peak and the "
       "peak; w in units of x, w < 0: smallest value"},
      {"mean", "mean(x)", "mean over time"},
      {"rms", "rms(x)", "root of the mean square over time"},
      {"integral", "integral(x)", "integral over time"},
};
#define COUNT(table) (int)(sizeof table / sizeof *table)

static const struct group {
    const char *title;
    const struct word *word;
    int n;
} groups[] = {
    {"Vectors", vectors, COUNT(vectors)},
    {"Motion", motions, COUNT(motions)},
    {"Results of a run (objectives)", results, COUNT(results)},
};

/* The documentation of an operation is "call: meaning". */
static void add_op(cst_grid *g, const cst_op *op)
{
    const char *colon = strstr(op->doc, ": ");
    if (colon)
        cst_grid_add(g, "%.*s", (int)(colon - op->doc), op->doc);
    else
        cst_grid_add(g, "%s", op->name);
    cst_grid_add(g, op->smooth ? "%s" : "%s (not smooth)", colon ? colon + 2 : op->doc);
}

static int written_by_users(const cst_op *op) { return strcmp(op->name, "1/") != 0; }

static void write_words(const cst_page *p, cst_arena *a, const struct word *w, int n)
{
    static const char *const head[] = {"", ""};
    cst_grid g = cst_grid_new(a, "cw", head);
    for (int i = 0; i < n; i++) {
        cst_grid_add(&g, "%s", w[i].call);
        cst_grid_add(&g, "%s", w[i].doc);
    }
    cst_grid_print(&g, p);
}

void cst_help_functions(const cst_page *p, cst_arena *a)
{
    static const char *const head[] = {"", ""};
    const cst_op *op;
    cst_page_text(
        p, "Expressions are made of numbers with units, names, `pi`, `t` (time), the operators and "
           "the functions below. Names are parameters, points (`P1.x`) and measures (`tip.x`). "
           "Quote expressions that contain commas when they stand inside braces.");
    if (!p->markdown) cst_page_gap(p);
    cst_page_heading(p, 3, "Numbers");
    cst_grid g = cst_grid_new(a, "cw", head);
    for (int i = 0; (op = cst_op_at(i)); i++)
        if (written_by_users(op)) add_op(&g, op);
    cst_grid_print(&g, p);
    for (int i = 0; i < COUNT(groups); i++) {
        if (!p->markdown) cst_page_gap(p);
        cst_page_heading(p, 3, groups[i].title);
        write_words(p, a, groups[i].word, groups[i].n);
    }
}

int cst_help_function(const cst_page *p, cst_arena *a, const char *name)
{
    static const char *const head[] = {"", ""};
    const cst_op *op;
    int found = 0;
    cst_grid g = cst_grid_new(a, "cw", head);
    for (int i = 0; (op = cst_op_at(i)); i++)
        if (written_by_users(op) && strcmp(op->name, name) == 0) add_op(&g, op), found = 1;
    for (int i = 0; i < COUNT(groups); i++)
        for (int k = 0; k < groups[i].n; k++) {
            const struct word *w = &groups[i].word[k];
            if (!w->name || strcmp(w->name, name) != 0) continue;
            cst_grid_add(&g, "%s", w->call);
            cst_grid_add(&g, "%s", w->doc);
            found = 1;
        }
    if (found) cst_grid_print(&g, p);
    return found;
}

void cst_help_function_names(void (*offer)(void *to, const char *name), void *to)
{
    const cst_op *op;
    for (int i = 0; (op = cst_op_at(i)); i++)
        if (written_by_users(op)) offer(to, op->name);
    for (int i = 0; i < COUNT(groups); i++)
        for (int k = 0; k < groups[i].n; k++)
            if (groups[i].word[k].name) offer(to, groups[i].word[k].name);
}

/* ---- units ---- */

void cst_help_units(const cst_page *p, cst_arena *a)
{
    static const struct {
        const char *what, *units;
    } table[] = {
        {"length", "m mm cm km um in ft"},
        {"area, volume", "m^2 mm^2 cm^2 m^3 mm^3 cm^3"},
        {"second moment of area", "m^4 mm^4 cm^4"},
        {"angle", "rad mrad deg rev"},
        {"mass", "kg g t lb"},
        {"inertia, density", "kg*m^2 kg*mm^2 kg*cm^2 kg/m kg/m^3 g/cm^3"},
        {"time, frequency", "s ms us min h Hz kHz"},
        {"velocity, acceleration", "m/s mm/s cm/s km/h m/s^2 mm/s^2"},
        {"angular velocity, acceleration", "rad/s deg/s rpm rev/s rad/s^2 deg/s^2"},
        {"force", "N mN kN MN lbf"},
        {"torque", "N*m Nm N*mm Nmm kN*m kNm"},
        {"stiffness", "N/m N/mm kN/m kN/mm"},
        {"damping", "N*s/m Ns/m N*s/mm Ns/mm kN*s/m kNs/m"},
        {"rotational stiffness", "N*m/rad Nm/rad N*m/deg Nm/deg kN*m/rad kNm/rad"},
        {"rotational damping", "N*m*s/rad Nms/rad N*m*s/deg Nms/deg"},
        {"pressure, modulus", "Pa kPa MPa GPa bar N/mm^2 N/m^2"},
        {"energy, power", "J kJ W kW"},
    };
    static const char *const head[] = {"quantity", "units"};
    cst_page_text(p, "Numbers are in SI units. A unit may stand behind a number (`20 deg`, `5 "
                     "mm`), and parameters may have `unit: mm`. The first unit of each line is the "
                     "one that is computed with.");
    if (!p->markdown) cst_page_gap(p);
    cst_grid g = cst_grid_new(a, "lw", head);
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        char known[300] = "", word[32];
        double factor;
        for (const char *s = table[i].units; *s;
             s += strspn(s, " ")) { /* only what the parser knows */
            size_t n = strcspn(s, " ");
            snprintf(word, sizeof word, "%.*s", (int)n, s);
            s += n;
            if (!cst_unit_factor(word, &factor)) continue;
            size_t used = strlen(known);
            if (factor == 1)
                snprintf(known + used, sizeof known - used, "%s%s", used ? ", " : "", word);
            else
                snprintf(known + used, sizeof known - used, "%s%s=%.6g", used ? ", " : "", word,
                         factor);
        }
        cst_grid_add(&g, "%s", table[i].what);
        cst_grid_add(&g, "%s", known);
    }
    cst_grid_print(&g, p);
}
