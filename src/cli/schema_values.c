/* SPDX-License-Identifier: MIT
 *
 * What may stand for a field or a section, apart from the types: short texts of JSON are clearer
 * than calls here. */
#include "cli/command.h"
#include "cli/schema.h"
#include "model/build.h"

#include <stdio.h>
#include <string.h>

void cst_schema_ref(cst_json *j, const char *definition)
{
    char text[140];
    snprintf(text, sizeof text, "#/$defs/%s", definition);
    cst_json_text(j, "$ref", text);
}

void cst_schema_ref_item(cst_json *j, const char *definition)
{
    cst_json_object(j, NULL);
    cst_schema_ref(j, definition);
    cst_json_close(j);
}

void cst_schema_property(cst_json *j, const char *key, const char *definition)
{
    cst_json_object(j, key);
    cst_schema_ref(j, definition);
    cst_json_close(j);
}

/* ---- small pieces ---- */

static void any_of(cst_json *j, const char *name, const char *a, const char *b, const char *c)
{
    const char *const list[] = {a, b, c};
    cst_json_object(j, name);
    cst_json_array(j, "anyOf");
    for (int i = 0; i < 3 && list[i]; i++) cst_schema_ref_item(j, list[i]);
    cst_json_close(j);
    cst_json_close(j);
}

static void list_of(cst_json *j, const char *name, const char *item, int least, int most)
{
    cst_json_object(j, name);
    cst_json_text(j, "type", "array");
    cst_json_object(j, "items");
    cst_schema_ref(j, item);
    cst_json_close(j);
    if (least) cst_json_integer(j, "minItems", least);
    if (most) cst_json_integer(j, "maxItems", most);
    cst_json_close(j);
}

/* {key: definition, ...} and nothing else. pairs: key, definition, ..., NULL; needed: one key that
 * must be there */
static void object_of(cst_json *j, const char *name, const char *needed, const char *const *pairs)
{
    cst_json_object(j, name);
    cst_json_text(j, "type", "object");
    cst_json_object(j, "properties");
    for (; pairs[0]; pairs += 2) cst_schema_property(j, pairs[0], pairs[1]);
    cst_json_close(j);
    if (needed) {
        cst_json_array(j, "required");
        cst_json_text(j, NULL, needed);
        cst_json_close(j);
    }
    cst_json_bool(j, "additionalProperties", 0);
    cst_json_close(j);
}

/* {NAME: definition, ...}; an empty section is null */
static void names_of(cst_json *j, const char *name, const char *definition, int identifiers)
{
    cst_json_object(j, name);
    cst_json_array(j, "type");
    cst_json_text(j, NULL, "object");
    cst_json_text(j, NULL, "null");
    cst_json_close(j);
    if (identifiers) {
        cst_json_object(j, "propertyNames");
        cst_json_text(j, "pattern", "^[A-Za-z_][A-Za-z0-9_]*$");
        cst_json_close(j);
    }
    cst_json_object(j, "additionalProperties");
    cst_schema_ref(j, definition);
    cst_json_close(j);
    cst_json_close(j);
}

static void kinds(cst_json *j, const char *name, const char *a, const char *b)
{
    cst_json_object(j, name);
    cst_json_array(j, "type");
    cst_json_text(j, NULL, a);
    cst_json_text(j, NULL, b);
    cst_json_close(j);
    cst_json_close(j);
}

static void words(cst_json *j, const char *name, const char *const *word)
{
    cst_json_object(j, name);
    cst_json_array(j, "enum");
    for (; *word; word++) cst_json_text(j, NULL, *word);
    cst_json_close(j);
    cst_json_close(j);
}

#define PAIRS(...) ((const char *const[]){__VA_ARGS__, NULL, NULL})
#define WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})

/* ---- values ---- */

void cst_schema_values(cst_json *j)
{
    cst_json_object(j, "word");
    cst_json_text(j, "type", "string");
    cst_json_close(j);
    cst_json_object(j, "flag");
    cst_json_text(j, "type", "boolean");
    cst_json_close(j);
    kinds(j, "scalar", "number", "string"); /* a text is an expression, or a number with a unit */
    list_of(j, "two_words", "word", 2, 2);
    list_of(j, "words", "word", 0, 0);
    list_of(j, "two", "scalar", 2, 2);
    list_of(j, "triple", "scalar", 3, 3);
    list_of(j, "four", "scalar", 4, 4);
    list_of(j, "matrix", "triple", 3, 3);
    list_of(j, "list", "scalar", 1, 12);
    list_of(j, "scalars", "scalar", 2, 0);
    any_of(j, "vector", "triple", "word", NULL);
    any_of(j, "numbers", "scalar", "list", NULL);
    object_of(j, "settings", "value",
              PAIRS("value", "scalar", "unit", "scalar", "range", "two", "doc", "word"));
    object_of(j, "settings_at", "at",
              PAIRS("at", "vector", "unit", "scalar", "range", "two", "doc", "word"));
    object_of(j, "place_on", NULL, PAIRS("body", "word", "local", "vector", "at", "place"));
    any_of(j, "place", "vector", "place_on", NULL);
    object_of(j, "axis_between", "to", PAIRS("from", "place", "to", "place"));
    any_of(j, "axis", "vector", "axis_between", NULL);
    object_of(j, "orientation", NULL,
              PAIRS("quaternion", "four", "axis", "axis", "angle", "scalar", "matrix", "matrix",
                    "x", "axis", "y", "axis", "z", "axis"));
    object_of(j, "labelled", "value", PAIRS("value", "vector", "unit", "scalar", "doc", "word"));
    any_of(j, "expression", "vector", "labelled", "number");
    any_of(j, "measure", "expression", "measures", NULL);
    object_of(j, "labelled_scalar", "value",
              PAIRS("value", "scalar", "unit", "scalar", "doc", "word"));
    any_of(j, "objective", "scalar", "labelled_scalar", NULL);
    cst_json_object(j, "number");
    cst_json_text(j, "type", "number");
    cst_json_close(j);
    any_of(j, "parameter", "scalar", "settings", NULL);
    any_of(j, "point", "vector", "settings_at", NULL);
}

/* ---- sections ---- */

static const struct section {
    const char *key, *definition;
} sections[] = {
    {"name", "scalar"},           {"gravity", "vector"},
    {"parameters", "parameters"}, {"points", "points"},
    {"tables", "tables"},         {"roads", "section_roads"},
    {"bodies", "section_bodies"}, {"joints", "section_joints"},
    {"forces", "section_forces"}, {"measures", "section_measures"},
    {"blocks", "section_blocks"}, {"objectives", "objectives"},
    {"initial", "initial"},       {"simulation", "simulation"},
    {"identify", "identify"},     {"design", "design"},
    {"set", "part_parameters"},   {"parts", "parts"},
    {"include", "include"},       {"doc", "scalar"},
};

static const char *definition_of(const char *key)
{
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++)
        if (strcmp(sections[i].key, key) == 0) return sections[i].definition;
    return NULL;
}

/* Formulations and integrators: the words of their tables; other settings: those of cst_settings */
static void simulation(cst_json *j)
{
    cst_json_object(j, "simulation");
    cst_json_text(j, "type", "object");
    cst_json_object(j, "properties");
    for (const cst_setting *s = cst_settings; s->name; s++) {
        const char *known = strcmp(s->name, "formulation") == 0  ? cst_formulation_words
                            : strcmp(s->name, "integrator") == 0 ? cst_integrator_words
                                                                 : s->words;
        if (s->unit) {
            cst_schema_property(j, s->name, "scalar");
            continue;
        }
        cst_json_object(j, s->name);
        cst_json_text(j, "description", s->doc);
        cst_json_array(j, "enum");
        for (; *known; known += strcspn(known, "|"), known += *known == '|') {
            char word[64];
            snprintf(word, sizeof word, "%.*s", (int)strcspn(known, "|"), known);
            cst_json_text(j, NULL, word);
        }
        cst_json_close(j);
        cst_json_close(j);
    }
    cst_schema_property(j, "doc", "word");
    cst_json_close(j);
    cst_json_bool(j, "additionalProperties", 0);
    cst_json_close(j);
}

/* minimize: TEXT, {TEXT: weight}, or a list of both; variables: [NAME, {NAME: bounds}, {name: NAME,
 * bounds: ..}] or {NAME: bounds} */
static void design(cst_json *j)
{
    static const char *const optimisers[] = {
#define CST_OPTIMISER(name) #name,
#include "optimise/optimisers.def"
#undef CST_OPTIMISER
        NULL};
    words(j, "optimiser", optimisers);
    names_of(j, "weights", "scalar", 0);
    any_of(j, "term", "scalar", "weights", NULL);
    list_of(j, "terms", "term", 1, 0);
    any_of(j, "minimize", "term", "terms", NULL);
    object_of(j, "variable_settings", NULL,
              PAIRS("bounds", "two", "scale", "scalar", "start", "scalar", "doc", "word"));
    any_of(j, "variable", "variable_settings", "two", "nothing");
    object_of(j, "variable_named", "name",
              PAIRS("name", "word", "bounds", "two", "scale", "scalar", "start", "scalar", "doc",
                    "word"));
    names_of(j, "variables_by_name", "variable", 0);
    any_of(j, "variable_item", "word", "variable_named", "variables_by_name");
    list_of(j, "variables_list", "variable_item", 1, 0);
    any_of(j, "variables", "variables_list", "variables_by_name", NULL);
    any_of(j, "limits", "word", "words", "nothing");
    object_of(j, "scenario_settings", NULL,
              PAIRS("set", "part_parameters", "weight", "scalar", "file", "word", "end", "scalar",
                    "step", "scalar", "minimize", "minimize", "doc", "word"));
    any_of(j, "scenario", "scenario_settings", "nothing", NULL);
    names_of(j, "scenarios", "scenario", 0);
    list_of(j, "stages", "scalar", 1, 0);
    names_of(j, "continuation", "stages", 0);
    object_of(j, "stop", NULL,
              PAIRS("iterations", "scalar", "evaluations", "scalar", "time", "scalar", "objective",
                    "scalar", "gradient", "scalar", "change", "scalar", "step", "scalar",
                    "feasible", "scalar", "doc", "word"));
    object_of(j, "design", "minimize",
              PAIRS("minimize", "minimize", "subject_to", "limits", "variables", "variables",
                    "scenarios", "scenarios", "continuation", "continuation", "method", "optimiser",
                    "inner", "word", "starts", "scalar", "seed", "scalar", "stop", "stop", "doc",
                    "word"));
}

/* Every section that the loader knows; those without a definition here may be anything. */
static void write_model(cst_json *j)
{
    cst_json_object(j, "model");
    cst_json_text(j, "type", "object");
    cst_json_object(j, "properties");
    for (int i = 0; cst_section_keys[i]; i++) {
        const char *key = cst_section_keys[i], *text = cst_help_section_text(key),
                   *to = definition_of(key);
        cst_json_object(j, key);
        if (text) cst_json_text(j, "description", text);
        if (strcmp(key, "costate") == 0) cst_json_integer(j, "const", 1);
        if (to) cst_schema_ref(j, to);
        cst_json_close(j);
    }
    cst_json_close(j);
    cst_json_bool(j, "additionalProperties", 0);
    cst_json_close(j);
}

void cst_schema_sections(cst_json *j)
{
    words(j, "interpolation", WORDS("linear", "cubic"));
    words(j, "outside", WORDS("clamp", "extend", "periodic"));
    words(j, "events", WORDS("exact", "frozen", "none"));
    words(j, "coupling", WORDS("simultaneous", "staggered"));
    words(j, "sensitivity", WORDS("euler", "heun", "rk4"));
    words(j, "terms", WORDS("perturbed", "analytic"));
    words(j, "mirror", WORDS("x", "y", "z"));
    any_of(j, "column", "scalars", "word", NULL);
    object_of(j, "table", "y",
              PAIRS("x", "column", "y", "column", "csv", "word", "interpolation", "interpolation",
                    "outside", "outside", "doc", "word"));
    simulation(j);
    names_of(j, "conditions", "scalar", 0);
    object_of(j, "equilibrium_settings", NULL,
              PAIRS("hold", "words", "forces", "words", "without", "words", "gravity", "flag"));
    any_of(j, "equilibrium", "flag", "equilibrium_settings", NULL);
    object_of(j, "initial", NULL,
              PAIRS("positions", "conditions", "velocities", "conditions", "equilibrium",
                    "equilibrium"));
    names_of(j, "part_parameters", "scalar", 0);
    object_of(j, "part", NULL,
              PAIRS("file", "word", "model", "model", "prefix", "word", "mirror", "mirror", "shift",
                    "vector", "parameters", "part_parameters", "doc", "word"));
    any_of(j, "include", "word", "words", NULL);
    object_of(j, "channel_settings", NULL,
              PAIRS("column", "word", "noise", "scalar", "weight", "scalar", "unit", "word",
                    "scale", "offset", "offset", "offset", "doc", "word"));
    any_of(j, "channel", "word", "channel_settings", NULL);
    object_of(j, "time_settings", NULL, PAIRS("column", "word", "unit", "word"));
    any_of(j, "time_column", "word", "time_settings", NULL);
    names_of(j, "channels", "channel", 0);
    object_of(j, "experiment", "channels",
              PAIRS("csv", "word", "time", "time_column", "offset", "offset", "from", "scalar",
                    "to", "scalar", "every", "scalar", "numbers", "part_parameters", "channels",
                    "channels", "doc", "word"));
    names_of(j, "experiments", "experiment", 0);
    object_of(j, "unknown_settings", NULL, PAIRS("range", "two", "start", "scalar", "doc", "word"));
    any_of(j, "offset", "scalar", "unknown_settings", NULL);
    any_of(j, "unknown", "unknown_settings", "nothing", NULL);
    cst_json_object(j, "nothing");
    cst_json_text(j, "type", "null");
    cst_json_close(j);
    static const char *const fitters[] = {
#define CST_FITTER(name) #name,
#include "optimise/fitters.def"
#undef CST_FITTER
        NULL};
    words(j, "fitter", fitters);
    names_of(j, "unknowns_by_name", "unknown", 0);
    any_of(j, "unknowns", "words", "unknowns_by_name", NULL);
    object_of(j, "identify", "parameters",
              PAIRS("parameters", "unknowns", "experiments", "experiments", "method", "fitter",
                    "iterations", "scalar", "tolerance", "scalar", "confidence", "scalar", "doc",
                    "word"));
    design(j);
    names_of(j, "parameters", "parameter", 1);
    names_of(j, "points", "point", 1);
    names_of(j, "tables", "table", 1);
    names_of(j, "parts", "part", 0);
    names_of(j, "objectives", "objective", 0);
    names_of(j, "section_roads", "roads", 1);
    names_of(j, "section_bodies", "bodies", 1);
    names_of(j, "section_joints", "joints", 1);
    names_of(j, "section_forces", "forces", 1);
    names_of(j, "section_blocks", "blocks", 1);
    names_of(j, "section_measures", "measure", 1);
    write_model(j);
}
