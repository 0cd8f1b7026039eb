/* SPDX-License-Identifier: MIT
 *
 * costate schema: the model file as a JSON Schema, for editors that complete and check while one
 * writes. Types and their fields come from the tables that drive the parser; what stands around
 * them is described in schema_values.c. A schema knows keys, kinds and ranges of plain numbers, not
 * names or expressions: `costate check` has the last word. */
#include "cli/command.h"
#include "cli/schema.h"

#include <math.h>
#include <string.h>

#include "base/text.h"

/* ---- fields ---- */

static void write_words(cst_json *j, const char *words)
{
    cst_json_array(j, "enum");
    while (*words) {
        char word[64];
        size_t n = strcspn(words, "|");
        snprintf(word, sizeof word, "%.*s", (int)n, words);
        cst_json_text(j, NULL, word);
        words += n + (words[n] == '|');
    }
    cst_json_close(j);
}

/* A number in SI, an expression, or {value, unit, range, doc} */
static void write_number(cst_json *j, const cst_field *f)
{
    cst_json_array(j, "anyOf");
    cst_json_object(j, NULL);
    cst_json_text(j, "type", "number");
    if (isfinite(f->lo)) cst_json_number(j, "minimum", f->lo);
    if (isfinite(f->hi)) cst_json_number(j, "maximum", f->hi);
    cst_json_close(j);
    cst_json_object(j, NULL);
    cst_json_text(j, "type", "string");
    cst_json_close(j);
    cst_schema_ref_item(j, "settings");
    cst_json_close(j);
}

static void write_kind(cst_json *j, const cst_field *f)
{
    static const char *const refs[] = {
        [CST_F_VECTOR] = "vector",     [CST_F_AXIAL] = "vector",     [CST_F_POINT] = "place",
        [CST_F_BODY] = "word",         [CST_F_BODIES] = "two_words", [CST_F_AXIS] = "axis",
        [CST_F_FRAME] = "orientation", [CST_F_LAW] = "scalar",       [CST_F_EXPR] = "scalar",
        [CST_F_EXPR3] = "vector",      [CST_F_TIME] = "scalar",      [CST_F_TEXT] = "scalar",
        [CST_F_NUMBERS] = "numbers",   [CST_F_ELEMENT] = "word",     [CST_F_COORDINATE] = "scalar",
        [CST_F_ROAD] = "scalar",       [CST_F_NODE] = NULL,
    };
    if (f->kind == CST_F_NUMBER)
        write_number(j, f);
    else if (f->kind == CST_F_CHOICE)
        write_words(j, f->unit);
    else if (f->kind == CST_F_FLAG)
        cst_json_text(j, "type", "boolean");
    else if (f->kind == CST_F_COUNT)
        cst_json_text(j, "type", "integer");
    else if (refs[f->kind])
        cst_schema_ref(j, refs[f->kind]);
}

static void write_field(cst_json *j, const cst_field *f)
{
    char doc[600];
    double x;
    int unit = f->unit && f->kind != CST_F_CHOICE && strcmp(f->unit, "1") != 0;
    snprintf(doc, sizeof doc, "%s%s%s%s%s%s", f->doc, unit ? " [" : "", unit ? f->unit : "",
             unit ? "]" : "", f->dflt && *f->dflt ? "; default " : "", f->dflt ? f->dflt : "");
    cst_json_object(j, f->name);
    cst_json_text(j, "description", doc);
    if (f->dflt && cst_text_number(f->dflt, &x))
        cst_json_number(j, "default", x);
    else if (f->dflt && f->kind == CST_F_CHOICE)
        cst_json_text(j, "default", f->dflt);
    write_kind(j, f);
    cst_json_close(j);
}

/* ---- types ---- */

static void write_type(cst_json *j, const cst_type *t)
{
    char name[100];
    snprintf(name, sizeof name, "%s.%s", t->section, t->keyword);
    cst_json_object(j, name);
    cst_json_text(j, "description", t->summary);
    cst_json_object(j, "properties");
    cst_json_object(j, "type");
    cst_json_text(j, "const", t->keyword);
    cst_json_close(j);
    cst_schema_property(j, "doc", "word");
    if (strcmp(t->section, "measures") == 0) cst_schema_property(j, "unit", "word");
    if (strcmp(t->section, "bodies") == 0) cst_schema_property(j, "points", "points");
    for (const cst_field *f = t->field; f->name; f++) write_field(j, f);
    cst_json_close(j);
    cst_json_array(j, "required");
    cst_json_text(j, NULL, "type");
    for (const cst_field *f = t->field; f->name; f++)
        if (!f->dflt) cst_json_text(j, NULL, f->name);
    cst_json_close(j);
    cst_json_bool(j, "additionalProperties", 0);
    cst_json_close(j);
}

/* {type: one of the words, ...}: the rest is what the word says. Editors complete better from if
 * and then than from a list of alternatives, and say which field is wrong instead of that no
 * alternative fits. */
static void write_element(cst_json *j, const char *section)
{
    const cst_type *t;
    cst_json_object(j, section);
    cst_json_text(j, "type", "object");
    cst_json_array(j, "required");
    cst_json_text(j, NULL, "type");
    cst_json_close(j);
    cst_json_object(j, "properties");
    cst_json_object(j, "type");
    cst_json_array(j, "enum");
    for (int i = 0; (t = cst_type_at(i)); i++)
        if (strcmp(t->section, section) == 0) cst_json_text(j, NULL, t->keyword);
    cst_json_close(j);
    cst_json_close(j);
    cst_json_close(j);
    cst_json_array(j, "allOf");
    for (int i = 0; (t = cst_type_at(i)); i++) {
        char name[100];
        if (strcmp(t->section, section) != 0) continue;
        snprintf(name, sizeof name, "%s.%s", t->section, t->keyword);
        cst_json_object(j, NULL);
        cst_json_object(j, "if");
        cst_json_object(j, "properties");
        cst_json_object(j, "type");
        cst_json_text(j, "const", t->keyword);
        cst_json_close(j);
        cst_json_close(j);
        cst_json_close(j);
        cst_json_object(j, "then");
        cst_schema_ref(j, name);
        cst_json_close(j);
        cst_json_close(j);
    }
    cst_json_close(j);
    cst_json_close(j);
}

static int run(const cst_args *args)
{
    static const char *const typed[] = {"roads",  "bodies",   "joints", "forces",
                                        "blocks", "measures", NULL};
    const cst_type *t;
    (void)args;
    cst_json j = cst_json_begin(stdout, 1);
    cst_json_object(&j, NULL);
    cst_json_text(&j, "$schema", "https://json-schema.org/draft/2020-12/schema");
    cst_json_text(&j, "title", "Costate model");
    cst_json_text(&j, "$comment", cst_version());
    cst_schema_ref(&j, "model");
    cst_json_array(&j, "required"); /* of the model itself; parts and included files need none */
    cst_json_text(&j, NULL, "costate");
    cst_json_close(&j);
    cst_json_object(&j, "$defs");
    cst_schema_values(&j);
    cst_schema_sections(&j);
    for (int i = 0; typed[i]; i++) write_element(&j, typed[i]);
    for (int i = 0; (t = cst_type_at(i)); i++) write_type(&j, t);
    cst_json_close(&j);
    cst_json_close(&j);
    return cst_json_end(&j) == 0 ? CST_EXIT_DONE : CST_EXIT_FAILED;
}

const cst_command cst_command_schema = {
    .name = "schema",
    .operands = "",
    .summary = "Prints the JSON Schema of the model file, for editors.",
    .notes = "An editor that knows JSON Schema completes the names of sections, types and fields, "
             "shows their units and defaults, and marks errors while typing. With the YAML "
             "extension of VS Code:\n"
             "costate schema > costate.schema.json, and as the first line of a model\n"
             "# yaml-language-server: $schema=costate.schema.json",
    .run = run,
};
