/* SPDX-License-Identifier: MIT
 *
 * Parts of the JSON Schema of the model file. */
#ifndef CST_CLI_SCHEMA_H
#define CST_CLI_SCHEMA_H

#include "base/json.h"
#include "cli/help.h"

void cst_schema_values(
    cst_json *j); /* definitions of what a field may be: scalar, vector, place, axis, ... */
void cst_schema_sections(cst_json *j); /* definitions of the sections, and `model` made of them */

void cst_schema_ref(cst_json *j, const char *definition);      /* member $ref */
void cst_schema_ref_item(cst_json *j, const char *definition); /* {$ref} in an array */
void cst_schema_property(cst_json *j, const char *key, const char *definition); /* key: {$ref} */

#endif
