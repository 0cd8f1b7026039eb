/* SPDX-License-Identifier: MIT
 *
 * The model file as a whole: its sections, and what may be written for each kind of field. */
#include "cli/command.h"
#include "cli/help.h"
#include "model/build.h"

#include <string.h>

static const char example[] =
    "costate: 1                    # version of the format, always first\n"
    "name: Pendulum\n"
    "gravity: [0, 0, -9.81]        # m/s^2; this is the default\n"
    "\n"
    "parameters:\n"
    "  L: {value: 1, unit: m, range: [0.5, 2]}\n"
    "  m: 2*L                      # an expression of others\n"
    "\n"
    "points:                       # hardpoints, where they are drawn\n"
    "  A: [0, 0, 0]\n"
    "  B: [L, 0, 0]\n"
    "\n"
    "bodies:\n"
    "  rod: {type: bar, from: A, to: B, mass: m}\n"
    "\n"
    "joints:\n"
    "  pivot: {type: revolute, between: [ground, rod], at: A, axis: y}\n"
    "\n"
    "measures:\n"
    "  tip: {type: position, of: rod.B}\n"
    "  R: {type: reaction, of: pivot}\n"
    "  height: tip.z - A.z         # an expression without a type\n"
    "\n"
    "objectives:\n"
    "  psi: integral(height^2)\n"
    "  load: peak(norm(R.force))\n"
    "\n"
    "simulation: {end: 2, step: 1 ms}\n";

static const struct entry {
    const char *name, *text;
} sections[] = {
    {"costate", "version of the format: 1"},
    {"name", "a text; names the directory of results"},
    {"gravity", "[x, y, z] in m/s^2; default [0, 0, -9.81]"},
    {"parameters", "NAME: value, or {value, unit, range: [lo, hi], doc}; the value may be an "
                   "expression of other parameters and points"},
    {"points",
     "NAME: [x, y, z], or {at: [x, y, z], unit}: hardpoints in ground axes, where they are drawn"},
    {"tables", "NAME: {x: [..], y: [..]} or {csv: file, x: column, y: column}; interpolation: "
               "linear | cubic; outside: clamp | extend | periodic. Used as the function NAME(x)"},
    {"roads", "NAME: {type: .., ...}: what tires stand on"},
    {"bodies",
     "NAME: {type: .., ...}; `ground` is always there. Every body may have points of its own: "
     "points: {NAME: [x, y, z]} in body axes; every rigid body has the points origin and com"},
    {"joints", "NAME: {type: .., ...}"},
    {"forces", "NAME: {type: .., ...}"},
    {"blocks", "NAME: {type: .., ...}: filters and controllers; their outputs are measures that "
               "laws may read"},
    {"measures", "NAME: {type: .., ..., unit, doc}, NAME: expression, or NAME: {value: expression, "
                 "unit, doc}; unit: in which it is shown"},
    {"objectives", "NAME: expression of results of the run: integral, peak, end, ..., or NAME: "
                   "{value: expression, unit, doc}"},
    {"initial", "{positions: {EXPRESSION: value}, velocities: {EXPRESSION: value}, equilibrium: "
                "true}: conditions on measures at the start; the assembly changes the drawing as "
                "little as possible; equilibrium, or equilibrium: {hold: [EXPRESSION, ..], forces: "
                "[NAME, ..] or without: [NAME, ..], gravity: true}, lets the forces settle"},
    {"simulation", "{end: 1, step: 0.001, formulation: index3, ..}: the settings below"},
    {"parts", "NAME: {file: .. or model: {..}, prefix, mirror: x | y | z, shift: [x, y, z], "
              "parameters: {..}}: a sub-model whose names get the prefix NAME. and whose "
              "parameters may be given other values"},
    {"include", "a file, or a list of files, whose sections are added to these"},
    {"design", "{minimize: expression of objectives, or {OBJECTIVE: weight, ..}, subject_to: [x <= "
               "limit, ..], variables: [NAME, ..] or {NAME: [lowest, highest], NAME: {bounds, "
               "scale, start}}, scenarios: {NAME: {set: {NUMBER: value, ..}, weight, end, step, "
               "file, minimize}}, continuation: {NUMBER: [value, ..]}, method, inner, starts, "
               "seed, stop: {iterations, evaluations, time, objective, gradient, change, step, "
               "feasible}}: what `costate optimize` does"},
    {"set", "{NAME: value, ..}: other values for numbers of this file and of what it includes, as "
            "by --set, in the units of their file"},
    {"identify", "{parameters: [NAME, ..] or {NAME: {range: [lo, hi], start}}, experiments: {NAME: "
                 "{csv: file, time: column or {column, unit}, offset: time or {range, start}, "
                 "from, to, every, numbers: {NAME: value}, channels: {MEASURE: column or {column, "
                 "unit, noise or weight, scale, offset}}}}, method, iterations, tolerance, "
                 "confidence}: numbers that `costate identify` estimates, and the measurements"},
    {"doc", "a text; elements may have one too"},
};

static const struct entry values[] = {
    {"number", "`5`, `5 mm`, `2*k + 1`: an expression of parameters and points that does not "
               "change during a run"},
    {"numbers", "a number, or a list of them"},
    {"vector", "`[x, y, z]` in ground axes of the drawing"},
    {"point", "`P1`: a hardpoint; `body.P1`: on that body; `ground.P1`; `[x, y, z]`; `{body: b, "
              "local: [x, y, z]}` in body axes; `{body: b, at: P1}`"},
    {"body", "the name of a body, or `ground`"},
    {"two bodies", "`[first, second]`; a joint's reaction is the one that acts on the second"},
    {"axis", "`x`, `-y`, `[x, y, z]`, `{from: P, to: Q}`: a direction in ground axes of the "
             "drawing; its length does not matter"},
    {"orientation", "`{quaternion: [w, x, y, z]}`, `{axis: z, angle: 20 deg}`, `{matrix: [[..], "
                    "[..], [..]]}` with the axes as columns, or two of `{x: axis, y: axis, z: "
                    "axis}`, the first of which is exact"},
    {"law", "an expression of `s` (length or angle), `v` (its rate), `t` and numbers"},
    {"expression", "of measures, `t` and numbers"},
    {"3 expressions", "a list of three, or one vector: `2*tip`"},
    {"function of t", "an expression of `t` and numbers"},
    {"word", "one of the words listed"},
    {"joint or force", "the name of one"},
    {"coordinate", "the name of a revolute joint (its angle), of a prismatic joint (its travel) or "
                   "of a scalar; or an expression of positions (measures)"},
};

const char *cst_help_section_text(const char *section)
{
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++)
        if (strcmp(sections[i].name, section) == 0) return sections[i].text;
    return NULL;
}

static void write_entries(const cst_page *p, cst_arena *a, const char *const *head,
                          const struct entry *e, size_t n)
{
    cst_grid g = cst_grid_new(a, "cw", head);
    for (size_t i = 0; i < n; i++) {
        cst_grid_add(&g, "%s", e[i].name);
        cst_grid_add(&g, "%s", e[i].text);
    }
    cst_grid_print(&g, p);
}

/* "a|b" -> "a, b": a bar would end a cell of a table */
static const char *listed(cst_arena *a, const char *words)
{
    const char *text = "";
    for (; *words; words += strcspn(words, "|"), words += *words == '|')
        text = cst_arena_printf(a, "%s%s%.*s", text, *text ? ", " : "", (int)strcspn(words, "|"),
                                words);
    return text;
}

static void write_settings(const cst_page *p, cst_arena *a)
{
    static const char *const head[] = {"simulation", "unit", "range", "default", "what it is"};
    cst_grid g = cst_grid_new(a, "clllw", head);
    for (const cst_setting *s = cst_settings; s->name; s++) {
        const char *words = strcmp(s->name, "formulation") == 0  ? cst_formulation_words
                            : strcmp(s->name, "integrator") == 0 ? cst_integrator_words
                                                                 : s->words;
        cst_grid_add(&g, "%s", s->name);
        cst_grid_add(&g, "%s", s->unit && strcmp(s->unit, "1") ? s->unit : "");
        if (!s->unit)
            cst_grid_add(&g, "%s", "word");
        else if (s->hi >= 1e6)
            cst_grid_add(&g, "%s", s->lo < 0 ? "" : s->open ? "> 0" : ">= 0");
        else
            cst_grid_add(&g, "%c%g, %g]", s->open ? '(' : '[', s->lo, s->hi);
        if (!s->unit)
            cst_grid_add(&g, "%s", s->word);
        else if (s->open && s->number == 0)
            cst_grid_add(&g, "%s", "");
        else
            cst_grid_add(&g, "%g", s->number);
        if (s->unit)
            cst_grid_add(&g, "%s", s->doc);
        else
            cst_grid_add(&g, "%s: %s", s->doc, listed(a, words));
    }
    cst_grid_print(&g, p);
}

void cst_help_model(const cst_page *p, cst_arena *a)
{
    static const char *const head[] = {"section", "contents"};
    cst_page_text(p, "A model is a YAML file. Every number written in it is a design variable: "
                     "`--set NAME=VALUE` changes a parameter L, a coordinate B.x, a field "
                     "rod.mass, in the unit that the file gives to it, else in SI. Data are not: "
                     "abscissae x of tables, CSV files, settings.");
    if (!p->markdown) cst_page_gap(p);
    cst_page_code(p, example);
    if (!p->markdown) cst_page_gap(p);
    write_entries(p, a, head, sections, sizeof sections / sizeof *sections);
    cst_page_gap(p);
    write_settings(p, a);
}

void cst_help_values(const cst_page *p, cst_arena *a)
{
    static const char *const head[] = {"kind", "what may be written"};
    write_entries(p, a, head, values, sizeof values / sizeof *values);
}
